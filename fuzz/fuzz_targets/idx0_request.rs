//! Requests of the idx0 dialect: where one ends does not depend on how its bytes are cut, a whole
//! object is never cut short, and every request is read or complained about in one string.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_fuzz::cut;
use rookery_idx0::envelope::{self, Reply};
use rookery_idx0::values::{list, parse_date, parse_uuid, uuid};
use rookery_wire::exchange::RequestEnd;

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = cut(input);
    let mut end = RequestEnd::default();
    let ends_in_pieces = pieces.into_iter().any(|piece| end.find(piece));
    assert_eq!(ends_in_pieces, RequestEnd::default().find(whole));
    let is_object = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(whole);
    assert!(is_object.is_err() || ends_in_pieces, "an object has an end");
    match envelope::parse(whole) {
        Ok(request) => request.payload.values().for_each(|value| check(value)),
        Err(reason) => {
            let reply = Reply::invalid(reason).to_bytes();
            let reply: serde_json::Value = serde_json::from_slice(&reply).expect("a reply is JSON");
            assert!(
                reply["message"].as_str().is_some_and(|it| it.starts_with("Invalid IPC request: "))
            );
        }
    }
});

fn check(value: &str) {
    if let Some(id) = parse_uuid(value) {
        assert_eq!(uuid(id), value.to_uppercase());
    }
    let _ = parse_date(value);
    assert!(list(value).iter().all(|part| !part.is_empty() && part.trim() == part));
}
