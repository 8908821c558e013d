//! `rookery daemon`: this process becomes the daemon.

use std::process::ExitCode;

use rookery_daemon::{RunOptions, config::Config};

use crate::{
    args, daemon_process,
    failure::{Failure, Outcome},
    link,
};

pub(super) fn run(args: &args::Daemon) -> Outcome {
    if args.background {
        // Fails only if this process leads a session already, which is as good.
        let _ = rustix::process::setsid();
    }
    let homes = link::homes()?;
    // Before the first file in them is read.
    homes.secure().map_err(|error| Failure::new(format!("{error:#}")))?;
    let (config, warnings) = Config::load(&homes);
    let exe = daemon_process::executable()?;
    let started_in = args.started_in.clone();
    rookery_daemon::run(RunOptions { homes, config, warnings, exe_for_keeper: exe, started_in })
        .map(|()| ExitCode::SUCCESS)
        .map_err(|error| Failure::new(format!("{error:#}")))
}
