//! The parts of plugins, as manifests name them; those of a plugin of a workspace become items once it is enabled.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::content::Content;
use crate::item::{Item, PluginRef};
use crate::plugin::Manifest;
use crate::scan::{FILES_LIMIT, Place, Scanner};
use crate::sources::{self, Find, Read, Row};
use crate::tree::Tree;
use crate::{overlay, redact};

/// Text files of commands and agents, and of rules.
const TEXTS: &[&str] = &["md"];
const RULES: &[&str] = &["md", "mdc"];
/// Hooks and servers are in files that are named themselves.
const NONE: &[&str] = &[];

/// A manifest and the file that it is in.
#[derive(Clone, Copy)]
pub(crate) struct Declared<'a> {
    pub(crate) path: &'a Path,
    /// SHA-256 of the file: what it holds itself is approved as it is there.
    pub(crate) hash: &'a str,
    pub(crate) manifest: &'a Manifest,
}

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
        let hash = item.source.hash.clone();
        scanner.plugin(&inner, &[Declared { path, hash: &hash, manifest }], true);
        // What the inner scan left out is said by the outer one, at its next file.
        (self.files, self.bytes) = (scanner.files.min(FILES_LIMIT), scanner.bytes);
        item.preview["components"] = described(scanner.found.values(), item);
    }

    /// The parts of plugins that are enabled become items of their own.
    pub(crate) fn parts_of_enabled_plugins(&mut self, place: &Place) {
        let enabled: Vec<(PathBuf, String, Box<Manifest>)> = self
            .found
            .values()
            // The parts of those that are installed were found already.
            .filter(|item| overlay::is_active(item) && item.plugin.is_none())
            .filter_map(|item| match &item.content {
                Content::Plugin(manifest) => {
                    let path = item.file.strip_prefix(&place.root).ok()?.to_owned();
                    Some((path, item.source.hash.clone(), manifest.clone()))
                }
                _ => None,
            })
            .collect();
        for (path, hash, manifest) in enabled {
            let Ok(tree) = reopened(place) else { return };
            let inner = plugin_place(tree, place, &path, &manifest);
            let said = Declared { path: &path, hash: &hash, manifest: &manifest };
            self.plugin(&inner, &[said], true);
        }
    }

    /// The parts of a plugin: those in the usual places, unless one manifest alone says what there is, and those
    /// that manifests name. Of two manifests that say the same, the first counts.
    pub(crate) fn plugin(&mut self, place: &Place, said: &[Declared<'_>], has_usual: bool) {
        if has_usual {
            sources::PLUGIN.iter().for_each(|row| self.row(place, row));
        }
        for (number, one) in said.iter().enumerate() {
            let before = &said[..number];
            let hooks = unsaid(&one.manifest.own_hooks, before, |of| &of.own_hooks);
            self.inline(place, *one, Read::Hooks, "hooks", hooks);
            let servers = unsaid(&one.manifest.own_servers, before, |of| &of.own_servers);
            self.inline(place, *one, Read::Servers, "mcpServers", servers);
            self.named(place, one.manifest, has_usual);
        }
    }

    /// What a manifest holds itself.
    fn inline(
        &mut self,
        place: &Place,
        said: Declared<'_>,
        read: Read,
        member: &str,
        own: Map<String, Value>,
    ) {
        if own.is_empty() {
            return;
        }
        let text = Value::Object(Map::from_iter([(member.to_owned(), own.into())])).to_string();
        self.text(place, (said.path, said.path), &row(read), &text, said.hash);
    }

    /// The files that a manifest names, without those that are found anyway.
    fn named(&mut self, place: &Place, manifest: &Manifest, has_usual: bool) {
        let named = [
            (&manifest.commands, Read::Command, "commands", (TEXTS, 8)),
            (&manifest.agents, Read::Agent, "agents", (TEXTS, 8)),
            (&manifest.rules, Read::Rule, "rules", (RULES, 4)),
            (&manifest.hooks, Read::Hooks, "hooks/hooks.json", (NONE, 0)),
            (&manifest.servers, Read::Servers, ".mcp.json", (NONE, 0)),
        ];
        let is_found = |path: &str, usual: &str| has_usual && path == usual;
        for (paths, read, usual, below) in named {
            for path in paths.iter().filter(|path| !is_found(path, usual)) {
                let path = place.below.join(path);
                match path.extension().is_some() {
                    true => {
                        let base = path.parent().unwrap_or(Path::new("")).to_owned();
                        self.file(place, &base, &path, &row(read));
                    }
                    false => self.files(place, &path, &path, &row(read), below),
                }
            }
        }
        for path in manifest.skills.iter().filter(|path| !is_found(path, "skills")) {
            let path = place.below.join(path);
            if path.file_name() == Some("SKILL.md".as_ref()) {
                self.file(place, &path, &path, &row(Read::Skill));
                continue;
            }
            self.file(place, &path, &path.join("SKILL.md"), &row(Read::Skill));
            self.in_folders(place, &path, "SKILL.md", &row(Read::Skill));
        }
    }
}

const fn row(read: Read) -> Row {
    Row { path: "", find: Find::File, read, is_live: false }
}

/// What manifests before this one do not say already.
fn unsaid(
    own: &Map<String, Value>,
    before: &[Declared<'_>],
    of: impl Fn(&Manifest) -> &Map<String, Value>,
) -> Map<String, Value> {
    let is_said = |name: &str, value: &Value| {
        before.iter().any(|one| of(one.manifest).get(name) == Some(value))
    };
    let own = own.iter().filter(|(name, value)| !is_said(name, value));
    own.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Parts of a plugin as its own item shows them; it can do what they can.
pub(crate) fn described<'a>(parts: impl Iterator<Item = &'a Item>, plugin: &mut Item) -> Value {
    let mut parts: Vec<&Item> = parts.collect();
    parts.sort_by(|a, b| (&a.source.path, &a.title).cmp(&(&b.source.path, &b.title)));
    plugin.is_command_capable = parts.iter().any(|part| part.is_command_capable);
    plugin.needs_approval = parts.iter().any(|part| part.needs_approval);
    let part = |part: &&Item| {
        json!({
            "sourceType": part.source.kind.word(),
            "path": part.source.path,
            "title": part.title,
            "summary": redact::redacted_text(&part.summary),
        })
    };
    parts.iter().map(part).collect()
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
