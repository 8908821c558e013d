//! Installs of folders: put in place at once, taken back, and undone after a process was killed.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::catalog::read_list;
use crate::preview::Preview;
use crate::source::MarketSource;
use crate::types::{Kind, MarketState};

struct Shop {
    dir: tempfile::TempDir,
    staging: Staging,
    market: Marketplace,
}

impl Shop {
    fn new() -> Shop {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("market");
        fs::create_dir_all(root.join("tools/skills")).unwrap();
        fs::write(root.join("tools/skills/SKILL.md"), "one").unwrap();
        fs::write(
            root.join("tools/.mcp.json"),
            r#"{"a": {"command": "${CLAUDE_PLUGIN_ROOT}/run"}}"#,
        )
        .unwrap();
        let places = Places {
            state_file: dir.path().join("state.json"),
            sources: dir.path().join("sources"),
            plugins: dir.path().join("plugins"),
            github_folders: None,
        };
        let market = Marketplace {
            source: MarketSource::LocalPath { path: root.display().to_string() },
            id: "m".into(),
            state: MarketState::Installed,
            ..crate::default_marketplaces().remove(0)
        };
        Shop { dir, staging: Staging::new(places), market }
    }

    fn entry(&self, version: Option<&str>) -> Entry {
        let list = json!({"plugins": [{"name": "tools", "version": version}]});
        let catalog = read_list("m", Kind::Claude, None, list.to_string().as_bytes()).unwrap();
        let mut entry = catalog.entries[0].clone();
        entry.problem = None;
        entry
    }

    async fn stage(&self, version: Option<&str>) -> Result<Staged, MarketplaceError> {
        self.staging.stage(&self.entry(version), Some(&self.market), Timestamp::default()).await
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.dir.path().join("market/tools").join(path), text).unwrap();
    }

    /// Everything below the folder of contents.
    fn all(&self) -> Vec<String> {
        fn walk(dir: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(dir).into_iter().flatten() {
                let path = entry.unwrap().path();
                found.push(path.display().to_string());
                walk(&path, found);
            }
        }
        let mut found = Vec::new();
        walk(&self.dir.path().join("plugins"), &mut found);
        found.retain(|path| !path.ends_with("/.staging"));
        found.sort();
        found
    }
}

fn skill(path: &str) -> String {
    fs::read_to_string(Path::new(path).join("skills/SKILL.md")).unwrap()
}

#[tokio::test]
async fn content_is_put_in_place_replaced_and_taken_back() {
    let shop = Shop::new();
    let first = shop.stage(Some("1.0")).await.unwrap();
    let record = first.record().clone();
    assert!(record.install_path.ends_with("plugins/m/tools/1.0"));
    drop(first.place().unwrap());
    assert_eq!(skill(&record.install_path), "one");
    let noted = fs::read(Path::new(&record.install_path).join(PREVIEW_FILE)).unwrap();
    let noted: Value = serde_json::from_slice(&noted).unwrap();
    assert_eq!(noted["variantKey"], "m:tools");

    shop.write("skills/SKILL.md", "two");
    let second = shop.stage(Some("1.0")).await.unwrap();
    assert_ne!(second.record().content_hash, record.content_hash);
    let placed = second.place().unwrap();
    assert_eq!(skill(&record.install_path), "two");
    placed.undo();
    assert_eq!(skill(&record.install_path), "one");
    let unversioned = shop.stage(None).await.unwrap();
    let hash = unversioned.record().content_hash.clone().unwrap();
    assert!(unversioned.record().install_path.ends_with(&hash[..16]));
    drop(unversioned);
    let before = shop.all();
    let retired = shop.staging.retire(&record).unwrap().unwrap();
    assert!(!Path::new(&record.install_path).exists());
    retired.undo();
    assert_eq!(shop.all(), before);
    drop(shop.staging.retire(&record).unwrap().unwrap());
    assert!(shop.all().iter().all(|path| path.ends_with("/m") || path.ends_with("/tools")));
}

#[tokio::test]
async fn attack_versions_that_are_no_folders_and_paths_of_others_are_not_used() {
    let shop = Shop::new();
    for version in ["../../../x", "..", "/etc", "a/b", ""] {
        let staged = shop.stage(Some(version)).await.unwrap();
        let hash = staged.record().content_hash.clone().unwrap();
        assert!(staged.record().install_path.ends_with(&hash[..16]), "{version}");
    }
    let staged = shop.stage(Some("1")).await.unwrap();
    let victim = shop.dir.path().join("victim");
    fs::create_dir(&victim).unwrap();
    for path in [victim.clone(), shop.dir.path().join("plugins/m/../../victim"), "/".into()] {
        let mut record = staged.record().clone();
        record.install_path = path.display().to_string();
        assert!(shop.staging.retire(&record).unwrap().is_none());
    }
    assert!(victim.exists());
}

