//! Projects, tabs, palette and events.

use std::sync::LazyLock;

use rookery_roost::{self as roost, Terms};
use rookery_wire::serve_connection;
use schemars::SchemaGenerator;

use crate::{Dialect, Endpoint, Frames, Need, Op, Served, Serving, Stream, served};

/// `tab.*`, `project.*` and the rest.
pub(crate) const ROW: Dialect = Dialect {
    name: "roost",
    about: "Projects, tabs, palette and events",
    endpoint: Endpoint {
        name: "roost",
        path: "roost/roost.sock",
        variable: Some("ROOST_SOCKET"),
        moved_by: None,
        always: false,
        stand_in: true,
        need: Need::Required,
        may_be_shared: false,
        lock: Some("roost.lock"),
    },
    is_joined: false,
    frames: Frames::Lines,
    refusal: "{\"id\":\"0\",\"ok\":false,\"error\":{\"code\":\"internal\",\"message\":\"the daemon has too many connections or open files; close some and try again\"}}\n",
    helpers: &["roostctl"],
    serve,
    ops,
    read,
};

fn serve(stream: Stream, served: Served) -> Serving {
    let protocol = move |connection| roost::serve(served.core, served.roost, connection);
    served::ended(serve_connection(stream, roost::framing(), roost::options(), protocol))
}

/// The rows of Roost. Each knows its keys, so that each can be called badly; those that exist elsewhere
/// only cannot be called well.
fn ops(generator: &mut SchemaGenerator) -> Vec<Op> {
    let describe = |op: &roost::Op<roost::Cx>| {
        let schemas = op.schemas.map(|schemas| {
            let (params, result) = schemas(generator);
            (params.to_value(), result.to_value())
        });
        Op {
            name: op.name,
            rights: op.rights,
            names: op.names.to_vec(),
            can_succeed: schemas.is_some(),
            schemas,
            can_fail: true,
        }
    };
    roost::OPS.iter().map(describe).collect()
}

/// Knows the keys of all params, which take a while to find out.
static ROOST: LazyLock<roost::Table<roost::Cx>> = LazyLock::new(|| roost::Table::new([roost::OPS]));

/// Reads a request of Roost.
fn read(bytes: &[u8]) -> Result<&'static str, String> {
    let request = roost::envelope::parse(bytes).map_err(|broken| broken.message)?;
    let terms = Terms { test_mode: true, is_agent: false };
    let started = ROOST.start(&request.op, request.params, terms);
    started.map(|(name, _)| name).map_err(|error| error.message().to_owned())
}
