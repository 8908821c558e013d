//! The roostctl tool against a real daemon, and `rookery hooks`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rookery_testkit::{
    Finished, Home, PATIENCE, TestDaemon, TestPty, eventually, rookery_binary, wait_until,
};
use serde_json::{Value, json};

fn command(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(rookery_binary());
    command.arg("roostctl").args(args);
    command
}

#[track_caller]
fn roostctl(home: &Home, args: &[&str]) -> Finished {
    Finished::of(command(home, args))
}

/// A child that is killed and reaped, whatever happens.
struct Running(Child);

impl Running {
    fn start(mut command: Command) -> Running {
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    #[track_caller]
    fn code(&mut self) -> Option<i32> {
        eventually("it ends", PATIENCE, || self.0.try_wait().unwrap()).code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A project, and a tab in it that runs `cat`.
#[track_caller]
fn project_and_tab(home: &Home) -> (String, String) {
    let said = roostctl(home, &["project", "create", "--name", "demo", "--cwd", "/tmp"]).success();
    let id = said.strip_prefix("created project ").and_then(|rest| rest.strip_suffix(" — demo\n"));
    let project = id.unwrap_or_else(|| panic!("{said}")).to_owned();
    let tab = roostctl(home, &["tab", "open", "--project-id", &project, "--", "cat"]).success();
    (project, tab.trim_end().to_owned())
}

fn tab_of(home: &Home, id: &str) -> Option<Value> {
    let list = roostctl(home, &["tab", "list", "--json"]).json();
    let projects = list["projects"].as_array().unwrap().clone();
    let mut tabs = projects.iter().flat_map(|project| project["tabs"].as_array().unwrap());
    tabs.find(|tab| tab["id"] == id).cloned()
}

#[test]
fn without_a_server_it_says_where_it_looked() {
    let home = Home::new();
    let socket = home.join("run/roost/roost.sock");
    let said = roostctl(&home, &["identify"]).failure(1);
    let expected = format!("Error: no server is listening (tried: {})\n", socket.display());
    assert_eq!(said, expected);
    let said = roostctl(&home, &["--socket", "/none", "tab", "list"]).failure(1);
    assert_eq!(said, "Error: no server is listening (tried: /none)\n");
    let mut odd = command(&home, &["identify"]);
    odd.env("ROOST_BUNDLE_PROFILE", "windows");
    assert!(Finished::of(odd).failure(1).starts_with("Error: ROOST_BUNDLE_PROFILE is `windows`"));
    roostctl(&home, &["tab", "open"]).failure(2);
    roostctl(&home, &[]).failure(2);
    home.assert_no_processes_left();
}

#[test]
fn the_name_makes_the_tool() {
    let home = Home::new();
    let link = home.join("roostctl");
    symlink(rookery_binary(), &link).unwrap();
    let version = concat!("roostctl ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(home.run(&link, &["--version"]).success(), version);
    let help = home.run(&link, &["--help"]).success();
    for word in ["identify", "claude-hook", "watch", "--target"] {
        assert!(help.contains(word), "{help}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.run(&link, &["completions", shell]).success().contains("roostctl"));
    }
}

#[test]
fn tabs_are_opened_typed_into_read_and_closed() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let (project, tab) = project_and_tab(home);
    let who = roostctl(home, &["identify"]).success();
    let keys: Vec<&str> = who.lines().map(|line| line.split_once('=').unwrap().0).collect();
    assert_eq!(
        keys.join(" "),
        "socket pid active_project active_tab ui_version proto_version app_id"
    );
    assert!(who.contains(&format!("\npid={}\n", daemon.pid())), "{who}");
    assert!(who.contains(&format!("\nactive_tab={tab}\n")), "{who}");

    roostctl(home, &["tab", "send", "--tab", &tab, "--bytes", "one\\ntwo\\x21\\n"]).success();
    roostctl(home, &["wait", "--tab", &tab, "--text", "two!", "--timeout", "30"]).success();
    let rows = roostctl(home, &["tab", "dump", "--tab", &tab]).success();
    assert_eq!(rows.lines().count(), 24);
    assert!(rows.lines().any(|row| row == "two!"), "{rows}");
    let dump = roostctl(home, &["tab", "dump", "--tab", &tab, "--json"]).json();
    assert_eq!((&dump["cols"], &dump["rows"]), (&json!(80), &json!(24)));
    roostctl(home, &["tab", "resize", "--tab", &tab, "--cols", "100", "--rows", "30"]).success();
    let dump = roostctl(home, &["tab", "dump", "--tab", &tab, "--json"]).json();
    assert_eq!((&dump["cols"], &dump["rows"]), (&json!(100), &json!(30)));

    let open = ["tab", "open", "--project-id", &project];
    let last = roostctl(home, &[&open[..], &["--", "cat"]].concat()).success();
    let after = [&open[..], &["--after-tab", &tab, "--focus", "--title", "mid", "--", "cat"]];
    let middle = roostctl(home, &after.concat()).success();
    let listed = roostctl(home, &["tab", "list"]).success();
    let expected = format!(
        "project {project} — demo\n  tab {tab} [none] roostctl cwd=/tmp\n  tab {} [none] mid cwd=/tmp\n  \
         tab {} [none] roostctl cwd=/tmp\n",
        middle.trim(),
        last.trim()
    );
    assert!(listed.ends_with(&expected), "{listed}");
    roostctl(home, &["set-title", "--title", "mine", "--tab", &tab]).success();
    assert_eq!(tab_of(home, &tab).unwrap()["title"], "mine");
    let order = format!("{},{tab}", last.trim());
    roostctl(home, &["tab", "reorder", "--project-id", &project, "--order", &order]).success();

    roostctl(home, &["tab", "close", "--tab", &tab]).success();
    roostctl(home, &["wait", "--tab", &tab, "--gone", "--timeout", "30"]).success();
    let said = roostctl(home, &["tab", "close", "--tab", &tab]).failure(1);
    assert!(said.starts_with("Error: not-found: "), "{said}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn projects_are_listed_renamed_and_deleted() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let (project, tab) = project_and_tab(home);
    let listed = roostctl(home, &["project", "list"]).success();
    assert!(listed.contains(&format!("project {project} — demo  cwd=/tmp  tabs=1\n")), "{listed}");
    for (flag, name) in [("--id", "first"), ("--project-id", "second")] {
        roostctl(home, &["project", "rename", flag, &project, "--name", name]).success();
        assert!(roostctl(home, &["project", "list"]).success().contains(name));
    }
    roostctl(home, &["project", "reorder", "--order", &project]).success();
    roostctl(home, &["project", "delete", "--id", &project]).success();
    assert_eq!(tab_of(home, &tab), None);
    roostctl(home, &["project", "delete", "--project-id", &project]).failure(1);
}

#[test]
fn a_held_tab_goes_on_with_a_shell() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let (project, _) = project_and_tab(home);
    let open = ["tab", "open", "--project-id", &project, "--hold", "--", "echo", "ended with"];
    let tab = roostctl(home, &open).success();
    let tab = tab.trim_end();
    roostctl(home, &["wait", "--tab", tab, "--text", "ended with", "--timeout", "30"]).success();
    roostctl(home, &["tab", "send", "--tab", tab, "--bytes", "echo $((40+2))\\n"]).success();
    roostctl(home, &["wait", "--tab", tab, "--text", "42", "--timeout", "30"]).success();
}

#[test]
fn waiting_ends_when_it_happens_or_when_the_time_is_over() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let (_, tab) = project_and_tab(home);
    let wait = |more: &[&str]| {
        let args = [&["wait", "--tab", &tab, "--timeout", "60"][..], more].concat();
        Running::start(command(home, &args))
    };
    let mut idle = wait(&["--state", "idle"]);
    let mut both = wait(&["--state", "running", "--text", "BOTH"]);
    let mut gone = wait(&["--gone"]);
    let mut never = wait(&["--text", "never"]);
    let set = |state| roostctl(home, &["tab", "set-state", "--tab", &tab, "--state", state]);
    // Whether or not they wait already, one of these changes is seen.
    wait_until("the state was seen", PATIENCE, || {
        set("running").success();
        set("idle").success();
        idle.0.try_wait().unwrap().is_some()
    });
    assert_eq!(idle.code(), Some(0));
    roostctl(home, &["tab", "send", "--tab", &tab, "--bytes", "BOTH\\n"]).success();
    roostctl(home, &["wait", "--tab", &tab, "--text", "BOTH", "--timeout", "30"]).success();
    assert_eq!(both.0.try_wait().unwrap(), None);
    set("running").success();
    assert_eq!(both.code(), Some(0));
    let begun = Instant::now();
    let short =
        ["wait", "--tab", &tab, "--text", "never", "--timeout", "0.2", "--interval-ms", "1"];
    let said = roostctl(home, &short).failure(1);
    assert_eq!(said, "Error: timed out after 0.2 s\n");
    assert!(begun.elapsed() >= Duration::from_millis(200));
    roostctl(home, &["tab", "close", "--tab", &tab]).success();
    assert_eq!((gone.code(), never.code()), (Some(0), Some(1)));
    let said = roostctl(home, &["wait", "--tab", "999", "--state", "idle"]).failure(1);
    assert_eq!(said, "Error: tab 999 does not exist\n");
    roostctl(home, &["wait", "--tab", "999", "--gone"]).success();
    // What makes no sense ends as what came to nothing does.
    let said = roostctl(home, &["wait", "--tab", "999"]).failure(1);
    assert!(said.contains("at least one of --state, --text and --gone"), "{said}");
    let said = roostctl(home, &["wait", "--tab", "999", "--gone", "--state", "idle"]).failure(1);
    assert!(said.contains("--gone stands alone"), "{said}");
    roostctl(home, &["wait", "--tab", "999", "--gone", "--timeout", "-1"]).success();
    let said = roostctl(home, &["tab", "send", "--tab", "999", "--bytes-base64", "aGk"]).failure(1);
    assert!(said.starts_with("Error: cannot read --bytes-base64"), "{said}");
}

#[test]
fn events_are_watched_until_the_server_ends() {
    let mut daemon = TestDaemon::start();
    let mut watch = Running::start(command(daemon.home(), &["watch", "--since", "0"]));
    let mut lines = BufReader::new(watch.0.stdout.take().unwrap()).lines();
    let (_, tab) = project_and_tab(daemon.home());
    let mut next = |name: &str| loop {
        let line = lines.next().unwrap().unwrap();
        let event: Value = serde_json::from_str(&line).unwrap();
        if event["event"] == name {
            return event;
        }
    };
    let opened = next("tab.opened");
    assert_eq!(opened["data"]["tab"]["id"], tab.as_str());
    assert!(opened["seq"].is_string(), "{opened}");
    roostctl(daemon.home(), &["notify", "--tab", &tab, "--title", "T", "--body", "B"]).success();
    assert_eq!(
        next("notification.fired")["data"],
        json!({"tab_id": tab, "title": "T", "body": "B"})
    );
    roostctl(daemon.home(), &["tab", "clear-notification", "--tab", &tab]).success();
    assert_eq!(next("tab.notification")["data"]["has_pending"], false);
    daemon.kill9();
    assert_eq!(watch.code(), Some(0));
}

#[test]
fn watching_ends_when_stdout_is_closed() {
    let daemon = TestDaemon::start();
    let mut watch = Running::start(command(daemon.home(), &["watch"]));
    drop(watch.0.stdout.take());
    assert_eq!(watch.code(), Some(141));
}

#[test]
fn the_palette_is_driven_and_a_list_is_answered() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    project_and_tab(home);
    assert_eq!(roostctl(home, &["palette", "state"]).success(), "palette: closed\n");
    let opened = roostctl(home, &["palette", "open"]).success();
    assert!(opened.starts_with("palette: commands (query \"\", "), "{opened}");
    assert!(opened.contains("\n> select_theme             Select Theme…\n"), "{opened}");
    let found = roostctl(home, &["palette", "query", "new tab"]).success();
    assert!(found.contains("\n> new_tab                  New Tab\n"), "{found}");
    assert_eq!(roostctl(home, &["palette", "dismiss", "--json"]).json()["open"], false);
    roostctl(home, &["palette", "activate", "new_tab"]).failure(1);
    roostctl(home, &["palette", "open", "--kind", "odd"]).failure(1);

    let items = r#"{"items":[{"id":"a","title":"A"},{"id":"b","title":"B"}]}"#;
    let input = home.join("items");
    fs::write(&input, items).unwrap();
    let is_shown = || roostctl(home, &["palette", "state"]).success().contains("present");
    for (choice, printed) in [(&["activate", "b"][..], "b\n"), (&["dismiss"], "")] {
        let mut present = command(home, &["palette", "present", "--title", "Pick"]);
        present.stdin(fs::File::open(&input).unwrap());
        let mut present = Running::start(present);
        wait_until("the list is shown", PATIENCE, is_shown);
        roostctl(home, &[&["palette"], choice].concat()).success();
        assert_eq!(present.code(), Some(0));
        let mut said = String::new();
        std::io::Read::read_to_string(&mut present.0.stdout.take().unwrap(), &mut said).unwrap();
        assert_eq!(said, printed);
    }
    roostctl(home, &["palette", "present", "--items", "[]"]).failure(1);
    roostctl(home, &["palette", "present", "--items", "no"]).failure(1);
}

#[test]
fn pictures_and_what_they_cost() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let file = home.join("picture.png");
    let out = file.to_str().unwrap();
    let finished = roostctl(home, &["screenshot", "--scale", "2", "--out", out]);
    assert!(finished.stderr.starts_with(&format!("wrote {out} (")), "{finished:?}");
    assert_eq!(finished.success(), "");
    assert!(fs::read(&file).unwrap().starts_with(b"\x89PNG\r\n"));
    let stats = roostctl(home, &["render-stats", "--reset"]).success();
    assert_eq!(stats.lines().count(), 15);
    assert!(stats.starts_with("refresh_calls    "), "{stats}");
}

#[track_caller]
fn hook(home: &Home, tab: Option<&str>, event: &str, payload: &str) {
    let file = home.join("payload");
    fs::write(&file, payload).unwrap();
    let mut hook = command(home, &["claude-hook", event]);
    hook.stdin(fs::File::open(&file).unwrap());
    hook.envs(tab.map(|tab| ("ROOST_TAB_ID", tab)));
    let finished = Finished::of(hook);
    assert_eq!((finished.stderr.as_str(), finished.stdout.as_str()), ("", "{}\n"));
    assert!(finished.status.success());
}

#[test]
fn hooks_report_what_an_agent_does() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let (_, tab) = project_and_tab(home);
    let seen = || {
        let tab = tab_of(home, &tab).unwrap();
        let pick = |key: &str| tab[key].as_str().unwrap_or_default().to_owned();
        (pick("agent_lifecycle"), pick("state"), tab["hook_active"] == true)
    };
    let is = |lifecycle: &str, state: &str, owned| (lifecycle.to_owned(), state.to_owned(), owned);
    let session = r#"{"session_id":"s","source":"startup","message":"may I?","notification_type":"permission_prompt"}"#;
    hook(home, Some(&tab), "session-start", session);
    assert_eq!(seen(), is("inactive", "none", true));
    assert_eq!(tab_of(home, &tab).unwrap()["ownership"]["session_id"], "s");
    hook(home, Some(&tab), "UserPromptSubmit", session);
    assert_eq!(seen(), is("working", "running", true));
    hook(home, Some(&tab), "Notification", session);
    assert_eq!(seen(), is("waiting", "needs_input", true));
    assert_eq!(tab_of(home, &tab).unwrap()["has_notification"], true);
    hook(home, Some(&tab), "Stop", r#"{"session_id":"other"}"#);
    assert_eq!(seen(), is("waiting", "needs_input", true));
    hook(home, Some(&tab), "Stop", session);
    assert_eq!(seen(), is("finished", "idle", true));
    for odd in ["", "no json", "[]", "7"] {
        hook(home, Some(&tab), "Stop", odd);
    }
    hook(home, None, "SessionEnd", session);
    hook(home, Some("x"), "SessionEnd", session);
    hook(home, Some("999"), "SessionEnd", session);
    hook(home, Some(&tab), "PreToolUse", session);
    assert_eq!(seen(), is("finished", "idle", true));
    hook(home, Some(&tab), "SessionEnd", session);
    assert_eq!(seen(), is("inactive", "none", false));
    assert_eq!(tab_of(home, &tab).unwrap()["has_notification"], false);
}

#[test]
fn a_hook_is_never_in_the_way() {
    let home = Home::new();
    hook(&home, Some("3"), "Stop", "{}");
    // Its stdin stays open, and the server accepts and stays silent.
    let socket = home.join("s");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let begun = Instant::now();
    let mut silent = command(&home, &["--socket", socket.to_str().unwrap(), "claude-hook", "Stop"]);
    silent.env("ROOST_TAB_ID", "3").stdin(Stdio::piped());
    let mut silent = Running::start(silent);
    assert_eq!(silent.code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    hook(&home, None, "", "");
    assert_eq!(roostctl(&home, &["claude-hook"]).success(), "{}\n");
}

#[test]
fn a_tab_knows_its_server_and_itself() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let (project, _) = project_and_tab(home);
    let program = rookery_binary().to_str().unwrap();
    let script = format!("unset ROOKERY_HOME; {program} roostctl set-title --title inside; cat");
    let open = ["tab", "open", "--project-id", &project, "--", "sh", "-c", &script];
    let tab = roostctl(home, &open).success();
    wait_until("the title is set from inside", PATIENCE, || {
        tab_of(home, tab.trim_end()).unwrap()["title"] == "inside"
    });
}

#[test]
fn settings_of_their_own_are_written_once() {
    let home = Home::new();
    let file = home.join(".config/roost/claude-settings.json");
    let said = roostctl(&home, &["claude", "install"]).success();
    assert_eq!(said, format!("alias claude='claude --settings '{}\n", file.display()));
    let settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let stop = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(stop.ends_with(" claude-hook Stop"), "{stop}");
    assert!(stop.starts_with(rookery_binary().to_str().unwrap()), "{stop}");
    assert!(roostctl(&home, &["claude", "install"]).failure(1).starts_with("Error: "));
    roostctl(&home, &["claude", "install", "--force"]).success();
    let mut shell = home.command("/bin/sh");
    shell.arg("-c").arg(stop);
    assert_eq!(Finished::of(shell).success(), "{}\n");
}

#[test]
fn the_doctor_finds_what_is_wrong_and_changes_nothing() {
    let mut daemon = TestDaemon::start();
    let (_, tab) = project_and_tab(daemon.home());
    let report = roostctl(daemon.home(), &["doctor", "--json", "--tab", &tab]);
    let code = report.status.code();
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["exit_code"], json!(code));
    let checks: Vec<&Value> = report["sections"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|section| section["checks"].as_array().unwrap())
        .collect();
    assert_eq!(checks.len(), 26);
    let status = |id: &str| &checks.iter().find(|check| check["id"] == id).unwrap()["status"];
    for id in ["ui.target", "ui.socket", "ui.identify", "ui.agent_model", "tab.selection"] {
        assert_eq!(status(id), "ok", "{id}: {report:#}");
    }
    assert_eq!((code, status("tab.ownership")), (Some(0), &Value::Null));
    let text = roostctl(daemon.home(), &["doctor", "-v", "--tab", &tab]).success();
    assert!(text.contains("ui.agent_model") && !text.contains('\x1b'), "{text}");
    let always = roostctl(daemon.home(), &["doctor", "--color", "always"]).success();
    assert!(always.contains("\x1b[32m"), "{always}");
    roostctl(daemon.home(), &["doctor", "--tab", "999"]).failure(1);
    daemon.kill9();
    let finished = roostctl(daemon.home(), &["doctor"]);
    assert_eq!((finished.status.code(), finished.stderr.as_str()), (Some(1), ""));
    assert!(finished.stdout.contains("ui.socket"), "{}", finished.stdout);
}

