//! Threads as `--json` prints them: Roder's own objects, which scripts parse, asked for in Roder's words.

use std::path::PathBuf;

use rookery_roder::wire::thread::{
    Thread, ThreadHistoryReadParams, ThreadHistoryReadResult, ThreadListParams, ThreadListResult,
    ThreadReadParams, ThreadReadResult,
};
use rookery_wire::Client;
use serde::Serialize;

use crate::{args, failure::Outcome, link::call, talk::threads};

/// The most the daemon gives at once.
const LARGEST_PAGE: u32 = 500;
/// About how much of a conversation comes at once.
const PAGE_BYTES: u64 = 4 << 20;

/// Threads for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed {
    threads: Vec<Thread>,
    /// Whether there are older ones.
    has_more: bool,
}

/// The threads that are asked for.
pub(super) async fn list(
    client: &Client,
    args: &args::ThreadsList,
    cwd: Option<PathBuf>,
) -> Outcome<Listed> {
    let cwd = cwd.map(|path| path.to_string_lossy().into_owned());
    let mut all: Vec<Thread> = Vec::new();
    let mut cursor = None;
    loop {
        let left = args.limit.saturating_sub(u32::try_from(all.len()).unwrap_or(u32::MAX));
        let params = ThreadListParams {
            limit: Some(left.min(LARGEST_PAGE)),
            cursor,
            archived: args.archived,
            cwd: cwd.clone(),
            search_term: args.search.clone(),
        };
        let page: ThreadListResult = call(client, params).await?;
        let count = u32::try_from(page.data.len()).unwrap_or(u32::MAX);
        all.extend(page.data);
        cursor = page.next_cursor;
        if cursor.is_none() || count == 0 || count >= left {
            return Ok(Listed { threads: all, has_more: cursor.is_some() });
        }
    }
}

/// A thread without its turns.
pub(super) async fn one(client: &Client, id: &str) -> Outcome<Thread> {
    let params = ThreadReadParams { thread_id: id.to_owned(), include_turns: false };
    let read: ThreadReadResult = call(client, params).await?;
    read.thread.ok_or_else(|| threads::unreadable(id))
}

/// A thread with all of its turns, which may be too much for one message.
pub(super) async fn whole(client: &Client, id: &str) -> Outcome<Thread> {
    let mut later = Vec::new();
    let mut before = None;
    loop {
        let params = ThreadHistoryReadParams {
            thread_id: id.to_owned(),
            before,
            limit: Some(LARGEST_PAGE),
            max_bytes: Some(PAGE_BYTES),
        };
        let page: ThreadHistoryReadResult = call(client, params).await?;
        let mut thread = page.thread.ok_or_else(|| threads::unreadable(id))?;
        let mut turns = thread.turns.take().unwrap_or_default();
        turns.append(&mut later);
        if !page.has_more || page.before.is_none() {
            thread.turns = Some(turns);
            return Ok(thread);
        }
        (later, before) = (turns, page.before);
    }
}
