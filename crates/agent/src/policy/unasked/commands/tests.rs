//! The rule for commands, sentence by sentence, and what holds for every line.

use proptest::prelude::*;

use super::*;

fn judged(line: &str, allowed: &[&str], denied: &[&str]) -> Outcome {
    let list = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    judge(line, &list(allowed), &list(denied))
}

const APPROVE: Outcome = Outcome::Approve;
const UNLISTED: Outcome = Outcome::Ask(reasons::UNLISTED);
const HIDDEN: Outcome = Outcome::Ask(reasons::HIDDEN);
const DENY: Outcome = Outcome::Deny(reasons::LISTED);

#[test]
fn every_command_of_a_line_counts() {
    let allowed = ["git", "npm test", "echo"];
    for line in [
        "git status",
        "git status && npm test",
        "git status || npm test",
        "git status; npm test",
        "git log | echo",
        "npm test & git status",
        "git status\nnpm test",
        "(git status; npm test)",
        "git log $(echo HEAD)",
        "git log `echo HEAD`",
        "git log \"$(echo HEAD)\"",
        "git diff <(echo a) <(echo b)",
        "echo 'a && rm b; c | d'",
        "echo \"a && rm b; c | d\"",
        "echo a\\;b",
        "echo $((1+2))",
        "git commit -m \"a\nb\"",
        "git status # what changed",
    ] {
        assert_eq!(judged(line, &allowed, &[]), APPROVE, "{line}");
    }
    for line in [
        "git status && make",
        "make || git status",
        "git status; make",
        "git log | make",
        "npm test & make",
        "git status\nmake",
        "(git status; make)",
        "git log $(make)",
        "git log `make`",
        "git log \"$(make)\"",
        "git log \"`make`\"",
        "git diff <(make)",
        "git log >(make)",
        "echo $(git log $(make))",
        "for f in a; do git add $f; done",
        "FOO=1 git status",
        "",
        "   ",
    ] {
        assert_eq!(judged(line, &allowed, &[]), UNLISTED, "{line}");
    }
}

#[test]
fn redirections_of_streams_are_left_out() {
    for line in [
        "npm test 2>&1",
        "npm test >&2",
        "npm test 2>&1 | npm test",
        "2>&1 npm test",
        "npm test &> out.log",
        "npm test &>> out.log; npm test",
        "npm test > out.log 2>&1",
        "npm test 2>&-",
    ] {
        assert_eq!(judged(line, &["npm"], &["rm"]), APPROVE, "{line}");
    }
    // Some shells end the command at the sign, and run what follows the file.
    assert_eq!(judged("npm test &>out rm x", &["npm"], &["rm"]), DENY);
    assert_eq!(judged("npm test &>out make x", &["npm"], &["rm"]), UNLISTED);
}

#[test]
fn the_longest_beginning_decides_and_ties_deny() {
    for (line, allowed, denied, wanted) in [
        ("git push", &["git"][..], &[][..], APPROVE),
        ("git push", &[], &["git"], DENY),
        ("git push", &["git"], &["git push"], DENY),
        ("git push --dry-run", &["git push --dry-run"], &["git push"], APPROVE),
        ("git push", &["git push"], &["git push"], DENY),
        ("git status", &["git"], &["git push"], APPROVE),
        ("make", &["git"], &["git push"], UNLISTED),
        ("make", &[], &[], UNLISTED),
        ("make", &["*"], &[], APPROVE),
        ("make", &["*"], &["*"], DENY),
        ("make", &["make"], &["*"], APPROVE),
        ("m", &["m"], &["*"], DENY),
        ("make", &["*"], &["make"], DENY),
        // A beginning is a beginning, of a word as well.
        ("gitk", &["git"], &[], APPROVE),
        ("gitk", &["git "], &[], UNLISTED),
        // Without case, and entries that say nothing do nothing.
        ("GIT status", &["git"], &[], APPROVE),
        ("git status", &["GIT Status"], &[], APPROVE),
        ("make", &["", "  "], &[""], UNLISTED),
    ] {
        assert_eq!(judged(line, allowed, denied), wanted, "{line} {allowed:?} {denied:?}");
    }
}

#[test]
fn one_denied_command_denies_the_line() {
    for line in [
        "rm -rf x",
        "ls && rm x",
        "rm x; ls",
        "ls | rm",
        "ls & rm x",
        "ls\nrm x",
        "echo $(rm x)",
        "echo `rm x`",
        "echo \"$(rm x)\"",
        "cat <(rm x)",
        "(cd a && rm x)",
        "{ rm x; }",
        "for f in a; do rm $f; done",
        "if true; then rm x; fi",
        "f() { rm x; }; f",
        "! rm x",
        "time rm x",
        "FOO=1 rm x",
        "\"rm\" x",
        "r\\m x",
        "'r'm x",
        "echo $('rm' x)",
        "RM x",
        "  rm   x",
        ">out rm x",
        "sh -c 'rm x'",
        "bash -c \"ls; rm x\"",
        "echo ${x:-$(rm y)}",
        "ls; \\\nrm x",
        "echo ${x@P}; rm y",
        // The parser knows no `!` inside of a pipeline.
        "ls | ! ls && { 'rm' x; }",
        "ls | ! ls; if true; then \"rm\" x; fi",
        "ls | ! ls; for f in a; do r\\m $f; done",
    ] {
        assert_eq!(judged(line, &["*"], &["rm"]), DENY, "{line}");
    }
    // Blanks hide nothing.
    assert_eq!(judged("git   push", &["git"], &["git push"]), DENY);
    assert_eq!(judged("git \\\n push", &["git"], &["git push"]), DENY);
}

