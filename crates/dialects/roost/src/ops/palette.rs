//! The palette, driven and asked through.

use rookery_view::palette::{Answer, Frame, PaletteState as Shown, Question};

use crate::{
    context::Cx,
    convert,
    errors::Error,
    lane::Turn,
    wire::palette::{
        AgentRow, Item, Kind, PaletteActivate, PaletteDismiss, PaletteOpen, PalettePresent,
        PaletteQuery, PaletteRead, PaletteState, Presented,
    },
};

pub(crate) async fn open(cx: Cx, params: PaletteOpen) -> Result<PaletteState, Error> {
    let frame = match params.kind()? {
        Kind::Commands => Frame::Commands,
        Kind::Launcher => Frame::Launcher,
        Kind::Custom => Frame::Custom,
        Kind::Agents => Frame::Agents,
    };
    Ok(shown(cx.core.seats().open_palette(frame).await?))
}

pub(crate) async fn state(cx: Cx, _params: PaletteRead) -> Result<PaletteState, Error> {
    Ok(shown(cx.core.seats().palette()))
}

pub(crate) async fn query(cx: Cx, params: PaletteQuery) -> Result<PaletteState, Error> {
    Ok(shown(cx.core.seats().query_palette(&params.query).await?))
}

pub(crate) async fn activate(cx: Cx, params: PaletteActivate) -> Result<PaletteState, Error> {
    Ok(shown(cx.core.seats().activate_in_palette(&params.id).await?))
}

pub(crate) async fn dismiss(cx: Cx, _params: PaletteDismiss) -> Result<PaletteState, Error> {
    Ok(shown(cx.core.seats().dismiss_palette().await?))
}

/// Answers when the user does; when the connection ends the question is taken back.
pub(crate) async fn present(
    cx: Cx,
    turn: Turn,
    params: PalettePresent,
) -> Result<Presented, Error> {
    let answer = |item: crate::wire::palette::PresentItem| Answer {
        id: item.id,
        title: item.title,
        subtitle: item.subtitle,
    };
    let asked = Question {
        title: params.title,
        placeholder: params.placeholder,
        items: params.items.into_iter().map(answer).collect(),
    };
    let mut question = cx.core.seats().ask(&asked).await;
    turn.end();
    let chosen = tokio::select! {
        chosen = question.answer() => chosen,
        () = cx.link.ending.cancelled() => None,
        () = cx.core.stopping() => None,
    };
    Ok(Presented { dismissed: chosen.is_none(), selected_id: chosen })
}

fn shown(state: Shown) -> PaletteState {
    let item = |item: rookery_view::palette::Item| Item {
        id: item.id,
        title: item.title,
        subtitle: item.subtitle.filter(|subtitle| !subtitle.is_empty()),
        agent: item.agent.map(|agent| AgentRow {
            effective_lifecycle: convert::lifecycle(agent.effective_lifecycle),
            project: agent.project,
            name: agent.name,
            status_text: agent.status_text,
            time_text: agent.time_text,
            metrics_text: agent.metrics_text,
        }),
    };
    PaletteState {
        open: state.open,
        frame: state.frame.map(|frame| frame.to_string()),
        query: state.query,
        selection: u32::try_from(state.selection).unwrap_or(u32::MAX),
        items: state.items.into_iter().map(item).collect(),
        selected_in_view: None,
    }
}
