//! Signing in to accounts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `auth/codex/login` and `auth/supergrok/login`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthLoginParams {
    /// How the person allows it; default: the configured one.
    #[serde(default)]
    pub flow: Option<AuthFlow>,
    /// How long it may take, at most 900.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
}

/// How a person allows a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthFlow {
    /// By a code that is typed on a page, on any device.
    Device,
    /// In a browser on the machine of the server.
    Browser,
}

/// Result of every method about an account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct AuthStatusResult {
    pub signed_in: bool,
    /// The account's id, or its e-mail address.
    #[serde(default)]
    pub account_id: Option<String>,
}

/// Params of `auth/loginPending`, to the client that logs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthLoginPending {
    /// The account.
    pub provider: String,
    pub flow_id: String,
    pub flow: AuthFlow,
    /// The page to open.
    pub verification_uri: String,
    /// The same with the code in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification_uri_complete: Option<String>,
    /// The code to type there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_code: Option<String>,
    /// The page of the browser's flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorize_url: Option<String>,
    pub expires_at: String,
}

/// Params of `auth/loginCompleted`, to the client that logged in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthLoginCompleted {
    /// The account.
    pub provider: String,
    pub flow_id: String,
    pub ok: bool,
    /// Why it came to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The names of notifications about accounts.
pub mod name {
    /// Carries an [`AuthLoginPending`](super::AuthLoginPending).
    pub const LOGIN_PENDING: &str = "auth/loginPending";
    /// Carries an [`AuthLoginCompleted`](super::AuthLoginCompleted).
    pub const LOGIN_COMPLETED: &str = "auth/loginCompleted";
}
