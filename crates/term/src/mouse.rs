//! Mouse and focus as bytes for a program that asked for them.
//!
//! Knows nothing of selections or scrolling: where a program wants no report, there is none, and the
//! caller does with the mouse what it likes.

use crate::snapshot::Modes;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MouseKind {
    /// A button went down, or the wheel turned by one notch.
    Press,
    /// A button went up.
    Release,
    /// The pointer moved to another cell, with the button held or with none.
    Motion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MouseButton {
    /// The left button.
    Left,
    /// The middle button.
    Middle,
    /// The right button.
    Right,
    /// The wheel, away from the user.
    WheelUp,
    /// The wheel, towards the user.
    WheelDown,
    /// None, as when the pointer only moves.
    None,
}

/// Modifier keys held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MouseMods {
    pub shift: bool,
    /// Control.
    pub ctrl: bool,
    pub alt: bool,
}

/// Something the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MouseEvent {
    /// What happened.
    pub kind: MouseKind,
    pub button: MouseButton,
    /// Column of the cell from 0.
    pub col: u16,
    /// Row of the cell from 0.
    pub row: u16,
    /// Modifier keys held.
    pub mods: MouseMods,
}

/// What no button, and in the old form the release of any, is reported as.
const NO_BUTTON: u8 = 3;

/// The report of an event, if the program asked for such ones.
pub fn encode(modes: &Modes, event: MouseEvent) -> Option<Vec<u8>> {
    if !is_wanted(modes, event) {
        return None;
    }
    let mut code = match event.button {
        MouseButton::Left => 0,
        MouseButton::Middle => 1,
        MouseButton::Right => 2,
        MouseButton::None => NO_BUTTON,
        MouseButton::WheelUp => 64,
        MouseButton::WheelDown => 65,
    };
    let is_release = event.kind == MouseKind::Release;
    if is_release && !modes.mouse_sgr {
        code = NO_BUTTON;
    }
    code += 4 * u8::from(event.mods.shift)
        + 8 * u8::from(event.mods.alt)
        + 16 * u8::from(event.mods.ctrl)
        + 32 * u8::from(event.kind == MouseKind::Motion);
    let (col, row) = (u32::from(event.col) + 1, u32::from(event.row) + 1);
    if modes.mouse_sgr {
        let last = if is_release { 'm' } else { 'M' };
        return Some(format!("\x1b[<{code};{col};{row}{last}").into_bytes());
    }
    let mut out = vec![0x1b, b'[', b'M', code + 32];
    push_coordinate(&mut out, col, modes.mouse_utf8)?;
    push_coordinate(&mut out, row, modes.mouse_utf8)?;
    Some(out)
}

fn is_wanted(modes: &Modes, event: MouseEvent) -> bool {
    let is_wheel = matches!(event.button, MouseButton::WheelUp | MouseButton::WheelDown);
    match event.kind {
        MouseKind::Press => wants_mouse(modes) && event.button != MouseButton::None,
        MouseKind::Release => wants_mouse(modes) && event.button != MouseButton::None && !is_wheel,
        MouseKind::Motion if is_wheel => false,
        MouseKind::Motion => {
            modes.mouse_motion || (modes.mouse_drag && event.button != MouseButton::None)
        }
    }
}

/// Whether a program wants any report of the mouse, so that it is not the user's to select with.
pub fn wants_mouse(modes: &Modes) -> bool {
    modes.mouse_clicks || modes.mouse_drag || modes.mouse_motion
}

/// A coordinate in the old form: one byte, or two where UTF-8 was asked for; none if it is too large.
fn push_coordinate(out: &mut Vec<u8>, value: u32, is_utf8: bool) -> Option<()> {
    /// What two bytes of UTF-8 can hold.
    const MAX_UTF8: u32 = 0x7ff;
    let shifted = value + 32;
    if !is_utf8 {
        out.push(u8::try_from(shifted).ok()?);
        return Some(());
    }
    let c = char::from_u32(shifted).filter(|_| shifted <= MAX_UTF8)?;
    out.extend_from_slice(c.encode_utf8(&mut [0; 2]).as_bytes());
    Some(())
}

/// The report that the terminal got or lost the focus, if the program asked for it.
pub fn focus(modes: &Modes, is_focused: bool) -> Option<&'static [u8]> {
    let report: &[u8] = if is_focused { b"\x1b[I" } else { b"\x1b[O" };
    modes.focus_events.then_some(report)
}

