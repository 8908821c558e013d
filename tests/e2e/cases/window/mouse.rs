//! The mouse: as in Roost in terminals, on pills, projects and edges, and menus under it.

use std::{fs, os::unix::fs::PermissionsExt as _};

use rookery_testkit::{Home, PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

use super::{Display, Window, cell, terminals};

/// The pill of an index: all are as wide as the first ones with short titles.
const STRIP: i32 = 16;

#[test]
fn panes_are_split_by_keys_and_by_dragging_a_pill() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let first = client.open_sh("echo one; exec cat");
    let window = Window::open(&daemon, &display);
    window.wait("one pane", |seen| seen["panes"] == 1);
    window.keys(&["alt+shift+backslash"]);
    let seen = window.wait("two panes", |seen| seen["panes"] == 2);
    let second = seen["terminal"].as_u64().unwrap();
    assert_ne!(first, second);
    window.keys(&["alt+shift+z"]);
    window.wait("one has all the room", |seen| seen["panes"] == 1);
    window.keys(&["alt+shift+z"]);
    window.wait("both are back", |seen| seen["panes"] == 2);
    window.keys(&["alt+t"]);
    let seen = window.wait("a new tab", |seen| seen["panes"] == 1);
    let third = seen["terminal"].as_u64().unwrap();
    wait_until("it is a third", PATIENCE, || terminals(&client).len() == 3);
    // Its pill is the second of the strip; it goes to the right edge of the pane that is shown.
    window.keys(&["ctrl+1"]);
    window.wait("the first group", |seen| seen["panes"] == 2);
    window.drags((220 + 8 + 170, 16), (1080, 400));
    window.wait("three panes", |seen| seen["panes"] == 3);
    assert!(terminals(&client).contains(&third));
}

#[test]
fn the_mouse_selects_copies_pastes_renames_and_opens_menus() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("stty -echo; printf 'alpha beta gamma\\n'; exec cat");
    client.wait_text(id, "gamma");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    // The second word of the first row.
    window.clicks_often(cell(8, 0), "2");
    window.keys(&["ctrl+shift+c"]);
    window.wait("it says so", |seen| seen["message"] == "copied");
    assert_eq!(display.clipboard("clipboard"), "beta");
    window.keys(&["ctrl+shift+v", "Return"]);
    wait_until("it was pasted", PATIENCE, || client.screen(id).contains("\nbeta"));
    window.clicks(500, 300, "3");
    window.wait_over(Some("menu"));
    window.keys(&["Escape"]);
    window.wait_over(None);
    window.clicks_often((220 + 40, STRIP), "2");
    window.wait_over(Some("rename"));
    window.keys(&["ctrl+u"]);
    window.types("logs");
    window.keys(&["Return"]);
    wait_until("it has its name", PATIENCE, || client.terminal(id)["title"] == "logs");
}

#[test]
fn a_drag_selects_three_clicks_take_a_line_and_the_middle_button_pastes() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("stty -echo; printf 'alpha beta gamma\\nsecond line\\n'; exec cat");
    client.wait_text(id, "second line");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    window.drags(cell(6, 0), cell(15, 0));
    // Only the clipboard of selections: the other keeps what was put there on purpose.
    wait_until("it is selected", PATIENCE, || display.clipboard("primary") == "beta gamma");
    assert_eq!(display.clipboard("clipboard"), "");
    window.keys(&["ctrl+shift+c"]);
    wait_until("the drag was copied", PATIENCE, || display.clipboard("clipboard") == "beta gamma");
    window.clicks_often(cell(3, 1), "3");
    window.keys(&["alt+c"]);
    wait_until("the line was copied", PATIENCE, || {
        display.clipboard("clipboard").trim_end() == "second line"
    });
    let (x, y) = cell(30, 10);
    window.clicks(x, y, "2");
    window.keys(&["Return"]);
    wait_until("it was pasted", PATIENCE, || client.screen(id).matches("second line").count() == 2);
}

