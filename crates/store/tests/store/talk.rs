//! Sample threads, turns, items and requests.

use rookery_model::{
    Answer, Asked, Asker, Choice, ExternalTool, Item, ItemBody, ItemId, ItemStatus, Mode, Request,
    RequestId, RequestState, Settled, Thread, ThreadId, Timestamp, ToolItem, ToolKind, Turn,
    TurnError, TurnErrorKind, TurnId, TurnSettings, TurnStatus, Usage,
};
use rookery_store::{Change, StoredItem};

/// Bytes in both halves, and larger than what an integer of SQLite's holds.
fn raw(kind: u128, number: u64) -> u128 {
    (0xf000 + kind) << 112 | u128::from(number)
}

pub(crate) fn thread_id(number: u64) -> ThreadId {
    ThreadId::new(raw(1, number))
}

pub(crate) fn turn_id(number: u64) -> TurnId {
    TurnId::new(raw(2, number))
}

pub(crate) fn request_id(number: u64) -> RequestId {
    RequestId::new(raw(3, number))
}

pub(crate) fn thread(number: u64) -> Thread {
    Thread {
        id: thread_id(number),
        created_at: Timestamp::from_micros(1),
        updated_at: Timestamp::from_micros(2),
        name: Some(format!("thread {number}")),
        preview: "what the user \0 said \u{1f426}".to_owned(),
        choice: Choice {
            provider: "mock".to_owned(),
            model: "mock".to_owned(),
            reasoning: Some("high".to_owned()),
        },
        cwd: "/work/inner".into(),
        root: "/work".into(),
        ephemeral: false,
        archived: number.is_multiple_of(2),
        mode: Some(Mode::Plan),
        tool_allowlist: Some(vec!["shell".to_owned()]),
        developer_instructions: None,
        external_tools: vec![ExternalTool {
            name: "t".to_owned(),
            description: "d".to_owned(),
            parameters: "{}".to_owned(),
        }],
        parent: Some(thread_id(number + 1)),
        usage: Usage { prompt: u64::MAX, ..Usage::default() },
        message_count: 3,
        goal: None,
        plan: Vec::new(),
        ledger: Vec::new(),
        seq_reserved: u64::MAX,
        place: Some(("ws_1".to_owned(), "root_1".to_owned())),
        retired: vec!["call".to_owned()],
        assignment: None,
        runner: None,
        child: None,
    }
}

pub(crate) fn turn(number: u64, thread: u64, status: TurnStatus) -> Turn {
    Turn {
        id: turn_id(number),
        thread: thread_id(thread),
        status,
        error: (status == TurnStatus::Failed)
            .then(|| TurnError { message: "gone".to_owned(), kind: TurnErrorKind::RuntimeRestart }),
        started_at: Timestamp::from_micros(1_000 - number as i64),
        completed_at: None,
        usage: Usage::default(),
        finish_reason: Some("stop".to_owned()),
        settings: TurnSettings::default(),
        calls: Vec::new(),
    }
}

pub(crate) fn item(number: u64) -> Item {
    let body = ItemBody::Tool(Box::new(ToolItem {
        call_id: format!("call {number}"),
        name: "shell".to_owned(),
        input: "{".to_owned(),
        output: Some("output ".repeat(40)),
        approval: Some(Some(true)),
        ..ToolItem::default()
    }));
    let id = ItemId::new(format!("item {number}"));
    let (at, opaque) = (Timestamp::from_micros(7), Some("{}".to_owned()));
    Item { id, status: ItemStatus::Completed, step: 1, at, body, opaque }
}

pub(crate) fn stored(turn: u64, position: u64) -> StoredItem {
    StoredItem { turn: turn_id(turn), position, item: item(position) }
}

pub(crate) fn request(number: u64, thread: u64, turn: u64) -> Request {
    Request {
        id: request_id(number),
        asker: Asker::Turn { thread: thread_id(thread), turn: turn_id(turn) },
        call_id: "c".to_owned(),
        tool: "shell".to_owned(),
        asked: Asked::Approval {
            kind: ToolKind::Exec,
            reason: "it runs".to_owned(),
            input: "{}".to_owned(),
            argv: vec!["ls".to_owned()],
            cwd: "/".into(),
            env: vec![("A".to_owned(), None)],
            preview: None,
        },
        asked_at: Timestamp::from_micros(7),
        deadline: None,
        is_deferred: false,
        given: Vec::new(),
        state: RequestState::Pending,
    }
}

pub(crate) fn settled(number: u64, thread: u64, turn: u64) -> Request {
    let answer = Answer::Denied { message: Some("no".to_owned()) };
    let by = "person".to_owned();
    let state = RequestState::Settled(Settled { answer, by, at: Timestamp::from_micros(8) });
    Request { state, ..request(number, thread, turn) }
}

pub(crate) fn put_thread(number: u64) -> Change {
    Change::ThreadUpserted(Box::new(thread(number)))
}

pub(crate) fn put_turn(number: u64, thread: u64, status: TurnStatus) -> Change {
    Change::TurnUpserted(Box::new(turn(number, thread, status)))
}

pub(crate) fn put_item(thread: u64, turn: u64, position: u64) -> Change {
    let item = Box::new(item(position));
    Change::ItemUpserted { thread: thread_id(thread), turn: turn_id(turn), position, item }
}

pub(crate) fn put_request(request: Request) -> Change {
    Change::RequestUpserted(Box::new(request))
}

/// A thread with this number, with two turns numbered 10 and 11 times it, of which the first has
/// ended, two items each, a request that was settled and one that waits, numbered like the turns.
pub(crate) fn conversation(number: u64) -> Vec<Change> {
    let (first, second) = (10 * number, 11 * number);
    vec![
        put_thread(number),
        put_turn(first, number, TurnStatus::Completed),
        put_item(number, first, 0),
        put_item(number, first, 1),
        put_request(settled(first, number, first)),
        put_turn(second, number, TurnStatus::InProgress),
        put_item(number, second, 2),
        put_item(number, second, 3),
        put_request(request(second, number, second)),
    ]
}
