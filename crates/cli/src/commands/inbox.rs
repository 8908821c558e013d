//! `rookery inbox`: what needs attention, also as it changes.

use std::collections::HashMap;

use rookery_native::{
    notification,
    wire::{
        Category, Event, EventBody, EventNotification, GetStatus, Queue, QueueEntry, QueueItem,
        QueueList, QueueResolve, QueueResolved, Related, Request, RequestList, Requests, Status,
        Subscribe,
    },
};
use rookery_view::safe;
use rookery_wire::{Client, ClientError, client::Notification};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    args::{self, InboxAction},
    commands::{done, tui},
    failure::{Failure, Outcome},
    link::{self, call},
    output::{self, Colors, Tone},
    talk::{
        age,
        queue::{self, Item},
        requests, show,
    },
};

/// What to do when an item is not found.
const SEE: &str = "run `rookery inbox --all` to list items";
/// The fewest letters that name an item by the end of its id.
const SHORTEST_END: usize = 4;

pub(super) async fn run(args: args::Inbox) -> Outcome {
    let client = link::connect().await?;
    match args.action {
        Some(InboxAction::Resolve(args)) => return resolve(&client, args).await,
        Some(InboxAction::Show(args)) => return show_one(&client, &args).await,
        None => {}
    }
    if args.watch {
        return match args.json || !tui::is_usable() {
            true => watch(client, args.json).await,
            false => tui::inbox(args.all).await,
        };
    }
    let waiting = waiting(&client).await?;
    if args.json {
        output::json(&waiting)?;
        return done();
    }
    show(&waiting, args.all)
}

/// Everything that needs attention.
#[derive(Debug, Serialize)]
struct Waiting {
    requests: Vec<Request>,
    queue: Vec<QueueEntry>,
}

async fn waiting(client: &Client) -> Outcome<Waiting> {
    let list: Requests = call(client, RequestList::default()).await?;
    let queue: Queue = call(client, QueueList::default()).await?;
    Ok(Waiting { requests: list.requests, queue: queue.items })
}

fn show(waiting: &Waiting, all: bool) -> Outcome {
    let colors = Colors::of_stdout();
    let mut items = queue::join(&waiting.queue, &waiting.requests);
    let count = items.len();
    items.retain(|item| all || item.entry.item.category != Category::Informational);
    let hidden = count - items.len();
    if !items.is_empty() {
        output::write(
            queue::text(&items, age::now(), colors, output::width_of_stdout()).as_bytes(),
        )?;
    }
    // A tool that a client runs asks no person, so the queue has no item for it.
    let is_queued =
        |request: &&Request| waiting.queue.iter().any(|entry| queue::address(entry) == request.id);
    let rest: Vec<Request> =
        waiting.requests.iter().filter(|request| !is_queued(request)).cloned().collect();
    if !rest.is_empty() {
        requests::table(&rest, age::now()).print()?;
    }
    if items.is_empty() && rest.is_empty() {
        output::note("no open requests");
    }
    if hidden > 0 {
        let word = if hidden == 1 { "item is" } else { "items are" };
        output::note(format!("{hidden} more {word} for information only; list all with --all"));
    }
    done()
}

/// Prints one request whole.
async fn show_one(client: &Client, args: &args::InboxShow) -> Outcome {
    let request = requests::find(client, &args.id).await?;
    if args.json {
        output::json(&request)?;
        return done();
    }
    for line in requests::details(&request) {
        output::line(line)?;
    }
    done()
}

async fn resolve(client: &Client, args: args::InboxResolve) -> Outcome {
    let list: Queue = call(client, QueueList::default()).await?;
    // All are looked up before the first is put away.
    let ids: Vec<String> = match args.all {
        // What waits for a decision is settled by deciding.
        true => {
            let settled = list.items.iter().filter(|entry| entry.item.related.is_none());
            settled.map(|entry| entry.item.id.clone()).collect()
        }
        false => args.ids.iter().map(|text| find(&list.items, text)).collect::<Outcome<_>>()?,
    };
    if ids.is_empty() && !args.json {
        output::note("there is nothing to dismiss");
    }
    for id in ids {
        let resolved: QueueResolved = link::ask(client, QueueResolve { id }, SEE).await?;
        if args.json {
            output::json_line(&resolved)?;
        } else {
            let word = if resolved.resolved { "resolved" } else { "already resolved" };
            output::line(format!("{word} {}", resolved.id))?;
        }
    }
    done()
}

