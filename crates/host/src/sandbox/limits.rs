//! How much a command that only reads may take: memory, processes, and none of root's powers.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
};

use super::SandboxError;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Memory of its own that one process may have.
const DATA: u64 = 2 * GIB;
/// Addresses that one process may have, at least and at most; between them half of the memory.
const ADDRESSES: (u64, u64) = (4 * GIB, 64 * GIB);
/// How large a file may become. It can write none; what it inherits may be one.
const FILE: u64 = 16 * MIB;
/// Processes and threads beyond those that the user has.
const PROCESSES: u64 = 256;

/// Binds the calling process, and all it starts, to these limits. They only ever get smaller.
pub(super) fn set() -> Result<(), SandboxError> {
    let memory = memory().unwrap_or(ADDRESSES.0 * 2);
    let addresses = (memory / 2).clamp(ADDRESSES.0, ADDRESSES.1);
    lower(Resource::Data, DATA)?;
    lower(Resource::As, addresses)?;
    lower(Resource::Fsize, FILE)?;
    lower(Resource::Core, 0)?;
    lower(Resource::Nproc, tasks_of_user().saturating_add(PROCESSES))?;
    // If memory runs out all the same, this goes before anything that a person works with.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    Ok(())
}

fn lower(resource: Resource, to: u64) -> Result<(), SandboxError> {
    let now = getrlimit(resource);
    let least = |one: Option<u64>| Some(one.map_or(to, |one| one.min(to)));
    let new = Rlimit { current: least(now.current), maximum: least(now.maximum) };
    setrlimit(resource, new)
        .map_err(|error| SandboxError::Limits(format!("limit {resource:?}: {error}")))
}

/// Bytes of memory that the machine has.
fn memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// Processes and threads of the user: the kernel counts them together.
fn tasks_of_user() -> u64 {
    let user = rustix::process::getuid().as_raw();
    let Ok(entries) = fs::read_dir("/proc") else { return u64::from(u16::MAX) };
    let is_process =
        |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit();
    let tasks = entries.flatten().filter(is_process).filter_map(|entry| {
        let tasks = fs::metadata(entry.path().join("task")).ok()?;
        // One link for each task, one for itself, one from above.
        (tasks.uid() == user).then(|| tasks.nlink().saturating_sub(2).max(1))
    });
    tasks.sum()
}

/// Gives up every power of root, for this process and whatever it becomes, but that of reading
/// what others own: which files that is, landlock says.
pub(super) fn give_up_powers() -> Result<(), SandboxError> {
    let failed = |error: rustix::io::Errno| SandboxError::Limits(format!("capabilities: {error}"));
    let now = capabilities(None).map_err(failed)?;
    if now.permitted.is_empty() {
        return Ok(());
    }
    clear_ambient_capability_set().map_err(failed)?;
    if now.effective.contains(CapabilitySet::SETPCAP) {
        let all = (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit));
        for capability in all.filter(|one| *one != CapabilitySet::DAC_READ_SEARCH) {
            // One that the kernel does not know is in no set.
            if capability_is_in_bounding_set(capability).unwrap_or(false) {
                remove_capability_from_bounding_set(capability).map_err(failed)?;
            }
        }
    }
    let kept = now.permitted & CapabilitySet::DAC_READ_SEARCH;
    let kept =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, kept).map_err(failed)
}
