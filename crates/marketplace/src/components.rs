//! What a plugin has in it, and every program that it could start: read from what its catalog and its own files
//! say. Pure but for reading those files, and it runs nothing.

use std::path::Path;

use rookery_host::Beneath;
use serde_json::{Map, Value};

use crate::source::check_relative;
use crate::types::{Hints, Kind, Risk};

/// The largest file of a plugin that is read for what it could start.
const LARGEST_FILE: usize = 1 << 20;
/// Commands that are listed.
const MOST_COMMANDS: usize = 500;
/// The longest command line that is shown.
const LONGEST_LINE: usize = 4096;
/// Values in one another that are looked into.
const DEEPEST: usize = 32;
/// What stands for the folder of a plugin in its commands.
const ROOT_NAMES: [&str; 2] = ["${CLAUDE_PLUGIN_ROOT}", "$CLAUDE_PLUGIN_ROOT"];

/// A component that can start programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// At events.
    Hook,
    /// A server of the Model Context Protocol.
    McpServer,
    /// A language server.
    LspServer,
    App,
}

impl Component {
    pub fn word(self) -> &'static str {
        match self {
            Component::Hook => "hook",
            Component::McpServer => "mcpServer",
            Component::LspServer => "lspServer",
            Component::App => "app",
        }
    }
}

/// Where components that start programs are named: members of manifests, and files that are used unnamed.
const STARTERS: [(Component, &[&str], &[&str]); 4] = [
    (Component::Hook, &["hooks", "hooksJson"], &["hooks/hooks.json", "hooks.json"]),
    (Component::McpServer, &["mcpServers", "mcp", "mcp_servers"], &[".mcp.json", "mcp.json"]),
    (Component::LspServer, &["lspServers", "lsp"], &[".lsp.json"]),
    (Component::App, &["apps", "app", "appJson"], &[".app.json"]),
];
/// Where a plugin describes itself, by the kind of its format.
const OWN_MANIFESTS: [(Option<Kind>, &str); 5] = [
    (Some(Kind::Claude), ".claude-plugin/plugin.json"),
    (Some(Kind::Codex), ".codex-plugin/plugin.json"),
    (Some(Kind::Cursor), ".cursor-plugin/plugin.json"),
    (Some(Kind::Roder), ".roder-plugin/plugin.json"),
    (None, "plugin.json"),
];
/// Members that hold a command line.
const COMMAND_NAMES: [&str; 6] = ["command", "cmd", "exec", "run", "script", "shell"];
/// Members that hold an address.
const URL_NAMES: [&str; 4] = ["url", "httpUrl", "serverUrl", "endpoint"];

/// One command line that a plugin could start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginCommand {
    /// What would start it.
    pub component: Component,
    /// Where it is named: a file of the plugin, or its manifest.
    pub origin: String,
    pub line: String,
}

/// The content of a plugin, as far as it is looked into.
pub(crate) trait Content {
    /// A regular file, if it is there and not too large.
    fn read(&self, path: &str) -> Option<Result<Vec<u8>, String>>;
    /// Whether there is a folder.
    fn is_dir(&self, path: &str) -> bool;
}

impl Content for Beneath {
    fn read(&self, path: &str) -> Option<Result<Vec<u8>, String>> {
        match self.read_start(Path::new(path), LARGEST_FILE + 1) {
            Ok(bytes) if bytes.len() > LARGEST_FILE => {
                Some(Err(format!("it has more than {LARGEST_FILE} bytes")))
            }
            Ok(bytes) => Some(Ok(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error.to_string())),
        }
    }

    fn is_dir(&self, path: &str) -> bool {
        self.below(Path::new(path)).is_ok()
    }
}

/// What the plugin says of itself, if its content is there.
pub(crate) fn own_manifest(content: &dyn Content, kind: Kind) -> Option<Map<String, Value>> {
    let own = OWN_MANIFESTS.iter().filter(|(of, _)| *of == Some(kind));
    let others = OWN_MANIFESTS.iter().filter(|(of, _)| *of != Some(kind));
    own.chain(others).find_map(|(_, path)| {
        let bytes = content.read(path)?.ok()?;
        match serde_json::from_slice(&bytes).ok()? {
            Value::Object(members) => Some(members),
            _ => None,
        }
    })
}

