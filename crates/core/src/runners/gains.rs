//! What is had from a session: snapshots, files, and ports that lead there.

use std::path::PathBuf;

use rookery_model::{Error, Result, ThreadId};
use rookery_runners::{Artifact, Port, RunnerError};

use super::{Opener, PortAction, RunnerState, TakenSnapshot, failed, refused};
use crate::rooms::Runners;

fn opener(thread: Option<ThreadId>) -> Opener {
    Opener { thread, ..Opener::default() }
}

impl Runners {
    /// Keeps the state of a session; none if there is no open session or its provider cannot.
    ///
    /// # Errors
    /// If the provider fails.
    pub async fn snapshot(
        &self,
        thread: Option<ThreadId>,
        label: Option<&str>,
    ) -> Result<Option<TakenSnapshot>> {
        let Some(id) = self.destination_of(thread) else { return Ok(None) };
        if !self.has_session(&id) {
            return Ok(None);
        }
        let session = self.open(&id, opener(thread)).await?;
        let Some(taken) = session.snapshot(label).await.map_err(failed)? else { return Ok(None) };
        let provider = session.info().provider.to_owned();
        let taken = TakenSnapshot { provider, id: taken.id, metadata: taken.metadata };
        if let Some(destination) = self.table().destinations.get_mut(&id) {
            destination.snapshot = Some(taken.clone());
        }
        self.save().await?;
        Ok(Some(taken))
    }

    /// Hands a file or a directory of the selected destination or a thread's out, so that it is had without
    /// the session.
    ///
    /// # Errors
    /// If no destination is selected, the path leads out or nowhere, or the provider fails.
    pub async fn export(
        &self,
        thread: Option<ThreadId>,
        path: &str,
        recursive: bool,
    ) -> Result<Artifact> {
        if path.trim().is_empty() {
            return Err(Error::invalid("path", "path must not be empty"));
        }
        let id = self.destination_of(thread).ok_or_else(|| match thread {
            Some(thread) => {
                Error::invalid("thread_id", format!("thread {thread} is bound to no runner"))
            }
            None => Error::invalid("destination_id", "no runner destination is selected"),
        })?;
        let target = self.artifacts()?;
        let session = self.open(&id, opener(thread)).await?;
        session.export(path, recursive, &target).await.map_err(|error| match error {
            RunnerError::NotFound(_) | RunnerError::TooLarge { .. } => {
                Error::invalid("path", error.to_string())
            }
            other => refused(other),
        })
    }

    /// Where files lie that were handed out.
    pub(super) fn artifacts(&self) -> Result<PathBuf> {
        let dirs = self.core.inner.config.agent.runners.as_ref();
        let dirs = dirs.ok_or_else(|| Error::failed("this server keeps nothing for runners"))?;
        Ok(dirs.data.join("runner-artifacts"))
    }

    fn has_session(&self, id: &str) -> bool {
        let table = self.table();
        table.destinations.get(id).is_some_and(|destination| {
            destination.session.is_some()
                && matches!(destination.state, RunnerState::Active | RunnerState::Paused)
        })
    }

    /// Lists, exposes or closes ports of the selected destination or a thread's.
    ///
    /// # Errors
    /// If there is no session, or the provider fails.
    pub async fn ports(&self, thread: Option<ThreadId>, action: PortAction) -> Result<Vec<Port>> {
        let id = self.destination_of(thread);
        let id = id.filter(|id| action != PortAction::List || self.has_session(id));
        let Some(id) = id else {
            return match action {
                PortAction::List => Ok(Vec::new()),
                _ => Err(Error::invalid("port", "no runner destination is selected")),
            };
        };
        let session = self.open(&id, opener(thread)).await?;
        match action {
            PortAction::List => {}
            PortAction::Expose(port, label) => {
                session.expose(port, label.as_deref()).await.map_err(refused)?;
            }
            PortAction::Close(port) => {
                if !session.conceal(port).await.map_err(failed)? {
                    return Err(Error::invalid("port", format!("port {port} is not exposed")));
                }
            }
        }
        session.ports().await.map_err(failed)
    }
}
