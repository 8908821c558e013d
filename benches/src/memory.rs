//! How much memory processes hold: what the kernel counts as resident, and what they keep in memory files besides.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;

use crate::gate::pause;

/// Between two looks at memory that may still change.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Looks at most until memory counts as steady.
const MAX_LOOKS: usize = 30;

/// Memory of a group of processes, in KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Memory {
    /// Resident set sizes, added up.
    pub(crate) rss: f64,
    /// The same, with shared pages counted once.
    pub(crate) pss: f64,
    /// Everything: private and file pages, and all pages of memory files, mapped or not.
    pub(crate) total: f64,
}

impl Memory {
    /// What `processes` hold now.
    pub(crate) fn of(processes: &[u32]) -> anyhow::Result<Memory> {
        let mut memory = Memory::default();
        let mut seen = HashSet::new();
        for pid in processes {
            let path = format!("/proc/{pid}/smaps_rollup");
            let text = std::fs::read_to_string(&path).with_context(|| path.clone())?;
            memory.rss += field(&text, "Rss:").with_context(|| path.clone())?;
            memory.pss += field(&text, "Pss:").with_context(|| path.clone())?;
            memory.total +=
                field(&text, "Pss_Anon:").unwrap_or(0.0) + field(&text, "Pss_File:").unwrap_or(0.0);
            memory.total += memory_files(Path::new(&format!("/proc/{pid}/fd")), &mut seen)?;
        }
        Ok(memory)
    }

    /// Looks until two looks in a row agree to within a quarter percent.
    pub(crate) fn steady(processes: &[u32]) -> anyhow::Result<Memory> {
        let mut last = Memory::of(processes)?;
        for _ in 0..MAX_LOOKS {
            pause(LOOK_EVERY)?;
            let now = Memory::of(processes)?;
            if (now.total - last.total).abs() <= last.total / 400.0 {
                return Ok(now);
            }
            last = now;
        }
        Ok(last)
    }

    /// What each of `count` things added since `before`.
    pub(crate) fn each_since(self, before: Memory, count: usize) -> Memory {
        let count = count as f64;
        Memory {
            rss: (self.rss - before.rss) / count,
            pss: (self.pss - before.pss) / count,
            total: (self.total - before.total) / count,
        }
    }
}

/// KiB that a process was resident with at most.
pub(crate) fn peak(pid: u32) -> anyhow::Result<f64> {
    let path = format!("/proc/{pid}/status");
    let text = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    field(&text, "VmHWM:").with_context(|| path)
}

/// KiB in the memory files that a process has open, each file once over all processes.
fn memory_files(descriptors: &Path, seen: &mut HashSet<(u64, u64)>) -> anyhow::Result<f64> {
    let mut kib = 0.0;
    for entry in
        std::fs::read_dir(descriptors).with_context(|| descriptors.display().to_string())?
    {
        let path = entry?.path();
        // A descriptor may be closed between listing and looking.
        let Ok(target) = std::fs::read_link(&path) else { continue };
        if !target.to_string_lossy().starts_with("/memfd:") {
            continue;
        }
        let Ok(file) = std::fs::metadata(&path) else { continue };
        if seen.insert((file.dev(), file.ino())) {
            kib += file.blocks() as f64 / 2.0;
        }
    }
    Ok(kib)
}

fn field(smaps: &str, name: &str) -> Option<f64> {
    let line = smaps.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_by_their_whole_name() {
        let text =
            "00400000-7ff ---p\nRss:    1234 kB\nPss:  1000 kB\nPss_Dirty: 5 kB\nPss_Anon: 7 kB\n";
        assert_eq!(field(text, "Rss:"), Some(1234.0));
        assert_eq!(field(text, "Pss_Anon:"), Some(7.0));
        assert_eq!(field(text, "Pss_File:"), None);
    }

    #[test]
    fn pages_of_memory_files_count_once_even_if_they_are_not_mapped() {
        let file =
            rustix::fs::memfd_create(c"bench-test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let also = file.try_clone().unwrap();
        rustix::io::write(&file, &[1; 64 << 10]).unwrap();
        let count = |seen: &mut HashSet<_>| memory_files(Path::new("/proc/self/fd"), seen).unwrap();
        let mut seen = HashSet::new();
        assert!(count(&mut seen) >= 64.0);
        assert_eq!(count(&mut seen), 0.0);
        drop((file, also));
    }

    #[test]
    fn shares_are_per_thing() {
        let one = Memory { rss: 100.0, pss: 80.0, total: 90.0 };
        let two = Memory { rss: 300.0, pss: 180.0, total: 290.0 };
        assert_eq!(two.each_since(one, 10), Memory { rss: 20.0, pss: 10.0, total: 20.0 });
        let own = Memory::of(&[std::process::id()]).unwrap();
        assert!(own.rss > 0.0 && peak(std::process::id()).unwrap() > 0.0);
    }
}
