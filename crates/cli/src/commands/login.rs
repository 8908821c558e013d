//! `rookery login` and `rookery logout`: accounts of providers, signed in to and out of.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::ValueEnum as _;
use rookery_native::notification;
use rookery_native::wire::{
    AuthAccount, AuthFlow, AuthLogin, AuthLogout, AuthState, AuthStates, AuthStatus,
    LoginNotification,
};
use rookery_view::safe;
use rookery_wire::client::Notification;
use rookery_wire::transport::ws::pairing;
use rookery_wire::{Client, ClientError};
use tokio::sync::mpsc;

use crate::{
    args::{Account, Login, LoginFlow, Logout},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::call,
    output::{self, Colors, Table, Tone},
    stop::Stop,
};

/// What to do when it is not clear which account is meant.
const NAME_ONE: &str = "name one: `codex` or `supergrok`";

pub(super) async fn run(args: Login) -> Outcome {
    if args.logout {
        return log_out(Logout { account: args.account, json: args.json }).await;
    }
    let client = daemon_process::connect_or_start().await?;
    if args.status {
        return status(&client, &args).await;
    }
    sign_in(client, args).await
}

pub(super) async fn log_out(args: Logout) -> Outcome {
    let client = daemon_process::connect_or_start().await?;
    let account = match args.account {
        Some(account) => wire(account),
        None => {
            let signed_in = |state: &AuthState| state.signed_in;
            only(states(&client, None).await?, signed_in, "signed in")?
        }
    };
    let state: AuthState = call(&client, AuthLogout { account }).await?;
    match args.json {
        true => output::json(&state)?,
        false => output::line(format!("signed out of {}", word(account)))?,
    }
    done()
}

async fn status(client: &Client, args: &Login) -> Outcome {
    let states = states(client, args.account.map(wire)).await?;
    if args.json {
        output::json(&states)?;
        return done();
    }
    let mut table = Table::new(&["ACCOUNT", "STATUS", "SIGNED IN AS"]);
    for state in &states.accounts {
        let (tone, said) = match (state.signed_in, state.configured) {
            (true, _) => (Tone::Good, "signed in"),
            (false, true) => (Tone::Plain, "signed out"),
            (false, false) => (Tone::Faint, "not set up"),
        };
        let owner = state.account_id.as_deref().map_or("-".to_owned(), safe::line);
        table.row(vec![
            (Tone::Strong, word(state.account)),
            (tone, said.to_owned()),
            (Tone::Plain, owner),
        ]);
    }
    table.print()?;
    if states.accounts.iter().all(|state| !state.configured && !state.signed_in) {
        output::note("set auth.codex.client_id or auth.supergrok.client_id to sign in");
    }
    done()
}

async fn states(client: &Client, account: Option<AuthAccount>) -> Outcome<AuthStates> {
    call(client, AuthStatus { account }).await
}

/// The only account that fits.
fn only(states: AuthStates, fits: impl Fn(&AuthState) -> bool, said: &str) -> Outcome<AuthAccount> {
    let mut fitting = states.accounts.iter().filter(|state| fits(state));
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Ok(one.account),
        (Some(_), Some(_)) => {
            Err(Failure::new(format!("several accounts are {said}")).hint(NAME_ONE).code(2))
        }
        (None, _) => Err(Failure::new(format!("no account is {said}")).hint(NAME_ONE).code(2)),
    }
}

async fn sign_in(client: Client, args: Login) -> Outcome {
    let account = match args.account {
        Some(account) => wire(account),
        None => {
            let is_set_up = |state: &AuthState| state.configured;
            only(states(&client, None).await?, is_set_up, "set up to sign in")?
        }
    };
    let params = AuthLogin {
        account,
        flow: args.flow.map(|flow| match flow {
            LoginFlow::Device => AuthFlow::Device,
            LoginFlow::Browser => AuthFlow::Browser,
        }),
        timeout_seconds: args.timeout.map(|limit| limit.as_secs()),
    };
    let mut stop = Stop::new()?;
    let notifications = client.notifications();
    let signing_in = follow(&client, params, notifications, args.json);
    let state = tokio::select! {
        state = signing_in => state?,
        // The daemon ends a login with its connection.
        code = stop.requested() => {
            if io::stderr().is_terminal() {
                output::status("");
            }
            output::note("the sign-in was cancelled");
            return Ok(ExitCode::from(code));
        }
    };
    match args.json {
        true => output::json_line(&state)?,
        false => {
            let owner = state.account_id.as_deref().map(safe::line);
            let owner = owner.map_or(String::new(), |owner| format!(" as {owner}"));
            output::line(format!("signed in to {}{owner}", word(account)))?;
        }
    }
    done()
}

