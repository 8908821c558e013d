//! Pages of the window by the keyboard alone: deciding, answering, conversing, supervising, and buttons
//! under the mouse.

use std::fs;

use rookery_testkit::{Caller, Home, PATIENCE, TestDaemon, git, wait_until};
use serde_json::{Value, json};

use super::{Display, Window};
use crate::{
    face::{Face, agent, write_steps},
    roder_link::script,
};

fn requests(client: &Caller) -> Vec<Value> {
    client.call("rookery/requests/list", json!({}))["requests"].as_array().unwrap().clone()
}

/// A home in which cards take keys at once.
fn without_guard() -> Home {
    guarded(0)
}

/// A home in which cards take keys `ms` milliseconds after they are shown.
fn guarded(ms: u32) -> Home {
    let home = Home::new();
    let dir = home.join("config/roost");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.conf"), format!("answer-guard-ms = {ms}\n")).unwrap();
    home
}

#[test]
fn requests_are_decided_in_the_inbox() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let window = Window::open(&daemon, &display);
    let turn = roder.turn(&thread, &write_steps("yes", "x\n"));
    window.wait("one waits", |seen| seen["waiting"] == 1);
    // Nothing opens by itself.
    window.wait_page("workspace");
    window.keys(&["alt+shift+i"]);
    window.wait_page("inbox");
    window.press_until("a", || dir.join("yes").exists());
    roder.until_over(&turn);
    window.wait("none waits", |seen| seen["waiting"] == 0);
    window.keys(&["q"]);
    window.wait_page("workspace");

    let turn = roder.turn(&thread, &write_steps("no", "x\n"));
    window.wait("another waits", |seen| seen["waiting"] == 1);
    window.keys(&["alt+shift+i"]);
    window.wait_page("inbox");
    let client = daemon.client();
    // A denial has a reason, and Enter ends it; letters of the reason decide nothing.
    window.press_until("d", || {
        window.trace.last().is_some_and(|seen| seen["places"]["Field(Reason, 0)"].is_array())
    });
    window.types("a");
    window.keys(&["Return"]);
    wait_until("it is denied", PATIENCE, || requests(&client).is_empty());
    roder.until_over(&turn);
    assert!(!dir.join("no").exists());
}

#[test]
fn a_key_within_the_guard_decides_nothing() {
    let daemon = TestDaemon::start_in(guarded(3000));
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let turn = roder.turn(&thread, &write_steps("made", "x\n"));
    let window = Window::open_with(&daemon, &display, &["--page", "inbox"], &[]);
    window.wait("its card is there", |seen| seen["places"]["Button(Approve)"].is_array());
    window.keys(&["a"]);
    window.wait("it says so", |seen| seen["message"] == "read it first");
    assert!(!dir.join("made").exists());
    window.press_until("a", || dir.join("made").exists());
    roder.until_over(&turn);
}

#[test]
fn questions_are_answered_by_digit_and_by_text() {
    let daemon = TestDaemon::start_in(without_guard());
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, _) = agent(&daemon, "work");
    let option = |label: &str| json!({ "label": label, "description": label });
    let question = |id: &str| {
        json!({
            "header": "H", "id": id, "question": format!("Which {id}?"),
            "options": [option("mdBook"), option("rustdoc")],
        })
    };
    let args = json!({ "questions": [question("format"), question("place")] });
    let steps = json!([{ "tool": "request_user_input", "args": args }, { "text": "thanks" }]);
    let turn = roder.turn(&thread, &script(&steps));
    let window = Window::open_with(&daemon, &display, &["--page", "inbox"], &[]);
    window.wait("one waits", |seen| seen["page"] == "inbox" && seen["waiting"] == 1);
    let client = daemon.client();
    window.keys(&["2"]);
    window.keys(&["3"]);
    window.types("in the attic");
    window.press_until("Return", || requests(&client).is_empty());
    roder.until_over(&turn);
    let stored = roder.stored(&thread).to_string();
    assert!(stored.contains("in the attic") && stored.contains("rustdoc"), "{stored}");
}

#[test]
fn a_thread_is_begun_steered_and_stopped() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let root = daemon.home().path();
    client.call("rookery/projects/create", json!({ "name": "work", "root": root }));
    let window = Window::open(&daemon, &display);
    window.keys(&["alt+shift+n"]);
    window.wait_over(Some("new"));
    window.types(&script(&json!([{ "text": "on it" }, { "hang": true }])));
    window.keys(&["Return"]);
    window.wait_page("thread");
    let mut roder = crate::roder_link::Peer::to(&daemon);
    let list = roder.call("thread/list", json!({}));
    let thread = list["data"][0]["id"].as_str().unwrap().to_owned();
    window.types("also this");
    window.wait("it can be sent", |seen| seen["places"]["Button(Send)"].is_array());
    window.keys(&["Return"]);
    window.wait("it is sent", |seen| seen["places"]["Button(Stop)"].is_array());
    let is_running = |roder: &mut crate::roder_link::Peer| {
        let stored = roder.stored(&thread);
        stored["turns"].as_array().unwrap().iter().any(|turn| turn["status"] == "inProgress")
    };
    window.keys(&["Escape", "Escape"]);
    wait_until("it was stopped", PATIENCE, || !is_running(&mut roder));
    // The turn never took it up; it is kept all the same.
    assert!(roder.stored(&thread).to_string().contains("also this"));
}

