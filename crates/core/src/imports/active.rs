//! What is active for threads of a workspace: decisions laid over what is there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use rookery_agent::commands::{Command, ForeignCommand, Listing, Source};
use rookery_agent::definitions::{self, AgentDefinition};
use rookery_imports::{
    Content, Decision, DecisionKind, Hook, Item, McpServer, PLUGIN_ROOT, Rule, Scan, Skill,
    SourceKind, State, is_active, split_front_matter,
};
use rookery_model::{Result, Thread};
use serde_json::Value;

use super::ImportChange;
use crate::core::blocking;
use crate::rooms::Imports;

/// Why a server of an older transport is not started.
const NO_SSE: &str = "servers that speak SSE are not supported; give its address for streamable HTTP, with type http";

/// What takes effect in threads with one root.
#[derive(Debug, Default)]
pub(crate) struct Active {
    /// The workspace whose decisions count; none if nothing was decided there.
    pub(super) workspace: Option<PathBuf>,
    /// Texts for the model, each with its file.
    pub(super) texts: Vec<(PathBuf, String)>,
    pub(super) skills: Vec<ActiveSkill>,
    pub(super) commands: Vec<Arc<Command>>,
    pub(super) agents: Vec<AgentDefinition>,
    pub(super) hooks: Vec<ActiveHook>,
    pub(super) servers: Vec<ActiveServer>,
    /// Files that would take effect without a decision, and are not to.
    pub(super) ignored: Vec<PathBuf>,
    /// Agents of such files, by name.
    pub(super) ignored_agents: Vec<String>,
}

/// A skill that the model can read.
#[derive(Clone, Debug)]
pub(super) struct ActiveSkill {
    pub(super) skill: Skill,
    pub(super) dir: PathBuf,
}

/// A command for an event.
#[derive(Clone, Debug)]
pub(super) struct ActiveHook {
    pub(super) hook: Hook,
    pub(super) origin: Origin,
    pub(super) plugin: Option<PathBuf>,
}

/// A server that is started when it is needed.
#[derive(Clone, Debug)]
pub(super) struct ActiveServer {
    pub(super) server: McpServer,
    pub(super) origin: Origin,
    pub(super) plugin: Option<PathBuf>,
}

/// The item that something comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) item: String,
    pub(super) hash: String,
    pub(super) path: String,
}

impl Active {
    /// Whether a file that takes effect without a decision is not to.
    pub(crate) fn ignores(&self, file: &Path) -> bool {
        self.ignored.iter().any(|ignored| ignored == file)
    }

    /// Adds commands of imports to those of a workspace, and leaves out what is ignored.
    pub(crate) fn change_commands(&self, listing: &mut Listing) {
        listing.leave_out(&self.ignored);
        listing.add(&self.commands);
    }

    /// The same for agents.
    pub(crate) fn change_agents(&self, agents: &mut Vec<AgentDefinition>) {
        let is_file = |one: &AgentDefinition| one.source != definitions::Source::BuiltIn;
        agents.retain(|one| !is_file(one) || !self.ignored_agents.contains(&one.name));
        for agent in &self.agents {
            if agents.iter().all(|known| known.name != agent.name) {
                agents.push(agent.clone());
            }
        }
        agents.sort_by(|a, b| a.name.cmp(&b.name));
    }

    #[cfg(test)]
    pub(crate) fn hook_commands(&self) -> Vec<&str> {
        self.hooks.iter().map(|one| one.hook.command.as_str()).collect()
    }

