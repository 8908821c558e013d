//! Who a connection speaks for: the person, or an agent. Read from the process table when the
//! connection is accepted, and carried by the [`Core`] that serves it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rookery_host::{Ancestor, Ancestry};
use rookery_model::{
    Caller, Error, ErrorKind, Home, Origin, Result, SessionId, Standing, TerminalId, WorkPlace,
};

use crate::core::{Core, Inner};
use crate::sessions::SessionHome;
use crate::world::World;

/// How long a child whose terminal is just being opened waits to learn whose it is.
const OPENING_LIMIT: Duration = Duration::from_secs(2);

/// How long is waited before each look at a process that cannot be seen whole.
const RETRIES: &[Duration] = &[
    Duration::ZERO,
    Duration::from_millis(5),
    Duration::from_millis(25),
    Duration::from_millis(100),
];

/// What of the process table belongs to this daemon.
#[derive(Debug, Default)]
struct Known {
    daemon: u32,
    keeper: Option<u32>,
    /// Children of terminals, each the leader of a session.
    children: HashMap<u32, (TerminalId, Origin)>,
}

impl Core {
    pub(crate) fn unbound(inner: Arc<Inner>) -> Core {
        Core { inner, caller: Arc::new(Caller::daemon()) }
    }

    /// The same world, in which everything is done on behalf of that caller: what it opens is its
    /// own, and what an agent may not use is refused.
    #[must_use]
    pub fn on_behalf_of(&self, caller: Caller) -> Core {
        Core { inner: Arc::clone(&self.inner), caller: Arc::new(caller) }
    }

    /// On whose behalf this handle works.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The same world on behalf of the daemon, for work that outlives the call that began it.
    pub(crate) fn detached(&self) -> Core {
        Core::unbound(Arc::clone(&self.inner))
    }

    /// Tells who is at the other end of a connection: a process, or none if the transport has no such
    /// thing (stdio and memory belong to whoever started this process).
    pub async fn identify(&self, pid: Option<u32>, endpoint: &str) -> Caller {
        let endpoint = endpoint.to_owned();
        let Some(pid) = pid else {
            let standing = Standing::Person(None);
            return Caller { standing, pid: None, program: None, endpoint };
        };
        let mut ancestry = ancestry(pid).await;
        let mut standing = self.known().place(&ancestry);
        if standing == Standing::Agent(Home::Unknown) {
            // It may be the child of a terminal that is only being opened, or a parent may just have
            // ended while we looked.
            let opened = tokio::time::timeout(OPENING_LIMIT, self.terminals().all_opened()).await;
            drop(opened);
            ancestry = self::ancestry(pid).await;
            standing = self.known().place(&ancestry);
        }
        let program = ancestry.chain.into_iter().next().map(|process| process.name);
        Caller { standing, pid: Some(pid), program, endpoint }
    }

    fn known(&self) -> Known {
        let live = self.terminals().all_live();
        let children = live.iter().map(|live| (live.pid, (live.id, live.origin)));
        Known {
            daemon: std::process::id(),
            keeper: self.terminals().keeper_pid(),
            children: children.collect(),
        }
    }

    /// Refuses an agent what only a person decides.
    pub(crate) fn refuse_agents(&self) -> Result<()> {
        match self.caller.is_agent() {
            false => Ok(()),
            true => Err(denied("a program that an agent runs cannot answer what agents ask")),
        }
    }

    /// Refuses an agent a terminal that it did not open.
    ///
    /// # Errors
    /// Denied, if the caller is an agent and the terminal is not its own.
    pub fn check_use(&self, id: TerminalId) -> Result<()> {
        match self.caller.standing {
            Standing::Daemon | Standing::Person(_) => Ok(()),
            Standing::Agent(_) => self.check_origin(id, self.origin_of(id)),
        }
    }

    pub(crate) fn check_origin(&self, id: TerminalId, origin: Origin) -> Result<()> {
        match self.caller.may_use(origin) {
            true => Ok(()),
            false => Err(denied(format!(
                "terminal {id} is not the agent's own: a program that an agent runs may only use terminals that it opened"
            ))),
        }
    }

