//! The closed key list of the ptywright dialect, with bytes that no terminal mode ever changes.

use super::{Key, KeyPress, Mods, Special};

macro_rules! named_keys {
    ($($variant:ident $name:literal $bytes:literal $key:expr, $mods:expr;)*) => {
        /// A key of the ptywright dialect.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum NamedKey {
            $(
                #[doc = concat!("`", $name, "`.")]
                $variant,
            )*
        }

        impl NamedKey {
            /// Every key, in the order of the dialect's table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The exact snake_case name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The bytes sent to the child, whatever modes it has turned on.
            pub const fn legacy_bytes(self) -> &'static [u8] {
                match self { $(Self::$variant => $bytes),* }
            }

            const fn parts(self) -> (Key, Mods) {
                match self { $(Self::$variant => ($key, $mods)),* }
            }
        }
    };
}

named_keys! {
    Enter "enter" b"\r" Key::Special(Special::Enter), Mods::NONE;
    Escape "escape" b"\x1b" Key::Special(Special::Escape), Mods::NONE;
    Tab "tab" b"\t" Key::Special(Special::Tab), Mods::NONE;
    ShiftTab "shift_tab" b"\x1b[Z" Key::Special(Special::Tab), Mods::SHIFT;
    Backspace "backspace" b"\x7f" Key::Special(Special::Backspace), Mods::NONE;
    Delete "delete" b"\x1b[3~" Key::Special(Special::Delete), Mods::NONE;
    Space "space" b" " Key::Char(' '), Mods::NONE;
    Up "up" b"\x1b[A" Key::Special(Special::Up), Mods::NONE;
    Down "down" b"\x1b[B" Key::Special(Special::Down), Mods::NONE;
    Right "right" b"\x1b[C" Key::Special(Special::Right), Mods::NONE;
    Left "left" b"\x1b[D" Key::Special(Special::Left), Mods::NONE;
    Home "home" b"\x1b[H" Key::Special(Special::Home), Mods::NONE;
    End "end" b"\x1b[F" Key::Special(Special::End), Mods::NONE;
    PageUp "page_up" b"\x1b[5~" Key::Special(Special::PageUp), Mods::NONE;
    PageDown "page_down" b"\x1b[6~" Key::Special(Special::PageDown), Mods::NONE;
    Insert "insert" b"\x1b[2~" Key::Special(Special::Insert), Mods::NONE;
    F1 "f1" b"\x1bOP" Key::Special(Special::F1), Mods::NONE;
    F2 "f2" b"\x1bOQ" Key::Special(Special::F2), Mods::NONE;
    F3 "f3" b"\x1bOR" Key::Special(Special::F3), Mods::NONE;
    F4 "f4" b"\x1bOS" Key::Special(Special::F4), Mods::NONE;
    F5 "f5" b"\x1b[15~" Key::Special(Special::F5), Mods::NONE;
    F6 "f6" b"\x1b[17~" Key::Special(Special::F6), Mods::NONE;
    F7 "f7" b"\x1b[18~" Key::Special(Special::F7), Mods::NONE;
    F8 "f8" b"\x1b[19~" Key::Special(Special::F8), Mods::NONE;
    F9 "f9" b"\x1b[20~" Key::Special(Special::F9), Mods::NONE;
    F10 "f10" b"\x1b[21~" Key::Special(Special::F10), Mods::NONE;
    F11 "f11" b"\x1b[23~" Key::Special(Special::F11), Mods::NONE;
    F12 "f12" b"\x1b[24~" Key::Special(Special::F12), Mods::NONE;
    CtrlA "ctrl_a" b"\x01" Key::Char('a'), Mods::CTRL;
    CtrlB "ctrl_b" b"\x02" Key::Char('b'), Mods::CTRL;
    CtrlC "ctrl_c" b"\x03" Key::Char('c'), Mods::CTRL;
    CtrlD "ctrl_d" b"\x04" Key::Char('d'), Mods::CTRL;
    CtrlE "ctrl_e" b"\x05" Key::Char('e'), Mods::CTRL;
    CtrlF "ctrl_f" b"\x06" Key::Char('f'), Mods::CTRL;
    CtrlG "ctrl_g" b"\x07" Key::Char('g'), Mods::CTRL;
    CtrlK "ctrl_k" b"\x0b" Key::Char('k'), Mods::CTRL;
    CtrlL "ctrl_l" b"\x0c" Key::Char('l'), Mods::CTRL;
    CtrlN "ctrl_n" b"\x0e" Key::Char('n'), Mods::CTRL;
    CtrlO "ctrl_o" b"\x0f" Key::Char('o'), Mods::CTRL;
    CtrlP "ctrl_p" b"\x10" Key::Char('p'), Mods::CTRL;
    CtrlQ "ctrl_q" b"\x11" Key::Char('q'), Mods::CTRL;
    CtrlR "ctrl_r" b"\x12" Key::Char('r'), Mods::CTRL;
    CtrlS "ctrl_s" b"\x13" Key::Char('s'), Mods::CTRL;
    CtrlT "ctrl_t" b"\x14" Key::Char('t'), Mods::CTRL;
    CtrlU "ctrl_u" b"\x15" Key::Char('u'), Mods::CTRL;
    CtrlV "ctrl_v" b"\x16" Key::Char('v'), Mods::CTRL;
    CtrlW "ctrl_w" b"\x17" Key::Char('w'), Mods::CTRL;
    CtrlX "ctrl_x" b"\x18" Key::Char('x'), Mods::CTRL;
    CtrlY "ctrl_y" b"\x19" Key::Char('y'), Mods::CTRL;
    CtrlZ "ctrl_z" b"\x1a" Key::Char('z'), Mods::CTRL;
}

