//! Teams of core as this dialect shows them.

use rookery_teams as teams;

use crate::context::Cx;
use crate::show;
use crate::wire::team::{
    DisplayMode, MailboxMessage, Member, MemberRole, MemberStatus, MessageKind, Team, TeamTask,
    TeamTaskStatus,
};

pub(crate) fn team(cx: &Cx, team: &teams::Team) -> Team {
    Team {
        id: team.id.to_string(),
        lead_thread_id: team.lead.to_string(),
        display_mode: display(team.display),
        members: team.members.iter().map(|one| member(cx, one)).collect(),
        tasks: team.tasks.iter().map(task).collect(),
    }
}

pub(crate) fn member(cx: &Cx, member: &teams::Member) -> Member {
    Member {
        id: member.id.to_string(),
        role: match member.role {
            teams::Role::Lead => MemberRole::Lead,
            teams::Role::Teammate => MemberRole::Teammate,
        },
        name: member.name.clone(),
        task_name: member.task_name.clone(),
        agent_path: member.agent_path.clone(),
        thread_id: member.thread.to_string(),
        parent_thread_id: member.parent.map(|thread| thread.to_string()),
        current_turn_id: member.turn.map(|turn| turn.to_string()),
        model_provider: member.provider.clone(),
        model: member.model.clone(),
        policy_mode: show::mode(cx, member.mode),
        status: status(member.status),
        final_message: member.final_message.clone(),
        terminal_error: member.terminal_error.clone(),
        pane_id: member.pane.clone(),
    }
}

pub(crate) fn message(team: &teams::Team, message: &teams::Message) -> MailboxMessage {
    MailboxMessage {
        id: message.id.clone(),
        team_id: team.id.to_string(),
        from_member_id: message.from.as_ref().map(ToString::to_string),
        to_member_id: message.to.to_string(),
        kind: match message.kind {
            teams::MessageKind::Message => MessageKind::Message,
            teams::MessageKind::NewTask => MessageKind::NewTask,
            teams::MessageKind::FinalAnswer => MessageKind::FinalAnswer,
        },
        text: message.text.clone(),
        delivered: message.delivered,
        timestamp: show::time(message.at),
    }
}

pub(crate) fn task(task: &teams::TeamTask) -> TeamTask {
    TeamTask {
        id: task.id.clone(),
        title: task.title.clone(),
        status: match task.status {
            teams::TeamTaskStatus::Pending => TeamTaskStatus::Pending,
            teams::TeamTaskStatus::InProgress => TeamTaskStatus::InProgress,
            teams::TeamTaskStatus::Completed => TeamTaskStatus::Completed,
            teams::TeamTaskStatus::Failed => TeamTaskStatus::Failed,
        },
        assignee_member_id: task.assignee.as_ref().map(ToString::to_string),
    }
}

pub(crate) fn status(status: teams::MemberStatus) -> MemberStatus {
    match status {
        teams::MemberStatus::Idle => MemberStatus::Idle,
        teams::MemberStatus::Running => MemberStatus::Running,
        teams::MemberStatus::Blocked => MemberStatus::Blocked,
        teams::MemberStatus::Completed => MemberStatus::Completed,
        teams::MemberStatus::Failed => MemberStatus::Failed,
        teams::MemberStatus::Interrupted => MemberStatus::Interrupted,
        teams::MemberStatus::Closed => MemberStatus::Closed,
    }
}

pub(crate) fn display(display: teams::DisplayMode) -> DisplayMode {
    match display {
        teams::DisplayMode::Auto => DisplayMode::Auto,
        teams::DisplayMode::InProcess => DisplayMode::InProcess,
        teams::DisplayMode::Tmux => DisplayMode::Tmux,
        teams::DisplayMode::Iterm2 => DisplayMode::Iterm2,
    }
}

/// How a client wants to see a team, in core's words.
pub(crate) fn read_display(display: DisplayMode) -> teams::DisplayMode {
    match display {
        DisplayMode::Auto => teams::DisplayMode::Auto,
        DisplayMode::InProcess => teams::DisplayMode::InProcess,
        DisplayMode::Tmux => teams::DisplayMode::Tmux,
        DisplayMode::Iterm2 => teams::DisplayMode::Iterm2,
    }
}
