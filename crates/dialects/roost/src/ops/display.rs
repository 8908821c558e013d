//! What a tab shows, and what happens on it.

use rookery_core::{Clipboard, Preedit};
use rookery_term::{
    Detail, Resolved, Rgb,
    mouse::{MouseButton, MouseEvent, MouseKind, MouseMods},
};

use super::{living_tab, terminal};
use crate::{
    context::Cx,
    errors::Error,
    wire::{
        Base64, Color, Empty,
        tab::{
            self, Captured, Cursor, Dump, ImeAction, ResolvedCell, ResolvedDump,
            TabCapturePtyInput, TabDispatchMouseEvent, TabDump, TabDumpResolved, TabFeedIme,
            TabFeedPtyBytes,
        },
    },
};

pub(crate) async fn dump(cx: Cx, params: TabDump) -> Result<Dump, Error> {
    let view = terminal(&cx, params.tab_id)?.viewport(Detail::Cells);
    let cursor = view.cursor_in_view().map(|cursor| Cursor {
        row: cursor.row.into(),
        // Behind the last column while a wrap is pending.
        col: cursor.col.min(view.cols.saturating_sub(1)).into(),
        visible: cursor.visible,
    });
    Ok(Dump { cols: view.cols.into(), rows: view.rows.into(), cursor, rows_text: view.row_texts() })
}

pub(crate) async fn dump_resolved(cx: Cx, params: TabDumpResolved) -> Result<ResolvedDump, Error> {
    let view = terminal(&cx, params.tab_id)?.viewport(Detail::Cells);
    let mut cells = Vec::with_capacity(usize::from(view.rows) * usize::from(view.cols));
    for row in 0..view.rows {
        for (col, cell) in (0..).zip(view.row(row)) {
            let style = cell.style();
            let Resolved { fg, bg, has_explicit_bg, .. } = view.colors().resolve(&style);
            cells.push(ResolvedCell {
                row: row.into(),
                col,
                text: cell.shown(),
                fg: color(fg),
                bg: color(bg),
                has_explicit_bg,
                bold: style.bold,
                italic: style.italic,
                inverse: style.inverse,
            });
        }
    }
    Ok(ResolvedDump { cols: view.cols.into(), rows: view.rows.into(), cells })
}

fn color((r, g, b): Rgb) -> Color {
    Color { r, g, b }
}

pub(crate) async fn feed_output(cx: Cx, params: TabFeedPtyBytes) -> Result<Empty, Error> {
    terminal(&cx, params.tab_id)?.feed_output(params.data.0).await?;
    Ok(Empty {})
}

pub(crate) async fn captured(cx: Cx, params: TabCapturePtyInput) -> Result<Captured, Error> {
    let data = terminal(&cx, params.tab_id)?.captured_input(params.drain);
    Ok(Captured { data: Base64(data) })
}

pub(crate) async fn mouse(cx: Cx, params: TabDispatchMouseEvent) -> Result<Empty, Error> {
    let held = |bit: u32| params.mods & (1 << bit) != 0;
    let event = MouseEvent {
        kind: match params.kind {
            tab::MouseKind::Press => MouseKind::Press,
            tab::MouseKind::Release => MouseKind::Release,
            tab::MouseKind::Motion => MouseKind::Motion,
        },
        button: match params.button {
            tab::MouseButton::Left => MouseButton::Left,
            tab::MouseButton::Right => MouseButton::Right,
            tab::MouseButton::Middle => MouseButton::Middle,
            tab::MouseButton::WheelUp => MouseButton::WheelUp,
            tab::MouseButton::WheelDown => MouseButton::WheelDown,
            tab::MouseButton::None => MouseButton::None,
        },
        col: params.cell_x,
        row: params.cell_y,
        mods: MouseMods { shift: held(0), ctrl: held(1), alt: held(2) },
    };
    let terminal = terminal(&cx, params.tab_id)?;
    let is_paste = event.button == MouseButton::Middle && event.kind == MouseKind::Press;
    let clipboard = match is_paste {
        true => cx.core.seats().clipboard(Clipboard::Selection).await,
        false => None,
    };
    terminal.mouse(event, 0, clipboard.as_deref())?;
    Ok(Empty {})
}

pub(crate) async fn feed_ime(cx: Cx, params: TabFeedIme) -> Result<Empty, Error> {
    let tab = living_tab(&cx, params.tab_id)?;
    if cx.core.workspace().active() != Some(tab.id) || !cx.core.seats().terminal_has_keyboard() {
        return Err(Error::invalid("tab_id", "this tab does not have the keyboard"));
    }
    let terminal = terminal(&cx, params.tab_id)?;
    match params.action {
        ImeAction::Preedit => {
            let cursor = params.cursor_start.zip(params.cursor_end);
            terminal.set_preedit(Preedit { text: params.text, cursor })?;
        }
        ImeAction::Commit => terminal.enter_text(&params.text)?,
        ImeAction::Clear => terminal.set_preedit(Preedit::default())?,
    }
    Ok(Empty {})
}
