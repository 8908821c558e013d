//! Supervision: checkpoints and changes of a large repository beside git by hand, the queue, and
//! how soon an approval is seen by others.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, thread};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::roost::Roost;
use super::{Bench, Section};
use crate::client::Client;
use crate::peers::rookery::Rookery;
use crate::process::program;
use crate::report::{Better, Report, Row};
use crate::stats::{Figure, Times};

/// Files of the repository, in folders of a hundred.
const FILES: usize = 10_000;
/// Commands, and skills, that are scanned.
const IMPORTS: usize = 200;
/// Items of the queue that is listed.
const ITEMS: usize = 1_000;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    checkpoints(bench, report)?;
    changes(bench, report)?;
    imports(bench, report)?;
    let rookery = bench.rookery()?;
    approvals(bench, report, &rookery)?;
    queue(bench, report, &rookery)
}

fn row(name: &str, unit: &'static str) -> Row {
    Row::new(Section::Supervision.name(), name, unit, Better::Lower)
}

fn checkpoints(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let (mut first, mut again) = (Vec::new(), Vec::new());
    let (mut git_first, mut git_again) = (Vec::new(), Vec::new());
    for round in 0..bench.rounds.min(3) {
        let repo = bench.dir().join(format!("repo-{round}"));
        make_repository(&repo, bench.count(FILES, 200))?;
        let rookery = bench.rookery()?;
        let payload = json!({"title": "bench", "repoPath": repo, "wait": "1"});
        let session = ask(&rookery, "newSession", &payload)?["sessionID"].clone();
        let capture = |times: &mut Vec<f64>| -> anyhow::Result<()> {
            let start = Instant::now();
            let made =
                ask(&rookery, "createCheckpoint", &json!({"session": session, "wait": "1"}))?;
            times.push(start.elapsed().as_secs_f64() * 1_000.0);
            ensure!(made["checkpointID"].is_string(), "no checkpoint: {made}");
            Ok(())
        };
        bench.await_quiet();
        capture(&mut first)?;
        for number in 0..bench.count(10, 2) {
            touch(&repo, number)?;
            capture(&mut again)?;
        }
        let by_hand = |times: &mut Vec<f64>| -> anyhow::Result<()> {
            let start = Instant::now();
            plumb(&repo)?;
            times.push(start.elapsed().as_secs_f64() * 1_000.0);
            Ok(())
        };
        bench.await_quiet();
        by_hand(&mut git_first)?;
        for number in 0..bench.count(10, 2) {
            touch(&repo, 100 + number)?;
            by_hand(&mut git_again)?;
        }
    }
    let middle = |times: &[f64]| Figure::quantile(times, 0.5);
    let rows = [
        ("first checkpoint of 10,000 files, until the reply", first, git_first, 1_000.0),
        ("the next, one file changed and one new", again, git_again, 200.0),
    ];
    for (name, own, git, limit) in rows {
        let row = Row { rookery: middle(&own), floor: middle(&git), ..row(name, "ms") };
        report.push(row.target(format!("below {limit} ms"), |value| value < limit));
    }
    Ok(())
}

/// `git/changes/list` of a large repository, beside what a person would type for the same.
fn changes(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let repo = bench.dir().join("changed");
    make_repository(&repo, bench.count(FILES, 200))?;
    for number in 0..20 {
        touch(&repo, number)?;
    }
    let rookery = bench.rookery()?;
    let mut client = Client::connect(&rookery.endpoint("roder")?)?;
    let params = json!({"workspace": repo});
    let (mut own, mut git_own) = (Vec::new(), Vec::new());
    bench.await_quiet();
    for _ in 0..bench.count(20, 3) {
        let start = Instant::now();
        let listed = client.call("git/changes/list", &params)?;
        own.push(start.elapsed().as_secs_f64() * 1_000.0);
        ensure!(listed["totals"]["files"] == 40, "not all changes: {}", listed["totals"]);
        let start = Instant::now();
        git(&repo, &["diff", "--raw", "--numstat", "-z", "-M", "HEAD", "--"], None)?;
        git(&repo, &["status", "--porcelain=v2", "-z", "--untracked-files=all"], None)?;
        git_own.push(start.elapsed().as_secs_f64() * 1_000.0);
    }
    let middle = |times: &[f64]| Figure::quantile(times, 0.5);
    let name = "git/changes/list of 10,000 files, 40 changed; diff and status by hand";
    let row = Row { rookery: middle(&own), floor: middle(&git_own), ..row(name, "ms") };
    report.push(row.target("below 250 ms".to_owned(), |value| value < 250.0));
    Ok(())
}

