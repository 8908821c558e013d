//! Every key of the browser does its action; copy mode; and what programs that ask for more of the keyboard get.

use rookery_testkit::{PATIENCE, eventually};
use serde_json::{Value, json};

use crate::chromium::key;
use crate::page::Page;

const FOCUSED: &str = "document.querySelector('.pane[data-focused]')?.dataset.terminal";

/// Waits until this terminal is shown and has the keyboard.
#[track_caller]
fn until_at(page: &Page, terminal: u64) {
    page.until_focused(terminal);
    page.until("it has the keyboard", "return document.activeElement.id === 'keys'", &[]);
}

/// Waits until another pane than this has the keyboard, and gives it.
#[track_caller]
fn until_other(page: &Page, terminal: u64) -> u64 {
    let script = format!("const t = {FOCUSED}; return t && t !== arguments[0] ? t : ''");
    let found = page.until("another pane is focused", &script, &[json!(terminal.to_string())]);
    page.until("it has the keyboard", "return document.activeElement.id === 'keys'", &[]);
    found.as_str().unwrap().parse().unwrap()
}

#[track_caller]
fn until_panes(page: &Page, count: u64) {
    let script = "return document.querySelectorAll('.pane').length === arguments[0]";
    page.until(&format!("{count} panes are shown"), script, &[json!(count)]);
}

#[track_caller]
fn until_pills(page: &Page, count: u64) {
    let script = "return document.querySelectorAll('#tabs [role=tab]').length === arguments[0]";
    page.until(&format!("there are {count} pills"), script, &[json!(count)]);
}

const ESCAPE: char = key::ESCAPE;

#[test]
fn tabs_and_panes_have_their_keys() {
    let page = Page::open();
    let first = page.shell();
    page.chord(&[key::CTRL, key::ALT, 'c']);
    until_pills(&page, 2);
    let second = until_other(&page, first);
    page.after_prefix('c');
    until_pills(&page, 3);
    let third = until_other(&page, second);
    for (sign, there) in [('1', first), ('2', second), ('3', third)] {
        page.after_prefix(sign);
        until_at(&page, there);
    }
    page.after_prefix(key::TAB);
    until_at(&page, second);
    page.chord(&[key::CTRL, key::ALT, 'f']);
    until_at(&page, third);
    page.chord(&[key::CTRL, key::ALT, 'r']);
    until_at(&page, second);
    page.after_prefix('n');
    until_at(&page, third);
    page.after_prefix('p');
    until_at(&page, second);
    page.chord(&[key::CTRL, key::ALT, 'w']);
    until_pills(&page, 2);
    page.after_prefix('3');
    page.after_prefix('1');
    until_at(&page, first);
    // Panes, by every key that moves between them.
    page.after_prefix('v');
    until_panes(&page, 2);
    let right = until_other(&page, first);
    page.after_prefix('-');
    until_panes(&page, 3);
    let below = until_other(&page, right);
    for (sign, there) in [
        (key::UP, right),
        (key::LEFT, first),
        (key::RIGHT, right),
        (key::DOWN, below),
        ('k', right),
        ('h', first),
        ('l', right),
        ('j', below),
    ] {
        page.after_prefix(sign);
        until_at(&page, there);
    }
    page.after_prefix('o');
    until_other(&page, below);
    page.chord(&[key::CTRL, key::ALT, 'x']);
    page.after_prefix('1');
    page.after_prefix('z');
    until_panes(&page, 1);
    page.after_prefix('z');
    until_panes(&page, 3);
    page.after_prefix('%');
    until_panes(&page, 4);
    page.after_prefix('x');
    until_panes(&page, 3);
    // A pane becomes a tab of its own, and is the one that is shown.
    page.after_prefix('!');
    until_panes(&page, 1);
    until_pills(&page, 3);
}

