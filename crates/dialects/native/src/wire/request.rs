//! Requests of agents: what waits for an answer, and the answers.

use std::collections::BTreeMap;

use rookery_model as model;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Time, format_time};
use crate::text::redacted;

/// How much an agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// What changes something is asked for.
    Default,
    /// What changes something is approved at once.
    AcceptAll,
    /// Nothing may be changed.
    Plan,
    /// Everything is approved.
    Bypass,
}

impl From<model::Mode> for Mode {
    fn from(mode: model::Mode) -> Self {
        match mode {
            model::Mode::Default => Mode::Default,
            model::Mode::AcceptAll => Mode::AcceptAll,
            model::Mode::Plan => Mode::Plan,
            model::Mode::Bypass => Mode::Bypass,
        }
    }
}

impl From<Mode> for model::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Default => model::Mode::Default,
            Mode::AcceptAll => model::Mode::AcceptAll,
            Mode::Plan => model::Mode::Plan,
            Mode::Bypass => model::Mode::Bypass,
        }
    }
}

/// Where a turn is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// It runs, or waits.
    InProgress,
    /// It came to its end.
    Completed,
    Failed,
    Interrupted,
}

impl From<model::TurnStatus> for TurnStatus {
    fn from(status: model::TurnStatus) -> Self {
        match status {
            model::TurnStatus::InProgress => TurnStatus::InProgress,
            model::TurnStatus::Completed => TurnStatus::Completed,
            model::TurnStatus::Failed => TurnStatus::Failed,
            model::TurnStatus::Interrupted => TurnStatus::Interrupted,
        }
    }
}

/// What an agent waits, or waited, for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub id: String,
    /// What is asked.
    pub kind: RequestKind,
    /// The conversation that asks.
    pub thread: String,
    /// The turn that asks.
    pub turn: String,
    /// The tool that asks.
    pub tool: String,
    /// What it is about, in one line.
    pub summary: String,
    /// Why it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What exactly would be done, as JSON that the tool gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Program and arguments, if it is a command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// Where it would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables that would be set for it, or unset where the value is null; without secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Option<String>>,
    /// What would change, or the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// What the preview leaves out; `input` and `argv` are always whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<Unseen>,
    /// Questions, if that is what is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// What follows a plan, if that is what is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// When it was asked.
    pub asked_at: Time,
    /// When it will be denied if it is not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Whether it was deferred.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
    /// `pending`, or how it was settled.
    pub state: RequestState,
    /// Who settled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<String>,
}

/// What a shortened preview leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unseen {
    /// How many characters are not shown.
    pub characters: u64,
    /// How many there are in all.
    pub of: u64,
    /// The beginning of the SHA-256 of the whole text.
    pub digest: String,
}

impl From<model::Unseen> for Unseen {
    fn from(unseen: model::Unseen) -> Self {
        let model::Unseen { characters, of, digest } = unseen;
        Self { characters, of, digest }
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// May this be done?
    Approval,
    /// Questions to the user.
    Input,
    /// May the plan be carried out?
    PlanExit,
    /// A tool that a client runs.
    ExternalTool,
}

/// Whether a request waits, or how it was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// It waits.
    Pending,
    /// Yes.
    Approved,
    /// No.
    Denied,
    /// The questions were answered, or the tool was run.
    Answered,
    /// It is not waited for any more.
    Cancelled,
    /// It was not answered in time.
    TimedOut,
}

/// A question with a few answers to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The name of the answer.
    pub id: String,
    /// A word or two.
    pub header: String,
    pub question: String,
    /// What may be answered.
    pub options: Vec<String>,
    /// What each of the options means, in their order; absent if none has a description.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub descriptions: Vec<String>,
}

/// What follows a plan that is approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The mode that the thread goes on in.
    pub mode: Mode,
    /// What comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
}

/// The thread that asks; an id of zeros if none does.
pub(crate) fn thread_of(request: &model::Request) -> String {
    request.thread().unwrap_or(model::ThreadId::new(0)).to_string()
}

