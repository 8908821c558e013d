//! The tool calls of a step: what runs, what is done, and what has to be closed.

use rookery_model::{Item, ItemBody, ItemStatus};

use super::Effect;

/// A tool call of the step.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) item: Item,
    pub(super) is_running: bool,
    pub(super) is_done: bool,
}

impl Work {
    pub(super) fn new(item: Item) -> Self {
        Work { item, is_running: false, is_done: false }
    }
}

/// Completes as failed whatever of it is not done.
pub(super) fn close_work(work: Vec<Work>, why: &str, out: &mut Vec<Effect>) {
    for mut work in work.into_iter().filter(|work| !work.is_done) {
        work.item.status = ItemStatus::Failed;
        if let ItemBody::Tool(tool) = &mut work.item.body {
            tool.error = Some(why.to_owned());
        }
        out.push(Effect::Completed(work.item));
    }
}
