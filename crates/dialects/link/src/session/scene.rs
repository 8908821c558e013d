//! The parts of a scene as one viewer has them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use rookery_core::{Core, Session as Home, SessionHome, Tabs, ThreadQuery, ThreadView, Viewer};
use rookery_model::Words as _;
use rookery_model::{
    Category, ProjectId, QueueItem, Related, Request, SessionId, Terminal, TerminalId, ViewerId,
};
use rookery_term::Palette as Colors;
use rookery_view::inbox;
use rookery_view::link::{self, Hex, Mood, Moods, bound};
use rookery_view::palette::agents;
use rookery_view::scene::{self, ACCENT};

use super::Session;
use crate::ids::{millis, shown_page};
use crate::make;

/// Threads below projects in the sidebar.
const MOST_THREADS: usize = 100;

/// Directories in which changed files are counted.
const MOST_DIRS: usize = 32;

/// Which mood a project has of those below it, threads among them.
const LOUDEST: [Mood; 4] = [Mood::Failed, Mood::Waiting, Mood::Working, Mood::Done];

/// Every part, or what a hidden viewer gets of them.
pub(crate) fn make(core: &Core, session: &Session, id: ViewerId) -> link::Scene {
    let Ok(viewer) = core.seats().viewer(id) else { return link::Scene::default() };
    core.requests().with_queue(|requests, items| {
        make_of(core, &viewer, &Made::new(core, session, &viewer, requests, items))
    })
}

fn make_of(core: &Core, viewer: &Viewer, made: &Made<'_>) -> link::Scene {
    if !viewer.is_visible {
        return link::Scene { status: Some(made.status()), ..link::Scene::default() };
    }
    let seats = core.seats().of(viewer.id);
    let around = seats.scene_around_terminals();
    let place = seats.place();
    link::Scene {
        page: Some(shown_page(&viewer.page, place.terminal)),
        title: Some(make::line(&around.title)),
        status: Some(made.status()),
        theme: Some(theme(core, &around.font)),
        sidebar: Some(made.sidebar(&around.sidebar)),
        strip: Some(made.strip(place.project, place.terminal, &around.strip)),
        panes: Some(panes(core, viewer, place.terminal)),
        palette: Some(around.palette.as_ref().map(|open| made.palette(open))),
        inbox: Some(made.inbox()),
        dialog: Some(around.dialog.as_ref().map(dialog)),
        toasts: Some(around.toasts.iter().map(toast).collect()),
        chosen: Some(super::chosen::chosen(core, made.session, viewer.face)),
    }
}

/// Names of others are in it.
fn dialog(asked: &scene::Dialog) -> link::Dialog {
    let dialog = link::Dialog::from(asked);
    link::Dialog { title: make::line(&dialog.title), body: make::line(&dialog.body), ..dialog }
}

/// Programs say what is in it.
fn toast(shown: &scene::Toast) -> link::Toast {
    let toast = link::Toast::from(shown);
    link::Toast { title: make::line(&toast.title), body: make::line(&toast.body), ..toast }
}

/// The world as one scene is made of it.
struct Made<'a> {
    core: &'a Core,
    session: &'a Session,
    viewer: &'a Viewer,
    tree: Vec<Tabs>,
    threads: Vec<ThreadView>,
    ends: make::Ends,
    /// Requests that a person is waited for with.
    requests: Vec<&'a Request>,
    /// What asks for attention, as of the same moment.
    items: &'a [&'a QueueItem],
    /// Requests that wait, by where they do.
    waiting: HashMap<SessionHome, u32>,
}

