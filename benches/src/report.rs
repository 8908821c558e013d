//! The report: rows of figures with ratios and targets, as JSON for machines and Markdown for people.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

use crate::machine::Machine;
use crate::measure::Bench;
use crate::stats::Figure;

/// Raised when a member of the JSON changes its meaning.
const SCHEMA: u32 = 1;

/// Which direction is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Better {
    Lower,
    Higher,
}

/// What a figure should be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Target {
    /// In words.
    pub(crate) text: String,
    /// Whether it is so; none if there is nothing to compare with.
    pub(crate) reached: Option<bool>,
}

/// One thing that was measured.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// The section that measured it.
    pub(crate) section: &'static str,
    /// What it is.
    pub(crate) name: String,
    /// Unit of its figures.
    pub(crate) unit: &'static str,
    /// Which direction is good.
    pub(crate) better: Better,
    pub(crate) rookery: Option<Figure>,
    pub(crate) floor: Option<Figure>,
    pub(crate) tmux: Option<Figure>,
    pub(crate) ptywright: Option<Figure>,
    pub(crate) pexpect: Option<Figure>,
    pub(crate) tui_test: Option<Figure>,
    pub(crate) roder: Option<Figure>,
    pub(crate) xterm: Option<Figure>,
    pub(crate) alacritty: Option<Figure>,
    pub(crate) xterm_js: Option<Figure>,
    pub(crate) targets: Vec<Target>,
}

impl Row {
    /// A row without figures.
    pub(crate) fn new(
        section: &'static str,
        name: impl Into<String>,
        unit: &'static str,
        better: Better,
    ) -> Row {
        let name = name.into();
        Row {
            section,
            name,
            unit,
            better,
            rookery: None,
            floor: None,
            tmux: None,
            ptywright: None,
            pexpect: None,
            tui_test: None,
            roder: None,
            xterm: None,
            alacritty: None,
            xterm_js: None,
            targets: Vec::new(),
        }
    }

    /// A target that Rookery's figure either meets or not.
    pub(crate) fn target(
        mut self,
        text: impl Into<String>,
        is_met: impl FnOnce(f64) -> bool,
    ) -> Row {
        let reached = self.rookery.map(|figure| is_met(figure.value));
        self.targets.push(Target { text: text.into(), reached });
        self
    }

    /// A target relative to a peer's figure.
    pub(crate) fn target_against(
        mut self,
        peer: Option<Figure>,
        text: impl Into<String>,
        is_met: impl FnOnce(f64, f64) -> bool,
    ) -> Row {
        let reached = self.rookery.zip(peer).map(|(own, peer)| is_met(own.value, peer.value));
        self.targets.push(Target { text: text.into(), reached });
        self
    }

    /// How much Rookery needs of what is measured, relative to a peer: below 1 is better.
    fn ratio(&self, peer: Option<Figure>) -> Option<f64> {
        let (own, peer) = (self.rookery?.value, peer?.value);
        // A difference of two measurements may come out as nothing or less.
        (own > 0.0 && peer > 0.0).then(|| match self.better {
            Better::Lower => own / peer,
            Better::Higher => peer / own,
        })
    }
}

/// Versions of what was measured.
#[derive(Clone, Debug, Serialize)]
struct Versions {
    rookery: String,
    commit: Option<String>,
    tmux: Option<String>,
    ptywright: Option<String>,
    pexpect: Option<String>,
    tui_test: Option<String>,
    roder: Option<String>,
    xterm: Option<String>,
    alacritty: Option<String>,
    xterm_js: Option<String>,
    chromium: Option<String>,
}

