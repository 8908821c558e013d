//! Tests of where things lie and of grids from snapshots.

use std::time::Duration;

use rookery_model::{ProjectId, TerminalId};
use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};

use super::grid::{CursorShape, Glyph, Scroll, ViewState};
use super::layout::{
    BAND_HEIGHT, CellSize, Hit, PALETTE_HEIGHT, PALETTE_WIDTH, PILL_BOUNDS, Panes, Point, Rect,
    sidebar_width,
};
use super::*;

fn scene() -> Scene {
    Scene::new(Theme { name: "test".to_owned(), palette: Palette::default() })
}

fn pill(id: u64, title: &str) -> Pill {
    Pill {
        id: TerminalId::new(id),
        more: 0,
        title: title.to_owned(),
        mood: Mood::Inactive,
        has_badge: false,
        is_active: false,
        rename: None,
    }
}

fn project(id: u64, agents: u64) -> ProjectRow {
    let agent = |tab: u64| AgentRow {
        tab: Some(TerminalId::new(1000 * id + tab)),
        thread: None,
        name: String::new(),
        mood: Mood::Working,
        status_text: String::new(),
        time_text: String::new(),
        is_active: false,
    };
    ProjectRow {
        id: ProjectId::new(id),
        name: format!("project {id}"),
        is_active: false,
        branch: String::new(),
        mood: Mood::Inactive,
        waiting: 0,
        has_badge: false,
        rename: None,
        agents: (0..agents).map(agent).collect(),
    }
}

fn middle(rect: Rect) -> Point {
    Point { x: rect.x + rect.width / 2.0, y: rect.y + rect.height / 2.0 }
}

fn is_within(inner: Rect, outer: Rect) -> bool {
    inner.intersection(&outer) == inner
}

#[test]
fn the_default_window_has_a_sidebar_a_strip_and_a_terminal_below_it() {
    let layout = Layout::of(&scene());
    let panes = layout.panes;
    assert_eq!(panes.window, Rect::new(0.0, 0.0, 1100.0, 720.0));
    assert_eq!(panes.sidebar, Rect::new(0.0, 0.0, 220.0, 720.0));
    assert_eq!(panes.strip, Rect::new(220.0, 0.0, 880.0, BAND_HEIGHT));
    assert_eq!(panes.terminal, Rect::new(220.0, BAND_HEIGHT, 880.0, 688.0));
    assert!(is_within(layout.grid.rect(), panes.terminal));
}

#[test]
fn a_sidebar_is_none_if_collapsed_and_else_within_its_bounds() {
    let window = WindowSize::default();
    assert_eq!(sidebar_width(window, true, 220.0), 0.0);
    assert_eq!(sidebar_width(window, false, 10.0), 160.0);
    assert_eq!(sidebar_width(window, false, 1000.0), 400.0);
    assert_eq!(sidebar_width(window, false, f32::NAN), 160.0);
    let narrow = WindowSize { width: 200.0, height: 100.0 };
    assert_eq!(sidebar_width(narrow, false, 220.0), 100.0);
}

#[test]
fn cells_are_whole_points_and_at_least_one_fits_any_window() {
    for size in [f32::NEG_INFINITY, 0.0, 6.0, 13.0, 14.5, 72.0, 900.0, f32::NAN] {
        let font = FontChoice { size, ..FontChoice::default() };
        let cell = CellSize::of(&font);
        assert_eq!((cell.width.fract(), cell.height.fract()), (0.0, 0.0), "{size}");
        assert!(cell.width >= 1.0 && cell.height > cell.width, "{size}");
        for side in [f32::NAN, -5.0, 0.0, 1.0, 50.0, 1e9] {
            let window = WindowSize { width: side, height: side };
            let grid = Panes::of(window, sidebar_width(window, false, 220.0)).grid(&font);
            assert!(grid.rows >= 1 && grid.cols >= 1, "{size} {side}");
        }
    }
}

