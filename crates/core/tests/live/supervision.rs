//! The queue, approvals of harnesses, reviews and handoffs, and what becomes of them.

use rookery_core::{
    AgentEvent, AgentEventKind, ApprovalStatus, Created, NewComment, NewHandoff, NewReview,
    NewSession, Reported, Resolution, Resolved, SessionNotice, Shows,
};
use rookery_model::{
    Answer, Category, CheckpointId, DecisionQuery, DecisionVerdict, Differences, ErrorKind,
    EventId, HandoffStatus, QueueItem, RequestId, ReviewStatus, SessionId, Source, Timestamp,
};

use crate::world::World;

const YES: Answer = Answer::Approved { remember: false };
const NO: Answer = Answer::Denied { message: None };

crate::cases! {
    keys_in_what_a_shell_reports_are_hidden,
    what_is_most_urgent_comes_first_and_the_newest_of_it,
    of_two_copies_of_an_event_one_is_taken,
    an_event_that_names_no_session_may_be_sent_again,
    what_a_harness_asks_is_decided_deferred_and_on_the_record,
    a_decision_that_was_taken_stands,
    closing_a_session_takes_back_what_it_asked,
    looking_at_a_session_leaves_its_approvals,
    a_review_is_asked_changed_and_approved,
    a_handoff_goes_to_its_target_until_it_is_dealt_with,
    titles_name_sessions,
    a_session_that_cannot_be_made_leaves_a_word,
}

pub(crate) async fn session(world: &World, title: &str) -> SessionId {
    let id = world.core.sessions().new_id();
    let new = NewSession { title: Some(title.to_owned()), ..NewSession::default() };
    world.core.sessions().make(id, new).await.unwrap();
    id
}

fn notice(session: SessionId, category: Category, title: &str) -> SessionNotice {
    let title = title.to_owned();
    SessionNotice { session, category, title, summary: None, activity: None, agent: None }
}

fn event(session: Option<SessionId>, id: u128, kind: AgentEventKind) -> AgentEvent {
    let at = Timestamp::from_micros(7);
    AgentEvent { id: EventId::new(id), session, title_hint: None, at, kind }
}

fn titles(items: &[QueueItem]) -> Vec<&str> {
    items.iter().map(|item| item.title.as_str()).collect()
}

pub(crate) async fn asked(world: &World, session: SessionId, id: u128) -> RequestId {
    let kind = AgentEventKind::Approval {
        title: "Deploy?".into(),
        summary: "to production".into(),
        action: "make deploy".into(),
        scope: None,
    };
    match world.core.sessions().take_agent_event(event(Some(session), id, kind)).await.unwrap() {
        (_, Created::Approval(id)) => id,
        other => panic!("{other:?}"),
    }
}

async fn what_is_most_urgent_comes_first_and_the_newest_of_it() {
    let world = World::open().await;
    let unknown = SessionId::new(5);
    for category in Category::ALL.into_iter().rev() {
        for title in ["first", "second"] {
            world.core.sessions().take_notice(notice(unknown, category, title)).await.unwrap();
        }
    }
    let queue = world.core.queue().list();
    let categories: Vec<Category> = queue.iter().map(|item| item.category).collect();
    // That it is done is said once, as it was said last.
    let twice = |one: &Category| if *one == Category::Completed { 1 } else { 2 };
    let expected = Category::ALL.iter().flat_map(|one| vec![*one; twice(one)]);
    assert_eq!(categories, expected.collect::<Vec<Category>>());
    let mut titles = titles(&queue);
    titles.remove(9);
    assert!(titles.chunks(2).all(|pair| pair == ["second", "first"]), "{titles:?}");
    assert!(queue.iter().all(|item| item.source == Source::Report));
    assert!(world.core.queue().resolve(queue[0].id).await.unwrap());
    assert!(!world.core.queue().resolve(queue[0].id).await.unwrap(), "dealt with before");
    assert_eq!(world.core.queue().list().len(), 10);
    world.stop().await;
}

