//! The five jobs of a face, one after the other in one sitting, by the keys that are named for them: glance, decide,
//! dive, converse, supervise.

use std::fs;
use std::path::{Path, PathBuf};

use rookery_testkit::{Caller, Outer, PATIENCE, TestDaemon, git, wait_until};
use serde_json::{Value, json};

use super::{Face, active, agent, pages, size, terminals, wait_page, write_steps};
use crate::roder_link::{Peer, script};

/// A chord with Control and Alt, as a terminal without a modern protocol sends it.
fn ctrl_alt(letter: u8) -> [u8; 2] {
    [0x1b, letter & 0x1f]
}

fn repository(daemon: &TestDaemon) -> PathBuf {
    let repo = daemon.home().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q", "-b", "main"]);
    for name in ["a", "b"] {
        fs::write(repo.join(name), "one\nsame\n").unwrap();
    }
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    fs::canonicalize(repo).unwrap()
}

fn run_in(daemon: &TestDaemon, dir: &Path, args: &[&str]) -> String {
    let mut command = daemon.home().command(rookery_testkit::rookery_binary());
    command.current_dir(dir).args(args);
    rookery_testkit::Finished::of(command).success()
}

fn requests(client: &Caller) -> usize {
    let list = client.call("rookery/requests/list", json!({}));
    list["requests"].as_array().unwrap().len()
}

/// An agent that waits for leave to write a file of this name.
fn asking(daemon: &TestDaemon, name: &str) -> (Peer, String, PathBuf) {
    let (mut roder, thread, dir) = agent(daemon, name);
    let steps = write_steps(&format!("{name}-file"), "x\n");
    roder.turn(&thread, &format!("{name} {steps}"));
    roder.wait_told("thread/approvalRequested");
    (roder, thread, dir.join(format!("{name}-file")))
}

/// Goes to a row of the inbox by the arrows; its card is beside it.
#[track_caller]
fn to_row(face: &Face, name: &str) {
    let place = |text: &str, is_it: &dyn Fn(&str) -> bool| {
        // Beside the sidebar, and before the card.
        let list = |line: &str| line.split('│').nth(1).unwrap_or_default().to_owned();
        let mut rows = text.lines().map(list);
        rows.position(|row| row.contains("approval") && is_it(&row))
    };
    for _ in 0..20 {
        let text = face.pty.text();
        let wanted = place(&text, &|line| line.contains(name));
        let here = place(&text, &|line| line.contains('›'));
        match (wanted, here) {
            (Some(wanted), Some(here)) if wanted == here => {
                face.wait("a approve  d deny…  A remember…  s later  o open");
                return;
            }
            (Some(wanted), Some(here)) => {
                face.send(if wanted > here { "\x1b[B" } else { "\x1b[A" });
                wait_until("the row is another", PATIENCE, || {
                    place(&face.pty.text(), &|line| line.contains('›')) != Some(here)
                });
            }
            // What was decided is gone, and nothing is selected in its place.
            (Some(_), None) => {
                face.send("g");
                wait_until("a row is selected", PATIENCE, || {
                    place(&face.pty.text(), &|line| line.contains('›')).is_some()
                });
            }
            (None, _) => wait_until("the row is there", PATIENCE, || {
                place(&face.pty.text(), &|line| line.contains(name)).is_some()
            }),
        }
    }
    panic!("{name} is never selected:\n{}", face.pty.text());
}

/// The list is shown, and this is the row that is selected: what asks for attention is said at the edge as
/// well, and keys that come before the list are not taken for it.
#[track_caller]
fn wait_row(face: &Face, name: &str) {
    wait_until("the row is selected", PATIENCE, || {
        face.pty.text().lines().any(|line| line.contains('›') && line.contains(name))
    });
}

