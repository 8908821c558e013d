//! The names of keys.

/// Every name that the action `key` takes, so that plugins need no list of their own.
///
/// The host that carries the actions out has the keys themselves and compares its names with these in a test.
/// Ctrl with h, i, j and m is backspace, tab, line feed and enter, which have names of their own.
#[rustfmt::skip]
pub const KEY_NAMES: [&str; 50] = [
    "enter", "escape", "tab", "shift_tab", "backspace", "delete", "space",
    "up", "down", "right", "left", "home", "end", "page_up", "page_down", "insert",
    "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
    "ctrl_a", "ctrl_b", "ctrl_c", "ctrl_d", "ctrl_e", "ctrl_f", "ctrl_g", "ctrl_k", "ctrl_l", "ctrl_n", "ctrl_o",
    "ctrl_p", "ctrl_q", "ctrl_r", "ctrl_s", "ctrl_t", "ctrl_u", "ctrl_v", "ctrl_w", "ctrl_x", "ctrl_y", "ctrl_z",
];
