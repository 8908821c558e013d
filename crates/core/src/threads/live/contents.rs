//! Turns, items, traces and file changes of a thread. What changes them is for this room's doors alone:
//! a transaction, which can take it back, or the stream of a running turn.

use std::collections::HashMap;
use std::sync::Arc;

use rookery_agent::turn::Delta;
use rookery_model::{
    ChangeRecord, Item, ItemBody, ItemId, Timestamp, Trace, TraceId, Turn, TurnId,
};
use rookery_store::ThreadContents;

use crate::clock;

/// Turns and items of a thread.
#[derive(Clone, Default)]
pub(crate) struct Contents {
    pub(crate) turns: Vec<Turn>,
    pub(crate) items: Vec<Placed>,
    /// What child agents did for its turns.
    pub(crate) traces: Vec<Trace>,
    /// What happened to files, by number.
    pub(crate) changes: Vec<Arc<ChangeRecord>>,
    pub(super) last_change: u64,
    /// Where an item is in the list.
    index: HashMap<ItemId, usize>,
    next_position: u64,
}

/// An item with its place.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) turn: TurnId,
    pub(crate) position: u64,
    pub(crate) item: Item,
}

impl Contents {
    /// Puts an item in its place, or at the end if it is new, and notes there and in it when it began;
    /// gives the place.
    pub(super) fn put(&mut self, turn: TurnId, item: &mut Item) -> u64 {
        if let Some(at) = self.index.get(&item.id) {
            let placed = &mut self.items[*at];
            item.at = placed.item.at;
            placed.item = item.clone();
            return placed.position;
        }
        if item.at == Timestamp::default() {
            item.at = clock::wall();
        }
        let position = self.next_position;
        self.next_position += 1;
        self.index.insert(item.id.clone(), self.items.len());
        self.items.push(Placed { turn, position, item: item.clone() });
        position
    }

    /// Puts an item back as it was.
    pub(super) fn restore(&mut self, placed: Placed) {
        if let Some(at) = self.index.get(&placed.item.id) {
            self.items[*at] = placed;
        }
    }

    /// Takes an item away again.
    pub(super) fn remove(&mut self, id: &ItemId) {
        let Some(at) = self.index.get(id).copied() else { return };
        let gone = self.items.remove(at);
        if gone.position + 1 == self.next_position {
            self.next_position = gone.position;
        }
        self.number_items();
    }

    fn number_items(&mut self) {
        let ids = self.items.iter().enumerate().map(|(at, placed)| (placed.item.id.clone(), at));
        self.index = ids.collect();
    }

    /// Adds to an item that is in progress.
    pub(super) fn grow(&mut self, id: &ItemId, delta: &Delta) {
        let Some(placed) = self.index.get(id).and_then(|at| self.items.get_mut(*at)) else {
            return;
        };
        match (&mut placed.item.body, delta) {
            (ItemBody::Agent { text: whole, .. }, Delta::Text { text, .. }) => whole.push_str(text),
            (ItemBody::Reasoning { content, .. }, Delta::Thought { text }) => {
                match content.last_mut() {
                    Some(whole) => whole.push_str(text),
                    None => content.push(text.clone()),
                }
            }
            (ItemBody::Reasoning { summary, .. }, Delta::SummaryPart { .. }) => {
                summary.push(String::new());
            }
            (ItemBody::Reasoning { summary, .. }, Delta::Summary { text, .. }) => {
                if let Some(part) = summary.last_mut() {
                    part.push_str(text);
                }
            }
            _ => {}
        }
    }

    /// A name that no item has: this one, or with a number behind it.
    pub(crate) fn free_name(&self, base: &str) -> ItemId {
        let numbered = (2..).map(|number| ItemId::new(format!("{base}-{number}")));
        let mut names = std::iter::once(ItemId::new(base)).chain(numbered);
        names.find(|name| !self.index.contains_key(name)).unwrap_or_else(|| ItemId::new(base))
    }

    pub(crate) fn turn(&self, id: TurnId) -> Option<&Turn> {
        self.turns.iter().rev().find(|turn| turn.id == id)
    }

    pub(super) fn put_turn(&mut self, turn: &Turn) {
        match self.turns.iter_mut().rev().find(|known| known.id == turn.id) {
            Some(known) => *known = turn.clone(),
            None => self.turns.push(turn.clone()),
        }
    }

    /// An item by its name.
    pub(crate) fn item(&self, id: &ItemId) -> Option<&Item> {
        self.placed(id).map(|placed| &placed.item)
    }

    /// An item by its name, with its place.
    pub(crate) fn placed(&self, id: &ItemId) -> Option<&Placed> {
        self.index.get(id).and_then(|at| self.items.get(*at))
    }

    pub(crate) fn trace(&self, id: TraceId) -> Option<&Trace> {
        self.traces.iter().rev().find(|trace| trace.id == id)
    }

