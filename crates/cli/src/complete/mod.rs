//! Completion of command lines: what `rookery __complete WORD...` prints for the scripts of shells.
//!
//! The words are those of the command line up to the cursor, the command itself first and the one that is being typed
//! last, even if it is empty. The first line of the answer says who completes: `values`, then one line for each, with
//! a tab and a description behind it; or `files`, `directories` or `commands`, which the shell does itself. No line at
//! all means that there is nothing to offer. Scripts that were installed once rely on this; it only ever grows.
//!
//! The user waits after pressing TAB, so there is a limit to the time and to the number of values, and nothing is ever
//! started, changed or complained about.

mod candidate;
mod kind;
mod line;
mod world;

use std::{
    ffi::OsString,
    io::Write as _,
    process::ExitCode,
    sync::mpsc,
    time::{Duration, Instant},
};

use clap::CommandFactory as _;

use crate::args::Cli;
use candidate::{Candidate, Offer};
use line::{Place, Wanted};

/// The first argument of a process that completes.
pub(crate) const ARGUMENT: &str = "__complete";

/// How long everything may take.
const PATIENCE: Duration = Duration::from_millis(450);

/// The scripts, which call this program for everything that they offer.
pub(crate) const BASH: &str = include_str!("scripts/rookery.bash");
pub(crate) const FISH: &str = include_str!("scripts/rookery.fish");
pub(crate) const ZSH: &str = include_str!("scripts/rookery.zsh");

/// Who completes the word.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    Values(Vec<Candidate>),
    Files,
    Directories,
    Commands,
}

/// Completes the last of the words.
pub(crate) fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let words = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let until = Instant::now() + PATIENCE;
    let (sender, receiver) = mpsc::channel();
    // A thread of its own, because not even a directory that hangs may keep the shell waiting.
    let work = move || sender.send(answer(words, until));
    let spawned = std::thread::Builder::new().spawn(work);
    let found = spawned.ok().and_then(|_| receiver.recv_timeout(PATIENCE).ok());
    if let Some(answer) = found {
        // A shell that went away needs no answer.
        let _ = std::io::stdout().lock().write_all(spelled(&answer).as_bytes());
    }
    ExitCode::SUCCESS
}

fn answer(words: Vec<String>, until: Instant) -> Answer {
    let mut command = Cli::command();
    command.build();
    let Some(place) = Place::find(&command, words) else { return Answer::Values(Vec::new()) };
    let mut offer = Offer::new(&place.before, &place.typed, &place.given);
    for wanted in &place.wanted {
        match wanted {
            Wanted::Known(known) => known.iter().for_each(|one| offer.add(one.clone())),
            Wanted::Kind(kind) => {
                world::offer(*kind, &place, until, &mut offer);
                if kind.is_also_directory() && offer.is_empty() {
                    return Answer::Directories;
                }
            }
            Wanted::Files => return Answer::Files,
            Wanted::Directories => return Answer::Directories,
            Wanted::Commands => return Answer::Commands,
        }
    }
    Answer::Values(offer.into_candidates())
}

/// The answer as the scripts read it.
fn spelled(answer: &Answer) -> String {
    let candidates = match answer {
        Answer::Files => return "files\n".to_owned(),
        Answer::Directories => return "directories\n".to_owned(),
        Answer::Commands => return "commands\n".to_owned(),
        Answer::Values(candidates) if candidates.is_empty() => return String::new(),
        Answer::Values(candidates) => candidates,
    };
    let mut text = "values\n".to_owned();
    for candidate in candidates {
        text.push_str(&candidate.value);
        if !candidate.description.is_empty() {
            text.push('\t');
            text.push_str(&candidate.description);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
