//! The card of a request: everything that a decision is made by, and the only place where one is
//! made.
//!
//! Deciding keys work only on a card that was drawn where the person went, not within the guard
//! after it was drawn or changed, not on repeat and not with modifiers. `a` is yes once, `d` no,
//! `A` remembers and needs Enter; Enter alone decides nothing. What does not fit is not approved
//! before its end was seen. The answer carries the digest of what was shown.

mod lines;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use rookery_term::keys::{KeyKind, KeyPress, Special};
use rookery_view::link::{Card, CardNews};
use serde_json::{Value, json};

use crate::app::{Field, is, is_ctrl, plain_char};

/// What is said within the guard.
pub const READ_FIRST: &str = "read it first";
/// What is said before something is approved that the card has only in part.
pub const UNSEEN: &str =
    "a part is too long to be here: `rookery inbox show` prints it; a again approves all of it";
/// What is said before the end was seen.
pub const AGAIN: &str = "a again approves";

/// A card and how far a decision on it has come.
#[derive(Debug, Default)]
pub struct CardPage {
    serial: u64,
    card: Option<Card>,
    /// First line that is shown.
    pub scroll: usize,
    /// The furthest that this can be, once it was drawn.
    most: Option<usize>,
    /// When a person could begin to read it as it is now; none until that is on the screen.
    drawn_at: Option<u64>,
    end_is_seen: bool,
    again: bool,
    remember: bool,
    /// It was said that a part of it is not in the card at all.
    unseen_is_told: bool,
    /// The reason of a denial, while it is written.
    deny: Option<Field>,
    /// Which question is asked, what was answered, and an own answer while it is written.
    question: usize,
    answers: BTreeMap<String, String>,
    /// The first digit of an option, where a second one may follow.
    digit: Option<usize>,
    own: Option<Field>,
}

/// What a key on a card comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum CardKey {
    /// It was not the card's.
    Free,
    /// It was, and nothing is to be done.
    Used,
    /// Something is to be said.
    Say(&'static str),
    /// An answer is to be sent: params of `rookery/requests/answer`.
    Answer(Value),
    /// The request comes later.
    Later(String),
    /// A handoff is to be accepted.
    Accept(String),
    /// The session is to be opened.
    Open,
}

impl CardPage {
    /// The number of the card that is shown or asked for.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Another card is asked for.
    pub fn ask(&mut self) -> u64 {
        *self = CardPage { serial: super::next_serial(), ..CardPage::default() };
        self.serial
    }

    /// The same card is asked for again: what was written stays, and it has to be read once more.
    pub fn ask_again(&mut self) -> Option<(u64, String)> {
        let request = self.card.as_ref()?.request.clone()?;
        self.disarm();
        self.serial = super::next_serial();
        Some((self.serial, request))
    }

    /// Whether a card is shown or asked for.
    pub fn is_asked(&self) -> bool {
        self.serial != 0
    }

    /// No card is shown.
    pub fn clear(&mut self) {
        *self = CardPage::default();
    }

    pub fn came(&mut self, card: Card) {
        self.card = Some(card);
        self.drawn_at = None;
        self.end_is_seen = false;
    }

    /// The card that is shown.
    pub fn card(&self) -> Option<&Card> {
        self.card.as_ref()
    }

    /// The reason of a denial, while it is written.
    pub fn denial(&self) -> Option<&Field> {
        self.deny.as_ref()
    }

    /// An own answer to a question, while it is written.
    pub fn own_answer(&self) -> Option<&Field> {
        self.own.as_ref()
    }

    /// Whether Enter would remember.
    pub fn would_remember(&self) -> bool {
        self.remember
    }

    /// The question that is asked now.
    pub fn asked(&self) -> usize {
        self.question
    }

    /// It is on the screen.
    pub fn drawn(&mut self, serial: u64, end_is_seen: bool, now: u64) {
        if serial != self.serial || self.card.is_none() {
            return;
        }
        self.drawn_at.get_or_insert(now);
        self.end_is_seen |= end_is_seen;
    }

