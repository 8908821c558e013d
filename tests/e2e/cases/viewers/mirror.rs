//! What a viewer puts together from what changed is what one that opens now is shown: after any steps,
//! through the daemon and its socket.

use std::fmt::Write as _;
use std::time::Instant;

use rookery_face::{Mirror, MirrorTerm};
use rookery_testkit::{PATIENCE, Random, TestDaemon, wait_until};
use rookery_view::link::{Frame, Opened, RawStyle, RowsFound, Scene};
use serde_json::{Value, json};

use super::{Link, roost};

/// Steps of one seed; three seeds make a thousand.
const STEPS: u64 = 340;
/// Steps at most between two comparisons.
const BATCH: u64 = 8;
/// Panes that are opened at most.
const MOST_PANES: usize = 6;
const THEMES: [&str; 4] = ["dracula", "github-light", "high-contrast", "kanagawa"];

/// A viewer and what it made of its frames.
struct Watcher {
    link: Link,
    mirror: Mirror,
}

impl Watcher {
    fn open(daemon: &TestDaemon, params: Value) -> Watcher {
        let mut link = Link::connect(daemon);
        let mut all = json!({"versions": [1], "face": "tui", "name": "t", "check": true});
        all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        let opened = link.call("rookery/view/open", all);
        let opened: Opened = serde_json::from_value(opened).unwrap();
        Watcher { link, mirror: Mirror::opened(&opened) }
    }

    /// Takes over every frame that is there. None may be missing anything.
    #[track_caller]
    fn pump(&mut self) {
        self.link.round_trip();
        for frame in self.link.frames.drain(..) {
            let shown = frame.to_string();
            let frame: Frame = serde_json::from_value(frame).unwrap();
            let changed = self.mirror.apply(frame);
            assert!(changed.resync.is_empty(), "{:?} after {shown:.4000}", changed.resync);
        }
    }

    fn panes(&self) -> Vec<u64> {
        let panes = self.mirror.scene().panes.clone().flatten();
        panes.map(|panes| panes.areas.iter().map(|area| area.t).collect()).unwrap_or_default()
    }
}

/// What a person would see of a terminal. Numbers of styles and links are each viewer's own.
fn seen(term: &MirrorTerm, scene: &Scene) -> String {
    let owner = term.owner.as_ref().map(|owner| owner.viewer);
    let mut out = format!(
        "epoch {} {:?} {:?} {:?} modes {} {:?} owner {owner:?}\n",
        term.epoch, term.size, term.view, term.cursor, term.modes, term.ended
    );
    let of_theme = scene.theme.as_ref().map(|theme| (theme.foreground, theme.background));
    let own = term.style(0).map(|style| (style.ink, style.ground)).or(of_theme);
    let _ = writeln!(out, "default {own:?}");
    let rows = term.rows().count();
    assert_eq!(rows, usize::from(term.size.rows), "every row of the view is there");
    for row in term.rows() {
        let style = |id: u32| {
            let style = term.style(id).filter(|_| id != 0)?;
            let link = style.raw.l.map(|link| term.link(link).unwrap_or("?").to_owned());
            Some((RawStyle { l: None, ..style.raw }, link, style.ink, style.ground))
        };
        let runs: Vec<_> = row.runs.chunks(2).map(|run| (run[0], style(run[1]))).collect();
        let _ = writeln!(out, "{} {:?} {runs:?} {}", row.number, row.text, row.flags);
    }
    out
}

/// All that is shown, and nothing that is each viewer's own.
fn shown(watcher: &Watcher) -> (Scene, Vec<(u64, Option<String>)>) {
    let mut scene = watcher.mirror.scene().clone();
    if let Some(status) = &mut scene.status {
        status.message = None;
    }
    let term = |t: u64| {
        let term = watcher.mirror.term(t).filter(|term| has_all_rows(term));
        (t, term.map(|term| seen(term, &scene)))
    };
    let terms = watcher.panes().into_iter().map(term).collect();
    (scene, terms)
}

fn has_all_rows(term: &MirrorTerm) -> bool {
    term.rows().count() == usize::from(term.size.rows)
}

