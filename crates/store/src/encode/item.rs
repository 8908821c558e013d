//! The JSON twins of items.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::word::ItemStatusJson;

#[derive(Serialize, Deserialize)]
pub(super) struct ItemJson<'a> {
    id: Cow<'a, str>,
    status: ItemStatusJson,
    #[serde(default)]
    step: u32,
    /// Absent in what was stored before it was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    body: ItemBodyJson<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opaque: Option<Cow<'a, str>>,
}

impl<'a> ItemJson<'a> {
    pub(super) fn of(item: &'a model::Item) -> Self {
        let model::Item { id, status, step, at, body, opaque } = item;
        ItemJson {
            id: id.as_str().into(),
            status: ItemStatusJson::of(*status),
            step: *step,
            at: (*at != model::Timestamp::default()).then(|| at.as_micros()),
            body: ItemBodyJson::of(body),
            opaque: opaque.as_ref().map(Cow::from),
        }
    }

    pub(super) fn into_model(self) -> model::Item {
        model::Item {
            id: model::ItemId::new(self.id),
            status: self.status.into_model(),
            step: self.step,
            at: self.at.map(model::Timestamp::from_micros).unwrap_or_default(),
            body: self.body.into_model(),
            opaque: self.opaque.map(Cow::into_owned),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ItemBodyJson<'a> {
    User {
        text: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "is_empty")]
        images: Cow<'a, [String]>,
        #[serde(default, skip_serializing_if = "is_empty")]
        context: Cow<'a, [String]>,
    },
    Agent {
        text: Cow<'a, str>,
        #[serde(default)]
        phase: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
    },
    Reasoning {
        #[serde(default, skip_serializing_if = "is_empty")]
        summary: Cow<'a, [String]>,
        #[serde(default, skip_serializing_if = "is_empty")]
        content: Cow<'a, [String]>,
    },
    Tool(Box<ToolItemJson<'a>>),
    Compaction {
        summary: Cow<'a, str>,
        pruning: PruningJson<'a>,
    },
    Error {
        message: Cow<'a, str>,
    },
    Raw {
        payload: Cow<'a, str>,
    },
}

fn is_empty(texts: &[String]) -> bool {
    texts.is_empty()
}

impl<'a> ItemBodyJson<'a> {
    fn of(body: &'a model::ItemBody) -> Self {
        use model::ItemBody;
        match body {
            ItemBody::User { text, images, context } => ItemBodyJson::User {
                text: text.into(),
                images: images.into(),
                context: context.into(),
            },
            ItemBody::Agent { text, phase, partial } => {
                ItemBodyJson::Agent { text: text.into(), phase: phase.into(), partial: *partial }
            }
            ItemBody::Reasoning { summary, content } => {
                ItemBodyJson::Reasoning { summary: summary.into(), content: content.into() }
            }
            ItemBody::Tool(tool) => ItemBodyJson::Tool(Box::new(ToolItemJson::of(tool))),
            ItemBody::Compaction { summary, pruning } => ItemBodyJson::Compaction {
                summary: summary.into(),
                pruning: PruningJson::of(pruning),
            },
            ItemBody::Error { message } => ItemBodyJson::Error { message: message.into() },
            ItemBody::Raw { payload } => ItemBodyJson::Raw { payload: payload.into() },
        }
    }

    fn into_model(self) -> model::ItemBody {
        use model::ItemBody;
        match self {
            ItemBodyJson::User { text, images, context } => ItemBody::User {
                text: text.into_owned(),
                images: images.into_owned(),
                context: context.into_owned(),
            },
            ItemBodyJson::Agent { text, phase, partial } => {
                ItemBody::Agent { text: text.into_owned(), phase: phase.into_owned(), partial }
            }
            ItemBodyJson::Reasoning { summary, content } => {
                ItemBody::Reasoning { summary: summary.into_owned(), content: content.into_owned() }
            }
            ItemBodyJson::Tool(tool) => ItemBody::Tool(Box::new(tool.into_model())),
            ItemBodyJson::Compaction { summary, pruning } => ItemBody::Compaction {
                summary: summary.into_owned(),
                pruning: pruning.into_model(),
            },
            ItemBodyJson::Error { message } => ItemBody::Error { message: message.into_owned() },
            ItemBodyJson::Raw { payload } => ItemBody::Raw { payload: payload.into_owned() },
        }
    }
}

/// Whether approval of a call was requested, and the answer.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ApprovalJson {
    Asked,
    Approved,
    Denied,
}

impl ApprovalJson {
    fn of(answer: Option<bool>) -> Self {
        match answer {
            None => ApprovalJson::Asked,
            Some(true) => ApprovalJson::Approved,
            Some(false) => ApprovalJson::Denied,
        }
    }

    fn into_model(self) -> Option<bool> {
        match self {
            ApprovalJson::Asked => None,
            ApprovalJson::Approved => Some(true),
            ApprovalJson::Denied => Some(false),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct ToolItemJson<'a> {
    call_id: Cow<'a, str>,
    name: Cow<'a, str>,
    input: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terminal: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval: Option<ApprovalJson>,
    #[serde(default, skip_serializing_if = "is_empty")]
    images: Cow<'a, [String]>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hosted: bool,
}

impl<'a> ToolItemJson<'a> {
    fn of(tool: &'a model::ToolItem) -> Self {
        let model::ToolItem {
            call_id,
            name,
            input,
            output,
            error,
            data,
            exit_code,
            duration_ms,
            terminal,
            approval,
            images,
            hosted,
        } = tool;
        ToolItemJson {
            call_id: call_id.into(),
            name: name.into(),
            input: input.into(),
            output: output.as_ref().map(Cow::from),
            error: error.as_ref().map(Cow::from),
            data: data.as_ref().map(Cow::from),
            exit_code: *exit_code,
            duration_ms: *duration_ms,
            terminal: terminal.map(model::TerminalId::get),
            approval: approval.map(ApprovalJson::of),
            images: images.into(),
            hosted: *hosted,
        }
    }

    fn into_model(self) -> model::ToolItem {
        model::ToolItem {
            call_id: self.call_id.into_owned(),
            name: self.name.into_owned(),
            input: self.input.into_owned(),
            output: self.output.map(Cow::into_owned),
            error: self.error.map(Cow::into_owned),
            data: self.data.map(Cow::into_owned),
            exit_code: self.exit_code,
            duration_ms: self.duration_ms,
            terminal: self.terminal.map(model::TerminalId::new),
            approval: self.approval.map(ApprovalJson::into_model),
            images: self.images.into_owned(),
            hosted: self.hosted,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PruningJson<'a> {
    Before(Option<Cow<'a, str>>),
    OutputsBefore(Cow<'a, str>),
}

impl<'a> PruningJson<'a> {
    fn of(pruning: &'a model::Pruning) -> Self {
        match pruning {
            model::Pruning::Before(item) => {
                PruningJson::Before(item.as_ref().map(|item| item.as_str().into()))
            }
            model::Pruning::OutputsBefore(item) => PruningJson::OutputsBefore(item.as_str().into()),
        }
    }

    fn into_model(self) -> model::Pruning {
        match self {
            PruningJson::Before(item) => model::Pruning::Before(item.map(model::ItemId::new)),
            PruningJson::OutputsBefore(item) => {
                model::Pruning::OutputsBefore(model::ItemId::new(item))
            }
        }
    }
}
