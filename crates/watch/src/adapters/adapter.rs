//! One adapter: its plugin at work on its session.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use rookery_core::Scene;
use rookery_model::TerminalId;
use rookery_plugins::{
    Block, BlockKind, Context, Instance, Intent, Limits, Permission, Plugin, PluginError, State,
    split_screen,
};
use rookery_term::{Snapshot, Tail, osc::ShellMark};
use serde_json::Value;

use super::AdapterError;
use crate::{marks::Marks, plugins::Version, secrets::Secrets};

/// How long a screen must be still for a turn to count as done, in milliseconds.
pub const TURN_STABLE_MS: u64 = 300;

/// A session joined to a plugin.
pub struct Adapter {
    /// Its name in this world, such as `e1`.
    pub id: String,
    /// Its session.
    pub terminal: TerminalId,
    /// Whether the terminal has a program of its own, such as a shell in which the agent runs.
    pub has_program: bool,
    /// What the manifest permitted at the start; a changed plugin cannot widen it.
    pub permissions: Vec<Permission>,
    name: String,
    machine: Mutex<Machine>,
    last_intent: Mutex<Option<String>>,
    /// Held while an intent is worked out and typed, so that two do not mix.
    pub typing: tokio::sync::Mutex<()>,
}

/// The plugin's virtual machine, and which version of the plugin runs in it.
struct Machine {
    instance: Instance,
    version: u64,
}

/// What a plugin judges: a session at one moment.
pub struct Observation {
    /// The screen.
    pub snapshot: Arc<Snapshot>,
    /// What the program wrote, as far as it is kept.
    pub transcript: Tail,
    /// How many characters were ever written.
    pub chars_written: u64,
    /// The marks that a shell sets around its prompts.
    pub shell_marks: Vec<ShellMark>,
    /// Whether the program has ended.
    pub has_exited: bool,
    /// How long nothing was printed, if that was measured.
    pub stable_ms: Option<u64>,
}

impl Observation {
    pub fn secrets(&self) -> Secrets {
        let (screen, tail) = (&self.snapshot, &self.transcript);
        let transcript = (tail.context(), tail.text());
        Secrets::of(&[(screen.above(), screen.plain_text()), transcript])
    }
}

impl From<Scene> for Observation {
    fn from(scene: Scene) -> Self {
        Self {
            snapshot: scene.snapshot,
            transcript: scene.transcript,
            chars_written: scene.chars_written,
            shell_marks: scene.shell_marks,
            has_exited: scene.has_exited,
            stable_ms: None,
        }
    }
}

impl Adapter {
    /// Starts the plugin for a session. Runs Lua, so it may block.
    ///
    /// # Errors
    /// If the plugin does not start.
    pub fn start(
        id: String,
        terminal: TerminalId,
        version: &Version,
        permissions: Vec<Permission>,
        last_intent: Option<String>,
    ) -> Result<Self, PluginError> {
        let plugin = version.plugin.restricted(&permissions);
        let instance = Instance::start(&plugin, Limits::default())?;
        Ok(Self {
            id,
            terminal,
            has_program: false,
            permissions,
            name: plugin.manifest().name.clone(),
            machine: Mutex::new(Machine { instance, version: version.number }),
            last_intent: Mutex::new(last_intent),
            typing: tokio::sync::Mutex::new(()),
        })
    }

    /// The same, on a terminal that has a program of its own or not.
    #[must_use]
    pub fn with_program(self, has_program: bool) -> Self {
        Self { has_program, ..self }
    }

    /// The plugin's name.
    pub fn plugin_name(&self) -> &str {
        &self.name
    }

    /// What the last intent was about.
    pub fn last_intent(&self) -> Option<String> {
        self.last_intent.lock().clone()
    }

    /// Remembers what an intent was about: absent keeps, empty clears. True if that changed anything.
    pub fn set_last_intent(&self, intent: Option<String>) -> bool {
        let Some(intent) = intent else { return false };
        let intent = Some(intent).filter(|intent| !intent.is_empty());
        std::mem::replace(&mut *self.last_intent.lock(), intent.clone()) != intent
    }

