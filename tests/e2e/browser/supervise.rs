//! Reviews, checkpoints, worktrees, the audit, settings and help.

use std::path::PathBuf;

use rookery_testkit::{git, wait_until};
use serde_json::json;

use crate::asker::SOON;
use crate::chromium::key;
use crate::page::Page;

/// A project that is a repository with one commit.
pub(crate) fn repository(page: &Page) -> PathBuf {
    let root = page.project("api");
    git(&root, &["init", "-q", "-b", "main"]);
    std::fs::write(root.join("auth.rs"), "fn one() {}\nfn two() {}\nfn three() {}\n").unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "one"]);
    root
}

/// Goes to a page by its key.
#[track_caller]
pub(crate) fn go(page: &Page, action: char, word: &str) {
    page.after_prefix(action);
    page.until_page(word);
}

#[test]
fn a_review_takes_comments_on_lines_and_requests_changes() {
    let page = Page::open();
    let root = repository(&page);
    std::fs::write(root.join("auth.rs"), "fn one() {}\nfn deux() {}\nfn three() {}\n").unwrap();
    std::fs::write(root.join("new.rs"), "fn new() {}\n").unwrap();
    let client = page.daemon.client();
    client.call("rookery/checkpoints/create", json!({"tree": root, "review": true}));
    page.shell();
    go(&page, 'V', "reviews");
    page.until_shown("[data-for='reviews'] .entry");
    page.type_keys(&format!("j{}", key::ENTER));
    page.until_page("review");
    page.until_shown("#review [data-file='new.rs']");
    page.until_shown("#review [data-line='2']");
    page.type_keys("]");
    page.until_shown("#review [data-line='1']");
    page.type_keys("[");
    page.until_shown("#review [data-old='2']");
    page.type_keys("j");
    page.type_keys("j");
    page.type_keys("c");
    page.until_at("#comment");
    page.type_line("why in French?");
    page.until_says("#review .comment-shown", "why in French?");
    page.pass_guard();
    page.type_keys("r");
    page.until_says("#review-state", "changes requested");
    let reviews = client.call("rookery/reviews/list", json!({}))["reviews"].clone();
    assert_eq!(reviews[0]["status"], "changes_requested");
    let comment = &reviews[0]["comments"][0];
    assert_eq!((&comment["path"], &comment["line"]), (&json!("auth.rs"), &json!(2)));
    assert_eq!(comment["text"], "why in French?");
}

#[test]
fn a_checkpoint_is_made_looked_at_and_put_back() {
    let page = Page::open();
    let root = repository(&page);
    page.shell();
    go(&page, 'K', "checkpoints");
    page.until_says("[data-for='checkpoints'] .none", "No checkpoint yet.");
    page.type_keys("n");
    page.until_shown("#dialog input");
    page.type_line("before");
    page.until_says("[data-for='checkpoints'] .entry", "before");
    std::fs::write(root.join("auth.rs"), "fn four() {}\n").unwrap();
    page.type_keys(&format!("j{}", key::ENTER));
    page.until_shown("[data-for='checkpoints'] [data-file='auth.rs']");
    page.until_says("[data-for='checkpoints'] .diff-code", "fn four");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_shown("[data-for='checkpoints'] .entry");
    page.type_keys("R");
    page.until_says("#dialog", "safety checkpoint");
    page.click("#yes");
    page.until_says("#message", "what was there is checkpoint");
    let back = std::fs::read_to_string(root.join("auth.rs")).unwrap();
    assert!(back.starts_with("fn one"));
    page.until(
        "the safety checkpoint is listed",
        "return [...document.querySelectorAll('[data-for=checkpoints] .entry')].filter(e => !e.dataset.file).length === 2",
        &[],
    );
}

