//! `cargo xtask tidy`: the rules of the repository that neither rustc, clippy nor rustfmt knows.
//!
//! Each rule is a module with a pure check; this one reads the tree, runs them and reports.

mod access;
mod agents;
mod doc_links;
mod echoes;
mod edges;
mod hosts;
mod language;
mod map;
mod markdown;
mod pointers;
mod reexports;
mod rooms;
mod rows;
mod rust;
mod wire_words;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::process::Run;

/// The allowed crate edges, relative to the repository.
pub(crate) const EDGES_FILE: &str = "xtask/edges.toml";

const RULES_FILE: &str = "xtask/tidy.toml";

/// The numbers and words of `xtask/tidy.toml`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Rules {
    size: rust::Size,
    module_docs: rust::ModuleDocs,
    banned: Vec<rust::Banned>,
    hosts: hosts::Hosts,
    agents: agents::Rule,
    access: Vec<access::Access>,
    language: language::Language,
}

/// Whether a finding fails the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    level: Level,
    path: String,
    /// Counted from one; none if the finding is about the file as a whole.
    line: Option<usize>,
    message: String,
}

impl Finding {
    fn error(path: &str, line: impl Into<Option<usize>>, message: impl Into<String>) -> Self {
        let (level, line) = (Level::Error, line.into());
        Self { level, path: path.to_owned(), line, message: message.into() }
    }

