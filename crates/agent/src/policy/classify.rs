//! Whether a command provably only reads, provably writes, or neither can be said.

use super::programs;
use super::shell::{self, Script, Simple};
use super::word::Arg;

/// Shells inside of shells are followed this far.
const MAX_SHELLS: usize = 4;

/// What a command does, as far as that can be proved without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It was understood completely and changes nothing.
    ReadOnly,
    /// Some part of it changes files.
    Writing,
    /// Neither can be proved.
    Other,
}

/// A command that a tool wants to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// A program and its arguments, run without a shell.
    Argv(&'a [String]),
    /// Text for a shell of the Bourne family: sh, dash, bash, zsh.
    Shell(&'a str),
}

/// One simple command of a chain, and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Program and arguments; none where a word is not known.
    pub words: Vec<Option<Arg>>,
    /// What it does.
    pub class: Class,
    /// True if there is nothing to it but its words: no variables set, no file written.
    pub is_plain: bool,
}

/// All that is known of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Analysis {
    /// What the whole does.
    pub class: Class,
    /// Its simple commands, those of inner shells included.
    pub parts: Vec<Part>,
    /// True if `parts` joined by `|`, `&&`, `||` and `;` are all there is.
    pub is_plain: bool,
}

impl Analysis {
    fn unknown() -> Self {
        Self { class: Class::Other, parts: Vec::new(), is_plain: false }
    }
}

/// What a command does. `env` is what it changes in the environment besides what its own text
/// says: a variable can make a harmless program run another.
///
/// Never panics, and takes time in proportion to the length of the command.
pub fn classify(command: Command<'_>, env: &[(String, Option<String>)]) -> Class {
    analyze(command, env).class
}

pub(super) fn analyze(command: Command<'_>, env: &[(String, Option<String>)]) -> Analysis {
    let mut analysis = match command {
        Command::Shell(source) => script(source, 0),
        Command::Argv(argv) => argv_analysis(argv),
    };
    if analysis.class == Class::ReadOnly && !env.iter().all(|(name, _)| is_harmless(name)) {
        analysis.class = Class::Other;
        analysis.is_plain = false;
    }
    analysis
}

/// Variables that change what programs print and nothing else.
const HARMLESS_VARIABLES: &[&str] =
    &["LANG", "LANGUAGE", "TERM", "NO_COLOR", "COLORTERM", "COLUMNS", "LINES", "CLICOLOR"];

fn is_harmless(name: &str) -> bool {
    HARMLESS_VARIABLES.contains(&name) || name.starts_with("LC_")
}

fn argv_analysis(argv: &[String]) -> Analysis {
    let length: usize = argv.iter().map(String::len).sum();
    if length > shell::MAX_COMMAND_BYTES || argv.iter().any(|word| word.contains('\0')) {
        return Analysis::unknown();
    }
    let words = argv.iter().map(|word| Some(Arg::Literal(word.clone()))).collect();
    join(&Script { commands: vec![Simple { words, ..Simple::default() }], is_plain: true }, 0)
}

fn script(source: &str, depth: usize) -> Analysis {
    match shell::parse(source) {
        Some(script) => join(&script, depth),
        None => Analysis::unknown(),
    }
}

fn join(script: &Script, depth: usize) -> Analysis {
    let mut whole = Analysis { class: Class::Other, parts: Vec::new(), is_plain: script.is_plain };
    for simple in &script.commands {
        let inner = inner_script(simple, depth);
        let (class, is_plain) = match &inner {
            Some(inner) => (outer_class(inner.class, simple), inner.is_plain),
            None => (class_of(simple), simple.words.iter().all(Option::is_some)),
        };
        let is_plain = is_plain && !simple.assigns && !simple.streams.unusual;
        let is_plain = is_plain && !simple.streams.writes_file;
        whole.is_plain &= is_plain;
        whole.parts.push(Part { words: simple.words.clone(), class, is_plain });
        whole.parts.extend(inner.into_iter().flat_map(|inner| inner.parts));
    }
    let all = |class| whole.parts.iter().all(|part| part.class == class);
    if whole.parts.iter().any(|part| part.class == Class::Writing) {
        whole.class = Class::Writing;
    } else if whole.is_plain && !whole.parts.is_empty() && all(Class::ReadOnly) {
        whole.class = Class::ReadOnly;
    }
    whole
}

fn class_of(simple: &Simple) -> Class {
    if simple.streams.writes_file {
        return Class::Writing;
    }
    let Some((Some(Arg::Literal(program)), arguments)) = simple.words.split_first() else {
        return Class::Other;
    };
    let known: Option<Vec<Arg>> = arguments.iter().cloned().collect();
    let class = programs::judge(program, known.as_deref());
    if class == Class::ReadOnly && (simple.assigns || simple.streams.unusual) {
        return Class::Other;
    }
    class
}

/// A shell's own redirections and variables count as much as those of what it runs.
fn outer_class(inner: Class, simple: &Simple) -> Class {
    match inner {
        _ if simple.streams.writes_file => Class::Writing,
        Class::ReadOnly if simple.assigns || simple.streams.unusual => Class::Other,
        class => class,
    }
}

/// Shells whose `-c` is followed.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh"];
/// Options that only say how to run the text: login, stop at errors, show commands.
const SHELL_OPTIONS: &str = "lceux";

/// The text of `sh -c TEXT`, taken apart.
fn inner_script(simple: &Simple, depth: usize) -> Option<Analysis> {
    let words: Option<Vec<&str>> =
        simple.words.iter().map(|word| word.as_ref().and_then(Arg::text)).collect();
    let words = words?;
    let (program, mut rest) = words.split_first()?;
    if !SHELLS.contains(&programs::base_name(program)?) {
        return None;
    }
    let mut has_command = false;
    while let Some((option, more)) = rest.split_first() {
        let letters = option.strip_prefix('-')?;
        if letters.is_empty() || !letters.chars().all(|letter| SHELL_OPTIONS.contains(letter)) {
            return None;
        }
        has_command |= letters.contains('c');
        rest = more;
        if has_command {
            break;
        }
    }
    let text = rest.first().filter(|_| has_command)?;
    if depth >= MAX_SHELLS || text.starts_with('-') {
        return Some(Analysis::unknown());
    }
    Some(script(text, depth + 1))
}
