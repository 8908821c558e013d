//! A review: files at the left, the diff of one at the right, comments on its lines. Also shows
//! what a checkpoint differs by.
//!
//! Long diffs come page by page while one goes down in them. What was not shown to its end is not
//! approved blind: the first `a` goes there.

use std::collections::{BTreeMap, BTreeSet};

use rookery_term::keys::{KeyKind, KeyPress, Special};
use rookery_view::link::{Diff, DiffCall, DiffFile, Page, method};
use serde_json::Value;

use super::card::READ_FIRST;
use super::text::{Line, Tint, diff_lines};
use crate::app::{App, Ask, Cx, Field, is, plain_char};
use crate::daemon::{self, ById, Comment, NewStatus, ReviewComments};
use crate::words::line;

/// Lines before the end of those that are here at which more are asked for.
const AHEAD: usize = 200;
/// What is said before something is approved of which the daemon has no more to show.
const CUT: &str = "a part is too long to be shown here; a again approves all of it";

/// The review that is open.
#[derive(Debug, Default)]
pub struct ReviewPage {
    serial: u64,
    review: Option<String>,
    checkpoint: Option<String>,
    /// What the daemon says of it.
    pub info: Value,
    /// Its files; the lines of those that were shown.
    pub files: Vec<DiffFile>,
    /// The selected file.
    pub file: usize,
    /// The selected line of its diff.
    pub line: usize,
    /// A comment that is being written.
    pub comment: Option<Field>,
    drawn_at: Option<u64>,
    /// Where more lines of files begin, and whether they are on their way.
    more: BTreeMap<String, u32>,
    is_loading: bool,
    /// Files of which the end was on the screen.
    seen: BTreeSet<String>,
    /// It was said what was not seen.
    again: bool,
    /// What this viewer is called, for its own comments.
    own_name: String,
}

impl ReviewPage {
    /// Begins with a review.
    pub fn begin(&mut self, review: &str, own_name: &str) -> u64 {
        // A comment that was being written when the daemon went away is kept.
        let comment = self.comment.take().filter(|_| self.review.as_deref() == Some(review));
        let (file, line) = match self.review.as_deref() == Some(review) {
            true => (self.file, self.line),
            false => (0, 0),
        };
        *self = ReviewPage {
            serial: super::next_serial(),
            review: Some(review.to_owned()),
            comment,
            file,
            line,
            own_name: own_name.to_owned(),
            ..ReviewPage::default()
        };
        self.serial
    }

    pub fn begin_checkpoint(&mut self, checkpoint: &str) -> u64 {
        *self = ReviewPage {
            serial: super::next_serial(),
            checkpoint: Some(checkpoint.to_owned()),
            ..ReviewPage::default()
        };
        self.serial
    }

    /// Whether it shows a checkpoint.
    pub fn is_checkpoint(&self) -> bool {
        self.checkpoint.is_some()
    }

    /// Closes it.
    pub fn end(&mut self) {
        *self = ReviewPage::default();
    }

    /// How its diff is asked for.
    pub fn diff_call(&self) -> (u64, DiffCall) {
        let call = DiffCall {
            review: self.review.clone(),
            checkpoint: self.checkpoint.clone(),
            ..DiffCall::default()
        };
        (self.serial, call)
    }

    /// What the daemon says of it came.
    pub fn came(&mut self, value: Value) {
        self.info = value;
    }

    /// Files came, or lines of one; returns the file whose lines are needed next.
    pub fn diff_came(&mut self, serial: u64, file: Option<String>, diff: Diff) -> Option<String> {
        if serial != self.serial {
            return None;
        }
        match file {
            Some(path) => {
                let new = diff.files.into_iter().find(|file| file.path == path)?;
                let old = self.files.iter_mut().find(|file| file.path == path)?;
                *old = new;
                self.goes_on(&path, diff.next);
                None
            }
            None => {
                self.files = diff.files;
                self.file = self.file.min(self.files.len().saturating_sub(1));
                self.needed()
            }
        }
    }

