//! The sandbox from outside: this program starts itself as the product does, and tries to get out.

mod sandboxed;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Failed, Trial};
use rookery_host::sandbox::{Sandbox, quiet_env, support, wrap, wrap_sealed};

use sandboxed::found;

#[expect(clippy::print_stderr, reason = "a test says why it has little to do")]
fn main() -> ExitCode {
    if let Some(code) = sandboxed::second_life() {
        return code;
    }
    if let Some(missing) = support().missing() {
        eprintln!("skipped, nothing to test here: {missing}");
        let trial = Trial::test("a_kernel_without_it_runs_nothing", refuses_to_run);
        return libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code();
    }
    let trials = TRIALS.iter().map(|(name, run)| Trial::test(*name, run)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

type Run = fn() -> Result<(), Failed>;

const TRIALS: &[(&str, Run)] = &[
    ("reads_everything", reads_everything),
    ("writes_nothing", writes_nothing),
    ("writes_where_it_may", writes_where_it_may),
    ("symlinks_lead_nowhere", symlinks_lead_nowhere),
    ("a_link_changed_in_flight_leads_nowhere", races_lead_nowhere),
    ("makes_no_connections", makes_no_connections),
    ("sealed_sockets_are_out_of_reach_or_nothing_runs", sealed_sockets_are_out_of_reach),
    ("privileges_stay_away", privileges_stay_away),
    ("a_missing_program_is_said", a_missing_program_is_said),
    ("a_quiet_repository_runs_nothing", a_quiet_repository_runs_nothing),
];

fn run(sandbox: &Sandbox, cwd: &Path, argv: &[&str]) -> Output {
    start(cwd, |exe| wrap(exe, sandbox, &words(argv)))
}

fn words(argv: &[&str]) -> Vec<String> {
    argv.iter().map(ToString::to_string).collect()
}

#[expect(clippy::disallowed_methods, reason = "the test starts itself")]
fn start(cwd: &Path, wrap: impl FnOnce(&Path) -> Vec<String>) -> Output {
    let exe = std::env::current_exe().expect("the test has a path");
    let wrapped = wrap(&exe);
    Command::new(&wrapped[0])
        .args(&wrapped[1..])
        .current_dir(cwd)
        .envs(quiet_env())
        .output()
        .expect("the sandbox starts")
}

fn shell(sandbox: &Sandbox, cwd: &Path, script: &str) -> Output {
    run(sandbox, cwd, &["sh", "-c", script])
}

fn scratch() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a scratch directory");
    fs::write(dir.path().join("kept"), "kept").expect("a file");
    dir
}

fn writing(path: &Path) -> Sandbox {
    Sandbox { writable: vec![path.to_owned()], ..Sandbox::default() }
}

fn refuses_to_run() -> Result<(), Failed> {
    let dir = scratch();
    let out = shell(&Sandbox::reading(), dir.path(), "echo ran");
    assert_eq!((out.status.code(), out.stdout.as_slice()), (Some(126), &b""[..]));
    Ok(())
}

fn reads_everything() -> Result<(), Failed> {
    let dir = scratch();
    let out = shell(
        &Sandbox::reading(),
        dir.path(),
        "cat kept && cat /etc/passwd >/dev/null && echo lost 2>/dev/null >/dev/null",
    );
    assert!(out.status.success(), "{out:?}");
    assert_eq!(out.stdout, b"kept");
    Ok(())
}

fn writes_nothing() -> Result<(), Failed> {
    let dir = scratch();
    let before = found(dir.path());
    for script in [
        "echo x > new",
        "echo x > kept",
        "echo x >> kept",
        ": > kept",
        "truncate -s 0 kept",
        "rm kept",
        "mv kept lost",
        "ln kept hard",
        "ln -s kept soft",
        "mkdir dir",
        "mkfifo fifo",
        "chmod 777 kept",
        "chmod 777 .",
        "touch kept",
        "touch -a -d @1 kept",
        "cp kept /tmp/rookery-sandbox-copy",
        "sed -i s/kept/lost/ kept",
        "dd if=/dev/null of=kept",
        "(echo x > new) ; sh -c 'echo x > new'",
    ] {
        let out = shell(&Sandbox::reading(), dir.path(), script);
        assert!(!out.status.success(), "{script}: {out:?}");
        assert_eq!(found(dir.path()), before, "{script}");
    }
    assert!(!Path::new("/tmp/rookery-sandbox-copy").exists());
    Ok(())
}

fn writes_where_it_may() -> Result<(), Failed> {
    let (inside, outside) = (scratch(), scratch());
    let before = found(outside.path());
    let script = format!(
        "echo x > new && mkdir d && echo y > d/e && chmod 600 new; echo z > {}/new",
        outside.path().display()
    );
    let out = shell(&writing(inside.path()), inside.path(), &script);
    assert!(!out.status.success(), "{out:?}");
    assert_eq!(fs::read_to_string(inside.path().join("new"))?, "x\n");
    assert_eq!(fs::read_to_string(inside.path().join("d/e"))?, "y\n");
    assert_eq!(found(outside.path()), before);
    let both = Sandbox { read_only: true, ..writing(inside.path()) };
    assert!(!shell(&both, inside.path(), "echo x > newer").status.success());
    Ok(())
}

fn symlinks_lead_nowhere() -> Result<(), Failed> {
    let (inside, outside) = (scratch(), scratch());
    symlink(outside.path(), inside.path().join("out"))?;
    symlink(outside.path().join("kept"), inside.path().join("file"))?;
    let before = found(outside.path());
    for script in
        ["echo x > out/new", "echo x > file", "rm out/kept", "mv kept out/", "cp kept file"]
    {
        let out = shell(&writing(inside.path()), inside.path(), script);
        assert!(!out.status.success(), "{script}: {out:?}");
        assert_eq!(found(outside.path()), before, "{script}");
    }
    Ok(())
}

fn races_lead_nowhere() -> Result<(), Failed> {
    let (inside, outside) = (scratch(), scratch());
    let before = found(outside.path());
    let script = format!(
        "for i in 1 2 3 4 5 6 7 8; do rm -rf d; mkdir d; (echo x > d/kept) & \
         rm -rf d; ln -s {} d; echo y > d/kept; wait; done",
        outside.path().display()
    );
    shell(&writing(inside.path()), inside.path(), &script);
    assert_eq!(found(outside.path()), before);
    Ok(())
}

fn sealed_sockets_are_out_of_reach() -> Result<(), Failed> {
    let dir = scratch();
    for name in ["ours", "other"] {
        fs::create_dir(dir.path().join(name))?;
    }
    let ours = UnixListener::bind(dir.path().join("ours/socket"))?;
    let other = UnixListener::bind(dir.path().join("other/socket"))?;
    let call = "use IO::Socket::UNIX; for (@ARGV) { IO::Socket::UNIX->new(Peer => $_) } \
                open my $f, '>', 'ran';";
    let argv = words(&["perl", "-e", call, "ours/socket", "other/socket"]);
    let sealed = [dir.path().join("ours")];
    let out = start(dir.path(), |exe| wrap_sealed(exe, &sealed, &argv));
    for listener in [&ours, &other] {
        listener.set_nonblocking(true)?;
    }
    assert!(ours.accept().is_err(), "a sealed socket was reached");
    let can_seal = support().seals_sockets();
    assert_eq!(out.status.success(), can_seal, "{out:?}");
    assert_eq!(other.accept().is_ok(), can_seal, "{out:?}");
    assert_eq!(dir.path().join("ran").exists(), can_seal, "{out:?}");
    Ok(())
}

fn makes_no_connections() -> Result<(), Failed> {
    let dir = scratch();
    let tcp = TcpListener::bind("127.0.0.1:0")?;
    tcp.set_nonblocking(true)?;
    let unix = UnixListener::bind(dir.path().join("socket"))?;
    unix.set_nonblocking(true)?;
    let port = tcp.local_addr()?.port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let out = run(&Sandbox::reading(), dir.path(), &["bash", "-c", &connect]);
    assert!(!out.status.success(), "{out:?}");
    assert!(tcp.accept().is_err(), "a connection was made");
    let open = Sandbox { network: true, ..Sandbox::reading() };
    let out = run(&open, dir.path(), &["bash", "-c", &connect]);
    assert!(out.status.success(), "{out:?}");
    assert!(tcp.accept().is_ok(), "no connection was made");
    let local = "use IO::Socket::UNIX; IO::Socket::UNIX->new(Peer => 'socket') or exit 3;";
    let out = run(&Sandbox::reading(), dir.path(), &["perl", "-e", local]);
    assert!(!out.status.success(), "{out:?}");
    assert!(unix.accept().is_err(), "a connection was made");
    Ok(())
}

fn privileges_stay_away() -> Result<(), Failed> {
    let dir = scratch();
    let out = shell(
        &Sandbox::reading(),
        dir.path(),
        "grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status",
    );
    assert_eq!(String::from_utf8_lossy(&out.stdout), "NoNewPrivs:\t1\nSeccomp:\t2\n");
    for argv in [&["unshare", "-r", "true"][..], &["mount", "-t", "tmpfs", "none", "/mnt"]] {
        let out = run(&Sandbox::reading(), dir.path(), argv);
        assert!(!out.status.success(), "{argv:?}: {out:?}");
    }
    Ok(())
}

fn a_missing_program_is_said() -> Result<(), Failed> {
    let dir = scratch();
    let out = run(&Sandbox::reading(), dir.path(), &["no-such-program-here"]);
    assert_eq!(out.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&out.stderr).starts_with("no-such-program-here: "));
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "git without a sandbox is what is tested")]
fn a_quiet_repository_runs_nothing() -> Result<(), Failed> {
    let dir = scratch();
    let git = |args: &[&str], quiet: bool| {
        let mut command = Command::new("git");
        command.args(args).current_dir(dir.path());
        if quiet {
            command.envs(quiet_env());
        }
        command.output().expect("git starts")
    };
    let mark = dir.path().join("ran");
    let hostile = format!("touch {}; false", mark.display());
    git(&["init", "-q"], false);
    git(&["add", "kept"], false);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"], false);
    for key in ["core.fsmonitor", "core.pager", "gpg.program", "core.sshCommand"] {
        git(&["config", key, &hostile], false);
    }
    git(&["config", "log.showSignature", "true"], false);
    fs::write(dir.path().join("kept"), "changed")?;
    for args in [&["status", "--short"][..], &["diff"], &["log", "-p"], &["show"], &["describe"]] {
        git(args, true);
        assert!(!mark.exists(), "git {args:?} ran what the repository says");
    }
    // What cannot be unset runs, and the sandbox holds it.
    git(&["config", "diff.external", &hostile], false);
    run(&Sandbox::reading(), dir.path(), &["git", "diff"]);
    assert!(!mark.exists(), "an external diff left the sandbox");
    git(&["config", "--unset", "diff.external"], false);
    let out = git(&["diff"], true);
    assert!(out.status.success() && !out.stdout.is_empty(), "{out:?}");
    // The same without the quiet environment, so that the test is known to be able to fail.
    git(&["status", "--short"], false);
    assert!(mark.exists());
    Ok(())
}
