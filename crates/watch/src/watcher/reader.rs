//! One reader: a plugin that judges the screen of an adapter, apart from that adapter.

use std::sync::Arc;

use rookery_core::{Core, TerminalHandle};
use rookery_model::{Error, ErrorKind, Result};
use rookery_plugins::Permission;
use rookery_term::matcher::TRANSCRIPT_TAIL;
use serde_json::json;

use super::reading::{self, Reading};
use crate::{
    action::Action,
    adapters::{Adapter, Adapters, Observation},
    marks::Marks,
    plugins::Version,
    secrets, typing,
};

/// How a plugin says that another dialog stands there.
const STALE: &str = "stale_dialog";

pub(super) struct Reader {
    /// Whose screen it is.
    adapter: Arc<Adapter>,
    /// The plugin, in a machine of its own.
    judge: Arc<Adapter>,
}

impl Reader {
    /// Opens a reader of the session of an adapter; none if its plugin is gone or does not start.
    pub(super) async fn open(adapters: &Adapters, adapter: Arc<Adapter>) -> Option<Reader> {
        let version = adapters.plugins().get(adapter.plugin_name())?;
        let of = Arc::clone(&adapter);
        let starting = tokio::task::spawn_blocking(move || {
            let permissions = of.permissions.clone();
            Adapter::start(of.id.clone(), of.terminal, &version, permissions, None)
        });
        match starting.await {
            Ok(Ok(judge)) => Some(Reader { adapter, judge: Arc::new(judge) }),
            Ok(Err(error)) => {
                tracing::warn!(%error, adapter = adapter.id, "a screen is not read");
                None
            }
            Err(_) => None,
        }
    }

    /// The plugin as it is now, if it may do this.
    fn permitted(&self, adapters: &Adapters, permission: Permission) -> Option<Version> {
        let version = adapters.plugins().get(self.adapter.plugin_name())?;
        let is_permitted = self.adapter.permissions.contains(&permission)
            && version.plugin.manifest().allows(permission);
        is_permitted.then_some(version)
    }

    /// What stands on the screen; none if it is not an agent's any more, or cannot be judged.
    pub(super) async fn look(
        &self,
        core: &Core,
        adapters: &Adapters,
        session: &TerminalHandle,
    ) -> Option<Reading> {
        // What an agent left on the screen when it ended asks nothing any more. One that is the
        // terminal's own program is in the foreground all the time.
        let is_running =
            || core.terminals().describe(session.id()).is_ok_and(|it| it.activity.agent.is_some());
        if self.adapter.has_program && !session.has_foreground_job() && !is_running() {
            return None;
        }
        let version = self.permitted(adapters, Permission::ScreenRead)?;
        let scene = session.scene();
        let transcript = scene.transcript.last_chars(TRANSCRIPT_TAIL);
        let observation = Observation { transcript, ..Observation::from(scene) };
        let secrets = observation.secrets();
        let focus = reading::focus(observation.snapshot.plain_text());
        self.judge.set_last_intent(Some(self.adapter.last_intent().unwrap_or_default()));
        let judged = self.judge.classify(version, observation, &Marks::default(), None).await;
        let mut reading = reading::read(secrets::redacted(judged.ok()?, &secrets));
        if let Some(seen) = &mut reading.seen {
            seen.dialog.focus = focus.filter(|focus| *focus <= seen.dialog.options.len());
        }
        Some(reading)
    }

    /// Types yes or no if this dialog stands on the screen; false if it does not.
    pub(super) async fn answer(
        &self,
        core: &Core,
        adapters: &Adapters,
        session: &TerminalHandle,
        dialog: &str,
        is_yes: bool,
    ) -> Result<bool> {
        let _typing = self.adapter.typing.lock().await;
        let reading = self.look(core, adapters, session).await;
        let Some(seen) = reading.and_then(|reading| reading.seen) else { return Ok(false) };
        if seen.dialog.id != dialog {
            return Ok(false);
        }
        let version = self.permitted(adapters, Permission::InputWrite).ok_or_else(|| {
            Error::new(ErrorKind::Denied, "the plugin of that terminal may not type")
        })?;
        let (name, params) = (seen.intent(is_yes).to_owned(), json!({ "dialog_id": dialog }));
        let intent = match self.judge.intent(version, name, params).await {
            Ok(intent) => intent,
            Err(error) if error.to_string().contains(STALE) => return Ok(false),
            Err(error) => return Err(Error::failed(error.to_string())),
        };
        let actions = Action::all(intent.actions)
            .map_err(|error| Error::failed(format!("the plugin's answer is malformed: {error}")))?;
        typing::type_all(core, adapters.marks(), session, actions)
            .await
            .map_err(|error| Error::failed(error.message()))?;
        Ok(true)
    }
}
