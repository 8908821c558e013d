//! The page and its daemon: killed, restarted, reloaded, revoked, and a second device.

use rookery_testkit::{PATIENCE, wait_until};
use serde_json::json;

use crate::asker::stand_still;
use crate::chromium::{Browser, key};
use crate::page::{Page, WIDE, pairing};

#[test]
fn a_page_is_paired_once_and_its_code_leaves_the_address_bar() {
    let page = Page::open();
    assert_eq!(page.js("return location.hash + location.search", &[]), "");
    assert_eq!(page.js("return document.cookie", &[]), "", "scripts cannot read the cookie");
    // A link that was used is refused, and the code can be typed by hand instead.
    let link = pairing(&page.daemon, "full");
    let other = Browser::start(WIDE);
    other.go(link["url"].as_str().unwrap());
    other.until_shown("#pair-name");
    other.click("#pair-go");
    other.until("it is open", "return document.documentElement.dataset.state === 'open'", &[]);
    let mut third = Browser::start(WIDE);
    third.expect_errors("/pair");
    third.go(link["url"].as_str().unwrap());
    third.until_shown("#pair-name");
    third.click("#pair-go");
    third.until_shown("#pair-error");
    third.until_shown("#pair-code");
    let by_hand = pairing(&page.daemon, "full");
    third.click("#pair-code");
    third.type_keys(by_hand["short"].as_str().unwrap());
    third.click("#pair-go");
    third.until("it is open", "return document.documentElement.dataset.state === 'open'", &[]);
    assert_eq!(third.js("return location.hash + location.search", &[]), "");
    // One that is opened where the page is already is taken as well.
    let again = pairing(&page.daemon, "look");
    third.go(again["url"].as_str().unwrap());
    third.until_shown("#pair-name");
    assert_eq!(third.js("return location.hash + location.search", &[]), "");
    third.click("#pair-go");
    third.until(
        "it is the new device",
        "return document.getElementById('rights').textContent.startsWith('look')",
        &[],
    );
}

#[test]
fn reload_and_back_keep_the_place() {
    let page = Page::open();
    let first = page.shell();
    let second = page.shell();
    page.click(&format!("#tabs [data-tab='{first}']"));
    let focused =
        "return document.querySelector('.pane[data-focused]')?.dataset.terminal === arguments[0]";
    page.until("the first is shown", focused, &[json!(first.to_string())]);
    page.reload();
    page.until_open();
    page.until("it is shown again", focused, &[json!(first.to_string())]);
    page.chord(&[key::CTRL, key::ALT, 'o']);
    page.until_page("inbox");
    page.reload();
    page.until_open();
    page.until_page("inbox");
    page.back();
    page.until_page("workspace");
    page.until("the first is shown", focused, &[json!(first.to_string())]);
    assert_ne!(first, second);
}

#[test]
fn a_killed_daemon_takes_no_page_with_it() {
    let mut page = Page::open();
    let shell = page.shell();
    page.type_line("echo bef''ore");
    page.until_row(shell, "before");
    page.until_taken();
    page.daemon.kill9();
    page.until_state("lost");
    page.until_shown("#lost");
    assert!(page.text("#lost").contains("The daemon is away"));
    // Tab leads to what can be done about it.
    let at_retry = "return document.activeElement?.id === 'retry'";
    for _ in 0..20 {
        page.type_keys(&key::TAB.to_string());
        if page.js(at_retry, &[]) == true {
            break;
        }
    }
    assert_eq!(page.js(at_retry, &[]), true);
    page.js("document.getElementById('keys').focus()", &[]);
    assert!(page.rows(shell).iter().any(|row| row == "before"), "the picture stays");
    page.type_keys("zzz");
    page.until(
        "the refusal is told",
        "return document.getElementById('message').textContent === 'not sent'",
        &[],
    );
    page.daemon.restart();
    page.until_open();
    page.until_hidden("#lost");
    page.until_row(shell, "before");
    page.until("it has the keyboard", "return document.activeElement.id === 'keys'", &[]);
    page.type_line("echo aft''er");
    page.until_row(shell, "after");
    assert!(
        !page.rows(shell).iter().any(|row| row.contains("zzz")),
        "what was refused is not sent later"
    );
    let dumped = page.daemon.client().screen(shell);
    let shown: Vec<String> = page.rows(shell).into_iter().filter(|row| !row.is_empty()).collect();
    let dumped: Vec<&str> =
        dumped.lines().map(str::trim_end).filter(|row| !row.is_empty()).collect();
    assert_eq!(shown, dumped);
}