/// All that one run brought.
#[derive(Serialize)]
pub(crate) struct Report {
    schema: u32,
    date: String,
    is_quick: bool,
    machine: Machine,
    versions: Versions,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Report {
    /// A report without rows.
    pub(crate) fn new(bench: &Bench) -> Report {
        Report {
            schema: SCHEMA,
            date: jiff::Zoned::now().date().to_string(),
            is_quick: bench.is_quick,
            machine: bench.machine.clone(),
            versions: Versions {
                rookery: bench.rookery_version.clone(),
                commit: bench.commit.clone(),
                tmux: bench.tmux.clone(),
                ptywright: bench.ptywright.as_ref().map(|(_, version)| version.clone()),
                pexpect: bench.pexpect.as_ref().map(|(_, version)| version.clone()),
                tui_test: bench.tui_test.as_ref().map(|(_, version)| version.clone()),
                roder: bench.roder.as_ref().map(|(_, version)| version.clone()),
                xterm: bench.xterm.clone(),
                alacritty: bench.alacritty.clone(),
                xterm_js: bench.xterm_js.as_ref().map(|(_, version)| version.clone()),
                chromium: bench.chromium.as_ref().map(|(_, version)| version.clone()),
            },
            rows: Vec::new(),
            notes: bench.notes.clone(),
        }
    }

    /// Adds a row, and shows it.
    pub(crate) fn push(&mut self, row: Row) {
        let shown = std::iter::once(("rookery", row.rookery))
            .chain(PEERS.iter().map(|(name, of)| (*name, of(&row))))
            .filter_map(|(name, figure)| Some(format!("  {name} {}", number(figure?.value))));
        let figures: String = shown.collect();
        eprintln!("   {} [{}]{figures}", row.name, row.unit);
        self.rows.push(row);
    }

    /// Adds a remark.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The report for people.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        self.write_markdown(&mut text);
        text
    }

