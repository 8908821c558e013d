//! Tests of pages, panes and what floats over them: what lies where, what is said, and a rough likeness
//! of all the rest.

mod canvas;
mod demo;

use std::sync::Arc;

use canvas::{Canvas, draw, draw_at};
use demo::pages;
use rookery_model::TerminalId;
use rookery_paint::Plan;
use rookery_view::link;
use rookery_view::scene::grid::ViewState;
use rookery_view::scene::layout::{Bar, FieldOf, Hit, Point, Rect, StatusPart};
use rookery_view::scene::pages::{Button, Card, Field, Inbox};
use rookery_view::scene::{ACCENT, Dialog, Layout, Mood, Pane, Panes, Scene, Stage, WindowSize};
use rookery_view::tile::{self, Edge};

fn plan(scene: &Scene) -> Arc<Plan> {
    Plan::of(&Arc::new(scene.clone()))
}

fn middle(rect: Rect) -> Point {
    Point { x: rect.x + rect.width / 2.0, y: rect.y + rect.height / 2.0 }
}

/// All that is said, without the blanks between words.
fn said(plan: &Plan) -> String {
    plan.texts().concat()
}

/// A place that reacts is found again at its own middle.
fn finds(plan: &Plan, hit: Hit) -> Rect {
    let rect = plan.place(hit).unwrap_or_else(|| panic!("{hit:?} is nowhere"));
    let found = plan.hit(middle(rect));
    let same = match (found, hit) {
        (Hit::Field(found, _), Hit::Field(wanted, _)) => found == wanted,
        (Hit::Bar(found, _), Hit::Bar(wanted, _)) => found == wanted,
        (found, wanted) => found == wanted,
    };
    assert!(same, "{hit:?} is covered by {found:?}");
    rect
}

#[test]
fn every_page_looks_as_it_did() {
    for (name, scene) in pages::all() {
        if matches!(name, "workspace" | "palette" | "question-box") {
            continue;
        }
        draw(&scene, 1).shrunk(10).assert_like(name);
    }
}

#[test]
fn the_sidebar_says_what_the_checkout_stands_on_how_many_wait_and_what_is_in_no_project() {
    let mut scene = demo::workspace();
    scene.sidebar.projects[0].waiting = 2;
    let shown = plan(&scene);
    let place = &shown.layout().sidebar;
    assert!(said(&shown).contains("rookerymain"), "{}", said(&shown));
    let (head, rows) = place.elsewhere.as_ref().unwrap();
    assert_eq!(rows.len(), 1);
    assert!(head.y > place.projects.last().unwrap().row.y);
    assert_eq!(shown.hit(middle(rows[0])), Hit::Agent(scene.sidebar.projects.len(), 0));
    assert!(said(&shown).contains("elsewhere1dPlantheweek"), "{}", said(&shown));
    // How a project fares is shown by more than its stripe.
    let row = place.projects[0].row;
    let sign = Rect::new(row.right() - 26.0, row.y + 4.0, 14.0, row.height - 8.0);
    let with_sign = draw(&scene, 1).count(sign, Mood::Waiting.color().unwrap());
    assert!(with_sign > 8, "{with_sign}");
    scene.sidebar.filter = Some(Field { has_keyboard: true, ..Field::of("plan") });
    assert!(said(&plan(&scene)).contains("/plan"));
}

#[test]
fn a_long_name_leaves_room_for_the_kind_of_what_waits() {
    let mut scene = pages::inbox();
    let Stage::Inbox(page) = &mut scene.stage else { panic!("an inbox") };
    Arc::make_mut(&mut page.rows)[0].session_title = "name ".repeat(60);
    let shown = said(&plan(&scene));
    assert!(shown.contains("approval"), "{shown}");
}

#[test]
fn buttons_of_a_card_lie_where_they_are_drawn() {
    let scene = pages::inbox();
    let plan = plan(&scene);
    let canvas = draw(&scene, 1);
    for button in [
        Button::Approve,
        Button::Deny,
        Button::Remember,
        Button::Later,
        Button::Open,
        Button::Notes,
    ] {
        let rect = finds(&plan, Hit::Button(button));
        assert!(rect.width >= 60.0 && rect.height >= 26.0, "{button:?}: {rect:?}");
    }
    let approve = plan.place(Hit::Button(Button::Approve)).unwrap();
    assert!(canvas.count(approve, ACCENT) > 800);
    let deny = plan.place(Hit::Button(Button::Deny)).unwrap();
    assert!(deny.right() + 4.0 < approve.x, "yes and no are apart");
    for row in 0..5 {
        finds(&plan, Hit::Row(row));
    }
}

