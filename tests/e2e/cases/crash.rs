//! `kill -9` of the daemon at random moments: nothing is lost, nothing is said twice, nothing is
//! left over and invisible.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rookery_native::wire::{
    Attach, Detach, Dump, Shutdown, Subscribe, TerminalOpen, TerminalWrite,
};
use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};
use rookery_testkit::{
    Caller, PATIENCE, Random, TestDaemon, children_of, eventually, is_alive, wait_until,
};
use rookery_wire::Call as _;
use serde_json::{Value, json};

/// Rows of scrollback that are compared.
const HISTORY: usize = 1000;

fn rounds(default: u64) -> u64 {
    let wanted = std::env::var("ROOKERY_CRASH_ROUNDS").ok().and_then(|text| text.parse().ok());
    wanted.unwrap_or(default)
}

fn random(name: &str) -> Random {
    let seed = Random::seed("ROOKERY_CRASH_SEED");
    eprintln!("{name}: ROOKERY_CRASH_SEED={seed}");
    Random::new(seed)
}

/// A program whose output is known byte for byte, and how it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Prints numbered lines as fast as it can.
    Fast,
    /// Prints numbered lines now and then.
    Slow,
    /// Draws on the alternate screen, with colors and titles, and rests after each title.
    Painter,
    /// The same as fast as it can: its modes are set once, and soon far behind.
    FastPainter,
    /// Ends with this code when it is told to.
    Ends(i32),
}

impl Kind {
    fn script(self, dir: &Path) -> String {
        let stop = dir.join("stop").display().to_string();
        match self {
            Kind::Fast => format!(
                "i=0; while [ ! -e {stop} ]; do n=0; while [ $n -lt 300 ]; do n=$((n+1)); i=$((i+1)); \
                 echo \"line $i\"; done; done; echo \"end $i\"; exec cat"
            ),
            Kind::Slow => format!(
                "i=0; while [ ! -e {stop} ]; do i=$((i+1)); echo \"line $i\"; sleep 0.02; done; \
                 echo \"end $i\"; exec cat"
            ),
            Kind::Painter | Kind::FastPainter => format!(
                r#"i=0; printf '\033[?1049h\033[?2004h'; while [ ! -e {stop} ]; do i=$((i+1));
                printf '\033[%d;%dH\033[38;5;%dmcell %d\033[0m' $((i%20+1)) $((i%60+1)) $((i%256)) $i;
                if [ $((i%{every})) = 0 ]; then printf '\033]2;paint %d\007' $i; {rest}; fi; done;
                printf '\033[24;1Hend %d\r\n' $i; exec cat"#,
                every = self.cells_per_title(),
                rest = if self == Kind::Painter { "sleep 0.02" } else { ":" },
            ),
            Kind::Ends(code) => {
                let go = dir.join(format!("end-{code}")).display().to_string();
                format!("while [ ! -e {go} ]; do sleep 0.02; done; printf bye; exit {code}")
            }
        }
    }

    fn cells_per_title(self) -> u64 {
        if self == Kind::Painter { 40 } else { 5000 }
    }

    /// Everything the program wrote, when it counted up to `count`, as the terminal passed it on.
    fn expected(self, count: u64) -> Vec<u8> {
        let mut out = String::new();
        match self {
            Kind::Fast | Kind::Slow => {
                (1..=count).for_each(|i| out.push_str(&format!("line {i}\r\n")));
                out.push_str(&format!("end {count}\r\n"));
            }
            Kind::Painter | Kind::FastPainter => {
                out.push_str("\x1b[?1049h\x1b[?2004h");
                for i in 1..=count {
                    let (row, col, color) = (i % 20 + 1, i % 60 + 1, i % 256);
                    out.push_str(&format!("\x1b[{row};{col}H\x1b[38;5;{color}mcell {i}\x1b[0m"));
                    if i % self.cells_per_title() == 0 {
                        out.push_str(&format!("\x1b]2;paint {i}\x07"));
                    }
                }
                out.push_str(&format!("\x1b[24;1Hend {count}\r\r\n"));
            }
            Kind::Ends(_) => out.push_str("bye"),
        }
        out.into_bytes()
    }
}

/// A terminal under load.
struct Terminal {
    kind: Kind,
    id: u64,
    pid: u32,
    log: PathBuf,
}

