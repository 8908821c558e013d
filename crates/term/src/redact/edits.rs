//! Replacements and where they came from: rules that run one after another over already changed
//! text, mapped back to ranges of the original.

use std::ops::Range;

/// One replacement: this range of the original text becomes this text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Byte range in the original text; empty where something was only inserted.
    pub range: Range<usize>,
    /// What stands there instead.
    pub text: String,
}

/// Applies replacements that are sorted and do not overlap.
pub(super) fn apply(original: &str, redactions: &[Redaction]) -> String {
    let mut text = String::with_capacity(original.len());
    let mut copied = 0;
    for redaction in redactions {
        text.push_str(&original[copied..redaction.range.start]);
        text.push_str(&redaction.text);
        copied = redaction.range.end;
    }
    text.push_str(&original[copied..]);
    text
}

/// Sorts replacements of one text and joins those that overlap. Where their texts differ, `plain`
/// stands for both: either text may hold something that the other one hides.
pub(super) fn union(mut redactions: Vec<Redaction>, plain: &str) -> Vec<Redaction> {
    redactions.retain(|redaction| !redaction.range.is_empty());
    redactions.sort_by_key(|redaction| (redaction.range.start, usize::MAX - redaction.range.end));
    let mut joined: Vec<Redaction> = Vec::with_capacity(redactions.len());
    for redaction in redactions {
        match joined.last_mut() {
            Some(last) if redaction.range.start < last.range.end => {
                last.range.end = last.range.end.max(redaction.range.end);
                if last.text != redaction.text {
                    plain.clone_into(&mut last.text);
                }
            }
            _ => joined.push(redaction),
        }
    }
    joined
}

/// A stretch of the current text.
#[derive(Clone, Debug)]
struct Segment {
    len: usize,
    origin: Range<usize>,
    /// `None` for original text. Pieces with the same number are parts of one replacement, whose
    /// inside cannot be distinguished in the original.
    group: Option<usize>,
}

/// A text under successive replacement, and how it maps to the original.
#[derive(Debug)]
pub(super) struct Draft {
    text: String,
    pieces: Vec<Segment>,
    groups: usize,
}

