//! The state file: which marketplaces there are, and which plugins are installed. What it has that we do not
//! understand is kept. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{is_id, variant_key};
use crate::types::{InstallState, Installed, Marketplace};

/// The largest file that is read.
pub const LARGEST_STATE: u64 = 16 << 20;

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Marketplaces, by their ids.
    pub marketplaces: Vec<Marketplace>,
    /// Installed plugins, by their keys.
    pub installed: Vec<Installed>,
    /// Rows of both that we do not understand.
    strange: (Vec<Value>, Vec<Value>),
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct File {
    marketplaces: Vec<Value>,
    installed_plugins: Vec<Value>,
}

impl State {
    /// Reads a file.
    ///
    /// # Errors
    /// If it is damaged, with the reason.
    pub fn read(bytes: &[u8]) -> Result<State, String> {
        let file: File = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let mut state = State::default();
        for value in file.marketplaces {
            match serde_json::from_value::<Marketplace>(value.clone()) {
                Ok(market) if is_market(&market) && state.market(&market.id).is_none() => {
                    state.marketplaces.push(market);
                }
                _ => state.strange.0.push(value),
            }
        }
        for value in file.installed_plugins {
            match serde_json::from_value::<Installed>(value.clone()) {
                Ok(plugin)
                    if is_installed(&plugin) && state.plugin(&plugin.variant_key).is_none() =>
                {
                    state.installed.push(plugin);
                }
                _ => state.strange.1.push(value),
            }
        }
        state.sort();
        Ok(state)
    }

    /// The file.
    ///
    /// # Errors
    /// If it cannot be written, which no state of ours does.
    pub fn write(&self) -> Result<Vec<u8>, String> {
        let values = |own: Result<Vec<Value>, serde_json::Error>, strange: &[Value]| {
            own.map(|own| own.into_iter().chain(strange.iter().cloned()).collect::<Vec<_>>())
        };
        let markets = self.marketplaces.iter().map(serde_json::to_value).collect();
        let plugins = self.installed.iter().map(serde_json::to_value).collect();
        let file = values(markets, &self.strange.0).and_then(|marketplaces| {
            let installed_plugins = values(plugins, &self.strange.1)?;
            serde_json::to_vec_pretty(&File { marketplaces, installed_plugins })
        });
        let mut bytes = file.map_err(|error| error.to_string())?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// A marketplace by its id.
    pub fn market(&self, id: &str) -> Option<&Marketplace> {
        self.marketplaces.iter().find(|market| market.id == id)
    }

    /// An installed plugin by its key.
    pub fn plugin(&self, key: &str) -> Option<&Installed> {
        self.installed.iter().find(|plugin| plugin.variant_key == key)
    }

    /// Adds a marketplace, or puts it in the place of the one with its id.
    pub fn set_market(&mut self, market: Marketplace) {
        self.marketplaces.retain(|known| known.id != market.id);
        self.marketplaces.push(market);
        self.sort();
    }

    /// Adds a plugin, or puts it in the place of the one with its key.
    pub fn set_plugin(&mut self, plugin: Installed) {
        self.installed.retain(|known| known.variant_key != plugin.variant_key);
        self.installed.push(plugin);
        self.sort();
    }

    fn sort(&mut self) {
        self.marketplaces.sort_by(|one, two| one.id.cmp(&two.id));
        self.installed.sort_by(|one, two| one.variant_key.cmp(&two.variant_key));
    }
}

/// Whether a row can be used: what it names becomes paths and arguments.
fn is_market(market: &Marketplace) -> bool {
    is_id(&market.id) && market.source.check().is_ok()
}

fn is_installed(plugin: &Installed) -> bool {
    is_id(&plugin.marketplace_id)
        && is_id(&plugin.plugin_id)
        && plugin.variant_key == variant_key(&plugin.marketplace_id, &plugin.plugin_id)
        && matches!(plugin.state, InstallState::Installed | InstallState::Disabled)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::defaults::default_marketplaces;

    #[test]
    fn what_is_not_understood_is_kept_and_not_used() {
        let bytes = serde_json::to_vec(&json!({
            "marketplaces": [
                default_marketplaces()[0],
                {"id": "../x", "kind": "claude", "displayName": "x", "source": {"kind": "localPath", "path": "/x"}},
                {"id": "new", "kind": "quantum"}, 7
            ],
            "installedPlugins": [{"variantKey": "a:b"}],
            "other": 1
        }))
        .unwrap();
        let state = State::read(&bytes).unwrap();
        assert_eq!((state.marketplaces.len(), state.installed.len()), (1, 0));
        let written: Value = serde_json::from_slice(&state.write().unwrap()).unwrap();
        assert_eq!(written["marketplaces"].as_array().unwrap().len(), 4);
        assert_eq!(written["installedPlugins"], json!([{"variantKey": "a:b"}]));
        assert!(State::read(b"{").is_err() && State::read(b"7").is_err());
        assert_eq!(State::read(b"{}").unwrap(), State::default());
    }

    proptest! {
        #[test]
        fn what_is_read_is_the_same_after_writing(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(state) = State::read(&bytes) {
                prop_assert_eq!(State::read(&state.write().unwrap()).unwrap(), state);
            }
        }
    }
}
