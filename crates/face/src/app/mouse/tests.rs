//! What programs get of the mouse.

use rookery_term::mouse::MouseMods;
use rookery_view::link::Rights;

use super::*;
use crate::app::Environment;
use crate::cells::Rect;
use crate::picture::fixed::{Fixed, workspace};

/// Terminal 3, whose program wants the mouse, in ten columns and five rows from column 20 and row 2 on.
fn program() -> (Fixed, App) {
    let mut fixed = workspace(78, 28);
    fixed.terms.get_mut(&3).unwrap().modes = modes::MOUSE;
    let mut app = App::new((100, 30), Environment { is_window: true, ..Environment::default() });
    app.rights = Rights::Full;
    let area = Rect::new(20, 2, 10, 5);
    app.drawn.panes = vec![(3, area, (0, 0))];
    app.drawn.hits = vec![(area, Hit::Pane(3))];
    (fixed, app)
}

/// What the program gets: kind, button, row and column.
fn told(
    (fixed, app): &mut (Fixed, App),
    kind: MouseKind,
    button: MouseButton,
    at: (u16, u16),
) -> Vec<(link::MouseKind, link::MouseButton, u16, u16)> {
    let cx = Cx { picture: &*fixed, now: 10, wall: 0 };
    let mods = MouseMods { shift: false, ctrl: false, alt: false };
    app.mouse(&cx, &MouseEvent { kind, button, col: at.0, row: at.1, mods });
    let inputs = app.take_effects().into_iter().filter_map(|effect| match effect {
        Effect::Input(Input::Mouse(told)) => Some((told.kind, told.button, told.row, told.col)),
        _ => None,
    });
    inputs.collect()
}

#[test]
fn a_drag_that_began_in_a_program_is_its_own_until_the_button_is_let_go() {
    use link::{MouseButton as Button, MouseKind as Kind};
    let mut bench = program();
    let (press, motion, release) = (MouseKind::Press, MouseKind::Motion, MouseKind::Release);
    let left = MouseButton::Left;
    let at = |kind, row, col| vec![(kind, Button::Left, row, col)];
    assert_eq!(told(&mut bench, press, left, (21, 3)), at(Kind::Press, 1, 1));
    assert_eq!(told(&mut bench, motion, left, (24, 4)), at(Kind::Move, 2, 4));
    assert_eq!(told(&mut bench, motion, left, (24, 4)), [], "the same cell again");
    // Beside the pane it is at the edge, and told of each cell there once.
    assert_eq!(told(&mut bench, motion, left, (60, 5)), at(Kind::Move, 3, 9));
    assert_eq!(told(&mut bench, motion, left, (70, 5)), []);
    assert_eq!(told(&mut bench, motion, left, (0, 0)), at(Kind::Move, 0, 0));
    assert_eq!(told(&mut bench, release, left, (25, 29)), at(Kind::Release, 4, 5));
    assert_eq!(told(&mut bench, release, left, (25, 4)), [], "nothing is held any more");
}

#[test]
fn a_button_that_was_pressed_elsewhere_is_not_told_to_the_program_it_is_dragged_over() {
    let mut bench = program();
    let (left, none) = (MouseButton::Left, MouseButton::None);
    assert_eq!(told(&mut bench, MouseKind::Press, left, (2, 2)), []);
    assert_eq!(told(&mut bench, MouseKind::Motion, left, (22, 3)), []);
    assert_eq!(told(&mut bench, MouseKind::Release, left, (22, 3)), []);
    let moved = told(&mut bench, MouseKind::Motion, none, (22, 3));
    assert_eq!(moved, [(link::MouseKind::Move, link::MouseButton::None, 1, 2)]);
}
