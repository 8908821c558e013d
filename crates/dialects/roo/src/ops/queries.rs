//! What can be asked without changing anything.

use std::collections::{BTreeMap, HashMap};

use rookery_agent::commands::Source;
use rookery_core::ThreadQuery;
use rookery_model::{Thread, ThreadId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Outcome;
use crate::context::Cx;
use crate::errors::Failure;
use crate::project::millis;
use crate::wire::{self, CommandEntry, Event, ModeEntry, ModelInfo};

/// What a model takes if that is not known.
const USUAL_WINDOW: u64 = 128_000;
/// How many tasks a history lists.
const HISTORY: usize = 1000;

pub(crate) async fn commands(cx: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    // Clients wait for this answer: what fails is empty.
    let infos = cx.core.agents().commands(&cx.listener.workspace).await.unwrap_or_default();
    let entry = |info: rookery_agent::commands::CommandInfo| {
        let (source, file_path) = match info.source {
            Source::BuiltIn => ("built-in", Some(format!("<built-in:{}>", info.name))),
            Source::Workspace => ("project", None),
            Source::User | Source::Extension(_) | Source::Package(_) => ("global", None),
        };
        CommandEntry {
            name: info.name,
            source: source.to_owned(),
            file_path,
            description: info.description,
            argument_hint: info.argument_hint,
        }
    };
    let entries: Vec<CommandEntry> = infos.into_iter().map(entry).collect();
    Outcome::with_event(&entries.clone(), Event::Commands(entries))
}

pub(crate) async fn modes(cx: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    // Clients wait for this answer: what fails is empty.
    let own = cx.hub.profiles().modes().await.unwrap_or_default();
    let roles = crate::assign::roles(&cx, own).await;
    let entries: Vec<ModeEntry> =
        roles.into_iter().map(|role| ModeEntry { slug: role.slug, name: role.name }).collect();
    Outcome::with_event(&entries.clone(), Event::Modes(entries))
}

pub(crate) async fn models(cx: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    let mut models = BTreeMap::new();
    for (provider, listed) in cx.core.agents().model_providers(&[]).await {
        if !provider.is_authenticated {
            continue;
        }
        for model in listed {
            let info = ModelInfo {
                context_window: model.context_window.unwrap_or(USUAL_WINDOW),
                supports_prompt_cache: true,
                max_tokens: None,
                supports_images: None,
                supports_reasoning_effort: Some(!model.reasoning.is_empty()),
                description: (model.name != model.id).then_some(model.name),
            };
            models.entry(model.id).or_insert(info);
        }
    }
    Outcome::with_event(&models.clone(), Event::Models(models))
}

pub(crate) async fn is_ready(_: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    Outcome::of(&true)
}

pub(crate) async fn messages(cx: Cx, data: wire::OneTask) -> Result<Outcome, Failure> {
    let id = cx.task(&data.0)?;
    Outcome::of(&cx.hub.messages(id).await?)
}

pub(crate) async fn usage(cx: Cx, data: wire::OneTask) -> Result<Outcome, Failure> {
    let id = cx.task(&data.0)?;
    Outcome::of(&cx.hub.usage(id).await?)
}

pub(crate) async fn log(cx: Cx, data: wire::OneText) -> Result<Outcome, Failure> {
    const LONGEST: usize = 4096;
    let end = data.0.floor_char_boundary(LONGEST);
    tracing::info!(listener = cx.listener.name, route = cx.route, "client: {}", &data.0[..end]);
    Outcome::done()
}

pub(crate) async fn is_in_history(cx: Cx, data: wire::OneTask) -> Result<Outcome, Failure> {
    Outcome::of(&cx.task(&data.0).is_ok())
}

/// An entry of the history.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HistoryItem {
    pub id: String,
    pub number: u64,
    pub ts: u64,
    pub task: String,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub total_cost: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_writes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_reads: Option<u64>,
    pub workspace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub child_ids: Vec<String>,
}

pub(crate) async fn history(cx: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    let threads = cx.core.threads();
    let listed = [false, true].into_iter().flat_map(|archived| {
        let query = ThreadQuery { limit: usize::MAX, archived, ..ThreadQuery::default() };
        threads.list(&query).threads
    });
    let mut tasks: Vec<Thread> = listed
        .map(|seen| seen.thread)
        .filter(|thread| {
            thread.assignment.is_some() && thread.cwd.starts_with(&cx.listener.workspace)
        })
        .collect();
    tasks.sort_by_key(|thread| (thread.created_at, thread.id));
    let mut children: HashMap<ThreadId, Vec<String>> = HashMap::new();
    for task in &tasks {
        if let Some(lead) = task.assignment.as_ref().and_then(|it| it.lead) {
            children.entry(lead).or_default().push(task.id.to_string());
        }
    }
    let numbers: HashMap<ThreadId, u64> = threads.assigned().into_iter().zip(1..).collect();
    let first = tasks.len().saturating_sub(HISTORY);
    let newest = tasks[first..].iter().rev();
    let entry = |thread: &Thread| item(numbers.get(&thread.id), thread, children.get(&thread.id));
    Outcome::of(&newest.map(entry).collect::<Vec<_>>())
}

fn item(number: Option<&u64>, thread: &Thread, children: Option<&Vec<String>>) -> HistoryItem {
    let assignment = thread.assignment.as_deref();
    let usage = thread.usage;
    let some = |count: u64| (count > 0).then_some(count);
    HistoryItem {
        id: thread.id.to_string(),
        number: number.copied().unwrap_or_default(),
        ts: millis(thread.updated_at),
        task: thread.preview.clone(),
        tokens_in: usage.prompt,
        tokens_out: usage.completion,
        total_cost: crate::project::cost(assignment.and_then(|it| it.prices), usage),
        cache_writes: some(usage.cache_creation),
        cache_reads: some(usage.cached),
        workspace: thread.cwd.to_string_lossy().into_owned(),
        mode: assignment.and_then(|it| it.role.as_ref()).map(|role| role.slug.clone()),
        parent_task_id: assignment.and_then(|it| it.lead).map(|lead| lead.to_string()),
        child_ids: children.cloned().unwrap_or_default(),
    }
}
