//! Work on the phone: a card that fits the screen, a conversation, a review, and room for fingers around notches.

use rookery_testkit::{TestDaemon, wait_until};
use serde_json::{Value, json};

use crate::asker::SOON;
use crate::page::Page;
use crate::phone::{open_terminal, phone, tap, touch};
use crate::supervise::repository;

/// Goes to a place, as a notification does.
pub(crate) fn lead(page: &Page, place: &Value) {
    page.js(
        "location.hash = '#go=' + encodeURIComponent(JSON.stringify(arguments[0]))",
        std::slice::from_ref(place),
    );
}

#[test]
fn what_fits_the_screen_but_no_row_is_approved_by_two_taps() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let thread = page.ask(&root, "Lines", "touch made\n# one\n# two\n# three\n# four\n# five");
    let request = page.until_waits(&thread);
    page.until_says("#inbox .row-buttons", "Review");
    page.until_hidden("#inbox [data-act]");
    page.pass_guard();
    tap(&page, &format!("#inbox [data-request='{request}'] .row-main"));
    page.until_page("card");
    page.until_shown("#approve");
    page.settle();
    page.pass_guard();
    tap(&page, "#approve");
    page.until_settled(&thread);
    page.until_file(&root.join("made"));
}

#[test]
fn back_leads_from_every_card_to_the_list() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let asked = ["one", "two"].map(|name| page.ask(&root, name, &format!("touch {name}")));
    page.until_rows(2);
    for thread in &asked {
        let request = page.until_waits(thread);
        tap(&page, &format!("#inbox [data-request='{request}'] .row-main"));
        page.until_page("card");
        page.until_shown("#approve");
        page.back();
        page.until_page("inbox");
        page.until_rows(2);
    }
    // Also where it was left before the daemon had it in its picture, which then never changes.
    let request = page.until_waits(&asked[0]);
    let and_back = "document.querySelector(arguments[0]).click(); history.back()";
    for _ in 0..10 {
        let row = format!("#inbox [data-request='{request}'] .row-main");
        page.js(and_back, &[json!(row)]);
        page.until_page("inbox");
        page.moment();
        page.until_page("inbox");
        page.until_shown(&row);
    }
}

#[test]
fn every_request_can_be_decided_or_reviewed_from_its_row() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let long: String = (0..100).map(|line| format!("line {line}\n")).collect();
    let write = json!([{"tool": "write_file", "args": {"path": "long.txt", "content": long}}, {"text": "ok"}]);
    // More than cards are read ahead of, some of them while others are read.
    for count in 0..14 {
        page.begin(&root, &format!("Long {count}"), &write);
    }
    page.until_rows(14);
    let each = "return [...document.querySelectorAll('#inbox [data-request]')].every(row => row.querySelector('.row-buttons button'))";
    page.until("each row has a button", each, &[]);
}

#[test]
fn a_conversation_is_held_with_a_thumb() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let slow = json!({"text": "Slowly ".repeat(200), "chunks": 200, "delayMs": 250});
    let steps = json!([{"text": "Hello."}, {"text": "Answered."}, slow]);
    let until_said = |words: &str| {
        let said = "return [...document.querySelectorAll('#thread [data-kind=agent]')].some(e => e.textContent.includes(arguments[0]))";
        page.until(&format!("the agent says {words}"), said, &[json!(words)]);
    };
    let thread = page.begin(&root, "Talk", &steps);
    tap(&page, "#bar [data-go='chats']");
    page.until_page("threads");
    let row = "[data-for='threads'] .entry .row-main";
    page.until_shown(row);
    // That its turn ended is said over the title of the list, and covers none of its rows.
    page.until_shown("#toasts .toast");
    let above = "const end = e => document.querySelector(e).getBoundingClientRect();
        return end('#toasts .toast:last-child').bottom <= end(arguments[0]).top";
    assert_eq!(page.js(above, &[json!(row)]), true);
    tap(&page, row);
    page.until_page("thread");
    until_said("Hello.");
    // Nothing opens the keyboard but a tap on the field.
    assert_eq!(page.js("return document.activeElement?.id === 'composer'", &[]), false);
    tap(&page, "#composer");
    page.until_at("#composer");
    // The keyboard takes the place of the bar, and Enter is a new line there.
    page.until_hidden("#bar");
    page.type_keys("are you there?");
    tap(&page, "#send");
    until_said("Answered.");
    page.until_hidden("#stop");
    tap(&page, "#composer");
    page.until_at("#composer");
    page.until_hidden("#bar");
    page.type_keys("go on");
    tap(&page, "#send");
    until_said("Slowly");
    // One button at a time: Stop while the field is empty, else Send.
    page.until_shown("#stop");
    page.until_hidden("#send");
    tap(&page, "#composer");
    page.type_keys("x");
    page.until_shown("#send");
    page.until_hidden("#stop");
    page.type_keys(&crate::chromium::key::BACKSPACE.to_string());
    page.until_shown("#stop");
    tap(&page, "#stop");
    page.until_hidden("#stop");
    assert!(page.told(&thread).contains("are you there?"));
}

