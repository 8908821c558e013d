//! `rookery roo`: tasks in the words of Roo Code.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct Roo {
    #[command(subcommand)]
    pub(crate) action: RooAction,
    /// Socket to speak to [default: the daemon's roo-code.sock]
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) socket: Option<PathBuf>,
}

/// What to do with tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum RooAction {
    /// Start a task and follow it until it is done or waits
    ///
    /// Exits with 0 when the task completed, 3 when it waits for an answer, 1 when it failed or was
    /// stopped. Ctrl-C leaves it running.
    Start(RooStart),
    /// Send a message to a task: an answer, feedback, or what to do next
    Send(RooSend),
    /// Follow tasks: print their messages, or with --json every event
    Watch(RooWatch),
    /// Press a task's primary button: approve, resume or retry what it asks
    Approve(RooPress),
    /// Press a task's secondary button: deny what it asks
    Deny(RooPress),
    /// Bring a task back, with what it waits for
    Resume(RooTask),
    /// Stop what a task does; it can be resumed
    Cancel(RooTask),
    /// Stop a task and take it off the list; it stays in the history
    Close(RooTask),
    /// List the tasks of the workspace, the newest first
    History(RooJson),
    /// Print the messages of a task
    Messages(RooTaskJson),
    /// List the modes that tasks can work in
    Modes(RooJson),
    /// List, show and change profiles
    Profiles(RooProfiles),
}

#[derive(Debug, Args)]
pub(crate) struct RooStart {
    /// Assignment: what the task should do
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// Mode to work in
    #[arg(long, short, value_name = "SLUG")]
    pub(crate) mode: Option<String>,
    /// Profile whose model answers
    #[arg(long, short, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Directory to work in, inside the workspace of the listener [default: the current one]
    #[arg(long, short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// Settings of Roo Code as a JSON object, or @FILE
    #[arg(long, short, value_name = "JSON")]
    pub(crate) config: Option<String>,
    /// Turn on auto-approval with every switch; the policy of the listener still holds
    #[arg(long)]
    pub(crate) auto: bool,
    /// Image to send along
    #[arg(long = "image", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) images: Vec<PathBuf>,
    /// Print the id of the task and return at once
    #[arg(long, short)]
    pub(crate) detach: bool,
    /// Print every event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RooSend {
    /// Id of the task, or the end of it
    pub(crate) task: String,
    /// Message to send
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RooWatch {
    /// Id of the task, or the end of it; all tasks if none is named
    pub(crate) task: Option<String>,
    /// Print every event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RooPress {
    /// Id of the task, or the end of it
    pub(crate) task: String,
    /// Message to send with it
    #[arg(long, short)]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RooTask {
    /// Id of the task, or the end of it
    pub(crate) task: String,
}

#[derive(Debug, Args)]
pub(crate) struct RooTaskJson {
    /// Id of the task, or the end of it
    pub(crate) task: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RooJson {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RooProfiles {
    #[command(subcommand)]
    pub(crate) action: Option<RooProfileAction>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum RooProfileAction {
    /// Show what a profile holds; keys are never shown
    Show(RooProfile),
    /// Create a profile, or change it with --config
    Create(RooProfileChange),
    /// Change a profile
    Update(RooProfileChange),
    /// Make a profile the active one
    Use(RooProfile),
    /// Delete a profile
    Delete(RooProfile),
}

#[derive(Debug, Args)]
pub(crate) struct RooProfile {
    /// Name of the profile
    #[arg(value_name = "PROFILE")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct RooProfileChange {
    /// Name of the profile
    #[arg(value_name = "PROFILE")]
    pub(crate) name: String,
    /// Provider settings of Roo Code as a JSON object, or @FILE
    #[arg(long, short, value_name = "JSON")]
    pub(crate) config: Option<String>,
    /// Make it the active one
    #[arg(long)]
    pub(crate) activate: bool,
}
