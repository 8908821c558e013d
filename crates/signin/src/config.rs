//! What is set about an account, and whether it is enough to sign in.

use url::Url;

use crate::account::Account;
use crate::address;
use crate::error::Error;

/// What is asked for where the settings say nothing: who the person is, and a token that outlives the first one.
const SCOPES: [&str; 4] = ["openid", "profile", "email", "offline_access"];

/// How a person allows us in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// By a code that is typed on a page, on any device.
    #[default]
    Device,
    /// In a browser on this machine, which comes back to us.
    Browser,
}

impl Flow {
    /// Its word in settings and on wires.
    pub fn word(self) -> &'static str {
        match self {
            Flow::Device => "device",
            Flow::Browser => "browser",
        }
    }

    /// The flow of this word.
    pub fn from_word(word: &str) -> Option<Flow> {
        [Flow::Device, Flow::Browser].into_iter().find(|flow| flow.word() == word)
    }
}

/// What is set about an account. What is not set has a default, except for the client id: ours is not anyone
/// else's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Who issues tokens.
    pub issuer: Option<String>,
    /// As whom we ask for them.
    pub client_id: Option<String>,
    /// What we ask for.
    pub scopes: Option<Vec<String>>,
    /// How a person allows us in, unless a login says otherwise.
    pub flow: Option<Flow>,
    /// The port that a browser comes back to; 0 is any.
    pub callback_port: Option<u16>,
}

/// A configuration that can be used.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub(crate) account: Account,
    pub(crate) issuer: Url,
    pub(crate) client_id: String,
    pub(crate) scope: String,
    pub(crate) flow: Flow,
    pub(crate) callback_port: u16,
}

impl Config {
    /// Whether enough is set to sign in.
    pub fn is_complete(&self) -> bool {
        self.client_id.is_some()
    }

    /// The same with every default in place.
    pub(crate) fn ready(&self, account: Account) -> Result<Ready, Error> {
        let (name, row) = (account.name(), account.row());
        let Some(client_id) = self.client_id.clone() else {
            let message = format!(
                "auth.{name}.client_id is not set; register a client with the issuer and set it in the settings"
            );
            return Err(Error::Settings(message));
        };
        let issuer = self.issuer.as_deref().unwrap_or(row.issuer);
        let issuer = address::secure(issuer)
            .and_then(|url| match url.query() {
                None => Ok(url),
                Some(_) => Err("has a query"),
            })
            .map_err(|why| Error::Settings(format!("auth.{name}.issuer {why}")))?;
        let scopes = self.scopes.clone().unwrap_or_else(|| SCOPES.map(str::to_owned).to_vec());
        if scopes.iter().any(|scope| scope.is_empty() || scope.contains(char::is_whitespace)) {
            let message = format!("auth.{name}.scopes must be a list of single words");
            return Err(Error::Settings(message));
        }
        Ok(Ready {
            account,
            issuer,
            client_id,
            scope: scopes.join(" "),
            flow: self.flow.unwrap_or_default(),
            callback_port: self.callback_port.unwrap_or(row.callback_port),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config { client_id: Some("c".into()), ..Config::default() }
    }

    fn refused(config: &Config) -> String {
        config.ready(Account::Codex).unwrap_err().to_string()
    }

    #[test]
    fn only_a_client_id_is_needed() {
        let ready = config().ready(Account::Supergrok).unwrap();
        assert_eq!(ready.issuer.as_str(), "https://auth.x.ai/");
        assert_eq!((ready.flow, ready.callback_port), (Flow::Device, 56121));
        assert_eq!(ready.scope, "openid profile email offline_access");
        assert!(refused(&Config::default()).starts_with("auth.codex.client_id is not set"));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_key() {
        let issuer = |text: &str| Config { issuer: Some(text.into()), ..config() };
        let plain = refused(&issuer("http://a.example"));
        assert_eq!(plain, "auth.codex.issuer must use https, except on this machine");
        assert_eq!(refused(&issuer("https://a.example?x")), "auth.codex.issuer has a query");
        let scopes = Config { scopes: Some(vec!["a b".into()]), ..config() };
        assert_eq!(refused(&scopes), "auth.codex.scopes must be a list of single words");
    }

    #[test]
    fn flows_have_words() {
        assert_eq!(Flow::from_word("browser"), Some(Flow::Browser));
        assert_eq!(Flow::from_word("Device"), None);
    }
}
