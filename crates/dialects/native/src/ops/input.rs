//! What goes into a terminal: bytes, keys, pastes, sizes and signals.

use rookery_core::TerminalHandle;
use rookery_model as model;
use rookery_term::keys::{KeyPress, parse_chord};

use super::terminals::{ended, strays};
use crate::{
    Cx, Error, TerminalRef, signals,
    wire::{
        Base64, Empty, Signal, Size, TerminalEnded, TerminalKill, TerminalPaste, TerminalPress,
        TerminalResize, TerminalSignal, TerminalWrite,
    },
};

pub(crate) async fn write(cx: Cx, params: TerminalWrite) -> Result<Empty, Error> {
    let terminal = running(&cx, params.terminal)?;
    let bytes = match (params.data, params.text) {
        (Some(Base64(bytes)), None) => bytes,
        (None, Some(text)) => text.into_bytes(),
        _ => return Err(Error::invalid("data", "exactly one of data and text must be given")),
    };
    fit(&terminal, params.size).await?;
    terminal.write(&bytes)?;
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
    fit(&terminal, params.size).await?;
    for key in &keys {
        terminal.press(key)?;
    }
    Ok(Empty {})
}

pub(crate) async fn paste(cx: Cx, params: TerminalPaste) -> Result<Empty, Error> {
    let terminal = running(&cx, params.terminal)?;
    fit(&terminal, params.size).await?;
    terminal.paste(&params.text)?;
    Ok(Empty {})
}

pub(crate) async fn resize(cx: Cx, params: TerminalResize) -> Result<Empty, Error> {
    let size = model::Size::new(params.rows, params.cols)?;
    cx.terminal(params.terminal)?.resize(size).await?;
    Ok(Empty {})
}

/// Gives the terminal the size of the client that types, if that is another. Said with the input, so
/// that a client need not know what others did to the size meanwhile.
async fn fit(terminal: &TerminalHandle, size: Option<Size>) -> Result<(), Error> {
    let Some(Size { rows, cols }) = size else { return Ok(()) };
    let size = model::Size::new(rows, cols)?;
    let now = terminal.size();
    if (now.rows(), now.cols()) != (rows, cols) {
        terminal.resize(size).await?;
    }
    Ok(())
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
