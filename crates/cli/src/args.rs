//! The command line as types. What a command does is elsewhere.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

mod agents;
mod groups;
mod import;
mod setup;
mod supervise;
mod terminals;
mod worktrees;

pub(crate) use agents::{
    Answer, Approve, Chat, Deny, RequestTarget, ThreadTargets, Threads, ThreadsAction, ThreadsFork,
    ThreadsList, ThreadsRename, ThreadsShow,
};
pub(crate) use import::{Import, ImportFrom, ImportIdx0};
pub(crate) use setup::Setup;
pub(crate) use supervise::*;
pub(crate) use terminals::*;
pub(crate) use worktrees::*;

/// One daemon for coding agents and the terminals they live in.
///
/// Without a command, starts the daemon if none runs and prints its status.
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
    /// Start the daemon in the background, unless it runs already
    Up(Json),
    /// Stop the daemon; terminals live on and the next daemon finds them
    Down(Down),
    /// Replace the daemon by this executable; terminals live on
    Restart(Json),
    /// Say how the daemon is
    Status(Json),
    /// Open a terminal and print its id
    Open(Open),
    /// Connect this terminal to one of the daemon's
    Attach(Attach),
    /// List terminals
    #[command(visible_alias = "list")]
    Ls(Ls),
    /// Type into a terminal
    Send(Send),
    /// Run a program in a terminal of its own, wait for it and print its output
    ///
    /// Exits as the program does: with its code, or 128 and the number of the signal that ended
    /// it. Exits with 124 when the time ran out; the program goes on then. Whoever is connected
    /// sees it run, and can answer what it asks with `rookery attach`.
    Run(Run),
    /// Wait until terminals show something, need input, end or fall silent
    ///
    /// Exits with 0 when it happened, 124 when the time ran out and 3 when a terminal ended
    /// first.
    Wait(Wait),
    /// Print what a terminal shows
    Dump(Dump),
    /// Record what a terminal shows from now on
    ///
    /// Writes asciicast version 3, which asciinema plays as well, until the program ends, Ctrl-C is
    /// pressed or the time is over. Secrets are left out, and so is everything that does not draw:
    /// titles, the clipboard, pictures.
    Record(Record),
    /// Play a recording
    ///
    /// Reads asciicast files of version 2 and 3. On a terminal only what draws is shown, so that
    /// recordings of others can do no harm.
    Replay(Replay),
    /// End the program in a terminal, or send it a signal
    Kill(Kill),
    /// Close terminals: end their programs and forget them
    Close(Close),
    /// Talk to an agent: once, or as long as you like
    ///
    /// Exits with 0 when the turn was completed, 1 when it failed and 130 when it was interrupted.
    Chat(Chat),
    /// List threads, look into them and keep them in order
    Threads(Threads),
    /// List who needs somebody and why, the most urgent first
    ///
    /// With --watch on a terminal it is a live list: arrows move, enter shows exactly what would be
    /// done, a and d decide.
    Inbox(Inbox),
    /// Allow what an agent asks for
    ///
    /// Exits with 0 when this settled it and 4 when it was settled before.
    Approve(Approve),
    /// Refuse what an agent asks for
    ///
    /// Exits with 0 when this settled it and 4 when it was settled before.
    Deny(Deny),
    /// Answer an agent's questions
    ///
    /// Exits with 0 when this settled it and 4 when it was settled before.
    Answer(Answer),
    /// Look at changes of agents, say something about them, and decide
    Review(Review),
    /// Keep the state of a work tree, and come back to it
    Checkpoint(Checkpoint),
    /// Give pieces of work a checkout of their own, and land them
    Worktree(Worktree),
    /// Hand work over from one session to another
    Handoff(Handoff),
    /// Print what was decided, by whom or by which rule
    Audit(Audit),
    /// Print the event log, one JSON object per line
    Events(Events),
    /// Serve the ptywright protocol in the foreground, with sessions of its own
    Serve(crate::personas::ptywright::Serve),
    /// Serve Roder's app-server protocol in the foreground, over the daemon's world
    AppServer(crate::personas::roder::AppServer),
    /// Behave as idx0 does; so does this program under that name
    #[command(disable_help_flag = true)]
    Idx0(Persona),
    /// Behave as idx0-notify does; so does this program under that name
    #[command(disable_help_flag = true)]
    Idx0Notify(Persona),
    /// Behave as roder does; so does this program under that name
    #[command(disable_help_flag = true)]
    Roder(Persona),
    /// Behave as ptywright does; so does this program under that name
    #[command(disable_help_flag = true)]
    Ptywright(Persona),
    /// Behave as roostctl does; so does this program under that name
    #[command(disable_help_flag = true)]
    Roostctl(Persona),
    /// Set up who answers: finds keys, agents and local servers
    ///
    /// Shows what it will write before it writes. A key stays in the environment: it is used for the
    /// commands that are run with it, and written nowhere.
    Setup(Setup),
    /// Make an agent report what it does, by hooks in its settings
    Hooks(Hooks),
    /// Take over what another program kept
    Import(Import),
    /// Make links by which this program is called under other names
    Shims(Shims),
    /// Check the set-up and say what to do
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
    /// Leave the session of whoever started this process
    #[arg(long, hide = true)]
    pub(crate) background: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Json {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Down {
    /// End every terminal as well
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Events {
    /// Number of the last event already seen [default: all that are kept]
    #[arg(long, short, value_name = "NUMBER")]
    pub(crate) since: Option<u64>,
    /// Go on with what happens; without --since only with that
    #[arg(long, short)]
    pub(crate) follow: bool,
}

/// The command line of another tool, read by that tool.
#[derive(Debug, Args)]
pub(crate) struct Persona {
    /// Its arguments; `help` lists what there is
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
    /// Make a link for every name
    Install(ShimsDir),
    /// Say which links there are
    List(ShimsDir),
    /// Remove the links that lead to this program
    Remove(ShimsDir),
}

#[derive(Debug, Args)]
pub(crate) struct ShimsDir {
    /// Where the links are [default: ~/.local/bin]
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
    /// Show what would change, and after a yes write it; what is there stays
    Install(HooksChange),
    /// Take our hooks out again, and nothing else
    Uninstall(HooksChange),
    /// Say which events are reported
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
    /// Whose settings
    #[arg(value_enum)]
    pub(crate) agent: HookedAgent,
    /// The settings [default: ~/.claude/settings.json]
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

/// A family of methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    /// Our own methods
    Native,
    /// Terminal automation
    Ptywright,
    /// Projects, tabs, palette and events
    Roost,
    /// Threads, turns, tools and approvals of agents
    Roder,
    /// Sessions, checkpoints, reviews, approvals and the queue
    Idx0,
}

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Which methods
    #[arg(long, value_enum, default_value_t = Dialect::Native)]
    pub(crate) dialect: Dialect,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// For which shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Where to write the pages of all commands
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

#[cfg(test)]
mod tests;
