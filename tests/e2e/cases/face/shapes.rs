//! Sizes, odd widths, and an idle face.

use rookery_testkit::{Caller, Outer, PATIENCE, Random, TestDaemon, wait_until};
use serde_json::{Value, json};

use super::{Face, size, terminals};

fn with_shell(daemon: &TestDaemon, dims: (u16, u16)) -> (Face, u64) {
    let face = Face::open_in(daemon, &[], &Outer { size: dims, ..Outer::default() });
    face.wait("Nothing runs here yet.");
    face.send("c");
    face.send("PS1='ready> '\r");
    face.wait("ready> ");
    let client = daemon.client();
    (face, terminals(&client)[0])
}

fn areas(client: &Caller, ids: &[u64]) -> Vec<(u64, u64)> {
    ids.iter().map(|id| size(client, *id)).collect()
}

#[track_caller]
fn split(face: &Face, client: &Caller, key: &str, count: usize) -> Vec<u64> {
    face.prefix(key);
    wait_until("it is split", PATIENCE, || terminals(client).len() == count);
    terminals(client)
}

/// Two panes beside one another and one below, at three sizes: every cell of the room belongs to one
/// of them, but for those between.
#[test]
fn panes_have_their_areas_at_every_size() {
    for (dims, room) in [((30, 100), (78, 28)), ((24, 80), (58, 22)), ((12, 40), (39, 10))] {
        let daemon = TestDaemon::start();
        let client = daemon.client();
        let (face, first) = with_shell(&daemon, dims);
        let (cols, rows) = room;
        wait_until("it has the room", PATIENCE, || size(&client, first) == room);
        let is_single = dims.1 < 60;
        if is_single {
            // One pane at a time: each has all of the room.
            face.prefix("v");
            wait_until("it is split", PATIENCE, || terminals(&client).len() == 2);
            let second = terminals(&client)[1];
            wait_until("it has the room", PATIENCE, || size(&client, second) == room);
            face.prefix("o");
            face.send("echo one-''pane\r");
            client.wait_text(first, "one-pane");
            face.leave();
            continue;
        }
        let two = split(&face, &client, "v", 2);
        let halves = || areas(&client, &two);
        wait_until("the columns are shared", PATIENCE, || {
            let halves = halves();
            halves[0].0 + halves[1].0 + 1 == cols && halves.iter().all(|half| half.1 == rows)
        });
        let three = split(&face, &client, "-", 3);
        let (left, top, below) = (three[0], three[1], three[2]);
        wait_until("the rows are shared", PATIENCE, || {
            let all = areas(&client, &[left, top, below]);
            all[1].1 + all[2].1 + 1 == rows && all[1].0 == all[2].0 && all[0].1 == rows
        });
        face.prefix("z");
        wait_until("one has it all", PATIENCE, || size(&client, below) == room);
        face.prefix("z");
        wait_until("and gives it back", PATIENCE, || size(&client, below).1 < rows);
        face.prefix("!");
        wait_until("a tab of its own", PATIENCE, || size(&client, below) == room);
        face.prefix("1");
        wait_until("the others share", PATIENCE, || {
            let pair = areas(&client, &[left, top]);
            pair[0].0 + pair[1].0 + 1 == cols && pair[1].1 == rows
        });
        face.prefix("x");
        wait_until("one is closed", PATIENCE, || terminals(&client).len() == 2);
        face.leave();
    }
}

#[test]
fn resize_storms_settle_on_the_last_size() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (face, id) = with_shell(&daemon, (30, 100));
    face.prefix("v");
    wait_until("there are two", PATIENCE, || terminals(&client).len() == 2);
    let mut random = Random::new(7);
    for _ in 0..60 {
        let rows = 2 + random.below(99) as u16;
        let cols = 3 + random.below(298) as u16;
        face.pty.resize((rows, cols));
    }
    for last in [(100, 300), (30, 100)] {
        face.pty.resize(last);
        let room = (u64::from(last.1) - 22, u64::from(last.0) - 2);
        wait_until("it has its part of the last size", PATIENCE, || {
            let all = areas(&client, &terminals(&client));
            all[0].0 + all[1].0 + 1 == room.0 && all.iter().all(|area| area.1 == room.1)
        });
    }
    assert!(terminals(&client).contains(&id));
    face.pty.resize((6, 20));
    face.pty.resize((30, 100));
    face.wait("keys");
    face.leave();
}

