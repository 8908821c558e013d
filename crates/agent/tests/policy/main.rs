//! The corpus of commands: hostile ones never run unasked, harmless ones do and change nothing.
//! Whatever runs here runs in the sandbox, in a repository made for it; this program starts itself
//! as the product does.

#[path = "../../../host/tests/sandboxed/mod.rs"]
mod sandboxed;
mod scratch;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use rookery_agent::policy::{Class, Command, Rules, ToolRequest, Verdict, classify, judge};
use rookery_host::sandbox::{Reads, Sandbox, quiet_env, support, wrap};
use rookery_host::{End, Outcome, Script};
use rookery_model::{Mode, ToolKind};

use scratch::Scratch;

const HOSTILE: &str = include_str!("hostile.txt");
const HARMLESS: &str = include_str!("harmless.txt");

type Run = fn() -> Result<(), Failed>;

const TRIALS: &[(&str, Run)] = &[
    ("the_corpus_is_large_and_distinct", the_corpus_is_large),
    ("hostile_commands_never_only_read", hostile_is_never_read_only),
    ("harmless_commands_only_read", harmless_is_read_only),
    ("a_harmless_part_makes_no_hostile_one_harmless", company_does_not_help),
    ("nothing_takes_long_to_judge", nothing_takes_long),
];

const SANDBOX_TRIALS: &[(&str, Run)] = &[
    ("harmless_commands_run_and_change_nothing", harmless_runs),
    ("hostile_commands_change_nothing_in_the_sandbox", hostile_is_held),
];

