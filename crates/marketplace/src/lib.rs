//! Marketplaces: catalogs of plugins that others publish for coding agents, and the plugins themselves.
//!
//! Reads catalogs of four kinds, tells which entries are one plugin, fetches sources, says what a plugin could
//! start, and puts its content where it belongs. Nothing that a marketplace brings is ever run. It knows neither
//! core nor any wire; where files lie is its caller's choice.

mod catalog;
mod components;
mod defaults;
mod fetch;
mod group;
mod identity;
mod ids;
mod install;
mod plugin_source;
mod preview;
mod source;
mod state;
mod types;

pub use catalog::{Catalog, LARGEST_CATALOG, MOST_ENTRIES, infer_kind_from_words, read_list};
pub use components::{Component, PluginCommand};
pub use defaults::{Defaults, default_marketplaces};
pub use fetch::{Fetched, Fetcher, local_root};
pub use group::{PluginRow, Variant, group, search, siblings};
pub use identity::{IdentityKey, normalized_repository};
pub use ids::{is_id, slug, variant_key, version_folder};
pub use install::{Glance, Placed, Staged, Staging};
pub use plugin_source::PluginSource;
pub use preview::Preview;
pub use source::MarketSource;
pub use state::{LARGEST_STATE, State};
pub use types::{
    Entry, Hints, InstallState, Installed, Kind, MarketState, Marketplace, MarketplaceError,
    Places, Risk,
};
