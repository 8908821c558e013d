//! What goes wrong: commands that fail, calls that are cut off, asks that are answered out of order, and
//! tasks that are read again.

use super::*;

fn returned(bench: &Bench, change: impl FnOnce(&mut ToolItem)) -> Box<Item> {
    let mut item = bench.tool("shell", &json!({"command": "false"}), Some(Err("failed")));
    if let ItemBody::Tool(tool) = &mut item.body {
        change(tool);
    }
    item
}

fn without_counts(said: Vec<String>) -> Vec<String> {
    said.into_iter().filter(|it| it != "taskTokenUsageUpdated").collect()
}

#[test]
fn a_command_that_fails_shows_its_output_and_is_no_failure_of_the_tool() {
    let mut bench = Bench::begun();
    bench.calls("shell", &json!({"command": "false"}));
    bench.take(TurnChange::ToolRuns(TURN, ItemId::new("tool")));
    let lines = ItemChange::Output(ItemId::new("tool"), "one\n".into());
    bench.take(NoticeBody::Item(TURN, lines));
    bench.said();
    let item = returned(&bench, |tool| {
        tool.exit_code = Some(1);
        tool.error = Some("Exit code: 1\nWall time: 0.1 seconds\nOutput:\none\ntwo\n".into());
    });
    bench.take(NoticeBody::Item(TURN, ItemChange::Completed(item)));
    assert_eq!(without_counts(bench.said()), ["u say:command_output final"]);
    assert_eq!(texts(&bench, "say:command_output final"), ["one\ntwo\n"]);
    assert_eq!(bench.task.tools()[&ToolName::ExecuteCommand].failures, 0);
}

#[test]
fn a_command_that_never_ran_is_a_failure_and_leaves_nothing_open() {
    let mut bench = Bench::begun();
    bench.calls("shell", &json!({"command": "x"}));
    let lines = ItemChange::Output(ItemId::new("tool"), "one\n".into());
    bench.take(NoticeBody::Item(TURN, lines));
    let item = returned(&bench, |_| {});
    bench.take(NoticeBody::Item(TURN, ItemChange::Completed(item)));
    let said = without_counts(bench.said());
    assert_eq!(said.last().unwrap(), "c say:error");
    assert!(said.contains(&"u say:command_output final".to_owned()), "{said:?}");
    assert!(said.contains(&"taskToolFailed".to_owned()), "{said:?}");
}

#[test]
fn what_policy_refuses_is_answered_with_no() {
    let mut bench = Bench::begun();
    let input = json!({"command": "rm x"});
    bench.calls("shell", &input);
    bench.returns("shell", &input, Err("policy denied tool call: it is on the deny list"));
    assert_eq!(
        without_counts(bench.said()),
        [
            "c ask:command partial",
            "u ask:command final",
            "taskAskResponded",
            "taskToolFailed",
            "c say:error"
        ]
    );
    assert_eq!(texts(&bench, "say:error"), ["permission_denied: it is on the deny list"]);
}

#[test]
fn a_file_that_is_written_unasked_is_shown_with_what_changed() {
    let mut bench = Bench::begun();
    let input = json!({"path": "out.txt", "content": "b\n"});
    bench.calls("write_file", &input);
    bench.take(TurnChange::ToolRuns(TURN, ItemId::new("tool")));
    bench.said();
    let mut item = bench.tool("write_file", &input, Some(Ok("wrote out.txt")));
    if let ItemBody::Tool(tool) = &mut item.body {
        let lines = json!([{"kind": "removed", "text": "a"}, {"kind": "added", "text": "b"}]);
        let hunk = json!({"path": "out.txt", "fileOp": "modify", "oldStart": 1, "newStart": 1, "diff": lines});
        tool.data = Some(json!({"created": false, "hunks": [hunk]}).to_string());
    }
    bench.take(NoticeBody::Item(TURN, ItemChange::Completed(item)));
    assert_eq!(
        without_counts(bench.said()),
        ["u ask:tool final", "u ask:tool final answered", "taskAskResponded"]
    );
    let shown: Value = serde_json::from_str(&texts(&bench, "ask:tool final")[0]).unwrap();
    assert_eq!(shown["tool"], "editedExistingFile");
    assert_eq!(shown["diffStats"], json!({"added": 1, "removed": 1}));
}

#[test]
fn an_ask_that_was_not_shown_is_settled_without_a_word_about_the_other() {
    let mut bench = Bench::begun();
    bench.calls("shell", &json!({"command": "first"}));
    let first = bench.approval(None);
    bench.asks(&first);
    let second = Request { id: RequestId::new(6), call_id: "c2".into(), ..bench.approval(None) };
    bench.asks(&second);
    assert_eq!(bench.task.answerable(), Some(first.id));
    bench.pass(2000);
    bench.said();
    bench.answers(&second, Answer::Approved { remember: false });
    let said = bench.said();
    assert!(!said.contains(&"taskActive".to_owned()), "{said:?}");
    assert_eq!(bench.task.answerable(), Some(first.id));
    bench.answers(&first, Answer::Approved { remember: false });
    let said = bench.said();
    assert_eq!(said[said.len() - 2..], ["taskActive", "taskAskResponded"]);
}

