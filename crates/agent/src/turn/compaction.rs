//! Makes a conversation shorter: which part of it need not be sent to the model again.

use rookery_model::{Item, ItemBody, ItemId, TurnId};

use super::history::estimate;
use crate::provider::{Entry, EntryBody};

/// Tool outputs up to this number of tokens, counted from the newest, are always kept.
const KEPT_OUTPUTS: u64 = 40_000;
/// Outputs are dropped only if that saves at least this number of tokens.
const WORTH_PRUNING: u64 = 20_000;
/// So much of the conversation is summed up, in percent, counted from its beginning.
const SUMMED_UP: u64 = 70;

/// The instruction to summarize the older part of a conversation.
pub const SUMMARY_INSTRUCTION: &str = "Sum up the conversation above for a reader who will carry on \
the work without having read it. Name the task and what the user asked for, decisions and their \
reasons, files and commands that matter with what was found in them, what is done, what is left, \
and what comes next. Write only the summary.";

/// How a conversation becomes shorter.
#[derive(Clone, Debug, PartialEq)]
pub enum Compaction {
    /// Outputs before this item are left out.
    Prune {
        /// The first item whose output is kept.
        before: ItemId,
    },
    /// These entries are summed up, and the items from `keep_from` on are kept.
    Summarize {
        /// The entries before it.
        entries: Vec<Entry>,
        /// The first item that is kept; none keeps nothing.
        keep_from: Option<ItemId>,
    },
    /// There is nothing to leave out.
    Nothing,
}

/// Chooses how to make a conversation shorter; `items` are those since the last compaction.
pub fn plan(items: &[(TurnId, &Item)]) -> Compaction {
    prune(items).unwrap_or_else(|| summarize(items))
}

fn prune(items: &[(TurnId, &Item)]) -> Option<Compaction> {
    let output = |item: &Item| match &item.body {
        ItemBody::Tool(tool) => tool.output.as_ref().or(tool.error.as_ref()).map_or(0, String::len),
        _ => 0,
    };
    let mut kept = 0;
    let last_kept = items.iter().rposition(|(_, item)| {
        kept += output(item) as u64 / 4;
        kept > KEPT_OUTPUTS
    })?;
    let saved: u64 = items[..=last_kept].iter().map(|(_, item)| output(item) as u64 / 4).sum();
    let (_, before) = items.get(last_kept + 1)?;
    (saved >= WORTH_PRUNING).then(|| Compaction::Prune { before: before.id.clone() })
}

fn summarize(items: &[(TurnId, &Item)]) -> Compaction {
    let sizes: Vec<u64> = items.iter().map(size).collect();
    let total: u64 = sizes.iter().sum();
    let mut sum = 0;
    let place = sizes.iter().position(|size| {
        sum += size;
        sum * 100 >= total * SUMMED_UP
    });
    let Some(place) = place else { return Compaction::Nothing };
    // Not within a step: a call belongs to the words that led to it.
    let starts_step = |at: usize| {
        let ((turn, item), (earlier, before)) = (items[at], items[at - 1]);
        turn != earlier || item.step != before.step
    };
    let boundary = (place + 1..items.len()).find(|at| starts_step(*at)).unwrap_or(items.len());
    let entries = super::entries(items[..boundary].iter().copied(), "");
    if !entries.iter().any(|entry| !matches!(entry.body, EntryBody::Reasoning { .. })) {
        return Compaction::Nothing;
    }
    let keep_from = items.get(boundary).map(|(_, item)| item.id.clone());
    Compaction::Summarize { entries, keep_from }
}

fn size(item: &(TurnId, &Item)) -> u64 {
    estimate(&super::entries(std::iter::once(*item), "")) + 1
}
