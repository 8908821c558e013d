//! `rookery record` and `rookery replay`: what a program did ends up in a file, without its
//! secrets, and comes out again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rookery_native::wire::TerminalResize;
use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};
use rookery_testkit::{
    Caller, Home, PATIENCE, TestDaemon, TestPty, eventually, rookery_binary, wait_until,
};
use rookery_wire::Call as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A recording that goes on.
struct Recording {
    child: Child,
    file: PathBuf,
}

impl Recording {
    /// Begins one and waits until it has painted the screen.
    fn begin(home: &Home, id: u64, args: &[&str]) -> Recording {
        let file = home.join(&format!("{id}.cast"));
        let mut command = home.command(rookery_binary());
        command.args(["record", &id.to_string()]).arg(&file).args(args).stderr(Stdio::null());
        let recording = Recording { child: command.spawn().unwrap(), file };
        wait_until("the recording has begun", PATIENCE, || recording.lines().len() >= 2);
        recording
    }

    fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned).collect()
    }

    fn wait_for(&self, text: &str) {
        wait_until(&format!("{text:?} is recorded"), PATIENCE, || {
            self.lines().iter().any(|line| line.contains(text))
        });
    }

    fn interrupt(&self) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
    }

    /// The whole file, after its end.
    fn end(mut self) -> Vec<Value> {
        let status = eventually("the recording ends", PATIENCE, || self.child.try_wait().unwrap());
        assert!(status.success(), "{status}");
        let text = fs::read_to_string(&self.file).unwrap();
        assert!(text.ends_with('\n'), "the last line is whole");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The screen that a recording leads to, played by the rules of the format.
fn played(recording: &[Value]) -> String {
    let (header, events) = recording.split_first().unwrap();
    assert_eq!(header["version"], 3);
    let side = |name: &str| u16::try_from(header["term"][name].as_u64().unwrap()).unwrap();
    let size = ScreenSize::new(side("rows"), side("cols"));
    let config = ScreenConfig { size, scrollback: 0, palette: Palette::default() };
    let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
    for event in events {
        let [interval, code, data] = event.as_array().unwrap().as_slice() else {
            panic!("{event} has not three parts")
        };
        assert!(interval.as_f64().unwrap() >= 0.0);
        let data = data.as_str().unwrap();
        match code.as_str().unwrap() {
            "o" => drop(screen.feed(data.as_bytes(), &NoTranscript, Duration::ZERO)),
            "r" => {
                let (cols, rows) = data.split_once('x').unwrap();
                let size = ScreenSize::new(rows.parse().unwrap(), cols.parse().unwrap());
                screen.resize(size, &NoTranscript, Duration::ZERO);
            }
            "x" => {}
            other => panic!("no event has the code {other}"),
        }
    }
    screen.plain_text()
}

fn dump(home: &Home, id: u64) -> String {
    home.rookery(&["dump", &id.to_string()]).success().trim_end().to_owned()
}

fn replay_dump(home: &Home, file: &Path) -> String {
    home.rookery(&["replay", "--dump", file.to_str().unwrap()]).success().trim_end().to_owned()
}

fn enter(client: &Caller, id: u64) {
    client.write(id, "\r");
}

#[test]
fn a_program_is_recorded_to_its_end() {
    let daemon = TestDaemon::start();
    let (home, client) = (daemon.home(), daemon.client());
    let id = client.open_sh(
        "stty -echo; printf '\\033[1;31mbefore\\033[0m ü日\\n'; read l; \
         printf '\\033[38;5;200mcolors\\033[0m\\n'; read l; \
         printf '\\033[3;70Hat the edge, wrapped over\\n'; exit 7",
    );
    client.wait_text(id, "ü日");
    let recording = Recording::begin(home, id, &["--title", "mine"]);
    let file = recording.file.clone();
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    enter(&client, id);
    recording.wait_for("colors");
    client.call(TerminalResize::METHOD, json!({ "terminal": id, "rows": 30, "cols": 90 }));
    recording.wait_for("90x30");
    enter(&client, id);

    let recorded = recording.end();
    assert_eq!(recorded[0]["term"], json!({ "cols": 80, "rows": 24, "type": "xterm-256color" }));
    assert_eq!(recorded[0]["title"], "mine");
    assert!(recorded[0]["timestamp"].as_u64().unwrap() > 1_700_000_000);
    assert_eq!(recorded.last().unwrap()[1], "x");
    assert_eq!(recorded.last().unwrap()[2], "7");
    let shown = dump(home, id);
    assert!(shown.contains("before ü日\ncolors") && shown.contains("wrapped over"), "{shown}");
    assert_eq!(played(&recorded), shown);
    assert_eq!(replay_dump(home, &file), shown);
    let text = home.rookery(&["replay", "--text", file.to_str().unwrap()]).success();
    assert_eq!(text, "before ü日\ncolors\nat the edge, wrapped over\n");
    // Without a terminal everything comes out as it was, in its own time.
    let raw = home.rookery(&["replay", "--speed", "1000", file.to_str().unwrap()]).success();
    assert!(raw.contains("\x1b[38;5;200mcolors"), "{raw:?}");
}

#[test]
fn secrets_are_not_recorded_unless_they_are_wanted() {
    let daemon = TestDaemon::start();
    let (home, client) = (daemon.home(), daemon.client());
    // From a file: what the command line says must not be taken for output.
    let script = home.join("says-secrets");
    let text = "stty -echo; printf 'password=onscr'; read l; printf 'een\\ntoken=first'; read l; \
                printf 'second\\n\\033]52;c;Y2xpcGJvYXJk\\007done\\n'; read l";
    fs::write(&script, text).unwrap();
    for wanted in [false, true] {
        let id = client.open_sh(&format!(". {}", script.display()));
        client.wait_text(id, "onscr");
        let more: &[&str] = if wanted { &["--no-redact"] } else { &[] };
        let recording = Recording::begin(home, id, more);
        let file = recording.file.clone();
        enter(&client, id);
        recording.wait_for("token=");
        enter(&client, id);
        recording.wait_for("done");
        recording.interrupt();
        let recorded = recording.end();
        let text = fs::read_to_string(&file).unwrap();
        for secret in ["onscr", "een", "first", "second", "Y2xpcGJvYXJk"] {
            assert_eq!(text.contains(secret), wanted, "{secret}: {text}");
        }
        assert_eq!(recorded[0]["command"].as_str().unwrap().contains("says-secrets"), wanted);
        if !wanted {
            assert_eq!(played(&recorded), "password=[REDACTED]\ntoken=[REDACTED]\ndone");
            assert_eq!(played(&recorded), dump(home, id));
        }
    }
}

#[test]
fn a_recording_ends_cleanly_when_it_is_told_to() {
    let daemon = TestDaemon::start();
    let (home, client) = (daemon.home(), daemon.client());
    let id = client.open_sh("printf 'no end of line'; exec cat");
    client.wait_text(id, "no end of line");
    let recording = Recording::begin(home, id, &[]);
    let file = recording.file.clone();
    recording.interrupt();
    assert_eq!(played(&recording.end()), "no end of line");

    let id = id.to_string();
    let args = ["record", &id, "--for", "0.05", "--idle-limit", "2", "-q"];
    let recorded = home.rookery(&args).success();
    let header: Value = serde_json::from_str(recorded.lines().next().unwrap()).unwrap();
    assert_eq!(header["idle_time_limit"], 2.0);

    let before = fs::read(&file).unwrap();
    let said = home.rookery(&["record", &id, file.to_str().unwrap()]).failure(1);
    assert!(said.contains("exists already") && said.contains("--force"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), before);
    let path = file.to_str().unwrap();
    home.rookery(&["record", &id, path, "--force", "--for", "0.05", "-t", "again"]).success();
    assert!(fs::read_to_string(&file).unwrap().contains("again"));
    let said = home.rookery(&["record", "77", home.join("b.cast").to_str().unwrap()]).failure(1);
    assert!(said.contains("rookery ls"), "{said}");
    assert!(!home.join("b.cast").exists());
}

#[test]
fn a_recording_that_is_not_read_can_be_stopped() {
    let daemon = TestDaemon::start();
    let id = daemon.client().open_sh("exec yes");
    let mut command = daemon.home().command(rookery_binary());
    command.args(["record", &id.to_string()]).stdout(Stdio::piped()).stderr(Stdio::null());
    let file = PathBuf::new();
    let mut recording = Recording { child: command.spawn().unwrap(), file };
    let pipe = recording.child.stdout.take().unwrap();
    // How much a pipe holds depends on how it is written; it is full when nothing is added.
    let (mut count, mut since) = (0, Instant::now());
    wait_until("the pipe is full", PATIENCE, || {
        let now = rustix::io::ioctl_fionread(&pipe).unwrap();
        if now != count {
            (count, since) = (now, Instant::now());
        }
        count > 16 * 1024 && since.elapsed() > Duration::from_millis(500)
    });
    recording.interrupt();
    let status = eventually("the recording ends", PATIENCE, || recording.child.try_wait().unwrap());
    assert_eq!(status.code(), Some(130));
}

#[test]
fn a_flood_is_recorded_to_its_end() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("stty -echo; echo ready; read l; seq 1 200000; exit 2");
    client.wait_text(id, "ready");
    let recording = Recording::begin(daemon.home(), id, &["-q"]);
    enter(&client, id);
    let recorded = recording.end();
    assert_eq!(recorded.last().unwrap()[2], "2");
    assert_eq!(played(&recorded), dump(daemon.home(), id));
}

