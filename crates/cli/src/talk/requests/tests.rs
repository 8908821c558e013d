//! Requests are distinguished, and shown as they are.

use expect_test::expect;
use serde_json::{Value, json};

use super::*;
use crate::output::Colors;

pub(crate) fn request(id: &str, more: Value) -> Request {
    let mut request = json!({
        "id": id, "kind": "approval", "thread": "0192d3c4-0000-7abc-8def-0123456789ab", "turn": "t",
        "tool": "shell", "summary": "ls", "askedAt": "1970-01-01T00:00:00Z", "state": "pending",
    });
    let more = more.as_object().unwrap().clone();
    request.as_object_mut().unwrap().extend(more);
    serde_json::from_value(request).unwrap()
}

fn ask(more: Value) -> Request {
    request("01", more)
}

#[test]
fn an_approval_shows_exactly_what_would_run() {
    let shown = ask(json!({
        "reason": "commands ask", "argv": ["sh", "-c", "rm \u{202e}-rf x\u{1b}[8m"], "cwd": "/srv/my\napp",
        "preview": "rm -rf x\u{1b}[1A\r\n\ttwo", "input": "{\"command\":\"rm\"}",
    }));
    expect![[r#"
        shell asks for approval (commands ask)
            rm -rf x\u{1b}[1A
            	two
          runs ["sh","-c","rm \u{202e}-rf x\u001b[8m"]
          in /srv/my\u{a}app"#]]
    .assert_eq(&details(&shown).join("\n"));
    let plain = ask(json!({"input": "{\"path\":\"x\"}", "tool": "write\u{1b}c"}));
    expect![[r#"
        write\u{1b}c asks for approval
            {
              "path": "x"
            }"#]]
    .assert_eq(&details(&plain).join("\n"));
}

#[test]
fn a_plan_is_shown_with_its_steps() {
    let shown = ask(json!({
        "kind": "plan_exit", "preview": "First this.\nThen that.",
        "plan": {"mode": "accept_all", "nextSteps": ["edit", "test"]},
    }));
    expect![[r#"
        approve this plan and continue in mode accept_all?
            First this.
            Then that.
          1. edit
          2. test"#]]
    .assert_eq(&details(&shown).join("\n"));
}

#[test]
fn what_waits_is_one_row_each() {
    let rows = [
        request("01JAAAAAAAAAAAAAAAAAABCDEF", json!({"summary": "ls\u{1b}[2J -l"})),
        request("01JAAAAAAAAAAAAAAAAAXBCDEF", json!({"kind": "input", "summary": "Which one?"})),
    ];
    expect![[r#"
        ID      KIND      THREAD    AGE  SUMMARY
        ABCDEF  approval  456789ab  2m   shell: ls[2J -l
        XBCDEF  question  456789ab  2m   Which one?
    "#]]
    .assert_eq(&table(&rows, 120).render(Colors::none(), None));
}

#[test]
fn short_ids_tell_requests_apart() {
    let ids = ["01AAAAABCDEF", "01BBBAABCDEF", "01CCC"];
    let short = |id: &'static str| short_id(id, ids.into_iter());
    assert_eq!(short(ids[0]), "AAABCDEF");
    assert_eq!(short(ids[1]), "BAABCDEF");
    assert_eq!(short(ids[2]), "01CCC");
    assert_eq!(bare_id("appr_01ABC"), "01ABC");
    assert_eq!(bare_id("exttool-01ABC"), "01ABC");
    assert_eq!(bare_id("01ABC"), "01ABC");
}

mod attack {
    use super::*;

    #[test]
    fn a_line_says_how_much_it_does_not_show() {
        let more = |more: Value| summary(&request("01", more));
        let two = json!({"summary": "ls", "preview": "ls\nrm -rf ~\n[runs as /bin/sh -lc in /w]"});
        assert_eq!(more(two), "shell: ls (+8 characters)");
        let one = json!({"summary": "ls", "preview": "ls\n[runs as /bin/sh -lc in /w]"});
        assert_eq!(more(one), "shell: ls");
        let long = "x".repeat(100);
        let shown = more(json!({"summary": long, "preview": long}));
        assert!(shown.ends_with("… (+36 characters)"), "{shown}");
        let cut = json!({"summary": "a.rs", "preview": "--- a.rs\n+++ a.rs",
            "unseen": {"characters": 14_000, "of": 20_000, "digest": "00"}});
        assert_eq!(more(cut), "shell: a.rs (+14000 characters)");
    }

    #[test]
    fn a_preview_in_part_comes_with_all_of_it() {
        let shown = ask(json!({
            "preview": "+one\n[cut]", "input": "{\"path\":\"a\",\"content\":\"one\\n\u{200b}two\"}",
            "unseen": {"characters": 7, "of": 12, "digest": "00"}, "tool": "write_file",
        }));
        expect![[r#"
            write_file asks for approval
                +one
                [cut]
              all 12 characters are in the tool's input:
              path:
                a
              content:
                one
                \u{200b}two"#]]
        .assert_eq(&details(&shown).join("\n"));
    }
}
