//! Bad days of tabs: children that do not want to go, daemons that are killed, machines that start
//! anew, and clients that vanish in the middle of a question.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use rookery_testkit::{
    Home, PATIENCE, TestDaemon, eventually, is_alive, rookery_binary, wait_until,
};
use serde_json::{Value, json};

use crate::roost_link::{Link, socket};

/// How soon nothing of a closed tab may be left.
const SOON: Duration = Duration::from_secs(1);

/// A script that ignores every polite word, as do its two children: one in its own process group
/// and one in another group of the same session. It writes the numbers of all three to a file.
fn stubborn(file: &Path) -> String {
    format!(
        "trap '' HUP TERM INT QUIT; sleep 1009 & echo $! > {file}.part; \
         set -m; sleep 1009 & echo $! >> {file}.part; echo $$ >> {file}.part; \
         mv {file}.part {file}; while :; do sleep 1009; done",
        file = file.display()
    )
}

/// The numbers that a stubborn script wrote.
fn stubborn_pids(file: &Path) -> Vec<u32> {
    let text = eventually("the children run", PATIENCE, || fs::read_to_string(file).ok());
    let pids: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(pids.len(), 3);
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    pids
}

#[track_caller]
fn wait_gone(pids: &[u32], patience: Duration) {
    wait_until(&format!("processes {pids:?} are gone"), patience, || {
        !pids.iter().any(|pid| is_alive(*pid))
    });
}

#[test]
fn everything_of_a_closed_tab_is_gone_within_a_second() {
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let file = daemon.home().join("pids");
    let tab = link.open_sh(&stubborn(&file));
    let pids = stubborn_pids(&file);
    link.call("tab.close", json!({ "tab_id": tab }));
    wait_gone(&pids, SOON);
}

#[test]
fn everything_of_a_deleted_project_is_gone_within_a_second() {
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let stays = link.open(json!({ "argv": ["/bin/cat"] }));
    let project = link.project("short", daemon.home().path());
    let mut pids = Vec::new();
    for number in 0..3 {
        let file = daemon.home().join(&format!("pids{number}"));
        let argv = ["/bin/sh", "-c", &stubborn(&file)];
        link.open(json!({ "project_id": project, "argv": argv }));
        pids.extend(stubborn_pids(&file));
    }
    link.call("events.subscribe", json!({}));
    link.call("project.delete", json!({ "project_id": project }));
    wait_gone(&pids, SOON);
    let names: Vec<Value> = link.events().iter().map(|event| event["event"].clone()).collect();
    let closed = "tab.closed";
    assert_eq!(names, [closed, closed, closed, "project.deleted", "active.changed"]);
    assert_eq!(link.selected().1, stays);
}

#[test]
fn a_tab_closed_just_before_the_daemon_is_killed_stays_closed() {
    let mut daemon = TestDaemon::start();
    let kept = Link::to(daemon.home()).open(json!({ "argv": ["/bin/cat"] }));
    for round in 0..20 {
        let mut link = Link::to(daemon.home());
        let file = daemon.home().join(&format!("pids{round}"));
        let tab = link.open_sh(&stubborn(&file));
        let pids = stubborn_pids(&file);
        let id = link.post("tab.close", json!({ "tab_id": tab }));
        // Every other time the answer is not waited for.
        let is_answered = round % 2 == 0;
        if is_answered {
            assert_eq!(link.reply(&id)["ok"], true);
        }
        daemon.kill9();
        daemon.restart();
        let mut link = Link::to(daemon.home());
        let found = link.tab(&tab);
        assert!(found.is_none() || !is_answered, "{found:?} came back in round {round}");
        if found.is_some() {
            link.call("tab.close", json!({ "tab_id": tab }));
        }
        wait_gone(&pids, SOON);
        let terminals = daemon.client().terminals();
        let ids: Vec<String> = terminals.iter().map(|it| it["id"].to_string()).collect();
        assert_eq!(ids, [kept.as_str()], "{terminals:?}");
    }
}

/// Two projects, the second shown first, with tabs in an order that is not that of their numbers.
fn furnish(link: &mut Link, home: &Home) -> Value {
    let dirs = ["one", "two"].map(|name| home.join(name));
    dirs.iter().for_each(|dir| fs::create_dir(dir).unwrap());
    let one = link.project("first", &dirs[0]);
    let two = link.project("second", &dirs[1]);
    let mut tabs = Vec::new();
    for project in [&one, &one, &one, &two, &two] {
        tabs.push(link.open(json!({ "project_id": project, "argv": ["/bin/cat"] })));
    }
    let [a, b, c, d, e] = <[String; 5]>::try_from(tabs).unwrap();
    link.call("tab.set_title", json!({ "tab_id": a, "title": "pinned one" }));
    link.call("tab.set_title", json!({ "tab_id": e, "title": "pinned two" }));
    let report = json!({
        "tab_id": b, "source": "claude", "session_id": "s1", "ownership_action": "claim",
        "lifecycle": "waiting", "attention": "set", "severity": "warn", "title": "Claude",
        "body": "needs you", "detail": "permission_prompt", "metadata": { "model": "m" },
    });
    assert_eq!(link.call("tab.agent_report", report)["accepted"], true);
    link.call("notification.create", json!({ "tab_id": d, "title": "built", "body": "all of it" }));
    link.call("tab.set_state", json!({ "tab_id": c, "state": "running" }));
    link.call("tab.reorder", json!({ "project_id": one, "tab_ids": [c, a, b] }));
    link.call("project.reorder", json!({ "project_ids": [two, one] }));
    link.call("tab.focus", json!({ "tab_id": a }));
    link.list()
}

