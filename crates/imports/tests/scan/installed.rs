//! Installed plugins: what their own manifest and the entry of their catalog name, and the item that each is itself.

use std::path::Path;

use rookery_imports::{
    Decision, DecisionKind, Item, PluginRoot, Risk, Scan, SourceKind, State, UserPlaces,
};
use serde_json::{Value, json};

use super::{enabled, found, look, write};

/// An installed plugin in a folder, as an install notes it, and what is found of it: kind, path below it and name.
fn installed(root: &Path, kind: &str, entry: &Value) -> (Scan, Vec<String>) {
    let folder = root.join("plugins/p");
    let noted = json!({
        "variantKey": "m:p", "marketplaceId": "m", "pluginId": "p", "kind": kind,
        "identityKey": {"canonicalSlug": "p", "normalizedName": "p"}, "manifest": entry,
    });
    write(&folder, "install-preview.json", &noted.to_string());
    let work = root.join("w");
    std::fs::create_dir_all(&work).unwrap();
    let scan = look(&work, Some(&UserPlaces::default()), &[plugin(&folder)], &[]);
    let part = |item: &Item| {
        let below = Path::new(&item.source.path).strip_prefix(&folder).unwrap().display();
        let name = item.source.name.as_deref().unwrap_or("-");
        format!("{} {below} {name}", item.source.kind.word())
    };
    let mut parts: Vec<String> = scan.items.iter().map(part).collect();
    parts.sort();
    (scan, parts)
}

fn plugin(folder: &Path) -> PluginRoot {
    PluginRoot { variant_key: "m:p".into(), plugin_id: "p".into(), root: folder.to_owned() }
}

/// A plugin with a part in every usual place, and a manifest that names more.
fn fill_plugin(folder: &Path) {
    let hooks = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "usual"}]}]}}"#;
    write(folder, "hooks/hooks.json", hooks);
    write(folder, ".mcp.json", r#"{"mcpServers": {"usual": {"command": "x"}}}"#);
    for skill in ["skills/a", "skills/b", "more/c"] {
        write(folder, &format!("{skill}/SKILL.md"), "Use it.");
    }
    write(folder, "commands/do.md", "Do it.");
    write(folder, "extra/run.md", "Run it.");
    write(folder, "agents/helper.md", "Help.");
    write(folder, "style/calm.mdc", "Be calm.");
    let own = r#"{"name": "own", "skills": "./more", "mcpServers": {"own": {"command": "x"}}}"#;
    write(folder, ".claude-plugin/plugin.json", own);
}

#[test]
fn what_the_entry_of_a_catalog_declares_becomes_items() {
    let dir = tempfile::tempdir().unwrap();
    fill_plugin(&dir.path().join("plugins/p"));
    let hook = json!({"hooks": [{"type": "command", "command": "run"}]});
    let entry = json!({
        "name": "p", "description": "Tools", "commands": ["./extra/run.md"], "rules": "./style",
        "hooks": {"PreToolUse": [hook]},
        "mcpServers": {"own": {"command": "x"}, "said": {"command": "${CLAUDE_PLUGIN_ROOT}/s", "env": {"K": "geheim"}}},
    });
    let (scan, parts) = installed(dir.path(), "claude", &entry);
    let expected = [
        "agent agents/helper.md helper",
        "hook hooks/hooks.json -",
        "hook install-preview.json -",
        "mcpServer .claude-plugin/plugin.json own",
        "mcpServer .mcp.json usual",
        "mcpServer install-preview.json said",
        "plugin  m:p",
        "rule style/calm.mdc -",
        "skill more/c/SKILL.md c",
        "skill skills/a/SKILL.md a",
        "skill skills/b/SKILL.md b",
        "slashCommand commands/do.md p:do",
        "slashCommand extra/run.md p:run",
    ];
    assert_eq!(parts, expected);
    assert_eq!(scan.errors, []);
    let folder = dir.path().join("plugins/p");
    let note = folder.join("install-preview.json");
    let said = found(&scan, note.to_str().unwrap(), Some("said"));
    assert!(said.needs_approval && !format!("{:?}", said.preview).contains("geheim"));
    // What is approved is the note that names the command: it stands no longer when that changes.
    let decisions = [enabled(&dir.path().join("w"), said)];
    let user = UserPlaces::default();
    let state = |text: &str| {
        std::fs::write(&note, text).unwrap();
        let scan = look(&dir.path().join("w"), Some(&user), &[plugin(&folder)], &decisions);
        found(&scan, note.to_str().unwrap(), Some("said")).state
    };
    let before = std::fs::read_to_string(&note).unwrap();
    assert_eq!(state(&before), State::Enabled);
    assert_eq!(state(&before.replace("/s\"", "/evil\"")), State::Stale);
}

