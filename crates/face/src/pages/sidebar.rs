//! Walking through the sidebar by keys.

use rookery_term::keys::{KeyPress, Special};
use rookery_view::link::{Page, Project, Sidebar};

use crate::app::{App, Cx, is, plain_char};

/// A row of the sidebar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    Project(&'a Project),
    /// An agent or thread of it.
    Agent(&'a rookery_view::link::Agent),
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

impl App {
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
        let rows = rows(sidebar);
        let at = self.sidebar.unwrap_or(0).min(rows.len().saturating_sub(1));
        let page = usize::from(self.size.1 / 2);
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
                None => {}
            }
        }
        match plain_char(press) {
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