    fn add(&mut self, item: Item) -> std::result::Result<(), String> {
        let plugin = item.plugin.as_ref().map(|plugin| plugin.root.clone());
        let origin = Origin {
            item: item.id.clone(),
            hash: item.source.hash.clone(),
            path: item.source.path.clone(),
        };
        match &item.content {
            Content::Guidance(text) => self.texts.push((item.file.clone(), text.clone())),
            Content::Rule(rule) => self.texts.push((item.file.clone(), rule_text(rule))),
            Content::Skill(skill) => {
                free(self.skills.iter().map(|one| one.skill.name.as_str()), &skill.name)?;
                let mut skill = skill.clone();
                skill.body = with_root(&skill.body, plugin.as_deref());
                let dir = item.file.parent().unwrap_or(Path::new("/")).to_owned();
                self.skills.push(ActiveSkill { skill, dir });
            }
            // What takes effect by itself does so once.
            Content::SlashCommand { .. } | Content::Agent { .. } if item.is_live => {}
            Content::SlashCommand { name, text } => {
                free(self.commands.iter().map(|one| one.info.name.as_str()), name)?;
                self.commands.push(Arc::new(command(&item, name, text, plugin.as_deref())?));
            }
            Content::Agent { name, text } => {
                free(self.agents.iter().map(|one| one.name.as_str()), name)?;
                let source = match item.source.path.starts_with('/') {
                    true => definitions::Source::User,
                    false => definitions::Source::Workspace,
                };
                let (definition, _doubts) = definitions::parse(text, source)?;
                let prompt = with_root(&definition.prompt, plugin.as_deref());
                self.agents.push(AgentDefinition { name: name.clone(), prompt, ..definition });
            }
            Content::McpServer(server) => {
                free(self.servers.iter().map(|one| one.server.name.as_str()), &server.name)?;
                let transport = server.transport.as_deref().unwrap_or_default();
                if transport.eq_ignore_ascii_case("sse") {
                    return Err(NO_SSE.to_owned());
                }
                let server = McpServer::clone(server);
                self.servers.push(ActiveServer { server, origin, plugin });
            }
            Content::Hooks(hooks) => self.hooks.extend(hooks.iter().map(|hook| ActiveHook {
                hook: hook.clone(),
                origin: origin.clone(),
                plugin: plugin.clone(),
            })),
            // Its parts are items of their own.
            Content::Plugin(_) => {}
        }
        Ok(())
    }

    fn ignore(&mut self, item: &Item) {
        self.ignored.push(item.file.clone());
        if let (SourceKind::Agent, Some(name)) = (item.source.kind, item.content.name()) {
            self.ignored_agents.push(name.to_owned());
        }
    }
}

impl Imports {
    /// What is active for a thread; nothing if that was not evaluated.
    pub(crate) fn active(&self, thread: &Thread) -> Arc<Active> {
        self.room().active(&thread.root).unwrap_or_default()
    }

    /// What is active for threads with this root, evaluated if it was not yet.
    pub(crate) async fn active_in(&self, root: &Path) -> Arc<Active> {
        match self.room().active(root) {
            Some(active) => active,
            None => self.evaluate(root).await,
        }
    }

    /// Evaluates again what is active for threads with this root: files may have changed.
    pub(crate) async fn evaluate(&self, root: &Path) -> Arc<Active> {
        let _one = self.room().evaluating.lock().await;
        let active = match self.evaluated(root).await {
            Ok(active) => Arc::new(active),
            Err(error) => {
                // A turn never fails because of it.
                tracing::warn!(%error, root = %root.display(), "imports were not evaluated");
                Arc::default()
            }
        };
        self.room().set_active(root.to_owned(), Arc::clone(&active));
        self.end_unwanted_servers();
        active
    }

    /// Puts what was decided in a workspace into effect for all threads there.
    pub(super) async fn evaluate_workspace(&self, workspace: &Path) {
        let mut roots = self.room().roots(Some(workspace));
        if !roots.iter().any(|root| root == workspace) {
            roots.push(workspace.to_owned());
        }
        for root in roots {
            self.evaluate(&root).await;
        }
    }

    /// The same for every workspace.
    pub(super) async fn evaluate_all(&self) {
        for root in self.room().roots(None) {
            self.evaluate(&root).await;
        }
    }

    fn evaluated<'a>(&'a self, root: &'a Path) -> BoxFuture<'a, Result<Active>> {
        Box::pin(self.evaluated_inner(root))
    }

