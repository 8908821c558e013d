//! What one word of a shell command is worth once the shell has expanded it, as far as that can
//! be known without running anything. Whatever a shell would have to work out is not known.

/// A word of a command as its program will see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arg {
    /// Exactly this text.
    Literal(String),
    /// Names of files that a pattern matches: one word or many. Each begins with this text.
    Names(String),
    /// Values of variables: any number of words, with any text.
    Unknown,
}

impl Arg {
    /// The text, if it is known.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Names(_) | Self::Unknown => None,
        }
    }

    /// True if no word it becomes can be taken for an option.
    pub(super) fn is_operand(&self) -> bool {
        match self {
            Self::Literal(text) => !text.starts_with('-'),
            Self::Names(start) => !start.is_empty() && !start.starts_with(['-', '+']),
            Self::Unknown => false,
        }
    }
}

/// Characters that mean the same to every shell wherever they stand in a word.
const PLAIN: &str = "%+,-./:=@_^";

/// Reads a word as it was written. None if a shell would have to run something to know it, or if
/// shells differ about what it means.
pub(super) fn read(raw: &str) -> Option<Arg> {
    if raw == "[" {
        return Some(Arg::Literal(raw.to_owned()));
    }
    let mut reader = Reader { rest: raw.chars().collect(), at: 0, ..Reader::default() };
    reader.word()?;
    reader.finish()
}

#[derive(Default)]
struct Reader {
    rest: Vec<char>,
    at: usize,
    text: String,
    /// What stands before the first pattern character.
    start: Option<String>,
    unknown: bool,
    /// Unquoted braces may make several words out of one.
    braced: bool,
    depth: usize,
    listed: bool,
    quoted: bool,
}

