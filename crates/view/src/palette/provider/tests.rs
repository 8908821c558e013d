//! Tests of providers.

use super::*;
use crate::settings::{Provider, ProviderRun};
use proptest::prelude::*;
use rookery_model::{ProjectId, TerminalId};
use serde_json::{Value, json};
use std::time::Duration;

fn provider(words: &str) -> Provider {
    Provider::parse(&format!("label=Crane run=\"crane --up\" {words}")).unwrap()
}

fn context() -> Context {
    Context {
        socket: "/run/s.sock".to_owned(),
        query: "le".to_owned(),
        tab: Some(TerminalId::new(21)),
        project: Some(ProjectId::new(4)),
        cwd: "/yard".to_owned(),
        title: "hoist".to_owned(),
        roostctl: Some("/usr/bin/roostctl".to_owned()),
    }
}

fn activate(id: &str) -> Phase {
    Phase::Activate { id: id.to_owned() }
}

#[test]
fn a_configured_provider_runs_in_the_shell_with_the_phase_as_last_word() {
    let launch = launch(&provider("timeout=9"), &Phase::List, &context(), "/bin/zsh");
    assert_eq!(launch.argv, ["/bin/zsh", "-c", "crane --up list"]);
    assert_eq!(launch.timeout, Duration::from_secs(9));
    assert_eq!(launch.cwd.as_deref(), Some("/yard"));
}

#[test]
fn a_discovered_provider_runs_without_a_shell() {
    let found = discovered("/x/two words.py", "two words.py", "");
    let launch = launch(&found, &activate("a"), &context(), "/bin/zsh");
    assert_eq!(launch.argv, ["/x/two words.py", "activate"]);
}

#[test]
fn the_environment_tells_phase_and_place() {
    let launch = launch(&provider(""), &activate("left"), &context(), "/bin/sh");
    let expected = [
        ("ROOST_PROVIDER_PHASE", "activate"),
        ("ROOST_SOCKET", "/run/s.sock"),
        ("ROOST_QUERY", "le"),
        ("ROOST_ACTIVE_CWD", "/yard"),
        ("ROOST_ACTIVE_TITLE", "hoist"),
        ("ROOST_ACTIVE_TAB_ID", "21"),
        ("ROOST_ACTIVE_PROJECT_ID", "4"),
        ("ROOST_SELECTED_ID", "left"),
        ("ROOST_ROOSTCTL", "/usr/bin/roostctl"),
    ];
    assert_eq!(launch.env, expected.map(|(name, value)| (name, value.to_owned())));
    assert!(launch.without.is_empty());
}

#[test]
fn what_is_not_known_is_not_inherited_either() {
    let launch = launch(&provider(""), &Phase::List, &Context::default(), "/bin/sh");
    assert_eq!(
        launch.without,
        ["ROOST_ACTIVE_TAB_ID", "ROOST_ACTIVE_PROJECT_ID", "ROOST_SELECTED_ID", "ROOST_ROOSTCTL"]
    );
    assert_eq!(launch.cwd, None);
}

#[test]
fn zero_bytes_do_not_reach_the_environment() {
    let context = Context { query: "a\0b".to_owned(), ..context() };
    let launch = launch(&provider(""), &Phase::List, &context, "/bin/sh");
    assert!(launch.env.contains(&("ROOST_QUERY", "ab".to_owned())));
}

#[test]
fn standard_input_is_one_line_with_ids_as_strings() {
    let launch = launch(&provider(""), &activate("left"), &context(), "/bin/sh");
    assert_eq!(launch.stdin.matches('\n').count(), 1);
    assert!(launch.stdin.ends_with('\n'));
    let value: Value = serde_json::from_str(&launch.stdin).unwrap();
    assert_eq!(
        value,
        json!({
            "v": 1, "phase": "activate", "selected_id": "left", "query": "le",
            "active_tab": {"id": "21", "project_id": "4", "cwd": "/yard", "title": "hoist"},
            "socket": "/run/s.sock",
        })
    );
}

#[test]
fn standard_input_leaves_out_what_is_not_there() {
    let launch = launch(&provider(""), &Phase::List, &Context::default(), "/bin/sh");
    let value: Value = serde_json::from_str(&launch.stdin).unwrap();
    assert_eq!(
        value,
        json!({
            "v": 1, "phase": "list", "query": "", "active_tab": {"cwd": "", "title": ""},
            "socket": "",
        })
    );
}

#[test]
fn a_list_is_an_object_or_an_array() {
    let text = r#"{"placeholder":"Where to","items":[{"id":"a","title":"A","subtitle":"s","x":1},
        {"id":"b","title":"B","actionable":false}]}"#;
    let listing = parse_list(text).unwrap();
    assert_eq!(listing.placeholder.as_deref(), Some("Where to"));
    assert_eq!(listing.items[0].subtitle.as_deref(), Some("s"));
    assert!(listing.items[0].actionable && !listing.items[1].actionable);
    let bare = parse_list(r#" [{"id":"a","title":"A"}] "#).unwrap();
    assert_eq!((bare.items.len(), bare.placeholder), (1, None));
}

#[test]
fn empty_output_is_no_items() {
    for text in ["", " \n ", "{}", "[]"] {
        assert_eq!(parse_list(text), Ok(Listing::default()), "{text:?}");
    }
}

