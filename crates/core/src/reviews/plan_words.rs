//! What agents receive about their plans.

use rookery_changes::SHOWN_LINES;
use rookery_model::{Hunk, LineKind, ReviewedPlan, ReviewedStep};

use super::plan_stages::Drafted;
use super::plan_text;
use super::plans::BlockedEdit;

/// What a comment begins with.
const COMMENT: &str = "Plan review comment: ";
/// Lines of a hunk that are quoted.
const HUNK_LINES: usize = 40;

/// A comment, with the text that it is about.
pub(super) fn comment(body: &str, anchored: Option<&str>) -> String {
    match anchored {
        Some(anchored) => format!("{COMMENT}{body}\n\nThis is about {anchored}"),
        None => format!("{COMMENT}{body}"),
    }
}

/// A plan that took the place of the agent's own.
pub(super) fn rewritten(markdown: &str) -> String {
    format!("Plan review: the plan was rewritten. Follow this one instead of yours:\n\n{markdown}")
}

/// A blocked change that was allowed while nothing waited for that.
pub(super) fn approved_later(plan: &ReviewedPlan) -> String {
    let title = &plan.title;
    format!(
        "Plan review approved: {title}. The mode is still plan; present the plan with \
         exit_plan_mode to leave it before you make the change."
    )
}

/// A plan that may not be carried out.
pub(super) fn rejected(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("Plan review rejected: {reason}"),
        None => "Plan review rejected.".to_owned(),
    }
}

/// A file, or lines of it.
pub(super) fn lines_of(path: &str, first: Option<u32>, last: Option<u32>) -> String {
    match (first, last) {
        (Some(first), Some(last)) if last > first => format!("{path}, lines {first} to {last}"),
        (Some(line), _) | (None, Some(line)) => format!("{path}, line {line}"),
        (None, None) => path.to_owned(),
    }
}

/// A hunk, as the lines of a diff.
pub(super) fn hunk(hunk: &Hunk) -> String {
    let line = |line: &rookery_model::HunkLine| {
        let sign = match line.kind {
            LineKind::Context => ' ',
            LineKind::Added => '+',
            LineKind::Removed => '-',
        };
        format!("{sign}{}", line.text.trim_end_matches(['\r', '\n']))
    };
    let lines = hunk.edit.lines.iter().take(HUNK_LINES.min(SHOWN_LINES)).map(line);
    let lines: Vec<String> = lines.collect();
    format!("your change of {}:\n{}", hunk.edit.path, plan_text::quoted(&lines.join("\n")))
}

/// The plan that a change amounts to which was blocked.
pub(super) fn blocked(edit: &BlockedEdit) -> Drafted {
    let files = match edit.paths.is_empty() {
        true => "files".to_owned(),
        false => edit.paths.join(", "),
    };
    let title = plan_text::title(&format!("{} of {files}", edit.tool));
    let diff = edit.preview.as_deref().unwrap_or_default();
    let markdown = match diff.is_empty() {
        true => format!("The tool `{}` was called in plan mode and blocked.\n", edit.tool),
        false => {
            let end = if diff.ends_with('\n') { "" } else { "\n" };
            format!(
                "The tool `{}` was called in plan mode and blocked. It would change:\n\n\
                 ```diff\n{diff}{end}```\n",
                edit.tool
            )
        }
    };
    let step = ReviewedStep {
        id: "step-1".to_owned(),
        title: title.clone(),
        detail: None,
        is_done: false,
    };
    Drafted { title, markdown, steps: vec![step] }
}
