//! The rows of every table in one shape, for those who describe or test them and do not call them.

use rookery_wire::ids::Named;
use rookery_wire::rights::Rights;
use rookery_wire::rpc::Method;
use schemars::SchemaGenerator;
use serde_json::{Value, json};

/// A row of a dialect's table.
#[derive(Debug, Clone)]
pub struct Op {
    /// The name on the wire.
    pub name: &'static str,
    /// What it asks of its caller.
    pub rights: Rights,
    /// Which members of its params carry ids.
    pub names: Vec<Named>,
    /// The schemas of params and result; none if it only exists elsewhere.
    pub schemas: Option<(Value, Value)>,
    /// Whether a vector can show it at work.
    pub can_succeed: bool,
    /// Whether a vector can show it refused.
    pub can_fail: bool,
}

/// Takes params, and yet nothing that is sent is wrong.
const NEVER_REFUSED: &[&str] = &["session.list"];
/// Exists to be refused: it names what there is instead.
const NEVER_SERVED: &[&str] = &["team/pane/cleanup", "team/pane/focus"];
/// Needs a repository, which a vector does not have; the end-to-end tests have.
const NEEDS_REPOSITORY: &[&str] = &["removeWorktree"];

/// The rows of a table of methods.
pub(crate) fn of_methods<C>(methods: &[Method<C>], generator: &mut SchemaGenerator) -> Vec<Op> {
    let describe = |method: &Method<C>| {
        let params = (method.params_schema)(generator).to_value();
        let result = (method.result_schema)(generator).to_value();
        // A method that ignores its params cannot be called badly.
        let ignores_params = params.get("properties").is_some_and(|members| *members == json!({}));
        Op {
            name: method.name,
            rights: method.rights,
            names: method.names.to_vec(),
            schemas: Some((params, result)),
            can_succeed: !NEVER_SERVED.contains(&method.name),
            can_fail: !ignores_params && !NEVER_REFUSED.contains(&method.name),
        }
    };
    methods.iter().map(describe).collect()
}

/// The rows of Roost. Each knows its keys, so that each can be called badly; those that exist elsewhere
/// only cannot be called well.
pub(crate) fn of_roost(generator: &mut SchemaGenerator) -> Vec<Op> {
    let describe = |op: &rookery_roost::Op<rookery_roost::Cx>| {
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
    rookery_roost::OPS.iter().map(describe).collect()
}

/// The rows of idx0. Payloads are strings under known keys, and so are the facts of a reply; a payload
/// with a value that is no string is bad, so that every command can be called badly.
pub(crate) fn of_idx0(generator: &mut SchemaGenerator) -> Vec<Op> {
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
    let describe = |command: &rookery_idx0::Command| {
        let payload = rookery_idx0::keys::schema(command.keys);
        Op {
            name: command.name,
            rights: command.rights,
            names: rookery_idx0::keys::names(command.keys),
            schemas: Some((payload, json!({ "$ref": "#/$defs/Reply" }))),
            can_succeed: !NEEDS_REPOSITORY.contains(&command.name),
            can_fail: true,
        }
    };
    rookery_idx0::COMMANDS.iter().map(describe).collect()
}

/// The rows of Roo Code. Results are events, or a reply of any kind.
pub(crate) fn of_roo(generator: &mut SchemaGenerator) -> Vec<Op> {
    let reply = json!({ "description": "The payload of the event `commandResponse`, or an object with `error`." });
    generator.definitions_mut().insert("Reply".to_owned(), reply);
    let describe = |command: &rookery_roo::Command| {
        let params = (command.schema)(generator).to_value();
        let takes_nothing = params["properties"]["data"] == json!({});
        Op {
            name: command.name,
            rights: command.rights,
            names: command.names.to_vec(),
            schemas: Some((params, json!({ "$ref": "#/$defs/Reply" }))),
            can_succeed: true,
            can_fail: !takes_nothing && !NEVER_REFUSED.contains(&command.name),
        }
    };
    rookery_roo::COMMANDS.iter().map(describe).collect()
}
