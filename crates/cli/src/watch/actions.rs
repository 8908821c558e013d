//! Performs the actions of the list and reports their outcome in its status line.

use rookery_native::{
    code,
    wire::{
        AnswerRequest, Answered, Checkpoint, CheckpointShow, DeferRequest, HandoffList,
        HandoffSetStatus, HandoffStatus, Handoffs, NewComment, QueueEntry, QueueResolve,
        QueueResolved, Related, Review, ReviewAddComments, ReviewDeliver, ReviewGet,
        ReviewSetStatus, ReviewStatus,
    },
};
use rookery_view::safe;
use rookery_wire::{Call, Client, ClientError};

use super::list::{Action, List};
use crate::{
    commands::{changes_of, review_lines},
    output::Tone,
    talk::{
        patch::{self, Line},
        queue::{self, Item},
        requests,
    },
};

/// What came of a action.
type Reply = Result<Line, ClientError>;

/// Performs an action and shows its outcome.
pub(super) async fn perform(client: &Client, list: &mut List, action: Action) {
    if let Action::Show(id) = action {
        return show(client, list, id).await;
    }
    let outcome = match &action {
        Action::Leave | Action::Show(_) => return,
        Action::Approve(id) => answer(client, id, true).await,
        Action::Deny(id) => answer(client, id, false).await,
        Action::Defer(id) => defer(client, id).await,
        Action::ApproveReview(id) => review(client, id, ReviewStatus::Approved).await,
        Action::DeferReview(id) => review(client, id, ReviewStatus::Deferred).await,
        Action::RequestChanges(id, text) => request_changes(client, id, text).await,
        Action::Accept(id) => accept(client, id).await,
        Action::Resolve(id) => resolve(client, id).await,
    };
    match outcome {
        Ok((tone, text)) => {
            for id in list.ids_about(&action) {
                list.mark_resolved(&id);
            }
            list.leave_details();
            list.say(tone, text);
        }
        Err(ClientError::Rpc(error)) if is_over(error.code) => {
            list.say(Tone::Warning, "already settled");
        }
        Err(ClientError::Rpc(error)) => list.say(Tone::Bad, safe::line(&error.message)),
        Err(error) => list.say(Tone::Bad, safe::line(&error.to_string())),
    }
}

fn is_over(error: i64) -> bool {
    error == code::NOT_FOUND || error == code::CONFLICT
}

async fn call<P: Call>(client: &Client, params: P) -> Result<P::Reply, ClientError> {
    client.send(params).await
}

async fn answer(client: &Client, id: &str, approved: bool) -> Reply {
    let params = AnswerRequest {
        id: id.to_owned(),
        approved: Some(approved),
        message: None,
        remember: false,
        answers: None,
        shown: None,
    };
    let answered: Answered = call(client, params).await?;
    Ok(match (answered.settled, approved) {
        (true, true) => (Tone::Good, format!("approved {id}")),
        (true, false) => (Tone::Bad, format!("denied {id}")),
        (false, _) => (Tone::Warning, format!("already settled: {id}")),
    })
}

async fn defer(client: &Client, id: &str) -> Reply {
    let params = DeferRequest { id: id.to_owned() };
    call(client, params).await?;
    Ok((Tone::Faint, format!("deferred; {id} stays open")))
}

async fn review(client: &Client, id: &str, status: ReviewStatus) -> Reply {
    let params = ReviewSetStatus { id: id.to_owned(), status };
    call(client, params).await?;
    Ok(match status {
        ReviewStatus::Approved => (Tone::Good, format!("approved review {id}")),
        ReviewStatus::ChangesRequested => (Tone::Bad, format!("requested changes in review {id}")),
        ReviewStatus::Deferred => (Tone::Faint, format!("deferred review {id}")),
        ReviewStatus::Open => (Tone::Plain, format!("reopened review {id}")),
    })
}

async fn request_changes(client: &Client, id: &str, text: &str) -> Reply {
    if !text.trim().is_empty() {
        let comment = NewComment { path: None, line: None, text: text.to_owned() };
        let params = ReviewAddComments { id: id.to_owned(), comments: vec![comment] };
        call(client, params).await?;
    }
    let params = ReviewSetStatus { id: id.to_owned(), status: ReviewStatus::ChangesRequested };
    let review: Review = call(client, params).await?;
    let mut message = format!("requested changes in review {id}");
    let is_news = review.comments.iter().any(|comment| !comment.delivered);
    if review.session.is_none() && is_news {
        // There may be no agent in a work tree; the daemon says so.
        let params = ReviewDeliver { id: id.to_owned(), to: None };
        match call(client, params).await {
            Err(ClientError::Rpc(error)) => message += &format!("; {}", safe::line(&error.message)),
            outcome => drop(outcome?),
        }
    }
    Ok((Tone::Bad, message))
}

async fn accept(client: &Client, id: &str) -> Reply {
    let params = HandoffSetStatus { id: id.to_owned(), status: HandoffStatus::Accepted };
    call(client, params).await?;
    Ok((Tone::Good, format!("accepted handoff {id}")))
}

