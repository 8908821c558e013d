//! Tests of reading settings.

use super::*;
use crate::keys::{Action, Trigger};
use proptest::prelude::*;

fn parse(text: &str) -> (Settings, Vec<Warning>) {
    Settings::parse(text, Platform::Linux)
}

fn clean(text: &str) -> Settings {
    let (settings, warnings) = parse(text);
    assert_eq!(warnings, []);
    settings
}

#[test]
fn an_empty_file_gives_the_defaults() {
    let settings = clean("");
    assert_eq!(settings, Settings::new(Platform::Linux));
    assert_eq!(settings.theme, "roost-dark");
    assert_eq!(settings.font_size, 13.0);
    assert_eq!(settings.word_break_chars, "_-.+~/:@%");
    assert_eq!(settings.copy_on_select, CopyOnSelect::Selection);
    assert!(settings.clipboard_write && settings.show_sidebar_agents);
    assert!(settings.shell_integration);
    assert_eq!(settings.link_modifier, LinkModifier::Alt);
    assert_eq!(Settings::new(Platform::MacOs).link_modifier, LinkModifier::Super);
    assert_eq!((settings.tab_min_width, settings.tab_max_width), (80.0, 220.0));
}

#[test]
fn every_key_is_read() {
    let settings = clean(
        "theme = nord\nfont-family = \"JetBrains Mono\"\nfont-size = 15.5\n\
         keybind = ctrl+t = new_tab\ncommand = label=a run=b\nprovider = label=c run=d\n\
         copy-on-select = clipboard\nclipboard-write = deny\nword-break-chars = -_\n\
         link-modifier = ctrl\nshow-sidebar-agents = false\ntab-min-width = 0\n\
         tab-max-width = 300\nshell-integration = false\n",
    );
    assert_eq!(settings.theme, "nord");
    assert_eq!(settings.font_family.as_deref(), Some("JetBrains Mono"));
    assert_eq!(settings.font_size, 15.5);
    assert_eq!(settings.keybinds.len(), 1);
    assert_eq!(settings.commands[0].run, "b");
    assert_eq!(settings.providers[0].run, ProviderRun::Shell("d".to_owned()));
    assert_eq!(settings.copy_on_select, CopyOnSelect::Clipboard);
    assert!(!settings.clipboard_write);
    assert_eq!(settings.word_break_chars, "-_");
    assert_eq!(settings.link_modifier, LinkModifier::Ctrl);
    assert!(!settings.show_sidebar_agents);
    assert_eq!((settings.tab_min_width, settings.tab_max_width), (0.0, 300.0));
    assert!(!settings.shell_integration);
}

#[test]
fn comments_blanks_unknown_keys_and_odd_spacing_are_fine() {
    let settings = clean("\u{feff}theme=a\r\n\r\n  # theme = b\r\nfuture = 1\r\n\tfont-size  =9 ");
    assert_eq!(settings.theme, "a");
    assert_eq!(settings.font_size, 9.0);
}

#[test]
fn one_pair_of_quotes_is_stripped() {
    assert_eq!(clean("theme = \"\"nord\"\"").theme, "\"nord\"");
    assert_eq!(clean("theme = 'nord'").theme, "nord");
    assert_eq!(clean("theme = \"nord").theme, "\"nord");
    assert_eq!(clean("word-break-chars = \"\"").word_break_chars, "");
}

#[test]
fn the_last_line_of_a_key_wins_and_repeatable_keys_add_up() {
    let settings = clean(
        "theme = a\ntheme = b\ncommand = label=x run=1\ncommand = label=y run=2\n\
         provider = label=p run=3\nprovider = label=q run=4\n",
    );
    assert_eq!(settings.theme, "b");
    let labels: Vec<&str> = settings.commands.iter().map(|command| &*command.label).collect();
    assert_eq!(labels, ["x", "y"]);
    assert_eq!(settings.providers.len(), 2);
}

#[test]
fn an_empty_value_is_the_default_again() {
    let settings = clean("theme = a\ntheme =\nfont-family = X\nfont-family = \"\"\n");
    assert_eq!(settings.theme, "roost-dark");
    assert_eq!(settings.font_family, None);
}

#[test]
fn font_sizes_are_clamped() {
    for (given, size) in [("1", 6.0), ("6", 6.0), ("72", 72.0), ("1e9", 72.0), ("-4", 6.0)] {
        assert_eq!(clean(&format!("font-size = {given}")).font_size, size, "{given}");
    }
}

#[test]
fn bad_lines_are_reported_with_their_numbers_and_change_nothing() {
    let (settings, warnings) = parse(
        "# fine\nfont-size = nan\ncopy-on-select = maybe\nno equals sign\n= value\n\
         keybind = alt+t = fly\nkeybind = alt+t\ncommand = label=x\nprovider = run=x\n\
         clipboard-write = ask\nshow-sidebar-agents = 2\n",
    );
    assert_eq!(settings, Settings::new(Platform::Linux));
    let lines: Vec<usize> = warnings.iter().map(|warning| warning.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(warnings[0].to_string(), "line 2: font-size: not a number");
    assert_eq!(warnings[6].message, "command: the line has no run");
}

#[test]
fn a_bad_line_leaves_the_earlier_good_one_in_force() {
    let (settings, warnings) = parse("font-size = 20\nfont-size = big\n");
    assert_eq!(settings.font_size, 20.0);
    assert_eq!(warnings.len(), 1);
}

#[test]
fn warnings_are_bounded() {
    assert_eq!(parse(&"junk\n".repeat(5000)).1.len(), 100);
}

#[test]
fn quotes_of_a_command_are_its_own() {
    let settings = clean("command = \"label=My App\" run=\"ls -l\"");
    assert_eq!(settings.commands[0].label, "My App");
    assert_eq!(settings.commands[0].run, "ls -l");
}

#[test]
fn the_keymap_has_the_users_bindings() {
    let settings = clean("keybind = \"ctrl+t = new_tab\"\nkeybind = alt+t = unbind\n");
    let trigger = Trigger::parse("ctrl+t").unwrap();
    let map = settings.keymap(Platform::Linux);
    assert_eq!(map.triggers_of(Action::NewTab), [trigger]);
}

proptest! {
    #[test]
    fn no_text_panics(text in "(?s).{0,300}") {
        let (settings, _) = parse(&text);
        prop_assert!(settings.font_size >= FONT_SIZES.0 && settings.font_size <= FONT_SIZES.1);
    }

    #[test]
    fn no_value_of_a_known_key_panics(key in prop::sample::select(
        KEYS.iter().map(|(key, _)| *key).collect::<Vec<_>>()), value in "\\PC{0,40}") {
        let (settings, warnings) = parse(&format!("{key} = {value}"));
        prop_assert!(settings.font_size.is_finite());
        prop_assert!(warnings.len() <= 1);
    }
}
