//! The whole crate together: methods served over memory, seen only through bytes.

mod admission;
mod companion;
mod concurrency;
mod envelope;
mod hostile;
mod lenient;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream},
    sync::Semaphore,
    task::JoinHandle,
};

use crate::{
    ConnectionHandle, Options, Order, Outcome, Rejected,
    framing::{Framing, Lsp, Ndjson},
    method,
    rights::Rights,
    rpc::{self, Admit, JsonRpc, Method, NoParams, OnBadFrame, RawJson, RpcError, Table},
    serve_connection,
    transport::memory,
};

/// What the test methods share.
#[derive(Clone)]
struct Cx {
    connection: ConnectionHandle,
    world: Arc<World>,
}

impl Admit for Cx {
    fn refuse(&self, _name: &'static str, _rights: Rights) -> Option<RpcError> {
        None
    }
}

struct World {
    gate: Semaphore,
    runs: AtomicUsize,
    dropped: AtomicUsize,
    sent: AtomicUsize,
}

impl Default for World {
    fn default() -> Self {
        let zero = AtomicUsize::default;
        Self { gate: Semaphore::new(0), runs: zero(), dropped: zero(), sent: zero() }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Size {
    bytes: usize,
}

struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no way"))
    }
}

impl JsonSchema for Unwritable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Unwritable".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

struct CountDrop(Arc<World>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

async fn echo(_cx: Cx, p: Value) -> Result<Value, RpcError> {
    Ok(p)
}

async fn count(cx: Cx, _p: NoParams) -> Result<usize, RpcError> {
    Ok(cx.world.runs.fetch_add(1, Ordering::SeqCst) + 1)
}

async fn big(_cx: Cx, p: Size) -> Result<String, RpcError> {
    Ok("x".repeat(p.bytes))
}

async fn fail(_cx: Cx, _p: NoParams) -> Result<(), RpcError> {
    Err(RpcError::new(-32004, "secret: denied").with_data(json!({"method": "t.fail"})))
}

async fn panic_now(_cx: Cx, _p: NoParams) -> Result<(), RpcError> {
    panic!("now");
}

async fn panic_later(_cx: Cx, _p: NoParams) -> Result<(), RpcError> {
    tokio::task::yield_now().await;
    panic!("later");
}

async fn unwritable(_cx: Cx, _p: NoParams) -> Result<Unwritable, RpcError> {
    Ok(Unwritable)
}

async fn raw(_cx: Cx, _p: NoParams) -> Result<RawJson, RpcError> {
    RawJson::parse("{\"a\":  1.0}".into()).map_err(|error| RpcError::internal(error.to_string()))
}

/// Waits until a permit comes through the gate.
async fn gate(cx: Cx, _p: NoParams) -> Result<&'static str, RpcError> {
    let _dropped = CountDrop(Arc::clone(&cx.world));
    cx.world.runs.fetch_add(1, Ordering::SeqCst);
    match cx.world.gate.acquire().await {
        Ok(permit) => permit.forget(),
        Err(_) => return Err(RpcError::internal("gate is closed")),
    }
    Ok("passed")
}

async fn open(cx: Cx, _p: NoParams) -> Result<(), RpcError> {
    cx.world.gate.add_permits(1);
    Ok(())
}

fn tick(size: usize) -> Bytes {
    rpc::notification("tick", &"x".repeat(size)).unwrap()
}

async fn emit(cx: Cx, p: Size) -> Result<&'static str, RpcError> {
    cx.connection.outbox().try_send(tick(p.bytes)).unwrap();
    Ok("emitted")
}

/// Pushes without end and cuts the peer off when it does not keep up.
async fn flood(cx: Cx, p: Size) -> Result<(), RpcError> {
    tokio::spawn(async move {
        let outbox = cx.connection.outbox();
        loop {
            match outbox.try_send(tick(p.bytes)) {
                Ok(()) => cx.world.sent.fetch_add(1, Ordering::SeqCst),
                Err(Rejected::Full) => return outbox.close("subscriber is too slow"),
                Err(Rejected::Closed) => return,
            };
            tokio::task::yield_now().await;
        }
    });
    Ok(())
}

/// Pushes without end as fast as the peer reads.
async fn stream(cx: Cx, p: Size) -> Result<(), RpcError> {
    tokio::spawn(async move {
        while let Ok(permit) = cx.connection.outbox().reserve().await {
            if permit.send(tick(p.bytes)).is_ok() {
                cx.world.sent.fetch_add(1, Ordering::SeqCst);
            }
        }
        cx.world.dropped.fetch_add(1, Ordering::SeqCst);
    });
    Ok(())
}

async fn finish(cx: Cx, _p: NoParams) -> Result<&'static str, RpcError> {
    cx.connection.finish();
    Ok("finishing")
}

const METHODS: &[Method<Cx>] = &[
    method!("t.echo", LOOK, [] => echo),
    method!("t.count", LOOK, [] => count),
    method!("t.big", LOOK, [] => big),
    method!("t.fail", LOOK, [] => fail),
    method!("t.panic_now", LOOK, [] => panic_now),
    method!("t.panic_later", LOOK, [] => panic_later),
    method!("t.unwritable", LOOK, [] => unwritable),
    method!("t.raw", LOOK, [] => raw),
    method!("t.gate", LOOK, [] => gate),
    method!("t.open", LOOK, [] => open),
    method!("t.emit", LOOK, [] => emit),
    method!("t.flood", LOOK, [] => flood),
    method!("t.stream", LOOK, [] => stream),
    method!("t.finish", LOOK, [] => finish),
];

/// A connection to the test methods.
struct Peer {
    io: BufReader<DuplexStream>,
    world: Arc<World>,
    served: JoinHandle<Outcome>,
}

fn serve_with(
    framing: impl Framing,
    options: Options,
    tune: impl FnOnce(JsonRpc) -> JsonRpc + Send + 'static,
) -> Peer {
    let (near, far) = memory::pair();
    let world = Arc::new(World::default());
    let theirs = Arc::clone(&world);
    let served = tokio::spawn(serve_connection(far, framing, options, move |connection| {
        tune(JsonRpc::new(Table::new([METHODS]), Cx { connection, world: theirs }))
    }));
    Peer { io: BufReader::new(near), world, served }
}

fn serve(options: Options) -> Peer {
    serve_with(Ndjson::default(), options, |rpc| rpc)
}

impl Peer {
    async fn send(&mut self, text: &str) {
        self.io.write_all(text.as_bytes()).await.unwrap();
    }

    async fn request(&mut self, id: u32, method: &str, params: Value) {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&format!("{body}\n")).await;
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        within(self.io.read_line(&mut line)).await.unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    async fn reply(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.request(7, method, params).await;
        self.reply().await
    }

    /// Sends all, closes the sending side and reads to the end.
    async fn exchange(self, input: &[u8]) -> (String, Outcome) {
        let (mut reader, mut writer) = tokio::io::split(self.io);
        let sending = async {
            // A server that closes early refuses the rest.
            let _ = writer.write_all(input).await;
            let _ = writer.shutdown().await;
        };
        let mut got = String::new();
        let (read, ()) =
            within(async { tokio::join!(reader.read_to_string(&mut got), sending) }).await;
        read.unwrap();
        (got, within(self.served).await.unwrap())
    }
}

/// Bounds a wait so that a failure is a failure and not a hang.
async fn within<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), wait).await.expect("took over a minute")
}

/// Lets other tasks run until `condition` holds.
async fn until(condition: impl Fn() -> bool) {
    within(async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
