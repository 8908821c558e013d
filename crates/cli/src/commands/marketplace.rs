//! `rookery marketplace`: catalogs of plugins for coding agents.

use std::path::Path;

use rookery_native::wire::{
    Empty, Marketplace, MarketplaceAdd, MarketplaceAddDefaults, MarketplaceList,
    MarketplaceRefresh, MarketplaceRefreshed, MarketplaceRemove, MarketplaceSearch,
    MarketplaceShow, MarketplaceSource, Marketplaces, PluginEntry, PluginRow, PluginRows,
};
use rookery_view::safe;
use rookery_wire::Client;
use serde_json::json;

use crate::{
    args::{self, MarketplaceAction},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::ask,
    output::{self, Colors, Table, Tone, shorten},
    talk::age,
};

/// What to do when a marketplace is not found.
const SEE: &str = "run `rookery marketplace ls` to list marketplaces";
/// What to do when a plugin is not found.
pub(super) const SEE_PLUGINS: &str = "run `rookery marketplace search` to list plugins, `rookery marketplace refresh` to fetch catalogs";
/// What to do when a marketplace is refused.
const SEE_ADD: &str =
    "see `rookery marketplace add --help`, and `rookery marketplace ls` for ids that are taken";
/// What to do when a source cannot be reached.
const SEE_SOURCE: &str = "check the source; `rookery marketplace refresh ID` tries again, `rookery marketplace remove ID` gives up";
/// Columns of a text.
const WIDTH: usize = 60;

pub(super) async fn run(action: MarketplaceAction) -> Outcome {
    let client = daemon_process::connect_or_start().await?;
    match action {
        MarketplaceAction::Ls(args) => list(&client, args).await,
        MarketplaceAction::Add(args) => add(&client, args).await,
        MarketplaceAction::Default(args) => add_defaults(&client, args).await,
        MarketplaceAction::Remove(args) => remove(&client, args).await,
        MarketplaceAction::Refresh(args) => refresh(&client, args).await,
        MarketplaceAction::Search(args) => search(&client, args).await,
        MarketplaceAction::Show(args) => show(&client, args).await,
    }
}

async fn list(client: &Client, args: args::MarketplaceLs) -> Outcome {
    let list: Marketplaces = ask(client, MarketplaceList {}, SEE).await?;
    match args.json {
        true => output::json(&list)?,
        false => table(&list.marketplaces, age::now()).print()?,
    }
    done()
}

fn table(marketplaces: &[Marketplace], now: i64) -> Table {
    let mut table = Table::new(&["ID", "KIND", "STATE", "FETCHED", "SOURCE"]);
    for market in marketplaces {
        let (tone, state) = match &market.last_error {
            Some(_) => (Tone::Bad, format!("{}, fetch failed", market.state)),
            None => (Tone::Plain, market.state.clone()),
        };
        let fetched = market.fetched_at.as_deref().map(|at| age::since_text(at, now));
        table.row(vec![
            (Tone::Strong, safe::line(&market.id)),
            (Tone::Plain, market.kind.clone()),
            (tone, state),
            (Tone::Faint, fetched.unwrap_or_else(|| "-".to_owned())),
            (Tone::Plain, shorten(&safe::line(shown_source(&market.source)), WIDTH)),
        ]);
    }
    table
}

fn shown_source(source: &MarketplaceSource) -> &str {
    match source {
        MarketplaceSource::LocalPath { path } => path,
        MarketplaceSource::Git { url, .. } | MarketplaceSource::HttpJson { url } => url,
        MarketplaceSource::Github { repo, .. } => repo,
    }
}

async fn add(client: &Client, args: args::MarketplaceAdd) -> Outcome {
    let (id, kind, display_name) = (args.id.clone(), args.kind.clone(), args.name.clone());
    let (is_json, refreshes) = (args.json, !args.no_refresh);
    let params = MarketplaceAdd { id, kind, display_name, source: source(args)? };
    let added = ask(client, params, SEE).await;
    let added: Marketplace = added.map_err(|failure| advised(failure, SEE_ADD))?;
    if !refreshes {
        match is_json {
            true => output::json(&added)?,
            false => output::line(format!("added {}", safe::line(&added.id)))?,
        }
        return done();
    }
    if !is_json {
        output::line(format!("added {}", safe::line(&added.id)))?;
    }
    let fetched = fetch(client, &added.id).await?;
    match is_json {
        true => output::json(&fetched)?,
        false => report(&fetched)?,
    }
    done()
}

