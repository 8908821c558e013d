//! Domain objects as this dialect shows them.

mod requests;

use rookery_core::{Flag, LifecycleState, ThreadStatus, ThreadView, TurnLifecycle, TurnView};
use rookery_model::{self as model, Words as _};
use serde_json::Value;

use crate::context::Cx;
use crate::items;
use crate::modes;
use crate::ops;
use crate::wire::Moment;
use crate::wire::discovery::ToolSpec;
use crate::wire::item::Item;
use crate::wire::notification::{ProvidersChanged, SettingsChanged};
use crate::wire::provider::SelectionMode;
use crate::wire::thread::{self, ActiveFlag, PolicyDecision, ThreadState, Usage};
use crate::wire::turn::{Lifecycle, Turn, TurnError, TurnStatus};
use crate::wire::upkeep;

pub(crate) use requests::{
    approval, approval_resolved, plan_exit, plan_exit_resolved, tool_execution,
    tool_execution_resolved, user_input, user_input_resolved,
};

/// What a thread is called in lists before anything was said in it.
const UNTITLED: &str = "Untitled thread";

/// The value where no effort is known.
const NO_EFFORT: &str = "none";

/// A moment in RFC 3339.
pub(crate) fn time(at: model::Timestamp) -> String {
    at.to_string()
}

/// A moment as published decoders read it where they name no format: year, day of the year, hour,
/// minute, second, nanosecond, and the offset from UTC in hours, minutes and seconds.
pub(crate) fn moment(at: model::Timestamp) -> Moment {
    let at = jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or(jiff::Timestamp::MAX);
    let at = at.to_zoned(jiff::tz::TimeZone::UTC);
    [
        i32::from(at.year()),
        i32::from(at.day_of_year()),
        i32::from(at.hour()),
        i32::from(at.minute()),
        i32::from(at.second()),
        at.subsec_nanosecond(),
        0,
        0,
        0,
    ]
}

/// A mode in the word by which it was last set.
pub(crate) fn mode(cx: &Cx, mode: model::Mode) -> String {
    let spelled = cx.core.threads().asking_spelling().unwrap_or_default();
    modes::Asking::default().after(&spelled).spell(mode).to_owned()
}

/// How hard a model thinks, in a word that is always there: published decoders want one.
pub(crate) fn effort(cx: &Cx, choice: &model::Choice) -> String {
    cx.core.agents().effort_of(choice).unwrap_or_else(|| NO_EFFORT.to_owned())
}

/// Which model answers, as a selection.
pub(crate) fn selection(choice: &model::Choice) -> SelectionMode {
    SelectionMode::Manual {
        provider: choice.provider.clone(),
        model: choice.model.clone(),
        reasoning: choice.reasoning.clone(),
    }
}

/// A thread with its turns, if they were asked for.
pub(crate) fn thread(cx: &Cx, seen: &ThreadView) -> thread::Thread {
    let turns = seen.turns.as_ref();
    thread::Thread {
        turns: turns.map(|turns| turns.iter().map(turn_view).collect()),
        ..thread_of(cx, &seen.thread, &seen.status)
    }
}

/// A thread without its turns.
pub(crate) fn thread_of(cx: &Cx, it: &model::Thread, now: &ThreadStatus) -> thread::Thread {
    // What was selected at its start holds, even if other workspaces have that root as well.
    let place = it.place.clone().or_else(|| cx.core.agents().workspace_of(&it.root));
    thread::Thread {
        id: it.id.to_string(),
        session_id: it.id.to_string(),
        preview: if it.preview.is_empty() { UNTITLED.to_owned() } else { it.preview.clone() },
        model_provider: it.choice.provider.clone(),
        model: it.choice.model.clone(),
        selection_mode: Some(selection(&it.choice)),
        created_at: it.created_at.as_seconds(),
        updated_at: it.updated_at.as_seconds(),
        status: status(now),
        cwd: it.cwd.to_string_lossy().into_owned(),
        workspace_id: place.as_ref().map(|(workspace, _)| workspace.clone()),
        root_id: place.map(|(_, root)| root),
        name: it.name.clone(),
        message_count: it.message_count,
        turns: None,
        usage: (!it.usage.is_zero()).then(|| usage(it.usage)),
        ephemeral: it.ephemeral,
        tool_allowlist: it.tool_allowlist.clone(),
        developer_instructions: it.developer_instructions.clone(),
        external_tools: external_tools(&it.external_tools),
        parent_thread_id: it.parent.map(|parent| parent.to_string()),
        lead_thread_id: it.lead().map(|lead| lead.to_string()),
        archived: Some(it.archived),
        runner: it.runner.as_deref().map(|bound| ops::runners::of_thread(cx, bound)),
    }
}

