//! Arrangements of panes, by example and by property.

use proptest::prelude::*;

use super::*;

const ROOM: Rect = Rect { col: 0, row: 0, cols: 80, rows: 24 };

fn shown(tree: &Tree, room: Rect) -> Vec<(u64, u16, u16, u16, u16)> {
    let area = |area: Area| {
        let Rect { col, row, cols, rows } = area.rect;
        (area.terminal, col, row, cols, rows)
    };
    tree.areas(room).into_iter().map(area).collect()
}

/// 1 at the left, 2 above 3 at the right.
fn three() -> Tree {
    let mut tree = Tree::Pane(1);
    tree.split(1, Direction::Right, 2, ROOM).unwrap();
    tree.split(2, Direction::Below, 3, ROOM).unwrap();
    tree
}

#[test]
fn halves_have_a_gap_of_one_cell() {
    assert_eq!(shown(&three(), ROOM), [(1, 0, 0, 40, 24), (2, 41, 0, 39, 12), (3, 41, 13, 39, 11)]);
    assert_eq!(
        shown(&three(), Rect::room(40, 12)),
        [(1, 0, 0, 20, 12), (2, 21, 0, 19, 6), (3, 21, 7, 19, 5)]
    );
}

#[test]
fn what_is_too_small_too_deep_or_too_many_is_refused() {
    let mut tree = Tree::Pane(1);
    let small = Rect::room(20, 7);
    assert_eq!(tree.split(1, Direction::Right, 2, small), Err(Refused::TooSmall));
    assert_eq!(tree.split(1, Direction::Right, 2, Rect::room(21, 2)), Err(Refused::TooSmall));
    assert_eq!(tree.split(1, Direction::Below, 2, small), Ok(()));
    assert_eq!(tree.split(1, Direction::Below, 2, small), Err(Refused::Twice(2)));
    assert_eq!(tree.split(9, Direction::Below, 3, small), Err(Refused::Unknown(9)));
    let huge = Rect::room(60_000, 60_000);
    let mut deep = Tree::Pane(1);
    for new in 2..=9 {
        deep.split(1, Direction::Right, new, huge).unwrap();
    }
    assert_eq!(deep.split(1, Direction::Right, 10, huge), Err(Refused::TooDeep));
    for (at, new) in (2..=8).zip(10..) {
        deep.split(at, Direction::Below, new, huge).unwrap();
    }
    assert_eq!(deep.split(9, Direction::Below, 99, huge), Err(Refused::TooMany));
}

#[test]
fn closing_gives_the_room_to_the_sibling() {
    let mut tree = three();
    assert_eq!(tree.close(9), Err(Refused::Unknown(9)));
    assert_eq!(tree.clone().close(1), Ok(2));
    assert_eq!(tree.close(3), Ok(2));
    assert_eq!(shown(&tree, ROOM), [(1, 0, 0, 40, 24), (2, 41, 0, 39, 24)]);
    assert_eq!(tree.close(2), Ok(1));
    assert_eq!(tree.close(1), Err(Refused::Alone));
    assert_eq!(
        three().retain(&|terminal| terminal != 2).map(|tree| tree.terminals()),
        Some(vec![1, 3])
    );
    assert_eq!(three().retain(&|_| false), None);
}

#[test]
fn the_focus_moves_as_the_eye_does() {
    let tree = three();
    let to = |from, edge| tree.neighbor(from, edge, ROOM);
    assert_eq!(to(1, Edge::Right), Some(2));
    assert_eq!(to(2, Edge::Left), Some(1));
    assert_eq!(to(3, Edge::Left), Some(1));
    assert_eq!(to(2, Edge::Down), Some(3));
    assert_eq!(to(3, Edge::Up), Some(2));
    assert_eq!((to(1, Edge::Left), to(2, Edge::Up), to(9, Edge::Up)), (None, None, None));
    assert_eq!((tree.next(1), tree.next(3), tree.next(9)), (Some(2), Some(1), None));
    assert_eq!(tree.pane_at(ROOM, 40, 0), None);
    assert_eq!(tree.pane_at(ROOM, 41, 13), Some(3));
}

#[test]
fn borders_move_by_cells_and_stop_in_time() {
    let mut tree = three();
    tree.resize(1, Edge::Right, 5, ROOM).unwrap();
    assert_eq!(shown(&tree, ROOM)[0], (1, 0, 0, 45, 24));
    tree.resize(3, Edge::Left, 5, ROOM).unwrap();
    assert_eq!(shown(&tree, ROOM)[0], (1, 0, 0, 40, 24));
    tree.resize(3, Edge::Right, -3, ROOM).unwrap();
    assert_eq!(
        shown(&tree, ROOM)[0],
        (1, 0, 0, 37, 24),
        "at the room's edge the other border moves"
    );
    tree.resize(2, Edge::Down, 100, ROOM).unwrap();
    assert_eq!(shown(&tree, ROOM)[1].4, 22);
    assert_eq!(tree.resize(1, Edge::Up, 1, ROOM), Err(Refused::NoBorder));
    assert_eq!(tree.resize(9, Edge::Up, 1, ROOM), Err(Refused::Unknown(9)));
}

