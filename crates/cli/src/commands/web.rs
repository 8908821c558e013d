//! `rookery web`: the page for browsers, and the devices that are paired with it.

use std::{
    io::{self, IsTerminal as _},
    net::IpAddr,
    path::PathBuf,
    process::{Command, Stdio},
};

use rookery_native::wire::{
    self, WebDevice, WebDeviceList, WebDevices, WebPair, WebPairing, WebRename, WebRevoke,
    WebRevoked, WebStart, WebStop, WebStopped,
};
use rookery_view::safe;
use rookery_wire::{Client, transport::ws::pairing};

use crate::{
    args::{self, WebAction},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::{self, ask, call},
    output::{self, Colors, Table, Tone},
    talk::age,
};

/// What to do when a device is not found.
const SEE: &str = "run `rookery web devices` to list devices";
/// Programs that open the user's browser, the first that is there.
const OPENERS: &[&str] = &["xdg-open", "x-www-browser", "sensible-browser"];

pub(super) async fn run(args: args::Web) -> Outcome {
    match args.action {
        None => start(args).await,
        Some(WebAction::Devices(args)) => devices(args.json).await,
        Some(WebAction::Revoke(args)) => revoke(args).await,
        Some(WebAction::Rename(args)) => rename(args).await,
        Some(WebAction::Stop(args)) => stop(args.json).await,
    }
}

async fn start(args: args::Web) -> Outcome {
    if !(args.pair || args.open) && (args.rights.is_some() || args.name.is_some()) {
        let message = "--rights and --name are for a device that is paired";
        return Err(Failure::new(message).hint("add --pair or --open").code(2));
    }
    let client = daemon_process::connect_or_start().await?;
    let listen = args.listen.map(|address| address.to_string());
    let web: wire::Web = call(&client, WebStart { listen, plain: args.plain }).await?;
    if !args.pair {
        match args.json {
            true => output::json(&web)?,
            false => output::line(format_args!("web  {}", web.url))?,
        }
        if !args.open {
            return done();
        }
    }
    let rights = args.rights.map(|rights| match rights {
        args::WebRights::Full => wire::WebRights::Full,
        args::WebRights::Decide => wire::WebRights::Decide,
        args::WebRights::Look => wire::WebRights::Look,
    });
    // What the opener and the browser are started with, every user of the machine can read.
    let params = WebPair { rights, name: args.name, here: args.open };
    let made: WebPairing = call(&client, params).await?;
    match (args.pair, args.json) {
        (false, _) => {}
        (true, true) => output::json(&made)?,
        (true, false) => show(&made, &web, args.open, args.no_qr)?,
    }
    if args.open {
        open(&made.url)?;
    }
    done()
}

/// What a person reads who wants to pair a device.
fn show(made: &WebPairing, web: &wire::Web, is_here: bool, no_qr: bool) -> Outcome<()> {
    let colors = Colors::of_stdout();
    let minutes = minutes(made.expires_at / 1000 - age::now());
    let name = |name: &str| colors.paint(Tone::Faint, &format!("{name:<5}"));
    if !is_here
        && !no_qr
        && io::stdout().is_terminal()
        && let Some(picture) = pairing::qr(&made.url)
    {
        output::write(picture.as_bytes())?;
    }
    output::line(format_args!("{} {}", name("link"), made.url))?;
    output::line(format_args!("{} {}", name("code"), colors.paint(Tone::Strong, &made.short)))?;
    let what = match is_here {
        true => "a browser of this machine",
        false => "one device",
    };
    output::note(format_args!("either pairs {what}, within {minutes} minutes"));
    if !is_here && !web.origins.iter().any(|origin| is_reachable(origin)) {
        output::note(guide(&web.url));
    }
    Ok(())
}

/// Minutes, of which one that has begun counts.
fn minutes(seconds: i64) -> i64 {
    (seconds.max(0) + 59) / 60
}

/// Whether another machine may reach an origin.
fn is_reachable(origin: &str) -> bool {
    let host = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(address, _)| address),
        None => host.rsplit_once(':').map_or(host, |(host, _)| host),
    };
    match host.parse::<IpAddr>() {
        Ok(address) => !address.is_loopback(),
        Err(_) => host != "localhost",
    }
}

