//! The built-in review: reads its flags, collects the change, and asks for an opinion on it.
//!
//! The change comes along as context, so that the reviewer needs no tool that could change anything.

use std::path::Path;

use rookery_host::Script;

use super::expand::ExpandContext;
use super::include::{self, IncludeKind};
use super::template::block_id;
use super::{Block, CommandError};

/// What it is for.
pub(super) const DESCRIPTION: &str = "Review a change without changing anything";
/// What its arguments look like.
pub(super) const HINT: &str = "[--base B] [--commit S] [--uncommitted] [instructions]";
/// What a reviewer may use: nothing that writes or runs programs.
pub(super) const TOOLS: &[&str] = &[
    "read_file",
    "list_files",
    "grep",
    "glob",
    "view_image",
    "read_artifact",
    "grep_artifact",
    "tail_artifact",
];

/// Which change is reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// What is not committed yet.
    Uncommitted,
    /// What this branch has that the other has not.
    Base(String),
    /// One commit.
    Commit(String),
}

/// The arguments of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) change: Change,
    pub(super) instructions: String,
}

impl Request {
    /// Reads flags up to the first word that is none; the rest are instructions.
    pub(super) fn parse(arguments: &str) -> Result<Self, String> {
        let mut change = None;
        let mut rest = arguments.trim_start();
        while rest.starts_with("--") {
            let (word, after) = next_word(rest);
            rest = after;
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (word, None),
            };
            let chosen = match (flag, value) {
                ("--", None) => break,
                ("--uncommitted", None) => Change::Uncommitted,
                ("--base", value) => Change::Base(revision("--base", value, &mut rest)?),
                ("--commit", value) => Change::Commit(revision("--commit", value, &mut rest)?),
                _ => return Err(format!("unknown flag {flag}")),
            };
            if change.replace(chosen).is_some() {
                return Err("only one of --base, --commit and --uncommitted can be given".into());
            }
        }
        let change = change.unwrap_or(Change::Uncommitted);
        Ok(Self { change, instructions: rest.trim().to_owned() })
    }

    fn message(&self, name: &str, collected: &Result<(), String>) -> String {
        let what = match &self.change {
            Change::Uncommitted => "the changes of this workspace that are not committed".into(),
            Change::Base(base) => format!("what the present branch changes against `{base}`"),
            Change::Commit(commit) => format!("commit `{commit}`"),
        };
        let place = match collected {
            Ok(()) => format!("The change is [context:{}].", id(name)),
            Err(reason) => format!(
                "The change could not be collected ({reason}): state this, and review the files instead."
            ),
        };
        let instructions = match self.instructions.as_str() {
            "" => String::new(),
            instructions => format!("\n\nInstructions: {instructions}"),
        };
        format!(
            "Review {what}. {place}\n\nThis is a review: read, and change nothing. Read the code \
             around a change before you judge it, and report only what you can show: wrong \
             behavior, lost data, races, security holes, broken contracts, missing tests for \
             risky paths. Leave matters of taste out. For each finding give the file and line, \
             how it fails with a concrete example, how severe it is, and the smallest fix; put \
             the most severe first. If nothing is wrong, say so, and name what you could not \
             check. End with one sentence on whether this can go in.{instructions}"
        )
    }

    /// The program that prints the change, without anything a repository's settings could start.
    fn argv(&self) -> Vec<String> {
        let (verb, revision) = match &self.change {
            Change::Uncommitted => ("diff", "HEAD".to_owned()),
            Change::Base(base) => ("diff", format!("{base}...HEAD")),
            Change::Commit(commit) => ("show", commit.clone()),
        };
        let fixed = ["git", verb, "--no-color", "--no-ext-diff", "--no-textconv"];
        fixed.iter().map(|&word| word.to_owned()).chain([revision, "--".to_owned()]).collect()
    }
}

fn next_word(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// The value of a flag: behind its equals sign, or the next word.
fn revision(flag: &str, value: Option<&str>, rest: &mut &str) -> Result<String, String> {
    let value = value.unwrap_or_else(|| {
        let (word, after) = next_word(rest);
        *rest = after;
        word
    });
    // It becomes an argument of git, which must not take it for an option, and a word of the prompt.
    let is_plain = |c: char| c.is_alphanumeric() || "._/-~^@{}+#".contains(c);
    if value.is_empty() {
        return Err(format!("{flag} needs a value"));
    }
    if value.starts_with('-') || value.len() > 256 || !value.chars().all(is_plain) {
        return Err(format!("the value of {flag} is not a revision"));
    }
    Ok(value.to_owned())
}

fn id(name: &str) -> String {
    block_id(name, IncludeKind::Shell, "change")
}

/// The message and the change it speaks of.
pub(super) async fn expand(
    name: &str,
    arguments: &str,
    around: &ExpandContext<'_>,
) -> Result<(String, Vec<Block>), CommandError> {
    let request = Request::parse(arguments)
        .map_err(|reason| CommandError::Arguments { name: name.to_owned(), reason })?;
    let (blocks, collected) = match collect(name, &request, around).await {
        Ok(block) => (vec![block], Ok(())),
        Err(reason) => (Vec::new(), Err(reason)),
    };
    Ok((request.message(name, &collected), blocks))
}

async fn collect(
    name: &str,
    request: &Request,
    around: &ExpandContext<'_>,
) -> Result<Block, String> {
    let argv = request.argv();
    // Every word is plain except for braces, which a shell could take for its own.
    let line: Vec<_> = argv.iter().map(|word| quote(word)).collect();
    around.gate.check(&line.join(" "), around.workspace)?;
    let mut script = Script::new(&argv);
    script.env = [
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_PAGER", "cat"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
        ("GIT_CONFIG_VALUE_0", "false"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    let mut text = include::run(script, around.settings.include_timeout, around).await?;
    let code = text.metadata.get("exit_code").and_then(serde_json::Value::as_i64).unwrap_or(0);
    if code != 0 {
        // What git says then is about paths to compare, not about what is missing.
        let is_repository = |dir: &Path| dir.join(".git").exists();
        if !around.workspace.ancestors().any(is_repository) {
            return Err("this is not a git repository".to_owned());
        }
        let line = text.metadata.get("error").and_then(serde_json::Value::as_str);
        return Err(line.unwrap_or("git failed").to_owned());
    }
    text.metadata.insert("command".into(), line.join(" ").into());
    Ok(text.into_block(id(name)))
}

fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{word}'") }
}
