//! The thread of a script: evaluates it, runs its jobs, and waits for replies.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc;

use rquickjs::{Ctx, Exception, Function, Object};
use serde_json::Value;
use tokio::sync::mpsc as calls;

use super::{Call, Finished, Nested, Reply, RunInput, Shared};
use crate::sandbox::{Sandbox, Watchdog, enter, evaluate, line_of};
use crate::{
    DeclaredPhase, ErrorKind, HostError, LIMIT_NAMES, Launch, LaunchKey, Script, ScriptError, hash,
};

/// Longest prompt, in bytes.
const MAX_PROMPT: usize = 1 << 20;
/// What is asked of agents that have not answered yet, in bytes.
const MAX_WAITING: usize = 64 << 20;
/// Longest line for the log; the rest is cut off.
const MAX_LINE: usize = 16 << 10;
/// Lines that one script logs.
const MAX_LINES: u32 = 10_000;
/// Phases that one script begins.
const MAX_PHASES: u32 = 1_000;
/// Checkpoints that one script keeps, and how often it may.
const MAX_KEYS: usize = 1_000;
const MAX_SAVES: u32 = 10_000;
/// Bytes of the checkpoints that one script keeps, and of all that it saves.
const MAX_KEPT: usize = 64 << 20;
const MAX_SAVED: usize = 256 << 20;
/// Longest name of a checkpoint or phase, in bytes.
const MAX_NAME: usize = 512;
/// Longest schema of an answer, and arguments of another workflow, as JSON.
const MAX_SCHEMA: usize = 256 << 10;
const MAX_ARGUMENTS: usize = 1 << 20;

/// All that the thread of a script owns.
pub(super) struct ScriptThread {
    pub(super) script: Script,
    pub(super) input: RunInput,
    pub(super) shared: Arc<Shared>,
    pub(super) calls: calls::Sender<Call>,
    pub(super) replies: mpsc::Receiver<Reply>,
    pub(super) is_nested: bool,
}

/// What the functions of a script share.
struct State {
    input: RunInput,
    shared: Arc<Shared>,
    calls: calls::Sender<Call>,
    watchdog: Arc<Watchdog>,
    last: Cell<u64>,
    /// Calls without a reply, and how many bytes each asks.
    waiting: RefCell<BTreeMap<u64, usize>>,
    checkpoints: RefCell<BTreeMap<String, Value>>,
    agents: Cell<u32>,
    lines: Cell<u32>,
    phases: Cell<u32>,
    /// The phases that the script declares, and the one that it began last.
    declared: Vec<DeclaredPhase>,
    phase_now: RefCell<Option<String>>,
    saves: Cell<u32>,
    /// Bytes of the checkpoints that are kept, and of all that were saved.
    kept_bytes: Cell<usize>,
    saved_bytes: Cell<usize>,
    /// Why the script must not go on, whatever it catches.
    fatal: RefCell<Option<ScriptError>>,
    end: RefCell<Option<Result<String, ScriptError>>>,
}

impl ScriptThread {
    /// Runs the script to its end.
    pub(super) fn run(self, watchdog: Arc<Watchdog>) -> Result<Finished, ScriptError> {
        let sandbox = Sandbox::new(Arc::clone(&watchdog))?;
        let kept = self.input.checkpoints.values().map(|value| value.to_string().len()).sum();
        let state = Rc::new(State {
            input: self.input.clone(),
            shared: self.shared,
            calls: self.calls,
            watchdog,
            last: Cell::new(0),
            waiting: RefCell::default(),
            checkpoints: RefCell::new(self.input.checkpoints),
            agents: Cell::new(0),
            lines: Cell::new(0),
            phases: Cell::new(0),
            declared: self.script.phases.clone(),
            phase_now: RefCell::default(),
            saves: Cell::new(0),
            kept_bytes: Cell::new(kept),
            saved_bytes: Cell::new(0),
            fatal: RefCell::default(),
            end: RefCell::default(),
        });
        let (script, replies, is_nested) = (self.script, self.replies, self.is_nested);
        sandbox.with(|ctx| {
            let begun = begin(&ctx, &state, &script, is_nested);
            let entry = begun.map_err(|error| state.fatal_or(|| sandbox.failure(&ctx, error)))?;
            let text = serve(&ctx, &sandbox, &state, &entry, &replies)?;
            finished(&text, &state)
        })
    }
}