    /// What needed Enter to go on needs its key again.
    pub fn unarm(&mut self) {
        self.remember = false;
    }

    /// How far it can be scrolled on the screen.
    pub fn bounded(&mut self, serial: u64, most: usize) {
        if serial == self.serial {
            self.most = Some(most);
            self.scroll = self.scroll.min(most);
        }
    }

    /// Whether there is more of it than fits, as far as is known.
    pub fn can_scroll(&self) -> bool {
        self.most != Some(0)
    }

    /// A decision that was half made is not made, and the guard begins anew.
    pub fn disarm(&mut self) {
        self.drawn_at = None;
        self.again = false;
        self.remember = false;
        self.digit = None;
    }

    /// It was settled or changed.
    pub fn news(&mut self, news: &CardNews) {
        let Some(card) = &mut self.card else { return };
        if card.request.as_deref() != Some(&news.request) {
            return;
        }
        card.state.clone_from(&news.state);
        card.by.clone_from(&news.by);
        card.settled_at = news.at;
        self.again = false;
        self.remember = false;
        self.drawn_at = None;
        if news.state != "pending" {
            self.deny = None;
            self.own = None;
        }
    }

    /// Whether it still waits.
    pub fn is_pending(&self) -> bool {
        self.card.as_ref().is_some_and(|card| {
            card.request.is_some() && (card.state == "pending" || card.state.is_empty())
        })
    }

    /// The field that is open on it.
    pub fn field(&mut self) -> Option<&mut Field> {
        self.deny.as_mut().or(self.own.as_mut())
    }

    /// Closes the field that is open on it; nothing of it is kept.
    pub fn close_field(&mut self) {
        self.deny = None;
        self.own = None;
    }

    /// Whether letters go into a field.
    pub fn has_field(&self) -> bool {
        self.deny.is_some() || self.own.is_some()
    }

    /// The handoff that can be accepted here.
    fn handoff(&self) -> Option<String> {
        let card = self.card.as_ref()?;
        let about = card.about.as_ref().filter(|about| about.kind == "handoff")?;
        card.actions.iter().any(|action| action == "accept").then(|| about.id.clone())
    }

    fn may(&self, action: &str) -> bool {
        self.card.as_ref().is_some_and(|card| {
            card.actions.is_empty() || card.actions.iter().any(|known| known == action)
        })
    }

    /// Whether it is a question, which cannot be put off.
    fn asks(&self) -> bool {
        self.card.as_ref().is_some_and(|card| !card.questions.is_empty())
    }

    fn answer(&self, mut params: Value) -> CardKey {
        let Some(card) = &self.card else { return CardKey::Used };
        params["id"] = json!(card.request);
        if let Some(digest) = &card.digest {
            params["shown"] = json!(digest);
        }
        CardKey::Answer(params)
    }

    /// Whether the guard is over.
    fn is_open(&self, now: u64, guard: u64) -> bool {
        self.drawn_at.is_some_and(|at| now >= at + guard)
    }

