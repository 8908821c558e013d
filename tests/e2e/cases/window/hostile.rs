//! Text that is made to deceive, and more of it than fits: the window shows it as what it is, and goes on taking
//! keys. What each picture writes is compared with what a decision would be shown in `compose`.

use std::fs;

use rookery_testkit::{PATIENCE, TestDaemon, git, wait_until};
use serde_json::json;

use super::{Display, Window, terminals};
use crate::face::{agent, write_steps};

const TEXTS: [&str; 9] = [
    "evil\x1b[2J\x1b[31mred",
    "evil\x1b]0;title\x07after",
    "evil\u{9b}2J\u{9d}0;x\u{9c}c1",
    "evil\u{202e}reversed\u{202c}\u{2066}isolated\u{2069}",
    "evil zero\u{200b}width\u{200d}join\u{feff}",
    "evil tags\u{e0041}\u{e0042}\u{e007f}",
    "evil<script>alert(1)</script>]]>",
    "evil\r\n\ttabs\u{85}and\u{2028}lines",
    "evil Approve  Deny…  Remember…",
];

/// Goes through the pages, so that all of it is drawn.
fn walk(window: &Window<'_>) {
    for (key, page) in [
        ("alt+shift+i", "inbox"),
        ("alt+shift+h", "threads"),
        ("alt+shift+comma", "settings"),
        ("alt+shift+slash", "help"),
    ] {
        window.keys(&[key]);
        window.wait_page(page);
    }
    window.keys(&["Escape"]);
    window.wait_page("workspace");
    window.keys(&["alt+shift+p"]);
    window.wait_over(Some("palette"));
    window.types("evil");
    window.keys(&["Escape"]);
    window.wait_over(None);
}

#[test]
fn titles_names_threads_and_what_is_asked() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let root = daemon.home().path();
    let long = "x".repeat(64 << 10);
    for text in TEXTS.iter().copied().chain([long.as_str()]) {
        let id = client.open_sh("echo go; exec cat");
        // Whatever is refused is no danger.
        let title = json!({ "terminal": id, "title": text });
        let _ = client.try_call("rookery/terminals/rename", title);
        let _ = client.try_call("rookery/projects/create", json!({ "name": text, "root": root }));
        if text.len() < 1000 {
            let id = id.to_string();
            daemon.rookery(&["roostctl", "notify", "--tab", &id, "--title", text, "--body", text]);
        }
    }
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let content = format!("{}\n{long}\n{}", TEXTS.join("\n"), "last\n");
    let turn = roder.turn(&thread, &write_steps("made", &content));
    let window = Window::open(&daemon, &display);
    window.wait("one waits", |seen| seen["waiting"] == 1);
    walk(&window);
    // It is long, so its end is gone to first; a file that is written holds what was asked for.
    window.keys(&["alt+shift+i"]);
    window.wait("its card is there", |seen| seen["places"]["Button(Approve)"].is_array());
    window.press_until("a", || {
        window.trace.last().is_some_and(|seen| seen["message"] == "a again approves")
    });
    window.press_until("a", || dir.join("made").exists());
    roder.until_over(&turn);
    assert_eq!(fs::read_to_string(dir.join("made")).unwrap(), content);
}

#[test]
fn a_line_of_megabytes_a_million_lines_and_panes_that_flood() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh(
        "echo go; read x; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo line-done; read x; \
         seq 1 1000000; echo million-done; exec cat",
    );
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    window.keys(&["Return"]);
    client.wait_text(id, "line-done");
    window.keys(&["Return"]);
    client.wait_text(id, "million-done");
    // An eighth would be too small.
    for count in 2..=7 {
        window.keys(&[if count % 2 == 0 { "alt+shift+backslash" } else { "alt+shift+minus" }]);
        let split = || terminals(&client).len() == count;
        wait_until("it is split", PATIENCE, split);
        window.wait("all are shown", |seen| seen["panes"] == count);
    }
    for id in terminals(&client) {
        client.write(id, "yes flood\n");
    }
    // Keys are taken meanwhile.
    walk(&window);
    window.keys(&["alt+shift+z"]);
    window.wait("one has all the room", |seen| seen["panes"] == 1);
    // The first holds a program that this would end.
    for other in terminals(&client).into_iter().filter(|other| *other != id) {
        client.write(other, "\x03");
    }
    window.keys(&["alt+shift+z"]);
    window.wait("all are back", |seen| seen["panes"] == 7);
}

#[test]
fn many_tabs_and_a_long_diff() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let repo = daemon.home().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "first"]);
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    let lines: String = (0..200_000).map(|number| format!("line {number} of many\n")).collect();
    fs::write(repo.join("long"), lines).unwrap();
    let mut asks = daemon.home().command(rookery_testkit::rookery_binary());
    asks.current_dir(&repo).args(["review", "request", "long"]);
    rookery_testkit::Finished::of(asks).success();
    for _ in 0..150 {
        client.open_sh("exec cat");
    }
    let window = Window::open_with(&daemon, &display, &["--page", "reviews"], &[]);
    window.wait_page("reviews");
    window
        .press_until("Return", || window.trace.last().is_some_and(|seen| seen["page"] == "review"));
    window.wait("the diff is there", |seen| seen["places"]["Line(1)"].is_array());
    window.keys(&["shift+g", "g", "Next"]);
    window.keys(&["q"]);
    window.wait_page("workspace");
    window.keys(&["ctrl+1"]);
    let first = window.wait("a terminal is shown", |seen| seen["terminal"].is_u64());
    window.keys(&["alt+shift+bracketright"]);
    window.wait("another is shown", |seen| seen["terminal"] != first["terminal"]);
    window.xdotool(&["mousemove", "--window", &window.id, "600", "16"]);
    window.xdotool(&["click", "--repeat", "10", "4"]);
    walk(&window);
}
