//! A command at work: in a terminal of the world, or on pipes of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rookery_host::{PipeCommand, PipeStream, Pipes};
use rookery_model::TerminalId;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::super::paging::cut;
use super::super::{arguments, paths};
use crate::tool::{
    RemoteCommand, RemoteCommands, RemoteEnd, TerminalCommand, TerminalOutput, ToolContext,
    ToolWorld,
};

/// What a turn needs to come to its end; commands get the time before that.
const RESERVE: Duration = Duration::from_secs(30);
/// What a command gets in any case.
const LEAST: Duration = Duration::from_secs(1);
/// How much output is looked at, in bytes; the oldest is dropped.
const MAX_OUTPUT: usize = 1 << 20;
/// Shells that a call may ask for beside the user's own. All of them read what policy reads.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ksh", "zsh"];
/// Where such a shell may lie; one from elsewhere could be any program.
const SHELL_DIRS: [&str; 4] = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
/// Programs that page or color their output for people are asked not to.
const ENVIRONMENT: [(&str, &str); 3] = [("PAGER", "cat"), ("GIT_PAGER", "cat"), ("NO_COLOR", "1")];

/// Programs that ask through an editor or at the terminal itself, whatever their input is, are told
/// that there is none to ask.
const UNATTENDED: [(&str, &str); 5] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
];

/// A command line and how it is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// The text that the shell runs.
    pub(super) command: String,
    pub(super) shell: String,
    /// Whether the shell is a login shell.
    pub(super) is_login: bool,
    /// Where it runs; absolute.
    pub(super) cwd: PathBuf,
    /// Whether it gets a terminal.
    pub(super) has_terminal: bool,
    /// Whether anything can be typed into it. What only runs to its end would wait in vain.
    pub(super) has_input: bool,
}

impl Launch {
    /// A command of the user's shell in the workspace, or in a directory below.
    pub(super) fn new(
        context: &ToolContext,
        command: &str,
        workdir: Option<&str>,
    ) -> Result<Self, String> {
        if command.contains('\0') {
            return Err("the command contains a NUL character".into());
        }
        let place = paths::resolve(context, workdir.unwrap_or("."))?;
        // Elsewhere the command itself finds out.
        if context.files.is_none() && !place.path.is_dir() {
            return Err(format!("no such directory: {}", place.shown));
        }
        Ok(Self {
            command: command.to_owned(),
            shell: context.shell.clone(),
            is_login: true,
            cwd: place.path,
            has_terminal: true,
            has_input: true,
        })
    }

    /// Lets it read nothing: its input is at its end, and what asks for an editor gets none.
    pub(super) fn without_input(self) -> Self {
        Self { has_input: false, ..self }
    }

    /// Chooses another shell than the user's. Policy has judged the command as one of a shell, so
    /// nothing else may be run with it.
    pub(super) fn with_shell(mut self, shell: &str) -> Result<Self, String> {
        let (dir, name) =
            shell.rsplit_once('/').map_or((None, shell), |(dir, name)| (Some(dir), name));
        let is_known = SHELLS.contains(&name) && dir.is_none_or(|dir| SHELL_DIRS.contains(&dir));
        if !is_known && shell != self.shell {
            return Err(arguments::invalid("shell", &format!("{shell:?} is not a known shell")));
        }
        self.shell = shell.to_owned();
        Ok(self)
    }

    fn argv(&self, context: &ToolContext) -> Vec<String> {
        // A profile writes files here and there, which what may only read cannot.
        let is_login = self.is_login && !(context.read_only && context.sandbox.is_some());
        let words = shell_words(&self.shell, is_login, &self.command);
        let read_only = context.sandbox.as_ref().filter(|_| context.read_only);
        let argv = match read_only.or(context.seal.as_ref()) {
            Some(wrap) => wrap(words),
            None => words,
        };
        match &context.unattended {
            _ if self.has_input => argv,
            Some(wrap) => wrap(argv),
            None => with_empty_input(argv),
        }
    }

    pub(super) async fn start(&self, context: &ToolContext) -> Result<Process, String> {
        if let Some(commands) = &context.commands {
            return self.start_elsewhere(context, commands).await;
        }
        self.start_here(context, self.argv(context), &self.cwd).await
    }

