//! `rookery setup`: finds who can answer, offers what makes the first hour easier, shows what it will
//! write, and writes it after a yes.

mod offers;
mod show;

use std::{
    io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _},
    path::PathBuf,
};

use rookery_daemon::{
    homes::Homes,
    setup::{self, Change, Found, Present},
};
use rookery_native::wire::ThreadList;

use crate::{
    args,
    commands::{done, down, restart},
    daemon_process,
    failure::{Failure, Outcome},
    link, output,
};
use offers::Offers;

/// The longest answer that is read.
const LONGEST_ANSWER: u64 = 256;

/// Everything that is to be written.
struct Plan {
    file: PathBuf,
    change: Change,
    /// What changes in the settings; empty if nothing does.
    diff: String,
    offers: Offers,
    /// Who answers afterwards.
    provider: Option<String>,
}

impl Plan {
    fn is_empty(&self) -> bool {
        self.diff.is_empty() && self.offers.is_empty()
    }
}

pub(super) async fn run(args: args::Setup) -> Outcome {
    if args.json && !args.dry_run && !args.yes {
        return Err(Failure::new("--json cannot ask for confirmation")
            .hint("confirm with --yes, or only look with --dry-run")
            .code(2));
    }
    let homes = link::homes()?;
    let broken = |error: rookery_host::SettingsFileError| {
        Failure::new(error.to_string()).hint("fix the file; nothing was written")
    };
    let present = setup::present(&homes).map_err(broken)?;
    let found = output::working("looking around", setup::find()).await;
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    let asks = can_ask && !args.yes && !args.dry_run;
    if !args.json {
        show::found(&found)?;
    }
    let provider = provider(&args, &present, &found, asks)?;
    let change = change(&present, &found, provider.as_deref());
    let (before, after) = change.preview(&present.file).map_err(broken)?;
    let diff = super::hooks::unified(&present.file, &before, &after);
    let offers = Offers::choose(&args, &found, asks)?;
    let answers = change.provider.clone().or(present.provider);
    let plan = Plan { file: present.file, change, diff, offers, provider: answers };
    if !args.json {
        show::plan(&plan)?;
        if !asks && plan.offers.is_empty() {
            output::note(
                "skipped: links (--shims), Claude Code's hooks (--hooks), completions (--shell)",
            );
        }
    }
    let is_written = !plan.is_empty() && !args.dry_run;
    if is_written {
        if !args.yes {
            agree()?;
        }
        plan.change.write(&plan.file).map_err(broken)?;
        plan.offers.write(args.json)?;
        if !plan.diff.is_empty() {
            take_effect(&homes).await?;
        }
    }
    match args.json {
        true => output::json(&show::json(&found, &plan, is_written))?,
        false => show::end(&found, &plan, is_written),
    }
    done()
}

/// Who is to answer; none leaves what is set.
fn provider(
    args: &args::Setup,
    present: &Present,
    found: &Found,
    asks: bool,
) -> Outcome<Option<String>> {
    if let Some(named) = &args.provider {
        return Ok(Some(named.trim().to_lowercase()));
    }
    if present.provider.is_some() {
        return Ok(None);
    }
    let candidates = candidates(found);
    match (&*candidates, asks) {
        ([], _) => Ok(None),
        ([first, _, ..], true) => {
            let question = format!("provider for new threads [{first}]: ");
            let answer = ask(&question)?;
            match answer.as_str() {
                "" => Ok(Some(first.clone())),
                known if candidates.iter().any(|one| one == known) => Ok(Some(answer)),
                _ => {
                    Err(Failure::new(format!("{answer:?} is not one of {}", candidates.join(", ")))
                        .hint("nothing was written"))
                }
            }
        }
        ([first, ..], _) => Ok(Some(first.clone())),
    }
}

/// Who could answer, the best first: a key that is there, an agent that is installed, a server that has
/// models.
fn candidates(found: &Found) -> Vec<String> {
    let keys = found.keys.iter().map(|key| key.provider);
    let agents = found.agents.iter().filter(|agent| agent.command.is_some());
    let servers = found.servers.iter().filter(|server| !server.models.is_empty());
    let all =
        keys.chain(agents.map(|agent| agent.provider)).chain(servers.map(|server| server.provider));
    all.map(str::to_owned).collect()
}