    /// Refuses an agent to speak about a terminal that is not its own.
    ///
    /// # Errors
    /// Denied, if the caller is an agent that neither works in the terminal nor opened it.
    pub fn check_report(&self, id: TerminalId) -> Result<()> {
        if !self.caller.is_agent() || self.caller.may_report(id, self.origin_of(id)) {
            return Ok(());
        }
        Err(denied(format!(
            "terminal {id} is not the agent's own: a program that an agent runs may only report about its own session"
        )))
    }

    /// Refuses an agent to speak about a session that is not its own.
    ///
    /// # Errors
    /// Denied, if the caller is an agent and the session neither is where it works nor its own.
    pub fn check_session(&self, session: SessionId) -> Result<()> {
        self.check_session_in(&self.look(), session)
    }

    /// Refuses an agent to speak about a place that is not that of its own session.
    ///
    /// # Errors
    /// Denied, if the caller is an agent and names anything but its own session.
    pub fn check_place(&self, place: &WorkPlace) -> Result<()> {
        match place {
            WorkPlace::Session(session) => self.check_session(*session),
            WorkPlace::Tree(_) if !self.caller.is_agent() => Ok(()),
            WorkPlace::Tree(_) => Err(denied(
                "a program that an agent runs may only report about its own session, not about a work tree; name the session",
            )),
        }
    }

    pub(crate) fn check_session_in(&self, world: &World, session: SessionId) -> Result<()> {
        let Standing::Agent(home) = self.caller.standing else { return Ok(()) };
        let is_own = match world.session(session).map(|session| session.home) {
            Some(SessionHome::Terminal(id)) => {
                world.terminal(id).is_ok_and(|it| self.caller.may_report(id, it.origin))
            }
            Some(SessionHome::Thread(id)) => home == Home::Thread(id),
            // Whoever looks for it says so.
            None => true,
        };
        match is_own {
            true => Ok(()),
            false => {
                Err(denied("a program that an agent runs may only report about its own session"))
            }
        }
    }

    /// Whether a terminal was opened by a tool or by a program that an agent runs.
    pub(crate) fn is_agents(&self, id: TerminalId) -> bool {
        self.terminals().live(id).is_some_and(|live| live.origin.home().is_some())
    }

    /// A terminal that is not there is refused by whoever looks for it, with its own words.
    fn origin_of(&self, id: TerminalId) -> Origin {
        let world = self.look();
        let known = world.terminals.get(&id).map(|terminal| terminal.origin);
        known.unwrap_or_else(|| self.caller.origin())
    }
}

fn denied(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Denied, message)
}

/// Looks through `/proc`, which may block. Tries again where something was missed: a parent that ended
/// meanwhile, or a want of descriptors.
async fn ancestry(pid: u32) -> Ancestry {
    let mut found = Ancestry::default();
    for pause in RETRIES {
        if !pause.is_zero() {
            tokio::time::sleep(*pause).await;
        }
        let looked = tokio::task::spawn_blocking(move || Ancestry::of(pid)).await;
        found = looked.unwrap_or_default();
        if found.is_whole {
            break;
        }
    }
    found
}

impl Known {
    fn place(&self, ancestry: &Ancestry) -> Standing {
        let Some(caller) = ancestry.chain.first() else { return Standing::Agent(Home::Unknown) };
        if caller.pid == self.daemon {
            return Standing::Person(None);
        }
        let mut is_below_agent = false;
        for process in &ancestry.chain {
            if process.pid == self.daemon || process.is_supervisor {
                return Standing::Agent(Home::Unknown);
            }
            is_below_agent |= process.is_agent;
            if let Some((terminal, origin)) = self.children.get(&process.pid) {
                return match origin.home() {
                    Some(home) => Standing::Agent(home),
                    None if is_below_agent => Standing::Agent(Home::Terminal(*terminal)),
                    None => Standing::Person(Some(*terminal)),
                };
            }
            if Some(process.pid) == self.keeper {
                return self.stray(caller);
            }
        }
        // Below init: either it was never below us, or its keeper has died.
        if is_below_agent || !ancestry.is_whole || self.children.contains_key(&caller.session) {
            return self.stray(caller);
        }
        Standing::Person(None)
    }