async fn keys_in_what_a_shell_reports_are_hidden() {
    let world = World::open().await;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let summary = Some(format!("Running: TOKEN={secret} claude"));
    let said = notice(SessionId::new(5), Category::Informational, "claude started");
    world.core.sessions().take_notice(SessionNotice { summary, ..said }).await.unwrap();
    let shown = world.core.queue().list()[0].subtitle.clone().unwrap();
    assert!(shown.starts_with("Running: ") && !shown.contains(secret), "{shown}");
    world.stop().await;
}

async fn of_two_copies_of_an_event_one_is_taken() {
    let world = World::open().await;
    let session = session(&world, "api").await;
    let sessions = world.core.sessions();
    let copy = || {
        let kind = AgentEventKind::Completed { summary: None };
        sessions.take_agent_event(event(Some(session), 1, kind))
    };
    let (first, second) = tokio::join!(copy(), copy());
    assert!(first.is_ok() != second.is_ok());
    let refused = first.err().or(second.err()).unwrap();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    let queue = world.core.queue().list();
    assert_eq!(titles(&queue).iter().filter(|title| **title == "Completed").count(), 1);
    assert_eq!(world.core.sessions().handled_events(), [EventId::new(1)]);
    world.stop().await;
}

async fn an_event_that_names_no_session_may_be_sent_again() {
    let world = World::open().await;
    let sessions = world.core.sessions();
    let send = |hint: Option<&str>| {
        let kind = AgentEventKind::Blocked { summary: None };
        let title_hint = hint.map(str::to_owned);
        let event = AgentEvent { title_hint, ..event(Some(SessionId::new(1)), 1, kind) };
        sessions.take_agent_event(event)
    };
    assert_eq!(send(Some("api")).await.unwrap_err().kind(), ErrorKind::NotFound);
    let id = session(&world, "api").await;
    assert_eq!(send(Some("API")).await.unwrap_err().kind(), ErrorKind::NotFound, "exactly so");
    assert_eq!(send(Some(" api ")).await.unwrap().0, id);
    assert_eq!(send(None).await.unwrap_err().kind(), ErrorKind::Conflict, "a duplicate first");
    world.stop().await;
}

async fn what_a_harness_asks_is_decided_deferred_and_on_the_record() {
    let world = World::open().await;
    let session = session(&world, "api").await;
    let id = asked(&world, session, 1).await;
    let open = |world: &World| -> Vec<Option<String>> {
        let queue = world.core.queue().list();
        let needed = queue.into_iter().filter(|item| item.category == Category::ApprovalNeeded);
        needed.map(|item| item.subtitle).collect()
    };
    assert_eq!(open(&world), [Some("to production".to_owned())]);
    let status = |world: &World| world.core.requests().approval(id).unwrap().status;
    assert_eq!(status(&world), ApprovalStatus::Pending);
    let requests = world.core.requests();
    let decide = async |resolution: Resolution| {
        requests.resolve(id, resolution.or_revise(), "idx0").await.unwrap().or_error(id)
    };
    decide(Resolution::later()).await.unwrap();
    decide(Resolution::later()).await.unwrap();
    assert_eq!((status(&world), open(&world).len()), (ApprovalStatus::Deferred, 1));
    decide(YES.into()).await.unwrap();
    decide(YES.into()).await.unwrap();
    assert_eq!((status(&world), open(&world).len()), (ApprovalStatus::Approved, 0));
    decide(NO.into()).await.unwrap();
    assert_eq!(status(&world), ApprovalStatus::Denied, "no one went on with it");
    decide(Resolution::later()).await.unwrap();
    assert_eq!(open(&world), [Some("Deferred: to production".to_owned())]);
    let lines = world.core.queue().timeline(Some(session), 10);
    let lines: Vec<&str> = lines.iter().map(|line| line.title.as_str()).collect();
    let expected = ["Approval deferred", "Approval denied", "Approval approved"];
    assert_eq!(lines[..4], [&expected[..], &["Approval deferred"]].concat());
    let records = world.core.requests().decisions(DecisionQuery::default(), 100).await.unwrap();
    let records: Vec<_> = records.into_iter().map(|record| record.decision).collect();
    let verdicts: Vec<DecisionVerdict> = records.iter().map(|one| one.verdict).collect();
    use DecisionVerdict::{Approved, Deferred, Denied};
    assert_eq!(verdicts, [Deferred, Approved, Denied, Deferred]);
    assert!(records.iter().all(|one| one.by.as_deref() == Some("idx0")));
    assert!(records.iter().all(|one| one.subject == "make deploy"));
    assert!(records.iter().all(|one| one.session == Some(session)));
    world.stop().await;
}

