//! The mirror against the daemon's half: after any frames, lost or not, both show the same.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::{Changed, Mirror};
use proptest::prelude::*;
use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};
use rookery_view::link::differ::{Differ, TermNow};
use rookery_view::link::{
    Area, Dialog, Frame, Inbox, Opened, Page, Panes, Resync, Rights, Scene, Sidebar, Status, Strip,
    Style, Theme,
};

/// The world as the daemon has it, with one viewer.
struct Daemon {
    screens: BTreeMap<u64, Screen>,
    tops: BTreeMap<u64, u64>,
    in_view: BTreeSet<u64>,
    scene: Scene,
    input: u64,
    differ: Differ,
}

fn new_screen() -> Screen {
    let config =
        ScreenConfig { size: ScreenSize::new(5, 12), scrollback: 40, palette: Palette::default() };
    Screen::new(config, Box::new(MemoryBlocks::default()))
}

fn whole_scene() -> Scene {
    Scene {
        page: Some(Page::default()),
        title: Some(String::new()),
        status: Some(Status::default()),
        theme: Some(Theme::default()),
        sidebar: Some(Sidebar::default()),
        strip: Some(Strip::default()),
        panes: Some(Some(panes(&[1, 2, 3].into()))),
        palette: Some(None),
        inbox: Some(Inbox::default()),
        dialog: Some(None),
        toasts: Some(Vec::new()),
        ..Scene::default()
    }
}

fn panes(in_view: &BTreeSet<u64>) -> Panes {
    let area = |t: &u64| Area { t: *t, ..Area::default() };
    Panes { areas: in_view.iter().map(area).collect(), ..Panes::default() }
}

impl Daemon {
    fn new() -> Daemon {
        let screens: BTreeMap<u64, Screen> =
            [1, 2, 3].map(|terminal| (terminal, new_screen())).into();
        Daemon {
            in_view: screens.keys().copied().collect(),
            screens,
            tops: BTreeMap::new(),
            scene: whole_scene(),
            input: 0,
            differ: Differ::new(whole_scene(), true),
        }
    }

    fn opened(scene: Scene) -> Mirror {
        Mirror::opened(&Opened {
            version: 1,
            viewer: 1,
            rights: Rights::Full,
            is_desk: true,
            daemon: Default::default(),
            settings: Default::default(),
            keys: Vec::new(),
            scene,
        })
    }

    fn draft(&self, differ: &mut Differ) -> Option<Frame> {
        differ.retain(&self.in_view);
        differ.scene(&self.scene);
        for terminal in &self.in_view {
            let now = TermNow {
                top: self.tops.get(terminal).copied(),
                ..TermNow::new(*terminal, &self.screens[terminal])
            };
            differ.term(&now);
        }
        let frame = differ.finish(self.input, Frame::default())?;
        // As it comes out of the wire.
        let text = serde_json::to_string(&frame).unwrap();
        let read: Frame = serde_json::from_str(&text).unwrap();
        assert_eq!(read, frame);
        Some(read)
    }

    fn frame(&mut self) -> Option<Frame> {
        let mut differ = std::mem::take(&mut self.differ);
        let frame = self.draft(&mut differ);
        self.differ = differ;
        frame
    }

    /// What a viewer that opens now would see.
    fn fresh(&self) -> Mirror {
        let mut differ = Differ::new(self.scene.clone(), true);
        let mut mirror = Daemon::opened(self.scene.clone());
        while let Some(frame) = self.draft(&mut differ) {
            assert!(mirror.apply(frame).resync.is_empty());
        }
        mirror
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Feed(terminal, text) => {
                let screen = self.screens.get_mut(terminal).unwrap();
                screen.feed(text.as_bytes(), &NoTranscript, Duration::ZERO);
            }
            Step::Resize(terminal, rows, cols) => {
                let screen = self.screens.get_mut(terminal).unwrap();
                screen.resize(ScreenSize::new(*rows, *cols), &NoTranscript, Duration::ZERO);
            }
            Step::Scroll(terminal, 0) => drop(self.tops.remove(terminal)),
            Step::Scroll(terminal, back) => {
                let first = self.screens[terminal].first_row();
                self.tops.insert(*terminal, first.saturating_sub(*back));
            }
            Step::Theme(red) => {
                let palette = Palette { foreground: (*red, 1, 2), ..Palette::default() };
                for screen in self.screens.values_mut() {
                    screen.set_palette(palette.clone());
                }
            }
            Step::Show(bits) => {
                self.in_view = [1, 2, 3].into_iter().filter(|t| bits & (1 << t) != 0).collect();
                self.scene.panes = Some(Some(panes(&self.in_view)));
            }
            Step::Scene(title, asks) => {
                self.scene.title = Some(title.clone());
                self.scene.dialog = Some(asks.then(Dialog::default));
                self.input += 1;
            }
            Step::Frame(_) => {}
        }
    }
}