impl<'a> Made<'a> {
    fn new(
        core: &'a Core,
        session: &'a Session,
        viewer: &'a Viewer,
        requests: &[&'a Request],
        items: &'a [&'a QueueItem],
    ) -> Made<'a> {
        let query = ThreadQuery { limit: MOST_THREADS, ..ThreadQuery::default() };
        let asked = requests.iter().copied().filter(|request| inbox::asks_person(request));
        let requests: Vec<&Request> = asked.collect();
        let mut waiting = HashMap::new();
        for request in &requests {
            let home = match request.thread() {
                Some(thread) => Some(SessionHome::Thread(thread)),
                None => request.session().and_then(|id| core.sessions().get(id)).map(|it| it.home),
            };
            if let Some(home) = home {
                *waiting.entry(home).or_insert(0) += 1;
            }
        }
        Made {
            core,
            session,
            viewer,
            tree: core.workspace().tree().projects,
            threads: core.threads().list(&query).threads,
            ends: make::Ends::new(core),
            requests,
            items,
            waiting,
        }
    }

    fn waits_in(&self, home: SessionHome) -> u32 {
        self.waiting.get(&home).copied().unwrap_or(0)
    }

    fn status(&self) -> link::Status {
        let (viewers, desk) = self.core.seats().viewers();
        let rows = viewers.iter().map(|viewer| link::ViewerRow {
            name: viewer.name.clone(),
            face: make::face(viewer.face),
            is_desk: desk == Some(viewer.id),
        });
        link::Status {
            moods: self.moods(),
            waiting: u32::try_from(self.requests.len()).unwrap_or(u32::MAX),
            viewers: rows.collect(),
            read_only: self.viewer.rights < rookery_core::ViewerRights::Full,
            mode: self.core.threads().mode(None).word().to_owned(),
            web: self.core.seats().web(),
            message: self.session.look(|state| state.message.clone()),
        }
    }

    fn moods(&self) -> Moods<u32> {
        let mut moods = Moods::default();
        let tabs = self.tree.iter().flat_map(|tabs| &tabs.tabs);
        let threads = self.threads.iter().map(|seen| make::thread_mood(seen, &self.ends));
        for one in tabs.map(mood).chain(threads) {
            *match one {
                Mood::Waiting => &mut moods.waiting,
                Mood::Failed => &mut moods.failed,
                Mood::Working => &mut moods.working,
                Mood::Done => &mut moods.done,
                Mood::Quiet => &mut moods.quiet,
            } += 1;
        }
        moods
    }

    fn sidebar(&self, sidebar: &scene::Sidebar) -> link::Sidebar {
        let projects = self.tree.iter().zip(&sidebar.projects).map(|(tabs, row)| {
            let at = |id: TerminalId| tabs.tabs.iter().find(|tab| tab.id == id);
            let here = row.agents.iter().filter_map(|agent| Some((agent.tab?, agent)));
            let terminals = here.map(|(tab, agent)| link::Agent {
                terminal: Some(tab.get()),
                name: make::line(&agent.name),
                mood: agent.mood.into(),
                status: make::line(&agent.status_text),
                at: at(tab)
                    .and_then(|tab| Some(millis(tab.activity.owner.as_ref()?.last_event_at)))
                    .unwrap_or(0),
                waiting: self.waits_in(SessionHome::Terminal(tab)),
                changes: at(tab).and_then(|tab| self.changes(tab.cwd())),
                ..link::Agent::default()
            });
            let here =
                self.threads.iter().filter(|seen| self.project_of(seen) == Some(tabs.project.id));
            let threads = here.map(|seen| self.thread_row(seen));
            let mut agents: Vec<link::Agent> = terminals.chain(threads).collect();
            agents.sort_by_key(|agent| std::cmp::Reverse(agent.waiting > 0));
            let waits = tabs.tabs.iter().map(|tab| self.waits_in(SessionHome::Terminal(tab.id)));
            let asked: u32 =
                agents.iter().filter(|it| it.thread.is_some()).map(|it| it.waiting).sum();
            let own: Mood = row.mood.into();
            let is_below = |mood: &Mood| agents.iter().any(|agent| agent.mood == *mood);
            let loudest = LOUDEST.into_iter().find(|mood| *mood == own || is_below(mood));
            link::Project {
                id: tabs.project.id.get(),
                name: make::line(&row.name),
                root: make::line(&tabs.project.root.to_string_lossy()),
                branch: self.branch(&tabs.project.root),
                mood: loudest.unwrap_or_default(),
                badge: row.has_badge,
                active: row.is_active,
                waiting: waits.sum::<u32>() + asked,
                rename: row.rename.as_ref().map(|field| make::line(&field.text)),
                agents,
            }
        });
        let elsewhere = self.threads.iter().filter(|seen| self.project_of(seen).is_none());
        link::Sidebar {
            collapsed: sidebar.is_collapsed,
            width: sidebar.width,
            agents_hidden: !sidebar.are_agents_visible,
            projects: projects.collect(),
            threads: elsewhere.map(|seen| self.thread_row(seen)).collect(),
        }
    }

    fn branch(&self, root: &std::path::Path) -> Option<String> {
        let branch = self.session.look(|state| state.branches.of(root));
        branch.map(|branch| make::line(&branch))
    }

    /// How many files differ where someone works.
    fn changes(&self, dir: &std::path::Path) -> Option<u32> {
        self.session.look(|state| state.changes.of(dir))
    }

    /// The project whose directory a thread works in; the innermost.
    fn project_of(&self, seen: &ThreadView) -> Option<ProjectId> {
        let around =
            self.tree.iter().filter(|tabs| seen.thread.cwd.starts_with(&tabs.project.root));
        around.max_by_key(|tabs| tabs.project.root.components().count()).map(|it| it.project.id)
    }

    fn thread_row(&self, seen: &ThreadView) -> link::Agent {
        link::Agent {
            thread: Some(seen.thread.id.to_string()),
            name: make::thread_title(&seen.thread),
            mood: make::thread_mood(seen, &self.ends),
            status: make::thread_status(seen, &self.ends).to_owned(),
            at: millis(seen.thread.updated_at),
            waiting: self.waits_in(SessionHome::Thread(seen.thread.id)),
            changes: self.changes(&seen.thread.cwd),
            ..link::Agent::default()
        }
    }

    fn strip(
        &self,
        project: Option<ProjectId>,
        focused: Option<TerminalId>,
        strip: &scene::TabStrip,
    ) -> link::Strip {
        let tab = |id: TerminalId| {
            let pill = strip.pills.iter().find(|pill| pill.id == id)?;
            Some(link::Tab {
                id: id.get(),
                title: make::line(&pill.title),
                mood: pill.mood.into(),
                badge: pill.has_badge,
                rename: pill.rename.as_ref().map(|field| make::line(&field.text)),
            })
        };
        let groups = project.map(|id| self.core.workspace().groups(id)).unwrap_or_default();
        let here = self.tree.iter().find(|tabs| Some(tabs.project.id) == project);
        // As actions go to a group: to the pane that was active last.
        let last_active = |group: &[TerminalId]| {
            let tabs = here.iter().flat_map(|tabs| &tabs.tabs);
            let tabs = tabs.filter(|tab| group.contains(&tab.id));
            tabs.max_by_key(|tab| tab.last_active).map(|tab| tab.id)
        };
        let groups = groups.into_iter().filter_map(|group| {
            let first = *group.tabs.first()?;
            let shown = focused.filter(|id| group.tabs.contains(id));
            let focused = shown.or_else(|| last_active(&group.tabs)).unwrap_or(first);
            let tabs = group.tabs.into_iter().filter_map(tab).collect();
            Some(link::Group { id: first.get(), tabs, focused: focused.get() })
        });
        link::Strip { project: project.map(ProjectId::get), groups: groups.collect() }
    }

    fn palette(&self, open: &scene::PaletteOverlay) -> link::Palette {
        let mut palette = link::Palette::from(open);
        palette.placeholder = make::line(&palette.placeholder);
        for row in &mut palette.rows {
            // What the query matched is counted in characters of the title as it is.
            let title = make::line(&row.title);
            if title.chars().count() != row.title.chars().count() {
                row.matched.clear();
            }
            (row.title, row.subtitle) = (title, make::line(&row.subtitle));
        }
        palette
    }

    fn inbox(&self) -> link::Inbox {
        let window = self.session.look(|state| state.inbox.clone());
        let mut categories: BTreeMap<Category, u32> = BTreeMap::new();
        for item in self.items {
            *categories.entry(item.category).or_insert(0) += 1;
        }
        let is_wanted = |item: &&QueueItem| window.all || waits(item.category);
        let wanted: Vec<&QueueItem> = self.items.iter().copied().filter(is_wanted).collect();
        let (first, count) = (window.from as usize, window.count.min(bound::INBOX_ROWS) as usize);
        let (total, rows) = if window.query.is_empty() {
            let rows = wanted.iter().skip(first).take(count);
            (wanted.len(), rows.map(|item| self.inbox_row(item)).collect())
        } else {
            let query = window.query.to_lowercase();
            let mut found: Vec<link::InboxRow> = wanted
                .iter()
                .map(|item| self.inbox_row(item))
                .filter(|row| row.reads(&query))
                .collect();
            let total = found.len();
            found.drain(..first.min(total));
            found.truncate(count);
            (total, found)
        };
        link::Inbox {
            total: u32::try_from(total).unwrap_or(u32::MAX),
            categories: categories
                .into_iter()
                .map(|(category, count)| (inbox::category(category).to_owned(), count))
                .collect(),
            from: window.from,
            rows,
        }
    }

    fn inbox_row(&self, item: &QueueItem) -> link::InboxRow {
        let request = match item.related {
            Some(Related::Request(id)) => {
                self.requests.iter().copied().find(|request| request.id == id)
            }
            _ => None,
        };
        let title = item.session.map_or_else(String::new, |id| title_of(self.core, id));
        let row = inbox::Item { item, request }.row(&title);
        link::InboxRow {
            terminal: item.session.and_then(|id| terminal_of(self.core, id)),
            title: make::line(&row.title),
            subtitle: make::line(&row.subtitle),
            ..row
        }
    }
}

