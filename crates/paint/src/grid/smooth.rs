//! Shapes with slanted or round edges: their coverage of each pixel, as rectangles of one strength.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rookery_view::scene::Rgb;
use rookery_view::scene::layout::Rect;
use tiny_skia::{FillRule, LineCap, Mask, Path, PathBuilder, PathStroker, Stroke, Transform};

use super::shapes::Pixels;
use crate::shades::faded;

/// Shapes that are remembered before they are begun anew.
const MAX_SHAPES: usize = 512;
/// Cells larger than this are not drawn by us.
const MAX_SIDE: f32 = 512.0;

/// Pixels of one strength: column, row, columns, rows, strength.
type Patch = (u16, u16, u16, u16, u8);

/// Draws a character if it is a shape; says whether it was.
pub(super) fn draw(pixels: &mut Pixels<'_, '_>, c: char, cell: Rect, light: f32, rgb: Rgb) -> bool {
    type Shapes = HashMap<(char, u16, u16), Option<Rc<[Patch]>>>;
    thread_local! {
        static SHAPES: RefCell<Shapes> = RefCell::default();
    }
    if cell.width < 1.0 || cell.height < 1.0 || cell.width.max(cell.height) > MAX_SIDE {
        return false;
    }
    let key = (c, cell.width as u16, cell.height as u16);
    let found = SHAPES.with_borrow_mut(|shapes| {
        if shapes.len() >= MAX_SHAPES {
            shapes.clear();
        }
        let made = || Some(patches(&outline(c, cell.width, cell.height, light)?, key.1, key.2));
        shapes.entry(key).or_insert_with(made).clone()
    });
    let Some(patches) = found else { return false };
    for (x, y, width, height, strength) in patches.iter().copied() {
        let rect = Rect::new(
            cell.x + f32::from(x),
            cell.y + f32::from(y),
            f32::from(width),
            f32::from(height),
        );
        pixels.fill(rect, faded(rgb, f32::from(strength) / 255.0));
    }
    true
}

/// How much of each pixel a path covers, pixels of one strength in a row as one, and rows alike as one.
fn patches(path: &Path, width: u16, height: u16) -> Rc<[Patch]> {
    let Some(mut mask) = Mask::new(u32::from(width), u32::from(height)) else { return Rc::new([]) };
    mask.fill_path(path, FillRule::Winding, true, Transform::identity());
    let mut done: Vec<Patch> = Vec::new();
    for (y, row) in mask.data().chunks_exact(usize::from(width)).enumerate() {
        let mut x = 0;
        while let Some(strength) = row.get(x).copied() {
            let len = row[x..].iter().take_while(|other| **other == strength).count();
            let patch = (x as u16, y as u16, len as u16, 1, strength);
            let above = done.iter_mut().rev().find(|(left, top, cols, rows, same)| {
                (*left, *cols, *same) == (patch.0, patch.2, strength) && *top + *rows == patch.1
            });
            match above {
                _ if strength == 0 => {}
                Some((.., rows, _)) => *rows += 1,
                None => done.push(patch),
            }
            x += len;
        }
    }
    done.into()
}

/// The outline of a shape in a cell of a size; none if the character is no shape of ours.
fn outline(c: char, width: f32, height: f32, light: f32) -> Option<Path> {
    let pen = Pen { width, height, light };
    match c {
        '╭' | '╮' | '╰' | '╯' => pen.arc(matches!(c, '╮' | '╯'), matches!(c, '╰' | '╯')),
        '╱' => pen.stroked(&[(0.0, 1.0), (1.0, 0.0)]),
        '╲' => pen.stroked(&[(0.0, 0.0), (1.0, 1.0)]),
        '╳' => pen.cross(),
        // Between the parts of a prompt.
        '\u{e0b0}' => pen.filled(&[(0.0, 0.0), (1.0, 0.5), (0.0, 1.0)]),
        '\u{e0b1}' => pen.stroked(&[(0.0, 0.0), (1.0, 0.5), (0.0, 1.0)]),
        '\u{e0b2}' => pen.filled(&[(1.0, 0.0), (0.0, 0.5), (1.0, 1.0)]),
        '\u{e0b3}' => pen.stroked(&[(1.0, 0.0), (0.0, 0.5), (1.0, 1.0)]),
        '\u{e0b4}' => pen.half_round(false, false),
        '\u{e0b5}' => pen.half_round(false, true),
        '\u{e0b6}' => pen.half_round(true, false),
        '\u{e0b7}' => pen.half_round(true, true),
        '\u{e0b8}' => pen.filled(&[(0.0, 0.0), (1.0, 1.0), (0.0, 1.0)]),
        '\u{e0b9}' | '\u{e0bf}' => pen.stroked(&[(0.0, 0.0), (1.0, 1.0)]),
        '\u{e0ba}' => pen.filled(&[(1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]),
        '\u{e0bb}' | '\u{e0bd}' => pen.stroked(&[(0.0, 1.0), (1.0, 0.0)]),
        '\u{e0bc}' => pen.filled(&[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]),
        '\u{e0be}' => pen.filled(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]),
        // Below the line that an agent says what came of.
        '⎿' => pen.elbow(),
        // Players, which agents say their state by.
        '⏵' => pen.sign(&[(0.08, 0.0), (0.95, 0.5), (0.08, 1.0)]),
        '⏴' => pen.sign(&[(0.92, 0.0), (0.05, 0.5), (0.92, 1.0)]),
        '⏶' => pen.sign(&[(0.0, 0.92), (0.5, 0.05), (1.0, 0.92)]),
        '⏷' => pen.sign(&[(0.0, 0.08), (0.5, 0.95), (1.0, 0.08)]),
        '⏸' => pen.pause(),
        '⏹' => pen.sign(&[(0.06, 0.06), (0.94, 0.06), (0.94, 0.94), (0.06, 0.94)]),
        '⏺' => pen.disc(),
        _ => None,
    }
}

