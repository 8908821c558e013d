//! A viewer's connection: opens, applies frames, asks again for what is missing, and comes back by
//! itself when the daemon does.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rookery_view::link::method::{Call, Method};
use rookery_view::link::{
    Ack, Bye, FRAME, Focus, Frame, Key, Mouse, Open, Opened, Page, Preedit, Resize, Scroll, Text,
    VERSION, method,
};
use rookery_wire::{Client, ClientError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::inputs::Inputs;
use crate::mirror::{Changed, Mirror};

/// How long to wait before trying again: the first while a daemon that was just restarted may appear at any moment,
/// then doubled up to the last.
const RETRIES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));
/// For how many tries the first pause is kept, a second in all.
const QUICK_TRIES: u32 = 50;

/// Messages that wait to be taken; the daemon has two frames on their way at most.
const QUEUE: usize = 16;

/// What happened to the viewer.
#[derive(Debug)]
pub enum News {
    /// It is open, for the first time or again; the mirror is new.
    Opened(Box<Opened>),
    /// Something changed.
    Changed(Box<Changed>),
    /// The daemon is away; the mirror keeps the last picture. It is tried again by itself.
    Lost(Lost),
    /// The daemon refuses this face, and trying again is of no use.
    Refused(ClientError),
}

/// How the daemon went away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// What it said last; none if it said nothing.
    pub bye: Option<Bye>,
    /// Input that may not have arrived, and what it types.
    pub unsent: usize,
    /// The same as text.
    pub text: String,
}

/// Something was not sent, because the daemon is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not sent")]
pub struct NotSent;

/// What the task of the connection says.
enum Incoming {
    Opened(Client, Box<Opened>),
    Frame(Box<Frame>),
    Lost,
    Refused(ClientError),
}

/// One viewer.
#[derive(Debug)]
pub struct Face {
    mirror: Mirror,
    inputs: Inputs,
    client: Option<Client>,
    bye: Option<Bye>,
    params: Arc<Mutex<Open>>,
    incoming: mpsc::Receiver<Incoming>,
    task: JoinHandle<()>,
}

impl Drop for Face {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Face {
    /// Begins to connect; must be called inside a runtime, which gets one task. `open` is sent again on
    /// each return, with the size and place as they are by then.
    pub fn new(socket: impl Into<PathBuf>, open: Open) -> Face {
        let open =
            if open.versions.is_empty() { Open { versions: vec![VERSION], ..open } } else { open };
        let params = Arc::new(Mutex::new(open));
        let (sender, incoming) = mpsc::channel(QUEUE);
        let task = tokio::spawn(run(socket.into(), Arc::clone(&params), sender));
        let (mirror, inputs) = (Mirror::default(), Inputs::default());
        Face { mirror, inputs, client: None, bye: None, params, incoming, task }
    }

    /// What the daemon was last seen to show.
    pub fn mirror(&self) -> &Mirror {
        &self.mirror
    }

    /// Whether the daemon is there.
    pub fn is_open(&self) -> bool {
        self.client.is_some()
    }

    /// Waits for the next thing that happens; none when it was refused. Can be given up and called again
    /// without losing anything.
    pub async fn next(&mut self) -> Option<News> {
        Some(match self.incoming.recv().await? {
            Incoming::Opened(client, opened) => {
                self.mirror = Mirror::opened(&opened);
                (self.client, self.inputs, self.bye) = (Some(client), Inputs::default(), None);
                News::Opened(opened)
            }
            Incoming::Frame(frame) => self.take_frame(*frame).await,
            Incoming::Lost => {
                self.client = None;
                let (unsent, text) = self.inputs.lose();
                News::Lost(Lost { bye: self.bye.take(), unsent, text })
            }
            Incoming::Refused(error) => {
                self.client = None;
                News::Refused(error)
            }
        })
    }