/// The directories in which agents and threads work that the sidebar lists, as many as are looked at.
pub(crate) fn work_dirs(core: &Core) -> Vec<PathBuf> {
    let query = ThreadQuery { limit: MOST_THREADS, ..ThreadQuery::default() };
    let threads = core.threads().list(&query).threads.into_iter().map(|seen| seen.thread.cwd);
    let projects = core.workspace().tree().projects;
    let tabs = projects.iter().flat_map(|tabs| &tabs.tabs);
    let agents = tabs.filter(|tab| tab.activity.owner.is_some()).map(|tab| tab.cwd().to_owned());
    let dirs: BTreeSet<PathBuf> = agents.chain(threads).collect();
    dirs.into_iter().take(MOST_DIRS).collect()
}

/// What a session is called.
pub(crate) fn title_of(core: &Core, session: SessionId) -> String {
    core.sessions().get(session).map_or_else(String::new, |Home { title, .. }| make::line(&title))
}

/// The name of the project that a session is in.
pub(crate) fn project_of(core: &Core, session: SessionId) -> Option<String> {
    let session = core.sessions().get(session)?;
    let projects = core.workspace().projects();
    let found = match session.home {
        SessionHome::Terminal(id) => {
            let project = core.terminals().describe(id).ok()?.project;
            projects.iter().find(|it| it.id == project)
        }
        SessionHome::Thread(_) => {
            let around = projects.iter().filter(|it| session.cwd.starts_with(&it.root));
            around.max_by_key(|it| it.root.components().count())
        }
    };
    found.map(|project| make::line(&project.name))
}