    fn warning(path: &str, line: impl Into<Option<usize>>, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::error(path, line, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        match self.line {
            Some(line) => write!(f, "{level}: {}:{line}: {}", self.path, self.message),
            None => write!(f, "{level}: {}: {}", self.path, self.message),
        }
    }
}

/// Checks the whole repository and prints what it finds. With `strict`, a row of the edges file
/// whose crate does not exist is an error instead of a warning.
pub(crate) fn run(root: &Path, strict: bool) -> anyhow::Result<()> {
    let files = list_files(root)?;
    let edges: edges::Edges = read_toml(root, EDGES_FILE)?;
    let packages = edges::packages(root)?;
    let mut findings = edges::check(&edges, &packages, strict);
    let all = sources(root, &files, "")?;
    findings.extend(edges::check_named(&packages, &all));
    findings.extend(doc_links::check(&all));
    findings.extend(check_map(root, &packages, &files)?);
    findings.extend(check_files(root, &read_toml(root, RULES_FILE)?, &files)?);
    findings.extend(check_rooms(root, &edges, &files)?);
    findings.iter().for_each(|finding| println!("{finding}"));
    let errors = findings.iter().filter(|finding| finding.level == Level::Error).count();
    let warnings = findings.len() - errors;
    println!("tidy: {} files, {errors} errors, {warnings} warnings", files.len());
    if errors > 0 {
        bail!("the repository is not tidy");
    }
    Ok(())
}

fn check_files(
    root: &Path,
    rules: &Rules,
    files: &BTreeSet<String>,
) -> anyhow::Result<Vec<Finding>> {
    let mut findings = access::check_rooms(&rules.access, RULES_FILE, files.iter());
    let agents = read_toml::<agents::List>(root, &rules.agents.list)?.literals();
    for path in files {
        let bytes = fs::read(root.join(path)).with_context(|| format!("cannot read {path}"))?;
        // Pictures and recorded byte streams have no lines to check.
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        findings.extend(check_text(rules, files, path, text));
        if path.ends_with(".rs") {
            findings.extend(agents::check(&rules.agents, &agents, path, text));
        }
    }
    Ok(findings)
}

fn check_map(
    root: &Path,
    packages: &[edges::Package],
    files: &BTreeSet<String>,
) -> anyhow::Result<Vec<Finding>> {
    let read = |path: &str| {
        fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
    };
    let mut findings = map::check_drawing(&read(map::DRAWING)?, packages);
    findings.extend(map::check_list(&read(map::LIST)?, packages));
    findings.extend(map::check_bounds(&read(map::BOUNDS)?, files));
    findings.extend(map::check_rooms(&read(map::DRAWING)?, &read(map::ROOMS)?));
    for page in pointers::PAGES {
        findings.extend(pointers::check(page, &read(page)?, |path| below(root, files, path)));
    }
    Ok(findings)
}

/// The sources at a path or below it, and their texts.
fn below(root: &Path, files: &BTreeSet<String>, path: &str) -> Vec<(String, String)> {
    let folder = format!("{path}/");
    let there = files.iter().filter(|file| *file == path || file.starts_with(&folder));
    let sources = there.filter(|file| file.ends_with(".rs") || file.ends_with(".js"));
    sources
        .filter_map(|file| Some((file.clone(), fs::read_to_string(root.join(file)).ok()?)))
        .collect()
}

fn check_rooms(
    root: &Path,
    edges: &edges::Edges,
    files: &BTreeSet<String>,
) -> anyhow::Result<Vec<Finding>> {
    let sources = sources(root, files, "core/src/")?;
    let sources = sources.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    Ok(rooms::check(&edges.rooms, &edges.slices, sources))
}

/// The Rust sources whose path has this part, and their texts.
fn sources(
    root: &Path,
    files: &BTreeSet<String>,
    part: &str,
) -> anyhow::Result<Vec<(String, String)>> {
    let wanted = files.iter().filter(|path| path.ends_with(".rs") && path.contains(part));
    let read = |path: &String| {
        let text = fs::read_to_string(root.join(path));
        text.with_context(|| format!("cannot read {path}")).map(|text| (path.clone(), text))
    };
    wanted.map(read).collect()
}

fn check_text(rules: &Rules, files: &BTreeSet<String>, path: &str, text: &str) -> Vec<Finding> {
    let mut findings = hosts::check(&rules.hosts, path, text);
    findings.extend(language::check(&rules.language, path, text));
    if path.ends_with(".rs") {
        findings.extend(echoes::check(path, text));
        findings.extend(rust::check_size(&rules.size, path, text));
        findings.extend(rust::check_module_docs(&rules.module_docs, path, text));
        findings.extend(rows::check(path, text));
        findings.extend(reexports::check(path, text));
        findings.extend(wire_words::check(path, text));
        findings.extend(access::check(&rules.access, path, text));
        findings.extend(rust::check_banned(&rules.banned, path, text));
    }
    if path.ends_with(".md") {
        findings.extend(markdown::check_whitespace(path, text));
        findings.extend(markdown::check_links(path, text, files));
    }
    findings
}

/// Every file git knows or would know: tracked, or new and not ignored.
fn list_files(root: &Path) -> anyhow::Result<BTreeSet<String>> {
    let listed = Run::new("git", root)
        .args(["ls-files", "-z", "-co", "--exclude-standard"])
        .stdout()
        .context("tidy needs a git checkout")?;
    let paths = listed.split_terminator('\0');
    // A file deleted but not yet staged is still listed; a link is not followed out of the tree.
    let is_file =
        |path: &&str| fs::symlink_metadata(root.join(path)).is_ok_and(|meta| meta.is_file());
    Ok(paths.filter(is_file).map(str::to_owned).collect())
}

fn read_toml<T: DeserializeOwned>(root: &Path, path: &str) -> anyhow::Result<T> {
    let text =
        fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))?;
    toml::from_str(&text).with_context(|| format!("{path} is not as expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> std::path::PathBuf {
        crate::repository_root().unwrap()
    }

    #[test]
    fn the_data_files_are_readable() {
        let rules: Rules = read_toml(&root(), RULES_FILE).unwrap();
        assert!(rules.size.warn < rules.size.fail);
        let edges: edges::Edges = read_toml(&root(), EDGES_FILE).unwrap();
        assert!(edges.crates.contains_key("xtask"));
    }

    #[test]
    fn findings_read_like_compiler_messages() {
        let finding = Finding::error("a/b.rs", 3, "wrong");
        assert_eq!(finding.to_string(), "error: a/b.rs:3: wrong");
        let finding = Finding::warning("a/b.rs", None, "long");
        assert_eq!(finding.to_string(), "warning: a/b.rs: long");
    }

    #[test]
    fn each_kind_of_file_meets_its_rules() {
        let rules: Rules = read_toml(&root(), RULES_FILE).unwrap();
        let check = |path: &str, text: &str| check_text(&rules, &BTreeSet::new(), path, text).len();
        assert_eq!(check("crates/a/src/lib.rs", "fn a() {}\n"), 1);
        assert_eq!(check("docs/a.md", "a \n[b](c.md)\n"), 2);
        assert_eq!(check("a.txt", "a \n"), 0);
        let vague = ["some", "body"].concat();
        assert_eq!(check("a.txt", &vague), 1);
    }
}
