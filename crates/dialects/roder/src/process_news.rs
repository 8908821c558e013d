//! Tells a client what happens to the processes that it watches: how two looks at them differ, what they
//! write, and which of them are asked to end.
//!
//! Whatever a process wrote comes between its start and its end. One that writes faster than its client
//! reads loses the beginning of it, and says how much.

use std::collections::HashMap;

use futures_util::FutureExt as _;
use rookery_core::{
    Changes, News, Notice, NoticeBody, ProcessStopping as Asked, ProgramName, Shows, Subscription,
    TaskChange, TaskOutput, Topics,
};
use rookery_model as model;
use rookery_wire::Rejected;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use crate::context::Cx;
use crate::fit;
use crate::processes;
use crate::show;
use crate::wire::exec::OutputStream;
use crate::wire::notification::name;
use crate::wire::process::{
    Process, ProcessExited, ProcessFailed, ProcessOrigin, ProcessOutput, ProcessStarted,
    ProcessState, ProcessStatus, ProcessStopped, ProcessStopping, ProcessesUpdated,
};

/// The notifications of processes.
pub(crate) const KINDS: [&str; 7] = [
    name::PROCESS_STARTED,
    name::PROCESS_OUTPUT,
    name::PROCESS_EXITED,
    name::PROCESS_STOPPING,
    name::PROCESS_STOPPED,
    name::PROCESS_FAILED,
    name::PROCESSES_UPDATED,
];

/// What a connection that cannot keep up is cut off with.
const TOO_SLOW: &str = "the client does not read its notifications";

/// From now on the client hears of processes, of this one only if it is given. Gives all that it hears of.
pub(crate) fn subscribe(cx: &Cx, only: Option<&str>) -> Vec<Process> {
    let shows = [Shows::Commands, Shows::Tasks, Shows::Terminals, Shows::Output];
    // Before the first look, so that nothing happens between it and the next.
    let changes = cx.core.log().changes(&shows);
    let reader = cx.core.log().subscribe(Topics::NOTICES, None);
    let begins = cx.client.begins_to_watch_processes(only);
    let all = processes::all(cx, true);
    let watched: Vec<Process> =
        all.iter().filter(|one| cx.client.watches_process(&one.process_id)).cloned().collect();
    if let Some(flushes) = begins {
        let mut follower = Follower {
            cx: cx.clone(),
            reader,
            known: HashMap::new(),
            reported: watched.clone(),
            written: HashMap::new(),
            reasons: HashMap::new(),
        };
        for process in all {
            follower.written.insert(process.process_id.clone(), follower.total(&process));
            follower.known.insert(process.process_id.clone(), process);
        }
        tokio::spawn(follower.follow(changes, flushes));
    }
    watched
}

/// What one client knows of processes.
struct Follower {
    cx: Cx,
    reader: Subscription,
    /// All there are, watched or not, as they were seen last.
    known: HashMap<String, Process>,
    /// Those that the client was shown last.
    reported: Vec<Process>,
    /// How much of what commands wrote is behind us, in bytes.
    written: HashMap<String, u64>,
    /// Why those were asked to end that were.
    reasons: HashMap<String, Option<String>>,
}

/// Nothing more can be said.
struct Over;

impl From<Rejected> for Over {
    fn from(_: Rejected) -> Over {
        Over
    }
}

impl Follower {
    async fn follow(
        mut self,
        mut changes: Changes,
        mut flushes: mpsc::Receiver<oneshot::Sender<()>>,
    ) {
        let outbox = self.cx.connection.outbox().clone();
        loop {
            let mut done = None;
            let news = tokio::select! {
                changed = changes.next() => match changed {
                    // However fast a program prints, processes are not listed for it each time.
                    Ok(shows) if shows == [Shows::Output] => self.outputs().await,
                    Ok(_) => self.look().await,
                    Err(_) => Err(Over),
                },
                batch = self.reader.next() => match batch {
                    Ok(batch) => self.hear(&batch).await,
                    Err(error) => self.end(&error),
                },
                Some(asked) = flushes.recv() => {
                    done = Some(asked);
                    self.look().await
                }
                () = outbox.cancelled() => Err(Over),
            };
            if let Some(done) = done {
                let _ = done.send(());
            }
            if news.is_err() {
                return;
            }
        }
    }

    fn end(&self, error: &model::Error) -> Result<(), Over> {
        if error.kind() == model::ErrorKind::Busy {
            self.cx.connection.close(TOO_SLOW);
        }
        Err(Over)
    }

