//! Text counted in cells, and parts of a screen in cells. Knows no terminal and no colors.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// A part of a screen, in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub col: u16,
    /// First row.
    pub row: u16,
    /// Columns.
    pub cols: u16,
    pub rows: u16,
}

impl Rect {
    /// A part by its corner and size.
    pub const fn new(col: u16, row: u16, cols: u16, rows: u16) -> Rect {
        Rect { col, row, cols, rows }
    }

    /// Whether a cell lies in it.
    pub fn contains(&self, col: u16, row: u16) -> bool {
        col >= self.col && col < self.right() && row >= self.row && row < self.bottom()
    }

    /// The column after its last.
    pub fn right(&self) -> u16 {
        self.col.saturating_add(self.cols)
    }

    /// The row after its last.
    pub fn bottom(&self) -> u16 {
        self.row.saturating_add(self.rows)
    }

    /// Whether it has no cell.
    pub fn is_empty(&self) -> bool {
        self.cols == 0 || self.rows == 0
    }

    /// One row of it, counted from its top.
    pub fn line(&self, index: u16) -> Rect {
        let inside = index < self.rows;
        Rect::new(self.col, self.row.saturating_add(index), self.cols, u16::from(inside))
    }

    /// Its part within `other`.
    pub fn within(&self, other: Rect) -> Rect {
        let (col, row) = (self.col.max(other.col), self.row.max(other.row));
        let right = self.right().min(other.right());
        let bottom = self.bottom().min(other.bottom());
        Rect::new(col, row, right.saturating_sub(col), bottom.saturating_sub(row))
    }

    /// Its first rows, and the rest.
    pub fn split_top(&self, rows: u16) -> (Rect, Rect) {
        let rows = rows.min(self.rows);
        (
            Rect::new(self.col, self.row, self.cols, rows),
            Rect::new(self.col, self.row + rows, self.cols, self.rows - rows),
        )
    }

    /// All but its last rows, and these.
    pub fn split_bottom(&self, rows: u16) -> (Rect, Rect) {
        self.split_top(self.rows.saturating_sub(rows))
    }

    /// Its first columns, and the rest.
    pub fn split_left(&self, cols: u16) -> (Rect, Rect) {
        let cols = cols.min(self.cols);
        (
            Rect::new(self.col, self.row, cols, self.rows),
            Rect::new(self.col + cols, self.row, self.cols - cols, self.rows),
        )
    }
}

/// Characters that are not printed: joiners, selectors, tags, and what changes directions.
pub fn is_unprinted(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Cells of a cluster of our own text.
pub fn width(cluster: &str) -> u16 {
    if cluster.chars().all(|c| c.is_control() || is_unprinted(c)) {
        return 0;
    }
    u16::try_from(cluster.width().clamp(0, 2)).unwrap_or(1)
}

/// Cells of a text of our own.
pub fn text_width(text: &str) -> u16 {
    text.graphemes(true).map(width).fold(0, u16::saturating_add)
}

/// As much of a text as fits, with `…` where something is left off.
pub fn cut(text: &str, cells: u16) -> String {
    if text_width(text) <= cells {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 0;
    for cluster in text.graphemes(true) {
        let next = width(cluster);
        if used + next + 1 > cells {
            break;
        }
        used += next;
        shown.push_str(cluster);
    }
    if cells > 0 {
        shown.push('…');
    }
    shown
}

/// A text from a cell on: the rest of it, and the blank cells before that where a wide character was cut.
pub fn skip(text: &str, cells: u16) -> (&str, u16) {
    let mut used: u16 = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        if used >= cells {
            return (&text[at..], used - cells);
        }
        used = used.saturating_add(width(cluster));
    }
    ("", 0)
}

/// A text in lines of at most `cells`, broken at blanks where there are any.
pub fn wrap(text: &str, cells: u16) -> Vec<String> {
    let cells = cells.max(1);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut current = String::new();
        let mut used = 0;
        for word in line.split_word_bounds() {
            let room = text_width(word);
            if room > cells.saturating_sub(used) && !current.is_empty() {
                lines.push(std::mem::take(&mut current));
                used = 0;
                if word.trim().is_empty() {
                    continue;
                }
            }
            if room <= cells {
                current.push_str(word);
                used += room;
                continue;
            }
            for cluster in word.graphemes(true) {
                let room = width(cluster);
                if used + room > cells {
                    lines.push(std::mem::take(&mut current));
                    used = 0;
                }
                current.push_str(cluster);
                used += room;
            }
        }
        lines.push(current);
    }
    lines
}

/// A text in lines of at most `cells`, broken wherever the edge is: nothing is moved or left off.
pub fn wrap_exact(text: &str, cells: u16) -> Vec<String> {
    let cells = cells.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for cluster in text.graphemes(true) {
        let shown = if cluster == "\t" { "    " } else { cluster };
        let room = if cluster == "\t" { 4 } else { width(cluster) };
        if used + room > cells {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(shown);
        }
        used += room;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_wrapped() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap_exact("a  b  c", 3), ["a  ", "b  ", "c"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(skip("日本語", 2), ("本語", 0));
        assert_eq!(skip("日本語", 3), ("語", 1));
        assert_eq!(skip("ab", 0), ("ab", 0));
        assert_eq!(skip("ab", 5), ("", 0));
    }
}
