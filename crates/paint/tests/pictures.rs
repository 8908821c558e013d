//! Tests of whole pictures: colors of known places, and a rough likeness of all the rest.

mod canvas;
mod demo;

use std::sync::Arc;

use canvas::{Canvas, draw, draw_all};
use rookery_model::TerminalId;
use rookery_paint::{PaintError, Painter};
use rookery_view::scene::grid::{CursorShape, ViewState};
use rookery_view::scene::layout::{GridArea, Rect};
use rookery_view::scene::{ACCENT, Layout, Scene, Stage, WindowSize};

const BACKGROUND: (u8, u8, u8) = (0x16, 0x18, 0x1d);

/// A scene with nothing but a terminal showing some bytes.
fn terminal(bytes: &str, state: &ViewState) -> (Scene, GridArea) {
    let mut scene = Scene::new(demo::theme());
    scene.window = WindowSize { width: 400.0, height: 200.0 };
    scene.sidebar.is_collapsed = true;
    let area = Layout::of(&scene).grid;
    let grid = demo::grid(area.rows, area.cols, &scene.theme, bytes.as_bytes(), state);
    scene.stage = Stage::terminal(TerminalId::new(1), Arc::new(grid));
    (scene, area)
}

fn focused() -> ViewState {
    ViewState { has_keyboard: true, ..ViewState::default() }
}

/// A terminal without a cursor, drawn.
fn shown(text: &str) -> (Canvas, GridArea) {
    let (scene, area) = terminal(&format!("\x1b[?25l{text}"), &focused());
    (draw(&scene, 1), area)
}

#[test]
fn dots_stripes_and_badges_have_the_colors_of_their_moods() {
    let scene = demo::workspace();
    let layout = Layout::of(&scene);
    let canvas = draw(&scene, 1);
    for (project, place) in scene.sidebar.projects.iter().zip(&layout.sidebar.projects) {
        let middle = place.row.y + place.row.height / 2.0;
        if let Some(mood) = project.mood.color() {
            assert_eq!(canvas.at(1.0, middle), mood, "stripe of {}", project.name);
            assert_ne!(canvas.at(3.5, middle), mood, "the stripe is three wide");
        }
        let found = canvas.has(Rect { x: 176.0, width: 40.0, ..place.row }, ACCENT);
        assert_eq!(found, project.has_badge, "badge of {}", project.name);
        for (agent, row) in project.agents.iter().zip(&place.agents) {
            if let Some(mood) = agent.mood.color() {
                let left = Rect { x: 20.0, width: 12.0, ..*row };
                assert!(canvas.has(left, mood), "dot of {}", agent.name);
            }
        }
    }
    for (pill, (_, rect)) in scene.strip.pills.iter().zip(&layout.strip.pills) {
        if let Some(mood) = pill.mood.color() {
            assert!(canvas.has(Rect { width: 20.0, ..*rect }, mood), "dot of {}", pill.title);
        }
        let right = Rect { x: rect.right() - 20.0, width: 20.0, ..*rect };
        assert_eq!(canvas.has(right, ACCENT), pill.has_badge, "badge of {}", pill.title);
    }
}

#[test]
fn sidebar_strip_and_terminal_have_their_own_backgrounds() {
    let scene = demo::workspace();
    let canvas = draw(&scene, 1);
    let terminal = canvas.at(1095.0, 690.0);
    assert_eq!(terminal, BACKGROUND);
    let sidebar = canvas.at(100.0, 600.0);
    assert_ne!(sidebar, terminal);
    assert_eq!(canvas.at(1097.0, 3.0), sidebar);
    let mut collapsed = scene;
    collapsed.sidebar.is_collapsed = true;
    assert_eq!(draw(&collapsed, 1).at(5.0, 600.0), terminal);
}

#[test]
fn the_cursor_has_the_shape_it_was_asked_for() {
    let color = rookery_term::Palette::default().cursor;
    let covered = |escape: &str, state: &ViewState| {
        let (scene, area) = terminal(&format!("{escape}ab"), state);
        let canvas = draw(&scene, 1);
        canvas.count(area.columns(0, 2, 1), color)
    };
    let (_, area) = terminal("", &focused());
    let (width, height) = (area.cell.width as usize, area.cell.height as usize);
    assert_eq!(covered("\x1b[2 q", &focused()), width * height);
    assert_eq!(covered("\x1b[4 q", &focused()), width * 2);
    assert_eq!(covered("\x1b[6 q", &focused()), height * 2);
    assert_eq!(covered("\x1b[?25l", &focused()), 0);
    let elsewhere = ViewState::default();
    assert_eq!(covered("", &elsewhere), 2 * width + 2 * (height - 2));
    let beam = ViewState { default_cursor: CursorShape::Beam, ..focused() };
    assert_eq!(covered("", &beam), height * 2);
}

