//! `echo`: says the same again.

use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::arguments;
use crate::tool::{Tool, ToolContext, ToolOutput};

pub(super) const ECHO: Tool = Tool {
    name: "echo",
    kind: ToolKind::Read,
    description: "Return the given text unchanged.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<Args>,
    check: arguments::check::<Args>,
    run: |context, value| arguments::run(context, value, run),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    text: String,
}

async fn run(_context: ToolContext, args: Args) -> Result<ToolOutput, String> {
    let data = json!({"text": args.text});
    Ok(ToolOutput::new(args.text, data))
}
