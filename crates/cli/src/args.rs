//! The command line as types. What a command does is elsewhere.

use std::path::PathBuf;

use clap::{
    Args, Parser, Subcommand, ValueEnum, ValueHint,
    builder::{PossibleValue, PossibleValuesParser},
};
use rookery_dialects::{DIALECTS, Dialect};

mod agents;
mod auth;
mod changes;
mod faces;
mod groups;
mod import;
mod imports;
mod marketplace;
mod media;
mod memory;
mod roo;
mod setup;
mod supervise;
mod tasks;
mod terminals;
mod web;
mod workflows;
mod worktrees;

pub(crate) use agents::{
    Answer, Approve, Chat, Deny, RequestTarget, ThreadTargets, Threads, ThreadsAction, ThreadsFork,
    ThreadsList, ThreadsRename, ThreadsShow,
};
pub(crate) use auth::{Account, Login, LoginFlow, Logout};
pub(crate) use changes::*;
#[cfg(feature = "window")]
pub(crate) use faces::Window;
pub(crate) use faces::{Tui, TuiPage};
pub(crate) use import::{Import, ImportFrom, ImportIdx0};
pub(crate) use imports::*;
pub(crate) use marketplace::*;
pub(crate) use media::*;
pub(crate) use memory::*;
pub(crate) use roo::*;
pub(crate) use setup::Setup;
pub(crate) use supervise::*;
pub(crate) use tasks::*;
pub(crate) use terminals::*;
pub(crate) use web::*;
pub(crate) use workflows::*;
pub(crate) use worktrees::*;

