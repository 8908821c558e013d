//! Text of pages as lines of tinted pieces: prose, diffs and tool output, wrapped to a width.

use rookery_view::link::{Block, DiffFile, FileStatus, LineKind, Mood, Span};

use crate::cells::{cut, text_width, wrap, wrap_exact};

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    /// As usual.
    Text,
    /// Less.
    Dim,
    /// More.
    Bold,
    /// Slanted.
    Italic,
    /// Struck out.
    Strike,
    /// Keys and names.
    Accent,
    Error,
    /// Added lines.
    Added,
    /// Removed lines.
    Removed,
    Code,
    Mood(Mood),
}

/// One line of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Pieces from the left.
    pub pieces: Vec<(String, Tint)>,
    /// Which item, file or line of a diff it belongs to.
    pub of: Option<usize>,
}

impl Line {
    /// A line of one piece.
    pub fn new(text: impl Into<String>, tint: Tint) -> Line {
        Line { pieces: vec![(text.into(), tint)], of: None }
    }

    /// A line of several.
    pub fn of_pieces(pieces: Vec<(String, Tint)>) -> Line {
        Line { pieces, of: None }
    }

    pub fn text(&self) -> String {
        self.pieces.iter().map(|(text, _)| text.as_str()).collect()
    }

    /// The same line with blanks before it.
    #[must_use]
    pub fn indented(mut self, cells: usize) -> Line {
        self.pieces.insert(0, (" ".repeat(cells), Tint::Text));
        self
    }
}

/// Text that a person decides by: broken at the edge, never cut, nothing moved.
pub fn exact_lines(text: &str, cells: u16, tint: Tint) -> Vec<Line> {
    let shown = crate::app::exact(text);
    wrap_exact(&shown, cells).into_iter().map(|line| Line::new(line, tint)).collect()
}

/// Spans in lines of a width.
fn spans(spans: &[Span], cells: u16, base: Tint) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    let mut used: u16 = 0;
    for span in spans {
        let tint = match span {
            Span { code: true, .. } => Tint::Code,
            Span { bold: true, .. } => Tint::Bold,
            Span { italic: true, .. } => Tint::Italic,
            Span { strike: true, .. } => Tint::Strike,
            _ => base,
        };
        let mut text = span.text.clone();
        if let Some(target) = &span.link
            && *target != span.text
        {
            // The address is shown: a text may say another one.
            text = format!("{text} <{target}>");
        }
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                lines.push(Line::default());
                used = 0;
            }
            for word in split_words(part) {
                let room = text_width(word);
                if used.saturating_add(room) > cells && used > 0 {
                    lines.push(Line::default());
                    used = 0;
                    if word.trim().is_empty() {
                        continue;
                    }
                }
                for (index, piece) in wrap(word, cells).into_iter().enumerate() {
                    if index > 0 {
                        lines.push(Line::default());
                        used = 0;
                    }
                    used += text_width(&piece);
                    if let Some(line) = lines.last_mut() {
                        line.pieces.push((piece, tint));
                    }
                }
            }
        }
    }
    lines
}

/// Words with the blanks after them apart.
fn split_words(text: &str) -> Vec<&str> {
    use unicode_segmentation::UnicodeSegmentation as _;
    text.split_word_bounds().collect()
}

/// Blocks of prose in lines of a width.
pub fn prose(blocks: &[Block], cells: u16, base: Tint) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 && !matches!(block, Block::List { .. }) {
            lines.push(Line::default());
        }
        lines.extend(one_block(block, cells, base));
    }
    lines
}

