//! The world's nouns as this dialect writes them.

use std::path::Path;

use rookery_model as model;

use crate::wire::{
    agent::{Lifecycle, Ownership, ShellState},
    project::Project,
    tab::{Tab, TabState},
};

/// A tab; the terminal itself does not know whether it is the active one.
pub(crate) fn tab(terminal: &model::Terminal, is_active: bool) -> Tab {
    let activity = &terminal.activity;
    Tab {
        id: terminal.id.into(),
        project_id: terminal.project.into(),
        title: terminal.title().into_owned(),
        cwd: path(terminal.cwd()),
        state: state(activity.state()),
        has_notification: activity.pending.is_some(),
        is_active,
        user_titled: terminal.user_title.is_some(),
        position: terminal.position,
        created_at: seconds(terminal.created_at),
        last_active: seconds(terminal.last_active),
        hook_active: activity.is_hooked(),
        shell_state: Some(shell_state(activity.shell)),
        agent_lifecycle: Some(lifecycle(activity.lifecycle())),
        ownership: activity.owner.as_ref().map(ownership),
    }
}

/// A project with these tabs.
pub(crate) fn project(project: &model::Project, tabs: Vec<Tab>) -> Project {
    Project {
        id: project.id.into(),
        name: project.name.clone(),
        cwd: path(&project.root),
        position: project.position,
        created_at: seconds(project.created_at),
        tabs,
    }
}

pub(crate) fn ownership(owner: &model::Owner) -> Ownership {
    Ownership {
        source: owner.source.clone(),
        session_id: owner.session.clone(),
        last_event_at: seconds(owner.last_event_at),
        detail: owner.detail.clone(),
        metadata: owner.metadata.clone(),
    }
}

pub(crate) fn state(state: model::RunState) -> TabState {
    match state {
        model::RunState::Quiet => TabState::None,
        model::RunState::Running => TabState::Running,
        model::RunState::NeedsInput => TabState::NeedsInput,
        model::RunState::Idle => TabState::Idle,
    }
}

pub(crate) fn shell_state(state: model::ShellState) -> ShellState {
    match state {
        model::ShellState::Unknown => ShellState::Unknown,
        model::ShellState::AtPrompt => ShellState::AtPrompt,
        model::ShellState::Foreground => ShellState::ForegroundProcess,
    }
}

pub(crate) fn lifecycle(lifecycle: model::Lifecycle) -> Lifecycle {
    match lifecycle {
        model::Lifecycle::Inactive => Lifecycle::Inactive,
        model::Lifecycle::Working => Lifecycle::Working,
        model::Lifecycle::Waiting => Lifecycle::Waiting,
        model::Lifecycle::Finished => Lifecycle::Finished,
        model::Lifecycle::Failed => Lifecycle::Failed,
    }
}

/// A path as text; bytes that are no text are replaced.
pub(crate) fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn seconds(at: model::Timestamp) -> i64 {
    at.as_micros().div_euclid(1_000_000)
}
