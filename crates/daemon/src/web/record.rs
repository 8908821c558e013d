//! The file that says where the page is, while it is served.

use rookery_trust::TrustedDir;
use serde_json::json;

use crate::homes::Homes;

/// Its name beside our socket.
const RECORD: &str = "web.json";

fn dir(homes: &Homes) -> std::io::Result<TrustedDir> {
    TrustedDir::existing(&homes.runtime_dir().join("rookery"))
}

/// Says where the page is.
pub(super) fn write(homes: &Homes, url: &str) {
    let content = json!({ "url": url, "pid": std::process::id() }).to_string();
    let written = dir(homes).and_then(|dir| dir.replace(RECORD, content.as_bytes()));
    if let Err(error) = written {
        tracing::warn!(%error, "no file says where the page for browsers is");
    }
}

/// The page is served no more.
pub(super) fn remove(homes: &Homes) {
    let _ = dir(homes).and_then(|dir| dir.remove(RECORD));
}
