//! `grep`: lines of files that match.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{Searcher, SearcherBuilder};
use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::paging::{Page, cut};
use super::{arguments, paths, walk};
use crate::tool::{Tool, ToolContext, ToolOutput};

/// Larger files are not searched.
const MAX_FILE: u64 = 2 << 20;
/// How much of a matching line is shown, in characters.
const MAX_LINE: usize = 1000;

pub(super) const GREP: Tool = Tool {
    name: "grep",
    kind: ToolKind::Read,
    description: "Search files for a regular expression (or literal text with regex=false). \
                  Gives path:line:text. Respects ignore files; skips binaries and large files.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<Args>,
    check: arguments::check::<Args>,
    run: |context, value| arguments::run_blocking(context, value, run),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    query: String,
    /// File or directory; the workspace by default.
    path: Option<String>,
    /// Default true.
    regex: Option<bool>,
    /// Default true.
    case_sensitive: Option<bool>,
    /// Match whole words only.
    word_boundary: Option<bool>,
    mode: Option<SearchMode>,
    /// Matches to skip.
    offset: Option<usize>,
    /// Matches at most; 200 by default, never more.
    limit: Option<usize>,
}

/// How to search. All ways find the same; there is no index yet, so all of them scan.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SearchMode {
    #[default]
    Auto,
    Indexed,
    Scan,
}

impl SearchMode {
    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Indexed => "indexed",
            Self::Scan => "scan",
        }
    }
}

impl Args {
    fn matcher(&self) -> Result<RegexMatcher, String> {
        if self.query.is_empty() {
            return Err(arguments::invalid("query", "must not be empty"));
        }
        RegexMatcherBuilder::new()
            .case_insensitive(!self.case_sensitive.unwrap_or(true))
            .word(self.word_boundary.unwrap_or(false))
            .fixed_strings(!self.regex.unwrap_or(true))
            .line_terminator(Some(b'\n'))
            .build(&self.query)
            .map_err(|error| format!("invalid regex: {error}"))
    }

    fn again(&self, path: &str, offset: usize, limit: usize) -> Value {
        json!({
            "query": self.query,
            "path": path,
            "regex": self.regex.unwrap_or(true),
            "case_sensitive": self.case_sensitive.unwrap_or(true),
            "word_boundary": self.word_boundary.unwrap_or(false),
            "offset": offset,
            "limit": limit,
        })
    }
}

fn run(context: &ToolContext, args: Args) -> Result<ToolOutput, String> {
    let matcher = args.matcher()?;
    let asked = args.path.clone().unwrap_or_else(|| ".".to_owned());
    let place = paths::resolve(context, &asked)?;
    if !paths::exists(context, &place)? {
        return Err(format!("no such file or directory: {}", place.shown));
    }
    let most = context.search.max_file_bytes.unwrap_or(MAX_FILE).min(MAX_FILE);
    let ignored = walk::Ignored::new(&context.search.ignored_globs);
    let real = context.files.is_none().then(|| context.root.canonicalize().ok()).flatten();
    let root = real.unwrap_or_else(|| context.root.clone());
    let mut searcher = SearcherBuilder::new().line_number(true).build();
    let mut page = Page::new(args.offset, args.limit);
    let (mut searched, mut hit) = (0_usize, 0_usize);
    for file in walk::files(context, &place.path)? {
        if context.cancel.is_cancelled() {
            return Err("the search was cancelled".into());
        }
        if ignored.covers(&file, &root) {
            continue;
        }
        let shown = paths::shown_below(&place, &file);
        let file = paths::Place { path: file, shown };
        // What cannot be read, or is too large, is passed over as ripgrep does.
        let Ok(bytes) = paths::read(context, &file, most) else { continue };
        if bytes.contains(&0) {
            continue;
        }
        searched += 1;
        let before = page.total();
        search(&mut searcher, &matcher, &bytes, &file.shown, &mut page)?;
        hit += usize::from(page.total() > before);
    }
    let total = page.total();
    let limit = page.limit();
    let (text, mut data) = page.finish("grep", |offset| args.again(&asked, offset, limit));
    data.insert("query".into(), args.query.clone().into());
    data.insert("path".into(), place.shown.clone().into());
    data.insert("matches".into(), total.into());
    data.insert("files_with_matches".into(), hit.into());
    data.insert("files_searched".into(), searched.into());
    data.insert("mode".into(), args.mode.unwrap_or_default().name().into());
    data.insert("searched_by".into(), "scan".into());
    let none = || {
        format!("no matches for {:?} in {} ({searched} files searched)", args.query, place.shown)
    };
    let text = if total == 0 { none() } else { text };
    Ok(ToolOutput::new(text, Value::Object(data)))
}

