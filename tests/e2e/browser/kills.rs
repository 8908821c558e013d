//! A daemon that is killed, or replaced by a newer one, in whatever its page is just doing.

use std::path::{Path, PathBuf};

use rookery_testkit::{Home, TestDaemon, rookery_binary, wait_until};
use serde_json::{Value, json};

use crate::asker::SOON;
use crate::chromium::{Browser, key};
use crate::page::{Page, WIDE};

/// The rows that the page draws are those that the daemon has.
#[track_caller]
fn assert_same_rows(page: &Page, terminal: u64) {
    page.until_taken();
    let shown: Vec<String> =
        page.rows(terminal).into_iter().filter(|row| !row.is_empty()).collect();
    let screen = page.daemon.client().screen(terminal);
    let held: Vec<&str> = screen.lines().map(str::trim_end).filter(|row| !row.is_empty()).collect();
    // Above what is in view the page keeps rows that are only prefetched.
    assert!(
        shown.ends_with(&held.iter().map(ToString::to_string).collect::<Vec<_>>()),
        "{shown:#?} is not {held:#?}"
    );
}

#[test]
fn killed_while_a_flood_runs() {
    let mut page = Page::open();
    let shell = page.shell();
    page.type_line("i=0; while :; do i=$((i+1)); echo flood-$i; done");
    let is_flooding = "return [...document.querySelectorAll('.row')].some(r => /^flood-\\d{4,}/.test(r.textContent))";
    page.until("it floods", is_flooding, &[]);
    page.daemon.kill9();
    page.until_state("lost");
    let script = "return [...document.querySelectorAll('.row')].some(r => r.textContent.startsWith('flood-'))";
    assert_eq!(page.js(script, &[]), true, "the picture stays");
    page.daemon.restart();
    page.until_open();
    page.until_focused(shell);
    page.until(
        "it goes on",
        "return /flood-/.test(document.querySelector('.pane[data-focused] .rows').textContent)",
        &[],
    );
    page.until("it has the keyboard", "return document.activeElement.id === 'keys'", &[]);
    page.chord(&[key::CTRL, 'c']);
    page.type_line("clear; echo qu''iet");
    page.until_row(shell, "quiet");
    assert_same_rows(&page, shell);
}

/// Letters that can be distinguished, typed 30 in a second.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

#[test]
fn killed_while_keys_are_typed() {
    let mut page = Page::open();
    let terminal =
        page.program(&["sh", "-c", "stty raw -echo; printf 'here:\\r\\n'; exec cat"], "here:");
    let (client, pid) = (page.daemon.client(), page.daemon.pid());
    // Once the program has some of them.
    let killer = std::thread::spawn(move || {
        client.wait_text(terminal, "jkl");
        rookery_testkit_kill(pid);
    });
    let pause = json!({"type": "pause", "duration": 33});
    let steps = LETTERS.chars().flat_map(|letter| {
        let step = |kind: &str| json!({"type": kind, "value": letter.to_string()});
        [step("keyDown"), step("keyUp"), pause.clone()]
    });
    page.keyboard(steps.collect());
    killer.join().unwrap();
    page.daemon.kill9();
    page.until_state("lost");
    let told = page.text("#unsent");
    page.daemon.restart();
    page.until_open();
    page.until_row(terminal, "jkl");
    page.until("it has the keyboard", "return document.activeElement.id === 'keys'", &[]);
    page.type_keys("!");
    page.until_row(terminal, "!");
    let rows = page.rows(terminal);
    let got = rows.iter().find(|row| row.starts_with("abc")).unwrap().trim_end_matches('!');
    assert!(LETTERS.starts_with(got), "each came once and in order, or not at all: {got}");
    assert!(got.len() < LETTERS.len(), "it was killed in between");
    // What is told is what no frame has said was taken: it begins at or before what the program has.
    if let Some((_, told)) = told.split_once(": ") {
        let told: String = serde_json::from_str(told).unwrap();
        let from = LETTERS.find(&told).unwrap_or_else(|| panic!("{told}"));
        assert!(from <= got.len(), "{told} is told, but the program has only {got}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a signal to a daemon of the test")]
fn rookery_testkit_kill(pid: u32) {
    let done = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(done.unwrap().success());
}

#[test]
fn killed_while_a_card_is_open() {
    let mut page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.open_inbox(1);
    page.until_shown("#approve");
    page.pass_guard();
    page.daemon.kill9();
    page.until_state("lost");
    page.until_says("#card-what", "touch made");
    // An approval that is pressed now is refused, and not sent later.
    page.type_keys("a");
    page.click("#approve");
    page.moment_without_daemon();
    page.daemon.restart();
    page.until_open();
    page.until_hidden("#lost");
    page.until_page("inbox");
    page.moment();
    assert!(!root.join("made").exists());
    // What still waits can be decided as before; what the end of the daemon ended is not offered.
    match page.waiting(&thread).len() {
        0 => page.until_hidden("#approve"),
        _ => {
            page.until_shown("#approve");
            page.pass_guard();
            page.type_keys("a");
            page.until_settled(&thread);
        }
    }
}

/// The files of the page in a directory of the test.
fn copy_assets(to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/web/assets");
    let mut left: Vec<PathBuf> = vec![PathBuf::new()];
    while let Some(dir) = left.pop() {
        std::fs::create_dir_all(to.join(&dir)).unwrap();
        for entry in std::fs::read_dir(from.join(&dir)).unwrap().flatten() {
            let name = dir.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                left.push(name);
            } else {
                std::fs::copy(entry.path(), to.join(name)).unwrap();
            }
        }
    }
}

