//! The command line is consistent, and reads what people write.

use clap::CommandFactory as _;

use super::*;

fn read(words: &[&str]) -> Result<Command, clap::Error> {
    Cli::try_parse_from(["roostctl"].iter().chain(words)).map(|cli| cli.command)
}

#[test]
fn the_description_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_and_flag_of_the_contract_is_read() {
    for line in [
        "identify",
        "notify --title t --body b --tab 3",
        "set-title --title t --tab 3",
        "tab list --json",
        "tab open --project-id 1 --cwd /x --cols 80 --rows 24 --title t --after-tab 2 --focus --hold -- ls -l",
        "tab close --tab 3",
        "tab focus",
        "tab clear-notification --tab 3",
        "tab set-state --state needs_input --tab 3",
        "tab send --tab 3 --bytes x --raw",
        "tab send --tab 3 --bytes -n",
        "tab send --tab 3 --bytes-base64 bHMK",
        "tab resize --tab 3 --cols 100 --rows 30",
        "tab reorder --project-id 1 --order 3,2,1",
        "tab dump --tab 3 --json",
        "project list",
        "project create --name n --cwd /x",
        "project create",
        "project rename --id 1 --name n",
        "project rename --project-id 1 --name n",
        "project delete --id 1",
        "project delete --project-id 1",
        "project reorder --order 2,1",
        "wait --tab 3 --state idle --text x --timeout 0.5 --interval-ms 10",
        "wait --gone",
        "wait --text x --timeout -1",
        "watch --tab 3 --since -1 --json",
        "palette open --kind launcher --json",
        "palette state",
        "palette query q --json",
        "palette activate new_tab",
        "palette dismiss",
        "palette present --title t --placeholder p --items [] --json",
        "screenshot --out f --scale 2",
        "render-stats --reset",
        "claude install --force",
        "claude-hook Stop",
        "claude-hook",
        "claude-hook --odd flags",
        "doctor --tab 3 --json -v --color never",
        "completions bash",
        "--socket /s --target iced identify",
        "tab list --socket /s --target gtk",
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Err(error) = read(&words) {
            // Help is asked for by a flag only.
            panic!("{line}: {error}");
        }
    }
}

#[test]
fn a_bad_command_line_exits_with_2() {
    for line in [
        "nothing",
        "notify",
        "tab open",
        "tab open --project-id x",
        "tab set-state --state busy",
        "tab send --tab 3",
        "tab send --tab 3 --raw",
        "tab send --bytes x --bytes-base64 bHMK",
        "tab resize --cols 0 --rows 3",
        "tab resize --cols 70000 --rows 3",
        "tab reorder --project-id 1 --order 1,x",
        "project rename --name n",
        "screenshot --scale 3",
        "doctor --color perhaps",
        "identify --target windows",
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let error = read(&words).expect_err(line);
        assert_eq!(error.exit_code(), 2, "{line}");
    }
}

#[test]
fn a_program_keeps_its_own_flags() {
    let Ok(Command::Tab(Tab::Open(open))) =
        read(&["tab", "open", "--project-id", "1", "--", "ls", "--hold", "a b"])
    else {
        panic!()
    };
    assert_eq!(open.command, ["ls", "--hold", "a b"]);
    assert!(!open.hold);
    assert_eq!((open.cols, open.rows, open.title.as_str()), (80, 24, "roostctl"));
}
