//! While nothing changes, nothing is sent and nothing wakes.

use std::fs;

use rookery_testkit::{PATIENCE, TestDaemon, eventually};
use serde_json::{Value, json};

use super::{Link, shows, terminal};

/// How often the threads of a process went to sleep so far.
fn sleeps(pid: u32) -> u64 {
    let count = |status: String| {
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?;
        line.split_whitespace().last()?.parse::<u64>().ok()
    };
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let read = |path: std::path::PathBuf| fs::read_to_string(path.join("status")).ok();
    threads.filter_map(|thread| count(read(thread.path())?)).sum()
}

/// Looks between which a sleeping process must not have woken.
const QUIET_LOOKS: u32 = 250;

/// Waits until no thread of a process wakes any more.
pub(crate) fn wait_asleep(pid: u32) {
    let (mut last, mut quiet) = (sleeps(pid), 0);
    eventually("the process sleeps", PATIENCE, || {
        let now = sleeps(pid);
        quiet = if now == last { quiet + 1 } else { 0 };
        last = now;
        (quiet >= QUIET_LOOKS).then_some(())
    });
}

#[test]
fn an_idle_world_sends_no_frame_and_wakes_no_thread() {
    let daemon = TestDaemon::start();
    let tabs: Vec<u64> = (0..8).map(|_| terminal(&daemon, "echo up; cat")).collect();
    let last = *tabs.last().unwrap();
    let size = json!({"cols": 81, "rows": 24});
    let mut desk = Link::open(&daemon, json!({"size": size}));
    desk.call("rookery/view/focus", json!({"n": 1, "has": true}));
    desk.call("rookery/view/pane", json!({"split": "right"}));
    let mut phone = Link::open(&daemon, json!({"face": "web", "fit": "follow"}));
    let mut inbox = Link::open(&daemon, json!({"rights": "look", "place": {"page": "inbox"}}));
    let place = json!({"page": "workspace", "terminal": last});
    let mut other = Link::open(&daemon, json!({"place": place}));
    other.wait_frame(|frame| shows(frame, "up"));
    for link in [&mut desk, &mut phone, &mut inbox, &mut other] {
        link.round_trip();
    }
    wait_asleep(daemon.pid());
    // Whatever came until it fell asleep; and since then nothing, although it was asked.
    for link in [&mut desk, &mut phone, &mut inbox, &mut other] {
        link.round_trip();
        link.frames.clear();
        link.round_trip();
        assert_eq!(link.frames, Vec::<Value>::new());
    }
    other.call("rookery/view/text", json!({"n": 1, "t": last, "text": "awake\r"}));
    other.wait_frame(|frame| shows(frame, "awake"));
}
