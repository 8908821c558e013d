//! What a row of a table asks of its caller. Rows say it as data; the server knows the caller.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// The least that a connection must be allowed for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// It only reads.
    Look,
    /// It answers what agents ask.
    Decide,
    /// It changes things.
    Full,
    /// It changes the daemon itself: its settings, providers and life.
    Own,
}

/// What programs that agents run may do with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agents {
    /// Call it.
    Allowed,
    /// Call it for what is their own; the operation checks its target.
    Own,
    /// Nothing.
    Refused,
}

/// What a row asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// The least that a connection must be allowed.
    pub needs: Needs,
    /// What programs that agents run may do with it.
    pub agents: Agents,
}

impl Rights {
    /// Reads.
    pub const LOOK: Self = Self { needs: Needs::Look, agents: Agents::Allowed };
    /// Says something about the caller's own session.
    pub const REPORT: Self = Self { needs: Needs::Full, agents: Agents::Own };
    /// Opens, or uses what the caller opened.
    pub const INSIDE: Self = Self { needs: Needs::Full, agents: Agents::Own };
    /// Decides for the person.
    pub const DECIDE: Self = Self { needs: Needs::Decide, agents: Agents::Refused };
    /// Changes what is the person's.
    pub const FULL: Self = Self { needs: Needs::Full, agents: Agents::Refused };
    /// Reads what is not redacted.
    pub const EXPOSE: Self = Self { needs: Needs::Decide, agents: Agents::Allowed };
    /// Changes the daemon.
    pub const OWN: Self = Self { needs: Needs::Own, agents: Agents::Refused };

    /// Whether a caller may call the row at all.
    #[must_use]
    pub fn admits(self, is_agent: bool) -> bool {
        !is_agent || self.agents != Agents::Refused
    }
}

/// The error for refused callers of a row.
#[must_use]
pub fn refusal(name: &str) -> String {
    format!("a program that an agent runs cannot call {name}: it is for the person")
}

/// What a connection is allowed by now. It can only become less; clones are of the same connection.
#[derive(Debug, Clone)]
pub struct Allowed(Arc<AtomicU8>);

impl Default for Allowed {
    fn default() -> Self {
        Self(Arc::new(AtomicU8::new(Needs::Own as u8)))
    }
}

impl Allowed {
    /// From now on no more than this is allowed.
    pub fn lower(&self, most: Needs) {
        self.0.fetch_min(most as u8, Ordering::AcqRel);
    }

    /// Whether something is allowed that needs this.
    #[must_use]
    pub fn admits(&self, needs: Needs) -> bool {
        needs as u8 <= self.0.load(Ordering::Acquire)
    }
}

/// What the person at the other end is called, once the connection has said so. Clones are of the same
/// connection.
#[derive(Debug, Clone, Default)]
pub struct Called(Arc<OnceLock<String>>);

impl Called {
    /// Says the name. Only the first one counts, and none that is empty.
    pub fn say(&self, name: &str) {
        if !name.is_empty() {
            self.0.get_or_init(|| name.to_owned());
        }
    }

    /// The name, or this one as long as none was said.
    #[must_use]
    pub fn or<'a>(&'a self, other: &'a str) -> &'a str {
        self.0.get().map_or(other, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_that_is_said_counts() {
        let called = Called::default();
        called.say("");
        assert_eq!(called.or("rookery"), "rookery");
        called.clone().say("Ada's phone");
        called.say("someone else");
        assert_eq!(called.or("rookery"), "Ada's phone");
    }

    #[test]
    fn what_is_allowed_only_becomes_less() {
        let allowed = Allowed::default();
        assert!(allowed.admits(Needs::Own));
        allowed.clone().lower(Needs::Decide);
        allowed.lower(Needs::Full);
        assert!(allowed.admits(Needs::Decide) && !allowed.admits(Needs::Full));
    }
}
