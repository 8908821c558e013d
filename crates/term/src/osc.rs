//! Operating system commands (OSC) as typed events.
//!
//! Pure parsing of payloads: what a program said, not what is done about it.
//! Everything here comes from an untrusted program.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use crate::pointer::PointerShape;
use crate::scanner::MAX_BODY;
use crate::snapshot::CursorShape;

/// Characters of a title that are kept.
const MAX_TITLE: usize = 16 * 1024;

/// One OSC that Rookery understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Osc {
    /// OSC 0 and 2: window title (0 also names the icon).
    Title(String),
    /// OSC 1: icon name.
    IconName(String),
    /// OSC 4: one palette entry set, or asked for when `spec` is `?`.
    Palette {
        /// Palette index.
        index: u8,
        /// Color specification as sent.
        spec: String,
    },
    /// OSC 7: the shell's working directory as a `file:` URL or plain path.
    Cwd(String),
    /// OSC 8: hyperlink begins, or ends when the target is empty.
    Link {
        /// The `id` parameter, if given.
        id: Option<String>,
        /// The target.
        uri: String,
    },
    /// OSC 9, whose text is the title, or OSC 777: a notification.
    Notify {
        title: String,
        /// Text, if the form has one.
        body: String,
    },
    /// OSC 9;4: progress in ConEmu's form.
    Progress {
        /// 0 none, 1 normal, 2 error, 3 indeterminate, 4 paused.
        state: u8,
        /// Percentage.
        percent: u8,
    },
    /// OSC 10, 11, 12: a dynamic color set, or asked for when `spec` is `?`.
    DynamicColor {
        /// 10 foreground, 11 background, 12 cursor.
        which: u8,
        /// Color specification as sent.
        spec: String,
    },
    /// OSC 104: palette entries given back to the theme.
    ResetPalette(Vec<u8>),
    /// OSC 110, 111, 112: a dynamic color given back to the theme, by the number that sets it.
    ResetDynamicColor(u8),
    /// OSC 22: the pointer's shape.
    PointerShape(PointerShape),
    /// OSC 52: the program sets the clipboard.
    ClipboardStore {
        /// Which clipboard.
        target: Clipboard,
        /// The text, never empty.
        text: String,
    },
    /// OSC 50: the cursor's shape.
    CursorShape(CursorShape),
    /// OSC 99: a part of a notification in kitty's form.
    KittyNotify(KittyNotify),
    /// OSC 133: a shell integration mark.
    Mark(ShellMark),
}

/// One of the two clipboards of a desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clipboard {
    /// What copy and paste use.
    System,
    /// What the mouse selects and its middle button pastes.
    Selection,
}

/// A part of a kitty desktop notification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KittyNotify {
    /// Parts with the same id belong together.
    pub id: String,
    /// Whether this part completes the notification.
    pub done: bool,
    /// What the payload is: `title`, `body`, or another type as sent.
    pub part: String,
    /// The payload, decoded.
    pub payload: String,
}

/// Where a shell is in its prompt cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellMark {
    /// 133;A: the prompt begins.
    PromptStart,
    /// 133;B: the prompt ends, input begins.
    InputStart,
    /// 133;C: the command runs, output begins.
    OutputStart,
    /// 133;D: the command finished.
    CommandEnd {
        /// Its exit code, if it is known.
        code: Option<i32>,
    },
}

