//! Sessions on this machine: a directory, and a worktree.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rookery_host::Script;
use rookery_runners::{Command, ExitCause, Opening, RunnerError, Session, find};
use serde_json::{Value, json};
use tokio::sync::mpsc;

struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn opening(&self, config: Value) -> Opening {
        let env = std::env::vars_os().collect();
        Opening { env, ..Opening::new("d", config, self.path("work"), self.path("data")) }
    }

    async fn repo(&self) -> PathBuf {
        let top = self.path("work");
        std::fs::create_dir_all(&top).unwrap();
        std::fs::write(top.join("kept"), "one\n").unwrap();
        std::fs::write(top.join(".gitignore"), ".env\n").unwrap();
        std::fs::write(top.join(".env"), "KEY=1\n").unwrap();
        git(&top, "init --quiet --initial-branch main").await;
        git(&top, "add kept .gitignore").await;
        git(&top, "-c user.name=n -c user.email=e@x commit --quiet --message first").await;
        top
    }
}

async fn git(top: &Path, line: &str) -> String {
    let words = std::iter::once("git").chain(line.split(' '));
    let mut script = Script::new(words);
    script.cwd = Some(top.to_owned());
    script.timeout = Duration::from_secs(30);
    let outcome = script.run().await;
    assert!(outcome.is_success(), "git {line}: {:?}", outcome.failure());
    String::from_utf8(outcome.stdout).unwrap()
}

async fn open(bench: &Bench, provider: &str, config: Value) -> Arc<dyn Session> {
    find(provider).unwrap().open(bench.opening(config)).await.unwrap()
}

fn sh(script: &str) -> Command {
    Command::new(["/bin/sh", "-c", script])
}

#[tokio::test]
async fn commands_run_in_the_root_with_their_own_variables() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("work/sub")).unwrap();
    let session = open(&bench, "unix-local", json!({"root": bench.path("work")})).await;
    let mut command = sh("pwd; echo $X; cat; echo bad >&2; exit 3");
    command.cwd = Some("sub".into());
    command.env = vec![("X".into(), "y z".into())];
    command.stdin = b"input".to_vec();
    let end = session.exec(command).await.unwrap();
    let expected = format!("{}\ny z\ninput", bench.path("work/sub").display());
    assert_eq!(String::from_utf8(end.stdout).unwrap(), expected);
    assert_eq!(
        (end.how, end.exit_code, end.stderr),
        (ExitCause::Exited, Some(3), b"bad\n".to_vec())
    );
    let mut command = sh("true");
    command.cwd = Some("../".into());
    assert!(session.exec(command).await.unwrap_err().to_string().contains("outside workspace"));
}

#[tokio::test]
async fn a_command_that_takes_too_long_or_is_cancelled_is_gone_with_its_group() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("work")).unwrap();
    let session = open(&bench, "unix-local", Value::Null).await;
    let mut command = sh("trap '' TERM; (trap '' TERM; sleep 1000) & sleep 1000");
    command.timeout = Some(Duration::from_millis(200));
    assert_eq!(session.exec(command).await.unwrap().how, ExitCause::TimedOut);
    let (sender, mut output) = mpsc::channel(8);
    let mut command = sh("echo started; sleep 1000");
    command.output = Some(sender);
    let cancel = command.cancel.clone();
    let running = session.exec(command);
    let cancelling = async {
        output.recv().await.unwrap();
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(running, cancelling);
    assert_eq!(end.unwrap().how, ExitCause::Cancelled);
    let marked = rookery_host::SessionMark::new(&session.info().id).processes();
    assert!(marked.is_empty(), "{marked:?}");
}

#[tokio::test]
async fn output_is_bounded() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("work")).unwrap();
    let session = open(&bench, "unix-local", Value::Null).await;
    let mut command = sh("head -c 3000000 /dev/zero; echo end");
    command.output_limit = 100;
    let end = session.exec(command).await.unwrap();
    assert_eq!(end.stdout.len(), 100);
    assert!(end.stdout.ends_with(b"end\n"));
    assert_eq!(end.dropped, 3_000_004 - 100);
}

