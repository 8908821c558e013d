//! State that the engine keeps to itself but that a checkpoint must carry.

use alacritty_terminal::vte::ansi::{CharsetIndex, CursorStyle};

use crate::pointer::PointerShape;

/// Kitty keyboard flags and window titles can be pushed this deep.
const MAX_STACK: usize = 64;

/// What we keep beside the engine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shadow {
    /// Scroll region as a half-open range of rows.
    pub(crate) region: (usize, usize),
    pub(crate) tabs: Vec<bool>,
    pub(crate) charset: CharsetIndex,
    pub(crate) cursor_style: Option<CursorStyle>,
    pub(crate) title: Option<String>,
    pub(crate) titles: Vec<Option<String>>,
    /// Kitty keyboard flags of the shown screen; the last one is in force.
    pub(crate) keyboard: Vec<u8>,
    /// Those of the hidden screen.
    pub(crate) hidden_keyboard: Vec<u8>,
    pub(crate) modify_other_keys: u8,
    /// The last character printed, which REP repeats.
    pub(crate) last_char: Option<char>,
    /// Hyperlinks opened so far, to name those without an id.
    pub(crate) links: u64,
    /// The pointer's shape as a program wants it.
    pub(crate) pointer: PointerShape,
    /// Mode 2031: report changes of the theme.
    pub(crate) wants_theme: bool,
    /// Mode 2048: report changes of the size.
    pub(crate) wants_size: bool,
}

impl Shadow {
    pub(crate) fn new(rows: usize, cols: usize) -> Shadow {
        Shadow {
            region: (0, rows),
            tabs: (0..cols).map(is_default_tab).collect(),
            charset: CharsetIndex::G0,
            cursor_style: None,
            title: None,
            titles: Vec::new(),
            keyboard: Vec::new(),
            hidden_keyboard: Vec::new(),
            modify_other_keys: 0,
            last_char: None,
            links: 0,
            pointer: PointerShape::default(),
            wants_theme: false,
            wants_size: false,
        }
    }

    /// Full reset. The title stays, as ptywright clients know it, and so does what the parser remembers.
    pub(crate) fn reset(&mut self, rows: usize, cols: usize) {
        let title = self.title.take();
        let (last_char, links) = (self.last_char, self.links);
        *self = Shadow { title, last_char, links, ..Shadow::new(rows, cols) };
    }

    pub(crate) fn resize(&mut self, rows: usize, cols: usize) {
        self.region = (0, rows);
        let known = self.tabs.len().min(cols);
        self.tabs.truncate(known);
        self.tabs.extend((known..cols).map(is_default_tab));
    }

    pub(crate) fn keyboard_flags(&self) -> u8 {
        self.keyboard.last().copied().unwrap_or(0)
    }

    pub(crate) fn push_keyboard(&mut self, flags: u8) {
        if self.keyboard.len() >= MAX_STACK {
            self.keyboard.remove(0);
        }
        self.keyboard.push(flags);
    }

    pub(crate) fn set_keyboard(&mut self, flags: u8) {
        match self.keyboard.last_mut() {
            Some(top) => *top = flags,
            None => self.keyboard.push(flags),
        }
    }

    pub(crate) fn pop_keyboard(&mut self, count: usize) {
        let left = self.keyboard.len().saturating_sub(count);
        self.keyboard.truncate(left);
    }

    pub(crate) fn push_title(&mut self) {
        if self.titles.len() >= MAX_STACK {
            self.titles.remove(0);
        }
        self.titles.push(self.title.clone());
    }
}

fn is_default_tab(col: usize) -> bool {
    col.is_multiple_of(8)
}
