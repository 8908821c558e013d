//! Characters that are shapes, not letters: lines, blocks, shades, dots, sextants, signs of prompts and
//! players. Drawn in pixels, they fill their cells and meet their neighbors, which no font's glyphs do.

use iced_core::Color;
use rookery_view::scene::Rgb;
use rookery_view::scene::layout::Rect;

use super::boxes;
use super::smooth;
use crate::brush::Brush;
use crate::shades::{color, faded};

/// A brush for rectangles in pixels.
pub(super) struct Pixels<'a, 'b> {
    pub(super) brush: &'a mut Brush<'b>,
    pub(super) scale: f32,
}

impl Pixels<'_, '_> {
    pub(super) fn fill(&mut self, rect: Rect, fill: Color) {
        let points = |pixels: f32| pixels / self.scale;
        let rect =
            Rect::new(points(rect.x), points(rect.y), points(rect.width), points(rect.height));
        self.brush.fill(rect, fill);
    }
}

/// Draws a character if it is a shape; says whether it was.
pub(super) fn draw(brush: &mut Brush<'_>, c: char, cell: Rect, rgb: Rgb, scale: f32) -> bool {
    if c.is_alphanumeric() {
        return false;
    }
    let ink = color(rgb);
    let pixel = |points: f32| (points * scale).round();
    let right = pixel(cell.right());
    let bottom = pixel(cell.bottom());
    let (x, y) = (pixel(cell.x), pixel(cell.y));
    let cell = Rect::new(x, y, right - x, bottom - y);
    let mut pixels = Pixels { brush, scale };
    let brush = &mut pixels;
    // As thick as the stem of a letter.
    let light = (cell.width.min(cell.height) / 8.0).round().max(1.0);
    match c {
        '╭' | '╮' | '╰' | '╯' | '╱' | '╲' | '╳' => {
            return smooth::draw(brush, c, cell, light, rgb);
        }
        '\u{2500}'..='\u{257f}' => return line(brush, c, cell, light, ink),
        '\u{2580}'..='\u{259f}' => block(brush, c, cell, rgb),
        '\u{2800}'..='\u{28ff}' => braille(brush, c, cell, ink),
        '\u{1fb00}'..='\u{1fb3b}' => sextants(brush, c, cell, ink),
        '\u{1fb70}'..='\u{1fb8b}' => return bars(brush, c, cell, ink),
        _ => return smooth::draw(brush, c, cell, light, rgb),
    }
    true
}

fn line(brush: &mut Pixels<'_, '_>, c: char, cell: Rect, light: f32, ink: Color) -> bool {
    if let Some(rects) = boxes::straight(c, cell, light) {
        rects.into_iter().for_each(|rect| brush.fill(rect, ink));
        return true;
    }
    dashes(brush, c, cell, light, ink)
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

fn dashes(brush: &mut Pixels<'_, '_>, c: char, cell: Rect, light: f32, ink: Color) -> bool {
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

/// Halves, eighths, quadrants and shades.
fn block(brush: &mut Pixels<'_, '_>, c: char, cell: Rect, rgb: Rgb) {
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

fn quadrants(brush: &mut Pixels<'_, '_>, code: u32, cell: Rect, ink: Color) {
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

fn braille(brush: &mut Pixels<'_, '_>, c: char, cell: Rect, ink: Color) {
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

/// U+1FB00 to U+1FB3B: two columns of three. Three patterns are missing there, being other characters.
fn sextants(brush: &mut Pixels<'_, '_>, c: char, cell: Rect, ink: Color) {
    let index = c as u32 - 0x1fb00 + 1;
    let bits = index + u32::from(index >= 0x15) + u32::from(index >= 0x14 + 0x15);
    let half = (cell.width / 2.0).round();
    let third = |count: f32| (cell.height * count / 3.0).round();
    for bit in 0..6u8 {
        if bits & (1 << bit) == 0 {
            continue;
        }
        let (is_right, row) = (bit % 2 == 1, f32::from(bit / 2));
        let (x, width) = if is_right { (half, cell.width - half) } else { (0.0, half) };
        let (y, height) = (third(row), third(row + 1.0) - third(row));
        brush.fill(Rect::new(cell.x + x, cell.y + y, width, height), ink);
    }
}

/// U+1FB70 to U+1FB8B: eighths within a cell, and parts that begin above or at the right.
fn bars(brush: &mut Pixels<'_, '_>, c: char, cell: Rect, ink: Color) -> bool {
    let code = c as u32;
    let across = |count: u32| (cell.width * count as f32 / 8.0).round();
    let down = |count: u32| (cell.height * count as f32 / 8.0).round();
    /// Eighths of the parts that begin above or at the right.
    const PARTS: [u32; 5] = [2, 3, 5, 6, 7];
    let rect = match code {
        0x1fb70..=0x1fb75 => {
            let at = code - 0x1fb6f;
            Rect { x: cell.x + across(at), width: across(at + 1) - across(at), ..cell }
        }
        0x1fb76..=0x1fb7b => {
            let at = code - 0x1fb75;
            Rect { y: cell.y + down(at), height: down(at + 1) - down(at), ..cell }
        }
        0x1fb82..=0x1fb86 => Rect { height: down(PARTS[code as usize - 0x1fb82]), ..cell },
        0x1fb87..=0x1fb8b => {
            let width = across(PARTS[code as usize - 0x1fb87]);
            Rect { x: cell.right() - width, width, ..cell }
        }
        _ => return false,
    };
    brush.fill(rect, ink);
    true
}