/// How another machine comes to a page that only this one reaches.
fn guide(url: &str) -> String {
    let port = url.trim_end_matches('/').rsplit_once(':').map_or("7665", |(_, port)| port);
    let scheme = url.split_once("://").map_or("http", |(scheme, _)| scheme);
    format!(
        "\nonly this machine reaches that link; another one does\n\
         \n  through Tailscale:  tailscale serve --bg {port}\n\
         \x20                     and in config.toml, under [web]: origins = [\"https://NAME.TAILNET.ts.net\"]\n\
         \x20                     and then rookery web --pair\n\
         \n  through ssh:        ssh -L {port}:127.0.0.1:{port} HOST\n\
         \x20                     and then {scheme}://localhost:{port}\n\
         \nsee docs/remote.md for certificates of your own"
    )
}

/// Opens the browser of this machine.
#[expect(clippy::disallowed_methods, reason = "the user's browser outlives the command")]
fn open(url: &str) -> Outcome<()> {
    let by_hand = || format!("open {url} in a browser of this machine");
    let found = OPENERS.iter().find_map(|name| program(name));
    let Some(program) = found else {
        return Err(Failure::new("no browser can be opened from here").hint(by_hand()));
    };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = Failure::doing("cannot open the browser");
    command.spawn().map(drop).map_err(|error| failed(error).hint(by_hand()))
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file())
}

async fn devices(json: bool) -> Outcome {
    let client = link::connect().await?;
    let list: WebDeviceList = call(&client, WebDevices).await?;
    if json {
        output::json(&list)?;
    } else if list.devices.is_empty() {
        output::note("no devices; pair one with `rookery web --pair`");
    } else {
        table(&list.devices, age::now()).print()?;
    }
    done()
}

fn table(devices: &[WebDevice], now: i64) -> Table {
    let mut table = Table::new(&["ID", "NAME", "RIGHTS", "PAIRED", "SEEN"]);
    for device in devices {
        let rights = match device.rights {
            wire::WebRights::Full => "full",
            wire::WebRights::Decide => "decide",
            wire::WebRights::Look => "look",
        };
        let seen = match device.connected {
            true => "now".to_owned(),
            false => age::since(device.seen_at / 1000, now),
        };
        table.row(vec![
            (Tone::Strong, safe::line(&device.id)),
            (Tone::Plain, safe::line(&safe::seen(&device.name))),
            (Tone::Plain, rights.to_owned()),
            (Tone::Faint, age::since(device.created_at / 1000, now)),
            (Tone::Faint, seen),
        ]);
    }
    table
}

async fn revoke(args: args::WebRevoke) -> Outcome {
    let client: Client = link::connect().await?;
    let revoked: WebRevoked = ask(&client, WebRevoke { device: args.device }, SEE).await?;
    match args.json {
        true => output::json(&revoked)?,
        false => output::note(match revoked.revoked {
            1 => "revoked 1 device".to_owned(),
            count => format!("revoked {count} devices"),
        }),
    }
    done()
}

async fn rename(args: args::WebRename) -> Outcome {
    let client: Client = link::connect().await?;
    let params = WebRename { device: args.device, name: args.name };
    let device: WebDevice = ask(&client, params, SEE).await?;
    match args.json {
        true => output::json(&device)?,
        false => output::note(format_args!("it is called {} now", safe::line(&device.name))),
    }
    done()
}

async fn stop(json: bool) -> Outcome {
    let client: Client = link::connect().await?;
    let stopped: WebStopped = call(&client, WebStop).await?;
    match (json, stopped.stopped) {
        (true, _) => output::json(&stopped)?,
        (false, true) => output::note(
            "the page is no longer served; paired devices stay paired, and `rookery web` serves it again",
        ),
        (false, false) => output::note("the page was not served; `rookery web` serves it"),
    }
    done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_no_more_than_there_are() {
        assert_eq!([600, 599, 541, 540, 1, 0, -5].map(minutes), [10, 10, 10, 9, 1, 0, 0]);
    }

    #[test]
    fn links_that_only_this_machine_reaches_are_known() {
        for (origin, is) in [
            ("http://127.0.0.1:7665", false),
            ("http://[::1]:7665", false),
            ("http://localhost:7665", false),
            ("http://100.64.0.1:7665", true),
            ("https://box.tail.ts.net", true),
            ("https://[fd7a:115c:a1e0::1]", true),
        ] {
            assert_eq!(is_reachable(origin), is, "{origin}");
        }
    }
}