    /// What the plugin would do about an intent.
    ///
    /// # Errors
    /// If the plugin fails.
    pub async fn intent(
        self: &Arc<Self>,
        version: Version,
        name: String,
        params: Value,
    ) -> Result<Intent, AdapterError> {
        self.run(version, move |instance| instance.intent(&name, &params)).await
    }

    /// The matcher that the plugin would wait for.
    ///
    /// # Errors
    /// If the plugin fails.
    pub async fn matcher(
        self: &Arc<Self>,
        version: Version,
        name: String,
        params: Value,
    ) -> Result<Value, AdapterError> {
        self.run(version, move |instance| instance.matcher(&name, &params)).await
    }

    /// What the plugin makes of a session, with what happened after the last event that the caller
    /// knows of. Marks that it asks for are set.
    ///
    /// # Errors
    /// If the plugin fails.
    pub async fn classify(
        self: &Arc<Self>,
        version: Version,
        observation: Observation,
        marks: &Marks,
        last_event: Option<u64>,
    ) -> Result<State, AdapterError> {
        let markers = marks.of(self.terminal);
        let last_intent = self.last_intent();
        let cursor = observation.chars_written;
        let state = self
            .run(version, move |instance| {
                judge(instance, &observation, &markers, last_intent.as_deref(), last_event)
            })
            .await?;
        for mark in &state.host_marks {
            marks.set(self.terminal, mark.label.clone(), cursor);
        }
        Ok(state)
    }

    /// Runs the plugin where blocking is allowed.
    async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        version: Version,
        call: impl FnOnce(&mut Instance) -> Result<T, PluginError> + Send + 'static,
    ) -> Result<T, AdapterError> {
        let adapter = Arc::clone(self);
        let work = move || {
            let mut machine = adapter.machine.lock();
            machine.renew(&version, &adapter.permissions);
            call(&mut machine.instance)
        };
        Ok(tokio::task::spawn_blocking(work).await??)
    }
}

impl Machine {
    /// Replaces the machine if the plugin was loaded anew. A version that does not start is not used.
    fn renew(&mut self, version: &Version, permissions: &[Permission]) {
        if self.version == version.number {
            return;
        }
        self.version = version.number;
        let plugin: Plugin = version.plugin.restricted(permissions);
        match Instance::start(&plugin, Limits::default()) {
            Ok(instance) => self.instance = instance,
            Err(error) => {
                tracing::warn!(%error, "a changed plugin does not start; the former stays")
            }
        }
    }
}

fn judge(
    instance: &mut Instance,
    observation: &Observation,
    markers: &BTreeMap<String, u64>,
    last_intent: Option<&str>,
    last_event: Option<u64>,
) -> Result<State, PluginError> {
    let screen = observation.snapshot.plain_text();
    let (body_text, status_text) = split_screen(screen);
    let blocks: Vec<Block> = observation.shell_marks.iter().map(block).collect();
    instance.classify(&Context {
        screen,
        body_text,
        status_text,
        transcript: observation.transcript.text(),
        sequence: observation.snapshot.sequence,
        completed_turn_stable_ms: TURN_STABLE_MS,
        markers,
        cursor: observation.chars_written,
        last_intent,
        stable_ms: observation.stable_ms,
        exited: observation.has_exited,
        last_event_seq: last_event,
        blocks: &blocks,
    })
}

fn block(mark: &ShellMark) -> Block {
    let (kind, exit_code) = match mark {
        ShellMark::PromptStart => (BlockKind::Prompt, None),
        ShellMark::InputStart => (BlockKind::Input, None),
        ShellMark::OutputStart => (BlockKind::Output, None),
        ShellMark::CommandEnd { code } => (BlockKind::End, *code),
    };
    Block { kind, exit_code }
}
