//! Decisions: to enable an item, to ignore it, to forget what was decided, and to look again.

use std::path::Path;
use std::sync::Arc;

use rookery_imports::{Decision, DecisionKind, Item, Scan, State};
use rookery_model::{Error, ErrorKind, Result};

use super::ImportChange;
use crate::clock;
use crate::rooms::Imports;

/// An item that is to be enabled.
#[derive(Clone, Debug, Default)]
pub struct NewImport {
    /// The item.
    pub id: String,
    /// Whether that it starts programs or contacts servers is approved.
    pub approves: bool,
    /// What its file was like when it was shown; if it is given, it has to be like that still.
    pub hash: Option<String>,
}

/// What came of enabling an item.
#[derive(Clone, Debug)]
pub enum EnabledImport {
    /// It takes effect.
    Done(Box<Item>, Decision),
    /// It starts programs or contacts servers, which has to be approved. Nothing has happened.
    NeedsApproval(Box<Item>),
}

/// What came of looking again.
#[derive(Clone, Debug)]
pub struct Refreshed {
    /// What is there.
    pub scan: Scan,
    /// Items that were enabled and are not as they were.
    pub stale: Vec<Item>,
    /// Decisions to enable items that are gone.
    pub missing: Vec<Decision>,
}

impl Imports {
    /// Lets an item take effect in a workspace.
    ///
    /// # Errors
    /// If there is no such item, its file has changed since it was shown, or that cannot be kept.
    pub async fn enable(&self, workspace: &Path, new: NewImport) -> Result<EnabledImport> {
        self.refuse_agents()?;
        let workspace = self.workspace(workspace).await?;
        let item = self.find(&workspace, &new.id).await?;
        if new.hash.as_ref().is_some_and(|hash| *hash != item.source.hash) {
            let message =
                format!("{} has changed since it was shown; look again", item.source.path);
            return Err(Error::conflict(message));
        }
        if item.needs_approval && !new.approves {
            return Ok(EnabledImport::NeedsApproval(Box::new(item)));
        }
        let decision = Decision {
            approved_side_effects: new.approves,
            ..decided(&workspace, &item, DecisionKind::Enable)
        };
        self.keep(&workspace, decision.clone()).await?;
        let mut item = self.find(&workspace, &new.id).await.unwrap_or(item);
        if item.state == State::Failed {
            // Clients were sent the reason for the others.
            item.enabled_at = None;
        }
        self.notify(ImportChange::Enabled(Arc::new(item.clone()), decision.clone()));
        Ok(EnabledImport::Done(Box::new(item), decision))
    }

    /// Keeps an item from taking effect, and from being offered.
    ///
    /// # Errors
    /// If there is no such item, or that cannot be kept.
    pub async fn ignore(&self, workspace: &Path, id: &str) -> Result<Decision> {
        self.switch_off(workspace, id, DecisionKind::Ignore, false).await
    }

    /// Ends the effect of an item.
    ///
    /// # Errors
    /// If there is no such item, or that cannot be kept.
    pub async fn disable(&self, workspace: &Path, id: &str) -> Result<Decision> {
        self.switch_off(workspace, id, DecisionKind::Disable, false).await
    }

    /// Takes back what was decided about an item, also if its file is gone. The file is not touched.
    ///
    /// # Errors
    /// If there is neither such an item nor such a decision, or that cannot be kept.
    pub async fn remove(&self, workspace: &Path, id: &str) -> Result<Decision> {
        self.switch_off(workspace, id, DecisionKind::Remove, true).await
    }

    async fn switch_off(
        &self,
        workspace: &Path,
        id: &str,
        kind: DecisionKind,
        is_always_told: bool,
    ) -> Result<Decision> {
        self.refuse_agents()?;
        let workspace = self.workspace(workspace).await?;
        let before = self.decision_on(&workspace, id).await?;
        let found = self.look_at(workspace.clone(), true).await?;
        let decision = match (found.item(id), &before) {
            (Some(item), _) => decided(&workspace, item, kind),
            (None, Some(before)) => Decision {
                kind,
                approved_side_effects: false,
                decided_at: clock::wall(),
                ..before.clone()
            },
            (None, None) => return Err(unknown(id)),
        };
        let was_enabled = before.is_some_and(|before| before.kind == DecisionKind::Enable);
        self.keep(&workspace, decision.clone()).await?;
        if was_enabled || is_always_told {
            self.notify(ImportChange::Disabled(decision.clone()));
        }
        Ok(decision)
    }

    /// Looks again, and says which items are not as they were when they were enabled.
    ///
    /// # Errors
    /// If the workspace is wrong or cannot be read.
    pub async fn refresh(&self, workspace: &Path) -> Result<Refreshed> {
        let workspace = self.workspace(workspace).await?;
        let scan = self.look_at(workspace.clone(), true).await?;
        let decisions = self.decisions_of(&workspace).await?;
        let enabled = decisions.into_iter().filter(|one| one.kind == DecisionKind::Enable);
        let (mut stale, mut missing) = (Vec::new(), Vec::new());
        for decision in enabled {
            match scan.item(&decision.item_id) {
                None => missing.push(decision),
                Some(item) if item.state == State::Stale => {
                    let (item, previous_hash) = (item.clone(), decision.source_hash);
                    let changed = Arc::new(item.clone());
                    self.notify(ImportChange::Stale { item: changed, previous_hash });
                    stale.push(item);
                }
                Some(_) => {}
            }
        }
        self.evaluate_workspace(&workspace).await;
        Ok(Refreshed { scan, stale, missing })
    }

    async fn find(&self, workspace: &Path, id: &str) -> Result<Item> {
        let scan = self.look_at(workspace.to_owned(), true).await?;
        scan.items.into_iter().find(|item| item.id == id).ok_or_else(|| unknown(id))
    }

    async fn decision_on(&self, workspace: &Path, id: &str) -> Result<Option<Decision>> {
        let (workspace, id) = (workspace.to_string_lossy().into_owned(), id.to_owned());
        self.with_decisions(move |all| all.get(&workspace, &id).cloned()).await
    }

    /// Keeps a decision, and puts it into effect.
    async fn keep(&self, workspace: &Path, decision: Decision) -> Result<()> {
        self.room().clear_failure(workspace, &decision.item_id);
        let kept = self.with_decisions(move |all| all.set(decision)).await?;
        kept.map_err(|error| Error::failed(format!("the decision cannot be kept: {error}")))?;
        self.evaluate_workspace(workspace).await;
        Ok(())
    }

    fn refuse_agents(&self) -> Result<()> {
        match self.core.caller().is_agent() {
            false => Ok(()),
            true => {
                let message = "a program that an agent runs cannot decide what is imported";
                Err(Error::new(ErrorKind::Denied, message))
            }
        }
    }
}

fn decided(workspace: &Path, item: &Item, kind: DecisionKind) -> Decision {
    Decision {
        item_id: item.id.clone(),
        kind,
        source_hash: item.source.hash.clone(),
        approved_side_effects: false,
        decided_at: clock::wall(),
        workspace: workspace.to_string_lossy().into_owned(),
        path: item.source.path.clone(),
        name: item.source.name.clone(),
        source: item.source.kind,
    }
}

fn unknown(id: &str) -> Error {
    let shown: String = id.chars().take(128).collect();
    Error::invalid("item_id", format!("unknown item_id: {shown}"))
}
