//! Where hunks belong in a text, and what comes of putting them there.

use super::Hunk;

/// A text by lines. Line breaks are kept apart, so that lines compare by what they say.
struct Lines<'a> {
    lines: Vec<&'a str>,
    line_break: &'static str,
    is_ended: bool,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let is_ended = text.is_empty() || text.ends_with('\n');
        let body = text.strip_suffix('\n').unwrap_or(text);
        let mut lines: Vec<&str> =
            if text.is_empty() { Vec::new() } else { body.split('\n').collect() };
        let has_returns = |(index, line): (usize, &&str)| {
            line.ends_with('\r') || (!is_ended && index + 1 == lines.len())
        };
        let is_crlf = text.contains("\r\n") && lines.iter().enumerate().all(has_returns);
        if is_crlf {
            lines.iter_mut().for_each(|line| *line = line.strip_suffix('\r').unwrap_or(line));
        }
        Self { lines, line_break: if is_crlf { "\r\n" } else { "\n" }, is_ended }
    }

    /// Whether a line of a patch says the same as a line of the file.
    fn same(&self, index: usize, wanted: &str) -> bool {
        self.lines.get(index).is_some_and(|line| *line == self.plain(wanted))
    }

    /// A line of a patch without the return that this file has in all its line breaks.
    fn plain<'b>(&self, line: &'b str) -> &'b str {
        match self.line_break {
            "\r\n" => line.strip_suffix('\r').unwrap_or(line),
            _ => line,
        }
    }

    /// Whether a hunk's old lines are at a place.
    fn fits(&self, hunk: &Hunk, at: usize) -> bool {
        let end = at.saturating_add(hunk.old.len());
        let reaches_end = end == self.lines.len();
        end <= self.lines.len()
            && (!hunk.at_end || reaches_end)
            && (!hunk.old_unended || (reaches_end && !self.is_ended))
            && hunk.old.iter().enumerate().all(|(index, line)| self.same(at + index, line))
    }
}

/// The text after all hunks, which come in the order of the file.
pub(super) fn apply(path: &str, text: &str, hunks: &[Hunk]) -> Result<String, String> {
    let lines = Lines::of(text);
    let mut result: Vec<&str> = Vec::new();
    let mut is_ended = lines.is_ended;
    let mut taken = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let at = find(&lines, hunk, taken)
            .map_err(|why| format!("{path}: hunk {} does not apply: {why}", index + 1))?;
        result.extend(&lines.lines[taken..at]);
        result.extend(hunk.new.iter().map(|line| lines.plain(line)));
        taken = at + hunk.old.len();
        if taken == lines.lines.len() {
            is_ended = match (hunk.new_unended, hunk.old_unended) {
                (true, _) => false,
                (false, true) => true,
                (false, false) => lines.is_ended,
            };
        }
    }
    result.extend(&lines.lines[taken..]);
    let mut text = result.join(lines.line_break);
    if is_ended && !result.is_empty() {
        text.push_str(lines.line_break);
    }
    Ok(text)
}

/// Where a hunk begins: at the place it names, or else the first that fits after what was changed.
fn find(lines: &Lines<'_>, hunk: &Hunk, from: usize) -> Result<usize, String> {
    let mut start = from;
    for anchor in &hunk.anchors {
        let found = (start..lines.lines.len()).find(|index| lines.same(*index, anchor));
        start = found.ok_or_else(|| format!("the line {anchor:?} was not found"))? + 1;
    }
    if hunk.old.is_empty() {
        // Nothing to look for: after the named line, at the named place, or at the end.
        let place = match (hunk.at, hunk.anchors.is_empty()) {
            (Some(at), _) if at >= start && at <= lines.lines.len() => at,
            (Some(_), _) => return Err("it names a place outside of the file".into()),
            (None, false) if !hunk.at_end => start,
            (None, _) => lines.lines.len(),
        };
        return Ok(place);
    }
    if let Some(at) = hunk.at.filter(|at| *at >= start)
        && lines.fits(hunk, at)
    {
        return Ok(at);
    }
    let last = lines.lines.len().saturating_sub(hunk.old.len());
    (start..=last).find(|at| lines.fits(hunk, *at)).ok_or_else(|| missing(lines, hunk, start))
}

/// Says which line was looked for in vain, as well as one can.
fn missing(lines: &Lines<'_>, hunk: &Hunk, start: usize) -> String {
    let known = |line: &&String| (start..lines.lines.len()).any(|index| lines.same(index, line));
    match hunk.old.iter().find(|line| !known(line)) {
        Some(line) => format!("the line {line:?} was not found"),
        None if hunk.at_end || hunk.old_unended => {
            "its lines are not at the end of the file".into()
        }
        None => "its lines do not follow each other in the file".into(),
    }
}
