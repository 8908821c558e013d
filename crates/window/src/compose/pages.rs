//! Pages: the state machine's as data that a painter draws.

use std::sync::Arc;

use rookery_face::app::{App, Cx};
use rookery_face::pages::card::CardPage;
use rookery_face::pages::list::{Row, head_and_hint};
use rookery_face::pages::load::active_root;
use rookery_face::pages::text::Tint;
use rookery_face::words::line;
use rookery_view::keys::ACTIONS;
use rookery_view::link::{self, Page};
use rookery_view::scene::pages::{
    Button, Card, Comment, Empty, Field, Help, HelpRow, Inbox, List, ListCell, ListRow, NewThread,
    Review, Setting, Settings, Thread, Value, Weight,
};

use super::field;

/// Points of a line, where the state machine scrolls by lines.
const LINE: f32 = 20.0;
/// Further than any text is long; painting stops at its end.
const END: f32 = 1.0e6;

fn points(lines: usize) -> f32 {
    (lines as f32 * LINE).min(END)
}

pub(super) fn empty(app: &App, cx: &Cx<'_>) -> Empty {
    Empty {
        root: line(&active_root(cx).unwrap_or_else(|| "~".to_owned())),
        agents: app.around.agents.clone(),
        focus: None,
        keys: ["c", "t", "g", "?"].map(str::to_owned).to_vec(),
    }
}

fn project_name(cx: &Cx<'_>) -> String {
    let projects = cx.picture.scene().sidebar.iter().flat_map(|sidebar| &sidebar.projects);
    let active = projects.into_iter().find(|project| project.active);
    active.map(|project| line(&project.name)).unwrap_or_default()
}

pub(super) fn new_thread(app: &App, cx: &Cx<'_>) -> NewThread {
    NewThread {
        project: project_name(cx),
        root: line(&active_root(cx).unwrap_or_default()),
        prompt: field(&app.pages.new_thread.text, app.pages.new_thread.has_text()),
        ..NewThread::default()
    }
}

fn card(page: &CardPage, scroll: f32, app: &App) -> Option<Card> {
    let told = page.card()?;
    Some(Card {
        scroll,
        deny: page.denial().map(|typed| field(typed, true)),
        remember: page.would_remember(),
        question: page.asked(),
        own: page.own_answer().map(|typed| field(typed, true)),
        message: app.note.as_ref().map(|(tone, text)| (super::tone_of(*tone), line(text))),
        ..Card::new(Arc::new(told.clone()))
    })
}

pub(super) fn inbox(app: &App, cx: &Cx<'_>) -> Inbox {
    let shown = cx.picture.scene();
    let told = shown.inbox.clone().unwrap_or_default();
    let waiting = shown.status.as_ref().map_or(0, |status| status.waiting);
    let page = &app.pages.inbox;
    let selected = page.selected.as_ref();
    Inbox {
        waiting,
        notes: told.total.saturating_sub(waiting),
        selected: told.rows.iter().position(|row| Some(&row.item) == selected),
        all: page.all,
        is_whole: page.whole,
        first: None,
        card: card(&app.pages.card, points(app.pages.card.scroll), app),
        rows: Arc::new(told.rows),
    }
}

pub(super) fn thread(app: &App) -> Thread {
    let page = &app.pages.thread;
    Thread {
        head: Arc::new(page.head.clone()),
        items: Arc::new(page.items().to_vec()),
        has_older: page.has_older(),
        at: page.at,
        open: page.unfolded().clone(),
        scroll: points(page.scroll),
        composer: field(&page.composer, page.at.is_none()),
        card: card(&page.card, 0.0, app),
        ..Thread::default()
    }
}

pub(super) fn review(app: &App) -> Review {
    let page = &app.pages.review;
    let text = |member: &str| line(page.info[member].as_str().unwrap_or_default());
    let told = page.info["comments"].as_array().map(Vec::as_slice).unwrap_or_default();
    let comments = told.iter().map(|comment| Comment {
        path: comment["path"].as_str().unwrap_or_default().to_owned(),
        line: comment["line"].as_u64().and_then(|at| u32::try_from(at).ok()),
        by: line(comment["by"].as_str().unwrap_or("you")),
        text: line(comment["text"].as_str().unwrap_or_default()),
    });
    Review {
        title: text("summary"),
        status: text("status"),
        is_checkpoint: page.is_checkpoint(),
        files: Arc::new(page.files.clone()),
        file: page.file,
        line: page.line,
        comments: comments.collect(),
        comment: page.comment.as_ref().map(|typed| field(typed, true)),
        ..Review::default()
    }
}