#[expect(clippy::print_stderr, reason = "a test says why it has little to do")]
fn main() -> ExitCode {
    if let Some(code) = sandboxed::second_life() {
        return code;
    }
    let mut trials: Vec<Trial> = TRIALS.iter().map(|(name, run)| Trial::test(*name, run)).collect();
    match support().missing() {
        Some(missing) => eprintln!("nothing is run here: {missing}"),
        None => trials.extend(SANDBOX_TRIALS.iter().map(|(name, run)| Trial::test(*name, run))),
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn corpus(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines
        .map(|line| match line.strip_prefix("json:") {
            Some(json) => serde_json::from_str(json).expect("a JSON string"),
            None => line.to_owned(),
        })
        .collect()
}

fn verdict(command: &str, mode: Mode) -> Verdict {
    let command = Some(Command::Shell(command));
    let request = ToolRequest { tool: "shell", kind: ToolKind::Exec, command, env: &[] };
    judge(&request, mode, &Rules::default(), false).verdict
}

/// All complaints at once: a corpus is mended faster if one sees all of it.
fn all(complaints: Vec<String>) -> Result<(), Failed> {
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n").into()) }
}

fn the_corpus_is_large() -> Result<(), Failed> {
    for (text, least) in [(HOSTILE, 200), (HARMLESS, 60)] {
        let commands = corpus(text);
        let distinct: BTreeSet<&String> = commands.iter().collect();
        assert_eq!(distinct.len(), commands.len());
        assert!(commands.len() >= least, "{} commands", commands.len());
    }
    Ok(())
}

fn hostile_is_never_read_only() -> Result<(), Failed> {
    let unasked = |command: &str| {
        [Mode::Default, Mode::Plan]
            .into_iter()
            .any(|mode| !matches!(verdict(command, mode), Verdict::Ask | Verdict::Deny))
            || classify(Command::Shell(command), &[]) == Class::ReadOnly
    };
    all(corpus(HOSTILE).into_iter().filter(|command| unasked(command)).collect())
}

fn harmless_is_read_only() -> Result<(), Failed> {
    let asked = |command: &str| {
        [Mode::Default, Mode::Plan].into_iter().any(|mode| verdict(command, mode) != Verdict::Allow)
    };
    all(corpus(HARMLESS).into_iter().filter(|command| asked(command)).collect())
}

/// Joined with harmless ones, in front or behind, inside of a shell or not.
fn company_does_not_help() -> Result<(), Failed> {
    let mut complaints = Vec::new();
    for command in corpus(HOSTILE) {
        let quoted = command.replace('\'', r"'\''");
        for joined in [
            format!("ls && {command}"),
            format!("{command}\nls"),
            format!("cat a.txt | wc -l; {command}"),
            format!("bash -c '{quoted}'"),
            format!("ls; bash -lc '{quoted}'"),
        ] {
            if verdict(&joined, Mode::Plan) == Verdict::Allow {
                complaints.push(joined);
            }
        }
    }
    all(complaints)
}

fn nothing_takes_long() -> Result<(), Failed> {
    let nested =
        |open: &str, close: &str, n: usize| format!("{}ls{}", open.repeat(n), close.repeat(n));
    let mut commands = corpus(HOSTILE);
    for n in 1..14 {
        commands.extend([
            nested("(", ")", n),
            nested("( ", " )", n),
            nested("((", "))", n),
            nested("$(", ")", n),
            nested("echo \"$(", ")\"", n),
            nested("{ ", "; }", n),
            nested("if ", "; then :; fi", n),
            nested("while ! ", "; do :; done", n),
            nested("case x in x) ", ";; esac", n),
            nested("f() { ", "; }", n),
            nested("[[ ( ", " ) ]]", n),
            nested("${x:-", "}", n),
            nested("cat <( ", ")", n),
            nested("x=( ", ")", n),
        ]);
    }
    commands.push("ls; ".repeat(4000));
    commands.push("cat | ".repeat(2700));
    commands.push(format!("ls {}", "'x' ".repeat(4000)));
    commands.push("cat <<E\n".repeat(2000));
    commands.push("a=b ".repeat(4000));
    commands.push("2>&1 ".repeat(3200));
    let mut complaints = Vec::new();
    for command in commands {
        let start = Instant::now();
        classify(Command::Shell(&command), &[]);
        let took = start.elapsed();
        if took > Duration::from_secs(2) {
            complaints.push(format!("{took:?}: {}", command.chars().take(60).collect::<String>()));
        }
    }
    all(complaints)
}

fn run(command: &str, shell: &str, cwd: &Path) -> Outcome {
    let exe = std::env::current_exe().expect("the test has a path");
    let argv = [shell.to_owned(), "-c".to_owned(), command.replace('\0', "")];
    // As core does it: the home is closed, the directory is open.
    let home = std::env::var_os("HOME").map(Into::into);
    let reads = Reads { home, open: vec![cwd.to_owned()], hidden: Vec::new() };
    let sandbox = Sandbox { reads: Some(reads), ..Sandbox::reading() };
    let mut script = Script::new(wrap(&exe, &sandbox, &argv));
    script.cwd = Some(cwd.to_owned());
    script.env = quiet_env().into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(script.run())
}

/// Programs that not every machine has.
const OPTIONAL: &[&str] = &["rg", "fd", "tree", "jq", "cargo", "file"];

fn is_missing(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    OPTIONAL.iter().any(|name| {
        let mut words = command.split([' ', '|', ';']);
        words.any(|word| word == *name)
            && !std::env::split_paths(&path).any(|dir| dir.join(name).exists())
    })
}

fn harmless_runs() -> Result<(), Failed> {
    let scratch = Scratch::new();
    let before = scratch.state();
    let mut complaints = Vec::new();
    for command in corpus(HARMLESS) {
        for shell in ["sh", "bash"] {
            let outcome = run(&command, shell, scratch.work());
            if outcome.end != End::Exited(0) && !is_missing(&command) {
                complaints.push(format!(
                    "{shell}: {command}: {:?} {:?}",
                    outcome.end, outcome.last_error_line
                ));
            }
            if scratch.state() != before {
                return Err(format!("{command} changed something").into());
            }
        }
    }
    all(complaints)
}

/// The second fence: what policy would never let run unasked changes nothing even if it did.
fn hostile_is_held() -> Result<(), Failed> {
    let scratch = Scratch::new();
    let before = scratch.state();
    for command in corpus(HOSTILE).into_iter().filter(|command| !is_endless(command)) {
        run(&command, "bash", scratch.work());
        if scratch.state() != before {
            return Err(format!("{command} changed something").into());
        }
    }
    Ok(())
}

/// Loops, watchers, servers, editors and installers: they would only be waited for.
const WAITING: &[&str] = &[
    "while :",
    "watch ",
    "tail -f",
    "until ",
    "git daemon",
    "yes ",
    "vi a.txt",
    "wget ",
    "su -c",
    "npm ",
    "pip ",
    "git filter-branch",
    "gdb ",
];

fn is_endless(command: &str) -> bool {
    WAITING.iter().any(|word| command.contains(word))
}
