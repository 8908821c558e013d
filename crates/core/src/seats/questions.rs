//! Questions that a client asks through the palette. Each is open on the desk, and a row of every
//! inbox beside it; whichever is answered first takes the other back.

use std::collections::HashMap;

use rookery_model::{
    Answer, Asked, Asker, Question as Asks, QuestionOption, Request, RequestId, RequestState,
    ViewerId,
};
use rookery_view::palette::{Answer as Item, Question};
use tokio::sync::oneshot;

use crate::clock;
use crate::core::Core;
use crate::rooms::Seats;
use crate::world::draw;

/// What asks, as a request names it.
const TOOL: &str = "palette";
/// The name of the answer.
const CHOICE: &str = "choice";
/// What settles a row that was answered in the palette.
const BY_PALETTE: &str = "palette";
/// Options that a row of the inbox has; the others are chosen in the palette, or by their words.
const MOST_OPTIONS: usize = 50;

/// A question that was put to the user. Dropping it takes the question back.
pub struct Presented {
    core: Core,
    /// Where it was put.
    seat: Option<ViewerId>,
    session: u64,
    answer: oneshot::Receiver<Option<String>>,
    /// The row of every inbox, if it could be made.
    row: Option<Row>,
}

/// The row of a question.
struct Row {
    id: RequestId,
    answer: oneshot::Receiver<Answer>,
    choices: Vec<Choice>,
}

/// What can be chosen: the words, and what the asker gets.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    words: String,
    id: String,
}

impl Presented {
    /// The chosen row; none if the question was dismissed.
    pub async fn answer(&mut self) -> Option<String> {
        let Some(row) = &mut self.row else { return (&mut self.answer).await.unwrap_or(None) };
        tokio::select! {
            biased;
            chosen = &mut self.answer => {
                let chosen = chosen.unwrap_or(None);
                let words = chosen.as_ref().and_then(|id| row.choices.iter().find(|it| it.id == *id));
                let answer = words.map_or(Answer::Cancelled, |it| given(&it.words));
                self.core.seats().settle_row(row.id, answer);
                chosen
            }
            given = &mut row.answer => chosen(&row.choices, &given.ok()?),
        }
    }

    /// The row of every inbox, by its request.
    pub fn request(&self) -> Option<RequestId> {
        self.row.as_ref().map(|row| row.id)
    }
}

impl Drop for Presented {
    fn drop(&mut self) {
        let effects = {
            let mut state = self.core.inner.seats.state.lock();
            // The seat may be the imagined window's by now.
            let seat = self.seat.filter(|id| state.seats.contains_key(id));
            state.askers.remove(&(seat, self.session));
            if let Some(row) = &self.row {
                state.questions.remove(&row.id);
                self.core.requests().take_none(row.id);
            }
            state.seat_mut(seat).palette.dismiss_session(self.session)
        };
        self.core.seats().carry_out_quick(effects);
        if let Some(row) = &self.row {
            self.core.seats().settle_row(row.id, Answer::Cancelled);
        }
    }
}

