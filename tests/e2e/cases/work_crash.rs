//! The daemon is killed while tasks, teams and workflows are at work, again and again: what was
//! promised is there afterwards, every task ends once, no agent of a workflow is asked twice for what it
//! answered, and what waits for a person waits on exactly if someone still waits for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use rookery_testkit::{PATIENCE, Random, TestDaemon};
use serde_json::{Value, json};

use crate::roder_link::{Peer, Told, script};

/// How often the daemon is killed.
const KILLS: usize = 100;

/// Agents of one workflow.
const AGENTS: usize = 12;

/// After this number of kills the workflow at work is let run to its end, and another one begins.
const KILLS_PER_RUN: usize = 5;

/// What was promised, and so has to be true for ever.
#[derive(Default)]
struct Book {
    /// Tasks that were accepted, by their id, with the line that each writes.
    tasks: BTreeMap<String, Submitted>,
    /// Terminal notifications, by task.
    ends: BTreeMap<String, Value>,
    /// Agents of workflows that were reported completed.
    completed: BTreeSet<String>,
    /// Messages to the team's member that were accepted.
    messages: BTreeSet<String>,
    /// Turns that start a child agent, and how many traces of those were seen.
    turns: Vec<String>,
    traces: usize,
    /// Tasks that ended with the daemon, and those in terminals, which did not.
    lost: usize,
    survived: usize,
    /// What was asked of a person and is not answered, and whether a turn waits for it.
    asked: BTreeMap<String, bool>,
    answered: BTreeSet<String>,
    /// How much of it waited on after a kill, and how much had ended.
    waited_on: usize,
    taken_back: usize,
}

/// Whether what asks works for a turn.
fn has_parent(asked: &Value) -> bool {
    asked["parents"].as_array().is_some_and(|all| !all.is_empty())
}

struct Submitted {
    mark: String,
    sort: Sort,
}

/// What a task does.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    /// A program on pipes, or in a terminal.
    Pipes,
    Terminal,
    /// A child agent, or a workflow that starts one.
    Agent,
}

/// An agent, in its run.
fn agent_of(told: &Value) -> String {
    format!("{} {}", told["runId"], told["agent"]["agentId"])
}

const ENDS: [&str; 3] = ["task.completed", "task.failed", "task.cancelled"];

impl Book {
    #[track_caller]
    fn note(&mut self, (name, told): &Told) {
        if ENDS.contains(&name.as_str()) {
            let id = told["task_id"].as_str().unwrap().to_owned();
            let again = self.ends.insert(id, json!([name, told]));
            assert_eq!(again, None, "a task ended twice");
        }
        if name == "session/approvalRequested" && told["toolName"] == "write_file" {
            let id = told["approvalId"].as_str().unwrap().to_owned();
            if !self.answered.contains(&id) {
                self.asked.insert(id, has_parent(told));
            }
        }
        if name == "workflows/agentCompleted" {
            self.completed.insert(agent_of(told));
        }
        if name == "workflows/agentStarted" {
            assert!(!self.completed.contains(&agent_of(told)), "asked again: {told}");
        }
    }

    /// No child agent of a turn that died with the daemon is said to be at work.
    #[track_caller]
    fn check_traces(&mut self, peer: &mut Peer, thread: &str) {
        for turn in std::mem::take(&mut self.turns) {
            let params = json!({ "threadId": thread, "turnId": turn });
            let listed = peer.call("turn/subagentTraces/list", params);
            for trace in listed["traces"].as_array().unwrap() {
                assert!(is_over(trace), "{trace}");
                self.traces += 1;
            }
        }
    }

    /// What a turn waits for still waits, and what only the last daemon waited for does not.
    #[track_caller]
    fn check_approvals(&mut self, peer: &mut Peer, work: &Work, round: usize) {
        let waiting = peer.call("session/get", json!({}))["pendingApprovals"].take();
        let waits =
            |id: &str| waiting.as_array().unwrap().iter().any(|one| one["approvalId"] == id);
        for (id, has_parent) in std::mem::take(&mut self.asked) {
            assert_eq!(waits(&id), has_parent, "{id} of {waiting}");
            *(if has_parent { &mut self.waited_on } else { &mut self.taken_back }) += 1;
        }
        let has_kept = waiting.as_array().unwrap().iter().any(has_parent);
        self.approve_all(peer);
        rookery_testkit::wait_until("the turn that waited ends", PATIENCE, || {
            peer.stored(&work.careful)["status"]["type"] == "idle"
        });
        if has_kept {
            assert!(work.dir.join(format!("kept-{round}")).exists(), "{waiting}");
        }
    }

