//! A thread: what was said and done, what is being written, and the composer below it. A request
//! in it takes keys only after Tab went to it.

use std::collections::BTreeSet;

use rookery_term::keys::{Key, KeyPress, Mods, Special};
use rookery_view::link::{
    Block, CardCall, CommandRow, ItemKind, ItemShown, Mood, Page, ThreadHead, ThreadItem,
    ThreadItems, ThreadNews, ThreadOlder, ThreadSend, ThreadSet, ThreadShown, method,
};
use serde_json::json;

use super::card::CardPage;
use super::text::{Line, Tint, diff_lines, file_head, prose};
use crate::app::{App, Ask, Cx, Edited, Field, is, plain_char};
use crate::words::{Signs, line};

/// Within this time a second Esc stops the turn.
const TWICE: u64 = 1500;

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
    open: BTreeSet<String>,
    /// Lines scrolled up from the newest.
    pub scroll: usize,
    /// The card of the request that Tab went to.
    pub card: CardPage,
    escaped_at: Option<u64>,
    /// A message that was sent, until the daemon has taken it.
    sending: Option<String>,
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
            && let Some(text) = self.sending.take()
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
        let Some(mut text) = self.sending.take() else { return false };
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

    /// All of an item came.
    pub fn item_came(&mut self, shown: ItemShown) {
        let ItemShown { mut item, lines, .. } = shown;
        if let Some(tool) = &mut item.tool
            && !lines.is_empty()
        {
            tool.head = lines;
            tool.tail.clear();
        }
        if let Some(old) = self.items.iter_mut().find(|old| old.id == item.id) {
            *old = item;
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
    fn waiting(&self) -> Option<usize> {
        self.items.iter().position(|item| item.request.is_some() && item.status == "waiting")
    }

    /// Scrolls; negative is older.
    pub fn scroll_by(&mut self, by: i64) {
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
        self.fold(index);
    }

    fn fold(&mut self, index: usize) {
        if let Some(item) = self.items.get(index)
            && !self.open.remove(&item.id)
        {
            self.open.insert(item.id.clone());
        }
    }

    /// Everything that is shown, in lines of a width; `of` is the item.
    pub fn lines(&self, cells: u16, wall: i64, signs: Signs) -> Vec<Line> {
        let mut lines = Vec::new();
        if self.more {
            lines.push(Line::new("older items: g, or scroll up", Tint::Dim));
        }
        for (index, item) in self.items.iter().enumerate() {
            let is_here = self.at == Some(index);
            let mut own = self.item_lines(item, cells, wall, signs, is_here);
            for line in &mut own {
                line.of = Some(index);
            }
            lines.extend(own);
        }
        for text in self.steers() {
            let wrapped = crate::cells::wrap(&line(text), cells.saturating_sub(14));
            for (at, part) in wrapped.into_iter().enumerate() {
                let head = if at == 0 { " you  " } else { "      " };
                lines.push(Line::of_pieces(vec![(head.to_owned(), Tint::Dim), (part, Tint::Bold)]));
            }
            if let Some(last) = lines.last_mut() {
                last.pieces.push(("  (sent)".to_owned(), Tint::Dim));
            }
        }
        lines
    }

    fn item_lines(
        &self,
        item: &ThreadItem,
        cells: u16,
        wall: i64,
        signs: Signs,
        is_here: bool,
    ) -> Vec<Line> {
        let mood = match item.status.as_str() {
            "waiting" => Mood::Waiting,
            "failed" | "stopped" => Mood::Failed,
            "working" => Mood::Working,
            "done" => Mood::Done,
            _ => Mood::Quiet,
        };
        let sign = (format!("{} ", signs.of(mood)), Tint::Mood(mood));
        let here = if is_here { signs.pointer() } else { " " };
        let lead = (here.to_owned(), Tint::Accent);
        let is_open = self.open.contains(&item.id);
        match item.kind {
            ItemKind::Tool | ItemKind::Edit | ItemKind::Command | ItemKind::Question => {
                let mut lines = vec![tool_head(item, lead, sign, is_open)];
                if is_open {
                    lines.extend(tool_body(item, cells.saturating_sub(6)));
                }
                if is_here && item.request.is_some() && self.card.is_asked() {
                    let card = self.card.lines(cells.saturating_sub(6), wall);
                    lines.extend(card.into_iter().map(|line| line.indented(6)));
                }
                lines
            }
            kind => {
                let (word, tint) = match kind {
                    ItemKind::User => ("you", Tint::Bold),
                    ItemKind::Thought => ("…", Tint::Dim),
                    ItemKind::Error => ("err", Tint::Error),
                    ItemKind::Plan => ("plan", Tint::Text),
                    ItemKind::Compaction => ("cut", Tint::Dim),
                    _ => ("", Tint::Text),
                };
                let blocks = item.blocks.as_deref().unwrap_or_default();
                let body = prose(blocks, cells.saturating_sub(7), tint);
                let body = if body.is_empty() { vec![Line::default()] } else { body };
                let first = |at: usize, mut line: Line| {
                    let head = if at == 0 { format!("{word:<4} ") } else { " ".repeat(5) };
                    line.pieces.insert(0, (head, Tint::Dim));
                    let mark = if at == 0 { lead.clone() } else { (" ".to_owned(), Tint::Text) };
                    line.pieces.insert(0, mark);
                    line
                };
                body.into_iter().enumerate().map(|(at, line)| first(at, line)).collect()
            }
        }
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

fn tool_head(item: &ThreadItem, lead: (String, Tint), sign: (String, Tint), is_open: bool) -> Line {
    let mut pieces = vec![lead, sign];
    if let Some(tool) = &item.tool {
        pieces.push((format!("{}  ", line(&tool.name)), Tint::Bold));
        pieces.push((line(&tool.title), Tint::Text));
        if let Some(exit) = tool.exit {
            pieces.push((format!("  exit {exit}"), Tint::Dim));
        }
        if let Some(ms) = tool.ms {
            pieces.push((format!("  {}.{}s", ms / 1000, ms % 1000 / 100), Tint::Dim));
        }
        if tool.lines > 0 && !is_open {
            let noun = if tool.lines == 1 { "line" } else { "lines" };
            pieces.push((format!("  [+{} {noun}]", tool.lines), Tint::Dim));
        }
    }
    if item.diff.is_some() && !is_open {
        pieces.push(("  [diff]".to_owned(), Tint::Dim));
    }
    if item.request.is_some() && item.status == "waiting" {
        pieces
            .push(("  waits: tab, then a approve · d deny".to_owned(), Tint::Mood(Mood::Waiting)));
    }
    Line::of_pieces(pieces)
}

fn tool_body(item: &ThreadItem, cells: u16) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(tool) = &item.tool {
        let shown = tool.head.len() + tool.tail.len();
        let left = (tool.lines as usize).saturating_sub(shown);
        let text = |text: &String| {
            let wrapped = crate::cells::wrap_exact(&crate::app::exact(text), cells);
            wrapped.into_iter().map(|piece| Line::new(piece, Tint::Dim).indented(6))
        };
        lines.extend(tool.head.iter().flat_map(text));
        if left > 0 && !tool.tail.is_empty() {
            let more = format!("      ··· {left} more lines: enter");
            lines.push(Line::new(more, Tint::Accent));
        }
        lines.extend(tool.tail.iter().flat_map(text));
    }
    for file in item.diff.iter().flatten() {
        let head = file_head(file, cells);
        lines.extend(head.into_iter().map(|line| line.indented(4)));
        lines.extend(diff_lines(file, cells));
    }
    lines
}

impl App {
    pub(crate) fn thread_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        if is(press, Special::Escape) {
            return self.thread_escape(cx, press);
        }
        self.pages.thread.escaped_at = None;
        let has_card = self.pages.thread.at.is_some() && self.pages.thread.card.card().is_some();
        match press.key {
            Key::Special(Special::PageUp | Special::PageDown) if has_card => {
                let by = super::keys::text_step(press, self.drawn.page_rows);
                return self.pages.thread.card.scroll_by(by);
            }
            Key::Special(Special::PageUp) => return self.thread_up(10),
            Key::Special(Special::PageDown) => return self.pages.thread.scroll_by(10),
            Key::Special(Special::Tab) if self.complete_command() => return,
            Key::Special(Special::Tab) => return self.thread_tab(press),
            _ => {}
        }
        if self.pages.thread.at.is_some() {
            return self.thread_item_key(cx, press);
        }
        let is_line = press.key == Key::Special(Special::Enter)
            && press.mods.intersects(Mods::SHIFT | Mods::ALT);
        if is_line {
            return self.pages.thread.composer.insert("\n");
        }
        if is(press, Special::Enter) {
            return self.thread_send();
        }
        if self.pages.thread.composer.key(press) == Edited::No
            && press.key == Key::Special(Special::Up)
        {
            self.thread_up(1);
        }
    }

    /// Completes the command that is being written; whether there was one.
    fn complete_command(&mut self) -> bool {
        self.take_command(0)
    }

    /// Takes one of the commands that fit what is being written; whether there was one.
    pub fn take_command(&mut self, index: usize) -> bool {
        let page = &mut self.pages.thread;
        let Some(name) = page.fitting_commands().get(index).map(|row| row.name.clone()) else {
            return false;
        };
        page.composer = Field::new(format!("/{name} "));
        true
    }

    fn thread_up(&mut self, by: i64) {
        self.pages.thread.scroll_by(-by);
        let rows = usize::from(self.drawn.page_rows);
        let at_top = self.pages.thread.scroll + rows >= self.drawn.page_lines;
        self.load_older(at_top);
    }

    pub(crate) fn load_older(&mut self, at_top: bool) {
        let page = &self.pages.thread;
        if let Some(oldest) = page.items.first().filter(|_| page.more && at_top) {
            let call = ThreadOlder {
                thread: Some(page.thread.clone()),
                before: oldest.id.clone(),
                limit: Some(100),
            };
            self.call(Ask::Older, method::THREAD_OLDER, call);
        }
    }

    /// Esc twice stops a running turn; once leaves the items, or the page.
    fn thread_escape(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        let page = &mut self.pages.thread;
        if page.at.is_some() && (page.card.has_field() || page.card.would_remember()) {
            // Only what was begun on the card ends; the card stays.
            let guard = u64::from(self.settings.guard);
            page.card.key(press, cx.now, guard);
            return;
        }
        if page.at.take().is_some() {
            page.card.clear();
            return;
        }
        if !page.is_running() {
            return self.home();
        }
        let twice = page.escaped_at.take().is_some_and(|at| cx.now < at + TWICE);
        if twice {
            return self.thread_stop();
        }
        page.escaped_at = Some(cx.now);
        self.say("esc again stops the turn; q after tab leaves");
    }

    /// Stops the turn that runs.
    pub(crate) fn thread_stop(&mut self) {
        let params = json!({"thread": self.pages.thread.thread});
        self.call(Ask::Say("stopped".to_owned()), method::THREAD_STOP, params);
    }

    /// Tab goes to the request that waits, else into the items; there it folds.
    fn thread_tab(&mut self, press: &KeyPress) {
        let page = &mut self.pages.thread;
        if press.mods.contains(Mods::SHIFT) {
            return page.leave_items();
        }
        match page.at {
            Some(at) => page.fold(at),
            None => {
                let last = page.items.len().checked_sub(1);
                page.at = page.waiting().or(last);
                self.ask_item_card();
            }
        }
    }

    /// Asks for the card of the request under the cursor.
    pub(crate) fn ask_item_card(&mut self) {
        let page = &mut self.pages.thread;
        let item = page.at.and_then(|at| page.items.get(at));
        let Some(request) = item.and_then(|item| item.request.clone()) else {
            page.card.clear();
            return;
        };
        let serial = page.card.ask();
        let call = CardCall { item: None, request: Some(request) };
        self.call(Ask::Card(serial), method::CARD, call);
    }

    fn thread_item_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        let guard = u64::from(self.settings.guard);
        if self.pages.thread.card.is_asked() {
            let key = self.pages.thread.card.key(press, cx.now, guard);
            // The session of this card is the thread that is shown.
            let key =
                if key == super::card::CardKey::Open { super::card::CardKey::Used } else { key };
            let may = self.may_decide();
            let is_answer = matches!(key, super::card::CardKey::Answer(_));
            if key == super::card::CardKey::Say(super::card::AGAIN) {
                // The end of the card is near the end of the thread.
                self.pages.thread.scroll = 0;
            }
            if self.carry_out(cx, key, may) {
                if is_answer && may {
                    self.pages.thread.card.disarm();
                }
                return;
            }
        }
        let count = self.pages.thread.items.len();
        let at = self.pages.thread.at.unwrap_or(0);
        if let Some(to) = super::keys::moved(press, at, count, 5) {
            if at == 0 && to == 0 {
                self.load_older(true);
            }
            self.pages.thread.at = Some(to);
            return self.ask_item_card();
        }
        if is(press, Special::Enter) {
            return self.thread_item_enter(at);
        }
        match plain_char(press) {
            Some('q') => self.home(),
            Some('?') => self.go(Page::Help),
            _ => {}
        }
    }

    pub(crate) fn thread_item_enter(&mut self, at: usize) {
        let page = &mut self.pages.thread;
        let Some(item) = page.items.get(at) else { return };
        let is_open = page.open.contains(&item.id);
        if item.cut && is_open {
            let params = json!({"thread": page.thread, "item": item.id});
            return self.call(Ask::Item, method::ITEM, params);
        }
        page.fold(at);
    }

    pub(crate) fn thread_send(&mut self) {
        if !self.may_decide() {
            return self.warn("read-only: nothing is sent or decided here");
        }
        let page = &mut self.pages.thread;
        if page.composer.text().trim().is_empty() {
            return;
        }
        let text = page.composer.take();
        page.scroll = 0;
        page.sending = Some(text.clone());
        let thread = page.thread.clone();
        let send = ThreadSend { thread: thread.clone(), text, images: Vec::new() };
        self.call(Ask::Sent(thread), method::THREAD_SEND, send);
    }
}

