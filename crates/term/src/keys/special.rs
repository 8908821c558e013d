//! The table of keys that are not characters: name, number and final byte in the kitty protocol.
//! Legacy byte forms live in `legacy`.

macro_rules! special_keys {
    ($($variant:ident $name:literal $number:literal $fin:literal;)*) => {
        /// A key that has no character of its own: editing, function, keypad, media and modifier keys.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Special {
            $(
                #[doc = concat!("The `", $name, "` key.")]
                $variant,
            )*
        }

        impl Special {
            /// Every special key, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The canonical snake_case name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Number and final byte of the kitty protocol's sequence.
            pub(super) const fn kitty_code(self) -> (u32, char) {
                match self { $(Self::$variant => ($number, $fin)),* }
            }
        }
    };
}

special_keys! {
    Escape "escape" 27 'u';
    Enter "enter" 13 'u';
    Tab "tab" 9 'u';
    Backspace "backspace" 127 'u';
    Insert "insert" 2 '~';
    Delete "delete" 3 '~';
    Left "left" 1 'D';
    Right "right" 1 'C';
    Up "up" 1 'A';
    Down "down" 1 'B';
    PageUp "page_up" 5 '~';
    PageDown "page_down" 6 '~';
    Home "home" 1 'H';
    End "end" 1 'F';
    CapsLock "caps_lock" 57358 'u';
    ScrollLock "scroll_lock" 57359 'u';
    NumLock "num_lock" 57360 'u';
    PrintScreen "print_screen" 57361 'u';
    Pause "pause" 57362 'u';
    Menu "menu" 57363 'u';
    F1 "f1" 1 'P';
    F2 "f2" 1 'Q';
    F3 "f3" 13 '~';
    F4 "f4" 1 'S';
    F5 "f5" 15 '~';
    F6 "f6" 17 '~';
    F7 "f7" 18 '~';
    F8 "f8" 19 '~';
    F9 "f9" 20 '~';
    F10 "f10" 21 '~';
    F11 "f11" 23 '~';
    F12 "f12" 24 '~';
    F13 "f13" 57376 'u';
    F14 "f14" 57377 'u';
    F15 "f15" 57378 'u';
    F16 "f16" 57379 'u';
    F17 "f17" 57380 'u';
    F18 "f18" 57381 'u';
    F19 "f19" 57382 'u';
    F20 "f20" 57383 'u';
    F21 "f21" 57384 'u';
    F22 "f22" 57385 'u';
    F23 "f23" 57386 'u';
    F24 "f24" 57387 'u';
    F25 "f25" 57388 'u';
    F26 "f26" 57389 'u';
    F27 "f27" 57390 'u';
    F28 "f28" 57391 'u';
    F29 "f29" 57392 'u';
    F30 "f30" 57393 'u';
    F31 "f31" 57394 'u';
    F32 "f32" 57395 'u';
    F33 "f33" 57396 'u';
    F34 "f34" 57397 'u';
    F35 "f35" 57398 'u';
    Kp0 "kp_0" 57399 'u';
    Kp1 "kp_1" 57400 'u';
    Kp2 "kp_2" 57401 'u';
    Kp3 "kp_3" 57402 'u';
    Kp4 "kp_4" 57403 'u';
    Kp5 "kp_5" 57404 'u';
    Kp6 "kp_6" 57405 'u';
    Kp7 "kp_7" 57406 'u';
    Kp8 "kp_8" 57407 'u';
    Kp9 "kp_9" 57408 'u';
    KpDecimal "kp_decimal" 57409 'u';
    KpDivide "kp_divide" 57410 'u';
    KpMultiply "kp_multiply" 57411 'u';
    KpSubtract "kp_subtract" 57412 'u';
    KpAdd "kp_add" 57413 'u';
    KpEnter "kp_enter" 57414 'u';
    KpEqual "kp_equal" 57415 'u';
    KpSeparator "kp_separator" 57416 'u';
    KpLeft "kp_left" 57417 'u';
    KpRight "kp_right" 57418 'u';
    KpUp "kp_up" 57419 'u';
    KpDown "kp_down" 57420 'u';
    KpPageUp "kp_page_up" 57421 'u';
    KpPageDown "kp_page_down" 57422 'u';
    KpHome "kp_home" 57423 'u';
    KpEnd "kp_end" 57424 'u';
    KpInsert "kp_insert" 57425 'u';
    KpDelete "kp_delete" 57426 'u';
    KpBegin "kp_begin" 1 'E';
    MediaPlay "media_play" 57428 'u';
    MediaPause "media_pause" 57429 'u';
    MediaPlayPause "media_play_pause" 57430 'u';
    MediaReverse "media_reverse" 57431 'u';
    MediaStop "media_stop" 57432 'u';
    MediaFastForward "media_fast_forward" 57433 'u';
    MediaRewind "media_rewind" 57434 'u';
    MediaTrackNext "media_track_next" 57435 'u';
    MediaTrackPrevious "media_track_previous" 57436 'u';
    MediaRecord "media_record" 57437 'u';
    LowerVolume "lower_volume" 57438 'u';
    RaiseVolume "raise_volume" 57439 'u';
    MuteVolume "mute_volume" 57440 'u';
    LeftShift "left_shift" 57441 'u';
    LeftCtrl "left_ctrl" 57442 'u';
    LeftAlt "left_alt" 57443 'u';
    LeftSuper "left_super" 57444 'u';
    LeftHyper "left_hyper" 57445 'u';
    LeftMeta "left_meta" 57446 'u';
    RightShift "right_shift" 57447 'u';
    RightCtrl "right_ctrl" 57448 'u';
    RightAlt "right_alt" 57449 'u';
    RightSuper "right_super" 57450 'u';
    RightHyper "right_hyper" 57451 'u';
    RightMeta "right_meta" 57452 'u';
    IsoLevel3Shift "iso_level3_shift" 57453 'u';
    IsoLevel5Shift "iso_level5_shift" 57454 'u';
}

