//! `apply_patch`: changes several files at once, all or none.
//!
//! A patch is read whole, then all new contents are made in memory, and only then is anything
//! written. Lines have to match exactly: a hunk that does not fit is an error that names it.

mod begin;
mod fit;
mod unified;

use std::collections::BTreeMap;
use std::path::PathBuf;

use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments;
use super::paths::{self, Place};
use super::planned::{Planned, Touched, shown as shown_edits};
use super::writing::{self, Change};
use crate::tool::{Tool, ToolContext, ToolOutput};

pub(super) const APPLY_PATCH: Tool = Tool {
    name: "apply_patch",
    kind: ToolKind::Write,
    description: "Change files by a patch, all or none. Either a unified diff or:\n\
                  *** Begin Patch\n*** Add File: a\n+line\n*** Update File: b\n*** Move to: c\n\
                  @@ line before, if needed\n context\n-old\n+new\n*** Delete File: d\n\
                  *** End Patch",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<Args>,
    check: arguments::check::<Args>,
    run: |context, value| arguments::run_blocking(context, value, run),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    patch: String,
}

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    /// Makes a file with this content.
    Add { path: String, content: String },
    /// Removes a file, which has to fit the hunks if there are any.
    Delete { path: String, hunks: Vec<Hunk> },
    /// Changes a file, and may give it another name.
    Update { path: String, to: Option<String>, hunks: Vec<Hunk> },
}

/// Lines that replace others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// Lines that come somewhere before it, each after the one before.
    anchors: Vec<String>,
    /// Where it claims to begin, from 0.
    at: Option<usize>,
    /// What is there.
    old: Vec<String>,
    /// What is to be there.
    new: Vec<String>,
    /// Whether it has to reach the end of the file.
    at_end: bool,
    /// Whether the old lines end without a line break, if that was said.
    old_unended: bool,
    /// Whether the new lines end without a line break, if that was said.
    new_unended: bool,
}

/// A file on its way through a patch.
struct Draft {
    place: Place,
    before: Option<String>,
    now: Option<String>,
    /// Where its content came from, if it was moved here.
    moved_from: Option<Place>,
    mode: Option<u32>,
}

/// Reads a patch of either format.
fn parse(patch: &str) -> Result<Vec<Action>, String> {
    let patch = without_carriage_returns(patch);
    let begins = patch.lines().find(|line| !line.trim().is_empty());
    let actions = match begins.map(str::trim) {
        None => return Err("the patch is empty".into()),
        Some("*** Begin Patch") => begin::parse(&patch)?,
        Some(_) => unified::parse(&patch)?,
    };
    if actions.is_empty() { Err("the patch changes nothing".into()) } else { Ok(actions) }
}

/// A patch that was written with CRLF throughout means the same without.
fn without_carriage_returns(patch: &str) -> String {
    let all =
        patch.split_inclusive('\n').all(|line| line.ends_with("\r\n") || !line.ends_with('\n'));
    if all && patch.contains("\r\n") { patch.replace("\r\n", "\n") } else { patch.to_owned() }
}

/// Performs a patch in memory. Tells what it does, a line for each action.
fn planned(context: &ToolContext, patch: &str) -> Result<(Planned, Vec<String>), String> {
    let mut drafts = Drafts::default();
    let mut done = Vec::new();
    for action in parse(patch)? {
        done.push(drafts.perform(context, action)?);
    }
    Ok((Planned { changes: drafts.changes(), files: drafts.touched() }, done))
}

/// The paths that a call names: of all files that its patch makes, changes, moves or removes.
pub(super) fn named_paths(arguments: Value) -> Result<Vec<String>, String> {
    let args: Args = arguments::decode(arguments)?;
    Ok(paths_of(parse(&args.patch)?))
}

fn paths_of(actions: Vec<Action>) -> Vec<String> {
    let named = actions.into_iter().flat_map(|action| match action {
        Action::Add { path, .. } | Action::Delete { path, .. } => vec![path],
        Action::Update { path, to, .. } => std::iter::once(path).chain(to).collect(),
    });
    named.collect()
}

/// What a call would change.
pub(super) fn preview(context: &ToolContext, arguments: Value) -> Result<String, String> {
    let args: Args = arguments::decode(arguments)?;
    Ok(planned(context, &args.patch)?.0.diff())
}

