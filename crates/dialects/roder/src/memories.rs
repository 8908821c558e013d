//! Memories of core as this dialect shows them, and what is reported of them.

use rookery_core as core;
use rookery_model as model;
use serde::Serialize;
use serde_json::Value;

use crate::show;
use crate::wire::dual::DeepDual;
use crate::wire::memory::{
    MemoryCitation, MemoryDeleted, MemoryObservationRecorded, MemoryProviderChanged, MemoryQueried,
    MemoryRecallReady, MemoryRecord, MemoryReembedQueued, MemoryResult, MemorySaved,
    MemorySelection, MemoryUsage, Scope, name,
};

pub(crate) fn record(memory: &model::Memory) -> MemoryRecord {
    MemoryRecord {
        id: memory.id.clone(),
        scope: scope(&memory.scope),
        scope_id: memory.scope.id(),
        text: memory.text.clone(),
        content_hash: memory.content_hash.clone(),
        metadata: serde_json::from_str(&memory.metadata).unwrap_or_default(),
        usage: MemoryUsage {
            use_count: memory.use_count,
            last_used_at: memory.last_used_at.map(show::time),
        },
        // What was deleted is not shown.
        deleted: false,
        created_at: show::time(memory.created_at),
        updated_at: show::time(memory.updated_at),
    }
}

pub(crate) fn scope(scope: &model::MemoryScope) -> Scope {
    match scope {
        model::MemoryScope::Global => Scope::Global,
        model::MemoryScope::User(id) => Scope::User(id.clone()),
        model::MemoryScope::Project(id) => Scope::Project(id.clone()),
        model::MemoryScope::Workspace(id) => Scope::Workspace(id.clone()),
        model::MemoryScope::Thread(id) => Scope::Thread(id.clone()),
    }
}

pub(crate) fn result(hit: &core::MemoryHit) -> MemoryResult {
    MemoryResult {
        record: record(&hit.memory),
        score: hit.score,
        citation: citation(&hit.citation),
    }
}

pub(crate) fn citation(citation: &core::Citation) -> MemoryCitation {
    MemoryCitation {
        memory_id: citation.memory.clone(),
        scope_id: citation.scope.clone(),
        snippet: citation.snippet.clone(),
        score_millis: citation.score_millis,
    }
}

pub(crate) fn selection(choice: &core::MemoryChoice) -> MemorySelection {
    MemorySelection { provider_id: choice.provider.clone(), model: choice.model.clone() }
}

/// Whether a change is what a request of this family does itself, and so comes before its reply. What a
/// turn is given is behind the reply that has its id.
pub(crate) fn is_own(change: &core::MemoryChange) -> bool {
    !matches!(change, core::MemoryChange::Recalled { .. })
}

/// What is reported of a change, in both spellings.
pub(crate) fn notification(
    at: model::Timestamp,
    change: &core::MemoryChange,
) -> (&'static str, Value) {
    use core::MemoryChange;
    let timestamp = show::time(at);
    match change {
        MemoryChange::Saved(memory) => {
            notice_of(name::SAVED, MemorySaved { memory: record(memory), timestamp })
        }
        MemoryChange::Updated(memory) => {
            notice_of(name::UPDATED, MemorySaved { memory: record(memory), timestamp })
        }
        MemoryChange::Deleted(id) => {
            notice_of(name::DELETED, MemoryDeleted { memory_id: id.clone(), timestamp })
        }
        MemoryChange::Queried { scope: of, query, count } => {
            let (scope, query) = (of.as_ref().map(scope), query.clone());
            notice_of(
                name::QUERIED,
                MemoryQueried { scope, query, result_count: *count, timestamp },
            )
        }
        MemoryChange::Recalled { thread, turn, citations } => {
            let citations = citations.iter().map(citation).collect();
            let (thread_id, turn_id) = (thread.to_string(), turn.to_string());
            let ready = MemoryRecallReady { thread_id, turn_id, citations, timestamp };
            notice_of(name::RECALL_READY, ready)
        }
        MemoryChange::ProviderChanged(choice) => {
            let changed = MemoryProviderChanged { provider: selection(choice), timestamp };
            notice_of(name::PROVIDER_CHANGED, changed)
        }
        MemoryChange::ReembedQueued(choice) => {
            let provider = selection(choice);
            notice_of(
                name::REEMBED_QUEUED,
                MemoryReembedQueued { scope: None, provider, timestamp },
            )
        }
        MemoryChange::Observed { thread, turn, memory } => {
            let recorded = MemoryObservationRecorded {
                thread_id: thread.to_string(),
                turn_id: turn.to_string(),
                memory_id: memory.clone(),
                timestamp,
            };
            notice_of(name::OBSERVATION_RECORDED, recorded)
        }
    }
}

fn notice_of(name: &'static str, params: impl Serialize) -> (&'static str, Value) {
    let params = serde_json::to_value(DeepDual(params));
    (name, params.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_told_is_in_both_spellings_and_what_is_not_ours_is_not() {
        let memory = model::Memory {
            id: "mem-1".into(),
            scope: model::MemoryScope::Project("/a".into()),
            text: "t".into(),
            content_hash: "h".into(),
            metadata: r#"{"some_key":1}"#.into(),
            use_count: 2,
            last_used_at: None,
            created_at: model::Timestamp::default(),
            updated_at: model::Timestamp::default(),
        };
        let change = core::MemoryChange::Saved(Box::new(memory));
        let (name, params) = notification(model::Timestamp::default(), &change);
        assert_eq!(name, "memory/saved");
        let memory = &params["memory"];
        assert_eq!((&memory["contentHash"], &memory["content_hash"]), (&json!("h"), &json!("h")));
        assert_eq!(memory["usage"]["use_count"], 2);
        assert_eq!(memory["scope"], json!({"Project": "/a"}));
        assert_eq!(memory["metadata"], json!({"some_key": 1}));
        assert_eq!(params["timestamp"], "1970-01-01T00:00:00.000000Z");
    }
}