#[test]
fn every_cell_is_found_again_by_its_place() {
    let grid = Layout::of(&scene()).grid;
    for (row, col) in [(0, 0), (0, grid.cols - 1), (grid.rows - 1, 0), (3, 7)] {
        let rect = grid.columns(row, col, 1);
        assert_eq!(grid.cell_at(middle(rect)), Some((row, col)));
        assert_eq!(grid.cell_at(Point { x: rect.x, y: rect.y }), Some((row, col)));
    }
    let outside = Point { x: 1e6, y: -4.0 };
    assert_eq!(grid.cell_at(outside), None);
    assert_eq!(grid.nearest_cell(outside), (0, grid.cols - 1));
    assert_eq!(grid.nearest_cell(Point { x: f32::NAN, y: 1e9 }), (grid.rows - 1, 0));
}

#[test]
fn pills_keep_their_bounds_and_shrink_before_they_scroll() {
    let mut scene = scene();
    scene.strip.pills = vec![pill(1, "a"), pill(2, &"long ".repeat(30))];
    let widths = |scene: &Scene| -> Vec<f32> {
        Layout::of(scene).strip.pills.iter().map(|(_, rect)| rect.width).collect()
    };
    assert_eq!(widths(&scene), [PILL_BOUNDS.0, PILL_BOUNDS.1]);
    scene.strip.pills = (0..7).map(|id| pill(id, "a title of some length")).collect();
    let strip = Layout::of(&scene).strip;
    assert!(widths(&scene).iter().all(|width| (80.0..220.0).contains(width)));
    assert!(strip.pills.iter().all(|(_, rect)| is_within(*rect, strip.visible)));
}

#[test]
fn the_active_pill_is_in_view_however_many_there_are() {
    let mut scene = scene();
    scene.strip.pills = (0..60).map(|id| pill(id, "a title of some length")).collect();
    for active in 0..60 {
        scene.strip.pills.iter_mut().for_each(|pill| pill.is_active = false);
        scene.strip.pills[active].is_active = true;
        let strip = Layout::of(&scene).strip;
        let (_, rect) = strip.pills[active];
        assert_eq!(rect.width, PILL_BOUNDS.0);
        assert!(is_within(rect, strip.visible), "{active}: {rect:?} in {:?}", strip.visible);
        assert!(strip.new_tab.right() <= 1100.0);
        assert_eq!(strip.title, None);
    }
}

#[test]
fn the_active_project_is_in_view_however_many_there_are() {
    let mut scene = scene();
    scene.sidebar.projects = (0..80).map(|id| project(id, id % 4)).collect();
    for active in [0, 1, 40, 79] {
        scene.sidebar.projects.iter_mut().for_each(|project| project.is_active = false);
        scene.sidebar.projects[active].is_active = true;
        let sidebar = Layout::of(&scene).sidebar;
        let place = &sidebar.projects[active];
        assert!(is_within(place.row, sidebar.list), "{active}");
        assert!(place.agents.iter().all(|row| is_within(*row, sidebar.list)), "{active}");
    }
    scene.sidebar.are_agents_visible = false;
    let sidebar = Layout::of(&scene).sidebar;
    assert!(sidebar.projects.iter().all(|project| project.agents.is_empty()));
}

fn palette(rows: usize, selected: usize) -> PaletteOverlay {
    let row = |index| PaletteRow { is_selected: index == selected, ..PaletteRow::default() };
    PaletteOverlay { rows: (0..rows).map(row).collect(), ..PaletteOverlay::default() }
}

#[test]
fn the_palette_is_centered_bounded_and_shows_its_selected_row() {
    let mut scene = scene();
    for (rows, selected) in [(0, 0), (1, 0), (5, 4), (200, 0), (200, 57), (200, 199)] {
        scene.palette = Some(palette(rows, selected));
        let place = Layout::of(&scene).palette.unwrap();
        assert_eq!(place.frame.width, PALETTE_WIDTH);
        assert!(place.frame.height <= PALETTE_HEIGHT, "{rows}");
        assert_eq!(place.frame.x, (1100.0 - PALETTE_WIDTH) / 2.0);
        let shown = place.rows.iter().find(|(index, _)| *index == selected);
        assert!(rows == 0 || shown.is_some_and(|(_, rect)| is_within(*rect, place.frame)));
    }
    scene.window = WindowSize { width: 300.0, height: 120.0 };
    let place = Layout::of(&scene).palette.unwrap();
    assert!(is_within(place.frame, Layout::of(&scene).panes.window));
}

