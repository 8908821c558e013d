//! The themes that come with the program: well-known schemes as data, and the default in code.

use rookery_term::Palette;

/// Declares the built-in themes by file name.
macro_rules! themes {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every built-in theme.
        pub(super) const TEXTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../themes/", $name, ".conf")))),*];
    };
}

themes! {
    "ayu-dark",
    "ayu-mirage",
    "catppuccin-frappe",
    "catppuccin-latte",
    "catppuccin-macchiato",
    "catppuccin-mocha",
    "cobalt2",
    "dracula",
    "everforest-dark",
    "github-dark",
    "github-dark-dimmed",
    "github-light",
    "gruvbox-dark",
    "high-contrast",
    "iceberg-dark",
    "kanagawa",
    "kanagawa-dragon",
    "material-dark",
    "material-ocean",
    "monokai",
    "night-owl",
    "nord",
    "oceanic-next",
    "one-dark",
    "Oxocarbon",
    "palenight",
    "roost-dark",
    "rose-pine",
    "rose-pine-moon",
    "snazzy",
    "solarized-dark",
    "solarized-light",
    "synthwave",
    "tokyo-night",
    "tokyo-night-storm",
    "tomorrow-night",
    "vscode-dark",
    "zenburn",
}

/// The colors of the default theme, needed before any text is read.
pub(super) fn fallback_palette() -> Palette {
    Palette {
        foreground: (0xff, 0xff, 0xff),
        background: (0x1e, 0x1e, 0x1e),
        cursor: (0x98, 0x98, 0x9d),
        named: [
            (0x1a, 0x1a, 0x1a),
            (0xcc, 0x37, 0x2e),
            (0x26, 0xa4, 0x39),
            (0xcd, 0xac, 0x08),
            (0x08, 0x69, 0xcb),
            (0x96, 0x47, 0xbf),
            (0x47, 0x9e, 0xc2),
            (0x98, 0x98, 0x9d),
            (0x46, 0x46, 0x46),
            (0xff, 0x45, 0x3a),
            (0x32, 0xd7, 0x4b),
            (0xff, 0xd6, 0x0a),
            (0x0a, 0x84, 0xff),
            (0xbf, 0x5a, 0xf2),
            (0x76, 0xd6, 0xff),
            (0xff, 0xff, 0xff),
        ],
        bold: Some((0xff, 0xff, 0xff)),
        selection: Some((0x3f, 0x63, 0x8b)),
    }
}