#[test]
fn a_worktree_is_landed_and_the_audit_is_filtered() {
    let page = Page::open();
    let root = repository(&page);
    let client = page.daemon.client();
    let made = client.call("rookery/worktrees/create", json!({"repo": root, "branch": "topic"}));
    let tree = PathBuf::from(made["path"].as_str().unwrap());
    std::fs::write(tree.join("topic.rs"), "fn topic() {}\n").unwrap();
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "-qm", "topic"]);
    page.shell();
    go(&page, 'W', "worktrees");
    page.until_says("[data-for='worktrees'] .rows-list", "topic");
    page.type_keys("/topic");
    page.until(
        "the filter holds",
        "return document.querySelectorAll('[data-for=worktrees] .entry').length === 1",
        &[],
    );
    page.type_keys(&key::ENTER.to_string());
    page.type_keys("j");
    page.type_keys("l");
    page.until_says("#dialog", "Land its commits how?");
    page.type_keys("m");
    wait_until("it is landed", SOON, || root.join("topic.rs").exists());
    // Two decisions, of which the filter finds one.
    for command in ["touch first", "touch second"] {
        let thread = page.ask(&root, command, command);
        let id = page.until_waits(&thread);
        client.call("rookery/requests/answer", json!({"id": id, "approved": true}));
        page.until_settled(&thread);
    }
    page.type_keys(&key::ESCAPE.to_string());
    page.type_keys(&key::ESCAPE.to_string());
    page.until_page("workspace");
    go(&page, 'L', "audit");
    page.until_says("[data-for='audit'] .rows-list", "touch second");
    page.type_keys("/");
    page.type_keys("touch first");
    page.until(
        "only that one is listed",
        "const r = [...document.querySelectorAll('[data-for=audit] .entry')]; return r.length > 0 && r.every(e => e.textContent.includes('touch first'))",
        &[],
    );
}

#[test]
fn help_runs_what_it_lists_and_a_theme_is_previewed() {
    let page = Page::open();
    page.shell();
    go(&page, '?', "help");
    page.until_says("[data-for='help'] .rows-list", "Split Right");
    page.type_keys("split below");
    page.until(
        "it is filtered",
        "const r = document.querySelectorAll('[data-for=help] .entry'); return r.length === 1 && r[0].textContent.includes('prefix') === false && r[0].textContent.includes('ctrl+alt+b')",
        &[],
    );
    page.type_keys(&key::ENTER.to_string());
    page.until_page("workspace");
    page.until("it is split", "return document.querySelectorAll('.pane').length === 2", &[]);
    go(&page, ',', "settings");
    let ground = "return getComputedStyle(document.documentElement).getPropertyValue('--bg')";
    let before = page.js(ground, &[]);
    page.click("#set-theme");
    page.until_shown("#palette [role=option]");
    page.type_keys(&key::DOWN.to_string().repeat(3));
    let changed = format!("{} !== arguments[0]", ground);
    page.until("it is previewed", &changed, std::slice::from_ref(&before));
    page.type_keys(&key::ESCAPE.to_string());
    let same = format!("{} === arguments[0]", ground);
    page.until("it is taken back", &same, &[before]);
}

#[test]
fn settings_keep_the_keyboard_and_a_review_is_opened_from_its_card() {
    let page = Page::open();
    let root = repository(&page);
    std::fs::write(root.join("auth.rs"), "fn other() {}\n").unwrap();
    page.shell();
    go(&page, ',', "settings");
    page.until_shown("#set-wheel-rows");
    page.js("document.getElementById('set-wheel-rows').focus()", &[]);
    // The status changes below it.
    let client = page.daemon.client();
    client.call("rookery/checkpoints/create", json!({"tree": root, "review": true}));
    let thread = page.ask(&root, "Touch", "touch made");
    page.until("it is counted", "return document.title.startsWith('(1)')", &[]);
    page.settle();
    page.until_at("#set-wheel-rows");
    assert!(!page.waiting(&thread).is_empty());
    // A project below which a thread waits says so.
    page.until_shown("#sidebar .project[data-mood='waiting']");
    page.click("#inbox-button");
    page.until_shown(
        "#inbox [data-kind='review_requested'] .row-main, #inbox [data-kind='review'] .row-main",
    );
    page.until_says("#inbox-count", "1 wait");
    let item =
        page.js("return document.querySelector('#inbox [data-kind^=review]').dataset.item", &[]);
    page.js("location.hash = '#go=' + encodeURIComponent(JSON.stringify({page: 'inbox', item: arguments[0]}))", &[item]);
    page.until_shown("#open");
    page.until(
        "the card is the review's",
        "return document.querySelector('#card').dataset.kind.startsWith('review')",
        &[],
    );
    page.click("#open");
    page.until_page("review");
}