#[test]
fn panes_grow_and_change_places_by_keys_and_the_mouse() {
    let page = Page::open();
    let first = page.shell();
    page.chord(&[key::CTRL, key::ALT, 'v']);
    until_panes(&page, 2);
    let right = until_other(&page, first);
    let area = |t: u64| {
        let areas = page.mirror()["scene"]["panes"]["areas"].clone();
        areas.as_array().unwrap().iter().find(|area| area["t"] == t).unwrap().clone()
    };
    let before = area(right)["cols"].as_u64().unwrap();
    page.chord(&[key::CTRL, '\\']);
    page.until_shown("#which");
    page.chord(&[key::ALT, key::LEFT]);
    rookery_testkit::wait_until("it has grown", rookery_testkit::PATIENCE, || {
        area(right)["cols"].as_u64().unwrap() > before
    });
    page.after_prefix('{');
    rookery_testkit::wait_until("it is at the left", rookery_testkit::PATIENCE, || {
        area(right)["col"] == 0
    });
    // A pill that is dropped at the edge of a pane comes to lie there.
    page.after_prefix('c');
    until_pills(&page, 2);
    let alone = until_other(&page, right);
    page.after_prefix('1');
    until_panes(&page, 2);
    let pill = page.middle(&format!("#tabs [data-tab='{alone}']"));
    let script = "const b = document.querySelector(`.pane[data-terminal='${arguments[0]}']`).getBoundingClientRect(); return [Math.round(b.left + b.width / 2), Math.round(b.bottom - 20)]";
    let at = page.js(script, &[json!(right)]);
    page.drag(pill, (at[0].as_i64().unwrap(), at[1].as_i64().unwrap()));
    until_panes(&page, 3);
    until_pills(&page, 1);
    let (above, below) = (area(right), area(alone));
    assert_eq!(above["col"], below["col"]);
    assert!(above["row"].as_u64() < below["row"].as_u64(), "{above} {below}");
}

#[test]
fn every_page_has_its_key_and_escape_leads_back() {
    let page = Page::open();
    let shell = page.shell();
    for (sign, word) in [
        ('i', "inbox"),
        ('T', "threads"),
        ('V', "reviews"),
        ('K', "checkpoints"),
        ('W', "worktrees"),
        ('L', "audit"),
        (',', "settings"),
        ('?', "help"),
    ] {
        page.after_prefix(sign);
        page.until_page(word);
        page.settle();
        page.type_keys(&ESCAPE.to_string());
        page.until_page("workspace");
        until_at(&page, shell);
    }
    for (sign, kind) in
        [(' ', "command_palette"), (':', "command_palette"), ('g', ""), ('f', ""), ('e', "")]
    {
        page.after_prefix(sign);
        page.until_shown("#palette");
        if !kind.is_empty() {
            page.until_shown("#palette [role='option']");
        }
        page.type_keys(&ESCAPE.to_string());
        page.until_hidden("#palette");
        until_at(&page, shell);
    }
    page.chord(&[key::CTRL, key::ALT, 'p']);
    page.until_shown("#palette");
    page.type_keys(&ESCAPE.to_string());
    page.until_hidden("#palette");
    page.after_prefix('t');
    page.until_at("#new-thread-text");
    page.type_keys(&ESCAPE.to_string());
    page.until_hidden("#new-thread");
    page.after_prefix('b');
    page.until_hidden("#sidebar .projects");
    page.after_prefix('b');
    page.until_shown("#sidebar .projects");
    page.after_prefix('w');
    page.until_at("#sidebar");
    page.type_keys(&ESCAPE.to_string());
    until_at(&page, shell);
    page.after_prefix('R');
    page.until_shown("#sidebar .rename");
    page.type_line("renamed");
    page.until_says("#sidebar [data-active] .name", "renamed");
    page.after_prefix('q');
    page.until_says("#toasts", "Everything runs on");
    page.after_prefix('/');
    page.until_shown("#find");
    page.type_keys(&ESCAPE.to_string());
    page.until_hidden("#find");
    page.chord(&[key::CTRL, key::SHIFT, 'f']);
    page.until_shown("#find");
    page.type_keys(&ESCAPE.to_string());
    page.until_hidden("#find");
    page.type_line("echo st''ill");
    page.until_row(shell, "still");
}

#[test]
fn the_next_that_waits_is_a_key_away_and_another_key_leads_on() {
    let page = Page::open();
    let root = page.project("api");
    let first = page.ask(&root, "First", "touch first");
    let second = page.ask(&root, "Second", "touch second");
    page.shell();
    let shown =
        "const p = window.rookery.mirror().scene.page; return p?.page === 'thread' ? p.thread : ''";
    page.chord(&[key::CTRL, key::ALT, 'n']);
    // The one that waits longest comes first.
    assert_eq!(page.until("a thread is shown", shown, &[]), json!(first));
    page.chord(&[key::CTRL, key::ALT, 'n']);
    let is_other =
        format!("const t = (() => {{ {shown} }})(); return t && t !== arguments[0] ? t : ''");
    assert_eq!(page.until("the other is shown", &is_other, &[json!(first)]), json!(second));
}

