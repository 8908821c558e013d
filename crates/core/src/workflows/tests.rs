//! Runs against agents that answer by themselves, through the real store, log and files.

mod of_turns;
mod real;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use parking_lot::Mutex;
use rookery_agent::settings::{Settings, WorkflowSettings};
use rookery_model::{Answer, ErrorKind, Usage};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::dispatch::{Dispatch, Done, Exit, Started, Work};
use super::live::ClientGrant;
use super::types::{AgentStatus, PhaseStatus, Run, RunChange, RunDecision, RunStatus};
use super::{NewRun, RunEnd, ScriptKind, ScriptQuery, TaskInput};
use crate::core::{Core, CoreConfig};
use crate::log::{News, NoticeBody, Subscription, Topics};
use crate::worktrees::KeptTree;
use crate::{AgentConfig, KeeperLaunch, StopKind, TerminalLimits, UiConfig};

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers `re: <prompt>`; `FAIL` fails, `HANG` never ends, `TIMEOUT` runs out of time.
#[derive(Default)]
struct Fake {
    asked: Mutex<Vec<String>>,
    /// The client and how many keys were there for each.
    grants: Mutex<Vec<(Option<u64>, usize)>>,
    now: AtomicUsize,
    most: AtomicUsize,
    gates: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Fake {
    fn asked(&self) -> Vec<String> {
        self.asked.lock().clone()
    }

    fn gate(&self, prompt: &str) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        self.gates.lock().insert(prompt.to_owned(), Arc::clone(&gate));
        gate
    }
}

struct Counted(Arc<Fake>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

struct ByFake(Arc<Fake>);

impl Dispatch for ByFake {
    fn run(&self, work: Work, started: Started) -> BoxFuture<'static, Done> {
        let fake = Arc::clone(&self.0);
        async move {
            fake.asked.lock().push(work.prompt.clone());
            fake.grants.lock().push((work.client, work.keys.len()));
            let now = fake.now.fetch_add(1, Ordering::SeqCst) + 1;
            fake.most.fetch_max(now, Ordering::SeqCst);
            let _counted = Counted(Arc::clone(&fake));
            started(None, None);
            tokio::task::yield_now().await;
            if work.prompt.contains("HANG") {
                std::future::pending::<()>().await;
            }
            let gate = fake.gates.lock().get(&work.prompt).cloned();
            if let Some(gate) = gate {
                gate.acquire().await.unwrap().forget();
            }
            if work.prompt.contains("FAIL") {
                return Done::failed("provider_error: no such model".to_owned());
            }
            let is_late = work.prompt.contains("TIMEOUT");
            let kept = work.tree.filter(|_| work.prompt.contains("KEEPS")).map(|name| KeptTree {
                path: format!("/kept/{name}").into(),
                branch: Some("b".to_owned()),
            });
            let usage = Usage { prompt: 10, completion: 2, ..Usage::default() };
            Done {
                message: format!("re: {}", work.prompt),
                usage: Some(usage),
                exit: if is_late { Exit::Timeout } else { Exit::Completed },
                structured: work.schema.map(|_| json!({ "ok": true })),
                error: None,
                kept,
                ..Done::failed(String::new())
            }
        }
        .boxed()
    }
}

struct World {
    dir: tempfile::TempDir,
    fake: Arc<Fake>,
    core: Core,
}

async fn core_in(home: &Path, fake: &Arc<Fake>, workflows: WorkflowSettings) -> Core {
    core_with(home, fake, workflows, None).await
}

async fn core_with(
    home: &Path,
    fake: &Arc<Fake>,
    workflows: WorkflowSettings,
    provider: Option<&str>,
) -> Core {
    let provider = provider.map(str::to_owned);
    let settings = Settings { workflows, provider, ..Settings::default() };
    let agent = AgentConfig {
        settings,
        cwd: home.to_owned(),
        config_home: Some(home.join("config")),
        workflows_dir: Some(home.join("data/dynamic-workflows")),
        ..AgentConfig::default()
    };
    let config = CoreConfig {
        state_dir: Some(home.join("state")),
        keeper: KeeperLaunch {
            exe: "/nonexistent/keeper".into(),
            args: Vec::new(),
            socket: home.join("keeper.sock"),
        },
        home: home.to_owned(),
        env: Vec::new(),
        shell: "/bin/sh".to_owned(),
        default_tool: None,
        child_env: Vec::new(),
        limits: TerminalLimits::default(),
        palette: rookery_term::Palette::default(),
        shares_ids: true,
        ui: UiConfig::default(),
        tab_env: Vec::new(),
        resources: None,
        helpers: None,
        agent,
        max_running_tasks: 4,
    };
    let core = Core::start(config).await.unwrap();
    *core.inner.workflows.dispatch.lock() = Some(Arc::new(ByFake(Arc::clone(fake))));
    core
}

impl World {
    async fn new() -> World {
        World::with(WorkflowSettings::default()).await
    }

    async fn with(settings: WorkflowSettings) -> World {
        let dir = tempfile::tempdir().unwrap();
        let fake = Arc::new(Fake::default());
        let core = core_in(dir.path(), &fake, settings).await;
        World { dir, fake, core }
    }

    /// With agents that are children, whom the mock answers.
    async fn real() -> World {
        let dir = tempfile::tempdir().unwrap();
        let fake = Arc::new(Fake::default());
        let core = core_with(dir.path(), &fake, WorkflowSettings::default(), Some("mock")).await;
        *core.inner.workflows.dispatch.lock() = None;
        World { dir, fake, core }
    }

    /// The next daemon in the same home.
    async fn restarted(self) -> World {
        self.core.stop(StopKind::KeepTerminals).await.unwrap();
        let fake = Arc::new(Fake::default());
        let core = core_in(self.dir.path(), &fake, WorkflowSettings::default()).await;
        World { dir: self.dir, fake, core }
    }

    async fn plan(&self, body: &str) -> Run {
        self.core.workflows().plan(script(body)).await.unwrap().run
    }

    async fn start(&self, body: &str) -> String {
        let id = self.plan(body).await.id;
        self.core.workflows().approve(&id, RunDecision::RunOnce, None, "test").await.unwrap();
        id
    }

