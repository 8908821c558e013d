//! `rookery imports` and `rookery skills`: files that a project has for other agents.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use rookery_native::wire::{
    Import, ImportDecided, ImportEnable, ImportEnabled, ImportGet, ImportIgnore, ImportRefresh,
    ImportRemove, ImportScan, Imports, Skill, SkillGet, SkillList, SkillSet, Skills,
};
use rookery_view::safe;
use rookery_wire::Client;

use crate::{
    args::{self, HASH_DIGITS, ImportsAction, ImportsPlace, SkillsAction},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::ask,
    output::{self, Colors, Table, Tone, shorten},
    talk::sessions,
};

/// What to do when an item is not found.
const SEE: &str = "run `rookery imports ls --user` to list items";
/// What to do when a skill is not found.
const SEE_SKILLS: &str = "run `rookery skills ls` to list skills";
/// Columns of a text.
const WIDTH: usize = 60;
/// The status for an item that was not approved.
const NOT_APPROVED: u8 = 3;

pub(super) async fn run(action: ImportsAction) -> Outcome {
    let client = daemon_process::connect_or_start().await?;
    match action {
        ImportsAction::Ls(args) => list(&client, args).await,
        ImportsAction::Show(args) => show(&client, args).await,
        ImportsAction::Enable(args) => enable(&client, args).await,
        ImportsAction::Ignore(args) => {
            let cwd = directory(&args.place)?;
            let params = ImportIgnore { item: args.item, cwd };
            decided(&ask(&client, params, SEE).await?, args.place.json)
        }
        ImportsAction::Remove(args) => {
            let cwd = directory(&args.place)?;
            let params = ImportRemove { item: args.item, cwd };
            decided(&ask(&client, params, SEE).await?, args.place.json)
        }
        ImportsAction::Refresh(args) => refresh(&client, args).await,
    }
}

/// The workspace that is meant.
fn directory(place: &ImportsPlace) -> Outcome<Option<PathBuf>> {
    Ok(sessions::directory(place.cwd.as_deref())?.or_else(|| std::env::current_dir().ok()))
}

async fn list(client: &Client, args: args::ImportsLs) -> Outcome {
    let params = ImportScan { cwd: directory(&args.place)?, include_user: args.user };
    let mut found: Imports = ask(client, params, SEE).await?;
    found.items.retain(|item| args.state.as_ref().is_none_or(|state| shown_state(item) == state));
    listed(&found, args.place.json)
}

fn listed(found: &Imports, is_json: bool) -> Outcome {
    if is_json {
        output::json(found)?;
        return done();
    }
    match found.items.is_empty() {
        true => output::note("nothing to import here"),
        false => table(&found.items).print()?,
    }
    for problem in &found.errors {
        let (path, message) = (safe::line(&problem.path), safe::line(&problem.message));
        output::note(format!("{path}: {message}"));
    }
    for item in &found.missing {
        output::note(format!("{} is enabled, and its file is gone", safe::line(item)));
    }
    done()
}

fn table(items: &[Import]) -> Table {
    let mut table = Table::new(&["ID", "STATE", "KIND", "PATH", "WHAT"]);
    for item in items {
        let state = safe::line(shown_state(item));
        let tone = match item.state.as_str() {
            "enabled" => Tone::Strong,
            _ => Tone::Plain,
        };
        table.row(vec![
            (Tone::Strong, safe::line(&item.id)),
            (tone, state),
            (Tone::Plain, safe::line(&item.kind)),
            (Tone::Plain, shorten(&safe::line(&item.path), WIDTH)),
            (Tone::Plain, shorten(&safe::line(&what(item)), WIDTH)),
        ]);
    }
    table
}

/// What takes effect without a decision has a state of its own in lists.
fn shown_state(item: &Import) -> &str {
    match item.is_live && item.state == "detected" {
        true => "live",
        false => &item.state,
    }
}

fn what(item: &Import) -> String {
    match &item.name {
        Some(name) if !item.summary.is_empty() => format!("{name}: {}", item.summary),
        Some(name) => name.clone(),
        None => item.summary.clone(),
    }
}