#[test]
fn the_head_of_the_palette_stays_where_it_is_while_rows_come_and_go() {
    let mut scene = scene();
    let mut place = |rows, selected| {
        scene.palette = Some(palette(rows, selected));
        Layout::of(&scene).palette.unwrap()
    };
    let full = place(200, 0);
    for rows in [0, 1, 7, 40] {
        let fewer = place(rows, 0);
        assert_eq!((fewer.query, fewer.frame.y), (full.query, full.frame.y), "{rows}");
    }
    assert_eq!(full.hidden, (0, 200 - full.rows.len()));
    assert_eq!(place(200, 199).hidden, (200 - full.rows.len(), 0));
}

#[test]
fn a_grid_larger_than_its_area_is_shown_around_its_cursor() {
    let shown = |bytes: &[u8], rows, cols, pan| {
        let part = grid(bytes, &ViewState::default()).part(rows, cols, pan);
        (part.row, part.col, part.rows, part.cols)
    };
    // The grid of tests has 4 rows and 10 columns.
    assert_eq!(shown(b"", 9, 20, None), (0, 0, 4, 10));
    assert_eq!(shown(b"", 2, 5, None), (0, 0, 2, 5));
    assert_eq!(shown(b"\x1b[4;10H", 2, 5, None), (2, 5, 2, 5));
    assert_eq!(shown(b"\x1b[3;7H", 2, 5, None), (1, 2, 2, 5));
    assert_eq!(shown(b"\x1b[4;10H", 2, 5, Some((0, 1))), (0, 1, 2, 5));
    assert_eq!(shown(b"", 2, 5, Some((99, 99))), (2, 5, 2, 5));
}

#[test]
fn cells_are_whole_pixels_at_every_scale_and_as_before_at_whole_ones() {
    for size in [6.0, 11.0, 13.0, 14.5, 31.0] {
        let font = FontChoice { size, ..FontChoice::default() };
        for scale in [1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0] {
            let cell = CellSize::at(&font, scale);
            let is_whole = |points: f32| (points * scale - (points * scale).round()).abs() < 0.01;
            assert!(is_whole(cell.width) && is_whole(cell.height), "{size} at {scale}: {cell:?}");
        }
        assert_eq!(CellSize::at(&font, 2.0), CellSize::of(&font));
        assert_eq!(CellSize::at(&font, f32::NAN), CellSize::of(&font));
    }
}

#[test]
fn room_for_headers_is_kept_below_where_none_is_drawn() {
    let mut scene = scene();
    scene.strip.pills = vec![pill(7, "seven"), pill(8, "eight")];
    let alone = Layout::of(&scene).grid;
    scene.strip.pills[1].more = 1;
    let kept = Layout::of(&scene).grid;
    scene.stage =
        Stage::Panes(super::Panes { panes: Vec::new(), is_group: true, is_zoomed: false });
    let drawn = Layout::of(&scene).grid;
    assert_eq!((kept.rows, kept.cols), (drawn.rows, drawn.cols), "the same in every group");
    assert!(kept.rows < alone.rows);
    assert_eq!(kept.origin, alone.origin, "nothing moves where there is no header");
    assert!(drawn.origin.y > kept.origin.y);
}

#[test]
fn a_point_hits_what_is_uppermost_there() {
    let mut scene = scene();
    scene.sidebar.projects = vec![project(1, 2)];
    scene.sidebar.elsewhere = project(0, 2).agents;
    scene.strip.pills = vec![pill(7, "seven")];
    let layout = Layout::of(&scene);
    let first = &layout.sidebar.projects[0];
    for (rect, expected) in [
        (first.row, Hit::Project(ProjectId::new(1))),
        (first.agents[1], Hit::Agent(0, 1)),
        (layout.sidebar.elsewhere.as_ref().unwrap().1[1], Hit::Agent(1, 1)),
        (layout.sidebar.new_project, Hit::NewProject),
        (layout.sidebar.bell, Hit::Bell),
        (layout.sidebar.edge, Hit::SidebarEdge),
        (layout.strip.pills[0].1, Hit::Pill(TerminalId::new(7))),
        (layout.strip.new_tab, Hit::NewTab),
    ] {
        assert_eq!(layout.hit(middle(rect)), expected);
    }
    scene.palette = Some(palette(3, 0));
    let over = Layout::of(&scene);
    let row = over.palette.as_ref().unwrap().rows[1].1;
    assert_eq!(over.hit(middle(row)), Hit::PaletteRow(1));
    assert_eq!(over.hit(middle(first.row)), Hit::Backdrop);
    assert_eq!(over.hit(Point { x: 1.0, y: 1.0 }), Hit::Backdrop);
}

