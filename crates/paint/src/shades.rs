//! Colors of everything around the terminal, derived from the theme so that all of them get along.

use iced_core::Color;
use rookery_view::scene::grid::mix;
use rookery_view::scene::{ACCENT, Rgb};
use rookery_view::theme::Theme;

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
            soft: mix(back, text, 0.66),
            faint: mix(back, text, 0.42),
            matched,
        }
    }
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
