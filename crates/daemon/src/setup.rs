//! What this machine has that can answer as an agent, and how it is written into the settings.
//!
//! Looking changes nothing, and no key is ever read beyond whether there is one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rookery_agent::providers::{KnownProvider, known_providers};
use rookery_agent::settings::{Edit, Settings};
use rookery_host::{
    FoundTool, SettingsFile, SettingsFileError, find_agent_tools, find_program, http,
};
use serde_json::Value;

use crate::agent::AgentPaths;
use crate::homes::Homes;
use crate::run::{login_shell, user_home};

/// How long a server on this machine may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest list of models that is read.
const LIST_LIMIT: usize = 4 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Providers whose key is in the environment.
    pub keys: Vec<FoundKey>,
    /// Agents that are installed.
    pub agents: Vec<FoundAgent>,
    /// Servers of models that run on this machine.
    pub servers: Vec<FoundServer>,
}

/// A provider whose key is in the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundKey {
    /// The provider's id.
    pub provider: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// The variable that has the key.
    pub variable: &'static str,
}

/// An agent that is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundAgent {
    /// What it is called as a provider.
    pub provider: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Where its program is.
    pub path: PathBuf,
    /// What starts it as a provider; none if it needs an adapter that is not installed.
    pub command: Option<Vec<String>>,
    /// The program of that adapter, if it needs one.
    pub adapter: Option<&'static str>,
    /// Whether it can be made to report what it does.
    pub has_hooks: bool,
}

/// A server of models on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundServer {
    /// The provider's id.
    pub provider: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Where it is.
    pub base_url: String,
    /// Whether it is where it is looked for without any setting.
    pub is_usual: bool,
    pub models: Vec<String>,
}

/// Looks for keys, agents and servers. Takes about a second at most.
pub async fn find() -> Found {
    let path = std::env::var_os("PATH");
    let shell = login_shell();
    let tools = find_agent_tools(path.clone(), &shell, user_home());
    let (tools, servers) = tokio::join!(tools, find_servers());
    let agents = tools.iter().filter_map(|tool| agent(tool, path.as_ref())).collect();
    Found { keys: keys(|name| std::env::var_os(name)), agents, servers }
}

fn keys(variable: impl Fn(&str) -> Option<OsString>) -> Vec<FoundKey> {
    let has_value = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let key = |known: KnownProvider| {
        let name = known.key_variable.filter(|name| has_value(name))?;
        Some(FoundKey { provider: known.id, name: known.name, variable: name })
    };
    known_providers().filter_map(key).collect()
}

fn agent(found: &FoundTool, path: Option<&OsString>) -> Option<FoundAgent> {
    let program = found.path.clone()?;
    let recipe = found.tool.acp.as_ref()?;
    let find = |name: &str| find_program(name.as_ref(), path.map(|path| &**path), Path::new("/"));
    // An adapter may lie beside what it adapts, outside of PATH.
    let beside = |name: &str| Some(program.with_file_name(name)).filter(|file| file.is_file());
    let start = match &*recipe.adapters {
        [] => Some(program.clone()),
        adapters => adapters.iter().find_map(|name| find(name).or_else(|| beside(name))),
    };
    let command = start.and_then(|start| {
        let is_in_path = |name: &str| find(name).is_some_and(|known| known == start);
        let name = start.file_name()?.to_str()?.to_owned();
        let first = if is_in_path(&name) { name } else { start.to_str()?.to_owned() };
        let arguments = recipe.arguments.iter().cloned();
        Some(std::iter::once(first).chain(arguments).collect())
    });
    Some(FoundAgent {
        provider: &recipe.provider,
        name: &found.tool.name,
        path: program,
        command,
        adapter: recipe.adapters.first().map(String::as_str),
        has_hooks: found.tool.hooks.is_some(),
    })
}

async fn find_servers() -> Vec<FoundServer> {
    let client = http::Client::new();
    let mut found = Vec::new();
    for known in known_providers().filter(|known| known.key_variable.is_none()) {
        let named = (known.id == "ollama").then(|| std::env::var("OLLAMA_HOST").ok()).flatten();
        let base_url = named.as_deref().and_then(ollama_url);
        let is_usual = base_url.as_deref().is_none_or(|url| url == known.base_url);
        let base_url = base_url.unwrap_or_else(|| known.base_url.to_owned());
        if let Some(models) = models(&client, &base_url).await {
            let (provider, name) = (known.id, known.name);
            found.push(FoundServer { provider, name, base_url, is_usual, models });
        }
    }
    found
}

/// Where Ollama's own variable says that it is.
fn ollama_url(host: &str) -> Option<String> {
    let host = host.trim().trim_end_matches('/');
    let (scheme, host) = host.split_once("://").unwrap_or(("http", host));
    if host.is_empty() || host.contains('/') {
        return None;
    }
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let host = if has_port { host.to_owned() } else { format!("{host}:11434") };
    // What a server binds is not always what a client reaches.
    Some(format!("{scheme}://{}/v1", host.replacen("0.0.0.0", "127.0.0.1", 1)))
}

