//! What goes into a tab, what its shell says about itself, and the settings both follow.

use std::fs;
use std::path::{Path, PathBuf};

use rookery_testkit::{Home, PATIENCE, Random, TestDaemon, eventually, wait_until};
use serde_json::{Value, json};

use crate::roost_link::{Link, encoded};

/// A tab whose program takes this many bytes as they come and puts them into the file.
fn open_taker(link: &mut Link, count: usize, file: &Path) -> String {
    let file = file.display();
    let tab = link.open_sh(&format!(
        "stty raw -echo; printf ready; head -c {count} > {file}.part; mv {file}.part {file}; exec cat"
    ));
    link.wait_row(&tab, "ready");
    tab
}

fn taken(file: &Path) -> Vec<u8> {
    eventually("all bytes have come", PATIENCE, || fs::read(file).ok())
}

#[test]
fn every_byte_value_arrives_unchanged() {
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let all: Vec<u8> = (0..=255).collect();
    let file = daemon.home().join("once");
    let tab = open_taker(&mut link, all.len(), &file);
    link.write(&tab, b"");
    link.write(&tab, &all);
    assert_eq!(taken(&file), all);
    let file = daemon.home().join("singly");
    let tab = open_taker(&mut link, all.len(), &file);
    let write = |link: &mut Link, byte: u8| {
        link.post("tab.write", json!({ "tab_id": tab, "data": encoded(&[byte]) }))
    };
    let ids: Vec<String> = (0..=255).rev().map(|byte| write(&mut link, byte)).collect();
    ids.iter().for_each(|id| assert_eq!(link.reply(id)["ok"], true));
    let backwards: Vec<u8> = (0..=255).rev().collect();
    assert_eq!(taken(&file), backwards);
}

#[test]
fn a_mebibyte_of_random_bytes_arrives_unchanged() {
    let seed = Random::seed("ROOKERY_BYTES_SEED");
    eprintln!("bytes: ROOKERY_BYTES_SEED={seed}");
    let mut random = Random::new(seed);
    let bytes: Vec<u8> = (0..1 << 20).map(|_| random.below(256) as u8).collect();
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let file = daemon.home().join("whole");
    let tab = open_taker(&mut link, bytes.len(), &file);
    link.write(&tab, &bytes);
    assert!(taken(&file) == bytes, "in one piece");
    // In pieces of all sizes, sent without waiting, with resizes in between.
    let file = daemon.home().join("pieces");
    let tab = open_taker(&mut link, bytes.len(), &file);
    let mut ids = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let most = *random.choose(&[1, 16, 5000, 100_000]);
        let (piece, after) = rest.split_at((1 + random.below(most) as usize).min(rest.len()));
        rest = after;
        let data = encoded(piece);
        ids.push(link.post("tab.write", json!({ "tab_id": tab, "data": data })));
        if random.below(8) == 0 {
            let size = json!({ "tab_id": tab, "cols": 40 + random.below(100), "rows": 24 });
            ids.push(link.post("tab.resize", size));
        }
    }
    ids.iter().for_each(|id| assert_eq!(link.reply(id)["ok"], true));
    assert!(taken(&file) == bytes, "in pieces");
}

/// The shells of this machine that are integrated.
fn shells() -> Vec<PathBuf> {
    let found = |name: &str| {
        let path = std::env::var_os("PATH").unwrap();
        let mut places = std::env::split_paths(&path).map(|dir| dir.join(name));
        places.find(|place| place.is_file())
    };
    let shells: Vec<PathBuf> = ["bash", "zsh", "fish"].into_iter().filter_map(found).collect();
    assert!(!shells.is_empty(), "there is no shell to try");
    shells
}

/// A home in which shells start without questions, with a folder to go to.
fn home_for_shells() -> (Home, PathBuf) {
    let home = Home::new();
    // Without one, zsh greets a new user with a menu.
    fs::write(home.join(".zshrc"), "").unwrap();
    let dir = home.join("a folder/ünd more");
    fs::create_dir_all(&dir).unwrap();
    (home, dir)
}

fn write_settings(home: &Home, text: &str) {
    let dir = home.join("config/roost");
    fs::create_dir_all(&dir).unwrap();
    let fresh = dir.join("config.conf.new");
    fs::write(&fresh, text).unwrap();
    fs::rename(&fresh, dir.join("config.conf")).unwrap();
}

/// What a subscriber of one tab was told under this name.
fn told(events: &[Value], name: &str, key: &str) -> Vec<Value> {
    let meant = events.iter().filter(|event| event["event"] == name);
    meant.map(|event| event["data"][key].clone()).collect()
}