impl Seats {
    /// Puts a question to the user: on the desk in place of whatever is open there, and into every
    /// inbox.
    pub async fn ask(&self, question: &Question) -> Presented {
        self.put_questions_away();
        self.leave_terminal(self.place().terminal);
        let (sender, answer) = oneshot::channel();
        let seat = self.seat();
        let request = request(question);
        let (session, effects) = {
            let mut state = self.core.inner.seats.state.lock();
            let (session, effects) = state.seat_mut(seat).palette.ask(question);
            state.askers.insert((seat, session), sender);
            state.questions.insert(request.id, session);
            (session, effects)
        };
        self.carry_out_quick(effects);
        let mut presented = Presented { core: self.core.clone(), seat, session, answer, row: None };
        let id = request.id;
        let offered = choices(question);
        self.core.requests().take_only(id, move |answer| {
            !matches!(answer, Answer::Given(_)) || chosen(&offered, answer).is_some()
        });
        // Whoever gives up while it is being filed takes it back as well.
        let (_, unanswered) = oneshot::channel();
        presented.row = Some(Row { id, answer: unanswered, choices: choices(question) });
        match self.core.requests().ask(request, None).await {
            Ok(answer) => {
                if let Some(row) = &mut presented.row {
                    row.answer = answer;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a question is in the palette only");
                self.core.inner.seats.state.lock().questions.remove(&id);
                self.core.requests().take_none(id);
                presented.row = None;
            }
        }
        presented
    }

    /// Whether a question of a client is open in a viewer's own palette.
    pub fn is_asked_at(&self, viewer: ViewerId, request: RequestId) -> bool {
        let state = self.core.inner.seats.state.lock();
        let open = state.questions.get(&request);
        open.is_some_and(|session| state.askers.contains_key(&(Some(viewer), *session)))
    }

    /// The row is gone from every inbox, if it is there still.
    fn settle_row(&self, id: RequestId, answer: Answer) {
        let is_waiting = self.core.requests().get(id).is_some();
        let settled = is_waiting.then(|| {
            self.core.transact(|tx| {
                tx.resolve_request(id, answer, BY_PALETTE);
                Ok(())
            })
        });
        if let Some(Err(error)) = settled {
            tracing::warn!(%error, "a question that was answered stays in the inbox");
        }
    }
}

/// The row of a question, as everything else that waits for an answer.
fn request(question: &Question) -> Request {
    let words = [&question.title, &question.placeholder];
    let words = words.into_iter().find(|words| !words.is_empty());
    let options = choices(question).into_iter().zip(&question.items).take(MOST_OPTIONS);
    let options = options.map(|(choice, item)| QuestionOption {
        label: choice.words,
        description: item.subtitle.clone().unwrap_or_default(),
    });
    let asks = Asks {
        header: question.title.clone(),
        id: CHOICE.to_owned(),
        question: words.cloned().unwrap_or_else(|| "Select…".to_owned()),
        options: options.collect(),
    };
    Request {
        id: RequestId::new(draw()),
        asker: Asker::Client,
        call_id: String::new(),
        tool: TOOL.to_owned(),
        asked: Asked::Input { questions: vec![asks] },
        asked_at: clock::wall(),
        deadline: None,
        is_deferred: false,
        given: Vec::new(),
        state: RequestState::Pending,
    }
}

/// The words of each item. Where several have the same, their ids tell them apart.
fn choices(question: &Question) -> Vec<Choice> {
    let mut same: HashMap<&str, usize> = HashMap::new();
    question.items.iter().for_each(|item| *same.entry(&item.title).or_default() += 1);
    let words = |title: &str, id: &str| match same.get(title) {
        Some(1) => title.to_owned(),
        _ => format!("{title} ({id})"),
    };
    let choice = |item: &Item| Choice { words: words(&item.title, &item.id), id: item.id.clone() };
    question.items.iter().map(choice).collect()
}

/// What an answer to the row chooses, by its words or its id.
fn chosen(choices: &[Choice], answer: &Answer) -> Option<String> {
    let Answer::Given(text) = answer else { return None };
    let answers: serde_json::Value = serde_json::from_str(text).ok()?;
    let words = answers.get(CHOICE)?.as_str()?;
    let by_words = choices.iter().find(|choice| choice.words == words);
    let found = by_words.or_else(|| choices.iter().find(|choice| choice.id == words));
    found.map(|choice| choice.id.clone())
}

fn given(words: &str) -> Answer {
    Answer::Given(serde_json::json!({ CHOICE: words }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, title: &str) -> Item {
        Item { id: id.to_owned(), title: title.to_owned(), subtitle: None }
    }

    #[test]
    fn rows_are_chosen_by_their_words_or_ids() {
        let items = vec![item("x", "Yes"), item("y", "No"), item("z", "No")];
        let question = Question { title: "Sure?".to_owned(), items, ..Question::default() };
        let choices = choices(&question);
        let words: Vec<&str> = choices.iter().map(|choice| choice.words.as_str()).collect();
        assert_eq!(words, ["Yes", "No (y)", "No (z)"]);
        let choose = |words: &str| chosen(&choices, &given(words));
        assert_eq!(choose("Yes").as_deref(), Some("x"));
        assert_eq!(choose("No (z)").as_deref(), Some("z"));
        assert_eq!(choose("y").as_deref(), Some("y"));
        assert_eq!((choose("No"), choose("")), (None, None));
        assert_eq!(chosen(&choices, &Answer::Cancelled), None);
        assert_eq!(chosen(&choices, &Answer::Given("[]".to_owned())), None);
    }

    #[test]
    fn a_long_list_is_a_short_row() {
        let items = (0..900).map(|number| item(&number.to_string(), &format!("n{number}")));
        let question = Question { items: items.collect(), ..Question::default() };
        let Asked::Input { questions } = request(&question).asked else { panic!("a question") };
        assert_eq!(questions[0].options.len(), MOST_OPTIONS);
        assert_eq!(chosen(&choices(&question), &given("n899")).as_deref(), Some("899"));
    }
}