/// The id of an item by the id that the inbox shows for it, or by its own. What is no end of any is
/// left to the daemon, which knows those that are resolved.
fn find(items: &[QueueEntry], text: &str) -> Outcome<String> {
    let bare = requests::bare_id(text.trim());
    let ends = |id: &str| {
        let (id, end) = (id.to_ascii_lowercase(), text.trim().to_ascii_lowercase());
        id.ends_with(&end) || id.ends_with(&bare.to_ascii_lowercase())
    };
    let fitting: Vec<&QueueEntry> = items
        .iter()
        .filter(|_| text.trim().len() >= SHORTEST_END)
        .filter(|entry| ends(&entry.item.id) || ends(queue::address(entry)))
        .collect();
    match *fitting {
        [] => Ok(text.to_owned()),
        [entry] => Ok(entry.item.id.clone()),
        _ => Err(Failure::new(format!("{} items end with {text:?}", fitting.len()))
            .hint("use more characters of the id")),
    }
}

/// A change for programs, as the log has it.
#[derive(Debug, Serialize)]
struct Change<'a> {
    r#type: &'static str,
    request: &'a Request,
}

/// An item for programs, as the log has it.
#[derive(Debug, Serialize)]
struct Filed<'a> {
    r#type: &'static str,
    item: &'a QueueItem,
}

/// What is known of what waits.
struct Watch {
    json: bool,
    colors: Colors,
    /// Requests that were shown and wait still, with what they say.
    open: HashMap<String, String>,
    /// Items that were shown and wait still, with what they say.
    items: HashMap<String, String>,
    /// The last event that was seen.
    seen: u64,
}

/// Tells what waits, and then what changes, through any number of daemons.
async fn watch(mut client: Client, json: bool) -> Outcome {
    let status: Status = call(&client, GetStatus).await?;
    let seen = status.last_event;
    let (open, items) = (HashMap::new(), HashMap::new());
    let mut watch = Watch { json, colors: Colors::of_stdout(), open, items, seen };
    // What is asked from here on comes as an event, so nothing falls between the two.
    let waiting = waiting(&client).await?;
    for request in &waiting.requests {
        watch.opened(request)?;
    }
    for entry in &waiting.queue {
        watch.filed(&entry.item)?;
    }
    loop {
        let mut notifications = client.notifications().ok_or_else(|| Failure::new("no events"))?;
        let params = Subscribe { since: Some(watch.seen) };
        match client.send(params).await {
            Ok(_) => watch.until_gone(&client, &mut notifications).await?,
            // The daemon went before it could answer.
            Err(ClientError::Closed | ClientError::Io(_)) => {}
            Err(error) => return Err(error.into()),
        }
        // Whatever ended the connection, the log says where to go on.
        client = link::reconnect().await?;
    }
}

impl Watch {
    /// Tells of changes until the connection is over, or until some were dropped because stdout is slow.
    async fn until_gone(
        &mut self,
        client: &Client,
        notifications: &mut mpsc::Receiver<Notification>,
    ) -> Outcome<()> {
        while client.missed() == 0
            && let Some(message) = notifications.recv().await
        {
            if message.method != notification::EVENT {
                continue;
            }
            let Ok(notification) = serde_json::from_str::<EventNotification>(message.params.get())
            else {
                continue;
            };
            if notification.event.seq != self.seen + 1 && notification.missed == 0 {
                return Ok(());
            }
            self.seen = notification.event.seq;
            self.take(&notification.event)?;
        }
        Ok(())
    }

    fn take(&mut self, event: &Event) -> Outcome<()> {
        match &event.body {
            EventBody::RequestOpened { request } => self.opened(request),
            EventBody::RequestSettled { request } => self.settled(request),
            EventBody::QueueFiled { item } => self.filed(item),
            EventBody::QueueResolved { item, .. } => self.resolved(item),
            _ => Ok(()),
        }
    }

