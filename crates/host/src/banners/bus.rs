//! The task that talks to the server of banners over the session bus.
//!
//! The server may hang, go away and come again, and so may the bus; a banner that cannot be shown
//! is forgotten. Numbers of banners mean something only to the server that gave them.

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{Select, select};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use zbus::message::Type;
use zbus::names::OwnedUniqueName;
use zbus::wire::Variant;
use zbus::{Connection, MatchRule, Message, MessageStream};

use super::mailbox::{Mailbox, Request};
use super::text;

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// How long after a failure the bus is tried again.
const PAUSE: Duration = Duration::from_secs(5);
/// How many banners are remembered; the tab with the lowest number gives way.
const LIVE_LIMIT: usize = 1024;

/// What the task owns.
pub(super) struct Notifier {
    address: String,
    application: String,
    clicks: mpsc::Sender<u64>,
    /// How long one call may take.
    call_limit: Duration,
    bus: Option<Bus>,
    failed_at: Option<Instant>,
    server: Option<Server>,
    /// The banner of each tab.
    live: BTreeMap<u64, u32>,
}

/// A connection and what is heard over it.
struct Bus {
    connection: Connection,
    news: Select<MessageStream, MessageStream>,
}

/// Who shows the banners at the moment.
struct Server {
    name: OwnedUniqueName,
    takes_markup: bool,
}

impl Notifier {
    pub(super) fn new(
        address: String,
        application: String,
        clicks: mpsc::Sender<u64>,
        call_limit: Duration,
    ) -> Self {
        Self {
            address,
            application,
            clicks,
            call_limit,
            bus: None,
            failed_at: None,
            server: None,
            live: BTreeMap::new(),
        }
    }

    /// Handles requests until the mailbox is closed.
    pub(super) async fn work(mut self, mailbox: Arc<Mailbox>) {
        loop {
            tokio::select! {
                request = mailbox.take() => match request {
                    Some((tab, Request::Show { title, body })) => self.show(tab, title, &body).await,
                    Some((tab, Request::Retire)) => self.retire(tab).await,
                    None => return,
                },
                message = next(&mut self.bus) => self.hear(message),
            }
        }
    }

    async fn show(&mut self, tab: u64, title: String, body: &str) {
        // A bus that was restarted shows itself only when it is spoken to, so a second try is worth it.
        for _ in 0..2 {
            if self.try_show(tab, &title, body).await.is_some() || self.bus.is_some() {
                return;
            }
        }
    }

    async fn try_show(&mut self, tab: u64, title: &str, body: &str) -> Option<()> {
        self.connect().await?;
        if self.server.is_none() {
            self.meet().await?;
        }
        let takes_markup = self.server.as_ref().is_some_and(|server| server.takes_markup);
        let body = if takes_markup { text::escaped(body) } else { body.to_owned() };
        let title = if title.trim().is_empty() { &self.application } else { title };
        let (application, title) = (self.application.clone(), title.to_owned());
        let replaced = self.live.get(&tab).copied().unwrap_or(0);
        let actions = ["default", "Show"];
        let hints = HashMap::<&str, Variant<'_>>::new();
        let whole = (application, replaced, "", title, body, actions.to_vec(), hints, -1_i32);
        let reply = self.call("Notify", whole).await?;
        let id = reply.body().deserialize::<u32>().ok()?;
        if reply.header().sender().map(|name| name.as_str()) != self.server_name() {
            // Another one took over just now, and the older numbers mean nothing to it.
            self.forget_server();
            self.meet().await?;
        }
        self.live.insert(tab, id);
        if self.live.len() > LIVE_LIMIT {
            self.live.pop_first();
        }
        Some(())
    }

    async fn retire(&mut self, tab: u64) {
        if let Some(id) = self.live.remove(&tab) {
            // The server says that it does not know it if the user was faster.
            self.call("CloseNotification", (id,)).await;
        }
    }

    /// Asks the server who it is and what it can do.
    async fn meet(&mut self) -> Option<()> {
        let reply = self.call("GetCapabilities", ()).await?;
        let abilities = reply.body().deserialize::<Vec<String>>().ok()?;
        let takes_markup = abilities.iter().any(|ability| ability == "body-markup");
        let name = reply.header().sender()?.to_owned().into();
        self.server = Some(Server { name, takes_markup });
        Some(())
    }