/// Who waits: the sidebar and the head say so, and two keys lead there.
fn glance(client: &Caller, face: &Face, count: usize) {
    face.wait(&format!("{count} wait"));
    let text = face.pty.text();
    let head = text.lines().next().unwrap();
    assert!(head.contains(&format!("◆{count}")), "{head}");
    assert_eq!(text.lines().filter(|line| line.contains("◆>")).count(), count, "{text}");
    face.send(ctrl_alt(b'n'));
    wait_page(client, "thread");
    face.wait("waits: tab, then a approve");
    let first = face.pty.text();
    face.send(ctrl_alt(b'n'));
    wait_until("it is the next", PATIENCE, || face.pty.text() != first);
    face.wait("waits: tab, then a approve");
    face.send(ctrl_alt(b'o'));
    wait_page(client, "inbox");
    face.wait(&format!("Inbox  {count} wait"));
}

/// Approves and remembers. News of the request before may close the card's guard again, and then Enter does nothing.
fn remember(face: &Face, file: &Path) {
    let asks = || face.pty.text().contains("enter approve and remember");
    face.press_until("A", asks);
    assert!(!file.exists());
    wait_until("it is done", PATIENCE, || {
        face.press_until("A", || file.exists() || asks());
        face.send("\r");
        wait_until("Enter is answered", PATIENCE, || file.exists() || !asks());
        file.exists()
    });
}

/// Approves, denies with a reason, remembers, puts off, opens.
fn decide(client: &Caller, face: &Face, files: &[PathBuf; 4], threads: &[String; 4]) {
    to_row(face, "apple");
    face.send("\r");
    // All of it, and nothing is decided by that.
    face.wait("in /");
    assert_eq!(requests(client), 4);
    face.decide_until("a", || files[0].exists());
    face.wait("approved by");
    face.send("\x1b");

    to_row(face, "berry");
    face.press_until("d", || face.pty.text().contains("deny, because:"));
    face.send("not that one\r");
    wait_until("it is denied", PATIENCE, || requests(client) == 2);
    assert!(!files[1].exists());

    to_row(face, "cherry");
    remember(face, &files[2]);

    to_row(face, "damson");
    let is_later = || {
        let list = client.call("rookery/requests/list", json!({}));
        list["requests"].as_array().unwrap().iter().any(|one| one["deferred"] == true)
    };
    assert!(!is_later());
    face.press_until("s", is_later);
    assert_eq!(requests(client), 1, "it waits on");
    wait_until("its row says so", PATIENCE, || {
        // Beside the sidebar, and before the card: that one offers it as a key.
        let text = face.pty.text();
        let mut rows = text.lines().filter_map(|line| line.split('│').nth(1));
        rows.any(|row| row.contains("damson") && row.contains(" later"))
    });
    to_row(face, "damson");
    face.press_until("o", || pages(client) == [json!("thread")]);
    face.wait("1 waits: a approve d deny (after tab)");
    let read = client.call("rookery/threads/read", json!({"thread": threads[1]}));
    assert!(read.to_string().contains("not that one"), "{read}");
    face.send("\t");
    face.wait("a approve  d deny…");
    face.decide_until("a", || files[3].exists());
    face.send("\x1b");
    face.wait("enter send");
}

