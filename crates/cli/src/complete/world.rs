//! What the daemon knows, asked for within the time that is left. A daemon that does not run is not started, and one
//! that does not answer has nothing to offer.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rookery_host::{find_program, known_agents};
use rookery_native::wire::{
    CheckpointList, Checkpoints, HandoffList, HandoffStatus, Handoffs, ListProjects, ListProviders,
    ModelList, Models, POLICY, ProjectList, Providers, Queue, QueueList, RequestList, Requests,
    ReviewList, ReviewStatus, Reviews, SessionList, Sessions, TaskList, Tasks, TerminalFilter,
    TerminalList, ThreadList, Threads, WorktreeList, Worktrees,
};
use rookery_wire::{Call, Client};

use super::{candidate::Offer, kind::Kind, line::Place};
use crate::{
    commands::{
        self,
        roo::known::{Known, known as roo_known},
    },
    link,
    talk::{mode, requests, sessions::current_dir, show},
};

/// Threads that are looked at, the last used first.
const THREADS: usize = 200;
/// Signals that are sent by hand.
const SIGNALS: &[&str] =
    &["INT", "TERM", "HUP", "KILL", "QUIT", "USR1", "USR2", "STOP", "CONT", "WINCH"];

/// Who decides, besides people at this command line.
fn deciders() -> impl Iterator<Item = &'static str> {
    [POLICY].into_iter().chain(rookery_dialects::listening().map(|dialect| dialect.endpoint.name))
}

/// Offers what there is of a kind.
pub(super) fn offer(kind: Kind, place: &Place, until: Instant, offer: &mut Offer<'_>) {
    match kind {
        Kind::Mode => modes(offer),
        Kind::Signal => SIGNALS.iter().for_each(|name| offer.add_named(&[name], "")),
        Kind::Tool => tools(offer),
        Kind::Who => deciders().for_each(|name| offer.add_named(&[name], "")),
        _ => {
            let left = until.saturating_duration_since(Instant::now());
            // An error message would disturb the line that is being typed.
            let _ = ask(kind, place, left, offer);
        }
    }
}

fn modes(offer: &mut Offer<'_>) {
    for name in mode::accepted().split(", ") {
        // Of the spellings of a mode only the one that is shown everywhere.
        if mode::read(name).is_some_and(|mode| mode::word(mode) == name) {
            offer.add_named(&[name], "");
        }
    }
}

/// Agents; the daemon may find more than this environment says.
fn tools(offer: &mut Offer<'_>) {
    let path = std::env::var_os("PATH");
    let find = |name: &str| find_program(name.as_ref(), path.as_deref(), Path::new("/"));
    for tool in known_agents().iter().filter(|tool| !tool.programs.is_empty()) {
        let is_here = tool.programs.iter().any(|name| find(name).is_some());
        let note = (!is_here).then_some("not in PATH");
        offer.add_named(&[&tool.id], &joined(&[Some(&*tool.name), note]));
    }
}

fn ask(kind: Kind, place: &Place, left: Duration, offer: &mut Offer<'_>) -> Option<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let asked = async {
        if let Some(what) = of_tasks(kind) {
            return tasks(what, offer).await;
        }
        let client = link::try_reach(&link::homes().ok()?).await?;
        known(&client, kind, place, offer).await
    };
    let done = runtime.block_on(async { tokio::time::timeout(left, asked).await });
    runtime.shutdown_background();
    done.ok()?
}

/// What is asked for in the words of Roo Code.
fn of_tasks(kind: Kind) -> Option<Known> {
    match kind {
        Kind::Task => Some(Known::Tasks),
        Kind::Slug => Some(Known::Modes),
        Kind::Profile => Some(Known::Profiles),
        _ => None,
    }
}

async fn tasks(what: Known, offer: &mut Offer<'_>) -> Option<()> {
    for (name, about) in roo_known(what).await? {
        match what {
            Known::Tasks => offer.add_named(&[show::short_id(&name), &name], &about),
            Known::Modes | Known::Profiles => offer.add_named(&[&name], &about),
        }
    }
    Some(())
}

async fn call<P: Call>(client: &Client, params: P) -> Option<P::Reply> {
    client.send(params).await.ok()
}

