//! New threads.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use rookery_agent::providers::Loan;
use rookery_model::{
    Assignment, ChildOf, Choice, Error, Event, ExternalTool, Mode, Result, Thread, ThreadId, Usage,
};

use super::live::LiveThread;
use super::{Status, ThreadState, ThreadView};
use crate::agents::choose::FittedChoice;
use crate::clock;
use crate::log::{NoticeBody, ThreadChange};
use crate::rooms::Threads;
use crate::runners::RunnerUse;

/// What a new thread shall be.
#[derive(Clone, Debug, Default)]
pub struct NewThread {
    /// Its id, if the client has drawn one; it must be unused.
    pub id: Option<ThreadId>,
    /// Its working directory; absolute, and there.
    pub cwd: PathBuf,
    /// The directory its tools may work in; `cwd` if none is named.
    pub root: Option<PathBuf>,
    /// The workspace and the root of it that were selected, by their ids.
    pub place: Option<(String, String)>,
    /// Which model answers; what is empty is filled in.
    pub choice: Choice,
    /// What that is filled in with; the choice of new threads if there is none.
    pub usual: Option<Choice>,
    /// Whether it is kept in memory only.
    pub ephemeral: bool,
    pub name: Option<String>,
    /// The tools it may use.
    pub tool_allowlist: Option<Vec<String>>,
    /// What its developer tells the model.
    pub developer_instructions: Option<String>,
    /// Tools that the client runs.
    pub external_tools: Vec<ExternalTool>,
    /// Its own mode; without one it has the world's.
    pub mode: Option<Mode>,
    /// What its client sets for it, if it is driven as a piece of work.
    pub assignment: Option<Assignment>,
    /// Where its tools run.
    pub runner: RunnerUse,
    /// The connection of the client that starts it: what it needs for that is judged in its mode.
    pub client: u64,
    /// What makes it a child agent.
    pub child: Option<ChildOf>,
    /// Keys that the client lends, by which a provider tells its models.
    pub keys: Vec<Loan>,
}

impl Threads {
    /// Starts a thread.
    ///
    /// # Errors
    /// If a part of the request is wrong; nothing has happened then.
    pub fn start(&self, new: NewThread) -> BoxFuture<'_, Result<ThreadView>> {
        Box::pin(self.start_inner(new))
    }

    async fn start_inner(&self, new: NewThread) -> Result<ThreadView> {
        if !new.cwd.is_absolute() {
            return Err(Error::invalid("cwd", "cwd must be absolute"));
        }
        let cwd = new.cwd.clone();
        let is_dir = tokio::task::spawn_blocking(move || cwd.is_dir()).await.unwrap_or(false);
        if !is_dir {
            let message = format!("cwd is not a directory: {}", new.cwd.display());
            return Err(Error::invalid("cwd", message));
        }
        if new.tool_allowlist.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::invalid("tool_allowlist", "tool_allowlist must not be empty"));
        }
        let usual = new.usual.unwrap_or_else(|| self.core.agents().default_choice());
        let FittedChoice { choice, warning } =
            self.core.agents().fit_choice(new.choice, &usual, &new.keys).await?;
        let now = clock::wall();
        let thread = Thread {
            id: new.id.unwrap_or_else(|| ThreadId::new(uuid::Uuid::now_v7().as_u128())),
            created_at: now,
            updated_at: now,
            name: new.name.filter(|name| !name.trim().is_empty()),
            preview: String::new(),
            choice,
            root: new.root.unwrap_or_else(|| new.cwd.clone()),
            cwd: new.cwd,
            ephemeral: new.ephemeral,
            archived: false,
            mode: new.mode,
            tool_allowlist: new.tool_allowlist,
            developer_instructions: new.developer_instructions,
            external_tools: new.external_tools,
            parent: None,
            usage: Usage::default(),
            message_count: 0,
            goal: None,
            plan: Vec::new(),
            ledger: Vec::new(),
            seq_reserved: 0,
            place: new.place,
            retired: Vec::new(),
            assignment: new.assignment.map(Box::new),
            runner: None,
            child: new.child.map(Box::new),
        };
        let started = self.add_bound(thread, (new.runner, new.client)).await?;
        if let Some(warning) = warning {
            self.core.log().warn(Some(started.thread.id), warning);
        }
        Ok(started)
    }

    /// Puts a new thread into the world, at the runner that was chosen for it. If that fails, nothing is
    /// left of what was made there.
    fn add_bound(
        &self,
        thread: Thread,
        wanted: (RunnerUse, u64),
    ) -> BoxFuture<'_, Result<ThreadView>> {
        Box::pin(self.add_bound_inner(thread, wanted))
    }

    async fn add_bound_inner(
        &self,
        mut thread: Thread,
        wanted: (RunnerUse, u64),
    ) -> Result<ThreadView> {
        let runners = self.core.runners();
        let Some(bound) = runners.bind(thread.id, wanted, &thread.cwd).await? else {
            return self.add(thread, LiveThread::new).await;
        };
        if let Some(cwd) = bound.cwd {
            (thread.cwd, thread.root) = (cwd, bound.root);
        }
        let destination = bound.binding.destination.clone();
        thread.runner = Some(Box::new(bound.binding));
        let added = self.add(thread, LiveThread::new).await;
        if added.is_err() && bound.is_new {
            runners.abandon(&destination).await;
        }
        added
    }

    /// Puts a thread into the world with what was said in it.
    pub(super) async fn add(
        &self,
        thread: Thread,
        contents: impl FnOnce(ThreadId) -> LiveThread,
    ) -> Result<ThreadView> {
        let id = thread.id;
        let live = Arc::new(contents(id));
        self.core
            .transact_durably(|tx| {
                if tx.world.threads.contains_key(&id) {
                    return Err(Error::conflict("there is a thread with this id already"));
                }
                self.core.inner.threads.live_threads.insert(&live);
                let inner = Arc::clone(&self.core.inner);
                tx.undo().push(move || inner.threads.live_threads.remove(id));
                tx.world.threads.insert(id, ThreadState::new(thread.clone()));
                tx.save_thread(id);
                for turn in &live.read().turns {
                    tx.save_turn(turn);
                }
                for placed in &live.read().items {
                    tx.save_item(id, placed.turn, placed.position, &placed.item);
                }
                let traces = live.read().traces.clone();
                for trace in &traces {
                    tx.save_trace(&live, trace);
                }
                tx.emit_of(id, Event::ThreadStarted { id });
                let started = NoticeBody::Thread(ThreadChange::Started(
                    Box::new(thread.clone()),
                    Status::default(),
                ));
                tx.announce(id, started);
                Ok(())
            })
            .await?;
        self.release_unused();
        Ok(ThreadView {
            thread,
            status: Status::default(),
            interrupted_at: None,
            turns: None,
            unreadable: 0,
            queued: Vec::new(),
        })
    }
}
