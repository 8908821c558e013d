//! The JSON twins of requests.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::word::{ModeJson, ToolKindJson};
use super::{DecodeError, PathJson, id_from_text};

/// What is written where no thread or no turn asks.
const NO_THREAD: model::ThreadId = model::ThreadId::new(0);
const NO_TURN: model::TurnId = model::TurnId::new(0);

#[derive(Serialize, Deserialize)]
pub(super) struct RequestJson<'a> {
    id: Cow<'a, str>,
    thread: Cow<'a, str>,
    turn: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    call_id: Cow<'a, str>,
    tool: Cow<'a, str>,
    asked: AskedJson<'a>,
    asked_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline: Option<i64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_deferred: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    given: Vec<PartAnswerJson<'a>>,
    /// Absent while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settled: Option<SettledJson<'a>>,
}

impl<'a> RequestJson<'a> {
    pub(super) fn of(request: &'a model::Request) -> Self {
        // Taken apart in full, so that a new field cannot be forgotten here.
        let model::Request {
            id,
            asker,
            call_id,
            tool,
            asked,
            asked_at,
            deadline,
            is_deferred,
            given,
            state,
        } = request;
        RequestJson {
            id: id.to_string().into(),
            thread: asker.thread().unwrap_or(NO_THREAD).to_string().into(),
            turn: asker.turn().unwrap_or(NO_TURN).to_string().into(),
            session: asker.session().map(|id| id.to_string()),
            call_id: call_id.into(),
            tool: tool.into(),
            asked: AskedJson::of(asked),
            asked_at: asked_at.as_micros(),
            deadline: deadline.map(model::Timestamp::as_micros),
            is_deferred: *is_deferred,
            given: given.iter().map(PartAnswerJson::of).collect(),
            settled: match state {
                model::RequestState::Pending => None,
                model::RequestState::Settled(settled) => Some(SettledJson::of(settled)),
            },
        }
    }

    fn asker(&self) -> Result<model::Asker, DecodeError> {
        if let Some(session) = &self.session {
            return Ok(model::Asker::Session(id_from_text(session)?));
        }
        let thread: model::ThreadId = id_from_text(&self.thread)?;
        let turn: model::TurnId = id_from_text(&self.turn)?;
        Ok(match (thread == NO_THREAD, turn == NO_TURN) {
            (true, _) => model::Asker::Client,
            (false, true) => model::Asker::Caller(thread),
            (false, false) => model::Asker::Turn { thread, turn },
        })
    }

