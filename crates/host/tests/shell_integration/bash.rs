//! bash: nothing of the user's is lost, and bash starts as it always does.

use crate::driver::{Home, marks, reports};

const ARGV: &[&str] = &["bash"];

#[test]
fn bash_tells_what_happens() {
    crate::tells_what_happens(ARGV, |code| format!("(exit {code})"));
    crate::tells_what_happens(&["bash", "-l"], |code| format!("(exit {code})"));
}

#[test]
fn bash_tells_where_it_is() {
    crate::tells_where_it_is(ARGV, Home::new().with(".bashrc", "PS1='$ '\n"));
}

#[test]
fn bash_inside_bash_is_silent() {
    crate::is_alone(ARGV, "exit");
}

#[test]
fn loading_the_script_again_in_bash_changes_nothing() {
    crate::loading_again_changes_nothing(ARGV, "bash");
}

#[test]
fn bash_keeps_silent_when_told() {
    crate::keeps_silent_when_told(ARGV);
}

#[test]
fn bash_writes_nothing_into_a_file() {
    crate::writes_nothing_into_a_file(&["bash", "-i"]);
}

#[test]
fn bash_sends_its_environment_over_ssh() {
    let home = Home::new().with(".bashrc", "alias ssh='ssh -A'\nalias printf=no local=no\n");
    crate::sends_its_environment_over_ssh(ARGV, home, &["ssh:-A"]);
}

#[test]
fn an_ssh_function_of_the_user_stays() {
    let rc = "ssh() { echo mine >>\"$LOG\"; }\n";
    let home = Home::new().with(".bashrc", rc).with_ssh();
    let mut shell = home.start(ARGV);
    shell.prompt();
    shell.run("ssh host");
    assert_eq!(home.log(), ["mine"]);
}

fn home_with_files() -> Home {
    let names = [".bashrc", ".bash_profile", ".bash_login", ".profile", ".sh_history", "env"];
    names.iter().fold(Home::new(), |home, name| {
        // A declaration in a file is global, and `return` ends the file alone.
        let text = format!(
            "echo {name} >>\"$LOG\"\ndeclare from_file=$from_file:{name}\nreturn\necho no >>\"$LOG\"\n"
        );
        home.with(name, &text)
    })
}

#[test]
fn startup_files_are_read_once_and_as_bash_does() {
    for argv in [&["bash"][..], &["bash", "-l"], &["bash", "-i"]] {
        let home = home_with_files();
        home.start_plain(argv).run_unmarked("echo \"$from_file\" >>\"$LOG\"");
        let plain = home.log();
        let mut shell = home.start(argv);
        shell.prompt();
        shell.run("echo \"$from_file\" >>\"$LOG\"");
        assert_eq!(home.log(), plain, "{argv:?}");
        assert_eq!(plain.len(), 2, "{plain:?}");
    }
    let home = home_with_files();
    std::fs::remove_file(home.path().join(".bash_profile")).unwrap();
    home.start(&["bash", "-l"]).prompt();
    assert_eq!(home.log(), [".bash_login"]);
    std::fs::remove_file(home.path().join(".bash_login")).unwrap();
    home.start(&["bash", "-l"]).prompt();
    assert_eq!(home.log(), [".profile"]);
}

/// Options, traps, variables and key bindings after the start, but for what says which shell it is.
const STATE: &str = "{ shopt -p; set +o; trap -p; alias; declare -p; bind -v; bind -p; shopt -p login_shell; } \
     | grep -Ev ' (_|BASHPID|EPOCH[A-Z]*|RANDOM|SRANDOM|SECONDS|PIPESTATUS|FUNCNAME|BASH_[A-Z]*|ROOST_[A-Z_]*|__roost_[a-z_]*)(=|$)' \
     >\"$HOME/state\"";

#[test]
fn bash_is_in_no_other_state_than_without_us() {
    let all = "no-cwd,no-title,no-marks,no-prompt,no-ssh-env";
    for (env, value) in [("ENV", "/mine"), ("HISTFILE", "/tmp/nowhere/h"), ("OTHER", "")] {
        for argv in [&["bash"][..], &["bash", "-l"]] {
            let home = Home::new().env("ROOST_SHELL_FEATURES", all).env(env, value);
            let read = || std::fs::read_to_string(home.path().join("state")).unwrap();
            home.start_plain(argv).run_unmarked(STATE);
            let plain = read();
            home.start(argv).run_unmarked(STATE);
            let ours = read();
            let differs: Vec<_> = plain
                .lines()
                .filter(|line| !ours.contains(line))
                .chain(ours.lines().filter(|line| !plain.contains(line)))
                .collect();
            assert!(differs.is_empty(), "{argv:?} {env}: {differs:#?}");
            assert!(plain.contains("set +o posix"), "{plain}");
        }
    }
}

