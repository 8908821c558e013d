//! The command line of roostctl as types.

use std::{path::PathBuf, time::Duration};

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum, ValueHint};
use rookery_roost::wire::tab::TabState;

use super::target::Profile;

/// Whose program this is.
const PROVIDER: &str = concat!(
    "The server is chosen by --socket, ROOST_SOCKET, --target or ROOST_BUNDLE_PROFILE; without them it is the \
     only one that listens.\nThis is rookery ",
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
    /// Kind of server to look for
    #[arg(long, global = true, value_enum)]
    pub(super) target: Option<Profile>,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show the server's identity and what is active
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
    /// Wait until a tab is in a state, shows a text or is closed
    ///
    /// At least one of --state, --text and --gone is required; --gone cannot be combined with the
    /// others. With --state and --text, both must hold at once. Exits with 0 when the condition was
    /// met, and with 1 when the timeout expired, the tab was closed first, or the conditions are
    /// invalid.
    Wait(Wait),
    /// Print events, one JSON object per line, until the server ends
    Watch(Watch),
    /// Drive the command palette
    #[command(subcommand)]
    Palette(Palette),
    /// Render the window as PNG
    Screenshot(Screenshot),
    /// Print rendering statistics
    RenderStats(RenderStats),
    /// Set up Claude Code
    #[command(subcommand)]
    Claude(Claude),
    /// Report an event of Claude Code, with its payload on stdin; for hooks
    ///
    /// Always prints {} and exits with 0, because anything else would disturb Claude Code. With
    /// ROOST_DEBUG set, errors are printed on stderr.
    ClaudeHook(ClaudeHook),
    /// Check the setup and report problems; changes nothing
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
}

/// The target tab.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct TabArg {
    /// Tab [default: $ROOST_TAB_ID, else the active tab]
    #[arg(long, value_name = "ID")]
    pub(super) tab: Option<i64>,
}

#[derive(Debug, Args)]
pub(super) struct Notify {
    /// Title of the notification
    #[arg(long)]
    pub(super) title: String,
    /// Text of the notification
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) body: String,
    #[command(flatten)]
    pub(super) which: TabArg,
}

#[derive(Debug, Args)]
pub(super) struct SetTitle {
    /// The new title
    #[arg(long)]
    pub(super) title: String,
    #[command(flatten)]
    pub(super) which: TabArg,
}

#[derive(Debug, Subcommand)]
pub(super) enum Tab {
    /// List projects and their tabs
    List {
        /// Print every field, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Open a tab and print its id
    Open(Open),
    /// Close a tab and end its program
    Close(TabArg),
    /// Make a tab the active one
    Focus(TabArg),
    /// Clear the notification of a tab
    ClearNotification(TabArg),
    /// Set the state that a tab shows
    SetState {
        /// State
        #[arg(long, value_enum)]
        state: State,
        #[command(flatten)]
        which: TabArg,
    },
    /// Write to the program of a tab
    Send(Send),
    /// Change the size of a tab
    Resize {
        #[command(flatten)]
        which: TabArg,
        /// Columns
        #[arg(long)]
        cols: std::num::NonZeroU16,
        /// Rows
        #[arg(long)]
        rows: std::num::NonZeroU16,
    },
    /// Reorder the tabs of a project; tabs not listed follow in their order
    Reorder {
        /// Project
        #[arg(long, value_name = "ID")]
        project_id: i64,
        /// Tabs, leftmost first, such as 3,1,2
        #[arg(long, value_name = "IDS", value_delimiter = ',', required = true)]
        order: Vec<i64>,
    },
    /// Print a tab's screen
    Dump {
        #[command(flatten)]
        which: TabArg,
        /// Print size, cursor and rows as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct Open {
    /// Project
    #[arg(long, value_name = "ID")]
    pub(super) project_id: i64,
    /// Working directory [default: the project's directory]
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
    /// Insert it after this tab instead of at the end
    #[arg(long, value_name = "ID")]
    pub(super) after_tab: Option<i64>,
    /// Make it the active tab
    #[arg(long)]
    pub(super) focus: bool,
    /// Start a shell when the program exits
    #[arg(long)]
    pub(super) hold: bool,
    /// Program and arguments [default: the shell]
    #[arg(last = true, value_hint = ValueHint::CommandWithArguments)]
    pub(super) command: Vec<String>,
}

/// State that a tab shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum State {
    /// No state
    None,
    /// Running
    Running,
    /// Waiting for the user
    NeedsInput,
    /// Idle after finishing
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
    pub(super) which: TabArg,
    /// Text, in which \n \r \t \0 \\ \" \' and \xHH are escapes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) bytes: Option<String>,
    /// Send the text unchanged, without escapes
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
        /// Name [default: chosen by the server]
        #[arg(long, default_value = "", hide_default_value = true)]
        name: String,
        /// Working directory of its tabs
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        cwd: Option<PathBuf>,
    },
    /// Rename a project
    Rename {
        /// Project
        #[arg(long, visible_alias = "project-id")]
        id: i64,
        /// New name
        #[arg(long)]
        name: String,
    },
    /// Delete a project and close its tabs
    Delete {
        /// Project
        #[arg(long, visible_alias = "project-id")]
        id: i64,
    },
    /// Reorder projects; projects not listed follow in their order
    Reorder {
        /// Projects, topmost first, such as 3,1,2
        #[arg(long, value_name = "IDS", value_delimiter = ',', required = true)]
        order: Vec<i64>,
    },
}

