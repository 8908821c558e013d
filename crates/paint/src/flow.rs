//! Text in lines of a width: words of several looks, and lines that are shown exactly as they are.

use rookery_view::scene::layout::Rect;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::brush::{Ink, line_height};
use crate::fonts;

/// A piece of text in one look.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) text: String,
    pub(crate) ink: Ink,
    /// A ground behind it, as for code.
    pub(crate) is_boxed: bool,
    pub(crate) is_struck: bool,
    /// Which link it is part of.
    pub(crate) link: Option<usize>,
}

impl Run {
    pub(crate) fn new(text: impl Into<String>, ink: Ink) -> Run {
        Run { text: text.into(), ink, is_boxed: false, is_struck: false, link: None }
    }
}

/// A piece at its place in a line.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) x: f32,
    pub(crate) width: f32,
    pub(crate) run: Run,
}

/// One line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(crate) pieces: Vec<Placed>,
    pub(crate) height: f32,
}

/// Breaks runs into lines of a width: between words, within one only if it is longer than a line.
pub(crate) fn lines(runs: &[Run], width: f32) -> Vec<Line> {
    let mut out = Lines { lines: vec![Line::default()], x: 0.0, width: width.max(1.0) };
    for run in runs {
        for (index, part) in run.text.split('\n').enumerate() {
            if index > 0 {
                out.next();
            }
            out.touch(run.ink);
            for word in part.split_word_bounds() {
                out.word(word, run);
            }
        }
    }
    out.lines
}

struct Lines {
    lines: Vec<Line>,
    x: f32,
    width: f32,
}

impl Lines {
    fn next(&mut self) {
        self.lines.push(Line::default());
        self.x = 0.0;
    }

    /// A line is as high as its highest text, also where it has none.
    fn touch(&mut self, ink: Ink) {
        if let Some(line) = self.lines.last_mut() {
            line.height = line.height.max(leading(ink.size));
        }
    }

    fn word(&mut self, word: &str, run: &Run) {
        let ink = run.ink;
        let wide = fonts::width(word, ink.font, ink.size);
        if self.x + wide > self.width && self.x > 0.0 {
            self.next();
            self.touch(ink);
            if word.trim().is_empty() {
                return;
            }
        }
        if wide <= self.width {
            return self.put(word, wide, run);
        }
        for grapheme in word.graphemes(true) {
            let wide = fonts::width(grapheme, ink.font, ink.size);
            if self.x + wide > self.width && self.x > 0.0 {
                self.next();
                self.touch(ink);
            }
            self.put(grapheme, wide, run);
        }
    }

    fn put(&mut self, text: &str, wide: f32, run: &Run) {
        let Some(line) = self.lines.last_mut() else { return };
        let same = line.pieces.last_mut().filter(|last| {
            last.run.ink == run.ink
                && last.run.link == run.link
                && (last.run.is_boxed, last.run.is_struck) == (run.is_boxed, run.is_struck)
        });
        match same {
            Some(last) => {
                last.run.text.push_str(text);
                last.width += wide;
            }
            None => {
                let run = Run { text: text.to_owned(), ..run.clone() };
                line.pieces.push(Placed { x: self.x, width: wide, run });
            }
        }
        self.x += wide;
    }
}

/// Height of a line in running text.
pub(crate) fn leading(size: f32) -> f32 {
    line_height(size).max((size * 1.45).round())
}

/// Lines of a text that is shown as it is: broken at the edge, nothing moved, nothing left out. The
/// face has one width for all letters of ASCII; others are measured.
pub(crate) fn exact(text: &str, ink: Ink, width: f32) -> Vec<String> {
    let advance = fonts::width("0", ink.font, ink.size).max(1.0);
    let mut lines = vec![String::new()];
    let mut x = 0.0;
    for grapheme in text.graphemes(true) {
        let shown = if grapheme == "\t" { "    " } else { grapheme };
        let wide = match shown.is_ascii() {
            true => advance * shown.len() as f32,
            false => fonts::width(shown, ink.font, ink.size),
        };
        if x + wide > width && x > 0.0 {
            lines.push(String::new());
            x = 0.0;
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(shown);
        }
        x += wide;
    }
    lines
}

/// Which byte of a text is nearest to a place in its line.
pub(crate) fn byte_at(text: &str, ink: Ink, x: f32) -> usize {
    let mut nearest = (f32::MAX, 0);
    let ends = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]);
    for at in ends {
        let apart = (fonts::width(&text[..at], ink.font, ink.size) - x).abs();
        if apart < nearest.0 {
            nearest = (apart, at);
        }
    }
    nearest.1
}

/// Where a line of text stands in a row of a height.
pub(crate) fn middle(row: Rect, size: f32) -> Rect {
    let line = line_height(size);
    Rect { y: row.y + ((row.height - line) / 2.0).round(), height: line, ..row }
}
