//! Tokens as they are kept: the file's own shape, and whether they are of use.

use serde::{Deserialize, Serialize};

use crate::account::{Account, Identity};
use crate::grant::{self, Grant};
use crate::secret::Secret;

/// What a token file says that it is.
const KIND: &str = "oauth";

/// With less life than this a token is renewed before it is used, in milliseconds.
pub(crate) const RENEWED_BEFORE: u64 = 3 * 60 * 1000;

/// The tokens of one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) refresh: Option<Secret>,
    pub(crate) access: Option<Secret>,
    /// When the access token ends, in milliseconds since the epoch.
    pub(crate) expires: u64,
    /// Who the owner is, as far as it is known.
    pub(crate) owner: Option<String>,
    pub(crate) id_token: Option<Secret>,
}

#[derive(Serialize, Deserialize)]
struct File {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    refresh: String,
    #[serde(default)]
    access: String,
    #[serde(default)]
    expires: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id_token: Option<String>,
}

impl Tokens {
    /// Tokens that were given now, in the place of those before them: what does not come anew is kept.
    pub(crate) fn from_grant(
        account: Account,
        grant: Grant,
        before: Option<&Tokens>,
        now: u64,
    ) -> Self {
        let owner =
            grant::owner(account.identity(), &[grant.id_token.as_ref(), Some(&grant.access)]);
        let kept = |field: fn(&Tokens) -> Option<Secret>| before.and_then(field);
        Self {
            owner: owner.or_else(|| before?.owner.clone()),
            refresh: grant.refresh.or_else(|| kept(|tokens| tokens.refresh.clone())),
            id_token: grant.id_token.or_else(|| kept(|tokens| tokens.id_token.clone())),
            expires: now.saturating_add(grant.lifetime.saturating_mul(1000)),
            access: Some(grant.access),
        }
    }

    /// Reads a file. The error does not quote it.
    pub(crate) fn read(account: Account, bytes: &[u8]) -> Result<Self, String> {
        let file: File = serde_json::from_slice(bytes)
            .map_err(|error| format!("it cannot be read at line {}", error.line()))?;
        if !file.kind.is_empty() && file.kind != KIND {
            return Err("it is of another type".to_owned());
        }
        let token = |text: String| match text.is_empty() {
            true => Ok(None),
            false if grant::is_token(&text) => Ok(Some(Secret::new(text))),
            false => Err("it has a token that cannot be used".to_owned()),
        };
        let owner = match account.identity() {
            Identity::AccountId => file.account_id,
            Identity::Email => file.email,
        };
        Ok(Self {
            refresh: token(file.refresh)?,
            access: token(file.access)?,
            expires: file.expires,
            owner: owner.filter(|owner| !owner.is_empty()),
            id_token: token(file.id_token.unwrap_or_default())?,
        })
    }

    /// The file.
    pub(crate) fn write(&self, account: Account) -> Vec<u8> {
        let text =
            |secret: &Option<Secret>| secret.as_ref().map(|secret| secret.expose().to_owned());
        let (account_id, email) = match account.identity() {
            Identity::AccountId => (self.owner.clone(), None),
            Identity::Email => (None, self.owner.clone()),
        };
        let file = File {
            kind: KIND.to_owned(),
            refresh: text(&self.refresh).unwrap_or_default(),
            access: text(&self.access).unwrap_or_default(),
            expires: self.expires,
            account_id,
            email,
            id_token: text(&self.id_token),
        };
        // Nothing in it can fail to be written.
        let mut bytes = serde_json::to_vec_pretty(&file).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Whether the owner counts as signed in: there is something to renew with, or a token that still is good.
    pub(crate) fn is_signed_in(&self, now: u64) -> bool {
        self.refresh.is_some() || self.usable(now).is_some()
    }

    /// The access token, if it still is good.
    pub(crate) fn usable(&self, now: u64) -> Option<&Secret> {
        self.access.as_ref().filter(|_| now < self.expires)
    }

    /// The access token, if it need not be renewed.
    pub(crate) fn fresh(&self, now: u64) -> Option<&Secret> {
        self.usable(now.saturating_add(RENEWED_BEFORE))
    }

    /// Everything that nothing may show.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let all = [&self.access, &self.refresh, &self.id_token];
        all.into_iter().flatten().map(|secret| secret.expose().to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(refresh: Option<&str>) -> Grant {
        Grant {
            access: Secret::new("a2"),
            refresh: refresh.map(Secret::new),
            id_token: None,
            lifetime: 600,
        }
    }

    fn tokens() -> Tokens {
        let text = br#"{"type":"oauth","refresh":"r","access":"a","expires":1000000,"account_id":"me","id_token":"i"}"#;
        Tokens::read(Account::Codex, text).unwrap()
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        for account in Account::ALL {
            let mut tokens = tokens();
            for with_all in [true, false] {
                if !with_all {
                    tokens.owner = None;
                    tokens.id_token = None;
                    tokens.refresh = None;
                }
                let written = tokens.write(account);
                assert_eq!(Tokens::read(account, &written).unwrap(), tokens);
            }
        }
        let email = String::from_utf8(tokens().write(Account::Supergrok)).unwrap();
        assert!(email.contains("\"email\": \"me\"") && !email.contains("account_id"), "{email}");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_quoted() {
        for text in [
            "{\"access\":\"secret-1\"",
            "[\"secret-1\"]",
            r#"{"type":"secret-1"}"#,
            r#"{"access":"secret-1 x"}"#,
        ] {
            let error = Tokens::read(Account::Codex, text.as_bytes()).unwrap_err();
            assert!(!error.contains("secret-1"), "{error}");
        }
    }

    #[test]
    fn a_token_is_renewed_with_less_than_three_minutes_left() {
        let tokens = tokens();
        let life = |left: u64| tokens.fresh(1_000_000 - left).is_some();
        assert!(life(RENEWED_BEFORE + 1) && !life(RENEWED_BEFORE));
        assert!(tokens.usable(999_999).is_some() && tokens.usable(1_000_000).is_none());
        assert!(tokens.is_signed_in(2_000_000));
        let without = Tokens { refresh: None, ..tokens };
        assert!(without.is_signed_in(999_999) && !without.is_signed_in(1_000_000));
    }

    #[test]
    fn what_does_not_come_anew_is_kept() {
        let before = tokens();
        let same = Tokens::from_grant(Account::Codex, grant(None), Some(&before), 5);
        assert_eq!(
            (same.refresh, same.owner, same.id_token),
            (before.refresh.clone(), before.owner.clone(), before.id_token.clone())
        );
        assert_eq!((same.access, same.expires), (Some(Secret::new("a2")), 600_005));
        let new = Tokens::from_grant(Account::Codex, grant(Some("r2")), Some(&before), 5);
        assert_eq!(new.refresh, Some(Secret::new("r2")));
    }
}