fn inbox(link: &mut Link) -> Value {
    link.call("palette.open", json!({}));
    let shown = link.call("palette.activate", json!({ "id": "view_notifications" }));
    link.call("palette.dismiss", json!({}));
    shown["items"].clone()
}

#[test]
fn tabs_are_as_they_were_after_the_daemon_was_killed() {
    let mut daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let before = furnish(&mut link, daemon.home());
    let (selected, waiting) = (link.selected(), inbox(&mut link));
    assert_eq!(before["projects"][1]["tabs"][2]["state"], "needs_input");
    assert_eq!(before["projects"][1]["tabs"][2]["ownership"]["detail"], "permission_prompt");
    assert_eq!(waiting.as_array().unwrap().len(), 2, "{waiting}");
    for _ in 0..3 {
        daemon.kill9();
        daemon.restart();
        let mut link = Link::to(daemon.home());
        assert_eq!(link.list(), before);
        assert_eq!(link.selected(), selected);
        assert_eq!(inbox(&mut link), waiting);
    }
    let mut link = Link::to(daemon.home());
    let tab = before["projects"][1]["tabs"][2]["id"].as_str().unwrap();
    link.write(tab, b"still here\n");
    link.wait_row(tab, "still here");
    link.call("tab.clear_notification", json!({ "tab_id": tab }));
    assert_eq!(link.tab(tab).unwrap()["has_notification"], false);
    assert_eq!(inbox(&mut link).as_array().unwrap().len(), 1);
}

/// What a machine's restart must not change: names, directories, order and titles of one's own.
fn furniture(list: &Value) -> Value {
    let projects = list["projects"].as_array().unwrap().iter().map(|project| {
        let tabs = project["tabs"].as_array().unwrap().iter().map(|tab| {
            let title = if tab["user_titled"] == true { tab["title"].clone() } else { Value::Null };
            json!({ "cwd": tab["cwd"], "title": title, "active": tab["is_active"] })
        });
        json!({ "id": project["id"], "name": project["name"], "cwd": project["cwd"],
            "tabs": tabs.collect::<Vec<_>>() })
    });
    Value::Array(projects.collect())
}

#[test]
fn tabs_are_fresh_shells_in_their_places_after_a_restart_of_the_machine() {
    let mut daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    furnish(&mut link, daemon.home());
    let deep = daemon.home().join("deep/er");
    fs::create_dir_all(&deep).unwrap();
    let wanders = format!("printf '\\033]7;file://host{}\\033\\\\'; exec cat", deep.display());
    let tab = link.open_sh(&wanders);
    link.wait_tab(&tab, "cwd", &json!(deep));
    let before = link.list();
    let keeper = daemon.keeper_pid();
    daemon.kill9();
    daemon.kill_process(keeper);
    wait_until("nothing is left", PATIENCE, || daemon.home().processes().is_empty());
    for _ in 0..2 {
        daemon.restart();
        let mut link = Link::to(daemon.home());
        let after = link.list();
        assert_eq!(furniture(&after), furniture(&before));
        for tab in after["projects"].as_array().unwrap().iter().flat_map(tabs_of) {
            assert_eq!((&tab["state"], &tab["has_notification"]), (&json!("none"), &json!(false)));
            let id = tab["id"].as_str().unwrap();
            link.write(id, b"echo \"= $((6*7)) $(pwd) $TERM_PROGRAM $FORCE_HYPERLINK\"\n");
            let told = format!("= 42 {} Roost 1", tab["cwd"].as_str().unwrap());
            link.wait_row(id, &told);
        }
        // A restart of the daemon alone keeps them.
        daemon.kill9();
    }
}

fn tabs_of(project: &Value) -> &Vec<Value> {
    project["tabs"].as_array().unwrap()
}

/// A client in a process of its own, which is killed and reaped whatever happens.
struct Client(Child);

impl Client {
    fn asks(home: &Home, items: &Value) -> Client {
        let mut command = home.command(rookery_binary());
        command.args(["roostctl", "palette", "present", "--title", "Which one?", "--items"]);
        command.arg(items.to_string()).stdout(Stdio::piped());
        Client(command.spawn().unwrap())
    }

