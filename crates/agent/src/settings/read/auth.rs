//! Reads what is set about accounts.

use rookery_signin::{Account, Config, Flow};

use super::Section;
use crate::settings::AuthSettings;

pub(super) fn auth(section: &Section<'_>) -> AuthSettings {
    let persist = section.flag("persist").unwrap_or(AuthSettings::default().persist);
    let read = |account: Account| (account, config(&section.section(account.name())));
    AuthSettings { persist, accounts: Account::ALL.map(read).into() }
}

fn config(section: &Section<'_>) -> Config {
    let scopes = section.texts("scopes");
    Config {
        issuer: section.text("issuer"),
        client_id: section.text("client_id"),
        scopes: (!scopes.is_empty()).then_some(scopes),
        flow: section.choice("flow", "device or browser", Flow::from_word),
        callback_port: section.get("callback_port", "a number from 0 to 65535", |item| {
            item.as_integer().and_then(|port| u16::try_from(port).ok())
        }),
    }
}