#[test]
fn nothing_moves_after_a_field_took_the_keyboard_or_a_tap_is_over() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    page.begin(&root, "Talk", &json!([{"text": "Hello."}]));
    tap(&page, "#bar [data-go='chats']");
    let row = "[data-for='threads'] .entry .row-main";
    page.until_shown(row);
    tap(&page, row);
    page.until_shown("#composer");
    // Whoever aims in the same moment already finds everything where it stays.
    let script = "const isUp = () => document.documentElement.hasAttribute('data-keyboard');
        const [field, log] = [document.getElementById('composer'), document.getElementById('thread')];
        field.focus();
        const begun = isUp();
        log.focus();
        log.click();
        return [begun, isUp()];";
    assert_eq!(page.js(script, &[]), json!([true, false]));
}

#[test]
fn the_longest_message_lies_above_the_rows_of_a_list() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    page.ask(&root, "Touch", "touch made");
    page.until_rows(1);
    // As long as any is, and then some; what draws messages takes it away later.
    let script = "const toasts = document.getElementById('toasts');
        const rows = document.querySelector('#inbox .entry').getBoundingClientRect();
        return ['title', 'title body'].map(parts => {
            const toast = document.createElement('div');
            toast.className = 'toast';
            for (const part of parts.split(' ')) {
                const line = document.createElement('span');
                line.className = `toast-${part}`;
                line.textContent = 'a program copied text, but the browser does not let this page write unasked '.repeat(3);
                toast.append(line);
            }
            toasts.replaceChildren(toast);
            const box = toast.getBoundingClientRect();
            toasts.replaceChildren();
            return box.height >= 44 && box.bottom <= rows.top;
        })";
    assert_eq!(page.js(script, &[]), json!([true, true]));
}

#[test]
fn what_only_informs_is_read_and_put_away_where_its_notice_leads() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    page.begin(&root, "Talk", &json!([{"text": "Hello."}]));
    // The end of a turn that was not seen waits for no answer, and so is in no list.
    page.until_shown("#bar [data-go='more']");
    tap(&page, "#bar [data-go='more']");
    page.until_shown("#toasts .toast.clickable");
    tap(&page, "#toasts .toast.clickable");
    page.until_page("card");
    page.until_shown("#card #dismiss");
    page.until_hidden("#approve, #deny");
    tap(&page, "#dismiss");
    page.until_page("inbox");
    page.until_shown("[data-for='inbox'] .none");
}

