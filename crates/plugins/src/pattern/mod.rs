//! Lua's patterns, with a budget.
//!
//! Lua's own functions for patterns run in C, where nothing counts how long they take: a short pattern can
//! backtrack for minutes. This is the same language with every step counted.

mod replace;

pub(crate) use replace::replace;

/// How many captures a pattern may have.
const MAX_CAPTURES: usize = 32;

/// How deep parts of a pattern may wait for each other.
const MAX_DEPTH: usize = 200;

/// How many bytes are compared for one step when whole strings are compared or copied.
const BYTES_PER_STEP: usize = 16;

/// After how many steps the clock is looked at.
const STEPS_PER_LOOK: u64 = 1 << 16;

/// Why a pattern gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// The pattern or the replacement is wrong; the message is Lua's.
    Malformed(String),
    /// The budget is used up.
    Budget,
    /// The time is over.
    Late,
    /// The result has more bytes than it may have.
    TooLong,
}

impl PatternError {
    fn malformed<T>(why: &str) -> Result<T, Self> {
        Err(Self::Malformed(why.to_owned()))
    }
}

type Outcome<T> = Result<T, PatternError>;

/// What a capture holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capture {
    /// Bytes of the text.
    Span(usize, usize),
    /// The place itself, counted from 0.
    Position(usize),
    /// It was opened at this place and not closed.
    Open(usize),
}

/// Where a pattern was found, and what it captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) captures: Vec<Capture>,
}

impl Found {
    /// A capture by its index; without captures, the first is the whole match.
    pub(crate) fn value(&self, index: usize) -> Option<Capture> {
        match (index, self.captures.is_empty()) {
            (0, true) => Some(Capture::Span(self.start, self.end)),
            _ => self.captures.get(index).copied(),
        }
    }
}

/// A pattern and the text it is looked for in.
pub(crate) struct Search<'a> {
    text: &'a [u8],
    pattern: &'a [u8],
    captures: Vec<Capture>,
    depth: usize,
    steps: u64,
    late: &'a dyn Fn() -> bool,
}

impl<'a> Search<'a> {
    /// A search that may take `steps`, and asks now and then whether it is too late to go on.
    pub(crate) fn new(
        text: &'a [u8],
        pattern: &'a [u8],
        steps: u64,
        late: &'a dyn Fn() -> bool,
    ) -> Self {
        Self { text, pattern, captures: Vec::new(), depth: 0, steps, late }
    }

    pub(crate) fn steps_left(&self) -> u64 {
        self.steps
    }

    /// The first match that begins at `from` or later; a leading `^` ties it to `from`.
    pub(crate) fn find(&mut self, from: usize) -> Outcome<Option<Found>> {
        self.next(from, None, self.is_anchored())
    }

    /// The first match from `from` on that does not end at `not_ending`.
    ///
    /// If `anchored`, the pattern's first byte is an anchor and not looked for.
    pub(crate) fn next(
        &mut self,
        from: usize,
        not_ending: Option<usize>,
        anchored: bool,
    ) -> Outcome<Option<Found>> {
        let lead = if anchored { None } else { self.leading_byte() };
        let mut start = from;
        while start <= self.text.len() {
            if let Some(byte) = lead {
                start = match self.skip_to(start, byte)? {
                    Some(next) => next,
                    None => return Ok(None),
                };
            }
            match self.at(start, usize::from(anchored))? {
                Some(end) if Some(end) != not_ending => {
                    return Ok(Some(Found { start, end, captures: self.captures.clone() }));
                }
                _ if anchored => return Ok(None),
                _ => start += 1,
            }
        }
        Ok(None)
    }

    fn is_anchored(&self) -> bool {
        self.pattern.first() == Some(&b'^')
    }

    /// The end of a match of the pattern, from `pattern_start` on, that begins exactly at `start`.
    fn at(&mut self, start: usize, pattern_start: usize) -> Outcome<Option<usize>> {
        self.captures.clear();
        self.depth = 0;
        self.run(start, pattern_start)
    }

    /// The byte with which every match begins, if the pattern says so plainly.
    fn leading_byte(&self) -> Option<u8> {
        let first = *self.pattern.first()?;
        let plain = !b"^$*+?.([%-)]".contains(&first);
        let repeated = matches!(self.pattern.get(1), Some(b'*' | b'?' | b'-'));
        (plain && !repeated).then_some(first)
    }

    fn skip_to(&mut self, from: usize, byte: u8) -> Outcome<Option<usize>> {
        let rest = self.text.get(from..).unwrap_or_default();
        let skipped = memchr::memchr(byte, rest);
        self.pay_for_bytes(skipped.unwrap_or(rest.len()))?;
        Ok(skipped.map(|skipped| from + skipped))
    }

