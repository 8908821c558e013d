//! The two clipboards: in memory, and the desktop's where there is one.

use rookery_host::ClipboardTarget;
use rookery_model::{Error, Result};
use tokio::sync::broadcast;

use crate::rooms::Seats;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clipboard {
    /// The one that copy and paste mean.
    System,
    /// The one that selecting fills and the middle button pastes.
    Selection,
}

impl From<Clipboard> for ClipboardTarget {
    fn from(clipboard: Clipboard) -> Self {
        match clipboard {
            Clipboard::System => ClipboardTarget::System,
            Clipboard::Selection => ClipboardTarget::Selection,
        }
    }
}

impl Seats {
    /// Puts a text on a clipboard.
    pub fn set_clipboard(&self, clipboard: Clipboard, text: &str) -> Result<()> {
        let written = self.core.inner.seats.clipboards.write(clipboard.into(), text);
        written.map_err(|error| Error::invalid("text", error.to_string()))
    }

    /// The text on a clipboard.
    pub async fn clipboard(&self, clipboard: Clipboard) -> Option<String> {
        self.core.inner.seats.clipboards.read(clipboard.into()).await
    }

    /// A program wants a text on a clipboard; the settings say whether it may.
    pub(crate) fn program_sets_clipboard(&self, clipboard: Clipboard, text: &str) {
        if !self.core.inner.seats.may_write_clipboard() {
            tracing::debug!("a program may not write the clipboard");
            return;
        }
        if let Err(error) = self.set_clipboard(clipboard, text) {
            tracing::debug!(%error, "a program's text is not put on the clipboard");
        }
        // Without a viewer it is for none.
        let _ = self.core.inner.seats.clips.send((clipboard, text.to_owned()));
    }

    /// Texts that programs put on a clipboard from now on. They are for the desk alone.
    pub fn clips(&self) -> broadcast::Receiver<(Clipboard, String)> {
        self.core.inner.seats.clips.subscribe()
    }
}
