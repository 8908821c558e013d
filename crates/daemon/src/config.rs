//! The config file: documented keys, defaults for all, unknown keys warned about with their line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rookery_dialects::Dialect;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
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
    /// Where tasks of Roo Code are taken.
    pub roo: RooConfig,
    /// Background tasks.
    pub tasks: TasksConfig,
    /// The page for browsers.
    pub web: WebConfig,
    /// Those who look.
    pub faces: FacesConfig,
}

/// `[web]`
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct WebConfig {
    /// Whether the page is served without being turned on.
    pub enabled: bool,
    /// Where it is served: an IP address and a port.
    pub listen: String,
    /// Further addresses that pages may come from, such as `https://box.example.ts.net`.
    pub origins: Vec<String>,
    /// The certificates, in PEM, if it is served encrypted.
    pub tls_cert: Option<PathBuf>,
    /// Their private key, in PEM.
    pub tls_key: Option<PathBuf>,
    /// What devices may do for which nothing is said: `full`, `decide` or `look`.
    pub default_rights: DeviceRights,
}

impl Default for WebConfig {
    fn default() -> Self {
        WebConfig {
            enabled: false,
            listen: "127.0.0.1:7665".to_owned(),
            origins: Vec::new(),
            tls_cert: None,
            tls_key: None,
            default_rights: DeviceRights::Full,
        }
    }
}

/// What a device may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeviceRights {
    /// See, without secrets.
    Look,
    /// And answer what agents ask.
    Decide,
    /// Everything but the daemon itself.
    Full,
}

impl From<DeviceRights> for rookery_core::ViewerRights {
    fn from(rights: DeviceRights) -> Self {
        match rights {
            DeviceRights::Look => Self::Look,
            DeviceRights::Decide => Self::Decide,
            DeviceRights::Full => Self::Full,
        }
    }
}

/// `[faces]`
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct FacesConfig {
    /// How many viewers there may be, from 1 to 1,000.
    #[serde(deserialize_with = "viewers")]
    #[schemars(range(min = 1, max = 1000))]
    pub max_viewers: usize,
}

impl Default for FacesConfig {
    fn default() -> Self {
        FacesConfig { max_viewers: rookery_core::MAX_VIEWERS }
    }
}

fn viewers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let number = usize::deserialize(deserializer)?;
    match (1..=1_000).contains(&number) {
        true => Ok(number),
        false => Err(serde::de::Error::custom("max_viewers must be from 1 to 1000")),
    }
}

/// `[tasks]`
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct TasksConfig {
    /// How many run at once, from 1 to 64; the others wait.
    #[serde(deserialize_with = "running_tasks")]
    #[schemars(range(min = 1, max = 64))]
    pub max_running: usize,
}

impl Default for TasksConfig {
    fn default() -> Self {
        TasksConfig { max_running: rookery_core::USUAL_RUNNING_TASKS }
    }
}

fn running_tasks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let number = usize::deserialize(deserializer)?;
    match (1..=64).contains(&number) {
        true => Ok(number),
        false => Err(serde::de::Error::custom("max_running must be from 1 to 64")),
    }
}

/// `[roo]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct RooConfig {
    /// Further listeners, and settings of the two that are always there (`roo` and `roo-code`).
    pub listeners: Vec<ListenerConfig>,
}

/// `[[roo.listeners]]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct ListenerConfig {
    /// Its name; `roo` and `roo-code` are the two that are always there.
    pub name: String,
    /// The socket; absolute.
    pub path: Option<PathBuf>,
    /// The shape of events: `seed` or `published`.
    pub shape: Option<String>,
    /// The directory that its tasks work in; the one the daemon was started in if none is named.
    pub workspace: Option<PathBuf>,
    /// Which events its connections get: `auto`, `broadcast` or `own`.
    pub delivery: Option<String>,
    /// The policy mode of its tasks; the world's if none is named.
    pub mode: Option<String>,
    /// An address to listen at over TCP; other machines need `token`.
    pub tcp: Option<std::net::SocketAddr>,
    /// What clients that come over TCP have to say first.
    pub token: Option<String>,
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

