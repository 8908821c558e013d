//! The golden sequences: what clients were seen to get, and where it differs on purpose.

use rookery_agent::turn::Delta;
use rookery_core::{ItemChange, NoticeBody, RequestChange, ThreadChange, TurnChange};
use rookery_model::{
    Answer, Asked, Asker, Item, ItemBody, ItemId, ItemStatus, Mode, ModelCall, PartAnswer, Plan,
    Question, QuestionOption, Request, RequestId, RequestState, Settled, ThreadId, Timestamp,
    ToolItem, ToolKind, Turn, TurnError, TurnErrorKind, TurnId, TurnSettings, TurnStatus, Usage,
};
use serde_json::{Value, json};

use super::*;

mod bad_days;

const TURN: TurnId = TurnId::new(7);
const THREAD: ThreadId = ThreadId::new(1);

/// A task with a clock, and its events in short.
struct Bench {
    task: Task,
    now: u64,
    heard: Vec<Event>,
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_micros(millis as i64 * 1000)
}

fn turn(id: TurnId, status: TurnStatus, error: Option<TurnError>, ended: Option<u64>) -> Turn {
    Turn {
        id,
        thread: THREAD,
        status,
        error,
        started_at: at(1000),
        completed_at: ended.map(at),
        usage: Usage::default(),
        finish_reason: None,
        settings: TurnSettings::default(),
        calls: Vec::new(),
    }
}

impl Bench {
    fn new() -> Bench {
        Bench::about(|_| {})
    }

    fn about(change: impl FnOnce(&mut About)) -> Bench {
        let mut about = About::example();
        change(&mut about);
        let mut bench = Bench { task: Task::new(about), now: 1000, heard: Vec::new() };
        bench.task.announce();
        bench
    }

    /// A task whose first call has begun.
    fn begun() -> Bench {
        let mut bench = Bench::new();
        bench.begin(TURN, "do it");
        bench.said();
        bench
    }

    fn take(&mut self, body: impl Into<NoticeBody>) {
        self.task.take(&body.into(), self.now);
    }

    fn begin(&mut self, id: TurnId, text: &str) {
        self.take(TurnChange::Started(Box::new(turn(id, TurnStatus::InProgress, None, None))));
        if !text.is_empty() {
            let body =
                ItemBody::User { text: text.into(), images: Vec::new(), context: Vec::new() };
            let item = self.item(&format!("{id}-user"), ItemStatus::Completed, body);
            self.take(NoticeBody::Item(id, ItemChange::Completed(item)));
        }
        self.take(TurnChange::CallStarted(id, 0, at(self.now)));
    }

    fn item(&self, id: &str, status: ItemStatus, body: ItemBody) -> Box<Item> {
        let (id, opaque) = (ItemId::new(id), None);
        Box::new(Item { id, status, step: 0, body, opaque, at: at(self.now) })
    }

    fn agent(&self, status: ItemStatus, text: &str) -> Box<Item> {
        let body = ItemBody::Agent { text: text.into(), phase: String::new(), partial: false };
        self.item("agent", status, body)
    }

    fn says(&mut self, parts: &[&str]) {
        self.take(NoticeBody::Item(
            TURN,
            ItemChange::Started(self.agent(ItemStatus::InProgress, "")),
        ));
        for part in parts {
            let delta = Delta::Text { text: (*part).into(), phase: String::new() };
            self.take(NoticeBody::Item(TURN, ItemChange::Delta(ItemId::new("agent"), delta)));
            self.now += 100;
        }
        let whole = self.agent(ItemStatus::Completed, &parts.concat());
        self.take(NoticeBody::Item(TURN, ItemChange::Completed(whole)));
    }

    fn call_ends(&mut self, prompt: u64, completion: u64) {
        let usage = Usage { prompt, completion, ..Usage::default() };
        let call = ModelCall { at: at(1000), usage, error: None, is_done: true, was_cut: false };
        self.take(TurnChange::CallEnded(TURN, 0, call));
    }

    fn ends(&mut self, status: TurnStatus, error: Option<(TurnErrorKind, &str)>) {
        let error = error.map(|(kind, message)| TurnError { message: message.into(), kind });
        self.take(TurnChange::Ended(Box::new(turn(TURN, status, error, Some(self.now)))));
    }

