//! What the list shows, what is selected, and what keys mean. Nothing here draws or asks the daemon.

use std::collections::HashSet;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rookery_native::wire::{Category, QueueEntry, Related, Request, RequestKind};

use crate::{
    output::Tone,
    talk::{patch::Line, queue::Item},
};

/// The longest comment that can be typed.
const MAX_TYPED: usize = 4_000;

/// What a key press asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Leave the list.
    Leave,
    /// Show an item in full.
    Show(String),
    /// Approve a request.
    Approve(String),
    /// Deny a request.
    Deny(String),
    /// Answer a request later.
    Defer(String),
    /// Approve a review.
    ApproveReview(String),
    /// Request changes in a review, with a comment unless it is empty.
    RequestChanges(String, String),
    /// Defer a review.
    DeferReview(String),
    /// Accept a handoff.
    Accept(String),
    /// Dismiss an item.
    Resolve(String),
}

/// What is on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum View {
    /// The list.
    Items,
    /// One item in full.
    Details {
        /// Its id.
        item: String,
        lines: Vec<Line>,
        /// The first line that is shown.
        top: usize,
    },
    /// A comment is typed for a review.
    Prompt {
        /// The item's id.
        item: String,
        review: String,
        text: String,
    },
}

/// The list, with the selection and the current view.
pub(super) struct List {
    queue: Vec<QueueEntry>,
    requests: Vec<Request>,
    /// Whether items for information only are shown.
    all: bool,
    /// The id of the selected item.
    selected: Option<String>,
    /// Where it was; the next one is there if it goes.
    position: usize,
    pub(super) view: View,
    pub(super) message: Option<Line>,
    /// Items that were resolved here; their disappearance needs no message.
    resolved_here: HashSet<String>,
}

impl List {
    pub(super) fn new(all: bool) -> List {
        List {
            queue: Vec::new(),
            requests: Vec::new(),
            all,
            selected: None,
            position: 0,
            view: View::Items,
            message: None,
            resolved_here: HashSet::new(),
        }
    }

