//! This terminal as a screen to draw on, given back as it was on every way out.

use std::io::{self, IsTerminal as _};

use crossterm::{
    event::{DisableBracketedPaste, EnableBracketedPaste},
    execute,
};
use ratatui::{DefaultTerminal, Frame};
use rustix::termios::{QueueSelector, tcflush};

use crate::failure::{Failure, Outcome};

/// Whether there is a terminal to draw on and to read keys from.
pub(crate) fn is_usable() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb
}

/// The alternate screen in raw mode, for as long as this lives.
pub(super) struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    pub(super) fn enter() -> Outcome<Screen> {
        let failed = || Failure::doing("cannot set up this terminal");
        // What was typed before anything was shown decides nothing.
        let _ = tcflush(rustix::stdio::stdin(), QueueSelector::IFlush);
        let terminal = ratatui::try_init().map_err(failed())?;
        let screen = Screen { terminal };
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let _ = execute!(io::stdout(), DisableBracketedPaste);
            before(info);
        }));
        // What is pasted must not be taken for keys.
        execute!(io::stdout(), EnableBracketedPaste).map_err(failed())?;
        Ok(screen)
    }

    pub(super) fn draw(&mut self, show: impl FnOnce(&mut Frame<'_>)) -> Outcome<()> {
        let drawn = self.terminal.draw(show);
        drawn.map(drop).map_err(Failure::doing("cannot draw on this terminal"))
    }

    /// Rows that a page has.
    pub(super) fn page(&self) -> usize {
        let rows = self.terminal.size().map_or(24, |size| size.height);
        usize::from(rows.saturating_sub(4)).max(1)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(io::stdout(), DisableBracketedPaste);
        ratatui::restore();
    }
}
