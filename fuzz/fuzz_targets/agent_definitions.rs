//! Files of agent definitions that any repository may have: understood or refused with a reason. What is
//! understood has a usable name and a description, and names no tool twice.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use rookery_agent::definitions::{Source, parse};

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let (read, doubts) = match parse(&text, Source::Workspace) {
        Ok(read) => read,
        Err(reason) => return assert!(!reason.is_empty()),
    };
    assert!(doubts.iter().all(|doubt| !doubt.is_empty()));
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    assert!(!read.name.is_empty() && read.name.bytes().all(is_part));
    assert!(!read.description.trim().is_empty());
    let tools = read.tools.unwrap_or_default();
    assert_eq!(tools.iter().collect::<HashSet<_>>().len(), tools.len());
    assert_ne!((read.max_turns, read.max_result_chars), (Some(0), Some(0)));
});
