//! Threads: read, written to and looked after, without Roder's notifications.

use std::path::PathBuf;

use rookery_agent::turn::Message;
use rookery_core::{FittedChoice, NewThread, NewTurn, ThreadQuery, ThreadView, TurnView};
use rookery_model::Words as _;
use rookery_model::{self as model, ItemBody, ProjectId, ThreadId};
use rookery_view::link::{
    CommandRow, CommandsFound, Done, ItemCall, ItemShown, ModelRow, ModelsFound, ThreadFork,
    ThreadItem, ThreadItems, ThreadList, ThreadNew, ThreadOlder, ThreadOpen, ThreadRef, ThreadRow,
    ThreadSend, ThreadSet, ThreadShown, ThreadsFound, bound,
};
use rookery_wire::rpc::NoParams;

use crate::ids::{millis, parse};
use crate::session::threads::OpenThread;
use crate::{Cx, Error, make};

/// Threads of one page.
const PAGE: usize = 100;
/// Bytes of a thread's name.
const NAME_BYTES: usize = 4096;
/// Bytes of a line that is not parted.
const PART_BYTES: usize = 64 << 10;

impl Cx {
    fn thread(&self, text: &str) -> Result<ThreadView, Error> {
        let id: ThreadId = parse("thread", text)?;
        let none = || model::Error::not_found(format!("no thread {id}")).into();
        self.core.threads().get(id).ok_or_else(none)
    }

    /// Items of a thread before one of them, the newest of those last.
    async fn items(
        &self,
        id: ThreadId,
        before: Option<&str>,
        limit: Option<u32>,
    ) -> Result<(Vec<ThreadItem>, bool), Error> {
        let limit = limit.unwrap_or(bound::THREAD_ITEMS);
        if limit == 0 || limit > bound::THREAD_ITEMS {
            let message = format!("limit must be between 1 and {}", bound::THREAD_ITEMS);
            return Err(Error::invalid("limit", message));
        }
        let seen = self.core.threads().read(id).await?;
        let turns = seen.turns.unwrap_or_default();
        let all: Vec<(&TurnView, &model::Item)> = turns
            .iter()
            .flat_map(|turn| turn.items.iter().map(move |item| (turn, item)))
            .filter(|(_, item)| item.is_shown())
            .collect();
        let end = match before {
            None => all.len(),
            Some(before) => all
                .iter()
                .position(|(_, item)| item.id.as_str() == before)
                .ok_or_else(|| Error::invalid("before", "before must be an item of the thread"))?,
        };
        let edits = make::Edits::read(&self.core, id, None).await;
        let mut room = bound::THREAD_BYTES;
        let mut shown = Vec::new();
        for (turn, item) in all[..end].iter().rev().take(limit as usize) {
            let item = make::item(&self.core, turn.turn.id, item, &edits);
            let weight = make::weight(&item);
            if weight > room && !shown.is_empty() {
                break;
            }
            room = room.saturating_sub(weight);
            shown.push(item);
        }
        shown.reverse();
        let more = end > shown.len();
        Ok((shown, more))
    }
}

pub(crate) async fn open(cx: Cx, params: ThreadOpen) -> Result<ThreadShown, Error> {
    cx.viewer()?;
    let seen = cx.thread(&params.thread)?;
    let id = seen.thread.id;
    // Followed from before it is read, so that nothing is missed in between.
    let open = OpenThread::new(&cx.core, id).await?;
    let (items, more) = cx.items(id, None, params.limit).await?;
    let ends = make::Ends::new(&cx.core);
    let head = make::head(&cx.core, &cx.thread(&params.thread)?, &ends);
    // No waiting from here on, so that the reply goes out before what happens next.
    cx.session.change(|state| (state.thread, state.opening) = (Some(id), Some(open)));
    Ok(ThreadShown { head, items, more })
}

pub(crate) async fn older(cx: Cx, params: ThreadOlder) -> Result<ThreadItems, Error> {
    cx.viewer()?;
    let open = cx.session.look(|state| state.thread);
    let id = match &params.thread {
        Some(thread) => cx.thread(thread)?.thread.id,
        None => open.ok_or_else(|| Error::invalid("thread", "no thread is open"))?,
    };
    let (items, more) = cx.items(id, Some(&params.before), params.limit).await?;
    Ok(ThreadItems { items, more })
}