#[test]
fn selected_cells_have_the_background_of_selections() {
    let state = ViewState { selected: vec![(1, 2..5)], ..focused() };
    let (scene, area) = terminal("one\r\n\r\nthree", &state);
    let selection = scene.stage.focused().unwrap().grid.selection_background;
    let canvas = draw(&scene, 1);
    let cells = (area.cell.width * area.cell.height) as usize;
    assert_eq!(canvas.count(area.columns(1, 2, 3), selection), 3 * cells);
    assert_eq!(canvas.count(area.columns(1, 0, 2), selection), 0);
    assert_eq!(canvas.count(area.columns(1, 5, 3), selection), 0);
}

#[test]
fn backgrounds_fill_their_cells_exactly() {
    let (canvas, area) = shown("ab\x1b[48;2;10;200;30m   \x1b[0m");
    let cells = (area.cell.width * area.cell.height) as usize;
    let whole = canvas.count(area.rect(), (10, 200, 30));
    assert_eq!(whole, 3 * cells);
    assert_eq!(canvas.count(area.columns(0, 2, 3), (10, 200, 30)), whole);
}

#[test]
fn box_lines_go_on_from_cell_to_cell() {
    let (canvas, area) =
        shown("\x1b[38;2;255;0;0m┌──┬──┐\r\n│  │  │\r\n├──┼──┤\r\n╰──┴──╯\r\n╔══╗\r\n║  ║\r\n╚══╝");
    let red = (255, 0, 0);
    let all_along = |rect: Rect, what: &str| {
        let found = canvas.count(rect, red);
        assert_eq!(found, (rect.width * rect.height) as usize, "{what}");
    };
    let top = area.columns(0, 0, 7);
    let (half_x, half_y) =
        ((area.cell.width / 2.0).floor() - 1.0, (area.cell.height / 2.0).floor());
    let across = Rect::new(top.x + half_x, top.y + half_y, 6.0 * area.cell.width, 1.0);
    all_along(across, "upper edge");
    let down = Rect::new(across.x, across.y, 1.0, 2.0 * area.cell.height);
    all_along(down, "left edge");
    all_along(Rect { x: down.x + 3.0 * area.cell.width, ..down }, "middle line");
    let double = area.columns(4, 0, 1);
    let outer =
        Rect::new(double.x + half_x - 1.0, double.y + half_y - 1.0, 1.0, 2.0 * area.cell.height);
    all_along(outer, "double edge");
    assert_eq!(
        canvas.count(Rect { x: outer.x + 1.0, y: outer.y + 5.0, height: 9.0, ..outer }, red),
        0
    );
}

#[test]
fn blocks_and_shades_fill_the_part_they_name() {
    let (canvas, area) = shown("\x1b[38;2;255;0;0m█▀▄▌▐▘");
    let count = |col| canvas.count(area.columns(0, col, 1), (255, 0, 0));
    let (width, height) = (area.cell.width as usize, area.cell.height as usize);
    assert_eq!(count(0), width * height);
    assert!(count(1).abs_diff(width * height / 2) <= width, "{}", count(1));
    assert!(count(2).abs_diff(width * height / 2) <= width);
    assert_eq!((count(3), count(4)), (width / 2 * height, width / 2 * height));
    assert!(count(5).abs_diff(width * height / 4) <= width);
}

#[test]
fn wide_characters_keep_to_their_two_cells_and_do_not_shift_what_follows() {
    let text = "|你|🚀|好|é|✓|\u{10fffd}|";
    let (canvas, area) = shown(text);
    let columns = [(1, 2), (4, 2), (7, 2), (10, 1), (12, 1), (14, 1)];
    let bar = |col| canvas.ink(area.columns(0, col, 1), BACKGROUND);
    let first = bar(0);
    assert!(first > 10);
    for (col, cols) in columns {
        assert!(canvas.ink(area.columns(0, col, cols), BACKGROUND) > 4, "something at {col}");
        assert_eq!(bar(col + cols), first, "the bar after {col}");
    }
}

#[test]
fn letters_of_scripts_that_run_to_the_left_stand_in_their_own_cells() {
    let (canvas, area) = shown("|\u{645}|\u{5e9}|");
    let bar = canvas.ink(area.columns(0, 0, 1), BACKGROUND);
    for col in [1, 3] {
        assert!(canvas.ink(area.columns(0, col, 1), BACKGROUND) > 4, "something at {col}");
        assert_eq!(canvas.ink(area.columns(0, col + 1, 1), BACKGROUND), bar, "after {col}");
    }
}

