//! The accounts that can be signed in to, as one table.

/// An account of a provider of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// ChatGPT, as Codex uses it.
    Codex,
    Supergrok,
}

/// What is known of an account without any setting.
pub(crate) struct Row {
    account: Account,
    name: &'static str,
    /// Who issues its tokens, unless the settings say otherwise.
    pub(crate) issuer: &'static str,
    /// Where a browser comes back to.
    pub(crate) callback_port: u16,
    pub(crate) callback_path: &'static str,
    /// What its owner is called by.
    pub(crate) identity: Identity,
    /// Whether the tokens before these are kept, and a record of what was done with them.
    pub(crate) is_audited: bool,
}

/// What the owner of an account is called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    AccountId,
    /// An e-mail address.
    Email,
}

static ACCOUNTS: [Row; 2] = [
    Row {
        account: Account::Codex,
        name: "codex",
        issuer: "https://auth.openai.com",
        callback_port: 1455,
        callback_path: "/auth/callback",
        identity: Identity::AccountId,
        is_audited: true,
    },
    Row {
        account: Account::Supergrok,
        name: "supergrok",
        issuer: "https://auth.x.ai",
        callback_port: 56121,
        callback_path: "/callback",
        identity: Identity::Email,
        is_audited: false,
    },
];

impl Account {
    /// All of them, in the order of a list.
    pub const ALL: [Account; 2] = [Account::Codex, Account::Supergrok];

    /// Its name in settings, on wires and in file names.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The account of this name.
    pub fn from_name(name: &str) -> Option<Account> {
        ACCOUNTS.iter().find(|row| row.name == name).map(|row| row.account)
    }

    /// What its owner is called by.
    pub fn identity(self) -> Identity {
        self.row().identity
    }

    /// The variable that names another issuer.
    pub fn issuer_variable(self) -> String {
        format!("RODER_AUTH_{}_ISSUER", self.name().to_uppercase())
    }

    pub(crate) fn row(self) -> &'static Row {
        match self {
            Account::Codex => &ACCOUNTS[0],
            Account::Supergrok => &ACCOUNTS[1],
        }
    }

    /// Its place in [`Account::ALL`].
    pub(crate) fn index(self) -> usize {
        match self {
            Account::Codex => 0,
            Account::Supergrok => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_account_is_where_its_place_says() {
        for (at, account) in Account::ALL.into_iter().enumerate() {
            assert_eq!((account.index(), account.row().account), (at, account));
            assert_eq!(Account::from_name(account.name()), Some(account));
        }
        assert_eq!(Account::from_name("Codex"), None);
        assert_eq!(Account::Supergrok.issuer_variable(), "RODER_AUTH_SUPERGROK_ISSUER");
    }
}
