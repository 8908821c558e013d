//! The config file: documented keys, defaults for all, unknown keys warned about with their line.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use crate::homes::Homes;

/// Everything a user can set, as `config.toml` spells it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Config {
    /// The daemon itself.
    pub daemon: DaemonConfig,
    /// Where endpoints listen.
    pub endpoints: EndpointsConfig,
    /// Terminals.
    pub terminal: TerminalConfig,
    /// ptywright's plugins.
    pub ptywright: PtywrightConfig,
    /// Who the Roost dialect says it is.
    pub roost: RoostConfig,
    /// Supervision.
    pub idx0: Idx0Config,
}

/// `[idx0]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Idx0Config {
    /// The agent that `newSessionWithTool` starts when none is named.
    pub default_tool: Option<String>,
}

/// `[ptywright]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct PtywrightConfig {
    /// Manifests of plugins to load at the start.
    pub plugins: Vec<PathBuf>,
    /// Whether clients may load plugins from files they name.
    pub allow_plugin_load: bool,
}

/// `[roost]`
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct RoostConfig {
    /// Its name for people.
    pub app_label: String,
    /// Its name for programs.
    pub app_id: String,
}

impl Default for RoostConfig {
    fn default() -> Self {
        let settings = rookery_roost::Settings::new(PathBuf::new());
        RoostConfig { app_label: settings.app_label, app_id: settings.app_id }
    }
}

/// `[daemon]`
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct DaemonConfig {
    /// What is logged: `error`, `warn`, `info`, `debug`, `trace`, or directives per module.
    pub log: String,
}

impl Default for DaemonConfig {
    fn default() -> Self {
        DaemonConfig { log: "info".to_owned() }
    }
}

/// `[endpoints]`: a path moves an endpoint, `false` turns it off.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct EndpointsConfig {
    /// Our own socket. It cannot be turned off.
    pub rookery: EndpointConfig,
    /// The Roder socket.
    pub roder: EndpointConfig,
    /// The ptywright socket.
    pub ptywright: EndpointConfig,
    /// The Roost socket.
    pub roost: EndpointConfig,
    /// The idx0 socket.
    pub idx0: EndpointConfig,
}

/// One endpoint: where it listens, or whether it does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum EndpointConfig {
    /// At its usual place, or not at all.
    Enabled(bool),
    /// At this path.
    Path(PathBuf),
}

impl Default for EndpointConfig {
    fn default() -> Self {
        EndpointConfig::Enabled(true)
    }
}

/// `[terminal]`
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct TerminalConfig {
    /// Program of terminals that name none; the login shell if not set.
    pub shell: Option<String>,
    /// Rows of scrollback kept per terminal.
    pub scrollback: usize,
    /// Bytes of recent output kept per terminal outside the daemon.
    pub ring_bytes: u64,
    /// Characters of transcript kept per terminal.
    pub transcript_chars: usize,
    /// Ended terminals that are kept to be looked at.
    pub keep_exited: usize,
    /// Terminals at once.
    pub max_terminals: usize,
}

impl Default for TerminalConfig {
    fn default() -> Self {
        TerminalConfig {
            shell: None,
            scrollback: 10_000,
            ring_bytes: 1 << 20,
            transcript_chars: 131_072,
            keep_exited: 200,
            max_terminals: 2_000,
        }
    }
}

