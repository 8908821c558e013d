//! What goes into a terminal: bytes, keys, pastes, sizes and signals.

use rookery_core::TerminalHandle;
use rookery_model as model;
use rookery_term::keys::{KeyPress, parse_chord};

use super::terminals::{ended, strays};
use crate::{
    Cx, Error, TerminalRef, signals,
    wire::{
        Base64, Empty, Signal, TerminalEnded, TerminalKill, TerminalPaste, TerminalPress,
        TerminalResize, TerminalSignal, TerminalWrite,
    },
};

pub(crate) async fn write(cx: Cx, params: TerminalWrite) -> Result<Empty, Error> {
    let terminal = running(&cx, params.terminal)?;
    match (params.data, params.text) {
        (Some(Base64(bytes)), None) => terminal.write(&bytes)?,
        (None, Some(text)) => terminal.write(text.as_bytes())?,
        _ => return Err(Error::invalid("data", "exactly one of data and text must be given")),
    }
    Ok(Empty {})
}

pub(crate) async fn press(cx: Cx, params: TerminalPress) -> Result<Empty, Error> {
    // All names are read before the first key is pressed: a typo must not leave half a sequence behind.
    let keys: Vec<KeyPress> = params
        .keys
        .iter()
        .map(|key| parse_chord(key))
        .collect::<Result<_, _>>()
        .map_err(|error| Error::invalid("keys", error.to_string()))?;
    let terminal = running(&cx, params.terminal)?;
    for key in &keys {
        terminal.press(key)?;
    }
    Ok(Empty {})
}

pub(crate) async fn paste(cx: Cx, params: TerminalPaste) -> Result<Empty, Error> {
    running(&cx, params.terminal)?.paste(&params.text)?;
    Ok(Empty {})
}

pub(crate) async fn resize(cx: Cx, params: TerminalResize) -> Result<Empty, Error> {
    let size = model::Size::new(params.rows, params.cols)?;
    cx.terminal(params.terminal)?.resize(size).await?;
    Ok(Empty {})
}

pub(crate) async fn signal(cx: Cx, params: TerminalSignal) -> Result<Empty, Error> {
    let number = match &params.signal {
        Signal::Number(number) => signals::valid(*number),
        Signal::Name(name) => signals::number(name),
    };
    let number = number.ok_or_else(|| Error::invalid("signal", "no such signal"))?;
    cx.terminal(params.terminal)?.signal(number, params.group)?;
    Ok(Empty {})
}

pub(crate) async fn kill(cx: Cx, params: TerminalKill) -> Result<TerminalEnded, Error> {
    Ok(ended(running(&cx, params.terminal)?.kill(strays(params.all_processes)).await?))
}

/// A terminal whose program still runs.
fn running(cx: &Cx, terminal: TerminalRef) -> Result<TerminalHandle, Error> {
    let terminal = cx.terminal(terminal)?;
    if terminal.is_finished() {
        let message = format!("the program in terminal {} has ended", terminal.id());
        return Err(model::Error::closed(message).into());
    }
    Ok(terminal)
}