/// Where the cursor of copy mode is: row of the view and column.
fn copy_cursor(page: &Page) -> Value {
    let script = "const mark = document.querySelector('.copy-cursor'); if (!mark) return null;
        const pane = mark.closest('.pane'), s = getComputedStyle(pane), b = mark.getBoundingClientRect(), sheet = pane.querySelector('.sheet').getBoundingClientRect();
        const t = window.rookery.mirror().terms[pane.dataset.terminal];
        return [Math.round((b.top - sheet.top) / parseFloat(s.getPropertyValue('--cell-h'))) + t.view[2], Math.round((b.left - sheet.left) / parseFloat(s.getPropertyValue('--cell-w')))]";
    page.js(script, &[])
}

fn watch_copies(page: &Page) {
    page.js("window.copies = []; Object.defineProperty(navigator, 'clipboard', {configurable: true, value: {writeText: async text => { window.copies.push(text) }}})", &[]);
}

#[track_caller]
fn until_copied(page: &Page, text: &str) {
    let script = "return window.copies.includes(arguments[0])";
    page.until(&format!("{text:?} is copied"), script, &[json!(text)]);
}

#[test]
fn copy_mode_moves_selects_searches_and_copies() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("clear; printf 'alpha beta gamma\\ndelta epsilon\\nzeta beta\\n'; seq 1 40 | sed 's/^/line-/'; echo beta-e''nd");
    page.until_row(shell, "beta-end");
    page.until_taken();
    watch_copies(&page);
    page.after_prefix('[');
    page.until_shown(".copy-cursor");
    // To the first row of the history, and there word by word.
    page.type_keys("gg");
    page.type_keys("/");
    page.until_shown("#find");
    page.type_keys(&format!("alpha{}", key::ENTER));
    page.until_hidden("#find");
    page.until_row(shell, "alpha beta gamma");
    page.type_keys("w");
    let start = copy_cursor(&page);
    assert_eq!(start[1], 6);
    page.type_keys("ve");
    page.until_shown(".light");
    page.type_keys("y");
    until_copied(&page, "beta");
    page.until_hidden(".copy-cursor");
    // A block, of which the other end is moved as well.
    page.after_prefix('[');
    page.until_shown(".copy-cursor");
    page.type_keys("/");
    page.until_shown("#find");
    page.type_keys(&format!("alpha{}", key::ENTER));
    page.until_hidden("#find");
    page.type_keys("0");
    page.chord(&[key::CTRL, 'v']);
    page.type_keys("jjlllo");
    page.type_keys("o");
    page.type_keys(&key::ENTER.to_string());
    until_copied(&page, "alph\ndelt\nzeta");
    // Whole lines; and from match to match in both directions.
    page.after_prefix('[');
    page.until_shown(".copy-cursor");
    page.type_keys("?");
    page.until_shown("#find");
    page.type_keys(&format!("beta{}", key::ENTER));
    page.until_hidden("#find");
    // What is found comes from the daemon, so the cursor moves a while after the key.
    let first = start[0].as_u64().unwrap();
    let [oldest, older, newest] = [(first, 6), (first + 2, 5), (first + 43, 0)];
    let until_at = |(row, col): (u64, u64)| {
        eventually("the cursor is at the match", PATIENCE, || {
            (copy_cursor(&page) == json!([row, col])).then_some(())
        });
    };
    until_at(newest);
    page.type_keys("n");
    until_at(older);
    page.type_keys("n");
    until_at(oldest);
    page.type_keys("N");
    until_at(older);
    page.type_keys("Vy");
    until_copied(&page, "zeta beta\n");
    // Without a selection nothing is copied; Escape leads out, and the keys are the program's again.
    page.after_prefix('[');
    page.until_shown(".copy-cursor");
    page.type_keys("y");
    page.until_says("#message", "v selects first");
    page.type_keys(&ESCAPE.to_string());
    page.until_hidden(".copy-cursor");
    page.type_line("echo thr''ough");
    page.until_row(shell, "through");
}