#[test]
fn an_entry_that_is_not_strict_defines_a_plugin_alone() {
    let dir = tempfile::tempdir().unwrap();
    fill_plugin(&dir.path().join("plugins/p"));
    let alone = |members: Value| {
        let mut entry = json!({"name": "p", "source": "./", "strict": false});
        entry.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        installed(dir.path(), "claude", &entry).1
    };
    let skills = alone(json!({"skills": ["./skills/a"]}));
    assert_eq!(skills, ["plugin  m:p", "skill skills/a/SKILL.md a"]);
    let usual = alone(json!({"commands": "commands", "mcpServers": "./.mcp.json"}));
    let expected = ["mcpServer .mcp.json usual", "plugin  m:p", "slashCommand commands/do.md p:do"];
    assert_eq!(usual, expected);
    // One that names nothing leaves it to the usual places; the plugin's own manifest counts for nothing.
    let nothing = alone(json!({"skills": []}));
    assert!(nothing.contains(&"skill skills/b/SKILL.md b".to_owned()), "{nothing:?}");
    assert!(!nothing.iter().any(|part| part.contains("plugin.json") || part.contains("more/")));
    // A note that cannot be read does not open the plugin.
    let folder = dir.path().join("plugins/p");
    std::fs::write(folder.join("install-preview.json"), "{").unwrap();
    let work = dir.path().join("w");
    let scan = look(&work, Some(&UserPlaces::default()), &[plugin(&folder)], &[]);
    assert_eq!((scan.items.len(), scan.errors.len()), (0, 1), "{:?}", scan.errors);
}

#[test]
fn the_manifest_for_the_kind_of_the_marketplace_counts() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("plugins/p");
    for kind in ["claude", "codex", "cursor", "roder"] {
        let server = format!(r#"{{"mcpServers": {{"{kind}": {{"command": "x"}}}}}}"#);
        write(&folder, &format!(".{kind}-plugin/plugin.json"), &server);
    }
    for kind in ["roder", "cursor", "codex", "claude"] {
        let (_, parts) = installed(dir.path(), kind, &json!({"name": "p"}));
        let server = format!("mcpServer .{kind}-plugin/plugin.json {kind}");
        assert_eq!(parts, [server, "plugin  m:p".to_owned()]);
    }
    let (_, parts) = installed(dir.path(), "custom", &json!({"name": "p"}));
    assert_eq!(parts[0], "mcpServer .claude-plugin/plugin.json claude");
    for kind in ["claude", "codex", "cursor"] {
        std::fs::remove_dir_all(folder.join(format!(".{kind}-plugin"))).unwrap();
    }
    let (_, parts) = installed(dir.path(), "claude", &json!({"name": "p"}));
    assert_eq!(parts[0], "mcpServer .roder-plugin/plugin.json roder");
}

#[test]
fn an_installed_plugin_is_an_item_and_switches_its_parts_off() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("plugins/p");
    fill_plugin(&folder);
    let entry = json!({"name": "p", "description": "Tools", "token": "geheim"});
    let (scan, parts) = installed(dir.path(), "claude", &entry);
    let path = folder.to_str().unwrap();
    let item = found(&scan, path, Some("m:p")).clone();
    assert_eq!(item.source.kind, SourceKind::Plugin);
    assert_eq!((item.title.as_str(), item.summary.as_str()), ("Plugin p", "Tools"));
    assert!(item.is_live && item.needs_approval && item.is_command_capable);
    assert_eq!((item.risk, item.source.hash.len()), (Risk::Unknown, 64));
    for (member, value) in
        [("variantKey", "m:p"), ("marketplaceId", "m"), ("pluginId", "p"), ("installPath", path)]
    {
        assert_eq!(item.preview[member], value);
    }
    assert_eq!(item.preview["identityKey"]["canonicalSlug"], "p");
    assert_eq!(item.preview["manifest"]["token"], "[redacted]");
    assert_eq!(item.preview["components"].as_array().unwrap().len(), parts.len() - 1);
    // Ignoring the plugin takes its parts away, whatever was decided about them; others stay.
    let work = dir.path().join("w");
    write(&work, ".agents/skills/mine/SKILL.md", "Use it.");
    let skill = found(&scan, folder.join("skills/a/SKILL.md").to_str().unwrap(), Some("a"));
    let states = |kind: DecisionKind| {
        let of_plugin = Decision { kind, ..enabled(&work, &item) };
        let decisions = [of_plugin, enabled(&work, skill)];
        let scan = look(&work, Some(&UserPlaces::default()), &[plugin(&folder)], &decisions);
        (scan.item(&item.id).unwrap().state, scan.items.len(), scan.item(&skill.id).is_some())
    };
    for (kind, state) in
        [(DecisionKind::Ignore, State::Ignored), (DecisionKind::Disable, State::Disabled)]
    {
        assert_eq!(states(kind), (state, 2, false));
    }
    assert_eq!(states(DecisionKind::Enable), (State::Enabled, parts.len() + 1, true));
    // A plugin that lies in the workspace is found once.
    let around = look(
        dir.path(),
        Some(&UserPlaces::default()),
        &[plugin(&folder)],
        &[Decision { kind: DecisionKind::Enable, ..enabled(dir.path(), &item) }],
    );
    assert_eq!(around.items.iter().filter(|one| one.plugin.is_some()).count(), parts.len());
}
