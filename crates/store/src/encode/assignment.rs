//! The JSON twins of assignments.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::word::{ReachJson, ToolSortJson};
use super::{DecodeError, id_from_text};

#[derive(Serialize, Deserialize)]
struct ToolGroupJson<'a> {
    sort: ToolSortJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<Cow<'a, str>>,
}

impl<'a> ToolGroupJson<'a> {
    fn of(group: &'a model::ToolGroup) -> Self {
        let model::ToolGroup { sort, files } = group;
        ToolGroupJson { sort: ToolSortJson::of(*sort), files: files.as_ref().map(Cow::from) }
    }

    fn into_model(self) -> model::ToolGroup {
        let files = self.files.map(Cow::into_owned);
        model::ToolGroup { sort: self.sort.into_model(), files }
    }
}

#[derive(Serialize, Deserialize)]
struct RoleJson<'a> {
    slug: Cow<'a, str>,
    #[serde(default)]
    name: Cow<'a, str>,
    #[serde(default)]
    definition: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when_to_use: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<ToolGroupJson<'a>>,
}

impl<'a> RoleJson<'a> {
    fn of(role: &'a model::Role) -> Self {
        let model::Role { slug, name, definition, instructions, when_to_use, groups } = role;
        RoleJson {
            slug: slug.into(),
            name: name.into(),
            definition: definition.into(),
            instructions: instructions.as_ref().map(Cow::from),
            when_to_use: when_to_use.as_ref().map(Cow::from),
            groups: groups.iter().map(ToolGroupJson::of).collect(),
        }
    }

    fn into_model(self) -> model::Role {
        model::Role {
            slug: self.slug.into_owned(),
            name: self.name.into_owned(),
            definition: self.definition.into_owned(),
            instructions: self.instructions.map(Cow::into_owned),
            when_to_use: self.when_to_use.map(Cow::into_owned),
            groups: self.groups.into_iter().map(ToolGroupJson::into_model).collect(),
        }
    }
}

/// What is absent may not be done.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct UnaskedJson<'a> {
    is_on: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<ReachJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    writes: Option<ReachJson>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    protected_writes: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    mcp: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    roles: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    delegations: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    commands: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    allowed_commands: Cow<'a, [String]>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    denied_commands: Cow<'a, [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers_after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_cost: Option<u64>,
}

impl<'a> UnaskedJson<'a> {
    fn of(unasked: &'a model::Unasked) -> Self {
        let model::Unasked {
            is_on,
            reads,
            writes,
            protected_writes,
            mcp,
            roles,
            delegations,
            commands,
            allowed_commands,
            denied_commands,
            answers_after,
            max_calls,
            max_cost,
        } = unasked;
        let reach =
            |reach: model::Reach| (reach != model::Reach::default()).then(|| ReachJson::of(reach));
        UnaskedJson {
            is_on: *is_on,
            reads: reach(*reads),
            writes: reach(*writes),
            protected_writes: *protected_writes,
            mcp: *mcp,
            roles: *roles,
            delegations: *delegations,
            commands: *commands,
            allowed_commands: Cow::Borrowed(allowed_commands),
            denied_commands: Cow::Borrowed(denied_commands),
            answers_after: *answers_after,
            max_calls: *max_calls,
            max_cost: *max_cost,
        }
    }

    fn into_model(self) -> model::Unasked {
        let reach = |reach: Option<ReachJson>| reach.map(ReachJson::into_model).unwrap_or_default();
        model::Unasked {
            is_on: self.is_on,
            reads: reach(self.reads),
            writes: reach(self.writes),
            protected_writes: self.protected_writes,
            mcp: self.mcp,
            roles: self.roles,
            delegations: self.delegations,
            commands: self.commands,
            allowed_commands: self.allowed_commands.into_owned(),
            denied_commands: self.denied_commands.into_owned(),
            answers_after: self.answers_after,
            max_calls: self.max_calls,
            max_cost: self.max_cost,
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct BoundsJson<'a> {
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    disabled_tools: Cow<'a, [String]>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_mcp: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_seconds: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    long_commands: Cow<'a, [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failures_in_a_row: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    between_calls: Option<u64>,
}

impl<'a> BoundsJson<'a> {
    fn of(bounds: &'a model::Bounds) -> Self {
        let model::Bounds {
            disabled_tools,
            no_mcp,
            command_seconds,
            long_commands,
            failures_in_a_row,
            between_calls,
        } = bounds;
        BoundsJson {
            disabled_tools: Cow::Borrowed(disabled_tools),
            no_mcp: *no_mcp,
            command_seconds: *command_seconds,
            long_commands: Cow::Borrowed(long_commands),
            failures_in_a_row: *failures_in_a_row,
            between_calls: *between_calls,
        }
    }

    fn into_model(self) -> model::Bounds {
        model::Bounds {
            disabled_tools: self.disabled_tools.into_owned(),
            no_mcp: self.no_mcp,
            command_seconds: self.command_seconds,
            long_commands: self.long_commands.into_owned(),
            failures_in_a_row: self.failures_in_a_row,
            between_calls: self.between_calls,
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct PricesJson {
    input: u64,
    output: u64,
    cached: u64,
    cache_creation: u64,
}

impl PricesJson {
    fn of(prices: &model::Prices) -> Self {
        let model::Prices { input, output, cached, cache_creation } = *prices;
        PricesJson { input, output, cached, cache_creation }
    }

    fn into_model(self) -> model::Prices {
        let PricesJson { input, output, cached, cache_creation } = self;
        model::Prices { input, output, cached, cache_creation }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct AssignmentJson<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<RoleJson<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    roles: Vec<RoleJson<'a>>,
    #[serde(default)]
    unasked: UnaskedJson<'a>,
    /// Absent if none is set, and in what older versions stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bounds: Option<BoundsJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lead: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prices: Option<PricesJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<Cow<'a, str>>,
    #[serde(default)]
    settings: Cow<'a, str>,
}

impl<'a> AssignmentJson<'a> {
    pub(super) fn of(assignment: &'a model::Assignment) -> Self {
        let model::Assignment {
            role,
            roles,
            unasked,
            bounds,
            lead,
            prices,
            instructions,
            settings,
        } = assignment;
        AssignmentJson {
            role: role.as_ref().map(RoleJson::of),
            roles: roles.iter().map(RoleJson::of).collect(),
            unasked: UnaskedJson::of(unasked),
            bounds: (*bounds != model::Bounds::default()).then(|| BoundsJson::of(bounds)),
            lead: lead.map(|id| id.to_string().into()),
            prices: prices.as_ref().map(PricesJson::of),
            instructions: instructions.as_ref().map(Cow::from),
            settings: settings.into(),
        }
    }

    pub(super) fn into_model(self) -> Result<model::Assignment, DecodeError> {
        Ok(model::Assignment {
            role: self.role.map(RoleJson::into_model),
            roles: self.roles.into_iter().map(RoleJson::into_model).collect(),
            unasked: self.unasked.into_model(),
            bounds: self.bounds.map(BoundsJson::into_model).unwrap_or_default(),
            lead: self.lead.map(|id| id_from_text(&id)).transpose()?,
            prices: self.prices.map(PricesJson::into_model),
            instructions: self.instructions.map(Cow::into_owned),
            settings: self.settings.into_owned(),
        })
    }
}
