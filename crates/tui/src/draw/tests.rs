//! Pages drawn from fixed scenes at many sizes.

use rookery_face::app::{App, Environment};
use rookery_face::keymap::Keymap;
use rookery_face::picture::fixed::{Fixed, default_keys, workspace};
use rookery_view::link::*;

use super::*;
use crate::out::Depth;

const SIZES: [(u16, u16); 8] =
    [(100, 30), (80, 24), (40, 12), (38, 9), (20, 6), (19, 5), (3, 2), (300, 100)];

fn app(size: (u16, u16)) -> App {
    let mut app = App::new(size, Environment::default());
    app.keymap = Keymap::new(&default_keys(), Some("ctrl+\\"));
    app.rights = Rights::Full;
    app
}

fn look() -> Look {
    Look::new(None, "none", Depth::None, false, false)
}

fn draw_at(app: &App, fixed: &Fixed) -> Vec<String> {
    let cx = Cx { picture: fixed, now: 0, wall: 0 };
    draw(app, &cx, &look()).canvas.texts()
}

fn shown_at(size: (u16, u16), page: Page) -> Vec<String> {
    let app = app(size);
    let mut fixed = workspace(size.0.max(30), size.1.max(10));
    fixed.scene.page = Some(page);
    draw_at(&app, &fixed)
}

#[test]
fn the_workspace_has_sidebar_strip_panes_and_status() {
    let text = shown_at((100, 30), Page::default());
    assert!(
        text[0].starts_with(" rookery          ?3 | 1 zsh  2 ~ fix-auth +1  3 ? logs"),
        "{text:#?}"
    );
    assert!(text[1].starts_with(">api             ? 2 |$ cargo test"), "{text:#?}");
    assert!(text[2].contains("? fix-auth"), "{text:#?}");
    assert!(text.iter().any(|line| line.contains("x upgrade")), "{text:#?}");
    assert!(text.iter().any(|line| line.contains("+>plan")), "{text:#?}");
    let status = &text[29];
    assert!(status.starts_with(" ctrl+\\ keys  3 wait: ctrl+alt+o"), "{status}");
    assert!(status.ends_with("full"), "{status}");
}

#[test]
fn every_page_is_drawn_at_every_size() {
    let pages = || {
        [
            Page::default(),
            Page::Inbox { item: None },
            Page::Thread { thread: "t".to_owned() },
            Page::Threads,
            Page::Review { review: "r".to_owned(), file: None },
            Page::Reviews,
            Page::Checkpoints { session: None },
            Page::Worktrees { repo: None },
            Page::Audit,
            Page::Settings,
            Page::Help,
            Page::Unknown,
        ]
    };
    for size in SIZES {
        for page in pages() {
            let word = page.word();
            let text = shown_at(size, page);
            assert_eq!(text.len(), usize::from(size.1), "{word} {size:?}");
            let widest = text.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= usize::from(size.0), "{word} {size:?}");
            assert!(text.iter().any(|line| !line.is_empty()) || size.0 < 4, "{word} {size:?}");
        }
    }
}

#[test]
fn a_tiny_face_says_so() {
    let text = shown_at((19, 5), Page::default()).join(" ");
    assert!(text.contains("rookery: 3 wait"), "{text}");
    assert!(text.contains("larger"), "{text}");
}

#[test]
fn overlays_are_drawn_at_every_size() {
    for size in SIZES {
        let mut app = app(size);
        app.prefix = true;
        let mut fixed = workspace(size.0.max(30), size.1.max(10));
        fixed.scene.palette = Some(Some(Palette {
            placeholder: "Type a command".to_owned(),
            rows: (0..40)
                .map(|n| PaletteRow {
                    id: format!("r{n}"),
                    title: format!("Row {n}"),
                    ..Default::default()
                })
                .collect(),
            ..Palette::default()
        }));
        fixed.scene.dialog = Some(Some(Dialog {
            title: "Close?".to_owned(),
            body: "An agent works here. ".repeat(20),
            confirm: "Close".to_owned(),
            cancel: "Keep".to_owned(),
            destructive: true,
        }));
        fixed.scene.toasts = Some(vec![Toast { title: "x".repeat(500), ..Toast::default() }]);
        app.lose(rookery_face::app::Lost {
            unsure: 3,
            text: "ls\r".to_owned(),
            ..Default::default()
        });
        draw_at(&app, &fixed);
    }
}

