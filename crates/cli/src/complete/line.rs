//! Where in a command line the cursor is, and what may stand there: the description of the command line is walked
//! along the words that are there already.

use clap::{Arg, ArgAction, Command, ValueHint};

use super::{candidate::Candidate, kind::Kind};

/// Letters of a word that is looked at; nothing that we offer is as long.
const LONGEST: usize = 4096;

/// What may stand at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// One of these.
    Known(Vec<Candidate>),
    /// Something that the daemon knows.
    Kind(Kind),
    Files,
    Directories,
    Commands,
}

/// A place in a command line.
#[derive(Debug)]
pub(super) struct Place {
    /// What stays of the word: an option and its `=`.
    pub(super) before: String,
    /// What is there of the value.
    pub(super) typed: String,
    /// Values of the same argument that are there already.
    pub(super) given: Vec<String>,
    /// The provider that the line names.
    pub(super) provider: Option<String>,
    pub(super) wanted: Vec<Wanted>,
}

/// How far a line was read.
struct Walk<'a> {
    command: &'a Command,
    /// Names of the commands, the outermost first.
    path: Vec<&'a str>,
    /// The option that waits for its value.
    pending: Option<&'a Arg>,
    /// How many positional arguments are filled.
    position: usize,
    /// Values of the positional argument that takes several.
    given: Vec<String>,
    provider: Option<String>,
    /// Whether no options follow.
    is_rest: bool,
}

impl Place {
    /// The place of the last word; none if nothing may stand there.
    pub(super) fn find(command: &Command, words: Vec<String>) -> Option<Self> {
        let mut words: Vec<String> = words.iter().map(|word| unquoted(word)).collect();
        let last = words.pop().filter(|last| last.len() <= LONGEST)?;
        let mut walk = Walk {
            command,
            path: Vec::new(),
            pending: None,
            position: 0,
            given: Vec::new(),
            provider: None,
            is_rest: false,
        };
        if words.is_empty() {
            return None;
        }
        words.into_iter().skip(1).for_each(|word| walk.pass(word));
        walk.place(last)
    }
}

impl<'a> Walk<'a> {
    /// Goes past a word.
    fn pass(&mut self, word: String) {
        if let Some(arg) = self.pending.take() {
            self.note(arg, word);
        } else if self.is_rest {
            self.fill(word);
        } else if word == "--" {
            self.is_rest = true;
        } else if let Some(long) = word.strip_prefix("--") {
            self.pass_long(long);
        } else if let Some(shorts) = word.strip_prefix('-').filter(|shorts| !shorts.is_empty()) {
            self.pass_shorts(shorts);
        } else if let Some(command) = self.subcommand(&word) {
            self.command = command;
            self.path.push(command.get_name());
            self.position = 0;
        } else {
            self.fill(word);
        }
    }

