//! What a decision is safe from: a second tap, a page that was not looked at for long, and a device that does what
//! it may not.

use rookery_testkit::TestDaemon;
use serde_json::json;

use crate::asker::SOON;
use crate::chromium::key;
use crate::page::{Page, WIDE};
use crate::phone::{phone, tap};
use crate::supervise::{go, repository};
use crate::unsure::{sent, until_sent, watch_sent};

/// What is drawn from now on opens its guard only in ten seconds, so that the next tap comes too early for it however
/// slow the machine is.
const LATE: &str =
    "const now = performance.now.bind(performance); performance.now = () => now() + 10000";

#[test]
fn two_taps_at_one_place_of_a_row_deny_nothing() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.until_shown("#inbox [data-act='deny']");
    page.pass_guard();
    page.js(LATE, &[]);
    tap(&page, "#inbox [data-act='deny']");
    page.until_shown("#dialog #yes");
    tap(&page, "#dialog #yes");
    page.until_says("#toasts", "read it first");
    page.type_keys(&key::ENTER.to_string());
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    page.until_shown("#dialog #yes");
}

#[test]
fn two_clicks_at_one_place_of_a_card_deny_nothing() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.open_inbox(1);
    page.until_shown("#deny");
    page.pass_guard();
    page.js(LATE, &[]);
    page.click("#deny");
    page.until_at("#deny-reason");
    page.click("#deny-yes");
    page.until_says(".card-note", "read it first");
    page.click("#deny-reason");
    page.type_keys(&key::ENTER.to_string());
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    page.until_shown("#deny-reason");
}

#[test]
fn a_denial_by_keys_alone_waits_for_nothing_more() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.open_inbox(1);
    page.until_shown("#deny");
    page.pass_guard();
    page.js(LATE, &[]);
    page.type_keys("d");
    page.until_at("#deny-reason");
    page.type_line("no");
    page.until_settled(&thread);
    page.until_says("#card-state", "denied");
}

/// The page is hidden for this long, and seen again.
fn hide_for(page: &Page, milliseconds: u64) {
    let script = "const hide = is => { Object.defineProperty(document, 'hidden', {configurable: true, value: is}); document.dispatchEvent(new Event('visibilitychange')) };
        const [ms] = arguments, now = Date.now;
        hide(true); Date.now = () => now() + ms; hide(false); Date.now = now";
    page.js(script, &[json!(milliseconds)]);
}

#[test]
fn a_card_that_was_hidden_for_long_is_read_anew() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.open_inbox(1);
    page.until_shown("#approve");
    watch_sent(&page);
    hide_for(&page, 1_000);
    page.moment();
    assert_eq!(sent(&page, "rookery/view/card"), 0);
    hide_for(&page, 61_000);
    until_sent(&page, "rookery/view/card");
    page.moment();
    page.pass_guard();
    page.type_keys("a");
    page.until_settled(&thread);
}

#[test]
fn a_review_that_was_hidden_for_long_is_read_anew_and_a_half_written_comment_stays() {
    let page = Page::open();
    let root = repository(&page);
    std::fs::write(root.join("auth.rs"), "fn other() {}\n").unwrap();
    let client = page.daemon.client();
    client.call("rookery/checkpoints/create", json!({"tree": root, "review": true}));
    page.shell();
    go(&page, 'V', "reviews");
    page.until_shown("[data-for='reviews'] .entry");
    page.type_keys(&format!("j{}", key::ENTER));
    page.until_page("review");
    page.until_shown("#review [data-line='1']");
    page.type_keys("c");
    page.until_at("#comment");
    page.type_keys("half");
    watch_sent(&page);
    hide_for(&page, 1_000);
    page.moment();
    assert_eq!(sent(&page, "rookery/reviews/get"), 0);
    hide_for(&page, 61_000);
    until_sent(&page, "rookery/reviews/get");
    let lines = "return window.sent.filter(text => text.includes('rookery/view/diff')).length > 1";
    page.until("its lines are read", lines, &[]);
    page.moment();
    page.until_at("#comment");
    assert_eq!(page.js("return document.querySelector('#comment').value", &[]), "half");
    page.type_keys(&key::ESCAPE.to_string());
    page.pass_guard();
    page.type_keys("a");
    page.until_says("#review-state", "approved");
}

#[test]
fn a_review_is_read_anew_after_the_daemon_was_away() {
    let mut page = Page::open();
    let root = repository(&page);
    std::fs::write(root.join("auth.rs"), "fn other() {}\n").unwrap();
    let client = page.daemon.client();
    client.call("rookery/checkpoints/create", json!({"tree": root, "review": true}));
    page.shell();
    go(&page, 'V', "reviews");
    page.until_shown("[data-for='reviews'] .entry");
    page.type_keys(&format!("j{}", key::ENTER));
    page.until_page("review");
    page.until_shown("#review [data-line='1']");
    page.daemon.kill9();
    page.until_state("lost");
    watch_sent(&page);
    page.daemon.restart();
    page.until_open();
    until_sent(&page, "rookery/reviews/get");
    let lines = "return window.sent.filter(text => text.includes('rookery/view/diff')).length > 1";
    page.until("its lines are read", lines, &[]);
    page.until_shown("#review [data-line='1']");
    page.moment();
    page.pass_guard();
    page.type_keys("a");
    page.until_says("#review-state", "approved");
}

#[test]
fn pairing_again_is_offered_only_to_a_device_that_is_not_known() {
    let daemon = TestDaemon::start();
    let shell = daemon.client().open_sh("echo here; cat");
    let page = Page::open_with(daemon, "look", WIDE);
    page.until_shown(&format!("#tabs [data-tab='{shell}']"));
    // The page itself sends nothing that its device may not.
    let script = "const send = WebSocket.prototype.send; WebSocket.prototype.send = function (text) { window.socket = this; return send.call(this, text) };
        window.rookery.resync(); window.socket.send(JSON.stringify({jsonrpc: '2.0', method: 'rookery/view/key', params: {n: 1, t: arguments[0], k: 'x', text: 'x'}}))";
    page.js(script, &[json!(shell)]);
    page.until_state("denied");
    page.until_says("#denied-why", "no rights");
    page.until_hidden("#again");
    page.until_shown("#reload");
    page.click("#reload");
    page.until_open();
    assert!(!page.daemon.client().screen(shell).contains('x'));
    page.daemon.rookery(&["web", "revoke", "all"]).success();
    page.until_state("denied");
    page.until_shown("#again");
    page.until_hidden("#reload");
}

#[test]
fn a_page_that_was_stopped_says_how_it_is_served_again() {
    let page = Page::open();
    let shell = page.shell();
    let stopped = page.daemon.rookery(&["web", "stop"]);
    assert!(stopped.stderr.contains("`rookery web` serves it again"), "{stopped:?}");
    page.until_state("lost");
    page.until_says("#lost", "`rookery web` starts it again");
    let address = page.url.trim_start_matches("http://");
    page.daemon.rookery(&["web", "--listen", address]).success();
    page.until_open();
    page.until_hidden("#lost");
    page.until_row(shell, "ready$");
    rookery_testkit::wait_until("it is a viewer again", SOON, || {
        page.daemon.client().status()["viewers"].as_array().is_some_and(|all| all.len() == 1)
    });
}
