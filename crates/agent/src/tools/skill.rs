//! `skill`: reads a skill, which the model is informed of by name and description alone.

use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::arguments;
use crate::tool::{Tool, ToolContext, ToolOutput};

/// The name of the tool.
pub const SKILL_TOOL: &str = "skill";

pub(super) const SKILL: Tool = Tool {
    name: SKILL_TOOL,
    kind: ToolKind::Read,
    description: "Read a skill before you do what it is for.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<Args>,
    check: arguments::check::<Args>,
    run: |context, value| arguments::run(context, value, read),
};

/// A skill as a tool reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillText {
    pub name: String,
    /// The directory of its files.
    pub dir: String,
    /// What it says.
    pub body: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of the skill.
    name: String,
}

async fn read(context: ToolContext, args: Args) -> Result<ToolOutput, String> {
    let SkillText { name, dir, body } = context.world.skill(args.name).await?;
    let text = format!("Skill {name}; its files are in {dir}\n\n{body}");
    Ok(ToolOutput::new(text, json!({ "name": name, "dir": dir })))
}
