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
    // If stderr is gone, the failure cannot be reported.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Puts one line to stderr in place of the one before, which must be a terminal.
pub(crate) fn status(text: impl Display) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
}

/// Waits for something, and prints a progress line after a second, if stderr is a terminal.
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

/// Columns that are left out rather than made narrower than this, if they may be.
const READABLE_WIDTH: usize = 12;
/// No column is made narrower than this.
const LEAST_WIDTH: usize = 4;
/// Columns of space between cells.
const GAP: usize = 2;

/// Rows of cells under a header; columns are as wide as their widest cell, as far as there is room.
/// The first one is always whole: it is what the next command is given.
pub(crate) struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<(Tone, String)>>,
    spare: &'static [&'static str],
}

impl Table {
    pub(crate) fn new(header: &[&'static str]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new(), spare: &[] }
    }

    /// Columns that are left out one by one, in this order, where there is little room.
    pub(crate) fn sparing(mut self, columns: &'static [&'static str]) -> Self {
        self.spare = columns;
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<(Tone, String)>) {
        debug_assert_eq!(cells.len(), self.header.len());
        self.rows.push(cells.into_iter().map(|(tone, text)| (tone, printable(&text))).collect());
    }

    /// Prints it: on a terminal as wide as that is, elsewhere whole.
    pub(crate) fn print(&self) -> Outcome<()> {
        write(self.render(Colors::of_stdout(), width_of_stdout()).as_bytes())
    }

    pub(crate) fn render(&self, colors: Colors, room: Option<usize>) -> String {
        let header = self.header.iter().map(|name| (Tone::Faint, (*name).to_owned())).collect();
        let rows: Vec<&Vec<(Tone, String)>> = std::iter::once(&header).chain(&self.rows).collect();
        let widest = |column: usize| rows.iter().map(|row| row[column].1.width()).max();
        let shown = (0..self.header.len()).map(|column| (column, widest(column).unwrap_or(0)));
        let shown = self.fitted(shown.collect(), room.unwrap_or(usize::MAX));
        let mut out = String::new();
        for row in rows {
            let last = shown.len().saturating_sub(1);
            for (at, &(column, width)) in shown.iter().enumerate() {
                let (tone, text) = &row[column];
                let text = shorten(text, width);
                out.push_str(&colors.paint(*tone, &text));
                if at < last {
                    out.push_str(&" ".repeat(width - text.width() + GAP));
                }
            }
            out.push('\n');
        }
        out
    }

    /// The columns that are shown, each with its width.
    fn fitted(&self, mut shown: Vec<(usize, usize)>, room: usize) -> Vec<(usize, usize)> {
        let total = |widths: &[(usize, usize)], most: usize| {
            let gaps = GAP * widths.len().saturating_sub(1);
            widths.iter().map(|(_, width)| *width.min(&most)).sum::<usize>() + gaps
        };
        for name in self.spare {
            if total(&shown, READABLE_WIDTH) <= room {
                break;
            }
            shown.retain(|(column, _)| self.header[*column] != *name);
        }
        while total(&shown, usize::MAX) > room {
            let widest = shown.iter_mut().skip(1).max_by_key(|(_, width)| *width);
            match widest.filter(|(_, width)| *width > LEAST_WIDTH) {
                Some((_, width)) => *width -= 1,
                None => break,
            }
        }
        shown
    }
}

/// How wide the terminal at stdout is; none if there is none.
pub(crate) fn width_of_stdout() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
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
        .assert_eq(&table.render(Colors(false), None));
    }

    #[test]
    fn colors_do_not_count_as_width() {
        let mut table = Table::new(&["A", "B"]);
        table.row(vec![(Tone::Bad, "x".into()), (Tone::Plain, "y".into())]);
        let painted = table.render(Colors(true), None);
        assert_eq!(painted, "\x1b[2mA\x1b[0m  \x1b[2mB\x1b[0m\n\x1b[31mx\x1b[0m  y\n");
    }

    #[test]
    fn the_widest_columns_give_way_to_a_narrow_terminal() {
        let mut table = Table::new(&["ID", "TITLE", "DIRECTORY"]).sparing(&["DIRECTORY"]);
        let cells = ["123456", "a title of some length", "/srv/a/directory/far/below"];
        table.row(cells.map(|text| (Tone::Plain, text.to_owned())).into());
        let shown = |room| table.render(Colors(false), Some(room));
        expect![[r#"
            ID      TITLE            DIRECTORY
            123456  a title of som…  /srv/a/direct…
        "#]]
        .assert_eq(&shown(39));
        expect![[r#"
            ID      TITLE
            123456  a title of …
        "#]]
        .assert_eq(&shown(20));
        for room in 12..80 {
            assert!(shown(room).lines().all(|line| line.width() <= room), "{}", shown(room));
        }
        assert!(shown(0).contains("123456"));
    }

    #[test]
    fn long_text_is_cut_at_a_column() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdefg", 6), "abcde…");
        assert_eq!(shorten("日本語", 5), "日本…");
        assert_eq!(shorten("日本語", 4), "日…");
    }
}