    /// Starts it where the thread's commands run, through a program of this machine if that can be.
    async fn start_elsewhere(
        &self,
        context: &ToolContext,
        commands: &Arc<dyn RemoteCommands>,
    ) -> Result<Process, String> {
        // The user's shell may not be there; one that a call names has to be.
        let is_own = self.shell == context.shell;
        let shell = if is_own { "/bin/sh" } else { &self.shell };
        let command = RemoteCommand {
            argv: shell_words(shell, self.is_login && !is_own, &self.command),
            cwd: self.cwd.clone(),
            env: self.environment(context),
            has_terminal: self.has_terminal && self.has_input,
            cancel: CancellationToken::new(),
        };
        match commands.in_terminal(&command)? {
            Some((argv, id)) => {
                let argv = if self.has_input { argv } else { with_empty_input(argv) };
                let started = self.start_here(context, argv, &context.home).await?;
                let (inner, commands) = (Box::new(started), commands.clone());
                Ok(Process::Wrapped { inner, commands, id })
            }
            None if self.has_input => {
                Err("this runner runs commands to their end only; use the shell tool".to_owned())
            }
            None => Ok(Process::Elsewhere(Elsewhere::start(commands.clone(), command))),
        }
    }

    async fn start_here(
        &self,
        context: &ToolContext,
        argv: Vec<String>,
        cwd: &Path,
    ) -> Result<Process, String> {
        if self.has_terminal {
            let env = self.environment(context);
            let title = cut(self.command.lines().next().unwrap_or_default(), 80);
            let without = context.withheld.clone();
            let command = TerminalCommand { argv, cwd: cwd.to_owned(), env, without, title };
            let id = context.world.open(command).await?;
            return Ok(Process::Terminal { id, world: context.world.clone() });
        }
        let command = PipeCommand {
            argv: argv.into_iter().map(Into::into).collect(),
            env: self.environment(context).into_iter().map(|(k, v)| (k.into(), v.into())).collect(),
            env_remove: context.withheld.iter().map(Into::into).collect(),
            cwd: Some(cwd.to_owned()),
        };
        Ok(Process::Pipes(Pipes::start(command).await?))
    }

    fn environment(&self, context: &ToolContext) -> Vec<(String, String)> {
        let mut env = environment(context);
        if !self.has_input {
            env.extend(UNATTENDED.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        env
    }
}

/// The same words with nothing to read, whichever shell they are for: they may run in a terminal that
/// others watch, and must not wait for what is never typed there.
fn with_empty_input(words: Vec<String>) -> Vec<String> {
    let quiet = ["/bin/sh", "-c", "exec \"$@\" </dev/null", "sh"].map(str::to_owned);
    quiet.into_iter().chain(words).collect()
}

/// A shell that runs one command.
pub(super) fn shell_words(shell: &str, is_login: bool, command: &str) -> Vec<String> {
    let option = if is_login { "-lc" } else { "-c" };
    [shell, option, command].map(str::to_owned).into()
}

/// What a command finds in its environment: nothing that waits for a key, and for one that may only
/// read, nothing by which a repository has programs of its own run.
fn environment(context: &ToolContext) -> Vec<(String, String)> {
    let mut env = if context.read_only { rookery_host::sandbox::quiet_env() } else { Vec::new() };
    env.extend(ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned())));
    env
}

/// A command that was started.
pub(super) enum Process {
    Terminal {
        /// Which.
        id: TerminalId,
        /// Where it lives.
        world: Arc<dyn ToolWorld>,
    },
    Pipes(Pipes),
    /// Elsewhere, through a program of this machine.
    Wrapped {
        /// That program.
        inner: Box<Process>,
        /// Where it really runs.
        commands: Arc<dyn RemoteCommands>,
        /// By which name it is ended there.
        id: String,
    },
    /// Elsewhere, to its end.
    Elsewhere(Elsewhere),
}

/// A command that runs elsewhere to its end; nothing is heard of it before.
pub(super) struct Elsewhere {
    cancel: CancellationToken,
    ended: watch::Receiver<Option<Result<RemoteEnd, String>>>,
}

impl Elsewhere {
    fn start(commands: Arc<dyn RemoteCommands>, command: RemoteCommand) -> Self {
        let cancel = command.cancel.clone();
        let (says_end, ended) = watch::channel(None);
        tokio::spawn(async move {
            let end = commands.run(command).await;
            says_end.send_replace(Some(end));
        });
        Self { cancel, ended }
    }

    async fn wait(&self) -> Option<Result<RemoteEnd, String>> {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await.ok()?;
        end.clone()
    }

