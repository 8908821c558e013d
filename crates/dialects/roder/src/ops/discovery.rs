//! What there is: our features as extensions, models, tools and kinds of agents.

use std::collections::BTreeMap;

use rookery_agent::tools::TOOLS;
use rookery_marketplace as market;
use rookery_wire::rpc::NoParams;

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::discovery::{
    CapabilityStatus, Decision, Extension, ExtensionsListResult, Model, ModelListResult, Provides,
    RequiredCapability, ToolSpec, ToolsListResult,
};
use crate::wire::dual::Dual;

/// The provider of images that reaches nothing.
const FAKE: &str = "fake";
/// The provider of memories that goes by words.
const BY_WORDS: &str = "local";

/// The version of the interface that our own features are made for.
const API_VERSION: &str = "1";

/// One built-in feature.
struct Feature {
    id: &'static str,
    name: &'static str,
    description: &'static str,
    provides: &'static [(Kind, &'static str)],
    /// What it has to be allowed, and what for.
    needs: &'static [(&'static str, &'static str)],
}

/// Makes an entry of what a feature provides.
type Kind = fn(String) -> Provides;

/// An extension, and what it was allowed.
type Entry = (Extension, (String, Vec<CapabilityStatus>));

const NETWORK: (&str, &str) = ("network.http", "to reach the models");
const NETWORK_RUNNER: (&str, &str) = ("network.http", "to reach the runner");
const NETWORK_SERVICE: (&str, &str) = ("network.http", "to reach the service");
const READING: (&str, &str) = ("fs.read.workspace", "to read files of the workspace");
const WRITING: (&str, &str) = ("fs.readwrite.workspace", "to change files of the workspace");
const RUNNING: (&str, &str) = ("process.spawn.shell", "to run commands");
const STATE: (&str, &str) = ("state.readwrite", "to keep what outlives the server");

