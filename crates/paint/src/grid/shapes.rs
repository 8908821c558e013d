//! Characters that are shapes, not letters: lines, blocks, shades, dots, arrows of prompts.
//! Drawn as rectangles, they fill their cells and meet their neighbors, which no font's glyphs do.

use iced_core::Color;
use rookery_view::scene::Rgb;
use rookery_view::scene::layout::Rect;

use super::boxes;
use crate::brush::Brush;
use crate::shades::{color, faded};

/// Draws a character if it is a shape; says whether it was.
pub(super) fn draw(brush: &mut Brush<'_>, c: char, cell: Rect, rgb: Rgb) -> bool {
    let ink = color(rgb);
    // As thick as the stem of a letter.
    let light = (cell.width / 8.0).round().max(1.0);
    match c {
        '\u{2500}'..='\u{257f}' => return line(brush, c, cell, light, ink),
        '\u{2580}'..='\u{259f}' => block(brush, c, cell, rgb),
        '\u{2800}'..='\u{28ff}' => braille(brush, c, cell, ink),
        '\u{e0b0}' => pointer(brush, cell, ink, false),
        '\u{e0b2}' => pointer(brush, cell, ink, true),
        _ => return false,
    }
    true
}

fn line(brush: &mut Brush<'_>, c: char, cell: Rect, light: f32, ink: Color) -> bool {
    if let Some(rects) = boxes::straight(c, cell, light) {
        rects.into_iter().for_each(|rect| brush.fill(rect, ink));
        return true;
    }
    match c {
        '╭' => arc(brush, cell, light, ink, false, false),
        '╮' => arc(brush, cell, light, ink, true, false),
        '╰' => arc(brush, cell, light, ink, false, true),
        '╯' => arc(brush, cell, light, ink, true, true),
        '╱' | '╲' | '╳' => return false,
        _ => return dashes(brush, c, cell, light, ink),
    }
    true
}

/// Broken lines: the character, how many pieces, whether heavy, whether upright.
const DASHES: [(char, u8, bool, bool); 12] = [
    ('┄', 3, false, false),
    ('┅', 3, true, false),
    ('┆', 3, false, true),
    ('┇', 3, true, true),
    ('┈', 4, false, false),
    ('┉', 4, true, false),
    ('┊', 4, false, true),
    ('┋', 4, true, true),
    ('╌', 2, false, false),
    ('╍', 2, true, false),
    ('╎', 2, false, true),
    ('╏', 2, true, true),
];

fn dashes(brush: &mut Brush<'_>, c: char, cell: Rect, light: f32, ink: Color) -> bool {
    let found = DASHES.iter().find(|(dashed, ..)| *dashed == c);
    let Some((_, count, is_heavy, is_upright)) = found.copied() else { return false };
    let thick = if is_heavy { 2.0 * light } else { light };
    let length = if is_upright { cell.height } else { cell.width };
    let step = length / f32::from(count);
    for piece in 0..count {
        let start = (f32::from(piece) * step).round();
        let end = (f32::from(piece + 1) * step).round() - light.max((step * 0.3).floor());
        let rect = if is_upright {
            let x = cell.x + ((cell.width - thick) / 2.0).floor();
            Rect::new(x, cell.y + start, thick, end - start)
        } else {
            let y = cell.y + ((cell.height - thick) / 2.0).floor();
            Rect::new(cell.x + start, y, end - start, thick)
        };
        brush.fill(rect, ink);
    }
    true
}

/// A round corner: a quarter of a ring, and straight ends to two edges.
fn arc(brush: &mut Brush<'_>, cell: Rect, light: f32, ink: Color, to_left: bool, to_top: bool) {
    let center_x = ((cell.width - light) / 2.0).floor();
    let center_y = ((cell.height - light) / 2.0).floor();
    // Drawn as a corner towards right and bottom, then mirrored into place.
    let mirrored = |rect: Rect| {
        let x = if to_left { 2.0 * center_x + light - rect.right() } else { rect.x };
        let y = if to_top { 2.0 * center_y + light - rect.bottom() } else { rect.y };
        Rect { x: cell.x + x, y: cell.y + y, ..rect }
    };
    let right = if to_left { center_x + light } else { cell.width - center_x };
    let below = if to_top { center_y + light } else { cell.height - center_y };
    let outer = right.min(below).floor();
    let inner = outer - light;
    let straight_x = Rect::new(center_x + outer, center_y, right - outer, light);
    let straight_y = Rect::new(center_x, center_y + outer, light, below - outer);
    brush.fill(mirrored(straight_x), ink);
    brush.fill(mirrored(straight_y), ink);
    let reach = |radius: f32, dy: f32| (radius * radius - dy * dy).max(0.0).sqrt();
    let mut y = 0.0;
    while y < outer {
        let dy = outer - y - 0.5;
        let start = outer - reach(outer, dy);
        let end = outer - reach(inner, dy);
        let row = Rect::new(center_x + start, center_y + y, (end - start).max(light * 0.6), 1.0);
        brush.fill(mirrored(row), ink);
        y += 1.0;
    }
}