    async fn evaluated_inner(&self, root: &Path) -> Result<Active> {
        let given = root.to_owned();
        let real = blocking(move || given.canonicalize().unwrap_or(given)).await?;
        let Some((workspace, decisions)) = self.decided_around(real.clone()).await? else {
            return Ok(Active::default());
        };
        let with_user = decisions.iter().any(|one| one.path.starts_with('/'));
        let Scan { mut items, .. } = self.read(workspace.clone(), with_user).await?;
        // Of two with the same name the one that was enabled first counts.
        items.sort_by(|a, b| (a.enabled_at, &a.id).cmp(&(b.enabled_at, &b.id)));
        let mut active = Active { workspace: Some(workspace.clone()), ..Active::default() };
        for item in items {
            if matches!(item.state, State::Ignored | State::Disabled) && item.is_live {
                active.ignore(&item);
            }
            if !is_active(&item) {
                continue;
            }
            let origin = Origin {
                item: item.id.clone(),
                hash: item.source.hash.clone(),
                path: item.source.path.clone(),
            };
            if let Err(reason) = active.add(item) {
                self.fail(&workspace, &origin, &reason);
            }
        }
        active.ignored.extend(aliases(&active.ignored, &real, root));
        Ok(active)
    }

    /// The nearest directory around a root in which something was decided that takes effect.
    async fn decided_around(&self, real: PathBuf) -> Result<Option<(PathBuf, Vec<Decision>)>> {
        self.with_decisions(move |all| {
            real.ancestors().find_map(|dir| {
                let decisions = all.of(dir.to_str()?);
                let has_effect = |one: &Decision| {
                    use DecisionKind::{Disable, Enable, Ignore};
                    matches!(one.kind, Enable | Ignore | Disable)
                };
                decisions.iter().any(has_effect).then(|| (dir.to_owned(), decisions))
            })
        })
        .await
    }

    /// Says that an item cannot take effect, unless that was said.
    pub(super) fn fail(&self, workspace: &Path, origin: &Origin, reason: &str) {
        let key = (workspace.to_owned(), origin.item.clone(), origin.hash.clone());
        let message = crate::secrets::hidden(reason).into_owned();
        if self.room().note_failure(key, &message) {
            let (item, path) = (origin.item.clone(), origin.path.clone());
            self.notify(ImportChange::Failed { item, path, message });
        }
    }
}

/// Files below a root as they are called if the root is reached by a link.
fn aliases(files: &[PathBuf], real: &Path, root: &Path) -> Vec<PathBuf> {
    let below =
        files.iter().filter(|_| real != root).filter_map(|file| file.strip_prefix(real).ok());
    below.map(|below| root.join(below)).collect()
}

/// Refuses a name that another import has.
fn free<'a>(
    mut names: impl Iterator<Item = &'a str>,
    name: &str,
) -> std::result::Result<(), String> {
    match names.any(|taken| taken == name) {
        true => Err(format!("another import is called {name} already")),
        false => Ok(()),
    }
}

/// A rule as the model reads it.
fn rule_text(rule: &Rule) -> String {
    let mut text = rule.text.clone();
    if !rule.globs.is_empty() {
        text = format!("This holds for files that match {}:\n{text}", rule.globs.join(", "));
    }
    text
}

fn command(
    item: &Item,
    name: &str,
    text: &str,
    plugin: Option<&Path>,
) -> std::result::Result<Command, String> {
    let (head, body) = split_front_matter(text)?;
    let text_of = |key: &str| head.get(key).and_then(Value::as_str).map(str::to_owned);
    let hint = match head.get("argument-hint") {
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(format!("[{}]", words.join(", ")))
        }
        _ => text_of("argument-hint"),
    };
    let source = match &item.plugin {
        Some(plugin) => Source::Extension(plugin.name.clone()),
        None if item.source.path.starts_with('/') => Source::User,
        None => Source::Workspace,
    };
    let foreign = ForeignCommand {
        name: name.to_owned(),
        description: text_of("description"),
        argument_hint: hint,
        body: with_root(&body, plugin),
    };
    Command::foreign(foreign, source, item.file.clone())
}

/// A text of a plugin in which the plugin's folder is named.
fn with_root(text: &str, plugin: Option<&Path>) -> String {
    match plugin {
        Some(root) => text.replace(&format!("${{{PLUGIN_ROOT}}}"), &root.to_string_lossy()),
        None => text.to_owned(),
    }
}