fn one_block(block: &Block, cells: u16, base: Tint) -> Vec<Line> {
    match block {
        Block::Paragraph { spans: pieces } => spans(pieces, cells, base),
        Block::Heading { spans: pieces, .. } => spans(pieces, cells, Tint::Bold),
        Block::Code { lines, .. } => lines
            .iter()
            .flat_map(|line| wrap_exact(line, cells.saturating_sub(2)))
            .map(|line| Line::new(line, Tint::Code).indented(2))
            .collect(),
        Block::List { start, items } => {
            let mut lines = Vec::new();
            for (index, item) in items.iter().enumerate() {
                let mark = match (item.done, start) {
                    (Some(true), _) => "[x] ".to_owned(),
                    (Some(false), _) => "[ ] ".to_owned(),
                    (None, Some(first)) => format!("{}. ", first + index as u64),
                    (None, None) => "- ".to_owned(),
                };
                let room = text_width(&mark);
                let inner = prose(&item.blocks, cells.saturating_sub(room), base);
                for (at, line) in inner.into_iter().enumerate() {
                    let mut line = line.indented(if at == 0 { 0 } else { usize::from(room) });
                    if at == 0 {
                        line.pieces[0] = (mark.clone(), Tint::Dim);
                    }
                    lines.push(line);
                }
            }
            lines
        }
        Block::Quote { blocks } => {
            let inner = prose(blocks, cells.saturating_sub(2), Tint::Dim);
            let quoted = |mut line: Line| {
                line.pieces.insert(0, ("> ".to_owned(), Tint::Dim));
                line
            };
            inner.into_iter().map(quoted).collect()
        }
        Block::Table { head, rows, .. } => table(head, rows, cells),
        Block::Rule => vec![Line::new("-".repeat(usize::from(cells.min(20))), Tint::Dim)],
    }
}

fn cell_text(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

fn table(head: &[Vec<Span>], rows: &[Vec<Vec<Span>>], cells: u16) -> Vec<Line> {
    let all: Vec<Vec<String>> = std::iter::once(head)
        .chain(rows.iter().map(Vec::as_slice))
        .map(|row| row.iter().map(|cell| cell_text(cell)).collect())
        .collect();
    let count = all.iter().map(Vec::len).max().unwrap_or(0);
    let most = cells / u16::try_from(count.max(1)).unwrap_or(1);
    let widths: Vec<u16> = (0..count)
        .map(|at| all.iter().filter_map(|row| row.get(at)).map(|cell| text_width(cell)).max())
        .map(|width| width.unwrap_or(0).min(most.saturating_sub(2)))
        .collect();
    let line = |(index, row): (usize, &Vec<String>)| {
        let tint = if index == 0 { Tint::Bold } else { Tint::Text };
        let mut text = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let shown = cut(cell, *width);
            let pad = usize::from(width.saturating_sub(text_width(&shown)) + 2);
            text.push_str(&shown);
            text.push_str(&" ".repeat(pad));
        }
        Line::new(text.trim_end().to_owned(), tint)
    };
    all.iter().enumerate().map(line).collect()
}

/// The head of a file in a diff: path and counts. Long paths are wrapped.
pub fn file_head(file: &DiffFile, cells: u16) -> Vec<Line> {
    let status = match file.status {
        FileStatus::Added => "  new",
        FileStatus::Removed => "  removed",
        FileStatus::Renamed => "  renamed",
        FileStatus::Copied => "  copied",
        FileStatus::Changed => "",
    };
    let mut pieces = vec![
        (crate::app::exact(&file.path), Tint::Bold),
        (format!("  +{}", file.added), Tint::Added),
        (format!(" -{}", file.removed), Tint::Removed),
        (status.to_owned(), Tint::Dim),
    ];
    if let Some(old) = &file.old {
        pieces.push((format!("  from {}", crate::app::exact(old)), Tint::Dim));
    }
    wrap_pieces(pieces, cells)
}

/// Pieces in lines of a width: broken wherever the edge is, nothing left off.
pub fn wrap_pieces(pieces: Vec<(String, Tint)>, cells: u16) -> Vec<Line> {
    use unicode_segmentation::UnicodeSegmentation as _;
    let mut lines = vec![Line::default()];
    let mut used: u16 = 0;
    for (text, tint) in pieces {
        let mut part = String::new();
        for cluster in text.graphemes(true) {
            let room = text_width(cluster);
            if used.saturating_add(room) > cells.max(1) && used > 0 {
                push_piece(&mut lines, &mut part, tint);
                lines.push(Line::default());
                used = 0;
            }
            part.push_str(cluster);
            used = used.saturating_add(room);
        }
        push_piece(&mut lines, &mut part, tint);
    }
    lines
}

fn push_piece(lines: &mut [Line], part: &mut String, tint: Tint) {
    if let Some(line) = lines.last_mut().filter(|_| !part.is_empty()) {
        line.pieces.push((std::mem::take(part), tint));
    }
}

