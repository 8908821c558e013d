//! The shell around this process, and what it was given by a tab.

use std::{ffi::OsString, path::PathBuf};

use super::program;
use crate::personas::roostctl::target::{Env, non_empty};

#[derive(Debug, Default)]
pub(super) struct Shell {
    /// `SHELL`, and whether it can be run.
    pub(super) login: Option<(PathBuf, bool)>,
    /// The program that started this one.
    pub(super) current: Option<PathBuf>,
    /// What bash says of its version, if that is the shell.
    pub(super) version: Option<String>,
    pub(super) integration: Option<String>,
    /// `ROOST_RESOURCES_DIR`, and which scripts are missing there.
    pub(super) resources: Option<(PathBuf, Vec<&'static str>)>,
    pub(super) features: Option<String>,
}

/// The scripts that a shell loads in a tab.
const SCRIPTS: [&str; 2] = ["shell-integration/roost.bash", "shell-integration/roost.zsh"];

impl Shell {
    pub(super) fn collect(env: Env<'_>) -> Self {
        let text =
            |name| non_empty(env, name).map(|text: OsString| text.to_string_lossy().into_owned());
        let login = non_empty(env, "SHELL").map(PathBuf::from);
        let login = login.map(|path| (path.clone(), program::is_runnable(&path)));
        let resources = non_empty(env, "ROOST_RESOURCES_DIR").map(PathBuf::from).map(|dir| {
            let missing = SCRIPTS.into_iter().filter(|script| !dir.join(script).is_file());
            let missing = missing.collect();
            (dir, missing)
        });
        let mut shell = Self {
            login,
            current: parent(),
            version: None,
            integration: text("ROOST_SHELL_INTEGRATION"),
            resources,
            features: text("ROOST_SHELL_FEATURES"),
        };
        if let Some(path) = shell.path().filter(|_| shell.family() == Some("bash")) {
            shell.version = program::version(&path);
        }
        shell
    }

    /// The shell: who started us if that is one, else the login shell.
    fn path(&self) -> Option<PathBuf> {
        let login = self.login.as_ref().filter(|(_, runs)| *runs).map(|(path, _)| path);
        let known = |path: &&PathBuf| family(path).is_some();
        self.current.as_ref().filter(known).or(login).cloned()
    }

    /// Which kind of shell it is.
    pub(super) fn family(&self) -> Option<&'static str> {
        family(&self.path()?)
    }
}

fn family(path: &std::path::Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?.trim_start_matches('-');
    ["bash", "zsh", "fish", "dash", "sh"].into_iter().find(|known| *known == name)
}

/// The program of the process that started this one.
fn parent() -> Option<PathBuf> {
    let pid = rustix::process::getppid()?.as_raw_nonzero();
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Whether what bash says of its version is at least 4.4.
pub(super) fn is_recent_bash(output: &str) -> Option<bool> {
    let word = output.split_whitespace().skip_while(|word| *word != "version").nth(1)?;
    let mut parts = word.split('.').map(|part| part.parse::<u32>().ok());
    let (major, minor) = (parts.next()??, parts.next()??);
    Some((major, minor) >= (4, 4))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_version_of_bash_is_read() {
        let said = |version: &str| format!("GNU bash, version {version} (x86_64-pc-linux-gnu)");
        assert_eq!(is_recent_bash(&said("5.2.37(1)-release")), Some(true));
        assert_eq!(is_recent_bash(&said("4.4.0(1)-release")), Some(true));
        assert_eq!(is_recent_bash(&said("3.2.57(1)-release")), Some(false));
        assert_eq!(is_recent_bash("zsh 5.9"), None);
        assert_eq!(is_recent_bash("version"), None);
    }

    #[test]
    fn shells_are_known_by_their_names() {
        assert_eq!(family(Path::new("/usr/bin/zsh")), Some("zsh"));
        assert_eq!(family(Path::new("-bash")), Some("bash"));
        assert_eq!(family(Path::new("/usr/bin/python3")), None);
    }
}
