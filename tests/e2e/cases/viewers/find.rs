//! Any row of a long history is shown, and what is found in it is what a dump has.

use rookery_testkit::{Random, TestDaemon};
use serde_json::{Value, json};

use super::{Link, shows};

/// A terminal with this much history, and a viewer at it.
fn at(daemon: &TestDaemon, script: &str, scrollback: u64) -> (u64, Link) {
    let params = json!({"argv": ["sh", "-c", script], "scrollback": scrollback, "cols": 80});
    let opened = daemon.client().call("rookery/terminals/open", params);
    let t = opened["id"].as_u64().unwrap();
    let link = Link::open(daemon, json!({"place": {"page": "workspace", "terminal": t}}));
    (t, link)
}

#[test]
fn any_row_of_a_hundred_thousand_is_shown() {
    let daemon = TestDaemon::start();
    let (t, mut link) = at(&daemon, "seq 1 100100; echo the end; cat", 100_000);
    link.wait_frame(|frame| shows(frame, "the end"));
    let found = link.call("rookery/view/find", json!({"t": t, "text": "100100"}));
    let last = found["matches"][0][0].as_u64().unwrap();
    // Row numbers and what `seq` printed count together.
    let first_number = 100_100 - last;
    let seed = Random::seed("ROOKERY_ROWS_SEED");
    eprintln!("rows: ROOKERY_ROWS_SEED={seed}");
    let mut random = Random::new(seed);
    for _ in 0..40 {
        let row = last - 50 - random.below(99_000);
        link.tell("rookery/view/scroll", json!({"t": t, "to": "row", "row": row}));
        link.wait_frame(|frame| {
            let terms = frame["terms"].as_array().into_iter().flatten();
            let mut rows = terms.flat_map(|term| term["rows"].as_array().into_iter().flatten());
            rows.any(|shown| shown[0] == row && shown[1] == *(row + first_number).to_string())
        });
        link.frames.clear();
    }
    let rows = json!({"t": t, "epoch": found["epoch"], "from": last - 90_000, "count": 1000});
    let fetched = link.call("rookery/view/rows", rows);
    assert_eq!(fetched["rows"].as_array().unwrap().len(), 1000);
    assert_eq!(fetched["rows"][999][1], (last - 90_000 + 999 + first_number).to_string());
}

/// Every match of a find, also those that come later, oldest first.
fn find_all(link: &mut Link, t: u64, params: &Value) -> Vec<(u64, u64, u64)> {
    let mut all = json!({"t": t});
    all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    link.frames.clear();
    let mut found = link.call("rookery/view/find", all);
    let mut matches = found["matches"].as_array().unwrap().clone();
    let mut seen = 0;
    while found["more"] == true {
        let is_later = |frame: &Value| frame["terms"].to_string().contains("\"found\"");
        while !link.frames[seen..].iter().any(is_later) {
            let message = link.lines.next_json().expect("the connection is open");
            link.take(message);
        }
        seen += link.frames[seen..].iter().position(is_later).unwrap() + 1;
        let terms = link.frames[seen - 1]["terms"].as_array().unwrap();
        found = terms.iter().find(|term| term["t"] == t).unwrap()["found"].clone();
        matches.extend(found["matches"].as_array().unwrap().clone());
    }
    assert_eq!(found["total"], matches.len(), "{params}");
    let number = |found: &Value, at: usize| found[at].as_u64().unwrap();
    let triple = |found: &Value| (number(found, 0), number(found, 1), number(found, 2));
    let newest_first: Vec<_> = matches.iter().map(triple).collect();
    assert!(newest_first.windows(2).all(|two| two[0] > two[1]), "newest first");
    newest_first.into_iter().rev().collect()
}

