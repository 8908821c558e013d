//! What can go wrong in the store, and which SQLite failures mean what.

use std::path::{Path, PathBuf};

use rookery_model::{Error, ErrorKind, EventSeq};
use rusqlite::ErrorCode;
use thiserror::Error;

/// Why the store could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The database was written by a newer version. It was left alone.
    #[error(
        "the store {path} has format {found}, but this version knows only up to {known}: \
         run the newer version again, or move the file away to start afresh",
        path = path.display()
    )]
    TooNew {
        /// The database file.
        path: PathBuf,
        /// The format it has.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// The state directory or a file in it cannot be used at all.
    #[error("the store cannot use {path}: {reason}", path = path.display())]
    Unusable {
        /// The file or directory at fault.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Saving fails at present, for example because the disk is full. The batch stays queued.
    #[error("the store cannot save at present: {0}")]
    Unavailable(String),
    /// The changes of this batch contradict what is stored. Its events were saved, its changes were not.
    #[error("the store refused a change: {0}")]
    Refused(String),
    /// An event does not have the number that comes next. Nothing of the batch was queued.
    #[error("event {got} was given to the store where event {expected} comes next")]
    OutOfOrder {
        /// The number that comes next.
        expected: EventSeq,
        /// The number that came.
        got: EventSeq,
    },
    /// Reading failed.
    #[error("the store cannot be read: {0}")]
    Unreadable(String),
    /// The store was closed, or its writer ended, before this was saved.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    pub(crate) fn unusable(path: &Path, reason: impl ToString) -> Self {
        StoreError::Unusable { path: path.to_owned(), reason: reason.to_string() }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::Closed => ErrorKind::Closed,
            StoreError::Refused(_) | StoreError::OutOfOrder { .. } => ErrorKind::Internal,
            StoreError::TooNew { .. }
            | StoreError::Unusable { .. }
            | StoreError::Unavailable(_)
            | StoreError::Unreadable(_) => ErrorKind::Failed,
        };
        Error::new(kind, error.to_string())
    }
}

/// The SQLite failure inside, if the error is one.
fn failure(error: &rusqlite::Error) -> Option<rusqlite::ffi::Error> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => Some(*failure),
        rusqlite::Error::SqlInputError { error, .. } => Some(*error),
        _ => None,
    }
}

/// Whether an error met while opening says that the file, not the machine, is at fault.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    // Failed reads of a file that is there: a bad sector or a broken file system.
    const READ_FAILURES: [i32; 4] = [
        rusqlite::ffi::SQLITE_IOERR_READ,
        rusqlite::ffi::SQLITE_IOERR_SHORT_READ,
        rusqlite::ffi::SQLITE_IOERR_DATA,
        rusqlite::ffi::SQLITE_IOERR_CORRUPTFS,
    ];
    let Some(failure) = failure(error) else {
        // Everything that is not from SQLite itself is a value of an unexpected type or range.
        return true;
    };
    match failure.code {
        ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        // At open the SQL is fixed, so that an SQL error means a missing or foreign table.
        | ErrorCode::Unknown
        | ErrorCode::SchemaChanged
        | ErrorCode::TypeMismatch
        | ErrorCode::ConstraintViolation
        | ErrorCode::ReadOnly => true,
        ErrorCode::SystemIoFailure => READ_FAILURES.contains(&failure.extended_code),
        _ => false,
    }
}

/// Whether SQLite could not open a file; the caller finds out why.
pub(crate) fn is_cannot_open(error: &rusqlite::Error) -> bool {
    failure(error).is_some_and(|failure| failure.code == ErrorCode::CannotOpen)
}

/// Whether the same statement would fail again for ever, because of what was asked.
pub(crate) fn is_refusal(error: &rusqlite::Error) -> bool {
    match failure(error) {
        Some(failure) => matches!(
            failure.code,
            ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch
        ),
        None => matches!(error, rusqlite::Error::ToSqlConversionFailure(_)),
    }
}
