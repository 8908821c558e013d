//! What is approved was seen whole: cards, rows of the phone and reviews whose text is more than is shown at once.

use rookery_testkit::{TestDaemon, wait_until};
use serde_json::{Value, json};

use crate::asker::SOON;
use crate::chromium::key;
use crate::page::Page;
use crate::phone::phone;
use crate::phone_work::lead;
use crate::supervise::repository;

/// A script whose second line is so long that a preview leaves out its middle, and ends that of the diff.
fn with_a_tail() -> Value {
    let content = format!("#!/bin/sh\n{}\nrm -rf ~\n", "x".repeat(30_000));
    json!({"tool": "write_file", "args": {"path": "run.sh", "content": content}})
}

#[test]
fn a_row_does_not_decide_what_its_diff_does_not_show() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let wide = "x".repeat(1900);
    let wide: String = (0..10).map(|_| format!("{wide}\n")).collect();
    let write =
        |content: &str| json!({"tool": "write_file", "args": {"path": "a", "content": content}});
    let done = json!({"text": "ok"});
    let request = |title: &str, step: &Value| {
        let thread = page.begin(&root, title, &json!([step, done]));
        page.until_waits(&thread)
    };
    let tail = request("Tail", &with_a_tail());
    let wide = request("Wide", &write(&wide));
    let short = request("Short", &write("x\n"));
    let buttons = |request: &str| format!("#inbox [data-request='{request}'] .row-buttons");
    for request in [&tail, &wide] {
        page.until_says(&buttons(request), "Review");
        page.until_hidden(&format!("{} [data-act]", buttons(request)));
    }
    page.until_shown(&format!("{} [data-act='approve']", buttons(&short)));
}

#[test]
fn what_no_diff_shows_stands_beside_it() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.begin(&root, "Tail", &json!([with_a_tail(), {"text": "ok"}]));
    page.until_waits(&thread);
    page.open_inbox(1);
    page.until_shown("#card-diff");
    page.until_shown("#card-what");
    let beside = page.text("#card-what");
    assert!(beside.contains("[not shown here: ") && beside.contains("+rm -rf ~"), "{beside}");
}

#[test]
fn a_part_that_is_nowhere_on_the_card_is_named_before_it_is_approved() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Long", &format!("touch made # {}", "x".repeat(30_000)));
    page.open_inbox(1);
    page.until_shown("#approve");
    page.pass_guard();
    page.type_keys("a");
    page.until_says(".card-note", "a again approves");
    page.pass_guard();
    page.type_keys("a");
    page.until_says(".card-note", "`rookery inbox show` prints it");
    // A second press at once is no answer to that.
    page.type_keys("a");
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    page.pass_guard();
    page.type_keys("a");
    page.until_settled(&thread);
    page.until_file(&root.join("made"));
}

#[test]
fn a_plan_is_approved_with_its_steps() {
    let page = Page::open();
    let root = page.project("api");
    page.daemon.client().call("session/set_mode", json!({"mode": "plan"}));
    let plan = json!({"summary": "Mend the **lock**.", "next_steps": ["rm -rf ~", "test it"], "target_mode": "accept_all"});
    let steps = json!([{"tool": "exit_plan_mode", "args": plan}, {"text": "ok"}]);
    let thread = page.begin(&root, "Plan", &steps);
    page.until_waits(&thread);
    page.open_inbox(1);
    page.until_says("#card .prose", "Mend the lock.");
    for step in ["- rm -rf ~", "- test it"] {
        page.until_says("#card-what", step);
    }
    // The card says in which project that is.
    page.until_says("#card .card-session", "api / ");
    page.pass_guard();
    page.click("#approve");
    page.until_settled(&thread);
}

#[test]
fn a_review_is_approved_at_once_only_if_all_of_it_was_shown() {
    let page = Page::open_configured("answer-guard-ms = 1500\n");
    let root = repository(&page);
    std::fs::write(root.join("auth.rs"), "fn other() {}\n").unwrap();
    let long: String = (0..300).map(|line| format!("// line {line}\n")).collect();
    std::fs::write(root.join("long.rs"), long).unwrap();
    std::fs::write(root.join("new.rs"), "fn new() {}\n").unwrap();
    let client = page.daemon.client();
    let request = |known: &Value| {
        client.call("rookery/checkpoints/create", json!({"tree": root, "review": true}));
        let all = client.call("rookery/reviews/list", json!({}))["reviews"].clone();
        let mut ids = all.as_array().unwrap().iter().map(|review| review["id"].clone());
        ids.find(|id| id != known).unwrap()
    };
    let status =
        |id: &Value| client.call("rookery/reviews/get", json!({"id": id}))["status"].clone();
    let pass_guard = || {
        page.settle();
        page.js("window.guardSince = performance.now()", &[]);
        let script = "return performance.now() > window.guardSince + 1550";
        page.until("the guard is over", script, &[]);
    };
    let open = |id: &Value| {
        lead(&page, &json!({"page": "review", "review": id}));
        page.until_says("#review .diff-path", "1/3");
        page.until_shown("#review [data-line='1']");
        // That a review was asked for is told at its side, and not over what decides.
        let over = "const b = document.getElementById('review-approve').getBoundingClientRect();
            return document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2).id";
        assert_eq!(page.js(over, &[]), "review-approve");
        pass_guard();
    };
    let first = request(&Value::Null);
    open(&first);
    page.click("#review-approve");
    page.until_says(
        "#review .card-note",
        "2 of 3 files were not shown to their end; a again approves",
    );
    // It goes there, and what follows at once decides nothing.
    page.until_says("#review .diff-path", "2/3");
    page.until_says("#review .diff-lines", "// line 299");
    page.click("#review-approve");
    page.until_says("#review .card-note", "read it first");
    page.moment();
    assert_eq!(status(&first), "open");
    pass_guard();
    page.click("#review-approve");
    wait_until("it is approved", SOON, || status(&first) == "approved");
    // One that was read to its end, file by file.
    let second = request(&first);
    open(&second);
    for (at, last) in [("2/3", "// line 299"), ("3/3", "fn new")] {
        page.type_keys("]");
        page.until_says("#review .diff-path", at);
        page.until_says("#review .diff-lines", last);
        page.type_keys("G");
        page.settle();
    }
    pass_guard();
    page.type_keys("a");
    wait_until("it is approved at once", SOON, || status(&second) == "approved");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_page("reviews");
}
