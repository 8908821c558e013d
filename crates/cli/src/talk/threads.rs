//! Which thread people mean: by id, by the end of it, or by a name that only one has.

use rookery_native::{
    code,
    wire::{Thread, ThreadList},
};
use rookery_wire::{Call, Client, ClientError};

use super::show;
use crate::{
    failure::{Failure, Outcome},
    link::call,
};

/// The fewest letters that name a thread by the end of its id.
const SHORTEST_END: usize = 4;
/// Letters of a whole id.
const WHOLE: usize = 36;
/// Threads asked for at once, and how often.
const PAGE: usize = 500;
const PAGES: usize = 40;

/// The id of the thread called `text`, archived or not.
pub(crate) async fn find(client: &Client, text: &str) -> Outcome<String> {
    if text.len() == WHOLE && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    let mut all = Vec::new();
    for archived in [false, true] {
        all.extend(list(client, archived).await?);
    }
    choose(&all, text)
}

async fn list(client: &Client, archived: bool) -> Outcome<Vec<Thread>> {
    let mut all = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES {
        let params = ThreadList { limit: Some(PAGE), cursor, archived, ..ThreadList::default() };
        let page = call(client, params).await?;
        all.extend(page.threads);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    Ok(all)
}

fn choose(all: &[Thread], text: &str) -> Outcome<String> {
    let end = text.to_ascii_lowercase();
    let is_meant = |thread: &&Thread| {
        let has_end = end.len() >= SHORTEST_END && thread.id.ends_with(&end);
        has_end || thread.name.as_deref() == Some(text)
    };
    let found: Vec<&Thread> = all.iter().filter(is_meant).collect();
    match *found {
        [] => Err(Failure::new(format!("no thread has the id or name {text:?}"))
            .hint("run `rookery threads` to list threads")),
        [thread] => Ok(thread.id.clone()),
        _ => {
            let ids: Vec<&str> = found.iter().take(5).map(|thread| &*thread.id).collect();
            Err(Failure::new(format!("{} threads are called {text:?}", found.len()))
                .hint(format!("use its id: {}", ids.join(", "))))
        }
    }
}

/// Calls a method about a thread that may not be there.
pub(crate) async fn known<P: Call>(client: &Client, id: &str, params: P) -> Outcome<P::Reply> {
    match client.send(params).await {
        Err(ClientError::Rpc(error)) if error.code == code::NOT_FOUND => Err(unreadable(id)),
        reply => Ok(reply?),
    }
}

/// The failure of a thread that cannot be read.
pub(crate) fn unreadable(id: &str) -> Failure {
    let short = show::short_id(id);
    Failure::new(format!("no thread {id}"))
        .hint(format!("if it was archived, run `rookery threads unarchive {short}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn thread(id: &str, name: Option<&str>) -> Thread {
        serde_json::from_value(json!({
            "id": id, "name": name, "preview": "", "cwd": "/", "status": {}, "mode": "default",
            "choice": {"provider": "", "model": ""}, "ephemeral": false, "archived": false,
            "createdAt": "", "updatedAt": "", "messages": 0,
            "usage": {"prompt": 0, "completion": 0, "cached": 0, "cacheCreation": 0},
        }))
        .unwrap()
    }

    #[test]
    fn a_thread_is_named_by_the_end_of_its_id_or_its_name() {
        let all = [
            thread("00-aaaa1111", Some("docs")),
            thread("00-bbbb1111", Some("same")),
            thread("00-cccc2222", Some("same")),
        ];
        for (text, expected) in
            [("docs", "00-aaaa1111"), ("B1111", "00-bbbb1111"), ("2222", "00-cccc2222")]
        {
            assert_eq!(choose(&all, text).unwrap(), expected);
        }
        for wrong in ["", "222", "doc", "1111", "same"] {
            assert!(choose(&all, wrong).is_err(), "{wrong}");
        }
        let both = format!("{:?}", choose(&all, "same").unwrap_err());
        assert!(both.contains("00-bbbb1111, 00-cccc2222"), "{both}");
    }
}
