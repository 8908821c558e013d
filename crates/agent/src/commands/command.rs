//! One command: what its file says, checked. Pure.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::front_matter::{self, Includes};
use super::include::{Include, IncludeKind, IncludeTarget};
use super::template::Template;
use super::{CommandInfo, Source};
use crate::front_matter::split;

/// The longest file that is read as a command.
pub(super) const FILE_LIMIT: u64 = 256 << 10;
/// The longest name of a command.
const NAME_LIMIT: usize = 128;
/// The longest id of an include, which may be a whole command line.
const ID_LIMIT: usize = 2048;
/// How many files a command may include.
const FILES_LIMIT: usize = 32;
/// How many programs, and how many pages, a command may include.
const OTHERS_LIMIT: usize = 8;
/// The longest a program may take for an include, whatever the file says.
const LONGEST_SHELL: Duration = Duration::from_secs(60);

/// A command that can be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What clients see of it.
    pub info: CommandInfo,
    /// The only tools it may use; empty leaves all of them.
    pub allowed_tools: Vec<String>,
    pub(super) body: Body,
    pub(super) includes: Vec<Include>,
}

/// Where a command's message comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Template(Template),
    /// The review, whose arguments are flags.
    Review,
}

impl Command {
    /// Understands a command file, or says in words what is wrong with it.
    ///
    /// `stem` is the file's name without its ending, which names the command unless the file does.
    /// Never panics, whatever the text is: this is where untrusted files come in.
    pub fn parse(text: &str, stem: &str, source: Source) -> Result<Self, String> {
        let (head, body) = split::<front_matter::FrontMatter>(text)?;
        let body = body.trim_start_matches('\n').trim_end();
        if body.is_empty() {
            return Err("its body is empty".into());
        }
        let name = head.name.unwrap_or_else(|| stem.to_owned());
        if !is_name(&name) {
            return Err(format!("\"{}\" is not a command name", shown(&name)));
        }
        let includes = includes(head.include.unwrap_or_default())?;
        let mut template = Template::parse(body)?;
        template.resolve(|kind, id| find(&includes, kind, id))?;
        Ok(Self {
            info: CommandInfo {
                name,
                description: filled(head.description),
                argument_hint: filled(head.argument_hint.map(front_matter::Hint::into_text)),
                source,
                model: filled(head.model),
                agent: filled(head.agent),
                role: None,
                file: None,
                has_shell_includes: includes.iter().any(|one| one.kind() == IncludeKind::Shell),
                has_url_includes: includes.iter().any(|one| one.kind() == IncludeKind::Urls),
            },
            allowed_tools: allowed_tools(head.allowed_tools)?,
            body: Body::Template(template),
            includes,
        })
    }

    /// Understands a command file as others write it: a head of which a few keys count, and a body that is
    /// said as it stands, with the arguments behind it.
    ///
    /// Never panics, whatever the text is.
    pub fn parse_plain(text: &str, stem: &str, source: Source) -> Result<Self, String> {
        let (head, body) = split::<front_matter::PlainFrontMatter>(text)?;
        let body = body.trim();
        if body.is_empty() {
            return Err("its body is empty".into());
        }
        if !is_name(stem) {
            return Err(format!("\"{}\" is not a command name", shown(stem)));
        }
        Ok(Self {
            info: CommandInfo {
                name: stem.to_owned(),
                description: filled(head.description),
                argument_hint: filled(head.argument_hint.map(front_matter::Hint::into_text)),
                source,
                model: None,
                agent: None,
                role: filled(head.mode),
                file: None,
                has_shell_includes: false,
                has_url_includes: false,
            },
            allowed_tools: Vec::new(),
            body: Body::Template(Template::plain(body)),
            includes: Vec::new(),
        })
    }
}

/// A command of another agent's file, already taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignCommand {
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What its arguments look like.
    pub argument_hint: Option<String>,
    /// What is said.
    pub body: String,
}

