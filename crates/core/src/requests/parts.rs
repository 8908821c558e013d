//! Requests that ask several questions, answered one by one. What was answered is kept with the request,
//! so that it outlives the daemon, and stands whoever answers the rest.

use rookery_model::{
    Answer, Asked, Error, ErrorKind, PartAnswer, Question, Request, RequestId, Result,
};
use rookery_store::Change;
use serde_json::{Map, Value};

use super::Resolved;
use crate::clock;
use crate::log::RequestChange;
use crate::rooms::Requests;
use crate::world::{Tx, World};

impl Requests {
    /// Answers one question of a request, and gives how many are left: with the last one the request is
    /// settled.
    ///
    /// `by` names the dialect that it came by. The first answer to a question counts.
    ///
    /// # Errors
    /// Not found if there is no such request, invalid if it has no such question, and a conflict if the
    /// question was answered or the request settled before. Also if the answer comes from an agent's own
    /// program, or cannot be kept.
    pub async fn answer_part(
        &self,
        id: RequestId,
        question: &str,
        text: &str,
        by: &str,
    ) -> Result<usize> {
        self.core.refuse_agents()?;
        let _turn = self.lock_answer(id).await;
        let left = self.core.look().left_without(id, question)?;
        if left == 0 {
            // Those that were given before are added where it is settled.
            let last = Map::from_iter([(question.to_owned(), Value::from(text))]);
            let answer = Answer::Given(Value::Object(last).to_string());
            return match self.give_in_turn(id, answer, false, by).await? {
                Resolved::Now => Ok(0),
                Resolved::Same | Resolved::Late => Err(settled()),
                Resolved::Unknown => Err(unknown(id)),
            };
        }
        self.core.sessions().ensure_saving()?;
        let part =
            PartAnswer { question: question.to_owned(), text: text.to_owned(), at: clock::wall() };
        self.core
            .transact_durably(|tx| {
                // It may have been settled meanwhile, by the end of its turn.
                let left = tx.world.left_without(id, question)?;
                tx.give_part(id, part);
                Ok(left)
            })
            .await
    }
}

impl World {
    /// How many questions of a request are left once this one is answered.
    fn left_without(&self, id: RequestId, question: &str) -> Result<usize> {
        let Some(request) = self.requests.get(id) else {
            let was_settled = self.settled.contains_key(&id);
            return Err(if was_settled { settled() } else { unknown(id) });
        };
        if !questions(request).iter().any(|known| known.id == question) {
            return Err(Error::invalid(
                "question_id",
                format!("no question {question:?} is asked"),
            ));
        }
        if request.given.iter().any(|part| part.question == question) {
            return Err(Error::conflict("the question was answered before"));
        }
        Ok(missing(request).filter(|other| other.id != question).count())
    }
}

impl Tx<'_> {
    fn give_part(&mut self, id: RequestId, part: PartAnswer) {
        let Some(request) = self.world.requests.give_part(id, part) else { return };
        let thread = request.thread();
        let is_kept = thread.is_none_or(|thread| {
            self.world.thread(thread).is_ok_and(|state| !state.thread.ephemeral)
        });
        if is_kept {
            self.save(Change::RequestUpserted(Box::new(request.clone())));
        }
        self.announce(thread, RequestChange::Part(Box::new(request)));
    }
}

fn questions(request: &Request) -> &[Question] {
    match &request.asked {
        Asked::Input { questions } => questions,
        _ => &[],
    }
}

fn missing(request: &Request) -> impl Iterator<Item = &Question> {
    let is_given =
        |question: &Question| request.given.iter().any(|part| part.question == question.id);
    questions(request).iter().filter(move |question| !is_given(question))
}

/// An answer to all questions, in which those that were answered one by one stand.
pub(super) fn with_parts(request: &Request, answer: Answer) -> Answer {
    let Answer::Given(text) = answer else { return answer };
    if request.given.is_empty() {
        return Answer::Given(text);
    }
    let mut all = match serde_json::from_str(&text) {
        Ok(Value::Object(all)) => all,
        // Said without saying to which of them.
        other => {
            let said = other.unwrap_or(Value::String(text));
            missing(request).map(|question| (question.id.clone(), said.clone())).collect()
        }
    };
    // Clients may put answers under a name of their own.
    let is_question = questions(request).iter().any(|question| question.id == ANSWERS);
    let inner = match all.get_mut(ANSWERS) {
        Some(Value::Object(inner)) if !is_question => inner,
        _ => &mut all,
    };
    let mut said = std::mem::take(inner);
    for part in &request.given {
        said.insert(part.question.clone(), Value::from(part.text.as_str()));
    }
    // In the order in which they were asked.
    for question in questions(request) {
        inner.extend(said.remove(&question.id).map(|text| (question.id.clone(), text)));
    }
    inner.extend(said);
    Answer::Given(Value::Object(all).to_string())
}

/// Where some clients put all answers.
const ANSWERS: &str = "answers";

fn settled() -> Error {
    Error::conflict("the request was settled before")
}

fn unknown(id: RequestId) -> Error {
    Error::new(ErrorKind::NotFound, format!("no request {id}"))
}
