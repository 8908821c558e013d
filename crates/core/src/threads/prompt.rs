//! What a model is asked: instructions, the conversation, and the tools it may call.

use rookery_agent::provider::{
    Auth, Entry, EntryBody, Failure, FailureKind, ModelEvent, ModelRequest, ModelStream,
    ToolChoice, ToolSpec,
};
use rookery_agent::providers::Loan;
use rookery_agent::tools;
use rookery_agent::turn::{CallShape, Offer, entries};
use rookery_model::{ItemBody, Mode, Thread};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::run::Runner;
use super::wanted::has_tool;

const ROLE: &str = "You are a coding agent working for a user on their machine, in Rookery. \
Be direct, and finish the task before you answer. Read before you change; change only what the task \
needs; check your work by running what the project offers. Prefer the tools for files and searching \
over shell commands. Say what you did and what you could not do, and never claim what you did not see.";

const PLANNING: &str = "You are in plan mode: look and think, but change nothing. When the plan is \
ready, call exit_plan_mode with its summary and wait for the answer.";

/// What is said in place of a user, where a turn begins without a message and the agent spoke last: most
/// models answer only those who speak.
const GO_ON: &str = "Go on where you stopped.";

impl Runner {
    /// Asks the model; what goes wrong before it could be asked comes as its failure.
    pub(super) fn call_model(&mut self, shape: CallShape) {
        let choice = self.turn.settings.choice.clone();
        let agents = &self.core.inner.agents;
        let request = self.request(shape);
        self.model = Some(match agents.provider(&choice.provider) {
            None => failed(format!("unknown provider: {}", choice.provider), FailureKind::Rejected),
            Some(_) if self.brings_images() && !agents.takes_images(&choice.provider) => {
                let message = format!("provider {} does not support image input", choice.provider);
                failed(message, FailureKind::NoImages)
            }
            Some(provider) => provider.call(request),
        });
    }

    /// The keys that were lent for the provider of this turn.
    pub(super) fn lent_keys(&self) -> Vec<Loan> {
        let provider = &self.turn.settings.choice.provider;
        self.keys.iter().filter(|loan| loan.provider() == provider).cloned().collect()
    }

    /// Says what to do where a turn that an earlier daemon began lacks the key that its caller lent.
    pub(super) fn explained(&self, event: ModelEvent) -> ModelEvent {
        let ModelEvent::Failed(mut failure) = event else { return event };
        let info = self.core.inner.agents.registry.info(&self.turn.settings.choice.provider);
        if let Some(info) = info
            && self.is_resumed
            && failure.kind == FailureKind::Auth
            && !matches!(info.auth, Auth::OAuth(_))
        {
            let named = match info.auth {
                Auth::ApiKey(variable) => vec![variable],
                Auth::None | Auth::OAuth(_) => info.wanted_keys,
            };
            let shell = match named.is_empty() {
                true => "a shell that has the key".to_owned(),
                false => format!("a shell that has {}", named.join(" or ")),
            };
            failure
                .message
                .push_str("; keys of callers are not kept over a restart of the daemon: ");
            failure.message.push_str(&format!("run the prompt again from {shell}"));
        }
        ModelEvent::Failed(failure)
    }

    /// Whether nothing was said in this turn yet.
    fn is_continued(&self) -> bool {
        let contents = self.live.read();
        contents.items.last().is_some_and(|placed| placed.turn != self.turn.id)
    }

    /// Whether what the user said in this turn has images.
    fn brings_images(&self) -> bool {
        let contents = self.live.read();
        let mut said = contents.items.iter().filter(|placed| placed.turn == self.turn.id);
        said.any(|placed| {
            matches!(&placed.item.body, ItemBody::User { images, .. } if !images.is_empty())
        })
    }

