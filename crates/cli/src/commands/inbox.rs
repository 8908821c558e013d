//! `rookery inbox`: what waits for an answer, also as it changes.

use std::collections::HashSet;

use rookery_native::{
    notification,
    wire::{
        Event, EventBody, EventNotification, Request, RequestList, Requests, Status, Subscribe,
        Subscription,
    },
};
use rookery_wire::{Client, ClientError, client::Notification};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    args,
    commands::done,
    failure::{Failure, Outcome},
    link::{self, call},
    output::{self, Colors, Tone},
    talk::{age, requests, safe, show},
};

pub(super) async fn run(args: args::Inbox) -> Outcome {
    let client = link::connect().await?;
    if args.watch {
        return watch(client, args.json).await;
    }
    let list = waiting(&client).await?;
    if args.json {
        output::json(&list)?;
    } else if list.requests.is_empty() {
        output::note("nothing waits for an answer");
    } else {
        let table = requests::table(&list.requests, age::now());
        output::write(table.render(Colors::of_stdout()).as_bytes())?;
    }
    done()
}

async fn waiting(client: &Client) -> Outcome<Requests> {
    call(client, "rookery/requests/list", RequestList::default()).await
}

/// A change for programs, as the log has it.
#[derive(Debug, Serialize)]
struct Change<'a> {
    r#type: &'static str,
    request: &'a Request,
}

/// What is known of the requests that wait.
struct Watch {
    json: bool,
    colors: Colors,
    /// Those that were shown and wait still.
    open: HashSet<String>,
    /// The last event that was seen.
    seen: u64,
}

/// Tells what waits, and then what changes, through any number of daemons.
async fn watch(mut client: Client, json: bool) -> Outcome {
    let status: Status = call(&client, "rookery/status", json!({})).await?;
    let seen = status.last_event;
    let mut watch = Watch { json, colors: Colors::of_stdout(), open: HashSet::new(), seen };
    // What is asked from here on comes as an event, so nothing falls between the two.
    for request in waiting(&client).await?.requests {
        watch.opened(&request)?;
    }
    loop {
        let mut notifications = client.notifications().ok_or_else(|| Failure::new("no events"))?;
        let params = Subscribe { since: Some(watch.seen) };
        match client.call::<_, Subscription>("rookery/events/subscribe", params).await {
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
            let Ok(told) = serde_json::from_str::<EventNotification>(message.params.get()) else {
                continue;
            };
            if told.event.seq != self.seen + 1 && told.missed == 0 {
                return Ok(());
            }
            self.seen = told.event.seq;
            self.take(&told.event)?;
        }
        Ok(())
    }

    fn take(&mut self, event: &Event) -> Outcome<()> {
        match &event.body {
            EventBody::RequestOpened { request } => self.opened(request),
            EventBody::RequestSettled { request } => self.settled(request),
            _ => Ok(()),
        }
    }

    fn opened(&mut self, request: &Request) -> Outcome<()> {
        if !self.open.insert(request.id.clone()) {
            return Ok(());
        }
        if self.json {
            return output::json_line(&Change { r#type: "request.opened", request });
        }
        let open = self.open.iter().map(String::as_str);
        output::line(opened(request, requests::short_id(&request.id, open), self.colors))
    }

    fn settled(&mut self, request: &Request) -> Outcome<()> {
        // One that was settled between the first look and the list was never shown.
        if !self.open.contains(&request.id) {
            return Ok(());
        }
        if self.json {
            output::json_line(&Change { r#type: "request.settled", request })?;
        } else {
            let open = self.open.iter().map(String::as_str);
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
