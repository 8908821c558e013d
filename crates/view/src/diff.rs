//! Patches as files, hunks and numbered lines. Every text is spelled exactly, because people decide by
//! it.

#[cfg(test)]
#[path = "diff/tests.rs"]
mod tests;

use crate::link::{DiffFile, DiffLine, FileStatus, Hunk, LineKind, bound};
use crate::safe;

/// Reads a patch as git or diff write it. What is beyond the bounds is left off and its file marked as
/// cut; added and removed lines are counted all the same.
pub fn parse(patch: &str) -> Vec<DiffFile> {
    read(patch).files
}

/// The same for a text that a decision is made by: its files, and the lines that none of them shows.
/// Without files, all of its lines; a file that is cut shows none for certain.
pub fn parse_exact(text: &str) -> (Vec<DiffFile>, Vec<String>) {
    let Reader { files, rest, .. } = read(text);
    let is_whole = !files.is_empty() && files.iter().all(|file| !file.cut);
    let lines = match is_whole {
        true => rest,
        false => text.lines().map(safe::exact).collect(),
    };
    (files, lines)
}

fn read(patch: &str) -> Reader {
    let mut reader = Reader::default();
    let mut bytes = 0;
    for line in patch.lines() {
        bytes += line.len() + 1;
        reader.has_room = bytes <= bound::DIFF_BYTES && reader.lines < bound::DIFF_LINES;
        reader.line(line);
    }
    reader
}

/// Files without their lines.
pub fn summary(files: &[DiffFile]) -> Vec<DiffFile> {
    files.iter().map(|file| DiffFile { hunks: None, ..file.clone() }).collect()
}

/// A page of a file's lines from one on, counted over all of its hunks, and where the next page begins.
pub fn page(file: &DiffFile, from: usize, most: usize) -> (DiffFile, Option<usize>) {
    let mut at = 0;
    let mut hunks = Vec::new();
    let mut left = most;
    let mut next = None;
    for hunk in file.hunks.iter().flatten() {
        let skipped = from.saturating_sub(at).min(hunk.lines.len());
        let taken = left.min(hunk.lines.len() - skipped);
        if taken < hunk.lines.len() - skipped {
            next.get_or_insert(at + skipped + taken);
        }
        at += hunk.lines.len();
        left -= taken;
        let is_empty = hunk.lines.is_empty() && from == 0;
        if taken > 0 || is_empty {
            let lines = hunk.lines[skipped..skipped + taken].to_vec();
            hunks.push(Hunk { lines, ..hunk.clone() });
        }
    }
    (DiffFile { hunks: Some(hunks), ..file.clone() }, next)
}

