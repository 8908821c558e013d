//! Logging out and in, ssh, cron, `su`: the runtime directory goes or is another one, sockets are deleted. There is
//! one daemon per store all the same, and every terminal is found.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};

use rookery_testkit::{
    Caller, Finished, Home, PATIENCE, TestDaemon, is_alive, rookery_binary, wait_until,
};
use serde_json::Value;

/// A login of this user: what it takes for the runtime directory.
struct Login<'a> {
    home: &'a Home,
    run: Option<PathBuf>,
}

impl<'a> Login<'a> {
    /// With a runtime directory of its own, as a system with seats gives it.
    fn at_seat(home: &'a Home, name: &str) -> Login<'a> {
        let run = home.join(name);
        fs::DirBuilder::new().mode(0o700).create(&run).unwrap();
        Login { home, run: Some(run) }
    }

    /// Without any, as cron and `su` start programs.
    fn bare(home: &'a Home) -> Login<'a> {
        Login { home, run: None }
    }

    fn rookery(&self, args: &[&str]) -> Finished {
        let mut command = self.home.command(rookery_binary());
        command.args(args).env_remove("ROOKERY_HOME");
        if let Some(run) = &self.run {
            command.env("XDG_RUNTIME_DIR", run);
        }
        Finished::of(command)
    }

    fn socket(&self) -> PathBuf {
        self.run.as_ref().unwrap().join("rookery/rookery.sock")
    }

    /// The system takes everything away with the last process of the login that it knows of.
    fn log_out(&self) {
        let run = self.run.as_ref().unwrap();
        fs::remove_dir_all(run).unwrap();
    }
}

fn open_cat(login: &Login<'_>) -> (String, Value) {
    let id = login.rookery(&["open", "--", "/bin/sh", "-c", "echo kept; exec cat"]).success();
    let id = id.trim().to_owned();
    login.rookery(&["wait", &id, "--text", "kept"]).success();
    (id, login.rookery(&["ls", "--json"]).json()["terminals"].clone())
}

#[test]
fn logging_out_and_in_finds_the_daemon_and_its_terminals() {
    let home = Home::new();
    let first = Login::at_seat(&home, "seat1");
    let before = {
        first.rookery(&["up"]).success();
        first.rookery(&["status", "--json"]).json()
    };
    let (id, terminals) = open_cat(&first);
    first.log_out();
    // Another seat, and none at all.
    let second = Login::at_seat(&home, "seat2");
    let up = second.rookery(&["up", "--json"]).json();
    assert_eq!(up["pid"], before["pid"], "a second daemon was started");
    assert!(Caller::connect(&second.socket()).is_ok(), "the daemon listens there, too");
    let seen = Login::bare(&home).rookery(&["ls", "--json"]).json();
    assert_eq!(seen["terminals"], terminals);
    // The next daemon is started from there, and keeps everything.
    let after = second.rookery(&["restart", "--json"]).json();
    assert_ne!(after["pid"], before["pid"]);
    assert_eq!(after["keeper"], up["keeper"]);
    assert_eq!(after["terminals"]["running"], 1);
    // Programs in the terminal were told of sockets that are gone; hooks of agents still get through.
    let told = |name: &str, socket: &str, args: &[&str]| {
        let mut command = home.command(rookery_binary());
        command.args(args).env_remove("ROOKERY_HOME");
        command.env(name, first.run.as_ref().unwrap().join(socket));
        Finished::of(command).success()
    };
    told("ROOKERY_SOCKET", "rookery/rookery.sock", &["ls"]);
    told("ROOST_SOCKET", "roost/roost.sock", &["roostctl", "tab", "list"]);
    told("IDX0_IPC_SOCKET", "idx0/idx0.sock", &["idx0", "list-sessions"]);
    second.rookery(&["send", &id, "--enter", "again"]).success();
    second.rookery(&["wait", &id, "--regex", "again\\s+again"]).success();
    Login::bare(&home).rookery(&["down", "--all"]).success();
    home.assert_no_processes_left();
}

#[test]
fn a_daemon_that_was_killed_is_replaced_from_another_login_without_loss() {
    let home = Home::new();
    let first = Login::at_seat(&home, "seat1");
    let pid = first.rookery(&["up", "--json"]).json()["pid"].as_u64().unwrap();
    let (_, terminals) = open_cat(&first);
    kill9(pid);
    first.log_out();
    let second = Login::at_seat(&home, "seat2");
    second.rookery(&["up"]).success();
    assert_eq!(second.rookery(&["ls", "--json"]).json()["terminals"], terminals);
    second.rookery(&["down", "--all"]).success();
}

fn kill9(pid: u64) {
    let number = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(number, rustix::process::Signal::KILL).unwrap();
    wait_until("it is gone", PATIENCE, || !is_alive(u32::try_from(pid).unwrap()));
}

#[test]
fn a_second_daemon_is_refused_whatever_its_login() {
    let home = Home::new();
    let first = Login::at_seat(&home, "seat1");
    let pid = first.rookery(&["up", "--json"]).json()["pid"].to_string();
    let second = Login::at_seat(&home, "seat2");
    let said = second.rookery(&["daemon"]).failure(1);
    assert!(said.contains("already running") && said.contains(&pid), "{said}");
    first.rookery(&["down", "--all"]).success();
}

/// Every socket below a directory.
fn sockets(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(sockets(&entry.path()));
        } else if entry.file_type().unwrap().is_socket() {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

fn wait_all_answer(paths: &[PathBuf]) {
    for path in paths {
        let what = format!("{} is made again", path.display());
        wait_until(&what, PATIENCE, || std::os::unix::net::UnixStream::connect(path).is_ok());
    }
}

#[test]
fn deleted_sockets_are_made_again_by_themselves() {
    let daemon = TestDaemon::start();
    let run = daemon.home().join("run");
    let all = sockets(&run);
    assert!(all.len() >= 5, "{all:?}");
    let old = daemon.client();
    for path in &all {
        fs::remove_file(path).unwrap();
    }
    wait_all_answer(&all);
    fs::remove_dir_all(&run).unwrap();
    wait_all_answer(&all);
    assert_eq!(daemon.client().status()["pid"], daemon.pid());
    assert_eq!(old.status()["pid"], daemon.pid(), "connections are not touched");
    daemon.rookery(&["down", "--all"]).success();
    assert_eq!(sockets(&run), Vec::<PathBuf>::new());
}

#[test]
fn a_deleted_lock_is_made_again_before_another_daemon_can_start() {
    let daemon = TestDaemon::start();
    let locks = ["state/rookery/daemon.lock", "run/rookery/daemon.lock"];
    for lock in locks {
        fs::remove_file(daemon.home().join(lock)).unwrap();
    }
    for lock in locks {
        let path = daemon.home().join(lock);
        let pid = format!("{}\n", daemon.pid());
        wait_until("the lock is there again", PATIENCE, || {
            fs::read_to_string(&path).is_ok_and(|text| text == pid)
        });
    }
    // From another runtime directory, where no socket is in the way.
    let mut command = daemon.home().command(rookery_binary());
    command.arg("daemon").env_remove("ROOKERY_HOME");
    command.env("XDG_STATE_HOME", daemon.home().join("state"));
    command.env("XDG_RUNTIME_DIR", daemon.home().path());
    let said = Finished::of(command).failure(1);
    assert!(said.contains("already running"), "{said}");
}

#[test]
fn a_keeper_whose_socket_is_gone_is_found_by_the_next_daemon() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo kept; exec cat");
    client.wait_text(id, "kept");
    let (pid, keeper) = (client.pid(id), daemon.keeper_pid());
    daemon.kill9();
    let socket = daemon.home().join("state/rookery/keeper.sock");
    fs::remove_file(&socket).unwrap();
    wait_until("the keeper makes its socket again", PATIENCE, || socket.exists());
    daemon.restart();
    assert_eq!((daemon.client().pid(id), daemon.keeper_pid()), (pid, keeper));
}

#[test]
fn down_and_restart_reach_a_daemon_that_cannot_listen() {
    let home = Home::new();
    let first = home.rookery(&["up", "--json"]).json()["pid"].clone();
    home.rookery(&["open", "--", "/bin/cat"]).success();
    let block = || {
        // Nothing can be made in the place of a file.
        fs::remove_dir_all(home.join("run")).unwrap();
        fs::write(home.join("run"), "in the way").unwrap();
    };
    block();
    let said = home.rookery(&["status"]).failure(1);
    assert!(said.contains(&first.to_string()), "{said}");
    home.rookery(&["down"]).success();
    let pid = u32::try_from(first.as_u64().unwrap()).unwrap();
    assert!(!is_alive(pid));
    fs::remove_file(home.join("run")).unwrap();
    let second = home.rookery(&["up", "--json"]).json();
    assert_eq!(second["terminals"]["running"], 1);
    home.rookery(&["down", "--all"]).success();
}

#[test]
fn the_way_to_the_store_may_be_long() {
    let home = Home::new();
    let state = home.join(&"long".repeat(30));
    let rookery = |args: &[&str]| {
        let mut command = home.command(rookery_binary());
        command.args(args).env_remove("ROOKERY_HOME").env("XDG_STATE_HOME", &state);
        command.env("XDG_RUNTIME_DIR", home.join("seat"));
        Finished::of(command)
    };
    fs::DirBuilder::new().mode(0o700).create(home.join("seat")).unwrap();
    rookery(&["up"]).success();
    rookery(&["open", "--", "/bin/cat"]).success();
    assert_eq!(rookery(&["restart", "--json"]).json()["terminals"]["running"], 1);
    rookery(&["down", "--all"]).success();
}