impl Terminal {
    fn open(client: &Caller, kind: Kind, dir: &Path, number: usize) -> Terminal {
        let log = dir.join(format!("{number}.raw"));
        let params = json!({
            "program": "/bin/sh", "args": ["-c", kind.script(dir)], "raw_transcript_path": log,
        });
        let created = client.call("session.create", params);
        let session = created["session"].as_str().unwrap();
        let id = session.strip_prefix('s').unwrap().parse().unwrap();
        Terminal { kind, id, pid: client.pid(id), log }
    }

    fn log_len(&self) -> u64 {
        fs::metadata(&self.log).map_or(0, |meta| meta.len())
    }

    /// The raw log once the program has said its last word.
    fn final_log(&self) -> Vec<u8> {
        let what = format!("the log of {:?} {} is complete", self.kind, self.id);
        eventually(&what, PATIENCE, || {
            let log = fs::read(&self.log).unwrap();
            let tail = String::from_utf8_lossy(&log[log.len().saturating_sub(40)..]).into_owned();
            let is_complete = match self.kind {
                Kind::Ends(_) => tail == "bye",
                _ => tail.contains("end ") && tail.ends_with("\r\n"),
            };
            is_complete.then_some(log)
        })
    }

    fn check_log(&self, log: &[u8]) {
        let text = String::from_utf8_lossy(log);
        let count = text.rsplit("end ").next().unwrap().trim().parse().unwrap_or(0);
        let expected = self.kind.expected(count);
        if log != expected {
            let at = log.iter().zip(&expected).take_while(|(got, wanted)| got == wanted).count();
            let near = |bytes: &[u8]| {
                let from = at.saturating_sub(40).min(bytes.len());
                let to = (at + 60).min(bytes.len());
                String::from_utf8_lossy(&bytes[from..to]).into_owned()
            };
            panic!(
                "the log of {:?} {} differs at byte {at}: {:?} instead of {:?}",
                self.kind,
                self.id,
                near(log),
                near(&expected)
            );
        }
    }

    /// The screen must be what an emulator shows that was never interrupted.
    fn check_screen(&self, client: &Caller, log: &[u8]) {
        let config = ScreenConfig {
            size: ScreenSize::new(24, 80),
            scrollback: 10_000,
            palette: Palette::default(),
        };
        let mut wanted = Screen::new(config, Box::new(MemoryBlocks::default()));
        for chunk in log.chunks(16 << 10) {
            wanted.feed(chunk, &NoTranscript, Duration::ZERO);
        }
        let who = format!("{:?} {}", self.kind, self.id);
        assert_eq!(client.screen(self.id), wanted.plain_text(), "screen of {who}");
        let params = json!({ "terminal": self.id, "history": HISTORY, "redact": false });
        let dumped = client.call(Dump::METHOD, params);
        assert_eq!(dumped["text"], wanted.text_with_history(HISTORY), "history of {who}");
        // The bytes that paint a screen tell all of it: colors, modes, title and cursor.
        let attached = client.call(Attach::METHOD, json!({ "terminal": self.id }));
        let redraw = base64_text(&wanted.redraw());
        assert_eq!(attached["redraw"].as_str().unwrap(), redraw, "painting of {who}");
        let detach = json!({ "attachment": attached["attachment"] });
        client.call(Detach::METHOD, detach);
    }
}

