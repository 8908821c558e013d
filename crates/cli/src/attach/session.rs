//! One attachment from beginning to end: output to this terminal, typing to the other, sizes,
//! and a new connection when the daemon is replaced.

use std::{future::Future, pin::Pin, time::Duration};

use rookery_native::{
    TerminalRef, code, notification,
    wire::{
        Attach, Attached, Base64, Dump, Exit, Output, OutputNotification, Size, TerminalResize,
        TerminalWrite,
    },
};
use rookery_wire::{Client, ClientError, client::Notification};
use tokio::{
    io::AsyncWriteExt as _,
    sync::mpsc,
    time::{Instant, sleep, timeout_at},
};

use super::{
    filter::Filter,
    keys::{Keys, Meaning},
    scroll::{self, Scroll, Scrolled},
    signals::{Noticed, Signals},
    tty::{self, RawTty},
};
use crate::{
    failure::{Failure, Outcome},
    link, output,
};

/// Typing kept for a program that does not read, or while no daemon runs; more is dropped with a bell.
const MOST_TYPED: usize = 256 * 1024;
/// Bytes sent at once.
const CHUNK: usize = 16 * 1024;
/// How long to wait before typing is offered again to a program that does not read.
const BUSY_PAUSE: Duration = Duration::from_millis(50);
/// How long typing may take to arrive before this attachment is left.
const FLUSH_PATIENCE: Duration = Duration::from_secs(1);

/// Why an attachment ended.
pub(super) enum End {
    /// The user pressed the key.
    Detached,
    /// The program ended.
    Exited(Exit),
    /// The terminal was closed.
    Closed,
    /// This process received a signal to end.
    Signaled,
}

/// Why following one connection ended.
enum Turn {
    Over(End),
    /// The connection is gone.
    Lost,
    /// This screen does not show the other any more, and has to be drawn anew.
    Behind,
}

/// Everything that a person at this terminal does.
struct Person {
    keyboard: mpsc::Receiver<Vec<u8>>,
    signals: Signals,
}

type Sending = Pin<Box<dyn Future<Output = Result<(), ClientError>>>>;