fn settings(home: &Home, text: &str) -> std::path::PathBuf {
    let file = home.join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    file
}

const USERS: &str =
    "{\n    \"z\": 1,\n    \"hooks\": {\n        \"Stop\": [{\"hooks\": []}]\n    }\n}\n";

#[test]
fn hooks_are_installed_beside_what_is_there_and_taken_out_again() {
    let home = Home::new();
    let file = settings(&home, USERS);
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let hooks = |args: &[&str]| {
        let words = [&["hooks"], &args[..1], &["claude-code"], &args[1..]].concat();
        home.rookery(&words)
    };
    // No server to ask.
    let finished = hooks(&["install"]);
    assert!(finished.stdout.contains("+        \"SessionStart\": ["), "{finished:?}");
    finished.failure(1);
    hooks(&["install", "--dry-run"]).success();
    assert_eq!(read(&file), USERS);
    let made = hooks(&["install", "--yes", "--json"]).json();
    assert_eq!((&made["changed"], &made["written"]), (&json!(true), &json!(true)));
    assert_eq!(read(Path::new(made["backup"].as_str().unwrap())), USERS);
    let installed = read(&file);
    let value: Value = serde_json::from_str(&installed).unwrap();
    let program = rookery_binary().to_str().unwrap();
    for event in
        ["SessionStart", "UserPromptSubmit", "Notification", "Stop", "StopFailure", "SessionEnd"]
    {
        let groups = value["hooks"][event].as_array().unwrap();
        let command = &groups.last().unwrap()["hooks"][0]["command"];
        assert_eq!(command, &json!(format!("{program} roostctl claude-hook {event}")));
    }
    assert_eq!(hooks(&["install", "--yes"]).success(), "");
    assert_eq!(read(&file), installed);
    let status = hooks(&["status", "--json"]).json();
    assert!(status["events"].as_array().unwrap().iter().all(|event| event["state"] == "installed"));
    assert!(hooks(&["status"]).success().contains("installed"));
    let removed = hooks(&["uninstall", "--yes"]).success();
    assert!(removed.contains("-        \"SessionStart\": ["), "{removed}");
    assert_eq!(read(&file), USERS);
}