#[test]
fn a_program_hears_of_releases_of_its_own_keys_only() {
    let page = Page::open();
    // All keys as codes, with their kind.
    let script = "stty raw -echo; printf '\\033[>11uready\\r\\n'; exec cat -v";
    let terminal = page.program(&["sh", "-c", script], "ready");
    let modes = "return (Object.values(window.rookery.mirror().terms)[0].modes & 32) === 32";
    page.until("the modes are known", modes, &[]);
    page.type_keys("a");
    page.until_row(terminal, "^[[97;1:3u");
    // Neither those of chords, nor of the key after the prefix, nor of what has the keyboard meanwhile.
    page.after_prefix('y');
    page.until_says("#message", "nothing is selected");
    page.chord(&[key::CTRL, key::ALT, 'p']);
    page.until_shown("#palette [role='option']");
    page.type_keys(&ESCAPE.to_string());
    page.until_hidden("#palette");
    until_at(&page, terminal);
    page.type_keys("b");
    page.until_row(terminal, "^[[98;1:3u");
    let got = page.rows(terminal).concat();
    assert_eq!(got.matches(":3u").count(), 2, "{got}");
    assert!(!got.contains("^[[121") && !got.contains("^[[27"), "{got}");
}

/// A key of a keyboard as Chromium gets it: pressed, held on, or let go.
fn hold(page: &Page, sign: char, kind: &str, is_repeat: bool) {
    let upper = sign.to_ascii_uppercase();
    let text = if kind == "keyDown" { sign.to_string() } else { String::new() };
    let params = json!({"type": kind, "key": sign.to_string(), "code": format!("Key{upper}"),
        "windowsVirtualKeyCode": u32::from(upper), "text": text, "unmodifiedText": text, "autoRepeat": is_repeat});
    page.cdp("Input.dispatchKeyEvent", params);
}

#[test]
fn a_key_that_is_held_after_the_prefix_types_nothing() {
    let page = Page::open();
    let shell = page.shell();
    page.chord(&[key::CTRL, '\\']);
    page.until_shown("#which");
    hold(&page, 'y', "keyDown", false);
    page.until_says("#message", "nothing is selected");
    for _ in 0..3 {
        hold(&page, 'y', "keyDown", true);
    }
    hold(&page, 'y', "keyUp", false);
    // One that is the program's goes on while it is held.
    hold(&page, 'z', "keyDown", false);
    hold(&page, 'z', "keyDown", true);
    hold(&page, 'z', "keyUp", false);
    page.type_keys("!");
    page.until_row(shell, "ready$ zz!");
}

#[test]
fn what_a_key_types_by_itself_is_learned_from_it() {
    let page = Page::open();
    // All keys as codes.
    let script = "stty raw -echo; printf '\\033[>9uready\\r\\n'; exec cat -v";
    let terminal = page.program(&["sh", "-c", script], "ready");
    let modes = "return (Object.values(window.rookery.mirror().terms)[0].modes & 32) === 32";
    page.until("the modes are known", modes, &[]);
    // As on a German keyboard: where an American one has the minus sign.
    let press = |sign: &str, modifiers: u8| {
        let params = json!({"type": "keyDown", "key": sign, "code": "Minus", "text": sign,
            "unmodifiedText": sign, "windowsVirtualKeyCode": 219, "modifiers": modifiers});
        page.cdp("Input.dispatchKeyEvent", params);
    };
    press("\u{df}", 0);
    page.until_row(terminal, "^[[223u");
    press("?", 8);
    page.until_row(terminal, "^[[223;2u");
}

#[test]
fn a_program_that_asks_for_all_keys_gets_them_and_bracketed_pastes_are_not_asked_about() {
    let page = Page::open();
    let script = "stty raw -echo; printf '\\033[>1u\\033[?2004hready\\r\\n'; exec cat -v";
    let terminal = page.program(&["sh", "-c", script], "ready");
    let modes = "return (Object.values(window.rookery.mirror().terms)[0].modes & 36) === 36";
    page.until("the modes are known", modes, &[]);
    page.chord(&[key::SHIFT, key::ENTER]);
    page.until_row(terminal, "^[[13;2u");
    page.chord(&[key::CTRL, 'i']);
    page.until_row(terminal, "^[[105;5u");
    let paste = "const d = new DataTransfer(); d.setData('text/plain', 'one\\ntwo\\u001b[201~\\n');
        document.getElementById('keys').dispatchEvent(new ClipboardEvent('paste', {clipboardData: d, bubbles: true, cancelable: true}))";
    page.js(paste, &[]);
    // Between the marks a line ends as it did in the clipboard.
    page.until_row(terminal, "^[[200~one");
    page.until_row(terminal, "two");
    page.until_row(terminal, "^[[201~");
    page.until_hidden("#dialog");
    let got = page.rows(terminal).concat();
    assert_eq!(got.matches("201~").count(), 1, "{got}");
}
