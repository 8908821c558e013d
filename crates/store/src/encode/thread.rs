//! The JSON twins of threads and turns.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::assignment::AssignmentJson;
use super::child::ChildOfJson;
use super::runner::RunnerJson;
use super::word::{
    GoalStatusJson, ModeJson, PlanStepStatusJson, ProfileJson, TurnErrorKindJson, TurnStatusJson,
};
use super::{DecodeError, PathJson, id_from_text};

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ChoiceJson<'a> {
    provider: Cow<'a, str>,
    model: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cow<'a, str>>,
}

impl<'a> ChoiceJson<'a> {
    fn of(choice: &'a model::Choice) -> Self {
        let model::Choice { provider, model, reasoning } = choice;
        ChoiceJson {
            provider: provider.into(),
            model: model.into(),
            reasoning: reasoning.as_ref().map(Cow::from),
        }
    }

    fn into_model(self) -> model::Choice {
        model::Choice {
            provider: self.provider.into_owned(),
            model: self.model.into_owned(),
            reasoning: self.reasoning.map(Cow::into_owned),
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct UsageJson {
    prompt: u64,
    completion: u64,
    cached: u64,
    cache_creation: u64,
}

impl UsageJson {
    /// Nothing for a count of nothing.
    pub(super) fn of(usage: &model::Usage) -> Option<Self> {
        let model::Usage { prompt, completion, cached, cache_creation } = *usage;
        (!usage.is_zero()).then_some(UsageJson { prompt, completion, cached, cache_creation })
    }

    pub(super) fn into_model(self) -> model::Usage {
        let UsageJson { prompt, completion, cached, cache_creation } = self;
        model::Usage { prompt, completion, cached, cache_creation }
    }
}

#[derive(Serialize, Deserialize)]
struct ExternalToolJson<'a> {
    name: Cow<'a, str>,
    #[serde(default)]
    description: Cow<'a, str>,
    parameters: Cow<'a, str>,
}

impl<'a> ExternalToolJson<'a> {
    fn of(tool: &'a model::ExternalTool) -> Self {
        let model::ExternalTool { name, description, parameters } = tool;
        ExternalToolJson {
            name: name.into(),
            description: description.into(),
            parameters: parameters.into(),
        }
    }

    fn into_model(self) -> model::ExternalTool {
        model::ExternalTool {
            name: self.name.into_owned(),
            description: self.description.into_owned(),
            parameters: self.parameters.into_owned(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct GoalJson<'a> {
    objective: Cow<'a, str>,
    status: GoalStatusJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token_budget: Option<u64>,
    #[serde(default)]
    tokens_used: u64,
    #[serde(default)]
    seconds_used: u64,
    created_at: i64,
    updated_at: i64,
}

impl<'a> GoalJson<'a> {
    fn of(goal: &'a model::Goal) -> Self {
        let model::Goal {
            objective,
            status,
            token_budget,
            tokens_used,
            seconds_used,
            created_at,
            updated_at,
        } = goal;
        GoalJson {
            objective: objective.into(),
            status: GoalStatusJson::of(*status),
            token_budget: *token_budget,
            tokens_used: *tokens_used,
            seconds_used: *seconds_used,
            created_at: created_at.as_micros(),
            updated_at: updated_at.as_micros(),
        }
    }

    fn into_model(self) -> model::Goal {
        model::Goal {
            objective: self.objective.into_owned(),
            status: self.status.into_model(),
            token_budget: self.token_budget,
            tokens_used: self.tokens_used,
            seconds_used: self.seconds_used,
            created_at: model::Timestamp::from_micros(self.created_at),
            updated_at: model::Timestamp::from_micros(self.updated_at),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct TaskJson<'a> {
    #[serde(default)]
    id: Cow<'a, str>,
    content: Cow<'a, str>,
    status: PlanStepStatusJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Cow<'a, str>>,
}

impl<'a> TaskJson<'a> {
    fn of(task: &'a model::PlanStep) -> Self {
        let model::PlanStep { id, content, status, evidence } = task;
        TaskJson {
            id: id.into(),
            content: content.into(),
            status: PlanStepStatusJson::of(*status),
            evidence: evidence.as_ref().map(Cow::from),
        }
    }

    fn into_model(self) -> model::PlanStep {
        model::PlanStep {
            id: self.id.into_owned(),
            content: self.content.into_owned(),
            status: self.status.into_model(),
            evidence: self.evidence.map(Cow::into_owned),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ThreadJson<'a> {
    id: Cow<'a, str>,
    created_at: i64,
    updated_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    preview: Cow<'a, str>,
    choice: ChoiceJson<'a>,
    cwd: PathJson<'a>,
    root: PathJson<'a>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ephemeral: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    archived: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<ModeJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_allowlist: Option<Cow<'a, [String]>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    developer_instructions: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    external_tools: Vec<ExternalToolJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<Cow<'a, str>>,
    /// Absent while nothing was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageJson>,
    #[serde(default)]
    message_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal: Option<GoalJson<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    plan: Vec<TaskJson<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ledger: Vec<TaskJson<'a>>,
    #[serde(default)]
    seq_reserved: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<(Cow<'a, str>, Cow<'a, str>)>,
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    retired: Cow<'a, [String]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assignment: Option<Box<AssignmentJson<'a>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    child: Option<Box<ChildOfJson<'a>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runner: Option<Box<RunnerJson<'a>>>,
}

impl<'a> ThreadJson<'a> {
    pub(super) fn of(thread: &'a model::Thread) -> Self {
        let model::Thread {
            id,
            created_at,
            updated_at,
            name,
            preview,
            choice,
            cwd,
            root,
            ephemeral,
            archived,
            mode,
            tool_allowlist,
            developer_instructions,
            external_tools,
            parent,
            usage,
            message_count,
            goal,
            plan,
            ledger,
            seq_reserved,
            place,
            retired,
            assignment,
            runner,
            child,
        } = thread;
        ThreadJson {
            id: id.to_string().into(),
            created_at: created_at.as_micros(),
            updated_at: updated_at.as_micros(),
            name: name.as_ref().map(Cow::from),
            preview: preview.into(),
            choice: ChoiceJson::of(choice),
            cwd: PathJson::of(cwd),
            root: PathJson::of(root),
            ephemeral: *ephemeral,
            archived: *archived,
            mode: mode.map(ModeJson::of),
            tool_allowlist: tool_allowlist.as_deref().map(Cow::Borrowed),
            developer_instructions: developer_instructions.as_ref().map(Cow::from),
            external_tools: external_tools.iter().map(ExternalToolJson::of).collect(),
            parent: parent.map(|id| id.to_string().into()),
            usage: UsageJson::of(usage),
            message_count: *message_count,
            goal: goal.as_ref().map(GoalJson::of),
            plan: plan.iter().map(TaskJson::of).collect(),
            ledger: ledger.iter().map(TaskJson::of).collect(),
            seq_reserved: *seq_reserved,
            place: place.as_ref().map(|(workspace, root)| (workspace.into(), root.into())),
            retired: Cow::Borrowed(retired),
            assignment: assignment.as_deref().map(|set| Box::new(AssignmentJson::of(set))),
            runner: runner.as_deref().map(|bound| Box::new(RunnerJson::of(bound))),
            child: child.as_deref().map(|child| Box::new(ChildOfJson::of(child))),
        }
    }

    pub(super) fn into_model(self) -> Result<model::Thread, DecodeError> {
        let tools = self.external_tools.into_iter();
        Ok(model::Thread {
            id: id_from_text(&self.id)?,
            created_at: model::Timestamp::from_micros(self.created_at),
            updated_at: model::Timestamp::from_micros(self.updated_at),
            name: self.name.map(Cow::into_owned),
            preview: self.preview.into_owned(),
            choice: self.choice.into_model(),
            cwd: self.cwd.into_path(),
            root: self.root.into_path(),
            ephemeral: self.ephemeral,
            archived: self.archived,
            mode: self.mode.map(ModeJson::into_model),
            tool_allowlist: self.tool_allowlist.map(Cow::into_owned),
            developer_instructions: self.developer_instructions.map(Cow::into_owned),
            external_tools: tools.map(ExternalToolJson::into_model).collect(),
            parent: self.parent.map(|id| id_from_text(&id)).transpose()?,
            usage: self.usage.map(UsageJson::into_model).unwrap_or_default(),
            message_count: self.message_count,
            goal: self.goal.map(GoalJson::into_model),
            plan: self.plan.into_iter().map(TaskJson::into_model).collect(),
            ledger: self.ledger.into_iter().map(TaskJson::into_model).collect(),
            seq_reserved: self.seq_reserved,
            place: self.place.map(|(workspace, root)| (workspace.into_owned(), root.into_owned())),
            retired: self.retired.into_owned(),
            assignment: self.assignment.map(|set| set.into_model()).transpose()?.map(Box::new),
            runner: self.runner.map(|bound| Box::new(bound.into_model())),
            child: self.child.map(|child| child.into_model()).transpose()?.map(Box::new),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct TurnErrorJson<'a> {
    message: Cow<'a, str>,
    kind: TurnErrorKindJson,
}

impl<'a> TurnErrorJson<'a> {
    fn of(error: &'a model::TurnError) -> Self {
        let model::TurnError { message, kind } = error;
        TurnErrorJson { message: message.into(), kind: TurnErrorKindJson::of(*kind) }
    }

    fn into_model(self) -> model::TurnError {
        model::TurnError { message: self.message.into_owned(), kind: self.kind.into_model() }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct TurnSettingsJson<'a> {
    choice: ChoiceJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    developer_context: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_tools: Option<Cow<'a, [String]>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    needs_ledger: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<i64>,
    /// Absent while a person is present.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<ProfileJson>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_given: bool,
}

impl<'a> TurnSettingsJson<'a> {
    fn of(settings: &'a model::TurnSettings) -> Self {
        let model::TurnSettings {
            choice,
            developer_context,
            allowed_tools,
            needs_ledger,
            deadline,
            profile,
            is_given,
        } = settings;
        TurnSettingsJson {
            choice: ChoiceJson::of(choice),
            developer_context: developer_context.as_ref().map(Cow::from),
            allowed_tools: allowed_tools.as_deref().map(Cow::Borrowed),
            needs_ledger: *needs_ledger,
            deadline: deadline.map(model::Timestamp::as_micros),
            profile: (*profile != model::Profile::default()).then(|| ProfileJson::of(*profile)),
            is_given: *is_given,
        }
    }

    fn into_model(self) -> model::TurnSettings {
        model::TurnSettings {
            choice: self.choice.into_model(),
            developer_context: self.developer_context.map(Cow::into_owned),
            allowed_tools: self.allowed_tools.map(Cow::into_owned),
            needs_ledger: self.needs_ledger,
            deadline: self.deadline.map(model::Timestamp::from_micros),
            profile: self.profile.map(ProfileJson::into_model).unwrap_or_default(),
            is_given: self.is_given,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct ModelCallJson<'a> {
    at: i64,
    /// Absent if nothing was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
    #[serde(default)]
    is_done: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    was_cut: bool,
}

impl<'a> ModelCallJson<'a> {
    fn of(call: &'a model::ModelCall) -> Self {
        let model::ModelCall { at, usage, error, is_done, was_cut } = call;
        ModelCallJson {
            at: at.as_micros(),
            usage: UsageJson::of(usage),
            error: error.as_ref().map(Cow::from),
            is_done: *is_done,
            was_cut: *was_cut,
        }
    }

    fn into_model(self) -> model::ModelCall {
        model::ModelCall {
            at: model::Timestamp::from_micros(self.at),
            usage: self.usage.map(UsageJson::into_model).unwrap_or_default(),
            error: self.error.map(Cow::into_owned),
            is_done: self.is_done,
            was_cut: self.was_cut,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct TurnJson<'a> {
    id: Cow<'a, str>,
    thread: Cow<'a, str>,
    status: TurnStatusJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<TurnErrorJson<'a>>,
    started_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    completed_at: Option<i64>,
    /// Absent while nothing was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(default)]
    settings: TurnSettingsJson<'a>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<ModelCallJson<'a>>,
}

impl<'a> TurnJson<'a> {
    pub(super) fn of(turn: &'a model::Turn) -> Self {
        let model::Turn {
            id,
            thread,
            status,
            error,
            started_at,
            completed_at,
            usage,
            finish_reason,
            settings,
            calls,
        } = turn;
        TurnJson {
            id: id.to_string().into(),
            thread: thread.to_string().into(),
            status: TurnStatusJson::of(*status),
            error: error.as_ref().map(TurnErrorJson::of),
            started_at: started_at.as_micros(),
            completed_at: completed_at.map(model::Timestamp::as_micros),
            usage: UsageJson::of(usage),
            finish_reason: finish_reason.as_ref().map(Cow::from),
            settings: TurnSettingsJson::of(settings),
            calls: calls.iter().map(ModelCallJson::of).collect(),
        }
    }

    pub(super) fn into_model(self) -> Result<model::Turn, DecodeError> {
        Ok(model::Turn {
            id: id_from_text(&self.id)?,
            thread: id_from_text(&self.thread)?,
            status: self.status.into_model(),
            error: self.error.map(TurnErrorJson::into_model),
            started_at: model::Timestamp::from_micros(self.started_at),
            completed_at: self.completed_at.map(model::Timestamp::from_micros),
            usage: self.usage.map(UsageJson::into_model).unwrap_or_default(),
            finish_reason: self.finish_reason.map(Cow::into_owned),
            settings: self.settings.into_model(),
            calls: self.calls.into_iter().map(ModelCallJson::into_model).collect(),
        })
    }
}
