//! Which command lines run unasked: every command in them has to be on the list of those that may, and
//! none on the list of those that may not.
//!
//! Lists have beginnings of commands. Of all that fit the longest decides, and of two as long the one
//! that denies. A line is compared as it is written and, for the list that denies, also as the shell
//! understands it, so that quotes and blanks hide nothing. What is not understood is asked for.

use super::lines;
use super::{Outcome, reasons};
use crate::policy::classify::{self, Command};
use crate::policy::shell;
use crate::policy::word::Arg;

/// Stands for any command.
const ANY: &str = "*";

/// Judges a command line by these lists.
pub(super) fn judge(line: &str, allowed: &[String], denied: &[String]) -> Outcome {
    let lists = Lists { allowed: patterns(allowed), denied: patterns(denied) };
    let ask = Outcome::Ask(reasons::UNLISTED);
    if lists.denied.is_empty() && lists.allowed.iter().any(|known| known == ANY) {
        return match lines::is_dangerous(line) {
            true => Outcome::Ask(reasons::HIDDEN),
            false => Outcome::Approve,
        };
    }
    let says_nothing = lists.allowed.is_empty() && lists.denied.is_empty();
    if says_nothing || line.len() > shell::MAX_COMMAND_BYTES {
        return ask;
    }
    let written = lines::split(line);
    let texts = written.as_deref().unwrap_or_default();
    // A line that is wrong as a whole, or that the parser does not know, may still run its parts.
    let bare = || texts.iter().map(|text| without_keywords(text));
    let all = || texts.iter().map(String::as_str).chain(bare()).chain([line]);
    let parts: Vec<Known> = all().flat_map(understood).collect();
    let is_denied = texts.iter().any(|text| lists.verdict(text) == Some(false))
        || bare().any(|text| lists.verdict(text) == Some(false))
        || parts.iter().any(|part| lists.verdict(&part.text) == Some(false));
    if is_denied {
        return Outcome::Deny(reasons::LISTED);
    }
    if lines::is_dangerous(line) || parts.iter().any(|part| lists.may_be_denied(part)) {
        return Outcome::Ask(reasons::HIDDEN);
    }
    let is_allowed = !texts.is_empty()
        && texts.iter().all(|text| lists.verdict(text) == Some(true))
        && lists.allows_all_of(line);
    if is_allowed { Outcome::Approve } else { ask }
}

/// Words of the shell that a command may stand behind.
const KEYWORDS: &[&str] =
    &["{", "!", "do", "then", "else", "elif", "if", "while", "until", "time", "coproc"];

/// A command without the words of the shell before it.
fn without_keywords(text: &str) -> &str {
    let mut rest = text;
    while let Some((first, more)) = rest.split_once(char::is_whitespace)
        && KEYWORDS.contains(&first)
    {
        rest = more.trim_start();
    }
    rest
}

/// A command as a shell understands it, as far as that is known.
struct Known {
    /// The words up to the first that is not known.
    text: String,
    /// Whether there is one.
    is_cut: bool,
}

impl Known {
    fn new(words: &[Option<Arg>]) -> Self {
        let known = |word: &Option<Arg>| word.as_ref().and_then(Arg::text).map(str::to_owned);
        let texts: Vec<String> = words.iter().map_while(known).collect();
        Self { is_cut: texts.len() < words.len(), text: texts.join(" ").to_lowercase() }
    }
}

/// The commands of a line, those of shells that it starts included.
fn understood(line: &str) -> Vec<Known> {
    let parts = classify::analyze(Command::Shell(line), &[]).parts;
    parts.iter().filter(|part| !part.words.is_empty()).map(|part| Known::new(&part.words)).collect()
}

struct Lists {
    allowed: Vec<String>,
    denied: Vec<String>,
}

impl Lists {
    /// Whether a command is allowed or denied; none if no list has it.
    fn verdict(&self, command: &str) -> Option<bool> {
        let command = command.to_lowercase();
        match (longest(&self.allowed, &command), longest(&self.denied, &command)) {
            (None, None) => None,
            (allowed, denied) => Some(allowed > denied),
        }
    }

    /// Whether a command could be a denied one by what is not known of it: a word that only the shell
    /// works out, or which program a path leads to.
    fn may_be_denied(&self, command: &Known) -> bool {
        let known = match command.text.is_empty() {
            true => String::new(),
            false => format!("{} ", command.text),
        };
        let is_completed = |denied: &String| denied.starts_with(&known);
        if command.is_cut && self.denied.iter().any(is_completed) {
            return true;
        }
        let program = command.text.split(' ').next().unwrap_or_default();
        let Some((directory, _)) = program.rsplit_once('/') else { return false };
        let by_name = &command.text[directory.len() + 1..];
        longest(&self.denied, by_name).is_some_and(|denied| {
            longest(&self.allowed, &command.text).is_none_or(|allowed| allowed <= denied)
        })
    }

    /// Whether all commands are allowed that the parser of shells finds in a line.
    fn allows_all_of(&self, line: &str) -> bool {
        let Some(script) = shell::parse(line) else { return false };
        let known = script.commands.iter().map(|command| Known::new(&command.words));
        known
            .filter(|known| !known.text.is_empty())
            .all(|known| self.verdict(&known.text) == Some(true))
    }
}

/// How long the longest beginning is that fits, in characters.
fn longest(patterns: &[String], command: &str) -> Option<usize> {
    let fitting = patterns.iter().filter(|known| *known == ANY || command.starts_with(*known));
    fitting.map(|known| known.chars().count()).max()
}

/// A list as it is compared: without case, and without entries that say nothing.
fn patterns(list: &[String]) -> Vec<String> {
    let given = list.iter().map(|entry| entry.trim_start().to_lowercase());
    given.filter(|entry| !entry.is_empty()).collect()
}

#[cfg(test)]
mod tests;
