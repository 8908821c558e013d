//! Pages: the state machine's as data that a painter draws.

use std::sync::Arc;

use rookery_face::app::{App, Cx};
use rookery_face::pages::card::CardPage;
use rookery_face::pages::list::{Row, head_and_hint};
use rookery_face::pages::load::active_root;
use rookery_face::pages::review::author;
use rookery_face::pages::settings::SettingsPage;
use rookery_face::pages::text::Tint;
use rookery_face::words::line;
use rookery_view::keys::ACTIONS;
use rookery_view::link::{self, Page};
use rookery_view::scene::Mood;
use rookery_view::scene::pages::{
    Button, Card, Comment, Empty, Field, Help, HelpRow, Inbox, List, ListCell, ListRow, NewThread,
    Review, Setting, Settings, Thread, Value, Weight,
};

use super::{Own, field};

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

pub(super) fn new_thread(app: &App, cx: &Cx<'_>, own: &Own) -> NewThread {
    let page = &app.pages.new_thread;
    let (chosen, (mode, means)) = (page.project(cx), page.mode());
    NewThread {
        project: chosen.as_ref().map_or_else(|| project_name(cx), |it| it.0.clone()),
        root: chosen.map_or_else(|| line(&active_root(cx).unwrap_or_default()), |it| it.1),
        model: page.model().unwrap_or_default(),
        mode: format!("{mode}: {means}"),
        prompt: field(own, &page.text, page.has_text()),
        focus: page.focus(),
    }
}

fn card(page: &CardPage, scroll: f32, app: &App, own: &Own) -> Option<Card> {
    let sent = page.card()?;
    Some(Card {
        scroll,
        deny: page.denial().map(|typed| field(own, typed, true)),
        remember: page.would_remember(),
        question: page.asked(),
        own: page.own_answer().map(|typed| field(own, typed, true)),
        message: app.note.as_ref().map(|(tone, text)| (super::tone_of(*tone), line(text))),
        ..Card::new(Arc::new(sent.clone()))
    })
}

pub(super) fn inbox(app: &App, cx: &Cx<'_>, own: &Own) -> Inbox {
    let shown = cx.picture.scene();
    let sent = shown.inbox.clone().unwrap_or_default();
    let waiting = shown.status.as_ref().map_or(0, |status| status.waiting);
    let page = &app.pages.inbox;
    let selected = page.selected.as_ref();
    Inbox {
        waiting,
        notes: sent.total.saturating_sub(waiting),
        selected: sent.rows.iter().position(|row| Some(&row.item) == selected),
        all: page.all,
        is_whole: page.whole,
        first: None,
        card: card(&app.pages.card, points(app.pages.card.scroll), app, own),
        rows: Arc::new(sent.rows.into_iter().map(readable).collect()),
    }
}

/// The row with nothing in it that acts or hides.
fn readable(row: link::InboxRow) -> link::InboxRow {
    link::InboxRow {
        kind: line(&row.kind),
        session_title: line(&row.session_title),
        title: line(&row.title),
        subtitle: line(&row.subtitle),
        ..row
    }
}

pub(super) fn thread(app: &App, own: &Own) -> Thread {
    let page = &app.pages.thread;
    Thread {
        head: Arc::new(page.head.clone()),
        items: Arc::new(page.items().to_vec()),
        has_older: page.has_older(),
        steers: page.steers().map(line).collect(),
        at: page.at,
        follows: page.follows,
        open: page.unfolded().clone(),
        scroll: points(page.scroll),
        composer: field(own, &page.composer, page.at.is_none()),
        card: card(&page.card, points(page.card.scroll), app, own),
        images: page.images().map(line).collect(),
        commands: page.fitting_commands().into_iter().map(command).collect(),
        ..Thread::default()
    }
}

fn command(row: &link::CommandRow) -> (String, String) {
    (line(&row.name), line(&row.description))
}

pub(super) fn review(app: &App, own: &Own) -> Review {
    let page = &app.pages.review;
    let text = |member: &str| line(page.info[member].as_str().unwrap_or_default());
    let sent = page.info["comments"].as_array().map(Vec::as_slice).unwrap_or_default();
    let comments = sent.iter().map(|comment| Comment {
        path: comment["path"].as_str().unwrap_or_default().to_owned(),
        line: comment["line"].as_u64().and_then(|at| u32::try_from(at).ok()),
        by: author(comment, &app.around.name),
        text: line(comment["text"].as_str().unwrap_or_default()),
    });
    Review {
        title: match page.checkpoint() {
            Some(id) => format!("Checkpoint {}", app.checkpoint_title(id)),
            None => text("summary"),
        },
        status: text("status"),
        is_checkpoint: page.is_checkpoint(),
        files: Arc::new(page.files.clone()),
        file: page.file,
        line: page.line,
        comments: comments.collect(),
        comment: page.comment.as_ref().map(|typed| field(own, typed, true)),
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

fn row(page: &Page, row: &Row) -> ListRow {
    let cell = |(text, tint): &(String, Tint)| ListCell {
        text: text.clone(),
        weight: weight(*tint),
        is_code: false,
    };
    let status = |index: usize| row.cells.get(index).map(|it| mood(&it.0));
    let mood = match page {
        Page::Threads => status(1),
        Page::Reviews => status(2),
        _ => None,
    };
    ListRow { mood, cells: row.cells.iter().map(cell).collect() }
}

/// The mood that a status comes to.
fn mood(status: &str) -> Mood {
    match status {
        "waiting" | "open" => Mood::Waiting,
        "working" | "changes_requested" => Mood::Working,
        "failed" => Mood::Failed,
        "done" | "approved" => Mood::Finished,
        _ => Mood::Inactive,
    }
}

/// What the cells of a list are, from the left.
fn columns(page: &Page) -> &'static [&'static str] {
    match page {
        Page::Threads => &["Thread", "Status", "Age"],
        Page::Reviews => &["Review", "Files", "Status", "Asked"],
        Page::Checkpoints { .. } => &["Checkpoint", "Branch", "Made", "Id"],
        Page::Worktrees { .. } => &["Directory", "Branch", "State"],
        Page::Audit => &["At", "Verdict", "By", "Tool", "What"],
        _ => &[],
    }
}

fn filter(app: &App, own: &Own) -> Option<Field> {
    let list = &app.pages.list;
    list.filter.as_ref().map(|typed| field(own, typed, list.filtering))
}

pub(super) fn list(app: &App, page: &Page, cx: &Cx<'_>, own: &Own) -> List {
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
        columns: columns(page).iter().map(|name| (*name).to_owned()).collect(),
        rows: Arc::new(rows.iter().map(|it| row(page, it)).collect()),
        filter: filter(app, own),
        is_loading: app.pages.list.is_loading,
        nothing: "Nothing here".to_owned(),
        buttons: buttons.iter().map(|(button, label)| (*button, (*label).to_owned())).collect(),
        ..List::default()
    }
}

