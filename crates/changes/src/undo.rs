//! Takes a hunk back: finds its new lines in what a file is by now and puts the old ones there.
//!
//! Lines are compared by what they say. How they end is kept as the file has it: a hunk of a file that
//! was converted to other line ends meanwhile is taken back with those.

use std::fmt;

use rookery_model::{Edit, LineKind};

use crate::place::begins;

/// Why a hunk cannot be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Its lines are not in the file.
    Missing,
    /// They are not where they were, and elsewhere more than once.
    Several,
    /// Some of them end otherwise than they did, and others do not.
    LineEnds,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Conflict::Missing => "the changed lines are not in the file any more",
            Conflict::Several => "the changed lines are in the file more than once",
            Conflict::LineEnds => "some of the changed lines end differently now",
        })
    }
}

/// A file with a hunk taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reverted {
    /// What the file is to contain.
    pub text: String,
    /// The first line that changes, from 0 on; context is not counted.
    pub at: u64,
    /// How many lines go.
    pub removed: u64,
    /// How many lines come.
    pub added: u64,
}

/// A line of a file, and how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line<'a> {
    said: &'a str,
    end: &'a str,
}

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Self {
        let said = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
        let said = said.unwrap_or(text);
        Line { said, end: &text[said.len()..] }
    }

    fn all(text: &'a str) -> Vec<Line<'a>> {
        text.split_inclusive('\n').map(Line::of).collect()
    }
}

/// Takes an edit back. Its new lines are looked for at `at`, from 0 on, and otherwise have to be in the
/// text exactly once.
///
/// # Errors
/// If they are not, or more often.
pub fn undo(text: &str, edit: &Edit, at: u64) -> Result<Reverted, Conflict> {
    let file = Line::all(text);
    let new: Vec<Line<'_>> = edit.new_side().map(Line::of).collect();
    let start = find(&file, &new, at)?;
    let ends = Ends::of(&new, &file[start..start + new.len()])?;
    let mut result: Vec<(&str, &str)> = Vec::with_capacity(file.len());
    result.extend(file[..start].iter().map(|line| (line.said, line.end)));
    let mut next = start;
    for line in &edit.lines {
        match line.kind {
            LineKind::Context => {
                result.push((file[next].said, file[next].end));
                next += 1;
            }
            LineKind::Added => next += 1,
            LineKind::Removed => {
                let line = Line::of(&line.text);
                result.push((line.said, ends.convert(line.end)));
            }
        }
    }
    let is_at_end = next == file.len();
    if is_at_end {
        keep_last_end(&mut result, edit, &file);
    }
    result.extend(file[next..].iter().map(|line| (line.said, line.end)));
    let (before, removed, added) = changed(edit);
    Ok(Reverted { text: joined(&result), at: start as u64 + before, removed, added })
}

/// Whether the old lines of an edit are where its new ones were expected, as if it had been taken back.
#[must_use]
pub fn has_old_side(text: &str, edit: &Edit, at: u64) -> bool {
    let file = Line::all(text);
    let old: Vec<Line<'_>> = edit.old_side().map(Line::of).collect();
    let Ok(at) = usize::try_from(at) else { return false };
    file.get(at..).is_some_and(|rest| is_there(rest, &old))
}

/// Whether a rollback that was started seems to have completed: the edit's old lines are where its new ones were
/// expected. Where both are, because one begins with the other, the longer one is no coincidence.
#[must_use]
pub fn is_taken_back(text: &str, edit: &Edit, at: u64) -> bool {
    let file = Line::all(text);
    let Ok(at) = usize::try_from(at) else { return false };
    let Some(rest) = file.get(at..) else { return false };
    let old: Vec<Line<'_>> = edit.old_side().map(Line::of).collect();
    let new: Vec<Line<'_>> = edit.new_side().map(Line::of).collect();
    !old.is_empty() && is_there(rest, &old) && (!is_there(rest, &new) || old.len() > new.len())
}

/// Lines of context in front, and the lines that go and come in its place.
fn changed(edit: &Edit) -> (u64, u64, u64) {
    let context = begins(edit);
    let behind = edit.lines.iter().rev().take_while(|line| line.kind == LineKind::Context).count();
    let context_of = |side: u64| side.saturating_sub(context + behind as u64);
    match context == edit.lines.len() as u64 {
        true => (context, 0, 0),
        false => (context, context_of(edit.new_lines), context_of(edit.old_lines)),
    }
}

