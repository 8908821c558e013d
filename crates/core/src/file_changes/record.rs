//! Writes down what tools changed, with the thread that they work for.

use std::sync::Arc;

use rookery_model::{
    ChangeRecord, CheckpointId, Edit, Hunk, ItemId, PlanKey, Rollback, SessionId, ThreadId, TurnId,
};
use rookery_store::Change;

use crate::clock;
use crate::log::FileChange;
use crate::rooms::FileChanges;
use crate::threads::{Contents, LiveThread};
use crate::world::{Tx, World};

/// How many records a thread has; the oldest go first.
const MAX_RECORDS: usize = 10_000;
/// How many bytes of lines a thread has; the oldest go first.
const MAX_BYTES: usize = 32 << 20;

/// What a tool changed.
#[derive(Clone, Debug)]
pub(crate) struct EditsMade {
    /// For which thread it worked.
    pub(crate) thread: ThreadId,
    /// For which turn; none if a client called it.
    pub(crate) turn: Option<TurnId>,
    pub(crate) call: String,
    /// The item of the call, if a turn made it.
    pub(crate) item: Option<ItemId>,
    pub(crate) tool: String,
    /// What it did.
    pub(crate) edits: Vec<Edit>,
}

impl FileChanges {
    /// Keeps what a tool changed, and sends it to those who follow its thread.
    pub(crate) async fn record(&self, made: EditsMade) {
        let Ok(live) = self.core.threads().live(made.thread).await else { return };
        // Outside of the transaction, for there may be many.
        let checkpoint = newest_checkpoint(&self.core.look(), made.thread);
        let recorded = self.core.transact_durably(|tx| {
            let around = Around { checkpoint, ..Around::of(tx.world, &made) };
            tx.record_edits(&live, made, &around);
            Ok(())
        });
        if let Err(error) = recorded.await {
            tracing::error!(%error, "what a tool changed was not recorded");
        }
    }
}

/// What edits belong to beside their call.
#[derive(Clone, Debug, Default)]
struct Around {
    plan: Option<PlanKey>,
    step: Option<String>,
    checkpoint: Option<CheckpointId>,
}

impl Around {
    /// The plan that is carried out. Which of several steps an edit is for is not known.
    fn of(world: &World, made: &EditsMade) -> Self {
        let plan = made.turn.and_then(|turn| world.executing_plan(made.thread, turn));
        let step = plan.and_then(|plan| match plan.steps.as_slice() {
            [only] => Some(only.id.clone()),
            _ => None,
        });
        Around { plan: plan.map(|plan| plan.key.clone()), step, checkpoint: None }
    }
}

/// The newest checkpoint of a thread that has a snapshot to go back to.
fn newest_checkpoint(world: &World, thread: ThreadId) -> Option<CheckpointId> {
    let session = SessionId::new(thread.get());
    let mut newest = world.checkpoints.values().rev();
    let found = newest.find(|one| one.place.session() == Some(session) && one.snapshot.is_some());
    found.map(|one| one.id)
}

impl Tx<'_> {
    fn record_edits(&mut self, live: &LiveThread, made: EditsMade, around: &Around) {
        let EditsMade { thread, turn, call, item, tool, edits } = made;
        // Calls of different turns may have the same name; their items never do.
        let base = item.as_ref().map_or(call.as_str(), ItemId::as_str);
        let at = clock::wall();
        for (index, edit) in edits.into_iter().enumerate() {
            let rollback = rollback_of(&edit);
            let hunk = Hunk {
                number: self.edit(live).next_change(),
                id: Hunk::name(base, index + 1),
                thread,
                turn,
                call: call.clone(),
                tool: tool.clone(),
                edit,
                plan: around.plan.clone(),
                step: around.step.clone(),
                checkpoint: around.checkpoint,
                rollback,
                is_begun: false,
                undone: None,
                at,
            };
            self.keep_change(live, ChangeRecord::Hunk(hunk.clone()));
            self.announce(thread, FileChange::Recorded(Box::new(hunk)));
        }
    }

    /// Keeps a record, in the place of the one with its number.
    pub(super) fn keep_change(&mut self, live: &LiveThread, record: ChangeRecord) {
        let gone = {
            let mut editing = self.edit(live);
            editing.put_change(Arc::new(record.clone()));
            let surplus = surplus(editing.contents());
            editing.drop_changes(surplus)
        };
        let is_kept = self.world.thread(live.id).is_ok_and(|state| !state.thread.ephemeral);
        // A turn that was taken away meanwhile took its changes along.
        let has_turn = |turn: TurnId| live.read().turn(turn).is_some();
        if !is_kept || !record.turn().is_none_or(has_turn) {
            return;
        }
        self.save(Change::ChangeUpserted(Box::new(record)));
        for record in gone {
            self.save(Change::ChangeDeleted(live.id, record.number()));
        }
    }
}

/// How many of the oldest are too much.
fn surplus(contents: &Contents) -> usize {
    let size = |record: &ChangeRecord| match record {
        ChangeRecord::Hunk(hunk) => hunk.edit.len(),
        ChangeRecord::Observation(_) => 0,
    };
    let all = &contents.changes;
    let mut bytes: usize = all.iter().map(|record| size(record)).sum();
    let last = all.len().saturating_sub(1);
    let is_too_much = |(index, record): &(usize, &Arc<ChangeRecord>)| {
        let too_much = all.len() - index > MAX_RECORDS || bytes > MAX_BYTES;
        bytes -= size(record);
        too_much
    };
    all.iter().take(last).enumerate().take_while(is_too_much).count()
}

/// Whether an edit can be undone, as far as that is known when it is made.
fn rollback_of(edit: &Edit) -> Rollback {
    match &edit.obstacle {
        Some(reason) => Rollback::Unavailable(reason.clone()),
        None if edit.path.starts_with('/') => {
            Rollback::Unavailable("the file is outside of the workspace".to_owned())
        }
        None => Rollback::Available,
    }
}
