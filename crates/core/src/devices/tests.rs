//! Devices over the real store: pairing, its bounds, and what a restart leaves.

use std::path::Path;
use std::time::Duration;

use rookery_model::{Caller, ErrorKind, Home, Standing};

use super::{CloseReason, Device, MAX_DEVICES, Reach, Unpaired};
use crate::core::{Core, StopKind};
use crate::seats::ViewerRights;
use crate::threads::tests::core_in;

async fn paired(core: &Core, name: &str) -> (Device, String) {
    let code = core.devices().pair(ViewerRights::Full, None, Reach::Anywhere).unwrap().code;
    let (device, credential) = core.devices().redeem(&code, name, Reach::Anywhere).await.unwrap();
    (device, credential.expose().to_owned())
}

async fn refused(core: &Core, code: &str) -> bool {
    core.devices().redeem(code, "x", Reach::Anywhere).await == Err(Unpaired::Wrong)
}

async fn in_a_home() -> (tempfile::TempDir, Core) {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    (home, core)
}

#[tokio::test]
async fn devices_outlive_the_daemon_and_codes_do_not() {
    let (home, core) = in_a_home().await;
    let (device, credential) = paired(&core, " Ada's phone ").await;
    assert_eq!(device.name, "Ada's phone");
    let open = core.devices().pair(ViewerRights::Look, None, Reach::Anywhere).unwrap();
    core.devices().set_web_server_setting(Some("on".to_owned())).await.unwrap();
    core.stop(StopKind::KeepTerminals).await.unwrap();
    let again = core_in(home.path()).await;
    assert_eq!(again.devices().find(&credential).unwrap().id, device.id);
    assert_eq!(again.devices().web_server_setting().await.as_deref(), Some("on"));
    assert!(refused(&again, &open.code).await);
    assert!(!has(home.path(), credential.split_once('.').unwrap().1));
    again.devices().revoke(&device.id).await.unwrap();
    assert_eq!(again.devices().find(&credential), None);
    assert_eq!(again.devices().revoke(&device.id).await.unwrap_err().kind(), ErrorKind::NotFound);
    again.stop(StopKind::KeepTerminals).await.unwrap();
    assert!(core_in(home.path()).await.devices().list().is_empty());
}

fn has(dir: &Path, text: &str) -> bool {
    std::fs::read_dir(dir).unwrap().flatten().any(|entry| match entry.path().is_dir() {
        true => has(&entry.path(), text),
        false => {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        }
    })
}

#[tokio::test]
async fn attack_a_code_works_once_and_guesses_void_it() {
    let (_home, core) = in_a_home().await;
    let one = core.devices().pair(ViewerRights::Full, None, Reach::Anywhere).unwrap();
    core.devices().redeem(&one.short.to_lowercase(), "", Reach::Anywhere).await.unwrap();
    assert!(refused(&core, &one.code).await && refused(&core, &one.short).await);
    // Guesses at one void all; the code of another link is none.
    let one = core.devices().pair(ViewerRights::Full, None, Reach::Anywhere).unwrap();
    for _ in 0..20 {
        assert!(refused(&core, &"x".repeat(43)).await);
    }
    // Whatever is typed counts, also what no code is spelled like.
    for typed in ["AAAA-AAAA", "0O1I-LAAA", "AAAA", "no such code, and far too long"] {
        assert!(refused(&core, typed).await);
    }
    let two = core.devices().pair(ViewerRights::Full, None, Reach::Anywhere).unwrap();
    assert!(refused(&core, "AAAA-AAAA").await);
    assert!(refused(&core, &one.code).await, "five guesses");
    core.devices().redeem(&two.code, "", Reach::Anywhere).await.unwrap();
}

#[tokio::test]
async fn codes_are_few_and_end() {
    let (_home, core) = in_a_home().await;
    let codes: Vec<_> = (0..9)
        .map(|_| core.devices().pair(ViewerRights::Full, None, Reach::Anywhere).unwrap())
        .collect();
    assert!(refused(&core, &codes[0].code).await, "the ninth took its place");
    core.devices().redeem(&codes[1].code, "", Reach::Anywhere).await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(601)).await;
    tokio::time::resume();
    assert!(refused(&core, &codes[8].code).await);
}