#[derive(Debug, Args)]
pub(super) struct Wait {
    #[command(flatten)]
    pub(super) which: TabArg,
    /// Wait until the tab is in this state
    #[arg(long, value_enum)]
    pub(super) state: Option<State>,
    /// Wait until the tab shows this text
    #[arg(long)]
    pub(super) text: Option<String>,
    /// Wait until the tab is closed
    #[arg(long)]
    pub(super) gone: bool,
    /// Timeout in seconds; 0 checks once
    #[arg(long, value_name = "SECS", default_value = "5.0", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub(super) timeout: Duration,
    /// Polling interval in milliseconds, at least 10; used only with servers that send no events
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
    /// Start after the event with this number, and number events; -1 starts now
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) since: Option<i64>,
    /// Accepted for compatibility; the output is always JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Palette {
    /// Open the palette
    Open {
        /// Mode: commands, launcher, custom or agents
        #[arg(long, default_value = "", hide_default_value = true)]
        kind: String,
        #[command(flatten)]
        form: Form,
    },
    /// Print the rows it shows
    State(Form),
    /// Filter its rows
    Query {
        /// Filter; an empty one shows all rows
        #[arg(value_name = "QUERY")]
        query: String,
        #[command(flatten)]
        form: Form,
    },
    /// Activate a row
    Activate {
        /// Row
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        form: Form,
    },
    /// Close the palette
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
    /// Title of the list
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) title: String,
    /// Placeholder of the empty input
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) placeholder: String,
    /// Rows as JSON: [{"id", "title", "subtitle"}] or {"items": […]} [default: from stdin]
    #[arg(long, value_name = "JSON")]
    pub(super) items: Option<String>,
    #[command(flatten)]
    pub(super) form: Form,
}

#[derive(Debug, Args)]
pub(super) struct Screenshot {
    /// Output file [default: stdout]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) out: Option<PathBuf>,
    /// Pixels per point
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2))]
    pub(super) scale: u32,
}

#[derive(Debug, Args)]
pub(super) struct RenderStats {
    /// Reset the counters afterwards
    #[arg(long)]
    pub(super) reset: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Claude {
    /// Write hook settings and print an alias that makes Claude Code use them
    Install {
        /// Overwrite the file if it exists
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct ClaudeHook {
    /// Event, such as SessionStart, UserPromptSubmit, Notification, Stop, StopFailure or SessionEnd
    #[arg(value_name = "EVENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) event: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    pub(super) which: TabArg,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Print every check instead of a line per section
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Whether to use colors
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto)]
    pub(super) color: ColorChoice,
}

/// Whether to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Shell to print the script for
    #[arg(value_enum)]
    pub(super) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests;