#[test]
fn the_prefix_shows_what_can_follow() {
    let mut app = app((100, 30));
    app.prefix = true;
    let text = draw_at(&app, &workspace(78, 28));
    let all = text.join("\n");
    assert!(
        all.contains("c new tab") && all.contains("? help") && all.contains("q leave"),
        "{all}"
    );
}

#[test]
fn a_lost_daemon_leaves_the_picture_and_says_what_may_be_lost() {
    let mut app = app((100, 30));
    app.lose(rookery_face::app::Lost { unsure: 4, text: "ls\r".to_owned(), ..Default::default() });
    let text = draw_at(&app, &workspace(78, 28)).join("\n");
    assert!(text.contains("$ cargo test"), "{text}");
    assert!(text.contains("The daemon is away. Programs go on running."), "{text}");
    assert!(text.contains("3 keys may not have arrived: \"ls\\r\""), "{text}");
}

#[test]
fn an_empty_workspace_offers_four_things() {
    let app = app((80, 24));
    let mut fixed = workspace(60, 20);
    fixed.scene.panes = Some(None);
    let text = draw_at(&app, &fixed).join("\n");
    assert!(text.contains("Nothing runs here yet."), "{text}");
    assert!(text.contains("c   a shell in /home/ada/src/api"), "{text}");
}

fn inbox_scene(fixed: &mut Fixed) {
    let row = |item: &str, kind: &str, title: &str| InboxRow {
        item: item.to_owned(),
        request: Some(format!("r-{item}")),
        kind: kind.to_owned(),
        session_title: "fix-auth".to_owned(),
        title: title.to_owned(),
        at: 0,
        ..InboxRow::default()
    };
    fixed.scene.page = Some(Page::Inbox { item: None });
    fixed.scene.inbox = Some(Inbox {
        total: 2,
        categories: [("completed".to_owned(), 5), ("informational".to_owned(), 7)].into(),
        rows: vec![row("1", "approval", "write_file"), row("2", "question", "Which format?")],
        ..Inbox::default()
    });
}

#[test]
fn the_inbox_has_rows_and_the_card_of_the_selected_one() {
    for size in [(100, 30), (80, 24), (40, 12), (38, 9)] {
        let mut app = app(size);
        let mut fixed = workspace(78, 28);
        inbox_scene(&mut fixed);
        let cx = Cx { picture: &fixed, now: 5, wall: 0 };
        app.changed(&cx);
        app.pages.card.came(Card {
            request: Some("r-1".to_owned()),
            tool: "write_file".to_owned(),
            state: "pending".to_owned(),
            lines: vec!["x".repeat(300)],
            actions: vec!["approve".to_owned(), "deny".to_owned()],
            ..Card::default()
        });
        let picture = draw(&app, &cx, &look());
        let text = picture.canvas.texts().join("\n");
        assert!(text.contains("Inbox  3 wait · 12 to know"), "{size:?}\n{text}");
        assert!(text.contains("a approve  d deny…"), "{size:?}\n{text}");
        // The smallest shows one row at a time: whose it is and what it wants.
        let row = if size.0 < 40 { "fix-auth  write_file" } else { "> approval" };
        assert!(text.contains(row), "{size:?}\n{text}");
        let (_, end_is_seen) = picture.drawn.card.unwrap();
        assert_eq!(end_is_seen, size.0 > 40, "{size:?}\n{text}");
    }
}