async fn known(client: &Client, kind: Kind, place: &Place, offer: &mut Offer<'_>) -> Option<()> {
    match kind {
        Kind::Terminal => terminals(client, offer).await,
        Kind::Thread => threads(client, false, offer).await,
        Kind::Archived => threads(client, true, offer).await,
        Kind::Request => pending(client, offer).await,
        Kind::Item => items(client, offer).await,
        Kind::Review => reviews(client, offer).await,
        Kind::Checkpoint => checkpoints(client, offer).await,
        Kind::Background => background(client, offer).await,
        Kind::Handoff => handoffs(client, offer).await,
        Kind::Session => sessions(client, offer).await,
        Kind::Project => projects(client, offer).await,
        Kind::Worktree | Kind::Branch => worktrees(client, kind, offer).await,
        Kind::Provider => providers(client, offer).await,
        Kind::Model => models(client, place, offer).await,
        Kind::Effort => efforts(client, place, offer).await,
        Kind::Mode | Kind::Signal | Kind::Tool | Kind::Who => Some(()),
        Kind::Task | Kind::Slug | Kind::Profile => None,
    }
}

async fn terminals(client: &Client, offer: &mut Offer<'_>) -> Option<()> {
    let list: TerminalList = call(client, TerminalFilter::default()).await?;
    let titles: Vec<&str> = list.terminals.iter().map(|terminal| &*terminal.title).collect();
    for terminal in &list.terminals {
        let state = commands::terminal_state(terminal);
        let agent = terminal.agent.as_ref().map(|agent| &*agent.kind);
        let parts = [Some(&*terminal.title), agent, Some(&*state)];
        let id = terminal.id.to_string();
        let is_only = titles.iter().filter(|title| **title == terminal.title).count() == 1;
        // A title that looks like a number would mean another terminal.
        let title = Some(&*terminal.title).filter(|title| is_only && is_name(title));
        let names = [Some(&*id), title, Some(&*terminal.uuid)];
        offer.add_named(&present(&names), &joined(&parts));
    }
    Some(())
}

async fn threads(client: &Client, archived: bool, offer: &mut Offer<'_>) -> Option<()> {
    let params = ThreadList { limit: Some(THREADS), archived, ..ThreadList::default() };
    let list: Threads = call(client, params).await?;
    let ends: Vec<&str> = list.threads.iter().map(|thread| show::short_id(&thread.id)).collect();
    let names: Vec<_> = list.threads.iter().map(|thread| thread.name.as_deref()).collect();
    for (thread, end) in list.threads.iter().zip(&ends) {
        let (_, state) = show::status(&thread.status);
        let about = joined(&[
            Some(&*show::title(thread)),
            Some(&*state),
            Some(&*show::model(&thread.choice)),
        ]);
        let end = Some(*end).filter(|end| ends.iter().filter(|other| *other == end).count() == 1);
        let name = thread.name.as_deref();
        let name =
            name.filter(|name| names.iter().filter(|other| **other == Some(*name)).count() == 1);
        offer.add_named(&present(&[end, Some(&*thread.id), name]), &about);
    }
    Some(())
}

async fn pending(client: &Client, offer: &mut Offer<'_>) -> Option<()> {
    let list: Requests = call(client, RequestList::default()).await?;
    let ids = list.requests.iter().map(|request| &*request.id);
    for request in &list.requests {
        let short = requests::short_id(&request.id, ids.clone());
        let about =
            joined(&[Some(requests::kind(request.kind)), Some(&*requests::summary(request))]);
        offer.add_named(&[short, &*request.id], &about);
    }
    Some(())
}

async fn items(client: &Client, offer: &mut Offer<'_>) -> Option<()> {
    let list: Queue = call(client, QueueList::default()).await?;
    let ids = list.items.iter().map(|entry| &*entry.item.id);
    for entry in &list.items {
        let short = requests::short_id(&entry.item.id, ids.clone());
        let item = &entry.item;
        let about = [Some(&*item.title), item.subtitle.as_deref(), entry.session_title.as_deref()];
        let about = joined(&about);
        offer.add_named(&[short, &*entry.item.id], &about);
    }
    Some(())
}

async fn reviews(client: &Client, offer: &mut Offer<'_>) -> Option<()> {
    let params = ReviewList { session: None, tree: None, status: None };
    let mut list: Reviews = call(client, params).await?;
    list.reviews.retain(|review| review.status != ReviewStatus::Approved);
    let all = list.reviews.iter().map(|one| (&*one.id, one.summary.clone()));
    by_end(&all.collect::<Vec<_>>(), offer);
    Some(())
}

async fn checkpoints(client: &Client, offer: &mut Offer<'_>) -> Option<()> {
    let params = CheckpointList { session: None, tree: None };
    let list: Checkpoints = call(client, params).await?;
    let about = |title: &str, branch: Option<&str>| joined(&[Some(title), branch]);
    let all =
        list.checkpoints.iter().map(|one| (&*one.id, about(&one.title, one.branch.as_deref())));
    by_end(&all.collect::<Vec<_>>(), offer);
    Some(())
}

