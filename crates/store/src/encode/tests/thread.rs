//! The stored form of threads, turns, items and requests.

use rookery_model::{
    Answer, Asked, Asker, Choice, Decider, Decision, DecisionSource, DecisionVerdict, ExternalCall,
    ExternalTool, Goal, GoalStatus, Item, ItemBody, ItemId, ItemStatus, Mode, ModelCall,
    PartAnswer, Plan, PlanStep, PlanStepStatus, Profile, Pruning, Question, QuestionOption,
    Request, RequestId, RequestState, RunnerBinding, SessionId, Settled, TerminalId, Thread,
    ThreadId, ToolItem, ToolKind, Turn, TurnError, TurnErrorKind, TurnId, TurnSettings, TurnStatus,
    Usage,
};

use super::assignment::assignment;
use super::child::child_of;
use super::*;

pub(super) fn thread_id() -> impl Strategy<Value = ThreadId> {
    any::<u128>().prop_map(ThreadId::new)
}

pub(super) fn turn_id() -> impl Strategy<Value = TurnId> {
    any::<u128>().prop_map(TurnId::new)
}

pub(super) fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..3)
}

/// Maybe a text.
pub(super) fn maybe() -> impl Strategy<Value = Option<String>> {
    option::of(text())
}

pub(super) fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Default, Mode::AcceptAll, Mode::Plan, Mode::Bypass])
}

pub(super) fn turn_status() -> impl Strategy<Value = TurnStatus> {
    use TurnStatus::*;
    prop::sample::select(vec![InProgress, Completed, Failed, Interrupted])
}

fn choice() -> impl Strategy<Value = Choice> {
    (text(), text(), maybe()).prop_map(|(provider, model, reasoning)| Choice {
        provider,
        model,
        reasoning,
    })
}

pub(super) fn usage() -> impl Strategy<Value = Usage> {
    let some = any::<[u64; 4]>().prop_map(|[prompt, completion, cached, cache_creation]| Usage {
        prompt,
        completion,
        cached,
        cache_creation,
    });
    prop_oneof![Just(Usage::default()), some]
}

fn goal() -> impl Strategy<Value = Goal> {
    use GoalStatus::*;
    let status =
        prop::sample::select(vec![Active, Paused, Blocked, UsageLimited, BudgetLimited, Complete]);
    (text(), status, option::of(any::<u64>()), any::<(u64, u64)>(), time(), time()).prop_map(
        |(objective, status, token_budget, used, created_at, updated_at)| Goal {
            objective,
            status,
            token_budget,
            tokens_used: used.0,
            seconds_used: used.1,
            created_at,
            updated_at,
        },
    )
}

fn tasks() -> impl Strategy<Value = Vec<PlanStep>> {
    use PlanStepStatus::*;
    let status = prop::sample::select(vec![Pending, InProgress, Completed, Blocked]);
    let task = (text(), text(), status, maybe())
        .prop_map(|(id, content, status, evidence)| PlanStep { id, content, status, evidence });
    vec(task, 0..3)
}

fn runner() -> impl Strategy<Value = RunnerBinding> {
    (text(), text(), path(), vec(path(), 0..2)).prop_map(
        |(destination, provider, workspace, read_roots)| RunnerBinding {
            destination,
            provider,
            workspace,
            read_roots,
        },
    )
}

fn thread() -> impl Strategy<Value = Thread> {
    let tool = (text(), text(), text()).prop_map(|(name, description, parameters)| ExternalTool {
        name,
        description,
        parameters,
    });
    let names = (thread_id(), option::of(thread_id()), maybe(), text());
    let place = (path(), path(), choice(), any::<(bool, bool)>());
    let rules = (option::of(mode()), option::of(texts()), maybe(), vec(tool, 0..2));
    let counts = (usage(), any::<u64>(), any::<u64>(), time(), time());
    let bonds = (option::of(assignment()), option::of(child_of()), option::of(runner()));
    let aims = (option::of(goal()), tasks(), tasks(), bonds);
    (names, place, rules, counts, aims).prop_map(|(names, place, rules, counts, aims)| Thread {
        id: names.0,
        created_at: counts.3,
        updated_at: counts.4,
        name: names.2,
        preview: names.3,
        choice: place.2,
        cwd: place.0,
        root: place.1,
        ephemeral: place.3.0,
        archived: place.3.1,
        mode: rules.0,
        tool_allowlist: rules.1,
        developer_instructions: rules.2,
        external_tools: rules.3,
        parent: names.1,
        usage: counts.0,
        message_count: counts.1,
        goal: aims.0,
        plan: aims.1,
        ledger: aims.2,
        seq_reserved: counts.2,
        place: Some(("ws_1".to_owned(), "root_1".to_owned())),
        retired: vec!["call-1".to_owned()],
        assignment: aims.3.0.map(Box::new),
        child: aims.3.1.map(Box::new),
        runner: aims.3.2.map(Box::new),
    })
}

