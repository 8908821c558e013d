//! What an idle session takes of memory, in a server of its own.

use anyhow::Context as _;

use super::{Server, Side};
use crate::measure::create::create_many;
use crate::measure::footprint::await_silence;
use crate::measure::{Bench, Section, keep_going};
use crate::memory::Memory;
use crate::report::{Better, Report, Row};
use crate::stats::Figure;

/// How a report counts memory, and how it says so.
type Measure = (&'static str, fn(Memory) -> f64);

const MEASURES: [Measure; 2] =
    [("proportional", |memory| memory.pss), ("with unmapped memory files", |memory| memory.total)];

/// Measures both servers on standard input and output; the daemon is in the section `memory`.
pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(100, 20);
    let own = match Side::OwnStdio.start(bench, report)? {
        Some(mut server) => Some(idle(&mut server, count)?),
        None => None,
    };
    let theirs = Side::Theirs.start(bench, report)?;
    let theirs =
        theirs.and_then(|mut server| keep_going(report, "ptywright", idle(&mut server, count)));
    for (measure, value) in MEASURES {
        let figure = |memory: Option<Memory>| Some(Figure::once(value(memory?)));
        let name = format!("idle session, {}, {measure}", Side::OwnStdio.name());
        report.push(Row {
            rookery: figure(own),
            ptywright: figure(theirs),
            ..Row::new(Section::Ptywright.name(), name, "KiB", Better::Lower)
        });
    }
    Ok(())
}

fn idle(server: &mut Server, count: usize) -> anyhow::Result<Memory> {
    // The first session brings what all share.
    let first = create_many(server.client()?, 1)?;
    await_silence(server.client()?, &first)?;
    let processes = server.processes(first.first().context("no session")?)?;
    let before = Memory::steady(&processes)?;
    let sessions = create_many(server.client()?, count)?;
    await_silence(server.client()?, &sessions)?;
    Ok(Memory::steady(&processes)?.each_since(before, count))
}
