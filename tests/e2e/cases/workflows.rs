//! Workflows through the real binary: `kill -9` in the middle of a run, and the command line.

use std::fs;
use std::path::{Path, PathBuf};

use rookery_testkit::{
    Finished, Outer, PATIENCE, TestDaemon, TestPty, eventually, git, rookery_binary, try_git,
};
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};

/// A script that asks two agents that answer, and one that does not.
fn source() -> String {
    let [first, second] = ["one", "two"].map(|text| script(&json!([{ "text": text }])));
    let hangs = script(&json!([{ "hang": true }]));
    let (first, second, hangs) = (json!(first), json!(second), json!(hangs));
    format!(
        "export const meta = {{ name: 'crash', description: 'd' }}\n\
         const all = await parallel([() => agent({first}), () => agent({second})])\n\
         log('answered')\n\
         await agent({hangs})\n\
         return all.join()"
    )
}

fn get(peer: &mut Peer, run: &str) -> Value {
    peer.call("workflows/get", json!({ "runId": run, "includeAgents": true }))["run"].take()
}

#[test]
fn a_run_that_was_killed_is_paused_and_asks_no_agent_twice() {
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let planned = peer.call("workflows/plan", json!({ "prompt": "p", "script": source() }));
    let run = planned["run"]["runId"].as_str().unwrap().to_owned();
    let waiting = peer.call("workflows/plan", json!({ "prompt": "p", "script": source() }));
    let waiting = waiting["run"]["runId"].as_str().unwrap().to_owned();
    peer.call("workflows/approve", json!({ "runId": run, "decision": "runOnce" }));
    // Both answered, and the third is at work.
    let is_third = |name: &str, told: &Value| {
        name == "workflows/agentStarted" && told["agent"]["agentId"] == "agent-3"
    };
    peer.until(is_third);
    let approval = peer.call("session/get", json!({}))["pendingApprovals"][0]["approvalId"].take();
    assert!(approval.is_string(), "{approval}");
    daemon.kill9();
    drop(peer);
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    let found = get(&mut peer, &run);
    assert_eq!(
        (&found["status"], &found["reason"]),
        (&json!("paused"), &json!("daemon restarted"))
    );
    // What was said of agents is still so.
    let agents = found["agents"].as_array().unwrap().iter().take(2);
    let kept: Vec<_> =
        agents.map(|one| (&one["agentId"], &one["status"], one["threadId"].is_string())).collect();
    let completed = json!("completed");
    assert_eq!(
        kept,
        [(&json!("agent-1"), &completed, true), (&json!("agent-2"), &completed, true)]
    );
    // What waited for approval still does, under the id that clients know, and once.
    let pending = peer.call("session/get", json!({}))["pendingApprovals"].take();
    assert_eq!(pending[0]["input"]["runId"], json!(waiting));
    assert_eq!(pending[0]["approvalId"], approval);
    assert_eq!(pending.as_array().unwrap().len(), 1);
    let resumed = peer.call("workflows/resume", json!({ "runId": run }));
    assert_eq!(resumed["run"]["status"], "running");
    peer.until(is_third);
    let found = get(&mut peer, &run);
    let agents = found["agents"].as_array().unwrap();
    let cached: Vec<&Value> = agents.iter().map(|agent| &agent["cached"]).collect();
    assert_eq!(cached, [&json!(true), &json!(true), &json!(false)]);
    let stopped = peer.call("workflows/stop", json!({ "runId": run }));
    assert_eq!(stopped["run"]["status"], "stopped");
    // Answered where any other request is.
    let denied = json!({ "approvalId": approval, "approved": false });
    assert_eq!(peer.call("session/resolve_approval", denied)["resolved"], true);
    peer.wait_told("workflows/denied");
    assert_eq!(get(&mut peer, &waiting)["error"], "workflow approval denied");
}

