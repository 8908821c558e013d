//! `rookery review`: changes of agents, looked at, commented on and decided.

use std::io::Read as _;

use rookery_native::wire::{
    Checkpoint, CheckpointCreate, CheckpointDiff, CheckpointDiffed, NewComment, Review,
    ReviewAddComments, ReviewDeliver, ReviewGet, ReviewList, ReviewRequest, ReviewSetStatus,
    ReviewStatus, Reviews,
};
use rookery_view::safe;
use rookery_wire::Client;

use super::checkpoint::{files, sum};
use crate::{
    args::{self, ReviewAction},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::{self, ask},
    output::{self, Colors, Table, Tone, shorten, working},
    talk::{
        age, patch,
        requests::short_id,
        sessions::{self, SessionTarget},
    },
};

/// What to do when a review is not found.
const SEE: &str = "run `rookery review list --all` to list reviews";
/// The hint when no agent can receive the comments.
const NAME_ONE: &str = "choose a session with --to; `rookery idx0 list-sessions` lists them";
/// Columns of a summary.
const SUMMARY_WIDTH: usize = 56;
/// The longest comment that is read from stdin.
const MAX_TEXT: u64 = 64 << 10;

pub(super) async fn run(action: ReviewAction) -> Outcome {
    let client = match action {
        ReviewAction::Request(_) => daemon_process::connect_or_start().await?,
        _ => link::connect().await?,
    };
    match action {
        ReviewAction::List(args) => list(&client, args).await,
        ReviewAction::Show(args) => show(&client, args).await,
        ReviewAction::Request(args) => request(&client, args).await,
        ReviewAction::Comment(args) => comment(&client, args).await,
        ReviewAction::Approve(args) => set(&client, args, ReviewStatus::Approved).await,
        ReviewAction::Changes(args) => changes(&client, args).await,
        ReviewAction::Deliver(args) => deliver(&client, args).await,
        ReviewAction::Defer(args) => set(&client, args, ReviewStatus::Deferred).await,
    }
}

/// Where a review stands, in a word.
pub(crate) fn status(status: ReviewStatus) -> (Tone, &'static str) {
    match status {
        ReviewStatus::Open => (Tone::Warning, "open"),
        ReviewStatus::Approved => (Tone::Good, "approved"),
        ReviewStatus::ChangesRequested => (Tone::Bad, "changes"),
        ReviewStatus::Deferred => (Tone::Faint, "deferred"),
    }
}

async fn list(client: &Client, args: args::ReviewList) -> Outcome {
    let tree = sessions::directory(args.tree.as_deref())?;
    let params = ReviewList { session: args.session, tree, status: None };
    let mut list: Reviews = ask(client, params, sessions::SEE).await?;
    if !args.all {
        list.reviews.retain(|review| review.status != ReviewStatus::Approved);
    }
    if args.json {
        output::json(&list)?;
    } else if list.reviews.is_empty() {
        output::note("nothing to review");
    } else {
        let table = table(&list.reviews, age::now());
        table.print()?;
    }
    done()
}

fn table(all: &[Review], now: i64) -> Table {
    let mut table = Table::new(&["ID", "STATUS", "AGE", "CHANGES", "COMMENTS", "SUMMARY"]);
    let ids = all.iter().map(|one| &*one.id);
    for one in all {
        let (tone, word) = status(one.status);
        table.row(vec![
            (Tone::Strong, short_id(&one.id, ids.clone()).to_owned()),
            (tone, word.to_owned()),
            (Tone::Faint, age::since_text(&one.created_at, now)),
            (Tone::Faint, sum(&one.differences)),
            (Tone::Faint, one.comments.len().to_string()),
            (Tone::Plain, shorten(&safe::line(&one.summary), SUMMARY_WIDTH)),
        ]);
    }
    table
}

