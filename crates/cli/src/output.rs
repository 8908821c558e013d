//! What commands print: lines, JSON and aligned tables. Colors only on a terminal that wants them.

use std::{
    fmt::Display,
    io::{self, IsTerminal as _, Write as _},
    pin::pin,
    time::Duration,
};

use serde::Serialize;
use tokio::time::{Instant, interval_at};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::failure::{Failure, Outcome};

/// After how long something is said to be at work, and how often again.
const TICK: Duration = Duration::from_secs(1);

/// Writes to stdout. A reader that went away ends the program quietly, as it does for other tools.
pub(crate) fn write(bytes: &[u8]) -> Outcome<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::quiet(141),
        _ => Failure::new(format!("cannot write the output: {error}")),
    })
}

/// Prints one line.
pub(crate) fn line(text: impl Display) -> Outcome<()> {
    write(format!("{text}\n").as_bytes())
}

/// Prints one line to stderr, about what goes on rather than what was asked for.
pub(crate) fn note(text: impl Display) {
    // Nobody can be told that telling failed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Puts one line to stderr in place of the one before, which must be a terminal.
pub(crate) fn status(text: impl Display) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
}

/// Waits for something, and says after a second that it is at work, if somebody watches.
pub(crate) async fn working<T>(what: &str, work: impl Future<Output = T>) -> T {
    if !io::stderr().is_terminal() {
        return work.await;
    }
    let mut work = pin!(work);
    let begun = Instant::now();
    let mut ticks = interval_at(begun + TICK, TICK);
    let mut is_shown = false;
    loop {
        tokio::select! {
            result = &mut work => {
                if is_shown {
                    status("");
                }
                return result;
            }
            _ = ticks.tick() => {
                is_shown = true;
                status(format_args!("{what}, {} s …", begun.elapsed().as_secs()));
            }
        }
    }
}

/// Prints JSON for people and programs.
pub(crate) fn json(value: &impl Serialize) -> Outcome<()> {
    let text = serde_json::to_string_pretty(value);
    line(text.map_err(|error| Failure::new(format!("cannot write JSON: {error}")))?)
}

/// Prints JSON on one line.
pub(crate) fn json_line(value: &impl Serialize) -> Outcome<()> {
    let text = serde_json::to_string(value);
    line(text.map_err(|error| Failure::new(format!("cannot write JSON: {error}")))?)
}

/// What a text says by its color as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Good,
    Warning,
    Bad,
    Faint,
}

/// Whether and how tones are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Colors(bool);

impl Colors {
    /// As stdout and the environment want it.
    pub(crate) fn of_stdout() -> Self {
        Self::wanted_on(io::stdout().is_terminal())
    }

    /// As stderr and the environment want it.
    pub(crate) fn of_stderr() -> Self {
        Self::wanted_on(io::stderr().is_terminal())
    }

    fn wanted_on(is_terminal: bool) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self(is_terminal && !set("NO_COLOR") && !is_dumb)
    }

    /// Whether there are any.
    pub(crate) fn are_wanted(self) -> bool {
        self.0
    }

    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self(false)
    }

    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Good => "32",
            Tone::Warning => "33",
            Tone::Bad => "31",
            Tone::Faint => "2",
        };
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The text without anything that could move the cursor or ring a bell.
pub(crate) fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// The text cut to a width, with an ellipsis if anything is gone.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    kept.push('…');
    kept
}

/// Rows of cells under a header; columns are as wide as their widest cell.
pub(crate) struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<(Tone, String)>>,
}

impl Table {
    pub(crate) fn new(header: &[&'static str]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<(Tone, String)>) {
        debug_assert_eq!(cells.len(), self.header.len());
        self.rows.push(cells.into_iter().map(|(tone, text)| (tone, printable(&text))).collect());
    }

    pub(crate) fn render(&self, colors: Colors) -> String {
        let header = self.header.iter().map(|name| (Tone::Faint, (*name).to_owned())).collect();
        let rows: Vec<&Vec<(Tone, String)>> = std::iter::once(&header).chain(&self.rows).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].1.width()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let mut out = String::new();
        for row in rows {
            for (column, (tone, text)) in row.iter().enumerate() {
                out.push_str(&colors.paint(*tone, text));
                if column + 1 < row.len() {
                    out.push_str(&" ".repeat(widths[column] - text.width() + 2));
                }
            }
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["ID", "TITLE", "STATE"]);
        for (id, title) in [("1", "sh"), ("10", "日本\x1b[2J\x07")] {
            let cells = [id, title, "running"];
            table.row(cells.map(|text| (Tone::Plain, text.to_owned())).into());
        }
        expect![[r#"
            ID  TITLE    STATE
            1   sh       running
            10  日本[2J  running
        "#]]
        .assert_eq(&table.render(Colors(false)));
    }

    #[test]
    fn colors_do_not_count_as_width() {
        let mut table = Table::new(&["A", "B"]);
        table.row(vec![(Tone::Bad, "x".into()), (Tone::Plain, "y".into())]);
        let painted = table.render(Colors(true));
        assert_eq!(painted, "\x1b[2mA\x1b[0m  \x1b[2mB\x1b[0m\n\x1b[31mx\x1b[0m  y\n");
    }

    #[test]
    fn long_text_is_cut_at_a_column() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdefg", 6), "abcde…");
        assert_eq!(shorten("日本語", 5), "日本…");
        assert_eq!(shorten("日本語", 4), "日…");
    }
}
