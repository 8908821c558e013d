//! The dialect over a connection in memory, as far as it goes without a program to run; the
//! vectors go further.

use std::sync::Arc;

use parking_lot::Mutex;
use rookery_agent::providers::KeyRing;
use rookery_core::{Core, CoreConfig, KeeperLaunch, TerminalLimits};
use rookery_wire::{
    Client, ClientError, Options, Secret,
    framing::Ndjson,
    rpc::{JsonRpc, Table},
    serve_connection,
    transport::memory,
};
use schemars::SchemaGenerator;

use crate::{
    Control, Cx, Ending, METHODS, code, notification,
    wire::{
        EventList, EventNotification, GetStatus, LendKey, ProjectCreate, Shutdown, Subscribe,
        TerminalFilter, TerminalOpen, Unsubscribe,
    },
};

#[derive(Default)]
struct Asked(Mutex<Vec<Ending>>);

impl Control for Asked {
    fn shut_down(&self, ending: Ending) {
        self.0.lock().push(ending);
    }
}

struct World {
    _home: tempfile::TempDir,
    core: Core,
    asked: Arc<Asked>,
}

async fn world() -> World {
    let home = tempfile::tempdir().unwrap();
    let keeper = KeeperLaunch {
        exe: "/nonexistent/keeper".into(),
        args: Vec::new(),
        socket: home.path().join("keeper.sock"),
    };
    let config = CoreConfig {
        state_dir: Some(home.path().join("state")),
        keeper,
        home: home.path().to_owned(),
        env: Vec::new(),
        shell: "/bin/sh".to_owned(),
        child_env: Vec::new(),
        limits: TerminalLimits::default(),
        palette: rookery_term::Palette::default(),
        shares_ids: true,
        ui: rookery_core::UiConfig::default(),
        tab_env: Vec::new(),
        resources: None,
        helpers: None,
        default_tool: None,
        max_running_tasks: rookery_core::USUAL_RUNNING_TASKS,
        agent: rookery_core::AgentConfig::default(),
    };
    let core = Core::start(config).await.unwrap();
    World { _home: home, core, asked: Arc::default() }
}