fn source(args: args::MarketplaceAdd) -> Outcome<MarketplaceSource> {
    let args::MarketplaceAdd { path, git, github, http_json, ref_name, catalog, .. } = args;
    let catalog_path = catalog;
    Ok(match (path, git, github, http_json) {
        (Some(path), ..) => MarketplaceSource::LocalPath { path: absolute(&path)? },
        (_, Some(url), ..) => MarketplaceSource::Git { url, ref_name, catalog_path },
        (.., Some(repo), _) => {
            MarketplaceSource::Github { repo, ref_name, catalog_path, plugin_root: None }
        }
        (.., Some(url)) => MarketplaceSource::HttpJson { url },
        (None, None, None, None) => {
            return Err(
                Failure::new("name a source: --path, --git, --github or --http-json").code(2)
            );
        }
    })
}

fn absolute(path: &Path) -> Outcome<String> {
    let real = std::fs::canonicalize(path)
        .map_err(|error| Failure::new(format!("{}: {error}", path.display())).code(2))?;
    let text = real.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Failure::new(format!("{}: the path is not valid UTF-8", path.display())).code(2)
    })
}

async fn fetch(client: &Client, id: &str) -> Outcome<MarketplaceRefreshed> {
    let params = MarketplaceRefresh { marketplace: id.to_owned() };
    let what = format!("fetching {}", safe::line(id));
    let fetched = output::working(&what, ask(client, params, SEE)).await;
    fetched.map_err(|failure| advised(failure, SEE_SOURCE))
}

/// A failure with what to do next, unless it says that already.
pub(super) fn advised(failure: Failure, hint: &str) -> Failure {
    match failure.advice().is_some() || failure.message().is_empty() {
        true => failure,
        false => failure.hint(hint),
    }
}

fn report(fetched: &MarketplaceRefreshed) -> Outcome<()> {
    let (id, count) = (safe::line(&fetched.marketplace.id), fetched.plugins);
    let noun = if count == 1 { "plugin" } else { "plugins" };
    output::line(format!("fetched {id}: {count} {noun}"))?;
    for problem in &fetched.diagnostics {
        output::note(format!("left out: {}", safe::line(problem)));
    }
    Ok(())
}

async fn add_defaults(client: &Client, args: args::MarketplaceDefault) -> Outcome {
    let params = MarketplaceAddDefaults { selection: args.selection };
    let added: Marketplaces = ask(client, params, SEE).await?;
    if args.json {
        output::json(&added)?;
        return done();
    }
    for market in &added.marketplaces {
        output::line(format!("added {}", safe::line(&market.id)))?;
    }
    if !added.marketplaces.is_empty() {
        output::note("run `rookery marketplace refresh` to fetch their catalogs");
    }
    done()
}

async fn remove(client: &Client, args: args::MarketplaceRemove) -> Outcome {
    let params = MarketplaceRemove { marketplace: args.marketplace.clone() };
    let _: Empty = ask(client, params, SEE).await?;
    match args.json {
        true => output::json(&json!({ "removed": args.marketplace }))?,
        false => output::line(format!("removed {}", safe::line(&args.marketplace)))?,
    }
    done()
}

async fn refresh(client: &Client, args: args::MarketplaceRefresh) -> Outcome {
    let mut ids = args.marketplaces;
    if ids.is_empty() {
        let all: Marketplaces = ask(client, MarketplaceList {}, SEE).await?;
        let added = all.marketplaces.into_iter().filter(|market| {
            market.enabled && matches!(market.state.as_str(), "added" | "fetched")
        });
        ids = added.map(|market| market.id).collect();
    }
    if ids.is_empty() {
        output::note(
            "no marketplaces; add one with `rookery marketplace add` or `rookery marketplace default`",
        );
    }
    let (mut fetched, mut failed) = (Vec::new(), None);
    for id in &ids {
        match fetch(client, id).await {
            Ok(done) => {
                if !args.json {
                    report(&done)?;
                }
                fetched.push(done);
            }
            // The others are fetched all the same.
            Err(failure) if ids.len() > 1 => {
                output::note(format!("{}: {}", safe::line(id), failure.message()));
                failed = Some(Failure::quiet(1));
            }
            Err(failure) => return Err(failure),
        }
    }
    if args.json {
        output::json(&json!({ "marketplaces": fetched }))?;
    }
    failed.map_or_else(done, Err)
}

