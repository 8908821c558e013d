//! A JavaScript context with nothing in it, and the watchdog that ends what runs too long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::{CaughtError, Context, Ctx, Function, Object, Runtime, Value};

use crate::heap::Heap;
use crate::{ErrorKind, Form, ScriptError};

/// How long a script may run without waiting for its host.
pub(crate) const LONGEST_STRETCH: Duration = Duration::from_secs(5);
/// How much longer we wait for a script that was interrupted before we let its thread go.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// Memory of a script.
const HEAP: usize = 64 << 20;
/// Stack of a script.
const STACK: usize = 1 << 20;
/// Stack of its thread: what the engine uses besides comes on top.
const THREAD_STACK: usize = 4 << 20;
/// What the script's text is called in stacks.
const FILE: &str = "workflow.js";
/// What every script finds.
const PRELUDE: &str = include_str!("prelude.js");

/// What scripts may use. What could tell one run from the next is left out, and so are proxies, which could
/// lead loops of the engine on without end.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// Ends what runs too long. Shared between the thread of a script and whoever waits for it.
#[derive(Debug)]
pub(crate) struct Watchdog {
    began: Instant,
    /// How long the script may run without waiting.
    longest: Duration,
    /// Until when the script may run, in milliseconds since the beginning; `RESTS` while it waits.
    until: AtomicU64,
    /// Whether it is to end now.
    stopped: AtomicBool,
    /// Whether the run was stopped, as the script sees it.
    aborted: AtomicBool,
    /// Whether it was interrupted.
    fired: AtomicBool,
}

/// The script waits.
const RESTS: u64 = u64::MAX;

impl Watchdog {
    pub(crate) fn new() -> Arc<Watchdog> {
        Watchdog::within(LONGEST_STRETCH)
    }

    /// One that lets a script run for less.
    pub(crate) fn within(longest: Duration) -> Arc<Watchdog> {
        let watchdog = Watchdog {
            began: Instant::now(),
            longest: longest.min(LONGEST_STRETCH),
            until: AtomicU64::new(RESTS),
            stopped: AtomicBool::new(false),
            aborted: AtomicBool::new(false),
            fired: AtomicBool::new(false),
        };
        watchdog.begin();
        Arc::new(watchdog)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(RESTS - 1)
    }

    /// The script runs from now on.
    pub(crate) fn begin(&self) {
        let longest = u64::try_from(self.longest.as_millis()).unwrap_or(RESTS);
        self.until.store(self.now().saturating_add(longest), Ordering::Release);
    }

    /// The script waits for its host.
    pub(crate) fn rest(&self) {
        self.until.store(RESTS, Ordering::Release);
    }

    /// The script is about to run if it waited. One that runs gets no more time.
    pub(crate) fn wake(&self) {
        if !self.is_running() {
            self.begin();
        }
    }

    /// Does something that the script does not wait for by its own will: its clock stands still for as long.
    pub(crate) fn held<T>(&self, work: impl FnOnce() -> T) -> T {
        let left = self.until.load(Ordering::Acquire).saturating_sub(self.now());
        self.rest();
        let done = work();
        self.until.store(self.now().saturating_add(left), Ordering::Release);
        done
    }

    /// Whether the script runs, as opposed to waiting.
    pub(crate) fn is_running(&self) -> bool {
        self.until.load(Ordering::Acquire) != RESTS
    }

    /// Whether the script should have ended long ago and did not.
    pub(crate) fn is_stuck(&self) -> bool {
        let grace = u64::try_from(GRACE.as_millis()).unwrap_or(RESTS);
        self.now() > self.until.load(Ordering::Acquire).saturating_add(grace)
    }

    /// Ends the script as soon as it looks.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// The run was stopped: the script sees that, and has a last stretch to end by itself.
    pub(crate) fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::Acquire)
    }

    /// Whether the script must not go on.
    pub(crate) fn is_over(&self) -> bool {
        if self.stopped.load(Ordering::Acquire) {
            return true;
        }
        let is_late = self.now() > self.until.load(Ordering::Acquire);
        if is_late {
            self.fired.store(true, Ordering::Release);
        }
        is_late
    }

    /// What is wrong if the script ran too long.
    pub(crate) fn verdict(&self) -> Option<ScriptError> {
        self.fired.load(Ordering::Acquire).then(|| {
            let seconds = self.longest.as_secs_f32();
            let message = format!("the script ran for {seconds} s without waiting for an agent");
            ScriptError::new(ErrorKind::ScriptExecution, message)
        })
    }
}

/// A context for one script.
pub(crate) struct Sandbox {
    context: Context,
    pub(crate) watchdog: Arc<Watchdog>,
}

impl Sandbox {
    pub(crate) fn new(watchdog: Arc<Watchdog>) -> Result<Sandbox, ScriptError> {
        let heap = Heap::new(Arc::clone(&watchdog));
        let runtime = Runtime::new_with_alloc(heap).map_err(|error| refused(&error))?;
        runtime.set_memory_limit(HEAP);
        runtime.set_max_stack_size(STACK);
        let context = Context::custom::<Intrinsics>(&runtime).map_err(|error| refused(&error))?;
        let watched = Arc::clone(&watchdog);
        runtime.set_interrupt_handler(Some(Box::new(move || watched.is_over())));
        Ok(Sandbox { context, watchdog })
    }