    async fn output(&self, offset: u64, wait: Duration) -> Result<TerminalOutput, String> {
        let end = timeout(wait, self.wait()).await.ok().flatten().transpose()?;
        let Some(end) = end else { return Ok(TerminalOutput::default()) };
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(end.output.len());
        Ok(TerminalOutput {
            bytes: end.output[from..].to_vec(),
            next: end.output.len() as u64,
            lost: if offset == 0 { end.dropped } else { 0 },
            ended: Some(end.code),
        })
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Process {
    /// What it wrote after an offset. Waits for its end, or for some time to pass.
    pub(super) async fn output(
        &self,
        offset: u64,
        wait: Duration,
    ) -> Result<TerminalOutput, String> {
        match self {
            Self::Wrapped { inner, .. } => Box::pin(inner.output(offset, wait)).await,
            Self::Elsewhere(running) => running.output(offset, wait).await,
            Self::Terminal { id, world } => world.output(*id, offset, wait).await.map(bounded),
            Self::Pipes(pipes) => {
                let _ = timeout(wait, pipes.wait()).await;
                let output = pipes.read(PipeStream::Both, offset);
                let (bytes, next, lost) = (output.bytes, output.next, output.lost);
                Ok(TerminalOutput { bytes, next, lost, ended: output.ended })
            }
        }
    }

    /// Types into it.
    pub(super) async fn write(&self, text: &str) -> Result<(), String> {
        let bytes = text.as_bytes().to_vec();
        match self {
            Self::Wrapped { inner, .. } => Box::pin(inner.write(text)).await,
            Self::Elsewhere(_) => Err("this runner hands commands no input".to_owned()),
            Self::Terminal { id, world } => world.write(*id, bytes).await,
            // Without a terminal there is no line discipline that gives these keys their meaning.
            Self::Pipes(pipes) => match text.strip_suffix(['\u{3}', '\u{4}']) {
                None => pipes.write(bytes),
                Some(_) if text.ends_with('\u{3}') => {
                    pipes.end().await;
                    Ok(())
                }
                Some("") => pipes.close_input(),
                Some(before) => {
                    pipes.write(before.as_bytes().to_vec())?;
                    pipes.close_input()
                }
            },
        }
    }

    /// Ends it with all that it started.
    pub(super) async fn end(&self) {
        match self {
            // A terminal that is gone already is as good as ended.
            Self::Terminal { id, world } => drop(world.end(*id).await),
            Self::Pipes(pipes) => drop(pipes.end().await),
            Self::Wrapped { inner, commands, id } => {
                // Its own program first: it would not learn of the end of the one here.
                let _ = commands.end(id).await;
                Box::pin(inner.end()).await;
            }
            Self::Elsewhere(running) => {
                running.cancel.cancel();
                let _ = running.wait().await;
            }
        }
    }

    /// The terminal it runs in.
    pub(super) fn terminal(&self) -> Option<TerminalId> {
        match self {
            Self::Terminal { id, .. } => Some(*id),
            Self::Pipes(_) | Self::Elsewhere(_) => None,
            Self::Wrapped { inner, .. } => inner.terminal(),
        }
    }
}

/// The last bytes of an output that is longer than we keep.
fn bounded(mut output: TerminalOutput) -> TerminalOutput {
    let over = output.bytes.len().saturating_sub(MAX_OUTPUT);
    output.bytes.drain(..over);
    output.lost += over as u64;
    output
}

/// How long a command may take: what was asked for, and no longer than the turn has.
pub(super) fn clamped(context: &ToolContext, asked: Option<Duration>) -> Option<Duration> {
    let left = context.time_left.map(|left| left.saturating_sub(RESERVE).max(LEAST));
    shorter(asked, left)
}

/// How long a command may take, by what was set for its thread.
pub(super) fn command_limit(context: &ToolContext, command: &str) -> Option<Duration> {
    context.command_limit.as_ref().and_then(|set| set.of(command))
}

/// The shorter of two limits.
pub(super) fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Fails if there is nothing to run.
pub(super) fn not_blank(member: &str, command: &str) -> Result<(), String> {
    arguments::not_blank(member, command)
}

/// The code of a command that ended; one that a signal ended counts as shells count it.
pub(super) fn exit_code(ended: i32) -> i32 {
    if ended < 0 { 128_i32.saturating_sub(ended) } else { ended }
}
