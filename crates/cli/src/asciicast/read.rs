//! Reads recordings of others: every bound is checked, and errors name their line.

use std::{
    fmt,
    io::{BufRead, Read as _},
    time::Duration,
};

use serde::Deserialize;
use serde_json::Value;

use super::{EntryKind, Event, Header, Size};

const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// What is wrong with a recording, and in which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    line: u64,
    why: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// How the time of an event is written.
#[derive(Debug, Clone, Copy)]
enum Clock {
    /// Since the event before.
    Relative,
    /// Since the start; the last one was this.
    Absolute(f64),
}

/// A recording, event by event.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    clock: Clock,
}

#[derive(Deserialize)]
struct RawVersion {
    version: u64,
}

#[derive(Deserialize)]
struct RawTerm {
    cols: u64,
    rows: u64,
}

#[derive(Deserialize)]
struct RawHeader3 {
    term: RawTerm,
    idle_time_limit: Option<f64>,
}

#[derive(Deserialize)]
struct RawHeader2 {
    width: u64,
    height: u64,
    idle_time_limit: Option<f64>,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    pub(crate) fn open(input: R) -> Result<(Header, Self), Broken> {
        let mut reader = Self { input, line: Vec::new(), number: 0, clock: Clock::Relative };
        if !reader.next_line()? {
            return Err(Broken { line: 1, why: "the file is empty".to_owned() });
        }
        let header = reader.header()?;
        Ok((header, reader))
    }

