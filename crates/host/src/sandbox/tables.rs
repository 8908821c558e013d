//! The calls that are refused, as tables: some always, some where nothing may be written, some by
//! their arguments.

use libc::c_long;

use super::calls::{Row, Test};

/// Numbers that are the same on every machine and that the library does not name yet.
const OPEN_TREE_ATTR: c_long = 467;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const FILE_SETATTR: c_long = 469;

/// No command in a sandbox needs these, and each is a way around it.
pub(super) const NEVER: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
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
    libc::SYS_fanotify_init,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// What landlock does not see: modes, owners, times and attributes of files. Refused where
/// nothing may be written; where something may, there is no telling the files apart.
pub(super) const METADATA: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// Their older forms, which newer machines never had.
#[cfg(target_arch = "x86_64")]
pub(super) const METADATA_OLD: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const METADATA_OLD: &[c_long] = &[];

/// Memory that no limit of a process counts and that outlives it, and queues that others read.
pub(super) const SHARED_MEMORY: &[c_long] = &[
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Signals, where the kernel cannot keep them inside.
pub(super) const SIGNALS: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

/// All sockets, also those of this machine: behind them are services that do not know the
/// sandbox. Pairs of sockets within the command stay.
pub(super) const SOCKETS: &[c_long] = &[libc::SYS_socket, libc::SYS_connect];

/// A pair of sockets for single messages: each of them can be sent to any other address.
pub(super) const DGRAM_PAIR: &[Row] =
    &[Row { call: libc::SYS_socketpair, when: &[Test::Bits(1, 0xf, libc::SOCK_DGRAM as u64)] }];

/// Sockets of this machine, where only those of the network are open.
pub(super) const LOCAL: &[Row] =
    &[Row { call: libc::SYS_socket, when: &[Test::Is(0, libc::AF_UNIX as u64)] }];

/// Requests that type into a terminal in the user's name.
pub(super) const TYPING: &[Row] = &[
    Row { call: libc::SYS_ioctl, when: &[Test::Is(1, libc::TIOCSTI)] },
    Row { call: libc::SYS_ioctl, when: &[Test::Is(1, 0x541c)] },
];

/// A process in namespaces of its own, in which it would be root.
pub(super) const NAMESPACES: &[Row] = &[
    Row { call: libc::SYS_clone, when: &[Test::Has(0, libc::CLONE_NEWNS as u64)] },
    Row { call: libc::SYS_clone, when: &[Test::Has(0, libc::CLONE_NEWCGROUP as u64)] },
    Row { call: libc::SYS_clone, when: &[Test::Has(0, libc::CLONE_NEWUTS as u64)] },
    Row { call: libc::SYS_clone, when: &[Test::Has(0, libc::CLONE_NEWIPC as u64)] },
    Row { call: libc::SYS_clone, when: &[Test::Has(0, libc::CLONE_NEWUSER as u64)] },
    Row { call: libc::SYS_clone, when: &[Test::Has(0, libc::CLONE_NEWPID as u64)] },
    Row { call: libc::SYS_clone, when: &[Test::Has(0, libc::CLONE_NEWNET as u64)] },
];

/// What reaches other processes, and shared memory that no limit counts. For itself a command may
/// do all of this: `nice`, `ulimit`.
pub(super) const OTHERS: &[Row] = &[
    // Reading limits is free, and so is setting one's own.
    Row { call: libc::SYS_prlimit64, when: &[Test::IsNot(0, 0), Test::IsSomewhere(2)] },
    Row { call: libc::SYS_setpriority, when: &[Test::IsNot(0, 0)] },
    Row { call: libc::SYS_setpriority, when: &[Test::IsNot(1, 0)] },
    Row { call: libc::SYS_ioprio_set, when: &[Test::IsNot(0, 1)] },
    Row { call: libc::SYS_ioprio_set, when: &[Test::IsNot(1, 0)] },
    Row { call: libc::SYS_sched_setscheduler, when: &[Test::IsNot(0, 0)] },
    Row { call: libc::SYS_sched_setparam, when: &[Test::IsNot(0, 0)] },
    Row { call: libc::SYS_sched_setattr, when: &[Test::IsNot(0, 0)] },
    Row { call: libc::SYS_sched_setaffinity, when: &[Test::IsNot(0, 0)] },
    Row { call: libc::SYS_mmap, when: &[Test::Has(3, SHARED_NOWHERE)] },
];

/// Shared memory that belongs to no file.
const SHARED_NOWHERE: u64 = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as u64;

/// The letter of a request to a file, and where it is.
const fn of_type(letter: u8) -> Test {
    Test::Bits(1, 0xff00, (letter as u64) << 8)
}

/// Requests by which file systems change what a descriptor for reading stands for: flags, labels,
/// snapshots, keys. By their letter, but for those that only ask.
pub(super) const WRITING_REQUESTS: &[Row] = &[
    Row {
        call: libc::SYS_ioctl,
        when: &[
            of_type(b'f'),
            // Asking for flags in both widths, and for extents.
            Test::IsNot(1, 0x8008_6601),
            Test::IsNot(1, 0x8004_6601),
            Test::IsNot(1, 0xc020_660b),
        ],
    },
    // All of XFS but asking for attributes.
    Row { call: libc::SYS_ioctl, when: &[of_type(b'X'), Test::IsNot(1, 0x801c_581f)] },
    // Versions, and all of Btrfs and F2FS.
    Row { call: libc::SYS_ioctl, when: &[of_type(b'v')] },
    Row { call: libc::SYS_ioctl, when: &[of_type(0x94)] },
    Row { call: libc::SYS_ioctl, when: &[of_type(0xf5)] },
];