async fn a_decision_that_was_taken_stands() {
    let world = World::open().await;
    let session = session(&world, "api").await;
    let id = asked(&world, session, 1).await;
    let requests = world.core.requests();
    let decide = async |id, answer: Answer| {
        let resolution = Resolution::from(answer).or_revise();
        requests.resolve(id, resolution, "idx0").await.unwrap()
    };
    assert_eq!(decide(id, YES).await, Resolved::Now);
    requests.mark_acted_on(id);
    assert_eq!(decide(id, NO).await, Resolved::Late);
    assert_eq!(decide(id, YES).await, Resolved::Same);
    assert_eq!(requests.resolve(id, YES, "native").await.unwrap(), Resolved::Late);
    assert_eq!(decide(RequestId::new(9), YES).await, Resolved::Unknown);
    world.stop().await;
}

async fn closing_a_session_takes_back_what_it_asked() {
    let world = World::open().await;
    let session_id = session(&world, "api").await;
    let id = asked(&world, session_id, 1).await;
    world
        .core
        .sessions()
        .take_notice(notice(session_id, Category::Informational, "by the way"))
        .await
        .unwrap();
    world
        .core
        .sessions()
        .take_notice(notice(session_id, Category::Completed, "finished"))
        .await
        .unwrap();
    world.core.sessions().take_notice(notice(session_id, Category::Error, "failed")).await.unwrap();
    let terminal = world.core.terminals().list()[0].id;
    world.core.terminals().close(terminal).await.unwrap();
    assert_eq!(world.core.requests().approval(id).unwrap().status, ApprovalStatus::Denied);
    let queue = world.core.queue().list();
    assert_eq!(titles(&queue), [""; 0], "nothing can be done about it any more");
    let lines = world.core.queue().timeline(Some(session_id), 2);
    let lines: Vec<&str> = lines.iter().map(|line| line.title.as_str()).collect();
    assert_eq!(lines, ["Approval expired", "Session closed"]);
    world.stop().await;
}

async fn looking_at_a_session_leaves_its_approvals() {
    let world = World::open().await;
    let first = session(&world, "api").await;
    let id = asked(&world, first, 1).await;
    let _other = session(&world, "web").await;
    let waits = notice(first, Category::ApprovalNeeded, "look at me");
    world.core.sessions().take_notice(waits).await.unwrap();
    assert_eq!(world.core.queue().list().len(), 2);
    let terminal = world.core.terminals().list()[0].id;
    world.core.workspace().activate(terminal).await.unwrap();
    assert_eq!(titles(&world.core.queue().list()), ["Deploy?"]);
    assert_eq!(world.core.requests().approval(id).unwrap().status, ApprovalStatus::Pending);
    world.stop().await;
}

