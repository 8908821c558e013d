//! Whose format a catalog has, and where it lies.

use crate::components::Content;
use crate::source::MarketSource;
use crate::types::Kind;

/// The manifest of a plugin of Codex, in its folder.
pub(crate) const CODEX_MANIFEST: &str = ".codex-plugin/plugin.json";

/// The catalog of a kind; none if it is a folder of plugins.
pub(crate) fn catalog_file(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Claude => Some(".claude-plugin/marketplace.json"),
        Kind::Cursor => Some(".cursor-plugin/marketplace.json"),
        Kind::Codex => None,
        Kind::Roder | Kind::Custom => Some(".roder-plugin/marketplace.json"),
    }
}

/// The kind of a marketplace whose files are there.
pub(crate) fn infer_kind(
    root: &dyn Content,
    has_codex_plugins: impl FnOnce() -> bool,
) -> Option<Kind> {
    let has = |kind: Kind| catalog_file(kind).is_some_and(|path| root.read(path).is_some());
    match () {
        () if has(Kind::Claude) => Some(Kind::Claude),
        () if has(Kind::Cursor) => Some(Kind::Cursor),
        () if has_codex_plugins() => Some(Kind::Codex),
        () if has(Kind::Roder) => Some(Kind::Roder),
        () => None,
    }
}

/// The kind of a marketplace by the words of its source.
pub fn infer_kind_from_words(source: &MarketSource) -> Kind {
    let catalog = source.catalog_path().unwrap_or_default();
    let words = format!("{} {catalog}", source.shown()).to_lowercase();
    let has = |known: &[&str]| known.iter().any(|word| words.contains(word));
    if has(&["claude", "anthropic"]) {
        Kind::Claude
    } else if has(&["cursor"]) {
        Kind::Cursor
    } else if has(&["codex", "openai/plugins"]) || source.plugin_root().is_some() {
        Kind::Codex
    } else {
        Kind::Custom
    }
}