/// An attachment, across connections.
pub(super) struct Session<'a> {
    terminal: TerminalRef,
    keys: &'a Keys,
    filter: Filter,
    typed: Vec<u8>,
    /// What is on its way, in order; it is not given up when only the screen is drawn anew.
    sending: Option<Sending>,
    /// Bytes that are on their way, and were not answered for yet.
    sent: usize,
    /// Bytes that were on their way when the daemon went.
    doubtful: usize,
    /// Whether the size of this terminal has yet to be sent to the other one.
    is_resized: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(terminal: TerminalRef, keys: &'a Keys) -> Self {
        Self {
            terminal,
            keys,
            filter: Filter::default(),
            typed: Vec::new(),
            sending: None,
            sent: 0,
            doubtful: 0,
            is_resized: false,
        }
    }

    /// Gives this terminal back as it was found, as far as escape sequences can.
    pub(super) fn leave(&self) {
        let _ = output::write(&self.filter.undo());
    }

    /// How many typed bytes never reached the program, or may not have.
    pub(super) fn unsent(&self) -> usize {
        self.typed.len() + self.doubtful
    }

    /// Follows the terminal through any number of daemons.
    pub(super) async fn run(&mut self, mut client: Client, tty: &RawTty) -> Outcome<End> {
        let keyboard = rookery_tui::typed().map_err(Failure::doing("cannot read this terminal"))?;
        let signals = Signals::new().map_err(Failure::doing("cannot install signal handlers"))?;
        let mut person = Person { keyboard, signals };
        loop {
            let is_lost = match self.follow(&client, &mut person, tty).await? {
                Turn::Over(end) => return Ok(end),
                Turn::Lost => true,
                Turn::Behind => false,
            };
            if is_lost {
                self.sending = None;
                self.doubtful += std::mem::take(&mut self.sent);
                self.report_lost().await?;
            }
            // A new connection also when only output was dropped: its queue begins empty.
            let Person { keyboard, signals } = &mut person;
            tokio::select! {
                fresh = link::reconnect() => client = fresh?,
                () = signals.end() => return Ok(End::Signaled),
                kept = self.keep_typing(keyboard, is_lost) => return kept.map(|()| End::Detached),
            }
        }
    }

    /// Keeps what is typed while there is nowhere to send it, until the key that detaches.
    async fn keep_typing(
        &mut self,
        keyboard: &mut mpsc::Receiver<Vec<u8>>,
        is_lost: bool,
    ) -> Outcome<()> {
        while let Some(typed) = keyboard.recv().await {
            match self.keys.read(&typed) {
                Meaning::Detach(text) => {
                    self.put(text);
                    return Ok(());
                }
                Meaning::Text(text) | Meaning::Scroll(text) => self.put(text),
            }
            if is_lost {
                self.report_lost().await?;
            }
        }
        std::future::pending().await
    }

    /// Says in the last row that the daemon is gone, and what becomes of typing.
    async fn report_lost(&mut self) -> Outcome<()> {
        let Some(Size { rows, cols }) = tty::size() else { return Ok(()) };
        let mut text = " the daemon has stopped; waiting for the next one".to_owned();
        match self.typed.len() {
            0 => {}
            kept => text += &format!(" · {kept} typed bytes buffered"),
        }
        if self.doubtful > 0 {
            text += &format!(" · {} may have been lost", self.doubtful);
        }
        text += &format!(" · {} detaches", self.keys.detach);
        let bar = scroll::bar(&text, cols);
        // Whatever was being drawn ends here; all of it is drawn anew when there is a daemon again.
        self.filter.resync();
        print(format!("\x18\x1b7\x1b[?6l\x1b[{rows};1H{bar}\x1b8").as_bytes()).await
    }

    async fn attach(&mut self, client: &Client) -> Outcome<Option<Attached>> {
        let own = tty::size();
        self.is_resized = false;
        let params = Attach {
            terminal: self.terminal,
            rows: own.map(|size| size.rows),
            cols: own.map(|size| size.cols),
            shown: true,
        };
        match client.send(params).await {
            Ok(attached) => Ok(Some(attached)),
            Err(ClientError::Closed | ClientError::Io(_)) => Ok(None),
            Err(ClientError::Rpc(error)) if error.code == code::CONFLICT => {
                Err(Failure::new(error.message)
                    .hint("attach to another terminal, or from another one"))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn follow(
        &mut self,
        client: &Client,
        person: &mut Person,
        tty: &RawTty,
    ) -> Outcome<Turn> {
        let Some(mut messages) = client.notifications() else { return Ok(Turn::Lost) };
        let Some(attached) = self.attach(client).await? else { return Ok(Turn::Lost) };
        self.filter.resync();
        self.show(&attached.redraw.0).await?;
        loop {
            if self.sending.is_none() {
                self.sending = self.next_request(client);
            }
            tokio::select! {
                message = messages.recv() => {
                    let Some(message) = message else { return Ok(Turn::Lost) };
                    if let Some(end) = self.take(&message, attached.attachment).await? {
                        return Ok(Turn::Over(end));
                    }
                    if client.missed() > 0 {
                        return Ok(Turn::Behind);
                    }
                }
                typed = person.keyboard.recv() => {
                    let Some(typed) = typed else { return Ok(Turn::Over(End::Signaled)) };
                    match self.keys.read(&typed) {
                        Meaning::Text(text) => self.put(text),
                        Meaning::Detach(text) => {
                            self.put(text);
                            self.flush(client).await;
                            return Ok(Turn::Over(End::Detached));
                        }
                        Meaning::Scroll(text) => {
                            self.put(text);
                            self.flush(client).await;
                            return self.scroll(client, &mut messages, person, tty).await;
                        }
                    }
                }
                sent = async { self.sending.as_mut().expect("checked by the condition").await },
                    if self.sending.is_some() =>
                {
                    self.sending = None;
                    if matches!(sent, Err(ClientError::Closed | ClientError::Io(_))) {
                        return Ok(Turn::Lost);
                    }
                    self.sent = 0;
                }
                noticed = person.signals.next() => match noticed {
                    Noticed::Resized => self.is_resized = true,
                    Noticed::Continued => {
                        // The shell has set its own modes, and this screen is not ours any more.
                        let _ = tty.make_raw();
                        return Ok(Turn::Behind);
                    }
                    Noticed::End => return Ok(Turn::Over(End::Signaled)),
                },
            }
        }
    }

    fn put(&mut self, typed: &[u8]) {
        if self.typed.len() + typed.len() > MOST_TYPED {
            let _ = output::write(b"\x07");
        } else {
            self.typed.extend_from_slice(typed);
        }
    }

    /// Sends what was typed before this attachment looks elsewhere, unless that takes too long.
    async fn flush(&mut self, client: &Client) {
        let until = Instant::now() + FLUSH_PATIENCE;
        while let Some(request) = self.sending.take().or_else(|| self.next_request(client)) {
            match timeout_at(until, request).await {
                Ok(Ok(())) => self.sent = 0,
                Ok(Err(_)) | Err(_) => {
                    self.doubtful += std::mem::take(&mut self.sent);
                    return;
                }
            }
        }
    }

    /// Shows the history until the user has seen enough of it.
    async fn scroll(
        &mut self,
        client: &Client,
        messages: &mut mpsc::Receiver<Notification>,
        person: &mut Person,
        tty: &RawTty,
    ) -> Outcome<Turn> {
        let Some(size) = tty::size() else { return Ok(Turn::Behind) };
        let params = Dump { terminal: self.terminal, history: scroll::MOST_ROWS, redact: false };
        let text = match client.send(params).await {
            Ok(dumped) => dumped.text,
            Err(ClientError::Closed | ClientError::Io(_)) => return Ok(Turn::Lost),
            Err(error) => return Err(error.into()),
        };
        let mut scroll = Scroll::new(text, size, self.keys);
        // Keys come as they usually do, and not as the program asked for them.
        print(&self.filter.undo()).await?;
        print(b"\x1b[?1049h\x1b[2J").await?;
        let end = loop {
            print(&scroll.draw()).await?;
            tokio::select! {
                message = messages.recv() => {
                    let Some(message) = message else { break Turn::Lost };
                    // The screen is drawn anew afterwards; only ends matter now.
                    if let Some(end) = ended(&message) {
                        break Turn::Over(end);
                    }
                }
                typed = person.keyboard.recv() => {
                    let Some(typed) = typed else { break Turn::Over(End::Signaled) };
                    match scroll.typed(&typed) {
                        Scrolled::On => {}
                        Scrolled::Back => break Turn::Behind,
                        Scrolled::Detach => break Turn::Over(End::Detached),
                    }
                }
                noticed = person.signals.next() => match noticed {
                    Noticed::Resized => scroll.resize(tty::size().unwrap_or(size)),
                    Noticed::Continued => {
                        let _ = tty.make_raw();
                    }
                    Noticed::End => break Turn::Over(End::Signaled),
                },
            }
        };
        print(b"\x1b[?25h\x1b[?1049l").await?;
        Ok(end)
    }

    /// The next thing to tell the other terminal, one at a time and in order.
    fn next_request(&mut self, client: &Client) -> Option<Sending> {
        let client = client.clone();
        let terminal = self.terminal;
        if std::mem::take(&mut self.is_resized)
            && let Some(Size { rows, cols }) = tty::size()
        {
            let params = TerminalResize { terminal, rows, cols };
            return Some(Box::pin(async move { client.send(params).await.map(drop) }));
        }
        if self.typed.is_empty() {
            return None;
        }
        let chunk: Vec<u8> = self.typed.drain(..self.typed.len().min(CHUNK)).collect();
        self.sent = chunk.len();
        Some(Box::pin(write_all(client, terminal, chunk)))
    }

    async fn take(&mut self, message: &Notification, attachment: u64) -> Outcome<Option<End>> {
        if message.method != notification::OUTPUT {
            return Ok(None);
        }
        let Ok(notification) = serde_json::from_str::<OutputNotification>(message.params.get())
        else {
            return Ok(None);
        };
        if notification.attachment != attachment {
            return Ok(None);
        }
        match notification.output {
            Output::Data(Base64(bytes)) => self.show(&bytes).await?,
            Output::Redraw(Base64(bytes)) => {
                self.filter.resync();
                self.show(&bytes).await?;
            }
            // The next key brings this terminal's own size along.
            Output::Resized(_) => {}
            Output::Exited(exit) => return Ok(Some(End::Exited(exit))),
            Output::Closed(_) => return Ok(Some(End::Closed)),
        }
        Ok(None)
    }

    async fn show(&mut self, bytes: &[u8]) -> Outcome<()> {
        let mut visible = Vec::with_capacity(bytes.len());
        self.filter.push(bytes, &mut visible);
        print(&visible).await
    }
}

/// Writes to this terminal.
async fn print(bytes: &[u8]) -> Outcome<()> {
    let mut stdout = tokio::io::stdout();
    let written = async {
        stdout.write_all(bytes).await?;
        stdout.flush().await
    };
    written.await.map_err(Failure::doing("cannot write to this terminal"))
}

/// Whether a notification tells of the end of the only attachment there is.
fn ended(message: &Notification) -> Option<End> {
    if message.method != notification::OUTPUT {
        return None;
    }
    match serde_json::from_str::<OutputNotification>(message.params.get()).ok()?.output {
        Output::Exited(exit) => Some(End::Exited(exit)),
        Output::Closed(_) => Some(End::Closed),
        Output::Data(_) | Output::Redraw(_) | Output::Resized(_) => None,
    }
}

/// Sends typing, again and again while the program does not read. The terminal takes the size of the
/// client that types.
async fn write_all(
    client: Client,
    terminal: TerminalRef,
    bytes: Vec<u8>,
) -> Result<(), ClientError> {
    let params =
        TerminalWrite { terminal, data: Some(Base64(bytes)), text: None, size: tty::size() };
    loop {
        match client.send(&params).await {
            Err(ClientError::Rpc(error)) if error.code == code::BUSY => sleep(BUSY_PAUSE).await,
            other => return other.map(drop),
        }
    }
}