fn external_tools(tools: &[model::ExternalTool]) -> Option<Vec<ToolSpec>> {
    let spec = |tool: &model::ExternalTool| ToolSpec {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: json(&tool.parameters),
    };
    (!tools.is_empty()).then(|| tools.iter().map(spec).collect())
}

pub(crate) fn status(now: &ThreadStatus) -> thread::ThreadStatus {
    let flag = |flag: &Flag| match flag {
        Flag::ApprovalRequired => ActiveFlag::ApprovalRequired,
        Flag::UserInputRequired => ActiveFlag::UserInputRequired,
        Flag::PlanExitRequired => ActiveFlag::PlanExitRequired,
        Flag::ExternalToolPending => ActiveFlag::ExternalToolPending,
        Flag::Interrupting => ActiveFlag::Interrupting,
    };
    thread::ThreadStatus {
        state: match now.active_turn {
            Some(_) => ThreadState::Running,
            None => ThreadState::Idle,
        },
        active_turn_id: now.active_turn.map(|turn| turn.to_string()),
        active_flags: now.flags.iter().map(flag).collect(),
    }
}

pub(crate) fn usage(usage: model::Usage) -> Usage {
    Usage {
        prompt_tokens: usage.prompt,
        completion_tokens: usage.completion,
        total_tokens: usage.prompt + usage.completion,
        cached_prompt_tokens: usage.cached,
        cache_creation_prompt_tokens: usage.cache_creation,
        cache_hit_rate: (usage.prompt > 0).then(|| usage.cached as f64 / usage.prompt as f64),
    }
}

pub(crate) fn turn_view(seen: &TurnView) -> Turn {
    turn(&seen.turn, seen.items.iter().map(items::item).collect())
}

pub(crate) fn turn(turn: &model::Turn, items: Vec<Item>) -> Turn {
    let duration = turn.completed_at.map(|end| {
        let micros = end.as_micros().saturating_sub(turn.started_at.as_micros());
        u64::try_from(micros / 1_000).unwrap_or(0)
    });
    // One that was stopped has not failed; its life says why it was.
    let has_failed = turn.status == model::TurnStatus::Failed;
    Turn {
        id: turn.id.to_string(),
        items,
        items_view: "default".to_owned(),
        status: match turn.status {
            model::TurnStatus::InProgress => TurnStatus::InProgress,
            model::TurnStatus::Completed => TurnStatus::Completed,
            model::TurnStatus::Failed => TurnStatus::Failed,
            model::TurnStatus::Interrupted => TurnStatus::Interrupted,
        },
        error: turn.error.as_ref().filter(|_| has_failed).map(turn_error),
        started_at: Some(turn.started_at.as_seconds()),
        completed_at: turn.completed_at.map(model::Timestamp::as_seconds),
        duration_ms: duration,
        usage: (!turn.usage.is_zero()).then(|| usage(turn.usage)),
        finish_reason: turn.finish_reason.clone(),
    }
}

fn turn_error(error: &model::TurnError) -> TurnError {
    TurnError { message: error.message.clone(), kind: error_kind(error.kind) }
}

fn error_kind(kind: model::TurnErrorKind) -> Option<String> {
    let kind = match kind {
        model::TurnErrorKind::RuntimeRestart => Some("runtime_restart"),
        model::TurnErrorKind::ReliabilityLimit => Some("reliability_limit"),
        model::TurnErrorKind::DeadlineTimeout => Some("deadline_timeout"),
        model::TurnErrorKind::Provider => Some("provider"),
        model::TurnErrorKind::Shutdown => Some("shutdown"),
        model::TurnErrorKind::Other => None,
    };
    kind.map(str::to_owned)
}

