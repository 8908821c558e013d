//! Pages that are lists: threads, reviews, checkpoints, worktrees, audit, settings, help.

use rookery_term::keys::{KeyPress, Special};
use rookery_view::keys::ACTIONS;
use rookery_view::link::Page;
use serde_json::Value;

use super::load::{NO_PROJECT, active_root};
use super::text::Tint;
use crate::app::{App, Ask, Cx, Edited, Field, Question, Then, is, plain_char};
use crate::daemon::{self, ById, ByPath, CheckpointCreate};
use crate::words::{age, age_of, line};

/// Rows before the end of those that are here at which more are asked for.
const AHEAD: usize = 20;

/// The list that is open.
#[derive(Debug, Default)]
pub struct ListPage {
    page: &'static str,
    rows: Vec<Value>,
    /// Where more rows begin, if there are any.
    after: Option<String>,
    /// The selected row of those that are shown.
    pub selected: usize,
    /// The filter, while it is written or in force.
    pub filter: Option<Field>,
    /// Whether letters go into the filter.
    pub filtering: bool,
    /// Whether its rows are on their way.
    pub is_loading: bool,
}

/// One row as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is about: an id, a path, an action.
    pub id: String,
    /// Texts from the left; the first is the name.
    pub cells: Vec<(String, Tint)>,
}

impl ListPage {
    /// Begins anew on a page; what is selected stays if it is the same one.
    pub fn begin(&mut self, page: &'static str) {
        if self.page != page {
            *self = ListPage { page, ..ListPage::default() };
        }
        self.is_loading = true;
    }

    /// Begins anew.
    pub fn reset(&mut self) {
        *self = ListPage::default();
    }

    /// Its rows came.
    pub fn filled(&mut self, page: &'static str, value: Value) {
        if page != self.page {
            return;
        }
        let member = match page {
            "audit" => "decisions",
            page => page,
        };
        self.rows = value[member].as_array().cloned().unwrap_or_default();
        self.after = value["after"].as_str().map(str::to_owned);
        self.is_loading = false;
    }

    /// More threads came, behind those that are there.
    pub fn more_threads(&mut self, after: &str, value: Value) {
        self.is_loading = false;
        if self.page != "threads" || self.after.as_deref() != Some(after) {
            return;
        }
        self.after = value["after"].as_str().map(str::to_owned);
        let more = value["threads"].as_array().cloned().unwrap_or_default();
        // One that changed meanwhile may come twice.
        let is_new = |row: &Value| !self.rows.iter().any(|old| old["thread"] == row["thread"]);
        let new: Vec<Value> = more.into_iter().filter(is_new).collect();
        self.rows.extend(new);
    }

    /// Where the rows begin that are to be asked for now: one is near the end of those that are here.
    pub(super) fn wants_more(&mut self) -> Option<String> {
        let is_near = self.selected + AHEAD >= self.rows.len();
        let after = self.after.clone().filter(|_| is_near && !self.is_loading)?;
        self.is_loading = true;
        Some(after)
    }

    /// They did not come.
    pub fn failed(&mut self) {
        self.is_loading = false;
    }

    /// The field of the filter, while it is open.
    pub fn filter_field(&mut self) -> Option<&mut Field> {
        self.filter.as_mut().filter(|_| self.filtering)
    }

    /// What is filtered by.
    pub fn filter_text(&self) -> String {
        self.filter.as_ref().map(|field| field.text().to_owned()).unwrap_or_default()
    }

    /// Moves the selection.
    pub fn move_by(&mut self, by: i64) {
        let at = i64::try_from(self.selected).unwrap_or(0).saturating_add(by).max(0);
        self.selected = usize::try_from(at).unwrap_or(0);
    }
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

fn dim(text: impl Into<String>) -> (String, Tint) {
    (text.into(), Tint::Dim)
}

fn plain(text: &str) -> (String, Tint) {
    (line(text), Tint::Text)
}

fn data_row(page: &str, value: &Value, wall: i64) -> Row {
    match page {
        "threads" => Row {
            id: text(value, "thread").to_owned(),
            cells: vec![
                plain(text(value, "title")),
                dim(line(text(value, "status"))),
                dim(age(value["at"].as_i64().unwrap_or(0), wall)),
            ],
        },
        "reviews" => {
            let files = value["differences"]["files"].as_array().map_or(0, Vec::len);
            Row {
                id: text(value, "id").to_owned(),
                cells: vec![
                    plain(text(value, "summary")),
                    dim(crate::words::files(files)),
                    dim(line(text(value, "status"))),
                    dim(age_of(text(value, "createdAt"), wall)),
                ],
            }
        }
        "checkpoints" => Row {
            id: text(value, "id").to_owned(),
            cells: vec![
                plain(text(value, "title")),
                dim(line(text(value, "branch"))),
                dim(age_of(text(value, "createdAt"), wall)),
            ],
        },
        "worktrees" => Row {
            id: text(value, "path").to_owned(),
            cells: vec![
                plain(text(value, "path")),
                dim(line(text(value, "branch"))),
                dim(line(text(value, "state"))),
            ],
        },
        _ => Row {
            id: value["number"].to_string(),
            cells: vec![
                dim(age_of(text(value, "at"), wall)),
                dim(line(text(value, "verdict"))),
                dim(line(text(value, "by"))),
                plain(text(value, "tool")),
                plain(text(value, "subject")),
            ],
        },
    }
}

/// `split_right` as `Split Right`.
fn title(id: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        let first: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
        first + chars.as_str()
    };
    id.split('_').map(word).collect::<Vec<_>>().join(" ")
}