#[test]
fn a_recording_outlives_the_daemon() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("stty -echo; echo first; read l; echo second; exit 3");
    client.wait_text(id, "first");
    let recording = Recording::begin(daemon.home(), id, &[]);
    daemon.kill9();
    // Nothing is recorded while there is no daemon.
    let before = recording.lines().len();
    daemon.restart();
    wait_until("it is painted again", PATIENCE, || recording.lines().len() > before);
    enter(&daemon.client(), id);
    let recorded = recording.end();
    assert_eq!(recorded.last().unwrap()[2], "3");
    assert_eq!(played(&recorded), "first\nsecond");
}

#[test]
fn a_file_of_its_own_is_made_on_a_terminal() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let id = daemon.client().open_sh("echo hello; exec cat");
    daemon.client().wait_text(id, "hello");
    let script = format!("cd \"$HOME\" && exec {} record {id}", rookery_binary().display());
    let mut pty = TestPty::spawn(home, Path::new("/bin/sh"), &["-c", &script], (24, 160));
    pty.wait_text("Ctrl-C stops");
    pty.send(b"\x03");
    assert!(pty.wait_ended().success());
    pty.wait_text("play it with `rookery replay");
    let made = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
    let made: Vec<_> = made.filter(|path| path.extension().is_some_and(|e| e == "cast")).collect();
    assert_eq!(made.len(), 1, "{made:?}");
    let name = made[0].file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name.starts_with(&format!("rookery-{id}-")), "{name}");
    assert_eq!(replay_dump(home, &made[0]), "hello");
}

