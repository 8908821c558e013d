//! The few strokes everything is drawn with.

use iced_core::text::{Alignment, LineHeight, Renderer as _, Shaping, Text, Wrapping};
use iced_core::{
    Border, Color, Font, Pixels, Point, Rectangle, Renderer as _, Shadow, Size, alignment, renderer,
};
use rookery_view::scene::layout::{Rect, on_pixel};
use rookery_view::scene::{Mood, Rgb};

use crate::cost;
use crate::fonts;
use crate::renderer::Renderer;
use crate::shades::{color, faded};

/// A rectangle as the renderer wants it.
pub(crate) fn rectangle(rect: Rect) -> Rectangle {
    Rectangle { x: rect.x, y: rect.y, width: rect.width, height: rect.height }
}

/// Where a text begins, ends, or is centered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
    Center,
}

/// How a text of the chrome looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ink {
    pub(crate) color: Rgb,
    pub(crate) size: f32,
    pub(crate) font: Font,
}

impl Ink {
    pub(crate) fn new(color: Rgb, size: f32) -> Ink {
        Ink { color, size, font: fonts::SANS }
    }

    /// The same in bold.
    pub(crate) fn bold(self) -> Ink {
        Ink { font: fonts::BOLD, ..self }
    }

    /// The same in the face for code, which looks larger than the other at the same size.
    pub(crate) fn code(self) -> Ink {
        Ink { font: fonts::CODE, size: self.size * 0.92, ..self }
    }
}

/// One stroke that is kept, to be drawn later or again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// A rectangle.
    Quad(renderer::Quad, Color),
    Words(String, Rect, Ink),
}

impl Op {
    /// Where it is drawn.
    pub(crate) fn bounds(&self) -> Rect {
        match self {
            Op::Quad(quad, _) => {
                let Rectangle { x, y, width, height } = quad.bounds;
                Rect { x, y, width, height }
            }
            Op::Words(_, rect, _) => *rect,
        }
    }

    /// The word, if it is one.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Op::Words(content, ..) => Some(content),
            Op::Quad(..) => None,
        }
    }

    /// The same, moved.
    pub(crate) fn moved(mut self, x: f32, y: f32) -> Op {
        match &mut self {
            Op::Quad(quad, _) => {
                quad.bounds.x += x;
                quad.bounds.y += y;
            }
            Op::Words(_, rect, _) => {
                rect.x += x;
                rect.y += y;
            }
        }
        self
    }
}

/// Draws what was kept.
pub(crate) fn replay(renderer: &mut Renderer, ops: &[Op]) {
    for op in ops {
        match op {
            Op::Quad(quad, fill) => renderer.fill_quad(*quad, *fill),
            Op::Words(content, rect, ink) => words(renderer, content.clone(), *rect, *ink),
        }
    }
}

/// Where strokes go.
enum DrawTarget<'a> {
    /// On the current layer of a renderer.
    Layer(&'a mut Renderer),
    /// Into a list.
    Kept(&'a mut Vec<Op>),
}

/// Draws.
pub(crate) struct Brush<'a> {
    paper: DrawTarget<'a>,
    /// Pixels of a point: edges of rectangles are whole pixels.
    scale: f32,
}

