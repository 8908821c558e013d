//! `task`: starts a child agent and waits for its answer.
//!
//! Only the driver of a turn can carry it out, so here its arguments are read, no more.

use rookery_model::{Lane, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::answers::refused;
use super::arguments;
use crate::tool::Tool;

/// The tool that starts a child agent.
pub const CHILD: &str = "task";

/// The longest description.
const DESCRIPTION_LIMIT: usize = 200;
/// The longest prompt.
const PROMPT_LIMIT: usize = 256 << 10;

pub(super) const TASK: Tool = Tool {
    name: CHILD,
    kind: ToolKind::Agents,
    description: "Hand a self-contained piece of work to a child agent and get its answer. It knows \
                  only what the prompt says. Several calls in one step run side by side.",
    needs_turn: true,
    needs_assignment: false,
    parameters: arguments::schema::<TaskArgs>,
    check: |value| task_call(value.clone()).map(drop),
    run: |_, _| refused(CHILD),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskArgs {
    /// Assignment: what the task should do, in three to five words.
    description: String,
    /// All that is to be known and done.
    prompt: String,
    /// The kind of agent: explore, general, or one that the workspace defines.
    subagent_type: Option<String>,
    /// The model, if not the same as here.
    model: Option<String>,
    /// Restricts its tools to those of a lane.
    lane: Option<LaneArg>,
}

/// A lane, as the model writes it.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LaneArg {
    Scout,
    Editor,
    Reviewer,
    Runner,
}

impl LaneArg {
    fn into_model(self) -> Lane {
        match self {
            Self::Scout => Lane::Scout,
            Self::Editor => Lane::Editor,
            Self::Reviewer => Lane::Reviewer,
            Self::Runner => Lane::Runner,
        }
    }
}

/// A child agent to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskCall {
    /// Assignment: what the task should do, in a few words.
    pub description: String,
    /// All that is to be known and done.
    pub prompt: String,
    /// The name of its definition.
    pub agent: Option<String>,
    pub model: Option<String>,
    pub lane: Option<Lane>,
}

/// Reads the arguments of `task`.
pub fn task_call(arguments: Value) -> Result<TaskCall, String> {
    let args: TaskArgs = arguments::decode(arguments)?;
    arguments::not_blank("description", &args.description)?;
    arguments::not_blank("prompt", &args.prompt)?;
    if args.description.chars().count() > DESCRIPTION_LIMIT {
        return Err(format!("description must have {DESCRIPTION_LIMIT} characters at most"));
    }
    if args.prompt.len() > PROMPT_LIMIT {
        return Err(format!("prompt must have {PROMPT_LIMIT} bytes at most"));
    }
    let filled = |text: Option<String>| {
        text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    Ok(TaskCall {
        description: args.description.trim().to_owned(),
        prompt: args.prompt,
        agent: filled(args.subagent_type),
        model: filled(args.model),
        lane: args.lane.map(LaneArg::into_model),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_read_strictly() {
        let read = task_call(json!({"description": " look ", "prompt": "p", "lane": "scout"}));
        let expected = TaskCall {
            description: "look".into(),
            prompt: "p".into(),
            agent: None,
            model: None,
            lane: Some(Lane::Scout),
        };
        assert_eq!(read.unwrap(), expected);
        for wrong in [
            json!({"description": "d"}),
            json!({"description": "", "prompt": "p"}),
            json!({"description": "d", "prompt": " "}),
            json!({"description": "d", "prompt": "p", "lane": "fast"}),
            json!({"description": "d", "prompt": "p", "colour": "red"}),
            json!({"description": "d".repeat(201), "prompt": "p"}),
            json!({"description": "d", "prompt": "p".repeat(PROMPT_LIMIT + 1)}),
        ] {
            assert!(task_call(wrong).is_err());
        }
    }
}