    pub(super) fn into_model(self) -> Result<model::Request, DecodeError> {
        Ok(model::Request {
            id: id_from_text(&self.id)?,
            asker: self.asker()?,
            call_id: self.call_id.into_owned(),
            tool: self.tool.into_owned(),
            asked: self.asked.into_model(),
            asked_at: model::Timestamp::from_micros(self.asked_at),
            deadline: self.deadline.map(model::Timestamp::from_micros),
            is_deferred: self.is_deferred,
            given: self.given.into_iter().map(PartAnswerJson::into_model).collect(),
            state: match self.settled {
                None => model::RequestState::Pending,
                Some(settled) => model::RequestState::Settled(settled.into_model()),
            },
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AskedJson<'a> {
    Approval {
        kind: ToolKindJson,
        #[serde(default)]
        reason: Cow<'a, str>,
        input: Cow<'a, str>,
        #[serde(default)]
        argv: Cow<'a, [String]>,
        cwd: PathJson<'a>,
        /// Names with values; a name without one is taken out.
        #[serde(default)]
        env: Cow<'a, [(String, Option<String>)]>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preview: Option<Cow<'a, str>>,
    },
    Input {
        questions: Vec<QuestionJson<'a>>,
    },
    PlanExit {
        target: ModeJson,
        summary: Cow<'a, str>,
        #[serde(default)]
        next_steps: Cow<'a, [String]>,
    },
    External {
        arguments: Cow<'a, str>,
    },
    Permission {
        title: Cow<'a, str>,
        summary: Cow<'a, str>,
        action: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<Cow<'a, str>>,
    },
    Dialog {
        dialog: Cow<'a, str>,
        title: Cow<'a, str>,
        text: Cow<'a, str>,
    },
}

impl<'a> AskedJson<'a> {
    fn of(asked: &'a model::Asked) -> Self {
        use model::Asked;
        match asked {
            Asked::Approval { kind, reason, input, argv, cwd, env, preview } => {
                AskedJson::Approval {
                    kind: ToolKindJson::of(*kind),
                    reason: reason.into(),
                    input: input.into(),
                    argv: argv.into(),
                    cwd: PathJson::of(cwd),
                    env: env.into(),
                    preview: preview.as_ref().map(Cow::from),
                }
            }
            Asked::Input { questions } => {
                AskedJson::Input { questions: questions.iter().map(QuestionJson::of).collect() }
            }
            Asked::PlanExit(model::Plan { target, summary, next_steps }) => AskedJson::PlanExit {
                target: ModeJson::of(*target),
                summary: summary.into(),
                next_steps: next_steps.into(),
            },
            Asked::External(model::ExternalCall { arguments }) => {
                AskedJson::External { arguments: arguments.into() }
            }
            Asked::Permission { title, summary, action, scope } => AskedJson::Permission {
                title: title.into(),
                summary: summary.into(),
                action: action.into(),
                scope: scope.as_ref().map(Cow::from),
            },
            Asked::Dialog { dialog, title, text } => {
                AskedJson::Dialog { dialog: dialog.into(), title: title.into(), text: text.into() }
            }
        }
    }

    fn into_model(self) -> model::Asked {
        use model::Asked;
        match self {
            AskedJson::Approval { kind, reason, input, argv, cwd, env, preview } => {
                Asked::Approval {
                    kind: kind.into_model(),
                    reason: reason.into_owned(),
                    input: input.into_owned(),
                    argv: argv.into_owned(),
                    cwd: cwd.into_path(),
                    env: env.into_owned(),
                    preview: preview.map(Cow::into_owned),
                }
            }
            AskedJson::Input { questions } => Asked::Input {
                questions: questions.into_iter().map(QuestionJson::into_model).collect(),
            },
            AskedJson::PlanExit { target, summary, next_steps } => Asked::PlanExit(model::Plan {
                target: target.into_model(),
                summary: summary.into_owned(),
                next_steps: next_steps.into_owned(),
            }),
            AskedJson::External { arguments } => {
                Asked::External(model::ExternalCall { arguments: arguments.into_owned() })
            }
            AskedJson::Permission { title, summary, action, scope } => Asked::Permission {
                title: title.into_owned(),
                summary: summary.into_owned(),
                action: action.into_owned(),
                scope: scope.map(Cow::into_owned),
            },
            AskedJson::Dialog { dialog, title, text } => Asked::Dialog {
                dialog: dialog.into_owned(),
                title: title.into_owned(),
                text: text.into_owned(),
            },
        }
    }
}

#[derive(Serialize, Deserialize)]
struct QuestionJson<'a> {
    #[serde(default)]
    header: Cow<'a, str>,
    id: Cow<'a, str>,
    question: Cow<'a, str>,
    #[serde(default)]
    options: Vec<QuestionOptionJson<'a>>,
}

impl<'a> QuestionJson<'a> {
    fn of(question: &'a model::Question) -> Self {
        let model::Question { header, id, question, options } = question;
        QuestionJson {
            header: header.into(),
            id: id.into(),
            question: question.into(),
            options: options.iter().map(QuestionOptionJson::of).collect(),
        }
    }

    fn into_model(self) -> model::Question {
        model::Question {
            header: self.header.into_owned(),
            id: self.id.into_owned(),
            question: self.question.into_owned(),
            options: self.options.into_iter().map(QuestionOptionJson::into_model).collect(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct QuestionOptionJson<'a> {
    label: Cow<'a, str>,
    #[serde(default)]
    description: Cow<'a, str>,
}

impl<'a> QuestionOptionJson<'a> {
    fn of(option: &'a model::QuestionOption) -> Self {
        let model::QuestionOption { label, description } = option;
        QuestionOptionJson { label: label.into(), description: description.into() }
    }

    fn into_model(self) -> model::QuestionOption {
        model::QuestionOption {
            label: self.label.into_owned(),
            description: self.description.into_owned(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct PartAnswerJson<'a> {
    question: Cow<'a, str>,
    text: Cow<'a, str>,
    at: i64,
}

impl<'a> PartAnswerJson<'a> {
    fn of(part: &'a model::PartAnswer) -> Self {
        let model::PartAnswer { question, text, at } = part;
        PartAnswerJson { question: question.into(), text: text.into(), at: at.as_micros() }
    }

    fn into_model(self) -> model::PartAnswer {
        model::PartAnswer {
            question: self.question.into_owned(),
            text: self.text.into_owned(),
            at: model::Timestamp::from_micros(self.at),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct SettledJson<'a> {
    answer: AnswerJson<'a>,
    by: Cow<'a, str>,
    at: i64,
}

impl<'a> SettledJson<'a> {
    fn of(settled: &'a model::Settled) -> Self {
        let model::Settled { answer, by, at } = settled;
        SettledJson { answer: AnswerJson::of(answer), by: by.into(), at: at.as_micros() }
    }

    fn into_model(self) -> model::Settled {
        model::Settled {
            answer: self.answer.into_model(),
            by: self.by.into_owned(),
            at: model::Timestamp::from_micros(self.at),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AnswerJson<'a> {
    Approved {
        #[serde(default)]
        remember: bool,
    },
    Denied {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Cow<'a, str>>,
    },
    Given(Cow<'a, str>),
    Output {
        text: Cow<'a, str>,
        #[serde(default)]
        is_error: bool,
    },
    Cancelled,
    TimedOut,
    AtTerminal,
}

impl<'a> AnswerJson<'a> {
    pub(super) fn of(answer: &'a model::Answer) -> Self {
        use model::Answer;
        match answer {
            Answer::Approved { remember } => AnswerJson::Approved { remember: *remember },
            Answer::Denied { message } => {
                AnswerJson::Denied { message: message.as_ref().map(Cow::from) }
            }
            Answer::Given(answers) => AnswerJson::Given(answers.into()),
            Answer::Output { text, is_error } => {
                AnswerJson::Output { text: text.into(), is_error: *is_error }
            }
            Answer::Cancelled => AnswerJson::Cancelled,
            Answer::TimedOut => AnswerJson::TimedOut,
            Answer::AtTerminal => AnswerJson::AtTerminal,
        }
    }

    pub(super) fn into_model(self) -> model::Answer {
        use model::Answer;
        match self {
            AnswerJson::Approved { remember } => Answer::Approved { remember },
            AnswerJson::Denied { message } => {
                Answer::Denied { message: message.map(Cow::into_owned) }
            }
            AnswerJson::Given(answers) => Answer::Given(answers.into_owned()),
            AnswerJson::Output { text, is_error } => {
                Answer::Output { text: text.into_owned(), is_error }
            }
            AnswerJson::Cancelled => Answer::Cancelled,
            AnswerJson::TimedOut => Answer::TimedOut,
            AnswerJson::AtTerminal => Answer::AtTerminal,
        }
    }
}