/// The path of a manifest, and what it says.
pub(crate) type OwnManifest = (&'static str, Map<String, Value>);

/// All that a plugin says of itself, for whichever agent, and what is wrong with what cannot be read.
pub(crate) fn own_manifests(content: &dyn Content) -> (Vec<OwnManifest>, Vec<String>) {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    for (_, path) in OWN_MANIFESTS {
        let Some(read) = content.read(path) else { continue };
        let read = read.and_then(|bytes| {
            serde_json::from_slice::<Map<String, Value>>(&bytes).map_err(|error| error.to_string())
        });
        match read {
            Ok(members) => found.push((path, members)),
            Err(why) => warnings.push(unreadable(path, &why)),
        }
    }
    (found, warnings)
}

fn unreadable(path: &str, why: &str) -> String {
    let path = shown(path);
    format!("{path}: cannot be read, so what it could start is not listed: {why}")
}

/// What a manifest says that there is.
pub(crate) fn declared(manifest: &Map<String, Value>) -> Hints {
    let has = |names: &[&str]| names.iter().any(|name| manifest.get(*name).is_some_and(is_present));
    let shown = manifest.get("interface").and_then(Value::as_object);
    let shows = |name: &&str| shown.is_some_and(|shown| shown.get(*name).is_some_and(is_present));
    let starts = |component: Component| {
        STARTERS.iter().any(|(known, names, _)| *known == component && has(names))
    };
    Hints {
        skills: has(&["skills"]),
        commands: has(&["commands"]),
        agents: has(&["agents"]),
        mcp_servers: starts(Component::McpServer),
        hooks: starts(Component::Hook),
        apps: starts(Component::App),
        lsp_servers: starts(Component::LspServer),
        rules: has(&["rules"]),
        assets: has(&["assets"]) || ["logo", "composerIcon", "screenshots"].iter().any(shows),
    }
}

/// What there is.
pub(crate) fn present(content: &dyn Content) -> Hints {
    let has = |component: Component| {
        let files = STARTERS.iter().filter(|(known, ..)| *known == component);
        files.flat_map(|(.., files)| *files).any(|path| content.read(path).is_some())
    };
    Hints {
        skills: content.is_dir("skills"),
        commands: content.is_dir("commands"),
        agents: content.is_dir("agents"),
        mcp_servers: has(Component::McpServer),
        hooks: has(Component::Hook),
        apps: has(Component::App),
        lsp_servers: has(Component::LspServer),
        rules: content.is_dir("rules"),
        assets: content.is_dir("assets"),
    }
}

/// Both.
pub(crate) fn either(one: Hints, two: Hints) -> Hints {
    Hints {
        skills: one.skills || two.skills,
        commands: one.commands || two.commands,
        agents: one.agents || two.agents,
        mcp_servers: one.mcp_servers || two.mcp_servers,
        hooks: one.hooks || two.hooks,
        apps: one.apps || two.apps,
        lsp_servers: one.lsp_servers || two.lsp_servers,
        rules: one.rules || two.rules,
        assets: one.assets || two.assets,
    }
}

/// What the worst is that a plugin with these may do; `is_known` says whether its content can be had at all.
pub(crate) fn risk(hints: Hints, is_known: bool) -> Risk {
    match hints {
        Hints { hooks: true, .. } => Risk::RunsHook,
        Hints { mcp_servers: true, .. }
        | Hints { apps: true, .. }
        | Hints { lsp_servers: true, .. } => Risk::StartsProcess,
        _ if !is_known => Risk::StartsProcess,
        _ => Risk::Passive,
    }
}

fn is_present(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(all) => !all.is_empty(),
        Value::Object(all) => !all.is_empty(),
    }
}

/// What a plugin could start, and what cannot be determined.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    pub(crate) commands: Vec<PluginCommand>,
    pub(crate) warnings: Vec<String>,
}

