//! The scene of the window: what the daemon sent, together with what the person has done here.
//!
//! Pure but for the rows that it remembers: the same state gives the same scene.

mod pages;
mod rows;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rookery_face::app::{App, Choice, Cx, Question};
use rookery_face::pages::sidebar::Row as SidebarRow;
use rookery_face::words::{age, line};
use rookery_model::{ProjectId, TerminalId};
use rookery_view::link::{self, Page};
use rookery_view::scene::layout::Point;
use rookery_view::scene::pages::Field;
use rookery_view::scene::{
    self, AgentRow, Dialog, Drop, FontChoice, Inbox, Lost, Menu, MenuRow, PaletteOverlay,
    PaletteRow, Pane, Panes, Pill, Preedit, ProjectRow, Scene, Sidebar, Stage, StatusLine,
    TabStrip, Toast, WindowSize,
};
use rookery_view::theme::Theme;
use rookery_view::tile;

pub(crate) use self::rows::Rows;
use self::rows::Touched;

/// Characters of one line of what a question is about.
const MOST_ASKED: usize = 4096;

/// What is only the window's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    /// Its size in points.
    pub(crate) window: WindowSize,
    /// Physical pixels of a point.
    pub(crate) scale: f32,
    /// The terminal's font.
    pub(crate) font: FontChoice,
    /// The sidebar's width, from when the person chose it until the daemon says it.
    pub(crate) sidebar: Option<f32>,
    /// Its width while it is being dragged.
    pub(crate) dragged: Option<f32>,
    /// How far the sidebar and the strip are scrolled.
    pub(crate) scrolled: (Option<f32>, Option<f32>),
    /// Where the mouse is.
    pub(crate) hover: Option<Point>,
    /// Where what is dragged would go.
    pub(crate) drop: Option<Drop>,
    /// What an input method shows.
    pub(crate) preedit: Preedit,
    /// Messages at the edge.
    pub(crate) toasts: Vec<Toast>,
    /// A key was refused just now.
    pub(crate) is_flashing: bool,
    /// Whether the window has the keyboard.
    pub(crate) has_focus: bool,
    /// Where the menu was asked for, in points.
    pub(crate) menu_at: Point,
    /// The part of a terminal that the person went to, in copy mode.
    pub(crate) pan: Option<(u64, (u16, u16))>,
    /// How far what a question is about is scrolled.
    pub(crate) asked_scroll: f32,
    /// Seconds that the clock here is ahead of UTC.
    pub(crate) utc_offset: i32,
}

/// Everything that is visible.
pub(crate) fn scene(app: &App, cx: &Cx<'_>, own: &Own, rows: &mut Rows) -> Scene {
    let shown = cx.picture.scene();
    let theme = theme(shown.theme.as_ref());
    let mut scene = Scene::new(theme);
    scene.window = own.window;
    scene.scale = own.scale;
    scene.font = own.font.clone();
    scene.title = shown.title.as_deref().map(line).unwrap_or_default();
    scene.sidebar = sidebar(app, cx, own);
    scene.strip = strip(app, cx, own);
    scene.stage = stage(app, cx, own, rows, &scene.theme);
    scene.status = status(app, cx, own);
    scene.palette = palette(app, shown, own);
    let waiting = shown.status.as_ref().map_or(0, |status| status.waiting);
    scene.inbox = Inbox { count: Some(waiting as usize), ..Inbox::default() };
    scene.dialog = dialog(app, shown, own);
    scene.menu = app.menu.as_ref().map(|menu| self::menu(app, menu, own.menu_at));
    scene.lost = app.lost.as_ref().map(|lost| Lost {
        trying: match lost.stopping {
            true => "it was stopped".to_owned(),
            false => format!("connecting again, away {} s", lost.away(cx.now)),
        },
        unsent: lost.unsure_line().unwrap_or_default(),
        note: app.note.as_ref().map(|(_, text)| line(text)).unwrap_or_default(),
        can_start: true,
    });
    scene.drop = own.drop;
    scene.hover = own.hover;
    scene.now = cx.wall;
    scene.utc_offset = own.utc_offset;
    scene
}

