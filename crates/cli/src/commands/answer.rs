//! `rookery answer`: answers to an agent's questions.

use rookery_native::wire::AnswerRequest;
use serde_json::{Map, Value};

use crate::{
    args::{self, Variable},
    failure::{Failure, Outcome},
    talk::settle::{answer_to, settle},
};

pub(super) async fn run(args: args::Answer) -> Outcome {
    let answers = answers(args.answers)?;
    let answer = AnswerRequest { answers: Some(answers), ..answer_to(&args.target) };
    settle(&args.target, answer, "answered").await
}

/// The answers by the ids of their questions.
fn answers(given: Vec<Variable>) -> Outcome<Value> {
    let mut answers = Map::new();
    for Variable { name, value } in given {
        if answers.contains_key(&name) {
            return Err(Failure::new(format!("{name:?} is answered twice")).code(2));
        }
        answers.insert(name, Value::String(value));
    }
    Ok(Value::Object(answers))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_question_is_answered_once() {
        let read =
            |words: &[&str]| answers(words.iter().map(|word| word.parse().unwrap()).collect());
        assert_eq!(read(&["a=1", "b=x=y"]).unwrap(), json!({"a": "1", "b": "x=y"}));
        assert!(read(&["a=1", "a=2"]).is_err());
    }
}
