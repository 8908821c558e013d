//! A small JSON-RPC client for the command line and for tests, built on the same connection loop
//! as the servers.

use std::{
    collections::HashMap,
    convert::Infallible,
    future::Pending,
    io,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::{
    call::Call,
    connection::{Outcome, run},
    framing::{FrameError, Framing, Ndjson},
    options::Options,
    outbox::{ConnectionHandle, Outbox},
    protocol::{Protocol, Step},
    rpc::RpcError,
    transport::{Transport, unix},
};

/// Notifications kept for a receiver that does not keep up.
const NOTIFICATIONS: usize = 1024;

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server refused.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// The connection ended before the reply.
    #[error("connection closed before the reply")]
    Closed,
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The params could not be written, or the result is not what was expected.
    #[error("cannot convert: {0}")]
    Json(#[from] serde_json::Error),
}

/// A message the server sent on its own account.
#[derive(Debug, Clone)]
pub struct Notification {
    /// The method's name.
    pub method: String,
    /// The params, `null` if absent.
    pub params: Box<RawValue>,
}

type Outcomes = HashMap<u64, oneshot::Sender<Result<Box<RawValue>, RpcError>>>;

#[derive(Debug, Default)]
struct State {
    waiting: Mutex<Waiting>,
    missed: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiting {
    calls: Outcomes,
    over: bool,
    error: Option<(io::ErrorKind, String)>,
    /// What the server said of the connection itself before it closed it.
    refusal: Option<RpcError>,
}

impl State {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, outcome: &Outcome) {
        let mut waiting = self.waiting();
        waiting.over = true;
        waiting.calls.clear();
        if let Outcome::Io(error) = outcome {
            waiting.error = Some((error.kind(), error.to_string()));
        }
    }

    fn why_over(&self) -> ClientError {
        let waiting = self.waiting();
        if let Some(refusal) = &waiting.refusal {
            return ClientError::Rpc(refusal.clone());
        }
        match &waiting.error {
            Some((kind, text)) => ClientError::Io(io::Error::new(*kind, text.clone())),
            None => ClientError::Closed,
        }
    }
}

/// A connection to a JSON-RPC server. Cheap to clone; calls run side by side.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    connection: ConnectionHandle,
    state: Arc<State>,
    next_id: AtomicU64,
    notifications: Mutex<Option<mpsc::Receiver<Notification>>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // What is queued still goes out, notifications among it.
        self.connection.finish();
    }
}

