//! Markdown by example, cut anywhere, and hostile.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn shown(text: &str) -> Value {
    serde_json::to_value(blocks(text)).unwrap()
}

#[test]
fn blocks_and_spans_are_what_they_look_like() {
    let text = "# Title\n\nSome *it* **bold** `code` [a link](https://x.y/) ~~gone~~\nnext\\\nline\n\n```rust\nfn a() {}\n```\n\n> quoted\n\n---\n";
    assert_eq!(
        shown(text),
        json!([
            {"kind": "heading", "level": 1, "spans": [{"text": "Title"}]},
            {"kind": "paragraph", "spans": [
                {"text": "Some "}, {"text": "it", "italic": true}, {"text": " "}, {"text": "bold", "bold": true},
                {"text": " "}, {"text": "code", "code": true}, {"text": " "},
                {"text": "a link", "link": "https://x.y/"}, {"text": " "}, {"text": "gone", "strike": true},
                {"text": " next\nline"},
            ]},
            {"kind": "code", "language": "rust", "lines": ["fn a() {}"]},
            {"kind": "quote", "blocks": [{"kind": "paragraph", "spans": [{"text": "quoted"}]}]},
            {"kind": "rule"},
        ])
    );
}

#[test]
fn lists_tables_and_tasks_are_data() {
    assert_eq!(
        shown("3. one\n4. two\n   - [x] inner\n"),
        json!([{"kind": "list", "start": 3, "items": [
            {"blocks": [{"kind": "paragraph", "spans": [{"text": "one"}]}]},
            {"blocks": [
                {"kind": "paragraph", "spans": [{"text": "two"}]},
                {"kind": "list", "items": [{"done": true, "blocks": [{"kind": "paragraph", "spans": [{"text": "inner"}]}]}]},
            ]},
        ]}])
    );
    assert_eq!(
        shown("a | b\n--|-:\n1 | *2*\n"),
        json!([{"kind": "table", "align": ["none", "right"], "head": [[{"text": "a"}], [{"text": "b"}]],
            "rows": [[[{"text": "1"}], [{"text": "2", "italic": true}]]]}])
    );
}

#[test]
fn html_and_escapes_are_text() {
    assert_eq!(
        shown("<script>alert(1)</script>\n\na <b>c</b> \u{1b}[2J\u{202e}\u{200b}x"),
        json!([
            {"kind": "paragraph", "spans": [{"text": "<script>alert(1)</script>"}]},
            {"kind": "paragraph", "spans": [{"text": "a <b>c</b> [2Jx"}]},
        ])
    );
    assert_eq!(shown("[x](javascript:a\u{200b})")[0]["spans"][0]["link"], "javascript:a\\u{200b}");
}

#[test]
fn only_the_open_block_is_parsed_again() {
    let mut prose = Prose::default();
    assert_eq!(prose.push("One.\n\nTw"), 0);
    assert_eq!(prose.push("o"), 0, "the second may still belong to the first");
    assert_eq!(prose.push(".\n\nThree"), 0);
    assert_eq!(prose.push("\n"), 1);
    assert_eq!(prose.push("more"), 2);
    assert_eq!(prose.blocks().len(), 3);
    assert!(prose.open.len() < 12);
    let mut prose = Prose::default();
    prose.push("[a]: https://x.y/\n\none\n\n");
    prose.push("two\n\n[a] here\n");
    assert_eq!(
        serde_json::to_value(prose.blocks()).unwrap()[2]["spans"][0]["link"],
        "https://x.y/"
    );
}

#[test]
fn depth_is_bounded() {
    let deep = blocks(&">".repeat(5000));
    let text = serde_json::to_string(&deep).unwrap();
    assert!(text.matches("quote").count() <= 2 * MOST_DEPTH + 1);
    let list: String = (0..200).map(|depth| format!("{}- x\n", "  ".repeat(depth))).collect();
    let text = serde_json::to_string(&blocks(&list)).unwrap();
    assert_eq!(text.matches("\"x\"").count(), 200, "nothing is lost");
}

fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ]{1,8}",
        3 => Just("\n".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => proptest::sample::select(vec![
            "# ", "- ", "* ", "1. ", "> ", "```\n", "    ", "---\n", "===\n", "|", "|-|-|\n", "**", "*", "`", "~~",
            "[x](y)", "<b>", "<div>\n", "- [ ] ", "\\", "![i](u)", "\t",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_text_that_grows_ends_as_the_whole(text in markdown(), cuts in prop::collection::vec(1..9usize, 1..20)) {
        let mut prose = Prose::default();
        let mut shown: Vec<Block> = Vec::new();
        let mut rest = text.as_str();
        for length in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at(rest.floor_char_boundary((*length).min(rest.len())).max(1));
            let from = prose.push(now);
            shown.truncate(from);
            shown.extend_from_slice(&prose.blocks()[from..]);
            rest = later;
        }
        prop_assert_eq!(&shown, prose.blocks());
        prop_assert_eq!(shown, blocks(&text));
    }

    #[test]
    fn nothing_panics_and_nothing_acts(text in any::<String>()) {
        let shown = serde_json::to_string(&blocks(&text)).unwrap();
        let acts = shown.contains("\\u001b") || shown.contains(['\u{9b}', '\u{202e}']);
        prop_assert!(!acts);
    }
}
