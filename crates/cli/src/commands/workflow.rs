//! `rookery workflow`: scripts that start child agents, planned, run, followed and stopped.

use std::collections::HashMap;
use std::io::{self, BufRead as _, IsTerminal as _};

use rookery_native::wire::{
    WorkflowApprove, WorkflowDecision, WorkflowGet, WorkflowList, WorkflowPlan, WorkflowPlanned,
    WorkflowProgress, WorkflowRun, WorkflowRuns, WorkflowStop, WorkflowWait,
};
use rookery_view::safe;
use rookery_wire::Client;

use crate::{
    args::{self, WorkflowAction, WorkflowWhat},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::{self, ask},
    output::{self, Colors, Table, Tone, shorten},
    talk::{age, requests::short_id, sessions},
};

/// What to do when a run is not found.
const SEE: &str = "run `rookery workflow ls --all` to list runs";
/// What to do when a plan is refused.
const PLAN: &str = "see docs/workflows.md for both forms of scripts";
/// The id of a run that is only looked at.
const PREVIEW: &str = "preview";
/// Columns of a description.
const WIDTH: usize = 60;

pub(super) async fn run(action: WorkflowAction) -> Outcome {
    match action {
        WorkflowAction::Plan(args) => {
            let client = daemon_process::connect_or_start().await?;
            plan(&client, args).await
        }
        WorkflowAction::Run(args) => {
            let client = daemon_process::connect_or_start().await?;
            start(&client, args).await
        }
        WorkflowAction::Ls(args) => list(&link::connect().await?, args).await,
        WorkflowAction::Show(args) => show(&link::connect().await?, args).await,
        WorkflowAction::Stop(args) => stop(&link::connect().await?, args).await,
    }
}

/// What the daemon is asked to plan.
fn wanted(what: &WorkflowWhat) -> Outcome<WorkflowPlan> {
    let script = match &what.script {
        None => None,
        Some(path) => {
            let doing = Failure::doing(format!("cannot read {}", path.display()));
            Some(std::fs::read_to_string(path).map_err(doing)?)
        }
    };
    let arguments = match &what.arguments {
        None => serde_json::Value::Null,
        Some(text) => serde_json::from_str(text).map_err(|error| {
            Failure::new(format!("--arguments is not valid JSON: {error}")).code(2)
        })?,
    };
    let here = std::env::current_dir().ok();
    let workspace = sessions::directory(what.workspace.as_deref())?.or(here);
    let (prompt, name) = (what.prompt.clone(), what.name.clone());
    Ok(WorkflowPlan { prompt, workspace, arguments, script, name, preview: false })
}

/// A plan is looked at and not kept.
async fn plan(client: &Client, args: args::WorkflowPlan) -> Outcome {
    let params = WorkflowPlan { preview: true, ..wanted(&args.what)? };
    let planned: WorkflowPlanned = ask(client, params, PLAN).await?;
    if args.what.json {
        output::json(&planned)?;
        return done();
    }
    output::write(described(&planned.run, Colors::of_stdout()).as_bytes())?;
    if let Some(script) = &planned.script {
        output::line("")?;
        output::line(safe::text(script))?;
        output::note(
            "the model may write another script next time; keep this one and run it with --script",
        );
    }
    output::note(match planned.needs_approval {
        true => "nothing was started; `rookery workflow run` asks before it does",
        false => "nothing was started; `rookery workflow run` starts it without asking",
    });
    done()
}

async fn start(client: &Client, args: args::WorkflowRun) -> Outcome {
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !args.yes && !can_ask {
        let failure =
            Failure::new("a workflow starts agents, and there is no terminal to confirm on");
        return Err(failure
            .hint("repeat the command with --yes to start it without confirmation")
            .code(2));
    }
    let planned: WorkflowPlanned = ask(client, wanted(&args.what)?, PLAN).await?;
    let id = planned.run.head.id.clone();
    if planned.needs_approval {
        let decision = if args.yes {
            WorkflowDecision::RunOnce
        } else {
            output::status(described(&planned.run, Colors::of_stderr()));
            consent()?
        };
        let approve = WorkflowApprove { run: id.clone(), decision, reason: None };
        let _: WorkflowRun = ask(client, approve, SEE).await?;
        if decision == WorkflowDecision::Deny {
            return Err(Failure::new("the workflow was not started"));
        }
    }
    if args.detach {
        output::line(&id)?;
        return done();
    }
    let run = tokio::select! {
        run = follow(client, &id, args.what.json) => run?,
        _ = tokio::signal::ctrl_c() => {
            let hint = format!(
                "see it with `rookery workflow show {id}`, end it with `rookery workflow stop {id}`"
            );
            return Err(Failure::new("the workflow keeps running").hint(hint).code(130));
        }
    };
    if args.what.json {
        output::json(&run)?;
    } else if let Some(report) = &run.report {
        output::line(safe::text(report))?;
    }
    ended(&run)
}

