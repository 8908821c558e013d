//! `glob`: files by the shape of their paths.

use globset::GlobBuilder;
use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::paging::Page;
use super::{arguments, paths, walk};
use crate::tool::{Tool, ToolContext, ToolOutput};

pub(super) const GLOB: Tool = Tool {
    name: "glob",
    kind: ToolKind::Read,
    description: "Find files by a pattern of *, ?, [], {a,b} and **, such as src/**/*.rs. \
                  Respects ignore files.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<Args>,
    check: arguments::check::<Args>,
    run: |context, value| arguments::run_blocking(context, value, run),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    pattern: String,
    /// Paths to skip.
    offset: Option<usize>,
    /// Paths at most; 200 by default, never more.
    limit: Option<usize>,
}

fn run(context: &ToolContext, args: Args) -> Result<ToolOutput, String> {
    arguments::not_blank("pattern", &args.pattern)?;
    let (base, rest) = split(&args.pattern);
    let place = paths::resolve(context, base)?;
    let matcher = GlobBuilder::new(rest)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("invalid pattern: {error}"))?
        .compile_matcher();
    let mut paths = Vec::new();
    let mut considered = 0_usize;
    for file in walk::files(context, &place.path)? {
        if context.cancel.is_cancelled() {
            return Err("the search was cancelled".into());
        }
        considered += 1;
        if file.strip_prefix(&place.path).is_ok_and(|below| matcher.is_match(below)) {
            paths.push(paths::shown_below(&place, &file));
        }
    }
    paths.sort();
    let mut page = Page::new(args.offset, args.limit);
    for path in paths {
        page.offer(|| path);
    }
    let (total, limit) = (page.total(), page.limit());
    let pattern = args.pattern;
    let (text, mut data) =
        page.finish("glob", |offset| json!({"pattern": pattern, "offset": offset, "limit": limit}));
    data.insert("files_considered".into(), considered.into());
    let none = || format!("no files match {pattern:?} ({considered} files considered)");
    let text = if total == 0 { none() } else { text };
    data.insert("pattern".into(), pattern.into());
    Ok(ToolOutput::new(text, Value::Object(data)))
}

/// The directory that a pattern names without doubt, and the pattern below it.
pub(super) fn split(pattern: &str) -> (&str, &str) {
    let is_open = |part: &str| part.contains(['*', '?', '[', ']', '{', '}', '\\']);
    let mut end = 0;
    for (at, _) in pattern.match_indices('/') {
        if is_open(&pattern[end..at]) {
            break;
        }
        end = at + 1;
    }
    match &pattern[..end] {
        "" => (".", pattern),
        base => (base, &pattern[end..]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    #[test]
    fn the_plain_beginning_of_a_pattern_is_its_base() {
        assert_eq!(split("*.rs"), (".", "*.rs"));
        assert_eq!(split("src/**/*.rs"), ("src/", "**/*.rs"));
        assert_eq!(split("src/a.rs"), ("src/", "a.rs"));
        assert_eq!(split("/etc/*"), ("/etc/", "*"));
        assert_eq!(split("workspace://src/*"), ("workspace://src/", "*"));
        assert_eq!(split("{a/b,c}/d"), (".", "{a/b,c}/d"));
    }

    #[tokio::test]
    async fn files_are_found_by_shape() {
        let bench = Bench::new();
        for name in ["a.rs", "b.txt", "src/c.rs", "src/deep/d.rs", "src/e1.md", "target/f.rs"] {
            bench.file(name, "");
        }
        std::fs::create_dir(bench.root().join("empty.rs")).unwrap();
        for (pattern, expected) in [
            ("*.rs", "a.rs"),
            ("**/*.rs", "a.rs\nsrc/c.rs\nsrc/deep/d.rs"),
            ("src/*.{rs,md}", "src/c.rs\nsrc/e1.md"),
            ("src/**", "src/c.rs\nsrc/deep/d.rs\nsrc/e1.md"),
            ("src/e[0-9].m?", "src/e1.md"),
            ("workspace://src/c.rs", "src/c.rs"),
            ("*.zip", "no files match \"*.zip\" (5 files considered)"),
        ] {
            let output = bench.run("glob", json!({"pattern": pattern})).await;
            assert_eq!((output.is_error, output.text.as_str()), (false, expected), "{pattern}");
        }
        let page = bench.run("glob", json!({"pattern": "**/*.rs", "limit": 2})).await;
        assert!(page.text.contains("[showing lines 1-2 of 3; next_offset=2]"));
        assert_eq!(page.data["files_considered"], 5);
        let rest = bench.run("glob", page.data["continuation_args"].clone()).await;
        assert_eq!(rest.text, "src/deep/d.rs");
    }

    #[tokio::test]
    async fn bad_patterns_are_errors() {
        let bench = Bench::new();
        for (pattern, why) in [
            ("a[", "invalid pattern: "),
            ("../*", "path is outside workspace: ../"),
            ("/etc/*", "path is outside workspace: /etc/"),
            (" ", "invalid tool call arguments: pattern: must not be blank"),
        ] {
            let output = bench.run("glob", json!({"pattern": pattern})).await;
            assert!(output.is_error && output.text.starts_with(why), "{}", output.text);
        }
    }
}