#[tokio::test]
async fn files_never_lie_outside_of_the_root() {
    let bench = Bench::new();
    let root = bench.path("work");
    std::fs::create_dir_all(root.join("in")).unwrap();
    std::fs::write(bench.path("secret"), "s").unwrap();
    std::os::unix::fs::symlink(bench.path(""), root.join("out")).unwrap();
    let session = open(&bench, "unix-local", Value::Null).await;
    session.write_file("in/a/b", b"text".to_vec()).await.unwrap();
    let absolute = root.join("in/a/b").to_string_lossy().into_owned();
    assert_eq!(session.read_file(&absolute, 10).await.unwrap(), b"text");
    assert!(matches!(session.read_file("in/a/b", 3).await, Err(RunnerError::TooLarge { .. })));
    assert!(matches!(session.read_file("none", 3).await, Err(RunnerError::NotFound(_))));
    for path in ["out/secret", "../secret", "/etc/passwd"] {
        let read = session.read_file(path, 10).await.unwrap_err().to_string();
        let written = session.write_file(path, b"x".to_vec()).await.unwrap_err().to_string();
        assert!(read.contains("outside workspace"), "{path}: {read}");
        assert!(written.contains("outside workspace"), "{path}: {written}");
    }
    assert!(session.write_file("out/new", b"x".to_vec()).await.is_err());
    assert!(!bench.path("new").exists());
    assert!(session.make_file("out/secret", Vec::new(), 0o777).await.is_err());
    assert!(session.mode("out/secret").await.is_err());
    session.make_file("in/a/run", b"x".to_vec(), 0o750).await.unwrap();
    assert_eq!(session.mode("in/a/run").await.unwrap(), Some(0o750));
    session.remove_file("in/a/run").await.unwrap();
    assert_eq!(session.find(".", 10).await.unwrap(), ["in/a/b"]);
    assert_eq!(session.list("in").await.unwrap()[0].name, "a");
    session.remove_file("in/a/b").await.unwrap();
    assert!(session.find(".", 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn listening_ports_are_found_and_everything_ends_with_the_session() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("work")).unwrap();
    let session = open(&bench, "unix-local", Value::Null).await;
    let server = "import socket,sys,time\ns=socket.socket();s.bind((\"127.0.0.1\",0));s.listen()\n\
                  print(s.getsockname()[1],flush=True)\ntime.sleep(1000)";
    session.write_file("server.py", server.as_bytes().to_vec()).await.unwrap();
    let (sender, mut output) = mpsc::channel(8);
    let mut command = Command::new(["python3", "server.py"]);
    command.output = Some(sender);
    let running = session.clone();
    let running = tokio::spawn(async move { running.exec(command).await });
    let Some(chunk) = output.recv().await else {
        panic!("{:?}", running.await);
    };
    let port: u16 = String::from_utf8_lossy(&chunk.bytes).trim().parse().unwrap();
    let ports = session.ports().await.unwrap();
    assert!(ports.iter().any(|it| it.port == port), "{ports:?}");
    let exposed = session.expose(9, Some("web")).await.unwrap();
    assert_eq!(exposed.url.as_deref(), Some("http://127.0.0.1:9"));
    assert_eq!(session.ports().await.unwrap().len(), 2);
    assert!(session.conceal(9).await.unwrap() && !session.conceal(9).await.unwrap());
    assert_eq!(session.close(false).await.unwrap(), None);
    assert!(running.await.unwrap().unwrap().exit_code.is_some_and(|code| code != 0));
}

#[tokio::test]
async fn a_session_that_is_held_does_nothing_until_it_goes_on() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("work")).unwrap();
    let session = open(&bench, "unix-local", Value::Null).await;
    let (sender, mut output) = mpsc::channel(8);
    let mut command = sh("echo $$; read line; echo $line");
    command.output = Some(sender);
    command.stdin = b"went on\n".to_vec();
    let exec = session.clone();
    let running = tokio::spawn(async move { exec.exec(command).await });
    let pid = String::from_utf8_lossy(&output.recv().await.unwrap().bytes).trim().to_owned();
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    session.pause().await.unwrap();
    let is_held = |stat: &str| stat.contains(") T") || stat.is_empty();
    assert!(is_held(&state()), "{}", state());
    session.resume().await.unwrap();
    assert_eq!(running.await.unwrap().unwrap().exit_code, Some(0));
}

