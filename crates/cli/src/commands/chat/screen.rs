//! What a conversation looks like: the agent's words on stdout, everything about them on stderr.
//! Nothing that a model or a tool wrote reaches a terminal unfiltered.

use std::{
    collections::HashMap,
    io::{self, IsTerminal as _, Write as _},
};

use rookery_native::wire::{DeltaOf, Item, ItemBody};
use rookery_view::safe;

use super::render::Renderer;
use crate::{
    attach,
    failure::Outcome,
    output::{self, Colors, Tone, shorten},
    talk::show,
};

/// Columns of a status line where the terminal does not tell its width.
const USUAL_WIDTH: usize = 80;

/// What draws words for the width that stdout has now.
fn renderer() -> Renderer {
    let width = attach::own_size().map_or(USUAL_WIDTH, |size| usize::from(size.cols));
    Renderer::new(width, Colors::of_stdout().are_wanted())
}

/// Shows a conversation.
pub(super) struct Screen {
    colors: Colors,
    /// Whether stderr is a terminal, where a line can be replaced.
    is_terminal: bool,
    wants_thoughts: bool,
    /// Renders the answer where stdout is a terminal; pipes get plain text.
    renderer: Option<Renderer>,
    /// How much of each message was shown, in bytes of the message.
    shown: HashMap<String, usize>,
    /// stdout is in the middle of a line.
    is_speaking: bool,
    /// stderr is in the middle of a thought.
    is_thinking: bool,
    /// stderr ends with a line that the next one replaces.
    has_status: bool,
    /// stderr ends with a question.
    is_asking: bool,
}

impl Screen {
    pub(super) fn new(wants_thoughts: bool) -> Self {
        Self {
            colors: Colors::of_stderr(),
            is_terminal: io::stderr().is_terminal(),
            wants_thoughts,
            renderer: io::stdout().is_terminal().then(renderer),
            shown: HashMap::new(),
            is_speaking: false,
            is_thinking: false,
            has_status: false,
            is_asking: false,
        }
    }

    /// Shows that an item began.
    pub(super) fn started(&mut self, item: &Item) -> Outcome<()> {
        match &item.body {
            ItemBody::Tool(call) => self.status(&show::tool(call, item.status)),
            _ => Ok(()),
        }
    }

    /// Shows how an item grew.
    pub(super) fn grew(&mut self, item: &str, of: DeltaOf, text: &str) -> Outcome<()> {
        match of {
            DeltaOf::Text => {
                *self.shown.entry(item.to_owned()).or_default() += text.len();
                self.say(text)
            }
            DeltaOf::Thought | DeltaOf::Summary => self.think(text),
            DeltaOf::SummaryPart if self.is_thinking => self.think("\n\n"),
            DeltaOf::SummaryPart | DeltaOf::Output => Ok(()),
        }
    }

    /// Shows an item in its final form, as far as it was not shown.
    pub(super) fn completed(&mut self, item: &Item) -> Outcome<()> {
        match &item.body {
            ItemBody::Agent { text, .. } => {
                // What came without being streamed.
                let shown = self.shown.remove(&item.id).unwrap_or(0);
                if let Some(rest) = text.get(shown..).filter(|rest| !rest.is_empty()) {
                    self.say(rest)?;
                }
                self.break_lines()
            }
            ItemBody::Reasoning { .. } => self.break_lines(),
            ItemBody::Tool(call) => self.faint(&format!("• {}", show::tool(call, item.status))),
            ItemBody::Compaction { .. } => self.faint("[earlier messages were summarized]"),
            // The failure is reported with the end of the turn.
            ItemBody::User { .. } | ItemBody::Error { .. } | ItemBody::Raw { .. } => Ok(()),
        }
    }

    fn say(&mut self, words: &str) -> Outcome<()> {
        let words = safe::text(words);
        if words.is_empty() {
            return Ok(());
        }
        if !self.is_speaking {
            self.break_lines()?;
            // The window may have another width by now.
            self.renderer = self.renderer.is_some().then(renderer);
        }
        self.is_speaking = !words.ends_with('\n');
        match &mut self.renderer {
            Some(renderer) => output::write(renderer.push(&words).as_bytes()),
            None => output::write(words.as_bytes()),
        }
    }

    fn think(&mut self, words: &str) -> Outcome<()> {
        if !self.wants_thoughts {
            return Ok(());
        }
        if !self.is_thinking {
            self.break_lines()?;
        }
        self.is_thinking = true;
        let words = self.colors.paint(Tone::Faint, &safe::text(words));
        let mut stderr = io::stderr().lock();
        // If stderr is gone, the failure cannot be reported.
        let _ = stderr.write_all(words.as_bytes()).and_then(|()| stderr.flush());
        Ok(())
    }

    /// Shows what goes on, until something else is shown.
    fn status(&mut self, text: &str) -> Outcome<()> {
        if !self.is_terminal {
            return Ok(());
        }
        self.break_lines()?;
        let width = attach::own_size().map_or(USUAL_WIDTH, |size| usize::from(size.cols));
        let text = shorten(&format!("• {text}"), width.saturating_sub(1));
        output::status(self.colors.paint(Tone::Faint, &text));
        self.has_status = true;
        Ok(())
    }

    /// Ends whatever line is begun, so that the next is one of its own.
    pub(super) fn break_lines(&mut self) -> Outcome<()> {
        if std::mem::take(&mut self.has_status) {
            output::status("");
        }
        let is_asking = std::mem::take(&mut self.is_asking);
        if std::mem::take(&mut self.is_thinking) || is_asking {
            output::note("");
        }
        if std::mem::take(&mut self.is_speaking) {
            let rest = self.renderer.as_mut().map(Renderer::finish).unwrap_or_default();
            output::write(format!("{rest}\n").as_bytes())?;
        }
        Ok(())
    }

    /// Lines that say exactly what would be done; a change has its usual colors.
    pub(super) fn details(&mut self, lines: &[String]) -> Outcome<()> {
        let is_change = lines.iter().any(|line| line.trim_start().starts_with("@@ "));
        for line in lines {
            let tone = match line.trim_start().chars().next() {
                Some('+') if is_change => Tone::Good,
                Some('-') if is_change => Tone::Bad,
                Some('@') if is_change => Tone::Faint,
                _ => Tone::Plain,
            };
            self.note(tone, line)?;
        }
        Ok(())
    }

    /// A line about the conversation; the text must be harmless.
    pub(super) fn note(&mut self, tone: Tone, text: &str) -> Outcome<()> {
        self.break_lines()?;
        output::note(self.colors.paint(tone, text));
        Ok(())
    }

    fn faint(&mut self, text: &str) -> Outcome<()> {
        self.note(Tone::Faint, text)
    }

    /// Asks for a line, on stderr.
    pub(super) fn ask(&mut self, question: &str) -> Outcome<()> {
        self.break_lines()?;
        let mut stderr = io::stderr().lock();
        let question = self.colors.paint(Tone::Strong, question);
        let _ = write!(stderr, "{question} ").and_then(|()| stderr.flush());
        self.is_asking = true;
        Ok(())
    }

    pub(super) fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// A line was typed behind the question.
    pub(super) fn answered(&mut self) {
        self.is_asking = false;
    }

    /// The turn is over.
    pub(super) fn end(&mut self) -> Outcome<()> {
        self.shown.clear();
        self.break_lines()
    }
}
