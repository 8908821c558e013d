//! `rookery login` and `rookery logout`: what a person sees, what a script reads, and Ctrl-C.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rookery_issuer::{Issuer, Person};
use rookery_testkit::{PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until};
use serde_json::Value;

use crate::sign_in::{files_with, home_with};

const SIZE: (u16, u16) = (60, 100);

#[test]
fn a_script_signs_in_looks_and_signs_out() {
    let issuer = Issuer::start();
    let daemon = TestDaemon::start_in(home_with(&issuer, ""));
    let mut command = daemon.home().command(rookery_binary());
    command.args(["login", "codex", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut login = command.spawn().unwrap();
    let mut lines = BufReader::new(login.stdout.take().unwrap()).lines();
    let mut line = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    let shown = line();
    assert_eq!((&shown["account"], &shown["flow"]), (&"codex".into(), &"device".into()));
    issuer.enter(shown["code"].as_str().unwrap(), true);
    let state = line();
    assert_eq!((&state["signedIn"], &state["accountId"]), (&true.into(), &"acct-1".into()));
    assert!(login.wait().unwrap().success());
    let status = daemon.rookery(&["login", "--status", "--json"]).json();
    assert_eq!(status["accounts"][0]["signedIn"], true);
    assert_eq!(status["accounts"][1]["signedIn"], false);
    let table = daemon.rookery(&["login", "--status"]).success();
    assert!(
        table.contains("codex") && table.contains("signed in") && table.contains("acct-1"),
        "{table}"
    );
    // The only account that is signed in need not be named.
    assert_eq!(daemon.rookery(&["logout"]).success(), "signed out of codex\n");
    let said = daemon.rookery(&["logout"]).failure(2);
    assert!(said.contains("no account is signed in"), "{said}");
    assert_eq!(daemon.rookery(&["login", "codex", "--logout", "--json"]).json()["signedIn"], false);
    for secret in issuer.secrets() {
        assert!(files_with(daemon.home().path(), &secret).is_empty());
    }
}

#[test]
fn a_person_is_shown_the_address_the_code_and_a_picture() {
    let issuer = Issuer::start();
    let daemon = TestDaemon::start_in(home_with(&issuer, ""));
    let login = TestPty::spawn(daemon.home(), rookery_binary(), &["login", "supergrok"], SIZE);
    login.wait_text("to sign in to supergrok, open http://127.0.0.1:");
    login.wait_text("and enter the code ");
    login.wait_text("▄");
    login.wait_text("waiting for you to allow it");
    let text = login.text();
    let code = text.split("enter the code ").nth(1).unwrap().split_whitespace().next().unwrap();
    issuer.enter(code, true);
    login.wait_text("signed in to supergrok as person@example.com");
}

#[test]
fn ctrl_c_cancels_a_sign_in() {
    let issuer = Issuer::start();
    let daemon = TestDaemon::start_in(home_with(&issuer, ""));
    let args = ["login", "codex", "--flow", "browser"];
    // Wide enough for the whole address.
    let login = TestPty::spawn(daemon.home(), rookery_binary(), &args, (20, 900));
    login.wait_text("waiting for you to allow it");
    let text = login.text();
    let port = text.split("127.0.0.1%3A").nth(1).unwrap().split("%2F").next().unwrap().to_owned();
    let is_open = || std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok();
    assert!(is_open());
    login.send(b"\x03");
    login.wait_text("the sign-in was cancelled");
    wait_until("the daemon waits for no browser any more", PATIENCE, || !is_open());
    let status = daemon.rookery(&["login", "--status", "codex", "--json"]).json();
    assert_eq!(status["accounts"][0]["signedIn"], false);
}

#[test]
fn a_browser_that_comes_back_ends_the_wait() {
    let issuer = Issuer::start();
    let daemon = TestDaemon::start_in(home_with(&issuer, ""));
    let args = ["login", "codex", "--flow", "browser", "--json", "--timeout", "60"];
    let mut command = daemon.home().command(rookery_binary());
    command.args(args).stdout(Stdio::piped());
    let mut login = command.spawn().unwrap();
    let mut lines = BufReader::new(login.stdout.take().unwrap()).lines();
    let shown: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let back = rookery_issuer::fetch(shown["page"].as_str().unwrap()).location.unwrap();
    assert_eq!(rookery_issuer::fetch(&back).status, 200);
    assert!(login.wait().unwrap().success());
}

#[test]
fn what_is_missing_or_refused_is_said() {
    let issuer = Issuer::start();
    issuer.state().person = Person::Refuses;
    let daemon = TestDaemon::start_in(home_with(&issuer, ""));
    let said = daemon.rookery(&["login", "codex"]).failure(1);
    assert!(said.contains("rookery: the sign-in was denied"), "{said}");
    let said = daemon.rookery(&["login"]).failure(2);
    assert!(said.contains("several accounts are set up to sign in"), "{said}");
    let said = daemon.rookery(&["login", "codex", "--timeout", "0"]).failure(2);
    assert!(said.contains("expected a whole number from 1 to 900"), "{said}");
    let plain = TestDaemon::start();
    let said = plain.rookery(&["login", "codex"]).failure(1);
    assert!(
        said.contains("auth.codex.client_id is not set") && said.contains("docs/signin.md"),
        "{said}"
    );
    let table = plain.rookery(&["login", "--status"]);
    assert!(table.stdout.contains("not set up"), "{table:?}");
}
