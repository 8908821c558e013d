//! `rookery deny`: no to what an agent asks for.

use rookery_native::wire::AnswerRequest;

use crate::{
    args,
    failure::Outcome,
    talk::settle::{answer_to, settle},
};

pub(super) async fn run(args: args::Deny) -> Outcome {
    let answer =
        AnswerRequest { approved: Some(false), message: args.message, ..answer_to(&args.target) };
    settle(&args.target, answer, "denied").await
}