#[test]
fn a_workflow_is_run_from_the_command_line() {
    let daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let prompt = json!(script(&json!([{ "text": "forty-two" }])));
    let text = format!(
        "export const meta = {{ name: 'answer', description: 'Answers.' }}\nreturn await agent({prompt})"
    );
    fs::write(dir.join("a.workflow.js"), text).unwrap();
    let run = |args: &[&str]| {
        let mut command = daemon.home().command(rookery_binary());
        command.current_dir(&dir).args(["workflow"]).args(args);
        Finished::of(command)
    };
    // Nothing starts unasked.
    let refused = run(&["run", "go", "--script", "a.workflow.js"]).failure(2);
    assert!(refused.contains("--yes"), "{refused}");
    let report = run(&["run", "go", "--script", "a.workflow.js", "--yes"]).success();
    assert_eq!(report.trim(), "forty-two");
    let listed = run(&["ls", "--all", "--json"]).json();
    let id = listed["runs"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(listed["runs"][0]["status"], "completed");
    let shown = run(&["show", &id]).success();
    assert!(shown.contains("answer") && shown.contains("agent-1"), "{shown}");
    run(&["show", "workflow-none"]).failure(1);
    // In short, as the list has it.
    let end = &id[id.len() - 6..];
    assert!(run(&["ls", "--all"]).success().contains(&format!("\n{end} ")));
    assert_eq!(run(&["show", end]).success(), shown);
    // A plan is only looked at.
    let planned = run(&["plan", "go", "--script", "a.workflow.js", "--json"]).json();
    assert_eq!(planned["needsApproval"], true);
    assert_eq!(planned["run"]["id"], "preview");
    let planned = run(&["plan", "go", "--script", "a.workflow.js"]);
    assert!(planned.stdout.contains("Answers."), "{planned:?}");
    assert!(planned.stderr.contains("nothing was started"), "{planned:?}");
    assert_eq!(run(&["ls", "--all", "--json"]).json()["runs"].as_array().unwrap().len(), 1);
    let asked = daemon.client().call("rookery/requests/list", json!({}));
    assert_eq!(asked["requests"], json!([]));
    assert_eq!(run(&["stop", &id, "--json"]).json()["status"], "completed");
    fs::write(dir.join("bad.workflow.js"), "return )").unwrap();
    let bad = run(&["run", "go", "--script", "bad.workflow.js", "--yes"]).failure(1);
    assert!(bad.contains("MissingDefinition"), "{bad}");
}

#[test]
fn a_plan_that_was_consented_to_starts_nothing() {
    let daemon = TestDaemon::start();
    let dir = daemon.home().path().to_owned();
    let text = "export const meta = { name: 'free', description: 'd' }\nreturn 'x'";
    let client = daemon.client();
    let params = json!({ "prompt": "p", "script": text, "workspace": dir });
    let planned = client.call("rookery/workflows/plan", params.clone());
    let always =
        json!({ "run": planned["run"]["id"], "decision": "always_for_script_and_workspace" });
    client.call("rookery/workflows/approve", always);
    let file = dir.join("free.workflow.js");
    fs::write(&file, text).unwrap();
    let mut command = daemon.home().command(rookery_binary());
    command.current_dir(&dir).args(["workflow", "plan", "p", "--json", "--script"]).arg(&file);
    assert_eq!(Finished::of(command).json()["needsApproval"], false);
    let runs = client.call("rookery/workflows/list", json!({ "all": true }));
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_terminal_shows_phases_lines_and_who_waits_while_a_run_goes_on() {
    let daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let asks = json!([
        { "tool": "write_file", "args": { "path": "made", "content": "x" } }, { "text": "did it" }
    ]);
    let text = format!(
        "export const meta = {{ name: 'shown', description: 'd' }}\n\
         phase('First steps')\n\
         for (let i = 1; i <= 300; i++) log('line ' + i + '.')\n\
         const said = await agent({}, {{ label: 'writer' }})\n\
         phase('Last steps')\n\
         log('an \\x1b[31mend\\x07')\n\
         return said",
        json!(script(&asks))
    );
    let file = dir.join("shown.workflow.js");
    fs::write(&file, text).unwrap();
    let (dir_arg, file) = (dir.to_str().unwrap(), file.to_str().unwrap());
    let args = ["workflow", "run", "go", "--workspace", dir_arg, "--script", file];
    let outer = Outer { size: (50, 120), keeps_bytes: true, ..Outer::default() };
    let mut pty = TestPty::spawn_in(daemon.home(), rookery_binary(), &args, &outer);
    pty.wait_text("start it?");
    pty.send(b"y\r");
    pty.wait_text("agent-1 waits for you");
    let client = daemon.client();
    let pending = client.call("rookery/requests/list", json!({}))["requests"].take();
    let id = pending[0]["id"].as_str().unwrap().to_owned();
    let shown = pty.text();
    for line in ["> line 300.", "agent-1 running (writer)", &format!("rookery approve {id}")] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    daemon.rookery(&["approve", &id]).success();
    assert!(pty.wait_ended().success());
    let written = String::from_utf8_lossy(&pty.written()).into_owned();
    for line in ["phase First steps", "phase Last steps", "agent-1 completed (writer)", "did it"] {
        assert!(written.contains(line), "{line}: {written}");
    }
    // What a script says does not act on the terminal.
    let end = written.lines().find(|line| line.contains("> an ")).unwrap();
    assert!(end.contains("end") && !end.contains("\x1b[31m") && !end.contains('\x07'), "{end:?}");
    assert!(dir.join("made").exists());
}

fn repository(daemon: &TestDaemon) -> PathBuf {
    let repo = daemon.home().join("repo");
    fs::create_dir_all(repo.join("sub")).unwrap();
    git(&repo, &["init", "-q"]);
    fs::write(repo.join("sub/file"), "one\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    fs::canonicalize(repo).unwrap()
}

/// Calls of `agent` with isolation, as text of a script.
fn apart(steps: &Value) -> String {
    format!("agent({}, {{ isolation: 'worktree' }})", json!(script(steps)))
}

fn write_then(steps: Value) -> Value {
    let write = json!({ "tool": "write_file", "args": { "path": "made", "content": "x" } });
    let more = steps.as_array().unwrap().iter().cloned();
    std::iter::once(write).chain(more).collect()
}

/// Plans a run in a directory and approves it.
fn begin(peer: &mut Peer, workspace: &Path, body: &str) -> String {
    let text = format!("export const meta = {{ name: 'Apart', description: 'd' }}\n{body}");
    let params = json!({ "prompt": "p", "script": text, "workspace": workspace });
    let planned = peer.call("workflows/plan", params);
    let run = planned["run"]["runId"].as_str().unwrap().to_owned();
    peer.call("workflows/approve", json!({ "runId": run, "decision": "runOnce" }));
    run
}

/// The worktrees of a repository beside its own checkout, and the branches that agents had.
fn traces_of(repo: &Path) -> (Vec<PathBuf>, Vec<String>) {
    // Git gives up at a worktree that is only half there, as while the daemon makes or removes one.
    let lines = |args: &[&str]| {
        let said = eventually("git can look at all worktrees", PATIENCE, || try_git(repo, args));
        said.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let listed = lines(&["worktree", "list", "--porcelain"]);
    let trees = listed.iter().filter_map(|line| line.strip_prefix("worktree ")).skip(1);
    let branches = lines(&["branch", "--list", "--format=%(refname:short)", "rookery/*"]);
    (trees.map(PathBuf::from).collect(), branches)
}

#[test]
fn agents_that_are_apart_leave_a_worktree_only_where_they_changed_something() {
    let daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let read = json!([{ "tool": "read_file", "args": { "path": "file" } }, { "text": "read" }]);
    let (changed, unchanged) = (apart(&write_then(json!([{ "text": "done" }]))), apart(&read));
    let body = format!(
        "const all = await parallel([() => {changed}, () => {unchanged}])\nreturn all.join('|')"
    );
    let run = begin(&mut peer, &repo.join("sub"), &body);
    peer.wait_told("workflows/completed");
    let found = get(&mut peer, &run);
    assert_eq!(found["summary"]["failedAgentCount"], 0, "{found}");
    let kept = found["agents"][0]["worktree"].clone();
    let tree = PathBuf::from(kept["path"].as_str().unwrap());
    assert_eq!(found["agents"][1].get("worktree"), None, "{found}");
    // It worked in its own copy of the directory.
    assert_eq!(fs::read_to_string(tree.join("sub/made")).unwrap(), "x");
    assert!(!repo.join("sub/made").exists());
    let branch = kept["branch"].as_str().unwrap().to_owned();
    assert!(branch.starts_with("rookery/apart-agent-1-"), "{branch}");
    let report = found["report"].as_str().unwrap();
    let said = format!(
        "done\n\n[Changes were kept in the worktree {} on branch {branch}]|read",
        tree.display()
    );
    assert_eq!(report, said);
    assert_eq!(traces_of(&repo), (vec![tree], vec![branch]));
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
}

#[test]
fn a_worktree_of_an_agent_is_settled_after_kill_9() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let hang = json!([{ "hang": true }]);
    let (changed, unchanged) = (apart(&write_then(hang.clone())), apart(&hang));
    let run =
        begin(&mut peer, &repo, &format!("await parallel([() => {changed}, () => {unchanged}])"));
    let kept = eventually("both work, and one has written", PATIENCE, || {
        let (trees, _) = traces_of(&repo);
        let kept = trees.iter().find(|tree| tree.join("made").exists()).cloned();
        kept.filter(|_| trees.len() == 2)
    });
    daemon.kill9();
    drop(peer);
    daemon.restart();
    let (trees, branches) = eventually("what is unchanged is gone", PATIENCE, || {
        Some(traces_of(&repo)).filter(|(trees, branches)| trees.len() == 1 && branches.len() == 1)
    });
    assert_eq!(trees, std::slice::from_ref(&kept));
    assert_eq!(fs::read_to_string(kept.join("made")).unwrap(), "x");
    let item = eventually("kept work is reported", PATIENCE, || {
        let queue = daemon.client().call("rookery/queue/list", json!({}))["items"].take();
        let items = queue.as_array().unwrap().clone();
        items.into_iter().find(|item| item.to_string().contains(&branches[0]))
    });
    assert!(item.to_string().contains(kept.to_str().unwrap()), "{item}");
    // Stopped, it leaves nothing more; begun anew, each has a worktree of its own again.
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    peer.call("workflows/resume", json!({ "runId": run }));
    eventually("they work again", PATIENCE, || (traces_of(&repo).0.len() == 3).then_some(()));
    eventually("one has written again", PATIENCE, || {
        let (trees, _) = traces_of(&repo);
        (trees.iter().filter(|tree| tree.join("made").exists()).count() == 2).then_some(())
    });
    peer.call("workflows/stop", json!({ "runId": run }));
    eventually("the unchanged one is gone", PATIENCE, || {
        (traces_of(&repo).0.len() == 2).then_some(())
    });
}

#[test]
fn no_worktree_is_made_where_nothing_may_change_or_there_is_no_repository() {
    let daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let mut peer = Peer::to(&daemon);
    peer.set_mode("plan");
    let call = apart(&json!([{ "text": "x" }]));
    let reads = call.replace("isolation:", "agentType: 'explore', isolation:");
    let body = format!("return [await {call}, await {reads}].join()");
    let run = begin(&mut peer, &repo, &body);
    peer.wait_told("workflows/completed");
    let found = get(&mut peer, &run);
    let error = found["agents"][0]["error"].as_str().unwrap();
    assert!(error.contains("plan mode"), "{error}");
    // One that may only read needs none.
    assert_eq!(
        (&found["agents"][1]["status"], &found["report"]),
        (&json!("completed"), &json!(",x"))
    );
    assert_eq!(traces_of(&repo), (Vec::new(), Vec::new()));
    peer.set_mode("default");
    let plain = daemon.home().join("plain");
    fs::create_dir(&plain).unwrap();
    let run = begin(&mut peer, &plain, &format!("return await {call}"));
    peer.wait_told("workflows/completed");
    let error = get(&mut peer, &run)["agents"][0]["error"].as_str().unwrap().to_owned();
    assert!(error.contains("no worktree could be made"), "{error}");
}

#[test]
fn attack_hostile_scripts_disturb_neither_another_run_nor_a_turn() {
    let daemon = TestDaemon::start();
    let dir = daemon.home().path().to_owned();
    let mut peer = Peer::to(&daemon);
    let answer = json!(script(&json!([{ "text": "so" }])));
    let hostile = [
        "for (;;) {}".to_owned(),
        "for (;;) await null".to_owned(),
        "const all = []; for (;;) all.push('x'.repeat(1 << 20) + all.length)".to_owned(),
        "const f = () => f() + 1; f()".to_owned(),
        "for (let i = 0; ; i++) log('line ' + i)".to_owned(),
        "for (let i = 0; ; i++) phase('phase ' + i)".to_owned(),
        "return 'x'.repeat(1 << 20)".to_owned(),
        "Object.prototype.toJSON = () => 'x'; throw {}".to_owned(),
        format!("Promise.prototype.then = () => {{}}; return await agent({answer}) + x"),
        "let x = 3n; for (;;) x *= x".to_owned(),
    ];
    let runs: Vec<String> = hostile.iter().map(|body| begin(&mut peer, &dir, body)).collect();
    // Beside them everything goes on.
    let good = begin(&mut peer, &dir, &format!("return await agent({answer})"));
    let thread = peer.thread(&dir);
    let turn = peer.turn(&thread, &script(&json!([{ "text": "hello" }])));
    peer.until_over(&turn);
    eventually("the good run is over", PATIENCE, || {
        (get(&mut peer, &good)["report"] == "so").then_some(())
    });
    for (body, run) in hostile.iter().zip(&runs) {
        let found = eventually("it is over", PATIENCE, || {
            let found = get(&mut peer, run);
            (found["status"] == "failed").then_some(found)
        });
        let error = found["error"].as_str().unwrap();
        assert!(!error.contains("does not stop"), "{body}: {error}");
        assert!(found["phases"].as_array().unwrap().len() <= 1_000);
    }
}
