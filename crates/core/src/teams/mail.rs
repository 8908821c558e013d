//! Messages to members: written down first, then brought into a turn of the member's thread, and marked
//! once that turn has taken them up.
//!
//! A message comes at least once. What a turn did not take up is sent again, with the next message, when
//! that turn has completed, or by the next daemon. Answers of teammates go to the lead's turn that runs, or
//! are part of the beginning of its next one: a lead is not woken.

use std::pin::Pin;
use std::sync::Arc;

use rookery_agent::turn::Message as UserMessage;
use rookery_model::{Error, ErrorKind, Result, TeamId, ThreadId, Timestamp, TurnId};
use rookery_teams::{
    Letter, Member, MemberId, MemberStatus, Message, MessageKind, Team, WAITING_BYTES,
};

use super::live::{LiveTeam, State};
use super::{Starter, lead};
use crate::rooms::Teams;
use crate::threads::{NewTurn, StartedTurn, Steered};
use crate::{clock, secrets};

/// Bytes of one message.
const LONGEST_MESSAGE: usize = 1 << 20;
/// Messages that may wait for one member.
const MOST_WAITING: usize = 100;

/// What stands between the messages of a letter.
const BETWEEN: &str = "\n\n";

/// A message to a member.
#[derive(Clone, Debug)]
pub struct NewMessage {
    pub team: TeamId,
    /// The recipient.
    pub member: String,
    /// The words.
    pub text: String,
    /// The turn that is expected to run.
    pub expected: Option<TurnId>,
    /// On whose behalf.
    pub starter: Starter,
}

type BoxFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What waited for the lead of a team and goes into the beginning of its turn.
pub(crate) struct LeadMessages {
    live: Arc<LiveTeam>,
    ids: Vec<String>,
    /// What is sent to the lead.
    pub(crate) text: String,
}

impl Teams {
    /// What waits for the leads of teams that a thread is. It counts as on its way until
    /// [`Self::mark_delivered`] or [`Self::put_back`] says what became of it.
    pub(crate) fn take_for_lead(&self, thread: ThreadId) -> Vec<LeadMessages> {
        let take = |live: Arc<LiveTeam>| {
            let taken = live.change(|state| match state.team.lead == thread {
                true => put_on_the_way(state, &lead(), None),
                false => None,
            });
            taken.map(|(ids, text)| LeadMessages { live, ids, text })
        };
        self.room().of_thread(thread).into_iter().filter_map(take).collect()
    }

    /// A turn began with this; its items are as durable as the turn.
    pub(crate) fn mark_delivered(&self, messages: Vec<LeadMessages>) {
        for LeadMessages { live, ids, .. } in messages {
            live.change(|state| {
                drop_letter(state, &ids);
                state.team.deliver(&ids, clock::wall());
            });
            live.save_soon(&self.core.inner.runtime);
        }
    }