async fn show(client: &Client, args: args::IdArg) -> Outcome {
    let params = ReviewGet { id: args.id };
    let review: Review = ask(client, params, SEE).await?;
    let diff = match review.checkpoint.clone() {
        Some(id) => working("comparing", changes_of(client, id)).await.ok(),
        None => None,
    };
    if args.json {
        let mut value = serde_json::to_value(&review).unwrap_or_default();
        if let Some(diff) = &diff {
            value["patch"] = diff.patch.clone().into();
            value["cut"] = diff.cut.into();
        }
        output::json(&value)?;
        return done();
    }
    let colors = Colors::of_stdout();
    output::write(patch::painted(&lines(&review, diff.as_ref()), colors).as_bytes())?;
    done()
}

/// What the checkpoint of a review changes.
pub(crate) async fn changes_of(client: &Client, id: String) -> Outcome<CheckpointDiffed> {
    let params = CheckpointDiff { id, with: Some("head".to_owned()) };
    ask(client, params, SEE).await
}

/// A review with its changes and comments, line by line.
pub(crate) fn lines(review: &Review, diff: Option<&CheckpointDiffed>) -> Vec<patch::Line> {
    let (tone, word) = status(review.status);
    let mut lines = vec![
        (Tone::Strong, safe::line(&review.summary)),
        (Tone::Faint, format!("review {}, {}", safe::line(&review.id), sum(&review.differences))),
        (tone, word.to_owned()),
    ];
    if let Some(plan) = &review.plan {
        lines.push((Tone::Faint, format!("plan, {}", plan.stage)));
        lines.push((Tone::Plain, String::new()));
        let text = safe::text(&plan.markdown);
        lines.extend(text.lines().map(|line| (Tone::Plain, line.to_owned())));
    }
    if let Some(tests) = &review.differences.tests {
        lines.push((Tone::Plain, format!("tests: {}", safe::line(&tests.text))));
    }
    lines.extend(files(&review.differences).lines().map(|line| (Tone::Plain, line.to_owned())));
    lines.push((Tone::Plain, String::new()));
    let patch = diff.map_or("", |diff| &*diff.patch);
    lines.extend(patch::lines(patch, &review.comments));
    match diff {
        None => lines
            .push((Tone::Faint, "there is no checkpoint whose changes could be shown".to_owned())),
        Some(diff) if diff.cut => {
            lines.push((Tone::Faint, "the patch is truncated".to_owned()));
        }
        Some(_) => {}
    }
    lines
}

async fn request(client: &Client, args: args::ReviewRequest) -> Outcome {
    let SessionTarget { session, tree } = sessions::choose(client, &args.place).await?;
    let summary = Some(args.summary.join(" ")).filter(|text| !text.is_empty());
    let checkpoint = match args.checkpoint {
        Some(id) => id,
        None => {
            let params = CheckpointCreate {
                session: session.clone(),
                tree: tree.clone(),
                title: Some("For review".to_owned()),
                summary: summary.clone(),
                review: false,
            };
            let making = ask(client, params, sessions::SEE);
            let made: Checkpoint = working("taking a checkpoint", making).await?;
            made.id
        }
    };
    let params = ReviewRequest { session, tree, checkpoint: Some(checkpoint), summary };
    let review: Review = ask(client, params, sessions::SEE).await?;
    if args.json {
        output::json(&review)?;
    } else {
        output::line(&review.id)?;
    }
    done()
}

async fn comment(client: &Client, args: args::ReviewComment) -> Outcome {
    let text = words(args.text)?;
    let comment = NewComment { path: args.file, line: args.line, text };
    let review = add_comments(client, args.target.id, vec![comment]).await?;
    print_review(&review, args.target.json, "commented on")
}

async fn add_comments(client: &Client, id: String, comments: Vec<NewComment>) -> Outcome<Review> {
    let params = ReviewAddComments { id, comments };
    ask(client, params, SEE).await
}

async fn changes(client: &Client, args: args::ReviewChanges) -> Outcome {
    let mut id = args.target.id;
    if !args.text.is_empty() {
        let comment = NewComment { path: None, line: None, text: words(args.text)? };
        id = add_comments(client, id, vec![comment]).await?.id;
    }
    let review = settle(client, id, ReviewStatus::ChangesRequested).await?;
    let (review, untold) = deliver_to_agent(client, review).await;
    print_review(&review, args.target.json, "requested changes in")?;
    if let Some(reason) = untold {
        output::note(format!(
            "the review was saved, but its comments were not delivered: {reason}"
        ));
        output::note(format!(
            "deliver them with `rookery review deliver {} --to SESSION`",
            review.id
        ));
    }
    done()
}

