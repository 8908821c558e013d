//! The inbox as a list: handoffs, checkpoints, its filter, and more rows than are here at once.

use rookery_testkit::wait_until;
use serde_json::{Value, json};

use crate::asker::SOON;
use crate::chromium::key;
use crate::page::Page;
use crate::supervise::repository;

/// Waits until the list has this number of rows.
#[track_caller]
fn until_entries(page: &Page, count: usize) {
    let script = "return document.querySelectorAll('#inbox .entry').length === arguments[0]";
    page.until(&format!("{count} rows are listed"), script, &[json!(count)]);
}

/// Waits until the row of this title is the selected one.
#[track_caller]
fn until_selected(page: &Page, title: &str) {
    let script = "return !!document.querySelector('#inbox [aria-current]')?.textContent.includes(arguments[0])";
    page.until(&format!("{title} is selected"), script, &[json!(title)]);
}

#[test]
fn a_handoff_is_accepted_on_its_card_after_the_guard() {
    let page = Page::open_configured("answer-guard-ms = 2000\n");
    let root = repository(&page);
    let client = page.daemon.client();
    let made =
        json!({"tree": root, "title": "Auth", "summary": "half done", "nextActions": ["test it"]});
    let id = client.call("rookery/handoffs/create", made)["id"].clone();
    let status = || {
        let all = client.call("rookery/handoffs/list", json!({}))["handoffs"].clone();
        let found = all.as_array().unwrap().iter().find(|one| one["id"] == id).cloned();
        found.unwrap_or_default()["status"].clone()
    };
    page.click("#inbox-button");
    until_entries(&page, 1);
    page.type_keys("g");
    page.until_shown("#accept");
    page.type_keys("a");
    page.until_says(".card-note", "read it first");
    page.moment();
    assert_eq!(status(), "pending");
    page.until_says("#card-what", "next: test it");
    page.js("window.guardSince = performance.now()", &[]);
    page.until("the guard is over", "return performance.now() > window.guardSince + 2100", &[]);
    page.type_keys("a");
    wait_until("it is accepted", SOON, || status() == "accepted");
    until_entries(&page, 0);
    page.until_hidden("#accept");
}

#[test]
fn a_checkpoint_is_opened_from_its_card() {
    let page = Page::open();
    let root = repository(&page);
    let client = page.daemon.client();
    for title in ["Before lunch", "After lunch"] {
        client.call("rookery/checkpoints/create", json!({"tree": root, "title": title}));
    }
    std::fs::write(root.join("auth.rs"), "fn other() {}\n").unwrap();
    page.click("#inbox-button");
    page.until_page("inbox");
    // It only informs.
    page.type_keys("i");
    until_entries(&page, 2);
    page.type_keys("G");
    page.until_says("#card-what", "Before lunch");
    page.click("#show");
    page.until_page("checkpoints");
    page.until_says("[data-for='checkpoints'] .checkpoint-diff h1", "Before lunch");
    page.until_says("[data-for='checkpoints'] .diff-code", "fn other");
    // Enter on the row leads there as well.
    page.click("#inbox-button");
    page.until_page("inbox");
    until_entries(&page, 2);
    page.type_keys("G");
    page.until_says("#card-what", "Before lunch");
    page.type_keys(&key::ENTER.to_string());
    page.until_says("[data-for='checkpoints'] .checkpoint-diff h1", "Before lunch");
}

#[test]
fn a_filter_finds_rows_and_decides_nothing() {
    let page = Page::open();
    let root = page.project("api");
    let threads =
        ["alpha", "beta", "gamma"].map(|name| page.ask(&root, name, &format!("touch {name}")));
    page.open_inbox(3);
    page.until_shown("#approve");
    page.pass_guard();
    page.type_keys("/");
    page.until_at("[data-for='inbox'] .filter");
    // Letters are the field's, also those that decide elsewhere.
    page.type_keys("beta");
    page.until_rows(1);
    page.type_keys(&key::ENTER.to_string());
    page.type_keys("j");
    until_selected(&page, "beta");
    page.until_says("#card-what", "touch beta");
    assert!(threads.iter().all(|thread| page.waiting(thread).len() == 1));
    // What is decided is what is selected.
    page.pass_guard();
    page.type_keys("a");
    page.until_settled(&threads[1]);
    page.until_says("[data-for='inbox'] .none", "Nothing fits.");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_rows(2);
    page.until_page("inbox");
}

#[test]
fn a_list_goes_on_beyond_the_rows_that_are_here() {
    let page = Page::open();
    let root = repository(&page);
    let client = page.daemon.client();
    for count in 0..260 {
        let title = format!("Part {count:03}");
        client.call("rookery/handoffs/create", json!({"tree": root, "title": title}));
    }
    page.click("#inbox-button");
    page.until_says("#inbox-count", "1–200 of 260");
    let title_at = |at: i64| -> String {
        let found = page.js(
            "return [...document.querySelectorAll('#inbox .entry')].at(arguments[0]).textContent",
            &[json!(at)],
        );
        found.as_str().unwrap().split_once("Part ").unwrap().1[..3].to_owned()
    };
    let first = title_at(0);
    page.type_keys("g");
    page.type_keys("G");
    page.until_says("#inbox-count", "61–260 of 260");
    let last = title_at(-1);
    until_selected(&page, &format!("Part {last}"));
    page.until_says("#card-what", &format!("Part {last}"));
    assert_ne!(first, last);
    page.type_keys("k");
    until_selected(&page, &format!("Part {}", title_at(-2)));
    page.type_keys("g");
    page.until_says("#inbox-count", "1–200 of 260");
    until_selected(&page, &format!("Part {first}"));
    // By hand; what is selected then is the first that was not here.
    let known: Vec<Value> = (0..200).map(|at| json!(title_at(at))).collect();
    let more =
        "[...document.querySelectorAll('.more-rows')].find(b => b.checkVisibility()).click()";
    page.js(more, &[]);
    page.until_says("#inbox-count", "61–260 of 260");
    page.until(
        "a row is selected",
        "return !!document.querySelector('#inbox [aria-current]')",
        &[],
    );
    let selected = page.text("#inbox [aria-current]");
    let selected = &selected.split_once("Part ").unwrap().1[..3];
    assert!(!known.contains(&json!(selected)), "{selected}");
    page.type_keys("k");
    until_selected(&page, &format!("Part {}", known[199].as_str().unwrap()));
}
