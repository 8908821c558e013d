//! `adapter.*`.

use std::{collections::BTreeMap, sync::Arc};

use rookery_core::TerminalHandle;
use rookery_plugins::{Permission, State, split_screen};
use rookery_watch::{Action, Adapter, Observation, TURN_STABLE_MS, Version, redacted, type_all};
use rookery_wire::rpc::{NoParams, RpcError};
use serde_json::{Map, Value};

use super::{launch, process_of};
use crate::{
    Cx, errors, ids,
    waits::{Found, Ticket, WaitTarget, until},
    wire::{
        adapter::{
            CancelWait, Cancelled, Inspected, Intent, Judgement, Live, LiveAdapter, Named, Plugins,
            Read, Resume, Send, Start, Started, Turn, Wait, WaitFor, Waited,
        },
        session::{Closed, Create, Transcript},
        snapshot::ScreenSnapshot,
        state,
    },
};

/// Bytes of the transcript that `adapter.inspect` shows.
const INSPECTED_BYTES: usize = 4096;
/// Size of a screen for which neither caller nor manifest says one.
const DEFAULT_SIZE: (u16, u16) = (40, 120);

/// Everything needed to work with an adapter that may do what a method asks.
struct At {
    adapter: Arc<Adapter>,
    session: TerminalHandle,
    version: Version,
}

impl At {
    fn find(cx: &Cx, name: &str) -> Result<Self, RpcError> {
        let (adapter, session) = cx.adapter(name)?;
        let plugin = adapter.plugin_name();
        let version = cx.shared.adapters.plugins().get(plugin);
        let version = version.ok_or_else(|| errors::unknown("plugin", plugin))?;
        Ok(Self { adapter, session, version })
    }

    /// Finds an adapter whose plugin may do this.
    fn permitted(
        cx: &Cx,
        name: &str,
        method: &str,
        permission: Permission,
    ) -> Result<Self, RpcError> {
        let at = Self::find(cx, name)?;
        at.check(method, permission)?;
        Ok(at)
    }

    /// A plugin may do what its manifest permitted at the start, and permits now.
    fn check(&self, method: &str, permission: Permission) -> Result<(), RpcError> {
        let is_permitted = self.adapter.permissions.contains(&permission)
            && self.version.plugin.manifest().allows(permission);
        is_permitted.then_some(()).ok_or_else(|| errors::denied(method, permission))
    }

    /// What the plugin makes of a session. `since` is the last event that the caller knows of; who
    /// does not say so gets what this connection has not received yet.
    async fn classify(
        &self,
        cx: &Cx,
        observation: Observation,
        since: Option<u64>,
        redact: Option<bool>,
    ) -> Result<State, RpcError> {
        let secrets = (redact != Some(false)).then(|| observation.secrets());
        let id = &self.adapter.id;
        let last = since.or_else(|| cx.sent_events.lock().get(id).copied());
        let (version, marks) = (self.version.clone(), cx.shared.adapters.marks());
        let judged = self.adapter.classify(version, observation, marks, last).await;
        let state = judged.map_err(errors::adapter)?;
        let newest = state.events.iter().filter_map(|event| event.get("seq")?.as_u64()).max();
        if let (None, Some(newest)) = (since, newest) {
            cx.sent_events.lock().insert(id.clone(), newest);
        }
        Ok(match secrets {
            Some(secrets) => redacted(state, &secrets),
            None => state,
        })
    }

    /// The state now. A plugin that fails is a state of its own.
    async fn state(&self, cx: &Cx, since: Option<u64>, redact: Option<bool>) -> State {
        let observation = Observation::from(self.session.scene());
        let sequence = observation.snapshot.sequence;
        let judged = self.classify(cx, observation, since, redact).await;
        judged.unwrap_or_else(|error| state::plugin_error(&error.message, sequence))
    }
}

/// `adapter.list`.
pub(crate) async fn list(cx: Cx, _params: NoParams) -> Result<Plugins, RpcError> {
    Ok(Plugins { plugins: cx.shared.adapters.plugins().manifests() })
}

/// `adapter.live`.
pub(crate) async fn live(cx: Cx, _params: NoParams) -> Result<Live, RpcError> {
    let adapters = cx.shared.adapters.all(&cx.core);
    let describe = |adapter: &Arc<Adapter>| {
        let session = cx.core.terminals().get(adapter.terminal).ok()?;
        Some(LiveAdapter {
            adapter: adapter.id.clone(),
            plugin: adapter.plugin_name().to_owned(),
            session: ids::spell(adapter.terminal),
            sequence: session.sequence(),
            finished: session.is_finished(),
            process: process_of(&cx, adapter.terminal),
        })
    };
    Ok(Live { adapters: adapters.iter().filter_map(describe).collect() })
}

/// `adapter.start`.
pub(crate) async fn start(cx: Cx, params: Start) -> Result<Started, RpcError> {
    launch_adapter(&cx, params).await
}

/// `adapter.resume`.
pub(crate) async fn resume(cx: Cx, params: Resume) -> Result<Started, RpcError> {
    if let Some(adapter) = params.prior_adapter {
        // Whatever becomes of the former one, the new one starts.
        let _ = close(cx.clone(), Named { adapter, redact: None, last_event_seq: None }).await;
    }
    launch_adapter(&cx, params.start).await
}

