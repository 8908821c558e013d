//! What is typed behind something that changes where keys go. It waits until the picture shows the new
//! place: the daemon's answer says that the change is made, and a numbered input sent after it comes
//! back with a frame that has it.

use std::collections::VecDeque;

use rookery_term::keys::{KeyPress, Special};
use rookery_view::link::method::Call;
use rookery_view::link::{Page, method};

use super::{App, Ask, Cx, Effect, Input, is, plain_char};

/// Keys and pastes that wait at most.
const MOST: usize = 4096;

/// How long they wait, in milliseconds; after that they are refused aloud.
const LONGEST: u64 = 5000;

/// Something that was typed.
pub(super) enum Typed {
    Key(KeyPress),
    Text(String),
    Paste(String, bool),
}

/// What waits, and for what.
#[derive(Default)]
pub(super) struct Hold {
    /// The page on which the change was asked for.
    from: Option<Page>,
    /// When the first key came that waits.
    since: Option<u64>,
    /// Answers that are not here yet.
    answers: usize,
    /// The numbered input after the last of them.
    fence: Option<u64>,
    typed: VecDeque<Typed>,
    /// Something else than the rows of the palette changes.
    is_place: bool,
}

impl Hold {
    /// Whether a page was shown when the change was asked for.
    fn began_on_page(&self) -> bool {
        self.from.as_ref().is_some_and(|from| !matches!(from, Page::Workspace { .. }))
    }

    /// Whether this goes on while only rows of the palette change.
    fn passes(&self, typed: &Typed) -> bool {
        let is_enter = matches!(typed, Typed::Key(press) if is(press, Special::Enter));
        !self.is_place && self.typed.is_empty() && !is_enter
    }
}

/// What a call changes for the next key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    Nothing,
    /// Which row of the palette Enter takes; letters go on into its query.
    Rows,
    /// Where keys go.
    Place,
}

/// What a call changes for the next key.
pub(crate) fn moves(ask: &Ask, Call { method, params }: &Call) -> Moves {
    const ALWAYS: [&str; 4] =
        [method::GO.name, method::ACT.name, method::EDIT.name, method::CONFIRM.name];
    let has = |words: &[&str]| words.iter().any(|word| params.get(word).is_some());
    let is_place = match *method {
        name if ALWAYS.contains(&name) => true,
        name if name == method::PANE.name => has(&["split", "focus", "move", "break"]),
        name if name == method::PALETTE.name => {
            if has(&["query", "move", "select"]) {
                return Moves::Rows;
            }
            has(&["open", "activate", "back", "close"])
        }
        _ => *ask == Ask::Opened,
    };
    if is_place { Moves::Place } else { Moves::Nothing }
}

/// Whether a key alone does nothing on a page but leave it.
fn leaves(press: &KeyPress) -> bool {
    plain_char(press) == Some('q') || is(press, Special::Escape)
}

impl App {
    /// A call is made that changes where keys go, or which row Enter takes.
    pub(super) fn hold_on(&mut self, moves: Moves) {
        let from = self.last_page.clone();
        let hold = self.hold.get_or_insert_with(|| Hold { from, ..Hold::default() });
        hold.is_place |= moves == Moves::Place;
        hold.answers += 1;
        hold.fence = None;
    }

    /// Whether what was typed waits now.
    pub(super) fn keeps(&mut self, cx: &Cx<'_>, typed: impl FnOnce() -> Typed) -> bool {
        let page = App::page(cx);
        let is_page = !matches!(page, Page::Workspace { .. });
        if is_page && self.hold.as_ref().is_some_and(|hold| hold.from.as_ref() != Some(&page)) {
            // It is here already; what it decides by has a guard of its own.
            self.arrive(cx);
        }
        let Some(hold) = &mut self.hold else { return false };
        let typed = typed();
        if hold.passes(&typed) {
            return false;
        }
        let since = *hold.since.get_or_insert(cx.now);
        if cx.now < since + LONGEST && hold.typed.len() < MOST {
            hold.typed.push_back(typed);
        } else {
            self.hold = None;
            self.push(Effect::Bell);
            self.warn("not sent");
        }
        true
    }

    /// Such a call was answered.
    pub(super) fn moved(&mut self) {
        let Some(hold) = &mut self.hold else { return };
        hold.answers = hold.answers.saturating_sub(1);
        if hold.answers == 0 {
            self.push(Effect::Input(Input::Fence));
        }
    }

    /// The input after the last answer has this number.
    pub fn fenced(&mut self, number: u64) {
        if let Some(hold) = self.hold.as_mut().filter(|hold| hold.answers == 0) {
            hold.fence = Some(number);
        }
    }

    /// A frame shows everything up to this input.
    pub fn accepted(&mut self, cx: &Cx<'_>, number: u64) {
        let fence = self.hold.as_ref().and_then(|hold| hold.fence);
        if fence.is_some_and(|fence| fence <= number) {
            self.arrive(cx);
        }
    }

    /// The new place is displayed: held keys are sent to a program there; pages discard keys typed before
    /// they were visible, except letters of a message. Keys for a program that is gone are no keys of the
    /// empty workspace, unless the user left a page for it.
    pub fn arrive(&mut self, cx: &Cx<'_>) {
        let Some(mut hold) = self.hold.take() else { return };
        let page = App::page(cx);
        let is_same = hold.from.as_ref() == Some(&page);
        let is_way_back =
            matches!(hold.typed.make_contiguous(), [Typed::Key(press)] if leaves(press));
        self.is_unseen = match page {
            Page::Workspace { .. } => App::focused(cx).is_none() && !hold.began_on_page(),
            _ => !is_same && !is_way_back,
        };
        for typed in hold.typed {
            match typed {
                Typed::Key(press) => self.key(cx, &press),
                Typed::Text(text) => self.commit(cx, text),
                Typed::Paste(text, is_cut) => self.paste(cx, text, is_cut),
            }
        }
        self.is_unseen = false;
    }

    /// The daemon is away: how many keys waited, and what they type. They were never sent.
    pub(super) fn let_go_of_keys(&mut self) -> (usize, String) {
        let typed = self.hold.take().map(|hold| hold.typed).unwrap_or_default();
        let text = typed.iter().map(|typed| match typed {
            Typed::Key(press) => crate::client::typed_by(&crate::calls::wire_key(0, press)),
            Typed::Text(text) | Typed::Paste(text, _) => {
                text[..text.floor_char_boundary(64)].to_owned()
            }
        });
        (typed.len(), text.collect())
    }
}
