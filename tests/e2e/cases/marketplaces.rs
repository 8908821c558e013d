//! Marketplaces with the real binary: a folder, a repository and catalogs over `file://` and HTTP; installs that
//! `kill -9` interrupts leave nothing.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use rookery_testkit::{Home, Lines, PATIENCE, TestDaemon, git, wait_until};
use serde_json::{Value, json};

/// Writes a file with the folders around it.
pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A marketplace of Claude's kind in a folder, with one plugin.
fn folder(home: &Home, name: &str) -> PathBuf {
    let root = home.join(name);
    let catalog = json!({"name": name, "owner": {"name": "Ann"}, "plugins": [
        {"name": "tools", "source": "./tools", "description": "Many tools"},
    ]});
    write(&root.join(".claude-plugin/marketplace.json"), &catalog.to_string());
    write(&root.join("tools/skills/s/SKILL.md"), "one");
    write(
        &root.join("tools/.mcp.json"),
        r#"{"mcpServers": {"db": {"command": "db", "args": ["--all"]}}}"#,
    );
    root
}

/// A repository with the content of a folder.
pub(crate) fn repository(root: &Path) {
    git(root, &["init", "-q", "-b", "main"]);
    commit(root);
}

fn commit(root: &Path) {
    git(root, &["add", "--all"]);
    git(root, &["commit", "-q", "-m", "m"]);
}

/// Everything in the folder of contents, staging folders included.
pub(crate) fn contents(home: &Home) -> Vec<PathBuf> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            match fs::symlink_metadata(&path).unwrap().is_dir() {
                true => walk(&path, found),
                false => found.push(path),
            }
        }
    }
    let mut found = Vec::new();
    walk(&home.join("data/rookery/plugins/cache"), &mut found);
    found
}

#[test]
fn a_plugin_goes_from_a_folder_to_the_disk_and_off_again_by_the_command_line() {
    let daemon = TestDaemon::start();
    let root = folder(daemon.home(), "market");
    let run = |args: &[&str]| daemon.rookery(args);
    let added =
        run(&["marketplace", "add", "team", "--path", root.to_str().unwrap(), "--json"]).json();
    assert_eq!((&added["plugins"], &added["marketplace"]["kind"]), (&json!(1), &json!("claude")));
    let listed = run(&["marketplace", "ls"]).success();
    assert!(listed.contains("team") && listed.contains("claude-plugins-official"), "{listed}");
    let found = run(&["marketplace", "search", "TOOLS", "--json"]).json();
    assert_eq!(found["plugins"][0]["variants"], json!(["team:tools"]));
    let shown = run(&["marketplace", "show", "team:tools"]).success();
    assert!(shown.contains("startsProcess"), "{shown}");
    let preview = run(&["plugin", "preview", "team:tools"]).success();
    assert!(preview.contains("db --all (mcpServer, .mcp.json)"), "{preview}");
    assert_eq!(contents(daemon.home()), Vec::<PathBuf>::new());
    let installed = run(&["plugin", "install", "team:tools", "--json"]).json();
    let path = PathBuf::from(installed["plugins"][0]["path"].as_str().unwrap());
    assert_eq!(fs::read_to_string(path.join("skills/s/SKILL.md")).unwrap(), "one");
    let extension = || {
        let listed = daemon.client().call("extensions/list", json!({}));
        let all = listed["extensions"].as_array().unwrap();
        all.iter().find(|one| one["id"] == "team:tools").cloned()
    };
    let shown = extension().unwrap();
    assert_eq!((&shown["name"], &shown["version"]), (&json!("tools"), &json!("0.0.0")), "{shown}");
    let provided = json!([{ "ContextProvider": "team:tools" }, { "ToolProvider": "team:tools" }]);
    assert_eq!(shown["provides"], provided, "{shown}");
    assert!(run(&["plugin", "disable", "team:tools"]).success().contains("disabled"));
    assert_eq!(extension(), None, "what is switched off is none");
    assert!(run(&["plugin", "ls"]).success().contains("disabled"));
    assert!(run(&["plugin", "enable", "team:tools"]).success().contains("enabled"));
    run(&["marketplace", "remove", "team"]).success();
    assert_eq!(run(&["plugin", "ls", "--json"]).json()["plugins"].as_array().unwrap().len(), 1);
    run(&["plugin", "uninstall", "team:tools"]).success();
    assert!(!path.exists());
    let failed = run(&["plugin", "install", "team:tools"]).failure(1);
    assert!(failed.contains("not found") && failed.contains("rookery marketplace"), "{failed}");
}

