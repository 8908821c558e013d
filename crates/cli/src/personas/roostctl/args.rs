//! The command line of roostctl as types.

use std::{path::PathBuf, time::Duration};

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum, ValueHint};
use rookery_roost::wire::tab::TabState;

use super::target::Profile;

/// Whose program this is.
const PROVIDER: &str = concat!(
    "The server is the one of --socket, ROOST_SOCKET, --target or ROOST_BUNDLE_PROFILE, else the only one that \
     listens.\nThis is rookery ",
    env!("CARGO_PKG_VERSION"),
    ", which speaks the protocol of Roost."
);

/// Drive the tabs, projects and palette of a running Roost server.
#[derive(Debug, Parser)]
#[command(name = super::NAME, version, after_help = PROVIDER, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Cli {
    /// Socket of the server
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(super) socket: Option<PathBuf>,
    /// Which family of servers to look for
    #[arg(long, global = true, value_enum)]
    pub(super) target: Option<Profile>,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Say who the server is and what is active
    Identify,
    /// Raise a notification for a tab
    Notify(Notify),
    /// Rename a tab; its program can no longer change the title
    SetTitle(SetTitle),
    /// Open, close, read and write tabs
    #[command(subcommand)]
    Tab(Tab),
    /// Create, rename, delete and order projects
    #[command(subcommand)]
    Project(Project),
    /// Wait until a tab is in a state, shows a text or is gone
    ///
    /// At least one of --state, --text and --gone is needed, and --gone stands alone. With both --state
    /// and --text both must hold at once. Exits with 0 when it happened, and with 1 when the time ran
    /// out, the tab went away first, or the conditions make no sense.
    Wait(Wait),
    /// Print what happens, one JSON object per line, until the server ends
    Watch(Watch),
    /// Drive the command palette
    #[command(subcommand)]
    Palette(Palette),
    /// Draw the window as PNG
    Screenshot(Screenshot),
    /// Print what drawing cost
    RenderStats(RenderStats),
    /// Set up Claude Code
    #[command(subcommand)]
    Claude(Claude),
    /// Report an event of Claude Code, with its payload on stdin; for hooks
    ///
    /// Prints {} and exits with 0 whatever happens, because anything else would get in the way of
    /// Claude Code. With ROOST_DEBUG set, stderr says what went wrong.
    ClaudeHook(ClaudeHook),
    /// Check the set-up and say what is wrong; changes nothing
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
}

/// The tab that is meant.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Which {
    /// The tab [default: $ROOST_TAB_ID, else the active tab]
    #[arg(long, value_name = "ID")]
    pub(super) tab: Option<i64>,
}

#[derive(Debug, Args)]
pub(super) struct Notify {
    /// Title of the notification
    #[arg(long)]
    pub(super) title: String,
    /// Its text
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) body: String,
    #[command(flatten)]
    pub(super) which: Which,
}

#[derive(Debug, Args)]
pub(super) struct SetTitle {
    /// The new title
    #[arg(long)]
    pub(super) title: String,
    #[command(flatten)]
    pub(super) which: Which,
}