impl NamedKey {
    /// Looks a key up by its exact name; no other case or spelling is accepted.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|key| key.name() == name)
    }
}

impl From<NamedKey> for KeyPress {
    fn from(named: NamedKey) -> Self {
        let (key, mods) = named.parts();
        Self::new(key).with_mods(mods)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KeyModes, encode};
    use super::*;

    #[test]
    fn names_are_exact() {
        for key in NamedKey::ALL {
            assert_eq!(NamedKey::from_name(key.name()), Some(*key));
        }
        for absent in
            ["Enter", "ctrl-c", "a", "ctrl_h", "ctrl_i", "ctrl_j", "ctrl_m", "", "enter ", "f13"]
        {
            assert_eq!(NamedKey::from_name(absent), None, "{absent}");
        }
        assert_eq!(NamedKey::ALL.len(), 28 + 22);
    }

    #[test]
    fn control_keys_are_their_letter() {
        for key in NamedKey::ALL {
            if let Some(letter) = key.name().strip_prefix("ctrl_") {
                assert_eq!(key.legacy_bytes(), [letter.as_bytes()[0] - b'a' + 1]);
            }
        }
    }

    #[test]
    fn spec_table() {
        let table: &[(&str, &[u8])] = &[
            ("enter", &[0x0d]),
            ("escape", &[0x1b]),
            ("tab", &[0x09]),
            ("shift_tab", &[0x1b, 0x5b, 0x5a]),
            ("backspace", &[0x7f]),
            ("delete", &[0x1b, 0x5b, 0x33, 0x7e]),
            ("space", &[0x20]),
            ("up", &[0x1b, 0x5b, 0x41]),
            ("down", &[0x1b, 0x5b, 0x42]),
            ("right", &[0x1b, 0x5b, 0x43]),
            ("left", &[0x1b, 0x5b, 0x44]),
            ("home", &[0x1b, 0x5b, 0x48]),
            ("end", &[0x1b, 0x5b, 0x46]),
            ("page_up", &[0x1b, 0x5b, 0x35, 0x7e]),
            ("page_down", &[0x1b, 0x5b, 0x36, 0x7e]),
            ("insert", &[0x1b, 0x5b, 0x32, 0x7e]),
            ("f1", &[0x1b, 0x4f, 0x50]),
            ("f2", &[0x1b, 0x4f, 0x51]),
            ("f3", &[0x1b, 0x4f, 0x52]),
            ("f4", &[0x1b, 0x4f, 0x53]),
            ("f5", &[0x1b, 0x5b, 0x31, 0x35, 0x7e]),
            ("f6", &[0x1b, 0x5b, 0x31, 0x37, 0x7e]),
            ("f7", &[0x1b, 0x5b, 0x31, 0x38, 0x7e]),
            ("f8", &[0x1b, 0x5b, 0x31, 0x39, 0x7e]),
            ("f9", &[0x1b, 0x5b, 0x32, 0x30, 0x7e]),
            ("f10", &[0x1b, 0x5b, 0x32, 0x31, 0x7e]),
            ("f11", &[0x1b, 0x5b, 0x32, 0x33, 0x7e]),
            ("f12", &[0x1b, 0x5b, 0x32, 0x34, 0x7e]),
        ];
        for (name, bytes) in table {
            assert_eq!(NamedKey::from_name(name).unwrap().legacy_bytes(), *bytes, "{name}");
        }
    }

    #[test]
    fn the_general_encoder_agrees_in_default_modes() {
        for key in NamedKey::ALL {
            let bytes = encode(&KeyPress::from(*key), &KeyModes::default());
            assert_eq!(bytes, key.legacy_bytes(), "{}", key.name());
        }
    }
}
