//! Box drawing characters as rectangles that meet those of the neighboring cells.

use rookery_view::scene::layout::Rect;

/// Arms of U+2500 to U+257F: up, right, down, left; 1 light, 2 heavy, 3 double. Dashed, round and
/// slanted ones have none and are drawn otherwise.
#[rustfmt::skip]
const ARMS: [&[u8; 4]; 128] = [
    b"0101", b"0202", b"1010", b"2020", b"0000", b"0000", b"0000", b"0000",
    b"0000", b"0000", b"0000", b"0000", b"0110", b"0210", b"0120", b"0220",
    b"0011", b"0012", b"0021", b"0022", b"1100", b"1200", b"2100", b"2200",
    b"1001", b"1002", b"2001", b"2002", b"1110", b"1210", b"2110", b"1120",
    b"2120", b"2210", b"1220", b"2220", b"1011", b"1012", b"2011", b"1021",
    b"2021", b"2012", b"1022", b"2022", b"0111", b"0112", b"0211", b"0212",
    b"0121", b"0122", b"0221", b"0222", b"1101", b"1102", b"1201", b"1202",
    b"2101", b"2102", b"2201", b"2202", b"1111", b"1112", b"1211", b"1212",
    b"2111", b"1121", b"2121", b"2112", b"2211", b"1122", b"1221", b"2212",
    b"1222", b"2122", b"2221", b"2222", b"0000", b"0000", b"0000", b"0000",
    b"0303", b"3030", b"0310", b"0130", b"0330", b"0013", b"0031", b"0033",
    b"1300", b"3100", b"3300", b"1003", b"3001", b"3003", b"1310", b"3130",
    b"3330", b"1013", b"3031", b"3033", b"0313", b"0131", b"0333", b"1303",
    b"3101", b"3303", b"1313", b"3131", b"3333", b"0000", b"0000", b"0000",
    b"0000", b"0000", b"0000", b"0000", b"0001", b"1000", b"0100", b"0010",
    b"0002", b"2000", b"0200", b"0020", b"0201", b"1020", b"0102", b"2010",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    None,
    Light,
    Heavy,
    Double,
}

/// A cell seen along one of its axes: positions from the near edge, in whole points.
#[derive(Clone, Copy)]
struct Axis {
    length: f32,
    /// Thickness of a light line, which is also half the distance of a double one.
    light: f32,
}

impl Axis {
    /// Where a line of a weight begins across this axis, and how thick it is.
    fn line(self, weight: Weight) -> (f32, f32) {
        let thick = if weight == Weight::Heavy { 2.0 * self.light } else { self.light };
        (((self.length - thick) / 2.0).floor(), thick)
    }
}

/// An arm and what it meets in the middle.
#[derive(Clone, Copy)]
struct Arm {
    own: Weight,
    opposite: Weight,
    /// The arms at its sides: the one nearer to the cell's upper left first.
    sides: [Weight; 2],
}

impl Arm {
    /// Its lines: how far across they are from the middle line, how thick they are, and how far
    /// beyond the middle they begin, towards the arm if positive.
    fn lines(self, light: f32) -> Vec<(f32, f32)> {
        use Weight::{Double, None};
        let [near, far] = self.sides;
        if self.own == Double {
            // Each of the two lines ends where it meets the line on its own side.
            let begin = |side: Weight, other: Weight| match (side, other) {
                (Double, _) => light,
                (None, Double) => -light,
                _ => 0.0,
            };
            return vec![(-light, begin(near, far)), (light, begin(far, near))];
        }
        let begin = match (near == Double, far == Double) {
            _ if self.opposite != None => 0.0,
            (true, true) => light,
            (true, false) | (false, true) => -light,
            (false, false) => 0.0,
        };
        vec![(0.0, begin)]
    }
}

/// The rectangles of a box drawing character with straight, unbroken arms; none for others.
pub(super) fn straight(c: char, cell: Rect, light: f32) -> Option<Vec<Rect>> {
    let index = (c as usize).checked_sub(0x2500)?;
    let arms = ARMS.get(index)?;
    if *arms == b"0000" {
        return None;
    }
    let weight = |index: usize| match arms[index] {
        b'1' => Weight::Light,
        b'2' => Weight::Heavy,
        b'3' => Weight::Double,
        _ => Weight::None,
    };
    let [up, right, down, left] = [weight(0), weight(1), weight(2), weight(3)];
    let (wide, high) = (Axis { length: cell.width, light }, Axis { length: cell.height, light });
    let mut rects = Vec::with_capacity(8);
    for (own, opposite, forward) in [(right, left, true), (left, right, false)] {
        let arm = Arm { own, opposite, sides: [up, down] };
        for (x, y, width, height) in pieces(arm, wide, high, forward) {
            rects.push(Rect::new(cell.x + x, cell.y + y, width, height));
        }
    }
    for (own, opposite, forward) in [(down, up, true), (up, down, false)] {
        let arm = Arm { own, opposite, sides: [left, right] };
        for (y, x, height, width) in pieces(arm, high, wide, forward) {
            rects.push(Rect::new(cell.x + x, cell.y + y, width, height));
        }
    }
    Some(rects)
}

