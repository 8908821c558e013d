//! The one place that calls the `git` program and waits for its end.
//!
//! What a repository's configuration names is not run: no hooks, filters, merge drivers, monitors,
//! pagers or helpers; nothing is fetched unless asked, nothing asks on a terminal.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{End, Outcome, Script};

/// How long one call may take, unless said otherwise.
pub(super) const USUAL_LIMIT: Duration = Duration::from_secs(60);
/// How much one call may print, unless said otherwise.
const OUTPUT_LIMIT: usize = 256 << 20;

/// Variables of git that say where things are, not what to do; all others are not inherited.
const INHERITED: &[&str] = &[
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
];

/// What a fetch needs besides: how the other side is reached.
const INHERITED_BY_FETCH: &[&str] =
    &["GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO"];

/// Settings that go before those of the user and of the repository.
const SETTINGS: &[(&str, &str)] = &[
    ("commit.gpgSign", "false"),
    ("core.fsmonitor", ""),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("core.safecrlf", "false"),
    ("diff.autoRefreshIndex", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_ADVICE", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
    ("SSH_ASKPASS_REQUIRE", "never"),
];

/// Settings of a filter that leave it without a program, and do not miss it.
const FILTER_OFF: &[(&str, &str)] =
    &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
/// The settings that are looked up.
const NOTED: &str = r"^(filter|merge)\..*\.|^core\.(autocrlf|filemode|symlinks|splitindex)$";
/// The settings that name programs of filters.
const FILTERS: &str = r"^filter\..*\.(clean|process)$";
/// What a merge driver of the repository is replaced by: the merge that git does by itself.
const PLAIN_MERGE: &str = "git merge-file --marker-size=%L %A %O %B";

/// Why git did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// There is no program of that name.
    #[error("git is not installed")]
    Missing,
    /// The directory is not there.
    #[error("the path does not exist: {}", .0.display())]
    NoSuchPath(PathBuf),
    /// The directory is in no work tree.
    #[error("not a git repository: {}", .0.display())]
    NotARepository(PathBuf),
    /// It took too long and was killed.
    #[error("git {0} timed out")]
    TimedOut(String),
    /// It said more than it may and was killed.
    #[error("git {0} printed too much")]
    TooMuchOutput(String),
    /// It said no, for this reason.
    #[error("git {command} failed: {message}")]
    Failed {
        /// What it was asked for: its subcommand.
        command: String,
        /// Its last line of complaint.
        message: String,
    },
    /// Its answer makes no sense to us.
    #[error("unexpected output of git {0}")]
    Unreadable(String),
    /// The file system said no.
    #[error("{}: {message}", path.display())]
    File {
        /// Which file or directory.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// The runtime ends.
    #[error("the work was cancelled")]
    Abandoned,
}

impl GitError {
    /// An error of the file system.
    pub(super) fn file(path: impl Into<PathBuf>, error: impl std::fmt::Display) -> Self {
        Self::File { path: path.into(), message: error.to_string() }
    }
}

/// How git is called in one directory.
#[derive(Clone, Debug)]
pub(super) struct Git {
    directory: PathBuf,
    /// Settings that switch off what the repository would run.
    off: Vec<(OsString, OsString)>,
    /// What matters of `core`.
    core: Vec<(Vec<u8>, Vec<u8>)>,
    limit: Duration,
    /// Whether the repository's own programs may run after all.
    is_trusted: bool,
}

impl Git {
    /// Git in a directory whose configuration was not looked at yet: nothing that could need a
    /// filter or a merge may be asked of it.
    pub(super) fn bare_of(directory: &Path, limit: Duration) -> Self {
        Self {
            directory: directory.to_owned(),
            off: Vec::new(),
            core: Vec::new(),
            limit,
            is_trusted: false,
        }
    }

    /// The same with everything switched off that the configuration names.
    pub(super) async fn disarmed(mut self) -> Result<Self, GitError> {
        let list = ["config", "-z", "--get-regexp", NOTED];
        let outcome = self.call(list).outcome().await;
        // 1 says that there are none.
        if !matches!(outcome.end, End::Exited(0 | 1)) {
            return Err(self.call(list).error(&outcome));
        }
        let (core, rest): (Vec<_>, Vec<_>) =
            settings(&outcome.stdout).partition(|(key, _)| key.starts_with(b"core."));
        self.core = core;
        self.off = switched_off(rest.into_iter().map(|(key, _)| key));
        Ok(self)
    }

    /// What `core.KEY` is set to, if it is one that matters to us; its last value counts.
    pub(super) fn core(&self, key: &str) -> Option<&[u8]> {
        let is_it = |name: &[u8]| name.strip_prefix(b"core.").is_some_and(|n| n == key.as_bytes());
        self.core.iter().rev().find(|(name, _)| is_it(name)).map(|(_, value)| value.as_slice())
    }

    /// Whether the configuration names filters, which were switched off.
    pub(super) fn has_filters(&self) -> bool {
        self.off.iter().any(|(key, _)| key.as_bytes().starts_with(b"filter."))
    }

    /// Whether the user's own settings name filters, whatever the repository names.
    pub(super) async fn has_own_filters(&self) -> bool {
        let mut is_there = false;
        for scope in ["--global", "--system"] {
            let list =
                ["config", scope, "--includes", "-z", "--name-only", "--get-regexp", FILTERS];
            // A file that is not there is as good as one that names none.
            is_there |= self.call(list).outcome().await.end == End::Exited(0);
        }
        is_there
    }

    /// The same for a repository of ours, in which nothing has to be switched off.
    pub(super) fn without_repository(&self) -> Self {
        let is_line_end = |(key, _): &&(Vec<u8>, Vec<u8>)| key == b"core.autocrlf";
        let kept = self.core.iter().filter(is_line_end);
        let kept = kept.map(|(key, value)| {
            (OsString::from_vec(key.clone()), OsString::from_vec(value.clone()))
        });
        Self { off: kept.collect(), ..self.clone() }
    }

    /// The same, elsewhere.
    pub(super) fn moved_to(&self, directory: &Path) -> Self {
        Self { directory: directory.to_owned(), ..self.clone() }
    }

    /// The same, with the repository's own hooks, filters and drivers.
    pub(super) fn trusted(&self, is_trusted: bool) -> Self {
        Self { is_trusted, ..self.clone() }
    }

    /// Prepares a call.
    pub(super) fn call<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Call<'_> {
        let arguments = arguments.into_iter().map(|a| a.as_ref().to_owned()).collect();
        Call {
            git: self,
            arguments,
            stdin: Vec::new(),
            env: Vec::new(),
            limit: self.limit,
            output_limit: OUTPUT_LIMIT,
            has_own_index: false,
            fetches: false,
            file_limit: None,
        }
    }

    /// Calls it, and gives what it printed.
    pub(super) async fn run<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Vec<u8>, GitError> {
        self.call(arguments).run().await
    }
}