    async fn connect(&mut self) -> Option<()> {
        if self.bus.as_ref().is_some_and(|bus| bus.connection.is_closed()) {
            self.hang_up();
        }
        if self.bus.is_some() {
            return Some(());
        }
        if self.failed_at.is_some_and(|at| at.elapsed() < PAUSE) {
            return None;
        }
        match timeout(self.call_limit, Bus::connect(&self.address)).await {
            Ok(Ok(bus)) => {
                self.failed_at = None;
                self.bus = Some(bus);
                return Some(());
            }
            Ok(Err(error)) => tracing::debug!(%error, "the session bus cannot be reached"),
            Err(_) => tracing::debug!("the session bus does not answer"),
        }
        self.failed_at = Some(Instant::now());
        None
    }

    /// One call, while news are heard as ever: they must not pile up in front of the reply.
    async fn call<B>(&mut self, method: &'static str, body: B) -> Option<Message>
    where
        B: serde::Serialize + zbus::DynamicType + Send + Sync,
    {
        let connection = self.bus.as_ref()?.connection.clone();
        let call = async move {
            connection.call_method(Some(NAME), PATH, Some(NAME), method, &body).await
        };
        let mut call = pin!(timeout(self.call_limit, call));
        let reply = loop {
            tokio::select! {
                biased;
                reply = &mut call => break reply,
                message = next(&mut self.bus) => self.hear(message),
            }
        };
        match reply {
            Ok(Ok(reply)) => return Some(reply),
            Ok(Err(error)) => tracing::debug!(%error, method, "no banner"),
            Err(_) => tracing::debug!(method, "the notification server does not answer"),
        }
        if self.bus.as_ref().is_some_and(|bus| bus.connection.is_closed()) {
            self.hang_up();
        }
        None
    }

    /// Takes note of a message of the bus or the server.
    fn hear(&mut self, message: Option<zbus::Result<Message>>) {
        let message = match message {
            Some(Ok(message)) => message,
            Some(Err(error)) => return tracing::debug!(%error, "unexpected message on the bus"),
            None => return self.hang_up(),
        };
        let header = message.header();
        let is_server = header.sender().map(|name| name.as_str()) == self.server_name();
        match header.member().map(|name| name.as_str()) {
            Some("NameOwnerChanged") => {
                // Only the loss matters: who comes after it is met when there is something to show.
                let owner = message.body().deserialize::<(String, String, String)>();
                if owner.is_ok_and(|(_, old, _)| Some(old.as_str()) == self.server_name()) {
                    self.forget_server();
                }
            }
            Some("ActionInvoked") if is_server => {
                if let Ok((id, action)) = message.body().deserialize::<(u32, String)>()
                    && action == "default"
                    && let Some(tab) = self.tab_of(id)
                {
                    // A receiver that has not read 64 clicks does not need the next.
                    let _ = self.clicks.try_send(tab);
                }
            }
            Some("NotificationClosed") if is_server => {
                if let Ok((id, _reason)) = message.body().deserialize::<(u32, u32)>() {
                    self.live.retain(|_, live| *live != id);
                }
            }
            _ => {}
        }
    }

    fn tab_of(&self, id: u32) -> Option<u64> {
        self.live.iter().find(|(_, live)| **live == id).map(|(tab, _)| *tab)
    }

    fn server_name(&self) -> Option<&str> {
        self.server.as_ref().map(|server| server.name.as_str())
    }

    fn forget_server(&mut self) {
        self.server = None;
        self.live.clear();
    }

    fn hang_up(&mut self) {
        self.bus = None;
        self.forget_server();
    }
}

impl Bus {
    async fn connect(address: &str) -> zbus::Result<Self> {
        let connection = zbus::connection::Builder::address(address).build().await?;
        let signal = || MatchRule::builder().msg_type(Type::Signal);
        let banners = signal().interface(NAME).path(PATH).build()?;
        let owner = signal()
            .sender("org.freedesktop.DBus")
            .interface("org.freedesktop.DBus")
            .member("NameOwnerChanged")
            .add_arg(NAME)
            .build()?;
        let banners = MessageStream::for_match_rule(banners, &connection, None).await?;
        let owner = MessageStream::for_match_rule(owner, &connection, None).await?;
        Ok(Self { connection, news: select(owner, banners) })
    }
}

/// What is heard next, if there is anything to listen to.
async fn next(bus: &mut Option<Bus>) -> Option<zbus::Result<Message>> {
    match bus {
        Some(bus) => bus.news.next().await,
        None => std::future::pending().await,
    }
}
