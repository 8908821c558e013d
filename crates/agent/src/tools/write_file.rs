//! `write_file`: makes a file, or replaces all that is in it.

use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::planned::{Planned, Touched, shown as shown_edits};
use super::writing::{self, Change};
use super::{arguments, paths};
use crate::tool::{Tool, ToolContext, ToolOutput};

pub(super) const WRITE_FILE: Tool = Tool {
    name: "write_file",
    kind: ToolKind::Write,
    description: "Create a file, or replace its whole content. Makes missing directories.",
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
    content: String,
}

fn planned(context: &ToolContext, args: &Args) -> Result<Planned, String> {
    let place = paths::resolve(context, &args.path)?;
    let exists = paths::exists(context, &place)?;
    let old = exists.then(|| paths::read_text(context, &place));
    let was_binary = matches!(old, Some(Err(_)));
    let old = old.map(Result::unwrap_or_default);
    let content = Some(args.content.as_bytes().to_vec());
    let new = Some(args.content.clone());
    Ok(Planned {
        changes: vec![Change { path: place.path, content, mode: None }],
        files: vec![Touched {
            path: place.shown,
            old_path: None,
            old,
            new,
            was_binary,
            mode: None,
        }],
    })
}

/// What a call would change.
pub(super) fn preview(context: &ToolContext, arguments: Value) -> Result<String, String> {
    Ok(planned(context, &arguments::decode(arguments)?)?.diff())
}

fn run(context: &ToolContext, args: Args) -> Result<ToolOutput, String> {
    let _alone = writing::exclusive(context, std::slice::from_ref(&args.path));
    let planned = planned(context, &args)?;
    let shown = planned.files.first().map(|file| file.path.clone()).unwrap_or_default();
    planned.commit(context)?;
    let created = planned.files.iter().all(|file| file.old.is_none());
    let edits = planned.edits();
    let data = json!({
        "path": shown,
        "bytes": args.content.len(),
        "created": created,
        "hunks": shown_edits(&edits),
    });
    Ok(ToolOutput { edits, ..ToolOutput::new(format!("wrote {shown}"), data) })
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    #[tokio::test]
    async fn files_are_made_and_replaced() {
        let bench = Bench::new();
        let made = bench.run("write_file", json!({"path": "a/b/c.txt", "content": "one\n"})).await;
        assert_eq!(made.text, "wrote a/b/c.txt");
        assert_eq!(
            (&made.data["created"], &made.data["hunks"][0]["fileOp"]),
            (&json!(true), &json!("create"))
        );
        let arguments = json!({"path": "workspace://a/b/c.txt", "content": "two\n"});
        let replaced = bench.run("write_file", arguments).await;
        assert_eq!(replaced.data["hunks"][0]["fileOp"], "modify");
        assert_eq!(replaced.data["hunks"][0]["diff"].as_array().unwrap().len(), 2);
        assert_eq!(bench.read("a/b/c.txt"), "two\n");
        assert_eq!(bench.names(), ["a", "a/b", "a/b/c.txt"]);
    }

    #[tokio::test]
    async fn what_was_no_text_cannot_be_brought_back() {
        let bench = Bench::new();
        std::fs::write(bench.root().join("x"), b"\xff\xfe").unwrap();
        let output = bench.run("write_file", json!({"path": "x", "content": "text\n"})).await;
        assert_eq!(output.data["hunks"][0]["fileOp"], "modify");
        assert_eq!(output.data["hunks"][0]["reversePatch"], Value::Null);
        assert_eq!(bench.read("x"), "text\n");
    }

    #[tokio::test]
    async fn a_link_stays_and_its_target_is_written() {
        let bench = Bench::new();
        bench.file("real.txt", "old");
        std::os::unix::fs::symlink("real.txt", bench.root().join("link")).unwrap();
        let output = bench.run("write_file", json!({"path": "link", "content": "new"})).await;
        assert_eq!(output.text, "wrote real.txt");
        assert_eq!(bench.read("real.txt"), "new");
        assert!(bench.root().join("link").is_symlink());
    }

    #[tokio::test]
    async fn nothing_is_written_outside_or_over_directories() {
        let bench = Bench::new();
        bench.file("dir/x", "");
        std::os::unix::fs::symlink("/tmp", bench.root().join("out")).unwrap();
        for (path, why) in [
            ("../x", "path is outside workspace: ../x"),
            ("out/x", "path is outside workspace: out/x"),
            ("~/x", "path is outside workspace: ~/x"),
        ] {
            let output = bench.run("write_file", json!({"path": path, "content": ""})).await;
            assert_eq!((output.is_error, output.text.as_str()), (true, why));
        }
        let output = bench.run("write_file", json!({"path": "dir", "content": ""})).await;
        assert!(output.is_error && output.text.ends_with("it is not a regular file"));
        let output = bench.run("write_file", json!({"path": "x"})).await;
        assert_eq!(output.text, "invalid tool call arguments: missing field `content`");
    }
}
