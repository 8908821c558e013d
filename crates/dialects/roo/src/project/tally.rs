//! Tokens and tools of a task, counted from its model calls and items.

use std::collections::HashMap;

use rookery_model::{Prices, TurnId, Usage};

use crate::wire::{TokenUsage, ToolName, ToolUsage};

/// Counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    prices: Option<Prices>,
    calls: HashMap<(TurnId, u32), Usage>,
    context: u64,
    tools: ToolUsage,
    /// The counts that were sent last, and when.
    pub(super) sent: Option<(TokenUsage, ToolUsage)>,
    pub(super) sent_at: Option<u64>,
}

impl Tally {
    pub(super) fn new(prices: Option<Prices>) -> Tally {
        Tally { prices, ..Tally::default() }
    }

    /// A model call was counted.
    pub(super) fn count(&mut self, call: (TurnId, u32), usage: Usage) {
        self.calls.insert(call, usage);
        // A call that was cut off counted nothing, and the conversation is as long as before.
        if usage != Usage::default() {
            self.context = usage.prompt.saturating_add(usage.completion);
        }
    }

    /// The conversation was shortened.
    pub(super) fn shorten_context(&mut self, tokens: u64) {
        self.context = tokens;
    }

    pub(super) fn tried(&mut self, tool: ToolName) {
        self.tools.entry(tool).or_default().attempts += 1;
    }

    pub(super) fn failed(&mut self, tool: ToolName) {
        self.tools.entry(tool).or_default().failures += 1;
    }

    pub(super) fn tools(&self) -> &ToolUsage {
        &self.tools
    }

    /// Whether anything was counted since counts were last sent.
    pub(super) fn is_new(&self) -> bool {
        let sent = self.sent.as_ref();
        sent.is_none_or(|(usage, tools)| *usage != self.usage() || *tools != self.tools)
    }

    /// What tokens cost, in dollars.
    pub(super) fn cost(&self, usage: Usage) -> f64 {
        cost(self.prices, usage)
    }

    pub(super) fn usage(&self) -> TokenUsage {
        let mut total = Usage::default();
        self.calls.values().for_each(|usage| total.add(*usage));
        let some = |count: u64| (count > 0).then_some(count);
        TokenUsage {
            total_tokens_in: total.prompt,
            total_tokens_out: total.completion,
            total_cache_writes: some(total.cache_creation),
            total_cache_reads: some(total.cached),
            total_cost: self.cost(total),
            context_tokens: self.context,
        }
    }
}

/// What tokens cost, in dollars, as far as prices are known: by the same sum that limits go by.
pub(crate) fn cost(prices: Option<Prices>, usage: Usage) -> f64 {
    prices.map_or(0.0, |prices| prices.cost(&usage) as f64 / 1e6)
}