/// Halves, eighths, quadrants and shades.
fn block(brush: &mut Brush<'_>, c: char, cell: Rect, rgb: Rgb) {
    let ink = color(rgb);
    let eighths = |length: f32, count: u32| (length * count as f32 / 8.0).round();
    let code = c as u32;
    match code {
        0x2580 => brush.fill(Rect { height: eighths(cell.height, 4), ..cell }, ink),
        0x2581..=0x2588 => {
            let height = eighths(cell.height, code - 0x2580);
            brush.fill(Rect { y: cell.bottom() - height, height, ..cell }, ink);
        }
        0x2589..=0x258f => {
            brush.fill(Rect { width: eighths(cell.width, 0x2590 - code), ..cell }, ink);
        }
        0x2590 => {
            let width = cell.width - eighths(cell.width, 4);
            brush.fill(Rect { x: cell.right() - width, width, ..cell }, ink);
        }
        0x2591..=0x2593 => brush.fill(cell, faded(rgb, (code - 0x2590) as f32 / 4.0)),
        0x2594 => brush.fill(Rect { height: eighths(cell.height, 1).max(1.0), ..cell }, ink),
        0x2595 => {
            let width = eighths(cell.width, 1).max(1.0);
            brush.fill(Rect { x: cell.right() - width, width, ..cell }, ink);
        }
        _ => quadrants(brush, code, cell, ink),
    }
}

/// U+2596 to U+259F: upper left, upper right, lower left, lower right.
const QUADRANTS: [&[u8; 4]; 10] =
    [b"0010", b"0001", b"1000", b"1011", b"1001", b"1110", b"1101", b"0100", b"0110", b"0111"];

fn quadrants(brush: &mut Brush<'_>, code: u32, cell: Rect, ink: Color) {
    let Some(parts) = QUADRANTS.get((code as usize).saturating_sub(0x2596)) else { return };
    let (half_x, half_y) = ((cell.width / 2.0).round(), (cell.height / 2.0).round());
    for (index, part) in parts.iter().enumerate() {
        if *part == b'0' {
            continue;
        }
        let (x, width) = if index % 2 == 0 { (0.0, half_x) } else { (half_x, cell.width - half_x) };
        let (y, height) = if index < 2 { (0.0, half_y) } else { (half_y, cell.height - half_y) };
        brush.fill(Rect::new(cell.x + x, cell.y + y, width, height), ink);
    }
}

/// Dots of braille, which programs use to plot: column and row of each bit.
const DOTS: [(f32, f32); 8] = [
    (0.0, 0.0),
    (0.0, 1.0),
    (0.0, 2.0),
    (1.0, 0.0),
    (1.0, 1.0),
    (1.0, 2.0),
    (0.0, 3.0),
    (1.0, 3.0),
];

fn braille(brush: &mut Brush<'_>, c: char, cell: Rect, ink: Color) {
    let bits = c as u32 - 0x2800;
    let size = (cell.width / 4.0).round().max(1.0);
    for (bit, (column, row)) in DOTS.iter().enumerate() {
        if bits & (1 << bit) != 0 {
            let x = (cell.x + cell.width * (0.25 + column * 0.5) - size / 2.0).round();
            let y = (cell.y + cell.height * (0.125 + row * 0.25) - size / 2.0).round();
            brush.fill(Rect::new(x, y, size, size), ink);
        }
    }
}

/// The filled triangle between the parts of a prompt.
fn pointer(brush: &mut Brush<'_>, cell: Rect, ink: Color, to_left: bool) {
    let rows = cell.height as u16;
    for row in 0..rows {
        let middle = (f32::from(row) + 0.5) / cell.height;
        let width = cell.width * (1.0 - (2.0 * middle - 1.0).abs());
        let x = if to_left { cell.right() - width } else { cell.x };
        brush.fill(Rect::new(x, cell.y + f32::from(row), width, 1.0), ink);
    }
}
