//! From a child's write to the reply of a wait for what it wrote.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use super::{AHEAD, Server, Side, cells_name, servers, size_name};
use crate::child::{monotonic_nanos, needle, stamped};
use crate::gate::{Gate, Waiting, pause};
use crate::measure::{Bench, Section, keep_going};
use crate::peers::pexpect::Pexpect;
use crate::peers::tmux::{Control, Tmux};
use crate::peers::{self, LARGE, Session, Size, USUAL, tui_test};
use crate::report::{Better, Report, Row};
use crate::stats::{SHARES, Times};

/// Between a wait and the write that ends it: there is no signal that a wait is pending, so every peer gets this long.
const SETTLE: Duration = Duration::from_millis(2);

/// Times of everyone, for terminals of one size.
#[derive(Default)]
struct Waits {
    /// With and without cells.
    own: Vec<((Side, bool), Times)>,
    theirs: Option<Times>,
    tmux: Option<Times>,
    pexpect: Option<Times>,
    tui_test: Option<Times>,
}

/// Measures both sizes.
pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let mut tui_test = with_tui_test(bench, report);
    for size in [USUAL, LARGE] {
        let mut waits = measure(bench, report, size)?;
        let at = tui_test.iter().position(|(own, _)| *own == size);
        waits.tui_test = at.map(|at| tui_test.swap_remove(at).1);
        push(report, size, &waits);
    }
    Ok(())
}

fn push(report: &mut Report, size: Size, waits: &Waits) {
    for has_cells in [true, false] {
        for side in Side::OWN {
            let own = waits.own.iter().find(|(key, _)| *key == (side, has_cells));
            let Some((_, own)) = own else { continue };
            for (share, figure) in SHARES {
                let of = |times: &Option<Times>| times.as_ref().and_then(figure);
                let name = format!(
                    "child write to wait reply, {}, {}, {}, {share}",
                    size_name(size),
                    cells_name(has_cells),
                    side.name()
                );
                let row = Row {
                    rookery: figure(own),
                    tmux: of(&waits.tmux),
                    ptywright: of(&waits.theirs),
                    pexpect: of(&waits.pexpect),
                    tui_test: of(&waits.tui_test),
                    ..Row::new(Section::Ptywright.name(), name, "µs", Better::Lower)
                };
                report.push(with_target(row, size, has_cells));
            }
        }
    }
}

fn with_target(row: Row, size: Size, has_cells: bool) -> Row {
    let (ptywright, pexpect) = (row.ptywright, row.pexpect);
    match has_cells {
        true if size == LARGE => {
            row.target_against(ptywright, "a tenth of ptywright's", |own, peer| own * AHEAD <= peer)
        }
        true => row,
        false => row.target_against(pexpect, "at most pexpect's", |own, peer| own <= peer),
    }
}

/// One who waits, and for what.
enum Waiter {
    Server { side: Side, server: Box<Server>, session: Session },
    Tmux { control: Control, child: Waiting, _server: Tmux },
    Pexpect { driver: Pexpect, child: Waiting },
}

fn measure(bench: &Bench, report: &mut Report, size: Size) -> anyhow::Result<Waits> {
    let mut waiters = waiters(bench, report, size)?;
    let mut waits = Waits::default();
    let count = bench.count(200, 20) as u64;
    for round in 0..bench.rounds as u64 {
        for waiter in &mut waiters {
            for has_cells in [true, false] {
                let Some(times) = waits.of(waiter, has_cells) else { continue };
                bench.await_quiet();
                times.begin();
                // Numbers never come twice: what was on the screen before must not end a wait.
                let first = (round * 2 + u64::from(has_cells)) * count;
                for number in first..first + count {
                    times.push(waiter.wake(number, has_cells)?);
                }
            }
        }
    }
    Ok(waits)
}

