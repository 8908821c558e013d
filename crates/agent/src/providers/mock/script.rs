//! Scripts of the mock: `MOCK_SCRIPT:` and an array of steps, anywhere in what the user said.

use serde::Deserialize;
use serde_json::Value;

use crate::provider::{Entry, EntryBody};

/// What a script begins with.
pub(super) const MARK: &str = "MOCK_SCRIPT:";

/// How many steps a script may have.
const STEP_LIMIT: usize = 10_000;

/// One step of a script; what is not there is not done.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ScriptStep {
    pub(super) reasoning: Option<String>,
    pub(super) text: Option<String>,
    /// In how many pieces the text comes.
    pub(super) chunks: Option<usize>,
    /// How long each piece takes.
    pub(super) delay_ms: u64,
    #[serde(flatten)]
    pub(super) call: ScriptCall,
    pub(super) tools: Vec<ScriptCall>,
    pub(super) usage: Option<ScriptUsage>,
    pub(super) error: Option<String>,
    pub(super) status: Option<u16>,
    pub(super) hang: bool,
    pub(super) stop: Option<String>,
}

/// A call of a tool.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ScriptCall {
    #[serde(alias = "name")]
    pub(super) tool: Option<String>,
    /// An object, or a text that is sent as it is.
    #[serde(alias = "arguments")]
    pub(super) args: Option<Value>,
    pub(super) id: Option<String>,
}

/// Tokens to tell of.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ScriptUsage {
    pub(super) prompt: u64,
    pub(super) completion: u64,
    pub(super) cached: u64,
}

/// The newest script of a conversation: where the entries behind it begin, and its text.
pub(super) fn find(entries: &[Entry]) -> Option<(usize, &str)> {
    entries.iter().enumerate().rev().find_map(|(index, entry)| match &entry.body {
        EntryBody::User { text, .. } => {
            let begin = text.find(MARK)? + MARK.len();
            Some((index + 1, &text[begin..]))
        }
        _ => None,
    })
}

/// Reads a script; what follows it is none of its business.
pub(super) fn parse(text: &str) -> Result<Vec<ScriptStep>, String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Vec<ScriptStep>>();
    let steps = match values.next() {
        Some(Ok(steps)) => steps,
        Some(Err(error)) => return Err(format!("mock script cannot be read: {error}")),
        None => return Err("mock script is empty".to_owned()),
    };
    if steps.len() > STEP_LIMIT {
        return Err(format!("mock script has more than {STEP_LIMIT} steps"));
    }
    Ok(steps)
}
