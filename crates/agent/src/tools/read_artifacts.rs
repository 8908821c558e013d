//! `read_artifact`, `grep_artifact` and `tail_artifact`: long outputs of earlier calls, in parts.

use std::num::NonZeroUsize;

use grep_regex::RegexMatcherBuilder;
use grep_searcher::SearcherBuilder;
use grep_searcher::sinks::Lossy;
use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::paging::{PAGE_LINES, Page, cut};
use super::{arguments, artifacts};
use crate::tool::{Tool, ToolContext, ToolOutput};

/// How much is shown at once, so that reading an artifact never makes another one.
const ROOM: usize = 18_000;
/// How much of a matching line is shown, in characters.
const MAX_LINE: usize = 1000;

pub(super) const READ_ARTIFACT: Tool = Tool {
    name: "read_artifact",
    kind: ToolKind::Read,
    description: "Read numbered lines of a long output that was kept as an artifact.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<ReadArgs>,
    check: arguments::check::<ReadArgs>,
    run: |context, value| arguments::run_blocking(context, value, read),
};

pub(super) const GREP_ARTIFACT: Tool = Tool {
    name: "grep_artifact",
    kind: ToolKind::Read,
    description: "Find lines of an artifact by a regular expression. Gives line:text.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<GrepArgs>,
    check: arguments::check::<GrepArgs>,
    run: |context, value| arguments::run_blocking(context, value, grep),
};

