//! What a new child will be: its definition, model, tools and bounds, checked before anything happens.

use std::path::PathBuf;
use std::time::Duration;

use rookery_agent::definitions::{self, AgentDefinition, GENERAL, Permission};
use rookery_model::{
    Assignment, ChildOf, Choice, Error, Mode, ParentTurn, Profile, Result, Thread, ToolKind, Turn,
    TurnStatus,
};
use rookery_scripts::structured::Schema;

use super::{NewChild, definitions_in};
use crate::core::blocking;
use crate::rooms::Children;

/// The most characters of an answer that a definition may let through.
const LONGEST_RESULT: u32 = 100_000;

/// Whether a child may have tools of this kind.
pub(crate) fn has_kind(child: &ChildOf, kind: ToolKind) -> bool {
    let in_lane = child.lane.is_none_or(|lane| definitions::lane(lane).kinds.contains(&kind));
    let is_harmless = match kind {
        // Commands are held to reading one by one.
        ToolKind::Read | ToolKind::Exec | ToolKind::Internal | ToolKind::Network => true,
        ToolKind::Write | ToolKind::State | ToolKind::Agents | ToolKind::Unknown => false,
    };
    in_lane && (is_harmless || !child.read_only)
}

/// A child that can be started.
pub(super) struct Plan {
    pub(super) parent: Option<Parent>,
    /// The thread of its parent, or the one that it works for without a turn.
    pub(super) around: Option<Thread>,
    pub(super) cwd: PathBuf,
    pub(super) root: PathBuf,
    pub(super) choice: Choice,
    pub(super) child: ChildOf,
    pub(super) schema: Option<Schema>,
    pub(super) timeout: Duration,
    pub(super) max_chars: usize,
    /// What is to be said if its definition cannot be followed in all.
    pub(super) warning: Option<String>,
}

/// The turn that a child works for, as it is now.
pub(super) struct Parent {
    pub(super) thread: Thread,
    pub(super) turn: Turn,
}

impl Parent {
    pub(super) fn key(&self) -> ParentTurn {
        ParentTurn { thread: self.thread.id, turn: self.turn.id }
    }

    pub(super) fn profile(&self) -> Profile {
        self.turn.settings.profile
    }

    pub(super) fn is_at_work(&self) -> bool {
        self.turn.status == TurnStatus::InProgress
    }
}

impl Plan {
    /// What its client set for a thread holds for its children.
    pub(super) fn assignment(&self) -> Option<Assignment> {
        let thread = self.around.as_ref()?;
        let set = thread.assignment.as_deref()?;
        Some(Assignment { lead: Some(thread.id), ..set.clone() })
    }

    /// The mode that it keeps. That of a turn is looked up as long as the turn is at work.
    pub(super) fn mode(&self) -> Option<Mode> {
        let of = self.around.as_ref().filter(|_| self.parent.is_none())?;
        of.mode
    }
}