/// What a person would see of a terminal.
fn seen(mirror: &Mirror, daemon: &Daemon) -> Vec<String> {
    let shown = |terminal: &u64| {
        let term = mirror.term(*terminal).unwrap_or_else(|| panic!("{terminal} is missing"));
        let rows: Vec<String> = term
            .rows()
            .map(|row| {
                let style = |id: u32| {
                    let style: Option<&Style> = term.style(id).filter(|_| id != 0);
                    assert!(id == 0 || style.is_some());
                    style.map(|style| {
                        let link = style.raw.l.map(|link| term.link(link).unwrap().to_owned());
                        (
                            rookery_view::link::RawStyle { l: None, ..style.raw },
                            link,
                            style.ink,
                            style.ground,
                        )
                    })
                };
                let runs: Vec<_> = row.runs.chunks(2).map(|run| (run[0], style(run[1]))).collect();
                format!("{} {:?} {:?} {}", row.number, row.text, runs, row.flags)
            })
            .collect();
        assert_eq!(rows.len(), usize::from(term.size.rows), "every row of the view is there");
        let theme = daemon.screens[terminal].colors().theme();
        let default = term.style(0).map(|style| (style.ink.0, style.ground.0));
        let default = default.unwrap_or((theme.foreground, theme.background));
        format!(
            "{terminal} {:?} {:?} {:?} {:?} {} {:?} {rows:#?}",
            term.epoch, term.size, term.view, term.cursor, term.modes, default
        )
    };
    daemon.in_view.iter().map(shown).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Feed(u64, String),
    Resize(u64, u16, u16),
    Scroll(u64, u64),
    Theme(u8),
    Show(u8),
    Scene(String, bool),
    Frame(Fault),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Dropped,
    Twice,
    Late,
}

fn output() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[a-z日é ]{1,20}",
        6 => Just("\r\n".to_owned()),
        2 => (1..6u16, 1..12u16).prop_map(|(row, col)| format!("\x1b[{row};{col}H")),
        3 => (30..50u16).prop_map(|color| format!("\x1b[{color}m")),
        1 => (0..4u16).prop_map(|what| format!("\x1b[{what}J")),
        1 => (0..3u16).prop_map(|what| format!("\x1b[{what}K")),
        1 => (1..4u16).prop_map(|count| format!("\x1b[{count}L")),
        1 => (1..4u16).prop_map(|count| format!("\x1b[{count}M")),
        1 => prop_oneof![
            Just("\x1b[?1049h"), Just("\x1b[?1049l"), Just("\x1bc"), Just("\x1b[2;4r"), Just("\x1b[r"), Just("\x1bM"),
            Just("\x1b]8;;https://a.b/\x07x\x1b]8;;\x07"), Just("\x1b]4;2;#123456\x07"), Just("\x1b]11;#000011\x07"),
            Just("\x1b]111\x07"), Just("e\u{301}"), Just("\x1b[?25l"), Just("\x1b[5 q"), Just("\x1b[?2004h"),
            Just("\x1b[4:3;58;5;1m"), Just("\x1b[38;2;1;2;3;7m"), Just("\x1b[0m"),
        ].prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..10).prop_map(|pieces| pieces.concat())
}

