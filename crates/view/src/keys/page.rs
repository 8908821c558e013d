//! `docs/keys.md`, made from the table of actions.

use std::fmt::Write as _;

use super::{ACTIONS, FaceKind, KeyPreset, Keymap, Platform, Trigger};

const HEAD: &str = "# Keys

This page is made from the table of actions in `crates/view/src/keys/action.rs`; `UPDATE_EXPECT=1 cargo nextest run -p rookery-view keys` writes it anew.

The terminal face and the browser reserve one key, the prefix (`ctrl+\\`), and eleven chords with `ctrl+alt`.
The window has keys of its own; on macOS they have Command where `alt` stands alone.
A key that is not bound goes to the program. The prefix twice sends it on once.

Lines of `config.conf` change all of it:

| line | means |
|---|---|
| `keybind = ctrl+t = new_tab` | in every face |
| `keybind = tui:ctrl+t = new_tab` | in one: `tui:`, `window:` or `web:` |
| `keybind = prefix>shift+v = split_right` | after the prefix; the case of a letter counts |
| `keybind = ctrl+alt+p = unbind` | frees a chord |
| `prefix = ctrl+a` | another prefix, or `off` |
| `key-preset = tmux` | `ctrl+b`, no chords beside it, and tmux's letters |
";

/// The whole page.
pub fn text() -> String {
    let mut out = HEAD.to_owned();
    let window = Keymap::new(Platform::Linux, &[]);
    let ours = Keymap::for_face(FaceKind::Tui, Platform::Linux, KeyPreset::Default, None, &[]);
    let tmux = Keymap::for_face(FaceKind::Tui, Platform::Linux, KeyPreset::Tmux, None, &[]);
    out.push_str("\n## Actions\n\n");
    out.push_str(
        "| action | title | window | terminal, browser | after the prefix | with `tmux` |\n",
    );
    out.push_str("|---|---|---|---|---|---|\n");
    for row in ACTIONS {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} |",
            row.id,
            row.action.words(),
            cell(&window.triggers_of(row.action)),
            cell(&ours.triggers_of(row.action)),
            cell(&ours.prefixed_of(row.action)),
            cell(&tmux.prefixed_of(row.action)),
        );
    }
    out
}

/// Keys as code; a bar would end the cell.
fn cell(keys: &[Trigger]) -> String {
    let code = |key: &Trigger| format!("`{}`", key.shown().replace('|', "\\|"));
    keys.iter().map(code).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    #[test]
    fn the_page_in_docs_is_this_one() {
        expect_file!["../../../../docs/keys.md"].assert_eq(&super::text());
    }
}
