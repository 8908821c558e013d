//! Text that is made to deceive, in every place where the face shows text of others: no escape
//! reaches the outer terminal but the face's own, and nothing is shown that a decision would spell.

use std::fs;

use rookery_testkit::{Caller, Outer, PATIENCE, TestDaemon, git, wait_until};
use rookery_view::safe;
use serde_json::json;

use super::{Face, wait_page};

/// What each hostile text begins with, so that it can be found on the screen.
const MARK: &str = "evil";

pub(crate) fn texts() -> Vec<String> {
    [
        "\x1b[2J\x1b[31mred",
        "\x1b]0;title\x07after",
        "\x1b]52;c;ZXZpbA==\x07clip",
        "\x1bP+q544e\x1b\\dcs",
        "\u{9b}2J\u{9d}0;x\u{9c}c1",
        "\x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\",
        "\u{202e}reversed\u{202c}\u{2066}isolated\u{2069}",
        "zero\u{200b}width\u{200d}join\u{feff}",
        "tags\u{e0041}\u{e0042}\u{e007f}",
        "filler\u{3164}\u{115f}\u{ffa0}",
        "<script>alert(1)</script>]]>",
        "a approve  d deny…  A remember…",
        "\r\n\ttabs\u{85}and\u{2028}lines",
        "q\u{336}\u{489}\u{20dd}marks",
    ]
    .iter()
    .map(|text| format!("{MARK}{text}"))
    .collect()
}

/// Sequences that the face itself writes; everything else came from outside.
fn is_ours(sequence: &str) -> bool {
    let body = &sequence[1..];
    if let Some(csi) = body.strip_prefix('[') {
        let is_plain = csi
            .chars()
            .all(|c| c.is_ascii_digit() || ";:?<>= ".contains(c) || c.is_ascii_alphabetic());
        let last = csi.chars().next_back().unwrap_or(' ');
        return is_plain && matches!(last, 'm' | 'H' | 'h' | 'l' | 'q' | 'u' | 'c' | 't' | 'J');
    }
    match body.strip_prefix(']') {
        Some(osc) if osc.starts_with("2;") => true,
        Some(osc) if osc.starts_with("9;") => true,
        // What a program sets reaches the desk, encoded anew.
        Some(osc) if osc.starts_with("52;c;") => {
            let data = osc[5..].trim_end_matches("\x1b\\");
            data.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c))
        }
        Some(osc) => ["8;;http://", "8;;https://", "8;;mailto:", "8;;\x1b"]
            .iter()
            .any(|it| osc.starts_with(it)),
        None => false,
    }
}

/// Every escape sequence in a stream, and whatever controls stand between them.
fn foreign(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut found = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\x1b' {
            if c.is_control() && c != '\x07' || ('\u{202a}'..='\u{202e}').contains(&c) {
                found.push(format!("{c:?}"));
            }
            continue;
        }
        let mut sequence = String::from(c);
        match chars.next() {
            Some('[') => {
                sequence.push('[');
                for c in chars.by_ref() {
                    sequence.push(c);
                    if ('\u{40}'..='\u{7e}').contains(&c) {
                        break;
                    }
                }
            }
            Some(first @ (']' | 'P' | '_' | '^' | 'X')) => {
                sequence.push(first);
                for c in chars.by_ref() {
                    sequence.push(c);
                    if c == '\x07' || sequence.ends_with("\x1b\\") {
                        break;
                    }
                }
            }
            Some(other) => sequence.push(other),
            None => {}
        }
        if !is_ours(&sequence) {
            found.push(sequence);
        }
    }
    found
}

/// Nothing that is shown would be spelled where one decides.
#[track_caller]
fn check(face: &Face) {
    assert_eq!(foreign(&face.pty.written()), Vec::<String>::new());
    for line in face.pty.text().lines() {
        assert_eq!(safe::exact(line), line, "this is shown");
    }
}

fn open(daemon: &TestDaemon) -> Face {
    let outer = Outer { size: (60, 160), keeps_bytes: true, ..Outer::default() };
    Face::open_in(daemon, &[], &outer)
}

fn title(client: &Caller, id: u64, text: &str) {
    // Whatever is refused is no danger.
    let _ = client.try_call("rookery/terminals/rename", json!({ "terminal": id, "title": text }));
}

#[test]
fn titles_names_and_notifications() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let face = open(&daemon);
    for (index, text) in texts().iter().enumerate() {
        let id = client.open_sh("echo go; exec cat");
        title(&client, id, text);
        let root = daemon.home().path();
        let _ = client.try_call("rookery/projects/create", json!({ "name": text, "root": root }));
        let args =
            ["roostctl", "notify", "--tab", &id.to_string(), "--title", text, "--body", text];
        daemon.rookery(&args);
        if index == 0 {
            client.call("rookery/terminals/activate", json!({ "terminal": id }));
        }
    }
    // A program's own title, notification and working directory.
    let own = client.open_sh(
        "printf '\\033]2;evil\\033\\134title\\007\\033]9;evil\\342\\200\\256note\\007\\033]7;file://x/\\033[2J\\007'; echo told; exec cat",
    );
    client.wait_text(own, "told");
    face.wait(MARK);
    face.prefix(" ");
    face.wait("Type a command");
    face.send("evil");
    face.wait_gone("New Tab");
    face.send("\x1b");
    face.wait_gone("┌");
    face.prefix("i");
    face.wait("Inbox  ");
    face.send("i");
    check(&face);
    face.send("q");
    wait_page(&client, "workspace");
    check(&face);
    face.leave();
}

