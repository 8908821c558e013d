//! Whether a command may run, and its start.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use rookery_agent::policy::{Judgement, Verdict};
use rookery_host::{ProcessTag, Program, ProgramCommand, find_program, sandbox};
use rookery_model::{Error, Mode, OnExit, RequestId, Result, Size, TerminalId};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::approval::Permission;
use super::capture::{Capture, Meter};
use super::execution::{ExecChunk, Execution};
use super::process::{Process, ProcessHandle, ProcessState, ProcessView};
use super::processes::Seat;
use super::request::{ExecRequest, Shows};
use super::run::{Run, Sink};
use super::source::{Source, StopHandle};
use crate::clock;
use crate::file_changes::ObservedBy;
use crate::rooms::Commands;
use crate::terminals::OpenTerminal;

/// Pieces of output that may wait for a client.
const MAX_CHUNKS: usize = 4;
/// Pieces of output that may wait for a terminal's command to be taken.
const MAX_TAPPED: usize = 16;
/// Characters of a terminal's title.
const MAX_TITLE: usize = 64;

/// What became of a request to run a command.
#[derive(Debug)]
pub enum ExecStart {
    /// It must not run.
    Denied {
        /// Why not.
        reason: String,
        /// The mode that says so.
        mode: Mode,
    },
    NeedsApproval {
        /// Why.
        reason: String,
        /// The mode that says so.
        mode: Mode,
        /// What waits for that; once it is approved, the same command may be run once.
        approval: RequestId,
    },
    /// It runs.
    Running(Execution),
}

/// Whether a command may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExecPermit {
    /// It may.
    Given {
        /// Whether it is held to reading.
        is_reading: bool,
    },
    /// The policy says no.
    Denied {
        /// Why not.
        reason: String,
        /// The mode that says so.
        mode: Mode,
    },
    /// It was asked for, and not approved.
    Refused {
        /// Why it was asked for.
        reason: String,
        /// The mode that asks.
        mode: Mode,
    },
}

/// How a command is really started.
struct Launch {
    argv: Vec<String>,
    cwd: PathBuf,
    /// Variables over the daemon's; none removes one.
    env: BTreeMap<String, Option<String>>,
    /// Whether it is held to reading, by a program of ours that becomes it.
    is_held: bool,
}

/// A command that was started.
struct Started {
    source: Source,
    stop_handle: StopHandle,
    process_handle: ProcessHandle,
    pid: u32,
    terminal: Option<TerminalId>,
}

impl Commands {
    /// Runs a command, if the mode lets it: that of its client, else the world's.
    ///
    /// # Errors
    /// `Invalid` if the request is wrong or its process runs already, `Busy` if too many run,
    /// `Closed` if the daemon is stopping, `Failed` if the command cannot be started.
    pub async fn run(&self, request: ExecRequest) -> Result<ExecStart> {
        request.check()?;
        let (judgement, mode) = self.judge_exec(&request);
        let reason = judgement.reason.clone();
        match judgement.verdict {
            Verdict::Deny => return Ok(ExecStart::Denied { reason, mode }),
            Verdict::Ask => {
                if let Permission::Asked(approval) =
                    self.exec_permission(&request, &judgement).await?
                {
                    return Ok(ExecStart::NeedsApproval { reason, mode, approval });
                }
            }
            Verdict::Allow | Verdict::AutoApprove => {}
        }
        self.run_permitted(request, judgement.is_read_only()).await.map(ExecStart::Running)
    }

    /// What the policy says to a command, in which mode. What needs no approval is recorded.
    fn judge_exec(&self, request: &ExecRequest) -> (Judgement, Mode) {
        let mode = self.core.threads().mode_for(request.owner, request.thread);
        let agents = &self.core.inner.agents;
        let profile = agents.profile();
        let is_held = request.runner.as_ref().is_none_or(|runner| !runner.is_elsewhere);
        let (tool, argv, env) = (request.words.tool, &request.command, &request.env);
        let judgement = match is_held {
            true => agents.judge_argv(tool, argv, env, mode, profile),
            false => agents.judge_argv_unheld(tool, argv, env, mode, profile),
        };
        if judgement.verdict != Verdict::Ask {
            self.record_exec(request, &judgement);
        }
        (judgement, mode)
    }