/// Asks on the terminal.
fn consent() -> Outcome<WorkflowDecision> {
    output::status("start it? [y]es, [a]lways for this script and directory, [N]o: ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(Failure::doing("cannot read the answer"))?;
    Ok(match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => WorkflowDecision::RunOnce,
        "a" | "always" => WorkflowDecision::AlwaysForScriptAndWorkspace,
        _ => WorkflowDecision::Deny,
    })
}

/// Follows a run to its end, and says what happens in it.
async fn follow(client: &Client, id: &str, is_quiet: bool) -> Outcome<WorkflowRun> {
    let mut shown = Shown::default();
    let (mut seen, mut waiting) = (None, Vec::new());
    loop {
        let wait = WorkflowWait { run: id.to_owned(), since: None, seen, waiting };
        let found: WorkflowProgress = ask(client, wait, SEE).await?;
        if !is_quiet {
            shown.news(&found).into_iter().for_each(output::note);
        }
        if is_over(&found.run) {
            return Ok(found.run);
        }
        seen = Some(found.revision);
        waiting = found.waiting.into_iter().map(|it| it.request).collect();
    }
}

/// What was shown of a run.
#[derive(Default)]
struct Shown {
    /// The status of agents and phases, by their ids.
    known: HashMap<String, String>,
    line: u64,
    is_paused: bool,
    waiting: Vec<String>,
}

impl Shown {
    /// What is to be shown: phases that begin, lines of the script, agents, and what waits for a person.
    fn news(&mut self, found: &WorkflowProgress) -> Vec<String> {
        let mut news = Vec::new();
        let run = &found.run;
        for phase in &run.phases {
            let is_new = self.is_new(&phase.id, &phase.status);
            if is_new && phase.status == "running" {
                news.push(format!("phase {}", safe::line(&phase.name)));
            }
        }
        for line in &found.lines {
            let missing = line.number.saturating_sub(self.line + 1);
            if missing > 0 {
                news.push(format!("({missing} lines are left out)"));
            }
            self.line = line.number;
            news.push(format!("> {}", safe::line(&line.text)));
        }
        for agent in &run.agent_list {
            if !self.is_new(&agent.id, &agent.status) {
                continue;
            }
            let what = shorten(&safe::line(&agent.description), WIDTH);
            let why = agent.error.as_deref();
            let why = why.map_or(String::new(), |why| format!(": {}", safe::line(why)));
            news.push(format!("{} {} ({what}){why}", agent.id, agent.status));
        }
        for one in found.waiting.iter().filter(|it| !self.waiting.contains(&it.request)) {
            let (agent, request) = (&one.agent, &one.request);
            news.push(format!(
                "{agent} waits for you: see `rookery inbox`, or `rookery approve {request}`"
            ));
        }
        self.waiting = found.waiting.iter().map(|it| it.request.clone()).collect();
        let is_paused = run.head.status == "paused";
        if is_paused != self.is_paused {
            self.is_paused = is_paused;
            news.push(if is_paused { "the run is paused" } else { "the run goes on" }.to_owned());
        }
        news
    }

    fn is_new(&mut self, id: &str, status: &str) -> bool {
        self.known.insert(id.to_owned(), status.to_owned()).as_deref() != Some(status)
    }
}

fn is_over(run: &WorkflowRun) -> bool {
    matches!(run.head.status.as_str(), "completed" | "failed" | "stopped")
}

fn ended(run: &WorkflowRun) -> Outcome {
    if run.head.status == "completed" {
        return done();
    }
    let why = run.error.as_deref().or(run.reason.as_deref()).unwrap_or("no reason was given");
    Err(Failure::new(format!("the workflow {}: {}", run.head.status, safe::line(why))))
}