#[test]
fn what_programs_print() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("stty -echo; cat");
    let face = open(&daemon);
    face.send("\r");
    for text in texts() {
        client.write(id, &format!("{}\n", text.replace('\n', "")));
    }
    // Invalid UTF-8, and long strings that never end.
    client
        .call("rookery/terminals/write", json!({ "terminal": id, "data": "/4D+wID18Pn4CgobXTA7" }));
    client.write(id, "\x07\nfinished\n");
    face.wait("finished");
    assert_eq!(foreign(&face.pty.written()), Vec::<String>::new());
    assert!(!String::from_utf8_lossy(&face.pty.written()).contains("javascript:"));
    face.leave();
}

#[test]
fn files_and_reviews() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let repo = daemon.home().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q"]);
    fs::write(repo.join("a"), "one\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    for (index, text) in texts().iter().enumerate() {
        let name: String = text.chars().filter(|c| *c != '/' && *c != '\0').take(60).collect();
        let _ = fs::write(repo.join(format!("{index}-{name}")), text);
    }
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    let mut command = daemon.home().command(rookery_testkit::rookery_binary());
    command.current_dir(&repo).args(["review", "request", "evil\x1b[2J\u{202e}summary"]);
    rookery_testkit::Finished::of(command).success();
    let face = open(&daemon);
    face.prefix("V");
    wait_page(&client, "reviews");
    face.wait("summary");
    face.send("\r");
    wait_page(&client, "review");
    face.wait(MARK);
    for _ in 0..14 {
        check(&face);
        face.send("]");
    }
    wait_until("it goes on", PATIENCE, || face.pty.text().contains(MARK));
    check(&face);
    face.send("q");
    wait_page(&client, "workspace");
    face.leave();
}

/// All of it, and a word of 64 KiB.
pub(crate) fn everything() -> String {
    format!("{}\n{MARK}{}\n", texts().join("\n\n"), "x".repeat(64 * 1024))
}

#[test]
fn threads_and_what_they_ask() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, dir) = super::agent(&daemon, "work");
    let write = json!({ "path": "evil\u{202e}gpj.sh", "content": everything() });
    let option = |label: &str| json!({ "label": label, "description": label });
    let labels = ["evil\u{1b}[2Jyes", "evil\u{200b}no\u{202e}"];
    let questions = json!([{
        "header": "evil\u{9b}head", "id": "q", "question": everything(),
        "options": labels.map(option),
    }]);
    let steps = json!([
        { "text": everything(), "tool": "write_file", "args": write },
        { "tool": "request_user_input", "args": { "questions": questions } },
        { "text": everything() },
    ]);
    let prompt =
        format!("{MARK}\u{1b}]0;x\u{7}\u{202e}prompt {}", crate::roder_link::script(&steps));
    let turn = roder.turn(&thread, &prompt);
    roder.wait_told("thread/approvalRequested");
    let face = open(&daemon);
    face.prefix("T");
    wait_page(&client, "threads");
    face.press_until("\r", || super::pages(&client) == [json!("thread")]);
    face.wait(MARK);
    check(&face);
    face.wait("1 waits: a approve d deny (after tab)");
    face.send("\t");
    face.wait("a approve  d deny…");
    // What hides in the name is spelled where one decides.
    face.wait("\\u{202e}");
    for _ in 0..6 {
        face.send("\x1b[5~");
        check(&face);
    }
    face.send("\x1b");
    face.wait("1 waits: a approve d deny (after tab)");
    face.prefix("i");
    wait_page(&client, "inbox");
    face.wait("a approve  d deny…");
    check(&face);
    face.send("\r");
    face.step_until("\x1b[6~", || !face.pty.text().contains("more lines"));
    check(&face);
    face.press_until("a", || dir.read_dir().unwrap().next().is_some());
    // What was decided stays until one goes on.
    face.wait("enter next");
    face.press_until("\r", || face.pty.text().contains("1-3 choose"));
    check(&face);
    face.press_until("1", || {
        let list = client.call("rookery/requests/list", json!({}));
        list["requests"].as_array().unwrap().is_empty()
    });
    roder.until_over(&turn);
    check(&face);
    face.send("q");
    wait_page(&client, "workspace");
    assert!(!String::from_utf8_lossy(&face.pty.written()).contains("javascript:alert(1)\u{1b}"));
    face.leave();
}

#[test]
fn a_line_of_megabytes_and_sixteen_floods() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh(
        "echo go; read x; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo line-done; read x; \
         seq 1 1000000; echo million-done; exec cat",
    );
    client.wait_text(id, "go");
    let face = Face::open(&daemon);
    face.wait("go");
    face.send("\r");
    face.wait("line-done");
    face.send("\r");
    face.wait("million-done");
    face.send("still here\r");
    face.wait("still here");
    // Panes that all print without an end.
    for count in 2..=8 {
        face.prefix(if count % 2 == 0 { "v" } else { "-" });
        let split =
            || super::terminals(&client).len() == count || face.pty.text().contains("cells");
        wait_until("it is split, or there is no room", PATIENCE, split);
    }
    for id in super::terminals(&client) {
        client.write(id, "yes flood\n");
    }
    face.wait("flood");
    face.prefix("i");
    wait_page(&client, "inbox");
    face.send("q");
    wait_page(&client, "workspace");
    for id in super::terminals(&client) {
        client.write(id, "\x03");
    }
    face.leave();
}
