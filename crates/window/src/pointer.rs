//! What is under the mouse: its shape there, and where tests find it.

use rookery_view::scene::layout::{Hit, Rect};
use rookery_view::tile::Edge;
use serde_json::json;
use winit::window::CursorIcon;

use crate::picture::{Facts, Picture};

/// Where the middle of each button and field is, by what it is called.
pub(crate) fn places(picture: &Picture) -> serde_json::Value {
    let middle = |rect: Rect| json!([rect.x + rect.width / 2.0, rect.y + rect.height / 2.0]);
    let named = picture.plan.places().filter_map(|(rect, hit)| match hit {
        Hit::Button(_)
        | Hit::ItemButton(..)
        | Hit::Field(..)
        | Hit::Row(_)
        | Hit::Item(_)
        | Hit::Setting(..)
        | Hit::Toast(_)
        | Hit::Confirm
        | Hit::Answer(_)
        | Hit::Cancel
        | Hit::Line(_) => Some((format!("{hit:?}"), middle(rect))),
        _ => None,
    });
    serde_json::Value::Object(named.collect())
}

/// The shape of the mouse over something.
pub(crate) fn over(hit: Hit) -> CursorIcon {
    match hit {
        Hit::Cell { .. } | Hit::Field(..) => CursorIcon::Text,
        Hit::SidebarEdge | Hit::Gap { edge: Edge::Left | Edge::Right, .. } => CursorIcon::ColResize,
        Hit::Gap { .. } => CursorIcon::RowResize,
        Hit::Nothing | Hit::Pane(_) | Hit::Backdrop | Hit::Line(_) => CursorIcon::Default,
        _ => CursorIcon::Pointer,
    }
}

/// The shape of the mouse over a terminal: what its program wants, if it wants one.
pub(crate) fn wanted(facts: &Facts, terminal: u64) -> CursorIcon {
    let wanted = facts.pointers.iter().find(|(of, _)| *of == terminal);
    let wanted = wanted.map(|(_, name)| name.as_str()).filter(|name| *name != "default");
    wanted.and_then(|name| name.parse().ok()).unwrap_or(CursorIcon::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_the_shape_that_it_asked_for_over_its_terminal() {
        let pointers = vec![(3, "crosshair".to_owned()), (4, "default".to_owned())];
        let facts = Facts { pointers, ..Facts::default() };
        assert_eq!(wanted(&facts, 3), CursorIcon::Crosshair);
        assert_eq!(wanted(&facts, 4), CursorIcon::Text);
        assert_eq!(wanted(&facts, 5), CursorIcon::Text);
        let odd = Facts { pointers: vec![(3, "none".to_owned())], ..Facts::default() };
        assert_eq!(wanted(&odd, 3), CursorIcon::Text, "it is never hidden");
    }
}