pub(crate) async fn new(cx: Cx, params: ThreadNew) -> Result<ThreadRef, Error> {
    cx.viewer()?;
    check_text(&params.text, false)?;
    let cwd = match (&params.cwd, params.project) {
        (Some(cwd), None) => PathBuf::from(cwd),
        (None, Some(id)) => {
            let id = ProjectId::new(id);
            let projects = cx.core.workspace().projects();
            let found = projects.into_iter().find(|project| project.id == id);
            found.ok_or_else(|| model::Error::not_found(format!("no project {id}")))?.root
        }
        _ => return Err(Error::invalid("cwd", "give either cwd or project")),
    };
    if !cwd.is_absolute() {
        return Err(Error::invalid("cwd", format!("{} is not an absolute path", cwd.display())));
    }
    let mode = params.mode.as_deref().map(mode).transpose()?;
    // Who answers what is asked does not choose what is asked at all.
    if mode.is_some() && !cx.allowed.admits(rookery_wire::rights::Needs::Full) {
        return Err(Error::denied("this viewer may not choose the mode of a thread"));
    }
    let place = cx.core.agents().place_for(Some(&cwd), None, None, &cwd).await?;
    let choice = model::Choice {
        provider: params.provider.unwrap_or_default(),
        model: params.model.unwrap_or_default(),
        reasoning: None,
    };
    let started = cx
        .core
        .threads()
        .start(NewThread {
            cwd: place.cwd,
            root: Some(place.root),
            place: Some((place.workspace_id, place.root_id)),
            choice,
            ..NewThread::default()
        })
        .await?;
    let id = started.thread.id;
    if let Err(error) = begin(&cx, id, mode, params.text).await {
        // Without its first message it is nothing that is looked for in a list.
        if let Err(error) = cx.core.threads().delete(id).await {
            tracing::warn!(%error, "a thread that could not begin stays");
        }
        return Err(error.into());
    }
    Ok(ThreadRef { thread: id.to_string() })
}

async fn begin(
    cx: &Cx,
    id: ThreadId,
    mode: Option<model::Mode>,
    text: String,
) -> model::Result<()> {
    if let Some(mode) = mode {
        cx.core.threads().set_mode(Some(id), mode, None, None).await?;
    }
    let message = Message { text, ..Message::default() };
    cx.core.threads().start_turn(id, NewTurn { message, ..NewTurn::default() }).await.map(drop)
}

fn check_text(text: &str, may_be_blank: bool) -> Result<(), Error> {
    if text.len() > bound::COMPOSER_BYTES {
        let message = format!("a message has at most {} bytes", bound::COMPOSER_BYTES);
        return Err(Error::invalid("text", message));
    }
    match text.trim().is_empty() && !may_be_blank {
        true => Err(Error::invalid("text", "text must not be blank")),
        false => Ok(()),
    }
}

fn check_images(params: &ThreadSend) -> Result<(), Error> {
    let images = params.images.iter().map(|image| image.mime.len() + image.data.len());
    if images.sum::<usize>() > bound::IMAGE_BYTES {
        let message = format!("images have at most {} bytes together", bound::IMAGE_BYTES);
        return Err(Error::invalid("images", message));
    }
    Ok(())
}

fn mode(word: &str) -> Result<model::Mode, Error> {
    let known = || Error::invalid("mode", format!("there is no mode {word:?}"));
    model::Mode::from_word(word).ok_or_else(known)
}

pub(crate) async fn send(cx: Cx, params: ThreadSend) -> Result<Done, Error> {
    cx.viewer()?;
    let seen = cx.thread(&params.thread)?;
    check_text(&params.text, !params.images.is_empty())?;
    check_images(&params)?;
    let images =
        params.images.iter().map(|image| format!("data:{};base64,{}", image.mime, image.data));
    let message = Message { text: params.text, images: images.collect(), ..Message::default() };
    let new = NewTurn { message, ..NewTurn::default() };
    cx.core.threads().start_turn(seen.thread.id, new).await?;
    Ok(Done {})
}