#[test]
fn keys_that_were_under_way_are_reported_and_never_sent_twice() {
    let mut page = Page::open();
    let shell = page.shell();
    page.type_keys("echo twi''ce");
    page.until_taken();
    // The daemon stands still, so that what is typed now is on its way when it dies.
    stand_still(&page.daemon);
    page.type_keys("!?");
    page.daemon.kill9();
    page.until_state("lost");
    let told = page.until(
        "what may be lost is told",
        "return document.getElementById('unsent').textContent",
        &[],
    );
    assert_eq!(told, "2 keys may not have arrived: \"!?\"");
    page.daemon.restart();
    page.until_open();
    page.until_row(shell, "twi''ce");
    page.type_keys(&key::ENTER.to_string());
    page.until_row(shell, "twice");
    let count = page.rows(shell).iter().filter(|row| row.starts_with("twice")).count();
    assert_eq!(count, 1);
}

#[test]
fn a_revoked_device_is_cut_off_and_may_pair_again() {
    let page = Page::open();
    page.shell();
    page.daemon.rookery(&["web", "revoke", "all"]).success();
    page.until_state("denied");
    page.until_shown("#denied");
    page.click("#again");
    page.until_state("pairing");
    page.reload();
    page.until_state("pairing");
    page.until_shown("#pair-code");
}

#[test]
fn without_a_cookie_nothing_but_the_pairing_is_reported() {
    let page = Page::open();
    let shell = page.shell();
    let stranger = Browser::start(WIDE);
    stranger.go(&page.url);
    stranger.until_shown("#pair-code");
    let told = stranger
        .js("return JSON.stringify(window.rookery.mirror()) + document.body.textContent", &[]);
    assert!(!told.as_str().unwrap().contains("ready$"));
    assert!(page.rows(shell).iter().any(|row| row.contains("ready$")));
}

#[test]
fn a_device_that_looks_sends_no_key_and_changes_no_size() {
    let page = Page::open();
    let shell = page.shell();
    let size = |page: &Page| page.mirror()["terms"][shell.to_string()]["size"].clone();
    let before = size(&page);
    let link = pairing(&page.daemon, "look");
    let other = Browser::start(crate::chromium::Size { width: 760, height: 560 });
    other.go(link["url"].as_str().unwrap());
    other.until_shown("#pair-name");
    other.click("#pair-go");
    other.until(
        "a row is shown",
        "return [...document.querySelectorAll('.row')].some(r => r.textContent.includes('ready$'))",
        &[],
    );
    assert!(other.text("#rights").starts_with("look"));
    other.type_keys("q");
    other.until(
        "it says so",
        "return document.getElementById('message').textContent === 'this device is read-only'",
        &[],
    );
    assert_eq!(size(&page), before);
    let owner = "return document.querySelector('.pane').dataset.owner";
    assert_eq!(other.js(owner, &[]), "Ada's laptop");
    assert_eq!(page.js(owner, &[]), "mine");
    // Its font is smaller, so that all columns fit.
    let fits = "const p = document.querySelector('.pane'); return p.querySelector('.sheet').getBoundingClientRect().width <= p.getBoundingClientRect().width + 1";
    assert_eq!(other.js(fits, &[]), true);
    page.type_line("echo se''en");
    other.until(
        "it sees what happens",
        "return [...document.querySelectorAll('.row')].some(r => r.textContent.trim() === 'seen')",
        &[],
    );
}