impl Children {
    pub(super) async fn plan(&self, new: &NewChild) -> Result<Plan> {
        let blank = |field: &'static str, text: &str| match text.trim().is_empty() {
            true => Err(Error::invalid(field, format!("{field} must not be empty"))),
            false => Ok(()),
        };
        blank("description", &new.description)?;
        blank("prompt", &new.prompt)?;
        let schema = new.schema.clone();
        let schema = blocking(move || schema.as_ref().map(Schema::read).transpose()).await?;
        let schema = schema.map_err(|reason| Error::invalid("schema", reason))?;
        let parent = self.parent(new).await?;
        let around = match &parent {
            Some(parent) => Some(parent.thread.clone()),
            None => new.thread.and_then(|id| self.core.threads().get(id)).map(|seen| seen.thread),
        };
        if around.as_ref().is_some_and(|thread| thread.child.is_some()) {
            return Err(Error::conflict("a child agent cannot start child agents"));
        }
        let (cwd, root) = self.place(new, around.as_ref());
        let definition = self.definition(new, root.clone()).await?;
        let of_turn = parent.as_ref().map(|parent| parent.turn.settings.choice.clone());
        let usual_choice = of_turn.or_else(|| around.as_ref().map(|thread| thread.choice.clone()));
        let (choice, warning) = self.choice(new, &definition, usual_choice);
        let settings = self.core.inner.agents.settings();
        let set = &settings.subagents;
        let usual = new.timeout.filter(|_| new.has_own_limit).unwrap_or(set.timeout);
        let allowed = new.lane.map_or(usual, |lane| set.lane(lane).timeout.min(usual));
        let most = u32::try_from(settings.reliability.max_model_calls_per_turn).unwrap_or(u32::MAX);
        let max_chars = definition.max_result_chars.unwrap_or(set.max_result_chars);
        let mut instructions = definition.prompt.clone();
        if let Some(schema) = &schema {
            instructions.push_str("\n\n");
            instructions.push_str(&schema.instructions());
        }
        let max_chars = new.max_chars.unwrap_or(max_chars.min(LONGEST_RESULT) as usize);
        let timeout = new.timeout.map_or(allowed, |timeout| timeout.min(allowed));
        let child = ChildOf {
            parent: parent.as_ref().map(Parent::key),
            outlives_turn: parent.is_some() && new.outlives_turn,
            trace: None,
            agent: definition.name.clone(),
            lane: new.lane,
            read_only: reads_only(new, &definition),
            tools: tools(new, &definition, around.as_ref(), parent.as_ref()),
            instructions,
            max_calls: definition.max_turns.unwrap_or(set.max_turns).min(most).max(1),
            max_chars: u32::try_from(max_chars).ok(),
            timeout: Some(timeout),
        };
        self.check_held(new, &choice, &child)?;
        Ok(Plan { parent, around, cwd, root, choice, child, schema, timeout, max_chars, warning })
    }

    async fn parent(&self, new: &NewChild) -> Result<Option<Parent>> {
        let Some((thread, turn)) = new.parent else { return Ok(None) };
        let threads = self.core.threads();
        let seen = threads.get(thread).ok_or_else(|| crate::world::no_thread(thread))?;
        if !new.outlives_turn && seen.status.active_turn != Some(turn) {
            return Err(Error::conflict("the turn that the child would work for is over"));
        }
        let turn = threads.turn(thread, turn).await?;
        let turn = turn.ok_or_else(|| Error::conflict("the turn is gone"))?;
        Ok(Some(Parent { thread: seen.thread, turn }))
    }

    /// Refuses a child that is to be held to something where nothing holds it: a provider that is a
    /// program runs tools of its own, and asks us only if it likes.
    fn check_held(&self, new: &NewChild, choice: &Choice, child: &ChildOf) -> Result<()> {
        let provider = &choice.provider;
        if !self.core.inner.agents.registry.is_program(provider) {
            return Ok(());
        }
        let held = if child.read_only {
            "may only read"
        } else if self.mode(new) == Mode::Plan {
            "may change nothing in plan mode"
        } else if child.lane.is_some() || child.tools.is_some() {
            "may use some tools only"
        } else {
            return Ok(());
        };
        let agent = &child.agent;
        let message = format!(
            "the agent {agent} {held}, and provider {provider} runs tools of its own; name a model \
             of another provider"
        );
        Err(Error::invalid("model", message))
    }

    /// The mode that a child would begin in.
    pub(crate) fn mode(&self, new: &NewChild) -> Mode {
        let threads = self.core.threads();
        let world = self.core.look();
        let thread = new.thread.or_else(|| new.parent.map(|(thread, _)| thread));
        let parent = new.parent.map(|(thread, turn)| ParentTurn { thread, turn });
        match (parent.filter(|parent| world.is_at_work(*parent)), new.client) {
            (Some(parent), _) => world.mode_of_turn(parent.thread, parent.turn),
            (None, Some(client)) => threads.mode_for(client, thread),
            (None, None) => thread.map_or(world.mode, |thread| world.mode_of(thread)),
        }
    }

    /// Whether a child would be held to reading, by its definition or its lane.
    ///
    /// # Errors
    /// If there is no such definition.
    pub(crate) async fn reads_only(&self, new: &NewChild) -> Result<bool> {
        let thread = new.thread.or_else(|| new.parent.map(|(thread, _)| thread));
        let around = thread.and_then(|id| self.core.threads().get(id)).map(|seen| seen.thread);
        let (_, root) = self.place(new, around.as_ref());
        Ok(reads_only(new, &self.definition(new, root).await?))
    }

    /// Where it works, and what its tools may reach.
    fn place(&self, new: &NewChild, around: Option<&Thread>) -> (PathBuf, PathBuf) {
        if let (Some(cwd), Some(tree)) = (&new.cwd, &new.tree) {
            return (cwd.clone(), tree.clone());
        }
        let around = around.map(|thread| (&thread.cwd, &thread.root));
        match (&new.cwd, around) {
            (None, Some((cwd, root))) => (cwd.clone(), root.clone()),
            (Some(cwd), Some((_, root))) if cwd.starts_with(root) => (cwd.clone(), root.clone()),
            (Some(cwd), _) => (cwd.clone(), cwd.clone()),
            (None, None) => {
                let cwd = self.core.agents().cwd();
                (cwd.clone(), cwd)
            }
        }
    }

    async fn definition(&self, new: &NewChild, root: PathBuf) -> Result<AgentDefinition> {
        let name = new.agent_type.clone().unwrap_or_else(|| GENERAL.to_owned());
        let (found, _) = definitions_in(&self.core, root).await?;
        let names: Vec<String> = found.iter().map(|one| one.name.clone()).collect();
        found.into_iter().find(|one| one.name == name).ok_or_else(|| {
            let (name, names) = (rookery_model::spelled(&name), names.join(", "));
            Error::invalid("agent_type", format!("unknown agent type: {name}; there are {names}"))
        })
    }

    /// Which model answers. One that a definition names and the provider does not know is passed over:
    /// the file may have been written for another provider.
    fn choice(
        &self,
        new: &NewChild,
        definition: &AgentDefinition,
        usual: Option<Choice>,
    ) -> (Choice, Option<String>) {
        let agents = &self.core.inner.agents;
        let usual = usual.unwrap_or_else(|| self.core.agents().default_choice());
        let named = |model: &str| match model.split_once('/') {
            Some((provider, model)) if agents.provider(provider).is_some() => {
                Choice { provider: provider.to_owned(), model: model.to_owned(), reasoning: None }
            }
            _ => Choice {
                provider: usual.provider.clone(),
                model: model.to_owned(),
                reasoning: None,
            },
        };
        if let Some(model) = &new.model {
            return (named(model), None);
        }
        let Some(model) = &definition.model else { return (usual, None) };
        let wanted = named(model);
        if agents.registry.known_model(&wanted.provider, &wanted.model).is_some() {
            return (wanted, None);
        }
        let warning = format!(
            "agent {} names the model {}, which provider {} does not have; {} answers instead",
            definition.name,
            rookery_model::spelled(model),
            wanted.provider,
            usual.model
        );
        (usual, Some(warning))
    }
}

fn reads_only(new: &NewChild, definition: &AgentDefinition) -> bool {
    definition.permission == Permission::ReadOnly
        || new.lane.is_some_and(|lane| definitions::lane(lane).is_read_only)
}

/// The only tools it has: each list narrows what is left, and no list leaves all.
fn tools(
    new: &NewChild,
    definition: &AgentDefinition,
    around: Option<&Thread>,
    parent: Option<&Parent>,
) -> Option<Vec<String>> {
    let asked = new.tools.as_ref().map(|names| {
        names.iter().flat_map(|name| definitions::tools_named(name)).collect::<Vec<_>>()
    });
    let of_parent = around.and_then(|thread| thread.tool_allowlist.clone());
    let of_turn = parent.and_then(|parent| parent.turn.settings.allowed_tools.clone());
    let lists = [definition.tools.clone(), asked, of_parent, of_turn];
    lists.into_iter().flatten().reduce(|mut left, other| {
        left.retain(|name| other.contains(name));
        left
    })
}