    fn request(&self, shape: CallShape) -> ModelRequest {
        let settings = &self.turn.settings;
        let (choice, agents) = (&settings.choice, &self.core.inner.agents);
        let (thread, mode) = {
            let world = self.core.look();
            let thread = world.threads.get(&self.live.id).map(|state| state.thread.clone());
            (thread, world.mode_in(self.live.id, self.turn.id))
        };
        let mut request = ModelRequest {
            thread: self.live.id.to_string(),
            model: choice.model.clone(),
            reasoning: choice.reasoning.clone(),
            entries: entries(self.live.read().items_by_turn(), &choice.provider),
            parallel_tools: agents.has_parallel_tools(&choice.provider),
            web_search: agents.searches_web(),
            keys: self.lent_keys(),
            ..ModelRequest::default()
        };
        if self.is_continued() && request.entries.last().is_some_and(is_agents) {
            let step = request.entries.last().map_or(0, |entry| entry.step + 1);
            let body = EntryBody::User { text: GO_ON.to_owned(), images: Vec::new() };
            request.entries.push(Entry { step, body, opaque: None });
        }
        if !agents.takes_images(&choice.provider) {
            without_images(&mut request.entries);
        }
        let Some(thread) = thread else { return request };
        request.cwd.clone_from(&thread.cwd);
        request.instructions = self.instructions(&thread, mode);
        request.instructions.extend(shape.reminders);
        let offered = self.core.offered_tools(&thread, settings.allowed_tools.as_deref(), mode);
        (request.tools, request.tool_choice) = match shape.offer {
            Offer::All => (offered, ToolChoice::Auto),
            Offer::None => (Vec::new(), ToolChoice::None),
            Offer::Only(name) => {
                let only: Vec<ToolSpec> =
                    offered.into_iter().filter(|tool| tool.name == name).collect();
                let choice = if only.is_empty() {
                    ToolChoice::None
                } else {
                    ToolChoice::Tool(name.to_owned())
                };
                (only, choice)
            }
        };
        request
    }

    fn instructions(&self, thread: &Thread, mode: Mode) -> Vec<String> {
        let today = jiff::Timestamp::now().strftime("%Y-%m-%d");
        let mut instructions = vec![
            ROLE.to_owned(),
            format!("Working directory: {}\nToday: {today}", thread.cwd.display()),
        ];
        instructions.extend((mode == Mode::Plan).then(|| PLANNING.to_owned()));
        if let Some(goal) = &thread.goal {
            instructions.push(format!("The goal of this conversation: {}", goal.objective));
        }
        let agents = &self.core.inner.agents;
        let imports = self.core.imports().active(thread);
        let own = agents.project_instructions(&thread.root, |file| imports.ignores(file));
        let imported = imports.instructions(&thread.root, own.as_deref());
        instructions.extend(own);
        instructions.extend(imported);
        if let Some(assignment) = &thread.assignment {
            instructions.extend(agents.guidance(assignment, &thread.root));
        }
        if let Some(child) = &thread.child {
            instructions.push(child.instructions.clone());
        }
        instructions.extend(thread.developer_instructions.clone());
        instructions.extend(self.turn.settings.developer_context.clone());
        instructions
    }
}

impl crate::core::Core {
    /// The tools that a thread's model is informed of.
    pub(crate) fn offered_tools(
        &self,
        thread: &Thread,
        allowed: Option<&[String]>,
        mode: Mode,
    ) -> Vec<ToolSpec> {
        let external = thread.external_tools.iter().map(|tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: serde_json::from_str(&tool.parameters).unwrap_or_default(),
        });
        let mut offered: Vec<ToolSpec> = external.collect();
        let is_shadowed = |name: &str| thread.external_tools.iter().any(|tool| tool.name == name);
        let agents = &self.inner.agents;
        let has_skills = self.imports().active(thread).has_skills();
        let built_in = tools::TOOLS.iter().filter(|tool| {
            !is_shadowed(tool.name)
                && (!tool.needs_assignment || thread.assignment.is_some())
                && (tool.name != tools::SKILL_TOOL || has_skills)
                && agents.may_use(tool.name, thread, allowed)
                && has_tool(thread, tool.name, tool.kind, false)
                && (mode == Mode::Plan || tool.name != "exit_plan_mode")
        });
        offered.extend(built_in.map(rookery_agent::tool::Tool::spec));
        let imported = self.imports().servers(thread).into_iter().flat_map(|one| one.tools());
        let foreign = agents.mcp.tools().into_iter().chain(imported).filter(|(spec, kind)| {
            !is_shadowed(&spec.name)
                && agents.may_use(&spec.name, thread, allowed)
                && has_tool(thread, &spec.name, *kind, true)
        });
        offered.extend(foreign.map(|(spec, _)| spec));
        offered
    }
}

fn is_agents(entry: &Entry) -> bool {
    matches!(entry.body, EntryBody::Agent { .. } | EntryBody::Reasoning { .. })
}

/// Leaves out images of earlier turns, which another provider saw.
fn without_images(entries: &mut [Entry]) {
    for entry in entries {
        if let EntryBody::User { images, .. } | EntryBody::ToolResult { images, .. } =
            &mut entry.body
        {
            images.clear();
        }
    }
}

/// A stream that fails at once.
fn failed(message: String, kind: FailureKind) -> ModelStream {
    let (sender, events) = mpsc::channel(1);
    // There is room for one, and the other end is here.
    let _ = sender.try_send(ModelEvent::Failed(Failure { message, kind }));
    ModelStream { events, answers: None, guard: CancellationToken::new().drop_guard() }
}