#[tokio::test]
async fn a_manifest_is_copied_and_what_is_not_writable_stays_so() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("work")).unwrap();
    std::fs::create_dir_all(bench.path("seed/deep")).unwrap();
    std::fs::write(bench.path("seed/deep/f"), "text").unwrap();
    let manifest = json!({"entries": [
        {"source": bench.path("seed"), "target": "copied", "writable": true},
        {"source": bench.path("seed/deep/f"), "target": "locked"},
    ]});
    let manifest = rookery_runners::Manifest::read(&manifest).unwrap();
    let opening = Opening { manifest, ..bench.opening(Value::Null) };
    let session = find("unix-local").unwrap().open(opening).await.unwrap();
    assert_eq!(session.read_file("copied/deep/f", 10).await.unwrap(), b"text");
    let mode = |name: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        bench.path("work").join(name).metadata().unwrap().permissions().mode() & 0o222
    };
    assert_eq!(mode("locked"), 0);
    assert_ne!(mode("copied/deep/f"), 0);
    let gone = json!({"entries": [{"source": bench.path("none"), "target": "x"}]});
    let manifest = rookery_runners::Manifest::read(&gone).unwrap();
    let opening = Opening { manifest, ..bench.opening(Value::Null) };
    assert!(find("unix-local").unwrap().open(opening).await.is_err());
}

#[tokio::test]
async fn a_worktree_has_its_own_branch_and_what_was_asked_for() {
    let bench = Bench::new();
    let top = bench.repo().await;
    std::fs::write(top.join("kept"), "changed here\n").unwrap();
    let config = json!({"repo": top, "name": "task", "copy": [".env", "none"], "setup": ["echo done >set-up"]});
    let session = open(&bench, "git-worktree", config.clone()).await;
    let info = session.info();
    assert!(info.root.starts_with(bench.path("data/worktrees")));
    assert_eq!(info.metadata["branch"], "rookery/task");
    assert_eq!(info.metadata["source_dirty"], true);
    assert_eq!(session.read_file("kept", 100).await.unwrap(), b"one\n");
    assert_eq!(session.read_file(".env", 100).await.unwrap(), b"KEY=1\n");
    assert_eq!(session.read_file("set-up", 100).await.unwrap(), b"done\n");
    let second = open(&bench, "git-worktree", config).await;
    assert_eq!(second.info().metadata["branch"], "rookery/task-2");
    // Its set-up left a file that git does not know.
    let kept = second.close(false).await.unwrap();
    assert_eq!(kept.as_ref(), Some(&second.info().root));
    assert!(second.info().root.join("set-up").exists());
    assert_eq!(second.close(true).await.unwrap(), None);
    assert!(!second.info().root.exists());
    let branches = git(&top, "branch --list --format=%(refname:short)").await;
    assert!(branches.contains("rookery/task-2"), "{branches}");
}

