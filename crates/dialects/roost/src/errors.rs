//! The errors of this dialect: stable codes, and the domain's errors in these codes. A new kind of
//! error does not compile until it has one.

use std::borrow::Cow;

use rookery_model as model;

/// Declares the codes with the words for them.
macro_rules! codes {
    ($( $(#[$doc:meta])* $code:ident = $word:literal, )*) => {
        /// Why a request failed, as a stable word.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $( $(#[$doc])* $code, )* }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$( Self::$code ),*];

            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$code => $word, )* }
            }
        }
    };
}

codes! {
    /// There is no such operation.
    UnknownOp = "unknown-op",
    /// The operation has no such param.
    UnknownField = "unknown-field",
    MissingParam = "missing-param",
    /// A param is wrong.
    InvalidParam = "invalid-param",
    /// The line is no request.
    ParseError = "parse-error",
    /// The line is too long.
    FrameTooLarge = "frame-too-large",
    /// A request with this id is at work.
    DuplicateId = "duplicate-id",
    /// The thing named does not exist.
    NotFound = "not-found",
    /// A fault of the server, or of the world around it.
    Internal = "internal",
    /// The operation needs test mode.
    NotEnabled = "not-enabled",
    /// The operation exists elsewhere.
    NotImplemented = "not-implemented",
}

/// What a request fails with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    code: Code,
    message: Cow<'static, str>,
}

impl Error {
    /// An error with this code and a message for people.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into() }
    }

    /// A param is wrong; the message names it.
    #[must_use]
    pub fn invalid(field: &str, message: impl AsRef<str>) -> Self {
        Self::new(Code::InvalidParam, format!("{field}: {}", message.as_ref()))
    }

    /// The thing named does not exist.
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// A fault of the server.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::Internal, message)
    }

    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// The text for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

fn code_of(kind: model::ErrorKind) -> Code {
    use model::ErrorKind;
    match kind {
        // A tab whose child is gone has no live terminal, and clients know one word for that.
        ErrorKind::NotFound | ErrorKind::Closed => Code::NotFound,
        ErrorKind::Invalid | ErrorKind::Conflict => Code::InvalidParam,
        ErrorKind::Denied => Code::NotEnabled,
        ErrorKind::Timeout | ErrorKind::Busy | ErrorKind::Failed | ErrorKind::Internal => {
            Code::Internal
        }
    }
}

impl From<model::Error> for Error {
    fn from(error: model::Error) -> Self {
        match error.field() {
            Some(field) => Self::invalid(field, error.message()),
            None => Self::new(code_of(error.kind()), error.message().to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_the_contract() {
        let words: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(
            words.join(" "),
            "unknown-op unknown-field missing-param invalid-param parse-error frame-too-large \
             duplicate-id not-found internal not-enabled not-implemented"
        );
    }

    #[test]
    fn the_field_at_fault_is_named() {
        let error = Error::from(model::Error::invalid("rows", "too many"));
        assert_eq!((error.code(), error.message()), (Code::InvalidParam, "rows: too many"));
        let error = Error::from(model::Error::closed("terminal 3 has ended"));
        assert_eq!((error.code(), error.message()), (Code::NotFound, "terminal 3 has ended"));
    }
}
