//! Tests of triggers, the table of actions and the keymap.

use super::*;
use proptest::prelude::*;
use rookery_term::keys::Special;

fn trigger(text: &str) -> Trigger {
    Trigger::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn linux(lines: &[&str]) -> Keymap {
    let lines: Vec<Keybind> = lines.iter().map(|line| Keybind::parse(line).unwrap()).collect();
    Keymap::new(Platform::Linux, &lines)
}

#[test]
fn every_default_trigger_of_the_table_can_be_read() {
    for row in ACTIONS {
        for platform in [Platform::Linux, Platform::MacOs] {
            assert_eq!(row.triggers(platform).len(), row.key_count(), "{}", row.id);
        }
    }
}

#[test]
fn ids_and_actions_of_the_table_are_unique() {
    for (place, row) in ACTIONS.iter().enumerate() {
        assert_eq!(Action::from_id(row.id), Some(row.action));
        assert_eq!(row.action.id(), row.id);
        assert!(!ACTIONS[..place].iter().any(|other| other.id == row.id), "{}", row.id);
    }
}

#[test]
fn no_default_trigger_has_two_actions() {
    for platform in [Platform::Linux, Platform::MacOs] {
        let named: usize = ACTIONS.iter().map(ActionRow::key_count).sum();
        assert_eq!(Keymap::new(platform, &[]).bindings().len(), named);
    }
}

#[test]
fn linux_defaults_are_on_alt_and_macos_ones_on_command() {
    let table = [
        ("alt+t", "cmd+t", Action::NewTab),
        ("alt+w", "cmd+w", Action::CloseTab),
        ("alt+r", "cmd+r", Action::RenameTab),
        ("alt+shift+[", "cmd+shift+[", Action::CycleTabPrev),
        ("alt+shift+]", "cmd+shift+]", Action::CycleTabNext),
        ("alt+n", "cmd+n", Action::NewProject),
        ("alt+shift+r", "cmd+shift+r", Action::RenameProject),
        ("alt+shift+w", "cmd+shift+w", Action::CloseProject),
        ("alt+b", "cmd+b", Action::ToggleSidebar),
        ("alt+shift+a", "cmd+shift+a", Action::ToggleSidebarAgents),
        ("alt+shift+u", "cmd+shift+u", Action::JumpToUnread),
        ("alt+shift+p", "cmd+shift+p", Action::CommandPalette),
        ("alt+shift+t", "cmd+shift+t", Action::CommandLauncher),
        ("alt+shift+e", "cmd+shift+e", Action::CustomPalette),
        ("alt+shift+o", "cmd+shift+o", Action::AgentPalette),
        ("alt+1", "cmd+1", Action::SwitchProject(1)),
        ("alt+9", "cmd+9", Action::SwitchProject(9)),
        ("ctrl+1", "ctrl+1", Action::SwitchTab(1)),
        ("ctrl+9", "ctrl+9", Action::SwitchTab(9)),
        ("alt+c", "cmd+c", Action::Copy),
        ("ctrl+shift+c", "ctrl+shift+c", Action::Copy),
        ("alt+v", "cmd+v", Action::Paste),
        ("ctrl+shift+v", "ctrl+shift+v", Action::Paste),
        ("alt+plus", "cmd+plus", Action::FontIncrease),
        ("alt+equal", "cmd+equal", Action::FontIncrease),
        ("alt+minus", "cmd+minus", Action::FontDecrease),
        ("alt+0", "cmd+0", Action::FontReset),
    ];
    let on_mac = Keymap::new(Platform::MacOs, &[]);
    for (linux_key, mac_key, action) in table {
        let (on_linux, left, right) = (linux(&[]), trigger(linux_key), trigger(mac_key));
        assert_eq!(on_linux.lookup(left.mods(), left.key()), Some(action), "{linux_key}");
        assert_eq!(on_mac.lookup(right.mods(), right.key()), Some(action), "{mac_key}");
    }
}

#[test]
fn plain_control_letters_stay_with_the_shell() {
    for letter in 'a'..='z' {
        assert_eq!(linux(&[]).lookup(Mods::CTRL, Key::Char(letter)), None);
        assert_eq!(linux(&[]).lookup(Mods::NONE, Key::Char(letter)), None);
    }
}

#[test]
fn modifiers_have_aliases_and_any_case() {
    let same = [
        ("ctrl+k", "Control+K"),
        ("alt+k", "opt+k"),
        ("alt+k", "Option+k"),
        ("super+k", "cmd+k"),
        ("super+k", "command+k"),
        ("super+k", "Meta+k"),
        ("alt+shift+k", " shift + alt + k "),
    ];
    for (left, right) in same {
        assert_eq!(trigger(left), trigger(right), "{right}");
    }
}

#[test]
fn signs_are_the_same_key_however_they_are_written() {
    let same = [
        ("alt+plus", "alt++"),
        ("alt+plus", "alt+shift+equal"),
        ("alt+plus", "alt+shift+="),
        ("alt+{", "alt+shift+["),
        ("alt+bracketleft", "alt+["),
        ("ctrl+minus", "ctrl+-"),
        ("+", "plus"),
    ];
    for (left, right) in same {
        assert_eq!(trigger(left), trigger(right), "{right}");
    }
    assert_ne!(trigger("alt+plus"), trigger("alt+equal"));
}

#[test]
fn named_keys_are_the_engines() {
    assert_eq!(trigger("ctrl+Page_Up").key(), Key::Special(Special::PageUp));
    assert_eq!(trigger("f5").key(), Key::Special(Special::F5));
    assert_eq!(trigger("ctrl+enter").key(), Key::Special(Special::Enter));
    assert_eq!(trigger("alt+space").key(), Key::Char(' '));
}

#[test]
fn bad_triggers_say_what_is_wrong() {
    let table = [
        ("", "the trigger names no key"),
        ("alt+", "the trigger names no key"),
        ("hyperr+a", "unknown modifier `hyperr`"),
        ("alt+nokey", "unknown key `nokey`"),
        ("alt+ctrl-c", "unknown key `ctrl-c`"),
        ("alt++a", "unknown modifier ``"),
    ];
    for (text, message) in table {
        assert_eq!(Trigger::parse(text).unwrap_err().to_string(), message, "{text}");
    }
}

#[test]
fn the_last_line_of_a_trigger_wins() {
    let map = linux(&["alt+t = close_tab", "alt+t = new_project"]);
    assert_eq!(map.lookup(Mods::ALT, Key::Char('t')), Some(Action::NewProject));
}

#[test]
fn unbind_frees_a_trigger_and_a_later_line_may_take_it() {
    let freed = linux(&["alt+t = unbind"]);
    assert_eq!(freed.lookup(Mods::ALT, Key::Char('t')), None);
    assert!(freed.triggers_of(Action::NewTab).is_empty());
    let again = linux(&["alt+t = unbind", "alt+t=paste"]);
    assert_eq!(again.lookup(Mods::ALT, Key::Char('t')), Some(Action::Paste));
}

#[test]
fn an_action_may_have_further_triggers() {
    let map = linux(&["ctrl+t = new_tab"]);
    assert_eq!(map.triggers_of(Action::NewTab), [trigger("alt+t"), trigger("ctrl+t")]);
}

#[test]
fn delete_project_is_close_project() {
    let bind = Keybind::parse("ctrl+d = delete_project").unwrap();
    assert_eq!(bind.action, Some(Action::CloseProject));
}

#[test]
fn the_equals_key_can_be_bound() {
    let bind = Keybind::parse("alt+= = font_reset").unwrap();
    assert_eq!(bind.trigger, trigger("alt+equal"));
}

#[test]
fn bad_lines_are_refused() {
    assert_eq!(Keybind::parse("alt+t"), Err(KeybindError::NoAction));
    let unknown = Keybind::parse("alt+t = fly").unwrap_err();
    assert_eq!(unknown.to_string(), "unknown action `fly`");
}

#[test]
fn locks_do_not_matter_and_signs_may_come_shifted() {
    let map = linux(&[]);
    let caps = Mods::ALT | Mods::CAPS | Mods::NUM;
    assert_eq!(map.lookup(caps, Key::Char('T')), Some(Action::NewTab));
    let shifted = Mods::ALT | Mods::SHIFT;
    assert_eq!(map.lookup(shifted, Key::Char('{')), Some(Action::CycleTabPrev));
    assert_eq!(map.lookup(Mods::ALT, Key::Char('+')), Some(Action::FontIncrease));
}

#[test]
fn a_foreign_layout_is_tried_as_a_us_one() {
    let mut press = KeyPress::new(Key::Char('ö')).with_mods(Mods::ALT | Mods::SHIFT);
    press.base_layout = Some('[');
    assert_eq!(linux(&[]).lookup_press(&press), Some(Action::CycleTabPrev));
    let mut digit = KeyPress::new(Key::Char('ß')).with_mods(Mods::ALT | Mods::SHIFT);
    digit.shifted = Some('+');
    assert_eq!(linux(&[]).lookup_press(&digit), Some(Action::FontIncrease));
}

#[test]
fn triggers_print_as_they_are_read() {
    for row in ACTIONS {
        for default in row.triggers(Platform::Linux) {
            assert_eq!(trigger(&default.to_string()), default);
        }
    }
}

fn tui(lines: &[&str], preset: KeyPreset) -> Keymap {
    let lines: Vec<Keybind> = lines.iter().map(|line| Keybind::parse(line).unwrap()).collect();
    Keymap::for_face(FaceKind::Tui, Platform::Linux, preset, None, &lines)
}

fn press(text: &str) -> KeyPress {
    let trigger = trigger(text);
    KeyPress::new(trigger.key()).with_mods(trigger.mods())
}

#[test]
fn the_other_columns_can_be_read_and_are_unambiguous() {
    for row in ACTIONS {
        assert_eq!((row.direct().len(), row.prefixed().len()), row.face_key_counts(), "{}", row.id);
    }
    let map = tui(&[], KeyPreset::Default);
    let count = |of: fn(&ActionRow) -> usize| ACTIONS.iter().map(of).sum::<usize>();
    assert_eq!(map.bindings().len(), count(|row| row.face_key_counts().0));
    let after: usize = ACTIONS.iter().map(|row| map.prefixed_of(row.action).len()).sum();
    assert_eq!(after, count(|row| row.face_key_counts().1));
    assert!(preset::tmux_keys().all(|key| Trigger::parse(key).is_ok()));
}

#[test]
fn a_terminal_reserves_the_prefix_and_eleven_chords() {
    let map = tui(&[], KeyPreset::Default);
    assert!(map.is_prefix(&press("ctrl+\\")));
    let bound = map.bindings();
    let reserved: Vec<_> =
        bound.iter().filter(|(key, _)| key.mods() == Mods::CTRL | Mods::ALT).collect();
    assert_eq!(reserved.len(), 11);
    assert_eq!(linux(&[]).prefix(), None, "the window has none");
    assert_eq!(linux(&[]).lookup_prefixed(&press("c")), None);
}

#[test]
fn after_the_prefix_the_case_of_a_letter_counts() {
    let map = tui(&[], KeyPreset::Default);
    assert_eq!(map.lookup_prefixed(&press("v")), Some(Action::SplitRight));
    assert_eq!(map.lookup_prefixed(&press("shift+v")), Some(Action::OpenReviews));
    let mut typed = press("shift+v");
    typed.shifted = Some('V');
    assert_eq!(map.lookup_prefixed(&typed), Some(Action::OpenReviews));
    assert_eq!(map.lookup_prefixed(&KeyPress::new(Key::Char('%'))), Some(Action::SplitRight));
    assert_eq!(map.lookup_prefixed(&KeyPress::new(Key::Char('"'))), Some(Action::SplitBelow));
    let lines = [
        "prefix>V = help",
        "prefix > shift+k = leave",
        "tui:prefix>c = unbind",
        "web:prefix>x = unbind",
    ];
    let map = tui(&lines, KeyPreset::Default);
    assert_eq!(map.lookup_prefixed(&press("shift+v")), Some(Action::Help));
    assert_eq!(map.lookup_prefixed(&press("v")), Some(Action::SplitRight));
    assert_eq!(map.lookup_prefixed(&press("shift+k")), Some(Action::Leave));
    assert_eq!(map.lookup_prefixed(&press("c")), None);
    assert_eq!(map.lookup_prefixed(&press("x")), Some(Action::CloseTab), "another face's line");
}

#[test]
fn the_tmux_preset_has_tmuxs_letters_and_no_chords() {
    let map = tui(&["ctrl+alt+y = paste"], KeyPreset::Tmux);
    assert_eq!(map.bindings(), [(trigger("ctrl+alt+y"), Action::Paste)]);
    assert!(map.is_prefix(&press("ctrl+b")));
    for (key, action) in [
        (",", Action::RenameTab),
        ("$", Action::RenameProject),
        ("&", Action::CloseTab),
        ("s", Action::FocusSidebar),
        ("w", Action::FocusSidebar),
        ("l", Action::LastTab),
        ("{", Action::SwapPane),
        ("}", Action::SwapPane),
        ("i", Action::OpenInbox),
        ("shift+w", Action::OpenWorktrees),
        ("d", Action::Leave),
        ("left", Action::FocusPane(crate::tile::Edge::Left)),
    ] {
        assert_eq!(map.lookup_prefixed(&press(key)), Some(action), "{key}");
    }
    assert_eq!(map.lookup_prefixed(&press("h")), None);
}

#[test]
fn faces_are_told_triggers_ids_and_titles() {
    let told = tui(&[], KeyPreset::Default).entries();
    let row = |key: &str, id: &str, title: &str| (key.to_owned(), id.to_owned(), title.to_owned());
    assert!(told.contains(&row("ctrl+alt+p", "command_palette", "Command Palette")));
    assert!(told.contains(&row("prefix>shift+v", "open_reviews", "Open Reviews")));
    assert!(told.contains(&row("prefix>alt+left", "grow_left", "Grow Left")));
}

proptest! {
    #[test]
    fn no_text_panics_and_what_is_read_prints_back(text in "\\PC{0,24}") {
        let _ = Keybind::parse(&text);
        if let Ok(read) = Trigger::parse(&text) {
            prop_assert_eq!(Trigger::parse(&read.to_string()), Ok(read));
        }
    }
}
