//! What a scene comes to once its text was measured: strokes by layer, and what lies at which place.

use std::ops::Range;

use iced_core::Color;
use rookery_view::scene::layout::{Bar, FieldOf, Hit, Point, Rect};
use rookery_view::scene::pages::{Button, Field};
use rookery_view::scene::{Mood, Rgb, Scene};

use crate::brush::{Brush, Ink, Op, Side};
use crate::fonts;
use crate::shades::{Shades, color, faded};

/// How wide a scrollbar reacts, and how wide it is drawn.
const BAR: (f32, f32) = (12.0, 5.0);

/// Strokes that are drawn on one layer: above them is what comes later, text included.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layer {
    pub(crate) clip: Rect,
    pub(crate) ops: Vec<Op>,
}

/// How far something is scrolled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scroll {
    /// Points from its beginning.
    pub at: f32,
    /// The most it can be.
    pub most: f32,
    /// Points that are visible.
    pub view: f32,
}

/// How a card lies in the text that is scrolled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CardPlace {
    /// Where it begins there, in points.
    pub top: f32,
    /// How far its own text can be scrolled.
    pub most: f32,
    /// Whether its end is in view.
    pub end_is_seen: bool,
    /// The part of the window in which it is read.
    pub area: Rect,
}

/// One line of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldLine {
    pub(crate) of: FieldOf,
    pub(crate) rect: Rect,
    /// The byte of the field that it begins with.
    pub(crate) start: usize,
    pub(crate) text: String,
    pub(crate) ink: Ink,
}

/// What is drawn, and what lies where.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sheet {
    pub(crate) layers: Vec<Layer>,
    /// Later ones lie above earlier ones.
    pub(crate) hits: Vec<(Rect, Hit)>,
    pub(crate) links: Vec<String>,
    pub(crate) scrolls: Vec<(Bar, Scroll)>,
    /// Lines of fields.
    pub(crate) fields: Vec<FieldLine>,
    /// Where text is entered, for input methods.
    pub(crate) caret: Option<Rect>,
    /// The card that is drawn.
    pub(crate) card: Option<CardPlace>,
    scale: f32,
    hover: Option<Point>,
}

impl Sheet {
    pub(crate) fn of(scene: &Scene) -> Sheet {
        Sheet { scale: scene.scale, hover: scene.hover, ..Sheet::default() }
    }

    /// Goes on with a layer of its own.
    pub(crate) fn layer(&mut self, clip: Rect) {
        self.layers.push(Layer { clip, ops: Vec::new() });
    }

    fn clip(&self) -> Rect {
        self.layers.last().map_or(Rect::default(), |layer| layer.clip)
    }

