//! Which calls of the kernel a sandboxed command is refused. They answer "not permitted".

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::{Sandbox, SandboxError};

/// Nobody in a sandbox needs these, and each is a way around it.
const NEVER: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// What landlock does not see: modes, owners, times and attributes of files. Refused where
/// nothing may be written; where something may, there is no telling the files apart.
const METADATA: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Their older forms, which newer machines never had.
#[cfg(target_arch = "x86_64")]
const METADATA_OLD: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const METADATA_OLD: &[c_long] = &[];

/// All sockets, also those of this machine: behind them are services that do not know the
/// sandbox. Pairs of sockets within the command stay.
const SOCKETS: &[c_long] = &[libc::SYS_socket, libc::SYS_connect];

/// Requests that type into a terminal in the user's name.
const TYPING: &[u64] = &[libc::TIOCSTI, 0x541c];

/// The same calls under the numbers of the x32 interface.
#[cfg(target_arch = "x86_64")]
const OTHER_NUMBERS: &[c_long] = &[0, 0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
const OTHER_NUMBERS: &[c_long] = &[0];

/// Refuses the calling thread, and all it starts, what the sandbox does not allow.
pub(super) fn restrict(sandbox: &Sandbox) -> Result<(), SandboxError> {
    let program = filter(sandbox).map_err(|error| SandboxError::Seccomp(error.to_string()))?;
    apply_filter(&program).map_err(|error| SandboxError::Seccomp(error.to_string()))
}

fn filter(sandbox: &Sandbox) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut refused: Vec<c_long> = NEVER.to_vec();
    if sandbox.read_only {
        refused.extend_from_slice(METADATA);
        refused.extend_from_slice(METADATA_OLD);
    }
    if !sandbox.network {
        refused.extend_from_slice(SOCKETS);
    }
    let typing = TYPING
        .iter()
        .map(|&request| {
            let compare = SeccompCmpOp::Eq;
            SeccompCondition::new(1, SeccompCmpArgLen::Dword, compare, request)
                .and_then(|condition| SeccompRule::new(vec![condition]))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for base in OTHER_NUMBERS {
        for call in &refused {
            rules.insert(base | call, Vec::new());
        }
        rules.insert(base | libc::SYS_ioctl, typing.clone());
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()
}