#[test]
fn every_kind_of_terminal_shows_it_and_is_given_back() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("stty -echo; echo go; while read line; do echo got-$line; done");
    client.wait_text(id, "go");
    for term in ["xterm", "screen-256color", "tmux-256color", "linux", "vt100", "dumb"] {
        let face =
            Face::open_in(&daemon, &[], &Outer { env: &[("TERM", term)], ..Outer::default() });
        face.wait("go");
        face.send(format!("{term}\r"));
        face.wait(&format!("got-{term}"));
        face.leave();
    }
}

#[test]
fn small_faces_show_what_waits_and_decide() {
    let daemon = TestDaemon::start();
    let (mut roder, thread, dir) = super::agent(&daemon, "work");
    let turn = roder.turn(&thread, &super::write_steps("small", "x\n"));
    let outer = Outer { size: (9, 38), ..Outer::default() };
    let face = Face::open_in(&daemon, &["--page", "inbox"], &outer);
    face.wait("write_file");
    face.wait("a approve");
    face.press_until("a", || dir.join("small").exists());
    roder.until_over(&turn);
    face.pty.resize((5, 19));
    face.wait("larger");
}

#[test]
fn without_colors_every_mood_is_shown_by_its_sign() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let states = [("running", '~'), ("needs_input", '?'), ("idle", '+')];
    let ids: Vec<u64> = states.iter().map(|_| client.open_sh("echo go; exec cat")).collect();
    for (id, (state, _)) in ids.iter().zip(&states) {
        let id = id.to_string();
        let args = ["roostctl", "tab", "set-state", "--tab", &id, "--state", state];
        daemon.rookery(&args).success();
    }
    let env = [("NO_COLOR", "1"), ("LANG", "C"), ("LC_ALL", "C")];
    let outer = Outer { env: &env, keeps_bytes: true, ..Outer::default() };
    let face = Face::open_in(&daemon, &[], &outer);
    face.wait("2 ?");
    face.wait("1 ~");
    let bytes = String::from_utf8_lossy(&face.pty.written()).into_owned();
    for color in ["38;", "48;", ";31", ";32", ";33", ";34", ";35", ";36"] {
        assert!(
            !bytes.contains(&format!("\x1b[0{color}")) && !bytes.contains(&format!("\x1b[{color}")),
            "{color}"
        );
    }
    face.leave();
}

/// Characters about which terminals disagree, and the columns that our emulator gives them.
const ODD: &[(&str, u16)] = &[
    ("日", 2),
    ("é", 1),
    ("e\u{301}", 1),
    ("👩\u{200d}💻", 4),
    ("❤\u{fe0f}", 1),
    ("ש", 1),
    ("م", 1),
    ("😀", 2),
    ("｡", 1),
    ("①", 1),
];

/// A terminal in which every character that is not ASCII takes `room` columns.
struct Odd {
    cols: u16,
    cells: Vec<char>,
    at: (u16, u16),
    room: u16,
}

impl Odd {
    fn new((rows, cols): (u16, u16), room: u16) -> Odd {
        Odd { cols, cells: vec![' '; usize::from(cols * rows)], at: (0, 0), room }
    }

    fn put(&mut self, col: u16, row: u16, c: char) {
        if col < self.cols
            && let Some(cell) = self.cells.get_mut(usize::from(row * self.cols + col))
        {
            *cell = c;
        }
    }