impl App {
    /// The rows of the page that is shown, filtered.
    pub fn list_rows(&self, page: &Page, wall: i64) -> Vec<Row> {
        let rows = match page {
            Page::Help => self.help_rows(),
            Page::Settings => self.settings_rows(),
            _ => self
                .pages
                .list
                .rows
                .iter()
                .map(|row| data_row(self.pages.list.page, row, wall))
                .collect(),
        };
        let wanted = self.pages.list.filter_text().to_lowercase();
        if wanted.is_empty() || matches!(page, Page::Threads) {
            return rows;
        }
        let fits = |row: &Row| {
            row.id.to_lowercase().contains(&wanted)
                || row.cells.iter().any(|(text, _)| text.to_lowercase().contains(&wanted))
        };
        rows.into_iter().filter(fits).collect()
    }

    /// Every action with its keys, from the keymap in force.
    fn help_rows(&self) -> Vec<Row> {
        let keys = |id: &str| self.keymap.keys_of(id).join("   ");
        let row = |id: &str, words: String| Row {
            id: id.to_owned(),
            cells: vec![(words, Tint::Text), (keys(id), Tint::Accent)],
        };
        let mut rows: Vec<Row> = ACTIONS
            .iter()
            .map(|action| {
                row(action.id, action.title.map_or_else(|| title(action.id), str::to_owned))
            })
            .collect();
        for binding in self.keymap.listed() {
            if !rows.iter().any(|row| row.id == binding.action) {
                rows.push(row(&binding.action, binding.title.clone()));
            }
        }
        // What has keys comes first.
        rows.sort_by_key(|row| row.cells[1].0.is_empty());
        rows
    }

    pub(crate) fn list_key(&mut self, cx: &Cx<'_>, page: &Page, press: &KeyPress) {
        if matches!(page, Page::Checkpoints { .. }) && self.pages.review.is_checkpoint() {
            return self.review_key(cx, press);
        }
        let is_help = matches!(page, Page::Help);
        let is_filtering = self.pages.list.filtering;
        if matches!(page, Page::Settings) && !is_filtering && self.settings_key(cx, press) {
            return;
        }
        if self.filter_key(press, is_help) {
            if matches!(page, Page::Threads) {
                self.load_threads();
            }
            return;
        }
        if is(press, Special::Escape) {
            if self.pages.list.filter.take().is_some_and(|field| !field.is_empty()) {
                self.pages.list.filtering = false;
                return;
            }
            return self.home();
        }
        let count = self.list_rows(page, cx.wall).len();
        let rows = usize::from(self.drawn.page_rows.max(1));
        let at = self.pages.list.selected.min(count.saturating_sub(1));
        // In the help, letters filter; only arrows move.
        let moves = !is_help || plain_char(press).is_none();
        if let Some(to) = super::keys::moved(press, at, count, rows).filter(|_| moves) {
            self.pages.list.selected = to;
            return self.load_more_threads();
        }
        if is(press, Special::Enter) {
            return self.list_enter(cx, page);
        }
        match plain_char(press) {
            Some('q') => self.home(),
            Some('?') => self.go(Page::Help),
            Some('/') => {
                self.pages.list.filter.get_or_insert_with(Field::default);
                self.pages.list.filtering = true;
            }
            Some(letter) => self.list_letter(cx, page, letter),
            None => {}
        }
    }

    /// Keys of the filter; whether it was one.
    fn filter_key(&mut self, press: &KeyPress, is_help: bool) -> bool {
        let list = &mut self.pages.list;
        if is_help && list.filter.is_none() {
            list.filter = Some(Field::default());
        }
        if !is_help && !list.filtering {
            return false;
        }
        if is(press, Special::Enter) && !is_help {
            list.filtering = false;
            return true;
        }
        let Some(field) = &mut list.filter else { return false };
        let edited = field.key(press) == Edited::Yes;
        if edited {
            list.selected = 0;
        }
        edited
    }

