//! A server on its standard input and output, in a home of its own, and its end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rookery_testkit::processes_of;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// What to start, and how long to wait for a message of it.
pub(crate) struct Program {
    path: PathBuf,
    args: &'static [&'static str],
    pub(crate) patience: Duration,
}

impl Program {
    /// Ours. It is expected to answer, so a slow machine gets its time.
    pub(crate) fn rookery(path: &Path) -> Program {
        const ARGS: &[&str] = &["ptywright", "serve", "--stdio", "--allow-plugin-load"];
        Program { path: path.to_owned(), args: ARGS, patience: Duration::from_secs(10) }
    }

    /// Theirs. It is expected not to answer here and there.
    pub(crate) fn ptywright(path: &Path) -> Program {
        const ARGS: &[&str] = &["serve", "--stdio", "--allow-plugin-load"];
        Program { path: path.to_owned(), args: ARGS, patience: Duration::from_secs(2) }
    }

    /// Starts it with nothing in it.
    pub(crate) fn start(&self) -> Result<Server, String> {
        let home = tempfile::Builder::new().prefix("rkc-").tempdir();
        let home = home.map_err(|error| format!("no place for a home: {error}"))?;
        #[expect(clippy::disallowed_methods, reason = "the one place here that starts programs")]
        let mut command = Command::new(&self.path);
        let mut child = command
            .args(self.args)
            .env("ROOKERY_HOME", home.path())
            .env("PTYWRIGHT_HOME", home.path())
            .env("TERM", "xterm-256color")
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.path.display()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = output.ok_or("a server without an output")?;
        let (lines, messages) = channel();
        // It ends with the server's output.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Server { child, input, messages, patience: self.patience, home })
    }
}

/// What came of waiting for a line.
pub(crate) enum Received {
    Line(String),
    Nothing,
    End,
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<String>,
    patience: Duration,
    home: TempDir,
}

impl Server {
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Sends a line. The pipe holds more than any vector sends, so this does not wait for the server.
    pub(crate) fn send(&mut self, line: &str) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("its input is closed")?;
        let sent = input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n"));
        sent.map_err(|error| format!("cannot send: {error}"))
    }

    /// The next line.
    pub(crate) fn hear(&self) -> Received {
        match self.messages.recv_timeout(self.patience) {
            Ok(line) => Received::Line(line),
            Err(RecvTimeoutError::Timeout) => Received::Nothing,
            Err(RecvTimeoutError::Disconnected) => Received::End,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It should end by itself, and take its children along.
        drop(self.input.take());
        while let Received::Line(_) = self.hear() {}
        let _ = self.child.kill();
        let _ = self.child.wait();
        for process in processes_of(self.home.path()) {
            if let Some(pid) = Pid::from_raw(process.pid.cast_signed()) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}
