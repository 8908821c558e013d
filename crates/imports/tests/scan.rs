//! Scans of real directories: every place, ids that stay, states, plugins, and what is hostile.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

use std::path::Path;

use rookery_imports::{
    Content, Decision, DecisionKind, Item, Known, PluginRoot, Risk, Scan, ScanRequest, SourceKind,
    State, UserPlaces, add_conflicts, scan,
};
use rookery_model::Timestamp;

#[path = "scan/installed.rs"]
mod installed;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn look(
    root: &Path,
    user: Option<&UserPlaces>,
    plugins: &[PluginRoot],
    decisions: &[Decision],
) -> Scan {
    let now = Timestamp::from_micros(1);
    scan(ScanRequest { workspace: root, user, plugins, decisions, now }).unwrap()
}

fn found<'a>(scan: &'a Scan, path: &str, name: Option<&str>) -> &'a Item {
    let is_it = |item: &&Item| item.source.path == path && item.source.name.as_deref() == name;
    let item = scan.items.iter().find(is_it);
    item.unwrap_or_else(|| panic!("no item {path} {name:?} in {:#?}", paths(scan)))
}

fn paths(scan: &Scan) -> Vec<(&str, &str)> {
    let path = |item: &'_ Item| (item.source.kind.word(), item.source.path.clone());
    let mut all: Vec<(&str, &str)> =
        scan.items.iter().map(|item| (path(item).0, item.source.path.as_str())).collect();
    all.sort_unstable();
    all
}

fn enabled(root: &Path, item: &Item) -> Decision {
    Decision {
        item_id: item.id.clone(),
        kind: DecisionKind::Enable,
        source_hash: item.source.hash.clone(),
        approved_side_effects: item.needs_approval,
        decided_at: Timestamp::from_micros(7),
        workspace: root.to_string_lossy().into_owned(),
        path: item.source.path.clone(),
        name: item.source.name.clone(),
        source: item.source.kind,
    }
}

