//! Settings of a client as what a thread is assigned: role, what may be done unasked, provider, place.

use std::path::{Path, PathBuf};

use rookery_agent::turn::Message;
use rookery_model::{
    Assignment, Bounds, Choice, Prices, Reach, Role, ToolGroup, ToolSort, Unasked,
};
use serde_json::Value;

use crate::context::Cx;
use crate::errors::{Code, Failure};
use crate::project::tools;
use crate::provider;
use crate::wire::{CustomMode, Group, Settings};

/// What a new task is to be.
pub(crate) struct Plan {
    pub(crate) cwd: PathBuf,
    pub(crate) choice: Choice,
    pub(crate) assignment: Assignment,
}

/// Reads what a client wants of a task, on top of what holds for all.
pub(crate) async fn plan(cx: &Cx, configuration: Settings) -> Result<Plan, Failure> {
    let base = cx.hub.profiles().for_task(&configuration).await?;
    let settings = base.settings.with(&configuration);
    let cwd = directory(cx, &settings)?;
    let roles: Vec<Role> = settings.modes().into_iter().map(role).collect();
    let role = match settings.text("mode") {
        Some(slug) => Some(find_role(cx, &cwd, &roles, slug).await?),
        None => None,
    };
    let choice = choice(cx, &settings, base.provider.as_deref()).await?;
    let assignment = Assignment {
        role,
        roles,
        unasked: unasked(&settings),
        lead: None,
        prices: prices(&settings),
        bounds: bounds(&settings),
        instructions: instructions(&settings),
        settings: settings.without_secrets().to_value().to_string(),
    };
    Ok(Plan { cwd, choice, assignment })
}

/// Where a task works: the listener's workspace, or a directory inside of it.
fn directory(cx: &Cx, settings: &Settings) -> Result<PathBuf, Failure> {
    let workspace = &cx.listener.workspace;
    let Some(wanted) = settings.text("workingDirectory") else { return Ok(workspace.clone()) };
    let path = workspace.join(wanted);
    let name = "configuration.workingDirectory";
    let path = path.canonicalize().map_err(|_| Failure::invalid(name, "is no directory"))?;
    let inside = workspace.canonicalize().is_ok_and(|workspace| path.starts_with(workspace));
    match inside && path.is_dir() {
        true => Ok(path),
        false => {
            let message = format!("`{name}` is outside of the workspace of this listener");
            Err(Failure::new(Code::PermissionDenied, message))
        }
    }
}

/// The modes that there are, as roles, with those of the client's own.
pub(crate) async fn roles(cx: &Cx, own: Vec<CustomMode>) -> Vec<Role> {
    let own: Vec<Role> = own.into_iter().map(role).collect();
    cx.core.agents().roles(&cx.listener.workspace, &own).await.unwrap_or_default()
}

async fn find_role(cx: &Cx, cwd: &Path, extra: &[Role], slug: &str) -> Result<Role, Failure> {
    let found = cx.core.agents().role(cwd, extra, slug).await;
    found.map_err(|error| Failure::invalid("configuration.mode", format!("is not known: {error}")))
}

fn role(mode: CustomMode) -> Role {
    let group = |group: Group| {
        let sort = match group.name() {
            "read" => ToolSort::Read,
            "edit" => ToolSort::Edit,
            "command" => ToolSort::Command,
            "mcp" => ToolSort::Mcp,
            _ => ToolSort::Roles,
        };
        let files = match group {
            Group::Limited(_, options) => options.file_regex,
            Group::Plain(_) => None,
        };
        ToolGroup { sort, files }
    };
    Role {
        slug: mode.slug,
        name: mode.name,
        definition: mode.role_definition,
        instructions: mode.custom_instructions,
        when_to_use: mode.when_to_use,
        groups: mode.groups.into_iter().map(group).collect(),
    }
}

