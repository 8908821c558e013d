//! Starts other programs: the one place here that does.
//!
//! Knows how a command is spelled for a person and what its failure means; not which commands there are.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, bail};

/// A program about to be run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    dir: PathBuf,
}

impl Run {
    /// `program`, to be run in `dir`.
    pub(crate) fn new(program: impl Into<OsString>, dir: &Path) -> Self {
        Self { program: program.into(), args: Vec::new(), env: Vec::new(), dir: dir.to_path_buf() }
    }

    /// The cargo that runs us, in `dir`.
    pub(crate) fn cargo(dir: &Path) -> Self {
        Self::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), dir)
    }

    /// Adds one argument.
    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Runs it on our own terminal; fails unless it succeeds.
    pub(crate) fn status(&self) -> anyhow::Result<()> {
        let status = self.command().status().with_context(|| format!("cannot start `{self}`"))?;
        if !status.success() {
            bail!("`{self}` failed: {status}");
        }
        Ok(())
    }

    /// Runs it quietly and returns what it said and how it ended.
    pub(crate) fn output(&self) -> anyhow::Result<Output> {
        self.command()
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start `{self}`"))
    }

    /// Runs it quietly and returns its standard output; fails, with its standard error, unless it succeeds.
    pub(crate) fn stdout(&self) -> anyhow::Result<String> {
        let output = self.output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("`{self}` failed: {}\n{}", output.status, said.trim_end());
        }
        String::from_utf8(output.stdout).with_context(|| format!("output of `{self}` is not UTF-8"))
    }

    /// Whether it can be started and succeeds.
    pub(crate) fn succeeds(&self) -> bool {
        self.output().is_ok_and(|output| output.status.success())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place of this tool that starts programs"
    )]
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.dir);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_this_package(name)) {
            command.env_remove(name);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// As a person would type it, without the path of the program and without the environment.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Path::new(&self.program).file_name().unwrap_or(&self.program);
        f.write_str(&quoted(name))?;
        self.args.iter().try_for_each(|arg| write!(f, " {}", quoted(arg)))
    }
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Whether cargo set a variable to describe this tool. Build scripts of other packages are run again when such a
/// variable changes (that of `ring` does), so a build from here and one by hand would never share what they built.
fn is_of_this_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> PathBuf {
        std::env::current_dir().unwrap()
    }

    #[test]
    fn shows_a_line_that_can_be_pasted() {
        let run = Run::new("/opt/x/cargo", &here()).args(["test", "--", "a b", "it's", ""]);
        assert_eq!(run.to_string(), r"cargo test -- 'a b' 'it'\''s' ''");
    }

    #[test]
    fn a_failure_names_the_command_and_carries_its_words() {
        let run = Run::new("sh", &here()).args(["-c", "echo broken >&2; exit 3"]);
        let error = run.stdout().unwrap_err().to_string();
        assert!(error.contains("sh -c"), "{error}");
        assert!(error.contains("exit status: 3"), "{error}");
        assert!(error.contains("broken"), "{error}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Run::new("no-such-program", &here()).status().unwrap_err().to_string();
        assert_eq!(error, "cannot start `no-such-program`");
    }

    #[test]
    fn environment_reaches_the_child() {
        let run = Run::new("sh", &here()).args(["-c", "echo $GREETING"]).env("GREETING", "hello");
        assert_eq!(run.stdout().unwrap(), "hello\n");
    }

    #[test]
    fn what_cargo_says_of_this_tool_does_not_reach_the_child() {
        // Cargo sets it for every test.
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
        let run = Run::new("sh", &here()).args(["-c", "echo \"[$CARGO_PKG_NAME]\""]);
        assert_eq!(run.stdout().unwrap(), "[]\n");
        let own = Run::new("sh", &here()).args(["-c", "echo $CARGO_PKG_NAME"]);
        assert_eq!(own.env("CARGO_PKG_NAME", "set").stdout().unwrap(), "set\n");
    }
}