fn steps(faults: bool) -> impl Strategy<Value = Vec<Step>> {
    let fault = if faults {
        prop_oneof![4 => Just(Fault::None), 1 => Just(Fault::Dropped), 1 => Just(Fault::Twice), 1 => Just(Fault::Late)].boxed()
    } else {
        Just(Fault::None).boxed()
    };
    let step = prop_oneof![
        6 => (1..4u64, output()).prop_map(|(terminal, text)| Step::Feed(terminal, text)),
        1 => (1..4u64, 1..7u16, 1..14u16).prop_map(|(terminal, rows, cols)| Step::Resize(terminal, rows, cols)),
        1 => (1..4u64, 0..10u64).prop_map(|(terminal, back)| Step::Scroll(terminal, back)),
        1 => any::<u8>().prop_map(Step::Theme),
        1 => any::<u8>().prop_map(Step::Show),
        1 => ("[a-z]{0,3}", any::<bool>()).prop_map(|(title, asks)| Step::Scene(title, asks)),
        5 => fault.prop_map(Step::Frame),
    ];
    prop::collection::vec(step, 1..40)
}

/// Sends frames until nothing is new and nothing is missing.
fn settle(daemon: &mut Daemon, mirror: &mut Mirror) {
    for _ in 0..20 {
        let Some(frame) = daemon.frame() else { return };
        assert!(daemon.differ.acknowledge(frame.n));
        let Changed { resync, .. } = mirror.apply(frame);
        daemon.differ.resync(&resync);
    }
    panic!("it does not settle");
}

fn assert_same(daemon: &Daemon, mirror: &Mirror) {
    let fresh = daemon.fresh();
    assert!(!mirror.is_scene_lost());
    assert!(daemon.in_view.iter().all(|terminal| !mirror.is_lost(*terminal)));
    assert_eq!(mirror.scene(), fresh.scene());
    assert_eq!(seen(mirror, daemon), seen(&fresh, daemon));
    assert_eq!(mirror.input(), daemon.input);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Deltas come to what a viewer sees that opens now.
    #[test]
    fn deltas_equal_a_fresh_opening(steps in steps(false)) {
        let mut daemon = Daemon::new();
        let mut mirror = Daemon::opened(daemon.scene.clone());
        for step in &steps {
            daemon.step(step);
            if matches!(step, Step::Frame(_)) {
                if let Some(frame) = daemon.frame() {
                    let changed = mirror.apply(frame);
                    prop_assert_eq!(&changed.resync, &Resync::default());
                    prop_assert_eq!(changed.n, Some(mirror.last()));
                    daemon.differ.acknowledge(mirror.last());
                }
                assert_same(&daemon, &mirror);
            }
        }
    }

    /// Frames that are lost, doubled or late are noticed, and everything comes right again.
    #[test]
    fn lost_frames_are_noticed_and_made_good(steps in steps(true)) {
        let mut daemon = Daemon::new();
        let mut mirror = Daemon::opened(daemon.scene.clone());
        let mut late: Option<Frame> = None;
        for step in &steps {
            daemon.step(step);
            let Step::Frame(fault) = step else { continue };
            let Some(frame) = daemon.frame() else { continue };
            daemon.differ.acknowledge(frame.n);
            let arrived: Vec<Frame> = match fault {
                Fault::None => vec![frame],
                Fault::Dropped => Vec::new(),
                Fault::Twice => vec![frame.clone(), frame],
                Fault::Late => late.replace(frame).into_iter().collect(),
            };
            for frame in arrived {
                let resync = mirror.apply(frame).resync;
                daemon.differ.resync(&resync);
            }
        }
        if let Some(frame) = late {
            let resync = mirror.apply(frame).resync;
            daemon.differ.resync(&resync);
        }
        // Whatever was lost last is noticed with the next frame.
        daemon.step(&Step::Scene("the end".to_owned(), true));
        settle(&mut daemon, &mut mirror);
        assert_same(&daemon, &mirror);
    }

    /// A viewer that is slow to acknowledge gets two frames, holds little, and then the newest state.
    #[test]
    fn late_acknowledgments_cost_little_and_lose_nothing(steps in steps(false), pace in 1..9usize) {
        let mut daemon = Daemon::new();
        let mut mirror = Daemon::opened(daemon.scene.clone());
        let mut painted = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            daemon.step(step);
            if daemon.differ.may_send()
                && let Some(frame) = daemon.frame()
            {
                painted.push(frame.n);
                prop_assert!(mirror.apply(frame).resync.is_empty());
            }
            prop_assert!(painted.len() <= 2);
            prop_assert!(daemon.differ.rows_held() <= 3 * 6);
            if at % pace == 0 && !painted.is_empty() {
                daemon.differ.acknowledge(painted.remove(0));
            }
        }
        daemon.differ.acknowledge(daemon.differ.last());
        settle(&mut daemon, &mut mirror);
        assert_same(&daemon, &mirror);
    }
}

