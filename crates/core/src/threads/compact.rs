//! Makes the conversation of a turn shorter, with the model's help where leaving out is not enough.

use rookery_agent::provider::{Entry, EntryBody, ModelEvent, ModelRequest, Provider, ToolChoice};
use rookery_agent::turn::{Compaction, SUMMARY_INSTRUCTION, plan_compaction, window};
use rookery_model::Pruning;

use super::hooked::hook_compaction;
use super::run::Runner;

/// What became of making a conversation shorter.
pub(super) type Shortened = Result<Option<(String, Pruning)>, String>;

impl Runner {
    pub(super) fn compact(&mut self, is_forced: bool) {
        let plan = {
            let contents = self.live.read();
            plan_compaction(&window(contents.items_by_turn()))
        };
        let provider = self.core.inner.agents.provider(&self.turn.settings.choice.provider);
        let request = self.summary_request();
        tracing::debug!(is_forced, "compacting");
        let (core, id) = (self.core.clone(), self.live.id);
        self.compaction.spawn(async move {
            if !matches!(plan, Compaction::Nothing) {
                hook_compaction(&core, id, "auto", None).await;
            }
            let provider = provider.ok_or("the provider is gone")?;
            shorten(plan, provider.as_ref(), request, None).await
        });
    }

    fn summary_request(&self) -> ModelRequest {
        let choice = &self.turn.settings.choice;
        ModelRequest {
            thread: self.live.id.to_string(),
            model: choice.model.clone(),
            tool_choice: ToolChoice::None,
            keys: self.lent_keys(),
            ..ModelRequest::default()
        }
    }
}

/// Carries out a plan to make a conversation shorter.
pub(super) async fn shorten(
    plan: Compaction,
    provider: &dyn Provider,
    mut request: ModelRequest,
    hint: Option<&str>,
) -> Shortened {
    let (entries, keep_from) = match plan {
        Compaction::Nothing => return Ok(None),
        Compaction::Prune { before } => {
            let summary = "older outputs of tools were left out".to_owned();
            return Ok(Some((summary, Pruning::OutputsBefore(before))));
        }
        Compaction::Summarize { entries, keep_from } => (entries, keep_from),
    };
    let step = entries.last().map_or(1, |entry| entry.step + 1);
    request.entries = entries;
    let mut text = SUMMARY_INSTRUCTION.to_owned();
    if let Some(hint) = hint {
        text.push_str("\nKeep in particular: ");
        text.push_str(hint);
    }
    let body = EntryBody::User { text, images: Vec::new() };
    request.entries.push(Entry { step, body, opaque: None });
    let mut stream = provider.call(request);
    let mut summary = String::new();
    while let Some(event) = stream.events.recv().await {
        match event {
            ModelEvent::Text { text, .. } => summary.push_str(&text),
            ModelEvent::Done { .. } if !summary.trim().is_empty() => {
                return Ok(Some((summary, Pruning::Before(keep_from))));
            }
            ModelEvent::Done { .. } => return Err("the model gave no summary".to_owned()),
            ModelEvent::Failed(failure) => return Err(failure.message),
            _ => {}
        }
    }
    Err("the model's summary was cut off".to_owned())
}