    /// Something that is not below the child of its terminal any more. Whether the person or an agent
    /// started it cannot be determined; which terminal it belongs to can, unless it left the session too.
    fn stray(&self, process: &Ancestor) -> Standing {
        Standing::Agent(match self.children.get(&process.session) {
            Some((terminal, origin)) => origin.home().unwrap_or(Home::Terminal(*terminal)),
            None => Home::Unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAEMON: u32 = 10;
    const KEEPER: u32 = 20;

    fn process(pid: u32, session: u32) -> Ancestor {
        Ancestor { pid, session, name: "sh".into(), is_agent: false, is_supervisor: false }
    }

    fn agent(pid: u32, session: u32) -> Ancestor {
        Ancestor { is_agent: true, ..process(pid, session) }
    }

    fn standing(chain: &[Ancestor], is_whole: bool) -> Standing {
        let children = [
            (31, (TerminalId::new(1), Origin::Person)),
            (32, (TerminalId::new(2), Origin::Agent(Home::Terminal(TerminalId::new(1))))),
        ];
        let known =
            Known { daemon: DAEMON, keeper: Some(KEEPER), children: HashMap::from(children) };
        known.place(&Ancestry { chain: chain.to_vec(), is_whole })
    }

    const ONE: Home = Home::Terminal(TerminalId::new(1));

    #[test]
    fn a_person_is_who_has_no_agent_above() {
        let one = TerminalId::new(1);
        let below = [process(40, 31), process(31, 31), process(KEEPER, KEEPER), process(1, 1)];
        assert_eq!(standing(&below, true), Standing::Person(Some(one)), "in a shell of ours");
        let elsewhere = [process(40, 39), process(39, 39), process(1, 1)];
        assert_eq!(standing(&elsewhere, true), Standing::Person(None), "in a shell elsewhere");
        assert_eq!(standing(&[process(DAEMON, 5), process(1, 1)], true), Standing::Person(None));
    }

    #[test]
    fn what_an_agent_runs_is_an_agent_wherever_it_went() {
        let unknown = Standing::Agent(Home::Unknown);
        let keeper = || process(KEEPER, KEEPER);
        let in_shell = [process(41, 31), agent(40, 31), process(31, 31), keeper()];
        assert_eq!(
            standing(&in_shell, true),
            Standing::Agent(ONE),
            "typed into the person's shell"
        );
        let opened = [process(41, 32), process(32, 32), keeper()];
        assert_eq!(standing(&opened, true), Standing::Agent(ONE), "in a terminal it opened");
        let tool = [process(41, 41), process(DAEMON, 5), process(1, 1)];
        assert_eq!(standing(&tool, true), unknown, "below the daemon");
        let supervisor = Ancestor { is_supervisor: true, ..process(42, 42) };
        assert_eq!(standing(&[process(41, 41), supervisor, process(1, 1)], true), unknown);
        assert_eq!(standing(&[process(41, 41), keeper()], true), unknown, "setsid");
        assert_eq!(standing(&[process(41, 31), keeper()], true), Standing::Agent(ONE), "nohup");
        let keeperless = [process(41, 31), process(1, 1)];
        assert_eq!(standing(&keeperless, true), Standing::Agent(ONE), "its keeper died");
        let outside = [process(41, 41), agent(40, 41), process(1, 1)];
        assert_eq!(standing(&outside, true), unknown, "an agent in a terminal elsewhere");
        assert_eq!(standing(&[], true), unknown, "gone, or out of sight");
        assert_eq!(standing(&[process(41, 41)], false), unknown, "its parents went meanwhile");
    }
}
