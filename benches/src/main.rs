//! `cargo xtask bench`: measures Rookery beside tmux, ptywright, roder, xterm, alacritty, xterm.js and a bare PTY read
//! loop, in one run on one machine.
//!
//! Owns the command line and the order of the sections. It drives the real release binary from outside, over its
//! sockets, and links nothing of the product.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to the person who started it"
)]

mod args;
mod child;
mod chromium;
mod client;
mod gate;
mod machine;
mod measure;
mod memory;
mod model_server;
mod outer;
mod peers;
mod process;
mod relay;
mod report;
mod rest;
mod stats;
mod streams;
mod x11;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;

use crate::args::{Args, Role};
use crate::measure::{Bench, Section};
use crate::report::Report;

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match &args.role {
        Some(Role::Write(write)) => child::write(write).map(|()| true),
        Some(Role::Stamp(stamp)) => child::stamp(stamp).map(|()| true),
        Some(Role::Flood(flood)) => child::flood(flood).map(|()| true),
        Some(Role::Block) => child::block().map(|()| true),
        Some(Role::Echo) => child::echo().map(|()| true),
        None => measure_all(&args),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the sections asked for and writes the report. False if one of them failed; the others still count.
fn measure_all(args: &Args) -> anyhow::Result<bool> {
    let bench = Bench::prepare(args)?;
    let mut report = Report::new(&bench);
    let mut is_complete = true;
    for section in Section::ALL.into_iter().filter(|section| args.wants(*section)) {
        eprintln!("== {}", section.name());
        if let Err(error) = section.run(&bench, &mut report) {
            is_complete = false;
            eprintln!("   failed: {error:#}");
            report.note(format!("{}: failed: {error:#}", section.name()));
        }
    }
    if let (quiet, busy @ 1..) = bench.begun() {
        report.note(format!(
            "others used the machine when {busy} of {} measurements began",
            quiet + busy
        ));
    }
    let markdown = report.markdown();
    println!("{markdown}");
    let stem = report.save(&args.results_dir(), &markdown).context("cannot write the results")?;
    eprintln!("written: {}.json and .md", stem.display());
    Ok(is_complete)
}
