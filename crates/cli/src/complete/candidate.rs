//! What is offered for a word. Names come from programs, models and branches and are not trusted: a value has only
//! letters that mean nothing to any shell, and a description is one short line of letters that are seen.

use crate::output::shorten;
use rookery_view::safe;

/// The most that is offered at once.
const MOST: usize = 200;
/// Columns of a description.
const WIDTH: usize = 60;
/// Letters of the longest value.
const LONGEST: usize = 128;

/// One thing that the word could become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) value: String,
    pub(super) description: String,
}

impl Candidate {
    /// A candidate whose description may be anything.
    pub(super) fn new(value: impl Into<String>, description: &str) -> Self {
        let shown: String = description.chars().filter(|c| !rookery_model::is_unseen(*c)).collect();
        Self { value: value.into(), description: shorten(&safe::line(&shown), WIDTH) }
    }
}

/// What is offered for a word: only what begins as it does, can be typed as it is, and was not given before.
pub(super) struct Offer<'a> {
    /// The part of the word that stays as it is, such as `--model=`.
    before: &'a str,
    typed: &'a str,
    given: &'a [String],
    candidates: Vec<Candidate>,
}

impl<'a> Offer<'a> {
    pub(super) fn new(before: &'a str, typed: &'a str, given: &'a [String]) -> Self {
        Self { before, typed, given, candidates: Vec::new() }
    }

    /// Offers a value, if it fits.
    pub(super) fn add(&mut self, mut candidate: Candidate) {
        let value = &candidate.value;
        let fits = value.starts_with(self.typed) && is_plain(value) && !self.given.contains(value);
        if !fits || self.candidates.len() >= MOST {
            return;
        }
        candidate.value.insert_str(0, self.before);
        if self.candidates.iter().all(|other| other.value != candidate.value) {
            self.candidates.push(candidate);
        }
    }

    /// Offers something that has several names: the first that fits what was typed.
    pub(super) fn add_named(&mut self, names: &[&str], description: &str) {
        // By name only if something of it was typed; ids are shorter, and mean the same tomorrow.
        let fitting = |name: &&&str| name.starts_with(self.typed) && is_plain(name);
        let name = if self.typed.is_empty() { names.first() } else { names.iter().find(fitting) };
        // What begins with a dash would be an option.
        if let Some(name) = name.filter(|name| !name.starts_with('-')) {
            self.add(Candidate::new(*name, description));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    pub(super) fn into_candidates(self) -> Vec<Candidate> {
        self.candidates
    }
}

/// Whether a value is the same word in every shell without quotes.
fn is_plain(value: &str) -> bool {
    let is_fit =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | ':' | '@');
    let begins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '/' | '_');
    value.len() <= LONGEST && value.starts_with(begins) && value.chars().all(is_fit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What means something to one shell or another.
    const MEANT: &str = "$`'\"\\ \t\n;|&<>()[]{}*?!#~=%^,";
    const HOSTILE: &[&str] = &[
        "$(touch pwned)",
        "`id`",
        "a b",
        "x;y",
        "x'y",
        "x\"y",
        "x\ny",
        "x\ty",
        "\x1b]52;c;eA==\x07",
        "~root",
        "*",
        "{a,b}",
        "!1",
        "a=b",
        "x\\",
        "ünïcode",
        "(id)",
        "--all-processes",
        "%self",
        "",
    ];

    fn offered(typed: &str, given: &[String], names: &[&str]) -> Vec<String> {
        let mut offer = Offer::new("", typed, given);
        offer.add_named(names, "d");
        offer.into_candidates().into_iter().map(|one| one.value).collect()
    }

    #[test]
    fn nothing_that_a_shell_would_understand_is_offered() {
        for title in HOSTILE {
            assert_eq!(offered("", &[], &[title]), [""; 0], "{title:?}");
            assert_eq!(offered(title, &[], &["3", title]).len(), usize::from(title.is_empty()));
        }
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(offered("", &[], &[&long]), [""; 0]);
    }

    #[test]
    fn a_name_is_offered_once_its_beginning_is_typed() {
        assert_eq!(offered("", &[], &["3", "build"]), ["3"]);
        assert_eq!(offered("b", &[], &["3", "build"]), ["build"]);
        assert_eq!(offered("3", &[], &["3", "build"]), ["3"]);
        assert_eq!(offered("x", &[], &["3", "build"]), [""; 0]);
        assert_eq!(offered("", &["3".to_owned()], &["3", "build"]), [""; 0]);
    }

    #[test]
    fn no_more_is_offered_than_can_be_looked_at() {
        let mut offer = Offer::new("--to=", "", &[]);
        for number in 0..1000 {
            offer.add(Candidate::new(number.to_string(), ""));
            offer.add(Candidate::new(number.to_string(), ""));
        }
        let all = offer.into_candidates();
        assert_eq!((all.len(), &*all[1].value), (MOST, "--to=1"));
    }

    proptest! {
        #[test]
        fn a_description_is_one_line(text in any::<String>()) {
            let shown = Candidate::new("1", &text).description;
            prop_assert!(!shown.contains(|c: char| c.is_control() || rookery_model::is_unseen(c)));
            prop_assert!(unicode_width::UnicodeWidthStr::width(&*shown) <= WIDTH);
        }

        #[test]
        fn a_value_is_a_word_of_a_shell(text in any::<String>()) {
            for value in offered("", &[], &[&text]) {
                prop_assert!(!value.contains(|c: char| MEANT.contains(c)), "{}", value);
            }
        }
    }
}
