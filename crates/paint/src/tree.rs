//! The tree of widgets that shows a scene.
//!
//! Where things lie is the scene's business and the plan's, so the widgets here take the places that
//! those give them and measure nothing. They react to nothing either: code that handles the mouse asks
//! the plan what is under it.

use std::sync::Arc;

use iced_core::widget::Tree;
use iced_core::{
    Color, Element, Length, Pixels, Rectangle, Renderer as _, Size, Vector, Widget, layout, mouse,
    renderer,
};
use rookery_view::scene::Scene;
use rookery_view::scene::layout::Rect;

use crate::brush::{rectangle, replay};
use crate::fonts;
use crate::grid::GridWidget;
use crate::plan::Plan;
use crate::shades::color;
use crate::sheet::Sheet;

/// The renderer the tree is drawn with.
pub type Renderer = iced_tiny_skia::Renderer;

/// A renderer with the fonts that the tree needs.
pub fn renderer() -> Renderer {
    fonts::load();
    Renderer::new(fonts::SANS, Pixels(13.0))
}

/// The color behind everything.
pub fn background(scene: &Scene) -> Color {
    color(scene.theme.palette.background)
}

/// The widgets that show a scene. They fill the window.
pub fn view<'a, Message: 'a, Theme: 'a>(
    scene: &Arc<Scene>,
) -> Element<'a, Message, Theme, Renderer> {
    view_plan(&Plan::of(scene))
}

/// The widgets that show a scene that was planned. They fill the window.
pub fn view_plan<'a, Message: 'a, Theme: 'a>(
    plan: &Arc<Plan>,
) -> Element<'a, Message, Theme, Renderer> {
    let (scene, layout) = (plan.scene(), plan.layout());
    let window = layout.panes.window;
    let mut parts: Vec<(Rect, Element<'a, Message, Theme, Renderer>)> = Vec::new();
    parts.push((window, Element::new(Paper { plan: Arc::clone(plan), sheet: |plan| &plan.below })));
    for (pane, place) in scene.stage.panes().iter().zip(&layout.terminals) {
        let widget = GridWidget::new(pane, place, &scene.font, scene.scale);
        parts.push((widget.bounds(), Element::new(widget)));
    }
    parts.push((window, Element::new(Paper { plan: Arc::clone(plan), sheet: |plan| &plan.above })));
    Element::new(Board { parts })
}

/// Shows strokes that were kept.
struct Paper {
    plan: Arc<Plan>,
    sheet: fn(&Plan) -> &Sheet,
}

impl<Message, Theme> Widget<Message, Theme, Renderer> for Paper {
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
        for layer in (self.sheet)(&self.plan).layers.iter().filter(|layer| !layer.ops.is_empty()) {
            renderer.with_layer(rectangle(layer.clip), |renderer| replay(renderer, &layer.ops));
        }
    }
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