    fn tool(&self, name: &str, input: &Value, done: Option<Result<&str, &str>>) -> Box<Item> {
        let mut tool = ToolItem {
            call_id: "c1".into(),
            name: name.into(),
            input: input.to_string(),
            ..ToolItem::default()
        };
        let status = match done {
            None => ItemStatus::InProgress,
            Some(Ok(output)) => {
                tool.output = Some(output.into());
                ItemStatus::Completed
            }
            Some(Err(error)) => {
                tool.error = Some(error.into());
                ItemStatus::Failed
            }
        };
        self.item("tool", status, ItemBody::Tool(Box::new(tool)))
    }

    fn calls(&mut self, name: &str, input: &Value) {
        let item = self.tool(name, input, None);
        self.take(NoticeBody::Item(TURN, ItemChange::Started(item)));
    }

    fn returns(&mut self, name: &str, input: &Value, done: Result<&str, &str>) {
        let item = self.tool(name, input, Some(done));
        self.take(NoticeBody::Item(TURN, ItemChange::Completed(item)));
    }

    fn request(&self, asked: Asked) -> Request {
        Request {
            id: RequestId::new(5),
            asker: Asker::Turn { thread: THREAD, turn: TURN },
            call_id: "c1".into(),
            tool: String::new(),
            asked,
            asked_at: at(self.now),
            deadline: None,
            is_deferred: false,
            given: Vec::new(),
            state: RequestState::Pending,
        }
    }

    fn approval(&self, preview: Option<&str>) -> Request {
        self.request(Asked::Approval {
            kind: ToolKind::Write,
            reason: String::new(),
            input: "{}".into(),
            argv: Vec::new(),
            cwd: "/w".into(),
            env: Vec::new(),
            preview: preview.map(str::to_owned),
        })
    }

    fn asks(&mut self, request: &Request) {
        self.take(RequestChange::Asked(Box::new(request.clone())));
    }

    fn answers(&mut self, request: &Request, answer: Answer) {
        let settled = Settled { answer, by: "roder".into(), at: at(self.now) };
        let state = RequestState::Settled(settled);
        let request = Request { state, ..request.clone() };
        self.take(RequestChange::Settled(Box::new(request), Mode::Default));
    }

    /// Lets time pass, as long as something is due by then.
    fn pass(&mut self, millis: u64) {
        let end = self.now + millis;
        while let Some(due) = self.task.due().filter(|due| *due <= end) {
            self.now = due.max(self.now);
            self.task.tick(self.now);
        }
        self.now = end;
    }

    /// The events since the last call, in short.
    fn said(&mut self) -> Vec<String> {
        let events = self.task.take_events();
        let short = events.iter().map(short).collect();
        self.heard.extend(events);
        short
    }
}

/// An event in short words: messages by action, kind and what tells their frames apart.
fn short(event: &Event) -> String {
    let Event::Message { action, message, .. } = event else {
        return event.name(wire::Shape::Published).to_owned();
    };
    let value = serde_json::to_value(message).unwrap();
    let kind = value["ask"].as_str().map(|ask| format!("ask:{ask}"));
    let kind = kind.unwrap_or_else(|| format!("say:{}", value["say"].as_str().unwrap()));
    let action = if *action == Action::Created { "c" } else { "u" };
    let partial = match message.partial {
        Some(true) => " partial",
        Some(false) => " final",
        None => "",
    };
    let answered = if message.is_answered == Some(true) { " answered" } else { "" };
    format!("{action} {kind}{partial}{answered}")
}

fn texts(bench: &Bench, kind: &str) -> Vec<String> {
    let messages = bench.heard.iter().filter_map(|event| match event {
        Event::Message { message, .. } if short(event).contains(kind) => message.text.clone(),
        _ => None,
    });
    messages.collect()
}

