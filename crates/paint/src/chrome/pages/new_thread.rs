//! A conversation that is being begun.

use rookery_view::scene::layout::{FieldOf, Rect};
use rookery_view::scene::pages::{Button, NewThread};

use super::parts::{MARGIN, SMALL, button_width, field, field_height, head, wrapped};
use crate::brush::{Ink, Side};
use crate::chrome::Look;
use crate::sheet::{Kind, Sheet};

pub(super) fn new_thread(look: &Look<'_>, sheet: &mut Sheet, page: &NewThread, area: Rect) {
    let shades = &look.shades;
    let body = head(sheet, area, "New Thread", &page.root, shades);
    let width = (body.width - 2.0 * MARGIN).min(620.0);
    let x = body.x + ((body.width - width) / 2.0).floor();
    let mut y = body.y + (body.height * 0.16).round();
    let place = Rect::new(x, y, width, 0.0);
    let ink = Ink::new(shades.text, 17.0).bold();
    y += wrapped(sheet, "What should the agent do?", place, ink, shades) + 12.0;
    let height = field_height(&page.prompt, width, 10).max(92.0);
    let rect = Rect { y, height, ..place };
    let hint = "Describe the task. Enter starts, shift+enter begins a new line.";
    field(sheet, FieldOf::Composer, rect, &page.prompt, hint, shades);
    y += height + 12.0;
    let row = Rect { y, height: 34.0, ..place };
    let mut left = row.x;
    let choices = [
        (Button::Project, page.project.as_str()),
        (Button::Model, if page.model.is_empty() { "Default model" } else { &page.model }),
        (Button::Mode, if page.mode.is_empty() { "Default mode" } else { &page.mode }),
    ];
    let most = row.width - button_width("Start") - 8.0;
    let wanted: f32 = choices.iter().map(|(_, label)| button_width(label) + 8.0).sum();
    for (button, label) in choices {
        if label.is_empty() {
            continue;
        }
        let wide = (button_width(label) * (most / wanted).min(1.0)).floor();
        let rect = Rect { x: left, width: wide, ..row };
        sheet.button(rect, label, Kind::Plain, button, page.focus == Some(button), shades);
        left += wide + 8.0;
    }
    let wide = button_width("Start");
    let start = Rect { x: row.right() - wide, width: wide, ..row };
    let is_focused = page.focus == Some(Button::Send);
    sheet.button(start, "Start", Kind::Primary, Button::Send, is_focused, shades);
    let under = Rect { y: row.bottom() + 10.0, height: 20.0, ..place };
    let text = format!("in {}", page.root);
    sheet.label(&text, under, Side::Left, Ink::new(shades.faint, SMALL));
}
