//! What is chosen in the window is in force at once, in the user's file, and there again the next time.

use std::fs;

use rookery_testkit::{PATIENCE, TestDaemon, wait_until};

use super::{Display, Window};

fn lines(daemon: &TestDaemon) -> String {
    fs::read_to_string(daemon.home().join("config/roost/config.conf")).unwrap_or_default()
}

#[test]
fn font_theme_and_sidebar_are_written_and_come_back() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let cols = || client.terminal(id)["size"]["cols"].as_u64().unwrap();
    let mut window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let usual = cols();
    window.keys(&["alt+equal", "alt+equal"]);
    wait_until("letters are larger", PATIENCE, || cols() < usual);
    wait_until("their size is written", PATIENCE, || lines(&daemon).contains("font-size = "));
    window.drags((220, 400), (300, 400));
    let larger = cols();
    wait_until("the sidebar is wider", PATIENCE, || cols() < larger || cols() < usual - 10);

    // The first row of the settings is the theme; what is typed filters them.
    window.keys(&["alt+shift+comma"]);
    window.wait_page("settings");
    window.keys(&["g", "Return"]);
    window.wait_over(Some("palette"));
    window.types("nord");
    window.keys(&["Return"]);
    wait_until("it is written", PATIENCE, || {
        lines(&daemon).lines().any(|line| line == "theme = nord")
    });
    window.keys(&["Escape"]);
    window.wait_page("workspace");
    let before = cols();

    window.closes();
    let again = Window::open(&daemon, &display);
    again.wait("the terminal is shown", |seen| seen["terminal"] == id);
    wait_until("everything is as it was", PATIENCE, || cols() == before);
}

/// The control of a setting, by the name of its row in the order of the page.
const FONT_SIZE: usize = 2;
const KEYS: usize = 4;
const GUARD: usize = 6;
const CONFIRM_CLOSE: usize = 7;

#[test]
fn everything_is_set_by_the_mouse_alone() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let window = Window::open_with(&daemon, &display, &["--page", "settings"], &[]);
    window.wait("the page is there, and no place for input methods", |seen| {
        seen["page"] == "settings" && seen["takes_text"] == false
    });
    let press = |row: usize, part: usize| window.clicks_place(&format!("Setting({row}, {part})"));
    let has = |wanted: &str| {
        let wanted = wanted.to_owned();
        wait_until(&wanted.clone(), PATIENCE, || lines(&daemon).lines().any(|it| it == wanted));
    };
    press(CONFIRM_CLOSE, 2);
    has("confirm-close = never");
    press(CONFIRM_CLOSE, 1);
    has("confirm-close = always");
    press(GUARD, 1);
    has("answer-guard-ms = 500");
    press(FONT_SIZE, 1);
    wait_until("letters are larger", PATIENCE, || lines(&daemon).contains("font-size = "));
    // A number that is written is taken when something else is pressed.
    press(GUARD, 2);
    window.wait("it is written", |seen| seen["places"]["Field(Setting, 0)"].is_array());
    window.keys(&["ctrl+u"]);
    window.types("300");
    press(KEYS, 0);
    has("answer-guard-ms = 300");
    window.clicks_place("Button(Open)");
    window.wait("a chord is waited for", |seen| {
        seen["message"].as_str().is_some_and(|it| it.starts_with("press the keys for"))
    });
    window.clicks_place("Button(Back)");
    window.wait("the settings are back", |seen| seen["places"]["Button(Back)"].is_null());
    press(0, 0);
    window.wait_over(Some("palette"));
}
