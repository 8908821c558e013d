//! `roostctl doctor`: looks at everything between a shell, a server and Claude Code, and changes
//! nothing. What was found, what to think of it and how to show it are apart.

mod claude;
mod facts;
mod judge;
mod program;
mod report;
mod shell;
mod show;

use std::process::ExitCode;

use super::{args, target::Flags};
use crate::{failure::Outcome, output};

pub(super) async fn run(flags: Flags, args: args::Doctor) -> Outcome {
    let facts = facts::Facts::collect(&flags, args.which.tab).await;
    let report = judge::report(&facts);
    if args.json {
        output::json(&report)?;
    } else {
        let paint = show::Paint(show::wants_color(args.color));
        let text = if args.verbose {
            show::everything(&report, paint)
        } else {
            show::summary(&report, paint)
        };
        output::write(text.as_bytes())?;
    }
    Ok(ExitCode::from(report.exit_code))
}
