//! Walking through the sidebar by keys.

use rookery_term::keys::{KeyPress, Special};
use rookery_view::link::{Agent, Page, Project, Sidebar};

use crate::app::{App, Cx, Edited, Field, is, plain_char};
use crate::words::line;

/// A row of the sidebar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    Project(&'a Project),
    /// An agent or thread of it.
    Agent(&'a Agent),
    /// What follows is in no project.
    Elsewhere,
}

/// The filter of the sidebar, while the keyboard is there.
#[derive(Debug, Default)]
pub struct SidebarPage {
    pub filter: Option<Field>,
    /// Whether letters go into it.
    pub filtering: bool,
}

/// Every row, in order: projects, below each what waits first.
pub fn rows(sidebar: &Sidebar) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for project in &sidebar.projects {
        rows.push(Row::Project(project));
        let mut agents: Vec<_> = project.agents.iter().collect();
        agents.sort_by_key(|agent| agent.waiting == 0);
        rows.extend(agents.into_iter().map(Row::Agent));
    }
    rows
}

/// The same with what is in no project.
fn all(sidebar: &Sidebar) -> Vec<Row<'_>> {
    let mut rows = rows(sidebar);
    if !sidebar.threads.is_empty() {
        rows.push(Row::Elsewhere);
        rows.extend(sidebar.threads.iter().map(Row::Agent));
    }
    rows
}

/// Those rows in which a text is read; a project stays with what is found below it.
fn found<'a>(sidebar: &'a Sidebar, query: &str) -> Vec<Row<'a>> {
    let query = query.to_lowercase();
    let reads = |text: &str| line(text).to_lowercase().contains(&query);
    let mut kept: Vec<Row<'a>> = Vec::new();
    // The project of the rows that follow, until one of them is found; whether it was found itself.
    let (mut above, mut is_all) = (None, false);
    for row in all(sidebar) {
        match &row {
            Row::Project(project) => {
                is_all = reads(&project.name) || project.branch.as_deref().is_some_and(reads);
                above = Some(row);
            }
            Row::Elsewhere => (above, is_all) = (Some(row), false),
            Row::Agent(agent) if is_all || reads(&agent.name) || reads(&agent.status) => {
                kept.extend(above.take());
                kept.push(row);
            }
            Row::Agent(_) => {}
        }
        if is_all {
            kept.extend(above.take());
        }
    }
    kept
}

impl App {
    /// The rows that are shown: those that are found, while the keyboard is there and filters.
    pub fn sidebar_rows<'a>(&self, sidebar: &'a Sidebar) -> Vec<Row<'a>> {
        let filter = self.pages.sidebar.filter.as_ref().filter(|_| self.sidebar.is_some());
        match filter.filter(|field| !field.is_empty()) {
            Some(field) => found(sidebar, field.text()),
            None => all(sidebar),
        }
    }

    /// The row of the project that is shown.
    pub(crate) fn active_sidebar_row(&self, cx: &Cx<'_>) -> usize {
        let Some(sidebar) = &cx.picture.scene().sidebar else { return 0 };
        let active = |row: &Row<'_>| matches!(row, Row::Project(project) if project.active);
        rows(sidebar).iter().position(active).unwrap_or(0)
    }

    pub(crate) fn sidebar_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        let Some(sidebar) = &cx.picture.scene().sidebar else {
            self.sidebar = None;
            return;
        };
        let page = &mut self.pages.sidebar;
        if page.filtering
            && let Some(field) = &mut page.filter
        {
            if is(press, Special::Enter) || is(press, Special::Escape) {
                page.filtering = false;
                if is(press, Special::Escape) || field.is_empty() {
                    page.filter = None;
                }
                return;
            }
            if field.key(press) == Edited::Yes {
                self.sidebar = Some(0);
                return;
            }
        }
        let rows = self.sidebar_rows(sidebar);
        let at = self.sidebar.unwrap_or(0).min(rows.len().saturating_sub(1));
        let page = usize::from(self.size.1 / 2);
        if is(press, Special::Escape) && self.pages.sidebar.filter.take().is_some() {
            return;
        }
        if is(press, Special::Escape) || plain_char(press) == Some('q') {
            self.sidebar = None;
            return;
        }
        if let Some(to) = super::keys::moved(press, at, rows.len(), page) {
            self.sidebar = Some(to);
            return;
        }
        if let Some(digit) = plain_char(press).filter(|c| ('1'..='9').contains(c)) {
            self.sidebar = None;
            return self.run(cx, &format!("switch_project_{digit}"));
        }
        if is(press, Special::Enter) {
            self.sidebar = None;
            match rows.get(at) {
                Some(Row::Project(project)) => {
                    self.go_to_project(cx, project.id);
                }
                Some(Row::Agent(agent)) => match (agent.terminal, &agent.thread) {
                    (Some(t), _) => self.go(Page::Workspace { terminal: Some(t) }),
                    (None, Some(thread)) => self.go(Page::Thread { thread: thread.clone() }),
                    (None, None) => {}
                },
                Some(Row::Elsewhere) | None => {}
            }
        }
        match plain_char(press) {
            Some('/') if !self.around.is_window => {
                self.pages.sidebar.filter.get_or_insert_default();
                self.pages.sidebar.filtering = true;
            }
            Some('n') => {
                self.sidebar = None;
                self.run(cx, "new_project");
            }
            Some('r') => {
                if let Some(Row::Project(project)) = rows.get(at) {
                    self.sidebar = None;
                    if project.active || self.go_to_project(cx, project.id) {
                        self.run(cx, "rename_project");
                    }
                }
            }
            _ => {}
        }
    }
}
