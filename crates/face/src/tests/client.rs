//! A viewer's connection against a daemon that goes away and comes back.

use crate::{Face, Lost, News, NotSent};
use rookery_view::link::{Key, Open, Page, Resize, Size};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

struct Peer {
    lines: tokio::io::Lines<BufReader<OwnedReadHalf>>,
    out: OwnedWriteHalf,
}

impl Peer {
    async fn accept(listener: &UnixListener) -> Peer {
        let (stream, _) = listener.accept().await.unwrap();
        let (read, out) = stream.into_split();
        Peer { lines: BufReader::new(read).lines(), out }
    }

    async fn read(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn send(&mut self, message: Value) {
        self.out.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn frame(&mut self, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": "rookery/view/frame", "params": params}))
            .await;
    }

    /// Answers `open` and gives its params.
    async fn open(&mut self) -> Value {
        let open = self.read().await;
        assert_eq!(open["method"], "rookery/view/open");
        let scene = json!({"page": {"page": "workspace", "terminal": 3}});
        let result =
            json!({"version": 1, "viewer": 4, "rights": "full", "isDesk": true, "scene": scene});
        self.send(json!({"jsonrpc": "2.0", "id": open["id"], "result": result})).await;
        open["params"].clone()
    }
}

fn key(text: &str) -> Key {
    Key { t: 3, k: text.to_owned(), ..Key::default() }
}

#[tokio::test]
async fn a_face_comes_back_by_itself_and_tells_what_may_be_lost() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("rookery.sock");
    let open =
        Open { name: "test".to_owned(), size: Size { cols: 80, rows: 24 }, ..Open::default() };
    let mut face = Face::new(&socket, open);
    assert_eq!(face.key(key("x")).await, Err(NotSent), "no daemon yet");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut peer = Peer::accept(&listener).await;
    assert_eq!(peer.open().await["versions"], json!([1]));
    assert!(matches!(face.next().await, Some(News::Opened(_))));
    peer.frame(json!({"n": 1, "scene": {"page": {"page": "inbox", "item": "i"}}})).await;
    let Some(News::Changed(changed)) = face.next().await else { panic!() };
    assert!(changed.scene && changed.resync.is_empty());
    face.painted().await;
    assert_eq!(peer.read().await["params"], json!({"n": 1}));
    for (n, text) in [(1, "l"), (2, "s")] {
        face.key(key(text)).await.unwrap();
        assert_eq!(peer.read().await["params"], json!({"n": n, "t": 3, "k": text}));
    }
    face.resize(Resize { size: Some(Size { cols: 90, rows: 30 }), ..Resize::default() })
        .await
        .unwrap();
    peer.read().await;
    peer.frame(json!({"n": 2, "input": 1})).await;
    face.next().await;
    // A gap is asked about at once.
    peer.frame(json!({"n": 4, "bye": "restarting"})).await;
    face.next().await;
    let resync = peer.read().await;
    assert_eq!(resync["method"], "rookery/view/resync");
    assert_eq!(resync["params"], json!({"scene": true}));
    drop(peer);
    let Some(News::Lost(lost)) = face.next().await else { panic!() };
    let bye = Some(rookery_view::link::Bye::Restarting);
    assert_eq!(lost, Lost { bye, unsent: 2, text: "s".to_owned() });
    assert_eq!(face.key(key("x")).await, Err(NotSent));
    assert!(face.mirror().scene().page.is_some(), "the last picture stays");
    let mut peer = Peer::accept(&listener).await;
    let params = peer.open().await;
    assert_eq!(params["size"], json!({"cols": 90, "rows": 30}));
    assert_eq!(params["place"], json!({"page": "inbox", "item": "i"}));
    assert!(matches!(face.next().await, Some(News::Opened(_))));
    assert_eq!(face.mirror().scene().page, Some(Page::Workspace { terminal: Some(3) }));
    face.key(key("y")).await.unwrap();
    assert_eq!(peer.read().await["params"]["n"], 1, "a new viewer counts anew");
}

#[tokio::test]
async fn a_refusal_is_final() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("rookery.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut face = Face::new(&socket, Open { versions: vec![99], ..Open::default() });
    let mut peer = Peer::accept(&listener).await;
    let open = peer.read().await;
    let error = json!({"code": -32011, "message": "no common version", "data": {"supported": [1]}});
    peer.send(json!({"jsonrpc": "2.0", "id": open["id"], "error": error})).await;
    assert!(matches!(face.next().await, Some(News::Refused(_))));
    assert!(face.next().await.is_none());
}