impl Draft {
    pub(super) fn new(original: &str) -> Self {
        let whole = Segment { len: original.len(), origin: 0..original.len(), group: None };
        Self { text: original.to_owned(), pieces: vec![whole], groups: 0 }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Replaces ranges of the current text, which are sorted and do not overlap.
    pub(super) fn replace(&mut self, edits: Vec<Redaction>) {
        if edits.is_empty() {
            return;
        }
        self.text = apply(&self.text, &edits);
        let mut rest =
            Rest { pieces: std::mem::take(&mut self.pieces).into_iter().rev().collect() };
        let mut done = Vec::new();
        let mut position = 0;
        for edit in edits {
            rest.take(edit.range.start - position, &mut done);
            let mut removed = Vec::new();
            rest.take(edit.range.len(), &mut removed);
            position = edit.range.end;
            self.insert(edit.text.len(), &removed, &mut done, &mut rest);
        }
        done.append(&mut rest.pieces.into_iter().rev().collect());
        self.pieces = done;
    }

    /// Puts a new replacement between `done` and `rest`, joined with every group it cut into.
    fn insert(
        &mut self,
        len: usize,
        removed: &[Segment],
        done: &mut Vec<Segment>,
        rest: &mut Rest,
    ) {
        let before = done.last();
        let after = rest.pieces.last();
        let split =
            match (before.and_then(|piece| piece.group), after.and_then(|piece| piece.group)) {
                (Some(left), Some(right)) if left == right => Some(left),
                _ => None,
            };
        let origin = match (removed.first(), removed.last()) {
            (Some(first), Some(last)) => first.origin.start..last.origin.end,
            _ => {
                let here = match (before, after) {
                    (_, Some(after)) => after.origin.start,
                    (Some(before), None) => before.origin.end,
                    (None, None) => 0,
                };
                here..here
            }
        };
        let group = self.groups;
        self.groups += 1;
        for touched in removed.iter().filter_map(|piece| piece.group).chain(split) {
            for piece in done.iter_mut().chain(&mut rest.pieces) {
                if piece.group == Some(touched) {
                    piece.group = Some(group);
                }
            }
        }
        done.push(Segment { len, origin, group: Some(group) });
    }

    /// The replacements as seen from the original text.
    pub(super) fn redactions(&self) -> Vec<Redaction> {
        let mut found: Vec<(usize, Redaction)> = Vec::new();
        let mut position = 0;
        for piece in &self.pieces {
            let text = &self.text[position..position + piece.len];
            position += piece.len;
            let Some(group) = piece.group else { continue };
            match found.last_mut() {
                Some((last, redaction)) if *last == group => {
                    redaction.text.push_str(text);
                    redaction.range.start = redaction.range.start.min(piece.origin.start);
                    redaction.range.end = redaction.range.end.max(piece.origin.end);
                }
                _ => {
                    let range = piece.origin.clone();
                    found.push((group, Redaction { range, text: text.to_owned() }));
                }
            }
        }
        found.into_iter().map(|(_, redaction)| redaction).collect()
    }
}

/// Pieces not yet looked at, last one first.
struct Rest {
    pieces: Vec<Segment>,
}

impl Rest {
    /// Moves `len` bytes' worth of pieces to `into`, splitting the last one if need be.
    fn take(&mut self, mut len: usize, into: &mut Vec<Segment>) {
        while len > 0 {
            let Some(piece) = self.pieces.pop() else { return };
            if piece.len <= len {
                len -= piece.len;
                into.push(piece);
                continue;
            }
            let (left, right) = split(piece, len);
            into.push(left);
            self.pieces.push(right);
            return;
        }
    }
}

fn split(piece: Segment, at: usize) -> (Segment, Segment) {
    let mut left = Segment { len: at, ..piece.clone() };
    let mut right = Segment { len: piece.len - at, ..piece };
    if left.group.is_none() {
        left.origin.end = left.origin.start + at;
        right.origin.start = left.origin.end;
    }
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edit(range: Range<usize>, text: &str) -> Redaction {
        Redaction { range, text: text.into() }
    }

    #[test]
    fn later_edits_map_back_through_earlier_ones() {
        let mut draft = Draft::new("token=sk-secret end");
        draft.replace(vec![edit(6..15, "[X]")]);
        assert_eq!(draft.text(), "token=[X] end");
        draft.replace(vec![edit(6..8, "[X]")]);
        assert_eq!(draft.text(), "token=[X]] end");
        assert_eq!(draft.redactions(), [edit(6..15, "[X]]")]);
        draft.replace(vec![edit(0..5, "T"), edit(11..14, "E")]);
        assert_eq!(draft.redactions(), [edit(0..5, "T"), edit(6..15, "[X]]"), edit(16..19, "E")]);
    }

    #[test]
    fn insertion_inside_a_replacement_joins_it() {
        let mut draft = Draft::new("abc");
        draft.replace(vec![edit(1..2, "XY")]);
        draft.replace(vec![edit(0..0, "<"), edit(2..2, "-"), edit(4..4, ">")]);
        assert_eq!(draft.text(), "<aX-Yc>");
        assert_eq!(draft.redactions(), [edit(0..0, "<"), edit(1..2, "X-Y"), edit(3..3, ">")]);
    }

    #[test]
    fn union_joins_overlaps_only() {
        let edits = vec![edit(4..6, "b"), edit(0..4, "a"), edit(5..9, "c"), edit(2..2, "")];
        assert_eq!(union(edits, "p"), [edit(0..4, "a"), edit(4..9, "p")]);
        let same = vec![edit(0..4, "a"), edit(2..6, "a")];
        assert_eq!(union(same, "p"), [edit(0..6, "a")]);
    }

    /// Cuts as fractions of the text, so that they stay meaningful as it changes.
    fn edits_for(len: usize, cuts: &[(u16, u16, String)]) -> Vec<Redaction> {
        let mut edits: Vec<Redaction> = Vec::new();
        let mut low = 0;
        for (skip, take, text) in cuts {
            let start = low + usize::from(*skip);
            let end = start + usize::from(*take);
            if end > len {
                break;
            }
            edits.push(edit(start..end, text));
            low = end;
        }
        edits
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn replacements_seen_from_the_original_rebuild_the_draft(
            original in "[a-z]{0,20}",
            rounds in proptest::collection::vec(
                proptest::collection::vec((0u16..6, 0u16..5, "[A-Z]{0,4}"), 0..5), 0..5,
            ),
        ) {
            let mut draft = Draft::new(&original);
            for cuts in &rounds {
                draft.replace(edits_for(draft.text().len(), cuts));
            }
            let redactions = draft.redactions();
            for pair in redactions.windows(2) {
                prop_assert!(pair[0].range.end <= pair[1].range.start, "{:?}", redactions);
            }
            prop_assert_eq!(apply(&original, &redactions), draft.text());
        }
    }
}