async fn launch_adapter(cx: &Cx, params: Start) -> Result<Started, RpcError> {
    let version = cx.shared.adapters.plugins().get(&params.plugin);
    let version = version.ok_or_else(|| errors::unknown("plugin", &params.plugin))?;
    let manifest = version.plugin.manifest();
    if !manifest.allows(Permission::SessionSpawn) {
        return Err(errors::denied("adapter.start", Permission::SessionSpawn));
    }
    let plugin = manifest.name.clone();
    let create = as_session(params, &version)?;
    let terminal = launch::open(cx, create).await?;
    let id = terminal.id;
    let started = cx.shared.adapters.join(version.clone(), id, false).await;
    let adapter = match started {
        Ok(adapter) => adapter,
        Err(error) => {
            // Half an adapter is none: its program does not stay behind.
            let _ = cx.core.terminals().close(id).await;
            return Err(errors::adapter(error));
        }
    };
    cx.shared.adapters.save(&cx.core).await;
    let session = cx.core.terminals().get(id).map_err(errors::io)?;
    let at = At { adapter, session, version };
    Ok(Started {
        adapter: at.adapter.id.clone(),
        plugin,
        session: ids::spell(id),
        state: at.state(cx, None, None).await,
        process: process_of(cx, id),
    })
}

/// The session that an adapter asks for: the caller's words, then the manifest's.
fn as_session(params: Start, version: &Version) -> Result<Create, RpcError> {
    let manifest = version.plugin.manifest();
    let target = manifest.default_target.clone();
    let program = params.program.or_else(|| target.as_ref().map(|target| target.program.clone()));
    let program = program.ok_or_else(|| {
        RpcError::invalid_params(format!(
            "no host-known default program for plugin `{}`; pass `program` explicitly",
            manifest.name
        ))
    })?;
    let target = target.unwrap_or_default();
    let mut env: BTreeMap<String, String> = target.env;
    env.extend(params.env.unwrap_or_default());
    env.extend(target.required_env);
    Ok(Create {
        program,
        args: params.args.unwrap_or(target.args),
        cwd: params.cwd,
        env,
        rows: params.rows.or(target.rows).or(Some(DEFAULT_SIZE.0)),
        cols: params.cols.or(target.cols).or(Some(DEFAULT_SIZE.1)),
        pixel_width: params.pixel_width,
        pixel_height: params.pixel_height,
        ..Create::default()
    })
}

/// `adapter.state`.
pub(crate) async fn state(cx: Cx, params: Named) -> Result<Judgement, RpcError> {
    let at = At::permitted(&cx, &params.adapter, "adapter.state", Permission::ScreenRead)?;
    Ok(Judgement { state: at.state(&cx, params.last_event_seq, params.redact).await })
}

/// `adapter.send`.
pub(crate) async fn send(cx: Cx, params: Send) -> Result<Judgement, RpcError> {
    let at = At::permitted(&cx, &params.adapter, "adapter.send", Permission::InputWrite)?;
    let intent = Intent { intent: params.intent, params: params.params };
    carry_out(&cx, &at, intent).await?;
    let observation = Observation::from(at.session.scene());
    let state = at.classify(&cx, observation, params.last_event_seq, params.redact).await?;
    Ok(Judgement { state })
}

/// Has the plugin work out what to do about an intent, and does it.
async fn carry_out(cx: &Cx, at: &At, intent: Intent) -> Result<(), RpcError> {
    let params = match intent.params {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(params) => params,
    };
    let _typing = at.adapter.typing.lock().await;
    // It may have been closed while this waited for its turn.
    let is_there = cx.shared.adapters.get(&cx.core, &at.adapter.id);
    if is_there.is_none_or(|now| !Arc::ptr_eq(&now, &at.adapter)) {
        return Err(errors::unknown("adapter", &at.adapter.id));
    }
    let wanted = at.adapter.intent(at.version.clone(), intent.intent, params).await;
    let wanted = wanted.map_err(errors::adapter)?;
    let actions = Action::all(wanted.actions)
        .map_err(|error| errors::lua_error(at.adapter.plugin_name(), &error.to_string()))?;
    let typed = type_all(&cx.core, cx.shared.adapters.marks(), &at.session, actions).await;
    typed.map_err(errors::io)?;
    if at.adapter.set_last_intent(wanted.last_intent) {
        cx.shared.adapters.save(&cx.core).await;
    }
    Ok(())
}

/// `adapter.wait`.
pub(crate) async fn wait(cx: Cx, params: Wait) -> Result<Waited, RpcError> {
    let at = At::permitted(&cx, &params.adapter, "adapter.wait", Permission::MatcherWait)?;
    let ticket = enter(&cx, &at, &params.wait)?;
    wait_for(&cx, &at, params.wait, ticket, params.redact, params.last_event_seq).await
}

