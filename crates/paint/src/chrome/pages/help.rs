//! What every key does; typing filters.

use rookery_view::scene::layout::{Bar, Hit, Rect};
use rookery_view::scene::pages::Help;

use super::list::filter_field;
use super::parts::{MARGIN, SMALL, TEXT, head, key_cap, row};
use super::settings::{follow, tops};
use crate::brush::{Ink, Side};
use crate::chrome::Look;
use crate::sheet::Sheet;

const ROW: f32 = 36.0;

pub(super) fn help(look: &Look<'_>, sheet: &mut Sheet, page: &Help, area: Rect) {
    let shades = &look.shades;
    let body = head(sheet, area, "Keys", "Enter runs what is chosen", shades);
    let rect = Rect { y: body.y + 10.0, height: 32.0, ..body.inset(MARGIN, 0.0) };
    filter_field(sheet, &page.filter, Rect { width: rect.width.min(420.0), ..rect }, shades);
    let body = Rect { y: body.y + 50.0, height: body.height - 50.0, ..body };
    if page.rows.is_empty() {
        sheet.label("Nothing matches", body, Side::Center, Ink::new(shades.faint, TEXT));
        return;
    }
    let tops = tops(page.rows.iter().map(|row| !row.section.is_empty()));
    let selected = page.selected.min(page.rows.len() - 1);
    let at = |height: f32, view: f32| match page.first {
        Some(first) => tops.get(first).copied().unwrap_or(height),
        None => follow(&tops, selected, view),
    };
    sheet.scrolled(body, Bar::List, shades, at, |sheet, room| {
        let inner = room.inset(MARGIN, 0.0);
        let inner = Rect { width: inner.width.min(680.0), ..inner };
        for (index, action) in page.rows.iter().enumerate() {
            let y = room.y + tops[index];
            if !action.section.is_empty() {
                let band = Rect { y: y - 32.0, height: 32.0, ..inner };
                sheet.label(&action.section, band, Side::Left, Ink::new(shades.faint, SMALL));
            }
            let rect = Rect { y, height: ROW, ..inner };
            row(sheet, rect.inset(-10.0, 1.0), index == selected, shades);
            sheet.hit(rect.inset(-10.0, 0.0), Hit::Row(index));
            let mut right = rect.right();
            for key in action.keys.iter().rev() {
                let wide = crate::fonts::width(key, crate::fonts::SANS, 11.5) + 14.0;
                right -= wide.max(24.0);
                key_cap(sheet, right, rect, key, shades);
                right -= 6.0;
            }
            let room = Rect { width: right - rect.x - 12.0, ..rect };
            sheet.label(&action.title, room, Side::Left, Ink::new(shades.text, 13.0));
        }
        tops.last().map_or(0.0, |last| last + ROW) + 16.0
    });
}
