//! What a thread with an assignment may do: the stricter of policy and of what its client wants.

use rookery_agent::policy::unasked::{self, Call, Outcome};
use rookery_agent::policy::{Judgement, UNATTENDED, Verdict};
use rookery_model::Assignment;

/// What is done with a call that policy judged so. `unattended` means that no person can be asked.
pub(crate) fn stricter(
    judged: Judgement,
    assignment: &Assignment,
    call: &Call<'_>,
    unattended: bool,
) -> Judgement {
    if judged.verdict == Verdict::Deny {
        return judged;
    }
    let with = |verdict, reason: &str| Judgement {
        verdict,
        reason: reason.to_owned(),
        rule: None,
        ..judged.clone()
    };
    let refusal = assignment.role.as_ref().and_then(|role| unasked::refusal(role, call));
    if let Some(reason) = refusal {
        return with(Verdict::Deny, &reason);
    }
    match unasked::judge(&assignment.unasked, call) {
        Outcome::Approve => judged,
        Outcome::Ask(_) if unattended => with(Verdict::Deny, UNATTENDED),
        Outcome::Ask(reason) => with(Verdict::Ask, reason),
        Outcome::Deny(reason) => with(Verdict::Deny, reason),
    }
}

#[cfg(test)]
mod tests {
    use rookery_agent::policy::ASKED;
    use rookery_model::{Reach, Role, ToolKind, Unasked};

    use super::*;

    fn judged(verdict: Verdict) -> Judgement {
        Judgement { verdict, reason: ASKED.to_owned(), rule: Some("r".to_owned()), class: None }
    }

    fn call<'a>(command: Option<&'a str>) -> Call<'a> {
        let kind = if command.is_some() { ToolKind::Exec } else { ToolKind::Read };
        Call {
            tool: "x",
            kind,
            is_foreign: false,
            is_always_allowed: false,
            command,
            paths: Some(&[]),
        }
    }

    fn assignment(unasked: Unasked) -> Assignment {
        Assignment { unasked, ..Assignment::default() }
    }

    #[test]
    fn the_stricter_of_both_counts() {
        use Verdict::{Allow, Ask, AutoApprove, Deny};
        let reads = Unasked { is_on: true, reads: Reach::Workspace, ..Unasked::default() };
        let (approves, asks) = (assignment(reads), assignment(Unasked::default()));
        for verdict in [Allow, AutoApprove, Ask, Deny] {
            // Where the client lets it go ahead, policy decides.
            let result = stricter(judged(verdict), &approves, &call(None), false);
            assert_eq!(result, judged(verdict));
            let result = stricter(judged(verdict), &asks, &call(None), false);
            assert_eq!(result.verdict, if verdict == Deny { Deny } else { Ask });
            // The reason says who asks.
            assert_eq!(unasked::is_wanted(&result.reason), verdict != Deny, "{}", result.reason);
            let result = stricter(judged(verdict), &asks, &call(None), true);
            assert_eq!(result.verdict, Deny);
        }
        let denies = assignment(Unasked {
            is_on: true,
            commands: true,
            denied_commands: vec!["rm".into()],
            ..Unasked::default()
        });
        let result = stricter(judged(AutoApprove), &denies, &call(Some("rm x")), false);
        assert_eq!(result.verdict, Deny);
        assert_eq!(result.reason, "denied by the task's list of commands");
    }

    #[test]
    fn a_role_denies_what_it_has_no_tools_for() {
        let role = Role { name: "Thinker".into(), ..Role::default() };
        let limited = Assignment { role: Some(role), ..assignment(Unasked::default()) };
        let result = stricter(judged(Verdict::Allow), &limited, &call(None), false);
        assert_eq!(result.verdict, Verdict::Deny);
        assert_eq!(result.reason, "role Thinker has no tools to read files");
    }
}
