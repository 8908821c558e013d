//! A script that runs: its thread, and the task that does for it what it asks of its host.
//!
//! The thread owns the context and nothing else. It sends calls, waits for replies, and ends when the
//! script ended; whoever drops the run ends the script.

mod thread;

use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc as calls, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::sandbox::{GRACE, LONGEST_STRETCH, Watchdog, on_thread, stuck};
use crate::{ErrorKind, Host, HostError, Launch, LaunchKey, Limits, Outcome, Script, ScriptError};

/// Calls that wait to be taken up.
const CALLS: usize = 64;
/// Other workflows that one run starts.
const MAX_NESTED: u32 = 64;

/// What a script is run with.
#[derive(Clone, Debug, Default)]
pub struct RunInput {
    /// The run's id.
    pub run: String,
    pub arguments: Value,
    /// The limits that hold for it.
    pub limits: Limits,
    /// What it kept before.
    pub checkpoints: BTreeMap<String, Value>,
    /// Where in another script it was started; empty for a run of its own.
    pub path: String,
}

/// What came of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    pub report: String,
    /// What it returned; only of a workflow that another one started.
    pub value: Value,
}

/// What the script asks.
enum Call {
    Agent(u64, Box<Launch>),
    Nested(u64, Nested),
    Phase(String),
    Log(String),
    Save(String, Value, mpsc::SyncSender<Result<(), HostError>>),
}

/// Another workflow that is to be run.
struct Nested {
    name: String,
    arguments: Value,
    /// Where it was asked for.
    path: String,
}

/// What it gets.
enum Reply {
    Settled(u64, Result<String, String>),
    Fatal(ScriptError),
    Abort,
}

/// What all scripts of one run share.
#[derive(Default)]
struct Shared {
    counts: Mutex<Counts>,
    /// The most agents of the whole run.
    most_agents: u32,
}

#[derive(Default)]
struct Counts {
    agents: u32,
    /// Whether more were wanted than the run may have.
    is_spent: bool,
    nested: u32,
    seen: HashMap<LaunchKey, u32>,
}

impl Shared {
    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more agent, and says which of its content it is.
    fn launch(&self, mut launch: Launch) -> Result<Launch, ScriptError> {
        let mut counts = self.counts();
        if counts.agents >= self.most_agents {
            counts.is_spent = true;
            let message = format!("the run starts more than {} agents", self.most_agents);
            return Err(ScriptError::new(ErrorKind::LimitExceeded, message));
        }
        counts.agents += 1;
        let key = LaunchKey::first(&launch);
        let before = counts.seen.entry(key.clone()).or_default();
        launch.key = LaunchKey { occurrence: *before, ..key };
        *before += 1;
        Ok(launch)
    }

    fn nested(&self) -> Result<(), ScriptError> {
        let mut counts = self.counts();
        counts.nested += 1;
        if counts.nested > MAX_NESTED {
            let message = format!("the run starts more than {MAX_NESTED} other workflows");
            return Err(ScriptError::new(ErrorKind::LimitExceeded, message));
        }
        Ok(())
    }
}

/// Runs a script to its end. Dropping the future stops it.
///
/// # Errors
/// If the script throws, goes beyond a limit, or its host cannot keep what has to be kept.
pub async fn run(
    script: Script,
    input: RunInput,
    host: Arc<dyn Host>,
) -> Result<Finished, ScriptError> {
    let most_agents = input.limits.max_agents_per_run;
    let shared = Shared { most_agents, ..Shared::default() };
    drive(script, input, host, Arc::new(shared), false).await
}

/// Tells the thread to end when the run is not wanted any more.
struct EndThread {
    watchdog: Arc<Watchdog>,
    replies: mpsc::Sender<Reply>,
}

impl Drop for EndThread {
    fn drop(&mut self) {
        self.watchdog.abort();
        // It may have ended.
        let _ = self.replies.send(Reply::Abort);
    }
}

type Work = BoxFuture<'static, Option<Reply>>;

async fn drive(
    script: Script,
    input: RunInput,
    host: Arc<dyn Host>,
    shared: Arc<Shared>,
    is_nested: bool,
) -> Result<Finished, ScriptError> {
    let (send_call, mut from_script) = calls::channel(CALLS);
    let (replies, from_host) = mpsc::channel();
    let (send_end, mut ended) = oneshot::channel();
    let watchdog = Watchdog::new();
    let thread = thread::ScriptThread {
        script,
        input: input.clone(),
        shared: Arc::clone(&shared),
        calls: send_call,
        replies: from_host,
        is_nested,
    };
    let watched = Arc::clone(&watchdog);
    on_thread(move || {
        // Who dropped the run does not want to know.
        let _ = send_end.send(thread.run(watched));
    })?;
    let end = EndThread { watchdog: Arc::clone(&watchdog), replies };
    let mut work: FuturesUnordered<Work> = FuturesUnordered::new();
    // The host holds the first script to the limits of the run.
    let places = is_nested.then(|| Arc::new(Semaphore::new(places_of(&input.limits))));
    let patience = LONGEST_STRETCH + GRACE;
    let mut look_at = Some(Instant::now() + patience);
    loop {
        let look = async {
            match look_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // Calls come first, so that none is behind the end of the script that made it.
            biased;
            Some(call) = from_script.recv() => {
                work.extend(take_up(call, &host, &shared, (&input, places.as_ref())));
            }
            done = &mut ended => return done.unwrap_or_else(|_| Err(stuck())),
            Some(reply) = work.next(), if !work.is_empty() => {
                if let Some(reply) = reply {
                    watchdog.wake();
                    let _ = end.replies.send(reply);
                    look_at = Some(Instant::now() + patience);
                }
            }
            () = look => {
                if watchdog.is_stuck() {
                    return Err(stuck());
                }
                look_at = watchdog.is_running().then(|| Instant::now() + patience);
            }
        }
    }
}