    /// The items that are shown.
    pub(super) fn items(&self) -> Vec<Item<'_>> {
        let mut items = crate::talk::queue::join(&self.queue, &self.requests);
        items.retain(|item| self.all || item.entry.item.category != Category::Informational);
        items
    }

    /// How many items are not shown.
    pub(super) fn hidden(&self) -> usize {
        self.queue.len() - self.items().len()
    }

    /// The place of the selected item.
    pub(super) fn selected(&self) -> Option<usize> {
        let id = self.selected.as_ref()?;
        self.items().iter().position(|item| item.entry.item.id == *id)
    }

    /// An item by its id.
    pub(super) fn item(&self, id: &str) -> Option<Item<'_>> {
        let all = crate::talk::queue::join(&self.queue, &self.requests);
        all.into_iter().find(|item| item.entry.item.id == id)
    }

    pub(super) fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.message = Some((tone, text.into()));
    }

    /// Takes what waits now. The selection stays on its item. If that was settled elsewhere,
    /// nothing is selected: a key that was meant for it must not decide another.
    pub(super) fn update(&mut self, queue: Vec<QueueEntry>, requests: Vec<Request>) {
        let was_empty = self.queue.is_empty() && self.selected.is_none();
        let before = self.selected.clone().and_then(|id| Some((self.item_title(&id)?, id)));
        (self.queue, self.requests) = (queue, requests);
        let ids: Vec<String> = self.items().iter().map(|one| one.entry.item.id.clone()).collect();
        if let Some((title, id)) = before
            && !ids.contains(&id)
        {
            if self.resolved_here.remove(&id) {
                self.select(self.position);
            } else {
                self.selected = None;
                self.say(Tone::Warning, format!("settled by another client: {title}"));
            }
        } else if was_empty {
            self.select(0);
        }
        if let Some(at) = self.selected() {
            self.position = at;
        }
        self.resolved_here.retain(|id| ids.contains(id));
    }

    fn item_title(&self, id: &str) -> Option<String> {
        self.item(id).map(|item| crate::talk::queue::what(&item))
    }

    /// Notes that an item was resolved here.
    pub(super) fn mark_resolved(&mut self, id: &str) {
        self.resolved_here.insert(id.to_owned());
    }

    /// The items that disappear when an action succeeds.
    pub(super) fn ids_about(&self, action: &Action) -> Vec<String> {
        let about = match action {
            Action::Resolve(id) => return vec![id.clone()],
            Action::Approve(id) | Action::Deny(id) => Related::Request(id.clone()),
            Action::ApproveReview(id) => Related::Review(id.clone()),
            Action::Accept(id) => Related::Handoff(id.clone()),
            Action::Leave
            | Action::Show(_)
            | Action::Defer(_)
            | Action::RequestChanges(..)
            | Action::DeferReview(_) => return Vec::new(),
        };
        let items = self.queue.iter().filter(|entry| entry.item.related.as_ref() == Some(&about));
        items.map(|entry| entry.item.id.clone()).collect()
    }

    /// Goes back to the list from an item that was resolved.
    pub(super) fn leave_details(&mut self) {
        self.view = View::Items;
    }

    fn select(&mut self, at: usize) {
        let ids: Vec<String> = self.items().iter().map(|one| one.entry.item.id.clone()).collect();
        self.position = at.min(ids.len().saturating_sub(1));
        self.selected = ids.get(self.position).cloned();
    }

    /// Shows an item in full.
    pub(super) fn open(&mut self, item: String, lines: Vec<Line>) {
        self.view = View::Details { item, lines, top: 0 };
    }

    /// What is pasted is text, and text is only wanted for comments.
    pub(super) fn paste(&mut self, pasted: &str) {
        match &mut self.view {
            View::Prompt { text, .. } => {
                text.extend(pasted.chars().filter(|c| !c.is_control()).take(MAX_TYPED));
                truncate(text);
            }
            View::Items | View::Details { .. } => {
                self.say(Tone::Warning, "pasted text is ignored here");
            }
        }
    }

    /// What a key means; `page` is how many rows a page has.
    pub(super) fn press(&mut self, key: KeyEvent, page: usize) -> Option<Action> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return Some(Action::Leave);
        }
        if is_control || key.modifiers.contains(KeyModifiers::ALT) {
            return None;
        }
        if matches!(self.view, View::Prompt { .. }) {
            return self.type_in(key.code);
        }
        self.message = None;
        match &mut self.view {
            View::Details { top, .. } => {
                // Where the end is depends on the width, so the drawing code limits it.
                match key.code {
                    KeyCode::Up | KeyCode::Char('k') => *top = top.saturating_sub(1),
                    KeyCode::Down | KeyCode::Char('j') => *top = top.saturating_add(1),
                    KeyCode::PageUp => *top = top.saturating_sub(page),
                    KeyCode::PageDown | KeyCode::Char(' ') => *top = top.saturating_add(page),
                    KeyCode::Home | KeyCode::Char('g') => *top = 0,
                    KeyCode::End | KeyCode::Char('G') => *top = usize::MAX,
                    KeyCode::Esc | KeyCode::Char('q') | KeyCode::Enter | KeyCode::Left => {
                        self.view = View::Items;
                    }
                    KeyCode::Char(letter) => return self.decide(letter),
                    _ => {}
                }
                None
            }
            View::Items | View::Prompt { .. } => self.press_in_list(key.code, page),
        }
    }

    fn press_in_list(&mut self, key: KeyCode, page: usize) -> Option<Action> {
        let at = self.position;
        let is_selected = self.selected.is_some();
        let last = self.items().len().saturating_sub(1);
        match key {
            KeyCode::Esc | KeyCode::Char('q') => return Some(Action::Leave),
            // The first move after a surprise only shows where one is.
            KeyCode::Up | KeyCode::Char('k') if is_selected => self.select(at.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') if is_selected => self.select(at + 1),
            KeyCode::Up | KeyCode::Down | KeyCode::Char('j' | 'k') => self.select(at),
            KeyCode::PageUp => self.select(at.saturating_sub(page)),
            KeyCode::PageDown => self.select(at + page),
            KeyCode::Home | KeyCode::Char('g') => self.select(0),
            KeyCode::End | KeyCode::Char('G') => self.select(last),
            KeyCode::Char('i') => {
                self.all = !self.all;
                self.select(at);
            }
            KeyCode::Enter | KeyCode::Right => {
                return self.selected.clone().map(Action::Show);
            }
            KeyCode::Char(letter) => return self.decide(letter),
            _ => {}
        }
        None
    }

    /// What a letter decides about the item that is shown or selected.
    fn decide(&mut self, letter: char) -> Option<Action> {
        if !matches!(letter, 'a' | 'd' | 'r' | 's') {
            return None;
        }
        let id = match &self.view {
            View::Details { item, .. } => Some(item.clone()),
            View::Items | View::Prompt { .. } => self.selected.clone(),
        };
        let Some(id) = id else {
            self.say(Tone::Warning, "nothing is selected");
            return None;
        };
        let Some(item) = self.item(&id) else {
            self.say(Tone::Warning, "already settled");
            return None;
        };
        if letter == 'r' {
            return Some(Action::Resolve(id));
        }
        let kind = item.request.map(|request| request.kind);
        let unseen = item.request.and_then(|request| request.unseen.as_ref());
        if let Some(unseen) = unseen.filter(|_| letter == 'a' && self.view == View::Items) {
            let more = unseen.characters;
            self.say(
                Tone::Warning,
                format!("{more} characters were not shown; press a to approve all of it"),
            );
            return Some(Action::Show(id));
        }
        match (item.entry.item.related.clone(), letter) {
            (Some(Related::Request(request)), _) => self.decide_request(kind, request, letter),
            (Some(Related::Review(review)), 'a') => Some(Action::ApproveReview(review)),
            (Some(Related::Review(review)), 's') => Some(Action::DeferReview(review)),
            (Some(Related::Review(review)), _) => {
                self.view = View::Prompt { item: id, review, text: String::new() };
                None
            }
            (Some(Related::Handoff(handoff)), 'a') => Some(Action::Accept(handoff)),
            _ => {
                self.say(Tone::Warning, "there is nothing to decide; press r to dismiss it");
                None
            }
        }
    }

    fn decide_request(
        &mut self,
        kind: Option<RequestKind>,
        request: String,
        letter: char,
    ) -> Option<Action> {
        match (kind, letter) {
            (None, _) => {
                self.say(Tone::Warning, "already settled");
                None
            }
            (Some(RequestKind::Input), _) => {
                let hint = format!(
                    "this is a question; answer it with `rookery answer {request} KEY=VALUE`"
                );
                self.say(Tone::Warning, hint);
                None
            }
            (Some(_), 'a') => Some(Action::Approve(request)),
            (Some(_), 'd') => Some(Action::Deny(request)),
            (Some(_), _) => Some(Action::Defer(request)),
        }
    }

    fn type_in(&mut self, key: KeyCode) -> Option<Action> {
        let View::Prompt { review, text, .. } = &mut self.view else { return None };
        match key {
            KeyCode::Char(c) if !c.is_control() => {
                text.push(c);
                truncate(text);
            }
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Esc => {
                self.view = View::Items;
                self.say(Tone::Faint, "nothing was sent");
            }
            KeyCode::Enter => {
                let action = Action::RequestChanges(review.clone(), std::mem::take(text));
                self.view = View::Items;
                return Some(action);
            }
            _ => {}
        }
        None
    }
}

fn truncate(text: &mut String) {
    if let Some((at, _)) = text.char_indices().nth(MAX_TYPED) {
        text.truncate(at);
    }
}