/// One call of git.
#[derive(Clone, Debug)]
pub(super) struct Call<'g> {
    git: &'g Git,
    arguments: Vec<OsString>,
    stdin: Vec<u8>,
    env: Vec<(OsString, OsString)>,
    limit: Duration,
    output_limit: usize,
    has_own_index: bool,
    fetches: bool,
    file_limit: Option<u64>,
}

impl Call<'_> {
    /// Further arguments.
    pub(super) fn args<A: AsRef<OsStr>>(mut self, more: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(more.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// What it reads.
    pub(super) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Another index than the user's.
    pub(super) fn index(mut self, path: &Path) -> Self {
        self.has_own_index = true;
        self.env("GIT_INDEX_FILE", path)
    }

    /// A variable.
    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// How much it may print.
    pub(super) fn output_limit(mut self, bytes: usize) -> Self {
        self.output_limit = bytes;
        self
    }

    /// Lets it talk to other machines, for as long as that may take.
    pub(super) fn fetching(mut self, limit: Duration) -> Self {
        (self.fetches, self.limit) = (true, limit);
        self
    }

    /// How much it may write into one file.
    pub(super) fn file_limit(mut self, bytes: u64) -> Self {
        self.file_limit = Some(bytes);
        self
    }

    /// Runs it; what it printed if it succeeded.
    pub(super) async fn run(self) -> Result<Vec<u8>, GitError> {
        let mut outcome = self.script().run().await;
        match outcome.is_success() {
            true => Ok(std::mem::take(&mut outcome.stdout)),
            false => Err(self.error(&outcome)),
        }
    }

    /// Runs it; None if it ends with status 1, by which many commands say no.
    pub(super) async fn answer(self) -> Result<Option<Vec<u8>>, GitError> {
        let mut outcome = self.script().run().await;
        match outcome.end {
            End::Exited(0) => Ok(Some(std::mem::take(&mut outcome.stdout))),
            End::Exited(1) => Ok(None),
            _ => Err(self.error(&outcome)),
        }
    }

    /// Runs it; however it ended.
    pub(super) async fn outcome(&self) -> Outcome {
        self.script().run().await
    }

    /// Runs it; the first line that it printed.
    pub(super) async fn line(self) -> Result<String, GitError> {
        let command = self.name();
        let output = self.run().await?;
        String::from_utf8(line(output)).map_err(|_| GitError::Unreadable(command))
    }

    /// What a bad end means.
    pub(super) fn error(&self, outcome: &Outcome) -> GitError {
        let command = self.name();
        match &outcome.end {
            End::TimedOut => GitError::TimedOut(command),
            End::TooMuchOutput => GitError::TooMuchOutput(command),
            End::Failed(reason) => match self.git.directory.is_dir() {
                false => GitError::NoSuchPath(self.git.directory.clone()),
                true if reason.starts_with("cannot start") => GitError::Missing,
                true => GitError::Abandoned,
            },
            End::Exited(_) | End::Signaled(_) => {
                let message = outcome.failure().unwrap_or_default();
                let message = message.strip_prefix("fatal: ").unwrap_or(&message).to_owned();
                match message.starts_with("not a git repository")
                    || message.contains("must be run in a work tree")
                {
                    true => GitError::NotARepository(self.git.directory.clone()),
                    false => GitError::Failed { command, message },
                }
            }
        }
    }

    /// What it is asked for.
    pub(super) fn name(&self) -> String {
        let mut words = self.arguments.iter();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("-c") => drop(words.next()),
                _ => return word.to_string_lossy().into_owned(),
            }
        }
        String::new()
    }

    /// The whole command line.
    pub(super) fn argv(&self) -> Vec<OsString> {
        let fixed = ["git", "--no-optional-locks", "--no-pager", "--literal-pathspecs"];
        fixed.iter().map(OsString::from).chain(self.arguments.iter().cloned()).collect()
    }

    /// What is set over the inherited environment.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let own = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        let mut settings: Vec<(OsString, OsString)> = Vec::new();
        if !self.git.is_trusted {
            settings.extend(SETTINGS.iter().map(own));
            settings.extend(self.git.off.iter().cloned());
        }
        if self.has_own_index {
            // Halves of an index would land beside the user's.
            settings.push(("core.splitIndex".into(), "false".into()));
        }
        if !self.fetches {
            settings.push(("protocol.allow".into(), "never".into()));
        }
        let mut env: Vec<_> = ENVIRONMENT.iter().map(own).collect();
        env.push(("GIT_CONFIG_COUNT".into(), settings.len().to_string().into()));
        for (index, (key, value)) in settings.into_iter().enumerate() {
            env.push((format!("GIT_CONFIG_KEY_{index}").into(), key));
            env.push((format!("GIT_CONFIG_VALUE_{index}").into(), value));
        }
        env.extend(self.env.iter().cloned());
        env
    }

    /// Whether a variable of ours reaches git.
    pub(super) fn inherits(&self, name: &OsStr) -> bool {
        let is_of_git = name.as_bytes().starts_with(b"GIT_");
        let listed = |list: &[&str]| list.iter().any(|kept| name == *kept);
        !is_of_git || listed(INHERITED) || self.fetches && listed(INHERITED_BY_FETCH)
    }

    /// Where it runs.
    pub(super) fn directory(&self) -> &Path {
        &self.git.directory
    }

    fn script(&self) -> Script {
        let mut script = Script::new(self.argv());
        script.cwd = Some(self.git.directory.clone());
        script.timeout = self.limit;
        script.stdout_limit = self.output_limit;
        script.stderr_limit = 4 << 20;
        script.file_limit = self.file_limit;
        script.env_remove =
            std::env::vars_os().map(|(name, _)| name).filter(|name| !self.inherits(name)).collect();
        script.env = self.environment();
        script.stdin.clone_from(&self.stdin);
        script
    }
}

