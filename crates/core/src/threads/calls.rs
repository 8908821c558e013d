//! The model calls of a turn, as they are counted.

use rookery_model::{ModelCall, Turn, Usage};

use super::live::LiveThread;
use crate::clock;
use crate::log::TurnChange;
use crate::world::Tx;

/// The model is asked.
pub(super) fn begin(turn: &mut Turn) -> TurnChange {
    let number = number(turn.calls.len());
    let at = clock::wall();
    turn.calls.push(ModelCall { at, ..ModelCall::default() });
    TurnChange::CallStarted(turn.id, number, at)
}

/// The call that is open is over; nothing if none is.
pub(super) fn end(
    turn: &mut Turn,
    usage: Usage,
    error: Option<String>,
    was_cut: bool,
) -> Option<TurnChange> {
    let number = number(turn.calls.len().checked_sub(1)?);
    let call = turn.calls.last_mut().filter(|call| !call.is_done)?;
    (call.usage, call.error, call.is_done, call.was_cut) = (usage, error, true, was_cut);
    Some(TurnChange::CallEnded(turn.id, number, call.clone()))
}

/// What the calls of a turn cost so far.
pub(super) fn usage(turn: &Turn) -> Usage {
    let mut sum = Usage::default();
    turn.calls.iter().for_each(|call| sum.add(call.usage));
    sum
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

impl Tx<'_> {
    /// Keeps the calls of a turn and tells what happened to one.
    pub(super) fn keep_calls(&mut self, live: &LiveThread, turn: &Turn, change: TurnChange) {
        self.edit(live).put_turn(turn);
        self.save_turn(turn);
        self.announce(live.id, change);
    }
}