fn repository(daemon: &TestDaemon) -> std::path::PathBuf {
    let repo = daemon.home().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q", "-b", "main"]);
    fs::write(repo.join("a"), "one\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    fs::canonicalize(repo).unwrap()
}

#[test]
fn a_review_is_commented_and_decided() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let repo = repository(&daemon);
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    let dir = repo.to_str().unwrap();
    let opened = daemon.rookery(&["open", "-C", dir, "--title", "api", "--", "cat"]).success();
    let agent: u64 = opened.trim().parse().unwrap();
    fs::write(repo.join("a"), "two\n").unwrap();
    let mut asks = daemon.home().command(rookery_testkit::rookery_binary());
    asks.current_dir(&repo).args(["review", "request", "look", "at", "it"]);
    let review = rookery_testkit::Finished::of(asks).success().trim().to_owned();
    let window = Window::open_with(&daemon, &display, &["--page", "reviews"], &[]);
    window.wait_page("reviews");
    window
        .press_until("Return", || window.trace.last().is_some_and(|seen| seen["page"] == "review"));
    let told = || client.call("rookery/reviews/get", json!({ "id": review }));
    // The lines come after the page; until then there is nothing to comment.
    window.wait("the diff is there", |seen| seen["places"]["Line(1)"].is_array());
    window.keys(&["j", "c"]);
    window.types("why two");
    window.keys(&["Return"]);
    wait_until("a comment is made", PATIENCE, || {
        told()["comments"].as_array().is_some_and(|it| !it.is_empty())
    });
    window.press_until("r", || told()["status"] == "changes_requested");
    client.wait_text(agent, "why two");
    window.press_until("a", || told()["status"] == "approved");
}

#[test]
fn checkpoints_are_made_and_restored_and_other_lists_are_read() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let repo = repository(&daemon);
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    let window = Window::open_with(&daemon, &display, &["--page", "checkpoints"], &[]);
    window.wait_page("checkpoints");
    let made = || {
        let list = client.call("rookery/checkpoints/list", json!({}));
        list["checkpoints"].as_array().unwrap().len()
    };
    fs::write(repo.join("a"), "kept\n").unwrap();
    window.keys(&["n"]);
    window.types("before");
    window.keys(&["Return"]);
    wait_until("it is made", PATIENCE, || made() == 1);
    fs::write(repo.join("a"), "spoiled\n").unwrap();
    window.press_until("shift+r", || {
        window.trace.last().is_some_and(|seen| seen["over"] == "dialog")
    });
    window.keys(&["Return"]);
    wait_until("it is restored", PATIENCE, || {
        fs::read_to_string(repo.join("a")).is_ok_and(|text| text == "kept\n")
    });
    wait_until("what was there is kept", PATIENCE, || made() == 2);
    for page in ["worktrees", "audit", "reviews", "threads"] {
        window.keys(&["alt+shift+p"]);
        window.wait_over(Some("palette"));
        window.types(&format!("open {page}"));
        window.keys(&["Return"]);
        window.wait_page(page);
        window.keys(&["q"]);
        window.wait_page("workspace");
    }
}

/// A thread that waits for an approval, shown in a window.
fn open_thread(window: &Window<'_>) {
    window.wait_page("threads");
    window
        .press_until("Return", || window.trace.last().is_some_and(|seen| seen["page"] == "thread"));
}

/// The name of a place whose name begins and ends like this.
fn named(seen: &Value, begin: &str, end: &str) -> Option<String> {
    let places = seen["places"].as_object()?;
    places.keys().find(|name| name.starts_with(begin) && name.ends_with(end)).cloned()
}

#[test]
fn buttons_of_a_request_in_a_thread_decide_that_request_and_type_nothing() {
    let daemon = TestDaemon::start_in(without_guard());
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let turn = roder.turn(&thread, &write_steps("yes", "x\n"));
    let window = Window::open_with(&daemon, &display, &["--page", "threads"], &[]);
    window.wait("one waits", |seen| seen["waiting"] == 1);
    open_thread(&window);
    let seen = window
        .wait("the request is there", |seen| named(seen, "ItemButton(", "Approve)").is_some());
    let approve = named(&seen, "ItemButton(", "Approve)").unwrap();
    // The first press only goes there.
    window.clicks_place(&approve);
    window.wait("it says so", |seen| seen["message"] == "read it first");
    // Whoever goes on with the message is not deciding.
    window.clicks_place("Field(Composer, 0)");
    window.types("add");
    let client = daemon.client();
    assert_eq!(requests(&client).len(), 1);
    assert!(!dir.join("yes").exists());
    window.clicks_place(&approve);
    wait_until("it is approved", PATIENCE, || {
        if !dir.join("yes").exists() {
            window.clicks_place(&approve);
        }
        dir.join("yes").exists()
    });
    roder.until_over(&turn);
}