fn base64_text(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Follows the event log on a connection of its own until that ends.
struct Follower(JoinHandle<Vec<u64>>);

impl Follower {
    fn start(daemon: &TestDaemon, since: u64) -> Follower {
        let client = daemon.client();
        client.call(Subscribe::METHOD, json!({ "since": since }));
        Follower(thread::spawn(move || {
            let mut seen = Vec::new();
            while let Some((method, params)) = client.notification(PATIENCE) {
                assert_eq!(method, "rookery/event");
                assert!(params.get("missed").is_none(), "{params}");
                seen.push(params["event"]["seq"].as_u64().unwrap());
            }
            assert_eq!(client.client().missed(), 0, "the test itself was too slow");
            seen
        }))
    }

    fn finish(self, seen: &mut Vec<u64>) {
        seen.extend(self.0.join().unwrap());
    }
}

#[test]
fn nothing_is_lost_when_the_daemon_is_killed_again_and_again() {
    let mut random = random("crash test");
    let mut daemon = TestDaemon::start();
    let dir = daemon.home().join("load");
    fs::create_dir(&dir).unwrap();
    let client = daemon.client();
    let kinds = [
        [Kind::Fast; 4].as_slice(),
        &[Kind::Slow; 6],
        &[Kind::Painter; 2],
        &[Kind::FastPainter; 2],
        &[
            Kind::Ends(0),
            Kind::Ends(1),
            Kind::Ends(7),
            Kind::Ends(42),
            Kind::Ends(99),
            Kind::Ends(200),
        ],
    ]
    .concat();
    let terminals: Vec<Terminal> = kinds
        .iter()
        .enumerate()
        .map(|(number, kind)| Terminal::open(&client, *kind, &dir, number))
        .collect();
    let mut to_end: Vec<i32> = vec![0, 1, 7, 42, 99, 200];
    let mut seen = Vec::new();
    let (mut worst_ready, mut kills) = (Duration::ZERO, 0);
    for _ in 0..rounds(15) {
        let follower = Follower::start(&daemon, seen.last().copied().unwrap_or(0));
        let watched = &terminals[random.below(14) as usize];
        let most = match watched.kind {
            Kind::Slow => 200,
            Kind::Painter => 20_000,
            _ => 100_000,
        };
        let wanted = watched.log_len() + random.below(most);
        wait_until("the load goes on", PATIENCE, || watched.log_len() >= wanted);
        // Some children end while the daemon looks, some while it is dead.
        let mut end_one = |random: &mut Random| {
            if !to_end.is_empty() && random.below(2) == 0 {
                let code = to_end.swap_remove(random.below(to_end.len() as u64) as usize);
                fs::write(dir.join(format!("end-{code}")), "").unwrap();
            }
        };
        end_one(&mut random);
        daemon.kill9();
        kills += 1;
        end_one(&mut random);
        follower.finish(&mut seen);
        if random.below(3) == 0 {
            kill_while_it_starts(&mut daemon, &mut random);
            kills += 1;
        }
        let started = Instant::now();
        daemon.restart();
        worst_ready = worst_ready.max(started.elapsed());
    }
    fs::write(dir.join("stop"), "").unwrap();
    to_end.iter().for_each(|code| fs::write(dir.join(format!("end-{code}")), "").unwrap());
    check_terminals(&daemon.client(), &terminals);
    check_events(&mut daemon, &terminals, seen);
    let bytes: u64 = terminals.iter().map(Terminal::log_len).sum();
    eprintln!(
        "crash test: {kills} kills, {bytes} bytes of output, slowest restart {worst_ready:?}"
    );
}

/// A daemon that dies before it is ready must leave everything to the next one.
fn kill_while_it_starts(daemon: &mut TestDaemon, random: &mut Random) {
    let log = daemon.log();
    let before = fs::metadata(&log).map_or(0, |meta| meta.len());
    daemon.launch();
    match random.below(3) {
        0 => {}
        1 => wait_until("the new daemon listens", PATIENCE, || {
            Caller::connect(&daemon.socket()).is_ok()
        }),
        _ => {
            // It removes the socket of the one before it and says so, while it is still starting.
            wait_until("the new daemon says something", PATIENCE, || {
                fs::metadata(&log).map_or(0, |meta| meta.len()) > before
            });
        }
    }
    daemon.kill9();
}

fn check_terminals(client: &Caller, terminals: &[Terminal]) {
    for terminal in terminals {
        let described = match terminal.kind {
            Kind::Ends(code) => {
                client.wait(json!({ "terminal": terminal.id, "exit": true }));
                let described = client.terminal(terminal.id);
                assert_eq!(described["state"], "exited", "{described}");
                assert_eq!(described["exit"], json!({ "code": code }), "{described}");
                described
            }
            _ => {
                client.wait(json!({ "terminal": terminal.id, "regex": "end [0-9]+" }));
                assert!(is_alive(terminal.pid), "{:?} {} died", terminal.kind, terminal.id);
                let described = client.terminal(terminal.id);
                assert_eq!(described["state"], "running", "{described}");
                described
            }
        };
        assert_eq!(described["pid"], terminal.pid, "{described}");
        let log = terminal.final_log();
        terminal.check_log(&log);
        terminal.check_screen(client, &log);
    }
}

fn check_events(daemon: &mut TestDaemon, terminals: &[Terminal], mut seen: Vec<u64>) {
    let client = daemon.client();
    let events = client.events(0);
    let last = events.len() as u64;
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=last).collect::<Vec<_>>(), "the log has a gap or a repeat");
    let follower = Follower::start(daemon, seen.last().copied().unwrap_or(0));
    // The last subscription is cut off like the others, but only once it had time for the rest.
    let probe = daemon.client();
    probe.call(Subscribe::METHOD, json!({ "since": last - 1 }));
    probe.notification(PATIENCE).unwrap();
    wait_until("the daemon has nothing more to say", PATIENCE, || {
        probe.status()["lastEvent"] == last
    });
    client.send(Shutdown::default());
    assert!(daemon.wait_ended().success());
    follower.finish(&mut seen);
    let seen_up_to_last: Vec<u64> = seen.iter().copied().filter(|seq| *seq <= last).collect();
    assert_eq!(seen_up_to_last, numbers, "the subscriber missed an event or saw one twice");
    for terminal in terminals {
        let of_type = |name: &str| -> Vec<&Value> {
            let is_meant =
                |event: &&Value| event["type"] == name && event["terminal"] == terminal.id;
            events.iter().filter(is_meant).collect()
        };
        assert_eq!(of_type("terminal.opened").len(), 1);
        let ends = of_type("terminal.exited");
        match terminal.kind {
            Kind::Ends(code) => {
                assert_eq!(ends.len(), 1, "{ends:?}");
                assert_eq!(ends[0]["exit"], json!({ "code": code }));
            }
            _ => assert_eq!(ends.len(), 0, "{ends:?}"),
        }
    }
}

