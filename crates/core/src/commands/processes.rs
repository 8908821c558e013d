//! The table of all commands that run, and of those that ended lately.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rookery_model::{Error, Result, Size, Timestamp};

use super::process::{Process, ProcessOutput, ProcessState, ProcessView};
use crate::log::{ProcessStopping, ProgramName, Shows, Signalled, Signals};
use crate::rooms::Commands;

/// How many may run at once.
const MAX_RUNNING: usize = 256;
/// How many that ended are remembered.
const MAX_ENDED: usize = 256;
/// How long one that is stopped may take to be gone.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// All processes.
pub(crate) struct Room {
    table: Signalled<Table>,
    signals: Signals,
}

impl Room {
    pub(crate) fn new(signals: &Signals) -> Room {
        let table = Signalled::new(Table::default(), Shows::Commands, signals);
        Room { table, signals: signals.clone() }
    }
}

#[derive(Default)]
struct Table {
    /// By name; one that is being started is not there yet, but its name is taken.
    running: HashMap<String, Option<Arc<Process>>>,
    /// The oldest first.
    ended: VecDeque<Arc<Process>>,
}

/// A name that is taken, and given back unless its process comes to be.
pub(super) struct Seat {
    processes: Arc<Room>,
    id: String,
}

impl Seat {
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Puts a process on it.
    pub(super) fn fill(self, process: Arc<Process>) {
        self.processes.table.lock().running.insert(self.id.clone(), Some(process));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut table = self.processes.table.lock_quietly();
        if matches!(table.running.get(&self.id), Some(None)) {
            table.running.remove(&self.id);
        }
    }
}

impl Room {
    /// Takes a name.
    pub(super) fn reserve(self: &Arc<Self>, id: String) -> Result<Seat> {
        let mut table = self.table.lock_quietly();
        if table.running.contains_key(&id) {
            return Err(Error::invalid("process_id", "process_id already running"));
        }
        if table.running.len() >= MAX_RUNNING {
            return Err(Error::busy(format!("{MAX_RUNNING} commands run already")));
        }
        table.running.insert(id.clone(), None);
        Ok(Seat { processes: Arc::clone(self), id })
    }

    /// Remembers the end of what a process wrote.
    pub(super) fn wrote(&self, process: &Process, bytes: &[u8]) {
        process.wrote(bytes);
        self.signals.raise(Shows::Output);
    }

    /// Makes a process one of those that ended.
    pub(super) fn end(&self, process: &Arc<Process>, state: ProcessState, at: Timestamp) {
        let mut table = self.table.lock();
        // Within the lock: who finds it among either finds it as it belongs there.
        process.end(state, at);
        table.running.remove(process.id());
        table.ended.retain(|known| known.id() != process.id());
        table.ended.push_back(Arc::clone(process));
        while table.ended.len() > MAX_ENDED {
            table.ended.pop_front();
        }
        drop(table);
    }

    fn running(&self, id: &str) -> Result<Arc<Process>> {
        let process = self.table.lock().running.get(id).cloned().flatten();
        process.ok_or_else(|| unknown(id))
    }

    /// One that this connection drives; those of others are as good as unknown to it.
    fn driven(&self, id: &str, by: u64) -> Result<Arc<Process>> {
        self.running(id).and_then(|process| match process.is_driven_by(by) {
            true => Ok(process),
            false => Err(unknown(id)),
        })
    }

    fn find(&self, id: &str) -> Result<Arc<Process>> {
        self.running(id).or_else(|error| {
            let table = self.table.lock();
            let ended = table.ended.iter().rev().find(|process| process.id() == id);
            ended.cloned().ok_or(error)
        })
    }

    fn all_running(&self) -> Vec<Arc<Process>> {
        self.table.lock().running.values().flatten().cloned().collect()
    }
}

fn unknown(id: &str) -> Error {
    // A name may be as long as a client likes.
    let shown: String = id.chars().take(64).collect();
    Error::not_found(format!("unknown process_id: {shown}"))
}

