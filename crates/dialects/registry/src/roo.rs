//! Tasks of Roo Code, in two shapes.

use std::sync::Arc;

use rookery_roo as roo;
use rookery_wire::serve_connection;
use schemars::SchemaGenerator;
use serde_json::json;

use crate::{Dialect, Endpoint, Frames, Need, Op, Served, Serving, Stream, served};

/// What a client of Roo Code reads that cannot be served, in the shape of the schema document.
const REFUSAL: &str = "{\"type\":\"message\",\"data\":{\"type\":\"TaskEvent\",\"origin\":\"server\",\"data\":{\"eventName\":\"Message\",\"payload\":{\"taskId\":\"\",\"action\":\"created\",\"message\":{\"ts\":0,\"type\":\"say\",\"say\":\"error\",\"text\":\"internal_error: the daemon has too many connections or open files; close some and try again\"}}}}}\u{c}";

/// The same in the shape of the published client.
const PUBLISHED_REFUSAL: &str = "{\"type\":\"message\",\"data\":{\"type\":\"TaskEvent\",\"origin\":\"server\",\"data\":{\"eventName\":\"message\",\"payload\":[{\"taskId\":\"\",\"action\":\"created\",\"message\":{\"ts\":0,\"type\":\"say\",\"say\":\"error\",\"text\":\"internal_error: the daemon has too many connections or open files; close some and try again\"}}]}}}\u{c}";

/// Events as the schema document writes them.
pub(crate) const ROW: Dialect = Dialect {
    name: "roo",
    about: "Tasks of Roo Code, with events as its schema document writes them",
    endpoint: Endpoint {
        name: "roo",
        path: "roo/roo.sock",
        variable: None,
        moved_by: None,
        always: false,
        stand_in: false,
        need: Need::Optional,
        may_be_shared: true,
        lock: None,
    },
    is_joined: false,
    frames: Frames::FormFeeds,
    refusal: REFUSAL,
    helpers: &[],
    serve,
    ops,
    read,
};

/// Events as the published client validates them.
pub(crate) const PUBLISHED: Dialect = Dialect {
    name: "roo-code",
    about: "Tasks of Roo Code, with events as its published client validates them",
    endpoint: Endpoint {
        name: "roo-code",
        path: "roo/roo-code.sock",
        variable: None,
        moved_by: Some("ROO_CODE_IPC_SOCKET_PATH"),
        always: false,
        stand_in: false,
        need: Need::Optional,
        may_be_shared: true,
        lock: None,
    },
    is_joined: false,
    frames: Frames::FormFeeds,
    refusal: PUBLISHED_REFUSAL,
    helpers: &[],
    serve: serve_published,
    ops,
    read: read_published,
};

fn serve(stream: Stream, served: Served) -> Serving {
    let listener = Arc::clone(&served.listeners.seed);
    task_client(stream, served, listener)
}

fn serve_published(stream: Stream, served: Served) -> Serving {
    let listener = Arc::clone(&served.listeners.published);
    task_client(stream, served, listener)
}

fn task_client(stream: Stream, served: Served, listener: Arc<roo::Listener>) -> Serving {
    let framing = roo::framing(listener.shape);
    let form = framing.form();
    let protocol =
        move |connection| roo::serve(served.core, served.roo, listener, form, connection);
    served::ended(serve_connection(stream, framing, roo::options(), protocol))
}

/// The rows of Roo Code. Results are events, or a reply of any kind.
fn ops(generator: &mut SchemaGenerator) -> Vec<Op> {
    let reply = json!({ "description": "The payload of the event `commandResponse`, or an object with `error`." });
    generator.definitions_mut().insert("Reply".to_owned(), reply);
    let describe = |command: &roo::Command| {
        let params = (command.schema)(generator).to_value();
        let takes_nothing = params["properties"]["data"] == json!({});
        Op {
            name: command.name,
            rights: command.rights,
            names: command.names.to_vec(),
            schemas: Some((params, json!({ "$ref": "#/$defs/Reply" }))),
            can_succeed: true,
            can_fail: !takes_nothing,
        }
    };
    roo::COMMANDS.iter().map(describe).collect()
}

/// Reads a command of Roo Code, in the shape of the schema document.
fn read(bytes: &[u8]) -> Result<&'static str, String> {
    task_command(bytes, true)
}

/// Reads a command of Roo Code as the published client sends it.
fn read_published(bytes: &[u8]) -> Result<&'static str, String> {
    task_command(bytes, false)
}

fn task_command(bytes: &[u8], takes_bare: bool) -> Result<&'static str, String> {
    use roo::wire::{Received, parse};
    match parse(bytes, takes_bare) {
        Received::Command(incoming, _) => {
            let command = roo::find(&incoming.name);
            let command = command.ok_or_else(|| "unknown command".to_owned())?;
            (command.check)(incoming.data).map_err(|failure| failure.message)?;
            Ok(command.name)
        }
        Received::Auth(..) => Err("a token".to_owned()),
        Received::Ignored(reason) => Err(reason.to_owned()),
    }
}
