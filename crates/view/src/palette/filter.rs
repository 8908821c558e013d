//! Which rows match a query, in which order, and which letters to highlight.
//!
//! The order is part of the contract, so the score is our own; nucleo finds the letters that look
//! best when highlighted.

use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Longer titles are highlighted at the scored letters, which costs no table.
const LONGEST_HIGHLIGHT: usize = 1000;

/// A title that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its place in the list that was searched.
    pub index: usize,
    /// Matched letters, as character positions in the title.
    pub letters: Vec<u32>,
}

/// The titles that match `query`, best first. An empty query keeps all in order.
pub fn filter<'a>(query: &str, titles: impl IntoIterator<Item = &'a str>) -> Vec<Hit> {
    let needle = fold(query.trim());
    let titles = titles.into_iter().enumerate();
    if needle.is_empty() {
        return titles.map(|(index, _)| Hit { index, letters: Vec::new() }).collect();
    }
    let mut config = Config::DEFAULT;
    config.normalize = false;
    let mut matcher = Matcher::new(config);
    let mut hits: Vec<(i64, Hit)> = titles
        .filter_map(|(index, title)| {
            let title = fold(title);
            let places = places(&needle, &title)?;
            let score = score_at(&needle, &title, &places);
            let letters = letters(&mut matcher, &needle, &title, &places);
            Some((score, Hit { index, letters }))
        })
        .collect();
    // Stable, so ties keep the original order.
    hits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    hits.into_iter().map(|(_, hit)| hit).collect()
}

/// How well `query` matches `title`; none if it is no subsequence of it.
///
/// Exact +1000, else prefix +100; every letter directly after the one before +10, otherwise minus
/// the gap, at most 5; +15 for a letter at the start or after a separator; minus a tenth of the
/// title's length.
pub fn score(query: &str, title: &str) -> Option<i64> {
    let (needle, title) = (fold(query.trim()), fold(title));
    let places = places(&needle, &title)?;
    Some(score_at(&needle, &title, &places))
}

fn score_at(needle: &[char], title: &[char], places: &[usize]) -> i64 {
    let mut score: i64 = 0;
    if needle == title {
        score += 1000;
    } else if title.starts_with(needle) {
        score += 100;
    }
    let mut last: Option<usize> = None;
    for &place in places {
        // The first letter follows none, so it costs no gap.
        if let Some(last) = last {
            let gap = place - last - 1;
            score += if gap == 0 { 10 } else { -(gap.min(5) as i64) };
        }
        let starts_word = match place.checked_sub(1) {
            None => true,
            Some(before) => matches!(title[before], ' ' | '-' | '_' | '/' | '.'),
        };
        if starts_word {
            score += 15;
        }
        last = Some(place);
    }
    score - (title.len() / 10) as i64
}

/// The leftmost places of the needle's letters in the title.
fn places(needle: &[char], title: &[char]) -> Option<Vec<usize>> {
    let mut rest = title.iter().enumerate();
    needle
        .iter()
        .map(|wanted| rest.find(|(_, letter)| *letter == wanted).map(|(place, _)| place))
        .collect()
}

fn letters(matcher: &mut Matcher, needle: &[char], title: &[char], places: &[usize]) -> Vec<u32> {
    let mut found = Vec::new();
    let fits = title.len() <= LONGEST_HIGHLIGHT && needle.len() <= LONGEST_HIGHLIGHT;
    let (hay, pin) = (Utf32Str::Unicode(title), Utf32Str::Unicode(needle));
    if fits && matcher.fuzzy_indices(hay, pin, &mut found).is_some() && found.len() == needle.len()
    {
        return found;
    }
    places.iter().map(|place| u32::try_from(*place).unwrap_or(u32::MAX)).collect()
}

