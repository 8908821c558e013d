//! What a terminal shows, and waiting for it to show something.

use std::time::{Duration, Instant};

use rookery_core::{self as core, Shows, TerminalHandle};
use rookery_model as model;
use rookery_term::matcher::Facts;
use rookery_term::{Detail, Matcher, Pattern, Snapshot};

use crate::{
    Cx, Error,
    text::{Exposure, redacted_below},
    wire::{Cursor, Dump, Dumped, Exit, Size, Wait, WaitKind, Waited},
};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Longer waits are cut down to this.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

pub(crate) async fn dump(cx: Cx, params: Dump) -> Result<Dumped, Error> {
    let terminal = cx.terminal(params.terminal)?;
    let Seen { snapshot, above, text } = Seen::new(&terminal, params.history);
    let exposure = Exposure::from_request(cx.redacts(params.redact));
    let (text, redacted) = exposure.apply_below(&above, text);
    Ok(Dumped {
        text,
        redacted,
        size: Size { rows: snapshot.rows, cols: snapshot.cols },
        cursor: Cursor {
            row: snapshot.cursor.row,
            col: snapshot.cursor.col,
            visible: snapshot.cursor.visible,
        },
        alternate_screen: snapshot.modes.alternate_screen,
        sequence: snapshot.sequence,
    })
}

/// The screen, its text with this number of rows of history, and what stands right before that, as far as a
/// secret may begin in it.
struct Seen {
    snapshot: Snapshot,
    above: String,
    text: String,
}

impl Seen {
    fn new(terminal: &TerminalHandle, history: usize) -> Self {
        terminal.look(|core::ScreenView { screen, .. }| {
            let snapshot = screen.view(Detail::Text);
            let text = match history {
                0 => snapshot.plain_text().to_owned(),
                rows => screen.text_with_history(rows),
            };
            let first = screen.first_row().saturating_sub(history as u64);
            let around = first.saturating_sub(screen.around_secrets(first..first).start);
            let more = usize::try_from(around).unwrap_or(usize::MAX).saturating_add(history);
            let mut above = screen.text_with_history(more);
            above.truncate(above.len().saturating_sub(text.len()));
            Self { snapshot, above, text }
        })
    }
}

/// The one condition of a request.
struct Condition {
    kind: WaitKind,
    /// None if the screen is not what says it.
    matcher: Option<Matcher>,
    pattern: Option<Pattern>,
    /// Whether text is what says it.
    reads: bool,
}

impl Condition {
    fn new(kind: WaitKind, matcher: Matcher) -> Self {
        let reads = matches!(kind, WaitKind::Text | WaitKind::TranscriptText);
        Self { kind, matcher: Some(matcher), pattern: None, reads }
    }

    fn of(params: &Wait) -> Result<Self, Error> {
        let mut given = Vec::new();
        if let Some(text) = &params.text {
            given.push(Self::new(WaitKind::Text, Matcher::ContainsText(text.clone())));
        }
        if let Some(source) = &params.regex {
            given.push(Self::regex(source)?);
        }
        if let Some(text) = &params.transcript_text {
            let matcher = Matcher::TranscriptContains(text.clone());
            given.push(Self::new(WaitKind::TranscriptText, matcher));
        }
        if params.exit == Some(true) {
            given.push(Self::new(WaitKind::Exit, Matcher::ProcessExited));
        }
        if let Some(quiet) = params.stable_ms {
            let quiet = Duration::from_millis(quiet).min(LONGEST);
            given.push(Self::new(WaitKind::Stable, Matcher::ScreenStable(quiet)));
        }
        if params.needs_input == Some(true) {
            given.push(Self {
                kind: WaitKind::NeedsInput,
                matcher: None,
                pattern: None,
                reads: false,
            });
        }
        match (given.pop(), given.is_empty()) {
            (Some(condition), true) => Ok(condition),
            _ => Err(Error::invalid(
                "text",
                "exactly one of text, regex, transcriptText, exit, stableMs and needsInput must be given",
            )),
        }
    }

    fn regex(source: &str) -> Result<Self, Error> {
        if let Some(fault) = Pattern::fault(source) {
            return Err(Error::invalid("regex", format!("invalid regex {source:?}: {fault}")));
        }
        let pattern = Pattern::new(source);
        let matcher = Matcher::ScreenRegex(pattern.clone());
        Ok(Self {
            kind: WaitKind::Regex,
            matcher: Some(matcher),
            pattern: Some(pattern),
            reads: true,
        })
    }
}