fn weight(tint: Tint) -> Weight {
    match tint {
        Tint::Dim => Weight::Soft,
        Tint::Error | Tint::Removed => Weight::Bad,
        Tint::Added => Weight::Good,
        _ => Weight::Text,
    }
}

fn row(row: &Row) -> ListRow {
    let cell = |(text, tint): &(String, Tint)| ListCell {
        text: text.clone(),
        weight: weight(*tint),
        is_code: false,
    };
    ListRow { mood: None, cells: row.cells.iter().map(cell).collect() }
}

fn filter(app: &App) -> Option<Field> {
    let list = &app.pages.list;
    list.filter.as_ref().map(|typed| field(typed, list.filtering))
}

pub(super) fn list(app: &App, page: &Page, cx: &Cx<'_>) -> List {
    let rows = app.list_rows(page, cx.wall);
    let buttons: &[(Button, &str)] = match page {
        Page::Threads => &[(Button::Open, "Open"), (Button::New, "New Thread")],
        Page::Checkpoints { .. } => {
            &[(Button::Open, "Changes"), (Button::New, "New"), (Button::Restore, "Restore…")]
        }
        Page::Worktrees { .. } => {
            &[(Button::Open, "Session"), (Button::Land, "Land…"), (Button::Remove, "Remove…")]
        }
        Page::Reviews => &[(Button::Open, "Open")],
        _ => &[],
    };
    List {
        title: head_and_hint(page).0.to_owned(),
        selected: (!rows.is_empty()).then(|| app.pages.list.selected.min(rows.len() - 1)),
        rows: Arc::new(rows.iter().map(row).collect()),
        filter: filter(app),
        is_loading: app.pages.list.is_loading,
        nothing: "Nothing here".to_owned(),
        buttons: buttons.iter().map(|(button, label)| (*button, (*label).to_owned())).collect(),
        ..List::default()
    }
}

pub(super) fn settings(app: &App, cx: &Cx<'_>) -> Settings {
    let rows = app.list_rows(&Page::Settings, cx.wall);
    let theme = cx.picture.scene().theme.clone().unwrap_or_default();
    let setting = |row: &Row| {
        let text = |index: usize| row.cells.get(index).map(|it| it.0.clone()).unwrap_or_default();
        let value = match (row.id.as_str(), text(1)) {
            ("theme", name) => Value::Theme(name, swatch(&theme)),
            (_, value) if value == "on" || value == "off" => Value::Switch(value == "on"),
            (_, value) => Value::Text(value),
        };
        Setting { section: String::new(), name: text(0), value, hint: text(2) }
    };
    Settings {
        file: app.around.settings_file.clone(),
        selected: app.pages.list.selected.min(rows.len().saturating_sub(1)),
        rows: rows.iter().map(setting).collect(),
        first: None,
    }
}

/// A few colors of a theme.
fn swatch(theme: &link::Theme) -> Vec<rookery_view::scene::Rgb> {
    let named = theme.named.iter().skip(1).take(6).map(|color| color.0);
    std::iter::once(theme.background.0).chain(named).collect()
}

pub(super) fn help(app: &App) -> Help {
    let rows = app.list_rows(&Page::Help, 0);
    let title = |id: &str| ACTIONS.iter().find(|row| row.id == id).and_then(|row| row.title);
    let shown = |row: &Row| HelpRow {
        section: String::new(),
        title: title(&row.id).map_or_else(
            || row.cells.first().map(|it| it.0.clone()).unwrap_or_default(),
            str::to_owned,
        ),
        keys: app.keymap.keys_of(&row.id).into_iter().map(str::to_owned).collect(),
    };
    Help {
        filter: filter(app).map_or_else(|| Field::of(""), |it| Field { has_keyboard: true, ..it }),
        selected: app.pages.list.selected.min(rows.len().saturating_sub(1)),
        rows: rows.iter().map(shown).collect(),
        first: None,
    }
}
