//! What a first build costs: builds the program from nothing, as `cargo run --release` does on a fresh
//! machine, and says how long it took, what took longest, and how large the result is.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Deserialize;

use crate::process::Run;

/// What `cargo xtask timings` was asked to do.
#[derive(Args)]
pub(crate) struct TimingsArgs {
    /// Show the N units that took longest.
    #[arg(long, value_name = "N", default_value_t = 25)]
    top: usize,
    /// Keep what was built, with cargo's own report, in this directory.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// One unit of cargo's report.
#[derive(Debug, Deserialize)]
struct Unit {
    name: String,
    version: String,
    target: String,
    duration: f64,
}

/// Removes a directory when it is dropped, unless it is kept.
struct Scratch {
    dir: PathBuf,
    is_kept: bool,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_kept {
            // Nothing is lost but disk space, and the path was printed.
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

pub(crate) fn run(root: &Path, args: &TimingsArgs) -> anyhow::Result<()> {
    let scratch = match &args.keep {
        Some(dir) => Scratch { dir: dir.clone(), is_kept: true },
        None => {
            let name = format!("rookery-timings-{}", std::process::id());
            Scratch { dir: std::env::temp_dir().join(name), is_kept: false }
        }
    };
    if scratch.dir.read_dir().is_ok_and(|mut found| found.next().is_some()) {
        bail!("{} is not empty; a first build needs an empty directory", scratch.dir.display());
    }
    println!("building from nothing in {}", scratch.dir.display());
    let began = Instant::now();
    Run::cargo(root)
        .args(["build", "--release", "--timings"])
        .env("CARGO_TARGET_DIR", &scratch.dir)
        .status()?;
    let wall = began.elapsed().as_secs_f64();
    let report = scratch.dir.join("cargo-timings/cargo-timing.html");
    let html = fs::read_to_string(&report).with_context(|| report.display().to_string())?;
    print_units(units(&html)?, args.top);
    println!("\nwall time  {}", minutes(wall));
    if let Some(cpu) = children_seconds(&fs::read_to_string("/proc/self/stat").unwrap_or_default())
    {
        println!("CPU time   {}", minutes(cpu));
    }
    let binary =
        scratch.dir.join("release").join(format!("rookery{}", std::env::consts::EXE_SUFFIX));
    let size = fs::metadata(&binary).with_context(|| binary.display().to_string())?.len();
    println!("binary     {:.1} MB", size as f64 / 1e6);
    Ok(())
}

fn print_units(mut units: Vec<Unit>, top: usize) {
    units.sort_by(|one, other| other.duration.total_cmp(&one.duration));
    println!("\n{:>8}  unit ({} in all)", "seconds", units.len());
    for unit in units.iter().take(top) {
        println!("{:>8.1}  {} {}{}", unit.duration, unit.name, unit.version, unit.target);
    }
}

/// The units of cargo's report, which it has as data for its own drawing.
fn units(html: &str) -> anyhow::Result<Vec<Unit>> {
    let (_, rest) = html.split_once("const UNIT_DATA = ").context("cargo's report has no units")?;
    let (data, _) = rest.split_once("];").context("cargo's report is cut off")?;
    serde_json::from_str(&format!("{data}]")).context("cargo's report is of another kind")
}

/// The processor time of all children that have ended, from `/proc/self/stat`. Linux counts it in
/// hundredths of a second, whatever its own tick is.
fn children_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(13).map(|field| field.parse::<f64>().ok());
    Some((fields.next()?? + fields.next()??) / 100.0)
}

fn minutes(seconds: f64) -> String {
    format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), seconds % 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_from_cargos_report() {
        let html = r#"<script>const UNIT_DATA = [
          {"i": 0, "name": "libc", "version": "0.2.1", "mode": "todo", "target": " build-script", "start": 0.1, "duration": 1.5, "unblocked_units": [1]},
          {"i": 1, "name": "serde", "version": "1.0.0", "mode": "todo", "target": "", "start": 1.6, "duration": 0.25, "unblocked_units": []}
        ];
        const CONCURRENCY_DATA = [1];</script>"#;
        let units = units(html).unwrap();
        assert_eq!(units.len(), 2);
        assert_eq!((units[0].name.as_str(), units[1].duration), ("libc", 0.25));
        assert!(super::units("<html>").is_err());
    }

    #[test]
    fn the_time_of_children_is_found_behind_a_name_with_spaces() {
        let stat = "12 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 150 50 20 0 1";
        assert_eq!(children_seconds(stat), Some(2.0));
        assert_eq!(children_seconds("nonsense"), None);
        assert_eq!(minutes(125.4), "2 min 05 s");
    }
}