#[test]
fn a_long_request_in_a_thread_is_read_to_its_end_before_it_is_approved() {
    // With a guard, so that no key that is pressed again goes on to approve.
    let daemon = TestDaemon::start_in(guarded(1000));
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let content: String = (0..400).map(|line| format!("line {line}\n")).collect();
    let turn = roder.turn(&thread, &write_steps("long", &content));
    let window = Window::open_with(&daemon, &display, &["--page", "threads"], &[]);
    window.wait("one waits", |seen| seen["waiting"] == 1);
    open_thread(&window);
    window.wait("the request is there", |seen| named(seen, "ItemButton(", "Approve)").is_some());
    window.keys(&["Tab"]);
    // Its card begins at the top, so its buttons are there and its end is not.
    let was_said = |text: &str| window.trace.lines().iter().any(|seen| seen["message"] == text);
    window.press_until("a", || was_said("a again approves"));
    assert!(!dir.join("long").exists());
    window.press_until("a", || dir.join("long").exists());
    roder.until_over(&turn);
    assert_eq!(fs::read_to_string(dir.join("long")).unwrap(), content);
}

#[test]
fn what_asks_is_said_at_the_edge_of_pages_too() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let window = Window::open_with(&daemon, &display, &["--page", "threads"], &[]);
    window.wait_page("threads");
    roder.turn(&thread, &write_steps("made", "x\n"));
    let seen = window.wait("it is said", |seen| seen["places"]["Toast(0)"].is_array());
    // It lies over nothing that is pressed.
    let at = |name: &str, index: usize| seen["places"][name][index].as_f64().unwrap();
    let toast = (at("Toast(0)", 0), at("Toast(0)", 1));
    for name in seen["places"].as_object().unwrap().keys() {
        let apart = (at(name, 0) - toast.0).abs() > 150.0 || (at(name, 1) - toast.1).abs() > 28.0;
        assert!(apart || !name.starts_with("Button("), "{name} is below {toast:?}");
    }
    window.clicks_place("Toast(0)");
    window.wait("its card is shown", |seen| {
        seen["page"] == "inbox" && seen["places"]["Button(Approve)"].is_array()
    });
    assert!(!dir.join("made").exists());
}

#[test]
fn what_asks_is_said_beside_a_cursor_in_the_last_row() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("echo go; read x; printf '\\033[999;1Hprompt> '; exec cat");
    client.wait_text(id, "go");
    let (mut roder, thread, _) = agent(&daemon, "work");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    // Only now it is as high as the window has room for.
    let rows = || client.terminal(id)["size"]["rows"].as_u64().unwrap();
    wait_until("it has the window's size", PATIENCE, || rows() > 30);
    client.write(id, "\r");
    client.wait_text(id, "prompt");
    roder.turn(&thread, &write_steps("made", "x\n"));
    let seen = window.wait("it is said", |seen| seen["places"]["Toast(0)"].is_array());
    let y = seen["places"]["Toast(0)"][1].as_f64().unwrap();
    assert!(y < 600.0, "it is not over what is typed: {y}");
}

#[test]
fn a_new_thread_makes_way_for_another_page_and_comes_back() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let root = daemon.home().path();
    client.call("rookery/projects/create", json!({ "name": "work", "root": root }));
    let window = Window::open(&daemon, &display);
    window.clicks_place("Button(Thread)");
    window.wait_over(Some("new"));
    window.clicks_place("Button(Mode)");
    window.clicks_place("Field(Composer, 0)");
    window.types("plan it");
    // Going elsewhere shows what is there, and keeps what was written.
    window.keys(&["alt+shift+i"]);
    window.wait("the inbox is seen", |seen| seen["page"] == "inbox" && seen["over"].is_null());
    window.keys(&["alt+shift+n"]);
    window.wait_over(Some("new"));
}

#[test]
fn a_filter_takes_the_keyboard_by_a_click() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let window = Window::open_with(&daemon, &display, &["--page", "help"], &[]);
    window.wait_page("help");
    window.clicks_place("Field(Filter, 0)");
    window.types("split below");
    window.wait("one action is left", |seen| {
        let rows = seen["places"].as_object().unwrap();
        rows.keys().filter(|name| name.starts_with("Row(")).count() == 1
    });
}