    async fn take_frame(&mut self, frame: Frame) -> News {
        let changed = self.mirror.apply(frame);
        if let Some(input) = changed.input {
            self.inputs.accepted(input);
        }
        self.bye = changed.bye.or(self.bye);
        if changed.scene
            && let Some(page) = &self.mirror.scene().page
        {
            let page = page.clone();
            self.set_open(|open| open.place = Some(page));
        }
        if !changed.resync.is_empty() {
            // A connection that is over is noticed by its task.
            let _ = self.notify(method::RESYNC, &changed.resync).await;
        }
        News::Changed(Box::new(changed))
    }

    /// Everything that was applied so far is painted.
    pub async fn painted(&mut self) {
        self.painted_to(self.mirror.last()).await;
    }

    /// Everything up to a frame is painted, also if others came meanwhile.
    pub async fn painted_to(&mut self, n: u64) {
        // One of a connection that is over may have a number that was not sent here.
        if n > 0 && n <= self.mirror.last() {
            let _ = self.notify(method::ACK, &Ack { n }).await;
        }
    }

    /// Where to be after a return, if the daemon does not say so by itself.
    pub fn set_place(&self, place: Page) {
        self.set_open(|open| open.place = Some(place));
    }

    /// A key. Its number is filled in.
    pub async fn key(&mut self, key: Key) -> Result<(), NotSent> {
        let n = self.number(&typed_by(&key))?;
        self.notify(method::KEY, &Key { n, ..key }).await
    }

    /// Text that an input method or a field committed. Its number is filled in.
    pub async fn text(&mut self, text: Text) -> Result<(), NotSent> {
        let n = self.number(&text.text)?;
        self.notify(method::TEXT, &Text { n, ..text }).await
    }

    /// What an input method shows. Its number is filled in.
    pub async fn preedit(&mut self, preedit: Preedit) -> Result<(), NotSent> {
        let n = self.number("")?;
        self.notify(method::PREEDIT, &Preedit { n, ..preedit }).await
    }

    /// The mouse. Its number is filled in.
    pub async fn mouse(&mut self, mouse: Mouse) -> Result<(), NotSent> {
        let n = self.number("")?;
        self.notify(method::MOUSE, &Mouse { n, ..mouse }).await
    }

    /// Whether the face has the keyboard and is visible. Its number is filled in, and given back.
    pub async fn focus(&mut self, focus: Focus) -> Result<u64, NotSent> {
        let n = self.number("")?;
        self.notify(method::FOCUS, &Focus { n, ..focus }).await?;
        Ok(n)
    }

    /// The room for panes. Kept for the next opening as well. Its number is filled in.
    pub async fn resize(&mut self, resize: Resize) -> Result<(), NotSent> {
        self.set_open(|open| {
            open.size = resize.size.unwrap_or(open.size);
            open.pixels = resize.pixels.or(open.pixels);
            open.fit = resize.fit.or(open.fit);
            open.single = resize.single.unwrap_or(open.single);
        });
        let n = self.number("")?;
        self.notify(method::RESIZE, &Resize { n, ..resize }).await
    }

    /// Scrolls a terminal.
    pub async fn scroll(&mut self, scroll: &Scroll) -> Result<(), NotSent> {
        self.notify(method::SCROLL, scroll).await
    }

    /// Sends something to which there is no answer.
    pub async fn notify<P: Serialize, R>(
        &self,
        method: Method<P, R>,
        params: &P,
    ) -> Result<(), NotSent> {
        let client = self.client.as_ref().ok_or(NotSent)?;
        client.notify(method.name, params).await.map_err(|_| NotSent)
    }

    /// Makes a call to which there is no answer.
    pub async fn notify_call(&self, call: Call) -> Result<(), NotSent> {
        let client = self.client.as_ref().ok_or(NotSent)?;
        client.notify(call.method, &call.params).await.map_err(|_| NotSent)
    }