/// Lower case, one character for each, so that places stay places of the original.
fn fold(text: &str) -> Vec<char> {
    text.chars().map(|letter| letter.to_lowercase().next().unwrap_or(letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order<'a>(query: &str, titles: &[&'a str]) -> Vec<&'a str> {
        filter(query, titles.iter().copied()).iter().map(|hit| titles[hit.index]).collect()
    }

    #[test]
    fn an_empty_query_keeps_everything_in_order() {
        assert_eq!(order("", &["b", "a"]), ["b", "a"]);
        assert_eq!(order("  \t", &["b", "a"]), ["b", "a"]);
    }

    #[test]
    fn a_query_must_be_a_subsequence_in_any_case() {
        assert_eq!(order("NT", &["New Tab", "Next", "Tab New"]), ["New Tab", "Next"]);
        assert_eq!(score("xyz", "New Tab"), None);
        assert_eq!(score("new tabs", "New Tab"), None);
    }

    #[test]
    fn the_score_adds_up_as_written() {
        let table = [
            // exact, 6 neighbors, two word starts
            ("new tab", "New Tab", 1000 + 6 * 10 + 15 + 15),
            // prefix, 2 neighbors, one start
            ("new", "New Tab", 100 + 20 + 15),
            // two starts, gap of three
            ("nt", "New Tab", 15 + 15 - 3),
            // one letter in the middle: nothing at all
            ("e", "New Tab", 0),
            // the first letter's distance from the start costs nothing
            ("b", "New Tab", 0),
            // a gap costs at most five, and twelve letters cost one
            ("ag", "a______g____", 15 + 15 - 5 - 1),
            ("az", "abbbbbbbbbbz", 15 - 5 - 1),
            // each of the separators starts a word
            ("b", "a b", 15),
            ("b", "a-b", 15),
            ("b", "a_b", 15),
            ("b", "a/b", 15),
            ("b", "a.b", 15),
            ("b", "a:b", 0),
            // ten letters cost one, nine none
            ("x", "bbbbbbbbbx", -1),
            ("x", "bbbbbbbbx", 0),
            // surrounding space is trimmed
            (" e ", "New Tab", 0),
        ];
        for (query, title, expected) in table {
            assert_eq!(score(query, title), Some(expected), "{query} in {title}");
        }
    }

    #[test]
    fn better_scores_come_first_and_ties_keep_their_order() {
        assert_eq!(
            order("tab", &["Close Tab", "Table", "Tab", "Rename Tab"]),
            ["Tab", "Table", "Close Tab", "Rename Tab"]
        );
        assert_eq!(order("a", &["a2", "a1", "a0"]), ["a2", "a1", "a0"]);
    }

    #[test]
    fn highlighted_letters_are_places_in_the_title() {
        let hits = filter("nt", ["New Tab"]);
        assert_eq!(hits[0].letters, [0, 4]);
        assert_eq!(filter("ÖB", ["日 öb"])[0].letters, [2, 3]);
    }

    #[test]
    fn letters_of_a_word_are_preferred_for_highlighting() {
        // Scoring is leftmost; highlighting shows the run a reader sees.
        assert_eq!(filter("tab", ["t a tab"])[0].letters, [4, 5, 6]);
    }

    #[test]
    fn very_long_titles_still_match() {
        let title = "x".repeat(100_000) + "y";
        assert_eq!(filter("xy", [title.as_str()])[0].letters, [0, 100_000]);
    }

    proptest! {
        #[test]
        fn no_query_panics_and_letters_spell_it(query in "\\PC{0,8}", title in "\\PC{0,24}") {
            for hit in filter(&query, [title.as_str()]) {
                let folded = fold(&title);
                let spelled: Vec<char> =
                    hit.letters.iter().map(|place| folded[*place as usize]).collect();
                prop_assert_eq!(spelled, fold(query.trim()));
                prop_assert!(hit.letters.is_sorted());
            }
        }

        #[test]
        fn the_order_is_the_order_of_scores(
            query in "[abc]{1,3}", titles in prop::collection::vec("[abc -]{0,9}", 0..8),
        ) {
            let hits = filter(&query, titles.iter().map(String::as_str));
            let scores: Vec<(i64, usize)> = hits
                .iter()
                .map(|hit| (-score(&query, &titles[hit.index]).unwrap(), hit.index))
                .collect();
            prop_assert!(scores.is_sorted());
            let matching = titles.iter().filter(|title| score(&query, title).is_some()).count();
            prop_assert_eq!(hits.len(), matching);
        }
    }
}