#[test]
fn a_hidden_page_receives_no_rows_and_is_current_when_it_is_shown() {
    let page = Page::open();
    let shell = page.shell();
    let hide = |is: bool| {
        let script = "Object.defineProperty(document, 'hidden', {configurable: true, value: arguments[0]}); document.dispatchEvent(new Event('visibilitychange'))";
        page.js(script, &[json!(is)]);
    };
    hide(true);
    page.until_taken();
    wait_until("the daemon knows", PATIENCE, || {
        page.daemon.client().write(shell, "echo hid''den\r");
        page.daemon.client().screen(shell).contains("\nhidden")
    });
    let client = page.daemon.client();
    client.wait_text(shell, "hidden");
    assert!(!page.mirror()["terms"][shell.to_string()]["rows"].to_string().contains("\"hidden\""));
    hide(false);
    page.until_row(shell, "hidden");
}

#[test]
fn an_upgraded_daemon_has_the_page_load_itself_once() {
    let mut page = Page::open();
    let shell = page.shell();
    // The next daemon says that it has another build of the page.
    page.js(
        "window.old = true; const real = window.fetch;
         window.fetch = async (url, options) => url === '/session' ? new Response(JSON.stringify({name: 'x', rights: 'full', build: 'newer'})) : real(url, options)",
        &[],
    );
    page.daemon.kill9();
    page.until_state("lost");
    page.daemon.restart();
    page.until(
        "it was loaded anew",
        "return window.old === undefined && document.documentElement.dataset.state === 'open'",
        &[],
    );
    page.until_row(shell, "ready$");
    assert_eq!(page.js("return sessionStorage.getItem('rookery.reloaded')", &[]), "\"newer\"");
}

#[test]
fn two_devices_are_two_viewers_and_one_of_them_is_the_desk() {
    let page = Page::open();
    let shell = page.shell();
    let link = pairing(&page.daemon, "full");
    let other = Browser::start(WIDE);
    other.go(link["url"].as_str().unwrap());
    other.until_shown("#pair-name");
    other.click("#pair-go");
    other.until("it is open", "return document.documentElement.dataset.state === 'open'", &[]);
    let desks = || {
        let status = page.daemon.rookery(&["status", "--json"]).json();
        let viewers = status["viewers"].as_array().cloned().unwrap_or_default();
        let web = viewers.iter().filter(|viewer| viewer["face"] == "web");
        let desk = viewers.iter().filter(|viewer| viewer["isDesk"] == true);
        (web.count(), desk.map(|viewer| viewer["name"].clone()).collect::<Vec<_>>())
    };
    wait_until("both are viewers", PATIENCE, || desks().0 == 2);
    wait_until("the one that is typed on is the desk", PATIENCE, || {
        page.type_keys("x");
        desks().1 == [json!("Ada's laptop")]
    });
    other.until_shown(&format!("#tabs [data-tab='{shell}']"));
    other.click(&format!("#tabs [data-tab='{shell}']"));
    other.until("it has the keyboard", "return document.activeElement.id === 'keys'", &[]);
    wait_until("the other is", PATIENCE, || {
        other.type_keys("y");
        let desk = desks().1;
        desk.len() == 1 && desk != [json!("Ada's laptop")]
    });
}

#[test]
fn a_second_tab_of_a_device_is_a_viewer_of_its_own() {
    let page = Page::open();
    let shell = page.shell();
    page.type_keys("x");
    page.until_row(shell, "ready$ x");
    let viewers = || {
        let status = page.daemon.rookery(&["status", "--json"]).json();
        let all = status["viewers"].as_array().cloned().unwrap_or_default();
        let desks = all.iter().filter(|viewer| viewer["isDesk"] == true).count();
        (all.iter().filter(|viewer| viewer["name"] == "Ada's laptop").count(), desks)
    };
    assert_eq!(viewers(), (1, 1));
    page.cdp("Target.createTarget", json!({"url": page.url}));
    wait_until("the tab is another viewer, and no other desk", PATIENCE, || viewers() == (2, 1));
}
