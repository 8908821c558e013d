//! The selection in a tab.

use rookery_core::{Expansion, ViewCell};

use super::terminal;
use crate::{
    context::Cx,
    errors::Error,
    wire::{
        Empty,
        selection::{
            Cell, ExpandSelectionAt, Expanded, SelectionClear, SelectionDump, SelectionSet,
            SelectionText,
        },
    },
};

fn view_cell(cell: &Cell) -> ViewCell {
    ViewCell { row: cell.row, col: cell.col }
}

pub(crate) async fn set(cx: Cx, params: SelectionSet) -> Result<Empty, Error> {
    let terminal = terminal(&cx, params.tab_id)?;
    terminal.select(view_cell(&params.anchor), view_cell(&params.cursor))?;
    Ok(Empty {})
}

pub(crate) async fn clear(cx: Cx, params: SelectionClear) -> Result<Empty, Error> {
    terminal(&cx, params.tab_id)?.clear_selection();
    Ok(Empty {})
}

pub(crate) async fn dump(cx: Cx, params: SelectionDump) -> Result<SelectionText, Error> {
    let selected = terminal(&cx, params.tab_id)?.selected();
    Ok(SelectionText {
        text: selected.text,
        anchor_visible: selected.anchor_visible,
        cursor_visible: selected.head_visible,
    })
}

pub(crate) async fn expand(cx: Cx, params: ExpandSelectionAt) -> Result<Expanded, Error> {
    let by = if params.click_count == 2 { Expansion::Word } else { Expansion::Line };
    let cell = ViewCell { row: params.row, col: params.col };
    let terminal = terminal(&cx, params.tab_id)?;
    let span = terminal.expand_selection(cell, by, &cx.core.seats().word_chars())?;
    Ok(Expanded { col0: span.start.col.into(), col1: span.end.col.into(), text: span.text })
}
