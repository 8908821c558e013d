//! The window beside xterm and alacritty, on one display without a screen: what a person sees is read from its pixels.

mod crash;
mod flood;
mod rest;
mod start;
mod typing;

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::json;

use super::{Bench, Section, keep_going};
use crate::child::BLOCK;
use crate::client::Client;
use crate::peers::display::Xvfb;
use crate::peers::rookery::Rookery;
use crate::peers::x_terminals::Kind;
use crate::peers::{SessionServer as _, Size};
use crate::process;
use crate::report::{Better, Report, Row};
use crate::stats::Figure;
use crate::x11::{Color, Display, is_like};

/// How long anything that should happen soon may take.
const SOON: Duration = Duration::from_secs(30);
/// How long nothing may be drawn until a picture counts as finished.
const REST: Duration = Duration::from_millis(400);

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    if !bench.has_display {
        return Ok(());
    }
    let mut stage = Stage::new()?;
    start::run(bench, &mut stage, report)?;
    typing::run(bench, &mut stage, report)?;
    flood::run(bench, &mut stage, report)?;
    rest::run(bench, &mut stage, report)?;
    crash::run(bench, &mut stage, report)
}

fn row(name: impl Into<String>, unit: &'static str, better: Better) -> Row {
    Row::new(Section::Window.name(), name, unit, better)
}

/// Whose window it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Ours,
    Peer(Kind),
}

/// Figures of all who were measured.
#[derive(Default)]
struct Figures {
    own: Option<Figure>,
    xterm: Option<Figure>,
    alacritty: Option<Figure>,
}

impl Figures {
    fn set(&mut self, whose: Whose, figure: Option<Figure>) {
        match whose {
            Whose::Ours => self.own = figure,
            Whose::Peer(Kind::Xterm) => self.xterm = figure,
            Whose::Peer(Kind::Alacritty) => self.alacritty = figure,
        }
    }

    fn into_row(self, name: impl Into<String>, unit: &'static str, better: Better) -> Row {
        let Figures { own: rookery, xterm, alacritty } = self;
        Row { rookery, xterm, alacritty, ..row(name, unit, better) }
    }
}

/// The display, and where on it everyone shows the block.
struct Stage {
    xvfb: Xvfb,
    display: Display,
    /// Rows and columns that our window has room for, which the others get too.
    size: Size,
    places: Vec<(Whose, (u16, u16))>,
}

impl Stage {
    /// An empty one.
    fn new() -> anyhow::Result<Stage> {
        let xvfb = Xvfb::start()?;
        let display = xvfb.connect()?;
        Ok(Stage { xvfb, display, size: (30, 100), places: Vec::new() })
    }

    /// Ours, and the peers that are here.
    fn all(bench: &Bench) -> Vec<Whose> {
        let is_here = |kind: &Kind| match kind {
            Kind::Xterm => bench.xterm.is_some(),
            Kind::Alacritty => bench.alacritty.is_some(),
        };
        let peers = Kind::ALL.into_iter().filter(is_here).map(Whose::Peer);
        std::iter::once(Whose::Ours).chain(peers).collect()
    }

    /// Measures everyone in turns. A failure of a peer is a remark, not the end.
    fn each<T>(
        &mut self,
        bench: &Bench,
        report: &mut Report,
        mut measure: impl FnMut(&mut Stage, Whose) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<(Whose, T)>> {
        let mut measured = Vec::new();
        for whose in Stage::all(bench) {
            let outcome = measure(self, whose);
            match whose {
                Whose::Ours => measured.push((whose, outcome?)),
                Whose::Peer(kind) => {
                    let kept = keep_going(report, kind.name(), outcome);
                    measured.extend(kept.map(|kept| (whose, kept)));
                }
            }
        }
        Ok(measured)
    }

    /// Where someone shows the block.
    fn place(&self, whose: Whose) -> anyhow::Result<(u16, u16)> {
        let mut places = self.places.iter();
        let found = places.find(|(known, _)| *known == whose);
        found.map(|(_, at)| *at).with_context(|| format!("{whose:?} was never seen"))
    }

    /// How our window is opened.
    fn own_command(&self, rookery: &Rookery) -> Command {
        let mut command = process::program(rookery.binary());
        command.args(["window", "--new"]).env("ROOKERY_HOME", rookery.home());
        self.xvfb.show(&mut command);
        command
    }

    /// How a peer's is opened with a program in it, beside whatever is there already.
    fn peer_command(&self, kind: Kind, program: &[String], left: u16) -> Command {
        let mut command = kind.command(self.size, left);
        command.args(program);
        self.xvfb.show(&mut command);
        command
    }

    /// Waits until a place has a color. Looks only when something was drawn.
    fn await_color(&mut self, at: (u16, u16), color: Color, limit: Duration) -> anyhow::Result<()> {
        let end = Instant::now() + limit;
        while !is_like(self.display.pixel(at)?, color) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("{at:?} is {:?} and not {color:?}", self.display.pixel(at)?);
            }
            self.display.await_drawing(left)?;
        }
        Ok(())
    }

    /// Waits until a color is on the screen, and says where its middle is.
    fn find(&mut self, color: Color, limit: Duration) -> anyhow::Result<(u16, u16)> {
        let end = Instant::now() + limit;
        loop {
            if let Some(at) = self.display.find(color)? {
                // It may still move.
                self.display.settle(REST)?;
                return Ok(self.display.find(color)?.unwrap_or(at));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("no block was shown within {limit:?}");
            }
            self.display.await_drawing(left.min(Duration::from_secs(1)))?;
            self.display.settle(Duration::from_millis(50))?;
        }
    }
}

/// A window of someone. It ends when this is dropped.
struct Window {
    child: Child,
}

impl Window {
    fn open(mut command: Command) -> anyhow::Result<Window> {
        use std::process::Stdio;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let name = command.get_program().to_string_lossy().into_owned();
        Ok(Window { child: command.spawn().with_context(|| format!("cannot run {name}"))? })
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        for pid in crate::outer::below(self.child.id()) {
            process::kill(pid);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The words that start a program of the bench.
fn role(bench: &Bench, words: &[&str]) -> Vec<String> {
    let exe = bench.exe.display().to_string();
    std::iter::once(exe).chain(words.iter().map(|&word| word.to_owned())).collect()
}

/// A daemon with a terminal that shows the block, which is what a window of it begins with.
fn with_block(bench: &Bench) -> anyhow::Result<(Rookery, Client, u64)> {
    let rookery = bench.rookery()?;
    let mut client = rookery.connect()?;
    let terminal = open_block(bench, &mut client)?;
    Ok((rookery, client, terminal))
}

fn open_block(bench: &Bench, client: &mut Client) -> anyhow::Result<u64> {
    let program = role(bench, &["__block"]);
    let argv: Vec<&str> = program.iter().map(String::as_str).collect();
    let terminal = super::faces::open(client, &argv)?;
    client.call("rookery/terminals/activate", &json!({"terminal": terminal}))?;
    Ok(terminal)
}

/// The color that the block begins with.
const FIRST: Color = BLOCK[0];
