//! Where the pills of the strip lie.

use rookery_model::TerminalId;
use unicode_segmentation::UnicodeSegmentation as _;

use super::{BAND_HEIGHT, Hit, MARGIN, PILL_BOUNDS, PILL_HEIGHT, Point, Rect};
use crate::scene::geometry::bounded;
use crate::scene::{Pill, TabStrip};

const PILL_GAP: f32 = 4.0;
/// Width of the signs for pills that are not visible.
const MORE_WIDTH: f32 = 34.0;

/// Where the pills lie.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StripLayout {
    /// Where pills are visible; pills beyond it are to be clipped.
    pub visible: Rect,
    /// Pills in the scene's order.
    pub pills: Vec<(TerminalId, Rect)>,
    /// The button for a new tab.
    pub new_tab: Rect,
    /// Room for the title at the right; none if the pills need it.
    pub title: Option<Rect>,
    /// Pills before and behind those that are visible.
    pub hidden: (usize, usize),
    /// How far it is scrolled, and how far it can be.
    pub scroll: (f32, f32),
}

impl StripLayout {
    /// The sign for pills that are not visible at the left, or at the right.
    pub fn more(&self, is_right: bool) -> Option<Rect> {
        let count = if is_right { self.hidden.1 } else { self.hidden.0 };
        let band = Rect { width: MORE_WIDTH, ..self.visible };
        let x = if is_right { self.visible.right() - MORE_WIDTH } else { band.x };
        (count > 0 && self.visible.width > 4.0 * MORE_WIDTH).then_some(Rect { x, ..band })
    }
}

impl StripLayout {
    pub(super) fn of(strip: &TabStrip, band: Rect) -> StripLayout {
        let room = band.width - 2.0 * MARGIN - PILL_HEIGHT - PILL_GAP;
        let visible = Rect::new(band.x + MARGIN, band.y, room, band.height);
        let y = band.y + (BAND_HEIGHT - PILL_HEIGHT) / 2.0;
        let widths = pill_widths(strip, room);
        let mut x = visible.x;
        let mut pills = Vec::with_capacity(widths.len());
        for (pill, width) in strip.pills.iter().zip(widths) {
            pills.push((pill.id, Rect::new(x, y, width, PILL_HEIGHT)));
            x += width + PILL_GAP;
        }
        let content = (x - PILL_GAP - visible.x).max(0.0);
        let most = (content - visible.width).max(0.0);
        let offset = match strip.scroll {
            Some(scroll) => bounded(scroll, (0.0, most)).round(),
            None => strip_offset(strip, &pills, visible, most),
        };
        pills.iter_mut().for_each(|(_, rect)| rect.x -= offset);
        let middle = |rect: &Rect| rect.x + rect.width / 2.0;
        let before = pills.iter().filter(|(_, rect)| middle(rect) < visible.x).count();
        let behind = pills.iter().filter(|(_, rect)| middle(rect) > visible.right()).count();
        let plus = if pills.is_empty() { visible.x } else { x.min(visible.right() + PILL_GAP) };
        let new_tab = Rect::new(plus, y, PILL_HEIGHT, PILL_HEIGHT);
        let title_x = new_tab.right() + 2.0 * MARGIN;
        let title = Rect::new(title_x, band.y, band.right() - 12.0 - title_x, band.height);
        StripLayout {
            visible,
            pills,
            new_tab,
            title: (title.width >= 120.0).then_some(title),
            hidden: (before, behind),
            scroll: (offset, most),
        }
    }

    pub(super) fn hit(&self, point: Point) -> Option<Hit> {
        if self.new_tab.contains(point) {
            return Some(Hit::NewTab);
        }
        if !self.visible.contains(point) {
            return None;
        }
        for is_right in [false, true] {
            if self.more(is_right).is_some_and(|rect| rect.contains(point)) {
                return Some(Hit::MorePills { is_right });
            }
        }
        let pill = self.pills.iter().find(|(_, rect)| rect.contains(point));
        pill.map(|(id, _)| Hit::Pill(*id))
    }
}

/// Widths by title; all shrink alike when the strip is full, until they are at their narrowest.
fn pill_widths(strip: &TabStrip, room: f32) -> Vec<f32> {
    let (narrow, wide) = PILL_BOUNDS;
    let wanted = |pill: &Pill| {
        let text = pill.rename.as_ref().map_or(&pill.title, |field| &field.text);
        let graphemes = text.graphemes(true).count().min(64) as f32;
        let more = if pill.more > 0 { 20.0 } else { 0.0 };
        (graphemes * 7.0 + 52.0 + more).clamp(narrow, wide)
    };
    let mut widths: Vec<f32> = strip.pills.iter().map(wanted).collect();
    let count = widths.len() as f32;
    let total: f32 = widths.iter().sum::<f32>() + PILL_GAP * (count - 1.0);
    if total > room {
        // Wide pills give way first: cap all at the width where they just fit.
        let fair = ((room - PILL_GAP * (count - 1.0)) / count).floor().max(narrow);
        let spare: f32 = widths.iter().map(|width| (fair - width).max(0.0)).sum();
        let greedy = widths.iter().filter(|width| **width > fair).count().max(1) as f32;
        let cap = fair + (spare / greedy).floor();
        widths.iter_mut().for_each(|width| *width = width.min(cap));
    }
    widths
}

fn strip_offset(strip: &TabStrip, pills: &[(TerminalId, Rect)], visible: Rect, most: f32) -> f32 {
    let active = strip.pills.iter().position(|pill| pill.is_active).unwrap_or(0);
    let Some((_, rect)) = pills.get(active) else { return 0.0 };
    // A glimpse of the next pill tells that there is one.
    let wanted = rect.right() + PILL_HEIGHT + MORE_WIDTH - visible.right();
    wanted.clamp(0.0, most).min((rect.x - visible.x).max(0.0))
}