/// `[endpoints]`: a path moves an endpoint, `false` turns it off. A key per dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointsConfig(BTreeMap<&'static str, EndpointConfig>);

impl EndpointsConfig {
    /// What is said of an endpoint.
    pub fn of(&self, endpoint: &str) -> &EndpointConfig {
        const USUAL: &EndpointConfig = &EndpointConfig::Enabled(true);
        self.0.get(endpoint).unwrap_or(USUAL)
    }

    /// Says something of an endpoint.
    pub(crate) fn set(&mut self, endpoint: &'static str, config: EndpointConfig) {
        self.0.insert(endpoint, config);
    }
}

impl<'de> Deserialize<'de> for EndpointsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Table;

        impl<'de> Visitor<'de> for Table {
            type Value = EndpointsConfig;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a table of endpoints")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EndpointsConfig, A::Error> {
                let mut endpoints = EndpointsConfig::default();
                while let Some(name) = map.next_key::<String>()? {
                    match Dialect::at(&name) {
                        Some(known) => endpoints.set(known.endpoint.name, map.next_value()?),
                        None => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(endpoints)
            }
        }

        deserializer.deserialize_map(Table)
    }
}

impl schemars::JsonSchema for EndpointsConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EndpointsConfig".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let endpoint = generator.subschema_for::<EndpointConfig>();
        let names = rookery_dialects::listening().map(|dialect| dialect.endpoint.name.to_owned());
        let properties: serde_json::Map<_, _> =
            names.map(|name| (name, endpoint.clone().to_value())).collect();
        schemars::json_schema!({ "type": "object", "properties": properties })
    }
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

    /// Reads the config file again, for settings that take effect while the daemon runs.
    ///
    /// # Errors
    /// What is wrong with the file, if it cannot be read.
    pub(crate) fn reread(homes: &Homes) -> Result<Config, String> {
        let path = homes.config_file();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        let read = Config::read(&text);
        read.map(|(config, _)| config).map_err(|wrong| format!("{}: {wrong}", path.display()))
    }

    /// Reads a config text; a broken one is all defaults and a warning.
    pub fn parse(text: &str) -> (Config, Vec<Warning>) {
        Config::read(text).unwrap_or_else(|Warning { line, message }| {
            let message = format!("{message}; using defaults");
            (Config::default(), vec![Warning { line, message }])
        })
    }

    /// Reads a config text, or says what is wrong with it.
    fn read(text: &str) -> Result<(Config, Vec<Warning>), Warning> {
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
                Ok((config, warnings))
            }
            Err(error) => {
                let line = error.span().map_or(1, |span| line_at(text, span.start));
                Err(Warning { line, message: error.message().to_owned() })
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
        assert_eq!(Config::endpoint(config.endpoints.of("ptywright"), usual), None);
        assert_eq!(
            Config::endpoint(config.endpoints.of("rookery"), usual).unwrap(),
            Path::new("/x/y.sock")
        );
        assert_eq!(Config::endpoint(config.endpoints.of("roost"), usual).unwrap(), usual);
    }

    #[test]
    fn an_endpoint_that_no_dialect_has_is_named() {
        let (config, warnings) = Config::parse("[endpoints]\nrost = false\nidx0 = 7\n");
        assert_eq!(config, Config::default());
        assert_eq!(warnings[0].line, 3, "{warnings:?}");
        let (config, warnings) = Config::parse("[endpoints]\nrost = false\nroost = false\n");
        assert_eq!(*config.endpoints.of("roost"), EndpointConfig::Enabled(false));
        let texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let expected = "line 2: unknown key `endpoints.rost` is ignored; did you mean `roost`?";
        assert_eq!(texts, [expected]);
    }
}
