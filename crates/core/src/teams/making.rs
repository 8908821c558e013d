//! Threads that are made for a team before its file names them. They are written down first, so that the next
//! daemon deletes what a killed one had only half made.

use std::path::Path;

use rookery_model::{Result, TeamId, ThreadId};
use rookery_store::{Change, ValueKey};
use rookery_teams::Team;
use serde_json::{Value, json};

use crate::core::blocking;
use crate::rooms::Teams;

/// Threads on their way into a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Making {
    pub(super) team: TeamId,
    pub(super) threads: Vec<ThreadId>,
}

impl Teams {
    /// Notes threads that are about to be made. The store keeps the order of what it is given, so that no
    /// thread is on disk before this is.
    ///
    /// # Errors
    /// If the daemon is stopping.
    pub(super) fn note_making(&self, making: &Making) -> Result<()> {
        self.change_making(|all| all.push(making.clone()))
    }

    /// The threads are in the file of their team, or gone again.
    pub(super) fn forget_making(&self, making: &Making) {
        if let Err(error) = self.change_making(|all| all.retain(|other| other != making)) {
            tracing::debug!(%error, "the next daemon finds that a team was made");
        }
    }

    fn change_making(&self, change: impl FnOnce(&mut Vec<Making>)) -> Result<()> {
        if self.room().dir.is_none() {
            // Such a team ends with the daemon, and its threads stay as they are.
            return Ok(());
        }
        let mut all = self.room().making.lock();
        let mut next = all.clone();
        change(&mut next);
        let value = (!next.is_empty()).then(|| write(&next));
        let ((), _ticket) = self.core.transact(|tx| {
            tx.save(Change::KeptSet { what: ValueKey::TeamsInMaking, value });
            Ok(())
        })?;
        *all = next;
        Ok(())
    }

    /// Deletes the threads that the last daemon made for teams whose files do not name them. What a file
    /// that cannot be read names is not known, so its threads stay.
    pub(super) async fn take_back_half_made(
        &self,
        teams: &[Team],
        is_unreadable: impl Fn(&Path) -> bool,
    ) {
        let store = self.core.inner.store.clone();
        let text = blocking(move || store.kept(&ValueKey::TeamsInMaking).ok().flatten()).await;
        let Some(text) = text.ok().flatten() else { return };
        for Making { team, threads } in read(&text) {
            if self.room().file(team).is_some_and(|path| is_unreadable(&path)) {
                continue;
            }
            let found = teams.iter().find(|found| found.id == team);
            let is_member =
                |thread: &ThreadId| found.is_some_and(|it| it.of_thread(*thread).is_some());
            let is_there = |thread: &ThreadId| self.core.threads().get(*thread).is_some();
            let left = threads.into_iter().filter(|it| !is_member(it) && is_there(it)).collect();
            self.take_back(left).await;
        }
        if let Err(error) = self.change_making(Vec::clear) {
            tracing::debug!(%error, "half-made teams are looked for again");
        }
    }
}

fn write(all: &[Making]) -> String {
    let one = |making: &Making| {
        let threads: Vec<String> = making.threads.iter().map(ThreadId::to_string).collect();
        json!({ "team": making.team.to_string(), "threads": threads })
    };
    Value::Array(all.iter().map(one).collect()).to_string()
}

/// What cannot be read is left out.
fn read(text: &str) -> Vec<Making> {
    let all: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let one = |value: &Value| {
        let threads = value.get("threads")?.as_array()?.iter();
        let threads = threads.filter_map(|thread| thread.as_str()?.parse().ok()).collect();
        Some(Making { team: value.get("team")?.as_str()?.parse().ok()?, threads })
    };
    all.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_nonsense_is_left_out() {
        let all = vec![
            Making { team: TeamId::new(1), threads: vec![ThreadId::new(2), ThreadId::new(3)] },
            Making { team: TeamId::new(4), threads: Vec::new() },
        ];
        assert_eq!(read(&write(&all)), all);
        for text in ["", "{}", "[1, {}]", r#"[{"team": "x", "threads": [7]}]"#] {
            assert_eq!(read(text), [], "{text}");
        }
    }
}
