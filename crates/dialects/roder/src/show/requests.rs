//! What waits for an answer, and how it was settled, as this dialect shows them.

use rookery_model as model;
use serde_json::Value;

use super::{json, mode};
use crate::context::Cx;
use crate::ids::{self, RequestKind};
use crate::wire::session::{
    ApprovalRequested, ApprovalResolved, ParentThread, PlanExitRequested, PlanExitResolved,
    Question, QuestionOption, UserInputRequested, UserInputResolved,
};
use crate::wire::tool::{ToolCall, ToolExecutionRequested, ToolExecutionResolved, ToolOutcome};

pub(crate) fn approval(cx: &Cx, request: &model::Request) -> ApprovalRequested {
    let (reason, input, preview) = match &request.asked {
        model::Asked::Approval { reason, input, preview, .. } => {
            (Some(reason.clone()), Some(spelled_input(request, json(input))), preview.clone())
        }
        model::Asked::Permission { summary, action, .. } => {
            (Some(summary.clone()), None, Some(model::spelled(action)))
        }
        model::Asked::Dialog { text, .. } => (None, None, Some(model::spelled(text))),
        model::Asked::Input { .. } | model::Asked::PlanExit(_) | model::Asked::External(_) => {
            (None, None, None)
        }
    };
    let (thread_id, turn_id) = ids::place_of(request);
    ApprovalRequested {
        thread_id,
        turn_id,
        approval_id: RequestKind::Approval.spell(request.id),
        tool_id: request.call_id.clone(),
        tool_name: request.tool.clone(),
        reason,
        input,
        preview,
        parents: parents(cx, request),
    }
}

/// The threads that whoever asks works for.
fn parents(cx: &Cx, request: &model::Request) -> Vec<ParentThread> {
    let above = request.thread().map(|thread| cx.core.children().parents(thread));
    let shown = |thread: model::Thread| ParentThread {
        thread_id: thread.id.to_string(),
        title: thread.title().to_owned(),
    };
    above.into_iter().flatten().map(shown).collect()
}

/// What is asked, with the members that core wrote in the spelling of this dialect.
fn spelled_input(request: &model::Request, mut input: Value) -> Value {
    const MEMBERS: [(&str, &str); 3] =
        [("run_id", "runId"), ("script_hash", "scriptHash"), ("max_agents", "maxAgents")];
    if request.tool == "workflow"
        && let Some(members) = input.as_object_mut()
    {
        for (ours, theirs) in MEMBERS {
            if let Some(value) = members.remove(ours) {
                members.insert(theirs.to_owned(), value);
            }
        }
    }
    input
}

pub(crate) fn approval_resolved(
    request: &model::Request,
    approved: bool,
    by: &str,
) -> ApprovalResolved {
    let (thread_id, turn_id) = ids::place_of(request);
    ApprovalResolved {
        thread_id,
        turn_id,
        approval_id: RequestKind::Approval.spell(request.id),
        tool_id: request.call_id.clone(),
        tool_name: request.tool.clone(),
        approved,
        source: Some(by.to_owned()),
        resolution: resolution(request).map(str::to_owned),
    }
}

/// How a dialog was settled that was neither allowed nor refused.
fn resolution(request: &model::Request) -> Option<&'static str> {
    let model::RequestState::Settled(settled) = &request.state else { return None };
    match (&settled.answer, &request.asked) {
        (model::Answer::AtTerminal, _) => Some("answered_at_terminal"),
        (model::Answer::Cancelled, model::Asked::Dialog { .. }) => Some("withdrawn"),
        _ => None,
    }
}

pub(crate) fn user_input(request: &model::Request) -> UserInputRequested {
    let questions = match &request.asked {
        model::Asked::Input { questions } => questions.iter().map(question).collect(),
        model::Asked::Approval { .. }
        | model::Asked::PlanExit(_)
        | model::Asked::External(_)
        | model::Asked::Permission { .. }
        | model::Asked::Dialog { .. } => Vec::new(),
    };
    UserInputRequested {
        thread_id: ids::thread_of(request),
        turn_id: ids::turn_of(request),
        request_id: RequestKind::UserInput.spell(request.id),
        questions,
    }
}

fn question(question: &model::Question) -> Question {
    let option = |option: &model::QuestionOption| QuestionOption {
        label: option.label.clone(),
        description: option.description.clone(),
    };
    Question {
        header: question.header.clone(),
        id: question.id.clone(),
        question: question.question.clone(),
        options: question.options.iter().map(option).collect(),
    }
}

pub(crate) fn user_input_resolved(
    request: &model::Request,
    answer: &model::Answer,
) -> UserInputResolved {
    UserInputResolved {
        thread_id: ids::thread_of(request),
        turn_id: ids::turn_of(request),
        request_id: RequestKind::UserInput.spell(request.id),
        answers: match answer {
            model::Answer::Given(answers) => json(answers),
            model::Answer::Approved { .. }
            | model::Answer::Denied { .. }
            | model::Answer::Output { .. }
            | model::Answer::Cancelled
            | model::Answer::AtTerminal
            | model::Answer::TimedOut => Value::Null,
        },
    }
}

pub(crate) fn plan_exit(
    cx: &Cx,
    request: &model::Request,
    plan: &model::Plan,
) -> PlanExitRequested {
    PlanExitRequested {
        thread_id: ids::thread_of(request),
        turn_id: ids::turn_of(request),
        request_id: RequestKind::PlanExit.spell(request.id),
        target_mode: mode(cx, plan.target),
        plan_summary: Some(plan.summary.clone()),
        next_steps: Some(plan.next_steps.clone()),
    }
}

pub(crate) fn plan_exit_resolved(
    cx: &Cx,
    request: &model::Request,
    plan: &model::Plan,
    approved: bool,
    now: model::Mode,
) -> PlanExitResolved {
    PlanExitResolved {
        thread_id: ids::thread_of(request),
        turn_id: ids::turn_of(request),
        request_id: RequestKind::PlanExit.spell(request.id),
        approved,
        target_mode: mode(cx, plan.target),
        resolved_mode: mode(cx, now),
    }
}

pub(crate) fn tool_execution(
    request: &model::Request,
    call: &model::ExternalCall,
) -> ToolExecutionRequested {
    ToolExecutionRequested {
        thread_id: ids::thread_of(request),
        turn_id: ids::turn_of(request),
        request_id: RequestKind::ExternalTool.spell(request.id),
        call: ToolCall {
            id: request.call_id.clone(),
            name: request.tool.clone(),
            arguments: json(&call.arguments),
        },
    }
}

pub(crate) fn tool_execution_resolved(
    request: &model::Request,
    answer: &model::Answer,
) -> ToolExecutionResolved {
    let (outcome, is_error) = match answer {
        model::Answer::Output { is_error, .. } => (ToolOutcome::Resolved, *is_error),
        model::Answer::TimedOut => (ToolOutcome::TimedOut, true),
        model::Answer::Approved { .. }
        | model::Answer::Denied { .. }
        | model::Answer::Given(_)
        | model::Answer::AtTerminal
        | model::Answer::Cancelled => (ToolOutcome::Cancelled, true),
    };
    ToolExecutionResolved {
        thread_id: ids::thread_of(request),
        turn_id: ids::turn_of(request),
        request_id: RequestKind::ExternalTool.spell(request.id),
        tool_id: request.call_id.clone(),
        tool_name: request.tool.clone(),
        outcome,
        is_error,
    }
}