/// `workflow/scan` of a large workspace that has much for other agents.
fn imports(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let repo = bench.dir().join("imported");
    make_repository(&repo, bench.count(FILES, 200))?;
    let (commands, skills) = (repo.join(".claude/commands"), repo.join(".agents/skills"));
    fs::create_dir_all(&commands)?;
    for number in 0..IMPORTS {
        fs::write(commands.join(format!("command-{number}.md")), "Fix $ARGUMENTS\n")?;
        let skill = skills.join(format!("skill-{number}"));
        fs::create_dir_all(&skill)?;
        fs::write(skill.join("SKILL.md"), "---\ndescription: Makes things\n---\nMake it.\n")?;
    }
    let rookery = bench.rookery()?;
    let mut client = Client::connect(&rookery.endpoint("roder")?)?;
    let mut times = Vec::new();
    bench.await_quiet();
    for _ in 0..bench.count(20, 3) {
        let start = Instant::now();
        let scan = client.call("workflow/scan", &json!({"workspace": repo}))?["scan"].clone();
        times.push(start.elapsed().as_secs_f64() * 1_000.0);
        let found = scan["items"].as_array().map_or(0, Vec::len);
        ensure!(found == 2 * IMPORTS, "not all items: {found}");
    }
    let name = "workflow/scan of 10,000 files with 200 commands and 200 skills";
    let row = Row { rookery: Figure::quantile(&times, 0.5), ..row(name, "ms") };
    report.push(row.target("below 250 ms".to_owned(), |value| value < 250.0));
    Ok(())
}

fn make_repository(repo: &Path, files: usize) -> anyhow::Result<()> {
    for number in 0..files {
        let dir = repo.join(format!("dir-{}", number / 100));
        if number % 100 == 0 {
            fs::create_dir_all(&dir)?;
        }
        let mut file = fs::File::create(dir.join(format!("file-{number}.txt")))?;
        file.write_all(format!("line {number}\n").repeat(20).as_bytes())?;
        // What is as young as the index would be read again by every later look.
        file.set_modified(SystemTime::now() - Duration::from_secs(3_600))?;
    }
    git(repo, &["init", "-q"], None)?;
    git(repo, &["add", "-A"], None)?;
    git(repo, &["commit", "-q", "-m", "all"], None)?;
    Ok(())
}

/// Changes one file and makes another.
fn touch(repo: &Path, number: usize) -> anyhow::Result<()> {
    fs::write(repo.join(format!("dir-0/file-{}.txt", number % 100)), format!("other {number}\n"))?;
    fs::write(repo.join(format!("dir-1/new-{number}.txt")), "new\n")?;
    Ok(())
}

/// What a careful person does by hand: everything into a copy of the index, and a commit under a ref.
fn plumb(repo: &Path) -> anyhow::Result<()> {
    let index = repo.join(".git/by-hand");
    fs::copy(repo.join(".git/index"), &index)?;
    git(repo, &["add", "-A"], Some(&index))?;
    let tree = git(repo, &["write-tree"], Some(&index))?;
    let commit = git(repo, &["commit-tree", &tree, "-p", "HEAD", "-m", "kept"], None)?;
    git(repo, &["update-ref", "refs/by-hand/1", &commit], None)?;
    git(repo, &["diff-tree", "-r", "-z", "--numstat", "HEAD", &commit], None)?;
    fs::remove_file(index)?;
    Ok(())
}

