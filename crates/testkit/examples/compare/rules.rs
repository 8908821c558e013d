//! Why 0.3.0 answers otherwise, as data: `tests/compare/ptywright.toml`.
//!
//! Two kinds of rows: members that differ wherever they are, and single steps of a vector. Each says what 0.3.0 does,
//! which ruling makes ours differ, and the reason.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// The ruling that a difference follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ruling {
    /// Ours cannot be made to do harm, or to fall over.
    Safer,
    /// Ours answers sooner, or while 0.3.0 is busy.
    Faster,
    /// Ours sends or accepts more; clients that do not use it do not notice.
    Addition,
    /// The description that Rookery follows says so.
    Seed,
    /// Ours does what was asked, 0.3.0 does less.
    Better,
    /// Not decided yet; this excuses nothing.
    Open,
}

impl Ruling {
    /// For people.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Ruling::Safer => "safer",
            Ruling::Faster => "faster",
            Ruling::Addition => "addition",
            Ruling::Seed => "the description rules",
            Ruling::Better => "does more of what was asked",
            Ruling::Open => "**open**",
        }
    }
}

/// What a row says, whatever its kind.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Words {
    /// What 0.3.0 does.
    pub(crate) ptywright: String,
    /// What Rookery does.
    pub(crate) rookery: String,
    /// Which ruling makes it so.
    pub(crate) ruling: Ruling,
    /// Why.
    pub(crate) reason: String,
}

/// Members that differ in every reply, or in every reply to a request with one of these params.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct MemberRow {
    pub(crate) members: Vec<String>,
    /// Only where the request has this param.
    pub(crate) asked: Option<String>,
    /// Only in replies to this method.
    pub(crate) method: Option<String>,
    #[serde(flatten)]
    pub(crate) words: Words,
}

impl MemberRow {
    /// Whether it is about replies to this request.
    pub(crate) fn is_about(&self, request: Option<&Value>) -> bool {
        let params = request.and_then(|request| request.get("params"));
        let has = |name: &String| params.is_some_and(|params| params.get(name).is_some());
        let method = request.and_then(|request| request.get("method")?.as_str());
        self.asked.as_ref().is_none_or(has)
            && self.method.as_ref().is_none_or(|name| method == Some(name))
    }
}

/// Steps of one vector.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    vector: String,
    /// Ids of the replies, as JSON.
    #[serde(default)]
    ids: Vec<Value>,
    /// Lines, for messages without an id.
    #[serde(default)]
    lines: Vec<usize>,
    /// Whether everything after it in this vector follows from it.
    #[serde(default)]
    rest: bool,
    /// Whether these requests are to be made in conversations of their own, since 0.3.0 is another one after them.
    #[serde(default)]
    apart: bool,
}

/// Single steps that differ.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StepRow {
    at: Vec<Place>,
    #[serde(flatten)]
    pub(crate) words: Words,
}

/// All rows.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rules {
    #[serde(default, rename = "member")]
    pub(crate) members: Vec<MemberRow>,
    #[serde(default, rename = "step")]
    pub(crate) steps: Vec<StepRow>,
}

/// A step row, one of its places, and one of the steps there: (row, place, step).
pub(crate) type At = (usize, usize, usize);

impl Rules {
    /// Reads the file.
    pub(crate) fn read(path: &Path) -> Result<Rules, String> {
        let at = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| at(&error))?;
        toml::from_str(&text).map_err(|error| at(&error))
    }

    /// Ids of the requests of a vector that are made in conversations of their own.
    pub(crate) fn apart(&self, vector: &str) -> Vec<String> {
        let places = self.steps.iter().flat_map(|row| &row.at);
        let apart = places.filter(|place| place.apart && place.vector == vector);
        apart.flat_map(|place| place.ids.iter().map(Value::to_string)).collect()
    }

    /// The row for a step, and whether it covers the rest of the vector.
    pub(crate) fn step(&self, vector: &str, line: usize, id: Option<&str>) -> Option<(At, bool)> {
        for (row, StepRow { at, .. }) in self.steps.iter().enumerate() {
            for (place, here) in at.iter().enumerate().filter(|(_, here)| here.vector == vector) {
                let by_id = here.ids.iter().position(|own| Some(own.to_string().as_str()) == id);
                let by_line = || here.lines.iter().position(|own| *own == line);
                let found = by_id.or_else(|| Some(here.ids.len() + by_line()?));
                if let Some(step) = found {
                    return Some(((row, place, step), here.rest));
                }
            }
        }
        None
    }
}

