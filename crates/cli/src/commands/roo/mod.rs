//! `rookery roo`: tasks in the words of Roo Code, for the shell and for scripts.

mod link;
mod show;

use std::path::Path;
use std::process::ExitCode;

use base64::Engine as _;
use serde_json::{Map, Value, json};

use self::link::Link;
use self::show::{Show, Standing};
use super::done;
use crate::args::{
    Roo, RooAction, RooJson, RooPress, RooProfileAction, RooProfileChange, RooProfiles, RooSend,
    RooStart, RooTaskJson, RooWatch,
};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Table, Tone};

/// The code of a task that waits for an answer.
const WAITS: u8 = 3;

pub(super) async fn run(args: Roo) -> Outcome {
    let mut link = Link::connect(args.socket).await?;
    match args.action {
        RooAction::Start(args) => start(&mut link, args),
        RooAction::Send(args) => send(&mut link, args),
        RooAction::Watch(args) => watch(&mut link, &args),
        RooAction::Approve(args) => press(&mut link, "PressPrimaryButton", args),
        RooAction::Deny(args) => press(&mut link, "PressSecondaryButton", args),
        RooAction::Resume(args) => plain(&mut link, "ResumeTask", args.task),
        RooAction::Cancel(args) => plain(&mut link, "CancelTask", args.task),
        RooAction::Close(args) => plain(&mut link, "CloseTask", args.task),
        RooAction::History(args) => history(&mut link, &args),
        RooAction::Messages(args) => messages(&mut link, args),
        RooAction::Modes(args) => modes(&mut link, &args),
        RooAction::Profiles(args) => profiles(&mut link, args),
    }
}

fn plain(link: &mut Link, command: &str, task: String) -> Outcome {
    link.ask(command, Some(task.into()))?;
    done()
}