    /// Works in the context.
    pub(crate) fn with<T>(&self, work: impl FnOnce(Ctx<'_>) -> T) -> T {
        self.context.with(work)
    }

    /// Reads a script without running more of it than stands at its top: gives what it says of itself,
    /// if it is of the first form.
    pub(crate) fn inspect(
        form: Form,
        text: &str,
        longest: Duration,
    ) -> Result<Option<String>, ScriptError> {
        let text = text.to_owned();
        let (done, result) = mpsc::sync_channel(1);
        let watchdog = Watchdog::within(longest);
        let watched = Arc::clone(&watchdog);
        on_thread(move || {
            let read = Sandbox::new(watched)
                .and_then(|sandbox| sandbox.with(|ctx| look(&ctx, form, &text, &sandbox)));
            // Who waited too long does not want it any more.
            let _ = done.send(read);
        })?;
        result.recv_timeout(longest + GRACE).unwrap_or_else(|_| {
            watchdog.stop();
            Err(stuck())
        })
    }

    /// What a failure in the context was.
    pub(crate) fn failure(&self, ctx: &Ctx<'_>, error: rquickjs::Error) -> ScriptError {
        let caught = CaughtError::from_error(ctx, error);
        if let Some(verdict) = self.watchdog.verdict() {
            return verdict;
        }
        let (message, line) = match &caught {
            CaughtError::Exception(exception) => {
                let stack = exception.stack().unwrap_or_default();
                let message = exception.message().unwrap_or_default();
                let name: Option<String> = exception.as_object().get("name").ok();
                let name = name.unwrap_or_else(|| "Error".to_owned());
                (format!("{name}: {message}"), line_of(&stack))
            }
            CaughtError::Value(value) => (shown(value), None),
            CaughtError::Error(error) => (error.to_string(), None),
        };
        ScriptError::new(ErrorKind::ScriptExecution, message).at(line)
    }
}

/// Starts a thread for a script.
pub(crate) fn on_thread(work: impl FnOnce() + Send + 'static) -> Result<(), ScriptError> {
    let thread = std::thread::Builder::new().name("workflow".to_owned()).stack_size(THREAD_STACK);
    let started = thread.spawn(work).map(|_| ());
    started.map_err(|error| ScriptError::new(ErrorKind::ScriptExecution, error.to_string()))
}

/// What is said of a script that does not even stop.
pub(crate) fn stuck() -> ScriptError {
    ScriptError::new(ErrorKind::ScriptExecution, "the script does not stop; its thread was let go")
}

fn refused(error: &rquickjs::Error) -> ScriptError {
    ScriptError::new(ErrorKind::ScriptExecution, format!("no script can be run: {error}"))
}

fn look(
    ctx: &Ctx<'_>,
    form: Form,
    text: &str,
    sandbox: &Sandbox,
) -> Result<Option<String>, ScriptError> {
    let read = || {
        let native = Object::new(ctx.clone())?;
        let setup = Object::new(ctx.clone())?;
        setup.set("form", form.word())?;
        let entry = enter(ctx, native, setup)?;
        evaluate(ctx, form, text)?;
        entry.get::<_, Function>("metadata")?.call::<_, Option<String>>(())
    };
    read().map_err(|error| sandbox.failure(ctx, error))
}

/// Evaluates what comes before the script; gives what it is driven by.
pub(crate) fn enter<'js>(
    ctx: &Ctx<'js>,
    native: Object<'js>,
    setup: Object<'js>,
) -> rquickjs::Result<Object<'js>> {
    let mut options = EvalOptions::default();
    options.filename = Some("prelude.js".to_owned());
    let prelude: Function = ctx.eval_with_options(PRELUDE, options)?;
    prelude.call((native, setup))
}

/// Evaluates a script; of the second form this gives the function that is its body.
pub(crate) fn evaluate<'js>(
    ctx: &Ctx<'js>,
    form: Form,
    text: &str,
) -> rquickjs::Result<Value<'js>> {
    let mut options = EvalOptions::default();
    options.strict = form == Form::Bare;
    options.filename = Some(FILE.to_owned());
    match form {
        Form::Defined => ctx.eval_with_options(text, options),
        Form::Bare => ctx.eval_with_options(format!("(async () => {{{text}\n}})"), options),
    }
}

impl Form {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Form::Defined => "defined",
            Form::Bare => "bare",
        }
    }
}

/// The line of the script in a stack.
pub(crate) fn line_of(stack: &str) -> Option<u32> {
    let after = stack.split(FILE).nth(1)?.strip_prefix(':')?;
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    after[..end].parse().ok()
}

fn shown(value: &Value<'_>) -> String {
    let text = value.as_string().and_then(|text| text.to_string().ok());
    text.unwrap_or_else(|| format!("a value of type {} was thrown", value.type_name()))
}
