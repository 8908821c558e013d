//! What programs say through their terminals, and what that means for the world.

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use rookery_model::{Event, NotificationText, Terminal, TerminalId};
use rookery_store::Change;
use rookery_term::ScreenEvent;
use rookery_term::osc::{Osc, ShellMark, cwd_path};

use crate::core::Core;

/// How long a terminal waits for the store before it goes on.
const NOTE_PATIENCE: Duration = Duration::from_secs(1);

impl Core {
    /// Takes note of what a program said through its terminal, and returns when that is durable.
    /// Up to where it was noted is stored with it, so that no restart notes it again.
    pub(crate) async fn note_screen_events(
        &self,
        id: TerminalId,
        events: Vec<ScreenEvent>,
        end: u64,
    ) {
        let noted = self.transact(|tx| {
            let terminal = tx.world.terminal_mut(id)?;
            let before = terminal.clone();
            let mut said = Vec::new();
            for event in events {
                said.extend(heard(terminal, event));
            }
            let is_changed = *terminal != before;
            if is_changed {
                tx.save_terminal(id);
            }
            let is_news = is_changed || !said.is_empty();
            if is_news {
                tx.save(Change::MetaSet { key: noted_key(id), value: Some(end.to_string()) });
            }
            said.into_iter().for_each(|event| tx.emit(event));
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

/// Where the store keeps up to which offset a terminal's words were noted.
pub(super) fn noted_key(id: TerminalId) -> String {
    format!("noted/{id}")
}

/// What a program's words mean for its terminal.
fn heard(terminal: &mut Terminal, event: ScreenEvent) -> Option<Event> {
    let id = terminal.id;
    match event {
        ScreenEvent::Title(title) => {
            let before = terminal.title().to_owned();
            terminal.program_title = title.map(|title| clean(&title));
            let after = terminal.title();
            (before != after).then(|| Event::TerminalTitleChanged { id, title: after.to_owned() })
        }
        ScreenEvent::Bell => Some(Event::TerminalBell { id }),
        ScreenEvent::Osc(Osc::Cwd(payload)) => {
            let path = cwd_path(&payload, |host| host == rookery_host::host_name())?;
            let cwd = PathBuf::from(std::ffi::OsString::from_vec(path));
            if !cwd.is_absolute() || terminal.reported_cwd.as_deref() == Some(cwd.as_path()) {
                return None;
            }
            terminal.reported_cwd = Some(cwd.clone());
            Some(Event::TerminalCwdChanged { id, cwd })
        }
        ScreenEvent::Osc(Osc::Notify { title, body }) => {
            let text = NotificationText { title: clean(&title), body: clean(&body) };
            Some(Event::TerminalNotified { id, text })
        }
        ScreenEvent::Osc(Osc::KittyNotify(notify)) if notify.done => {
            let payload = clean(&notify.payload);
            let is_body = notify.part == "body";
            let (title, body) =
                if is_body { (String::new(), payload) } else { (payload, String::new()) };
            Some(Event::TerminalNotified { id, text: NotificationText { title, body } })
        }
        ScreenEvent::Mark(ShellMark::CommandEnd { code }, _) => {
            Some(Event::TerminalCommandFinished { id, code })
        }
        ScreenEvent::Osc(_) | ScreenEvent::Mark(..) => None,
    }
}

/// Text from a program, fit to be shown anywhere: no controls, not endless.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(4_096).collect()
}
