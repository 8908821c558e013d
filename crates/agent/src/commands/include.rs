//! Gets what a command includes: files of the workspace, what programs print, pages.
//!
//! Programs and pages need the settings' leave; programs need the policy's as well, through [`Gate`].
//! It does not speak HTTP itself: the caller passes a [`Fetch`].

use std::fs;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use rookery_host::{Beneath, End, Outcome, Script};
use serde_json::{Map, Value, json};
use url::Url;

use super::expand::ExpandContext;
use super::template::block_id;
use super::{Block, BlockKind, CommandError};

/// How many times a page may send us elsewhere.
const REDIRECT_LIMIT: usize = 5;
/// The priority of included context.
const PRIORITY: i32 = 50;
/// About how many bytes make a token.
const BYTES_PER_TOKEN: u64 = 4;

/// Says whether a command line may be run for an include.
pub trait Gate: Send + Sync {
    /// `Err` has the reason why not.
    fn check(&self, command: &str, cwd: &Path) -> Result<(), String>;

    /// Holds what was let through to only reading, where it is to be and can be.
    fn hold(&self, script: Script) -> Script {
        script
    }
}

/// A request at work.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Fetched, String>> + Send + 'a>>;

/// Gets pages.
pub trait Fetch: Send + Sync {
    /// Asks for a page once. It must not follow redirects by itself, since each target has to be
    /// allowed, and should stop reading after `limit` bytes. The time is watched by the caller,
    /// who drops the future.
    fn fetch(&self, url: Url, limit: usize) -> Fetching<'_>;
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// A page: its first bytes.
    Page(Vec<u8>),
    /// It sends us elsewhere: the `Location` as it was written.
    Redirect(String),
    /// It refused, with this status.
    Status(u16),
}

/// A [`Fetch`] for those who have no network.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNetwork;

impl Fetch for NoNetwork {
    fn fetch(&self, _: Url, _: usize) -> Fetching<'_> {
        Box::pin(async { Err("there is no network here".to_owned()) })
    }
}

/// What sort of thing is included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum IncludeKind {
    Files,
    Shell,
    Urls,
}

impl IncludeKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Shell => "shell",
            Self::Urls => "urls",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::Files, Self::Shell, Self::Urls].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Something to include, and what the template calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Include {
    pub(super) id: String,
    pub(super) what: IncludeTarget,
}

/// What is included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum IncludeTarget {
    File { path: PathBuf, is_optional: bool },
    Shell { command: String, timeout: Option<Duration> },
    Url { url: Url, is_optional: bool },
}

impl Include {
    pub(super) fn kind(&self) -> IncludeKind {
        match self.what {
            IncludeTarget::File { .. } => IncludeKind::Files,
            IncludeTarget::Shell { .. } => IncludeKind::Shell,
            IncludeTarget::Url { .. } => IncludeKind::Urls,
        }
    }

    /// What error messages call it.
    fn title(&self) -> String {
        match &self.what {
            IncludeTarget::File { path, .. } => format!("file include \"{}\"", path.display()),
            IncludeTarget::Shell { .. } => format!("shell include \"{}\"", self.id),
            IncludeTarget::Url { url, .. } => format!("url include \"{url}\""),
        }
    }

    fn failed(&self, reason: impl Into<String>) -> CommandError {
        CommandError::Include { include: self.title(), reason: reason.into() }
    }

    fn denied(&self, reason: impl Into<String>) -> CommandError {
        CommandError::Denied { include: self.title(), reason: reason.into() }
    }

    /// Gets it for this command. None if it could be done without and could not be had.
    pub(super) async fn get(
        &self,
        name: &str,
        around: &ExpandContext<'_>,
    ) -> Result<Option<Block>, CommandError> {
        let id = block_id(name, self.kind(), &self.id);
        let had = match &self.what {
            IncludeTarget::File { path, is_optional } => self
                .file(path, around)
                .await
                .map(Some)
                .or_else(|error| forgive(error, *is_optional)),
            IncludeTarget::Shell { command, timeout } => {
                let timeout = timeout.unwrap_or(around.settings.include_timeout);
                self.shell(command, timeout, around).await.map(Some)
            }
            IncludeTarget::Url { url, is_optional } => {
                self.url(url, around).await.map(Some).or_else(|error| forgive(error, *is_optional))
            }
        };
        Ok(had?.map(|text| text.into_block(id)))
    }