#[test]
fn a_repository_is_fetched_followed_and_plugins_come_at_their_commit() {
    let daemon = TestDaemon::start();
    let work = folder(daemon.home(), "work");
    repository(&work);
    let bare = daemon.home().join("bare.git");
    git(
        daemon.home().path(),
        &["clone", "-q", "--bare", work.to_str().unwrap(), bare.to_str().unwrap()],
    );
    let first = git(&work, &["rev-parse", "HEAD"]).trim().to_owned();
    let client = daemon.client();
    let url = format!("file://{}", bare.display());
    let source = json!({"kind": "git", "url": url});
    client.call("marketplaces/add", json!({"id": "team", "source": source}));
    // Nothing was fetched yet, and nothing but a refresh fetches.
    let search = |query: &str| client.call("marketplaces/search", json!({"query": query}));
    assert_eq!(search("")["plugins"], json!([]));
    let refresh = || client.call("marketplaces/refresh", json!({"marketplaceId": "team"}));
    let before = refresh();
    assert_eq!(before["plugins"].as_array().unwrap().len(), 1);
    let by_commit = json!({"source": "url", "url": url, "sha": first});
    let catalog = json!({"plugins": [
        {"name": "tools", "source": "./tools"},
        {"name": "fixed", "source": {"source": "git-subdir", "url": url, "path": "tools", "sha": first}},
        {"name": "whole", "source": by_commit},
    ]});
    write(&work.join(".claude-plugin/marketplace.json"), &catalog.to_string());
    write(&work.join("tools/skills/s/SKILL.md"), "two");
    commit(&work);
    git(&work, &["push", "-q", bare.to_str().unwrap(), "main"]);
    assert_eq!(search("")["plugins"].as_array().unwrap().len(), 1);
    let after = refresh();
    assert_eq!(after["plugins"].as_array().unwrap().len(), 3);
    assert_ne!(after["marketplace"]["contentHash"], before["marketplace"]["contentHash"]);
    let install = |plugin: &str| {
        let params = json!({"marketplaceId": "team", "pluginId": plugin});
        let installed = client.call("plugins/install", params);
        PathBuf::from(installed["plugin"]["installPath"].as_str().unwrap())
    };
    let skill = |path: PathBuf| fs::read_to_string(path.join("skills/s/SKILL.md")).unwrap();
    assert_eq!(skill(install("tools")), "two");
    assert_eq!(skill(install("fixed")), "one");
    let whole = install("whole");
    assert!(whole.join("tools/.mcp.json").exists() && !whole.join(".git").exists());
    // The other side is gone: everything but a refresh goes on.
    fs::remove_dir_all(&bare).unwrap();
    assert_eq!(search("")["plugins"].as_array().unwrap().len(), 3);
    let failed = client.refused("marketplaces/refresh", json!({"marketplaceId": "team"}));
    assert_eq!(failed.code, -32000);
    assert_eq!(search("")["plugins"].as_array().unwrap().len(), 3);
    let list = client.call("marketplaces/list", json!({}));
    let team =
        list["marketplaces"].as_array().unwrap().iter().find(|market| market["id"] == "team");
    assert!(team.unwrap()["lastError"].is_string());
}

