//! The parts of plugins: those of a workspace once it is enabled, and those of installed ones.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::content::Content;
use crate::item::{Item, PluginRef, ScanError};
use crate::plugin::{self, Manifest, PluginRoot};
use crate::scan::{FILE_LIMIT, FILES_LIMIT, Place, Scanner, trouble};
use crate::sources::{self, Find, Read, Row};
use crate::tree::Tree;
use crate::{overlay, redact};

impl Scanner {
    /// Says what parts a plugin of a workspace has: one that could start a program needs approval.
    pub(crate) fn look_into(
        &mut self,
        place: &Place,
        path: &Path,
        manifest: &Manifest,
        item: &mut Item,
    ) {
        let Ok(tree) = reopened(place) else { return };
        let inner = plugin_place(tree, place, path, manifest);
        let mut scanner = Scanner::new(self.now);
        (scanner.files, scanner.bytes) = (self.files, self.bytes);
        scanner.plugin(&inner, path, manifest);
        // What the inner scan left out is said by the outer one, at its next file.
        (self.files, self.bytes) = (scanner.files.min(FILES_LIMIT), scanner.bytes);
        let mut parts: Vec<&Item> = scanner.found.values().collect();
        parts.sort_by(|a, b| (&a.source.path, &a.title).cmp(&(&b.source.path, &b.title)));
        item.is_command_capable = parts.iter().any(|part| part.is_command_capable);
        item.needs_approval = parts.iter().any(|part| part.needs_approval);
        let part = |part: &&Item| {
            json!({
                "sourceType": part.source.kind.word(),
                "path": part.source.path,
                "title": part.title,
                "summary": redact::redacted_text(&part.summary),
            })
        };
        item.preview["components"] = parts.iter().map(part).collect();
    }

    /// The parts of plugins that are enabled become items of their own.
    pub(crate) fn parts_of_enabled_plugins(&mut self, place: &Place) {
        let enabled: Vec<(PathBuf, Box<Manifest>)> = self
            .found
            .values()
            .filter(|item| overlay::is_active(item))
            .filter_map(|item| match &item.content {
                Content::Plugin(manifest) => {
                    Some((item.file.strip_prefix(&place.root).ok()?.to_owned(), manifest.clone()))
                }
                _ => None,
            })
            .collect();
        for (path, manifest) in enabled {
            let Ok(tree) = reopened(place) else { return };
            let inner = plugin_place(tree, place, &path, &manifest);
            self.plugin(&inner, &path, &manifest);
        }
    }

    /// The parts of a plugin: those in the usual places, and those that its manifest names.
    fn plugin(&mut self, place: &Place, manifest_path: &Path, manifest: &Manifest) {
        sources::PLUGIN.iter().for_each(|row| self.row(place, row));
        let row = |read| Row { path: "", find: Find::File, read, is_live: false };
        if manifest.has_own_hooks {
            self.file(place, manifest_path, manifest_path, &row(Read::Hooks));
        }
        if manifest.has_own_servers {
            self.file(place, manifest_path, manifest_path, &row(Read::Servers));
        }
        let named = [
            (&manifest.commands, Read::Command, "commands"),
            (&manifest.agents, Read::Agent, "agents"),
            (&manifest.hooks, Read::Hooks, "hooks/hooks.json"),
            (&manifest.servers, Read::Servers, ".mcp.json"),
        ];
        for (paths, read, usual) in named {
            for path in paths.iter().filter(|path| *path != usual) {
                let path = place.below.join(path);
                match path.extension().is_some() {
                    true => {
                        let base = path.parent().unwrap_or(Path::new("")).to_owned();
                        self.file(place, &base, &path, &row(read));
                    }
                    false => self.files(place, &path, &path, &row(read), (&["md"], 8)),
                }
            }
        }
        for path in manifest.skills.iter().filter(|path| *path != "skills") {
            let path = place.below.join(path);
            self.file(place, &path, &path.join("SKILL.md"), &row(Read::Skill));
            self.in_folders(place, &path, "SKILL.md", &row(Read::Skill));
        }
    }

    /// The parts of an installed plugin. What others wrote is read without following links out of it.
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
        let place = Place::of_user(tree, &plugin.root, Some(named));
        let read = |path: &&str| {
            let bytes = place.tree.read(Path::new(path), FILE_LIMIT).ok()?;
            Some((PathBuf::from(path), plugin::parse(&String::from_utf8(bytes).ok()?).ok()?))
        };
        let manifest = sources::MANIFESTS.iter().find_map(read).unwrap_or_default();
        self.plugin(&place, &manifest.0, &manifest.1);
    }
}

fn reopened(place: &Place) -> io::Result<Tree> {
    match &place.tree {
        Tree::Confined(_) => Tree::confined(&place.root),
        Tree::Open(root) => Ok(Tree::Open(root.clone())),
    }
}

/// The folder of a plugin whose manifest is at a path of a workspace.
fn plugin_place(tree: Tree, place: &Place, path: &Path, manifest: &Manifest) -> Place {
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_marker = folder.file_name().is_some_and(|name| {
        name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with("-plugin"))
    });
    let below = match is_marker {
        true => folder.parent().unwrap_or(Path::new("")).to_owned(),
        false => folder.to_owned(),
    };
    let name = manifest.name.clone().unwrap_or_else(|| "plugin".to_owned());
    let root = place.root.join(&below);
    let plugin = Some(PluginRef { name, root, variant_key: None });
    Place { tree, root: place.root.clone(), is_user: place.is_user, below, plugin }
}