    async fn file(&self, path: &Path, around: &ExpandContext<'_>) -> Result<Text, CommandError> {
        let (path, root) = (path.to_owned(), around.workspace.to_owned());
        let limit = around.settings.max_include_bytes;
        let read = tokio::task::spawn_blocking(move || read_file(&root, &path, limit));
        match read.await {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(FileError::Outside)) => Err(self.denied("it is outside workspace")),
            Ok(Err(FileError::Io(error))) => Err(self.failed(error.to_string())),
            Err(_) => Err(self.failed("the runtime is ending")),
        }
    }

    async fn shell(
        &self,
        command: &str,
        timeout: Duration,
        around: &ExpandContext<'_>,
    ) -> Result<Text, CommandError> {
        if !around.settings.allow_shell_includes {
            return Err(self.denied("commands.allow_shell_includes is off"));
        }
        around.gate.check(command, around.workspace).map_err(|reason| self.denied(reason))?;
        let script = Script::new(["sh", "-c", command]);
        let mut text = run(script, timeout, around).await.map_err(|reason| self.failed(reason))?;
        text.metadata.insert("command".into(), command.into());
        Ok(text)
    }

    async fn url(&self, url: &Url, around: &ExpandContext<'_>) -> Result<Text, CommandError> {
        let timeout = around.settings.include_timeout;
        let followed = tokio::time::timeout(timeout, self.follow(url.clone(), around)).await;
        followed.unwrap_or_else(|_| Err(self.failed(format!("timed out after {timeout:?}"))))
    }

    async fn follow(&self, mut url: Url, around: &ExpandContext<'_>) -> Result<Text, CommandError> {
        let limit = around.settings.max_include_bytes;
        if !around.settings.allow_url_includes {
            return Err(self.denied("commands.allow_url_includes is off"));
        }
        for _ in 0..=REDIRECT_LIMIT {
            if !is_listed(&url, &around.settings.allowed_url_hosts) {
                let host = url.host_str().unwrap_or_default();
                return Err(self.denied(format!("{host} is not in commands.allowed_url_hosts")));
            }
            let fetched = around.fetch.fetch(url.clone(), limit.saturating_add(1)).await;
            match fetched.map_err(|reason| self.failed(reason))? {
                Fetched::Page(bytes) => {
                    let metadata = json_object(json!({"source": "url", "url": url.as_str()}));
                    return Ok(Text::cut(bytes, limit, false, metadata));
                }
                Fetched::Status(status) => return Err(self.failed(format!("status {status}"))),
                Fetched::Redirect(to) => {
                    url = url.join(&to).map_err(|_| self.failed("it redirects to no url"))?;
                }
            }
        }
        Err(self.failed("it redirects too often"))
    }
}

/// What is optional may be missing. What is forbidden stays forbidden.
fn forgive(error: CommandError, is_optional: bool) -> Result<Option<Text>, CommandError> {
    match error {
        CommandError::Include { .. } if is_optional => Ok(None),
        error => Err(error),
    }
}

/// Whether a host may be asked: listed alone, or with the port that is asked.
fn is_listed(url: &Url, hosts: &[String]) -> bool {
    let Some(host) = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https")) else {
        return false;
    };
    let with_port = format!("{host}:{}", url.port_or_known_default().unwrap_or_default());
    hosts
        .iter()
        .map(|listed| listed.trim())
        .any(|listed| listed.eq_ignore_ascii_case(host) || listed.eq_ignore_ascii_case(&with_port))
}

