//! `rookery audit`: what was decided, by whom or by which rule.

use rookery_native::wire::{Audit, AuditList, Decision, DecisionVerdict};
use rookery_view::safe;

use crate::{
    args::{self, Verdict},
    commands::done,
    failure::{Failure, Outcome},
    link::{self, call},
    output::{self, Table, Tone, shorten},
    talk::{age, show, threads},
};

/// Columns of what was to be done.
const SUBJECT_WIDTH: usize = 72;
/// The most the daemon gives at once.
const LARGEST_PAGE: usize = 1_000;

pub(super) async fn run(args: args::Audit) -> Outcome {
    let client = link::connect().await?;
    let thread = match &args.thread {
        Some(text) => Some(threads::find(&client, text).await?),
        None => None,
    };
    let since = args.since.as_deref().map(|text| moment(text, age::now())).transpose()?;
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut found: Vec<Decision> = Vec::new();
    let mut before = None;
    loop {
        let params = AuditList {
            since: since.clone(),
            thread: thread.clone(),
            by: args.by.clone(),
            verdict: args.verdict.map(verdict),
            before,
            limit: Some((limit - found.len()).min(LARGEST_PAGE)),
        };
        let mut page: Audit = call(&client, params).await?;
        before = page.before;
        page.decisions.append(&mut found);
        found = page.decisions;
        if before.is_none() || found.len() >= limit {
            break;
        }
    }
    if args.json {
        found.iter().try_for_each(output::json_line)?;
    } else if found.is_empty() {
        output::note("no decisions");
    } else {
        table(&found).print()?;
    }
    done()
}

fn verdict(verdict: Verdict) -> DecisionVerdict {
    match verdict {
        Verdict::Allowed => DecisionVerdict::Allowed,
        Verdict::RequiresApproval => DecisionVerdict::RequiresApproval,
        Verdict::AutoApproved => DecisionVerdict::AutoApproved,
        Verdict::Denied => DecisionVerdict::Denied,
        Verdict::Approved => DecisionVerdict::Approved,
        Verdict::Deferred => DecisionVerdict::Deferred,
        Verdict::ChangesRequested => DecisionVerdict::ChangesRequested,
        Verdict::AnsweredAtTerminal => DecisionVerdict::AnsweredAtTerminal,
        Verdict::Withdrawn => DecisionVerdict::Withdrawn,
    }
}

/// A moment as people write it: a time, a day, or how long ago.
fn moment(text: &str, now: i64) -> Outcome<String> {
    if let Ok(ago) = args::age(text) {
        let then = now.saturating_sub(i64::try_from(ago).unwrap_or(i64::MAX));
        let then = jiff::Timestamp::from_second(then).unwrap_or(jiff::Timestamp::MIN);
        return Ok(then.to_string());
    }
    if let Ok(then) = text.parse::<jiff::Timestamp>() {
        return Ok(then.to_string());
    }
    let here = jiff::tz::TimeZone::system();
    let local = text.parse::<jiff::civil::DateTime>().ok().and_then(|day| day.to_zoned(here).ok());
    local.map(|moment| moment.timestamp().to_string()).ok_or_else(|| {
        Failure::new(format!("{text:?} is not a time"))
            .hint("write 2026-03-01T12:00:00Z, 2026-03-01, or an age such as 90m, 12h or 30d")
            .code(2)
    })
}

fn table(all: &[Decision]) -> Table {
    let mut table = Table::new(&["TIME", "VERDICT", "BY", "THREAD", "TOOL", "WHAT", "WHY"]);
    for one in all {
        let (tone, word) = match one.verdict {
            DecisionVerdict::Allowed => (Tone::Good, "allowed"),
            DecisionVerdict::RequiresApproval => (Tone::Warning, "asked"),
            DecisionVerdict::AutoApproved => (Tone::Good, "auto-approved"),
            DecisionVerdict::Denied => (Tone::Bad, "denied"),
            DecisionVerdict::Approved => (Tone::Good, "approved"),
            DecisionVerdict::Deferred => (Tone::Faint, "deferred"),
            DecisionVerdict::ChangesRequested => (Tone::Bad, "changes"),
            DecisionVerdict::AnsweredAtTerminal => (Tone::Plain, "at terminal"),
            DecisionVerdict::Withdrawn => (Tone::Faint, "withdrawn"),
        };
        let why = one.rule.as_ref().map(|rule| format!("rule {rule}")).or(one.reason.clone());
        let second: String = one.at.chars().take(19).collect();
        table.row(vec![
            (Tone::Faint, second.replace('T', " ")),
            (tone, word.to_owned()),
            (Tone::Plain, safe::line(&one.by)),
            (Tone::Faint, one.thread.as_deref().map_or("-", show::short_id).to_owned()),
            (Tone::Plain, safe::line(&one.tool)),
            (Tone::Plain, shorten(&safe::line(&one.subject), SUBJECT_WIDTH)),
            (Tone::Faint, safe::line(&why.unwrap_or_default())),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::output::Colors;

    #[test]
    fn one_line_per_decision() {
        let one = |verdict: &str, rule: Option<&str>| -> Decision {
            serde_json::from_value(json!({
                "number": 1, "at": "2026-03-01T12:00:00.123456Z", "verdict": verdict, "by": "roder",
                "rule": rule, "reason": "because", "tool": "shell", "subject": "rm\u{1b}[2J x",
                "mode": "default", "source": "model",
            }))
            .unwrap()
        };
        expect![[r#"
            TIME                 VERDICT   BY     THREAD  TOOL   WHAT     WHY
            2026-03-01 12:00:00  approved  roder  -       shell  rm[2J x  because
            2026-03-01 12:00:00  asked     roder  -       shell  rm[2J x  rule no-rm
        "#]]
        .assert_eq(
            &table(&[one("approved", None), one("requires_approval", Some("no-rm"))])
                .render(Colors::none(), None),
        );
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        let now = 1_772_366_400;
        assert_eq!(moment("2026-03-01T12:00:00Z", now).unwrap(), "2026-03-01T12:00:00Z");
        assert_eq!(moment("90m", now).unwrap(), "2026-03-01T10:30:00Z");
        assert!(moment("2026-03-01", now).is_ok());
        for wrong in ["", "yesterday", "5", "5y", "99999999999999999999d"] {
            assert!(moment(wrong, now).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_time_or_an_error(text in "\\PC{0,30}", number in any::<u64>()) {
            let _ = moment(&text, 0);
            let _ = moment(&format!("{number}w"), 0);
        }
    }
}