/// Gives the script its functions, and starts it.
fn begin<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<State>,
    script: &Script,
    is_nested: bool,
) -> rquickjs::Result<Object<'js>> {
    let input = &state.input;
    let setup = Object::new(ctx.clone())?;
    setup.set("form", script.form.word())?;
    setup.set("runId", input.run.as_str())?;
    setup.set("args", ctx.json_parse(input.arguments.to_string())?)?;
    setup.set("isNested", is_nested)?;
    setup.set("path", input.path.as_str())?;
    let is_dry = input.arguments.get("__dryRun").and_then(Value::as_bool) == Some(true);
    setup.set("dryRun", is_dry)?;
    let limits = Object::new(ctx.clone())?;
    for (name, value) in LIMIT_NAMES.into_iter().zip(input.limits.values()) {
        // All that is larger is the same to a script.
        limits.set(name, value as f64)?;
    }
    setup.set("limits", limits)?;
    let entry = enter(ctx, natives(ctx, state)?, setup)?;
    let body = evaluate(ctx, script.form, &script.body())?;
    entry.get::<_, Function>("begin")?.call::<_, ()>((body,))?;
    Ok(entry)
}

/// The functions that scripts reach us by. They take and give texts and numbers only.
fn natives<'js>(ctx: &Ctx<'js>, state: &Rc<State>) -> rquickjs::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let of = Rc::clone(state);
    let call =
        move |ctx: Ctx<'_>, kind: String, body: String| of.throwing(&ctx, of.call(&kind, &body));
    native.set("call", Function::new(ctx.clone(), call)?)?;
    let of = Rc::clone(state);
    let log = move |ctx: Ctx<'_>, line: String| of.throwing(&ctx, of.log(&line));
    native.set("log", Function::new(ctx.clone(), log)?)?;
    let of = Rc::clone(state);
    let phase = move |ctx: Ctx<'_>, title: String| of.throwing(&ctx, of.phase(&title));
    native.set("phase", Function::new(ctx.clone(), phase)?)?;
    let of = Rc::clone(state);
    let save =
        move |ctx: Ctx<'_>, key: String, value: String| of.throwing(&ctx, of.save(key, &value));
    native.set("save", Function::new(ctx.clone(), save)?)?;
    let of = Rc::clone(state);
    let read = move |key: String| -> String {
        of.checkpoints.borrow().get(&key).map_or_else(|| "null".to_owned(), Value::to_string)
    };
    native.set("read", Function::new(ctx.clone(), read)?)?;
    let of = Rc::clone(state);
    let tick = move |ctx: Ctx<'_>| of.throwing(&ctx, of.in_time());
    native.set("tick", Function::new(ctx.clone(), tick)?)?;
    let of = Rc::clone(state);
    native.set("aborted", Function::new(ctx.clone(), move || of.watchdog.is_aborted())?)?;
    let of = Rc::clone(state);
    let finish = move |has_succeeded: bool, text: String| of.finish(has_succeeded, text);
    native.set("finish", Function::new(ctx.clone(), finish)?)?;
    Ok(native)
}

