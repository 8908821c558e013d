//! Core events as this dialect says them: each is one event on the wire or none.

use rookery_model as model;

use crate::{
    convert::{lifecycle, ownership, path, project, shell_state, state, tab},
    wire::{
        Int64,
        events::{
            ActiveChanged, AgentReportChanged, Event, HookActiveChanged, NotificationFired,
            ProjectCreated, ProjectDeleted, ProjectRenamed, TabClosed, TabCwdChanged,
            TabNotification, TabOpened, TabStateChanged, TabTitleChanged,
        },
    },
};

/// The event as it goes over the wire, if this dialect has a word for it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the events of this dialect are a closed list: a new kind is not told here"
)]
pub(crate) fn to_wire(event: &model::Event) -> Option<Event> {
    use model::Event as E;
    Some(match event {
        E::ProjectCreated(it) => {
            Event::ProjectCreated(ProjectCreated { project: project(it, Vec::new()) })
        }
        E::ProjectRenamed { id, name } => {
            Event::ProjectRenamed(ProjectRenamed { project_id: (*id).into(), name: name.clone() })
        }
        E::ProjectDeleted { id } => {
            Event::ProjectDeleted(ProjectDeleted { project_id: (*id).into() })
        }
        E::TerminalOpened { terminal, is_active } => {
            Event::TabOpened(TabOpened { tab: tab(terminal, *is_active) })
        }
        E::TerminalTitleChanged { id, title } => {
            Event::TabTitleChanged(TabTitleChanged { tab_id: (*id).into(), title: title.clone() })
        }
        E::TerminalCwdChanged { id, cwd } => {
            Event::TabCwdChanged(TabCwdChanged { tab_id: (*id).into(), cwd: path(cwd) })
        }
        // A tab ends with its child; what is kept of the terminal afterwards is no tab.
        E::TerminalClosed { id, was_alive: true } | E::TerminalExited { id, .. } => {
            Event::TabClosed(TabClosed { tab_id: (*id).into() })
        }
        E::ActiveChanged { project, terminal } => Event::ActiveChanged(ActiveChanged {
            project_id: project.map_or(Int64(0), Into::into),
            tab_id: terminal.map_or(Int64(0), Into::into),
        }),
        E::TerminalStateChanged { id, state: it } => {
            Event::TabStateChanged(TabStateChanged { tab_id: (*id).into(), state: state(*it) })
        }
        E::TerminalHooked { id, is_hooked } => {
            Event::HookActiveChanged(HookActiveChanged { tab_id: (*id).into(), active: *is_hooked })
        }
        E::AgentReported { id, activity } => reported(*id, activity),
        E::TerminalAttention { id, is_pending } => Event::TabNotification(TabNotification {
            tab_id: (*id).into(),
            has_pending: *is_pending,
        }),
        E::TerminalNotified { id, text, .. } => Event::NotificationFired(NotificationFired {
            tab_id: (*id).into(),
            title: text.title.clone(),
            body: text.body.clone(),
        }),
        _ => return None,
    })
}

fn reported(id: model::TerminalId, activity: &model::Activity) -> Event {
    Event::AgentReportChanged(AgentReportChanged {
        tab_id: id.into(),
        shell_state: shell_state(activity.shell),
        agent_lifecycle: lifecycle(activity.lifecycle),
        ownership: activity.owner.as_ref().map(ownership),
        state: state(activity.state()),
        hook_active: activity.is_hooked(),
    })
}