impl Reader {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.get(self.at).copied();
        self.at += usize::from(next.is_some());
        next
    }

    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn word(&mut self) -> Option<()> {
        if self.peek() == Some('~') {
            self.tilde()?;
        }
        // A command name such as `=ls` means a path to some shells.
        if self.peek() == Some('=') {
            return None;
        }
        while let Some(next) = self.next() {
            match next {
                '\'' => self.single()?,
                '"' => self.double()?,
                '\\' => self.escaped()?,
                '$' => self.variable(false)?,
                '*' | '?' | '[' => self.pattern(next),
                ']' => self.text.push(next),
                '{' | '}' => {
                    self.braced = true;
                    self.depth =
                        if next == '{' { self.depth + 1 } else { self.depth.checked_sub(1)? };
                    self.text.push(next);
                }
                // Some shells match numbers or negate with these; none does at the end of a word.
                '#' | '!' => self.text.push(next),
                '~' if self.text.chars().all(|c| c.is_ascii_alphanumeric()) => self.text.push(next),
                next if next.is_alphanumeric() || PLAIN.contains(next) => {
                    self.listed |= next == ',' || (next == '.' && self.text.ends_with('.'));
                    self.text.push(next);
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// `~` and `~/…` are the user's home: a path that is one word.
    fn tilde(&mut self) -> Option<()> {
        match self.rest.get(1) {
            None | Some('/') => {
                self.at = 1;
                self.text.push('~');
                Some(())
            }
            _ => None,
        }
    }

    fn single(&mut self) -> Option<()> {
        self.quoted = true;
        let from = self.text.len();
        loop {
            match self.next()? {
                '\'' => break,
                next => self.text.push(visible(next)?),
            }
        }
        // Some shells take the quote behind a backslash for text.
        (!self.text[from..].ends_with('\\')).then_some(())
    }

    fn double(&mut self) -> Option<()> {
        self.quoted = true;
        loop {
            match self.next()? {
                '"' => return Some(()),
                '$' => self.variable(true)?,
                '`' => return None,
                // Interactive shells look into their history, even between double quotes.
                '!' if self.peek() != Some('"') => return None,
                '\\' => match self.next()? {
                    next @ ('$' | '`' | '"' | '\\') => self.text.push(next),
                    '\n' => return None,
                    next => {
                        self.text.push('\\');
                        self.text.push(visible(next)?);
                    }
                },
                next => self.text.push(visible(next)?),
            }
        }
    }

    fn escaped(&mut self) -> Option<()> {
        self.quoted = true;
        match self.next()? {
            '\n' => None,
            next => {
                self.text.push(visible(next)?);
                Some(())
            }
        }
    }

    /// `$NAME`, `${NAME}` and `$?` only read. Everything else that begins with `$` may do more.
    fn variable(&mut self, in_quotes: bool) -> Option<()> {
        match self.peek() {
            Some('{') => {
                self.at += 1;
                self.name()?;
                (self.next()? == '}').then_some(())?;
            }
            Some('?') => self.at += 1,
            // A dollar at the end of a pattern, as in `grep "x$"`.
            Some('"') if in_quotes => {
                self.text.push('$');
                return Some(());
            }
            _ => self.name()?,
        }
        // Some shells take brackets and colons behind a name for subscripts and modifiers.
        if matches!(self.peek(), Some('[' | ':')) {
            return None;
        }
        self.unknown = true;
        Some(())
    }

    fn name(&mut self) -> Option<()> {
        let from = self.at;
        while self.peek().is_some_and(|next| next.is_ascii_alphanumeric() || next == '_') {
            self.at += 1;
        }
        let first = self.rest.get(from)?;
        (self.at > from && !first.is_ascii_digit()).then_some(())
    }

    fn pattern(&mut self, next: char) {
        if self.start.is_none() {
            self.start = Some(self.text.clone());
        }
        self.text.push(next);
    }

    fn finish(self) -> Option<Arg> {
        // One without its other ends a group in some shells.
        if self.depth > 0 || self.braced && (self.listed || self.quoted || self.unknown) {
            return None;
        }
        Some(match self.start {
            _ if self.unknown => Arg::Unknown,
            Some(start) => Arg::Names(start),
            None => Arg::Literal(self.text),
        })
    }
}

/// Characters that cannot hide: no controls besides tab and newline, nothing that turns or
/// conceals text.
fn visible(c: char) -> Option<char> {
    let hidden = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    (!hidden && (!c.is_control() || matches!(c, '\t' | '\n'))).then_some(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    use super::*;

    fn literal(text: &str) -> Option<Arg> {
        Some(Arg::Literal(text.into()))
    }

    #[test]
    fn quotes_are_taken_off() {
        for (raw, text) in [
            ("ls", "ls"),
            ("'a b'", "a b"),
            (r#""a $ b""#, ""),
            (r#"a"b"'c'\d"#, "abcd"),
            (r#""\$x \q""#, r"$x \q"),
            ("HEAD@{1}", "HEAD@{1}"),
            ("--format='%h {x,y}'", "--format=%h {x,y}"),
            ("~/x", "~/x"),
            ("HEAD~2", "HEAD~2"),
            ("über", "über"),
            (r#""end$""#, "end$"),
        ] {
            if text.is_empty() {
                assert_eq!(read(raw), None, "{raw}");
            } else {
                assert_eq!(read(raw), literal(text), "{raw}");
            }
        }
    }

    #[test]
    fn patterns_and_variables_are_not_text() {
        assert_eq!(read("src/*.rs"), Some(Arg::Names("src/".into())));
        assert_eq!(read("*.rs"), Some(Arg::Names(String::new())));
        assert!(!read("-*").unwrap().is_operand());
        for raw in ["$HOME", "\"$HOME\"", "${HOME}", "a$HOME", "$?"] {
            assert_eq!(read(raw), Some(Arg::Unknown), "{raw}");
        }
    }

    #[test]
    fn what_a_shell_works_out_is_not_known() {
        for raw in [
            "$(ls)",
            "`ls`",
            "\"`ls`\"",
            "${x:=y}",
            "${x@P}",
            "${!x}",
            "$((1))",
            "$[1]",
            "$'a'",
            "$\"a\"",
            "{a,b}",
            "{1..2}",
            "{'a',b}",
            "~root",
            "~1",
            "$a[1]",
            "$1",
            "$@",
            "a(b)",
            "=ls",
            "a\u{a0}b",
            "'a\u{202e}b'",
            "a\\\nb",
            "\"a\u{7}\"",
            "'a\\'",
            "<(ls)",
            "a&b",
            "a;b",
            "\"!x\"",
            "'a'$\"b\"",
        ] {
            assert_eq!(read(raw), None, "{raw}");
        }
    }

    /// Writes all words of a script to its output, each followed by NUL.
    #[expect(clippy::disallowed_methods, reason = "the shells themselves say what a word is")]
    fn ask(shell: &str, words: &[String]) -> Option<Vec<String>> {
        let lines: Vec<String> = words.iter().map(|w| format!("printf '%s\\0' {w}")).collect();
        let output = std::process::Command::new(shell)
            .args(["-c", &lines.join("\n")])
            .current_dir("/proc/self/fdinfo")
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).unwrap();
        Some(text.split_terminator('\0').map(str::to_owned).collect())
    }

    #[test]
    fn shells_agree_about_what_is_known() {
        let pieces = prop::sample::select(&[
            "a", "b", " ", "'", "'", "\"", "\"", "\\", "$", "{", "}", ",", "..", "~", "!", "#",
            "^", "=", "%", "-", ":", "/", "@", "*", "?", "[", "]", "(", ")", "`", "|", "&", ";",
            "<", ">", "\n", "\t", "1", "é", "+",
        ]);
        let words = prop::collection::vec(pieces, 1..9).prop_map(|pieces| pieces.concat());
        let mut runner = TestRunner::deterministic();
        let mut known = Vec::new();
        while known.len() < 1500 {
            let word = words.new_tree(&mut runner).unwrap().current();
            // A word that begins with `#` is a comment, one with a blank is two: the parser of
            // commands has distinguished these before.
            let is_one = super::super::shell::parse(&format!("x {word}")).is_some_and(|script| {
                script.is_plain
                    && script.commands.len() == 1
                    && script.commands[0].words.len() == 2
                    && script.commands[0].streams == <_>::default()
            });
            if let (true, Some(Arg::Literal(text))) = (is_one, read(&word))
                && !text.starts_with('~')
            {
                known.push((word, text));
            }
        }
        let (raw, texts): (Vec<_>, Vec<_>) = known.into_iter().unzip();
        for shell in ["sh", "bash", "zsh"] {
            let Some(said) = ask(shell, &raw) else { continue };
            for (at, text) in texts.iter().enumerate() {
                assert_eq!(said.get(at), Some(text), "{shell}: {:?}", raw[at]);
            }
        }
    }
}