/// The rectangles of an arm: position along and across its axis, and its size along and across.
fn pieces(arm: Arm, along: Axis, across: Axis, forward: bool) -> Vec<(f32, f32, f32, f32)> {
    if arm.own == Weight::None {
        return Vec::new();
    }
    let (middle, thick) = across.line(arm.own);
    // The middle is as wide as the widest single line that crosses there.
    let crossing = if arm.sides.contains(&Weight::Heavy) { Weight::Heavy } else { Weight::Light };
    let (center, center_thick) = along.line(crossing);
    let piece = |(offset, begin): (f32, f32)| {
        let (start, end) = if forward {
            (center + begin, along.length)
        } else {
            (0.0, center + center_thick - begin)
        };
        (start, middle + offset, end - start, thick)
    };
    arm.lines(across.light).into_iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: Rect = Rect { x: 0.0, y: 0.0, width: 8.0, height: 17.0 };

    /// The cell as text, a `#` for each covered pixel.
    fn drawn(c: char) -> Vec<String> {
        let rects = straight(c, CELL, 1.0).unwrap_or_default();
        let covered = |x: f32, y: f32| {
            let point = rookery_view::scene::layout::Point { x: x + 0.5, y: y + 0.5 };
            rects.iter().any(|rect| rect.contains(point))
        };
        let row = |y| (0..8).map(|x| if covered(x as f32, y as f32) { '#' } else { '.' }).collect();
        (0..17).map(row).collect()
    }

    fn edge(c: char, side: usize) -> Vec<usize> {
        let rows = drawn(c);
        let pixel = |x: usize, y: usize| rows[y].as_bytes()[x] == b'#';
        match side {
            0 => (0..8).filter(|x| pixel(*x, 0)).collect(),
            1 => (0..17).filter(|y| pixel(7, *y)).collect(),
            2 => (0..8).filter(|x| pixel(*x, 16)).collect(),
            _ => (0..17).filter(|y| pixel(0, *y)).collect(),
        }
    }

    #[test]
    fn every_arm_reaches_its_edge_at_the_same_place_as_its_neighbor() {
        for (index, arms) in ARMS.iter().enumerate() {
            let Some(c) = char::from_u32(0x2500 + index as u32) else { continue };
            for (side, weight) in arms.iter().enumerate() {
                // What a plain line of that weight does at that edge.
                let like = match (weight, side % 2) {
                    (b'1', 0) => '│',
                    (b'1', _) => '─',
                    (b'2', 0) => '┃',
                    (b'2', _) => '━',
                    (b'3', 0) => '║',
                    (b'3', _) => '═',
                    _ if **arms == *b"0000" => continue,
                    _ => {
                        assert!(edge(c, side).is_empty(), "{c} has no arm {side}");
                        continue;
                    }
                };
                assert_eq!(edge(c, side), edge(like, side), "{c} at edge {side}");
            }
        }
    }

    #[test]
    fn corners_of_double_lines_are_closed_and_hollow() {
        let rows = drawn('╔');
        assert_eq!(&rows[7], "..######", "{rows:#?}");
        assert_eq!(&rows[8], "..#.....");
        assert_eq!(&rows[9], "..#.####");
        assert_eq!(&rows[10], "..#.#...");
        let rows = drawn('╬');
        assert_eq!(&rows[7], "###.####", "{rows:#?}");
        assert_eq!(&rows[8], "........");
        assert_eq!(&rows[9], "###.####");
        let rows = drawn('╟');
        assert_eq!(&rows[8], "..#.####", "{rows:#?}");
        let rows = drawn('╤');
        assert_eq!(&rows[7], "########", "{rows:#?}");
        assert_eq!(&rows[9], "########");
        assert_eq!(&rows[10], "...#....");
    }

    #[test]
    fn light_corners_have_no_gap_and_no_spur() {
        let rows = drawn('┌');
        assert_eq!(&rows[7], "........");
        assert_eq!(&rows[8], "...#####");
        assert_eq!(&rows[9], "...#....");
        let rows = drawn('┘');
        assert_eq!(&rows[8], "####....");
        assert_eq!(&rows[9], "........");
    }
}
