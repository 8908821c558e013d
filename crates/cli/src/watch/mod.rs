//! The inbox as a live list in a terminal: what asks for attention, exactly what it is about, and keys
//! that decide. Drawn anew when the world says that something changed; never by asking again and again.

mod actions;
mod draw;
mod list;
mod screen;

use std::{future::Future, pin::Pin, process::ExitCode, time::Duration};

use crossterm::event::{Event as Input, EventStream};
use futures_util::StreamExt as _;
use rookery_native::{
    notification,
    wire::{EventBody, EventNotification, Queue, QueueList, RequestList, Requests, Subscribe},
};
use rookery_wire::{Client, client::Notification};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::{
    failure::{Failure, Outcome},
    link::{self, call},
    output::{Colors, Tone},
    stop::Stop,
};
use list::{Action, List};
use screen::Screen;

pub(crate) use screen::is_usable;

/// How often ages are drawn anew.
const TICK: Duration = Duration::from_secs(1);

/// A connection that tells what happens.
struct Link {
    client: Client,
    notifications: mpsc::Receiver<Notification>,
    /// Whether something changed that was not read yet.
    is_stale: bool,
}

impl Link {
    async fn follow(client: Client) -> Outcome<Link> {
        let notifications = client.notifications().ok_or_else(|| Failure::new("no events"))?;
        let now = Subscribe { since: None };
        call(&client, now).await?;
        Ok(Link { client, notifications, is_stale: true })
    }

    /// Reads what waits. Whatever happens after it comes as an event, since those are asked for.
    async fn read(&self, list: &mut List) -> Outcome<()> {
        let requests: Requests = call(&self.client, RequestList::default()).await?;
        let queue: Queue = call(&self.client, QueueList::default()).await?;
        list.update(queue.items, requests.requests);
        Ok(())
    }

    /// Waits until something changed that the list shows; false when the connection is over.
    async fn changed(&mut self) -> bool {
        while let Some(message) = self.notifications.recv().await {
            if is_news(&message) {
                // One look is enough for all that came meanwhile.
                while self.notifications.try_recv().is_ok() {}
                return true;
            }
        }
        false
    }
}

fn is_news(message: &Notification) -> bool {
    if message.method != notification::EVENT {
        return false;
    }
    let Ok(notification) = serde_json::from_str::<EventNotification>(message.params.get()) else {
        return false;
    };
    matches!(
        notification.event.body,
        EventBody::QueueFiled { .. }
            | EventBody::QueueResolved { .. }
            | EventBody::RequestOpened { .. }
            | EventBody::RequestSettled { .. }
            | EventBody::ReviewChanged { .. }
    )
}

type Reconnecting = Pin<Box<dyn Future<Output = Outcome<Link>>>>;

fn reconnect() -> Reconnecting {
    Box::pin(async { Link::follow(link::reconnect().await?).await })
}

/// Shows the list until the user leaves it.
pub(crate) async fn run(client: Client, all: bool) -> Outcome {
    let mut stop = Stop::new()?;
    let mut list = List::new(all);
    let link = Link::follow(client).await?;
    link.read(&mut list).await?;
    let mut screen = Screen::enter()?;
    let left = Watch { link: Ok(link), list, colors: Colors::of_stdout() }
        .run(&mut screen, &mut stop)
        .await;
    drop(screen);
    left
}

struct Watch {
    /// The connection, or the attempt to get another.
    link: Result<Link, Reconnecting>,
    list: List,
    colors: Colors,
}

impl Watch {
    async fn run(&mut self, screen: &mut Screen, stop: &mut Stop) -> Outcome {
        let mut inputs = EventStream::new();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.draw(screen)?;
            let action = tokio::select! {
                code = stop.requested() => return Ok(ExitCode::from(code)),
                input = inputs.next() => match input {
                    Some(Ok(input)) => self.take(input, screen),
                    // The terminal is gone.
                    Some(Err(_)) | None => return Ok(ExitCode::SUCCESS),
                },
                () = next(&mut self.link, &mut self.list) => None,
                _ = ticks.tick() => None,
            };
            match action {
                None => {}
                Some(Action::Leave) => return Ok(ExitCode::SUCCESS),
                Some(action) => {
                    self.draw(screen)?;
                    tokio::select! {
                        code = stop.requested() => return Ok(ExitCode::from(code)),
                        () = self.perform(action) => {}
                    }
                }
            }
        }
    }

    fn take(&mut self, input: Input, screen: &Screen) -> Option<Action> {
        match input {
            Input::Key(key) if !key.is_release() => self.list.press(key, screen.page()),
            Input::Paste(text) => {
                self.list.paste(&text);
                None
            }
            _ => None,
        }
    }

    fn draw(&mut self, screen: &mut Screen) -> Outcome<()> {
        let (list, colors) = (&mut self.list, self.colors);
        screen.draw(|frame| draw::draw(frame, list, crate::talk::age::now(), colors))
    }

    /// Performs an action and shows its outcome.
    async fn perform(&mut self, action: Action) {
        let Ok(link) = &self.link else {
            self.list.say(Tone::Bad, "the daemon has stopped; nothing was done");
            return;
        };
        actions::perform(&link.client, &mut self.list, action).await;
        if let Err(failure) = link.read(&mut self.list).await {
            self.list.say(Tone::Bad, failure.message());
        }
    }
}

/// Waits for the next change and reads what waits then, or for a daemon to take the place of one that
/// went. May be broken off at any point and goes on from there.
async fn next(link: &mut Result<Link, Reconnecting>, list: &mut List) {
    match link {
        Ok(open) => {
            if !open.is_stale {
                open.is_stale = open.changed().await;
            }
            if open.is_stale && open.read(list).await.is_ok() {
                open.is_stale = false;
                return;
            }
            list.say(Tone::Bad, "the daemon has stopped; waiting for it to start again");
            *link = Err(reconnect());
        }
        Err(again) => match again.await {
            Ok(open) => {
                list.say(Tone::Good, "connected again");
                *link = Ok(open);
            }
            Err(_) => *link = Err(reconnect()),
        },
    }
}

#[cfg(test)]
mod tests;
