//! The policy mode, and answers to what agents wait for.

use rookery_model as model;

use super::turns::read_mode;
use crate::context::Cx;
use crate::errors::Error;
use crate::ids::{self, RequestKind};
use crate::show;
use crate::wire::session::{
    PendingPlanExit, PendingPlanExitCamel, Remember, ResolvedResult, SessionExitPlanParams,
    SessionExitPlanResult, SessionGetParams, SessionGetResult, SessionResolveApprovalParams,
    SessionResolveUserInputParams, SessionSetModeParams, SessionSetModeResult,
};

/// Who answers, as the log has it.
const BY: &str = "roder";

pub(crate) async fn get(cx: Cx, params: SessionGetParams) -> Result<SessionGetResult, Error> {
    let thread = params.thread_id.as_deref().map(ids::thread).transpose()?;
    if let Some(id) = thread
        && cx.core.threads().get(id).is_none()
    {
        return Err(ids::thread_not_found(&id.to_string()));
    }
    let requests = cx.core.requests().list();
    let of_thread =
        || requests.iter().filter(|one| thread.is_none_or(|id| one.thread() == Some(id)));
    let plan = of_thread().find_map(|request| match &request.asked {
        model::Asked::PlanExit(plan) => Some((request, pending_plan(&cx, request, plan))),
        model::Asked::Approval { .. }
        | model::Asked::Input { .. }
        | model::Asked::External(_)
        | model::Asked::Permission { .. }
        | model::Asked::Dialog { .. } => None,
    });
    let is = |kind: RequestKind| {
        of_thread().filter(move |request| RequestKind::of(&request.asked) == kind)
    };
    Ok(SessionGetResult {
        mode: show::mode(&cx, cx.mode(thread)),
        pending_plan_exit_camel: plan.clone().map(|(request, plan)| camel(request, plan)),
        pending_plan_exit: plan.map(|(_, plan)| plan),
        pending_approvals: is(RequestKind::Approval).map(|it| show::approval(&cx, it)).collect(),
        pending_user_inputs: is(RequestKind::UserInput).map(show::user_input).collect(),
    })
}

fn pending_plan(cx: &Cx, request: &model::Request, plan: &model::Plan) -> PendingPlanExit {
    PendingPlanExit {
        thread_id: ids::thread_of(request),
        turn_id: ids::turn_of(request),
        request_id: RequestKind::PlanExit.spell(request.id),
        target_mode: show::mode(cx, plan.target),
        plan_summary: Some(plan.summary.clone()),
        next_steps: plan.next_steps.clone(),
        requested_at: show::time(request.asked_at),
        expires_at: request.deadline.map(show::time),
    }
}

fn camel(request: &model::Request, plan: PendingPlanExit) -> PendingPlanExitCamel {
    PendingPlanExitCamel {
        thread_id: plan.thread_id,
        turn_id: plan.turn_id,
        request_id: plan.request_id,
        target_mode: plan.target_mode,
        plan_summary: plan.plan_summary,
        next_steps: plan.next_steps,
        requested_at: show::moment(request.asked_at),
        expires_at: request.deadline.map(show::moment),
    }
}

pub(crate) async fn set_mode(
    cx: Cx,
    params: SessionSetModeParams,
) -> Result<SessionSetModeResult, Error> {
    let (mode, word) = read_mode(params.mode)?;
    cx.check_is_no_agent()?;
    let thread = params.thread_id.as_deref().map(ids::thread).transpose()?;
    cx.core.threads().set_mode(thread, mode, Some(word), params.reason).await?;
    if thread.is_none() {
        // What the person chose now counts for this client too.
        cx.core.threads().end_client_mode(cx.client.number());
    }
    Ok(SessionSetModeResult { mode: show::mode(&cx, cx.mode(thread)) })
}

pub(crate) async fn exit_plan(
    cx: Cx,
    params: SessionExitPlanParams,
) -> Result<SessionExitPlanResult, Error> {
    let id = RequestKind::PlanExit.read(&params.request_id);
    let thread = id.and_then(|id| cx.core.requests().get(id)).and_then(|request| request.thread());
    let resolved = settle(&cx, id, yes_or_no(params.approved, None, false)).await?.resolved;
    Ok(SessionExitPlanResult { resolved, mode: show::mode(&cx, cx.mode(thread)) })
}

pub(crate) async fn resolve_approval(
    cx: Cx,
    params: SessionResolveApprovalParams,
) -> Result<ResolvedResult, Error> {
    let id = RequestKind::Approval.read(&params.approval_id);
    let remember = params.remember == Some(Remember::Session);
    settle(&cx, id, yes_or_no(params.approved, params.message, remember)).await
}

pub(crate) async fn resolve_user_input(
    cx: Cx,
    params: SessionResolveUserInputParams,
) -> Result<ResolvedResult, Error> {
    let id = RequestKind::UserInput.read(&params.request_id);
    settle(&cx, id, model::Answer::Given(params.answers.to_string())).await
}

fn yes_or_no(approved: bool, message: Option<String>, remember: bool) -> model::Answer {
    match approved {
        true => model::Answer::Approved { remember },
        false => model::Answer::Denied { message },
    }
}

/// Answers a request; what is not there, or was settled before, is simply not resolved.
pub(crate) async fn settle(
    cx: &Cx,
    id: Option<model::RequestId>,
    answer: model::Answer,
) -> Result<ResolvedResult, Error> {
    let Some(id) = id else { return Ok(ResolvedResult { resolved: false }) };
    let resolved = cx.core.requests().resolve(id, answer, BY).await?;
    Ok(ResolvedResult { resolved: resolved.is_now() })
}