    /// No turn began with this: the one that runs gets it, or the next one. Boxed, since sending may
    /// start a turn, which comes here.
    pub(crate) fn put_back(&self, messages: Vec<LeadMessages>) -> BoxFuture<'_> {
        Box::pin(async move {
            for LeadMessages { live, ids, .. } in messages {
                live.change(|state| drop_letter(state, &ids));
                self.notify_lead(&live).await;
            }
        })
    }

    /// Tells a member something: starts a turn, or steers the one that runs. That turn is returned.
    ///
    /// # Errors
    /// If there is no such team or member, the member is closed, another turn than the expected one
    /// runs, or it cannot be kept; nothing was sent then.
    pub async fn message(&self, new: NewMessage) -> Result<TurnId> {
        if new.text.trim().is_empty() {
            return Err(Error::invalid("text", "text must not be empty"));
        }
        if new.text.len() > LONGEST_MESSAGE {
            let message = format!("text is longer than {LONGEST_MESSAGE} bytes");
            return Err(Error::invalid("text", message));
        }
        let live = self.live(new.team)?;
        let _order = live.order.lock().await;
        // It may have been cleaned up meanwhile.
        self.live(new.team)?;
        let member = self.open_member(&live, &new)?;
        let message = Message {
            id: uuid::Uuid::now_v7().to_string(),
            from: Some(lead()),
            to: member.id.clone(),
            kind: MessageKind::NewTask,
            text: secrets::hidden(&new.text).into_owned(),
            delivered: false,
            at: clock::wall(),
        };
        let id = message.id.clone();
        // On its way from the first moment on: the end of the last turn must not send it as well.
        let letter = live.change(|state| {
            state.team.put(message);
            put_on_the_way(state, &member.id, Some((&id, &new.text)))
        });
        let sent = match (letter, live.save().await) {
            (Some(letter), Ok(())) => {
                self.hand(&live, &member, letter, new.expected, &new.starter).await
            }
            (letter, saved) => {
                let (ids, _) = letter.unwrap_or_default();
                live.change(|state| drop_letter(state, &ids));
                Err(saved.err().unwrap_or_else(nothing_waits))
            }
        };
        if sent.is_err() {
            live.change(|state| state.team.withdraw(&id));
        }
        // What was answered is on disk; a failure here would lie about a turn that runs.
        if let Err(error) = live.save().await {
            tracing::error!(%error, team = %live.id, "a team could not be written");
        }
        sent
    }

    /// The member that a message is for, if it can take one.
    fn open_member(&self, live: &Arc<LiveTeam>, new: &NewMessage) -> Result<Member> {
        let team = live.team();
        let member = team.member(&new.member).ok_or_else(|| super::no_member(&new.member))?;
        let seen = self.core.threads().get(member.thread);
        let Some(seen) = seen.filter(|seen| !seen.thread.archived) else {
            return Err(Error::invalid("member_id", format!("member {} is closed", member.name)));
        };
        if member.status == MemberStatus::Closed {
            self.apply(live, |state| state.team.reopen(member.thread, clock::wall()));
        }
        let runs = seen.status.active_turn;
        if new.expected.is_some_and(|expected| runs != Some(expected)) {
            return Err(mismatch(runs));
        }
        let asked = |one: &&Message| one.kind != MessageKind::FinalAnswer;
        let (waiting, bytes) = live.look(|state| {
            let waiting = state.team.undelivered(&member.id, &[]).into_iter().filter(asked);
            (waiting.count(), state.team.waiting_bytes())
        });
        if waiting >= MOST_WAITING {
            let message = format!("{MOST_WAITING} messages wait for member {}", member.name);
            return Err(Error::new(ErrorKind::Busy, message));
        }
        if bytes + new.text.len() > WAITING_BYTES {
            let message = format!("more than {WAITING_BYTES} bytes of messages wait for the team");
            return Err(Error::new(ErrorKind::Busy, message));
        }
        Ok(member.clone())
    }

    /// Brings all that waits for a member into a turn of its thread.
    pub(super) async fn send(
        &self,
        live: &Arc<LiveTeam>,
        member: &Member,
        expected: Option<TurnId>,
        starter: &Starter,
    ) -> Result<TurnId> {
        let letter = live.change(|state| put_on_the_way(state, &member.id, None));
        let letter = letter.ok_or_else(nothing_waits)?;
        self.hand(live, member, letter, expected, starter).await
    }

    /// Brings a letter into a turn of a member's thread.
    async fn hand(
        &self,
        live: &Arc<LiveTeam>,
        member: &Member,
        (ids, text): (Vec<String>, String),
        expected: Option<TurnId>,
        starter: &Starter,
    ) -> Result<TurnId> {
        let before = clock::wall();
        let said = UserMessage { text: text.clone(), ..UserMessage::default() };
        let sent = self.bring(member, said, expected, starter).await;
        match sent {
            Ok(StartedTurn::New(turn)) => {
                // Its first item is what was said, and is as durable as the turn.
                self.apply(live, |state| {
                    drop_letter(state, &ids);
                    state.team.deliver(&ids, clock::wall());
                    state.team.begin_turn(member.thread, turn.id, clock::wall())
                });
                Ok(turn.id)
            }
            Ok(StartedTurn::Steered(turn)) => {
                self.expect_in(live, member, (&ids, &text), turn, before).await;
                Ok(turn)
            }
            Err(error) => {
                live.change(|state| drop_letter(state, &ids));
                Err(error)
            }
        }
    }

    async fn bring(
        &self,
        member: &Member,
        message: UserMessage,
        expected: Option<TurnId>,
        starter: &Starter,
    ) -> Result<StartedTurn> {
        let threads = self.core.threads();
        if let Some(expected) = expected {
            return match threads.steer(member.thread, expected, Some(message)).await? {
                Steered::Accepted(turn) => Ok(StartedTurn::Steered(turn)),
                Steered::Mismatch(runs) => Err(mismatch(runs)),
            };
        }
        let new = NewTurn {
            message,
            client: starter.client,
            profile: starter.profile,
            keys: starter.keys.clone(),
            ..NewTurn::default()
        };
        threads.start_turn(member.thread, new).await
    }

    /// A letter was handed to a turn that ran: its item will say that it was taken up.
    async fn expect_in(
        &self,
        live: &Arc<LiveTeam>,
        member: &Member,
        (ids, text): (&[String], &str),
        turn: TurnId,
        before: Timestamp,
    ) {
        live.change(|state| {
            let is_this = |letter: &&mut Letter| letter.ids == ids;
            if let Some(letter) = state.letters.iter_mut().find(is_this) {
                letter.turn = Some(turn);
            }
        });
        let threads = self.core.threads();
        let runs = threads.get(member.thread).and_then(|it| it.status.active_turn);
        if runs == Some(turn) {
            return;
        }
        // It ended before this was noted, so its end released nothing. What it was sent last is an item all
        // the same, and is not sent again.
        let said = threads.user_texts_since(member.thread, before).await.unwrap_or_default();
        let text = secrets::hidden(text);
        let is_said = said.iter().any(|said| secrets::hidden(said) == text);
        live.change(|state| {
            if is_said && state.letters.iter().any(|letter| letter.ids == ids) {
                drop_letter(state, ids);
                state.team.deliver(ids, clock::wall());
            }
            release(state, turn)
        });
    }

    /// Whoever waits for the end of a turn may see it before the items of that turn are reported: what is in them was
    /// taken up, and is not sent again.
    pub(super) async fn settle_letters(
        &self,
        live: &Arc<LiveTeam>,
        thread: ThreadId,
        turn: TurnId,
    ) {
        let is_of_turn = |letter: &Letter| letter.turn == Some(turn);
        if !live.look(|state| state.letters.iter().any(is_of_turn)) {
            return;
        }
        for text in self.core.threads().user_texts_of(thread, turn).await.unwrap_or_default() {
            self.taken_up(live, (thread, turn), &text);
        }
    }

    /// A turn of a member has taken something up; noted once, however often it is reported.
    pub(super) fn taken_up(
        &self,
        live: &Arc<LiveTeam>,
        (thread, turn): (ThreadId, TurnId),
        said: &str,
    ) {
        let said = secrets::hidden(said);
        let is_delivered = live.change(|state| {
            let Some(to) = state.team.of_thread(thread).map(|member| member.id.clone()) else {
                return false;
            };
            let is_this = |letter: &Letter| {
                let is_here = letter.turn.is_none_or(|its| its == turn);
                is_here && letter.to == to && secrets::hidden(&letter.text) == said
            };
            let Some(at) = state.letters.iter().position(is_this) else { return false };
            let letter = state.letters.remove(at);
            state.team.deliver(&letter.ids, clock::wall())
        });
        if is_delivered {
            live.save_soon(&self.core.inner.runtime);
        }
    }
}

