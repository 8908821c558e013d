//! `initialize`: who we are, and what a client can take; and how a client reached us.

use std::path::PathBuf;

use rookery_core::Core;
use rookery_model::{self as model, Words as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Link, Preferences};
use crate::errors::Error;
use crate::wire::Empty;
use crate::wire::initialize::{
    InitializeParams, InitializeResult, Remote, ServerCapabilities, ServerInfo,
};
use crate::{PROTOCOL_VERSION, method_names, modes, show};

pub(crate) async fn initialize(
    cx: Cx,
    params: InitializeParams,
) -> Result<InitializeResult, Error> {
    let capabilities = params.capabilities.unwrap_or_default();
    cx.client.set_preferences(Preferences {
        unwanted: capabilities
            .opt_out_notification_methods
            .unwrap_or_default()
            .into_iter()
            .collect(),
        reasoning_methods: capabilities.reasoning_methods.unwrap_or(false),
    });
    cx.follow();
    // One that may not bring its mode is informed when it starts something.
    let _ = cx.bring_mode().await;
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
        policy_mode: show::mode(&cx, cx.mode(None)),
        capabilities: ServerCapabilities { methods: method_names() },
        remote,
    })
}

/// A client says that it is there; nothing follows from it.
pub(crate) async fn initialized(
    _cx: Cx,
    _params: rookery_wire::rpc::NoParams,
) -> Result<Empty, Error> {
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
    /// The mode of what its client starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The default provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The default model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `interactive`, `non_interactive` or `eval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

pub(crate) async fn attach(cx: Cx, params: Attach) -> Result<Empty, Error> {
    // Known before anything is waited for: the client's own words are right behind this.
    cx.client.set_link(params.link()?);
    cx.follow();
    cx.bring_mode().await?;
    Ok(Empty {})
}

impl Attach {
    /// What the client reported about itself.
    ///
    /// # Errors
    /// If there is no such profile or mode.
    pub fn link(&self) -> Result<Link, Error> {
        let unknown = |name: &str| Error::invalid(format!("unknown profile: {name}"));
        let read = |name: &String| model::Profile::from_word(name).ok_or_else(|| unknown(name));
        let profile = self.profile.as_ref().map(read).transpose()?;
        Ok(Link {
            cwd: self.cwd.clone().filter(|cwd| cwd.is_absolute()),
            is_remote: self.is_remote,
            choice: model::Choice {
                provider: self.provider.clone().unwrap_or_default(),
                model: self.model.clone().unwrap_or_default(),
                reasoning: None,
            },
            profile,
            mode: self.mode.as_deref().map(read_mode).transpose()?,
        })
    }

    /// Sets the mode of a world that is served alone, if one is named.
    ///
    /// # Errors
    /// If there is no such mode.
    pub async fn set_mode(&self, core: &Core) -> Result<(), Error> {
        let Some(word) = self.mode.clone() else { return Ok(()) };
        let mode = read_mode(&word)?;
        Ok(core.threads().set_mode(None, mode, Some(word), Some("command line".to_owned())).await?)
    }
}

fn read_mode(word: &str) -> Result<model::Mode, Error> {
    modes::read_argument(word).ok_or_else(|| Error::invalid(format!("unknown mode: {word}")))
}