fn search(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    bytes: &[u8],
    shown: &str,
    page: &mut Page,
) -> Result<(), String> {
    let sink = Lossy(|number, line| {
        page.offer(|| {
            format!("{shown}:{number}:{}", cut(line.trim_end_matches(['\n', '\r']), MAX_LINE))
        });
        Ok(true)
    });
    searcher
        .search_slice(matcher, bytes, sink)
        .map_err(|error| format!("cannot search {shown}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;
    use crate::tool::SearchBounds;

    fn bench() -> Bench {
        let bench = Bench::new();
        bench.file("src/a.rs", "fn main() {}\nlet Main = 1;\nremains\r\n");
        bench.file("b.txt", "a+b main\n");
        bench.file(".hidden", "main\n");
        bench.file("target/out.txt", "main\n");
        bench.file(".roder/x", "main\n");
        bench.file("sub/.git/config", "main\n");
        bench.file(".gitignore", "*.log\n");
        bench.file("noise.log", "main\n");
        bench.file("image", "main\0");
        bench.file("huge", &"main\n".repeat(500_000));
        bench
    }

    async fn found(bench: &Bench, arguments: Value) -> String {
        let output = bench.run("grep", arguments).await;
        assert!(!output.is_error, "{}", output.text);
        output.text
    }

    #[tokio::test]
    async fn the_settings_leave_files_out_in_every_mode() {
        let bench = bench();
        bench.file("dist/deep/x.js", "main\n");
        bench.file("long.txt", &format!("main{}\n", " ".repeat(100)));
        let ignored_globs = vec!["*.rs".to_owned(), "dist".to_owned(), "[".to_owned()];
        let search = SearchBounds { max_file_bytes: Some(100), ignored_globs };
        for mode in ["auto", "indexed", "scan"] {
            let context = ToolContext { search: search.clone(), ..bench.context() };
            let output = (GREP.run)(context, json!({"query": "main", "mode": mode})).await;
            assert_eq!(output.text, ".hidden:1:main\nb.txt:1:a+b main", "{mode}");
            assert_eq!(output.data["mode"], mode);
        }
    }

    #[tokio::test]
    async fn matching_lines_are_found_where_searching_makes_sense() {
        let bench = bench();
        let all = found(&bench, json!({"query": "main"})).await;
        assert_eq!(
            all,
            ".hidden:1:main\nb.txt:1:a+b main\nsrc/a.rs:1:fn main() {}\nsrc/a.rs:3:remains"
        );
        let words =
            json!({"query": "MAIN", "case_sensitive": false, "word_boundary": true, "path": "src"});
        assert_eq!(found(&bench, words).await, "src/a.rs:1:fn main() {}\nsrc/a.rs:2:let Main = 1;");
        assert_eq!(
            found(&bench, json!({"query": "a+b", "regex": false})).await,
            "b.txt:1:a+b main"
        );
        assert_eq!(
            found(&bench, json!({"query": "^fn", "path": "src/a.rs"})).await,
            "src/a.rs:1:fn main() {}"
        );
        assert_eq!(
            found(&bench, json!({"query": "out|main", "path": "target"})).await,
            "target/out.txt:1:main"
        );
        let none = found(&bench, json!({"query": "nowhere", "path": "src"})).await;
        assert_eq!(none, "no matches for \"nowhere\" in src (1 files searched)");
    }

    #[tokio::test]
    async fn all_modes_find_the_same() {
        let bench = bench();
        let mut texts = Vec::new();
        for mode in ["auto", "indexed", "scan"] {
            let output = bench.run("grep", json!({"query": "main", "mode": mode})).await;
            assert_eq!(
                (&output.data["mode"], &output.data["searched_by"]),
                (&json!(mode), &json!("scan"))
            );
            texts.push(output.text);
        }
        assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[tokio::test]
    async fn many_matches_come_in_pages() {
        let bench = Bench::new();
        bench.file("many", &"x\n".repeat(450));
        let mut arguments = json!({"query": "x"});
        let mut lines = Vec::new();
        loop {
            let output = bench.run("grep", arguments).await;
            lines.extend(
                output.text.lines().filter(|line| line.starts_with("many")).map(str::to_owned),
            );
            if output.data["truncated"] == false {
                break;
            }
            assert_eq!(output.data["continuation_tool"], "grep");
            arguments = output.data["continuation_args"].clone();
        }
        let expected: Vec<String> = (1..=450).map(|number| format!("many:{number}:x")).collect();
        assert_eq!(lines, expected);
    }

    #[tokio::test]
    async fn bad_queries_and_places_are_errors() {
        let bench = bench();
        for (arguments, why) in [
            (json!({"query": "("}), "invalid regex: "),
            (json!({"query": ""}), "invalid tool call arguments: query: "),
            (json!({"query": "x", "mode": "fast"}), "invalid tool call arguments: mode: "),
            (json!({"query": "x", "path": "/etc"}), "path is outside workspace: /etc"),
            (json!({"query": "x", "path": "none"}), "no such file or directory: none"),
        ] {
            let output = bench.run("grep", arguments).await;
            assert!(output.is_error && output.text.starts_with(why), "{}", output.text);
        }
    }

    #[tokio::test]
    async fn links_are_not_followed_out() {
        let bench = Bench::new();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "main\n").unwrap();
        std::os::unix::fs::symlink(outside.path(), bench.root().join("link")).unwrap();
        assert!(found(&bench, json!({"query": "main"})).await.starts_with("no matches"));
    }
}