/// Tabs, panes, finding, copying.
fn dive(client: &Caller, face: &Face, first: u64, second: u64) {
    let shown = |id: u64| move || active(client) == Some(id);
    face.prefix("1");
    wait_until("the first tab", PATIENCE, shown(first));
    wait_page(client, "workspace");
    face.send(ctrl_alt(b'f'));
    wait_until("the next", PATIENCE, shown(second));
    face.send(ctrl_alt(b'r'));
    wait_until("the one before", PATIENCE, shown(first));
    // The second pill of the strip.
    let text = face.pty.text();
    let col = text.lines().next().unwrap().chars().position(|sign| sign == '2');
    let at = col.expect("the second pill") + 1;
    face.send(format!("\x1b[<0;{at};1M\x1b[<0;{at};1m"));
    wait_until("the one that is clicked", PATIENCE, shown(second));
    face.send("typed here\r");
    client.wait_text(second, "typed here");

    face.send(ctrl_alt(b'v'));
    wait_until("it is split", PATIENCE, || terminals(client).len() == 3);
    let right = terminals(client).into_iter().find(|id| ![first, second].contains(id)).unwrap();
    wait_until("it has the keys", PATIENCE, shown(right));
    face.send(ctrl_alt(b'b'));
    wait_until("it is split again", PATIENCE, || terminals(client).len() == 4);
    face.prefix("\x1b[D");
    wait_until("the pane at the left", PATIENCE, shown(second));
    let before = size(client, second);
    face.send(ctrl_alt(b'z'));
    wait_until("all the room", PATIENCE, || size(client, second).0 > before.0);
    face.prefix("/");
    face.send("row-05");
    face.wait("1 of 10");
    face.send("\r");
    face.wait("2 of 10");
    face.send("\x1b");
    face.wait_gone("2 of 10");
    face.prefix("[");
    face.wait("copy mode");
    face.send("?row-190\r");
    wait_until("the row is found", PATIENCE, || {
        let row = usize::from(face.pty.snapshot().cursor.row);
        face.pty.text().lines().nth(row).is_some_and(|line| line.contains("row-190"))
    });
    face.send("V\r");
    face.wait("sent to your terminal");
    face.wait_gone("copy mode");
    face.prefix("\x1b[F");
    face.wait("row-199");
    // The wheel goes back, three rows at a time, and a drag copies what is under it.
    face.step_until("\x1b[<64;40;10M", || !face.pty.text().contains("row-199"));
    face.prefix("\x1b[F");
    face.wait("row-199");
    let text = face.pty.text();
    let row = text.lines().position(|line| line.contains("row-199")).unwrap() + 1;
    face.send(format!("\x1b[<0;24;{row}M\x1b[<32;28;{row}M\x1b[<0;30;{row}m"));
    face.wait("sent to your terminal");
    face.send(ctrl_alt(b'z'));
    wait_until("its part again", PATIENCE, || size(client, second) == before);
}

/// A thread that is begun, steered, decided in and stopped here.
fn converse(client: &Caller, face: &Face, repo: &Path) {
    let write = json!({"path": "said", "content": "x\n"});
    let list = json!({"command": "seq -f output-%g 1 100"});
    let steps = json!([
        {"tool": "shell", "args": list},
        {"text": "I will write it.", "tool": "write_file", "args": write},
    ]);
    face.prefix("t");
    face.wait("What should the agent do?");
    face.send(script(&steps));
    face.send("\r");
    wait_page(client, "thread");
    face.wait("waits: tab, then a approve");
    // Letters are the message's; Enter steers.
    face.send("also ad A1\r");
    face.wait("you  also ad A1");
    assert!(!repo.join("said").exists());
    face.send("\t");
    face.wait("a approve  d deny…");
    face.decide_until("a", || repo.join("said").exists());
    // Who steers is answered, so the script ends there.
    face.wait("hello from roder");
    // Off the request, and up to the call whose output folds.
    let is_at_call =
        || face.pty.text().lines().any(|line| line.contains('›') && line.contains("exit 0"));
    face.step_until("k", is_at_call);
    face.send("\t");
    face.wait("output-100");
    face.send("\t");
    face.wait_gone("output-100");
    face.send("\x1b");
    face.wait("enter send");
    face.send(script(&json!([{"hang": true}])));
    face.send("\r");
    face.wait("enter steer");
    face.send("\x1b");
    face.wait("esc again stops");
    face.send("\x1b");
    face.wait("enter send");
}

