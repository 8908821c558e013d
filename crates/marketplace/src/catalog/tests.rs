//! Catalogs of every kind, good and bad.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::ids::is_id;
use crate::plugin_source::PluginSource;
use crate::source::MarketSource;
use crate::types::{Hints, Kind, Risk};

fn owner(kind: Kind) -> Owner<'static> {
    let repository = Some("https://github.com/openai/plugins");
    Owner { marketplace: "m", kind, repository, plugin_root: None, has_folder: true }
}

fn read(kind: Kind, value: &Value) -> Catalog {
    list::read(&owner(kind), value.to_string().as_bytes(), &|_| None).unwrap()
}

#[test]
fn a_list_of_claude_is_read() {
    let catalog = read(
        Kind::Claude,
        &json!({
            "name": "team",
            "owner": {"name": "Ann", "email": "ann@example.test"},
            "metadata": {"description": "Tools", "pluginRoot": "./plugins"},
            "plugins": [
                {"name": "Repo Tools", "source": "repo-tools", "version": "1.2.0", "author": {"name": "Bo"},
                 "repository": "https://github.com/b/repo-tools", "keywords": ["git"], "hooks": "./h.json",
                 "description": "a\nb"},
                {"name": "other", "source": {"source": "github", "repo": "o/r"}, "author": "Cy"}
            ]
        }),
    );
    assert_eq!(
        (catalog.owner_name.as_deref(), catalog.description.as_deref()),
        (Some("Ann"), Some("Tools"))
    );
    assert_eq!(catalog.owner_email.as_deref(), Some("ann@example.test"));
    let [other, tools] = &catalog.entries[..] else { panic!("{catalog:?}") };
    assert_eq!(
        (tools.plugin_id.as_str(), tools.display_name.as_str()),
        ("repo-tools", "Repo Tools")
    );
    let path = "plugins/repo-tools".to_owned();
    assert_eq!(tools.source, PluginSource::MarketplacePath { marketplace_id: "m".into(), path });
    assert_eq!((tools.risk, tools.component_hints.hooks), (Risk::RunsHook, true));
    assert_eq!(tools.author_name.as_deref(), Some("Bo"));
    assert_eq!(tools.description.as_deref(), Some("a b"));
    assert_eq!(tools.identity_key.canonical_slug, "github-com-b-repo-tools");
    assert_eq!((other.author_name.as_deref(), other.risk), (Some("Cy"), Risk::Passive));
}

#[test]
fn a_list_of_cursor_has_ids_and_skills() {
    let list = json!({"plugins": [{"name": "Repo Tools", "id": "tools.x", "mcp": {"a": {}}, "rules": ["r"]}]});
    let catalog = read(Kind::Cursor, &list);
    let entry = &catalog.entries[0];
    assert_eq!(entry.plugin_id, "tools.x");
    let hints = Hints { skills: true, mcp_servers: true, rules: true, ..Hints::default() };
    assert_eq!((entry.component_hints, entry.risk), (hints, Risk::StartsProcess));
}

#[test]
fn folders_of_codex_describe_themselves() {
    let manifest = json!({"name": "superpowers", "version": "5.1.0", "keywords": ["skills"],
        "repository": "https://github.com/openai/plugins.git",
        "interface": {"displayName": "Superpowers", "shortDescription": "s", "developerName": "Jo",
            "category": "Coding", "capabilities": ["Write"], "websiteURL": "https://example.test", "logo": "l.png"}});
    let folders = [
        ("plugins/superpowers".to_owned(), manifest.to_string().into_bytes(), None),
        ("plugins/bad".to_owned(), b"{".to_vec(), None),
        ("plugins/unnamed".to_owned(), b"{}".to_vec(), None),
    ];
    let catalog = read_folders(&owner(Kind::Codex), &folders);
    assert_eq!((catalog.entries.len(), catalog.diagnostics.len()), (1, 2));
    let entry = &catalog.entries[0];
    assert_eq!(entry.display_name, "Superpowers");
    assert_eq!(entry.capability_hints, ["Write"]);
    assert_eq!(entry.tags, ["skills"]);
    assert!(entry.component_hints.assets);
    // The catalog's own repository says nothing about one plugin of it.
    assert_eq!(entry.identity_key.repository, None);
    assert_eq!(entry.identity_key.canonical_slug, "example-test-superpowers");
}