const TELL: &str = "echo \"$?:${PIPESTATUS[*]}\" >>\"$LOG\"";

#[test]
fn a_prompt_command_of_the_user_sees_what_it_always_sees() {
    for rc in [
        format!("PROMPT_COMMAND='{TELL}'\n"),
        format!("PROMPT_COMMAND=('false' '{TELL}')\n"),
        format!("set -u\nPROMPT_COMMAND=('{TELL}' '')\n"),
    ] {
        let home = Home::new().with(".bashrc", &rc);
        let mut shell = home.start(ARGV);
        shell.prompt();
        shell.run("false | true | (exit 3)");
        shell.run("(exit 130)");
        assert_eq!(marks(&shell.run("echo \"=$?\" >>\"$LOG\"")), ["C", "D;0", "A", "B"]);
        assert_eq!(home.log()[1..], ["3:1 0 3", "130:130", "=130", "0:0"], "{rc}");
        // Set later, it takes the place of the user's and not of ours.
        shell.run("PROMPT_COMMAND='echo later >>\"$LOG\"'");
        assert_eq!(marks(&shell.run("false")), ["C", "D;1", "A", "B"], "{rc}");
        assert!(home.log().contains(&"later".to_owned()));
    }
}

#[test]
fn an_older_bash_keeps_its_one_prompt_command() {
    let home = Home::new().with(".bashrc", &format!("PROMPT_COMMAND='{TELL}; declare mine=1;'\n"));
    let script = home.resources.join("shell-integration/roost.bash");
    let text = std::fs::read_to_string(&script).unwrap();
    assert!(text.contains("< 501"));
    std::fs::write(&script, text.replace("< 501", "< 9999")).unwrap();
    let mut shell = home.start(ARGV);
    shell.prompt();
    assert_eq!(marks(&shell.run("false | true | (exit 3)")), ["C", "D;3", "A", "B"]);
    assert_eq!(marks(&shell.run("false | true")), ["C", "D;0", "A", "B"]);
    assert_eq!(
        marks(&shell.run("echo \"$mine\" >>\"$LOG\"; (exit 130)")),
        ["C", "D;130", "A", "B"]
    );
    assert_eq!(home.log()[1..], ["3:1 0 3", "0:1 0", "1", "130:130"]);
    shell.run("set -e");
    assert_eq!(marks(&shell.run("false && true")), ["C", "D;1", "A", "B"], "the shell lives");
}

#[test]
fn a_debug_trap_and_a_prompt_before_commands_stay() {
    let rc = "trap 'echo \"debug:$BASH_COMMAND\" >>\"$LOG\"' DEBUG\nPS0='<mine \\w>'\n";
    let home = Home::new().with(".bashrc", rc);
    let mut shell = home.start(ARGV);
    shell.prompt();
    home.log();
    let text = shell.run("true a");
    assert!(text.contains("<mine ~>"), "{text:?}");
    assert_eq!(marks(&text), ["C", "D;0", "A", "B"]);
    assert_eq!(home.log(), ["debug:true a", "debug:__roost_prompt"]);
    assert_eq!(marks(&shell.run("shopt -u promptvars; PS0='<new>'")), ["C", "D;0", "A", "B"]);
    let text = shell.run("false");
    assert!(text.contains("<new>") && !text.contains("BASH_VERSION"), "{text:?}");
    assert_eq!(marks(&text), ["C", "D;1", "A", "B"]);
}

/// A trap of the user's, set before ours or after it, runs for each command and sees what it always
/// sees, and agents are reported all the same.
mod attack_debug_trap {
    use super::*;

    const TRAP: &str = "trap 'echo \"debug:$?:$_:$BASH_COMMAND\" >>\"$LOG\"' DEBUG";

    fn of_user(log: Vec<String>) -> Vec<String> {
        log.into_iter().filter(|line| !line.contains("__roost_")).collect()
    }

    /// Waits for what an agent's start and end are reported by.
    fn agent_lines(home: &Home, count: usize) -> Vec<String> {
        let log = home.logged(count);
        log.into_iter().filter(|line| line.starts_with('-')).collect()
    }

