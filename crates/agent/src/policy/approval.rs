//! What an approval binds: exactly the command that was shown, where it was to run and with what
//! environment. Anything else has to be asked for again.

use std::collections::VecDeque;
use std::path::PathBuf;

use rookery_model::Asked;

/// Approvals that are remembered for one thread. The oldest is forgotten first.
const MAX_REMEMBERED: usize = 256;

/// What was approved, to the last byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    tool: String,
    call: BoundCall,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum BoundCall {
    Command { argv: Vec<String>, cwd: PathBuf, env: Vec<(String, Option<String>)> },
    Call { input: String, cwd: PathBuf },
}

impl Bound {
    /// What is asked for, as something to compare with. None if it is no approval.
    ///
    /// For a command that is argv, directory and environment; for any other call its arguments.
    pub fn of(tool: &str, asked: &Asked) -> Option<Self> {
        let Asked::Approval { input, argv, cwd, env, .. } = asked else { return None };
        let call = if argv.is_empty() {
            BoundCall::Call { input: input.clone(), cwd: cwd.clone() }
        } else {
            let mut env = env.clone();
            env.sort();
            BoundCall::Command { argv: argv.clone(), cwd: cwd.clone(), env }
        };
        Some(Self { tool: tool.to_owned(), call })
    }
}

/// What a user said may be done again without asking.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    bounds: VecDeque<Bound>,
}

impl Remembered {
    /// Remembers an approval.
    pub fn insert(&mut self, bound: Bound) {
        if self.covers(&bound) {
            return;
        }
        if self.bounds.len() == MAX_REMEMBERED {
            self.bounds.pop_front();
        }
        self.bounds.push_back(bound);
    }

    /// Whether exactly this was approved.
    pub fn covers(&self, bound: &Bound) -> bool {
        self.bounds.contains(bound)
    }
}

#[cfg(test)]
mod tests {
    use rookery_model::ToolKind;

    use super::*;

    fn bound(tool: &str, argv: &[&str], cwd: &str, env: &[(&str, Option<&str>)]) -> Bound {
        let asked = Asked::Approval {
            kind: ToolKind::Exec,
            reason: String::new(),
            input: "{}".into(),
            argv: argv.iter().map(ToString::to_string).collect(),
            cwd: cwd.into(),
            env: env.iter().map(|(k, v)| ((*k).to_owned(), v.map(str::to_owned))).collect(),
            preview: None,
        };
        Bound::of(tool, &asked).unwrap()
    }

    #[test]
    fn only_the_very_same_is_covered() {
        let mut remembered = Remembered::default();
        let env = [("A", Some("1")), ("B", None)];
        remembered.insert(bound("shell", &["make", "x"], "/w", &env));
        let turned = [("B", None), ("A", Some("1"))];
        assert!(remembered.covers(&bound("shell", &["make", "x"], "/w", &turned)));
        for other in [
            bound("exec_command", &["make", "x"], "/w", &env),
            bound("shell", &["make", "x", "y"], "/w", &env),
            bound("shell", &["make x"], "/w", &env),
            bound("shell", &["make", "x"], "/w/sub", &env),
            bound("shell", &["make", "x"], "/w", &[("A", Some("2")), ("B", None)]),
            bound("shell", &["make", "x"], "/w", &[("A", Some("1")), ("B", Some(""))]),
            bound("shell", &["make", "x"], "/w", &[]),
            bound("shell", &[], "/w", &env),
        ] {
            assert!(!remembered.covers(&other), "{other:?}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut remembered = Remembered::default();
        for n in 0..=MAX_REMEMBERED {
            remembered.insert(bound("shell", &["make", &n.to_string()], "/w", &[]));
        }
        assert_eq!(remembered.bounds.len(), MAX_REMEMBERED);
        assert!(!remembered.covers(&bound("shell", &["make", "0"], "/w", &[])));
    }
}
