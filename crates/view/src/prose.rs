//! Markdown of agents as blocks and spans, so that no painter parses any of it.
//!
//! Raw HTML is text like any other. While a text grows, only its last open block is parsed again; the
//! blocks before it are settled.

#[cfg(test)]
#[path = "prose/tests.rs"]
mod tests;

use std::collections::HashMap;

use pulldown_cmark::{
    Alignment, BrokenLink, CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd,
};

use crate::link::{Align, Block, ListItem, Span};
use crate::safe;

/// Quotes and lists within each other; deeper ones are shown as those.
const MOST_DEPTH: usize = 12;
/// Definitions of links that are remembered.
const MOST_DEFINITIONS: usize = 1000;

/// The blocks of a text that is complete.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut prose = Prose::default();
    prose.push(text);
    prose.blocks
}

/// A text that grows.
#[derive(Clone, Debug, Default)]
pub struct Prose {
    /// What the open block is made of, and what may belong to it.
    open: String,
    blocks: Vec<Block>,
    /// How many blocks are settled.
    settled: usize,
    /// Links that were defined in what is settled.
    definitions: HashMap<String, String>,
}

impl Prose {
    /// The blocks so far.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Adds text. Gives the index from which on the blocks are new.
    pub fn push(&mut self, text: &str) -> usize {
        self.open.push_str(text);
        let from = self.settled;
        self.blocks.truncate(from);
        let (found, starts) = self.parse();
        self.blocks.extend(found);
        self.settle(&starts);
        from
    }

    /// The blocks of what is open, and where each begins.
    fn parse(&mut self) -> (Vec<Block>, Vec<usize>) {
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        let known = &self.definitions;
        let defined = |link: BrokenLink<'_>| {
            let target = known.get(&link.reference.to_lowercase())?;
            Some((CowStr::from(target.clone()), CowStr::from("")))
        };
        let parser = Parser::new_with_broken_link_callback(&self.open, options, Some(defined));
        let new: Vec<(String, String)> = parser
            .reference_definitions()
            .iter()
            .map(|(label, definition)| (label.to_lowercase(), definition.dest.to_string()))
            .collect();
        let mut builder = Builder::default();
        let mut starts = Vec::new();
        for (event, range) in parser.into_offset_iter() {
            if builder.is_at_top() && !matches!(event, Event::End(_)) {
                starts.push(range.start);
            }
            builder.take(event);
        }
        for (label, target) in new {
            if self.definitions.len() < MOST_DEFINITIONS {
                self.definitions.entry(label).or_insert(target);
            }
        }
        let found = builder.finish();
        // Both count the blocks at the top; if they ever differ nothing is settled.
        if found.len() != starts.len() {
            starts.clear();
        }
        (found, starts)
    }

    /// A block is settled once the next one begins on a line that is complete; until then it may turn
    /// out to be part of this one.
    fn settle(&mut self, starts: &[usize]) {
        let line_is_whole = |start: &usize| self.open[*start..].contains('\n');
        let Some(open) = starts.iter().rposition(line_is_whole) else { return };
        // With its indentation, which may mean something.
        let line = self.open[..starts[open]].rfind('\n').map_or(0, |end| end + 1);
        self.open.drain(..line);
        self.settled += open;
    }
}

/// Something that holds blocks or spans and is not closed yet.
enum Holder {
    Blocks(Vec<Block>),
    Quote(Vec<Block>),
    List(Option<u64>, Vec<ListItem>),
    Item(ListItem),
    Table {
        align: Vec<Align>,
        head: Vec<Vec<Span>>,
        rows: Vec<Vec<Vec<Span>>>,
        row: Vec<Vec<Span>>,
        in_head: bool,
    },
    /// Quotes and lists too deep to be shown as such.
    Flat,
}

/// Blocks in the making.
struct Builder {
    holders: Vec<Holder>,
    spans: Vec<Span>,
    look: Span,
    /// How often each look was opened.
    bold: u32,
    italic: u32,
    strike: u32,
    links: Vec<Option<String>>,
    heading: Option<u8>,
    code: Option<(String, String)>,
    html: Option<String>,
    /// Tags that are open in all.
    open: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            holders: vec![Holder::Blocks(Vec::new())],
            spans: Vec::new(),
            look: Span::default(),
            bold: 0,
            italic: 0,
            strike: 0,
            links: Vec::new(),
            heading: None,
            code: None,
            html: None,
            open: 0,
        }
    }
}

