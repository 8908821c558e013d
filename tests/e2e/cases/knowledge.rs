//! Memories and media with the real binary: what one thread learned is told to another, an image that was
//! brought reaches the model, and `kill -9` after the reply loses nothing.

use std::fs;
use std::path::Path;

use rookery_testkit::{Home, PATIENCE, TestDaemon, eventually};
use serde_json::{Value, json};

use crate::model_server::ModelServer;
use crate::roder_link::Peer;

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// A home with a model server of its own, which remembers what it was asked.
fn home_with_model(server: &ModelServer) -> Home {
    let home = Home::new();
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    let config = format!(
        "provider = \"house\"\nmodel = \"house-model\"\n[providers.house]\nkind = \"openai_chat\"\n\
         base_url = \"{}\"\napi_key = \"sk-of-the-house-4711\"\n",
        server.url
    );
    fs::write(dir.join("config.toml"), config).unwrap();
    home
}

fn start_thread(peer: &mut Peer, cwd: &Path) -> String {
    let params = json!({ "cwd": cwd, "modelProvider": "house", "model": "house-model" });
    peer.call("thread/start", params)["thread"]["id"].as_str().unwrap().to_owned()
}

fn project(home: &Home, name: &str) -> std::path::PathBuf {
    let dir = home.join(name);
    fs::create_dir_all(dir.join(".git")).unwrap();
    dir
}

/// What the model was last asked.
fn last_asked(server: &ModelServer) -> String {
    let asked = server.asked();
    asked.into_iter().rev().find(|one| one.head.starts_with("POST")).unwrap().body
}

#[test]
fn what_one_thread_learned_is_told_to_another() {
    let call = json!({"index": 0, "id": "c1", "type": "function", "function": {
        "name": "memory_save",
        "arguments": json!({"text": "The release process starts with a tag."}).to_string(),
    }});
    let server = ModelServer::start(vec![
        json!({"tool_calls": [call]}),
        json!({"content": "noted"}),
        json!({"content": "with a tag"}),
    ]);
    let mut daemon = TestDaemon::start_in(home_with_model(&server));
    let repo = project(daemon.home(), "repo");
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let first = start_thread(&mut peer, &repo);
    let turn = peer.turn(&first, "remember how releases are made");
    let told = peer.until_over(&turn);
    let saved = told.iter().find(|(name, _)| name == "memory/saved").unwrap().1["memory"].clone();
    let scope = json!({ "Project": repo.canonicalize().unwrap() });
    assert_eq!(saved["scope"], scope);
    let observed = told.iter().find(|(name, _)| name == "memory/observationRecorded").unwrap();
    assert_eq!(observed.1["memoryId"], saved["id"]);
    // Promised, and so there after the worst.
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    fs::create_dir_all(repo.join("src")).unwrap();
    let second = start_thread(&mut peer, &repo.join("src"));
    let turn = peer.turn(&second, "how does the release process begin?");
    let told = peer.until_over(&turn);
    let ready = &told.iter().find(|(name, _)| name == "memory/recallReady").unwrap().1;
    assert_eq!(
        (&ready["turnId"], &ready["citations"][0]["memoryId"]),
        (&json!(turn), &saved["id"])
    );
    let asked = last_asked(&server);
    assert!(asked.contains("The release process starts with a tag."), "{asked}");
    assert!(asked.contains(saved["id"].as_str().unwrap()), "{asked}");
    // Another project hears nothing of it.
    let elsewhere = project(daemon.home(), "elsewhere");
    let third = start_thread(&mut peer, &elsewhere);
    let turn = peer.turn(&third, "how does the release process begin?");
    let told = peer.until_over(&turn);
    assert!(told.iter().all(|(name, _)| name != "memory/recallReady"));
    assert!(!last_asked(&server).contains("starts with a tag"));
}

#[test]
fn memories_survive_kill_9_and_hold_no_secret() {
    let mut daemon = TestDaemon::start();
    let mut ids = Vec::new();
    for number in 0..10 {
        let text = format!("fact number {number}, and a key {SECRET}");
        let params = json!({ "scope": "global", "text": text, "metadata": { "key": SECRET } });
        ids.push(daemon.client().call("memory/save", params)["memoryId"].clone());
        daemon.kill9();
        daemon.restart();
    }
    let list = daemon.client().call("memory/list", json!({}));
    let kept: Vec<&Value> =
        list["memories"].as_array().unwrap().iter().map(|memory| &memory["id"]).collect();
    assert_eq!(kept, ids.iter().rev().collect::<Vec<_>>());
    assert!(!list.to_string().contains(SECRET));
    let found = daemon.client().call("memory/query", json!({ "text": "fact number 3" }));
    assert_eq!(found["results"][0]["record"]["id"], ids[3]);
    assert_eq!(
        daemon.client().call("memory/delete", json!({ "memoryId": ids[3] }))["deleted"],
        true
    );
    daemon.kill9();
    daemon.restart();
    let read = daemon.client().call("memory/read", json!({ "memoryId": ids[3] }));
    assert_eq!(read["memory"], Value::Null);
    let dir = daemon.home().join("data/rookery/memory");
    for entry in fs::read_dir(dir).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let has = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!has, "a secret is on disk");
    }
}

