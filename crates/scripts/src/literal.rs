//! Literals of JavaScript that say all by themselves: objects, lists, texts, numbers, words.
//!
//! What a script of the second form says of itself is read by this, so that nothing of it runs.

use serde_json::{Map, Number, Value};

/// How deep literals may lie in each other.
const DEEPEST: usize = 32;

/// Reads a text from front to back.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// What is wrong, and where: the number of a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiteralError {
    pub(crate) at: usize,
    pub(crate) message: &'static str,
}

type Read<T> = Result<T, LiteralError>;

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Reader<'a> {
        Reader { text, at: 0 }
    }

    /// How far it has read, in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn wrong<T>(&self, message: &'static str) -> Read<T> {
        Err(LiteralError { at: self.at, message })
    }

    /// Goes past white space and comments.
    pub(crate) fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start_matches(is_space).len();
            self.at += space;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                self.at += comment.find("*/").map_or(rest.len(), |end| end + 4);
            } else if space == 0 {
                return;
            }
        }
    }

    /// Goes past this mark, if it stands here.
    pub(crate) fn takes(&mut self, mark: &str) -> bool {
        self.skip();
        let is_there = self.rest().starts_with(mark);
        if is_there {
            self.at += mark.len();
        }
        is_there
    }

    /// Goes past this word, if it stands here and does not go on.
    pub(crate) fn takes_word(&mut self, word: &str) -> bool {
        self.skip();
        let Some(after) = self.rest().strip_prefix(word) else { return false };
        let is_whole = !after.starts_with(is_of_name);
        if is_whole {
            self.at += word.len();
        }
        is_whole
    }

    /// Reads a literal.
    pub(crate) fn literal(&mut self) -> Read<Value> {
        self.value(0)
    }

    fn value(&mut self, depth: usize) -> Read<Value> {
        if depth > DEEPEST {
            return self.wrong("the literal is too deep");
        }
        self.skip();
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some('"' | '\'' | '`') => self.string().map(Value::String),
            Some(c) if c.is_ascii_digit() || c == '-' || c == '.' => self.number(),
            _ if self.takes_word("true") => Ok(Value::Bool(true)),
            _ if self.takes_word("false") => Ok(Value::Bool(false)),
            _ if self.takes_word("null") => Ok(Value::Null),
            _ => self.wrong(
                "a literal is expected here: a text, number, list, object, true, false or null",
            ),
        }
    }

    fn object(&mut self, depth: usize) -> Read<Value> {
        self.next();
        let mut members = Map::new();
        loop {
            if self.takes("}") {
                return Ok(Value::Object(members));
            }
            self.skip();
            let name = match self.peek() {
                Some('"' | '\'') => self.string()?,
                Some(c) if is_of_name(c) => self.name(),
                _ => return self.wrong("the name of a member is expected here"),
            };
            if !self.takes(":") {
                return self.wrong("a colon is expected here");
            }
            let value = self.value(depth + 1)?;
            members.insert(name, value);
            if !self.takes(",") {
                if self.takes("}") {
                    return Ok(Value::Object(members));
                }
                return self.wrong("a comma or the end of the object is expected here");
            }
        }
    }

    fn list(&mut self, depth: usize) -> Read<Value> {
        self.next();
        let mut items = Vec::new();
        loop {
            if self.takes("]") {
                return Ok(Value::Array(items));
            }
            items.push(self.value(depth + 1)?);
            if !self.takes(",") {
                if self.takes("]") {
                    return Ok(Value::Array(items));
                }
                return self.wrong("a comma or the end of the list is expected here");
            }
        }
    }

    fn name(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        self.at += end;
        rest[..end].to_owned()
    }

    fn number(&mut self) -> Read<Value> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        let whole = word.parse::<i64>().ok().map(Number::from);
        // Words such as `inf` are numbers to Rust and none here.
        let is_plain = word.bytes().all(|byte| byte.is_ascii_digit() || b".+-eE".contains(&byte));
        let broken = word.parse().ok().filter(|_| is_plain).and_then(Number::from_f64);
        let Some(number) = whole.or(broken) else { return self.wrong("this is no plain number") };
        self.at += end;
        Ok(Value::Number(number))
    }

    fn string(&mut self) -> Read<String> {
        let begin = self.at;
        let Some(mark) = self.next() else { return self.wrong("a text is expected here") };
        let mut text = String::new();
        loop {
            match self.next() {
                Some(c) if c == mark => return Ok(text),
                Some('\\') => self.escape(&mut text)?,
                Some('$') if mark == '`' && self.peek() == Some('{') => {
                    return self.wrong("a text in the metadata may not be computed");
                }
                Some('\n' | '\r') if mark != '`' => {
                    return self.wrong("the text does not end on its line");
                }
                Some(c) => text.push(c),
                None => return Err(LiteralError { at: begin, message: "the text does not end" }),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Read<()> {
        let Some(c) = self.next() else { return self.wrong("the text does not end") };
        let plain = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '0' => '\0',
            '\n' => return Ok(()),
            'x' => self.unit(2).and_then(|unit| self.scalar(unit))?,
            'u' => self.unicode()?,
            other => other,
        };
        text.push(plain);
        Ok(())
    }

    fn unicode(&mut self) -> Read<char> {
        if self.rest().starts_with('{') {
            let rest = &self.rest()[1..];
            let digits = rest.find('}').map(|end| &rest[..end]).filter(|word| word.len() <= 6);
            let unit = digits.and_then(|word| u32::from_str_radix(word, 16).ok());
            let (Some(unit), Some(digits)) = (unit, digits) else {
                return self.wrong("this is no character");
            };
            self.at += digits.len() + 2;
            return self.scalar(unit);
        }
        let first = self.unit(4)?;
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            self.at += 2;
            let second = self.unit(4)?;
            if (0xdc00..0xe000).contains(&second) {
                return self.scalar(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
            return self.wrong("this is half of a character");
        }
        self.scalar(first)
    }

    fn unit(&mut self, digits: usize) -> Read<u32> {
        let word = self.rest().get(..digits);
        let word = word.filter(|word| word.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(unit) = word.and_then(|word| u32::from_str_radix(word, 16).ok()) else {
            return self.wrong("this is no character");
        };
        self.at += digits;
        Ok(unit)
    }

    fn scalar(&self, unit: u32) -> Read<char> {
        char::from_u32(unit).map_or_else(|| self.wrong("this is half of a character"), Ok)
    }
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Read<Value> {
        Reader::new(text).literal()
    }

    #[test]
    fn literals_are_read_as_javascript_reads_them() {
        let text = r#" /* first */ { name: 'a\'b', "two": [1, -2.5, 3e2,], // three
            'quoted key': `line
two`, deep: { yes: true, no: false, none: null }, "u": "\u00e4\u{1F600}\ud83d\ude00\x41", } "#;
        let value = json!({
            "name": "a'b", "two": [1, -2.5, 300.0], "quoted key": "line\ntwo",
            "deep": { "yes": true, "no": false, "none": null }, "u": "ä😀😀A",
        });
        assert_eq!(read(text), Ok(value));
    }

    #[test]
    fn what_would_have_to_run_is_refused_with_its_place() {
        for (text, at) in [
            ("{ a: f() }", 5),
            ("{ a: `x${1}` }", 8),
            ("{ ...b }", 2),
            ("{ [a]: 1 }", 2),
            ("{ a }", 4),
            ("{ a: 'x", 5),
            ("'\\ud800'", 7),
            ("[1", 2),
            ("-inf", 0),
            ("0x10", 0),
        ] {
            let wrong = read(text).unwrap_err();
            assert_eq!(wrong.at, at, "{text}: {}", wrong.message);
        }
        let deep = "[".repeat(1_000);
        assert_eq!(read(&deep).unwrap_err().message, "the literal is too deep");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,200}") {
            let mut reader = Reader::new(&text);
            let _ = reader.literal();
            prop_assert!(text.is_char_boundary(reader.at()));
        }

        #[test]
        fn json_is_read_as_json(text in "[\\PC\n\t]{0,40}", number in any::<i64>()) {
            let value = json!({ "text": text, "list": [number, null, true, { "": [] }] });
            prop_assert_eq!(read(&value.to_string()), Ok(value));
        }
    }
}
