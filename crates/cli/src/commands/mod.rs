//! What each command does, a file per command.

mod answer;
mod approve;
mod audit;
mod changes;
mod chat;
mod checkpoint;
mod close;
mod completions;
mod daemon;
mod deny;
mod doctor;
mod down;
mod dump;
mod events;
mod face;
mod handoff;
mod hooks;
mod hunk;
mod import;
mod imports;
mod inbox;
mod kill;
mod login;
mod ls;
mod man;
mod marketplace;
mod media;
mod memory;
mod open;
mod plugin;
mod record;
mod replay;
mod restart;
mod review;
pub(crate) mod roo;
mod run;
mod schema;
mod send;
mod setup;
mod shims;
mod status;
mod task;
mod threads;
mod tui;
mod up;
mod view;
mod wait;
mod web;
#[cfg(feature = "window")]
mod window;
mod workflow;
mod worktree;

use std::{future::Future, pin::Pin, process::ExitCode};

use crate::{
    args::{Cli, Command},
    attach,
    failure::{Failure, Outcome},
    personas::{idx0, idx0_notify, ptywright, roder, roostctl},
};

pub(crate) use ls::state as terminal_state;

/// Runs a command.
pub(crate) fn run(cli: Cli) -> Outcome {
    match cli.command {
        None => face::best(),
        Some(Command::Daemon(args)) => daemon::run(&args),
        Some(Command::Up(args)) => block_on(up::run(args.json)),
        Some(Command::Down(args)) => block_on(down::run(args.all)),
        Some(Command::Restart(args)) => block_on(restart::run(args.json)),
        Some(Command::Status(args)) => block_on(status::run(args.json)),
        Some(Command::Tui(args)) => block_on(tui::run(args)),
        Some(Command::Web(args)) => block_on(web::run(args)),
        #[cfg(feature = "window")]
        Some(Command::Window(args)) => window::run(&args),
        Some(Command::Open(args)) => block_on(open::run(args)),
        Some(Command::Attach(args)) => block_on(attach::run(args)),
        Some(Command::Ls(args)) => block_on(ls::run(args)),
        Some(Command::Send(args)) => block_on(send::run(args)),
        Some(Command::Run(args)) => block_on(run::run(args)),
        Some(Command::Task(args)) => block_on(task::run(args.action)),
        Some(Command::Wait(args)) => block_on(wait::run(args)),
        Some(Command::Dump(args)) => block_on(dump::run(args)),
        Some(Command::Record(args)) => block_on(record::run(args)),
        Some(Command::Replay(args)) => block_on(replay::run(args)),
        Some(Command::Kill(args)) => block_on(kill::run(args)),
        Some(Command::Close(args)) => block_on(close::run(args)),
        Some(Command::Chat(args)) => block_on(chat::run(args)),
        Some(Command::Threads(args)) => block_on(threads::run(args)),
        Some(Command::Inbox(args)) => block_on(inbox::run(args)),
        Some(Command::Approve(args)) => block_on(approve::run(args)),
        Some(Command::Deny(args)) => block_on(deny::run(args)),
        Some(Command::Answer(args)) => block_on(answer::run(args)),
        Some(Command::Workflow(args)) => block_on(workflow::run(args.action)),
        Some(Command::Marketplace(args)) => block_on(marketplace::run(args.action)),
        Some(Command::Plugin(args)) => block_on(plugin::run(args.action)),
        Some(Command::Media(args)) => block_on(media::run(args.action)),
        Some(Command::Imports(args)) => block_on(imports::run(args.action)),
        Some(Command::Skills(args)) => block_on(imports::run_skills(args.action)),
        Some(Command::Memory(args)) => block_on(memory::run(args.action)),
        Some(Command::Review(args)) => block_on(review::run(args.action)),
        Some(Command::Changes(args)) => block_on(changes::run(args.action)),
        Some(Command::Hunk(args)) => block_on(hunk::run(args.action)),
        Some(Command::Checkpoint(args)) => block_on(checkpoint::run(args.action)),
        Some(Command::Worktree(args)) => block_on(worktree::run(args.action)),
        Some(Command::Handoff(args)) => block_on(handoff::run(args.action)),
        Some(Command::Audit(args)) => block_on(audit::run(args)),
        Some(Command::Events(args)) => block_on(events::run(args)),
        Some(Command::View(args)) => block_on(view::run(args)),
        Some(Command::Serve(args)) => ptywright::serve(args),
        Some(Command::AppServer(args)) => roder::serve(args),
        Some(Command::Idx0(args)) => Ok(idx0::main(args.args)),
        Some(Command::Idx0Notify(args)) => Ok(idx0_notify::main(args.args)),
        Some(Command::Roder(args)) => Ok(roder::main(args.args)),
        Some(Command::Roo(args)) => block_on(roo::run(args)),
        Some(Command::Ptywright(args)) => Ok(ptywright::main(args.args)),
        Some(Command::Roostctl(args)) => Ok(roostctl::main(args.args)),
        Some(Command::Setup(args)) => block_on(setup::run(args)),
        Some(Command::Login(args)) => block_on(login::run(args)),
        Some(Command::Logout(args)) => block_on(login::log_out(args)),
        Some(Command::Hooks(args)) => hooks::run(args.action),
        Some(Command::Import(args)) => import::run(args.from),
        Some(Command::Shims(args)) => shims::run(args.action),
        Some(Command::Doctor(args)) => block_on(doctor::run(args.json)),
        Some(Command::Schema(args)) => schema::run(&args),
        Some(Command::Completions(args)) => completions::run(args.shell),
        Some(Command::Man(args)) => man::run(args.dir.as_deref()),
    }
}

pub(crate) fn block_on(command: impl Future<Output = Outcome>) -> Outcome {
    run_to_end(std::pin::pin!(command))
}

/// The part of [`block_on`] that is the same for all commands: it is in the program once.
fn run_to_end(command: Pin<&mut dyn Future<Output = Outcome>>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::doing("cannot start a runtime"))?;
    let outcome = runtime.block_on(command);
    // A thread may still be reading stdin; its result is not needed.
    runtime.shutdown_background();
    outcome
}

/// Waits for something on a runtime of its own, for commands that go on without one.
#[cfg(feature = "window")]
pub(crate) fn finish<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::doing("cannot start a runtime"))?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}

/// The code of a command that worked.
pub(crate) fn done() -> Outcome {
    Ok(ExitCode::SUCCESS)
}