#[test]
fn a_review_is_read_file_by_file_commented_and_sent_back() {
    let page = phone(TestDaemon::start(), "decide");
    let root = repository(&page);
    std::fs::write(root.join("auth.rs"), "fn one() {}\nfn deux() {}\nfn three() {}\n").unwrap();
    std::fs::write(root.join("new.rs"), "fn new() {}\n").unwrap();
    let client = page.daemon.client();
    client.call("rookery/checkpoints/create", json!({"tree": root, "review": true}));
    let reviews = || client.call("rookery/reviews/list", json!({}))["reviews"].clone();
    let id = reviews()[0]["id"].clone();
    lead(&page, &json!({"page": "review", "review": id}));
    page.until_page("review");
    page.until_says("#review .diff-path", "1/2");
    page.until_shown("#review [data-line='2']");
    tap(&page, "#review .diff-bar [aria-label='Next file']");
    page.until_says("#review .diff-path", "2/2");
    page.until_says("#review .diff-lines", "fn new");
    page.settle();
    tap(&page, "#review .diff-bar [aria-label='File before']");
    page.until_says("#review .diff-path", "1/2");
    page.until_shown("#review [data-line='2']");
    // A long press is a comment on its line.
    let (x, y) = page.middle("#review [data-line='2']");
    touch(&page, "touchStart", &[(x as f64, y as f64)]);
    page.until_shown("#comment");
    touch(&page, "touchEnd", &[]);
    page.until_at("#comment");
    page.type_keys("why in French?");
    let send = "[...document.querySelectorAll('.comment-box button')].find(b => b.textContent === 'Comment').id = 'send-comment'";
    page.js(send, &[]);
    tap(&page, "#send-comment");
    page.until_says("#review .comment-shown", "why in French?");
    page.pass_guard();
    tap(&page, "#request-changes");
    wait_until("changes are requested", SOON, || reviews()[0]["status"] == "changes_requested");
    let comment = &reviews()[0]["comments"][0];
    assert_eq!(
        (&comment["path"], &comment["line"], &comment["text"]),
        (&json!("auth.rs"), &json!(2), &json!("why in French?"))
    );
    // It can be decided otherwise.
    page.pass_guard();
    tap(&page, "#review-approve");
    page.until_says("#review-state", "approved");
}

/// What a notch and the system's own bar take of a screen.
fn set_insets(page: &Page, [top, right, bottom, left]: [u32; 4]) {
    let insets = json!({"top": top, "right": right, "bottom": bottom, "left": left});
    page.cdp("Emulation.setSafeAreaInsetsOverride", json!({"insets": insets}));
}

/// Controls and texts that lie where the screen does not show or touch them: names and places.
const COVERED: &str = "const [top, right, bottom, left] = arguments;
    return [...document.querySelectorAll('button, input, select, textarea:not(#keys), .row, #status span, #bar button span')]
        .filter(e => e.checkVisibility() && e.id !== 'skip' && !e.closest('.unseen') && e.textContent + (e.value ?? '') !== '')
        .map(e => [e.id || e.className || e.textContent, e.getBoundingClientRect()])
        .filter(([, b]) => b.width > 0 && b.height > 0 && b.bottom > 0 && b.top < innerHeight)
        .filter(([, b]) => b.top < top - 0.5 || b.left < left - 0.5 || b.right > innerWidth - right + 0.5 || b.bottom > innerHeight - bottom + 0.5)
        .map(([name, b]) => `${name} ${b.left},${b.top} to ${b.right},${b.bottom}`)";

#[test]
fn nothing_lies_below_a_notch_or_the_bar_of_the_system() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    page.ask(&root, "Touch", "touch made");
    let check = |what: &str, insets: [u32; 4]| {
        set_insets(&page, insets);
        page.settle();
        let insets = insets.map(|side| json!(side));
        assert_eq!(page.js(COVERED, &insets), json!([]), "{what}");
    };
    let upright = [47, 0, 34, 0];
    page.until_shown("#inbox [data-act='approve']");
    check("inbox", upright);
    open_terminal(&page, &["sh", "-c", "echo here; exec cat"], "here");
    page.until_shown("#keybar");
    check("terminal", upright);
    // Held sideways, it has the wide layout.
    let sideways = json!({"width": 844, "height": 390, "deviceScaleFactor": 2, "mobile": true});
    page.cdp("Emulation.setDeviceMetricsOverride", sideways);
    page.until_shown("#sidebar");
    check("sideways", [0, 47, 21, 47]);
    page.js("document.getElementById('inbox-button').click()", &[]);
    page.until_page("inbox");
    page.until_hidden("#keybar");
    check("inbox sideways", [0, 47, 21, 47]);
    // Also without keys for a terminal it ends where a touch keyboard begins.
    let place = "const s = getComputedStyle(document.getElementById('frame')); return [s.position, s.height]";
    assert_eq!(page.js(place, &[]), json!(["fixed", "390px"]));
}