    /// The run once it is in such a state.
    async fn until(&self, id: &str, is: impl Fn(&Run) -> bool) -> Run {
        let mut news = self.core.log().subscribe(Topics::NOTICES, None);
        let wait = async {
            loop {
                let run = self.core.workflows().get(id, true, true).await.unwrap();
                if is(&run) {
                    return run;
                }
                news.next().await.unwrap();
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("the run gets there")
    }

    async fn ended(&self, id: &str) -> Run {
        self.until(id, |run| run.status.is_terminal()).await
    }

    async fn run(&self, body: &str) -> Run {
        let id = self.start(body).await;
        self.ended(&id).await
    }
}

fn text(body: &str) -> String {
    format!(
        "export const meta = {{ name: 'test', description: 'd', phases: [{{ title: 'one' }}, {{ title: 'two' }}] }}\n{body}"
    )
}

fn script(body: &str) -> NewRun {
    NewRun { prompt: "do it".to_owned(), script: Some(text(body)), ..NewRun::default() }
}

/// What happens to runs until one of these; in short.
async fn changes(news: &mut Subscription, last: &str) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        let batch = tokio::time::timeout(PATIENCE, news.next()).await.expect("news").unwrap();
        for notice in batch.iter().filter_map(News::notice) {
            let NoticeBody::Workflow(notice) = &notice.body else { continue };
            let line = match &notice.change {
                RunChange::Drafted(_) => "drafted".to_owned(),
                RunChange::ApprovalRequested(_) => "asked".to_owned(),
                RunChange::Approved(_) => "approved".to_owned(),
                RunChange::Denied(_) => "denied".to_owned(),
                RunChange::Queued(_) => "queued".to_owned(),
                RunChange::Started(_) => "started".to_owned(),
                RunChange::PhaseStarted(phase) => format!("+{}", phase.name),
                RunChange::PhaseCompleted(phase) => format!("-{}", phase.name),
                RunChange::AgentQueued(agent) => format!("{} queued", agent.id),
                RunChange::AgentStarted(agent) => format!("{} started", agent.id),
                RunChange::AgentCompleted(agent) => format!("{} completed", agent.id),
                RunChange::AgentFailed(agent, error) => format!("{} failed {error}", agent.id),
                RunChange::Output { text, .. } => format!("> {text}"),
                RunChange::Checkpoint { key, bytes, .. } => format!("checkpoint {key} {bytes}"),
                RunChange::Paused(reason) => format!("paused {reason:?}"),
                RunChange::Resumed(_) => "resumed".to_owned(),
                RunChange::Stopped(reason) => format!("stopped {reason:?}"),
                RunChange::Completed(_) => "completed".to_owned(),
                RunChange::Failed(error, _) => format!("failed {error}"),
            };
            let is_last = line.starts_with(last);
            seen.push(line);
            if is_last {
                return seen;
            }
        }
    }
}

#[tokio::test]
async fn a_run_is_planned_approved_and_comes_to_its_end_in_order() {
    let world = World::new().await;
    let mut news = world.core.log().subscribe(Topics::NOTICES, None);
    let run = world
        .run("phase('one'); log('hello'); const a = await agent('first'); phase('two'); return await agent(a + '?', { label: 'second' })")
        .await;
    assert_eq!((run.status, run.report.as_deref()), (RunStatus::Completed, Some("re: re: first?")));
    assert_eq!(world.fake.asked(), ["first", "re: first?"]);
    let seen = changes(&mut news, "completed").await;
    let expected = [
        "drafted",
        "asked",
        "approved",
        "queued",
        "started",
        "+one",
        "> hello",
        "agent-1 queued",
        "agent-1 started",
        "agent-1 completed",
        "+two",
        "-one",
        "agent-2 queued",
        "agent-2 started",
        "agent-2 completed",
        "-two",
        "> re: re: first?",
        "completed",
    ];
    assert_eq!(seen, expected);
    let names: Vec<&str> = run.agents.iter().map(|agent| agent.description.as_str()).collect();
    assert_eq!(names, ["first", "second"]);
    let summary = run.summary();
    assert_eq!((summary.agents, summary.completed_agents, summary.completed_phases), (2, 2, 2));
    assert_eq!(summary.usage.unwrap().prompt, 20);
    // Over and on disk, in the listing of those that are over alone.
    assert!(world.core.workflows().list(None, false, None).await.is_empty());
    assert_eq!(world.core.workflows().list(None, true, None).await.len(), 1);
    let dir = world.dir.path().join("data/dynamic-workflows/runs").join(&run.id);
    assert!(dir.join("run.json").is_file() && dir.join("agent-results.jsonl").is_file());
}

