//! Whatever headers a request has: the rules of entry answer without a panic, and what they let through names
//! us, has our own origin if it has one, and presents no more than a few credentials.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_wire::transport::http::{Entry, Head, Origin, Purpose, Request};

const NAMES: &[&str] =
    &["Host", "Origin", "Cookie", "Sec-Fetch-Site", "Authorization", "Sec-WebSocket-Protocol"];

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    // A line each; its first character says which header it is.
    let headers: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|line| {
            let first = line.chars().next()?;
            Some((NAMES[first as usize % NAMES.len()], &line[first.len_utf8()..]))
        })
        .collect();
    let origins: Vec<Origin> = ["https://box.ts.net", "http://lan.example:7665"]
        .into_iter()
        .filter_map(Origin::parse)
        .collect();
    let entry = Entry::new(origins.clone());
    let request = Request {
        head: Head::new("GET", "/link", &headers),
        body: Default::default(),
        peer: ([127, 0, 0, 1], 50_000).into(),
        local: ([127, 0, 0, 1], 7665).into(),
        is_encrypted: input.len() % 2 == 1,
    };
    for purpose in [Purpose::Open, Purpose::Read, Purpose::Act] {
        let Ok(visitor) = entry.judge(&request, purpose) else { continue };
        assert_eq!(request.head.all("host").count(), 1);
        assert!(visitor.credentials.len() <= 4);
        let shown = visitor.origin.to_string();
        assert_eq!(Origin::parse(&shown).as_ref(), Some(&visitor.origin), "{shown}");
        if purpose == Purpose::Act && visitor.has_cookie {
            let mut own = request.head.all("origin").filter_map(Origin::parse);
            assert!(own.all(|origin| origin == visitor.origin));
            assert_eq!(request.head.all("origin").count(), 1);
        }
        if purpose != Purpose::Open {
            assert!(request.head.all("sec-fetch-site").all(|site| site == "same-origin"));
            let _ = entry.refuse(&visitor);
        }
        assert!(visitor.cookie("a.b", 1).contains("; HttpOnly; SameSite=Strict; Path=/;"));
    }
});
