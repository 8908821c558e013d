//! The few strokes everything is drawn with.

use iced_core::text::{Alignment, LineHeight, Renderer as _, Shaping, Text, Wrapping};
use iced_core::{
    Background, Border, Color, Font, Pixels, Point, Rectangle, Renderer as _, Shadow, Size,
    alignment, renderer,
};
use rookery_view::scene::Rgb;
use rookery_view::scene::layout::Rect;

use crate::cost;
use crate::fonts;
use crate::shades::{color, faded};
use crate::tree::Renderer;

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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ink {
    pub(crate) color: Rgb,
    pub(crate) size: f32,
    pub(crate) font: Font,
}

impl Ink {
    pub(crate) fn new(color: Rgb, size: f32) -> Ink {
        Ink { color, size, font: fonts::SANS }
    }
}

/// Draws on the current layer of a renderer.
pub(crate) struct Brush<'a> {
    pub(crate) renderer: &'a mut Renderer,
}

impl Brush<'_> {
    /// A filled rectangle.
    pub(crate) fn fill(&mut self, rect: Rect, color: impl Into<Background>) {
        self.round(rect, 0.0, color);
    }

    /// A filled rectangle with round corners.
    pub(crate) fn round(&mut self, rect: Rect, radius: f32, color: impl Into<Background>) {
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

    fn quad(&mut self, rect: Rect, border: Border, fill: impl Into<Background>) {
        if rect.width <= 0.0 || rect.height <= 0.0 {
            return;
        }
        let bounds = rectangle(rect);
        let quad = renderer::Quad { bounds, border, shadow: Shadow::default(), snap: true };
        self.renderer.fill_quad(quad, fill);
    }

    /// A dot around a point.
    pub(crate) fn dot(&mut self, x: f32, y: f32, diameter: f32, rgb: Rgb) {
        let radius = diameter / 2.0;
        self.round(Rect::new(x - radius, y - radius, diameter, diameter), radius, color(rgb));
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
        let line = (ink.size * 1.3).round();
        let y = (rect.y + (rect.height - line) / 2.0).round();
        // Word by word: the renderer does not remember how a space looks and finds out each time.
        let mut start = 0;
        for word in shown.split(' ') {
            if !word.is_empty() {
                let left = x.round() + fonts::width(&shown[..start], ink.font, ink.size);
                let room = Rect::new(left, y, width + ink.size, line);
                self.words(word.to_owned(), room, ink);
            }
            start += word.len() + 1;
        }
        width
    }

    /// Text as it is; the caller has measured it.
    fn words(&mut self, content: String, rect: Rect, ink: Ink) {
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
        self.renderer.fill_text(text, at, color(ink.color), rectangle(rect));
    }

    /// A veil over a rectangle, so that what is above it stands out.
    pub(crate) fn veil(&mut self, rect: Rect) {
        self.fill(rect, faded((0, 0, 0), 0.38));
    }
}