    pub(super) fn trace_mut(&mut self, id: TraceId) -> Option<&mut Trace> {
        self.traces.iter_mut().rev().find(|trace| trace.id == id)
    }

    pub(super) fn put_trace(&mut self, trace: Trace) {
        match self.trace_mut(trace.id) {
            Some(known) => *known = trace,
            None => self.traces.push(trace),
        }
    }

    /// A number that no change of a file has yet.
    pub(super) fn next_change(&mut self) -> u64 {
        self.last_change += 1;
        self.last_change
    }

    /// Puts what happened to files in its place.
    pub(super) fn put_change(&mut self, record: Arc<ChangeRecord>) {
        let known = self.changes.iter_mut().rev().find(|it| it.number() == record.number());
        match known {
            Some(known) => *known = record,
            None => self.changes.push(record),
        }
    }

    /// Items with the turns they belong to, as the machine wants them.
    pub(crate) fn items_by_turn(&self) -> impl DoubleEndedIterator<Item = (TurnId, &Item)> + Clone {
        self.items.iter().map(|placed| (placed.turn, &placed.item))
    }

    /// The item of a tool's call in a turn.
    pub(crate) fn tool(&self, turn: Option<TurnId>, call: &str) -> Option<&Placed> {
        let is_it = |placed: &&Placed| {
            Some(placed.turn) == turn
                && matches!(&placed.item.body, ItemBody::Tool(tool) if tool.call_id == call)
        };
        self.items.iter().rev().find(is_it)
    }

    /// Names of tool items and of everything in a turn, which no later item may have.
    pub(crate) fn used_names(&self, turn: TurnId) -> Vec<String> {
        let is_used =
            |placed: &&Placed| placed.turn == turn || matches!(placed.item.body, ItemBody::Tool(_));
        self.items.iter().filter(is_used).map(|placed| placed.item.id.as_str().to_owned()).collect()
    }

    pub(crate) fn items_of(&self, turn: TurnId) -> Vec<Item> {
        let of_turn = self.items.iter().filter(|placed| placed.turn == turn);
        of_turn.map(|placed| placed.item.clone()).collect()
    }

    /// Takes the last turns away; gives them, and the names of their tools' items: those are not made
    /// from the turn's, so that they could come again.
    pub(super) fn drop_turns(&mut self, count: usize) -> (Vec<Turn>, Vec<String>) {
        let keep = self.turns.len().saturating_sub(count);
        let gone = self.turns.split_off(keep);
        let is_gone = |placed: &Placed| gone.iter().any(|turn| turn.id == placed.turn);
        let names = self
            .items
            .iter()
            .filter(|placed| is_gone(placed) && matches!(placed.item.body, ItemBody::Tool(_)));
        let names = names.map(|placed| placed.item.id.as_str().to_owned()).collect();
        self.items.retain(|placed| !is_gone(placed));
        self.traces.retain(|trace| gone.iter().all(|turn| turn.id != trace.parent.turn));
        let is_of = |record: &ChangeRecord| gone.iter().any(|turn| record.turn() == Some(turn.id));
        self.changes.retain(|record| !is_of(record));
        self.number_items();
        (gone, names)
    }
}

#[cfg(test)]
impl std::fmt::Debug for Contents {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<&ItemId> = self.items.iter().map(|placed| &placed.item.id).collect();
        let is_indexed = |(at, id): (usize, &&ItemId)| self.index.get(*id) == Some(&at);
        let index = ids.iter().enumerate().all(is_indexed) && ids.len() == self.index.len();
        let numbers = (self.last_change, self.next_position, index);
        let Contents { turns, items, traces, changes, .. } = self;
        write!(out, "{turns:?} {items:?} {traces:?} {changes:?} {numbers:?}")
    }
}

impl From<ThreadContents> for Contents {
    fn from(stored: ThreadContents) -> Self {
        let (turns, traces) = (stored.turns, stored.traces);
        let changes: Vec<_> = stored.changes.into_iter().map(Arc::new).collect();
        let last_change = changes.iter().map(|record| last_number(record)).max().unwrap_or(0);
        let mut contents = Contents { turns, traces, changes, last_change, ..Contents::default() };
        for stored in stored.items {
            let (turn, position, item) = (stored.turn, stored.position, stored.item);
            contents.next_position = contents.next_position.max(position + 1);
            contents.items.push(Placed { turn, position, item });
        }
        contents.number_items();
        contents
    }
}

/// The highest number that a record has.
fn last_number(record: &ChangeRecord) -> u64 {
    let undone = match record {
        ChangeRecord::Hunk(hunk) => hunk.undone.map_or(0, |undone| undone.number),
        ChangeRecord::Observation(_) => 0,
    };
    record.number().max(undone)
}
