//! A plan as text: its title, its steps, and parts of it that are spoken of.

use rookery_model::{Plan, ReviewedStep};

/// The characters that are kept of a plan.
const MAX_CHARS: usize = 65_536;
/// What stands behind a plan that was cut.
const CUT: &str = "\n[truncated]";
/// Steps of a plan at most.
const MAX_STEPS: usize = 256;
/// The characters of a title.
const MAX_TITLE: usize = 120;
/// The characters of a part that is quoted.
const MAX_QUOTE: usize = 2_000;

/// The plan that an agent presents.
pub(super) fn markdown(plan: &Plan) -> String {
    let mut text = plan.summary.trim_end().to_owned();
    if !plan.next_steps.is_empty() {
        text.push_str("\n\n");
        for step in &plan.next_steps {
            // A step is one item, however it is written.
            let step = step.split_whitespace().collect::<Vec<_>>().join(" ");
            text.push_str(&format!("- {step}\n"));
        }
    }
    text
}

/// A text that is not too long to be kept.
pub(super) fn capped(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}{CUT}", &text[..end]),
    }
}

/// A plan in a few words: the first line that says something.
pub(super) fn title(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_start_matches(['#', ' ', '\t']).trim());
    let first = lines.into_iter().find(|line| !line.is_empty()).unwrap_or("Plan");
    first.chars().take(MAX_TITLE).collect()
}

/// The steps of a plan: the items of its lists, or else its headings of the second level.
pub(super) fn steps(text: &str) -> Vec<ReviewedStep> {
    let items = collect(text, item);
    let found = if items.is_empty() { collect(text, heading) } else { items };
    let step = |(index, (title, detail, is_done)): (usize, (String, String, bool))| ReviewedStep {
        id: format!("step-{}", index + 1),
        title,
        detail: Some(detail.trim().to_owned()).filter(|detail| !detail.is_empty()),
        is_done,
    };
    found.into_iter().take(MAX_STEPS).enumerate().map(step).collect()
}

/// Lines that begin a step, each with what follows it.
fn collect(text: &str, begins: fn(&str) -> Option<(&str, bool)>) -> Vec<(String, String, bool)> {
    let mut steps: Vec<(String, String, bool)> = Vec::new();
    let mut is_code = false;
    let mut is_inside = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        match begins(line).filter(|_| !is_code) {
            Some((title, is_done)) => {
                steps.push((title.to_owned(), String::new(), is_done));
                is_inside = true;
            }
            // A heading ends a list; what is set in belongs to the item.
            None if !is_code && line.starts_with('#') => is_inside = false,
            None => {
                if let Some((_, detail, _)) = steps.last_mut().filter(|_| is_inside) {
                    detail.push_str(line.trim());
                    detail.push('\n');
                }
            }
        }
    }
    steps
}

/// An item of a list that is not inside of another, and whether it is checked.
fn item(line: &str) -> Option<(&str, bool)> {
    let rest = match line.split_once(' ')? {
        ("-" | "*" | "+", rest) => rest,
        (number, rest) => {
            let digits = number.strip_suffix(['.', ')'])?;
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then_some(rest)?
        }
    };
    let rest = rest.trim();
    let boxed = |mark: &str| rest.strip_prefix(mark).map(str::trim_start);
    let (title, is_done) = match (boxed("[ ] "), boxed("[x] ").or_else(|| boxed("[X] "))) {
        (Some(title), _) => (title, false),
        (None, Some(title)) => (title, true),
        (None, None) => (rest, false),
    };
    (!title.is_empty()).then_some((title, is_done))
}

fn heading(line: &str) -> Option<(&str, bool)> {
    let title = line.strip_prefix("## ")?.trim();
    (!title.is_empty()).then_some((title, false))
}

/// Lines of a plan, from 1 on, both included; none if the plan has no such lines.
pub(super) fn lines(text: &str, first: u32, last: u32) -> Option<String> {
    let (first, last) = (first as usize, last as usize);
    let count = text.lines().count();
    if first == 0 || last < first || first > count {
        return None;
    }
    let wanted: Vec<&str> = text.lines().skip(first - 1).take(last - first + 1).collect();
    Some(wanted.join("\n"))
}

/// A part that is spoken of, as a quotation.
pub(super) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(MAX_QUOTE).collect();
    let mark = if short.len() < text.len() { "\n> [truncated]" } else { "" };
    let lines: Vec<String> = short.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n") + mark
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rookery_model::Mode;

    use super::*;

    fn titles(text: &str) -> Vec<(String, Option<String>, bool)> {
        let step = |step: ReviewedStep| (step.title, step.detail, step.is_done);
        steps(text).into_iter().map(step).collect()
    }

    #[test]
    fn steps_are_the_items_of_lists_or_else_headings() {
        let list = "# Plan\nFirst this.\n- one\n  more of one\n  - inner\n* [x] two\n\n3) three\n## End\nbye\n";
        assert_eq!(
            titles(list),
            [
                ("one".into(), Some("more of one\n- inner".into()), false),
                ("two".into(), None, true),
                ("three".into(), None, false),
            ]
        );
        let headings =
            "# Plan\n## Do it\nwith care\n### deep\n## Test it\n```\n## not one\n- nor this\n```\n";
        let found = titles(headings);
        assert_eq!((found[0].0.as_str(), found[0].1.as_deref()), ("Do it", Some("with care")));
        assert_eq!((found.len(), found[1].0.as_str()), (2, "Test it"));
        assert_eq!(titles("only words - and a dash"), []);
        assert_eq!(steps("- a\n- b")[1].id, "step-2");
    }

    #[test]
    fn the_plan_of_an_agent_has_its_next_steps_as_items() {
        let plan = |steps: &[&str]| Plan {
            target: Mode::Default,
            summary: "# Do it\n".into(),
            next_steps: steps.iter().map(|step| (*step).to_owned()).collect(),
        };
        assert_eq!(markdown(&plan(&[])), "# Do it");
        assert_eq!(markdown(&plan(&["first", "se\ncond"])), "# Do it\n\n- first\n- se cond\n");
        assert_eq!(title("\n## Do it\nx"), "Do it");
        assert_eq!(title(" "), "Plan");
    }

    #[test]
    fn parts_are_found_and_long_texts_are_cut() {
        assert_eq!(lines("a\nb\nc", 2, 9).as_deref(), Some("b\nc"));
        for (first, last) in [(0, 1), (4, 4), (2, 1)] {
            assert_eq!(lines("a\nb\nc", first, last), None);
        }
        assert_eq!(quoted("a\nb"), "> a\n> b");
        assert!(quoted(&"x".repeat(9000)).ends_with("\n> [truncated]"));
        let long = "é".repeat(MAX_CHARS + 1);
        assert_eq!(capped(&long).chars().count(), MAX_CHARS + CUT.len());
        assert_eq!(capped("short"), "short");
    }

    proptest! {
        #[test]
        fn any_text_has_steps(text in "([-*#0-9.) \\[\\]x`\n]|.){0,80}", first: u32, last: u32) {
            prop_assert!(steps(&text).len() <= MAX_STEPS);
            let _ = (title(&text), lines(&text, first, last), quoted(&text));
        }
    }
}