    fn write_markdown(&self, text: &mut String) {
        let Machine { cpu, cores, memory_mib, kernel, load } = &self.machine;
        let quick = if self.is_quick { " (quick run: not to be quoted)" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# Benchmarks of {}{quick}\n", self.date);
        let _ = writeln!(
            text,
            "{cpu}, {cores} cores, {memory_mib} MiB, Linux {kernel}, load {load:.2} at the start."
        );
        let _ = writeln!(text, "{}.\n", self.measured().join(", "));
        text.push_str("Ratios say how much time or memory Rookery takes relative to the other: below 1 is better.\n\n");
        for rows in self.rows.chunk_by(|one, other| one.section == other.section) {
            write_table(text, rows);
            text.push('\n');
        }
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
    }

    fn measured(&self) -> Vec<String> {
        let commit =
            self.versions.commit.as_ref().map(|commit| format!(" at {commit}")).unwrap_or_default();
        let own = format!("Rookery {}{commit}", self.versions.rookery);
        let Versions { tmux, ptywright, pexpect, tui_test, roder, .. } = &self.versions;
        let Versions { xterm, alacritty, xterm_js, chromium, .. } = &self.versions;
        let peers =
            [tmux, ptywright, pexpect, tui_test, roder, xterm, alacritty, xterm_js, chromium];
        let peers = peers.into_iter().flatten().cloned();
        std::iter::once(own).chain(peers).collect()
    }

    /// Writes both files and gives their common name.
    pub(crate) fn save(&self, dir: &Path, markdown: &str) -> anyhow::Result<PathBuf> {
        std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        let quick = if self.is_quick { "-quick" } else { "" };
        let stem = dir.join(format!("{}-{}{quick}", self.date, self.machine.slug()));
        let json = serde_json::to_string_pretty(self)?;
        std::fs::write(stem.with_extension("json"), json + "\n")?;
        std::fs::write(stem.with_extension("md"), markdown)?;
        Ok(stem)
    }
}

/// The programs that may be measured besides Rookery.
type Peer = (&'static str, fn(&Row) -> Option<Figure>);

const PEERS: [Peer; 9] = [
    ("floor", |row| row.floor),
    ("tmux", |row| row.tmux),
    ("ptywright", |row| row.ptywright),
    ("pexpect", |row| row.pexpect),
    ("tui-test", |row| row.tui_test),
    ("roder", |row| row.roder),
    ("xterm", |row| row.xterm),
    ("alacritty", |row| row.alacritty),
    ("xterm.js", |row| row.xterm_js),
];

/// The rows of a section, with a column for everyone who was measured in it.
fn write_table(text: &mut String, rows: &[Row]) {
    let peers = PEERS.iter().filter(|(_, of)| rows.iter().any(|row| of(row).is_some()));
    let peers: Vec<&Peer> = peers.collect();
    let join = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let around = |first: [&str; 3], each: &str, ratio: &str, last: &str| {
        let mut cells: Vec<String> = first.map(str::to_owned).into();
        cells.extend(peers.iter().map(|(name, _)| each.replace("NAME", name)));
        cells.extend(peers.iter().map(|(name, _)| ratio.replace("NAME", name)));
        cells.push(last.to_owned());
        cells
    };
    text.push_str(&join(around(["what", "unit", "Rookery"], "NAME", "÷ NAME", "target")));
    text.push_str(&join(around(["---", "---", "---:"], "---:", "---:", "---")));
    for row in rows {
        let figure =
            |figure: Option<Figure>| figure.map_or_else(String::new, |figure| number(figure.value));
        let ratio = |peer| row.ratio(peer).map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        let mut cells = vec![format!("{}: {}", row.section, row.name), row.unit.to_owned()];
        cells.push(figure(row.rookery));
        cells.extend(peers.iter().map(|(_, of)| figure(of(row))));
        cells.extend(peers.iter().map(|(_, of)| ratio(of(row))));
        cells.push(targets(&row.targets));
        text.push_str(&join(cells));
    }
}

fn targets(targets: &[Target]) -> String {
    let one = |target: &Target| {
        let verdict = match target.reached {
            Some(true) => "reached",
            Some(false) => "**not reached**",
            None => "nothing to compare with",
        };
        format!("{}: {verdict}", target.text)
    };
    targets.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Three digits, more only where they are in front of the point.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(better: Better) -> Row {
        Row {
            rookery: Some(Figure::once(50.0)),
            floor: Some(Figure::once(100.0)),
            ..Row::new("s", "n", "u", better)
        }
    }

    fn report(rows: Vec<Row>) -> Report {
        Report {
            schema: SCHEMA,
            date: "2026-01-02".to_owned(),
            is_quick: false,
            machine: Machine::this(),
            versions: Versions {
                rookery: "1.0".to_owned(),
                commit: None,
                tmux: None,
                ptywright: None,
                pexpect: None,
                tui_test: None,
                roder: None,
                xterm: None,
                alacritty: None,
                xterm_js: None,
                chromium: None,
            },
            rows,
            notes: vec!["a remark".to_owned()],
        }
    }

    #[test]
    fn ratios_below_one_are_good_either_way() {
        assert_eq!(row(Better::Lower).ratio(Some(Figure::once(100.0))), Some(0.5));
        assert_eq!(row(Better::Higher).ratio(Some(Figure::once(100.0))), Some(2.0));
        assert_eq!(row(Better::Higher).ratio(None), None);
        assert_eq!(row(Better::Lower).ratio(Some(Figure::once(0.0))), None);
    }

    #[test]
    fn targets_need_figures() {
        let row = row(Better::Lower)
            .target("at most 60", |value| value <= 60.0)
            .target_against(Some(Figure::once(10.0)), "below theirs", |own, peer| own < peer)
            .target_against(None, "below none", |own, peer| own < peer);
        let reached: Vec<_> = row.targets.iter().map(|target| target.reached).collect();
        assert_eq!(reached, [Some(true), Some(false), None]);
    }

    #[test]
    fn the_table_has_as_many_cells_in_every_row() {
        let markdown =
            report(vec![row(Better::Lower).target("x", |_| false), row(Better::Higher)]).markdown();
        let table: Vec<_> = markdown.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(table.len(), 4);
        assert!(table.iter().all(|line| line.matches('|').count() == 7), "{markdown}");
        assert!(
            markdown.contains("| s: n | u | 50.0 | 100 | 0.50 | x: **not reached** |"),
            "{markdown}"
        );
        assert!(markdown.ends_with("- a remark\n"));
    }

    #[test]
    fn both_files_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let report = report(vec![row(Better::Lower)]);
        let stem = report.save(&dir.path().join("new"), "text").unwrap();
        let json = std::fs::read_to_string(stem.with_extension("json")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["rows"][0]["rookery"]["value"], 50.0);
        assert_eq!(value["schema"], 1);
        assert_eq!(std::fs::read_to_string(stem.with_extension("md")).unwrap(), "text");
    }

    #[test]
    fn numbers_have_three_digits() {
        let texts: Vec<_> = [1234.4, 123.4, 12.34, 1.234, 0.0].into_iter().map(number).collect();
        assert_eq!(texts, ["1234", "123", "12.3", "1.23", "0.00"]);
    }
}