    fn subcommand(&self, word: &str) -> Option<&'a Command> {
        self.command.find_subcommand(word).filter(|_| self.position == 0)
    }

    fn pass_long(&mut self, long: &str) {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        let Some(arg) = self.long(name).filter(|arg| takes_value(arg)) else { return };
        match value {
            Some(value) => self.note(arg, value),
            None if arg.is_require_equals_set() => {}
            None => self.pending = Some(arg),
        }
    }

    fn pass_shorts(&mut self, shorts: &str) {
        for (at, short) in shorts.char_indices() {
            let args = self.command.get_arguments();
            let Some(arg) = args.into_iter().find(|arg| arg.get_short() == Some(short)) else {
                return;
            };
            if takes_value(arg) {
                match &shorts[at + short.len_utf8()..] {
                    "" => self.pending = Some(arg),
                    value => self.note(arg, value.to_owned()),
                }
                return;
            }
        }
    }

    fn long(&self, name: &str) -> Option<&'a Arg> {
        self.command.get_arguments().find(|arg| arg.get_long() == Some(name))
    }

    /// Remembers what other values depend on.
    fn note(&mut self, arg: &Arg, value: String) {
        if Kind::of(&self.path, arg) == Some(Kind::Provider) {
            self.provider = Some(value);
        }
    }

    fn positional(&self) -> Option<&'a Arg> {
        self.command.get_positionals().nth(self.position)
    }

    fn fill(&mut self, word: String) {
        let Some(arg) = self.positional() else {
            // A word too many: nothing that we know follows it.
            self.position += 1;
            return;
        };
        if arg.is_trailing_var_arg_set() {
            self.is_rest = true;
        }
        if matches!(arg.get_action(), ArgAction::Append) {
            self.given.push(word);
        } else {
            self.position += 1;
        }
    }

    fn place(self, word: String) -> Option<Place> {
        if let Some(arg) = self.pending {
            let wanted = self.values(arg, true);
            return Some(self.with(String::new(), word, wanted));
        }
        if !self.is_rest && word.starts_with('-') {
            if let Some((name, value)) = word.split_once('=') {
                let arg = self.long(name.strip_prefix("--")?).filter(|arg| takes_value(arg))?;
                let wanted = self.values(arg, true);
                let (before, typed) = (format!("{name}="), value.to_owned());
                return Some(self.with(before, typed, wanted));
            }
            let wanted = vec![Wanted::Known(self.options())];
            return Some(self.with(String::new(), word, wanted));
        }
        let mut wanted = Vec::new();
        if self.position == 0 && !self.is_rest && self.command.has_subcommands() {
            wanted.push(Wanted::Known(self.commands()));
        }
        if let Some(arg) = self.positional() {
            wanted.extend(self.values(arg, self.given.is_empty()));
        }
        Some(self.with(String::new(), word, wanted))
    }

    fn with(self, before: String, typed: String, wanted: Vec<Wanted>) -> Place {
        Place { before, typed, given: self.given, provider: self.provider, wanted }
    }

    /// What the value of an argument may be.
    fn values(&self, arg: &Arg, is_first: bool) -> Vec<Wanted> {
        let possible = arg.get_possible_values();
        let shown = possible.iter().filter(|value| !value.is_hide_set());
        let known: Vec<Candidate> = shown
            .map(|value| Candidate::new(value.get_name(), &first_line(value.get_help())))
            .collect();
        if !known.is_empty() {
            return vec![Wanted::Known(known)];
        }
        if let Some(kind) = Kind::of(&self.path, arg) {
            return vec![Wanted::Kind(kind)];
        }
        match arg.get_value_hint() {
            ValueHint::DirPath => vec![Wanted::Directories],
            ValueHint::FilePath | ValueHint::AnyPath | ValueHint::ExecutablePath => {
                vec![Wanted::Files]
            }
            ValueHint::CommandWithArguments if is_first => vec![Wanted::Commands],
            ValueHint::CommandWithArguments => vec![Wanted::Files],
            _ => Vec::new(),
        }
    }

    fn options(&self) -> Vec<Candidate> {
        let shown = self.command.get_arguments().filter(|arg| !arg.is_hide_set());
        let option = |arg: &Arg| {
            let long = arg.get_long()?;
            Some(Candidate::new(format!("--{long}"), &first_line(arg.get_help())))
        };
        shown.filter_map(option).collect()
    }

    fn commands(&self) -> Vec<Candidate> {
        let shown = self.command.get_subcommands().filter(|command| !command.is_hide_set());
        shown
            .map(|command| Candidate::new(command.get_name(), &first_line(command.get_about())))
            .collect()
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn first_line(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// A word without the quotes around it, the last of which may not be typed yet.
fn unquoted(word: &str) -> String {
    for quote in ['\'', '"'] {
        if let Some(rest) = word.strip_prefix(quote) {
            return rest.strip_suffix(quote).unwrap_or(rest).to_owned();
        }
    }
    word.to_owned()
}
