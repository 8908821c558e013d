//! What sessions on this machine share: files below a root, and programs within bounds.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_host::{
    Beneath, EntryKind, Program, ProgramCommand, ProgramEnd, ProgramStream, SessionMark,
    WriteError, listening_ports,
};

use crate::RunnerError;
use crate::provider::{Opening, Wrap};
use crate::session::{Chunk, Command, CommandEnd, Entry, ExitCause, Port, Stream};

/// How many names a directory may have.
const MAX_NAMES: usize = 10_000;
/// Directories that no search looks into.
const SKIPPED: [&str; 3] = [".git", ".roder", "target"];
/// How large a piece of input is.
const INPUT_PIECE: usize = 64 << 10;
/// How long what was asked to end may take.
pub(crate) const GRACE: Duration = Duration::from_millis(250);

/// A path from a root on, by what a caller calls it. It has no `..` in it; links are the file system's.
pub(crate) fn below(root: &Path, path: &str) -> Result<PathBuf, RunnerError> {
    let outside = || RunnerError::Outside(path.to_owned());
    if path.contains('\0') {
        return Err(RunnerError::invalid("path", "path contains a NUL character"));
    }
    let given = Path::new(path);
    let given = match given.is_absolute() {
        true => given.strip_prefix(root).map_err(|_| outside())?,
        false => given,
    };
    let mut clean = PathBuf::new();
    for part in given.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::ParentDir if clean.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    Ok(clean)
}

/// A directory of this machine that nothing leads out of.
#[derive(Clone)]
pub(crate) struct LocalRoot {
    path: PathBuf,
    beneath: Arc<Beneath>,
}

impl LocalRoot {
    /// Opens a directory.
    pub(crate) async fn open(path: &Path) -> Result<Self, RunnerError> {
        let path = path.to_owned();
        let opened = blocking(move || {
            let beneath = Beneath::new(&path);
            beneath.map(|beneath| Self { beneath: Arc::new(beneath), path: path.clone() }).map_err(
                |error| match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                        let message = format!("root is not a directory: {}", path.display());
                        RunnerError::invalid("root", message)
                    }
                    _ => RunnerError::file(&path.display().to_string(), &error),
                },
            )
        });
        opened.await
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Does something with what a path means, where it may block.
    async fn with<T: Send + 'static>(
        &self,
        path: &str,
        work: impl FnOnce(&Beneath, &Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, RunnerError> {
        let (within, shown) = (below(&self.path, path)?, path.to_owned());
        let beneath = Arc::clone(&self.beneath);
        blocking(move || work(&beneath, &within).map_err(|error| RunnerError::file(&shown, &error)))
            .await
    }

    pub(crate) async fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, RunnerError> {
        let most = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
        let bytes = self.with(path, move |root, path| root.read_start(path, most)).await?;
        match bytes.len() as u64 > limit {
            true => Err(RunnerError::TooLarge { path: path.to_owned(), limit }),
            false => Ok(bytes),
        }
    }

    pub(crate) async fn write(&self, path: &str, bytes: Vec<u8>) -> Result<(), RunnerError> {
        self.with(path, move |root, path| root.write(path, &bytes)).await
    }

    pub(crate) async fn mode(&self, path: &str) -> Result<Option<u32>, RunnerError> {
        self.with(path, |root, path| root.mode(path).map(Some)).await
    }

    pub(crate) async fn make(
        &self,
        path: &str,
        bytes: Vec<u8>,
        mode: u32,
    ) -> Result<(), RunnerError> {
        self.with(path, move |root, path| {
            root.write(path, &bytes)?;
            root.set_mode(path, mode)
        })
        .await
    }

    pub(crate) async fn remove(&self, path: &str) -> Result<(), RunnerError> {
        self.with(path, |root, path| root.remove(path)).await
    }

    pub(crate) async fn list(&self, path: &str) -> Result<Vec<Entry>, RunnerError> {
        let names = self.with(path, |root, path| root.list(path, MAX_NAMES + 1)).await?;
        if names.len() > MAX_NAMES {
            return Err(RunnerError::failed(format!("{path} has more than {MAX_NAMES} names")));
        }
        let entry = |(name, kind): (OsString, EntryKind)| Entry {
            name: name.to_string_lossy().into_owned(),
            is_dir: kind == EntryKind::Dir,
        };
        let mut entries: Vec<Entry> = names.into_iter().map(entry).collect();
        entries.sort();
        Ok(entries)
    }

    pub(crate) async fn find(&self, path: &str, most: usize) -> Result<Vec<String>, RunnerError> {
        self.with(path, move |root, path| {
            let mut found = Vec::new();
            let mut ahead = vec![PathBuf::new()];
            while let Some(dir) = ahead.pop() {
                for (name, kind) in root.list(&path.join(&dir), MAX_NAMES)? {
                    match kind {
                        EntryKind::File if found.len() < most => {
                            found.push(dir.join(name).to_string_lossy().into_owned());
                        }
                        EntryKind::Dir if !SKIPPED.iter().any(|skipped| name == *skipped) => {
                            ahead.push(dir.join(name));
                        }
                        EntryKind::File | EntryKind::Dir | EntryKind::Link | EntryKind::Other => {}
                    }
                }
            }
            found.sort();
            Ok(found)
        })
        .await
    }

    /// The directory in which a command runs: what a path means, links resolved and still below.
    pub(crate) async fn directory(&self, path: Option<&str>) -> Result<PathBuf, RunnerError> {
        let path = path.unwrap_or(".");
        // Opened once, so that one that leads out is refused.
        self.with(path, |root, path| root.list(path, 1).map(drop)).await?;
        Ok(self.path.join(below(&self.path, path)?))
    }
}

