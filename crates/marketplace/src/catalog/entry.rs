//! One entry of a catalog.

use serde_json::{Map, Value};

use crate::components::{self, Content};
use crate::identity::IdentityKey;
use crate::ids::id_of_name;
use crate::plugin_source::{PluginSource, ReadSource};
use crate::types::{Entry, Hints, Kind};

/// The longest name for people, in characters.
const LONGEST_NAME: usize = 200;
const LONGEST_DESCRIPTION: usize = 4096;
/// The longest of other texts.
const LONGEST_TEXT: usize = 500;
/// Tags, and capabilities.
const MOST_TAGS: usize = 64;
/// The largest manifest that is kept, as JSON.
const LARGEST_MANIFEST: usize = 256 << 10;

/// Whose catalog it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    pub(crate) marketplace: &'a str,
    /// Whose format it has.
    pub(crate) kind: Kind,
    /// Its own repository.
    pub(crate) repository: Option<&'a str>,
    /// The folder with plugins that its source names.
    pub(crate) plugin_root: Option<&'a str>,
    /// Whether it is a folder.
    pub(crate) has_folder: bool,
}

/// Reads an entry whose members are `said`; `content` is its folder, if that is here already.
pub(super) fn read(
    owner: &Owner<'_>,
    id: Option<&str>,
    said: &Map<String, Value>,
    source: ReadSource,
    content: Option<&dyn Content>,
) -> Result<Entry, String> {
    let name = text(said, "name", LONGEST_NAME).ok_or("an entry has no name")?;
    let plugin_id = id_of_name(id.unwrap_or(&name))
        .or_else(|| id_of_name(&name))
        .ok_or_else(|| format!("{name}: no id can be made of it"))?;
    let is_strict = said.get("strict") != Some(&Value::Bool(false));
    let own = content.filter(|_| is_strict);
    let own = own.and_then(|content| components::own_manifest(content, owner.kind));
    let empty = Map::new();
    let own = own.as_ref().unwrap_or(&empty);
    let either = |name: &str, most| text(said, name, most).or_else(|| text(own, name, most));
    let shown = said.get("interface").or_else(|| own.get("interface"));
    let shown = shown.and_then(Value::as_object).unwrap_or(&empty);

    let author_name =
        author(said).or_else(|| author(own)).or_else(|| text(shown, "developerName", LONGEST_NAME));
    let homepage =
        either("homepage", LONGEST_TEXT).or_else(|| text(shown, "websiteURL", LONGEST_TEXT));
    let repository = repository(said).or_else(|| repository(own));
    let identity_key = IdentityKey::new(
        &name,
        repository.as_deref(),
        homepage.as_deref(),
        author_name.as_deref(),
        owner.repository,
    );
    let component_hints = hints(owner.kind, said, own, content);
    let mut tags = texts(said, "keywords");
    tags.extend(texts(said, "tags"));
    tags.dedup();
    let raw = Value::Object(said.clone());
    let is_small = raw.to_string().len() <= LARGEST_MANIFEST;
    let problem = source.problem.or_else(|| {
        (!is_small).then(|| format!("its manifest has more than {LARGEST_MANIFEST} bytes"))
    });
    let is_known = !matches!(
        source.source,
        PluginSource::Npm { .. } | PluginSource::Unsupported { .. } | PluginSource::Http { .. }
    );
    Ok(Entry {
        marketplace_id: owner.marketplace.to_owned(),
        plugin_id,
        identity_key,
        display_name: either("displayName", LONGEST_NAME)
            .or_else(|| text(shown, "displayName", LONGEST_NAME))
            .unwrap_or_else(|| name.clone()),
        description: either("description", LONGEST_DESCRIPTION)
            .or_else(|| text(shown, "shortDescription", LONGEST_DESCRIPTION)),
        kind: owner.kind,
        version: either("version", 100),
        source: source.source,
        homepage,
        repository,
        author_name,
        category: either("category", LONGEST_NAME)
            .or_else(|| text(shown, "category", LONGEST_NAME)),
        tags,
        component_hints,
        capability_hints: texts(shown, "capabilities"),
        risk: components::risk(component_hints, is_known),
        raw_manifest: if is_small { raw } else { Value::Null },
        problem,
    })
}

/// What there seems to be: what is said, and with the folder at hand what is there.
fn hints(
    kind: Kind,
    said: &Map<String, Value>,
    own: &Map<String, Value>,
    content: Option<&dyn Content>,
) -> Hints {
    let declared = components::either(components::declared(said), components::declared(own));
    match content {
        Some(content) => components::either(declared, components::present(content)),
        // Cursor's plugins are skills unless something else is seen.
        None => Hints { skills: declared.skills || kind == Kind::Cursor, ..declared },
    }
}

fn author(said: &Map<String, Value>) -> Option<String> {
    match said.get("author")? {
        Value::Object(author) => text(author, "name", LONGEST_NAME),
        _ => text(said, "author", LONGEST_NAME),
    }
}

/// Where a plugin says that it is developed.
pub(super) fn repository(said: &Map<String, Value>) -> Option<String> {
    match said.get("repository")? {
        Value::Object(repository) => text(repository, "url", LONGEST_TEXT),
        _ => text(said, "repository", LONGEST_TEXT),
    }
}

/// A text on one line, cut to its longest.
pub(super) fn text(said: &Map<String, Value>, name: &str, most: usize) -> Option<String> {
    let text = said.get(name)?.as_str()?;
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let text: String = text.trim().chars().take(most).map(plain).collect();
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn texts(said: &Map<String, Value>, name: &str) -> Vec<String> {
    let all = said.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts =
        all.iter().filter_map(Value::as_str).map(|text| text.trim().chars().take(100).collect());
    texts.filter(|text: &String| !text.is_empty()).take(MOST_TAGS).collect()
}