/// Waits for the end of a login, and shows what the person needs to know meanwhile.
async fn follow(
    client: &Client,
    params: AuthLogin,
    notifications: Option<mpsc::Receiver<Notification>>,
    is_json: bool,
) -> Outcome<AuthState> {
    let account = word(params.account);
    let mut signing_in = std::pin::pin!(client.send(params));
    if let Some(mut notifications) = notifications {
        let shown = loop {
            tokio::select! {
                ended = &mut signing_in => return explained(ended),
                told = notifications.recv() => match told {
                    Some(told) if told.method == notification::LOGIN => break told,
                    Some(_) => {}
                    None => return explained(signing_in.await),
                },
            }
        };
        let shown: LoginNotification =
            serde_json::from_str(shown.params.get()).map_err(ClientError::from)?;
        match is_json {
            true => output::json_line(&shown)?,
            false => show(&account, &shown),
        }
    }
    match is_json {
        true => explained(signing_in.await),
        false => explained(output::working("waiting for you to allow it", signing_in).await),
    }
}

/// Says what to set where something is missing.
fn explained(ended: Result<AuthState, ClientError>) -> Outcome<AuthState> {
    ended.map_err(|error| {
        let is_setting =
            matches!(&error, ClientError::Rpc(error) if error.message.starts_with("auth."));
        let failure = Failure::from(error);
        match is_setting {
            true => failure.hint("see docs/signin.md; restart the daemon after a change"),
            false => failure,
        }
    })
}

fn show(account: &str, shown: &LoginNotification) {
    let colors = Colors::of_stderr();
    let page = safe::line(shown.complete_page.as_deref().unwrap_or(&shown.page));
    match &shown.code {
        Some(code) => {
            let plain = safe::line(&shown.page);
            output::note(format!(
                "to sign in to {account}, open {}",
                colors.paint(Tone::Strong, &plain)
            ));
            output::note(format!(
                "and enter the code {}",
                colors.paint(Tone::Strong, &safe::line(code))
            ));
        }
        None => {
            output::note(format!("to sign in to {account}, open in a browser on this machine:"));
            output::note(colors.paint(Tone::Strong, &page));
        }
    }
    // A browser on this machine cannot be a phone.
    if io::stderr().is_terminal()
        && shown.code.is_some()
        && let Some(picture) = pairing::qr(&page)
    {
        output::note(picture);
    }
}

fn wire(account: Account) -> AuthAccount {
    match account {
        Account::Codex => AuthAccount::Codex,
        Account::Supergrok => AuthAccount::Supergrok,
    }
}

/// The name of an account, as it is typed.
fn word(account: AuthAccount) -> String {
    let typed = match account {
        AuthAccount::Codex => Account::Codex,
        AuthAccount::Supergrok => Account::Supergrok,
    };
    typed.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(signed_in: [bool; 2]) -> AuthStates {
        let accounts = [AuthAccount::Codex, AuthAccount::Supergrok].into_iter().zip(signed_in);
        let state = |(account, signed_in)| AuthState {
            account,
            signed_in,
            account_id: None,
            configured: signed_in,
        };
        AuthStates { accounts: accounts.map(state).collect() }
    }

    #[test]
    fn an_account_need_not_be_named_if_only_one_can_be_meant() {
        let only = |signed_in| only(states(signed_in), |state| state.signed_in, "signed in");
        assert_eq!(only([false, true]).unwrap(), AuthAccount::Supergrok);
        assert_eq!(only([true, true]).unwrap_err().message(), "several accounts are signed in");
        assert_eq!(only([false, false]).unwrap_err().message(), "no account is signed in");
    }
}