/// Where a turn is in its life. We vouch for our own task, not for what a provider does elsewhere.
pub(crate) fn lifecycle(thread: &str, life: &TurnLifecycle) -> Lifecycle {
    let (state, cleanup) = match life.state {
        LifecycleState::Running => ("running", "not_requested"),
        LifecycleState::InterruptRequested => ("interrupt_requested", "requested"),
        LifecycleState::Interrupted => ("interrupted", "completed"),
        LifecycleState::Completed => ("completed", "not_requested"),
        LifecycleState::Failed => ("failed", "not_requested"),
        LifecycleState::RecoveryNeeded => ("recovery_needed", "unknown"),
    };
    Lifecycle {
        thread_id: thread.to_owned(),
        turn_id: life.turn.to_string(),
        state: state.to_owned(),
        cleanup: cleanup.to_owned(),
        ownership: "runtime_task_only".to_owned(),
        reason: lifecycle_reason(life).map(str::to_owned),
        timestamp: time(life.at),
    }
}

/// Why a turn is where it is, in one of the words that published decoders know.
fn lifecycle_reason(life: &TurnLifecycle) -> Option<&'static str> {
    let failure = life.error.map_or("runtime_failure", |error| match error {
        model::TurnErrorKind::RuntimeRestart => "runtime_restart",
        model::TurnErrorKind::DeadlineTimeout => "deadline_exceeded",
        model::TurnErrorKind::Provider => "provider_failure",
        model::TurnErrorKind::Shutdown => "shutdown",
        model::TurnErrorKind::ReliabilityLimit | model::TurnErrorKind::Other => "runtime_failure",
    });
    match life.state {
        LifecycleState::Running | LifecycleState::Completed => None,
        LifecycleState::InterruptRequested | LifecycleState::Interrupted
            if life.error.is_none() =>
        {
            Some("user_interrupt")
        }
        LifecycleState::InterruptRequested
        | LifecycleState::Interrupted
        | LifecycleState::Failed
        | LifecycleState::RecoveryNeeded => Some(failure),
    }
}

/// What the policy decided.
pub(crate) fn decision(cx: &Cx, it: &model::Decision) -> PolicyDecision {
    PolicyDecision {
        tool_id: it.tool_id.clone(),
        tool_name: it.tool.clone(),
        mode: mode(cx, it.mode),
        decision: it.verdict.word().to_owned(),
        reason: it.reason.clone().filter(|_| it.rule.is_none()),
        matched_rule: it.rule.clone(),
        source: it.source.word().to_owned(),
        by: it.by.clone(),
        timestamp: time(it.at),
    }
}

pub(crate) fn goal(thread_id: &str, goal: &model::Goal) -> upkeep::Goal {
    upkeep::Goal {
        thread_id: thread_id.to_owned(),
        objective: goal.objective.clone(),
        status: match goal.status {
            model::GoalStatus::Active => upkeep::GoalStatus::Active,
            model::GoalStatus::Paused => upkeep::GoalStatus::Paused,
            model::GoalStatus::Blocked => upkeep::GoalStatus::Blocked,
            model::GoalStatus::UsageLimited => upkeep::GoalStatus::UsageLimited,
            model::GoalStatus::BudgetLimited => upkeep::GoalStatus::BudgetLimited,
            model::GoalStatus::Complete => upkeep::GoalStatus::Complete,
        },
        token_budget: goal.token_budget,
        tokens_used: goal.tokens_used,
        time_used_seconds: goal.seconds_used,
        created_at: time(goal.created_at),
        updated_at: time(goal.updated_at),
    }
}

/// What is now chosen, for those who show it.
pub(crate) fn providers_changed(cx: &Cx) -> ProvidersChanged {
    let choice = cx.core.agents().default_choice();
    ProvidersChanged {
        active_reasoning: Some(effort(cx, &choice)),
        active_provider: Some(choice.provider),
        active_model: Some(choice.model),
        ..ProvidersChanged::default()
    }
}

/// What is now set, for those who show it.
pub(crate) fn settings_changed(cx: &Cx) -> SettingsChanged {
    crate::ops::settings::changed(cx)
}

/// JSON text as a value, or as the text it is.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
