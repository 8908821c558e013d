//! One attachment from beginning to end: output to this terminal, typing to the other, sizes,
//! and a new connection when the daemon is replaced.

use std::{future::Future, pin::Pin, time::Duration};

use rookery_native::{
    TerminalRef, code, notification,
    wire::{
        Attach, Attached, Base64, Empty, Exit, Output, OutputNotification, Size, TerminalResize,
        TerminalWrite,
    },
};
use rookery_wire::{Client, ClientError, client::Notification};
use tokio::{
    io::AsyncWriteExt as _,
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
    time::sleep,
};

use super::{
    filter::Filter,
    keys::DetachKey,
    tty::{self, RawTty},
};
use crate::{
    failure::{Failure, Outcome},
    link, output,
};

/// Typing kept for a program that does not read; more is dropped with a bell.
const MOST_TYPED: usize = 256 * 1024;
/// Bytes sent at once.
const CHUNK: usize = 16 * 1024;
/// How long to wait before typing is offered again to a program that does not read.
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// Why an attachment ended.
pub(super) enum End {
    /// The user pressed the key.
    Detached,
    /// The program ended.
    Exited(Exit),
    /// The terminal was closed.
    Closed,
    /// This process was told to end.
    Signaled,
}

/// Why following one connection ended.
enum Turn {
    Over(End),
    /// The connection is gone.
    Lost,
    /// Output was dropped because this terminal is slow.
    Behind,
}

type Sending = Pin<Box<dyn Future<Output = Result<(), ClientError>>>>;

/// What a signal means to an attachment.
enum Noticed {
    /// This terminal got another size.
    Resized,
    /// This process was stopped and goes on.
    Continued,
    /// This process is to end.
    End,
}

/// Signals that matter while attached.
struct Signals {
    resized: Signal,
    continued: Signal,
    terminate: Signal,
    hangup: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            continued: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> Noticed {
        tokio::select! {
            _ = self.resized.recv() => Noticed::Resized,
            _ = self.continued.recv() => Noticed::Continued,
            _ = self.terminate.recv() => Noticed::End,
            _ = self.hangup.recv() => Noticed::End,
            _ = self.interrupt.recv() => Noticed::End,
        }
    }

    async fn end(&mut self) {
        while !matches!(self.next().await, Noticed::End) {}
    }
}

