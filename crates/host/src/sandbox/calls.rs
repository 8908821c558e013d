//! Which calls of the kernel a sandboxed command is refused. They answer "not permitted".

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

use super::tables::{
    DGRAM_PAIR, LOCAL, METADATA, METADATA_OLD, NAMESPACES, NEVER, OTHERS, SHARED_MEMORY, SIGNALS,
    SOCKETS, TYPING, WRITING_REQUESTS,
};
use super::{Sandbox, SandboxError, support};

/// From this version of landlock on the kernel itself keeps signals inside.
const SCOPED_SIGNALS: u8 = 6;

/// The same calls under the numbers of the x32 interface.
#[cfg(target_arch = "x86_64")]
const OTHER_NUMBERS: &[c_long] = &[0, 0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
const OTHER_NUMBERS: &[c_long] = &[0];

/// A call that is refused if all of this holds for its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) call: c_long,
    pub(super) when: &'static [Test],
}

/// What is looked at in one argument, by its place. Only the low half counts, which is all that the
/// kernel looks at there; addresses are compared whole.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    Is(u8, u64),
    IsNot(u8, u64),
    /// The bits of the mask, and what they are to be.
    Bits(u8, u64, u64),
    /// All of these bits are set.
    Has(u8, u64),
    IsSomewhere(u8),
}

impl Test {
    fn condition(self) -> Result<SeccompCondition, BackendError> {
        use SeccompCmpArgLen::{Dword, Qword};
        match self {
            Test::Is(at, value) => SeccompCondition::new(at, Dword, SeccompCmpOp::Eq, value),
            Test::IsNot(at, value) => SeccompCondition::new(at, Dword, SeccompCmpOp::Ne, value),
            Test::Bits(at, mask, value) => {
                SeccompCondition::new(at, Dword, SeccompCmpOp::MaskedEq(mask), value)
            }
            Test::Has(at, bits) => {
                SeccompCondition::new(at, Dword, SeccompCmpOp::MaskedEq(bits), bits)
            }
            Test::IsSomewhere(at) => SeccompCondition::new(at, Qword, SeccompCmpOp::Ne, 0),
        }
    }
}

/// Refuses the calling thread, and all it starts, what the sandbox does not allow.
pub(super) fn restrict(sandbox: &Sandbox) -> Result<(), SandboxError> {
    let failed = |error: &dyn std::fmt::Display| SandboxError::Seccomp(error.to_string());
    // A process that is created this way cannot be inspected by the filter; if the call is reported as not
    // there, libraries take the old one.
    let unknown = Refused { always: vec![libc::SYS_clone3], rows: Vec::new() };
    let unknown = unknown.filter(libc::ENOSYS).map_err(|error| failed(&error))?;
    let refused = Refused::of(sandbox).filter(libc::EPERM).map_err(|error| failed(&error))?;
    apply_filter(&unknown).map_err(|error| failed(&error))?;
    apply_filter(&refused).map_err(|error| failed(&error))
}

struct Refused {
    always: Vec<c_long>,
    rows: Vec<Row>,
}

impl Refused {
    fn of(sandbox: &Sandbox) -> Self {
        let mut always = NEVER.to_vec();
        let mut rows: Vec<Row> = [TYPING, NAMESPACES].concat();
        if sandbox.read_only {
            always.extend([METADATA, METADATA_OLD, SHARED_MEMORY].concat());
            rows.extend([OTHERS, WRITING_REQUESTS].concat());
            if support().landlock.is_none_or(|version| version < SCOPED_SIGNALS) {
                always.extend_from_slice(SIGNALS);
            }
        }
        if !sandbox.network {
            always.extend_from_slice(SOCKETS);
            rows.extend_from_slice(DGRAM_PAIR);
        } else if !sandbox.local_sockets {
            rows.extend([LOCAL, DGRAM_PAIR].concat());
        }
        Self { always, rows }
    }

    fn filter(&self, errno: i32) -> Result<BpfProgram, BackendError> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        for base in OTHER_NUMBERS {
            for row in &self.rows {
                let conditions = row.when.iter().map(|test| test.condition());
                let rule = SeccompRule::new(conditions.collect::<Result<_, _>>()?)?;
                rules.entry(base | row.call).or_default().push(rule);
            }
            for call in &self.always {
                // No rule at all is "whatever its arguments".
                rules.insert(base | call, Vec::new());
            }
        }
        let arch = TargetArch::try_from(std::env::consts::ARCH)?;
        let refuse = SeccompAction::Errno(errno as u32);
        SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sandbox_has_a_filter_that_the_kernel_takes() {
        for sandbox in [
            Sandbox::reading(),
            Sandbox::default(),
            Sandbox { network: true, ..Sandbox::reading() },
            Sandbox { network: true, local_sockets: true, ..Sandbox::default() },
        ] {
            let program = Refused::of(&sandbox).filter(libc::EPERM).unwrap();
            assert!(program.len() < 4096, "{} instructions", program.len());
        }
    }
}
