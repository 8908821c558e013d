//! Cards and diffs: what a person decides by.

use std::path::Path;

use rookery_core::Compared;
use rookery_model::{self as model, Asked, ItemBody, Related};
use rookery_view::link::{Card, CardCall, Diff, DiffCall, DiffFile, FileStatus, bound};
use rookery_view::{diff, safe};

use crate::ids::parse;
use crate::{Cx, Error, make};

/// Decisions among which that on a request is looked for.
const MOST_DECISIONS: usize = 200;

pub(crate) async fn card(cx: Cx, params: CardCall) -> Result<Card, Error> {
    cx.viewer()?;
    let items = cx.core.queue().list();
    let (item, request) = match (&params.item, &params.request) {
        (Some(item), None) => {
            let id: model::QueueItemId = parse("item", item)?;
            let found = items.iter().find(|item| item.id == id);
            let found =
                found.ok_or_else(|| model::Error::not_found(format!("no queue item {id}")))?;
            let request = match found.related {
                Some(Related::Request(id)) => cx.core.requests().recent(id),
                _ => None,
            };
            (Some(found), request)
        }
        (None, Some(request)) => {
            let id: model::RequestId = parse("request", request)?;
            let found = cx.core.requests().recent(id);
            let found = found.ok_or_else(|| model::Error::not_found(format!("no request {id}")))?;
            (items.iter().find(|item| item.related == Some(Related::Request(id))), Some(found))
        }
        _ => return Err(Error::invalid("item", "give either item or request")),
    };
    cx.session.change(|state| state.card = request.as_ref().map(|request| request.id));
    let mut card = make::card(&cx.core, item, request.as_ref());
    if let Some(request) = &request {
        card.rule = rule_of(&cx, request).await;
    }
    Ok(card)
}

/// The rule of the configuration by which a request is asked, as the record of decisions has it.
async fn rule_of(cx: &Cx, request: &model::Request) -> Option<String> {
    let Asked::Approval { .. } = &request.asked else { return None };
    let query = model::DecisionQuery {
        thread: request.thread(),
        since: Some(request.asked_at),
        ..model::DecisionQuery::default()
    };
    let recorded = cx.core.requests().decisions(query, MOST_DECISIONS).await;
    // A convenience: who reads the card decides by what would be done.
    let mut rules = recorded.ok()?.into_iter().map(|it| it.decision);
    let rule = rules.find(|it| it.request == Some(request.id) && it.rule.is_some())?.rule?;
    Some(make::line(&rule))
}

pub(crate) async fn differences(cx: Cx, params: DiffCall) -> Result<Diff, Error> {
    cx.viewer()?;
    let DiffCall { review, checkpoint, with, request, thread, item, .. } = &params;
    let file = params.file.as_deref();
    let files = match (review, checkpoint, request, item) {
        (Some(review), None, None, None) => of_review(&cx, review, file).await?,
        (None, Some(checkpoint), None, None) => {
            of_checkpoint(&cx, checkpoint, with.as_deref(), file).await?
        }
        (None, None, Some(request), None) => of_request(&cx, request)?,
        (None, None, None, Some(item)) => of_item(&cx, thread.as_deref(), item).await?,
        _ => {
            let message = "give one of review, checkpoint, request and item";
            return Err(Error::invalid("review", message));
        }
    };
    page(&files, file, params.from.unwrap_or(0) as usize)
}

async fn of_review(cx: &Cx, review: &str, file: Option<&str>) -> Result<Vec<DiffFile>, Error> {
    let id: model::ReviewId = parse("review", review)?;
    let found = cx.core.reviews().list().into_iter().find(|review| review.id == id);
    let found = found.ok_or_else(|| model::Error::not_found(format!("no review {id}")))?;
    match found.checkpoint {
        Some(checkpoint) => between(cx, checkpoint, Compared::Head, file).await,
        None => Ok(found.differences.files.iter().map(make_file).collect()),
    }
}

async fn of_checkpoint(
    cx: &Cx,
    id: &str,
    with: Option<&str>,
    file: Option<&str>,
) -> Result<Vec<DiffFile>, Error> {
    let with = match with {
        None | Some("now") => Compared::Now,
        Some("head") => Compared::Head,
        Some(other) => Compared::Checkpoint(parse("with", other)?),
    };
    between(cx, parse("checkpoint", id)?, with, file).await
}