#[test]
fn a_wide_window_is_used_to_its_edge_and_a_huge_one_is_bounded() {
    let bounded = |width, height| {
        let size = WindowSize { width, height }.bounded();
        (size.width, size.height)
    };
    assert_eq!(bounded(5120.0, 1440.0), (5120.0, 1440.0));
    assert_eq!(bounded(1e9, 1e9), (16384.0, 1024.0));
    assert_eq!(bounded(f32::NAN, -4.0), (1.0, 1.0));
}

#[test]
fn toasts_go_to_the_first_corner_that_is_free() {
    let mut scene = scene();
    let toast = Toast { title: "t".to_owned(), body: String::new(), mood: Mood::Inactive };
    scene.toasts = vec![toast; 2];
    let at = |scene: &Scene| Layout::of(scene).toasts[0];
    let layout = Layout::of(&scene);
    let room = layout.panes.terminal;
    let lower = Rect::new(room.x, room.bottom() - 40.0, room.width, 40.0);
    let upper_right = Rect::new(room.right() - 200.0, room.y, 200.0, 100.0);
    let free = |taken: &[Rect]| layout.free_corner(&scene, 2, taken);
    assert_eq!(free(&[]), Some(Corner::LowerRight));
    assert_eq!(free(&[lower]), Some(Corner::UpperRight));
    let lower_right = Rect { x: room.right() - 90.0, ..lower };
    assert_eq!(free(&[lower_right, upper_right]), Some(Corner::LowerLeft));
    assert_eq!(free(&[room]), None);
    for corner in Corner::ALL {
        scene.toast_corner = corner;
        let toasts = Layout::of(&scene).toasts;
        assert!(toasts.iter().all(|toast| is_within(*toast, room)), "{corner:?}");
        assert!(toasts[0].bottom() <= toasts[1].y, "the newest is the lowest");
    }
    // A page has buttons at its foot, so they stand above that.
    scene.toast_corner = Corner::LowerRight;
    let over_panes = at(&scene);
    scene.stage = Stage::List(Default::default());
    assert!(at(&scene).bottom() + 50.0 <= over_panes.bottom());
}

#[test]
fn inbox_and_toasts_stay_within_the_terminal() {
    let mut scene = scene();
    scene.inbox.is_open = true;
    let row = |tab| InboxRow {
        tab: TerminalId::new(tab),
        title: String::new(),
        body: String::new(),
        time_text: String::new(),
    };
    scene.inbox.rows = (0..40).map(row).collect();
    let toast = Toast { title: "t".to_owned(), body: String::new(), mood: Mood::Inactive };
    scene.toasts = vec![toast; 9];
    let layout = Layout::of(&scene);
    let inbox = layout.inbox.as_ref().unwrap();
    assert!(is_within(inbox.frame, layout.panes.terminal));
    assert!(inbox.rows.iter().all(|row| is_within(*row, inbox.frame)));
    assert_eq!(layout.hit(middle(inbox.rows[2])), Hit::InboxRow(2));
    assert!(layout.toasts.len() < 9);
    assert!(layout.toasts.iter().all(|toast| is_within(*toast, layout.panes.terminal)));
}

fn grid(bytes: &[u8], state: &ViewState) -> Grid {
    let config =
        ScreenConfig { size: ScreenSize::new(4, 10), scrollback: 100, palette: Palette::default() };
    let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
    screen.feed(bytes, &NoTranscript, Duration::ZERO);
    Grid::from_snapshot(&screen.snapshot(), state)
}

