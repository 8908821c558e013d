//! `rookery attach`: this terminal becomes one of the daemon's, until it is detached or ends.

mod choose;
mod filter;
mod keys;
mod scroll;
mod session;
mod signals;
pub(crate) mod tty;

use std::process::ExitCode;

use rookery_native::{TerminalRef, wire};
use rookery_wire::Client;

pub(crate) use filter::Filter;
pub(crate) use keys::{Chord, DETACH, Keys, SCROLL};
pub(crate) use tty::RawTty;

use crate::{
    args,
    failure::{Failure, Outcome},
    link, output,
};
use session::{End, Session};

/// `rookery attach`.
pub(crate) async fn run(args: args::Attach) -> Outcome {
    require_terminal()?;
    let client = link::connect().await?;
    let terminal = choose::terminal(&client, args.id.as_deref()).await?;
    follow(client, terminal, &Keys { detach: args.detach_key, scroll: args.scroll_key }).await
}

/// Refuses to go on without a terminal on both sides.
pub(crate) fn require_terminal() -> Outcome<()> {
    if tty::is_usable() {
        return Ok(());
    }
    Err(Failure::new("attach needs a terminal on stdin and stdout")
        .hint("use `rookery send`, `rookery wait` and `rookery dump` from scripts"))
}

/// Rows and columns of this terminal, if it tells.
pub(crate) fn own_size() -> Option<wire::Size> {
    tty::size()
}

/// Connects this terminal to `terminal` until one of them is done.
pub(crate) async fn follow(client: Client, terminal: TerminalRef, keys: &Keys) -> Outcome {
    let tty = RawTty::enter().map_err(Failure::doing("cannot set up this terminal"))?;
    let mut session = Session::new(terminal, keys);
    let end = session.run(client, &tty).await;
    session.leave();
    drop(tty);
    if session.unsent() > 0 && !matches!(end, Ok(End::Exited(_) | End::Closed)) {
        output::note(format!("[{} typed bytes did not reach the program]", session.unsent()));
    }
    match end? {
        End::Detached => {
            output::note(format!(
                "[detached from {terminal}; reattach with `rookery attach {terminal}`]"
            ));
            Ok(ExitCode::SUCCESS)
        }
        End::Exited(exit) => Ok(ExitCode::from(exit_code(exit))),
        End::Closed => {
            output::note(format!("[terminal {terminal} was closed]"));
            Ok(ExitCode::from(Failure::CLOSED))
        }
        End::Signaled => Ok(ExitCode::from(1)),
    }
}

/// The code a shell would give for such an end.
pub(crate) fn exit_code(exit: wire::Exit) -> u8 {
    match exit {
        // What exit(2) keeps of a code.
        wire::Exit::Code(code) => (code & 0xff) as u8,
        wire::Exit::Signal(signal) => u8::try_from(signal.saturating_add(128)).unwrap_or(255),
        wire::Exit::Unknown(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_a_shell() {
        assert_eq!(exit_code(wire::Exit::Code(0)), 0);
        assert_eq!(exit_code(wire::Exit::Code(7)), 7);
        assert_eq!(exit_code(wire::Exit::Code(256)), 0);
        assert_eq!(exit_code(wire::Exit::Signal(9)), 137);
        assert_eq!(exit_code(wire::Exit::Unknown(true)), 1);
    }
}