#[test]
fn a_damaged_file_of_memories_is_put_aside() {
    let home = Home::new();
    let dir = home.join("data/rookery/memory");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("memories.sqlite3"), "no database ".repeat(1000)).unwrap();
    let daemon = TestDaemon::start_in(home);
    assert_eq!(daemon.client().call("memory/list", json!({}))["memories"], json!([]));
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().any(|name| name.to_string_lossy().contains(".corrupt-")));
    let inbox = daemon.rookery(&["inbox"]).success();
    assert!(inbox.contains("The file of memories was damaged"), "{inbox}");
}

#[test]
fn an_image_that_was_brought_reaches_the_model() {
    let server = ModelServer::start(vec![json!({"content": "a dot"})]);
    let mut daemon = TestDaemon::start_in(home_with_model(&server));
    let mut peer = Peer::to(&daemon);
    let cwd = daemon.home().path().to_owned();
    let thread = start_thread(&mut peer, &cwd);
    let params = json!({ "bytesBase64": PIXEL, "mimeType": "image/png", "title": "dot" });
    let artifact = peer.call("media/import", params)["artifact"].clone();
    assert_eq!(artifact["dimensions"], json!({ "width": 1, "height": 1 }));
    let attach = json!({ "artifactId": artifact["id"], "threadId": thread });
    let attached = peer.call("media/attachToTurn", attach);
    let url = format!("data:image/png;base64,{PIXEL}");
    assert_eq!(attached["image"]["image_url"], url);
    // Both were promised.
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    let turn = peer.turn(&thread, "what is on it?");
    peer.until_over(&turn);
    assert!(last_asked(&server).contains(&url));
    let turn = peer.turn(&thread, "and now?");
    peer.until_over(&turn);
    let asked: Value = serde_json::from_str(&last_asked(&server)).unwrap();
    let newest = asked["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(!newest.contains(&url), "it came once: {newest}");
    // It is the thread's from now on.
    eventually("the image belongs to the thread", PATIENCE, || {
        let list = daemon.client().call("media/list", json!({ "threadId": thread }));
        (list["artifacts"][0]["id"] == artifact["id"]).then_some(())
    });
}

#[test]
fn the_mock_sees_an_image_that_was_attached() {
    let daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let thread = peer.thread(daemon.home().path());
    let artifact = peer.call("media/import", json!({ "bytesBase64": PIXEL }))["artifact"].clone();
    peer.call("media/attachToTurn", json!({ "artifactId": artifact["id"], "threadId": thread }));
    let turn = peer.turn(&thread, "look");
    let told = peer.until_over(&turn);
    let ended = &told.last().unwrap().1["turn"];
    assert_eq!(ended["error"]["message"], "provider mock does not support image input");
}

#[test]
fn memories_and_media_from_the_shell() {
    let daemon = TestDaemon::start();
    let saved =
        daemon.rookery(&["memory", "save", "--scope", "global", "tabs,", "not spaces"]).success();
    let id = saved.trim();
    assert!(id.starts_with("mem-"), "{saved}");
    let shown = daemon.rookery(&["memory", "show", id, "--json"]).json();
    assert_eq!((&shown["text"], &shown["scope"]), (&json!("tabs, not spaces"), &json!("global")));
    let found = daemon.rookery(&["memory", "query", "tab", "--json"]).json();
    assert_eq!(found["results"][0]["memory"]["id"], id);
    daemon.rookery(&["memory", "update", id, "spaces,", "not tabs"]).success();
    let listed = daemon.rookery(&["memory", "ls"]).success();
    assert!(listed.contains("spaces, not tabs") && listed.contains(id), "{listed}");
    assert_eq!(daemon.rookery(&["memory", "rm", id]).success(), format!("deleted {id}\n"));
    daemon.rookery(&["memory", "show", id]).failure(1);
    daemon.rookery(&["memory", "save", "--scope", "thread", "x"]).failure(1);

    let file = daemon.home().join("dot.txt");
    fs::write(&file, "some words").unwrap();
    let path = file.to_str().unwrap();
    let id = daemon.rookery(&["media", "import", path]).success().trim().to_owned();
    let shown = daemon.rookery(&["media", "show", &id, "--json"]).json();
    assert_eq!((&shown["title"], &shown["mimeType"]), (&json!("dot.txt"), &json!("text/plain")));
    let copy = daemon.home().join("copy.txt");
    daemon.rookery(&["media", "export", &id, copy.to_str().unwrap()]).success();
    assert_eq!(fs::read_to_string(&copy).unwrap(), "some words");
    let refused = daemon.rookery(&["media", "export", &id, copy.to_str().unwrap()]).failure(1);
    assert!(refused.contains("--force"), "{refused}");
    daemon.rookery(&["media", "export", "--force", &id, copy.to_str().unwrap()]).success();
    assert_eq!(daemon.rookery(&["media", "export", &id, "-"]).success(), "some words");
    assert!(daemon.rookery(&["media", "ls"]).success().contains("dot.txt"));
    daemon.rookery(&["media", "rm", &id]).success();
    assert_eq!(daemon.rookery(&["media", "ls", "--json"]).json()["artifacts"], json!([]));
    daemon.rookery(&["media", "rm", &id]).failure(1);
}