async fn show(client: &Client, args: args::ImportsShow) -> Outcome {
    let params = ImportGet { item: args.item, cwd: directory(&args.place)? };
    let item: Import = ask(client, params, SEE).await?;
    match args.place.json {
        true => output::json(&item)?,
        false => output::write(described(&item, Colors::of_stdout()).as_bytes())?,
    }
    done()
}

fn described(item: &Import, colors: Colors) -> String {
    let mut text = format!("{}\n", colors.paint(Tone::Strong, &safe::line(&item.title)));
    let mut line = |name: &str, value: String| text += &format!("{name:10}{value}\n");
    line("id", safe::line(&item.id));
    line("kind", safe::line(&item.kind));
    line("path", safe::line(&item.path));
    line("hash", safe::line(&item.hash));
    line("state", safe::line(&item.state));
    line("risk", safe::line(&item.risk));
    if !item.summary.is_empty() {
        line("what", safe::line(&item.summary));
    }
    if item.needs_approval {
        line("approval", "it starts programs or contacts servers".to_owned());
    }
    for conflict in &item.conflicts {
        line("conflict", safe::line(conflict));
    }
    let shown = serde_json::to_string_pretty(&item.preview).unwrap_or_default();
    text + &format!("\n{}\n", safe::text(&shown))
}

async fn enable(client: &Client, args: args::ImportsEnable) -> Outcome {
    let cwd = directory(&args.place)?;
    let hash = match args.hash {
        Some(hash) => {
            let params = ImportGet { item: args.item.clone(), cwd: cwd.clone() };
            let item: Import = ask(client, params, SEE).await?;
            // Another hash than that of the item is refused by the daemon.
            Some(if item.hash.starts_with(&hash) { item.hash } else { hash })
        }
        None => None,
    };
    let params = ImportEnable { item: args.item, cwd, approve: args.yes, hash };
    let mut enabled: ImportEnabled = ask(client, params.clone(), SEE).await?;
    if !enabled.is_enabled && !args.place.json && asked(&enabled.item)? {
        // Exactly what was shown is approved.
        let hash = Some(enabled.item.hash.clone());
        let approved =
            ImportEnable { item: enabled.item.id.clone(), approve: true, hash, ..params };
        enabled = ask(client, approved, SEE).await?;
    }
    if args.place.json {
        output::json(&enabled)?;
    } else if enabled.is_enabled {
        output::line(format!("enabled {}", safe::line(&enabled.item.title)))?;
        if enabled.item.state == "failed" {
            output::note("it cannot take effect as it is; `rookery imports ls` says why");
        }
    }
    match enabled.is_enabled {
        true => done(),
        false if args.place.json => Err(Failure::quiet(NOT_APPROVED)),
        false => {
            let what = safe::line(&enabled.item.summary);
            let message = format!("it needs approval: {what}");
            Err(Failure::new(message).code(NOT_APPROVED).hint(format!(
                "look at it with `rookery imports show {}`, then run this again with --yes --hash {}",
                safe::line(&enabled.item.id),
                safe::line(enabled.item.hash.get(..HASH_DIGITS).unwrap_or(&enabled.item.hash))
            )))
        }
    }
}

