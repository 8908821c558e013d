//! Command files, understood or refused.

use proptest::prelude::*;

use super::super::command::{Body, default_id};
use super::super::*;

fn parse(text: &str) -> Result<Command, String> {
    Command::parse(text, "stem", Source::User)
}

fn error(text: &str) -> String {
    parse(text).unwrap_err()
}

const FULL: &str = "---
name: fix
description: Fixes a bug
argument-hint: <issue>
allowed-tools: [read_file, grep]
model: m1
agent: scout
include:
  files:
    - docs/guide.md
    - {id: rules, path: RULES.md, optional: true}
  shell:
    - command: git status --short
      timeout_seconds: 2
  urls:
    - {id: page, url: 'https://example.com/x', optional: true}
---

Fix {{arguments}}, see {{include.files.docs_guide_md}} and {{include.urls.page}}.
";

#[test]
fn a_whole_file_is_understood() {
    let command = parse(FULL).unwrap();
    let expected = CommandInfo {
        name: "fix".into(),
        description: Some("Fixes a bug".into()),
        argument_hint: Some("<issue>".into()),
        source: Source::User,
        model: Some("m1".into()),
        agent: Some("scout".into()),
        role: None,
        file: None,
        has_shell_includes: true,
        has_url_includes: true,
    };
    assert_eq!(command.info, expected);
    assert_eq!(command.allowed_tools, ["read_file", "grep"]);
    let ids: Vec<_> = command.includes.iter().map(|include| include.id.as_str()).collect();
    assert_eq!(ids, ["docs_guide_md", "rules", "git_status___short", "page"]);
}

#[test]
fn windows_files_read_the_same() {
    let windows = format!("\u{feff}{}", FULL.replace('\n', "\r\n"));
    assert_eq!(parse(&windows), parse(FULL));
}

#[test]
fn a_head_is_not_needed() {
    let command = parse("Just do it.\n").unwrap();
    assert_eq!(command.info.name, "stem");
    assert_eq!(command.info.description, None);
    assert!(command.allowed_tools.is_empty());
    assert_eq!(parse("---\n---\nJust do it."), Ok(command.clone()));
    assert_eq!(parse("---\n# nothing\n---\nJust do it."), Ok(command));
}