#[test]
fn a_settled_card_has_no_button_that_decides() {
    let plan = plan(&pages::settled());
    for button in [Button::Approve, Button::Deny, Button::Remember, Button::Later] {
        assert_eq!(plan.place(Hit::Button(button)), None, "{button:?}");
    }
    finds(&plan, Hit::Button(Button::Next));
    assert!(said(&plan).contains("approved") && said(&plan).contains("idx0"));
}

#[test]
fn questions_offer_their_options_and_an_own_answer() {
    let plan = plan(&pages::question());
    for option in 0..3 {
        finds(&plan, Hit::Choice(option));
    }
    assert_eq!(plan.place(Hit::Choice(3)), None);
}

/// A card with a text, alone.
fn card_with(lines: &[String], scroll: f32) -> Scene {
    let content = link::Card {
        request: Some("r".to_owned()),
        tool: "shell".to_owned(),
        lines: lines.to_vec(),
        actions: vec!["approve".to_owned(), "deny".to_owned()],
        state: "pending".to_owned(),
        ..link::Card::default()
    };
    let card = Card { scroll, ..Card::new(Arc::new(content)) };
    let mut scene = pages::inbox();
    scene.stage = Stage::Inbox(Inbox { is_whole: true, card: Some(card), ..Inbox::default() });
    scene
}

#[test]
fn the_end_of_a_long_card_is_seen_only_when_it_is_there() {
    let lines: Vec<String> = (0..200).map(|line| format!("echo line{line}")).collect();
    let first = plan(&card_with(&lines, 0.0));
    assert!(!first.card().unwrap().end_is_seen);
    assert!(said(&first).contains("line0") && !said(&first).contains("line199"));
    let most = first.scroll(Bar::Text).unwrap().most;
    let last = plan(&card_with(&lines, most));
    assert!(last.card().unwrap().end_is_seen);
    assert!(said(&last).contains("line199"));
    assert!(plan(&card_with(&lines[..3], 0.0)).card().unwrap().end_is_seen);
    // A scroll that is no number, or beyond the end, is one that can be.
    assert!(plan(&card_with(&lines, f32::INFINITY)).card().unwrap().end_is_seen);
    assert!(!plan(&card_with(&lines, f32::NAN)).card().unwrap().end_is_seen);
}

#[test]
fn what_is_decided_by_is_wrapped_and_never_cut() {
    let long: String = (0..600).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
    let wide = "你好世界".repeat(60);
    let plan = plan(&card_with(&[long.clone(), wide.clone()], 0.0));
    let said = said(&plan);
    assert!(said.contains(&long), "all of a long word is there");
    assert!(said.contains(&wide));
    let labels = ["Deny…", "Remember…"];
    let cut: Vec<_> = plan.texts().into_iter().filter(|text| text.contains('…')).collect();
    assert!(cut.iter().all(|text| labels.contains(text)), "{cut:?}");
}

#[test]
fn a_thread_shows_its_newest_and_its_request_in_its_place() {
    let scene = pages::thread();
    let plan = plan(&scene);
    assert!(said(&plan).contains("41places"));
    for hit in [
        Hit::Item(3),
        Hit::Item(5),
        Hit::Field(FieldOf::Composer, 0),
        Hit::Button(Button::Send),
        Hit::Button(Button::Mode),
    ] {
        finds(&plan, hit);
    }
    // Its buttons say which item they belong to.
    for wanted in [Button::Approve, Button::Deny] {
        let of_item = |hit| matches!(hit, Hit::ItemButton(_, button) if button == wanted);
        assert!(plan.places().any(|(_, hit)| of_item(hit)), "{wanted:?}");
    }
    let mut older = scene;
    older.window.height = 420.0;
    let Stage::Thread(page) = &mut older.stage else { unreachable!() };
    page.scroll = 1e6;
    let plan = self::plan(&older);
    assert!(said(&plan).contains("Bump"));
    finds(&plan, Hit::Button(Button::Newest));
    let Stage::Thread(page) = &mut older.stage else { unreachable!() };
    page.composer.text.clear();
    page.composer.cursor = 0;
    finds(&self::plan(&older), Hit::Button(Button::Stop));
    // What was written can be sent, and the turn stopped.
    let Stage::Thread(page) = &mut older.stage else { unreachable!() };
    page.composer = Field::of("also this");
    finds(&self::plan(&older), Hit::Button(Button::Stop));
    finds(&self::plan(&older), Hit::Button(Button::Send));
}

