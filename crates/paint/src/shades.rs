//! Colors of everything around the terminal, derived from the theme so that all of them get along.

use iced_core::Color;
use rookery_view::scene::grid::mix;
use rookery_view::scene::{ACCENT, Rgb};
use rookery_view::theme::Theme;

const GREEN: Rgb = (0x2e, 0xa0, 0x43);
const RED: Rgb = (0xd8, 0x3a, 0x3a);
const BLACK: Rgb = (0, 0, 0);
const WHITE: Rgb = (255, 255, 255);

/// Colors of the parts of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shades {
    /// Behind the terminal.
    pub(crate) terminal: Rgb,
    /// Behind sidebar and strip.
    pub(crate) chrome: Rgb,
    /// Lines between the parts.
    pub(crate) line: Rgb,
    /// Behind the chosen row or pill.
    pub(crate) raised: Rgb,
    /// Behind other pills.
    pub(crate) quiet: Rgb,
    /// Behind palette, inbox, toasts and questions.
    pub(crate) panel: Rgb,
    /// Edge of those.
    pub(crate) panel_edge: Rgb,
    /// The palette's chosen row.
    pub(crate) chosen: Rgb,
    /// Text that matters.
    pub(crate) text: Rgb,
    /// Text that matters less.
    pub(crate) soft: Rgb,
    /// Text that matters least.
    pub(crate) faint: Rgb,
    /// Matched letters.
    pub(crate) matched: Rgb,
    /// Badges, the button that most came for, what is chosen.
    pub(crate) accent: Rgb,
    /// Text on that.
    pub(crate) on_accent: Rgb,
    /// A button that says no.
    pub(crate) bad_fill: Rgb,
    /// Text that says that something went well, wrong, or is to be looked at.
    pub(crate) good: Rgb,
    pub(crate) bad: Rgb,
    pub(crate) warn: Rgb,
    /// Behind added and removed lines.
    pub(crate) added: Rgb,
    pub(crate) removed: Rgb,
    /// Behind code.
    pub(crate) code: Rgb,
    /// Behind fields that text is written into.
    pub(crate) field: Rgb,
}

impl Shades {
    pub(crate) fn of(theme: &Theme) -> Shades {
        let (back, text) = (theme.palette.background, theme.palette.foreground);
        let light = luminance(back);
        let chrome = match light {
            // There is nothing darker than black, so there the chrome is lighter.
            light if light < 0.015 => mix(back, text, 0.06),
            light if light < 0.5 => mix(back, BLACK, 0.22),
            _ => mix(back, BLACK, 0.045),
        };
        let panel = if light < 0.5 { mix(back, text, 0.055) } else { mix(back, WHITE, 0.6) };
        let matched = if light < 0.5 { mix(ACCENT, WHITE, 0.42) } else { ACCENT };
        Shades {
            terminal: back,
            chrome,
            line: mix(back, text, 0.09),
            raised: mix(chrome, text, 0.13),
            quiet: mix(chrome, text, 0.035),
            panel,
            panel_edge: mix(panel, text, 0.14),
            chosen: mix(panel, ACCENT, if light < 0.5 { 0.32 } else { 0.16 }),
            text: mix(back, text, 0.92),
            soft: mix(back, text, 0.72),
            faint: quietest(back, text),
            matched,
            accent: ACCENT,
            on_accent: WHITE,
            bad_fill: (0xc0, 0x3c, 0x3c),
            good: readable(theme.palette.named[2], back, text),
            bad: readable(theme.palette.named[1], back, text),
            warn: readable((0xf0, 0xa0, 0x40), back, text),
            added: mix(back, GREEN, 0.16),
            removed: mix(back, RED, 0.16),
            code: mix(back, text, 0.055),
            field: mix(back, text, if light < 0.5 { 0.03 } else { 0.0 }),
        }
    }

    /// A little closer to the text, for what the mouse is over.
    pub(crate) fn lifted(&self, rgb: Rgb) -> Rgb {
        mix(rgb, self.text, 0.1)
    }
}

/// Text that matters least can still be read: 4.5 to 1 against the ground where the theme allows it.
fn quietest(back: Rgb, text: Rgb) -> Rgb {
    (42..=72)
        .step_by(3)
        .map(|share| mix(back, text, share as f32 / 100.0))
        .find(|mixed| contrast(*mixed, back) >= 4.6)
        .unwrap_or_else(|| mix(back, text, 0.72))
}

/// A color that can be read on a ground: moved towards the text's until it is apart enough.
fn readable(rgb: Rgb, back: Rgb, text: Rgb) -> Rgb {
    (0..=10)
        .map(|step| mix(rgb, text, step as f32 / 10.0))
        .find(|mixed| contrast(*mixed, back) >= 4.5)
        .unwrap_or(text)
}

/// How far apart two colors are, as guidelines for readable text count it.
pub(crate) fn contrast(one: Rgb, other: Rgb) -> f32 {
    let linear = |part: u8| {
        let part = f32::from(part) / 255.0;
        if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    let light = |(r, g, b): Rgb| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (one, other) = (light(one), light(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// How bright a color looks, from 0 to 1.
fn luminance((r, g, b): Rgb) -> f32 {
    (0.2126 * f32::from(r) + 0.7152 * f32::from(g) + 0.0722 * f32::from(b)) / 255.0
}

/// A color as the renderer wants it.
pub(crate) fn color((r, g, b): Rgb) -> Color {
    Color::from_rgb8(r, g, b)
}

/// The same, partly transparent.
pub(crate) fn faded((r, g, b): Rgb, alpha: f32) -> Color {
    Color::from_rgba8(r, g, b, alpha)
}
