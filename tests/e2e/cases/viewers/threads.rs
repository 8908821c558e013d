//! A thread that a viewer has open while it goes on.

use rookery_testkit::{PATIENCE, TestDaemon, eventually};
use serde_json::{Value, json};

use super::Link;
use crate::roder_link::{Peer, script};

/// An open thread as a face puts it together.
struct Page {
    thread: String,
    items: Vec<Value>,
    /// Frames that were taken.
    taken: usize,
}

impl Page {
    fn open(link: &mut Link, thread: &str) -> Page {
        let shown = link.call("rookery/view/thread/open", json!({"thread": thread}));
        let items = shown["items"].as_array().unwrap().clone();
        // Frames come behind the reply.
        Page {
            thread: shown["thread"].as_str().unwrap().to_owned(),
            items,
            taken: link.frames.len(),
        }
    }

    fn take(&mut self, frame: &Value) {
        for news in frame["threads"].as_array().into_iter().flatten() {
            assert_eq!(news["thread"], self.thread);
            let id = match &news["item"] {
                Value::String(id) if !id.is_empty() => id.clone(),
                _ => continue,
            };
            let known = self.items.iter_mut().find(|item| item["id"] == id);
            if let Some(whole) = news.get("whole") {
                match known {
                    Some(item) => *item = whole.clone(),
                    None => self.items.push(whole.clone()),
                }
                continue;
            }
            let item = known.expect("an item that grows was told of before");
            let from = usize::try_from(news["from"].as_u64().unwrap()).unwrap();
            let blocks = item["blocks"].as_array_mut().expect("it has blocks");
            assert!(from <= blocks.len(), "{news}");
            blocks.truncate(from);
            blocks.extend(news["blocks"].as_array().unwrap().iter().cloned());
        }
    }

    /// Reads frames until what was put together is as wanted.
    #[track_caller]
    fn wait(&mut self, link: &mut Link, is_it: impl Fn(&[Value]) -> bool) {
        loop {
            let new: Vec<Value> = link.frames[self.taken..].to_vec();
            self.taken += new.len();
            new.iter().for_each(|frame| self.take(frame));
            if is_it(&self.items) {
                return;
            }
            let message = link.lines.next_json().expect("the connection is open");
            link.take(message);
        }
    }
}

fn says(items: &[Value], text: &str) -> bool {
    items.iter().any(|item| item["kind"] == "agent" && item["blocks"].to_string().contains(text))
}

#[test]
fn a_thread_that_is_opened_while_it_is_written_has_its_beginning() {
    let daemon = TestDaemon::start();
    let mut roder = Peer::to(&daemon);
    let thread = roder.thread(daemon.home().path());
    let words: Vec<String> = (0..40).map(|number| format!("word{number}")).collect();
    let text = format!("# Begin\n\n{}\n\nthe end", words.join(" "));
    let step = json!([{ "text": text, "chunks": 20, "delayMs": 100 }]);
    let turn = roder.turn(&thread, &script(&step));
    let mut link = Link::open(&daemon, json!({}));
    let mut page = eventually("it is being written", PATIENCE, || {
        let page = Page::open(&mut link, &thread);
        says(&page.items, "Begin").then_some(page)
    });
    page.wait(&mut link, |items| says(items, "the end"));
    roder.until_over(&turn);
    page.wait(&mut link, |items| items.iter().all(|item| item["status"] == "done"));
    let whole = Page::open(&mut link, &thread);
    assert_eq!(page.items, whole.items);
}

#[test]
fn a_request_shows_in_the_item_of_its_call_while_it_waits() {
    let daemon = TestDaemon::start();
    let mut roder = Peer::to(&daemon);
    let thread = roder.thread(daemon.home().path());
    let mut link = Link::open(&daemon, json!({}));
    let mut page = Page::open(&mut link, &thread);
    let write = json!({"path": "made", "content": "x"});
    let steps = json!([{"text": "I write", "tool": "write_file", "args": write}, {"hang": true}]);
    roder.turn(&thread, &script(&steps));
    let waits = |item: &Value| item["status"] == "waiting" && item["request"].is_string();
    page.wait(&mut link, |items| items.iter().any(waits));
    let request = page.items.iter().find(|item| waits(item)).unwrap()["request"].clone();
    link.call("rookery/requests/answer", json!({"id": request, "approved": true}));
    // The turn goes on, and the item does not say that it waits.
    page.wait(&mut link, |items| {
        items.iter().any(|item| item["kind"] == "edit" && item["status"] == "done")
    });
    assert!(!page.items.iter().any(waits), "{:?}", page.items);
    assert!(!page.items.iter().any(|item| item.get("request").is_some()));
}

#[test]
fn a_page_that_was_left_tells_no_more_of_its_thread() {
    let daemon = TestDaemon::start();
    let mut roder = Peer::to(&daemon);
    let thread = roder.thread(daemon.home().path());
    let mut link = Link::open(&daemon, json!({}));
    link.call("rookery/view/go", json!({"page": "thread", "thread": thread}));
    let mut page = Page::open(&mut link, &thread);
    let turn = roder.turn(&thread, "one");
    roder.until_over(&turn);
    page.wait(&mut link, |items| items.iter().any(|item| item["kind"] == "agent"));
    link.call("rookery/view/go", json!({"page": "inbox"}));
    link.wait_frame(|frame| frame["scene"]["page"]["page"] == "inbox");
    link.frames.clear();
    let turn = roder.turn(&thread, "two");
    roder.until_over(&turn);
    link.round_trip();
    assert!(link.frames.iter().all(|frame| frame.get("threads").is_none()), "{:?}", link.frames);
    // One that is gone is no page.
    let gone = "01900000-0000-7000-8000-000000000000";
    let refused = link.try_call("rookery/view/go", json!({"page": "thread", "thread": gone}));
    assert_eq!(refused["error"]["code"], -32010, "{refused}");
}

