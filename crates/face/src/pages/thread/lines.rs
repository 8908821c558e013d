//! A thread in lines of a width: what was said, and calls of tools with what came of them.

use rookery_view::link::{ItemKind, Mood, ThreadItem};

use super::ThreadPage;
use crate::pages::text::{Line, Tint, diff_lines, file_head, prose};
use crate::words::{Signs, line};

impl ThreadPage {
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
        match item.kind {
            ItemKind::Tool | ItemKind::Edit | ItemKind::Command | ItemKind::Question => {
                self.call_lines(item, (lead, sign), cells, wall, is_here)
            }
            // A plan that says nothing by itself is shown as the call that it came by.
            ItemKind::Plan if item.blocks.is_none() || item.request.is_some() => {
                self.call_lines(item, (lead, sign), cells, wall, is_here)
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
                let mut body = if body.is_empty() { vec![Line::default()] } else { body };
                // A plan has all of the call that it came by.
                if item.kind != ItemKind::Plan && self.next_page(item).is_some() {
                    body.push(Line::new("··· more of it: enter", Tint::Accent));
                }
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

    /// A call of a tool, with the card of its request below it.
    fn call_lines(
        &self,
        item: &ThreadItem,
        (lead, sign): ((String, Tint), (String, Tint)),
        cells: u16,
        wall: i64,
        is_here: bool,
    ) -> Vec<Line> {
        let is_open = self.open.contains(&item.id);
        let mut lines = vec![tool_head(item, lead, sign, is_open)];
        if is_open {
            let has_more = self.next_page(item).is_some();
            lines.extend(tool_body(item, has_more, cells.saturating_sub(6)));
        }
        if let Some(plan) = &item.blocks {
            let plan = prose(plan, cells.saturating_sub(6), Tint::Text);
            lines.extend(plan.into_iter().map(|line| line.indented(6)));
        }
        if is_here && item.request.is_some() && self.card.is_asked() {
            let card = self.card.lines(cells.saturating_sub(6), wall);
            lines.extend(card.into_iter().map(|line| line.indented(6)));
        }
        lines
    }
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
    if let Some(files) = &item.diff {
        let (added, removed) = files.iter().fold((0_u64, 0_u64), |sum, file| {
            (sum.0 + u64::from(file.added), sum.1 + u64::from(file.removed))
        });
        pieces.push((format!("  +{added} -{removed}"), Tint::Dim));
        if !is_open {
            pieces.push(("  [diff]".to_owned(), Tint::Dim));
        }
    }
    if item.request.is_some() && item.status == "waiting" {
        pieces
            .push(("  waits: tab, then a approve · d deny".to_owned(), Tint::Mood(Mood::Waiting)));
    }
    Line::of_pieces(pieces)
}

fn tool_body(item: &ThreadItem, has_more: bool, cells: u16) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(tool) = &item.tool {
        let shown = tool.head.len() + tool.tail.len();
        let left = (tool.lines as usize).saturating_sub(shown);
        let text = |text: &String| {
            let wrapped = crate::cells::wrap_exact(&crate::app::exact(text), cells);
            wrapped.into_iter().map(|piece| Line::new(piece, Tint::Dim).indented(6))
        };
        lines.extend(tool.head.iter().flat_map(text));
        if has_more {
            let count = if left > 0 { format!("{left} more lines") } else { "more".to_owned() };
            lines.push(Line::new(format!("      ··· {count}: enter"), Tint::Accent));
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
