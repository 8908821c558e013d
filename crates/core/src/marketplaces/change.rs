//! What happens to marketplaces and plugins, for all who follow it.

use std::sync::Arc;

use rookery_marketplace::{InstallState, Installed, Marketplace};

/// Something that happened to a marketplace or a plugin.
#[derive(Clone, Debug)]
pub enum MarketplaceChange {
    /// A marketplace was added, fetched, changed or removed.
    Updated(Arc<Marketplace>),
    /// A plugin was installed, maybe again.
    Installed(Arc<Installed>),
    /// A plugin stands elsewhere.
    Plugin {
        /// Its name among all variants.
        key: String,
        /// Where it stands.
        state: InstallState,
        /// The plugin; none if it is gone.
        plugin: Option<Arc<Installed>>,
    },
}

impl MarketplaceChange {
    /// About how much memory it takes beside itself.
    pub(crate) fn size(&self) -> usize {
        match self {
            MarketplaceChange::Updated(_) => size_of::<Marketplace>() + 512,
            MarketplaceChange::Installed(_) => size_of::<Installed>() + 512,
            MarketplaceChange::Plugin { key, .. } => size_of::<Installed>() + key.len() + 512,
        }
    }
}
