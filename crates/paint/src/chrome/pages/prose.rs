//! Blocks of prose: paragraphs, headings, code, lists, quotes, tables.

use rookery_view::link::{Align, Block, ListItem, Span};
use rookery_view::scene::layout::Rect;

use super::parts::{GAP, TEXT, exact, lines};
use crate::brush::{Ink, Side};
use crate::flow::{self, Run};
use crate::fonts;
use crate::shades::{Shades, color};
use crate::sheet::Sheet;

/// How far lists and quotes are set in.
const INDENT: f32 = 22.0;

/// Draws blocks from a place down; gives their height.
pub(super) fn blocks(sheet: &mut Sheet, all: &[Block], place: Rect, shades: &Shades) -> f32 {
    prose(sheet, all, place, Ink::new(shades.text, TEXT), shades)
}

/// The same in another look.
pub(super) fn prose(
    sheet: &mut Sheet,
    all: &[Block],
    place: Rect,
    ink: Ink,
    shades: &Shades,
) -> f32 {
    let mut y = place.y;
    for (index, block) in all.iter().enumerate() {
        if index > 0 {
            y += GAP;
        }
        y += one(sheet, block, Rect { y, ..place }, ink, shades);
    }
    y - place.y
}

fn one(sheet: &mut Sheet, block: &Block, place: Rect, ink: Ink, shades: &Shades) -> f32 {
    match block {
        Block::Paragraph { spans } => spans_in(sheet, spans, place, ink, shades),
        Block::Heading { level, spans } => {
            let size = [20.0, 17.0, 15.0].get(usize::from(*level).saturating_sub(1));
            let ink = Ink { size: size.copied().unwrap_or(TEXT), ..ink }.bold();
            spans_in(sheet, spans, place, ink, shades)
        }
        Block::Code { language, lines } => code(sheet, language, lines, place, shades),
        Block::List { start, items } => {
            let mut y = place.y;
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    y += 4.0;
                }
                let number = start.map(|first| first + index as u64);
                y += list_item(sheet, item, number, Rect { y, ..place }, ink, shades);
            }
            y - place.y
        }
        Block::Quote { blocks } => {
            let inner = Rect { x: place.x + 14.0, width: place.width - 14.0, ..place };
            let ink = Ink { color: shades.soft, ..ink };
            let height = prose(sheet, blocks, inner, ink, shades);
            sheet.round(Rect { width: 3.0, height, ..place }, 1.5, color(shades.panel_edge));
            height
        }
        Block::Table { align, head, rows } => table(sheet, (align, head, rows), place, ink, shades),
        Block::Rule => {
            sheet.fill(Rect { y: place.y + 4.0, height: 1.0, ..place }, color(shades.panel_edge));
            9.0
        }
    }
}

/// Runs of spans; links are kept by the sheet.
fn runs(sheet: &mut Sheet, spans: &[Span], ink: Ink, shades: &Shades) -> Vec<Run> {
    let mut runs = Vec::new();
    for span in spans {
        let base = match (span.code, span.bold, span.italic) {
            (true, ..) => ink.code(),
            (false, true, _) => ink.bold(),
            (false, false, true) => Ink { font: fonts::ITALIC, ..ink },
            (false, false, false) => ink,
        };
        let link = span.link.as_ref().map(|target| {
            sheet.links.push(target.clone());
            sheet.links.len() - 1
        });
        let shade = if link.is_some() { shades.matched } else { base.color };
        let ink = Ink { color: shade, ..base };
        let run = Run::new(span.text.clone(), ink);
        runs.push(Run { is_boxed: span.code, is_struck: span.strike, link, ..run });
        // The address is shown: a text may say another one.
        if let Some(target) = span.link.as_ref().filter(|target| **target != span.text) {
            let ink = Ink { color: shades.faint, size: base.size * 0.9, ..base };
            runs.push(Run::new(format!(" <{target}>"), ink));
        }
    }
    runs
}

fn spans_in(sheet: &mut Sheet, spans: &[Span], place: Rect, ink: Ink, shades: &Shades) -> f32 {
    let runs = runs(sheet, spans, ink, shades);
    let broken = flow::lines(&runs, place.width);
    lines(sheet, &broken, place.x, place.y, shades)
}