    fn pay(&mut self, steps: u64) -> Outcome<()> {
        let before = self.steps;
        self.steps = before.checked_sub(steps).ok_or(PatternError::Budget)?;
        let looks = before / STEPS_PER_LOOK != self.steps / STEPS_PER_LOOK;
        if looks && (self.late)() { Err(PatternError::Late) } else { Ok(()) }
    }

    fn pay_for_bytes(&mut self, bytes: usize) -> Outcome<()> {
        self.pay((bytes / BYTES_PER_STEP) as u64)
    }

    /// Matches the pattern from `p` on with the text from `s` on; gives the end of the match.
    fn run(&mut self, s: usize, p: usize) -> Outcome<Option<usize>> {
        if self.depth >= MAX_DEPTH {
            return PatternError::malformed("pattern too complex");
        }
        self.depth += 1;
        let end = self.run_items(s, p);
        self.depth -= 1;
        end
    }

    fn run_items(&mut self, mut s: usize, mut p: usize) -> Outcome<Option<usize>> {
        loop {
            self.pay(1)?;
            let Some(item) = self.pattern.get(p) else { return Ok(Some(s)) };
            let next = self.pattern.get(p + 1).copied();
            match (item, next) {
                (b'(', Some(b')')) => return self.open(Capture::Position(s), s, p + 2),
                (b'(', _) => return self.open(Capture::Open(s), s, p + 1),
                (b')', _) => return self.close(s, p + 1),
                (b'$', None) => return Ok((s == self.text.len()).then_some(s)),
                (b'%', Some(b'b')) => match self.balanced(s, p + 2)? {
                    Some(after) => (s, p) = (after, p + 4),
                    None => return Ok(None),
                },
                (b'%', Some(b'f')) => match self.frontier(s, p + 2)? {
                    Some(after) => p = after,
                    None => return Ok(None),
                },
                (b'%', Some(digit)) if digit.is_ascii_digit() => match self.same_again(s, digit)? {
                    Some(after) => (s, p) = (after, p + 2),
                    None => return Ok(None),
                },
                _ => match self.run_single(s, p)? {
                    Next::Go(text, pattern) => (s, p) = (text, pattern),
                    Next::Done(end) => return Ok(end),
                },
            }
        }
    }

    /// One character of the pattern with what says how often it comes.
    fn run_single(&mut self, s: usize, p: usize) -> Outcome<Next> {
        let end = self.item_end(p)?;
        let fits = self.fits(s, p, end);
        match self.pattern.get(end) {
            Some(b'?') => {
                if fits && let Some(done) = self.run(s + 1, end + 1)? {
                    return Ok(Next::Done(Some(done)));
                }
                Ok(Next::Go(s, end + 1))
            }
            Some(b'+') if !fits => Ok(Next::Done(None)),
            Some(b'+' | b'*') => self.most(s, p, end).map(Next::Done),
            Some(b'-') => self.fewest(s, p, end).map(Next::Done),
            _ if fits => Ok(Next::Go(s + 1, end)),
            _ => Ok(Next::Done(None)),
        }
    }

    /// As many as possible first. `+` was seen to fit once, so it never gives back its first.
    fn most(&mut self, s: usize, p: usize, end: usize) -> Outcome<Option<usize>> {
        let least = usize::from(self.pattern.get(end) == Some(&b'+'));
        let mut count = 0;
        while self.fits(s + count, p, end) {
            self.pay(1)?;
            count += 1;
        }
        loop {
            if let Some(done) = self.run(s + count, end + 1)? {
                return Ok(Some(done));
            }
            if count <= least {
                return Ok(None);
            }
            count -= 1;
        }
    }

    /// As few as possible first.
    fn fewest(&mut self, mut s: usize, p: usize, end: usize) -> Outcome<Option<usize>> {
        loop {
            if let Some(done) = self.run(s, end + 1)? {
                return Ok(Some(done));
            }
            if !self.fits(s, p, end) {
                return Ok(None);
            }
            s += 1;
        }
    }

    fn open(&mut self, capture: Capture, s: usize, p: usize) -> Outcome<Option<usize>> {
        if self.captures.len() >= MAX_CAPTURES {
            return PatternError::malformed("too many captures");
        }
        let level = self.captures.len();
        self.captures.push(capture);
        let end = self.run(s, p)?;
        if end.is_none() {
            self.captures.truncate(level);
        }
        Ok(end)
    }

    fn close(&mut self, s: usize, p: usize) -> Outcome<Option<usize>> {
        let open = self.captures.iter().rposition(|capture| matches!(capture, Capture::Open(_)));
        let Some((index, Capture::Open(start))) = open.map(|index| (index, self.captures[index]))
        else {
            return PatternError::malformed("invalid pattern capture");
        };
        self.captures[index] = Capture::Span(start, s);
        let end = self.run(s, p)?;
        if end.is_none() {
            self.captures[index] = Capture::Open(start);
        }
        Ok(end)
    }

