//! Questions of the face itself: Enter is yes, Esc is no, and the text says so.

use rookery_view::link::method::Call;
use serde_json::Value;

use super::{App, Ask, Effect, Field};

/// Something to be sure about.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What is asked.
    pub title: String,
    /// What it is about, line by line, spelled exactly.
    pub lines: Vec<String>,
    /// What happens with Enter.
    pub then: Then,
    /// A field to fill in, for questions that need words.
    pub field: Option<Field>,
    /// Letters that choose, each with its words.
    pub choices: Vec<(char, &'static str)>,
}

/// What is done after yes.
#[derive(Clone, Debug, PartialEq)]
pub enum Then {
    /// Opens an address.
    Open(String),
    /// Pastes a text into a terminal.
    Paste(u64, String),
    /// Copies a text.
    Copy(String),
    /// Makes a call.
    Call(Ask, Call),
    /// Makes a call; the text of the field goes into this member.
    Fill(Ask, Call, &'static str),
    /// Makes a call; the chosen word goes into this member.
    Choose(Ask, Call, &'static str),
}

impl Question {
    /// A question with one outcome.
    pub fn new(title: impl Into<String>, lines: Vec<String>, then: Then) -> Question {
        Question { title: title.into(), lines, then, field: None, choices: Vec::new() }
    }

    /// What can be pressed.
    pub fn hint(&self) -> String {
        if self.choices.is_empty() {
            return "enter yes  esc no".to_owned();
        }
        let words: Vec<String> =
            self.choices.iter().map(|(key, word)| format!("{key} {word}")).collect();
        format!("{}  esc no", words.join("  "))
    }
}

impl App {
    /// Asks about a paste: its first lines, exactly, and how many there are.
    pub(super) fn ask_paste(&mut self, terminal: u64, text: String, why: &str) {
        let count = text.lines().count();
        let lines: Vec<String> =
            text.lines().take(5).map(|line| exact(line).replace('\t', "    ")).collect();
        let title = match why {
            "controls" => format!("Paste {count} lines with control characters?"),
            "always" => format!("Paste {count} lines?"),
            _ => format!("Paste {count} lines? The program runs each as it comes."),
        };
        self.question = Some(Question::new(title, lines, Then::Paste(terminal, text)));
    }

    /// Shows by what a device is paired.
    pub(super) fn ask_pairing(&mut self, pairing: &Value) {
        let text = |member: &str| pairing[member].as_str().unwrap_or_default().to_owned();
        let lines = vec![
            exact(&text("url")),
            format!("or the code {} on the page of this machine", exact(&text("short"))),
            "Either pairs one device, within ten minutes.".to_owned(),
            "Enter copies the link.".to_owned(),
        ];
        let then = Then::Copy(text("url"));
        self.question = Some(Question::new("Open this on the device to pair it", lines, then));
    }

    /// Yes.
    pub(super) fn confirm(&mut self, choice: Option<&str>) {
        let Some(question) = self.question.take() else { return };
        let filled = question.field.map(|mut field| field.take());
        match question.then {
            Then::Open(uri) => self.push(Effect::Open(uri)),
            Then::Paste(t, text) => self.paste_surely(t, text),
            Then::Copy(text) => self.copy_address(&text),
            Then::Call(ask, call) => self.make(ask, call),
            Then::Fill(ask, mut call, member) => {
                if let Some(text) = filled.filter(|text| !text.is_empty()) {
                    call.params[member] = Value::String(text);
                }
                self.make(ask, call);
            }
            Then::Choose(ask, mut call, member) => {
                if let Some(word) = choice {
                    call.params[member] = Value::String(word.to_owned());
                }
                self.make(ask, call);
            }
        }
    }
}

/// A line exactly as it is: what would act or hide is spelled.
pub fn exact(line: &str) -> String {
    rookery_view::safe::exact(line)
}
