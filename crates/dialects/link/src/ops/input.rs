//! What a person does to a program. Numbers are acknowledged once the kernel has the bytes.

use rookery_core::{Clipboard, MouseOutcome, Preedit, TerminalHandle};
use rookery_model as model;
use rookery_term::keys::{Key, KeyKind, KeyPress, Mods, parse_chord};
use rookery_term::mouse::{self as mouse_events, MouseEvent, MouseMods};
use rookery_term::paste;
use rookery_view::link::{
    self, ClipTarget, Done, Mouse, MouseButton, MouseKind, Paste, PasteDoubt, Pasted, Text, bound,
};

use crate::{Cx, Error};

impl Cx {
    /// Gives numbered input to a terminal. What is refused is told by a notice, because the method has
    /// no reply.
    fn give(
        &self,
        number: u64,
        terminal: u64,
        work: impl FnOnce(&TerminalHandle) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let viewer = self.viewer()?;
        let given = self.terminal(terminal).and_then(|handle| {
            self.core.seats().note_user_action(viewer)?;
            if handle.is_finished() {
                return Err(model::Error::closed("the program in the terminal has ended").into());
            }
            let before = handle.input_mark();
            work(&handle)?;
            Ok((handle, before))
        });
        match given {
            Ok((handle, before)) => {
                self.core.seats().note_input(viewer, handle.id());
                self.session.given(number, &handle, before);
                Ok(())
            }
            Err(error) => {
                self.session.refuse(number, error.message());
                Err(error)
            }
        }
    }
}

pub(crate) async fn key(cx: Cx, params: link::Key) -> Result<Done, Error> {
    let press = press(&params);
    let _turn = cx.session.input_turn.lock().await;
    cx.give(params.n, params.t, |handle| match (press?, params.kind) {
        // A program that did not ask for releases gets none.
        (press, link::KeyKind::Release) => drop_refusal(handle.press(&press)),
        (press, link::KeyKind::Press | link::KeyKind::Repeat) => Ok(handle.press(&press)?),
    })?;
    Ok(Done {})
}

fn drop_refusal(pressed: model::Result<()>) -> Result<(), Error> {
    match pressed {
        Err(error) if error.kind() != model::ErrorKind::Invalid => Err(error.into()),
        _ => Ok(()),
    }
}

fn press(params: &link::Key) -> Result<KeyPress, Error> {
    let mut signs = params.k.chars();
    let mut press = match (signs.next(), signs.next()) {
        (Some(sign), None) => KeyPress::new(Key::Char(sign)),
        _ => parse_chord(&params.k).map_err(|error| Error::invalid("k", error.to_string()))?,
    };
    press.mods |= Mods::from_bits(params.mods);
    press.kind = match params.kind {
        link::KeyKind::Press => KeyKind::Press,
        link::KeyKind::Repeat => KeyKind::Repeat,
        link::KeyKind::Release => KeyKind::Release,
    };
    press.text = params.text.clone().or(press.text);
    press.shifted = params.shifted.or(press.shifted);
    press.base_layout = params.base.or(press.base_layout);
    Ok(press)
}

pub(crate) async fn text(cx: Cx, params: Text) -> Result<Done, Error> {
    let _turn = cx.session.input_turn.lock().await;
    cx.give(params.n, params.t, |handle| Ok(handle.enter_text(&params.text)?))?;
    Ok(Done {})
}

pub(crate) async fn preedit(cx: Cx, params: link::Preedit) -> Result<Done, Error> {
    let handle = cx.terminal(params.t)?;
    let cursor = params.cursor.map(|at| (at, at));
    handle.set_preedit(Preedit { text: params.text, cursor })?;
    cx.session.taken(params.n);
    Ok(Done {})
}

