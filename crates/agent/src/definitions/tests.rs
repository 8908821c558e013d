//! Definition files as people write them, and as they should not.

use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn ok(text: &str) -> AgentDefinition {
    parse(text, Source::User).unwrap().0
}

fn head(lines: &str) -> String {
    format!("---\n{lines}\n---\nSay what you see.\n")
}

#[test]
fn tools_come_as_lists_blocks_or_with_commas_and_none_means_all() {
    let named = |tools: &str| ok(&head(&format!("name: a\ndescription: d\n{tools}"))).tools;
    let expected = Some(vec!["read_file".to_owned(), "view_image".into(), "grep".into()]);
    for tools in [
        "tools: [Read, grep]",
        "tools:\n  - Read\n  - grep",
        "tools: Read, Grep",
        "tools: 'Read,Grep,'",
    ] {
        assert_eq!(named(tools), expected, "{tools}");
    }
    for all in ["", "tools:", "tools: '*'"] {
        assert_eq!(named(all), None, "{all}");
    }
    assert_eq!(named("tools: []"), Some(Vec::new()));
    assert_eq!(named("tools: mcp__docs__search"), Some(vec!["mcp__docs__search".to_owned()]));
}

#[test]
fn a_tool_with_a_pattern_is_left_out_and_said_to_be() {
    let text = head("name: a\ndescription: d\ntools: Read, Bash(git status)");
    let (definition, doubts) = parse(&text, Source::User).unwrap();
    assert_eq!(definition.tools.unwrap(), ["read_file", "view_image"]);
    assert_eq!(doubts.len(), 1);
}

#[test]
fn marks_line_ends_and_the_words_of_others_are_understood() {
    let text = "\u{feff}---\r\nagent_type: x.y\r\ndescription: Use it when: asked\r\nmodel: inherit\r\npermissionMode: plan\r\nmax_turns: 3\r\nmax_result_chars: 100\r\ncolor: red\r\n---\r\nBe brief.\r\n";
    let read = ok(text);
    assert_eq!((read.name.as_str(), read.description.as_str()), ("x.y", "Use it when: asked"));
    assert_eq!((read.model, read.permission), (None, Permission::ReadOnly));
    assert_eq!((read.max_turns, read.max_result_chars), (Some(3), Some(100)));
    assert_eq!(read.prompt, "Be brief.");
    assert_eq!(ok(&head("name: a\ndescription: d\nmodel: big")).model.as_deref(), Some("big"));
}

#[test]
fn a_file_that_is_none_says_why_and_nothing_of_what_it_says() {
    for (text, why) in [
        ("no head at all, a secret prompt", "it has no name"),
        ("---\nname: a\ndescription: d\na secret prompt", "closing ---"),
        (&head("description: d"), "it has no name"),
        (&head("name: a"), "it has no description"),
        (&head("name: ../a\ndescription: d"), "its name must be"),
        (&head("name: a\ndescription: d\npermission_mode: root"), "its permission_mode must be"),
        (&head("name: a\ndescription: d\nmax_turns: 0"), "its max_turns must be at least 1"),
        (&head("name: a\ndescription: d\nmax_turns: -2"), "its front matter is wrong"),
        (&head("name: a\ndescription: d\ntools: {a: b}"), "its front matter is wrong"),
        (&head(&format!("name: {}\ndescription: d", "a".repeat(65))), "its name must be"),
    ] {
        let error = parse(text, Source::User).unwrap_err();
        assert!(error.contains(why), "{error} for {text}");
        assert!(!error.contains("secret") && !error.contains("Say what"), "{error}");
    }
}

struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Self {
        Bench { dir: TempDir::new().unwrap() }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn list(&self) -> (Vec<AgentDefinition>, Vec<Diagnostic>) {
        let [workspace, config, home] =
            ["ws", "config", "home"].map(|name| self.dir.path().join(name));
        fs::create_dir_all(&workspace).unwrap();
        list(Places { workspace: Some(&workspace), config_home: Some(&config), home: Some(&home) })
    }

    fn description(&self, name: &str) -> Option<String> {
        let (found, _) = self.list();
        found.into_iter().find(|one| one.name == name).map(|one| one.description)
    }
}

