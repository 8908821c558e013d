//! The screen watcher: reads the screens of agents for dialogs, tells the world of them, and types
//! what was decided, as long as the very dialog still stands there.
//!
//! It has a reader of its own for each adapter, so that what clients are informed of an adapter (marks,
//! events, the dialog of the last classification) does not depend on it.

mod reader;
mod reading;

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rookery_core::{
    AgentSeen, Core, Progress, Responder, SeenDialog, Shown, TerminalHandle, Typing,
};
use rookery_host::agent_of_program;
use rookery_model::TerminalId;
use tokio::{sync::broadcast::error::RecvError, time::timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::adapters::{Adapter, Adapters};
use reader::Reader;

/// The readers, by the terminal that each reads.
#[derive(Default)]
pub(crate) struct Readers(Mutex<HashMap<TerminalId, Arc<Reader>>>);

impl Readers {
    fn get(&self, terminal: TerminalId) -> Option<Arc<Reader>> {
        self.0.lock().get(&terminal).cloned()
    }
}

/// An adapter whose screen is read.
struct Watching {
    terminal: TerminalId,
    task: AbortOnDropHandle<()>,
}

impl Watching {
    /// Reads no more, and tells nothing that it has just seen.
    async fn end(self) -> TerminalId {
        self.task.abort();
        // Cancelled is what was wanted; a panic was reported where it happened.
        let _ = self.task.await;
        self.terminal
    }
}

/// Reads screens until it is dropped.
pub async fn watch_screens(core: Core, adapters: Arc<Adapters>) {
    core.requests().set_responder(Arc::new(Keyboard(Arc::clone(&adapters))));
    let mut watching: HashMap<String, Watching> = HashMap::new();
    let (mut roster, mut terminals) = (adapters.roster(), core.terminals().roster());
    let mut agents = core.terminals().agents_seen();
    forget_unread(&core, &adapters).await;
    loop {
        roster.mark_unchanged();
        terminals.mark_unchanged();
        reconcile(&core, &adapters, &mut watching).await;
        tokio::select! {
            changed = roster.changed() => if changed.is_err() { return },
            changed = terminals.changed() => if changed.is_err() { return },
            seen = agents.recv() => match seen {
                Ok(seen) => follow(&core, &adapters, seen).await,
                // Whoever was started meanwhile is seen when it says something of itself.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
        }
    }
}

/// Dialogs of the last daemon on terminals that are not watched any more are taken back.
async fn forget_unread(core: &Core, adapters: &Adapters) {
    let read: Vec<TerminalId> = adapters.all(core).iter().map(|adapter| adapter.terminal).collect();
    for terminal in core.terminals().list() {
        if !read.contains(&terminal.id) {
            report(core, terminal.id, None).await;
        }
    }
}

/// Reads the screen of every adapter there is, and of none that is gone.
async fn reconcile(
    core: &Core,
    adapters: &Arc<Adapters>,
    watching: &mut HashMap<String, Watching>,
) {
    let live = adapters.all(core);
    let is_live = |id: &str| live.iter().any(|adapter| adapter.id == id);
    let gone: Vec<String> = watching.keys().filter(|id| !is_live(id)).cloned().collect();
    for id in gone {
        if let Some(over) = watching.remove(&id) {
            let terminal = over.end().await;
            adapters.readers.0.lock().remove(&terminal);
            report(core, terminal, None).await;
        }
    }
    for adapter in live {
        let is_read = watching.values().any(|one| one.terminal == adapter.terminal);
        if watching.contains_key(&adapter.id) || is_read {
            continue;
        }
        let Ok(session) = core.terminals().get(adapter.terminal) else { continue };
        let (id, terminal) = (adapter.id.clone(), adapter.terminal);
        let Some(reader) = Reader::open(adapters, adapter).await.map(Arc::new) else { continue };
        adapters.readers.0.lock().insert(terminal, Arc::clone(&reader));
        let task = tokio::spawn(read(core.clone(), Arc::clone(adapters), reader, session));
        watching.insert(id, Watching { terminal, task: AbortOnDropHandle::new(task) });
    }
}

/// Reads one screen whenever it has changed.
async fn read(core: Core, adapters: Arc<Adapters>, reader: Arc<Reader>, session: TerminalHandle) {
    let mut progress = session.progress();
    loop {
        progress.mark_unchanged();
        let reading = reader.look(&core, &adapters, &session).await;
        if let Some(state) = reading.as_ref().map(|reading| reading.state) {
            // A terminal that is gone needs no state.
            let _ = core.terminals().show_agent_state(session.id(), state);
        }
        let seen = reading.and_then(|reading| reading.seen);
        let again = report(&core, session.id(), seen.map(|seen| seen.dialog)).await;
        match timeout(again.unwrap_or(Duration::MAX), progress.changed()).await {
            Ok(Err(_)) => return,
            Ok(Ok(())) => Progress::settle(&mut progress).await,
            // It was answered and stands there still.
            Err(_) => {}
        }
    }
}

/// Tells what stands on a screen; and when to look again, if that is to be done.
async fn report(core: &Core, terminal: TerminalId, seen: Option<SeenDialog>) -> Option<Duration> {
    match core.requests().show_dialog(terminal, seen).await {
        Ok(Shown::Known) => None,
        Ok(Shown::Answered(left)) => Some(left),
        Err(error) => {
            tracing::warn!(%error, %terminal, "what stands on a screen was not told");
            None
        }
    }
}

/// An agent was started in a terminal, or has ended there: its adapter comes and goes with it.
async fn follow(core: &Core, adapters: &Arc<Adapters>, seen: AgentSeen) {
    let AgentSeen { terminal, agent, is_running } = seen;
    let there = adapters.all(core);
    let there: Vec<&Arc<Adapter>> = there.iter().filter(|one| one.terminal == terminal).collect();
    let plugin = agent_of_program(&agent).and_then(|agent| agent.adapter.as_deref());
    match plugin {
        Some(plugin) if is_running && there.is_empty() => {
            let Some(version) = adapters.plugins().get(plugin) else { return };
            if let Err(error) = adapters.join(version, terminal, true).await {
                tracing::warn!(%error, plugin, "an agent has no adapter");
                return;
            }
        }
        _ if !is_running => {
            for guest in there.into_iter().filter(|adapter| adapter.has_program) {
                adapters.remove(&guest.id);
            }
        }
        _ => return,
    }
    adapters.save(core).await;
}

/// The reader of a terminal. Right after a start it may not be open yet.
async fn reader_of(
    core: &Core,
    adapters: &Arc<Adapters>,
    terminal: TerminalId,
) -> Option<Arc<Reader>> {
    if let Some(reader) = adapters.readers.get(terminal) {
        return Some(reader);
    }
    let live = adapters.all(core);
    let adapter = live.into_iter().find(|adapter| adapter.terminal == terminal)?;
    Reader::open(adapters, adapter).await.map(Arc::new)
}

/// Types answers to dialogs.
struct Keyboard(Arc<Adapters>);

impl Responder for Keyboard {
    fn answer(&self, core: &Core, terminal: TerminalId, dialog: &str, is_yes: bool) -> Typing {
        let (adapters, core, dialog) = (Arc::clone(&self.0), core.clone(), dialog.to_owned());
        Box::pin(async move {
            let Some(reader) = reader_of(&core, &adapters, terminal).await else {
                return Ok(false);
            };
            let session = core.terminals().get(terminal)?;
            reader.answer(&core, &adapters, &session, &dialog, is_yes).await
        })
    }
}

#[cfg(test)]
mod tests {
    use rookery_host::{agent_of_program, known_agents};
    use rookery_plugins::shipped;

    #[test]
    fn every_adapter_of_the_list_is_shipped_and_starts_its_agent() {
        for agent in known_agents() {
            let Some(adapter) = &agent.adapter else { continue };
            let plugin = shipped().into_iter().find(|one| one.manifest().name == *adapter);
            let target = plugin.and_then(|plugin| plugin.manifest().default_target.clone());
            let program = target.unwrap_or_else(|| panic!("{adapter} starts nothing")).program;
            assert!(agent.programs.contains(&program), "{adapter} starts {program}");
        }
    }

    #[test]
    fn every_shipped_adapter_of_an_agent_is_in_the_list() {
        for plugin in shipped() {
            let manifest = plugin.manifest();
            let program = manifest.default_target.as_ref().map_or("", |target| &target.program);
            let adapter = agent_of_program(program).and_then(|agent| agent.adapter.as_deref());
            // The one for shells reads no agent.
            let expected = (manifest.name != "shell").then_some(manifest.name.as_str());
            assert_eq!(adapter, expected, "{}", manifest.name);
        }
    }
}
