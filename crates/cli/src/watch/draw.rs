//! The list, its details and the prompt as rows of cells.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    text::{Line as Row, Span},
    widgets::{Block, Borders, Cell, Paragraph, Row as TableRow, Table, TableState},
};
use unicode_width::UnicodeWidthChar as _;

use super::list::{List, View};
use crate::{
    output::{Colors, Tone},
    talk::{
        age,
        patch::Line,
        queue::{self, Item},
        requests,
    },
};

/// Rows of a screen from which on there is room for what the selected item would do.
const ROOM_FOR_PREVIEW: u16 = 14;
/// What keys do.
const LIST_KEYS: &str =
    "↑↓ move  enter show  a approve  d deny  s later  r resolve  i notes  q quit";
const DETAIL_KEYS: &str = "↑↓ scroll  a approve  d deny  s later  r resolve  q back";
const PROMPT_KEYS: &str = "enter send  esc cancel";

fn style(tone: Tone, colors: Colors) -> Style {
    let color = |color: Color| match colors.are_wanted() {
        true => Style::new().fg(color),
        false => Style::new(),
    };
    match tone {
        Tone::Plain => Style::new(),
        Tone::Strong => Style::new().add_modifier(Modifier::BOLD),
        Tone::Good => color(Color::Green),
        Tone::Warning => color(Color::Yellow),
        Tone::Bad => color(Color::Red),
        Tone::Faint => Style::new().add_modifier(Modifier::DIM),
    }
}

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, list: &mut List, now: i64, colors: Colors) {
    let rows =
        [Constraint::Length(1), Constraint::Min(1), Constraint::Length(1), Constraint::Length(1)];
    let [head, body, message, keys] = Layout::vertical(rows).areas(frame.area());
    draw_head(frame, head, list, colors);
    let help = match &mut list.view {
        View::Items => {
            draw_items(frame, body, list, now, colors);
            LIST_KEYS
        }
        View::Details { lines, top, .. } => {
            *top = draw_lines(frame, body, lines, *top, colors);
            DETAIL_KEYS
        }
        View::Prompt { text, review, .. } => {
            let asked = format!("Requested changes (review {review})");
            let typed = format!("> {text}▏");
            let lines = [(Tone::Strong, asked), (Tone::Plain, String::new()), (Tone::Plain, typed)];
            draw_lines(frame, body, &lines, 0, colors);
            PROMPT_KEYS
        }
    };
    if let Some((tone, text)) = &list.message {
        frame.render_widget(Span::styled(text.clone(), style(*tone, colors)), message);
    }
    frame.render_widget(Span::styled(help, style(Tone::Faint, colors)), keys);
}

fn draw_head(frame: &mut Frame<'_>, area: Rect, list: &List, colors: Colors) {
    let count = list.items().len();
    let hidden = match list.hidden() {
        0 => String::new(),
        hidden => format!("  {hidden} more to know"),
    };
    let head = Row::from(vec![
        Span::styled("Inbox", style(Tone::Strong, colors)),
        Span::raw(format!("  {count} waiting")),
        Span::styled(hidden, style(Tone::Faint, colors)),
    ]);
    frame.render_widget(head, area);
}

fn draw_items(frame: &mut Frame<'_>, area: Rect, list: &List, now: i64, colors: Colors) {
    let items = list.items();
    if items.is_empty() {
        let nothing = Span::styled("nothing needs attention", style(Tone::Faint, colors));
        frame.render_widget(nothing, area);
        return;
    }
    let selected = list.selected();
    let preview = selected.and_then(|at| items.get(at)).map(|item| preview(item));
    let preview = preview.filter(|lines| !lines.is_empty() && area.height >= ROOM_FOR_PREVIEW);
    let height = preview.as_ref().map_or(0, |lines| lines.len() as u16 + 1).min(area.height / 2);
    let [table, below] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(height)]).areas(area);
    draw_table(frame, table, &items, selected, now, colors);
    if let Some(lines) = preview {
        let block = Block::new().borders(Borders::TOP).border_style(style(Tone::Faint, colors));
        let inner = block.inner(below);
        frame.render_widget(block, below);
        let mut lines = wrapped(&lines, inner.width);
        let room = usize::from(inner.height);
        if lines.len() > room && room > 0 {
            let more = lines.len() - (room - 1);
            lines.truncate(room - 1);
            lines.push((Tone::Warning, format!("… enter shows the rest ({more} lines)")));
        }
        draw_lines(frame, inner, &lines, 0, colors);
    }
}

/// Exactly what the selected item would do.
fn preview(item: &Item<'_>) -> Vec<Line> {
    let lines = item.request.map(requests::exactly).unwrap_or_default();
    lines.into_iter().map(|line| (Tone::Plain, line)).collect()
}

fn draw_table(
    frame: &mut Frame<'_>,
    area: Rect,
    items: &[Item<'_>],
    selected: Option<usize>,
    now: i64,
    colors: Colors,
) {
    let ids = items.iter().map(|item| queue::address(item.entry));
    let rows = items.iter().map(|item| {
        let (tone, kind) = queue::kind(item);
        let id = requests::short_id(queue::address(item.entry), ids.clone()).to_owned();
        let cells = [
            (Tone::Strong, id),
            (tone, kind.to_owned()),
            (Tone::Faint, age::since_text(&item.entry.item.created_at, now)),
            (Tone::Plain, queue::session(item.entry)),
            (Tone::Plain, queue::what(item)),
            (Tone::Faint, queue::source(item.entry.item.source).to_owned()),
        ];
        TableRow::new(cells.map(|(tone, text)| Cell::new(Span::styled(text, style(tone, colors)))))
    });
    let widths = [
        Constraint::Length(8),
        Constraint::Length(13),
        Constraint::Length(4),
        Constraint::Max(18),
        Constraint::Fill(1),
        Constraint::Length(8),
    ];
    let table = Table::new(rows, widths)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .highlight_symbol("› ")
        .highlight_spacing(ratatui::widgets::HighlightSpacing::Always);
    let mut state = TableState::new().with_selected(selected);
    frame.render_stateful_widget(table, area, &mut state);
}

/// Draws lines from one on, as far as there is room. Gives the first that was drawn, which is none of
/// the last if those fill the room.
fn draw_lines(
    frame: &mut Frame<'_>,
    area: Rect,
    lines: &[Line],
    top: usize,
    colors: Colors,
) -> usize {
    let lines = wrapped(lines, area.width);
    let top = top.min(lines.len().saturating_sub(usize::from(area.height)));
    let shown = lines.into_iter().skip(top).take(usize::from(area.height));
    let shown: Vec<Row<'_>> =
        shown.map(|(tone, text)| Row::from(Span::styled(text, style(tone, colors)))).collect();
    frame.render_widget(Paragraph::new(shown), area);
    top
}

/// Lines no wider than the room: what is decided by must not end at the edge of a screen.
fn wrapped(lines: &[Line], width: u16) -> Vec<Line> {
    let width = usize::from(width).max(1);
    let mut all = Vec::with_capacity(lines.len());
    for (tone, line) in lines {
        let (mut part, mut used) = (String::new(), 0);
        for c in line.replace('\t', "    ").chars() {
            let wide = c.width().unwrap_or(0);
            if used + wide > width && !part.is_empty() {
                all.push((*tone, std::mem::take(&mut part)));
                used = 0;
            }
            part.push(c);
            used += wide;
        }
        all.push((*tone, part));
    }
    all
}