/// Runs what the script has to do, and waits for replies in between, until it ended.
fn serve(
    ctx: &Ctx<'_>,
    sandbox: &Sandbox,
    state: &State,
    entry: &Object<'_>,
    replies: &mpsc::Receiver<Reply>,
) -> Result<String, ScriptError> {
    loop {
        while ctx.execute_pending_job() {
            state.may_go_on()?;
        }
        state.may_go_on()?;
        if let Some(end) = state.end.borrow_mut().take() {
            return end;
        }
        if state.waiting.borrow().is_empty() {
            let message = "the script waits for something that never happens";
            return Err(ScriptError::new(ErrorKind::ScriptExecution, message));
        }
        state.watchdog.rest();
        // Without a sender the run was dropped.
        let reply = replies.recv().unwrap_or(Reply::Abort);
        state.watchdog.begin();
        let settled = match reply {
            Reply::Settled(id, result) => settle(entry, state, id, result),
            Reply::Fatal(error) => return Err(error),
            Reply::Abort => {
                let waiting: BTreeSet<u64> = state.waiting.borrow().keys().copied().collect();
                let stopped = || Err("the run was stopped".to_owned());
                waiting.into_iter().try_for_each(|id| settle(entry, state, id, stopped()))
            }
        };
        settled.map_err(|error| state.fatal_or(|| sandbox.failure(ctx, error)))?;
    }
}

fn settle(
    entry: &Object<'_>,
    state: &State,
    id: u64,
    result: Result<String, String>,
) -> rquickjs::Result<()> {
    state.waiting.borrow_mut().remove(&id);
    let (has_succeeded, text) = match result {
        Ok(text) => (true, text),
        Err(text) => (false, text),
    };
    entry.get::<_, Function>("settle")?.call((id as f64, has_succeeded, text))
}

fn finished(text: &str, state: &State) -> Result<Finished, ScriptError> {
    let end: Result<Value, _> = serde_json::from_str(text);
    let no_json = |why: String| {
        ScriptError::new(ErrorKind::ScriptExecution, format!("the result is no JSON: {why}"))
    };
    let mut end = end.map_err(|error| no_json(error.to_string()))?;
    if !end.is_object() {
        return Err(no_json("it is no object".to_owned()));
    }
    let report = end["report"].as_str().unwrap_or_default().to_owned();
    let most = state.input.limits.report_bytes;
    if report.len() as u64 > most {
        let message = format!("the report is longer than {most} bytes");
        return Err(ScriptError::new(ErrorKind::LimitExceeded, message));
    }
    Ok(Finished { report, value: end["value"].take() })
}

impl State {
    /// Lets a failure of ours be one of the script. What must not be caught is kept as well.
    fn throwing<T>(&self, ctx: &Ctx<'_>, result: Result<T, ScriptError>) -> rquickjs::Result<T> {
        result.map_err(|error| {
            if matches!(error.kind, ErrorKind::LimitExceeded | ErrorKind::Store) {
                self.fatal.borrow_mut().get_or_insert_with(|| error.clone());
                self.watchdog.stop();
            }
            Exception::throw_message(ctx, &error.message)
        })
    }

    fn fatal_or(&self, other: impl FnOnce() -> ScriptError) -> ScriptError {
        self.fatal.borrow_mut().take().unwrap_or_else(other)
    }

    /// Whether the script may go on.
    fn may_go_on(&self) -> Result<(), ScriptError> {
        if let Some(error) = self.fatal.borrow_mut().take() {
            return Err(error);
        }
        self.in_time()
    }

    fn in_time(&self) -> Result<(), ScriptError> {
        if self.watchdog.is_over() {
            let aborted = || ScriptError::new(ErrorKind::Aborted, "the run was stopped");
            return Err(self.watchdog.verdict().unwrap_or_else(aborted));
        }
        Ok(())
    }

    fn send(&self, call: Call) -> Result<(), ScriptError> {
        if self.watchdog.is_aborted() {
            return Err(ScriptError::new(ErrorKind::Aborted, "the run was stopped"));
        }
        if self.end.borrow().is_some() {
            return Err(ScriptError::new(ErrorKind::Aborted, "the script has ended"));
        }
        let sent = self.watchdog.held(|| self.calls.blocking_send(call));
        sent.map_err(|_| ScriptError::new(ErrorKind::Aborted, "the run was stopped"))
    }

