//! What agents of threads with an assignment do by themselves: take another role, hand work on to a
//! thread of its own, and say that they are done.

use rookery_agent::tool::ToolOutput;
use rookery_agent::tools::{self, Delegation};
use rookery_agent::turn::{Message, ToolDone};
use rookery_model::{
    Assignment, Error, Item, ItemBody, ItemStatus, Result, Role, Thread, ThreadId, ToolKind, TurnId,
};
use serde_json::{Value, json};

use super::live::Contents;
use super::tools::{Job, tool_done};
use super::{NewThread, NewTurn};
use crate::clock;
use crate::log::ThreadChange;
use crate::rooms::Threads;
use crate::runners::RunnerUse;
use crate::world::World;

/// How often work may be handed on.
const DEEPEST: usize = 8;

impl Job {
    /// The agent is done.
    pub(super) fn completed(&self, arguments: Value) -> ToolOutput {
        match tools::completion(arguments) {
            Ok(result) => {
                let output = ToolOutput { text: result, ..ToolOutput::default() };
                self.core.inner.agents.registry.mask(output)
            }
            Err(reason) => ToolOutput::error(reason),
        }
    }

    /// The agent takes another role, if it may.
    pub(super) async fn switch_role(&self, thread: &Thread, arguments: Value) -> ToolDone {
        let role = match tools::role_switch(arguments) {
            Ok(slug) => self.role_of(thread, &slug).await,
            Err(reason) => Err(reason),
        };
        let role = match role {
            Ok(role) => role,
            Err(reason) => return tool_done(ToolOutput::error(reason)),
        };
        let permit = match self.permitted(ToolKind::Internal).await {
            Ok(permit) => permit,
            Err(refused) => return *refused,
        };
        self.announce_run();
        let output = match self.core.threads().take_role(self.thread, role.clone()).await {
            Ok(()) => {
                let text = format!("You work in the role {} ({}) now.", role.name, role.slug);
                ToolOutput::new(text, json!({ "role": role.slug }))
            }
            Err(error) => ToolOutput::error(error.to_string()),
        };
        ToolDone { output, approval: permit.approval, duration_ms: None }
    }

    /// The agent hands work on, if it may, and waits for what comes of it.
    pub(super) async fn hand_on(&self, thread: &Thread, arguments: Value) -> ToolDone {
        if let Some(child) = self.handed_on_before().await {
            self.turnstile.pass();
            return tool_done(self.result_of(child).await);
        }
        let Delegation { role, message } = match tools::delegation(arguments) {
            Ok(read) => read,
            Err(reason) => return tool_done(ToolOutput::error(reason)),
        };
        let role = match self.role_of(thread, &role).await {
            Ok(role) => role,
            Err(reason) => return tool_done(ToolOutput::error(reason)),
        };
        if self.core.look().depth(thread.id) >= DEEPEST {
            let text = format!("work was handed on {DEEPEST} times already: do this part yourself");
            return tool_done(ToolOutput::error(text));
        }
        let permit = match self.permitted(ToolKind::Internal).await {
            Ok(permit) => permit,
            Err(refused) => return *refused,
        };
        self.announce_run();
        let output = match self.delegate(thread, role, message).await {
            Ok(child) => self.result_of(child).await,
            Err(error) => ToolOutput::error(format!("the work was not handed on: {error}")),
        };
        ToolDone { output, approval: permit.approval, duration_ms: None }
    }

    /// The role of a slug: one that ships with us, of the workspace, of the user or of the client.
    async fn role_of(&self, thread: &Thread, slug: &str) -> std::result::Result<Role, String> {
        let extra = thread.assignment.as_deref().map_or(&[][..], |set| &set.roles);
        let found = self.core.agents().role(&thread.cwd, extra, slug).await;
        found.map_err(|error| error.to_string())
    }

