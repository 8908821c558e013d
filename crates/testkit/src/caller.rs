//! A client for tests that are not async: calls block, within bounds.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rookery_native::wire::{
    Dump, EventList, GetStatus, TerminalFilter, TerminalGet, TerminalOpen, TerminalWrite, Wait,
};
use rookery_wire::Call as _;
use rookery_wire::client::Notification;
use rookery_wire::rpc::RpcError;
use rookery_wire::{Client, ClientError};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

/// How long anything may take that is expected to work.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The runtime that all callers of this process share.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
    })
}

/// A connection to a daemon. Cheap to clone.
#[derive(Clone)]
pub struct Caller {
    client: Client,
    notifications: Arc<Mutex<mpsc::Receiver<Notification>>>,
}

impl Caller {
    /// Connects to a socket.
    pub fn connect(socket: &Path) -> std::io::Result<Caller> {
        let client = runtime().block_on(Client::connect_unix(socket))?;
        Ok(Caller::over(client))
    }

    /// Takes a client over, with its notifications.
    pub fn over(client: Client) -> Caller {
        let notifications = client.notifications().expect("notifications are taken once");
        Caller { client, notifications: Arc::new(Mutex::new(notifications)) }
    }

    /// The client inside, for tests that are async.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Calls a method, whatever comes of it.
    pub fn try_call(&self, method: &str, params: Value) -> Result<Value, ClientError> {
        runtime().block_on(async {
            match timeout(PATIENCE, self.client.call(method, params)).await {
                Ok(result) => result,
                Err(_) => panic!("no reply to {method} within {PATIENCE:?}"),
            }
        })
    }

    /// Calls a method that must succeed.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Value {
        match self.try_call(method, params.clone()) {
            Ok(result) => result,
            Err(error) => panic!("{method} {params}: {error}"),
        }
    }

    /// Calls a method that must be refused, and gives the refusal.
    #[track_caller]
    pub fn refused(&self, method: &str, params: Value) -> RpcError {
        match self.try_call(method, params) {
            Err(ClientError::Rpc(error)) => error,
            other => panic!("{method} was not refused: {other:?}"),
        }
    }

    /// Starts a call without waiting for its reply.
    pub fn post(&self, method: &str, params: Value) {
        let (client, method) = (self.client.clone(), method.to_owned());
        runtime().spawn(async move { client.call::<_, Value>(&method, params).await });
    }

    /// Starts a call; its reply is there when it is asked for.
    pub fn begin(&self, method: &str, params: Value) -> Begun {
        let (client, method) = (self.client.clone(), method.to_owned());
        Begun(runtime().spawn(async move { client.call(&method, params).await }))
    }

    /// The next notification; none if there is none within `patience` or the connection ended.
    pub fn notification(&self, patience: Duration) -> Option<(String, Value)> {
        runtime().block_on(async {
            let mut notifications = self.notifications.lock().await;
            let told = timeout(patience, notifications.recv()).await.ok()??;
            let params = serde_json::from_str(told.params.get()).unwrap();
            Some((told.method, params))
        })
    }

    /// Whether the connection ends within `patience`.
    pub fn ends_within(&self, patience: Duration) -> bool {
        runtime().block_on(async { timeout(patience, self.client.closed()).await.is_ok() })
    }
}

/// A call that has begun.
pub struct Begun(tokio::task::JoinHandle<Result<Value, ClientError>>);

impl Begun {
    /// Waits for the reply.
    pub fn end(self) -> Result<Value, ClientError> {
        let ended = runtime().block_on(async { timeout(PATIENCE, self.0).await });
        ended.unwrap_or_else(|_| panic!("no reply within {PATIENCE:?}")).unwrap()
    }
}

/// Words for what tests do most, in our own methods.
impl Caller {
    /// Opens a terminal that runs a shell script, and gives its id.
    #[track_caller]
    pub fn open_sh(&self, script: &str) -> u64 {
        self.open(json!({ "argv": ["/bin/sh", "-c", script] }))
    }

    /// Opens a terminal, and gives its id.
    #[track_caller]
    pub fn open(&self, params: Value) -> u64 {
        let opened = self.call(TerminalOpen::METHOD, params);
        opened["id"].as_u64().expect("an opened terminal has an id")
    }

    /// Waits until a terminal shows a text.
    #[track_caller]
    pub fn wait_text(&self, terminal: u64, text: &str) {
        self.wait(json!({ "terminal": terminal, "text": text }));
    }

    /// Waits for a condition of a terminal; says what the terminal shows if it is in vain.
    #[track_caller]
    pub fn wait(&self, mut params: Value) -> Value {
        params["timeoutMs"] = json!(20_000);
        match self.try_call(Wait::METHOD, params.clone()) {
            Ok(waited) => waited,
            Err(error) => {
                let shown = self.try_call(Dump::METHOD, params.clone());
                panic!("waiting for {params}: {error}; the screen: {shown:?}");
            }
        }
    }

    /// Types into a terminal.
    #[track_caller]
    pub fn write(&self, terminal: u64, text: &str) {
        self.call(TerminalWrite::METHOD, json!({ "terminal": terminal, "text": text }));
    }

    /// What a terminal shows.
    #[track_caller]
    pub fn screen(&self, terminal: u64) -> String {
        let params = json!({ "terminal": terminal, "redact": false });
        let dumped = self.call(Dump::METHOD, params);
        dumped["text"].as_str().expect("a dump has text").to_owned()
    }

    /// A terminal as the daemon describes it.
    #[track_caller]
    pub fn terminal(&self, terminal: u64) -> Value {
        self.call(TerminalGet::METHOD, json!({ "terminal": terminal }))
    }

    /// All terminals as the daemon describes them.
    #[track_caller]
    pub fn terminals(&self) -> Vec<Value> {
        let list = self.call(TerminalFilter::METHOD, json!({}));
        list["terminals"].as_array().expect("a list of terminals").clone()
    }

    /// The process of a terminal.
    #[track_caller]
    pub fn pid(&self, terminal: u64) -> u32 {
        let pid = self.terminal(terminal)["pid"].as_u64();
        u32::try_from(pid.expect("a terminal has a process")).unwrap()
    }

    /// The daemon's status.
    #[track_caller]
    pub fn status(&self) -> Value {
        self.call(GetStatus::METHOD, json!({}))
    }

    /// Every event kept after `after`.
    #[track_caller]
    pub fn events(&self, mut after: u64) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let page = self.call(EventList::METHOD, json!({ "after": after, "limit": 1000 }));
            events.extend(page["events"].as_array().expect("a page has events").iter().cloned());
            after = page["next"].as_u64().expect("a page says what comes next");
            if page["next"].as_u64() >= page["last"].as_u64() {
                return events;
            }
        }
    }
}