/// Our built-in features, by id.
const FEATURES: &[Feature] = &[
    Feature {
        id: "anthropic",
        name: "Anthropic",
        description: "Claude models by Anthropic's Messages API",
        provides: &[(Provides::InferenceEngine, "anthropic")],
        needs: &[NETWORK],
    },
    Feature {
        id: "checkpoints",
        name: "Checkpoints",
        description: "Keeps the files of a project as they were, and brings them back",
        provides: &[(Provides::CheckpointStore, "checkpoints")],
        needs: &[READING, WRITING, STATE],
    },
    Feature {
        id: "coding-tools",
        name: "Coding tools",
        description: "Reads, searches, edits and patches files, and runs commands",
        provides: &[(Provides::ToolProvider, "coding-tools")],
        needs: &[READING, WRITING, RUNNING],
    },
    Feature {
        id: "context-artifacts",
        name: "Context artifacts",
        description: "Keeps long results whole, to be read in parts",
        provides: &[(Provides::ToolProvider, "context-artifacts")],
        needs: &[STATE],
    },
    Feature {
        id: "git",
        name: "Git",
        description: "Says what changed in a repository, and takes back what tools changed",
        provides: &[(Provides::VersionControlProvider, "git")],
        needs: &[READING, WRITING],
    },
    Feature {
        id: "goals",
        name: "Goals",
        description: "What a thread is to reach, and how far it got",
        provides: &[(Provides::ToolProvider, "goals")],
        needs: &[STATE],
    },
    Feature {
        id: "imports",
        name: "Imports",
        description: "Uses files of other agents that the user enabled: skills, commands, servers, hooks",
        provides: &[(Provides::ContextProvider, "imports"), (Provides::ToolProvider, "imports")],
        needs: &[STATE],
    },
    Feature {
        id: "media",
        name: "Media",
        description: "Keeps images and other files, shows them and has them made",
        provides: &[],
        needs: &[STATE],
    },
    Feature {
        id: "memory",
        name: "Memory",
        description: "Keeps what is to be known in other threads, and tells turns what fits",
        provides: &[(Provides::MemoryStore, "memory"), (Provides::ToolProvider, "memory")],
        needs: &[STATE],
    },
    Feature {
        id: "mock",
        name: "Mock provider",
        description: "Scripted answers without any network, for tests",
        provides: &[(Provides::InferenceEngine, "mock")],
        needs: &[],
    },
    Feature {
        id: "openai",
        name: "OpenAI",
        description: "GPT models by OpenAI's Responses API",
        provides: &[(Provides::InferenceEngine, "openai")],
        needs: &[NETWORK],
    },
    Feature {
        id: "plan-mode",
        name: "Plan mode",
        description: "Plans before it changes anything, and asks before it goes on",
        provides: &[
            (Provides::PolicyContributor, "plan-mode"),
            (Provides::ToolProvider, "plan-mode"),
        ],
        needs: &[],
    },
    Feature {
        id: "policy",
        name: "Policy",
        description: "Says what runs at once, what is asked for and what never runs",
        provides: &[(Provides::PolicyContributor, "policy")],
        needs: &[],
    },
    Feature {
        id: "runner-docker",
        name: "Docker runner",
        description: "Runs tools in a container",
        provides: &[(Provides::RemoteRunnerProvider, "docker")],
        needs: &[READING, WRITING, RUNNING],
    },
    Feature {
        id: "runner-git-worktree",
        name: "Git worktree runner",
        description: "Runs tools in a worktree on a branch of its own",
        provides: &[(Provides::RemoteRunnerProvider, "git-worktree")],
        needs: &[READING, WRITING, RUNNING],
    },
    Feature {
        id: "runner-hosted-http",
        name: "Hosted runner",
        description: "Runs tools in a sandbox behind a REST interface",
        provides: &[(Provides::RemoteRunnerProvider, "hosted-http")],
        needs: &[NETWORK_RUNNER],
    },
    Feature {
        id: "runner-ssh",
        name: "SSH runner",
        description: "Runs tools on another machine",
        provides: &[(Provides::RemoteRunnerProvider, "ssh")],
        needs: &[RUNNING, NETWORK_RUNNER],
    },
    Feature {
        id: "runner-unix-local",
        name: "Local runner",
        description: "Runs tools in a directory of this machine",
        provides: &[(Provides::RemoteRunnerProvider, "unix-local")],
        needs: &[READING, WRITING, RUNNING],
    },
    Feature {
        id: "slash-commands",
        name: "Slash commands",
        description: "Prompts with arguments and included context",
        provides: &[(Provides::ContextProvider, "slash-commands")],
        needs: &[READING],
    },
    Feature {
        id: "subagents",
        name: "Child agents",
        description: "Starts agents for pieces of work, and traces what they do",
        provides: &[
            (Provides::SubagentDispatcher, "subagents"),
            (Provides::ToolProvider, "subagents"),
        ],
        needs: &[READING, STATE],
    },
    Feature {
        id: "task-dynamic-workflow",
        name: "Workflow tasks",
        description: "Runs scripts that start child agents, in the background",
        provides: &[(Provides::TaskExecutor, "dynamic-workflow")],
        needs: &[READING, STATE],
    },
    Feature {
        id: "task-ledger",
        name: "Task ledger",
        description: "What is to be done, what is done, and the evidence for it",
        provides: &[(Provides::ToolProvider, "task-ledger")],
        needs: &[STATE],
    },
    Feature {
        id: "task-process",
        name: "Process tasks",
        description: "Runs programs in the background, here or at a runner",
        provides: &[(Provides::TaskExecutor, "process")],
        needs: &[RUNNING, STATE],
    },
    Feature {
        id: "task-subagent",
        name: "Agent tasks",
        description: "Has child agents do pieces of work in the background",
        provides: &[(Provides::TaskExecutor, "subagent")],
        needs: &[READING, STATE],
    },
    Feature {
        id: "teams",
        name: "Teams",
        description: "Agents that work for a lead, with a mailbox for each",
        provides: &[(Provides::SubagentDispatcher, "teams")],
        needs: &[READING, STATE],
    },
    Feature {
        id: "thread-store",
        name: "Thread store",
        description: "Keeps threads, their turns and items across restarts",
        provides: &[(Provides::ThreadStore, "thread-store")],
        needs: &[STATE],
    },
    Feature {
        id: "user-input",
        name: "User input",
        description: "Asks the user questions in the middle of a turn",
        provides: &[(Provides::ToolProvider, "user-input")],
        needs: &[],
    },
];

pub(crate) async fn extensions(cx: Cx, _: NoParams) -> Result<Dual<ExtensionsListResult>, Error> {
    let providers = cx.core.agents().providers().into_iter();
    let mut listed = list_features(providers.map(|info| (info.id, info.name)).collect());
    for (extension, (id, statuses)) in services(&cx) {
        listed.extensions.push(Dual(extension));
        listed.capability_statuses.insert(id, statuses);
    }
    for plugin in enabled_plugins(&cx).await {
        let (extension, (id, statuses)) = plugin;
        listed.extensions.push(Dual(extension));
        listed.capability_statuses.insert(id, statuses);
    }
    Ok(Dual(listed))
}

