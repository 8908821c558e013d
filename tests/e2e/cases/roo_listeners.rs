//! Where the Roo Code dialect listens: paths that clients of the original use, and paths that cannot be had.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rookery_testkit::{Home, PATIENCE, TestDaemon, eventually, rookery_binary, wait_until};
use serde_json::Value;

use crate::roo::home_with;
use crate::roo_link::Roo;

/// A path in the temporary directory that no other test uses.
fn shared_path(home: &Home, name: &str) -> PathBuf {
    let own = home.path().file_name().unwrap().to_str().unwrap();
    Path::new("/tmp").join(format!("{own}-{name}.sock"))
}

/// A daemon whose socket is moved by the original's variable.
fn told_by_variable(home: &Home, path: &Path) -> Child {
    let mut command = home.command(rookery_binary());
    command.arg("daemon").env("ROO_CODE_IPC_SOCKET_PATH", path);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn the_originals_variable_may_name_a_socket_in_the_temporary_directory() {
    let home = Home::new();
    let path = shared_path(&home, "roo-code");
    // Left by a server that died.
    drop(UnixListener::bind(&path).unwrap());
    let mut daemon = told_by_variable(&home, &path);
    wait_until("it listens", PATIENCE, || UnixStream::connect(&path).is_ok());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(Roo::at(&path).ask("IsReady", Value::Null), true);
    home.rookery(&["down"]).success();
    eventually("the daemon ends", PATIENCE, || daemon.try_wait().unwrap());
    assert!(!path.exists(), "the socket goes with its server");
}

#[test]
fn a_listener_may_have_its_socket_in_the_temporary_directory() {
    let path = shared_path(&Home::new(), "evals");
    let config = format!("[[roo.listeners]]\nname = \"evals\"\npath = \"{}\"\n", path.display());
    let daemon = TestDaemon::start_in(home_with(&config));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(Roo::at(&path).ask("IsReady", Value::Null), true);
    // It is made again when it was cleaned away.
    fs::remove_file(&path).unwrap();
    wait_until("it is there again", PATIENCE, || UnixStream::connect(&path).is_ok());
    drop(daemon);
    let _ = fs::remove_file(&path);
}

#[test]
fn a_listener_that_cannot_be_had_costs_no_other_and_is_reported() {
    let home = Home::new();
    let at = |name: &str| home.join(name);
    let live = UnixListener::bind(at("live.sock")).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = port.local_addr().unwrap();
    fs::create_dir(at("open")).unwrap();
    fs::set_permissions(at("open"), fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(at("file"), "").unwrap();
    let listener =
        |name: &str, rest: &str| format!("[[roo.listeners]]\nname = \"{name}\"\n{rest}\n");
    let path = |name: &str| format!("path = \"{}\"", at(name).display());
    let config = [
        listener("roo-code", &path("live.sock")),
        listener("untrusted", &path("open/s.sock")),
        listener("nowhere", &path("file/s.sock")),
        listener("odd", &format!("{}\nshape = \"round\"", path("odd.sock"))),
        listener("taken", &format!("tcp = \"{taken}\"")),
        listener("wide", "tcp = \"0.0.0.0:0\""),
        listener("good", &path("good.sock")),
    ]
    .concat();
    fs::create_dir_all(at("config/rookery")).unwrap();
    fs::write(at("config/rookery/config.toml"), config).unwrap();
    let good = at("good.sock");
    let daemon = TestDaemon::start_in(home);
    assert_eq!(Roo::at(&good).ask("IsReady", Value::Null), true);
    let served = daemon.ready()["endpoints"].as_object().unwrap();
    assert!(!served.contains_key("roo-code"), "{served:?}");
    assert_eq!(
        Roo::at(Path::new(served["roo"].as_str().unwrap())).ask("IsReady", Value::Null),
        true
    );
    live.set_nonblocking(true).unwrap();
    wait_until("the other server is still there", PATIENCE, || {
        let _ = UnixStream::connect(daemon.home().join("live.sock"));
        live.accept().is_ok()
    });
    let status = daemon.rookery(&["status"]).success();
    let doctor = daemon.rookery(&["doctor"]).stdout;
    let log = fs::read_to_string(daemon.log()).unwrap();
    for (name, why) in [
        ("roo-code", "another process is listening"),
        ("untrusted", "is writable by every user"),
        ("nowhere", "is not a directory"),
        ("odd", "`shape` is none of"),
        ("taken", "in use"),
        ("wide", "without a token"),
    ] {
        for (where_from, text) in [("status", &status), ("doctor", &doctor), ("log", &log)] {
            let is_it = |line: &str| line.contains(&format!("`{name}`")) && line.contains(why);
            assert!(text.lines().any(is_it), "{name} in {where_from}: {text}");
        }
    }
}
