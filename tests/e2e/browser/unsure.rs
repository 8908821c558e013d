//! A call that was sent when the connection broke is not taken for one that was not, and nothing is sent twice; what is
//! written outlives the tab.

use serde_json::json;

use crate::asker::stand_still;
use crate::chromium::key;
use crate::page::Page;

/// Keeps what the page sends from now on.
pub(crate) fn watch_sent(page: &Page) {
    page.js(
        "if (!window.sent) { const send = WebSocket.prototype.send; WebSocket.prototype.send = function (text) { window.sent.push(text); return send.call(this, text) } }
         window.sent = []",
        &[],
    );
}

/// How often the page sent a call of this method.
pub(crate) fn sent(page: &Page, method: &str) -> u64 {
    let script =
        "return window.sent.filter(text => text.includes(`\"method\":\"${arguments[0]}\"`)).length";
    page.js(script, &[json!(method)]).as_u64().unwrap()
}

#[track_caller]
pub(crate) fn until_sent(page: &Page, method: &str) {
    let script = "return window.sent.some(text => text.includes(`\"method\":\"${arguments[0]}\"`))";
    page.until(&format!("{method} was sent"), script, &[json!(method)]);
}

#[test]
fn a_decision_without_an_answer_is_reported_and_never_sent_again() {
    let mut page = Page::open();
    let root = page.project("api");
    page.ask(&root, "Touch", "touch made");
    page.open_inbox(1);
    page.until_shown("#approve");
    page.pass_guard();
    watch_sent(&page);
    stand_still(&page.daemon);
    page.type_keys("a");
    until_sent(&page, "rookery/requests/answer");
    page.daemon.kill9();
    page.until_state("lost");
    page.until_says("#unsent", "your decision may not have arrived");
    page.until_says("#toasts", "it may have been decided");
    // What is pressed now was never sent, and the page says so.
    page.pass_guard();
    page.click("#approve");
    page.until_says("#toasts", "not sent");
    page.daemon.restart();
    page.until_open();
    page.until_says("#toasts", "your decision may not have arrived");
    page.moment();
    assert_eq!(sent(&page, "rookery/requests/answer"), 1);
    assert!(!root.join("made").exists());
}

#[test]
fn a_message_without_an_answer_stays_in_its_field() {
    let mut page = Page::open();
    let root = page.project("api");
    let thread = page.begin(&root, "Short", &json!([{"text": "Hello."}, {"text": "Again."}]));
    page.until_shown(&format!("#sidebar [data-thread='{thread}']"));
    page.click(&format!("#sidebar [data-thread='{thread}']"));
    page.until_says("#thread", "Hello.");
    page.until_at("#composer");
    watch_sent(&page);
    stand_still(&page.daemon);
    page.type_line("on its way");
    until_sent(&page, "rookery/view/thread/send");
    page.daemon.kill9();
    page.until_state("lost");
    page.until_says("#unsent", "your message may not have arrived");
    page.until_says("#toasts", "still in the field");
    page.daemon.restart();
    page.until_open();
    page.until_says("#thread", "Hello.");
    page.moment();
    assert_eq!(sent(&page, "rookery/view/thread/send"), 1);
    assert_eq!(page.js("return document.querySelector('#composer').value", &[]), "on its way");
}

#[test]
fn drafts_outlive_the_tab_and_are_forgotten_with_the_device() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.begin(&root, "Short", &json!([{"text": "Hello."}]));
    let row = format!("#sidebar [data-thread='{thread}']");
    page.until_shown(&row);
    page.click(&row);
    page.until_at("#composer");
    page.type_keys("half a thought");
    // Drafts of long ago make room.
    page.js("for (let at = 0; at < 120; at += 1) localStorage.setItem(`rookery.draft.old:${at}`, JSON.stringify({text: 'old', at}))", &[]);
    page.type_keys(".");
    let count =
        "return Object.keys(localStorage).filter(name => name.startsWith('rookery.draft.')).length";
    assert_eq!(page.js(count, &[]), 100);
    // Another tab has the same device and a session of its own.
    page.js("sessionStorage.clear(); history.replaceState(null, '', '/')", &[]);
    page.reload();
    page.until_open();
    page.until_shown(&row);
    page.click(&row);
    page.until(
        "the draft is there",
        "return document.querySelector('#composer')?.value === 'half a thought.'",
        &[],
    );
    page.type_keys(&key::ESCAPE.to_string());
    page.click("#more-button");
    page.js("[...document.querySelectorAll('#menu button')].find(b => b.textContent === 'Settings').click()", &[]);
    page.until_page("settings");
    page.until_shown("#logout");
    page.js("document.querySelector('#logout').click()", &[]);
    page.until_shown("#dialog #yes");
    page.click("#yes");
    page.until_state("pairing");
    let left = "return Object.keys(localStorage).filter(name => name.startsWith('rookery.'))";
    page.until("it is loaded anew", "return document.getElementById('denied').hidden", &[]);
    assert_eq!(page.js(left, &[]), json!([]));
}

#[test]
fn keys_are_counted_also_where_their_text_is_not_kept() {
    let page = Page::open();
    let script = "const done = arguments[0];
        import(`/a/${window.rookery.version.build}/link.js`).then(({ Inputs }) => {
            const inputs = new Inputs();
            for (let n = 0; n < 100; n += 1) inputs.number('x'.repeat(64));
            inputs.number('');
            inputs.accepted(10);
            const { unsent, text } = inputs.lose();
            done([unsent, text.length]);
        })";
    // A release types nothing, and is no key that may be missing.
    assert_eq!(page.js_later(script, &[]), json!([90, 54 * 64]));
}
