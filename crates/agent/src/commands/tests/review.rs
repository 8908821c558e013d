//! The flags of the review.

use proptest::prelude::*;

use super::super::review::{Change, Request};

fn check(arguments: &str, change: Change, instructions: &str) {
    let expected = Request { change, instructions: instructions.into() };
    assert_eq!(Request::parse(arguments), Ok(expected), "{arguments}");
}

#[test]
fn flags_come_before_instructions() {
    check("", Change::Uncommitted, "");
    check(" look  at --base twice ", Change::Uncommitted, "look  at --base twice");
    check("--uncommitted be kind", Change::Uncommitted, "be kind");
    check("--base origin/main be\nkind", Change::Base("origin/main".into()), "be\nkind");
    check("--base=v1.0~2", Change::Base("v1.0~2".into()), "");
    check("--commit 0a1b2c3", Change::Commit("0a1b2c3".into()), "");
    check("--commit HEAD@{1} -- --really", Change::Commit("HEAD@{1}".into()), "--really");
}

#[test]
fn wrong_flags_are_named() {
    for (arguments, said) in [
        ("--base", "--base needs a value"),
        ("--commit= x", "--commit needs a value"),
        ("--base --output=x", "the value of --base is not a revision"),
        ("--commit a;b", "the value of --commit is not a revision"),
        ("--fast", "unknown flag --fast"),
        ("--uncommitted=yes", "unknown flag --uncommitted"),
        ("--base a --commit b", "only one of --base, --commit and --uncommitted can be given"),
    ] {
        assert_eq!(Request::parse(arguments), Err(said.into()), "{arguments}");
    }
}

proptest! {
    #[test]
    fn no_arguments_panic(arguments in "(--|base|commit|uncommitted|=| |\n|é|-|x){0,10}") {
        let _ = Request::parse(&arguments);
    }
}
