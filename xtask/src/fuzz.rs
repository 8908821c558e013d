//! `cargo xtask fuzz`: builds and runs the targets in `fuzz/` on stable Rust.
//!
//! Asks LLVM for libFuzzer's coverage through flags that stable rustc accepts, so neither nightly nor
//! cargo-fuzz is needed; the folder keeps cargo-fuzz's layout, so that tool works on it as well.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use cargo_metadata::MetadataCommand;

use crate::FuzzArgs;
use crate::needs::CXX;
use crate::process::Run;

const MANIFEST: &str = "fuzz/Cargo.toml";

const INSTRUMENTATION: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

/// A smoke run replays the seeds and explores nothing, so that a change is judged by what it changes; new
/// inputs are found by the long run.
const SMOKE_RUNS: u32 = 0;
const SMOKE_SECONDS: u32 = 30;

/// An input that takes longer than this counts as a hang.
const HANG_SECONDS: u32 = 10;

/// Runs what `args` ask for.
pub(crate) fn run(root: &Path, args: &FuzzArgs) -> anyhow::Result<()> {
    if args.lock {
        return sync_lock(root);
    }
    let targets = select(targets(root)?, args.target.as_deref())?;
    if args.list {
        targets.iter().for_each(|target| println!("{target}"));
        return Ok(());
    }
    let built = build(root, &targets)?;
    if args.smoke {
        return smoke_all(&built, &targets);
    }
    for target in &targets {
        println!("fuzzing {target} for {} s", args.seconds);
        built.long_run(target, args.seconds)?.status()?;
    }
    Ok(())
}

/// The seeds of every target.
pub(crate) fn smoke(root: &Path) -> anyhow::Result<()> {
    let targets = targets(root)?;
    let built = build(root, &targets)?;
    smoke_all(&built, &targets)
}

/// Whether libFuzzer can be built here.
pub(crate) fn has_compiler() -> bool {
    std::env::var_os("CXX").is_some() || CXX.find().is_some()
}

/// The names of all targets: the binaries of the fuzz package.
fn targets(root: &Path) -> anyhow::Result<Vec<String>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join(MANIFEST))
        .no_deps()
        .exec()
        .with_context(|| format!("cargo metadata of {MANIFEST}"))?;
    let mut names: Vec<_> = metadata
        .packages
        .iter()
        .flat_map(|package| &package.targets)
        .filter(|target| target.is_bin())
        .map(|target| target.name.clone())
        .collect();
    names.sort();
    Ok(names)
}

fn select(all: Vec<String>, wanted: Option<&str>) -> anyhow::Result<Vec<String>> {
    let Some(wanted) = wanted else { return Ok(all) };
    if !all.iter().any(|name| name == wanted) {
        bail!("no fuzz target named {wanted}; there are {}", all.join(", "));
    }
    Ok(vec![wanted.to_owned()])
}

/// Where the built targets and their data are.
struct Built {
    root: PathBuf,
    target_dir: PathBuf,
    binaries: PathBuf,
}

fn build(root: &Path, targets: &[String]) -> anyhow::Result<Built> {
    let host = host_triple(root)?;
    let target_dir = target_dir(root)?;
    // With an explicit --target the flags do not reach build scripts and macros, which cannot link them.
    let mut build = Run::cargo(root)
        .args(["build", "--manifest-path", MANIFEST, "--target", &host, "--target-dir"])
        .arg(&target_dir)
        .args(targets.iter().flat_map(|target| ["--bin", target]))
        .env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTATION.join("\x1f"));
    if std::env::var_os("CXX").is_none() {
        let compiler = CXX.find().context("no C++ compiler to build libFuzzer with")?;
        build = build.env("CXX", compiler);
    }
    println!("$ {build}");
    build.status()?;
    let binaries = target_dir.join(host).join("debug");
    Ok(Built { root: root.to_path_buf(), target_dir, binaries })
}

fn host_triple(root: &Path) -> anyhow::Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Run::new(rustc, root).arg("-vV").stdout()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}

/// A folder of its own inside the workspace's target directory: the flags would spoil every other build.
fn target_dir(root: &Path) -> anyhow::Result<PathBuf> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("cargo metadata of the workspace")?;
    Ok(metadata.target_directory.join("fuzz").into())
}