/// Everything that a plugin could start, by its manifests and the files that these name or that are used
/// unnamed. `root` is where its content is, or will be.
pub(crate) fn starts(
    manifests: &[(&str, &Map<String, Value>)],
    content: Option<&dyn Content>,
    root: &str,
) -> Starts {
    let mut found = Reader { content, root, starts: Starts::default(), seen: Vec::new() };
    for (component, names, files) in STARTERS {
        for (origin, manifest) in manifests {
            for value in names.iter().filter_map(|name| manifest.get(*name)) {
                found.named(component, origin, value);
            }
        }
        for path in files {
            found.file(component, path, false);
        }
    }
    let mut starts = found.starts;
    starts.commands.sort();
    starts.commands.dedup();
    if starts.commands.len() > MOST_COMMANDS {
        let more = starts.commands.len() - MOST_COMMANDS;
        starts.commands.truncate(MOST_COMMANDS);
        starts.warnings.push(format!("it could start {more} more commands that are not listed"));
    }
    starts
}

struct Reader<'a> {
    content: Option<&'a dyn Content>,
    root: &'a str,
    starts: Starts,
    /// Files that were read, so that none is read twice.
    seen: Vec<(Component, String)>,
}

impl Reader<'_> {
    /// What a member of a manifest names: a file, several, or the thing itself.
    fn named(&mut self, component: Component, origin: &str, value: &Value) {
        match value {
            Value::String(path) => self.file(component, path, true),
            Value::Array(all) => {
                all.iter().take(100).for_each(|one| self.named(component, origin, one))
            }
            Value::Object(_) => self.look(component, origin, value, DEEPEST),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn file(&mut self, component: Component, path: &str, is_named: bool) {
        let name = self.expanded(path);
        let name =
            name.strip_prefix(self.root).map_or(name.as_str(), |rest| rest.trim_start_matches('/'));
        let name = crate::plugin_source::clean(name);
        if check_relative(path).is_err() && check_relative(&name).is_err() || path.contains("..") {
            let shown = shown(path);
            self.starts
                .warnings
                .push(format!("{} {shown} is outside of the plugin", component.word()));
            return;
        }
        let key = (component, name.clone());
        if self.seen.contains(&key) {
            return;
        }
        self.seen.push(key);
        let Some(content) = self.content else { return };
        let read = match content.read(&name) {
            None if is_named && !content.is_dir(&name) => Err("it is not there".to_owned()),
            None => return,
            Some(read) => read,
        };
        let read = read.and_then(|bytes| {
            serde_json::from_slice::<Value>(&bytes).map_err(|error| error.to_string())
        });
        match read {
            Ok(value) => self.look(component, &name, &value, DEEPEST),
            Err(why) => self.starts.warnings.push(unreadable(&name, &why)),
        }
    }

    /// Finds commands and addresses in a value, wherever in it they are.
    fn look(&mut self, component: Component, origin: &str, value: &Value, depth: usize) {
        // Far more than is shown would only cost memory.
        if depth == 0 || self.starts.commands.len() > MOST_COMMANDS * 4 {
            return;
        }
        match value {
            Value::Array(all) => {
                all.iter().for_each(|one| self.look(component, origin, one, depth - 1));
            }
            Value::Object(members) => {
                for line in lines(members) {
                    let line: String = self.expanded(&line).chars().take(LONGEST_LINE).collect();
                    let origin = shown(origin);
                    self.starts.commands.push(PluginCommand { component, origin, line });
                }
                for url in URL_NAMES.iter().filter_map(|name| members.get(*name)?.as_str()) {
                    let (url, origin) = (shown(url), shown(origin));
                    let message = format!("{} in {origin} connects to {url}", component.word());
                    if self.starts.warnings.len() < 100 {
                        self.starts.warnings.push(message);
                    }
                }
                members.values().for_each(|one| self.look(component, origin, one, depth - 1));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn expanded(&self, text: &str) -> String {
        ROOT_NAMES.iter().fold(text.to_owned(), |text, name| text.replace(name, self.root))
    }
}

/// The command lines that an object names itself.
fn lines(members: &Map<String, Value>) -> Vec<String> {
    let words = |value: &Value| match value {
        Value::String(text) if !text.trim().is_empty() => Some(vec![text.clone()]),
        Value::Array(all) if !all.is_empty() => {
            all.iter().map(|one| one.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    };
    let args: Vec<String> = members.get("args").and_then(words).unwrap_or_default();
    let commands = COMMAND_NAMES.iter().filter_map(|name| words(members.get(*name)?));
    let line = |command: Vec<String>| {
        // A text alone is a line for a shell; further words are quoted as one would write them.
        let is_text = command.len() == 1;
        let mut words = command.into_iter();
        let first = words.next().unwrap_or_default();
        let first = if is_text { first } else { quoted(&first) };
        let rest = words.chain(args.iter().cloned()).map(|word| quoted(&word));
        std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" ")
    };
    commands.map(line).collect()
}

fn quoted(word: &str) -> String {
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,${}".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn shown(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    struct Folder(BTreeMap<String, Vec<u8>>);

    impl Content for Folder {
        fn read(&self, path: &str) -> Option<Result<Vec<u8>, String>> {
            self.0.get(path).cloned().map(Ok)
        }

        fn is_dir(&self, path: &str) -> bool {
            self.0.keys().any(|name| name.starts_with(&format!("{path}/")))
        }
    }

    fn folder(files: &[(&str, Value)]) -> Folder {
        let file =
            |(path, value): &(&str, Value)| ((*path).to_owned(), value.to_string().into_bytes());
        Folder(files.iter().map(file).collect())
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn every_command_is_found_wherever_it_is_named() {
        let content = folder(&[
            (
                "hooks/hooks.json",
                json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [
                {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/hook.sh --all"}]}]}}),
            ),
            (".mcp.json", json!({"mcpServers": {"db": {"command": "npx", "args": ["-y", "a b"]}}})),
            ("more.json", json!({"web": {"url": "https://mcp.test/x"}})),
            (".lsp.json", json!({"go": {"command": ["gopls", "serve"]}})),
        ]);
        let manifest = object(json!({
            "mcpServers": ["./more.json", {"inline": {"command": "./server"}}],
            "apps": {"a": {"cmd": "app --x"}},
            "hooks": "../../outside.json"
        }));
        let found = starts(&[("manifest", &manifest)], Some(&content), "/root/p");
        let lines: Vec<&str> = found.commands.iter().map(|command| command.line.as_str()).collect();
        let expected =
            ["/root/p/hook.sh --all", "npx -y 'a b'", "./server", "gopls serve", "app --x"];
        assert_eq!(lines, expected);
        assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
        assert!(found.warnings[0].contains("outside"), "{:?}", found.warnings);
        assert!(found.warnings[1].contains("https://mcp.test/x"), "{:?}", found.warnings);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let content = Folder(BTreeMap::from([(".mcp.json".to_owned(), b"{no".to_vec())]));
        let manifest = object(json!({"hooks": "./gone.json"}));
        let found = starts(&[("manifest", &manifest)], Some(&content), "/p");
        assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
    }

    #[test]
    fn hints_and_risk_follow_what_is_said_and_what_is_there() {
        let manifest =
            object(json!({"skills": ["a"], "hooks": {}, "interface": {"logo": "l.png"}}));
        let hints = declared(&manifest);
        assert_eq!(hints, Hints { skills: true, assets: true, ..Hints::default() });
        assert_eq!(risk(hints, true), Risk::Passive);
        assert_eq!(risk(hints, false), Risk::StartsProcess);
        let there =
            present(&folder(&[("hooks/hooks.json", json!({})), ("rules/a.mdc", json!(""))]));
        assert_eq!(there, Hints { hooks: true, rules: true, ..Hints::default() });
        assert_eq!(risk(either(hints, there), true), Risk::RunsHook);
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let names = prop_oneof![
                "[a-z]{1,6}",
                Just("command".to_owned()),
                Just("args".to_owned()),
                Just("url".to_owned())
            ];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(names, inner, 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_command_is_missed(value in values(), command in "[a-z]{3,8}") {
            // A command anywhere in what hooks say is listed.
            let hidden = json!({"hooks": {"a": [value, {"deep": {"command": command.clone()}}]}});
            let manifest = object(hidden);
            let found = starts(&[("manifest", &manifest)], None, "/p");
            prop_assert!(found.commands.iter().any(|known| known.line == command));
        }
    }
}