/// Delivers the comments to the agent of a work tree, or returns the reason why not. Sessions get
/// theirs from the daemon itself.
async fn deliver_to_agent(client: &Client, review: Review) -> (Review, Option<String>) {
    let is_news = review.comments.iter().any(|comment| !comment.delivered);
    if review.session.is_some() || !is_news {
        return (review, None);
    }
    let params = ReviewDeliver { id: review.id.clone(), to: None };
    let telling = ask(client, params, SEE);
    match working("delivering the comments", telling).await {
        Ok(delivered) => (delivered, None),
        Err(failure) => (review, Some(safe::line(failure.message()))),
    }
}

async fn settle(client: &Client, id: String, status: ReviewStatus) -> Outcome<Review> {
    ask(client, ReviewSetStatus { id, status }, SEE).await
}

async fn set(client: &Client, args: args::IdArg, status: ReviewStatus) -> Outcome {
    let review = settle(client, args.id, status).await?;
    let word = match status {
        ReviewStatus::Open => "reopened",
        ReviewStatus::Approved => "approved",
        ReviewStatus::ChangesRequested => "requested changes in",
        ReviewStatus::Deferred => "deferred",
    };
    print_review(&review, args.json, word)
}

async fn deliver(client: &Client, args: args::ReviewDeliver) -> Outcome {
    let see = if args.to.is_some() { sessions::SEE } else { SEE };
    let params = ReviewDeliver { id: args.target.id, to: args.to };
    let telling = ask(client, params, see);
    let delivered: Outcome<Review> = working("delivering the comments", telling).await;
    let review = delivered.map_err(|failure| match failure.advice() {
        Some(_) => failure,
        None => failure.hint(NAME_ONE),
    })?;
    print_review(&review, args.target.json, "delivered")
}

fn print_review(review: &Review, json: bool, word: &str) -> Outcome {
    if json {
        output::json(review)?;
    } else {
        output::line(format!("{word} {}", review.id))?;
    }
    done()
}

/// Words joined by spaces, or what stdin has.
fn words(words: Vec<String>) -> Outcome<String> {
    if words.len() != 1 || words[0] != "-" {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_TEXT + 1).read_to_string(&mut text);
    read.map_err(Failure::doing("cannot read the text"))?;
    Ok(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn review() -> Review {
        serde_json::from_value(json!({
            "id": "r-7654321", "session": "s", "createdAt": "1970-01-01T00:01:00Z",
            "summary": "look\u{1b}[2J", "status": "changes_requested", "checkpoint": "c",
            "differences": {"files": [{"path": "x", "additions": 1, "deletions": 1, "status": "M"}],
                "additions": 1, "deletions": 1, "tests": {"status": "passed", "text": "12 passed"}},
            "comments": [{"path": "x", "line": 1, "text": "why", "at": "", "delivered": false}],
        }))
        .unwrap()
    }

    #[test]
    fn one_line_per_review() {
        expect![[r#"
            ID      STATUS   AGE  CHANGES        COMMENTS  SUMMARY
            654321  changes  2m   1 file, +1 -1  1         look[2J
        "#]]
        .assert_eq(&table(&[review()], 180).render(Colors::none(), None));
    }

    #[test]
    fn a_review_shows_its_changes_and_what_was_said() {
        let diff = CheckpointDiffed {
            id: "c".to_owned(),
            differences: Default::default(),
            patch: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            cut: true,
        };
        expect![[r#"
            look[2J
            review r-7654321, 1 file, +1 -1
            changes
            tests: 12 passed
              M     1     1  x

            diff --git a/x b/x
            --- a/x
            +++ b/x
            @@ -1 +1 @@
            -a
            +b
                ▸ why
            the patch is truncated
        "#]]
        .assert_eq(&patch::painted(&lines(&review(), Some(&diff)), Colors::none()));
    }
}
