//! Workflows: planned, decided about, followed and stopped.

use rookery_core::{NewRun, News, NoticeBody, RunDecision, Topics};

use super::named::SHORTEST_END;
use crate::{
    Cx, Error,
    wire::{
        WorkflowApprove, WorkflowDecision, WorkflowGet, WorkflowList, WorkflowPause, WorkflowPlan,
        WorkflowPlanned, WorkflowProgress, WorkflowResume, WorkflowRun, WorkflowRuns, WorkflowStop,
        WorkflowWait,
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
        keys: cx.keys(),
        ..NewRun::default()
    };
    let workflows = cx.core.workflows();
    let planned = match params.preview {
        true => workflows.preview(&new).await?,
        false => workflows.plan(new.clone()).await?,
    };
    let was_written = params.preview && new.script.is_none() && new.name.is_none();
    Ok(WorkflowPlanned {
        run: (&planned.run).into(),
        needs_approval: planned.needs_approval,
        script: planned.run.script.body.filter(|_| was_written),
    })
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
pub(crate) async fn wait(cx: Cx, params: WorkflowWait) -> Result<WorkflowProgress, Error> {
    // First, so that nothing happens between the look and the waiting.
    let mut news = cx.core.log().subscribe(Topics::NOTICES, None);
    let id = cx.run_id(params.run).await?;
    let is_new = |found: &WorkflowProgress| match params.seen {
        Some(seen) => {
            let waiting = found.waiting.iter().map(|it| &it.request);
            found.revision != seen || !waiting.eq(&params.waiting)
        }
        None => params.since.as_ref() != Some(&found.run.updated_at),
    };
    loop {
        let found = cx.core.workflows().follow(&id, params.seen).await?;
        let is_over = found.run.status.is_terminal();
        let found = WorkflowProgress::from(&found);
        if is_over || is_new(&found) {
            return Ok(found);
        }
        let concerns_run = |news: &News| match news.notice().map(|notice| &notice.body) {
            Some(NoticeBody::Workflow(notice)) => notice.run == id,
            // An agent of it may ask, or have its answer.
            Some(NoticeBody::Request(_)) => params.seen.is_some(),
            _ => false,
        };
        while !news.next().await?.iter().any(concerns_run) {}
    }
}

pub(crate) async fn pause(cx: Cx, params: WorkflowPause) -> Result<WorkflowRun, Error> {
    let workflows = cx.core.workflows();
    let run = cx.run_id(params.run).await?;
    Ok((&workflows.pause(&run, params.cancel_agents, params.reason).await?).into())
}

pub(crate) async fn resume(cx: Cx, params: WorkflowResume) -> Result<WorkflowRun, Error> {
    let run = cx.run_id(params.run).await?;
    Ok((&cx.core.workflows().resume(&run, cx.grant()).await?).into())
}

pub(crate) async fn stop(cx: Cx, params: WorkflowStop) -> Result<WorkflowRun, Error> {
    let run = cx.run_id(params.run).await?;
    Ok((&cx.core.workflows().stop(&run, params.reason).await?).into())
}