/// What the wheel types on the alternate screen, where there is nothing to scroll: an arrow key a line.
/// None where the program wants the mouse itself or no such keys.
pub fn wheel_keys(modes: &Modes, is_up: bool, lines: u16) -> Option<Vec<u8>> {
    if !modes.alternate_screen || !modes.alternate_scroll || wants_mouse(modes) {
        return None;
    }
    let key: &[u8] = match (modes.application_cursor, is_up) {
        (true, true) => b"\x1bOA",
        (true, false) => b"\x1bOB",
        (false, true) => b"\x1b[A",
        (false, false) => b"\x1b[B",
    };
    Some(key.repeat(usize::from(lines)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: MouseMods = MouseMods { shift: false, ctrl: false, alt: false };

    fn event(kind: MouseKind, button: MouseButton) -> MouseEvent {
        MouseEvent { kind, button, col: 4, row: 2, mods: NONE }
    }

    fn clicks() -> Modes {
        Modes { mouse_clicks: true, ..Modes::default() }
    }

    fn sgr(modes: Modes, event: MouseEvent) -> Option<String> {
        let bytes = encode(&Modes { mouse_sgr: true, ..modes }, event)?;
        Some(String::from_utf8(bytes).unwrap().replace('\x1b', "ESC"))
    }

    #[test]
    fn without_a_mode_nothing_is_reported() {
        for kind in [MouseKind::Press, MouseKind::Release, MouseKind::Motion] {
            assert_eq!(sgr(Modes::default(), event(kind, MouseButton::Left)), None);
        }
    }

    #[test]
    fn buttons_have_their_codes_in_the_sgr_form() {
        use MouseButton::{Left, Middle, Right, WheelDown, WheelUp};
        for (button, code) in [(Left, 0), (Middle, 1), (Right, 2), (WheelUp, 64), (WheelDown, 65)] {
            let press = sgr(clicks(), event(MouseKind::Press, button));
            assert_eq!(press, Some(format!("ESC[<{code};5;3M")));
        }
        let release = sgr(clicks(), event(MouseKind::Release, Right));
        assert_eq!(release.as_deref(), Some("ESC[<2;5;3m"));
        assert_eq!(sgr(clicks(), event(MouseKind::Release, WheelUp)), None);
        assert_eq!(sgr(clicks(), event(MouseKind::Press, MouseButton::None)), None);
    }

    #[test]
    fn modifiers_add_up() {
        let mods = MouseMods { shift: true, ctrl: true, alt: true };
        let press = MouseEvent { mods, ..event(MouseKind::Press, MouseButton::Left) };
        assert_eq!(sgr(clicks(), press).as_deref(), Some("ESC[<28;5;3M"));
        let one = |mods| sgr(clicks(), MouseEvent { mods, ..press }).unwrap();
        assert_eq!(one(MouseMods { shift: true, ..NONE }), "ESC[<4;5;3M");
        assert_eq!(one(MouseMods { alt: true, ..NONE }), "ESC[<8;5;3M");
        assert_eq!(one(MouseMods { ctrl: true, ..NONE }), "ESC[<16;5;3M");
    }

    #[test]
    fn motion_is_reported_as_far_as_it_was_asked_for() {
        let drag = Modes { mouse_drag: true, ..Modes::default() };
        let all = Modes { mouse_motion: true, ..Modes::default() };
        let held = event(MouseKind::Motion, MouseButton::Left);
        let free = event(MouseKind::Motion, MouseButton::None);
        assert_eq!(sgr(clicks(), held), None);
        assert_eq!(sgr(drag, held).as_deref(), Some("ESC[<32;5;3M"));
        assert_eq!(sgr(drag, free), None);
        assert_eq!(sgr(all, held).as_deref(), Some("ESC[<32;5;3M"));
        assert_eq!(sgr(all, free).as_deref(), Some("ESC[<35;5;3M"));
        assert_eq!(sgr(all, event(MouseKind::Motion, MouseButton::WheelUp)), None);
        for modes in [drag, all] {
            let press = sgr(modes, event(MouseKind::Press, MouseButton::Left));
            assert_eq!(press.as_deref(), Some("ESC[<0;5;3M"));
        }
    }

    #[test]
    fn the_old_form_writes_bytes_and_knows_no_released_button() {
        let press = event(MouseKind::Press, MouseButton::Right);
        assert_eq!(encode(&clicks(), press).unwrap(), b"\x1b[M\x22\x25\x23");
        let release = MouseEvent { kind: MouseKind::Release, ..press };
        assert_eq!(encode(&clicks(), release).unwrap(), b"\x1b[M\x23\x25\x23");
        let wheel = event(MouseKind::Press, MouseButton::WheelDown);
        assert_eq!(encode(&clicks(), wheel).unwrap(), b"\x1b[M\x61\x25\x23");
        let last = MouseEvent { col: 222, ..press };
        assert_eq!(encode(&clicks(), last).unwrap(), b"\x1b[M\x22\xff\x23");
        assert_eq!(encode(&clicks(), MouseEvent { col: 223, ..press }), None);
        let far = MouseEvent { col: 999, row: 999, ..press };
        assert_eq!(sgr(clicks(), far).as_deref(), Some("ESC[<2;1000;1000M"));
    }

    #[test]
    fn the_utf8_form_reaches_further() {
        let modes = Modes { mouse_utf8: true, ..clicks() };
        let press = event(MouseKind::Press, MouseButton::Left);
        assert_eq!(encode(&modes, press).unwrap(), b"\x1b[M\x20\x25\x23");
        let far = encode(&modes, MouseEvent { col: 223, ..press }).unwrap();
        assert_eq!(far, "\x1b[M \u{100}#".as_bytes());
        assert_eq!(encode(&modes, MouseEvent { col: 2015, ..press }), None);
        assert_eq!(encode(&modes, MouseEvent { col: u16::MAX, ..press }), None);
    }

    #[test]
    fn focus_is_reported_only_where_wanted() {
        let modes = Modes { focus_events: true, ..Modes::default() };
        assert_eq!(focus(&modes, true), Some(&b"\x1b[I"[..]));
        assert_eq!(focus(&modes, false), Some(&b"\x1b[O"[..]));
        assert_eq!(focus(&Modes::default(), true), None);
    }

    #[test]
    fn the_wheel_types_arrows_on_the_alternate_screen() {
        let modes = Modes { alternate_screen: true, alternate_scroll: true, ..Modes::default() };
        assert_eq!(wheel_keys(&modes, true, 3).unwrap(), b"\x1b[A\x1b[A\x1b[A");
        assert_eq!(wheel_keys(&modes, false, 1).unwrap(), b"\x1b[B");
        let application = Modes { application_cursor: true, ..modes };
        assert_eq!(wheel_keys(&application, false, 2).unwrap(), b"\x1bOB\x1bOB");
        for other in [
            Modes { alternate_screen: false, ..modes },
            Modes { alternate_scroll: false, ..modes },
            Modes { mouse_clicks: true, ..modes },
        ] {
            assert_eq!(wheel_keys(&other, true, 3), None);
        }
    }
}
