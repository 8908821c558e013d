//! Programs that people use, in a pane of the page: an editor, a pager and a monitor, by keys, wheel and mouse.

use std::fs;

use rookery_testkit::{PATIENCE, wait_until};
use serde_json::{Value, json};

use crate::chromium::{key, move_to};
use crate::page::Page;
use crate::terminal::place;

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !is_there {
        eprintln!("{program} is missing; `cargo xtask test` installs it");
    }
    is_there
}

/// Waits until no row of a terminal has this text in it.
#[track_caller]
fn until_no_row(page: &Page, terminal: u64, text: &str) {
    let script = "return ![...document.querySelectorAll(`.pane[data-terminal='${arguments[0]}'] .row`)].some(r => r.textContent.includes(arguments[1]))";
    page.until(&format!("no row says {text:?}"), script, &[json!(terminal), json!(text)]);
}

/// Turns the wheel at a place.
fn wheel(page: &Page, (x, y): (i64, i64), pixels: f64) {
    let event = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": pixels});
    page.cdp("Input.dispatchMouseEvent", event);
}

fn click(page: &Page, (x, y): (i64, i64)) {
    let button = |kind: &str| -> Value { json!({"type": kind, "button": 0}) };
    page.mouse(&[move_to(x, y), button("pointerDown"), button("pointerUp")]);
}

#[test]
fn a_pager_is_walked_by_keys_and_wheel() {
    if !has("less") {
        return;
    }
    let page = Page::open();
    let file = page.daemon.home().join("text");
    let text: String = (1..=300).map(|n| format!("line {n:03}\n")).collect();
    fs::write(&file, text).unwrap();
    let shell = page.shell();
    page.type_line(&format!("less {}", file.display()));
    page.until_row(shell, "line 001");
    page.type_keys("G");
    page.until_row(shell, "line 300");
    until_no_row(&page, shell, "line 001");
    page.type_keys("g");
    page.until_row(shell, "line 001");
    page.type_line("/line 15");
    page.until_row(shell, "line 150");
    page.type_keys("g");
    page.until_row(shell, "line 001");
    // On the alternate screen the wheel is arrows, and back again.
    let at = place(&page, "line 005", 2);
    for _ in 0..5 {
        wheel(&page, at, 120.0);
    }
    until_no_row(&page, shell, "line 001");
    let at = page.middle(".pane[data-focused] .scroller");
    for _ in 0..8 {
        wheel(&page, at, -120.0);
    }
    page.until_row(shell, "line 001");
    page.type_keys("q");
    page.until_row(shell, "ready$");
    until_no_row(&page, shell, "line 002");
}

#[test]
fn an_editor_gets_keys_and_the_mouse() {
    if !has("vim") {
        return;
    }
    let page = Page::open();
    let file = page.daemon.home().join("edited");
    let shell = page.shell();
    let set = "set mouse=a ttymouse=sgr";
    page.type_line(&format!("vim -u NONE -N -n -c '{set}' {}", file.display()));
    page.until_row(shell, "[New]");
    page.type_keys(&format!("ione{0}two{0}three{1}", key::ENTER, key::ESCAPE));
    page.until_row(shell, "three");
    until_no_row(&page, shell, "-- INSERT --");
    page.until("the mode is known", "return document.querySelector('.pane.mouse') !== null", &[]);
    let at = place(&page, "two", 1);
    click(&page, at);
    page.type_keys("x");
    let is_cut = "return [...document.querySelectorAll('.pane[data-focused] .row')].some(r => r.textContent.trim() === 'to')";
    page.until("the letter is gone", is_cut, &[]);
    page.type_keys(&format!("{}ix", key::UP));
    page.until_row(shell, "-- INSERT --");
    page.type_keys(&key::ESCAPE.to_string());
    until_no_row(&page, shell, "-- INSERT --");
    page.type_keys("u");
    page.type_line(":wq");
    page.until_row(shell, "ready$");
    until_no_row(&page, shell, "three");
    wait_until("it is written", PATIENCE, || {
        fs::read_to_string(&file).is_ok_and(|text| text == "one\nto\nthree\n")
    });
}

#[test]
fn a_monitor_is_left_by_a_click() {
    if !has("htop") {
        return;
    }
    let page = Page::open();
    let shell = page.shell();
    page.type_line("htop");
    page.until_row(shell, "PID");
    page.until_row(shell, "F10");
    page.until("the mode is known", "return document.querySelector('.pane.mouse') !== null", &[]);
    // The labels of its keys are one row; the click is on what follows `F10`.
    let column = "const r = [...document.querySelectorAll('.pane[data-focused] .row')].find(r => r.textContent.includes('F10'));
        return r.textContent.indexOf('F10') + 4";
    let column = page.js(column, &[]).as_i64().unwrap();
    click(&page, place(&page, "F1", column));
    page.until_row(shell, "ready$");
    until_no_row(&page, shell, "F10");
}