impl From<&model::Request> for Request {
    fn from(request: &model::Request) -> Self {
        let mut shown = Request {
            id: request.id.to_string(),
            kind: kind(&request.asked),
            thread: thread_of(request),
            turn: request.turn().unwrap_or(model::TurnId::new(0)).to_string(),
            tool: request.tool.clone(),
            summary: String::new(),
            reason: None,
            input: None,
            argv: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            preview: None,
            unseen: None,
            questions: Vec::new(),
            plan: None,
            asked_at: format_time(request.asked_at),
            deadline: request.deadline.map(format_time),
            deferred: request.is_deferred,
            state: state(&request.state),
            settled_by: match &request.state {
                model::RequestState::Pending => None,
                model::RequestState::Settled(settled) => Some(settled.by.clone()),
            },
        };
        match &request.asked {
            model::Asked::Approval { reason, input, argv, cwd, env, preview, .. } => {
                let patched = preview.as_deref().and_then(patched);
                shown.summary =
                    patched.unwrap_or_else(|| first_line(preview.as_deref().unwrap_or(input)));
                shown.reason = Some(reason.clone());
                shown.input = Some(input.clone());
                shown.argv.clone_from(argv);
                shown.env = env.iter().map(variable).collect();
                shown.cwd = Some(cwd.to_string_lossy().into_owned());
                shown.preview.clone_from(preview);
                shown.unseen = preview.as_deref().and_then(model::Unseen::of).map(Unseen::from);
            }
            model::Asked::Input { questions } => {
                shown.summary = first_line(questions.first().map_or("", |asked| &asked.question));
                shown.questions = questions.iter().map(question).collect();
            }
            model::Asked::PlanExit(plan) => {
                shown.summary = first_line(&plan.summary);
                shown.preview = Some(model::spelled(&plan.summary));
                let next_steps = plan.next_steps.clone();
                shown.plan = Some(Plan { mode: plan.target.into(), next_steps });
            }
            model::Asked::Permission { title, summary, action, scope } => {
                shown.summary = beside_title(title, [action, summary]);
                shown.reason = Some(summary.clone());
                shown.preview = Some(model::spelled(action));
                shown.cwd.clone_from(scope);
            }
            model::Asked::Dialog { title, text, .. } => {
                shown.summary = beside_title(title, [text]);
                shown.preview = Some(model::spelled(text));
            }
            model::Asked::External(call) => {
                shown.summary = first_line(&call.arguments);
                shown.input = Some(call.arguments.clone());
            }
        }
        shown
    }
}

/// What is asked, in a line, where the title already stands in for the tool.
fn beside_title<'a>(title: &str, texts: impl IntoIterator<Item = &'a String>) -> String {
    let title = first_line(title);
    let lines = texts.into_iter().flat_map(|text| text.lines()).map(first_line);
    let mut said = lines.filter(|line| !line.is_empty() && *line != title);
    said.next().unwrap_or(title)
}

fn kind(asked: &model::Asked) -> RequestKind {
    match asked {
        model::Asked::Approval { .. }
        | model::Asked::Permission { .. }
        | model::Asked::Dialog { .. } => RequestKind::Approval,
        model::Asked::Input { .. } => RequestKind::Input,
        model::Asked::PlanExit(_) => RequestKind::PlanExit,
        model::Asked::External(_) => RequestKind::ExternalTool,
    }
}

fn state(state: &model::RequestState) -> RequestState {
    let settled = match state {
        model::RequestState::Pending => return RequestState::Pending,
        model::RequestState::Settled(settled) => settled,
    };
    match settled.answer {
        model::Answer::Approved { .. } => RequestState::Approved,
        model::Answer::Denied { .. } => RequestState::Denied,
        model::Answer::Given(_) | model::Answer::Output { .. } | model::Answer::AtTerminal => {
            RequestState::Answered
        }
        model::Answer::Cancelled => RequestState::Cancelled,
        model::Answer::TimedOut => RequestState::TimedOut,
    }
}

