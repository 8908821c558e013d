//! Operating system commands (OSC) as typed events.
//!
//! Pure parsing of payloads: what a program said, not what is done about it.
//! Everything here comes from an untrusted program.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

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
    /// OSC 9: a notification in iTerm2's form.
    Notify {
        /// Title, if the form has one.
        title: String,
        /// Text.
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
    /// OSC 52: the program sets the clipboard.
    ClipboardStore {
        /// Which clipboard, as sent: `c`, `p`, `s`, …
        target: char,
        /// The text.
        text: String,
    },
    /// OSC 52 with `?`: the program asks for the clipboard.
    ClipboardQuery {
        /// Which clipboard, as sent.
        target: char,
    },
    /// OSC 99: a part of a notification in kitty's form.
    KittyNotify(KittyNotify),
    /// OSC 133: a shell integration mark.
    Mark(ShellMark),
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
        /// Its exit code, if told.
        code: Option<i32>,
    },
}

impl Osc {
    /// Reads the payload of an OSC (everything between `ESC ]` and its terminator).
    pub fn parse(payload: &[u8]) -> Vec<Osc> {
        let split = payload.iter().position(|&byte| byte == b';').unwrap_or(payload.len());
        let (number, rest) = payload.split_at(split);
        let rest = rest.strip_prefix(b";").unwrap_or(rest);
        let text = || String::from_utf8_lossy(rest).into_owned();
        match number {
            b"0" | b"2" => vec![Osc::Title(text())],
            b"1" => vec![Osc::IconName(text())],
            b"4" => palette(rest),
            b"7" => vec![Osc::Cwd(text())],
            b"8" => link(rest).into_iter().collect(),
            b"9" => vec![notify_or_progress(rest)],
            b"10" | b"11" | b"12" => dynamic_colors(number, rest),
            b"52" => clipboard(rest).into_iter().collect(),
            b"99" => kitty_notify(rest).into_iter().collect(),
            b"133" => shell_mark(rest).map(Osc::Mark).into_iter().collect(),
            b"777" => urxvt_notify(rest).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

fn palette(rest: &[u8]) -> Vec<Osc> {
    let text = String::from_utf8_lossy(rest);
    let mut parts = text.split(';');
    let mut found = Vec::new();
    while let (Some(index), Some(spec)) = (parts.next(), parts.next()) {
        if let Ok(index) = index.parse() {
            found.push(Osc::Palette { index, spec: spec.to_owned() });
        }
    }
    found
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

fn notify_or_progress(rest: &[u8]) -> Osc {
    let text = String::from_utf8_lossy(rest);
    if let Some(progress) = text.strip_prefix("4;") {
        let mut parts = progress.split(';');
        let state = parts.next().and_then(|part| part.parse().ok()).filter(|state| *state <= 4);
        let percent = parts.next().and_then(|part| part.parse::<u8>().ok()).unwrap_or(0).min(100);
        if let Some(state) = state {
            return Osc::Progress { state, percent };
        }
    }
    Osc::Notify { title: String::new(), body: text.into_owned() }
}

fn urxvt_notify(rest: &[u8]) -> Option<Osc> {
    let text = String::from_utf8_lossy(rest);
    let text = text.strip_prefix("notify;")?;
    let (title, body) = text.split_once(';').unwrap_or((text, ""));
    Some(Osc::Notify { title: title.to_owned(), body: body.to_owned() })
}

fn clipboard(rest: &[u8]) -> Option<Osc> {
    let split = rest.iter().position(|&byte| byte == b';')?;
    let (target, data) = (&rest[..split], &rest[split + 1..]);
    let target = target.first().map_or('c', |&byte| byte as char);
    if data == b"?" {
        return Some(Osc::ClipboardQuery { target });
    }
    let bytes = decode_base64(data)?;
    Some(Osc::ClipboardStore { target, text: String::from_utf8_lossy(&bytes).into_owned() })
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
        "A" | "P" | "N" => Some(ShellMark::PromptStart),
        "B" | "I" => Some(ShellMark::InputStart),
        "C" => Some(ShellMark::OutputStart),
        "D" => {
            Some(ShellMark::CommandEnd { code: parts.next().and_then(|code| code.parse().ok()) })
        }
        _ => None,
    }
}

/// The directory named by an OSC 7 payload: a `file:` URL whose host is this machine, or a plain path.
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
    Some(percent_decode(path))
}

fn percent_decode(text: &str) -> Vec<u8> {
    let hex = |byte: u8| (byte as char).to_digit(16);
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let digits = bytes.get(index + 1).zip(bytes.get(index + 2));
        match (bytes[index], digits.and_then(|(&high, &low)| hex(high).zip(hex(low)))) {
            (b'%', Some((high, low))) => {
                out.push((high * 16 + low) as u8);
                index += 3;
            }
            (byte, _) => {
                out.push(byte);
                index += 1;
            }
        }
    }
    out
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
        check("7;file:///tmp/a%20b", expect![[r#"[Cwd("file:///tmp/a%20b")]"#]]);
        assert_eq!(cwd_path("file:///tmp/a%20b%zz", |_| false).unwrap(), b"/tmp/a b%zz");
        assert_eq!(cwd_path("file://elsewhere/tmp", |_| false), None);
        assert_eq!(cwd_path("file://here/tmp", |host| host == "here").unwrap(), b"/tmp");
        assert_eq!(cwd_path("/plain", |_| false).unwrap(), b"/plain");
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
    }

    #[test]
    fn links_and_clipboard() {
        check(
            "8;id=a:x=y;https://e.x/;q",
            expect![[r#"[Link { id: Some("a"), uri: "https://e.x/;q" }]"#]],
        );
        check("8;;", expect![[r#"[Link { id: None, uri: "" }]"#]]);
        check("52;c;aGVsbG8=", expect![[r#"[ClipboardStore { target: 'c', text: "hello" }]"#]]);
        check("52;;aGVsbG8", expect![[r#"[ClipboardStore { target: 'c', text: "hello" }]"#]]);
        check("52;p;?", expect![[r#"[ClipboardQuery { target: 'p' }]"#]]);
        check("52;c;***", expect!["[]"]);
    }

    #[test]
    fn notifications() {
        check("9;build done", expect![[r#"[Notify { title: "", body: "build done" }]"#]]);
        check("9;4;1;40", expect!["[Progress { state: 1, percent: 40 }]"]);
        check("9;4;9;40", expect![[r#"[Notify { title: "", body: "4;9;40" }]"#]]);
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
        check("133;Z", expect!["[]"]);
    }

    proptest! {
        #[test]
        fn any_payload_is_survived(payload: Vec<u8>) {
            Osc::parse(&payload);
        }
    }
}
