//! Which entries of all catalogs are one plugin, and which are found by a query. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::identity::{IdentityKey, normalized_repository};
use crate::ids::variant_key;
use crate::plugin_source::PluginSource;
use crate::types::{Entry, Hints, Kind, Risk};

/// Related candidates that a row lists.
const MOST_RELATED: usize = 20;
/// About how many bytes the related candidates of all rows have.
const RELATED_SIZE: usize = 8 << 20;

/// One marketplace's variant of a plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    pub marketplace_id: String,
    /// The id there.
    pub plugin_id: String,
    /// Whose format it has.
    pub kind: Kind,
    /// Where its content is.
    pub source: PluginSource,
    /// Its page.
    pub homepage: Option<String>,
    /// Under what it is listed.
    pub category: Option<String>,
    /// Words it is found by.
    pub tags: Vec<String>,
    /// What it seems to have in it.
    pub component_hints: Hints,
    /// What it says it can do.
    pub capability_hints: Vec<String>,
    pub version: Option<String>,
    /// The hash of its content, if it is installed.
    pub content_hash: Option<String>,
    /// What the worst is that it may do.
    pub risk: Risk,
}

impl Variant {
    /// Its name among all variants.
    pub fn key(&self) -> String {
        variant_key(&self.marketplace_id, &self.plugin_id)
    }
}

/// A plugin with all its variants.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginRow {
    /// By what it is recognized.
    pub identity_key: IdentityKey,
    /// Its name for people.
    pub display_name: String,
    /// What it is for.
    pub description: Option<String>,
    /// All of them, the recommended first.
    pub variants: Vec<Variant>,
    /// Variants of others that only have the same name, the first of them.
    pub related_candidates: Vec<Variant>,
    /// The key of the first.
    pub recommended_variant_key: Option<String>,
    /// The keys of those that are installed.
    pub installed_variants: Vec<String>,
}

/// By what entries are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Repository(String),
    Page(String, String),
    Name(Kind, String),
}

impl Group {
    fn of(entry: &Entry) -> Group {
        let key = &entry.identity_key;
        match (&key.repository, &key.homepage_domain) {
            (Some(url), _) => Group::Repository(normalized_repository(url)),
            (None, Some(domain)) => Group::Page(domain.clone(), key.normalized_name.clone()),
            (None, None) => Group::Name(entry.kind, key.canonical_slug.clone()),
        }
    }
}

/// Entries as plugins, each entry in one of them, in the order of their names. `installed` gives the hash of an
/// installed variant's content.
pub fn group<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    installed: &BTreeMap<String, Option<String>>,
) -> Vec<PluginRow> {
    rows(entries, installed, |_| true)
}

/// The plugins of which an entry has the query in its id, name, description or tags, whatever the case; all for
/// a blank one.
pub fn search<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    installed: &BTreeMap<String, Option<String>>,
    query: &str,
) -> Vec<PluginRow> {
    let query = query.trim().to_lowercase();
    rows(entries, installed, |entry| is_found(entry, &query))
}

/// All variants of the plugin that an entry belongs to, itself included, the recommended first.
pub fn siblings<'a>(all: impl IntoIterator<Item = &'a Entry>, entry: &Entry) -> Vec<&'a Entry> {
    let group = Group::of(entry);
    let mut found: Vec<&Entry> =
        all.into_iter().filter(|other| Group::of(other) == group).collect();
    found.sort_by_key(|entry| order(entry));
    found
}

fn order(entry: &Entry) -> (Kind, String) {
    (entry.kind, entry.variant_key())
}

