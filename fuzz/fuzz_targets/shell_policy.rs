//! The shell policy: no command makes it panic, and what it says only reads has no redirection to a
//! file, runs nothing beside, and stays no reader in the company of a writer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_agent::policy::unasked::{self, Call, Outcome};
use rookery_agent::policy::{
    Action, Class, Command, Rule, Rules, ToolRequest, Verdict, classify, judge,
};
use rookery_model::{Mode, ToolKind, Unasked};

fuzz_target!(
    init: {
        // The parser of shells is not ours: policy survives its panics, and so must this program.
        // Whatever gets out of policy still ends it.
        std::panic::set_hook(Box::new(|panic| {
            let is_foreign = |file: &str| file.contains("brush-parser") || file.contains("/peg-");
            if !panic.location().is_some_and(|at| is_foreign(at.file())) {
                eprintln!("{panic}");
            }
        }));
    },
    |input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        let (rule, command) = text.split_once('\n').unwrap_or(("", &text));
        check_class(command);
        check_words(command);
        check_modes(command);
        check_rule(rule, command);
        check_lists(rule, command);
    }
);

fn only_reads(command: &str) -> bool {
    classify(Command::Shell(command), &[]) == Class::ReadOnly
}

fn check_class(command: &str) {
    let reads = only_reads(command);
    if reads {
        let characters = unquoted(command).expect("what is understood closes its quotes");
        assert!(!writes(&characters), "a file is written by {command:?}");
        assert!(!runs_beside(&characters), "something is run beside {command:?}");
        let env = [("PATH".to_owned(), Some("/tmp".to_owned()))];
        assert_ne!(classify(Command::Shell(command), &env), Class::ReadOnly);
        // A backslash at the end would take the line break.
        if !command.ends_with('\\') {
            assert!(!only_reads(&format!("{command}\nrm x")), "behind {command:?}");
        }
        assert!(!only_reads(&format!("rm x\n{command}")), "before {command:?}");
    }
    if !command.contains('\'') && only_reads(&format!("sh -c '{command}'")) {
        assert!(reads, "only inside of a shell {command:?} reads");
    }
}

/// Plain words mean the same to a shell and without one.
fn check_words(command: &str) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_./".contains(c);
    if !command.chars().all(is_plain) {
        return;
    }
    let argv: Vec<String> = command.split_ascii_whitespace().map(str::to_owned).collect();
    let without_shell = classify(Command::Argv(&argv), &[]) == Class::ReadOnly;
    assert_eq!(only_reads(command), without_shell, "{command:?}");
}

fn judged(command: &str, mode: Mode, rules: &Rules) -> Verdict {
    let command = Some(Command::Shell(command));
    let request = ToolRequest { tool: "shell", kind: ToolKind::Exec, command, env: &[] };
    let attended = judge(&request, mode, rules, false);
    let unattended = judge(&request, mode, rules, true);
    assert_ne!(unattended.verdict, Verdict::Ask);
    if attended.verdict != Verdict::Ask {
        assert_eq!(attended, unattended);
    }
    attended.verdict
}

fn check_modes(command: &str) {
    let rules = Rules::default();
    let expected = match classify(Command::Shell(command), &[]) {
        Class::ReadOnly => [Verdict::Allow, Verdict::Allow],
        Class::Writing => [Verdict::Ask, Verdict::Deny],
        Class::Other => [Verdict::Ask, Verdict::Ask],
    };
    assert_eq!([Mode::Default, Mode::Plan].map(|mode| judged(command, mode, &rules)), expected);
}

fn check_rule(text: &str, command: &str) {
    let with = |rule: Rule| Rules { rules: vec![rule], ..Rules::default() };
    if let Some(rule) = Rule::parse(Action::Allow, text) {
        assert_eq!(Rule::parse(Action::Allow, &rule.text()).as_ref(), Some(&rule));
        let plan = judged(command, Mode::Plan, &with(rule));
        let is_denied = judged(command, Mode::Plan, &Rules::default()) == Verdict::Deny;
        assert!(!is_denied || plan == Verdict::Deny, "a rule allows what the mode denies");
    }
    // What is forbidden is forbidden, or asked for if it is not understood.
    let all = Rule::parse(Action::Deny, "shell(*)").expect("a rule");
    assert!(matches!(judged(command, Mode::Default, &with(all)), Verdict::Deny | Verdict::Ask));
}