#[test]
fn a_daemon_killed_while_it_opens_terminals_leaves_none_unseen() {
    let mut random = random("open test");
    let mut daemon = TestDaemon::start();
    daemon.client().open(json!({ "argv": ["sleep", "1000"] }));
    let keeper = daemon.keeper_pid();
    for _ in 0..rounds(10) {
        let client = daemon.client();
        let before = children_of(keeper).len();
        for _ in 0..8 {
            client.post(TerminalOpen::METHOD, json!({ "argv": ["sleep", "1000"] }));
        }
        let wanted = before + random.below(9) as usize;
        wait_until("children are started", PATIENCE, || children_of(keeper).len() >= wanted);
        daemon.kill9();
        daemon.restart();
        let client = daemon.client();
        let mut found = (BTreeSet::new(), BTreeSet::new());
        // A child that is just being started by the keeper counts as soon as it is there.
        let until = Instant::now() + Duration::from_secs(5);
        eventually("children and terminals are compared", PATIENCE, || {
            let children: BTreeSet<u64> = children_of(keeper).into_iter().map(u64::from).collect();
            let is_running = |terminal: &&Value| terminal["state"] == "running";
            let terminals = client.terminals();
            let listed = terminals.iter().filter(is_running);
            let listed = listed.map(|terminal| terminal["pid"].as_u64().unwrap()).collect();
            found = (children, listed);
            (found.0 == found.1 || Instant::now() > until).then_some(())
        });
        assert_eq!(found.0, found.1, "children of the keeper, and terminals that can be seen");
        assert_eq!(daemon.keeper_pid(), keeper);
    }
}

#[test]
fn a_hundred_terminals_come_back() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let ids: Vec<u64> = (0..100)
        .map(|number| client.open_sh(&format!("seq 1 2000; echo ready {number}; exec cat")))
        .collect();
    ids.iter()
        .enumerate()
        .for_each(|(number, id)| client.wait_text(*id, &format!("ready {number}")));
    let pids: Vec<u32> = ids.iter().map(|id| client.pid(*id)).collect();
    let screens: Vec<String> = ids.iter().map(|id| client.screen(*id)).collect();
    daemon.kill9();
    let started = Instant::now();
    daemon.restart();
    eprintln!("ready with 100 terminals after {:?} (kill -9 before)", started.elapsed());
    assert_eq!(daemon.ready()["terminals"], 100);
    let client = daemon.client();
    for ((id, pid), screen) in ids.iter().zip(&pids).zip(&screens) {
        assert_eq!(client.pid(*id), *pid);
        assert_eq!(client.screen(*id), *screen);
    }
    client.write(ids[99], "still here\n");
    client.wait_text(ids[99], "still here");
}

#[test]
fn what_a_program_said_last_is_known_after_a_kill() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh(
        r"stty -echo; echo ready; while read t; do printf '\033]2;title %s\007\033]9;note %s\007done %s\n' $t $t $t; done",
    );
    client.wait_text(id, "ready");
    let rounds = rounds(15);
    for round in 1..=rounds {
        let client = daemon.client();
        client.post(TerminalWrite::METHOD, json!({ "terminal": id, "text": format!("{round}\n") }));
        client.wait_text(id, &format!("done {round}"));
        daemon.kill9();
        daemon.restart();
        let client = daemon.client();
        assert_eq!(client.terminal(id)["title"], format!("title {round}"));
    }
    let events = daemon.client().events(0);
    for round in 1..=rounds {
        let is_meant = |event: &&Value| event["title"] == format!("note {round}");
        let told = events.iter().filter(is_meant).count();
        assert_eq!(told, 1, "note {round}");
    }
}
