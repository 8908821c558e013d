//! Turns that the mock answers: one after another in one thread, and in many threads at once.

use std::time::Duration;

use super::{Group, MILLI, OWN, name, row, run_turn, run_turns, start_threads};
use crate::measure::Bench;
use crate::peers::roder::start_thread;
use crate::report::{Better, Report};
use crate::stats::{Figure, SHARES, Times};

/// What a turn may take, in ms.
const TURN_LIMIT: f64 = 15.0;
/// How much longer the last turns of a thread may take than its first.
const GROWTH_LIMIT: f64 = 1.2;
/// How many turns at the ends of a thread are compared.
const ENDS: usize = 10;
/// Threads with a turn at once.
const AT_ONCE: usize = 200;
/// What all of those may take, in ms.
const AT_ONCE_LIMIT: f64 = 3_000.0;

/// What was measured of one server.
#[derive(Default)]
struct Turns {
    all: Times,
    first: Vec<f64>,
    last: Vec<f64>,
    at_once: Vec<f64>,
}

impl Turns {
    fn growth(&self) -> Option<Figure> {
        let median = |samples: &[f64]| Figure::quantile(samples, 0.5);
        let (first, last) = (median(&self.first)?, median(&self.last)?);
        let value = last.value / first.value;
        Some(Figure { samples: self.first.len() + self.last.len(), ..Figure::once(value) })
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let mut group = Group::<Turns>::start(bench, report)?;
    let (count, warm_up) = (bench.count(200, 2 * ENDS), bench.count(20, 2));
    let at_once = bench.count(AT_ONCE, 20);
    for _ in 0..bench.rounds {
        group.each(bench, report, |member| {
            let kind = member.kind;
            let client = member.server.client()?;
            let thread = start_thread(client, &member.thread)?;
            for _ in 0..warm_up {
                run_turn(client, kind, &thread, "hi")?;
            }
            let thread = start_thread(client, &member.thread)?;
            member.figures.all.begin();
            for number in 0..count {
                let time = run_turn(client, kind, &thread, "hi")?;
                member.figures.all.push(time);
                if number < ENDS {
                    member.figures.first.push(millis(time));
                } else if number >= count - ENDS {
                    member.figures.last.push(millis(time));
                }
            }
            Ok(())
        })?;
    }
    // What overflows a peer here must not spoil what it did above, so this comes after.
    push_turns(report, &group, count);
    for _ in 0..bench.rounds {
        group.each(bench, report, |member| {
            let client = member.server.client()?;
            let threads = start_threads(client, &member.thread, at_once)?;
            member.figures.at_once.push(millis(run_turns(client, &threads, "hi")?));
            Ok(())
        })?;
    }
    for kind in OWN {
        let best = |turns: &Turns| Figure::best(&turns.at_once, Better::Lower);
        let what = format!("{at_once} turns at once, {}", name(kind));
        let row = row(what, "ms", Better::Lower, group.pair(kind, best));
        report.push(row.target("below 3 s", |value| value < AT_ONCE_LIMIT));
    }
    let rounds = bench.rounds;
    report.note(format!(
        "roder: {rounds} rounds of {count} turns in a new thread, after {warm_up} in another"
    ));
    Ok(())
}

fn push_turns(report: &mut Report, group: &Group<Turns>, count: usize) {
    for kind in OWN {
        for (which, figure) in SHARES {
            let pair = group.pair(kind, |turns| Some(figure(&turns.all)?.divided_by(MILLI)));
            let row = row(format!("mock turn, {}, {which}", name(kind)), "ms", Better::Lower, pair);
            report.push(match which {
                "p50" => row.target("at most 15 ms", |value| value <= TURN_LIMIT),
                _ => row,
            });
        }
        let pair = group.pair(kind, Turns::growth);
        let what = format!(
            "turns {} to {count} of a thread ÷ turns 1 to {ENDS}, {}",
            count - ENDS + 1,
            name(kind)
        );
        let row = row(what, "×", Better::Lower, pair);
        report.push(row.target("at most 1.2", |value| value <= GROWTH_LIMIT));
    }
}