/// Asks at the terminal, if there is one.
fn asked(item: &Import) -> Outcome<bool> {
    let (stdin, mut stderr) = (std::io::stdin(), std::io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return Ok(false);
    }
    let shown = described(item, Colors::of_stderr());
    let asking = format!("{shown}\nEnable it, and approve that? [y/N] ");
    let failed = || Failure::doing("cannot ask at the terminal");
    stderr.write_all(asking.as_bytes()).and_then(|()| stderr.flush()).map_err(failed())?;
    let mut answer = String::new();
    stdin.read_line(&mut answer).map_err(failed())?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn decided(decided: &ImportDecided, is_json: bool) -> Outcome {
    let done_to = match decided.decision.as_str() {
        "ignore" => "ignored",
        _ => "removed",
    };
    match is_json {
        true => output::json(decided)?,
        false => output::line(format!("{done_to} {}", safe::line(&decided.item)))?,
    }
    done()
}

async fn refresh(client: &Client, args: ImportsPlace) -> Outcome {
    let params = ImportRefresh { cwd: directory(&args)? };
    let mut found: Imports = ask(client, params, SEE).await?;
    if args.json {
        return listed(&found, true);
    }
    found.items.retain(|item| item.state == "stale");
    if found.items.is_empty() && found.missing.is_empty() {
        output::note("everything that is enabled is as it was");
        return done();
    }
    found.errors.clear();
    listed(&found, false)
}

pub(super) async fn run_skills(action: SkillsAction) -> Outcome {
    let client = daemon_process::connect_or_start().await?;
    match action {
        SkillsAction::Ls(args) => {
            let params = SkillList { cwd: directory(&args)? };
            skills(&ask(&client, params, SEE_SKILLS).await?, args.json)
        }
        SkillsAction::Show(args) => {
            let params = SkillGet { skill: args.skill, cwd: directory(&args.place)? };
            let skill: Skill = ask(&client, params, SEE_SKILLS).await?;
            match args.place.json {
                true => output::json(&skill)?,
                false => {
                    let body = safe::text(skill.body.as_deref().unwrap_or_default());
                    output::write(format!("{body}\n").as_bytes())?;
                }
            }
            done()
        }
        SkillsAction::Enable(args) => set(&client, args, true).await,
        SkillsAction::Disable(args) => set(&client, args, false).await,
    }
}

async fn set(client: &Client, args: args::SkillsItem, is_enabled: bool) -> Outcome {
    let params = SkillSet { skill: args.skill.clone(), is_enabled, cwd: directory(&args.place)? };
    let list: Skills = ask(client, params, SEE_SKILLS).await?;
    if args.place.json {
        return skills(&list, true);
    }
    let done_to = if is_enabled { "enabled" } else { "disabled" };
    output::line(format!("{done_to} {}", safe::line(&args.skill)))?;
    done()
}

fn skills(list: &Skills, is_json: bool) -> Outcome {
    if is_json {
        output::json(list)?;
    } else if list.skills.is_empty() {
        output::note("no skills; put one into .agents/skills/NAME/SKILL.md");
    } else {
        let mut table = Table::new(&["NAME", "STATE", "PATH", "DESCRIPTION"]);
        for skill in &list.skills {
            let state = if skill.is_enabled { "enabled" } else { "disabled" };
            table.row(vec![
                (Tone::Strong, safe::line(&skill.name)),
                (Tone::Plain, state.to_owned()),
                (Tone::Plain, shorten(&safe::line(&skill.path), WIDTH)),
                (Tone::Plain, shorten(&safe::line(&skill.description), WIDTH)),
            ]);
        }
        table.print()?;
    }
    done()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn item() -> Import {
        serde_json::from_value(json!({
            "id": "workflow-1", "kind": "mcpServer", "title": "MCP server docs",
            "summary": "starts npx docs\u{7}", "path": ".mcp.json", "name": "docs", "hash": "h",
            "state": "detected", "risk": "startsProcess", "needsApproval": true, "isLive": false,
            "preview": {"config": {"command": "npx"}}, "conflicts": ["the settings: taken"],
        }))
        .unwrap()
    }

    #[test]
    fn one_line_per_item() {
        let live = Import {
            is_live: true,
            name: None,
            kind: "guidance".into(),
            path: "AGENTS.md".into(),
            summary: "Be kind".into(),
            ..item()
        };
        expect![[r#"
            ID          STATE     KIND       PATH       WHAT
            workflow-1  detected  mcpServer  .mcp.json  docs: starts npx docs
            workflow-1  live      guidance   AGENTS.md  Be kind
        "#]]
        .assert_eq(&table(&[item(), live]).render(Colors::none(), None));
    }

    #[test]
    fn an_item_is_shown_with_what_it_would_start() {
        expect![[r#"
            MCP server docs
            id        workflow-1
            kind      mcpServer
            path      .mcp.json
            hash      h
            state     detected
            risk      startsProcess
            what      starts npx docs
            approval  it starts programs or contacts servers
            conflict  the settings: taken

            {
              "config": {
                "command": "npx"
              }
            }
        "#]]
        .assert_eq(&described(&item(), Colors::none()));
    }
}
