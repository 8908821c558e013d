//! Tests of the machine: flows by example, and promises over random inputs.

use std::collections::HashSet;

use proptest::prelude::*;
use rookery_model::{Item, ItemBody, ItemStatus, Pruning, Timestamp, TurnErrorKind, TurnId, Usage};

use super::*;
use crate::provider::{EntryBody, Failure, FailureKind, ModelEvent, Stop};
use crate::tools::COMPLETION;

fn setup() -> Setup {
    Setup {
        turn: TurnId::new(7),
        used_names: Vec::new(),
        profile: Profile::Interactive,
        limits: Limits::default(),
        needs_ledger: false,
        compact_at: None,
        parallel_tools: true,
        is_assigned: false,
    }
}

fn hello() -> Input {
    Input::Begin(vec![Message { text: "hello".into(), ..Message::default() }])
}

fn text(text: &str) -> Input {
    Input::Model(ModelEvent::Text { text: text.into(), phase: None })
}

fn call(id: &str) -> Input {
    call_of(id, "echo")
}

fn call_of(id: &str, name: &str) -> Input {
    let (id, name, arguments) = (id.to_owned(), name.to_owned(), "{}".to_owned());
    Input::Model(ModelEvent::ToolCall { id, name, arguments, opaque: None })
}

fn done(stop: Stop) -> Input {
    Input::Model(ModelEvent::Done { stop })
}

fn failed(kind: FailureKind) -> Input {
    Input::Model(ModelEvent::Failed(Failure { message: "broken".into(), kind }))
}

fn tool_done(item: &str, is_error: bool) -> Input {
    let output = ToolOutput { text: "out".into(), is_error, ..ToolOutput::default() };
    let done = Box::new(ToolDone { output, ..ToolDone::default() });
    Input::ToolDone { item: ItemId::new(item), done }
}

fn run(turn: &mut Turn, inputs: impl IntoIterator<Item = Input>) -> Vec<Effect> {
    inputs.into_iter().flat_map(|input| turn.step(input, View::default())).collect()
}

