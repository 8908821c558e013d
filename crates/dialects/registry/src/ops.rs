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
