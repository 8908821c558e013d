//! Starting and refusing to start: one daemon per home, private files, nothing of others deleted.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;

use rookery_testkit::{Home, TestDaemon, rookery_binary};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_second_daemon_of_a_home_is_refused_and_told_why() {
    let daemon = TestDaemon::start();
    let said = daemon.rookery(&["daemon"]).failure(1);
    assert!(said.contains("already running"), "{said}");
    assert!(said.contains(&daemon.pid().to_string()), "{said}");
    assert_eq!(daemon.client().status()["pid"], daemon.pid());
}

#[test]
fn a_file_in_place_of_the_socket_is_refused_and_kept() {
    let home = Home::new();
    let socket = home.join("run/rookery/rookery.sock");
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    fs::write(&socket, "precious").unwrap();
    let said = home.rookery(&["daemon"]).failure(1);
    assert!(said.contains("rookery.sock"), "{said}");
    assert_eq!(fs::read_to_string(&socket).unwrap(), "precious");
    home.assert_no_processes_left();
}

#[test]
fn a_stale_socket_is_replaced() {
    let home = Home::new();
    let socket = home.join("run/rookery/rookery.sock");
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    let daemon = TestDaemon::start_in(home);
    assert_eq!(daemon.client().status()["pid"], daemon.pid());
}

#[test]
fn a_socket_with_a_listener_is_not_stolen() {
    let home = Home::new();
    let socket = home.join("run/rookery/rookery.sock");
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let _alive = UnixListener::bind(&socket).unwrap();
    let said = home.rookery(&["daemon"]).failure(1);
    assert!(said.contains("rookery.sock"), "{said}");
    assert!(socket.exists());
}

#[test]
fn directories_and_sockets_are_private() {
    let daemon = TestDaemon::start();
    daemon.client().open_sh("read line");
    for socket in ["rookery/rookery.sock", "ptywright/ptywright.sock", "roder/roder.sock"] {
        let path = daemon.home().join("run").join(socket);
        assert_eq!(mode(&path), 0o600, "{socket}");
        assert_eq!(mode(path.parent().unwrap()), 0o700, "{socket}");
    }
    let state = daemon.home().join("state/rookery");
    assert_eq!(mode(&state), 0o700);
    for entry in fs::read_dir(&state).unwrap() {
        let path = entry.unwrap().path();
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
}

#[test]
fn a_group_readable_home_is_no_reason_to_leak() {
    let home = Home::new();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let daemon = TestDaemon::start_in(home);
    for dir in ["run/rookery", "run/ptywright", "state/rookery"] {
        assert_eq!(mode(&daemon.home().join(dir)), 0o700, "{dir}");
    }
}

#[test]
fn ready_names_every_endpoint_that_listens() {
    let daemon = TestDaemon::start();
    let ready = daemon.ready();
    assert_eq!(ready["pid"], daemon.pid());
    let endpoints = ready["endpoints"].as_object().unwrap();
    assert_eq!(endpoints["rookery"], daemon.socket().to_str().unwrap());
    for path in endpoints.values() {
        rookery_testkit::Caller::connect(path.as_str().unwrap().as_ref()).unwrap();
    }
}

#[test]
fn a_config_moves_and_turns_off_endpoints_and_unknown_keys_are_warned_about() {
    let home = Home::new();
    let config = home.join("config/rookery/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    let moved = home.join("elsewhere.sock");
    let text = format!("[endpoints]\nptywright = false\nrookery = {moved:?}\nrokery = true\n");
    fs::write(&config, text).unwrap();
    let daemon = TestDaemon::start_in(home);
    assert!(moved.exists() && !daemon.socket().exists() && !daemon.ptywright_socket().exists());
    let status = daemon.rookery(&["status", "--json"]).json();
    assert_eq!(status["pid"], daemon.pid());
    let log = fs::read_to_string(daemon.log()).unwrap();
    assert!(log.contains("line 4") && log.contains("rokery"), "{log}");
}

#[test]
fn the_binary_is_the_one_that_was_built_with_these_tests() {
    let version = Home::new().run(rookery_binary(), &["--version"]).success();
    assert_eq!(version.trim(), format!("rookery {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn another_idx0_keeps_its_socket_and_the_rest_is_served() {
    let home = Home::new();
    let socket = home.join("run/idx0/idx0.sock");
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let foreign = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let daemon = TestDaemon::start_in(home);
    assert!(daemon.ready()["endpoints"].get("idx0").is_none(), "{}", daemon.ready());
    assert!(daemon.ready()["endpoints"]["roost"].is_string());
    foreign.set_nonblocking(true).unwrap();
    // The probe that found it alive was the only one who came.
    assert!(foreign.accept().is_ok() && foreign.accept().is_err());
}