pub(crate) async fn mouse(cx: Cx, params: Mouse) -> Result<Done, Error> {
    let viewer = cx.viewer()?;
    let handle = cx.terminal(params.t)?;
    let event = event(&params);
    let is_press = event.kind == mouse_events::MouseKind::Press;
    let is_wheel = params.kind == MouseKind::Wheel;
    if is_press && !is_wheel {
        cx.core.seats().note_user_action(viewer)?;
    }
    let turn = cx.session.input_turn.lock().await;
    let is_paste = is_press && event.button == mouse_events::MouseButton::Middle;
    let clipboard = match is_paste {
        true => cx.core.seats().clipboard(Clipboard::Selection).await,
        false => None,
    };
    let before = handle.input_mark();
    match handle.mouse(event, params.clicks, clipboard.as_deref()) {
        Ok(MouseOutcome::Reported | MouseOutcome::Typed) => {
            cx.core.seats().note_input(viewer, handle.id());
            cx.session.given(params.n, &handle, before);
        }
        Ok(
            MouseOutcome::Scrolled
            | MouseOutcome::Selected
            | MouseOutcome::Finished
            | MouseOutcome::Nothing,
        ) => cx.session.taken(params.n),
        Err(error) => {
            cx.session.refuse(params.n, error.message());
            return Err(error.into());
        }
    }
    drop(turn);
    // Last, because it waits, and keys that follow must not come before the click.
    if is_press && !is_wheel {
        cx.core.seats().of(viewer).focus_terminal(handle.id()).await?;
    }
    Ok(Done {})
}

fn event(params: &Mouse) -> MouseEvent {
    use mouse_events::{MouseButton as Button, MouseKind as Kind};
    let held = |bit: u8| params.mods & bit != 0;
    MouseEvent {
        kind: match params.kind {
            MouseKind::Press | MouseKind::Wheel => Kind::Press,
            MouseKind::Release => Kind::Release,
            MouseKind::Move => Kind::Motion,
        },
        button: match params.button {
            MouseButton::Left => Button::Left,
            MouseButton::Middle => Button::Middle,
            MouseButton::Right => Button::Right,
            MouseButton::WheelUp => Button::WheelUp,
            MouseButton::WheelDown => Button::WheelDown,
            MouseButton::None => Button::None,
        },
        row: params.row,
        col: params.col,
        mods: MouseMods { shift: held(1), alt: held(2), ctrl: held(4) },
    }
}

pub(crate) async fn paste(cx: Cx, mut params: Paste) -> Result<Pasted, Error> {
    // First, because a clipboard is waited for, and keys that follow must not come before the text.
    let _turn = cx.session.input_turn.lock().await;
    if let Some(from) = params.from {
        let clipboard = match from {
            ClipTarget::Clipboard => Clipboard::System,
            ClipTarget::Selection => Clipboard::Selection,
        };
        params.text = cx.core.seats().clipboard(clipboard).await.unwrap_or_default();
    }
    if params.text.len() > bound::PASTE_BYTES {
        let message = format!("a paste has at most {} bytes", bound::PASTE_BYTES);
        return Err(Error::invalid("text", message));
    }
    let handle = cx.terminal(params.t)?;
    let text = paste::without_markers(&params.text);
    let why = doubt(&text).filter(|_| !params.sure && !handle.modes().bracketed_paste);
    if why.is_some() || (params.ask && !text.is_empty()) {
        let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let text = params.from.map(|_| text.to_string());
        return Ok(Pasted { pasted: false, why, lines: Some(lines), text });
    }
    cx.give(params.n.unwrap_or(0), params.t, |handle| Ok(handle.paste(&text)?))?;
    Ok(Pasted { pasted: true, ..Pasted::default() })
}

/// Why a program that did not ask for brackets might do more with a text than show it.
fn doubt(text: &str) -> Option<PasteDoubt> {
    let is_end = |sign: char| sign == '\n' || sign == '\r';
    let body = text.strip_suffix("\r\n").or_else(|| text.strip_suffix(is_end)).unwrap_or(text);
    if body.contains(is_end) {
        return Some(PasteDoubt::Lines);
    }
    body.contains(|sign: char| sign.is_control() && sign != '\t').then_some(PasteDoubt::Controls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_run_is_doubted() {
        for (text, why) in [
            ("ls", None),
            ("ls\n", None),
            ("ls\r\n", None),
            ("a\tb", None),
            ("a\nb", Some(PasteDoubt::Lines)),
            ("a\rb", Some(PasteDoubt::Lines)),
            ("a\n\n", Some(PasteDoubt::Lines)),
            ("a\x1bb", Some(PasteDoubt::Controls)),
            ("\x03", Some(PasteDoubt::Controls)),
        ] {
            assert_eq!(doubt(text), why, "{text:?}");
        }
    }
}
