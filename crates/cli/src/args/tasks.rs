//! Arguments of `rookery task`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Task {
    #[command(subcommand)]
    pub(crate) action: TaskAction,
}

/// What to do with background tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskAction {
    /// List tasks, the newest first
    #[command(visible_alias = "list")]
    Ls(TaskLs),
    /// Show a task: state, attempts and result
    Show(TaskIdArg),
    /// Print what a task wrote; the newest 64 KiB are kept
    ///
    /// With --follow, exits as the task did: with its exit code, or with 1 when it failed or was
    /// cancelled.
    Logs(TaskLogsArgs),
    /// Cancel tasks that wait or run
    Cancel(TaskCancelArgs),
    /// Retry a task: a lost one under its id, a finished one as a new task
    Retry(TaskIdArg),
}

#[derive(Debug, Args)]
pub(crate) struct TaskLs {
    /// Only those that wait or run
    #[arg(long, short)]
    pub(crate) open: bool,
    /// List the newest N
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TaskIdArg {
    /// Id, or the end of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TaskLogsArgs {
    /// Id, or the end of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Keep printing until the task is over
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Print JSON, one line per piece
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TaskCancelArgs {
    /// Ids, or the ends of them
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Reason, kept with the task
    #[arg(long, short)]
    pub(crate) reason: Option<String>,
    /// Print JSON, one line per task
    #[arg(long)]
    pub(crate) json: bool,
}
