//! `request_user_input` and `exit_plan_mode`: tools that wait for a person's answer.
//!
//! Only the driver of a turn can wait, so here their arguments are read and judged, no more.

use std::collections::HashSet;

use rookery_model::{Mode, Plan, Question, QuestionOption, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::arguments;
use crate::tool::{Running, Tool, ToolOutput};

pub(super) const REQUEST_USER_INPUT: Tool = Tool {
    name: "request_user_input",
    kind: ToolKind::Internal,
    description: "Ask the user one to three questions with two or three options each, and wait.",
    needs_turn: true,
    needs_assignment: false,
    parameters: arguments::schema::<QuestionsArgs>,
    check: |value| questions(value.clone()).map(drop),
    run: |_, _| refused("request_user_input"),
};

pub(super) const EXIT_PLAN_MODE: Tool = Tool {
    name: "exit_plan_mode",
    kind: ToolKind::Internal,
    description: "In plan mode: present the finished plan and wait until it is approved.",
    needs_turn: true,
    needs_assignment: false,
    parameters: arguments::schema::<PlanArgs>,
    // Whether the summary may be blank is for the settings to say.
    check: |value| plan(value.clone(), false).map(drop),
    run: |_, _| refused("exit_plan_mode"),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QuestionsArgs {
    #[schemars(length(min = 1, max = 3))]
    questions: Vec<QuestionArgs>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QuestionArgs {
    /// A word or two.
    header: String,
    /// Names the answer.
    id: String,
    question: String,
    #[schemars(length(min = 2, max = 3))]
    options: Vec<OptionArgs>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OptionArgs {
    label: String,
    description: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlanArgs {
    summary: String,
    next_steps: Option<Vec<String>>,
    /// The mode to go on in; default by default.
    target_mode: Option<TargetMode>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TargetMode {
    Default,
    AcceptAll,
    AcceptEdits,
}

/// Reads the arguments of `request_user_input`.
pub fn questions(arguments: Value) -> Result<Vec<Question>, String> {
    let args: QuestionsArgs = arguments::decode(arguments)?;
    if !(1..=3).contains(&args.questions.len()) {
        return Err(arguments::invalid("questions", "there must be one to three"));
    }
    let mut ids = HashSet::new();
    for (index, question) in args.questions.iter().enumerate() {
        let member = |name: &str| format!("questions[{index}].{name}");
        arguments::not_blank(&member("header"), &question.header)?;
        arguments::not_blank(&member("id"), &question.id)?;
        arguments::not_blank(&member("question"), &question.question)?;
        if !ids.insert(question.id.as_str()) {
            return Err(arguments::invalid(&member("id"), "occurs twice"));
        }
        if !(2..=3).contains(&question.options.len()) {
            return Err(arguments::invalid(&member("options"), "there must be two or three"));
        }
        if question.options.iter().any(|option| option.label.trim().is_empty()) {
            return Err(arguments::invalid(&member("options"), "a label must not be blank"));
        }
    }
    let option = |option: OptionArgs| QuestionOption {
        label: option.label,
        description: option.description,
    };
    let question = |question: QuestionArgs| Question {
        header: question.header,
        id: question.id,
        question: question.question,
        options: question.options.into_iter().map(option).collect(),
    };
    Ok(args.questions.into_iter().map(question).collect())
}

/// Reads the arguments of `exit_plan_mode`.
pub fn plan(arguments: Value, needs_summary: bool) -> Result<Plan, String> {
    let args: PlanArgs = arguments::decode(arguments)?;
    if needs_summary {
        arguments::not_blank("summary", &args.summary)?;
    }
    let target = match args.target_mode {
        None | Some(TargetMode::Default) => Mode::Default,
        Some(TargetMode::AcceptAll | TargetMode::AcceptEdits) => Mode::AcceptAll,
    };
    Ok(Plan { target, summary: args.summary, next_steps: args.next_steps.unwrap_or_default() })
}

pub(super) fn refused(name: &'static str) -> Running {
    Box::pin(async move { ToolOutput::error(format!("tool cannot be called directly: {name}")) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_world::Bench;
    use super::*;

    fn question(id: &str, options: usize) -> Value {
        let options: Vec<Value> = (0..options)
            .map(|number| json!({"label": number.to_string(), "description": ""}))
            .collect();
        json!({"header": "H", "id": id, "question": "Q?", "options": options})
    }

    #[test]
    fn questions_are_counted() {
        let good = questions(json!({"questions": [question("a", 2), question("b", 3)]})).unwrap();
        assert_eq!((good.len(), good[1].options.len(), good[0].id.as_str()), (2, 3, "a"));
        for (list, why) in [
            (json!([]), "questions: there must be one to three"),
            (
                json!([question("a", 2), question("b", 2), question("c", 2), question("d", 2)]),
                "one to three",
            ),
            (json!([question("a", 1)]), "questions[0].options: there must be two or three"),
            (json!([question("a", 4)]), "questions[0].options: there must be two or three"),
            (json!([question("a", 2), question("a", 2)]), "questions[1].id: occurs twice"),
            (json!([question(" ", 2)]), "questions[0].id: must not be blank"),
            (json!([{"header": "H"}]), "questions[0]: missing field `id`"),
        ] {
            let told = questions(json!({"questions": list})).unwrap_err();
            assert!(
                told.starts_with("invalid tool call arguments: ") && told.contains(why),
                "{told}"
            );
        }
    }

    #[test]
    fn plans_have_a_summary_and_a_mode() {
        let bare = plan(json!({"summary": "do it"}), true).unwrap();
        assert_eq!(
            bare,
            Plan { target: Mode::Default, summary: "do it".into(), next_steps: Vec::new() }
        );
        for mode in ["accept_all", "accept_edits"] {
            let full = json!({"summary": "s", "next_steps": ["a"], "target_mode": mode});
            assert_eq!(plan(full, true).unwrap().target, Mode::AcceptAll);
        }
        assert!(
            plan(json!({"summary": " \n"}), true)
                .unwrap_err()
                .contains("summary: must not be blank")
        );
        assert_eq!(plan(json!({"summary": ""}), false).unwrap().summary, "");
        assert!(plan(json!({"summary": "s", "target_mode": "bypass"}), true).is_err());
    }

    #[tokio::test]
    async fn they_cannot_be_called_directly() {
        let bench = Bench::new();
        for name in ["request_user_input", "exit_plan_mode"] {
            let output = bench.run(name, json!({})).await;
            assert!(output.is_error);
            assert_eq!(output.text, format!("tool cannot be called directly: {name}"));
            assert!(super::super::find(name).unwrap().needs_turn);
        }
    }
}
