//! Traces of child agents as this dialect shows them: long texts in parts.

use rookery_core as core;
use rookery_model::{self as model, Words as _};
use serde_json::Value;

use crate::show;
use crate::wire::dual::Dual;
use crate::wire::trace::{Destination, ParentTurn, TraceDelta, TraceItem, TraceSummary, TraceText};

/// What the last event of a trace says that is longer than is kept.
const CUT: &str =
    "the trace is cut here: no more of its events are kept; the child's thread has all of them";

/// The most characters of one text.
const TEXT_LIMIT: usize = 4000;

pub(crate) fn summary(of: &core::TraceSummary) -> TraceSummary {
    let trace = &of.trace;
    TraceSummary {
        trace_id: trace.id.to_string(),
        parent: parent(trace.parent),
        child_thread_id: trace.child.to_string(),
        child_turn_id: trace.child_turn.map(|turn| turn.to_string()).unwrap_or_default(),
        title: trace.title.clone(),
        role: trace.agent.clone(),
        model: trace.model.clone(),
        lane: trace.lane.map(|lane| lane.word().to_owned()),
        status: trace.status.word().to_owned(),
        elapsed_ms: of.elapsed_ms,
        usage: trace.usage.map(|usage| Dual(show::usage(usage))),
        destination: Some(Dual(destination(trace, &of.place))),
        latest_activity: trace.activity.clone(),
        error_summary: trace.error.clone(),
        exit_reason: trace.exit.map(|exit| exit.word().to_owned()),
    }
}

fn destination(trace: &model::Trace, place: &core::TracePlace) -> Destination {
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let (kind, label, path, runner) = match place {
        core::TracePlace::Here if trace.lane == Some(model::Lane::Runner) => {
            ("in_process", "shell".to_owned(), None, None)
        }
        core::TracePlace::Here => ("in_process", "workspace".to_owned(), None, None),
        core::TracePlace::Worktree { path, runner } => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            ("local_worktree", name, Some(text(path)), runner.as_ref())
        }
        core::TracePlace::Elsewhere(runner) => {
            let path = Some(text(&runner.workspace));
            ("remote_runner", runner.provider.clone(), path, Some(runner))
        }
    };
    Destination {
        kind: kind.to_owned(),
        label,
        path,
        provider_id: runner.map(|runner| runner.provider.clone()),
        destination_id: runner
            .map(|runner| model::shown_destination(&runner.destination).to_owned()),
    }
}

pub(crate) fn parent(of: model::ParentTurn) -> Dual<ParentTurn> {
    let model::ParentTurn { thread, turn } = of;
    Dual(ParentTurn { thread_id: thread.to_string(), turn_id: turn.to_string() })
}

/// Something that happened, its text from a character on.
pub(crate) fn delta(
    trace: model::TraceId,
    of: model::ParentTurn,
    item: &core::TraceItem,
    from: usize,
) -> TraceDelta {
    let message = |role: &str, text: &str| TraceItem::Message {
        role: role.to_owned(),
        content: part(text, from),
    };
    let shown = match &item.content {
        core::TraceContent::Prompt(text) => message("user", text),
        core::TraceContent::Reply(text) => message("assistant", text),
        core::TraceContent::Thought(text) => TraceItem::Reasoning { content: part(text, from) },
        core::TraceContent::Called { call, tool, input } => TraceItem::ToolCall {
            tool_id: call.clone(),
            tool_name: tool.clone(),
            input: serde_json::from_str(input).unwrap_or_else(|_| Value::from(input.as_str())),
        },
        core::TraceContent::Returned { call, is_error, output } => TraceItem::ToolResult {
            tool_id: call.clone(),
            is_error: *is_error,
            output: part(output, from),
        },
        core::TraceContent::Status(status) => {
            TraceItem::Status { status: status.word().to_owned(), detail: None }
        }
        core::TraceContent::Cut => TraceItem::Status {
            status: model::TraceStatus::Running.word().to_owned(),
            detail: Some(CUT.to_owned()),
        },
    };
    TraceDelta {
        trace_id: trace.to_string(),
        parent: parent(of),
        item: Dual(shown),
        item_index: item.index as u64,
    }
}

/// A part of a text.
fn part(text: &str, from: usize) -> Dual<TraceText> {
    let mut ends = text.char_indices().map(|(at, _)| at).skip(from);
    let begin = ends.next().unwrap_or(text.len());
    let end = ends.nth(TEXT_LIMIT - 1);
    Dual(TraceText {
        text: text[begin..end.unwrap_or(text.len())].to_owned(),
        truncated: end.is_some(),
        next_offset: end.map(|_| (from + TEXT_LIMIT) as u64),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_read_on_where_it_was_cut() {
        let whole: String = "aé🐦".chars().cycle().take(TEXT_LIMIT + 7).collect();
        let Dual(first) = part(&whole, 0);
        assert!(first.truncated);
        let Dual(rest) = part(&whole, first.next_offset.unwrap() as usize);
        assert_eq!((rest.truncated, rest.next_offset), (false, None));
        assert_eq!(first.text + &rest.text, whole);
        assert_eq!(part("abc", 9).0.text, "");
        let exact = "x".repeat(TEXT_LIMIT);
        assert_eq!(
            part(&exact, 0).0,
            TraceText { text: exact, truncated: false, next_offset: None }
        );
    }

    proptest! {
        #[test]
        fn any_offset_is_answered(text in ".{0,40}", from in any::<usize>()) {
            let Dual(read) = part(&text, from);
            prop_assert!(text.ends_with(&read.text));
        }
    }
}
