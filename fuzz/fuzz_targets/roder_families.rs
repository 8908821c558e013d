//! Params of the families beyond turns: in either spelling they fold into one document that folds no further,
//! and decode or are refused.
#![no_main]

use std::cell::LazyCell;

use libfuzzer_sys::fuzz_target;
use rookery_roder::casing::{Shape, fold};
use rookery_roder::wire::git::GitChangesReadParams;
use rookery_roder::wire::hunk::HunkRollbackParams;
use rookery_roder::wire::import::WorkflowEnableParams;
use rookery_roder::wire::marketplace::MarketplaceAddParams;
use rookery_roder::wire::media::ImageGenerateParams;
use rookery_roder::wire::memory::{MemoryQueryParams, MemorySaveParams};
use rookery_roder::wire::plan::PlanReviewCommentParams;
use rookery_roder::wire::runner::RunnersSelectParams;
use rookery_roder::wire::task::TasksSubmitParams;
use rookery_roder::wire::team::TeamStartParams;
use rookery_roder::wire::workflow::{WorkflowsPlanParams, WorkflowsScriptsReadParams};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Folds params and decodes them.
type Check = fn(&RawValue, &Shape);

macro_rules! shapes {
    ($($Params:ty),* $(,)?) => {
        vec![$((Shape::of::<$Params>(), check::<$Params> as Check)),*]
    };
}

thread_local! {
    static SHAPES: LazyCell<Vec<(Shape, Check)>> = LazyCell::new(|| {
        shapes![
            GitChangesReadParams,
            HunkRollbackParams,
            ImageGenerateParams,
            MarketplaceAddParams,
            MemoryQueryParams,
            MemorySaveParams,
            PlanReviewCommentParams,
            RunnersSelectParams,
            TasksSubmitParams,
            TeamStartParams,
            WorkflowEnableParams,
            WorkflowsPlanParams,
            WorkflowsScriptsReadParams,
        ]
    });
}

fuzz_target!(|input: &[u8]| {
    let Ok(params) = serde_json::from_slice::<&RawValue>(input) else { return };
    SHAPES.with(|shapes| shapes.iter().for_each(|(shape, check)| check(params, shape)));
});

fn check<T: DeserializeOwned>(params: &RawValue, shape: &Shape) {
    let Ok(folded) = fold(params, shape) else { return };
    let again = fold(&folded, shape).expect("what was folded has one spelling");
    assert_eq!(again.get(), folded.get());
    let _ = serde_json::from_str::<T>(folded.get());
}