pub(crate) async fn stop(cx: Cx, params: ThreadRef) -> Result<Done, Error> {
    cx.viewer()?;
    let seen = cx.thread(&params.thread)?;
    match cx.core.threads().interrupt(seen.thread.id, None)? {
        Some(_) => Ok(Done {}),
        None => Err(model::Error::conflict("no turn is running").into()),
    }
}

pub(crate) async fn set(cx: Cx, params: ThreadSet) -> Result<Done, Error> {
    cx.viewer()?;
    let seen = cx.thread(&params.thread)?;
    let id = seen.thread.id;
    let mode = params.mode.as_deref().map(mode).transpose()?;
    if let Some(name) = params.name {
        if name.len() > NAME_BYTES {
            let message = format!("name must have at most {NAME_BYTES} bytes");
            return Err(Error::invalid("name", message));
        }
        let name = Some(name).filter(|name| !name.trim().is_empty());
        cx.core.threads().rename(id, name).await?;
    }
    if let Some(wanted) = params.model {
        let (provider, model) = wanted.split_once('/').unwrap_or(("", &wanted));
        let wanted = model::Choice {
            provider: provider.to_owned(),
            model: model.to_owned(),
            reasoning: None,
        };
        let mut usual = seen.thread.choice.clone();
        usual.reasoning = None;
        let FittedChoice { choice, .. } = cx.core.agents().fit_choice(wanted, &usual, &[]).await?;
        cx.core.threads().choose(id, choice).await?;
    }
    if let Some(mode) = mode {
        cx.core.threads().set_mode(Some(id), mode, None, None).await?;
    }
    if let Some(archived) = params.archived {
        cx.core.threads().archive(id, archived).await?;
    }
    Ok(Done {})
}

pub(crate) async fn fork(cx: Cx, params: ThreadFork) -> Result<ThreadRef, Error> {
    cx.viewer()?;
    let seen = cx.thread(&params.thread)?;
    let turn = match &params.at {
        None => None,
        Some(at) => {
            let read = cx.core.threads().read(seen.thread.id).await?;
            let turns = read.turns.unwrap_or_default();
            let has = |turn: &&TurnView| turn.items.iter().any(|item| item.id.as_str() == at);
            let found = turns.iter().find(has).map(|turn| turn.turn.id);
            Some(found.ok_or_else(|| Error::invalid("at", "at must be an item of the thread"))?)
        }
    };
    let forked = cx.core.threads().fork(seen.thread.id, turn, None).await?;
    Ok(ThreadRef { thread: forked.thread.id.to_string() })
}

pub(crate) async fn list(cx: Cx, params: ThreadList) -> Result<ThreadsFound, Error> {
    cx.viewer()?;
    let after = match params.after.as_deref() {
        None => None,
        Some(text) => {
            let read = || {
                let (seconds, id) = text.split_once(':')?;
                let micros = seconds.parse::<i64>().ok()?.checked_mul(1_000_000)?;
                Some((model::Timestamp::from_micros(micros), id.parse().ok()?))
            };
            Some(read().ok_or_else(|| Error::invalid("after", "after must be that of a page"))?)
        }
    };
    let search = params.query.filter(|text| !text.is_empty());
    let query = ThreadQuery { limit: PAGE, after, search, ..ThreadQuery::default() };
    let page = cx.core.threads().list(&query);
    let last = page.threads.last().filter(|_| page.has_more);
    let after = last.map(|it| format!("{}:{}", it.thread.updated_at.as_seconds(), it.thread.id));
    let ends = make::Ends::new(&cx.core);
    let row = |seen: &ThreadView| {
        let head = make::head(&cx.core, seen, &ends);
        ThreadRow {
            thread: head.thread,
            title: head.title,
            project: head.project,
            status: head.status,
            at: millis(seen.thread.updated_at),
            waiting: u32::try_from(head.waiting.len()).unwrap_or(u32::MAX),
        }
    };
    Ok(ThreadsFound { threads: page.threads.iter().map(row).collect(), after })
}

pub(crate) async fn models(cx: Cx, _params: NoParams) -> Result<ModelsFound, Error> {
    cx.viewer()?;
    let mut models = Vec::new();
    for (provider, offered) in cx.core.agents().model_providers(&[]).await {
        models.extend(offered.into_iter().map(|model| ModelRow {
            provider: provider.id.clone(),
            model: model.id,
            efforts: model.reasoning.into_iter().map(|(effort, _)| effort).collect(),
        }));
    }
    Ok(ModelsFound { models })
}

