//! Another user was there first: with a directory, a link, a socket. Nothing of theirs is followed, written or talked
//! to, and the start does not fail for ever. Only root can be two users; without, these tests say that they did not run.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rookery_testkit::{Finished, Home, TestDaemon, rookery_binary};
use rustix::process::Uid;

const OTHER: u32 = 65_534;

pub(super) fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("skipped: only root can be a second user");
    }
    is_root
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn directories_that_are_open_to_others_are_closed() {
    let home = Home::new();
    let places = ["run", "run/rookery", "run/roost", "state/rookery"];
    for place in places {
        fs::create_dir_all(home.join(place)).unwrap();
        fs::set_permissions(home.join(place), Permissions::from_mode(0o777)).unwrap();
    }
    let daemon = TestDaemon::start_in(home);
    for place in places {
        assert_eq!(mode(&daemon.home().join(place)), 0o700, "{place}");
    }
}

#[test]
fn a_log_lock_or_record_that_is_a_link_is_not_written_through() {
    for name in ["daemon.log", "daemon.lock", "daemon.json"] {
        let home = Home::new();
        let victim = home.join("victim");
        fs::write(&victim, "precious").unwrap();
        fs::create_dir_all(home.join("state/rookery")).unwrap();
        symlink(&victim, home.join("state/rookery").join(name)).unwrap();
        let up = home.rookery(&["up"]);
        assert!(up.status.success() || up.stderr.contains("is a link"), "{name}: {up:?}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{name}");
    }
}

#[test]
fn a_state_directory_of_another_user_is_refused_with_what_to_do() {
    if !is_root() {
        return;
    }
    let home = Home::new();
    fs::create_dir_all(home.join("state/rookery")).unwrap();
    chown(home.join("state/rookery"), Some(OTHER), None).unwrap();
    for command in ["up", "daemon"] {
        let said = home.rookery(&[command]).failure(1);
        assert!(said.contains("another user") && said.contains("ROOKERY_HOME"), "{said}");
    }
    assert_eq!(fs::read_dir(home.join("state/rookery")).unwrap().count(), 0);
}

/// A user without a runtime directory, who gets one in `/tmp`.
struct Victim {
    home: Home,
    program: PathBuf,
    uid: u32,
}

impl Victim {
    fn new(uid: u32) -> Victim {
        let home = Home::new();
        let program = home.join("rookery");
        // Where the tests are built may be out of reach for others.
        if fs::hard_link(rookery_binary(), &program).is_err() {
            fs::copy(rookery_binary(), &program).unwrap();
        }
        chown(home.path(), Some(uid), Some(uid)).unwrap();
        let victim = Victim { home, program, uid };
        victim.clean_up();
        victim
    }

    fn stand_in(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/tmp/{name}-{}", self.uid))
    }

    fn rookery(&self, args: &[&str]) -> Finished {
        let mut command = self.home.command("setpriv");
        let uid = self.uid.to_string();
        command.args(["--reuid", &uid, "--regid", &uid, "--clear-groups"]);
        command.arg(&self.program).args(args).env_remove("ROOKERY_HOME");
        command.current_dir(self.home.path());
        Finished::of(command)
    }

    fn clean_up(&self) {
        for name in ["rookery", "roost", "idx0"] {
            let place = self.stand_in(name);
            let _ = fs::remove_file(&place).or_else(|_| fs::remove_dir_all(&place));
        }
    }

    /// Everything works, and nothing of the other user's was touched.
    fn works_beside(&self, victim: &Path) {
        self.rookery(&["up"]).success();
        self.rookery(&["open", "--", "/bin/cat"]).success();
        let status = self.rookery(&["status", "--json"]).json();
        assert_eq!(status["terminals"]["running"], 1);
        let listed = self.rookery(&["roostctl", "tab", "list"]);
        assert!(listed.status.success(), "{listed:?}");
        self.rookery(&["down", "--all"]).success();
        assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.clean_up();
    }
}

#[test]
fn a_squatted_directory_in_tmp_means_another_place() {
    if !is_root() {
        return;
    }
    let person = Victim::new(61_001);
    let victim = person.home.join("victim");
    fs::write(&victim, "precious").unwrap();
    chown(&victim, Some(person.uid), None).unwrap();
    for name in ["rookery", "roost", "idx0"] {
        let place = person.stand_in(name);
        fs::create_dir_all(place.join("rookery")).unwrap();
        for dir in [place.join("rookery"), place.clone()] {
            fs::set_permissions(&dir, Permissions::from_mode(0o777)).unwrap();
            chown(&dir, Some(OTHER), None).unwrap();
        }
        for file in ["daemon.lock", "keeper.sock", "rookery.sock"] {
            symlink(&victim, place.join("rookery").join(file)).unwrap();
        }
    }
    person.works_beside(&victim);
}

#[test]
fn a_link_in_place_of_the_directory_in_tmp_is_not_followed() {
    if !is_root() {
        return;
    }
    let person = Victim::new(61_002);
    let target = person.home.join("target");
    fs::create_dir(&target).unwrap();
    chown(&target, Some(person.uid), None).unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o755)).unwrap();
    let victim = target.join("victim");
    fs::write(&victim, "precious").unwrap();
    for name in ["rookery", "roost", "idx0"] {
        symlink(&target, person.stand_in(name)).unwrap();
        std::os::unix::fs::lchown(person.stand_in(name), Some(OTHER), None).unwrap();
    }
    person.works_beside(&victim);
    assert_eq!((mode(&target), fs::read_dir(&target).unwrap().count()), (0o755, 1));
}

/// Listens as another user. Whose socket it is, the kernel decides when that user begins to listen.
fn listen_as_other(path: &Path) -> UnixListener {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let path = path.to_owned();
    let listen = move || {
        let socket = UnixListener::bind(path).unwrap();
        let other = Uid::from_raw(OTHER);
        rustix::thread::set_thread_res_uid(other, other, other).unwrap();
        rustix::net::listen(&socket, 8).unwrap();
        socket
    };
    std::thread::spawn(listen).join().unwrap()
}

#[test]
fn nothing_is_said_to_a_socket_of_another_user() {
    if !is_root() {
        return;
    }
    let home = Home::new();
    let paths = ["rookery/rookery.sock", "roost/roost.sock", "idx0/idx0.sock"];
    let listeners = paths.map(|path| (path, listen_as_other(&home.join("run").join(path))));
    let commands: [&[&str]; 5] = [
        &["ls"],
        &["approve", "1"],
        &["down"],
        &["roostctl", "tab", "list"],
        &["idx0", "list-sessions"],
    ];
    for args in commands {
        let run = home.rookery(args);
        assert!(!run.status.success(), "{args:?}: {run:?}");
        assert!(run.stderr.contains("another user"), "{args:?}: {run:?}");
    }
    for (path, listener) in listeners {
        listener.set_nonblocking(true).unwrap();
        while let Ok((mut stream, _)) = listener.accept() {
            let mut heard = Vec::new();
            std::io::Read::read_to_end(&mut stream, &mut heard).unwrap();
            assert_eq!(heard, b"", "{path}");
        }
    }
}
