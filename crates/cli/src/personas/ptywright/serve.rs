//! `ptywright serve` and `rookery serve`: this process becomes a server.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, ValueHint};
use rookery_daemon::serve::{
    self as server, Ended, LogsOf, PtywrightHome, ServeError, ServeOptions, ServeTransport,
    ServeWorld,
};

use super::{Framing, NAME};
use crate::{
    commands::block_on,
    daemon_process,
    failure::{Failure, Outcome},
    link, output,
};

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Serve one client over stdin and stdout
    #[arg(long)]
    stdio: bool,
    /// Serve any number of clients over a Unix socket [default: in the runtime directory]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    socket: Option<PathBuf>,
    /// Message framing
    #[arg(long, value_enum, default_value_t = Framing::Ndjson)]
    framing: Framing,
    /// Load a plugin before serving; may be repeated
    #[arg(long = "plugin", value_name = "MANIFEST.TOML", value_hint = ValueHint::FilePath)]
    plugins: Vec<PathBuf>,
    /// Let clients load plugins
    #[arg(long)]
    allow_plugin_load: bool,
    /// Serve the terminals of the daemon instead of sessions that end with the server
    #[arg(long, conflicts_with_all = ["plugins", "allow_plugin_load"])]
    shared: bool,
    /// Detach from the session of the parent process
    #[arg(long, hide = true)]
    background: bool,
}

/// `rookery serve`: fails as the tool does.
pub(crate) fn serve(args: Serve) -> Outcome {
    run(args).map_err(|failure| failure.of(NAME))
}

/// Serves until the client is done or a signal comes. Its failure is not yet that of the tool: a text is redacted
/// once, since what stands for a secret would be taken for one.
pub(super) fn run(args: Serve) -> Outcome {
    if args.background {
        // Fails only if this process leads a session already, which is as good.
        let _ = rustix::process::setsid();
    }
    let home = PtywrightHome::from_env();
    let (transport, on_listening): (_, fn(&Path)) = match (args.stdio, args.socket) {
        (true, Some(_)) => {
            let message = "serve accepts only one transport: use either --stdio or --socket";
            return Err(failed(&ServeError::Rpc(message.to_owned())));
        }
        (true, None) => (ServeTransport::Stdio, |_| ()),
        (false, Some(path)) => (ServeTransport::Socket(path), |_| ()),
        (false, None) => (ServeTransport::Socket(home.socket()), |path| {
            let line = format!("{NAME}: serving on {} (override with --socket)", path.display());
            output::note(rookery_ptywright::redact_error(&line));
        }),
    };
    server::start_logs(&home, LogsOf::Server);
    let world = if args.shared {
        ServeWorld::Shared(daemon_socket()?)
    } else {
        ServeWorld::Private {
            exe_for_keeper: daemon_process::executable()?,
            options: ServeOptions {
                plugins: args.plugins,
                allow_plugin_load: args.allow_plugin_load,
            },
        }
    };
    let framing = args.framing.into();
    let ended = server::serve(server::Serve { transport, framing, world, on_listening });
    match ended.map_err(|error| failed(&error))? {
        Ended::Eof => Ok(ExitCode::SUCCESS),
        Ended::Signal(number) => Ok(signal_code(number)),
    }
}

fn failed(error: &ServeError) -> Failure {
    Failure::new(error.to_string())
}

/// The code of a process that a signal ended, as shells give it.
pub(super) fn signal_code(number: i32) -> ExitCode {
    ExitCode::from(u8::try_from(number.saturating_add(128)).unwrap_or(255))
}

/// The ptywright socket of the daemon, which is started if none runs.
fn daemon_socket() -> Outcome<PathBuf> {
    let homes = link::homes()?;
    block_on(async {
        daemon_process::ensure(&homes).await?;
        Ok(ExitCode::SUCCESS)
    })?;
    link::endpoint_socket(&homes, NAME).ok_or_else(|| {
        Failure::new("config error: the daemon's ptywright endpoint is turned off")
            .hint("turn it on in the config file, or serve without --shared")
    })
}