/// One daemon for coding agents and the terminals they live in.
///
/// Without a command, starts the daemon if none is running and opens the window on a desktop, the TUI on
/// a terminal, or else prints the status. ROOKERY_FACE=window, tui or status decides.
#[derive(Debug, Parser)]
#[command(name = "rookery", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the daemon in the foreground, with logs on stderr
    Daemon(Daemon),
    /// Start the daemon in the background, unless it is running
    Up(Json),
    /// Stop the daemon; terminals keep running, and the next daemon takes them over
    Down(Down),
    /// Replace the daemon with this executable; terminals keep running
    Restart(Json),
    /// Show the daemon's status
    Status(Json),
    /// Show terminals, agents and what needs your attention, in this terminal
    ///
    /// Ctrl+\ and then ? lists every key; ctrl+\ q leaves, and everything keeps running. Exits with 2
    /// inside a terminal of the same daemon and with 1 if no daemon can be started.
    Tui(Tui),
    /// Serve the page for browsers and phones, and pair devices with it
    ///
    /// Turns the page on, until `rookery web stop`, and prints where it is. Nothing but this machine reaches
    /// it unless you say so, and no browser enters that was not paired.
    Web(Web),
    /// Open a window with terminals, agents and what needs your attention
    ///
    /// A window that is open already comes to the front instead, and the command exits with 0. Closing
    /// the window ends nothing. Alt+Shift+/ lists every key.
    #[cfg(feature = "window")]
    Window(Window),
    /// Open a terminal and print its id
    Open(Open),
    /// Connect to a terminal of the daemon
    Attach(Attach),
    /// List terminals
    #[command(visible_alias = "list")]
    Ls(Ls),
    /// Send text and keys to a terminal
    Send(Send),
    /// Run a program in a terminal of its own, wait for it and print its output
    ///
    /// Exits with the program's exit code, or with 128 plus the number of the signal that ended it.
    /// Exits with 124 when the timeout expires; the program keeps running then. To answer its
    /// prompts, use `rookery attach`.
    Run(Run),
    /// List, show, follow and cancel background tasks
    Task(Task),
    /// Wait until terminals show a text, need input, exit or become idle
    ///
    /// Exits with 0 when the condition was met, 124 when the timeout expired and 3 when a terminal
    /// exited first.
    Wait(Wait),
    /// Print a terminal's screen
    Dump(Dump),
    /// Record a terminal's output from now on
    ///
    /// Writes asciicast version 3, which asciinema plays as well, until the program exits, Ctrl-C is
    /// pressed or the time given by --for is over. Secrets are redacted. Titles, clipboard contents,
    /// images and other sequences that do not draw text are left out.
    Record(Record),
    /// Play a recording
    ///
    /// Reads asciicast files of version 2 and 3. On a terminal, only sequences that draw text are
    /// written, so that recordings from untrusted sources are safe to play.
    Replay(Replay),
    /// End the program in a terminal, or send it a signal
    Kill(Kill),
    /// Close terminals: end their programs and delete their records
    Close(Close),
    /// Talk to an agent: one prompt, or a conversation
    ///
    /// Exits with 0 when the turn was completed, 1 when it failed and 130 when it was interrupted.
    Chat(Chat),
    /// List, show and manage threads
    Threads(Threads),
    /// List what needs your attention, the most urgent first
    ///
    /// With --watch on a terminal, shows a live list: arrow keys select, Enter shows exactly what an
    /// approval would run, a approves and d denies.
    Inbox(Inbox),
    /// Approve an agent's request
    ///
    /// Exits with 0 when the request was settled by this command and 4 when already settled.
    Approve(Approve),
    /// Deny an agent's request
    ///
    /// Exits with 0 when the request was settled by this command and 4 when already settled.
    Deny(Deny),
    /// Answer an agent's questions
    ///
    /// Exits with 0 when the request was settled by this command and 4 when already settled.
    Answer(Answer),
    /// Run scripts that start child agents and combine their answers
    Workflow(Workflow),
    /// Manage memories: what agents should know in every thread
    Memory(Memory),
    /// Import files that other agents left in a project
    Imports(Imports),
    /// Manage the skills that agents can read
    Skills(Skills),
    /// Manage images and other files that threads use
    Media(Media),
    /// Manage catalogs of plugins for coding agents
    Marketplace(Marketplace),
    /// Install plugins of marketplaces
    Plugin(Plugin),
    /// Review the changes of agents: show, comment, decide
    Review(Review),
    /// Show what changed in a work tree
    Changes(Changes),
    /// Show what agents edited, and roll it back
    Hunk(Hunk),
    /// Save the state of a work tree, and restore it
    Checkpoint(Checkpoint),
    /// Create git worktrees for separate tasks, and land their commits
    Worktree(Worktree),
    /// Hand work over from one session to another
    Handoff(Handoff),
    /// Print the log of decisions: what was decided, by whom or by which rule
    Audit(Audit),
    /// Print the event log, one JSON object per line
    Events(Events),
    /// Print what a viewer is shown, one JSON object per frame
    View(View),
    /// Serve the ptywright protocol in the foreground, with its own sessions
    Serve(crate::personas::ptywright::Serve),
    /// Serve Roder's app-server protocol in the foreground, with the daemon's state
    AppServer(crate::personas::roder::AppServer),
    /// Act as idx0, also when called by that name
    #[command(disable_help_flag = true)]
    Idx0(Persona),
    /// Act as idx0-notify, also when called by that name
    #[command(disable_help_flag = true)]
    Idx0Notify(Persona),
    /// Act as roder, also when called by that name
    #[command(disable_help_flag = true)]
    Roder(Persona),
    /// Start and control tasks over the Roo Code protocol
    Roo(Roo),
    /// Act as ptywright, also when called by that name
    #[command(disable_help_flag = true)]
    Ptywright(Persona),
    /// Act as roostctl, also when called by that name
    #[command(disable_help_flag = true)]
    Roostctl(Persona),
    /// Set up a provider: find API keys, installed agents and local servers
    ///
    /// Shows what it will write before it writes. API keys stay in the environment: the commands that
    /// you run with them use them, and they are never written to a file.
    Setup(Setup),
    /// Sign in to an account of a provider of models
    ///
    /// Shows an address, a code and, on a terminal, a QR code, and waits until you allow it there. Exits with
    /// 130 when interrupted, which cancels the sign-in. Providers whose setting `auth` names the account are
    /// sent its token, which is renewed as needed and never shown.
    Login(Login),
    /// Sign out of an account: delete its tokens
    Logout(Logout),
    /// Install hooks in an agent's settings that report what it does
    Hooks(Hooks),
    /// Import the data of another program
    Import(Import),
    /// Manage links that run this program under other names
    Shims(Shims),
    /// Check the setup and suggest fixes
    Doctor(Json),
    /// Print the JSON Schema of every method
    Schema(Schema),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write all of them to a directory
    Man(Man),
}