#[test]
fn settings_without_hooks_are_again_what_they_were() {
    let befores = [
        "",
        " \n",
        "{}",
        "{ }\n",
        "{\n  \"hooks\": { },\n  \"a\": 1\n}",
        "{\"hooks\": {\"Stop\": [ ]}}\r\n",
        "\u{feff}{\"model\": \"x\"}\n",
    ];
    for before in befores {
        let home = Home::new();
        let file = settings(&home, before);
        let backup = file.with_file_name("settings.json.rookery-backup");
        for _ in 0..2 {
            home.rookery(&["hooks", "install", "claude-code", "--yes"]).success();
            let status = home.rookery(&["hooks", "status", "claude-code", "--json"]).json();
            assert_eq!(status["events"][0]["state"], "installed", "{before:?}");
            home.rookery(&["hooks", "uninstall", "claude-code", "--yes"]).success();
            assert_eq!(fs::read_to_string(&file).unwrap(), before);
            assert_eq!(fs::read_to_string(&backup).unwrap(), before, "the first version stays");
        }
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 2, "{before:?}");
    }
    // And no file is no file again.
    let home = Home::new();
    let file = settings(&home, "");
    fs::remove_file(&file).unwrap();
    home.rookery(&["hooks", "install", "claude-code", "--yes"]).success();
    let removed = home.rookery(&["hooks", "uninstall", "claude-code", "--yes", "--json"]).json();
    assert_eq!(removed["removed"], true, "{removed}");
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 0);
    let again = home.rookery(&["hooks", "uninstall", "claude-code", "--yes", "--json"]).json();
    assert_eq!(again["changed"], false, "{again}");
}