/// Effects in short, for reading.
fn sketch(effects: &[Effect]) -> Vec<String> {
    let prefix = format!("{}-", TurnId::new(7));
    let short = |id: &ItemId| id.as_str().replace(&prefix, "");
    effects
        .iter()
        .filter(|effect| !matches!(effect, Effect::CallEnded { .. }))
        .map(|effect| match effect {
            Effect::Started(item) => format!("start {}", short(&item.id)),
            Effect::Delta { item, delta } => match delta {
                Delta::Text { text, .. } | Delta::Thought { text } => {
                    format!("{} +{text}", short(item))
                }
                Delta::Summary { text, index } => format!("{} +{index}:{text}", short(item)),
                Delta::SummaryPart { index } => format!("{} part {index}", short(item)),
            },
            Effect::Completed(item) => format!("end {} {:?}", short(&item.id), item.status),
            Effect::CallModel(_) => "call".into(),
            Effect::RunTool { item, .. } => format!("run {}", short(item)),
            Effect::Finish(end) => format!("finish {:?}", end.status),
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_plain_turn_says_and_ends() {
    let mut turn = Turn::new(setup());
    let usage = Usage { prompt: 3, completion: 2, ..Usage::default() };
    let inputs = [
        hello(),
        Input::Model(ModelEvent::Reasoning { text: "hm".into(), summary: None }),
        text("hel"),
        text("lo"),
        Input::Model(ModelEvent::Usage(usage)),
        done(Stop::Stop),
    ];
    let effects = run(&mut turn, inputs);
    assert_eq!(
        sketch(&effects),
        [
            "end user Completed",
            "call",
            "start agent-reasoning",
            "agent-reasoning +hm",
            "end agent-reasoning Completed",
            "start agent-final_answer",
            "agent-final_answer +hel",
            "agent-final_answer +lo",
            "end agent-final_answer Completed",
            "finish Completed"
        ]
    );
    let Some(Effect::Finish(end)) = effects.last() else { panic!("no end") };
    assert_eq!((end.usage, end.finish_reason.as_deref()), (usage, Some("stop")));
    assert!(turn.step(text("late"), View::default()).is_empty());
}

#[test]
fn every_call_ends_with_its_own_cost() {
    let cost = |prompt| Usage { prompt, ..Usage::default() };
    let used = |prompt| Input::Model(ModelEvent::Usage(cost(prompt)));
    let calls = |effects: Vec<Effect>| {
        let ended = effects.into_iter().filter_map(|effect| match effect {
            Effect::CallEnded { usage, error, .. } => Some((usage.prompt, error)),
            _ => None,
        });
        ended.collect::<Vec<_>>()
    };
    let mut turn = Turn::new(setup());
    let inputs = [hello(), call("a"), used(3), used(5), done(Stop::ToolUse), tool_done("a", false)];
    assert_eq!(calls(run(&mut turn, inputs)), [(5, None)]);
    let effects = run(&mut turn, [used(2), failed(FailureKind::Rejected)]);
    let Some(Effect::Finish(end)) = effects.last() else { panic!("no end") };
    assert_eq!(end.usage, cost(7));
    assert_eq!(calls(effects), [(2, Some("broken".to_owned()))]);
    let mut turn = Turn::new(setup());
    let inputs = [hello(), used(4), failed(FailureKind::ContextTooLong)];
    assert_eq!(calls(run(&mut turn, inputs)), [(4, Some("broken".to_owned()))]);
    let inputs = [Input::Compacted(Err("x".into())), Input::Interrupt];
    assert_eq!(calls(run(&mut turn, inputs)), []);
    let mut turn = Turn::new(setup());
    assert_eq!(calls(run(&mut turn, [hello(), used(1), Input::Interrupt])), [(1, None)]);
}

#[test]
fn a_thought_that_shows_nothing_is_kept_without_a_beginning() {
    let mut turn = Turn::new(setup());
    let opaque = serde_json::json!({"encrypted": "x"});
    let inputs = [
        hello(),
        Input::Model(ModelEvent::Reasoning { text: String::new(), summary: Some(0) }),
        Input::Model(ModelEvent::ReasoningDone { opaque: Some(opaque) }),
        Input::Model(ModelEvent::Reasoning { text: String::new(), summary: Some(0) }),
        Input::Model(ModelEvent::Reasoning { text: "hm".into(), summary: Some(0) }),
        Input::Model(ModelEvent::ReasoningDone { opaque: None }),
        text("hi"),
        done(Stop::Stop),
    ];
    let effects = run(&mut turn, inputs);
    let shown = effects.iter().filter_map(|effect| match effect {
        Effect::Completed(item) => Some(item.is_shown()),
        _ => None,
    });
    assert_eq!(shown.collect::<Vec<_>>(), [true, false, true, true]);
    assert_eq!(
        sketch(&effects)[2..8],
        [
            "end agent-unseen Completed",
            "start agent-reasoning",
            "agent-reasoning part 0",
            "agent-reasoning +0:hm",
            "end agent-reasoning Completed",
            "start agent-final_answer",
        ]
    );
}

#[test]
fn text_before_a_tool_call_is_kept_and_names_go_on() {
    let mut turn = Turn::new(setup());
    let inputs = [
        hello(),
        text("let me see"),
        call("c"),
        call("c"),
        done(Stop::ToolUse),
        tool_done("c-2", false),
        tool_done("c", true),
        text("there"),
        done(Stop::Stop),
    ];
    assert_eq!(
        sketch(&run(&mut turn, inputs)),
        [
            "end user Completed",
            "call",
            "start agent-final_answer",
            "agent-final_answer +let me see",
            "end agent-final_answer Completed",
            "start c",
            "start c-2",
            "run c",
            "run c-2",
            "end c-2 Completed",
            "end c Failed",
            "call",
            "start agent-final_answer-2",
            "agent-final_answer-2 +there",
            "end agent-final_answer-2 Completed",
            "finish Completed"
        ]
    );
}

#[test]
fn one_tool_after_the_other_where_the_provider_wants_that() {
    let mut turn = Turn::new(Setup { parallel_tools: false, ..setup() });
    let effects = run(&mut turn, [hello(), call("a"), call("b"), done(Stop::ToolUse)]);
    assert_eq!(sketch(&effects)[4..], ["run a"]);
    let effects = run(&mut turn, [tool_done("a", false)]);
    assert_eq!(sketch(&effects), ["end a Completed", "run b"]);
}

#[test]
fn steering_is_heard_at_the_next_call_and_at_the_end() {
    let steer = || Input::Steer(vec![Message { text: "left".into(), ..Message::default() }]);
    let mut turn = Turn::new(setup());
    let inputs = [
        hello(),
        call("a"),
        done(Stop::ToolUse),
        steer(),
        tool_done("a", false),
        text("ok"),
        steer(),
    ];
    run(&mut turn, inputs);
    let effects = run(&mut turn, [done(Stop::Stop)]);
    assert_eq!(
        sketch(&effects),
        ["end agent-final_answer Completed", "end user-3 Completed", "call"]
    );
    let ends = sketch(&run(&mut turn, [text("yes"), done(Stop::Stop)]));
    assert_eq!(ends.last().unwrap(), "finish Completed");
    let reopened =
        turn.reopen(vec![Message { text: "more".into(), ..Message::default() }], View::default());
    assert_eq!(sketch(&reopened), ["end user-4 Completed", "call"]);
}

#[test]
fn an_interrupted_text_is_kept_as_partial() {
    let mut turn = Turn::new(setup());
    run(&mut turn, [hello(), text("half")]);
    let effects = run(&mut turn, [Input::Interrupt]);
    assert_eq!(
        sketch(&effects),
        ["AbortModel", "end agent-final_answer Completed", "finish Interrupted"]
    );
    let Effect::Completed(Item { body: ItemBody::Agent { partial, text, .. }, .. }) = &effects[1]
    else {
        panic!("no text")
    };
    assert!(*partial && text == "half");
}

#[test]
fn tools_are_stopped_before_their_items_end() {
    let mut turn = Turn::new(setup());
    run(&mut turn, [hello(), call("a"), call("b"), done(Stop::ToolUse), tool_done("a", false)]);
    let effects = run(&mut turn, [Input::Interrupt]);
    assert_eq!(sketch(&effects), ["StopTools", "end b Failed", "finish Interrupted"]);
}

#[test]
fn a_failed_model_fails_the_turn_with_an_error_item() {
    let mut turn = Turn::new(setup());
    let effects = run(&mut turn, [hello(), text("so"), failed(FailureKind::Unavailable)]);
    assert_eq!(
        sketch(&effects)[4..],
        ["AbortModel", "end agent-final_answer Completed", "end error Failed", "finish Failed"]
    );
    let mut turn = Turn::new(setup());
    let effects = run(&mut turn, [hello(), Input::ModelGone]);
    let Some(Effect::Finish(end)) = effects.last() else { panic!("no end") };
    assert_eq!(end.error.as_ref().unwrap().kind, TurnErrorKind::Provider);
}

#[test]
fn a_context_that_is_too_long_is_compacted_once() {
    let mut turn = Turn::new(setup());
    let effects = run(&mut turn, [hello(), failed(FailureKind::ContextTooLong)]);
    assert_eq!(effects.last(), Some(&Effect::Compact { is_forced: true }));
    let compacted = Input::Compacted(Ok(Some(("short".into(), Pruning::Before(None)))));
    let effects = run(&mut turn, [compacted]);
    assert_eq!(sketch(&effects), ["start compaction", "end compaction Completed", "call"]);
    let effects = run(&mut turn, [failed(FailureKind::ContextTooLong)]);
    assert!(matches!(effects.last(), Some(Effect::Finish(_))));
}

#[test]
fn a_long_conversation_is_compacted_before_the_call() {
    let mut turn = Turn::new(Setup { compact_at: Some(1_000), ..setup() });
    let view = View { tokens: 9_000, ..View::default() };
    let effects = turn.step(hello(), view);
    assert_eq!(effects.last(), Some(&Effect::Compact { is_forced: false }));
    let effects = turn.step(Input::Compacted(Ok(None)), view);
    assert_eq!(sketch(&effects), ["call"]);
}

#[test]
fn failures_in_a_row_are_mentioned_or_end_the_turn() {
    let rounds = |profile| {
        let mut turn = Turn::new(Setup { profile, ..setup() });
        run(&mut turn, [hello()]);
        let mut effects = Vec::new();
        for round in 0..5 {
            let name = format!("c{round}");
            effects = run(&mut turn, [call(&name), done(Stop::ToolUse), tool_done(&name, true)]);
        }
        effects
    };
    let Some(Effect::CallModel(shape)) = rounds(Profile::Interactive).pop() else {
        panic!("no call")
    };
    assert!(shape.reminders[0].contains("5 tool calls failed"));
    let Some(Effect::Finish(end)) = rounds(Profile::NonInteractive).pop() else { panic!("no end") };
    assert_eq!(end.error.unwrap().kind, TurnErrorKind::ReliabilityLimit);
}

#[test]
fn an_evaluated_turn_keeps_its_ledger_and_answers_in_time() {
    let mut turn = Turn::new(Setup { profile: Profile::Eval, needs_ledger: true, ..setup() });
    let effects = run(&mut turn, [hello()]);
    let Some(Effect::CallModel(shape)) = effects.last() else { panic!("no call") };
    assert_eq!(shape.offer, Offer::Only("task_ledger.update"));
    let open = View { has_open_tasks: true, ..View::default() };
    for _ in 0..2 {
        let effects: Vec<_> =
            [text("done"), done(Stop::Stop)].into_iter().flat_map(|i| turn.step(i, open)).collect();
        assert!(
            matches!(effects.last(), Some(Effect::CallModel(shape)) if !shape.reminders.is_empty())
        );
    }
    let effects = turn.step(Input::Reserve, open);
    assert_eq!(effects, [Effect::PartialResult("done".into())]);
    let effects = run(&mut turn, [text("part"), Input::Deadline]);
    assert_eq!(effects[2], Effect::PartialResult("part".into()));
    assert_eq!(effects[3], Effect::DeadlineExceeded("part".into()));
    let Some(Effect::Finish(end)) = effects.last() else { panic!("no end") };
    assert_eq!(end.error.as_ref().unwrap().kind, TurnErrorKind::DeadlineTimeout);
}

#[test]
fn the_end_of_an_unattended_turn_is_questioned_as_often_as_was_set() {
    let limits = Limits { nudges: 2, ..Limits::default() };
    let calls = |profile: Profile, limits: Limits| {
        let mut turn = Turn::new(Setup { profile, limits, ..setup() });
        run(&mut turn, [hello()]);
        let said = || [text("done"), done(Stop::Stop)];
        (0..9)
            .take_while(|_| {
                matches!(run(&mut turn, said()).last(), Some(Effect::CallModel(shape))
            if shape.reminders.len() == 1)
            })
            .count()
    };
    assert_eq!(calls(Profile::NonInteractive, limits), 2);
    assert_eq!(calls(Profile::Eval, limits), 2);
    assert_eq!(calls(Profile::Interactive, limits), 0);
    assert_eq!(calls(Profile::Eval, Limits::default()), 0);
}

#[test]
fn a_turn_that_waited_goes_on_where_it_was() {
    let mut turn = Turn::new(setup());
    let effects = run(&mut turn, [hello(), text("so"), call("a"), call("b"), done(Stop::ToolUse)]);
    let mut items: Vec<Item> = Vec::new();
    for effect in &effects {
        match effect {
            Effect::Completed(item) => items.push(item.clone()),
            Effect::Started(item) if matches!(item.body, ItemBody::Tool(_)) => {
                items.push(item.clone())
            }
            _ => {}
        }
    }
    let used_names = items.iter().map(|item| item.id.as_str().to_owned()).collect();
    let mut turn = Turn::resume(Setup { used_names, ..setup() }, &items, Usage::default());
    assert_eq!(sketch(&run(&mut turn, [Input::Resume])), ["run a", "run b"]);
    let effects = run(
        &mut turn,
        [tool_done("a", false), tool_done("b", false), text("end"), done(Stop::Stop)],
    );
    assert!(sketch(&effects).contains(&"start agent-final_answer-2".to_owned()));
    assert_eq!(sketch(&effects).last().unwrap(), "finish Completed");
}

#[test]
fn a_turn_ends_after_as_many_mistakes_in_a_row_as_were_set() {
    let limits = Limits { mistakes: 2, ..Limits::default() };
    let begun = || {
        let mut turn = Turn::new(Setup { limits, ..setup() });
        run(&mut turn, [hello()]);
        turn
    };
    let ended = |turn: &mut Turn, id: &str, output: ToolOutput, approval: Option<bool>| {
        let done_tool = ToolDone { output, approval, duration_ms: None };
        let item = ItemId::new(id);
        let ended = Input::ToolDone { item, done: Box::new(done_tool) };
        let effects = run(turn, [call(id), done(Stop::ToolUse), ended]);
        match effects.last() {
            Some(Effect::Finish(end)) => {
                assert_eq!(end.error.as_ref().unwrap().kind, TurnErrorKind::ReliabilityLimit);
                true
            }
            _ => false,
        }
    };
    let wrong = || ToolOutput::error("wrong");
    let failing = || ToolOutput { exit_code: Some(1), ..wrong() };
    let mut turn = begun();
    assert!(!ended(&mut turn, "a", wrong(), None));
    assert!(!ended(&mut turn, "b", ToolOutput::default(), None));
    assert!(!ended(&mut turn, "c", wrong(), Some(true)));
    assert!(!ended(&mut turn, "d", failing(), None), "the command ran");
    assert!(!ended(&mut turn, "e", wrong(), None));
    assert!(!ended(&mut turn, "f", wrong(), Some(false)), "a person said no");
    assert!(ended(&mut turn, "g", wrong(), None));
    // Other turns go on, and hear of it.
    let mut turn = Turn::new(setup());
    run(&mut turn, [hello()]);
    assert!((0..9).all(|number| !ended(&mut turn, &format!("t{number}"), wrong(), None)));
}

#[test]
fn mistakes_before_a_restart_count() {
    let limits = Limits { mistakes: 2, ..Limits::default() };
    let set = || Setup { limits, parallel_tools: true, ..setup() };
    let mut turn = Turn::new(set());
    let steps = [hello(), call("a"), call("b"), done(Stop::ToolUse), tool_done("a", true)];
    let mut items: Vec<Item> = Vec::new();
    for effect in run(&mut turn, steps) {
        if let Effect::Started(item) | Effect::Completed(item) = effect {
            items.retain(|known| known.id != item.id);
            items.push(item);
        }
    }
    let mut turn = Turn::resume(set(), &items, Usage::default());
    let effects = run(&mut turn, [Input::Resume, tool_done("b", true)]);
    assert_eq!(sketch(&effects).last().unwrap(), "finish Failed");
}

#[test]
fn an_agent_that_says_it_is_done_is_not_asked_again() {
    let assigned = || Turn::new(Setup { is_assigned: true, ..setup() });
    let steps = || [hello(), call("a"), call_of("c", "attempt_completion"), done(Stop::ToolUse)];
    let mut turn = assigned();
    run(&mut turn, steps());
    assert_eq!(sketch(&run(&mut turn, [tool_done("c", false)])), ["end c Completed"]);
    let ends = sketch(&run(&mut turn, [tool_done("a", true)]));
    assert_eq!(ends, ["end a Failed", "finish Completed"]);
    // What is said too late has it go on, and then it may say so again.
    let message = Message { text: "more".into(), ..Message::default() };
    let reopened = turn.reopen(vec![message.clone()], View::default());
    assert_eq!(sketch(&reopened), ["end user-2 Completed", "call"]);
    let again = [call("b"), done(Stop::ToolUse), tool_done("b", false)];
    assert_eq!(sketch(&run(&mut turn, again)).last().unwrap(), "call");
    // What was said before has it go on at once.
    let mut turn = assigned();
    run(&mut turn, steps());
    let heard = [Input::Steer(vec![message]), tool_done("c", false), tool_done("a", false)];
    assert_eq!(sketch(&run(&mut turn, heard))[2..], ["end user-2 Completed", "call"]);
    // A call that failed does not count, and neither does one of a thread without an assignment.
    let mut turn = assigned();
    run(&mut turn, steps());
    let failed = [tool_done("c", true), tool_done("a", false)];
    assert_eq!(sketch(&run(&mut turn, failed)).last().unwrap(), "call");
    let mut turn = Turn::new(setup());
    run(&mut turn, steps());
    let other = [tool_done("c", false), tool_done("a", false)];
    assert_eq!(sketch(&run(&mut turn, other)).last().unwrap(), "call");
}

#[test]
fn an_agent_that_said_it_is_done_before_a_restart_is_not_asked_again() {
    let set = || Setup { is_assigned: true, ..setup() };
    let mut turn = Turn::new(set());
    let steps = [
        hello(),
        call("a"),
        call_of("c", "attempt_completion"),
        done(Stop::ToolUse),
        tool_done("c", false),
    ];
    let mut items: Vec<Item> = Vec::new();
    for effect in run(&mut turn, steps) {
        if let Effect::Started(item) | Effect::Completed(item) = effect {
            items.retain(|known| known.id != item.id);
            items.push(item);
        }
    }
    let mut turn = Turn::resume(set(), &items, Usage::default());
    let effects = run(&mut turn, [Input::Resume, tool_done("a", false)]);
    assert_eq!(sketch(&effects), ["run a", "end a Completed", "finish Completed"]);
}

fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let one = prop_oneof![
        4 => "[a-c]{0,2}".prop_map(|t| text(&t)),
        2 => ("[a-c]", proptest::option::of(0u32..3)).prop_map(|(text, summary)| {
            Input::Model(ModelEvent::Reasoning { text, summary })
        }),
        1 => Just(Input::Model(ModelEvent::ReasoningDone { opaque: Some(serde_json::json!(1)) })),
        1 => Just(Input::Model(ModelEvent::TextDone { opaque: None })),
        3 => "[ab]".prop_map(|id| call(&id)),
        1 => "[ab]".prop_map(|id| call_of(&id, "attempt_completion")),
        3 => prop_oneof![Just(Stop::Stop), Just(Stop::ToolUse), Just(Stop::Pause)].prop_map(done),
        1 => prop_oneof![Just(FailureKind::ContextTooLong), Just(FailureKind::Rejected)].prop_map(failed),
        4 => ("[ab](-[2-5])?", any::<bool>()).prop_map(|(id, error)| tool_done(&id, error)),
        1 => Just(Input::Steer(vec![Message { text: "s".into(), ..Message::default() }])),
        1 => ("[hi]", any::<bool>()).prop_map(|(id, is_done)| {
            Input::Model(ModelEvent::HostedTool(HostedTool { id, is_done, ..HostedTool::default() }))
        }),
        1 => Just(Input::Compacted(Ok(None))),
        1 => Just(Input::Reserve),
    ];
    (
        proptest::collection::vec(one, 0..40),
        prop_oneof![Just(Input::Interrupt), Just(Input::Deadline)],
    )
        .prop_map(|(mut inputs, last)| {
            inputs.insert(0, hello());
            inputs.push(last);
            inputs
        })
}

proptest! {
    #[test]
    fn promises_hold_for_any_input(inputs in inputs(), parallel_tools: bool, is_assigned: bool) {
        let is_steered = inputs.iter().any(|input| matches!(input, Input::Steer(_)));
        let mut turn = Turn::new(Setup { parallel_tools, is_assigned, ..setup() });
        let effects = run(&mut turn, inputs);
        let (mut open, mut ended) = (HashSet::new(), HashSet::new());
        let mut texts = std::collections::HashMap::<ItemId, String>::new();
        let (mut is_calling, mut is_completed) = (false, false);
        for (at, effect) in effects.iter().enumerate() {
            match effect {
                Effect::Started(item) => {
                    prop_assert!(!ended.contains(&item.id));
                    prop_assert!(open.insert(item.id.clone()));
                }
                Effect::Delta { item, delta } => {
                    prop_assert!(open.contains(item));
                    if let Delta::Text { text, .. } = delta {
                        texts.entry(item.clone()).or_default().push_str(text);
                    }
                }
                Effect::Completed(item) => {
                    open.remove(&item.id);
                    prop_assert!(ended.insert(item.id.clone()));
                    prop_assert_ne!(item.status, ItemStatus::InProgress);
                    is_completed |= is_assigned
                        && item.status == ItemStatus::Completed
                        && matches!(&item.body, ItemBody::Tool(tool) if tool.name == COMPLETION);
                    if let ItemBody::Agent { text, .. } = &item.body {
                        prop_assert_eq!(Some(text), texts.get(&item.id));
                    }
                }
                Effect::CallModel(_) => {
                    prop_assert!(!std::mem::replace(&mut is_calling, true));
                    prop_assert!(!is_completed || is_steered);
                }
                Effect::CallEnded { .. } => {
                    prop_assert!(std::mem::replace(&mut is_calling, false));
                }
                Effect::Finish(_) => prop_assert_eq!(at, effects.len() - 1),
                _ => {}
            }
        }
        prop_assert!(open.is_empty() && !is_calling);
        prop_assert!(matches!(effects.last(), Some(Effect::Finish(_))));
        prop_assert!(turn.is_done());
    }

    #[test]
    fn a_view_is_looked_at_only_where_it_is_said_to_be(inputs in inputs(), tokens: u32) {
        let make = || Turn::new(Setup { compact_at: Some(1_000), needs_ledger: true, ..setup() });
        let (mut one, mut other) = (make(), make());
        let view = View { tokens: u64::from(tokens), has_open_tasks: true };
        for input in inputs {
            let seen = if input.needs_view() { view } else { View::default() };
            prop_assert_eq!(one.step(input.clone(), view), other.step(input, seen));
        }
    }
}

#[test]
fn a_conversation_is_sent_from_the_last_compaction_on() {
    let item = |id: &str, step, body| Item {
        id: ItemId::new(id),
        status: ItemStatus::Completed,
        step,
        at: Timestamp::default(),
        body,
        opaque: Some(seal_opaque("p", &serde_json::json!(id))),
    };
    let user = |id: &str| {
        item(id, 0, ItemBody::User { text: id.into(), images: vec![], context: vec!["c".into()] })
    };
    let compaction = |id: &str, first: Option<&str>| {
        let pruning = Pruning::Before(first.map(ItemId::new));
        item(id, 0, ItemBody::Compaction { summary: "before".into(), pruning })
    };
    let turn = TurnId::new(1);
    let items = [user("a"), user("b"), compaction("k", Some("b")), user("d")];
    let told = entries(items.iter().map(|item| (turn, item)), "p");
    let texts: Vec<_> = told
        .iter()
        .map(|entry| match &entry.body {
            EntryBody::User { text, .. } => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["What was said and done before, in short:\nbefore", "b\n\nc", "d\n\nc"]);
    assert_eq!(told[1].opaque, Some(serde_json::json!("b")));
    assert_eq!(entries(items.iter().map(|item| (turn, item)), "q")[1].opaque, None);
    let items = [user("a"), compaction("k", None)];
    assert_eq!(entries(items.iter().map(|item| (turn, item)), "p").len(), 1);
}