    #[test]
    fn set_in_the_startup_file_it_stays_and_agents_are_reported() {
        let home = Home::new().with(".bashrc", &format!("{TRAP}\n")).with_agents();
        let mut shell = home.start(ARGV);
        shell.prompt();
        shell.run("true z");
        home.log();
        shell.run("true a");
        shell.run("false b");
        shell.run("true c");
        let expected = ["debug:0:z:true a", "debug:0:a:false b", "debug:1:b:true c"];
        assert_eq!(of_user(home.log()), expected);
        shell.run("claude");
        // The user's trap for it and for the prompt, then both reports.
        let log = agent_lines(&home, 4);
        assert!(log.iter().any(|line| line.contains("claude started")), "{log:?}");
        assert!(log.iter().any(|line| line.contains("claude finished")), "{log:?}");
    }

    #[test]
    fn set_by_hand_later_it_stays_and_agents_are_reported() {
        let home = Home::new().with_agents();
        let mut shell = home.start(ARGV);
        shell.prompt();
        shell.run(TRAP);
        // The next prompt sees that the trap is another one, the one after it has both.
        shell.run("true a");
        shell.run("true b");
        home.log();
        shell.run("true c");
        assert_eq!(of_user(home.log()), ["debug:0:b:true c"]);
        shell.run("claude 3");
        let log = agent_lines(&home, 4);
        assert!(log.iter().any(|line| line.contains("claude failed")), "{log:?}");
        shell.run("trap - DEBUG");
        shell.run("true d");
        home.log();
        shell.run("true e");
        assert_eq!(of_user(home.log()), [""; 0], "taken away, it stays away");
    }

    #[test]
    fn an_older_bash_keeps_it_beside_its_one_prompt_command() {
        let rc = format!("{TRAP}\nPROMPT_COMMAND='true mine'\n");
        let home = Home::new().with(".bashrc", &rc).with_agents();
        let script = home.resources.join("shell-integration/roost.bash");
        let text = std::fs::read_to_string(&script).unwrap();
        std::fs::write(&script, text.replace("< 501", "< 9999")).unwrap();
        let mut shell = home.start(ARGV);
        shell.prompt();
        shell.run("true z");
        home.log();
        shell.run("false a");
        shell.run("true b");
        let log = home.log();
        assert!(log.contains(&"debug:0:z:false a".to_owned()), "{log:?}");
        assert!(log.contains(&"debug:1:a:true b".to_owned()), "{log:?}");
        assert!(log.iter().any(|line| line.ends_with(":true mine")), "{log:?}");
        shell.run("claude 3");
        let reported = |log: &[String]| log.iter().any(|line| line.contains("claude failed"));
        let mut log = Vec::new();
        while !reported(&log) {
            log.extend(home.logged(1));
        }
        assert!(log.iter().any(|line| line.contains("claude started")), "{log:?}");
    }

    #[test]
    fn a_trap_that_skips_commands_goes_on_to() {
        let rc = "shopt -s extdebug\ntrap '[[ $BASH_COMMAND != \"touch skipped\" ]]' DEBUG\n";
        let home = Home::new().with(".bashrc", rc).with_agents();
        let mut shell = home.start(ARGV);
        shell.prompt();
        shell.run("touch skipped");
        shell.run("(exit 3)");
        shell.run("touch made");
        assert!(home.path().join("made").exists());
        assert!(!home.path().join("skipped").exists());
    }

    #[test]
    fn without_one_ours_returns_success() {
        let home = Home::new().with_agents();
        let mut shell = home.start(ARGV);
        shell.prompt();
        shell.run("shopt -s extdebug");
        shell.run("(exit 3)");
        shell.run("touch made");
        assert!(home.path().join("made").exists());
    }

    #[test]
    fn prompt_commands_as_text_and_as_a_list_are_kept_as_they_were() {
        for rc in ["PROMPT_COMMAND='true x'", "PROMPT_COMMAND=('true x' 'true y')", ""] {
            let home = Home::new().with(".bashrc", &format!("{TRAP}\n{rc}\n")).with_agents();
            let mut shell = home.start(ARGV);
            shell.prompt();
            shell.run("true");
            home.log();
            shell.run("printf '<%s>' \"${PROMPT_COMMAND[@]}\" >>\"$HOME/commands\"");
            let commands = std::fs::read_to_string(home.path().join("commands")).unwrap();
            let user = rc.matches("true").count();
            assert_eq!(commands.matches('<').count(), user + 1, "{rc}: {commands}");
            assert!(commands.ends_with("<__roost_prompt>"), "{rc}: {commands}");
        }
    }
}

