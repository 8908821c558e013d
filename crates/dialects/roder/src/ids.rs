//! Spellings of ids: threads and turns are UUIDs, requests are ULIDs behind a word for their kind.
//! Pure; a text that is no id names nothing.

use rookery_model as model;
use serde_json::Value;

use crate::errors::Error;

/// What stands where a thread would, if a client runs a command by itself.
pub const APP_SERVER: &str = "app-server";

/// The team that a text names.
pub fn team(text: &str) -> Result<model::TeamId, Error> {
    let shown: String = text.chars().take(64).collect();
    text.parse().map_err(|_| Error::invalid(format!("unknown team: {shown}")))
}

/// The longest name of what may become a file, in bytes.
const LONGEST_NAME: usize = 128;

/// A text of a client that names something which is kept in a file.
///
/// # Errors
/// If it could lead anywhere else, whether or not there is something of that name.
pub fn file_name<'a>(member: &str, text: &'a str) -> Result<&'a str, Error> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    let is_name = text.len() <= LONGEST_NAME
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && text.bytes().all(is_part);
    match is_name {
        true => Ok(text),
        false => Err(Error::invalid(format!(
            "{member} must begin with a letter or digit and have up to {LONGEST_NAME} letters, digits, '.', '_', ':' or '-'"
        ))),
    }
}

/// The kinds of requests, each with ids of its own look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// May this be done?
    Approval,
    /// Questions to the user.
    UserInput,
    /// May the plan be carried out?
    PlanExit,
    /// A tool that a client runs.
    ExternalTool,
}

impl RequestKind {
    /// The kind of what is asked.
    #[must_use]
    pub fn of(asked: &model::Asked) -> Self {
        match asked {
            model::Asked::Approval { .. }
            | model::Asked::Permission { .. }
            | model::Asked::Dialog { .. } => Self::Approval,
            model::Asked::Input { .. } => Self::UserInput,
            model::Asked::PlanExit(_) => Self::PlanExit,
            model::Asked::External(_) => Self::ExternalTool,
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Approval => "appr_",
            Self::UserInput => "input_",
            Self::PlanExit => "plan_",
            Self::ExternalTool => "exttool-",
        }
    }

    /// The id as clients see it.
    #[must_use]
    pub fn spell(self, id: model::RequestId) -> String {
        format!("{}{id}", self.prefix())
    }

    /// The request that a text of this kind names, if it can name one.
    #[must_use]
    pub fn read(self, text: &str) -> Option<model::RequestId> {
        text.strip_prefix(self.prefix())?.parse().ok()
    }
}

/// The thread of a request; an id of zeros if it has none.
#[must_use]
pub fn thread_of(request: &model::Request) -> String {
    request.thread().unwrap_or(model::ThreadId::new(0)).to_string()
}

/// The turn of a request; an id of zeros if it has none.
#[must_use]
pub fn turn_of(request: &model::Request) -> String {
    request.turn().unwrap_or(model::TurnId::new(0)).to_string()
}

/// The thread and the turn of a request as clients see them. A command that a client runs has none:
/// its process stands for the turn, if it was named.
#[must_use]
pub fn place_of(request: &model::Request) -> (String, String) {
    if request.thread().is_some() {
        return (thread_of(request), turn_of(request));
    }
    let input = match &request.asked {
        model::Asked::Approval { input, .. } => serde_json::from_str(input).unwrap_or(Value::Null),
        model::Asked::Input { .. }
        | model::Asked::PlanExit(_)
        | model::Asked::External(_)
        | model::Asked::Permission { .. }
        | model::Asked::Dialog { .. } => Value::Null,
    };
    let process = input.get("processId").and_then(Value::as_str).unwrap_or_default();
    (APP_SERVER.to_owned(), process.to_owned())
}

/// The thread that a text names.
///
/// # Errors
/// If it can name none; nothing that touches the file system is ever made from such a text.
pub fn thread(text: &str) -> Result<model::ThreadId, Error> {
    text.parse().map_err(|_| thread_not_found(text))
}

/// The turn that a text names.
///
/// # Errors
/// If it can name none.
pub fn turn(text: &str) -> Result<model::TurnId, Error> {
    text.parse().map_err(|_| Error::invalid(format!("turn not found: {}", shorten(text))))
}

/// What is answered about a thread that does not exist.
#[must_use]
pub fn thread_not_found(text: &str) -> Error {
    Error::invalid(format!("thread not found: {}", shorten(text)))
}

/// Keeps error messages short whatever was sent.
fn shorten(text: &str) -> String {
    text.chars().take(128).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [RequestKind; 4] = [
        RequestKind::Approval,
        RequestKind::UserInput,
        RequestKind::PlanExit,
        RequestKind::ExternalTool,
    ];

    #[test]
    fn requests_are_read_as_they_are_spelled_and_only_by_their_kind() {
        let id = model::RequestId::new(1 << 100);
        for (at, kind) in KINDS.into_iter().enumerate() {
            let text = kind.spell(id);
            for (other_at, other) in KINDS.into_iter().enumerate() {
                assert_eq!(other.read(&text), (at == other_at).then_some(id), "{text}");
            }
        }
        assert_eq!(RequestKind::Approval.spell(id), "appr_00000100000000000000000000");
        for wrong in ["", "appr_", "appr_x", "fake-write-file", "00000100000000000000000000"] {
            assert_eq!(RequestKind::Approval.read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_could_lead_elsewhere_names_no_file() {
        for right in
            ["a", "0", "workflow-0192d3c4-0000-7abc-8def-0123456789ab", "builtin:x", "A._:-"]
        {
            assert_eq!(file_name("runId", right).unwrap(), right);
        }
        let long = "x".repeat(129);
        for wrong in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "-a",
            ":a",
            "a b",
            "a\n",
            "é",
            "a\0",
            long.as_str(),
        ] {
            let error = file_name("runId", wrong).unwrap_err();
            assert_eq!(error.code(), -32602);
            assert!(error.to_string().starts_with("runId must begin with"), "{error}");
        }
    }

    #[test]
    fn what_is_no_uuid_names_no_thread() {
        assert!(thread("0192d3c4-0000-7abc-8def-0123456789ab").is_ok());
        for wrong in ["", "..", "../../etc/passwd", ".hidden", "THREAD_ID"] {
            let error = thread(wrong).unwrap_err();
            assert_eq!(
                (error.code(), error.to_string()),
                (-32602, format!("thread not found: {wrong}"))
            );
        }
        assert!(thread(&"x".repeat(9999)).unwrap_err().to_string().len() < 200);
        assert_eq!(turn("T").unwrap_err().to_string(), "turn not found: T");
    }
}
