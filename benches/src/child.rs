//! What this binary does inside a terminal: writes data, the time, or what is typed, and reports beside the terminal.

use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use rustix::time::{ClockId, clock_gettime};

use crate::args;
use crate::gate::{Line, pause};
use crate::streams::{MARKER, Stream};

/// Writes the stream and the marker.
pub(crate) fn write(args: &args::Write) -> anyhow::Result<()> {
    if args.confirm {
        take_answers_raw()?;
    }
    let mut line = args.gate.as_deref().map(Line::connect).transpose()?;
    if let Some(line) = &mut line
        && line.next().is_none()
    {
        return Ok(());
    }
    // Locked and unbuffered: one write(2) per piece.
    let mut out = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    args.stream.write(args.bytes, &mut out)?;
    out.write_all(format!("{}{MARKER}", args.stream.epilogue()).as_bytes())?;
    if args.confirm {
        await_cursor_report(&mut out)?;
    }
    if let Some(mut line) = line {
        line.done()?;
        while line.next().is_some() {}
    }
    Ok(())
}

/// Answers of the terminal come without a line end and must not be echoed.
fn take_answers_raw() -> anyhow::Result<()> {
    let stdin = io::stdin();
    let mut modes = tcgetattr(&stdin).context("standard input is no terminal")?;
    modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(&stdin, OptionalActions::Now, &modes)?;
    Ok(())
}

/// A terminal answers in order: once it has answered, it has processed everything that was written before.
fn await_cursor_report(out: &mut impl io::Write) -> anyhow::Result<()> {
    out.write_all(b"\x1b[6n")?;
    let mut byte = [0];
    while byte != *b"R" {
        if io::stdin().read(&mut byte)? == 0 {
            bail!("the terminal closed without an answer");
        }
    }
    Ok(())
}

/// Bytes that a flood writes a second: some hundred times what can be read, and less than any terminal takes.
pub(crate) const FLOOD_RATE: u64 = 16_000_000;
/// No measurement beside a flood takes longer.
pub(crate) const FLOOD_SECONDS: u64 = 300;
/// Bytes of one write, and between two looks at the clock.
const FLOOD_PIECE: usize = 8 << 10;
const FLOOD_EVERY: Duration = Duration::from_millis(2);

/// Writes lines at a steady rate for a while, or until the terminal is gone. One that was held up does not catch up.
pub(crate) fn flood(args: &args::Flood) -> anyhow::Result<()> {
    let block = Stream::Ascii.block();
    let mut out = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let start = Instant::now();
    let mut sent = 0.0;
    for piece in block.as_bytes().chunks(FLOOD_PIECE).cycle() {
        loop {
            let time = start.elapsed();
            if time.as_secs() >= args.seconds {
                return Ok(());
            }
            let due = args.rate as f64 * time.as_secs_f64();
            if sent < due {
                sent = f64::max(sent, due - args.rate as f64 * 0.1);
                break;
            }
            pause(FLOOD_EVERY)?;
        }
        out.write_all(piece).context("the terminal is gone")?;
        sent += piece.len() as f64;
    }
    Ok(())
}

/// Colors that a block has in turns.
pub(crate) const BLOCK: [[u8; 3]; 2] = [[250, 10, 200], [10, 220, 40]];

/// Shows a block, and gives it its other color with every byte that is typed.
pub(crate) fn block() -> anyhow::Result<()> {
    take_answers_raw()?;
    let mut out = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    out.write_all(b"\x1b[2J")?;
    let mut byte = [0];
    for [red, green, blue] in BLOCK.iter().cycle() {
        let color = format!("\x1b[48;2;{red};{green};{blue}m");
        out.write_all(format!("\x1b[5;5H{color}            \x1b[0m").as_bytes())?;
        if io::stdin().read(&mut byte)? == 0 {
            break;
        }
    }
    Ok(())
}

/// What begins the line of an echo.
pub(crate) const PROMPT: &str = ">";

/// What an echo writes before anything was typed.
pub(crate) const GREETING: &str = "ready\r\n>";

/// What an echo writes for a byte: itself, or, for the end of a line, what empties it.
pub(crate) fn echoed(byte: u8) -> Vec<u8> {
    match byte {
        b'\r' | b'\n' => b"\r\x1b[K>".to_vec(),
        byte => vec![byte],
    }
}

/// Writes back what is typed.
pub(crate) fn echo() -> anyhow::Result<()> {
    take_answers_raw()?;
    let mut out = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    out.write_all(GREETING.as_bytes())?;
    let mut byte = [0];
    while io::stdin().read(&mut byte)? != 0 {
        out.write_all(&echoed(byte[0]))?;
    }
    Ok(())
}

/// Writes `nNUMBER:NANOSECONDS;` for every number that comes.
pub(crate) fn stamp(args: &args::Stamp) -> anyhow::Result<()> {
    let mut line = Line::connect(&args.gate)?;
    let mut out = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    while let Some(number) = line.next() {
        out.write_all(format!("{}{};\n", needle(number), monotonic_nanos()).as_bytes())?;
    }
    Ok(())
}

/// What a stamp with this number begins with.
pub(crate) fn needle(number: u64) -> String {
    format!("n{number:06}:")
}

/// The time in a stamp with this number, if it is in there.
pub(crate) fn stamped(text: &[u8], number: u64) -> Option<u64> {
    let needle = needle(number);
    let at = text.windows(needle.len()).position(|window| window == needle.as_bytes())?;
    let rest = &text[at + needle.len()..];
    let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    if rest[end] != b';' {
        return None;
    }
    std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
}

/// The clock that all processes of a machine share.
pub(crate) fn monotonic_nanos() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_whole_stamps_with_the_right_number_count() {
        assert_eq!(stamped(b"%output %0 n000017:123456;\\015\\012", 17), Some(123_456));
        assert_eq!(stamped(b"n000016:1; n000017:2;", 17), Some(2));
        assert_eq!(stamped(b"n000017:12", 17), None);
        assert_eq!(stamped(b"n000017:12\\n", 17), None);
        assert_eq!(stamped(b"n000018:12;", 17), None);
    }

    proptest! {
        #[test]
        fn any_text_can_be_searched(text: Vec<u8>, number in 0_u64..10) {
            let _ = stamped(&text, number);
        }

        #[test]
        fn what_was_stamped_is_found(number in 0_u64..2_000_000, time: u64, before in "[a-z ]{0,20}") {
            let text = format!("{before}{}{time};\r\n", needle(number));
            prop_assert_eq!(stamped(text.as_bytes(), number), Some(time));
        }
    }
}
