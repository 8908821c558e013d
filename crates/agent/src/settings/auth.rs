//! What is set about accounts that can be signed in to.

use std::collections::BTreeMap;

use rookery_signin::{Account, Config};

/// Accounts that can be signed in to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSettings {
    /// Whether tokens are kept; without that no one can sign in.
    pub persist: bool,
    /// What is set about each account.
    pub accounts: BTreeMap<Account, Config>,
}

impl Default for AuthSettings {
    fn default() -> Self {
        let accounts = Account::ALL.map(|account| (account, Config::default())).into();
        Self { persist: true, accounts }
    }
}

impl AuthSettings {
    /// Takes what variables say.
    pub(super) fn apply_environment(&mut self, text: impl Fn(&str) -> Option<String>) {
        for account in Account::ALL {
            if let Some(issuer) = text(&account.issuer_variable()) {
                self.accounts.entry(account).or_default().issuer = Some(issuer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rookery_signin::Flow;

    use crate::settings::Settings;

    use super::*;

    fn read(text: &str) -> (AuthSettings, Vec<String>) {
        let (settings, warnings) = Settings::read(&text.parse().unwrap());
        (settings.auth, warnings)
    }

    #[test]
    fn accounts_are_read_and_the_environment_names_another_issuer() {
        let (mut auth, warnings) = read(
            r#"
[auth]
persist = false
[auth.codex]
issuer = "https://a.example"
client_id = " mine "
scopes = ["openid", "api"]
flow = "browser"
callback_port = 0
[auth.supergrok]
scopes = []
"#,
        );
        assert_eq!(warnings, Vec::<String>::new());
        assert!(!auth.persist);
        let want = Config {
            issuer: Some("https://a.example".into()),
            client_id: Some("mine".into()),
            scopes: Some(vec!["openid".into(), "api".into()]),
            flow: Some(Flow::Browser),
            callback_port: Some(0),
        };
        assert_eq!(auth.accounts[&Account::Codex], want);
        assert_eq!(auth.accounts[&Account::Supergrok], Config::default());
        let named = |name: &str| {
            (name == "RODER_AUTH_CODEX_ISSUER").then(|| "http://127.0.0.1:1".to_owned())
        };
        auth.apply_environment(named);
        let issuer = |account| auth.accounts[&account].issuer.as_deref();
        assert_eq!(issuer(Account::Codex), Some("http://127.0.0.1:1"));
        assert_eq!(issuer(Account::Supergrok), None);
    }

    #[test]
    fn what_does_not_fit_is_named_and_left_out() {
        let (auth, warnings) = read(
            "[auth.codex]\nflow = \"post\"\ncallback_port = 70000\nscopes = \"openid\"\nclient = 1\n\
             [auth.other]\n",
        );
        assert_eq!(auth, AuthSettings::default());
        for key in ["flow", "callback_port", "scopes", "client"] {
            let name = format!("auth.codex.{key}");
            assert!(warnings.iter().any(|warning| warning.contains(&name)), "{warnings:?}");
        }
        assert!(warnings.iter().any(|warning| warning.contains("auth.other")), "{warnings:?}");
    }
}
