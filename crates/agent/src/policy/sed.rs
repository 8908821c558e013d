//! Reads the scripts of sed: which of them only print.

use super::classify::Class;
use super::options::{Operands, Options};
use super::scripts::reading;
use super::word::Arg;

/// Options of `sed` that leave its files alone.
const SED: Options = Options {
    short: "nErszue:l:",
    long: "quiet silent regexp-extended expression= separate null-data unbuffered line-length= \
     posix debug sandbox",
    operands: Operands::Any,
};

pub(super) fn sed(args: &[Arg]) -> Class {
    if edits_in_place(args) {
        return Class::Writing;
    }
    let Some(given) = SED.read(args).filter(|given| !given.is_mixed) else {
        return Class::Other;
    };
    let texts: Option<Vec<&str>> = expressions(args);
    let Some(texts) = texts else { return Class::Other };
    let script = if texts.is_empty() {
        match given.operands.first().and_then(|first| first.text()) {
            Some(script) => script.to_owned(),
            None => return Class::Other,
        }
    } else {
        texts.join("\n")
    };
    reading(sed_only_prints(&script))
}

fn edits_in_place(args: &[Arg]) -> bool {
    let given = args.iter().filter_map(Arg::text).take_while(|text| *text != "--");
    let mut options = given.filter(|text| text.starts_with('-'));
    options.any(|text| match text.strip_prefix("--") {
        Some(long) => long.split('=').next() == Some("in-place"),
        None => text[1..]
            .chars()
            .take_while(|c| !matches!(c, 'e' | 'f' | 'l'))
            .any(|c| c == 'i' || c == 'I'),
    })
}

/// The texts of all `-e TEXT`, in any of their spellings. None if one is not known.
fn expressions(args: &[Arg]) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let Some(text) = arg.text() else { continue };
        match text {
            "--" => break,
            "--expression" => found.push(rest.next()?.text()?),
            "--line-length" => _ = rest.next(),
            _ => {
                if let Some(value) = text.strip_prefix("--expression=") {
                    found.push(value);
                } else if let Some(at) = bundle_value(text) {
                    let (letters, value) = text.split_at(at);
                    let value = if value.is_empty() { rest.next()?.text()? } else { value };
                    if letters.ends_with('e') {
                        found.push(value);
                    }
                }
            }
        }
    }
    Some(found)
}

/// Where the value of a bundle such as `-ne` begins, if it has one.
fn bundle_value(text: &str) -> Option<usize> {
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    letters.find(['e', 'l']).map(|at| at + 2)
}

/// Commands of sed that take no argument and write nowhere but to the output.
const SED_PLAIN: &str = "=dDgGhHnNpPxzF";

/// True for a script of addresses, printing, deleting and substituting, and nothing else.
fn sed_only_prints(script: &str) -> bool {
    let mut reader = Sed { rest: script.chars().collect(), at: 0 };
    reader.script().is_some()
}

struct Sed {
    rest: Vec<char>,
    at: usize,
}

impl Sed {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn skip(&mut self, set: &str) {
        while self.peek().is_some_and(|next| set.contains(next)) {
            self.at += 1;
        }
    }

    fn script(&mut self) -> Option<()> {
        loop {
            self.skip(" \t\n;");
            if self.peek().is_none() {
                return Some(());
            }
            self.address()?;
            self.skip(" \t");
            if self.peek() == Some(',') {
                self.at += 1;
                self.skip(" \t+~");
                self.address()?;
            }
            self.skip(" \t!");
            self.command()?;
        }
    }

    fn address(&mut self) -> Option<()> {
        match self.peek()? {
            '$' => self.at += 1,
            '0'..='9' => self.skip("0123456789~"),
            '/' => {
                self.at += 1;
                self.regex('/')?;
                self.skip("IM");
            }
            // A regex with another delimiter is rare, and easily misread.
            '\\' => return None,
            _ => {}
        }
        Some(())
    }