#[test]
fn replaced_by_a_newer_one_the_page_is_loaded_once_and_is_current() {
    let home = Home::new();
    let assets = home.join("assets");
    copy_assets(&assets);
    let program = home.join("rookery-elsewhere");
    let script = format!(
        "#!/bin/sh\nROOKERY_WEB_ASSETS={} exec {} \"$@\"\n",
        assets.display(),
        rookery_binary().display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let daemon = TestDaemon::start_by(home, program);
    let mut page = Page::open_in(daemon, "full", Browser::start(WIDE));
    let shell = page.shell();
    let build = |page: &Page| page.js("return window.rookery.version.build", &[]);
    let before = build(&page);
    page.js("window.old = true; sessionStorage.setItem('loads', '0')", &[]);
    page.daemon.kill9();
    page.until_state("lost");
    let module = assets.join("a11y.js");
    let mut code = std::fs::read_to_string(&module).unwrap();
    code.push_str("\nsessionStorage.setItem('loads', String(Number(sessionStorage.getItem('loads')) + 1));\nwindow.isNewer = true;\n");
    std::fs::write(&module, code).unwrap();
    page.daemon.restart();
    page.until("the new page is open", "return window.old === undefined && window.isNewer === true && document.documentElement.dataset.state === 'open'", &[]);
    assert_ne!(build(&page), before);
    page.until_row(shell, "ready$");
    page.until("it has the keyboard", "return document.activeElement.id === 'keys'", &[]);
    page.type_line("echo cur''rent");
    page.until_row(shell, "current");
    assert_eq!(page.js("return sessionStorage.getItem('loads')", &[]), "1");
    // The same daemon again has nothing new.
    page.daemon.kill9();
    page.until_state("lost");
    page.daemon.restart();
    page.until_open();
    page.until_row(shell, "current");
    assert_eq!(page.js("return sessionStorage.getItem('loads')", &[]), "1");
}

#[test]
fn one_approval_in_three_faces_is_settled_in_all() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    let phone = Browser::start(crate::phone::PHONE);
    crate::phone::become_phone(&phone);
    crate::page::enter(&phone, &page.daemon, "decide", "Ada's phone");
    phone.until_shown("#inbox [data-act='approve']");
    let pty = rookery_testkit::TestPty::spawn(
        page.daemon.home(),
        rookery_binary(),
        &["tui", "--page", "inbox"],
        (40, 140),
    );
    pty.wait_text("a approve");
    page.open_inbox(1);
    page.until_shown("#approve");
    page.pass_guard();
    crate::phone::tap(&phone, "#inbox [data-act='approve']");
    page.until_settled(&thread);
    page.until_file(&root.join("made"));
    page.until_says("#card-state", "approved by Ada's phone");
    page.until_hidden("#approve, #deny, #remember, #later");
    pty.wait_text("approved by Ada's phone");
    let nothing: Value = json!([]);
    let rows = "return [...document.querySelectorAll('#inbox [data-act]')].map(e => e.dataset.act)";
    wait_until("the phone offers it no more", SOON, || phone.js(rows, &[]) == nothing);
    pty.send(b"q");
}
