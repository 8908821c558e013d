//! Programs: where they are and of which version.

use std::{
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most that is read of what it says.
const LONGEST_VERSION: u64 = 4096;

/// Whether this can be run.
pub(super) fn is_runnable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Where a program of this name is.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    places.find_map(|dir| Some(dir.join(name)).filter(|path| is_runnable(path)))
}

/// The first line that a program says of its version.
#[expect(clippy::disallowed_methods, reason = "the one place where this tool starts programs")]
pub(super) fn version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.take(LONGEST_VERSION).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    let bytes = receiver.recv_timeout(PATIENCE);
    // It has said what it has to say, or never will.
    let _ = child.kill();
    let _ = child.wait();
    let text = String::from_utf8_lossy(&bytes.ok()?).into_owned();
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}
