//! The plugins that come with the program.

use std::path::Path;
use std::sync::OnceLock;

use crate::load::{Plugin, parse_manifest};

/// A manifest with this version takes the program's.
const OUR_VERSION: &str = "0.0.0-shipped";

/// Path, manifest and code of each, sorted by name; the build script lists them.
const EMBEDDED: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The plugins that come with the program, sorted by name.
pub fn shipped() -> Vec<Plugin> {
    static PLUGINS: OnceLock<Vec<Plugin>> = OnceLock::new();
    PLUGINS
        .get_or_init(|| {
            EMBEDDED
                .iter()
                .filter_map(|(path, manifest, source)| read(path, manifest, source))
                .collect()
        })
        .clone()
}

fn read(path: &str, manifest: &str, source: &str) -> Option<Plugin> {
    match parse_manifest(manifest, Path::new(path)) {
        Ok(mut manifest) => {
            if manifest.version == OUR_VERSION {
                manifest.version = env!("CARGO_PKG_VERSION").to_owned();
            }
            Some(Plugin::unchecked(manifest, source, true))
        }
        // Only a broken build gets here, and a test reads every manifest.
        Err(error) => {
            tracing::error!(%error, "a shipped plugin is left out");
            None
        }
    }
}
