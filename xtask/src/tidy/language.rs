//! Keeps vague words out of names, help, errors and documentation.

use serde::Deserialize;

use super::Finding;

/// The words, and where they may stand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Language {
    words: Vec<Vague>,
    /// Files, or directories if they end with a slash.
    except: Vec<String>,
}

/// A word that says too little.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vague {
    word: String,
    instead: String,
}

/// Finds vague words, in any case and as parts of identifiers. A blank stands for a blank or an
/// underscore.
pub(super) fn check(language: &Language, path: &str, text: &str) -> Vec<Finding> {
    let is_here = |except: &String| match except.ends_with('/') {
        true => path.starts_with(except.as_str()),
        false => path == except,
    };
    if language.except.iter().any(is_here) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.to_lowercase().replace('_', " ");
        for Vague { word, instead } in &language.words {
            if contains(&line, word) {
                let message = format!("says \"{word}\"; {instead}");
                findings.push(Finding::error(path, index + 1, message));
            }
        }
    }
    findings
}

/// Whether a line contains a word that does not begin inside of another one: "also many" is not
/// "so many". Words may go on after it, as names in camel case do.
fn contains(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language() -> Language {
        let vague =
            |word: &str, instead: &str| Vague { word: word.into(), instead: instead.into() };
        Language {
            words: vec![vague("so many", "name the number"), vague("nobody", "name the role")],
            except: vec!["data/".into(), "one.md".into()],
        }
    }

    #[test]
    fn vague_words_are_found_in_text_and_in_names() {
        let text = "/// Stop after so many seconds\nfn a() {}\nenum End { NobodyReads }\n";
        let found = [
            Finding::error("a.rs", 1, "says \"so many\"; name the number"),
            Finding::error("a.rs", 3, "says \"nobody\"; name the role"),
        ];
        assert_eq!(check(&language(), "a.rs", text), found);
        for line in ["So many", "fn so_many() {}", "const NOBODY: u8 = 0;", "(nobody)"] {
            assert_eq!(check(&language(), "docs/a.md", line).len(), 1, "{line}");
        }
    }

    #[test]
    fn the_words_of_the_repository_are_found() {
        let root = crate::repository_root().unwrap();
        let rules: super::super::Rules =
            super::super::read_toml(&root, super::super::RULES_FILE).unwrap();
        for line in [
            "// for everybody",
            "/// Whether anybody looks.",
            "enum Wish {",
            "fn wishes(&self) {}",
            "struct Deed;",
            "typist: OnceLock<T>,",
            "fn see_off() {}",
            "A child is seen off.",
            "fn put_words_away() {}",
        ] {
            assert_eq!(check(&rules.language, "a.rs", line).len(), 1, "{line}");
        }
        for line in ["it is indeed there", "a swish", "we see often", "words away"] {
            assert_eq!(check(&rules.language, "a.rs", line), [], "{line}");
        }
    }

    #[test]
    fn other_words_and_listed_files_are_left_alone() {
        for line in ["also many", "how many", "no body", "busybody"] {
            assert_eq!(check(&language(), "a.rs", line), [], "{line}");
        }
        for path in ["data/a.jsonl", "data/deep/b.rs", "one.md"] {
            assert_eq!(check(&language(), path, "nobody"), [], "{path}");
        }
        assert_eq!(check(&language(), "two/one.md", "nobody").len(), 1);
    }
}