#[tokio::test]
async fn attack_what_leads_out_is_refused_and_leaves_nothing() {
    let shop = Shop::new();
    symlink("/etc/passwd", shop.dir.path().join("market/tools/out")).unwrap();
    let error = shop.stage(None).await.unwrap_err().to_string();
    assert!(error.contains("leads out"), "{error}");
    assert_eq!(shop.all(), Vec::<String>::new());
    fs::remove_file(shop.dir.path().join("market/tools/out")).unwrap();
    fs::rename(shop.dir.path().join("market/tools"), shop.dir.path().join("elsewhere")).unwrap();
    symlink("../elsewhere", shop.dir.path().join("market/tools")).unwrap();
    assert!(shop.stage(None).await.is_err());
    assert_eq!(shop.all(), Vec::<String>::new());
    let preview =
        Preview::new(&shop.entry(None), Some(&shop.market), None, Some(&shop.staging.places), None);
    assert_eq!(preview.files, Vec::<String>::new());
}

#[tokio::test]
async fn a_killed_install_or_uninstall_is_undone_or_finished() {
    let shop = Shop::new();
    // A process that is killed drops nothing.
    let kill = |placed: Placed| std::mem::forget(placed);
    // New, and not recorded: gone.
    kill(shop.stage(Some("1.0")).await.unwrap().place().unwrap());
    std::mem::forget(shop.stage(Some("1.0")).await.unwrap());
    shop.staging.sweep(&State::default());
    assert!(!shop.all().iter().any(|path| path.contains("1.0") || path.contains("content")));

    let staged = shop.stage(Some("1.0")).await.unwrap();
    let record = staged.record().clone();
    let mut state = State::default();
    state.set_plugin(record.clone());
    // New, and recorded: stays.
    kill(staged.place().unwrap());
    shop.staging.sweep(&state);
    assert_eq!(skill(&record.install_path), "one");
    let good = shop.all();
    // Replaced, and not recorded: as before.
    shop.write("skills/SKILL.md", "two");
    kill(shop.stage(Some("1.0")).await.unwrap().place().unwrap());
    assert_eq!(skill(&record.install_path), "two");
    shop.staging.sweep(&state);
    assert_eq!((skill(&record.install_path).as_str(), shop.all()), ("one", good.clone()));
    // Taken away, and still recorded: back again.
    kill(shop.staging.retire(&record).unwrap().unwrap());
    shop.staging.sweep(&state);
    assert_eq!((skill(&record.install_path).as_str(), shop.all()), ("one", good));
    // Taken away, and not recorded any more: gone.
    kill(shop.staging.retire(&record).unwrap().unwrap());
    shop.staging.sweep(&State::default());
    assert!(!shop.all().iter().any(|path| path.contains("1.0") || path.contains("content")));
}

#[tokio::test]
async fn a_preview_shows_files_and_commands_with_their_place() {
    let shop = Shop::new();
    let preview = Preview::new(
        &shop.entry(Some("1.0")),
        Some(&shop.market),
        None,
        Some(&shop.staging.places),
        None,
    );
    assert_eq!(preview.files, [".mcp.json", "skills/SKILL.md"]);
    let path = shop.dir.path().join("plugins/m/tools/1.0/run").display().to_string();
    assert_eq!(preview.commands[0].line, path);
    assert_eq!(preview.risk, crate::Risk::StartsProcess);
    assert!(preview.component_hints.skills && preview.component_hints.mcp_servers);
    assert_eq!(shop.all(), Vec::<String>::new());
    // Manifests for every agent count, and one that cannot be read is said.
    fs::create_dir_all(shop.dir.path().join("market/tools/.codex-plugin")).unwrap();
    shop.write(
        ".codex-plugin/plugin.json",
        r#"{"name": "t", "hooks": {"Stop": [{"command": "sly"}]}}"#,
    );
    shop.write("plugin.json", "[");
    let entry = shop.entry(Some("1.0"));
    let preview = Preview::new(&entry, Some(&shop.market), None, Some(&shop.staging.places), None);
    assert!(preview.commands.iter().any(|command| command.line == "sly"));
    assert_eq!(preview.risk, crate::Risk::RunsHook);
    assert!(
        preview.warnings[0].starts_with("plugin.json: cannot be read"),
        "{:?}",
        preview.warnings
    );
    let mut elsewhere = shop.entry(None);
    elsewhere.source = PluginSource::Npm { package: "x".into(), version: None };
    let error = shop.staging.stage(&elsewhere, None, Timestamp::default()).await.unwrap_err();
    assert!(error.to_string().starts_with("unsupported source"), "{error}");
}