#[tokio::test]
async fn devices_are_bounded_and_a_code_is_not_used_up_by_the_bound() {
    let (_home, core) = in_a_home().await;
    let mut last = String::new();
    for _ in 0..MAX_DEVICES {
        last = paired(&core, "x").await.0.id;
    }
    let code = core.devices().pair(ViewerRights::Full, None, Reach::Anywhere).unwrap().code;
    let Err(Unpaired::Failed(error)) = core.devices().redeem(&code, "x", Reach::Anywhere).await
    else {
        panic!("there is no room")
    };
    assert_eq!(error.kind(), ErrorKind::Busy);
    core.devices().revoke(&last).await.unwrap();
    core.devices().redeem(&code, "x", Reach::Anywhere).await.unwrap();
}

#[tokio::test]
async fn attack_only_the_right_secret_of_a_device_lets_in() {
    let (_home, core) = in_a_home().await;
    let (one, other) = (paired(&core, "one").await.1, paired(&core, "other").await.1);
    let ((id, _), (_, secret)) = (one.split_once('.').unwrap(), other.split_once('.').unwrap());
    for wrong in ["", ".", id, secret, &format!("{id}.{secret}"), &format!("{one}x"), &one[1..]] {
        assert!(core.devices().find(wrong).is_none(), "{wrong}");
        assert!(core.devices().visit(wrong).is_none(), "{wrong}");
    }
}

#[tokio::test]
async fn the_oldest_connection_makes_room_and_a_revoked_device_has_none() {
    let (_home, core) = in_a_home().await;
    let (device, credential) = paired(&core, "x").await;
    let mut visits: Vec<_> = (0..9).map(|_| core.devices().visit(&credential).unwrap()).collect();
    assert_eq!(visits[0].closed().await, CloseReason::Replaced);
    assert_eq!(core.devices().list()[0].connected, 8);
    visits.truncate(2);
    assert_eq!(core.devices().list()[0].connected, 1);
    core.devices().revoke(&device.id).await.unwrap();
    assert_eq!(visits[1].closed().await, CloseReason::Revoked);
    assert!(core.devices().visit(&credential).is_none());
}

#[tokio::test]
async fn attack_a_code_for_this_machine_is_worth_nothing_elsewhere() {
    let (_home, core) = in_a_home().await;
    let one = core.devices().pair(ViewerRights::Full, None, Reach::Here).unwrap();
    assert!(refused(&core, &one.code).await && refused(&core, &one.short).await);
    core.devices().redeem(&one.code, "x", Reach::Here).await.unwrap();
    let two = core.devices().pair(ViewerRights::Full, None, Reach::Anywhere).unwrap();
    core.devices().redeem(&two.short, "x", Reach::Here).await.unwrap();
}

#[tokio::test]
async fn devices_that_were_revoked_are_remembered_for_a_while() {
    let (_home, core) = in_a_home().await;
    let (device, credential) = paired(&core, "x").await;
    assert!(!core.devices().was_revoked(&credential));
    core.devices().revoke(&device.id).await.unwrap();
    assert!(core.devices().was_revoked(&credential));
    assert!(!core.devices().was_revoked("other.secret"));
    for _ in 0..MAX_DEVICES {
        paired(&core, "x").await;
    }
    core.devices().revoke_all().await.unwrap();
    assert!(!core.devices().was_revoked(&credential));
}

#[tokio::test]
async fn attack_an_agent_pairs_nothing() {
    let (_home, core) = in_a_home().await;
    let agent = core.on_behalf_of(Caller {
        standing: Standing::Agent(Home::Unknown),
        pid: None,
        program: None,
        endpoint: "rookery".to_owned(),
    });
    let error = agent.devices().pair(ViewerRights::Look, None, Reach::Anywhere).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
}

#[tokio::test]
async fn names_are_of_one_line() {
    let (_home, core) = in_a_home().await;
    let (device, _) = paired(&core, "a\u{1b}[31m\nb").await;
    assert_eq!(device.name, "a [31m b");
    let (device, _) = paired(&core, "a\u{200b}b\u{e0041} \u{202e}c").await;
    assert_eq!(device.name, "ab c");
    let renamed = core.devices().rename(&device.id, "phone").await.unwrap();
    assert_eq!(renamed.name, "phone");
    let error = core.devices().rename(&device.id, &"x".repeat(65)).await.unwrap_err();
    assert_eq!(error.field(), Some("name"));
}
