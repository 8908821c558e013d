//! `@microsoft/tui-test`: a runner of tests with a terminal of its own, driven by a test that measures.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;

use super::Size;
use crate::gate::Gate;
use crate::process;

const PACKAGE: &str = "@microsoft/tui-test";

/// The release that was looked at; others may work as well.
const VERSION: &str = "0.0.2";

/// How long installing it, and one run of it, may take.
const INSTALL_LIMIT: Duration = Duration::from_secs(300);
const RUN_LIMIT: Duration = Duration::from_secs(300);

/// What runs inside it.
const TEST: &str = include_str!("tui_test.test.js");

/// One worker, so that nothing disturbs the test, and time for all of its waits.
const CONFIG: &str =
    "export default { workers: 1, retries: 0, timeout: 240000, expect: { timeout: 20000 } };\n";

/// The folder that it is installed in, and its version; or why there is none.
pub(crate) fn find(may_install: bool) -> Result<(PathBuf, String), String> {
    let dir = process::peers_dir().join("tui-test");
    if let Some(version) = version(&dir) {
        return Ok((dir, version));
    }
    if process::find("node").is_none() || process::find("npm").is_none() {
        return Err(format!("{PACKAGE}: Node.js is not there"));
    }
    if !may_install {
        return Err(format!("{PACKAGE} is not there (--install gets it)"));
    }
    install(&dir).map_err(|error| format!("{PACKAGE}: {error:#}"))?;
    let version =
        version(&dir).ok_or_else(|| format!("{PACKAGE} was installed but is not found"))?;
    Ok((dir, version))
}

fn install(dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    std::fs::write(dir.join("package.json"), "{\"private\": true, \"type\": \"module\"}\n")?;
    let mut npm = process::program("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]);
    npm.arg(format!("{PACKAGE}@{VERSION}")).current_dir(dir);
    process::output_within(&mut npm, INSTALL_LIMIT).map(drop)
}

fn version(dir: &Path) -> Option<String> {
    let text = std::fs::read_to_string(dir.join("node_modules").join(PACKAGE).join("package.json"));
    let package: serde_json::Value = serde_json::from_str(&text.ok()?).ok()?;
    Some(format!("tui-test {}", package["version"].as_str()?))
}

/// Runs the test, and gives the times by the size of the terminal.
pub(crate) fn run(
    dir: &Path,
    exe: &Path,
    work: &Path,
    count: usize,
) -> anyhow::Result<Vec<(Size, Vec<Duration>)>> {
    let (gate, control) = (Gate::new(work)?, Gate::new(work)?);
    let out = work.join("tui-test.txt");
    std::fs::write(dir.join("wake.test.js"), TEST)?;
    std::fs::write(dir.join("tui-test.config.ts"), CONFIG)?;
    std::fs::write(&out, "")?;
    let mut runner = process::program("node");
    runner.arg(dir.join("node_modules").join(PACKAGE).join("index.js")).arg("wake.test.js");
    runner.current_dir(dir).env("BENCH_EXE", exe).env("BENCH_GATE", gate.path());
    runner.env("BENCH_CONTROL", control.path()).env("BENCH_OUT", &out);
    runner.env("BENCH_COUNT", count.to_string());
    std::thread::scope(|scope| {
        // It ends with the last child, or with the patience of the gate.
        let serving = scope.spawn(|| serve(&gate, &control));
        let ran = process::output_within(&mut runner, RUN_LIMIT);
        let served = serving.join();
        ran.context("the runner")?;
        served.unwrap_or_else(|_| Ok(())).context("its children")
    })?;
    parse(&std::fs::read_to_string(&out)?)
}

/// Lets the children of both tests write whenever their test asks.
fn serve(gate: &Gate, control: &Gate) -> anyhow::Result<()> {
    for _ in 0..2 {
        let mut child = gate.accept()?;
        let mut test = control.accept()?;
        let mut number = 0;
        while test.done().is_ok() {
            child.tell(number)?;
            number += 1;
        }
    }
    Ok(())
}

fn parse(text: &str) -> anyhow::Result<Vec<(Size, Vec<Duration>)>> {
    let line = |line: &str| {
        let mut numbers = line.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || numbers.next().context("a line is too short");
        let size = (u16::try_from(next()??)?, u16::try_from(next()??)?);
        let times: Result<Vec<u64>, _> = numbers.collect();
        Ok((size, times?.into_iter().map(Duration::from_nanos).collect()))
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sizes_and_times() {
        let nanos = |nanos: [u64; 2]| nanos.map(Duration::from_nanos).to_vec();
        let parsed = parse("24 80 1 2\n60 200 3 4\n").unwrap();
        assert_eq!(parsed, [((24, 80), nanos([1, 2])), ((60, 200), nanos([3, 4]))]);
        assert!(parse("24\n").is_err());
        assert!(parse("24 80 x\n").is_err());
    }
}
