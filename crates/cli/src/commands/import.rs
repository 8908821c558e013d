//! `rookery import`: what another program kept becomes part of our world. The daemon reads the files
//! and keeps what is new; this tells what came of it.

use std::{collections::BTreeMap, path::Path};

use rookery_idx0::{
    envelope::Request,
    wire::{ImportReport, ImportedFile},
};

use crate::{
    args::{ImportFrom, ImportIdx0},
    commands::done,
    failure::{Failure, Outcome},
    link,
    output::{self, Table, Tone},
    personas::idx0,
};

pub(super) fn run(from: ImportFrom) -> Outcome {
    match from {
        ImportFrom::Idx0(args) => import_idx0(args),
    }
}

fn import_idx0(args: ImportIdx0) -> Outcome {
    let dir = match args.dir {
        Some(dir) => std::path::absolute(&dir).map_err(Failure::doing(dir.display()))?,
        None => link::homes()?.idx0_dir(),
    };
    let report = ask(&dir, args.dry_run)?;
    if args.json {
        output::json(&report)?;
    } else {
        show(&report)?;
    }
    if report.files.iter().all(|file| file.state == "missing") {
        let message = format!("{} has no data of idx0", dir.display());
        return Err(Failure::new(message).hint("give the directory that contains its queue.json"));
    }
    done()
}

fn ask(dir: &Path, is_dry: bool) -> Outcome<ImportReport> {
    let no_text = || Failure::new(format!("{} is not UTF-8", dir.display()));
    let path = dir.to_str().ok_or_else(no_text)?;
    let payload = [("path", path), ("dryRun", if is_dry { "true" } else { "false" })];
    let payload = payload.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let request =
        Request { command: "importDirectory".to_owned(), payload: BTreeMap::from(payload) };
    let reply = idx0::link::ask(&request)
        .map_err(|message| Failure::new(message).hint("start the daemon with `rookery up`"))?;
    if !reply.success {
        return Err(Failure::new(reply.message.unwrap_or_else(|| "Command failed".to_owned())));
    }
    let report = reply.data.and_then(|mut data| data.remove("json")).unwrap_or_default();
    serde_json::from_str(&report)
        .map_err(|error| Failure::new(format!("unexpected answer from the daemon: {error}")))
}

fn show(report: &ImportReport) -> Outcome<()> {
    let mut table = Table::new(&["FILE", "STATE", "TAKEN", "KNOWN", "NO ROOM", "UNREADABLE"]);
    for file in &report.files {
        let number = |count: usize, tone: Tone| {
            (if count == 0 { Tone::Faint } else { tone }, count.to_string())
        };
        table.row(vec![
            (Tone::Strong, file.file.clone()),
            state(file),
            number(file.taken, Tone::Good),
            number(file.known, Tone::Plain),
            number(file.surplus, Tone::Warning),
            number(file.unreadable, Tone::Warning),
        ]);
    }
    table.print()?;
    if !report.sessions.is_empty() {
        let count = report.sessions.len();
        output::note(format!("sessions are not reopened ({count} found)"));
    }
    if report.dry_run {
        output::note("nothing was changed");
    }
    Ok(())
}

fn state(file: &ImportedFile) -> (Tone, String) {
    let tone = match file.state.as_str() {
        "read" => Tone::Good,
        "missing" | "unused" => Tone::Faint,
        _ => Tone::Warning,
    };
    let text = match &file.reason {
        Some(reason) => format!("{}: {reason}", file.state),
        None => file.state.clone(),
    };
    (tone, output::printable(&text))
}
