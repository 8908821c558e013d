//! The room over real folders and repositories: what is kept, what is told, what a restart finds.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rookery_agent::settings::Settings;
use rookery_imports::{Item, SourceKind, State};
use rookery_marketplace::{Defaults, InstallState, Kind, MarketSource, MarketState};
use rookery_model::ErrorKind;
use serde_json::{Value, json};

use super::*;
use crate::core::Core;
use crate::imports::{EnabledImport, NewImport};
use crate::log::{News, Subscription, Topics};
use crate::threads::tests::core_with;

const PATIENCE: Duration = Duration::from_secs(20);

struct Bench {
    home: tempfile::TempDir,
    core: Core,
    news: Subscription,
}

impl Bench {
    async fn new() -> Bench {
        let home = tempfile::tempdir().unwrap();
        let core = start(home.path()).await;
        let news = core.log().subscribe(Topics::NOTICES, None);
        Bench { home, core, news }
    }

    fn room(&self) -> Marketplaces {
        self.core.marketplaces()
    }

    /// A marketplace of Claude's kind with these plugins, each with a folder of its own.
    fn market(&self, name: &str, plugins: &Value) -> MarketSource {
        let root = self.home.path().join(name);
        fs::create_dir_all(root.join(".claude-plugin")).unwrap();
        let catalog = json!({"name": name, "owner": {"name": "Ann"}, "plugins": plugins});
        fs::write(root.join(".claude-plugin/marketplace.json"), catalog.to_string()).unwrap();
        for plugin in plugins.as_array().unwrap() {
            let folder = root.join(plugin["name"].as_str().unwrap());
            fs::create_dir_all(folder.join("skills/s")).unwrap();
            fs::write(folder.join("skills/s/SKILL.md"), "text").unwrap();
        }
        MarketSource::LocalPath { path: root.display().to_string() }
    }

    async fn add(&self, id: &str, source: MarketSource) -> Marketplace {
        let new = NewMarketplace { id: id.into(), display_name: None, kind: None, source };
        self.room().add(new).await.unwrap()
    }

    /// The next things that are informed of marketplaces, in short.
    async fn told(&mut self, count: usize) -> Vec<String> {
        let mut told = Vec::new();
        while told.len() < count {
            let news = tokio::time::timeout(PATIENCE, self.news.next()).await.unwrap().unwrap();
            let notices = news.iter().filter_map(News::notice);
            told.extend(notices.filter_map(|notice| match &notice.body {
                NoticeBody::Marketplace(change) => Some(short(change)),
                _ => None,
            }));
        }
        told
    }

    /// The same home with another daemon.
    async fn restarted(self) -> Bench {
        self.core.stop(crate::StopKind::EndTerminals).await.unwrap();
        let core = start(self.home.path()).await;
        let news = core.log().subscribe(Topics::NOTICES, None);
        Bench { core, news, ..self }
    }
}

fn short(change: &MarketplaceChange) -> String {
    match change {
        MarketplaceChange::Updated(market) => format!("{} {:?}", market.id, market.state),
        MarketplaceChange::Installed(plugin) => plugin.variant_key.clone(),
        MarketplaceChange::Plugin { key, state, plugin } => {
            format!("{key} {state:?} {}", plugin.is_some())
        }
    }
}

/// Whether an item is a part of an installed plugin.
fn is_part(item: &Item) -> bool {
    item.source.path.contains("/plugins/") && item.source.kind != SourceKind::Plugin
}

async fn start(home: &Path) -> Core {
    let core = core_with(home, Settings::default()).await;
    let mut config = core.inner.config.clone();
    core.stop(crate::StopKind::EndTerminals).await.unwrap();
    config.agent.marketplaces = Some(MarketplaceDirs {
        state_file: home.join("config/marketplaces.json"),
        sources: home.join("sources"),
        plugins: home.join("plugins"),
        github_folders: Some(home.join("github")),
    });
    Core::start(config).await.unwrap()
}

