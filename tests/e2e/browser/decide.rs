//! Decisions: what a card takes for an answer, and what it does not.

use rookery_testkit::{TestDaemon, wait_until};
use serde_json::json;

use crate::asker::SOON;
use crate::chromium::{Browser, key};
use crate::page::{Page, WIDE, pairing};

#[test]
fn a_card_is_approved_by_its_key_and_by_nothing_beside_it() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.open_inbox(1);
    page.until_shown("#approve");
    page.pass_guard();
    page.chord(&[key::CTRL, 'a']);
    page.chord(&[key::ALT, 'a']);
    // Enter shows all of it, and decides nothing.
    page.type_keys(&key::ENTER.to_string());
    page.until_page("card");
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    page.type_keys(&key::ESCAPE.to_string());
    page.until_page("inbox");
    page.type_keys("a");
    page.until_settled(&thread);
    page.until_file(&root.join("made"));
    page.until_says("#card-state", "approved by");
    assert_eq!(page.js("return document.querySelector('#approve')", &[]), json!(null));
}

#[test]
fn a_key_and_a_click_within_the_guard_decide_nothing() {
    let page = Page::open_configured("answer-guard-ms = 10000\n");
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.open_inbox(1);
    page.until_shown("#approve");
    page.type_keys("a");
    page.until_says(".card-note", "read it first");
    page.type_keys("A");
    page.type_keys("d");
    page.click("#approve");
    page.click("#deny");
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    page.until_hidden("#deny-reason");
}

#[test]
fn what_does_not_fit_is_approved_only_after_its_end_was_seen() {
    let page = Page::open();
    let root = page.project("api");
    let content: String = (0..400).map(|line| format!("line {line}\n")).collect();
    let steps = json!([{"tool": "write_file", "args": {"path": "long.txt", "content": content}}, {"text": "ok"}]);
    let thread = page.begin(&root, "Long", &steps);
    page.until_waits(&thread);
    page.open_inbox(1);
    page.until_shown("#card-diff");
    page.pass_guard();
    page.type_keys("a");
    page.until_says(".card-note", "a again approves");
    // A held key, or a double tap, does not go on to approve.
    page.type_keys("a");
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    page.pass_guard();
    page.type_keys("a");
    page.until_settled(&thread);
    page.until_file(&root.join("long.txt"));
}

#[test]
fn a_denial_takes_its_reason_to_the_agent() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.open_inbox(1);
    page.until_shown("#deny");
    page.pass_guard();
    page.type_keys("d");
    page.until_at("#deny-reason");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#deny-reason");
    assert_eq!(page.waiting(&thread).len(), 1);
    page.pass_guard();
    page.click("#deny");
    page.until_at("#deny-reason");
    page.pass_guard();
    page.type_line("not on a friday");
    page.until_settled(&thread);
    page.until_says("#card-state", "denied");
    wait_until("the agent has the reason", SOON, || page.told(&thread).contains("not on a friday"));
    assert!(!root.join("made").exists());
}

#[test]
fn remembering_needs_enter_and_holds_for_the_same_again() {
    let page = Page::open();
    let root = page.project("api");
    let same = json!({"tool": "shell", "args": {"command": "date >> made"}});
    let thread = page.begin(&root, "Twice", &json!([same, same, {"text": "Both are done."}]));
    page.until_waits(&thread);
    page.open_inbox(1);
    page.until_shown("#remember");
    page.pass_guard();
    page.type_keys("A");
    page.until_shown("#remember-yes");
    page.type_keys("x");
    page.until_hidden("#remember-yes");
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    page.type_keys("A");
    page.until_shown("#remember-yes");
    page.type_keys(&key::ENTER.to_string());
    page.until_settled(&thread);
    wait_until("both ran, and the second was not asked for", SOON, || {
        let made = std::fs::read_to_string(root.join("made")).unwrap_or_default();
        made.lines().count() == 2
    });
    assert!(page.waiting(&thread).is_empty());
}

#[test]
fn a_question_is_answered_by_digit_and_by_own_words() {
    let page = Page::open();
    let root = page.project("api");
    let first = page.prompt(&root, "FAKE_REQUEST_USER_INPUT");
    page.until_waits(&first);
    page.open_inbox(1);
    page.until_shown("[data-option='2']");
    page.pass_guard();
    // Letters that decide elsewhere do nothing here.
    page.type_keys("ad");
    page.moment();
    assert_eq!(page.waiting(&first).len(), 1);
    page.type_keys("2");
    page.until_settled(&first);
    let second = page.prompt(&root, "FAKE_REQUEST_USER_INPUT");
    let request = page.until_waits(&second);
    page.until_rows(1);
    page.open_card(&request);
    page.until_shown("[data-option='3']");
    page.pass_guard();
    page.type_keys("3");
    page.until_at(".own-answer");
    page.type_line("neither of them");
    page.until_settled(&second);
    wait_until("the agent has the answer", SOON, || page.told(&second).contains("neither of them"));
}

