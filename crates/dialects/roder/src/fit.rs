//! Keeps every line that we send short enough for its clients. Owns the bounds and what becomes of a
//! message that is over one: long texts are cut and marked. Knows no method but those that read bytes.
//!
//! What a client did not ask for is within 1 MiB, since some give up on longer lines. What it asked
//! for comes as a whole as long as that is reasonable: who reads a thread or runs a command wants it.

use bytes::Bytes;
use rookery_wire::rpc::{self, RpcError};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::errors::code;

/// The longest unsolicited line: 1 MiB, less a little for its envelope.
pub const LINE: usize = (1 << 20) - 1024;

/// The longest result of a request.
pub const RESULT: usize = (16 << 20) - 1024;

/// What the texts of a command's outputs may take together, with the rest of the reply beside them.
const OUTPUTS: usize = RESULT - 8 * 1024;

/// Methods whose result is bytes or names of the file system, as many as were asked for.
const BYTE_READS: &[&str] =
    &["fs/readFile", "fs/readDirectory", "media/read", "media/attachToTurn"];

/// Texts that are shorter than this on the wire are never cut.
const FLOOR: usize = 256;

/// What the marks of one cut text take at most, beside the name of its member.
const MARK: usize = 96;

/// Members whose value is not ours, so that no mark is put into it.
const FOREIGN: &[&str] = &["input", "payload", "answers", "arguments", "parameters"];

/// The body of a notification that no client chokes on.
///
/// # Errors
/// If `params` cannot be written as JSON.
pub fn notification(name: &str, params: &impl Serialize) -> serde_json::Result<Bytes> {
    let body = rpc::notification(name, params)?;
    if body.len() <= LINE {
        return Ok(body);
    }
    match shorten(&body, LINE) {
        Some(short) => Ok(short.into()),
        None => {
            tracing::error!(name, bytes = body.len(), "a notification cannot be made shorter");
            Ok(body)
        }
    }
}

/// A shorter reply in place of one that is over [`RESULT`]; none if it may be as long as it is.
#[must_use]
pub fn reply(method: Option<&'static str>, line: &[u8]) -> Option<Vec<u8>> {
    if method.is_some_and(|method| BYTE_READS.contains(&method)) {
        return None;
    }
    shorten(line, RESULT).or_else(|| {
        let whole: Value = serde_json::from_slice(line).ok()?;
        let message = format!("the result is too large: {} bytes", line.len());
        let data = json!({ "details": message, "kind": "too_large" });
        let error = RpcError::new(code::RUNTIME, message).with_data(data);
        serde_json::to_vec(&json!({ "jsonrpc": "2.0", "id": whole["id"], "error": error })).ok()
    })
}

/// How many bytes of each of two outputs can be shown in one reply. The shorter is not cut for the
/// longer.
#[must_use]
pub fn outputs(stdout: &[u8], stderr: &[u8]) -> (usize, usize) {
    // No byte takes more than six.
    if (stdout.len() + stderr.len()) * 6 <= OUTPUTS {
        return (stdout.len(), stderr.len());
    }
    let (first, second) = (String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr));
    let sizes = [escaped(&first), escaped(&second)];
    if sizes.iter().sum::<usize>() <= OUTPUTS {
        return (stdout.len(), stderr.len());
    }
    // Each has half, and what the other does not need of its own.
    let room = |other: usize| OUTPUTS - other.min(OUTPUTS / 2);
    (raw_prefix(stdout, room(sizes[1])), raw_prefix(stderr, room(sizes[0])))
}

/// The longest beginning of bytes whose lossy text takes no more than `room` on the wire.
fn raw_prefix(bytes: &[u8], room: usize) -> usize {
    let (mut taken, mut used) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            used += width(char);
            if used > room {
                return taken;
            }
            taken += char.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            used += char::REPLACEMENT_CHARACTER.len_utf8();
            if used > room {
                return taken;
            }
            taken += chunk.invalid().len();
        }
    }
    taken
}

