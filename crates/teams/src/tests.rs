//! Teams are kept as they are, and members say what their threads do.

use expect_test::expect;
use proptest::prelude::*;
use rookery_model::{Mode, PlanStep, PlanStepStatus, TeamId, ThreadId, Timestamp, TurnId};

use super::*;

const NOW: Timestamp = Timestamp::from_micros(1_000_000);

fn member(number: usize) -> Member {
    let is_lead = number == 0;
    Member {
        id: if is_lead { MemberId::lead() } else { MemberId::teammate(number) },
        role: if is_lead { Role::Lead } else { Role::Teammate },
        name: format!("name {number}"),
        task_name: None,
        agent_path: Some("/root".to_owned()),
        thread: ThreadId::new(number as u128 + 1),
        parent: (!is_lead).then(|| ThreadId::new(1)),
        turn: None,
        provider: Some("mock".to_owned()),
        model: None,
        mode: Mode::Default,
        status: MemberStatus::Idle,
        final_message: None,
        terminal_error: None,
        pane: None,
    }
}

fn team(teammates: usize) -> Team {
    Team {
        id: TeamId::new(7),
        lead: ThreadId::new(1),
        display: DisplayMode::Auto,
        members: (0..=teammates).map(member).collect(),
        mailbox: Vec::new(),
        tasks: Vec::new(),
        created_at: NOW,
        updated_at: NOW,
    }
}

fn message(id: &str, to: usize) -> Message {
    Message {
        id: id.to_owned(),
        from: Some(MemberId::lead()),
        to: MemberId::teammate(to),
        kind: MessageKind::NewTask,
        text: format!("do {id}"),
        delivered: false,
        at: NOW,
    }
}

const ONE: ThreadId = ThreadId::new(2);
const TURN: TurnId = TurnId::new(9);

fn completed(text: &str) -> TurnEnd {
    TurnEnd { status: MemberStatus::Completed, message: Some(text.to_owned()), error: None }
}

#[test]
fn a_member_runs_waits_and_ends_with_its_turn() {
    let mut team = team(1);
    let id = MemberId::teammate(1);
    let status = |status| vec![Change::Status(TeamId::new(7), id.clone(), status)];
    assert_eq!(team.begin_turn(ONE, TURN, NOW), status(MemberStatus::Running));
    assert_eq!(team.begin_turn(ONE, TURN, NOW), []);
    assert_eq!(team.set_blocked(ONE, true, NOW), status(MemberStatus::Blocked));
    assert_eq!(team.set_blocked(ONE, true, NOW), []);
    assert_eq!(team.set_blocked(ONE, false, NOW), status(MemberStatus::Running));
    let other = team.end_turn(ONE, TurnId::new(1), completed("no"), NOW);
    assert_eq!(other, [], "the end of another turn");
    let ended = team.end_turn(ONE, TURN, completed("yes"), NOW);
    assert!(matches!(&ended[..], [Change::Ended { turn: Some(TURN), .. }]), "{ended:?}");
    let seen = team.member("member-1").unwrap();
    assert_eq!((seen.turn, seen.status), (None, MemberStatus::Completed));
    assert_eq!(seen.final_message.as_deref(), Some("yes"));
    assert_eq!(team.set_blocked(ONE, true, NOW), []);
    team.begin_turn(ONE, TurnId::new(10), NOW);
    assert_eq!(team.member("member-1").unwrap().final_message, None);
}

#[test]
fn a_member_without_its_thread_is_closed_until_the_thread_is_back() {
    let mut team = team(1);
    team.begin_turn(ONE, TURN, NOW);
    assert_eq!(team.close(ONE, NOW).len(), 1);
    assert_eq!(team.begin_turn(ONE, TURN, NOW), []);
    assert_eq!(team.end_turn(ONE, TURN, completed(""), NOW), []);
    assert_eq!(team.member("member-1").unwrap().status, MemberStatus::Closed);
    assert_eq!(team.reopen(ONE, NOW).len(), 1);
    assert_eq!(team.reopen(ONE, NOW), []);
}

