//! Threads: listed, read, started and looked after.

use rookery_core::{Core, FittedChoice, NewThread, ThreadQuery, ThreadView, TurnView};
use rookery_model as model;

use super::check_name;
use super::named::{absolute, pick};
use crate::{
    Cx, Error,
    wire::{
        Empty, Item, Thread, ThreadArchive, ThreadCompact, ThreadCompacted, ThreadDelete,
        ThreadFork, ThreadGet, ThreadItems, ThreadList, ThreadMode, ThreadRead, ThreadRename,
        ThreadSetMode, ThreadSetModel, ThreadStart, ThreadUnarchive, Threads, TurnItem,
    },
};

const DEFAULT_PAGE: usize = 50;
const LARGEST_PAGE: usize = 500;
const DEFAULT_ITEMS: usize = 100;
const MOST_ITEMS: usize = 1000;
const DEFAULT_BYTES: usize = 1 << 20;

pub(crate) async fn list(cx: Cx, params: ThreadList) -> Result<Threads, Error> {
    if let Some(cwd) = &params.cwd {
        absolute("cwd", cwd)?;
    }
    let after = params.cursor.as_deref().map(read_cursor).transpose()?;
    let limit = params.limit.unwrap_or(DEFAULT_PAGE).clamp(1, LARGEST_PAGE);
    let search = params.search.filter(|text| !text.is_empty());
    let archived = params.archived;
    let query = ThreadQuery { limit, after, before: None, archived, cwd: params.cwd, search };
    let page = cx.core.threads().list(&query);
    let last = page.threads.last().filter(|_| page.has_more);
    let next = last.map(|seen| write_cursor(seen.thread.updated_at, seen.thread.id));
    Ok(Threads { threads: page.threads.iter().map(|seen| shown(&cx.core, seen)).collect(), next })
}

/// A place in the list: whole seconds, by which it is ordered, and an id.
fn write_cursor(at: model::Timestamp, id: model::ThreadId) -> String {
    format!("{}:{id}", at.as_seconds())
}

fn read_cursor(text: &str) -> Result<(model::Timestamp, model::ThreadId), Error> {
    let read = || {
        let (seconds, id) = text.split_once(':')?;
        let micros = seconds.parse::<i64>().ok()?.checked_mul(1_000_000)?;
        Some((model::Timestamp::from_micros(micros), id.parse().ok()?))
    };
    read().ok_or_else(|| Error::invalid("cursor", "cursor must be the `next` of a page"))
}

pub(crate) async fn get(cx: Cx, params: ThreadGet) -> Result<Thread, Error> {
    current(&cx.core, find(&cx.core, &params.thread)?)
}

pub(crate) async fn read(cx: Cx, params: ThreadRead) -> Result<ThreadItems, Error> {
    let mut seen = cx.core.threads().read(find(&cx.core, &params.thread)?).await?;
    let turns = seen.turns.take().unwrap_or_default();
    let all: Vec<(&TurnView, &model::Item)> =
        turns.iter().flat_map(|turn| turn.items.iter().map(move |item| (turn, item))).collect();
    let end = match params.before.as_deref() {
        None => all.len(),
        Some(before) => all
            .iter()
            .position(|(_, item)| item.id.as_str() == before)
            .ok_or_else(|| Error::invalid("before", "before must be the `before` of a page"))?,
    };
    let limit = params.limit.unwrap_or(DEFAULT_ITEMS).clamp(1, MOST_ITEMS);
    let items = last_items(&all[..end], limit, params.max_bytes.unwrap_or(DEFAULT_BYTES));
    let start = end - items.len();
    let is_here = |turn: &&TurnView| {
        let id = turn.turn.id.to_string();
        items.iter().any(|item| item.turn == id) || (end == all.len() && turn.items.is_empty())
    };
    Ok(ThreadItems {
        thread: shown(&cx.core, &seen),
        turns: turns.iter().filter(is_here).map(|turn| (&turn.turn).into()).collect(),
        before: (start > 0).then(|| all[start].1.id.as_str().to_owned()),
        items,
        unreadable: seen.unreadable,
    })
}

/// The last of these items that fit, in order. One is always given, or no client could get past it.
fn last_items(all: &[(&TurnView, &model::Item)], limit: usize, budget: usize) -> Vec<TurnItem> {
    let mut items = Vec::new();
    let mut bytes = 0;
    for (turn, item) in all.iter().rev().take(limit) {
        let item = TurnItem { turn: turn.turn.id.to_string(), item: Item::from(*item) };
        bytes += serde_json::to_vec(&item).map_or(0, |text| text.len());
        if bytes > budget && !items.is_empty() {
            break;
        }
        items.push(item);
    }
    items.reverse();
    items
}

pub(crate) async fn start(cx: Cx, params: ThreadStart) -> Result<Thread, Error> {
    absolute("cwd", &params.cwd)?;
    if let Some(name) = &params.name {
        check_name("name", name)?;
    }
    let agents = cx.core.agents();
    let place = agents.place_for(Some(&params.cwd), None, None, &params.cwd).await?;
    let new = NewThread {
        cwd: place.cwd,
        root: Some(place.root),
        place: Some((place.workspace_id, place.root_id)),
        choice: choice(params.provider, params.model, params.reasoning),
        ephemeral: params.ephemeral,
        name: params.name,
        keys: cx.keys(),
        ..NewThread::default()
    };
    let seen = cx.core.threads().start(new).await?;
    Ok(shown(&cx.core, &seen))
}