/// A workspace with a file in every place.
fn fill(root: &Path) {
    for guidance in [
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        "a/b/c/d/AGENTS.md",
        "a/CLAUDE.md",
        "a/b/c/d/e/AGENTS.md",
        "node_modules/x/AGENTS.md",
        ".github/copilot-instructions.md",
        ".windsurfrules",
        ".roorules",
        ".cursorrules",
    ] {
        write(root, guidance, &format!("Guidance of {guidance}\n"));
    }
    write(root, "README.md", "# Tool\n\nAgents run make.\n");
    write(root, ".cursor/rules/rust.mdc", "---\nglobs: *.rs\ndescription: Rust\n---\nNo unsafe.\n");
    write(root, ".claude/rules/a.md", "Be kind.\n");
    write(root, ".roo/rules/a.md", "Be quick.\n");
    write(root, ".roo/rules-code/b.txt", "Be exact.\n");
    write(root, ".clinerules/c.md", "Be calm.\n");
    for dir in [".agents", ".claude", ".roder", ".codex"] {
        write(
            root,
            &format!("{dir}/skills/pdf/SKILL.md"),
            "---\nname: pdf\ndescription: PDFs\n---\nUse it.\n",
        );
    }
    for dir in [
        ".agents/commands",
        ".claude/commands",
        ".roder/commands",
        ".codex/prompts",
        ".opencode/command",
    ] {
        write(root, &format!("{dir}/git/fix.md"), "Fix $ARGUMENTS\n");
    }
    for dir in [".claude/agents", ".roder/agents"] {
        write(
            root,
            &format!("{dir}/scout.md"),
            "---\nname: scout\ndescription: Looks\n---\nLook.\n",
        );
    }
    write(root, ".opencode/agent/plain.md", "---\ndescription: Plain\n---\nWork.\n");
    let servers = r#"{"mcpServers": {"one": {"command": "x", "env": {"K": "geheim"}}, "two": {"url": "http://u:geheim@h/"}}}"#;
    for file in [".mcp.json", ".cursor/mcp.json", ".roo/mcp.json"] {
        write(root, file, servers);
    }
    write(root, ".vscode/mcp.json", "{ // note\n\"servers\": {\"three\": {\"command\": \"x\"}}}");
    write(root, "mcp.toml", "[servers.four]\ncommand = \"x\"\n");
    write(root, "mcp.yaml", "mcpServers:\n  five:\n    command: x\n");
    write(root, ".codex/config.toml", "[mcp_servers.six]\ncommand = \"x\"\n");
    write(root, "opencode.json", r#"{"mcp": {"seven": {"command": ["x"]}}}"#);
    let hooks = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "c"}]}]}}"#;
    for file in [
        ".codex/hooks.json",
        ".cursor/hooks.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
    ] {
        write(root, file, hooks);
    }
    write(root, ".codex-plugin/plugin.json", r#"{"name": "root"}"#);
    write(root, ".claude-plugin/plugin.json", r#"{"name": "root2"}"#);
    write(
        root,
        ".agents/plugins/tools/plugin.json",
        r#"{"name": "tools", "description": "Tools"}"#,
    );
    write(root, ".agents/plugins/tools/commands/do.md", "Do ${CLAUDE_PLUGIN_ROOT}/x\n");
    write(root, ".agents/plugins/tools/hooks/hooks.json", hooks);
    write(
        root,
        ".agents/plugins/tools/agents/helper.md",
        "---\nname: helper\ndescription: Helps\n---\nHelp.\n",
    );
}

#[test]
fn every_place_is_scanned() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fill(root);
    let scan = look(root, None, &[], &[]);
    assert_eq!(scan.errors, []);
    expect_test::expect_file!["./places.txt"].assert_eq(
        &paths(&scan).iter().map(|(kind, path)| format!("{kind} {path}\n")).collect::<String>(),
    );
    assert!(scan.items.is_sorted_by(|a, b| a.id < b.id), "sorted by id, each once");
    let shown = scan.items.iter().map(|item| format!("{} {}", item.preview, item.summary));
    assert!(!shown.collect::<String>().contains("geheim"));
    let url = found(&scan, ".mcp.json", Some("two"));
    assert_eq!(
        (url.is_command_capable, url.needs_approval, url.risk),
        (false, true, Risk::StartsProcess)
    );
    let command = found(&scan, ".claude/commands/git/fix.md", Some("git:fix"));
    assert_eq!(
        (command.risk, command.needs_approval, command.is_live),
        (Risk::Passive, false, false)
    );
    assert!(found(&scan, ".roder/commands/git/fix.md", Some("git:fix")).is_live);
    assert!(found(&scan, "AGENTS.md", None).is_live);
    assert!(!found(&scan, "a/b/c/d/AGENTS.md", None).is_live);
    let plugin = found(&scan, ".agents/plugins/tools/plugin.json", None);
    assert!(plugin.is_command_capable && plugin.risk == Risk::Unknown, "it has hooks");
    assert_eq!(plugin.preview["components"].as_array().unwrap().len(), 3);
    let agent = found(&scan, ".opencode/agent/plain.md", Some("plain"));
    let Content::Agent { name, text } = &agent.content else { panic!() };
    assert_eq!((name.as_str(), text.starts_with("---\nname: plain\n")), ("plain", true));
    let rule = found(&scan, ".cursor/rules/rust.mdc", None);
    let Content::Rule(rule) = &rule.content else { panic!() };
    assert_eq!((rule.text.as_str(), &rule.globs[..]), ("No unsafe.", &["*.rs".to_owned()][..]));
}