impl<'a> Brush<'a> {
    /// On the current layer of a renderer.
    pub(crate) fn on(renderer: &'a mut Renderer, scale: f32) -> Brush<'a> {
        Brush { paper: DrawTarget::Layer(renderer), scale }
    }

    /// Into a list.
    pub(crate) fn kept(ops: &'a mut Vec<Op>, scale: f32) -> Brush<'a> {
        Brush { paper: DrawTarget::Kept(ops), scale }
    }
}

impl Brush<'_> {
    /// A filled rectangle.
    pub(crate) fn fill(&mut self, rect: Rect, color: Color) {
        self.round(rect, 0.0, color);
    }

    /// A filled rectangle with round corners.
    pub(crate) fn round(&mut self, rect: Rect, radius: f32, color: Color) {
        self.quad(rect, Border { radius: radius.into(), ..Border::default() }, color);
    }

    /// A filled rectangle with round corners and an edge.
    pub(crate) fn edged(&mut self, rect: Rect, radius: f32, fill: Color, edge: Color) {
        self.quad(rect, Border { color: edge, width: 1.0, radius: radius.into() }, fill);
    }

    /// A box that floats above everything before it.
    pub(crate) fn panel(&mut self, rect: Rect, radius: f32, fill: Rgb, edge: Rgb) {
        // Steps of a shadow: how far it reaches and how much darker it makes. The renderer's own
        // shadows are smoother, but cost more than all the rest of a picture.
        const SHADOW: [(f32, f32); 4] = [(22.0, 0.05), (14.0, 0.07), (7.0, 0.1), (2.0, 0.14)];
        // On a light ground the same steps would be seen one by one.
        let (r, g, b) = fill;
        let is_light = u16::from(r) + u16::from(g) + u16::from(b) > 384;
        let share = if is_light { 0.3 } else { 1.0 };
        for (reach, darkness) in SHADOW {
            let grown = rect.inset(-reach, -reach);
            let lowered = Rect { y: grown.y + 6.0, ..grown };
            self.round(lowered, radius + reach, faded((0, 0, 0), darkness * share));
        }
        self.edged(rect, radius, color(fill), color(edge));
    }

    fn quad(&mut self, rect: Rect, border: Border, fill: Color) {
        let (x, y) = (on_pixel(rect.x, self.scale), on_pixel(rect.y, self.scale));
        let right = on_pixel(rect.right(), self.scale);
        let bottom = on_pixel(rect.bottom(), self.scale);
        if rect.width <= 0.0 || rect.height <= 0.0 {
            return;
        }
        // Something thinner than a pixel is one.
        let thin = 1.0 / self.scale;
        let (width, height) = ((right - x).max(thin), (bottom - y).max(thin));
        let bounds = Rectangle { x, y, width, height };
        let quad = renderer::Quad { bounds, border, shadow: Shadow::default(), snap: true };
        match &mut self.paper {
            DrawTarget::Layer(renderer) => renderer.fill_quad(quad, fill),
            DrawTarget::Kept(ops) => ops.push(Op::Quad(quad, fill)),
        }
    }

    /// A dot around a point.
    pub(crate) fn dot(&mut self, x: f32, y: f32, diameter: f32, rgb: Rgb) {
        let radius = diameter / 2.0;
        self.round(Rect::new(x - radius, y - radius, diameter, diameter), radius, color(rgb));
    }

    /// A sign for how something fares, around a point: no two moods have the same shape.
    pub(crate) fn sign(&mut self, x: f32, y: f32, size: f32, mood: Mood, rgb: Rgb) {
        let (step, half) = (1.0 / self.scale.max(1.0), size / 2.0);
        let fill = color(rgb);
        match mood {
            Mood::Working | Mood::Inactive => self.dot(x, y, size, rgb),
            Mood::Finished => {
                let ring = Rect::new(x - half, y - half, size, size);
                let border = Border { color: fill, width: 2.0, radius: half.into() };
                self.quad(ring, border, Color::TRANSPARENT);
            }
            Mood::Waiting => {
                // A point higher than a dot, which would look larger at the same size.
                let half = half + 1.0;
                for (down, wide) in rows(half, step, |down| half - down.abs()) {
                    self.fill(Rect::new(x - wide, y + down, 2.0 * wide, step), fill);
                }
            }
            Mood::Failed => {
                let arm = 2.0;
                for (down, side) in rows(half, step, f32::abs) {
                    for x in [x - side, x + side] {
                        self.fill(Rect::new(x - arm / 2.0, y + down, arm, step), fill);
                    }
                }
            }
        }
    }

    /// A plus in the middle of a rectangle.
    pub(crate) fn plus(&mut self, rect: Rect, rgb: Rgb) {
        const ARM: f32 = 9.0;
        let middle = rect.centered(ARM, ARM);
        let half = (ARM - 1.0) / 2.0;
        self.fill(Rect { y: middle.y + half, height: 1.0, ..middle }, color(rgb));
        self.fill(Rect { x: middle.x + half, width: 1.0, ..middle }, color(rgb));
    }

    /// One line of text in the middle of a rectangle's height, cut to its width. Gives its width.
    pub(crate) fn label(&mut self, content: &str, rect: Rect, side: Side, ink: Ink) -> f32 {
        let shown = fonts::elided(content, ink.font, ink.size, rect.width);
        if shown.trim().is_empty() {
            return 0.0;
        }
        let width = fonts::width(&shown, ink.font, ink.size);
        let x = match side {
            Side::Left => rect.x,
            Side::Right => rect.right() - width,
            Side::Center => rect.x + (rect.width - width) / 2.0,
        };
        let line = line_height(ink.size);
        let y = on_pixel(rect.y + (rect.height - line) / 2.0, self.scale);
        self.text(&shown, Rect::new(x, y, width, line), ink);
        width
    }

    /// A word as it is; the caller has measured it.
    pub(crate) fn word(&mut self, content: &str, rect: Rect, ink: Ink) {
        if content.is_empty() {
            return;
        }
        match &mut self.paper {
            DrawTarget::Layer(renderer) => words(renderer, content.to_owned(), rect, ink),
            DrawTarget::Kept(ops) => ops.push(Op::Words(content.to_owned(), rect, ink)),
        }
    }

    /// Words with spaces between them, from a point on, uncut. Gives the width.
    pub(crate) fn text(&mut self, shown: &str, at: Rect, ink: Ink) -> f32 {
        // Word by word: the renderer does not remember how a space looks and finds out each time, and
        // words come again more often than lines do.
        let space = fonts::space(ink.font, ink.size);
        let left = on_pixel(at.x, self.scale);
        let mut x = left;
        for (index, word) in shown.split(' ').enumerate() {
            x += if index > 0 { space } else { 0.0 };
            if word.is_empty() {
                continue;
            }
            let width = fonts::width(word, ink.font, ink.size);
            self.word(word, Rect::new(x, at.y, width + ink.size, at.height), ink);
            x += width;
        }
        x - left
    }

    /// A veil over a rectangle, so that what is above it stands out.
    pub(crate) fn veil(&mut self, rect: Rect) {
        self.fill(rect, faded((0, 0, 0), 0.38));
    }
}

/// Rows of a figure: how far each is below its middle, and what it measures there.
fn rows(half: f32, step: f32, of: impl Fn(f32) -> f32) -> impl Iterator<Item = (f32, f32)> {
    let count = (2.0 * half / step).round() as usize;
    (0..count).map(move |row| {
        let down = row as f32 * step - half;
        (down, of(down + step / 2.0))
    })
}

/// Height of a line of text at a size.
pub(crate) fn line_height(size: f32) -> f32 {
    (size * 1.3).round()
}

fn words(renderer: &mut Renderer, content: String, rect: Rect, ink: Ink) {
    let text = Text {
        content,
        bounds: Size::new(rect.width, rect.height),
        size: Pixels(ink.size),
        line_height: LineHeight::Absolute(Pixels(rect.height)),
        font: ink.font,
        align_x: Alignment::Left,
        align_y: alignment::Vertical::Top,
        shaping: Shaping::Auto,
        wrapping: Wrapping::None,
    };
    let at = Point::new(rect.x, rect.y);
    cost::text();
    renderer.fill_text(text, at, color(ink.color), rectangle(rect));
}
