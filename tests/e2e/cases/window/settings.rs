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