#[test]
fn ids_stay_and_states_follow_decisions() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fill(root);
    let before = look(root, None, &[], &[]);
    let server = found(&before, ".mcp.json", Some("one")).clone();
    let guidance = found(&before, "CLAUDE.md", None).clone();
    let decisions = [enabled(root, &server), enabled(root, &guidance)];
    let after = look(root, None, &[], &decisions);
    assert_eq!(after.item(&server.id).unwrap().state, State::Enabled);
    assert_eq!(after.item(&server.id).unwrap().enabled_at, Some(Timestamp::from_micros(7)));
    write(root, ".mcp.json", r#"{"mcpServers": {"one": {"command": "evil"}}}"#);
    write(root, "CLAUDE.md", "Other words\n");
    let changed = look(root, None, &[], &decisions);
    let (server, guidance) =
        (changed.item(&server.id).unwrap(), changed.item(&guidance.id).unwrap());
    assert_eq!((server.state, guidance.state), (State::Stale, State::Stale));
    assert!(
        !rookery_imports::is_active(server),
        "what can start something has to be approved again"
    );
    assert!(rookery_imports::is_active(guidance));
    let unapproved = Decision { approved_side_effects: false, ..enabled(root, server) };
    let scan = look(root, None, &[], &[unapproved]);
    assert!(!rookery_imports::is_active(scan.item(&server.id).unwrap()));
}

#[test]
fn the_parts_of_a_plugin_are_items_once_it_is_enabled() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fill(root);
    let before = look(root, None, &[], &[]);
    let plugin = found(&before, ".agents/plugins/tools/plugin.json", None).clone();
    assert!(before.items.iter().all(|item| item.plugin.is_none()));
    let after = look(root, None, &[], &[enabled(root, &plugin)]);
    let command = found(&after, ".agents/plugins/tools/commands/do.md", Some("tools:do"));
    assert_eq!(command.state, State::Detected, "each part is decided on by itself");
    assert_eq!(command.plugin.as_ref().unwrap().root, root.join(".agents/plugins/tools"));
    assert!(found(&after, ".agents/plugins/tools/hooks/hooks.json", None).needs_approval);
    let agent = found(&after, ".agents/plugins/tools/agents/helper.md", Some("helper"));
    assert_eq!(agent.content.name(), Some("tools:helper"));
}

#[test]
fn what_is_the_users_is_only_scanned_if_it_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let (root, home, config) =
        (dir.path().join("w"), dir.path().join("home"), dir.path().join("config"));
    std::fs::create_dir(&root).unwrap();
    write(&home, ".claude/skills/a/SKILL.md", "Use it.");
    write(&home, ".codex/prompts/p.md", "Say it.");
    write(&home, ".cursor/mcp.json", r#"{"mcpServers": {"m": {"command": "x"}}}"#);
    write(&config, "skills/b/SKILL.md", "Use it.");
    write(&config, "mcp.json", r#"{"mcpServers": {"n": {"command": "x"}}}"#);
    let installed = dir.path().join("plugins/p");
    write(
        &installed,
        ".claude-plugin/plugin.json",
        r#"{"name": "p", "mcpServers": {"s": {"command": "${CLAUDE_PLUGIN_ROOT}/x"}}}"#,
    );
    write(&installed, "commands/c.md", "Do it.");
    let plugins =
        [PluginRoot { variant_key: "m:p".into(), plugin_id: "p".into(), root: installed.clone() }];
    assert_eq!(look(&root, None, &plugins, &[]).items, []);
    let user = UserPlaces { config: Some(config.clone()), home: Some(home.clone()) };
    let scan = look(&root, Some(&user), &plugins, &[]);
    assert_eq!(scan.errors, []);
    assert_eq!(scan.items.len(), 8, "{:?}", paths(&scan));
    let path = home.join(".claude/skills/a/SKILL.md");
    found(&scan, path.to_str().unwrap(), Some("a"));
    let path = installed.join("commands/c.md");
    let command = found(&scan, path.to_str().unwrap(), Some("p:c"));
    assert_eq!(command.plugin.as_ref().unwrap().variant_key.as_deref(), Some("m:p"));
    let path = installed.join(".claude-plugin/plugin.json");
    assert!(found(&scan, path.to_str().unwrap(), Some("s")).needs_approval);
}

#[test]
fn names_that_are_taken_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fill(root);
    let mut scan = look(root, None, &[], &[]);
    let mut known = Known::default();
    known.names.insert((SourceKind::McpServer, "one".into()), "config.toml".into());
    add_conflicts(&mut scan.items, &known);
    let server = found(&scan, ".mcp.json", Some("one"));
    assert_eq!(server.conflicts.len(), 3, "the settings, and two other files");
    assert!(server.conflicts.iter().any(|conflict| conflict.existing == "config.toml"));
    assert_eq!(found(&scan, "AGENTS.md", None).conflicts, []);
}