#[tokio::test]
async fn plugins_are_found_installed_switched_and_removed_and_a_restart_knows_them() {
    let mut bench = Bench::new().await;
    let source =
        bench.market("m", &json!([{"name": "tools", "version": "1.0"}, {"name": "other"}]));
    let market = bench.add("m", source).await;
    assert_eq!((market.kind, market.state), (Kind::Claude, MarketState::Installed));
    assert_eq!(market.owner_name.as_deref(), Some("Ann"));
    let room = bench.room();
    let rows = room.search("TOOL").await.unwrap();
    assert_eq!(rows.len(), 1);
    let (market, catalog) = room.refresh("m").await.unwrap();
    assert_eq!((market.state, catalog.entries.len()), (MarketState::Refreshed, 2));
    let preview = room.preview("m", "tools").await.unwrap();
    assert_eq!(preview.files, ["skills/s/SKILL.md"]);
    assert!(room.installed().await.unwrap().is_empty());
    let installed = room.install("m", "tools").await.unwrap();
    assert!(Path::new(&installed.install_path).join("skills/s/SKILL.md").exists());
    assert_eq!(room.active_plugins().len(), 1);
    assert_eq!(room.disable("m:tools").await.unwrap().unwrap().state, InstallState::Disabled);
    assert!(room.disable("m:tools").await.unwrap().is_some());
    assert!(room.active_plugins().is_empty());
    assert!(room.enable("m:tools").await.unwrap().is_some());
    assert_eq!(room.enable("m:none").await.unwrap(), None);
    let told = bench.told(5).await;
    let expected = [
        "m Installed",
        "m Refreshed",
        "m:tools",
        "m:tools Disabled true",
        "m:tools Installed true",
    ];
    assert_eq!(told, expected);

    let mut bench = bench.restarted().await;
    let room = bench.room();
    assert_eq!(room.installed().await.unwrap(), std::slice::from_ref(&installed));
    assert_eq!(
        room.active_plugins(),
        [("m:tools".into(), "tools".into(), installed.install_path.clone().into())]
    );
    assert_eq!(room.search("").await.unwrap().len(), 2);
    // Installed plugins stay when their marketplace goes.
    assert!(room.remove("m").await.unwrap());
    assert!(!room.remove("m").await.unwrap());
    assert!(room.search("").await.unwrap().is_empty());
    assert_eq!(room.installed().await.unwrap().len(), 1);
    assert!(room.uninstall("m:tools").await.unwrap());
    assert!(!room.uninstall("m:tools").await.unwrap());
    assert!(!Path::new(&installed.install_path).exists());
    assert_eq!(bench.told(2).await, ["m RemovedByUser", "m:tools Uninstalled false"]);
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_changes_nothing() {
    let bench = Bench::new().await;
    let room = bench.room();
    let source = bench.market("m", &json!([]));
    bench.add("m", source.clone()).await;
    let gone = MarketSource::LocalPath { path: "/no/such/folder".into() };
    let ext = MarketSource::Git { url: "ext::sh".into(), ref_name: None, catalog_path: None };
    for (id, source) in
        [("Bad Id", &source), ("m", &source), ("codex-plugins", &source), ("n", &gone), ("n", &ext)]
    {
        let new = NewMarketplace {
            id: id.into(),
            display_name: None,
            kind: None,
            source: source.clone(),
        };
        let error = room.add(new).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{id}: {error}");
    }
    assert_eq!(room.list().await.unwrap().len(), 4);
    assert_eq!(room.refresh("none").await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(room.preview("m", "none").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(room.install("m", "none").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(room.plugin("m", "none").await.unwrap(), None);
}

#[tokio::test]
async fn a_failed_refresh_keeps_what_there_was_and_duplicates_are_said() {
    let bench = Bench::new().await;
    let room = bench.room();
    let source = bench.market("m", &json!([{"name": "one"}]));
    bench.add("m", source).await;
    room.refresh("m").await.unwrap();
    let file = bench.home.path().join("m/.claude-plugin/marketplace.json");
    for broken in ["{", r#"{"plugins": [{"name": "two"}, {"name": "Two"}]}"#] {
        fs::write(&file, broken).unwrap();
        let error = room.refresh("m").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Failed, "{error}");
        let market =
            room.list().await.unwrap().into_iter().find(|market| market.id == "m").unwrap();
        assert!(market.last_error.is_some());
        assert!(room.plugin("m", "one").await.unwrap().is_some());
    }
    assert!(room.refresh("m").await.unwrap_err().message().contains("duplicate plugin"));
    // A new marketplace is searched all the same.
    let source = bench.market("n", &json!([{"name": "two"}, {"name": "two"}, {"name": "three"}]));
    bench.add("n", source).await;
    assert!(room.refresh("n").await.unwrap_err().message().contains("duplicate plugin"));
    assert_eq!(room.search("").await.unwrap().len(), 3);
}

#[tokio::test]
async fn all_variants_are_installed_or_none() {
    let bench = Bench::new().await;
    let room = bench.room();
    let plugin = json!([{"name": "tools", "repository": "https://github.com/o/tools"}]);
    for id in ["a", "b"] {
        let source = bench.market(id, &plugin);
        bench.add(id, source).await;
    }
    let both = room.install_all_variants("b", "tools").await.unwrap();
    let keys: Vec<&str> = both.iter().map(|plugin| plugin.variant_key.as_str()).collect();
    assert_eq!(keys, ["a:tools", "b:tools"]);
    for key in keys {
        assert!(room.uninstall(key).await.unwrap());
    }
    fs::remove_dir_all(bench.home.path().join("b/tools")).unwrap();
    room.install_all_variants("a", "tools").await.unwrap_err();
    assert!(room.installed().await.unwrap().is_empty());
    assert!(
        !bench
            .home
            .path()
            .join("plugins/a/tools")
            .read_dir()
            .is_ok_and(|mut all| all.next().is_some())
    );
}

#[tokio::test]
async fn those_that_everyone_knows_are_registered_switched_off_and_back() {
    let bench = Bench::new().await;
    let room = bench.room();
    let all = room.list().await.unwrap();
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|market| market.state == MarketState::BakedIn && market.is_default));
    assert!(room.install_defaults(Defaults::None).await.unwrap().is_empty());
    // A folder that stands for the repository.
    let folder = bench.home.path().join("github/openai/plugins/plugins/one");
    fs::create_dir_all(folder.join(".codex-plugin")).unwrap();
    fs::write(folder.join(".codex-plugin/plugin.json"), r#"{"name": "one"}"#).unwrap();
    for _ in 0..2 {
        let affected = room.install_defaults(Defaults::Of(Kind::Codex)).await.unwrap();
        assert_eq!(affected.len(), 1);
        assert_eq!(affected[0].state, MarketState::Installed);
    }
    assert_eq!(room.search("one").await.unwrap().len(), 1);
    let installed = room.install("codex-plugins", "one").await.unwrap();
    assert!(Path::new(&installed.install_path).join(".codex-plugin/plugin.json").exists());
    assert!(room.remove("codex-plugins").await.unwrap());
    let removed =
        room.list().await.unwrap().into_iter().find(|market| market.id == "codex-plugins");
    let removed = removed.unwrap();
    assert_eq!((removed.state, removed.enabled), (MarketState::RemovedByUser, false));
    assert!(room.search("one").await.unwrap().is_empty());
    assert!(room.refresh("codex-plugins").await.is_err());
    assert_eq!(room.install_defaults(Defaults::All).await.unwrap().len(), 3);
    assert_eq!(room.search("one").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_damaged_state_file_is_put_aside() {
    let bench = Bench::new().await;
    let source = bench.market("m", &json!([]));
    bench.add("m", source).await;
    let config = bench.home.path().join("config");
    fs::write(config.join("marketplaces.json"), "{").unwrap();
    let bench = bench.restarted().await;
    assert_eq!(bench.room().list().await.unwrap().len(), 3);
    let names = fs::read_dir(config).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().any(|name| name.to_string_lossy().contains(".corrupt-")));
    let waiting = bench.core.queue().list();
    assert_eq!(waiting[0].title, "The file of marketplaces was damaged");
}

#[tokio::test]
async fn parts_of_installed_plugins_are_imports_that_come_and_go_with_them() {
    let bench = Bench::new().await;
    let source = bench.market("m", &json!([{"name": "tools", "version": "1.0"}]));
    bench.add("m", source).await;
    let (room, imports) = (bench.room(), bench.core.imports());
    let work = bench.home.path().join("work");
    fs::create_dir_all(&work).unwrap();
    let parts = async || {
        let scan = imports.look(&work).await.unwrap();
        let of_plugin = scan.items.into_iter().filter(is_part);
        of_plugin.map(|item| (item.id, item.state)).collect::<Vec<_>>()
    };
    assert!(parts().await.is_empty());
    room.install("m", "tools").await.unwrap();
    let [(id, State::Detected)] = &parts().await[..] else { panic!("one part is offered") };
    let new = NewImport { id: id.clone(), approves: false, hash: None };
    imports.enable(&work, new).await.unwrap();
    assert_eq!(parts().await, [(id.clone(), State::Enabled)]);
    room.disable("m:tools").await.unwrap();
    assert!(parts().await.is_empty(), "at once");
    room.enable("m:tools").await.unwrap();
    assert_eq!(parts().await, [(id.clone(), State::Enabled)]);
    room.disable("m:tools").await.unwrap();
    assert!(room.uninstall("m:tools").await.unwrap());
    room.install("m", "tools").await.unwrap();
    assert_eq!(parts().await, [(id.clone(), State::Detected)], "what was decided went with it");
}

#[tokio::test]
async fn approvals_of_parts_end_with_the_content_that_they_were_given_for() {
    let bench = Bench::new().await;
    let fill = |version: &str, script: &str| {
        let source = bench.market("m", &json!([{"name": "tools", "version": version}]));
        let folder = bench.home.path().join("m/tools");
        fs::create_dir_all(folder.join("hooks")).unwrap();
        let hook =
            json!([{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/run.sh"}]}]);
        let hooks = json!({"hooks": {"Stop": hook}}).to_string();
        fs::write(folder.join("hooks/hooks.json"), hooks).unwrap();
        fs::write(folder.join("run.sh"), script).unwrap();
        source
    };
    bench.add("m", fill("1.0", "true")).await;
    let (room, imports) = (bench.room(), bench.core.imports());
    let work = bench.home.path().join("work");
    fs::create_dir_all(&work).unwrap();
    let parts = async || {
        let scan = imports.look(&work).await.unwrap();
        let mut found: Vec<_> = scan.items.into_iter().filter(is_part).collect();
        found.sort_by_key(|item| item.source.kind);
        found
    };
    let states = async || parts().await.into_iter().map(|item| item.state).collect::<Vec<_>>();
    let enable = async || {
        for item in parts().await {
            let new = NewImport { id: item.id, approves: true, hash: None };
            imports.enable(&work, new).await.unwrap();
        }
        assert_eq!(states().await, [State::Enabled, State::Enabled]);
    };
    room.install("m", "tools").await.unwrap();
    enable().await;
    room.install("m", "tools").await.unwrap();
    assert_eq!(states().await, [State::Enabled, State::Enabled], "nothing is another");
    // The same version with another script; the skill starts nothing.
    fill("1.0", "rm -rf /");
    room.refresh("m").await.unwrap();
    room.install("m", "tools").await.unwrap();
    assert_eq!(states().await, [State::Enabled, State::Detected]);
    enable().await;
    fill("2.0", "false");
    room.refresh("m").await.unwrap();
    room.install("m", "tools").await.unwrap();
    assert!(parts().await[0].source.path.contains("/2.0/"));
    assert_eq!(states().await, [State::Enabled, State::Detected]);
}

#[tokio::test]
async fn what_entries_declare_takes_effect_and_two_of_one_folder_share_nothing() {
    let bench = Bench::new().await;
    let root = bench.home.path().join("m");
    for skill in ["a", "b"] {
        fs::create_dir_all(root.join("skills").join(skill)).unwrap();
        fs::write(root.join("skills").join(skill).join("SKILL.md"), "Use it.").unwrap();
    }
    fs::write(root.join("plugin.json"), r#"{"mcpServers": {"own": {"command": "x"}}}"#).unwrap();
    let hook = json!([{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/run.sh"}]}]);
    let one = |name: &str, skill: &str, run: &Value| json!({"name": name, "source": "./", "strict": false, "version": "1", "skills": [skill], "hooks": {"Stop": run}});
    let fill = |run: &Value| {
        let plugins = [one("first", "./skills/a", run), one("second", "./skills/b", &Value::Null)];
        let catalog = json!({"name": "m", "plugins": plugins}).to_string();
        fs::create_dir_all(root.join(".claude-plugin")).unwrap();
        fs::write(root.join(".claude-plugin/marketplace.json"), catalog).unwrap();
    };
    fill(&hook);
    bench.add("m", MarketSource::LocalPath { path: root.display().to_string() }).await;
    let (room, imports) = (bench.room(), bench.core.imports());
    for plugin in ["first", "second"] {
        room.install("m", plugin).await.unwrap();
    }
    let work = bench.home.path().join("work");
    fs::create_dir_all(&work).unwrap();
    let parts = async || {
        let scan = imports.look(&work).await.unwrap();
        assert_eq!(scan.errors, []);
        let mut found: Vec<Item> = scan.items.into_iter().filter(is_part).collect();
        found.sort_by(|one, two| one.source.path.cmp(&two.source.path));
        found
    };
    let paths = async || {
        let cut = |item: Item| item.source.path.split_once("/plugins/m/").unwrap().1.to_owned();
        parts().await.into_iter().map(cut).collect::<Vec<_>>()
    };
    let expected =
        ["first/1/install-preview.json", "first/1/skills/a/SKILL.md", "second/1/skills/b/SKILL.md"];
    assert_eq!(paths().await, expected);
    let hooks = parts().await.remove(0);
    let new = NewImport { id: hooks.id.clone(), approves: false, hash: None };
    let asked = imports.enable(&work, new.clone()).await.unwrap();
    assert!(matches!(asked, EnabledImport::NeedsApproval(_)));
    let hash = Some(hooks.source.hash);
    imports.enable(&work, NewImport { approves: true, hash, ..new }).await.unwrap();
    let active = imports.evaluate(&work).await;
    assert_eq!(active.hook_commands(), ["${CLAUDE_PLUGIN_ROOT}/run.sh"]);
    // What another entry says was not approved.
    fill(&json!([{"hooks": [{"type": "command", "command": "evil"}]}]));
    room.refresh("m").await.unwrap();
    room.install("m", "first").await.unwrap();
    assert_eq!(parts().await[0].state, State::Detected);
    assert_eq!(imports.evaluate(&work).await.hook_commands(), [] as [&str; 0]);
}

#[tokio::test]
async fn an_ignored_plugin_has_no_part_in_that_workspace() {
    let bench = Bench::new().await;
    let source = bench.market("m", &json!([{"name": "tools", "version": "1.0"}]));
    bench.add("m", source).await;
    let (room, imports) = (bench.room(), bench.core.imports());
    room.install("m", "tools").await.unwrap();
    let work = bench.home.path().join("work");
    fs::create_dir_all(&work).unwrap();
    let items = async || imports.look(&work).await.unwrap().items;
    let plugin = items().await.into_iter().find(|item| item.source.kind == SourceKind::Plugin);
    let plugin = plugin.unwrap();
    assert_eq!(plugin.source.name.as_deref(), Some("m:tools"));
    assert_eq!(plugin.preview["identityKey"]["normalizedName"], "tools");
    imports.ignore(&work, &plugin.id).await.unwrap();
    assert_eq!(items().await.iter().filter(|item| is_part(item)).count(), 0);
    // It stays ignored when another version takes its place.
    bench.market("m", &json!([{"name": "tools", "version": "2.0"}]));
    room.refresh("m").await.unwrap();
    room.install("m", "tools").await.unwrap();
    let now = items().await.into_iter().find(|item| item.source.kind == SourceKind::Plugin);
    let now = now.unwrap();
    assert!(now.source.path.ends_with("/2.0"), "{}", now.source.path);
    assert_eq!(now.state, State::Ignored);
    imports.remove(&work, &now.id).await.unwrap();
    assert_eq!(items().await.iter().filter(|item| is_part(item)).count(), 1);
}