async fn search(client: &Client, args: args::MarketplaceSearch) -> Outcome {
    let params = MarketplaceSearch { query: args.query.join(" ") };
    let found: PluginRows = ask(client, params, SEE).await?;
    if args.json {
        output::json(&found)?;
    } else if found.plugins.is_empty() {
        output::note("nothing found; `rookery marketplace refresh` fetches catalogs");
    } else {
        rows(&found.plugins).print()?;
    }
    done()
}

fn rows(plugins: &[PluginRow]) -> Table {
    let mut table = Table::new(&["PLUGIN", "VERSION", "RISK", "INSTALLED", "DESCRIPTION"]);
    for plugin in plugins {
        let mut name = plugin.variants.first().map(|name| safe::line(name)).unwrap_or_default();
        if plugin.variants.len() > 1 {
            name += &format!(" (+{})", plugin.variants.len() - 1);
        }
        let installed = if plugin.installed.is_empty() { "-" } else { "yes" };
        let text = plugin.description.as_deref().unwrap_or(&plugin.name);
        table.row(vec![
            (Tone::Strong, name),
            (Tone::Faint, plugin.version.as_deref().map_or_else(|| "-".to_owned(), safe::line)),
            (Tone::Plain, plugin.risk.clone()),
            (Tone::Plain, installed.to_owned()),
            (Tone::Plain, shorten(&safe::line(text), WIDTH)),
        ]);
    }
    table
}

async fn show(client: &Client, args: args::PluginName) -> Outcome {
    let entry: PluginEntry =
        ask(client, MarketplaceShow { plugin: args.plugin }, SEE_PLUGINS).await?;
    match args.json {
        true => output::json(&entry)?,
        false => output::write(described(&entry, Colors::of_stdout()).as_bytes())?,
    }
    done()
}

/// A plugin as people read it.
pub(super) fn described(entry: &PluginEntry, colors: Colors) -> String {
    let mut text = format!("{}\n", colors.paint(Tone::Strong, &safe::line(&entry.plugin)));
    let mut line = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text += &format!("{name:12}{}\n", safe::line(value));
        }
    };
    line("name", Some(&entry.name));
    line("about", entry.description.as_deref());
    line("version", entry.version.as_deref());
    line("author", entry.author.as_deref());
    line("homepage", entry.homepage.as_deref());
    line("repository", entry.repository.as_deref());
    line("category", entry.category.as_deref());
    line("tags", Some(&entry.tags.join(", ")));
    line("format", Some(&entry.kind));
    line("source", Some(&entry.source));
    line("components", Some(&entry.components.join(", ")));
    line("risk", Some(&entry.risk));
    line("problem", entry.problem.as_deref());
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn marketplaces_are_a_table_with_what_failed() {
        let market = |id: &str, error: Option<&str>| -> Marketplace {
            serde_json::from_value(json!({
                "id": id, "kind": "custom", "displayName": id, "isDefault": false, "enabled": true,
                "source": {"kind": "git", "url": "https://h/\u{7}r"}, "state": "fetched",
                "fetchedAt": "1970-01-01T00:01:00Z", "lastError": error,
            }))
            .unwrap()
        };
        expect![[r#"
            ID  KIND    STATE                  FETCHED  SOURCE
            a   custom  fetched                2m       https://h/r
            b   custom  fetched, fetch failed  2m       https://h/r
        "#]]
        .assert_eq(
            &table(&[market("a", None), market("b", Some("no"))], 180).render(Colors::none(), None),
        );
    }

    #[test]
    fn plugins_are_a_table_of_their_first_variants() {
        let row = PluginRow {
            name: "Tools".into(),
            description: Some("Many\ntools".into()),
            variants: vec!["a:tools".into(), "b:tools".into()],
            installed: vec!["b:tools".into()],
            related: Vec::new(),
            version: None,
            components: Vec::new(),
            risk: "passive".into(),
        };
        expect![[r#"
            PLUGIN        VERSION  RISK     INSTALLED  DESCRIPTION
            a:tools (+1)  -        passive  yes        Many tools
        "#]]
        .assert_eq(&rows(&[row]).render(Colors::none(), None));
    }
}