impl Osc {
    /// Reads the payload of an OSC (everything between `ESC ]` and its terminator).
    pub fn parse(payload: &[u8]) -> Vec<Osc> {
        let split = payload.iter().position(|&byte| byte == b';').unwrap_or(payload.len());
        let (number, rest) = payload.split_at(split);
        let has_body = !rest.is_empty();
        let whole = rest.strip_prefix(b";").unwrap_or(rest);
        let rest = &whole[..whole.len().min(MAX_BODY)];
        let text = || String::from_utf8_lossy(rest).into_owned();
        match number {
            b"0" | b"2" if has_body => vec![Osc::Title(title(rest))],
            b"1" if has_body => vec![Osc::IconName(title(rest))],
            b"4" => palette(rest),
            // A path of which some bytes are missing would be another path.
            b"7" => {
                std::str::from_utf8(rest).map(|url| Osc::Cwd(url.to_owned())).into_iter().collect()
            }
            b"8" => link(rest).into_iter().collect(),
            b"9" => notify_or_progress(&text()).into_iter().collect(),
            b"10" | b"11" | b"12" => dynamic_colors(number, rest),
            b"22" => vec![Osc::PointerShape(PointerShape::named(&text()))],
            b"104" => reset_palette(rest).into_iter().collect(),
            b"110" => vec![Osc::ResetDynamicColor(10)],
            b"111" => vec![Osc::ResetDynamicColor(11)],
            b"112" => vec![Osc::ResetDynamicColor(12)],
            b"50" => cursor_shape(rest).into_iter().collect(),
            b"52" if whole.len() > MAX_BODY => Vec::new(),
            b"52" => clipboard(rest).into_iter().collect(),
            b"99" => kitty_notify(rest).into_iter().collect(),
            b"133" => shell_mark(rest).map(Osc::Mark).into_iter().collect(),
            b"777" => urxvt_notify(rest).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// A title to show in one line: no controls, no space around it, not endless.
fn title(rest: &[u8]) -> String {
    let text = String::from_utf8_lossy(rest);
    let shown = text.trim().chars().filter(|c| !c.is_control()).take(MAX_TITLE);
    shown.collect()
}

fn palette(rest: &[u8]) -> Vec<Osc> {
    let text = String::from_utf8_lossy(rest);
    let mut parts = text.split(';');
    let mut found = Vec::new();
    while let (Some(number), Some(spec)) = (parts.next(), parts.next()) {
        if let Some(index) = index(number) {
            found.push(Osc::Palette { index, spec: spec.to_owned() });
        }
    }
    found
}

/// Without a body all entries; a body without any valid index means nothing.
fn reset_palette(rest: &[u8]) -> Option<Osc> {
    let text = String::from_utf8_lossy(rest);
    let indices: Vec<u8> = if text.is_empty() {
        (0..=255).collect()
    } else {
        text.split(';').filter_map(index).collect()
    };
    (!indices.is_empty()).then_some(Osc::ResetPalette(indices))
}

/// A small number: digits alone.
fn index(text: &str) -> Option<u8> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// OSC 10 with several specifications sets 10, 11, 12 in turn.
fn dynamic_colors(number: &[u8], rest: &[u8]) -> Vec<Osc> {
    let first = if number == b"10" {
        10
    } else if number == b"11" {
        11
    } else {
        12
    };
    let text = String::from_utf8_lossy(rest);
    (first..=12u8)
        .zip(text.split(';'))
        .map(|(which, spec)| Osc::DynamicColor { which, spec: spec.to_owned() })
        .collect()
}

fn link(rest: &[u8]) -> Option<Osc> {
    let text = String::from_utf8_lossy(rest);
    let (params, uri) = text.split_once(';')?;
    let id = params.split(':').find_map(|param| param.strip_prefix("id=")).map(str::to_owned);
    Some(Osc::Link { id, uri: uri.to_owned() })
}

/// A text, unless it is one of ConEmu's commands: a number from 1 to 12, alone or before a semicolon.
fn notify_or_progress(text: &str) -> Option<Osc> {
    let (command, rest) = text.split_once(';').unwrap_or((text, ""));
    match index(command) {
        Some(4) => progress(rest),
        Some(1..=12) => None,
        _ if text.is_empty() => None,
        _ => Some(Osc::Notify { title: text.to_owned(), body: String::new() }),
    }
}

fn progress(rest: &str) -> Option<Osc> {
    let mut parts = rest.split(';');
    let state = parts.next().and_then(index).filter(|state| *state <= 4)?;
    let percent = parts.next().and_then(index).unwrap_or(0).min(100);
    Some(Osc::Progress { state, percent })
}

fn urxvt_notify(rest: &[u8]) -> Option<Osc> {
    let text = String::from_utf8_lossy(rest);
    let text = text.strip_prefix("notify;")?;
    let (title, body) = text.split_once(';').unwrap_or((text, ""));
    Some(Osc::Notify { title: title.to_owned(), body: body.to_owned() })
}

fn clipboard(rest: &[u8]) -> Option<Osc> {
    let split = rest.iter().position(|&byte| byte == b';')?;
    let target = match &rest[..split] {
        b"" | b"c" => Clipboard::System,
        b"p" | b"s" => Clipboard::Selection,
        _ => return None,
    };
    let data = rest[split + 1..].iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    // A question is no base64 and is dropped with everything else that is none.
    let text = String::from_utf8(decode_base64(&data.collect::<Vec<u8>>())?).ok()?;
    (!text.is_empty()).then_some(Osc::ClipboardStore { target, text })
}

fn cursor_shape(rest: &[u8]) -> Option<Osc> {
    let shape = match rest.strip_prefix(b"CursorShape=")?.first()? {
        b'0' => CursorShape::Block,
        b'1' => CursorShape::Beam,
        b'2' => CursorShape::Underline,
        _ => return None,
    };
    Some(Osc::CursorShape(shape))
}

fn decode_base64(data: &[u8]) -> Option<Vec<u8>> {
    STANDARD.decode(data).or_else(|_| STANDARD_NO_PAD.decode(data)).ok()
}

fn kitty_notify(rest: &[u8]) -> Option<Osc> {
    let split = rest.iter().position(|&byte| byte == b';')?;
    let metadata = String::from_utf8_lossy(&rest[..split]);
    let payload = &rest[split + 1..];
    let mut notify = KittyNotify { done: true, part: "title".to_owned(), ..KittyNotify::default() };
    let mut encoded = false;
    for (key, value) in metadata.split(':').filter_map(|pair| pair.split_once('=')) {
        match key {
            "i" => value.clone_into(&mut notify.id),
            "d" => notify.done = value != "0",
            "p" => value.clone_into(&mut notify.part),
            "e" => encoded = value == "1",
            _ => {}
        }
    }
    let payload = if encoded { decode_base64(payload)? } else { payload.to_vec() };
    notify.payload = String::from_utf8_lossy(&payload).into_owned();
    Some(Osc::KittyNotify(notify))
}

fn shell_mark(rest: &[u8]) -> Option<ShellMark> {
    let text = String::from_utf8_lossy(rest);
    let mut parts = text.split(';');
    match parts.next()? {
        "A" => Some(ShellMark::PromptStart),
        "B" => Some(ShellMark::InputStart),
        "C" => Some(ShellMark::OutputStart),
        "D" => {
            Some(ShellMark::CommandEnd { code: parts.next().and_then(|code| code.parse().ok()) })
        }
        _ => None,
    }
}

/// The directory named by an OSC 7 payload: a `file:` URL whose host is this machine, or a plain path.
/// A bad percent escape, or one that leaves no UTF-8, spoils it.
pub fn cwd_path(payload: &str, is_local_host: impl Fn(&str) -> bool) -> Option<Vec<u8>> {
    if payload.starts_with('/') {
        return Some(payload.as_bytes().to_vec());
    }
    let rest =
        payload.strip_prefix("file://").or_else(|| payload.strip_prefix("kitty-shell-cwd://"))?;
    let slash = rest.find('/')?;
    let (host, path) = rest.split_at(slash);
    if !(host.is_empty() || host == "localhost" || is_local_host(host)) {
        return None;
    }
    percent_decode(path).filter(|path| std::str::from_utf8(path).is_ok() && !path.contains(&0))
}

fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || bytes.next().and_then(|byte| (byte as char).to_digit(16));
        let value = digit()? * 16 + digit()?;
        out.push(u8::try_from(value).ok()?);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(payload: &str, expected: Expect) {
        expected.assert_eq(&format!("{:?}", Osc::parse(payload.as_bytes())));
    }

    #[test]
    fn titles_and_directories() {
        check("0;hello; world", expect![[r#"[Title("hello; world")]"#]]);
        check("2;", expect![[r#"[Title("")]"#]]);
        check("1;icon", expect![[r#"[IconName("icon")]"#]]);
        check("0", expect!["[]"]);
        check("2; a\tb\u{9b}31m ", expect![[r#"[Title("ab31m")]"#]]);
        check("7;file:///tmp/a%20b", expect![[r#"[Cwd("file:///tmp/a%20b")]"#]]);
        assert_eq!(Osc::parse(b"7;file:///tmp/\xff"), []);
        assert_eq!(Osc::parse(b"2;a\xffb"), [Osc::Title("a\u{fffd}b".to_owned())]);
        assert_eq!(cwd_path("file://elsewhere/tmp", |_| false), None);
        assert_eq!(cwd_path("file://here/tmp", |host| host == "here").unwrap(), b"/tmp");
        assert_eq!(cwd_path("/plain", |_| false).unwrap(), b"/plain");
    }

    #[test]
    fn directories_are_decoded_exactly_or_not_at_all() {
        let path = |url| cwd_path(url, |_| true).map(|path| String::from_utf8(path).unwrap());
        for (url, expected) in [
            ("file:///tmp/a%20b", Some("/tmp/a b")),
            ("file://host/tmp/%C3%A4%c3%b6", Some("/tmp/äö")),
            ("file://host:22/", Some("/")),
            ("file:///tmp/ü", Some("/tmp/ü")),
            ("kitty-shell-cwd://host/tmp", Some("/tmp")),
            ("/plain/%41", Some("/plain/%41")),
            ("file:///tmp/%zz", None),
            ("file:///tmp/%4", None),
            ("file:///tmp/%", None),
            ("file:///tmp/%+1", None),
            ("file:///tmp/%ff", None),
            ("file:///tmp/%00", None),
            ("file://host", None),
            ("file://", None),
            ("http://host/tmp", None),
            ("relative", None),
            ("", None),
        ] {
            assert_eq!(path(url).as_deref(), expected, "{url:?}");
        }
    }

    #[test]
    fn colors() {
        check(
            "4;1;rgb:ff/00/00;2;?",
            expect![[
                r#"[Palette { index: 1, spec: "rgb:ff/00/00" }, Palette { index: 2, spec: "?" }]"#
            ]],
        );
        check(
            "10;#fff;?",
            expect![[
                r##"[DynamicColor { which: 10, spec: "#fff" }, DynamicColor { which: 11, spec: "?" }]"##
            ]],
        );
        check("12;?", expect![[r#"[DynamicColor { which: 12, spec: "?" }]"#]]);
        check("4;256;?;x;?;+1;?;7;?;8", expect![[r#"[Palette { index: 7, spec: "?" }]"#]]);
        check("104;1;x;300;2", expect!["[ResetPalette([1, 2])]"]);
        check("104;x", expect!["[]"]);
        assert_eq!(Osc::parse(b"104"), [Osc::ResetPalette((0..=255).collect())]);
        assert_eq!(Osc::parse(b"104;"), [Osc::ResetPalette((0..=255).collect())]);
        check("110", expect!["[ResetDynamicColor(10)]"]);
        check("111;", expect!["[ResetDynamicColor(11)]"]);
        check("112", expect!["[ResetDynamicColor(12)]"]);
    }

    #[test]
    fn shapes() {
        for (name, expected) in [("pointer", "pointer"), ("", "default"), ("hand1", "default")] {
            let parsed = Osc::parse(format!("22;{name}").as_bytes());
            assert_eq!(parsed, [Osc::PointerShape(PointerShape::named(expected))], "{name:?}");
        }
        check("50;CursorShape=1", expect!["[CursorShape(Beam)]"]);
        check("50;CursorShape=7", expect!["[]"]);
    }

    #[test]
    fn links_and_clipboard() {
        check(
            "8;id=a:x=y;https://e.x/;q",
            expect![[r#"[Link { id: Some("a"), uri: "https://e.x/;q" }]"#]],
        );
        check("8;;", expect![[r#"[Link { id: None, uri: "" }]"#]]);
    }

    #[test]
    fn only_good_text_reaches_a_clipboard() {
        for (payload, expected) in [
            ("c;aGVsbG8=", Some(Clipboard::System)),
            (";aGVsbG8=", Some(Clipboard::System)),
            (";aGVsbG8", Some(Clipboard::System)),
            ("p;aGVs\r\n bG8=\t", Some(Clipboard::Selection)),
            ("s;aGVsbG8=", Some(Clipboard::Selection)),
            ("q;aGVsbG8=", None),
            ("0;aGVsbG8=", None),
            ("cp;aGVsbG8=", None),
            ("c;?", None),
            ("p;?", None),
            ("c;", None),
            ("c; ", None),
            ("c", None),
            ("c;***", None),
            ("c;aGVsbG8=;x", None),
            ("c;/w==", None),
        ] {
            let text = "hello".to_owned();
            let expected: Vec<_> =
                expected.map(|target| Osc::ClipboardStore { target, text }).into_iter().collect();
            assert_eq!(Osc::parse(format!("52;{payload}").as_bytes()), expected, "{payload:?}");
        }
    }

    #[test]
    fn a_clipboard_text_that_was_cut_off_is_dropped_and_other_bodies_are_cut() {
        let fits = format!("52;c;{}", "QUFB".repeat((MAX_BODY - 4) / 4));
        assert_eq!(Osc::parse(fits.as_bytes()).len(), 1);
        let cut = format!("52;c;{}", "QUFB".repeat(MAX_BODY / 4));
        assert_eq!(Osc::parse(cut.as_bytes()), []);
        let long = format!("9;{}", "x".repeat(MAX_BODY + 5));
        let [Osc::Notify { title, .. }] = &Osc::parse(long.as_bytes())[..] else { panic!() };
        assert_eq!(title.len(), MAX_BODY);
    }

    #[test]
    fn notifications() {
        check("9;build done", expect![[r#"[Notify { title: "build done", body: "" }]"#]]);
        check("9;a;b", expect![[r#"[Notify { title: "a;b", body: "" }]"#]]);
        check("9;4;1;40", expect!["[Progress { state: 1, percent: 40 }]"]);
        for command in ["9;4;9;40", "9;4", "9;1", "9;1;x", "9;12", "9;12;x;y", "9;9;/tmp", "9;"] {
            assert_eq!(Osc::parse(command.as_bytes()), [], "{command:?}");
        }
        for text in ["1 file changed", "42;x", "13", "13;x", "0;x", "12a", "-1;x", ";x", "+1"] {
            let expected = Osc::Notify { title: text.to_owned(), body: String::new() };
            assert_eq!(Osc::parse(format!("9;{text}").as_bytes()), [expected], "{text:?}");
        }
        check("777;notify;Only", expect![[r#"[Notify { title: "Only", body: "" }]"#]]);
        check("777;notify;Title;a;b", expect![[r#"[Notify { title: "Title", body: "a;b" }]"#]]);
        check("777;preexec", expect!["[]"]);
        check(
            "99;i=1:d=0:p=body:e=1;aGk=",
            expect![[
                r#"[KittyNotify(KittyNotify { id: "1", done: false, part: "body", payload: "hi" })]"#
            ]],
        );
    }

    #[test]
    fn marks() {
        check("133;A;cl=m", expect!["[Mark(PromptStart)]"]);
        check("133;D;7", expect!["[Mark(CommandEnd { code: Some(7) })]"]);
        check("133;D", expect!["[Mark(CommandEnd { code: None })]"]);
        check("133;B", expect!["[Mark(InputStart)]"]);
        check("133;C;x", expect!["[Mark(OutputStart)]"]);
        check("133;D;x", expect!["[Mark(CommandEnd { code: None })]"]);
        for other in ["133;Z", "133;P", "133;N", "133;I", "133;a", "133;AB", "133;", "133"] {
            check(other, expect!["[]"]);
        }
    }

    proptest! {
        #[test]
        fn any_payload_is_survived(payload: Vec<u8>) {
            Osc::parse(&payload);
        }
    }
}