    /// More lines of a file came.
    pub fn more_came(&mut self, serial: u64, path: &str, from: u32, diff: Diff) {
        if serial != self.serial {
            return;
        }
        self.is_loading = false;
        if self.more.get(path) != Some(&from) {
            return;
        }
        let new = diff.files.into_iter().find(|file| file.path == path);
        let old = self.files.iter_mut().find(|file| file.path == path);
        if let (Some(new), Some(old)) = (new, old) {
            append(old, new);
        }
        self.goes_on(path, diff.next.filter(|next| *next > from));
    }

    /// They did not come.
    pub fn more_failed(&mut self) {
        self.is_loading = false;
    }

    fn goes_on(&mut self, path: &str, next: Option<u32>) {
        match next {
            Some(next) => drop(self.more.insert(path.to_owned(), next)),
            None => drop(self.more.remove(path)),
        }
    }

    /// Whether the lines that are here of the shown file are not all of them.
    pub fn has_more(&self) -> bool {
        self.files.get(self.file).is_some_and(|file| self.more.contains_key(&file.path))
    }

    /// The lines that are to be asked for now: of which file, from which on.
    fn wanted(&mut self) -> Option<(String, u32)> {
        let path = &self.files.get(self.file)?.path;
        let next = *self.more.get(path)?;
        let is_near = self.line + AHEAD >= self.line_count();
        if !is_near || self.is_loading {
            return None;
        }
        let wanted = (path.clone(), next);
        self.is_loading = true;
        Some(wanted)
    }

    /// What a picture shows the end of, if it does: which review, and which file of it.
    pub fn end_of(&self, is_end: bool) -> Option<(u64, usize)> {
        let file = self.files.get(self.file)?;
        let is_here = (file.hunks.is_some() || file.binary) && !self.more.contains_key(&file.path);
        (is_end && is_here).then_some((self.serial, self.file))
    }

    /// The end of a file was on the screen.
    pub fn end_drawn(&mut self, (serial, file): (u64, usize)) {
        if serial == self.serial
            && let Some(file) = self.files.get(file)
        {
            self.seen.insert(file.path.clone());
        }
    }

    /// The same for faces that only know how many lines fit: the last line was selected, or all of them
    /// fit with room to spare.
    pub fn drawn_with(&mut self, rows: u16, now: u64) {
        self.drawn(now);
        let count = self.line_count();
        let is_end = self.line + 1 >= count || count <= usize::from(rows) / 2;
        if let Some(end) = self.end_of(is_end) {
            self.end_drawn(end);
        }
    }

    /// What is said before something is approved that was not shown to its end, once; the file to go to.
    fn unread(&mut self, now: u64) -> Option<(Option<usize>, String)> {
        if self.again {
            return None;
        }
        let here = self.file;
        let unseen: Vec<usize> =
            (0..self.files.len()).filter(|at| !self.seen.contains(&self.files[*at].path)).collect();
        let is_cut = |file: &DiffFile| file.cut && !self.more.contains_key(&file.path);
        let first = unseen.iter().find(|at| **at == here).or(unseen.first()).copied();
        let say = match (unseen.len(), self.files.len()) {
            (0, _) if self.files.iter().any(is_cut) => CUT.to_owned(),
            (0, _) => return None,
            (_, 1) => "the file was not shown to its end; a again approves".to_owned(),
            (count, all) => {
                format!("{count} of {all} files were not shown to their end; a again approves")
            }
        };
        self.again = true;
        self.drawn_at = Some(now);
        Some((first, say))
    }

    fn needed(&self) -> Option<String> {
        let file = self.files.get(self.file)?;
        file.hunks.is_none().then(|| file.path.clone())
    }

    /// Lines of the diff of the shown file.
    pub fn line_count(&self) -> usize {
        let hunks = self.files.get(self.file).and_then(|file| file.hunks.as_ref());
        hunks.map_or(0, |hunks| hunks.iter().map(|hunk| hunk.lines.len()).sum())
    }

    /// Moves by lines of the diff.
    pub fn move_by(&mut self, by: i64) {
        let last = i64::try_from(self.line_count().saturating_sub(1)).unwrap_or(0);
        let at = i64::try_from(self.line).unwrap_or(0).saturating_add(by).clamp(0, last.max(0));
        self.line = usize::try_from(at).unwrap_or(0);
    }

