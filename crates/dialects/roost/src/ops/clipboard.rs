//! The two clipboards.

use rookery_core::Clipboard;

use crate::{
    context::Cx,
    errors::Error,
    wire::{
        Empty,
        clipboard::{ClipboardDump, ClipboardText, ClipboardWrite, Target},
    },
};

pub(crate) async fn dump(cx: Cx, params: ClipboardDump) -> Result<ClipboardText, Error> {
    Ok(ClipboardText { text: cx.core.seats().clipboard(target(params.target)).await })
}

pub(crate) async fn write(cx: Cx, params: ClipboardWrite) -> Result<Empty, Error> {
    cx.core.seats().set_clipboard(target(params.target), &params.text)?;
    Ok(Empty {})
}

fn target(target: Target) -> Clipboard {
    match target {
        Target::System => Clipboard::System,
        Target::Selection => Clipboard::Selection,
    }
}
