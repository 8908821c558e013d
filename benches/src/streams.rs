//! The data that children write: four kinds of output, the same bytes on every run.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::ValueEnum;

/// The last thing a child writes. It has no line end, so that it is the very end of the stream on every terminal.
pub(crate) const MARKER: &str = "@@ROOKERY-BENCH-END@@";

/// Size of the piece of data that is written again and again.
const BLOCK_BYTES: usize = 1 << 20;

/// Size of one write.
const WRITE_BYTES: usize = 64 << 10;

/// Size of the screen that full redraws are made for.
const TUI_ROWS: usize = 24;
const TUI_COLS: usize = 80;

/// A kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stream {
    /// Lines of plain text, as a build log.
    Ascii,
    /// Lines in which every word changes its colours.
    Sgr,
    /// Lines of accented, wide, combining and box-drawing characters.
    Unicode,
    /// Full-screen redraws with cursor addressing, as a text editor or a monitor.
    Tui,
}

impl Stream {
    /// All of them, in the order of the report.
    pub(crate) const ALL: [Stream; 4] = [Stream::Ascii, Stream::Sgr, Stream::Unicode, Stream::Tui];

    /// As the command line spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Stream::Ascii => "ascii",
            Stream::Sgr => "sgr",
            Stream::Unicode => "unicode",
            Stream::Tui => "tui",
        }
    }

    /// As the report spells it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Stream::Ascii => "ASCII lines",
            Stream::Sgr => "dense color",
            Stream::Unicode => "Unicode",
            Stream::Tui => "full-screen redraw",
        }
    }

    /// About a mebibyte of whole lines or frames.
    pub(crate) fn block(self) -> String {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut text = String::with_capacity(BLOCK_BYTES + 16 * 1024);
        while text.len() < BLOCK_BYTES {
            match self {
                Stream::Ascii => ascii_line(&mut text, &mut random),
                Stream::Sgr => sgr_line(&mut text, &mut random),
                Stream::Unicode => unicode_line(&mut text, &mut random),
                Stream::Tui => tui_frame(&mut text, &mut random),
            }
        }
        text
    }

    /// Writes at least `bytes` of it, to the end of a line or frame, and says how many.
    pub(crate) fn write(self, bytes: u64, out: &mut impl Write) -> io::Result<u64> {
        let block = self.block();
        let mut left = bytes;
        while left >= block.len() as u64 {
            write_in_pieces(block.as_bytes(), out)?;
            left -= block.len() as u64;
        }
        let rest = self.cut(&block, left as usize);
        write_in_pieces(rest.as_bytes(), out)?;
        Ok(bytes - left + rest.len() as u64)
    }

    /// The beginning of a block, at least `bytes` long, to the end of a line or frame.
    fn cut(self, block: &str, bytes: usize) -> &str {
        if bytes == 0 {
            return "";
        }
        let end = match self {
            Stream::Ascii | Stream::Sgr | Stream::Unicode => "\n",
            Stream::Tui => FRAME_END,
        };
        let at = block.as_bytes()[bytes.min(block.len())..]
            .windows(end.len())
            .position(|window| window == end.as_bytes());
        at.map_or(block, |at| &block[..bytes + at + end.len()])
    }

    /// What puts the marker where it can be seen.
    pub(crate) fn epilogue(self) -> &'static str {
        match self {
            Stream::Ascii | Stream::Sgr | Stream::Unicode => "\x1b[0m\n",
            Stream::Tui => "\x1b[0m\x1b[2J\x1b[H",
        }
    }
}

fn write_in_pieces(bytes: &[u8], out: &mut impl Write) -> io::Result<()> {
    bytes.chunks(WRITE_BYTES).try_for_each(|piece| out.write_all(piece))
}

const WORDS: &[&str] = &[
    "compiling",
    "warning:",
    "src/main.rs",
    "ok",
    "test",
    "running",
    "0.42s",
    "finished",
    "error[E0308]:",
    "expected",
    "found",
    "in",
    "the",
    "of",
    "module",
    "crate",
    "-->",
    "note:",
    "help:",
    "unused",
    "42",
    "target/release/deps",
    "1024",
    "[INFO]",
    "GET",
    "/index.html",
    "200",
    "connection",
    "closed",
    "by",
    "peer",
];