/// Does blocking work off the runtime's threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RunnerError> + Send + 'static,
) -> Result<T, RunnerError> {
    let ended = |_| RunnerError::failed("the runtime is ending");
    // Boxed, so that the runtime has a task for each result and not for each caller.
    let work: Box<dyn FnOnce() -> Result<T, RunnerError> + Send> = Box::new(work);
    tokio::task::spawn_blocking(work).await.map_err(ended)?
}

/// The newest bytes of an output.
#[derive(Default)]
struct Tail {
    kept: VecDeque<u8>,
    dropped: u64,
}

impl Tail {
    fn push(&mut self, bytes: &[u8], limit: usize) {
        self.kept.extend(bytes);
        let over = self.kept.len().saturating_sub(limit);
        self.kept.drain(..over);
        self.dropped += over as u64;
    }
}

/// A program of this machine on the way to its end.
pub(crate) struct Run {
    /// Program and arguments.
    pub(crate) argv: Vec<OsString>,
    /// Its whole environment.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Where.
    pub(crate) cwd: PathBuf,
}

/// Runs a program within the bounds of a command. `at_end` is done when it is ended by force, before the
/// program itself is.
pub(crate) async fn run<F, Fut>(
    run: Run,
    command: Command,
    at_end: F,
) -> Result<CommandEnd, RunnerError>
where
    F: Fn() -> Fut + Send,
    Fut: Future<Output = ()> + Send,
{
    let Command { stdin, timeout, output_limit, output, cancel, .. } = command;
    let start = ProgramCommand { argv: run.argv, env: run.env, cwd: run.cwd, has_input: true };
    let mut program = Program::start(start).await.map_err(RunnerError::Failed)?;
    let control = program.control();
    let feeding = tokio::spawn({
        let control = control.clone();
        async move { feed(&control, &stdin).await }
    });
    let (mut out, mut err) = (Tail::default(), Tail::default());
    let late = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let mut late = std::pin::pin!(late);
    let mut how = ExitCause::Exited;
    loop {
        let chunk = tokio::select! {
            biased;
            () = cancel.cancelled(), if how == ExitCause::Exited => {
                how = ExitCause::Cancelled;
                at_end().await;
                let _ = control.end().await;
                continue;
            }
            () = &mut late, if how == ExitCause::Exited => {
                how = ExitCause::TimedOut;
                at_end().await;
                let _ = control.end().await;
                continue;
            }
            chunk = program.next() => chunk,
        };
        let Some((stream, bytes)) = chunk else { break };
        let (stream, tail) = match stream {
            ProgramStream::Stdout => (Stream::Stdout, &mut out),
            ProgramStream::Stderr => (Stream::Stderr, &mut err),
        };
        tail.push(&bytes, output_limit);
        if let Some(output) = output.as_ref().filter(|_| how == ExitCause::Exited) {
            // A reader that is gone wants no more; one that is slow must not keep a cancel waiting.
            tokio::select! {
                _ = output.send(Chunk { stream, bytes }) => {}
                () = cancel.cancelled() => {}
            }
        }
    }
    feeding.abort();
    let code = match control.wait().await {
        ProgramEnd::Exited(code) => code,
        ProgramEnd::Signaled(signal) => -signal,
    };
    Ok(CommandEnd {
        how,
        exit_code: Some(code),
        stdout: out.kept.into(),
        stderr: err.kept.into(),
        dropped: out.dropped + err.dropped,
    })
}

/// Hands a program its input, as fast as it reads.
async fn feed(control: &rookery_host::ProgramControl, stdin: &[u8]) {
    for piece in stdin.chunks(INPUT_PIECE) {
        loop {
            match control.write(piece).await {
                Ok(()) => break,
                // It reads slowly; how long it may take is the command's own bound.
                Err(WriteError::Full) if control.ended().is_none() => {}
                Err(WriteError::Full | WriteError::Closed) => return,
            }
        }
    }
    control.close_input().await;
}

