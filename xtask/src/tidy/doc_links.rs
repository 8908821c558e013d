//! Links of doc comments: what they name is declared, and in scope where they stand.
//!
//! Works on words, not on syntax, so it sees less than rustdoc and takes a moment instead of minutes: a link to
//! a member of one of our types fails unless that type has it, a path of ours fails unless its last name is
//! declared anywhere, and any other link fails unless the file names its beginning in code.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;

/// What declares the name that follows.
pub(super) const DECLARING: &[&str] = &[
    "fn",
    "const",
    "static",
    "type",
    "struct",
    "enum",
    "trait",
    "union",
    "mod",
    "use",
    "macro_rules",
];
/// Those of them whose block holds nothing but members.
const TYPES: &[&str] = &["struct", "enum", "trait", "union"];
/// With what a path of ours begins, besides the name of a type and of a crate.
const OURS: &[&str] = &["crate", "super", "self"];
const CRATES: &str = "rookery";
/// What is in scope everywhere.
const PRELUDE: &[&str] =
    &["Self", "String", "str", "Option", "Some", "None", "Result", "Ok", "Err"];

/// What all sources declare.
#[derive(Default)]
struct Names<'a> {
    all: BTreeSet<&'a str>,
    /// For every type of ours what it has. A type of others that only gets a trait of ours is not among them.
    members: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

/// Finds links that lead nowhere.
pub(super) fn check(sources: &[(String, String)]) -> Vec<Finding> {
    let mut names = Names::default();
    for (_, text) in sources {
        names.add(text);
    }
    let mut findings = Vec::new();
    for (path, text) in sources {
        let in_scope = text.lines().filter(|line| !is_comment(line)).flat_map(words);
        let defined = text.lines().filter(|line| is_doc(line)).filter_map(defined);
        let in_scope = in_scope.chain(defined).chain(PRELUDE.iter().copied());
        let in_scope: BTreeSet<_> = in_scope.collect();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| is_doc(line)) {
            for link in links(line) {
                if let Some(why) = names.why_broken(&in_scope, link) {
                    let message = format!("the link to `{link}` leads nowhere: {why}");
                    findings.push(Finding::error(path, at + 1, message));
                }
            }
        }
    }
    findings
}

impl<'a> Names<'a> {
    fn add(&mut self, text: &'a str) {
        // The type whose block this is, and whether all words there are its members.
        let mut block: Option<(&str, bool)> = None;
        for line in text.lines().filter(|line| !is_comment(line)) {
            let mut before = "";
            let opened = opened(line);
            block = opened.or(block);
            if let Some((owner, _)) = opened {
                self.members.entry(owner).or_default();
            }
            for word in words(line) {
                let is_declared = DECLARING.contains(&before);
                if is_declared {
                    self.all.insert(word);
                }
                if let Some((owner, is_all)) = block
                    && (is_declared || is_all)
                {
                    self.members.entry(owner).or_default().insert(word);
                }
                before = word;
            }
            let is_over =
                line.starts_with('}') || opened.is_some() && line.trim_end().ends_with([';', '}']);
            if is_over {
                block = None;
            }
        }
    }

    fn why_broken(&self, in_scope: &BTreeSet<&str>, link: &str) -> Option<&'static str> {
        let path: Vec<&str> = link.split("::").collect();
        let (Some(first), [.., owner, last]) = (path.first(), path.as_slice()) else {
            return (!in_scope.contains(link)).then_some("no such name is in scope");
        };
        let is_type = first.starts_with(|first: char| first.is_ascii_uppercase());
        let is_path = OURS.contains(first) || first.starts_with(CRATES);
        if is_type && !in_scope.contains(first) {
            return Some("no such type is in scope");
        }
        match self.members.get(owner) {
            Some(members) if is_type || is_path => {
                (!members.contains(last)).then_some("the type has no such member")
            }
            None if is_path => (!self.all.contains(last)).then_some("no such name is declared"),
            _ if is_type || is_path => None,
            _ => (!in_scope.contains(first)).then_some("no such name is in scope"),
        }
    }
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn is_doc(line: &str) -> bool {
    ["///", "//!"].iter().any(|mark| line.trim_start().starts_with(mark))
}

/// The words of a text, with everything between them left out.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
}