/// The providers of images and of vectors that are set up.
fn services(cx: &Cx) -> Vec<Entry> {
    let images = cx.core.media().image_providers().into_iter().map(|it| {
        let needs: &[_] = if it.id == FAKE { &[] } else { &[NETWORK_SERVICE] };
        let provides = vec![Provides::MediaGenerator(it.id.clone())];
        entry(format!("media-{}", it.id), it.name, "Makes images".to_owned(), provides, needs)
    });
    // That of words makes no vectors.
    let vectors = cx.core.memories().providers().into_iter().filter(|it| it.id != BY_WORDS);
    let vectors = vectors.map(|it| {
        let about = "Finds memories by what they mean".to_owned();
        let provides = vec![Provides::EmbeddingProvider(it.id.clone())];
        entry(format!("memory-{}", it.id), it.name, about, provides, &[NETWORK_SERVICE])
    });
    images.chain(vectors).collect()
}

/// The plugins that are installed and switched on, by their keys.
async fn enabled_plugins(cx: &Cx) -> Vec<Entry> {
    let room = cx.core.marketplaces();
    // Plugins that cannot be read hide no built-in feature.
    let mut installed = room.installed().await.unwrap_or_default();
    installed.retain(|plugin| plugin.state == market::InstallState::Installed);
    let mut listed = Vec::new();
    for plugin in installed {
        let known = room.plugin(&plugin.marketplace_id, &plugin.plugin_id).await;
        listed.push(plugin_entry(plugin, known.ok().flatten()));
    }
    listed
}

/// A plugin as its record and, if that is still there, its catalog have it.
fn plugin_entry(plugin: market::Installed, known: Option<market::Entry>) -> Entry {
    let key = plugin.variant_key;
    let hints = known.as_ref().map(|known| known.component_hints).unwrap_or_default();
    let is_text = hints.skills || hints.commands || hints.agents || hints.rules;
    let starts = hints.mcp_servers || hints.hooks || hints.apps || hints.lsp_servers;
    let provides: [(bool, Kind); 3] = [
        (is_text, Provides::ContextProvider),
        (hints.mcp_servers, Provides::ToolProvider),
        (hints.hooks, Provides::PolicyContributor),
    ];
    let (id, reason) = (RUNNING.0, "each part is enabled by itself, in a workspace");
    let needed = starts.then(|| RequiredCapability {
        id: id.to_owned(),
        reason: Some("to start its servers and hooks".to_owned()),
    });
    let status = needed.iter().map(|_| CapabilityStatus {
        id: id.to_owned(),
        decision: Decision::Requested,
        reason: Some(reason.to_owned()),
    });
    let statuses = (key.clone(), status.collect());
    let description = known.as_ref().and_then(|known| known.description.clone());
    let usual = || format!("A plugin of the marketplace {}", plugin.marketplace_id);
    let extension = Extension {
        name: known.map_or(plugin.plugin_id, |known| known.display_name),
        version: semantic(plugin.version.as_deref().unwrap_or_default()),
        api_version: API_VERSION.to_owned(),
        description: description.unwrap_or_else(usual),
        provides: provides.iter().filter(|(is, _)| *is).map(|(_, of)| of(key.clone())).collect(),
        required_capabilities: needed.into_iter().collect(),
        id: key,
    };
    (extension, statuses)
}

/// A version as clients of this protocol read one: three numbers. Plugins call theirs what they like.
fn semantic(version: &str) -> String {
    let core = version.trim().trim_start_matches('v');
    let core = core.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<Option<u64>> = core.split('.').map(|part| part.parse().ok()).collect();
    let number = |at: usize| match parts.get(at) {
        Some(number) => *number,
        None => Some(0),
    };
    match (parts.len(), number(0), number(1), number(2)) {
        (..=3, Some(major), Some(minor), Some(patch)) => format!("{major}.{minor}.{patch}"),
        _ => "0.0.0".to_owned(),
    }
}

/// What is built in, then each provider that is set up and has no entry there.
fn list_features(providers: Vec<(String, String)>) -> ExtensionsListResult {
    let is_own = |id: &str| FEATURES.iter().any(|feature| feature.id == id);
    let others = providers.into_iter().filter(|(id, _)| !is_own(id));
    let others = others.map(|(id, name)| {
        let description = format!("Models of {name}");
        let provides = vec![Provides::InferenceEngine(id.clone())];
        entry(id, name, description, provides, &[NETWORK])
    });
    let built_in = FEATURES.iter().map(|feature| {
        let named = feature.provides.iter().map(|(kind, id)| kind((*id).to_owned()));
        let [id, name, description] =
            [feature.id, feature.name, feature.description].map(str::to_owned);
        entry(id, name, description, named.collect(), feature.needs)
    });
    let (extensions, granted): (Vec<_>, Vec<_>) = built_in.chain(others).unzip();
    ExtensionsListResult {
        extensions: extensions.into_iter().map(Dual).collect(),
        capability_statuses: granted.into_iter().collect::<BTreeMap<_, _>>(),
    }
}