/// A world with a viewer at it, and the choices that are made there.
struct Play {
    daemon: TestDaemon,
    random: Random,
    viewer: Watcher,
    size: (u64, u64),
    terminals: Vec<u64>,
    input: u64,
    /// Marks that terminals were given as titles, so that their output is known to have been read.
    marks: u64,
}

impl Play {
    fn new(seed: u64) -> Play {
        let daemon = TestDaemon::start();
        let size = (80, 24);
        let first = echo(&daemon);
        let viewer = Watcher::open(
            &daemon,
            json!({"size": {"cols": size.0, "rows": size.1},
                "place": {"page": "workspace", "terminal": first}}),
        );
        let terminals = vec![first, echo(&daemon)];
        let random = Random::new(seed);
        Play { daemon, random, viewer, size, terminals, input: 0, marks: 0 }
    }

    fn next_input(&mut self) -> u64 {
        self.input += 1;
        self.input
    }

    fn any_terminal(&mut self) -> u64 {
        *self.random.choose(&self.terminals)
    }

    fn any_pane(&mut self) -> Option<u64> {
        self.viewer.pump();
        let panes = self.viewer.panes();
        (!panes.is_empty()).then(|| *self.random.choose(&panes))
    }

    fn view(&mut self, method: &str, params: Value) {
        // What cannot be done just now (no room for a split) is refused, and that is fine.
        self.viewer.link.try_call(&format!("rookery/view/{method}"), params);
    }

    fn print(&mut self, t: u64, text: &str) {
        self.daemon.client().write(t, text);
    }

    fn step(&mut self) {
        match self.random.below(30) {
            0..10 => {
                let (t, text) = (self.any_terminal(), output(&mut self.random));
                self.print(t, &text);
            }
            10..12 => {
                let (t, text) = (self.any_terminal(), flood(&mut self.random));
                self.print(t, &text);
            }
            12 => {
                let (t, text) = (self.any_terminal(), picture(&mut self.random));
                self.print(t, &text);
            }
            13..15 => self.resize(),
            15..19 => self.scroll(),
            19 => self.split(),
            20 => self.close(),
            21 => self.view("pane", json!({"focus": "next"})),
            22 => {
                let zoom = self.random.below(2) == 0;
                self.view("pane", json!({"zoom": zoom}));
            }
            23 => {
                let theme = *self.random.choose(&THEMES);
                self.view("settings", json!({"set": "theme", "value": theme}));
            }
            24 => self.view("go", json!({"page": "inbox"})),
            25 => {
                let t = self.any_terminal();
                self.view("go", json!({"page": "workspace", "terminal": t}));
            }
            26 => self.prefetch(),
            27 => {
                let (t, cols) = (self.any_terminal(), 10 + self.random.below(100));
                let resize = json!({"tab_id": t.to_string(), "rows": 9, "cols": cols});
                roost(&self.daemon, "tab.resize", &resize);
            }
            28 => {
                let (t, title) = (self.any_terminal(), format!("tab {}", self.random.below(9)));
                let rename = json!({"terminal": t, "title": title});
                self.daemon.client().call("rookery/terminals/rename", rename);
            }
            _ => {
                let n = self.next_input();
                self.view(
                    "focus",
                    json!({"n": n, "has": n.is_multiple_of(2), "visible": !n.is_multiple_of(5)}),
                );
            }
        }
    }

    fn resize(&mut self) {
        self.size = match self.random.below(6) {
            0 => (240, 90),
            _ => (20 + self.random.below(110), 6 + self.random.below(40)),
        };
        let n = self.next_input();
        let size = json!({"cols": self.size.0, "rows": self.size.1});
        self.view("resize", json!({"n": n, "size": size}));
    }

    fn scroll(&mut self) {
        let Some(t) = self.any_pane() else { return };
        let by = self.random.below(60) as i64 - 40;
        let to = match self.random.below(5) {
            0 => json!({"t": t, "to": "top"}),
            1 => json!({"t": t, "to": "bottom"}),
            2 => json!({"t": t, "to": "row", "row": self.random.below(400)}),
            _ => json!({"t": t, "by": by}),
        };
        self.view("scroll", to);
    }