/// The models that a server lists; none if there is no such server.
async fn models(client: &http::Client, base_url: &str) -> Option<Vec<String>> {
    let request = http::Request {
        url: format!("{base_url}/models"),
        idle: PATIENCE,
        ..http::Request::default()
    };
    let mut response = tokio::time::timeout(PATIENCE, client.send(request)).await.ok()?.ok()?;
    let body = response.bytes(LIST_LIMIT).await.ok().filter(|_| response.status() == 200)?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    let ids = body.get("data")?.as_array()?.iter();
    Some(ids.filter_map(|model| Some(model.get("id")?.as_str()?.to_owned())).collect())
}

/// The settings as they are, and the file that they are in.
pub struct Present {
    /// The file, which need not be there.
    pub file: PathBuf,
    /// Who answers in new threads, if that was chosen.
    pub provider: Option<String>,
    /// Providers that have settings.
    pub providers: Vec<String>,
}

/// Reads the settings of agents.
///
/// # Errors
/// If the file cannot be read or is broken; it is never written over then.
pub fn present(homes: &Homes) -> Result<Present, SettingsFileError> {
    let file = AgentPaths::from_homes(homes).settings_file();
    let (settings, _) = Settings::read(&SettingsFile::new(&file).read()?);
    Ok(Present {
        file,
        provider: settings.provider,
        providers: settings.providers.into_keys().collect(),
    })
}

/// What is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Who answers in new threads.
    pub provider: Option<String>,
    /// Agents as providers: what they are called, and what starts them.
    pub agents: Vec<(String, Vec<String>)>,
    /// Where providers are.
    pub base_urls: Vec<(String, String)>,
}

impl Change {
    fn edits(&self) -> Vec<Edit> {
        let agents = self.agents.iter().map(|(provider, command)| Edit::Agent {
            provider: provider.clone(),
            command: command.clone(),
        });
        let urls = self
            .base_urls
            .iter()
            .map(|(provider, url)| Edit::BaseUrl { provider: provider.clone(), url: url.clone() });
        let selection = self.provider.clone().map(|provider| Edit::Selection {
            provider,
            model: None,
            reasoning: None,
        });
        selection.into_iter().chain(urls).chain(agents).collect()
    }

    /// The text of the file as it is, and as it would be.
    ///
    /// # Errors
    /// If the file cannot be read or is broken.
    pub fn preview(&self, file: &Path) -> Result<(String, String), SettingsFileError> {
        let mut document = SettingsFile::new(file).read()?;
        let before = document.to_string();
        self.edits().iter().try_for_each(|edit| edit.apply(&mut document))?;
        Ok((before, document.to_string()))
    }

    /// Writes it.
    ///
    /// # Errors
    /// If the file cannot be read or written, or is broken; nothing has changed then.
    pub fn write(&self, file: &Path) -> Result<(), SettingsFileError> {
        let edits = self.edits();
        let change = |document: &mut _| edits.iter().try_for_each(|edit| edit.apply(document));
        SettingsFile::new(file).edit(change).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_count_only_if_they_have_a_value() {
        let set = |name: &str| match name {
            "ANTHROPIC_API_KEY" => Some("sk".into()),
            "OPENAI_API_KEY" => Some(OsString::new()),
            _ => None,
        };
        let found = keys(set);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].provider, found[0].variable), ("anthropic", "ANTHROPIC_API_KEY"));
    }

    #[test]
    fn the_variable_of_ollama_is_understood() {
        for (host, url) in [
            ("0.0.0.0", Some("http://127.0.0.1:11434/v1")),
            ("box:1234", Some("http://box:1234/v1")),
            ("https://box/", Some("https://box:11434/v1")),
            ("", None),
            ("http://box/path", None),
        ] {
            assert_eq!(ollama_url(host).as_deref(), url, "{host}");
        }
    }

    #[test]
    fn a_change_keeps_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        std::fs::write(&file, "# mine\n[terminal]\nscrollback = 5 # few\n").unwrap();
        let change = Change {
            provider: Some("gemini".to_owned()),
            agents: vec![("gemini".to_owned(), vec!["gemini".to_owned(), "--acp".to_owned()])],
            base_urls: vec![("ollama".to_owned(), "http://127.0.0.1:1/v1".to_owned())],
        };
        let (before, after) = change.preview(&file).unwrap();
        assert_eq!(before, std::fs::read_to_string(&file).unwrap(), "looking changes nothing");
        change.write(&file).unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        assert_eq!(written, after);
        for part in [
            "# mine",
            "scrollback = 5 # few",
            "provider = \"gemini\"",
            "[providers.gemini]",
            "command = [\"gemini\", \"--acp\"]",
            "base_url = \"http://127.0.0.1:1/v1\"",
        ] {
            assert!(written.contains(part), "{part}: {written}");
        }
        let document = SettingsFile::new(&file).read().unwrap();
        let (settings, warnings) = Settings::read(&document);
        assert_eq!((settings.provider.as_deref(), warnings.len()), (Some("gemini"), 0));
    }
}