impl Waits {
    /// Where the times of a waiter belong; none if it makes no difference whether cells are asked for.
    fn of(&mut self, waiter: &Waiter, has_cells: bool) -> Option<&mut Times> {
        let other = match waiter {
            Waiter::Server { side: Side::Theirs, .. } => &mut self.theirs,
            Waiter::Tmux { .. } => &mut self.tmux,
            Waiter::Pexpect { .. } => &mut self.pexpect,
            Waiter::Server { side, .. } => {
                let key = (*side, has_cells);
                let at = self.own.iter().position(|(own, _)| *own == key);
                let at = at.unwrap_or_else(|| {
                    self.own.push((key, Times::default()));
                    self.own.len() - 1
                });
                return Some(&mut self.own[at].1);
            }
        };
        has_cells.then(|| other.get_or_insert_default())
    }
}

/// Everyone who is here, with a child that writes when told.
fn waiters(bench: &Bench, report: &mut Report, size: Size) -> anyhow::Result<Vec<Waiter>> {
    let mut waiters = Vec::new();
    for (side, mut server) in servers(bench, report)? {
        let gate = Gate::new(bench.dir())?;
        let session = peers::open(server.client()?, &bench.exe, &gate, &["__stamp"], size)?;
        waiters.push(Waiter::Server { side, server: Box::new(server), session });
    }
    if bench.tmux.is_some() {
        waiters.extend(keep_going(report, "tmux", tmux(bench, size)));
    }
    if let Some((python, _)) = &bench.pexpect {
        let gate = Gate::new(bench.dir())?;
        let started = Pexpect::start(python, &bench.exe, &gate, size)
            .and_then(|driver| Ok(Waiter::Pexpect { driver, child: gate.accept()? }));
        waiters.extend(keep_going(report, "pexpect", started));
    }
    Ok(waiters)
}

fn tmux(bench: &Bench, size: Size) -> anyhow::Result<Waiter> {
    let gate = Gate::new(bench.dir())?;
    let server = Tmux::start()?;
    let control = server.control_of(size)?;
    server.open(&bench.exe, &gate, &["__stamp"])?;
    Ok(Waiter::Tmux { control, child: gate.accept()?, _server: server })
}

impl Waiter {
    /// From the write with this number to the end of the wait for it.
    fn wake(&mut self, number: u64, has_cells: bool) -> anyhow::Result<Duration> {
        match self {
            Waiter::Server { server, session, .. } => {
                let mut wait = peers::wait_for(&session.id, &needle(number));
                wait["cells"] = json!(has_cells);
                let client = server.client()?;
                client.send("session.wait", &wait)?;
                pause(SETTLE)?;
                session.child.tell(number)?;
                let reply = client.receive_result()?;
                let now = monotonic_nanos();
                let stamp = stamped(reply, number)
                    .with_context(|| format!("no stamp {number} in a reply"))?;
                Ok(since(stamp, now))
            }
            Waiter::Tmux { control, child, .. } => {
                pause(SETTLE)?;
                child.tell(number)?;
                loop {
                    let line = control.receive()?;
                    let now = monotonic_nanos();
                    if let Some(stamp) = stamped(line, number) {
                        return Ok(since(stamp, now));
                    }
                }
            }
            Waiter::Pexpect { driver, child } => {
                driver.expect(number)?;
                pause(SETTLE)?;
                child.tell(number)?;
                driver.expected()
            }
        }
    }
}

fn since(stamp: u64, now: u64) -> Duration {
    Duration::from_nanos(now.saturating_sub(stamp))
}

/// It runs by itself, so it takes no turns.
fn with_tui_test(bench: &Bench, report: &mut Report) -> Vec<(Size, Times)> {
    let Some((dir, _)) = &bench.tui_test else { return Vec::new() };
    bench.await_quiet();
    let ran = tui_test::run(dir, &bench.exe, bench.dir(), bench.count(100, 10));
    let sizes = keep_going(report, "tui-test", ran).unwrap_or_default();
    let times = |durations: Vec<Duration>| {
        let mut times = Times::default();
        times.begin();
        durations.into_iter().for_each(|time| times.push(time));
        times
    };
    sizes.into_iter().map(|(size, durations)| (size, times(durations))).collect()
}