#[test]
fn the_wheel_scrolls_and_typing_goes_back_to_the_end() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let script = "i=0; while [ $i -lt 200 ]; do echo row-$i; i=$((i+1)); done; echo end; exec cat";
    let id = client.open_sh(script);
    client.wait_text(id, "end");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    // What a dump shows is what the desk looks at.
    let tab = id.to_string();
    let seen = || daemon.rookery(&["roostctl", "tab", "dump", "--tab", &tab]).success();
    window.clicks(600, 300, "1");
    wait_until("it is the desk", PATIENCE, || client.status()["viewers"][0]["isDesk"] == true);
    let rows = client.terminal(id)["size"]["rows"].as_u64().unwrap();
    let first = 201 - (rows - 1);
    assert!(seen().starts_with(&format!("row-{first}\n")), "{}", seen());
    for _ in 0..4 {
        window.xdotool(&["click", "4"]);
    }
    let back = first - 12;
    wait_until("it is scrolled back", PATIENCE, || seen().starts_with(&format!("row-{back}\n")));
    client.write(id, "more\r");
    client.wait_text(id, "more");
    assert!(seen().starts_with(&format!("row-{back}\n")), "output does not move the view");
    window.xdotool(&["click", "5"]);
    let on = back + 3;
    wait_until("it is scrolled on", PATIENCE, || seen().starts_with(&format!("row-{on}\n")));
    window.types("x");
    wait_until("typing goes to the end", PATIENCE, || !seen().contains(&format!("row-{on}\n")));
}

#[test]
fn programs_get_the_wheel_and_the_mouse_and_shift_keeps_it() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let alternate = r"stty raw -echo; printf '\033[?1049hgo\n'; exec od -An -tx1 -w1 -v";
    let id = client.open_sh(alternate);
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let bytes = || client.screen(id).split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    window.clicks(600, 300, "4");
    wait_until("arrows arrive", PATIENCE, || bytes() == "1b 5b 41 1b 5b 41 1b 5b 41");
    let mouse = r"stty raw -echo; printf '\033[?1000;1006hwords\n'; exec od -An -c -w1 -v";
    let id = client.open_sh(mouse);
    client.wait_text(id, "words");
    window.keys(&["ctrl+2"]);
    window.wait("the other terminal is shown", |seen| seen["terminal"] == id);
    // Kept for the window: a word is selected, and nothing arrives.
    window.xdotool(&["keydown", "shift"]);
    window.clicks_often(cell(2, 0), "2");
    window.xdotool(&["keyup", "shift"]);
    window.keys(&["ctrl+shift+c"]);
    wait_until("the word was copied", PATIENCE, || display.clipboard("clipboard") == "words");
    assert_eq!(client.screen(id).trim(), "words");
    let (x, y) = cell(4, 2);
    window.clicks(x, y, "1");
    let told = || client.screen(id).split_whitespace().skip(1).collect::<String>();
    wait_until("press and release arrive", PATIENCE, || told().contains("[<0;5;3M"));
    window.clicks(x, y, "4");
    wait_until("so does the wheel", PATIENCE, || told().contains("[<64;5;3M"));
}

#[test]
fn programs_get_drags_also_beside_their_pane() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let mouse = r"stty raw -echo; printf '\033[?1002;1006hwords\r\n'; exec cat -v";
    let id = client.open_sh(mouse);
    client.wait_text(id, "words");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let told = || client.screen(id).split_whitespace().skip(1).collect::<String>();
    window.drags(cell(4, 2), cell(8, 2));
    wait_until("the drag arrives", PATIENCE, || told().contains("[<0;9;3m"));
    let all = told();
    assert!(all.starts_with("^[[<0;5;3M"), "{all}");
    assert!(all.contains("[<32;9;3M"), "{all}");
    // It ends above the pane, over the strip.
    let (x, y) = cell(3, 1);
    window.moves(x, y);
    window.xdotool(&["mousedown", "1"]);
    window.moves(x, STRIP);
    wait_until("it is at the edge", PATIENCE, || told().contains("[<32;4;1M"));
    window.xdotool(&["mouseup", "1"]);
    wait_until("the button is let go there", PATIENCE, || told().contains("[<0;4;1m"));
    assert!(terminals(&client).contains(&id));
}

