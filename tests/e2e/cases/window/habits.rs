//! What every face promises about typing, deciding, copying and pasting, by the window's own keys.

use rookery_testkit::{Finished, PATIENCE, TestDaemon, wait_until};
use serde_json::json;

use super::{BYTES, Display, Window, bytes_of};
use crate::face::{agent, write_steps};

/// Puts a text on the desktop's clipboard.
fn holds(display: &Display, text: &str) {
    let mut command = display.command("sh");
    let script = "printf %b \"$1\" | xclip -selection clipboard -in >/dev/null 2>&1";
    command.args(["-c", script, "sh", text]);
    Finished::of(command).success();
}

#[test]
fn letters_typed_while_a_request_arrives_are_the_programs() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let id = client.open_sh("stty raw -echo; echo go; exec cat");
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let letters = "adAsoyq1".repeat(20);
    let mut typing_program = display.command("xdotool");
    typing_program.args(["type", "--clearmodifiers", "--delay", "10", &letters]);
    let typing = std::thread::spawn(move || Finished::of(typing_program).success());
    client.wait_text(id, "adAsoyq1");
    roder.turn(&thread, &write_steps("never", "x\n"));
    window.wait("one waits", |seen| seen["waiting"] == 1);
    typing.join().unwrap();
    let shown = || client.screen(id).split_whitespace().skip(1).collect::<String>();
    wait_until("every letter arrived", PATIENCE, || shown() == letters);
    let requests = client.call("rookery/requests/list", json!({}));
    assert_eq!(requests["requests"].as_array().unwrap().len(), 1);
    assert!(!dir.join("never").exists());
    window.wait_page("workspace");
}

#[test]
fn what_does_not_fit_is_seen_before_it_is_approved() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let lines: String = (0..400).map(|number| format!("line {number}\n")).collect();
    let turn = roder.turn(&thread, &write_steps("long", &lines));
    let window = Window::open_with(&daemon, &display, &["--page", "inbox"], &[]);
    window.wait("one waits", |seen| seen["page"] == "inbox" && seen["waiting"] == 1);
    window.press_until("a", || {
        window.trace.last().is_some_and(|seen| seen["message"] == "a again approves")
    });
    assert!(!dir.join("long").exists(), "its end was not seen yet");
    window.press_until("a", || dir.join("long").exists());
    roder.until_over(&turn);
}

#[test]
fn copy_mode_copies_by_keys_and_keeps_the_view() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("stty -echo; printf 'alpha beta gamma\\nsecond line\\n'; exec cat");
    client.wait_text(id, "second line");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    window.keys(&["alt+shift+c"]);
    window.wait_over(Some("copy"));
    window.keys(&["g", "0", "w", "v", "e", "y"]);
    window.wait("it is copied and left", |seen| {
        seen["over"].is_null() && seen["message"] == "copied"
    });
    assert_eq!(display.clipboard("clipboard"), "beta");
    window.keys(&["alt+shift+c"]);
    window.wait_over(Some("copy"));
    window.keys(&["g", "shift+v", "j", "Return"]);
    wait_until("both lines are copied", PATIENCE, || {
        display.clipboard("clipboard").trim_end() == "alpha beta gamma\nsecond line"
    });
    assert!(!client.screen(id).contains("gwvey"), "no key of these was the program's");
}

#[test]
fn several_lines_are_pasted_after_a_question_unless_the_program_takes_pastes() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let plain = client.open_sh(BYTES);
    client.wait_text(plain, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == plain);
    holds(&display, "a\\nb");
    window.keys(&["ctrl+shift+v"]);
    window.wait_over(Some("dialog"));
    window.keys(&["Escape"]);
    window.wait_over(None);
    window.keys(&["alt+v"]);
    window.wait_over(Some("dialog"));
    window.keys(&["Return"]);
    window.wait_over(None);
    let seen = |id: u64| bytes_of(&client, id);
    wait_until("it was pasted once", PATIENCE, || seen(plain) == "61 0a 62");
    let brackets = "stty raw -echo; printf '\\033[?2004hgo\\r\\n'; exec od -An -tx1 -w1 -v";
    let takes = client.open_sh(brackets);
    client.wait_text(takes, "go");
    window.keys(&["ctrl+2"]);
    window.wait("the other terminal is shown", |seen| seen["terminal"] == takes);
    window.keys(&["ctrl+shift+v"]);
    let pasted = "1b 5b 32 30 30 7e 61 0a 62 1b 5b 32 30 31 7e";
    wait_until("it was pasted at once", PATIENCE, || seen(takes) == pasted);
}