async fn background(client: &Client, offer: &mut Offer<'_>) -> Option<()> {
    let list: Tasks = call(client, TaskList::default()).await?;
    let all = list.tasks.iter().map(|one| (&*one.id, one.summary.clone()));
    by_end(&all.collect::<Vec<_>>(), offer);
    Some(())
}

async fn handoffs(client: &Client, offer: &mut Offer<'_>) -> Option<()> {
    let mut list: Handoffs = call(client, HandoffList { session: None, tree: None }).await?;
    list.handoffs.retain(|one| one.status != HandoffStatus::Resolved);
    let all = list.handoffs.iter().map(|one| (&*one.id, one.title.clone()));
    by_end(&all.collect::<Vec<_>>(), offer);
    Some(())
}

/// Things that the ends of their ids name.
fn by_end(all: &[(&str, String)], offer: &mut Offer<'_>) {
    let ids = all.iter().map(|(id, _)| *id);
    for (id, about) in all {
        offer.add_named(&[requests::short_id(id, ids.clone()), id], about);
    }
}

async fn sessions(client: &Client, offer: &mut Offer<'_>) -> Option<()> {
    let list: Sessions = call(client, SessionList::default()).await?;
    let titles: Vec<&str> = list.sessions.iter().map(|session| &*session.title).collect();
    for session in &list.sessions {
        let is_only = titles.iter().filter(|title| **title == session.title).count() == 1;
        let title = Some(&*session.title).filter(|_| is_only);
        let about = joined(&[Some(&*session.title), Some(&*session.cwd)]);
        offer.add_named(&present(&[Some(&*session.id), title]), &about);
    }
    Some(())
}

async fn projects(client: &Client, offer: &mut Offer<'_>) -> Option<()> {
    let list: ProjectList = call(client, ListProjects).await?;
    let names: Vec<&str> = list.projects.iter().map(|project| &*project.name).collect();
    for project in &list.projects {
        let is_only = names.iter().filter(|name| **name == project.name).count() == 1;
        let name = Some(&*project.name).filter(|name| is_only && is_name(name));
        let id = project.id.to_string();
        let about = joined(&[Some(&*project.name), Some(&*project.root)]);
        offer.add_named(&present(&[Some(&*id), name]), &about);
    }
    Some(())
}

/// Branches of worktrees; the repository's own checkout is none that could be landed or removed.
async fn worktrees(client: &Client, kind: Kind, offer: &mut Offer<'_>) -> Option<()> {
    let params = WorktreeList { repo: current_dir().ok()? };
    let list: Worktrees = call(client, params).await?;
    for one in list.worktrees.iter().filter(|one| kind == Kind::Branch || !one.main) {
        if let Some(branch) = &one.branch {
            offer.add_named(&[branch], &one.path);
        }
    }
    Some(())
}

async fn providers(client: &Client, offer: &mut Offer<'_>) -> Option<()> {
    let list: Providers = call(client, ListProviders).await?;
    for provider in &list.providers {
        let note = (!provider.usable).then_some("has no key");
        offer.add_named(&[&provider.id], &joined(&[Some(&*provider.name), note]));
    }
    Some(())
}

/// The models of the provider that the line names, else of the one that answers in new threads.
async fn of_provider(client: &Client, place: &Place) -> Option<Models> {
    call(client, ModelList { provider: place.provider.clone() }).await
}

async fn models(client: &Client, place: &Place, offer: &mut Offer<'_>) -> Option<()> {
    let list = of_provider(client, place).await?;
    for model in &list.models {
        offer.add_named(&[&model.id], &joined(&[Some(&*model.name), Some(&*list.provider)]));
    }
    Some(())
}

async fn efforts(client: &Client, place: &Place, offer: &mut Offer<'_>) -> Option<()> {
    for model in of_provider(client, place).await?.models {
        model.reasoning.iter().for_each(|effort| offer.add_named(&[effort], ""));
    }
    Some(())
}

/// Whether a name cannot be taken for an id.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.parse::<rookery_native::TerminalRef>().is_err()
}

fn present<'a>(names: &[Option<&'a str>]) -> Vec<&'a str> {
    names.iter().copied().flatten().collect()
}

/// What is known of something, in one line.
fn joined(parts: &[Option<&str>]) -> String {
    let parts = parts.iter().flatten().filter(|part| !part.is_empty());
    parts.copied().collect::<Vec<_>>().join(" · ")
}
