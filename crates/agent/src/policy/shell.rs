//! Takes a shell command apart into its simple commands. Understood completely, or said not to be.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast;
use brush_parser::{Parser, ParserOptions};

use super::word::{self, Arg};

/// Longer commands are not looked at.
pub const MAX_COMMAND_BYTES: usize = 16 << 10;
/// More openings of groups, substitutions and the like than this are not looked at: the parser
/// goes one call deeper for each, and some of them it tries in two ways.
const MAX_OPENINGS: usize = 48;
/// The same for groups that could be arithmetic, and for words that open a clause.
const MAX_NESTED: usize = 12;
/// Words that open a clause.
const OPENING_WORDS: &[&str] = &[
    "if", "while", "until", "for", "case", "select", "function", "coproc", "!", "time", "{", "[[",
];

/// What a simple command does besides running its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Streams {
    pub writes_file: bool,
    /// It does something with its streams that not every reader of files does.
    pub unusual: bool,
}

/// A simple command: a program and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// Program and arguments; none where a word is not known.
    pub words: Vec<Option<Arg>>,
    /// Whether variables are set for it.
    pub assigns: bool,
    /// What it does with its streams.
    pub streams: Streams,
}

/// A command taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// All simple commands in it, also those inside of groups and clauses.
    pub commands: Vec<Simple>,
    /// True if there is nothing but simple commands joined by `|`, `&&`, `||`, `;` and newlines.
    pub is_plain: bool,
}

/// Takes a command apart. None if it cannot be parsed or is too much to look at.
pub(super) fn parse(source: &str) -> Option<Script> {
    if source.len() > MAX_COMMAND_BYTES || !is_bounded(source) {
        return None;
    }
    // Behind a continued line a `#` may or may not begin a comment.
    if source.contains("\\\n") && source.contains('#') {
        return None;
    }
    let options = ParserOptions::default();
    let parse = || Parser::new(source.as_bytes(), &options).parse_program().ok();
    // The parser is not ours: what it does not survive was not understood.
    let program = catch_unwind(AssertUnwindSafe(parse)).ok().flatten()?;
    let mut walk = Walk { script: Script { commands: Vec::new(), is_plain: true } };
    for list in &program.complete_commands {
        walk.list(list);
    }
    (!walk.script.commands.is_empty()).then_some(walk.script)
}

/// Keeps from the parser what it cannot take: hidden characters, depth, and numbers without end.
fn is_bounded(source: &str) -> bool {
    let controls = source.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    let openings = source.matches(['(', '{', '`']).count();
    let groups = source.matches('(').count();
    let clauses = source
        .split(|c: char| c.is_whitespace() || ";&|()".contains(c))
        .filter(|word| OPENING_WORDS.contains(word))
        .count();
    let digits =
        source.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or_default();
    let numbers = digits > 9 && source.contains(['<', '>', '~']);
    !controls
        && openings <= MAX_OPENINGS
        && groups <= MAX_NESTED
        && clauses <= MAX_NESTED
        && !numbers
}

struct Walk {
    script: Script,
}

impl Walk {
    fn list(&mut self, list: &ast::CompoundList) {
        for ast::CompoundListItem(chain, separator) in &list.0 {
            if matches!(separator, ast::SeparatorOperator::Async) {
                self.script.is_plain = false;
            }
            for (_, pipeline) in chain {
                if pipeline.timed.is_some() || pipeline.bang {
                    self.script.is_plain = false;
                }
                for command in &pipeline.seq {
                    self.command(command);
                }
            }
        }
    }