/// An attachment, across connections.
pub(super) struct Session<'a> {
    terminal: TerminalRef,
    detach: &'a DetachKey,
    filter: Filter,
    typed: Vec<u8>,
    size: Option<Size>,
    /// Whether the other terminal has yet to be told of the size.
    is_resized: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(terminal: TerminalRef, detach: &'a DetachKey) -> Self {
        Self {
            terminal,
            detach,
            filter: Filter::default(),
            typed: Vec::new(),
            size: tty::size(),
            is_resized: false,
        }
    }

    /// Gives this terminal back as it was found, as far as escape sequences can.
    pub(super) fn leave(&self) {
        let _ = output::write(&self.filter.undo());
    }

    /// Follows the terminal through any number of daemons.
    pub(super) async fn run(&mut self, mut client: Client, tty: &RawTty) -> Outcome<End> {
        let mut keyboard = tty::typed().map_err(Failure::doing("cannot read this terminal"))?;
        let mut signals = Signals::new().map_err(Failure::doing("cannot watch for signals"))?;
        loop {
            match self.follow(&client, &mut keyboard, &mut signals, tty).await? {
                Turn::Over(end) => return Ok(end),
                Turn::Lost | Turn::Behind => {}
            }
            // A new connection also when only output was dropped: its queue begins empty.
            tokio::select! {
                fresh = link::reconnect() => client = fresh?,
                () = signals.end() => return Ok(End::Signaled),
                () = self.until_detached(&mut keyboard) => return Ok(End::Detached),
            }
        }
    }

    /// Watches only for the key; anything else typed now would go to a terminal that is not there.
    async fn until_detached(&self, keyboard: &mut mpsc::Receiver<Vec<u8>>) {
        while let Some(typed) = keyboard.recv().await {
            if self.detach.find(&typed).is_some() {
                return;
            }
        }
    }

    async fn attach(&mut self, client: &Client) -> Outcome<Option<Attached>> {
        self.size = tty::size();
        self.is_resized = false;
        let params = Attach {
            terminal: self.terminal,
            rows: self.size.map(|size| size.rows),
            cols: self.size.map(|size| size.cols),
        };
        match client.call("rookery/terminals/attach", params).await {
            Ok(attached) => Ok(Some(attached)),
            Err(ClientError::Closed | ClientError::Io(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn follow(
        &mut self,
        client: &Client,
        keyboard: &mut mpsc::Receiver<Vec<u8>>,
        signals: &mut Signals,
        tty: &RawTty,
    ) -> Outcome<Turn> {
        let Some(mut messages) = client.notifications() else { return Ok(Turn::Lost) };
        let Some(attached) = self.attach(client).await? else { return Ok(Turn::Lost) };
        self.filter.resync();
        self.show(&attached.redraw.0).await?;
        let mut sending: Option<Sending> = None;
        loop {
            if sending.is_none() {
                sending = self.next_request(client);
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
                typed = keyboard.recv() => match typed {
                    None => return Ok(Turn::Over(End::Signaled)),
                    Some(typed) => if self.type_in(&typed) {
                        return Ok(Turn::Over(End::Detached));
                    },
                },
                sent = async { sending.as_mut().expect("checked by the condition").await },
                    if sending.is_some() =>
                {
                    sending = None;
                    if matches!(sent, Err(ClientError::Closed | ClientError::Io(_))) {
                        return Ok(Turn::Lost);
                    }
                }
                noticed = signals.next() => match noticed {
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

    /// Takes what was typed; true if the detach key was among it.
    fn type_in(&mut self, typed: &[u8]) -> bool {
        let detach = self.detach.find(typed);
        let typed = &typed[..detach.unwrap_or(typed.len())];
        if self.typed.len() + typed.len() > MOST_TYPED {
            let _ = output::write(b"\x07");
        } else {
            self.typed.extend_from_slice(typed);
        }
        detach.is_some()
    }

    /// The next thing to tell the other terminal, one at a time and in order.
    fn next_request(&mut self, client: &Client) -> Option<Sending> {
        let client = client.clone();
        let terminal = self.terminal;
        if std::mem::take(&mut self.is_resized)
            && let Some(Size { rows, cols }) = tty::size()
        {
            let params = TerminalResize { terminal, rows, cols };
            return Some(Box::pin(async move {
                client.call::<_, Empty>("rookery/terminals/resize", params).await.map(drop)
            }));
        }
        if self.typed.is_empty() {
            return None;
        }
        let chunk: Vec<u8> = self.typed.drain(..self.typed.len().min(CHUNK)).collect();
        Some(Box::pin(write_all(client, terminal, chunk)))
    }

    async fn take(&mut self, message: &Notification, attachment: u64) -> Outcome<Option<End>> {
        if message.method != notification::OUTPUT {
            return Ok(None);
        }
        let Ok(told) = serde_json::from_str::<OutputNotification>(message.params.get()) else {
            return Ok(None);
        };
        if told.attachment != attachment {
            return Ok(None);
        }
        match told.output {
            Output::Data(Base64(bytes)) => self.show(&bytes).await?,
            Output::Redraw(Base64(bytes)) => {
                self.filter.resync();
                self.show(&bytes).await?;
            }
            Output::Resized(_) => {}
            Output::Exited(exit) => return Ok(Some(End::Exited(exit))),
            Output::Closed(_) => return Ok(Some(End::Closed)),
        }
        Ok(None)
    }

    async fn show(&mut self, bytes: &[u8]) -> Outcome<()> {
        let mut visible = Vec::with_capacity(bytes.len());
        self.filter.push(bytes, &mut visible);
        let mut stdout = tokio::io::stdout();
        let written = async {
            stdout.write_all(&visible).await?;
            stdout.flush().await
        };
        written.await.map_err(Failure::doing("cannot write to this terminal"))
    }
}

/// Sends typing, again and again while the program does not read.
async fn write_all(
    client: Client,
    terminal: TerminalRef,
    bytes: Vec<u8>,
) -> Result<(), ClientError> {
    let params = TerminalWrite { terminal, data: Some(Base64(bytes)), text: None };
    loop {
        match client.call::<_, Empty>("rookery/terminals/write", &params).await {
            Err(ClientError::Rpc(error)) if error.code == code::BUSY => sleep(BUSY_PAUSE).await,
            other => return other.map(drop),
        }
    }
}