#[test]
fn an_edit_shows_what_it_changed_as_it_happens_and_later() {
    let daemon = TestDaemon::start();
    let (mut roder, thread, _) = crate::face::agent(&daemon, "work");
    let place = json!({"page": "thread", "thread": thread});
    let mut link = Link::open(&daemon, json!({"place": place}));
    let mut page = Page::open(&mut link, &thread);
    let turn = roder.turn(&thread, &crate::face::write_steps("made", "one\ntwo\n"));
    roder.wait_told("thread/approvalRequested");
    let asked = link.call("rookery/requests/list", json!({}));
    let request = asked["requests"][0]["id"].as_str().unwrap().to_owned();
    daemon.rookery(&["approve", &request]).success();
    roder.until_over(&turn);
    let is_shown = |item: &Value| {
        let file = &item["diff"][0];
        file["path"] == "made" && file["status"] == "added" && file["added"] == 2
    };
    page.wait(&mut link, |items| items.iter().any(is_shown));
    let opened = link.call("rookery/view/thread/open", json!({"thread": thread}));
    let items = opened["items"].as_array().unwrap();
    let edit = items.iter().find(|item| is_shown(item)).expect("the edit with its diff");
    let whole = json!({"thread": thread, "item": edit["id"], "file": "made"});
    let diff = link.call("rookery/view/diff", whole);
    assert_eq!(diff["files"][0]["hunks"][0]["lines"][1]["text"], "two", "{diff}");
}

#[test]
fn files_that_differ_are_counted_where_a_thread_works() {
    let daemon = TestDaemon::start();
    let (_roder, thread, dir) = crate::face::agent(&daemon, "work");
    rookery_testkit::git(&dir, &["init", "-q"]);
    for name in ["a", "b", "c"] {
        std::fs::write(dir.join(name), "new\n").unwrap();
    }
    let client = daemon.client();
    client.call("rookery/projects/create", json!({"name": "work", "root": dir}));
    let mut link = Link::open(&daemon, json!({}));
    link.wait_frame(|frame| {
        let projects = frame["scene"]["sidebar"]["projects"].as_array().into_iter().flatten();
        let mut agents =
            projects.flat_map(|it| it["agents"].as_array().cloned().unwrap_or_default());
        agents.any(|agent| agent["thread"] == *thread && agent["changes"] == 3)
    });
}

#[test]
fn a_tool_that_a_client_runs_waits_for_no_person() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    client.call("rookery/projects/create", json!({"name": "here", "root": daemon.home().path()}));
    let mut roder = Peer::to(&daemon);
    let tool = json!({"name": "acme_lookup", "description": "", "parameters": {"type": "object"}});
    let started = roder.call(
        "thread/start",
        json!({"cwd": daemon.home().path(), "externalTools": [tool], "toolAllowlist": ["grep"]}),
    );
    let thread = started["thread"]["id"].as_str().unwrap().to_owned();
    let mut link = Link::open(&daemon, json!({}));
    let steps = json!([{"tool": "acme_lookup", "args": {}, "id": "c1"}, {"text": "found"}]);
    roder.turn(&thread, &script(&steps));
    let asked = roder.wait_told("thread/toolExecutionRequested");

    // Whoever answers is not a person, so none is called.
    let shown = link.call("rookery/view/thread/open", json!({"thread": thread}));
    assert_eq!((&shown["status"], &shown["waiting"]), (&json!("working"), &json!([])), "{shown}");
    let call = shown["items"].as_array().unwrap().iter().find(|item| item["id"] == "c1").unwrap();
    assert_eq!((&call["status"], call.get("request")), (&json!("working"), None), "{call}");
    let working = link.wait_frame(|frame| frame["scene"]["status"]["moods"]["working"] == 1);
    let sidebar = link.wait_frame(|frame| {
        frame["scene"]["sidebar"]["projects"][0]["agents"][0]["mood"] == "working"
    });
    for frame in [&working, &sidebar] {
        let status = &frame["scene"]["status"];
        assert!(status.is_null() || status["waiting"] == 0, "{frame}");
    }
    let listed = link.call("rookery/view/thread/list", json!({}));
    assert_eq!(listed["threads"][0]["waiting"], 0, "{listed}");
    for frame in &link.frames {
        let scene = &frame["scene"];
        assert_ne!(scene["status"]["waiting"], 1, "{frame}");
        for project in scene["sidebar"]["projects"].as_array().into_iter().flatten() {
            assert_eq!(project["waiting"], 0, "{frame}");
        }
    }
    let answer = json!({"requestId": asked["requestId"], "output": "it"});
    roder.call("tools/resolve", answer);
    roder.wait_told("turn/completed");
}
