//! Reviews: asked for, looked at, commented on and settled.

use rookery_core::{NewComment, NewReview};
use rookery_model as model;

use super::named::{pick, place, session, session_filter, text_or, tree_filter};
use crate::{
    Cx, Error,
    wire::{
        Review, ReviewAddComments, ReviewDeliver, ReviewGet, ReviewList, ReviewRequest,
        ReviewSetStatus, Reviews,
    },
};

/// Bytes of one comment.
const MAX_COMMENT: usize = 64 << 10;

impl Cx {
    fn review_id(&self, text: &str) -> Result<model::ReviewId, Error> {
        pick("review", self.core.reviews().list().into_iter().map(|review| review.id), text)
    }
}

pub(crate) async fn list(cx: Cx, params: ReviewList) -> Result<Reviews, Error> {
    let session = session_filter(&cx.core, params.session.as_deref())?;
    let tree = tree_filter(&cx.core, params.tree.as_deref()).await?;
    let status = params.status.map(model::ReviewStatus::from);
    let reviews = cx.core.reviews().list();
    let wanted = reviews.iter().filter(|review| {
        session.is_none_or(|id| review.place.session() == Some(id))
            && (tree.as_deref()).is_none_or(|tree| {
                cx.core.sessions().is_about(&review.place, review.checkpoint, tree)
            })
            && status.is_none_or(|status| review.status == status)
    });
    Ok(Reviews { reviews: wanted.map(Review::from).collect() })
}

pub(crate) async fn get(cx: Cx, params: ReviewGet) -> Result<Review, Error> {
    let id = cx.review_id(&params.id)?;
    Ok(Review::from(&cx.core.reviews().get(id)?))
}

pub(crate) async fn request(cx: Cx, params: ReviewRequest) -> Result<Review, Error> {
    let (session, tree) = (params.session.as_deref(), params.tree.as_deref());
    let place = place(&cx.core, "session", session, tree).await?;
    let checkpoint = match &params.checkpoint {
        None => None,
        Some(text) => {
            let id = cx.checkpoint_id(text)?;
            Some(cx.core.checkpoints().get(id)?.id)
        }
    };
    let new = NewReview {
        place,
        checkpoint,
        summary: text_or(params.summary, "Review requested"),
        differences: model::Differences::default(),
    };
    Ok(Review::from(&cx.core.reviews().request(new).await?))
}

pub(crate) async fn comment(cx: Cx, params: ReviewAddComments) -> Result<Review, Error> {
    let id = cx.review_id(&params.id)?;
    if params.comments.is_empty() {
        return Err(Error::invalid("comments", "give at least one comment"));
    }
    let mut comments = Vec::with_capacity(params.comments.len());
    for comment in params.comments {
        let wrong = match (&comment.path, comment.line) {
            _ if comment.text.trim().is_empty() => Some("a comment must not be empty"),
            _ if comment.text.len() > MAX_COMMENT => Some("a comment must not be that long"),
            (None, Some(_)) => Some("a line needs the path of its file"),
            (_, Some(0)) => Some("lines are counted from 1"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(Error::invalid("comments", wrong));
        }
        comments.push(NewComment { path: comment.path, line: comment.line, text: comment.text });
    }
    Ok(Review::from(&cx.core.reviews().comment(id, comments, cx.author()).await?))
}

pub(crate) async fn set_status(cx: Cx, params: ReviewSetStatus) -> Result<Review, Error> {
    let id = cx.review_id(&params.id)?;
    let status = model::ReviewStatus::from(params.status);
    let review = cx.core.reviews().set_status(id, status, cx.by()).await?;
    if status == model::ReviewStatus::ChangesRequested {
        let _is_on_its_way = cx.core.reviews().deliver_soon(id).await?;
    }
    Ok(Review::from(&review))
}

pub(crate) async fn deliver(cx: Cx, params: ReviewDeliver) -> Result<Review, Error> {
    let id = cx.review_id(&params.id)?;
    let to = match &params.to {
        Some(word) => Some(session(&cx.core, "to", word)?.id),
        None => None,
    };
    Ok(Review::from(&cx.core.reviews().deliver(id, to).await?))
}
