//! The envelope of an agent's event, as harnesses write it.

use rookery_model::{
    ChangedFile, CheckpointId, DiffStat, Differences, EventId, SessionId, TestStatus, TestSummary,
    Timestamp,
};
use serde_json::{Map, Value};

use crate::values::{parse_date, parse_uuid};
use crate::wire::read_test_status;

/// The version of envelopes that is understood.
pub const SCHEMA_VERSION: i64 = 1;

/// What kinds of events there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventType {
    /// Work goes on.
    Progress,
    /// A checkpoint was made.
    Checkpoint,
    /// Work goes to another session.
    Handoff,
    /// Changes need a review.
    ReviewRequest,
    /// Something must be allowed.
    ApprovalRequest,
    /// Work is done.
    Completed,
    /// Work cannot go on.
    Blocked,
    /// Work failed.
    Error,
}

const TYPES: &[(&str, EventType)] = &[
    ("progress", EventType::Progress),
    ("checkpoint", EventType::Checkpoint),
    ("handoff", EventType::Handoff),
    ("reviewRequest", EventType::ReviewRequest),
    ("approvalRequest", EventType::ApprovalRequest),
    ("completed", EventType::Completed),
    ("blocked", EventType::Blocked),
    ("error", EventType::Error),
];

/// An envelope that could be read. Whether its version is understood is not said.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// The version of its form.
    pub schema_version: i64,
    /// By which it is taken once.
    pub event_id: EventId,
    /// The session it is about.
    pub session_id: Option<SessionId>,
    pub session_title_hint: Option<String>,
    /// When it happened.
    pub timestamp: Timestamp,
    /// What happened.
    pub event_type: EventType,
    /// What belongs to it; empty if that was no object.
    pub payload: Payload,
}

/// What belongs to an event. A member of another type than expected counts as absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Payload(Map<String, Value>);

/// Reads an envelope.
///
/// # Errors
/// In words that name the member and what was expected.
pub fn parse(text: &str) -> Result<Envelope, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Value::Object(members) = value else { return Err("expected an object".to_owned()) };
    let member = |name: &str| members.get(name).filter(|value| !value.is_null());
    let text = |name: &str| match member(name) {
        None => Err(format!("{name} is missing")),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(format!("{name}: expected a string")),
    };
    let optional = |name: &str| member(name).map(|_| text(name)).transpose();
    let schema_version = match member("schemaVersion") {
        None => return Err("schemaVersion is missing".to_owned()),
        Some(value) => whole(value).ok_or("schemaVersion: expected a whole number")?,
    };
    let event_id = text("eventID")?;
    let event_id = parse_uuid(event_id).ok_or("eventID: expected a UUID")?;
    let session_id = optional("sessionID")?
        .map(|text| parse_uuid(text).ok_or("sessionID: expected a UUID or null"))
        .transpose()?;
    let timestamp = parse_date(text("timestamp")?).ok_or("timestamp: expected ISO 8601")?;
    let event_type = text("eventType")?;
    let (_, event_type) = TYPES.iter().find(|(word, _)| *word == event_type).ok_or_else(|| {
        let words: Vec<&str> = TYPES.iter().map(|(word, _)| *word).collect();
        format!("eventType: expected one of {}", words.join(", "))
    })?;
    let session_title_hint = optional("sessionTitleHint")?.map(str::to_owned);
    let payload = match members.get("payload") {
        None => return Err("payload is missing".to_owned()),
        Some(Value::Object(payload)) => Payload(payload.clone()),
        Some(_) => Payload::default(),
    };
    Ok(Envelope {
        schema_version,
        event_id: EventId::new(event_id),
        session_id: session_id.map(SessionId::new),
        session_title_hint,
        timestamp,
        event_type: *event_type,
        payload,
    })
}

/// A whole number, however it is written.
fn whole(value: &Value) -> Option<i64> {
    let rounded = || value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15);
    value.as_i64().or_else(|| rounded().map(|number| number as i64))
}

impl Payload {
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().map(str::to_owned)
    }

    /// A text, or the usual one if it is blank.
    pub fn text_or(&self, name: &str, usual: &str) -> String {
        self.filled(name).unwrap_or_else(|| usual.to_owned())
    }

    /// A text that is not blank.
    pub fn filled(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.trim().is_empty())
    }

    pub fn checkpoint(&self) -> Option<CheckpointId> {
        parse_uuid(&self.text("checkpointID")?).map(CheckpointId::new)
    }

    pub fn session(&self, name: &str) -> Option<SessionId> {
        parse_uuid(&self.text(name)?).map(SessionId::new)
    }

    /// The texts of a list; what is no text is left out.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let items = self.0.get(name).and_then(Value::as_array);
        let texts = items.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    /// What differs.
    pub fn differences(&self) -> Differences {
        let files = self.0.get("changedFiles").and_then(Value::as_array);
        Differences {
            files: files.into_iter().flatten().filter_map(changed_file).collect(),
            stat: self.0.get("diffStat").and_then(diff_stat),
            tests: self.0.get("testSummary").and_then(test_summary),
        }
    }
}

