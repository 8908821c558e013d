//! Waits: nothing shown is missed, however briefly; nothing is matched that was not shown.

use std::time::Duration;

use proptest::prelude::*;

use super::{feed, screen, streams::pieces};
use crate::{Detail, Matcher, NoTranscript, Pattern, Screen, Transcript};

fn text(needle: &str) -> Matcher {
    Matcher::ContainsText(needle.to_owned())
}

fn pend(screen: &mut Screen, matcher: Matcher) {
    let (_, matched) = screen.wait(matcher, Detail::Cells, &NoTranscript, Duration::ZERO);
    assert!(matched.is_none());
}

#[test]
fn a_text_shown_and_wiped_in_one_chunk_is_matched() {
    for stream in [
        "NEEDLE\x1b[2J\x1b[H",
        "NEEDLE\x1b[2K\r",
        "NEEDLE\rxxxxxx",
        "NEEDLE\x1b[6D      ",
        "NEEDLE\x1b[6D\x1b[6X",
        "NEEDLE\x1b[6D\x1b[6P",
        "NEEDLE\x08\x08\x08zzz",
        "\x1b[?1049hNEEDLE\x1b[?1049l",
        "NEEDLE\x1bc",
        "NEEDLE\x1b#8",
        "NEEDLE\x1b[10S",
        "NEEDLE\x1b[H\x1b[10L",
        "NEEDLE\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9",
        "abcdefghijklmnopqNEEDLE\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7",
        "\x1b[31mNE\x1b[32mED\x1b[1mLE\x1b[2J",
        "   NEEDLE\rxy zabcdef",
        "one NEEDLE\r\x1b[4Cabcdefghi",
        "NEE\x1b[5;1Hother\x1b[1;4HDLE\x1b[2J",
    ] {
        for matcher in [
            text("NEEDLE"),
            Matcher::ScreenRegex(Pattern::new("NE+DLE")),
            Matcher::ScreenRegex(Pattern::new(r"(?s)N.*DLE\s*")),
        ] {
            let mut live = screen(5, 20);
            pend(&mut live, matcher.clone());
            let fed = feed(&mut live, stream);
            assert_eq!(fed.matched.len(), 1, "{stream:?} with {matcher:?}");
            assert!(fed.matched[0].snapshot.plain_text().contains("NEEDLE"), "{stream:?}");
            assert_eq!(live.pending_waits(), 0);
        }
    }
}

#[test]
fn ten_thousand_flashes_are_all_seen() {
    let mut live = screen(24, 80);
    for number in 0..10_000 {
        let flash = format!("flash-{number}!");
        pend(&mut live, text(&flash));
        let fed = feed(&mut live, format!("{flash}\r\x1b[K"));
        assert_eq!(fed.matched.len(), 1, "{flash}");
    }
}

#[test]
fn all_branches_must_hold_at_the_same_moment() {
    let mut live = screen(5, 20);
    pend(&mut live, Matcher::All(vec![text("one"), text("two")]));
    assert!(feed(&mut live, "one\x1b[2J\x1b[Htwo\x1b[2J\x1b[H").matched.is_empty());
    assert_eq!(feed(&mut live, "one two").matched.len(), 1);
}

#[test]
fn many_waiters_are_found_by_one_automaton() {
    let mut live = screen(5, 40);
    for number in 0..50 {
        pend(&mut live, text(&format!("<{number}>")));
    }
    pend(&mut live, text("<4"));
    let fed = feed(&mut live, "nothing <7><42> here");
    assert_eq!(fed.matched.len(), 3, "overlapping needles each match");
    assert_eq!(live.pending_waits(), 48);
}

#[test]
fn silence_is_counted_from_the_last_output_or_the_start_of_the_wait() {
    let mut live = screen(5, 20);
    let at = Duration::from_millis;
    live.feed(b"x", &NoTranscript, at(100));
    let (_, matched) =
        live.wait(Matcher::ScreenStable(at(400)), Detail::Cells, &NoTranscript, at(700));
    assert!(matched.is_none(), "idle time before the wait does not count");
    assert_eq!(live.next_due(), Some(at(1100)));
    live.feed(b"\x1b[m", &NoTranscript, at(900));
    assert_eq!(live.next_due(), Some(at(1300)), "invisible output counts");
    assert!(live.look_at_all(&NoTranscript, at(1299)).is_empty());
    assert_eq!(live.look_at_all(&NoTranscript, at(1300)).len(), 1);
}