    /// Calls a method and waits for its answer.
    ///
    /// # Errors
    /// [`ClientError::Closed`] while the daemon is away, else as [`Client::call`].
    pub async fn call<P: Serialize, R: DeserializeOwned>(
        &self,
        method: Method<P, R>,
        params: &P,
    ) -> Result<R, ClientError> {
        let client = self.client.as_ref().ok_or(ClientError::Closed)?;
        client.call(method.name, params).await
    }

    /// The connection itself, for calls that run beside the face; none while the daemon is away.
    pub fn client(&self) -> Option<Client> {
        self.client.clone()
    }

    fn number(&mut self, text: &str) -> Result<u64, NotSent> {
        if self.client.is_none() {
            return Err(NotSent);
        }
        Ok(self.inputs.number(text))
    }

    fn set_open(&self, change: impl FnOnce(&mut Open)) {
        change(&mut self.params.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// What a key types, for naming it if it gets lost.
pub(crate) fn typed_by(key: &Key) -> String {
    if let Some(text) = &key.text {
        return text.clone();
    }
    let is_control = key.mods & rookery_term::keys::Mods::CTRL.bits() != 0;
    match key.k.as_bytes() {
        [letter @ b'a'..=b'z'] if is_control => char::from(letter - b'a' + 1).to_string(),
        _ => key.k.clone(),
    }
}

/// Connects again and again, and hands on what comes.
async fn run(socket: PathBuf, params: Arc<Mutex<Open>>, sender: mpsc::Sender<Incoming>) {
    let mut tries = 0;
    loop {
        let open = params.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match follow(&socket, &open, &sender).await {
            Followed::Ended => tries = 0,
            Followed::Unreachable => tries += 1,
            Followed::Done => return,
        }
        tokio::time::sleep(pause_after(tries)).await;
    }
}

/// How long to wait after that many tries in vain.
fn pause_after(tries: u32) -> Duration {
    let doublings = tries.saturating_sub(QUICK_TRIES).min(16);
    (RETRIES.0 * (1 << doublings)).min(RETRIES.1)
}

enum Followed {
    /// It was open, and is over.
    Ended,
    /// No daemon is there.
    Unreachable,
    /// It was refused, or is not wanted any more.
    Done,
}

async fn follow(socket: &Path, open: &Open, sender: &mpsc::Sender<Incoming>) -> Followed {
    let Ok(client) = Client::connect_unix(socket).await else { return Followed::Unreachable };
    let Some(mut frames) = client.notifications() else { return Followed::Unreachable };
    let opened: Opened = match client.call(method::OPEN.name, open).await {
        Ok(opened) => opened,
        Err(error @ (ClientError::Rpc(_) | ClientError::Json(_))) => {
            let _ = sender.send(Incoming::Refused(error)).await;
            return Followed::Done;
        }
        // It is just starting, or just stopping.
        Err(_) => return Followed::Unreachable,
    };
    if sender.send(Incoming::Opened(client, Box::new(opened))).await.is_err() {
        return Followed::Done;
    }
    while let Some(notification) = frames.recv().await {
        if notification.method != FRAME {
            continue;
        }
        let frame = match serde_json::from_str::<Frame>(notification.params.get()) {
            Ok(frame) => frame,
            Err(error) => {
                // The mirror notices that one is missing.
                tracing::warn!(%error, "a frame cannot be read");
                continue;
            }
        };
        if sender.send(Incoming::Frame(Box::new(frame))).await.is_err() {
            return Followed::Done;
        }
    }
    match sender.send(Incoming::Lost).await {
        Ok(()) => Followed::Ended,
        Err(_) => Followed::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_is_back_soon_is_found_at_once_and_one_that_is_not_costs_little() {
        assert!((0..=QUICK_TRIES).all(|tries| pause_after(tries) == RETRIES.0));
        assert_eq!(pause_after(QUICK_TRIES + 1), RETRIES.0 * 2);
        assert_eq!(pause_after(QUICK_TRIES + 10), RETRIES.1);
        assert_eq!(pause_after(u32::MAX), RETRIES.1);
    }
}
