//! A display without a screen: Xvfb on a number that it chose itself.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

use crate::process;
use crate::x11::Display;

/// Columns, rows and depth of it.
const SCREEN: &str = "2000x1000x24";

/// The package that it comes from.
pub(crate) const PACKAGE: &str = "xvfb";

/// A running server. What is shown on it ends with it.
pub(crate) struct Xvfb {
    server: Child,
    number: u32,
}

impl Xvfb {
    /// Starts one that listens to this machine alone.
    pub(crate) fn start() -> anyhow::Result<Xvfb> {
        let mut server = process::program("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0", SCREEN])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot run Xvfb (apt-get install xvfb)")?;
        let output = server.stdout.take().context("Xvfb has no output")?;
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        let number = read.context("Xvfb").and_then(|_| Ok(line.trim().parse::<u32>()?));
        match number {
            Ok(number) => Ok(Xvfb { server, number }),
            Err(error) => {
                let _ = server.kill();
                let _ = server.wait();
                Err(error).context("Xvfb said no number")
            }
        }
    }

    /// A connection to it.
    pub(crate) fn connect(&self) -> anyhow::Result<Display> {
        Display::connect(self.number)
    }

    /// Makes a program show itself there, and nowhere else.
    pub(crate) fn show(&self, command: &mut Command) {
        command.env("DISPLAY", format!(":{}", self.number));
        command.env_remove("WAYLAND_DISPLAY").env_remove("XAUTHORITY");
    }
}

impl Drop for Xvfb {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