#[test]
fn a_repository_that_all_folders_of_codex_share_is_their_catalogs() {
    let folder = |name: &str, repository: &str| {
        let manifest = json!({"name": name, "repository": repository}).to_string();
        (format!("plugins/{name}"), manifest.into_bytes(), None)
    };
    let local = Owner { repository: None, ..owner(Kind::Codex) };
    let repositories = |folders: &[(String, Vec<u8>, Option<_>)]| {
        let read = read_folders(&local, folders).entries.into_iter();
        read.map(|entry| entry.identity_key.repository).collect::<Vec<_>>()
    };
    let shared = ["https://github.com/o/all", "git@github.com:o/all.git"];
    let mut folders = vec![folder("a", shared[0]), folder("b", shared[1])];
    assert_eq!(repositories(&folders), [None, None]);
    assert_eq!(repositories(&folders[..1]), [Some(shared[0].to_owned())]);
    folders.push(folder("c", "https://github.com/o/c"));
    assert!(repositories(&folders).iter().all(Option::is_some));
}

#[test]
fn bad_and_double_entries_cost_only_themselves() {
    let catalog = read(
        Kind::Roder,
        &json!({"plugins": [
            7, {}, {"name": ""}, {"name": "!!!"}, {"name": "twice", "description": "first", "source": "./a"},
            {"name": "Twice", "source": "./b"}, {"name": "up", "source": "../../etc"}, {"name": "good", "source": "./g"},
            {"name": "npm", "source": {"source": "npm", "package": "x"}}
        ]}),
    );
    let ids: Vec<&str> = catalog.entries.iter().map(|entry| entry.plugin_id.as_str()).collect();
    assert_eq!(ids, ["good", "npm", "twice", "up"]);
    assert_eq!(catalog.plugin("twice").unwrap().description.as_deref(), Some("first"));
    assert_eq!(catalog.duplicates, ["twice"]);
    assert_eq!(catalog.diagnostics.len(), 5, "{:?}", catalog.diagnostics);
    assert!(catalog.plugin("up").unwrap().problem.is_some());
    assert_eq!(catalog.plugin("npm").unwrap().risk, Risk::StartsProcess);
    assert!(catalog.plugin("good").unwrap().problem.is_none());
}

#[test]
fn what_is_no_list_is_refused_with_a_reason() {
    let deep = "[".repeat(100_000);
    for bytes in [
        "",
        "7",
        "{}",
        r#"{"plugins": 7}"#,
        r#"{"plugins": [], "metadata": {"pluginRoot": "../x"}}"#,
        &deep,
    ] {
        let error = list::read(&owner(Kind::Claude), bytes.as_bytes(), &|_| None).unwrap_err();
        assert!(!error.is_empty());
    }
}

#[test]
fn a_huge_manifest_is_a_problem_and_not_kept() {
    let huge =
        json!({"plugins": [{"name": "a", "source": "./a", "description": "x".repeat(300 << 10)}]});
    let catalog = read(Kind::Claude, &huge);
    let entry = &catalog.entries[0];
    assert_eq!(entry.raw_manifest, Value::Null);
    assert!(entry.problem.as_deref().unwrap().contains("manifest"));
    assert!(entry.description.as_ref().unwrap().len() <= 4096);
}

#[test]
fn words_of_a_source_name_its_kind() {
    let git = |url: &str| MarketSource::Git { url: url.into(), ref_name: None, catalog_path: None };
    assert_eq!(infer_kind_from_words(&git("https://h/anthropic-things")), Kind::Claude);
    assert_eq!(infer_kind_from_words(&git("https://h/Cursor")), Kind::Cursor);
    assert_eq!(infer_kind_from_words(&git("https://github.com/openai/plugins")), Kind::Codex);
    assert_eq!(infer_kind_from_words(&git("https://h/things")), Kind::Custom);
    let (repo, plugin_root) = ("o/r".to_owned(), Some("plugins".to_owned()));
    let github = MarketSource::Github { repo, ref_name: None, catalog_path: None, plugin_root };
    assert_eq!(infer_kind_from_words(&github), Kind::Codex);
}

proptest! {
    #[test]
    fn whatever_is_said_entries_are_sound(
        names in prop::collection::vec(".{0,16}", 0..12),
        sources in prop::collection::vec(".{0,24}", 12),
        kind in 0_usize..5,
    ) {
        let plugins: Vec<Value> = names.iter().zip(&sources)
            .map(|(name, source)| json!({"name": name, "id": source, "source": source})).collect();
        let catalog = read(Kind::ALL[kind], &json!({"plugins": plugins}));
        prop_assert!(catalog.entries.is_sorted_by(|one, two| one.plugin_id < two.plugin_id));
        for entry in &catalog.entries {
            prop_assert!(is_id(&entry.plugin_id));
            prop_assert!(!entry.display_name.is_empty());
            if let PluginSource::MarketplacePath { path, .. } = &entry.source {
                prop_assert!(!path.split('/').any(|part| part == ".."));
            }
        }
        let written = serde_json::to_vec(&catalog).unwrap();
        prop_assert_eq!(serde_json::from_slice::<Catalog>(&written).unwrap(), catalog);
    }
}