/// More lines than any file has, and what every client can read.
const MOST_LINES: f64 = 9e15;

/// A number of lines; parts of one are cut off.
fn count(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    value.as_u64().or_else(|| value.as_f64().map(|number| number.clamp(0.0, MOST_LINES) as u64))
}

fn changed_file(value: &Value) -> Option<ChangedFile> {
    let path = value.get("path")?.as_str()?;
    let status = value.get("status").and_then(Value::as_str).unwrap_or("M");
    Some(ChangedFile {
        path: path.to_owned(),
        additions: count(value.get("additions")),
        deletions: count(value.get("deletions")),
        status: status.to_owned(),
    })
}

fn diff_stat(value: &Value) -> Option<DiffStat> {
    Some(DiffStat {
        files: count(value.get("filesChanged"))?,
        additions: count(value.get("additions"))?,
        deletions: count(value.get("deletions"))?,
    })
}

fn test_summary(value: &Value) -> Option<TestSummary> {
    let members = value.as_object()?;
    let status = members.get("status").and_then(Value::as_str).and_then(read_test_status);
    let text = members.get("summaryText").and_then(Value::as_str).unwrap_or("Unknown");
    Some(TestSummary { status: status.unwrap_or(TestStatus::Unknown), text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn event() -> Value {
        json!({
            "schemaVersion": 1,
            "eventID": "0F2F66F2-7C4D-4A96-9C4A-A5F9B4DBA89E",
            "sessionID": null,
            "sessionTitleHint": null,
            "timestamp": "2026-03-22T15:00:00Z",
            "eventType": "progress",
            "payload": {},
        })
    }

    fn with(name: &str, value: Value) -> Result<Envelope, String> {
        let mut changed = event();
        changed[name] = value;
        parse(&changed.to_string())
    }

    fn without(name: &str) -> Result<Envelope, String> {
        let mut changed = event();
        changed.as_object_mut().unwrap().remove(name);
        parse(&changed.to_string())
    }

    #[test]
    fn what_may_be_absent_may_be_absent() {
        assert!(without("sessionID").is_ok() && without("sessionTitleHint").is_ok());
        for name in ["schemaVersion", "eventID", "timestamp", "eventType", "payload"] {
            assert_eq!(without(name), Err(format!("{name} is missing")));
        }
        for payload in [json!(null), json!("x"), json!([1])] {
            assert_eq!(with("payload", payload).unwrap().payload, Payload::default());
        }
    }

    #[test]
    fn blank_texts_count_as_absent_and_numbers_are_read_however_written() {
        assert_eq!(with("schemaVersion", json!(1.0)).unwrap().schema_version, 1);
        assert!(with("schemaVersion", json!(1.5)).is_err());
        let payload = with("payload", json!({ "title": " ", "summary": "" })).unwrap().payload;
        assert_eq!(payload.text_or("title", "usual"), "usual");
        assert_eq!(payload.filled("summary"), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, value) in [
            ("schemaVersion", json!("1")),
            ("eventID", json!("x")),
            ("sessionID", json!("x")),
            ("sessionTitleHint", json!(1)),
            ("timestamp", json!("yesterday")),
            ("eventType", json!("Progress")),
        ] {
            let error = with(name, value).unwrap_err();
            assert!(error.starts_with(&format!("{name}: expected")), "{error}");
        }
        assert!(parse("{").is_err() && parse("[]").is_err());
        assert_eq!(with("schemaVersion", json!(2)).unwrap().schema_version, 2);
    }

    #[test]
    fn parts_of_the_wrong_type_count_as_absent() {
        let payload = json!({
            "summary": 7,
            "risks": ["a", 1, "b"],
            "changedFiles": [{"path": "x", "additions": 2.9}, {"additions": 1}, "y"],
            "diffStat": {"filesChanged": 1, "additions": 2},
            "testSummary": {"status": "great"},
        });
        let payload = with("payload", payload).unwrap().payload;
        assert_eq!(payload.text("summary"), None);
        assert_eq!(payload.texts("risks"), ["a", "b"]);
        let differences = payload.differences();
        assert_eq!(differences.files.len(), 1);
        assert_eq!((differences.files[0].additions, &*differences.files[0].status), (Some(2), "M"));
        assert_eq!(differences.stat, None);
        let tests = differences.tests.unwrap();
        assert_eq!((tests.status, &*tests.text), (TestStatus::Unknown, "Unknown"));
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text: String) {
            let _ = parse(&text);
        }
    }
}