#[test]
fn bad_lists_say_why() {
    let table = [
        ("17", "neither"),
        ("no", "no JSON"),
        ("[1]", "item 0"),
        (r#"[{"title":"a"}]"#, "`id`"),
        (r#"[{"id":"a"}]"#, "`title`"),
        (r#"{"items":5}"#, "no list"),
        ("[{", "no JSON"),
    ];
    for (text, part) in table {
        let reason = parse_list(text).unwrap_err();
        assert!(reason.contains(part), "{text}: {reason}");
    }
}

#[test]
fn an_activation_counts_only_if_it_looks_like_a_list() {
    for text in ["17\n", "./x", "all done", "", "\"x\""] {
        assert_eq!(parse_activate(text), Ok(Listing::default()), "{text:?}");
    }
    assert_eq!(parse_activate(r#" [{"id":"a","title":"A"}]"#).unwrap().items.len(), 1);
    assert!(parse_activate("[{").is_err());
}

#[test]
fn rows_beyond_the_limit_become_one_row_that_counts_them() {
    let item = |id: usize| Listed {
        id: id.to_string(),
        title: format!("Row {id}"),
        subtitle: None,
        actionable: true,
    };
    let listing = Listing { placeholder: None, items: (0..5).map(item).collect() };
    let cut = rows(Ok(listing.clone()), 3);
    assert_eq!(cut.len(), 4);
    assert_eq!((cut[3].id.as_str(), cut[3].title.as_str()), ("provider:_overflow", "… 2 more"));
    assert!(!cut[3].is_actionable());
    assert_eq!(rows(Ok(listing), 5).len(), 5);
}

#[test]
fn a_failure_is_one_row_with_the_reason() {
    let failed = rows(Err("no such file".to_owned()), 10);
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].id, "provider:_error");
    assert_eq!(failed[0].title, "Provider failed");
    assert_eq!(failed[0].subtitle.as_deref(), Some("no such file"));
    assert!(!failed[0].is_actionable());
}

#[test]
fn the_reason_is_the_last_line_of_the_complaint() {
    let exited = |code, stderr: &str| RunEnd::Exited {
        code,
        stdout: b"[]".to_vec(),
        stderr: stderr.as_bytes().to_vec(),
    };
    let reason = |end: &RunEnd| read_end(&Phase::List, end).unwrap_err();
    assert_eq!(reason(&exited(Some(2), "one\n\u{1b}two \n\n")), "two");
    assert_eq!(reason(&exited(Some(2), "")), "it ended with exit code 2");
    assert_eq!(reason(&exited(None, "")), "a signal ended it");
    assert_eq!(reason(&RunEnd::TimedOut { stderr: Vec::new() }), "it took too long");
    assert_eq!(reason(&RunEnd::TooMuch), "it wrote too much");
    assert_eq!(reason(&RunEnd::Failed("gone".to_owned())), "gone");
    assert_eq!(reason(&exited(Some(1), &"x".repeat(999))).chars().count(), 200);
    assert_eq!(read_end(&Phase::List, &exited(Some(0), "noise")), Ok(Listing::default()));
}

#[test]
fn a_found_file_is_labeled_by_its_name() {
    let table = [
        ("move-the_crane.py", "move the crane"),
        ("a.b.py", "a.b"),
        ("plain", "plain"),
        (".hidden", ".hidden"),
        ("--", "--"),
    ];
    for (file_name, label) in table {
        let found = discovered("/x", file_name, "");
        assert_eq!((found.label.as_str(), found.title.as_str()), (label, label), "{file_name}");
        assert_eq!(found.run, ProviderRun::Executable("/x".to_owned()));
        assert_eq!((found.timeout, found.limit), (Duration::from_secs(5), 100));
    }
}

#[test]
fn header_comments_label_a_found_file() {
    let head = "#!/bin/sh\n\n#  @roost.label:  Move it \r\n# @roost.title: Which way\nset -e\n";
    let found = discovered("/x", "crane.py", head);
    assert_eq!((found.label.as_str(), found.title.as_str()), ("Move it", "Which way"));
    let late = discovered("/x", "crane.py", "echo\n# @roost.label: No\n");
    assert_eq!(late.label, "crane");
    let empty = discovered("/x", "crane.py", "# @roost.label:\n");
    assert_eq!((empty.label.as_str(), empty.title.as_str()), ("crane", "crane"));
}

proptest! {
    #[test]
    fn no_output_panics(stdout in prop::collection::vec(any::<u8>(), 0..200), head in "(?s).{0,80}") {
        let end = RunEnd::Exited { code: Some(0), stdout, stderr: Vec::new() };
        let _ = read_end(&Phase::List, &end);
        let _ = read_end(&activate("x"), &end);
        let _ = discovered("/x", &head, &head);
    }

    #[test]
    fn no_list_exceeds_its_limit(count in 0_usize..30, limit in 1_usize..10) {
        let items: Vec<Value> =
            (0..count).map(|id| json!({"id": id.to_string(), "title": "x"})).collect();
        let listing = parse_list(&Value::from(items).to_string());
        prop_assert!(rows(listing, limit).len() <= limit + 1);
    }
}
