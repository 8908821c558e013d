//! Threads: started, listed, read.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rookery_core::{NewThread, RunnerRequest, RunnerUse, ThreadQuery, TurnLifecycle};
use rookery_model as model;

use crate::context::Cx;
use crate::errors::Error;
use crate::show;
use crate::wire::provider::Selection;
use crate::wire::runner::ThreadRunnerParams;
use crate::wire::thread::{
    LifecycleLog, ThreadHistoryReadParams, ThreadHistoryReadResult, ThreadListParams,
    ThreadListResult, ThreadReadParams, ThreadReadResult, ThreadStartParams, ThreadStartResult,
};

/// Threads on a page by default, and at most.
const PAGE: usize = 50;
const LARGEST_PAGE: u32 = 500;
/// Decisions that are shown with a thread.
const MAX_DECISIONS: usize = 200;

pub(crate) async fn start(cx: Cx, params: ThreadStartParams) -> Result<ThreadStartResult, Error> {
    let place = place(&cx, &params).await?;
    let choice = choice(&params)?;
    let external = params.external_tools.unwrap_or_default();
    let external = external.into_iter().map(|tool| model::ExternalTool {
        name: tool.name,
        description: tool.description,
        parameters: tool.parameters.to_string(),
    });
    let new = NewThread {
        cwd: place.cwd,
        root: Some(place.root),
        place: Some((place.workspace.clone(), place.root_id.clone())),
        choice,
        usual: Some(cx.wanted_choice()),
        ephemeral: params.ephemeral,
        name: params.name,
        tool_allowlist: params.tool_allowlist,
        developer_instructions: params.developer_instructions,
        external_tools: external.collect(),
        runner: runner(params.runner),
        client: cx.client.number(),
        keys: cx.client.keys(),
        ..NewThread::default()
    };
    let seen = cx.flushed(cx.core.threads().start(new)).await?;
    let choice = &seen.thread.choice;
    Ok(ThreadStartResult {
        model: choice.model.clone(),
        model_provider: choice.provider.clone(),
        reasoning: show::effort(&cx, choice),
        selection_mode: Some(show::selection(choice)),
        cwd: seen.thread.cwd.to_string_lossy().into_owned(),
        workspace_id: place.workspace,
        root_id: place.root_id,
        thread: show::thread(&cx, &seen),
    })
}

/// Where its tools run: at the runner that is asked for, else at the selected one if that offers a directory.
fn runner(asked: Option<ThreadRunnerParams>) -> RunnerUse {
    let Some(asked) = asked else { return RunnerUse::Selected };
    RunnerUse::New(RunnerRequest {
        provider: asked.provider_id,
        config: asked.config,
        workspace: asked.workspace.map(PathBuf::from),
        read_roots: asked.read_roots.into_iter().map(PathBuf::from).collect(),
    })
}

/// Where a thread works.
struct Place {
    cwd: PathBuf,
    root: PathBuf,
    workspace: String,
    root_id: String,
}

async fn place(cx: &Cx, params: &ThreadStartParams) -> Result<Place, Error> {
    let cwd = params.cwd.as_ref().map(PathBuf::from);
    if cwd.as_ref().is_some_and(|cwd| !cwd.is_absolute()) {
        return Err(Error::invalid("cwd must be absolute"));
    }
    let usual = cx.cwd();
    let found = cx
        .core
        .agents()
        .place_for(
            cwd.as_deref(),
            params.workspace_id.as_deref(),
            params.root_id.as_deref(),
            &usual,
        )
        .await?;
    Ok(Place {
        cwd: found.cwd,
        root: found.root,
        workspace: found.workspace_id,
        root_id: found.root_id,
    })
}

fn choice(params: &ThreadStartParams) -> Result<model::Choice, Error> {
    let mut choice = model::Choice {
        provider: params.model_provider.clone().unwrap_or_default(),
        model: params.model.clone().unwrap_or_default(),
        reasoning: params.reasoning.clone(),
    };
    match &params.selection {
        Some(Selection::Manual { provider, model, reasoning }) => {
            choice.provider.clone_from(provider);
            choice.model = model.clone().unwrap_or(choice.model);
            choice.reasoning = reasoning.clone().or(choice.reasoning);
        }
        Some(Selection::Auto { option_id }) => {
            return Err(Error::invalid(format!("unknown routing option: {option_id}")));
        }
        None => {}
    }
    Ok(choice)
}

pub(crate) async fn list(cx: Cx, params: ThreadListParams) -> Result<ThreadListResult, Error> {
    let limit = params.limit.map_or(PAGE, |limit| limit.clamp(1, LARGEST_PAGE) as usize);
    let cursor = params.cursor.as_deref().map(Cursor::read).transpose()?;
    let (after, before) = match cursor {
        Some(Cursor { is_backwards: false, key }) => (Some(key), None),
        Some(Cursor { is_backwards: true, key }) => (None, Some(key)),
        None => (None, None),
    };
    let query = ThreadQuery {
        limit,
        after,
        before,
        archived: params.archived,
        cwd: params.cwd.map(PathBuf::from),
        search: params.search_term.filter(|term| !term.is_empty()),
    };
    let page = cx.core.threads().list(&query);
    let key = |seen: &rookery_core::ThreadView| (seen.thread.updated_at, seen.thread.id);
    let next = page.threads.last().filter(|_| page.has_more).map(key);
    let earlier = page.threads.first().filter(|_| page.has_earlier).map(key);
    Ok(ThreadListResult {
        data: page.threads.iter().map(|seen| show::thread(&cx, seen)).collect(),
        next_cursor: next.map(|key| Cursor { is_backwards: false, key }.write()),
        backwards_cursor: earlier.map(|key| Cursor { is_backwards: true, key }.write()),
    })
}

