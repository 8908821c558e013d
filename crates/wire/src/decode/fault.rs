//! What is wrong with a document, and where.

use std::fmt::{self, Write as _};

use serde::de::{self, Expected, Unexpected};

/// Where a value stands in its document.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'p> {
    Root,
    /// A member of an object, or what a variant of an enum carries.
    Member(&'p Place<'p>, &'p str),
    Element(&'p Place<'p>, usize),
}

/// Why a document was refused. It is small, because every decoded value could be one.
#[derive(Debug)]
pub struct Fault(Box<Inner>);

#[derive(Debug)]
struct Inner {
    message: String,
    path: String,
    depth: usize,
}

impl Fault {
    #[cold]
    pub(super) fn new(message: impl fmt::Display) -> Self {
        Self(Box::new(Inner { message: message.to_string(), path: String::new(), depth: 0 }))
    }

    /// The words of a decoder that counts lines, without its position: the peer never sees our line of text.
    #[cold]
    pub(super) fn of(error: &serde_json::Error) -> Self {
        let full = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        Self::new(full.strip_suffix(&position).unwrap_or(&full))
    }

    /// Says where the fault is, unless that is known more exactly.
    #[cold]
    pub(super) fn at(mut self, place: &Place<'_>) -> Self {
        if self.0.depth == 0 {
            self.0.depth = place.write(&mut self.0.path);
        }
        self
    }

    /// What is wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where, such as `files[2].path`; empty if it is the document itself.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// How many steps the path has.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.0.depth
    }
}

impl Place<'_> {
    /// Appends the path, and counts its steps.
    fn write(&self, path: &mut String) -> usize {
        match self {
            Place::Root => 0,
            Place::Member(parent, name) => {
                let depth = parent.write(path);
                if depth > 0 {
                    path.push('.');
                }
                path.push_str(name);
                depth + 1
            }
            Place::Element(parent, index) => {
                let depth = parent.write(path);
                // Writing to a string cannot fail.
                let _ = write!(path, "[{index}]");
                depth + 1
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.depth() {
            0 => f.write_str(self.message()),
            _ => write!(f, "{}: {}", self.path(), self.message()),
        }
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message)
    }

    #[cold]
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format_args!("invalid type: {}, expected {expected}", Json(unexpected)))
    }

    #[cold]
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format_args!("invalid value: {}, expected {expected}", Json(unexpected)))
    }
}

/// A value that was not expected, named as JSON has it.
struct Json<'a>(Unexpected<'a>);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Unit => f.write_str("null"),
            Unexpected::Float(value) => match serde_json::Number::from_f64(value) {
                Some(number) => write!(f, "floating point `{number}`"),
                None => write!(f, "floating point `{value}`"),
            },
            other => fmt::Display::fmt(&other, f),
        }
    }
}