pub(super) fn settings(app: &App, cx: &Cx<'_>, own: &Own) -> Settings {
    let written = app.pages.settings.written();
    let rows = app.list_rows(&Page::Settings, cx.wall);
    let theme = cx.picture.scene().theme.clone().unwrap_or_default();
    let is_keys = app.pages.settings.keys;
    let setting = |row: &Row| {
        let text = |index: usize| row.cells.get(index).map(|it| it.0.clone()).unwrap_or_default();
        let value = match (row.id.as_str(), text(1)) {
            (id, _) if written.is_some_and(|(of, _)| of == id) => {
                Value::Field(written.map(|(_, typed)| field(own, typed, true)).unwrap_or_default())
            }
            (_, chord) if is_keys => {
                Value::Keys(Some(chord).filter(|it| !it.is_empty()).into_iter().collect())
            }
            ("theme", name) => Value::Theme(name, swatch(&theme)),
            ("web", value) if value == "off" => Value::Switch(false),
            (id, value) if SettingsPage::is_number(id) => Value::Number(value),
            (id, value) => match SettingsPage::words(id) {
                Some(["on", "off"]) => Value::Switch(value == "on"),
                Some(words) => {
                    let at = words.iter().position(|word| *word == value).unwrap_or(0);
                    Value::Choice(words.iter().map(|word| (*word).to_owned()).collect(), at)
                }
                None => Value::Text(value),
            },
        };
        let is_plain = matches!(value, Value::Choice(..) | Value::Number(_));
        let hint = if is_plain { String::new() } else { text(2) };
        Setting { section: section_of(&row.id).to_owned(), name: text(0), value, hint }
    };
    Settings {
        file: app.around.settings_file.clone(),
        selected: app.pages.list.selected.min(rows.len().saturating_sub(1)),
        rows: rows.iter().map(setting).collect(),
        first: None,
        buttons: if is_keys { key_buttons() } else { Vec::new() },
    }
}

/// What can be done with the chosen row of the list of keys.
fn key_buttons() -> Vec<(Button, String)> {
    let all = [
        (Button::Back, "All Settings"),
        (Button::Open, "Change…"),
        (Button::New, "Add…"),
        (Button::Remove, "Free"),
        (Button::Restore, "As It Came"),
    ];
    all.map(|(button, label)| (button, label.to_owned())).to_vec()
}

/// The heading above a setting; most go on below the one before.
fn section_of(key: &str) -> &'static str {
    match key {
        "theme" => "Look",
        "key-preset" => "Keys and mouse",
        "answer-guard-ms" => "Safety",
        "copy-on-select" => "Text",
        "web" => "Elsewhere",
        _ => "",
    }
}

/// A few colors of a theme.
fn swatch(theme: &link::Theme) -> Vec<rookery_view::scene::Rgb> {
    let named = theme.named.iter().skip(1).take(6).map(|color| color.0);
    std::iter::once(theme.background.0).chain(named).collect()
}

pub(super) fn help(app: &App, own: &Own) -> Help {
    let rows = app.list_rows(&Page::Help, 0);
    let title = |id: &str| ACTIONS.iter().find(|row| row.id == id).and_then(|row| row.title);
    let first_without = rows.iter().position(|row| app.keymap.keys_of(&row.id).is_empty());
    let section = |index: usize| match Some(index) == first_without {
        true => "Without a key: from the palette, or here".to_owned(),
        false => String::new(),
    };
    let shown = |(index, row): (usize, &Row)| HelpRow {
        section: section(index),
        title: title(&row.id).map_or_else(
            || row.cells.first().map(|it| it.0.clone()).unwrap_or_default(),
            str::to_owned,
        ),
        keys: app.keymap.keys_of(&row.id).into_iter().map(str::to_owned).collect(),
    };
    Help {
        filter: filter(app, own)
            .map_or_else(|| Field::of(""), |it| Field { has_keyboard: true, ..it }),
        selected: app.pages.list.selected.min(rows.len().saturating_sub(1)),
        rows: rows.iter().enumerate().map(shown).collect(),
        first: None,
    }
}
