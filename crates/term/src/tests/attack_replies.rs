//! Replies are typed into whatever reads the terminal next, so none may carry text that a program chose.

use proptest::prelude::*;
use regex::Regex;

use super::{feed, replies, screen, streams::stream};

/// What a hostile program would like to see typed.
const CHOSEN: &str = "rm -rf ~";

/// Everything that the emulator may ever answer: fixed texts and numbers.
fn is_harmless(reply: &str) -> bool {
    let harmless = concat!(
        r"^(?:\x1b\[\?62;22c|\x1b\[>0;\d+;1c|\x1bP!\|0{8}\x1b\\|\x1bP>\|rookery [0-9.]+\x1b\\",
        r"|\x1b\[0n|\x1b\[\d+;\d+R|\x1b\[\??\d{1,5};[0-4]\$y",
        r"|\x1b\](?:4;\d{1,3}|1[012]);rgb:[0-9a-f]{4}/[0-9a-f]{4}/[0-9a-f]{4}\x07",
        r"|\x1b\]l\x1b\\|\x1b\[(?:4|6|8);\d+;\d+t|\x1b\[48;\d+;\d+;\d+;\d+t",
        r"|\x1b\[\?\d{1,3}u|\x1b\[>4;\dm|\x1b\[\?997;[12]n)*$",
    );
    Regex::new(harmless).unwrap().is_match(reply)
}

/// Ways to leave a text in the terminal, each with `@` where the text goes.
const LEAVING: &[&str] = &[
    "\x1b]0;@\x07",
    "\x1b]2;\r@\r\x1b\\",
    "\x1b]1;@\x07",
    "\x1b]l@\x1b\\",
    "\x1b]L@\x1b\\",
    "\x1b]2;@\x07\x1b[22;0t\x1b]2;x\x07\x1b[23;0t",
    "\x1bk@\x1b\\",
    "\x1b]52;c;cm0gLXJmIH4=\x07",
    "\x1b]4;1;@\x07",
    "\x1b]10;@\x07",
    "\x1b]8;id=@;http://@/\x07",
    "\x1b]7;file://@/@\x07",
    "\x1b]9;@\x07\x1b]99;;@\x07\x1b]777;notify;@;@\x07",
    "\x1b]133;A;@\x07",
    "\x1bP1$r@\x1b\\",
    "\x1bP1+r@=@\x1b\\",
    "\x1b_Gi=1;@\x1b\\",
    "\x1b^@\x1b\\",
    "@",
];

/// Ways to ask the terminal for something.
const ASKING: &[&str] = &[
    "\x05",
    "\x1bZ",
    "\x1b[c",
    "\x1b[>c",
    "\x1b[=c",
    "\x1b[>q",
    "\x1b[5n",
    "\x1b[6n",
    "\x1b[?6n",
    "\x1b[?15n",
    "\x1b[?996n",
    "\x1b[11t",
    "\x1b[13t",
    "\x1b[14t",
    "\x1b[16t",
    "\x1b[18t",
    "\x1b[19t",
    "\x1b[20t",
    "\x1b[21t",
    "\x1b[21;0t",
    "\x1b[4;1$p",
    "\x1b[?2004$p",
    "\x1b[?99999$p",
    "\x1b[?u",
    "\x1b[?4m",
    "\x1b[1$w",
    "\x1b[2$w",
    "\x1b[1;1;1;1;24;80*y",
    "\x1b]4;1;?\x07",
    "\x1b]4;@;?\x07",
    "\x1b]4;1;?@\x07",
    "\x1b]10;?\x07",
    "\x1b]10;?;?;?;@\x07",
    "\x1b]11;?@\x07",
    "\x1b]12;?\x1b\\",
    "\x1b]50;?\x07",
    "\x1b]52;c;?\x07",
    "\x1b]52;p;?\x1b\\",
    "\x1b]60\x07",
    "\x1b]61\x07",
    "\x1b]99;i=@:p=?;\x1b\\",
    "\x1bP$qm\x1b\\",
    "\x1bP$q@\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1bP+q@\x1b\\",
    "\x1b_Gi=1,s=1,v=1,a=q,t=d,f=24;@\x1b\\",
];

#[test]
fn attack_no_question_types_what_a_program_chose() {
    for leave in LEAVING {
        for ask in ASKING {
            let hostile = [leave, *ask].concat().replace('@', CHOSEN);
            let mut live = screen(24, 80);
            let reply = String::from_utf8(feed(&mut live, &hostile).replies).unwrap();
            assert!(is_harmless(&reply), "{hostile:?} is answered with {reply:?}");
        }
    }
}

#[test]
fn attack_the_title_is_always_reported_as_empty() {
    assert_eq!(replies("\x1b]2;a\u{9b}31mb\rc; d \x07\x1b[21t"), "ESC]lESC\\");
    assert_eq!(replies("\x1b[21t"), "ESC]lESC\\");
}

proptest! {
    #[test]
    fn attack_no_stream_is_answered_with_anything_else(
        bytes in stream(40),
        questions in proptest::collection::vec(0..ASKING.len(), 0..8),
    ) {
        let mut live = screen(5, 20);
        let mut reply = feed(&mut live, &bytes).replies;
        for question in questions {
            reply.extend(feed(&mut live, ASKING[question].replace('@', CHOSEN)).replies);
        }
        let reply = String::from_utf8(reply).unwrap();
        prop_assert!(is_harmless(&reply), "{bytes:?} is answered with {reply:?}");
    }
}
