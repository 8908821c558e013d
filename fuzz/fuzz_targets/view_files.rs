//! What users and scripts write: settings, themes, lists of providers, key bindings. Nothing panics, and a setting
//! that is written is the one that is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_view::keys::{Platform, Trigger};
use rookery_view::palette::filter;
use rookery_view::palette::provider::{parse_activate, parse_list};
use rookery_view::settings::{Settings, edit};
use rookery_view::theme::Theme;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let (settings, _) = Settings::parse(&text, Platform::Linux);
    let _ = settings.keymap(Platform::Linux);
    let _ = Theme::parse("fuzzed", &text);
    let _ = parse_list(&text);
    let _ = parse_activate(&text);
    let _ = Trigger::parse(&text);
    let (query, title) = text.split_once('\n').unwrap_or((&text, "New Tab"));
    let _ = filter::score(query, title);
    let edited = edit::set(&text, "theme", "dracula");
    assert_eq!(Settings::parse(&edited, Platform::Linux).0.theme, "dracula");
});
