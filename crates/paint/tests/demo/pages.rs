//! A page of each kind as one might have it: for pictures and for tests of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rookery_model::TerminalId;
use rookery_view::link::{self, Choice, DiffFile, InboxRow, ItemKind, Question, ThreadItem};
use rookery_view::scene::grid::{Scroll, ViewState};
use rookery_view::scene::layout::Point;
use rookery_view::scene::pages::{
    Button, Card, Comment, Empty, Field, Help, HelpRow, Inbox, List, ListCell, ListRow, NewThread,
    Review, Setting, Settings, Thread, Value, Weight,
};
use rookery_view::scene::{
    FindBar, Layout, Lost, Menu, MenuRow, Mood, Pane, Panes, Scene, Stage, StatusLine, Toast, Tone,
};
use rookery_view::{diff, prose, tile};

use super::{grid, workspace};

/// The time of all pages.
pub(crate) const NOW: i64 = 1_790_000_000_000;

const PATCH: &str = "\
--- a/src/auth.rs
+++ b/src/auth.rs
@@ -38,7 +38,8 @@ impl Session {
 
     /// Whether it may still be used.
     fn is_expired(&self, at: Instant) -> bool {
-        let now = clock();
-        self.until < now
+        let now = at.max(self.renewed);
+        // A clock that was set back does not make it valid again.
+        self.until <= now
     }
 
     fn renew(&mut self) {
";

const MORE: &str = "\
--- a/Cargo.toml
+++ b/Cargo.toml
@@ -12,3 +12,3 @@
 [dependencies]
-jiff = \"0.1\"
+jiff = \"0.2.15\"
 thiserror = \"2\"
--- /dev/null
+++ b/tests/expiry.rs
@@ -0,0 +1,6 @@
+#[test]
+fn a_session_ends_when_its_time_is_over() {
+    let session = session(until(5));
+    assert!(!session.is_expired(at(4)));
+    assert!(session.is_expired(at(5)));
+}
";

/// A frame with a status line around a page.
fn framed(stage: Stage) -> Scene {
    let mut scene = workspace();
    scene.now = NOW;
    scene.inbox.count = Some(3);
    scene.strip.pills[1].more = 1;
    scene.status = status();
    scene.stage = stage;
    scene
}

fn status() -> StatusLine {
    StatusLine {
        help_key: "alt+shift+/".to_owned(),
        waiting: 3,
        inbox_key: "alt+shift+i".to_owned(),
        palette_key: "alt+shift+p".to_owned(),
        message: None,
        place: "rookery – ~/src/rookery".to_owned(),
        size: "107×38".to_owned(),
        owner: None,
        mode: "default".to_owned(),
        rights: "full".to_owned(),
        is_flashing: false,
    }
}

fn minutes(ago: i64) -> i64 {
    NOW - ago * 60_000
}

fn row(kind: &str, category: &str, session: &str, what: (&str, &str), ago: i64) -> InboxRow {
    InboxRow {
        item: format!("{session}-{kind}"),
        request: (category == "approval_needed").then(|| session.to_owned()),
        category: category.to_owned(),
        kind: kind.to_owned(),
        session: session.to_owned(),
        session_title: session.to_owned(),
        title: what.0.to_owned(),
        subtitle: what.1.to_owned(),
        source: "protocol".to_owned(),
        at: minutes(ago),
        deadline: None,
        deferred: false,
        ..InboxRow::default()
    }
}

fn rows() -> Vec<InboxRow> {
    vec![
        row("approval", "approval_needed", "fix-auth", ("write_file", "src/auth.rs"), 4),
        row("question", "approval_needed", "docs", ("Format", "Which format should it have?"), 9),
        row("review", "review_requested", "upgrade", ("14 files", "bump everything"), 64),
        row("error", "error", "nightly", ("Stopped", "rate limited until 15:00"), 190),
        row("done", "completed", "landing page", ("Turn complete", "three screenshots"), 1500),
    ]
}

fn actions() -> Vec<String> {
    ["approve", "deny", "remember", "later", "open"].map(str::to_owned).to_vec()
}

/// An edit that waits to be allowed.
pub(crate) fn edit_card() -> Card {
    Card::new(Arc::new(link::Card {
        request: Some("r1".to_owned()),
        kind: "approval".to_owned(),
        title: "Edit a file".to_owned(),
        tool: "write_file".to_owned(),
        reason: "side-effecting tool call".to_owned(),
        mode: "default".to_owned(),
        source: "protocol".to_owned(),
        session_title: "api / fix-auth".to_owned(),
        at: minutes(4),
        diff: Some(diff::parse(PATCH)),
        cwd: Some("/home/ada/src/api".to_owned()),
        actions: actions(),
        state: "pending".to_owned(),
        ..link::Card::default()
    }))
}

/// A command that waits to be allowed.
fn command_card() -> Card {
    let env = [("CARGO_TERM_COLOR", Some("never")), ("RUSTFLAGS", None)];
    let env: BTreeMap<_, _> =
        env.into_iter().map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).collect();
    let command = "cargo publish --dry-run --allow-dirty";
    Card::new(Arc::new(link::Card {
        request: Some("r2".to_owned()),
        kind: "approval".to_owned(),
        tool: "shell".to_owned(),
        reason: "not allowed by a rule".to_owned(),
        mode: "default".to_owned(),
        source: "protocol".to_owned(),
        session_title: "web / upgrade".to_owned(),
        at: minutes(1),
        deadline: Some(NOW + 600_000),
        lines: vec![command.to_owned()],
        argv: ["/bin/sh", "-lc", command].map(str::to_owned).to_vec(),
        cwd: Some("/home/ada/src/web".to_owned()),
        env,
        actions: actions(),
        state: "pending".to_owned(),
        ..link::Card::default()
    }))
}

fn question_card() -> Card {
    let option = |label: &str, description: &str| Choice {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    let question = Question {
        id: "q".to_owned(),
        title: "Format".to_owned(),
        text: "Which format should the reference have?".to_owned(),
        options: vec![
            option("mdBook", "a book with chapters, built by CI"),
            option("rustdoc", "beside the code, where it is kept up to date"),
        ],
        several: false,
        free: true,
    };
    let card = link::Card {
        request: Some("r3".to_owned()),
        kind: "question".to_owned(),
        title: "Format".to_owned(),
        session_title: "docs".to_owned(),
        source: "protocol".to_owned(),
        at: minutes(9),
        questions: vec![question],
        actions: ["answer", "later", "open"].map(str::to_owned).to_vec(),
        state: "pending".to_owned(),
        ..link::Card::default()
    };
    Card { chosen: vec![1], ..Card::new(Arc::new(card)) }
}

/// What waits, with the card of the first row.
pub(crate) fn inbox() -> Scene {
    framed(Stage::Inbox(Inbox {
        rows: Arc::new(rows()),
        waiting: 3,
        notes: 12,
        selected: Some(0),
        card: Some(edit_card()),
        ..Inbox::default()
    }))
}

/// The card of a command that has the whole page, with the reason of a denial being written.
pub(crate) fn card() -> Scene {
    let mut card = command_card();
    card.deny = Some(Field::of("Not before the tests pass"));
    let inbox = Inbox { is_whole: true, card: Some(card), ..Inbox::default() };
    framed(Stage::Inbox(inbox))
}

/// The card of a question.
pub(crate) fn question() -> Scene {
    framed(Stage::Inbox(Inbox {
        rows: Arc::new(rows()),
        waiting: 3,
        notes: 12,
        selected: Some(1),
        card: Some(question_card()),
        ..Inbox::default()
    }))
}

/// A request that was settled elsewhere meanwhile.
pub(crate) fn settled() -> Scene {
    let mut card = edit_card();
    let content = Arc::make_mut(&mut card.card);
    content.state = "approved".to_owned();
    content.by = Some("idx0".to_owned());
    content.settled_at = Some(NOW - 3_000);
    framed(Stage::Inbox(Inbox { is_whole: true, card: Some(card), ..Inbox::default() }))
}

fn item(id: &str, kind: ItemKind, status: &str, text: &str) -> ThreadItem {
    ThreadItem {
        id: id.to_owned(),
        kind,
        at: minutes(3),
        status: status.to_owned(),
        blocks: (!text.is_empty()).then(|| prose::blocks(text)),
        ..ThreadItem::default()
    }
}

fn tool(id: &str, status: &str, title: &str, lines: u32, exit: Option<i32>) -> ThreadItem {
    let head = ["    Updating the index", "     Locking 41 packages", "      Adding jiff v0.2.15"];
    ThreadItem {
        tool: Some(link::ToolCall {
            name: "shell".to_owned(),
            title: title.to_owned(),
            head: head.map(str::to_owned).to_vec(),
            lines,
            exit,
            ms: exit.map(|_| 1_240),
            ..link::ToolCall::default()
        }),
        request: (status == "waiting").then(|| "r2".to_owned()),
        ..item(id, ItemKind::Command, status, "")
    }
}

/// A conversation in which a command waits.
pub(crate) fn thread() -> Scene {
    let edit = ThreadItem {
        diff: Some(diff::parse(MORE)),
        tool: Some(link::ToolCall {
            name: "edit".to_owned(),
            title: "Cargo.toml, tests/expiry.rs".to_owned(),
            ..link::ToolCall::default()
        }),
        ..item("e", ItemKind::Edit, "done", "")
    };
    let items = vec![
        item("u", ItemKind::User, "done", "Bump everything and tell me what breaks."),
        item("t", ItemKind::Thought, "done", "The manifests first, then the lock file."),
        item(
            "a",
            ItemKind::Agent,
            "done",
            "I'll look at the manifests first. The **workspace** pins `jiff` at 0.1, which is two \
             years old:\n\n```toml\njiff = \"0.1\"\n```\n\n1. update the lock file\n2. run the tests\n3. \
             say what changed",
        ),
        tool("c", "done", "cargo update --dry-run", 38, Some(0)),
        edit,
        tool("w", "waiting", "cargo publish --dry-run", 0, None),
        item(
            "b",
            ItemKind::Agent,
            "working",
            "The lock file changed in 41 places, the important ones are",
        ),
    ];
    let head = link::ThreadHead {
        title: "plan the release".to_owned(),
        model: "mock/mock".to_owned(),
        mode: "default".to_owned(),
        status: "working".to_owned(),
        usage: link::Usage { input: 900, output: 304, total: 1204 },
        turn: Some(link::ActiveTurn { id: "1".to_owned(), at: minutes(1) }),
        waiting: vec!["r2".to_owned()],
        ..link::ThreadHead::default()
    };
    framed(Stage::Thread(Thread {
        head: Arc::new(head),
        items: Arc::new(items),
        open: BTreeSet::from(["c".to_owned()]),
        composer: Field::of("also check the changelog"),
        ..Thread::default()
    }))
}

/// A conversation that is being begun.
pub(crate) fn new_thread() -> Scene {
    framed(Stage::NewThread(NewThread {
        project: "api".to_owned(),
        root: "~/src/api".to_owned(),
        prompt: Field { has_keyboard: true, ..Field::default() },
        ..NewThread::default()
    }))
}

/// Changes that are judged, with a comment and another being written.
pub(crate) fn review() -> Scene {
    let files: Vec<DiffFile> = diff::parse(&format!("{PATCH}{MORE}"));
    framed(Stage::Review(Review {
        title: "upgrade".to_owned(),
        status: "open".to_owned(),
        files: Arc::new(files),
        line: 6,
        comments: vec![Comment {
            path: "src/auth.rs".to_owned(),
            line: Some(41),
            by: "you".to_owned(),
            text: "Which clock is this? The test passes one in.".to_owned(),
        }],
        comment: Some(Field::of("Why not `<` as before")),
        ..Review::default()
    }))
}

fn text_cell(text: &str, weight: Weight) -> ListCell {
    ListCell { text: text.to_owned(), weight, is_code: false }
}

/// Worktrees.
pub(crate) fn list() -> Scene {
    let worktree = |path: &str, branch: &str, state: &str, weight, mood| ListRow {
        mood: Some(mood),
        cells: vec![
            ListCell { text: path.to_owned(), weight: Weight::Text, is_code: true },
            text_cell(branch, Weight::Soft),
            text_cell(state, weight),
        ],
    };
    let rows = vec![
        worktree("~/src/api", "main", "clean", Weight::Faint, Mood::Inactive),
        worktree("~/src/api.fix-auth", "fix-auth", "3 commits ahead", Weight::Good, Mood::Waiting),
        worktree(
            "~/src/api.docs",
            "docs/reference",
            "changed, 5 files",
            Weight::Soft,
            Mood::Working,
        ),
        worktree("~/src/api.old", "spike/queue", "conflicts with main", Weight::Bad, Mood::Failed),
    ];
    framed(Stage::List(List {
        title: "Worktrees".to_owned(),
        aside: "~/src/api".to_owned(),
        columns: ["Directory", "Branch", "State"].map(str::to_owned).to_vec(),
        rows: Arc::new(rows),
        selected: Some(1),
        filter: Some(Field::default()),
        buttons: vec![
            (Button::Open, "Open Session".to_owned()),
            (Button::Land, "Land…".to_owned()),
            (Button::Remove, "Remove…".to_owned()),
        ],
        ..List::default()
    }))
}

/// What can be set.
pub(crate) fn settings() -> Scene {
    let setting = |section: &str, name: &str, value: Value, hint: &str| Setting {
        section: section.to_owned(),
        name: name.to_owned(),
        value,
        hint: hint.to_owned(),
    };
    let text = |text: &str| Value::Text(text.to_owned());
    let words = |words: &[&str], at| {
        Value::Choice(words.iter().map(|word| (*word).to_owned()).collect(), at)
    };
    let nord = [
        (0x2e, 0x34, 0x40),
        (0xbf, 0x61, 0x6a),
        (0xa3, 0xbe, 0x8c),
        (0xeb, 0xcb, 0x8b),
        (0x81, 0xa1, 0xc1),
    ];
    framed(Stage::Settings(Settings {
        file: "~/.config/roost/config.conf".to_owned(),
        rows: vec![
            setting(
                "Look",
                "Theme",
                Value::Theme("nord".to_owned(), nord.to_vec()),
                "previewed while you move",
            ),
            setting("", "Font", text("DejaVu Sans Mono"), "Enter lists what is installed"),
            setting("", "Font size", Value::Number("13".to_owned()), "− and + change it"),
            setting("", "Agents in the sidebar", Value::Switch(true), ""),
            setting(
                "Keys",
                "Command palette",
                Value::Keys(vec!["alt+shift+p".to_owned()]),
                "Enter, then press the chord",
            ),
            setting(
                "",
                "Link modifier",
                words(&["ctrl", "alt", "super"], 1),
                "held while clicking a link",
            ),
            setting(
                "Safety",
                "Confirm close",
                words(&["busy", "always", "never"], 0),
                "busy: an agent works or waits there",
            ),
            setting(
                "",
                "Answer guard",
                Value::Number("400 ms".to_owned()),
                "keys that decide wait this long",
            ),
            setting("", "Paste warning", words(&["multiline", "always", "never"], 0), ""),
            setting(
                "Web",
                "Page for browsers",
                Value::Switch(false),
                "turns it on and pairs a device",
            ),
        ],
        selected: 0,
        first: None,
        buttons: Vec::new(),
    }))
}

/// What every key does.
pub(crate) fn help() -> Scene {
    let action = |section: &str, title: &str, keys: &[&str]| HelpRow {
        section: section.to_owned(),
        title: title.to_owned(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
    };
    framed(Stage::Help(Help {
        filter: Field { has_keyboard: true, ..Field::default() },
        rows: vec![
            action("Panes", "Split Right", &["alt+shift+\\"]),
            action("", "Split Below", &["alt+shift+-"]),
            action("", "Zoom Pane", &["alt+shift+z"]),
            action("", "Focus Left", &["ctrl+shift+left"]),
            action("Tabs", "New Tab", &["alt+t"]),
            action("", "Next Tab", &["alt+shift+]"]),
            action("", "Rename Tab", &["alt+r"]),
            action("Agents", "Open Inbox", &["alt+shift+i"]),
            action("", "Next Waiting", &["alt+shift+j"]),
            action("", "New Thread", &["alt+shift+n"]),
            action("Text", "Copy", &["alt+c", "ctrl+shift+c"]),
            action("", "Find", &["ctrl+shift+f"]),
        ],
        selected: 0,
        first: None,
    }))
}

/// Where nothing runs.
pub(crate) fn empty() -> Scene {
    let mut scene = framed(Stage::Empty(Empty {
        root: "~/src/api".to_owned(),
        agents: ["claude", "codex", "gemini"].map(str::to_owned).to_vec(),
        focus: Some(Button::Shell),
        keys: ["alt+t", "alt+shift+n", "", "alt+shift+/"].map(str::to_owned).to_vec(),
    }));
    scene.strip.pills.clear();
    scene
}

const TESTS: &str = "\x1b[32m$\x1b[0m cargo test\r\n   Compiling api v0.3.1 (/home/ada/src/api)\r\n\
    \x1b[1mrunning 214 tests\x1b[0m\r\ntest auth::expired ... \x1b[32mok\x1b[0m\r\n\
    test auth::reused ... \x1b[31mFAILED\x1b[0m\r\n\r\nfailures:\r\n    auth::reused\r\n\r\n\x1b[32m$\x1b[0m ";

const AGENT: &str = "\x1b[36m⏺\x1b[0m Update(src/auth.rs)\r\n  \x1b[90m⎿\x1b[0m  Updated with 2 additions and 1 removal\r\n\
    \x1b[31m     41 -    let now = clock();\x1b[0m\r\n\x1b[32m     41 +    let now = at.max(self.renewed);\x1b[0m\r\n\r\n\
    \x1b[38;5;208m╭────────────────────────────────╮\r\n│\x1b[0m Do you want to make this edit? \x1b[38;5;208m│\r\n\
    │\x1b[0m \x1b[34m❯ 1. Yes\x1b[0m                       \x1b[38;5;208m│\r\n│\x1b[0m   2. No                        \x1b[38;5;208m│\r\n\
    ╰────────────────────────────────╯\x1b[0m\r\n\r\n\x1b[90m⏵⏵ accept edits · esc to interrupt\x1b[0m";

const LOG: &str = "12:03:44 GET /v1/session 200 4 ms\r\n12:03:45 POST /v1/renew 200 11 ms\r\n\
    \x1b[33m12:03:47 GET /v1/session 401 1 ms\x1b[0m\r\n12:03:49 GET /healthz 200 0 ms";

/// Three terminals that are tiled, one of them larger and one smaller than its room.
pub(crate) fn panes() -> Scene {
    let mut scene = framed(Stage::default());
    // Room for headers is there before the panes are.
    let room = Layout::of(&scene).grid;
    let mut tree = tile::Tree::Pane(12);
    let whole = tile::Rect::room(room.cols, room.rows);
    let _ = tree.insert(12, tile::Side::Right, 13, whole);
    let _ = tree.insert(13, tile::Side::Below, 14, whole);
    let areas = tree.areas(whole);
    let pane = |area: &tile::Area| {
        let tile::Rect { rows, cols, .. } = area.rect;
        let focused = ViewState { has_keyboard: area.terminal == 13, ..ViewState::default() };
        let scrolled = ViewState { scroll: Scroll { back: 40, history: 400 }, ..focused.clone() };
        let (shown, title, mood) = match area.terminal {
            12 => (
                grid(rows, cols, &scene.theme, TESTS.as_bytes(), &scrolled),
                "cargo test",
                Mood::Failed,
            ),
            13 => (
                grid(rows + 9, cols, &scene.theme, AGENT.as_bytes(), &focused),
                "fix-auth",
                Mood::Waiting,
            ),
            _ => (
                grid(rows - 5, cols - 12, &scene.theme, LOG.as_bytes(), &focused),
                "logs",
                Mood::Working,
            ),
        };
        Pane {
            title: title.to_owned(),
            mood,
            is_focused: area.terminal == 13,
            new_rows: if area.terminal == 12 { 214 } else { 0 },
            ..Pane::new(TerminalId::new(area.terminal), Some(area.rect), Arc::new(shown))
        }
    };
    let panes = areas.iter().map(pane).collect();
    scene.stage = Stage::Panes(Panes { panes, is_group: true, is_zoomed: false });
    for pill in &mut scene.strip.pills {
        pill.is_active = pill.id == TerminalId::new(12);
        pill.more = if pill.is_active { 2 } else { 0 };
    }
    scene.status.message = Some((Tone::Info, "copied".to_owned()));
    scene.status.owner = Some("laptop window".to_owned());
    scene
}

/// The find bar over a terminal with matches, and toasts.
pub(crate) fn find() -> Scene {
    let mut scene = panes();
    let Stage::Panes(shown) = &mut scene.stage else { return scene };
    let pane = &mut shown.panes[0];
    pane.new_rows = 0;
    pane.find = Some(FindBar {
        field: Field::of("auth"),
        count: "1 of 3".to_owned(),
        is_regex: true,
        ..FindBar::default()
    });
    let grid = Arc::make_mut(&mut pane.grid);
    for (row, current) in [(3, false), (4, true), (7, false)] {
        let start = if row == 7 { 4 } else { 5 };
        let row = Arc::make_mut(&mut grid.rows[row]);
        row.found = vec![(start..start + 4, current)];
    }
    scene.toasts = vec![Toast {
        title: "fix-auth waits".to_owned(),
        body: "write_file src/auth.rs".to_owned(),
        mood: Mood::Waiting,
    }];
    scene
}

/// A menu over a pill.
pub(crate) fn menu() -> Scene {
    let mut scene = panes();
    let row = |title: &str, key: &str| MenuRow {
        title: title.to_owned(),
        key: key.to_owned(),
        is_destructive: title == "Close",
        ..MenuRow::default()
    };
    scene.menu = Some(Menu {
        at: Point { x: 360.0, y: 26.0 },
        rows: vec![
            row("Rename…", "alt+r"),
            row("Split Right", "alt+shift+\\"),
            row("Split Below", "alt+shift+-"),
            row("Zoom", "alt+shift+z"),
            row("", ""),
            row("Close", "alt+w"),
        ],
        selected: Some(1),
    });
    scene
}

/// The daemon is away.
pub(crate) fn lost() -> Scene {
    let mut scene = panes();
    scene.lost = Some(Lost {
        trying: "connecting again, 3 s".to_owned(),
        unsent: "3 keys may not have arrived: \"ls\\r\"".to_owned(),
        note: "not sent".to_owned(),
        can_start: true,
    });
    scene
}

/// Letters of many kinds: what agents draw, icons, prompts, CJK, emoji, marks.
pub(crate) fn letters() -> Scene {
    let mut scene = framed(Stage::default());
    for pill in &mut scene.strip.pills {
        pill.more = 0;
    }
    let room = Layout::of(&scene).grid;
    let text = "\x1b[?25l\
        agents   ⏺ ⎿  ⏵⏵ ⏸ ⏹ ⏴ ✻ ✽ ✢ · ● ○ ◐ ✓ ✗ ❯ › ↑↓ ⇧ … ▸ ▾ ☐ ☑ ⚠ ⏎ ⌘\r\n\
        prompt   \x1b[44;97m ~/src \x1b[0;34;42m\u{e0b0}\x1b[30m main \x1b[0;32m\u{e0b0}\x1b[0m  \
        \x1b[35m\u{e0b6}\x1b[45;97m round \x1b[0;35m\u{e0b4}\x1b[0m  \x1b[33m\u{e0ba}\x1b[43;30m slant \x1b[0;33m\u{e0bc}\x1b[0m  \
        a \u{e0b1} b \u{e0b3} c \u{e0b5} d \u{e0b7} e\r\n\
        icons    \u{e0a0} \u{f418} \u{e725} \u{e702} \u{e7a8} \u{e73c} \u{e718} \u{f31b} \u{f313} \u{f09b} \u{f07c} \u{f015} \u{ea60} \u{eb01} \u{f0e7} \u{f012c} \u{f0320} \u{f1617}\r\n\
        round    ╭──┬──╮ ╱╲ ╳  ┌┄┄┐ ╔══╦══╗ ┏━━┳━━┓  ▁▂▃▄▅▆▇█ ▏▎▍▌▋▊▉ ░▒▓\r\n\
        \x20        ├──┼──┤ ╲╱ ╳  ┊  ┊ ╠══╬══╣ ┣━━╋━━┫  ⣀⣤⣶⣿⣷⣦⣄ ▖▗▘▙▚▛▜▝▞▟\r\n\
        \x20        ╰──┴──╯       └┈┈┘ ╚══╩══╝ ┗━━┻━━┛  🬀🬁🬃🬞🬦🬵🬹🬻🬺 🭰🭱🭲🭳 🭶🭷🭸\r\n\
        wide     你好，世界  日本語  한국어  ｆｕｌｌ\r\n\
        emoji    🚀 🎉 ✅ ❌ ⚡ 🔥 👩\u{200d}🚀 👍🏽 🇩🇪 🇯🇵 ❤️ 1️⃣\r\n\
        marks    e\u{301} a\u{308} n\u{303} o\u{302}\u{301} x\u{336} ạ̈ q\u{307} Z\u{335}\r\n\
        scripts  Ελληνικά Русский العربية עברית हिन्दी ไทย\r\n\
        styles   \x1b[1mbold\x1b[0m \x1b[3mitalic\x1b[0m \x1b[1;3mboth\x1b[0m \x1b[4mline\x1b[0m \x1b[4:2mtwo\x1b[0m \x1b[4:3mcurl\x1b[0m \x1b[4:4mdots\x1b[0m \x1b[4:5mdashes\x1b[0m \x1b[9mstruck\x1b[0m \x1b[2mdim\x1b[0m \x1b[7minverse\x1b[0m";
    let shown = grid(room.rows, room.cols, &scene.theme, text.as_bytes(), &ViewState::default());
    scene.stage = Stage::terminal(TerminalId::new(11), Arc::new(shown));
    scene
}

/// Every picture by its name.
pub(crate) fn all() -> Vec<(&'static str, Scene)> {
    vec![
        ("workspace", workspace_with_status()),
        ("panes", panes()),
        ("find", find()),
        ("menu", menu()),
        ("palette", super::palette()),
        ("question-box", super::question()),
        ("inbox", inbox()),
        ("card", card()),
        ("card-question", question()),
        ("settled", settled()),
        ("thread", thread()),
        ("new-thread", new_thread()),
        ("review", review()),
        ("list", list()),
        ("settings", settings()),
        ("help", help()),
        ("empty", empty()),
        ("lost", lost()),
        ("letters", letters()),
    ]
}

fn workspace_with_status() -> Scene {
    let mut scene = workspace();
    scene.status = status();
    scene.inbox.count = Some(3);
    scene.stage = super::screen(&scene);
    scene
}

/// A page in a light theme.
pub(crate) fn light(mut scene: Scene) -> Scene {
    let palette = &mut scene.theme.palette;
    palette.background = (0xfa, 0xfa, 0xfa);
    palette.foreground = (0x2a, 0x2c, 0x33);
    scene
}

/// The same picture in fewer bytes, for files that are kept.
pub(crate) fn packed(png: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("a picture too large")?];
    let info = reader.next_frame(&mut pixels)?;
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, info.width, info.height);
    encoder.set_color(info.color_type);
    encoder.set_depth(info.bit_depth);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(out)
}
