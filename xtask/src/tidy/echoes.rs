//! Doc comments that say no more than the name below them: there is nothing to say, so there is no
//! comment. What becomes a description for users (help, schemas) is left alone.
//!
//! Works on lines, not on syntax: rustfmt has already put everything where it is looked for.

use super::Finding;

/// Words that say nothing by themselves.
const FILLERS: &[&str] = &[
    "a", "an", "the", "of", "its", "it", "is", "are", "to", "in", "on", "for", "and", "or", "this",
    "that", "with", "which", "by", "as", "at", "from", "be", "was", "has", "have", "who", "whose",
    "what", "where",
];

/// Where dialects declare what they speak: macros there make descriptions of all comments.
const WIRES: &str = "/src/wire/";

/// Derives and attributes that make comments part of what users read.
const DESCRIBING: &[&str] = &["JsonSchema", "Parser", "Subcommand", "ValueEnum", "Args"];
const DESCRIBED: &[&str] = &["schemars", "arg(", "command("];

/// What may stand before the name of an item.
const BEFORE_NAMES: &[&str] = &[
    "async", "const", "unsafe", "fn", "struct", "enum", "trait", "type", "static", "mod", "union",
];

/// Finds comments of one line whose words are all in the name that they stand above.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if path.contains(WIRES) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut findings = Vec::new();
    // The indentation of the type whose comments users read.
    let mut described: Option<usize> = None;
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if code.starts_with("#[derive(") && has_any(&attribute(&lines[at..]), DESCRIBING) {
            described = Some(indent);
        } else if described == Some(indent)
            && (code.starts_with('}') || code.contains("struct ") && code.ends_with(';'))
        {
            described = None;
        }
        let Some(comment) = code.strip_prefix("/// ") else { continue };
        let is_doc =
            |line: Option<&&str>| line.is_some_and(|it| it.trim_start().starts_with("///"));
        let is_one_line = !is_doc(at.checked_sub(1).and_then(|before| lines.get(before)))
            && !is_doc(lines.get(at + 1));
        if described.is_some() || !is_one_line {
            continue;
        }
        if let Some(name) = name_below(&lines[at + 1..])
            && says_only(comment, &name)
        {
            let message = format!("the comment says no more than the name `{name}`: drop it");
            findings.push(Finding::error(path, at + 1, message));
        }
    }
    findings
}

fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// The attribute that begins here, however many lines it has.
fn attribute(lines: &[&str]) -> String {
    let length = lines.iter().position(|line| line.trim_end().ends_with(']')).unwrap_or(0) + 1;
    lines[..length.min(lines.len())].concat()
}

/// The name that is declared here, after attributes. None if that is described to users, or no
/// declaration.
fn name_below(mut lines: &[&str]) -> Option<String> {
    while lines.first()?.trim_start().starts_with("#[") {
        let attribute = attribute(lines);
        if has_any(&attribute, DESCRIBED) || has_any(&attribute, DESCRIBING) {
            return None;
        }
        let length = lines.iter().position(|line| line.trim_end().ends_with(']'))? + 1;
        lines = &lines[length..];
    }
    let mut rest = lines.first()?.trim_start();
    if let Some(after) = rest.strip_prefix("pub") {
        rest = match after.strip_prefix('(') {
            Some(inside) => inside.split_once(") ")?.1,
            None => after.strip_prefix(' ')?,
        };
    }
    let mut is_item = false;
    while let Some((_, after)) = rest.split_once(' ').filter(|(it, _)| BEFORE_NAMES.contains(it)) {
        (is_item, rest) = (true, after);
    }
    let rest = rest.strip_prefix("r#").unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let is_field =
        name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_') && after.starts_with(": ");
    let is_variant = name.starts_with(|c: char| c.is_ascii_uppercase())
        && (after.is_empty()
            || after.starts_with([',', '(', '{'])
            || after.starts_with(" {")
            || after.starts_with(" ="));
    ((is_item || is_field || is_variant) && !name.is_empty()).then(|| name.to_owned())
}

/// Whether every word of a comment that says something is one of the name.
fn says_only(comment: &str, name: &str) -> bool {
    let known: Vec<String> = parts(name);
    let words = comment.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    let mut saying = words.iter().filter(|word| !FILLERS.contains(&word.as_str())).peekable();
    saying.peek().is_some() && saying.all(|word| known.contains(&stem(word)))
}

/// The words that a name is made of.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| chars[before]);
        let begins = c.is_ascii_uppercase()
            && (before.is_some_and(|it| !it.is_ascii_uppercase())
                || chars.get(at + 1).is_some_and(|it| it.is_ascii_lowercase()));
        if *c == '_' || begins {
            parts.push(String::new());
        }
        if *c != '_'
            && let Some(last) = parts.last_mut()
        {
            last.push(c.to_ascii_lowercase());
        }
    }
    parts.iter().filter(|part| !part.is_empty()).map(|part| stem(part)).collect()
}

/// A word in the singular, as far as that shows.
fn stem(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 1 => format!("{stem}y"),
        _ if word.len() > 2 && !word.ends_with("ss") => {
            word.strip_suffix('s').unwrap_or(word).to_owned()
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Option<usize>> {
        check("a.rs", text).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_comment_that_repeats_the_name_is_found() {
        for text in [
            "/// Its name.\npub name: String,\n",
            "    /// The file that it is in.\n    file: PathBuf,\n",
            "/// Unknown.\nUnknown,\n",
            "/// Image entries.\npub(crate) struct ImageEntry {\n",
            "/// Closes a terminal.\n#[must_use]\npub async fn close_terminal(&self) {\n",
            "/// The URL parts.\nfn parts_of_url() {}\n",
        ] {
            assert_eq!(lines(text), [Some(1)], "{text}");
        }
        let message = "the comment says no more than the name `name`: drop it";
        assert_eq!(
            check("a.rs", "/// Its name.\nname: String,\n"),
            [Finding::error("a.rs", 1, message)]
        );
    }

    #[test]
    fn comments_that_say_more_stay() {
        for text in [
            "/// Its name, as users gave it.\nname: String,\n",
            "/// Its name.\n///\n/// More of it.\nname: String,\n",
            "/// What is more,\n/// the name.\nname: String,\n",
            "/// What it is.\nname: String,\n",
            "/// The name.\n\nlet name = 1;\n",
        ] {
            assert_eq!(lines(text), [], "{text}");
        }
    }

    #[test]
    fn descriptions_for_users_stay() {
        let described = "#[derive(Debug, JsonSchema)]\npub struct A {\n    /// Its name.\n    name: String,\n}\n";
        assert_eq!(lines(described), []);
        let after = format!("{described}struct B {{\n    /// Its name.\n    name: String,\n}}\n");
        assert_eq!(lines(&after), [Some(7)]);
        let wire = "crates/dialects/roost/src/wire/tab.rs";
        assert_eq!(check(wire, "/// Its name.\nname: String,\n"), []);
        assert_eq!(lines("/// Its name.\n#[arg(long)]\nname: String,\n"), []);
        assert_eq!(lines("/// The args.\n#[derive(Args)]\nstruct Args {\n"), []);
    }
}