/// Programs and ports of a session on this machine.
pub(crate) struct LocalSession {
    pub(crate) root: LocalRoot,
    pub(crate) mark: SessionMark,
    pub(crate) env: Vec<(OsString, OsString)>,
    wrap: Option<Wrap>,
    exposed: Mutex<BTreeMap<u16, Option<String>>>,
}

impl LocalSession {
    pub(crate) fn new(root: LocalRoot, opening: &Opening) -> Self {
        Self {
            root,
            mark: SessionMark::new(&opening.session),
            env: opening.env.clone(),
            wrap: opening.wrap.clone(),
            exposed: Mutex::default(),
        }
    }

    /// The environment of a command.
    pub(crate) fn environment(&self, command: &[(String, String)]) -> Vec<(OsString, OsString)> {
        let own = command.iter().map(|(name, value)| (name.into(), value.into()));
        let mark = (SessionMark::VARIABLE.into(), self.mark.value().into());
        self.env.iter().cloned().chain(own).chain([mark]).collect()
    }

    pub(crate) async fn exec(&self, command: Command) -> Result<CommandEnd, RunnerError> {
        let cwd = self.root.directory(command.cwd.as_deref()).await?;
        let argv: Vec<OsString> = command.argv.iter().map(OsString::from).collect();
        let argv = match &self.wrap {
            Some(wrap) => wrap(self.root.path(), argv),
            None => argv,
        };
        let run = Run { argv, env: self.environment(&command.env), cwd };
        self::run(run, command, || std::future::ready(())).await
    }

    pub(crate) async fn ports(&self) -> Result<Vec<Port>, RunnerError> {
        let mark = self.mark.clone();
        let listened = blocking(move || Ok(listening_ports(&mark.processes()))).await?;
        let mut ports: BTreeMap<u16, Option<String>> =
            listened.into_iter().map(|port| (port, None)).collect();
        ports.extend(self.exposed.lock().iter().map(|(port, label)| (*port, label.clone())));
        Ok(ports.into_iter().map(|(port, label)| here(port, label)).collect())
    }

    pub(crate) fn expose(&self, port: u16, label: Option<&str>) -> Port {
        let label = label.map(str::to_owned);
        self.exposed.lock().insert(port, label.clone());
        here(port, label)
    }

    pub(crate) fn conceal(&self, port: u16) -> bool {
        self.exposed.lock().remove(&port).is_some()
    }

    /// Holds everything that the session started.
    pub(crate) async fn hold(&self) -> Result<(), RunnerError> {
        let mark = self.mark.clone();
        blocking(move || {
            mark.hold();
            Ok(())
        })
        .await
    }

    /// Lets it go on.
    pub(crate) async fn go_on(&self) -> Result<(), RunnerError> {
        let mark = self.mark.clone();
        blocking(move || {
            mark.go_on();
            Ok(())
        })
        .await
    }

    /// Ends everything that the session started: asked first, by force after a grace.
    pub(crate) async fn end_all(&self) -> Result<(), RunnerError> {
        let mark = self.mark.clone();
        let any = blocking(move || {
            let any = !mark.processes().is_empty();
            mark.ask_to_end();
            // What is held learns of it only when it goes on.
            mark.go_on();
            Ok(any)
        });
        if !any.await? {
            return Ok(());
        }
        tokio::time::sleep(GRACE).await;
        let mark = self.mark.clone();
        blocking(move || {
            mark.kill();
            Ok(())
        })
        .await
    }
}

/// A port of this machine.
fn here(port: u16, label: Option<String>) -> Port {
    Port { port, url: Some(format!("http://127.0.0.1:{port}")), label, local_port: None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_stay_below_their_root() {
        let root = Path::new("/work/root");
        let good = |path: &str| below(root, path).unwrap().display().to_string();
        assert_eq!(good("a/./b/../c"), "a/c");
        assert_eq!(good("/work/root/x"), "x");
        assert_eq!(good("."), "");
        for path in ["..", "a/../..", "/work", "/work/rootless/x", "/etc", "a/../../root/x"] {
            let error = below(root, path).unwrap_err().to_string();
            assert!(error.contains("outside workspace"), "{path}: {error}");
        }
        assert!(below(root, "a\0b").is_err());
    }

    #[test]
    fn only_the_newest_output_is_kept() {
        let mut tail = Tail::default();
        tail.push(b"12345", 4);
        tail.push(b"6", 4);
        assert_eq!((Vec::from(tail.kept), tail.dropped), (b"3456".to_vec(), 2));
    }

    proptest! {
        #[test]
        fn no_path_leaves(path in "(/work/root/|/)?(\\.\\.|\\.|a|b)(/(\\.\\.|\\.|a|b)){0,6}") {
            if let Ok(within) = below(Path::new("/work/root"), &path) {
                prop_assert!(within.components().all(|part| matches!(part, Component::Normal(_))));
            }
        }
    }
}
