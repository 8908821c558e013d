//! A hostile repository that is scanned, previewed and listed: no program is started and nothing is
//! contacted. Every command that it names would leave a mark, and every address leads to a listener here.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;

use rookery_testkit::{Finished, TestDaemon};
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};
use crate::traced::Traced;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A repository in which everything that can name a command or an address does.
fn repository(root: &Path, marks: &Path, url: &str) {
    let mark = |name: &str| format!("touch {}/{name}", marks.display());
    let words = |name: &str| json!({"command": "sh", "args": ["-c", mark(name)], "env": {"TOKEN": "geheim"}});
    let servers = |name: &str| {
        json!({"mcpServers": {name: words(name), "web": {"url": url, "headers": {"A": "geheim"}}}})
            .to_string()
    };
    for (file, name) in [
        (".mcp.json", "mcp"),
        (".cursor/mcp.json", "cursor"),
        (".roo/mcp.json", "roo"),
        (".vscode/mcp.json", "vscode"),
    ] {
        write(root, file, &servers(name));
    }
    write(
        root,
        "mcp.toml",
        &format!("[servers.toml]\ncommand = \"sh\"\nargs = [\"-c\", \"{}\"]\n", mark("toml")),
    );
    write(
        root,
        "opencode.json",
        &json!({"mcp": {"open": {"command": ["sh", "-c", mark("open")]}}}).to_string(),
    );
    let hooks = |name: &str| {
        let hook = json!([{"hooks": [{"type": "command", "command": mark(name)}]}]);
        let events = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart"];
        json!({"hooks": events.map(|event| (event.to_owned(), hook.clone())).into_iter().collect::<serde_json::Map<_, _>>()}).to_string()
    };
    for (file, name) in [
        (".claude/settings.json", "claude"),
        (".codex/hooks.json", "codex"),
        (".cursor/hooks.json", "cursor-hooks"),
    ] {
        write(root, file, &hooks(name));
    }
    write(root, ".agents/plugins/p/plugin.json", &json!({"name": "p", "hooks": serde_json::from_str::<Value>(&hooks("plugin")).unwrap()["hooks"], "mcpServers": {"pm": words("plugin-mcp")}, "commands": ["../../../../etc"]}).to_string());
    write(
        root,
        ".claude/commands/evil.md",
        &format!("---\ndescription: evil\n---\nRun !`{}`", mark("command")),
    );
    write(
        root,
        ".claude/agents/evil.md",
        &format!("---\nname: evil\ndescription: evil\nhooks: {}\n---\nx", mark("agent")),
    );
    write(
        root,
        ".git/config",
        &format!("[core]\nfsmonitor = {}\nhooksPath = hooks\n", mark("git")),
    );
    fs::create_dir_all(root.join("deep")).unwrap();
    symlink("/etc/passwd", root.join("CLAUDE.md")).unwrap();
    symlink(marks, root.join(".claude/skills")).unwrap();
    symlink("..", root.join("deep/up")).unwrap();
    write(root, ".windsurfrules", &"x".repeat(1 << 20));
    write(root, ".codex/config.toml", &"[[".repeat(10_000));
    write(root, ".claude/commands/\u{1b}]0;owned\u{7}.md", "x");
}