impl Client {
    /// Connects to a Unix socket that speaks NDJSON.
    ///
    /// # Errors
    /// If no server listens there.
    pub async fn connect_unix(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self::over(unix::connect(path).await?, Ndjson::default()))
    }

    /// Speaks over any transport; must be called inside a runtime, which gets one task.
    pub fn over(io: impl Transport, framing: impl Framing) -> Self {
        let options = Options::default();
        let outbox = Outbox::new(options.outbox);
        let connection = ConnectionHandle::new(outbox.clone());
        let state = Arc::new(State::default());
        let (sender, notifications) = mpsc::channel(NOTIFICATIONS);
        let protocol = Replies { state: Arc::clone(&state), notifications: sender };
        let ended = Arc::clone(&state);
        let serving = run(io, framing, options, outbox, protocol);
        tokio::spawn(async move {
            ended.end(&serving.await);
        });
        Self {
            shared: Arc::new(Shared {
                connection,
                state,
                next_id: AtomicU64::new(1),
                notifications: Mutex::new(Some(notifications)),
            }),
        }
    }

    /// Calls the method that the params belong to, and waits for its result.
    ///
    /// # Errors
    /// As for [`call`](Self::call).
    pub async fn send<P: Call>(&self, params: P) -> Result<P::Reply, ClientError> {
        self.call(P::METHOD, params).await
    }

    /// Calls a method by its name and waits for its result.
    ///
    /// Dropping the future forgets the call; the server still runs it.
    ///
    /// # Errors
    /// [`ClientError::Rpc`] if the server refused, the others if there is no usable reply.
    pub async fn call<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &str,
        params: P,
    ) -> Result<R, ClientError> {
        let raw = self.call_raw(method, params).await?;
        let result = crate::decode::from_raw(&raw);
        Ok(result.map_err(<serde_json::Error as serde::de::Error>::custom)?)
    }

    /// Like [`call`](Self::call), with the result as the server wrote it.
    ///
    /// # Errors
    /// As for [`call`](Self::call).
    pub async fn call_raw<P: Serialize>(
        &self,
        method: &str,
        params: P,
    ) -> Result<Box<RawValue>, ClientError> {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let body = serde_json::to_vec(&Outgoing { jsonrpc: "2.0", id: Some(id), method, params })?;
        let (sender, receiver) = oneshot::channel();
        let _forget = Forget { state: &self.shared.state, id };
        {
            let mut waiting = self.shared.state.waiting();
            if waiting.over {
                drop(waiting);
                return Err(self.shared.state.why_over());
            }
            waiting.calls.insert(id, sender);
        }
        if self.shared.connection.outbox().send(body).await.is_err() {
            return Err(self.shared.state.why_over());
        }
        match receiver.await {
            Ok(result) => Ok(result?),
            Err(_) => Err(self.shared.state.why_over()),
        }
    }

    /// Sends a notification, to which there is no reply.
    ///
    /// # Errors
    /// If the connection is over or the params cannot be written.
    pub async fn notify<P: Serialize>(&self, method: &str, params: P) -> Result<(), ClientError> {
        let body = serde_json::to_vec(&Outgoing { jsonrpc: "2.0", id: None, method, params })?;
        let sent = self.shared.connection.outbox().send(body).await;
        sent.map_err(|_| self.shared.state.why_over())
    }

    /// The server's notifications; only the first caller gets them.
    ///
    /// At most 1024 wait to be received, later ones are [missed](Self::missed).
    #[must_use]
    pub fn notifications(&self) -> Option<mpsc::Receiver<Notification>> {
        self.shared.notifications.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// How many notifications were dropped because they were not received in time.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.shared.state.missed.load(Ordering::Relaxed)
    }

    /// Resolves when the connection is over.
    pub async fn closed(&self) {
        self.shared.connection.outbox().cancelled().await;
    }
}

#[derive(Serialize)]
struct Outgoing<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    params: P,
}

/// Takes a call off the list when it is answered or dropped.
struct Forget<'a> {
    state: &'a State,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.state.waiting().calls.remove(&self.id);
    }
}

#[derive(Deserialize)]
struct Incoming {
    #[serde(default)]
    id: Option<serde_json::Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Box<RawValue>>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<RpcError>,
}

/// The client's side of the conversation: hands replies to the calls that wait for them.
struct Replies {
    state: Arc<State>,
    notifications: mpsc::Sender<Notification>,
}

