//! The window among others: class, title, one window for one home, what a desktop knows of it, what is
//! drawn while it cannot be seen, and what is said where libraries are missing.

use std::fs;

use rookery_testkit::{
    Finished, Home, Outer, PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until,
};

use super::{Display, Running, Window, terminals};

#[test]
fn it_has_its_class_and_title_and_a_second_start_raises_it() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    client.open_sh("echo here; exec cat");
    let window = Window::open(&daemon, &display);
    let class = display.run("xprop", &["-id", &window.id, "WM_CLASS"]).success();
    assert_eq!(class.trim(), r#"WM_CLASS(STRING) = "rookery", "rookery""#);
    wait_until("the title names the project", PATIENCE, || {
        window.xdotool(&["getwindowname", &window.id]).contains(" – ")
    });
    let viewers = client.status()["viewers"].clone();
    assert_eq!(viewers[0]["face"], "window", "{viewers}");
    for args in [&["window"][..], &[]] {
        let mut again = display.command_of(daemon.home(), rookery_binary());
        again.args(args);
        Finished::of(again).success();
    }
    let found = window.xdotool(&["search", "--onlyvisible", "--class", "rookery"]);
    assert_eq!(found.lines().count(), 1, "{found}");
    // The page that it was started for is shown by the one that is there.
    let mut again = display.command_of(daemon.home(), rookery_binary());
    again.args(["window", "--page", "reviews"]);
    Finished::of(again).success();
    window.wait_page("reviews");
    // It has the keyboard: nothing on the taskbar is marked any more.
    wait_until("no mark is left", PATIENCE, || {
        let hints = display.run("xprop", &["-id", &window.id, "WM_HINTS"]).success();
        !hints.contains("urgency")
    });
}

#[test]
fn a_window_that_only_looks_is_one_more_and_not_the_one_that_is_raised() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    client.open_sh("echo here; exec cat");
    let window = Window::open(&daemon, &display);
    let mut looks = display.command_of(daemon.home(), rookery_binary());
    looks.args(["window", "--look"]).stderr(std::process::Stdio::null());
    let _looks = Running(looks.spawn().unwrap());
    let rights = || -> Vec<String> {
        let viewers = client.status()["viewers"].clone();
        let all = viewers.as_array().unwrap().iter();
        all.map(|viewer| viewer["rights"].as_str().unwrap().to_owned()).collect()
    };
    wait_until("both are there", PATIENCE, || rights() == ["full", "look"]);
    let mut again = display.command_of(daemon.home(), rookery_binary());
    again.args(["window", "--page", "reviews"]);
    Finished::of(again).success();
    window.wait_page("reviews");
    assert_eq!(rights().len(), 2);
}

#[test]
fn an_empty_window_offers_a_shell_and_what_is_typed_reaches_it() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let window = Window::open(&daemon, &display);
    window.keys(&["c"]);
    wait_until("a shell is there", PATIENCE, || terminals(&client).len() == 1);
    let id = terminals(&client)[0];
    window.wait("it is shown", |seen| seen["terminal"] == id);
    window.types("echo wo''rks");
    window.keys(&["Return"]);
    client.wait_text(id, "works");
    let mut window = window;
    window.closes();
    assert_eq!(terminals(&client), [id], "everything runs on");
}

#[test]
fn the_entry_of_the_desktop_is_written_and_removed() {
    let home = Home::new();
    let data = home.join("share");
    let run = |arg: &str| {
        let mut command = home.command(rookery_binary());
        command.args(["window", arg]).env("XDG_DATA_HOME", &data);
        Finished::of(command).success()
    };
    run("--install-desktop");
    let entry = fs::read_to_string(data.join("applications/rookery.desktop")).unwrap();
    assert!(entry.contains("StartupWMClass=rookery"), "{entry}");
    let files = [
        "applications/rookery.desktop",
        "icons/hicolor/scalable/apps/rookery.svg",
        "metainfo/local.rookery.Rookery.metainfo.xml",
    ];
    assert!(files.iter().all(|file| data.join(file).is_file()));
    run("--remove-desktop");
    assert!(files.iter().all(|file| !data.join(file).exists()));
    run("--remove-desktop");
}

