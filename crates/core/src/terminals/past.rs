//! What can be said of a terminal that is not there after a start: whether it ever was.
//!
//! The keeper answers for what it holds. One that is gone has left its socket if it was killed, and none
//! if it ended because it held nothing; but a directory that was made anew has no socket either.

use rookery_host::files;
use rookery_model::{Event, EventSeq, Result, TerminalUuid, Timestamp};
use rookery_store::{Change, Store, ValueKey};

use crate::core::blocking;
use crate::rooms::Terminals;

/// Where the mark of the directory of sockets is.
const MARK: &str = "keeper_place";
/// How long such a mark may be.
const MARK_BYTES: usize = 64;
/// Events that are read at once.
const PAGE: u64 = 1_000;
/// How far clocks may have been set back between an event and a record of ours, in microseconds.
const SLACK: i64 = 3_600_000_000;

impl Terminals {
    /// Whether the directory of the keeper's socket is the one that the last daemon had. From now on it
    /// is ours.
    pub(super) async fn is_same_place(&self) -> bool {
        match self.compare_mark().await {
            Ok(is_same) => is_same,
            Err(error) => {
                tracing::warn!(%error, "cannot determine whether this is the place of the last daemon");
                false
            }
        }
    }

    async fn compare_mark(&self) -> Result<bool> {
        // Without a store there was no last daemon, and there will be no next one.
        let is_kept = self.core.inner.config.state_dir.is_some();
        let path = self.core.inner.terminals.keeper.beside_socket(MARK);
        let Some(path) = path.filter(|_| is_kept) else { return Ok(false) };
        let store = self.core.inner.store.clone();
        let fresh = uuid::Uuid::new_v4().to_string();
        let mark = fresh.clone();
        let is_same = blocking(move || {
            let known = store.kept(&ValueKey::Place)?;
            let found = files::read_start(&path, MARK_BYTES).ok();
            if known.is_some() && found.as_deref() == known.as_deref().map(str::as_bytes) {
                return Ok(true);
            }
            files::replace(&path, mark.as_bytes())
                .map_err(|error| rookery_model::Error::failed(error.to_string()))?;
            Ok::<_, rookery_model::Error>(false)
        });
        let is_same = is_same.await??;
        if !is_same {
            let what = ValueKey::Place;
            let noted = |tx: &mut crate::world::Tx<'_>| {
                tx.save(Change::KeptSet { what, value: Some(fresh) });
                Ok(())
            };
            self.core.transact_durably(noted).await?;
        }
        Ok(is_same)
    }

    /// Whether a terminal that the last daemon was about to open since then never was: no keeper has or
    /// had it. False if that cannot be determined.
    pub(crate) async fn never_was(&self, uuid: TerminalUuid, since: Timestamp) -> bool {
        if self.core.inner.terminals.is_past_known.get() != Some(&true) {
            return false;
        }
        let store = self.core.inner.store.clone();
        let opened = blocking(move || may_have_been_opened(&store, uuid, since)).await;
        match opened {
            Ok(Ok(opened)) => !opened,
            Ok(Err(error)) | Err(error) => {
                tracing::warn!(%error, "cannot determine whether a terminal was opened");
                false
            }
        }
    }
}

/// Looks for the opening of a terminal in the log, the newest first. It is written before anyone can use
/// the terminal, let alone close it.
fn may_have_been_opened(store: &Store, uuid: TerminalUuid, since: Timestamp) -> Result<bool> {
    let is_it = |event: &Event| match event {
        Event::TerminalOpened { terminal, .. } => terminal.uuid == uuid,
        _ => false,
    };
    let since = since.as_micros().saturating_sub(SLACK);
    let mut upper = store.events(EventSeq::new(u64::MAX), 1)?.end.get();
    loop {
        let lower = upper.saturating_sub(PAGE);
        let length = usize::try_from(upper - lower).unwrap_or(usize::MAX);
        let page = store.events(EventSeq::new(lower), length)?;
        if page.skipped > 0 || page.events.iter().any(|one| is_it(&one.event)) {
            return Ok(true);
        }
        if page.events.first().is_some_and(|first| first.at.as_micros() < since) || lower == 0 {
            return Ok(false);
        }
        if page.oldest.get() > lower {
            // What came before is gone, unless there was nothing.
            return Ok(page.oldest.get() > 1);
        }
        upper = lower;
    }
}
