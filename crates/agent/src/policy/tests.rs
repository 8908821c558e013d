//! Tests of the policy: the table of modes and kinds, rules, and the parser against real shells.

use proptest::prelude::*;
use rookery_model::{Mode, ToolKind};

use super::*;

const MODES: [Mode; 4] = [Mode::Default, Mode::AcceptAll, Mode::Plan, Mode::Bypass];

fn request<'a>(tool: &'a str, kind: ToolKind, command: Option<&'a str>) -> ToolRequest<'a> {
    ToolRequest { tool, kind, command: command.map(Command::Shell), env: &[] }
}

/// The verdict on a request in all four modes, as in the table: A allow, Y approve, ? ask, - deny.
fn row(kind: ToolKind, command: Option<&str>, rules: &Rules) -> String {
    let verdict = |mode| judge(&request("tool", kind, command), mode, rules, false).verdict;
    MODES
        .map(|mode| match verdict(mode) {
            Verdict::Allow => 'A',
            Verdict::AutoApprove => 'Y',
            Verdict::Ask => '?',
            Verdict::Deny => '-',
        })
        .iter()
        .collect()
}

#[test]
fn the_table_is_that_of_the_contract() {
    let rules = Rules::default();
    let blocked = Rules { network_asks: true, plan_blocks_network: true, ..Rules::default() };
    for (kind, command, expected) in [
        (ToolKind::Read, None, "AAAA"),
        (ToolKind::Internal, None, "AAAA"),
        (ToolKind::Agents, None, "AAAA"),
        (ToolKind::Write, None, "?Y-Y"),
        (ToolKind::State, None, "?Y-Y"),
        (ToolKind::Exec, Some("git status --short"), "AYAY"),
        (ToolKind::Exec, Some("echo x > y"), "?Y-Y"),
        (ToolKind::Exec, Some("make"), "?Y?Y"),
        (ToolKind::Exec, None, "?Y?Y"),
        (ToolKind::Network, None, "AAAY"),
        (ToolKind::Unknown, None, "???Y"),
    ] {
        assert_eq!(row(kind, command, &rules), expected, "{kind:?} {command:?}");
    }
    assert_eq!(row(ToolKind::Network, None, &blocked), "?A-Y");
}

#[test]
fn reasons_are_those_of_the_contract() {
    let rules = Rules::default();
    let write = request("write_file", ToolKind::Write, None);
    let denied = judge(&write, Mode::Plan, &rules, false);
    assert_eq!(denied.reason, "write-like tool calls are denied in the active policy mode");
    assert_eq!(judge(&write, Mode::Default, &rules, false).reason, "side-effecting tool call");
    let alone = judge(&write, Mode::Default, &rules, true);
    assert_eq!(alone.verdict, Verdict::Deny);
    assert!(alone.reason.starts_with("side-effecting tool call"));
    assert_eq!(judge(&write, Mode::AcceptAll, &rules, true).verdict, Verdict::AutoApprove);
}

#[test]
fn denied_tools_beat_everything() {
    let rules = Rules {
        denied_tools: vec!["tool".into()],
        auto_approve: MODES.map(|mode| (mode, vec!["*".into()])).to_vec(),
        ..Rules::default()
    };
    for kind in [ToolKind::Read, ToolKind::Write, ToolKind::Unknown, ToolKind::Network] {
        assert_eq!(row(kind, None, &rules), "----");
    }
    assert_eq!(row(ToolKind::Exec, Some("ls"), &rules), "----");
}

#[test]
fn lists_of_a_mode_approve_in_that_mode() {
    let rules = Rules {
        auto_approve: vec![
            (Mode::Default, vec!["tool".into()]),
            (Mode::Plan, vec!["other".into()]),
        ],
        ..Rules::default()
    };
    assert_eq!(row(ToolKind::Write, None, &rules), "YY-Y");
    assert_eq!(row(ToolKind::Read, None, &rules), "AAAA");
    let judgement = judge(&request("tool", ToolKind::Write, None), Mode::Default, &rules, true);
    assert_eq!(judgement.rule.as_deref(), Some("auto_approve.default:tool"));
}