fn start(link: &mut Link, args: RooStart) -> Outcome {
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
    let data =
        json!({ "configuration": configuration, "text": args.text.join(" "), "images": images });
    let task = link.ask("StartNewTask", Some(data))?;
    let task = task.as_str().unwrap_or_default().to_owned();
    if args.detach {
        output::line(&task)?;
        return done();
    }
    follow(link, Some(&task), args.json, true)
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

fn send(link: &mut Link, args: RooSend) -> Outcome {
    let data = json!({ "text": args.text.join(" "), "taskId": args.task });
    link.ask("SendMessage", Some(data))?;
    done()
}

fn press(link: &mut Link, command: &str, args: RooPress) -> Outcome {
    let data = json!({ "taskId": args.task, "text": args.message });
    link.ask(command, Some(data))?;
    done()
}

fn watch(link: &mut Link, args: &RooWatch) -> Outcome {
    follow(link, args.task.as_deref(), args.json, false)
}

/// Prints events until the server is gone or, if wanted, until the task has come to a stand.
fn follow(link: &mut Link, task: Option<&str>, is_json: bool, until_rest: bool) -> Outcome {
    let mut show = Show::new();
    while let Some(event) = link.event()? {
        let about = show::task_of(&event);
        // Events of subtasks are shown as well where one task is followed from its beginning.
        if !until_rest && task.is_some() && about != task {
            continue;
        }
        match is_json {
            true => output::json_line(&event["data"])?,
            false => show.event(&event)?,
        }
        if !until_rest || about != task {
            continue;
        }
        match show::standing(&event) {
            Some(Standing::Completed) => return done(),
            Some(Standing::Waits) => {
                if !is_json && let Some(task) = task {
                    output::note(format!(
                        "answer with `rookery roo approve {task}`, `deny` or `send`"
                    ));
                }
                return Ok(ExitCode::from(WAITS));
            }
            Some(Standing::Stopped) => return Ok(ExitCode::FAILURE),
            Some(Standing::Works) | None => {}
        }
    }
    match until_rest {
        true => Err(Failure::new("the daemon went away while the task worked")
            .hint("it goes on, or can be resumed: see `rookery roo history`")),
        false => done(),
    }
}

fn history(link: &mut Link, args: &RooJson) -> Outcome {
    let items = link.ask("GetTaskHistory", None)?;
    if args.json {
        output::json(&items)?;
        return done();
    }
    let mut table =
        Table::new(&["TASK", "MODE", "IN", "OUT", "COST", "PROMPT"]).sparing(&["COST", "MODE"]);
    for item in items.as_array().into_iter().flatten() {
        let number = |name: &str| item[name].as_u64().unwrap_or(0).to_string();
        table.row(vec![
            (Tone::Plain, text(&item["id"])),
            (Tone::Plain, text(&item["mode"])),
            (Tone::Faint, number("tokensIn")),
            (Tone::Faint, number("tokensOut")),
            (Tone::Faint, format!("{:.2}", item["totalCost"].as_f64().unwrap_or(0.0))),
            (Tone::Plain, text(&item["task"])),
        ]);
    }
    table.print()?;
    done()
}

fn messages(link: &mut Link, args: RooTaskJson) -> Outcome {
    let messages = link.ask("GetMessages", Some(args.task.into()))?;
    if args.json {
        output::json(&messages)?;
        return done();
    }
    let mut show = Show::new();
    for message in messages.as_array().into_iter().flatten() {
        show.message(message)?;
    }
    done()
}

fn modes(link: &mut Link, args: &RooJson) -> Outcome {
    let modes = link.ask("GetModes", None)?;
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

fn profiles(link: &mut Link, args: RooProfiles) -> Outcome {
    let change = |change: RooProfileChange| -> Outcome<Value> {
        let profile = change.config.as_deref().map(object).transpose()?;
        Ok(json!({ "name": change.name, "profile": profile, "activate": change.activate }))
    };
    let answer = match args.action {
        None => return list_profiles(link, args.json),
        Some(RooProfileAction::Show(one)) => {
            let shown = link.ask("GetProfile", Some(one.name.into()))?;
            output::json(&shown)?;
            return done();
        }
        Some(RooProfileAction::Create(one)) => link.ask("CreateProfile", Some(change(one)?))?,
        Some(RooProfileAction::Update(one)) => link.ask("UpdateProfile", Some(change(one)?))?,
        Some(RooProfileAction::Use(one)) => link.ask("SetActiveProfile", Some(one.name.into()))?,
        Some(RooProfileAction::Delete(one)) => link.ask("DeleteProfile", Some(one.name.into()))?,
    };
    if args.json {
        output::json(&answer)?;
    }
    done()
}

fn list_profiles(link: &mut Link, is_json: bool) -> Outcome {
    let names = link.ask("GetProfiles", None)?;
    let active = link.ask("GetActiveProfile", None)?;
    if is_json {
        output::json(&json!({ "profiles": names, "active": active }))?;
        return done();
    }
    let mut table = Table::new(&["PROFILE", "ACTIVE"]);
    for name in names.as_array().into_iter().flatten() {
        let mark = if *name == active { "yes" } else { "" };
        table.row(vec![(Tone::Plain, text(name)), (Tone::Good, mark.to_owned())]);
    }
    table.print()?;
    done()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A JSON object from the command line, or from a file behind `@`.
fn object(given: &str) -> Outcome<Map<String, Value>> {
    let text = match given.strip_prefix('@') {
        Some(path) => {
            std::fs::read_to_string(path).map_err(Failure::doing(format!("cannot read {path}")))?
        }
        None => given.to_owned(),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(Failure::new("settings must be a JSON object").code(2)),
        Err(error) => Err(Failure::new(format!("settings are no JSON: {error}")).code(2)),
    }
}

/// A picture as a `data:` address.
fn image(path: &Path) -> Outcome<String> {
    let bytes =
        std::fs::read(path).map_err(Failure::doing(format!("cannot read {}", path.display())))?;
    let media = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, ..] => "image/jpeg",
        [b'G', b'I', b'F', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', ..] => "image/webp",
        _ => {
            let message = format!("{} is no png, jpeg, gif or webp image", path.display());
            return Err(Failure::new(message).code(2));
        }
    };
    let encoded = base64::engine::general_purpose::STANDARD.encode(&bytes);
    Ok(format!("data:{media};base64,{encoded}"))
}