    /// Answers everything that waits.
    #[track_caller]
    fn approve_all(&mut self, peer: &mut Peer) {
        let waiting = peer.call("session/get", json!({}))["pendingApprovals"].take();
        for one in waiting.as_array().unwrap() {
            let id = one["approvalId"].as_str().unwrap();
            let answer = json!({ "approvalId": id, "approved": true });
            assert_eq!(peer.call("session/resolve_approval", answer)["resolved"], true, "{one}");
            self.answered.insert(id.to_owned());
            self.asked.remove(id);
        }
    }

    /// Every accepted task is there, in a state that agrees with what was reported of it.
    #[track_caller]
    fn check_tasks(&mut self, peer: &mut Peer) {
        for (id, submitted) in &self.tasks {
            let got = peer.call("tasks/get", json!({ "taskId": id }));
            let task = &got["task"];
            let state = task["state"].as_str().unwrap();
            if let Some(end) = self.ends.get(id) {
                assert_eq!(format!("task.{state}"), end[0].as_str().unwrap(), "{got} {end}");
            } else if state == "failed" {
                assert!(
                    submitted.sort != Sort::Terminal,
                    "one in a terminal does not end with the daemon: {got}"
                );
                assert!(task["error"].as_str().unwrap().contains("daemon restarted"), "{got}");
                self.ends.insert(id.clone(), json!(["task.failed", {}]));
                self.lost += 1;
            }
        }
    }
}

struct Work {
    /// A thread whose answers are long, so that there is always something to hear of.
    ticker: String,
    /// A thread that asks before it changes anything.
    careful: String,
    /// Where threads work.
    dir: PathBuf,
    /// The workflow, the turn that it belongs to, and the round in which it began.
    run: Option<(String, String, usize)>,
    team: String,
    member: String,
}

/// A workflow whose agents each answer a word of their own, some of them after a while.
fn workflow(round: usize) -> String {
    let agents: Vec<String> = (0..AGENTS)
        .map(|index| {
            let text =
                json!([{ "text": format!("answer {round}.{index}"), "chunks": 4, "delayMs": 5 }]);
            format!("MOCK_SCRIPT:{text}")
        })
        .collect();
    let prompts = json!(agents);
    format!(
        "export const meta = {{ name: 'crash-{round}', description: 'counts' }}\n\
         const prompts = {prompts}\n\
         const first = await parallel(prompts.slice(0, 8).map((p, i) => () => agent(p, {{ label: 'a' + i }})))\n\
         const rest = []\n\
         for (const p of prompts.slice(8)) rest.push(await agent(p))\n\
         return [...first, ...rest].join('\\n')\n"
    )
}

fn report(round: usize) -> String {
    (0..AGENTS).map(|index| format!("answer {round}.{index}")).collect::<Vec<_>>().join("\n")
}

impl Work {
    #[track_caller]
    fn new(peer: &mut Peer, daemon: &TestDaemon) -> Work {
        let lead = peer.thread(daemon.home().path());
        let params = json!({ "leadThreadId": lead, "members": [{ "name": "worker" }] });
        let team = peer.call("team/start", params)["team"].take();
        let careful = peer.thread(daemon.home().path());
        peer.call("session/set_mode", json!({ "mode": "default", "threadId": careful }));
        Work {
            ticker: peer.thread(daemon.home().path()),
            careful,
            dir: daemon.home().path().to_owned(),
            run: None,
            team: team["id"].as_str().unwrap().to_owned(),
            member: team["members"][1]["id"].as_str().unwrap().to_owned(),
        }
    }

    /// Begins a workflow, or takes up the one that the last daemon left.
    #[track_caller]
    fn drive_workflow(&mut self, peer: &mut Peer, book: &mut Book, round: usize) {
        let Some((run, ..)) = &self.run else {
            // Planned from a turn that is over, as clients do.
            let turn = peer.turn(&self.ticker, &script(&json!([{ "text": "planned" }])));
            peer.until_over(&turn).iter().for_each(|told| book.note(told));
            let params = json!({
                "prompt": "count", "script": workflow(round), "workspace": self.dir,
                "threadId": self.ticker, "turnId": turn,
            });
            let run = peer.call("workflows/plan", params)["run"]["runId"].take();
            peer.call("workflows/approve", json!({ "runId": run, "decision": "runOnce" }));
            self.run = Some((run.as_str().unwrap().to_owned(), turn, round));
            return;
        };
        let status = peer.call("workflows/get", json!({ "runId": run }))["run"]["status"].take();
        match status.as_str().unwrap() {
            "paused" => drop(peer.call("workflows/resume", json!({ "runId": run }))),
            other => assert_eq!(other, "completed", "{run}"),
        }
    }

