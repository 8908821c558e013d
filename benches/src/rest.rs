//! What processes do while nothing is asked of them.

use std::path::PathBuf;
use std::time::Duration;

use crate::process::processor_seconds;

/// What some processes did in a while.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    /// Share of a core that the busiest took, in percent.
    pub(crate) processor: f64,
    /// How often the busiest woke, in a second.
    pub(crate) wakeups: f64,
}

/// Looks at processes before and after a while, during which `meanwhile` has to let that time go by.
pub(crate) fn rest(
    processes: &[u32],
    time: Duration,
    meanwhile: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<Rest> {
    let read = || -> anyhow::Result<Vec<(f64, f64)>> {
        processes.iter().map(|pid| Ok((processor_seconds(*pid)?, wakeups(*pid)))).collect()
    };
    let before = read()?;
    meanwhile()?;
    let after = read()?;
    let busiest = |of: fn(&(f64, f64)) -> f64| {
        let pairs = before.iter().zip(&after);
        let most = pairs.map(|(before, after)| of(after) - of(before)).fold(0.0, f64::max);
        most / time.as_secs_f64()
    };
    Ok(Rest { processor: busiest(|read| read.0) * 100.0, wakeups: busiest(|read| read.1) })
}

/// How often the threads of a process were put back to work so far.
fn wakeups(pid: u32) -> f64 {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let count = |path: PathBuf| {
        let status = std::fs::read_to_string(path.join("status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?;
        line.split_whitespace().last()?.parse::<f64>().ok()
    };
    threads.filter_map(|thread| count(thread.path())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::pause;

    #[test]
    fn who_waits_does_next_to_nothing() {
        let time = Duration::from_millis(50);
        let own = rest(&[std::process::id()], time, || pause(time)).unwrap();
        assert!(own.wakeups >= 0.0 && own.processor >= 0.0);
    }
}
