//! Slow and fast requests beside each other, and in order.

use super::*;
use crate::outbox::OutboxLimits;

#[tokio::test]
async fn a_slow_request_does_not_block_a_fast_one() {
    let mut peer = serve(Options::default());
    peer.request(1, "t.gate", json!({})).await;
    peer.request(2, "t.echo", json!(2)).await;
    assert_eq!(peer.reply().await["id"], 2);
    peer.request(3, "t.open", json!({})).await;
    let mut ids = [peer.reply().await["id"].as_u64(), peer.reply().await["id"].as_u64()];
    ids.sort_unstable();
    assert_eq!(ids, [Some(1), Some(3)]);
}

#[tokio::test]
async fn sequential_keeps_the_order() {
    let mut peer = serve(Options { order: Order::Sequential, ..Options::default() });
    peer.request(1, "t.gate", json!({})).await;
    peer.send("{\"jsonrpc\":\"2.0\",\"method\":\"t.gate\"}\n").await;
    peer.request(2, "t.count", json!({})).await;
    let world = Arc::clone(&peer.world);
    until(|| world.runs.load(Ordering::SeqCst) == 1).await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.runs.load(Ordering::SeqCst), 1);
    world.gate.add_permits(1);
    assert_eq!(peer.reply().await["id"], 1);
    until(|| world.runs.load(Ordering::SeqCst) == 2).await;
    world.gate.add_permits(1);
    // Also a notification is done before the next request begins.
    assert_eq!(peer.reply().await, json!({"jsonrpc": "2.0", "id": 2, "result": 3}));
}

#[tokio::test]
async fn what_is_at_work_is_answered_after_end_of_file() {
    for order in [Order::Concurrent, Order::Sequential] {
        let mut peer = serve(Options { order, ..Options::default() });
        peer.request(1, "t.gate", json!({})).await;
        peer.request(2, "t.gate", json!({})).await;
        peer.io.shutdown().await.unwrap();
        let world = Arc::clone(&peer.world);
        until(|| world.runs.load(Ordering::SeqCst) >= 1).await;
        world.gate.add_permits(2);
        assert_eq!(peer.reply().await["result"], "passed");
        assert_eq!(peer.reply().await["result"], "passed");
        assert!(matches!(within(peer.served).await.unwrap(), Outcome::PeerClosed));
    }
}

#[tokio::test]
async fn finishing_answers_what_is_at_work() {
    let mut peer = serve(Options::default());
    peer.request(1, "t.gate", json!({})).await;
    peer.request(2, "t.finish", json!({})).await;
    assert_eq!(peer.reply().await["result"], "finishing");
    peer.request(3, "t.count", json!({})).await;
    peer.world.gate.add_permits(1);
    assert_eq!(peer.reply().await["id"], 1);
    assert_eq!(peer.line().await, "");
    assert!(matches!(within(peer.served).await.unwrap(), Outcome::Finished));
}

#[tokio::test]
async fn messages_follow_or_precede_the_reply_that_caused_them() {
    for outbox_first in [false, true] {
        let mut peer = serve(Options { outbox_first, ..Options::default() });
        peer.request(1, "t.emit", json!({"bytes": 1})).await;
        let lines = [peer.line().await, peer.line().await];
        assert_eq!(
            lines.iter().position(|line| line.contains("tick")),
            Some(usize::from(!outbox_first))
        );
        assert_eq!(
            lines[usize::from(!outbox_first)],
            r#"{"jsonrpc":"2.0","method":"tick","params":"x"}"#
        );
    }
}

#[tokio::test]
async fn pipelined_requests_are_all_answered_in_order() {
    let mut input = String::new();
    let mut want = String::new();
    for id in 0..20_000 {
        input +=
            &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"t.echo\",\"params\":{id}}}\n");
        want += &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{id}}}\n");
    }
    let (got, _) = serve(Options::default()).exchange(input.as_bytes()).await;
    assert!(got == want);
}

#[tokio::test]
async fn a_server_on_a_socket_answers_many_clients() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s.sock");
    let endpoint = crate::transport::unix::bind(&path, &Default::default()).unwrap();
    let world = Arc::new(World::default());
    let accepting = tokio::spawn(async move {
        let table = Arc::new(Table::new([METHODS]));
        while let Ok(io) = endpoint.accept().await {
            let (table, world) = (Arc::clone(&table), Arc::clone(&world));
            tokio::spawn(serve_connection(
                io,
                Ndjson::default(),
                Options::default(),
                |connection| JsonRpc::new(table, Cx { connection, world }),
            ));
        }
    });
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(crate::transport::unix::connect(&path).await.unwrap());
    }
    let mut clients = Vec::new();
    for _ in 0..10 {
        let path = path.clone();
        clients.push(tokio::spawn(async move {
            let client = crate::Client::connect_unix(path).await.unwrap();
            for n in 0..100 {
                assert_eq!(client.call::<_, u32>("t.echo", n).await.unwrap(), n);
            }
        }));
    }
    for client in clients {
        within(client).await.unwrap();
    }
    accepting.abort();
}

#[tokio::test]
async fn a_message_over_the_bound_of_the_queue_reaches_a_peer_that_reads() {
    let outbox = OutboxLimits { messages: 64, bytes: 16 * 1024 };
    let mut peer = serve(Options { outbox, write_high_water: 1024, ..Options::default() });
    let sizes = [10, 10, 300 * 1024, 10, 10];
    for (id, size) in (0..).zip(sizes) {
        peer.request(id, "t.emit", json!({ "bytes": size })).await;
    }
    let (mut ticks, mut replies) = (Vec::new(), 0);
    while ticks.len() + replies < 2 * sizes.len() {
        let line = peer.reply().await;
        match line["params"].as_str() {
            Some(text) => ticks.push(text.len()),
            None => {
                assert_eq!(line["result"], "emitted", "{line}");
                replies += 1;
            }
        }
    }
    assert_eq!(ticks, sizes);
}