fn turn() -> impl Strategy<Value = Turn> {
    use TurnErrorKind::*;
    let kind = prop::sample::select(vec![
        RuntimeRestart,
        ReliabilityLimit,
        DeadlineTimeout,
        Provider,
        Shutdown,
        Other,
    ]);
    let error = (text(), kind).prop_map(|(message, kind)| TurnError { message, kind });
    let profile =
        prop::sample::select(vec![Profile::Interactive, Profile::NonInteractive, Profile::Eval]);
    let flags = (any::<bool>(), any::<bool>());
    let settings = (choice(), maybe(), option::of(texts()), flags, option::of(time()), profile)
        .prop_map(|(choice, developer_context, allowed_tools, flags, deadline, profile)| {
            TurnSettings {
                choice,
                developer_context,
                allowed_tools,
                needs_ledger: flags.0,
                deadline,
                profile,
                is_given: flags.1,
            }
        });
    let names = (turn_id(), thread_id(), turn_status(), option::of(error));
    let call = (time(), usage(), maybe(), any::<bool>()).prop_map(|(at, usage, error, is_done)| {
        ModelCall { at, usage, error, is_done, was_cut: !is_done }
    });
    (names, (time(), option::of(time())), usage(), maybe(), settings, vec(call, 0..3)).prop_map(
        |((id, thread, status, error), times, usage, finish_reason, settings, calls)| Turn {
            id,
            thread,
            status,
            error,
            started_at: times.0,
            completed_at: times.1,
            usage,
            finish_reason,
            settings,
            calls,
        },
    )
}

fn tool_item() -> impl Strategy<Value = ToolItem> {
    let said = (text(), text(), text(), maybe(), maybe(), maybe());
    let ended = (option::of(any::<i32>()), option::of(any::<u64>()), option::of(terminal_id()));
    (said, ended, any::<Option<Option<bool>>>(), texts(), any::<bool>()).prop_map(
        |(said, ended, approval, images, hosted)| ToolItem {
            call_id: said.0,
            name: said.1,
            input: said.2,
            output: said.3,
            error: said.4,
            data: said.5,
            exit_code: ended.0,
            duration_ms: ended.1,
            terminal: ended.2,
            approval,
            images,
            hosted,
        },
    )
}

fn item() -> impl Strategy<Value = Item> {
    let pruning = prop_oneof![
        maybe().prop_map(|item| Pruning::Before(item.map(ItemId::new))),
        text().prop_map(|item| Pruning::OutputsBefore(ItemId::new(item))),
    ];
    let body = prop_oneof![
        (text(), texts(), texts()).prop_map(|(text, images, context)| ItemBody::User {
            text,
            images,
            context
        }),
        (text(), text(), any::<bool>()).prop_map(|(text, phase, partial)| ItemBody::Agent {
            text,
            phase,
            partial
        }),
        (texts(), texts()).prop_map(|(summary, content)| ItemBody::Reasoning { summary, content }),
        tool_item().prop_map(|tool| ItemBody::Tool(Box::new(tool))),
        (text(), pruning).prop_map(|(summary, pruning)| ItemBody::Compaction { summary, pruning }),
        text().prop_map(|message| ItemBody::Error { message }),
        text().prop_map(|payload| ItemBody::Raw { payload }),
    ];
    use ItemStatus::*;
    let status = prop::sample::select(vec![InProgress, Completed, Failed]);
    (text(), status, any::<u32>(), time(), body, maybe()).prop_map(
        |(id, status, step, at, body, opaque)| Item {
            id: ItemId::new(id),
            status,
            step,
            at,
            body,
            opaque,
        },
    )
}

