//! The tree of widgets that shows a scene.
//!
//! Where things lie is the scene's business, so the widgets here take the places its layout gives
//! them and measure nothing. They react to nothing either: code that handles the mouse asks the layout what
//! is under it.

use std::sync::Arc;

use iced_core::widget::Tree;
use iced_core::{Element, Length, Rectangle, Size, Vector, Widget, layout, mouse, renderer};
use rookery_view::scene::Scene;
use rookery_view::scene::layout::{Layout, Rect};

use crate::chrome;
use crate::grid::GridWidget;
use crate::shades::Shades;

/// The renderer the tree is drawn with.
pub type Renderer = iced_tiny_skia::Renderer;

/// The widgets that show a scene. They fill the window.
pub fn view<'a, Message: 'a, Theme: 'a>(
    scene: Arc<Scene>,
) -> Element<'a, Message, Theme, Renderer> {
    let layout = Arc::new(Layout::of(&scene));
    let shades = Shades::of(&scene.theme);
    let window = layout.panes.window;
    let mut parts: Vec<(Rect, Element<'a, Message, Theme, Renderer>)> = Vec::new();
    let chrome = |draw| Element::new(chrome::Part::new(&scene, &layout, shades, draw));
    parts.push((layout.panes.sidebar, chrome(chrome::sidebar)));
    parts.push((layout.panes.strip, chrome(chrome::strip)));
    match &scene.grid {
        Some(grid) => {
            let widget = GridWidget::new(Arc::clone(grid), layout.grid, &scene.font);
            parts.push((layout.panes.terminal, Element::new(widget)));
        }
        None => parts.push((layout.panes.terminal, chrome(chrome::empty))),
    }
    parts.push((window, chrome(chrome::overlays)));
    Element::new(Board { parts })
}

/// Widgets at fixed places, later ones above earlier ones.
struct Board<'a, Message, Theme> {
    parts: Vec<(Rect, Element<'a, Message, Theme, Renderer>)>,
}

impl<Message, Theme> Widget<Message, Theme, Renderer> for Board<'_, Message, Theme> {
    fn size(&self) -> Size<Length> {
        Size::new(Length::Fill, Length::Fill)
    }

    fn children(&self) -> Vec<Tree> {
        self.parts.iter().map(|(_, part)| Tree::new(part)).collect()
    }

    fn diff(&self, tree: &mut Tree) {
        let parts: Vec<_> = self.parts.iter().map(|(_, part)| part).collect();
        tree.diff_children(&parts);
    }

    fn layout(
        &mut self,
        tree: &mut Tree,
        renderer: &Renderer,
        limits: &layout::Limits,
    ) -> layout::Node {
        let place = |((rect, part), state): (&mut (Rect, Element<'_, _, _, _>), &mut Tree)| {
            let size = Size::new(rect.width, rect.height);
            let limits = layout::Limits::new(size, size);
            let node = part.as_widget_mut().layout(state, renderer, &limits);
            node.translate(Vector::new(rect.x, rect.y))
        };
        let nodes = self.parts.iter_mut().zip(&mut tree.children).map(place).collect();
        layout::Node::with_children(limits.max(), nodes)
    }

    fn draw(
        &self,
        tree: &Tree,
        renderer: &mut Renderer,
        theme: &Theme,
        style: &renderer::Style,
        layout: layout::Layout<'_>,
        cursor: mouse::Cursor,
        viewport: &Rectangle,
    ) {
        for (((_, part), state), layout) in
            self.parts.iter().zip(&tree.children).zip(layout.children())
        {
            part.as_widget().draw(state, renderer, theme, style, layout, cursor, viewport);
        }
    }
}
