//! The dialect over a connection in memory, seen only through lines: operations of its own over a
//! log of its own, so that order and bounds can be tested without a world behind them.

mod mapping;
mod protocol;
mod stream;

use std::{future::Future, pin::Pin, sync::Arc};

use futures_util::{StreamExt as _, stream as streams};
use parking_lot::Mutex;
use rookery_model::{Event, EventSeq, NumberedEvent, ProjectId, TerminalId, Timestamp};
use rookery_wire::{Options, Outcome, framing::Ndjson, serve_connection, transport::memory};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::{Semaphore, watch},
    task::JoinHandle,
};

use crate::{
    connection::{Roost, framing, options},
    context::Link,
    errors::Error,
    lane::Turn,
    subscription::{Feed, Log},
    table::{Op, Table, Terms, op},
    wire::{
        Base64, Empty,
        events::{EventsSubscribe, Subscribed},
        palette::{PalettePresent, Presented},
        project::ProjectRename,
        tab::{
            Captured, Focused, TabCapturePtyInput, TabClose, TabDump, TabFocus, TabSetTitle,
            TabWrite,
        },
    },
};

/// A log in memory that has forgotten everything up to `forgotten`.
#[derive(Clone)]
struct TestLog(Arc<LogInner>);

struct LogInner {
    events: Mutex<Vec<Arc<NumberedEvent>>>,
    last: watch::Sender<u64>,
    forgotten: u64,
}

impl TestLog {
    fn new(forgotten: u64) -> Self {
        let last = watch::Sender::new(forgotten);
        Self(Arc::new(LogInner { events: Mutex::default(), last, forgotten }))
    }

    fn commit(&self, event: Event) {
        let mut events = self.0.events.lock();
        let seq = *self.0.last.borrow() + 1;
        let at = Timestamp::from_micros(0);
        events.push(Arc::new(NumberedEvent { seq: EventSeq::new(seq), at, event }));
        self.0.last.send_replace(seq);
    }

    fn after(&self, since: u64) -> Vec<Arc<NumberedEvent>> {
        let events = self.0.events.lock();
        events.iter().filter(|event| event.seq.get() > since).cloned().collect()
    }
}

impl Log for TestLog {
    fn last(&self) -> u64 {
        *self.0.last.borrow()
    }

    fn follow(&self, since: u64) -> Feed {
        let state = (self.clone(), self.0.last.subscribe(), since);
        streams::unfold(state, |(log, mut last, since)| async move {
            let newest = *last.wait_for(|last| *last > since).await.ok()?;
            Some((Ok(log.after(since)), (log, last, newest)))
        })
        .boxed()
    }

    fn keeps(&self, since: u64) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + '_>> {
        Box::pin(async move { Ok(since >= self.0.forgotten) })
    }
}

/// What the operations of these tests share.
#[derive(Clone)]
struct Cx {
    log: TestLog,
    link: Link,
    /// Lets waiting operations go on.
    gate: Arc<Semaphore>,
    done: Arc<Mutex<Vec<String>>>,
}

/// Waits at the gate if the title says so, and then does its work.
async fn set_title(cx: Cx, params: TabSetTitle) -> Result<Empty, Error> {
    if params.title.starts_with("wait") {
        cx.gate.acquire().await.unwrap().forget();
    }
    cx.done.lock().push(params.title);
    Ok(Empty {})
}

/// Commits as many events as the id says.
async fn rename(cx: Cx, params: ProjectRename) -> Result<Empty, Error> {
    for _ in 0..params.project_id.0 {
        let id = ProjectId::new(1);
        cx.log.commit(Event::ProjectRenamed { id, name: params.name.clone() });
    }
    Ok(Empty {})
}

/// Commits an event about a tab.
async fn focus(cx: Cx, params: TabFocus) -> Result<Focused, Error> {
    let id = TerminalId::new(params.tab_id.raw_id().unwrap());
    cx.log.commit(Event::TerminalTitleChanged { id, title: "t".into() });
    Ok(Focused { previous_project_id: 0.into(), previous_tab_id: 0.into() })
}

