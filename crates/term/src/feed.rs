//! Parsing a chunk piece by piece: what goes to the engine's parser, and what is seen to here.

use alacritty_terminal::vte::ansi::{Handler, Hyperlink, Processor, Timeout};

use crate::emulator::FeedContext;
use crate::osc::Osc;
use crate::scanner::{Scanner, Sequence, partial_char_len};
use crate::screen::SyncGate;

/// Feeds the character that the last chunk cut off, and gives what follows it.
pub(crate) fn complete_char<'b>(
    context: &mut FeedContext<'_>,
    partial: &mut Vec<u8>,
    bytes: &'b [u8],
) -> &'b [u8] {
    if partial.is_empty() {
        return bytes;
    }
    let is_open = |partial: &[u8]| partial_char_len(partial) == partial.len();
    let mut used = 0;
    while used < bytes.len() && is_open(partial) {
        partial.push(bytes[used]);
        used += 1;
    }
    if is_open(partial) {
        return &[];
    }
    let mut whole = std::mem::take(partial);
    if std::str::from_utf8(&whole).is_err() {
        // Never finished: what was there shows as a replacement, the new byte stands for itself.
        used -= 1;
        whole.pop();
    }
    context.text(&whole);
    &bytes[used..]
}

/// Passes one escape sequence, or what there is of it, to the engine's parser and acts upon it.
pub(crate) fn take_sequence<'b>(
    context: &mut FeedContext<'_>,
    processor: &mut Processor<SyncGate>,
    scanner: &mut Scanner,
    bytes: &'b [u8],
) -> &'b [u8] {
    let was_in_osc = scanner.is_in_osc();
    let Some(found) = scanner.scan_sequence(bytes) else {
        if !was_in_osc {
            processor.advance(context, bytes);
        }
        return &[];
    };
    let (sequence, rest) = bytes.split_at(found.end);
    match found.what {
        // The engine's parser would keep any text of an OSC in full, so it never sees one: to it the
        // escape before was canceled.
        Sequence::OscStart => {
            processor.advance(context, &sequence[..sequence.len() - 1]);
            processor.advance(context, b"\x18");
            return rest;
        }
        Sequence::OscBroken => {
            processor.advance(context, b"\x1b");
            return rest;
        }
        Sequence::Osc(payload) => {
            handle_osc(context, &payload, false);
            return rest;
        }
        _ if was_in_osc => return rest,
        _ => {}
    }
    if let Sequence::Csi(params, b'b') = &found.what {
        // The parser repeats what it printed last, but printing is ours: it sees the sequence canceled.
        processor.advance(context, &sequence[..sequence.len() - 1]);
        processor.advance(context, b"\x18");
        context.repeat(first_number(params).clamp(1, usize::from(u16::MAX)));
        return rest;
    }
    processor.advance(context, sequence);
    set_overline(context, processor, &found.what);
    handle_sequence(context, found.what);
    rest
}

/// Lines above text, which the parser leaves out: it is informed of them by a sequence that it has and that
/// nothing else here uses, so that they also keep their place in output that is held back.
fn set_overline(
    context: &mut FeedContext<'_>,
    processor: &mut Processor<SyncGate>,
    sequence: &Sequence,
) {
    let Sequence::Csi(params, b'm') = sequence else { return };
    match overline_after(params) {
        Some(true) => processor.advance(context, b"\x1b[1;2 k"),
        Some(false) => processor.advance(context, b"\x1b[2;2 k"),
        None => {}
    }
}

/// Whether text has a line above it after an SGR with these parameters; none if it says nothing of that.
fn overline_after(params: &[u8]) -> Option<bool> {
    let mut says = None;
    let mut numbers = params.split(|byte| *byte == b';');
    while let Some(number) = numbers.next() {
        match number {
            b"38" | b"48" | b"58" => {
                let count = if numbers.next() == Some(b"2") { 3 } else { 1 };
                numbers.by_ref().take(count).for_each(drop);
            }
            b"" | b"0" | b"55" => says = Some(false),
            b"53" => says = Some(true),
            _ => {}
        }
    }
    says
}

/// Passes bytes to the parser while it holds synchronized output back, up to a possible end of that.
pub(crate) fn hold_back<'b>(
    context: &mut FeedContext<'_>,
    processor: &mut Processor<SyncGate>,
    scanner: &mut Scanner,
    bytes: &'b [u8],
) -> &'b [u8] {
    let found = scanner.scan(bytes);
    let end = found.as_ref().map_or(bytes.len(), |found| found.end);
    processor.advance(context, &bytes[..end]);
    if let Some(found) = &found {
        set_overline(context, processor, &found.what);
    }
    match found.map(|found| found.what) {
        Some(Sequence::Osc(payload)) => handle_osc(context, &payload, true),
        Some(what) => handle_sequence(context, what),
        None => {}
    }
    leave_osc(context, processor, scanner);
    &bytes[end..]
}

/// If synchronized output ended within an OSC, takes the engine's parser out of it.
pub(crate) fn leave_osc(
    context: &mut FeedContext<'_>,
    processor: &mut Processor<SyncGate>,
    scanner: &Scanner,
) {
    if scanner.is_in_osc() && !processor.sync_timeout().pending_timeout() {
        processor.advance(context, b"\x18");
    }
}

/// Acts upon an operating system command. What belongs to the text is left to the parser where that
/// has it too, and will come to it in its place.
fn handle_osc(context: &mut FeedContext<'_>, payload: &[u8], is_held_back: bool) {
    for osc in Osc::parse(payload) {
        match osc {
            Osc::Link { .. } | Osc::CursorShape(_) if is_held_back => {}
            Osc::Link { uri, .. } if uri.is_empty() => context.set_hyperlink(None),
            Osc::Link { id, uri } => context.set_hyperlink(Some(Hyperlink { id, uri })),
            Osc::CursorShape(shape) => context.cursor_shape(shape),
            other => context.emulator.handle_osc(other),
        }
    }
}

fn first_number(params: &[u8]) -> usize {
    let digits = params.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0usize, |number, digit| {
        number.saturating_mul(10).saturating_add(usize::from(digit - b'0'))
    })
}

/// Answers what the engine leaves unanswered, and reports what it drops.
fn handle_sequence(context: &mut FeedContext<'_>, sequence: Sequence) {
    match sequence {
        Sequence::Csi(params, b'q') if params.starts_with(b">") => context.emulator.reply_version(),
        Sequence::Csi(params, b't') => match first_number(&params) {
            16 => context.emulator.reply_cell_pixels(),
            21 => context.emulator.reply_title(),
            22 => context.emulator.shadow.push_title(),
            23 => context.emulator.pop_title(),
            _ => {}
        },
        Sequence::Csi(_, b'p') => context.soft_reset(),
        Sequence::Csi(..)
        | Sequence::Osc(_)
        | Sequence::OscStart
        | Sequence::OscBroken
        | Sequence::Other => {}
    }
}
