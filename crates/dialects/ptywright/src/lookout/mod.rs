//! The lookout: reads the screens of agents for dialogs, tells the world of them, and types what was
//! decided, as long as the very dialog still stands there.
//!
//! It looks through an eye of its own for each adapter, so that what clients of this dialect are told
//! (marks, events, the dialog of the last classification) does not depend on it.

mod eye;
mod reading;

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rookery_core::{AgentSeen, Core, Progress, SeenDialog, Shown, TerminalHandle, Typing, Typist};
use rookery_model::TerminalId;
use tokio::{sync::broadcast::error::RecvError, time::timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::{adapters::Adapter, context::Shared};
use eye::Eye;

/// Which plugin knows which program.
const PLUGINS: &[(&str, &str)] = &[
    ("aider", "aider"),
    ("claude", "claude-code"),
    ("codex", "codex"),
    ("gemini", "gemini-cli"),
    ("gemini-cli", "gemini-cli"),
    ("opencode", "opencode"),
];

/// The eyes, by the terminal that each looks at.
#[derive(Default)]
pub(crate) struct Lookout(Mutex<HashMap<TerminalId, Arc<Eye>>>);

impl Lookout {
    fn eye(&self, terminal: TerminalId) -> Option<Arc<Eye>> {
        self.0.lock().get(&terminal).cloned()
    }
}

/// An adapter that is looked through.
struct Watching {
    terminal: TerminalId,
    task: AbortOnDropHandle<()>,
}

impl Watching {
    /// Looks no more, and tells nothing that it has just seen.
    async fn end(self) -> TerminalId {
        self.task.abort();
        // Cancelled is what was wanted; a panic was reported where it happened.
        let _ = self.task.await;
        self.terminal
    }
}

/// Reads screens until it is dropped.
pub async fn watch_screens(core: Core, shared: Arc<Shared>) {
    core.requests().set_responder(Arc::new(Hand(Arc::clone(&shared))));
    let mut watching: HashMap<String, Watching> = HashMap::new();
    let (mut adapters, mut terminals) = (shared.adapters.roster(), core.terminals().roster());
    let mut agents = core.terminals().agents_seen();
    forget_unread(&core, &shared).await;
    loop {
        adapters.mark_unchanged();
        terminals.mark_unchanged();
        reconcile(&core, &shared, &mut watching).await;
        tokio::select! {
            changed = adapters.changed() => if changed.is_err() { return },
            changed = terminals.changed() => if changed.is_err() { return },
            seen = agents.recv() => match seen {
                Ok(seen) => follow(&core, &shared, seen).await,
                // Whoever was started meanwhile is seen when it says something of itself.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
        }
    }
}

/// Dialogs of the last daemon on terminals that nobody reads any more are taken back.
async fn forget_unread(core: &Core, shared: &Shared) {
    let read: Vec<TerminalId> =
        shared.adapters.all(core).iter().map(|adapter| adapter.terminal).collect();
    for terminal in core.terminals().list() {
        if !read.contains(&terminal.id) {
            tell(core, terminal.id, None).await;
        }
    }
}

/// Looks through every adapter there is, and through none that is gone.
async fn reconcile(core: &Core, shared: &Arc<Shared>, watching: &mut HashMap<String, Watching>) {
    let live = shared.adapters.all(core);
    let is_live = |id: &str| live.iter().any(|adapter| adapter.id == id);
    let gone: Vec<String> = watching.keys().filter(|id| !is_live(id)).cloned().collect();
    for id in gone {
        if let Some(over) = watching.remove(&id) {
            let terminal = over.end().await;
            shared.lookout.0.lock().remove(&terminal);
            tell(core, terminal, None).await;
        }
    }
    for adapter in live {
        let is_read = watching.values().any(|one| one.terminal == adapter.terminal);
        if watching.contains_key(&adapter.id) || is_read {
            continue;
        }
        let Ok(session) = core.terminals().get(adapter.terminal) else { continue };
        let (id, terminal) = (adapter.id.clone(), adapter.terminal);
        let Some(eye) = Eye::open(shared, adapter).await.map(Arc::new) else { continue };
        shared.lookout.0.lock().insert(terminal, Arc::clone(&eye));
        let task = tokio::spawn(read(core.clone(), Arc::clone(shared), eye, session));
        watching.insert(id, Watching { terminal, task: AbortOnDropHandle::new(task) });
    }
}

/// Reads one screen whenever it has changed.
async fn read(core: Core, shared: Arc<Shared>, eye: Arc<Eye>, session: TerminalHandle) {
    let mut progress = session.progress();
    loop {
        progress.mark_unchanged();
        let reading = eye.look(&core, &shared, &session).await;
        if let Some(state) = reading.as_ref().map(|reading| reading.state) {
            // A terminal that is gone needs no state.
            let _ = core.terminals().show_agent_state(session.id(), state);
        }
        let seen = reading.and_then(|reading| reading.seen);
        let again = tell(&core, session.id(), seen.map(|seen| seen.dialog)).await;
        match timeout(again.unwrap_or(Duration::MAX), progress.changed()).await {
            Ok(Err(_)) => return,
            Ok(Ok(())) => Progress::settle(&mut progress).await,
            // It was answered and stands there still.
            Err(_) => {}
        }
    }
}

/// Tells what stands on a screen; and when to look again, if that is to be done.
async fn tell(core: &Core, terminal: TerminalId, seen: Option<SeenDialog>) -> Option<Duration> {
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
async fn follow(core: &Core, shared: &Arc<Shared>, seen: AgentSeen) {
    let AgentSeen { terminal, agent, is_running } = seen;
    let there = shared.adapters.all(core);
    let there: Vec<&Arc<Adapter>> = there.iter().filter(|one| one.terminal == terminal).collect();
    let plugin = PLUGINS.iter().find(|(program, _)| *program == agent).map(|(_, plugin)| *plugin);
    match plugin {
        Some(plugin) if is_running && there.is_empty() => {
            let Some(version) = shared.plugins.get(plugin) else { return };
            if let Err(error) = shared.join(version, terminal, true).await {
                tracing::warn!(error = error.message, plugin, "an agent has no adapter");
                return;
            }
        }
        _ if !is_running => {
            for guest in there.into_iter().filter(|adapter| adapter.is_guest) {
                shared.adapters.remove(&guest.id);
            }
        }
        _ => return,
    }
    shared.save_adapters(core).await;
}

/// The eye on a terminal. Right after a start it may not be open yet.
async fn eye_on(core: &Core, shared: &Arc<Shared>, terminal: TerminalId) -> Option<Arc<Eye>> {
    if let Some(eye) = shared.lookout.eye(terminal) {
        return Some(eye);
    }
    let adapters = shared.adapters.all(core);
    let adapter = adapters.into_iter().find(|adapter| adapter.terminal == terminal)?;
    Eye::open(shared, adapter).await.map(Arc::new)
}

/// Types answers.
struct Hand(Arc<Shared>);

impl Typist for Hand {
    fn answer(&self, core: &Core, terminal: TerminalId, dialog: &str, is_yes: bool) -> Typing {
        let (shared, core, dialog) = (Arc::clone(&self.0), core.clone(), dialog.to_owned());
        Box::pin(async move {
            let Some(eye) = eye_on(&core, &shared, terminal).await else { return Ok(false) };
            let session = core.terminals().get(terminal)?;
            eye.answer(&core, &shared, &session, &dialog, is_yes).await
        })
    }
}