    /// The number of the selected line in the new file, else in the old one.
    fn line_number(&self) -> Option<u32> {
        let hunks = self.files.get(self.file)?.hunks.as_ref()?;
        let line = hunks.iter().flat_map(|hunk| &hunk.lines).nth(self.line)?;
        line.new.or(line.old)
    }

    /// Comments on a file, or on the whole: the line of each, and who says what.
    fn comments(&self, path: Option<&str>) -> Vec<(Option<u32>, String)> {
        let all = self.info["comments"].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter()
            .filter(|comment| comment["path"].as_str() == path)
            .map(|comment| {
                let at = comment["line"].as_u64().and_then(|at| u32::try_from(at).ok());
                let text = line(comment["text"].as_str().unwrap_or_default());
                (at, format!("> {}: {text}", author(comment, &self.own_name)))
            })
            .collect()
    }

    /// How many comments a file has.
    pub fn comment_count(&self, path: &str) -> usize {
        let all = self.info["comments"].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().filter(|comment| comment["path"].as_str() == Some(path)).count()
    }

    /// The diff of the shown file with its comments, in lines of a width.
    pub fn lines(&self, cells: u16) -> Vec<Line> {
        let Some(file) = self.files.get(self.file) else {
            return vec![Line::new("nothing changed", Tint::Dim)];
        };
        if file.hunks.is_none() && !file.binary {
            return vec![Line::new("…", Tint::Dim)];
        }
        let comments = self.comments(Some(&file.path));
        let numbers: Vec<Option<u32>> =
            file.hunks.iter().flatten().flat_map(|hunk| &hunk.lines).map(|line| line.new).collect();
        let whole = self.comments(None).into_iter();
        let mut out: Vec<Line> =
            whole.map(|(_, text)| Line::new(format!("  {text}"), Tint::Accent)).collect();
        let mut told = 0;
        let all = diff_lines(file, cells);
        for (at, shown) in all.iter().enumerate() {
            out.push(shown.clone());
            let ends = all.get(at + 1).is_none_or(|next| next.of != shown.of);
            let Some(of) = shown.of.filter(|_| ends) else { continue };
            let number = numbers.get(of).copied().flatten();
            for (_, text) in comments.iter().filter(|(at, _)| at.is_some() && *at == number) {
                told += 1;
                out.push(Line::new(format!("      {text}"), Tint::Accent));
            }
            if of == self.line
                && let Some(field) = &self.comment
            {
                out.push(Line::new(format!("      > {}▌", field.text()), Tint::Accent));
            }
        }
        if self.has_more() {
            out.push(Line::new("  more lines follow: they come while you go down", Tint::Accent));
        }
        if told < comments.len() {
            for (_, text) in comments.iter().filter(|(at, _)| !numbers.contains(at)) {
                out.push(Line::new(format!("  {text}"), Tint::Accent));
            }
        }
        out
    }

    /// The checkpoint that is shown.
    pub fn checkpoint(&self) -> Option<&str> {
        self.checkpoint.as_deref()
    }

    /// Closes a comment in which nothing is written; whether letters are for the review now.
    pub(crate) fn leave_comment(&mut self) -> bool {
        self.comment = self.comment.take().filter(|field| !field.is_empty());
        self.comment.is_none()
    }

    /// It is on the screen.
    pub fn drawn(&mut self, now: u64) {
        if !self.files.is_empty() {
            self.drawn_at.get_or_insert(now);
        }
    }
}

/// Who made a comment, for a viewer of this name.
pub fn author(comment: &Value, own_name: &str) -> String {
    match comment["by"].as_str().unwrap_or_default() {
        by if by.is_empty() || by == own_name => "you".to_owned(),
        by => line(by),
    }
}

/// Adds more lines of a file; a hunk may go on over pages.
fn append(file: &mut DiffFile, more: DiffFile) {
    file.cut = more.cut;
    let hunks = file.hunks.get_or_insert_default();
    for hunk in more.hunks.into_iter().flatten() {
        let is_same = |last: &&mut rookery_view::link::Hunk| {
            (last.old, last.new, &last.head) == (hunk.old, hunk.new, &hunk.head)
        };
        match hunks.last_mut().filter(is_same) {
            Some(last) => last.lines.extend(hunk.lines),
            None => hunks.push(hunk),
        }
    }
}