fn run(context: &ToolContext, args: Args) -> Result<ToolOutput, String> {
    let _alone = writing::exclusive(context, &paths_of(parse(&args.patch)?));
    let (planned, done) = planned(context, &args.patch)?;
    planned.commit(context)?;
    let files: Vec<&str> = planned.files.iter().map(|file| file.path.as_str()).collect();
    let edits = planned.edits();
    let data = json!({"files": files, "hunks": shown_edits(&edits)});
    Ok(ToolOutput { edits, ..ToolOutput::new(format!("Success. {}", done.join("\n")), data) })
}

/// All files that a patch has touched so far, as they would be.
#[derive(Default)]
struct Drafts {
    files: BTreeMap<PathBuf, Draft>,
}

impl Drafts {
    /// Performs one action in memory and says what it did.
    fn perform(&mut self, context: &ToolContext, action: Action) -> Result<String, String> {
        match action {
            Action::Add { path, content } => {
                let draft = self.draft(context, &path)?;
                if draft.now.is_some() {
                    return Err(format!("cannot add {path}: the file exists"));
                }
                draft.now = Some(content);
                Ok(format!("Added {}", draft.place.shown))
            }
            Action::Delete { path, hunks } => {
                let draft = self.draft(context, &path)?;
                let Some(now) = draft.now.take() else {
                    return Err(format!("cannot delete {path}: no such file"));
                };
                fit::apply(&path, &now, &hunks)?;
                Ok(format!("Deleted {}", draft.place.shown))
            }
            Action::Update { path, to, hunks } => {
                let draft = self.draft(context, &path)?;
                let Some(now) = draft.now.clone() else {
                    return Err(format!("cannot update {path}: no such file"));
                };
                let new = fit::apply(&path, &now, &hunks)?;
                match to {
                    Some(to) => self.move_to(context, &path, &to, new),
                    None => {
                        draft.now = Some(new);
                        Ok(format!("Updated {}", draft.place.shown))
                    }
                }
            }
        }
    }

    fn move_to(
        &mut self,
        context: &ToolContext,
        path: &str,
        to: &str,
        new: String,
    ) -> Result<String, String> {
        let source = self.draft(context, path)?;
        source.now = None;
        let (from, mode) = (source.place.clone(), source.mode);
        let target = self.draft(context, to)?;
        if target.now.is_some() {
            return Err(format!("cannot move {path} to {to}: the file exists"));
        }
        let line = format!("Moved {} to {}", from.shown, target.place.shown);
        target.now = Some(new);
        if target.place != from {
            target.mode = mode;
            target.moved_from = Some(from);
        }
        Ok(line)
    }

    /// The file of a path, read when it is first named.
    fn draft(&mut self, context: &ToolContext, path: &str) -> Result<&mut Draft, String> {
        let place = paths::resolve(context, path)?;
        let entry = match self.files.entry(place.path.clone()) {
            std::collections::btree_map::Entry::Occupied(entry) => return Ok(entry.into_mut()),
            std::collections::btree_map::Entry::Vacant(entry) => entry,
        };
        let exists = paths::exists(context, &place)?;
        let before = exists.then(|| paths::read_text(context, &place)).transpose()?;
        let mode = exists.then(|| paths::mode(context, &place)).flatten();
        let now = before.clone();
        Ok(entry.insert(Draft { place, before, now, moved_from: None, mode }))
    }

    fn changes(&self) -> Vec<Change> {
        let changed = self.files.values().filter(|draft| draft.before != draft.now);
        changed
            .map(|draft| Change {
                path: draft.place.path.clone(),
                content: draft.now.clone().map(String::into_bytes),
                mode: draft.mode,
            })
            .collect()
    }

    fn touched(&self) -> Vec<Touched> {
        let was_moved = |draft: &Draft| {
            let from_here = |other: &Draft| other.moved_from.as_ref() == Some(&draft.place);
            draft.now.is_none() && self.files.values().any(from_here)
        };
        let is_told = |draft: &&Draft| {
            // The file that a moved one came from is named with it.
            !was_moved(draft) && (draft.now.is_some() || draft.before.is_some())
        };
        let touched = |draft: &Draft| {
            let source = draft.moved_from.as_ref().and_then(|from| self.files.get(&from.path));
            Touched {
                path: draft.place.shown.clone(),
                old_path: source.map(|from| from.place.shown.clone()),
                old: source.map_or(&draft.before, |from| &from.before).clone(),
                new: draft.now.clone(),
                was_binary: false,
                mode: draft.mode,
            }
        };
        self.files.values().filter(is_told).map(touched).collect()
    }
}

#[cfg(test)]
mod tests;