#[test]
fn a_limit_names_its_number() {
    for (call, summary, expected) in [
        (
            "limit-calls",
            "25 calls of the model were made",
            json!({"count": 25, "type": "requests"}),
        ),
        (
            "limit-cost",
            "the calls of the model cost $1.50",
            json!({"count": "1.50", "type": "cost"}),
        ),
        ("limit-cost", "no price is known", json!({"count": "0.00", "type": "cost"})),
    ] {
        let mut bench = Bench::begun();
        let (title, action) = (String::new(), "ask the model again".to_owned());
        let asked = Asked::Permission { title, summary: summary.into(), action, scope: None };
        let request = Request { call_id: call.into(), ..bench.request(asked) };
        bench.asks(&request);
        bench.said();
        let text = &texts(&bench, "ask:auto_approval_max_req_reached")[0];
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), expected);
    }
}

#[test]
fn a_call_that_is_cut_off_by_a_cancel_says_so() {
    let mut bench = Bench::begun();
    let call = ModelCall { at: at(1000), is_done: true, was_cut: true, ..ModelCall::default() };
    bench.take(TurnChange::CallEnded(TURN, 0, call));
    bench.ends(TurnStatus::Interrupted, None);
    bench.said();
    let text = texts(&bench, "u say:api_req_started").pop().unwrap();
    let text: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(text["cancelReason"], "user_cancelled");
}

fn failed() -> Option<(TurnErrorKind, &'static str)> {
    Some((TurnErrorKind::Provider, "down"))
}

#[test]
fn a_provider_that_fails_in_the_middle_is_asked_again_at_once_but_not_for_ever() {
    let mut bench = Bench::begun();
    for round in 0..3 {
        bench.says(&["half"]);
        bench.ends(TurnStatus::Failed, failed());
        bench.pass(0);
        assert_eq!(bench.task.takes_retry(), round < 2, "round {round}");
        let said = bench.said();
        assert_eq!(said.contains(&"c ask:api_req_failed".to_owned()), round == 2, "{said:?}");
        let turn = turn(TurnId::new(20 + round), TurnStatus::InProgress, None, None);
        bench.task.turns.clear();
        bench.task.done.clear();
        bench.take(TurnChange::Started(Box::new(turn)));
        bench.take(TurnChange::CallStarted(TURN, 1 + round as u32, at(bench.now)));
        bench.said();
    }
}

#[test]
fn a_task_that_is_read_again_asks_its_provider_nothing() {
    let about = |about: &mut About| about.retry_delay = Some(1);
    let bench = Bench::about(about);
    let error = TurnError { message: "down".into(), kind: TurnErrorKind::Provider };
    let stored = turn(TURN, TurnStatus::Failed, Some(error), Some(1200));
    let view = rookery_core::TurnView { turn: stored, items: Vec::new() };
    let mut again = Task::new(bench.task.about.clone());
    again.replay(&[view], &[], 900_000);
    assert_eq!(again.due(), None);
    assert_eq!(again.boundary(), Some(Boundary::ProviderFailed));
}

#[test]
fn a_denial_is_read_again_as_a_denial() {
    let mut bench = Bench::begun();
    let input = json!({"path": "x", "content": "y"});
    bench.calls("write_file", &input);
    let request = bench.approval(None);
    bench.asks(&request);
    bench.answers(&request, Answer::Denied { message: Some("not that".into()) });
    let text = "policy rejected tool call: approval denied: not that";
    let mut item = bench.tool("write_file", &input, Some(Err(text)));
    if let ItemBody::Tool(tool) = &mut item.body {
        tool.approval = Some(Some(false));
    }
    bench.take(NoticeBody::Item(TURN, ItemChange::Completed(item.clone())));
    bench.said();
    let said = ItemBody::User { text: "do it".into(), images: Vec::new(), context: Vec::new() };
    let said = bench.item("user", ItemStatus::Completed, said);
    let mut stored = turn(TURN, TurnStatus::InProgress, None, None);
    stored.calls = vec![ModelCall { at: at(1000), ..ModelCall::default() }];
    let view = rookery_core::TurnView { turn: stored, items: vec![*said, *item] };
    let mut again = Task::new(bench.task.about.clone());
    again.replay(&[view], &[], bench.now);
    assert_eq!(again.messages(), bench.task.messages());
    assert!(again.messages().iter().all(|message| message.is_answered.is_none()));
}

#[test]
fn of_a_closed_task_nothing_is_reported_until_it_works_again() {
    let mut bench = Bench::begun();
    bench.task.close(bench.now);
    assert_eq!(bench.said(), ["taskUnfocused", "taskAborted"]);
    bench.says(&["late"]);
    bench.call_ends(1, 1);
    bench.ends(TurnStatus::Interrupted, None);
    bench.pass(5000);
    assert!(bench.said().is_empty());
    let next = turn(TurnId::new(9), TurnStatus::InProgress, None, None);
    bench.take(TurnChange::Started(Box::new(next)));
    assert_eq!(bench.said()[..2], ["taskCreated", "taskFocused"]);
}