#[test]
fn strict_options_and_an_odd_separator_do_no_harm() {
    let rc =
        "set -euET\nIFS=/1D3;\ntrap 'echo err >>\"$LOG\"' ERR\nreadonly status=1 code=2 out=3\n";
    let home = Home::new().with(".bashrc", rc);
    let mut shell = home.start(ARGV);
    shell.prompt();
    std::fs::create_dir(home.path().join("a 1;D")).unwrap();
    let moved = shell.run("cd a*");
    assert!(reports(&moved).iter().any(|part| part.ends_with("/a%201%3BD")), "{moved:?}");
    assert_eq!(marks(&moved), ["C", "D;0", "A", "B"]);
    assert_eq!(marks(&shell.run("false && true")), ["C", "D;1", "A", "B"]);
    assert_eq!(home.log(), [""; 0], "no error but the user's own");
    shell.run("x=ü; echo \"${#x} $- $IFS\" >>\"$LOG\"");
    let log = home.log();
    assert!(log[0].starts_with("1 e") && log[0].ends_with(" /1D3"), "{log:?}");
}

#[test]
fn a_trace_shows_no_more_than_a_name() {
    let home = Home::new();
    let mut shell = home.start(ARGV);
    shell.prompt();
    shell.run("set -x");
    let text = shell.run("true");
    let traced: Vec<_> = text.lines().filter(|line| line.contains("+ ")).collect();
    assert_eq!(traced.len(), 2, "{text:?}");
}

#[test]
fn prompts_of_many_lines_and_prompts_that_change_are_marked_once() {
    let home = Home::new().with(".bashrc", "PS1='one\\ntwo $(echo three)\\n> '\n");
    let mut shell = home.start(ARGV);
    let first = shell.prompt();
    assert!(first.replace('\r', "").contains("one\ntwo three\n> "), "{first:?}");
    assert_eq!(marks(&first), ["A", "B"]);
    let text = shell.run("PS1=\"(env) $PS1\"");
    assert!(text.contains("\x1b]133;A\x07(env) one"), "{text:?}");
    assert_eq!(marks(&text), ["C", "D;0", "A", "B"]);
    assert_eq!(marks(&shell.run("readonly PS1; unset PS0")), ["C", "D;0", "A", "B"]);
    assert_eq!(marks(&shell.run("true")), ["C", "D;0", "A", "B"]);
}

#[test]
fn only_the_stock_prompt_is_replaced() {
    let home = Home::new().with(".bashrc", "PS1='\\s-\\v\\$ '\n");
    let mut shell = home.start(ARGV);
    let text = shell.prompt();
    assert!(text.contains("\x1b[1;34m~\x1b[0m "), "{text:?}");
    shell.run("sh -c 'echo $ROOST_PS1_APPLIED' >>\"$LOG\"");
    assert_eq!(home.log(), ["1"]);

    let home = Home::new().with(".bashrc", "PS1='mine> '\n");
    let mut shell = home.start(ARGV);
    assert!(shell.prompt().contains("mine> "));
    shell.run("echo \"<$ROOST_PS1_APPLIED>\" >>\"$LOG\"");
    assert_eq!(home.log(), ["<>"]);
}

#[test]
fn a_new_bash_in_place_of_ours_is_a_plain_one() {
    let home = Home::new().with(".bashrc", "echo rc >>\"$LOG\"\n").env("ENV", "/mine");
    let mut shell = home.start(ARGV);
    shell.prompt();
    shell.send("exec bash\r");
    shell.until("\x1b]133;C\x07");
    let text = shell.run_unmarked("shopt -qo posix || echo \"$ENV\" >>\"$LOG\"");
    assert_eq!(marks(&text), [""; 0], "{text:?}");
    assert_eq!(home.log(), ["rc", "rc", "/mine"]);
}

#[test]
fn a_bash_that_runs_a_command_is_untouched() {
    let home = Home::new();
    let (argv, _) = home.prepared(&["bash", "-c", "echo hi"]);
    assert_eq!(argv, ["bash", "-c", "echo hi"]);
    let mut shell = home.start(&["bash", "-c", "echo hi; read -r"]);
    assert_eq!(shell.until("hi\r\n"), "hi\r\n");
}

#[test]
fn bash_reports_agents() {
    crate::reports_agents(ARGV, Home::new());
}

#[test]
fn bash_finds_our_programs() {
    crate::finds_our_programs(ARGV, Home::new().with(".bashrc", "PATH=~/bin:/usr/bin:/bin\n"));
}

#[test]
fn bash_keeps_agents_to_itself() {
    crate::keeps_agents_to_itself(ARGV);
}
