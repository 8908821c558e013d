//! Everything around the terminal, and above it.

mod overlays;
mod sidebar;
mod strip;

use std::sync::Arc;

use iced_core::widget::Tree;
use iced_core::{Length, Rectangle, Renderer as _, Size, Widget, layout, mouse, renderer};
use rookery_view::scene::Scene;
use rookery_view::scene::layout::{Layout, Rect};

use crate::brush::{Brush, Ink, Side, rectangle};
use crate::shades::{Shades, color};
use crate::tree::Renderer;

pub(crate) use overlays::overlays;
pub(crate) use sidebar::sidebar;
pub(crate) use strip::strip;

/// Diameter of the dots that tell how an agent fares.
const DOT: f32 = 7.0;

/// What a part is drawn from.
pub(crate) struct Look<'a> {
    scene: &'a Scene,
    layout: &'a Layout,
    shades: Shades,
}

type Draw = fn(&Look<'_>, &mut Renderer);

/// A part of the window that has no state.
pub(crate) struct Part {
    scene: Arc<Scene>,
    layout: Arc<Layout>,
    shades: Shades,
    draw: Draw,
}

impl Part {
    pub(crate) fn new(
        scene: &Arc<Scene>,
        layout: &Arc<Layout>,
        shades: Shades,
        draw: Draw,
    ) -> Part {
        Part { scene: Arc::clone(scene), layout: Arc::clone(layout), shades, draw }
    }
}

impl<Message, Theme> Widget<Message, Theme, Renderer> for Part {
    fn size(&self) -> Size<Length> {
        Size::new(Length::Fill, Length::Fill)
    }

    fn layout(
        &mut self,
        _tree: &mut Tree,
        _renderer: &Renderer,
        limits: &layout::Limits,
    ) -> layout::Node {
        layout::Node::new(limits.max())
    }

    fn draw(
        &self,
        _tree: &Tree,
        renderer: &mut Renderer,
        _theme: &Theme,
        _style: &renderer::Style,
        _layout: layout::Layout<'_>,
        _cursor: mouse::Cursor,
        _viewport: &Rectangle,
    ) {
        let look = Look { scene: &self.scene, layout: &self.layout, shades: self.shades };
        (self.draw)(&look, renderer);
    }
}

/// Draws on a layer of its own, clipped to a rectangle.
fn clipped(renderer: &mut Renderer, clip: Rect, draw: impl FnOnce(&mut Brush<'_>)) {
    renderer.with_layer(rectangle(clip), |renderer| draw(&mut Brush { renderer }));
}

/// What stands where a terminal would be.
pub(crate) fn empty(look: &Look<'_>, renderer: &mut Renderer) {
    let rect = look.layout.panes.terminal;
    clipped(renderer, rect, |brush| {
        brush.fill(rect, color(look.shades.terminal));
        let ink = Ink::new(look.shades.faint, 14.0);
        brush.label("No terminal is open", rect, Side::Center, ink);
    });
}
