//! Schemas that scripts and clients bring, and values that are held against them: each is refused with a reason
//! or answers the same twice, in bounded time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_scripts::schema::{check, validate};
use rookery_scripts::structured::Schema;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let mut lines = input.splitn(2, |byte| *byte == b'\n');
    let Some(Ok(schema)) = lines.next().map(serde_json::from_slice::<Value>) else { return };
    let rest = lines.next().unwrap_or_default();
    let value = serde_json::from_slice::<Value>(rest).unwrap_or(Value::Null);
    if let Err(why) = check(&schema) {
        assert!(!why.is_empty());
        return;
    }
    let fits = validate(&schema, &value);
    assert_eq!(fits, validate(&schema, &value));
    if let Ok(read) = Schema::read(&schema) {
        assert!(!read.instructions().is_empty());
        // What an agent says, as text around a value or not.
        let _ = read.value(&String::from_utf8_lossy(rest));
    }
});