/// The cells of a row: the text of each, empty behind a wide one.
fn cells(text: &Value) -> Vec<String> {
    let plain = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
    let part = |part: &Value| match part {
        Value::String(text) => plain(text),
        cluster => {
            let width = cluster[1].as_u64().unwrap() as usize;
            let mut cells = vec![String::new(); width];
            cells[0] = cluster[0].as_str().unwrap().to_owned();
            cells
        }
    };
    match text {
        Value::String(text) => plain(text),
        parts => parts.as_array().unwrap().iter().flat_map(part).collect(),
    }
}

#[test]
fn find_agrees_with_a_dump_of_all_history() {
    let daemon = TestDaemon::start();
    // Long lines that wrap, wide characters at every column, blanks and combining marks.
    let script = "awk 'BEGIN { srand(7); split(\"a b ab needle 日 本 e\\314\\201 x1 42 .\", w, \" \"); \
        for (i = 0; i < 400; i++) { line = \"\"; n = int(rand() * 40); \
        for (j = 0; j < n; j++) line = line w[1 + int(rand() * 10)] (rand() < 0.3 ? \" \" : \"\"); \
        print i \":\" line } }'; echo the end; cat";
    let (t, mut link) = at(&daemon, script, 50_000);
    link.wait_frame(|frame| shows(frame, "the end"));
    let dump = json!({"terminal": t, "history": 100000, "redact": false});
    let dump = daemon.client().call("rookery/terminals/dump", dump);
    let dump = dump["text"].as_str().unwrap();
    // All rows as the link has them, joined where they run on.
    let mut rows: Vec<Value> = Vec::new();
    let epoch = link.call("rookery/view/find", json!({"t": t, "text": "the end"}))["epoch"].clone();
    let last = dump.lines().count() as u64 * 10;
    for from in (0..last).step_by(1000) {
        let params = json!({"t": t, "epoch": epoch, "from": from, "count": 1000});
        let found = link.call("rookery/view/rows", params);
        rows.extend(found["rows"].as_array().unwrap().clone());
    }
    let by_number: std::collections::BTreeMap<u64, (Vec<String>, bool)> = rows
        .iter()
        .map(|row| {
            let runs_on = row.get(3).and_then(Value::as_u64).unwrap_or(0) & 1 == 1;
            (row[0].as_u64().unwrap(), (cells(&row[1]), runs_on))
        })
        .collect();
    let cases = [
        (json!({"text": "needle"}), "(?i)needle"),
        (json!({"text": "needle", "case": "sensitive"}), "needle"),
        (json!({"text": "日本"}), "日本"),
        (json!({"text": "e\u{301}"}), "e\u{301}"),
        (json!({"text": "[0-9]+:", "regex": true}), "(?i)[0-9]+:"),
        (json!({"text": "^[0-9]*7:a", "regex": true}), "(?i)^[0-9]*7:a"),
        (json!({"text": "(ab){2,}日?", "regex": true}), "(?i)(ab){2,}日?"),
        (json!({"text": "\\S{90,}", "regex": true}), "(?i)\\S{90,}"),
        (json!({"text": "nowhere to be seen"}), "nowhere to be seen"),
    ];
    for (params, pattern) in cases {
        let pattern = regex::Regex::new(pattern).unwrap();
        let expected: Vec<&str> =
            dump.lines().flat_map(|line| pattern.find_iter(line)).map(|it| it.as_str()).collect();
        let found = find_all(&mut link, t, &params);
        assert_eq!(found.len(), expected.len(), "{params}");
        for ((row, col, cells), expected) in found.into_iter().zip(expected) {
            let mut text = String::new();
            let (mut number, mut at, mut left) = (row, col as usize, cells as usize);
            while left > 0 {
                let (cells, _) = &by_number[&number];
                let here = left.min(80 - at);
                // What a row does not have is blank: a wide character may not fit at its end.
                text.extend(cells.iter().skip(at).take(here).map(String::as_str));
                (number, at, left) = (number + 1, 0, left - here);
            }
            // A match may end before the mark that its last cell has.
            let letters = |text: &str| text.trim_end_matches('\u{301}').to_owned();
            assert_eq!(letters(&text), letters(expected), "{params} at {row}:{col}");
        }
    }
}
