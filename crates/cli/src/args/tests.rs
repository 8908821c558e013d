//! The command line is consistent, and reads what people write.

use std::collections::BTreeSet;

use clap::{CommandFactory as _, Parser as _};
use expect_test::expect;

use super::*;

fn read(line: &str) -> Result<Command, String> {
    let words = std::iter::once("rookery").chain(line.split_whitespace());
    match Cli::try_parse_from(words) {
        Ok(cli) => cli.command.ok_or_else(|| "no command".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn the_description_is_consistent() {
    Cli::command().debug_assert();
}

/// The row of `docs/status.md` that lists the commands has each of them, and nothing else.
#[test]
fn the_status_lists_every_command() {
    let status = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/status.md");
    let text = std::fs::read_to_string(status).unwrap();
    let row = text.lines().find(|line| line.starts_with("| command line:")).unwrap();
    let listed: BTreeSet<&str> = row.split('`').skip(1).step_by(2).collect();
    let command = Cli::command();
    let known = command.get_subcommands().filter(|one| !one.is_hide_set());
    let known: BTreeSet<&str> = known.map(|one| one.get_name()).collect();
    assert_eq!(listed, known);
}

#[test]
fn a_program_is_given_with_or_without_dashes() {
    for line in ["open -C / -e A=b=c -- htop -d 5", "open -C / -e A=b=c htop -d 5"] {
        let Ok(Command::Open(open)) = read(line) else { panic!("{line}") };
        assert_eq!(open.command, ["htop", "-d", "5"]);
        let expected = Variable { name: "A".into(), value: "b=c".into() };
        assert_eq!(open.env, [expected]);
    }
    assert!(read("open -e =x").is_err());
    assert!(read("open -e x").is_err());
    assert!(read("open --attach --json").is_err());
}

#[test]
fn sending_needs_something_to_send() {
    assert!(read("send 3").is_err());
    assert!(read("send 3 --paste").is_err());
    assert!(read("send 3 --enter").is_ok());
    assert!(read("send 3 --key ctrl+c --key enter").is_ok());
    let Ok(Command::Send(send)) = read("send s3 --enter echo hi there") else { panic!() };
    assert_eq!((send.target.id.as_str(), send.enter), ("s3", true));
    assert_eq!(send.text, ["echo", "hi", "there"]);
    let Ok(Command::Send(send)) = read("send 3 -") else { panic!() };
    assert_eq!(send.text, ["-"]);
}

#[test]
fn waiting_needs_one_condition() {
    assert!(read("wait 3").is_err());
    assert!(read("wait 3 --exit --stable 5").is_err());
    assert!(read("wait 3 --exit --timeout -1").is_err());
    for one in ["wait 3 s4 --any --exit", "wait 3 --needs-input", "wait 3 --transcript x"] {
        assert!(read(one).is_ok(), "{one}");
    }
    let Ok(Command::Wait(wait)) = read("wait 3 --text $ --timeout 0.5") else { panic!() };
    assert_eq!(wait.timeout.as_millis(), 500);
}

#[test]
fn the_detach_key_is_read_at_once() {
    assert!(read("attach 3 --detach-key ctrl+a --scroll-key F12").is_ok());
    assert!(read("attach").is_ok());
    let error = read("attach 3 --detach-key hyper").unwrap_err();
    assert!(error.contains("detach-key"), "{error}");
}

#[test]
fn a_thread_is_new_or_an_old_one() {
    let Ok(Command::Chat(chat)) = read("chat --mode yolo -p mock say it --yes") else { panic!() };
    assert_eq!((chat.mode, chat.yes), (Some(rookery_native::wire::Mode::Bypass), true));
    assert_eq!(chat.prompt, ["say", "it"]);
    let Ok(Command::Chat(chat)) = read("chat -t 1234 -m gpt -") else { panic!() };
    assert_eq!((chat.thread.as_deref(), &*chat.prompt), (Some("1234"), &["-".to_owned()][..]));
    for wrong in [
        "chat --thread a --last",
        "chat --thread a --cwd /",
        "chat --last --name x",
        "chat --last --ephemeral",
        "chat --yes --no",
        "chat --mode odd",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    assert!(read("chat --last --cwd /").is_ok());
}

#[test]
fn threads_are_listed_or_one_is_meant() {
    let Ok(Command::Threads(threads)) = read("threads -n 3 --search x") else { panic!() };
    assert!(threads.action.is_none());
    assert_eq!((threads.list.limit, threads.list.search.as_deref()), (3, Some("x")));
    let Ok(Command::Threads(threads)) = read("threads rename ab12 a new name") else { panic!() };
    let Some(ThreadsAction::Rename(rename)) = threads.action else { panic!() };
    assert_eq!((&*rename.target.id, rename.name.join(" ")), ("ab12", "a new name".to_owned()));
    for wrong in ["threads -n 0", "threads show", "threads --json show x", "threads delete"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn answers_have_names() {
    let Ok(Command::Answer(answer)) = read("answer 9Y1D color=red size=") else { panic!() };
    assert_eq!((&*answer.target.id, answer.answers.len()), ("9Y1D", 2));
    for wrong in ["answer 9Y1D", "answer 9Y1D red", "approve", "deny --message x"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_inbox_is_shown_watched_or_an_item_is_put_away() {
    let Ok(Command::Inbox(inbox)) = read("inbox --watch --all") else { panic!() };
    assert!(inbox.watch && inbox.all && !inbox.json && inbox.action.is_none());
    let Ok(Command::Inbox(inbox)) = read("inbox resolve ab12 cd34 --json") else { panic!() };
    let Some(InboxAction::Resolve(resolve)) = inbox.action else { panic!() };
    assert_eq!((resolve.ids.len(), resolve.json), (2, true));
    assert!(read("inbox resolve --all").is_ok());
    for wrong in ["inbox resolve", "inbox --watch resolve x", "inbox resolve --all x"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn reviews_checkpoints_and_handoffs_are_named_by_ids() {
    let Ok(Command::Review(review)) = read("review comment ab12 -f src/a -l 3 why so") else {
        panic!()
    };
    let ReviewAction::Comment(comment) = review.action else { panic!() };
    assert_eq!((comment.line, comment.text.join(" ")), (Some(3), "why so".to_owned()));
    let Ok(Command::Checkpoint(one)) = read("checkpoint prune --older-than 12h") else { panic!() };
    let CheckpointAction::Prune(prune) = one.action else { panic!() };
    assert_eq!(prune.older_than, Some(43_200));
    let Ok(Command::Checkpoint(one)) = read("checkpoint restore ab12 src docs --head") else {
        panic!()
    };
    let CheckpointAction::Restore(restore) = one.action else { panic!() };
    assert_eq!((restore.paths.len(), restore.head), (2, true));
    for wrong in [
        "review",
        "review comment ab12",
        "review comment ab12 -l 3 x",
        "review comment ab12 -f a -l 0 x",
        "checkpoint prune",
        "checkpoint prune --keep 1 --older-than 1d",
        "checkpoint prune --older-than soon",
        "checkpoint diff ab12 --head --with cd34",
        "handoff accept",
        "audit --limit 0",
        "audit --verdict maybe",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_landing_has_one_manner() {
    let Ok(Command::Worktree(worktree)) = read("worktree land work --squash --remove -m x") else {
        panic!()
    };
    let WorktreeAction::Land(land) = worktree.action else { panic!() };
    assert!(land.squash && land.remove && land.into.is_none());
    for wrong in [
        "worktree land --squash --rebase",
        "worktree land --how fast",
        "worktree land --how merge --squash",
        "worktree create --base a --remote",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn help_of_everything() {
    let mut command = Cli::command().term_width(100);
    command.build();
    expect![[r#"
        One daemon for coding agents and the terminals they live in

        Usage: rookery [COMMAND]

        Commands:
          daemon       Run the daemon in the foreground, with logs on stderr
          up           Start the daemon in the background, unless it is running
          down         Stop the daemon; terminals keep running, and the next daemon takes them over
          restart      Replace the daemon with this executable; terminals keep running
          status       Show the daemon's status
          tui          Show terminals, agents and what needs your attention, in this terminal
          web          Serve the page for browsers and phones, and pair devices with it
          window       Open a window with terminals, agents and what needs your attention
          open         Open a terminal and print its id
          attach       Connect to a terminal of the daemon
          ls           List terminals [alias: list]
          send         Send text and keys to a terminal
          run          Run a program in a terminal of its own, wait for it and print its output
          task         List, show, follow and cancel background tasks
          wait         Wait until terminals show a text, need input, exit or become idle
          dump         Print a terminal's screen
          record       Record a terminal's output from now on
          replay       Play a recording
          kill         End the program in a terminal, or send it a signal
          close        Close terminals: end their programs and delete their records
          chat         Talk to an agent: one prompt, or a conversation
          threads      List, show and manage threads
          inbox        List what needs your attention, the most urgent first
          approve      Approve an agent's request
          deny         Deny an agent's request
          answer       Answer an agent's questions
          workflow     Run scripts that start child agents and combine their answers
          memory       Manage memories: what agents should know in every thread
          imports      Import files that other agents left in a project
          skills       Manage the skills that agents can read
          media        Manage images and other files that threads use
          marketplace  Manage catalogs of plugins for coding agents
          plugin       Install plugins of marketplaces
          review       Review the changes of agents: show, comment, decide
          changes      Show what changed in a work tree
          hunk         Show what agents edited, and roll it back
          checkpoint   Save the state of a work tree, and restore it
          worktree     Create git worktrees for separate tasks, and land their commits
          handoff      Hand work over from one session to another
          audit        Print the log of decisions: what was decided, by whom or by which rule
          events       Print the event log, one JSON object per line
          view         Print what a viewer is shown, one JSON object per frame
          serve        Serve the ptywright protocol in the foreground, with its own sessions
          app-server   Serve Roder's app-server protocol in the foreground, with the daemon's state
          idx0         Act as idx0, also when called by that name
          idx0-notify  Act as idx0-notify, also when called by that name
          roder        Act as roder, also when called by that name
          roo          Start and control tasks over the Roo Code protocol
          ptywright    Act as ptywright, also when called by that name
          roostctl     Act as roostctl, also when called by that name
          setup        Set up a provider: find API keys, installed agents and local servers
          login        Sign in to an account of a provider of models
          logout       Sign out of an account: delete its tokens
          hooks        Install hooks in an agent's settings that report what it does
          import       Import the data of another program
          shims        Manage links that run this program under other names
          doctor       Check the setup and suggest fixes
          schema       Print the JSON Schema of every method
          completions  Print a completion script for a shell
          man          Print the manual page, or write all of them to a directory
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help (see more with '--help')
          -V, --version  Print version
    "#]]
    .assert_eq(&command.render_help().to_string());
}

#[test]
fn agents_with_hooks_are_those_of_the_list() {
    use clap::ValueEnum as _;
    let listed = rookery_host::known_agents().iter().filter_map(|agent| agent.hooks.as_deref());
    let ours: Vec<&str> = HookedAgent::value_variants().iter().map(|agent| agent.word()).collect();
    assert_eq!(ours, listed.collect::<Vec<_>>());
    for agent in HookedAgent::value_variants() {
        let value = agent.to_possible_value().expect("no variant is skipped");
        assert_eq!(value.get_name(), agent.word());
    }
}