#[tokio::test]
async fn failures_are_counted_and_null_and_what_throws_is_a_failed_run() {
    let world = World::new().await;
    let run =
        world.run("return [await agent('FAIL'), await agent('TIMEOUT'), await agent('x')]").await;
    assert_eq!(run.report.as_deref(), Some(r#"[null,null,"re: x"]"#));
    let statuses: Vec<AgentStatus> = run.agents.iter().map(|agent| agent.status).collect();
    assert_eq!(statuses, [AgentStatus::Failed, AgentStatus::Timeout, AgentStatus::Completed]);
    assert_eq!(run.agents[0].error.as_deref(), Some("provider_error: no such model"));
    assert_eq!(run.summary().failed_agents, 2);
    assert_eq!(run.phases.last().unwrap().name, "main");
    assert_eq!(run.phases[0].status, PhaseStatus::Skipped);
    let run = world.run("await agent('a')\nthrow new Error('no')").await;
    assert_eq!(run.status, RunStatus::Failed);
    assert_eq!(run.error.as_deref(), Some("ScriptExecution at line 3: Error: no"));
}

#[tokio::test]
async fn work_that_was_kept_apart_is_said_in_the_result_and_again_when_it_is_cached() {
    let world = World::new().await;
    let body = "return await agent('KEEPS', { isolation: 'worktree' }) + await agent('plain')";
    let run = world.run(body).await;
    let said =
        "re: KEEPS\n\n[Changes were kept in the worktree /kept/test agent-1 on branch b]re: plain";
    assert_eq!(run.report.as_deref(), Some(said));
    let trees =
        |run: &Run| run.agents.iter().map(|agent| agent.worktree.is_some()).collect::<Vec<_>>();
    assert_eq!(trees(&run), [true, false]);
    // The record has it, and so has the answer that is kept.
    let world = world.restarted().await;
    let again = world.core.workflows().get(&run.id, false, true).await.unwrap();
    assert_eq!(again.agents, run.agents);
    world.core.workflows().restart_agent(&run.id, "agent-2", ClientGrant::default()).await.unwrap();
    let run = world.ended(&run.id).await;
    assert_eq!(run.report.as_deref(), Some(said));
    assert_eq!((trees(&run), world.fake.asked()), (vec![true, false], vec!["plain".to_owned()]));
}

#[tokio::test]
async fn the_model_writes_the_script_of_a_run_that_names_none() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Arc::new(Fake::default());
    let prompt = |answer: &str| {
        let steps = json!([{ "text": answer }]);
        NewRun { prompt: format!("MOCK_SCRIPT:{steps}"), ..NewRun::default() }
    };
    let good = format!("So:\n```js\n{}\n```", text("return await agent('part')"));
    let wants = text("return 1")
        .replace("description: 'd'", "argumentsSchema: { type: 'object', required: ['a'] }");
    let planned = async |core: &Core, new: NewRun| {
        let run = core.workflows().plan(new).await.unwrap().run;
        (run.script.name, run.script.kind, run.phases.len())
    };
    let single = || ("single-agent".to_owned(), ScriptKind::Generated, 0);
    // Without a provider of one's own choice it is not asked.
    let core = core_in(dir.path(), &fake, WorkflowSettings::default()).await;
    assert_eq!(planned(&core, prompt(&good)).await, single());
    core.stop(StopKind::KeepTerminals).await.unwrap();
    let core = core_with(dir.path(), &fake, WorkflowSettings::default(), Some("mock")).await;
    assert_eq!(planned(&core, prompt(&good)).await, ("test".to_owned(), ScriptKind::Generated, 2));
    // What is no script, does not fit or does not come is not used.
    for answer in ["I cannot do that.", "```js\nreturn )\n```", &wants] {
        assert_eq!(planned(&core, prompt(answer)).await, single(), "{answer}");
    }
    let fails =
        NewRun { prompt: r#"MOCK_SCRIPT:[{"error": "no"}]"#.to_owned(), ..NewRun::default() };
    assert_eq!(planned(&core, fails).await, single());
    // A script that is given is left as it is.
    assert_eq!(
        planned(&core, NewRun { prompt: prompt(&good).prompt, ..script("return 1") }).await.0,
        "test"
    );
    assert!(fake.asked().is_empty());
}

#[tokio::test]
async fn wrong_plans_change_nothing() {
    let world = World::new().await;
    let workflows = world.core.workflows();
    let good = script("return 1");
    let schema = text("return 1")
        .replace("description: 'd'", "argumentsSchema: { type: 'object', required: ['a'] }");
    for (new, kind, part) in [
        (NewRun { prompt: " ".into(), ..good.clone() }, ErrorKind::Invalid, "prompt"),
        (NewRun { workspace: Some("rel".into()), ..good.clone() }, ErrorKind::Invalid, "workspace"),
        (NewRun { name: Some("x".into()), ..good.clone() }, ErrorKind::Invalid, "script"),
        (
            NewRun { script: None, name: Some("none".into()), ..good.clone() },
            ErrorKind::Failed,
            "none",
        ),
        (
            NewRun { script: Some("x".into()), ..good.clone() },
            ErrorKind::Failed,
            "MissingDefinition",
        ),
        (script("return )"), ErrorKind::Failed, "line 2"),
        (NewRun { script: Some(schema), ..good.clone() }, ErrorKind::Invalid, "arguments"),
        (
            NewRun { thread: Some(rookery_model::ThreadId::new(7)), ..good.clone() },
            ErrorKind::NotFound,
            "thread",
        ),
        (
            NewRun { turn: Some(rookery_model::TurnId::new(7)), ..good.clone() },
            ErrorKind::Invalid,
            "turn",
        ),
    ] {
        let error = workflows.plan(new).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(part), "{error}");
    }
    assert!(workflows.list(None, true, None).await.is_empty());
    assert!(!world.dir.path().join("data/dynamic-workflows/runs").exists());
    assert!(world.core.requests().list().is_empty());
    for id in ["workflow-none", "../../etc", ""] {
        assert_eq!(workflows.get(id, true, true).await.unwrap_err().kind(), ErrorKind::Failed);
    }
}

#[tokio::test]
async fn a_prompt_alone_asks_one_agent() {
    let world = World::new().await;
    let new = NewRun { prompt: "import the \"CSV\"\n`now`".to_owned(), ..NewRun::default() };
    let planned = world.core.workflows().plan(new).await.unwrap();
    assert!(planned.needs_approval);
    assert_eq!((planned.run.cost.max_agents, planned.run.script.kind), (1, ScriptKind::Generated));
    let id = planned.run.id;
    world.core.workflows().approve(&id, RunDecision::RunOnce, None, "test").await.unwrap();
    let run = world.ended(&id).await;
    assert_eq!(run.report.as_deref(), Some("re: import the \"CSV\"\n`now`"));
}

#[tokio::test]
async fn the_first_answer_counts_wherever_it_comes_from() {
    let world = World::new().await;
    let workflows = world.core.workflows();
    // Denied by its own method.
    let run = world.plan("return 1").await;
    let why = Some("too much".to_owned());
    let (denied, approval) =
        workflows.approve(&run.id, RunDecision::Deny, why.clone(), "test").await.unwrap();
    assert_eq!(
        (denied.status, denied.error.as_deref()),
        (RunStatus::Failed, Some("workflow approval denied"))
    );
    assert_eq!((approval.decision, approval.reason), (RunDecision::Deny, why));
    assert!(workflows.approve(&run.id, RunDecision::RunOnce, None, "test").await.is_err());
    assert!(world.core.requests().list().is_empty());
    // Approved as any other request.
    let run = world.plan("return await agent('p')").await;
    let request = world.core.requests().list().remove(0);
    let rookery_model::Asked::Approval { input, .. } = &request.asked else {
        panic!("{request:?}")
    };
    let input: Value = serde_json::from_str(input).unwrap();
    assert_eq!(input["run_id"], json!(run.id));
    let answer = Answer::Approved { remember: false };
    assert!(
        world.core.requests().resolve(request.id, answer.clone(), "test").await.unwrap().is_now()
    );
    let run = world.ended(&run.id).await;
    assert_eq!(
        (run.status, run.approval.unwrap().decision),
        (RunStatus::Completed, RunDecision::RunOnce)
    );
    // An answer that comes too late.
    assert!(workflows.approve(&run.id, RunDecision::Deny, None, "test").await.is_err());
    // A run that is stopped does not wait any more.
    let run = world.plan("return 1").await;
    let stopped = workflows.stop(&run.id, None).await.unwrap();
    assert_eq!(stopped.status, RunStatus::Stopped);
    assert!(world.core.requests().list().is_empty());
}

#[tokio::test]
async fn consent_is_for_one_text_in_one_workspace() {
    let world = World::new().await;
    let workflows = world.core.workflows();
    let run = world.plan("return 1").await;
    let always = RunDecision::AlwaysForScriptAndWorkspace;
    workflows.approve(&run.id, always, None, "test").await.unwrap();
    world.ended(&run.id).await;
    assert!(world.dir.path().join("data/dynamic-workflows/consents.json").is_file());
    let again = workflows.plan(script("return 1")).await.unwrap();
    assert!(!again.needs_approval);
    world.ended(&again.run.id).await;
    let elsewhere = NewRun { workspace: Some("/".into()), ..script("return 1") };
    for other in [elsewhere, script("return 2")] {
        assert!(workflows.plan(other).await.unwrap().needs_approval);
    }
    // It is there again for the next daemon.
    let world = world.restarted().await;
    assert!(!world.core.workflows().plan(script("return 1")).await.unwrap().needs_approval);

    let strict = WorkflowSettings { allows_always: false, ..WorkflowSettings::default() };
    let world = World::with(strict).await;
    let run = world.plan("return 1").await;
    let refused = world.core.workflows().approve(&run.id, always, None, "test").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    let unasked = WorkflowSettings { requires_approval: false, ..WorkflowSettings::default() };
    let world = World::with(unasked).await;
    let planned = world.core.workflows().plan(script("return 7")).await.unwrap();
    assert!(!planned.needs_approval);
    assert_eq!(world.ended(&planned.run.id).await.report.as_deref(), Some("7"));
    let off = WorkflowSettings { is_enabled: false, ..WorkflowSettings::default() };
    let world = World::with(off).await;
    assert!(world.core.workflows().plan(script("return 1")).await.is_err());
}

#[tokio::test]
async fn a_consent_ends_with_its_time() {
    let short = WorkflowSettings {
        consent_ttl: Some(Duration::from_nanos(1)),
        ..WorkflowSettings::default()
    };
    let world = World::with(short).await;
    let run = world.plan("return 1").await;
    let always = RunDecision::AlwaysForScriptAndWorkspace;
    world.core.workflows().approve(&run.id, always, None, "test").await.unwrap();
    world.ended(&run.id).await;
    assert!(world.core.workflows().plan(script("return 1")).await.unwrap().needs_approval);
}

#[tokio::test]
async fn no_more_agents_work_at_a_time_than_the_limit_says() {
    let world = World::new().await;
    let body = "return (await parallel(Array.from({ length: 1000 }, (_, i) => () => agent('p' + i)))).length";
    let run = world.run(body).await;
    assert_eq!((run.status, run.report.as_deref()), (RunStatus::Completed, Some("1000")));
    let most = world.fake.most.load(Ordering::SeqCst);
    assert!((2..=16).contains(&most), "{most}");
    assert!(run.concurrency_peak >= 2 && run.concurrency_peak <= 16, "{}", run.concurrency_peak);
    assert_eq!(run.agents.last().unwrap().id, "agent-1000");
    let lines = std::fs::read_to_string(
        world
            .dir
            .path()
            .join("data/dynamic-workflows/runs")
            .join(&run.id)
            .join("agent-results.jsonl"),
    );
    assert_eq!(lines.unwrap().lines().count(), 1000);
    let few = "return (await parallel([1, 2, 3].map((i) => () => agent('q' + i)))).length";
    let limited = text(few)
        .replace("description: 'd'", "limits: { maxConcurrentAgents: 1, maxAgentsPerRun: 2 }");
    let new = NewRun { script: Some(limited), ..script("") };
    let id = world.core.workflows().plan(new).await.unwrap().run.id;
    world.core.workflows().approve(&id, RunDecision::RunOnce, None, "test").await.unwrap();
    let run = world.ended(&id).await;
    assert_eq!(run.status, RunStatus::Failed);
    assert!(run.error.as_deref().unwrap().starts_with("LimitExceeded"), "{:?}", run.error);
}

#[tokio::test]
async fn a_paused_run_starts_nothing_until_it_goes_on() {
    let world = World::new().await;
    let workflows = world.core.workflows();
    let gate = world.fake.gate("a");
    let id = world.start("await agent('a'); await agent('HANG'); return 'x'").await;
    world
        .until(&id, |run| run.agents.iter().any(|agent| agent.status == AgentStatus::Running))
        .await;
    let paused = workflows.pause(&id, false, Some("lunch".to_owned())).await.unwrap();
    assert_eq!((paused.status, paused.reason.as_deref()), (RunStatus::Paused, Some("lunch")));
    assert_eq!(workflows.pause(&id, false, None).await.unwrap().reason.as_deref(), Some("lunch"));
    gate.add_permits(1);
    let held = world.until(&id, |run| run.agents.len() == 2).await;
    assert_eq!((held.status, held.agents[1].status), (RunStatus::Paused, AgentStatus::Queued));
    assert_eq!(world.fake.asked(), ["a"]);
    workflows.resume(&id, ClientGrant::default()).await.unwrap();
    world.until(&id, |run| run.agents[1].status == AgentStatus::Running).await;
    assert!(workflows.resume(&id, ClientGrant::default()).await.is_err());
    // With cancelling, those at work begin anew.
    workflows.pause(&id, true, None).await.unwrap();
    let off = world.until(&id, |run| run.agents[1].status == AgentStatus::Queued).await;
    assert_eq!(off.agents[1].attempt, 1);
    workflows.resume(&id, ClientGrant::default()).await.unwrap();
    let again = world.until(&id, |run| run.agents[1].status == AgentStatus::Running).await;
    assert_eq!(again.agents[1].attempt, 2);
    let stopped = workflows.stop(&id, Some("enough".to_owned())).await.unwrap();
    assert_eq!(
        (stopped.status, stopped.agents[1].status),
        (RunStatus::Stopped, AgentStatus::Cancelled)
    );
    while world.fake.now.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    // It stays as it is.
    let same = workflows.stop(&id, Some("again".to_owned())).await.unwrap();
    assert_eq!((same.status, same.reason.as_deref()), (RunStatus::Stopped, Some("enough")));
    assert!(
        workflows.pause(&id, false, None).await.is_err()
            && workflows.resume(&id, ClientGrant::default()).await.is_err()
    );
}

#[tokio::test]
async fn a_run_has_a_time_limit() {
    let world = World::new().await;
    let limited = text("await agent('HANG')")
        .replace("description: 'd'", "limits: { defaultRunTimeoutSeconds: 1 }");
    let new = NewRun { script: Some(limited), ..script("") };
    let id = world.core.workflows().plan(new).await.unwrap().run.id;
    world.core.workflows().approve(&id, RunDecision::RunOnce, None, "test").await.unwrap();
    let run = world.ended(&id).await;
    assert_eq!((run.status, run.agents[0].status), (RunStatus::Failed, AgentStatus::Cancelled));
    assert!(run.error.as_deref().unwrap().contains("longer than 1 s"));
}

#[tokio::test]
async fn after_a_restart_a_run_is_paused_and_no_agent_is_asked_twice() {
    let world = World::new().await;
    let body = "log('once'); const a = await agent('a'); const b = await agent(a + ' b'); const c = await agent('HANG if first'); return [a, b, c].join('; ')";
    let id = world.start(body).await;
    world
        .until(&id, |run| run.agents.len() == 3 && run.agents[2].status == AgentStatus::Running)
        .await;
    let waiting = world.plan("return 'waiting'").await;
    let asked = world.core.requests().list();
    // The script of this one is gone with its run when the next daemon looks.
    let gone = world.plan("return 'gone'").await;
    let runs = world.dir.path().join("data/dynamic-workflows/runs");
    std::fs::remove_dir_all(runs.join(&gone.id)).unwrap();
    let world = world.restarted().await;
    let run = world.core.workflows().get(&id, true, true).await.unwrap();
    assert_eq!((run.status, run.reason.as_deref()), (RunStatus::Paused, Some("daemon restarted")));
    // What waited for approval still does, and is the same request.
    assert_eq!(world.core.requests().list(), asked);
    let status = world.core.workflows().get(&waiting.id, false, false).await.unwrap().status;
    assert_eq!(status, RunStatus::AwaitingApproval);
    let mut news = world.core.log().subscribe(Topics::NOTICES, None);
    let resumed = world.core.workflows().resume(&id, ClientGrant::default()).await.unwrap();
    assert_eq!(resumed.status, RunStatus::Running);
    world
        .until(&id, |run| run.agents.get(2).is_some_and(|it| it.status == AgentStatus::Running))
        .await;
    // The fake of the second daemon was asked for the last alone.
    assert_eq!(world.fake.asked(), ["HANG if first"]);
    world.core.workflows().stop(&id, None).await.unwrap();
    let seen = changes(&mut news, "stopped").await;
    assert!(!seen.contains(&"> once".to_owned()), "{seen:?}");
    assert!(!seen.contains(&"agent-1 completed".to_owned()), "{seen:?}");
}

#[tokio::test]
async fn what_was_announced_of_agents_is_there_after_a_crash() {
    let world = World::new().await;
    let body = "phase('two'); const all = await parallel([() => agent('a'), () => agent('b', { phase: 'late' })]); return all.join() + await agent('last')";
    let gate = world.fake.gate("last");
    let run = world.plan(body).await;
    let record =
        world.dir.path().join("data/dynamic-workflows/runs").join(&run.id).join("run.json");
    world.core.workflows().approve(&run.id, RunDecision::RunOnce, None, "test").await.unwrap();
    let before = std::fs::read_to_string(&record).unwrap();
    let is_last_at_work =
        |run: &Run| run.agents.get(2).is_some_and(|agent| agent.status == AgentStatus::Running);
    let announced = world.until(&run.id, is_last_at_work).await;
    world.core.stop(StopKind::KeepTerminals).await.unwrap();
    // As a daemon leaves it that was killed before it wrote what its agents did.
    std::fs::write(&record, before).unwrap();
    let fake = Arc::new(Fake::default());
    let core = core_in(world.dir.path(), &fake, WorkflowSettings::default()).await;
    let world = World { core, fake, ..world };
    let found = world.core.workflows().get(&run.id, false, true).await.unwrap();
    assert_eq!(found.status, RunStatus::Paused);
    let shown = |run: &Run| {
        let name = |id: &str| {
            let phase = run.phases.iter().find(|phase| phase.id == id).unwrap();
            (phase.name.clone(), phase.completed_agents)
        };
        let agents = run.agents.iter().take(2);
        agents
            .map(|one| (one.id.clone(), name(&one.phase), one.attempt, one.output_preview.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(&found), shown(&announced));
    let mut news = world.core.log().subscribe(Topics::NOTICES, None);
    world.core.workflows().resume(&run.id, ClientGrant::default()).await.unwrap();
    let seen = changes(&mut news, "completed").await;
    let repeated = |line: &&String| line.starts_with("agent-1") || line.starts_with("agent-2");
    assert_eq!(seen.iter().find(repeated), None);
    drop(gate);
    assert_eq!(world.fake.asked(), ["last"]);
    assert_eq!(world.ended(&run.id).await.report.as_deref(), Some("re: a,re: bre: last"));
}

/// Takes out of a file of a run where its agents were asked: versions before counted all of the same content.
fn without_places(path: &Path, ends_lines: bool) {
    let old = |value: &mut Value| {
        let second = value["agentId"] == "agent-2";
        value.as_object_mut().unwrap().remove("record");
        let key = value["key"].as_object_mut().unwrap();
        key.remove("path").unwrap();
        if second {
            key["occurrence"] = json!(1);
        }
    };
    let text = std::fs::read_to_string(path).unwrap();
    let written = if ends_lines {
        let mut lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.iter_mut().for_each(old);
        lines.iter().map(|line| format!("{line}\n")).collect()
    } else {
        let mut run: Value = serde_json::from_str(&text).unwrap();
        run["agents"].as_array_mut().unwrap().iter_mut().for_each(old);
        run.to_string()
    };
    std::fs::write(path, written).unwrap();
}

#[tokio::test]
async fn answers_that_were_kept_without_their_places_are_found_again() {
    let world = World::new().await;
    let body = "const all = await parallel([() => agent('same'), () => agent('same'), () => agent('other')])\n\
        return all.join() + await agent('last')";
    let gate = world.fake.gate("last");
    let id = world.start(body).await;
    let is_last_at_work = |run: &Run| {
        let last = run.agents.get(3);
        last.is_some_and(|agent| agent.status == AgentStatus::Running)
    };
    world.until(&id, is_last_at_work).await;
    world.core.stop(StopKind::KeepTerminals).await.unwrap();
    let dir = world.dir.path().join("data/dynamic-workflows/runs").join(&id);
    without_places(&dir.join("agent-results.jsonl"), true);
    without_places(&dir.join("run.json"), false);
    let fake = Arc::new(Fake::default());
    let core = core_in(world.dir.path(), &fake, WorkflowSettings::default()).await;
    let world = World { core, fake, ..world };
    world.core.workflows().resume(&id, ClientGrant::default()).await.unwrap();
    let run = world.ended(&id).await;
    drop(gate);
    assert_eq!(run.report.as_deref(), Some("re: same,re: same,re: otherre: last"));
    assert_eq!(world.fake.asked(), ["last"]);
    let seen: Vec<_> =
        run.agents.iter().map(|agent| (agent.id.as_str(), agent.is_cached)).collect();
    let expected = [("agent-1", true), ("agent-2", true), ("agent-3", true), ("agent-4", false)];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn an_agent_begins_anew_and_the_report_is_made_again() {
    let world = World::new().await;
    let workflows = world.core.workflows();
    let run = world
        .run("const a = await agent('a'); const b = await agent('b'); return a + ', ' + b")
        .await;
    let (again, agent) =
        workflows.restart_agent(&run.id, "agent-2", ClientGrant::default()).await.unwrap();
    assert_eq!((agent.status, agent.attempt), (AgentStatus::Queued, 1));
    assert!(!again.status.is_terminal());
    let run = world.ended(&run.id).await;
    assert_eq!((run.status, run.report.as_deref()), (RunStatus::Completed, Some("re: a, re: b")));
    assert_eq!(world.fake.asked(), ["a", "b", "b"]);
    assert!(run.agents[0].is_cached && !run.agents[1].is_cached);
    assert_eq!(run.agents[1].attempt, 2);
    assert!(workflows.restart_agent(&run.id, "agent-9", ClientGrant::default()).await.is_err());
    // One that is at work.
    let id = world.start("return await agent('HANG')").await;
    world
        .until(&id, |run| run.agents.first().is_some_and(|one| one.status == AgentStatus::Running))
        .await;
    workflows.restart_agent(&id, "agent-1", ClientGrant::default()).await.unwrap();
    world.until(&id, |run| run.agents[0].attempt == 2).await;
    workflows.stop(&id, None).await.unwrap();
    assert!(workflows.restart_agent(&id, "agent-1", ClientGrant::default()).await.is_err());
}

#[tokio::test]
async fn where_one_agent_begins_anew_no_other_is_asked_again_also_if_it_failed() {
    let world = World::new().await;
    let workflows = world.core.workflows();
    let body = "return [await agent('a'), await agent('FAIL'), await agent('TIMEOUT')].join()";
    let run = world.run(body).await;
    let mut news = world.core.log().subscribe(Topics::NOTICES, None);
    workflows.restart_agent(&run.id, "agent-1", ClientGrant::default()).await.unwrap();
    let seen = changes(&mut news, "completed").await;
    assert!(seen.iter().all(|line| !line.starts_with("agent-2")), "{seen:?}");
    assert!(seen.iter().all(|line| !line.starts_with("agent-3")), "{seen:?}");
    assert_eq!(world.fake.asked(), ["a", "FAIL", "TIMEOUT", "a"]);
    let again = world.ended(&run.id).await;
    assert_eq!(again.report.as_deref(), Some("re: a,,"));
    assert_eq!(again.agents[1].error, run.agents[1].error);
    let statuses: Vec<AgentStatus> = again.agents.iter().map(|agent| agent.status).collect();
    assert_eq!(statuses, [AgentStatus::Completed, AgentStatus::Failed, AgentStatus::Timeout]);
    // The one that failed is, when it is named.
    workflows.restart_agent(&run.id, "agent-2", ClientGrant::default()).await.unwrap();
    changes(&mut news, "completed").await;
    assert_eq!(world.fake.asked().last().map(String::as_str), Some("FAIL"));
    assert_eq!(world.fake.asked().len(), 5);
}

#[tokio::test]
async fn a_run_that_is_resumed_asks_those_again_that_failed() {
    let world = World::new().await;
    let id = world.start("await agent('FAIL'); return await agent('HANG')").await;
    let is_at_work =
        |run: &Run| run.agents.get(1).is_some_and(|agent| agent.status == AgentStatus::Running);
    world.until(&id, is_at_work).await;
    let world = world.restarted().await;
    // What was announced of it is still so.
    let run = world.core.workflows().get(&id, false, true).await.unwrap();
    assert_eq!(run.agents[0].status, AgentStatus::Failed);
    world.core.workflows().resume(&id, ClientGrant::default()).await.unwrap();
    world.until(&id, is_at_work).await;
    assert_eq!(world.fake.asked(), ["FAIL", "HANG"]);
    world.core.workflows().stop(&id, None).await.unwrap();
}

#[tokio::test]
async fn agents_that_end_with_their_run_are_announced_before_it() {
    let world = World::new().await;
    let id = world.start("return await agent('HANG')").await;
    world
        .until(&id, |run| run.agents.first().is_some_and(|one| one.status == AgentStatus::Running))
        .await;
    let mut news = world.core.log().subscribe(Topics::NOTICES, None);
    world.core.workflows().stop(&id, None).await.unwrap();
    let seen = changes(&mut news, "stopped").await;
    assert_eq!(seen, ["agent-1 failed cancelled", "-main", "stopped None"]);
}

#[tokio::test]
async fn who_resumes_a_run_or_restarts_an_agent_brings_mode_and_keys_along() {
    let world = World::new().await;
    let id = world.start("return await agent('HANG')").await;
    let is_at_work =
        |run: &Run| run.agents.first().is_some_and(|one| one.status == AgentStatus::Running);
    world.until(&id, is_at_work).await;
    let world = world.restarted().await;
    let workflows = world.core.workflows();
    let key = world.core.agents().lend_key("openai", None, "hunter2").unwrap();
    let grant = ClientGrant { client: Some(7), keys: vec![key] };
    workflows.resume(&id, grant).await.unwrap();
    world.until(&id, is_at_work).await;
    // Who brings nothing takes nothing away.
    let grant = ClientGrant { client: Some(8), keys: Vec::new() };
    workflows.restart_agent(&id, "agent-1", grant).await.unwrap();
    world.until(&id, |run| run.agents[0].attempt == 3).await;
    assert_eq!(*world.fake.grants.lock(), [(Some(7), 1), (Some(8), 1)]);
    workflows.stop(&id, None).await.unwrap();
}

#[tokio::test]
async fn checkpoints_are_kept_and_announced() {
    let world = World::new().await;
    let mut news = world.core.log().subscribe(Topics::NOTICES, None);
    let source = "workflow.define({ name: 'c' }, async (ctx) => { ctx.checkpoint.save('k', [1]); return ctx.checkpoint.read('k') })";
    let new = NewRun { script: Some(source.to_owned()), ..script("") };
    let id = world.core.workflows().plan(new).await.unwrap().run.id;
    world.core.workflows().approve(&id, RunDecision::RunOnce, None, "test").await.unwrap();
    assert_eq!(world.ended(&id).await.report.as_deref(), Some("[1]"));
    assert!(changes(&mut news, "completed").await.contains(&"checkpoint k 3".to_owned()));
}

#[tokio::test]
async fn scripts_are_found_saved_and_deleted() {
    let world = World::new().await;
    let workflows = world.core.workflows();
    let home = world.dir.path().to_owned();
    let dir = home.join(".agents/workflows/deep");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::create_dir_all(home.join(".claude/workflows")).unwrap();
    std::fs::write(dir.join("a.workflow.js"), text("return 'a'").replace("'test'", "'alpha'"))
        .unwrap();
    std::fs::write(dir.join("broken.workflow.js"), "nothing").unwrap();
    std::fs::write(dir.join("other.js"), "nothing").unwrap();
    std::fs::write(
        home.join(".claude/workflows/c.js"),
        text("return 1").replace("'test'", "'claude'"),
    )
    .unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.join("link.workflow.js")).unwrap();
    let query =
        ScriptQuery { workspace: Some(home.clone()), with_user: false, with_built_in: true };
    let found = workflows.scripts(query).await.unwrap();
    let names: Vec<&str> = found.scripts.iter().map(|script| script.name.as_str()).collect();
    assert_eq!(names, ["alpha", "claude", "deep-research"]);
    assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
    assert!(found.scripts.iter().all(|script| super::files::is_name(&script.id)));
    let new = NewRun { script: None, name: Some("alpha".to_owned()), ..script("") };
    let run = workflows.plan(new).await.unwrap().run;
    assert_eq!(run.script.kind, ScriptKind::Workspace);
    // Saved under its own name, once.
    for kind in [ScriptKind::User, ScriptKind::Workspace] {
        let saved = workflows.save(&run.id, "alpha", kind, false).await.unwrap();
        assert_eq!((saved.name.as_str(), saved.kind), ("alpha", kind));
        assert!(workflows.save(&run.id, "alpha", kind, false).await.is_err());
        workflows.save(&run.id, "alpha", kind, true).await.unwrap();
        assert!(!workflows.delete_script(&saved.id, false, None).await.unwrap());
        assert!(workflows.delete_script(&saved.id, true, None).await.unwrap());
        assert!(!saved.path.unwrap().exists());
        assert!(workflows.delete_script(&saved.id, true, None).await.is_err());
    }
    for wrong in ["../alpha", "beta", ""] {
        assert!(workflows.save(&run.id, wrong, ScriptKind::User, false).await.is_err(), "{wrong}");
    }
    assert!(workflows.delete_script("builtin:deep-research", true, None).await.is_err());
    assert_eq!(
        workflows.script(None, None, None, None).await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let read = workflows
        .script(None, Some("deep-research"), Some(ScriptKind::BuiltIn), None)
        .await
        .unwrap();
    assert!(read.body.unwrap().contains("verification"));
}

#[tokio::test]
async fn deep_research_goes_through_its_phases() {
    let world = World::new().await;
    let arguments = json!({ "question": "why", "queries": ["one", "two"] });
    let name = Some("deep-research".to_owned());
    let new = NewRun { script: None, name, arguments, ..script("") };
    let id = world.core.workflows().plan(new).await.unwrap().run.id;
    world.core.workflows().approve(&id, RunDecision::RunOnce, None, "test").await.unwrap();
    let run = world.ended(&id).await;
    assert_eq!(run.status, RunStatus::Completed, "{:?}", run.error);
    let phases: Vec<(&str, PhaseStatus)> =
        run.phases.iter().map(|phase| (phase.name.as_str(), phase.status)).collect();
    let done = PhaseStatus::Completed;
    assert_eq!(
        phases,
        [("scope", done), ("parallel-research", done), ("synthesis", done), ("verification", done)]
    );
    assert_eq!(run.agents.len(), 4);
    assert!(run.report.unwrap().starts_with("# why\n"));
    let wrong = NewRun {
        script: None,
        name: Some("deep-research".to_owned()),
        arguments: json!({}),
        ..script("")
    };
    assert_eq!(world.core.workflows().plan(wrong).await.unwrap_err().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn a_task_drives_a_run_without_asking() {
    let world = World::new().await;
    let workflows = world.core.workflows();
    let input = |body: &str| TaskInput {
        run: "workflow-mine".to_owned(),
        new: script(body),
        is_paused: false,
    };
    let handle = workflows.start_as_task(input("return await agent('p')")).await.unwrap();
    assert_eq!(handle.id(), "workflow-mine");
    let end = tokio::time::timeout(PATIENCE, handle.wait()).await.unwrap();
    assert_eq!(
        (end.run.status, end.run.report.as_deref(), end.reused_results),
        (RunStatus::Completed, Some("re: p"), 0)
    );
    assert_eq!(
        workflows.start_as_task(input("return 1")).await.err().unwrap().kind(),
        ErrorKind::Conflict
    );
    let bad = TaskInput { run: "../x".to_owned(), ..input("return 1") };
    assert_eq!(workflows.start_as_task(bad).await.err().unwrap().kind(), ErrorKind::Invalid);
    assert!(world.core.requests().list().is_empty());
}

#[tokio::test]
async fn a_run_that_a_task_left_is_taken_up_by_the_next_one() {
    let world = World::new().await;
    let body = "const first = await agent('p'); return first + await agent('HANG')";
    let input =
        |body: &str| TaskInput { run: "mine".to_owned(), new: script(body), is_paused: false };
    let handle = world.core.workflows().start_as_task(input(body)).await.unwrap();
    world.until("mine", |run| run.agents.len() == 2).await;
    // One task at a time.
    let taken = world.core.workflows().start_as_task(input(body)).await.err().unwrap();
    assert_eq!(taken.kind(), ErrorKind::Conflict);
    drop(handle);
    let world = world.restarted().await;
    let workflows = world.core.workflows();
    assert_eq!(workflows.get("mine", false, false).await.unwrap().status, RunStatus::Paused);
    assert!(world.core.requests().list().is_empty(), "it was approved with its task");
    let other = workflows.start_as_task(input("return 1")).await.err().unwrap();
    assert_eq!(other.kind(), ErrorKind::Conflict, "it is another script");
    let handle = workflows.start_as_task(input(body)).await.unwrap();
    world.until("mine", |run| run.agents.len() == 2 && run.agents[0].is_cached).await;
    workflows.stop("mine", Some("enough".to_owned())).await.unwrap();
    let end = tokio::time::timeout(PATIENCE, handle.wait()).await.unwrap();
    assert_eq!((end.run.status, end.reused_results), (RunStatus::Stopped, 1));
    assert_eq!(world.fake.asked(), ["HANG"], "who answered is not asked again");
    assert_eq!(RunEnd::of_payload(&end.to_payload()).unwrap(), end);
}

#[tokio::test]
async fn a_paused_run_of_a_task_begins_when_it_is_resumed() {
    let world = World::new().await;
    let workflows = world.core.workflows();
    let limits = Some(json!({ "maxAgentsPerRun": 1 }));
    let new = NewRun { limits, ..script("await agent('a'); return await agent('b')") };
    let input = TaskInput { run: "mine".to_owned(), new, is_paused: true };
    let handle = workflows.start_as_task(input).await.unwrap();
    assert_eq!(workflows.get("mine", false, false).await.unwrap().status, RunStatus::Paused);
    assert!(world.fake.asked().is_empty());
    workflows.resume("mine", ClientGrant::default()).await.unwrap();
    let end = tokio::time::timeout(PATIENCE, handle.wait()).await.unwrap();
    assert_eq!(end.run.status, RunStatus::Failed);
    assert!(end.run.error.unwrap().contains("LimitExceeded"));
    assert_eq!(world.fake.asked(), ["a"]);
}

#[tokio::test]
async fn of_a_large_run_a_task_keeps_no_agents() {
    let world = World::new().await;
    let body = "return (await parallel(Array.from({ length: 900 }, (_, i) => () => agent('p' + i)))).length";
    let run = world.run(body).await;
    let end = RunEnd { run, reused_results: 0 };
    let kept = RunEnd::of_payload(&end.to_payload()).unwrap();
    assert!(end.run.agents.len() == 900 && kept.run.agents.is_empty());
    assert_eq!((kept.run.report, kept.run.status), (end.run.report, end.run.status));
}

#[tokio::test]
async fn a_damaged_record_hides_no_other() {
    let world = World::new().await;
    let good = world.run("return 1").await;
    let bad = world.run("return 2").await;
    let runs = world.dir.path().join("data/dynamic-workflows/runs");
    std::fs::write(runs.join(&bad.id).join("run.json"), "{\"run_id\":").unwrap();
    let world = world.restarted().await;
    let left = world.core.workflows().list(None, true, None).await;
    assert_eq!(left.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), [good.id.as_str()]);
    let aside = std::fs::read_dir(runs.join(&bad.id)).unwrap();
    assert!(aside.flatten().any(|entry| entry.file_name().to_string_lossy().contains(".corrupt-")));
}

/// A core whose agents are children, and the mock answers if it may.
async fn with_children(provider: Option<&str>) -> World {
    let dir = tempfile::tempdir().unwrap();
    let fake = Arc::new(Fake::default());
    let core = core_with(dir.path(), &fake, WorkflowSettings::default(), provider).await;
    *core.inner.workflows.dispatch.lock() = None;
    World { dir, fake, core }
}

#[tokio::test]
async fn a_script_gets_all_that_an_agent_said() {
    let world = with_children(None).await;
    let prompt = format!("MOCK_SCRIPT:[{{\"text\": \"{}\"}}]", "x".repeat(5_000));
    let run = world.run(&format!("return String((await agent({})).length)", json!(prompt))).await;
    assert_eq!(run.report.as_deref(), Some("5000"), "{run:?}");
}

#[tokio::test]
async fn without_a_provider_agents_fail_and_nothing_is_made_up() {
    let world = with_children(None).await;
    let run = world.run("return String(await agent('why is the build slow'))").await;
    assert_eq!((run.status, run.report.as_deref()), (RunStatus::Completed, Some("null")));
    assert_eq!(run.agents[0].status, AgentStatus::Failed);
    let error = run.agents[0].error.as_deref().unwrap();
    assert!(error.contains("no provider is set up"), "{error}");
    // Whoever chose the mock wants it, in the settings or in the script.
    let named = "return String(await agent('hello', { model: 'mock/mock' }))";
    assert_ne!(world.run(named).await.report.as_deref(), Some("null"));
    let chosen = with_children(Some("mock")).await;
    let run = chosen.run("return String(await agent('why is the build slow'))").await;
    assert_ne!(run.report.as_deref(), Some("null"), "{run:?}");
}

#[tokio::test]
async fn attack_a_schema_that_doubles_is_refused_before_anything_is_asked() {
    let world = World::new().await;
    let mut definitions = serde_json::Map::new();
    definitions.insert("a0".to_owned(), json!({ "type": "null" }));
    for number in 1..=40 {
        let below = json!({ "$ref": format!("#/$defs/a{}", number - 1) });
        definitions.insert(format!("a{number}"), json!({ "allOf": [below, below] }));
    }
    let schema = json!({ "$defs": definitions, "$ref": "#/$defs/a40" });
    let source = format!(
        "export const meta = {{ name: 'test', description: 'd', argumentsSchema: {schema} }}\nreturn 1"
    );
    let new = NewRun { script: Some(source), ..script("") };
    let error = world.core.workflows().plan(new).await.unwrap_err();
    assert!(error.message().contains("steps"), "{error}");
    assert!(world.core.requests().list().is_empty());
}

#[tokio::test]
async fn a_nested_script_is_approved_with_the_one_that_names_it() {
    let world = World::new().await;
    let workflows = world.core.workflows();
    let dir = world.dir.path().join(".agents/workflows");
    std::fs::create_dir_all(&dir).unwrap();
    let inner = |body: &str| text(body).replace("'test'", "'inner-one'");
    let file = dir.join("inner-one.workflow.js");
    std::fs::write(&file, inner("return 'first'")).unwrap();
    let body = "try { return await workflow('inner-one') } catch (e) { return e.message }";
    let run = world.plan(body).await;
    assert_eq!(run.nested.keys().collect::<Vec<_>>(), ["inner-one"]);
    let asked = world.core.requests().list();
    assert!(format!("{asked:?}").contains("run the workflows inner-one"), "{asked:?}");
    let always = RunDecision::AlwaysForScriptAndWorkspace;
    workflows.approve(&run.id, always, None, "test").await.unwrap();
    assert_eq!(world.ended(&run.id).await.report.as_deref(), Some("first"));
    assert!(!workflows.plan(script(body)).await.unwrap().needs_approval);
    // Another text under the same name is not what was approved.
    let run = world.plan("await agent('wait'); return await workflow('inner-one')").await;
    let gate = world.fake.gate("wait");
    workflows.approve(&run.id, RunDecision::RunOnce, None, "test").await.unwrap();
    std::fs::write(&file, inner("return 'second'")).unwrap();
    gate.add_permits(1);
    let ended = world.ended(&run.id).await;
    assert_eq!(ended.status, RunStatus::Failed);
    assert!(ended.error.unwrap().contains("changed since this run was planned"));
    assert!(workflows.plan(script(body)).await.unwrap().needs_approval);
}

#[tokio::test]
async fn an_answer_that_the_last_daemon_did_not_carry_out_is_carried_out() {
    for (answer, status) in [
        (Answer::Approved { remember: false }, RunStatus::Completed),
        (Answer::Denied { message: None }, RunStatus::Failed),
    ] {
        let world = World::new().await;
        let run = world.plan("return 'ran'").await;
        let record =
            world.dir.path().join("data/dynamic-workflows/runs").join(&run.id).join("run.json");
        let before = std::fs::read(&record).unwrap();
        let request = world.core.requests().list()[0].id;
        world.core.requests().resolve(request, answer, "elsewhere").await.unwrap();
        world.ended(&run.id).await;
        world.core.stop(StopKind::KeepTerminals).await.unwrap();
        // As a daemon leaves it that was killed right after the answer.
        std::fs::write(&record, before).unwrap();
        let core = core_in(world.dir.path(), &world.fake, WorkflowSettings::default()).await;
        let world = World { core, ..world };
        assert_eq!(world.ended(&run.id).await.status, status);
        assert!(world.core.requests().list().is_empty());
    }
}

#[tokio::test]
async fn paused_runs_hold_up_no_others() {
    let world = World::new().await;
    for _ in 0..16 {
        let id = world.start("await agent('HANG')").await;
        world.until(&id, |run| !run.agents.is_empty()).await;
        world.core.workflows().pause(&id, false, None).await.unwrap();
    }
    assert_eq!(world.run("return 'through'").await.report.as_deref(), Some("through"));
}
