//! Enums without fields as they are stored: each value is its word, as the model's tables have it.

use std::borrow::Cow;

use rookery_model::{self as model, Words};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A value that is stored as its word.
#[derive(Clone, Copy)]
pub(super) struct Word<T>(T);

impl<T: Words> Word<T> {
    pub(super) fn of(value: T) -> Self {
        Self(value)
    }

    pub(super) fn into_model(self) -> T {
        self.0
    }
}

impl<T: Words> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.word())
    }
}

impl<'de, T: Words> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<'de, str>::deserialize(deserializer)?;
        let value = T::from_word(&word).map(Self);
        value.ok_or_else(|| de::Error::custom(format_args!("unknown word `{word}`")))
    }
}

pub(super) type ProfileJson = Word<model::Profile>;
pub(super) type ModeJson = Word<model::Mode>;
pub(super) type DecisionVerdictJson = Word<model::DecisionVerdict>;
pub(super) type DecisionSourceJson = Word<model::DecisionSource>;
pub(super) type ToolKindJson = Word<model::ToolKind>;
pub(super) type GoalStatusJson = Word<model::GoalStatus>;
pub(super) type PlanStepStatusJson = Word<model::PlanStepStatus>;
pub(super) type TaskStateJson = Word<model::TaskState>;
pub(super) type FateJson = Word<model::Fate>;
pub(super) type LostJson = Word<model::Lost>;
pub(super) type LifetimeJson = Word<model::Lifetime>;
pub(super) type LogStreamJson = Word<model::LogStream>;
pub(super) type TurnStatusJson = Word<model::TurnStatus>;
pub(super) type TurnErrorKindJson = Word<model::TurnErrorKind>;
pub(super) type ItemStatusJson = Word<model::ItemStatus>;
pub(super) type LaneJson = Word<model::Lane>;
pub(super) type ChildExitJson = Word<model::ChildExit>;
pub(super) type TraceStatusJson = Word<model::TraceStatus>;
pub(super) type FileOperationJson = Word<model::FileOperation>;
pub(super) type FileStatusJson = Word<model::FileStatus>;
pub(super) type LineKindJson = Word<model::LineKind>;
pub(super) type PlanStageJson = Word<model::PlanStage>;
pub(super) type ReachJson = Word<model::Reach>;
pub(super) type ToolSortJson = Word<model::ToolSort>;
pub(super) type CategoryJson = Word<model::Category>;
pub(super) type SourceJson = Word<model::Source>;
pub(super) type TestStatusJson = Word<model::TestStatus>;
pub(super) type ReviewStatusJson = Word<model::ReviewStatus>;
pub(super) type CheckpointSourceJson = Word<model::CheckpointSource>;
pub(super) type HandoffStatusJson = Word<model::HandoffStatus>;
pub(super) type TimelineKindJson = Word<model::TimelineKind>;
