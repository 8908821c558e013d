//! Patches between `*** Begin Patch` and `*** End Patch`.

use super::{Action, Hunk};

/// Reads such a patch.
pub(super) fn parse(patch: &str) -> Result<Vec<Action>, String> {
    let mut lines =
        patch.lines().skip_while(|line| line.trim() != "*** Begin Patch").skip(1).peekable();
    let mut actions = Vec::new();
    loop {
        let Some(line) = lines.next() else {
            return Err("the patch does not end with *** End Patch".into());
        };
        let header = line.trim_end();
        if header == "*** End Patch" {
            break;
        }
        if header.is_empty() {
            continue;
        }
        let mut body = Vec::new();
        while let Some(line) = lines.next_if(|line| !is_header(line)) {
            body.push(line);
        }
        actions.push(action(header, &body)?);
    }
    match lines.find(|line| !line.trim().is_empty()) {
        None => Ok(actions),
        Some(line) => Err(format!("the patch goes on after its end: {line:?}")),
    }
}

fn is_header(line: &str) -> bool {
    let line = line.trim_end();
    line == "*** End Patch"
        || ["*** Add File: ", "*** Update File: ", "*** Delete File: "]
            .iter()
            .any(|header| line.starts_with(header))
}

fn action(header: &str, body: &[&str]) -> Result<Action, String> {
    let named = |prefix: &str| header.strip_prefix(prefix).map(|path| path.trim().to_owned());
    if let Some(path) = named("*** Add File: ") {
        let content = added(&path, body)?;
        return Ok(Action::Add { path, content });
    }
    if let Some(path) = named("*** Delete File: ") {
        return match body.iter().find(|line| !line.trim().is_empty()) {
            None => Ok(Action::Delete { path, hunks: Vec::new() }),
            Some(line) => Err(format!("{path}: unexpected line after *** Delete File: {line:?}")),
        };
    }
    if let Some(path) = named("*** Update File: ") {
        let (to, body) = match body.split_first() {
            Some((first, rest)) if first.starts_with("*** Move to: ") => {
                (first.strip_prefix("*** Move to: ").map(|to| to.trim().to_owned()), rest)
            }
            _ => (None, body),
        };
        let hunks = hunks(&path, body)?;
        if hunks.is_empty() && to.is_none() {
            return Err(format!("{path}: *** Update File has no hunk"));
        }
        return Ok(Action::Update { path, to, hunks });
    }
    Err(format!("expected *** Add File, Update File, Delete File or End Patch, not {header:?}"))
}

fn added(path: &str, body: &[&str]) -> Result<String, String> {
    let mut content = String::new();
    for line in body {
        match line.strip_prefix('+') {
            Some(text) => content.extend([text, "\n"]),
            None if line.trim().is_empty() => {}
            None => {
                return Err(format!("{path}: a line of a new file must begin with +: {line:?}"));
            }
        }
    }
    Ok(content)
}

fn hunks(path: &str, body: &[&str]) -> Result<Vec<Hunk>, String> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut hunk = Hunk::default();
    let mut is_open = false;
    let has_lines = |hunk: &Hunk| !hunk.old.is_empty() || !hunk.new.is_empty();
    for (index, line) in body.iter().enumerate() {
        if let Some(anchor) = line.strip_prefix("@@") {
            if has_lines(&hunk) {
                hunks.push(std::mem::take(&mut hunk));
            }
            is_open = true;
            let anchor = anchor.strip_prefix(' ').unwrap_or(anchor);
            if !anchor.trim().is_empty() {
                hunk.anchors.push(anchor.to_owned());
            }
        } else if line.trim_end() == "*** End of File" {
            if !has_lines(&hunk) {
                return Err(format!("{path}: hunk {} has no lines", hunks.len() + 1));
            }
            hunk.at_end = true;
            hunks.push(std::mem::take(&mut hunk));
            is_open = false;
        } else if line.is_empty() && body[index..].iter().all(|line| line.is_empty()) {
            // Blank lines before the next header belong to no section.
            break;
        } else {
            take(&mut hunk, line).ok_or_else(|| {
                format!(
                    "{path}: hunk {}: a line must begin with a space, + or -: {line:?}",
                    hunks.len() + 1
                )
            })?;
            is_open = true;
        }
    }
    match (has_lines(&hunk), is_open) {
        (true, _) => hunks.push(hunk),
        (false, true) => return Err(format!("{path}: hunk {} has no lines", hunks.len() + 1)),
        (false, false) => {}
    }
    Ok(hunks)
}

/// Adds a line to a hunk; an empty one stands for an empty line of context.
fn take(hunk: &mut Hunk, line: &str) -> Option<()> {
    let mut rest = line.chars();
    let (sign, text) = (rest.next().unwrap_or(' '), rest.as_str());
    match sign {
        ' ' => {
            hunk.old.push(text.to_owned());
            hunk.new.push(text.to_owned());
        }
        '-' => hunk.old.push(text.to_owned()),
        '+' => hunk.new.push(text.to_owned()),
        _ => return None,
    }
    Some(())
}
