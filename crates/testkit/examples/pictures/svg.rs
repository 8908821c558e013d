//! A terminal's screen as a drawing: one text for each run of cells that look alike.

use std::fmt::Write as _;

use rookery_term::{CellRef, Rgb, Snapshot, Width};

/// Width and height of a cell, and what lies around all of them, in pixels.
const CELL: (f32, f32) = (8.4, 18.0);
const MARGIN: f32 = 14.0;
const HEAD: f32 = 34.0;

fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The drawing; `label` says in words what it shows.
pub(crate) fn draw(screen: &Snapshot, label: &str) -> String {
    let (width, height) = (
        CELL.0 * f32::from(screen.cols) + 2.0 * MARGIN,
        CELL.1 * f32::from(screen.rows) + HEAD + MARGIN,
    );
    let ground = hex(screen.colors().background());
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{}\">\n\
         <style>text{{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;\
         font-size:14px;white-space:pre}}</style>\n\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" rx=\"8\" fill=\"{ground}\"/>\n\
         <circle cx=\"20\" cy=\"17\" r=\"6\" fill=\"#e06c75\"/>\
         <circle cx=\"40\" cy=\"17\" r=\"6\" fill=\"#e5c07b\"/>\
         <circle cx=\"60\" cy=\"17\" r=\"6\" fill=\"#98c379\"/>\n",
        escaped(label)
    );
    for row in 0..screen.rows {
        let cells: Vec<CellRef<'_>> = screen.row(row).collect();
        for (from, run) in runs(&cells) {
            draw_run(&mut out, screen, row, from, &run);
        }
    }
    draw_cursor(&mut out, screen);
    out.push_str("</svg>\n");
    out
}

/// Runs of cells that look alike, with their first columns.
fn runs<'a>(cells: &[CellRef<'a>]) -> Vec<(usize, Vec<CellRef<'a>>)> {
    let mut runs: Vec<(usize, Vec<CellRef<'a>>)> = Vec::new();
    for (col, cell) in cells.iter().enumerate() {
        let looks_alike =
            |run: &Vec<CellRef<'a>>| run.last().is_some_and(|it| it.style() == cell.style());
        match runs.last_mut() {
            Some((_, run)) if looks_alike(run) => run.push(*cell),
            _ => runs.push((col, vec![*cell])),
        }
    }
    runs
}

fn draw_run(out: &mut String, screen: &Snapshot, row: u16, from: usize, run: &[CellRef<'_>]) {
    let Some(first) = run.first() else { return };
    let style = first.style();
    let look = screen.colors().resolve(&style);
    let x = MARGIN + CELL.0 * from as f32;
    let y = HEAD + CELL.1 * f32::from(row);
    let wide = CELL.0 * run.len() as f32;
    if look.bg != screen.colors().background() {
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
            CELL.1,
            hex(look.bg)
        );
    }
    let text: String =
        run.iter().filter(|cell| cell.width() != Width::Continuation).map(CellRef::shown).collect();
    let kept = text.trim_end();
    if kept.is_empty() {
        return;
    }
    let blanks = text.len() - kept.len();
    let length = wide - CELL.0 * blanks as f32;
    let weight = if style.bold { " font-weight=\"bold\"" } else { "" };
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
         xml:space=\"preserve\" fill=\"{}\"{weight}>{}</text>",
        y + 13.5,
        hex(look.ink),
        escaped(kept)
    );
}

fn draw_cursor(out: &mut String, screen: &Snapshot) {
    let cursor = screen.cursor;
    if !cursor.visible {
        return;
    }
    let (x, y) = (MARGIN + CELL.0 * f32::from(cursor.col), HEAD + CELL.1 * f32::from(cursor.row));
    let _ = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#ffffff\" opacity=\"0.6\"/>",
        CELL.0, CELL.1
    );
}
