//! Takes a command line apart as it is written: into the texts of its commands, those inside of
//! substitutions included. Whatever it cannot tell for certain it does not understand.
//!
//! It may see commands where there are none; it must never miss one.

use std::sync::LazyLock;

use regex::RegexSet;

/// Substitutions inside of substitutions are followed this far.
const MAX_DEPTH: usize = 12;
/// More commands than this are not looked at.
const MAX_COMMANDS: usize = 256;
/// What a comment may have beside letters and digits: nothing that a shell without comments would run,
/// and nothing that could be taken for a quote.
const IN_COMMENTS: &str = " \t,.:!?_/+=%@-";

/// The commands of a line, in the order in which they end. None if it is not understood.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    split_at(line, 0)
}

fn split_at(line: &str, depth: usize) -> Option<Vec<String>> {
    // Its patterns end with a parenthesis that none opened.
    let has_case = line.split(|c: char| !c.is_alphanumeric()).any(|word| word == "case");
    if has_case && line.contains(['(', '`']) {
        return None;
    }
    let mut splitter = Splitter { chars: line.chars().collect(), at: 0, depth, found: Vec::new() };
    splitter.commands(false)?;
    Some(splitter.found)
}

/// Whether a line has an expansion that may run what its text does not show.
pub(super) fn is_dangerous(line: &str) -> bool {
    static DANGEROUS: LazyLock<RegexSet> = LazyLock::new(|| {
        RegexSet::new([
            // `${x@P}` expands what a variable holds as a prompt, which runs commands; its kin rewrite it.
            r"\$\{[^}]*@[A-Za-z]",
            // `${!x}` reads the variable that another one names.
            r"\$\{!",
            // `${x:=…\…}`: what is assigned shows only once its escapes are read.
            r"\$\{[^}]*[=+\-?][^}]*\\",
            // `${ command; }` and `${|command;}` of newer shells.
            r"\$\{[\s|]",
            // A here-string that is made by a command.
            r"(?s)<<<.*(?:\$\(|`)",
            // `=(command)` of zsh.
            r"(?:^|[\s;|&(<])=\(",
            // `*(e:command:)` and `*(+command)` of zsh.
            r"[*?\[+@!][^\s;|&<>()]*\([^)]*(?:e[^\w\s)]|\+\w)",
        ])
        .expect("fixed expressions are valid")
    });
    DANGEROUS.is_match(line)
}

struct Splitter {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    found: Vec<String>,
}

impl Splitter {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    /// Reads commands to the end of the line, or to the parenthesis that closes a substitution.
    fn commands(&mut self, in_substitution: bool) -> Option<()> {
        let mut text = String::new();
        let mut groups = 0usize;
        loop {
            let Some(next) = self.next() else {
                self.end(&mut text)?;
                return (!in_substitution).then_some(());
            };
            match next {
                ')' if in_substitution && groups == 0 => return self.end(&mut text),
                '(' => {
                    groups += 1;
                    self.end(&mut text)?;
                }
                ')' => {
                    groups = groups.saturating_sub(1);
                    self.end(&mut text)?;
                }
                '&' if self.peek() == Some('>') => {
                    self.end(&mut text)?;
                    self.both_streams()?;
                }
                ';' | '|' | '&' | '\n' | '\r' => self.end(&mut text)?,
                '#' if text.is_empty() || text.ends_with([' ', '\t']) => self.comment(&mut text)?,
                '<' | '>' => self.redirection(next, &mut text)?,
                _ => self.piece(next, &mut text)?,
            }
        }
    }

    /// One character of a word, or all that its quotes hold.
    fn piece(&mut self, next: char, text: &mut String) -> Option<()> {
        text.push(next);
        match next {
            '\\' => {
                let escaped = self.next()?;
                // A line that is continued goes on without either.
                match escaped {
                    '\n' => text.truncate(text.len() - 1),
                    escaped => text.push(escaped),
                }
            }
            '\'' => self.until_quote(text, false)?,
            '"' => self.double(text)?,
            '`' => self.backticks(text)?,
            '$' if self.peek() == Some('\'') => {
                text.extend(self.next());
                self.until_quote(text, true)?;
            }
            '$' if self.peek() == Some('(') => self.substitution(text)?,
            _ => {}
        }
        Some(())
    }