    fn kill9(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// What it printed by its end.
    fn printed(&mut self) -> String {
        let status = eventually("the client ends", PATIENCE, || self.0.try_wait().unwrap());
        assert!(status.success(), "{status}");
        std::io::read_to_string(self.0.stdout.take().unwrap()).unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn frame(link: &mut Link) -> Value {
    link.call("palette.state", json!({}))["frame"].clone()
}

#[test]
fn a_question_goes_with_the_process_that_asked_it() {
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let items = json!([{ "id": "a", "title": "One" }, { "id": "b", "title": "Two" }]);
    for _ in 0..3 {
        let mut client = Client::asks(daemon.home(), &items);
        wait_until("it is asked", PATIENCE, || frame(&mut link) == "present");
        client.kill9();
        wait_until("it is taken back", PATIENCE, || frame(&mut link).is_null());
        assert_eq!(link.call("palette.state", json!({}))["open"], false);
        assert_eq!(link.refused("palette.activate", json!({ "id": "a" })), "not-found");
    }
    // One that replaced the question is not taken back with it.
    let mut first = Client::asks(daemon.home(), &items);
    wait_until("it is asked", PATIENCE, || frame(&mut link) == "present");
    link.call("palette.open", json!({ "kind": "launcher" }));
    assert_eq!(first.printed(), "");
    assert_eq!(frame(&mut link), "launcher");
}

/// Two clients pick a row of the palette at the same moment; returns who was heard.
fn both_pick(home: &Home, rows: [&str; 2]) -> Vec<String> {
    let socket = socket(home);
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        let pick = |row: &str| {
            let mut link = Link::soon(&socket);
            barrier.wait();
            link.ask("palette.activate", json!({ "id": row }))
        };
        let [one, two] = rows.map(|row| (row, scope.spawn(move || pick(row))));
        let mut heard = Vec::new();
        for (row, picked) in [one, two] {
            let reply = picked.join().unwrap();
            if reply["ok"] == true {
                heard.push(row.to_owned());
            } else {
                assert_eq!(reply["error"]["code"], "not-found", "{reply}");
            }
        }
        heard
    })
}

#[test]
fn two_answers_to_one_question_have_one_effect() {
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let items = json!([{ "id": "a", "title": "One" }, { "id": "b", "title": "Two" }]);
    for _ in 0..20 {
        let id = link.post("palette.present", json!({ "items": items }));
        wait_until("it is asked", PATIENCE, || frame(&mut link) == "present");
        let heard = both_pick(daemon.home(), ["a", "b"]);
        assert_eq!(heard.len(), 1, "{heard:?}");
        let answer = link.reply(&id)["result"].clone();
        assert_eq!(answer, json!({ "selected_id": heard[0], "dismissed": false }));
    }
    // A row that does something does it once.
    link.open(json!({ "argv": ["/bin/cat"] }));
    for tabs in 2..7 {
        link.call("palette.open", json!({}));
        let heard = both_pick(daemon.home(), ["new_tab", "new_tab"]);
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert_eq!(tabs_of(&link.list()["projects"][0]).len(), tabs);
    }
}

#[test]
fn a_stop_waits_for_what_is_being_closed() {
    let mut daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let file = daemon.home().join("pids");
    let tab = link.open_sh(&stubborn(&file));
    let pids = stubborn_pids(&file);
    link.call("tab.close", json!({ "tab_id": tab }));
    daemon.rookery(&["down"]).success();
    daemon.wait_ended();
    assert!(!pids.iter().any(|pid| is_alive(*pid)), "{pids:?} live on");
    daemon.home().assert_no_processes_left();
}

#[test]
fn a_tab_opens_although_its_usual_project_goes_meanwhile() {
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let mut tab = link.open(json!({ "argv": ["/bin/cat"] }));
    for _ in 0..40 {
        // The last tab of the only project ends while the next one is started.
        let ended = link.post("tab.write", json!({ "tab_id": tab, "data": "BA==" }));
        let opened = link.post("tab.open", json!({ "argv": ["/bin/cat"] }));
        link.reply(&ended);
        let reply = link.reply(&opened);
        assert_eq!(reply["ok"], true, "{reply}");
        tab = reply["result"]["tab"]["id"].as_str().unwrap().to_owned();
    }
}

#[test]
fn one_who_only_listens_may_stop_talking() {
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let tab = link.open(json!({ "argv": ["/bin/cat"] }));
    let mut listener = Link::to(daemon.home());
    listener.call("events.subscribe", json!({}));
    listener.stop_talking();
    for title in ["one", "two"] {
        link.call("tab.set_title", json!({ "tab_id": tab, "title": title }));
        let event = listener.line().unwrap();
        assert_eq!(event["data"]["title"], title, "{event}");
    }
}
