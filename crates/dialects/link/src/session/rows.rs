//! Rows for those who may not see secrets.

use std::collections::HashMap;

use rookery_term::redact::Policy;
use rookery_term::{Screen, Width};
use rookery_view::link::RowText;

/// Rows that show something else than they have, because there is a secret on them. Lines are judged as
/// they were before they wrapped.
#[derive(Default)]
pub(crate) struct Masked(HashMap<u64, String>);

/// Rows above the view that a secret may begin in.
const CONTEXT: u64 = 8;

impl Masked {
    /// Looks through rows, and through those before them that their first line may begin in.
    pub(crate) fn of(screen: &Screen, rows: std::ops::Range<u64>) -> Masked {
        let mut text = String::new();
        // For each byte of the text the row that it comes from, and which of its characters it is of.
        let mut origin: Vec<(u64, usize)> = Vec::new();
        let mut shown: HashMap<u64, Vec<char>> = HashMap::new();
        let first = rows.start.saturating_sub(CONTEXT);
        screen.visit_rows(first..rows.end, &mut |row| {
            let mut signs = Vec::new();
            for cell in row.cells().filter(|cell| cell.width() != Width::Continuation) {
                for sign in cell.shown().chars() {
                    signs.push(sign);
                    text.push(sign);
                    origin.resize(text.len(), (row.number, signs.len() - 1));
                }
            }
            if !row.is_wrapped() {
                let end = text.trim_end_matches(' ').len();
                text.truncate(end);
                origin.truncate(end);
                text.push('\n');
                origin.push((row.number, signs.len()));
            }
            shown.insert(row.number, signs);
        });
        let mut masked = HashMap::new();
        for span in Policy::usual().redact_spans(&text) {
            for (row, at) in &origin[span] {
                let Some(signs) = shown.get_mut(row) else { continue };
                if let Some(sign) = signs.get_mut(*at) {
                    *sign = '*';
                    masked.insert(*row, ());
                }
            }
        }
        let text_of = |row: u64| shown.get(&row).map(|signs| signs.iter().collect::<String>());
        Masked(masked.into_keys().filter_map(|row| Some((row, text_of(row)?))).collect())
    }

    /// What a row shows instead.
    pub(crate) fn row(&self, number: u64, cols: u16) -> Option<RowText> {
        self.0.get(&number).map(|text| RowText::from_text(text.trim_end(), cols))
    }
}
