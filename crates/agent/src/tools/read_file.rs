//! `read_file`: numbered lines of a text file.

use std::num::NonZeroUsize;

use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::paging::{Page, ResponseFormat};
use super::{arguments, paths};
use crate::tool::{Tool, ToolContext, ToolOutput};

pub(super) const READ_FILE: Tool = Tool {
    name: "read_file",
    kind: ToolKind::Read,
    description: "Read a text file as numbered lines, a page at a time. \
                  Paths are relative to the workspace; ~/, user:// and workspace:// work too.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<Args>,
    check: arguments::check::<Args>,
    run: |context, value| arguments::run_blocking(context, value, run),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    /// First line, from 1.
    start_line: Option<NonZeroUsize>,
    /// Lines at most; 200 by default, never more.
    limit: Option<usize>,
    /// concise cuts long lines (default), detailed does not.
    response_format: Option<ResponseFormat>,
}

fn run(context: &ToolContext, args: Args) -> Result<ToolOutput, String> {
    let place = paths::resolve(context, &args.path)?;
    let text = paths::read_text_lossy(context, &place)?;
    let format = args.response_format.unwrap_or_default();
    let start_line = args.start_line.map_or(1, NonZeroUsize::get);
    let mut page = Page::new(Some(start_line - 1), args.limit);
    for (index, line) in text.lines().enumerate() {
        page.offer(|| format!("{:>5}: {}", index + 1, format.line(line)));
    }
    let limit = page.limit();
    let next_line = page.next_offset().map(|offset| offset + 1);
    let (path, name) = (args.path, format.name());
    let (text, mut data) = page.finish("read_file", |offset| {
        json!({"path": path, "start_line": offset + 1, "limit": limit, "response_format": name})
    });
    data.insert("path".into(), place.shown.into());
    data.insert("start_line".into(), start_line.into());
    data.insert("next_start_line".into(), next_line.into());
    data.insert("response_format".into(), name.into());
    let text = if text.is_empty() { "[the file is empty]".to_owned() } else { text };
    Ok(ToolOutput::new(text, Value::Object(data)))
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    #[tokio::test]
    async fn lines_are_numbered_and_paged() {
        let bench = Bench::new();
        let text: String = (1..=450).map(|number| format!("line {number}\n")).collect();
        bench.file("src/big.txt", &text);
        let first = bench.run("read_file", json!({"path": "src/big.txt"})).await;
        assert!(first.text.starts_with("    1: line 1\n    2: line 2\n"), "{}", first.text);
        assert!(
            first
                .text
                .contains("\n  200: line 200\n[showing lines 1-200 of 450; next_offset=200]\n")
        );
        assert_eq!(
            (&first.data["path"], &first.data["start_line"]),
            (&json!("src/big.txt"), &json!(1))
        );
        assert_eq!(
            (&first.data["next_start_line"], &first.data["total_lines"]),
            (&json!(201), &json!(450))
        );
        let again = first.data["continuation_args"].clone();
        let second = bench.run("read_file", again).await;
        assert!(second.text.starts_with("  201: line 201\n"));
        let last = bench.run("read_file", json!({"path": "src/big.txt", "start_line": 450})).await;
        assert_eq!(last.text, "  450: line 450");
        assert_eq!(last.data["next_start_line"], Value::Null);
        assert_eq!(last.data["truncated"], false);
        assert!(!last.is_error);
    }

    #[tokio::test]
    async fn long_lines_are_cut_unless_details_are_wanted() {
        let bench = Bench::new();
        bench.file("long", &"x".repeat(1000));
        let concise = bench.run("read_file", json!({"path": "long"})).await;
        assert_eq!(concise.text, format!("    1: {}...", "x".repeat(297)));
        let detailed = json!({"path": "long", "response_format": "detailed"});
        assert_eq!(bench.run("read_file", detailed).await.text.len(), 1007);
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_an_error() {
        let bench = Bench::new();
        bench.file("empty", "");
        std::fs::write(bench.root().join("binary"), b"a\0b").unwrap();
        assert_eq!(
            bench.run("read_file", json!({"path": "empty"})).await.text,
            "[the file is empty]"
        );
        for (arguments, why) in [
            (json!({"path": "none"}), "no such file: none"),
            (json!({"path": "."}), ". is a directory"),
            (json!({"path": "binary"}), "binary is a binary file"),
            (json!({"path": "../x"}), "path is outside workspace: ../x"),
            (
                json!({"path": "empty", "start_line": 0}),
                "invalid tool call arguments: start_line: ",
            ),
            (json!({"path": "empty", "what": 1}), "invalid tool call arguments: "),
            (json!({}), "invalid tool call arguments: missing field `path`"),
        ] {
            let output = bench.run("read_file", arguments).await;
            assert!(output.is_error && output.text.starts_with(why), "{why}: {}", output.text);
        }
    }
}