impl Built {
    /// A run that writes new inputs to `corpus`, starts from the committed seeds and keeps crashes.
    fn command(&self, target: &str, corpus: &Path) -> anyhow::Result<Run> {
        let artifacts = self.root.join("fuzz/artifacts").join(target);
        for dir in [corpus, &artifacts] {
            fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        }
        let mut prefix = OsString::from("-artifact_prefix=");
        prefix.push(artifacts.join(""));
        let mut run = Run::new(self.binaries.join(target), &self.root).arg(corpus);
        let seeds = self.root.join("fuzz/seeds").join(target);
        if seeds.is_dir() {
            run = run.arg(seeds);
        }
        Ok(run.arg(prefix).arg(format!("-timeout={HANG_SECONDS}")))
    }

    fn long_run(&self, target: &str, seconds: u32) -> anyhow::Result<Run> {
        let corpus = self.root.join("fuzz/corpus").join(target);
        Ok(self.command(target, &corpus)?.arg(format!("-max_total_time={seconds}")))
    }

    /// A fixed random seed, so that a failure comes back when it is run again.
    fn smoke_run(&self, target: &str, corpus: &Path) -> anyhow::Result<Run> {
        let limits = [format!("-runs={SMOKE_RUNS}"), format!("-max_total_time={SMOKE_SECONDS}")];
        Ok(self.command(target, corpus)?.args(limits).arg("-seed=1"))
    }
}

fn smoke_all(built: &Built, targets: &[String]) -> anyhow::Result<()> {
    let scratch = built.target_dir.join(format!("smoke-{}", std::process::id()));
    let result = targets.iter().try_for_each(|target| smoke_one(built, target, &scratch));
    fs::remove_dir_all(&scratch).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error).with_context(|| format!("cannot remove {}", scratch.display())),
    })?;
    result
}

fn smoke_one(built: &Built, target: &str, scratch: &Path) -> anyhow::Result<()> {
    let run = built.smoke_run(target, &scratch.join(target))?;
    let start = Instant::now();
    let output = run.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        println!("{}", said.trim_end());
        bail!("fuzz target {target} failed; to run it alone: cargo xtask fuzz {target} --smoke");
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("fuzz {target}: {}, {seconds:.1} s", summary(&said));
    Ok(())
}

/// What libFuzzer says of a finished run, or that it said nothing.
fn summary(said: &str) -> &str {
    let done = said.lines().rev().find(|line| line.starts_with("Done "));
    done.and_then(|line| line.strip_prefix("Done ")).unwrap_or("finished without a count")
}

/// Starts from the workspace's lock file: cargo drops what is not needed and keeps the other versions.
fn sync_lock(root: &Path) -> anyhow::Result<()> {
    fs::copy(root.join("Cargo.lock"), root.join("fuzz/Cargo.lock"))
        .context("cannot copy Cargo.lock to fuzz/Cargo.lock")?;
    let metadata = ["metadata", "--format-version=1", "--manifest-path", MANIFEST];
    Run::cargo(root).args(metadata).stdout().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_target_is_refused_with_the_list() {
        let all = || vec!["lsp".to_owned(), "ndjson".to_owned()];
        assert_eq!(select(all(), None).unwrap(), ["lsp", "ndjson"]);
        assert_eq!(select(all(), Some("lsp")).unwrap(), ["lsp"]);
        let error = select(all(), Some("ls")).unwrap_err().to_string();
        assert_eq!(error, "no fuzz target named ls; there are lsp, ndjson");
    }

    #[test]
    fn summary_is_libfuzzers_own() {
        let said = "INFO: Seed: 1\nDone 20000 runs in 2 second(s)\n";
        assert_eq!(summary(said), "20000 runs in 2 second(s)");
        assert_eq!(summary(""), "finished without a count");
    }

    #[test]
    fn every_target_has_a_file_and_seeds_and_is_listed() {
        let root = crate::repository_root().unwrap();
        let guide = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
        let names = targets(&root).unwrap();
        assert!(!names.is_empty());
        for name in names {
            let file = root.join("fuzz/fuzz_targets").join(format!("{name}.rs"));
            assert!(file.is_file(), "{} is missing", file.display());
            let seeds = root.join("fuzz/seeds").join(&name);
            let has_seed = fs::read_dir(&seeds).is_ok_and(|mut dir| dir.next().is_some());
            assert!(has_seed, "{} has no seed", seeds.display());
            assert!(guide.contains(&format!("`{name}`")), "CONTRIBUTING.md does not list {name}");
        }
    }
}