pub(super) const TAIL_ARTIFACT: Tool = Tool {
    name: "tail_artifact",
    kind: ToolKind::Read,
    description: "Read the last lines of an artifact.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<TailArgs>,
    check: arguments::check::<TailArgs>,
    run: |context, value| arguments::run_blocking(context, value, tail),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadArgs {
    artifact_id: String,
    /// First line, from 1.
    start_line: Option<NonZeroUsize>,
    /// Lines at most; 200 by default, never more.
    limit: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GrepArgs {
    artifact_id: String,
    query: String,
    /// Matches to skip.
    offset: Option<usize>,
    /// Matches at most; 200 by default, never more.
    limit: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TailArgs {
    artifact_id: String,
    /// 200 by default, never more.
    lines: Option<usize>,
}

fn read(context: &ToolContext, args: ReadArgs) -> Result<ToolOutput, String> {
    let text = artifacts::load(context, &args.artifact_id)?;
    let start_line = args.start_line.map_or(1, NonZeroUsize::get);
    Ok(numbered(&text, &args.artifact_id, start_line, args.limit))
}

fn tail(context: &ToolContext, args: TailArgs) -> Result<ToolOutput, String> {
    let text = artifacts::load(context, &args.artifact_id)?;
    let wanted = args.lines.unwrap_or(PAGE_LINES).clamp(1, PAGE_LINES);
    // Those that fit, counted from the end: the last line is what is asked for.
    let mut room = ROOM;
    let fits = |line: &&str| {
        let size = line.chars().count() + 8;
        room = room.saturating_sub(size);
        room > 0
    };
    let count = text.lines().rev().take(wanted).take_while(fits).count().max(1);
    let start_line = text.lines().count().saturating_sub(count) + 1;
    Ok(numbered(&text, &args.artifact_id, start_line, Some(count)))
}

fn numbered(text: &str, id: &str, start_line: usize, limit: Option<usize>) -> ToolOutput {
    let mut page = Page::new(Some(start_line - 1), limit).within(ROOM);
    for (index, line) in text.lines().enumerate() {
        page.offer(|| format!("{:>5}: {line}", index + 1));
    }
    let (limit, next_line) = (page.limit(), page.next_offset().map(|offset| offset + 1));
    let (text, mut data) = page.finish(
        "read_artifact",
        |offset| json!({"artifact_id": id, "start_line": offset + 1, "limit": limit}),
    );
    data.insert("artifact_id".into(), id.into());
    data.insert("start_line".into(), start_line.into());
    data.insert("next_start_line".into(), next_line.into());
    ToolOutput::new(text, Value::Object(data))
}

fn grep(context: &ToolContext, args: GrepArgs) -> Result<ToolOutput, String> {
    if args.query.is_empty() {
        return Err(arguments::invalid("query", "must not be empty"));
    }
    let matcher = RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .build(&args.query)
        .map_err(|error| format!("invalid regex: {error}"))?;
    let text = artifacts::load(context, &args.artifact_id)?;
    let mut page = Page::new(args.offset, args.limit).within(ROOM);
    let sink = Lossy(|number, line| {
        page.offer(|| format!("{number}:{}", cut(line.trim_end_matches(['\n', '\r']), MAX_LINE)));
        Ok(true)
    });
    SearcherBuilder::new()
        .line_number(true)
        .build()
        .search_slice(&matcher, text.as_bytes(), sink)
        .map_err(|error| format!("cannot search {}: {error}", args.artifact_id))?;
    let (total, limit) = (page.total(), page.limit());
    let (text, mut data) = page.finish("grep_artifact", |offset| {
        json!({"artifact_id": args.artifact_id, "query": args.query, "offset": offset, "limit": limit})
    });
    data.insert("matches".into(), total.into());
    let none = || format!("no matches for {:?} in {}", args.query, args.artifact_id);
    let text = if total == 0 { none() } else { text };
    data.insert("artifact_id".into(), args.artifact_id.into());
    data.insert("query".into(), args.query.into());
    Ok(ToolOutput::new(text, Value::Object(data)))
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    async fn kept(bench: &Bench, text: String) -> String {
        let output = artifacts::finish(&bench.context(), ToolOutput::new(text, Value::Null)).await;
        output.data["artifact"]["id"].as_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn parts_of_an_artifact_are_read_searched_and_tailed() {
        let bench = Bench::new();
        let text = (1..=500).map(|number| format!("line {number}\n")).collect();
        let id = kept(&bench, text).await;
        let page = json!({"artifact_id": id, "start_line": 10, "limit": 2});
        let read = bench.run("read_artifact", page).await;
        assert!(
            read.text.starts_with("   10: line 10\n   11: line 11\n[showing lines 10-11 of 500")
        );
        assert_eq!(
            (&read.data["next_start_line"], &read.data["truncated"]),
            (&json!(12), &json!(true))
        );
        let grep =
            bench.run("grep_artifact", json!({"artifact_id": id, "query": "line 17$"})).await;
        assert_eq!(grep.text, "17:line 17");
        let many = bench.run("grep_artifact", json!({"artifact_id": id, "query": "line"})).await;
        assert_eq!((&many.data["matches"], &many.data["next_offset"]), (&json!(500), &json!(200)));
        let tail = bench.run("tail_artifact", json!({"artifact_id": id, "lines": 2})).await;
        assert_eq!(tail.text, "  499: line 499\n  500: line 500");
        let none = bench.run("grep_artifact", json!({"artifact_id": id, "query": "zz"})).await;
        assert_eq!((none.is_error, none.text), (false, format!("no matches for \"zz\" in {id}")));
    }

    #[tokio::test]
    async fn reading_an_artifact_never_makes_another_one() {
        let bench = Bench::new();
        let id = kept(&bench, format!("{}\n", "x".repeat(900)).repeat(300)).await;
        for (tool, arguments) in [
            ("read_artifact", json!({"artifact_id": id})),
            ("tail_artifact", json!({"artifact_id": id})),
            ("grep_artifact", json!({"artifact_id": id, "query": "x"})),
        ] {
            let output = bench.run(tool, arguments).await;
            let finished = artifacts::finish(&bench.context(), output.clone()).await;
            assert_eq!(finished, output, "{tool}");
        }
        let tail = bench.run("tail_artifact", json!({"artifact_id": id})).await;
        assert!(tail.text.contains("  300: xxx") && tail.data["truncated"] == false);
    }

    #[tokio::test]
    async fn unknown_artifacts_and_bad_arguments_are_errors() {
        let bench = Bench::new();
        for (tool, arguments, why) in [
            ("read_artifact", json!({"artifact_id": "x"}), "no such artifact: x"),
            ("tail_artifact", json!({"artifact_id": "x"}), "no such artifact: x"),
            ("grep_artifact", json!({"artifact_id": "x", "query": "("}), "invalid regex: "),
            ("grep_artifact", json!({"artifact_id": "x"}), "invalid tool call arguments: "),
            ("read_artifact", json!({}), "invalid tool call arguments: "),
        ] {
            let output = bench.run(tool, arguments).await;
            assert!(output.is_error && output.text.starts_with(why), "{}", output.text);
        }
    }
}
