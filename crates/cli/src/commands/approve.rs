//! `rookery approve`: yes to what an agent asks for.

use rookery_native::wire::AnswerRequest;

use crate::{
    args,
    failure::Outcome,
    talk::settle::{answer_to, settle},
};

pub(super) async fn run(args: args::Approve) -> Outcome {
    let answer =
        AnswerRequest { approved: Some(true), remember: args.remember, ..answer_to(&args.target) };
    settle(&args.target, answer, "approved").await
}
