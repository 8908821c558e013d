//! Which of the options that an agent offers means what was decided.

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, SelectedPermissionOutcome,
};

/// The kinds of an answer, the narrower one first: what is decided here is decided once.
const ALLOW: [PermissionOptionKind; 2] =
    [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways];
const REJECT: [PermissionOptionKind; 2] =
    [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways];

/// The answer to an agent. Without a fitting option the question is called off, which allows nothing.
pub(super) fn outcome(options: &[PermissionOption], is_allowed: bool) -> RequestPermissionOutcome {
    let kinds = if is_allowed { ALLOW } else { REJECT };
    let fitting = kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
    match fitting {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
            option.option_id.clone(),
        )),
        None => RequestPermissionOutcome::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(kinds: &[(&'static str, PermissionOptionKind)], is_allowed: bool) -> Option<String> {
        let option = |(id, kind): &(&'static str, PermissionOptionKind)| {
            PermissionOption::new(*id, "any name", *kind)
        };
        let options: Vec<PermissionOption> = kinds.iter().map(option).collect();
        match outcome(&options, is_allowed) {
            RequestPermissionOutcome::Selected(selected) => Some(selected.option_id.to_string()),
            _ => None,
        }
    }

    #[test]
    fn an_answer_is_for_once_if_it_can_be() {
        use PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
        let all = [("aa", AllowAlways), ("ra", RejectAlways), ("a", AllowOnce), ("r", RejectOnce)];
        assert_eq!(chosen(&all, true).as_deref(), Some("a"));
        assert_eq!(chosen(&all, false).as_deref(), Some("r"));
        assert_eq!(chosen(&all[..2], true).as_deref(), Some("aa"));
        assert_eq!(chosen(&[("a", AllowOnce)], false), None);
        assert_eq!(chosen(&[("r", RejectOnce)], true), None);
    }
}
