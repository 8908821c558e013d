//! Who answers.

use crate::{
    context::Cx,
    convert::path,
    errors::Error,
    wire::{
        Int64,
        app::{Identify, Identity, PROTOCOL_VERSION},
    },
};

pub(crate) async fn identify(cx: Cx, params: Identify) -> Result<Identity, Error> {
    tracing::debug!(name = params.client_name, version = params.client_version, "a client came");
    let active = cx.core.workspace().selection();
    let settings = &cx.settings;
    Ok(Identity {
        socket_path: path(&settings.socket_path),
        pid: i32::try_from(std::process::id()).unwrap_or(0),
        active_project_id: active.project.map_or(Int64(0), Into::into),
        active_tab_id: active.terminal.map_or(Int64(0), Into::into),
        app_label: settings.app_label.clone(),
        app_id: settings.app_id.clone(),
        ui_version: settings.ui_version.clone(),
        protocol_version: PROTOCOL_VERSION,
    })
}