impl App {
    pub(crate) fn review_click(&mut self, index: usize) {
        self.select_file(index);
    }

    fn select_file(&mut self, index: usize) {
        let review = &mut self.pages.review;
        if index < review.files.len() {
            review.file = index;
            review.line = 0;
            if let Some(file) = review.needed() {
                self.load_file(&file);
            }
            self.load_more_lines();
        }
    }

    pub(crate) fn review_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        if self.comment_key(press) {
            return;
        }
        if is(press, Special::Escape) {
            if self.pages.review.is_checkpoint() {
                return self.pages.review.end();
            }
            return self.go(Page::Reviews);
        }
        let direction = super::keys::direction(press);
        if direction != 0 {
            return self.review_move(direction);
        }
        let file = self.pages.review.file;
        match plain_char(press) {
            Some(']') => self.select_file(file + 1),
            Some('[') => self.select_file(file.saturating_sub(1)),
            Some('c') if !self.pages.review.is_checkpoint() => {
                self.pages.review.comment = Some(Field::default());
            }
            Some('a') => self.review_decide(cx, press, "approved"),
            Some('r') => self.review_decide(cx, press, "changes_requested"),
            Some('s') => self.go(Page::Reviews),
            Some('q') => self.home(),
            Some('?') => self.go(Page::Help),
            _ => {}
        }
    }

    /// Moves by lines; more of them are asked for before they are needed.
    pub(crate) fn review_move(&mut self, by: i64) {
        self.pages.review.move_by(by);
        self.load_more_lines();
    }

    /// Asks for more lines of the shown file, if one is near the end of those that are here.
    pub fn load_more_lines(&mut self) {
        let Some((file, from)) = self.pages.review.wanted() else { return };
        let (serial, mut call) = self.pages.review.diff_call();
        (call.file, call.from) = (Some(file.clone()), Some(from));
        self.call(Ask::DiffMore(serial, file, from), method::DIFF, call);
    }

    fn comment_key(&mut self, press: &KeyPress) -> bool {
        let Some(field) = &mut self.pages.review.comment else { return false };
        if is(press, Special::Escape) {
            self.pages.review.comment = None;
            return true;
        }
        if !is(press, Special::Enter) {
            field.key(press);
            return true;
        }
        let text = field.take();
        self.pages.review.comment = None;
        if text.trim().is_empty() {
            return true;
        }
        let review = &self.pages.review;
        let path = review.files.get(review.file).map(|file| file.path.clone());
        let comments = vec![Comment { path, line: review.line_number(), text }];
        if let Some(id) = review.review.clone() {
            self.call(Ask::Review, daemon::REVIEWS_COMMENT, ReviewComments { id, comments });
        }
        true
    }

    /// Deciding on a review has the same guard as a card.
    fn review_decide(&mut self, cx: &Cx<'_>, press: &KeyPress, status: &str) {
        if self.pages.review.is_checkpoint() || press.kind == KeyKind::Repeat {
            return;
        }
        if !self.may_decide() {
            return self.warn("read-only: nothing is sent or decided here");
        }
        let guard = u64::from(self.settings.guard);
        if self.pages.review.drawn_at.is_none_or(|at| cx.now < at + guard) {
            return self.say(READ_FIRST);
        }
        if status == "approved"
            && let Some((file, say)) = self.pages.review.unread(cx.now)
        {
            if let Some(file) = file {
                self.select_file(file);
                self.review_move(i64::MAX);
            }
            return self.warn(say);
        }
        let Some(id) = self.pages.review.review.clone() else { return };
        let to = NewStatus { id: id.clone(), status: status.to_owned() };
        self.call(Ask::Review, daemon::REVIEWS_SET_STATUS, to);
        if status == "changes_requested" {
            let say = Ask::Say("changes requested; the agent has your comments".to_owned());
            self.call(say, daemon::REVIEWS_DELIVER, ById { id });
        } else {
            self.say("approved");
        }
    }
}
