//! Asks the kernel how much of the sandbox it can hold, and says what is missing in words.

use std::fmt;
use std::fs;
use std::sync::OnceLock;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    Scope,
};

/// Below this version a file can be emptied without a right to write it.
const LEAST: u8 = 3;
/// From this version on sockets of the file system are guarded like files.
const SEALS: u8 = 9;

/// What the kernel offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// The version of landlock, as far as we know it; none if it is absent or switched off.
    pub landlock: Option<u8>,
    /// Whether calls can be filtered.
    pub seccomp: bool,
}

impl Support {
    /// Whether a command can be held to a sandbox.
    pub fn is_complete(&self) -> bool {
        self.missing().is_none()
    }

    /// Whether single sockets of the file system can be kept out of a command's reach.
    pub fn seals_sockets(&self) -> bool {
        self.is_complete() && self.landlock.is_some_and(|version| version >= SEALS)
    }

    /// What is missing, in words for people. None if nothing is.
    pub fn missing(&self) -> Option<String> {
        let files = match self.landlock {
            None => Some("this kernel has no landlock, or it is not enabled (lsm=landlock)".into()),
            Some(abi) if abi < LEAST => Some(format!(
                "landlock of this kernel is version {abi}, version {LEAST} (Linux 6.2) is needed"
            )),
            Some(_) => None,
        };
        let calls = (!self.seccomp).then(|| "this kernel has no seccomp filters".to_owned());
        match (files, calls) {
            (Some(files), Some(calls)) => Some(format!("{files}; {calls}")),
            (files, calls) => files.or(calls),
        }
    }
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.missing(), self.landlock) {
            (None, Some(abi)) => write!(f, "landlock version {abi} and seccomp"),
            (missing, _) => write!(f, "no sandbox: {}", missing.unwrap_or_default()),
        }
    }
}

/// What the kernel offers. Asked once: it does not change while we run.
pub fn support() -> Support {
    static SUPPORT: OnceLock<Support> = OnceLock::new();
    *SUPPORT.get_or_init(|| Support { landlock: landlock_version(), seccomp: has_seccomp() })
}

/// Whether one more thing than the version before can be asked for.
type Probe = fn() -> bool;

/// Versions that differ in what they guard, newest first. Those between guard nothing new.
const PROBES: &[(u8, Probe)] = &[
    (9, || handles(AccessFs::ResolveUnix)),
    (6, || hard().scope(Scope::Signal).and_then(Ruleset::create).is_ok()),
    (5, || handles(AccessFs::IoctlDev)),
    (4, || hard().handle_access(AccessNet::from_all(ABI::V4)).and_then(Ruleset::create).is_ok()),
    (3, || handles(AccessFs::Truncate)),
    (2, || handles(AccessFs::Refer)),
    (1, || handles(AccessFs::WriteFile)),
];

fn landlock_version() -> Option<u8> {
    PROBES.iter().find(|(_, probe)| probe()).map(|&(version, _)| version)
}

fn hard() -> Ruleset {
    Ruleset::default().set_compatibility(CompatLevel::HardRequirement)
}

fn handles(access: AccessFs) -> bool {
    hard().handle_access(access).and_then(Ruleset::create).is_ok()
}

fn has_seccomp() -> bool {
    fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail")
        .is_ok_and(|actions| actions.split_whitespace().any(|action| action == "errno"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let none = Support { landlock: None, seccomp: false };
        assert_eq!(
            none.to_string(),
            "no sandbox: this kernel has no landlock, or it is not enabled (lsm=landlock); \
             this kernel has no seccomp filters"
        );
        let old = Support { landlock: Some(2), seccomp: true };
        assert_eq!(
            old.missing().unwrap(),
            "landlock of this kernel is version 2, version 3 (Linux 6.2) is needed"
        );
        let new = Support { landlock: Some(6), seccomp: true };
        assert!(new.is_complete());
        assert_eq!(new.to_string(), "landlock version 6 and seccomp");
    }

    #[test]
    fn asking_changes_nothing() {
        let before = support();
        std::fs::write(tempfile::NamedTempFile::new().unwrap().path(), "still writable").unwrap();
        assert_eq!(before, support());
    }
}
