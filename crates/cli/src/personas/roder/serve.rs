//! `roder app-server` and `rookery app-server`: this process becomes a server, or prints its schema.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::{Args, Subcommand, ValueEnum, ValueHint, builder::PossibleValuesParser};
use rookery_daemon::app_server::{self, AppWorld, ClientOrigin};
use rookery_model::{Profile, Words as _};
use rookery_roder::{Attach, manifest, modes};
use rookery_wire::transport::ws::{self, Gate, Token, pairing};
use serde_json::json;

use super::token;
use crate::{
    commands::{block_on, done},
    daemon_process,
    failure::{Failure, Outcome},
    link, output,
};

/// The server name that remote clients see.
const SERVER: &str = "Rookery";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AppServer {
    #[command(subcommand)]
    action: Option<Action>,
    /// Address to serve on: stdio:// or ws://ADDRESS:PORT [default: stdio://]
    #[arg(long, value_name = "WHERE")]
    listen: Option<String>,
    /// Serve remote clients over a WebSocket, on 127.0.0.1 unless --listen says otherwise
    #[arg(long)]
    remote: bool,
    /// Token that remote clients need: env:NAME reads a variable, - a line of stdin, fd:N a file
    /// descriptor; anything else is the token itself [default: a new token]
    #[arg(long, value_name = "TOKEN")]
    auth_token: Option<String>,
    /// File that contains the token; only its owner may have access to it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "auth_token")]
    auth_token_file: Option<PathBuf>,
    /// Stop accepting new clients after this time, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    remote_token_ttl: Option<u64>,
    /// Origin of a web page that may connect; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    allowed_origin: Vec<String>,
    /// Whether to print a QR code
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    print_qr: bool,
    /// Print the server's address as one line of JSON on stdout
    #[arg(long)]
    print_json: bool,
    /// Policy mode of turns that clients of this server start: default, ask, accept_all, plan or
    /// bypass
    #[arg(long)]
    mode: Option<String>,
    /// Approve everything in turns that clients of this server start; same as --mode bypass
    #[arg(long, conflicts_with = "mode")]
    yolo: bool,
    /// Whether a person can answer requests
    #[arg(long, value_parser = profiles())]
    profile: Option<String>,
    /// Default provider
    #[arg(long, value_name = "ID")]
    provider: Option<String>,
    /// Default model
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// Default working directory of threads [default: the current directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    /// Serve separate state that ends with this server, instead of the daemon's
    #[arg(long)]
    standalone: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the methods
    Schema {
        /// Print a list of methods with their traits, or the JSON Schema of each
        #[arg(long, value_enum, default_value_t = Format::Manifest)]
        format: Format,
        /// Write to this file instead of stdout
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Manifest,
    JsonSchema,
}

/// The profiles that there are.
fn profiles() -> PossibleValuesParser {
    PossibleValuesParser::new(Profile::WORDS.iter().map(|(_, word)| *word))
}

/// Serves until the client is done or a signal comes.
pub(crate) fn serve(args: AppServer) -> Outcome {
    if let Some(Action::Schema { format, output }) = &args.action {
        return schema(*format, output.as_deref());
    }
    let attach = attach(&args)?;
    let door = door(&args, attach.cwd.clone())?;
    let world = match args.standalone {
        true => AppWorld::Standalone { homes: link::homes()?, exe: daemon_process::executable()? },
        false => AppWorld::Daemon(daemon_socket(token::variable(args.auth_token.as_deref()))?),
    };
    let attach = Attach { is_remote: matches!(door, ClientOrigin::Remote { .. }), ..attach };
    app_server::serve(app_server::AppServer { door, attach, world })
        .map_err(|error| Failure::new(format!("{error:#}")))?;
    Ok(ExitCode::SUCCESS)
}

fn schema(format: Format, file: Option<&Path>) -> Outcome {
    let document = match format {
        Format::Manifest => manifest::manifest(),
        Format::JsonSchema => manifest::json_schema(),
    };
    match file {
        None => output::json(&document)?,
        Some(path) => {
            let text = format!("{document:#}\n");
            std::fs::write(path, text).map_err(Failure::doing("cannot write the schema"))?;
        }
    }
    done()
}

fn attach(args: &AppServer) -> Outcome<Attach> {
    let mode = if args.yolo { Some("bypass".to_owned()) } else { args.mode.clone() };
    if let Some(word) = mode.as_deref().filter(|word| modes::read_argument(word).is_none()) {
        let message = format!("unknown mode {word:?}; expected one of {}", modes::accepted());
        return Err(Failure::new(message).code(2));
    }
    let here = std::env::current_dir()
        .map_err(Failure::doing("cannot determine the current directory"))?;
    let cwd = args.cwd.as_ref().map_or(here.clone(), |cwd| here.join(cwd));
    if !cwd.is_dir() {
        let message = format!("{} is not a directory", cwd.display());
        return Err(Failure::new(message).code(2));
    }
    Ok(Attach {
        cwd: Some(cwd),
        mode,
        provider: args.provider.clone(),
        model: args.model.clone(),
        profile: args.profile.clone(),
        ..Attach::default()
    })
}

fn door(args: &AppServer, workspace: Option<PathBuf>) -> Outcome<ClientOrigin> {
    let address = match args.listen.as_deref() {
        None if args.remote => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
        None => return Ok(ClientOrigin::Stdio),
        Some("stdio://") if !args.remote => return Ok(ClientOrigin::Stdio),
        Some(text) => {
            ws::parse_address(text).map_err(|error| Failure::new(error.to_string()).code(2))?
        }
    };
    let token = token::read(args.auth_token.as_deref(), args.auth_token_file.as_deref())?;
    let guards = token.check_guards(address.ip());
    guards.map_err(|error| Failure::new(error.to_string()).code(2))?;
    let mut gate = Gate::new(token);
    for origin in &args.allowed_origin {
        gate = gate.allow_origin(origin);
    }
    if let Some(seconds) = args.remote_token_ttl {
        gate = gate.expires_in(Duration::from_secs(seconds));
    }
    let (has_qr, has_json) = (args.print_qr, args.print_json);
    let on_listening = Box::new(move |bound: SocketAddr, gate: &Gate| {
        announce(bound, gate.token(), workspace.as_deref(), has_qr, has_json);
    });
    Ok(ClientOrigin::Remote { address, gate: Box::new(gate), on_listening })
}

/// Prints where remote clients find us: on stderr for people and launchers, on stdout for scripts.
fn announce(
    bound: SocketAddr,
    token: &Token,
    workspace: Option<&Path>,
    has_qr: bool,
    has_json: bool,
) {
    let urls = pairing::urls(bound, &pairing::interfaces().unwrap_or_default());
    let first = urls.first().cloned().unwrap_or_default();
    let link = pairing::link(&pairing::payload(SERVER, &first, token, workspace));
    let qr = has_qr.then(|| pairing::qr(&link)).flatten();
    output::note(pairing::startup_text(&urls, token, &link, qr.as_deref()).trim_end());
    if has_json {
        let listening = json!({ "urls": urls, "token": token.preview(), "connect": link });
        // A caller that does not read stdout has the text on stderr.
        let _ = output::json_line(&listening);
    }
}

/// The Roder socket of the daemon, which is started if none runs, without the variable that has our
/// token: whatever it runs would have it too.
fn daemon_socket(secret: Option<&str>) -> Outcome<PathBuf> {
    let homes = link::homes()?;
    block_on(async {
        daemon_process::ensure_without(&homes, secret).await?;
        Ok(ExitCode::SUCCESS)
    })?;
    link::endpoint_socket(&homes, super::NAME).ok_or_else(|| {
        Failure::new("the daemon's roder endpoint is turned off")
            .hint("turn it on in the config file, or serve with --standalone")
    })
}
