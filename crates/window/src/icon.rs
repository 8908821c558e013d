//! The icon: a tower on a dark ground, from one list of shapes, as pixels and as SVG.

use std::fmt::Write as _;

use rookery_view::scene::Rgb;
use tiny_skia::{Color, FillRule, Paint, PathBuilder, Pixmap, Transform};
use winit::window::Icon;

/// Sides of the square that the shapes are drawn in.
const SIDE: f32 = 64.0;

/// A shape: its color and its corners.
type Shape = (Rgb, &'static [(f32, f32)]);

const GROUND: Rgb = (0x23, 0x26, 0x2e);
const STONE: Rgb = (0xe8, 0xea, 0xee);
const LIGHT: Rgb = (0x00, 0x7a, 0xff);
const WAITING: Rgb = (0xf0, 0xa0, 0x40);

const SHAPES: &[Shape] = &[
    (
        GROUND,
        &[
            (12.0, 2.0),
            (52.0, 2.0),
            (62.0, 12.0),
            (62.0, 52.0),
            (52.0, 62.0),
            (12.0, 62.0),
            (2.0, 52.0),
            (2.0, 12.0),
        ],
    ),
    (
        STONE,
        &[
            (17.0, 13.0),
            (23.0, 13.0),
            (23.0, 18.0),
            (29.0, 18.0),
            (29.0, 13.0),
            (35.0, 13.0),
            (35.0, 18.0),
            (41.0, 18.0),
            (41.0, 13.0),
            (47.0, 13.0),
            (47.0, 25.0),
            (42.0, 29.0),
            (43.0, 44.0),
            (48.0, 47.0),
            (48.0, 52.0),
            (16.0, 52.0),
            (16.0, 47.0),
            (21.0, 44.0),
            (22.0, 29.0),
            (17.0, 25.0),
        ],
    ),
    (LIGHT, &[(27.0, 31.0), (31.0, 35.0), (27.0, 39.0), (27.0, 36.5), (28.6, 35.0), (27.0, 33.5)]),
    (WAITING, &[(32.0, 37.5), (38.0, 37.5), (38.0, 39.5), (32.0, 39.5)]),
];

/// The icon as red, green, blue and alpha, a byte each.
pub fn pixels(side: u32) -> Option<Vec<u8>> {
    let mut pixmap = Pixmap::new(side, side)?;
    let scale = side as f32 / SIDE;
    for ((red, green, blue), corners) in SHAPES {
        let mut path = PathBuilder::new();
        for (index, (x, y)) in corners.iter().enumerate() {
            match index {
                0 => path.move_to(*x, *y),
                _ => path.line_to(*x, *y),
            }
        }
        path.close();
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        paint.set_color(Color::from_rgba8(*red, *green, *blue, 0xff));
        let transform = Transform::from_scale(scale, scale);
        pixmap.fill_path(&path.finish()?, &paint, FillRule::Winding, transform, None);
    }
    let straight = pixmap.pixels().iter().map(|pixel| pixel.demultiply());
    Some(straight.flat_map(|it| [it.red(), it.green(), it.blue(), it.alpha()]).collect())
}

/// The icon as an SVG file.
pub fn svg() -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{SIDE}\" height=\"{SIDE}\" viewBox=\"0 0 {SIDE} {SIDE}\">\n"
    );
    for ((red, green, blue), corners) in SHAPES {
        let points: Vec<String> = corners.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let points = points.join(" ");
        let _ = writeln!(
            out,
            "  <polygon fill=\"#{red:02x}{green:02x}{blue:02x}\" points=\"{points}\"/>"
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The icon, for window systems that take it from the window.
pub(crate) fn of_window() -> Option<Icon> {
    const SIDE: u32 = 64;
    Icon::from_rgba(pixels(SIDE)?, SIDE, SIDE).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_and_drawing_show_the_same_tower() {
        let side = 64;
        let pixels = pixels(side).unwrap();
        let at = |x: usize, y: usize| {
            let start = (y * side as usize + x) * 4;
            (pixels[start], pixels[start + 1], pixels[start + 2], pixels[start + 3])
        };
        assert_eq!(at(0, 0).3, 0);
        assert_eq!(at(32, 48), (STONE.0, STONE.1, STONE.2, 0xff));
        assert_eq!(at(32, 8), (GROUND.0, GROUND.1, GROUND.2, 0xff));
        assert_eq!(svg().matches("<polygon").count(), SHAPES.len());
    }
}