/// A server that gives everyone this text, until the test is over.
fn serve(body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/catalog.json", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn catalogs_alone_come_from_files_and_servers() {
    let daemon = TestDaemon::start();
    let plugin = daemon.home().join("plugin");
    write(&plugin.join("skills/s/SKILL.md"), "s");
    repository(&plugin);
    let catalog = json!({"plugins": [
        {"name": "far", "source": format!("file://{}", plugin.display())},
        {"name": "near", "source": "./near"},
    ]});
    let file = daemon.home().join("catalog.json");
    write(&file, &catalog.to_string());
    let client = daemon.client();
    let urls =
        [("local", format!("file://{}", file.display())), ("web", serve(catalog.to_string()))];
    for (id, url) in urls {
        let source = json!({"kind": "httpJson", "url": url});
        client.call("marketplaces/add", json!({"id": id, "kind": "claude", "source": source}));
        let fetched = client.call("marketplaces/refresh", json!({"marketplaceId": id}));
        assert_eq!(fetched["plugins"].as_array().unwrap().len(), 2, "{fetched}");
        assert!(fetched["plugins"][1]["problem"].is_string(), "{fetched}");
        let installed =
            client.call("plugins/install", json!({"marketplaceId": id, "pluginId": "far"}));
        let path = Path::new(installed["plugin"]["installPath"].as_str().unwrap());
        assert!(path.join("skills/s/SKILL.md").exists());
    }
    let source = json!({"kind": "httpJson", "url": "http://127.0.0.1:9/none"});
    client.call("marketplaces/add", json!({"id": "gone", "source": source}));
    let failed = client.refused("marketplaces/refresh", json!({"marketplaceId": "gone"}));
    assert!(failed.data.unwrap()["details"].is_string());
    let large = serve(format!("{{\"plugins\": [{}]}}", "{},".repeat(2_000_000)));
    let source = json!({"kind": "httpJson", "url": large});
    client.call("marketplaces/add", json!({"id": "large", "source": source}));
    let failed = client.refused("marketplaces/refresh", json!({"marketplaceId": "large"}));
    assert!(failed.message.contains("more than 4 MiB"), "{}", failed.message);
}

#[test]
fn a_plugin_of_a_repository_is_previewed_whole_and_nothing_of_it_stays() {
    let daemon = TestDaemon::start();
    let plugin = daemon.home().join("plugin");
    let hooks = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/far.sh"}]}]}});
    write(&plugin.join("hooks/hooks.json"), &hooks.to_string());
    write(&plugin.join("skills/s/SKILL.md"), "text");
    repository(&plugin);
    let first = git(&plugin, &["rev-parse", "HEAD"]).trim().to_owned();
    write(&plugin.join("skills/s/SKILL.md"), "longer text");
    commit(&plugin);
    let url = format!("file://{}", plugin.display());
    let gone = format!("file://{}/gone", daemon.home().path().display());
    let catalog = json!({"plugins": [
        {"name": "far", "source": url},
        {"name": "old", "source": {"source": "url", "url": url, "sha": first}},
        {"name": "part", "source": {"source": "git-subdir", "url": url, "path": "skills"}},
        {"name": "nowhere", "source": {"source": "git-subdir", "url": url, "path": "no/such"}},
        {"name": "gone", "source": gone, "mcpServers": {"a": {"command": "said"}}},
    ]});
    let root = daemon.home().join("market");
    write(&root.join(".claude-plugin/marketplace.json"), &catalog.to_string());
    let client = daemon.client();
    let source = json!({"kind": "localPath", "path": root});
    client.call("marketplaces/add", json!({"id": "m", "source": source}));
    let preview = |plugin: &str| {
        let params = json!({"marketplaceId": "m", "pluginId": plugin});
        client.call("plugins/preview_install", params)["preview"].clone()
    };
    let far = preview("far");
    assert_eq!(far["files"], json!(["hooks/hooks.json", "skills/s/SKILL.md"]));
    assert_eq!((&far["risk"], &far["warnings"]), (&json!("runsHook"), &json!([])));
    assert!(far["commands"][0].as_str().unwrap().ends_with("/far.sh"), "{far}");
    assert_eq!(far["componentHints"]["skills"], true);
    let old = preview("old");
    let bytes = |of: &Value| of["totalBytes"].as_u64().unwrap();
    assert_eq!(bytes(&far) - bytes(&old), "longer ".len() as u64);
    assert_eq!(preview("part")["files"], json!(["s/SKILL.md"]));
    let nowhere = preview("nowhere");
    assert_eq!(nowhere["files"], json!([]));
    assert!(nowhere["warnings"][0].as_str().unwrap().contains("no folder no/such"), "{nowhere}");
    let gone = preview("gone");
    assert!(gone["warnings"][0].as_str().unwrap().contains("cannot fetch"), "{gone}");
    assert_eq!((&gone["files"], &gone["commands"]), (&json!([]), &json!(["said"])));
    // What is installed is not taken for what an install would bring.
    client.call("plugins/install", json!({"marketplaceId": "m", "pluginId": "far"}));
    write(&plugin.join("more.md"), "more");
    commit(&plugin);
    assert_eq!(preview("far")["files"].as_array().unwrap().len(), 3);
    fs::remove_dir_all(&plugin).unwrap();
    let kept = preview("far");
    assert_eq!(kept["files"].as_array().unwrap().len(), 2);
    assert!(kept["warnings"][1].as_str().unwrap().contains("installed"), "{kept}");
    let staging = daemon.home().join("data/rookery/plugins/cache/.staging");
    assert_eq!(fs::read_dir(staging).unwrap().count(), 0);
    let installed = client.call("plugins/list_installed", json!({}));
    assert_eq!(installed["plugins"].as_array().unwrap().len(), 1);
}

