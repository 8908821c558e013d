//! `rookery memory`: what agents should know in other threads as well.

use std::io::Read as _;
use std::path::PathBuf;

use rookery_native::wire::{
    Empty, Memories, Memory, MemoryChoice, MemoryChoose, MemoryDelete, MemoryGet, MemoryList,
    MemoryProviderList, MemoryProviders, MemoryRecall, MemoryResults, MemorySave, MemorySaved,
    MemorySearch, MemoryUpdate,
};
use rookery_view::safe;
use rookery_wire::Client;
use serde_json::{Value, json};

use crate::{
    args::{self, MemoryAction, MemoryPlace},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::ask,
    output::{self, Colors, Table, Tone, shorten},
    talk::{age, sessions},
};

/// What to do when a memory is not found.
const SEE: &str = "run `rookery memory ls` to list memories";
/// Columns of a text.
const WIDTH: usize = 60;
/// The longest text that is read from stdin, in bytes; the daemon takes less.
const STDIN_LIMIT: u64 = 1 << 20;

pub(super) async fn run(action: MemoryAction) -> Outcome {
    let client = daemon_process::connect_or_start().await?;
    match action {
        MemoryAction::Ls(args) => list(&client, args).await,
        MemoryAction::Show(args) => show(&client, args).await,
        MemoryAction::Save(args) => save(&client, args).await,
        MemoryAction::Update(args) => update(&client, args).await,
        MemoryAction::Rm(args) => remove(&client, args).await,
        MemoryAction::Query(args) => query(&client, args).await,
        MemoryAction::Recall(args) => recall(&client, args).await,
        MemoryAction::Provider(args) => provider(&client, args).await,
    }
}

/// The directory whose project is meant.
fn directory(place: &MemoryPlace) -> Outcome<Option<PathBuf>> {
    Ok(sessions::directory(place.cwd.as_deref())?.or_else(|| std::env::current_dir().ok()))
}

fn words(words: &[String]) -> Outcome<String> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    let stdin = std::io::stdin().lock();
    stdin
        .take(STDIN_LIMIT)
        .read_to_string(&mut text)
        .map_err(Failure::doing("cannot read the text from stdin"))?;
    Ok(text.trim_end().to_owned())
}

fn metadata(text: Option<&str>) -> Outcome<Value> {
    let read = |text: &str| {
        serde_json::from_str(text)
            .map_err(|error| Failure::new(format!("--metadata is not valid JSON: {error}")).code(2))
    };
    text.map_or(Ok(Value::Null), read)
}

async fn list(client: &Client, args: args::MemoryLs) -> Outcome {
    let cwd = directory(&args.place)?;
    let params = MemoryList { scope: args.place.scope, cwd, limit: args.limit };
    let list: Memories = ask(client, params, SEE).await?;
    if args.json {
        output::json(&list)?;
    } else if list.memories.is_empty() {
        output::note("no memories; save one with `rookery memory save TEXT`");
    } else {
        table(&list.memories, age::now()).print()?;
    }
    done()
}

fn table(memories: &[Memory], now: i64) -> Table {
    let mut table = Table::new(&["ID", "AGE", "USED", "SCOPE", "TEXT"]);
    for memory in memories {
        table.row(vec![
            (Tone::Strong, safe::line(&memory.id)),
            (Tone::Faint, age::since_text(&memory.updated_at, now)),
            (Tone::Faint, memory.use_count.to_string()),
            (Tone::Plain, shorten(&safe::line(&memory.scope), WIDTH)),
            (Tone::Plain, shorten(&safe::line(&memory.text), WIDTH)),
        ]);
    }
    table
}

async fn show(client: &Client, args: args::MemoryShow) -> Outcome {
    let memory: Memory = ask(client, MemoryGet { memory: args.memory }, SEE).await?;
    match args.json {
        true => output::json(&memory)?,
        false => output::write(described(&memory, Colors::of_stdout()).as_bytes())?,
    }
    done()
}

fn described(memory: &Memory, colors: Colors) -> String {
    let mut text = format!("{}\n", colors.paint(Tone::Strong, &safe::line(&memory.id)));
    let mut line = |name: &str, value: String| text += &format!("{name:10}{value}\n");
    line("scope", safe::line(&memory.scope));
    line("saved", memory.created_at.clone());
    line("changed", memory.updated_at.clone());
    line("used", format!("{} times", memory.use_count));
    if !memory.metadata.is_null() {
        line("metadata", safe::line(&memory.metadata.to_string()));
    }
    text + &format!("\n{}\n", safe::text(&memory.text))
}

async fn save(client: &Client, args: args::MemorySave) -> Outcome {
    let cwd = directory(&args.place)?;
    let metadata = metadata(args.metadata.as_deref())?;
    let params = MemorySave { text: words(&args.text)?, scope: args.place.scope, cwd, metadata };
    let saved: MemorySaved = ask(client, params, SEE).await?;
    if args.json {
        output::json(&saved)?;
    } else {
        output::line(&saved.memory.id)?;
        if saved.deduplicated {
            output::note("the scope has this text already");
        }
    }
    done()
}

