//! The ptywright protocol, ours and the real one: the same requests over the daemon's socket and over standard input
//! and output, beside ptywright 0.3.0, pexpect, tmux's control mode and tui-test as far as they can do the same.
//!
//! Everyone takes a turn in every round, and every client does the same work: it finds the end of a reply and looks at
//! its head.

mod idle;
mod reads;
mod waits;

use crate::client::Client;
use crate::measure::{Bench, keep_going};
use crate::peers::rookery::Rookery;
use crate::peers::stdio::StdioServer;
use crate::peers::{SessionServer, Size};
use crate::report::Report;

/// How often ahead of ptywright waits and snapshots of a large terminal are to be.
const AHEAD: f64 = 10.0;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    waits::run(bench, report)?;
    reads::run(bench, report)?;
    idle::run(bench, report)
}

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    OwnSocket,
    OwnStdio,
    Theirs,
}

impl Side {
    /// Ours, each a row of its own.
    const OWN: [Side; 2] = [Side::OwnSocket, Side::OwnStdio];

    /// As the report spells it.
    fn name(self) -> &'static str {
        match self {
            Side::OwnSocket => "over the socket",
            Side::OwnStdio => "over stdio",
            Side::Theirs => "ptywright",
        }
    }

    /// A server with nothing in it; none if it is not here. A failure of a peer is a remark, not the end.
    fn start(self, bench: &Bench, report: &mut Report) -> anyhow::Result<Option<Server>> {
        match self {
            Side::OwnSocket => {
                let daemon = bench.rookery()?;
                let client = daemon.connect()?;
                Ok(Some(Server::Socket { client, daemon }))
            }
            Side::OwnStdio => Ok(Some(Server::Stdio(StdioServer::rookery(&bench.rookery)?))),
            Side::Theirs => {
                let Some((binary, _)) = &bench.ptywright else { return Ok(None) };
                let started = StdioServer::ptywright(binary).map(Server::Stdio);
                Ok(keep_going(report, "ptywright", started))
            }
        }
    }
}

/// A server and the connection to it.
enum Server {
    Socket { client: Client, daemon: Rookery },
    Stdio(StdioServer),
}

impl Server {
    fn client(&mut self) -> anyhow::Result<&mut Client> {
        match self {
            Server::Socket { client, .. } => Ok(client),
            Server::Stdio(server) => server.client(),
        }
    }

    /// The processes that it consists of; a session has to be there.
    fn processes(&mut self, session: &str) -> anyhow::Result<Vec<u32>> {
        match self {
            Server::Socket { daemon, .. } => daemon.processes(),
            Server::Stdio(server) => server.processes(session),
        }
    }
}

/// All that are here.
fn servers(bench: &Bench, report: &mut Report) -> anyhow::Result<Vec<(Side, Server)>> {
    let mut servers = Vec::new();
    for side in [Side::OwnSocket, Side::OwnStdio, Side::Theirs] {
        servers.extend(side.start(bench, report)?.map(|server| (side, server)));
    }
    Ok(servers)
}

/// As people write it.
fn size_name((rows, cols): Size) -> String {
    format!("{rows}x{cols}")
}

/// With the cells of the screen or without.
fn cells_name(has_cells: bool) -> &'static str {
    if has_cells { "all cells" } else { "text only" }
}