    fn split(&mut self) {
        self.viewer.pump();
        if self.viewer.panes().len() < MOST_PANES {
            let side = if self.random.below(2) == 0 { "right" } else { "below" };
            self.view("pane", json!({"split": side}));
            // A shell draws its prompt when it likes; what it prints is compared as well.
            let listed = self.daemon.client().terminals();
            let known = listed.iter().filter_map(|terminal| terminal["id"].as_u64());
            let shells: Vec<u64> = known.filter(|t| !self.terminals.contains(t)).collect();
            for shell in shells {
                let client = self.daemon.client();
                client.call("rookery/terminals/close", json!({"terminal": shell}));
            }
            let beside = echo(&self.daemon);
            let Some(t) = self.any_pane() else { return self.terminals.push(beside) };
            self.view("pane", json!({"move": beside, "to": t, "side": side}));
            self.terminals.push(beside);
        }
    }

    fn close(&mut self) {
        if self.terminals.len() > 2 {
            let at = self.random.below(self.terminals.len() as u64) as usize;
            let t = self.terminals.swap_remove(at);
            self.daemon.client().call("rookery/terminals/close", json!({"terminal": t}));
        }
    }

    /// Rows beside the view bring styles that later rows of the view need not bring again.
    fn prefetch(&mut self) {
        let Some(t) = self.any_pane() else { return };
        let Some((epoch, top)) = self.viewer.mirror.term(t).map(|it| (it.epoch, it.view.top))
        else {
            return;
        };
        let params = json!({"t": t, "epoch": epoch, "from": top.saturating_sub(40), "count": 80});
        let reply = self.viewer.link.try_call("rookery/view/rows", params);
        if let Some(found) = reply.get("result") {
            let found: RowsFound = serde_json::from_value(found.clone()).unwrap();
            self.viewer.pump();
            self.viewer.mirror.take_rows(t, &found);
        }
    }

    /// Waits until the daemon has read all that was printed.
    fn catch_up(&mut self) {
        self.marks += 1;
        let mark = format!("mark {}", self.marks);
        for t in self.terminals.clone() {
            self.print(t, &format!("\x18\x1b[?2026l\x1b]2;{mark}\x07"));
        }
        let client = self.daemon.client();
        // A terminal that was given a name keeps it, whatever its program says.
        wait_until("all output was read", PATIENCE, || {
            self.terminals.iter().all(|t| {
                let terminal = client.terminal(*t);
                terminal["title"] == mark.as_str() || terminal["renamed"] == true
            })
        });
    }

    /// One that opens now and goes where the other is sees the same.
    #[track_caller]
    fn compare(&mut self) {
        self.catch_up();
        self.input += 1;
        let n = self.input;
        self.view("focus", json!({"n": n, "has": true, "visible": true}));
        // Where it is may have changed while it was hidden.
        wait_until("it is shown again", PATIENCE, || {
            self.viewer.pump();
            self.viewer.mirror.input() >= n
        });
        let place = self.viewer.mirror.scene().page.clone();
        let mut fresh = Watcher::open(
            &self.daemon,
            json!({"size": {"cols": self.size.0, "rows": self.size.1}, "fit": "follow", "place": place}),
        );
        let until = Instant::now() + PATIENCE;
        loop {
            self.viewer.pump();
            self.follow(&mut fresh);
            let (mine, theirs) = (shown(&self.viewer), shown(&fresh));
            let is_whole = mine.1.iter().all(|(_, term)| term.is_some());
            if is_whole && mine == theirs {
                return;
            }
            if Instant::now() > until {
                assert_eq!(mine, theirs);
                assert!(is_whole, "rows are missing: {:?}", mine.1);
            }
        }
    }

