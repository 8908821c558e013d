//! Terminals: a child process on a PTY, alive or finished.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::{Activity, Origin, ProjectId, Size, TerminalId, Timestamp};

/// The universally unique name of a terminal, for dialects that speak UUIDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TerminalUuid(pub [u8; 16]);

/// What was asked to run in a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchSpec {
    /// Program and arguments; the program is never empty.
    pub argv: Vec<String>,
    /// Working directory; absolute.
    pub cwd: PathBuf,
    /// Variables laid over the daemon's environment.
    pub env: Vec<(String, String)>,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitStatus {
    /// It called exit with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
    /// It is gone, but its parent was gone too, so its exit status is not known.
    Unknown,
}

/// Where a terminal is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TerminalState {
    /// The child runs.
    Running,
    /// The child ended and all its output was read.
    Exited(ExitStatus),
    /// Its keeper died: the child may live on, but its exit status will not be known.
    Lost,
}

/// What becomes of a terminal when its child ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnExit {
    /// It stays to be looked at.
    #[default]
    Keep,
    /// It is closed.
    Close,
}

/// Where a terminal works in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The top level of the repository.
    pub repo: PathBuf,
    /// The branch, if it is on one.
    pub branch: Option<String>,
    /// The linked working tree, if it is in one.
    pub worktree: Option<PathBuf>,
}

/// A terminal as the world knows it. Its bytes and its screen live elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Its id, never reused.
    pub id: TerminalId,
    /// Its universally unique name.
    pub uuid: TerminalUuid,
    /// The project it belongs to.
    pub project: ProjectId,
    /// Its place among the terminals of its project; unique there, with gaps.
    pub position: i32,
    /// What was asked to run.
    pub launch: LaunchSpec,
    /// Process id of the child.
    pub pid: u32,
    /// Rows and columns as last set.
    pub size: Size,
    /// The title the program set by an escape sequence, or one to begin with.
    pub program_title: Option<String>,
    /// The title the user gave, which wins over all others.
    pub user_title: Option<String>,
    /// The directory the shell last reported.
    pub reported_cwd: Option<PathBuf>,
    /// Where it is in its life.
    pub state: TerminalState,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When its child ended, if it did.
    pub exited_at: Option<Timestamp>,
    /// When a user last looked at it or typed into it.
    pub last_active: Timestamp,
    /// What becomes of it when its child ends.
    pub on_exit: OnExit,
    /// What goes on in it.
    pub activity: Activity,
    /// The repository that it was opened for.
    pub checkout: Option<Checkout>,
    /// Who opened it; written by the transaction that opens it.
    pub origin: Origin,
}

impl Terminal {
    /// The title to show: the user's, else the program's, else the name of its directory.
    pub fn title(&self) -> Cow<'_, str> {
        match self.user_title.as_deref().or(self.program_title.as_deref()) {
            Some(title) => Cow::Borrowed(title),
            None => title_of_dir(self.cwd()),
        }
    }

    /// The directory to show: what the shell last reported, else where it started.
    pub fn cwd(&self) -> &Path {
        self.reported_cwd.as_deref().unwrap_or(&self.launch.cwd)
    }

    /// Whether the child may still be alive.
    pub fn is_alive(&self) -> bool {
        match self.state {
            TerminalState::Running | TerminalState::Lost => true,
            TerminalState::Exited(_) => false,
        }
    }
}

/// The title of a terminal that has no better one: the last part of its directory.
pub fn title_of_dir(dir: &Path) -> Cow<'_, str> {
    match dir.file_name() {
        Some(name) => name.to_string_lossy(),
        None if dir.as_os_str().is_empty() => Cow::Borrowed("shell"),
        None => dir.to_string_lossy(),
    }
}

/// A notification that a program sent through its terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationText {
    /// Title; may be empty.
    pub title: String,
    /// Body; may be empty.
    pub body: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_lends_its_last_part_as_a_title() {
        for (dir, title) in [("/a/b", "b"), ("/a/b/", "b"), ("/", "/"), ("", "shell")] {
            assert_eq!(title_of_dir(Path::new(dir)), title);
        }
    }
}
