//! Pages in place of the terminals. All take plain data, a place and a sheet to draw on.

mod card;
mod diff;
mod empty;
mod help;
mod inbox;
mod list;
mod new_thread;
mod parts;
mod prose;
mod review;
mod settings;
mod thread;

use rookery_view::scene::Stage;

use super::Look;
use crate::shades::color;
use crate::sheet::Sheet;

pub(crate) use parts::line;

/// Draws what stands below the strip, panes excepted.
pub(crate) fn stage(look: &Look<'_>, sheet: &mut Sheet) {
    let area = look.layout.panes.terminal;
    sheet.layer(area);
    sheet.fill(area, color(look.shades.terminal));
    if area.width < 40.0 || area.height < 40.0 {
        return;
    }
    match &look.scene.stage {
        Stage::Panes(_) => {}
        Stage::Empty(page) => empty::empty(look, sheet, page, area),
        Stage::Inbox(page) => inbox::inbox(look, sheet, page, area),
        Stage::Thread(page) => thread::thread(look, sheet, page, area),
        Stage::NewThread(page) => new_thread::new_thread(look, sheet, page, area),
        Stage::Review(page) => review::review(look, sheet, page, area),
        Stage::List(page) => list::list(look, sheet, page, area),
        Stage::Settings(page) => settings::settings(look, sheet, page, area),
        Stage::Help(page) => help::help(look, sheet, page, area),
    }
}
