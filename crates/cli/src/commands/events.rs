//! `rookery events`: the event log as NDJSON, also as it grows.

use rookery_native::{
    notification,
    wire::{EventList, EventNotification, EventPage, GetStatus, Subscribe},
};
use rookery_wire::{Client, ClientError, client::Notification};
use tokio::sync::mpsc;

use crate::{
    args,
    commands::done,
    failure::{Failure, Outcome},
    link::{self, call},
    output,
};

/// Events fetched at once.
const PAGE: usize = 1000;

pub(super) async fn run(args: args::Events) -> Outcome {
    let client = link::connect().await?;
    let mut seen = match (args.since, args.follow) {
        (Some(since), _) => since,
        (None, false) => 0,
        (None, true) => call(&client, GetStatus).await?.last_event,
    };
    print_kept(&client, &mut seen).await?;
    if args.follow {
        follow(client, &mut seen).await?;
    }
    done()
}

/// Prints what is in the log after `seen`.
async fn print_kept(client: &Client, seen: &mut u64) -> Outcome<()> {
    loop {
        let params = EventList { after: *seen, limit: Some(PAGE) };
        let page: EventPage = call(client, params).await?;
        warn_of_missed(page.missed);
        for event in &page.events {
            output::json_line(event)?;
        }
        *seen = page.next;
        if page.next >= page.last {
            return Ok(());
        }
    }
}

fn warn_of_missed(missed: u64) {
    if missed > 0 {
        output::note(format!("rookery: {missed} events are no longer stored"));
    }
}

/// Prints what happens, through any number of daemons.
async fn follow(mut client: Client, seen: &mut u64) -> Outcome<()> {
    loop {
        let mut notifications = client.notifications().ok_or_else(|| Failure::new("no events"))?;
        let params = Subscribe { since: Some(*seen) };
        match client.send(params).await {
            Ok(_) => print_until_gone(&client, &mut notifications, seen).await?,
            // The daemon went before it could answer.
            Err(ClientError::Closed | ClientError::Io(_)) => {}
            Err(error) => return Err(error.into()),
        }
        // Whatever ended the connection, the log says where to go on.
        client = link::reconnect().await?;
    }
}

/// Prints events until the connection is over, or until some were dropped because stdout is slow.
async fn print_until_gone(
    client: &Client,
    notifications: &mut mpsc::Receiver<Notification>,
    seen: &mut u64,
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
        warn_of_missed(notification.missed);
        // After a drop the next number is not the one expected; the log has the rest.
        if notification.event.seq != *seen + 1 && notification.missed == 0 {
            return Ok(());
        }
        *seen = notification.event.seq;
        output::json_line(&notification.event)?;
    }
    Ok(())
}
