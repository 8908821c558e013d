//! Decisions laid over what was found, and what has the same name. Pure.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::decisions::{Decision, DecisionKind};
use crate::item::{Conflict, Item, SourceKind, State};
use crate::scan::is_named;

/// Gives items the state that was decided for them.
pub(crate) fn apply(items: &mut HashMap<String, Item>, decisions: &[Decision]) {
    for decision in decisions {
        if let Some(item) = items.get_mut(&decision.item_id) {
            (item.state, item.enabled_at) = match decision.kind {
                DecisionKind::Enable => (state(item, decision), Some(decision.decided_at)),
                DecisionKind::Ignore => (State::Ignored, None),
                DecisionKind::Disable => (State::Disabled, None),
                DecisionKind::Preview | DecisionKind::Refresh | DecisionKind::Remove => {
                    (State::Detected, None)
                }
            };
        }
    }
}

fn state(item: &Item, decision: &Decision) -> State {
    let is_approved = decision.approved_side_effects || !item.needs_approval;
    match decision.source_hash == item.source.hash && is_approved {
        true => State::Enabled,
        false => State::Stale,
    }
}

/// Whether an item takes effect by its decision. One that can start something must be as it was approved.
pub fn is_active(item: &Item) -> bool {
    match item.state {
        State::Enabled => true,
        State::Stale => !item.needs_approval,
        State::Detected
        | State::Previewed
        | State::Ignored
        | State::Disabled
        | State::Removed
        | State::Failed => false,
    }
}

/// Other items of the same name that an item lists; of the rest it has the number only.
const OTHERS_LIMIT: usize = 8;

/// Names that are taken without any import, each with the file that has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// By kind and name.
    pub names: BTreeMap<(SourceKind, String), PathBuf>,
}

/// Says which items have a name that something else has as well.
pub fn add_conflicts(items: &mut [Item], known: &Known) {
    let mut by_name: BTreeMap<(SourceKind, String), Vec<(PathBuf, String)>> = BTreeMap::new();
    for item in items.iter().filter(|item| is_named(item.source.kind)) {
        if let Some(name) = item.content.name() {
            let key = (item.source.kind, name.to_owned());
            by_name.entry(key).or_default().push((item.file.clone(), item.source.path.clone()));
        }
    }
    for item in items.iter_mut() {
        let Some(name) = item.content.name() else { continue };
        let key = (item.source.kind, name.to_owned());
        let incoming = item.source.path.clone();
        let conflict = |existing: String, detail: &str| Conflict {
            field: "name".to_owned(),
            existing,
            incoming: incoming.clone(),
            detail: detail.to_owned(),
        };
        let taken = known.names.get(&key).filter(|file| **file != item.file);
        let detail = format!("{name} is there already and counts; this one is not used");
        let mut conflicts: Vec<Conflict> = taken
            .map(|file| conflict(file.to_string_lossy().into_owned(), &detail))
            .into_iter()
            .collect();
        let same = by_name.get(&key).map(Vec::as_slice).unwrap_or_default();
        let others = same.iter().filter(|(file, _)| *file != item.file).take(OTHERS_LIMIT);
        let detail = format!("both are called {name}; the one that was enabled first counts");
        conflicts.extend(others.map(|(_, path)| conflict(path.clone(), &detail)));
        if let Some(rest @ 1..) = same.len().checked_sub(1 + OTHERS_LIMIT) {
            conflicts.push(conflict(format!("{rest} more"), &detail));
        }
        item.conflicts = conflicts;
    }
}
