//! Arguments of `rookery setup`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// Who answers in new threads, by the id of a provider [default: the first that was found]
    #[arg(long, short, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Make links by which this program is called under other names, in ~/.local/bin
    #[arg(long)]
    pub(crate) shims: bool,
    /// Make Claude Code report what it does, by hooks in its settings
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