fn nothing_waits() -> Error {
    Error::conflict("nothing waits for the member")
}

/// Joins what waits for a member to one letter, which counts as on its way from now on. A message that has
/// just come is said as it came; what is written down has no secrets.
fn put_on_the_way(
    state: &mut State,
    to: &MemberId,
    fresh: Option<(&str, &str)>,
) -> Option<(Vec<String>, String)> {
    let waiting = state.team.undelivered(to, &state.letters);
    let said = |message: &&Message| match fresh {
        Some((id, text)) if message.id == id => text.to_owned(),
        _ => worded(&state.team, message),
    };
    let texts: Vec<String> = waiting.iter().map(said).collect();
    let ids: Vec<String> = waiting.iter().map(|message| message.id.clone()).collect();
    if ids.is_empty() {
        return None;
    }
    let text = texts.join(BETWEEN);
    let letter = Letter { turn: None, to: to.clone(), ids: ids.clone(), text: text.clone() };
    state.letters.push(letter);
    Some((ids, text))
}

/// A message as its member reads it.
pub(super) fn worded(team: &Team, message: &Message) -> String {
    if message.kind != MessageKind::FinalAnswer {
        return message.text.clone();
    }
    let from = message.from.as_ref().map(MemberId::as_str).unwrap_or_default();
    let name = team.member(from).map_or(from, |member| &*member.name);
    format!("[Answer of teammate {name}]\n{}", message.text)
}

/// How often a letter has a message as a part of its own.
pub(super) fn times_in(letter: &str, message: &str) -> usize {
    let is_part = |at: usize| {
        let (before, after) = (&letter[..at], &letter[at + message.len()..]);
        (before.is_empty() || before.ends_with(BETWEEN))
            && (after.is_empty() || after.starts_with(BETWEEN))
    };
    match message.is_empty() {
        true => 0,
        false => letter.match_indices(message).filter(|(at, _)| is_part(*at)).count(),
    }
}

fn drop_letter(state: &mut State, ids: &[String]) {
    state.letters.retain(|letter| letter.ids != ids);
}

/// What a turn that is over did not take up waits again; false if there is nothing.
pub(super) fn release(state: &mut State, turn: TurnId) -> bool {
    let before = state.letters.len();
    state.letters.retain(|letter| letter.turn != Some(turn));
    state.letters.len() < before
}

fn mismatch(runs: Option<TurnId>) -> Error {
    let message = match runs {
        Some(turn) => format!("expected_turn_id does not match: turn {turn} is running"),
        None => "expected_turn_id does not match: no turn is running".to_owned(),
    };
    Error::invalid("expected_turn_id", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_part_of_its_own_and_not_of_another() {
        assert_eq!(times_in("go on", "go on"), 1);
        assert_eq!(times_in("first\n\ngo on\n\ngo on", "go on"), 2);
        assert_eq!(times_in("a\n\nb\n\nc", "a\n\nb"), 1);
        for other in ["do not go on", "go on now", "go on\nnow", "", "x\n\ngo on now"] {
            assert_eq!(times_in(other, "go on"), 0, "{other}");
        }
        assert_eq!(times_in("x", ""), 0);
    }
}