async fn update(client: &Client, args: args::MemoryUpdate) -> Outcome {
    let (text, metadata) = (words(&args.text)?, metadata(args.metadata.as_deref())?);
    let params = MemoryUpdate { memory: args.memory, text, metadata };
    let memory: Memory = ask(client, params, SEE).await?;
    match args.json {
        true => output::json(&memory)?,
        false => output::line(&memory.id)?,
    }
    done()
}

async fn remove(client: &Client, args: args::MemoryRm) -> Outcome {
    for memory in &args.memories {
        let _: Empty = ask(client, MemoryDelete { memory: memory.clone() }, SEE).await?;
        if !args.json {
            output::line(format!("deleted {}", safe::line(memory)))?;
        }
    }
    if args.json {
        output::json(&json!({ "deleted": args.memories }))?;
    }
    done()
}

async fn query(client: &Client, args: args::MemoryQuery) -> Outcome {
    let params = MemorySearch {
        text: words(&args.text)?,
        cwd: directory(&args.place)?,
        scope: args.place.scope,
        include_global: args.global,
        limit: args.limit,
    };
    let found: MemoryResults = ask(client, params, SEE).await?;
    print(&found, args.json)
}

/// What a turn would be given.
async fn recall(client: &Client, args: args::MemoryRecall) -> Outcome {
    let params = MemoryRecall { thread: args.thread, text: words(&args.text)?, limit: args.limit };
    let hint = "run `rookery threads` to list threads";
    let found: MemoryResults = ask(client, params, hint).await?;
    print(&found, args.json)
}

async fn provider(client: &Client, args: args::MemoryProvider) -> Outcome {
    let hint = "run `rookery memory provider` to list them";
    if let Some(provider) = args.provider {
        let params = MemoryChoose { provider, model: args.model };
        let chosen: MemoryChoice = ask(client, params, hint).await?;
        match args.json {
            true => output::json(&chosen)?,
            false => output::line(format!(
                "{} {}",
                safe::line(&chosen.provider),
                safe::line(&chosen.model)
            ))?,
        }
        return done();
    }
    let list: MemoryProviderList = ask(client, MemoryProviders {}, SEE).await?;
    match args.json {
        true => output::json(&list)?,
        false => providers(&list).print()?,
    }
    done()
}

fn providers(list: &MemoryProviderList) -> Table {
    let mut table = Table::new(&["PROVIDER", "MODEL", "VECTORS", "CHOSEN", "NAME"]);
    for provider in &list.providers {
        for model in &provider.models {
            let selected = &list.selected;
            let is_chosen = selected.provider == provider.id && selected.model == model.id;
            let vectors = match model.dimensions {
                0 => String::new(),
                numbers => numbers.to_string(),
            };
            table.row(vec![
                (Tone::Strong, safe::line(&provider.id)),
                (Tone::Plain, safe::line(&model.id)),
                (Tone::Faint, vectors),
                (Tone::Good, if is_chosen { "yes" } else { "" }.to_owned()),
                (Tone::Plain, shorten(&safe::line(&provider.name), WIDTH)),
            ]);
        }
    }
    table
}

fn print(found: &MemoryResults, json: bool) -> Outcome {
    if found.degraded && !json {
        output::note("the embedding server did not answer; results are by words only");
    }
    if json {
        output::json(found)?;
    } else if found.results.is_empty() {
        output::note("nothing found");
    } else {
        let mut table = Table::new(&["ID", "SCORE", "SCOPE", "TEXT"]);
        for result in &found.results {
            table.row(vec![
                (Tone::Strong, safe::line(&result.memory.id)),
                (Tone::Faint, format!("{:.2}", result.score)),
                (Tone::Plain, shorten(&safe::line(&result.memory.scope), WIDTH)),
                (Tone::Plain, shorten(&safe::line(&result.snippet), WIDTH)),
            ]);
        }
        table.print()?;
    }
    done()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn memory() -> Memory {
        serde_json::from_value(json!({
            "id": "mem-1", "scope": "project:/src/a", "text": "tag,\u{7} then\npublish",
            "contentHash": "", "metadata": {"pr": 7}, "useCount": 2,
            "createdAt": "1970-01-01T00:00:00Z", "updatedAt": "1970-01-01T00:01:00Z",
        }))
        .unwrap()
    }

    #[test]
    fn one_line_per_memory() {
        expect![[r#"
            ID     AGE  USED  SCOPE           TEXT
            mem-1  2m   2     project:/src/a  tag, then publish
        "#]]
        .assert_eq(&table(&[memory()], 180).render(Colors::none(), None));
    }

    #[test]
    fn a_memory_is_shown_with_what_is_kept_beside_it() {
        expect![[r#"
            mem-1
            scope     project:/src/a
            saved     1970-01-01T00:00:00Z
            changed   1970-01-01T00:01:00Z
            used      2 times
            metadata  {"pr":7}

            tag, then
            publish
        "#]]
        .assert_eq(&described(&memory(), Colors::none()));
    }
}
