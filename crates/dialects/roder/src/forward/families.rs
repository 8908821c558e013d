//! Notifications of teams, and of the traces of child agents.

use rookery_core::TraceChange;
use rookery_model::{self as model, Words as _};
use rookery_teams::Change;

use super::Messages;
use crate::context::Cx;
use crate::show;
use crate::teams;
use crate::traces;
use crate::wire::dual::Dual;
use crate::wire::notification::name;
use crate::wire::{team, trace};

impl Messages<'_> {
    pub(super) fn team(&mut self, cx: &Cx, change: &Change) {
        match change {
            Change::Started(started) => {
                let team = teams::team(cx, started);
                self.push(name::TEAM_STARTED, &team::TeamResult { team });
            }
            Change::Display(id, mode) => {
                let (team_id, display_mode) = (id.to_string(), teams::display(*mode));
                let changed = team::TeamDisplayModeChanged { team_id, display_mode };
                self.push(name::TEAM_DISPLAY_MODE_CHANGED, &changed);
            }
            Change::MemberStarted(id, member) => {
                let (team_id, member) = (id.to_string(), teams::member(cx, member));
                let started = team::TeamMemberStarted { team_id, member };
                self.push(name::TEAM_MEMBER_STARTED, &started);
            }
            Change::Status(id, member, status) => {
                let (team_id, member_id) = (id.to_string(), member.to_string());
                let status = teams::status(*status);
                let changed = team::TeamMemberStatusChanged { team_id, member_id, status };
                self.push(name::TEAM_MEMBER_STATUS_CHANGED, &changed);
            }
            Change::Text { team, member, turn, text } => {
                let said = team::TeamMemberMessageDelta {
                    team_id: team.to_string(),
                    member_id: member.to_string(),
                    turn_id: turn.to_string(),
                    delta: text.clone(),
                };
                self.push(name::TEAM_MEMBER_MESSAGE_DELTA, &said);
            }
            Change::Ended { team, member, turn, end } => {
                let ended = team::TeamMemberCompleted {
                    team_id: team.to_string(),
                    member_id: member.to_string(),
                    turn_id: turn.map(|turn| turn.to_string()),
                    status: teams::status(end.status),
                    final_message: end.message.clone(),
                    error: end.error.clone(),
                };
                self.push(name::TEAM_MEMBER_COMPLETED, &ended);
            }
            Change::Task(id, task) => {
                let (team_id, task) = (id.to_string(), teams::task(task));
                self.push(name::TEAM_TASK_CHANGED, &team::TeamTaskChanged { team_id, task });
            }
            Change::Cleaned { team, forced } => {
                let (team_id, forced) = (team.to_string(), *forced);
                let cleaned = team::TeamCleanupCompleted { team_id, forced };
                self.push(name::TEAM_CLEANUP_COMPLETED, &cleaned);
            }
        }
    }

    pub(super) fn trace(&mut self, at: model::Timestamp, change: &TraceChange) {
        let timestamp = show::time(at);
        match change {
            TraceChange::Created(summary) => {
                let summary = Dual(traces::summary(summary));
                self.push(name::TRACE_CREATED, &trace::TraceCreated { summary, timestamp });
            }
            TraceChange::Item { trace: id, parent, item } => {
                let delta = Dual(traces::delta(*id, *parent, item, 0));
                self.push(name::TRACE_DELTA, &trace::TraceDeltaSent { delta, timestamp });
            }
            TraceChange::Status { trace: id, parent, status, detail, elapsed_ms } => {
                let changed = trace::TraceStatusChanged {
                    trace_id: id.to_string(),
                    parent: traces::parent(*parent),
                    status: status.word().to_owned(),
                    detail: detail.clone(),
                    elapsed_ms: *elapsed_ms,
                    timestamp,
                };
                self.push(name::TRACE_STATUS_CHANGED, &Dual(changed));
            }
            TraceChange::Ended(ended) => {
                let (error, summary) = (ended.trace.error.clone(), Dual(traces::summary(ended)));
                match error {
                    None => {
                        let completed = trace::TraceCreated { summary, timestamp };
                        self.push(name::TRACE_COMPLETED, &completed);
                    }
                    Some(error) => {
                        let failed = trace::TraceFailed { summary, error, timestamp };
                        self.push(name::TRACE_FAILED, &failed);
                    }
                }
            }
        }
    }
}