async fn present(cx: Cx, turn: Turn, params: PalettePresent) -> Result<Presented, Error> {
    turn.end();
    let ending = cx.link.ending.clone();
    tokio::select! {
        _ = cx.gate.acquire() => {
            let selected_id = params.items.first().map(|item| item.id.clone());
            Ok(Presented { selected_id, dismissed: false })
        }
        () = ending.cancelled() => Ok(Presented { selected_id: None, dismissed: true }),
    }
}

async fn subscribe(cx: Cx, params: EventsSubscribe) -> Result<Subscribed, Error> {
    cx.link.subscription.subscribe(&params).await
}

async fn panic_early(_cx: Cx, _params: TabClose) -> Result<Empty, Error> {
    panic!("on purpose")
}

async fn not_found(_cx: Cx, params: TabDump) -> Result<crate::wire::tab::Dump, Error> {
    Err(Error::not_found(format!("no tab {}", params.tab_id)))
}

/// Answers with some bytes, or with a few more.
async fn capture(_cx: Cx, params: TabCapturePtyInput) -> Result<Captured, Error> {
    Ok(Captured { data: Base64(vec![0; if params.drain { 303 } else { 300 }]) })
}

async fn write(_cx: Cx, _params: TabWrite) -> Result<Empty, Error> {
    Ok(Empty {})
}

const OPS: &[Op<Cx>] = &[
    op!(TabSetTitle, LOOK, [] => set_title),
    op!(ProjectRename, LOOK, [] => rename),
    op!(TabFocus, LOOK, [] => focus),
    op!(PalettePresent, LOOK, [] => free present),
    op!(EventsSubscribe, LOOK, [] => subscribe),
    op!(TabClose, LOOK, [] => panic_early),
    op!(TabDump, LOOK, [] => not_found),
    op!(TabCapturePtyInput, LOOK, [] => capture),
    op!(TabWrite, LOOK, [] => write).gated(),
    Op::elsewhere("app.dock_badge"),
];

/// A server with one connection.
struct World {
    log: TestLog,
    gate: Arc<Semaphore>,
    done: Arc<Mutex<Vec<String>>>,
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    served: JoinHandle<Outcome>,
}

struct Setup {
    framing: Ndjson,
    options: Options,
    test_mode: bool,
    forgotten: u64,
    longest: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            framing: framing(),
            options: options(),
            test_mode: false,
            forgotten: 0,
            longest: usize::MAX,
        }
    }
}

impl Setup {
    fn start(self) -> World {
        let (near, far) = memory::pair();
        let log = TestLog::new(self.forgotten);
        let (gate, done) = (Arc::new(Semaphore::new(0)), Arc::default());
        let (server_log, server_gate, server_done) =
            (log.clone(), Arc::clone(&gate), Arc::clone(&done));
        let serve = serve_connection(far, self.framing, self.options, move |connection| {
            let link = Link::new(connection, server_log.clone());
            let cx =
                Cx { log: server_log, link: link.clone(), gate: server_gate, done: server_done };
            let table = Arc::new(Table::new([OPS]));
            Roost::over(table, cx, link, Terms { test_mode: self.test_mode, is_agent: false })
                .with_longest(self.longest)
        });
        let (reader, writer) = tokio::io::split(near);
        let served = tokio::spawn(serve);
        World { log, gate, done, reader: BufReader::new(reader), writer, served }
    }
}

impl World {
    fn new() -> Self {
        Setup::default().start()
    }

    async fn send(&mut self, lines: &str) {
        self.writer.write_all(lines.as_bytes()).await.unwrap();
    }

    /// Sends a request.
    async fn ask(&mut self, id: i64, op: &str, params: &str) {
        let line = format!("{{\"id\":\"{id}\",\"op\":\"{op}\",\"params\":{params}}}\n");
        self.send(&line).await;
    }

    /// The next line, without its newline; empty at the end of the stream.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        line.trim_end().to_owned()
    }

    async fn expect(&mut self, want: &str) {
        assert_eq!(self.line().await, want);
    }

    /// Expects a success without data.
    async fn expect_done(&mut self, id: i64) {
        self.expect(&format!(r#"{{"id":"{id}","ok":true,"result":{{}}}}"#)).await;
    }

    /// Expects a failure.
    async fn expect_error(&mut self, id: i64, code: &str) {
        let line = self.line().await;
        let want = format!(r#"{{"id":"{id}","ok":false,"error":{{"code":"{code}","message":"#);
        assert!(line.starts_with(&want), "{line}");
    }
}
