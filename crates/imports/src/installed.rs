//! Installed plugins: each is an item itself, and so are its parts, as its own manifest and its entry in the catalog
//! of its marketplace name them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::content::Content;
use crate::item::{Item, PluginRef, Risk, ScanError, Source, SourceKind, State, digest, item_id};
use crate::parts::{Declared, described};
use crate::plugin::{self, Manifest, PluginRoot};
use crate::redact::redacted;
use crate::scan::{FILE_LIMIT, ITEMS_LIMIT, Place, Scanner, trouble};
use crate::tree::Tree;
use crate::{preview, sources};

/// What an install notes beside the content of a plugin: the entry of the catalog, among others.
const RECORD: &str = "install-preview.json";
/// The longest note that is read.
const RECORD_LIMIT: usize = 2 << 20;

/// What an install noted.
#[derive(Default)]
struct Record {
    /// SHA-256 of the file.
    hash: String,
    /// The kind of the marketplace.
    kind: Option<String>,
    /// By what the plugin is recognized elsewhere.
    identity: Value,
    /// What the catalog says of it.
    entry: Manifest,
}

impl Scanner {
    /// An installed plugin with its parts. What others wrote is read without following links out of it.
    pub(crate) fn installed(&mut self, plugin: &PluginRoot) {
        let named = PluginRef {
            name: plugin::name(&plugin.plugin_id).unwrap_or_else(|| "plugin".to_owned()),
            root: plugin.root.clone(),
            variant_key: Some(plugin.variant_key.clone()),
        };
        let tree = match Tree::confined(&plugin.root) {
            Ok(tree) => tree,
            Err(error) => {
                let path = plugin.root.to_string_lossy().into_owned();
                return self.errors.push(ScanError { path, message: trouble(&error) });
            }
        };
        let place = Place::of_user(tree, &plugin.root, Some(named.clone()));
        let record = match record(&place) {
            Ok(record) => record,
            Err(why) => {
                // Whether its entry alone defines it is not known, so nothing of it is offered.
                return self.complain(&place, Path::new(RECORD), &why);
            }
        };
        let entry = &record.entry;
        let said = Declared { path: Path::new(RECORD), hash: &record.hash, manifest: entry };
        let own = match entry.is_alone {
            true => None,
            false => own_manifest(&place, record.kind.as_deref()),
        };
        match &own {
            Some((path, hash, manifest)) => {
                self.plugin(&place, &[Declared { path, hash, manifest }, said], true);
            }
            None => self.plugin(&place, &[said], !(entry.is_alone && entry.has_parts())),
        }
        let own = own.map(|(.., manifest)| manifest);
        self.plugin_itself(plugin, named, &record, own);
    }

    fn plugin_itself(
        &mut self,
        plugin: &PluginRoot,
        named: PluginRef,
        record: &Record,
        own: Option<Manifest>,
    ) {
        let path = plugin.root.to_string_lossy().into_owned();
        let id = item_id(SourceKind::Plugin, &path, Some(&plugin.variant_key));
        if self.found.len() >= ITEMS_LIMIT {
            return;
        }
        let said = [Some(&record.entry), own.as_ref()];
        let description = said.iter().flatten().find_map(|one| one.description.as_deref());
        let mut item = Item {
            id: id.clone(),
            title: format!("Plugin {}", named.name),
            summary: preview::one_line(description.unwrap_or_default()),
            source: Source {
                kind: SourceKind::Plugin,
                path: path.clone(),
                name: Some(plugin.variant_key.clone()),
                hash: record.hash.clone(),
                detected_at: self.now,
            },
            state: State::Detected,
            risk: Risk::Unknown,
            is_command_capable: false,
            needs_approval: false,
            preview: Value::Null,
            conflicts: Vec::new(),
            enabled_at: None,
            // Its parts are offered, and only an ignored plugin changes that.
            is_live: true,
            file: plugin.root.clone(),
            plugin: Some(named),
            content: Content::Plugin(Box::default()),
        };
        let is_part = |one: &&Item| variant_key(one) == Some(&plugin.variant_key);
        let components = described(self.found.values().filter(is_part), &mut item);
        let manifest = match (&record.entry.raw, own) {
            (Value::Object(_), _) => redacted(&record.entry.raw),
            (_, Some(own)) => redacted(&own.raw),
            (_, None) => Value::Null,
        };
        item.preview = preview::bounded(json!({"components": components, "manifest": manifest}));
        let marketplace = plugin.variant_key.split_once(':').map(|(marketplace, _)| marketplace);
        item.preview["variantKey"] = json!(plugin.variant_key);
        item.preview["marketplaceId"] = json!(marketplace);
        item.preview["pluginId"] = json!(plugin.plugin_id);
        item.preview["installPath"] = json!(path);
        item.preview["identityKey"] = preview::bounded(record.identity.clone());
        self.found.insert(id, item);
    }

    /// Of an installed plugin that is ignored in the workspace no part is offered, nor takes effect.
    pub(crate) fn leave_out_parts_of_ignored_plugins(&mut self) {
        let is_plugin = |item: &Item| matches!(item.content, Content::Plugin(_));
        let is_off = |item: &&Item| {
            is_plugin(item) && matches!(item.state, State::Ignored | State::Disabled)
        };
        let off = self.found.values().filter(is_off).filter_map(variant_key);
        let off: BTreeSet<String> = off.map(str::to_owned).collect();
        self.found.retain(|_, item| {
            is_plugin(item) || variant_key(item).is_none_or(|key| !off.contains(key))
        });
    }
}

/// The installed plugin that an item belongs to.
fn variant_key(item: &Item) -> Option<&str> {
    item.plugin.as_ref()?.variant_key.as_deref()
}

/// What an install noted; nothing if there is no note.
fn record(place: &Place) -> Result<Record, String> {
    let bytes = match place.tree.read(Path::new(RECORD), RECORD_LIMIT + 1) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Record { hash: digest(&[]), ..Record::default() });
        }
        Err(error) => return Err(trouble(&error)),
    };
    if bytes.len() > RECORD_LIMIT {
        return Err(format!("it is longer than {RECORD_LIMIT} bytes"));
    }
    let hash = digest(&bytes);
    let mut noted: Value =
        serde_json::from_slice(&bytes).map_err(|error| format!("it is not valid JSON: {error}"))?;
    let mut member = |name: &str| noted.get_mut(name).map(Value::take).unwrap_or_default();
    Ok(Record {
        hash,
        kind: member("kind").as_str().map(str::to_owned),
        identity: member("identityKey"),
        entry: Manifest::of(member("manifest")).unwrap_or_default(),
    })
}

/// What a plugin says of itself, for the kind of its marketplace if it can: the path, its SHA-256, and the manifest.
fn own_manifest(place: &Place, kind: Option<&str>) -> Option<(PathBuf, String, Manifest)> {
    let own = kind.map(|kind| format!(".{kind}-plugin/plugin.json"));
    let is_own = |path: &&&str| own.as_deref() == Some(**path);
    let first = sources::MANIFESTS.iter().filter(is_own);
    let others = sources::MANIFESTS.iter().filter(|path| !is_own(path));
    first.chain(others).find_map(|path| {
        let bytes = place.tree.read(Path::new(path), FILE_LIMIT).ok()?;
        let hash = digest(&bytes);
        let manifest = plugin::parse(&String::from_utf8(bytes).ok()?).ok()?;
        Some((PathBuf::from(path), hash, manifest))
    })
}
