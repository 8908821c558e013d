//! What hooks and agents say about the tab they run in.

use rookery_core as core;
use rookery_model as model;

use super::living_tab;
use crate::{
    context::Cx,
    convert::tab,
    errors::Error,
    wire::{
        Empty,
        agent::{AgentReport, AgentReported, Attention, Lifecycle, OwnershipAction},
        tab::{TabSetHookActive, TabSetState, TabState},
    },
};

pub(crate) async fn set_state(cx: Cx, params: TabSetState) -> Result<Empty, Error> {
    let state = match params.state {
        TabState::None => model::RunState::Quiet,
        TabState::Running => model::RunState::Running,
        TabState::NeedsInput => model::RunState::NeedsInput,
        TabState::Idle => model::RunState::Idle,
    };
    let tab = living_tab(&cx, params.tab_id)?;
    cx.core.workspace().set_run_state(tab.id, state).await?;
    Ok(Empty {})
}

pub(crate) async fn set_hook_active(cx: Cx, params: TabSetHookActive) -> Result<Empty, Error> {
    let tab = living_tab(&cx, params.tab_id)?;
    cx.core.workspace().set_hooked(tab.id, params.active).await?;
    Ok(Empty {})
}

pub(crate) async fn report(cx: Cx, params: AgentReport) -> Result<AgentReported, Error> {
    let id = living_tab(&cx, params.tab_id)?.id;
    let (accepted, terminal) = cx.core.workspace().report_agent(id, to_core(params)).await?;
    let is_active = cx.core.workspace().active() == Some(id);
    Ok(AgentReported { accepted, tab: tab(&terminal, is_active) })
}

fn to_core(report: AgentReport) -> core::AgentReport {
    let text = model::NotificationText { title: report.title, body: report.body };
    core::AgentReport {
        source: report.source,
        session: report.session_id,
        ownership: match report.ownership_action {
            OwnershipAction::Claim => core::OwnershipAction::Claim,
            OwnershipAction::Preserve => core::OwnershipAction::Preserve,
            OwnershipAction::Release => core::OwnershipAction::Release,
        },
        lifecycle: report.lifecycle.map(lifecycle),
        attention: match report.attention {
            Attention::Set => core::Attention::Set(text),
            Attention::Clear => core::Attention::Clear,
            Attention::Preserve => core::Attention::Preserve,
        },
        detail: report.detail,
        metadata: report.metadata,
    }
}

fn lifecycle(lifecycle: Lifecycle) -> model::Lifecycle {
    match lifecycle {
        Lifecycle::Inactive => model::Lifecycle::Inactive,
        Lifecycle::Working => model::Lifecycle::Working,
        Lifecycle::Waiting => model::Lifecycle::Waiting,
        Lifecycle::Finished => model::Lifecycle::Finished,
        Lifecycle::Failed => model::Lifecycle::Failed,
    }
}
