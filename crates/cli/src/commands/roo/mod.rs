//! `rookery roo`: tasks in the words of Roo Code, for the shell and for scripts.

pub(crate) mod known;
mod link;
mod settings;
mod show;

use std::path::Path;
use std::process::ExitCode;

use rookery_native::wire::{ListProviders, Providers};
use serde_json::{Map, Value, json};

use self::link::{Link, Refusal};
use self::settings::{image, object};
use self::show::{Show, Standing};
use super::done;
use crate::args::{
    Roo, RooAction, RooJson, RooPress, RooProfileAction, RooProfileChange, RooProfiles, RooSend,
    RooStart, RooTaskJson, RooWatch,
};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Table, Tone};
use crate::stop::Stop;
use crate::talk::{sessions::current_dir, show::short_id};

/// The code of a task that waits for an answer.
const WAITS: u8 = 3;

pub(super) async fn run(args: Roo) -> Outcome {
    let starts = matches!(args.action, RooAction::Start(_));
    let is_named = args.socket.is_some();
    let mut link = Link::connect(args.socket, starts).await?;
    let link = &mut link;
    match args.action {
        RooAction::Start(args) => start(link, args, is_named).await,
        RooAction::Send(args) => send(link, args).await,
        RooAction::Watch(args) => watch(link, &args).await,
        RooAction::Approve(args) => press(link, "PressPrimaryButton", args).await,
        RooAction::Deny(args) => press(link, "PressSecondaryButton", args).await,
        RooAction::Resume(args) => resume(link, &args.task).await,
        RooAction::Cancel(args) => plain(link, "CancelTask", &args.task).await,
        RooAction::Close(args) => plain(link, "CloseTask", &args.task).await,
        RooAction::History(args) => history(link, &args).await,
        RooAction::Messages(args) => messages(link, &args).await,
        RooAction::Modes(args) => modes(link, &args).await,
        RooAction::Profiles(args) => profiles(link, args).await,
    }
}

/// The id of a task that is named by it or by its end.
async fn task(link: &mut Link, named: &str) -> Outcome<String> {
    const WHOLE: usize = 36;
    if named.len() >= WHOLE {
        return Ok(named.to_owned());
    }
    let history = link.ask("GetTaskHistory", None).await?;
    let ids = history.as_array().into_iter().flatten().filter_map(|item| item["id"].as_str());
    let found: Vec<&str> = ids.filter(|id| !named.is_empty() && id.ends_with(named)).collect();
    match found[..] {
        [id] => Ok(id.to_owned()),
        [] => Err(Failure::new(format!("there is no task {named}")).hint(SEE_HISTORY)),
        _ => Err(Failure::new(format!("the ids of several tasks end with {named}"))
            .hint("give more of it: `rookery roo history --json` prints whole ids")),
    }
}

const SEE_HISTORY: &str = "see `rookery roo history`";

async fn plain(link: &mut Link, command: &str, named: &str) -> Outcome {
    let task = task(link, named).await?;
    link.ask(command, Some(task.into())).await?;
    done()
}

async fn resume(link: &mut Link, named: &str) -> Outcome {
    let task = task(link, named).await?;
    link.ask("ResumeTask", Some(task.as_str().into())).await?;
    print_how_to_answer(&task);
    done()
}

fn print_how_to_answer(task: &str) {
    let task = short_id(task);
    output::note(format!("answer with `rookery roo approve {task}`, `deny` or `send`"));
}

async fn start(link: &mut Link, args: RooStart, is_named: bool) -> Outcome {
    let mut configuration = match &args.config {
        Some(text) => object(text)?,
        None => Map::new(),
    };
    if args.auto {
        for name in AUTO {
            configuration.entry(*name).or_insert(Value::Bool(true));
        }
        configuration.entry("allowedCommands").or_insert_with(|| json!(["*"]));
    }
    let named = [("mode", args.mode), ("currentApiConfigName", args.profile)];
    for (name, value) in named {
        if let Some(value) = value {
            configuration.insert(name.to_owned(), value.into());
        }
    }
    let images = args.images.iter().map(|path| image(path)).collect::<Outcome<Vec<String>>>()?;
    if !is_named {
        check_provider(link, &configuration).await?;
    }
    let place = place(args.cwd.as_deref(), &mut configuration)?;
    let data =
        json!({ "configuration": configuration, "text": args.text.join(" "), "images": images });
    let task = match link.request("StartNewTask", Some(data.clone())).await? {
        Err(refusal) if place == Place::Here && refusal.is_about_place() => {
            start_elsewhere(link, data).await?
        }
        answer => answer.map_err(Failure::from)?,
    };
    let task = task.as_str().unwrap_or_default().to_owned();
    if args.detach {
        output::line(&task)?;
        return done();
    }
    let stop = Stop::new()?;
    follow(link, Following { task: Some(&task), is_json: args.json, stop: Some(stop) }).await
}

/// Who said where a task works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It was started there.
    Here,
    /// The user.
    Named,
}