#[test]
fn what_changed_beside_the_hooks_is_kept_without_them() {
    let home = Home::new();
    let file = settings(&home, "{\n  \"hooks\": {},\n  \"a\": 1\n}\n");
    home.rookery(&["hooks", "install", "claude-code", "--yes"]).success();
    let installed = fs::read_to_string(&file).unwrap();
    fs::write(&file, installed.replace("\"a\": 1", "\"a\": 2")).unwrap();
    let made = home.rookery(&["hooks", "uninstall", "claude-code", "--yes", "--json"]).json();
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  \"hooks\": {},\n  \"a\": 2\n}\n");
    // The version with hooks is kept beside the first one.
    assert!(made["backup"].as_str().unwrap().ends_with(".rookery-backup.2"), "{made}");
    let first = fs::read_to_string(file.with_file_name("settings.json.rookery-backup")).unwrap();
    assert!(first.contains("\"a\": 1"), "{first}");
}

#[test]
fn settings_that_are_no_json_are_left_alone() {
    let home = Home::new();
    for text in ["{ // mine\n}", "[]", "{\"hooks\": 7}"] {
        let file = settings(&home, text);
        for action in ["install", "uninstall"] {
            let said = home.rookery(&["hooks", action, "claude-code", "--yes"]).failure(1);
            assert!(said.contains("was not changed"), "{said}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn on_a_terminal_it_is_asked() {
    let home = Home::new();
    for (answer, is_written) in [("n\r", false), ("y\r", true)] {
        let file = home.join("settings.json");
        let args = ["hooks", "install", "claude-code", "--settings", file.to_str().unwrap()];
        let mut pty = TestPty::spawn(&home, rookery_binary(), &args, (24, 100));
        pty.wait_text("[y/N]");
        pty.send(answer.as_bytes());
        assert_eq!(pty.wait_ended().success(), is_written);
        assert_eq!(file.exists(), is_written);
    }
}
