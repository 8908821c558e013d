//! The part of a memory that shows why it was found.

use rookery_model::Memory;

/// The most characters of a memory that are shown.
const LONGEST: usize = 180;
/// What stands where a text goes on.
const MORE: &str = "...";

/// A memory as a source: which one it is, and the part of it that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    pub memory: String,
    /// Its scope, as one text.
    pub scope: String,
    /// The part that fits.
    pub snippet: String,
    /// The score in thousandths.
    pub score_millis: u32,
}

impl Citation {
    pub(super) fn new(memory: &Memory, score: f64, first_match: usize) -> Self {
        Self {
            memory: memory.id.clone(),
            scope: memory.scope.id(),
            snippet: snippet(&memory.text, first_match),
            score_millis: (score.clamp(0.0, 1.0) * 1000.0) as u32,
        }
    }
}

/// At most [`LONGEST`] characters around a place, and whether the text goes on behind them.
fn snippet(text: &str, place: usize) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.to_owned();
    }
    let before = text.char_indices().take_while(|(at, _)| *at < place).count();
    let begin = before.saturating_sub(LONGEST / 2).min(count - LONGEST);
    let mut shown: String = text.chars().skip(begin).take(LONGEST).collect();
    if begin + LONGEST < count {
        shown.push_str(MORE);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_shown_whole_and_a_long_one_around_its_match() {
        assert_eq!(snippet("short", 2), "short");
        let text = format!("{}needle{}", "ä".repeat(300), "b".repeat(300));
        let shown = snippet(&text, 600);
        assert!(shown.contains("needle") && shown.ends_with("b..."), "{shown}");
        assert_eq!(shown.chars().count(), LONGEST + MORE.len());
        assert_eq!(shown.find("needle"), Some(2 * LONGEST / 2));
        let begin = snippet(&text, 0);
        assert!(begin.starts_with('ä') && begin.ends_with("..."));
        let end = snippet(&text, text.len());
        assert!(end.ends_with('b') && end.chars().count() == LONGEST, "{end}");
        assert_eq!(snippet(&"x".repeat(180), 0), "x".repeat(180));
    }
}
