//! Unified diffs, with or without what git adds to them.

use std::iter::Peekable;
use std::str::Split;

use super::{Action, Hunk};

/// Lines still to be read.
type Ahead<'a> = Peekable<Split<'a, char>>;

/// What the lines before a file's hunks said.
#[derive(Default)]
struct Header {
    old: Option<String>,
    new: Option<String>,
    rename_from: Option<String>,
    rename_to: Option<String>,
    is_git: bool,
    git_path: Option<String>,
    is_new: bool,
    is_deleted: bool,
}

/// Reads such a patch.
pub(super) fn parse(patch: &str) -> Result<Vec<Action>, String> {
    let mut ahead = patch.split('\n').peekable();
    let mut actions = Vec::new();
    while let Some(header) = header(&mut ahead)? {
        let name = header.new.clone().or(header.old.clone()).unwrap_or_default();
        let mut hunks = Vec::new();
        while let Some(line) = ahead.next_if(|line| line.starts_with("@@")) {
            let number = hunks.len() + 1;
            hunks.push(
                hunk(line, &mut ahead).map_err(|why| format!("{name}: hunk {number}: {why}"))?,
            );
        }
        actions.push(action(header, hunks)?);
    }
    Ok(actions)
}

/// Reads up to the hunks of the next file; none if there is no further file.
fn header(ahead: &mut Ahead<'_>) -> Result<Option<Header>, String> {
    let mut header = Header::default();
    let mut any = false;
    while let Some(line) = ahead.peek().copied() {
        if line.starts_with("@@") {
            break;
        }
        // The next file begins, and this one had no hunks.
        if any && line.starts_with("diff --git ") {
            break;
        }
        ahead.next();
        if let Some(names) = line.strip_prefix("diff --git ") {
            any = true;
            header.is_git = true;
            header.git_path = git_path(names);
        } else if let Some(name) = line.strip_prefix("--- ") {
            any = true;
            header.old = Some(file_name(name));
            let new = ahead.next().and_then(|line| line.strip_prefix("+++ "));
            let new =
                new.ok_or_else(|| format!("{name}: a line with +++ must follow that with ---"))?;
            header.new = Some(file_name(new));
            if !ahead.peek().is_some_and(|line| line.starts_with("@@")) {
                return Err(format!("{}: no hunk follows", file_name(new)));
            }
            break;
        } else if let Some(name) = line.strip_prefix("rename from ") {
            header.rename_from = Some(name.trim_end().to_owned());
        } else if let Some(name) = line.strip_prefix("rename to ") {
            header.rename_to = Some(name.trim_end().to_owned());
        } else if line.starts_with("new file mode ") {
            header.is_new = true;
        } else if line.starts_with("deleted file mode ") {
            header.is_deleted = true;
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(format!("binary patches are not supported: {line}"));
        } else if line.starts_with("*** ") {
            return Err(format!("expected a unified diff or *** Begin Patch, not {line:?}"));
        }
    }
    match (any, ahead.peek()) {
        (true, _) => Ok(Some(header)),
        (false, None) => Ok(None),
        (false, Some(line)) => Err(format!("a hunk without a file: {line:?}")),
    }
}

/// The path of `a/path b/path`, if both are the same.
fn git_path(names: &str) -> Option<String> {
    let (old, new) = names.split_at_checked(names.len() / 2)?;
    let (old, new) = (old.strip_prefix("a/")?, new.strip_prefix(" b/")?);
    (old == new).then(|| old.to_owned())
}

/// A name without the time that some programs put behind it.
fn file_name(text: &str) -> String {
    let name = text.split('\t').next().unwrap_or_default().trim_end();
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name).to_owned()
}