#[test]
fn panes_are_swapped_and_moved() {
    let mut tree = three();
    tree.swap(1, 3).unwrap();
    assert_eq!(tree.terminals(), [3, 2, 1]);
    tree.relocate(1, 3, Side::Above, ROOM).unwrap();
    assert_eq!(shown(&tree, ROOM), [(1, 0, 0, 40, 12), (3, 0, 13, 40, 11), (2, 41, 0, 39, 24)]);
    let before = tree.clone();
    assert_eq!(tree.relocate(1, 1, Side::Left, ROOM), Err(Refused::Twice(1)));
    assert_eq!(tree.relocate(1, 3, Side::Left, Rect::room(9, 9)), Err(Refused::TooSmall));
    assert_eq!(tree, before);
}

#[derive(Clone, Debug)]
enum Step {
    Split(usize, bool),
    Close(usize),
    Resize(usize, u8, i32),
    Swap(usize, usize),
    Move(usize, usize, u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (any::<usize>(), any::<bool>()).prop_map(|(at, right)| Step::Split(at, right)),
        1 => any::<usize>().prop_map(Step::Close),
        2 => (any::<usize>(), 0..4u8, -50..50i32).prop_map(|(at, edge, by)| Step::Resize(at, edge, by)),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(one, other)| Step::Swap(one, other)),
        1 => (any::<usize>(), any::<usize>(), 0..4u8).prop_map(|(one, to, side)| Step::Move(one, to, side)),
    ];
    prop::collection::vec(step, 0..40)
}

fn arranged(steps: &[Step], room: Rect) -> Tree {
    let mut tree = Tree::Pane(1);
    let mut next = 2;
    for step in steps {
        let panes = tree.terminals();
        let at = |index: &usize| panes[index % panes.len()];
        let done = match step {
            Step::Split(index, right) => {
                let direction = if *right { Direction::Right } else { Direction::Below };
                next += 1;
                tree.split(at(index), direction, next, room)
            }
            Step::Close(index) => tree.close(at(index)).map(drop),
            Step::Resize(index, edge, by) => {
                let edge = [Edge::Left, Edge::Right, Edge::Up, Edge::Down][usize::from(*edge)];
                tree.resize(at(index), edge, *by, room)
            }
            Step::Swap(one, other) => tree.swap(at(one), at(other)),
            Step::Move(one, to, side) => {
                let side = [Side::Left, Side::Right, Side::Above, Side::Below][usize::from(*side)];
                tree.relocate(at(one), at(to), side, room)
            }
        };
        // Refusals are part of the game; what counts is that they leave a sound tree.
        let _ = done;
        assert!(tree.is_sound());
    }
    tree
}

/// Cells of the room that are panes, and how many gaps the splits make.
fn gaps(tree: &Tree, room: Rect) -> u64 {
    let Tree::Split(split) = tree else { return 0 };
    let (one, two) = split.parts(room);
    let (length, across) = match split.direction {
        Direction::Right => (room.cols, room.rows),
        Direction::Below => (room.rows, room.cols),
    };
    let own = if length < 3 { 0 } else { u64::from(across) };
    own + gaps(&split.first, one) + gaps(&split.second, two)
}

proptest! {
    #[test]
    fn areas_and_gaps_cover_the_room_exactly_and_never_overlap(
        steps in steps(), cols in 1..300u16, rows in 1..100u16, other_cols in 1..300u16, other_rows in 1..100u16,
    ) {
        let tree = arranged(&steps, Rect::room(cols, rows));
        // The room may change afterwards, as windows do.
        for room in [Rect::room(cols, rows), Rect::room(other_cols, other_rows)] {
            let mut seen = vec![0u8; usize::from(room.cols) * usize::from(room.rows)];
            for area in tree.areas(room) {
                let Rect { col, row, cols, rows } = area.rect;
                for (r, c) in (row..row + rows).flat_map(|r| (col..col + cols).map(move |c| (r, c))) {
                    seen[usize::from(r) * usize::from(room.cols) + usize::from(c)] += 1;
                }
            }
            prop_assert!(seen.iter().all(|count| *count <= 1));
            let free = seen.iter().filter(|count| **count == 0).count() as u64;
            prop_assert_eq!(free, gaps(&tree, room));
        }
    }

    #[test]
    fn closing_in_any_order_ends_in_one(steps in steps(), order in prop::collection::vec(any::<usize>(), 16)) {
        let mut tree = arranged(&steps, Rect::room(200, 60));
        for index in order {
            let panes = tree.terminals();
            let closed = tree.close(panes[index % panes.len()]);
            prop_assert_eq!(closed.is_ok(), panes.len() > 1);
            prop_assert_eq!(tree.len(), panes.len().saturating_sub(1).max(1));
        }
        prop_assert_eq!(tree.len(), 1);
    }

    #[test]
    fn every_share_can_be_reached(both in 2..4096u16, first in 1..4096u16) {
        let first = first.min(both - 1);
        prop_assert_eq!(shared(both + GAP, share_of(first, both)), (first, both - first));
    }
}
