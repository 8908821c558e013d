//! What a window costs while nothing changes.

use std::time::Duration;

use super::super::{Bench, faces};
use super::{FIRST, Figures, SOON, Stage, Whose, Window, role, with_block};
use crate::peers::SessionServer as _;
use crate::report::{Better, Report};
use crate::rest::{Rest, rest};
use crate::stats::Figure;

/// Terminals that are there.
const TERMINALS: usize = 50;

pub(super) fn run(bench: &Bench, stage: &mut Stage, report: &mut Report) -> anyhow::Result<()> {
    let seconds = if bench.is_quick { 3 } else { 30 };
    let count = bench.count(TERMINALS, 5);
    let measured = stage.each(bench, report, |stage, whose| match whose {
        Whose::Ours => own(bench, stage, count, seconds),
        Whose::Peer(kind) => {
            let program = role(bench, &["__block"]);
            let window = Window::open(stage.peer_command(kind, &program, 0))?;
            stage.find(FIRST, SOON)?;
            at_rest(stage, &[window.pid()], seconds)
        }
    })?;
    let figures = |of: fn(&(Rest, u64)) -> f64| {
        let mut figures = Figures::default();
        for (whose, measured) in &measured {
            figures.set(*whose, Some(Figure::once(of(measured))));
        }
        figures
    };
    let name =
        |what: &str| format!("{count} terminals (a peer: one) at rest for {seconds} s, {what}");
    report.push(
        figures(|(rest, _)| rest.processor)
            .into_row(name("processor of the busiest process"), "%", Better::Lower)
            .target("at most 0.1", |percent| percent <= 0.1),
    );
    report.push(
        figures(|(rest, _)| rest.wakeups)
            .into_row(name("wakeups of the busiest process"), "/s", Better::Lower)
            .target("at most 1", |wakeups| wakeups <= 1.0),
    );
    report.push(
        figures(|(_, drawn)| *drawn as f64)
            .into_row(name("times that anything was drawn"), "", Better::Lower)
            .target("none", |drawn| drawn == 0.0),
    );
    Ok(())
}

fn own(
    bench: &Bench,
    stage: &mut Stage,
    count: usize,
    seconds: u64,
) -> anyhow::Result<(Rest, u64)> {
    let (rookery, mut client, _) = with_block(bench)?;
    for _ in 1..count {
        faces::open(&mut client, &["cat"])?;
    }
    let window = Window::open(stage.own_command(&rookery))?;
    stage.find(FIRST, SOON)?;
    let processes = [rookery.processes()?, vec![window.pid()]].concat();
    at_rest(stage, &processes, seconds)
}

fn at_rest(stage: &mut Stage, processes: &[u32], seconds: u64) -> anyhow::Result<(Rest, u64)> {
    // What a start leaves to be done is done.
    stage.display.settle(Duration::from_secs(2))?;
    let time = Duration::from_secs(seconds);
    let mut drawn = 0;
    let rest = rest(processes, time, || {
        drawn = stage.display.settle(time)?;
        Ok(())
    })?;
    Ok((rest, drawn))
}