#[test]
fn rules_lift_asks_but_no_denial() {
    let rule = |action, text| Rule::parse(action, text).unwrap();
    let rules = |list: Vec<Rule>| Rules { rules: list, ..Rules::default() };
    let allow = rules(vec![rule(Action::Allow, "tool(make)"), rule(Action::Allow, "tool(rm)")]);
    assert_eq!(row(ToolKind::Exec, Some("make all"), &allow), "AYAY");
    assert_eq!(row(ToolKind::Exec, Some("rm x"), &allow), "AY-Y");
    assert_eq!(row(ToolKind::Exec, Some("make all; cc"), &allow), "?Y?Y");
    let ask = rules(vec![rule(Action::Ask, "tool(ls)")]);
    assert_eq!(row(ToolKind::Exec, Some("ls"), &ask), "???Y");
    let deny = rules(vec![rule(Action::Deny, "tool(ls)")]);
    assert_eq!(row(ToolKind::Exec, Some("cat x | ls"), &deny), "----");
    assert_eq!(row(ToolKind::Exec, Some("cat x"), &deny), "AYAY");
}

#[test]
fn without_a_sandbox_cargo_is_asked_for() {
    let rules = Rules { sandboxed: false, ..Rules::default() };
    assert_eq!(row(ToolKind::Exec, Some("cargo metadata --no-deps"), &rules), "?Y?Y");
    assert_eq!(row(ToolKind::Exec, Some("cargo metadata --no-deps"), &Rules::default()), "AYAY");
    assert_eq!(row(ToolKind::Exec, Some("git status"), &rules), "AYAY");
}

#[test]
fn variables_can_make_a_reader_anything() {
    let set = |name: &str| [(name.to_owned(), Some("x".to_owned()))];
    let argv = ["git".to_owned(), "status".to_owned()];
    assert_eq!(classify(Command::Argv(&argv), &[]), Class::ReadOnly);
    assert_eq!(classify(Command::Argv(&argv), &set("LC_ALL")), Class::ReadOnly);
    for name in ["LD_PRELOAD", "PATH", "GIT_DIR", "GIT_EXTERNAL_DIFF", "BASH_ENV", "lang", ""] {
        assert_eq!(classify(Command::Argv(&argv), &set(name)), Class::Other, "{name}");
    }
    let removed = [("PATH".to_owned(), None)];
    assert_eq!(classify(Command::Argv(&argv), &removed), Class::Other);
}

#[test]
fn argv_is_not_expanded() {
    let argv = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    for (words, class) in [
        (&["echo", "$(rm x)", "> y"][..], Class::ReadOnly),
        (&["sh", "-c", "ls | wc -l"], Class::ReadOnly),
        (&["/bin/bash", "-lc", "git status"], Class::ReadOnly),
        (&["bash", "-lc", "echo x > y"], Class::Writing),
        (&["bash", "-c", "bash -c 'bash -c \"rm x\"'"], Class::Writing),
        (&["bash", "-c"], Class::Other),
        (&["bash", "-i", "-c", "ls"], Class::Other),
        (&["bash", "script.sh"], Class::Other),
        (&["/tmp/bash", "-c", "ls"], Class::Other),
        (&["rm", "x"], Class::Writing),
        (&["ls; rm x"], Class::Other),
        (&[""], Class::Other),
        (&[], Class::Other),
    ] {
        assert_eq!(classify(Command::Argv(&argv(words)), &[]), class, "{words:?}");
    }
}