/// A thread whose request is chosen, with a card of `lines` lines, between other lines of text.
fn asking(lines: usize, before: usize, after: usize) -> Scene {
    let mut scene = pages::thread();
    let Stage::Thread(page) = &mut scene.stage else { unreachable!() };
    let items = Arc::make_mut(&mut page.items);
    let said = items[0].clone();
    let asks = items.iter().find(|item| item.status == "waiting").cloned().into_iter();
    *items = std::iter::repeat_n(said.clone(), before).collect();
    items.extend(asks);
    items.extend(std::iter::repeat_n(said, after));
    let lines: Vec<String> = (0..lines).map(|line| format!("echo line{line}.")).collect();
    let Stage::Inbox(inbox) = card_with(&lines, 0.0).stage else { unreachable!() };
    page.card = inbox.card;
    page.at = Some(before);
    scene
}

/// The same, scrolled.
fn scrolled(mut scene: Scene, thread: f32, card: f32) -> Arc<Plan> {
    let Stage::Thread(page) = &mut scene.stage else { unreachable!() };
    page.scroll = thread;
    page.card = page.card.take().map(|it| Card { scroll: card, ..it });
    plan(&scene)
}

#[test]
fn a_long_request_in_a_thread_is_read_from_its_begin_to_its_end() {
    let scene = asking(400, 3, 2);
    for thread in [0.0, 300.0, 1e6] {
        let first = scrolled(scene.clone(), thread, 0.0);
        let card = first.card().unwrap();
        assert!(!card.end_is_seen && card.most > 1000.0, "{card:?}");
        assert!(said(&first).contains("line0.") && !said(&first).contains("line399."));
    }
    let card = scrolled(scene.clone(), 0.0, 0.0).card().unwrap();
    let middle = scrolled(scene.clone(), 0.0, card.most / 2.0);
    assert!(!middle.card().unwrap().end_is_seen);
    assert!(!said(&middle).contains("line0.") && !said(&middle).contains("line399."));
    for end in [card.most, f32::INFINITY] {
        let last = scrolled(scene.clone(), 0.0, end);
        assert!(last.card().unwrap().end_is_seen);
        assert!(said(&last).contains("line399."));
    }
    assert!(!scrolled(scene, 0.0, f32::NAN).card().unwrap().end_is_seen);
}

#[test]
fn a_request_in_a_thread_is_in_view_wherever_that_is_scrolled_to() {
    // What follows it would have the view, and what comes before it.
    for scene in [asking(4, 1, 60), asking(4, 60, 60), asking(4, 60, 1)] {
        for thread in [0.0, 400.0, 1e6] {
            let shown = scrolled(scene.clone(), thread, 0.0);
            assert!(shown.card().unwrap().end_is_seen, "{thread}");
            assert!(said(&shown).contains("line0.") && said(&shown).contains("line3."));
        }
        // Without its card it is not shown, and has none to decide by.
        let mut away = scene;
        let Stage::Thread(page) = &mut away.stage else { unreachable!() };
        page.card = None;
        assert_eq!(plan(&away).card(), None);
    }
    // A plan is decided on its card as well.
    let mut scene = asking(4, 60, 60);
    let Stage::Thread(page) = &mut scene.stage else { unreachable!() };
    let plan_item = &mut Arc::make_mut(&mut page.items)[60];
    plan_item.kind = link::ItemKind::Plan;
    plan_item.tool = None;
    assert!(said(&scrolled(scene.clone(), 0.0, 0.0)).contains("line3."));
    // A request that was settled meanwhile has no card any more.
    let Stage::Thread(page) = &mut scene.stage else { unreachable!() };
    Arc::make_mut(&mut page.items)[60].status = "done".to_owned();
    assert_eq!(plan(&scene).card(), None);
}

#[test]
fn the_item_that_keys_went_to_is_in_view() {
    let mut scene = asking(0, 60, 60);
    let Stage::Thread(page) = &mut scene.stage else { unreachable!() };
    page.card = None;
    let row = |scene: &Scene| plan(scene).place(Hit::Item(60));
    assert_eq!(row(&scene), None, "the newest is shown");
    let Stage::Thread(page) = &mut scene.stage else { unreachable!() };
    page.follows = true;
    assert!(row(&scene).is_some());
}

#[test]
fn a_click_into_a_field_finds_the_letter() {
    let scene = pages::thread();
    let plan = plan(&scene);
    let rect = plan.place(Hit::Field(FieldOf::Composer, 0)).unwrap();
    let at = |x: f32| match plan.hit(Point { x, y: rect.y + rect.height / 2.0 }) {
        Hit::Field(FieldOf::Composer, byte) => byte,
        other => panic!("{other:?}"),
    };
    assert_eq!(at(rect.x + 2.0), 0);
    assert_eq!(at(rect.right() - 2.0), "also check the changelog".len());
    let inside = at(rect.x + 60.0);
    assert!((4..12).contains(&inside), "{inside}");
    let caret = plan.caret().unwrap();
    assert!(caret.x > rect.x + 100.0 && caret.y >= rect.y && caret.bottom() <= rect.bottom());
}