fn git(repo: &Path, args: &[&str], index: Option<&PathBuf>) -> anyhow::Result<String> {
    let mut command = program("git");
    command.arg("-C").arg(repo).args(args);
    for (name, value) in [("AUTHOR", "bench"), ("COMMITTER", "bench")] {
        command.env(format!("GIT_{name}_NAME"), value);
        command.env(format!("GIT_{name}_EMAIL"), format!("{value}@localhost"));
    }
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    let output = command.output().context("cannot run git")?;
    ensure!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// From the request of a harness until a subscriber of another dialect hears of it, and from the
/// decision until the waiting caller has it.
fn approvals(bench: &Bench, report: &mut Report, rookery: &Rookery) -> anyhow::Result<()> {
    let made = ask(rookery, "newSession", &json!({"title": "agent", "wait": "1"}))?;
    let session = made["sessionID"].clone();
    let mut roost = Roost::connect(rookery)?;
    roost.call("events.subscribe", &json!({}))?;
    let (mut seen, mut decided) = (Times::default(), Times::default());
    for round in 0..bench.rounds {
        bench.await_quiet();
        seen.begin();
        decided.begin();
        for number in 0..bench.count(100, 3) {
            let event = json!({
                "schemaVersion": 1, "eventID": event_id(round, number), "sessionID": session,
                "timestamp": "2026-03-22T15:00:00Z", "eventType": "approvalRequest",
                "payload": {"title": "Deploy?"},
            });
            let start = Instant::now();
            let asked = ask(rookery, "agentEvent", &json!({"envelope": event.to_string()}))?;
            while roost.receive()?["event"] != "notification.fired" {}
            seen.push(start.elapsed());
            let id = asked["approvalID"].clone();
            let waiter = {
                let socket = rookery.endpoint("idx0")?;
                let payload = json!({"approvalID": id});
                thread::spawn(move || call(&socket, "waitApproval", &payload))
            };
            let start = Instant::now();
            ask(rookery, "respondApproval", &json!({"approvalID": id, "status": "approved"}))?;
            waiter.join().map_err(|_| anyhow::anyhow!("a client that waits died"))??;
            decided.push(start.elapsed());
        }
    }
    for (name, times) in [
        ("an approval, until another dialect's subscriber hears of it", seen),
        ("a decision, until whoever waits for it has it", decided),
    ] {
        for (which, figure) in [("p50", times.p50()), ("p99", times.p99())] {
            let figure = figure.map(|figure| figure.divided_by(1_000.0));
            let row = Row { rookery: figure, ..row(&format!("{name}, {which}"), "ms") };
            report.push(row.target("below 100 ms", |value| value < 100.0));
        }
    }
    Ok(())
}

fn event_id(round: usize, number: usize) -> String {
    format!("00000000-0000-4000-8000-{round:06x}{number:06x}")
}

/// The list of a long queue.
fn queue(bench: &Bench, report: &mut Report, rookery: &Rookery) -> anyhow::Result<()> {
    let session = "11111111-1111-1111-1111-111111111111";
    for number in 0..bench.count(ITEMS, 10) {
        ask(rookery, "notify", &json!({"sessionID": session, "title": format!("item {number}")}))?;
    }
    let mut times = Times::default();
    for _ in 0..bench.rounds {
        bench.await_quiet();
        times.begin();
        for _ in 0..bench.count(100, 3) {
            let start = Instant::now();
            ask(rookery, "listQueue", &json!({}))?;
            times.push(start.elapsed());
        }
    }
    let figure = times.p50().map(|figure| figure.divided_by(1_000.0));
    report.push(Row { rookery: figure, ..row("listQueue with 1,000 items, p50", "ms") });
    Ok(())
}

fn ask(rookery: &Rookery, command: &str, payload: &Value) -> anyhow::Result<Value> {
    call(&rookery.endpoint("idx0")?, command, payload)
}

/// One request on a connection of its own, and what its reply holds.
pub(super) fn call(socket: &Path, command: &str, payload: &Value) -> anyhow::Result<Value> {
    let mut lines = Client::connect(socket)?;
    lines.send_bytes(json!({"command": command, "payload": payload}).to_string().as_bytes())?;
    let mut reply: Value = serde_json::from_slice(lines.receive_line()?)?;
    if reply["success"] != true {
        bail!("{command}: {}", reply["message"]);
    }
    Ok(reply["data"].take())
}
