//! Reviews.

use rookery_core::{NewComment, NewReview};
use rookery_model::{CheckpointId, Differences, Error, ErrorKind, ReviewId, ReviewStatus};

use super::{BY, listed};
use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::ids::{self, Payload, filled, text_or};
use crate::values::uuid;
use crate::wire::{ReviewRequest, read_review_status};

pub(crate) async fn request(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let place = ids::session(&cx.core, &payload)?.id.into();
    let reviews = cx.core.reviews();
    let review = reviews.request(NewReview {
        place,
        checkpoint: ids::id(&payload, "checkpointID").map(CheckpointId::new),
        summary: text_or(&payload, "summary", "Review requested"),
        differences: Differences::default(),
    });
    Ok(Reply::ok("Review requested").with("reviewID", uuid(review.await?.id.get())))
}

pub(crate) async fn set_status(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let id = ids::id(&payload, "reviewID").ok_or_else(|| Failure::new("Missing reviewID"))?;
    let status = payload.get("status").and_then(|status| read_review_status(status));
    let status = match status {
        None | Some(ReviewStatus::Open) => {
            return Err(Failure::new("Missing or invalid review status"));
        }
        Some(status) => status,
    };
    let id = ReviewId::new(id);
    let unknown = |error: Error| match error.kind() == ErrorKind::NotFound {
        true => Failure::new("Review request not found."),
        false => error.into(),
    };
    if let Some(text) = filled(&payload, "comment") {
        let comment = NewComment { path: None, line: None, text: text.to_owned() };
        cx.core.reviews().comment(id, vec![comment], BY).await.map_err(unknown)?;
    }
    cx.core.reviews().set_status(id, status, BY).await.map_err(unknown)?;
    let reply = Reply::ok("Review updated");
    if status == ReviewStatus::ChangesRequested && !cx.core.reviews().deliver_soon(id).await? {
        let warning = "No agent in its work tree can receive the comments; they are kept";
        return Ok(reply.with("warning", warning));
    }
    Ok(reply)
}

pub(crate) async fn list(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let session = match filled(&payload, "session") {
        Some(query) => Some(ids::resolve(&cx.core, query)?.id),
        None => None,
    };
    let reviews = cx.core.reviews().list();
    let wanted = reviews
        .iter()
        .filter(|one| session.is_none_or(|session| one.place.session() == Some(session)));
    Ok(listed(&wanted.map(ReviewRequest::from).collect::<Vec<_>>()))
}