/// Links out, pipes, giants, deep and broken files: complained about, and nothing of them is shown.
#[test]
fn attack_by_a_hostile_repository() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let (root, outside) = (dir.path().join("w"), dir.path().join("outside"));
    std::fs::create_dir(&root).unwrap();
    write(&outside, "secret.md", "geheim agent");
    write(&outside, "skills/s/SKILL.md", "geheim");
    write(&outside, "mcp.json", r#"{"servers": {"geheim": {"command": "x"}}}"#);
    symlink(outside.join("secret.md"), root.join("AGENTS.md")).unwrap();
    symlink("../outside/secret.md", root.join("README.md")).unwrap();
    symlink(outside.join("mcp.json"), root.join(".mcp.json")).unwrap();
    std::fs::create_dir_all(root.join(".agents")).unwrap();
    symlink(outside.join("skills"), root.join(".agents/skills")).unwrap();
    std::fs::create_dir_all(root.join(".claude/skills")).unwrap();
    symlink(outside.join("skills/s"), root.join(".claude/skills/s")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("/dev/zero", root.join("CLAUDE.md")).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("GEMINI.md"),
        rustix::fs::FileType::Fifo,
        mode,
        0,
    )
    .unwrap();
    std::fs::create_dir(root.join(".cursorrules")).unwrap();
    write(&root, "opencode.json", &"[".repeat(100_000));
    write(&root, "mcp.yaml", "a: &a [x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nservers: *c\n");
    write(&root, ".windsurfrules", &"x".repeat(300 << 10));
    write(&root, ".claude/commands/e\u{1b}[2J.md", "Do it");
    write(&root, ".claude/commands/a b.md", "Do it");
    write(&root, ".claude/settings.json", r#"{"hooks": [1]}"#);
    write(
        &root,
        ".agents/plugins/p/plugin.json",
        r#"{"commands": ["../../../outside", "/etc"], "mcpServers": "../../../../outside/mcp.json"}"#,
    );
    std::fs::create_dir_all(root.join(".claude/agents")).unwrap();
    let odd = std::os::unix::ffi::OsStringExt::from_vec(b"\xff\xfe.md".to_vec());
    let odd: std::ffi::OsString = odd;
    std::fs::write(root.join(".claude/agents").join(odd), "x").unwrap();
    let scan = look(&root, None, &[], &[]);
    let told = format!("{:?}", scan);
    assert!(!told.contains("geheim"), "{told}");
    assert_eq!(paths(&scan), [("plugin", ".agents/plugins/p/plugin.json")]);
    let complaints: Vec<&str> = scan.errors.iter().map(|error| error.path.as_str()).collect();
    for path in [
        ".agents/skills",
        ".claude/settings.json",
        ".mcp.json",
        ".windsurfrules",
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        "README.md",
        "opencode.json",
    ] {
        assert!(complaints.contains(&path), "{path} in {complaints:?}");
    }
    assert!(scan.errors.iter().all(|error| !error.path.contains('\u{1b}')));
}

#[test]
fn a_scan_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for number in 0..2100 {
        write(root, &format!(".claude/commands/c{number}.md"), "Do it");
    }
    let scan = look(root, None, &[], &[]);
    assert_eq!(scan.items.len(), 2000);
}
