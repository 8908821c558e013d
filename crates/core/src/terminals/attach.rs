//! Following a terminal's bytes live, from a painted screen on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use rookery_model::{ExitStatus, Size};
use tokio::sync::mpsc;

use super::live::Live;

/// Pieces of output that may wait for a reader; then it gets the whole screen anew instead.
const QUEUE: usize = 256;

/// A terminal to follow: paint `redraw`, then apply what the stream gives.
pub struct Attachment {
    /// Bytes that paint the screen as it is at the start of the stream.
    pub redraw: Vec<u8>,
    pub size: Size,
    /// What comes after.
    pub stream: OutputStream,
}

/// A piece of a terminal's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Bytes as the program wrote them.
    Bytes(Bytes),
    /// The reader was too slow: these bytes paint the screen anew.
    Resync(Vec<u8>),
    /// The terminal got another size.
    Resized(Size),
    /// The child ended.
    Exited(ExitStatus),
}

/// The output of a terminal from the moment of attaching on.
pub struct OutputStream {
    live: Arc<Live>,
    receiver: mpsc::Receiver<Output>,
    lags: Arc<AtomicBool>,
    told_exit: bool,
}

impl OutputStream {
    /// The next piece; none when the terminal was closed.
    pub async fn next(&mut self) -> Option<Output> {
        let output = match self.receiver.try_recv() {
            Ok(output) => output,
            Err(mpsc::error::TryRecvError::Disconnected) => return None,
            Err(mpsc::error::TryRecvError::Empty) => match self.catch_up() {
                Some(output) => output,
                None => self.receiver.recv().await?,
            },
        };
        if matches!(output, Output::Exited(_)) {
            self.told_exit = true;
        }
        Some(output)
    }

    /// What was dropped while this reader was too slow, as far as it still matters.
    fn catch_up(&mut self) -> Option<Output> {
        if self.lags.load(Ordering::Acquire) {
            return Some(Output::Resync(self.live.resync(&self.lags)));
        }
        match self.live.exit_status() {
            Some(status) if !self.told_exit => Some(Output::Exited(status)),
            _ => None,
        }
    }
}

struct Tap {
    sender: mpsc::Sender<Output>,
    lags: Arc<AtomicBool>,
}

/// Everyone who follows one terminal.
#[derive(Default)]
pub(crate) struct Followers(Vec<Tap>);

impl Followers {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a client follows it still; who has gone is only forgotten with the next output.
    pub(crate) fn is_followed(&self) -> bool {
        self.0.iter().any(|tap| !tap.sender.is_closed())
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Gives a piece to everyone. Who has no room is marked and skipped until it has read the rest.
    pub(crate) fn send(&mut self, output: &Output) {
        self.0.retain(|tap| {
            if tap.lags.load(Ordering::Acquire) {
                return !tap.sender.is_closed();
            }
            match tap.sender.try_send(output.clone()) {
                Ok(()) => true,
                Err(mpsc::error::TrySendError::Full(_)) => {
                    tap.lags.store(true, Ordering::Release);
                    true
                }
                Err(mpsc::error::TrySendError::Closed(_)) => false,
            }
        });
    }

    pub(crate) fn add(&mut self, live: Arc<Live>) -> OutputStream {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let lags = Arc::new(AtomicBool::new(false));
        self.0.push(Tap { sender, lags: Arc::clone(&lags) });
        OutputStream { live, receiver, lags, told_exit: false }
    }
}
