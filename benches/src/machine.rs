//! What the figures were measured on, and with what.

use std::path::Path;

use serde::Serialize;

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

    /// Whether others use it so much that the figures suffer.
    pub(crate) fn is_busy(&self) -> bool {
        self.load > self.cores as f64 / 4.0
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
        machine.load = 1.0;
        assert!(machine.is_busy());
    }

    #[test]
    fn values_are_found_by_their_whole_key() {
        assert_eq!(value_of("a b : 1\nb: 2", "b").as_deref(), Some("2"));
        assert_eq!(value_of("", "b"), None);
    }
}
