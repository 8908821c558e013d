//! Teams: started, read, told what to do, and taken apart.

use rookery_core as core;
use rookery_model as model;

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::team::{
    TeamCleanupParams, TeamCleanupResult, TeamListParams, TeamListResult, TeamMemberFocusParams,
    TeamMemberFocusResult, TeamMemberInterruptParams, TeamMemberInterruptResult,
    TeamMemberMessageParams, TeamMemberMessageResult, TeamMemberStartParams, TeamMemberStartResult,
    TeamPaneParams, TeamReadParams, TeamReadResult, TeamResult, TeamStartParams,
};
use crate::{ids, teams};

pub(crate) async fn start(cx: Cx, params: TeamStartParams) -> Result<TeamResult, Error> {
    cx.client.check_not_drained()?;
    cx.bring_mode().await?;
    let lead = params.lead_thread_id.as_deref().map(ids::thread).transpose()?;
    let members = params.members.into_iter().map(|member| core::NewMember {
        name: member.name,
        provider: member.model_provider,
        model: member.model,
    });
    let new = core::NewTeam {
        lead,
        cwd: cx.cwd(),
        display: teams::read_display(params.display_mode.unwrap_or_default()),
        members: members.collect(),
        starter: starter(&cx),
    };
    let team = cx.core.teams().start(new).await?;
    cx.flush().await;
    Ok(TeamResult { team: teams::team(&cx, &team) })
}

pub(crate) async fn list(cx: Cx, params: TeamListParams) -> Result<TeamListResult, Error> {
    let found = cx.core.teams().list(params.limit.unwrap_or(usize::MAX));
    let data = found.iter().map(|team| teams::team(&cx, team)).collect();
    Ok(TeamListResult { data, next_cursor: None })
}

pub(crate) async fn read(cx: Cx, params: TeamReadParams) -> Result<TeamReadResult, Error> {
    let id = ids::file_name("teamId", &params.team_id)?.parse::<model::TeamId>().ok();
    let Some(team) = id.and_then(|id| cx.core.teams().get(id)) else {
        return Ok(TeamReadResult { team: None, messages: Vec::new() });
    };
    let messages = team.mailbox.iter().map(|message| teams::message(&team, message)).collect();
    Ok(TeamReadResult { team: Some(teams::team(&cx, &team)), messages })
}

pub(crate) async fn start_member(
    cx: Cx,
    params: TeamMemberStartParams,
) -> Result<TeamMemberStartResult, Error> {
    cx.client.check_not_drained()?;
    cx.bring_mode().await?;
    let new =
        core::NewMember { name: params.name, provider: params.model_provider, model: params.model };
    let id = ids::team(&params.team_id)?;
    let member = cx.core.teams().start_member(id, new, &starter(&cx)).await?;
    cx.flush().await;
    Ok(TeamMemberStartResult { member: teams::member(&cx, &member) })
}

pub(crate) async fn message(
    cx: Cx,
    params: TeamMemberMessageParams,
) -> Result<TeamMemberMessageResult, Error> {
    cx.client.check_not_drained()?;
    cx.bring_mode().await?;
    // A text that is no id names no turn that runs.
    let expected = params.expected_turn_id;
    let expected = expected.map(|text| text.parse().unwrap_or(model::TurnId::new(0)));
    let new = core::NewMessage {
        team: ids::team(&params.team_id)?,
        member: params.member_id,
        text: params.text,
        expected,
        starter: starter(&cx),
    };
    let turn = cx.core.teams().message(new).await?;
    cx.flush().await;
    Ok(TeamMemberMessageResult { turn_id: turn.to_string() })
}

pub(crate) async fn interrupt(
    cx: Cx,
    params: TeamMemberInterruptParams,
) -> Result<TeamMemberInterruptResult, Error> {
    let id = ids::team(&params.team_id)?;
    let turn = params.turn_id.map(|text| text.parse().unwrap_or(model::TurnId::new(0)));
    let stopped = cx.core.teams().interrupt(id, &params.member_id, turn).await?;
    cx.flush().await;
    let turn_id = stopped.map(|turn| turn.to_string());
    Ok(TeamMemberInterruptResult { interrupted: turn_id.is_some(), turn_id })
}

pub(crate) async fn focus(
    cx: Cx,
    params: TeamMemberFocusParams,
) -> Result<TeamMemberFocusResult, Error> {
    let member = cx.core.teams().member(ids::team(&params.team_id)?, &params.member_id)?;
    Ok(TeamMemberFocusResult { focused_member_id: member.id.to_string() })
}

pub(crate) async fn clean_up(
    cx: Cx,
    params: TeamCleanupParams,
) -> Result<TeamCleanupResult, Error> {
    let Ok(id) = ids::file_name("teamId", &params.team_id)?.parse::<model::TeamId>() else {
        return Ok(TeamCleanupResult { cleaned: false });
    };
    let cleaned = cx.core.teams().clean_up(id, params.force).await;
    let cleaned = cleaned.map_err(|error| match error.kind() == model::ErrorKind::Conflict {
        // Nothing of the request is wrong; the team is not ready for it.
        true => Error::runtime(error.message()),
        false => error.into(),
    })?;
    cx.flush().await;
    Ok(TeamCleanupResult { cleaned })
}

pub(crate) async fn no_panes(_cx: Cx, _params: TeamPaneParams) -> Result<TeamPaneParams, Error> {
    Err(Error::no_panes())
}

/// The client on whose behalf something is started.
fn starter(cx: &Cx) -> core::Starter {
    core::Starter {
        client: Some(cx.client.number()),
        profile: cx.client.link().profile,
        keys: cx.client.keys(),
    }
}
