//! A thread: what was said and done, what is being written, and the composer below it. A request
//! in it takes keys only after Tab went to it.

mod keys;
mod lines;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use rookery_view::link::{
    Block, CommandRow, ItemKind, ItemShown, ThreadHead, ThreadItem, ThreadItems, ThreadNews,
    ThreadSet, ThreadShown,
};

use super::attach::Attached;
use super::card::CardPage;
use crate::app::Field;

/// The thread that is open.
#[derive(Debug, Default)]
pub struct ThreadPage {
    thread: String,
    /// What is said about it as a whole.
    pub head: ThreadHead,
    items: Vec<ThreadItem>,
    more: bool,
    /// The message that is being written.
    pub composer: Field,
    /// The selected item, while the keyboard is among the items.
    pub at: Option<usize>,
    /// That item is kept in view: it was gone to since the text was scrolled last.
    pub follows: bool,
    open: BTreeSet<String>,
    /// Items of which more than their beginning came: where the next page of theirs begins, if there is one.
    read: BTreeMap<String, Option<u32>>,
    /// Lines scrolled up from the newest.
    pub scroll: usize,
    /// The card of the request that Tab went to.
    pub card: CardPage,
    escaped_at: Option<u64>,
    /// A message that was sent, until the daemon has taken it.
    sending: Option<(String, Vec<Attached>)>,
    /// Images that go with the message that is being written.
    pub(super) images: Vec<Attached>,
    /// Messages to a running turn that it has not taken up yet, and how many items there were.
    steers: Vec<(usize, String)>,
    /// Commands that a message can begin with.
    commands: Vec<CommandRow>,
}

impl ThreadPage {
    /// Begins with a thread; a draft for the same one is kept.
    pub fn begin(&mut self, thread: &str) {
        if self.thread != thread {
            *self = ThreadPage { thread: thread.to_owned(), ..ThreadPage::default() };
        }
    }

    /// It came.
    pub fn opened(&mut self, thread: &str, shown: ThreadShown) {
        if thread != self.thread {
            return;
        }
        let here = self.at.and_then(|at| self.items.get(at)).map(|item| item.id.clone());
        self.head = shown.head;
        self.items = shown.items;
        self.read.clear();
        self.more = shown.more;
        self.at = here.and_then(|id| self.items.iter().position(|item| item.id == id));
        if self.at.is_none() {
            self.card.clear();
        }
    }

    /// The keyboard is in the composer, and no request takes keys.
    pub fn leave_items(&mut self) {
        self.at = None;
        self.card.clear();
    }

    /// A message was taken.
    pub fn was_sent(&mut self, thread: &str) {
        if thread == self.thread
            && let Some((text, _)) = self.sending.take()
            && self.is_running()
        {
            self.steers.push((self.items.len(), text));
        }
    }

    /// Messages that were sent to the running turn and are not among its items yet.
    pub fn steers(&self) -> impl Iterator<Item = &str> {
        let is_here = |(at, text): &&(usize, String)| {
            // The item may have come before the answer.
            let from = at.saturating_sub(2).min(self.items.len());
            !self.items[from..].iter().any(|item| says(item, text))
        };
        let runs = self.is_running();
        let steers = self.steers.iter().filter(is_here);
        steers.filter(move |_| runs).map(|(_, text)| text.as_str())
    }

    /// A message may not have arrived: it is in the composer again, before what was written since.
    /// Whether there was one.
    pub fn take_back(&mut self) -> bool {
        let Some((mut text, mut images)) = self.sending.take() else { return false };
        images.append(&mut self.images);
        self.images = images;
        if !self.composer.is_empty() {
            text.push('\n');
            text.push_str(self.composer.text());
        }
        self.composer = Field::new(text);
        true
    }

    /// Older items came.
    pub fn older(&mut self, older: ThreadItems) {
        self.more = older.more;
        let added = older.items.len();
        self.items.splice(0..0, older.items);
        self.at = self.at.map(|at| at + added);
        for (at, _) in &mut self.steers {
            *at += added;
        }
    }

    /// Names it, for a change of something of it.
    pub fn set(&self) -> ThreadSet {
        ThreadSet { thread: self.thread.clone(), ..ThreadSet::default() }
    }

    /// A page of all that an item has came.
    pub fn item_came(&mut self, from: u32, shown: ItemShown) {
        let ItemShown { mut item, lines, next } = shown;
        let Some(old) = self.items.iter_mut().find(|old| old.id == item.id) else { return };
        if from > 0 && self.read.get(&item.id) != Some(&Some(from)) {
            // It is another one by now.
            return;
        }
        self.read.insert(item.id.clone(), next);
        let before = if from > 0 { shown_lines(old) } else { Vec::new() };
        let all: Vec<String> = before.into_iter().chain(lines).collect();
        if !all.is_empty() {
            match &mut item.tool {
                Some(tool) => (tool.head, tool.tail) = (all, Vec::new()),
                // Letter by letter: what is cut in the middle is no prose.
                None => {
                    item.blocks = Some(vec![Block::Code { language: String::new(), lines: all }]);
                }
            }
        }
        *old = item;
    }

