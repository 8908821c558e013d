//! The command line as types. What a command does is elsewhere.

use std::{path::PathBuf, str::FromStr};

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum, ValueHint};

mod agents;
mod import;
mod supervise;
mod worktrees;

pub(crate) use agents::{
    Answer, Approve, Chat, Deny, RequestTarget, ThreadTargets, Threads, ThreadsAction, ThreadsFork,
    ThreadsList, ThreadsRename, ThreadsShow,
};
pub(crate) use import::{Import, ImportFrom, ImportIdx0};
pub(crate) use supervise::*;
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
    /// Wait until a terminal shows something, ends or falls silent
    ///
    /// Exits with 0 when it happened, 124 when the time ran out and 3 when the terminal ended
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
pub(crate) struct Open {
    /// Project the terminal goes to, by number or name
    #[arg(long, short, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Directory to start in [default: the project's, else the current one]
    #[arg(long, short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// Number of rows
    #[arg(long)]
    pub(crate) rows: Option<u16>,
    /// Number of columns
    #[arg(long)]
    pub(crate) cols: Option<u16>,
    /// Set an environment variable; may be repeated
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<Variable>,
    /// Title that wins over the program's
    #[arg(long, short)]
    pub(crate) title: Option<String>,
    /// Connect this terminal to the new one
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) attach: bool,
    /// Print the whole terminal as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Program and arguments [default: $SHELL]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<String>,
}

/// An environment variable, `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl FromStr for Variable {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                Ok(Self { name: name.to_owned(), value: value.to_owned() })
            }
            _ => Err("expected NAME=VALUE"),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Target {
    /// The terminal: its number, s and its number, its UUID or its title
    #[arg(value_name = "TERMINAL")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Attach {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Key that disconnects and leaves the program running
    #[arg(long, value_name = "KEY", default_value = "ctrl+\\")]
    pub(crate) detach_key: crate::attach::DetachKey,
}

#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// Only terminals of this project, by number or name
    #[arg(long, short, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args(["text", "keys", "enter"]))]
pub(crate) struct Send {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Press enter at the end
    #[arg(long, short)]
    pub(crate) enter: bool,
    /// Paste the text instead of typing it
    #[arg(long, short, requires = "text")]
    pub(crate) paste: bool,
    /// Press a key after the text, such as ctrl+c or PageUp; may be repeated
    #[arg(long = "key", short, value_name = "KEY")]
    pub(crate) keys: Vec<String>,
    /// Text to type, joined by spaces; a single - reads it from stdin
    #[arg(value_name = "TEXT", trailing_var_arg = true)]
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("condition").required(true).args(["text", "regex", "exit", "stable"]))]
pub(crate) struct Wait {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Until the screen contains this text
    #[arg(long, short)]
    pub(crate) text: Option<String>,
    /// Until this regular expression is found on the screen
    #[arg(long, short)]
    pub(crate) regex: Option<String>,
    /// Until the program ends
    #[arg(long, short)]
    pub(crate) exit: bool,
    /// Until there was no output for so many milliseconds
    #[arg(long, short, value_name = "MS")]
    pub(crate) stable: Option<u64>,
    /// Seconds to wait at most
    #[arg(long, short = 'T', value_name = "SECS", default_value = "30", value_parser = seconds)]
    pub(crate) timeout: std::time::Duration,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Seconds, perhaps with a fraction.
fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    std::time::Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[derive(Debug, Args)]
pub(crate) struct Dump {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Rows of history to print before the screen
    #[arg(long, short = 'n', value_name = "ROWS", default_value_t = 0)]
    pub(crate) history: usize,
    /// Show secrets as well
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Where to write it, - is stdout [default: stdout, or a new .cast file if that is a terminal]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Title of the recording [default: the terminal's]
    #[arg(long, short)]
    pub(crate) title: Option<String>,
    /// Stop after so many seconds
    #[arg(long = "for", value_name = "SECS", value_parser = seconds)]
    pub(crate) duration: Option<std::time::Duration>,
    /// Make pauses no longer than so many seconds
    #[arg(long, short, value_name = "SECS", value_parser = seconds)]
    pub(crate) idle_limit: Option<std::time::Duration>,
    /// Replace the file if it exists
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Record everything as it is, secrets as well
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Say nothing unless it fails
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The recording; - is stdin
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Play so many times as fast
    #[arg(long, short, value_name = "FACTOR", default_value = "1", value_parser = factor)]
    pub(crate) speed: f64,
    /// Make pauses no longer than so many seconds [default: as the recording says]
    #[arg(long, short, value_name = "SECS", value_parser = seconds)]
    pub(crate) idle_limit: Option<std::time::Duration>,
    /// Only print the final screen, as text
    #[arg(long, conflicts_with_all = ["text", "speed", "idle_limit"])]
    pub(crate) dump: bool,
    /// Only print what was written, as lines of text
    #[arg(long, conflicts_with_all = ["speed", "idle_limit"])]
    pub(crate) text: bool,
}

/// A number above zero.
fn factor(text: &str) -> Result<f64, &'static str> {
    let factor = text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0);
    factor.ok_or("expected a number above 0")
}

#[derive(Debug, Args)]
pub(crate) struct Kill {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Send this signal to its process group instead of ending it
    #[arg(long, short)]
    pub(crate) signal: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Close {
    /// The terminals: numbers, UUIDs or titles
    #[arg(value_name = "TERMINAL", required = true)]
    pub(crate) ids: Vec<String>,
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
