//! What the user may set in `config.conf`, read from text and changed in text.
//!
//! The owner of the file reads and writes it; here are only its words.

mod command;
pub mod edit;
mod faces;
pub(crate) mod line;

pub use command::{Command, DEFAULT_LIMIT, DEFAULT_TIMEOUT, MissingWord, Provider, ProviderRun};
pub use faces::{
    ConfirmClose, FaceSettings, PasteWarning, TuiColors, TuiNotify, WRITABLE, writable,
};

use crate::keys::{Keybind, Keymap, Platform};
use crate::theme::DEFAULT_THEME;

/// Something in a file that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl Warning {
    /// More would not be useful.
    const MOST: usize = 100;

    pub(crate) fn push(warnings: &mut Vec<Self>, line: usize, message: String) {
        if warnings.len() < Self::MOST {
            warnings.push(Self { line, message });
        }
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Where selecting with the mouse puts the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOnSelect {
    /// Nowhere.
    Off,
    /// Into the selection clipboard only.
    Selection,
    /// Into both clipboards.
    Clipboard,
}

/// The modifier that makes links clickable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkModifier {
    /// Control.
    Ctrl,
    /// Alt or Option.
    Alt,
    /// Super or Command.
    Super,
}

/// All settings, each with its default where the file is silent.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Name of the theme.
    pub theme: String,
    /// Name of the font family; none means the built-in one.
    pub font_family: Option<String>,
    /// Size of the terminal's text, within [`FONT_SIZES`].
    pub font_size: f32,
    /// The user's key bindings, in order.
    pub keybinds: Vec<Keybind>,
    /// Entries of the launcher, in order.
    pub commands: Vec<Command>,
    /// Configured providers, in order. Discovered ones come after them.
    pub providers: Vec<Provider>,
    /// What selecting with the mouse copies.
    pub copy_on_select: CopyOnSelect,
    /// Whether programs may write the clipboard by OSC 52.
    pub clipboard_write: bool,
    /// Signs that belong to a word besides letters and digits.
    pub word_break_chars: String,
    /// What to hold for opening links.
    pub link_modifier: LinkModifier,
    /// Whether the sidebar lists agents.
    pub show_sidebar_agents: bool,
    /// Narrowest tab; 0 means no floor.
    pub tab_min_width: f32,
    /// Widest tab; 0 means no cap.
    pub tab_max_width: f32,
    /// Whether shells get our scripts for directory, title and prompt marks.
    pub shell_integration: bool,
    /// What is about faces.
    pub faces: FaceSettings,
}

/// A larger file is no settings file and need not be read.
pub const MOST_BYTES: usize = 1024 * 1024;
/// Smallest and largest text.
pub const FONT_SIZES: (f32, f32) = (6.0, 72.0);
/// Text size unless set.
pub const DEFAULT_FONT_SIZE: f32 = 13.0;
const WORD_BREAK_CHARS: &str = "_-.+~/:@%";
/// No tab is sensibly wider than this.
const MOST_TAB_WIDTH: f32 = 4096.0;

impl Settings {
    /// The settings of an empty file.
    pub fn new(platform: Platform) -> Self {
        Self {
            theme: DEFAULT_THEME.to_owned(),
            font_family: None,
            font_size: DEFAULT_FONT_SIZE,
            keybinds: Vec::new(),
            commands: Vec::new(),
            providers: Vec::new(),
            copy_on_select: CopyOnSelect::Selection,
            clipboard_write: true,
            word_break_chars: WORD_BREAK_CHARS.to_owned(),
            link_modifier: match platform {
                Platform::Linux => LinkModifier::Alt,
                Platform::MacOs => LinkModifier::Super,
            },
            show_sidebar_agents: true,
            tab_min_width: 80.0,
            tab_max_width: 220.0,
            shell_integration: true,
            faces: FaceSettings::default(),
        }
    }

    /// Reads a file's text. A bad line is reported and otherwise as if it were not there.
    pub fn parse(text: &str, platform: Platform) -> (Self, Vec<Warning>) {
        let mut settings = Self::new(platform);
        let mut warnings = Vec::new();
        for (number, entry) in line::entries(text) {
            let done = match entry {
                Ok(entry) => settings.apply(&entry),
                Err(error) => Err(error),
            };
            if let Err(message) = done {
                Warning::push(&mut warnings, number, message);
            }
        }
        (settings, warnings)
    }