/// The lines of a file's diff; long ones are wrapped. `of` counts the lines of the diff.
pub fn diff_lines(file: &DiffFile, cells: u16) -> Vec<Line> {
    let mut out = Vec::new();
    if file.binary {
        out.push(Line::new("  binary file", Tint::Dim));
    }
    let mut index = 0;
    for (at, hunk) in file.hunks.iter().flatten().enumerate() {
        if at > 0 {
            out.push(Line::new(format!("  ··· {}", crate::app::exact(&hunk.head)), Tint::Dim));
        }
        for line in &hunk.lines {
            let number = line.new.or(line.old).map(|n| n.to_string()).unwrap_or_default();
            let (sign, tint) = match line.kind {
                LineKind::Same => (' ', Tint::Text),
                LineKind::Added => ('+', Tint::Added),
                LineKind::Removed => ('-', Tint::Removed),
                LineKind::Note => ('\\', Tint::Dim),
            };
            let text = crate::app::exact(&line.text);
            for (part, piece) in wrap_exact(&text, cells.saturating_sub(8)).into_iter().enumerate()
            {
                let lead = if part == 0 { format!("{number:>5} {sign} ") } else { " ".repeat(8) };
                let pieces = vec![(lead, Tint::Dim), (piece, tint)];
                out.push(Line { pieces, of: Some(index) });
            }
            index += 1;
        }
    }
    if file.cut {
        out.push(Line::new("  more lines are not shown", Tint::Error));
    }
    out
}

#[cfg(test)]
mod tests {
    use rookery_view::link::{DiffLine, Hunk, ListItem};

    use super::*;

    fn paragraph(text: &str) -> Block {
        Block::Paragraph { spans: vec![Span { text: text.to_owned(), ..Span::default() }] }
    }

    fn texts(lines: &[Line]) -> Vec<String> {
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn prose_is_wrapped_and_indented() {
        let list = Block::List {
            start: Some(1),
            items: vec![ListItem { done: None, blocks: vec![paragraph("one two three")] }],
        };
        let lines = prose(&[paragraph("a b"), list], 10, Tint::Text);
        assert_eq!(texts(&lines), ["a b", "1. one two", "   three"]);
    }

    #[test]
    fn a_link_shows_where_it_leads() {
        let span = Span {
            text: "docs".to_owned(),
            link: Some("https://x.y".to_owned()),
            ..Span::default()
        };
        let lines = prose(&[Block::Paragraph { spans: vec![span] }], 40, Tint::Text);
        assert_eq!(texts(&lines), ["docs <https://x.y>"]);
    }

    #[test]
    fn a_word_longer_than_any_line_is_broken() {
        let word = "x".repeat(70_000);
        let lines = prose(&[paragraph(&format!("see {word} there"))], 40, Tint::Text);
        let all: String = texts(&lines).concat();
        assert_eq!(all.matches('x').count(), 70_000);
        assert!(crate::cells::wrap(&word, 40).iter().all(|line| line.len() <= 40));
    }

    #[test]
    fn the_path_of_a_file_is_whole() {
        let path = format!("{}/.ssh/authorized_keys", "deep/".repeat(30));
        let file = DiffFile { path: path.clone(), added: 3, ..DiffFile::default() };
        let lines = texts(&file_head(&file, 40));
        assert!(lines.iter().all(|line| line.len() <= 40), "{lines:?}");
        assert_eq!(lines.concat(), format!("{path}  +3 -0"));
    }

    #[test]
    fn diffs_have_numbers_signs_and_whole_lines() {
        let line = |kind, new, text: &str| DiffLine { kind, new, old: None, text: text.to_owned() };
        let file = DiffFile {
            path: "a.rs".to_owned(),
            hunks: Some(vec![Hunk {
                lines: vec![
                    line(LineKind::Same, Some(40), "fn x"),
                    line(LineKind::Added, Some(41), "a long line\u{200b}!"),
                ],
                ..Hunk::default()
            }]),
            ..DiffFile::default()
        };
        let lines = diff_lines(&file, 18);
        assert_eq!(texts(&lines), ["   40   fn x", "   41 + a long lin", "        e\\u{200b}!"]);
        assert_eq!(lines[2].of, Some(1));
    }
}
