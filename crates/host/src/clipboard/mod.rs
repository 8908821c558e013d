//! Two clipboards that always work, joined to those of the desktop where there is one.
//!
//! What was written here is in memory at once. A thread of its own carries it to the desktop and
//! asks the desktop what others put there; it may hang without holding up a caller for more than
//! a second. Which desktop there is, `DISPLAY` and `WAYLAND_DISPLAY` tell the library that talks to it.

mod desktop;
mod image;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use desktop::Desktop;

/// The longest text that a clipboard holds, in bytes.
pub const CLIPBOARD_LIMIT: usize = 16 << 20;

/// How long the desktop may take for one call.
const CALL_LIMIT: Duration = Duration::from_secs(1);

/// How long it may take for an image.
const IMAGE_LIMIT: Duration = Duration::from_secs(4);

/// Which of the two clipboards is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClipboardTarget {
    /// What is copied and pasted by commands.
    System,
    /// What is selected with the mouse.
    Selection,
}

/// A text was longer than [`CLIPBOARD_LIMIT`], and nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "text is longer than a clipboard holds ({CLIPBOARD_LIMIT} bytes)")
    }
}

impl std::error::Error for TooLong {}

/// The desktop did not take a text; it is in memory only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the desktop's clipboard did not take it")]
pub struct ClipboardRefused;

/// Both clipboards; clones share them.
#[derive(Clone)]
pub struct Clipboards {
    memory: Arc<Memory>,
    desktop: Option<Arc<Desktop>>,
}

impl Clipboards {
    /// Clipboards in memory, joined to the desktop's if there is a display.
    pub fn start(display: bool) -> Self {
        let memory = Arc::new(Memory::default());
        let desktop = display.then(|| Arc::new(Desktop::start(Arc::clone(&memory))));
        Self { memory, desktop }
    }

    /// Puts a text into a clipboard. It can be read at once; the desktop gets it soon.
    pub fn write(&self, target: ClipboardTarget, text: &str) -> Result<(), TooLong> {
        if text.len() > CLIPBOARD_LIMIT {
            return Err(TooLong);
        }
        self.memory.write(target, text.into());
        if let Some(desktop) = &self.desktop {
            desktop.carry();
        }
        Ok(())
    }

    /// Waits until the desktop has what was written last, if there is a desktop.
    ///
    /// # Errors
    /// If it does not take it, or not within a second. Then only this process has the text.
    pub async fn taken(&self, target: ClipboardTarget) -> Result<(), ClipboardRefused> {
        let Some(desktop) = &self.desktop else { return Ok(()) };
        let (reply, answer) = oneshot::channel();
        if !desktop.confirm(target, reply) {
            return Err(ClipboardRefused);
        }
        match tokio::time::timeout(CALL_LIMIT, answer).await {
            Ok(Ok(true)) => Ok(()),
            Ok(_) => Err(ClipboardRefused),
            Err(_) => {
                desktop.hangs();
                Err(ClipboardRefused)
            }
        }
    }

    /// The text in a clipboard: the last one written, here or by another program. None if there
    /// is no text. A desktop that does not answer within a second is not waited for.
    pub async fn read(&self, target: ClipboardTarget) -> Option<String> {
        if let Some(desktop) = &self.desktop {
            let (reply, answer) = oneshot::channel();
            if desktop.ask(target, reply) {
                match tokio::time::timeout(CALL_LIMIT, answer).await {
                    Ok(Ok(answer)) => self.memory.learn(target, answer),
                    // The thread ended; memory has the last word.
                    Ok(Err(_)) => {}
                    Err(_) => desktop.hangs(),
                }
            }
        }
        let text = self.memory.text(target);
        (!text.is_empty()).then(|| text.as_ref().to_owned())
    }
}

impl Clipboards {
    /// The image that another program has put on the desktop's clipboard, as PNG; none if there is none of
    /// at most this number of bytes.
    pub async fn read_image(&self, most: u64) -> Option<Vec<u8>> {
        self.desktop.as_ref()?;
        let read = tokio::task::spawn_blocking(move || image::png(most));
        // A program that never gives what it has keeps that thread, and nothing else.
        tokio::time::timeout(IMAGE_LIMIT, read).await.ok()?.ok()?
    }
}

/// What the desktop answered when it was asked for a text.
struct Answer {
    /// The number of our own write that the desktop had when it was asked.
    version: u64,
    /// What it has; empty if that is no text.
    text: String,
}

/// Both texts as far as they are known here.
#[derive(Default)]
struct Memory {
    slots: Mutex<[Slot; 2]>,
}

#[derive(Default)]
struct Slot {
    text: Arc<str>,
    /// Counts what was written here.
    version: u64,
    /// Which of it the desktop got, and when.
    carried: u64,
    carried_at: Option<Instant>,
}

impl Memory {
    fn write(&self, target: ClipboardTarget, text: Arc<str>) {
        let slot = &mut self.slots.lock()[target as usize];
        slot.text = text;
        slot.version += 1;
    }

    fn text(&self, target: ClipboardTarget) -> Arc<str> {
        Arc::clone(&self.slots.lock()[target as usize].text)
    }

    /// Takes over what the desktop has, unless something was written here meanwhile.
    fn learn(&self, target: ClipboardTarget, answer: Answer) {
        let slot = &mut self.slots.lock()[target as usize];
        if slot.version == answer.version && *slot.text != *answer.text {
            slot.text = answer.text.into();
        }
    }

    /// A text that the desktop does not have yet, and its number.
    fn uncarried(&self, target: ClipboardTarget) -> Option<(u64, Arc<str>)> {
        let slot = &self.slots.lock()[target as usize];
        (slot.carried != slot.version).then(|| (slot.version, Arc::clone(&slot.text)))
    }

    /// Notes that the desktop got a text.
    ///
    /// Something newer may have reached it before, by another thread; then it has to be carried again.
    fn carried(&self, target: ClipboardTarget, version: u64) {
        let slot = &mut self.slots.lock()[target as usize];
        slot.carried = version;
        slot.carried_at = Some(Instant::now());
    }

    /// The number of the last write, if the desktop has it, and whether it got it just now.
    fn version_on_desktop(&self, target: ClipboardTarget) -> Option<(u64, bool)> {
        let slot = &self.slots.lock()[target as usize];
        let is_fresh = slot.carried_at.is_some_and(|at| at.elapsed() < CALL_LIMIT);
        (slot.carried == slot.version).then_some((slot.version, is_fresh))
    }
}

#[cfg(test)]
mod tests;