/// An extension, and what it was allowed: all that is built in is.
fn entry(
    id: String,
    name: String,
    description: String,
    provides: Vec<Provides>,
    needs: &[(&str, &str)],
) -> Entry {
    let status = |(id, _): &(&str, &str)| CapabilityStatus {
        id: (*id).to_owned(),
        decision: Decision::Granted,
        reason: Some("built in".to_owned()),
    };
    let needed = |(id, reason): &(&str, &str)| RequiredCapability {
        id: (*id).to_owned(),
        reason: Some((*reason).to_owned()),
    };
    let granted = (id.clone(), needs.iter().map(status).collect());
    let extension = Extension {
        id,
        name,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        api_version: API_VERSION.to_owned(),
        description,
        provides,
        required_capabilities: needs.iter().map(needed).collect(),
    };
    (extension, granted)
}

pub(crate) async fn models(cx: Cx, _: NoParams) -> Result<ModelListResult, Error> {
    let usual = cx.choice();
    let mut has_default = false;
    let mut models = Vec::new();
    for (provider, listed) in cx.core.agents().model_providers(&cx.client.keys()).await {
        for model in listed {
            let is_usual = provider.id == usual.provider && model.id == usual.model;
            // A server may list a model twice; only one of them is it.
            let is_default = is_usual && !has_default;
            has_default |= is_default;
            models.push(Model {
                id: model.id,
                name: model.name,
                model_provider: provider.id.clone(),
                default_reasoning_effort: model.default_reasoning,
                reasoning_efforts: model.reasoning.into_iter().map(|(effort, _)| effort).collect(),
                is_default,
            });
        }
    }
    Ok(ModelListResult { models })
}

pub(crate) async fn tools(cx: Cx, _: NoParams) -> Result<ToolsListResult, Error> {
    let settings = cx.core.agents().settings();
    let allowed = &settings.tools.allowlist;
    let is_there = |name: &str| allowed.is_empty() || allowed.iter().any(|known| known == name);
    // Threads of this dialect have no assignment.
    let own = TOOLS.iter().filter(|tool| !tool.needs_assignment);
    let listed = own.filter(|tool| is_there(tool.name)).map(|tool| ToolSpec {
        name: tool.name.to_owned(),
        description: tool.description.to_owned(),
        parameters: (tool.parameters)(),
    });
    Ok(ToolsListResult { tools: listed.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_belongs_to_one_feature() {
        let ids = ["openai", "anthropic", "ollama", "mine", "mock"];
        let listed = list_features(ids.map(|id| (id.to_owned(), id.to_uppercase())).to_vec());
        let all = listed.extensions.iter().flat_map(|extension| &extension.0.provides);
        let engines: Vec<&str> = all
            .filter_map(|provided| {
                let Provides::InferenceEngine(id) = provided else { return None };
                Some(id.as_str())
            })
            .collect();
        assert_eq!(engines, ["anthropic", "mock", "openai", "ollama", "mine"]);
    }

    #[test]
    fn versions_are_three_numbers() {
        for (version, shown) in [
            ("1.2.3", "1.2.3"),
            ("v2.1", "2.1.0"),
            ("7", "7.0.0"),
            ("1.2.3-beta.1+x", "1.2.3"),
            ("01.2", "1.2.0"),
            ("1.2.3.4", "0.0.0"),
            ("latest", "0.0.0"),
            ("", "0.0.0"),
            ("99999999999999999999", "0.0.0"),
        ] {
            assert_eq!(semantic(version), shown, "{version}");
        }
    }

    #[test]
    fn features_are_sorted_and_their_needs_are_met() {
        assert!(FEATURES.is_sorted_by_key(|feature| feature.id));
        let listed = list_features(Vec::new());
        for Dual(extension) in &listed.extensions {
            let statuses = &listed.capability_statuses[&extension.id];
            let needed = extension.required_capabilities.iter().map(|needed| &needed.id);
            assert!(needed.eq(statuses.iter().map(|status| &status.id)), "{}", extension.id);
        }
    }
}
