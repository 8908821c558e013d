//! The phone: 390 by 844 pixels and fingers.

use rookery_testkit::{TestDaemon, wait_until};
use serde_json::{Value, json};

use crate::asker::SOON;
use crate::chromium::{Browser, Size, key};
use crate::page::{Page, WIDE, pairing};

pub(crate) const PHONE: Size = Size { width: 500, height: 900 };

/// Makes a browser a phone with a touch screen.
pub(crate) fn become_phone(browser: &Browser) {
    let screen = json!({"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true});
    browser.cdp("Emulation.setDeviceMetricsOverride", screen);
    let touch = json!({"enabled": true, "maxTouchPoints": 5});
    browser.cdp("Emulation.setTouchEmulationEnabled", touch);
}

/// A paired phone.
pub(crate) fn phone(daemon: TestDaemon, rights: &str) -> Page {
    let page = Page::open_with(daemon, rights, PHONE);
    become_phone(&page);
    // The tab began as a wide one and keeps its place; a phone begins at its home.
    page.js("sessionStorage.clear(); history.replaceState(null, '', '/')", &[]);
    page.reload();
    page.until_open();
    page.until("it is a phone", "return document.documentElement.hasAttribute('data-phone')", &[]);
    page
}

pub(crate) fn touch(page: &Browser, kind: &str, points: &[(f64, f64)]) {
    let points: Vec<Value> =
        points.iter().enumerate().map(|(id, (x, y))| json!({"x": x, "y": y, "id": id})).collect();
    page.cdp("Input.dispatchTouchEvent", json!({"type": kind, "touchPoints": points}));
}

fn middle(page: &Browser, selector: &str) -> (f64, f64) {
    let (x, y) = page.middle(selector);
    (x as f64, y as f64)
}

/// Taps the middle of an element.
pub(crate) fn tap(page: &Browser, selector: &str) {
    page.js(
        "document.querySelector(arguments[0])?.scrollIntoView({block: 'nearest'})",
        &[json!(selector)],
    );
    let at = middle(page, selector);
    touch(page, "touchStart", &[at]);
    touch(page, "touchEnd", &[]);
}

/// A terminal that is shown on the phone.
pub(crate) fn open_terminal(page: &Page, argv: &[&str], printed: &str) -> u64 {
    let client = page.daemon.client();
    let terminal = client.open(json!({"argv": argv}));
    client.wait_text(terminal, printed);
    client.call("rookery/terminals/activate", json!({"terminal": terminal}));
    tap(page, "#bar [data-go='agents']");
    page.until_shown(&format!(".local [data-agent='{terminal}'] .row-main"));
    tap(page, &format!(".local [data-agent='{terminal}'] .row-main"));
    page.until_shown(&format!(".pane[data-terminal='{terminal}']"));
    page.until_row(terminal, printed);
    terminal
}

#[test]
fn home_is_the_inbox_and_two_taps_approve() {
    let page = phone(TestDaemon::start(), "full");
    page.until_page("inbox");
    let root = page.project("api");
    let content: String = (0..100).map(|line| format!("line {line}\n")).collect();
    let steps = json!([{"tool": "write_file", "args": {"path": "long.txt", "content": content}}, {"text": "ok"}]);
    let thread = page.begin(&root, "Long", &steps);
    let request = page.until_waits(&thread);
    page.until_rows(1);
    // It does not fit into the row, which says so.
    page.until_says("#inbox .row-buttons", "Review");
    page.until_hidden("#inbox [data-act]");
    tap(&page, &format!("#inbox [data-request='{request}'] .row-main"));
    page.until_page("card");
    page.until_shown("#approve");
    page.pass_guard();
    tap(&page, "#approve");
    page.until_says(".card-note", "a again approves");
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    page.pass_guard();
    tap(&page, "#approve");
    page.until_settled(&thread);
    page.until_file(&root.join("long.txt"));
    page.back();
    page.until_page("inbox");
}

#[test]
fn what_fits_its_row_is_approved_by_one_tap_after_the_guard() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.until_shown("#inbox [data-act='approve']");
    page.until_says("#inbox .row-lines", "touch made");
    page.pass_guard();
    tap(&page, "#inbox [data-act='approve']");
    page.until_settled(&thread);
    page.until_file(&root.join("made"));
    let other = page.ask(&root, "Touch", "touch other");
    page.until_shown("#inbox [data-act='deny']");
    page.pass_guard();
    tap(&page, "#inbox [data-act='deny']");
    page.until_shown("#dialog #yes");
    assert_eq!(page.waiting(&other).len(), 1);
    page.pass_guard();
    tap(&page, "#dialog #yes");
    page.until_settled(&other);
    assert!(!root.join("other").exists());
}

/// Everything that is tapped and smaller than 44 pixels.
const SMALL: &str = "return [...document.querySelectorAll('button, summary, select, input:not([type=file])')].filter(e => e.checkVisibility() && !e.closest('.unseen') && e.id !== 'skip').map(e => [e.id || e.className || e.textContent, e.getBoundingClientRect()]).filter(([name, b]) => b.height > 0 && (b.height < 43.5 || b.width < 43.5)).map(([name, b]) => `${name} ${b.width}x${b.height}`)";

#[test]
fn targets_are_large_wherever_the_phone_goes() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let go = |place: &str, shown: &str| {
        page.js("location.hash = '#go=' + encodeURIComponent(arguments[0])", &[json!(place)]);
        page.until_shown(shown);
        page.settle();
        assert_eq!(page.js(SMALL, &[]), json!([]), "{place}");
    };
    go(r#"{"page":"workspace"}"#, ".empty .offer");
    go(r#"{"page":"settings"}"#, "#read-output");
    go(r#"{"page":"help"}"#, "[data-for='help'] .entry");
    go(r#"{"page":"audit"}"#, "[data-for='audit'] .page-head");
    page.until_shown("[data-for='audit'] .up");
    tap(&page, "[data-for='audit'] .up");
    page.until_shown(".local[data-local='more'][data-shown]");
    let thread = page.prompt(&root, "FAKE_REQUEST_USER_INPUT");
    let request = page.until_waits(&thread);
    go(&format!(r#"{{"page":"thread","thread":"{thread}"}}"#), "#thread [data-option='1']");
    let answers = "return [...document.querySelectorAll('#thread button[data-option]')].map(e => e.getBoundingClientRect().height).filter(height => height < 55.5)";
    assert_eq!(page.js(answers, &[]), json!([]), "{request}");
    open_terminal(&page, &["sh", "-c", "echo here; exec cat"], "here");
    tap(&page, "#keybar [data-key='more']");
    page.until_shown("#keymore");
    page.until_says("#keymore", "Rights: full");
    assert_eq!(page.js(SMALL, &[]), json!([]), "more keys");
    page.js("[...document.querySelectorAll('#keymore button')].find(b => b.textContent === 'Find').click()", &[]);
    page.until_shown("#find");
    assert_eq!(page.js(SMALL, &[]), json!([]), "find");
}

#[test]
fn a_tablet_has_the_wide_layout_and_keys_for_its_terminals() {
    let page = phone(TestDaemon::start(), "full");
    let shown =
        open_terminal(&page, &["sh", "-c", "stty raw -echo; echo here; exec cat -v"], "here");
    let tablet = json!({"width": 844, "height": 390, "deviceScaleFactor": 2, "mobile": true});
    page.cdp("Emulation.setDeviceMetricsOverride", tablet);
    page.until_shown("#sidebar");
    page.until_shown("#keybar");
    tap(&page, "#keybar [data-key='esc']");
    page.until_row(shown, "^[");
    tap(&page, "#keyboard");
    page.until_at("#keys");
    page.type_keys("typed");
    page.until_row(shown, "^[typed");
    let room = "return document.querySelector('.pane .scroller').getBoundingClientRect().height";
    assert!(page.js(room, &[]).as_f64().unwrap() > 100.0);
}

#[test]
fn a_terminal_zoomed_to_four_hundred_percent_has_room_and_the_keyboard() {
    let page = Page::open();
    let shell = page.shell();
    let zoomed = json!({"width": 320, "height": 215, "deviceScaleFactor": 4, "mobile": false});
    page.cdp("Emulation.setDeviceMetricsOverride", zoomed);
    page.until_shown("#bar");
    page.until_hidden("#keybar");
    let room = "return document.querySelector('.pane .scroller').getBoundingClientRect().height";
    page.until("there is room", &format!("{room} > 40"), &[]);
    page.click(".pane .scroller");
    page.type_line("echo ty''ped");
    page.until_row(shell, "typed");
}

#[test]
fn targets_are_large_and_none_lies_below_the_edge() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    let request = page.until_waits(&thread);
    page.until_shown("#inbox [data-act='approve']");
    let small = SMALL;
    let deciding = "return [...document.querySelectorAll('.decide, .choice-button')].filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect()).filter(b => b.height < 55.5 || b.right > innerWidth).length";
    assert_eq!(page.js(small, &[]), json!([]));
    assert_eq!(page.js(deciding, &[]), 0);
    tap(&page, &format!("#inbox [data-request='{request}'] .row-main"));
    page.until_shown("#approve");
    assert_eq!(page.js(small, &[]), json!([]));
    assert_eq!(page.js(deciding, &[]), 0);
    let apart = "const a = document.querySelector('#deny').getBoundingClientRect(), b = document.querySelector('#approve').getBoundingClientRect(); return b.left - a.right";
    assert!(page.js(apart, &[]).as_f64().unwrap() >= 16.0);
    let below = "const b = document.querySelector('#approve').getBoundingClientRect(); return b.bottom <= document.querySelector('#bar').getBoundingClientRect().top";
    assert_eq!(page.js(below, &[]), true);
    for word in ["agents", "chats", "more"] {
        tap(&page, &format!("#bar [data-go='{word}']"));
        page.until_shown(&format!("#bar [data-go='{word}'][aria-current='page']"));
        assert_eq!(page.js(small, &[]), json!([]), "{word}");
    }
    open_terminal(&page, &["sh", "-c", "echo here; exec cat"], "here");
    page.until_shown("#keybar");
    assert_eq!(page.js(small, &[]), json!([]), "terminal");
}

#[test]
fn a_phone_leaves_a_desktops_size_alone_until_fit() {
    let desktop = Page::open();
    let shell = desktop.shell();
    desktop.type_keys(" ");
    desktop.until_taken();
    let size = |page: &Page| page.daemon.client().terminal(shell)["size"].clone();
    let before = size(&desktop);
    let phone = Browser::start(PHONE);
    let link = pairing(&desktop.daemon, "full");
    become_phone(&phone);
    phone.go(link["url"].as_str().unwrap());
    phone.until_shown("#pair-name");
    phone.click("#pair-go");
    phone.until_shown("html[data-state='open']");
    phone.until_shown("#bar");
    tap(&phone, "#bar [data-go='agents']");
    let row = format!(".local [data-agent='{shell}'] .row-main");
    phone.until_shown(&row);
    tap(&phone, &row);
    phone.until(
        "it is shown whole",
        "return [...document.querySelectorAll('.row')].some(r => r.textContent.includes('ready$'))",
        &[],
    );
    phone.until_shown("#keybar");
    // Typing there does not take the size either.
    tap(&phone, "#keybar [data-key='slash']");
    desktop.until_row(shell, "ready$  /");
    assert_eq!(size(&desktop), before);
    phone.until_shown("#fit");
    tap(&phone, "#fit");
    wait_until("the terminal is as small as the phone", SOON, || {
        size(&desktop)["cols"].as_u64().unwrap() < 60
    });
}

#[test]
fn the_key_bar_types_sticks_and_repeats() {
    let page = phone(TestDaemon::start(), "full");
    let shown =
        open_terminal(&page, &["sh", "-c", "stty raw -echo; echo here; exec cat -v"], "here");
    tap(&page, "#keybar [data-key='esc']");
    page.until_row(shown, "^[");
    tap(&page, "#keybar [data-key='interrupt']");
    page.until_row(shown, "^[^C");
    tap(&page, "#keybar [data-key='ctrl']");
    page.until_shown("#keybar [data-key='ctrl'][data-held='once'][aria-pressed='true']");
    tap(&page, "#keyboard");
    page.until_at("#keys");
    page.type_keys("xy");
    page.until_row(shown, "^[^C^Xy");
    page.until_shown("#keybar [data-key='ctrl'][aria-pressed='false']");
    tap(&page, "#keybar [data-key='ctrl']");
    tap(&page, "#keybar [data-key='ctrl']");
    page.until_shown("#keybar [data-key='ctrl'][data-held='locked']");
    page.type_keys("ab");
    page.until_row(shown, "^A^B");
    tap(&page, "#keybar [data-key='ctrl']");
    page.until_shown("#keybar [data-key='ctrl'][aria-pressed='false']");
    // Held, an arrow goes on.
    let arrow = middle(&page, "#keybar [data-key='left']");
    touch(&page, "touchStart", &[arrow]);
    page.until_row(shown, "^[[D^[[D^[[D");
    touch(&page, "touchEnd", &[]);
}

#[test]
fn the_text_field_is_sent_once_as_a_paste_and_enter() {
    let page = phone(TestDaemon::start(), "full");
    let script = "stty raw -echo; printf '\\033[?2004hhere\\r\\n'; exec cat -v";
    let shown = open_terminal(&page, &["sh", "-c", script], "here");
    tap(&page, "#type");
    page.until_at("#type");
    // As a touch keyboard does it: a composition that autocorrect replaces.
    page.cdp(
        "Input.imeSetComposition",
        json!({"text": "helo", "selectionStart": 4, "selectionEnd": 4}),
    );
    page.cdp("Input.insertText", json!({"text": "hello "}));
    page.cdp("Input.insertText", json!({"text": "world"}));
    page.type_keys(&key::ENTER.to_string());
    page.until_row(shown, "^[[200~hello world^[[201~^M");
    assert_eq!(page.js("return document.querySelector('#type').value", &[]), "");
    let rows = page.rows(shown).concat();
    assert_eq!(rows.matches("world").count(), 1, "{rows}");
}

#[test]
fn ten_thousand_rows_scroll_under_a_finger() {
    let page = phone(TestDaemon::start(), "full");
    let shown =
        open_terminal(&page, &["sh", "-c", "seq -f 'row %.0f.' 10000; exec cat"], "row 10000.");
    for _ in 0..4 {
        touch(&page, "touchStart", &[(190.0, 90.0)]);
        for step in 1..=12 {
            touch(&page, "touchMove", &[(190.0, 90.0 + f64::from(step) * 30.0)]);
        }
        touch(&page, "touchEnd", &[]);
    }
    let filled = "const s = document.querySelector('.pane .scroller').getBoundingClientRect(); return [0.1, 0.5, 0.9].every(share => { const e = document.elementFromPoint(s.left + 20, s.top + s.height * share)?.closest('.row'); return !!e && /^row \\d+\\./.test(e.textContent) })";
    page.until("no row is blank", filled, &[]);
    // From one end of the history to the other, each part of it is filled wherever the finger stops.
    for part in (0..20).rev() {
        let script = "const s = document.querySelector('.pane .scroller'); s.scrollTop = (s.scrollHeight - s.clientHeight) * arguments[0] / 20";
        page.js(script, &[json!(part)]);
        page.until("no row is blank", filled, &[]);
    }
    page.until_row(shown, "row 1.");
    let went_up = "const numbers = [...document.querySelectorAll('.row')].map(r => /^row (\\d+)\\./.exec(r.textContent)).filter(Boolean).map(m => Number(m[1])); return Math.min(...numbers) < 9900";
    page.until("it went up", went_up, &[]);
    page.daemon.client().write(shown, "\n");
}

#[test]
fn a_pinch_changes_the_font_of_this_device_only() {
    let page = phone(TestDaemon::start(), "full");
    let shown = open_terminal(&page, &["sh", "-c", "echo here; exec cat"], "here");
    let size = "return parseFloat(getComputedStyle(document.querySelector('.pane')).getPropertyValue('--size'))";
    let before = page.js(size, &[]).as_f64().unwrap();
    let grid = page.daemon.client().terminal(shown)["size"].clone();
    touch(&page, "touchStart", &[(150.0, 200.0), (240.0, 200.0)]);
    for step in 1..=6 {
        let by = f64::from(step) * 8.0;
        touch(&page, "touchMove", &[(150.0 - by, 200.0), (240.0 + by, 200.0)]);
    }
    touch(&page, "touchEnd", &[]);
    page.until("the font is larger", &format!("{size} > arguments[0]"), &[json!(before + 2.0)]);
    assert_eq!(page.daemon.client().terminal(shown)["size"], grid);
    page.reload();
    page.until_open();
    page.until_shown(&format!(".pane[data-terminal='{shown}']"));
    page.until("it is kept", &format!("{size} > arguments[0]"), &[json!(before + 2.0)]);
}

#[test]
fn a_swipe_goes_to_the_next_terminal() {
    let page = phone(TestDaemon::start(), "full");
    let first = open_terminal(&page, &["sh", "-c", "echo first; exec cat"], "first");
    let second = open_terminal(&page, &["sh", "-c", "echo second; exec cat"], "second");
    let swipe = |from: f64, to: f64| {
        touch(&page, "touchStart", &[(from, 300.0)]);
        touch(&page, "touchMove", &[(f64::midpoint(from, to), 302.0)]);
        touch(&page, "touchMove", &[(to, 303.0)]);
        touch(&page, "touchEnd", &[]);
    };
    swipe(80.0, 300.0);
    page.until_row(first, "first");
    page.until_shown(&format!(".pane[data-terminal='{first}']"));
    swipe(300.0, 80.0);
    page.until_shown(&format!(".pane[data-terminal='{second}']"));
}

#[test]
fn a_long_press_selects_text_that_can_be_copied() {
    let page = phone(TestDaemon::start(), "full");
    let shown =
        open_terminal(&page, &["sh", "-c", "echo selectable words; exec cat"], "selectable");
    page.js("window.copies = []; document.addEventListener('copy', e => window.copies.push(e.clipboardData.getData('text/plain')))", &[]);
    let script = "const b = [...document.querySelectorAll('.row')].find(r => r.textContent.includes('selectable')).getBoundingClientRect(); return [b.left + 12, b.top + b.height / 2]";
    let at = page.js(script, &[]);
    let at = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    // A browser without a screen selects nothing by itself; what it would do must not be taken from it.
    let press = "const e = new PointerEvent('contextmenu', {pointerType: arguments[0], clientX: arguments[1], clientY: arguments[2], bubbles: true, cancelable: true});
        return document.elementFromPoint(arguments[1], arguments[2]).dispatchEvent(e)";
    let place = [json!(at.0), json!(at.1)];
    assert_eq!(page.js(press, &[json!("touch"), place[0].clone(), place[1].clone()]), true);
    page.until_hidden("#menu");
    let select = "const row = [...document.querySelectorAll('.row')].find(r => r.textContent.includes('selectable'));
        const node = document.createTreeWalker(row, NodeFilter.SHOW_TEXT).nextNode(); document.getSelection().setBaseAndExtent(node, 0, node, 10)";
    page.js(select, &[]);
    let selected = "return document.getSelection().toString()";
    let word = page.until("a word is selected", selected, &[]);
    assert_eq!(word, "selectable");
    page.settle();
    // It stays while the terminal goes on.
    page.daemon.client().write(shown, "more\r");
    page.until_row(shown, "more");
    assert_eq!(page.js(selected, &[]), "selectable");
    page.js("document.execCommand('copy')", &[]);
    assert_eq!(page.until("it was copied", "return window.copies[0] ?? ''", &[]), "selectable");
}

#[test]
fn a_phone_without_a_network_keeps_what_it_shows_and_comes_back() {
    let page = phone(TestDaemon::start(), "full");
    let shown = open_terminal(&page, &["sh", "-c", "echo here; exec cat"], "here");
    let offline = |is: bool| {
        let how =
            json!({"offline": is, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        page.cdp("Network.emulateNetworkConditions", how);
    };
    page.cdp("Network.enable", json!({}));
    offline(true);
    // The way is cut under the connection that is there.
    page.daemon.rookery(&["web", "stop"]).success();
    page.until_state("lost");
    page.until_says("#lost", "The daemon is away");
    assert!(page.rows(shown).iter().any(|row| row == "here"));
    page.daemon
        .rookery(&["web", "--listen", page.url.trim_start_matches("http://"), "--json"])
        .success();
    page.moment();
    page.until_state("lost");
    offline(false);
    page.until_open();
    page.until_hidden("#lost");
    page.until_row(shown, "here");
}

#[test]
fn a_phone_that_decides_sees_terminals_without_keys() {
    let page = phone(TestDaemon::start(), "decide");
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    open_terminal(&page, &["sh", "-c", "echo here; exec cat"], "here");
    page.until_hidden("#keybar, #type, #keyboard");
    tap(&page, "#bar [data-go='inbox']");
    page.until_shown("#inbox [data-act='approve']");
    page.pass_guard();
    tap(&page, "#inbox [data-act='approve']");
    page.until_settled(&thread);
}

#[test]
fn a_phone_whose_daemon_is_away_says_so_keeps_its_draft_and_comes_back() {
    let mut page = phone(TestDaemon::start(), "full");
    open_terminal(&page, &["sh", "-c", "echo here; exec cat"], "here");
    tap(&page, "#type");
    page.until_at("#type");
    page.type_keys("a draft");
    page.daemon.kill9();
    page.until_state("lost");
    page.until_says("#lost", "The daemon is away");
    page.until_says("#kept-draft", "Your draft is kept: “a draft”");
    page.type_keys(&key::ENTER.to_string());
    page.until_says("#alert", "not sent");
    assert_eq!(page.js("return document.querySelector('#type').value", &[]), "a draft");
    page.daemon.restart();
    page.until_open();
    page.until_hidden("#lost");
    assert_eq!(page.js("return document.querySelector('#type').value", &[]), "a draft");
    page.click("#type");
    page.type_keys(&key::ENTER.to_string());
    page.until("it is sent", "return document.querySelector('#type').value === ''", &[]);
    page.until(
        "the program has it",
        "return [...document.querySelectorAll('.row')].some(r => r.textContent.includes('a draft'))",
        &[],
    );
}

#[test]
fn a_narrow_window_is_laid_out_as_a_phone_and_a_wide_one_is_not() {
    let page = Page::open_with(TestDaemon::start(), "full", WIDE);
    page.until_hidden("#bar");
    let narrow = json!({"width": 420, "height": 700, "deviceScaleFactor": 1, "mobile": false});
    page.cdp("Emulation.setDeviceMetricsOverride", narrow);
    page.until_shown("#bar");
    page.cdp("Emulation.clearDeviceMetricsOverride", json!({}));
    page.until_hidden("#bar");
}