#[test]
fn a_hint_in_brackets_is_meant_as_it_stands() {
    let hint = |line: &str| {
        parse(&format!("---\nargument-hint: {line}\n---\nx")).unwrap().info.argument_hint
    };
    assert_eq!(hint("[file]").as_deref(), Some("[file]"));
    assert_eq!(hint("'[a] [b]'").as_deref(), Some("[a] [b]"));
    assert_eq!(hint("''"), None);
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    for (text, expected) in [
        ("", "its body is empty"),
        ("---\nname: x\n---\n \n", "its body is empty"),
        ("---\nname: x\n", "its front matter has no closing --- line"),
        ("---\nname: a b\n---\nx", "\"a b\" is not a command name"),
        ("---\nname: /a\n---\nx", "\"/a\" is not a command name"),
        ("---\nallowed-tools: []\n---\nx", "allowed-tools must name tools"),
        ("a {{nonsense}}", "unknown template expression \"{{nonsense\""),
        ("a {{include.files.a}}", "include.files.a names no include"),
        ("---\ninclude: {files: [a.md, a_md]}\n---\nx", "include.files.a_md is there twice"),
        (
            "---\ninclude: {urls: [{url: 'file:///etc/passwd'}]}\n---\nx",
            "\"file:///etc/passwd\" is not an http or https url",
        ),
        (
            "---\ninclude: {urls: [{url: 'http://u:p@h/'}]}\n---\nx",
            "a url include must not carry a user or a password",
        ),
        (
            "---\ninclude: {shell: [{command: ls, timeout_seconds: 0}]}\n---\nx",
            "timeout_seconds of a shell include must be at least 1",
        ),
        (
            "---\ninclude: {files: [{id: 'a.b', path: a}]}\n---\nx",
            "\"a.b\" is not an include id; set an id explicitly",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn unknown_keys_are_errors_at_every_depth() {
    for head in [
        "colour: red",
        "allowed_tools: [x]",
        "include: {dirs: [a]}",
        "include: {files: [{path: a, mode: r}]}",
        "include: {shell: [{command: a, optional: true}]}",
        "include: {urls: [{url: 'http://a', timeout_seconds: 1}]}",
        "name: [a, b]",
        "name: x\nname: y",
        "include: {files: [{id: a}]}",
        ": :\n -",
    ] {
        let said = error(&format!("---\n{head}\n---\nx"));
        assert!(said.starts_with("its front matter is wrong: "), "{head}: {said}");
        assert!(!said.contains('\n'), "{head}: {said}");
    }
}

#[test]
fn heads_that_want_to_be_endless_are_refused() {
    let aliases: String =
        (1..40).map(|n| format!("  - &a{n} [*a{0}, *a{0}, *a{0}]\n", n - 1)).collect();
    for head in [
        format!("name: {}", "[".repeat(100_000)),
        format!("argument-hint: {}{}", "[".repeat(50_000), "]".repeat(50_000)),
        format!("include: {}", "{files: ".repeat(20_000)),
        format!("{}x", "- ".repeat(50_000)),
        format!("description:\n  - &a0 x\n{aliases}"),
        format!("argument-hint:\n  - &a0 x\n{aliases}"),
    ] {
        assert!(parse(&format!("---\n{head}\n---\nx")).is_err());
    }
}

#[test]
fn references_may_squeeze_the_default_id() {
    assert_eq!(default_id("git status --short"), "git_status___short");
    let head = "---\ninclude: {shell: [{command: 'git status --short'}]}\n---\n";
    let plain = parse(&format!("{head}{{{{include.shell.git_status___short}}}}")).unwrap();
    assert_eq!(parse(&format!("{head}{{{{include.shell.git_status_short}}}}")), Ok(plain));
}

#[test]
fn built_ins_are_all_there() {
    let names = [
        "agents", "clear", "compact", "goal", "help", "init", "memory", "model", "ps", "retry",
        "roadmap", "snapshot", "tasks", "review",
    ];
    let found: Vec<_> = built_ins().iter().map(|command| command.info.name.as_str()).collect();
    assert_eq!(found, names);
    for command in built_ins() {
        assert_eq!(command.info.source.to_string(), "built-in");
        assert!(command.info.description.is_some());
    }
}

proptest! {
    #[test]
    fn no_file_panics(text in ".*", stem in ".*") {
        let _ = Command::parse(&text, &stem, Source::Workspace);
    }

    #[test]
    fn no_head_panics(head in "([a-z\\-]{0,8}[:\\[\\]{}&*!|>'\"#%@, \n\t-]{0,3}){0,12}", body in ".*") {
        let _ = parse(&format!("---\n{head}\n---\n{body}"));
    }

    #[test]
    fn a_description_survives(text in "[a-zA-Z0-9][^\\p{C}]{0,40}[a-zA-Z0-9]") {
        let head = serde_json::to_string(&text).unwrap();
        let command = parse(&format!("---\ndescription: {head}\n---\nx")).unwrap();
        prop_assert_eq!(command.info.description, Some(text));
    }
}

#[test]
fn a_file_of_others_is_said_as_it_stands() {
    let text = "---\ndescription: Ship it\nargument-hint: <tag>\nmode: code\nother: [1]\n---\n\nDo {{ this }}.\n";
    let command = Command::parse_plain(text, "ship", Source::Workspace).unwrap();
    assert_eq!(command.info.name, "ship");
    assert_eq!(command.info.description.as_deref(), Some("Ship it"));
    assert_eq!(command.info.argument_hint.as_deref(), Some("<tag>"));
    assert_eq!(command.info.role.as_deref(), Some("code"));
    let Body::Template(template) = &command.body else { panic!("{command:?}") };
    assert_eq!(template.render("ship", "v1").trim_end(), "Do {{ this }}.\n\nv1");
    assert_eq!(template.render("ship", "").trim_end(), "Do {{ this }}.");
    let plain = Command::parse_plain("Only text", "a", Source::User).unwrap();
    assert_eq!((plain.info.description, plain.info.role), (None, None));
    for (text, stem, reason) in [
        ("---\nmode: x\n---\n \n", "a", "its body is empty"),
        ("x", "a b", "is not a command name"),
        ("---\nx", "a", "no closing"),
        ("---\nmode: [1\n---\nx", "a", "its front matter is wrong"),
    ] {
        let said = Command::parse_plain(text, stem, Source::User).unwrap_err();
        assert!(said.contains(reason), "{said}");
    }
}