#[test]
fn messages_wait_until_they_are_taken_up_once() {
    let mut team = team(2);
    for (id, to) in [("a", 1), ("b", 2), ("c", 1)] {
        team.put(message(id, to));
    }
    let to = MemberId::teammate(1);
    let ids = |team: &Team, sent: &[Letter]| {
        let waiting = team.undelivered(&to, sent);
        waiting.iter().map(|message| message.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&team, &[]), ["a", "c"]);
    let letter =
        Letter { turn: Some(TURN), to: to.clone(), ids: vec!["a".to_owned()], text: String::new() };
    assert_eq!(ids(&team, &[letter]), ["c"]);
    assert!(team.deliver(&["a".to_owned()], NOW));
    assert!(!team.deliver(&["a".to_owned()], NOW));
    team.withdraw("a");
    team.withdraw("c");
    assert_eq!(ids(&team, &[]), [] as [&str; 0]);
    assert_eq!(team.mailbox.len(), 2, "what was delivered is remembered");
}

#[test]
fn old_messages_are_forgotten_only_if_they_were_delivered() {
    let mut team = team(1);
    team.put(message("first", 1));
    for n in 0..500 {
        let id = n.to_string();
        team.put(message(&id, 1));
        team.deliver(&[id], NOW);
    }
    assert!(team.mailbox.len() <= 203, "{}", team.mailbox.len());
    assert_eq!(team.mailbox[0].id, "first");
}

#[test]
fn tasks_are_those_of_the_ledger_and_only_changes_are_reported() {
    let mut team = team(0);
    let task = |id: &str, status| PlanStep {
        id: id.to_owned(),
        content: format!("do {id}"),
        status,
        evidence: None,
    };
    let first = [task("a", PlanStepStatus::Pending), task("b", PlanStepStatus::InProgress)];
    assert_eq!(team.set_tasks(&first, NOW).len(), 2);
    assert_eq!(team.set_tasks(&first, NOW), []);
    let second = [task("a", PlanStepStatus::Blocked), task("b", PlanStepStatus::InProgress)];
    let changed = team.set_tasks(&second, NOW);
    let [Change::Task(_, changed)] = &changed[..] else { panic!("{changed:?}") };
    assert_eq!((&*changed.id, changed.status), ("a", TeamTaskStatus::Failed));
    assert_eq!(team.set_tasks(&[], NOW), []);
    assert_eq!(team.tasks, []);
}

#[test]
fn after_a_restart_members_do_what_their_threads_do() {
    let mut team = team(4);
    for member in &mut team.members {
        (member.status, member.turn) = (MemberStatus::Running, Some(TURN));
    }
    team.members[0].status = MemberStatus::Completed;
    team.recover(|thread| match thread.get() {
        1 => Some((None, false)),
        2 => Some((Some(TURN), true)),
        3 => Some((Some(TURN), false)),
        4 => Some((None, false)),
        _ => None,
    });
    let statuses: Vec<MemberStatus> = team.members.iter().map(|member| member.status).collect();
    use MemberStatus::{Blocked, Closed, Completed, Idle, Running};
    assert_eq!(statuses, [Completed, Blocked, Running, Idle, Closed]);
    assert!(team.members.iter().all(|it| it.turn.is_some() == it.status.is_active()));
}

#[test]
fn members_are_numbered_on() {
    let mut team = team(2);
    assert_eq!(team.next_member().as_str(), "member-3");
    team.members.remove(1);
    assert_eq!(team.next_member().as_str(), "member-3");
    team.members.truncate(1);
    assert_eq!(team.next_member().as_str(), "member-1");
}