    /// `%bxy`: from an x to the y that balances it.
    fn balanced(&mut self, s: usize, p: usize) -> Outcome<Option<usize>> {
        let pattern = self.pattern;
        let (Some(opening), Some(closing)) = (pattern.get(p), pattern.get(p + 1)) else {
            return PatternError::malformed("malformed pattern (missing arguments to '%b')");
        };
        if self.text.get(s) != Some(opening) {
            return Ok(None);
        }
        let mut open = 1_usize;
        let text = self.text;
        for (offset, byte) in text[s + 1..].iter().enumerate() {
            self.pay(1)?;
            if byte == closing {
                open -= 1;
                if open == 0 {
                    return Ok(Some(s + offset + 2));
                }
            } else if byte == opening {
                open += 1;
            }
        }
        Ok(None)
    }

    /// `%f[set]`: the place between a character that is not in the set and one that is.
    fn frontier(&self, s: usize, p: usize) -> Outcome<Option<usize>> {
        if self.pattern.get(p) != Some(&b'[') {
            return PatternError::malformed("missing '[' after '%f' in pattern");
        }
        let end = self.item_end(p)?;
        let before = if s == 0 { 0 } else { self.text[s - 1] };
        let here = self.text.get(s).copied().unwrap_or(0);
        let set = &self.pattern[p..end];
        Ok((!in_set(before, set) && in_set(here, set)).then_some(end))
    }

    /// `%1`: what a capture holds, once more.
    fn same_again(&mut self, s: usize, digit: u8) -> Outcome<Option<usize>> {
        let index = usize::from(digit - b'0');
        match index.checked_sub(1).and_then(|index| self.captures.get(index)) {
            Some(Capture::Span(start, end)) => {
                let again = &self.text[*start..*end];
                let same = self.text[s..].starts_with(again);
                let length = again.len();
                self.pay_for_bytes(length)?;
                Ok(same.then_some(s + length))
            }
            Some(Capture::Position(_)) => Ok(None),
            _ => PatternError::malformed(&format!("invalid capture index %{index}")),
        }
    }

    /// Where the single-character item that begins at `p` ends.
    fn item_end(&self, p: usize) -> Outcome<usize> {
        match self.pattern[p] {
            b'%' if p + 1 >= self.pattern.len() => {
                PatternError::malformed("malformed pattern (ends with '%')")
            }
            b'%' => Ok(p + 2),
            b'[' => self.set_end(p + 1),
            _ => Ok(p + 1),
        }
    }

    /// Where the set ends whose first character is at `p`; a `]` in first place is a character like others.
    fn set_end(&self, mut p: usize) -> Outcome<usize> {
        if self.pattern.get(p) == Some(&b'^') {
            p += 1;
        }
        let mut first = true;
        loop {
            match self.pattern.get(p) {
                None => return PatternError::malformed("malformed pattern (missing ']')"),
                Some(b']') if !first => return Ok(p + 1),
                Some(b'%') if p + 1 < self.pattern.len() => p += 2,
                Some(_) => p += 1,
            }
            first = false;
        }
    }

    /// Whether the character at `s` fits the item between `p` and `end`.
    fn fits(&self, s: usize, p: usize, end: usize) -> bool {
        let Some(byte) = self.text.get(s).copied() else { return false };
        match self.pattern[p] {
            b'.' => true,
            b'%' => in_class(byte, self.pattern[p + 1]),
            b'[' => in_set(byte, &self.pattern[p..end]),
            literal => literal == byte,
        }
    }
}

/// How a single item leaves the match.
enum Next {
    Go(usize, usize),
    Done(Option<usize>),
}

/// Whether a byte belongs to a class such as `%a`; the capital letter means the opposite.
fn in_class(byte: u8, class: u8) -> bool {
    let member = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'g' => byte.is_ascii_graphic(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => matches!(byte, b' ' | b'\t'..=b'\r'),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return class == byte,
    };
    member != class.is_ascii_uppercase()
}

/// Whether a byte belongs to a set, which is given with its brackets.
fn in_set(byte: u8, set: &[u8]) -> bool {
    let inner = &set[1..set.len() - 1];
    let (inside, mut rest) = match inner.strip_prefix(b"^") {
        Some(rest) => (false, rest),
        None => (true, inner),
    };
    while let Some((first, after)) = rest.split_first() {
        let (hit, left) = match (first, after) {
            (b'%', [class, left @ ..]) => (in_class(byte, *class), left),
            (low, [b'-', high, left @ ..]) => ((*low..=*high).contains(&byte), left),
            _ => (*first == byte, after),
        };
        if hit {
            return inside;
        }
        rest = left;
    }
    !inside
}

/// Where `needle` is in `text` from `from` on, character by character.
pub(crate) fn find_plain(text: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    memchr::memmem::find(text.get(from..)?, needle).map(|at| from + at)
}

/// Whether a pattern means just itself.
pub(crate) fn is_plain(pattern: &[u8]) -> bool {
    !pattern.iter().any(|byte| b"^$*+?.([%-".contains(byte))
}
