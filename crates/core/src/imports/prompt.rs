//! What the model gets of imports: texts of guidance and rules, and which skills there are.

use std::path::Path;

use rookery_agent::tools::{SKILL_TOOL, SkillText};
use rookery_model::Thread;

use super::Active;
use crate::rooms::Imports;

/// How much of one text is sent.
const TEXT_LIMIT: usize = 32 << 10;
/// How much of all texts is sent.
const TEXTS_LIMIT: usize = 128 << 10;
/// Characters of a skill's description that are sent.
const DESCRIPTION_LIMIT: usize = 500;
/// Skills that are listed.
const SKILLS_LIMIT: usize = 200;

impl Active {
    /// What the model is sent, beside the text of the project itself.
    pub(crate) fn instructions(&self, root: &Path, own: Option<&str>) -> Vec<String> {
        let mut sections = Vec::new();
        let mut room = TEXTS_LIMIT;
        for (file, text) in &self.texts {
            let text = &text[..text.floor_char_boundary(TEXT_LIMIT.min(room))];
            // The project's own text, or a copy of it, is sent already.
            if text.is_empty() || own.is_some_and(|own| own.contains(text)) {
                continue;
            }
            room -= text.len();
            let shown = file.strip_prefix(root).unwrap_or(file);
            sections.push(format!("From {} of this project:\n{text}", shown.display()));
        }
        sections.extend(self.skills_overview());
        sections
    }

    fn skills_overview(&self) -> Option<String> {
        if self.skills.is_empty() {
            return None;
        }
        let mut text = format!(
            "Skills that this project has. Call the tool {SKILL_TOOL} with a name to read one before you \
             do what it is for:"
        );
        for one in self.skills.iter().take(SKILLS_LIMIT) {
            let plain = one.skill.description.replace(char::is_control, " ");
            let description: String = plain.chars().take(DESCRIPTION_LIMIT).collect();
            text += &format!("\n- {}: {description}", one.skill.name);
        }
        Some(text)
    }

    /// Whether there is a skill to read.
    pub(crate) fn has_skills(&self) -> bool {
        !self.skills.is_empty()
    }
}

impl Imports {
    /// A skill of a thread, as its tool reads it.
    pub(crate) async fn skill(&self, thread: &Thread, name: &str) -> Result<SkillText, String> {
        let active = self.active_in(&thread.root).await;
        let found = active.skills.iter().find(|one| one.skill.name == name);
        let Some(one) = found else {
            let names: Vec<&str> =
                active.skills.iter().map(|one| one.skill.name.as_str()).collect();
            return Err(match names.is_empty() {
                true => "there are no skills here".to_owned(),
                false => format!("there is no such skill; there are {}", names.join(", ")),
            });
        };
        Ok(SkillText {
            name: one.skill.name.clone(),
            dir: one.dir.to_string_lossy().into_owned(),
            body: one.skill.body.clone(),
        })
    }
}