fn rows<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    installed: &BTreeMap<String, Option<String>>,
    is_wanted: impl Fn(&Entry) -> bool,
) -> Vec<PluginRow> {
    let mut groups: BTreeMap<Group, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        groups.entry(Group::of(entry)).or_default().push(entry);
    }
    let mut named = Named::new(&groups);
    let mut rows = Vec::new();
    for (group, entries) in &groups {
        if !entries.iter().any(|entry| is_wanted(entry)) {
            continue;
        }
        let mut entries = entries.clone();
        entries.sort_by_cached_key(|entry| order(entry));
        let Some(first) = entries.first() else { continue };
        let related = named.related(group, &entries);
        let variant = |entry: &&Entry| variant(entry, installed);
        let keys = entries.iter().map(|entry| entry.variant_key());
        let row = PluginRow {
            identity_key: first.identity_key.clone(),
            display_name: first.display_name.clone(),
            description: entries.iter().find_map(|entry| entry.description.clone()),
            variants: entries.iter().map(variant).collect(),
            related_candidates: related.iter().map(variant).collect(),
            recommended_variant_key: Some(first.variant_key()),
            installed_variants: keys.filter(|key| installed.contains_key(key)).collect(),
        };
        rows.push((order(first), row));
    }
    rows.sort_by_cached_key(|(order, row)| (row.display_name.to_lowercase(), order.clone()));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Entries by their names, the first of each name with their groups.
struct Named<'a> {
    names: BTreeMap<&'a str, Vec<(&'a Group, &'a Entry)>>,
    /// Bytes that related candidates of further rows may have.
    room: usize,
}

impl<'a> Named<'a> {
    fn new(groups: &'a BTreeMap<Group, Vec<&'a Entry>>) -> Self {
        let mut names: BTreeMap<&str, Vec<(&Group, &Entry)>> = BTreeMap::new();
        for (group, entries) in groups {
            for entry in entries {
                let name = entry.identity_key.normalized_name.as_str();
                names.entry(name).or_default().push((group, entry));
            }
        }
        for same in names.values_mut() {
            same.sort_by_cached_key(|(_, entry)| order(entry));
        }
        Named { names, room: RELATED_SIZE }
    }

    /// Entries of other groups that have a name of these, the first of them.
    fn related(&mut self, group: &Group, entries: &[&Entry]) -> Vec<&'a Entry> {
        let own: BTreeSet<&str> =
            entries.iter().map(|entry| entry.identity_key.normalized_name.as_str()).collect();
        let mut related: Vec<&Entry> = Vec::new();
        for same in own.iter().filter_map(|name| self.names.get(name)) {
            let others = same.iter().filter(|(other, _)| *other != group);
            related.extend(others.map(|(_, entry)| *entry).take(MOST_RELATED));
        }
        related.sort_by_cached_key(|entry| order(entry));
        related.truncate(MOST_RELATED);
        let room = &mut self.room;
        related.retain(|entry| {
            let left = room.checked_sub(size(entry));
            *room = left.unwrap_or(*room);
            left.is_some()
        });
        related
    }
}

/// About how many bytes an entry has as a variant.
fn size(entry: &Entry) -> usize {
    let words = entry.tags.iter().chain(&entry.capability_hints).map(String::len).sum::<usize>();
    let source = serde_json::to_string(&entry.source).map_or(0, |source| source.len());
    size_of::<Variant>() + words + source
}

fn variant(entry: &Entry, installed: &BTreeMap<String, Option<String>>) -> Variant {
    Variant {
        marketplace_id: entry.marketplace_id.clone(),
        plugin_id: entry.plugin_id.clone(),
        kind: entry.kind,
        source: entry.source.clone(),
        homepage: entry.homepage.clone(),
        category: entry.category.clone(),
        tags: entry.tags.clone(),
        component_hints: entry.component_hints,
        capability_hints: entry.capability_hints.clone(),
        version: entry.version.clone(),
        content_hash: installed.get(&entry.variant_key()).cloned().flatten(),
        risk: entry.risk,
    }
}

