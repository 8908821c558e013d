//! What the figures were measured on, and with what.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::fs::{FlockOperation, flock};
use serde::Serialize;

use crate::gate::pause;
use crate::process;

/// The machine and its state when the run began.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    /// Model of the processor.
    pub(crate) cpu: String,
    /// How many of them may be used.
    pub(crate) cores: usize,
    /// Main memory in MiB.
    pub(crate) memory_mib: u64,
    /// Version of the kernel.
    pub(crate) kernel: String,
    /// Load average over the last minute.
    pub(crate) load: f64,
}

impl Machine {
    /// This one.
    pub(crate) fn this() -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let kib = value_of(&read("/proc/meminfo"), "MemTotal")
            .and_then(|text| text.split_ascii_whitespace().next()?.parse::<u64>().ok());
        let load = read("/proc/loadavg");
        Machine {
            cpu: value_of(&read("/proc/cpuinfo"), "model name")
                .unwrap_or_else(|| "unknown".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mib: kib.unwrap_or(0) / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: load
                .split_ascii_whitespace()
                .next()
                .and_then(|text| text.parse().ok())
                .unwrap_or(0.0),
        }
    }

    /// A name for files: the processor and how many of them.
    pub(crate) fn slug(&self) -> String {
        let plain = self.cpu.replace("(R)", " ").replace("(TM)", " ");
        let words =
            plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<_> = words.map(str::to_ascii_lowercase).take(6).collect();
        format!("{}-x{}", words.join("-"), self.cores)
    }
}

/// Holds the machine for one run; the next waits until this is dropped.
pub(crate) struct Turn {
    _lock: File,
}

impl Turn {
    /// Waits until no other run measures on this machine.
    pub(crate) fn take() -> anyhow::Result<Turn> {
        let path = std::env::temp_dir().join("rookery-bench.lock");
        let lock = File::options().create(true).append(true).open(&path);
        let lock = lock.with_context(|| format!("cannot open {}", path.display()))?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            eprintln!("another run is measuring on this machine; waiting for its end");
            flock(&lock, FlockOperation::LockExclusive)?;
        }
        Ok(Turn { _lock: lock })
    }
}

/// Processor time of all cores since the start, in ticks: all of it, and the idle part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    all: u64,
    idle: u64,
}

impl Ticks {
    fn now() -> Option<Ticks> {
        Ticks::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Ticks> {
        let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
        let fields: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        let idle = fields.get(3)?.checked_add(*fields.get(4)?)?;
        Some(Ticks {
            all: fields.iter().try_fold(0_u64, |sum, field| sum.checked_add(*field))?,
            idle,
        })
    }

    /// Whether next to nothing happened since.
    fn is_quiet_since(self, before: Ticks) -> bool {
        let (all, idle) =
            (self.all.saturating_sub(before.all), self.idle.saturating_sub(before.idle));
        all > 0 && idle as f64 >= all as f64 * QUIET_SHARE
    }
}

/// Share of the processors that is idle on a quiet machine.
const QUIET_SHARE: f64 = 0.9;

/// For how long it must be quiet.
const QUIET_TIME: Duration = Duration::from_millis(300);

/// Waits until the machine is idle. False if that did not happen within `patience`.
pub(crate) fn await_quiet(patience: Duration) -> bool {
    let start = Instant::now();
    let Some(mut before) = Ticks::now() else { return true };
    loop {
        if pause(QUIET_TIME).is_err() {
            return false;
        }
        let Some(now) = Ticks::now() else { return true };
        if now.is_quiet_since(before) {
            return true;
        }
        if start.elapsed() >= patience {
            return false;
        }
        before = now;
    }
}

/// The value of the first line `KEY : VALUE`.
fn value_of(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

/// The commit that the sources are at, with a mark if they were changed since.
pub(crate) fn commit(dir: &Path) -> Option<String> {
    let describe = ["describe", "--always", "--dirty", "--exclude", "*"];
    process::output(process::program("git").arg("-C").arg(dir).args(describe)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_machines_are_names_of_files() {
        let mut machine = Machine::this();
        machine.cpu = "Intel(R) Xeon(R) Processor @ 2.10GHz".to_owned();
        machine.cores = 2;
        assert_eq!(machine.slug(), "intel-xeon-processor-2-10ghz-x2");
    }

    #[test]
    fn a_machine_is_quiet_when_most_of_its_time_is_idle() {
        let before = Ticks::parse("cpu  10 0 5 100 5 0 0 0 0 0\ncpu0 1").unwrap();
        assert_eq!(before, Ticks { all: 120, idle: 105 });
        assert!(Ticks { all: 220, idle: 196 }.is_quiet_since(before));
        assert!(!Ticks { all: 220, idle: 190 }.is_quiet_since(before));
        assert!(!before.is_quiet_since(before));
        assert_eq!(Ticks::parse("cpu 1 2"), None);
        assert!(Ticks::now().is_some());
    }

    #[test]
    fn values_are_found_by_their_whole_key() {
        assert_eq!(value_of("a b : 1\nb: 2", "b").as_deref(), Some("2"));
        assert_eq!(value_of("", "b"), None);
    }
}