impl Replies {
    fn notify(&self, method: String, params: Option<Box<RawValue>>) {
        let params = params.unwrap_or_else(|| RawValue::NULL.to_owned());
        if self.notifications.try_send(Notification { method, params }).is_err() {
            self.state.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn resolve(&self, message: Incoming) {
        let waiter = message
            .id
            .and_then(|id| id.as_u64())
            .and_then(|id| self.state.waiting().calls.remove(&id));
        match (waiter, message.error) {
            (Some(waiter), error) => {
                // A `null` result decodes as absent.
                let result = message.result.unwrap_or_else(|| RawValue::NULL.to_owned());
                let _ = waiter.send(error.map_or(Ok(result), Err));
            }
            (None, Some(error)) => {
                tracing::warn!(%error, "server reports an error of no call");
                self.state.waiting().refusal = Some(error);
            }
            (None, None) => tracing::debug!("reply to a call that is not waited for"),
        }
    }
}

impl Protocol for Replies {
    type Reply = Infallible;
    type Call = Pending<Infallible>;

    fn accept(&mut self, frame: &[u8]) -> Step<Self> {
        match serde_json::from_slice::<Incoming>(frame) {
            Ok(Incoming { method: Some(method), params, .. }) => self.notify(method, params),
            Ok(message) => self.resolve(message),
            Err(error) => tracing::warn!(%error, "server sent something that is not a message"),
        }
        Step::Skip
    }

    fn bad_frame(&mut self, error: FrameError) -> Step<Self> {
        // The reply that is lost cannot be distinguished from the others, so that all calls must fail.
        Step::Close(None, Outcome::Framing(error))
    }

    fn overloaded(&mut self, frame: &[u8], _limit: usize) -> Step<Self> {
        self.accept(frame)
    }

    fn encode(&mut self, reply: Infallible, _out: &mut Vec<u8>) {
        match reply {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

    use super::*;
    use crate::transport::memory;

    fn client() -> (Client, BufReader<DuplexStream>) {
        let (near, far) = memory::pair();
        (Client::over(near, Ndjson::default()), BufReader::new(far))
    }

    async fn receive(server: &mut BufReader<DuplexStream>) -> Value {
        let mut line = String::new();
        server.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    #[tokio::test]
    async fn replies_find_their_calls_in_any_order() {
        let (client, mut server) = client();
        let one = client.call::<_, u8>("a", json!({}));
        let two = client.call::<_, u8>("b", json!({}));
        let three = client.call::<_, ()>("c", json!({}));
        let serve = async {
            for _ in 0..3 {
                receive(&mut server).await;
            }
            let replies = concat!(
                r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"no"}}"#,
                "\n",
                r#"{"jsonrpc":"2.0","id":99,"result":5}"#,
                "\n",
                r#"{"jsonrpc":"2.0","id":3,"result":null}"#,
                "\n",
                r#"{"jsonrpc":"2.0","id":1,"result":7}"#,
                "\n"
            );
            server.write_all(replies.as_bytes()).await.unwrap();
        };
        let (one, two, three, ()) = tokio::join!(one, two, three, serve);
        assert_eq!(one.unwrap(), 7);
        assert!(matches!(two, Err(ClientError::Rpc(error)) if error.code == -32001));
        assert!(three.is_ok());
        assert!(client.shared.state.waiting().calls.is_empty());
    }

    #[tokio::test]
    async fn typed_params_are_sent_under_their_name_and_give_their_reply() {
        #[derive(Serialize)]
        struct Double {
            of: u8,
        }
        crate::call!("math/double" Double -> u8);

        let (client, mut server) = client();
        let serve = async {
            let request = receive(&mut server).await;
            assert_eq!(request["method"], "math/double");
            assert_eq!(request["params"], json!({ "of": 3 }));
            server.write_all(b"{\"id\":1,\"result\":6}\n").await.unwrap();
        };
        let (doubled, ()) = tokio::join!(client.send(&Double { of: 3 }), serve);
        assert_eq!(doubled.unwrap(), 6);
    }

    #[tokio::test]
    async fn a_closed_connection_fails_all_calls() {
        let (client, mut server) = client();
        let call = client.call::<_, u8>("a", json!({}));
        let serve = async {
            receive(&mut server).await;
            drop(server);
        };
        let (result, ()) = tokio::join!(call, serve);
        assert!(matches!(result, Err(ClientError::Closed | ClientError::Io(_))));
        client.closed().await;
        let later = client.call::<_, u8>("a", json!({})).await;
        assert!(matches!(later, Err(ClientError::Closed | ClientError::Io(_))));
    }

    #[tokio::test]
    async fn notifications_are_bounded() {
        let (client, mut server) = client();
        let line = b"{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":[1]}\n";
        for _ in 0..NOTIFICATIONS + 5 {
            server.write_all(line).await.unwrap();
        }
        let serve = async {
            let request = receive(&mut server).await;
            assert_eq!(request["method"], "sync");
            server.write_all(b"{\"id\":1,\"result\":true}\n").await.unwrap();
        };
        let sync = client.call::<_, bool>("sync", json!({}));
        let (synced, ()) = tokio::join!(sync, serve);
        assert!(synced.unwrap());
        assert_eq!(client.missed(), 5);
        let mut notifications = client.notifications().unwrap();
        assert!(client.notifications().is_none());
        assert_eq!(notifications.recv().await.unwrap().params.get(), "[1]");
        drop((client, server));
        let mut left = 0;
        while notifications.recv().await.is_some() {
            left += 1;
        }
        assert_eq!(left, NOTIFICATIONS - 1);
    }

    #[tokio::test]
    async fn what_was_sent_goes_out_when_the_client_is_dropped() {
        let (client, mut server) = client();
        client.notify("bye", json!({})).await.unwrap();
        drop(client);
        assert_eq!(receive(&mut server).await["method"], "bye");
        let mut rest = String::new();
        assert_eq!(server.read_line(&mut rest).await.unwrap(), 0);
    }
}
