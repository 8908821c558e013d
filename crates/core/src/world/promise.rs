//! What is stored beside a transaction: what has to be durable before the world may show it, and what the world
//! never holds. No other file writes to the store; `cargo xtask tidy` looks for it.

use rookery_model::Result;
use rookery_store::{Batch, Change};

use crate::core::Core;

impl Core {
    /// Stores changes before what they stand for is promised. The transaction that follows shows it; until then
    /// only the next daemon would find it.
    ///
    /// # Errors
    /// If they cannot be stored. Then they have no effect, now or later, and nothing may be promised.
    pub(crate) async fn promise(&self, changes: impl IntoIterator<Item = Change>) -> Result<()> {
        Ok(self.inner.store.commit_or_forget(changes.into_iter().collect()).await?)
    }

    /// Takes back what was promised and will not be kept.
    ///
    /// # Errors
    /// If that cannot be stored. Then the next daemon finds the promise.
    pub(crate) async fn retract(&self, promised: Change) -> Result<()> {
        self.promise([promised]).await
    }

    /// Stores what the world does not hold.
    ///
    /// # Errors
    /// If it is not stored yet, since saving fails at present; it will be once that works again.
    pub(crate) async fn store_alone(&self, change: Change) -> Result<()> {
        Ok(self.inner.store.commit(Batch { changes: vec![change], events: Vec::new() }).await?)
    }

    /// Returns once everything is stored that was committed before.
    ///
    /// # Errors
    /// If saving fails at present.
    pub(crate) async fn saved(&self) -> Result<()> {
        Ok(self.inner.store.commit(Batch::default()).await?)
    }
}