async fn resolve(client: &Client, id: &str) -> Reply {
    let params = QueueResolve { id: id.to_owned() };
    let resolved: QueueResolved = call(client, params).await?;
    Ok(match resolved.resolved {
        true => (Tone::Faint, "dismissed".to_owned()),
        false => (Tone::Warning, "already dismissed".to_owned()),
    })
}

async fn show(client: &Client, list: &mut List, id: String) {
    let Some(item) = list.item(&id) else {
        list.say(Tone::Warning, "already settled");
        return;
    };
    let lines = lines(client, &item).await;
    list.open(id, lines);
}

/// The session or the work tree that an item is about.
fn place(entry: &QueueEntry) -> String {
    match (&entry.session_title, &entry.tree) {
        (None, Some(tree)) => format!("work tree {}", safe::line(tree)),
        _ => format!("session {} {}", queue::session(entry), safe::line(&entry.item.session)),
    }
}

/// Everything there is to say of an item.
async fn lines(client: &Client, item: &Item<'_>) -> Vec<Line> {
    let entry = item.entry;
    let (tone, kind) = queue::kind(item);
    let mut lines = vec![
        (Tone::Strong, queue::what(item)),
        (tone, format!("{kind}, said by {}", queue::source(entry.item.source))),
        (Tone::Faint, place(entry)),
        (Tone::Faint, format!("since {}", safe::line(&entry.item.created_at))),
    ];
    if let Some(more) = &entry.item.subtitle {
        lines.extend(safe::text(more).lines().map(|line| (Tone::Plain, line.to_owned())));
    }
    lines.push((Tone::Plain, String::new()));
    let more = match (&entry.item.related, item.request) {
        (_, Some(request)) => Ok(of_request(request)),
        (Some(Related::Review(id)), _) => of_review(client, id).await,
        (Some(Related::Checkpoint(id)), _) => of_checkpoint(client, id).await,
        (Some(Related::Handoff(id)), _) => of_handoff(client, id).await,
        (Some(Related::Request(_)) | None, None) => Ok(Vec::new()),
    };
    match more {
        Ok(more) => lines.extend(more),
        Err(error) => lines.push((Tone::Bad, safe::line(&error.to_string()))),
    }
    lines
}

fn of_request(request: &rookery_native::wire::Request) -> Vec<Line> {
    let mut lines: Vec<Line> =
        requests::details(request).into_iter().map(|line| (tone_of(&line), line)).collect();
    lines.push((Tone::Plain, String::new()));
    lines.push((Tone::Faint, format!("request {}", safe::line(&request.id))));
    if let Some(deadline) = &request.deadline {
        lines.push((Tone::Faint, format!("denied automatically at {}", safe::line(deadline))));
    }
    lines
}

/// A preview is often a diff.
fn tone_of(line: &str) -> Tone {
    match line.strip_prefix("    ").and_then(|line| line.chars().next()) {
        Some('+') => Tone::Good,
        Some('-') => Tone::Bad,
        _ => Tone::Plain,
    }
}

async fn of_review(client: &Client, id: &str) -> Result<Vec<Line>, ClientError> {
    let params = ReviewGet { id: id.to_owned() };
    let review: Review = call(client, params).await?;
    let diff = match review.checkpoint.clone() {
        Some(checkpoint) => changes_of(client, checkpoint).await.ok(),
        None => None,
    };
    Ok(review_lines(&review, diff.as_ref()))
}

async fn of_checkpoint(client: &Client, id: &str) -> Result<Vec<Line>, ClientError> {
    let params = CheckpointShow { id: id.to_owned() };
    let one: Checkpoint = call(client, params).await?;
    let mut lines = vec![
        (Tone::Strong, safe::line(&one.title)),
        (Tone::Plain, safe::line(&one.summary)),
        (Tone::Faint, format!("checkpoint {}", safe::line(&one.id))),
    ];
    if one.snapshot.is_some()
        && let Ok(diff) = changes_of(client, one.id).await
    {
        lines.extend(patch::lines(&diff.patch, &[]));
    }
    Ok(lines)
}

async fn of_handoff(client: &Client, id: &str) -> Result<Vec<Line>, ClientError> {
    let all: Handoffs = call(client, HandoffList::default()).await?;
    let Some(one) = all.handoffs.into_iter().find(|one| one.id == id) else {
        return Ok(Vec::new());
    };
    let mut lines = vec![
        (Tone::Strong, safe::line(&one.title)),
        (Tone::Plain, safe::line(&one.summary)),
        (Tone::Faint, format!("handoff {}", safe::line(&one.id))),
    ];
    lines.extend(
        one.risks.iter().map(|risk| (Tone::Warning, format!("risk: {}", safe::line(risk)))),
    );
    lines.extend(
        one.next_actions.iter().map(|step| (Tone::Plain, format!("next: {}", safe::line(step)))),
    );
    Ok(lines)
}
