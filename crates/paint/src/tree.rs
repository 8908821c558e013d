//! The widget that shows a scene.
//!
//! Where things lie is the scene's business and the plan's, so it takes the places that those give and
//! measures nothing. It reacts to nothing either: code that handles the mouse asks the plan what is
//! under it.

use std::cell::RefCell;
use std::sync::Arc;

use iced_core::widget::{Tree, tree};
use iced_core::{
    Color, Element, Length, Rectangle, Renderer as _, Size, Widget, layout, mouse, renderer,
};
use rookery_view::scene::Scene;

use crate::brush::{rectangle, replay};
use crate::grid::{GridView, Memory};
use crate::plan::Plan;
use crate::renderer::Renderer;
use crate::shades::color;
use crate::sheet::Sheet;

/// The color behind everything.
pub fn background(scene: &Scene) -> Color {
    color(scene.theme.palette.background)
}

/// What shows a scene. It fills the window.
pub fn view<'a, Message: 'a, Theme: 'a>(
    scene: &Arc<Scene>,
) -> Element<'a, Message, Theme, Renderer> {
    view_plan(&Plan::of(scene))
}

/// What shows a scene that was planned. It fills the window.
pub fn view_plan<'a, Message: 'a, Theme: 'a>(
    plan: &Arc<Plan>,
) -> Element<'a, Message, Theme, Renderer> {
    let scene = plan.scene();
    let panes = scene.stage.panes().iter().zip(&plan.layout().terminals);
    let grids = panes.map(|(pane, place)| GridView::new(pane, place, &scene.font, scene.scale));
    Element::new(Board { plan: Arc::clone(plan), grids: grids.collect() })
}

/// All of a plan in one widget: what lies below terminals, these, and what lies above them. What it
/// remembers of terminals from one picture to the next is its state.
struct Board {
    plan: Arc<Plan>,
    grids: Vec<GridView>,
}

/// Of each terminal, in their order.
type Memories = RefCell<Vec<Memory>>;

impl<Message, Theme> Widget<Message, Theme, Renderer> for Board {
    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<Memories>()
    }

    fn state(&self) -> tree::State {
        tree::State::new(Memories::default())
    }

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
        tree: &Tree,
        renderer: &mut Renderer,
        _theme: &Theme,
        _style: &renderer::Style,
        _layout: layout::Layout<'_>,
        _cursor: mouse::Cursor,
        _viewport: &Rectangle,
    ) {
        let memories: &Memories = tree.state.downcast_ref();
        let mut memories = memories.borrow_mut();
        memories.resize_with(self.grids.len(), Memory::default);
        show(renderer, &self.plan.below);
        for (grid, memory) in self.grids.iter().zip(memories.iter_mut()) {
            grid.draw(memory, renderer);
        }
        show(renderer, &self.plan.above);
    }
}

/// Shows strokes that were kept.
fn show(renderer: &mut Renderer, sheet: &Sheet) {
    for layer in sheet.layers.iter().filter(|layer| !layer.ops.is_empty()) {
        renderer.with_layer(rectangle(layer.clip), |renderer| replay(renderer, &layer.ops));
    }
}