fn action(header: Header, hunks: Vec<Hunk>) -> Result<Action, String> {
    if let Some((path, to)) = header.rename_from.zip(header.rename_to) {
        return Ok(Action::Update { path, to: Some(to), hunks });
    }
    let (Some(old), Some(new)) = (header.old, header.new) else {
        return match (header.git_path, header.is_new, header.is_deleted) {
            (Some(path), true, _) => Ok(Action::Add { path, content: String::new() }),
            (Some(path), _, true) => Ok(Action::Delete { path, hunks }),
            (path, _, _) => Err(format!("{}: the patch changes nothing", path.unwrap_or_default())),
        };
    };
    match (old.as_str(), new.as_str()) {
        ("/dev/null", "/dev/null") => Err("a file from nowhere to nowhere".into()),
        ("/dev/null", name) => {
            let path = unprefixed(name, "b/");
            let content = content(&path, &hunks)?;
            Ok(Action::Add { path, content })
        }
        (name, "/dev/null") => Ok(Action::Delete { path: unprefixed(name, "a/"), hunks }),
        (old, new) => {
            let both = old.strip_prefix("a/").zip(new.strip_prefix("b/"));
            let (old, new) = both.unwrap_or((old, new));
            let to = (old != new).then(|| new.to_owned());
            Ok(Action::Update { path: old.to_owned(), to, hunks })
        }
    }
}

fn unprefixed(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_owned()
}

/// The content of a file that did not exist before.
fn content(path: &str, hunks: &[Hunk]) -> Result<String, String> {
    if hunks.iter().any(|hunk| !hunk.old.is_empty()) {
        return Err(format!("{path}: a new file cannot have old lines"));
    }
    let is_unended = hunks.last().is_some_and(|hunk| hunk.new_unended);
    let lines: Vec<&str> = hunks.iter().flat_map(|hunk| &hunk.new).map(String::as_str).collect();
    let mut content = lines.join("\n");
    if !lines.is_empty() && !is_unended {
        content.push('\n');
    }
    Ok(content)
}

/// Which lines a hunk says it is about: old start and count, new count.
fn ranges(line: &str) -> Option<(usize, usize, usize)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    let ((start, old), (_, new)): ((usize, usize), (usize, usize)) = (range(old)?, range(new)?);
    Some((start, old, new))
}

fn hunk(line: &str, ahead: &mut Ahead<'_>) -> Result<Hunk, String> {
    let mut hunk = Hunk::default();
    let counted = match ranges(line) {
        Some((start, old, new)) => {
            // A side without lines is named by the line before it.
            hunk.at = Some(if old == 0 { start } else { start.saturating_sub(1) });
            Some((old, new))
        }
        None if line.trim_end_matches('@').trim().is_empty() => None,
        None => return Err(format!("its header cannot be read: {line:?}")),
    };
    let mut last = ' ';
    while let Some(next) = ahead.peek().copied() {
        let sign = next.chars().next();
        if let Some(sign) = sign.filter(|sign| *sign == '\\') {
            let _ = sign;
            hunk.old_unended |= last != '+';
            hunk.new_unended |= last != '-';
            ahead.next();
            continue;
        }
        let is_full = match counted {
            Some((old, new)) => hunk.old.len() >= old && hunk.new.len() >= new,
            None => ends_uncounted(next),
        };
        if is_full {
            break;
        }
        let text = next.get(1..).unwrap_or_default().to_owned();
        match sign {
            Some('-') => hunk.old.push(text),
            Some('+') => hunk.new.push(text),
            // An empty line is one of context that lost its space on the way.
            Some(' ') | None => {
                hunk.old.push(text.clone());
                hunk.new.push(text);
            }
            Some(_) => break,
        }
        last = sign.unwrap_or(' ');
        ahead.next();
    }
    match counted {
        Some(counts) if counts != (hunk.old.len(), hunk.new.len()) => Err(format!(
            "its header names {} old and {} new lines, but there are {} and {}",
            counts.0,
            counts.1,
            hunk.old.len(),
            hunk.new.len()
        )),
        Some(_) => match ahead.peek() {
            Some(line) if line.starts_with([' ', '+']) || is_removal(line) => {
                Err("it has more lines than its header names".into())
            }
            _ => Ok(hunk),
        },
        None if hunk.old.is_empty() && hunk.new.is_empty() => Err("it has no lines".into()),
        None => Ok(hunk),
    }
}

/// Whether a line belongs no more to a hunk that does not say how long it is.
fn ends_uncounted(line: &str) -> bool {
    line.is_empty() || line.starts_with("--- ") || line.starts_with("diff --git ")
}

/// Whether a line removes another one, and does not begin the next file or a mail's signature.
fn is_removal(line: &str) -> bool {
    line.starts_with('-') && !line.starts_with("--- ") && line.trim_end() != "--"
}