#[test]
fn what_is_composed_in_a_full_field_is_in_view() {
    let mut scene = pages::all().into_iter().find(|(name, _)| *name == "palette").unwrap().1;
    let open = scene.palette.as_mut().unwrap();
    open.query = "words ".repeat(60);
    open.cursor = None;
    let plain = plan(&scene).caret().unwrap();
    scene.palette.as_mut().unwrap().preedit = "にほんご".to_owned();
    let composed = plan(&scene);
    let place = composed.place(Hit::Field(FieldOf::Query, 0)).unwrap();
    let caret = composed.caret().unwrap();
    assert!(place.contains(middle(caret)), "{caret:?} {place:?}");
    assert!((caret.x - plain.x).abs() <= 1.0, "{caret:?} {plain:?}");
}

#[test]
fn lines_of_a_review_are_hit_and_comments_stand_below_theirs() {
    let scene = pages::review();
    let plan = plan(&scene);
    let line = |index| finds(&plan, Hit::Line(index));
    assert!(line(4).y < line(5).y);
    finds(&plan, Hit::Row(1));
    finds(&plan, Hit::Field(FieldOf::Comment, 0));
    assert!(said(&plan).contains("Whichclockisthis?"));
    assert!(said(&plan).contains("1comment"));
}

#[test]
fn lists_settings_and_help_react_row_by_row() {
    for scene in [pages::list(), pages::settings(), pages::help()] {
        let plan = plan(&scene);
        for row in 0..4 {
            finds(&plan, Hit::Row(row));
        }
    }
    finds(&plan(&pages::list()), Hit::Button(Button::Land));
    finds(&plan(&pages::help()), Hit::Field(FieldOf::Filter, 0));
    for button in [Button::Shell, Button::Thread, Button::Agent, Button::Help] {
        finds(&plan(&pages::empty()), Hit::Button(button));
    }
}

#[test]
fn controls_of_settings_are_pressed_where_they_are_drawn() {
    let plan = plan(&pages::settings());
    let left = |row, part| finds(&plan, Hit::Setting(row, part)).x;
    // A theme and a font open a list, a switch turns, a chord is pressed anew.
    for row in [0, 1, 3, 4] {
        finds(&plan, Hit::Setting(row, 0));
    }
    // Steps stand at both sides of a number, the words of a choice beside each other.
    assert!(left(2, 0) < left(2, 2) && left(2, 2) < left(2, 1));
    assert!(left(5, 0) < left(5, 1) && left(5, 1) < left(5, 2));
    assert_eq!(plan.place(Hit::Setting(5, 3)), None);
}

#[test]
fn a_question_offers_every_answer_and_cuts_nothing() {
    let mut scene = pages::panes();
    let long: String = (0..400).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
    scene.dialog = Some(Dialog {
        title: "A title that is much longer than a line of this box has room for, word by word"
            .to_owned(),
        body: "m merge  s squash  r rebase  esc no".to_owned(),
        lines: vec![long.clone()],
        confirm: "Merge".to_owned(),
        others: vec!["Squash".to_owned(), "Rebase".to_owned()],
        cancel: "No".to_owned(),
        ..Dialog::default()
    });
    let shown = plan(&scene);
    let answers = [Hit::Cancel, Hit::Answer(1), Hit::Answer(0), Hit::Confirm];
    let places = answers.map(|hit| finds(&shown, hit));
    assert!(places.windows(2).all(|pair| pair[0].right() < pair[1].x), "{places:?}");
    assert_eq!(shown.hit(Point { x: 2.0, y: 2.0 }), Hit::Backdrop);
    let said = self::said(&shown);
    assert!(said.contains(&long) && !said.contains('…'), "{said}");
    // What is longer than the window is scrolled: its end is there too, and the buttons stay.
    let dialog = scene.dialog.as_mut().unwrap();
    dialog.lines = (0..200).map(|line| format!("echo line{line}")).collect();
    let shown = plan(&scene);
    let most = shown.scroll(Bar::Question).unwrap().most;
    assert!(most > 1000.0 && !self::said(&shown).contains("line199"));
    scene.dialog.as_mut().unwrap().scroll = most;
    let end = plan(&scene);
    assert!(self::said(&end).contains("line199"));
    for hit in answers {
        finds(&end, hit);
    }
    finds(&end, Hit::Bar(Bar::Question, 0.0));
}

