//! `rookery approve`: yes to what an agent asks for.

use rookery_native::wire::AnswerRequest;

use crate::{
    args,
    failure::{Failure, Outcome},
    link,
    talk::{
        requests,
        settle::{answer_to, settle},
    },
};

pub(super) async fn run(args: args::Approve) -> Outcome {
    if !args.unseen {
        refuse_unseen(&args.target.id).await?;
    }
    let answer =
        AnswerRequest { approved: Some(true), remember: args.remember, ..answer_to(&args.target) };
    settle(&args.target, answer, "approved").await
}

/// What was shown in part is not approved by mistake for the whole. A request that is not there is
/// left to the answer itself, which knows how it was settled.
async fn refuse_unseen(id: &str) -> Outcome<()> {
    let client = link::connect().await?;
    let Ok(request) = requests::find(&client, id).await else { return Ok(()) };
    let Some(unseen) = &request.unseen else { return Ok(()) };
    let id = &request.id;
    let message = format!(
        "request {id} was not approved: its preview omits {} of {} characters",
        unseen.characters, unseen.of
    );
    Err(Failure::new(message).hint(format!(
        "read it in full with `rookery inbox show {id}`, then approve with --unseen"
    )))
}
