//! Sessions, reviews, approvals and the queue.

use rookery_idx0 as idx0;
use rookery_wire::exchange::{Limits, serve_exchange};
use schemars::SchemaGenerator;
use serde_json::json;

use crate::{Dialect, Endpoint, Frames, Need, Op, Served, Serving, Stream};

/// Needs a repository, which a vector does not have; the end-to-end tests have.
const NEEDS_REPOSITORY: &[&str] = &["removeWorktree"];

/// The commands of idx0.
pub(crate) const ROW: Dialect = Dialect {
    name: "idx0",
    about: "Sessions, checkpoints, reviews, approvals and the queue",
    endpoint: Endpoint {
        name: "idx0",
        path: "idx0/idx0.sock",
        variable: Some("IDX0_IPC_SOCKET"),
        moved_by: None,
        always: false,
        stand_in: true,
        need: Need::UnlessServed,
        may_be_shared: false,
        lock: None,
    },
    is_joined: false,
    frames: Frames::Exchange,
    refusal: "{\"success\":false,\"message\":\"the daemon has too many connections or open files; close some and try again\"}\n",
    helpers: &["idx0", "idx0-notify"],
    serve,
    ops,
    read,
};

fn serve(stream: Stream, served: Served) -> Serving {
    Box::pin(async move {
        let answer = |request| idx0::serve(served.core, served.idx0, request);
        let outcome = serve_exchange(stream, Limits::default(), answer).await;
        tracing::debug!(?outcome, "an exchange ended");
    })
}

/// The rows of idx0. Payloads are strings under known keys, and so are the facts of a reply; a payload
/// with a value that is no string is bad, so that every command can be called badly.
fn ops(generator: &mut SchemaGenerator) -> Vec<Op> {
    let reply = json!({
        "type": "object",
        "properties": {
            "success": { "type": "boolean" },
            "message": { "type": "string" },
            "data": { "type": "object", "additionalProperties": { "type": "string" } },
        },
        "required": ["success"],
    });
    generator.definitions_mut().insert("Reply".to_owned(), reply);
    let describe = |command: &idx0::Command| {
        let payload = idx0::keys::schema(command.keys);
        Op {
            name: command.name,
            rights: command.rights,
            names: idx0::keys::names(command.keys),
            schemas: Some((payload, json!({ "$ref": "#/$defs/Reply" }))),
            can_succeed: !NEEDS_REPOSITORY.contains(&command.name),
            can_fail: true,
        }
    };
    idx0::COMMANDS.iter().map(describe).collect()
}

/// Reads a request of idx0.
fn read(bytes: &[u8]) -> Result<&'static str, String> {
    let request = idx0::envelope::parse(bytes)?;
    let commands = idx0::COMMANDS.iter();
    let command = commands.into_iter().find(|command| command.name == request.command);
    command.map(|command| command.name).ok_or_else(|| "unknown command".to_owned())
}