impl Commands {
    /// Writes to the input of a process, and ends that input if asked to.
    ///
    /// # Errors
    /// If no such process runs for this connection, or it takes no input.
    pub async fn write(&self, by: u64, id: &str, bytes: &[u8], close: bool) -> Result<()> {
        self.core.inner.commands.driven(id, by)?.write(&self.core, bytes, close).await
    }

    /// Gives the terminal of a process another size.
    ///
    /// # Errors
    /// If no such process runs for this connection, or it has no terminal.
    pub async fn resize(&self, by: u64, id: &str, size: Size) -> Result<()> {
        self.core.inner.commands.driven(id, by)?.resize(&self.core, size).await
    }

    /// Has a process ended, without waiting for it.
    ///
    /// # Errors
    /// If no such process runs for this connection.
    pub fn terminate(&self, by: u64, id: &str) -> Result<()> {
        let process = self.core.inner.commands.driven(id, by)?;
        self.announce_stopping(&process, None);
        process.stop();
        Ok(())
    }

    /// Room that run, and those that ended lately if asked for; the oldest first.
    pub fn list(&self, includes_ended: bool) -> Vec<ProcessView> {
        let mut all = self.core.inner.commands.all_running();
        if includes_ended {
            let mut ended: Vec<Arc<Process>> =
                self.core.inner.commands.table.lock().ended.iter().cloned().collect();
            // One may have ended since those that run were listed.
            ended.retain(|process| !is_among(process, &all));
            all.append(&mut ended);
        }
        let mut views: Vec<ProcessView> = all.iter().map(|process| process.view()).collect();
        views.sort_by(|a, b| (a.started_at, &a.process_id).cmp(&(b.started_at, &b.process_id)));
        views
    }

    /// A process that runs or ended lately, and the last bytes of its output.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn get(&self, id: &str, output_bytes: usize) -> Result<ProcessOutput> {
        Ok(self.core.inner.commands.find(id)?.output(output_bytes))
    }

    /// What a process has written since that were this many bytes in all, as far as it is remembered.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn output_since(&self, id: &str, from: u64) -> Result<ProcessOutput> {
        Ok(self.core.inner.commands.find(id)?.output_since(from))
    }

    /// Ends a process and waits for that, for a reason if there is one. False if it had ended before.
    ///
    /// # Errors
    /// If there is none of that name.
    pub async fn stop(&self, id: &str, reason: Option<String>) -> Result<bool> {
        let process = self.core.inner.commands.find(id)?;
        let was_running = process.view().state == ProcessState::Running;
        if was_running {
            self.announce_stopping(&process, reason);
        }
        Ok(was_running && !stop_all(vec![process]).await.is_empty())
    }

    /// Ends all processes, waits for that, and names them.
    pub async fn stop_all(&self) -> Vec<String> {
        let all = self.core.inner.commands.all_running();
        all.iter().for_each(|process| self.announce_stopping(process, None));
        stop_all(all).await
    }

    /// Ends all processes that a connection asked for, waits for that, and names them.
    pub async fn stop_of(&self, owner: u64) -> Vec<String> {
        let mut all = self.core.inner.commands.all_running();
        all.retain(|process| process.owner() == owner);
        all.iter().for_each(|process| self.announce_stopping(process, None));
        stop_all(all).await
    }

    /// Said before it is done, so that nothing about its end comes first.
    fn announce_stopping(&self, process: &Process, reason: Option<String>) {
        let program = ProgramName::Command(process.id().to_owned());
        self.core.announce_stopping(ProcessStopping { program, reason });
    }
}

fn is_among(process: &Arc<Process>, all: &[Arc<Process>]) -> bool {
    all.iter().any(|known| Arc::ptr_eq(known, process))
}

