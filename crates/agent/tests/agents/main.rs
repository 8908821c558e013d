//! Agents and servers that are programs of their own: the provider for the Agent Client Protocol and the
//! servers of the Model Context Protocol, each with a small program of ours on the other end.
//!
//! This binary is those programs as well: it starts itself with a role in its environment.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests, and programs that speak by printing"
)]

mod acp;
mod mcp;
mod processes;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// The variable that says which program this is; without it, it runs the tests.
const ROLE: &str = "ROOKERY_TEST_ROLE";

fn main() -> ExitCode {
    match std::env::var(ROLE).as_deref() {
        Ok("acp") => return acp::agent::main(),
        Ok("mcp") => return mcp::program::main(),
        Ok(other) => panic!("no program is called {other}"),
        Err(_) => {}
    }
    let cases = acp::CASES.iter().chain(mcp::CASES);
    let trials = cases.map(|&(name, case)| Trial::test(name, move || run(case))).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test: makes its future, which is run on a runtime of its own.
type Case = fn() -> std::pin::Pin<Box<dyn Future<Output = ()>>>;

fn run(case: Case) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(case());
    Ok(())
}

/// This binary, to be started in a role.
fn this_binary() -> String {
    std::env::current_exe().unwrap().to_string_lossy().into_owned()
}
