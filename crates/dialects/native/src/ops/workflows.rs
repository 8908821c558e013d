//! Workflows: planned, decided about, followed and stopped.

use rookery_core::{NewRun, News, NoticeBody, Run, RunDecision, Topics};

use super::named::SHORTEST_END;
use crate::{
    Cx, Error,
    wire::{
        WorkflowApprove, WorkflowDecision, WorkflowGet, WorkflowList, WorkflowPause, WorkflowPlan,
        WorkflowPlanned, WorkflowResume, WorkflowRun, WorkflowRuns, WorkflowStop, WorkflowWait,
        format_time,
    },
};

impl Cx {
    /// The id of a run, by all of it or by its end. What fits none is left to core to refuse.
    async fn run_id(&self, text: String) -> Result<String, Error> {
        let all = self.core.workflows().list(None, true, Some(usize::MAX)).await;
        if text.len() < SHORTEST_END || all.iter().any(|run| run.id == text) {
            return Ok(text);
        }
        let mut fitting = all.into_iter().filter(|run| run.id.ends_with(&text));
        match (fitting.next(), fitting.next()) {
            (Some(run), None) => Ok(run.id),
            (Some(_), Some(_)) => {
                let shown: String = text.chars().take(64).collect();
                let message =
                    format!("several runs end with {shown:?}; use more characters of the id");
                Err(Error::invalid("run", message))
            }
            (None, _) => Ok(text),
        }
    }
}

pub(crate) async fn plan(cx: Cx, params: WorkflowPlan) -> Result<WorkflowPlanned, Error> {
    let new = NewRun {
        prompt: params.prompt,
        workspace: params.workspace,
        arguments: params.arguments,
        script: params.script,
        name: params.name,
        ..NewRun::default()
    };
    let planned = cx.core.workflows().plan(new).await?;
    Ok(WorkflowPlanned { run: (&planned.run).into(), needs_approval: planned.needs_approval })
}

pub(crate) async fn approve(cx: Cx, params: WorkflowApprove) -> Result<WorkflowRun, Error> {
    let decision = match params.decision {
        WorkflowDecision::RunOnce => RunDecision::RunOnce,
        WorkflowDecision::AlwaysForScriptAndWorkspace => RunDecision::AlwaysForScriptAndWorkspace,
        WorkflowDecision::Deny => RunDecision::Deny,
    };
    let workflows = cx.core.workflows();
    let (run, _) = workflows.approve(&params.run, decision, params.reason, cx.by()).await?;
    Ok((&run).into())
}

pub(crate) async fn list(cx: Cx, params: WorkflowList) -> Result<WorkflowRuns, Error> {
    let limit = params.limit.map(|limit| limit as usize);
    let runs = cx.core.workflows().list(None, params.all, limit).await;
    Ok(WorkflowRuns { runs: runs.iter().map(Into::into).collect() })
}

pub(crate) async fn get(cx: Cx, params: WorkflowGet) -> Result<WorkflowRun, Error> {
    let run = cx.run_id(params.run).await?;
    Ok((&cx.core.workflows().get(&run, false, true).await?).into())
}

/// Answers when there is something new.
pub(crate) async fn wait(cx: Cx, params: WorkflowWait) -> Result<WorkflowRun, Error> {
    // First, so that nothing happens between the look and the waiting.
    let mut news = cx.core.log().subscribe(Topics::NOTICES, None);
    let id = cx.run_id(params.run).await?;
    let is_new = |run: &Run| {
        run.status.is_terminal()
            || params.since.as_deref() != Some(format_time(run.updated_at).as_str())
    };
    loop {
        let run = cx.core.workflows().get(&id, false, true).await?;
        if is_new(&run) {
            return Ok((&run).into());
        }
        let is_of_run = |news: &News| {
            let body = news.notice().map(|notice| &notice.body);
            matches!(body, Some(NoticeBody::Workflow(notice)) if notice.run == id)
        };
        while !news.next().await?.iter().any(is_of_run) {}
    }
}

pub(crate) async fn pause(cx: Cx, params: WorkflowPause) -> Result<WorkflowRun, Error> {
    let workflows = cx.core.workflows();
    let run = cx.run_id(params.run).await?;
    Ok((&workflows.pause(&run, params.cancel_agents, params.reason).await?).into())
}

pub(crate) async fn resume(cx: Cx, params: WorkflowResume) -> Result<WorkflowRun, Error> {
    let run = cx.run_id(params.run).await?;
    Ok((&cx.core.workflows().resume(&run).await?).into())
}

pub(crate) async fn stop(cx: Cx, params: WorkflowStop) -> Result<WorkflowRun, Error> {
    let run = cx.run_id(params.run).await?;
    Ok((&cx.core.workflows().stop(&run, params.reason).await?).into())
}