#[test]
fn a_recording_of_others_does_no_harm_to_a_terminal() {
    let home = Home::new();
    let file = home.join("evil.cast");
    let events = [
        json!([0.01, "o", "\u{1b}[?1049h\u{1b}[?25l\u{1b}[6n\u{1b}[c\u{1b}]52;c;aGk=\u{7}"]),
        json!([
            0.01,
            "o",
            "\u{1b}[?1000h\u{1b}P$qm\u{1b}\\\u{1b}]11;?\u{7}\u{5}half a question \u{1b}["
        ]),
        json!([0.01, "o", "5n\u{1b}[31mshown"]),
        json!([3600, "o", "never"]),
    ];
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    let header = r#"{"version":3,"term":{"cols":80,"rows":24}}"#;
    fs::write(&file, format!("{header}\n{}\n", lines.join("\n"))).unwrap();
    let args = ["replay", file.to_str().unwrap()];
    let mut pty = TestPty::spawn(&home, rookery_binary(), &args, (24, 80));
    pty.wait_text("shown");
    assert_eq!(pty.text(), "half a question shown", "no answer is echoed");
    pty.send(b"\x03");
    assert_eq!(pty.wait_ended().code(), Some(130));
    wait_until("the other screen is left", PATIENCE, || !pty.text().contains("shown"));
    assert!(!pty.text().contains("[?"), "{}", pty.text());
}

#[test]
fn recordings_of_version_2_are_played() {
    let home = Home::new();
    let file = home.join("v2.cast");
    let text = concat!(
        "{\"version\": 2, \"width\": 10, \"height\": 3, \"env\": {\"TERM\": \"xterm\"}}\n",
        "[0.1, \"o\", \"one\\r\\n\"]\n",
        "[0.2, \"i\", \"typed\"]\n",
        "[0.2, \"o\", \"two \\u001b[1mthree\\u001b[0m four\"]\n",
    );
    fs::write(&file, text).unwrap();
    assert_eq!(replay_dump(&home, &file), "one\ntwo three four");
    let mut command = home.command(rookery_binary());
    command.args(["replay", "-", "--idle-limit", "0"]).stdin(fs::File::open(&file).unwrap());
    let played = rookery_testkit::Finished::of(command).success();
    assert_eq!(played, "one\r\ntwo \x1b[1mthree\x1b[0m four");
}

#[test]
fn broken_recordings_are_refused_with_their_line() {
    let home = Home::new();
    let file = home.join("broken.cast");
    let header = r#"{"version":3,"term":{"cols":80,"rows":24}}"#;
    for (text, expected) in [
        (String::new(), "line 1: the file is empty"),
        ("no recording\n".to_owned(), "line 1: expected the header"),
        (r#"{"version":1,"width":80,"height":24,"stdout":[]}"#.to_owned(), "line 1: version 1"),
        (format!("{header}\n[0,\"o\",\"begun\"]\n[0.1,\"o"), "line 3: expected an event"),
    ] {
        fs::write(&file, &text).unwrap();
        for how in [&["--dump"][..], &["--text"], &[]] {
            let args = [&["replay", file.to_str().unwrap()], how].concat();
            let finished = home.rookery(&args);
            assert_eq!(finished.stdout.trim_end(), if text.len() > 50 { "begun" } else { "" });
            let said = finished.failure(1);
            assert!(said.contains(expected) && said.contains("version 2 or 3"), "{said}");
        }
    }
    let said = home.rookery(&["replay", home.join("none").to_str().unwrap()]).failure(1);
    assert!(said.contains("cannot read") && said.contains("rookery record"), "{said}");
    home.rookery(&["replay", "x", "--speed", "0"]).failure(2);
}