pub(crate) async fn fork(cx: Cx, params: ThreadFork) -> Result<Thread, Error> {
    let id = find(&cx.core, &params.thread)?;
    if let Some(name) = &params.name {
        check_name("name", name)?;
    }
    let turn = params.turn.as_deref().map(turn_id).transpose()?;
    let seen = cx.core.threads().fork(id, turn, params.name).await?;
    Ok(shown(&cx.core, &seen))
}

pub(crate) async fn rename(cx: Cx, params: ThreadRename) -> Result<Thread, Error> {
    let id = find(&cx.core, &params.thread)?;
    if let Some(name) = &params.name {
        check_name("name", name)?;
    }
    cx.core.threads().rename(id, params.name).await?;
    current(&cx.core, id)
}

pub(crate) async fn archive(cx: Cx, params: ThreadArchive) -> Result<Thread, Error> {
    let id = find(&cx.core, &params.thread)?;
    cx.core.threads().archive(id, true).await?;
    current(&cx.core, id)
}

pub(crate) async fn unarchive(cx: Cx, params: ThreadUnarchive) -> Result<Thread, Error> {
    let id = find(&cx.core, &params.thread)?;
    cx.core.threads().archive(id, false).await?;
    current(&cx.core, id)
}

pub(crate) async fn delete(cx: Cx, params: ThreadDelete) -> Result<Empty, Error> {
    // By its whole id only: what is deleted does not come back.
    let id = params.thread.parse().map_err(|_| unknown(&params.thread))?;
    match cx.core.threads().delete(id).await? {
        true => Ok(Empty {}),
        false => Err(unknown(&params.thread)),
    }
}

pub(crate) async fn compact(cx: Cx, params: ThreadCompact) -> Result<ThreadCompacted, Error> {
    let id = find(&cx.core, &params.thread)?;
    let done = cx.core.threads().compact(id, params.hint.as_deref(), &cx.keys()).await?;
    let (compacted, reason) = (done.is_shorter, done.reason);
    Ok(ThreadCompacted { compacted, reason, before: done.before, after: done.after })
}

pub(crate) async fn set_model(cx: Cx, params: ThreadSetModel) -> Result<Thread, Error> {
    let id = find(&cx.core, &params.thread)?;
    let mut usual = known(&cx.core, id)?.thread.choice;
    let wanted = choice(params.provider, params.model, params.reasoning);
    if wanted == model::Choice::default() {
        return Err(Error::invalid("model", "give a provider, a model or reasoning"));
    }
    if !wanted.model.trim().is_empty() {
        usual.reasoning = None;
    }
    let FittedChoice { choice, warning } =
        cx.core.agents().fit_choice(wanted, &usual, &cx.keys()).await?;
    cx.core.threads().choose(id, choice).await?;
    if let Some(warning) = warning {
        cx.core.log().warn(Some(id), warning);
    }
    current(&cx.core, id)
}

pub(crate) async fn set_mode(cx: Cx, params: ThreadSetMode) -> Result<ThreadMode, Error> {
    let thread = params.thread.as_deref().map(|text| find(&cx.core, text)).transpose()?;
    cx.core.threads().set_mode(thread, params.mode.into(), None, params.reason).await?;
    Ok(ThreadMode { mode: cx.core.threads().mode(thread).into() })
}

fn choice(
    provider: Option<String>,
    model: Option<String>,
    reasoning: Option<String>,
) -> model::Choice {
    let (provider, model) = (provider.unwrap_or_default(), model.unwrap_or_default());
    model::Choice { provider, model, reasoning }
}

/// The thread that a request names, by its id or the end of it.
pub(super) fn find(core: &Core, text: &str) -> Result<model::ThreadId, Error> {
    let text = text.trim();
    if let Ok(id) = text.parse() {
        return known(core, id).map(|seen| seen.thread.id);
    }
    let of = |archived| {
        let query = ThreadQuery { limit: usize::MAX, archived, ..ThreadQuery::default() };
        core.threads().list(&query).threads
    };
    let ids = of(false).into_iter().chain(of(true)).map(|seen| seen.thread.id);
    pick("thread", ids, text)
}

/// A turn, by its whole id.
pub(super) fn turn_id(text: &str) -> Result<model::TurnId, Error> {
    let shown: String = text.chars().take(64).collect();
    text.parse().map_err(|_| model::Error::not_found(format!("no turn {shown:?}")).into())
}

fn unknown(text: &str) -> Error {
    let shown: String = text.chars().take(64).collect();
    model::Error::not_found(format!("no thread {shown:?}")).into()
}

pub(super) fn known(core: &Core, id: model::ThreadId) -> Result<ThreadView, Error> {
    core.threads().get(id).ok_or_else(|| unknown(&id.to_string()))
}

/// A thread as it is now.
fn current(core: &Core, id: model::ThreadId) -> Result<Thread, Error> {
    Ok(shown(core, &known(core, id)?))
}

fn shown(core: &Core, seen: &ThreadView) -> Thread {
    Thread::of(seen, core.threads().mode(Some(seen.thread.id)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_cursor_is_read_or_refused(text in any::<String>()) {
            let _ = read_cursor(&text);
        }

        #[test]
        fn cursors_survive_the_trip(seconds in 0_i64..4_000_000_000, id: u128) {
            let key = (model::Timestamp::from_micros(seconds * 1_000_000), model::ThreadId::new(id));
            prop_assert_eq!(read_cursor(&write_cursor(key.0, key.1)), Ok(key));
        }
    }
}