#[test]
fn a_kind_that_words_suggest_gives_way_to_files() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let work = daemon.home().join("claude-things");
    write(&work.join(".cursor-plugin/marketplace.json"), r#"{"plugins": [{"name": "one"}]}"#);
    repository(&work);
    let source = json!({"kind": "git", "url": format!("file://{}", work.display())});
    let added = client.call("marketplaces/add", json!({"id": "m", "source": source}));
    assert_eq!(added["marketplace"]["kind"], "claude");
    for _ in 0..2 {
        let fetched = client.call("marketplaces/refresh", json!({"marketplaceId": "m"}));
        assert_eq!(fetched["marketplace"]["kind"], "cursor");
        assert_eq!(fetched["plugins"].as_array().unwrap().len(), 1);
    }
    // One that was said stays, and is said to be wrong.
    let said = json!({"id": "n", "kind": "claude", "source": source});
    client.call("marketplaces/add", said);
    let failed = client.refused("marketplaces/refresh", json!({"marketplaceId": "n"}));
    assert!(failed.message.contains(".claude-plugin/marketplace.json"), "{}", failed.message);
}

#[test]
fn what_an_entry_declares_can_be_enabled_and_an_entry_that_is_not_strict_is_all_there_is() {
    let daemon = TestDaemon::start();
    let root = daemon.home().join("market");
    let catalog = json!({"plugins": [
        {"name": "said", "source": "./said", "description": "Said by its entry",
         "mcpServers": {"db": {"command": "db", "env": {"KEY": "geheim"}}}},
        {"name": "one", "source": "./", "strict": false, "skills": ["./skills/a"]},
        {"name": "two", "source": "./", "strict": false, "skills": ["./skills/b"]},
    ]});
    write(&root.join(".claude-plugin/marketplace.json"), &catalog.to_string());
    write(&root.join("said/README.md"), "text");
    write(&root.join("skills/a/SKILL.md"), "a");
    write(&root.join("skills/b/SKILL.md"), "b");
    let client = daemon.client();
    let source = json!({"kind": "localPath", "path": root});
    client.call("marketplaces/add", json!({"id": "m", "source": source}));
    for plugin in ["said", "one", "two"] {
        client.call("plugins/install", json!({"marketplaceId": "m", "pluginId": plugin}));
    }
    let work = daemon.home().join("work");
    fs::create_dir(&work).unwrap();
    let scan = || {
        let params = json!({"workspace": work, "includeUser": true});
        let scan = client.call("workflow/scan", params)["scan"].clone();
        assert_eq!(scan["errors"], Value::Null, "{scan}");
        scan["items"].as_array().unwrap().clone()
    };
    let titles = || {
        let mut titles: Vec<String> =
            scan().iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect();
        titles.sort();
        titles
    };
    let expected =
        ["MCP server db", "Plugin one", "Plugin said", "Plugin two", "Skill one:a", "Skill two:b"];
    assert_eq!(titles(), expected);
    let find = |title: &str| scan().into_iter().find(|item| item["title"] == title).unwrap();
    let server = find("MCP server db");
    assert!(server["source"]["path"].as_str().unwrap().ends_with("/install-preview.json"));
    assert!(!server.to_string().contains("geheim"));
    let enable =
        json!({"workspace": work, "itemId": server["id"], "sourceHash": server["source"]["hash"]});
    assert_eq!(client.refused("workflow/enable", enable.clone()).code, -32040);
    let mut approved = enable;
    approved["approveSideEffects"] = true.into();
    client.call("workflow/enable", approved);
    assert_eq!(find("MCP server db")["state"], "enabled");
    // The plugin itself is an item, and ignoring it takes its parts away.
    let plugin = find("Plugin said");
    assert_eq!(plugin["source"]["sourceType"], "plugin");
    assert_eq!((&plugin["approvalRequired"], &plugin["live"]), (&json!(true), &json!(true)));
    let shown = &plugin["preview"];
    assert_eq!((&shown["variantKey"], &shown["marketplaceId"]), (&json!("m:said"), &json!("m")));
    assert_eq!(
        (&shown["pluginId"], &shown["installPath"]),
        (&json!("said"), &plugin["source"]["path"])
    );
    assert_eq!(shown["identityKey"]["normalizedName"], "said");
    assert!(shown["manifest"]["mcpServers"].is_object() && !plugin.to_string().contains("geheim"));
    client.call("workflow/ignore", json!({"workspace": work, "itemId": plugin["id"]}));
    assert_eq!(titles(), expected[1..]);
    // By the command line, exactly what was shown.
    let run = |args: &[&str]| {
        let mut all = vec!["imports"];
        all.extend(args);
        all.extend(["--cwd", work.to_str().unwrap()]);
        daemon.rookery(&all)
    };
    run(&["rm", plugin["id"].as_str().unwrap()]).success();
    let id = server["id"].as_str().unwrap();
    run(&["rm", id]).success();
    let hash = server["source"]["hash"].as_str().unwrap();
    assert!(run(&["show", id]).success().contains(hash));
    let other = "0".repeat(64);
    for wrong in [&hash[1..], &other] {
        let said = run(&["enable", id, "--yes", "--hash", wrong]).failure(1);
        assert!(said.contains("has changed since it was shown"), "{said}");
    }
    let said = run(&["enable", id, "--yes", "--hash", &hash[..16]]).failure(2);
    assert!(said.contains("64 hexadecimal digits"), "{said}");
    assert!(run(&["enable", id]).failure(3).contains(&format!("--yes --hash {}", &hash[..32])));
    run(&["enable", id, "--yes", "--hash", &hash[..32]]).success();
    assert_eq!(find("MCP server db")["state"], "enabled");
}