impl Builder {
    fn is_at_top(&self) -> bool {
        self.open == 0
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => {
                self.open += 1;
                self.start(tag);
            }
            Event::End(tag) => {
                self.open = self.open.saturating_sub(1);
                self.end(tag);
            }
            Event::Text(text) => match (&mut self.code, &mut self.html) {
                (Some((_, code)), _) => code.push_str(&text),
                (None, Some(html)) => html.push_str(&text),
                (None, None) => self.text(&text, false),
            },
            Event::Html(text) => match &mut self.html {
                Some(html) => html.push_str(&text),
                None => self.text(&text, false),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text, true);
            }
            Event::InlineHtml(text) | Event::FootnoteReference(text) => self.text(&text, false),
            Event::SoftBreak => self.text(" ", false),
            Event::HardBreak => self.text("\n", false),
            Event::Rule => self.add(Block::Rule),
            Event::TaskListMarker(done) => {
                if let Some(Holder::Item(item)) = self.holders.last_mut() {
                    item.done = Some(done);
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => self.heading = Some(level as u8),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        safe::line(info.split([' ', ',']).next().unwrap_or_default())
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::HtmlBlock => self.html = Some(String::new()),
            Tag::BlockQuote(_) => self.hold(Holder::Quote(Vec::new())),
            Tag::List(start) => self.hold(Holder::List(start, Vec::new())),
            Tag::Item => self.hold(Holder::Item(ListItem::default())),
            Tag::Table(align) => {
                let align = align.into_iter().map(alignment).collect();
                let (head, rows, row) = (Vec::new(), Vec::new(), Vec::new());
                self.hold(Holder::Table { align, head, rows, row, in_head: false });
            }
            Tag::TableHead => self.in_head(true),
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.bold += 1,
            Tag::Strikethrough => self.strike += 1,
            Tag::Link { dest_url, .. } => self.links.push(target(&dest_url)),
            Tag::Image { dest_url, .. } => self.links.push(target(&dest_url)),
            _ => {}
        }
        self.relook();
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_paragraph(),
            TagEnd::Heading(_) => {
                let spans = std::mem::take(&mut self.spans);
                let level = self.heading.take().unwrap_or(1);
                self.add(Block::Heading { level, spans });
            }
            TagEnd::CodeBlock => {
                if let Some((language, code)) = self.code.take() {
                    self.add(Block::Code { language, lines: lines(&code) });
                }
            }
            TagEnd::HtmlBlock => {
                let html = self.html.take().unwrap_or_default();
                self.text(html.trim_end_matches('\n'), false);
                self.end_paragraph();
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::Table => {
                self.release()
            }
            TagEnd::TableHead => {
                self.end_row();
                self.in_head(false);
            }
            TagEnd::TableRow => self.end_row(),
            TagEnd::TableCell => {
                let spans = std::mem::take(&mut self.spans);
                if let Some(Holder::Table { row, .. }) = self.holders.last_mut() {
                    row.push(spans);
                }
            }
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Strikethrough => self.strike = self.strike.saturating_sub(1),
            TagEnd::Link | TagEnd::Image => drop(self.links.pop()),
            _ => {}
        }
        self.relook();
    }

    fn relook(&mut self) {
        self.look = Span {
            bold: self.bold > 0,
            italic: self.italic > 0,
            strike: self.strike > 0,
            link: self.links.iter().rev().flatten().next().cloned(),
            ..Span::default()
        };
    }

    fn text(&mut self, text: &str, code: bool) {
        let text = safe::seen(text);
        if text.is_empty() {
            return;
        }
        let look = Span { code, ..self.look.clone() };
        match self.spans.last_mut() {
            Some(last) if (Span { text: String::new(), ..last.clone() }) == look => {
                last.text.push_str(&text);
            }
            _ => self.spans.push(Span { text, ..look }),
        }
    }

    /// Text that stands by itself; items of tight lists have it without a paragraph around it.
    fn end_paragraph(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        // At the top every start has its block.
        if !spans.is_empty() || self.is_at_top() {
            self.add(Block::Paragraph { spans });
        }
    }

    fn add(&mut self, block: Block) {
        for holder in self.holders.iter_mut().rev() {
            match holder {
                Holder::Blocks(blocks) | Holder::Quote(blocks) => return blocks.push(block),
                Holder::Item(item) => return item.blocks.push(block),
                Holder::List(..) | Holder::Table { .. } | Holder::Flat => {}
            }
        }
    }

    fn hold(&mut self, holder: Holder) {
        self.loose_text();
        let is_deep = self.holders.len() > 2 * MOST_DEPTH;
        self.holders.push(if is_deep { Holder::Flat } else { holder });
    }

    /// Text of a tight item before something nested in it.
    fn loose_text(&mut self) {
        if !self.spans.is_empty() {
            let spans = std::mem::take(&mut self.spans);
            self.add(Block::Paragraph { spans });
        }
    }

    fn release(&mut self) {
        self.loose_text();
        let Some(holder) = self.holders.pop() else { return };
        match holder {
            Holder::Quote(blocks) => self.add(Block::Quote { blocks }),
            Holder::List(start, items) => self.add(Block::List { start, items }),
            Holder::Item(item) => match self.holders.last_mut() {
                Some(Holder::List(_, items)) => items.push(item),
                _ => item.blocks.into_iter().for_each(|block| self.add(block)),
            },
            Holder::Table { align, head, rows, .. } => self.add(Block::Table { align, head, rows }),
            Holder::Flat => {}
            // The outermost is never released.
            Holder::Blocks(blocks) => self.holders.push(Holder::Blocks(blocks)),
        }
    }

    fn in_head(&mut self, is: bool) {
        if let Some(Holder::Table { in_head, .. }) = self.holders.last_mut() {
            *in_head = is;
        }
    }

    fn end_row(&mut self) {
        if let Some(Holder::Table { head, rows, row, in_head, .. }) = self.holders.last_mut() {
            let row = std::mem::take(row);
            if *in_head { *head = row } else { rows.push(row) }
        }
    }

    fn finish(mut self) -> Vec<Block> {
        self.loose_text();
        match self.holders.into_iter().next() {
            Some(Holder::Blocks(blocks)) => blocks,
            _ => Vec::new(),
        }
    }
}

fn alignment(align: Alignment) -> Align {
    match align {
        Alignment::None => Align::None,
        Alignment::Left => Align::Left,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::Right,
    }
}

/// Where a link leads, spelled as it is.
fn target(url: &str) -> Option<String> {
    let url = safe::exact(url);
    (!url.is_empty()).then_some(url)
}

fn lines(code: &str) -> Vec<String> {
    code.lines().map(safe::seen).collect()
}
