//! tmux: a server of its own without a configuration, 10 000 lines of history, and its control mode.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use tempfile::TempDir;

use super::Size;
use crate::gate::Gate;
use crate::process;

/// How long a command may take, also while a window floods.
const LIMIT: Duration = Duration::from_secs(30);

/// Its version, or why there is none.
pub(crate) fn find() -> Result<String, String> {
    if process::find("tmux").is_none() {
        return Err("tmux is not installed (apt-get install tmux)".to_owned());
    }
    process::output_within(process::program("tmux").arg("-V"), LIMIT)
        .map_err(|error| format!("{error:#}"))
}

/// A running server with one session, whose first window runs `cat`.
pub(crate) struct Tmux {
    dir: TempDir,
    pid: u32,
}

impl Tmux {
    /// Starts a server.
    pub(crate) fn start() -> anyhow::Result<Tmux> {
        let dir = tempfile::Builder::new().prefix("rkb-").tempdir_in("/tmp")?;
        let start = ["new-session", "-d", "-x", "80", "-y", "24", "-s", "bench", "/bin/cat", "-"];
        // An option must be set before the first window is made, and a server ends without a session.
        let history = ["set-option", "-g", "history-limit", "10000", ";"];
        let mut server = command(&dir);
        server.arg("start-server").arg(";").args(history).args(start);
        process::output_within(&mut server, LIMIT)?;
        let mut ask = command(&dir);
        let pid = process::output_within(ask.args(["display-message", "-p", "#{pid}"]), LIMIT)?;
        Ok(Tmux { pid: pid.parse().with_context(|| format!("{pid} is no process"))?, dir })
    }

    /// The server's process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Opens a window with a child that runs this binary.
    pub(crate) fn open(&self, exe: &Path, gate: &Gate, role: &[&str]) -> anyhow::Result<()> {
        let mut new_window = command(&self.dir);
        new_window.args(["new-window", "-d"]).arg(exe).args(role).args(["--gate", &gate.path()]);
        process::output_within(&mut new_window, LIMIT).map(drop)
    }

    /// How a client attaches in the terminal that it runs in. It shows the window that is selected; the first is `cat`.
    pub(crate) fn attach(&self) -> Command {
        let mut client = command(&self.dir);
        client.args(["attach-session", "-t", "bench"]);
        client
    }

    /// Runs a command of tmux.
    pub(crate) fn run(&self, args: &[&str]) -> anyhow::Result<String> {
        process::output_within(command(&self.dir).args(args), LIMIT)
    }

    /// Attaches in control mode.
    pub(crate) fn control(&self) -> anyhow::Result<Control> {
        let mut client = command(&self.dir)
            .args(["-C", "attach-session", "-t", "bench"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot attach to tmux")?;
        let input = client.stdin.take().context("no input")?;
        let output = client.stdout.take().context("no output")?;
        let mut control =
            Control { client, input, output: BufReader::new(output), line: Vec::new() };
        // The attach itself is answered first.
        control.answered()?;
        control.command("refresh-client -C 80x24")?;
        Ok(control)
    }

    /// Attaches in control mode with terminals of another size.
    pub(crate) fn control_of(&self, (rows, cols): Size) -> anyhow::Result<Control> {
        let mut control = self.control()?;
        control.command(&format!("refresh-client -C {cols}x{rows}"))?;
        Ok(control)
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = process::output_within(command(&self.dir).arg("kill-server"), LIMIT);
        if !process::await_end(self.pid, Duration::from_secs(10)) {
            process::kill(self.pid);
        }
    }
}

fn command(dir: &TempDir) -> Command {
    let mut command = process::program("tmux");
    command.env("TMUX_TMPDIR", dir.path()).args(["-L", "b", "-f", "/dev/null"]);
    command
}

/// A client in control mode.
pub(crate) struct Control {
    client: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Control {
    /// Sends a command and does not wait for the answer.
    pub(crate) fn send(&mut self, command: &str) -> anyhow::Result<()> {
        self.input.write_all(format!("{command}\n").as_bytes()).context("tmux is gone")
    }

    /// The next line.
    pub(crate) fn receive(&mut self) -> anyhow::Result<&[u8]> {
        self.line.clear();
        if self.output.read_until(b'\n', &mut self.line)? == 0 {
            bail!("tmux closed its control client");
        }
        Ok(&self.line)
    }

    /// Waits for the end of the answer to a command.
    pub(crate) fn answered(&mut self) -> anyhow::Result<()> {
        loop {
            let line = self.receive()?;
            if line.starts_with(b"%end") {
                return Ok(());
            }
            if line.starts_with(b"%error") {
                bail!("tmux refused a command");
            }
        }
    }

    /// Sends a command and waits for the end of its answer.
    pub(crate) fn command(&mut self, command: &str) -> anyhow::Result<()> {
        self.send(command)?;
        self.answered()
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = self.client.kill();
        let _ = self.client.wait();
    }
}
