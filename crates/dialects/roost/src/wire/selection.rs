//! The selection in a tab.

use super::{Empty, Int64, calls, shapes};

shapes! {
    /// A cell of the viewport, from 0.
    Cell {
        /// Column.
        col: u16,
        /// Row.
        row: u16,
    }
    /// What is selected.
    SelectionText {
        /// Absent when nothing is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Whether the end where it began is on the viewport.
        anchor_visible: bool,
        /// Whether the other end is on the viewport.
        cursor_visible: bool,
    }
    /// What a click selected.
    Expanded {
        /// First column.
        col0: u32,
        /// Last column.
        col1: u32,
        /// The text in between.
        text: String,
    }
}

calls! {
    /// Selects from one cell to another, both included.
    "selection.set" SelectionSet -> Empty {
        /// The tab.
        tab_id: Int64,
        /// Where it begins.
        anchor: Cell,
        /// Where it ends.
        cursor: Cell,
    }
    /// Drops the selection.
    "selection.clear" SelectionClear -> Empty {
        /// The tab.
        tab_id: Int64,
    }
    /// Reads the selection.
    "selection.dump" SelectionDump -> SelectionText {
        /// The tab.
        tab_id: Int64,
    }
    /// Selects a word or a line as a repeated click does; test mode only.
    "tab.expand_selection_at" ExpandSelectionAt -> Expanded [ExpandSelectionAt::repeated] {
        /// The tab.
        tab_id: Int64,
        /// Column clicked.
        col: u16,
        /// Row clicked.
        row: u16,
        /// 2 selects a word, more a line.
        click_count: u32,
    }
}

impl ExpandSelectionAt {
    fn repeated(&self) -> Result<(), crate::errors::Error> {
        if self.click_count < 2 {
            return Err(crate::errors::Error::invalid("click_count", "must be at least 2"));
        }
        Ok(())
    }
}
