//! `cargo xtask fuzz`: builds and runs the targets in `fuzz/` on stable Rust.
//!
//! Asks LLVM for libFuzzer's coverage through flags that stable rustc accepts, so neither nightly nor
//! cargo-fuzz is needed; the folder keeps cargo-fuzz's layout, so that tool works on it as well.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use cargo_metadata::{Metadata, MetadataCommand};

use crate::needs::CXX;
use crate::process::Run;
use crate::{FuzzArgs, test};

/// The package of the targets.
pub(crate) const PACKAGE: &str = "rookery-fuzz";
/// What a long run is built with; the name of its folder as well.
const PROFILE: &str = "fuzz";

const INSTRUMENTATION: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

/// An input that takes longer than this counts as a hang.
const HANG_SECONDS: u32 = 10;

/// Runs what `args` ask for.
pub(crate) fn run(root: &Path, args: &FuzzArgs) -> anyhow::Result<()> {
    let targets = select(targets(root)?, args.target.as_deref())?;
    if args.list {
        targets.iter().for_each(|target| println!("{target}"));
        return Ok(());
    }
    if args.smoke {
        test::build(root, true).status()?;
        return replay_all(&Built::with_tests(root)?, &targets);
    }
    let built = build(root, &targets)?;
    for target in &targets {
        println!("fuzzing {target} for {} s", args.seconds);
        built.long_run(target, args.seconds)?.status()?;
    }
    Ok(())
}

/// Replays the seeds of every target, with the binaries that are built beside the tests.
pub(crate) fn smoke(root: &Path) -> anyhow::Result<()> {
    replay_all(&Built::with_tests(root)?, &targets(root)?)
}

/// Whether libFuzzer can be built here.
pub(crate) fn has_compiler() -> bool {
    std::env::var_os("CXX").is_some() || CXX.find().is_some()
}

/// The names of all targets: the binaries of the fuzz package.
fn targets(root: &Path) -> anyhow::Result<Vec<String>> {
    let metadata = workspace(root)?;
    let packages = metadata.packages.iter().filter(|package| package.name.as_str() == PACKAGE);
    let mut names: Vec<_> = packages
        .flat_map(|package| &package.targets)
        .filter(|target| target.is_bin())
        .map(|target| target.name.clone())
        .collect();
    names.sort();
    Ok(names)
}

fn workspace(root: &Path) -> anyhow::Result<Metadata> {
    MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("cargo metadata of the workspace")
}

fn select(all: Vec<String>, wanted: Option<&str>) -> anyhow::Result<Vec<String>> {
    let Some(wanted) = wanted else { return Ok(all) };
    if !all.iter().any(|name| name == wanted) {
        bail!("no fuzz target named {wanted}; there are {}", all.join(", "));
    }
    Ok(vec![wanted.to_owned()])
}

/// Where the built targets are.
struct Built {
    root: PathBuf,
    binaries: PathBuf,
}

/// Builds with instrumentation, in a folder of its own inside the workspace's target directory: the flags would
/// spoil every other build.
fn build(root: &Path, targets: &[String]) -> anyhow::Result<Built> {
    let host = host_triple(root)?;
    let target_dir = PathBuf::from(workspace(root)?.target_directory.join("fuzz"));
    // With an explicit --target the flags do not reach build scripts and macros, which cannot link them.
    let mut build = Run::cargo(root)
        .args(["build", "--package", PACKAGE, "--profile", PROFILE, "--target", &host])
        .arg("--target-dir")
        .arg(&target_dir)
        .args(targets.iter().flat_map(|target| ["--bin", target]))
        .env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTATION.join("\x1f"));
    if std::env::var_os("CXX").is_none() {
        let compiler = CXX.find().context("no C++ compiler to build libFuzzer with")?;
        build = build.env("CXX", compiler);
    }
    println!("$ {build}");
    build.status()?;
    Ok(Built { root: root.to_path_buf(), binaries: target_dir.join(host).join(PROFILE) })
}

fn host_triple(root: &Path) -> anyhow::Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Run::new(rustc, root).arg("-vV").stdout()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}

impl Built {
    /// What was built together with the tests: without instrumentation, which a replay does not need, and so
    /// without building everything once more.
    fn with_tests(root: &Path) -> anyhow::Result<Built> {
        let binaries = workspace(root)?.target_directory.join("debug").into();
        Ok(Built { root: root.to_path_buf(), binaries })
    }

    /// A run of a target that keeps crashes.
    fn command(&self, target: &str) -> anyhow::Result<Run> {
        let artifacts = self.root.join("fuzz/artifacts").join(target);
        fs::create_dir_all(&artifacts)
            .with_context(|| format!("cannot create {}", artifacts.display()))?;
        let mut prefix = OsString::from("-artifact_prefix=");
        prefix.push(artifacts.join(""));
        let run = Run::new(self.binaries.join(target), &self.root);
        Ok(run.arg(prefix).arg(format!("-timeout={HANG_SECONDS}")))
    }

    /// Explores: new inputs go to the corpus, the committed seeds are where it starts.
    fn long_run(&self, target: &str, seconds: u32) -> anyhow::Result<Run> {
        let corpus = self.root.join("fuzz/corpus").join(target);
        fs::create_dir_all(&corpus)
            .with_context(|| format!("cannot create {}", corpus.display()))?;
        let run = self.command(target)?.arg(format!("-max_total_time={seconds}")).arg(corpus);
        Ok(run.arg(seed_dir(&self.root, target)))
    }

    /// Runs the target on each of its seeds, and gives their number.
    fn replay(&self, target: &str) -> anyhow::Result<usize> {
        let seeds = seeds(&self.root, target)?;
        let output = self.command(target)?.args(&seeds).output()?;
        if !output.status.success() {
            println!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
            bail!(
                "fuzz target {target} failed; to run it alone: cargo xtask fuzz {target} --smoke"
            );
        }
        Ok(seeds.len())
    }
}

fn replay_all(built: &Built, targets: &[String]) -> anyhow::Result<()> {
    for target in targets {
        let start = Instant::now();
        let count = built.replay(target)?;
        println!("fuzz {target}: {count} seeds, {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn seed_dir(root: &Path, target: &str) -> PathBuf {
    root.join("fuzz/seeds").join(target)
}

/// The files of a target's seeds, in order.
fn seeds(root: &Path, target: &str) -> anyhow::Result<Vec<PathBuf>> {
    let dir = seed_dir(root, target);
    let entries = fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut files = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .with_context(|| format!("cannot read {}", dir.display()))?;
    files.sort();
    if files.is_empty() {
        bail!("{} has no seed", dir.display());
    }
    Ok(files)
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
    fn every_target_has_a_file_and_seeds_and_is_listed() {
        let root = crate::repository_root().unwrap();
        let guide = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
        let names = targets(&root).unwrap();
        assert!(!names.is_empty());
        for name in names {
            let file = root.join("fuzz/fuzz_targets").join(format!("{name}.rs"));
            assert!(file.is_file(), "{} is missing", file.display());
            assert!(seeds(&root, &name).is_ok(), "{name} has no seeds");
            assert!(guide.contains(&format!("`{name}`")), "CONTRIBUTING.md does not list {name}");
        }
    }
}