/// Reviews, checkpoints, work trees and the audit log.
fn supervise(daemon: &TestDaemon, client: &Caller, face: &Face, repo: &Path, tree: &Path) {
    for (name, text) in [("a", "two\nsame\n"), ("b", "one\nother\n")] {
        fs::write(repo.join(name), text).unwrap();
    }
    let review = run_in(daemon, repo, &["review", "request", "look", "at", "it"]);
    let review = json!({"id": review.trim()});
    let status = || client.call("rookery/reviews/get", review.clone())["status"].clone();
    face.prefix("V");
    wait_page(client, "reviews");
    wait_row(face, "look at it");
    face.send("\r");
    wait_page(client, "review");
    face.wait("+ two");
    face.send("]");
    face.wait("+ other");
    face.send("[");
    face.wait("+ two");
    face.send("jk");
    face.send("c");
    face.wait("enter comment");
    face.send("why two\r");
    face.wait("you: why two");
    face.decide_until("r", || status() == "changes_requested");
    face.send("s");
    wait_page(client, "reviews");
    wait_row(face, "look at it");
    face.send("\r");
    wait_page(client, "review");
    face.wait("+ two");
    face.send("]");
    face.wait("+ other");
    face.decide_until("a", || status() == "approved" || face.pty.text().contains("a again"));
    face.decide_until("a", || status() == "approved");

    face.prefix("K");
    wait_page(client, "checkpoints");
    wait_row(face, "For review");
    face.send("n");
    face.wait("its title");
    face.send("before the rest\r");
    face.wait("checkpoint made");
    fs::write(repo.join("a"), "spoiled\n").unwrap();
    wait_row(face, "before the rest");
    face.send("\r");
    face.wait("spoiled");
    face.send("\x1b");
    face.wait("Checkpoints");
    face.send("R");
    face.wait("becomes a safety checkpoint first");
    face.send("\r");
    face.wait("restored; what was there is checkpoint");
    assert_eq!(fs::read_to_string(repo.join("a")).unwrap(), "two\nsame\n");

    git(repo, &["add", "."]);
    git(repo, &["commit", "-qm", "second"]);
    face.prefix("W");
    wait_page(client, "worktrees");
    let on_tree = || {
        let text = face.pty.text();
        text.lines().any(|line| line.contains('›') && line.contains("side"))
    };
    wait_row(face, "/");
    face.step_until("j", on_tree);
    face.send("l");
    face.wait("m merge");
    face.send("s");
    face.wait("landed 1 commits");
    face.step_until("j", on_tree);
    face.send("x");
    face.wait("Remove this worktree?");
    face.send("\r");
    wait_until("it is gone", PATIENCE, || !tree.exists());

    face.prefix("L");
    wait_page(client, "audit");
    face.wait("denied");
    face.send("/denied");
    face.wait_gone("approved");
    face.send("\r");
}

#[test]
fn the_five_jobs_in_one_sitting() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let repo = repository(&daemon);
    client.call("rookery/projects/create", json!({"name": "repo", "root": repo}));
    run_in(&daemon, &repo, &["worktree", "create", "--branch", "side", "../tree"]);
    let listed = client.call("rookery/worktrees/list", json!({"repo": repo}));
    let of_side = |tree: &&Value| tree["branch"].as_str().is_some_and(|it| it.contains("side"));
    let found = listed["worktrees"].as_array().unwrap().iter().find(of_side).unwrap().clone();
    let tree = PathBuf::from(found["path"].as_str().unwrap());
    fs::write(tree.join("c"), "new\n").unwrap();
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "-qm", "work"]);

    let first = client.open_sh("echo first; exec cat");
    client.wait_text(first, "first");
    let rows = "i=0; while [ $i -lt 200 ]; do printf 'row-%03d\\n' $i; i=$((i+1)); done; exec cat";
    let second = client.open_sh(rows);
    client.wait_text(second, "row-199");
    client.call("rookery/terminals/activate", json!({"terminal": first}));
    let asking = ["apple", "berry", "cherry", "damson"].map(|name| asking(&daemon, name));
    let files = asking.each_ref().map(|(_, _, file)| file.clone());
    let threads = asking.each_ref().map(|(_, thread, _)| thread.clone());

    let face = Face::open_in(&daemon, &[], &Outer { size: (40, 160), ..Outer::default() });
    face.wait("first");
    glance(&client, &face, 4);
    decide(&client, &face, &files, &threads);
    dive(&client, &face, first, second);
    converse(&client, &face, &repo);
    supervise(&daemon, &client, &face, &repo, &tree);
    face.leave();
}