#[tokio::test]
async fn snapshots_keep_everything_and_change_nothing() {
    let bench = Bench::new();
    let top = bench.repo().await;
    let session = open(&bench, "git-worktree", json!({"repo": top})).await;
    session.write_file("kept", b"two\n".to_vec()).await.unwrap();
    session.write_file("new", b"untracked\n".to_vec()).await.unwrap();
    let status = git(&session.info().root, "status --porcelain").await;
    let head = git(&session.info().root, "rev-parse HEAD").await;
    let taken = session.snapshot(Some("first")).await.unwrap().unwrap();
    let reference = format!("refs/rookery/snapshots/{}/1", session.info().id);
    assert_eq!(taken.metadata["ref"], reference.as_str());
    assert_eq!(git(&top, &format!("rev-parse {reference}")).await.trim(), taken.id);
    assert_eq!(git(&top, &format!("show {}:new", taken.id)).await, "untracked\n");
    assert_eq!(git(&session.info().root, "status --porcelain").await, status);
    assert_eq!(git(&session.info().root, "rev-parse HEAD").await, head);
    let second = session.snapshot(None).await.unwrap().unwrap();
    assert!(second.metadata["ref"].as_str().unwrap().ends_with("/2"));
}

#[tokio::test]
async fn a_worktree_is_found_again_and_only_where_git_lists_it() {
    let bench = Bench::new();
    let top = bench.repo().await;
    let session = open(&bench, "git-worktree", json!({"repo": top, "name": "again"})).await;
    session.write_file("work", b"x".to_vec()).await.unwrap();
    let found = session.info().metadata.clone();
    let again = Opening {
        session: session.info().id.clone(),
        found: Some(found.clone()),
        ..bench.opening(json!({"repo": top, "name": "again"}))
    };
    session.detach().await.unwrap();
    let rejoined = find("git-worktree").unwrap().open(again.clone()).await.unwrap();
    assert_eq!(rejoined.info(), session.info());
    assert_eq!(rejoined.read_file("work", 10).await.unwrap(), b"x");
    let mut wrong = found;
    wrong["path"] = json!(bench.path("elsewhere"));
    std::fs::create_dir_all(bench.path("elsewhere")).unwrap();
    let elsewhere = Opening { found: Some(wrong), ..again };
    assert!(find("git-worktree").unwrap().open(elsewhere).await.is_err());
    assert!(bench.path("elsewhere").exists());
}

