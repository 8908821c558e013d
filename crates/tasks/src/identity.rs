//! The names that follow from what a task is: its id, and the lane that it waits in.

use rookery_model::TaskId;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Who submits a task, and where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitter<'a> {
    pub cluster: &'a str,
    /// The group of nodes.
    pub space: &'a str,
    /// The one who submits it.
    pub by: &'a str,
}

/// The id of what a submitter calls `key`: the same key again is the same task.
#[must_use]
pub fn task_id(submitter: Submitter<'_>, key: &str) -> TaskId {
    let Submitter { cluster, space, by } = submitter;
    // Lengths keep the parts apart, whatever they contain.
    let parts = [cluster, space, by, key];
    let name: String = parts.iter().map(|part| format!("{}:{part},", part.len())).collect();
    TaskId::new(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).as_u128())
}

/// The lane of tasks with these needs: equal needs share one, in whatever order they are named.
#[must_use]
pub fn lane(needs: &[String]) -> String {
    let mut sorted: Vec<&str> = needs.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let digest = Sha256::digest(sorted.join("\n").as_bytes());
    let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("l{hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: Submitter<'_> = Submitter { cluster: "c", space: "pool", by: "alice" };

    #[test]
    fn the_same_key_is_the_same_task() {
        assert_eq!(task_id(ALICE, "nightly"), task_id(ALICE, "nightly"));
        assert_ne!(task_id(ALICE, "nightly"), task_id(Submitter { by: "bob", ..ALICE }, "nightly"));
        let moved = Submitter { space: "poolali", by: "ce", ..ALICE };
        assert_ne!(task_id(ALICE, "nightly"), task_id(moved, "nightly"));
        // Version 5, so that it differs from a random one.
        assert_eq!(task_id(ALICE, "x").to_string().as_bytes()[14], b'5');
    }

    #[test]
    fn equal_needs_share_a_lane() {
        let needs =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(lane(&needs(&["gpu", "repo:app"])), lane(&needs(&["repo:app", "gpu", "gpu"])));
        assert_ne!(lane(&needs(&["gpu"])), lane(&[]));
        assert_eq!(lane(&[]).len(), 17);
    }
}