#[test]
fn panes_their_headers_and_gaps_are_found() {
    let scene = pages::panes();
    let plan = plan(&scene);
    let [left, upper, lower] = &plan.layout().terminals[..] else { panic!("three panes") };
    assert_eq!(plan.hit(middle(upper.header.unwrap())), Hit::PaneHeader(upper.terminal));
    assert_eq!(plan.hit(middle(upper.close.unwrap())), Hit::PaneClose(upper.terminal));
    let gap = left.gaps[0].unwrap();
    let hit = plan.hit(Point { x: gap.x + 3.0, y: gap.y + 90.0 });
    assert_eq!(hit, Hit::Gap { terminal: left.terminal, edge: Edge::Right });
    let gap = upper.gaps[1].unwrap();
    let hit = plan.hit(Point { x: gap.x + 80.0, y: gap.y + 1.0 });
    assert_eq!(hit, Hit::Gap { terminal: upper.terminal, edge: Edge::Down });
    let cell = lower.cells.columns(2, 5, 1);
    let expected = Hit::Cell { terminal: lower.terminal, row: 2, col: 5 };
    assert_eq!(plan.hit(middle(cell)), expected);
    // Panes never share a place.
    for (one, other) in [(left, upper), (left, lower), (upper, lower)] {
        let shared = one.cells.rect().intersection(&other.cells.rect());
        assert!(shared.width <= 0.0 || shared.height <= 0.0);
    }
    assert_eq!(
        upper.side_at(Point { x: upper.frame.x + 4.0, y: upper.frame.y + 60.0 }),
        Some(tile::Side::Left)
    );
    assert_eq!(upper.side_at(middle(upper.frame)), None);
}

#[test]
fn the_focused_pane_has_a_line_of_its_own() {
    let scene = pages::panes();
    let canvas = draw(&scene, 1);
    let layout = Layout::of(&scene);
    let focused = layout.terminals[1].frame;
    let inside = Rect { width: focused.width - 4.0, height: 2.0, ..focused };
    assert!(canvas.count(inside, ACCENT) as f32 > inside.width);
    let other = layout.terminals[0].frame;
    assert_eq!(canvas.count(Rect { height: 2.0, width: other.width - 6.0, ..other }, ACCENT), 0);
}

/// One terminal of a size in a window of the usual one.
fn sized(rows: u16, cols: u16, bytes: &[u8]) -> Scene {
    let mut scene = Scene::new(demo::theme());
    let state = ViewState { has_keyboard: true, ..ViewState::default() };
    let grid = demo::grid(rows, cols, &scene.theme, bytes, &state);
    scene.stage = Stage::terminal(TerminalId::new(1), Arc::new(grid));
    scene
}

#[test]
fn a_terminal_larger_than_its_room_shows_its_cursor_and_says_what_is_cut() {
    let scene = sized(100, 300, b"\x1b[90;250Hhere");
    let plan = plan(&scene);
    let place = &plan.layout().terminals[0];
    let (row, col) = (89, 253);
    let part = place.part;
    assert!((part.row..part.row + part.rows).contains(&row), "{part:?}");
    assert!((part.col..part.col + part.cols).contains(&col), "{part:?}");
    assert!(said(&plan).contains("of100") && said(&plan).contains("of300"), "{}", said(&plan));
    let cell = place.cells.columns(row - part.row, col - part.col, 1);
    let expected = Hit::Cell { terminal: TerminalId::new(1), row, col };
    assert_eq!(plan.hit(middle(cell)), expected);
    let cursor = rookery_term::Palette::default().cursor;
    assert!(draw(&scene, 1).count(cell, cursor) > 60, "the cursor is drawn there");
    let plan = self::plan(&sized(10, 20, b""));
    assert!(!said(&plan).contains("of10"));
}

#[test]
fn a_smaller_terminal_has_dots_around_it_and_no_cells_there() {
    let scene = sized(10, 20, b"text");
    let layout = Layout::of(&scene);
    let place = &layout.terminals[0];
    let canvas = draw(&scene, 1);
    let background = (0x16, 0x18, 0x1d);
    let around = place.cells.columns(20, 40, 40);
    assert!(canvas.ink(around, background) > 8);
    let within = place.cells.columns(5, 0, 20);
    assert_eq!(canvas.ink(within, background), 0);
    assert_eq!(plan(&scene).hit(middle(around)), Hit::Pane(TerminalId::new(1)));
}

