//! Events of the Roost dialect: each once, in order, also for those who come back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rookery_testkit::{PATIENCE, Random, TestDaemon, wait_until};
use serde_json::{Value, json};

use crate::roost_link::{Link, encoded, socket};

/// How many titles are set.
const TITLES: usize = 1000;

fn title(number: usize) -> String {
    format!("title {number}")
}

fn titles() -> Vec<String> {
    (0..TITLES).map(title).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

fn title_of(event: &Value) -> String {
    assert_eq!(event["event"], "tab.title_changed", "{event}");
    event["data"]["title"].as_str().unwrap().to_owned()
}

#[test]
fn a_thousand_titles_are_reported_once_and_in_order() {
    let daemon = TestDaemon::start();
    let mut client = Link::to(daemon.home());
    let tab = client.open(json!({ "argv": ["/bin/cat"] }));
    let mut plain = Link::to(daemon.home());
    assert_eq!(plain.call("events.subscribe", json!({})), json!({}));
    let mut numbered = Link::to(daemon.home());
    let newest = numbered.call("events.subscribe", json!({ "since": "-1" }))["seq"].clone();
    let ids: Vec<String> = titles()
        .iter()
        .map(|title| client.post("tab.set_title", json!({ "tab_id": tab, "title": title })))
        .collect();
    for id in ids {
        assert_eq!(client.reply(&id)["ok"], true);
    }
    let frame = |number| json!({ "tab_id": tab, "title": title(number) });
    let told = plain.events();
    let wanted: Vec<Value> = (0..TITLES)
        .map(|number| json!({ "event": "tab.title_changed", "data": frame(number) }))
        .collect();
    assert_eq!(told, wanted);
    let newest: u64 = newest.as_str().unwrap().parse().unwrap();
    let with_number = |(number, event): (u64, &Value)| {
        let mut event = event.clone();
        event["seq"] = json!((newest + number).to_string());
        event
    };
    let wanted: Vec<Value> = (1..).zip(&wanted).map(with_number).collect();
    assert_eq!(numbered.events(), wanted);
}

/// Sets titles one after the other, each again until it is answered.
fn set_titles(socket: PathBuf, tab: String, answered: Arc<AtomicUsize>) {
    let mut client = Link::soon(&socket);
    for number in 0..TITLES {
        loop {
            let params = json!({ "tab_id": tab, "title": title(number) });
            let posted = client.try_post("tab.set_title", params);
            if let Some(reply) = posted.and_then(|id| client.try_reply(&id)) {
                assert_eq!(reply["ok"], true, "{reply}");
                break;
            }
            client = Link::soon(&socket);
        }
        answered.store(number + 1, Ordering::SeqCst);
    }
}

/// Follows the numbered events up to the last title, over as many connections as it takes.
fn follow(mut link: Link, socket: PathBuf, newest: u64) -> Vec<(u64, String)> {
    let mut seen: Vec<(u64, String)> = Vec::new();
    while seen.last().is_none_or(|(_, told)| *told != title(TITLES - 1)) {
        if let Some(event) = link.line() {
            let number = event["seq"].as_str().unwrap().parse().unwrap();
            seen.push((number, title_of(&event)));
            continue;
        }
        link = Link::soon(&socket);
        let since = seen.last().map_or(newest, |(number, _)| *number).to_string();
        // Nothing was read from a connection that ended before its reply.
        let posted = link.try_post("events.subscribe", json!({ "since": since }));
        if let Some(reply) = posted.and_then(|id| link.try_reply(&id)) {
            assert_eq!(reply["ok"], true, "{reply}");
        }
    }
    seen
}

#[test]
fn kill_9_between_a_thousand_titles_loses_and_repeats_none() {
    let seed = Random::seed("ROOKERY_CRASH_SEED");
    eprintln!("titles: ROOKERY_CRASH_SEED={seed}");
    let mut random = Random::new(seed);
    let mut daemon = TestDaemon::start();
    let socket = socket(daemon.home());
    let tab = Link::to(daemon.home()).open(json!({ "argv": ["/bin/cat"] }));
    let mut link = Link::to(daemon.home());
    let newest = link.call("events.subscribe", json!({ "since": "-1" }))["seq"].clone();
    let newest = newest.as_str().unwrap().parse().unwrap();
    let answered = Arc::new(AtomicUsize::new(0));
    let follower = thread::spawn({
        let socket = socket.clone();
        move || follow(link, socket, newest)
    });
    let setter = thread::spawn({
        let (tab, answered) = (tab.clone(), Arc::clone(&answered));
        move || set_titles(socket, tab, answered)
    });
    for round in 0..5 {
        let wanted = round * 180 + 40 + random.below(120) as usize;
        wait_until("titles are set", PATIENCE, || answered.load(Ordering::SeqCst) >= wanted);
        daemon.kill9();
        daemon.restart();
    }
    setter.join().unwrap();
    let seen = follower.join().unwrap();
    let (numbers, told): (Vec<u64>, Vec<String>) = seen.into_iter().unzip();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    assert_eq!(told, titles());
    assert_eq!(Link::to(daemon.home()).tab(&tab).unwrap()["title"], title(TITLES - 1));
    // A second reading gives the same.
    let mut again = Link::to(daemon.home());
    again.call("events.subscribe", json!({ "since": newest.to_string() }));
    let all: Vec<String> = again.events().iter().map(title_of).collect();
    assert_eq!(all, titles());
}

/// Invalid requests, and how each is refused.
fn bad_opens() -> [(Value, &'static str); 9] {
    let sh = json!(["/bin/sh"]);
    [
        (json!({ "cols": 70_000, "argv": sh }), "invalid-param"),
        (json!({ "rows": 70_000, "argv": sh }), "invalid-param"),
        (json!({ "rows": 65_536 }), "invalid-param"),
        (json!({ "argv": ["/no/such/program"] }), "internal"),
        (json!({ "argv": ["no-such-program-anywhere"] }), "internal"),
        (json!({ "argv": ["/"] }), "internal"),
        (json!({ "argv": ["/etc/passwd"] }), "internal"),
        (json!({ "argv": [""] }), "internal"),
        (json!({ "project_id": "987654", "argv": sh }), "not-found"),
    ]
}

#[test]
fn a_tab_that_cannot_be_opened_leaves_everything_as_it_was() {
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    link.call("events.subscribe", json!({}));
    let refuse_all = |link: &mut Link| {
        let (list, selected) = (link.list(), link.selected());
        for (params, code) in bad_opens() {
            assert_eq!(link.refused("tab.open", params.clone()), code, "{params}");
            assert_eq!(
                (link.list(), link.selected()),
                (list.clone(), selected.clone()),
                "{params}"
            );
            assert_eq!(link.events(), Vec::<Value>::new(), "{params}");
        }
    };
    refuse_all(&mut link);
    assert_eq!(link.selected(), (json!("0"), json!("0")));
    let first = link.open(json!({ "argv": ["/bin/cat"] }));
    let project = link.project("other", daemon.home().path());
    let second = link.open(json!({ "project_id": project, "argv": ["/bin/cat"] }));
    link.open(json!({ "project_id": project, "argv": ["/bin/cat"] }));
    for chosen in [first, second] {
        link.call("tab.focus", json!({ "tab_id": chosen }));
        link.events();
        refuse_all(&mut link);
    }
    // Nothing of them is left among the processes either: keeper, daemon and three cats.
    wait_until("only the tabs' processes are there", PATIENCE, || {
        daemon.home().processes().len() == 5
    });
}

#[test]
fn bad_requests_between_good_ones_change_nothing_for_those() {
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    link.call("events.subscribe", json!({}));
    let mut asked = Vec::new();
    for (params, code) in bad_opens() {
        asked.push((link.post("tab.open", params), Some(code)));
        asked.push((link.post("tab.open", json!({ "argv": ["/bin/cat"] })), None));
    }
    let mut opened = Vec::new();
    for (id, code) in asked {
        let reply = link.reply(&id);
        match code {
            Some(code) => assert_eq!(reply["error"]["code"], code, "{reply}"),
            None => opened.push(reply["result"]["tab"].clone()),
        }
    }
    let events = link.events();
    let mut wanted = vec!["project.created", "active.changed"];
    opened.iter().for_each(|_| wanted.extend(["tab.opened", "active.changed"]));
    assert_eq!(names(&events), wanted);
    let told: Vec<&Value> = events
        .iter()
        .filter(|event| event["event"] == "tab.opened")
        .map(|event| &event["data"]["tab"])
        .collect();
    assert_eq!(told, opened.iter().collect::<Vec<_>>());
    let list = link.list();
    let tabs = list["projects"][0]["tabs"].as_array().unwrap();
    let ids = |tabs: &[Value]| tabs.iter().map(|tab| tab["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(tabs), ids(&opened));
    assert_eq!(link.selected().1, opened.last().unwrap()["id"]);
}

/// What a client knows that reads nothing but events.
#[derive(Debug, Default, PartialEq)]
struct Known {
    projects: BTreeMap<String, String>,
    tabs: BTreeMap<String, Value>,
    selected: (Value, Value),
}

/// What events tell of a tab.
const TOLD: [&str; 6] = ["project_id", "title", "cwd", "state", "has_notification", "hook_active"];

fn told_of(tab: &Value) -> Value {
    TOLD.iter().map(|key| ((*key).to_owned(), tab[key].clone())).collect()
}

impl Known {
    fn from_list(list: &Value, selected: (Value, Value)) -> Known {
        let mut known = Known { selected, ..Known::default() };
        for project in list["projects"].as_array().unwrap() {
            let text = |key: &str| project[key].as_str().unwrap().to_owned();
            known.projects.insert(text("id"), text("name"));
            let tabs = project["tabs"].as_array().unwrap();
            let tabs =
                tabs.iter().map(|tab| (tab["id"].as_str().unwrap().to_owned(), told_of(tab)));
            known.tabs.extend(tabs);
        }
        known
    }

    fn hear(&mut self, event: &Value) {
        let data = &event["data"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut set = |key: &str, value: &Value| {
            let tab = self.tabs.get_mut(data["tab_id"].as_str().unwrap());
            tab.unwrap_or_else(|| panic!("{event} is about a tab that is not there"))[key] =
                value.clone();
        };
        match event["event"].as_str().unwrap() {
            "project.created" => {
                let (id, name) = (text(&data["project"]["id"]), text(&data["project"]["name"]));
                assert_eq!(self.projects.insert(id, name), None, "{event}");
            }
            "project.renamed" => {
                self.projects.insert(text(&data["project_id"]), text(&data["name"]));
            }
            "project.deleted" => {
                self.projects.remove(&text(&data["project_id"])).unwrap();
                let is_in = |tab: &Value| tab["project_id"] == data["project_id"];
                assert!(!self.tabs.values().any(is_in), "{event} comes before its tabs");
            }
            "tab.opened" => {
                let before = self.tabs.insert(text(&data["tab"]["id"]), told_of(&data["tab"]));
                assert_eq!(before, None, "{event}");
            }
            "tab.closed" => drop(self.tabs.remove(&text(&data["tab_id"])).unwrap()),
            "tab.title_changed" => set("title", &data["title"]),
            "tab.cwd_changed" => set("cwd", &data["cwd"]),
            "tab.state_changed" => set("state", &data["state"]),
            "tab.notification" => set("has_notification", &data["has_pending"]),
            "hook_active.changed" => set("hook_active", &data["active"]),
            "active.changed" => {
                self.selected = (data["project_id"].clone(), data["tab_id"].clone());
            }
            "notification.fired" => assert!(data["title"].is_string(), "{event}"),
            "agent_report.changed" => {
                set("state", &data["state"]);
                set("hook_active", &data["hook_active"]);
            }
            other => panic!("there is no event {other}"),
        }
    }
}

/// Does something to one of the tabs or projects, if there is one.
fn do_something(link: &mut Link, random: &mut Random, number: u64) {
    let list = link.list();
    let projects = list["projects"].as_array().unwrap();
    let tabs: Vec<&Value> =
        projects.iter().flat_map(|project| project["tabs"].as_array().unwrap()).collect();
    let name = format!("name {number}");
    if tabs.is_empty() {
        link.call("tab.open", json!({ "argv": ["/bin/cat"], "title": name }));
        return;
    }
    let project = random.choose(projects)["id"].clone();
    let tab = random.choose(&tabs)["id"].clone();
    let state = *random.choose(&["none", "running", "needs_input", "idle"]);
    let flag = random.below(2) == 0;
    // Output of a program comes at any time; it is not waited for here.
    let said = *random.choose(&["2;said", "7;file://h/usr", "9;told", "133;A", "133;C", "133;D"]);
    let data = encoded(format!("\x1b]{said} {number}\x07\n").as_bytes());
    let report = json!({
        "tab_id": tab, "source": "claude", "session_id": "s", "ownership_action": "claim",
        "lifecycle": "working", "attention": "set", "title": name, "body": name,
    });
    let choices = [
        ("project.create", json!({ "name": name })),
        ("project.rename", json!({ "project_id": project, "name": name })),
        ("project.delete", json!({ "project_id": project })),
        ("tab.open", json!({ "project_id": project, "argv": ["/bin/cat"] })),
        ("tab.open", json!({ "project_id": project, "argv": ["/bin/cat"], "title": name })),
        ("tab.open", json!({ "project_id": project, "argv": ["/bin/cat"], "title": name })),
        ("tab.close", json!({ "tab_id": tab })),
        ("tab.focus", json!({ "tab_id": tab })),
        ("tab.set_title", json!({ "tab_id": tab, "title": name })),
        ("tab.set_state", json!({ "tab_id": tab, "state": state })),
        ("tab.set_hook_active", json!({ "tab_id": tab, "active": flag })),
        ("tab.clear_notification", json!({ "tab_id": tab })),
        ("notification.create", json!({ "tab_id": tab, "title": name })),
        ("tab.agent_report", report),
        ("tab.write", json!({ "tab_id": tab, "data": data })),
        ("tab.write", json!({ "tab_id": tab, "data": data })),
        ("tab.write", json!({ "tab_id": tab, "data": encoded(b"\x04") })),
    ];
    let (op, params) = random.choose(&choices).clone();
    let reply = link.ask(op, params.clone());
    // The program may have ended, and its tab with it, since the list was made.
    let is_gone = reply["error"]["code"] == "not-found";
    assert!(reply["ok"] == true || is_gone, "{op} {params}: {reply}");
}

#[test]
fn who_hears_every_event_knows_what_the_list_shows() {
    let seed = Random::seed("ROOKERY_CRASH_SEED");
    eprintln!("list and events: ROOKERY_CRASH_SEED={seed}");
    let mut random = Random::new(seed);
    let mut daemon = TestDaemon::start();
    let mut known = Known { selected: (json!("0"), json!("0")), ..Known::default() };
    let mut last = "0".to_owned();
    for round in 0..12 {
        let mut link = Link::to(daemon.home());
        (0..40).for_each(|number| do_something(&mut link, &mut random, round * 40 + number));
        // Some come back to events of a daemon that is gone.
        if round % 3 == 2 {
            let keeper = daemon.keeper_pid();
            daemon.kill9();
            if round % 2 == 1 {
                daemon.kill_process(keeper);
            }
            daemon.restart();
        }
        let mut follower = Link::to(daemon.home());
        follower.call("events.subscribe", json!({ "since": last }));
        let mut shown = String::new();
        wait_until("events and list agree", PATIENCE, || {
            for event in follower.events() {
                known.hear(&event);
                event["seq"].as_str().unwrap().clone_into(&mut last);
            }
            let listed = Known::from_list(&follower.list(), follower.selected());
            let differs = format!("round {round}: told {known:?}\nlisted {listed:?}");
            if known != listed && differs != shown {
                eprintln!("{differs}");
                shown = differs;
            }
            // Programs may still be talking, so that the list is ahead for a moment.
            known == listed
        });
    }
}
