//! Typed ids. One macro mints them all, so that no id can be passed for another.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

/// Declares a number-backed id that is never reused.
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// Wraps a raw number, as read from the store or parsed from a wire.
            pub const fn new(raw: u64) -> Self {
                Self(raw)
            }

            /// The raw number.
            pub const fn get(self) -> u64 {
                self.0
            }

            /// The id that follows this one.
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIntError;
            fn from_str(text: &str) -> Result<Self, ParseIntError> {
                text.parse().map(Self)
            }
        }
    };
}

id_type! {
    /// A project: a named group of terminals with a directory.
    ProjectId
}
id_type! {
    /// A live or finished terminal. Each dialect spells it in its own way.
    TerminalId
}
id_type! {
    /// The number of an event in the durable log. The first event is 1.
    EventSeq
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_and_parse_as_plain_numbers() {
        let id: TerminalId = "42".parse().unwrap();
        assert_eq!(id, TerminalId::new(42));
        assert_eq!(id.next().to_string(), "43");
        assert!("-1".parse::<ProjectId>().is_err());
        assert!("".parse::<EventSeq>().is_err());
    }
}
