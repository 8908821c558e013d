//! Tests of themes.

use super::*;
use proptest::prelude::*;

#[test]
fn the_fallback_in_code_equals_the_built_in_file() {
    let themes = Themes::default();
    assert_eq!(themes.find(DEFAULT_THEME), Some(&Theme::fallback()));
    let palette = Theme::fallback().palette;
    assert_eq!(palette.background, (0x1e, 0x1e, 0x1e));
    assert_eq!(palette.foreground, (0xff, 0xff, 0xff));
    assert_eq!(palette.cursor, (0x98, 0x98, 0x9d));
    assert_eq!(palette.bold, Some((0xff, 0xff, 0xff)));
}

#[test]
fn every_built_in_theme_is_read_without_a_warning_and_says_everything() {
    for (name, text) in builtin::TEXTS {
        let (theme, warnings) = Theme::parse(name, text);
        assert_eq!(warnings, [], "{name}");
        assert_eq!(text.lines().filter(|line| line.starts_with("palette = ")).count(), 16);
        assert_eq!(text.lines().count(), 21, "{name}");
        assert_ne!(theme.palette.foreground, theme.palette.background, "{name}");
    }
}

#[test]
fn there_are_at_least_26_dark_themes_and_two_light_ones() {
    let themes = Themes::default();
    let light = themes.names().iter().filter(|name| themes.get(name).is_light()).count();
    assert!(themes.names().len() - light >= 26);
    assert!(light >= 2);
    assert!(themes.get("solarized-light").is_light());
    assert!(!themes.get("solarized-dark").is_light());
    // Rows of the palette are found by this name, letter for letter.
    assert!(themes.names().iter().any(|name| name == "Oxocarbon"));
    assert!(!themes.get("oxocarbon").is_light());
}

#[test]
fn a_theme_sets_its_keys_and_leaves_the_rest_to_the_default() {
    let text = "# mine\nbackground = #102030\npalette = 1=#abcdef\npalette=255=#000000\n\
                selection-background = 0a0b0c\nshadow = deep\nforeground = \"#fff\"\n";
    let (theme, warnings) = Theme::parse("mine", text);
    assert_eq!(warnings, []);
    assert_eq!(theme.palette.background, (0x10, 0x20, 0x30));
    assert_eq!(theme.palette.foreground, (0xff, 0xff, 0xff));
    assert_eq!(theme.palette.selection, Some((10, 11, 12)));
    assert_eq!(theme.palette.named[1], (0xab, 0xcd, 0xef));
    assert_eq!(theme.palette.named[2], Theme::fallback().palette.named[2]);
    assert_eq!(theme.palette.cursor, Theme::fallback().palette.cursor);
}

#[test]
fn bad_lines_are_reported_and_passed_over() {
    let text = "background = red\npalette = 256=#000000\npalette = #000000\n\
                cursor-color = #12345\nforeground = #+12345\nnonsense\nbold-color = é\n";
    let (theme, warnings) = Theme::parse("bad", text);
    assert_eq!(
        warnings.iter().map(|warning| warning.line).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6, 7]
    );
    assert_eq!(theme.palette, Theme::fallback().palette);
}

#[test]
fn the_users_theme_wins_over_a_built_in_one_of_the_same_name() {
    let themes = Themes::new([("Dracula", "background = #010203"), ("Zebra", "")]);
    assert_eq!(themes.get("dracula").palette.background, (1, 2, 3));
    assert_eq!(themes.names().iter().filter(|name| fold(name) == "dracula").count(), 1);
    assert!(themes.find("ZEBRA").is_some());
}

#[test]
fn names_match_without_case_and_unknown_ones_give_the_default() {
    let themes = Themes::default();
    assert_eq!(themes.get("NORD").name, "nord");
    assert_eq!(themes.get("no such theme").name, DEFAULT_THEME);
    assert!(themes.find("no such theme").is_none());
}

#[test]
fn names_are_sorted() {
    let themes = Themes::new([("Alpine", ""), ("zz", "")]);
    let names = themes.names();
    assert_eq!(names.first().map(String::as_str), Some("Alpine"));
    assert_eq!(names.last().map(String::as_str), Some("zz"));
    assert!(names.is_sorted_by_key(|name| name.to_lowercase()));
}

proptest! {
    #[test]
    fn no_text_panics(text in "(?s).{0,200}") {
        let _ = Theme::parse("any", &text);
        let _ = color(&text);
    }

    #[test]
    fn no_line_panics(key in "palette|background|cursor-color", value in "\\PC{0,20}") {
        let _ = Theme::parse("any", &format!("{key} = {value}"));
    }
}