    fn command(&mut self, command: &ast::Command) {
        if let ast::Command::Simple(simple) = command {
            return self.simple(simple);
        }
        self.script.is_plain = false;
        match command {
            ast::Command::Simple(_) => {}
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirects(redirects.as_ref());
            }
            ast::Command::Function(function) => {
                let ast::FunctionBody(body, redirects) = &function.body;
                self.compound(body);
                self.redirects(redirects.as_ref());
            }
            ast::Command::ExtendedTest(_, redirects) => self.redirects(redirects.as_ref()),
        }
    }

    fn compound(&mut self, compound: &ast::CompoundCommand) {
        use ast::CompoundCommand as C;
        match compound {
            C::Arithmetic(_) => {}
            C::ArithmeticForClause(clause) => self.list(&clause.body.list),
            C::BraceGroup(group) => self.list(&group.list),
            C::Subshell(group) => self.list(&group.list),
            C::ForClause(clause) => self.list(&clause.body.list),
            C::CaseClause(clause) => {
                for list in clause.cases.iter().filter_map(|case| case.cmd.as_ref()) {
                    self.list(list);
                }
            }
            C::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.list(condition);
                    }
                    self.list(&other.body);
                }
            }
            C::WhileClause(clause) | C::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            C::Coprocess(coprocess) => self.command(&coprocess.body),
        }
    }

    /// Redirections of a group: a command without words that has them.
    fn redirects(&mut self, redirects: Option<&ast::RedirectList>) {
        let Some(redirects) = redirects else { return };
        let mut simple = Simple::default();
        for redirect in &redirects.0 {
            self.redirect(redirect, &mut simple.streams);
        }
        self.script.commands.push(simple);
    }

    fn simple(&mut self, command: &ast::SimpleCommand) {
        use ast::CommandPrefixOrSuffixItem as Item;
        let mut simple = Simple::default();
        let prefix = command.prefix.iter().flat_map(|prefix| &prefix.0);
        for item in prefix {
            match item {
                Item::IoRedirect(redirect) => self.redirect(redirect, &mut simple.streams),
                _ => simple.assigns = true,
            }
        }
        simple.words.extend(command.word_or_name.iter().map(|name| word::read(&name.value)));
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                Item::IoRedirect(redirect) => self.redirect(redirect, &mut simple.streams),
                Item::Word(word) => simple.words.push(word::read(&word.value)),
                // Behind the program's name an assignment is a word like any other.
                Item::AssignmentWord(_, word) => simple.words.push(word::read(&word.value)),
                Item::ProcessSubstitution(_, group) => {
                    simple.words.push(None);
                    self.script.is_plain = false;
                    self.list(&group.list);
                }
            }
        }
        self.script.commands.push(simple);
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect, streams: &mut Streams) {
        use ast::{IoFileRedirectKind as Kind, IoFileRedirectTarget as Target};
        match redirect {
            ast::IoRedirect::File(fd, kind, Target::Filename(name)) => match kind {
                Kind::Read if fd.is_none_or(|fd| fd == 0) => reads(name, streams),
                Kind::Write | Kind::Append if fd.is_none_or(|fd| fd == 1 || fd == 2) => {
                    writes(name, streams);
                }
                Kind::Write | Kind::Append | Kind::Clobber | Kind::ReadAndWrite => {
                    streams.unusual = true;
                    writes(name, streams);
                }
                Kind::Read | Kind::DuplicateInput | Kind::DuplicateOutput => streams.unusual = true,
            },
            ast::IoRedirect::File(fd, Kind::DuplicateOutput, Target::Duplicate(to)) => {
                let known = fd.is_none_or(|fd| fd == 1 || fd == 2);
                match to.value.as_str() {
                    "1" | "2" if known => {}
                    digits if digits.chars().all(|c| c.is_ascii_digit() || c == '-') => {
                        streams.unusual = true;
                    }
                    // `>&name` is `>name 2>&1`.
                    _ => {
                        streams.unusual = true;
                        writes(to, streams);
                    }
                }
            }
            ast::IoRedirect::File(Some(2), Kind::DuplicateOutput, Target::Fd(1)) => {}
            ast::IoRedirect::File(_, _, Target::ProcessSubstitution(_, group)) => {
                self.script.is_plain = false;
                streams.unusual = true;
                self.list(&group.list);
            }
            ast::IoRedirect::OutputAndError(name, _) => {
                // Some shells read `&>` as the end of a background command.
                streams.unusual = true;
                writes(name, streams);
            }
            ast::IoRedirect::File(..)
            | ast::IoRedirect::HereDocument(..)
            | ast::IoRedirect::HereString(..) => streams.unusual = true,
        }
    }
}

/// Files that are not files: nothing is changed by writing there.
const NO_FILES: &[&str] = &["/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"];

fn writes(name: &ast::Word, streams: &mut Streams) {
    match word::read(&name.value).as_ref().and_then(Arg::text) {
        Some("/dev/null") => {}
        Some(text) if NO_FILES.contains(&text) => streams.unusual = true,
        _ => streams.writes_file = true,
    }
}

/// Reading is usual, except where a shell opens a connection for it.
fn reads(name: &ast::Word, streams: &mut Streams) {
    match word::read(&name.value).as_ref().and_then(Arg::text) {
        Some(text) if !text.starts_with("/dev/tcp") && !text.starts_with("/dev/udp") => {}
        _ => streams.unusual = true,
    }
}
