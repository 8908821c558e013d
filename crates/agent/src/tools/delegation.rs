//! `new_task`, `switch_mode` and `attempt_completion`: tools of threads with an assignment, by which an
//! agent hands work on, takes another role, and says that it is done.
//!
//! Only the driver of a turn can carry them out, so here their arguments are read, no more.

use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::answers::refused;
use super::arguments;
use crate::tool::Tool;

/// The tool that hands work on.
pub const DELEGATION: &str = "new_task";
/// The tool that takes another role.
pub const ROLE_SWITCH: &str = "switch_mode";
/// The tool that ends the work.
pub const COMPLETION: &str = "attempt_completion";

pub(super) const NEW_TASK: Tool = Tool {
    name: DELEGATION,
    kind: ToolKind::Internal,
    description: "Hand a part of the work on to an agent of its own, and wait for its result. \
                  It knows only what the message says.",
    needs_turn: true,
    needs_assignment: true,
    parameters: arguments::schema::<DelegationArgs>,
    check: |value| delegation(value.clone()).map(drop),
    run: |_, _| refused(DELEGATION),
};

pub(super) const SWITCH_MODE: Tool = Tool {
    name: ROLE_SWITCH,
    kind: ToolKind::Internal,
    description: "Go on in another role, if the work needs it.",
    needs_turn: true,
    needs_assignment: true,
    parameters: arguments::schema::<SwitchArgs>,
    check: |value| role_switch(value.clone()).map(drop),
    run: |_, _| refused(ROLE_SWITCH),
};

pub(super) const ATTEMPT_COMPLETION: Tool = Tool {
    name: COMPLETION,
    kind: ToolKind::Internal,
    description: "Say that the work is done, with its result in its final form. Nothing follows it, \
                  so use it only when all tools have succeeded.",
    needs_turn: true,
    needs_assignment: true,
    parameters: arguments::schema::<CompletionArgs>,
    check: |value| completion(value.clone()).map(drop),
    run: |_, _| refused(COMPLETION),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DelegationArgs {
    /// The slug of the role to work in.
    mode: String,
    /// All that is to be known and done.
    message: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SwitchArgs {
    /// The slug of the role.
    mode_slug: String,
    reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompletionArgs {
    result: String,
}

/// Work to be handed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegation {
    /// The slug of the role to work in.
    pub role: String,
    /// Assignment: what the task should do.
    pub message: String,
}

/// Reads the arguments of `new_task`.
pub fn delegation(arguments: Value) -> Result<Delegation, String> {
    let DelegationArgs { mode, message } = arguments::decode(arguments)?;
    arguments::not_blank("mode", &mode)?;
    arguments::not_blank("message", &message)?;
    Ok(Delegation { role: mode, message })
}

/// Reads the arguments of `switch_mode`: the slug of the role.
pub fn role_switch(arguments: Value) -> Result<String, String> {
    let args: SwitchArgs = arguments::decode(arguments)?;
    arguments::not_blank("mode_slug", &args.mode_slug)?;
    // Why is shown to the person who is asked, with the rest of the call.
    let _ = args.reason;
    Ok(args.mode_slug)
}

/// Reads the arguments of `attempt_completion`: the result.
pub fn completion(arguments: Value) -> Result<String, String> {
    let CompletionArgs { result } = arguments::decode(arguments)?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_world::Bench;
    use super::super::{TOOLS, find};
    use super::*;

    #[test]
    fn arguments_are_read_strictly() {
        let read = delegation(json!({"mode": "code", "message": "do it"})).unwrap();
        assert_eq!(read, Delegation { role: "code".into(), message: "do it".into() });
        assert!(delegation(json!({"mode": "code", "message": " "})).is_err());
        assert!(delegation(json!({"message": "x"})).is_err());
        assert_eq!(role_switch(json!({"mode_slug": "ask", "reason": "r"})).unwrap(), "ask");
        assert_eq!(role_switch(json!({"mode_slug": "ask"})).unwrap(), "ask");
        assert!(role_switch(json!({"mode_slug": ""})).is_err());
        assert_eq!(completion(json!({"result": ""})).unwrap(), "");
        assert!(completion(json!({})).is_err());
    }

    #[tokio::test]
    async fn they_need_a_turn_and_an_assignment_and_no_other_tool_does() {
        let bench = Bench::new();
        let own = [DELEGATION, ROLE_SWITCH, COMPLETION];
        for name in own {
            assert!(find(name).unwrap().needs_turn);
            assert!(bench.run(name, json!({})).await.is_error);
        }
        for tool in TOOLS {
            assert_eq!(tool.needs_assignment, own.contains(&tool.name), "{}", tool.name);
        }
    }
}
