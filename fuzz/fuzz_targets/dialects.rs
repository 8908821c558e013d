//! Requests of every dialect of the registry: whatever comes, it is read or refused in words, and what
//! is read names a row of the dialect's table. A further dialect is looked at as soon as it is a row.
#![no_main]

use std::cell::LazyCell;

use libfuzzer_sys::fuzz_target;
use rookery_dialects::DIALECTS;

thread_local! {
    static NAMES: LazyCell<Vec<Vec<&'static str>>> = LazyCell::new(|| {
        let names = |ops: Vec<rookery_dialects::Op>| ops.iter().map(|op| op.name).collect();
        DIALECTS.iter().map(|dialect| names(dialect.ops().0)).collect()
    });
}

fuzz_target!(|request: &[u8]| {
    NAMES.with(|names| {
        for (dialect, names) in DIALECTS.iter().zip(&**names) {
            match dialect.read(request) {
                Ok(name) => assert!(names.contains(&name), "{name} is no row of {}", dialect.name),
                Err(words) => assert!(!words.is_empty(), "{} says nothing", dialect.name),
            }
        }
    });
});