    /// The key bindings in force.
    pub fn keymap(&self, platform: Platform) -> Keymap {
        Keymap::new(platform, &self.keybinds)
    }

    fn apply(&mut self, entry: &line::Entry<'_>) -> Result<(), String> {
        let keys = KEYS.iter().chain(faces::KEYS);
        let Some((_, read)) = keys.into_iter().find(|(key, _)| *key == entry.key) else {
            return Ok(());
        };
        read(self, entry).map_err(|why| format!("{}: {why}", entry.key))
    }
}

type Read = fn(&mut Settings, &line::Entry<'_>) -> Result<(), String>;

/// Every key and how its value is read.
const KEYS: &[(&str, Read)] = &[
    ("theme", |settings, entry| {
        settings.theme = text(entry).unwrap_or_else(|| DEFAULT_THEME.to_owned());
        Ok(())
    }),
    ("font-family", |settings, entry| {
        settings.font_family = text(entry);
        Ok(())
    }),
    ("font-size", |settings, entry| {
        settings.font_size = number(entry)?.clamp(FONT_SIZES.0, FONT_SIZES.1);
        Ok(())
    }),
    ("keybind", |settings, entry| {
        let keybind = Keybind::parse(entry.unquoted()).map_err(|error| error.to_string())?;
        settings.keybinds.push(keybind);
        Ok(())
    }),
    // These two have quotes of their own, so nothing is stripped from the whole.
    ("command", |settings, entry| {
        let command = Command::parse(entry.value).map_err(|error| error.to_string())?;
        settings.commands.push(command);
        Ok(())
    }),
    ("provider", |settings, entry| {
        let provider = Provider::parse(entry.value).map_err(|error| error.to_string())?;
        settings.providers.push(provider);
        Ok(())
    }),
    ("copy-on-select", |settings, entry| {
        settings.copy_on_select = choice(
            entry,
            &[
                ("off", CopyOnSelect::Off),
                ("false", CopyOnSelect::Off),
                ("true", CopyOnSelect::Selection),
                ("clipboard", CopyOnSelect::Clipboard),
            ],
        )?;
        Ok(())
    }),
    ("clipboard-write", |settings, entry| {
        settings.clipboard_write = choice(entry, &[("allow", true), ("deny", false)])?;
        Ok(())
    }),
    ("word-break-chars", |settings, entry| {
        settings.word_break_chars = entry.unquoted().to_owned();
        Ok(())
    }),
    ("link-modifier", |settings, entry| {
        settings.link_modifier = choice(
            entry,
            &[
                ("ctrl", LinkModifier::Ctrl),
                ("alt", LinkModifier::Alt),
                ("super", LinkModifier::Super),
                ("control", LinkModifier::Ctrl),
                ("opt", LinkModifier::Alt),
                ("option", LinkModifier::Alt),
                ("cmd", LinkModifier::Super),
                ("command", LinkModifier::Super),
                ("meta", LinkModifier::Super),
            ],
        )?;
        Ok(())
    }),
    ("show-sidebar-agents", |settings, entry| {
        settings.show_sidebar_agents = choice(entry, YES_NO)?;
        Ok(())
    }),
    ("tab-min-width", |settings, entry| {
        settings.tab_min_width = number(entry)?.clamp(0.0, MOST_TAB_WIDTH);
        Ok(())
    }),
    ("tab-max-width", |settings, entry| {
        settings.tab_max_width = number(entry)?.clamp(0.0, MOST_TAB_WIDTH);
        Ok(())
    }),
    ("shell-integration", |settings, entry| {
        settings.shell_integration = choice(entry, YES_NO)?;
        Ok(())
    }),
];

const YES_NO: &[(&str, bool)] = &[("true", true), ("false", false)];

/// The value, unless empty.
fn text(entry: &line::Entry<'_>) -> Option<String> {
    Some(entry.unquoted().to_owned()).filter(|value| !value.is_empty())
}

fn number(entry: &line::Entry<'_>) -> Result<f32, String> {
    let number: Option<f32> = entry.unquoted().trim().parse().ok();
    number.filter(|number| number.is_finite()).ok_or_else(|| "not a number".to_owned())
}

fn choice<T: Copy>(entry: &line::Entry<'_>, words: &[(&str, T)]) -> Result<T, String> {
    let given = entry.unquoted().trim();
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(given));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("must be one of {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests;