/// How often each row was needed.
pub(crate) struct Explained {
    members: Vec<usize>,
    steps: BTreeMap<At, usize>,
}

impl Explained {
    /// Nothing yet.
    pub(crate) fn of(rules: &Rules) -> Explained {
        Explained { members: vec![0; rules.members.len()], steps: BTreeMap::new() }
    }

    /// A reply meets the vector but for the members of this row.
    pub(crate) fn note_member(&mut self, row: usize) {
        self.members[row] += 1;
    }

    /// A step differs, and this row says why.
    pub(crate) fn note_step(&mut self, at: At) {
        *self.steps.entry(at).or_default() += 1;
    }

    /// How many differences were explained.
    pub(crate) fn count(&self) -> usize {
        self.members.iter().chain(self.steps.values()).sum()
    }

    /// How many replies differ by the members of this row.
    pub(crate) fn by_member(&self, row: usize) -> usize {
        self.members[row]
    }

    /// How many steps differ by this row.
    pub(crate) fn by_step(&self, row: usize) -> usize {
        self.steps.iter().filter(|((own, ..), _)| *own == row).map(|(_, count)| count).sum()
    }

    /// Rows, and single steps of rows, that were not needed.
    pub(crate) fn unused(&self, rules: &Rules) -> Vec<String> {
        let members = rules.members.iter().enumerate().filter(|(row, _)| self.members[*row] == 0);
        let mut unused: Vec<String> =
            members.map(|(_, row)| format!("members {}", row.members.join(", "))).collect();
        for (row, step) in rules.steps.iter().enumerate() {
            for (place, here) in step.at.iter().enumerate() {
                let names = here.ids.iter().map(|id| format!("id {id}"));
                let names = names.chain(here.lines.iter().map(|line| format!("line {line}")));
                let gone = names
                    .enumerate()
                    .filter(|(index, _)| !self.steps.contains_key(&(row, place, *index)));
                unused.extend(gone.map(|(_, name)| format!("{}.jsonl, {name}", here.vector)));
            }
        }
        unused
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = r#"
        [[member]]
        members = ["cells"]
        asked = "cells"
        ptywright = "always sends them"
        rookery = "leaves them out if asked to"
        ruling = "addition"
        reason = "smaller"

        [[step]]
        at = [{ vector = "a", ids = [1, "x"], lines = [9] }]
        ptywright = "p"
        rookery = "r"
        ruling = "seed"
        reason = "why"
    "#;

    #[test]
    fn rows_are_found_by_id_and_line_and_unused_ones_are_named() {
        let rules: Rules = toml::from_str(TEXT).unwrap();
        let mut explained = Explained::of(&rules);
        assert_eq!(rules.step("b", 9, Some("1")), None);
        for (line, id) in [(3, Some("1")), (9, None)] {
            explained.note_step(rules.step("a", line, id).unwrap().0);
        }
        explained.note_member(0);
        assert_eq!(explained.unused(&rules), ["a.jsonl, id \"x\""]);
        assert_eq!((explained.count(), explained.by_step(0)), (3, 2));
    }

    #[test]
    fn members_are_left_out_only_where_they_were_asked_for() {
        let rules: Rules = toml::from_str(TEXT).unwrap();
        let row = &rules.members[0];
        assert!(row.is_about(Some(&json!({"method": "m", "params": {"cells": false}}))));
        assert!(!row.is_about(Some(&json!({"method": "m"}))));
        assert!(!row.is_about(None));
    }
}
