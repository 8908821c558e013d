//! Whether a new session may be opened: what its configuration has run on this machine is judged like any
//! command of its client, and nothing is made in plan mode.

use std::path::PathBuf;
use std::sync::Arc;

use rookery_model::{Error, ErrorKind, Mode, Result, ThreadId};
use rookery_runners::Provider;
use serde_json::Value;

use crate::commands::{ExecPermit, ExecRequest, ExecRunner};
use crate::rooms::Runners;

/// For whom a session is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opener {
    /// The connection of the client.
    pub client: u64,
    /// The thread, if it is for one.
    pub thread: Option<ThreadId>,
}

impl From<ThreadId> for Opener {
    fn from(thread: ThreadId) -> Self {
        Self { thread: Some(thread), ..Self::default() }
    }
}

/// What would be opened.
struct Unopened {
    provider: &'static Provider,
    config: Value,
    cwd: PathBuf,
    /// Held while it is asked for, so that it is asked for once.
    asking: Arc<tokio::sync::Mutex<()>>,
}

impl Runners {
    /// Whether the session of a destination may be opened. If something has to be asked for, this waits for
    /// the answer. One that is there already is only found again.
    ///
    /// # Errors
    /// `Denied` if it may not.
    pub(crate) async fn permit(&self, id: &str, by: Opener) -> Result<()> {
        let Some(asking) = self.unopened(id).map(|it| it.asking) else { return Ok(()) };
        let _alone = asking.lock().await;
        let Some(new) = self.unopened(id) else { return Ok(()) };
        if new.provider.makes_place {
            let mode = self.core.threads().mode_for(by.client, by.thread);
            if mode == Mode::Plan {
                let provider = new.provider.id;
                let message = format!("plan mode opens no new session of runner {provider}");
                return Err(Error::new(ErrorKind::Denied, message));
            }
        }
        let cwd = new.provider.directory(&new.config).unwrap_or(new.cwd);
        for command in new.provider.programs(&new.config) {
            let runner = ExecRunner { destination: id.to_owned(), is_elsewhere: true };
            let request = ExecRequest {
                command,
                cwd: Some(cwd.clone()),
                owner: by.client,
                thread: by.thread,
                // No sandbox of ours holds it.
                runner: Some(runner),
                ..ExecRequest::default()
            };
            self.permit_command(&request).await?;
        }
        if let Some(destination) = self.table().destinations.get_mut(id)
            && destination.config == new.config
        {
            destination.is_permitted = true;
        }
        Ok(())
    }

    /// The same without being asked: its person starts something there.
    pub(crate) fn grant(&self, id: &str) {
        if let Some(destination) = self.table().destinations.get_mut(id) {
            destination.is_permitted = true;
        }
    }

    /// What would be opened, if that is not permitted yet.
    fn unopened(&self, id: &str) -> Option<Unopened> {
        let table = self.table();
        let it = table.destinations.get(id)?;
        let is_new = it.session.is_none() && !it.is_permitted;
        is_new.then(|| Unopened {
            provider: it.provider,
            config: it.config.clone(),
            cwd: it.cwd.clone(),
            asking: Arc::clone(&it.asking),
        })
    }

    async fn permit_command(&self, request: &ExecRequest) -> Result<()> {
        let why = match self.core.commands().permit(request).await? {
            ExecPermit::Given { .. } => return Ok(()),
            ExecPermit::Denied { reason, .. } => reason,
            ExecPermit::Refused { .. } => "it was not approved".to_owned(),
        };
        let shown = request.command.join(" ");
        let message = format!("to open the runner, {shown:?} would be run on this machine: {why}");
        Err(Error::new(ErrorKind::Denied, message))
    }
}