    /// A key on the card.
    pub fn key(&mut self, press: &KeyPress, now: u64, guard: u64) -> CardKey {
        if let Some(answer) = self.field_key(press) {
            return answer;
        }
        let digit = self.digit.take();
        if let Some(digit) = digit {
            if is(press, Special::Escape) {
                return CardKey::Used;
            }
            if is(press, Special::Enter) && press.kind != KeyKind::Repeat {
                return self.press_option(digit - 1, now, guard);
            }
        }
        let was_armed = std::mem::take(&mut self.remember);
        if was_armed && is(press, Special::Escape) {
            return CardKey::Used;
        }
        if was_armed && is(press, Special::Enter) {
            if press.kind == KeyKind::Repeat || !self.is_open(now, guard) {
                return CardKey::Say(READ_FIRST);
            }
            return self.answer(json!({"approved": true, "remember": true}));
        }
        let Some(letter) = plain_char(press) else { return self.scroll_key(press) };
        if letter == 'o' && self.card.is_some() {
            return CardKey::Open;
        }
        if letter == 'a'
            && let Some(handoff) = self.handoff()
        {
            return match (press.kind, self.is_open(now, guard)) {
                (KeyKind::Repeat, _) => CardKey::Used,
                (_, false) => CardKey::Say(READ_FIRST),
                (_, true) => CardKey::Accept(handoff),
            };
        }
        if !self.is_pending() {
            return CardKey::Free;
        }
        if let Some(key) = self.question_key(letter, digit, press, now, guard) {
            return key;
        }
        match letter {
            'a' | 'A' | 'd' | 's' if press.kind == KeyKind::Repeat => CardKey::Used,
            'a' | 'A' | 'd' if !self.is_open(now, guard) => CardKey::Say(READ_FIRST),
            'a' if self.may("approve") => self.approve(),
            'A' if self.may("remember") => self.begin_remember(),
            'd' if self.may("deny") => {
                self.deny = Some(Field::default());
                CardKey::Say("a reason for the agent, if you like; enter denies, esc does not")
            }
            's' if self.may("later") && !self.asks() => {
                match self.card.as_ref().and_then(|card| card.request.clone()) {
                    Some(request) => CardKey::Later(request),
                    None => CardKey::Free,
                }
            }
            _ => CardKey::Free,
        }
    }

    /// Whether the daemon left a part of what would be done out of the card, and says so in a line.
    fn has_unseen(&self) -> bool {
        let is_notice =
            |line: &String| line.starts_with("[not shown here: ") && line.ends_with(']');
        self.card.as_ref().is_some_and(|card| card.lines.iter().any(is_notice))
    }

    fn approve(&mut self) -> CardKey {
        if !self.end_is_seen {
            return self.show_end();
        }
        if self.has_unseen() && !std::mem::replace(&mut self.unseen_is_told, true) {
            self.drawn_at = None;
            return CardKey::Say(UNSEEN);
        }
        self.again = false;
        self.answer(json!({"approved": true}))
    }

    fn begin_remember(&mut self) -> CardKey {
        if !self.end_is_seen {
            return self.show_end();
        }
        if self.has_unseen() && !std::mem::replace(&mut self.unseen_is_told, true) {
            self.drawn_at = None;
            return CardKey::Say(UNSEEN);
        }
        self.remember = true;
        CardKey::Say("enter approves this and remembers exactly this; any other key does not")
    }

    /// Scrolls to the end; the guard begins anew, so that a held key does not go on to approve.
    fn show_end(&mut self) -> CardKey {
        self.scroll = usize::MAX;
        self.drawn_at = None;
        self.again = true;
        CardKey::Say(AGAIN)
    }

    fn field_key(&mut self, press: &KeyPress) -> Option<CardKey> {
        let is_deny = self.deny.is_some();
        let field = self.deny.as_mut().or(self.own.as_mut())?;
        if is(press, Special::Escape) {
            self.close_field();
            return Some(CardKey::Used);
        }
        if !is(press, Special::Enter) {
            field.key(press);
            return Some(CardKey::Used);
        }
        let text = field.take();
        self.close_field();
        if is_deny {
            let mut params = json!({"approved": false});
            if !text.trim().is_empty() {
                params["message"] = json!(text.trim());
            }
            return Some(self.answer(params));
        }
        Some(self.choose(text))
    }