/// Messages at the edge: those of the daemon, then the window's own.
pub(crate) fn toasts(shown: &link::Scene, own: &Own) -> Vec<Toast> {
    let sent = shown.toasts.iter().flatten().map(toast);
    sent.chain(own.toasts.iter().cloned()).collect()
}

/// Colors of the link as a theme; the usual one before any came.
pub(crate) fn theme(sent: Option<&link::Theme>) -> Theme {
    let mut theme = Theme::fallback();
    let Some(sent) = sent.filter(|sent| sent.named.len() >= 16) else { return theme };
    theme.name.clone_from(&sent.name);
    let palette = &mut theme.palette;
    palette.foreground = sent.foreground.0;
    palette.background = sent.background.0;
    palette.cursor = sent.cursor.0;
    // A theme without a color for this is sent with that of text.
    palette.selection = Some(sent.selection.0).filter(|it| *it != sent.foreground.0);
    for (to, from) in palette.named.iter_mut().zip(&sent.named) {
        *to = from.0;
    }
    theme
}

fn sidebar(app: &App, cx: &Cx<'_>, own: &Own) -> Sidebar {
    let Some(sent) = &cx.picture.scene().sidebar else {
        return Sidebar { is_collapsed: true, ..Sidebar::default() };
    };
    let focused = App::focused(cx);
    let thread = match App::page(cx) {
        Page::Thread { thread } => Some(thread),
        _ => None,
    };
    let agent = |agent: &link::Agent| AgentRow {
        tab: agent.terminal.map(TerminalId::new),
        thread: agent.thread.clone(),
        name: line(&agent.name),
        mood: agent.mood.into(),
        status_text: line(&agent.status),
        time_text: age(agent.at, cx.wall),
        is_active: match (agent.terminal, &agent.thread) {
            (Some(terminal), _) => focused == Some(terminal),
            (None, Some(id)) => thread.as_ref() == Some(id),
            (None, None) => false,
        },
    };
    let project = |project: &link::Project| ProjectRow {
        id: ProjectId::new(project.id),
        name: line(&project.name),
        is_active: project.active,
        branch: project.branch.as_deref().map(line).unwrap_or_default(),
        mood: project.mood.into(),
        waiting: project.waiting,
        has_badge: project.badge,
        rename: renamed(app, own, project.rename.as_ref()),
        agents: Vec::new(),
    };
    // In the order in which keys walk through them, those that are found if some are looked for.
    let (mut projects, mut elsewhere) = (Vec::<ProjectRow>::new(), None::<Vec<AgentRow>>);
    for row in app.sidebar_rows(sent) {
        match row {
            SidebarRow::Project(row) => projects.push(project(row)),
            SidebarRow::Elsewhere => elsewhere = Some(Vec::new()),
            SidebarRow::Agent(row) => {
                let above = projects.last_mut().map(|above| &mut above.agents);
                if let Some(rows) = elsewhere.as_mut().or(above) {
                    rows.push(agent(row));
                }
            }
        }
    }
    let filter = app.pages.sidebar.filter.as_ref().filter(|_| app.sidebar.is_some());
    let usual = scene::layout::SIDEBAR_WIDTH;
    let bounds = scene::layout::SIDEBAR_BOUNDS;
    // The daemon may keep a width in columns; that of a terminal is of no use here.
    let sent_width = if sent.width >= bounds.0 { sent.width } else { usual };
    let is_narrow = |width: &f32| *width < bounds.0 / 2.0;
    let dragged = own.dragged.filter(|width| !is_narrow(width));
    Sidebar {
        is_collapsed: own.dragged.map_or(sent.collapsed, |width| is_narrow(&width)),
        width: dragged.or(own.sidebar).unwrap_or(sent_width),
        projects,
        elsewhere: elsewhere.unwrap_or_default(),
        filter: filter.map(|typed| field(own, typed, app.pages.sidebar.filtering)),
        are_agents_visible: !sent.agents_hidden,
        chosen: chosen(app, sent),
        scroll: own.scrolled.0,
    }
}