    /// Scrolls and zooms another viewer as the first is.
    fn follow(&self, fresh: &mut Watcher) {
        fresh.pump();
        let panes = |watcher: &Watcher| watcher.mirror.scene().panes.clone().flatten();
        let zoomed = |watcher: &Watcher| panes(watcher).is_some_and(|panes| panes.zoomed);
        if zoomed(&self.viewer) != zoomed(fresh) {
            let zoom = json!({"zoom": zoomed(&self.viewer)});
            fresh.link.try_call("rookery/view/pane", zoom);
        }
        for t in self.viewer.panes() {
            let view = |watcher: &Watcher| watcher.mirror.term(t).map(|term| term.view);
            let Some(wanted) = view(&self.viewer) else { continue };
            if view(fresh).is_some_and(|view| view.top != wanted.top) {
                let to = match wanted.follows() {
                    true => json!({"t": t, "to": "bottom"}),
                    false => json!({"t": t, "to": "row", "row": wanted.top}),
                };
                fresh.link.try_call("rookery/view/scroll", to);
            }
        }
        fresh.pump();
    }
}

/// A terminal that shows what is typed into it, byte for byte.
fn echo(daemon: &TestDaemon) -> u64 {
    let script = "stty raw -echo; echo up; exec cat";
    let params = json!({"argv": ["sh", "-c", script], "scrollback": 300});
    let client = daemon.client();
    let t = client.open(params);
    client.wait_text(t, "up");
    t
}

/// Some text, colors, movements and modes.
fn output(random: &mut Random) -> String {
    const PIECES: [&str; 30] = [
        "plain text ",
        "日本語",
        "e\u{301}",
        "\r\n",
        "\r\n",
        "\r\n",
        "\x1b[H",
        "\x1b[5;3H",
        "\x1b[J",
        "\x1b[1J",
        "\x1b[2J",
        "\x1b[3J",
        "\x1b[K",
        "\x1b[2L",
        "\x1b[3M",
        "\x1bM",
        "\x1b[2;9r",
        "\x1b[r",
        "\x1b[?1049h",
        "\x1b[?1049l",
        "\x1bc",
        "\x1b[?25l",
        "\x1b[?25h",
        "\x1b[5 q",
        "\x1b[?2004h",
        "\x1b]8;;https://a.b/\x07link\x1b]8;;\x07",
        "\x1b]4;2;#123456\x07",
        "\x1b]11;#000011\x07",
        "\x1b]111\x07",
        "\x1b[?2026h half \x1b[?2026l",
    ];
    let mut text = String::new();
    for _ in 0..1 + random.below(12) {
        match random.below(3) {
            0 => {
                let _ = write!(text, "\x1b[{}m", 30 + random.below(20));
            }
            1 => {
                let (n, color) = (random.below(2000), random.below(256));
                let _ = write!(text, "\x1b[38;5;{color}mword {n}\x1b[0m ");
            }
            _ => text.push_str(random.choose::<&str>(&PIECES)),
        }
    }
    text
}

/// More rows than a screen or the history has.
fn flood(random: &mut Random) -> String {
    let mut text = String::new();
    for line in 0..20 + random.below(500) {
        let _ = write!(text, "\x1b[{}mline {line}\x1b[0m of a flood {line}\r\n", 31 + line % 7);
    }
    text
}

/// A screen on which each cell has colors of its own: many frames, and more styles than there are numbers.
fn picture(random: &mut Random) -> String {
    let mut text = String::from("\x1b[H");
    let (shade, cells) = (random.below(200), 500 + random.below(2500));
    for cell in 0..cells {
        let (red, green) = (cell % 256, cell / 256 * 8 % 256);
        let _ = write!(text, "\x1b[38;2;{red};{green};{shade}m#");
    }
    text.push_str("\x1b[0m\r\n");
    text
}

fn play(seed: u64) {
    eprintln!("mirror: seed {seed}");
    let mut play = Play::new(seed);
    let mut steps = 0;
    while steps < STEPS {
        for _ in 0..1 + play.random.below(BATCH) {
            play.step();
            steps += 1;
        }
        play.compare();
    }
}

#[test]
fn deltas_are_what_a_fresh_viewer_sees_first() {
    play(1);
}

#[test]
fn deltas_are_what_a_fresh_viewer_sees_second() {
    play(22);
}

#[test]
fn deltas_are_what_a_fresh_viewer_sees_third() {
    play(333);
}