/// What a character takes within a JSON text.
fn width(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

fn escaped(text: &str) -> usize {
    text.bytes().map(|byte| if byte < 0x80 { width(char::from(byte)) } else { 1 }).sum()
}

/// The longest beginning that takes no more than `room` on the wire.
fn prefix(text: &str, room: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, char)| {
        used += width(*char);
        used > room
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// The same message within the limit, if that can be done.
fn shorten(line: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut message: Value = serde_json::from_slice(line).ok()?;
    // Each step gives up more than the one before it.
    let flatten = |message: &mut Value, _: usize| flatten_foreign(message);
    for step in [keep, flatten, drop_old_items, drop_old_turns] {
        step(&mut message, limit);
        if let Some(short) = cut_texts(&mut message, limit) {
            return Some(short);
        }
    }
    None
}

fn keep(_message: &mut Value, _limit: usize) {}

/// Cuts the longest texts to one length, if the message is short enough then.
fn cut_texts(message: &mut Value, limit: usize) -> Option<Vec<u8>> {
    let whole = serde_json::to_vec(message).ok()?;
    if whole.len() <= limit {
        return Some(whole);
    }
    let mut sizes = Vec::new();
    measure(message, &mut sizes);
    let rest = whole.len() - sizes.iter().sum::<usize>();
    let taken = |level: usize| -> usize {
        sizes.iter().map(|size| if *size > level { level + MARK } else { *size }).sum()
    };
    let fits = |level: usize| rest + taken(level) <= limit;
    if !fits(FLOOR) {
        return None;
    }
    let (mut low, mut high) = (FLOOR, limit);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    cut(message, low, true);
    serde_json::to_vec(message).ok().filter(|short| short.len() <= limit)
}

/// What the texts that may be cut take on the wire.
fn measure(value: &Value, sizes: &mut Vec<usize>) {
    match value {
        Value::String(text) if text.len() > FLOOR / 6 => {
            let size = escaped(text);
            if size > FLOOR {
                sizes.push(size);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| measure(value, sizes)),
        Value::Object(members) => members.values().for_each(|value| measure(value, sizes)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cuts every text that takes more than `level`; says how many bytes those had for which the caller
/// has to put a mark, which are all of them in a value that is not ours.
fn cut(value: &mut Value, level: usize, is_ours: bool) -> usize {
    match value {
        Value::String(text) if text.len() > level / 6 && escaped(text) > level => {
            let full = text.len();
            *text = shortened(text, level);
            full
        }
        Value::Array(values) => values.iter_mut().map(|value| cut(value, level, is_ours)).sum(),
        Value::Object(members) => {
            let mut marks = Map::new();
            let mut all = 0;
            for (name, value) in members.iter_mut() {
                let full = cut(value, level, is_ours && !FOREIGN.contains(&name.as_str()));
                all += full;
                if full > 0 && is_ours {
                    marks.insert(name.clone(), full.into());
                }
            }
            if marks.is_empty() {
                return all;
            }
            members.insert("truncated".to_owned(), Value::Bool(true));
            members.insert("fullLength".to_owned(), Value::Object(marks));
            0
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The beginning of a text. Of a picture nothing is left but what it is: half of one cannot be shown.
fn shortened(text: &str, level: usize) -> String {
    let head = text.get(..FLOOR / 2).unwrap_or_default();
    if head.starts_with("data:")
        && let Some(comma) = head.find(";base64,")
    {
        return text[..comma + ";base64,".len()].to_owned();
    }
    prefix(text, level).to_owned()
}

/// Makes long values that are not ours texts, which can be cut.
fn flatten_foreign(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                let is_ours = !FOREIGN.contains(&name.as_str());
                match serde_json::to_string(value) {
                    Ok(text) if !is_ours && !value.is_string() && text.len() > FLOOR => {
                        *value = match name.as_str() {
                            "parameters" => json!({}),
                            _ => Value::String(text),
                        };
                    }
                    _ if is_ours => flatten_foreign(value),
                    _ => {}
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(flatten_foreign),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The turns of the thread in a result.
fn turns(message: &mut Value) -> Option<&mut Vec<Value>> {
    message.pointer_mut("/result/thread/turns")?.as_array_mut()
}

/// Leaves the items of the oldest turns out until there is room for the rest.
fn drop_old_items(message: &mut Value, limit: usize) {
    let Some(mut over) = least(message).map(|least| least.saturating_sub(limit)) else { return };
    for turn in turns(message).into_iter().flatten() {
        if over == 0 {
            return;
        }
        let before = least(turn).unwrap_or(0);
        match turn.get_mut("items").and_then(Value::as_array_mut) {
            Some(items) if !items.is_empty() => items.clear(),
            _ => continue,
        }
        turn["itemsView"] = Value::from("omitted");
        over = over.saturating_sub(before.saturating_sub(least(turn).unwrap_or(0)));
    }
}

/// Leaves the oldest turns out until there is room for the rest.
fn drop_old_turns(message: &mut Value, limit: usize) {
    // The mark needs room as well.
    let over = least(message).map(|least| (least + MARK).saturating_sub(limit));
    let Some((mut over, turns)) = over.zip(turns(message)) else { return };
    let mut dropped = 0;
    for turn in turns.iter() {
        if over == 0 {
            break;
        }
        over = over.saturating_sub(least(turn).unwrap_or(0) + 1);
        dropped += 1;
    }
    turns.drain(..dropped);
    message["result"]["thread"]["turnsOmitted"] = Value::from(dropped);
}

/// What a value takes with all of its long texts cut as far as may be.
fn least(value: &Value) -> Option<usize> {
    let mut sizes = Vec::new();
    measure(value, &mut sizes);
    let whole = serde_json::to_vec(value).ok()?.len();
    Some(whole - sizes.iter().map(|size| size.saturating_sub(FLOOR + MARK)).sum::<usize>())
}

#[cfg(test)]
mod tests;
