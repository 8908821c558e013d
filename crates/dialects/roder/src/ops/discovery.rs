//! What there is: our features as extensions, models, tools and kinds of agents.

use std::collections::BTreeMap;

use rookery_agent::tools::TOOLS;
use rookery_model::ToolKind;
use rookery_wire::rpc::NoParams;

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::discovery::{
    AgentSpec, AgentsListResult, CapabilityStatus, Decision, Extension, ExtensionsListResult,
    Model, ModelListResult, PermissionMode, Provides, RequiredCapability, ToolSpec,
    ToolsListResult,
};

/// The version of the interface that our own features are made for.
const API_VERSION: &str = "1";
/// The feature that brings every provider without a feature of its own.
const COMPATIBLE: &str = "openai-compatible";

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

const NETWORK: (&str, &str) = ("network", "to reach the models");
const READING: (&str, &str) = ("filesystem.read", "to read files of the workspace");
const WRITING: (&str, &str) = ("filesystem.write", "to change files of the workspace");
const RUNNING: (&str, &str) = ("process.spawn", "to run commands");
const STATE: (&str, &str) = ("state", "to keep what outlives the server");

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
        id: "goals",
        name: "Goals",
        description: "What a thread is to reach, and how far it got",
        provides: &[(Provides::ToolProvider, "goals")],
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
        id: COMPATIBLE,
        name: "OpenAI compatible",
        description: "Models behind servers that speak as OpenAI's do",
        provides: &[],
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
        id: "slash-commands",
        name: "Slash commands",
        description: "Prompts with arguments and included context",
        provides: &[(Provides::ContextProvider, "slash-commands")],
        needs: &[READING],
    },
    Feature {
        id: "task-ledger",
        name: "Task ledger",
        description: "What is to be done, what is done, and the evidence for it",
        provides: &[(Provides::ToolProvider, "task-ledger")],
        needs: &[STATE],
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

pub(crate) async fn extensions(cx: Cx, _: NoParams) -> Result<ExtensionsListResult, Error> {
    let ids = cx.core.agents().providers().into_iter().map(|info| info.id).collect();
    Ok(list_features(ids))
}

fn list_features(providers: Vec<String>) -> ExtensionsListResult {
    let is_own = |id: &String| FEATURES.iter().any(|feature| feature.id == id);
    let others: Vec<String> = providers.into_iter().filter(|id| !is_own(id)).collect();
    let extension = |feature: &Feature| {
        let named = feature.provides.iter().map(|(kind, id)| kind((*id).to_owned()));
        let mut provides: Vec<Provides> = named.collect();
        if feature.id == COMPATIBLE {
            provides.extend(others.iter().cloned().map(Provides::InferenceEngine));
        }
        let needs = feature.needs.iter().map(|(id, reason)| RequiredCapability {
            id: (*id).to_owned(),
            reason: Some((*reason).to_owned()),
        });
        Extension {
            id: feature.id.to_owned(),
            name: feature.name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            api_version: API_VERSION.to_owned(),
            description: feature.description.to_owned(),
            provides,
            required_capabilities: needs.collect(),
        }
    };
    let granted = |feature: &Feature| {
        let status = |(id, _): &(&str, &str)| CapabilityStatus {
            id: (*id).to_owned(),
            decision: Decision::Granted,
            reason: Some("built in".to_owned()),
        };
        (feature.id.to_owned(), feature.needs.iter().map(status).collect())
    };
    ExtensionsListResult {
        extensions: FEATURES.iter().map(extension).collect(),
        capability_statuses: FEATURES.iter().map(granted).collect::<BTreeMap<_, _>>(),
    }
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

/// One kind of agent.
struct Agent {
    name: &'static str,
    description: &'static str,
    mode: PermissionMode,
    /// What its tools may be.
    kinds: &'static [ToolKind],
    /// Whether it may use tools that wait for a person's answer.
    asks: bool,
    max_turns: Option<u32>,
    max_result_chars: Option<u32>,
}

/// The kinds of agents.
const AGENTS: &[Agent] = &[
    Agent {
        name: "default",
        description: "Works on the task of its thread, with every tool and the thread's own mode",
        mode: PermissionMode::Default,
        kinds: &[
            ToolKind::Read,
            ToolKind::Write,
            ToolKind::Exec,
            ToolKind::Internal,
            ToolKind::Network,
            ToolKind::Agents,
        ],
        asks: true,
        max_turns: None,
        max_result_chars: None,
    },
    Agent {
        name: "explorer",
        description: "Looks for an answer in the files of a workspace and changes nothing",
        mode: PermissionMode::ReadOnly,
        kinds: &[ToolKind::Read],
        asks: false,
        max_turns: Some(32),
        max_result_chars: Some(20_000),
    },
    Agent {
        name: "worker",
        description: "Carries out one bounded change, and edits files without asking",
        mode: PermissionMode::AutoEdit,
        kinds: &[ToolKind::Read, ToolKind::Write, ToolKind::Exec, ToolKind::Internal],
        asks: false,
        max_turns: Some(128),
        max_result_chars: Some(20_000),
    },
];

pub(crate) async fn agents(_cx: Cx, _: NoParams) -> Result<AgentsListResult, Error> {
    let spec = |agent: &Agent| {
        let tools = TOOLS
            .iter()
            .filter(|tool| !tool.needs_assignment)
            .filter(|tool| agent.kinds.contains(&tool.kind) && (agent.asks || !tool.needs_turn));
        AgentSpec {
            agent_type: agent.name.to_owned(),
            description: agent.description.to_owned(),
            tools: tools.map(|tool| tool.name.to_owned()).collect(),
            model: None,
            permission_mode: agent.mode,
            max_turns: agent.max_turns,
            max_result_chars: agent.max_result_chars,
        }
    };
    Ok(AgentsListResult { agents: AGENTS.iter().map(spec).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_belongs_to_one_feature() {
        let ids = ["openai", "anthropic", "ollama", "mine", "mock"].map(str::to_owned);
        let listed = list_features(ids.to_vec());
        let all = listed.extensions.iter().flat_map(|extension| &extension.provides);
        let engines: Vec<&str> = all
            .filter_map(|provided| {
                let Provides::InferenceEngine(id) = provided else { return None };
                Some(id.as_str())
            })
            .collect();
        assert_eq!(engines, ["anthropic", "mock", "openai", "ollama", "mine"]);
    }

    #[test]
    fn features_are_sorted_and_their_needs_are_met() {
        assert!(FEATURES.is_sorted_by_key(|feature| feature.id));
        let listed = list_features(Vec::new());
        for extension in &listed.extensions {
            let statuses = &listed.capability_statuses[&extension.id];
            let needed = extension.required_capabilities.iter().map(|needed| &needed.id);
            assert!(needed.eq(statuses.iter().map(|status| &status.id)), "{}", extension.id);
        }
    }
}