/// `adapter.turn`.
pub(crate) async fn turn(cx: Cx, params: Turn) -> Result<Waited, RpcError> {
    let at = At::permitted(&cx, &params.adapter, "adapter.send", Permission::InputWrite)?;
    at.check("adapter.wait", Permission::MatcherWait)?;
    let wait = params.wait.unwrap_or_default();
    // Before anything is typed: a turn whose wait cannot begin is not begun.
    let ticket = enter(&cx, &at, &wait)?;
    carry_out(&cx, &at, params.send).await?;
    wait_for(&cx, &at, wait, ticket, params.redact, params.last_event_seq).await
}

fn enter(cx: &Cx, at: &At, wait: &WaitFor) -> Result<Ticket, RpcError> {
    if !matches!(wait.params, None | Some(Value::Null | Value::Object(_))) {
        return Err(RpcError::invalid_params("params: expected an object"));
    }
    super::enter(cx, wait.wait_id.as_deref(), || WaitTarget::Adapter(at.adapter.id.clone()))
}

async fn wait_for(
    cx: &Cx,
    at: &At,
    wait: WaitFor,
    mut ticket: Ticket,
    redact: Option<bool>,
    since: Option<u64>,
) -> Result<Waited, RpcError> {
    let function = wait.function().to_owned();
    let timeout = wait.timeout();
    let mut params = match wait.params {
        Some(Value::Object(params)) => params,
        _ => Map::new(),
    };
    params.entry("completed_turn_stable_ms").or_insert(TURN_STABLE_MS.into());
    let waiting = async {
        let params = Value::Object(params);
        let matcher = at.adapter.matcher(at.version.clone(), function, params).await;
        let matcher = serde_json::from_value(matcher.map_err(errors::adapter)?)
            .map_err(|error| errors::lua_error(at.adapter.plugin_name(), &error.to_string()))?;
        until(&cx.shared.adapters, &at.session, matcher, timeout).await
    };
    let found: Found = tokio::select! {
        found = waiting => found?,
        () = ticket.cancelled() => return Err(errors::cancelled()),
    };
    let matched = found.matched(redact);
    let state = at.classify(cx, found.observation, since, redact).await?;
    Ok(Waited { state, matched, wait_id: wait.wait_id })
}

/// `adapter.cancel_wait`.
pub(crate) async fn cancel_wait(cx: Cx, params: CancelWait) -> Result<Cancelled, RpcError> {
    let (adapter, session) = match cx.shared.waits.cancel(&params.wait_id) {
        Some(WaitTarget::Adapter(adapter)) => (Some(adapter), None),
        Some(WaitTarget::Session(session)) => (None, Some(session)),
        None => return Ok(Cancelled::default()),
    };
    Ok(Cancelled { cancelled: true, adapter, session, wait_id: Some(params.wait_id) })
}

/// `adapter.snapshot`.
pub(crate) async fn snapshot(cx: Cx, params: Read) -> Result<ScreenSnapshot, RpcError> {
    let at = At::permitted(&cx, &params.adapter, "adapter.snapshot", Permission::ScreenRead)?;
    let view = params.look.view().await?;
    let mut screen =
        view.screen(&at.session.snapshot(view.detail()), at.session.size(), &cx.shared.cells);
    screen.process = process_of(&cx, at.adapter.terminal);
    Ok(screen)
}

/// `adapter.transcript`.
pub(crate) async fn transcript(cx: Cx, params: Read) -> Result<Transcript, RpcError> {
    let permission = Permission::TranscriptRead;
    let at = At::permitted(&cx, &params.adapter, "adapter.transcript", permission)?;
    let view = params.look.view().await?;
    Ok(Transcript { text: view.tail(&at.session.transcript()).into_owned() })
}

/// `adapter.inspect`.
pub(crate) async fn inspect(cx: Cx, params: Read) -> Result<Inspected, RpcError> {
    let at = At::permitted(&cx, &params.adapter, "adapter.inspect", Permission::ScreenRead)?;
    let redact = params.look.redact;
    let view = params.look.view().await?;
    let scene = at.session.scene();
    let plain = view.plain_text(&scene.snapshot).into_owned();
    let (body, status) = split_screen(&plain);
    Ok(Inspected {
        adapter: at.adapter.id.clone(),
        plugin: at.adapter.plugin_name().to_owned(),
        session: ids::spell(at.adapter.terminal),
        state: at.state(&cx, None, redact).await,
        body_text: body.to_owned(),
        status_text: status.to_owned(),
        plain_text: plain.clone(),
        transcript_tail: view.tail(&scene.transcript.last_bytes(INSPECTED_BYTES)).into_owned(),
        sequence: scene.snapshot.sequence,
    })
}

/// `adapter.close`.
pub(crate) async fn close(cx: Cx, params: Named) -> Result<Closed, RpcError> {
    let at = At::permitted(&cx, &params.adapter, "adapter.close", Permission::SessionKill)?;
    let id = at.adapter.terminal;
    cx.shared.adapters.remove(&params.adapter);
    // Someone else may have been faster; closed is closed.
    let _ = cx.core.terminals().close(id).await;
    cx.shared.adapters.marks().retain(|other| other != id);
    cx.shared.adapters.save(&cx.core).await;
    Ok(Closed::YES)
}
