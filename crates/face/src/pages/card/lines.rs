//! What a card shows, line by line: whatever is decided by is spelled exactly and never cut.

use rookery_view::link::Card;

use super::CardPage;
use crate::pages::text::{Line, Tint, diff_lines, exact_lines, file_head, prose, wrap_pieces};
use crate::words::{age, clock, line};

impl CardPage {
    /// Everything that is shown, in lines of a width.
    pub fn lines(&self, cells: u16, wall: i64) -> Vec<Line> {
        let Some(card) = &self.card else {
            return vec![Line::new("…", Tint::Dim)];
        };
        let mut lines = head(card, cells, wall);
        if card.request.is_some() && !self.is_pending() && !card.state.is_empty() {
            let by = card.by.as_deref().map(|by| format!(" by {}", line(by))).unwrap_or_default();
            let at = card.settled_at.map(clock).unwrap_or_default();
            lines.push(Line::new(format!("{}{by} {at}", line(&card.state)), Tint::Bold));
        }
        let rule = card.rule.as_deref().map(|rule| format!("rule {}", line(rule)));
        let why: Vec<String> = [
            line(&card.reason),
            rule.unwrap_or_default(),
            if card.mode.is_empty() { String::new() } else { format!("mode {}", line(&card.mode)) },
            if card.source.is_empty() {
                String::new()
            } else {
                format!("by {}", line(&card.source))
            },
        ]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
        if !why.is_empty() {
            let text = why.join(" · ");
            lines.extend(
                crate::cells::wrap(&text, cells).into_iter().map(|l| Line::new(l, Tint::Dim)),
            );
        }
        for text in &card.lines {
            lines.extend(
                exact_lines(text, cells.saturating_sub(2), Tint::Text)
                    .into_iter()
                    .map(|line| line.indented(2)),
            );
        }
        for file in card.diff.iter().flatten() {
            lines.extend(file_head(file, cells));
            lines.extend(diff_lines(file, cells));
        }
        if let Some(plan) = &card.plan {
            lines.extend(prose(plan, cells, Tint::Text));
        }
        self.push_questions(card, cells, &mut lines);
        push_run_context(card, cells, &mut lines);
        if let Some(field) = self.deny.as_ref() {
            lines.push(Line::of_pieces(vec![
                ("deny, because: ".to_owned(), Tint::Accent),
                (format!("{}▌", field.text()), Tint::Text),
            ]));
        }
        lines
    }

    fn push_questions(&self, card: &Card, cells: u16, lines: &mut Vec<Line>) {
        for (index, question) in card.questions.iter().enumerate() {
            let tint = if index == self.question { Tint::Bold } else { Tint::Dim };
            lines.extend(exact_lines(&question.text, cells, tint));
            for (at, choice) in question.options.iter().enumerate() {
                let mut text = format!("{} {}", at + 1, choice.label);
                if !choice.description.is_empty() {
                    text = format!("{text} — {}", choice.description);
                }
                lines.extend(
                    exact_lines(&text, cells.saturating_sub(2), Tint::Text)
                        .into_iter()
                        .map(|line| line.indented(2)),
                );
            }
            let own = format!("{} something else…", question.options.len() + 1);
            lines.push(Line::new(own, Tint::Dim).indented(2));
            if index == self.question
                && let Some(field) = &self.own
            {
                lines.push(Line::of_pieces(vec![
                    ("> ".to_owned(), Tint::Accent),
                    (format!("{}▌", field.text()), Tint::Text),
                ]));
            }
        }
    }
}

fn head(card: &Card, cells: u16, wall: i64) -> Vec<Line> {
    let title = if card.tool.is_empty() { &card.title } else { &card.tool };
    let place = [&card.project, &card.session_title].map(|part| line(part));
    let place: Vec<String> = place.into_iter().filter(|part| !part.is_empty()).collect();
    let mut pieces =
        vec![(line(title), Tint::Bold), (format!("   {}", place.join(" / ")), Tint::Text)];
    let asked = age(card.at, wall);
    if !asked.is_empty() {
        pieces.push((format!("   asked {asked} ago"), Tint::Dim));
    }
    if let Some(deadline) = card.deadline {
        let text = format!("   refused if no answer comes by {}", clock(deadline));
        pieces.push((text, Tint::Dim));
    }
    wrap_pieces(pieces, cells)
}

/// What a command would run with.
fn push_run_context(card: &Card, cells: u16, lines: &mut Vec<Line>) {
    if !card.argv.is_empty() {
        let argv = serde_json::to_string(&card.argv).unwrap_or_default();
        lines.extend(exact_lines(&format!("runs {argv}"), cells, Tint::Dim));
    }
    let mut parts = Vec::new();
    if let Some(cwd) = &card.cwd {
        parts.push(format!("in {cwd}"));
    }
    for (name, value) in &card.env {
        parts.push(match value {
            Some(value) => format!("with {name}={value}"),
            None => format!("without {name}"),
        });
    }
    if !parts.is_empty() {
        lines.extend(exact_lines(&parts.join("   "), cells, Tint::Dim));
    }
}