#[cfg(test)]
mod tests {
    use rookery_view::link::{Span, ToolCall};

    use super::*;

    fn paragraph(text: &str) -> Block {
        Block::Paragraph { spans: vec![Span { text: text.to_owned(), ..Span::default() }] }
    }

    fn page() -> ThreadPage {
        let mut page = ThreadPage::default();
        page.begin("t");
        page
    }

    fn texts(page: &ThreadPage) -> Vec<String> {
        page.lines(60, 0, Signs { utf8: false })
            .iter()
            .map(|line| line.text().trim_end().to_owned())
            .collect()
    }

    #[test]
    fn blocks_that_stream_replace_the_last_ones() {
        let mut page = page();
        let mut news = ThreadNews {
            thread: "t".to_owned(),
            item: "i".to_owned(),
            from: 0,
            blocks: vec![paragraph("Hel")],
            ..ThreadNews::default()
        };
        page.news(&news);
        news.blocks = vec![paragraph("Hello"), paragraph("wor")];
        page.news(&news);
        news.from = 1;
        news.blocks = vec![paragraph("world")];
        page.news(&news);
        assert_eq!(texts(&page), ["      Hello", "", "      world"].map(str::to_owned));
        news.thread = "other".to_owned();
        news.blocks.clear();
        page.news(&news);
        assert_eq!(texts(&page).len(), 3);
    }

    #[test]
    fn tool_output_folds() {
        let mut page = page();
        page.items.push(ThreadItem {
            id: "c".to_owned(),
            kind: ItemKind::Command,
            status: "done".to_owned(),
            tool: Some(ToolCall {
                name: "shell".to_owned(),
                title: "cargo update".to_owned(),
                head: vec!["one".to_owned()],
                lines: 38,
                exit: Some(0),
                ms: Some(1234),
                ..ToolCall::default()
            }),
            ..ThreadItem::default()
        });
        assert_eq!(texts(&page), [" + shell  cargo update  exit 0  1.2s  [+38 lines]"]);
        page.click(0);
        assert_eq!(texts(&page)[1], "      one");
    }

    #[test]
    fn a_draft_is_kept_for_its_thread() {
        let mut page = page();
        page.composer.insert("half");
        page.begin("t");
        assert_eq!(page.composer.text(), "half");
        page.begin("other");
        assert_eq!(page.composer.text(), "");
    }
}