    fn call(&self, kind: &str, body: &str) -> Result<f64, ScriptError> {
        let body: Option<Value> = serde_json::from_str(body).ok();
        // Whatever a script made of it.
        let mut body = body.filter(Value::is_object).ok_or_else(|| {
            ScriptError::new(ErrorKind::ScriptExecution, "what is asked is no object")
        })?;
        let id = self.last.get() + 1;
        let mut size = 0;
        let call = if kind == "workflow" {
            self.shared.nested()?;
            let name = body["name"].as_str().unwrap_or_default().to_owned();
            named(&name)?;
            let arguments = body["args"].take();
            sized("the arguments of a workflow", &arguments, MAX_ARGUMENTS)?;
            let path = path_of(&body);
            Call::Nested(id, Nested { name, arguments, path })
        } else {
            let mut launch = launch(&mut body)?;
            self.choose_model(&mut launch);
            size = launch.prompt.len();
            let waiting: usize = self.waiting.borrow().values().sum();
            if waiting + size > MAX_WAITING {
                let message = format!("more than {MAX_WAITING} bytes of prompts wait");
                return Err(ScriptError::new(ErrorKind::LimitExceeded, message));
            }
            let launch = self.shared.launch(launch)?;
            count(&self.agents, self.input.limits.max_agents_per_run, "agents")?;
            Call::Agent(id, Box::new(launch))
        };
        self.send(call)?;
        self.last.set(id);
        self.waiting.borrow_mut().insert(id, size);
        Ok(id as f64)
    }

    /// An agent without a model of its own has that of its phase, if that names one.
    fn choose_model(&self, launch: &mut Launch) {
        if launch.model.is_some() {
            return;
        }
        let current = self.phase_now.borrow();
        let Some(title) = launch.phase.as_ref().or(current.as_ref()) else { return };
        let declared = self.declared.iter().find(|phase| phase.title == *title);
        launch.model = declared.and_then(|phase| phase.model.clone());
    }

    fn log(&self, line: &str) -> Result<(), ScriptError> {
        count(&self.lines, MAX_LINES, "lines of the log")?;
        self.send(Call::Log(cut(line, MAX_LINE).to_owned()))
    }

    fn phase(&self, title: &str) -> Result<(), ScriptError> {
        count(&self.phases, MAX_PHASES, "phases")?;
        named(title)?;
        *self.phase_now.borrow_mut() = Some(title.to_owned());
        self.send(Call::Phase(title.to_owned()))
    }

    fn save(&self, key: String, value: &str) -> Result<(), ScriptError> {
        let most = self.input.limits.checkpoint_bytes;
        let beyond = |message: String| ScriptError::new(ErrorKind::LimitExceeded, message);
        named(&key)?;
        if value.len() as u64 > most {
            return Err(beyond(format!("the checkpoint {key} is larger than {most} bytes")));
        }
        let kept = self.checkpoints.borrow();
        if kept.len() >= MAX_KEYS && !kept.contains_key(&key) {
            return Err(beyond(format!("the script keeps more than {MAX_KEYS} checkpoints")));
        }
        let old = kept.get(&key).map_or(0, |old| old.to_string().len());
        drop(kept);
        count(&self.saves, MAX_SAVES, "saved checkpoints")?;
        let bytes = (self.kept_bytes.get() + value.len()).saturating_sub(old);
        let saved = self.saved_bytes.get() + value.len();
        if bytes > MAX_KEPT || saved > MAX_SAVED {
            let message = format!(
                "the script keeps more than {MAX_KEPT} bytes of checkpoints, or saved {MAX_SAVED}"
            );
            return Err(beyond(message));
        }
        let value: Value = serde_json::from_str(value)
            .map_err(|error| ScriptError::new(ErrorKind::ScriptExecution, error.to_string()))?;
        if self.checkpoints.borrow().get(&key) == Some(&value) {
            return Ok(());
        }
        let (done, kept) = mpsc::sync_channel(1);
        self.send(Call::Save(key.clone(), value.clone(), done))?;
        match self.watchdog.held(|| kept.recv()) {
            Ok(Ok(())) => {}
            Ok(Err(HostError::Store(why))) => return Err(ScriptError::new(ErrorKind::Store, why)),
            Ok(Err(HostError::Refused(why))) => {
                return Err(ScriptError::new(ErrorKind::ScriptExecution, why));
            }
            Err(_) => return Err(ScriptError::new(ErrorKind::Aborted, "the run was stopped")),
        }
        self.kept_bytes.set(bytes);
        self.saved_bytes.set(saved);
        self.checkpoints.borrow_mut().insert(key, value);
        Ok(())
    }

