//! Scripts that we wrote ourselves.

use serde_json::Value;

/// Scripts that ship with us, by name.
pub const BUILT_IN: &[(&str, &str)] = &[("deep-research", include_str!("deep_research.js"))];

/// A script that asks one agent, and says what it answers.
pub fn single_agent(prompt: &str) -> String {
    let prompt = Value::from(prompt);
    format!(
        "workflow.define({{ name: \"single-agent\", description: \"Asks one agent.\", limits: {{ maxAgentsPerRun: 1 }} }}, async (ctx) => {{\n  \
         const result = await ctx.agents.run(\"general\", {{ prompt: {prompt} }});\n  \
         if (result.status !== \"completed\") throw new Error(\"the agent failed: \" + (result.error ?? result.status));\n  \
         return result.output;\n}});\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Script;

    #[test]
    fn our_own_scripts_are_read() {
        for (name, text) in BUILT_IN {
            assert_eq!(Script::read(text).unwrap().name, *name);
        }
        for prompt in ["plain", "\"quoted\" `${x}` \\ \n\u{2028}"] {
            assert_eq!(Script::read(&single_agent(prompt)).unwrap().name, "single-agent");
        }
    }
}
