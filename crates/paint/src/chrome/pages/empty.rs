//! Where nothing runs: four things that could be begun.

use rookery_view::scene::layout::{Hit, Rect};
use rookery_view::scene::pages::{Button, Empty};

use super::parts::{SMALL, key_cap};
use crate::brush::{Ink, Side};
use crate::chrome::Look;
use crate::fonts;
use crate::shades::color;
use crate::sheet::Sheet;

const ROW: f32 = 54.0;

pub(super) fn empty(look: &Look<'_>, sheet: &mut Sheet, page: &Empty, area: Rect) {
    let shades = &look.shades;
    let found = match page.agents.is_empty() {
        true => "none was found on this machine".to_owned(),
        false => page.agents.join(" · "),
    };
    let offers = [
        (Button::Shell, "Shell", page.root.clone()),
        (
            Button::Thread,
            "Thread with an agent",
            "asks, edits and runs with your approval".to_owned(),
        ),
        (Button::Agent, "Agent in a terminal", found),
        (Button::Help, "Keys", "everything there is, by key".to_owned()),
    ];
    let width = 440.0_f32.min(area.width - 40.0);
    let height = 56.0 + offers.len() as f32 * (ROW + 8.0);
    if width < 80.0 || area.height < 80.0 {
        return;
    }
    let frame = area.centered(width, height.min(area.height));
    let title = Rect { height: 40.0, ..frame };
    let ink = Ink::new(shades.text, 18.0).bold();
    sheet.label("Nothing runs here yet.", title, Side::Left, ink);
    for (index, (button, label, about)) in offers.iter().enumerate() {
        let y = frame.y + 52.0 + index as f32 * (ROW + 8.0);
        let rect = Rect { y, height: ROW, ..frame };
        if rect.bottom() > area.bottom() {
            break;
        }
        let is_here = page.focus == Some(*button);
        let fill = if sheet.is_hovered(rect) { shades.raised } else { shades.quiet };
        let edge = if is_here { shades.accent } else { shades.panel_edge };
        sheet.edged(rect, 9.0, color(fill), color(edge));
        sheet.hit(rect, Hit::Button(*button));
        let inner = rect.inset(16.0, 7.0);
        let mut room = inner;
        if let Some(key) = page.keys.get(index).filter(|key| !key.is_empty()) {
            let wide = (fonts::width(key, fonts::SANS, 11.5) + 14.0).max(24.0);
            key_cap(sheet, inner.right() - wide, rect, key, shades);
            room.width -= wide + 12.0;
        }
        let upper = Rect { height: 20.0, ..room };
        let lower = Rect { y: room.y + 20.0, height: 20.0, ..room };
        sheet.label(label, upper, Side::Left, Ink::new(shades.text, 14.0));
        sheet.label(about, lower, Side::Left, Ink::new(shades.soft, SMALL));
    }
}