    /// The brush for the present layer.
    pub(crate) fn brush(&mut self) -> Brush<'_> {
        if self.layers.is_empty() {
            self.layer(Rect::new(0.0, 0.0, f32::MAX, f32::MAX));
        }
        let last = self.layers.len() - 1;
        Brush::kept(&mut self.layers[last].ops, self.scale)
    }

    pub(crate) fn fill(&mut self, rect: Rect, fill: Color) {
        self.brush().fill(rect, fill);
    }

    pub(crate) fn round(&mut self, rect: Rect, radius: f32, fill: Color) {
        self.brush().round(rect, radius, fill);
    }

    pub(crate) fn edged(&mut self, rect: Rect, radius: f32, fill: Color, edge: Color) {
        self.brush().edged(rect, radius, fill, edge);
    }

    pub(crate) fn label(&mut self, text: &str, rect: Rect, side: Side, ink: Ink) -> f32 {
        self.brush().label(text, rect, side, ink)
    }

    pub(crate) fn dot(&mut self, x: f32, y: f32, diameter: f32, rgb: Rgb) {
        self.brush().dot(x, y, diameter, rgb);
    }

    pub(crate) fn sign(&mut self, x: f32, y: f32, size: f32, mood: Mood, rgb: Rgb) {
        self.brush().sign(x, y, size, mood, rgb);
    }

    /// Something reacts there.
    pub(crate) fn hit(&mut self, rect: Rect, hit: Hit) {
        let seen = rect.intersection(&self.clip());
        if seen.width > 0.0 && seen.height > 0.0 {
            self.hits.push((seen, hit));
        }
    }

    /// Whether the mouse is over a place.
    pub(crate) fn is_hovered(&self, rect: Rect) -> bool {
        self.hover.is_some_and(|point| rect.intersection(&self.clip()).contains(point))
    }

    /// Draws what `content` draws into a column of a width, and gives its height. Of that the part is
    /// shown that `at` says, once it is known how much there is.
    pub(crate) fn scrolled(
        &mut self,
        area: Rect,
        bar: Bar,
        shades: &Shades,
        at: impl FnOnce(f32, f32) -> f32,
        content: impl FnOnce(&mut Sheet, Rect) -> f32,
    ) -> Scroll {
        let room = Rect::new(area.x, 0.0, area.width, f32::MAX);
        let mut whole = Sheet { scale: self.scale, ..Sheet::default() };
        whole.layer(Rect::new(area.x, 0.0, area.width, f32::MAX));
        let height = content(&mut whole, room);
        let most = (height - area.height).max(0.0);
        let wanted = at(height, area.height);
        let at = if wanted.is_nan() { 0.0 } else { wanted.clamp(0.0, most).round() };
        let scroll = Scroll { at, most, view: area.height };
        self.paste(whole, area, area.y - at);
        self.scrolls.push((bar, scroll));
        self.bar(area, bar, scroll, shades);
        scroll
    }

    /// Takes over what was drawn elsewhere, moved down and clipped.
    fn paste(&mut self, other: Sheet, clip: Rect, y: f32) {
        let before = self.clip();
        let seen = clip.intersection(&before);
        let is_seen = |rect: Rect| {
            let shared = rect.intersection(&seen);
            shared.width > 0.0 && shared.height > 0.0
        };
        let links = self.links.len();
        let moved = |rect: Rect| Rect { y: rect.y + y, ..rect };
        for layer in other.layers {
            let clip = moved(layer.clip).intersection(&seen);
            let ops = layer.ops.into_iter().map(|op| op.moved(0.0, y));
            let ops = ops.filter(|op| is_seen(op.bounds())).collect();
            self.layers.push(Layer { clip, ops });
        }
        for (rect, hit) in other.hits {
            let hit = match hit {
                Hit::Link(index) => Hit::Link(index + links),
                hit => hit,
            };
            let rect = moved(rect).intersection(&seen);
            if rect.width > 0.0 && rect.height > 0.0 {
                self.hits.push((rect, hit));
            }
        }
        self.links.extend(other.links);
        let lines = other.fields.into_iter();
        self.fields.extend(lines.map(|line| FieldLine { rect: moved(line.rect), ..line }));
        self.caret = other.caret.map(moved).filter(|rect| is_seen(*rect)).or(self.caret);
        self.layer(before);
    }

    /// A scrollbar at the right of an area, while the mouse is over that.
    pub(crate) fn bar(&mut self, area: Rect, bar: Bar, scroll: Scroll, shades: &Shades) {
        if scroll.most <= 0.0 {
            return;
        }
        let track = Rect { x: area.right() - BAR.0, width: BAR.0, ..area };
        let whole = scroll.most + scroll.view;
        let height =
            (track.height * scroll.view / whole).clamp(24.0_f32.min(track.height), track.height);
        let y = track.y + (track.height - height) * scroll.at / scroll.most;
        let thumb = Rect::new(track.right() - BAR.1 - 3.0, y, BAR.1, height);
        let strength = match (self.is_hovered(track), self.is_hovered(area)) {
            (true, _) => 0.7,
            (false, true) => 0.45,
            (false, false) => 0.22,
        };
        self.round(thumb.inset(0.0, 2.0), BAR.1 / 2.0, faded(shades.soft, strength));
        self.hit(track, Hit::Bar(bar, 0.0));
    }

    /// A button with a label.
    pub(crate) fn button(
        &mut self,
        rect: Rect,
        label: &str,
        kind: Kind,
        button: Button,
        is_focused: bool,
        shades: &Shades,
    ) {
        let is_hovered = self.is_hovered(rect);
        let lift = |rgb: Rgb| if is_hovered { shades.lifted(rgb) } else { rgb };
        let (fill, edge, ink) = match kind {
            Kind::Primary => (lift(shades.accent), shades.accent, shades.on_accent),
            Kind::Danger => (lift(shades.bad_fill), shades.bad_fill, shades.on_accent),
            Kind::Plain => (lift(shades.raised), shades.panel_edge, shades.text),
        };
        if is_focused {
            let ring = rect.inset(-3.0, -3.0);
            self.edged(ring, 9.0, faded(shades.accent, 0.0), color(shades.matched));
        }
        self.edged(rect, 7.0, color(fill), color(edge));
        self.label(label, rect.inset(8.0, 0.0), Side::Center, Ink::new(ink, 13.0));
        self.hit(rect, Hit::Button(button));
    }

    /// A text that is being written, in one line.
    pub(crate) fn field_line(
        &mut self,
        of: FieldOf,
        rect: Rect,
        field: &Field,
        hint: &str,
        ink: Ink,
        shades: &Shades,
    ) {
        self.hit(rect, Hit::Field(of, 0));
        let before = &field.text[..floor(&field.text, field.cursor)];
        let at = fonts::width(before, ink.font, ink.size);
        // A long text shows its part with the cursor, which stands behind what an input method shows.
        let composed = fonts::width(&field.preedit, ink.font, ink.size);
        let shift = (at + composed + 12.0 - rect.width).max(0.0);
        let line = crate::brush::line_height(ink.size);
        let place =
            Rect::new(rect.x - shift, rect.y + (rect.height - line) / 2.0, rect.width, line);
        let text = field.text.clone();
        self.fields.push(FieldLine { of, rect: place, start: 0, text, ink });
        let clip = self.clip();
        self.layer(rect.intersection(&clip));
        if let Some(Range { start, end }) = field.selected.clone() {
            let left = fonts::width(&field.text[..floor(&field.text, start)], ink.font, ink.size);
            let right = fonts::width(&field.text[..floor(&field.text, end)], ink.font, ink.size);
            let chosen = Rect::new(place.x + left, place.y, right - left, line);
            self.fill(chosen, faded(shades.accent, 0.4));
        }
        if field.text.is_empty() && field.preedit.is_empty() {
            // Beside the cursor, not under it.
            let room = Rect { x: rect.x + 4.0, width: rect.width - 4.0, ..rect };
            self.label(hint, room, Side::Left, Ink { color: shades.faint, ..ink });
        } else {
            let after = &field.text[before.len()..];
            let shown = format!("{before}{}{after}", field.preedit);
            self.brush().text(&shown, place, ink);
            if composed > 0.0 {
                let under = Rect::new(place.x + at, place.bottom() - 1.0, composed, 1.0);
                self.fill(under, color(ink.color));
            }
        }
        if field.has_keyboard {
            let caret = Rect::new((place.x + at + composed).round(), place.y, 1.5, line);
            self.fill(caret, color(shades.matched));
            self.caret = Some(caret);
        }
        self.layer(clip);
    }
}

/// How loud a button is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What most people came for.
    Primary,
    /// It says no, or destroys something.
    Danger,
    /// Anything else.
    Plain,
}

/// The beginning of the character that a byte belongs to.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