fn variable((name, value): &(String, Option<String>)) -> (String, Option<String>) {
    // Its name is what makes many a value a secret.
    let hidden = |value: &String| {
        let line = format!("{name}={value}");
        let shown = redacted(&line);
        shown.strip_prefix(&format!("{name}=")).map_or_else(|| shown.to_string(), str::to_owned)
    };
    (name.clone(), value.as_ref().map(hidden))
}

fn question(question: &model::Question) -> Question {
    let meant = question.options.iter().map(|option| option.description.clone());
    let meant: Vec<String> = meant.collect();
    Question {
        id: question.id.clone(),
        header: question.header.clone(),
        question: question.question.clone(),
        options: question.options.iter().map(|option| option.label.clone()).collect(),
        descriptions: if meant.iter().all(String::is_empty) { Vec::new() } else { meant },
    }
}

/// The files that a patch is about, if the text is one.
fn patched(text: &str) -> Option<String> {
    let mut lines = text.lines().peekable();
    let mut files: Vec<&str> = Vec::new();
    let is_patch = text.starts_with("--- ") || text.starts_with("diff ");
    while let Some(line) = lines.next() {
        let (Some(old), Some(new)) =
            (line.strip_prefix("--- "), lines.peek().and_then(|next| next.strip_prefix("+++ ")))
        else {
            continue;
        };
        let file = new.strip_prefix("b/").or(old.strip_prefix("a/")).unwrap_or(new);
        files.push(file);
    }
    let first = files.first().filter(|_| is_patch)?;
    Some(match files.len() {
        1 => (*first).to_owned(),
        count => format!("{first} and {} more", count - 1),
    })
}

fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    model::spelled(line)
}

/// Params of `rookery/requests/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestList {
    /// Only those of this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

call!("rookery/requests/list" RequestList -> Requests);

/// Result of `rookery/requests/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Requests {
    /// What waits for an answer, oldest first.
    pub requests: Vec<Request>,
}

/// Params of `rookery/requests/answer`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnswerRequest {
    /// Which request; the end of its id is enough if no other ends so.
    pub id: String,
    /// Whether it may be done; for approvals and plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the same may be done again in this conversation without asking.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remember: bool,
    /// The answers to questions, by their ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<serde_json::Value>,
    /// The digest of the card that the person saw; nothing is decided if it is not that of what waits now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

call!("rookery/requests/answer" AnswerRequest -> Answered);

/// Result of `rookery/requests/answer`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answered {
    /// The request in full.
    pub id: String,
    /// Whether this answer settled it; false if another came first.
    pub settled: bool,
}

/// Params of `rookery/requests/defer`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeferRequest {
    /// Which request; the end of its id is enough if no other ends so.
    pub id: String,
}

call!("rookery/requests/defer" DeferRequest -> Deferred);

/// Result of `rookery/requests/defer`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deferred {
    /// The request in full. It waits on.
    pub id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_summed_up_by_its_files() {
        let new = "--- /dev/null\n+++ b/x y\n@@ -0,0 +1 @@\n+y\n";
        assert_eq!(patched(new).as_deref(), Some("x y"));
        let gone = "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n";
        assert_eq!(patched(gone).as_deref(), Some("x"));
        assert_eq!(patched(&format!("{new}{gone}{gone}")).as_deref(), Some("x y and 2 more"));
        assert_eq!(patched("rm x\n--- a\n+++ b\n"), None);
        assert_eq!(patched("--- "), None);
    }

    #[test]
    fn what_a_variable_is_called_may_make_its_value_a_secret() {
        let shown = variable(&("API_KEY".to_owned(), Some("k-1234567".to_owned())));
        assert!(!shown.1.unwrap().contains("1234567"));
        let plain = ("LANG".to_owned(), Some("C".to_owned()));
        assert_eq!(variable(&plain), plain);
        assert_eq!(variable(&("X".to_owned(), None)).1, None);
    }
}