/// Code on a ground of its own; long lines are broken, never cut.
fn code(sheet: &mut Sheet, language: &str, texts: &[String], place: Rect, shades: &Shades) -> f32 {
    let ink = Ink::new(shades.text, TEXT);
    let inner = Rect { y: place.y + 8.0, ..place.inset(12.0, 0.0) };
    let step = flow::leading(ink.code().size);
    let broken: usize =
        texts.iter().map(|text| flow::exact(text, ink.code(), inner.width).len()).sum();
    let height = broken as f32 * step + 16.0;
    sheet.round(Rect { height, ..place }, 6.0, color(shades.code));
    if !language.is_empty() {
        let tag = Rect { y: place.y + 4.0, height: 16.0, ..place.inset(10.0, 0.0) };
        sheet.label(language, tag, Side::Right, Ink::new(shades.faint, 10.5));
    }
    exact(sheet, texts, inner, ink);
    height
}

fn list_item(
    sheet: &mut Sheet,
    item: &ListItem,
    number: Option<u64>,
    place: Rect,
    ink: Ink,
    shades: &Shades,
) -> f32 {
    let row = Rect { height: flow::leading(ink.size), ..place };
    match (item.done, number) {
        (Some(is_done), _) => {
            let side = 12.0;
            let tick = Rect::new(place.x + 3.0, row.y + (row.height - side) / 2.0, side, side);
            let fill = if is_done { shades.good } else { shades.terminal };
            sheet.edged(tick.inset(0.0, 0.0), 3.0, color(fill), color(shades.soft));
        }
        (None, Some(number)) => {
            let mark = Rect { width: INDENT - 5.0, ..row };
            let ink = Ink { color: shades.soft, ..ink };
            sheet.label(&format!("{number}."), mark, Side::Right, ink);
        }
        (None, None) => sheet.dot(place.x + 9.0, row.y + row.height / 2.0, 5.0, shades.soft),
    }
    let inner = Rect { x: place.x + INDENT, width: place.width - INDENT, ..place };
    prose(sheet, &item.blocks, inner, ink, shades).max(row.height)
}

type Cells = (Vec<Vec<Span>>, bool);
/// How its columns stand, its head and its rows.
type Table<'a> = (&'a [Align], &'a [Vec<Span>], &'a [Vec<Vec<Span>>]);

fn table(
    sheet: &mut Sheet,
    (align, head, rows): Table<'_>,
    place: Rect,
    ink: Ink,
    shades: &Shades,
) -> f32 {
    let all: Vec<Cells> = std::iter::once((head.to_vec(), true))
        .chain(rows.iter().map(|row| (row.clone(), false)))
        .collect();
    let count = all.iter().map(|(row, _)| row.len()).max().unwrap_or(0);
    if count == 0 {
        return 0.0;
    }
    let widths = column_widths(&all, count, place.width, ink);
    let mut y = place.y;
    for (row, is_head) in &all {
        let ink = if *is_head { ink.bold() } else { ink };
        let mut height: f32 = 0.0;
        let mut x = place.x;
        for (index, cell) in row.iter().enumerate() {
            let runs = runs(sheet, cell, ink, shades);
            let broken = flow::lines(&runs, widths[index] - 16.0);
            let mut top = y + 4.0;
            for line in &broken {
                let wide = line.pieces.last().map_or(0.0, |last| last.x + last.width);
                let spare = (widths[index] - 16.0 - wide).max(0.0);
                let shift = match align.get(index) {
                    Some(Align::Right) => spare,
                    Some(Align::Center) => spare / 2.0,
                    _ => 0.0,
                };
                super::parts::line(sheet, line, x + 8.0 + shift, top, shades);
                top += line.height;
            }
            height = height.max(top - y + 4.0);
            x += widths[index];
        }
        y += height;
        let width = widths.iter().sum::<f32>();
        let line = Rect::new(place.x, y - 1.0, width, 1.0);
        sheet.fill(line, color(if *is_head { shades.soft } else { shades.line }));
    }
    y - place.y
}

/// As wide as the widest cell, all less where the place is narrower.
fn column_widths(all: &[Cells], count: usize, room: f32, ink: Ink) -> Vec<f32> {
    let text =
        |cell: &Vec<Span>| -> String { cell.iter().map(|span| span.text.as_str()).collect() };
    let wide = |cell: &Vec<Span>| fonts::width(&text(cell), ink.bold().font, ink.size) + 22.0;
    let mut widths = vec![30.0_f32; count];
    for (row, _) in all {
        for (index, cell) in row.iter().enumerate() {
            widths[index] = widths[index].max(wide(cell));
        }
    }
    let total: f32 = widths.iter().sum();
    if total > room {
        // Narrow columns keep their width as long as wide ones can give way.
        let fair = room / count as f32;
        let small: f32 = widths.iter().filter(|width| **width <= fair).sum();
        let large: f32 = widths.iter().filter(|width| **width > fair).sum();
        let share = ((room - small) / large.max(1.0)).min(1.0);
        widths.iter_mut().filter(|width| **width > fair).for_each(|width| *width *= share);
    }
    widths
}