async fn a_review_is_asked_changed_and_approved() {
    let world = World::open().await;
    let session = session(&world, "api").await;
    let new = NewReview {
        place: session.into(),
        checkpoint: Some(CheckpointId::new(1)),
        summary: "the parser".into(),
        differences: Differences::default(),
    };
    let review = world.core.reviews().request(new).await.unwrap();
    let reviews = world.core.reviews();
    let set = |status| reviews.set_status(review.id, status, "idx0");
    set(ReviewStatus::ChangesRequested).await.unwrap();
    assert_eq!(titles(&world.core.queue().list()), ["Review requested"], "the open item stays");
    set(ReviewStatus::Deferred).await.unwrap();
    assert_eq!(titles(&world.core.queue().list()), ["Review requested", "Review deferred"]);
    let line = NewComment { path: Some("a.rs".into()), line: Some(3), text: "why?".into() };
    let commented = world.core.reviews().comment(review.id, vec![line], "idx0").await.unwrap();
    assert!(!commented.comments[0].is_delivered);
    assert_eq!(commented.comments[0].by, "idx0");
    let refused = world.core.reviews().deliver(review.id, None).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "only a shell is there: {refused}");
    set(ReviewStatus::Approved).await.unwrap();
    assert_eq!(world.core.queue().list(), []);
    let records = world.core.requests().decisions(DecisionQuery::default(), 100).await.unwrap();
    let verdicts: Vec<_> = records.iter().map(|record| record.decision.verdict).collect();
    use DecisionVerdict::{Approved, ChangesRequested, Deferred};
    assert_eq!(verdicts, [ChangesRequested, Deferred, Approved]);
    world.stop().await;
}

async fn a_handoff_goes_to_its_target_until_it_is_dealt_with() {
    let world = World::open().await;
    let (from, to) = (session(&world, "api").await, session(&world, "web").await);
    let new = NewHandoff {
        from: from.into(),
        to: Some(to),
        checkpoint: None,
        title: "the rest".into(),
        summary: "go on".into(),
        risks: vec!["time".into()],
        next_actions: vec!["test".into()],
    };
    let handoff = world.core.handoffs().create(new).await.unwrap();
    let queue = world.core.queue().list();
    assert_eq!((titles(&queue), queue[0].session), (vec!["Handoff: the rest"], Some(to)));
    world.core.handoffs().set_status(handoff.id, HandoffStatus::Accepted).await.unwrap();
    assert_eq!(world.core.queue().list(), []);
    let last = |session| world.core.queue().timeline(Some(session), 1)[0].title.clone();
    assert_eq!((last(from), last(to)), ("Handoff created".into(), "Handoff accepted".into()));
    world.stop().await;
}

async fn titles_name_sessions() {
    let world = World::open().await;
    let (api, _) = (session(&world, "api").await, session(&world, "api-tests").await);
    let found = |word: &str| world.core.sessions().find(word).map(|session| session.id);
    assert_eq!(found(" API "), Ok(api));
    assert_eq!(found(&api.to_string().to_lowercase()), Ok(api));
    assert!(found("ap").is_err() && found("nothing").is_err() && found("").is_err());
    world.stop().await;
}

async fn a_session_that_cannot_be_made_leaves_a_word() {
    let world = World::open().await;
    let id = world.core.sessions().new_id();
    let repo = Some(world.home.path().join("nowhere"));
    world
        .core
        .sessions()
        .make_soon(id, NewSession { repo, create_worktree: true, ..NewSession::default() })
        .await
        .unwrap();
    let mut changes = world.core.log().changes(Shows::ALL);
    while world.core.queue().list().is_empty() {
        changes.next().await.unwrap();
    }
    let queue = world.core.queue().list();
    assert_eq!((titles(&queue), queue[0].session), (vec!["Session creation failed"], Some(id)));
    assert!(queue[0].subtitle.as_deref().unwrap().starts_with("The path does not exist: "));
    assert!(
        world.core.terminals().list().is_empty() && world.core.workspace().projects().is_empty()
    );
    // A word about a session that does not exist is kept all the same.
    let activity = Some((Reported::Active, "x".to_owned()));
    let notice = SessionNotice { activity, ..notice(id, Category::Blocked, "still") };
    world.core.sessions().take_notice(notice).await.unwrap();
    assert_eq!(titles(&world.core.queue().list()), ["Session creation failed", "still"]);
    world.stop().await;
}
