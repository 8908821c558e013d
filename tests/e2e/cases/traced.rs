//! A daemon under strace: which programs it starts and where it connects, as the kernel sees it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use rookery_testkit::{Home, TestDaemon, rookery_binary};

/// Programs of git itself, which the daemon runs by a command line of its own.
const GIT: [&str; 2] = ["git", "git-upload-pack"];

/// How git starts its other half for a repository of this machine.
const OTHER_HALF: &str = "[\"/bin/sh\", \"-c\", \"git-upload-pack '";

/// Where the C library asks for the name of a user, if anything listens there.
const NAMES: &str = "sun_path=\"/var/run/nscd/socket\"";

/// A daemon that is traced from its first instruction on, with everything that it starts.
pub(crate) struct Traced {
    pub(crate) daemon: TestDaemon,
    /// How much of the trace was there when the part of interest began.
    from: AtomicUsize,
}

impl Traced {
    #[track_caller]
    pub(crate) fn start() -> Traced {
        let home = Home::new();
        let (program, trace) = (home.join("traced"), home.join("trace"));
        let script = format!(
            "#!/bin/sh\nexec strace -D -f -qq --seccomp-bpf -s 4096 -e trace=execve,execveat,connect -o '{}' '{}' \"$@\"\n",
            trace.display(),
            rookery_binary().display()
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let daemon = TestDaemon::start_by(home, program);
        let traced = Traced { daemon, from: AtomicUsize::new(0) };
        assert!(!traced.text().is_empty(), "nothing is traced");
        traced.begin();
        traced
    }

    fn text(&self) -> String {
        let file: PathBuf = self.daemon.home().join("trace");
        String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned()
    }

    /// What came before does not count.
    pub(crate) fn begin(&self) {
        self.from.store(self.text().len(), Ordering::Relaxed);
    }

    /// Every start of a program and every connection since then, also those that failed: each is in the
    /// trace before the daemon goes on, and so before its reply.
    pub(crate) fn seen(&self) -> Vec<String> {
        let is_call = |line: &&str| !line.contains("resumed>") && line.contains('(');
        let from = self.from.load(Ordering::Relaxed);
        self.text()[from..].lines().filter(is_call).map(str::to_owned).collect()
    }

    /// The same without what git itself does: a repository may name what it likes, none of it runs.
    pub(crate) fn seen_beside_git(&self) -> Vec<String> {
        let is_git = |line: &String| {
            let path = line.split('"').nth(1).unwrap_or_default();
            let name = path.rsplit('/').next().unwrap_or_default();
            match line.contains("execve(") {
                true => GIT.contains(&name) || line.contains(OTHER_HALF),
                false => line.contains(NAMES),
            }
        };
        self.seen().into_iter().filter(|line| !is_git(line)).collect()
    }
}