#[derive(Debug, Args)]
pub(crate) struct Daemon {
    /// Detach from the session of the parent process
    #[arg(long, hide = true)]
    pub(crate) background: bool,
    /// The directory that it was started in
    #[arg(long, hide = true)]
    pub(crate) started_in: Option<std::path::PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Json {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Down {
    /// Also end every terminal
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Events {
    /// Print events after this number [default: all stored events]
    #[arg(long, short, value_name = "NUMBER")]
    pub(crate) since: Option<u64>,
    /// Keep printing new events; without --since, only new ones
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct View {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Open this page: workspace, inbox, threads, reviews, audit, ...
    #[arg(long, value_name = "PAGE")]
    pub(crate) page: Option<String>,
    /// Show this terminal
    #[arg(long, value_name = "NUMBER")]
    pub(crate) terminal: Option<u64>,
    /// End after this number of frames
    #[arg(long, value_name = "COUNT")]
    pub(crate) frames: Option<u64>,
}

/// The command line of another tool, read by that tool.
#[derive(Debug, Args)]
pub(crate) struct Persona {
    /// Arguments of the tool; `help` lists its commands
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Shims {
    #[command(subcommand)]
    pub(crate) action: ShimsAction,
}

/// What to do with links.
#[derive(Debug, Subcommand)]
pub(crate) enum ShimsAction {
    /// Create a link for every name
    Install(ShimsDir),
    /// List the links
    List(ShimsDir),
    /// Remove the links to this program
    Remove(ShimsDir),
}

#[derive(Debug, Args)]
pub(crate) struct ShimsDir {
    /// Directory of the links [default: ~/.local/bin]
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Hooks {
    #[command(subcommand)]
    pub(crate) action: HooksAction,
}

/// What to do with hooks.
#[derive(Debug, Subcommand)]
pub(crate) enum HooksAction {
    /// Show the change, ask, then write it; existing settings stay
    Install(HooksChange),
    /// Remove our hooks and nothing else
    Uninstall(HooksChange),
    /// Show which events are reported
    Status(HooksPlace),
}

#[derive(Debug, Args)]
pub(crate) struct HooksChange {
    #[command(flatten)]
    pub(crate) place: HooksPlace,
    /// Only show what would change
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
    /// Write without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HooksPlace {
    /// Agent whose settings are changed
    #[arg(value_enum)]
    pub(crate) agent: HookedAgent,
    /// Settings file [default: ~/.claude/settings.json]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) settings: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// An agent that has hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookedAgent {
    /// Claude Code
    ClaudeCode,
}

impl HookedAgent {
    /// What it is called in the list of known agents, and here.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
        }
    }
}

/// The names of all dialects, each with what it is about.
fn dialects() -> PossibleValuesParser {
    let named = |dialect: &Dialect| PossibleValue::new(dialect.name).help(dialect.about);
    PossibleValuesParser::new(DIALECTS.iter().map(named))
}

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Protocol whose methods are printed
    #[arg(long, value_parser = dialects(), default_value = "native")]
    pub(crate) dialect: String,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to print the script for
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Directory to write the pages of all commands to
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

#[cfg(test)]
mod tests;
