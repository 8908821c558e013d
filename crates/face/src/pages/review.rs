//! A review: files at the left, the diff of one at the right, comments on its lines. Also shows
//! what a checkpoint differs by.

use rookery_term::keys::{KeyKind, KeyPress, Special};
use rookery_view::link::{Diff, DiffCall, DiffFile, Page};
use serde_json::{Value, json};

use super::card::READ_FIRST;
use super::text::{Line, Tint, diff_lines};
use crate::app::{App, Ask, Cx, Field, is, plain_char};
use crate::words::line;

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
}

impl ReviewPage {
    /// Begins with a review.
    pub fn begin(&mut self, review: &str) -> u64 {
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
                None
            }
            None => {
                self.files = diff.files;
                self.file = self.file.min(self.files.len().saturating_sub(1));
                self.needed()
            }
        }
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

    /// Comments on a line of the shown file.
    fn comments(&self) -> Vec<(Option<u32>, String)> {
        let path = self.files.get(self.file).map(|file| file.path.as_str());
        let all = self.info["comments"].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter()
            .filter(|comment| comment["path"].as_str() == path)
            .map(|comment| {
                let at = comment["line"].as_u64().and_then(|at| u32::try_from(at).ok());
                (at, line(comment["text"].as_str().unwrap_or_default()))
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
        let comments = self.comments();
        let numbers: Vec<Option<u32>> =
            file.hunks.iter().flatten().flat_map(|hunk| &hunk.lines).map(|line| line.new).collect();
        let mut out: Vec<Line> = Vec::new();
        let mut told = 0;
        let all = diff_lines(file, cells);
        for (at, shown) in all.iter().enumerate() {
            out.push(shown.clone());
            let ends = all.get(at + 1).is_none_or(|next| next.of != shown.of);
            let Some(of) = shown.of.filter(|_| ends) else { continue };
            let number = numbers.get(of).copied().flatten();
            for (_, text) in comments.iter().filter(|(at, _)| at.is_some() && *at == number) {
                told += 1;
                out.push(Line::new(format!("      > you: {text}"), Tint::Accent));
            }
            if of == self.line
                && let Some(field) = &self.comment
            {
                out.push(Line::new(format!("      > {}▌", field.text()), Tint::Accent));
            }
        }
        if told < comments.len() {
            for (_, text) in comments.iter().filter(|(at, _)| !numbers.contains(at)) {
                out.push(Line::new(format!("  > you: {text}"), Tint::Accent));
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
            return self.pages.review.move_by(direction);
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
        let comment = json!({"path": path, "line": review.line_number(), "text": text});
        let params = json!({"id": review.review, "comments": [comment]});
        self.call(Ask::Review, "rookery/reviews/comment", params);
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
        let id = self.pages.review.review.clone();
        let params = json!({"id": id, "status": status});
        self.call(Ask::Review, "rookery/reviews/setStatus", params);
        if status == "changes_requested" {
            let say = Ask::Say("changes requested; the agent has your comments".to_owned());
            self.call(say, "rookery/reviews/deliver", json!({"id": id}));
        } else {
            self.say("approved");
        }
    }
}
