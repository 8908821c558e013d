//! What an install would bring: files, sizes, and every command that could be started.

use std::path::{Path, PathBuf};

use rookery_host::Beneath;
use rookery_host::tree::{self, Tree};
use serde_json::Map;

use crate::components::{self, Content, PluginCommand};
use crate::fetch;
use crate::ids::version_folder;
use crate::install::{CONTENT_LIMITS, Glance, PREVIEW_FILE, SKIPPED};
use crate::plugin_source::PluginSource;
use crate::source::github_repo;
use crate::types::{Entry, Hints, Installed, Marketplace, Places, Risk};

/// What an install would bring.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// What its catalog says.
    pub entry: Entry,
    /// What it has in it.
    pub component_hints: Hints,
    /// What the worst is that it may do.
    pub risk: Risk,
    /// Its files, as far as they are here.
    pub files: Vec<String>,
    /// What they take.
    pub total_bytes: u64,
    /// Every command that it could start.
    pub commands: Vec<PluginCommand>,
    /// What to know before it is installed.
    pub warnings: Vec<String>,
}

impl Preview {
    /// Looks at a plugin, whose content may have been fetched for that. Blocks.
    pub fn new(
        entry: &Entry,
        market: Option<&Marketplace>,
        installed: Option<&Installed>,
        places: Option<&Places>,
        fetched: Option<&Glance>,
    ) -> Preview {
        let mut warnings: Vec<String> = entry.problem.iter().cloned().collect();
        let folder = places.and_then(|places| folder(entry, market, installed, places, fetched));
        let opened = folder.as_ref().and_then(|(root, path)| open(root, path).ok());
        let tree = match &opened {
            Some(content) => match tree::list(content, SKIPPED, CONTENT_LIMITS) {
                Ok(tree) => Some(tree),
                Err(error) => {
                    warnings.push(format!("it cannot be installed: {error}"));
                    None
                }
            },
            None if entry.problem.is_some() => None,
            None => {
                warnings.push(match fetched.map(Glance::place) {
                    Some((_, path)) => {
                        format!("it cannot be installed: its repository has no folder {path}")
                    }
                    None => "its content is fetched when it is installed; files, and commands named in them, \
                             are not known before"
                        .to_owned(),
                });
                None
            }
        };
        let content = opened.as_ref().map(|content| content as &dyn Content);
        let root = install_path(entry, tree.as_ref(), installed, places);
        let described = describe(entry, content, &root);
        warnings.extend(described.warnings);
        let tree = tree.unwrap_or_default();
        warnings.extend(
            tree.dangling.iter().map(|path| format!("{path}: a link to nothing, left out")),
        );
        let is_known = entry.source.is_supported();
        Preview {
            risk: components::risk(described.hints, is_known).max(entry.risk),
            component_hints: described.hints,
            files: tree.files,
            total_bytes: tree.bytes,
            commands: described.commands,
            warnings,
            entry: entry.clone(),
        }
    }
}

struct Described {
    hints: Hints,
    commands: Vec<PluginCommand>,
    warnings: Vec<String>,
}

fn describe(entry: &Entry, content: Option<&dyn Content>, root: &str) -> Described {
    let empty = Map::new();
    let said = entry.raw_manifest.as_object().unwrap_or(&empty);
    // Also of a plugin whose entry alone defines it: what lies in its folder is shown.
    let (own, warnings) = content.map(components::own_manifests).unwrap_or_default();
    let mut manifests = vec![("manifest", said)];
    manifests.extend(own.iter().map(|(path, members)| (*path, members)));
    let starts = components::starts(&manifests, content, root);
    let declared = manifests.iter().map(|(_, manifest)| components::declared(manifest));
    let hints = declared.fold(entry.component_hints, components::either);
    let hints = match content {
        Some(content) => components::either(hints, components::present(content)),
        None => hints,
    };
    let warnings = warnings.into_iter().chain(starts.warnings).collect();
    Described { hints, commands: starts.commands, warnings }
}

/// Where its content is on this machine: a root that nothing leads out of, and a path in it.
fn folder(
    entry: &Entry,
    market: Option<&Marketplace>,
    installed: Option<&Installed>,
    places: &Places,
    fetched: Option<&Glance>,
) -> Option<(PathBuf, String)> {
    if entry.problem.is_some() {
        return None;
    }
    let there = match &entry.source {
        PluginSource::MarketplacePath { path, .. } => {
            fetch::root(market?, places).map(|root| (root, path.clone()))
        }
        PluginSource::Git { url, path, .. } => {
            let folder = github_repo(url).and_then(|repo| fetch::github_folder(repo, Some(places)));
            let there = folder.map(|root| (root, path.clone().unwrap_or_default()));
            there.or_else(|| fetched.map(Glance::place))
        }
        PluginSource::LocalPath { path } => Some((PathBuf::from(path), String::new())),
        PluginSource::Http { .. } | PluginSource::Npm { .. } | PluginSource::Unsupported { .. } => {
            None
        }
    };
    let is_there = |place: &(PathBuf, String)| open(&place.0, &place.1).is_ok();
    let kept =
        || installed.map(|installed| (PathBuf::from(&installed.install_path), String::new()));
    there.filter(is_there).or_else(kept)
}

pub(crate) fn open(root: &Path, path: &str) -> std::io::Result<Beneath> {
    Beneath::new(root)?.below(Path::new(path))
}

/// Where its content would be.
fn install_path(
    entry: &Entry,
    tree: Option<&Tree>,
    installed: Option<&Installed>,
    places: Option<&Places>,
) -> String {
    let version = entry.version.as_deref().and_then(version_folder);
    let hash = tree.map(|tree| tree.hash.get(..16).unwrap_or_default());
    match (places, version.or(hash), installed) {
        (Some(places), Some(last), _) => {
            let folder = places.plugins.join(&entry.marketplace_id).join(&entry.plugin_id);
            folder.join(last).display().to_string()
        }
        (_, _, Some(installed)) => installed.install_path.clone(),
        _ => format!("<{}>", PREVIEW_FILE.trim_end_matches("-preview.json")),
    }
}