#[test]
fn a_new_task_begins_as_clients_expect_it() {
    let mut bench = Bench::new();
    bench.begin(TURN, "do it");
    assert_eq!(
        bench.said(),
        [
            "taskCreated",
            "taskFocused",
            "c say:text",
            "taskTokenUsageUpdated",
            "taskStarted",
            "c say:api_req_started"
        ]
    );
    assert_eq!(texts(&bench, "say:api_req_started"), [r#"{"apiProtocol":"openai"}"#]);
}

#[test]
fn one_answer_and_nothing_to_approve() {
    let mut bench = Bench::begun();
    bench.says(&["Hel", "lo"]);
    bench.call_ends(10, 2);
    bench.ends(TurnStatus::Completed, None);
    assert_eq!(
        bench.said(),
        [
            "c say:text partial",
            "u say:text partial",
            "u say:text final",
            "u say:api_req_started",
            "taskTokenUsageUpdated",
            "c say:completion_result partial",
            "u say:completion_result final",
            "taskCompleted",
            "c ask:completion_result",
        ]
    );
    assert_eq!(texts(&bench, "say:text")[1..], ["Hel", "Hello", "Hello"], "texts are whole");
    assert_eq!(texts(&bench, "say:completion_result"), ["Hello", "Hello"]);
    assert_eq!(texts(&bench, "ask:completion_result"), [""]);
    bench.pass(1999);
    assert!(bench.said().is_empty());
    bench.pass(1);
    assert_eq!(bench.said(), ["taskIdle"]);
}

#[test]
fn a_follow_up_completes_again() {
    let mut bench = Bench::begun();
    bench.says(&["one"]);
    bench.ends(TurnStatus::Completed, None);
    bench.pass(2000);
    bench.said();
    bench.begin(TurnId::new(8), "more");
    assert_eq!(
        bench.said(),
        ["taskActive", "taskAskResponded", "c say:user_feedback", "c say:api_req_started"]
    );
    let second = turn(TurnId::new(8), TurnStatus::Completed, None, Some(bench.now));
    bench.take(TurnChange::Ended(Box::new(second)));
    assert!(bench.said().contains(&"taskCompleted".to_owned()));
}

#[test]
fn a_command_is_denied_by_a_message() {
    let mut bench = Bench::begun();
    let input = json!({"command": "rm -r x"});
    bench.calls("shell", &input);
    let request = bench.approval(Some("rm -r x"));
    bench.asks(&request);
    assert_eq!(
        bench.said(),
        ["c ask:command partial", "taskTokenUsageUpdated", "u ask:command final"]
    );
    bench.pass(2000);
    assert_eq!(bench.said(), ["taskInteractive"]);
    bench.answers(&request, Answer::Denied { message: Some("not that".into()) });
    bench.returns("shell", &input, Err("policy rejected tool call: approval denied: not that"));
    assert_eq!(bench.said()[..3], ["taskActive", "taskAskResponded", "c say:user_feedback"]);
    assert_eq!(texts(&bench, "ask:command final"), ["rm -r x"]);
}

#[test]
fn a_command_that_need_not_be_asked_for_shows_its_output() {
    let mut bench = Bench::begun();
    let input = json!({"command": "echo hi"});
    bench.calls("shell", &input);
    bench.take(TurnChange::ToolRuns(TURN, ItemId::new("tool")));
    let lines = ItemChange::Output(ItemId::new("tool"), "hi\n".into());
    bench.take(NoticeBody::Item(TURN, lines));
    bench.returns("shell", &input, Ok("exit code 0\nWall time: 0.1 seconds\nOutput:\nhi\n"));
    let said: Vec<String> =
        bench.said().into_iter().filter(|it| it != "taskTokenUsageUpdated").collect();
    assert_eq!(
        said,
        [
            "c ask:command partial",
            "u ask:command final",
            "taskAskResponded",
            "c ask:command_output",
            "c say:command_output partial",
            "taskAskResponded",
            "u say:command_output final",
        ]
    );
    assert_eq!(texts(&bench, "say:command_output final"), ["hi\n"]);
}

#[test]
fn an_approved_tool_is_marked_by_whichever_dialect_approved_it() {
    let mut bench = Bench::begun();
    bench.calls("write_file", &json!({"path": "out.txt", "content": "hi\n"}));
    let diff = "--- /dev/null\n+++ b/out.txt\n@@ -0,0 +1 @@\n+hi\n";
    let request = bench.approval(Some(diff));
    bench.asks(&request);
    bench.answers(&request, Answer::Approved { remember: false });
    let said = bench.said();
    let tail = ["u ask:tool final", "u ask:tool final answered", "taskAskResponded"];
    assert_eq!(said[said.len() - 3..], tail);
    let shown: Value = serde_json::from_str(&texts(&bench, "ask:tool final")[0]).unwrap();
    assert_eq!(shown["diffStats"], json!({"added": 1, "removed": 0}));
    bench.answers(&request, Answer::Denied { message: None });
    assert!(bench.said().is_empty(), "the first answer counts");
}

#[test]
fn only_one_ask_can_be_answered_at_a_time() {
    let mut bench = Bench::begun();
    bench.calls("shell", &json!({"command": "one"}));
    let mut second = bench.tool("shell", &json!({"command": "two"}), None);
    second.id = ItemId::new("tool2");
    if let ItemBody::Tool(tool) = &mut second.body {
        tool.call_id = "c2".into();
    }
    bench.take(NoticeBody::Item(TURN, ItemChange::Started(second)));
    bench.said();
    let first = bench.approval(None);
    let second = Request { id: RequestId::new(6), call_id: "c2".into(), ..bench.approval(None) };
    bench.asks(&first);
    bench.asks(&second);
    assert_eq!(bench.said(), ["u ask:command final"]);
    bench.answers(&first, Answer::Approved { remember: false });
    assert_eq!(bench.said(), ["taskAskResponded", "u ask:command final"]);
    assert_eq!(texts(&bench, "ask:command final"), ["one", "two"]);
}

fn question(id: &str) -> Question {
    let option = |label: &str| QuestionOption { label: label.into(), description: String::new() };
    Question {
        header: "H".into(),
        id: id.into(),
        question: format!("{id}?"),
        options: vec![option("yes"), option("no")],
    }
}

#[test]
fn questions_are_asked_one_after_the_other() {
    let mut bench = Bench::begun();
    bench.calls("request_user_input", &json!({}));
    bench.said();
    let request = bench.request(Asked::Input { questions: vec![question("a"), question("b")] });
    bench.asks(&request);
    assert_eq!(bench.said(), ["c ask:followup partial", "u ask:followup final"]);
    let part = PartAnswer { question: "a".into(), text: "yes".into(), at: at(bench.now) };
    let request = Request { given: vec![part], ..request };
    bench.take(RequestChange::Part(Box::new(request.clone())));
    assert_eq!(
        bench.said(),
        [
            "u ask:followup final answered",
            "taskAskResponded",
            "c say:user_feedback",
            "c ask:followup partial",
            "u ask:followup final",
        ]
    );
    bench.pass(2000);
    assert_eq!(bench.said(), ["taskInteractive"]);
    bench.answers(&request, Answer::Given(r#"{"a":"yes","b":"no"}"#.into()));
    assert_eq!(
        bench.said(),
        ["u ask:followup final answered", "taskActive", "taskAskResponded", "c say:user_feedback"]
    );
    assert_eq!(texts(&bench, "say:user_feedback"), ["yes", "no"]);
    let text = &texts(&bench, "ask:followup final")[0];
    let suggest = json!([{"answer": "yes", "mode": null}, {"answer": "no", "mode": null}]);
    assert_eq!(
        serde_json::from_str::<Value>(text).unwrap(),
        json!({"question": "a?", "suggest": suggest})
    );
}

#[test]
fn a_plan_that_was_rewritten_is_asked_with_its_new_text() {
    let mut bench = Bench::begun();
    let plan = |summary: &str| {
        let (summary, next_steps) = (summary.to_owned(), Vec::new());
        Asked::PlanExit(Plan { target: Mode::Default, summary, next_steps })
    };
    bench.calls("exit_plan_mode", &json!({"summary": "old", "target_mode": "code"}));
    let request = bench.request(plan("old"));
    bench.asks(&request);
    bench.said();
    let request = Request { asked: plan("new"), ..request };
    bench.take(RequestChange::Reworded(Box::new(request.clone())));
    assert_eq!(bench.said(), ["u ask:tool final"]);
    let text = texts(&bench, "ask:tool final").pop().unwrap();
    assert!(text.contains("new") && !text.contains("old"), "{text}");
    // Who reads the task later finds it as it waits.
    let mut later = Bench::begun();
    later.calls("exit_plan_mode", &json!({"summary": "old", "target_mode": "code"}));
    later.asks(&request);
    later.said();
    let text = texts(&later, "ask:tool final").pop().unwrap();
    assert!(text.contains("new") && !text.contains("old"), "{text}");
}

#[test]
fn a_task_that_is_cancelled_can_be_resumed() {
    let mut bench = Bench::begun();
    bench.calls("shell", &json!({"command": "x"}));
    let request = bench.approval(None);
    bench.asks(&request);
    bench.said();
    bench.answers(&request, Answer::Cancelled);
    bench.ends(TurnStatus::Interrupted, None);
    assert_eq!(
        bench.said(),
        ["taskAborted", "taskCreated", "taskFocused", "taskTokenUsageUpdated", "c ask:resume_task"]
    );
    assert!(bench.task.messages().last().unwrap().text.is_none());
    bench.pass(2000);
    assert_eq!(bench.said(), ["taskResumable"]);
    bench.begin(TurnId::new(8), "go on");
    assert_eq!(
        bench.said(),
        [
            "taskActive",
            "taskAskResponded",
            "c say:user_feedback",
            "taskStarted",
            "c say:api_req_started"
        ]
    );
}

#[test]
fn a_provider_that_fails_asks_or_is_asked_again() {
    let mut bench = Bench::begun();
    bench.ends(TurnStatus::Failed, Some((TurnErrorKind::Provider, "boom")));
    assert_eq!(bench.said(), ["c ask:api_req_failed"]);
    assert_eq!(texts(&bench, "api_req_failed"), ["boom"]);
    bench.begin(TurnId::new(8), "");
    assert_eq!(
        bench.said(),
        ["taskAskResponded", "c say:api_req_retried", "c say:api_req_started"]
    );

    let mut bench = Bench::about(|about| about.retry_delay = Some(2));
    bench.begin(TURN, "do it");
    bench.said();
    bench.ends(TurnStatus::Failed, Some((TurnErrorKind::Provider, "boom")));
    assert_eq!(bench.said(), ["c say:api_req_retry_delayed partial"]);
    bench.pass(2000);
    let said = bench.said();
    assert_eq!(said, ["u say:api_req_retry_delayed partial", "u say:api_req_retry_delayed final"]);
    assert_eq!(
        texts(&bench, "api_req_retry_delayed"),
        [2, 1, 0].map(|left| format!("boom\n<retry_timer>{left}</retry_timer>"))
    );
    assert!(bench.task.takes_retry());
    assert!(!bench.task.takes_retry());
}

#[test]
fn a_tool_that_fails_is_counted_and_told() {
    let mut bench = Bench::begun();
    let input = json!({"path": "in.txt"});
    bench.calls("read_file", &input);
    bench.returns("read_file", &input, Err("no such file"));
    let said = bench.said();
    assert!(said.contains(&"taskToolFailed".to_owned()), "{said:?}");
    let count = bench.task.tools()[&wire::ToolName::ReadFile];
    assert_eq!((count.attempts, count.failures), (1, 1));
    assert_eq!(texts(&bench, "say:error"), ["no such file"]);
}

#[test]
fn what_policy_forbids_is_a_permission_denied() {
    let mut bench = Bench::begun();
    let input = json!({"path": "x", "content": ""});
    bench.calls("write_file", &input);
    bench.returns("write_file", &input, Err("policy denied tool call: plan mode"));
    bench.said();
    assert_eq!(texts(&bench, "say:error"), ["permission_denied: plan mode"]);
}

#[test]
fn a_subtask_hands_its_result_back_and_asks_nothing() {
    let mut bench = Bench::about(|about| about.lead = Some("P".into()));
    bench.begin(TURN, "part");
    bench.said();
    let input = json!({"result": "all done"});
    bench.calls("attempt_completion", &input);
    bench.returns("attempt_completion", &input, Ok("done"));
    bench.ends(TurnStatus::Completed, None);
    let said = bench.said();
    assert_eq!(said[said.len() - 2..], ["taskCompleted", "taskUnfocused"]);
    assert_eq!(texts(&bench, "completion_result final"), ["all done"]);
    let is_subtask = |event: &Event| matches!(event, Event::Completed { is_subtask: true, .. });
    assert!(bench.heard.iter().any(is_subtask));
    bench.pass(5000);
    assert!(bench.said().is_empty());
}

#[test]
fn counts_are_reported_at_once_and_then_seldom() {
    let mut bench = Bench::begun();
    bench.call_ends(10, 1);
    assert_eq!(bench.said(), ["u say:api_req_started", "taskTokenUsageUpdated"]);
    let usage = Usage { prompt: 5, completion: 1, cached: 2, ..Usage::default() };
    let call = ModelCall { at: at(1100), usage, error: None, is_done: true, was_cut: false };
    bench.take(TurnChange::CallEnded(TURN, 1, call));
    assert_eq!(bench.said(), ["c say:api_req_started", "u say:api_req_started"]);
    bench.pass(2000);
    assert_eq!(bench.said(), ["taskTokenUsageUpdated"]);
    let usage = bench.task.usage();
    assert_eq!(
        (usage.total_tokens_in, usage.total_cache_reads, usage.context_tokens),
        (15, Some(2), 6)
    );
}

#[test]
fn closing_is_reported_once_and_the_end_of_the_turn_is_no_news() {
    let mut bench = Bench::begun();
    bench.task.close(bench.now);
    bench.ends(TurnStatus::Interrupted, None);
    bench.take(ThreadChange::Archived);
    assert_eq!(bench.said(), ["taskUnfocused", "taskAborted"]);
}

#[test]
fn times_are_unique_and_grow() {
    let mut bench = Bench::begun();
    bench.says(&["a"]);
    bench.ends(TurnStatus::Completed, None);
    let times: Vec<u64> = bench.task.messages().iter().map(|message| message.ts).collect();
    assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
}

#[test]
fn many_small_pieces_are_told_together() {
    let mut bench = Bench::begun();
    let item = bench.agent(ItemStatus::InProgress, "");
    bench.take(NoticeBody::Item(TURN, ItemChange::Started(item)));
    for _ in 0..100 {
        let delta = Delta::Text { text: "x".into(), phase: String::new() };
        bench.take(NoticeBody::Item(TURN, ItemChange::Delta(ItemId::new("agent"), delta)));
        bench.pass(1);
    }
    let frames = bench.said().len();
    assert!((2..=4).contains(&frames), "{frames}");
    bench.pass(50);
    bench.said();
    assert_eq!(
        texts(&bench, "say:text partial").last().unwrap().len(),
        100,
        "nothing is held back"
    );
}

#[test]
fn a_stored_thread_has_the_messages_that_were_reported() {
    let mut bench = Bench::begun();
    bench.says(&["Hello"]);
    bench.call_ends(10, 2);
    bench.ends(TurnStatus::Completed, None);
    bench.said();
    let user = ItemBody::User { text: "do it".into(), images: Vec::new(), context: Vec::new() };
    let mut stored = turn(TURN, TurnStatus::Completed, None, Some(bench.now));
    let usage = Usage { prompt: 10, completion: 2, ..Usage::default() };
    stored.calls =
        vec![ModelCall { at: at(1000), usage, error: None, is_done: true, was_cut: false }];
    let mut agent = bench.agent(ItemStatus::Completed, "Hello");
    agent.at = at(1000);
    let mut said = bench.item("user", ItemStatus::Completed, user);
    said.at = at(1000);
    let view = rookery_core::TurnView { turn: stored, items: vec![*said, *agent] };
    let mut again = Task::new(bench.task.about.clone());
    again.replay(&[view], &[], bench.now);
    assert!(again.take_events().is_empty());
    assert_eq!(again.messages(), bench.task.messages());
    assert_eq!(again.usage(), bench.task.usage());
}

#[test]
fn resuming_asks_whether_to_go_on_or_repeats_what_waits() {
    let mut bench = Bench::begun();
    bench.ends(TurnStatus::Completed, None);
    bench.said();
    bench.task.resume(false, &[], bench.now);
    assert_eq!(
        bench.said(),
        ["taskCreated", "taskFocused", "taskTokenUsageUpdated", "c ask:resume_completed_task"]
    );
    bench.pass(2000);
    assert_eq!(bench.said(), ["taskIdle"]);

    let mut bench = Bench::begun();
    bench.calls("shell", &json!({"command": "x"}));
    bench.asks(&bench.approval(None));
    bench.said();
    bench.task.resume(true, &[], bench.now);
    assert_eq!(
        bench.said(),
        ["taskCreated", "taskFocused", "taskTokenUsageUpdated", "c ask:command final"]
    );
}