impl World {
    /// A new connection, and the context that serves it.
    fn connect(&self) -> (Client, Cx) {
        let (near, far) = memory::pair();
        let (core, asked) = (self.core.clone(), Arc::clone(&self.asked));
        let (sender, receiver) = std::sync::mpsc::channel();
        let serve =
            serve_connection(far, Ndjson::default(), Options::default(), move |connection| {
                let cx = Cx::new(core, connection, asked);
                sender.send(cx.clone()).unwrap();
                JsonRpc::new(Arc::new(Table::new([METHODS])), cx)
            });
        let mut serve = Box::pin(serve);
        // The context is made when the future is first polled.
        let waker = std::task::Waker::noop();
        assert!(serve.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        tokio::spawn(serve);
        (Client::over(near, Ndjson::default()), receiver.recv().unwrap())
    }
}

fn refused<T: std::fmt::Debug>(result: Result<T, ClientError>) -> i64 {
    match result {
        Err(ClientError::Rpc(error)) => error.code,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn shutting_down_is_asked_of_the_daemon_and_answered() {
    let world = world().await;
    let (client, _) = world.connect();
    let status = client.send(GetStatus).await.unwrap();
    assert_eq!(status.pid, std::process::id());
    for all in [false, true] {
        client.send(Shutdown { all, restart: false }).await.unwrap();
    }
    client.send(Shutdown { all: false, restart: true }).await.unwrap();
    assert!(client.send(Shutdown { all: true, restart: true }).await.is_err());
    assert_eq!(*world.asked.0.lock(), [Ending::KeepTerminals, Ending::EndAll, Ending::Restart]);
}

#[tokio::test]
async fn a_subscriber_gets_every_event_once_and_in_order() {
    let world = world().await;
    let (client, cx) = world.connect();
    let mut messages = client.notifications().unwrap();
    let subscription = client.send(Subscribe { since: Some(0) }).await.unwrap();
    for number in 0..50 {
        let params = ProjectCreate { name: format!("p{number}"), root: "/".into() };
        client.send(params).await.unwrap();
    }
    let page = client.send(EventList { after: 0, limit: None }).await.unwrap();
    assert_eq!((page.missed, page.next), (0, page.last));
    for expected in &page.events {
        let message = messages.recv().await.unwrap();
        assert_eq!(message.method, notification::EVENT);
        let told: EventNotification = serde_json::from_str(message.params.get()).unwrap();
        assert_eq!((told.subscription, told.missed), (subscription.subscription, 0));
        assert_eq!(told.event, *expected);
    }
    let over = Unsubscribe { subscription: subscription.subscription };
    client.send(&over).await.unwrap();
    assert_eq!(cx.subscriptions.len(), 0);
    assert_eq!(refused(client.send(&over).await), code::NOT_FOUND);
}

#[tokio::test]
async fn pages_of_the_log_join_without_gap_or_overlap() {
    let world = world().await;
    let (client, _) = world.connect();
    for name in ["a", "b", "c"] {
        let params = ProjectCreate { name: name.to_owned(), root: "/".into() };
        client.send(params).await.unwrap();
    }
    let mut after = 0;
    let mut numbers = Vec::new();
    loop {
        let page = client.send(EventList { after, limit: Some(2) }).await.unwrap();
        numbers.extend(page.events.iter().map(|event| event.seq));
        after = page.next;
        if after == page.last {
            break;
        }
    }
    let expected: Vec<u64> = (1..=after).collect();
    assert_eq!(numbers, expected);
    let page = client.send(EventList { after: u64::MAX, limit: None }).await.unwrap();
    assert_eq!((page.events.len(), page.missed, page.next), (0, 0, after));
}

#[tokio::test]
async fn subscriptions_are_bounded_and_end_with_their_connection() {
    let world = world().await;
    let (client, cx) = world.connect();
    let subscribe = || client.send(Subscribe { since: None });
    for _ in 0..64 {
        subscribe().await.unwrap();
    }
    assert_eq!(refused(subscribe().await), code::BUSY);
    assert_eq!(cx.subscriptions.len(), 64);
    drop(client);
    cx.connection.closed().cancelled().await;
    while cx.subscriptions.len() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn keys_that_a_connection_lends_are_shared_with_its_other_dialects() {
    let world = world().await;
    let (shared, control) = (KeyRing::default(), Arc::clone(&world.asked));
    let (near, far) = memory::pair();
    let (core, ring) = (world.core.clone(), shared.clone());
    tokio::spawn(serve_connection(far, Ndjson::default(), Options::default(), move |connection| {
        let cx = Cx::new(core, connection, control).with_keys(ring);
        JsonRpc::new(Arc::new(Table::new([METHODS])), cx)
    }));
    let client = Client::over(near, Ndjson::default());
    let lend = |provider: &str| LendKey {
        provider: provider.to_owned(),
        key: Secret::new("sk-lent"),
        variable: None,
    };
    for provider in ["anthropic", "openai", "anthropic"] {
        client.send(lend(provider)).await.unwrap();
    }
    assert_eq!(refused(client.send(lend("nowhere")).await), code::INVALID);
    let keys = shared.keys();
    let of: Vec<&str> = keys.iter().map(|loan| loan.provider()).collect();
    assert_eq!(of, ["openai", "anthropic"]);
}

#[tokio::test]
async fn a_keeper_that_cannot_start_is_a_failure_of_the_world_outside() {
    let world = world().await;
    let (client, _) = world.connect();
    let argv = vec!["/bin/true".to_owned()];
    let open = client.send(TerminalOpen { argv, ..TerminalOpen::default() }).await;
    assert_eq!(refused(open), code::FAILED);
    assert_eq!(client.send(TerminalFilter::default()).await.unwrap().terminals, []);
}

#[test]
fn every_method_is_ours_and_has_schemas() {
    let table = Table::new([METHODS]);
    let mut generator = SchemaGenerator::default();
    for method in table.iter() {
        assert!(method.name.starts_with("rookery/"), "{}", method.name);
        for schema in [method.params_schema, method.result_schema] {
            let schema = serde_json::to_value(schema(&mut generator)).unwrap();
            assert!(schema.is_object(), "{}", method.name);
        }
    }
}