#[test]
fn terminals_out_of_view_are_forgotten_and_come_back_in_full() {
    let mut daemon = Daemon::new();
    let mut mirror = Daemon::opened(daemon.scene.clone());
    settle(&mut daemon, &mut mirror);
    let show = |daemon: &mut Daemon, in_view: BTreeSet<u64>| {
        daemon.scene.panes = Some(Some(panes(&in_view)));
        daemon.in_view = in_view;
    };
    let known = |mirror: &Mirror| mirror.terms().map(|(t, _)| t).collect::<Vec<_>>();
    show(&mut daemon, [2].into());
    settle(&mut daemon, &mut mirror);
    assert_eq!(known(&mirror), [2]);
    daemon.step(&Step::Feed(1, "news".to_owned()));
    show(&mut daemon, [1, 2].into());
    settle(&mut daemon, &mut mirror);
    assert_eq!(known(&mirror), [1, 2]);
    assert_same(&daemon, &mirror);
    // A page without panes has none.
    (daemon.scene.panes, daemon.in_view) = (Some(None), BTreeSet::new());
    settle(&mut daemon, &mut mirror);
    assert!(known(&mirror).is_empty());
}

#[test]
fn a_large_scene_comes_in_parts_also_after_a_gap() {
    let mut daemon = Daemon::new();
    let mut mirror = Daemon::opened(daemon.scene.clone());
    settle(&mut daemon, &mut mirror);
    let large = |size: usize| "x".repeat(size);
    daemon.scene.title = Some(large(700 << 10));
    daemon.scene.dialog = Some(Some(Dialog { body: large(700 << 10), ..Dialog::default() }));
    let first = daemon.frame().expect("there is news").scene.expect("a scene");
    assert!(first.title.is_some() && first.dialog.is_none());
    assert!(daemon.differ.is_scene_behind() && daemon.differ.is_behind());
    // The first frame is lost; what follows says so, and everything comes once more.
    settle(&mut daemon, &mut mirror);
    assert!(!daemon.differ.is_behind());
    assert_same(&daemon, &mirror);
}

#[test]
fn a_frame_has_a_bound_and_the_rest_follows() {
    let mut daemon = Daemon::new();
    let screen = daemon.screens.get_mut(&1).unwrap();
    screen.resize(ScreenSize::new(1000, 1000), &NoTranscript, Duration::ZERO);
    screen.feed("x".repeat(900_000).as_bytes(), &NoTranscript, Duration::ZERO);
    let mut mirror = Daemon::opened(daemon.scene.clone());
    let frame = daemon.frame().unwrap();
    assert!(serde_json::to_string(&frame).unwrap().len() < 300_000);
    assert!(daemon.differ.is_behind());
    assert!(mirror.apply(frame).resync.is_empty());
    settle(&mut daemon, &mut mirror);
    assert!(!daemon.differ.is_behind());
    assert_same(&daemon, &mirror);
}

