//! Who works for whom, for those who are asked on behalf of a child.

use rookery_model::{Thread, ThreadId};

use crate::rooms::Children;
use crate::world::World;

/// Threads above one that are looked at.
const DEEPEST: usize = 16;

impl Children {
    /// The threads that wait for a child, the nearest first.
    pub fn parents(&self, id: ThreadId) -> Vec<Thread> {
        self.core.look().parents(id)
    }
}

impl World {
    fn parents(&self, id: ThreadId) -> Vec<Thread> {
        let thread = |id: ThreadId| self.threads.get(&id).map(|state| &state.thread);
        let above = |below: &&Thread| below.lead().and_then(thread);
        let first = thread(id).as_ref().and_then(above);
        std::iter::successors(first, above).take(DEEPEST).cloned().collect()
    }

    /// Who asks, if that is a child: its kind and its title, and those of the threads that it works for.
    pub(crate) fn asked_by(&self, id: ThreadId) -> Option<String> {
        let thread = &self.threads.get(&id)?.thread;
        let agent = &thread.child.as_ref()?.agent;
        let mut text = format!("child agent {agent} {:?}", thread.title());
        for parent in self.parents(id) {
            text.push_str(&format!(", working for {:?}", parent.title()));
        }
        Some(text)
    }
}
