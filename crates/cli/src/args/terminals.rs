//! Arguments of the commands for terminals.

use std::{path::PathBuf, str::FromStr};

use clap::{ArgGroup, Args, ValueEnum, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct Open {
    /// Project of the terminal, by number or name
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
    /// Title, instead of the one that the program sets
    #[arg(long, short)]
    pub(crate) title: Option<String>,
    /// Connect to the new terminal
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
    /// Terminal, by its number, s and its number, its UUID or its title
    #[arg(value_name = "TERMINAL")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Attach {
    /// Terminal, by its number, s and its number, its UUID or its title [default: the only other
    /// running one; asks if there are several]
    #[arg(value_name = "TERMINAL")]
    pub(crate) id: Option<String>,
    /// Key that detaches and leaves the program running
    #[arg(long, value_name = "KEY", default_value = crate::attach::DETACH)]
    pub(crate) detach_key: crate::attach::Chord,
    /// Key that shows the history; arrows, PageUp, PageDown, g and G scroll, q returns
    #[arg(long, value_name = "KEY", default_value = crate::attach::SCROLL)]
    pub(crate) scroll_key: crate::attach::Chord,
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
    /// Press Enter at the end
    #[arg(long, short)]
    pub(crate) enter: bool,
    /// Paste the text instead of typing it
    #[arg(long, short, requires = "text")]
    pub(crate) paste: bool,
    /// Press a key after the text, such as ctrl+c or PageUp; may be repeated
    #[arg(long = "key", short, value_name = "KEY")]
    pub(crate) keys: Vec<String>,
    /// Text to type; several words are joined by spaces, a single - reads stdin
    #[arg(value_name = "TEXT", trailing_var_arg = true)]
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("condition").required(true)
    .args(["text", "regex", "transcript", "exit", "stable", "needs_input"]))]
pub(crate) struct Wait {
    /// Terminals, by their numbers, UUIDs or titles
    #[arg(value_name = "TERMINAL", required = true)]
    pub(crate) ids: Vec<String>,
    /// Wait for any of the terminals instead of all, and print which one it was
    #[arg(long)]
    pub(crate) any: bool,
    /// Wait until the screen contains this text
    #[arg(long, short)]
    pub(crate) text: Option<String>,
    /// Wait until the screen matches this regular expression
    #[arg(long, short)]
    pub(crate) regex: Option<String>,
    /// Wait until the output contains this text, including output that scrolled off the screen
    #[arg(long, value_name = "TEXT")]
    pub(crate) transcript: Option<String>,
    /// Wait until the program or its agent needs input
    #[arg(long)]
    pub(crate) needs_input: bool,
    /// Wait until the program exits
    #[arg(long, short)]
    pub(crate) exit: bool,
    /// Wait until there was no output for MS milliseconds
    #[arg(long, short, value_name = "MS")]
    pub(crate) stable: Option<u64>,
    /// Timeout in seconds
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
    /// Show secrets too
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
    /// Output file, - for stdout [default: stdout, or a new .cast file if stdout is a terminal]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Title of the recording [default: the terminal's]
    #[arg(long, short)]
    pub(crate) title: Option<String>,
    /// Stop after SECS seconds
    #[arg(long = "for", value_name = "SECS", value_parser = seconds)]
    pub(crate) duration: Option<std::time::Duration>,
    /// Shorten pauses to at most SECS seconds
    #[arg(long, short, value_name = "SECS", value_parser = seconds)]
    pub(crate) idle_limit: Option<std::time::Duration>,
    /// Overwrite the file if it exists
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Record everything unchanged, including secrets
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Recording, - for stdin
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Playback speed factor
    #[arg(long, short, value_name = "FACTOR", default_value = "1", value_parser = factor)]
    pub(crate) speed: f64,
    /// Shorten pauses to at most SECS seconds [default: the recording's own limit]
    #[arg(long, short, value_name = "SECS", value_parser = seconds)]
    pub(crate) idle_limit: Option<std::time::Duration>,
    /// Only print the final screen, as text
    #[arg(long, conflicts_with_all = ["text", "speed", "idle_limit"])]
    pub(crate) dump: bool,
    /// Only print the recorded output, as lines of text
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
    /// Also end processes that left the terminal's session (setsid, nohup)
    #[arg(long, conflicts_with = "signal")]
    pub(crate) all_processes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Project of the terminal, by number or name
    #[arg(long, short, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Directory to start in [default: the project's, else the current one]
    #[arg(long, short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// Set an environment variable; may be repeated
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<Variable>,
    /// Title, instead of the one that the program sets
    #[arg(long, short)]
    pub(crate) title: Option<String>,
    /// Timeout in seconds; the program keeps running after it [default: none]
    #[arg(long, short = 'T', value_name = "SECS", value_parser = seconds)]
    pub(crate) timeout: Option<std::time::Duration>,
    /// Keep the terminal open after the program has exited
    #[arg(long, short)]
    pub(crate) keep: bool,
    /// Print the id of its task and return; follow it with `rookery task logs --follow`
    #[arg(long, short, conflicts_with_all = ["timeout", "no_redact"])]
    pub(crate) detach: bool,
    /// Retry it up to N times if it fails or is lost, for example in a crash
    #[arg(long, value_name = "N", requires = "detach")]
    pub(crate) retries: Option<u32>,
    /// When to retry it [default: both]
    #[arg(long, value_name = "WHAT", value_delimiter = ',', requires = "retries")]
    pub(crate) retry_on: Vec<RetryOn>,
    /// Seconds to wait before a retry [default: 5]
    #[arg(long, value_name = "SECS", requires = "retries")]
    pub(crate) retry_backoff: Option<u64>,
    /// What happens if it is lost and not retried: it fails, or waits (`hold`) for your decision [default: fail]
    #[arg(long, value_name = "WHAT", requires = "detach")]
    pub(crate) lost: Option<WhenLost>,
    /// Show secrets in the output
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Print terminal, output and exit code as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Program and arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true,
        value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<String>,
}

/// When a task is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RetryOn {
    Lost,
    Failed,
}

/// What happens to a lost task that is not retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhenLost {
    Hold,
    Fail,
}

#[derive(Debug, Args)]
pub(crate) struct Close {
    /// Terminals, by their numbers, UUIDs or titles
    #[arg(value_name = "TERMINAL", required_unless_present = "exited")]
    pub(crate) ids: Vec<String>,
    /// Close every terminal whose program has exited
    #[arg(long, conflicts_with = "ids")]
    pub(crate) exited: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also end processes that left the terminals' sessions (setsid, nohup)
    #[arg(long)]
    pub(crate) all_processes: bool,
}