    pub(super) fn selected_row(&self, cx: &Cx<'_>, page: &Page) -> Option<Row> {
        let rows = self.list_rows(page, cx.wall);
        let at = self.pages.list.selected.min(rows.len().saturating_sub(1));
        rows.get(at).cloned()
    }

    /// Opens the selected row.
    pub(crate) fn list_enter(&mut self, cx: &Cx<'_>, page: &Page) {
        let Some(row) = self.selected_row(cx, page) else { return };
        match page {
            Page::Threads => self.go(Page::Thread { thread: row.id }),
            Page::Reviews => self.go(Page::Review { review: row.id, file: None }),
            Page::Checkpoints { .. } => self.load_checkpoint_diff(&row.id),
            Page::Worktrees { .. } => {
                let say = Ask::Say("a session was opened there".to_owned());
                self.call(say, daemon::WORKTREES_ATTACH, ByPath { path: row.id });
            }
            Page::Help => {
                self.home();
                self.run(cx, &row.id);
            }
            // Enter itself comes another way: this is a double click.
            Page::Settings => self.press_in_settings(cx, "enter"),
            _ => {}
        }
    }

    pub(crate) fn list_letter(&mut self, cx: &Cx<'_>, page: &Page, letter: char) {
        let row = self.selected_row(cx, page);
        if !self.may_type() {
            return;
        }
        match (page, letter, row) {
            (Page::Checkpoints { .. }, 'n', _) => {
                let Some(tree) = active_root(cx) else { return self.warn(NO_PROJECT) };
                let call = daemon::CHECKPOINTS_CREATE.with(CheckpointCreate { tree });
                let made = Ask::Listed("checkpoints", "checkpoint made");
                let then = Then::Fill(made, call, "title");
                let mut question =
                    Question::new("A checkpoint of this project: its title", vec![], then);
                question.field = Some(Field::default());
                self.question = Some(question);
            }
            (Page::Checkpoints { .. }, 'R', Some(row)) => {
                let title = row.cells[0].0.clone();
                self.ask_restore(&row.id, title);
            }
            (Page::Worktrees { .. }, 'l', Some(row)) => {
                let call = daemon::WORKTREES_LAND.with(ByPath { path: row.id.clone() });
                let then = Then::Choose(Ask::Landed, call, "how");
                let mut question = Question::new("Land its commits how?", vec![row.id], then);
                question.choices = vec![('m', "merge"), ('s', "squash"), ('r', "rebase")];
                self.question = Some(question);
            }
            (Page::Worktrees { .. }, 'x', Some(row)) => {
                let call = daemon::WORKTREES_REMOVE.with(ByPath { path: row.id.clone() });
                let then = Then::Call(Ask::Listed("worktrees", "removed"), call);
                self.question = Some(Question::new("Remove this worktree?", vec![row.id], then));
            }
            (Page::Threads, 'n', _) => self.run(cx, "new_thread"),
            _ => {}
        }
    }
}

impl App {
    fn ask_restore(&mut self, id: &str, title: String) {
        let lines = vec![title, "What is there now becomes a safety checkpoint first.".to_owned()];
        let then =
            Then::Call(Ask::Restored, daemon::CHECKPOINTS_RESTORE.with(ById { id: id.to_owned() }));
        self.question = Some(Question::new("Restore this checkpoint?", lines, then));
    }

    /// Asks about the checkpoint whose differences are shown.
    pub(crate) fn ask_restore_shown(&mut self) {
        if !self.may_type() {
            return self.warn("this face only looks");
        }
        let Some(id) = self.pages.review.checkpoint().map(str::to_owned) else { return };
        let title = self.checkpoint_title(&id);
        self.ask_restore(&id, title);
    }

    /// What a checkpoint is called; its id if the list of them is not there.
    pub fn checkpoint_title(&self, id: &str) -> String {
        let row = self.pages.list.rows.iter().find(|row| text(row, "id") == id);
        let title = row.map(|row| text(row, "title")).filter(|title| !title.is_empty());
        line(title.unwrap_or(id))
    }
}

/// The title of a list, and what can be pressed there.
pub fn head_and_hint(page: &Page) -> (&'static str, &'static str) {
    match page {
        Page::Threads => ("Threads", "enter open  n new  / filter  esc back"),
        Page::Reviews => ("Reviews", "enter open  / filter  esc back"),
        Page::Checkpoints { .. } => {
            ("Checkpoints", "enter diff  n new  R restore  / filter  esc back")
        }
        Page::Worktrees { .. } => {
            ("Worktrees", "enter session  l land  x remove  / filter  esc back")
        }
        Page::Audit => ("Audit", "/ filter  esc back"),
        Page::Settings => ("Settings", "enter change  esc back"),
        Page::Help => ("Keys", "typing filters  enter runs it  esc back"),
        _ => ("", "esc back"),
    }
}