    /// Compares what there is with what there was.
    async fn look(&mut self) -> Result<(), Over> {
        let now = processes::all(&self.cx, true);
        for process in &now {
            self.begin(process).await?;
        }
        // What was said before the end that may be seen now.
        while let Some(batch) = self.reader.next().now_or_never() {
            match batch {
                Ok(batch) => self.hear(&batch).await?,
                Err(error) => return self.end(&error),
            }
        }
        self.outputs().await?;
        for process in &now {
            let was = self.known.insert(process.process_id.clone(), process.clone());
            let was_running = was.is_some_and(|was| was.state == ProcessState::Running);
            if was_running && process.state != ProcessState::Running {
                self.over(process).await?;
            }
        }
        self.forget(&now).await?;
        let watched = |one: &&Process| self.cx.client.watches_process(&one.process_id);
        let watched: Vec<Process> = now.iter().filter(watched).cloned().collect();
        if watched != self.reported {
            self.reported.clone_from(&watched);
            self.send(name::PROCESSES_UPDATED, &ProcessesUpdated { processes: watched }).await?;
        }
        Ok(())
    }

    /// Says that a process began, unless that was said.
    async fn begin(&mut self, process: &Process) -> Result<(), Over> {
        let id = &process.process_id;
        if let Some(known) = self.known.get(id) {
            let was_running = known.state == ProcessState::Running;
            let is_running = process.state == ProcessState::Running;
            if known.started_at == process.started_at && (was_running || !is_running) {
                return Ok(());
            }
            if was_running {
                let unseen = unseen(known);
                self.over(&unseen).await?;
            }
        }
        let first = Process {
            state: ProcessState::Running,
            status: ProcessStatus::Running,
            stoppable: true,
            exit_code: None,
            updated_at: process.started_at.clone(),
            completed_at: None,
            ..process.clone()
        };
        self.written.insert(id.clone(), 0);
        self.known.insert(id.clone(), first.clone());
        let timestamp = process.started_at.clone();
        self.notify_watcher(
            id,
            name::PROCESS_STARTED,
            &ProcessStarted { process: first, timestamp },
        )
        .await
    }

    /// Forgets those that are in no list any more.
    async fn forget(&mut self, now: &[Process]) -> Result<(), Over> {
        let is_there = |id: &str| now.iter().any(|one| one.process_id == id);
        let gone: Vec<String> = self.known.keys().filter(|id| !is_there(id)).cloned().collect();
        for id in gone {
            if let Some(known) = self.known.remove(&id)
                && known.state == ProcessState::Running
            {
                self.over(&unseen(&known)).await?;
            }
            self.written.remove(&id);
        }
        Ok(())
    }

    /// Says how a process ended.
    async fn over(&mut self, process: &Process) -> Result<(), Over> {
        let (id, process) = (process.process_id.clone(), process.clone());
        let reason = self.reasons.remove(&id).flatten();
        let timestamp = process.completed_at.clone().unwrap_or_else(|| process.updated_at.clone());
        match process.state.clone() {
            ProcessState::Running => Ok(()),
            ProcessState::Exited { exit_code } => {
                let exited = ProcessExited { process, exit_code, timestamp };
                self.notify_watcher(&id, name::PROCESS_EXITED, &exited).await
            }
            ProcessState::Stopped => {
                let stopped = ProcessStopped { process, reason, timestamp };
                self.notify_watcher(&id, name::PROCESS_STOPPED, &stopped).await
            }
            ProcessState::Failed { error } => {
                let failed = ProcessFailed { process, error, timestamp };
                self.notify_watcher(&id, name::PROCESS_FAILED, &failed).await
            }
        }
    }

    async fn hear(&mut self, batch: &[News]) -> Result<(), Over> {
        for notice in batch.iter().filter_map(News::notice) {
            if let NoticeBody::Stopping(asked) = &notice.body {
                self.stopping(notice, asked).await?;
            } else if let NoticeBody::Task(TaskChange::Output(written)) = &notice.body {
                self.task_output(notice, written).await?;
            }
        }
        Ok(())
    }

    async fn stopping(&mut self, notice: &Notice, asked: &Asked) -> Result<(), Over> {
        let id = match &asked.program {
            ProgramName::Command(id) | ProgramName::AtRunner(id) => id.clone(),
            ProgramName::Task(id) => id.to_string(),
            ProgramName::Terminal(id) => processes::terminal_name(*id),
        };
        if !self.is_running(&id).await? {
            return Ok(());
        }
        let reason = asked.reason.clone();
        self.reasons.insert(id.clone(), reason.clone());
        let timestamp = show::time(notice.at);
        let stopping = ProcessStopping { process_id: id.clone(), reason, timestamp };
        self.notify_watcher(&id, name::PROCESS_STOPPING, &stopping).await
    }

