//! Reads the options of a program as its manual describes them. An option that is not listed is
//! not known, also if it is a listed one cut short.

use super::word::Arg;

/// How many words that are no options a program may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// Any number.
    Any,
    /// This many at most.
    AtMost(usize),
    /// Any number, each beginning with this character.
    BeginWith(char),
}

/// The options that are known to change nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Letters; one that takes a value is followed by `:`, one whose value must be attached by `?`.
    pub short: &'static str,
    /// Names without dashes, blanks between them; one that takes a value ends in `=`, one that may take one in `?`.
    pub long: &'static str,
    /// What may stand beside them.
    pub operands: Operands,
}

/// The words of a command, classified.
#[derive(Debug, Default)]
pub(super) struct ParsedArgs<'a> {
    /// Options as they were written, without values that are words of their own.
    pub options: Vec<&'a str>,
    /// The rest.
    pub operands: Vec<&'a Arg>,
    /// True if an option follows an operand: not every program still takes it for one.
    pub is_mixed: bool,
}

impl Options {
    /// True if all of `args` is known to change nothing.
    pub(super) fn fit(&self, args: &[Arg]) -> bool {
        self.read(args).is_some()
    }

    /// The options that were given and all operands. None if an option is not known.
    pub(super) fn read<'a>(&self, args: &'a [Arg]) -> Option<ParsedArgs<'a>> {
        let mut found = ParsedArgs::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = match arg.text() {
                Some("--") => {
                    found.operands.extend(rest.by_ref());
                    break;
                }
                Some(text) if text.len() > 1 && text.starts_with('-') => text,
                _ if arg.is_operand() || arg.text() == Some("-") => {
                    found.operands.push(arg);
                    continue;
                }
                _ => return None,
            };
            let takes_next = match text.strip_prefix("--") {
                Some(long) => self.long(long)?,
                None => self.short(&text[1..])?,
            };
            found.is_mixed |= !found.operands.is_empty();
            found.options.push(text);
            if takes_next {
                rest.next()?.text()?;
            }
        }
        let fits = match self.operands {
            Operands::Any => true,
            Operands::AtMost(most) => {
                // Where options end at the first operand, a late one is an operand too.
                !found.is_mixed
                    && found.operands.len() <= most
                    && found.operands.iter().all(|arg| arg.text().is_some())
            }
            Operands::BeginWith(first) => found
                .operands
                .iter()
                .all(|arg| arg.text().is_some_and(|text| text.starts_with(first))),
        };
        fits.then_some(found)
    }

    /// Whether a long option takes the next word. None if it is not known.
    fn long(&self, text: &str) -> Option<bool> {
        let (name, has_value) = match text.split_once('=') {
            Some((name, _)) => (name, true),
            None => (text, false),
        };
        self.long.split_whitespace().find_map(|known| match known.strip_suffix(['=', '?']) {
            None => (known == name && !has_value).then_some(false),
            Some(bare) if bare != name => None,
            Some(_) => Some(known.ends_with('=') && !has_value),
        })
    }

    /// Whether a bundle of letters takes the next word. None if one is not known.
    fn short(&self, letters: &str) -> Option<bool> {
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            let at = self.short.find(letter).filter(|_| !":?".contains(letter))?;
            match self.short[at + letter.len_utf8()..].chars().next() {
                Some(':') => return Some(letters.as_str().is_empty()),
                Some('?') => return Some(false),
                _ => {}
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Options =
        Options { short: "abn:U?", long: "all max= color?", operands: Operands::AtMost(1) };

    fn fit(args: &str) -> bool {
        let args: Vec<Arg> = args.split_whitespace().map(|a| Arg::Literal(a.into())).collect();
        SOME.fit(&args)
    }

    #[test]
    fn only_listed_options_are_known() {
        for args in [
            "",
            "-a",
            "-ab x",
            "-n 3",
            "-n3 x",
            "-abn3",
            "--all",
            "--max=3",
            "--max 3 x",
            "--color",
            "--color=x",
            "-- -z",
            "-",
            "-U3",
            "-U x",
        ] {
            assert!(fit(args), "{args}");
        }
        for args in [
            "-z",
            "-az",
            "-n",
            "--al",
            "--all=x",
            "--max",
            "--unknown",
            "x y",
            "x -a",
            "-- x y",
            "-:",
        ] {
            assert!(!fit(args), "{args}");
        }
    }

    #[test]
    fn names_of_files_cannot_be_options() {
        let any = Options { operands: Operands::Any, ..SOME };
        assert!(any.fit(&[Arg::Names("src/".into())]));
        assert!(!any.fit(&[Arg::Names(String::new())]));
        assert!(!any.fit(&[Arg::Unknown]));
        assert!(!any.fit(&[Arg::Literal("-n".into()), Arg::Names("src/".into())]));
        assert!(!SOME.fit(&[Arg::Names("src/".into())]), "they can be more than one");
    }
}
