//! Tools that ask: a client runs one, a person answers questions or judges a plan.

use std::time::Duration;

use rookery_agent::policy::Judgement;
use rookery_agent::tool::ToolOutput;
use rookery_agent::tools;
use rookery_model::{
    Answer, Asked, Error, ExternalCall, Mode, Question, RequestId, Result, ThreadId, Timestamp,
};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::tools::{Job, Resumed};
use crate::clock;
use crate::world::World;

/// How long a plan waits to be judged.
const PLAN_LIMIT: Duration = Duration::from_secs(600);
/// Who settles what an assignment lets happen by itself.
pub(super) const BY_ASSIGNMENT: &str = "auto-approval";

/// Something that waits for its answer.
struct Waiting {
    id: RequestId,
    deadline: Option<Timestamp>,
    answer: oneshot::Receiver<Answer>,
}

impl Job {
    /// Asks and waits, or goes on waiting for what was asked before a restart.
    pub(super) async fn answer(
        &self,
        asked: Asked,
        judgement: Option<&Judgement>,
        limit: Option<Duration>,
    ) -> Result<Answer> {
        let Waiting { id, deadline, answer } = self.ask(asked, judgement, limit).await?;
        self.core.requests().await_answer(id, answer, deadline).await
    }

    async fn ask(
        &self,
        asked: Asked,
        judgement: Option<&Judgement>,
        limit: Option<Duration>,
    ) -> Result<Waiting> {
        let call = self.turn.map(|turn| (turn, self.call_id.clone()));
        let resumed = call.and_then(|call| self.core.inner.threads.resumed.lock().remove(&call));
        if let Some(Resumed { id, deadline, answer }) = resumed {
            return Ok(Waiting { id, deadline, answer });
        }
        let request = self.request(asked, limit);
        self.turnstile.wait().await;
        let (id, deadline) = (request.id, request.deadline);
        self.hook_asked(&request.asked).await;
        let answer = self.core.requests().ask(request, judgement).await;
        self.turnstile.pass();
        Ok(Waiting { id, deadline, answer: answer? })
    }

    pub(super) async fn external(&self) -> ToolOutput {
        let asked = Asked::External(ExternalCall { arguments: self.arguments.clone() });
        let limit = self.core.agents().settings().tools.external_timeout;
        match self.answer(asked, None, Some(limit)).await {
            Ok(Answer::Output { text, is_error }) => {
                let output = ToolOutput { text, is_error, ..ToolOutput::default() };
                self.core.inner.agents.registry.mask(output)
            }
            Ok(Answer::TimedOut) => ToolOutput::error("the client did not run the tool in time"),
            _ => ToolOutput::error("the tool call was cancelled"),
        }
    }

    pub(super) async fn user_input(&self, arguments: Value) -> ToolOutput {
        if self.profile.is_unattended() {
            return ToolOutput::error("User input is unavailable: no user is there to answer");
        }
        let questions = match tools::questions(arguments) {
            Ok(questions) => questions,
            Err(reason) => return ToolOutput::error(reason),
        };
        match self.questioned(questions).await {
            Ok((Answer::Given(answers), images)) => {
                let value: Value = serde_json::from_str(&answers).unwrap_or(Value::Null);
                let data = json!({ "request_id": self.call_id, "answers": value });
                let text = format!("User input received:\n{answers}");
                ToolOutput { images, ..ToolOutput::new(text, data) }
            }
            _ => ToolOutput::error("User input is unavailable: the question was taken back"),
        }
    }

    /// The answer to questions: of a person, of a message that waits, or the first of the options if
    /// the assignment says so. With it come images that were sent with the message.
    async fn questioned(&self, questions: Vec<Question>) -> Result<(Answer, Vec<String>)> {
        let usual = first_options(&questions);
        let Waiting { id, mut answer, .. } =
            self.ask(Asked::Input { questions }, None, None).await?;
        let images = self.core.threads().answer_queued(self.thread, id).await?;
        let gone = |_| Error::closed("the question will not be answered any more");
        while let Some(left) = self.core.look().chooses_after(self.thread, id) {
            if let Ok(given) = tokio::time::timeout(left, &mut answer).await {
                return Ok((given.map_err(gone)?, images));
            }
            if self.core.is_stopping() {
                // The next daemon asks again, and chooses.
                break;
            }
            // An answer may come at this very moment; then that counts. So does one to another question,
            // after which the rest waits as long again.
            self.core
                .transact_durably(|tx| {
                    if tx.world.chooses_after(self.thread, id) == Some(Duration::ZERO) {
                        tx.resolve_request(id, Answer::Given(usual.clone()), BY_ASSIGNMENT);
                    }
                    Ok(())
                })
                .await?;
        }
        Ok((answer.await.map_err(gone)?, images))
    }

    pub(super) async fn plan_exit(&self, arguments: Value) -> ToolOutput {
        let mode = self.mode();
        if mode != Mode::Plan {
            return ToolOutput::error("not_in_plan_mode: exit_plan_mode works only in plan mode");
        }
        let needs_summary = self.core.inner.agents.settings().policy.exit_plan_requires_summary;
        let plan = match tools::plan(arguments, needs_summary) {
            Ok(plan) => plan,
            Err(reason) => return ToolOutput::error(reason),
        };
        if self.profile.is_unattended() {
            return ToolOutput::error("no user is there to judge the plan; the mode stays plan");
        }
        match self.answer(Asked::PlanExit(plan), None, Some(PLAN_LIMIT)).await {
            Ok(Answer::Approved { .. }) => {
                let mode = rookery_agent::policy::mode_name(self.mode());
                let data = json!({ "approved": true, "mode": mode });
                ToolOutput::new(format!("Plan approved; mode is now {mode}."), data)
            }
            answer => {
                let mode = rookery_agent::policy::mode_name(self.mode());
                let why = if matches!(answer, Ok(Answer::TimedOut)) {
                    ": no answer came in time"
                } else {
                    ""
                };
                ToolOutput::error(format!("Plan rejected{why}; the mode is {mode}."))
            }
        }
    }
}

impl World {
    /// How long a request waits from now on before the first options count for what is not answered;
    /// none if they never do.
    fn chooses_after(&self, thread: ThreadId, id: RequestId) -> Option<Duration> {
        let assignment = self.threads.get(&thread)?.thread.assignment.as_deref()?;
        let after = assignment.unasked.answers_after.filter(|_| assignment.unasked.is_on)?;
        let request = self.requests.get(id)?;
        let since = request.given.last().map_or(request.asked_at, |part| part.at);
        let passed = clock::wall().as_micros().saturating_sub(since.as_micros()).max(0);
        Some(Duration::from_millis(after).saturating_sub(Duration::from_micros(passed as u64)))
    }
}

/// The first option of each question, as an answer.
fn first_options(questions: &[Question]) -> String {
    let chosen = questions.iter().filter_map(|question| {
        let label = question.options.first()?.label.clone();
        Some((question.id.clone(), Value::String(label)))
    });
    Value::Object(chosen.collect::<Map<_, _>>()).to_string()
}