#[test]
fn rows_are_copied_in_the_emulators_columns() {
    let app = app((39, 9));
    let mut fixed = workspace(39, 8).with_term(3, 39, 8, &[]);
    let panes = Panes {
        group: 3,
        areas: vec![Area { t: 3, col: 0, row: 0, cols: 39, rows: 8 }],
        focused: 3,
        ..Panes::default()
    };
    fixed.scene.panes = Some(Some(panes));
    let parts = vec![
        RowPart::Plain("a".to_owned()),
        RowPart::Cluster("日".to_owned(), 2),
        RowPart::Cluster("e\u{301}".to_owned(), 1),
        // The emulator may count otherwise than Unicode does today.
        RowPart::Cluster("⚠".to_owned(), 2),
        RowPart::Plain("z".to_owned()),
    ];
    let term = fixed.terms.get_mut(&3).unwrap();
    term.rows.insert(0, Row { number: 0, text: RowText::Parts(parts), ..Row::default() });
    let cx = Cx { picture: &fixed, now: 0, wall: 0 };
    let picture = draw(&app, &cx, &look());
    let at = |col| picture.canvas.cell(col, 0).unwrap().glyph.clone();
    assert_eq!(at(1), crate::canvas::Glyph::Char('日'));
    assert_eq!(at(2), crate::canvas::Glyph::Half);
    assert_eq!(at(3), crate::canvas::Glyph::Cluster("e\u{301}".into()));
    assert_eq!(at(6), crate::canvas::Glyph::Char('z'));
    assert_eq!(picture.caret.map(|caret| (caret.col, caret.row)), Some((0, 0)));
}

#[test]
fn a_terminal_of_another_size_is_dotted_or_follows_its_cursor() {
    let app = app((39, 9));
    let mut fixed = workspace(39, 8).with_term(3, 10, 3, &["0123456789"]);
    let panes = |cols, rows| Panes {
        group: 3,
        areas: vec![Area { t: 3, col: 0, row: 0, cols, rows }],
        focused: 3,
        ..Panes::default()
    };
    fixed.scene.panes = Some(Some(panes(20, 5)));
    let text = draw_at(&app, &fixed);
    assert!(text[0].starts_with("0123456789.........."), "{text:#?}");
    assert!(text[3].starts_with("...................."), "{text:#?}");
    fixed.scene.panes = Some(Some(panes(4, 2)));
    let term = fixed.terms.get_mut(&3).unwrap();
    term.cursor = Cursor { row: 0, col: 9, shape: 0, is_visible: true };
    let text = draw_at(&app, &fixed);
    assert!(text[0].starts_with("6789"), "{text:#?}");
}

#[test]
fn nothing_hostile_reaches_the_cells() {
    let evil = "a\x1b[2J\x1b]52;c;eA==\x07\u{9b}31m\u{202e}\u{e0041}\r\nb";
    let mut app = app((100, 30));
    let mut fixed = workspace(78, 28);
    inbox_scene(&mut fixed);
    fixed.scene.inbox.as_mut().unwrap().rows[0].title = evil.to_owned();
    let sidebar = fixed.scene.sidebar.as_mut().unwrap();
    sidebar.projects[0].name = evil.to_owned();
    sidebar.projects[0].agents[0].name = evil.to_owned();
    fixed.scene.strip.as_mut().unwrap().groups[0].tabs[0].title = evil.to_owned();
    fixed.scene.toasts = Some(vec![Toast { title: evil.to_owned(), ..Toast::default() }]);
    let cx = Cx { picture: &fixed, now: 5, wall: 0 };
    app.changed(&cx);
    app.pages.card.came(Card {
        tool: evil.to_owned(),
        lines: vec![evil.to_owned()],
        ..Card::default()
    });
    let picture = draw(&app, &cx, &look());
    let mut encoder = crate::out::Encoder::new(Depth::True);
    let bytes = String::from_utf8(encoder.frame(picture.canvas, picture.caret)).unwrap();
    for sign in ["\x1b[2Jb", "\x1b]52", "\x07", "\u{9b}", "\u{202e}", "\u{e0041}"] {
        assert!(!bytes.replacen("\x1b[2J", "", 1).contains(sign), "{sign:?}");
    }
    assert!(bytes.contains("\\u{202e}"), "what is decided by is spelled");
}
