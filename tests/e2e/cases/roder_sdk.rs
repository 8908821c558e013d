//! Every family of Roder's methods, by the published Python client over both of its transports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rookery_testkit::{Finished, PATIENCE, TestDaemon, git, rookery_binary};
use serde_json::Value;

use crate::marketplaces::write;
use crate::roder_ws::{Remote, TOKEN};

/// Families of which this client has to have called every method that it and we know.
const FAMILIES: [&str; 19] = [
    "agents/",
    "extensions/",
    "hunk/",
    "marketplaces/",
    "media/",
    "memory/",
    "plan/",
    "plugins/",
    "processes/",
    "skills/",
    "tasks/",
    "team/",
    "turn/subagentTrace",
    "workflow/",
    "workflows/",
    "workspace/changes",
    "git/",
    "vcs/",
    "auth/",
];

/// The variable that lets these tests pass where the packages cannot be installed.
const SKIP: &str = "ROOKERY_SKIP_PYTHON_CLIENTS";

/// Where the packages of the client are; none where they are missing and that was said to be well.
fn packages() -> Option<PathBuf> {
    let program = std::env::current_exe().unwrap();
    let place = program.ancestors().nth(3).unwrap().join("python-clients");
    if place.join("requirements.txt").is_file() {
        return Some(place);
    }
    assert!(
        std::env::var_os(SKIP).is_some(),
        "the Python packages of clients/roder-check are not in {}: `cargo xtask test` installs them, {SKIP}=1 \
         does without",
        place.display()
    );
    eprintln!("skipped: the Python packages of clients/roder-check are not installed");
    None
}

/// A repository with a server that needs approval, and a marketplace.
fn workspace(daemon: &TestDaemon) -> PathBuf {
    let dir = daemon.home().join("work");
    write(&dir.join(".mcp.json"), r#"{"mcpServers": {"docs": {"command": "docs-server"}}}"#);
    write(
        &dir.join("market/.claude-plugin/marketplace.json"),
        r#"{"name": "m", "owner": {"name": "Ann"}, "plugins": [{"name": "tools", "source": "./tools"}]}"#,
    );
    write(&dir.join("market/tools/skills/s/SKILL.md"), "text");
    write(&dir.join(".agents/skills/fold/SKILL.md"), "---\nname: fold\ndescription: d\n---\nbody");
    git(&dir, &["init", "-q", "-b", "main"]);
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "-qm", "first"]);
    fs::canonicalize(dir).unwrap()
}

fn session(daemon: &TestDaemon, packages: &Path, dir: &Path, args: &[&str]) -> Value {
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/roder-check/check.py");
    let mut python: Command = daemon.home().command("python3");
    python.arg("-B").arg(check).args(args).current_dir(dir).env("PYTHONPATH", packages);
    let done = Finished::within(python, PATIENCE * 6);
    assert!(done.status.success(), "{args:?}: {}\n{}", done.stderr, done.stdout);
    serde_json::from_str(done.stdout.trim()).unwrap()
}

#[track_caller]
fn check(said: &Value) {
    let has = |member: &str, name: &str| {
        said[member].as_array().unwrap().iter().any(|known| known == name)
    };
    let is_meant =
        |name: &str| FAMILIES.iter().any(|family| name.starts_with(family)) && has("known", name);
    let ours = rookery_roder::METHODS.iter().map(|method| method.name);
    let missing: Vec<&str> = ours.filter(|name| is_meant(name) && !has("answered", name)).collect();
    assert_eq!(missing, [] as [&str; 0], "{said}");
    for name in [
        "task.completed",
        "team/started",
        "workflows/completed",
        "hunk/recorded",
        "process.started",
        "process.exited",
    ] {
        assert!(has("told", name), "{name}: {said}");
    }
}

#[test]
fn the_published_client_calls_every_family_on_stdio() {
    let Some(packages) = packages() else { return };
    let daemon = TestDaemon::start();
    let dir = workspace(&daemon);
    let program = rookery_binary().to_str().unwrap();
    check(&session(&daemon, &packages, &dir, &["stdio", program, "app-server"]));
}

#[test]
fn the_published_client_calls_every_family_through_a_websocket() {
    let Some(packages) = packages() else { return };
    let daemon = TestDaemon::start();
    let dir = workspace(&daemon);
    let remote = Remote::start(daemon.home(), &[]);
    let url = format!("ws://127.0.0.1:{}", remote.port);
    check(&session(&daemon, &packages, &dir, &["ws", &url, TOKEN]));
}
