//! The user's settings as painters need them, and the keys of a face.

use rookery_core::{Core, Face};
use rookery_view::keys::{FaceKind, KeyPreset, Keymap, Platform};
use rookery_view::link::{self, Chosen, Font};
use rookery_view::settings::{
    ConfirmClose, CopyOnSelect, LinkModifier, PasteWarning, Settings, TuiColors, TuiNotify,
};

use super::Session;

/// What the user chose; made anew only when the settings changed, since scenes are made often.
pub(super) fn chosen(core: &Core, session: &Session, face: Face) -> Chosen {
    let (settings, _) = core.seats().settings();
    let kept = session.look(|state| {
        state.chosen.as_ref().filter(|(of, _)| *of == settings).map(|(_, made)| made.clone())
    });
    kept.unwrap_or_else(|| {
        let keymap = keymap(&settings, face);
        let made = Chosen { settings: link_settings(&settings, &keymap), keys: keymap.entries() };
        session.look(|state| state.chosen = Some((settings, made.clone())));
        made
    })
}

/// The keys of a face, as the user set them.
fn keymap(settings: &Settings, face: Face) -> Keymap {
    let face = match face {
        Face::Tui | Face::Other => FaceKind::Tui,
        Face::Window => FaceKind::Window,
        Face::Web => FaceKind::Web,
    };
    settings.keymap_for(face, Platform::Linux)
}

/// What painters need of the user's settings.
fn link_settings(settings: &Settings, keymap: &Keymap) -> link::Settings {
    let faces = &settings.faces;
    link::Settings {
        theme: settings.theme.clone(),
        font: Font {
            family: settings.font_family.clone().unwrap_or_default(),
            size: settings.font_size,
        },
        wheel_rows: faces.wheel_rows,
        copy_on_select: match settings.copy_on_select {
            CopyOnSelect::Off => "off",
            CopyOnSelect::Selection => "selection",
            CopyOnSelect::Clipboard => "clipboard",
        }
        .to_owned(),
        link_modifier: match settings.link_modifier {
            LinkModifier::Ctrl => "ctrl",
            LinkModifier::Alt => "alt",
            LinkModifier::Super => "super",
        }
        .to_owned(),
        guard: faces.answer_guard_ms,
        mouse: faces.tui_mouse,
        notify: match faces.tui_notify {
            TuiNotify::Osc => "osc",
            TuiNotify::Bell => "bell",
            TuiNotify::Off => "off",
        }
        .to_owned(),
        prefix: keymap.prefix().map(|prefix| prefix.to_string()),
        key_preset: match faces.key_preset {
            KeyPreset::Default => "default",
            KeyPreset::Tmux => "tmux",
        }
        .to_owned(),
        confirm_close: match faces.confirm_close {
            ConfirmClose::Busy => "busy",
            ConfirmClose::Always => "always",
            ConfirmClose::Never => "never",
        }
        .to_owned(),
        paste_warning: match faces.paste_warning {
            PasteWarning::Multiline => "multiline",
            PasteWarning::Always => "always",
            PasteWarning::Never => "never",
        }
        .to_owned(),
        colors: match faces.tui_colors {
            TuiColors::Auto => "auto",
            TuiColors::Theme => "theme",
            TuiColors::Terminal => "terminal",
            TuiColors::None => "none",
        }
        .to_owned(),
    }
}