    fn question_key(
        &mut self,
        letter: char,
        before: Option<usize>,
        press: &KeyPress,
        now: u64,
        guard: u64,
    ) -> Option<CardKey> {
        let question = self.card.as_ref()?.questions.get(self.question)?;
        let digit = letter.to_digit(10)? as usize;
        if press.kind == KeyKind::Repeat {
            self.digit = before;
            return Some(CardKey::Used);
        }
        // The own answer is behind the last option.
        let count = question.options.len() + 1;
        let number = before.unwrap_or(0) * 10 + digit;
        let own = (number == 0 && count == 1).then_some(0);
        let Some(index) = number.checked_sub(1).or(own) else { return Some(CardKey::Used) };
        let may_go_on = (1..=count).contains(&(number * 10));
        if may_go_on && self.is_open(now, guard) {
            self.digit = Some(number);
            return Some(CardKey::Say("a second digit, or enter for this one"));
        }
        Some(self.press_option(index, now, guard))
    }

    /// An option of the question that is asked, by index; the one behind the last is an own answer.
    pub fn press_option(&mut self, index: usize, now: u64, guard: u64) -> CardKey {
        let card = self.card.as_ref().filter(|_| self.is_pending());
        let question = card.and_then(|card| card.questions.get(self.question));
        let Some(question) = question else { return CardKey::Used };
        if !self.is_open(now, guard) {
            return CardKey::Say(READ_FIRST);
        }
        if let Some(choice) = question.options.get(index) {
            let label = choice.label.clone();
            return self.choose(label);
        }
        if index == question.options.len() {
            self.own = Some(Field::default());
            return CardKey::Say("your own answer; enter sends it");
        }
        CardKey::Used
    }

    /// One question is answered; after the last one all answers are sent.
    fn choose(&mut self, text: String) -> CardKey {
        let Some(card) = &self.card else { return CardKey::Used };
        let Some(question) = card.questions.get(self.question) else { return CardKey::Used };
        self.answers.insert(question.id.clone(), text);
        self.question += 1;
        if self.question < card.questions.len() {
            // Another question is another thing to read: a key that was pressed twice is not for it.
            self.drawn_at = None;
            return CardKey::Used;
        }
        let answers = std::mem::take(&mut self.answers);
        self.question = 0;
        self.answer(json!({"answers": answers}))
    }

    fn scroll_key(&mut self, press: &KeyPress) -> CardKey {
        use rookery_term::keys::Key::{Char, Special as S};
        let by: i64 = match press.key {
            S(Special::PageUp) => -10,
            S(Special::PageDown) => 10,
            Char('u') if is_ctrl(press) => -10,
            Char('d') if is_ctrl(press) => 10,
            _ => return CardKey::Free,
        };
        self.scroll_by(by);
        CardKey::Used
    }

    /// Scrolls its text; drawing keeps it within bounds.
    pub fn scroll_by(&mut self, by: i64) {
        let by_abs = usize::try_from(by.unsigned_abs()).unwrap_or(0);
        let most = self.most.unwrap_or(usize::MAX);
        let from = self.scroll.min(most);
        self.scroll = if by < 0 {
            from.saturating_sub(by_abs)
        } else {
            from.saturating_add(by_abs).min(most)
        };
    }

    /// The hint below it.
    pub fn hint(&self) -> String {
        let Some(card) = &self.card else { return String::new() };
        if self.deny.is_some() {
            return "enter deny  esc back".to_owned();
        }
        if self.remember {
            return "enter approve and remember  esc back".to_owned();
        }
        if card.request.is_none() {
            let what = match card.about.as_ref().map(|about| about.kind.as_str()) {
                Some("handoff") => "a accept  ",
                Some(_) => "enter show  ",
                None => "",
            };
            return format!("{what}x dismiss  o open");
        }
        if !self.is_pending() {
            return "enter next  o open".to_owned();
        }
        if !card.questions.is_empty() {
            let count = card.questions.get(self.question).map_or(0, |q| q.options.len()) + 1;
            return format!("1-{count} choose  enter send  o open");
        }
        let all = [
            ("approve", "a approve"),
            ("deny", "d deny…"),
            ("remember", "A remember…"),
            ("later", "s later"),
            ("open", "o open"),
        ];
        let may: Vec<&str> =
            all.iter().filter(|(action, _)| self.may(action)).map(|(_, words)| *words).collect();
        may.join("  ")
    }
}