#[test]
fn bold_italic_and_lines_change_the_picture_of_a_word() {
    let plain = "word";
    let (canvas, area) = shown(plain);
    let ink = |canvas: &Canvas| canvas.ink(area.columns(0, 0, 4), BACKGROUND);
    let mut seen = vec![canvas.crop(area.columns(0, 0, 4))];
    for escape in ["1", "3", "1;3", "4", "4:2", "4:3", "4:4", "4:5", "9"] {
        let (styled, _) = shown(&format!("\x1b[{escape}mword"));
        assert!(ink(&styled) > 20);
        let crop = styled.crop(area.columns(0, 0, 4));
        assert!(!seen.contains(&crop), "{escape} looks like another style");
        seen.push(crop);
    }
}

#[test]
fn an_underline_may_have_a_color_of_its_own() {
    let (canvas, area) = shown("\x1b[4;58:2::250:10:10mword\x1b[0m");
    assert_eq!(canvas.count(area.columns(0, 0, 4), (250, 10, 10)), 4 * area.cell.width as usize);
    let (canvas, _) = shown("\x1b[4:3;58:2::250:10:10mword\x1b[0m");
    assert!(canvas.count(area.columns(0, 0, 4), (250, 10, 10)) > area.cell.width as usize);
}

#[test]
fn the_palette_veils_what_is_behind_it_and_marks_its_selected_row() {
    let plain = draw(&demo::workspace(), 1);
    let scene = demo::palette();
    let canvas = draw(&scene, 1);
    let place = Layout::of(&scene).palette.unwrap();
    assert_ne!(canvas.at(1095.0, 690.0), plain.at(1095.0, 690.0));
    let (_, first) = place.rows[0];
    let (_, second) = place.rows[1];
    let chosen = canvas.at(first.x + 6.0, first.y + 17.0);
    assert_ne!(chosen, canvas.at(second.x + 6.0, second.y + 17.0));
    assert_eq!(
        canvas.at(second.x + 6.0, second.y + 17.0),
        canvas.at(place.frame.x + 3.0, second.y)
    );
}

#[test]
fn scale_two_is_the_same_picture_at_twice_the_size() {
    for scene in [demo::workspace(), demo::palette()] {
        let one = draw(&scene, 1);
        let two = draw(&scene, 2);
        assert_eq!((two.width, two.height), (2 * one.width, 2 * one.height));
        let (mean, most) = one.shrunk(10).difference(&two.shrunk(20));
        assert!(mean < 1.5 && most < 40, "mean {mean}, most {most}");
    }
}

#[test]
fn the_same_scene_gives_the_same_bytes() {
    let scenes = vec![(Arc::new(demo::workspace()), 1), (Arc::new(demo::palette()), 1)];
    let first = draw_all(scenes.clone());
    let again = draw_all([scenes.clone(), scenes].concat());
    assert_eq!(first[0].png, again[0].png);
    assert_eq!(again[0].png, again[2].png);
    assert_eq!(again[1].png, again[3].png);
    assert_ne!(again[0].png, again[1].png);
}

#[test]
fn eight_at_once_are_all_answered_with_whole_frames() {
    let scene = Arc::new(demo::workspace());
    let pictures = draw_all(vec![(Arc::clone(&scene), 1); 8]);
    assert_eq!(pictures.len(), 8);
    for picture in &pictures {
        assert_eq!((picture.width, picture.height), (1100, 720));
        let canvas = Canvas::decode(&picture.png);
        assert_eq!(canvas.at(1095.0, 690.0), BACKGROUND);
        assert_eq!(picture.png, pictures[0].png);
    }
}

#[test]
fn only_scales_one_and_two_are_drawn() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let painter = Painter::start().unwrap();
    let scene = Arc::new(Scene::new(demo::theme()));
    for scale in [0, 3, u32::MAX] {
        let answer = runtime.block_on(painter.screenshot(Arc::clone(&scene), scale));
        assert_eq!(answer.unwrap_err(), PaintError::Scale(scale));
    }
}

#[test]
fn scenes_of_any_size_and_content_are_drawn() {
    let mut scene = demo::question();
    for (width, height) in [(1.0, 1.0), (f32::NAN, -3.0), (90.0, 40.0), (230.0, 3000.0)] {
        scene.window = WindowSize { width, height };
        let canvas = draw(&scene, 1);
        let bounded = scene.window.bounded();
        let size = (bounded.width as usize, bounded.height as usize);
        assert_eq!((canvas.width, canvas.height), size);
    }
    for size in [6.0, 72.0, f32::INFINITY] {
        let mut scene = demo::workspace();
        scene.font.size = size;
        scene.font.family = "no such family".to_owned();
        scene.title = "\u{202e}right to left \0 and \x1b controls\n".repeat(50);
        draw(&scene, 1);
    }
}

#[test]
fn pictures_look_as_they_did() {
    for (name, scene) in [
        ("workspace", demo::workspace()),
        ("palette", demo::palette()),
        ("question", demo::question()),
    ] {
        draw(&scene, 1).shrunk(10).assert_like(name);
    }
}
