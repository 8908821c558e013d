//! Arguments of `rookery workflow`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Run scripts that start child agents and combine their answers
#[derive(Debug, Args)]
pub(crate) struct Workflow {
    #[command(subcommand)]
    pub(crate) action: WorkflowAction,
}

/// What to do with workflows.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowAction {
    /// Check a script and show what it may do; nothing is kept or started
    Plan(WorkflowPlan),
    /// Plan a workflow, ask for consent, and follow it to its report
    Run(WorkflowRun),
    /// List runs, newest first
    #[command(visible_alias = "list")]
    Ls(WorkflowLs),
    /// Show a run with its agents and its report
    Show(WorkflowShow),
    /// Stop a run with all its agents
    Stop(WorkflowStop),
}

/// What is run.
#[derive(Debug, Args)]
pub(crate) struct WorkflowWhat {
    /// Prompt; without --script or --name, the chosen model writes the script
    pub(crate) prompt: String,
    /// Run the script in this file
    #[arg(short, long, value_name = "FILE", conflicts_with = "name")]
    pub(crate) script: Option<PathBuf>,
    /// Run the saved or built-in script of this name
    #[arg(short, long)]
    pub(crate) name: Option<String>,
    /// Give the script these arguments, as JSON
    #[arg(short, long, value_name = "JSON")]
    pub(crate) arguments: Option<String>,
    /// Let agents work in this directory instead of the current one
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery workflow plan`.
#[derive(Debug, Args)]
pub(crate) struct WorkflowPlan {
    #[command(flatten)]
    pub(crate) what: WorkflowWhat,
}

/// Arguments of `rookery workflow run`.
#[derive(Debug, Args)]
pub(crate) struct WorkflowRun {
    #[command(flatten)]
    pub(crate) what: WorkflowWhat,
    /// Start without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print the run's id and do not follow it
    #[arg(short, long)]
    pub(crate) detach: bool,
}

/// Arguments of `rookery workflow ls`.
#[derive(Debug, Args)]
pub(crate) struct WorkflowLs {
    /// Include runs that are over
    #[arg(short, long)]
    pub(crate) all: bool,
    /// List the newest N runs
    #[arg(short, long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery workflow show`.
#[derive(Debug, Args)]
pub(crate) struct WorkflowShow {
    /// Id of the run, or the end of it
    pub(crate) run: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery workflow stop`.
#[derive(Debug, Args)]
pub(crate) struct WorkflowStop {
    /// Id of the run, or the end of it
    pub(crate) run: String,
    /// Reason, kept with the run
    #[arg(short, long)]
    pub(crate) reason: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
