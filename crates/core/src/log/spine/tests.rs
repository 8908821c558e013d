//! What readers get who keep up, and those who do not.

use rookery_agent::turn::Delta;
use rookery_model::{ItemId, TurnId};

use super::super::ItemChange;
use super::*;

/// Enough for a thousand small notices or so.
const WHOLE: usize = 1 << 20;

fn change(number: usize) -> NoticeBody {
    NoticeBody::Warning(number.to_string())
}

fn delta(text: &str) -> NoticeBody {
    let (text, phase) = (text.to_owned(), String::new());
    let change = ItemChange::Delta(ItemId::new("item"), Delta::Text { text, phase });
    NoticeBody::Item(TurnId::new(1), change)
}

/// What a reader got: changes by their texts, deltas by theirs, gaps by their size.
fn sketch(news: &News) -> String {
    let notice = match news {
        News::Notice(notice) => notice,
        News::DeltasMissed(count) => return format!("-{count}"),
        other => panic!("{other:?}"),
    };
    match &notice.body {
        NoticeBody::Warning(text) => text.clone(),
        NoticeBody::Item(_, ItemChange::Delta(_, Delta::Text { text, .. })) => format!("+{text}"),
        other => panic!("{other:?}"),
    }
}

fn spine() -> Arc<Spine> {
    Spine::within(LIMITS.whole, LIMITS.older)
}

fn take(reader: &SpineReader) -> Vec<String> {
    reader.take().unwrap().iter().map(|(_, news)| sketch(news)).collect()
}

/// Everything that there is to read now.
fn drain(reader: &SpineReader) -> Vec<String> {
    let mut got = Vec::new();
    while reader.has_more() {
        got.extend(take(reader));
    }
    got
}

fn held(spine: &Spine) -> usize {
    let state = spine.state.lock();
    state.older.bytes + state.recent.bytes
}

#[test]
fn every_reader_gets_everything_once_and_in_order() {
    let spine = spine();
    spine.send(None, (0..3).map(change));
    let readers = [spine.read(), spine.read()];
    spine.send(None, (3..1000).map(change));
    let expected: Vec<_> = (3..1000).map(|number| number.to_string()).collect();
    for reader in &readers {
        assert_eq!(drain(reader), expected);
    }
    assert_eq!(held(&spine), 0);
}

#[test]
fn a_reader_within_its_backlog_loses_nothing() {
    let spine = spine();
    let reader = spine.read();
    let mut sent = Vec::new();
    for number in 0..1000 {
        spine.send(None, [delta(&number.to_string()), change(number)]);
        sent.extend([format!("+{number}"), number.to_string()]);
    }
    // Most of the backlog is taken by one large text.
    spine.send(None, [delta(&"x".repeat(LIMITS.whole - (1 << 20)))]);
    let got = drain(&reader);
    assert_eq!(got[..2000], sent);
    assert_eq!((got.len(), got[2000].len()), (2001, LIMITS.whole - (1 << 20) + 1));
}

#[test]
fn attack_a_reader_that_stops_loses_deltas_is_told_how_many_and_gets_every_change_in_order() {
    let spine = Spine::within(WHOLE, WHOLE);
    let (slow, quick) = (spine.read(), spine.read());
    let text = "x".repeat(1000);
    for number in 0..1000 {
        spine.send(None, [delta(&text), delta(&text), change(number)]);
        assert_eq!(drain(&quick).len(), 3);
        assert!(held(&spine) <= 2 * WHOLE + (1 << 10));
    }
    let got = drain(&slow);
    let changes: Vec<_> = got.iter().filter(|one| !one.starts_with(['+', '-'])).collect();
    let expected: Vec<_> = (0..1000).map(|number| number.to_string()).collect();
    assert_eq!(changes, expected.iter().collect::<Vec<_>>());
    let deltas = got.iter().filter(|one| one.starts_with('+')).count();
    // One gap, reported where it begins, and nothing missing after the first delta that is there.
    assert_eq!(got[0], format!("-{}", 2000 - deltas));
    assert_eq!(got.iter().filter(|one| one.starts_with('-')).count(), 1);
    let first = got.iter().position(|one| one.starts_with('+')).unwrap();
    assert!(deltas > 500 && got.len() - first >= deltas / 2 * 3);
    assert_eq!(held(&spine), 0);
    // It goes on like everyone else.
    spine.send(None, [delta("more"), change(1000)]);
    assert_eq!(drain(&slow), ["+more", "1000"]);
}

#[test]
fn gaps_that_open_while_a_reader_catches_up_are_reported_too() {
    let spine = Spine::within(WHOLE, 16 * WHOLE);
    let reader = spine.read();
    let text = "x".repeat(1000);
    let (mut reported, mut deltas, mut changes) = (0, 0, 0);
    let mut count = |batch: Vec<String>| {
        for one in batch {
            match one.split_at(1) {
                ("-", count) => reported += count.parse::<u64>().unwrap(),
                ("+", _) => deltas += 1,
                _ => changes += 1,
            }
        }
    };
    for number in 0..5000 {
        spine.send(None, [delta(&text), delta(&text), change(number)]);
        if number % 500 == 0 {
            count(take(&reader));
        }
    }
    count(drain(&reader));
    assert_eq!((reported + deltas, changes), (10_000, 5000));
    assert!(reported > 0 && deltas > 0);
}

#[test]
fn attack_a_reader_that_misses_too_many_changes_is_cut_off_and_no_other() {
    let spine = Spine::within(WHOLE, WHOLE);
    let (slow, quick) = (spine.read(), spine.read());
    let mut sent = 0;
    while slow.spine.state.lock().readers.values().all(|reader| !reader.is_cut_off) {
        spine.send(None, (sent..sent + 100).map(change));
        sent += 100;
        assert_eq!(drain(&quick).len(), 100);
        assert!(held(&spine) <= 2 * WHOLE + (1 << 20));
    }
    assert!(slow.take().is_err());
    assert_eq!(held(&spine), 0);
    spine.send(None, [change(0)]);
    assert_eq!(drain(&quick), ["0"]);
}

#[test]
fn attack_many_readers_that_stop_cost_no_more_than_one() {
    let spine = Spine::within(WHOLE, WHOLE);
    let mut stopped = Vec::new();
    for number in 0..2000 {
        if number % 20 == 0 {
            stopped.push(spine.read());
        }
        spine.send(None, [delta(&"x".repeat(10_000)), change(number)]);
        assert!(held(&spine) <= 2 * WHOLE + (1 << 14));
    }
    drop(stopped);
    assert_eq!(held(&spine), 0);
}

#[test]
fn readers_end_with_the_spine_after_what_was_sent() {
    let spine = spine();
    let reader = spine.read();
    spine.send(None, [change(1)]);
    spine.close();
    assert_eq!(take(&reader), ["1"]);
    assert!(reader.has_more() && reader.take().is_err());
}