    /// Whether a command may run, for one who waits for the answer if it has to be asked for.
    ///
    /// # Errors
    /// `Invalid` if the request is wrong, `Closed` if the daemon is stopping.
    pub(crate) async fn permit(&self, request: &ExecRequest) -> Result<ExecPermit> {
        request.check()?;
        let (judgement, mode) = self.judge_exec(request);
        let reason = judgement.reason.clone();
        let is_reading = judgement.is_read_only();
        match judgement.verdict {
            Verdict::Deny => Ok(ExecPermit::Denied { reason, mode }),
            Verdict::Ask if !self.ask_exec(request, &judgement).await? => {
                Ok(ExecPermit::Refused { reason, mode })
            }
            Verdict::Allow | Verdict::AutoApprove | Verdict::Ask => {
                Ok(ExecPermit::Given { is_reading })
            }
        }
    }

    /// Runs a command that may run.
    ///
    /// # Errors
    /// As for [`Commands::run`].
    pub(crate) async fn run_permitted(
        &self,
        request: ExecRequest,
        is_reading: bool,
    ) -> Result<Execution> {
        if self.core.inner.agents.is_draining() {
            return Err(Error::closed("the server is shutting down and runs no new commands"));
        }
        let launch = self.command_launch(&request, is_reading);
        let asked = request.process_id.clone().filter(|id| !id.is_empty());
        let seat = self.core.inner.commands.reserve(asked.unwrap_or_else(new_id))?;
        let core = self.core.clone();
        // A task of its own: a caller that gives up in the middle leaves nothing half started.
        let starting =
            tokio::spawn(async move { core.commands().begin_command(request, launch, seat).await });
        starting.await.map_err(|error| Error::failed(error.to_string()))?
    }

    /// How the terminal of a command that may run is opened.
    ///
    /// # Errors
    /// If its program is not there.
    pub(crate) async fn permitted_terminal(
        &self,
        request: &ExecRequest,
        is_reading: bool,
    ) -> Result<OpenTerminal> {
        let launch = self.command_launch(request, is_reading);
        if launch.is_held {
            self.check_program(&request.command, &launch).await?;
        }
        Ok(terminal_request(launch, request))
    }

    fn command_launch(&self, request: &ExecRequest, is_reading: bool) -> Launch {
        let agents = &self.core.inner.agents;
        let withheld = self.core.threads().withheld().into_iter().map(|name| (name, None));
        let mut env: BTreeMap<String, Option<String>> = withheld.collect();
        if is_reading {
            env.extend(sandbox::quiet_env().into_iter().map(|(name, value)| (name, Some(value))));
        }
        env.extend(request.env.iter().cloned());
        let argv = request.command.clone();
        let cwd = request.cwd.clone().unwrap_or_else(|| agents.config.cwd.clone());
        let fence = agents.sandbox(&self.core.inner.config.home, &[&cwd]).filter(|_| is_reading);
        let (argv, is_held) = match fence {
            Some(fence) => (fence(argv), true),
            None => (argv, false),
        };
        Launch { argv, cwd, env, is_held }
    }

    async fn begin_command(
        &self,
        request: ExecRequest,
        launch: Launch,
        seat: Seat,
    ) -> Result<Execution> {
        let cwd = launch.cwd.clone();
        if launch.is_held {
            self.check_program(&request.command, &launch).await?;
        }
        let window = match request.thread.filter(|_| !launch.is_held) {
            Some(_) => self.core.file_changes().watch(&cwd).await,
            None => None,
        };
        let by = request.thread.map(|thread| ObservedBy {
            thread,
            turn: None,
            call: seat.id().to_owned(),
            item: None,
            tool: request.words.tool.to_owned(),
        });
        let started_at = clock::wall();
        let started = Instant::now();
        let begun = match request.tty {
            true => self.begin_in_terminal(launch, &request).await?,
            false => self.begin_on_pipes(launch, request.stdin).await?,
        };
        let view = ProcessView {
            process_id: seat.id().to_owned(),
            owner: request.owner,
            command: request.command,
            cwd,
            pid: begun.pid,
            started_at,
            state: ProcessState::Running,
            ended_at: None,
            tty: request.tty,
            terminal: begun.terminal,
        };
        let streams = request.streams || request.tty;
        let process = Arc::new(Process::new(view.clone(), begun.process_handle, streams));
        seat.fill(Arc::clone(&process));
        if self.core.inner.agents.is_draining() {
            // Begun meanwhile: who ends all that run may not have seen this one.
            process.stop();
        }
        let (sender, chunks) = mpsc::channel(MAX_CHUNKS);
        let (says_end, end) = oneshot::channel();
        let abandoned = CancellationToken::new();
        let alive = abandoned.clone().drop_guard();
        let sink = self.command_sink(streams, request.cap, request.shows, sender);
        let run = Run {
            core: self.core.clone(),
            process,
            source: begun.source,
            stop_handle: begun.stop_handle,
            sink,
            started,
            timeout: request.timeout,
            watched: window.zip(by),
            abandoned,
            end: says_end,
        };
        tokio::spawn(run.run());
        Ok(Execution { view, chunks, end, alive })
    }