#[test]
fn a_moment_that_passed_unseen_is_still_due() {
    let mut live = screen(5, 20);
    let at = Duration::from_millis;
    live.wait(Matcher::ScreenStable(at(1)), Detail::Cells, &NoTranscript, at(10));
    // The timer may fire late; then the moment is past, but not forgotten.
    assert_eq!(live.next_due(), Some(at(11)));
    let unsettled = Matcher::All(vec![text("never"), Matcher::ScreenStable(at(5))]);
    live.wait(unsettled, Detail::Cells, &NoTranscript, at(30));
    assert_eq!(live.pending_waits(), 2, "a new wait does not take others with it");
    assert_eq!(live.look_at_all(&NoTranscript, at(36)).len(), 1);
    assert_eq!(live.next_due(), None, "silence was seen and did not help; no need to look again");
}

#[test]
fn the_end_of_the_process_settles_every_wait() {
    let mut live = screen(5, 20);
    pend(&mut live, Matcher::ProcessExited);
    pend(&mut live, text("never"));
    pend(
        &mut live,
        Matcher::All(vec![text("never"), Matcher::ScreenStable(Duration::from_secs(1))]),
    );
    let (matched, hopeless) = live.process_exited(&NoTranscript, Duration::ZERO);
    assert_eq!((matched.len(), hopeless.len(), live.pending_waits()), (1, 1, 1));
}

struct Said(&'static str);

impl Transcript for Said {
    fn tail(&self) -> crate::Tail {
        self.0.into()
    }
}

#[test]
fn transcript_matchers_see_escapes_and_returns() {
    let mut live = screen(5, 20);
    pend(&mut live, Matcher::TranscriptContains("a\x1b[mb\r\n".to_owned()));
    assert!(live.feed(b"a", &Said("a"), Duration::ZERO).matched.is_empty());
    let fed = live.feed(b"\x1b[mb\r\n", &Said("a\x1b[mb\r\n"), Duration::ZERO);
    assert_eq!(fed.matched.len(), 1);
    assert_eq!(fed.matched[0].transcript_tail.text(), "a\x1b[mb\r\n");
}

fn seen_piece_by_piece<'a>(pieces: impl Iterator<Item = &'a [u8]>, needle: &str) -> bool {
    let mut live = screen(4, 12);
    let mut is_seen = live.plain_text().contains(needle);
    for piece in pieces {
        feed(&mut live, piece);
        is_seen |= live.plain_text().contains(needle);
    }
    is_seen
}

fn seen_in_one_chunk(bytes: impl AsRef<[u8]>, needle: &str) -> bool {
    let mut live = screen(4, 12);
    let (_, at_once) = live.wait(text(needle), Detail::Cells, &NoTranscript, Duration::ZERO);
    at_once.is_some() || !feed(&mut live, bytes).matched.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn overwriting_in_any_order_loses_no_sight(
        steps in prop::collection::vec((1u16..12, "[a-c ]{1,4}"), 1..14), needle in "[a-c]{1,3}"
    ) {
        let pieces: Vec<Vec<u8>> =
            steps.iter().map(|(col, text)| format!("\x1b[{col}G{text}").into_bytes()).collect();
        check_sight(&pieces, &needle)?;
    }

    /// What stands on the screen after any piece of output is found when all comes in one chunk, and
    /// nothing is found that never stood there.
    #[test]
    fn incremental_matching_equals_looking_after_every_piece(pieces in pieces(40), needle in "[a-c]{1,2}") {
        check_sight(&pieces, &needle)?;
    }
}

/// What stood after a piece is never missed; what half-overwritten text spells need not be found.
fn check_sight(pieces: &[Vec<u8>], needle: &str) -> Result<(), TestCaseError> {
    let bytes = pieces.concat();
    let after_pieces = seen_piece_by_piece(pieces.iter().map(Vec::as_slice), needle);
    // Synchronized output is shown at once, so what scrolls off within it never stood there; finding
    // it all the same is no harm.
    let is_sync = |piece: &&Vec<u8>| piece.starts_with(b"\x1b[?2026");
    let unheld =
        pieces.iter().filter(|piece| !is_sync(piece)).cloned().collect::<Vec<_>>().concat();
    let after_bytes = seen_piece_by_piece(bytes.chunks(1), needle)
        || seen_piece_by_piece(unheld.chunks(1), needle);
    let found = seen_in_one_chunk(&bytes, needle);
    prop_assert!(
        after_pieces <= found && found <= after_bytes,
        "{after_pieces} {found} {after_bytes}"
    );
    Ok(())
}
