//! pexpect: a Python program that waits for the output of a child, in a virtual environment of its own if need be.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::Size;
use crate::gate::{Gate, WORK_LIMIT, await_readable};
use crate::process;

/// How long making the environment may take.
const INSTALL_LIMIT: Duration = Duration::from_secs(300);

/// What runs inside Python.
const DRIVER: &str = include_str!("pexpect.py");

/// A Python that has pexpect, and its version; or why there is none.
pub(crate) fn find(may_install: bool) -> Result<(PathBuf, String), String> {
    let own = process::peers_dir().join("pexpect");
    let pythons = [own.join("bin/python"), PathBuf::from("python3")];
    if let Some(found) = pythons.iter().find_map(|python| version(python)) {
        return Ok(found);
    }
    if !may_install {
        return Err("pexpect is not there (--install makes an environment for it)".to_owned());
    }
    let venv = process::program("python3").args(["-m", "venv"]).arg(&own).output();
    if !venv.is_ok_and(|made| made.status.success()) {
        return Err("pexpect: python3 -m venv does not work here".to_owned());
    }
    let mut pip = process::program(&pythons[0]);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pexpect"]);
    process::output_within(&mut pip, INSTALL_LIMIT)
        .map_err(|error| format!("pexpect: {error:#}"))?;
    version(&pythons[0]).ok_or_else(|| "pexpect was installed but is not found".to_owned())
}

fn version(python: &Path) -> Option<(PathBuf, String)> {
    let ask = "import pexpect, platform; print(f'pexpect {pexpect.__version__} on Python {platform.python_version()}')";
    let version = process::output(process::program(python).args(["-c", ask])).ok()?;
    Some((python.to_owned(), version))
}

/// A running driver with its child.
pub(crate) struct Pexpect {
    driver: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Pexpect {
    /// Starts a driver whose child runs this binary.
    pub(crate) fn start(
        python: &Path,
        exe: &Path,
        gate: &Gate,
        (rows, cols): Size,
    ) -> anyhow::Result<Pexpect> {
        let mut driver = process::program(python)
            .args(["-c", DRIVER, &rows.to_string(), &cols.to_string()])
            .arg(exe)
            .args(["__stamp", "--gate", &gate.path()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start Python")?;
        let input = driver.stdin.take();
        let output = BufReader::new(driver.stdout.take().context("no output")?);
        Ok(Pexpect { driver, input, output })
    }

    /// Makes it wait for a stamp.
    pub(crate) fn expect(&mut self, number: u64) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("no input")?;
        input.write_all(format!("{number}\n").as_bytes()).context("pexpect is gone")
    }

    /// How long after the write the wait was over.
    pub(crate) fn expected(&mut self) -> anyhow::Result<Duration> {
        if self.output.buffer().is_empty() {
            await_readable(self.output.get_ref(), WORK_LIMIT)?;
        }
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("pexpect ended");
        }
        Ok(Duration::from_nanos(line.trim().parse().context("no time from pexpect")?))
    }
}

impl Drop for Pexpect {
    fn drop(&mut self) {
        drop(self.input.take());
        process::finish(&mut self.driver, Duration::from_secs(10));
    }
}
