//! What members are sent: kept until a turn has taken it up.

use rookery_model::{Timestamp, TurnId};

use crate::member::{MemberId, MemberStatus};
use crate::team::{Team, TurnEnd};

/// Messages that were delivered and are still remembered, per team, and their bytes.
const MOST_DELIVERED: usize = 200;
const DELIVERED_BYTES: usize = 4 << 20;
/// Bytes of what members were told and have not heard yet, per team.
pub const WAITING_BYTES: usize = 4 << 20;
/// Answers that may wait for a lead, and their bytes; the oldest makes room.
const MOST_ANSWERS: usize = 100;
const ANSWER_BYTES: usize = 2 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Words.
    Message,
    /// Work to do.
    NewTask,
    /// What came of work.
    FinalAnswer,
}

/// Message to a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its name.
    pub id: String,
    /// Who says it; none if it came from outside of the team.
    pub from: Option<MemberId>,
    /// The recipient.
    pub to: MemberId,
    /// What kind of message it is.
    pub kind: MessageKind,
    /// The words.
    pub text: String,
    /// Whether a turn has taken it up.
    pub delivered: bool,
    /// When it was said.
    pub at: Timestamp,
}

impl Message {
    /// Whether it tells what came of a turn.
    fn is_answer(&self) -> bool {
        self.kind == MessageKind::FinalAnswer
    }
}

/// Messages on their way into a turn, as one text. Only in memory: what is not delivered when the process
/// ends is sent again by the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The turn that has to take it up; none until it was sent to one.
    pub turn: Option<TurnId>,
    /// The recipient.
    pub to: MemberId,
    /// The messages.
    pub ids: Vec<String>,
    /// The text that the turn receives, which is also what its item says.
    pub text: String,
}

impl Team {
    /// What a member has not received yet, oldest first, apart from what is on its way.
    pub fn undelivered(&self, to: &MemberId, on_their_way: &[Letter]) -> Vec<&Message> {
        let is_on_its_way =
            |message: &&Message| on_their_way.iter().any(|letter| letter.ids.contains(&message.id));
        let waiting = self.mailbox.iter().filter(|it| it.to == *to && !it.delivered);
        waiting.filter(|message| !is_on_its_way(message)).collect()
    }

    /// Puts a message into the mailbox.
    pub fn put(&mut self, message: Message) {
        self.updated_at = message.at;
        self.mailbox.push(message);
        self.keep_newest(|it| it.delivered, MOST_DELIVERED, DELIVERED_BYTES);
    }

    /// Bytes of what members were told by others and have not heard yet.
    pub fn waiting_bytes(&self) -> usize {
        let waiting = self.mailbox.iter().filter(|it| !it.delivered && !it.is_answer());
        waiting.map(|it| it.text.len()).sum()
    }

    /// Tells the lead what came of a teammate's turn: once, however often that end is noted. Whoever
    /// interrupted a turn knows it already.
    pub(crate) fn answer(&mut self, from: &MemberId, turn: TurnId, end: &TurnEnd, at: Timestamp) {
        let failed = || {
            let why = end.error.as_deref().unwrap_or("no reason is known");
            format!("The turn failed: {why}")
        };
        let text = match end.status {
            MemberStatus::Completed => end.message.clone(),
            MemberStatus::Failed => Some(failed()),
            _ => return,
        };
        let id = format!("answer-{turn}");
        if self.mailbox.iter().any(|message| message.id == id) {
            return;
        }
        self.put(Message {
            id,
            from: Some(from.clone()),
            to: MemberId::lead(),
            kind: MessageKind::FinalAnswer,
            text: text.unwrap_or_else(|| "The turn ended without an answer.".to_owned()),
            delivered: false,
            at,
        });
        self.keep_newest(|it| it.is_answer() && !it.delivered, MOST_ANSWERS, ANSWER_BYTES);
    }

    /// Of messages of one sort only the newest stay.
    fn keep_newest(&mut self, is_meant: fn(&Message) -> bool, most: usize, bytes: usize) {
        let (mut count, mut size) = (0, 0);
        let mut keeps = |message: &Message| {
            if !is_meant(message) {
                return true;
            }
            count += 1;
            size += message.text.len();
            count <= most && size <= bytes
        };
        let mut kept: Vec<bool> = self.mailbox.iter().rev().map(&mut keeps).collect();
        self.mailbox.retain(|_| kept.pop().unwrap_or(true));
    }

    /// Takes a message back that was not delivered.
    pub fn withdraw(&mut self, id: &str) {
        self.mailbox.retain(|message| message.id != id || message.delivered);
    }

    /// Messages were taken up by a turn; false if none of them waited.
    pub fn deliver(&mut self, ids: &[String], at: Timestamp) -> bool {
        let waiting = self.mailbox.iter_mut().filter(|it| !it.delivered && ids.contains(&it.id));
        let count = waiting.map(|message| message.delivered = true).count();
        if count > 0 {
            self.updated_at = at;
        }
        count > 0
    }
}
