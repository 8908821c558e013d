//! Failures, in the words of this dialect.

use rookery_model as model;

use crate::envelope::Reply;

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

impl Failure {
    /// In these words.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Reply {
        Reply::failure(failure.0)
    }
}

impl From<model::Error> for Failure {
    fn from(error: model::Error) -> Self {
        Self(error.to_string())
    }
}
