//! Writes recordings: asciicast version 3, a line per event.

use std::{fmt::Write as _, time::Duration};

use serde::Serialize;

use super::Size;

/// Output longer than this becomes more than one event, so that every reader can take a line.
const LONGEST_OUTPUT: usize = 256 * 1024;

/// The header of a recording.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct About {
    pub(crate) size: Size,
    /// Unix time of its start.
    pub(crate) timestamp: u64,
    pub(crate) idle_limit: Option<Duration>,
    pub(crate) command: Option<String>,
    pub(crate) title: Option<String>,
}

#[derive(Serialize)]
struct RawTerm {
    cols: u16,
    rows: u16,
    r#type: &'static str,
}

#[derive(Serialize)]
struct RawHeader<'a> {
    version: u8,
    term: RawTerm,
    timestamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    idle_time_limit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
}

/// Lines of a recording, made of what happened when.
#[derive(Debug)]
pub(super) struct Writer {
    lines: String,
    events: u64,
    /// Time of the last event in milliseconds: rounding errors must not add up.
    last: u64,
    idle_limit: Option<Duration>,
}

impl Writer {
    /// Begins with the header.
    pub(super) fn new(about: &About) -> Self {
        let header = RawHeader {
            version: 3,
            // The value in every terminal of ours.
            term: RawTerm {
                cols: about.size.cols,
                rows: about.size.rows,
                r#type: "xterm-256color",
            },
            timestamp: about.timestamp,
            idle_time_limit: about.idle_limit.map(|limit| limit.as_secs_f64()),
            command: about.command.as_deref(),
            title: about.title.as_deref(),
        };
        let mut lines = String::new();
        // Strings and finite numbers are always JSON.
        let header = serde_json::to_string(&header).unwrap_or_default();
        header.chars().for_each(|c| push_visible(c, &mut lines));
        lines.push('\n');
        Self { lines, events: 0, last: 0, idle_limit: about.idle_limit }
    }

    /// How many events there were.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// The lines since the last time this was asked.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.lines).into_bytes()
    }

    pub(super) fn output(&mut self, at: Duration, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(rest.floor_char_boundary(LONGEST_OUTPUT));
            self.event(at, 'o', piece);
            rest = more;
        }
    }

    pub(super) fn resize(&mut self, at: Duration, size: Size) {
        self.event(at, 'r', &size.to_string());
    }

    pub(super) fn exit(&mut self, at: Duration, code: u8) {
        self.event(at, 'x', &code.to_string());
    }

    /// A line that players skip.
    pub(super) fn comment(&mut self, text: &str) {
        let _ = writeln!(self.lines, "# {text}");
    }

    fn event(&mut self, at: Duration, code: char, data: &str) {
        let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX).max(self.last);
        let limit = self.idle_limit.map_or(u128::MAX, |limit| limit.as_millis());
        let pause = u128::from(at - self.last).min(limit);
        self.last = at;
        self.events += 1;
        let _ = write!(self.lines, "[{}.{:03}, \"{code}\", \"", pause / 1000, pause % 1000);
        for c in data.chars() {
            match c {
                '"' | '\\' => self.lines.extend(['\\', c]),
                '\n' => self.lines.push_str("\\n"),
                '\r' => self.lines.push_str("\\r"),
                c => push_visible(c, &mut self.lines),
            }
        }
        self.lines.push_str("\"]\n");
    }
}

/// A character of a JSON string; what cannot be seen is spelled out, as the format asks for.
fn push_visible(c: char, out: &mut String) {
    let is_hidden = c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    if is_hidden {
        let _ = write!(out, "\\u{:04x}", u32::from(c));
    } else {
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{EntryKind, Reader};
    use super::*;

    pub(super) fn about() -> About {
        About {
            size: Size { cols: 80, rows: 24 },
            timestamp: 1_794_746_100,
            idle_limit: None,
            command: None,
            title: None,
        }
    }

    #[test]
    fn lines_are_as_the_format_says() {
        let title = Some("a \"title\"\u{9b}".to_owned());
        let mut writer = Writer::new(&About { title, command: Some("sh".into()), ..about() });
        writer.output(Duration::from_micros(1_234_567), "\x1b[1mü\"\\\r\n\u{7f}");
        writer.resize(Duration::from_millis(1300), Size { cols: 90, rows: 30 });
        writer.comment("a remark");
        writer.exit(Duration::from_secs(3), 7);
        let expected = concat!(
            r#"{"version":3,"term":{"cols":80,"rows":24,"type":"xterm-256color"},"#,
            r#""timestamp":1794746100,"command":"sh","title":"a \"title\"\u009b"}"#,
            "\n",
            r#"[1.234, "o", "\u001b[1mü\"\\\r\n\u007f"]"#,
            "\n",
            r#"[0.066, "r", "90x30"]"#,
            "\n# a remark\n",
            r#"[1.700, "x", "7"]"#,
            "\n"
        );
        assert_eq!(String::from_utf8(writer.take()).unwrap(), expected);
        assert_eq!(writer.events(), 3);
    }

    #[test]
    fn pauses_are_capped_and_long_output_is_cut() {
        let idle_limit = Some(Duration::from_secs(2));
        let mut writer = Writer::new(&About { idle_limit, ..about() });
        writer.output(Duration::from_secs(100), &"é".repeat(LONGEST_OUTPUT));
        let lines = String::from_utf8(writer.take()).unwrap();
        assert!(lines.contains("\"idle_time_limit\":2.0"), "{}", &lines[..200]);
        let pauses: Vec<_> = lines.lines().skip(1).map(|line| &line[..7]).collect();
        assert_eq!(pauses, ["[2.000,", "[0.000,"]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(texts in prop::collection::vec(any::<String>(), 0..6)) {
            let mut writer = Writer::new(&about());
            for (text, at) in texts.iter().zip(1..) {
                writer.output(Duration::from_millis(at * 10), text);
            }
            let lines = writer.take();
            let (header, mut reader) = Reader::open(&*lines).unwrap();
            prop_assert_eq!(header.size, about().size);
            let mut read = String::new();
            while let Some(event) = reader.next().unwrap() {
                let EntryKind::Output(text) = event.what else { panic!("only output") };
                read.push_str(&text);
            }
            prop_assert_eq!(read, texts.concat());
        }
    }
}
