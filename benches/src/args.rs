//! The command line, including the hidden roles in which this binary is the child of a terminal.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::measure::Section;
use crate::streams::Stream;

/// Measure Rookery beside tmux, ptywright, pexpect, tui-test, roder, xterm, alacritty, xterm.js and a bare PTY read loop.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
pub(crate) struct Args {
    /// Smaller sizes and fewer rounds: a check that everything works, not a result to quote.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Run only this section; may be given more than once.
    #[arg(long, value_name = "NAME")]
    only: Vec<Section>,
    /// Write only this stream in throughput measurements; may be given more than once.
    #[arg(long = "stream", value_name = "NAME")]
    pub(crate) streams: Vec<Stream>,
    /// Rounds of each measurement of throughput or latency, of which the best counts.
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<usize>,
    /// Megabytes per throughput measurement.
    #[arg(long, value_name = "MB")]
    pub(crate) megabytes: Option<u64>,
    /// Seconds to wait, before each measurement, for the machine to be idle.
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub(crate) patience: u64,
    /// Install peers that are needed and not there: pexpect, tui-test, roder and xterm.js below the target directory,
    /// xterm, alacritty, Xvfb and Chromium with apt-get.
    #[arg(long)]
    pub(crate) install: bool,
    /// Measure Rookery and the floor alone.
    #[arg(long)]
    pub(crate) no_peers: bool,
    /// The rookery binary; the one beside this program, or built, if left out.
    #[arg(long, value_name = "PATH")]
    pub(crate) rookery: Option<PathBuf>,
    /// Another build of rookery, against which ingest is measured as well: what a change costs.
    #[arg(long, value_name = "PATH")]
    pub(crate) before: Option<PathBuf>,
    /// Where the results go; benches/results if left out.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) role: Option<Role>,
}

impl Args {
    /// Whether this section was asked for.
    pub(crate) fn wants(&self, section: Section) -> bool {
        // Whoever asks for the faces wants all of them.
        let is_face = matches!(section, Section::Window | Section::Browser);
        self.only.is_empty()
            || self.only.contains(&section)
            || is_face && self.only.contains(&Section::Faces)
    }

    /// Where the results go.
    pub(crate) fn results_dir(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| source_dir().join("results"))
    }
}

/// Where the sources of this program are. Asked for at run time: a shared target directory may hold a binary that
/// another clone has built.
pub(crate) fn source_dir() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("benches"), PathBuf::from)
}

/// What this binary does when it is started inside a terminal.
#[derive(Debug, Subcommand)]
pub(crate) enum Role {
    /// Write a stream of data and then the marker.
    #[command(name = "__write", hide = true)]
    Write(Write),
    /// Write the time whenever told to.
    #[command(name = "__stamp", hide = true)]
    Stamp(Stamp),
    /// Show a block that gets another color with every key.
    #[command(name = "__block", hide = true)]
    Block,
    /// Write lines at a steady rate for a while.
    #[command(name = "__flood", hide = true)]
    Flood(Flood),
    /// Write back what is typed, on one line.
    #[command(name = "__echo", hide = true)]
    Echo,
}

/// A child that writes a stream.
#[derive(Debug, clap::Args)]
pub(crate) struct Write {
    /// What kind of data.
    pub(crate) stream: Stream,
    /// How much of it.
    pub(crate) bytes: u64,
    /// Wait for the word at this socket first, report there afterwards, and stay until it closes.
    #[arg(long)]
    pub(crate) gate: Option<PathBuf>,
    /// Ask the terminal for the cursor position after the marker, and report only when it has answered.
    #[arg(long)]
    pub(crate) confirm: bool,
}

/// A child that writes more lines than anyone reads, and no more than a terminal survives.
#[derive(Debug, clap::Args)]
pub(crate) struct Flood {
    /// Bytes a second; fewer where the terminal takes fewer.
    #[arg(long, default_value_t = crate::child::FLOOD_RATE)]
    pub(crate) rate: u64,
    /// Seconds until it ends by itself.
    #[arg(long, default_value_t = crate::child::FLOOD_SECONDS)]
    pub(crate) seconds: u64,
}

/// A child that writes the time.
#[derive(Debug, clap::Args)]
pub(crate) struct Stamp {
    /// The socket where numbers to stamp arrive.
    #[arg(long)]
    pub(crate) gate: PathBuf,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn all_sections_run_unless_some_are_named() {
        let all = Args::try_parse_from(["bench"]).unwrap();
        assert!(Section::ALL.into_iter().all(|section| all.wants(section)));
        let some = Args::try_parse_from(["bench", "--only", "create", "--only", "wake"]).unwrap();
        let wanted: Vec<_> =
            Section::ALL.into_iter().filter(|section| some.wants(*section)).collect();
        assert_eq!(wanted, [Section::Wake, Section::Create]);
        assert!(Args::try_parse_from(["bench", "--only", "nothing"]).is_err());
        let faces = Args::try_parse_from(["bench", "--only", "faces"]).unwrap();
        assert!(faces.wants(Section::Window) && faces.wants(Section::Browser));
        let window = Args::try_parse_from(["bench", "--only", "window"]).unwrap();
        assert!(!window.wants(Section::Faces) && !window.wants(Section::Browser));
    }
}
