//! This process's own terminal: raw mode that is always undone, and its size.

use std::io::{self, IsTerminal as _};

use rookery_native::wire::Size;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

pub(crate) fn is_usable() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

pub(crate) fn size() -> Option<Size> {
    let size = tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then_some(Size { rows: size.ws_row, cols: size.ws_col })
}

/// Raw mode for as long as this lives.
pub(crate) struct RawTty {
    before: Termios,
}

impl RawTty {
    pub(crate) fn enter() -> io::Result<Self> {
        let tty = Self { before: tcgetattr(rustix::stdio::stdin())? };
        tty.make_raw()?;
        Ok(tty)
    }

    /// Sets raw mode again after another program has changed it.
    pub(crate) fn make_raw(&self) -> io::Result<()> {
        let mut raw = self.before.clone();
        raw.make_raw();
        Ok(tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw)?)
    }
}

impl Drop for RawTty {
    fn drop(&mut self) {
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &self.before);
    }
}
