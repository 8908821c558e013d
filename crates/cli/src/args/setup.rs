//! Arguments of `rookery setup`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// Provider for new threads, by its id [default: the first one found]
    #[arg(long, short, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Create links in ~/.local/bin that run this program under other names
    #[arg(long)]
    pub(crate) shims: bool,
    /// Install hooks in Claude Code's settings that report what it does
    #[arg(long)]
    pub(crate) hooks: bool,
    /// Install completions for your shell
    #[arg(long)]
    pub(crate) shell: bool,
    /// Only show what was found and what would be written
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
    /// Write without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print JSON; needs --dry-run or --yes
    #[arg(long)]
    pub(crate) json: bool,
}