fn unasked(settings: &Settings) -> Unasked {
    let is_on = |name: &str| settings.is_on(name);
    let reach = |inside: &str, outside: &str| match (is_on(inside), is_on(outside)) {
        (false, _) => Reach::Nowhere,
        (true, false) => Reach::Workspace,
        (true, true) => Reach::Anywhere,
    };
    let whole = |name: &str| settings.number(name).filter(|number| *number > 0.0);
    Unasked {
        is_on: is_on("autoApprovalEnabled"),
        reads: reach("alwaysAllowReadOnly", "alwaysAllowReadOnlyOutsideWorkspace"),
        writes: reach("alwaysAllowWrite", "alwaysAllowWriteOutsideWorkspace"),
        protected_writes: is_on("alwaysAllowWriteProtected"),
        mcp: is_on("alwaysAllowMcp"),
        roles: is_on("alwaysAllowModeSwitch"),
        delegations: is_on("alwaysAllowSubtasks"),
        commands: is_on("alwaysAllowExecute"),
        allowed_commands: settings.texts("allowedCommands"),
        denied_commands: settings.texts("deniedCommands"),
        answers_after: whole("followupAutoApproveTimeoutMs")
            .filter(|_| is_on("alwaysAllowFollowupQuestions"))
            .map(|millis| millis as u64),
        max_calls: whole("allowedMaxRequests").map(|count| count as u64),
        max_cost: whole("allowedMaxCost").map(|dollars| (dollars * 1e6) as u64),
    }
}

/// What the agent may use, and how much of it. Where the original has zero for no limit, so has this.
fn bounds(settings: &Settings) -> Bounds {
    let whole = |name: &str| settings.number(name).filter(|number| *number > 0.0);
    let disabled = settings.texts("disabledTools");
    Bounds {
        disabled_tools: disabled.iter().flat_map(|name| tools::ours(name)).collect(),
        no_mcp: settings.get("mcpEnabled") == Some(&Value::Bool(false)),
        command_seconds: whole("commandExecutionTimeout").map(|seconds| seconds.ceil() as u64),
        long_commands: settings.texts("commandTimeoutAllowlist"),
        failures_in_a_row: whole("consecutiveMistakeLimit").map(|count| count as u64),
        between_calls: whole("rateLimitSeconds").map(|seconds| (seconds * 1000.0) as u64),
    }
}

/// What the client says its model costs: dollars for a million tokens.
fn prices(settings: &Settings) -> Option<Prices> {
    let info = settings.get("openAiCustomModelInfo")?;
    let price = |name: &str| {
        let dollars = info.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        (dollars.max(0.0) * 1e6) as u64
    };
    let prices = Prices {
        input: price("inputPrice"),
        output: price("outputPrice"),
        cached: price("cacheReadsPrice"),
        cache_creation: price("cacheWritesPrice"),
    };
    (prices != Prices::default()).then_some(prices)
}

fn instructions(settings: &Settings) -> Option<String> {
    let language = settings.text("language").filter(|language| *language != "en");
    let language = language.map(|code| format!("Answer in the language with the code {code}."));
    let own = settings.text("customInstructions").map(str::to_owned);
    let all: Vec<String> = language.into_iter().chain(own).collect();
    (!all.is_empty()).then(|| all.join("\n\n"))
}

/// Which model answers.
async fn choice(cx: &Cx, settings: &Settings, kept: Option<&str>) -> Result<Choice, Failure> {
    let provider = provider::find(cx, settings, kept).await?;
    let reasoning = settings.text("reasoningEffort").filter(|effort| *effort != "disable");
    let Some(provider) = provider else { return Ok(Choice::default()) };
    Ok(Choice {
        provider,
        model: provider::model(settings).unwrap_or_default().to_owned(),
        reasoning: reasoning.map(str::to_owned),
    })
}

/// What a user says, with what a slash command at its beginning stands for.
pub(crate) async fn message(
    cx: &Cx,
    workspace: &Path,
    text: String,
    images: Vec<String>,
) -> Result<Message, Failure> {
    let is_image = |image: &String| image.starts_with("data:") || image.starts_with("http");
    if !images.iter().all(is_image) {
        return Err(Failure::invalid("images", "must be a list of data: addresses"));
    }
    let context = command_context(cx, workspace, &text).await?;
    Ok(Message { text, images, context })
}

async fn command_context(cx: &Cx, workspace: &Path, text: &str) -> Result<Vec<String>, Failure> {
    let Some(rest) = text.strip_prefix('/') else { return Ok(Vec::new()) };
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let known = cx.core.agents().commands(workspace).await.unwrap_or_default();
    if !known.iter().any(|command| command.name == name) {
        // A path, or just words.
        return Ok(Vec::new());
    }
    let agents = cx.core.agents();
    let expanded = agents.expand_command(name, arguments.trim(), workspace, None, None).await?;
    let blocks =
        expanded.blocks.iter().map(|block| format!("[context:{}]\n{}", block.id, block.text));
    Ok(std::iter::once(expanded.message.clone()).chain(blocks).collect())
}