#[test]
fn a_file_has_the_members_that_other_programs_read() {
    let mut team = team(1);
    team.put(message("a", 1));
    let text = String::from_utf8(file::write(&team).unwrap()).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["members"].as_array_mut().unwrap().truncate(1);
    expect![[r#"{"id":"00000000-0000-0000-0000-000000000007","leadThreadId":"00000000-0000-0000-0000-000000000001","displayMode":"auto","members":[{"id":"lead","role":"lead","name":"name 0","taskName":null,"agentPath":"/root","threadId":"00000000-0000-0000-0000-000000000001","parentThreadId":null,"currentTurnId":null,"modelProvider":"mock","model":null,"policyMode":"default","status":"idle","finalMessage":null,"terminalError":null,"paneId":null}],"mailbox":[{"id":"a","teamId":"00000000-0000-0000-0000-000000000007","fromMemberId":"lead","toMemberId":"member-1","kind":"NEW_TASK","text":"do a","delivered":false,"timestamp":"1970-01-01T00:00:01.000000Z"}],"tasks":[],"createdAt":"1970-01-01T00:00:01.000000Z","updatedAt":"1970-01-01T00:00:01.000000Z"}"#]]
    .assert_eq(&value.to_string());
    assert_eq!(file::read(text.as_bytes()), Ok(team));
}

#[test]
fn an_older_file_is_read_and_a_wrong_one_is_not() {
    let mut team = team(0);
    team.put(message("a", 1));
    let bytes = file::write(&team).unwrap();
    let mut value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    value["mailbox"][0].as_object_mut().unwrap().remove("kind");
    value.as_object_mut().unwrap().remove("tasks");
    let read = file::read(value.to_string().as_bytes()).unwrap();
    assert_eq!(read.mailbox[0].kind, MessageKind::Message);
    for (member, wrong) in [
        ("id", "../x".into()),
        ("leadThreadId", "x".into()),
        ("members", serde_json::json!([])),
        ("createdAt", "yesterday".into()),
        ("displayMode", "wide".into()),
    ] {
        let mut value = value.clone();
        value[member] = wrong;
        assert!(file::read(value.to_string().as_bytes()).is_err(), "{member}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = file::read(&bytes);
    }

    #[test]
    fn any_name_and_text_survives_the_trip(name in any::<String>(), text in any::<String>()) {
        let mut team = team(1);
        team.members[1].name = name;
        team.put(Message { text, ..message("a", 1) });
        prop_assert_eq!(file::read(&file::write(&team).unwrap()), Ok(team));
    }
}

fn failed(error: &str) -> TurnEnd {
    TurnEnd { status: MemberStatus::Failed, message: None, error: Some(error.to_owned()) }
}

#[test]
fn the_end_of_a_teammates_turn_is_an_answer_to_the_lead() {
    let mut team = team(1);
    let mut ends = |turn: u128, end: TurnEnd| {
        team.begin_turn(ONE, TurnId::new(turn), NOW);
        team.end_turn(ONE, TurnId::new(turn), end.clone(), NOW);
        // It is noted again after a restart.
        team.members[1].turn = Some(TurnId::new(turn));
        team.end_turn(ONE, TurnId::new(turn), end, NOW);
        team.mailbox.last().cloned()
    };
    let answer = ends(1, completed("so")).unwrap();
    assert_eq!((answer.kind, &*answer.text), (MessageKind::FinalAnswer, "so"));
    assert_eq!((answer.from, answer.to), (Some(MemberId::teammate(1)), MemberId::lead()));
    assert!(!answer.delivered);
    assert_eq!(ends(2, failed("why")).unwrap().text, "The turn failed: why");
    let silent = TurnEnd { message: None, ..completed("") };
    assert_eq!(ends(3, silent).unwrap().text, "The turn ended without an answer.");
    let stopped = TurnEnd { status: MemberStatus::Interrupted, message: None, error: None };
    ends(4, stopped);
    assert_eq!(team.mailbox.len(), 3, "each once, and none for one that was stopped");
    // The lead tells itself nothing.
    team.begin_turn(ThreadId::new(1), TURN, NOW);
    team.end_turn(ThreadId::new(1), TURN, completed("mine"), NOW);
    assert_eq!(team.mailbox.len(), 3);
}

#[test]
fn answers_that_wait_are_bounded_in_number_and_size_and_displace_nothing_else() {
    let mut team = team(1);
    team.put(message("kept", 1));
    for turn in 0..300 {
        team.begin_turn(ONE, TurnId::new(turn), NOW);
        team.end_turn(ONE, TurnId::new(turn), completed(&turn.to_string()), NOW);
    }
    assert_eq!((team.mailbox.len(), &*team.mailbox[1].text), (101, "200"));
    let long = "x".repeat(64 << 10);
    for turn in 300..400 {
        team.begin_turn(ONE, TurnId::new(turn), NOW);
        team.end_turn(ONE, TurnId::new(turn), completed(&long), NOW);
    }
    assert_eq!(team.mailbox.len(), 33);
    assert_eq!((&*team.mailbox[0].id, team.waiting_bytes()), ("kept", "do kept".len()));
}
