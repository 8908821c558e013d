//! A request that is decided inline: what is asked next, and what a typed line means. Knows neither
//! the terminal nor the daemon.

use rookery_native::wire::{AnswerRequest, Request, RequestKind};
use serde_json::{Map, Value};

use crate::talk::requests;

const YES_OR_NO: &str = "allow? [y]es, [n]o, [a]lways in this thread, or type what to do instead:";
const PLAN: &str = "carry it out? [y]es or [n]o:";

/// A request under way to its answer.
pub(super) struct Asking {
    request: Request,
    /// Which question is asked.
    step: usize,
    /// Answers so far, of questions.
    answers: Map<String, Value>,
}

/// What comes after a line.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// The line means nothing; ask the same once more.
    Again,
    /// There is another question.
    More,
    /// It is decided.
    Answer(AnswerRequest),
}

impl Asking {
    pub(super) fn new(request: Request) -> Self {
        Self { request, step: 0, answers: Map::new() }
    }

    pub(super) fn id(&self) -> &str {
        &self.request.id
    }

    pub(super) fn request(&self) -> &Request {
        &self.request
    }

    pub(super) fn into_request(self) -> Request {
        self.request
    }

    /// Lines to show once, before anything is asked.
    pub(super) fn details(&self) -> Vec<String> {
        match self.request.kind {
            // Each comes with its turn.
            RequestKind::Input => Vec::new(),
            _ => requests::details(&self.request),
        }
    }

    /// Lines to show before the question.
    pub(super) fn lines(&self) -> Vec<String> {
        self.request.questions.get(self.step).map(requests::question).unwrap_or_default()
    }

    pub(super) fn question(&self) -> &'static str {
        match self.request.kind {
            RequestKind::Approval => YES_OR_NO,
            RequestKind::PlanExit => PLAN,
            RequestKind::Input | RequestKind::ExternalTool => "a number, or your own answer:",
        }
    }

    /// Takes a line.
    pub(super) fn take(&mut self, line: &str) -> Next {
        let line = line.trim();
        if line.is_empty() {
            return Next::Again;
        }
        match self.request.kind {
            RequestKind::Approval => self.approval(line),
            RequestKind::PlanExit => match line.to_ascii_lowercase().as_str() {
                "y" | "yes" => Next::Answer(decided(self.id(), true)),
                "n" | "no" => Next::Answer(decided(self.id(), false)),
                _ => Next::Again,
            },
            RequestKind::Input => self.answer(line),
            RequestKind::ExternalTool => Next::Again,
        }
    }

    fn approval(&self, line: &str) -> Next {
        Next::Answer(match line.to_ascii_lowercase().as_str() {
            "y" | "yes" => decided(self.id(), true),
            "a" | "always" => AnswerRequest { remember: true, ..decided(self.id(), true) },
            "n" | "no" => decided(self.id(), false),
            // Anything else is not a yes.
            _ => AnswerRequest { message: Some(line.to_owned()), ..decided(self.id(), false) },
        })
    }

    fn answer(&mut self, line: &str) -> Next {
        let Some(question) = self.request.questions.get(self.step) else { return Next::Again };
        let number = line.parse::<usize>().ok();
        let chosen = number.and_then(|number| question.options.get(number.checked_sub(1)?));
        let answer = chosen.map_or_else(|| line.to_owned(), Clone::clone);
        self.answers.insert(question.id.clone(), Value::String(answer));
        self.step += 1;
        if self.step < self.request.questions.len() {
            return Next::More;
        }
        let answers = Value::Object(std::mem::take(&mut self.answers));
        Next::Answer(AnswerRequest {
            approved: None,
            answers: Some(answers),
            shown: None,
            ..decided(self.id(), false)
        })
    }
}

/// Yes or no to a request.
pub(super) fn decided(id: &str, approved: bool) -> AnswerRequest {
    AnswerRequest {
        id: id.to_owned(),
        approved: Some(approved),
        message: None,
        remember: false,
        answers: None,
        shown: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asking(kind: &str, questions: Value) -> Asking {
        let request = serde_json::from_value(json!({
            "id": "01A", "kind": kind, "thread": "t", "turn": "u", "tool": "shell",
            "summary": "ls", "askedAt": "", "state": "pending", "questions": questions,
        }));
        Asking::new(request.unwrap())
    }

    fn answer(next: Next) -> Value {
        let Next::Answer(answer) = next else { panic!("{next:?}") };
        serde_json::to_value(answer).unwrap()
    }

    #[test]
    fn only_a_clear_yes_approves() {
        for (line, expected) in [
            ("y", json!({"id": "01A", "approved": true})),
            (" YES\n", json!({"id": "01A", "approved": true})),
            ("always", json!({"id": "01A", "approved": true, "remember": true})),
            ("n", json!({"id": "01A", "approved": false})),
            ("yep", json!({"id": "01A", "approved": false, "message": "yep"})),
            ("use cargo", json!({"id": "01A", "approved": false, "message": "use cargo"})),
        ] {
            assert_eq!(answer(asking("approval", json!([])).take(line)), expected, "{line}");
        }
        assert_eq!(asking("approval", json!([])).take("  "), Next::Again);
    }

    #[test]
    fn a_plan_needs_yes_or_no() {
        let mut plan = asking("plan_exit", json!([]));
        assert_eq!(plan.take("always"), Next::Again);
        assert_eq!(answer(plan.take("no")), json!({"id": "01A", "approved": false}));
        assert_eq!(answer(plan.take("Y")), json!({"id": "01A", "approved": true}));
    }

    #[test]
    fn questions_come_one_after_the_other() {
        let (options, meanings) = (json!(["Blue", "Red"]), json!(["as the \u{1b}[2Jsky", ""]));
        let mut asked = asking(
            "input",
            json!([
                {"header": "Color", "id": "color", "question": "Which?", "options": options,
                 "descriptions": meanings},
                {"header": "Size", "id": "size", "question": "How large?", "options": []},
            ]),
        );
        assert_eq!(asked.lines(), ["Color: Which?", "  1. Blue — as the [2Jsky", "  2. Red"]);
        assert_eq!(asked.take("2"), Next::More);
        assert_eq!(asked.lines(), ["Size: How large?"]);
        assert_eq!(asked.take(""), Next::Again);
        let expected = json!({"id": "01A", "answers": {"color": "Red", "size": "3"}});
        assert_eq!(answer(asked.take("3")), expected);
    }
}