/// Begins what a call asks for.
fn take_up(
    call: Call,
    host: &Arc<dyn Host>,
    shared: &Arc<Shared>,
    (input, places): (&RunInput, Option<&Arc<Semaphore>>),
) -> Option<Work> {
    match call {
        Call::Phase(title) => host.phase(title),
        Call::Log(message) => host.log(message),
        Call::Agent(id, mut launch) => {
            // What this script may, which may be less than what the run may.
            let timeout = input.limits.agent_timeout(launch.timeout_seconds);
            launch.timeout_seconds = Some(timeout.as_secs_f64());
            let (host, places) = (Arc::clone(host), places.cloned());
            let outcome = places.is_none().then(|| host.launch((*launch).clone()));
            return Some(Box::pin(async move {
                let done = match (outcome, places) {
                    (Some(outcome), _) => outcome.await,
                    (None, places) => {
                        let _place = match places {
                            Some(places) => places.acquire_owned().await.ok(),
                            None => None,
                        };
                        host.launch(*launch).await
                    }
                };
                Some(reply(id, done.map(|done| shown(&done))))
            }));
        }
        Call::Save(key, value, done) => {
            let kept = host.checkpoint(key, value);
            return Some(Box::pin(async move {
                // The script waits for it, unless it was ended.
                let _ = done.send(kept.await);
                None
            }));
        }
        Call::Nested(id, Nested { name, arguments, path }) => {
            let (host, shared) = (Arc::clone(host), Arc::clone(shared));
            let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            let input = RunInput { arguments, path, ..input.clone() };
            return Some(Box::pin(
                async move { Some(nested(id, name, input, host, shared).await) },
            ));
        }
    }
    None
}

fn places_of(limits: &Limits) -> usize {
    usize::try_from(limits.max_concurrent_agents).unwrap_or(1).clamp(1, Semaphore::MAX_PERMITS)
}

fn reply(id: u64, result: Result<String, HostError>) -> Reply {
    match result {
        Ok(text) => Reply::Settled(id, Ok(text)),
        Err(HostError::Refused(why)) => Reply::Settled(id, Err(why)),
        Err(HostError::Store(why)) => Reply::Fatal(ScriptError::new(ErrorKind::Store, why)),
    }
}

/// Runs another workflow for a script.
async fn nested(
    id: u64,
    name: String,
    input: RunInput,
    host: Arc<dyn Host>,
    shared: Arc<Shared>,
) -> Reply {
    let source = match host.script(name.clone()).await {
        Ok(source) => source,
        Err(error) => return reply(id, Err(error)),
    };
    let arguments = input.arguments.clone();
    let read = tokio::task::spawn_blocking(move || {
        let script = Script::read(&source).map_err(|error| error.to_string())?;
        let fits = script.check_arguments(&arguments);
        fits.map_err(|why| format!("the arguments do not fit: {why}"))?;
        Ok::<_, String>(script)
    });
    let script = match read.await.unwrap_or_else(|error| Err(error.to_string())) {
        Ok(script) => script,
        Err(why) => return Reply::Settled(id, Err(format!("{name}: {why}"))),
    };
    let limits = match input.limits.lowered(script.limits.as_ref()) {
        Ok(limits) => limits,
        Err(error) => return Reply::Settled(id, Err(format!("{name}: {error}"))),
    };
    // Limits that it set itself end it alone; those of the run end the run.
    let has_own_limits = limits != input.limits;
    let input = RunInput { limits, ..input };
    let run: BoxFuture<'static, Result<Finished, ScriptError>> =
        Box::pin(drive(script, input, host, Arc::clone(&shared), true));
    match run.await {
        Ok(finished) => Reply::Settled(id, Ok(finished.value.to_string())),
        Err(error) if error.kind == ErrorKind::Store || shared.counts().is_spent => {
            Reply::Fatal(error)
        }
        Err(error) if error.kind == ErrorKind::LimitExceeded && !has_own_limits => {
            Reply::Fatal(error)
        }
        Err(error) => Reply::Settled(id, Err(format!("{name}: {error}"))),
    }
}

/// An outcome as scripts see it.
fn shown(outcome: &Outcome) -> String {
    let shown = json!({
        "agentId": outcome.agent,
        "status": outcome.end.as_str(),
        "output": outcome.output,
        "structured": outcome.structured,
        "error": outcome.error,
        "usage": outcome.usage.map(|used| json!({
            "promptTokens": used.prompt,
            "completionTokens": used.completion,
            "totalTokens": used.prompt.saturating_add(used.completion),
        })),
    });
    shown.to_string()
}
