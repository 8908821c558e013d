//! `rookery status`.

use rookery_native::wire::{GetStatus, Status};
use rookery_wire::Client;

use crate::{
    commands::done,
    failure::Outcome,
    link::{self, call},
    output::{self, Colors, Tone},
};

pub(super) async fn run(json: bool) -> Outcome {
    print(&link::connect().await?, json).await
}

/// Prints how the daemon of this connection is.
pub(super) async fn print(client: &Client, json: bool) -> Outcome {
    let status: Status = call(client, GetStatus).await?;
    if json {
        output::json(&status)?;
    } else {
        output::write(render(&status, Colors::of_stdout()).as_bytes())?;
    }
    done()
}

fn render(status: &Status, colors: Colors) -> String {
    let terminals = &status.terminals;
    let mut counts = vec![format!("{} running", terminals.running)];
    counts.extend((terminals.exited > 0).then(|| format!("{} exited", terminals.exited)));
    counts.extend((terminals.lost > 0).then(|| format!("{} lost", terminals.lost)));
    let keeper = match status.keeper {
        Some(keeper) => format!("process {}", keeper.pid),
        None => "none; the first terminal starts one".to_owned(),
    };
    let mut lines = vec![
        ("daemon", format!("{}, process {}", status.version, status.pid)),
        ("since", status.started_at.clone()),
        ("terminals", counts.join(", ")),
        ("projects", status.projects.to_string()),
        ("keeper", keeper),
        ("last event", status.last_event.to_string()),
    ];
    if let Some(web) = &status.web {
        let devices = match web.devices {
            1 => "1 device".to_owned(),
            count => format!("{count} devices"),
        };
        lines.push(("web", format!("{}, {devices}", web.url)));
    }
    lines.extend(status.web_problem.iter().map(|problem| ("web off", output::printable(problem))));
    if status.version != env!("CARGO_PKG_VERSION") {
        let own = env!("CARGO_PKG_VERSION");
        lines.push((
            "note",
            format!("this is rookery {own}; `rookery restart` replaces the daemon"),
        ));
    }
    if let Some(damage) = &status.damage {
        lines.push(("damage", output::printable(damage)));
    }
    lines.extend(status.warnings.iter().map(|warning| ("config", output::printable(warning))));
    let tone = |name: &str| match name {
        "damage" => Tone::Bad,
        "note" | "config" | "web off" => Tone::Warning,
        _ => Tone::Faint,
    };
    lines
        .iter()
        .map(|(name, text)| {
            format!("{} {text}\n", colors.paint(tone(name), &format!("{name:<10}")))
        })
        .collect()
}