/// What was typed of a name that is edited in place.
fn renamed(app: &App, own: &Own, start: Option<&String>) -> Option<Field> {
    let start = Field { preedit: own.preedit.text.clone(), ..Field::of(start?) };
    Some(app.rename.as_ref().map_or(start, |typed| field(own, typed, true)))
}

/// The row of the sidebar that has the keyboard, counted over those that are shown.
fn chosen(app: &App, sent: &link::Sidebar) -> Option<usize> {
    let rows = app.sidebar_rows(sent);
    let at = app.sidebar?.min(rows.len().checked_sub(1)?);
    let is_project = |row: &&SidebarRow<'_>| matches!(row, SidebarRow::Project(_));
    match sent.agents_hidden {
        true => rows[..=at].iter().filter(is_project).count().checked_sub(1),
        false => Some(at),
    }
}

fn strip(app: &App, cx: &Cx<'_>, own: &Own) -> TabStrip {
    let shown = cx.picture.scene();
    let is_workspace = matches!(App::page(cx), Page::Workspace { .. });
    let group = shown.panes.as_ref().and_then(Option::as_ref).map(|panes| panes.group);
    let pill = |it: &link::Group| {
        let tab = it.tabs.iter().find(|tab| tab.id == it.focused).or(it.tabs.first())?;
        let moods = it.tabs.iter().map(|tab| scene::Mood::from(tab.mood));
        Some(Pill {
            id: TerminalId::new(tab.id),
            title: line(&tab.title),
            mood: scene::Mood::loudest(moods),
            has_badge: it.tabs.iter().any(|tab| tab.badge),
            is_active: is_workspace && group == Some(it.id),
            more: it.tabs.len() - 1,
            rename: renamed(app, own, tab.rename.as_ref()),
        })
    };
    let groups = shown.strip.iter().flat_map(|strip| &strip.groups);
    TabStrip { pills: groups.filter_map(pill).collect(), scroll: own.scrolled.1 }
}

fn stage(app: &App, cx: &Cx<'_>, own: &Own, rows: &mut Rows, theme: &Theme) -> Stage {
    if app.pages.new_thread.is_open {
        return Stage::NewThread(pages::new_thread(app, cx, own));
    }
    match App::page(cx) {
        Page::Workspace { .. } | Page::Unknown => match panes(app, cx, own, rows, theme) {
            Some(panes) => Stage::Panes(panes),
            None => Stage::Empty(pages::empty(app, cx)),
        },
        Page::Inbox { .. } => Stage::Inbox(pages::inbox(app, cx, own)),
        Page::Thread { .. } => Stage::Thread(pages::thread(app, own)),
        Page::Review { .. } => Stage::Review(pages::review(app, own)),
        Page::Checkpoints { .. } if app.pages.review.is_checkpoint() => {
            Stage::Review(pages::review(app, own))
        }
        Page::Settings => Stage::Settings(pages::settings(app, cx, own)),
        Page::Help => Stage::Help(pages::help(app, own)),
        page => Stage::List(pages::list(app, &page, cx, own)),
    }
}