/// What a task's list denies is never approved, however it is joined with others.
fn check_lists(entry: &str, command: &str) {
    let judged = |command: &str, denied: &str| {
        let unasked = Unasked {
            is_on: true,
            commands: true,
            allowed_commands: vec!["*".to_owned()],
            denied_commands: vec![denied.to_owned()],
            ..Unasked::default()
        };
        let (kind, command) = (ToolKind::Exec, Some(command));
        unasked::judge(
            &unasked,
            &Call {
                tool: "shell",
                kind,
                is_foreign: false,
                is_always_allowed: false,
                command,
                paths: Some(&[]),
            },
        )
    };
    judged(command, entry);
    assert_ne!(judged(command, "*"), Outcome::Approve);
    if !command.ends_with('\\') {
        assert_ne!(
            judged(&format!("{command}\nrm x"), "rm"),
            Outcome::Approve,
            "behind {command:?}"
        );
    }
    assert_ne!(judged(&format!("rm x\n{command}"), "rm"), Outcome::Approve, "before {command:?}");
}

/// A character of a command, and whether quotes or a backslash take its meaning away.
type Character = (char, bool);

/// The characters of a command without its quotes and comments; none if a quote is not closed.
fn unquoted(command: &str) -> Option<Vec<Character>> {
    let mut characters: Vec<Character> = Vec::new();
    let mut rest = command.chars();
    while let Some(next) = rest.next() {
        let begins_word = characters.last().is_none_or(|(c, quoted)| !quoted && ends_word(*c));
        match next {
            '\\' => characters.extend(rest.next().map(|c| (c, true))),
            '\'' => loop {
                match rest.next()? {
                    '\'' => break,
                    c => characters.push((c, true)),
                }
            },
            '"' => loop {
                match rest.next()? {
                    '"' => break,
                    '\\' => characters.push((rest.next()?, true)),
                    // These keep their meaning.
                    c => characters.push((c, !matches!(c, '`' | '$'))),
                }
            },
            '#' if begins_word => {
                rest.find(|c| *c == '\n');
                characters.push(('\n', false));
            }
            c => characters.push((c, false)),
        }
    }
    Some(characters)
}

fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '|' | '&' | ';' | '<' | '>' | '(' | ')')
}

/// Whether there is a redirection of output to anything but nothing and the other stream.
fn writes(characters: &[Character]) -> bool {
    let mut rest = characters;
    while let Some(at) = rest.iter().position(|c| *c == ('>', false)) {
        rest = &rest[at + 1..];
        let operator = rest.first().copied().filter(|c| matches!(c, ('>' | '&' | '|', false)));
        rest = &rest[usize::from(operator.is_some())..];
        let word: String = rest
            .iter()
            .skip_while(|c| matches!(c, (' ' | '\t', false)))
            .take_while(|(c, quoted)| *quoted || !ends_word(*c))
            .map(|(c, _)| *c)
            .collect();
        let is_harmless = match operator {
            Some(('&', _)) => matches!(word.as_str(), "1" | "2"),
            Some(('|', _)) => false,
            _ => word == "/dev/null",
        };
        if !is_harmless {
            return true;
        }
    }
    false
}

/// Whether there is a substitution, a group or a command in the background.
fn runs_beside(characters: &[Character]) -> bool {
    let at = |index: usize| characters.get(index).copied().unwrap_or(('\n', false));
    (0..characters.len()).any(|index| {
        let before = index.checked_sub(1).map_or(('\n', false), at);
        match at(index) {
            ('`' | '(' | ')', false) => true,
            ('$', false) => matches!(at(index + 1).0, '(' | '[' | '\''),
            // `&&`, `>&` and `|&`: the last joins both streams, or in ksh starts the command before it
            // beside the one behind it, and both are judged.
            ('&', false) => {
                !matches!(before, ('&' | '>' | '|', false)) && at(index + 1) != ('&', false)
            }
            _ => false,
        }
    })
}
