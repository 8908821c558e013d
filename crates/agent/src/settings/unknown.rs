//! Keys of the settings file that no setting has, and which one was probably meant.

use std::collections::BTreeSet;

use toml_edit::{Item, TableLike};

use super::TOP_LEVEL;
use super::problem::{Problem, ProblemKind};

/// Each key that is not known. Tables of others in the same file are not ours to judge.
pub(super) fn keys(root: &dyn TableLike, known: &BTreeSet<String>) -> Vec<Problem> {
    let mut found = Vec::new();
    for (name, item) in root.iter().filter(|(name, _)| TOP_LEVEL.contains(name)) {
        below(name, item, known, &mut found);
    }
    found
}

fn below(path: &str, item: &Item, known: &BTreeSet<String>, found: &mut Vec<Problem>) {
    if !known.contains(path) {
        found.push(problem(path, known));
        return;
    }
    for (name, inner) in item.as_table_like().into_iter().flat_map(|table| table.iter()) {
        below(&format!("{path}.{name}"), inner, known, found);
    }
}

fn problem(path: &str, known: &BTreeSet<String>) -> Problem {
    let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
    let siblings = known.iter().filter_map(|key| {
        let (of, sibling) = key.rsplit_once('.').unwrap_or(("", key));
        (of == parent).then_some(sibling)
    });
    let kind = ProblemKind::Unknown(likeliest(name, siblings).map(str::to_owned));
    Problem { key: path.to_owned(), kind }
}

/// The name that is most like a word, if one is like it at all.
pub fn likeliest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &str| strsim::damerau_levenshtein(word, name);
    let (name, away) =
        names.into_iter().map(|name| (name, distance(name))).min_by_key(|(_, away)| *away)?;
    // One letter of three may be wrong, and two at the least.
    (away <= (word.chars().count() / 3).max(2) && away < name.chars().count()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        let names = ["deny", "allow", "denied_tools", "network"];
        assert_eq!(likeliest("denny", names), Some("deny"));
        assert_eq!(likeliest("denyed_tools", names), Some("denied_tools"));
        assert_eq!(likeliest("alow", names), Some("allow"));
        assert_eq!(likeliest("colour", names), None);
        assert_eq!(likeliest("x", []), None);
    }
}