#[test]
fn cells_meet_without_gaps_or_blur_at_every_scale() {
    for (font, scale) in
        [(13.0, 1.0), (13.0, 1.25), (14.0, 1.25), (13.0, 1.5), (11.0, 1.75), (15.0, 2.0)]
    {
        let mut scene = sized(20, 40, b"\x1b[?25l");
        scene.font.size = font;
        scene.scale = scale;
        let line = format!("\x1b[48;2;200;40;60m{}\x1b[0m\r\n", " ".repeat(12));
        let bytes = format!("\x1b[?25l{}{}", line.repeat(4), "\x1b[38;2;200;40;60m████▀▄\x1b[0m");
        let grid = demo::grid(20, 40, &scene.theme, bytes.as_bytes(), &ViewState::default());
        scene.stage = Stage::terminal(TerminalId::new(1), Arc::new(grid));
        let place = Layout::of(&scene).terminals[0].cells;
        let whole = |points: f32| (points * scale - (points * scale).round()).abs() < 0.01;
        assert!(whole(place.cell.width) && whole(place.cell.height), "{font} {scale}: {place:?}");
        assert!(whole(place.origin.x) && whole(place.origin.y), "{font} {scale}");
        let canvas = draw_at(&scene, scale);
        let first = place.columns(0, 0, 12);
        let block = Rect { height: first.height * 4.0, ..first };
        let pixels = |rect: Rect| {
            let at = |points: f32| (points * scale).round();
            Rect::new(
                at(rect.x),
                at(rect.y),
                at(rect.right()) - at(rect.x),
                at(rect.bottom()) - at(rect.y),
            )
        };
        let block = pixels(block);
        let red = (200, 40, 60);
        assert_eq!(
            canvas.count(block, red),
            (block.width * block.height) as usize,
            "{font} {scale}"
        );
        let around = block.inset(-1.0, -1.0);
        let edge = canvas.count(around, red) - canvas.count(block, red);
        // Below it the next row begins with the same color.
        assert_eq!(edge, (place.cell.width * 5.0 * scale).round() as usize, "{font} {scale}");
        let full = pixels(place.columns(4, 0, 4));
        assert_eq!(canvas.count(full, red), (full.width * full.height) as usize, "{font} {scale}");
    }
}

#[test]
fn rounded_corners_meet_the_lines_beside_them_at_every_scale() {
    for scale in [1.0, 1.25, 1.5, 2.0] {
        let mut scene = sized(20, 40, b"\x1b[?25l\x1b[38;2;255;0;0m\xe2\x95\xad\xe2\x94\x80\xe2\x95\xae\r\n\xe2\x94\x82 \xe2\x94\x82\r\n\xe2\x95\xb0\xe2\x94\x80\xe2\x95\xaf");
        scene.scale = scale;
        let place = Layout::of(&scene).terminals[0].cells;
        let canvas = draw_at(&scene, scale);
        let column = |rect: Rect, x: f32| {
            let at = |points: f32| (points * scale).round();
            let column = Rect::new(at(x), at(rect.y), 1.0, at(rect.bottom()) - at(rect.y));
            canvas.crop(column)
        };
        let red = |pixels: &[(u8, u8, u8)]| -> Vec<usize> {
            pixels.iter().enumerate().filter(|(_, (r, _, _))| *r > 0xc0).map(|(at, _)| at).collect()
        };
        let corner = place.columns(0, 0, 1);
        let line = place.columns(0, 1, 1);
        let last = red(&column(corner, corner.right() - 1.0 / scale));
        let first = red(&column(line, line.x));
        assert!(!first.is_empty());
        assert_eq!(last, first, "the upper left corner at {scale}");
    }
}

#[test]
fn what_agents_draw_is_there_without_a_font_of_the_system() {
    let signs = [
        "⎿", "⏺", "⏵", "⏸", "⏹", "\u{e0b0}", "\u{e0b4}", "\u{e0a0}", "\u{f418}", "\u{e7a8}", "🬀",
        "🬻", "❯", "✻", "☐",
    ];
    let text = format!("\x1b[?25l{}", signs.join("  "));
    let scene = sized(10, 100, text.as_bytes());
    let place = Layout::of(&scene).terminals[0].cells;
    let canvas = draw(&scene, 1);
    let missing = draw(&sized(10, 100, "\x1b[?25l\u{10fffd}".as_bytes()), 1);
    let missing = missing.crop(place.columns(0, 0, 1));
    for (index, sign) in signs.iter().enumerate() {
        let cell = place.columns(0, index as u16 * 3, 1);
        assert!(canvas.ink(cell, (0x16, 0x18, 0x1d)) > 6, "{sign}");
        assert_ne!(canvas.crop(cell), missing, "{sign} is in no font");
    }
}