    fn command_sink(
        &self,
        streams: bool,
        cap: Option<usize>,
        shows: Option<Shows>,
        chunks: mpsc::Sender<ExecChunk>,
    ) -> Sink {
        if streams {
            return Sink::Streamed { chunks, stdout: Meter::new(cap), stderr: Meter::new(cap) };
        }
        let artifacts = self.core.inner.agents.config.artifacts.clone();
        let capture = |artifacts| Box::new(Capture::new(cap, artifacts));
        Sink::Kept { stdout: capture(artifacts.clone()), stderr: capture(artifacts), shows }
    }

    /// The fence is always there to be started; what is behind it may not be.
    async fn check_program(&self, command: &[String], launch: &Launch) -> Result<()> {
        let program = command.first().map(OsString::from).unwrap_or_default();
        let path = self.command_env(launch).remove(OsStr::new("PATH"));
        let (name, cwd) = (program.clone(), launch.cwd.clone());
        let looked = tokio::task::spawn_blocking(move || {
            if !cwd.is_dir() {
                return Err(format!("{} is not a directory", cwd.display()));
            }
            let found = find_program(&name, path.as_deref(), &cwd);
            found.map(drop).ok_or_else(|| "no such program".to_owned())
        });
        let looked = looked.await.map_err(|error| Error::failed(error.to_string()))?;
        looked.map_err(|reason| {
            Error::failed(format!("cannot start {}: {reason}", program.to_string_lossy()))
        })
    }

    /// All variables that a command on pipes gets.
    fn command_env(&self, launch: &Launch) -> BTreeMap<OsString, OsString> {
        let mut env: BTreeMap<OsString, OsString> =
            self.core.inner.config.env.iter().cloned().collect();
        for (name, value) in &launch.env {
            match value {
                Some(value) => env.insert(name.into(), value.into()),
                None => env.remove(OsStr::new(name)),
            };
        }
        env
    }

    async fn begin_on_pipes(&self, launch: Launch, has_input: bool) -> Result<Started> {
        let command = ProgramCommand {
            env: self.command_env(&launch).into_iter().collect(),
            argv: launch.argv.into_iter().map(OsString::from).collect(),
            cwd: launch.cwd,
            has_input,
        };
        let program = Program::start(command).await.map_err(Error::failed)?;
        let control = program.control();
        Ok(Started {
            pid: control.pid(),
            source: Source::Pipes(program),
            stop_handle: StopHandle::Pipes(control.clone()),
            process_handle: ProcessHandle::Pipes { control, has_input },
            terminal: None,
        })
    }

    async fn begin_in_terminal(&self, launch: Launch, asked: &ExecRequest) -> Result<Started> {
        let (tap, tapped) = mpsc::channel(MAX_TAPPED);
        let request = OpenTerminal { tap: Some(tap), ..terminal_request(launch, asked) };
        let opened = self.core.terminals().open(request).await?;
        let handle = self.core.terminals().get(opened.id)?;
        Ok(Started {
            pid: handle.pid(),
            source: Source::Terminal { tap: tapped, progress: handle.progress() },
            stop_handle: StopHandle::Terminal(handle),
            process_handle: ProcessHandle::Terminal(opened.id),
            terminal: Some(opened.id),
        })
    }
}

/// The terminal that a command is run in.
fn terminal_request(launch: Launch, asked: &ExecRequest) -> OpenTerminal {
    let title = asked.command.join(" ");
    let title: String = title.chars().filter(|char| !char.is_control()).take(MAX_TITLE).collect();
    let (set, removed): (Vec<_>, Vec<_>) =
        launch.env.into_iter().partition(|(_, value)| value.is_some());
    let set = set.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let tag = (ProcessTag::VARIABLE.to_owned(), ProcessTag::fresh().value().to_owned());
    OpenTerminal {
        argv: launch.argv,
        cwd: Some(launch.cwd),
        env: set.chain(std::iter::once(tag)).collect(),
        env_remove: removed.into_iter().map(|(name, _)| name).collect(),
        size: asked.size.unwrap_or(Size::DEFAULT),
        first_title: Some(title).filter(|title| !title.trim().is_empty()),
        on_exit: OnExit::Keep,
        ..OpenTerminal::default()
    }
}

/// A name for a process without one.
fn new_id() -> String {
    format!("proc_{}", RequestId::new(uuid::Uuid::now_v7().as_u128()))
}