#[test]
fn a_snapshot_becomes_cells_with_settled_colors() {
    let palette = Palette::default();
    let state = ViewState { selected: vec![(0, 1..3), (99, 0..1)], ..ViewState::default() };
    let grid = grid("a\x1b[31;7mb\x1b[0m你\x1b[8mx\x1b[0me\u{301}".as_bytes(), &state);
    let cells = &grid.rows[0].cells;
    assert_eq!((grid.rows.len(), cells.len(), grid.cols), (4, 10, 10));
    assert_eq!((cells[0].glyph.clone(), cells[0].look.fg), (Glyph::Char('a'), palette.foreground));
    assert_eq!((cells[1].look.fg, cells[1].look.bg), (palette.background, palette.named[1]));
    assert_eq!(cells[2].width, rookery_term::Width::Wide);
    assert_eq!(
        (&cells[3].glyph, cells[3].width),
        (&Glyph::Blank, rookery_term::Width::Continuation)
    );
    assert_eq!(cells[4].look.fg, cells[4].look.bg);
    assert_eq!(cells[5].glyph, Glyph::Cluster("e\u{301}".into()));
    assert_eq!(grid.rows[0].selected, Some(1..3));
    assert_ne!(grid.selection_background, grid.background);
}

#[test]
fn the_cursor_moves_with_the_view_and_is_hollow_without_the_keyboard() {
    let focused = ViewState { has_keyboard: true, ..ViewState::default() };
    let cursor = grid(b"0123456789", &focused).cursor.unwrap();
    assert_eq!((cursor.row, cursor.col, cursor.shape), (0, 9, CursorShape::Block));
    assert_eq!(grid(b"", &ViewState::default()).cursor.unwrap().shape, CursorShape::Hollow);
    assert_eq!(grid(b"\x1b[5 q", &focused).cursor.unwrap().shape, CursorShape::Beam);
    assert!(!grid(b"\x1b[?25l", &focused).cursor.unwrap().is_visible);
    let scroll = Scroll { back: 2, history: 9 };
    let scrolled = ViewState { scroll, ..focused.clone() };
    assert_eq!(grid(b"a", &scrolled).cursor.unwrap().row, 2);
    let far = ViewState { scroll: Scroll { back: 1 << 40, history: 1 << 41 }, ..focused };
    assert_eq!(grid(b"a", &far).cursor, None);
}

/// The first row as text, with `_` for the second half of a wide character.
fn first_row(grid: &Grid) -> String {
    let glyph = |cell: &grid::Cell| match (&cell.glyph, cell.width) {
        (_, rookery_term::Width::Continuation) => "_".to_owned(),
        (Glyph::Blank, _) => ".".to_owned(),
        (Glyph::Char(c), _) => c.to_string(),
        (Glyph::Cluster(text), _) => text.to_string(),
    };
    grid.rows[0].cells.iter().map(glyph).collect()
}

#[test]
fn text_that_is_not_entered_stands_underlined_at_the_cursor() {
    let with = |bytes: &str, text: &str, cursor| {
        let preedit = Some(Preedit { text: text.to_owned(), cursor });
        let grid = grid(bytes.as_bytes(), &ViewState { preedit, ..ViewState::default() });
        (first_row(&grid), grid.cursor.map(|cursor| cursor.col), grid)
    };
    let (row, col, shown) = with("ab", "你k", None);
    assert_eq!((row.as_str(), col), ("ab你_k.....", Some(5)));
    let is_marked = |cell: &grid::Cell| cell.look.underline != rookery_term::Underline::None;
    let marked = shown.rows[0].cells.iter().map(is_marked).collect::<Vec<_>>();
    assert_eq!(marked[..6], [false, false, true, true, true, false]);
    // It moves away from the edge, and halves of what it covers are not left over.
    let (row, col, _) = with("abc你你你\x1b[1;9H", "xyz", Some(1));
    assert_eq!((row.as_str(), col), ("abc你_你_xyz", Some(8)));
    let (row, _, _) = with("你你\x1b[1;2H", "x", None);
    assert_eq!(row, ".x你_......");
    let (row, _, _) = with("你你\x1b[1;3H", "x", None);
    assert_eq!(row, "你_x.......");
    let (row, col, _) = with("", "0123456789abc", Some(99));
    assert_eq!((row.as_str(), col), ("3456789abc", Some(9)));
    assert_eq!(with("ab", "\u{1b}\u{301}", None).0, "ab........");
}