#[derive(Default)]
struct Reader {
    files: Vec<DiffFile>,
    lines: usize,
    has_room: bool,
    /// Lines of the hunk that are still to come on the old and the new side.
    left: (u32, u32),
    /// Numbers of the next lines.
    next: (u32, u32),
    /// Whether the file was begun by a line of git's, so that `---` does not begin another.
    is_git: bool,
    /// The old path, until the new one is known.
    before: Option<String>,
    /// Lines that no file shows.
    rest: Vec<String>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if self.left != (0, 0) {
            return self.body(line);
        }
        if let Some(head) = line.strip_prefix("@@ ")
            && self.hunk(head).is_some()
        {
            return;
        }
        if let Some(paths) = line.strip_prefix("diff --git ") {
            let path = git_path(paths);
            self.begin(path, true);
        } else if let Some(path) = line.strip_prefix("--- ") {
            self.before = side(path, "a/");
            if !self.is_git || self.has_hunks() {
                self.begin(String::new(), false);
            }
        } else if let Some(path) = line.strip_prefix("+++ ") {
            self.named(side(path, "b/"));
        } else if line.starts_with('\\') {
            self.note(line);
        } else {
            self.extended(line);
        }
    }

    fn has_hunks(&self) -> bool {
        let last = self.files.last().and_then(|file| file.hunks.as_ref());
        last.is_some_and(|hunks| !hunks.is_empty())
    }

    fn begin(&mut self, path: String, is_git: bool) {
        self.is_git = is_git;
        self.files.push(DiffFile { path, hunks: Some(Vec::new()), ..DiffFile::default() });
    }

    /// Both paths are known; `/dev/null` stands for none.
    fn named(&mut self, after: Option<String>) {
        let before = self.before.take();
        let Some(file) = self.files.last_mut() else { return };
        match (&before, &after) {
            (None, Some(_)) => file.status = FileStatus::Added,
            (Some(_), None) => file.status = FileStatus::Removed,
            _ => {}
        }
        let is_other = file.old.is_none() && before.is_some() && after.is_some() && before != after;
        if is_other {
            file.old.clone_from(&before);
        }
        if let Some(path) = after.or(before) {
            file.path = path;
        }
    }

    /// A line that is in no file: it counts as one of those that there is room for.
    fn leave(&mut self, line: &str) {
        if !line.trim().is_empty() && self.has_room {
            self.lines += 1;
            self.rest.push(safe::exact(line));
        } else if !self.has_room
            && let Some(file) = self.files.last_mut()
        {
            file.cut = true;
        }
    }

    /// Lines of git between the paths and the first hunk.
    fn extended(&mut self, line: &str) {
        let is_head = self.is_git && !self.has_hunks();
        let Some(file) = self.files.last_mut().filter(|_| is_head) else { return self.leave(line) };
        let path = |rest: &str| safe::exact(&unquoted(rest));
        let is_said = ["index ", "similarity index ", "dissimilarity index "];
        if let Some(mode) = line.strip_prefix("new file mode ") {
            file.status = FileStatus::Added;
            // What is more than a plain file is said.
            if mode != "100644" {
                self.leave(line);
            }
        } else if line.starts_with("deleted file") {
            file.status = FileStatus::Removed;
        } else if is_said.iter().any(|said| line.starts_with(said)) {
        } else if let Some(rest) = line.strip_prefix("rename from ") {
            (file.status, file.old) = (FileStatus::Renamed, Some(path(rest)));
        } else if let Some(rest) = line.strip_prefix("copy from ") {
            (file.status, file.old) = (FileStatus::Copied, Some(path(rest)));
        } else if let Some(rest) =
            line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to "))
        {
            file.path = path(rest);
        } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            file.binary = true;
        } else {
            self.leave(line);
        }
    }

    /// `-1,2 +3,4 @@ head`.
    fn hunk(&mut self, head: &str) -> Option<()> {
        let (ranges, head) = head.split_once(" @@")?;
        let (old, new) = ranges.strip_prefix('-')?.split_once(" +")?;
        let range = |text: &str| {
            let (start, count) = text.split_once(',').unwrap_or((text, "1"));
            Some((start.parse::<u32>().ok()?, count.parse::<u32>().ok()?))
        };
        let ((old, old_count), (new, new_count)) = (range(old)?, range(new)?);
        if self.files.is_empty() {
            self.begin(String::new(), false);
        }
        (self.left, self.next) = ((old_count, new_count), (old, new));
        let has_room = self.has_room;
        let file = self.files.last_mut()?;
        if has_room {
            let head = safe::exact(head.trim());
            file.hunks.get_or_insert_default().push(Hunk { old, new, head, lines: Vec::new() });
        } else {
            file.cut = true;
        }
        Some(())
    }

    fn body(&mut self, line: &str) {
        let (kind, text) = match line.as_bytes().first() {
            Some(b'+') => (LineKind::Added, &line[1..]),
            Some(b'-') => (LineKind::Removed, &line[1..]),
            Some(b' ') => (LineKind::Same, &line[1..]),
            // Some tools drop the blank of an empty line.
            None => (LineKind::Same, line),
            Some(b'\\') => return self.note(line),
            // Not what the head promised.
            Some(_) => {
                self.left = (0, 0);
                return self.line(line);
            }
        };
        let has_old = kind != LineKind::Added;
        let has_new = kind != LineKind::Removed;
        let old = has_old.then_some(self.next.0);
        let new = has_new.then_some(self.next.1);
        self.left.0 = self.left.0.saturating_sub(u32::from(has_old));
        self.left.1 = self.left.1.saturating_sub(u32::from(has_new));
        self.next.0 = self.next.0.saturating_add(u32::from(has_old));
        self.next.1 = self.next.1.saturating_add(u32::from(has_new));
        if let Some(file) = self.files.last_mut() {
            file.added += u32::from(kind == LineKind::Added);
            file.removed += u32::from(kind == LineKind::Removed);
        }
        self.push(DiffLine { kind, old, new, text: safe::exact(text) });
    }

    fn note(&mut self, line: &str) {
        let text = safe::exact(line.trim_start_matches(['\\', ' ']));
        self.push(DiffLine { kind: LineKind::Note, old: None, new: None, text });
    }

    fn push(&mut self, line: DiffLine) {
        let has_room = self.has_room;
        let Some(file) = self.files.last_mut() else { return };
        match file.hunks.as_mut().and_then(|hunks| hunks.last_mut()) {
            Some(hunk) if has_room && !file.cut => {
                hunk.lines.push(line);
                self.lines += 1;
            }
            Some(_) => file.cut = true,
            None => {}
        }
    }
}

/// A path of a `---` or `+++` line; none for `/dev/null`.
fn side(path: &str, prefix: &str) -> Option<String> {
    // A time may follow after a tab.
    let path = unquoted(path.split('\t').next().unwrap_or(path));
    if path == "/dev/null" {
        return None;
    }
    Some(safe::exact(path.strip_prefix(prefix).unwrap_or(&path)))
}

/// The path of `a/x b/x`, which is all there is for files without lines.
fn git_path(paths: &str) -> String {
    let half = paths.len() / 2;
    let same = paths.is_char_boundary(half).then(|| paths.split_at(half));
    let same = same.and_then(|(old, new)| {
        let new = new.strip_prefix(' ')?.strip_prefix("b/")?;
        (old.strip_prefix("a/")? == new).then(|| new.to_owned())
    });
    let path = same.unwrap_or_else(|| {
        let new = paths.rsplit_once(" b/").map_or(paths, |(_, new)| new);
        let quoted = paths.rsplit_once(" \"b/").map(|(_, new)| unquoted(&format!("\"{new}")));
        quoted.unwrap_or_else(|| new.to_owned())
    });
    safe::exact(&path)
}

/// A path without the quotes and escapes that git puts around unusual ones.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return path.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(first @ b'0'..=b'7') => {
                let mut code = u32::from(first - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|digit| (b'0'..=b'7').contains(digit)) {
                        code = code * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.push(code as u8);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