    /// Starts a thread for a part of the work, and its first turn.
    async fn delegate(&self, thread: &Thread, role: Role, message: String) -> Result<ThreadId> {
        let threads = self.core.threads();
        let turn = self.turn.ok_or_else(|| Error::failed("there is no turn"))?;
        let settings = threads.turn(thread.id, turn).await?.map(|turn| turn.settings);
        let settings = settings.unwrap_or_default();
        let client = self.core.look().client_of(thread.id, turn);
        let set = thread.assignment.as_deref().cloned().unwrap_or_default();
        let assignment = Assignment { role: Some(role), lead: Some(thread.id), ..set };
        let id = ThreadId::new(uuid::Uuid::now_v7().as_u128());
        // First, so that a daemon that takes this up again finds what it waits for.
        self.note_child(id).await?;
        let new = NewThread {
            id: Some(id),
            cwd: thread.cwd.clone(),
            root: Some(thread.root.clone()),
            place: thread.place.clone(),
            choice: settings.choice,
            ephemeral: thread.ephemeral,
            tool_allowlist: thread.tool_allowlist.clone(),
            developer_instructions: thread.developer_instructions.clone(),
            external_tools: thread.external_tools.clone(),
            mode: thread.mode,
            assignment: Some(assignment),
            runner: RunnerUse::Like(thread.id),
            keys: self.keys.clone(),
            ..NewThread::default()
        };
        threads.start(new).await?;
        let left = self.deadline.map(|deadline| {
            let left = deadline.as_seconds().saturating_sub(clock::wall().as_seconds());
            u64::try_from(left).unwrap_or(0).max(1)
        });
        let first = NewTurn {
            message: Message { text: message, ..Message::default() },
            developer_context: settings.developer_context,
            allowed_tools: self.allowed.clone(),
            deadline_seconds: left,
            profile: Some(self.profile),
            must_be_new: true,
            client,
            keys: self.keys.clone(),
            ..NewTurn::default()
        };
        let started = threads.start_turn(id, first).await;
        if started.is_err() {
            // Nothing works in it, and nothing will.
            threads.delete(id).await?;
        }
        started.map(|_| id)
    }

    /// Notes in the item of the call which thread does the work.
    pub(super) async fn note_child(&self, child: ThreadId) -> Result<()> {
        let live = self.core.threads().live(self.thread).await?;
        self.core
            .transact_durably(|tx| {
                let found = live.read().tool(self.turn, &self.call_id).cloned();
                let Some(mut placed) = found else { return Ok(()) };
                if let ItemBody::Tool(tool) = &mut placed.item.body {
                    tool.data = Some(json!({ "thread": child.to_string() }).to_string());
                }
                let position = tx.edit(&live).put(placed.turn, &mut placed.item);
                tx.save_item(self.thread, placed.turn, position, &placed.item);
                Ok(())
            })
            .await
    }

    /// The thread that this call handed work on to before a restart.
    pub(super) async fn handed_on_before(&self) -> Option<ThreadId> {
        let live = self.core.threads().live(self.thread).await.ok()?;
        let contents = live.read();
        child_of(&contents.tool(self.turn, &self.call_id)?.item)
    }
}

impl Threads {
    /// What came of a turn: the result that its agent gave, else the last thing it said.
    ///
    /// # Errors
    /// If there is no such thread.
    pub async fn result(&self, id: ThreadId, turn: TurnId) -> Result<Option<String>> {
        let live = self.live(id).await?;
        let contents = live.read();
        Ok(result(&contents, turn))
    }

    /// The agent of a thread works in another role from now on.
    async fn take_role(&self, id: ThreadId, role: Role) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                let state = tx.world.thread_mut(id)?;
                let Some(assignment) = &mut state.thread.assignment else {
                    return Err(Error::conflict("the thread has no assignment any more"));
                };
                let slug = role.slug.clone();
                let previous = assignment.role.replace(role).map(|role| role.slug);
                tx.save_thread(id);
                tx.announce(id, ThreadChange::Role { previous, role: slug });
                Ok(())
            })
            .await
    }
}

impl World {
    /// How many threads wait for the result of this one, each for that of the one before.
    pub(crate) fn depth(&self, id: ThreadId) -> usize {
        let lead = |id: &ThreadId| self.threads.get(id)?.thread.lead();
        // One more than may be, so that threads that lead each other come to an end.
        std::iter::successors(lead(&id), lead).take(DEEPEST + 1).count()
    }
}

/// What came of a turn.
pub(super) fn result(contents: &Contents, turn: TurnId) -> Option<String> {
    let mut said = None;
    for placed in contents.items.iter().rev().filter(|placed| placed.turn == turn) {
        match &placed.item.body {
            ItemBody::Tool(tool)
                if tool.name == tools::COMPLETION
                    && placed.item.status == ItemStatus::Completed =>
            {
                return tool.output.clone();
            }
            ItemBody::Agent { text, .. } if said.is_none() => said = Some(text.clone()),
            // What was said before is no answer to this.
            ItemBody::User { .. } if said.is_some() => return said,
            _ => {}
        }
    }
    said
}

/// Whether an open call waits for the work of a thread.
pub(crate) fn is_awaited(contents: &Contents, worker: ThreadId) -> bool {
    let calls = contents.items.iter().rev().map(|placed| &placed.item);
    let mut open = calls.filter(|item| item.status == ItemStatus::InProgress);
    open.any(|item| child_of(item) == Some(worker))
}

/// The thread that a call of a tool handed work on to.
pub(super) fn child_of(item: &Item) -> Option<ThreadId> {
    let ItemBody::Tool(tool) = &item.body else { return None };
    let hands_on = matches!(tool.name.as_str(), tools::DELEGATION | tools::CHILD);
    let data = tool.data.as_ref().filter(|_| hands_on)?;
    let data: Value = serde_json::from_str(data).ok()?;
    data.get("thread")?.as_str()?.parse().ok()
}
