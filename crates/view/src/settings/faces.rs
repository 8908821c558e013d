//! What the user may set about faces.

use super::{Read, Settings, choice, line, text};
use crate::keys::{FaceKind, KeyPreset, Keymap, Platform, Prefix};

/// When closing a tab asks first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfirmClose {
    /// While an agent works or waits in it.
    #[default]
    Busy,
    Always,
    Never,
}

/// When a paste asks first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PasteWarning {
    /// If it has several lines and the program did not ask for brackets.
    #[default]
    Multiline,
    Always,
    Never,
}

/// Which colors a face in a terminal uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TuiColors {
    /// The theme's where the terminal has 24 bits, else the terminal's own.
    #[default]
    Auto,
    /// The theme's.
    Theme,
    /// The terminal's own.
    Terminal,
    None,
}

/// How a face in a terminal tells of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TuiNotify {
    /// By an escape sequence for notifications.
    #[default]
    Osc,
    Bell,
    /// Not at all.
    Off,
}

/// Settings of faces, each with its default where the file is silent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceSettings {
    /// The prefix that the user chose, if any.
    pub prefix: Option<Prefix>,
    /// The set of default keys.
    pub key_preset: KeyPreset,
    /// Milliseconds for which deciding keys are dead after an item was drawn.
    pub answer_guard_ms: u32,
    /// Rows of one notch of the wheel.
    pub wheel_rows: u16,
    /// When closing a tab asks first.
    pub confirm_close: ConfirmClose,
    /// When a paste asks first.
    pub paste_warning: PasteWarning,
    /// Whether a face in a terminal takes the mouse.
    pub tui_mouse: bool,
    /// Which colors it uses.
    pub tui_colors: TuiColors,
    /// How it tells of something.
    pub tui_notify: TuiNotify,
    /// A command that gets notices while no viewer has the keyboard.
    pub notify_command: Option<String>,
    /// Milliseconds that a request waits before that command gets it.
    pub notify_after_ms: u32,
}

/// Longest guard.
const MOST_GUARD: u32 = 10_000;
/// Longest that a request waits before a command gets it: a day.
const MOST_NOTIFY_AFTER: u32 = 86_400_000;
/// Most rows of one notch of the wheel.
const MOST_WHEEL: u32 = 100;

impl Default for FaceSettings {
    fn default() -> Self {
        Self {
            prefix: None,
            key_preset: KeyPreset::default(),
            answer_guard_ms: 400,
            wheel_rows: 3,
            confirm_close: ConfirmClose::default(),
            paste_warning: PasteWarning::default(),
            tui_mouse: true,
            tui_colors: TuiColors::default(),
            tui_notify: TuiNotify::default(),
            notify_command: None,
            notify_after_ms: 30_000,
        }
    }
}

impl Settings {
    /// The key bindings in force in a face.
    pub fn keymap_for(&self, face: FaceKind, platform: Platform) -> Keymap {
        let FaceSettings { prefix, key_preset, .. } = self.faces;
        Keymap::for_face(face, platform, key_preset, prefix, &self.keybinds)
    }
}

const ON_OFF: &[(&str, bool)] = &[("on", true), ("off", false), ("true", true), ("false", false)];

/// Every key and how its value is read.
pub(super) const KEYS: &[(&str, Read)] = &[
    ("prefix", |settings, entry| {
        let prefix = match text(entry) {
            Some(chord) => Some(Prefix::parse(&chord).map_err(|error| error.to_string())?),
            None => None,
        };
        settings.faces.prefix = prefix;
        Ok(())
    }),
    ("key-preset", |settings, entry| {
        let words = &[("default", KeyPreset::Default), ("tmux", KeyPreset::Tmux)];
        settings.faces.key_preset = choice(entry, words)?;
        Ok(())
    }),
    ("answer-guard-ms", |settings, entry| {
        settings.faces.answer_guard_ms = whole(entry)?.min(MOST_GUARD);
        Ok(())
    }),
    ("wheel-rows", |settings, entry| {
        let rows = whole(entry)?.clamp(1, MOST_WHEEL);
        settings.faces.wheel_rows = u16::try_from(rows).unwrap_or(1);
        Ok(())
    }),
    ("confirm-close", |settings, entry| {
        let words = &[
            ("busy", ConfirmClose::Busy),
            ("always", ConfirmClose::Always),
            ("never", ConfirmClose::Never),
        ];
        settings.faces.confirm_close = choice(entry, words)?;
        Ok(())
    }),
    ("paste-warning", |settings, entry| {
        let words = &[
            ("multiline", PasteWarning::Multiline),
            ("always", PasteWarning::Always),
            ("never", PasteWarning::Never),
        ];
        settings.faces.paste_warning = choice(entry, words)?;
        Ok(())
    }),
    ("tui-mouse", |settings, entry| {
        settings.faces.tui_mouse = choice(entry, ON_OFF)?;
        Ok(())
    }),
    ("tui-colors", |settings, entry| {
        let words = &[
            ("auto", TuiColors::Auto),
            ("theme", TuiColors::Theme),
            ("terminal", TuiColors::Terminal),
            ("none", TuiColors::None),
        ];
        settings.faces.tui_colors = choice(entry, words)?;
        Ok(())
    }),
    ("tui-notify", |settings, entry| {
        let words = &[("osc", TuiNotify::Osc), ("bell", TuiNotify::Bell), ("off", TuiNotify::Off)];
        settings.faces.tui_notify = choice(entry, words)?;
        Ok(())
    }),
    ("notify-command", |settings, entry| {
        settings.faces.notify_command = text(entry);
        Ok(())
    }),
    ("notify-after-ms", |settings, entry| {
        settings.faces.notify_after_ms = whole(entry)?.min(MOST_NOTIFY_AFTER);
        Ok(())
    }),
];