/// Puts the directory that a task works in into its settings.
fn place(named: Option<&Path>, settings: &mut Map<String, Value>) -> Outcome<Place> {
    const KEY: &str = "workingDirectory";
    let here = current_dir()?;
    let (dir, place) = match named {
        Some(dir) => (here.join(dir), Place::Named),
        None if settings.contains_key(KEY) => return Ok(Place::Named),
        None => (here, Place::Here),
    };
    settings.insert(KEY.to_owned(), dir.display().to_string().into());
    Ok(place)
}

impl Refusal {
    fn is_about_place(&self) -> bool {
        self.code == "permission_denied" && self.message.contains("workspace")
    }
}

/// Starts a task where the listener's tasks work, and says where that is.
async fn start_elsewhere(link: &mut Link, mut data: Value) -> Outcome<Value> {
    if let Some(settings) = data["configuration"].as_object_mut() {
        settings.remove("workingDirectory");
    }
    let task = link.ask("StartNewTask", Some(data)).await?;
    let history = link.ask("GetTaskHistory", None).await?;
    let mut items = history.as_array().into_iter().flatten();
    let workspace = items.find(|item| item["id"] == task).map(|item| text(&item["workspace"]));
    if let Some(workspace) = workspace {
        output::note(format!(
            "the task works in {}, the workspace of the daemon, not in this directory",
            output::printable(&workspace)
        ));
    }
    Ok(task)
}

/// Fails if only the mock would answer, which no user means by naming nothing.
async fn check_provider(link: &mut Link, settings: &Map<String, Value>) -> Outcome<()> {
    let is_named =
        ["apiProvider", "currentApiConfigName"].iter().any(|it| settings.contains_key(*it));
    if is_named {
        return Ok(());
    }
    let standing = link.ask("GetConfiguration", None).await?;
    if standing.get("apiProvider").is_some() {
        return Ok(());
    }
    let client = crate::link::connect().await?;
    let known: Providers = crate::link::call(&client, ListProviders).await?;
    match known.default.chosen {
        true => Ok(()),
        false => Err(Failure::new("no provider is set up").hint(
            "run `rookery setup`, or choose a profile with --profile or a provider with --config",
        )),
    }
}

/// The switches of auto-approval.
const AUTO: &[&str] = &[
    "autoApprovalEnabled",
    "alwaysAllowReadOnly",
    "alwaysAllowWrite",
    "alwaysAllowExecute",
    "alwaysAllowMcp",
    "alwaysAllowModeSwitch",
    "alwaysAllowSubtasks",
];

async fn send(link: &mut Link, args: RooSend) -> Outcome {
    let task = task(link, &args.task).await?;
    let data = json!({ "text": args.text.join(" "), "taskId": task });
    link.ask("SendMessage", Some(data)).await?;
    done()
}

async fn press(link: &mut Link, command: &str, args: RooPress) -> Outcome {
    let task = task(link, &args.task).await?;
    let data = json!({ "taskId": task, "text": args.message });
    link.ask(command, Some(data)).await?;
    done()
}

async fn watch(link: &mut Link, args: &RooWatch) -> Outcome {
    let task = match &args.task {
        Some(named) => Some(task(link, named).await?),
        None => None,
    };
    follow(link, Following { task: task.as_deref(), is_json: args.json, stop: None }).await
}

/// What is followed, and how.
struct Following<'a> {
    task: Option<&'a str>,
    is_json: bool,
    /// Given where a task is followed from its beginning until it rests: ends that early.
    stop: Option<Stop>,
}

/// Prints events until the server is gone or, where wanted, until the task rests.
async fn follow(link: &mut Link, mut following: Following<'_>) -> Outcome {
    let mut show = Show::new(following.task.is_none());
    let mut last_ask = None;
    loop {
        let event = match &mut following.stop {
            None => link.event().await?,
            Some(stop) => tokio::select! {
                event = link.event() => event?,
                code = stop.requested() => {
                    show.end_line()?;
                    return Ok(print_still_running(following.task, code));
                }
            },
        };
        let Some(event) = event else { break };
        let about = show::task_of(&event);
        // Events of subtasks are shown as well where one task is followed from its beginning.
        if following.stop.is_none() && following.task.is_some() && about != following.task {
            continue;
        }
        match following.is_json {
            true => output::json_line(&event["data"])?,
            false => show.event(&event)?,
        }
        if let Some(ask) = show::ask_of(&event) {
            last_ask = Some(ask.to_owned());
        }
        let standing = show::standing(&event, last_ask.as_deref());
        // A subtask that waits holds the whole task up.
        let is_about_it = about == following.task || standing == Some(Standing::Waits);
        if following.stop.is_some()
            && is_about_it
            && let Some(code) = standing.and_then(|standing| rested(standing, &following))
        {
            return Ok(code);
        }
    }
    match following.stop {
        Some(_) => Err(Failure::new("the daemon stopped while the task was running")
            .hint("it keeps running, or can be resumed: see `rookery roo history`")),
        None => done(),
    }
}