    /// Everything that was ever written to it.
    fn feed(&mut self, text: &str) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\x1b' => self.sequence(&mut chars),
                c if c.is_control() => {}
                c => {
                    let room = match c {
                        c if c.is_ascii() => 1,
                        // Marks on the character before.
                        '\u{300}'..='\u{36f}' => continue,
                        _ => self.room,
                    };
                    let (col, row) = self.at;
                    for at in 0..room {
                        self.put(col + at, row, if at == 0 { c } else { '<' });
                    }
                    self.at.0 = col + room;
                }
            }
        }
    }

    fn sequence(&mut self, chars: &mut std::str::Chars<'_>) {
        match chars.next() {
            Some('[') => {
                let mut body = String::new();
                let last = loop {
                    match chars.next() {
                        Some(c) if c.is_ascii_alphabetic() => break c,
                        Some(c) => body.push(c),
                        None => return,
                    }
                };
                match last {
                    'H' => {
                        let (row, col) = body.split_once(';').unwrap();
                        let number = |text: &str| text.parse::<u16>().unwrap() - 1;
                        self.at = (number(col), number(row));
                    }
                    'J' => self.cells.fill(' '),
                    _ => {}
                }
            }
            Some(']') => {
                // Up to the string terminator.
                while let Some(c) = chars.next() {
                    if c == '\x1b' {
                        chars.next();
                        return;
                    }
                }
            }
            _ => {}
        }
    }
}

#[test]
fn odd_widths_shift_no_row_after_a_thousand_edits() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("stty -echo; cat");
    let dims = (30, 100);
    let outer =
        Outer { size: dims, env: &[("LANG", "C.UTF-8")], keeps_bytes: true, ..Outer::default() };
    let face = Face::open_in(&daemon, &[], &outer);
    face.send("\r");
    wait_until("it fits", PATIENCE, || size(&client, id) == (78, 28));
    let mut random = Random::new(20);
    for batch in 0..20 {
        let mut edits = String::new();
        for _ in 0..50 {
            let (row, col) = (1 + random.below(27), 1 + random.below(70));
            edits.push_str(&format!("\x1b[{row};{col}H"));
            for _ in 0..random.below(4) {
                let (text, _) = ODD[random.below(ODD.len() as u64) as usize];
                edits.push_str(text);
                edits.push((b'a' + random.below(26) as u8) as char);
            }
        }
        edits.push_str(&format!("\x1b[28;1Hbatch-{batch}-done\n"));
        // What is written into the terminal's program comes back out of it.
        client.write(id, &edits);
        face.wait(&format!("batch-{batch}-done"));
    }
    face.prefix("?");
    face.wait("typing filters");
    face.send("\x1b");
    face.wait_gone("typing filters");
    let cells = snapshot(&daemon, id);
    assert!(cells.iter().filter(|(.., text)| text == "日").count() > 20, "there is enough of it");
    for room in [1, 2] {
        let settled = || {
            let mut other = Odd::new(dims, room);
            other.feed(&String::from_utf8_lossy(&face.pty.written()));
            mismatch(&other, &cells).is_none()
        };
        wait_until("every ASCII cell is in its column", PATIENCE, settled);
    }
    face.leave();
}

/// A character where the emulator has it.
type Placed = (usize, usize, String);

/// What a terminal's cells hold, by ptywright's snapshot.
fn snapshot(daemon: &TestDaemon, id: u64) -> Vec<Placed> {
    let client = Caller::connect(&daemon.ptywright_socket()).unwrap();
    let taken = client.call("session.snapshot", json!({ "session": format!("s{id}") }));
    let cells = taken["snapshot"]["cells"].as_array().or(taken["cells"].as_array());
    let number = |cell: &Value, name: &str| cell[name].as_u64().unwrap() as usize;
    let placed = |cell: &Value| {
        let text = cell["text"].as_str().unwrap().to_owned();
        (number(cell, "row"), number(cell, "col"), text)
    };
    cells.unwrap().iter().map(placed).collect()
}

/// The first ASCII cell of the pane that is not where the emulator has it.
fn mismatch(odd: &Odd, cells: &[Placed]) -> Option<(Placed, char)> {
    let is_ascii = |text: &str| text.len() == 1 && text.is_ascii() && text != " ";
    cells.iter().filter(|(.., text)| is_ascii(text)).find_map(|(row, col, text)| {
        // The pane begins below the strip and beside the sidebar.
        let place = (row + 1) * usize::from(odd.cols) + col + 22;
        let there = odd.cells.get(place).copied().unwrap_or(' ');
        (!text.starts_with(there)).then(|| ((*row, *col, text.clone()), there))
    })
}