/// Settings that a face may write: what only changes how faces look and behave, and starts nothing.
pub const WRITABLE: &[&str] = &[
    "prefix",
    "key-preset",
    "answer-guard-ms",
    "wheel-rows",
    "confirm-close",
    "paste-warning",
    "tui-mouse",
    "tui-colors",
    "tui-notify",
    "copy-on-select",
    "link-modifier",
    "font-size",
];

/// Whether a face may write this, and what the key is as a word of ours.
///
/// # Errors
/// Why the value cannot be read, or that the key is none of [`WRITABLE`].
pub fn writable(key: &str, value: &str) -> Result<&'static str, String> {
    let known = WRITABLE.iter().find(|known| **known == key);
    let known = known.ok_or_else(|| format!("{key} is no setting that a face may write"))?;
    if value.contains(['\n', '\r']) {
        return Err(format!("{key}: a value is one line"));
    }
    let (_, warnings) = Settings::parse(&super::edit::set("", known, value), Platform::Linux);
    match warnings.into_iter().next() {
        Some(warning) => Err(warning.message),
        None => Ok(known),
    }
}

fn whole(entry: &line::Entry<'_>) -> Result<u32, String> {
    entry.unquoted().trim().parse().map_err(|_| "not a whole number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_face_writes_what_can_be_read_and_nothing_that_starts_a_program() {
        assert_eq!(writable("tui-colors", "none"), Ok("tui-colors"));
        assert_eq!(writable("prefix", "off"), Ok("prefix"));
        assert_eq!(writable("font-size", "14"), Ok("font-size"));
        assert!(writable("tui-colors", "pink").unwrap_err().contains("must be one of"));
        assert!(writable("notify-command", "sh").is_err());
        assert!(writable("prefix", "ctrl+a\ncommand = x").is_err());
        for key in WRITABLE {
            let is_read = super::super::KEYS.iter().chain(KEYS).any(|(known, _)| known == key);
            assert!(is_read, "{key}");
        }
    }

    #[test]
    fn every_key_is_read_and_bad_values_change_nothing() {
        let text = "prefix = ctrl+a\nkey-preset = tmux\nanswer-guard-ms = 0\nwheel-rows = 900\nconfirm-close = never\npaste-warning = always\ntui-mouse = off\ntui-colors = none\ntui-notify = bell\nnotify-command = ntfy publish x\nnotify-after-ms = 250\n";
        let (settings, warnings) = Settings::parse(text, Platform::Linux);
        assert_eq!(warnings, []);
        let faces = settings.faces.clone();
        assert_eq!((faces.answer_guard_ms, faces.wheel_rows, faces.tui_mouse), (0, 100, false));
        assert_eq!(
            (faces.confirm_close, faces.paste_warning),
            (ConfirmClose::Never, PasteWarning::Always)
        );
        assert_eq!((faces.tui_colors, faces.tui_notify), (TuiColors::None, TuiNotify::Bell));
        assert_eq!(faces.notify_command.as_deref(), Some("ntfy publish x"));
        assert_eq!(faces.notify_after_ms, 250);
        let keymap = settings.keymap_for(FaceKind::Tui, Platform::Linux);
        assert_eq!(keymap.prefix().map(|prefix| prefix.to_string()).as_deref(), Some("ctrl+a"));
        let bad = "prefix = nokey\nkey-preset = vi\nanswer-guard-ms = x\nwheel-rows = -1\nconfirm-close = x\ntui-mouse = maybe\n";
        let (settings, warnings) = Settings::parse(bad, Platform::Linux);
        assert_eq!(warnings.len(), 6);
        assert_eq!(settings.faces, FaceSettings::default());
        let (settings, _) = Settings::parse("prefix = off\n", Platform::Linux);
        assert_eq!(settings.keymap_for(FaceKind::Web, Platform::Linux).prefix(), None);
    }
}