#[test]
fn a_letter_with_marks_is_as_large_as_without() {
    let height = |text: &str| {
        let scene = sized(10, 40, format!("\x1b[?25l{text}").as_bytes());
        let place = Layout::of(&scene).terminals[0].cells;
        let cell = place.columns(0, 0, 1);
        let canvas = draw(&scene, 1);
        let is_inked = |y: &u16| {
            let row = Rect { y: cell.y + f32::from(*y), height: 1.0, ..cell };
            canvas.ink(row, (0x16, 0x18, 0x1d)) > 0
        };
        (0..cell.height as u16).filter(is_inked).max()
    };
    for marked in ["x\u{336}", "q\u{307}", "e\u{301}", "o\u{302}\u{301}", "n\u{30a}"] {
        let letter: String = marked.chars().take(1).collect();
        assert_eq!(height(marked), height(&letter), "{marked}");
    }
}

/// The pixels of a cell of a terminal with this text, and of the one after it.
fn two_cells(text: &str) -> [usize; 2] {
    let scene = sized(10, 40, format!("\x1b[?25l{text}").as_bytes());
    let place = Layout::of(&scene).terminals[0].cells;
    let canvas = draw(&scene, 2);
    [0, 1].map(|col| {
        let cell = place.columns(0, col, 1);
        let pixels = Rect::new(cell.x * 2.0, cell.y * 2.0, cell.width * 2.0, cell.height * 2.0);
        canvas.ink(pixels, (0x16, 0x18, 0x1d))
    })
}

#[test]
fn every_mark_stands_over_its_letter_and_none_in_the_next_cell() {
    for text in ["o\u{302}\u{301}", "\u{1ea1}\u{308}", "q\u{307}", "x\u{302}\u{301}"] {
        let (marked, letter) =
            (two_cells(text), two_cells(&text[..text.chars().next().unwrap().len_utf8()]));
        assert_eq!(marked[1], 0, "{text}");
        assert!(marked[0] > letter[0], "{text}: {marked:?} {letter:?}");
    }
}

#[test]
fn a_line_above_text_is_drawn_at_the_top_of_its_cells() {
    let scene = sized(10, 40, b"\x1b[?25l\x1b[53m  \x1b[55m  ");
    let place = Layout::of(&scene).terminals[0].cells;
    let canvas = draw(&scene, 1);
    let top = |col: u16| Rect { height: 1.0, ..place.columns(0, col, 1) };
    let ink = |col: u16| canvas.ink(top(col), (0x16, 0x18, 0x1d));
    assert_eq!((ink(0), ink(1), ink(2)), (8, 8, 0));
}

#[test]
fn a_person_whose_tone_no_font_has_is_drawn_without_it() {
    let (toned, plain) = (two_cells("\u{1f44d}\u{1f3fd}"), two_cells("\u{1f44d}"));
    assert_eq!(toned[0] > 0, plain[0] > 0);
}

#[test]
fn rows_of_the_same_letters_look_the_same_at_every_scale() {
    let text = "\x1b[?25l".to_owned() + &["Hxg|\u{2502}"; 10].join("\r\n");
    let scene = sized(10, 40, text.as_bytes());
    for scale in [1.25_f32, 1.5, 1.75] {
        let mut scene = scene.clone();
        scene.scale = scale;
        let place = Layout::of(&scene).terminals[0].cells;
        let canvas = draw_at(&scene, scale);
        let row = |number: u16| {
            let cell = place.columns(number, 0, 5);
            canvas.crop(Rect::new(
                (cell.x * scale).round(),
                (cell.y * scale).round(),
                (cell.width * scale).round(),
                (cell.height * scale).round(),
            ))
        };
        for number in 1..10 {
            assert_eq!(row(number), row(0), "row {number} at {scale}");
        }
    }
}

#[test]
fn strip_palette_and_sidebar_say_that_there_is_more() {
    let mut scene = pages::panes();
    let pill = scene.strip.pills[0].clone();
    scene.strip.pills = (0..40)
        .map(|id| rookery_view::scene::Pill {
            id: TerminalId::new(100 + id),
            is_active: id == 20,
            ..pill.clone()
        })
        .collect();
    let project = scene.sidebar.projects[0].clone();
    scene.sidebar.projects = vec![project; 30];
    let plan = plan(&scene);
    let strip = &plan.layout().strip;
    assert_eq!(plan.hit(middle(strip.more(true).unwrap())), Hit::MorePills { is_right: true });
    assert_eq!(plan.hit(middle(strip.more(false).unwrap())), Hit::MorePills { is_right: false });
    assert!(said(&plan).contains("more"), "the sidebar says how many");
    let (_, below) = plan.layout().sidebar.hidden;
    assert!(below > 20);
    let mut scrolled = scene;
    scrolled.strip.scroll = Some(0.0);
    scrolled.sidebar.scroll = Some(1e9);
    let layout = Layout::of(&scrolled);
    assert_eq!((layout.strip.hidden.0, layout.sidebar.hidden.1), (0, 0));
}