/// Something about the config file that the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Line in the file, from 1.
    pub line: usize,
    /// What is odd.
    pub message: String,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Config {
    /// Reads the config file. A missing file is all defaults; a broken one is all defaults and a warning.
    pub fn load(homes: &Homes) -> (Config, Vec<Warning>) {
        let path = homes.config_file();
        match std::fs::read_to_string(&path) {
            Ok(text) => Config::parse(&text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                (Config::default(), Vec::new())
            }
            Err(error) => {
                let message = format!("cannot read {}: {error}; using defaults", path.display());
                (Config::default(), vec![Warning { line: 1, message }])
            }
        }
    }

    /// Reads a config text.
    pub fn parse(text: &str) -> (Config, Vec<Warning>) {
        let mut unknown = Vec::new();
        let parsed = toml::Deserializer::parse(text).and_then(|deserializer| {
            serde_ignored::deserialize(deserializer, |path| unknown.push(path.to_string()))
        });
        match parsed {
            Ok(config) => {
                let warnings = unknown
                    .into_iter()
                    .filter(|key| !is_of_agents(key))
                    .map(|key| Warning {
                        line: line_of_key(text, &key),
                        message: format!("unknown key `{key}` is ignored{}", suggestion(&key)),
                    })
                    .collect();
                (config, warnings)
            }
            Err(error) => {
                let line = error.span().map_or(1, |span| line_at(text, span.start));
                let message = format!("{}; using defaults", error.message());
                (Config::default(), vec![Warning { line, message }])
            }
        }
    }

    /// Where an endpoint listens, given its usual place.
    pub fn endpoint(config: &EndpointConfig, usual: &Path) -> Option<PathBuf> {
        match config {
            EndpointConfig::Enabled(false) => None,
            EndpointConfig::Enabled(true) => Some(usual.to_owned()),
            EndpointConfig::Path(path) => Some(path.clone()),
        }
    }
}

/// Which key was probably meant instead of an unknown one.
fn suggestion(key: &str) -> String {
    let (parent, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut settings = schemars::generate::SchemaSettings::default();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    let mut table = &schema;
    for part in parent.split('.').filter(|part| !part.is_empty()) {
        table = &table["properties"][part];
    }
    let own = table["properties"].as_object().into_iter().flat_map(|known| known.keys());
    let of_agents = rookery_agent::settings::TOP_LEVEL.iter().filter(|_| parent.is_empty());
    let names = own.map(String::as_str).chain(of_agents.copied());
    match rookery_agent::settings::likeliest(name, names) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None => String::new(),
    }
}

/// Whether a key is one of those that agents read from the same file by themselves.
fn is_of_agents(key: &str) -> bool {
    let first = key.split('.').next().unwrap_or(key);
    rookery_agent::settings::TOP_LEVEL.contains(&first)
}

fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The line on which a dotted key stands.
fn line_of_key(text: &str, key: &str) -> usize {
    let Ok(root) = DeTable::parse(text) else { return 1 };
    let mut table = root.get_ref();
    let mut line = 1;
    for part in key.split('.') {
        let Some((name, value)) = table.iter().find(|(name, _)| name.get_ref() == part) else {
            break;
        };
        line = line_at(text, name.span().start);
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_named_with_their_line() {
        let text = "# ours\n[terminal]\nscrollback = 5\nscrolback = 7\n\n[endpoint]\nx = 1\n";
        let (config, warnings) = Config::parse(text);
        assert_eq!(config.terminal.scrollback, 5);
        let texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "line 6: unknown key `endpoint` is ignored; did you mean `endpoints`?",
                "line 4: unknown key `terminal.scrolback` is ignored; did you mean `scrollback`?"
            ]
        );
    }

    #[test]
    fn a_broken_file_is_said_with_its_line_and_changes_nothing() {
        let (config, warnings) = Config::parse("[terminal]\nscrollback = \"many\"\n");
        assert_eq!(config, Config::default());
        assert_eq!(warnings[0].line, 2);
        assert!(warnings[0].message.contains("using defaults"), "{warnings:?}");
    }

    #[test]
    fn endpoints_move_and_turn_off() {
        let (config, _) =
            Config::parse("[endpoints]\nptywright = false\nrookery = \"/x/y.sock\"\n");
        let usual = Path::new("/usual");
        assert_eq!(Config::endpoint(&config.endpoints.ptywright, usual), None);
        assert_eq!(
            Config::endpoint(&config.endpoints.rookery, usual).unwrap(),
            Path::new("/x/y.sock")
        );
        assert_eq!(Config::endpoint(&EndpointConfig::default(), usual).unwrap(), usual);
    }
}
