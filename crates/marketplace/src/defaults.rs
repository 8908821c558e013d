//! The marketplaces that everyone knows. They are listed without being asked for, and fetched only then.

use crate::source::MarketSource;
use crate::types::{Kind, MarketState, Marketplace};

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    None,
    /// The one of this kind.
    Of(Kind),
    All,
}

impl Defaults {
    /// Whether a marketplace of this kind is among them.
    pub fn has(self, kind: Kind) -> bool {
        match self {
            Defaults::None => false,
            Defaults::Of(wanted) => wanted == kind,
            Defaults::All => true,
        }
    }

    pub fn from_word(word: &str) -> Option<Defaults> {
        match word.trim().to_ascii_lowercase().as_str() {
            "none" => Some(Defaults::None),
            "all" => Some(Defaults::All),
            "anthropic" => Some(Defaults::Of(Kind::Claude)),
            word => Kind::from_word(word)
                .filter(|kind| default_marketplaces().iter().any(|known| known.kind == *kind))
                .map(Defaults::Of),
        }
    }
}

/// All of them, in the order of their ids.
pub fn default_marketplaces() -> Vec<Marketplace> {
    let known =
        |id: &str, kind, name: &str, repo: &str, catalog: Option<&str>, root: Option<&str>| {
            Marketplace {
                id: id.to_owned(),
                kind,
                is_kind_guessed: false,
                display_name: name.to_owned(),
                source: MarketSource::Github {
                    repo: repo.to_owned(),
                    ref_name: None,
                    catalog_path: catalog.map(str::to_owned),
                    plugin_root: root.map(str::to_owned),
                },
                homepage: Some(format!("https://github.com/{repo}")),
                owner_name: None,
                owner_email: None,
                description: None,
                is_default: true,
                enabled: true,
                state: MarketState::BakedIn,
                last_refreshed_at: None,
                content_hash: None,
                last_error: None,
            }
        };
    vec![
        known(
            "claude-plugins-official",
            Kind::Claude,
            "Claude plugins",
            "anthropics/claude-plugins-official",
            Some(".claude-plugin/marketplace.json"),
            None,
        ),
        known(
            "codex-plugins",
            Kind::Codex,
            "Codex plugins",
            "openai/plugins",
            None,
            Some("plugins"),
        ),
        known(
            "cursor-plugins",
            Kind::Cursor,
            "Cursor plugins",
            "cursor/plugins",
            Some(".cursor-plugin/marketplace.json"),
            None,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_can_be_fetched_and_are_named() {
        let all = default_marketplaces();
        assert!(all.is_sorted_by_key(|market| market.id.clone()));
        for market in &all {
            assert_eq!(market.source.check(), Ok(()));
            assert!(crate::is_id(&market.id) && !market.is_shown());
        }
        assert_eq!(Defaults::from_word("claude"), Defaults::from_word("Anthropic"));
        assert_eq!(Defaults::from_word("codex"), Some(Defaults::Of(Kind::Codex)));
        assert_eq!(Defaults::from_word("roder"), None);
        assert_eq!(Defaults::from_word(""), None);
    }
}
