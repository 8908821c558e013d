//! Threads as they are listed and read.

use std::path::PathBuf;

use rookery_model::{Result, ThreadId, Timestamp};

use super::live::Contents;
use super::{ThreadView, TurnView, status};
use crate::rooms::Threads;
use crate::world::World;

/// Which threads are wanted.
#[derive(Clone, Debug, Default)]
pub struct ThreadQuery {
    /// How many at most.
    pub limit: usize,
    /// Only those after this one in the order of the list.
    pub after: Option<(Timestamp, ThreadId)>,
    /// Only those before this one, the nearest of them.
    pub before: Option<(Timestamp, ThreadId)>,
    /// Archived ones instead of the others.
    pub archived: bool,
    /// Only those that work in this directory.
    pub cwd: Option<PathBuf>,
    /// Only those whose name or beginning has this text.
    pub search: Option<String>,
}

/// Threads, the one last touched first.
#[derive(Clone, Debug, Default)]
pub struct ThreadPage {
    pub threads: Vec<ThreadView>,
    /// Whether there are further ones behind them.
    pub has_more: bool,
    /// Whether there are others before them.
    pub has_earlier: bool,
}

impl Threads {
    /// Lists threads, the one last touched first.
    pub fn list(&self, query: &ThreadQuery) -> ThreadPage {
        let world = self.core.look();
        let search = query.search.as_ref().map(|text| text.to_lowercase());
        let is_wanted = |thread: &rookery_model::Thread| {
            thread.archived == query.archived
                && query.cwd.as_ref().is_none_or(|cwd| thread.cwd == *cwd)
                && search.as_ref().is_none_or(|text| {
                    let name = thread.name.as_deref().unwrap_or_default().to_lowercase();
                    name.contains(text) || thread.preview.to_lowercase().contains(text)
                })
        };
        let mut keys: Vec<(Timestamp, ThreadId)> = world
            .threads
            .values()
            .filter(|state| is_wanted(&state.thread))
            .map(|state| (whole_seconds(state.thread.updated_at), state.thread.id))
            .collect();
        keys.sort_unstable_by(|a, b| b.cmp(a));
        let total = keys.len();
        let (start, end) = match (query.after, query.before) {
            (Some(after), _) => (keys.partition_point(|key| *key >= after), total),
            (None, Some(before)) => {
                let end = keys.partition_point(|key| *key > before);
                (end.saturating_sub(query.limit), end)
            }
            (None, None) => (0, total),
        };
        let end = end.min(start + query.limit);
        let threads = keys[start..end].iter().filter_map(|(_, id)| view(&world, *id)).collect();
        ThreadPage { threads, has_more: end < total, has_earlier: start > 0 }
    }

    /// A thread without what was said in it.
    pub fn get(&self, id: ThreadId) -> Option<ThreadView> {
        view(&self.core.look(), id)
    }

    /// Whether a thread is driven as a piece of work.
    pub fn is_assigned(&self, id: ThreadId) -> bool {
        let world = self.core.look();
        world.threads.get(&id).is_some_and(|state| state.thread.assignment.is_some())
    }

    /// All threads that are driven as a piece of work, in the order in which they began.
    pub fn assigned(&self) -> Vec<ThreadId> {
        let world = self.core.look();
        let assigned = world.threads.iter().filter(|(_, it)| it.thread.assignment.is_some());
        let mut ids: Vec<_> = assigned.map(|(id, it)| (it.thread.created_at, *id)).collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    /// A thread with its turns and their items, the running ones as far as they are.
    pub async fn read(&self, id: ThreadId) -> Result<ThreadView> {
        let live = self.live(id).await?;
        // Held, so that status and contents belong together.
        let world = self.core.hold();
        let mut seen = view(&world, id).ok_or_else(|| crate::world::no_thread(id))?;
        seen.turns = Some(turns(&live.read()));
        seen.unreadable = live.unreadable;
        Ok(seen)
    }
}

fn view(world: &World, id: ThreadId) -> Option<ThreadView> {
    let state = world.threads.get(&id)?;
    let (thread, status) = (state.thread.clone(), status::of(world, id));
    let interrupted_at = state.active.as_ref().and_then(|active| active.interrupted_at);
    let queued = state.queued.to_vec();
    Some(ThreadView { thread, status, interrupted_at, turns: None, unreadable: 0, queued })
}

/// Lists are ordered by what they show: whole seconds, then ids.
fn whole_seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.as_seconds().saturating_mul(1_000_000))
}

fn turns(contents: &Contents) -> Vec<TurnView> {
    let mut turns: Vec<TurnView> = contents
        .turns
        .iter()
        .map(|turn| TurnView { turn: turn.clone(), items: Vec::new() })
        .collect();
    // Items come in the order of turns, so the place is nearly always the same as before.
    let mut at = 0;
    for placed in contents.items.iter().filter(|placed| placed.item.is_shown()) {
        if turns.get(at).is_none_or(|turn| turn.turn.id != placed.turn) {
            let found = turns.iter().position(|turn| turn.turn.id == placed.turn);
            let Some(found) = found else { continue };
            at = found;
        }
        turns[at].items.push(placed.item.clone());
    }
    turns
}