#[test]
fn kill_9_during_an_install_leaves_nothing() {
    let mut daemon = TestDaemon::start();
    let root = folder(daemon.home(), "market");
    // Much, so that copying it takes a moment.
    for number in 0..4000 {
        write(&root.join(format!("tools/many/{number}")), &"x".repeat(8 << 10));
    }
    let source = json!({"kind": "localPath", "path": root});
    daemon.client().call("marketplaces/add", json!({"id": "team", "source": source}));
    let staging = daemon.home().join("data/rookery/plugins/cache/.staging");
    let lines = Lines::connect(&daemon.socket()).unwrap();
    let params = json!({"marketplaceId": "team", "pluginId": "tools"});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "plugins/install", "params": params});
    lines.send_json(&request).unwrap();
    wait_until("an install is under way", PATIENCE, || {
        fs::read_dir(&staging).is_ok_and(|mut found| found.next().is_some())
    });
    daemon.kill9();
    daemon.restart();
    let installed = daemon.client().call("plugins/list_installed", json!({}));
    if installed["plugins"] == json!([]) {
        assert_eq!(contents(daemon.home()), Vec::<PathBuf>::new());
    }
    // It can be done once more, and is whole then.
    let again = daemon.client().call("plugins/install", params);
    let path = PathBuf::from(again["plugin"]["installPath"].as_str().unwrap());
    assert_eq!(fs::read_dir(path.join("many")).unwrap().count(), 4000);
    assert!(!contents(daemon.home()).iter().any(|path| path.starts_with(&staging)));
    // A record survives, and with it its content.
    daemon.kill9();
    daemon.restart();
    let kept: Value = daemon.client().call("plugins/list_installed", json!({}));
    assert_eq!(kept["plugins"].as_array().unwrap().len(), 1);
    assert!(path.join("skills/s/SKILL.md").exists());
}
