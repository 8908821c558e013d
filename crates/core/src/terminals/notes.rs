//! What programs say through their terminals, and what that means for the world.

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use rookery_model::{Event, NotificationText, Result, ShellState, Source, TerminalId};
use rookery_store::Change;
use rookery_term::ScreenEvent;
use rookery_term::osc::{self, Osc, ShellMark, cwd_path};

use crate::rooms::Terminals;
use crate::seats::Clipboard;
use crate::secrets;
use crate::world::Tx;

/// How long a terminal waits for the store before it goes on.
const NOTE_PATIENCE: Duration = Duration::from_secs(1);

impl Terminals {
    /// Takes note of what a program said through its terminal, and returns when that is durable.
    /// Up to where it was noted is stored with it, so that no restart notes it again.
    pub(crate) async fn note_screen_events(
        &self,
        id: TerminalId,
        events: Vec<ScreenEvent>,
        end: u64,
    ) {
        self.take_clipboard_requests(&events);
        let noted = self.core.transact(|tx| {
            let before = tx.world.terminal(id)?.clone();
            let mut is_news = false;
            for event in events {
                is_news |= tx.handle(id, event)?;
            }
            if *tx.world.terminal(id)? != before {
                tx.save_terminal(id);
                is_news = true;
            }
            if is_news {
                tx.save(Change::OutputNoted(id, end));
            }
            Ok(is_news)
        });
        match noted {
            // A store that cannot save at present does not hold the terminal up for long.
            Ok((true, ticket)) => drop(tokio::time::timeout(NOTE_PATIENCE, ticket).await),
            Ok((false, _)) => {}
            Err(error) => {
                tracing::debug!(%error, terminal = %id, "what a terminal said was not noted");
            }
        }
    }
}

impl Terminals {
    /// Programs may put text on a clipboard; that is no news and is not logged.
    fn take_clipboard_requests(&self, events: &[ScreenEvent]) {
        for event in events {
            if let ScreenEvent::Osc(Osc::ClipboardStore { target, text }) = event {
                let clipboard = match target {
                    osc::Clipboard::System => Clipboard::System,
                    osc::Clipboard::Selection => Clipboard::Selection,
                };
                self.core.seats().program_sets_clipboard(clipboard, text);
            }
        }
    }
}

impl Tx<'_> {
    /// What a program's words mean for its terminal. True if there is something to publish.
    fn handle(&mut self, id: TerminalId, event: ScreenEvent) -> Result<bool> {
        match event {
            ScreenEvent::Title(title) => return self.handle_title(id, title),
            ScreenEvent::Osc(Osc::IconName(title)) => return self.handle_title(id, Some(title)),
            ScreenEvent::Bell => self.emit(Event::TerminalBell { id }),
            ScreenEvent::Osc(Osc::Cwd(payload)) => return self.handle_cwd(id, &payload),
            ScreenEvent::Osc(Osc::Notify { title, body }) => {
                let text = NotificationText { title: clean(&title), body: clean(&body) };
                return self.handle_notification(id, text);
            }
            ScreenEvent::Mark(mark, _) => return self.handle_mark(id, mark),
            ScreenEvent::Osc(_) => return Ok(false),
        }
        Ok(true)
    }

    fn handle_title(&mut self, id: TerminalId, title: Option<String>) -> Result<bool> {
        let Some(mut title) = title.map(|title| clean(&title)).filter(|title| !title.is_empty())
        else {
            return Ok(false);
        };
        secrets::hide(&mut title);
        let terminal = self.world.terminal_mut(id)?;
        let before = terminal.title().into_owned();
        terminal.program_title = Some(title);
        let after = terminal.title().into_owned();
        if before == after {
            return Ok(false);
        }
        self.emit(Event::TerminalTitleChanged { id, title: after });
        Ok(true)
    }

    /// A shell that goes elsewhere also takes its title along, unless the user gave one.
    fn handle_cwd(&mut self, id: TerminalId, payload: &str) -> Result<bool> {
        let is_url = payload.starts_with("file://");
        let Some(path) = cwd_path(payload, |_| true).filter(|_| is_url) else { return Ok(false) };
        let cwd = PathBuf::from(std::ffi::OsString::from_vec(path));
        let terminal = self.world.terminal_mut(id)?;
        if !cwd.is_absolute() || terminal.reported_cwd.as_deref() == Some(cwd.as_path()) {
            return Ok(false);
        }
        let (before, old_cwd) = (terminal.title().into_owned(), terminal.cwd().to_owned());
        terminal.reported_cwd = Some(cwd.clone());
        if old_cwd == cwd {
            return Ok(false);
        }
        terminal.program_title = None;
        let after = terminal.title().into_owned();
        self.emit(Event::TerminalCwdChanged { id, cwd });
        if before != after {
            self.emit(Event::TerminalTitleChanged { id, title: after });
        }
        Ok(true)
    }

    /// What a program announces is not shown when its agent speaks for itself.
    fn handle_notification(&mut self, id: TerminalId, text: NotificationText) -> Result<bool> {
        if self.world.terminal(id)?.activity.mutes_program() {
            return Ok(false);
        }
        self.raise_attention(id, text, Source::Program)?;
        Ok(true)
    }

    fn handle_mark(&mut self, id: TerminalId, mark: ShellMark) -> Result<bool> {
        let shell = match mark {
            ShellMark::OutputStart => ShellState::Foreground,
            ShellMark::PromptStart | ShellMark::InputStart | ShellMark::CommandEnd { .. } => {
                ShellState::AtPrompt
            }
        };
        if self.living(id).is_ok() {
            self.change_activity(id, |activity, _| activity.mark(shell))?;
        }
        if let ShellMark::CommandEnd { code } = mark {
            self.emit(Event::TerminalCommandFinished { id, code });
            return Ok(true);
        }
        Ok(false)
    }
}

/// Text from a program, fit to be shown anywhere: no controls, not endless.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(4_096).collect()
}
