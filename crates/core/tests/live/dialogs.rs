//! Dialogs on screens: what is seen becomes a request, and only what was typed settles it.

use std::sync::{Arc, Mutex};

use rookery_core::{ApprovalStatus, Core, Resolved, Responder, SeenDialog, Shown, Typing};
use rookery_model::{
    Answer, Category, DecisionQuery, DecisionVerdict, ErrorKind, Related, RequestId, TerminalId,
};
use tokio::sync::Notify;

use crate::supervision::session;
use crate::world::World;

const YES: Answer = Answer::Approved { remember: false };
const NO: Answer = Answer::Denied { message: None };

crate::cases! {
    a_dialog_is_asked_once_and_taken_back_when_it_goes,
    what_is_decided_is_typed_and_settled,
    a_dialog_that_was_answered_is_not_asked_again_while_it_goes,
    a_dialog_that_is_gone_is_not_answered,
    attack_what_is_chosen_at_the_terminal_is_recorded,
    of_two_who_decide_one_types,
    what_takes_more_than_yes_or_no_is_only_told,
    an_item_and_its_request_are_seen_together,
}

/// Types nothing, notes what it should have typed, and says whether the dialog was there.
#[derive(Default)]
struct Fake {
    typed: Mutex<Vec<(String, bool)>>,
    is_gone: bool,
    /// If there is one, typing waits for it.
    gate: Option<(Notify, Notify)>,
}

impl Responder for FakeResponder {
    fn answer(&self, _: &Core, _: TerminalId, dialog: &str, is_yes: bool) -> Typing {
        let (fake, dialog) = (Arc::clone(&self.0), dialog.to_owned());
        Box::pin(async move {
            if let Some((begun, go)) = &fake.gate {
                begun.notify_one();
                go.notified().await;
            }
            fake.typed.lock().unwrap().push((dialog, is_yes));
            Ok(!fake.is_gone)
        })
    }
}

/// The same as core has it.
struct FakeResponder(Arc<Fake>);

fn seen(id: &str) -> Option<SeenDialog> {
    Some(SeenDialog {
        id: id.to_owned(),
        title: "Bash".into(),
        text: "make".into(),
        is_decidable: true,
        options: ["Yes", "Always", "No"].map(str::to_owned).to_vec(),
        focus: Some(1),
    })
}

async fn with(fake: Fake) -> (World, TerminalId, Arc<Fake>) {
    let world = World::open().await;
    session(&world, "agent").await;
    let terminal = world.core.terminals().list()[0].id;
    let fake = Arc::new(fake);
    world.core.requests().set_responder(Arc::new(FakeResponder(Arc::clone(&fake))));
    (world, terminal, fake)
}

fn pending(world: &World) -> Vec<RequestId> {
    world.core.requests().list().iter().map(|request| request.id).collect()
}

async fn a_dialog_is_asked_once_and_taken_back_when_it_goes() {
    let (world, terminal, _) = with(Fake::default()).await;
    world.core.requests().show_dialog(terminal, seen("1")).await.unwrap();
    let first = pending(&world);
    world.core.requests().show_dialog(terminal, seen("1")).await.unwrap();
    assert_eq!((first.len(), pending(&world)), (1, first.clone()));
    world.core.requests().show_dialog(terminal, seen("2")).await.unwrap();
    let second = pending(&world);
    assert!(second.len() == 1 && second != first);
    // Nothing was typed, so there was no refusal.
    assert_eq!(world.core.requests().approval(first[0]).unwrap().status, ApprovalStatus::Withdrawn);
    world.core.requests().show_dialog(terminal, None).await.unwrap();
    assert!(pending(&world).is_empty());
    assert!(world.core.queue().list().iter().all(|item| item.category != Category::ApprovalNeeded));
    world.stop().await;
}

async fn what_is_decided_is_typed_and_settled() {
    let (world, terminal, fake) = with(Fake::default()).await;
    for (dialog, is_yes) in [("1", true), ("2", false)] {
        world.core.requests().show_dialog(terminal, seen(dialog)).await.unwrap();
        let id = pending(&world)[0];
        match is_yes {
            true => assert!(world.core.requests().resolve(id, YES, "idx0").await.unwrap().is_now()),
            false => {
                assert!(world.core.requests().resolve(id, NO, "roder").await.unwrap().is_now());
            }
        }
        assert!(pending(&world).is_empty());
    }
    let expected = [("1".to_owned(), true), ("2".to_owned(), false)];
    assert_eq!(*fake.typed.lock().unwrap(), expected);
    world.stop().await;
}

async fn a_dialog_that_was_answered_is_not_asked_again_while_it_goes() {
    let (world, terminal, _) = with(Fake::default()).await;
    world.core.requests().show_dialog(terminal, seen("1")).await.unwrap();
    world.core.requests().resolve(pending(&world)[0], YES, "idx0").await.unwrap();
    let shown = world.core.requests().show_dialog(terminal, seen("1")).await.unwrap();
    assert!(matches!(shown, Shown::Answered(_)), "{shown:?}");
    assert!(pending(&world).is_empty());
    // Once it was away, the same dialog is a new one.
    world.core.requests().show_dialog(terminal, None).await.unwrap();
    world.core.requests().show_dialog(terminal, seen("1")).await.unwrap();
    assert_eq!(pending(&world).len(), 1);
    world.stop().await;
}