/// The terminal that a session runs in, if it does in one.
pub(crate) fn terminal_of(core: &Core, session: SessionId) -> Option<u64> {
    match core.sessions().get(session)?.home {
        SessionHome::Terminal(id) => Some(id.get()),
        SessionHome::Thread(_) => None,
    }
}

/// Whether an item of this kind waits for a person, and is not only good to know.
pub(crate) fn waits(category: Category) -> bool {
    match category {
        Category::ApprovalNeeded
        | Category::ReviewRequested
        | Category::Error
        | Category::Blocked => true,
        Category::Completed | Category::Informational => false,
    }
}

fn mood(tab: &Terminal) -> Mood {
    agents::mood(agents::effective(&tab.activity)).into()
}

fn panes(core: &Core, viewer: &Viewer, focused: Option<TerminalId>) -> Option<link::Panes> {
    let focused = focused.filter(|_| viewer.page == rookery_core::Page::Workspace)?;
    let tree = core.workspace().tree_of(focused);
    let first = tree.terminals().first().copied().unwrap_or(focused.get());
    let project = core.terminals().describe(focused).ok()?.project;
    let groups = core.workspace().groups(project);
    let group = groups.iter().find(|group| group.tabs.contains(&focused));
    Some(link::Panes {
        group: group.and_then(|group| group.tabs.first()).map_or(first, |id| id.get()),
        areas: core.workspace().areas(viewer).into_iter().map(Into::into).collect(),
        tree: Some((&tree).into()),
        focused: focused.get(),
        zoomed: core.seats().of(viewer.id).zoomed().is_some(),
    })
}

fn hex(color: (u8, u8, u8)) -> Hex {
    Hex(color)
}

fn theme(core: &Core, font: &scene::FontChoice) -> link::Theme {
    let (_, theme) = core.seats().settings();
    let light = theme.is_light();
    let Colors { foreground, background, cursor, named, selection, .. } = theme.palette;
    let of = |mood: scene::Mood| mood.color().map_or(hex(foreground), hex);
    link::Theme {
        name: theme.name,
        light,
        background: hex(background),
        foreground: hex(foreground),
        cursor: hex(cursor),
        selection: hex(selection.unwrap_or(foreground)),
        named: named.into_iter().map(hex).collect::<Vec<Hex>>(),
        moods: Moods {
            waiting: of(scene::Mood::Waiting),
            failed: of(scene::Mood::Failed),
            working: of(scene::Mood::Working),
            done: of(scene::Mood::Finished),
            quiet: of(scene::Mood::Inactive),
        },
        accent: hex(ACCENT),
        font: link::Font { family: font.family.clone(), size: font.size },
    }
}
