//! What goes out in step with replies, and at the very end.

use super::*;
use crate::{ConnectionHandle, rpc::Companion};

/// Says a number after each reply, and goodbye at the end.
struct Counter(ConnectionHandle, AtomicUsize);

impl Companion for Counter {
    fn started(&self, method: &'static str) {
        assert_eq!(method, "t.echo");
    }

    fn replied(&self, method: Option<&'static str>) {
        assert_eq!(method, Some("t.echo"));
        let number = self.1.fetch_add(1, Ordering::SeqCst);
        self.0.outbox().try_send(number.to_string()).unwrap();
    }

    fn ending(&self) {
        self.0.outbox().try_send("\"goodbye\"").unwrap();
    }
}

#[tokio::test]
async fn news_follow_each_reply_and_the_last_ones_go_out_before_the_end() {
    for order in [Order::Concurrent, Order::Sequential] {
        let (near, far) = memory::pair();
        let world = Arc::new(World::default());
        let options = Options { order, ..Options::default() };
        let served =
            tokio::spawn(serve_connection(far, Ndjson::default(), options, move |connection| {
                let counter = Counter(connection.clone(), AtomicUsize::new(0));
                JsonRpc::new(Table::new([METHODS]), Cx { connection, world })
                    .companion(Arc::new(counter))
            }));
        let peer = Peer { io: BufReader::new(near), world: Arc::default(), served };
        let requests = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"t.echo\",\"params\":[1]}\n\
                        {\"jsonrpc\":\"2.0\",\"method\":\"t.echo\",\"params\":[1]}\n\
                        {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"t.echo\",\"params\":[2]}\n";
        let (got, outcome) = peer.exchange(requests.as_bytes()).await;
        assert!(matches!(outcome, Outcome::PeerClosed), "{outcome:?}");
        let lines: Vec<_> = got.lines().collect();
        let expected = [
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[1]}",
            "0",
            "1",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":[2]}",
            "2",
            "\"goodbye\"",
        ];
        assert_eq!(lines, expected);
    }
}

/// Has the replies of one method come behind what is queued.
struct Behind;

impl Companion for Behind {
    fn started(&self, _method: &'static str) {}
    fn replied(&self, _method: Option<&'static str>) {}
    fn is_behind_outbox(&self, method: &'static str) -> bool {
        method == "t.emit"
    }
    fn ending(&self) {}
}

#[tokio::test]
async fn a_dialect_has_its_replies_behind_what_is_queued_beside_others_that_do_not() {
    for is_behind in [false, true] {
        let (near, far) = memory::pair();
        let world = Arc::new(World::default());
        let served = tokio::spawn(serve_connection(
            far,
            Ndjson::default(),
            Options::default(),
            move |connection| {
                let rpc = JsonRpc::new(Table::new([METHODS]), Cx { connection, world });
                if is_behind { rpc.companion(Arc::new(Behind)) } else { rpc }
            },
        ));
        let peer = Peer { io: BufReader::new(near), world: Arc::default(), served };
        let request =
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"t.emit\",\"params\":{\"bytes\":1}}\n";
        let (got, _) = peer.exchange(request.as_bytes()).await;
        let place = got.lines().position(|line| line.contains("\"id\":1"));
        assert_eq!(place, Some(usize::from(is_behind)), "{got}");
    }
}
