//! The project's own build tool, run as `cargo xtask <command>`.
//!
//! Owns the command line and nothing else; each command is a module of its name.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to the person who started it"
)]

mod attack;
mod ci;
mod compare;
mod compat;
mod fuzz;
mod needs;
mod node;
mod process;
mod python;
mod test;
mod tidy;
mod timings;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

use crate::process::Run;

/// Build, test and check Rookery.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the tests need (as root, with apt-get) and run them all.
    Test(TestArgs),
    /// Run the corpus of attacks alone: control sockets, hostile input, damaged stores, other users.
    Attack(AttackArgs),
    /// Run the tests with published clients alone: what we say decodes with their own types.
    Compat,
    /// Everything a change must pass: format, lints, tidy, deny, test. Stops at the first failure.
    Ci(CiArgs),
    /// The rules of the repository: crate edges, file sizes, module docs, banned text, Markdown.
    Tidy(TidyArgs),
    /// Measure, in release mode; arguments go to the bench binary.
    Bench(BenchArgs),
    /// Build the program from nothing and say what that costs: time, units, size.
    Timings(timings::TimingsArgs),
    /// Draw the pictures of the face in a terminal, and its cast, into docs/images.
    Pictures,
    /// Run the fuzz targets on stable Rust; needs a C++ compiler.
    Fuzz(FuzzArgs),
    /// Hold the same conversations with Rookery and with the real ptywright, and explain every difference.
    Compare(compare::CompareArgs),
}

/// What `cargo xtask test` was asked to do.
#[derive(Args, Clone, Default)]
pub(crate) struct TestArgs {
    /// Run only the tests whose name contains this.
    pub(crate) filter: Option<String>,
    /// Replay the seeds of every fuzz target as well.
    #[arg(long, conflicts_with = "filter")]
    pub(crate) fuzz: bool,
    /// Install nothing; only say what is missing.
    #[arg(long)]
    pub(crate) no_install: bool,
}

/// What `cargo xtask attack` was asked to do.
#[derive(Args, Clone, Default)]
pub(crate) struct AttackArgs {
    /// Run only the attacks whose name contains this.
    pub(crate) filter: Option<String>,
    /// Install nothing; only say what is missing.
    #[arg(long)]
    pub(crate) no_install: bool,
}

/// What `cargo xtask ci` was asked to do.
#[derive(Args)]
pub(crate) struct CiArgs {
    /// Leave the fuzz smoke run out.
    #[arg(long)]
    pub(crate) no_fuzz: bool,
    /// Install nothing; only say what is missing.
    #[arg(long)]
    pub(crate) no_install: bool,
}

#[derive(Args)]
struct TidyArgs {
    /// Also fail for a row of xtask/edges.toml whose crate does not exist.
    #[arg(long)]
    strict: bool,
}

#[derive(Args)]
struct BenchArgs {
    /// Arguments for the bench binary.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// What `cargo xtask fuzz` was asked to do.
#[derive(Args)]
pub(crate) struct FuzzArgs {
    /// The target to run; all of them, one after the other, if left out.
    pub(crate) target: Option<String>,
    /// How long to run each target.
    #[arg(long, value_name = "N", default_value_t = 60, conflicts_with = "smoke")]
    pub(crate) seconds: u32,
    /// Replay the seeds of each target, and keep nothing but crashes.
    #[arg(long)]
    pub(crate) smoke: bool,
    /// List the targets and stop.
    #[arg(long)]
    pub(crate) list: bool,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: Command) -> anyhow::Result<()> {
    let root = repository_root()?;
    match command {
        Command::Test(args) => test::run(&root, &args),
        Command::Attack(args) => attack::run(&root, &args),
        Command::Compat => compat::run(&root),
        Command::Ci(args) => ci::run(&root, &args),
        Command::Tidy(args) => tidy::run(&root, args.strict),
        Command::Bench(args) => bench(&root, args.args),
        Command::Timings(args) => timings::run(&root, &args),
        Command::Pictures => pictures(&root),
        Command::Fuzz(args) => fuzz::run(&root, &args),
        Command::Compare(args) => compare::run(&root, &args),
    }
}

/// A real daemon is driven by real keys, so the pictures are what is there.
fn pictures(root: &Path) -> anyhow::Result<()> {
    Run::cargo(root).args(["build", "-p", "rookery"]).status()?;
    Run::cargo(root)
        .args(["run", "-p", "rookery-testkit", "--example", "pictures", "--"])
        .arg(root.join("docs").join("images"))
        .status()
}

fn bench(root: &Path, args: Vec<OsString>) -> anyhow::Result<()> {
    Run::cargo(root).args(["run", "--release", "-p", "rookery-bench", "--"]).args(args).status()
}

/// The repository, asked for at run time: a shared target directory may hold a binary that
/// another clone has built.
fn repository_root() -> anyhow::Result<PathBuf> {
    let start = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(manifest_dir) => PathBuf::from(manifest_dir),
        None => std::env::current_dir().context("the current directory")?,
    };
    start
        .ancestors()
        .find(|dir| dir.join(tidy::EDGES_FILE).is_file())
        .map(Path::to_path_buf)
        .with_context(|| format!("no {} above {}", tidy::EDGES_FILE, start.display()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn bench_forwards_flags_untouched() {
        let cli = Cli::try_parse_from(["xtask", "bench", "--quick", "-n", "3"]).unwrap();
        let Command::Bench(bench) = cli.command else { panic!("not bench") };
        assert_eq!(bench.args, ["--quick", "-n", "3"]);
    }

    #[test]
    fn smoke_and_seconds_exclude_each_other() {
        assert!(Cli::try_parse_from(["xtask", "fuzz", "--smoke"]).is_ok());
        assert!(Cli::try_parse_from(["xtask", "fuzz", "--smoke", "--seconds", "5"]).is_err());
    }

    #[test]
    fn root_has_the_workspace_manifest() {
        assert!(repository_root().unwrap().join("Cargo.toml").is_file());
    }
}
