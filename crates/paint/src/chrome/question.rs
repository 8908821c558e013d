//! A question over everything else. What it is about is wrapped and scrolled, never cut: a user is about to
//! say yes to it.

use rookery_view::scene::layout::{Bar, FieldOf, Hit, Rect};
use rookery_view::scene::pages::Field;
use rookery_view::scene::{ACCENT, Dialog, Mood};

use super::Look;
use crate::brush::{Ink, Side};
use crate::flow::{self, Line, Run};
use crate::fonts;
use crate::shades::{Shades, color};
use crate::sheet::Sheet;

const WIDTH: f32 = 420.0;
/// The width for lines that are longer than this many characters.
const WIDE: (f32, usize) = (630.0, 48);
/// Around the text, and around the buttons.
const PADDING: (f32, f32) = (20.0, 18.0);
const FOOT: f32 = 16.0;
/// Height of a line of the title, of the body and of what it is about.
const STEPS: (f32, f32, f32) = (22.0, 20.0, 18.0);
/// Between the text and the buttons.
const GAP: f32 = 44.0;
const FIELD: (f32, f32) = (30.0, 40.0);
const BUTTON: (f32, f32) = (116.0, 30.0);
const BETWEEN: f32 = 8.0;
/// Between the box and the edge of the window.
const MARGIN: f32 = 8.0;
const WHITE: (u8, u8, u8) = (255, 255, 255);

/// Draws a question, and says where its answers are.
pub(super) fn question(look: &Look<'_>, sheet: &mut Sheet, open: &Dialog) {
    let (window, shades) = (look.layout.panes.window, &look.shades);
    let answers = answers(open);
    let frame_width = width(open, &answers, window);
    let text_width = frame_width - 2.0 * PADDING.0;
    let lines = |text: &str, ink| flow::lines(&[Run::new(text, ink)], text_width);
    let title = lines(&open.title, Ink::new(shades.text, 15.0));
    let body = match open.body.is_empty() {
        true => Vec::new(),
        false => lines(&open.body, Ink::new(shades.soft, 13.0)),
    };
    let about = Ink::new(shades.text, 13.0).code();
    let exact: Vec<String> =
        open.lines.iter().flat_map(|line| flow::exact(line, about, text_width)).collect();
    let head = title.len() as f32 * STEPS.0 + 6.0 + body.len().max(1) as f32 * STEPS.1;
    let field = if open.field.is_some() { FIELD.1 } else { 0.0 };
    let rest = PADDING.1 + head + field + GAP + BUTTON.1 + FOOT;
    let wanted = exact.len() as f32 * STEPS.2;
    let most = (window.height - 2.0 * MARGIN - rest).max(3.0 * STEPS.2);
    let frame = window.centered(frame_width, rest + wanted.min(most));

    sheet.layer(window);
    sheet.brush().veil(window);
    sheet.brush().panel(frame, 10.0, shades.panel, shades.panel_edge);
    sheet.hit(window, Hit::Backdrop);
    sheet.hit(frame, Hit::Nothing);
    let text = frame.inset(PADDING.0, PADDING.1);
    let mut y = stack(sheet, &title, text, STEPS.0, shades) + 6.0;
    y = stack(sheet, &body, Rect { y, ..text }, STEPS.1, shades);
    if body.is_empty() {
        y += STEPS.1;
    }
    let area = Rect { y: y + 4.0, height: wanted.min(most), ..text };
    if !exact.is_empty() {
        // Its scrollbar stands beside the text.
        let room = Rect { width: area.width + PADDING.0 - 4.0, ..area };
        sheet.scrolled(
            room,
            Bar::Question,
            shades,
            |_, _| open.scroll,
            |sheet, room| {
                for (index, part) in exact.iter().enumerate() {
                    let row = Rect { y: room.y + index as f32 * STEPS.2, height: STEPS.2, ..room };
                    sheet.brush().text(part, flow::middle(row, about.size), about);
                }
                wanted
            },
        );
    }
    let foot = Rect { y: frame.bottom() - FOOT - BUTTON.1, height: BUTTON.1, ..frame };
    buttons(sheet, open, &answers, foot, shades);
    if let Some(written) = &open.field {
        let rect = Rect { y: foot.y - 14.0 - FIELD.0, height: FIELD.0, ..text };
        sheet.edged(rect, 6.0, color(shades.field), color(shades.accent));
        let ink = Ink::new(shades.text, 13.0);
        let written = Field { has_keyboard: true, ..written.clone() };
        let inner = rect.inset(8.0, 0.0);
        sheet.field_line(FieldOf::Question, inner, &written, "", ink, shades);
    }
}

/// Lines below each other, each in a row of this height. Gives where they end.
fn stack(sheet: &mut Sheet, lines: &[Line], place: Rect, step: f32, shades: &Shades) -> f32 {
    let mut y = place.y;
    for line in lines {
        let top = y + ((step - line.height) / 2.0).round();
        super::pages::line(sheet, line, place.x, top, shades);
        y += step;
    }
    y
}

/// All answers from the left: no first, the one that most people came for last.
fn answers(open: &Dialog) -> Vec<(&str, Hit)> {
    let others = open.others.iter().enumerate().rev();
    let others = others.map(|(index, label)| (label.as_str(), Hit::Answer(index)));
    let no = (open.cancel.as_str(), Hit::Cancel);
    [no].into_iter().chain(others).chain([(open.confirm.as_str(), Hit::Confirm)]).collect()
}

fn button_width(label: &str) -> f32 {
    (fonts::width(label, fonts::SANS, 13.0) + 24.0).round().max(BUTTON.0)
}

/// Width of the box: room for its text and all of its buttons.
fn width(open: &Dialog, answers: &[(&str, Hit)], window: Rect) -> f32 {
    let is_wide = open.lines.iter().any(|line| line.chars().count() > WIDE.1);
    let usual = if is_wide { WIDE.0 } else { WIDTH };
    let wanted: f32 = answers.iter().map(|(label, _)| button_width(label) + BETWEEN).sum();
    usual.max(wanted - BETWEEN + 2.0 * FOOT).min(window.width - 2.0 * MARGIN)
}

fn buttons(sheet: &mut Sheet, open: &Dialog, answers: &[(&str, Hit)], foot: Rect, shades: &Shades) {
    let inner = foot.inset(FOOT, 0.0);
    let wanted: f32 = answers.iter().map(|(label, _)| button_width(label) + BETWEEN).sum();
    // Where they do not fit, all give way alike.
    let share = (inner.width / (wanted - BETWEEN)).min(1.0);
    let mut right = inner.right();
    for (label, hit) in answers.iter().rev() {
        let width = (button_width(label) * share).floor();
        let rect = Rect { x: right - width, width, ..inner };
        right -= width + BETWEEN * share;
        let is_yes = *hit == Hit::Confirm;
        let danger = Mood::Failed.color().filter(|_| open.is_destructive);
        let shade = match is_yes {
            true => {
                sheet.round(rect, 7.0, color(danger.unwrap_or(ACCENT)));
                WHITE
            }
            false => {
                sheet.edged(rect, 7.0, color(shades.panel), color(shades.panel_edge));
                shades.text
            }
        };
        sheet.label(label, rect.inset(6.0, 0.0), Side::Center, Ink::new(shade, 13.0));
        sheet.hit(rect, *hit);
    }
}
