//! Params and results about accounts that can be signed in to.

use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthAccount {
    /// ChatGPT, as Codex uses it.
    Codex,
    /// SuperGrok.
    Supergrok,
}

/// How a person allows a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthFlow {
    /// By a code that is typed on a page, on any device.
    Device,
    /// In a browser on the machine of the daemon.
    Browser,
}

/// Params of `rookery/auth/status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthStatus {
    /// Only this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AuthAccount>,
}

call!("rookery/auth/status" AuthStatus -> AuthStates);

/// Result of `rookery/auth/status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthStates {
    pub accounts: Vec<AuthState>,
}

/// Whether an account is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthState {
    pub account: AuthAccount,
    pub signed_in: bool,
    /// The account's id, or its e-mail address.
    #[serde(default)]
    pub account_id: Option<String>,
    /// Whether enough is set to sign in.
    pub configured: bool,
}

/// Params of `rookery/auth/login`. Ends with its connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthLogin {
    pub account: AuthAccount,
    /// Default: the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<AuthFlow>,
    /// How long it may take, at most 900.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
}

call!("rookery/auth/login" AuthLogin -> AuthState);

/// Params of `rookery/auth/logout`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthLogout {
    pub account: AuthAccount,
}

call!("rookery/auth/logout" AuthLogout -> AuthState);

/// Params of `rookery/login`: what the person needs to know, to the connection that logs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginNotification {
    pub account: AuthAccount,
    /// Tells this login from others.
    pub login: String,
    pub flow: AuthFlow,
    /// The page to open.
    pub page: String,
    /// The same with the code in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_page: Option<String>,
    /// The code to type there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    pub expires_at: String,
}
