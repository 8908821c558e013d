//! What child agents did for a turn.

use crate::context::Cx;
use crate::errors::Error;
use crate::traces;
use crate::wire::dual::Dual;
use crate::wire::trace::{
    SubagentTraceReadParams, SubagentTraceReadResult, SubagentTracesListParams,
    SubagentTracesListResult,
};

/// Events of a page, unless the client says how many; and the most there are.
const USUAL: u64 = 100;
const MOST: u64 = 1000;

pub(crate) async fn list(
    cx: Cx,
    params: SubagentTracesListParams,
) -> Result<SubagentTracesListResult, Error> {
    // What is not known has no traces.
    let (Ok(thread), Ok(turn)) = (params.thread_id.parse(), params.turn_id.parse()) else {
        return Ok(SubagentTracesListResult { traces: Vec::new() });
    };
    let traces = cx.core.children().traces(thread, turn).await;
    let traces = traces.iter().map(|trace| Dual(traces::summary(trace))).collect();
    Ok(SubagentTracesListResult { traces })
}

pub(crate) async fn read(
    cx: Cx,
    params: SubagentTraceReadParams,
) -> Result<Dual<SubagentTraceReadResult>, Error> {
    let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let (offset, limit, from) = match (params.item_index, params.text_offset) {
        (Some(index), text) => (index, 1, text.unwrap_or(0)),
        (None, Some(_)) => return Err(Error::invalid("textOffset needs itemIndex")),
        (None, None) => {
            let limit = params.limit.unwrap_or(USUAL).clamp(1, MOST);
            (params.offset.unwrap_or(0), limit, 0)
        }
    };
    let mut result = SubagentTraceReadResult {
        trace_id: params.trace_id.clone(),
        events: Vec::new(),
        next_offset: None,
    };
    let (Ok(thread), Ok(trace)) = (params.thread_id.parse(), params.trace_id.parse()) else {
        return Ok(Dual(result));
    };
    let children = cx.core.children();
    let Some(parent) = children.parent_of(thread, trace).await else { return Ok(Dual(result)) };
    let page = children.trace(thread, trace, place(offset), place(limit)).await;
    let shown = page.items.iter().map(|item| traces::delta(trace, parent, item, place(from)));
    result.events = shown.map(Dual).collect();
    result.next_offset = page.next.filter(|_| params.item_index.is_none()).map(|next| next as u64);
    Ok(Dual(result))
}