const FOREIGN: &[&str] = &[
    "übermäßig",
    "naïve",
    "Grüße",
    "日本語",
    "漢字かな",
    "한국어",
    "中文字符",
    "Привет",
    "мир",
    "Ελλάδα",
    "│",
    "├──",
    "└──",
    "─────",
    "█▓▒░",
    "✓",
    "✗",
    "→",
    "…",
    "e\u{301}te\u{301}",
    "🦀",
    "🚀",
    "👍",
    "λ→α",
    "“quoted”",
    "ñandú",
    "plain",
    "words",
];

fn ascii_line(text: &mut String, random: &mut Random) {
    let bytes = 20 + random.below(70);
    words(text, random, WORDS, bytes);
    text.push('\n');
}

fn unicode_line(text: &mut String, random: &mut Random) {
    let bytes = 20 + random.below(80);
    words(text, random, FOREIGN, bytes);
    text.push('\n');
}

fn words(text: &mut String, random: &mut Random, from: &[&str], bytes: usize) {
    let start = text.len();
    while text.len() - start < bytes {
        text.push_str(from[random.below(from.len())]);
        text.push(' ');
    }
}

fn sgr_line(text: &mut String, random: &mut Random) {
    for _ in 0..8 {
        color(text, random);
        text.push_str(WORDS[random.below(WORDS.len())]);
        text.push_str("\x1b[0m ");
    }
    text.push('\n');
}

/// A change of color of each kind that programs use.
fn color(text: &mut String, random: &mut Random) {
    let (a, b, c) = (random.below(256), random.below(256), random.below(256));
    // Writing to a string cannot fail.
    let _ = match random.below(4) {
        0 => write!(text, "\x1b[{}m", 30 + a % 8),
        1 => write!(text, "\x1b[1;{};{}m", 90 + a % 8, 40 + b % 8),
        2 => write!(text, "\x1b[38;5;{a}m"),
        _ => write!(text, "\x1b[38;2;{a};{b};{c}m"),
    };
}

/// Ends each frame, so that a stream can be cut between two.
const FRAME_END: &str = "\x1b[?25h";

fn tui_frame(text: &mut String, random: &mut Random) {
    text.push_str("\x1b[?25l\x1b[H");
    for row in 1..=TUI_ROWS {
        let _ = write!(text, "\x1b[{row};1H\x1b[K");
        color(text, random);
        let mut used = 0;
        while used + 24 < TUI_COLS {
            let word = WORDS[random.below(WORDS.len())];
            text.push_str(word);
            used += word.len() + 2;
            if random.below(3) == 0 {
                color(text, random);
            }
            text.push_str("│ ");
        }
        text.push_str("\x1b[0m");
    }
    let _ = write!(text, "\x1b[{};{}H", 1 + random.below(TUI_ROWS), 1 + random.below(TUI_COLS));
    text.push_str(FRAME_END);
}

/// Xorshift: good enough to vary text, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blocks_are_of_the_promised_size_and_always_the_same() {
        for stream in Stream::ALL {
            let block = stream.block();
            assert!((BLOCK_BYTES..BLOCK_BYTES + 16 * 1024).contains(&block.len()), "{stream:?}");
            assert_eq!(block, stream.block());
            assert!(!block.contains(MARKER));
        }
    }

    #[test]
    fn streams_are_what_their_names_say() {
        assert!(
            Stream::Ascii
                .block()
                .bytes()
                .all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte))
        );
        let escapes = Stream::Sgr.block().matches("\x1b[").count();
        assert!(escapes > BLOCK_BYTES / 20, "{escapes}");
        let unicode = Stream::Unicode.block();
        assert!(unicode.chars().count() < unicode.len() * 2 / 3);
        let tui = Stream::Tui.block();
        assert!(!tui.contains('\n') && tui.matches("\x1b[24;1H").count() > 100);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn as_much_as_asked_for_and_little_more_is_written(bytes in 0_u64..3 << 20, index in 0_usize..4) {
            let stream = Stream::ALL[index];
            let mut out = Vec::new();
            let written = stream.write(bytes, &mut out).unwrap();
            prop_assert_eq!(written, out.len() as u64);
            prop_assert!(written >= bytes && written < bytes + 8 * 1024, "{} of {}", written, bytes);
            prop_assert!(std::str::from_utf8(&out).is_ok());
        }
    }
}