fn marks(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn looking_at_a_hostile_repository_starts_and_contacts_nothing() {
    let mut daemon = TestDaemon::start();
    let (root, seen) = (daemon.home().join("repo"), daemon.home().join("marks"));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(&seen).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    repository(&root, &seen, &format!("http://{}/mcp", listener.local_addr().unwrap()));
    let mut pipe = daemon.home().command("mkfifo");
    pipe.arg(root.join("GEMINI.md"));
    Finished::of(pipe).success();
    let before = snapshot(&root);
    let mut peer = Peer::to(&daemon);
    let scan =
        peer.call("workflow/scan", json!({"workspace": root, "includeUser": true}))["scan"].clone();
    let previews = peer.call("workflow/preview", json!({"workspace": root}));
    let refreshed = peer.call("workflow/refresh", json!({"workspace": root}));
    peer.call("skills/list", json!({"cwd": root}));
    peer.call("commands/list", json!({"workspace": root}));
    peer.call("agents/list", json!({"workspace": root}));
    let dir = root.to_str().unwrap();
    let listed = daemon.rookery(&["imports", "ls", "--user", "--cwd", dir]).success();
    assert!(!listed.contains('\u{1b}') && !listed.contains("root:x"), "{listed}");
    daemon.rookery(&["skills", "ls", "--cwd", dir]).success();
    let items = scan["items"].as_array().unwrap();
    assert!(items.len() > 15, "{items:#?}");
    for item in items.iter().filter(|item| item["approvalRequired"] == true) {
        let refused =
            peer.refused("workflow/enable", json!({"workspace": root, "itemId": item["id"]}));
        assert_eq!((&refused["code"], &refused["data"]["itemId"]), (&json!(-32040), &item["id"]));
        daemon.rookery(&["imports", "show", item["id"].as_str().unwrap(), "--cwd", dir]).success();
        daemon
            .rookery(&["imports", "enable", item["id"].as_str().unwrap(), "--cwd", dir])
            .failure(3);
    }
    for told in [&scan, &previews, &refreshed] {
        let told = told.to_string();
        assert!(!told.contains("geheim") && !told.contains("root:x"), "{told}");
    }
    // Turns there are as if nothing of it was there.
    peer.set_mode("bypass");
    let thread = peer.thread(&root);
    let turn = peer.turn(
        &thread,
        &script(&json!([{"tool": "echo", "args": {"text": "x"}}, {"text": "done"}])),
    );
    peer.until_over(&turn);
    assert_eq!(marks(&seen), [] as [&str; 0], "a program was started");
    assert!(listener.accept().is_err(), "a server was contacted");
    assert_eq!(snapshot(&root), before, "nothing was written there");

    // The marks work: one hook that is approved leaves its own, and none other.
    let hook = items.iter().find(|item| item["source"]["path"] == ".claude/settings.json").unwrap();
    let id = hook["id"].as_str().unwrap();
    daemon.rookery(&["imports", "enable", id, "--yes", "--cwd", dir]).success();
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    let thread = peer.thread(&root);
    let turn = peer.turn(
        &thread,
        &script(&json!([{"tool": "echo", "args": {"text": "x"}}, {"text": "done"}])),
    );
    peer.until_over(&turn);
    assert_eq!(marks(&seen), ["claude"], "what was approved outlives the daemon");
    fs::remove_file(seen.join("claude")).unwrap();
    daemon.rookery(&["imports", "remove", id, "--cwd", dir]).success();
    let turn = peer.turn(&thread, &script(&json!([{"text": "done"}])));
    peer.until_over(&turn);
    assert_eq!(marks(&seen), [] as [&str; 0]);
}

#[test]
fn looking_at_a_hostile_repository_is_traced_and_starts_and_contacts_nothing() {
    let traced = Traced::start();
    let daemon = &traced.daemon;
    let (root, seen) = (daemon.home().join("repo"), daemon.home().join("marks"));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(&seen).unwrap();
    repository(&root, &seen, "http://127.0.0.1:9/mcp");
    let mut peer = Peer::to(daemon);
    traced.begin();
    let of = json!({"workspace": root});
    let with_user = json!({"workspace": root, "includeUser": true});
    let scan = peer.call("workflow/scan", with_user)["scan"].clone();
    peer.call("workflow/preview", of.clone());
    peer.call("workflow/refresh", of.clone());
    for item in scan["items"].as_array().unwrap() {
        let item = json!({"workspace": root, "itemId": item["id"]});
        peer.call("workflow/preview", item.clone());
        if peer.call("workflow/preview", item.clone())["items"][0]["approvalRequired"] == true {
            peer.refused("workflow/enable", item);
        }
    }
    peer.call("skills/list", json!({"cwd": root}));
    peer.call("commands/list", of.clone());
    peer.call("agents/list", of.clone());
    peer.call("workflows/scripts/list", of);
    assert_eq!(traced.seen(), [] as [&str; 0]);
    // A turn there starts nothing either, and what is approved is in the trace.
    peer.set_mode("bypass");
    let thread = peer.thread(&root);
    traced.begin();
    let turn = peer.turn(&thread, &script(&json!([{"text": "done"}])));
    peer.until_over(&turn);
    let started = traced.seen_beside_git();
    assert_eq!(started, [] as [&str; 0]);
    let items = scan["items"].as_array().unwrap();
    let hook = items.iter().find(|item| item["source"]["path"] == ".claude/settings.json").unwrap();
    let approved = json!({"workspace": root, "itemId": hook["id"], "approveSideEffects": true});
    peer.call("workflow/enable", approved);
    let turn = peer.turn(&thread, &script(&json!([{"text": "done"}])));
    peer.until_over(&turn);
    let started = traced.seen();
    assert!(started.iter().any(|line| line.contains("touch")), "{started:?}");
}

#[test]
fn what_an_agent_runs_reads_imports_and_decides_nothing() {
    let daemon = TestDaemon::start();
    let root = daemon.home().join("repo");
    write(&root, ".mcp.json", r#"{"mcpServers": {"evil": {"command": "true"}}}"#);
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let scan = peer.call("workflow/scan", json!({"workspace": root}));
    let id = scan["scan"]["items"][0]["id"].as_str().unwrap().to_owned();
    let program = rookery_testkit::rookery_binary();
    let command = format!(
        "cd '{}' && '{program}' imports ls; '{program}' imports enable {id} --yes; '{program}' imports ignore {id}; echo over",
        root.display(),
        program = program.display(),
    );
    let thread = peer.thread(&root);
    let steps = json!([{"tool": "shell", "args": {"command": command}}, {"text": "done"}]);
    let turn = peer.turn(&thread, &script(&steps));
    peer.until_over(&turn);
    let scan = peer.call("workflow/scan", json!({"workspace": root}));
    assert_eq!(scan["scan"]["items"][0]["state"], "detected", "{scan}");
}

/// A hook that guards does so while an agent plans as well. It is held to reading then; one that fails because
/// of that lets nothing pass.
#[test]
fn what_a_hook_guards_stays_guarded_in_plan_mode_and_the_hook_changes_nothing() {
    let daemon = TestDaemon::start();
    let root = daemon.home().join("repo");
    for (path, text) in [("open.txt", "open words\n"), ("kept.txt", "kept words\n")] {
        write(&root, path, text);
    }
    let guards = |command: &str| {
        let hook = json!({"matcher": "Read", "hooks": [{"type": "command", "command": command}]});
        json!({"hooks": {"PreToolUse": [hook]}}).to_string()
    };
    let mut peer = Peer::to(&daemon);
    peer.set_mode("plan");
    let mut reads = |command: &str, file: &str| {
        write(&root, ".claude/settings.json", &guards(command));
        let scan = peer.call("workflow/scan", json!({"workspace": root}));
        let items = scan["scan"]["items"].as_array().unwrap();
        let id = items.iter().find(|item| item["risk"] == "runsHook").unwrap()["id"].clone();
        let approved = json!({"workspace": root, "itemId": id, "approveSideEffects": true});
        peer.call("workflow/enable", approved);
        let thread = peer.thread(&root);
        let steps = json!([{"tool": "read_file", "args": {"path": file}}, {"text": "done"}]);
        let turn = peer.turn(&thread, &script(&steps));
        peer.until_over(&turn);
        peer.stored(&thread).to_string()
    };
    let decides = "touch touched; if grep -q kept.txt; then echo not that one >&2; exit 2; fi";
    let refused = reads(decides, "kept.txt");
    assert!(refused.contains("a hook denied the tool call: "), "{refused}");
    assert!(!refused.contains("kept words"), "{refused}");
    let passed = reads(decides, "open.txt");
    if super::fence::has_sandbox(&daemon) {
        assert!(refused.contains("not that one"), "{refused}");
        assert!(passed.contains("open words"), "{passed}");
    }
    let failed = reads("date > log && exit 0; exit 1", "open.txt");
    assert!(failed.contains("its hook in .claude/settings.json cannot run here"), "{failed}");
    assert!(!failed.contains("open words"), "{failed}");
    assert!(!root.join("touched").exists() && !root.join("log").exists());
}

/// Files of few bytes that need much stack, or many rows, to be understood.
#[test]
fn small_files_that_ask_for_much_cost_no_more_than_a_row() {
    let daemon = TestDaemon::start();
    let root = daemon.home().join("repo");
    let key = ["a"; 79].join(".");
    let deep = (0..20).fold("1".to_owned(), |inner, _| format!("{{{key}={inner}}}"));
    for file in ["mcp.toml", ".codex/config.toml"] {
        write(&root, file, &format!("x = {deep}"));
    }
    write(&root, "mcp.yaml", &format!("servers: {}", "[".repeat(10_000)));
    write(&root, "opencode.json", &"{\"a\":".repeat(10_000));
    for number in 0..1500 {
        let skill = format!(".claude/skills/s{number}/SKILL.md");
        write(&root, &skill, "---\nname: same\n---\nUse it.");
    }
    let mut peer = Peer::to(&daemon);
    let scan = peer.call("workflow/scan", json!({"workspace": root}))["scan"].clone();
    let errors = scan["errors"].as_array().unwrap();
    let mut paths: Vec<&str> = errors.iter().map(|row| row["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, [".codex/config.toml", "mcp.toml", "mcp.yaml", "opencode.json"]);
    let items = scan["items"].as_array().unwrap();
    assert_eq!(items.len(), 1500);
    for item in items {
        let conflicts = item["conflicts"].as_array().unwrap();
        assert_eq!(conflicts.len(), 9, "{item}");
        assert_eq!(conflicts[8]["existing"], "1491 more", "{item}");
    }
    // What is enabled is read again at every turn.
    let id = items[0]["id"].clone();
    peer.call("workflow/enable", json!({"workspace": root, "itemId": id}));
    let thread = peer.thread(&root);
    let turn = peer.turn(&thread, &script(&json!([{"text": "done"}])));
    peer.until_over(&turn);
}

/// Paths and sizes of all that is there.
fn snapshot(root: &Path) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            all.push((entry.path().to_string_lossy().into_owned(), meta.len()));
            if meta.is_dir() {
                dirs.push(entry.path());
            }
        }
    }
    all.sort();
    all
}
