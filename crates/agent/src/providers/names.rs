//! Names of tools as APIs allow them, and the way back.

use std::collections::{HashMap, HashSet};

use super::transcript::call_names;
use crate::provider::ModelRequest;

/// How long a name may be.
const LIMIT: usize = 64;

/// How characters that no API allows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Each as one underscore.
    Underscore,
    DotAsTwo,
}

/// The names of one request, both ways.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    wire_of: HashMap<String, String>,
    ours_of: HashMap<String, String>,
}

impl Names {
    /// The names of a request: its tools first, then those that only the conversation still knows.
    pub(crate) fn new(request: &ModelRequest, spelling: Spelling) -> Self {
        let mut all: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        all.extend(call_names(&request.entries));
        let mut seen = HashSet::new();
        all.retain(|name| seen.insert(*name));
        let mut names = Self::default();
        // A name that may stay as it is never makes way for one that had to be changed.
        let (plain, changed): (Vec<&str>, Vec<&str>) =
            all.into_iter().partition(|name| spell(name, spelling) == *name);
        for name in plain.into_iter().chain(changed) {
            names.add(name, spelling);
        }
        names
    }

    /// What the API calls our tool.
    pub(crate) fn wire<'a>(&'a self, ours: &'a str) -> &'a str {
        self.wire_of.get(ours).map_or(ours, String::as_str)
    }

    /// What we call the API's tool. A name that was never sent stays as it is.
    pub(crate) fn ours(&self, wire: &str) -> String {
        self.ours_of.get(wire).cloned().unwrap_or_else(|| wire.to_owned())
    }

    fn add(&mut self, name: &str, spelling: Spelling) {
        let base = spell(name, spelling);
        let mut wire = base.clone();
        let mut number = 2_usize;
        while self.ours_of.contains_key(&wire) {
            let suffix = format!("_{number}");
            wire = format!("{}{suffix}", &base[..base.len().min(LIMIT - suffix.len())]);
            number += 1;
        }
        self.ours_of.insert(wire.clone(), name.to_owned());
        self.wire_of.insert(name.to_owned(), wire);
    }
}

fn spell(name: &str, spelling: Spelling) -> String {
    let mut out = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '.' if spelling == Spelling::DotAsTwo => out.push_str("__"),
            'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' => out.push(character),
            _ => out.push('_'),
        }
    }
    // Only ASCII is left, so that any cut is a good one.
    out.truncate(LIMIT);
    if out.is_empty() { "_".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::provider::ToolSpec;

    fn request(names: &[&str]) -> ModelRequest {
        let tool = |name: &&str| ToolSpec {
            name: (*name).into(),
            description: String::new(),
            parameters: json!({}),
        };
        ModelRequest { tools: names.iter().map(tool).collect(), ..ModelRequest::default() }
    }

    #[test]
    fn forbidden_characters_change_and_come_back() {
        let request = request(&["task_ledger.update", "grep", "a b"]);
        let names = Names::new(&request, Spelling::Underscore);
        assert_eq!(names.wire("task_ledger.update"), "task_ledger_update");
        assert_eq!(names.ours("task_ledger_update"), "task_ledger.update");
        assert_eq!((names.wire("a b"), names.wire("grep")), ("a_b", "grep"));
        let names = Names::new(&request, Spelling::DotAsTwo);
        assert_eq!(names.wire("task_ledger.update"), "task_ledger__update");
        assert_eq!(names.ours("never told"), "never told");
    }

    #[test]
    fn what_would_be_the_same_gets_a_number() {
        let names = Names::new(&request(&["a.b", "a b", "a_b"]), Spelling::Underscore);
        assert_eq!(
            (names.wire("a_b"), names.wire("a.b"), names.wire("a b")),
            ("a_b", "a_b_2", "a_b_3")
        );
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let (one, two) = ("x".repeat(70), "x".repeat(71));
        let names = Names::new(&request(&[&one, &two]), Spelling::Underscore);
        assert_eq!(names.wire(&one).len(), 64);
        assert_eq!(names.wire(&two), format!("{}_2", "x".repeat(62)));
    }

    proptest! {
        #[test]
        fn every_name_is_allowed_and_finds_back(list in proptest::collection::hash_set("\\PC{0,70}", 0..12), is_dotted: bool) {
            let list: Vec<&str> = list.iter().map(String::as_str).collect();
            let spelling = if is_dotted { Spelling::DotAsTwo } else { Spelling::Underscore };
            let names = Names::new(&request(&list), spelling);
            let allowed = regex::Regex::new("^[A-Za-z0-9_-]{1,64}$").unwrap();
            for name in list {
                prop_assert!(allowed.is_match(names.wire(name)), "{}", names.wire(name));
                prop_assert_eq!(names.ours(names.wire(name)), name);
            }
        }
    }
}