/// What is written into the settings: nothing that is there already.
fn change(present: &Present, found: &Found, provider: Option<&str>) -> Change {
    let is_new = |id: &str| present.providers.iter().all(|known| known != id);
    let agents = found.agents.iter().filter(|agent| is_new(agent.provider));
    let agents = agents.filter_map(|agent| {
        agent.command.clone().map(|command| (agent.provider.to_owned(), command))
    });
    let servers = found.servers.iter().filter(|server| !server.is_usual && is_new(server.provider));
    Change {
        provider: provider.filter(|id| present.provider.as_deref() != Some(id)).map(str::to_owned),
        agents: agents.collect(),
        base_urls: servers
            .map(|server| (server.provider.to_owned(), server.base_url.clone()))
            .collect(),
    }
}

/// Asks for a line.
fn ask(question: &str) -> Outcome<String> {
    let mut stderr = io::stderr().lock();
    let asked = stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush());
    asked.map_err(Failure::doing("cannot ask"))?;
    let mut answer = String::new();
    let read = io::stdin().lock().take(LONGEST_ANSWER).read_line(&mut answer);
    read.map_err(Failure::doing("cannot read the answer"))?;
    Ok(answer.trim().to_ascii_lowercase())
}

fn is_yes(answer: &str) -> bool {
    matches!(answer, "y" | "yes")
}

fn agree() -> Outcome<()> {
    if !io::stdin().is_terminal() {
        return Err(Failure::new("nothing was written, because there is no terminal to ask on")
            .hint("confirm with --yes, or only look with --dry-run"));
    }
    match is_yes(&ask("write this? [y/N] ")?) {
        true => Ok(()),
        false => Err(Failure::new("nothing was written")),
    }
}

/// Lets a daemon that runs read the settings anew, unless that would disturb a turn.
async fn take_effect(homes: &Homes) -> Outcome<()> {
    let Some(client) = link::try_connect_own(homes).await? else { return Ok(()) };
    // Those at work were used last.
    let threads = link::call(&client, ThreadList::default()).await?.threads;
    if threads.iter().any(|thread| thread.status.turn.is_some()) {
        output::note("an agent is working; run `rookery restart` later to apply the change");
        return Ok(());
    }
    down::stop(homes, &client, restart::RESTART).await?;
    daemon_process::ensure(homes).await?;
    output::note("the daemon was restarted; terminals keep running");
    Ok(())
}

#[cfg(test)]
mod tests {
    use rookery_daemon::setup::{FoundAgent, FoundKey, FoundServer};

    use super::*;

    fn found() -> Found {
        let agent = |provider, command: Option<&str>| FoundAgent {
            provider,
            name: provider,
            path: PathBuf::from("/bin/x"),
            command: command.map(|command| vec![command.to_owned()]),
            adapter: None,
            has_hooks: false,
        };
        Found {
            keys: vec![FoundKey { provider: "xai", name: "xAI", variable: "XAI_API_KEY" }],
            agents: vec![agent("codex", None), agent("goose", Some("goose"))],
            servers: vec![FoundServer {
                provider: "ollama",
                name: "Ollama",
                base_url: "http://127.0.0.1:9/v1".to_owned(),
                is_usual: false,
                models: vec!["llama".to_owned()],
            }],
        }
    }

    fn present(provider: Option<&str>, providers: &[&str]) -> Present {
        Present {
            file: PathBuf::new(),
            provider: provider.map(str::to_owned),
            providers: providers.iter().map(|&id| id.to_owned()).collect(),
        }
    }

    #[test]
    fn a_key_comes_before_an_agent_and_that_before_a_server() {
        assert_eq!(candidates(&found()), ["xai", "goose", "ollama"]);
        assert!(candidates(&Found::default()).is_empty());
    }

    #[test]
    fn what_is_set_stays() {
        let new = change(&present(None, &[]), &found(), Some("xai"));
        assert_eq!(new.provider.as_deref(), Some("xai"));
        assert_eq!(new.agents, [("goose".to_owned(), vec!["goose".to_owned()])]);
        assert_eq!(new.base_urls.len(), 1);
        let all = present(Some("xai"), &["goose", "ollama"]);
        assert_eq!(change(&all, &found(), Some("xai")), Change::default());
        assert_eq!(change(&all, &found(), None), Change::default());
    }
}