fn is_found(entry: &Entry, query: &str) -> bool {
    let texts = [&entry.plugin_id, &entry.display_name].into_iter();
    let texts = texts.chain(&entry.description).chain(&entry.tags);
    query.is_empty() || texts.into_iter().any(|text| text.to_lowercase().contains(query))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(market: &str, kind: Kind, name: &str, repository: Option<&str>) -> Entry {
        let homepage = None;
        let identity_key = IdentityKey::new(name, repository, homepage, None, None);
        Entry {
            marketplace_id: market.into(),
            plugin_id: identity_key.normalized_name.clone(),
            identity_key,
            display_name: name.into(),
            description: None,
            kind,
            version: None,
            source: PluginSource::LocalPath { path: "/".into() },
            homepage: None,
            repository: repository.map(str::to_owned),
            author_name: None,
            category: None,
            tags: vec!["Git".into()],
            component_hints: Hints::default(),
            capability_hints: Vec::new(),
            risk: Risk::Passive,
            raw_manifest: serde_json::Value::Null,
            problem: None,
        }
    }

    #[test]
    fn one_repository_is_one_row_and_one_name_alone_is_only_related() {
        let all = [
            entry("c", Kind::Cursor, "Repo Tools", Some("git@github.com:O/r.git")),
            entry("a", Kind::Claude, "repo-tools", Some("https://github.com/o/r")),
            entry("x", Kind::Codex, "Repo tools", None),
        ];
        let installed = BTreeMap::from([("c:repo-tools".to_owned(), Some("h".to_owned()))]);
        let rows = group(&all, &installed);
        assert_eq!(rows.len(), 2);
        let row = rows.iter().find(|row| row.variants.len() == 2).unwrap();
        assert_eq!(row.recommended_variant_key.as_deref(), Some("a:repo-tools"));
        assert_eq!(row.installed_variants, ["c:repo-tools"]);
        assert_eq!(row.variants[1].content_hash.as_deref(), Some("h"));
        let related: Vec<String> = row.related_candidates.iter().map(Variant::key).collect();
        assert_eq!(related, ["x:repo-tools"]);
        let other = rows.iter().find(|row| row.variants.len() == 1).unwrap();
        assert_eq!(other.related_candidates.len(), 2);
        assert_eq!(siblings(&all, &all[0]).len(), 2);
        assert_eq!(search(&all, &installed, "GIT").len(), 2);
        assert_eq!(search(&all, &installed, "nothing like it").len(), 0);
    }

    #[test]
    fn names_that_many_have_cost_no_more_than_their_entries() {
        let mut all: Vec<Entry> = (0..3000)
            .map(|number| {
                entry("m", Kind::Cursor, "same", Some(&format!("https://h.test/r{number}")))
            })
            .collect();
        for (number, entry) in all.iter_mut().enumerate() {
            entry.plugin_id = format!("p{number}");
            entry.tags = vec!["x".repeat(100); 64];
        }
        let rows = group(&all, &BTreeMap::new());
        assert_eq!(rows.len(), 3000);
        let related = rows.iter().map(|row| row.related_candidates.len());
        assert_eq!(related.clone().max(), Some(MOST_RELATED));
        let bytes = related.sum::<usize>() * 64 * 100;
        assert!((RELATED_SIZE / 2..RELATED_SIZE).contains(&bytes), "{bytes}");
        assert_eq!(
            search(&all, &BTreeMap::new(), "p2999")[0].related_candidates.len(),
            MOST_RELATED
        );
    }

    proptest! {
        #[test]
        fn each_entry_is_in_one_row(
            parts in prop::collection::vec((0_usize..3, 0_usize..5, 0_usize..4, 0_usize..4), 0..30),
        ) {
            let mut all: Vec<Entry> = parts.into_iter().map(|(market, kind, name, repo)| {
                let repository = (repo > 0).then(|| format!("https://h.test/r{repo}"));
                let name = format!("n{name}");
                entry(&format!("m{market}"), Kind::ALL[kind], &name, repository.as_deref())
            }).collect();
            all.sort_by_key(Entry::variant_key);
            all.dedup_by_key(|entry| entry.variant_key());
            let rows = group(&all, &BTreeMap::new());
            let mut keys: Vec<String> =
                rows.iter().flat_map(|row| row.variants.iter().map(Variant::key)).collect();
            keys.sort();
            let expected: Vec<String> = all.iter().map(Entry::variant_key).collect();
            prop_assert_eq!(keys, expected);
            for row in &rows {
                prop_assert!(row.variants.is_sorted_by_key(|variant| variant.kind));
                let own: Vec<String> = row.variants.iter().map(Variant::key).collect();
                prop_assert!(row.related_candidates.iter().all(|other| !own.contains(&other.key())));
            }
        }
    }
}