impl Special {
    /// Whether the key only changes the state of others (shift, control, caps lock, level shifts).
    pub const fn is_modifier(self) -> bool {
        matches!(self, Self::CapsLock | Self::NumLock)
            || (self as u32 >= Self::LeftShift as u32 && self as u32 <= Self::IsoLevel5Shift as u32)
    }

    /// The key of the main block that the legacy protocols report for a keypad key.
    pub(super) const fn without_keypad(self) -> Option<super::Key> {
        use super::Key::{Char, Special as S};
        Some(match self {
            Self::Kp0 => Char('0'),
            Self::Kp1 => Char('1'),
            Self::Kp2 => Char('2'),
            Self::Kp3 => Char('3'),
            Self::Kp4 => Char('4'),
            Self::Kp5 => Char('5'),
            Self::Kp6 => Char('6'),
            Self::Kp7 => Char('7'),
            Self::Kp8 => Char('8'),
            Self::Kp9 => Char('9'),
            Self::KpDecimal => Char('.'),
            Self::KpDivide => Char('/'),
            Self::KpMultiply => Char('*'),
            Self::KpSubtract => Char('-'),
            Self::KpAdd => Char('+'),
            Self::KpEqual => Char('='),
            Self::KpSeparator => Char(','),
            Self::KpEnter => S(Self::Enter),
            Self::KpLeft => S(Self::Left),
            Self::KpRight => S(Self::Right),
            Self::KpUp => S(Self::Up),
            Self::KpDown => S(Self::Down),
            Self::KpPageUp => S(Self::PageUp),
            Self::KpPageDown => S(Self::PageDown),
            Self::KpHome => S(Self::Home),
            Self::KpEnd => S(Self::End),
            Self::KpInsert => S(Self::Insert),
            Self::KpDelete => S(Self::Delete),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_and_codes_are_unique() {
        let names: HashSet<_> = Special::ALL.iter().map(|key| key.name()).collect();
        let codes: HashSet<_> = Special::ALL.iter().map(|key| key.kitty_code()).collect();
        assert_eq!(names.len(), Special::ALL.len());
        assert_eq!(codes.len(), Special::ALL.len());
    }

    #[test]
    fn modifiers_are_distinguished_from_other_keys() {
        let modifiers = Special::ALL.iter().filter(|key| key.is_modifier()).count();
        assert_eq!(modifiers, 16);
        assert!(Special::CapsLock.is_modifier());
        assert!(!Special::ScrollLock.is_modifier());
        assert!(!Special::MuteVolume.is_modifier());
    }
}
