//! What was found and what will be written, for people and for programs.

use rookery_daemon::setup::Found;
use serde_json::{Value, json};

use super::{Plan, candidates};
use crate::{
    failure::Outcome,
    output::{self, Colors, Tone, printable},
};

/// Models of a server that are named.
const NAMED: usize = 3;

/// What was found, one line each.
pub(super) fn found(found: &Found) -> Outcome<()> {
    let mut lines = Vec::new();
    for key in &found.keys {
        lines.push((Tone::Good, format!("key      {} ({})", key.name, key.variable)));
    }
    for agent in &found.agents {
        let at = agent.path.display();
        lines.push(match (&agent.command, agent.adapter) {
            (Some(_), _) => (Tone::Good, format!("agent    {} ({at})", agent.name)),
            (None, adapter) => {
                let adapter = adapter.unwrap_or("an adapter");
                let text = format!("agent    {} ({at}); install {adapter} to use it", agent.name);
                (Tone::Warning, text)
            }
        });
    }
    for server in &found.servers {
        let text =
            format!("server   {} ({}), {}", server.name, server.base_url, models(&server.models));
        let tone = if server.models.is_empty() { Tone::Warning } else { Tone::Good };
        lines.push((tone, text));
    }
    if lines.is_empty() {
        let text = "nothing  no API key in the environment, no agent and no local server found";
        lines.push((Tone::Warning, text.to_owned()));
    }
    let colors = Colors::of_stdout();
    lines.iter().try_for_each(|(tone, line)| output::line(colors.paint(*tone, &printable(line))))
}

fn models(models: &[String]) -> String {
    let named = models.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match models.len().saturating_sub(NAMED) {
        _ if models.is_empty() => "without models".to_owned(),
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// What will be written.
pub(super) fn plan(plan: &Plan) -> Outcome<()> {
    if plan.is_empty() {
        return Ok(());
    }
    output::line("\nwill write:")?;
    colored(&plan.diff)?;
    for link in &plan.offers.shims {
        output::line(format_args!("link {}", link.display()))?;
    }
    if let Some(hooks) = &plan.offers.hooks {
        colored(&hooks.diff)?;
    }
    if let Some(completions) = &plan.offers.completions {
        output::line(format_args!("completions {}", completions.file.display()))?;
    }
    Ok(())
}

fn colored(diff: &str) -> Outcome<()> {
    let colors = Colors::of_stdout();
    for line in diff.lines() {
        let tone = match line.chars().next() {
            Some('+') => Tone::Good,
            Some('-') => Tone::Bad,
            Some('@') => Tone::Faint,
            _ => Tone::Plain,
        };
        output::line(colors.paint(tone, line))?;
    }
    Ok(())
}

/// The last words.
pub(super) fn end(found: &Found, plan: &Plan, is_written: bool) {
    let text = match (&plan.provider, is_written, plan.is_empty()) {
        (None, _, _) if candidates(found).is_empty() => {
            "no provider is set up: set a key such as ANTHROPIC_API_KEY, install an agent such as gemini \
             or goose, or start Ollama; then run this again"
                .to_owned()
        }
        (Some(provider), true, _) => format!("{provider} is set up; try `rookery chat hello`"),
        (Some(provider), false, true) => format!("{provider} is set up; nothing to write"),
        (None, true, _) => "written".to_owned(),
        (None, false, true) => "nothing to write".to_owned(),
        (_, false, false) => "nothing was written".to_owned(),
    };
    output::note(text);
}

/// The same for programs.
pub(super) fn json(found: &Found, plan: &Plan, is_written: bool) -> Value {
    let keys =
        found.keys.iter().map(|key| json!({"provider": key.provider, "variable": key.variable}));
    let agents = found.agents.iter().map(|agent| {
        json!({"provider": agent.provider, "name": agent.name, "path": agent.path.display().to_string(),
            "command": agent.command, "adapter": agent.adapter})
    });
    let servers = found.servers.iter().map(|server| {
        json!({"provider": server.provider, "url": server.base_url, "models": server.models})
    });
    let links = plan.offers.shims.iter().map(|link| link.display().to_string());
    json!({
        "found": {
            "keys": keys.collect::<Vec<_>>(),
            "agents": agents.collect::<Vec<_>>(),
            "servers": servers.collect::<Vec<_>>(),
        },
        "provider": plan.provider,
        "file": plan.file.display().to_string(),
        "diff": plan.diff,
        "links": links.collect::<Vec<_>>(),
        "hooks": plan.offers.hooks.as_ref().map(|hooks| json!({
            "file": hooks.path().display().to_string(), "diff": hooks.diff,
        })),
        "completions": plan.offers.completions.as_ref().map(|it| it.file.display().to_string()),
        "written": is_written,
    })
}