#[test]
fn menus_lie_over_everything_and_within_the_window() {
    let mut scene = pages::menu();
    for at in
        [Point { x: 360.0, y: 26.0 }, Point { x: 1095.0, y: 715.0 }, Point { x: -5.0, y: 2.0 }]
    {
        scene.menu.as_mut().unwrap().at = at;
        let plan = plan(&scene);
        for row in [0, 1, 5] {
            let rect = finds(&plan, Hit::MenuRow(row));
            assert!(rect.x >= 0.0 && rect.right() <= 1100.0 && rect.bottom() <= 720.0, "{rect:?}");
        }
        assert_eq!(plan.hit(Point { x: 700.0, y: 400.0 }), Hit::Backdrop);
    }
}

#[test]
fn a_lost_daemon_dims_the_picture_and_takes_every_click() {
    let scene = pages::lost();
    let plan = plan(&scene);
    assert!(said(&plan).contains("Thedaemonisaway"));
    finds(&plan, Hit::Button(Button::StartDaemon));
    let pill = middle(plan.layout().strip.pills[0].1);
    assert_eq!(plan.hit(pill), Hit::Backdrop);
    let (bright, dim) = (draw(&pages::panes(), 1), draw(&scene, 1));
    let text = Rect::new(230.0, 60.0, 200.0, 60.0);
    let brightest = |canvas: &Canvas| {
        canvas
            .crop(text)
            .iter()
            .map(|(r, g, b)| u16::from(*r) + u16::from(*g) + u16::from(*b))
            .max()
    };
    assert!(brightest(&dim) < brightest(&bright));
}

#[test]
fn the_status_line_says_what_waits_and_can_be_clicked() {
    let scene = pages::panes();
    let plan = plan(&scene);
    for part in [StatusPart::Help, StatusPart::Waiting, StatusPart::Size] {
        let rect = finds(&plan, Hit::Status(part));
        assert!(rect.y >= 698.0 && rect.bottom() <= 720.0);
    }
    assert!(said(&plan).contains("3wait:") && said(&plan).contains("copied"));
    let mut low = scene;
    low.window = WindowSize { width: 600.0, height: 120.0 };
    assert_eq!(self::plan(&low).layout().panes.status.height, 0.0);
}

#[test]
fn the_find_bar_is_over_its_pane_and_marks_matches() {
    let scene = pages::find();
    let plan = plan(&scene);
    for button in
        [Button::FindOlder, Button::FindNewer, Button::FindRegex, Button::FindCase, Button::Close]
    {
        finds(&plan, Hit::Button(button));
    }
    let field = finds(&plan, Hit::Field(FieldOf::Find, 0));
    let pane = &plan.layout().terminals[0];
    assert!(pane.frame.contains(middle(field)));
    let marked = draw(&scene, 1);
    let plain = draw(&pages::panes(), 1);
    let found = pane.cells.columns(4, 5, 4);
    assert_ne!(marked.crop(found), plain.crop(found));
}

#[test]
fn any_size_and_any_content_is_drawn() {
    let mut scenes: Vec<Scene> = pages::all().into_iter().map(|(_, scene)| scene).collect();
    for scene in &mut scenes {
        for (width, height) in [(1.0, 1.0), (70.0, 50.0), (300.0, 200.0), (420.0, 2000.0)] {
            scene.window = WindowSize { width, height };
            plan(scene);
        }
        scene.window = WindowSize { width: 380.0, height: 260.0 };
        draw(scene, 1);
    }
    let evil = "\u{202e}\u{0}\u{1b}[2J".repeat(40) + &"x".repeat(5000);
    let mut scene = card_with(std::slice::from_ref(&evil), 0.0);
    let Stage::Inbox(page) = &mut scene.stage else { unreachable!() };
    let card = page.card.as_mut().unwrap();
    card.deny =
        Some(Field { text: evil.clone(), cursor: 7, selected: Some(3..9999), ..Field::of("") });
    scene.status.message = Some((rookery_view::scene::Tone::Error, evil.clone()));
    scene.title = evil;
    draw(&scene, 1);
}

#[test]
fn a_pane_for_another_size_of_window_stays_within_this_one() {
    let mut scene = pages::panes();
    scene.window = WindowSize { width: 500.0, height: 300.0 };
    let Stage::Panes(Panes { panes, .. }) = &mut scene.stage else { unreachable!() };
    let far = tile::Rect { col: 400, row: 200, cols: 100, rows: 50 };
    let last = panes[2].clone();
    panes[2] = Pane { area: Some(far), ..last };
    for place in &plan(&scene).layout().terminals {
        assert!(place.cells.rows >= 1 && place.cells.cols >= 1);
        assert!(place.cells.rect().right() <= 520.0, "{place:?}");
    }
    draw(&scene, 1);
}