#[test]
fn a_window_that_is_minimized_draws_nothing() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    window.xdotool(&["windowminimize", "--sync", &window.id]);
    let viewer = || client.status()["viewers"][0].clone();
    client.write(id, "hidden-1\r");
    client.wait_text(id, "hidden-1");
    // The picture that told the window that it cannot be seen is the last one.
    let painted = || window.trace.lines().len();
    let before = painted();
    for number in 2..40 {
        client.write(id, &format!("hidden-{number}\r"));
        client.wait_text(id, &format!("hidden-{number}"));
    }
    assert_eq!(painted(), before, "{}", viewer());
    window.xdotool(&["windowactivate", "--sync", &window.id]);
    wait_until("it is drawn again", PATIENCE, || painted() > before);
    // What came meanwhile is there: a word of it can be found.
    window.keys(&["ctrl+shift+f"]);
    window.wait_over(Some("find"));
    window.types("hidden-39");
    window.keys(&["Return", "Escape"]);
    window.wait_over(None);
}

/// Runs a command where these files are empty. None, and a word about it, where that cannot be done.
fn without(home: &Home, files: &[&str]) -> Option<std::path::PathBuf> {
    let hidden: Vec<String> =
        files.iter().map(|file| format!("mount --bind /dev/null {file}")).collect();
    let script = home.join("without.sh");
    let text = format!("#!/bin/sh\nset -e\n{}\nexec \"$@\"\n", hidden.join("\n"));
    fs::write(&script, text).unwrap();
    let mut tries = home.command("unshare");
    tries.args(["--mount", "--map-root-user", "sh"]).arg(&script).arg("true");
    if !tries.output().is_ok_and(|output| output.status.success()) {
        eprintln!("missing libraries are not tested: no mounts of our own here");
        return None;
    }
    Some(script)
}

/// Where a library lies that the window system needs.
fn library(name: &str) -> Option<String> {
    let dirs =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let paths = dirs.map(|dir| format!("{dir}/{name}"));
    paths.into_iter().find(|path| fs::metadata(path).is_ok())
}

#[test]
fn a_library_that_is_missing_is_named_and_the_tui_starts() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let home = daemon.home();
    let Some(cursors) = library("libXcursor.so.1") else { return };
    let Some(script) = without(home, &[&cursors]) else { return };
    let script = script.to_str().unwrap();
    let program = rookery_binary().to_str().unwrap();
    let mut command = display.command_of(home, "unshare");
    command.args(["--mount", "--map-root-user", "sh", script, program, "window"]);
    let said = Finished::of(command);
    assert!(!said.status.success());
    assert!(said.stderr.contains("libXcursor.so.1"), "{}", said.stderr);
    assert!(said.stderr.contains("libxcursor1"), "{}", said.stderr);
    // On a terminal the next best face is tried, also where a window was asked for.
    let asked = ["--mount", "--map-root-user", "sh", script, program, "window", "--page", "help"];
    let env = [("DISPLAY", display.name.as_str())];
    let outer = Outer { env: &env, ..Outer::default() };
    let unshare = std::path::Path::new("unshare");
    let pty = TestPty::spawn_in(home, unshare, &asked, &outer);
    pty.wait_text("typing filters");
    drop(pty);
    let pty = TestPty::spawn_in(home, unshare, &asked[..5], &outer);
    pty.wait_text("Nothing runs here yet.");
    let viewers = daemon.client().status()["viewers"].clone();
    assert_eq!(viewers[0]["face"], "tui", "{viewers}");
}

#[test]
fn size_and_place_are_those_of_the_last_time() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    let mut window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let cols = || client.terminal(id)["size"]["cols"].as_u64().unwrap();
    let before = cols();
    window.xdotool(&["windowsize", "--sync", &window.id, "900", "500"]);
    wait_until("the terminal is smaller", PATIENCE, || cols() < before);
    let small = cols();
    let place = |window: &Window<'_>| -> Vec<String> {
        let told = window.xdotool(&["getwindowgeometry", "--shell", &window.id]);
        let corner = told.lines().filter(|line| line.starts_with("X=") || line.starts_with("Y="));
        corner.map(str::to_owned).collect()
    };
    let first = place(&window);
    window.xdotool(&["windowmove", "--sync", &window.id, "1300", "700"]);
    let moved = place(&window);
    assert_ne!(moved, first);
    window.closes();
    let again = Window::open(&daemon, &display);
    again.wait("the terminal is shown", |seen| seen["terminal"] == id);
    wait_until("it is as small as before", PATIENCE, || cols() == small);
    let told = again.xdotool(&["getwindowgeometry", "--shell", &again.id]);
    assert!(told.contains("WIDTH=900\n") && told.contains("HEIGHT=500\n"), "{told}");
    assert_eq!(place(&again), moved);
}