/// The exit code of a task that came to rest.
fn rested(standing: Standing, following: &Following<'_>) -> Option<ExitCode> {
    let told = following.task.filter(|_| !following.is_json);
    match standing {
        Standing::Completed => Some(ExitCode::SUCCESS),
        Standing::Waits => {
            told.into_iter().for_each(print_how_to_answer);
            Some(ExitCode::from(WAITS))
        }
        Standing::Failed => {
            told.into_iter().for_each(|task| {
                output::note(format!("try again with `rookery roo approve {}`", short_id(task)));
            });
            Some(ExitCode::FAILURE)
        }
        Standing::Stopped => {
            told.into_iter().for_each(|task| {
                let task = short_id(task);
                output::note(format!("it was stopped; `rookery roo resume {task}` brings it back"));
            });
            Some(ExitCode::FAILURE)
        }
        Standing::Works => None,
    }
}

fn print_still_running(task: Option<&str>, code: u8) -> ExitCode {
    let task = short_id(task.unwrap_or_default());
    output::note(format!(
        "the task keeps running: follow it with `rookery roo watch {task}`, stop it with `rookery roo cancel {task}`"
    ));
    ExitCode::from(code)
}

async fn history(link: &mut Link, args: &RooJson) -> Outcome {
    let items = link.ask("GetTaskHistory", None).await?;
    if args.json {
        output::json(&items)?;
        return done();
    }
    let mut table =
        Table::new(&["TASK", "MODE", "IN", "OUT", "COST", "PROMPT"]).sparing(&["COST", "MODE"]);
    for item in items.as_array().into_iter().flatten() {
        let number = |name: &str| item[name].as_u64().unwrap_or(0).to_string();
        let mode = Some(text(&item["mode"])).filter(|mode| !mode.is_empty());
        table.row(vec![
            (Tone::Plain, short_id(&text(&item["id"])).to_owned()),
            (Tone::Plain, mode.unwrap_or_else(|| "-".to_owned())),
            (Tone::Faint, number("tokensIn")),
            (Tone::Faint, number("tokensOut")),
            (Tone::Faint, format!("{:.2}", item["totalCost"].as_f64().unwrap_or(0.0))),
            (Tone::Plain, text(&item["task"])),
        ]);
    }
    table.print()?;
    done()
}

async fn messages(link: &mut Link, args: &RooTaskJson) -> Outcome {
    let task = task(link, &args.task).await?;
    let messages = link.ask("GetMessages", Some(task.into())).await?;
    if args.json {
        output::json(&messages)?;
        return done();
    }
    let mut show = Show::new(false);
    for message in messages.as_array().into_iter().flatten() {
        show.record(message)?;
    }
    done()
}

async fn modes(link: &mut Link, args: &RooJson) -> Outcome {
    let modes = link.ask("GetModes", None).await?;
    if args.json {
        output::json(&modes)?;
        return done();
    }
    let mut table = Table::new(&["MODE", "NAME"]);
    for mode in modes.as_array().into_iter().flatten() {
        table.row(vec![(Tone::Plain, text(&mode["slug"])), (Tone::Plain, text(&mode["name"]))]);
    }
    table.print()?;
    done()
}

async fn profiles(link: &mut Link, args: RooProfiles) -> Outcome {
    let change = |change: RooProfileChange| -> Outcome<Value> {
        let profile = change.config.as_deref().map(object).transpose()?;
        Ok(json!({ "name": change.name, "profile": profile, "activate": change.activate }))
    };
    let answer = match args.action {
        None => return list_profiles(link, args.json).await,
        Some(RooProfileAction::Show(one)) => {
            let shown = link.ask("GetProfile", Some(one.name.into())).await?;
            output::json(&shown)?;
            return done();
        }
        Some(RooProfileAction::Create(one)) => {
            link.ask("CreateProfile", Some(change(one)?)).await?
        }
        Some(RooProfileAction::Update(one)) => {
            link.ask("UpdateProfile", Some(change(one)?)).await?
        }
        Some(RooProfileAction::Use(one)) => {
            link.ask("SetActiveProfile", Some(one.name.into())).await?
        }
        Some(RooProfileAction::Delete(one)) => {
            link.ask("DeleteProfile", Some(one.name.into())).await?
        }
    };
    if args.json {
        output::json(&answer)?;
    }
    done()
}

async fn list_profiles(link: &mut Link, is_json: bool) -> Outcome {
    let names = link.ask("GetProfiles", None).await?;
    let active = link.ask("GetActiveProfile", None).await?;
    if is_json {
        output::json(&json!({ "profiles": names, "active": active }))?;
        return done();
    }
    let mut table = Table::new(&["PROFILE", "ACTIVE"]);
    for name in names.as_array().into_iter().flatten() {
        let mark = if *name == active { "yes" } else { "-" };
        table.row(vec![(Tone::Plain, text(name)), (Tone::Good, mark.to_owned())]);
    }
    table.print()?;
    done()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
