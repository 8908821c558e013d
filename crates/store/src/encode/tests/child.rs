//! The stored form of child agents and their traces.

use std::time::Duration;

use rookery_model::{
    ChildExit, ChildOf, ItemId, Lane, ParentTurn, Trace, TraceBody, TraceEntry, TraceId,
    TraceStatus, Words,
};

use super::thread::{maybe, texts, thread_id, turn_id, usage};
use super::*;

fn one_of<T: Words + std::fmt::Debug>() -> impl Strategy<Value = T> {
    prop::sample::select(T::WORDS).prop_map(|(value, _)| value)
}

fn parent() -> impl Strategy<Value = ParentTurn> {
    (thread_id(), turn_id()).prop_map(|(thread, turn)| ParentTurn { thread, turn })
}

fn trace_id() -> impl Strategy<Value = TraceId> {
    any::<u128>().prop_map(TraceId::new)
}

pub(super) fn child_of() -> impl Strategy<Value = ChildOf> {
    let bonds = (option::of(parent()), option::of(trace_id()), option::of(one_of::<Lane>()));
    let time = option::of(any::<u64>().prop_map(Duration::from_millis));
    let bounds = (any::<u32>(), option::of(any::<u32>()), time);
    let flags = (any::<bool>(), any::<bool>());
    (bonds, text(), flags, option::of(texts()), text(), bounds).prop_map(
        |((parent, trace, lane), agent, flags, tools, instructions, bounds)| ChildOf {
            parent,
            outlives_turn: flags.0,
            trace,
            agent,
            lane,
            read_only: flags.1,
            tools,
            instructions,
            max_calls: bounds.0,
            max_chars: bounds.1,
            timeout: bounds.2,
        },
    )
}

fn entry() -> impl Strategy<Value = TraceEntry> {
    let item = || text().prop_map(ItemId::new);
    let body = prop_oneof![
        item().prop_map(TraceBody::Text),
        item().prop_map(TraceBody::Called),
        item().prop_map(TraceBody::Returned),
        one_of::<TraceStatus>().prop_map(TraceBody::Status),
        Just(TraceBody::Cut),
    ];
    (time(), body).prop_map(|(at, body)| TraceEntry { at, body })
}

fn trace() -> impl Strategy<Value = Trace> {
    let ids = (trace_id(), parent(), thread_id(), option::of(turn_id()));
    let names = (text(), text(), maybe(), option::of(one_of::<Lane>()));
    let times = (time(), option::of(time()), option::of(time()));
    let end = (maybe(), option::of(one_of::<ChildExit>()), maybe());
    let counted = usage().prop_map(|usage| (!usage.is_zero()).then_some(usage));
    (ids, names, one_of::<TraceStatus>(), times, counted, end, vec(entry(), 0..4)).prop_map(
        |(ids, names, status, times, usage, end, entries)| Trace {
            id: ids.0,
            parent: ids.1,
            child: ids.2,
            child_turn: ids.3,
            title: names.0,
            agent: names.1,
            model: names.2,
            lane: names.3,
            status,
            created_at: times.0,
            started_at: times.1,
            ended_at: times.2,
            usage,
            activity: end.0,
            exit: end.1,
            error: end.2,
            entries,
        },
    )
}

proptest! {
    #[test]
    fn traces_are_read_as_they_were_written(trace in trace()) {
        prop_assert_eq!(trace_from_json(&trace_to_json(&trace)).unwrap(), trace);
    }
}

/// What was stored once is read for ever.
#[test]
fn a_stored_trace_stays_readable() {
    let text = r#"{"id":"0192d3c4-0001-7abc-8def-0123456789ab","parent":{"thread":"0192d3c4-0002-7abc-8def-0123456789ab","turn":"0192d3c4-0003-7abc-8def-0123456789ab"},"child":"0192d3c4-0004-7abc-8def-0123456789ab","title":"look","agent":"explore","lane":"scout","status":"waiting_for_approval","created_at":1,"entries":[{"at":2,"body":{"called":"call-1"}},{"at":3,"body":{"status":"running"}}]}"#;
    let trace = trace_from_json(text).unwrap();
    assert_eq!((trace.lane, trace.status), (Some(Lane::Scout), TraceStatus::Waiting));
    assert_eq!(trace.entries[0].body, TraceBody::Called(ItemId::new("call-1")));
    assert_eq!(trace_to_json(&trace), text);
}
