//! A real core at work: commands of clients, and supervision. The binary runs itself again as the keeper of its
//! terminals and as the fence around commands that only read, so it has its own `main`.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod accepted;
mod dialogs;
mod ending;
mod output;
mod policy;
mod supervision;
mod table;
mod terminal;
mod world;

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};

/// A test: its name and what it does.
type Case = (&'static str, fn() -> Pin<Box<dyn Future<Output = ()>>>);

/// Longer than any test takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Names asynchronous functions as cases.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        pub(crate) const CASES: &[crate::Case] =
            &[$((concat!(module_path!(), "::", stringify!($name)), || Box::pin($name()))),*];
    };
}
pub(crate) use cases;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    if args.next_if(|first| first == "__keeper").is_some() {
        return rookery_keeper::run_main(args);
    }
    if args.next_if(|first| first == rookery_host::sandbox::SANDBOX_ARGUMENT).is_some() {
        let args: Vec<_> = args.collect();
        return ExitCode::from(rookery_host::sandbox::enter_and_exec(&args).exit_code());
    }
    if args.next_if(|first| first == rookery_host::sandbox::UNATTENDED_ARGUMENT).is_some() {
        let args: Vec<_> = args.collect();
        return ExitCode::from(rookery_host::sandbox::leave_terminal_and_exec(&args).exit_code());
    }
    let all = [
        accepted::CASES,
        dialogs::CASES,
        ending::CASES,
        output::CASES,
        policy::CASES,
        supervision::CASES,
        table::CASES,
        terminal::CASES,
    ];
    let trials = all.into_iter().flatten().map(|(name, case)| {
        let name = name.strip_prefix("live::").unwrap_or(name);
        Trial::test(name, move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()?;
            runtime.block_on(async { tokio::time::timeout(PATIENCE, case()).await })?;
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
