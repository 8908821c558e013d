//! Threads and turns of agents.

use rookery_roder as roder;
use rookery_wire::serve_connection;

use crate::{
    Dialect, Endpoint, Frames, Need, RPC_REFUSAL, Served, Serving, Stream, ops, read, served,
};

/// `thread/*`, `turn/*`, `session/*` and the rest.
pub(crate) const ROW: Dialect = Dialect {
    name: "roder",
    about: "Threads, turns, tools and approvals of agents",
    endpoint: Endpoint {
        name: "roder",
        path: "roder/roder.sock",
        variable: None,
        moved_by: None,
        always: false,
        stand_in: false,
        need: Need::Required,
        may_be_shared: false,
        lock: None,
    },
    is_joined: false,
    frames: Frames::Lines,
    refusal: RPC_REFUSAL,
    helpers: &[],
    serve,
    ops: |generator| ops::of_methods(rookery_roder::METHODS, generator),
    read: |bytes| read::call(rookery_roder::METHODS, bytes),
};

fn serve(stream: Stream, served: Served) -> Serving {
    let protocol =
        move |connection| roder::protocol(served.core, connection, roder::Link::default());
    served::ended(serve_connection(stream, roder::framing(), roder::options(), protocol))
}