    /// The next event; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Event>, Broken> {
        while self.next_line()? {
            let text = self.line.trim_ascii();
            if !text.is_empty() && !text.starts_with(b"#") {
                return self.event().map(Some);
            }
        }
        Ok(None)
    }

    fn broken(&self, why: impl fmt::Display) -> Broken {
        Broken { line: self.number, why: why.to_string() }
    }

    fn next_line(&mut self) -> Result<bool, Broken> {
        self.line.clear();
        self.number += 1;
        let mut bounded = self.input.by_ref().take(LONGEST_LINE + 1);
        let count =
            bounded.read_until(b'\n', &mut self.line).map_err(|error| self.broken(error))?;
        if count as u64 > LONGEST_LINE {
            return Err(self.broken(format_args!("longer than {LONGEST_LINE} bytes")));
        }
        Ok(count > 0)
    }

    fn parse<'a, T: Deserialize<'a>>(&'a self, expected: &str) -> Result<T, Broken> {
        // The position within the line is of use, the number of the line would always be 1.
        serde_json::from_slice(&self.line).map_err(|error| {
            let error = error.to_string();
            let error = error.split(" at line ").next().unwrap_or(&error);
            self.broken(format_args!("expected {expected}: {error}"))
        })
    }

    fn header(&mut self) -> Result<Header, Broken> {
        let RawVersion { version } = self.parse("the header of an asciicast file")?;
        let (cols, rows, idle) = match version {
            3 => {
                let RawHeader3 { term, idle_time_limit } = self.parse("a header of version 3")?;
                (term.cols, term.rows, idle_time_limit)
            }
            2 => {
                self.clock = Clock::Absolute(0.0);
                let raw: RawHeader2 = self.parse("a header of version 2")?;
                (raw.width, raw.height, raw.idle_time_limit)
            }
            other => return Err(self.broken(format_args!("version {other} is not 2 or 3"))),
        };
        let size =
            Size::new(cols, rows).ok_or_else(|| self.no_size(format_args!("{cols}x{rows}")))?;
        let idle_limit = match idle.filter(|seconds| *seconds > 0.0) {
            Some(seconds) => Some(self.duration(seconds)?),
            None => None,
        };
        Ok(Header { size, idle_limit })
    }

    fn event(&mut self) -> Result<Event, Broken> {
        let (time, code, data): (f64, String, Value) =
            self.parse("an event: [seconds, code, data]")?;
        let pause = match self.clock {
            Clock::Relative => self.duration(time)?,
            Clock::Absolute(last) => {
                // Times that go back are found in old files; they mean at once.
                let pause = self.duration((time - last).max(0.0))?;
                self.clock = Clock::Absolute(last.max(time));
                pause
            }
        };
        let what = match (&*code, data) {
            ("o", Value::String(text)) => EntryKind::Output(text),
            ("r", Value::String(text)) => EntryKind::Resized(self.size(&text)?),
            ("o" | "r", _) => return Err(self.broken("the data of the event is not a string")),
            _ => EntryKind::Other,
        };
        Ok(Event { pause, what })
    }

    fn size(&self, text: &str) -> Result<Size, Broken> {
        let (cols, rows) = text.split_once('x').unwrap_or_default();
        let size = cols.parse().ok().zip(rows.parse().ok());
        size.and_then(|(cols, rows)| Size::new(cols, rows))
            .ok_or_else(|| self.no_size(format_args!("{text:.40?}")))
    }

    fn no_size(&self, what: impl fmt::Display) -> Broken {
        self.broken(format_args!("{what} is not a size from 1x1 to 2000x2000"))
    }

    fn duration(&self, seconds: f64) -> Result<Duration, Broken> {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| self.broken(format_args!("{seconds} is not a time in seconds")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Result<(Header, Vec<Event>), String> {
        let text = |broken: Broken| broken.to_string();
        let (header, mut reader) = Reader::open(bytes).map_err(text)?;
        let mut events = Vec::new();
        while let Some(event) = reader.next().map_err(text)? {
            events.push(event);
        }
        Ok((header, events))
    }

    fn output(ms: u64, text: &str) -> Event {
        Event { pause: Duration::from_millis(ms), what: EntryKind::Output(text.to_owned()) }
    }

    #[test]
    fn version_3_has_times_between_events() {
        let file = r#"{"version": 3, "term": {"cols": 80, "rows": 24}, "idle_time_limit": 2.5}
# a remark
[0.25, "o", "a\u001b[1m"]

[1.0, "m", ""]
[0.5, "r", "90x30"]
[0.25, "z", {"later": true}]
[0, "x", "0"]
"#;
        let (header, events) = read(file.as_bytes()).unwrap();
        assert_eq!(header.size, Size { cols: 80, rows: 24 });
        assert_eq!(header.idle_limit, Some(Duration::from_millis(2500)));
        assert_eq!(events[0], output(250, "a\x1b[1m"));
        assert_eq!(events[1].what, EntryKind::Other);
        assert_eq!(events[2].what, EntryKind::Resized(Size { cols: 90, rows: 30 }));
        assert_eq!(events[3].pause, Duration::from_millis(250));
        assert_eq!(events.len(), 5);
    }

    #[test]
    fn version_2_has_times_since_the_start() {
        let file = "{\"version\":2,\"width\":80,\"height\":24}\n\
                    [0.5,\"o\",\"a\"]\n[2.5,\"o\",\"b\"]\n[1.5,\"o\",\"c\"]\n[3,\"o\",\"d\"]";
        let (header, events) = read(file.as_bytes()).unwrap();
        assert_eq!(header.size, Size { cols: 80, rows: 24 });
        assert_eq!(header.idle_limit, None);
        let expected = [output(500, "a"), output(2000, "b"), output(0, "c"), output(500, "d")];
        assert_eq!(events, expected);
    }

    #[test]
    fn what_is_broken_is_reported_with_its_line() {
        let head = "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24}}\n# remark\n";
        for (file, expected) in [
            ("".to_owned(), "line 1: the file is empty"),
            ("hello\n".to_owned(), "line 1: expected the header"),
            ("# remark\n".to_owned(), "line 1: expected the header"),
            ("{\"version\":1}".to_owned(), "line 1: version 1 is not 2 or 3"),
            ("{\"version\":3}".to_owned(), "line 1: expected a header of version 3: missing"),
            ("{\"version\":2,\"width\":0,\"height\":5}".to_owned(), "line 1: 0x5 is not a size"),
            (format!("{head}[1,\"o\"]"), "line 3: expected an event"),
            (format!("{head}[1,\"o\",\"a\"]\n[1,\"o"), "line 4: expected an event"),
            (format!("{head}[1,\"o\",\"a\",1]"), "line 3: expected an event"),
            (format!("{head}[-1,\"o\",\"a\"]"), "line 3: -1 is not a time"),
            (format!("{head}[1e300,\"o\",\"a\"]"), "line 3: 1"),
            (format!("{head}[1,\"o\",7]"), "line 3: the data of the event is not a string"),
            (format!("{head}[1,\"r\",\"9999x1\"]"), "line 3: \"9999x1\" is not a size"),
            (format!("{head}[1,\"o\",\"\\ud800\"]"), "line 3: expected an event"),
        ] {
            let error = read(file.as_bytes()).unwrap_err();
            assert!(error.starts_with(expected), "{file:?}: {error}");
        }
        let long = [head.as_bytes(), &vec![b'['; LONGEST_LINE as usize + 5]].concat();
        assert_eq!(read(&long).unwrap_err(), "line 3: longer than 16777216 bytes");
        let invalid = [head.as_bytes(), b"[1,\"o\",\"\xff\"]"].concat();
        assert!(read(&invalid).unwrap_err().starts_with("line 3: "));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = read(&bytes);
        }

        #[test]
        fn arbitrary_events_never_panic(
            version in 1..4u8,
            lines in prop::collection::vec("(\\[-?[0-9]{0,3}(e[0-9]{1,3})?,\"[oirmxz]\",(\"\\PC{0,8}\"|[0-9]x)\\]|\\PC{0,12})", 0..12),
        ) {
            let head = format!("{{\"version\":{version},\"width\":9,\"height\":9,\"term\":{{\"cols\":9,\"rows\":9}}}}");
            let _ = read(format!("{head}\n{}", lines.join("\n")).as_bytes());
        }
    }
}