/// Names and values as `config -z` lists them. A name alone means true.
fn settings(list: &[u8]) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    fields(list).map(|entry| match entry.iter().position(|byte| *byte == b'\n') {
        Some(at) => (entry[..at].to_vec(), entry[at + 1..].to_vec()),
        None => (entry.to_vec(), b"true".to_vec()),
    })
}

/// Settings against those that name filters and merge drivers.
fn switched_off(names: impl Iterator<Item = Vec<u8>>) -> Vec<(OsString, OsString)> {
    let prefix =
        |name: Vec<u8>| Some(name[..name.iter().rposition(|byte| *byte == b'.')?].to_vec());
    let mut names: Vec<Vec<u8>> = names.filter_map(prefix).collect();
    names.sort_unstable();
    names.dedup();
    let setting = |section: &[u8], part: &str, value: &str| {
        let name = [section, b".", part.as_bytes()].concat();
        (OsString::from_vec(name), OsString::from(value))
    };
    let mut off = Vec::new();
    for name in &names {
        match name.starts_with(b"filter.") {
            true => off.extend(FILTER_OFF.iter().map(|(part, value)| setting(name, part, value))),
            false => off.push(setting(name, "driver", PLAIN_MERGE)),
        }
    }
    off
}

/// One line of output without its end, whatever is in it.
pub(super) fn line(mut output: Vec<u8>) -> Vec<u8> {
    output.pop_if(|byte| *byte == b'\n');
    output
}

