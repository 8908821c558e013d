//! The template language of command bodies: arguments, and references to what was included.
//!
//! Pure. What it does not understand between two pairs of braces is an error, never text.

use super::include::IncludeKind;

/// A body that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

/// One piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text as it stands.
    Text(String),
    /// What the user wrote behind the command, or this if that is blank.
    Arguments(Option<String>),
    /// The word at this place of what the user wrote, counted from 1.
    Word(usize),
    /// The name of something that was included.
    Include(IncludeKind, String),
}

impl Template {
    /// Understands a body, or says what it does not understand.
    pub fn parse(body: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = body;
        while let Some(at) = rest.find("{{") {
            push_text(&mut parts, &rest[..at]);
            let (part, after) = tag(&rest[at + 2..])?;
            parts.push(part);
            rest = after;
        }
        push_text(&mut parts, rest);
        Ok(Self { parts })
    }

    /// A body that is said as it stands, with the arguments behind it.
    pub(super) fn plain(body: &str) -> Self {
        let parts = vec![Part::Text(format!("{body}\n\n")), Part::Arguments(None)];
        Self { parts }
    }

    /// A body as Claude Code writes it: `$ARGUMENTS` is what the user wrote, `$1` to `$9` are its words. If it
    /// has neither, the arguments come behind it. Nothing else in it means anything.
    pub(super) fn foreign(body: &str) -> Self {
        const ALL: &str = "$ARGUMENTS";
        let mut parts = Vec::new();
        let (mut text, mut rest) = (String::new(), body);
        while let Some(at) = rest.find('$') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            let digit = rest[1..].chars().next().and_then(|c| c.to_digit(10));
            let is_word = digit.is_some_and(|digit| digit > 0)
                && !rest[2..].starts_with(|c: char| c.is_ascii_alphanumeric());
            let (part, len) = match digit {
                Some(digit) if is_word => (Some(Part::Word(digit as usize)), 2),
                _ if rest.starts_with(ALL) => (Some(Part::Arguments(None)), ALL.len()),
                _ => (None, 1),
            };
            match part {
                Some(part) => {
                    push_text(&mut parts, &std::mem::take(&mut text));
                    parts.push(part);
                }
                None => text.push('$'),
            }
            rest = &rest[len..];
        }
        text.push_str(rest);
        if parts.is_empty() {
            return Self::plain(&text);
        }
        push_text(&mut parts, &text);
        Self { parts }
    }

    /// Gives each reference its id as the include has it, or says which one names nothing.
    pub(super) fn resolve(
        &mut self,
        id_of: impl Fn(IncludeKind, &str) -> Option<String>,
    ) -> Result<(), String> {
        for part in &mut self.parts {
            if let Part::Include(kind, id) = part {
                *id = id_of(*kind, id)
                    .ok_or_else(|| format!("include.{}.{id} names no include", kind.as_str()))?;
            }
        }
        Ok(())
    }

    /// The message for these arguments. `name` is the command's.
    pub fn render(&self, name: &str, arguments: &str) -> String {
        let mut message = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => message.push_str(text),
                Part::Arguments(Some(default)) if arguments.trim().is_empty() => {
                    message.push_str(default);
                }
                Part::Arguments(_) => message.push_str(arguments),
                Part::Word(place) => {
                    let word = arguments.split_whitespace().nth(place - 1);
                    message.push_str(word.unwrap_or_default());
                }
                Part::Include(kind, id) => {
                    message.push_str(&format!("[context:{}]", block_id(name, *kind, id)));
                }
            }
        }
        message
    }
}

/// What the block of an include is called.
pub(super) fn block_id(name: &str, kind: IncludeKind, id: &str) -> String {
    format!("command.{name}.{}.{id}", kind.as_str())
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
}

