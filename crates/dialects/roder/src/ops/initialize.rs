//! `initialize`: who we are, and what a client can take; and how a client reached us.

use std::path::PathBuf;

use rookery_core::Core;
use rookery_model as model;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Link, Wishes};
use crate::errors::Error;
use crate::wire::Empty;
use crate::wire::initialize::{
    InitializeParams, InitializeResult, Remote, ServerCapabilities, ServerInfo,
};
use crate::{METHODS, PROTOCOL_VERSION, modes, show};

pub(crate) async fn initialize(cx: Cx, params: InitializeParams) -> Result<InitializeResult, Error> {
    let capabilities = params.capabilities.unwrap_or_default();
    cx.client.set_wishes(Wishes {
        unwanted: capabilities.opt_out_notification_methods.unwrap_or_default().into_iter().collect(),
        reasoning_methods: capabilities.reasoning_methods.unwrap_or(false),
    });
    cx.follow();
    let choice = cx.choice();
    let cwd = cx.cwd().to_string_lossy().into_owned();
    let remote = cx.client.link().is_remote.then(|| Remote {
        authenticated: true,
        auth_schemes: ["authorization_bearer", "websocket_subprotocol_bearer"]
            .map(str::to_owned)
            .to_vec(),
        server_name: "Rookery".to_owned(),
        workspace: Some(cwd.clone()),
    });
    Ok(InitializeResult {
        provider: choice.provider,
        model: choice.model,
        cwd: Some(cwd),
        server_info: ServerInfo {
            name: "rookery".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        protocol_version: PROTOCOL_VERSION,
        policy_mode: show::mode(&cx, cx.core.mode(None)),
        capabilities: ServerCapabilities {
            methods: METHODS.iter().map(|method| method.name.to_owned()).collect(),
        },
        remote,
    })
}

/// A client says that it is there; nothing follows from it.
pub(crate) async fn initialized(_cx: Cx, _params: rookery_wire::rpc::NoParams) -> Result<Empty, Error> {
    Ok(Empty {})
}

/// Params of `rookery/attach`, which our own server on stdio or a WebSocket sends before it hands its
/// client through.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attach {
    /// Where that server was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Whether its client comes through the network.
    #[serde(default)]
    pub is_remote: bool,
    /// Whether the stream waits for its client.
    #[serde(default)]
    pub is_patient: bool,
    /// The mode to set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Which provider answers where nothing else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Which model answers where nothing else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `interactive`, `non_interactive` or `eval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

pub(crate) async fn attach(cx: Cx, params: Attach) -> Result<Empty, Error> {
    let link = link_of(&cx.core, params).await?;
    cx.client.set_link(link);
    cx.follow();
    Ok(Empty {})
}

/// What a server says of its clients, as a link; the mode it names is set.
///
/// # Errors
/// If there is no such mode or profile.
pub async fn link_of(core: &Core, attach: Attach) -> Result<Link, Error> {
    let profile = match attach.profile.as_deref() {
        None => None,
        Some("interactive") => Some(model::Profile::Interactive),
        Some("non_interactive") => Some(model::Profile::NonInteractive),
        Some("eval") => Some(model::Profile::Eval),
        Some(other) => return Err(Error::invalid(format!("unknown profile: {other}"))),
    };
    if let Some(word) = attach.mode {
        let mode = modes::read_argument(&word)
            .ok_or_else(|| Error::invalid(format!("unknown mode: {word}")))?;
        core.set_mode(None, mode, Some(word), Some("command line".to_owned())).await?;
    }
    Ok(Link {
        cwd: attach.cwd.filter(|cwd| cwd.is_absolute()),
        is_remote: attach.is_remote,
        is_patient: attach.is_patient,
        choice: model::Choice {
            provider: attach.provider.unwrap_or_default(),
            model: attach.model.unwrap_or_default(),
            reasoning: None,
        },
        profile,
    })
}
