//! Keys that callers lend for their own turns: neither stored nor used for other callers, and forgotten
//! with the last turn that uses them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::settings::Secret;

/// All keys that are lent now, so that they can be kept out of what is shown.
#[derive(Clone, Default)]
pub(crate) struct Loans(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    next: u64,
    keys: HashMap<u64, Secret>,
}

/// A key that is lent for a while. Showing it does not show the key.
#[derive(Clone)]
pub struct Loan(Arc<Lent>);

struct Lent {
    provider: String,
    variable: Option<String>,
    key: Secret,
    number: u64,
    loans: Loans,
}

/// The keys that one caller lends by now. Clones share them.
#[derive(Clone, Default)]
pub struct KeyRing(Arc<Mutex<Vec<Loan>>>);

impl KeyRing {
    /// Takes a key in place of the one that was lent for the same before.
    pub fn add(&self, key: Loan) {
        let mut keys = self.0.lock();
        keys.retain(|known| {
            (known.provider(), known.variable()) != (key.provider(), key.variable())
        });
        keys.push(key);
    }

    /// All of them.
    pub fn keys(&self) -> Vec<Loan> {
        self.0.lock().clone()
    }
}

impl Loans {
    pub(crate) fn lend(&self, provider: String, variable: Option<String>, key: Secret) -> Loan {
        let mut state = self.0.lock();
        let number = state.next;
        state.next += 1;
        state.keys.insert(number, key.clone());
        Loan(Arc::new(Lent { provider, variable, key, number, loans: self.clone() }))
    }

    /// Every key that is lent now.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.0.lock().keys.values().map(|key| key.expose().to_owned()).collect()
    }
}

impl Loan {
    /// The provider that the key is for.
    pub fn provider(&self) -> &str {
        &self.0.provider
    }

    /// The variable that a provider that is a program finds it in.
    pub fn variable(&self) -> Option<&str> {
        self.0.variable.as_deref()
    }

    pub(crate) fn key(&self) -> &Secret {
        &self.0.key
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.loans.0.lock().keys.remove(&self.number);
    }
}

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loan").field(&self.0.provider).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_only_while_it_is_lent_and_never_shown() {
        let loans = Loans::default();
        let one = loans.lend("openai".to_owned(), None, Secret::new("sk-one"));
        let other = one.clone();
        let two = loans.lend("openai".to_owned(), None, Secret::new("sk-two"));
        assert!(!format!("{one:?}").contains("sk-"), "{one:?}");
        drop(one);
        drop(two);
        assert_eq!(loans.keys(), ["sk-one"]);
        drop(other);
        assert!(loans.keys().is_empty());
    }
}