/// A place in the list: what it goes on from, and in which direction.
struct Cursor {
    is_backwards: bool,
    key: (model::Timestamp, model::ThreadId),
}

impl Cursor {
    fn write(&self) -> String {
        let direction = if self.is_backwards { 'b' } else { 'f' };
        let (at, id) = self.key;
        URL_SAFE_NO_PAD.encode(format!("{direction}:{}:{id}", at.as_seconds()))
    }

    fn read(text: &str) -> Result<Self, Error> {
        let read = || {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
            let text = String::from_utf8(bytes).ok()?;
            let (direction, rest) = text.split_once(':')?;
            let (seconds, id) = rest.split_once(':')?;
            let micros = seconds.parse::<i64>().ok()?.checked_mul(1_000_000)?;
            let key = (model::Timestamp::from_micros(micros), id.parse().ok()?);
            let is_backwards = match direction {
                "f" => false,
                "b" => true,
                _ => return None,
            };
            Some(Cursor { is_backwards, key })
        };
        read().ok_or_else(|| Error::invalid("invalid cursor"))
    }
}

pub(crate) async fn read(cx: Cx, params: ThreadReadParams) -> Result<ThreadReadResult, Error> {
    let nothing = ThreadReadResult {
        thread: None,
        lifecycle: LifecycleLog::default(),
        policy_decisions: None,
    };
    let Ok(id) = params.thread_id.parse::<model::ThreadId>() else { return Ok(nothing) };
    let Some(seen) = cx.core.threads().get(id).filter(|seen| !seen.thread.archived) else {
        return Ok(nothing);
    };
    let whole = cx.core.threads().read(id).await?;
    let lifecycle = lifecycle(&whole);
    if !params.include_turns {
        let thread = Some(show::thread(&cx, &seen));
        return Ok(ThreadReadResult { thread, lifecycle, policy_decisions: None });
    }
    let query = model::DecisionQuery { thread: Some(id), ..Default::default() };
    let decisions = cx.core.requests().decisions(query, MAX_DECISIONS).await?;
    let decisions: Vec<_> =
        decisions.iter().map(|one| show::decision(&cx, &one.decision)).collect();
    let policy_decisions = (!decisions.is_empty()).then_some(decisions);
    let thread = Some(show::thread(&cx, &whole));
    Ok(ThreadReadResult { thread, lifecycle, policy_decisions })
}

/// The last record of each turn.
fn lifecycle(seen: &rookery_core::ThreadView) -> LifecycleLog {
    let thread = seen.thread.id.to_string();
    let active = seen.status.active_turn;
    let records = seen.turns.iter().flatten().map(|one| {
        let interrupted_at = seen.interrupted_at.filter(|_| active == Some(one.turn.id));
        show::lifecycle(&thread, &TurnLifecycle::of(&one.turn, interrupted_at))
    });
    LifecycleLog { records: records.collect(), corrupt_record_count: seen.unreadable }
}

/// Turns of a page of history by default.
const HISTORY_PAGE: usize = 20;

pub(crate) async fn history(
    cx: Cx,
    params: ThreadHistoryReadParams,
) -> Result<ThreadHistoryReadResult, Error> {
    let nothing = ThreadHistoryReadResult { thread: None, before: None, has_more: false };
    let Ok(id) = params.thread_id.parse::<model::ThreadId>() else { return Ok(nothing) };
    if cx.core.threads().get(id).is_none_or(|seen| seen.thread.archived) {
        return Ok(nothing);
    }
    let mut seen = cx.core.threads().read(id).await?;
    let turns = seen.turns.take().unwrap_or_default();
    let end = match &params.before {
        None => turns.len(),
        Some(before) => {
            let place = turns.iter().position(|seen| seen.turn.id.to_string() == *before);
            place.ok_or_else(|| Error::invalid("invalid cursor"))?
        }
    };
    let limit = params.limit.map_or(HISTORY_PAGE, |limit| limit.clamp(1, LARGEST_PAGE) as usize);
    let budget = params.max_bytes.unwrap_or(u64::MAX);
    let (mut start, mut bytes) = (end, 0);
    while start > 0 && end - start < limit {
        bytes += size(&turns[start - 1]);
        // One turn is always given, or no client could ever get past it.
        if bytes > budget && start < end {
            break;
        }
        start -= 1;
    }
    let before = (start > 0).then(|| turns[start].turn.id.to_string());
    seen.turns = Some(turns[start..end].to_vec());
    let has_more = start > 0;
    Ok(ThreadHistoryReadResult { thread: Some(show::thread(&cx, &seen)), before, has_more })
}

fn size(seen: &rookery_core::TurnView) -> u64 {
    let shown = show::turn_view(seen);
    serde_json::to_vec(&shown).map_or(0, |text| text.len() as u64)
}

/// A path that a client named, if it is absolute.
pub(crate) fn absolute(path: &str) -> Result<&Path, Error> {
    let path = Path::new(path);
    match path.is_absolute() {
        true => Ok(path),
        false => Err(Error::invalid("path must be absolute")),
    }
}