#[derive(Debug, Subcommand)]
pub(super) enum Tab {
    /// List projects and their tabs
    List {
        /// Print all that is known, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Open a tab and print its id
    Open(Open),
    /// Close a tab and end its program
    Close(Which),
    /// Make a tab the active one
    Focus(Which),
    /// Clear the notification of a tab
    ClearNotification(Which),
    /// Say what a tab shows of its work
    SetState {
        /// The state
        #[arg(long, value_enum)]
        state: State,
        #[command(flatten)]
        which: Which,
    },
    /// Write to the program of a tab
    Send(Send),
    /// Change the size of a tab
    Resize {
        #[command(flatten)]
        which: Which,
        /// Columns
        #[arg(long)]
        cols: std::num::NonZeroU16,
        /// Rows
        #[arg(long)]
        rows: std::num::NonZeroU16,
    },
    /// Order the tabs of a project; those not named follow in their order
    Reorder {
        /// The project
        #[arg(long, value_name = "ID")]
        project_id: i64,
        /// The tabs, leftmost first, such as 3,1,2
        #[arg(long, value_name = "IDS", value_delimiter = ',', required = true)]
        order: Vec<i64>,
    },
    /// Print what a tab shows
    Dump {
        #[command(flatten)]
        which: Which,
        /// Print size, cursor and rows as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct Open {
    /// The project
    #[arg(long, value_name = "ID")]
    pub(super) project_id: i64,
    /// Where it starts [default: the project's directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(super) cwd: Option<PathBuf>,
    /// Columns
    #[arg(long, default_value_t = 80)]
    pub(super) cols: u16,
    /// Rows
    #[arg(long, default_value_t = 24)]
    pub(super) rows: u16,
    /// Title until the program sets one
    #[arg(long, default_value = "roostctl")]
    pub(super) title: String,
    /// Put it behind this tab instead of at the end
    #[arg(long, value_name = "ID")]
    pub(super) after_tab: Option<i64>,
    /// Make it the active tab
    #[arg(long)]
    pub(super) focus: bool,
    /// Go on with a shell when the program ends
    #[arg(long)]
    pub(super) hold: bool,
    /// Program and arguments [default: the shell]
    #[arg(last = true, value_hint = ValueHint::CommandWithArguments)]
    pub(super) command: Vec<String>,
}

/// What a tab shows of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum State {
    /// Nothing to say
    None,
    /// Something runs
    Running,
    /// Something waits for the user
    NeedsInput,
    /// Something is done
    Idle,
}

impl From<State> for TabState {
    fn from(state: State) -> Self {
        match state {
            State::None => Self::None,
            State::Running => Self::Running,
            State::NeedsInput => Self::NeedsInput,
            State::Idle => Self::Idle,
        }
    }
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["bytes", "bytes_base64"]))]
pub(super) struct Send {
    #[command(flatten)]
    pub(super) which: Which,
    /// Text, in which \n \r \t \0 \\ \" \' and \xHH are escapes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) bytes: Option<String>,
    /// Take the text as it is, without escapes
    #[arg(long, requires = "bytes", conflicts_with = "bytes_base64")]
    pub(super) raw: bool,
    /// Bytes in base64
    #[arg(long, value_name = "BASE64", allow_hyphen_values = true)]
    pub(super) bytes_base64: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Project {
    /// List projects
    List,
    /// Create a project
    Create {
        /// Its name [default: chosen by the server]
        #[arg(long, default_value = "", hide_default_value = true)]
        name: String,
        /// Where its tabs start
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        cwd: Option<PathBuf>,
    },
    /// Rename a project
    Rename {
        /// The project
        #[arg(long, visible_alias = "project-id")]
        id: i64,
        /// Its new name
        #[arg(long)]
        name: String,
    },
    /// Delete a project and close its tabs
    Delete {
        /// The project
        #[arg(long, visible_alias = "project-id")]
        id: i64,
    },
    /// Order projects; those not named follow in their order
    Reorder {
        /// The projects, topmost first, such as 3,1,2
        #[arg(long, value_name = "IDS", value_delimiter = ',', required = true)]
        order: Vec<i64>,
    },
}

#[derive(Debug, Args)]
pub(super) struct Wait {
    #[command(flatten)]
    pub(super) which: Which,
    /// Until the tab is in this state
    #[arg(long, value_enum)]
    pub(super) state: Option<State>,
    /// Until the tab shows this text
    #[arg(long)]
    pub(super) text: Option<String>,
    /// Until there is no such tab
    #[arg(long)]
    pub(super) gone: bool,
    /// Seconds to wait at most; 0 looks once
    #[arg(long, value_name = "SECS", default_value = "5.0", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub(super) timeout: Duration,
    /// Milliseconds between looks, at least 10; only for servers that cannot tell what changes
    #[arg(long, value_name = "MS", default_value_t = 100)]
    pub(super) interval_ms: u64,
}

/// Seconds, perhaps with a fraction; less than none is none.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    let seconds = if seconds < 0.0 { 0.0 } else { seconds };
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[derive(Debug, Args)]
pub(super) struct Watch {
    /// Only events about this tab
    #[arg(long, value_name = "ID")]
    pub(super) tab: Option<i64>,
    /// Begin after the event of this number, and number events; -1 begins now
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) since: Option<i64>,
    /// Print JSON, which is what is printed anyway
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Palette {
    /// Open it
    Open {
        /// What to show: commands, launcher, custom or agents
        #[arg(long, default_value = "", hide_default_value = true)]
        kind: String,
        #[command(flatten)]
        form: Form,
    },
    /// Print what it shows
    State(Form),
    /// Filter its rows
    Query {
        /// The filter; empty shows all rows
        #[arg(value_name = "QUERY")]
        query: String,
        #[command(flatten)]
        form: Form,
    },
    /// Act on a row
    Activate {
        /// The row
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        form: Form,
    },
    /// Close it
    Dismiss(Form),
    /// Show a list and print the id that the user picks, or nothing
    Present(Present),
}

/// How to print.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Form {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Present {
    /// What the list is about
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) title: String,
    /// What the empty input shows
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) placeholder: String,
    /// The rows as JSON: [{"id", "title", "subtitle"}] or {"items": […]} [default: from stdin]
    #[arg(long, value_name = "JSON")]
    pub(super) items: Option<String>,
    #[command(flatten)]
    pub(super) form: Form,
}

#[derive(Debug, Args)]
pub(super) struct Screenshot {
    /// Where to write it [default: stdout]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) out: Option<PathBuf>,
    /// Pixels per point
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2))]
    pub(super) scale: u32,
}

#[derive(Debug, Args)]
pub(super) struct RenderStats {
    /// Begin to count anew afterwards
    #[arg(long)]
    pub(super) reset: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Claude {
    /// Write hook settings and print an alias that makes Claude Code use them
    Install {
        /// Replace the file if it exists
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct ClaudeHook {
    /// Such as SessionStart, UserPromptSubmit, Notification, Stop, StopFailure or SessionEnd
    #[arg(value_name = "EVENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) event: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    pub(super) which: Which,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Print every check instead of a line per section
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Whether to use colors
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(super) color: When,
}

/// Whether to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// For which shell
    #[arg(value_enum)]
    pub(super) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests;