    fn filed(&mut self, item: &QueueItem) -> Outcome<()> {
        let entry = QueueEntry { item: item.clone(), session_title: None, tree: None };
        let item_of = Item { entry: &entry, request: None };
        let text = queue::what(&item_of);
        if self.items.insert(item.id.clone(), text.clone()).is_some() {
            return Ok(());
        }
        if self.json {
            return output::json_line(&Filed { r#type: "queue.filed", item });
        }
        // Items about a request are shown as the request itself.
        if matches!(item.related, Some(Related::Request(_))) {
            self.items.remove(&item.id);
            return Ok(());
        }
        let (tone, kind) = queue::kind(&item_of);
        let ids = self.items.keys().map(String::as_str);
        let id = requests::short_id(&item.id, ids);
        let (id, kind) = (self.colors.paint(Tone::Strong, id), self.colors.paint(tone, kind));
        output::line(format!("+ {id}  {kind}  {text}"))
    }

    fn resolved(&mut self, id: &str) -> Outcome<()> {
        if self.json {
            if self.items.remove(id).is_some() {
                output::json_line(&json!({ "type": "queue.resolved", "item": id }))?;
            }
            return Ok(());
        }
        let ids: Vec<String> = self.items.keys().cloned().collect();
        let Some(text) = self.items.remove(id) else { return Ok(()) };
        let short = requests::short_id(id, ids.iter().map(String::as_str));
        let text = self.colors.paint(Tone::Faint, &text);
        output::line(format!("- {}  resolved  {text}", self.colors.paint(Tone::Strong, short)))
    }

    fn opened(&mut self, request: &Request) -> Outcome<()> {
        // A plan that was rewritten is shown again.
        let says = requests::summary(request);
        if self.open.insert(request.id.clone(), says.clone()) == Some(says) {
            return Ok(());
        }
        if self.json {
            return output::json_line(&Change { r#type: "request.opened", request });
        }
        let open = self.open.keys().map(String::as_str);
        output::line(opened(request, requests::short_id(&request.id, open), self.colors))
    }

    fn settled(&mut self, request: &Request) -> Outcome<()> {
        // One that was settled between the first look and the list was never shown.
        if !self.open.contains_key(&request.id) {
            return Ok(());
        }
        if self.json {
            output::json_line(&Change { r#type: "request.settled", request })?;
        } else {
            let open = self.open.keys().map(String::as_str);
            output::line(settled(request, requests::short_id(&request.id, open), self.colors))?;
        }
        self.open.remove(&request.id);
        Ok(())
    }
}

fn opened(request: &Request, id: &str, colors: Colors) -> String {
    format!(
        "+ {}  {}  {}  {}",
        colors.paint(Tone::Strong, &safe::line(id)),
        colors.paint(Tone::Warning, requests::kind(request.kind)),
        colors.paint(Tone::Faint, &safe::line(show::short_id(&request.thread))),
        requests::summary(request),
    )
}

fn settled(request: &Request, id: &str, colors: Colors) -> String {
    let by = request.settled_by.as_deref().map(|by| format!(" by {}", safe::line(by)));
    let state = format!("{}{}", requests::state(request.state), by.unwrap_or_default());
    format!(
        "- {}  {}  {}",
        colors.paint(Tone::Strong, &safe::line(id)),
        state,
        colors.paint(Tone::Faint, &requests::summary(request)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(state: &str) -> Request {
        serde_json::from_value(json!({
            "id": "01JAAAAAAAAAAAAAAAAAABCDEF", "kind": "approval", "tool": "shell",
            "thread": "0192d3c4-0000-7abc-8def-0123456789ab", "turn": "t", "state": state,
            "summary": "ls\u{1b}[2J\n-l", "askedAt": "", "settledBy": "roder",
        }))
        .unwrap()
    }

    #[test]
    fn a_change_is_one_harmless_line() {
        assert_eq!(
            opened(&request("pending"), "ABCDEF", Colors::none()),
            "+ ABCDEF  approval  456789ab  shell: ls[2J -l"
        );
        assert_eq!(
            settled(&request("timed_out"), "ABCDEF", Colors::none()),
            "- ABCDEF  timed out by roder  shell: ls[2J -l"
        );
    }
}