fn asked() -> impl Strategy<Value = Asked> {
    use ToolKind::*;
    let kind = prop::sample::select(vec![Read, Internal, Write, Exec, Network, Agents, Unknown]);
    let env = vec((text(), maybe()), 0..3);
    let choices = vec((text(), text()), 0..3).prop_map(|options| {
        let option = |(label, description)| QuestionOption { label, description };
        options.into_iter().map(option).collect()
    });
    let question = (text(), text(), text(), choices)
        .prop_map(|(header, id, question, options)| Question { header, id, question, options });
    prop_oneof![
        (kind, text(), text(), texts(), path(), env, maybe()).prop_map(
            |(kind, reason, input, argv, cwd, env, preview)| Asked::Approval {
                kind,
                reason,
                input,
                argv,
                cwd,
                env,
                preview
            }
        ),
        vec(question, 0..3).prop_map(|questions| Asked::Input { questions }),
        (mode(), text(), texts()).prop_map(|(target, summary, next_steps)| {
            Asked::PlanExit(Plan { target, summary, next_steps })
        }),
        text().prop_map(|arguments| Asked::External(ExternalCall { arguments })),
        (text(), text(), text(), maybe()).prop_map(|(title, summary, action, scope)| {
            Asked::Permission { title, summary, action, scope }
        }),
        (text(), text(), text()).prop_map(|(dialog, title, text)| Asked::Dialog {
            dialog,
            title,
            text
        }),
    ]
}

pub(super) fn request() -> impl Strategy<Value = Request> {
    let answer = prop_oneof![
        any::<bool>().prop_map(|remember| Answer::Approved { remember }),
        maybe().prop_map(|message| Answer::Denied { message }),
        text().prop_map(Answer::Given),
        (text(), any::<bool>()).prop_map(|(text, is_error)| Answer::Output { text, is_error }),
        Just(Answer::Cancelled),
        Just(Answer::TimedOut),
    ];
    let settled = (answer, text(), time())
        .prop_map(|(answer, by, at)| RequestState::Settled(Settled { answer, by, at }));
    let state = prop_oneof![Just(RequestState::Pending), settled];
    let some = || 1..=u128::MAX;
    let asker = prop_oneof![
        (some(), some()).prop_map(|(thread, turn)| Asker::Turn {
            thread: ThreadId::new(thread),
            turn: TurnId::new(turn)
        }),
        some().prop_map(|thread| Asker::Caller(ThreadId::new(thread))),
        Just(Asker::Client),
        any::<u128>().prop_map(|session| Asker::Session(SessionId::new(session))),
    ];
    let names = (any::<u128>(), asker, text(), text());
    let part =
        (text(), text(), time()).prop_map(|(question, text, at)| PartAnswer { question, text, at });
    (names, asked(), time(), option::of(time()), vec(part, 0..3), state).prop_map(
        |(names, asked, asked_at, deadline, given, state)| Request {
            id: RequestId::new(names.0),
            asker: names.1,
            call_id: names.2,
            tool: names.3,
            asked,
            asked_at,
            deadline,
            is_deferred: deadline.is_some(),
            given,
            state,
        },
    )
}

fn decision() -> impl Strategy<Value = Decision> {
    let verdict = prop_oneof![
        Just(DecisionVerdict::Allowed),
        Just(DecisionVerdict::RequiresApproval),
        Just(DecisionVerdict::AutoApproved),
        Just(DecisionVerdict::Denied),
        Just(DecisionVerdict::Approved),
        Just(DecisionVerdict::Deferred),
        Just(DecisionVerdict::ChangesRequested),
    ];
    let source = prop_oneof![
        Just(DecisionSource::Model),
        Just(DecisionSource::Client),
        Just(DecisionSource::Agent)
    ];
    let place = (option::of(thread_id()), option::of(turn_id()), option::of(any::<u128>()));
    let why = (maybe(), maybe(), maybe());
    let decider = (option::of(any::<u32>()), maybe(), option::of(any::<u64>()), text()).prop_map(
        |(pid, program, terminal, endpoint)| Decider {
            pid,
            program,
            terminal: terminal.map(TerminalId::new),
            endpoint,
        },
    );
    let made = (source, option::of(decider));
    (time(), place, (text(), text(), text()), mode(), verdict, why, made).prop_map(
        |(at, place, texts, mode, verdict, why, (source, decider))| Decision {
            at,
            thread: place.0,
            turn: place.1,
            session: place.2.map(SessionId::new),
            request: place.2.map(RequestId::new),
            tool_id: texts.0,
            tool: texts.1,
            mode,
            verdict,
            by: why.0,
            reason: why.1,
            rule: why.2,
            source,
            subject: texts.2,
            decider,
        },
    )
}

