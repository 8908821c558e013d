//! fish: its own prompt, title and events stay the user's.

use crate::driver::{Home, marks, reports};

const ARGV: &[&str] = &["fish"];

#[test]
fn fish_tells_what_happens() {
    crate::tells_what_happens(ARGV, |code| format!("sh -c 'exit {code}'"));
    crate::tells_what_happens(&["fish", "-l"], |code| format!("sh -c 'exit {code}'"));
}

#[test]
fn fish_tells_where_it_is() {
    crate::tells_where_it_is(ARGV, Home::new());
}

#[test]
fn fish_inside_fish_is_silent() {
    crate::is_alone(ARGV, "exit");
}

#[test]
fn loading_the_script_again_in_fish_changes_nothing() {
    crate::loading_again_changes_nothing(ARGV, "fish");
}

#[test]
fn fish_keeps_silent_when_told() {
    crate::keeps_silent_when_told(ARGV);
}

#[test]
fn fish_writes_nothing_into_a_file() {
    crate::writes_nothing_into_a_file(&["fish", "-i"]);
}

#[test]
fn fish_sends_its_environment_over_ssh() {
    crate::sends_its_environment_over_ssh(ARGV, Home::new(), &[]);
}

#[test]
fn what_the_user_has_defined_stays() {
    let config = "echo config >>$LOG\n\
                  function fish_prompt; echo \"<$status $pipestatus>\"; end\n\
                  function fish_title; echo mine; end\n\
                  function after --on-event fish_postexec; echo \"after:$status:$pipestatus\" >>$LOG; end\n\
                  function ssh; echo own ssh >>$LOG; end\n";
    let home = Home::new().with(".config/fish/config.fish", config).with_ssh();
    let mut shell = home.start(ARGV);
    let first = shell.prompt();
    assert!(reports(&first).contains(&"0;mine".to_owned()), "{first:?}");
    let text = shell.run("false | sh -c 'exit 3'");
    assert!(text.contains("<3 1 3>"), "{text:?}");
    assert_eq!(marks(&text), ["C", "D;3", "A", "B"]);
    shell.run("ssh host");
    assert_eq!(home.log(), ["config", "after:3:1 3", "own ssh", "after:0:0"]);
}

#[test]
fn fish_reports_agents() {
    crate::reports_agents(ARGV, Home::new());
}

#[test]
fn fish_finds_our_programs() {
    crate::finds_our_programs(
        ARGV,
        Home::new().with(".config/fish/config.fish", "set -gx PATH ~/bin /usr/bin /bin\n"),
    );
}

#[test]
fn fish_keeps_agents_to_itself() {
    crate::keeps_agents_to_itself(ARGV);
}