    /// Lets the workflow come to its end, and looks at what came of it.
    #[track_caller]
    fn finish_workflow(&mut self, peer: &mut Peer) {
        let Some((run, turn, round)) = self.run.take() else { return };
        let got = rookery_testkit::eventually("the workflow ends", PATIENCE, || {
            let params = json!({ "runId": run, "includeAgents": true });
            let got = peer.call("workflows/get", params)["run"].take();
            (got["status"] != "running" && got["status"] != "queued").then_some(got)
        });
        assert_eq!(got["status"], "completed", "{got}");
        assert_eq!(got["report"], report(round), "{got}");
        let agents = got["agents"].as_array().unwrap();
        assert_eq!(agents.len(), AGENTS, "{got}");
        // Each answer is that of one child of the turn, and all others of it are over.
        let params = json!({ "threadId": self.ticker, "turnId": turn });
        let traces = peer.call("turn/subagentTraces/list", params)["traces"].take();
        let traces = traces.as_array().unwrap();
        for agent in agents {
            let found = traces.iter().find(|one| one["childThreadId"] == agent["threadId"]);
            assert_eq!(found.map(|one| &one["status"]), Some(&json!("completed")), "{agent}");
        }
        let completed = traces.iter().filter(|one| one["status"] == "completed").count();
        assert!(completed >= AGENTS && traces.iter().all(is_over), "{traces:?}");
    }
}

fn is_over(trace: &Value) -> bool {
    ["completed", "failed", "cancelled"].contains(&trace["status"].as_str().unwrap())
}

/// Sets everything to work, and kills the daemon after a number of notifications.
fn work_until_killed(
    daemon: &mut TestDaemon,
    mut peer: Peer,
    work: &Work,
    (round, notices): (usize, u64),
    book: &mut Book,
) {
    let said = json!([{ "text": "a child's answer", "chunks": 4, "delayMs": 5 }]);
    let child = json!({ "description": "look", "prompt": script(&said) });
    let ticks = json!([
        { "tool": "task", "args": child },
        { "text": "tick ".repeat(600), "chunks": 600, "delayMs": 1 },
    ]);
    let prompt = script(&ticks);
    let turn = peer.post("turn/start", json!({ "threadId": work.ticker, "prompt": prompt }));
    let log = daemon.home().join("marks");
    let mut submitted = Vec::new();
    let body = "export const meta = { name: 'one', description: 'd' }\nreturn await agent(args)";
    let asks = |path: String| {
        let write = json!({ "tool": "write_file", "args": { "path": path, "content": "x" } });
        json!({ "description": "ask", "prompt": script(&json!([write, { "text": "asked" }])) })
    };
    // A turn that waits for a child that waits for a person, and such a child of a task.
    let kept = json!([{ "tool": "task", "args": asks(format!("kept-{round}")) }, { "text": "." }]);
    peer.post("turn/start", json!({ "threadId": work.careful, "prompt": script(&kept) }));
    let params = json!({
        "executorId": "subagent", "input": asks(format!("asked-{round}")), "lifetime": "server",
        "threadId": work.careful, "workspace": daemon.home().path(),
    });
    let asking = Submitted { mark: format!("{round}.asks"), sort: Sort::Agent };
    submitted.push((peer.post("tasks/submit", params), asking));
    let agents = [
        ("subagent", child),
        (
            "dynamic-workflow",
            json!({
                "runId": format!("task-{round}"), "script": { "body": body }, "arguments": script(&said),
            }),
        ),
    ];
    for (executor, input) in agents {
        let params = json!({ "executorId": executor, "input": input, "lifetime": "server" });
        let mark = format!("{round}.{executor}");
        submitted.push((peer.post("tasks/submit", params), Submitted { mark, sort: Sort::Agent }));
    }
    for (index, sort) in [(0, Sort::Pipes), (1, Sort::Terminal), (2, Sort::Pipes)] {
        let (mark, is_pty) = (format!("{round}.{index}"), sort == Sort::Terminal);
        let line = format!("echo {mark} >>{}; sleep 0.1; exit 3", log.display());
        let input = json!({ "command": "sh", "args": ["-c", line], "pty": is_pty });
        let params = json!({ "executorId": "process", "input": input, "lifetime": "server" });
        submitted.push((peer.post("tasks/submit", params), Submitted { mark, sort }));
    }
    let text = format!("message {round}.");
    let (team, member) = (&work.team, &work.member);
    let params = json!({ "teamId": team, "memberId": member, "text": text });
    let message = peer.post("team/member/message", params);
    for _ in 0..notices {
        let told = peer.next().unwrap();
        book.note(&told);
    }
    daemon.kill9();
    // What was sent counts, whether it was read before the kill or not.
    for (id, submitted) in submitted {
        let Some(reply) = peer.try_reply(id) else { continue };
        let id = reply["result"]["task"]["task_id"].as_str();
        book.tasks.insert(id.unwrap_or_else(|| panic!("{reply}")).to_owned(), submitted);
    }
    if let Some(reply) = peer.try_reply(turn) {
        book.turns.extend(reply["result"]["turnId"].as_str().map(str::to_owned));
    }
    if let Some(reply) = peer.try_reply(message) {
        assert!(reply["result"]["turnId"].is_string(), "{reply}");
        book.messages.insert(text);
    }
    peer.rest().iter().for_each(|told| book.note(told));
}