    /// Where the next page of an item begins; none if all of it is here.
    fn next_page(&self, item: &ThreadItem) -> Option<u32> {
        match self.read.get(&item.id) {
            Some(next) => *next,
            None => item.cut.then_some(0),
        }
    }

    /// It goes on.
    pub fn news(&mut self, news: &ThreadNews) {
        if news.thread != self.thread {
            return;
        }
        if let Some(head) = &news.head {
            self.head = (**head).clone();
            if !self.is_running() {
                self.steers.clear();
            }
        }
        if let Some(whole) = &news.whole {
            self.read.remove(&whole.id);
            match self.items.iter_mut().find(|item| item.id == whole.id) {
                Some(item) => *item = (**whole).clone(),
                None => self.items.push((**whole).clone()),
            }
        }
        if news.item.is_empty() || (news.blocks.is_empty() && news.whole.is_some()) {
            return;
        }
        let item = match self.items.iter_mut().position(|item| item.id == news.item) {
            Some(at) => &mut self.items[at],
            None => {
                let item = ThreadItem { id: news.item.clone(), ..ThreadItem::default() };
                self.items.push(item);
                let last = self.items.len() - 1;
                &mut self.items[last]
            }
        };
        let blocks = item.blocks.get_or_insert_with(Vec::new);
        blocks.truncate(news.from as usize);
        blocks.extend_from_slice(&news.blocks);
    }

    /// What was said and done.
    pub fn items(&self) -> &[ThreadItem] {
        &self.items
    }

    /// Whether there are older items.
    pub fn has_older(&self) -> bool {
        self.more
    }

    /// Items that are unfolded.
    pub fn unfolded(&self) -> &BTreeSet<String> {
        &self.open
    }

    pub fn commands_came(&mut self, thread: &str, commands: Vec<CommandRow>) {
        if thread == self.thread {
            self.commands = commands;
        }
    }

    /// Commands that begin as the message does, while it is nothing but the begin of one.
    pub fn fitting_commands(&self) -> Vec<&CommandRow> {
        let Some(begin) = self.composer.text().strip_prefix('/') else { return Vec::new() };
        if begin.contains(char::is_whitespace) || self.at.is_some() {
            return Vec::new();
        }
        self.commands.iter().filter(|row| row.name.starts_with(begin)).collect()
    }

    /// The field that takes letters.
    pub fn field(&mut self) -> Option<&mut Field> {
        if self.at.is_some() {
            return self.card.field();
        }
        Some(&mut self.composer)
    }

    /// Whether a turn runs.
    pub fn is_running(&self) -> bool {
        self.head.turn.is_some() || self.head.status == "working" || self.head.status == "waiting"
    }

    /// The first item that waits for a decision.
    pub(crate) fn waiting(&self) -> Option<usize> {
        self.items.iter().position(|item| item.request.is_some() && item.status == "waiting")
    }

    /// Scrolls; negative is older.
    pub fn scroll_by(&mut self, by: i64) {
        self.follows = false;
        let amount = usize::try_from(by.unsigned_abs()).unwrap_or(0);
        self.scroll = if by < 0 {
            self.scroll.saturating_add(amount)
        } else {
            self.scroll.saturating_sub(amount)
        };
    }

    /// A click on an item.
    pub fn click(&mut self, index: usize) {
        self.at = Some(index);
        self.follows = true;
        self.fold(index);
    }

    fn fold(&mut self, index: usize) {
        if let Some(item) = self.items.get(index)
            && !self.open.remove(&item.id)
        {
            self.open.insert(item.id.clone());
        }
    }
}

/// Lines of which an item has all from its begin on.
fn shown_lines(item: &mut ThreadItem) -> Vec<String> {
    match (&mut item.tool, item.blocks.as_deref_mut()) {
        (Some(tool), _) => std::mem::take(&mut tool.head),
        (None, Some([Block::Code { lines, .. }])) => std::mem::take(lines),
        (None, _) => Vec::new(),
    }
}

/// Whether an item is this message of the user.
fn says(item: &ThreadItem, text: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut said = String::new();
    for block in item.blocks.iter().flatten() {
        if let Block::Paragraph { spans } = block {
            spans.iter().for_each(|span| said.push_str(&span.text));
        }
        said.push(' ');
    }
    item.kind == ItemKind::User && words(&said) == words(text)
}
