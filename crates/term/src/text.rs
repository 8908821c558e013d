//! The readable end of a byte ring: last N characters, decoded without touching the rest.
//! Knows nothing of escapes or screens.

/// What to do with a character whose last bytes have not arrived yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialEnd {
    /// Leave it out; it will be there next time.
    HoldBack,
    /// Decode it as U+FFFD, since nothing more will come.
    Replace,
}

/// The last `max_chars` Unicode scalar values of a byte ring, oldest slice first.
///
/// Bad sequences become U+FFFD exactly as in [`String::from_utf8_lossy`]. A character cut in two by
/// the ring's overwriting start (up to three continuation bytes at the very front) is dropped. Only
/// the tail is read, so the cost follows `max_chars`, not the size of the ring.
pub fn tail_chars(bytes: (&[u8], &[u8]), max_chars: usize, partial: PartialEnd) -> String {
    let ring = Ring(bytes.0, bytes.1);
    let first = ring.first_boundary();
    let end = match partial {
        PartialEnd::HoldBack => ring.complete_end(first),
        PartialEnd::Replace => ring.len(),
    };
    let tail = ring.copy(ring.tail_start(first, end, max_chars), end);
    String::from_utf8(tail)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// How many of these bytes are whole characters, leaving out one at the end that has only begun.
pub fn whole_chars_len(bytes: (&[u8], &[u8])) -> usize {
    let ring = Ring(bytes.0, bytes.1);
    ring.complete_end(0)
}

const LONGEST_CHAR: usize = 4;

/// ASCII is counted this many bytes at a time.
const ASCII_RUN: usize = 64;

struct Ring<'a>(&'a [u8], &'a [u8]);

impl Ring<'_> {
    fn len(&self) -> usize {
        self.0.len() + self.1.len()
    }

    fn at(&self, index: usize) -> u8 {
        if index < self.0.len() { self.0[index] } else { self.1[index - self.0.len()] }
    }

    fn copy(&self, start: usize, end: usize) -> Vec<u8> {
        let split = self.0.len();
        let mut bytes = Vec::with_capacity(end.saturating_sub(start));
        bytes.extend_from_slice(&self.0[start.min(split)..end.min(split)]);
        bytes.extend_from_slice(&self.1[start.max(split) - split..end.max(split) - split]);
        bytes
    }

    /// Skips the continuation bytes of a character whose beginning was overwritten.
    fn first_boundary(&self) -> usize {
        let front = self.len().min(LONGEST_CHAR - 1);
        (0..front).find(|index| !is_continuation(self.at(*index))).unwrap_or(front)
    }

    /// The end without an unfinished but so far valid character.
    fn complete_end(&self, first: usize) -> usize {
        let end = self.len();
        let lowest = end.saturating_sub(LONGEST_CHAR - 1).max(first);
        let Some(lead) = (lowest..end).rev().find(|index| !is_continuation(self.at(*index))) else {
            return end;
        };
        match std::str::from_utf8(&self.copy(lead, end)) {
            Err(error) if error.error_len().is_none() && error.valid_up_to() == 0 => lead,
            _ => end,
        }
    }

    /// Where the last `max_chars` decoded characters before `end` begin.
    ///
    /// A byte that is no continuation always begins a character, so the bytes fall into segments of
    /// one such byte and the continuation bytes after it; these are counted from the back.
    fn tail_start(&self, first: usize, end: usize, max_chars: usize) -> usize {
        let mut wanted = max_chars;
        let mut segment_end = end;
        let mut index = end;
        while index > first && wanted > 0 {
            if index == segment_end
                && wanted >= ASCII_RUN
                && index >= first + ASCII_RUN
                && self.is_ascii(index - ASCII_RUN, index)
            {
                index -= ASCII_RUN;
                wanted -= ASCII_RUN;
                segment_end = index;
                continue;
            }
            index -= 1;
            if is_continuation(self.at(index)) && index > first {
                // All of the run may be stray bytes; no need to find its head once it suffices.
                if segment_end - index >= wanted + LONGEST_CHAR {
                    return segment_end - wanted;
                }
                continue;
            }
            let chars = self.chars_in_segment(index, segment_end);
            if chars >= wanted {
                return if chars == wanted { index } else { segment_end - wanted };
            }
            wanted -= chars;
            segment_end = index;
        }
        segment_end
    }

    /// Whether these bytes lie in one piece and are all ASCII, each a character of its own.
    fn is_ascii(&self, start: usize, end: usize) -> bool {
        let split = self.0.len();
        if end <= split {
            self.0[start..end].is_ascii()
        } else {
            start >= split && self.1[start - split..end - split].is_ascii()
        }
    }

    /// Characters that lossy decoding makes of one segment: the head, then one per stray byte.
    fn chars_in_segment(&self, start: usize, end: usize) -> usize {
        if self.at(start) < 0x80 {
            return end - start;
        }
        let mut head = [0; LONGEST_CHAR];
        let length = (end - start).min(LONGEST_CHAR);
        head[..length]
            .iter_mut()
            .enumerate()
            .for_each(|(index, byte)| *byte = self.at(start + index));
        let head = &head[..length];
        let head_len = match head.utf8_chunks().next() {
            Some(chunk) => match chunk.valid().chars().next() {
                Some(c) => c.len_utf8(),
                None => chunk.invalid().len(),
            },
            None => 0,
        };
        1 + (end - start - head_len)
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(all: &[u8], max_chars: usize, partial: PartialEnd) -> String {
        let stray = all.iter().take(3).take_while(|byte| *byte & 0xc0 == 0x80).count();
        let mut all = &all[stray..];
        if partial == PartialEnd::HoldBack
            && let Some(last) = all.utf8_chunks().last()
        {
            let bad = last.invalid();
            if !bad.is_empty() && std::str::from_utf8(bad).unwrap_err().error_len().is_none() {
                all = &all[..all.len() - bad.len()];
            }
        }
        let text: Vec<char> = String::from_utf8_lossy(all).chars().collect();
        text[text.len().saturating_sub(max_chars)..].iter().collect()
    }

    #[test]
    fn takes_the_last_characters() {
        let tail = |text: &str, max| tail_chars((text.as_bytes(), &[]), max, PartialEnd::HoldBack);
        assert_eq!(tail("hello", 3), "llo");
        assert_eq!(tail("hello", 9), "hello");
        assert_eq!(tail("hello", 0), "");
        assert_eq!(tail("", 3), "");
        assert_eq!(tail("a日本", 2), "日本");
    }

    #[test]
    fn characters_survive_the_wrap_of_the_ring() {
        let bytes = "x日y".as_bytes();
        for split in 0..=bytes.len() {
            let halves = bytes.split_at(split);
            assert_eq!(tail_chars(halves, 2, PartialEnd::HoldBack), "日y");
        }
    }

    #[test]
    fn a_cut_first_character_is_dropped() {
        let bytes = &"日x".as_bytes()[1..];
        assert_eq!(tail_chars((bytes, &[]), 9, PartialEnd::Replace), "x");
        assert_eq!(tail_chars((&[0x80; 5], &[]), 9, PartialEnd::Replace), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn an_arriving_character_is_held_back() {
        let bytes = &"x日".as_bytes()[..3];
        assert_eq!(tail_chars((bytes, &[]), 9, PartialEnd::HoldBack), "x");
        assert_eq!(tail_chars((bytes, &[]), 9, PartialEnd::Replace), "x\u{fffd}");
        assert_eq!(tail_chars((b"x\xff", &[]), 9, PartialEnd::HoldBack), "x\u{fffd}");
    }

    fn noisy_bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            3 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
            2 => "[ -~\\n]".prop_map(String::into_bytes),
            2 => proptest::sample::select(vec![
                0x80u8, 0xbf, 0xc0, 0xc3, 0xe0, 0xe2, 0xed, 0xa0, 0xf0, 0xf4, 0x90, 0xf5, 0xff,
            ]).prop_map(|byte| vec![byte]),
            1 => (any::<char>(), 1usize..4).prop_map(|(c, len)| {
                let bytes = c.to_string().into_bytes();
                bytes[..len.min(bytes.len())].to_vec()
            }),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn agrees_with_decoding_everything(
            bytes in noisy_bytes(),
            split in any::<proptest::sample::Index>(),
            max_chars in 0usize..30,
            hold in any::<bool>(),
        ) {
            let partial = if hold { PartialEnd::HoldBack } else { PartialEnd::Replace };
            let halves = bytes.split_at(split.index(bytes.len() + 1));
            prop_assert_eq!(tail_chars(halves, max_chars, partial), naive(&bytes, max_chars, partial));
        }

        #[test]
        fn long_runs_of_ascii_are_counted_right(
            before in noisy_bytes(),
            ascii in 0usize..300,
            after in noisy_bytes(),
            split in any::<proptest::sample::Index>(),
            max_chars in 0usize..400,
        ) {
            let bytes = [before, vec![b'x'; ascii], after].concat();
            let halves = bytes.split_at(split.index(bytes.len() + 1));
            let tail = tail_chars(halves, max_chars, PartialEnd::HoldBack);
            prop_assert_eq!(tail, naive(&bytes, max_chars, PartialEnd::HoldBack));
        }
    }
}