/// Every beginning of a stored text is an error, never a panic and never another value.
fn torn<T>(whole: &str, cut: prop::sample::Index, decode: fn(&str) -> Result<T, DecodeError>) {
    if let Some(torn) = whole.get(..cut.index(whole.len())) {
        assert!(decode(torn).is_err(), "{torn}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_thread_comes_back(thread in thread(), cut: prop::sample::Index) {
        let text = thread_to_json(&thread);
        torn(&text, cut, thread_from_json);
        prop_assert_eq!(thread_from_json(&text).unwrap(), thread);
    }

    #[test]
    fn every_decision_comes_back(decision in decision(), cut: prop::sample::Index) {
        let text = decision_to_json(&decision);
        torn(&text, cut, decision_from_json);
        prop_assert_eq!(decision_from_json(&text).unwrap(), decision);
    }

    #[test]
    fn every_turn_comes_back(turn in turn(), cut: prop::sample::Index) {
        let text = turn_to_json(&turn);
        torn(&text, cut, turn_from_json);
        prop_assert_eq!(turn_from_json(&text).unwrap(), turn);
    }

    #[test]
    fn every_item_comes_back(item in item(), cut: prop::sample::Index) {
        let text = item_to_json(&item);
        torn(&text, cut, item_from_json);
        prop_assert_eq!(item_from_json(&text).unwrap(), item);
    }

    #[test]
    fn every_request_comes_back(request in request(), cut: prop::sample::Index) {
        let text = request_to_json(&request);
        torn(&text, cut, request_from_json);
        prop_assert_eq!(request_from_json(&text).unwrap(), request);
    }
}

const THREAD: &str = "0192d3c4-0000-7abc-8def-0123456789ab";
const TURN: &str = "0192d3c4-0001-7abc-8def-0123456789ab";

/// Stored by released versions: these lines must be readable for ever.
#[test]
fn the_format_of_threads_and_turns_is_stable() {
    let line = format!(r#"{{"id":"{THREAD}","created_at":1,"updated_at":2,"#)
        + concat!(
            r#""choice":{"provider":"mock","model":"m","reasoning":"high"},"cwd":"/a/b","root":"/a","#,
            r#""mode":"accept_all","goal":{"objective":"o","status":"budget_limited","created_at":3,"#,
            r#""updated_at":4},"plan":[{"content":"c","status":"in_progress"}],"later":true}"#,
        );
    let thread = thread_from_json(&line).unwrap();
    assert_eq!((thread.id.to_string(), thread.cwd.to_str()), (THREAD.to_owned(), Some("/a/b")));
    assert_eq!((thread.mode, thread.usage), (Some(Mode::AcceptAll), Usage::default()));
    assert_eq!(thread.goal.unwrap().status, GoalStatus::BudgetLimited);
    assert_eq!(thread.plan[0].status, PlanStepStatus::InProgress);
    let line = format!(
        r#"{{"id":"{TURN}","thread":"{THREAD}","status":"failed","started_at":5,"later":[],"#
    ) + r#""error":{"message":"gone","kind":"runtime_restart"},"usage":{"prompt":7}}"#;
    let turn = turn_from_json(&line).unwrap();
    assert_eq!((turn.id.to_string(), turn.status), (TURN.to_owned(), TurnStatus::Failed));
    assert_eq!(turn.error.unwrap().kind, TurnErrorKind::RuntimeRestart);
    assert_eq!((turn.usage.prompt, turn.settings), (7, TurnSettings::default()));
}

#[test]
fn the_format_of_items_is_stable() {
    let tool = ToolItem {
        call_id: "c".to_owned(),
        name: "shell".to_owned(),
        input: "{}".to_owned(),
        output: Some("out".to_owned()),
        exit_code: Some(0),
        terminal: Some(TerminalId::new(9)),
        approval: Some(None),
        ..ToolItem::default()
    };
    let bodies = [
        (
            r#"{"user":{"text":"hi"}}"#,
            ItemBody::User { text: "hi".to_owned(), images: vec![], context: vec![] },
        ),
        (
            r#"{"agent":{"text":"yo","phase":"final_answer","partial":true}}"#,
            ItemBody::Agent {
                text: "yo".to_owned(),
                phase: "final_answer".to_owned(),
                partial: true,
            },
        ),
        (
            r#"{"reasoning":{"summary":["a"]}}"#,
            ItemBody::Reasoning { summary: vec!["a".to_owned()], content: vec![] },
        ),
        (
            concat!(
                r#"{"tool":{"call_id":"c","name":"shell","input":"{}","output":"out","#,
                r#""exit_code":0,"terminal":9,"approval":"asked"}}"#
            ),
            ItemBody::Tool(Box::new(tool)),
        ),
        (
            r#"{"compaction":{"summary":"s","pruning":{"before":null}}}"#,
            ItemBody::Compaction { summary: "s".to_owned(), pruning: Pruning::Before(None) },
        ),
        (
            r#"{"compaction":{"summary":"","pruning":{"outputs_before":"i"}}}"#,
            ItemBody::Compaction {
                summary: String::new(),
                pruning: Pruning::OutputsBefore(ItemId::new("i")),
            },
        ),
        (r#"{"error":{"message":"m"}}"#, ItemBody::Error { message: "m".to_owned() }),
        (r#"{"raw":{"payload":"1"}}"#, ItemBody::Raw { payload: "1".to_owned() }),
    ];
    for (line, body) in bodies {
        let line = format!(r#"{{"id":"x","status":"completed","step":2,"body":{line}}}"#);
        let id = ItemId::new("x");
        let (status, at) = (ItemStatus::Completed, Timestamp::default());
        let item = Item { id, status, step: 2, at, body, opaque: None };
        assert_eq!(item_to_json(&item), line);
        let newer = line.replace(r#""step":2"#, r#""step":2,"later":{}"#);
        assert_eq!(item_from_json(&newer).unwrap(), item);
    }
}

#[test]
fn the_format_of_requests_is_stable() {
    let line = format!(
        r#"{{"id":"00000000000000000000000001","thread":"{THREAD}","turn":"{TURN}","call_id":"c","#
    ) + concat!(
        r#""tool":"shell","asked":{"approval":{"kind":"exec","reason":"r","input":"{}","#,
        r#""argv":["ls"],"cwd":"/","env":[["A",null],["B","b"]]}},"asked_at":1,"deadline":2,"#,
        r#""settled":{"answer":{"approved":{"remember":true}},"by":"rule","at":3}}"#,
    );
    let request = request_from_json(&line).unwrap();
    assert_eq!(request_to_json(&request), line);
    let Asked::Approval { kind, env, .. } = &request.asked else { panic!("{request:?}") };
    assert_eq!((*kind, env[0].1.as_deref()), (ToolKind::Exec, None));
    let event = Event::RequestSettled(Box::new(request));
    let told = format!(r#"{{"kind":"request_settled","request":{line}}}"#);
    assert_eq!(event_to_json(&event), told);
    assert_eq!(event_from_json(&told).unwrap(), event);
    for (word, answer) in [
        (r#"{"denied":{}}"#, Answer::Denied { message: None }),
        (r#"{"given":"{}"}"#, Answer::Given("{}".to_owned())),
        (r#""cancelled""#, Answer::Cancelled),
        (r#""timed_out""#, Answer::TimedOut),
    ] {
        let line = line.replace(r#"{"approved":{"remember":true}}"#, word);
        let state = request_from_json(&line).unwrap().state;
        let settled = Settled { answer, by: "rule".to_owned(), at: Timestamp::from_micros(3) };
        assert_eq!(state, RequestState::Settled(settled));
    }
}

#[test]
fn wrong_ids_and_unknown_words_are_errors() {
    let event = r#"{"kind":"thread_started","id":"7"}"#;
    assert!(matches!(event_from_json(event), Err(DecodeError::Id(_))));
    let turn =
        format!(r#"{{"id":"{TURN}","thread":"{THREAD}","status":"levitating","started_at":5}}"#);
    assert!(matches!(turn_from_json(&turn), Err(DecodeError::Json(_))));
    let item = r#"{"id":"x","status":"completed","body":{"song":{}}}"#;
    assert!(matches!(item_from_json(item), Err(DecodeError::Json(_))));
}