#[test]
fn shells_report_directory_title_and_commands() {
    let (home, dir) = home_for_shells();
    let daemon = TestDaemon::start_in(home);
    for shell in shells() {
        let mut link = Link::to(daemon.home());
        let tab = link.open(json!({ "argv": [shell] }));
        let at_prompt = json!("at_prompt");
        link.wait_tab(&tab, "shell_state", &at_prompt);
        let mut watcher = Link::to(daemon.home());
        watcher.call("events.subscribe", json!({ "tab_id_filter": tab }));
        link.write(&tab, format!("cd '{}'\r", dir.display()).as_bytes());
        link.wait_tab(&tab, "cwd", &json!(dir));
        link.wait_tab(&tab, "title", &json!("~/a folder/ünd more"));
        link.wait_tab(&tab, "shell_state", &at_prompt);
        link.write(&tab, b"sleep 1011\r");
        link.wait_tab(&tab, "state", &json!("running"));
        assert_eq!(link.tab(&tab).unwrap()["shell_state"], "foreground_process");
        let sleeps = || daemon.home().processes().iter().any(|it| it.command == "sleep 1011");
        wait_until("the command runs", PATIENCE, sleeps);
        link.write(&tab, b"\x03");
        link.wait_tab(&tab, "state", &json!("none"));
        link.wait_tab(&tab, "shell_state", &at_prompt);
        link.write(&tab, b"exit\r");
        wait_until("the tab goes with its shell", PATIENCE, || link.tab(&tab).is_none());
        // The list may be ahead of the events, which are sent when they are durable.
        let mut events = Vec::new();
        wait_until("the end is told", PATIENCE, || {
            events.extend(watcher.events());
            told(&events, "tab.closed", "tab_id") == [json!(tab)]
        });
        let who = format!("{}: {events:?}", shell.display());
        assert_eq!(told(&events, "tab.cwd_changed", "cwd"), [json!(dir)], "{who}");
        let states = told(&events, "tab.state_changed", "state");
        // `cd` and `sleep`; not every shell tells the end of `exit`.
        assert_eq!(states[..4], ["running", "none", "running", "none"], "{who}");
    }
}

#[test]
fn a_setting_turns_the_integration_off() {
    let (home, dir) = home_for_shells();
    write_settings(&home, "shell-integration = false\n");
    let daemon = TestDaemon::start_in(home);
    for shell in shells() {
        let mut link = Link::to(daemon.home());
        let start = link.project("plain", daemon.home().path());
        let tab = link.open(json!({ "project_id": start, "argv": [shell] }));
        let before = link.tab(&tab).unwrap();
        let line = format!(
            "cd '{}'; echo \"loaded=$ROOST_SHELL_INTEGRATION.\"; sleep 1012\r",
            dir.display()
        );
        link.write(&tab, line.as_bytes());
        link.wait_row(&tab, "loaded=.");
        let sleeps = || daemon.home().processes().iter().any(|it| it.command == "sleep 1012");
        wait_until("the command runs", PATIENCE, sleeps);
        let after = link.tab(&tab).unwrap();
        for key in ["cwd", "state", "shell_state"] {
            assert_eq!(after[key], before[key], "{key} in {}", shell.display());
        }
        link.call("tab.close", json!({ "tab_id": tab }));
        wait_until("the command is gone", PATIENCE, || !sleeps());
    }
}

/// A tab whose program asks for the background color whenever it is sent a byte.
struct Asker {
    tab: String,
    asked: u32,
}

impl Asker {
    fn open(link: &mut Link) -> Asker {
        // A color is always told in 24 bytes.
        let script = r"stty raw -echo; printf ready; i=0; while head -c 1 > /dev/null; do i=$((i+1));
            printf '\033]11;?\007'; answer=$(head -c 24 | tr -d '\033\007');
            printf '\033[2J\033[H%s %s' $i $answer; done";
        let tab = link.open_sh(script);
        link.wait_row(&tab, "ready");
        Asker { tab, asked: 0 }
    }

    /// The background color that the terminal tells its program.
    #[track_caller]
    fn background(&mut self, link: &mut Link) -> String {
        self.asked += 1;
        link.write(&self.tab, b"?");
        let start = format!("{} ]11;rgb:", self.asked);
        let row = link.wait_row(&self.tab, &start);
        // Each part of the color is told twice over.
        row[start.len()..].split('/').map(|part| &part[2..]).collect()
    }
}

#[test]
fn a_saved_theme_is_seen_at_once_by_programs_that_ask() {
    let home = Home::new();
    write_settings(&home, "font-size = 14\n");
    let daemon = TestDaemon::start_in(home);
    let mut link = Link::to(daemon.home());
    let mut asker = Asker::open(&mut link);
    assert_eq!(asker.background(&mut link), "1e1e1e");
    let mut becomes = |link: &mut Link, wanted: &str| {
        wait_until(&format!("the background is {wanted}"), PATIENCE, || {
            asker.background(link) == wanted
        });
        // Tabs that are opened later have it too.
        let mut other = Asker::open(link);
        assert_eq!(other.background(link), wanted);
        link.call("tab.close", json!({ "tab_id": other.tab }));
    };
    write_settings(daemon.home(), "font-size = 14\ntheme = dracula\n");
    becomes(&mut link, "282a36");
    let themes = daemon.home().join("config/roost/themes");
    fs::create_dir(&themes).unwrap();
    fs::write(themes.join("mine"), "background = #102030\n").unwrap();
    write_settings(daemon.home(), "theme = \"Mine\"\n");
    becomes(&mut link, "102030");
    fs::write(themes.join("mine"), "background = #405060\n").unwrap();
    becomes(&mut link, "405060");
    write_settings(daemon.home(), "theme = no such theme\n");
    becomes(&mut link, "1e1e1e");
    fs::remove_file(daemon.home().join("config/roost/config.conf")).unwrap();
    becomes(&mut link, "1e1e1e");
    // What the palette chooses is written back, beside what was there.
    write_settings(daemon.home(), "# mine\ntheme = nord\n");
    becomes(&mut link, "2e3440");
    link.call("palette.open", json!({}));
    link.call("palette.activate", json!({ "id": "select_theme" }));
    let shown = link.call("palette.query", json!({ "query": "dracula" }));
    let row = shown["items"][0]["id"].clone();
    link.call("palette.activate", json!({ "id": row }));
    becomes(&mut link, "282a36");
    let settings = fs::read_to_string(daemon.home().join("config/roost/config.conf")).unwrap();
    assert_eq!(settings, "# mine\ntheme = dracula\n");
}
