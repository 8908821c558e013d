//! What happens to imports, for all who follow it.

use std::sync::Arc;

use rookery_imports::{Conflict, Decision, Item, Scan};

/// Something that happened to imports.
#[derive(Clone, Debug)]
pub enum ImportChange {
    /// A workspace was scanned.
    Detected(Arc<Scan>),
    /// An item was shown.
    Previewed(Arc<Item>),
    /// An item takes effect from now on.
    Enabled(Arc<Item>, Decision),
    /// An item does not take effect any more.
    Disabled(Decision),
    /// An item that was enabled has another content now.
    Stale {
        item: Arc<Item>,
        /// What its file was like.
        previous_hash: String,
    },
    /// An item that is enabled cannot take effect.
    Failed {
        item: String,
        /// Its file.
        path: String,
        /// Why.
        message: String,
    },
}

impl ImportChange {
    /// About how much memory it takes beside itself.
    pub(crate) fn size(&self) -> usize {
        let of_conflict = |one: &Conflict| {
            size_of::<Conflict>() + one.existing.len() + one.incoming.len() + one.detail.len()
        };
        let of_item = |item: &Item| {
            size_of::<Item>()
                + item.summary.len()
                + item.source.path.len()
                + item.preview.to_string().len()
                + item.conflicts.iter().map(of_conflict).sum::<usize>()
        };
        match self {
            ImportChange::Detected(scan) => scan.items.iter().map(of_item).sum(),
            ImportChange::Previewed(item)
            | ImportChange::Enabled(item, _)
            | ImportChange::Stale { item, .. } => of_item(item),
            ImportChange::Disabled(decision) => decision.path.len() + decision.workspace.len(),
            ImportChange::Failed { path, message, .. } => path.len() + message.len(),
        }
    }
}
