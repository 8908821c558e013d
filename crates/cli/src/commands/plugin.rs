//! `rookery plugin`: plugins of marketplaces.

use rookery_native::wire::{
    Empty, InstalledPlugin, InstalledPlugins, PluginDisable, PluginEnable, PluginInstall,
    PluginList, PluginPreview, PluginPreviewed, PluginUninstall,
};
use rookery_view::safe;
use rookery_wire::Client;
use serde_json::json;

use super::marketplace::{SEE_PLUGINS, advised, described};
use crate::{
    args::{self, PluginAction},
    commands::done,
    daemon_process,
    failure::Outcome,
    link::ask,
    output::{self, Colors, Table, Tone},
    talk::age,
};

/// What to do when a plugin is not installed.
const SEE: &str = "run `rookery plugin ls` to list installed plugins";
/// What to do when a plugin cannot be installed.
const SEE_PREVIEW: &str =
    "run `rookery plugin preview MARKETPLACE:PLUGIN` to see what it has in it";
/// Files that are listed.
const MOST_FILES: usize = 20;

pub(super) async fn run(action: PluginAction) -> Outcome {
    let client = daemon_process::connect_or_start().await?;
    match action {
        PluginAction::Preview(args) => preview(&client, args).await,
        PluginAction::Install(args) => install(&client, args).await,
        PluginAction::Ls(args) => list(&client, args).await,
        PluginAction::Enable(args) => {
            let params = PluginEnable { plugin: args.plugin };
            switched(ask(&client, params, SEE).await?, args.json)
        }
        PluginAction::Disable(args) => {
            let params = PluginDisable { plugin: args.plugin };
            switched(ask(&client, params, SEE).await?, args.json)
        }
        PluginAction::Uninstall(args) => uninstall(&client, args).await,
    }
}

async fn preview(client: &Client, args: args::PluginName) -> Outcome {
    let params = PluginPreview { plugin: args.plugin };
    let preview: PluginPreviewed =
        output::working("looking at the plugin", ask(client, params, SEE_PLUGINS)).await?;
    match args.json {
        true => output::json(&preview)?,
        false => output::write(shown(&preview, Colors::of_stdout()).as_bytes())?,
    }
    done()
}

/// A preview as people read it.
fn shown(preview: &PluginPreviewed, colors: Colors) -> String {
    let mut entry = preview.entry.clone();
    (entry.components, entry.risk) = (preview.components.clone(), preview.risk.clone());
    let mut text = described(&entry, colors);
    let mut heading = |name: &str, lines: &[String]| {
        if !lines.is_empty() {
            text += &format!("\n{}\n", colors.paint(Tone::Strong, name));
            lines.iter().for_each(|line| text += &format!("  {}\n", safe::line(line)));
        }
    };
    let commands: Vec<String> = preview
        .commands
        .iter()
        .map(|command| format!("{} ({}, {})", command.line, command.component, command.origin))
        .collect();
    heading("It could start", &commands);
    heading("Warnings", &preview.warnings);
    let mut files: Vec<String> = preview.files.iter().take(MOST_FILES).cloned().collect();
    if preview.files.len() > MOST_FILES {
        files.push(format!("and {} more", preview.files.len() - MOST_FILES));
    }
    heading(&format!("Files: {}, {} bytes", preview.files.len(), preview.total_bytes), &files);
    text
}

async fn install(client: &Client, args: args::PluginInstall) -> Outcome {
    let what = format!("installing {}", safe::line(&args.plugin));
    let params = PluginInstall { plugin: args.plugin, all_variants: args.all_variants };
    let installed = output::working(&what, ask(client, params, SEE_PLUGINS)).await;
    let installed: InstalledPlugins = installed.map_err(|failure| advised(failure, SEE_PREVIEW))?;
    if args.json {
        output::json(&installed)?;
        return done();
    }
    for plugin in &installed.plugins {
        let (name, path) = (safe::line(&plugin.plugin), safe::line(&plugin.path));
        output::line(format!("installed {name} in {path}"))?;
    }
    done()
}

async fn list(client: &Client, args: args::PluginLs) -> Outcome {
    let list: InstalledPlugins = ask(client, PluginList {}, SEE).await?;
    if args.json {
        output::json(&list)?;
    } else if list.plugins.is_empty() {
        output::note("no plugins; install one with `rookery plugin install MARKETPLACE:PLUGIN`");
    } else {
        table(&list.plugins, age::now()).print()?;
    }
    done()
}

fn table(plugins: &[InstalledPlugin], now: i64) -> Table {
    let mut table = Table::new(&["PLUGIN", "VERSION", "STATE", "AGE", "PATH"]);
    for plugin in plugins {
        table.row(vec![
            (Tone::Strong, safe::line(&plugin.plugin)),
            (Tone::Faint, plugin.version.as_deref().map_or_else(|| "-".to_owned(), safe::line)),
            (Tone::Plain, state(plugin).to_owned()),
            (Tone::Faint, age::since_text(&plugin.installed_at, now)),
            (Tone::Plain, safe::line(&plugin.path)),
        ]);
    }
    table
}

fn state(plugin: &InstalledPlugin) -> &'static str {
    if plugin.enabled { "enabled" } else { "disabled" }
}

fn switched(plugin: InstalledPlugin, is_json: bool) -> Outcome {
    match is_json {
        true => output::json(&plugin)?,
        false => output::line(format!("{} {}", state(&plugin), safe::line(&plugin.plugin)))?,
    }
    done()
}

async fn uninstall(client: &Client, args: args::PluginName) -> Outcome {
    let params = PluginUninstall { plugin: args.plugin.clone() };
    let _: Empty = ask(client, params, SEE).await?;
    match args.json {
        true => output::json(&json!({ "uninstalled": args.plugin }))?,
        false => output::line(format!("uninstalled {}", safe::line(&args.plugin)))?,
    }
    done()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_preview_says_what_could_be_started_first() {
        let preview: PluginPreviewed = serde_json::from_value(json!({
            "entry": {"plugin": "m:p", "name": "P", "kind": "roder", "tags": [], "source": "p",
                "components": [], "risk": "passive", "manifest": {}},
            "components": ["hooks"], "risk": "runsHook", "files": ["a", "b\u{7}"], "totalBytes": 7,
            "commands": [{"component": "hook", "origin": "hooks/hooks.json", "line": "/x/run --all"}],
            "warnings": ["careful"],
        }))
        .unwrap();
        expect![[r#"
            m:p
            name        P
            format      roder
            source      p
            components  hooks
            risk        runsHook

            It could start
              /x/run --all (hook, hooks/hooks.json)

            Warnings
              careful

            Files: 2, 7 bytes
              a
              b
        "#]]
        .assert_eq(&shown(&preview, Colors::none()));
    }
}