/// Where the lines are: at the place where they should be, or else the only one.
fn find(file: &[Line<'_>], wanted: &[Line<'_>], at: u64) -> Result<usize, Conflict> {
    if wanted.is_empty() {
        // Nothing is left to tell the place by but an empty file.
        return if file.is_empty() { Ok(0) } else { Err(Conflict::Missing) };
    }
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    if file.get(at..).is_some_and(|rest| is_there(rest, wanted)) {
        return Ok(at);
    }
    let mut found = occurrences(file, wanted);
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(Conflict::Several),
        (None, _) => Err(Conflict::Missing),
    }
}

fn is_there(file: &[Line<'_>], wanted: &[Line<'_>]) -> bool {
    file.len() >= wanted.len()
        && wanted.iter().zip(file).all(|(wanted, line)| wanted.said == line.said)
}

/// Where lines occur, in time that grows with their number alone (Knuth, Morris and Pratt).
fn occurrences<'f>(
    file: &'f [Line<'f>],
    wanted: &'f [Line<'f>],
) -> impl Iterator<Item = usize> + 'f {
    let mut borders = vec![0; wanted.len()];
    let mut length = 0;
    for index in 1..wanted.len() {
        while length > 0 && wanted[index].said != wanted[length].said {
            length = borders[length - 1];
        }
        length += usize::from(wanted[index].said == wanted[length].said);
        borders[index] = length;
    }
    let mut matched = 0;
    file.iter().enumerate().filter_map(move |(index, line)| {
        while matched > 0 && (matched == wanted.len() || line.said != wanted[matched].said) {
            matched = borders[matched - 1];
        }
        matched += usize::from(line.said == wanted[matched].said);
        (matched == wanted.len()).then(|| index + 1 - wanted.len())
    })
}

/// How the ends of lines became others since a hunk was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    /// What they were, and what they are; the same if nothing was converted.
    from: &'static str,
    to: &'static str,
}

impl Ends {
    fn of(recorded: &[Line<'_>], found: &[Line<'_>]) -> Result<Self, Conflict> {
        let same = Ends { from: "\n", to: "\n" };
        let mut seen: Option<Ends> = None;
        for (recorded, found) in recorded.iter().zip(found) {
            // The last line of a file may have no end, and get one when others follow.
            let ends = match (recorded.end, found.end) {
                ("", _) | (_, "") => continue,
                ("\n", "\r\n") => Ends { from: "\n", to: "\r\n" },
                ("\r\n", "\n") => Ends { from: "\r\n", to: "\n" },
                _ => same,
            };
            match seen {
                Some(known) if known != ends => return Err(Conflict::LineEnds),
                _ => seen = Some(ends),
            }
        }
        Ok(seen.unwrap_or(same))
    }

    fn convert<'a>(&self, end: &'a str) -> &'a str {
        if end == self.from { self.to } else { end }
    }
}

/// A file whose last lines are taken back ends as it does now, unless the hunk changed that.
fn keep_last_end(result: &mut [(&str, &str)], edit: &Edit, file: &[Line<'_>]) {
    let Some(last) = result.last_mut() else { return };
    let Some(recorded) = edit.new_side().last().map(|text| Line::of(text).end) else { return };
    let found = file.last().map_or("", |line| line.end);
    match (recorded.is_empty(), found.is_empty()) {
        // The end was taken away since. An empty line is nothing without one.
        (false, true) if !last.0.is_empty() => last.1 = "",
        // It was added since.
        (true, false) if last.1.is_empty() => last.1 = if found == "\r\n" { "\r\n" } else { "\n" },
        _ => {}
    }
}

/// The text of lines. One that has no end, and others behind it, gets that of its neighbors.
fn joined(lines: &[(&str, &str)]) -> String {
    let mut text =
        String::with_capacity(lines.iter().map(|(said, end)| said.len() + end.len()).sum());
    for (index, (said, end)) in lines.iter().enumerate() {
        text.push_str(said);
        let is_last = index + 1 == lines.len();
        match end.is_empty() && !is_last {
            true => {
                let around = index.checked_sub(1).into_iter().chain([index + 1]);
                let mut around = around.filter_map(|near| lines.get(near)).map(|(_, end)| *end);
                text.push_str(around.find(|end| !end.is_empty()).unwrap_or("\n"));
            }
            false => text.push_str(end),
        }
    }
    text
}