/// The files between a checkpoint and something else, all of them. Lines of one that the patch has no room for are
/// read by themselves.
async fn between(
    cx: &Cx,
    id: model::CheckpointId,
    with: Compared,
    file: Option<&str>,
) -> Result<Vec<DiffFile>, Error> {
    let checkpoints = cx.core.checkpoints();
    let found = checkpoints.diff(id, with).await?;
    let counted = checkpoints.counted(&found).files;
    let mut files = listed(&counted, &found.patch, found.is_cut);
    let asked = |one: &&mut DiffFile| Some(&*one.path) == file && one.cut;
    let known = counted.iter().find(|one| Some(&*safe::exact(&one.path)) == file);
    if let (Some(cut), Some(known)) = (files.iter_mut().find(asked), known) {
        let alone = checkpoints.diff_file(id, with, Path::new(&known.path)).await?;
        let whole = listed(std::slice::from_ref(known), &alone.patch, alone.is_cut);
        if let Some(whole) = whole.into_iter().next() {
            *cut = whole;
        }
    }
    Ok(files)
}

/// Every file that git counted, with the lines that the patch has of it.
fn listed(counted: &[model::ChangedFile], patch: &[u8], is_cut: bool) -> Vec<DiffFile> {
    let mut parsed = diff::parse(&String::from_utf8_lossy(patch));
    if let Some(last) = parsed.last_mut() {
        last.cut |= is_cut;
    }
    let mut files: Vec<DiffFile> = Vec::with_capacity(counted.len());
    for file in counted {
        let path = safe::exact(&file.path);
        let known = parsed.iter().position(|one| one.path == path).map(|at| parsed.remove(at));
        let known = known.unwrap_or_else(|| DiffFile {
            path,
            status: match &*file.status {
                "A" => FileStatus::Added,
                "D" => FileStatus::Removed,
                _ => FileStatus::Changed,
            },
            binary: file.additions.is_none(),
            cut: file.additions.is_some(),
            ..DiffFile::default()
        });
        let (added, removed) = (count(file.additions), count(file.deletions));
        files.push(DiffFile { added, removed, ..known });
    }
    files.extend(parsed);
    files
}

fn count(lines: Option<u64>) -> u32 {
    u32::try_from(lines.unwrap_or(0)).unwrap_or(u32::MAX)
}

fn make_file(file: &model::ChangedFile) -> DiffFile {
    DiffFile {
        path: make::line(&file.path),
        added: count(file.additions),
        removed: count(file.deletions),
        binary: file.additions.is_none(),
        // Only the numbers are known.
        cut: count(file.additions).saturating_add(count(file.deletions)) > 0,
        ..DiffFile::default()
    }
}

fn of_request(cx: &Cx, request: &str) -> Result<Vec<DiffFile>, Error> {
    let id: model::RequestId = parse("request", request)?;
    let found = cx.core.requests().get(id);
    let found = found.ok_or_else(|| model::Error::not_found(format!("no request {id}")))?;
    let patch = match &found.asked {
        Asked::Approval { kind, preview, .. } => {
            preview.as_deref().and_then(|preview| make::patch(*kind, preview))
        }
        Asked::Input { .. }
        | Asked::PlanExit(_)
        | Asked::External(_)
        | Asked::Permission { .. }
        | Asked::Dialog { .. } => None,
    };
    Ok(patch.map(|(files, _)| files).unwrap_or_default())
}

async fn of_item(cx: &Cx, thread: Option<&str>, item: &str) -> Result<Vec<DiffFile>, Error> {
    let open = cx.session.look(|state| state.thread);
    let thread = match thread {
        Some(thread) => parse("thread", thread)?,
        None => open.ok_or_else(|| Error::invalid("thread", "say which thread the item is in"))?,
    };
    let seen = cx.core.threads().read(thread).await?;
    let turns = seen.turns.unwrap_or_default();
    let all = turns.iter().flat_map(|turn| turn.items.iter().map(move |item| (turn.turn.id, item)));
    let found = all.into_iter().find(|(_, known)| known.id.as_str() == item);
    let (turn, found) =
        found.ok_or_else(|| model::Error::not_found(format!("no item {item:?}")))?;
    Ok(match &found.body {
        ItemBody::Tool(tool) => {
            let edits = make::Edits::read(&cx.core, thread, Some(turn)).await;
            let said = || make::files(&make::tool_output(tool)).unwrap_or_default();
            edits.of(turn, &tool.call_id).cloned().unwrap_or_else(said)
        }
        ItemBody::User { .. }
        | ItemBody::Agent { .. }
        | ItemBody::Reasoning { .. }
        | ItemBody::Compaction { .. }
        | ItemBody::Error { .. }
        | ItemBody::Raw { .. } => Vec::new(),
    })
}

/// The list of files, or a page of the lines of one.
fn page(files: &[DiffFile], file: Option<&str>, from: usize) -> Result<Diff, Error> {
    let Some(path) = file else {
        return Ok(Diff { files: diff::summary(files), next: None });
    };
    let found = files.iter().find(|file| file.path == path);
    let none = || model::Error::not_found(format!("no file {path:?} in this diff"));
    let (file, next) = diff::page(found.ok_or_else(none)?, from, bound::DIFF_PAGE_LINES);
    Ok(Diff { files: vec![file], next: next.and_then(|next| u32::try_from(next).ok()) })
}