async fn a_dialog_that_is_gone_is_not_answered() {
    let (world, terminal, _) = with(Fake { is_gone: true, ..Fake::default() }).await;
    world.core.requests().show_dialog(terminal, seen("1")).await.unwrap();
    let id = pending(&world)[0];
    let refused = world.core.requests().resolve(id, YES, "idx0").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert_eq!(world.core.requests().approval(id).unwrap().status, ApprovalStatus::Withdrawn);
    world.stop().await;
}

/// Keys at the terminal, and what they chose: the record says that, and never a denial that was not.
async fn attack_what_is_chosen_at_the_terminal_is_recorded() {
    let (world, terminal, _) = with(Fake::default()).await;
    let answers = [
        ("1", "\r", ApprovalStatus::Approved, DecisionVerdict::Approved),
        ("2", "1", ApprovalStatus::Approved, DecisionVerdict::Approved),
        ("3", "3", ApprovalStatus::Denied, DecisionVerdict::Denied),
        ("4", "\x1b", ApprovalStatus::Denied, DecisionVerdict::Denied),
        ("5", "2", ApprovalStatus::AtTerminal, DecisionVerdict::AnsweredAtTerminal),
        ("6", "x", ApprovalStatus::AtTerminal, DecisionVerdict::AnsweredAtTerminal),
        ("7", "", ApprovalStatus::Withdrawn, DecisionVerdict::Withdrawn),
    ];
    for (dialog, keys, status, verdict) in answers {
        world.core.requests().show_dialog(terminal, seen(dialog)).await.unwrap();
        let id = pending(&world)[0];
        if !keys.is_empty() {
            world.core.terminals().get(terminal).unwrap().write(keys.as_bytes()).unwrap();
        }
        world.core.requests().show_dialog(terminal, None).await.unwrap();
        assert_eq!(status_of(&world, id), status, "{keys:?}");
        let decisions = world.core.requests().decisions(DecisionQuery::default(), 1).await.unwrap();
        assert_eq!(decisions[0].decision.verdict, verdict, "{keys:?}");
        assert_eq!(decisions[0].decision.request, Some(id));
    }
    // One that follows another at once.
    world.core.requests().show_dialog(terminal, seen("8")).await.unwrap();
    let first = pending(&world)[0];
    world.core.terminals().get(terminal).unwrap().write(b"1").unwrap();
    world.core.requests().show_dialog(terminal, seen("9")).await.unwrap();
    assert_eq!(status_of(&world, first), ApprovalStatus::Approved);
    world.stop().await;
}

fn status_of(world: &World, id: RequestId) -> ApprovalStatus {
    world.core.requests().approval(id).unwrap().status
}

async fn of_two_who_decide_one_types() {
    let gate = Some((Notify::new(), Notify::new()));
    let (world, terminal, fake) = with(Fake { gate, ..Fake::default() }).await;
    world.core.requests().show_dialog(terminal, seen("1")).await.unwrap();
    let id = pending(&world)[0];
    let core = world.core.clone();
    let first = tokio::spawn(async move { core.requests().resolve(id, YES, "idx0").await });
    let (begun, go) = fake.gate.as_ref().unwrap();
    begun.notified().await;
    let second = world.core.requests().resolve(id, NO, "native").await.unwrap();
    assert_eq!(second, Resolved::Late);
    // The dialog vanishes because it is being answered; that is no answer of its own.
    world.core.requests().show_dialog(terminal, None).await.unwrap();
    assert_eq!(pending(&world), [id]);
    go.notify_one();
    first.await.unwrap().unwrap();
    assert_eq!(world.core.requests().approval(id).unwrap().status, ApprovalStatus::Approved);
    assert_eq!(*fake.typed.lock().unwrap(), [("1".to_owned(), true)]);
    world.stop().await;
}

async fn what_takes_more_than_yes_or_no_is_only_told() {
    let (world, terminal, _) = with(Fake::default()).await;
    let question = seen("q").map(|seen| SeenDialog { is_decidable: false, ..seen });
    for _ in 0..2 {
        world.core.requests().show_dialog(terminal, question.clone()).await.unwrap();
    }
    assert!(pending(&world).is_empty());
    let needed = |world: &World| {
        let queue = world.core.queue().list();
        queue.iter().filter(|item| item.category == Category::ApprovalNeeded).count()
    };
    assert_eq!(needed(&world), 1);
    world.core.requests().show_dialog(terminal, None).await.unwrap();
    assert_eq!(needed(&world), 0);
    world.stop().await;
}

async fn an_item_and_its_request_are_seen_together() {
    let (world, terminal, _) = with(Fake::default()).await;
    let requests = world.core.requests();
    let (over, is_over) = tokio::sync::watch::channel(false);
    let core = world.core.clone();
    // On a thread of its own, so that it looks while others change what it looks at.
    let reader = tokio::task::spawn_blocking(move || {
        let mut joined = 0;
        loop {
            let is_last = *is_over.borrow();
            core.requests().with_queue(|requests, items| {
                for item in items {
                    let Some(Related::Request(id)) = item.related else { continue };
                    assert!(requests.iter().any(|request| request.id == id), "{item:?}");
                    joined += 1;
                }
            });
            if is_last {
                return joined;
            }
        }
    });
    for dialog in 0..200 {
        requests.show_dialog(terminal, seen(&dialog.to_string())).await.unwrap();
        requests.show_dialog(terminal, None).await.unwrap();
    }
    requests.show_dialog(terminal, seen("last")).await.unwrap();
    over.send_replace(true);
    assert!(reader.await.unwrap() > 0);
    world.stop().await;
}
