//! Catalogs that are a list in one file, and those that are a folder of plugins.

use rookery_host::Beneath;
use serde_json::{Map, Value};

use super::Catalog;
use super::entry::{self, Owner, text};
use crate::components::Content;
use crate::identity::normalized_repository;
use crate::plugin_source::{self, Base, PluginSource, ReadSource, clean};
use crate::source::check_relative;
use crate::types::Kind;

/// Gives the folder of a plugin, if it is here.
type Open<'a> = &'a dyn Fn(&PluginSource) -> Option<Beneath>;

/// Reads a list of plugins that is a file alone.
///
/// # Errors
/// If it is no list, with the reason.
pub fn read_list(
    marketplace: &str,
    kind: Kind,
    repository: Option<&str>,
    bytes: &[u8],
) -> Result<Catalog, String> {
    let owner = Owner { marketplace, kind, repository, plugin_root: None, has_folder: false };
    read(&owner, bytes, &|_| None)
}

/// Reads a list of plugins; `open` gives their folders.
pub(crate) fn read(owner: &Owner<'_>, bytes: &[u8], open: Open<'_>) -> Result<Catalog, String> {
    if bytes.len() > super::LARGEST_CATALOG {
        return Err(format!("it has more than {} bytes", super::LARGEST_CATALOG));
    }
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let (list, about) = match &value {
        Value::Array(list) => (list, Map::new()),
        Value::Object(about) => match about.get("plugins") {
            Some(Value::Array(list)) => (list, about.clone()),
            _ => return Err("it has no list `plugins`".to_owned()),
        },
        _ => return Err("it is no object with a list `plugins`".to_owned()),
    };
    let empty = Map::new();
    let of = |name: &str| about.get(name).and_then(Value::as_object).unwrap_or(&empty);
    let (person, metadata) = (of("owner"), of("metadata"));
    let mut catalog = Catalog {
        owner_name: text(person, "name", 200).or_else(|| text(&about, "owner", 200)),
        owner_email: text(person, "email", 200),
        description: text(metadata, "description", 4096)
            .or_else(|| text(&about, "description", 4096)),
        ..Catalog::default()
    };
    let root = text(metadata, "pluginRoot", 500).or_else(|| owner.plugin_root.map(str::to_owned));
    let root = root.filter(|root| !clean(root).is_empty());
    if let Some(why) = root.as_deref().and_then(|root| check_relative(root).err()) {
        return Err(format!("its pluginRoot cannot be used: {why}"));
    }
    let base = Base {
        marketplace: owner.marketplace,
        plugin_root: root.as_deref(),
        has_folder: owner.has_folder,
    };
    for (place, said) in list.iter().enumerate() {
        let Value::Object(said) = said else {
            catalog.note(format!("entry {} is no object", place + 1));
            continue;
        };
        let name = text(said, "name", 200).unwrap_or_default();
        let source = plugin_source::read(said.get("source"), &name, &base);
        let folder = source.problem.is_none().then(|| open(&source.source)).flatten();
        let id = (owner.kind == Kind::Cursor).then(|| text(said, "id", 200)).flatten();
        let content = folder.as_ref().map(|folder| folder as &dyn Content);
        let entry = entry::read(owner, id.as_deref(), said, source, content);
        catalog.add(entry.map_err(|why| format!("entry {}: {why}", place + 1)));
    }
    Ok(catalog.finish())
}

/// Reads plugins that describe themselves, each in a folder: its path, its manifest, and its files.
pub(crate) fn read_folders(
    owner: &Owner<'_>,
    folders: &[(String, Vec<u8>, Option<Beneath>)],
) -> Catalog {
    let mut catalog = Catalog::default();
    let mut read = Vec::new();
    for (path, manifest, folder) in folders {
        match serde_json::from_slice::<Map<String, Value>>(manifest) {
            Ok(said) => read.push((path, said, folder)),
            Err(error) => catalog.note(format!("{path}: {error}")),
        }
    }
    let shared = shared_repository(read.iter().map(|(_, said, _)| said));
    let owner = Owner { repository: owner.repository.or(shared.as_deref()), ..*owner };
    for (path, said, folder) in read {
        let marketplace_id = owner.marketplace.to_owned();
        let source = PluginSource::MarketplacePath { marketplace_id, path: path.clone() };
        let content = folder.as_ref().map(|folder| folder as &dyn Content);
        let read = ReadSource { source, problem: None };
        let entry = entry::read(&owner, None, &said, read, content);
        catalog.add(entry.map_err(|why| format!("{path}: {why}")));
    }
    catalog.finish()
}

/// The repository that all of several plugins name: that of the folder they are in, which says nothing about one.
fn shared_repository<'a>(all: impl Iterator<Item = &'a Map<String, Value>>) -> Option<String> {
    let mut all = all.map(entry::repository);
    let first = all.next()??;
    let mut count = 1;
    for one in all {
        if normalized_repository(&one?) != normalized_repository(&first) {
            return None;
        }
        count += 1;
    }
    (count > 1).then_some(first)
}