/// The type whose block begins with this line, and whether all words in it are members.
fn opened(line: &str) -> Option<(&str, bool)> {
    if let Some(head) = line.strip_prefix("impl") {
        let head = head.split('{').next()?;
        let is_generic = head.starts_with('<');
        let head = if is_generic { head.split_once("> ")?.1 } else { head.strip_prefix(' ')? };
        let name = head.split('<').next()?;
        // What implements a trait of ours may be a type of others.
        return (!head.contains(" for ")).then(|| Some((words(name).last()?, false)))?;
    }
    let mut declaration =
        words(line).skip_while(|word| matches!(*word, "pub" | "crate" | "super" | "in"));
    let is_type = declaration.next().is_some_and(|kind| TYPES.contains(&kind));
    (is_type && !line.starts_with(char::is_whitespace))
        .then(|| Some((declaration.next()?, true)))?
}

/// The targets of the links to names in a line of a doc comment.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("[`").skip(1).filter_map(|rest| {
        let (name, after) = rest.split_once("`]")?;
        let named = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        let target = named.map(|(target, _)| target).or_else(|| after.strip_prefix(": "));
        let target = target.unwrap_or(name);
        let target = target.trim_end_matches("()").trim_end_matches('!');
        let is_path = target.split("::").all(|part| {
            !part.is_empty() && words(part).next().is_some_and(|word| word.len() == part.len())
        });
        is_path.then_some(target)
    })
}

/// The name that a line gives a target of its own: `look` in ``[`look`]: crate::Core::look``.
fn defined(line: &str) -> Option<&str> {
    let text = line.trim_start().get(3..)?.trim_start();
    let (name, after) = text.strip_prefix("[`")?.split_once("`]")?;
    after.starts_with(": ").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: &str = "pub struct Core {\n    inner: u64,\n}\n\nimpl Core {\n    pub fn look(&self) {}\n}\n\
                        \nimpl Clone for Core {\n    fn clone(&self) -> Core {}\n}\n";

    fn said(text: &str) -> Vec<String> {
        let sources = [("a.rs".to_owned(), CORE.to_owned()), ("b.rs".to_owned(), text.to_owned())];
        check(&sources).iter().map(Finding::to_string).collect()
    }

    fn broken(link: &str, why: &str) -> [String; 1] {
        [format!("error: b.rs:1: the link to `{link}` leads nowhere: {why}")]
    }

    #[test]
    fn a_link_to_a_member_needs_the_member() {
        let text = |link: &str| format!("/// See [`{link}`].\nfn a(core: &Core) {{}}\n");
        for link in ["Core::look", "Core::look()", "Core::inner", "Core", "crate::a::Core::look"] {
            assert_eq!(said(&text(link)), [""; 0], "{link}");
        }
        let why = "the type has no such member";
        assert_eq!(said(&text("Core::make_session")), broken("Core::make_session", why));
        assert_eq!(said(&text("crate::Core::gone")), broken("crate::Core::gone", why));
        let defined = "/// See [`look`].\n///\n/// [`look`]: crate::Core::look\nfn a() {}\n";
        assert_eq!(said(defined), [""; 0]);
        let defined = "/// [`look`]: crate::Core::gone\nfn a() {}\n";
        assert_eq!(said(defined), broken("crate::Core::gone", why));
        let named = "/// See [this](Core::gone) and [`that`](Core::gone).\nfn a(core: &Core) {}\n";
        assert_eq!(said(named), broken("Core::gone", why));
    }

    #[test]
    fn a_link_needs_its_name_in_scope() {
        assert_eq!(said("//! [`Core::look`].\n"), broken("Core::look", "no such type is in scope"));
        assert_eq!(said("/// [`gone`].\nfn a() {}\n"), broken("gone", "no such name is in scope"));
        assert_eq!(said("/// [`a`], [`str`] and [`Option`].\nfn a() {}\n"), [""; 0]);
        let why = "no such name is declared";
        assert_eq!(said("/// [`crate::gone`].\nfn a() {}\n"), broken("crate::gone", why));
        assert_eq!(said("/// [`rookery_core::Core`].\nfn a() {}\n"), [""; 0]);
        // What is no link, and what is not ours.
        let other = "/// `[x]`, [`a b`], [`Duration::MAX`].\nfn a(it: Duration) {}\n// [`gone`]\n";
        assert_eq!(said(other), [""; 0]);
    }

    #[test]
    fn a_type_of_others_may_have_more_than_our_traits_give_it() {
        let text = "/// [`Stream::connect`].\nimpl Ours for Stream {\n    fn name(&self) {}\n}\n";
        assert_eq!(said(text), [""; 0]);
    }
}
