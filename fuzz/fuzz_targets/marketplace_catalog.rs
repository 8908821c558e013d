//! Catalogs of marketplaces, which others write: every kind is understood or refused with a reason. Entries are
//! sound whatever is said, none is lost when they are grouped, and a cached catalog is the same when it is read.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use rookery_marketplace::{Catalog, Kind, PluginSource, State, group, is_id, read_list};

fuzz_target!(|input: &[u8]| {
    for kind in Kind::ALL {
        match read_list("m", kind, Some("https://h.test/own"), input) {
            Ok(catalog) => check(&catalog),
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
    if let Ok(state) = State::read(input) {
        let written = state.write().unwrap();
        assert_eq!(State::read(&written).unwrap(), state);
    }
});

fn check(catalog: &Catalog) {
    for entry in &catalog.entries {
        assert!(is_id(&entry.plugin_id));
        assert!(!entry.display_name.is_empty());
        if let PluginSource::MarketplacePath { path, .. } = &entry.source {
            assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".."));
        }
    }
    let rows = group(&catalog.entries, &BTreeMap::new());
    let grouped: usize = rows.iter().map(|row| row.variants.len()).sum();
    assert_eq!(grouped, catalog.entries.len());
    let written = serde_json::to_vec(catalog).unwrap();
    assert_eq!(&serde_json::from_slice::<Catalog>(&written).unwrap(), catalog);
}