/// Waits until every task is over; each has had its effect once, or says that it may be otherwise.
#[track_caller]
fn check_effects(peer: &mut Peer, daemon: &TestDaemon, book: &mut Book) {
    // Only the newest that ended are kept, so each batch is looked at while it is there.
    for (id, submitted) in &std::mem::take(&mut book.tasks) {
        let task = rookery_testkit::eventually("the task ends", PATIENCE, || {
            book.approve_all(peer);
            let task = peer.call("tasks/get", json!({ "taskId": id }))["task"].take();
            (task["state"] != "running" && task["state"] != "queued").then_some(task)
        });
        let marks = fs::read_to_string(daemon.home().join("marks")).unwrap_or_default();
        let effects = marks.lines().filter(|line| *line == submitted.mark).count();
        let may_be_twice = task["maybe_twice"] == true;
        match task["state"].as_str().unwrap() {
            "completed" if submitted.sort == Sort::Agent => {}
            "completed" => {
                assert_eq!(task["exit_code"], 3, "{task}");
                assert!(effects == 1 || (effects > 1 && may_be_twice), "{effects} of {task}");
            }
            "failed" => assert!(effects <= 1 || may_be_twice, "{effects} of {task}"),
            other => panic!("{other}: {task}"),
        }
        if submitted.sort == Sort::Terminal {
            // Whenever the daemon died, it had its effect once and came to its own end.
            assert_eq!((&task["state"], effects), (&json!("completed"), 1), "{task}");
            assert_eq!(task["maybe_twice"], false, "{task}");
            book.survived += 1;
        }
    }
    rookery_testkit::wait_until("no terminal is left of tasks that are over", PATIENCE, || {
        daemon.client().terminals().is_empty()
    });
}

/// Every message that was accepted reaches its member.
#[track_caller]
fn check_messages(peer: &mut Peer, work: &Work, book: &Book) {
    let read = rookery_testkit::eventually("all messages are delivered", PATIENCE, || {
        let read = peer.call("team/read", json!({ "teamId": work.team }));
        let messages = read["messages"].as_array().unwrap();
        messages
            .iter()
            .all(|one| one["delivered"] == true || one["toMemberId"] == "lead")
            .then_some(read)
    });
    let messages = read["messages"].as_array().unwrap();
    let thread = read["team"]["members"][1]["threadId"].as_str().unwrap();
    let stored = peer.stored(thread).to_string();
    for text in &book.messages {
        assert!(messages.iter().any(|one| one["text"] == **text), "{text} is not in the mailbox");
        assert!(stored.contains(text.as_str()), "{text} did not reach the member");
    }
}

#[test]
fn a_hundred_kills_with_tasks_teams_and_workflows_at_work() {
    let seed = Random::seed("ROOKERY_WORK_CRASH_SEED");
    eprintln!("crash: ROOKERY_WORK_CRASH_SEED={seed}");
    let mut random = Random::new(seed);
    let mut daemon = TestDaemon::start();
    let mut book = Book::default();
    let mut peer = ready(&daemon);
    let mut work = Work::new(&mut peer, &daemon);
    for round in 0..KILLS {
        work.drive_workflow(&mut peer, &mut book, round);
        let notices = random.below(300);
        work_until_killed(&mut daemon, peer, &work, (round, notices), &mut book);
        daemon.restart();
        peer = ready(&daemon);
        book.check_tasks(&mut peer);
        book.check_traces(&mut peer, &work.ticker);
        book.check_approvals(&mut peer, &work, round);
        if round % KILLS_PER_RUN == KILLS_PER_RUN - 1 {
            work.drive_workflow(&mut peer, &mut book, round);
            work.finish_workflow(&mut peer);
            check_effects(&mut peer, &daemon, &mut book);
        }
    }
    check_messages(&mut peer, &work, &book);
    assert!(book.lost > 0 && book.survived > 0, "{} lost, {} survived", book.lost, book.survived);
    assert!(!book.messages.is_empty() && book.traces > 0);
    let (waited_on, taken_back) = (book.waited_on, book.taken_back);
    assert!(waited_on > 0 && taken_back > 0, "{waited_on} waited on, {taken_back} taken back");
}

/// A client that may do everything unasked and follows all tasks.
fn ready(daemon: &TestDaemon) -> Peer {
    let mut peer = Peer::to(daemon);
    peer.set_mode("bypass");
    peer.call("tasks/subscribe", json!({}));
    peer
}