    fn until_quote(&mut self, text: &mut String, has_escapes: bool) -> Option<()> {
        loop {
            let next = self.next()?;
            text.push(next);
            match next {
                '\'' => return Some(()),
                // Shells differ about a quote behind a backslash.
                '\\' if self.peek() == Some('\'') => return None,
                '\\' if has_escapes => text.push(self.next()?),
                _ => {}
            }
        }
    }

    fn double(&mut self, text: &mut String) -> Option<()> {
        loop {
            let next = self.next()?;
            text.push(next);
            match next {
                '"' => return Some(()),
                '\\' => text.push(self.next()?),
                '`' => self.backticks(text)?,
                '$' if self.peek() == Some('(') => self.substitution(text)?,
                _ => {}
            }
        }
    }

    /// The text between backticks is a line of its own once its escapes are taken away.
    fn backticks(&mut self, text: &mut String) -> Option<()> {
        let mut inner = String::new();
        loop {
            let next = self.next()?;
            text.push(next);
            match next {
                '`' => break,
                '\\' => {
                    let escaped = self.next()?;
                    text.push(escaped);
                    if !matches!(escaped, '`' | '\\' | '$') {
                        inner.push('\\');
                    }
                    inner.push(escaped);
                }
                next => inner.push(next),
            }
        }
        self.deeper()?;
        self.found.extend(split_at(&inner, self.depth)?);
        self.depth -= 1;
        self.within_bounds()
    }

    /// What stands between parentheses, at the first of them.
    fn substitution(&mut self, text: &mut String) -> Option<()> {
        let from = self.at;
        if let Some(length) = arithmetic(&self.chars[from..]) {
            self.at += length;
        } else {
            self.at += 1;
            self.deeper()?;
            self.commands(true)?;
            self.depth -= 1;
        }
        text.extend(&self.chars[from..self.at]);
        Some(())
    }

    /// `2>&1` and the like are left out, files stay where they are, and a document is not understood.
    fn redirection(&mut self, next: char, text: &mut String) -> Option<()> {
        match self.peek() {
            Some('(') => {
                text.push(next);
                return self.substitution(text);
            }
            Some('<') if next == '<' => {
                self.at += 1;
                if self.next()? != '<' {
                    return None;
                }
                text.push_str("<<<");
            }
            Some('&') => {
                self.at += 1;
                let from = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                    self.at += 1;
                }
                if self.at == from {
                    text.extend([next, '&']);
                    return Some(());
                }
                let stream = text.trim_end_matches(|c: char| c.is_ascii_digit());
                if stream.is_empty() || stream.ends_with([' ', '\t']) {
                    text.truncate(stream.len());
                }
            }
            _ => text.push(next),
        }
        Some(())
    }

    /// `&> file`, which some shells take for the end of a command in the background and the beginning of
    /// the next: left out if there is nothing but the file.
    fn both_streams(&mut self) -> Option<()> {
        let from = self.at;
        while self.peek() == Some('>') {
            self.at += 1;
        }
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t')) {
            self.at += 1;
        }
        let is_name = |c: char| c.is_alphanumeric() || "_./-+:@%,".contains(c);
        while self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t')) {
            self.at += 1;
        }
        let is_all = self.peek().is_none_or(|c| ";|&\n)".contains(c));
        if !is_all {
            self.at = from;
        }
        Some(())
    }

    fn comment(&mut self, text: &mut String) -> Option<()> {
        text.push('#');
        while let Some(next) = self.peek().filter(|c| *c != '\n') {
            if !next.is_alphanumeric() && !IN_COMMENTS.contains(next) {
                return None;
            }
            self.at += 1;
            text.push(next);
        }
        // A closing parenthesis on this line would be a part of it.
        (self.depth == 0).then_some(())
    }

    fn end(&mut self, text: &mut String) -> Option<()> {
        let command = std::mem::take(text);
        let command = command.trim();
        if !command.is_empty() && !command.starts_with('#') {
            self.found.push(command.to_owned());
        }
        self.within_bounds()
    }

    fn within_bounds(&self) -> Option<()> {
        (self.found.len() <= MAX_COMMANDS).then_some(())
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }
}

/// The length of `((…))` if it can be nothing but arithmetic: names, numbers and operators without any
/// blank between them.
fn arithmetic(chars: &[char]) -> Option<usize> {
    let inner = chars.strip_prefix(&['(', '('])?;
    let is_part = |c: &char| c.is_ascii_alphanumeric() || "_+-*/%".contains(*c);
    let length = inner.iter().take_while(|c| is_part(c)).count();
    inner[length..].starts_with(&[')', ')']).then_some(length + 4)
}