async fn list(client: &Client, args: args::WorkflowLs) -> Outcome {
    let params = WorkflowList { all: args.all, limit: args.limit };
    let list: WorkflowRuns = ask(client, params, SEE).await?;
    if args.json {
        output::json(&list)?;
    } else if list.runs.is_empty() {
        output::note("no workflows are running; include those that are over with --all");
    } else {
        let now = age::now();
        let mut table = Table::new(&["ID", "AGE", "STATUS", "AGENTS", "NAME"]);
        let ids = list.runs.iter().map(|run| &*run.id);
        for run in &list.runs {
            let finished = run.completed_agents + run.failed_agents;
            table.row(vec![
                (Tone::Strong, short_id(&run.id, ids.clone()).to_owned()),
                (Tone::Faint, age::since_text(&run.created_at, now)),
                (Tone::Plain, run.status.replace('_', " ")),
                (Tone::Faint, format!("{finished}/{}", run.agents)),
                (Tone::Plain, shorten(&safe::line(&run.name), WIDTH)),
            ]);
        }
        table.print()?;
    }
    done()
}

async fn show(client: &Client, args: args::WorkflowShow) -> Outcome {
    let run: WorkflowRun = ask(client, WorkflowGet { run: args.run }, SEE).await?;
    if args.json {
        output::json(&run)?;
        return done();
    }
    output::write(described(&run, Colors::of_stdout()).as_bytes())?;
    let mut table = Table::new(&["AGENT", "STATUS", "TRIES", "DESCRIPTION"]);
    for agent in &run.agent_list {
        let status =
            if agent.cached { format!("{} (kept)", agent.status) } else { agent.status.clone() };
        table.row(vec![
            (Tone::Strong, agent.id.clone()),
            (Tone::Plain, status),
            (Tone::Faint, agent.attempt.to_string()),
            (Tone::Plain, shorten(&safe::line(&agent.description), WIDTH)),
        ]);
    }
    if !run.agent_list.is_empty() {
        table.print()?;
    }
    if let Some(report) = &run.report {
        output::line("")?;
        output::line(safe::text(report))?;
    }
    done()
}

async fn stop(client: &Client, args: args::WorkflowStop) -> Outcome {
    let params = WorkflowStop { run: args.run, reason: args.reason };
    let run: WorkflowRun = ask(client, params, SEE).await?;
    match args.json {
        true => output::json(&run)?,
        false => output::note(format!("{} is {}", run.head.id, run.head.status)),
    }
    done()
}

/// Where the script of a run comes from.
fn origin(run: &WorkflowRun) -> String {
    let source = match run.source.as_str() {
        "built_in" => "Rookery itself",
        "user" => "your own workflows",
        "workspace" => "this workspace",
        _ => "this request",
    };
    match &run.path {
        Some(path) => format!("{source}: {}", path.to_string_lossy()),
        None => source.to_owned(),
    }
}

/// A run in a few lines: what would be started, and within which limits.
fn described(run: &WorkflowRun, colors: Colors) -> String {
    let id = Some(&run.head.id).filter(|id| *id != PREVIEW);
    let id = id.map_or(String::new(), |id| format!("  {}", colors.paint(Tone::Faint, id)));
    let name = colors.paint(Tone::Strong, &safe::line(&run.head.name));
    let mut text = format!("{name}{id}\n");
    if let Some(description) = &run.description {
        text += &format!("{}\n", safe::line(description));
    }
    let mut line = |name: &str, value: String| text += &format!("{name:10}{value}\n");
    if run.head.id != PREVIEW {
        line("status", run.head.status.replace('_', " "));
    }
    line("script", format!("sha256 {}", run.script_hash));
    line("from", safe::line(&origin(run)));
    if !run.nested.is_empty() {
        line("may run", safe::line(&run.nested.join(", ")));
    }
    if let Some(workspace) = &run.workspace {
        line("works in", safe::line(&workspace.to_string_lossy()));
    }
    line(
        "limits",
        format!(
            "at most {} agents, {} at a time, {} s each, {} s in all",
            run.max_agents,
            run.max_concurrent_agents,
            run.agent_timeout_seconds,
            run.run_timeout_seconds
        ),
    );
    if let Some(warning) = &run.warning {
        line("note", warning.clone());
    }
    let phases: Vec<String> = run.phases.iter().map(|phase| safe::line(&phase.name)).collect();
    if !phases.is_empty() {
        line("phases", phases.join(", "));
    }
    if let Some(why) = run.error.as_ref().or(run.reason.as_ref()) {
        line("reason", safe::line(why));
    }
    text
}
