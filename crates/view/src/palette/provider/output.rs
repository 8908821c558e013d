//! What a provider's output means.

use serde_json::Value;

use super::Phase;
use crate::palette::agents::cut;

/// What a run listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Words for the empty field, if it gave some.
    pub placeholder: Option<String>,
    /// Its rows.
    pub items: Vec<Listed>,
}

/// A row that a provider listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What comes back when it is chosen.
    pub id: String,
    /// Its words.
    pub title: String,
    /// A second line.
    pub subtitle: Option<String>,
    /// Whether it can be chosen.
    pub actionable: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// It ended by itself.
    Exited {
        /// Its exit code; none if a signal ended it.
        code: Option<i32>,
        /// What it wrote.
        stdout: Vec<u8>,
        /// The end of what it complained.
        stderr: Vec<u8>,
    },
    /// It took too long and was killed.
    TimedOut {
        /// The end of what it complained.
        stderr: Vec<u8>,
    },
    /// It wrote too much and was killed.
    TooMuch,
    /// It could not be started or talked to.
    Failed(String),
}

/// What a run that ended this way gave, or the reason to show.
pub fn read_end(phase: &Phase, end: &RunEnd) -> Result<Listing, String> {
    match end {
        RunEnd::Exited { code: Some(0), stdout, .. } => {
            let text = String::from_utf8_lossy(stdout);
            match phase {
                Phase::List => parse_list(&text),
                Phase::Activate { .. } => parse_activate(&text),
            }
        }
        RunEnd::Exited { code: Some(code), stderr, .. } => {
            Err(complaint(stderr).unwrap_or_else(|| format!("it ended with exit code {code}")))
        }
        RunEnd::Exited { code: None, stderr, .. } => {
            Err(complaint(stderr).unwrap_or_else(|| "a signal ended it".to_owned()))
        }
        RunEnd::TimedOut { stderr } => {
            Err(complaint(stderr).unwrap_or_else(|| "it took too long".to_owned()))
        }
        RunEnd::TooMuch => Err("it wrote too much".to_owned()),
        RunEnd::Failed(reason) => Err(reason.clone()),
    }
}

/// The last line that says something.
fn complaint(stderr: &[u8]) -> Option<String> {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(stderr);
    let printable = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    let mut lines = text.lines().rev().map(|line| printable(line).trim().to_owned());
    lines.find(|line| !line.is_empty()).map(|line| cut(&line, LONGEST))
}

/// Reads what `list` wrote: an object with `items`, or the items alone. Nothing is no items.
pub fn parse_list(text: &str) -> Result<Listing, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Listing::default());
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("its output is no JSON: {error}"))?;
    let (placeholder, items) = match value {
        Value::Array(items) => (None, items),
        Value::Object(mut object) => {
            let items = match object.remove("items") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(items)) => items,
                Some(_) => return Err("`items` in its output is no list".to_owned()),
            };
            (text_of(object.remove("placeholder")).filter(|words| !words.is_empty()), items)
        }
        _ => return Err("its output is neither an object with `items` nor a list".to_owned()),
    };
    let items: Result<Vec<Listed>, String> =
        items.into_iter().enumerate().map(|(index, item)| listed(index, item)).collect();
    Ok(Listing { placeholder, items: items? })
}

/// Reads what `activate` wrote, which counts only if it looks like a list.
pub fn parse_activate(text: &str) -> Result<Listing, String> {
    if text.trim_start().starts_with(['{', '[']) {
        parse_list(text)
    } else {
        Ok(Listing::default())
    }
}

fn listed(index: usize, item: Value) -> Result<Listed, String> {
    let Value::Object(mut item) = item else {
        return Err(format!("item {index} of its output is no object"));
    };
    let mut needed = |key: &str| {
        text_of(item.remove(key))
            .ok_or_else(|| format!("item {index} of its output has no `{key}`"))
    };
    let (id, title) = (needed("id")?, needed("title")?);
    let subtitle = text_of(item.remove("subtitle"));
    let actionable = !matches!(item.get("actionable"), Some(Value::Bool(false)));
    Ok(Listed { id, title, subtitle, actionable })
}

fn text_of(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