/// Addresses go out beside the rows that have them, and take of the same room.
#[test]
fn links_count_against_the_bound_of_a_frame() {
    let mut daemon = Daemon::new();
    let screen = daemon.screens.get_mut(&1).unwrap();
    screen.resize(ScreenSize::new(60, 20), &NoTranscript, Duration::ZERO);
    for number in 0..900 {
        let address = format!("https://example.com/{number}/{}", "x".repeat(1900));
        let text = format!("\x1b]8;;{address}\x1b\\l\x1b]8;;\x1b\\");
        screen.feed(text.as_bytes(), &NoTranscript, Duration::ZERO);
    }
    let mut mirror = Daemon::opened(daemon.scene.clone());
    let (mut frames, mut links) = (0, 0);
    while let Some(frame) = daemon.frame() {
        let bytes = serde_json::to_string(&frame).unwrap().len();
        // The row that passes the bound is still in it.
        assert!(bytes < 310_000, "{bytes} bytes");
        links += frame.terms.iter().map(|term| term.links.len()).sum::<usize>();
        assert!(mirror.apply(frame).resync.is_empty());
        daemon.differ.acknowledge(daemon.differ.last());
        frames += 1;
    }
    assert!(frames > 5, "{frames} frames");
    assert_eq!(links, 900);
    assert!(!daemon.differ.is_behind());
    assert_same(&daemon, &mirror);
}

#[test]
fn a_theme_sends_styles_and_no_rows() {
    let mut daemon = Daemon::new();
    daemon.in_view = [1].into();
    daemon.step(&Step::Feed(1, "\x1b[32mgreen\x1b[1;31mred".to_owned()));
    let mut mirror = Daemon::opened(daemon.scene.clone());
    settle(&mut daemon, &mut mirror);
    daemon.step(&Step::Theme(9));
    let frame = daemon.frame().unwrap();
    assert_eq!(frame.terms.len(), 1);
    assert_eq!(frame.terms[0].rows, []);
    assert_eq!(frame.terms[0].styles.len(), 2);
    assert_eq!(daemon.frame(), None, "nothing new, no frame");
}

#[test]
fn used_up_styles_begin_anew() {
    let mut daemon = Daemon::new();
    daemon.in_view = [1, 2].into();
    let mut mirror = Daemon::opened(daemon.scene.clone());
    daemon.step(&Step::Feed(2, "\x1b[32mgreen".to_owned()));
    let mut resets = 0;
    for number in 0..5000u32 {
        let [_, red, green, blue] = number.to_be_bytes();
        daemon.step(&Step::Feed(1, format!("\x1b[38;2;{red};{green};{blue}mx")));
        let Some(frame) = daemon.frame() else { continue };
        resets += frame.terms.iter().filter(|term| term.styles_reset).count();
        assert!(frame.terms.iter().all(|term| !term.styles_reset || term.full));
        assert!(mirror.apply(frame).resync.is_empty());
    }
    assert_eq!(resets, 2, "both terminals begin anew once");
    settle(&mut daemon, &mut mirror);
    assert_same(&daemon, &mirror);
}

#[test]
fn what_cannot_be_is_asked_for_again() {
    let mut daemon = Daemon::new();
    daemon.in_view = [1].into();
    daemon.step(&Step::Feed(1, "\x1b[32mgreen".to_owned()));
    let whole = daemon.frame().unwrap();
    let check = |change: &dyn Fn(&mut Frame), expected: &[u64]| {
        let mut mirror = Daemon::opened(whole_scene());
        assert!(mirror.apply(whole.clone()).resync.is_empty());
        let mut entry = rookery_view::link::Term { t: 1, seq: 9, ..Default::default() };
        entry.rows = vec![rookery_view::link::Row::blank(0)];
        let mut frame = Frame { n: 2, terms: vec![entry], ..Frame::default() };
        change(&mut frame);
        assert_eq!(mirror.apply(frame).resync.terms, expected);
    };
    check(&|_| {}, &[]);
    check(&|frame| frame.terms[0].t = 7, &[7]);
    check(&|frame| frame.terms[0].rows[0].runs = vec![1, 99], &[1]);
    check(&|frame| frame.terms[0].rows[0].runs = vec![1], &[1]);
    check(&|frame| frame.terms[0].rows[0].number = 99, &[1]);
    check(&|frame| frame.terms[0].sum = Some(1), &[1]);
    check(&|frame| frame.terms[0].epoch = Some(9), &[1]);
    check(&|frame| frame.n = 4, &[1]);
    check(&|frame| frame.terms[0].full = true, &[1]);
}