/// What is between zero bytes, each of which ends a field.
pub(super) fn fields(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    let output = output.strip_suffix(b"\0").unwrap_or(output);
    let is_empty = output.is_empty();
    output.split(|byte| *byte == 0).filter(move |_| !is_empty)
}

/// What `--numstat -z` says of one file: the lines that were added and deleted, none of a binary file, and its
/// name, the new one of a rename.
pub(super) fn numbers<'o>(
    first: &'o [u8],
    rest: &mut impl Iterator<Item = &'o [u8]>,
) -> Option<(Option<u64>, Option<u64>, &'o [u8])> {
    let mut columns = first.splitn(3, |byte| *byte == b'\t');
    let mut number = || match str::from_utf8(columns.next()?).ok()? {
        "-" => Some(None),
        digits => digits.parse::<u64>().ok().map(Some),
    };
    let (added, deleted) = (number()?, number()?);
    let name = match columns.next()? {
        // A rename: old and new name follow.
        b"" => {
            rest.next()?;
            rest.next()?
        }
        name => name,
    };
    Some((added, deleted, name))
}

/// A path as git spells it.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Does blocking work off the runtime's threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    // Boxed, so that the runtime has a task for each result and not for each caller.
    let work: Box<dyn FnOnce() -> Result<T, GitError> + Send> = Box::new(work);
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(GitError::Abandoned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_run_is_switched_off() {
        let list = b"filter.f.g.clean\nx\ny\0filter.f.g.required\0merge.m.driver\nz\0";
        let off = switched_off(settings(list).map(|(key, _)| key));
        let keys: Vec<_> = off.iter().map(|(key, _)| key.to_str().unwrap()).collect();
        let filter = ["filter.f.g.clean", "filter.f.g.smudge", "filter.f.g.process"];
        let mut expected = filter.to_vec();
        expected.extend(["filter.f.g.required", "merge.m.driver"]);
        assert_eq!(keys, expected);
    }

    #[test]
    fn only_variables_that_say_where_things_are_get_through() {
        let git = Git::bare_of(Path::new("/"), USUAL_LIMIT);
        let call = git.call(["status"]);
        for (name, inherited) in [
            ("PATH", true),
            ("GIT_DIR", false),
            ("GIT_SSH_COMMAND", false),
            ("GIT_TRACE2_ANYTHING", false),
            ("GIT_CONFIG_GLOBAL", true),
        ] {
            assert_eq!(call.inherits(OsStr::new(name)), inherited, "{name}");
        }
        assert!(call.fetching(USUAL_LIMIT).inherits(OsStr::new("GIT_SSH_COMMAND")));
    }

    #[test]
    fn fields_end_with_zero_bytes() {
        let all = |bytes| fields(bytes).map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(all(b""), Vec::<Vec<u8>>::new());
        assert_eq!(all(b"a\0\0b\0"), [b"a".to_vec(), b"".to_vec(), b"b".to_vec()]);
    }

    #[tokio::test]
    async fn what_is_no_repository_is_distinguished() {
        let dir = tempfile::tempdir().unwrap();
        let git = Git::bare_of(dir.path(), USUAL_LIMIT);
        let error = git.run(["rev-parse", "--show-toplevel"]).await.unwrap_err();
        assert_eq!(error, GitError::NotARepository(dir.path().into()));
        let gone = dir.path().join("gone");
        let error = Git::bare_of(&gone, USUAL_LIMIT).run(["status"]).await.unwrap_err();
        assert_eq!(error, GitError::NoSuchPath(gone));
    }
}
