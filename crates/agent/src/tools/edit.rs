//! `edit` and `multi_edit`: replace texts that occur exactly once.

use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::planned::{Planned, Touched, shown as shown_edits};
use super::writing::{self, Change};
use super::{arguments, paths};
use crate::tool::{Tool, ToolContext, ToolOutput};

pub(super) const EDIT: Tool = Tool {
    name: "edit",
    kind: ToolKind::Write,
    description: "Replace a text in a file. old_string must occur exactly once.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<EditArgs>,
    check: arguments::check::<EditArgs>,
    run: |context, value| arguments::run_blocking(context, value, edit),
};

pub(super) const MULTI_EDIT: Tool = Tool {
    name: "multi_edit",
    kind: ToolKind::Write,
    description: "Make several edits to one file in order, all or none. \
                  Each old_string must occur exactly once when its turn comes.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<MultiEditArgs>,
    check: arguments::check::<MultiEditArgs>,
    run: |context, value| arguments::run_blocking(context, value, multi_edit),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditArgs {
    path: String,
    old_string: String,
    new_string: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MultiEditArgs {
    path: String,
    edits: Vec<Replacement>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Replacement {
    old_string: String,
    new_string: String,
}

impl From<EditArgs> for MultiEditArgs {
    fn from(args: EditArgs) -> Self {
        let (old_string, new_string) = (args.old_string, args.new_string);
        Self { path: args.path, edits: vec![Replacement { old_string, new_string }] }
    }
}

/// The error of one edit.
type Complain = fn(usize, String) -> String;

/// There is only one, so its number would say nothing.
const ALONE: Complain = |_, why| why;
const AMONG: Complain = |index, why| format!("edit {index}: {why}");

fn edit(context: &ToolContext, args: EditArgs) -> Result<ToolOutput, String> {
    apply(context, &args.into(), ALONE)
}

fn multi_edit(context: &ToolContext, args: MultiEditArgs) -> Result<ToolOutput, String> {
    apply(context, &args, AMONG)
}

/// What a call of `edit` would change.
pub(super) fn preview_edit(context: &ToolContext, arguments: Value) -> Result<String, String> {
    let args: EditArgs = arguments::decode(arguments)?;
    Ok(planned(context, &args.into(), ALONE)?.diff())
}

/// What a call of `multi_edit` would change.
pub(super) fn preview_multi_edit(
    context: &ToolContext,
    arguments: Value,
) -> Result<String, String> {
    Ok(planned(context, &arguments::decode(arguments)?, AMONG)?.diff())
}

fn planned(
    context: &ToolContext,
    args: &MultiEditArgs,
    complain: Complain,
) -> Result<Planned, String> {
    if args.edits.is_empty() {
        return Err(arguments::invalid("edits", "must not be empty"));
    }
    let place = paths::resolve(context, &args.path)?;
    let old = paths::read_text(context, &place)?;
    let mut new = old.clone();
    for (index, edit) in args.edits.iter().enumerate() {
        new = replaced(&new, edit).map_err(|why| complain(index, why))?;
    }
    let content = Some(new.clone().into_bytes());
    let (old, new) = (Some(old), Some(new));
    Ok(Planned {
        changes: vec![Change { path: place.path, content, mode: None }],
        files: vec![Touched {
            path: place.shown,
            old_path: None,
            old,
            new,
            was_binary: false,
            mode: None,
        }],
    })
}

fn apply(
    context: &ToolContext,
    args: &MultiEditArgs,
    complain: Complain,
) -> Result<ToolOutput, String> {
    let _alone = writing::exclusive(context, std::slice::from_ref(&args.path));
    let planned = planned(context, args, complain)?;
    planned.commit(context)?;
    let shown = planned.files.first().map(|file| file.path.clone()).unwrap_or_default();
    let replacements = args.edits.len();
    let edits = planned.edits();
    let hunks = shown_edits(&edits);
    let data = json!({"path": shown, "replacements": replacements, "hunks": hunks});
    Ok(ToolOutput { edits, ..ToolOutput::new(format!("edited {shown}"), data) })
}

fn replaced(text: &str, edit: &Replacement) -> Result<String, String> {
    if edit.old_string.is_empty() {
        return Err("old_string must not be empty".into());
    }
    if edit.old_string == edit.new_string {
        return Err("old_string and new_string are the same".into());
    }
    match occurrences(text, &edit.old_string) {
        0 => Err("old_string does not match file".into()),
        1 => Ok(text.replacen(&edit.old_string, &edit.new_string, 1)),
        count => Err(format!("old_string matches {count} times; it must match exactly once")),
    }
}

/// How often a text occurs; those that overlap count as well, since each could be meant.
fn occurrences(text: &str, part: &str) -> usize {
    let step = part.chars().next().map_or(1, char::len_utf8);
    let mut count = 0;
    let mut from = 0;
    while let Some(at) = text[from..].find(part) {
        count += 1;
        from += at + step;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    fn arguments(old: &str, new: &str) -> Value {
        json!({"path": "a.txt", "old_string": old, "new_string": new})
    }

    #[tokio::test]
    async fn one_match_is_replaced() {
        let bench = Bench::new();
        bench.file("a.txt", "one\ntwo\nthree\r\nfour");
        let output = bench.run("edit", arguments("two\nthr", "2\n3")).await;
        assert_eq!((output.is_error, output.text.as_str()), (false, "edited a.txt"));
        assert_eq!(bench.read("a.txt"), "one\n2\n3ee\r\nfour");
        assert_eq!(
            (&output.data["replacements"], &output.data["path"]),
            (&json!(1), &json!("a.txt"))
        );
        assert_eq!(output.data["hunks"][0]["oldLines"], 4);
    }

    #[tokio::test]
    async fn none_or_many_matches_change_nothing() {
        let bench = Bench::new();
        bench.file("a.txt", "aaa b b");
        for (old, new, why) in [
            ("x", "y", "old_string does not match file"),
            ("b", "y", "old_string matches 2 times; it must match exactly once"),
            ("aa", "y", "old_string matches 2 times; it must match exactly once"),
            ("", "y", "old_string must not be empty"),
            ("b b", "b b", "old_string and new_string are the same"),
        ] {
            let output = bench.run("edit", arguments(old, new)).await;
            assert_eq!((output.is_error, output.text.as_str()), (true, why));
        }
        assert_eq!(bench.read("a.txt"), "aaa b b");
        let none =
            bench.run("edit", json!({"path": "none", "old_string": "a", "new_string": "b"})).await;
        assert_eq!(none.text, "no such file: none");
        let wrong = bench.run("edit", json!({"path": "a.txt", "old_string": "a"})).await;
        assert_eq!(wrong.text, "invalid tool call arguments: missing field `new_string`");
    }

    #[tokio::test]
    async fn several_edits_are_made_in_order_or_not_at_all() {
        let bench = Bench::new();
        bench.file("a.txt", "one two");
        let edit = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
        let edits =
            json!({"path": "a.txt", "edits": [edit("one", "three"), edit("three two", "done")]});
        let output = bench.run("multi_edit", edits).await;
        assert_eq!((output.is_error, output.text.as_str()), (false, "edited a.txt"));
        assert_eq!(
            (bench.read("a.txt").as_str(), &output.data["replacements"]),
            ("done", &json!(2))
        );
        let edits = json!({"path": "a.txt", "edits": [edit("done", "x"), edit("done", "y")]});
        let output = bench.run("multi_edit", edits).await;
        assert_eq!(output.text, "edit 1: old_string does not match file");
        assert!(output.is_error);
        assert_eq!(bench.read("a.txt"), "done");
        let output = bench.run("multi_edit", json!({"path": "a.txt", "edits": []})).await;
        assert!(output.text.starts_with("invalid tool call arguments: edits: "));
        let odd = json!({"path": "a.txt", "edits": [{"old_string": "a", "new_string": "b", "all": true}]});
        assert!(bench.run("multi_edit", odd).await.text.contains("edits[0]"));
    }
}