fn panes(app: &App, cx: &Cx<'_>, own: &Own, rows: &mut Rows, theme: &Theme) -> Option<Panes> {
    let shown = cx.picture.scene();
    let panes = shown.panes.as_ref().and_then(Option::as_ref)?;
    let groups = shown.strip.iter().flat_map(|strip| &strip.groups);
    let group = groups.into_iter().find(|group| group.id == panes.group);
    let count = group.map_or(1, |group| group.tabs.len());
    let types = app.is_typing_into_program(cx) && own.has_focus;
    let pane = |area: &link::Area| {
        let term = cx.picture.term(area.t)?;
        let is_focused = area.t == panes.focused;
        let find = app.find.as_ref().filter(|find| find.terminal == area.t);
        let copy = app.copy.as_ref().filter(|copy| copy.terminal == area.t).map(|copy| copy.at);
        let has_preedit = is_focused && app.is_typing_into_program(cx);
        let touched = Touched {
            selection: app.selection.filter(|selection| selection.terminal == area.t),
            find,
            copy,
            hover: app.hover,
            has_keyboard: is_focused && types,
            preedit: Some(&own.preedit).filter(|it| has_preedit && !it.text.is_empty()),
        };
        let grid = Arc::new(rows.grid(area.t, term, theme, &touched));
        let rect = tile::Rect { col: area.col, row: area.row, cols: area.cols, rows: area.rows };
        let tab = group.and_then(|group| group.tabs.iter().find(|tab| tab.id == area.t));
        Some(Pane {
            is_focused,
            pan: own.pan.filter(|(terminal, _)| *terminal == area.t).map(|(_, part)| part),
            title: tab.map(|tab| line(&tab.title)).unwrap_or_default(),
            mood: tab.map(|tab| tab.mood.into()).unwrap_or_default(),
            find: find.map(|find| find_bar(own, find)),
            new_rows: app.new_rows(area.t, term.view().first),
            ended: term.ended().map(ended),
            ..Pane::new(TerminalId::new(area.t), Some(rect), grid)
        })
    };
    let made: Vec<Pane> = panes.areas.iter().filter_map(pane).collect();
    // While a terminal is on its way the last picture of the rest is shown.
    (!panes.areas.is_empty()).then_some(Panes {
        panes: made,
        is_group: count > 1,
        is_zoomed: panes.zoomed,
    })
}

fn find_bar(own: &Own, find: &rookery_face::app::FindBar) -> scene::FindBar {
    scene::FindBar {
        field: field(own, &find.field, true),
        count: if find.field.is_empty() { String::new() } else { find.count() },
        is_regex: find.regex,
        is_exact_case: find.exact_case,
        error: String::new(),
    }
}

/// A field of the state machine as one of the scene. What an input method shows is in the one that has
/// the keyboard.
pub(crate) fn field(own: &Own, field: &rookery_face::app::Field, has_keyboard: bool) -> Field {
    let preedit = if has_keyboard { own.preedit.text.clone() } else { String::new() };
    Field { cursor: field.cursor(), has_keyboard, preedit, ..Field::of(field.text()) }
}