/// Names those that are gone in time.
async fn stop_all(all: Vec<Arc<Process>>) -> Vec<String> {
    all.iter().for_each(|process| process.stop());
    let ends = futures_util::future::join_all(all.iter().map(|process| process.ended()));
    if tokio::time::timeout(STOP_LIMIT, ends).await.is_err() {
        tracing::warn!("commands that were stopped have not ended yet");
    }
    let is_over = |process: &&Arc<Process>| process.view().state != ProcessState::Running;
    let mut names: Vec<String> =
        all.iter().filter(is_over).map(|process| process.id().to_owned()).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use rookery_model::TerminalId;

    use super::super::process::ProcessHandle;
    use super::*;

    fn process(id: &str) -> Arc<Process> {
        let at = Timestamp::from_micros(1);
        let view = ProcessView {
            process_id: id.to_owned(),
            owner: 1,
            command: vec!["true".into()],
            cwd: "/".into(),
            pid: 1,
            started_at: at,
            state: ProcessState::Running,
            ended_at: None,
            tty: true,
            terminal: None,
        };
        Arc::new(Process::new(view, ProcessHandle::Terminal(TerminalId::new(1)), true))
    }

    #[test]
    fn names_are_taken_once_and_given_back() {
        let processes = Arc::new(Room::new(&Signals::default()));
        let seat = processes.reserve("a".into()).unwrap();
        let again = |processes: &Arc<Room>| processes.reserve("a".into()).err().unwrap();
        assert_eq!(again(&processes).message(), "process_id already running");
        drop(seat);
        let known = process("a");
        processes.reserve("a".into()).unwrap().fill(Arc::clone(&known));
        assert_eq!(again(&processes).field(), Some("process_id"));
        processes.end(&known, ProcessState::TimedOut, Timestamp::from_micros(2));
        assert!(processes.running("a").is_err());
        assert_eq!(processes.find("a").unwrap().view().state, ProcessState::TimedOut);
        assert!(processes.reserve("a".into()).is_ok());
        assert_eq!(processes.find("b").err().unwrap().message(), "unknown process_id: b");
    }

    #[test]
    fn what_streams_is_driven_by_its_own_connection() {
        let processes = Arc::new(Room::new(&Signals::default()));
        processes.reserve("a".into()).unwrap().fill(process("a"));
        assert!(processes.driven("a", 1).is_ok());
        let refused = processes.driven("a", 2).err().unwrap();
        assert_eq!(refused.message(), "unknown process_id: a");
        assert!(processes.find("a").is_ok());
    }

    #[test]
    fn running_and_remembered_ones_are_bounded() {
        let processes = Arc::new(Room::new(&Signals::default()));
        let seats: Vec<Seat> =
            (0..MAX_RUNNING).map(|id| processes.reserve(id.to_string()).unwrap()).collect();
        assert!(processes.reserve("more".into()).is_err());
        drop(seats);
        for id in 0..MAX_ENDED + 10 {
            let known = process(&id.to_string());
            processes.reserve(id.to_string()).unwrap().fill(Arc::clone(&known));
            processes.end(&known, ProcessState::Exited { code: 0 }, Timestamp::from_micros(2));
        }
        assert_eq!(processes.table.lock().ended.len(), MAX_ENDED);
        assert!(processes.find("9").is_err() && processes.find("10").is_ok());
    }

    #[test]
    fn the_end_of_the_output_is_remembered() {
        let known = process("a");
        known.wrote(b"hello ");
        known.wrote(b"world");
        let output = known.output(5);
        assert_eq!((output.output.as_slice(), output.total), (&b"world"[..], 11));
        known.wrote(&vec![b'x'; 200_000]);
        known.wrote(b"end");
        let output = known.output(usize::MAX);
        assert_eq!((output.output.len(), output.total), (64 << 10, 200_014));
        assert!(output.output.ends_with(b"xend"));
        let since = |from: u64| {
            let output = known.output_since(from);
            (output.output.len(), output.total)
        };
        assert_eq!(since(200_012), (2, 200_014));
        assert_eq!(since(0), (64 << 10, 200_014));
        assert_eq!((since(200_014), since(u64::MAX)), ((0, 200_014), (0, 200_014)));
    }
}
