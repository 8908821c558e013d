//! Terminal automation.

use rookery_wire::framing::Ndjson;

use crate::{
    Dialect, Endpoint, Frames, Need, RPC_REFUSAL, Served, Serving, Stream, ops, read, served,
};

/// `server.*`, `session.*`, `adapter.*`, `plugin.*`.
pub(crate) const ROW: Dialect = Dialect {
    name: "ptywright",
    about: "Terminal automation",
    endpoint: Endpoint {
        name: "ptywright",
        path: "ptywright/ptywright.sock",
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
    ops: |generator| ops::of_methods(rookery_ptywright::METHODS, generator),
    read: |bytes| read::call(rookery_ptywright::METHODS, bytes),
};

fn serve(stream: Stream, served: Served) -> Serving {
    served::ended(async move { served.serve_strict(stream, Ndjson::default()).await })
}