/// Runs a program of ours or of the command's within the include's bounds.
///
/// What it printed counts, however it ended; an end that we brought about by time is a failure.
pub(super) async fn run(
    mut script: Script,
    timeout: Duration,
    around: &ExpandContext<'_>,
) -> Result<Text, String> {
    let limit = around.settings.max_include_bytes;
    script.cwd = Some(around.workspace.to_owned());
    script.timeout = timeout;
    script.stdout_limit = limit;
    let script = around.gate.hold(script);
    let Outcome { end, stdout, last_error_line, .. } = script.run().await;
    let mut metadata = json_object(json!({"source": "shell"}));
    let mut is_cut = false;
    match end {
        End::Exited(code) => {
            metadata.insert("exit_code".into(), code.into());
            if let Some(line) = last_error_line.filter(|_| code != 0) {
                metadata.insert("error".into(), line.into());
            }
        }
        End::TooMuchOutput => is_cut = true,
        End::TimedOut => return Err(format!("timed out after {timeout:?}")),
        end @ (End::Signaled(_) | End::Failed(_)) => return Err(end.to_string()),
    }
    Ok(Text::cut(stdout, limit, is_cut, metadata))
}

/// Why a file was not read.
#[derive(Debug)]
pub(super) enum FileError {
    Outside,
    Io(io::Error),
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads the beginning of a file of the workspace. Blocks.
pub(super) fn read_file(root: &Path, path: &Path, limit: usize) -> Result<Text, FileError> {
    let root = fs::canonicalize(root)?;
    let path = fs::canonicalize(root.join(path))?;
    let Ok(relative) = path.strip_prefix(&root) else { return Err(FileError::Outside) };
    // Opened from the root on, so that no link which came up since leads out.
    let opened = Beneath::new(&root)?.read_start(relative, limit.saturating_add(1));
    let bytes = opened.map_err(|error| match error.kind() {
        io::ErrorKind::CrossesDevices => FileError::Outside,
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => {
            FileError::Io(io::Error::other("it is not a regular file"))
        }
        _ => FileError::Io(error),
    })?;
    let metadata = json!({"source": "file", "path": relative.to_string_lossy()});
    Ok(Text::cut(bytes, limit, false, json_object(metadata)))
}

/// What was got, within its limit.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) metadata: Map<String, Value>,
}

impl Text {
    /// Cuts at the limit, between characters.
    fn cut(bytes: Vec<u8>, limit: usize, is_cut: bool, mut metadata: Map<String, Value>) -> Self {
        let is_longer = bytes.len() > limit;
        let kept = &bytes[..bytes.len().min(limit)];
        let kept = if is_longer || is_cut { whole_characters(kept) } else { kept };
        let mut text = String::from_utf8_lossy(kept).into_owned();
        // What replaces broken bytes is longer than they were.
        let is_swollen = text.len() > limit;
        text.truncate(text.floor_char_boundary(limit));
        metadata.insert("truncated".into(), (is_longer || is_cut || is_swollen).into());
        Self { text, metadata }
    }

    pub(super) fn into_block(self, id: String) -> Block {
        let kind = match self.metadata.get("source").and_then(Value::as_str) {
            Some("shell") => BlockKind::Environment,
            _ => BlockKind::RetrievedDocument,
        };
        let token_estimate = Some((self.text.len() as u64).div_ceil(BYTES_PER_TOKEN));
        let metadata = Value::Object(self.metadata);
        Block { id, kind, text: self.text, priority: PRIORITY, token_estimate, metadata }
    }
}

/// The bytes without a character that was cut in two at their end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let last = bytes.iter().rev().take(4).position(|byte| !matches!(byte, 0x80..=0xbf));
    let Some(tail) = last.map(|back| bytes.len() - 1 - back) else { return bytes };
    let is_torn = std::str::from_utf8(&bytes[tail..]).is_err_and(|e| e.error_len().is_none());
    if is_torn { &bytes[..tail] } else { bytes }
}

fn json_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