#[test]
fn a_worktree_is_landed_by_the_mouse_as_one_commit() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let repo = repository(&daemon);
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    let made = client.call("rookery/worktrees/create", json!({ "repo": repo, "branch": "topic" }));
    let tree = std::path::PathBuf::from(made["path"].as_str().unwrap());
    for name in ["b", "c"] {
        fs::write(tree.join(name), "new\n").unwrap();
        git(&tree, &["add", "."]);
        git(&tree, &["commit", "-qm", name]);
    }
    let window = Window::open_with(&daemon, &display, &["--page", "worktrees"], &[]);
    window.wait_page("worktrees");
    // The first is the repository's own checkout.
    window.clicks_place("Row(1)");
    window.clicks_place("Button(Land)");
    window.wait_over(Some("dialog"));
    window.clicks_place("Answer(0)");
    wait_until("it is landed", PATIENCE, || repo.join("c").exists());
    window.wait_over(None);
    // The files are there before the commit is.
    let commits = || git(&repo, &["rev-list", "--count", "main"]).trim() == "2";
    wait_until("two became one", PATIENCE, commits);
}

#[test]
fn a_worktree_is_landed_by_keys() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let repo = repository(&daemon);
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    let made = client.call("rookery/worktrees/create", json!({ "repo": repo, "branch": "topic" }));
    let tree = std::path::PathBuf::from(made["path"].as_str().unwrap());
    fs::write(tree.join("b"), "new\n").unwrap();
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "-qm", "b"]);
    let window = Window::open_with(&daemon, &display, &["--page", "worktrees"], &[]);
    window.wait("both are listed", |seen| seen["places"]["Row(1)"].is_array());
    window.keys(&["j", "l"]);
    window.wait_over(Some("dialog"));
    window.keys(&["s"]);
    wait_until("it is landed", PATIENCE, || repo.join("b").exists());
}

#[test]
fn the_diff_of_a_checkpoint_is_read_and_the_audit_log_filtered() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let repo = repository(&daemon);
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    let (mut roder, thread, _) = agent(&daemon, "work");
    for (name, verdict) in [("good", "approve"), ("bad", "deny")] {
        let turn = roder.turn(&thread, &write_steps(name, "x\n"));
        roder.wait_told("thread/approvalRequested");
        let request = requests(&client)[0]["id"].as_str().unwrap().to_owned();
        daemon.rookery(&[verdict, &request]).success();
        roder.until_over(&turn);
    }
    fs::write(repo.join("a"), "two\n").unwrap();
    let window = Window::open_with(&daemon, &display, &["--page", "checkpoints"], &[]);
    window.wait_page("checkpoints");
    window.keys(&["n"]);
    window.types("before");
    window.keys(&["Return"]);
    window.wait("it is listed", |seen| seen["places"]["Row(0)"].is_array());
    fs::write(repo.join("a"), "three\n").unwrap();
    window.press_until("Return", || {
        window.trace.last().is_some_and(|seen| seen["places"]["Line(1)"].is_array())
    });
    window.keys(&["Escape", "q"]);
    window.wait_page("workspace");
    window.keys(&["alt+shift+p"]);
    window.wait_over(Some("palette"));
    window.types("open audit");
    window.keys(&["Return"]);
    window.wait_page("audit");
    let rows = |seen: &Value| {
        let places = seen["places"].as_object().unwrap();
        places.keys().filter(|name| name.starts_with("Row(")).count()
    };
    let all = rows(&window.wait("both are listed", |seen| rows(seen) >= 2));
    window.keys(&["slash"]);
    window.types("denied");
    window.wait("fewer are left", |seen| (1..all).contains(&rows(seen)));
}

#[test]
fn a_message_at_the_edge_leads_to_what_it_is_about() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let window = Window::open(&daemon, &display);
    window.keys(&["ctrl+1"]);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    roder.turn(&thread, &write_steps("made", "x\n"));
    window.clicks_place("Toast(0)");
    window.wait("its card is shown", |seen| {
        seen["page"] == "inbox" && seen["places"]["Button(Approve)"].is_array()
    });
    assert!(!dir.join("made").exists());
}

#[test]
fn a_request_that_is_approved_here_is_settled_in_the_other_face() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let window = Window::open_with(&daemon, &display, &["--page", "inbox"], &[]);
    window.wait_page("inbox");
    let other = Face::open_in(&daemon, &["--page", "inbox"], &rookery_testkit::Outer::default());
    let turn = roder.turn(&thread, &write_steps("made", "x\n"));
    other.wait("a approve");
    window.wait("one waits", |seen| seen["waiting"] == 1);
    window.press_until("a", || dir.join("made").exists());
    roder.until_over(&turn);
    // It says by whom, and its keys are dead.
    other.wait("approved by");
    other.wait_gone("a approve");
}