pub(crate) async fn wait(cx: Cx, params: Wait) -> Result<Waited, Error> {
    let condition = Condition::of(&params)?;
    let timeout = params.timeout_ms.map_or(DEFAULT_TIMEOUT, Duration::from_millis).min(LONGEST);
    let terminal = cx.terminal(params.terminal)?;
    let begun = Instant::now();
    let (elapsed, text) = match condition.matcher {
        Some(matcher) if condition.reads && cx.redacts(false) => {
            let text = until_shown(&terminal, &matcher);
            (begun.elapsed(), in_time(timeout, text).await?)
        }
        Some(matcher) => {
            let waited = terminal.wait(matcher, Detail::Text, timeout).await?;
            (waited.elapsed, waited.matched.snapshot.plain_text().to_owned())
        }
        None => {
            in_time(timeout, until_input_is_needed(&cx, terminal.id())).await?;
            (begun.elapsed(), terminal.snapshot(Detail::Text).plain_text().to_owned())
        }
    };
    let exposure = Exposure::from_request(cx.redacts(params.redact));
    // Captured from what may leave: alone, a secret would no longer look like one.
    let text = exposure.apply(text).0;
    let capture = condition.pattern.and_then(|pattern| pattern.capture(&text));
    Ok(Waited {
        matched: condition.kind,
        elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        capture,
        exit: exit_of(&cx, terminal.id()),
        text: params.include_text.then_some(text),
    })
}

async fn in_time<T>(
    timeout: Duration,
    waiting: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let timed_out = |_| model::Error::new(model::ErrorKind::Timeout, "the time to wait ran out");
    tokio::time::timeout(timeout, waiting).await.map_err(timed_out)?
}

/// What a condition is judged by for those who may not see secrets, so that none can be guessed piece by
/// piece.
struct Shown {
    screen: String,
    transcript: String,
}

impl Facts for Shown {
    fn screen_text(&self) -> &str {
        &self.screen
    }

    fn transcript_tail(&self) -> &str {
        &self.transcript
    }

    fn cursor(&self) -> (u16, u16) {
        (0, 0)
    }

    fn stable_for(&self) -> Duration {
        Duration::ZERO
    }

    fn has_exited(&self) -> bool {
        false
    }
}

/// Waits until a condition on text holds for what is shown without secrets; gives the text of the screen.
async fn until_shown(terminal: &TerminalHandle, matcher: &Matcher) -> Result<String, Error> {
    let mut progress = terminal.progress();
    loop {
        let is_finished = progress.borrow_and_update().is_finished;
        let seen = terminal.wait(Matcher::All(Vec::new()), Detail::Text, Duration::ZERO).await?;
        let tail = seen.matched.transcript_tail;
        let Seen { above, text, .. } = Seen::new(terminal, 0);
        let shown = Shown {
            screen: redacted_below(&above, &text).into_owned(),
            transcript: redacted_below(tail.context(), tail.text()).into_owned(),
        };
        if matcher.holds(&shown) {
            return Ok(shown.screen);
        }
        if is_finished || progress.changed().await.is_err() {
            return Err(model::Error::closed("the program in the terminal has ended").into());
        }
    }
}

/// Waits until what runs in a terminal needs input: an approval waits, a dialog stands there, or its
/// agent says so.
async fn until_input_is_needed(cx: &Cx, id: model::TerminalId) -> Result<(), Error> {
    let mut changes = cx.core.log().changes(&[Shows::Terminals]);
    loop {
        let terminal = cx.core.terminals().describe(id)?;
        if terminal.activity.state() == model::RunState::NeedsInput {
            return Ok(());
        }
        if !terminal.is_alive() {
            return Err(model::Error::closed("the program in the terminal has ended").into());
        }
        changes.next().await?;
    }
}

fn exit_of(cx: &Cx, id: model::TerminalId) -> Option<Exit> {
    match cx.core.terminals().describe(id).ok()?.state {
        model::TerminalState::Exited(status) => Some(status.into()),
        model::TerminalState::Running | model::TerminalState::Lost => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn condition(mut params: Value) -> Result<WaitKind, Error> {
        params["terminal"] = json!(1);
        Condition::of(&serde_json::from_value(params).unwrap()).map(|condition| condition.kind)
    }

    #[test]
    fn each_condition_is_understood() {
        for (params, kind) in [
            (json!({"text": "$ "}), WaitKind::Text),
            (json!({"regex": "a+", "exit": false}), WaitKind::Regex),
            (json!({"transcriptText": "x"}), WaitKind::TranscriptText),
            (json!({"exit": true}), WaitKind::Exit),
            (json!({"stableMs": 1}), WaitKind::Stable),
            (json!({"needsInput": true}), WaitKind::NeedsInput),
        ] {
            assert_eq!(condition(params), Ok(kind));
        }
    }

    #[test]
    fn none_two_or_a_bad_one_are_refused() {
        for params in [
            json!({}),
            json!({"exit": false}),
            json!({"text": "a", "stableMs": 5}),
            json!({"regex": "("}),
        ] {
            assert!(condition(params.clone()).is_err(), "{params}");
        }
        let why = condition(json!({"regex": "a("})).unwrap_err();
        assert!(format!("{why:?}").contains("unclosed group"), "{why:?}");
    }
}