#[test]
fn the_nearest_definition_counts() {
    let bench = Bench::new();
    let (built_in, _) = bench.list();
    let names: Vec<&str> = built_in.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, [EXPLORE, GENERAL]);
    let places = [
        "home/.claude/agents",
        "config/agents",
        "ws/.claude/agents",
        "ws/.agents/agents",
        "ws/.roder/agents",
    ];
    for (at, place) in places.iter().enumerate() {
        bench.write(&format!("{place}/x.md"), &head(&format!("name: explore\ndescription: n{at}")));
        assert_eq!(bench.description("explore"), Some(format!("n{at}")), "{place}");
    }
    let (found, diagnostics) = bench.list();
    assert_eq!(found.iter().find(|one| one.name == EXPLORE).unwrap().source, Source::Workspace);
    assert_eq!(diagnostics, []);
}

#[test]
fn one_bad_file_hides_no_other() {
    let bench = Bench::new();
    bench.write("ws/.roder/agents/a.md", "what is this");
    bench.write("ws/.roder/agents/b.md", &head("name: good\ndescription: d"));
    bench.write("ws/.roder/agents/c.md", &head("name: good\ndescription: twice"));
    bench.write("ws/.roder/agents/d.md", &"x".repeat(FILE_LIMIT + 1));
    bench.write("ws/.roder/agents/note.txt", "not looked at");
    fs::write(bench.dir.path().join("ws/.roder/agents/e.md"), [0xff, 0xfe]).unwrap();
    assert_eq!(bench.description("good").as_deref(), Some("d"));
    let (_, diagnostics) = bench.list();
    let told: Vec<(String, &str)> = diagnostics
        .iter()
        .map(|one| {
            (one.path.file_name().unwrap().to_string_lossy().into_owned(), one.message.as_str())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a.md".to_owned(), "it has no name"),
            ("c.md".to_owned(), "another file here defines good already"),
            ("d.md".to_owned(), "it is longer than 65536 bytes"),
            ("e.md".to_owned(), "it is not UTF-8"),
        ]
    );
}

#[test]
fn a_directory_of_too_many_files_is_read_in_part() {
    let bench = Bench::new();
    for number in 0..=FILES_LIMIT {
        let text = head(&format!("name: a{number}\ndescription: d"));
        bench.write(&format!("ws/.roder/agents/{number:04}.md"), &text);
    }
    let (found, diagnostics) = bench.list();
    assert_eq!(found.len(), FILES_LIMIT + 2);
    assert_eq!(diagnostics.len(), 1);
}

#[test]
fn attack_a_link_out_of_the_workspace_is_not_followed() {
    let bench = Bench::new();
    bench.write("outside/x.md", &head("name: stolen\ndescription: d"));
    bench.write("ws/.roder/agents/real.md", &head("name: real\ndescription: d"));
    let ws = bench.dir.path().join("ws");
    std::os::unix::fs::symlink("../../../outside/x.md", ws.join(".roder/agents/x.md")).unwrap();
    fs::create_dir_all(ws.join(".agents")).unwrap();
    std::os::unix::fs::symlink("../../outside", ws.join(".agents/agents")).unwrap();
    let (found, diagnostics) = bench.list();
    assert!(found.iter().all(|one| one.name != "stolen"));
    assert!(found.iter().any(|one| one.name == "real"));
    assert!(!diagnostics.is_empty());
}

proptest! {
    #[test]
    fn whatever_a_file_says_is_read_or_refused(text in "(---\n)?[\\PC\n:,\\[\\]-]{0,200}(\n---\n)?.*") {
        if let Ok((read, _)) = parse(&text, Source::Workspace) {
            prop_assert!(!read.name.is_empty() && !read.description.is_empty());
            prop_assert!(!read.name.contains('/'));
        }
    }
}