    async fn task_output(&mut self, notice: &Notice, written: &TaskOutput) -> Result<(), Over> {
        let id = written.task.to_string();
        if !self.cx.client.watches_process(&id) || !self.is_running(&id).await? {
            return Ok(());
        }
        let output = ProcessOutput {
            process_id: id.clone(),
            stream: processes::stream(written.chunk.stream),
            chunk: written.chunk.text.clone(),
            dropped_bytes: written.dropped,
            thread_id: written.thread.map(|id| id.to_string()),
            turn_id: written.turn.map(|id| id.to_string()),
            timestamp: show::time(notice.at),
        };
        self.notify_watcher(&id, name::PROCESS_OUTPUT, &output).await
    }

    /// Whether a process has begun and its end was not told. One that is not known yet begins here.
    async fn is_running(&mut self, id: &str) -> Result<bool, Over> {
        if !self.known.contains_key(id)
            && let Some(process) = processes::find(&self.cx, id)
        {
            self.begin(&process).await?;
        }
        Ok(self.known.get(id).is_some_and(|known| known.state == ProcessState::Running))
    }

    /// Says what commands of clients have written since the last time.
    async fn outputs(&mut self) -> Result<(), Over> {
        let is_command = |one: &&Process| {
            one.origin == ProcessOrigin::CommandExec && one.state == ProcessState::Running
        };
        let ids = self.known.values().filter(is_command).map(|one| one.process_id.clone());
        for id in ids.collect::<Vec<_>>() {
            let from = self.written.get(&id).copied().unwrap_or(0);
            let Ok(found) = self.cx.core.commands().output_since(&id, from) else { continue };
            // A command that only bears the name of one that ended has its own beginning told first.
            let is_known = self
                .known
                .get(&id)
                .is_some_and(|known| known.started_at == show::time(found.view.started_at));
            if found.total <= from || !is_known {
                continue;
            }
            let is_over = found.view.state != rookery_core::ProcessState::Running;
            let partial = if is_over { 0 } else { partial_end(&found.output) };
            let whole = &found.output[..found.output.len() - partial];
            self.written.insert(id.clone(), found.total - partial as u64);
            if whole.is_empty() {
                continue;
            }
            let output = ProcessOutput {
                process_id: id.clone(),
                stream: OutputStream::Stdout,
                chunk: String::from_utf8_lossy(whole).into_owned(),
                dropped_bytes: (found.total - from).saturating_sub(found.output.len() as u64),
                thread_id: None,
                turn_id: None,
                timestamp: show::time(found.at),
            };
            self.notify_watcher(&id, name::PROCESS_OUTPUT, &output).await?;
        }
        Ok(())
    }

    /// How much a command has written.
    fn total(&self, process: &Process) -> u64 {
        let found = self.cx.core.commands().output_since(&process.process_id, u64::MAX);
        found.map_or(0, |found| found.total)
    }

    /// Tells of one process, if the client watches it.
    async fn notify_watcher(
        &self,
        id: &str,
        name: &str,
        params: &impl Serialize,
    ) -> Result<(), Over> {
        match self.cx.client.watches_process(id) {
            true => self.send(name, params).await,
            false => Ok(()),
        }
    }

    async fn send(&self, name: &str, params: &impl Serialize) -> Result<(), Over> {
        if self.cx.client.preferences().unwanted.contains(name) {
            return Ok(());
        }
        match fit::notification(name, params) {
            Ok(body) => Ok(self.cx.connection.outbox().send(body).await?),
            Err(error) => {
                tracing::error!(%error, name, "a notification cannot be written");
                Ok(())
            }
        }
    }
}

/// A process that is gone without a trace of how it ended.
fn unseen(process: &Process) -> Process {
    let state = ProcessState::Exited { exit_code: None };
    Process { state, status: ProcessStatus::Failed, stoppable: false, ..process.clone() }
}

/// How many bytes at the end begin a character that is not whole yet.
fn partial_end(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    // What is no beginning of a character stays wrong whatever follows.
    let begins = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if begins { last.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_become_a_character_is_kept_back() {
        let cases: [(&[u8], usize); 7] = [
            (b"", 0),
            (b"abc", 0),
            ("\u{e9}".as_bytes(), 0),
            (b"a\xc3", 1),
            (b"a\xf0\x9f\x98", 3),
            (b"a\xff", 0),
            (b"\xc3(", 0),
        ];
        for (bytes, partial) in cases {
            assert_eq!(partial_end(bytes), partial, "{bytes:?}");
        }
    }
}