impl Command {
    /// A command that another agent's file defines. It includes nothing, restricts nothing and names no
    /// model: what its head says of these is meant for that agent.
    ///
    /// # Errors
    /// If its name or its body is none.
    pub fn foreign(command: ForeignCommand, source: Source, file: PathBuf) -> Result<Self, String> {
        let body = command.body.trim();
        if body.is_empty() {
            return Err("its body is empty".into());
        }
        if !is_name(&command.name) {
            return Err(format!("\"{}\" is not a command name", shown(&command.name)));
        }
        Ok(Self {
            info: CommandInfo {
                name: command.name,
                description: filled(command.description),
                argument_hint: filled(command.argument_hint),
                source,
                model: None,
                agent: None,
                role: None,
                file: Some(file),
                has_shell_includes: false,
                has_url_includes: false,
            },
            allowed_tools: Vec::new(),
            body: Body::Template(Template::foreign(body)),
            includes: Vec::new(),
        })
    }
}

/// A list of tools that is there must name some: none at all would be taken for all of them.
fn allowed_tools(listed: Option<Vec<String>>) -> Result<Vec<String>, String> {
    let Some(listed) = listed else { return Ok(Vec::new()) };
    let tools: Vec<String> = listed.iter().map(|tool| tool.trim().to_owned()).collect();
    if tools.is_empty() || tools.iter().any(String::is_empty) {
        return Err("allowed-tools must name tools".into());
    }
    Ok(tools)
}

fn includes(listed: Includes) -> Result<Vec<Include>, String> {
    let Includes { files, shell, urls } = listed;
    if files.len() > FILES_LIMIT || shell.len() > OTHERS_LIMIT || urls.len() > OTHERS_LIMIT {
        return Err(format!(
            "it includes more than {FILES_LIMIT} files, {OTHERS_LIMIT} programs or {OTHERS_LIMIT} urls"
        ));
    }
    let mut all = Vec::new();
    for file in files {
        all.push(include(
            file.id,
            &file.path,
            IncludeTarget::File { path: file.path.clone().into(), is_optional: file.optional },
        )?);
    }
    for shell in shell {
        if shell.timeout_seconds == Some(0) {
            return Err("timeout_seconds of a shell include must be at least 1".into());
        }
        let timeout = shell.timeout_seconds.map(|s| Duration::from_secs(s).min(LONGEST_SHELL));
        let command = shell.command.clone();
        all.push(include(shell.id, &shell.command, IncludeTarget::Shell { command, timeout })?);
    }
    for page in urls {
        let url = address(&page.url)?;
        all.push(include(
            page.id,
            &page.url,
            IncludeTarget::Url { url, is_optional: page.optional },
        )?);
    }
    let mut seen = HashSet::new();
    match all.iter().find(|one| !seen.insert((one.kind(), &one.id))) {
        Some(twice) => {
            Err(format!("include.{}.{} is there twice", twice.kind().as_str(), twice.id))
        }
        None => Ok(all),
    }
}

fn include(id: Option<String>, text: &str, what: IncludeTarget) -> Result<Include, String> {
    if text.trim().is_empty() || text.contains('\0') {
        return Err("an include is empty or has a zero byte".into());
    }
    let id = id.unwrap_or_else(|| default_id(text));
    let is_usable = !id.is_empty()
        && id.len() <= ID_LIMIT
        && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !is_usable {
        return Err(format!("\"{}\" is not an include id; set an id explicitly", shown(&id)));
    }
    Ok(Include { id, what })
}

fn address(text: &str) -> Result<Url, String> {
    let url =
        Url::parse(text).map_err(|error| format!("\"{}\" is not a url: {error}", shown(text)))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(format!("\"{}\" is not an http or https url", shown(text)));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a url include must not carry a user or a password".into());
    }
    Ok(url)
}

/// The id of an include that has none of its own.
pub(super) fn default_id(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// The include that a reference means. `a_b` means `a___b` as well, if nothing is called `a_b`.
fn find(includes: &[Include], kind: IncludeKind, id: &str) -> Option<String> {
    let mut of_kind = includes.iter().filter(|one| one.kind() == kind);
    let exact = of_kind.clone().find(|one| one.id == id);
    exact.or_else(|| of_kind.find(|one| squeeze(&one.id) == squeeze(id))).map(|one| one.id.clone())
}

fn squeeze(id: &str) -> Vec<&str> {
    id.split('_').filter(|word| !word.is_empty()).collect()
}

pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME_LIMIT
        && name.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

fn filled(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn shown(text: &str) -> String {
    text.chars().take(60).flat_map(char::escape_debug).collect()
}
