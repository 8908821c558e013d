//! Names of items: each is used once in its thread.

use std::collections::HashMap;

use rookery_model::{ItemId, TurnId};

/// Hands out names, with `-2`, `-3` … behind those that were used before.
#[derive(Clone, Debug)]
pub(super) struct Names {
    turn: TurnId,
    /// The number that the next use of a name gets.
    next: HashMap<String, u32>,
}

impl Names {
    pub(super) fn new(turn: TurnId, used: &[String]) -> Self {
        let mut names = Names { turn, next: HashMap::new() };
        for name in used {
            names.next.insert(name.clone(), 2);
        }
        names
    }

    /// The name of an item of this turn, such as `<turn>-user`.
    pub(super) fn of_turn(&mut self, family: &str) -> ItemId {
        self.unique(format!("{}-{family}", self.turn))
    }

    /// The name of a tool's item: that of the call.
    pub(super) fn of_call(&mut self, call_id: &str) -> ItemId {
        let base = if call_id.is_empty() { "call" } else { call_id };
        self.unique(base.to_owned())
    }

    fn unique(&mut self, base: String) -> ItemId {
        let mut name = base.clone();
        loop {
            match self.next.get(&name).copied() {
                None => {
                    self.next.insert(name.clone(), 2);
                    return ItemId::new(name);
                }
                Some(_) => {
                    let number = self.next.entry(base.clone()).or_insert(2);
                    name = format!("{base}-{number}");
                    *number += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_given_twice() {
        let used = ["a".to_owned(), "a-2".to_owned()];
        let mut names = Names::new(TurnId::new(0), &used);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..3 {
            for call in ["a", "a-2", "a-2-2", "", "b"] {
                let name = names.of_call(call);
                assert!(!used.contains(&name.as_str().to_owned()));
                assert!(seen.insert(name));
            }
        }
        let turn = "00000000-0000-0000-0000-000000000000";
        assert_eq!(names.of_turn("user").as_str(), format!("{turn}-user"));
        assert_eq!(names.of_turn("user").as_str(), format!("{turn}-user-2"));
    }
}