#[test]
fn a_card_that_was_settled_elsewhere_is_dead_and_says_so() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    let request = page.until_waits(&thread);
    page.open_inbox(1);
    page.until_shown("#approve");
    let params = json!({"id": request, "approved": false});
    page.daemon.client().call("rookery/requests/answer", params);
    page.until_says("#card-state", "denied by");
    page.until_hidden("#approve, #deny, #remember, #later");
    let nothing = "return !document.querySelector('#inbox [aria-current]')";
    page.until("a row that went leaves nothing selected", nothing, &[]);
    page.type_keys("a");
    page.moment();
    assert!(!root.join("made").exists());
}

#[test]
fn letters_typed_while_a_request_arrives_are_the_programs() {
    let page = Page::open();
    let root = page.project("api");
    let shell = page.shell();
    page.type_keys("echo aaaa");
    let thread = page.ask(&root, "Touch", "touch made");
    page.until("it is counted", "return document.title.startsWith('(1)')", &[]);
    page.type_keys("dddd");
    page.type_line("AAAA");
    page.until_row(shell, "aaaaddddAAAA");
    page.until_page("workspace");
    assert_eq!(page.waiting(&thread).len(), 1);
}

#[test]
fn a_digest_of_something_else_decides_nothing() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    let request = page.until_waits(&thread);
    let params = json!({"id": request, "approved": true, "shown": "0".repeat(64)});
    let refused = page.daemon.client().refused("rookery/requests/answer", params);
    assert_eq!(refused.code, -32011);
    assert_eq!(page.waiting(&thread).len(), 1);
}

#[test]
fn a_device_that_decides_approves_and_one_that_looks_does_not() {
    let page = Page::open_with(TestDaemon::start(), "decide", WIDE);
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    let link = pairing(&page.daemon, "look");
    let looker = Browser::start(WIDE);
    looker.go(link["url"].as_str().unwrap());
    looker.until_shown("#pair-name");
    looker.click("#pair-go");
    looker.until_shown("#inbox-button");
    looker.until("it is open", "return document.documentElement.dataset.state === 'open'", &[]);
    looker.click("#inbox-button");
    looker.until_shown("#card-what");
    looker.until_hidden("#approve, #deny, #remember, #later");
    looker.type_keys("a");
    page.open_inbox(1);
    page.until_shown("#approve");
    assert_eq!(page.waiting(&thread).len(), 1);
    page.pass_guard();
    page.click("#approve");
    page.until_settled(&thread);
    let script = "return document.querySelector('#card-state').textContent.startsWith('approved')";
    looker.until("the other sees it settled", script, &[]);
}

#[test]
fn letters_decide_only_while_the_page_has_the_keyboard() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.open_inbox(1);
    page.until_shown("#approve");
    page.pass_guard();
    page.after_prefix('w');
    page.until_at("#sidebar");
    page.type_keys("a");
    page.moment();
    page.type_keys(&key::ESCAPE.to_string());
    page.until_at("#page");
    for part in ["#commands-button", "#prefix-hint"] {
        page.js("document.querySelector(arguments[0]).focus()", &[json!(part)]);
        page.type_keys("a");
        page.moment();
    }
    // A sheet that lies over the card, with the keyboard at one of its buttons.
    page.after_prefix('t');
    page.until_at("#new-thread-text");
    page.type_keys(&key::TAB.to_string());
    page.until(
        "a button has the keyboard",
        "return document.activeElement.textContent === 'Cancel'",
        &[],
    );
    page.type_keys("a");
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#new-thread");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_at("#page");
    page.until_shown("#approve");
    page.pass_guard();
    page.type_keys("a");
    page.until_settled(&thread);
}

#[test]
fn a_mode_that_approves_what_waits_is_not_changed_by_enter() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.click(&format!("#sidebar [data-thread='{thread}']"));
    page.until_shown("#thread #approve");
    let bypass = "const s = document.querySelector('.thread-head select[aria-label=Mode]'); s.value = 'bypass'; s.dispatchEvent(new Event('change'))";
    page.js(bypass, &[]);
    page.until_at("#no");
    page.pass_guard();
    page.type_keys(&key::ENTER.to_string());
    page.until_hidden("#dialog");
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    page.js(bypass, &[]);
    page.until_at("#no");
    page.pass_guard();
    page.click("#yes");
    page.until_settled(&thread);
}

#[test]
fn a_link_to_another_item_leads_away_from_the_card_that_is_shown() {
    let page = Page::open();
    let root = page.project("api");
    page.ask(&root, "First", "touch first");
    page.ask(&root, "Second", "touch second");
    page.open_inbox(2);
    for command in ["touch first", "touch second", "touch first"] {
        let script = "const row = [...document.querySelectorAll('#inbox [data-item]')].find(r => r.textContent.includes(arguments[0]));
            location.hash = '#go=' + encodeURIComponent(JSON.stringify({page: 'inbox', item: row.dataset.item}))";
        page.js(script, &[json!(command)]);
        page.until_says("#card-what", command);
    }
}

#[test]
fn a_row_of_the_inbox_names_its_session_as_it_is_called_now() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "First", "touch first");
    page.open_inbox(1);
    let params = json!({"thread": thread, "name": "Renamed"});
    page.daemon.client().call("rookery/threads/rename", params);
    page.until_says("#inbox .row-session", "Renamed");
}