fn ended(ended: &link::Ended) -> String {
    match (ended.code, ended.signal) {
        (Some(code), _) => format!("ended with {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// A font that was chosen and is not there.
fn missing_font(family: &str) -> Option<(link::Tone, String)> {
    let is_there = family.is_empty() || rookery_paint::has_font(family);
    let says = || {
        let family = line(family);
        format!("font {family:?} is not installed; the built-in one is shown in its place")
    };
    (!is_there).then(|| (link::Tone::Warn, says()))
}

fn status(app: &App, cx: &Cx<'_>, own: &Own) -> StatusLine {
    let shown = cx.picture.scene();
    let sent = shown.status.clone().unwrap_or_default();
    let key = |action: &str| app.keymap.keys_of(action).first().map(ToString::to_string);
    let said = app.note.clone().or_else(|| sent.message.map(|it| (it.tone, it.text)));
    let message = said.or_else(|| missing_font(&own.font.family));
    let term = App::focused(cx).and_then(|t| cx.picture.term(t));
    let other = term.and_then(|term| term.owner()).filter(|owner| !owner.mine);
    StatusLine {
        help_key: key("help").unwrap_or_default(),
        waiting: sent.waiting,
        inbox_key: key("open_inbox").unwrap_or_default(),
        palette_key: key("command_palette").unwrap_or_default(),
        message: message.map(|(tone, text)| (tone_of(tone), line(&text))),
        place: shown.title.as_deref().map(line).unwrap_or_default(),
        size: term.map(|it| format!("{}×{}", it.size().cols, it.size().rows)).unwrap_or_default(),
        owner: other.map(|owner| line(&owner.name)),
        mode: line(&sent.mode),
        rights: app.rights.word().to_owned(),
        is_flashing: own.is_flashing,
    }
}

fn tone_of(tone: link::Tone) -> scene::Tone {
    match tone {
        link::Tone::Info => scene::Tone::Info,
        link::Tone::Warn => scene::Tone::Warn,
        link::Tone::Error => scene::Tone::Error,
    }
}

fn palette(app: &App, shown: &link::Scene, own: &Own) -> Option<PaletteOverlay> {
    let open = shown.palette.as_ref()?.as_ref()?;
    let row = |(index, row): (usize, &link::PaletteRow)| PaletteRow {
        id: row.id.clone(),
        title: line(&row.title),
        subtitle: if row.subtitle.is_empty() {
            row.keys.first().cloned().unwrap_or_else(|| keys_of(app, &row.id))
        } else {
            line(&row.subtitle)
        },
        mood: row.mood.map(scene::Mood::from),
        is_selected: index == open.selected as usize,
        matched: row.matched.iter().map(|at| *at as usize).collect(),
    };
    let typed = app.palette.as_ref().map(|field| field.text().to_owned());
    Some(PaletteOverlay {
        frame: open.frame.clone(),
        placeholder: open.placeholder.clone(),
        query: typed.unwrap_or_else(|| open.query.clone()),
        cursor: app.palette.as_ref().map(rookery_face::app::Field::cursor),
        preedit: own.preedit.text.clone(),
        rows: open.rows.iter().enumerate().map(row).collect(),
    })
}

fn keys_of(app: &App, action: &str) -> String {
    app.keymap.keys_of(action).first().map(ToString::to_string).unwrap_or_default()
}

fn toast(toast: &link::Toast) -> Toast {
    Toast { title: line(&toast.title), body: line(&toast.body), mood: toast.mood.into() }
}

fn dialog(app: &App, shown: &link::Scene, own: &Own) -> Option<Dialog> {
    if let Some(question) = &app.question {
        return Some(asked(question, own));
    }
    let sent = shown.dialog.as_ref()?.as_ref()?;
    Some(Dialog {
        title: line(&sent.title),
        body: line(&sent.body),
        confirm: sent.confirm.clone(),
        cancel: sent.cancel.clone(),
        is_destructive: sent.destructive,
        ..Dialog::default()
    })
}

/// A question of the face itself.
fn asked(question: &Question, own: &Own) -> Dialog {
    let mut labels = question.choices.iter().map(|(_, word)| capitalized(word));
    let (body, confirm) = match labels.next() {
        None => ("Enter is yes, Esc is no.".to_owned(), "Yes".to_owned()),
        Some(first) => (question.hint(), first),
    };
    Dialog {
        title: question.title.clone(),
        body,
        lines: question.lines.iter().map(|line| bounded(line)).collect(),
        scroll: own.asked_scroll,
        field: question.field.as_ref().map(|typed| field(own, typed, true)),
        confirm,
        others: labels.collect(),
        cancel: "No".to_owned(),
        is_destructive: false,
    }
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A line that can be laid out at once; of a longer one it is said how much is left out.
fn bounded(line: &str) -> String {
    match line.char_indices().nth(MOST_ASKED) {
        None => line.to_owned(),
        Some((at, _)) => {
            let more = line[at..].chars().count();
            format!("{} … and {more} characters more on this line", &line[..at])
        }
    }
}

fn menu(app: &App, menu: &rookery_face::app::Menu, at: Point) -> Menu {
    let row = |(title, choice): &(String, Choice)| {
        let action = match choice {
            Choice::Action(action) => Some(*action),
            _ => None,
        };
        MenuRow {
            title: title.clone(),
            key: action.map(|action| keys_of(app, action)).unwrap_or_default(),
            is_disabled: false,
            is_destructive: action.is_some_and(|action| action.starts_with("close")),
        }
    };
    Menu { at, rows: menu.rows.iter().map(row).collect(), selected: Some(menu.selected) }
}