/// Reads a tag up to and with its closing braces; returns it and what follows.
fn tag(text: &str) -> Result<(Part, &str), String> {
    let text = text.trim_start();
    let end = text.find(|c: char| !is_word(c) && c != '.').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let (part, rest) = match word {
        "arguments" => match rest.trim_start().strip_prefix('|') {
            Some(filter) => default_filter(filter.trim_start())?,
            None => (Part::Arguments(None), rest),
        },
        _ => (reference(word).ok_or_else(|| unknown(text))?, rest),
    };
    let rest = rest.trim_start().strip_prefix("}}").ok_or_else(|| unknown(text))?;
    Ok((part, rest))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn reference(word: &str) -> Option<Part> {
    let (kind, id) = word.strip_prefix("include.")?.split_once('.')?;
    let is_id = !id.is_empty() && id.chars().all(is_word);
    is_id.then_some(Part::Include(IncludeKind::from_name(kind)?, id.to_owned()))
}

/// Reads `default("…")`.
fn default_filter(text: &str) -> Result<(Part, &str), String> {
    let inner = text
        .strip_prefix("default")
        .and_then(|rest| rest.trim_start().strip_prefix('('))
        .and_then(|rest| rest.trim_start().strip_prefix('"'))
        .ok_or_else(|| unknown(&format!("arguments|{text}")))?;
    let (value, rest) = quoted(inner)?;
    let rest = rest
        .trim_start()
        .strip_prefix(')')
        .ok_or_else(|| "default(\"…\") is not closed in the template".to_owned())?;
    Ok((Part::Arguments(Some(value)), rest))
}

/// Reads up to and with the closing quote.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => match chars.next() {
                Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                _ => return Err("unknown escape in a default of the template".into()),
            },
            _ => value.push(char),
        }
    }
    Err("a quoted default of the template does not end".into())
}

fn unknown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let shown: String = line.split("}}").next().unwrap_or_default().chars().take(40).collect();
    format!("unknown template expression \"{{{{{}\"", shown.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(body: &str, arguments: &str, expected: Result<&str, &str>) {
        let rendered = Template::parse(body).map(|template| template.render("fix", arguments));
        assert_eq!(rendered.as_deref().map_err(String::as_str), expected, "{body}");
    }

    #[test]
    fn arguments_are_put_in_as_they_are() {
        check("a {{arguments}} b", "x  {{y}}", Ok("a x  {{y}} b"));
        check("{{ arguments }}", "", Ok(""));
        check("{{arguments|default(\"all\")}}", " ", Ok("all"));
        check("{{arguments|default(\"all\")}}", "some", Ok("some"));
        check("{{ arguments | default( \"a }} \\\"b\\\"\\n\" ) }}!", "", Ok("a }} \"b\"\n!"));
        check("{ } }} {x}", "", Ok("{ } }} {x}"));
    }

    #[test]
    fn references_name_their_block() {
        check("see {{include.files.a_b-c}}", "", Ok("see [context:command.fix.files.a_b-c]"));
        check(
            "{{include.shell.s}}{{include.urls.u}}",
            "",
            Ok("[context:command.fix.shell.s][context:command.fix.urls.u]"),
        );
    }

    #[test]
    fn anything_else_is_an_error() {
        for (body, shown) in [
            ("{{argument}}", "argument"),
            ("{{}}", ""),
            ("{{arguments", "arguments"),
            ("{{arguments}", "arguments}"),
            ("{{include.files}}", "include.files"),
            ("{{include.files.}}", "include.files."),
            ("{{include.files.a.b}}", "include.files.a.b"),
            ("{{include.dirs.a}}", "include.dirs.a"),
            ("{{arguments|upper}}", "arguments|upper"),
            ("{{arguments|default('x')}}", "arguments|default('x')"),
            ("${{ matrix.os }}", "matrix.os"),
        ] {
            let expected = format!("unknown template expression \"{{{{{shown}\"");
            check(body, "", Err(&expected));
        }
        check(
            "{{arguments|default(\"x}}",
            "",
            Err("a quoted default of the template does not end"),
        );
        check(
            "{{arguments|default(\"\\x\")}}",
            "",
            Err("unknown escape in a default of the template"),
        );
        check(
            "{{arguments|default(\"x\"}}",
            "",
            Err("default(\"…\") is not closed in the template"),
        );
    }

    proptest! {
        #[test]
        fn no_body_panics(body in ".*") {
            let _ = Template::parse(&body).map(|template| template.render("n", &body));
        }

        #[test]
        fn no_tag_panics(body in "(\\{\\{|\\}\\}|arguments|\\||default|\\(|\\)|\"|\\\\|include|\\.|files|é| ){0,12}") {
            let _ = Template::parse(&body).map(|template| template.render("n", &body));
        }

        #[test]
        fn text_without_tags_stays(body in "[^{]*") {
            prop_assert_eq!(Template::parse(&body).unwrap().render("n", "a"), body);
        }

        #[test]
        fn any_default_can_be_written(value in "[^\\r\\t]*") {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let body = format!("{{{{arguments|default(\"{escaped}\")}}}}");
            prop_assert_eq!(Template::parse(&body).unwrap().render("n", ""), value);
        }
    }
}