    fn finish(&self, has_succeeded: bool, text: String) {
        let end = if has_succeeded {
            Ok(text)
        } else {
            let thrown: Value = serde_json::from_str(&text).unwrap_or_default();
            let message = thrown["message"].as_str().unwrap_or("the script threw");
            let line = line_of(thrown["stack"].as_str().unwrap_or_default());
            Err(ScriptError::new(ErrorKind::ScriptExecution, message).at(line))
        };
        self.end.borrow_mut().get_or_insert(end);
    }
}

fn count(counted: &Cell<u32>, most: u32, what: &str) -> Result<(), ScriptError> {
    if counted.get() >= most {
        let message = format!("the script has more than {most} {what}");
        return Err(ScriptError::new(ErrorKind::LimitExceeded, message));
    }
    counted.set(counted.get() + 1);
    Ok(())
}

fn named(name: &str) -> Result<(), ScriptError> {
    if name.len() > MAX_NAME {
        let message = format!("a name is longer than {MAX_NAME} bytes");
        return Err(ScriptError::new(ErrorKind::ScriptExecution, message));
    }
    Ok(())
}

fn sized(what: &str, value: &Value, most: usize) -> Result<(), ScriptError> {
    if value.to_string().len() > most {
        let message = format!("{what} is longer than {most} bytes");
        return Err(ScriptError::new(ErrorKind::LimitExceeded, message));
    }
    Ok(())
}

/// Where something is asked; a long place goes by its hash.
fn path_of(body: &Value) -> String {
    let path = body["path"].as_str().unwrap_or_default();
    if path.len() > MAX_NAME { hash(path.as_bytes()) } else { path.to_owned() }
}

/// The beginning of a text.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// A launch as the prelude writes it. It has checked the types.
fn launch(body: &mut Value) -> Result<Launch, ScriptError> {
    let text = |member: &str| body[member].as_str().map(str::to_owned);
    let prompt = text("prompt").unwrap_or_default();
    if prompt.len() > MAX_PROMPT {
        let message = format!("a prompt is longer than {MAX_PROMPT} bytes");
        return Err(ScriptError::new(ErrorKind::LimitExceeded, message));
    }
    let mut launch = Launch {
        // Drawn when it is counted.
        key: LaunchKey {
            path: path_of(body),
            occurrence: 0,
            prompt_hash: String::new(),
            model: None,
            lane: None,
            schema_hash: None,
        },
        role: text("role"),
        lane: text("lane"),
        description: body["description"].as_str().map(|text| cut(text, MAX_NAME).to_owned()),
        prompt,
        model: text("model"),
        timeout_seconds: body["timeoutSeconds"].as_f64(),
        schema: None,
        agent_type: text("agentType"),
        label: text("label"),
        phase: text("phase"),
        in_worktree: body["isolation"].is_string(),
    };
    launch.schema = Some(body["schema"].take()).filter(|schema| !schema.is_null());
    launch.schema.as_ref().map_or(Ok(()), |schema| sized("a schema", schema, MAX_SCHEMA))?;
    for name in [
        &launch.label,
        &launch.phase,
        &launch.lane,
        &launch.model,
        &launch.agent_type,
        &launch.role,
    ] {
        name.as_deref().map_or(Ok(()), named)?;
    }
    Ok(launch)
}
