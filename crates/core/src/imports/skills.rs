//! Skills as clients list, read and switch them.

use std::path::Path;

use rookery_imports::{Item, ScanError, SourceKind};
use rookery_model::{Error, Result};

use super::{EnabledImport, NewImport};
use crate::rooms::Imports;

/// Which skill is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillSelector {
    /// The one of this name.
    Name(String),
    /// The one in this file: from the workspace on, or absolute.
    Path(String),
}

/// Skills of a workspace and of the user.
#[derive(Clone, Debug, Default)]
pub struct SkillList {
    /// Skills by name.
    pub skills: Vec<Item>,
    /// What is wrong with files of skills.
    pub errors: Vec<ScanError>,
}

impl SkillSelector {
    fn fits(&self, item: &Item) -> bool {
        match self {
            Self::Name(name) => item.content.name() == Some(name),
            Self::Path(path) => {
                item.source.path == *path || item.file.to_str() == Some(path.as_str())
            }
        }
    }
}

impl Imports {
    /// The skills that could be used in a workspace, enabled or not.
    ///
    /// # Errors
    /// If the workspace is wrong or cannot be read.
    pub async fn skills(&self, workspace: &Path) -> Result<SkillList> {
        let workspace = self.workspace(workspace).await?;
        let scan = self.look_at(workspace, true).await?;
        let is_skill = |item: &Item| item.source.kind == SourceKind::Skill;
        let mut skills: Vec<Item> = scan.items.into_iter().filter(is_skill).collect();
        skills.sort_by(|a, b| {
            (a.content.name(), &a.source.path).cmp(&(b.content.name(), &b.source.path))
        });
        let errors = scan.errors.into_iter().filter(|error| error.path.contains("skills"));
        Ok(SkillList { skills, errors: errors.collect() })
    }

    /// One skill; of several with the same name the one that is enabled, else the first by its path.
    ///
    /// # Errors
    /// If the workspace is wrong or cannot be read.
    pub async fn find_skill(
        &self,
        workspace: &Path,
        selector: &SkillSelector,
    ) -> Result<Option<Item>> {
        let skills = self.skills(workspace).await?.skills;
        let mut fitting: Vec<Item> =
            skills.into_iter().filter(|item| selector.fits(item)).collect();
        fitting.sort_by_key(|item| !rookery_imports::is_active(item));
        Ok(fitting.into_iter().next())
    }

    /// Switches a skill on or off, and gives all skills as they are then.
    ///
    /// # Errors
    /// If there is no such skill, or that cannot be kept.
    pub async fn set_skill(
        &self,
        workspace: &Path,
        selector: &SkillSelector,
        is_enabled: bool,
    ) -> Result<SkillList> {
        let item = self.find_skill(workspace, selector).await?.ok_or_else(|| {
            let (SkillSelector::Name(shown) | SkillSelector::Path(shown)) = selector;
            let shown: String = shown.chars().take(128).collect();
            Error::invalid("selector", format!("unknown skill: {shown}"))
        })?;
        match is_enabled {
            // A skill is text: there is nothing to approve.
            true => {
                let new = NewImport { id: item.id, ..NewImport::default() };
                let _: EnabledImport = self.enable(workspace, new).await?;
            }
            false => drop(self.disable(workspace, &item.id).await?),
        }
        self.skills(workspace).await
    }
}