    fn command(&mut self) -> Option<()> {
        match self.next()? {
            '{' => return Some(()),
            '}' => {}
            's' => self.substitute()?,
            'y' => {
                let delimiter = self.delimiter()?;
                self.until(delimiter)?;
                self.until(delimiter)?;
            }
            'q' | 'Q' | 'l' => {
                self.skip(" \t");
                self.skip("0123456789");
            }
            plain if SED_PLAIN.contains(plain) => {}
            _ => return None,
        }
        self.skip(" \t");
        matches!(self.peek(), None | Some('\n' | ';' | '}')).then_some(())
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|next| next.is_ascii_punctuation() && !"\\[]".contains(*next))
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.regex(delimiter)?;
        self.until(delimiter)?;
        // Not `w`, which writes a file, and not `e`, which runs what it made.
        self.skip("gpiIMm0123456789");
        Some(())
    }

    /// A regex up to its delimiter. Where that stands between brackets, programs disagree.
    fn regex(&mut self, delimiter: char) -> Option<()> {
        let mut in_brackets = false;
        loop {
            match self.next()? {
                '\n' => return None,
                next if next == delimiter => return (!in_brackets).then_some(()),
                '\\' if !in_brackets => _ = self.next()?,
                '[' if !in_brackets => {
                    in_brackets = true;
                    self.skip("^");
                    self.skip("]");
                }
                // Classes such as `[:alpha:]` end in a bracket of their own.
                '[' if matches!(self.peek(), Some(':' | '.' | '=')) => {
                    let kind = self.next()?;
                    while !(self.next()? == kind && self.peek() == Some(']')) {}
                    self.at += 1;
                }
                '\\' => return None,
                ']' => in_brackets = false,
                _ => {}
            }
        }
    }

    fn until(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                next if next == delimiter => return Some(()),
                '\\' => _ = self.next()?,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(args: &[&str]) -> Vec<Arg> {
        args.iter().map(|arg| Arg::Literal((*arg).to_owned())).collect()
    }

    #[test]
    fn sed_scripts_are_read() {
        for script in [
            "p",
            "1,5p",
            "$p",
            "/a/,/b/p",
            "s/a/b/",
            "s|a|b|g; s,c,d,2p",
            "1!G;h;$!d",
            "/x/{p;q}",
            "2q",
            "s/[[:space:]]*$//",
            "y/abc/def/",
            "10,$ d",
            "/a/I!d",
            "0~3p",
            "1,+3p",
            "s/\\//x/g",
            "/foo\\/bar/p",
            "$!N;P;D",
            "",
            "p\n\n  d",
        ] {
            assert!(sed_only_prints(script), "{script}");
        }
        for script in [
            "w out",
            "1w out",
            "s/a/b/w out",
            "s/a/b/gw out",
            "e",
            "1e ls",
            "s/a/b/e",
            "W x",
            "r /etc/passwd",
            "a text",
            "s/a/b/;w x",
            "s/[/]/w x/",
            "{w x\n}",
            "$!{w x\n}",
            "b;w x",
            "s/a/b\nw x/w y",
            "#n\nw x",
            ":a;w x",
            "\\,a,w x",
            "s\\a\\b\\w x",
            "s/a\n/w x/",
            "p w x",
            "v",
            "s/a/b/ w x",
            "y/a/b/w x",
            "s[a[b[w x",
            "s/a[\\]/b/;w x",
        ] {
            assert!(!sed_only_prints(script), "{script}");
        }
    }

    #[test]
    fn every_spelling_of_in_place_writes() {
        for args in [
            &["-i", "p", "f"][..],
            &["-ni", "p", "f"],
            &["-i.bak", "p"],
            &["--in-place", "p"],
            &["--in-place=.x", "p"],
            &["-n", "-e", "p", "-i", "f"],
            &["p", "f", "-i"],
            &["-Ei", "p"],
        ] {
            assert_eq!(sed(&literals(args)), Class::Writing, "{args:?}");
        }
        for args in [
            &["-n", "-e", "p", "-e", "w x"][..],
            &["-ne", "w x"],
            &["-nf", "x"],
            &["-f", "x"],
            &["--expression=w x"],
            &["--expression", "w x"],
            &["--in-plac", "p"],
            &["-l", "5", "w x"],
            &[],
        ] {
            assert_eq!(sed(&literals(args)), Class::Other, "{args:?}");
        }
        assert_eq!(sed(&literals(&["-n", "-l", "5", "-e", "p", "f"])), Class::ReadOnly);
    }
}