#[test]
fn a_link_is_opened_with_its_modifier() {
    // The window manager of these tests keeps clicks with Alt for itself.
    let home = Home::new();
    let dir = home.join("config/roost");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.conf"), "link-modifier = ctrl\n").unwrap();
    let daemon = TestDaemon::start_in(home);
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let bin = daemon.home().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("xdg-open");
    let opened = daemon.home().join("opened");
    fs::write(&program, format!("#!/bin/sh\necho \"$1\" >> {}\n", opened.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let id = client.open_sh(
        "printf 'see https://example.org/page.\\n'
printf '\\033]8;;javascript:alert(1)\\033\\\\a harmless word\\033]8;;\\033\\\\\\n'
printf '\\033]8;;file:///etc/passwd\\033\\\\another of them\\033]8;;\\033\\\\\\n'; exec cat",
    );
    client.wait_text(id, "another");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let (x, y) = cell(10, 0);
    window.clicks(x, y, "1");
    window.xdotool(&["keydown", "ctrl"]);
    window.wait("it is shown to be a link", |seen| seen["over_link"] == true);
    window.xdotool(&["click", "1"]);
    window.xdotool(&["keyup", "ctrl"]);
    window.wait("it is plain text again", |seen| seen["over_link"] == false);
    let opens = || fs::read_to_string(&opened).unwrap_or_default();
    wait_until("the address was opened", PATIENCE, || opens() == "https://example.org/page\n");
    // What acts, or is a file, is asked about with all of its address; no is nothing.
    for row in [1, 2] {
        let (x, y) = cell(4, row);
        window.moves(x, y);
        window.xdotool(&["keydown", "ctrl"]);
        window.wait("it is shown to be a link", |seen| seen["over_link"] == true);
        window.xdotool(&["click", "1"]);
        window.xdotool(&["keyup", "ctrl"]);
        window.wait_over(Some("dialog"));
        window.keys(&["Escape"]);
        window.wait_over(None);
    }
    assert_eq!(opens(), "https://example.org/page\n");
    assert!(!client.screen(id).contains("passwd"));
}

#[test]
fn pills_and_projects_are_dragged_to_another_place() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let ids: Vec<u64> = ["one", "two", "three"]
        .iter()
        .map(|name| client.open(json!({"argv": ["cat"], "title": name})))
        .collect();
    let window = Window::open(&daemon, &display);
    window.wait("a terminal is shown", |seen| seen["panes"] == 1);
    // Three pills of the same width; the first goes behind the last.
    window.drags((220 + 8 + 30, STRIP), (900, STRIP));
    let order = [ids[1], ids[2], ids[0]];
    wait_until("the tabs have their new order", PATIENCE, || terminals(&client) == order);
    let other = daemon.home().join("other");
    fs::create_dir(&other).unwrap();
    client.call("rookery/projects/create", json!({"name": "other", "root": other}));
    let projects = || -> Vec<Value> {
        let list = client.call("rookery/projects/list", json!({}));
        list["projects"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect()
    };
    wait_until("there are two projects", PATIENCE, || projects().len() == 2);
    let before = projects();
    // The row of the first project, to below everything else in the list.
    window.drags((80, 32 + 14), (80, 500));
    wait_until("the projects have their new order", PATIENCE, || {
        projects() == [before[1].clone(), before[0].clone()]
    });
}

#[test]
fn edges_and_gaps_are_dragged() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("echo one; exec cat");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let cols = || client.terminal(id)["size"]["cols"].as_u64().unwrap();
    let whole = cols();
    window.drags((220, 400), (320, 400));
    // By all of the way, and not by the half that is gone through: a hundred points are twelve cells.
    wait_until("the sidebar is wider", PATIENCE, || cols() + 12 <= whole);
    window.drags((320, 400), (220, 400));
    wait_until("it is as it was", PATIENCE, || cols() == whole);
    window.drags((220, 400), (20, 400));
    wait_until("far to the left it shuts", PATIENCE, || cols() > whole + 20);
    window.keys(&["alt+b"]);
    wait_until("its key brings it back", PATIENCE, || cols() == whole);
    window.keys(&["alt+shift+backslash"]);
    window.wait("two panes", |seen| seen["panes"] == 2);
    wait_until("half of the room is left", PATIENCE, || cols() < whole / 2 + 1);
    let half = cols();
    // The line between them, which is one cell wide.
    let gap = 230 + i32::try_from(half).unwrap() * 8 + 4;
    window.drags((gap, 300), (gap + 160, 300));
    wait_until("the pane is wider", PATIENCE, || cols() == half + 20);
}

#[test]
fn menus_do_what_their_rows_say() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let first = client.open_sh("echo one; exec cat");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == first);
    let choose = |at: (i32, i32), steps: usize| {
        window.clicks(at.0, at.1, "3");
        window.wait_over(Some("menu"));
        window.keys(&vec!["Down"; steps]);
        window.keys(&["Return"]);
    };
    // A pill: Rename, Split Right, Own Tab, Close.
    choose((220 + 40, STRIP), 0);
    window.wait_over(Some("rename"));
    window.keys(&["ctrl+u"]);
    window.types("renamed");
    window.keys(&["Return"]);
    wait_until("it has its name", PATIENCE, || client.terminal(first)["title"] == "renamed");
    choose((220 + 40, STRIP), 1);
    window.wait("two panes", |seen| seen["panes"] == 2);
    // A pane: the last row closes it.
    choose((900, 300), 9);
    wait_until("it is closed", PATIENCE, || terminals(&client) == [first]);
    window.wait("one pane", |seen| seen["panes"] == 1);
    // A project: its second row is a new tab.
    choose((80, 32 + 14), 1);
    wait_until("a tab is there", PATIENCE, || terminals(&client).len() == 2);
}