#[test]
fn what_may_be_a_denied_command_is_asked_for() {
    for line in [
        "$CMD x",
        "$(echo rm) x",
        "/bin/rm x",
        "./rm x",
        "{rm,x}",
        "$'\\x72m' x",
        "case $x in a) echo b;; esac $(ls)",
        "cat <<E\n'$(ls)'\nE",
        "echo 'open",
        "echo $(open",
        "ls | ! ls",
    ] {
        let wanted = judged(line, &["*"], &["rm"]);
        assert!(matches!(wanted, Outcome::Ask(_)), "{line}: {wanted:?}");
    }
    let long = format!("ls {}", "x".repeat(shell::MAX_COMMAND_BYTES));
    assert_eq!(judged(&long, &["*"], &["rm"]), UNLISTED);
    assert_eq!(judged(&long, &["*"], &[]), APPROVE);
    assert_eq!(judged("git $X", &["git"], &["git push"]), HIDDEN);
    assert_eq!(judged("git log $X", &["git"], &["git push"]), APPROVE);
    assert_eq!(judged("./tools/rm-cache x", &["./tools/rm-cache"], &["rm"]), APPROVE);
}

#[test]
fn expansions_that_hide_commands_are_asked_for() {
    for line in [
        "echo ${x@P}",
        "echo \"${x@Q}\"",
        "echo ${!x}",
        "echo ${x:=\\x24}",
        "echo ${x=a\\044}",
        "cat <<<$(ls)",
        "cat <<< \"`ls`\"",
        "cat =(ls)",
        "echo *(e:'ls':)",
        "echo *.c(.e{ls})",
        "echo *(+run)",
        "echo ${ ls; }",
    ] {
        assert_eq!(judged(line, &["*"], &[]), HIDDEN, "{line}");
        assert_eq!(judged(line, &["echo", "cat", "ls"], &["rm"]), HIDDEN, "{line}");
    }
    for line in ["echo ${x}", "echo ${#x}", "echo ${a[@]}", "cat <<<x", "a=(b c)", "echo ${x:-y}"] {
        assert_eq!(judged(line, &["*"], &[]), APPROVE, "{line}");
    }
}

#[test]
fn quotes_that_only_some_shells_see_hide_nothing() {
    let allowed = ["echo", "ls", "cat", "it"];
    for line in [
        // The quotes of comments and documents are none.
        "ls # '\nmake x #'",
        "echo $(ls # '\nmake x #')",
        "ls # '\necho $(make) #'",
        "cat <<E\nit's\nE\nmake # '",
        "cat <<E\n'$(make)'\nE",
        "echo $'\\'; make #'",
        "echo 'a\\'; make #'",
    ] {
        let wanted = judged(line, &allowed, &[]);
        assert!(matches!(wanted, Outcome::Ask(_)), "{line}: {wanted:?}");
    }
}

/// Commands, ways to join them, and ways to put one into another.
fn lines() -> impl Strategy<Value = (String, bool)> {
    let simple = prop::sample::select(&[
        ("ls -l", false),
        ("git status", false),
        ("echo 'a; b'", false),
        ("echo \"x && y\"", false),
        ("cat f 2>&1", false),
        ("rm x", true),
        ("rm -rf \"a b\"", true),
        ("'rm' x", true),
    ]);
    let wraps = prop::sample::select(&[
        "{}",
        "({})",
        "echo $({})",
        "echo \"$({})\"",
        "echo `{}`",
        "cat <({})",
        "{ {}; }",
        "! {}",
    ]);
    let joins = prop::sample::select(&[" && ", " || ", "; ", " | ", " & ", "\n", ";"]);
    let part = (simple, wraps)
        .prop_map(|((text, is_denied), wrap)| (wrap.replacen("{}", text, 1), is_denied));
    prop::collection::vec((part, joins), 1..5).prop_map(|parts| {
        let is_denied = parts.iter().any(|((_, is_denied), _)| *is_denied);
        let last = parts.len() - 1;
        let texts = parts.into_iter().enumerate().map(
            |(at, ((text, _), join))| {
                if at == last { text } else { text + join }
            },
        );
        (texts.collect(), is_denied)
    })
}

proptest! {
    #[test]
    fn a_line_is_denied_exactly_if_one_of_its_commands_is((line, is_denied) in lines()) {
        prop_assert_eq!(judged(&line, &["*"], &["rm"]) == DENY, is_denied, "{}", line);
        let wanted = judged(&line, &["ls", "git", "echo", "cat", "rm -"], &["rm"]);
        prop_assert_eq!(wanted == APPROVE && line.contains("rm x"), false, "{}", line);
    }

    #[test]
    fn no_text_makes_it_panic(line in "\\PC{0,60}", allowed in "\\PC{0,3}", denied in "\\PC{0,3}") {
        judged(&line, &[&allowed, "*"], &[&denied]);
        judged(&line, &["*"], &[]);
    }

    #[test]
    fn shell_characters_in_any_order_never_approve_what_is_denied(
        pieces in prop::collection::vec(prop::sample::select(&[
            "rm", "rm x", "ls", " ", "'", "\"", "`", "$(", ")", "(", "\\", "\n", ";", "&", "|", "#",
            ">", "<", "${", "}", "x", "=", "case", "2>&1", "&>",
        ]), 0..14)
    ) {
        let line = pieces.concat();
        let wanted = judged(&line, &["*"], &["rm"]);
        if wanted == APPROVE {
            // What was approved is understood, and no command in it begins so.
            let parts = lines::split(&line).unwrap();
            let is_denied = |part: &String| part.to_lowercase().starts_with("rm");
            prop_assert!(!parts.iter().any(is_denied), "{}", line);
        }
    }
}
