//! `list_files`: what is in a directory.

use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::paging::Page;
use super::{arguments, elsewhere, paths};
use crate::tool::{Tool, ToolContext, ToolOutput};

/// How many names of one directory are looked at.
const MAX_NAMES: usize = 100_000;

pub(super) const LIST_FILES: Tool = Tool {
    name: "list_files",
    kind: ToolKind::Read,
    description: "List the names in a directory, sorted; directories end with /.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<Args>,
    check: arguments::check::<Args>,
    run: |context, value| arguments::run_blocking(context, value, run),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory; the workspace by default.
    path: Option<String>,
    /// Names to skip.
    offset: Option<usize>,
    /// Names at most; 200 by default, never more.
    limit: Option<usize>,
}

fn run(context: &ToolContext, args: Args) -> Result<ToolOutput, String> {
    let asked = args.path.unwrap_or_else(|| ".".to_owned());
    let place = paths::resolve(context, &asked)?;
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("no such directory: {}", place.shown),
        std::io::ErrorKind::NotADirectory => format!("{} is not a directory", place.shown),
        _ => format!("cannot list {}: {error}", place.shown),
    };
    let mut names = match elsewhere::files(context) {
        Some(files) => elsewhere::names(files.as_ref(), &place)?,
        None => Vec::new(),
    };
    let here = context.files.is_none().then(|| std::fs::read_dir(&place.path)).transpose();
    for entry in here.map_err(failed)?.into_iter().flatten() {
        let entry = entry.map_err(failed)?;
        // A link to a directory is listed as one: that is how it can be used.
        let is_dir = std::fs::metadata(entry.path()).is_ok_and(|found| found.is_dir());
        let name = entry.file_name().to_string_lossy().into_owned();
        names.push(if is_dir { name + "/" } else { name });
        if names.len() > MAX_NAMES {
            return Err(format!("{} has more than {MAX_NAMES} names", place.shown));
        }
    }
    names.sort();
    let mut page = Page::new(args.offset, args.limit);
    for name in names {
        page.offer(|| name);
    }
    let limit = page.limit();
    let (text, mut data) = page
        .finish("list_files", |offset| json!({"path": asked, "offset": offset, "limit": limit}));
    data.insert("path".into(), place.shown.into());
    let text = if text.is_empty() { "[the directory is empty]".to_owned() } else { text };
    Ok(ToolOutput::new(text, Value::Object(data)))
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    #[tokio::test]
    async fn names_are_sorted_and_directories_marked() {
        let bench = Bench::new();
        bench.file("b.txt", "");
        bench.file("src/a.rs", "");
        bench.file(".hidden", "");
        let all = bench.run("list_files", json!({})).await;
        assert_eq!(all.text, ".hidden\nb.txt\nsrc/");
        assert_eq!(all.data["path"], ".");
        let page = bench.run("list_files", json!({"path": ".", "offset": 1, "limit": 1})).await;
        assert!(page.text.starts_with("b.txt\n[showing lines 2-2 of 3; next_offset=2]\n"));
        assert_eq!(page.data["continuation_args"], json!({"path": ".", "offset": 2, "limit": 1}));
        std::fs::create_dir(bench.root().join("void")).unwrap();
        let void = bench.run("list_files", json!({"path": "void"})).await;
        assert_eq!(void.text, "[the directory is empty]");
    }

    #[tokio::test]
    async fn what_cannot_be_listed_is_an_error() {
        let bench = Bench::new();
        bench.file("b.txt", "");
        for (path, why) in [
            ("b.txt", "b.txt is not a directory"),
            ("none", "no such directory: none"),
            ("/", "path is outside workspace: /"),
        ] {
            let output = bench.run("list_files", json!({"path": path})).await;
            assert_eq!((output.is_error, output.text.as_str()), (true, why));
        }
        let wrong = bench.run("list_files", json!({"path": 3})).await;
        assert!(wrong.text.starts_with("invalid tool call arguments: path: "), "{}", wrong.text);
    }
}
