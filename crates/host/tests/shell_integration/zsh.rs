//! zsh: the user's files are read from the user's folder, and hooks and prompts stay.

use crate::driver::{Home, marks};

const ARGV: &[&str] = &["zsh"];

#[test]
fn zsh_tells_what_happens() {
    crate::tells_what_happens(ARGV, |code| format!("(exit {code})"));
    crate::tells_what_happens(&["zsh", "-l"], |code| format!("(exit {code})"));
}

#[test]
fn zsh_tells_where_it_is() {
    crate::tells_where_it_is(ARGV, Home::new());
}

#[test]
fn zsh_inside_zsh_is_silent() {
    crate::is_alone(ARGV, "exit");
}

#[test]
fn loading_the_script_again_in_zsh_changes_nothing() {
    crate::loading_again_changes_nothing(ARGV, "zsh");
}

#[test]
fn zsh_keeps_silent_when_told() {
    crate::keeps_silent_when_told(ARGV);
}

#[test]
fn zsh_writes_nothing_into_a_file() {
    crate::writes_nothing_into_a_file(&["zsh", "-i"]);
}

#[test]
fn zsh_sends_its_environment_over_ssh() {
    let home = Home::new().with(".zshrc", "alias ssh='ssh -A'\nalias -g print=no local=no\n");
    crate::sends_its_environment_over_ssh(ARGV, home, &["ssh:-A"]);
}

const FILES: &[&str] = &[".zshenv", ".zprofile", ".zshrc", ".zlogin"];

fn with_files(home: Home, folder: &str) -> Home {
    FILES.iter().fold(home, |home, name| {
        let text = format!("echo {folder}{name} >>\"$LOG\"\ntypeset from_file=$from_file:{name}\n");
        home.with(&format!("{folder}{name}"), &text)
    })
}

#[test]
fn startup_files_are_read_once_and_as_zsh_does() {
    let tell = "echo \"$from_file <$ZDOTDIR> <$ROOST_ZSH_ZDOTDIR>\" >>\"$LOG\"";
    for argv in [&["zsh"][..], &["zsh", "-l"]] {
        for folder in ["", "own/"] {
            let mut home = with_files(Home::new(), folder);
            if !folder.is_empty() {
                let own = home.path().join("own");
                home = home.env("ZDOTDIR", own.to_str().unwrap());
            }
            home.start_plain(argv).run_unmarked(tell);
            let plain = home.log();
            assert_eq!(plain.len(), if argv.len() == 1 { 3 } else { 5 }, "{plain:?}");
            let mut shell = home.start(argv);
            shell.prompt();
            shell.run(tell);
            assert_eq!(home.log(), plain, "{argv:?} {folder}");
        }
    }
}

#[test]
fn a_folder_that_the_user_names_in_zshenv_is_read() {
    let home = with_files(Home::new(), "own/").with(".zshenv", "ZDOTDIR=~/own\n");
    home.start(ARGV).prompt();
    assert_eq!(home.log(), ["own/.zshrc"]);
}

#[test]
fn hooks_of_the_user_see_what_they_always_see() {
    let rc = "precmd() { echo \"$?:$pipestatus\" >>$LOG }\npreexec() { echo \"run:$1\" >>$LOG }\n\
              other() { echo \"other:$?\" >>$LOG; false }\nprecmd_functions+=(other)\n";
    let home = Home::new().with(".zshrc", rc);
    let mut shell = home.start(ARGV);
    shell.prompt();
    home.log();
    assert_eq!(marks(&shell.run("false | true | (exit 3)")), ["C", "D;3", "A", "B"]);
    assert_eq!(home.log(), ["run:false | true | (exit 3)", "3:1 0 3", "other:3"]);
    shell.run("echo \"=$?\" >>$LOG");
    assert_eq!(home.log()[1], "=3");
}

#[test]
fn a_debug_trap_stays_and_does_not_see_what_we_do() {
    let home = Home::new().with(".zshrc", "trap 'echo \"debug:$ZSH_DEBUG_CMD\" >>$LOG' DEBUG\n");
    let mut shell = home.start(ARGV);
    shell.prompt();
    assert_eq!(marks(&shell.run("true a")), ["C", "D;0", "A", "B"]);
    let log = home.log();
    assert!(log.contains(&"debug:true a".to_owned()), "{log:#?}");
    assert!(!log.iter().any(|line| line.contains("_roost_report")), "{log:#?}");
}

#[test]
fn a_new_zsh_in_place_of_ours_is_a_plain_one() {
    let home = Home::new().with(".zshrc", "echo rc >>$LOG\n");
    let mut shell = home.start(ARGV);
    shell.prompt();
    shell.send("exec zsh\r");
    shell.until("\x1b]133;C\x07");
    assert_eq!(marks(&shell.run_unmarked("true")), [""; 0]);
    assert_eq!(home.log(), ["rc", "rc"]);
}

#[test]
fn odd_options_do_no_harm() {
    let options = "ksh_arrays sh_word_split no_unset err_exit warn_create_global ksh_glob no_multibyte \
                   no_bare_glob_qual null_glob prompt_subst xtrace";
    let home =
        Home::new().with(".zshenv", &format!("setopt {options}\n")).with(".zshrc", "IFS=13D\n");
    let mut shell = home.start(ARGV);
    let first = shell.prompt();
    assert!(!first.contains("_roost_report"), "{first:?}");
    assert_eq!(marks(&first), ["A", "B"]);
    assert_eq!(marks(&shell.run("false && true")), ["C", "D;1", "A", "B"]);
    shell.run("[[ -o ksh_arrays && -o no_unset && -o prompt_subst ]] && echo kept >>\"$LOG\"");
    assert_eq!(home.log(), ["kept"]);
}

#[test]
fn prompts_of_many_lines_and_prompts_that_change_are_marked_once() {
    let home = Home::new().with(".zshrc", "PS1=$'one\\ntwo %~\\n> '\n");
    let mut shell = home.start(ARGV);
    let first = shell.prompt();
    assert!(first.contains("one\r\ntwo ~\r\n"), "{first:?}");
    assert_eq!(marks(&first), ["A", "B"]);
    assert_eq!(marks(&shell.run("PS1=\"(env) $PS1\"")), ["C", "D;0", "A", "B"]);
    let text = shell.run("true");
    assert!(text.contains("\x1b]133;A\x07(env) one"), "{text:?}");
    assert_eq!(marks(&text), ["C", "D;0", "A", "B"]);
}

#[test]
fn only_the_stock_prompt_is_replaced() {
    let home = Home::new().with(".zshrc", "PS1='%m%# '\n");
    let mut shell = home.start(ARGV);
    let text = shell.prompt();
    assert!(text.contains("\x1b[34m~"), "{text:?}");
    shell.run("sh -c 'echo $ROOST_PS1_APPLIED' >>$LOG");
    assert_eq!(home.log(), ["1"]);
    let home = Home::new().with(".zshrc", "PS1='mine> '\n");
    assert!(home.start(ARGV).prompt().contains("mine> "));
}

#[test]
fn zsh_reports_agents() {
    crate::reports_agents(ARGV, Home::new());
}

#[test]
fn zsh_finds_our_programs() {
    crate::finds_our_programs(ARGV, Home::new().with(".zshrc", "path=(~/bin /usr/bin /bin)\n"));
}

#[test]
fn zsh_keeps_agents_to_itself() {
    crate::keeps_agents_to_itself(ARGV);
}
