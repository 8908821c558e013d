//! What a call may use, and the meter that counts it.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mlua::{HookTriggers, Lua, VmState};

/// How many instructions run between two looks at the meter.
const STRIDE: u32 = 100;

/// The same once much memory is in use: a single instruction can then cost milliseconds.
const SHORT_STRIDE: u32 = 4;

/// From which part of the memory limit on the strides are short: a sixteenth.
const MUCH_MEMORY: usize = 16;

/// What one call into a plugin may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that the whole VM may hold.
    pub memory: usize,
    /// VM instructions for one call; searching in strings counts as well.
    pub instructions: u64,
    /// Wall clock time for one call.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 32 << 20, instructions: 5_000_000, time: Duration::from_secs(2) }
    }
}

/// Which limit a call exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::memory`].
    Memory,
    /// [`Limits::instructions`].
    Instructions,
    /// [`Limits::time`].
    Time,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "Lua plugin memory limit exceeded",
            Self::Instructions => "Lua plugin instruction limit exceeded",
            Self::Time => "Lua plugin time limit exceeded",
        })
    }
}

/// Counts what the running call uses; shared by the hook and by the functions that plugins call.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: Limits,
    left: AtomicU64,
    lines: AtomicU64,
    tripped: AtomicU8,
    /// None if the time has no end that a clock could show.
    deadline: Mutex<Option<Instant>>,
}

impl Meter {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            left: AtomicU64::new(limits.instructions),
            lines: AtomicU64::new(0),
            tripped: AtomicU8::new(0),
            deadline: Mutex::new(None),
        })
    }

    /// Gives a new call the whole budget.
    pub(crate) fn begin(self: &Arc<Self>, lua: &Lua) -> mlua::Result<()> {
        self.left.store(self.limits.instructions, Relaxed);
        self.lines.store(0, Relaxed);
        self.tripped.store(0, Relaxed);
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) =
            Instant::now().checked_add(self.limits.time);
        self.arm(lua, STRIDE)
    }

    /// The limit that the running call exceeded.
    pub(crate) fn tripped(&self) -> Option<Limit> {
        match self.tripped.load(Relaxed) {
            0 => None,
            1 => Some(Limit::Memory),
            2 => Some(Limit::Instructions),
            _ => Some(Limit::Time),
        }
    }

    /// Ends the call: from here on every instruction fails, so that no handler of the plugin can hold it up.
    pub(crate) fn trip(self: &Arc<Self>, lua: &Lua, limit: Limit) -> mlua::Result<()> {
        let code = match limit {
            Limit::Memory => 1,
            Limit::Instructions => 2,
            Limit::Time => 3,
        };
        if self.tripped.compare_exchange(0, code, Relaxed, Relaxed).is_ok() {
            self.arm(lua, 1)?;
        }
        Ok(())
    }

    /// Takes `cost` off the budget and looks at the clock.
    pub(crate) fn charge(self: &Arc<Self>, lua: &Lua, cost: u64) -> Result<(), Limit> {
        if let Some(limit) = self.tripped() {
            return Err(limit);
        }
        let left = self.left.load(Relaxed);
        self.left.store(left.saturating_sub(cost), Relaxed);
        let exceeded = if cost > left {
            Limit::Instructions
        } else if self.late() {
            Limit::Time
        } else {
            return Ok(());
        };
        // Arming allocates nothing in Lua; if it failed, the hook that is armed would still end the call.
        let _ = self.trip(lua, exceeded);
        Err(exceeded)
    }

    /// Instructions that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left.load(Relaxed)
    }

    /// Whether the time of the call is over.
    pub(crate) fn late(&self) -> bool {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether one more line may be logged in this call.
    pub(crate) fn may_log(&self, most: u64) -> bool {
        self.lines.fetch_add(1, Relaxed) < most
    }

    /// Has the meter looked at every `stride` instructions.
    ///
    /// The global hook is used because changing it allocates nothing in Lua, which could fail in the middle.
    fn arm(self: &Arc<Self>, lua: &Lua, stride: u32) -> mlua::Result<()> {
        let meter = Arc::clone(self);
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(stride), move |lua, _| {
            meter.charge(lua, u64::from(stride)).map_err(mlua::Error::runtime)?;
            let much = lua.used_memory() > meter.limits.memory / MUCH_MEMORY;
            match (much, stride) {
                (true, STRIDE) => meter.arm(lua, SHORT_STRIDE)?,
                (false, SHORT_STRIDE) => meter.arm(lua, STRIDE)?,
                _ => {}
            }
            Ok(VmState::Continue)
        })
    }
}
