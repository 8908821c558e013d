//! `plugin.*`.

use std::{path::PathBuf, sync::Arc};

use rookery_plugins::{Instance, Limits, Permission};
use rookery_wire::rpc::{NoParams, RawParams, RpcError};

use crate::{
    Cx, errors,
    wire::plugin::{Capabilities, Described, Load, Loaded, Named, Unloaded, Valid, Validate},
};

/// `plugin.capabilities`.
pub(crate) async fn capabilities(cx: Cx, _params: NoParams) -> Result<Capabilities, RpcError> {
    Ok(Capabilities {
        builtin_plugins: cx.shared.adapters.plugins().shipped(),
        embedded_lua: true,
        permissions: Permission::ALL.to_vec(),
        wasm: false,
    })
}

/// `plugin.validate_manifest`. Looks at no disk.
pub(crate) async fn validate_manifest(_cx: Cx, params: Validate) -> Result<Valid, RpcError> {
    let valid = params.manifest.validate();
    valid.map_err(|error| RpcError::invalid_params(error.to_string()))?;
    Ok(Valid { valid: true })
}

/// `plugin.load`.
pub(crate) async fn load(cx: Cx, params: RawParams<Load>) -> Result<Loaded, RpcError> {
    // Before the params are even looked at.
    check(&cx, "plugin.load")?;
    let path = PathBuf::from(params.decode()?.manifest_path);
    let adapters = Arc::clone(&cx.shared.adapters);
    let loading = tokio::task::spawn_blocking(move || adapters.plugins().load(&path));
    let loaded = loading.await.map_err(|error| RpcError::internal(error.to_string()))?;
    let plugin = loaded.map_err(|error| RpcError::internal(error.to_string()))?;
    cx.shared.adapters.save(&cx.core).await;
    Ok(Loaded { plugin })
}

/// `plugin.unload`.
pub(crate) async fn unload(cx: Cx, params: RawParams<Named>) -> Result<Unloaded, RpcError> {
    check(&cx, "plugin.unload")?;
    let name = params.decode()?.plugin;
    let version = cx.shared.adapters.plugins().get(&name);
    let version = version.ok_or_else(|| errors::unknown("plugin", &name))?;
    if version.plugin.is_shipped() {
        let message = format!("plugin `{name}` is built in and cannot be unloaded");
        return Err(RpcError::invalid_params(message));
    }
    if cx.shared.adapters.uses(&cx.core, &version.plugin) {
        let message = format!("plugin `{name}` has live adapters; call adapter.close first");
        return Err(RpcError::invalid_params(message));
    }
    if !cx.shared.adapters.plugins().unload(&name) {
        return Err(errors::unknown("plugin", &name));
    }
    cx.shared.adapters.save(&cx.core).await;
    Ok(Unloaded { unloaded: true })
}

/// `plugin.describe`.
pub(crate) async fn describe(cx: Cx, params: Named) -> Result<Described, RpcError> {
    let version = cx.shared.adapters.plugins().get(&params.plugin);
    let version = version.ok_or_else(|| errors::unknown("plugin", &params.plugin))?;
    let manifest = version.plugin.manifest().clone();
    let describing = tokio::task::spawn_blocking(move || {
        Instance::start(&version.plugin, Limits::default())?.describe()
    });
    let described = describing.await.map_err(|error| RpcError::internal(error.to_string()))?;
    let described = described.map_err(|error| errors::lua(&error))?;
    Ok(Described {
        plugin: params.plugin,
        manifest,
        intents: described.intents,
        wait_matchers: described.wait_matchers,
        states: described.states,
    })
}

fn check(cx: &Cx, method: &str) -> Result<(), RpcError> {
    let is_allowed = cx.shared.adapters.allows_plugin_load();
    if is_allowed { Ok(()) } else { Err(errors::loading_disabled(method)) }
}