pub(crate) async fn commands(cx: Cx, params: ThreadRef) -> Result<CommandsFound, Error> {
    cx.viewer()?;
    let seen = cx.thread(&params.thread)?;
    let listed = cx.core.agents().commands(&seen.thread.cwd).await?;
    let row = |info: rookery_agent::commands::CommandInfo| CommandRow {
        name: make::line(&info.name),
        description: make::line(info.description.as_deref().unwrap_or_default()),
    };
    Ok(CommandsFound { commands: listed.into_iter().map(row).collect() })
}

pub(crate) async fn item(cx: Cx, params: ItemCall) -> Result<ItemShown, Error> {
    cx.viewer()?;
    let seen = cx.thread(&params.thread)?;
    let read = cx.core.threads().read(seen.thread.id).await?;
    let turns = read.turns.unwrap_or_default();
    let all = turns.iter().flat_map(|turn| turn.items.iter().map(move |item| (turn, item)));
    let found = all.into_iter().find(|(_, item)| item.id.as_str() == params.item);
    let none = || model::Error::not_found(format!("no item {:?}", params.item));
    let (turn, item) = found.ok_or_else(none)?;
    let text = match &item.body {
        ItemBody::Tool(tool) => make::tool_output(tool),
        ItemBody::Reasoning { summary, content } => {
            [summary.join("\n"), content.join("\n")].join("\n")
        }
        ItemBody::User { .. }
        | ItemBody::Agent { .. }
        | ItemBody::Compaction { .. }
        | ItemBody::Error { .. }
        | ItemBody::Raw { .. } => make::text_of(item),
    };
    let from = params.from.unwrap_or(0) as usize;
    let edits = make::Edits::read(&cx.core, seen.thread.id, Some(turn.turn.id)).await;
    let shown = make::item(&cx.core, turn.turn.id, item, &edits);
    let (lines, next) = page(make::lines(&text), from);
    Ok(ItemShown { item: shown, lines, next })
}

/// Lines of a text from one on, as many as a page has, and where the next page begins. Longer ones than a
/// page has room for are parted.
fn page(lines: Vec<String>, from: usize) -> (Vec<String>, Option<u32>) {
    let mut room = bound::ITEM_PAGE_BYTES;
    let mut parts = lines.into_iter().flat_map(|line| closed(&line)).skip(from).peekable();
    let mut shown = Vec::new();
    while let Some(part) = parts.next_if(|part| part.len() < room) {
        if shown.len() == bound::ITEM_PAGE_LINES {
            break;
        }
        room -= part.len();
        shown.push(part);
    }
    let next = from + shown.len();
    let next = parts.peek().and_then(|_| u32::try_from(next).ok());
    (shown, next)
}

/// A line in parts that each fit into a page.
fn closed(line: &str) -> Vec<String> {
    let mut rest = line;
    let mut parts = Vec::new();
    while rest.len() > PART_BYTES {
        let (part, after) = rest.split_at(rest.floor_char_boundary(PART_BYTES));
        parts.push(part.to_owned());
        rest = after;
    }
    parts.push(rest.to_owned());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(lines: &[String]) -> Vec<Vec<String>> {
        let mut pages = Vec::new();
        let mut next = Some(0);
        while let Some(from) = next {
            let (page, after) = page(lines.to_vec(), from as usize);
            pages.push(page);
            next = after;
        }
        pages
    }

    #[test]
    fn pages_have_all_lines_and_hold_their_bounds() {
        let short: Vec<String> = (0..4_500).map(|number| number.to_string()).collect();
        let of_short = pages(&short);
        assert_eq!(of_short.iter().map(Vec::len).collect::<Vec<_>>(), [2_000, 2_000, 500]);
        assert_eq!(of_short.concat(), short);
        let long = ["日".repeat(1 << 20), "end".to_owned()];
        let of_long = pages(&long);
        assert_eq!(of_long.concat().concat(), long.concat());
        let bytes = of_long.iter().map(|page| page.iter().map(String::len).sum::<usize>());
        assert!(bytes.max() <= Some(bound::ITEM_PAGE_BYTES));
        assert_eq!(pages(&[]), [Vec::<String>::new()]);
    }
}
