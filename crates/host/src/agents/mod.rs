//! Coding agents with a command of their own: the one list of those that are known, and where they
//! are installed.
//!
//! The list is data, `agents.toml`. It is here because this is where processes are recognised and
//! programs are found; everything above the machine reads it from here.

mod find;

use std::sync::LazyLock;

use serde::Deserialize;

pub use find::{FoundTool, find_agent_tools};

/// A coding agent: what is known of it everywhere. The fields are explained in `agents.toml`.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownAgent {
    /// What it is called here.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What its program may be called, the usual name first.
    #[serde(default)]
    pub programs: Vec<String>,
    /// Node packages whose scripts are the agent.
    #[serde(default)]
    packages: Vec<String>,
    /// The plugin that reads its screen.
    #[serde(default)]
    pub adapter: Option<String>,
    /// How it is started as a provider, if it speaks the Agent Client Protocol.
    #[serde(default)]
    pub acp: Option<AcpAgent>,
    /// What `rookery hooks` calls it, if it can be made to report by hooks.
    #[serde(default)]
    pub hooks: Option<String>,
    /// How shells report what it does.
    #[serde(default)]
    pub report: Option<ReportWord>,
}

/// An agent as a provider.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcpAgent {
    /// What it is called as a provider.
    pub provider: String,
    /// Programs that adapt it; its own program if there are none.
    #[serde(default)]
    pub adapters: Vec<String>,
    /// What the program is started with.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The variables that it reads keys from.
    #[serde(default)]
    pub keys: Vec<String>,
}

/// A word in the reports of shells.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportWord {
    pub word: String,
    /// Whether every name that begins with it means the agent.
    #[serde(default)]
    pub prefix: bool,
}

impl KnownAgent {
    /// The usual name of its program; empty if it has none.
    #[must_use]
    pub fn program(&self) -> &str {
        self.programs.first().map_or("", String::as_str)
    }
}

/// The agents that are known, in the order in which they are shown.
#[must_use]
pub fn known_agents() -> &'static [KnownAgent] {
    static AGENTS: LazyLock<Vec<KnownAgent>> = LazyLock::new(|| {
        read(include_str!("agents.toml")).unwrap_or_else(|error| {
            // Only a broken build gets here, and a test reads the list.
            tracing::error!(%error, "no coding agent is known");
            Vec::new()
        })
    });
    &AGENTS
}

/// The coding agent whose program has this name.
#[must_use]
pub fn agent_of_program(name: &str) -> Option<&'static KnownAgent> {
    known_agents().iter().find(|agent| agent.programs.iter().any(|program| program == name))
}

/// The variables that an agent reads keys from when it is a provider, by what it is called there or by
/// the program that is started.
#[must_use]
pub fn agent_keys(provider: &str, program: &str) -> &'static [String] {
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_of = |agent: &KnownAgent, acp: &AcpAgent| {
        let mut programs = acp.adapters.iter().chain(&agent.programs);
        acp.provider == provider || programs.any(|program| program == name)
    };
    let mut all = known_agents().iter().filter_map(|agent| Some((agent, agent.acp.as_ref()?)));
    all.find(|(agent, acp)| is_of(agent, acp)).map_or(&[], |(_, acp)| &acp.keys)
}

/// The coding agent whose script comes in a node package of this name.
pub(crate) fn agent_of_package(name: &str) -> Option<&'static KnownAgent> {
    let is_of = |agent: &&KnownAgent| agent.packages.iter().any(|package| package == name);
    known_agents().iter().find(is_of).or_else(|| agent_of_program(name))
}

fn read(text: &str) -> Result<Vec<KnownAgent>, toml::de::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        agents: Vec<KnownAgent>,
    }
    toml::from_str::<File>(text).map(|file| file.agents)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_list_is_read_and_no_name_means_two_agents() {
        let agents = read(include_str!("agents.toml")).unwrap();
        let mut seen = HashSet::new();
        for agent in &agents {
            assert!(!agent.id.is_empty() && !agent.name.is_empty(), "{agent:?}");
            assert!(seen.insert(("id", agent.id.as_str())), "{agent:?}");
            for program in &agent.programs {
                assert!(seen.insert(("program", program)), "{program}");
            }
            let provider = agent.acp.as_ref().map(|acp| acp.provider.as_str());
            assert!(provider.is_none_or(|name| seen.insert(("provider", name))), "{agent:?}");
            assert!(agent.acp.is_none() || !agent.programs.is_empty(), "{agent:?}");
            let word = agent.report.as_ref().map(|report| report.word.as_str());
            assert!(word.is_none_or(|word| seen.insert(("word", word))), "{agent:?}");
        }
        assert_eq!(agents, known_agents());
    }

    #[test]
    fn an_agent_is_known_by_its_programs_and_packages() {
        assert_eq!(agent_of_program("gemini").unwrap().id, "gemini-cli");
        assert_eq!(agent_of_program("gemini").unwrap().program(), "gemini-cli");
        assert_eq!(agent_of_package("claude-code").unwrap().id, "claude");
        assert_eq!(agent_of_package("codex").unwrap().id, "codex");
        for unknown in ["", "roo", "claude-code"] {
            assert_eq!(agent_of_program(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_field_that_is_not_known_is_not_skipped_in_silence() {
        let one = "[[agents]]\nid = \"x\"\nname = \"X\"\nprogram = [\"x\"]\n";
        assert!(read(one).unwrap_err().to_string().contains("program"));
        assert_eq!(read(&one.replace("program", "programs")).unwrap()[0].program(), "x");
    }
}