#[test]
fn what_is_too_much_is_not_known() {
    let deep =
        |open: &str, close: &str, n: usize| format!("{}ls{}", open.repeat(n), close.repeat(n));
    for command in [
        "a".repeat(1 << 20),
        format!("ls {}", "x ".repeat(MAX_COMMAND_BYTES)),
        deep("(", ")", 5000),
        deep("( ", " )", 5000),
        deep("$(", ")", 5000),
        deep("{ ", "; }", 5000),
        deep("((", "))", 3000),
        deep("${", "}", 5000),
        deep("if ", "; then :; fi", 900),
        deep("! ", "", 5000),
        "`".repeat(5001),
        "ls ~99999999999999999999999".to_owned(),
        "ls 99999999999999999999999>x".to_owned(),
        "ls {1..99999999999999999999999}".to_owned(),
        "case x in ".repeat(1000),
        "<".repeat(9000),
        "<<a ".repeat(4000),
        "[[ ".repeat(4000),
        "f() ".repeat(4000),
        "while ".repeat(2000),
    ] {
        let start = std::time::Instant::now();
        let class = classify(Command::Shell(&command), &[]);
        assert_ne!(class, Class::ReadOnly, "{}", &command[..40]);
        assert!(start.elapsed().as_secs() < 5, "{}", &command[..40]);
    }
}

#[test]
fn a_shell_in_a_shell_is_followed_only_so_far() {
    let mut command = "ls".to_owned();
    for _ in 0..2 {
        command = format!("sh -c '{}'", command.replace('\'', r"'\''"));
        assert_eq!(classify(Command::Shell(&command), &[]), Class::ReadOnly, "{command}");
    }
    for _ in 0..5 {
        command = format!("sh -c '{}'", command.replace('\'', r"'\''"));
    }
    assert_eq!(classify(Command::Shell(&command), &[]), Class::Other);
}

/// Pieces from which commands are made that look like shell.
const PIECES: &[&str] = &[
    "ls",
    " ",
    "cat",
    ";",
    "&&",
    "|",
    "||",
    "&",
    "\n",
    "$(",
    ")",
    "(",
    "`",
    "'",
    "\"",
    "\\",
    "${",
    "}",
    "{",
    "x",
    ">",
    "<",
    "<<E\n",
    "2>&1",
    "sed",
    "-i",
    "-n",
    "p",
    "find",
    "-delete",
    "~",
    "1",
    "*",
    "[",
    "]",
    "!",
    "#",
    "=",
    "if ",
    "then ",
    "fi",
    "for ",
    "in ",
    "do ",
    "done",
    "case ",
    "esac",
    "function ",
    "awk",
    "git ",
    "status",
];

proptest! {
    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        classify(Command::Shell(&text), &[]);
    }

    #[test]
    fn no_shell_is_too_strange(parts in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        classify(Command::Shell(&parts.concat()), &[]);
    }

    #[test]
    fn a_file_that_is_written_never_only_reads(
        before in prop::collection::vec(prop::sample::select(PIECES), 0..8),
        name in "[a-z]{1,8}",
    ) {
        let command = format!("ls > {name}\n{}", before.concat());
        prop_assert_ne!(classify(Command::Shell(&command), &[]), Class::ReadOnly);
    }

    #[test]
    fn words_are_taken_as_they_are(text in "[ -~]{0,40}") {
        let quoted = format!("echo '{}'", text.replace('\'', r"'\''"));
        let class = classify(Command::Shell(&quoted), &[]);
        // A backslash before a quote is where shells differ.
        prop_assert_eq!(class == Class::ReadOnly, !text.contains("\\'") && !text.ends_with('\\'));
    }

    #[test]
    fn nothing_unasked_in_plan_mode_unless_it_reads(text in any::<String>()) {
        let request = ToolRequest { tool: "shell", kind: ToolKind::Exec, command: Some(Command::Shell(&text)), env: &[] };
        let judgement = judge(&request, Mode::Plan, &Rules::default(), false);
        prop_assert_eq!(judgement.verdict == Verdict::Allow, judgement.class == Some(Class::ReadOnly));
    }
}