#[tokio::test]
async fn a_setup_that_fails_leaves_nothing() {
    let bench = Bench::new();
    let top = bench.repo().await;
    let config = json!({"repo": top, "name": "bad", "setup": ["echo no way >&2; exit 1"]});
    let error = find("git-worktree").unwrap().open(bench.opening(config)).await.err().unwrap();
    assert!(error.to_string().contains("no way"), "{error}");
    let listed = git(&top, "worktree list").await;
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[tokio::test]
async fn configurations_are_checked_before_anything_is_done() {
    let bench = Bench::new();
    for (provider, config, why) in [
        ("unix-local", json!({"root": "relative"}), "config.root"),
        ("unix-local", json!([]), "config must be an object"),
        ("unix-local", json!({"root": bench.path("none")}), "root is not a directory"),
        ("git-worktree", json!({"name": "../x"}), "config.name"),
        ("git-worktree", json!({"name": "-x"}), "config.name"),
        ("git-worktree", json!({"copy": ["../x"]}), "outside workspace"),
        ("git-worktree", json!({"copy": ["/etc/passwd"]}), "outside workspace"),
        ("git-worktree", json!({"repo": bench.path("none")}), "config.repo"),
        ("ssh", json!({"root": "/x"}), "config.host is missing"),
        ("ssh", json!({"host": "-oProxyCommand=x", "root": "/x"}), "config.host"),
        ("ssh", json!({"host": "h", "root": "x"}), "config.root"),
        ("docker", json!({"image": "--privileged"}), "config.image"),
        ("docker", json!({"ports": [0]}), "config.ports"),
        ("hosted-http", json!({}), "config.base_url is missing"),
        ("hosted-http", json!({"base_url": "http://far.example"}), "must be https"),
        ("hosted-http", json!({"base_url": "https://u:p@far.example"}), "credentials"),
    ] {
        let found = find(provider).unwrap();
        let error = match found.check(&config, &rookery_runners::Manifest::default()) {
            Err(error) => error,
            Ok(()) => found.open(bench.opening(config.clone())).await.err().unwrap(),
        };
        assert!(error.to_string().contains(why), "{provider} {config}: {error}");
    }
}

/// All files below a directory with their permissions.
fn below(dir: &Path) -> Vec<(String, u32)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Vec::new();
    let mut ahead = vec![dir.to_owned()];
    while let Some(next) = ahead.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().map(Result::unwrap) {
            let kind = entry.metadata().unwrap();
            let path = entry.path();
            if kind.is_dir() {
                ahead.push(path.clone());
            }
            let name = path.strip_prefix(dir).unwrap().display().to_string();
            found.push((name, kind.permissions().mode() & 0o777));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn files_are_handed_out_and_stay_when_the_session_is_gone() {
    let bench = Bench::new();
    bench.repo().await;
    let target = bench.path("data/runner-artifacts");
    for provider in ["unix-local", "git-worktree"] {
        let session = open(&bench, provider, Value::Null).await;
        session.write_file("out/a.txt", b"one".to_vec()).await.unwrap();
        session.write_file("out/deep/b", b"four".to_vec()).await.unwrap();
        let made = session.export("out/a.txt", false, &target).await.unwrap();
        let kept = target.join(&made.id).join("a.txt");
        assert_eq!((made.path.as_str(), &made.metadata["bytes"]), ("out/a.txt", &json!(3)));
        assert_eq!(made.url.unwrap(), format!("file://{}", kept.display()));
        let all = session.export("out", true, &target).await.unwrap();
        assert_eq!((&all.metadata["files"], &all.metadata["bytes"]), (&json!(2), &json!(7)));
        session.close(true).await.unwrap();
        assert_eq!(std::fs::read(kept).unwrap(), b"one");
        let names = ["a.txt", "deep", "deep/b"];
        let modes = [0o600, 0o700, 0o600];
        let expected: Vec<(String, u32)> =
            names.iter().zip(modes).map(|(name, mode)| ((*name).to_owned(), mode)).collect();
        assert_eq!(below(&target.join(&all.id)), expected, "{provider}");
    }
}

#[tokio::test]
async fn attack_nothing_else_is_handed_out_and_what_fails_leaves_nothing() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("work/dir")).unwrap();
    std::fs::write(bench.path("secret"), "hunter2").unwrap();
    std::os::unix::fs::symlink(bench.path("secret"), bench.path("work/dir/link")).unwrap();
    std::os::unix::fs::symlink(bench.path(""), bench.path("work/out")).unwrap();
    let target = bench.path("data/runner-artifacts");
    let session = open(&bench, "unix-local", Value::Null).await;
    for path in ["../secret", "out/secret", "/etc/passwd", "dir/link", "out"] {
        let error = session.export(path, true, &target).await.unwrap_err();
        assert!(matches!(error, RunnerError::Outside(_)), "{path}: {error}");
    }
    for path in ["none", "dir", "dir/..", "a\0b"] {
        session.export(path, false, &target).await.unwrap_err();
    }
    // A link in a directory is left out.
    std::fs::write(bench.path("work/dir/a"), "x").unwrap();
    let made = session.export("dir", true, &target).await.unwrap();
    assert_eq!(below(&target), [(made.id.clone(), 0o700), (format!("{}/a", made.id), 0o600)]);
    // What a daemon that was killed left is swept; what is whole stays.
    std::fs::create_dir_all(target.join("ra-1.part/x")).unwrap();
    std::fs::create_dir_all(target.join("other.part")).unwrap();
    rookery_runners::sweep_artifacts(&target);
    let left: Vec<String> = below(&target).into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, ["other.part".to_owned(), made.id.clone(), format!("{}/a", made.id)]);
}
