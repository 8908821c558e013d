//! What the model of a thread with an assignment is sent beside what every thread is sent.

use std::path::Path;

use rookery_model::{Assignment, Role};

use super::rules::rules;

/// The slug whose rules count where no role was chosen.
const NO_ROLE: &str = "code";

/// Instructions for an assignment, in order: its role, those of its client, rules of the user and of the
/// workspace, and the roles there are. Blocks.
pub fn guidance(
    assignment: &Assignment,
    workspace: &Path,
    home: &Path,
    config_home: Option<&Path>,
) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(role) = &assignment.role {
        told.push(format!(
            "You work in the role {} ({}).\n{}",
            role.name, role.slug, role.definition
        ));
        told.extend(role.instructions.clone());
    }
    let is_filled = |text: &String| !text.trim().is_empty();
    told.extend(assignment.instructions.clone().filter(is_filled));
    let slug = assignment.role.as_ref().map_or(NO_ROLE, |role| &role.slug);
    told.extend(rules(workspace, home, slug));
    let (roles, _) = super::list(workspace, config_home, &assignment.roles);
    told.push(choices(&roles));
    told
}

/// The roles that an agent may switch to or hand work to.
fn choices(roles: &[Role]) -> String {
    let mut text = "Roles that switch_mode and new_task take, by slug:".to_owned();
    for role in roles {
        let when = role.when_to_use.as_deref().unwrap_or_else(|| first_sentence(&role.definition));
        text.push_str(&format!("\n- {} ({}): {when}", role.slug, role.name));
    }
    text
}

fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(first, _)| first)
}