/// Draws outlines into a cell.
struct Pen {
    width: f32,
    height: f32,
    light: f32,
}

impl Pen {
    fn path(&self, points: &[(f32, f32)], is_closed: bool) -> Option<Path> {
        let mut builder = PathBuilder::new();
        for (index, (x, y)) in points.iter().enumerate() {
            match index {
                0 => builder.move_to(*x, *y),
                _ => builder.line_to(*x, *y),
            }
        }
        if is_closed {
            builder.close();
        }
        builder.finish()
    }

    fn scaled(&self, points: &[(f32, f32)]) -> Vec<(f32, f32)> {
        points.iter().map(|(x, y)| (x * self.width, y * self.height)).collect()
    }

    /// A polygon, in parts of the cell.
    fn filled(&self, points: &[(f32, f32)]) -> Option<Path> {
        self.path(&self.scaled(points), true)
    }

    fn stroke(&self, path: &Path) -> Option<Path> {
        let stroke = Stroke { width: self.light, line_cap: LineCap::Square, ..Stroke::default() };
        PathStroker::new().stroke(path, &stroke, 1.0)
    }

    /// A line, in parts of the cell.
    fn stroked(&self, points: &[(f32, f32)]) -> Option<Path> {
        self.stroke(&self.path(&self.scaled(points), false)?)
    }

    fn cross(&self) -> Option<Path> {
        let mut builder = PathBuilder::new();
        builder.move_to(0.0, 0.0);
        builder.line_to(self.width, self.height);
        builder.move_to(0.0, self.height);
        builder.line_to(self.width, 0.0);
        self.stroke(&builder.finish()?)
    }

    /// Where the straight lines of neighbors run.
    fn middle(&self) -> (f32, f32) {
        let line = |length: f32| ((length - self.light) / 2.0).floor() + self.light / 2.0;
        (line(self.width), line(self.height))
    }

    /// A round corner: from one edge straight, around, and straight to the other.
    fn arc(&self, to_left: bool, to_top: bool) -> Option<Path> {
        // How far a control point is from the corner, so that the curve is nearly a circle.
        const BEND: f32 = 1.0 - 0.552_284_8;
        let (x, y) = self.middle();
        let (end_x, along) = if to_left { (0.0, -1.0) } else { (self.width, 1.0) };
        let (end_y, down) = if to_top { (0.0, -1.0) } else { (self.height, 1.0) };
        let radius = (end_x - x).abs().min((end_y - y).abs());
        let mut builder = PathBuilder::new();
        builder.move_to(x, end_y);
        builder.line_to(x, y + down * radius);
        builder.cubic_to(
            x,
            y + down * radius * BEND,
            x + along * radius * BEND,
            y,
            x + along * radius,
            y,
        );
        builder.line_to(end_x, y);
        self.stroke(&builder.finish()?)
    }

    /// Half of an ellipse that fills the cell.
    fn half_round(&self, is_left: bool, is_line: bool) -> Option<Path> {
        const BEND: f32 = 0.552_284_8;
        let (flat, along) = if is_left { (self.width, -self.width) } else { (0.0, self.width) };
        let half = self.height / 2.0;
        let mut builder = PathBuilder::new();
        builder.move_to(flat, 0.0);
        builder.cubic_to(
            flat + along * BEND,
            0.0,
            flat + along,
            half * (1.0 - BEND),
            flat + along,
            half,
        );
        builder.cubic_to(
            flat + along,
            half * (1.0 + BEND),
            flat + along * BEND,
            self.height,
            flat,
            self.height,
        );
        if !is_line {
            builder.close();
        }
        let path = builder.finish()?;
        if is_line { self.stroke(&path) } else { Some(path) }
    }

    fn elbow(&self) -> Option<Path> {
        let (x, _) = self.middle();
        let line = ((self.height * 0.72 - self.light) / 2.0).floor() * 2.0 + self.light / 2.0;
        let points = [(x, self.light / 2.0), (x, line), (self.width - self.light / 2.0, line)];
        self.stroke(&self.path(&points, false)?)
    }

    /// The square that signs stand in: as wide as the cell, on the middle of letters.
    fn square(&self) -> (f32, f32, f32) {
        let side = self.width.min(self.height * 0.62);
        ((self.width - side) / 2.0, (self.height - side) * 0.54, side)
    }

    /// A polygon, in parts of the square.
    fn sign(&self, points: &[(f32, f32)]) -> Option<Path> {
        let (left, top, side) = self.square();
        let placed: Vec<_> =
            points.iter().map(|(x, y)| (left + x * side, top + y * side)).collect();
        self.path(&placed, true)
    }

    fn pause(&self) -> Option<Path> {
        let (left, top, side) = self.square();
        let bar = (side * 0.3).max(1.0);
        let mut builder = PathBuilder::new();
        for x in [left + side * 0.08, left + side * 0.92 - bar] {
            builder.push_rect(tiny_skia::Rect::from_xywh(x, top, bar, side)?);
        }
        builder.finish()
    }

    fn disc(&self) -> Option<Path> {
        let (left, top, side) = self.square();
        PathBuilder::from_circle(left + side / 2.0, top + side / 2.0, side * 0.48)
    }
}
