//! What a thread shows, and drafts that stay with their thread.

use rookery_view::link::{Span, ToolCall};

use super::*;
use crate::words::Signs;

fn paragraph(text: &str) -> Block {
    Block::Paragraph { spans: vec![Span { text: text.to_owned(), ..Span::default() }] }
}

fn page() -> ThreadPage {
    let mut page = ThreadPage::default();
    page.begin("t");
    page
}

fn texts(page: &ThreadPage) -> Vec<String> {
    page.lines(60, 0, Signs { utf8: false })
        .iter()
        .map(|line| line.text().trim_end().to_owned())
        .collect()
}

#[test]
fn blocks_that_stream_replace_the_last_ones() {
    let mut page = page();
    let mut news = ThreadNews {
        thread: "t".to_owned(),
        item: "i".to_owned(),
        from: 0,
        blocks: vec![paragraph("Hel")],
        ..ThreadNews::default()
    };
    page.news(&news);
    news.blocks = vec![paragraph("Hello"), paragraph("wor")];
    page.news(&news);
    news.from = 1;
    news.blocks = vec![paragraph("world")];
    page.news(&news);
    assert_eq!(texts(&page), ["      Hello", "", "      world"].map(str::to_owned));
    news.thread = "other".to_owned();
    news.blocks.clear();
    page.news(&news);
    assert_eq!(texts(&page).len(), 3);
}

#[test]
fn tool_output_folds() {
    let mut page = page();
    page.items.push(ThreadItem {
        id: "c".to_owned(),
        kind: ItemKind::Command,
        status: "done".to_owned(),
        tool: Some(ToolCall {
            name: "shell".to_owned(),
            title: "cargo update".to_owned(),
            head: vec!["one".to_owned()],
            lines: 38,
            exit: Some(0),
            ms: Some(1234),
            ..ToolCall::default()
        }),
        ..ThreadItem::default()
    });
    assert_eq!(texts(&page), [" + shell  cargo update  exit 0  1.2s  [+38 lines]"]);
    page.click(0);
    assert_eq!(texts(&page)[1], "      one");
}

#[test]
fn a_draft_is_kept_for_its_thread() {
    let mut page = page();
    page.composer.insert("half");
    page.begin("t");
    assert_eq!(page.composer.text(), "half");
    page.begin("other");
    assert_eq!(page.composer.text(), "");
}

/// A call with more output than is shown of it.
fn long_call() -> ThreadItem {
    ThreadItem {
        id: "c".to_owned(),
        kind: ItemKind::Command,
        status: "done".to_owned(),
        cut: true,
        tool: Some(ToolCall {
            name: "shell".to_owned(),
            head: vec!["first".to_owned()],
            tail: vec!["last".to_owned()],
            lines: 5,
            ..ToolCall::default()
        }),
        ..ThreadItem::default()
    }
}

#[test]
fn long_output_is_read_page_by_page_to_its_end() {
    let mut page = page();
    page.items.push(long_call());
    page.click(0);
    assert_eq!(texts(&page)[2], "      ··· 3 more lines: enter");
    let lines = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let came = |from, texts: &[&str], next| {
        (from, ItemShown { item: long_call(), lines: lines(texts), next })
    };
    assert_eq!(page.next_page(&page.items[0]), Some(0));
    let (from, shown) = came(0, &["first", "two"], Some(2));
    page.item_came(from, shown);
    assert_eq!(page.next_page(&page.items[0]), Some(2));
    assert_eq!(texts(&page)[1..], ["      first", "      two", "      ··· 3 more lines: enter"]);
    let (from, shown) = came(2, &["three", "four", "last"], None);
    page.item_came(from, shown.clone());
    // An answer that comes twice adds nothing.
    page.item_came(from, shown);
    let all = ["      first", "      two", "      three", "      four", "      last"];
    assert_eq!(texts(&page)[1..], all);
    assert_eq!(page.next_page(&page.items[0]), None);
}

#[test]
fn a_plan_is_never_blank() {
    let mut page = page();
    let mut plan = ThreadItem { id: "p".to_owned(), kind: ItemKind::Plan, ..ThreadItem::default() };
    plan.blocks = Some(vec![paragraph("read it first")]);
    page.items.push(plan.clone());
    assert!(texts(&page)[0].ends_with("plan read it first"), "{:?}", texts(&page));
    plan.blocks = None;
    plan.tool = Some(ToolCall { name: "plan".to_owned(), ..ToolCall::default() });
    page.items = vec![plan];
    assert!(texts(&page)[0].contains("plan"), "{:?}", texts(&page));
}
