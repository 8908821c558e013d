//! Params of every method of the link, by the method's name: what is read of them, written again.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;

/// What a method's params are read as, as JSON again; none if the link has no such method.
///
/// # Errors
/// If they cannot be read.
pub fn reread(name: &str, params: &[u8]) -> Option<serde_json::Result<Vec<u8>>> {
    Some(match name {
        method::OPEN => as_type::<Open>(params),
        method::ACK => as_type::<Ack>(params),
        method::RESYNC => as_type::<Resync>(params),
        method::GO => as_type::<Page>(params),
        method::ACT => as_type::<Act>(params),
        method::KEY => as_type::<Key>(params),
        method::TEXT => as_type::<Text>(params),
        method::PREEDIT => as_type::<Preedit>(params),
        method::MOUSE => as_type::<Mouse>(params),
        method::FOCUS => as_type::<Focus>(params),
        method::RESIZE => as_type::<Resize>(params),
        method::PASTE => as_type::<Paste>(params),
        method::SCROLL => as_type::<Scroll>(params),
        method::ROWS => as_type::<Rows>(params),
        method::FIND => as_type::<Find>(params),
        method::SELECT => as_type::<Select>(params),
        method::COPY => as_type::<Copy>(params),
        method::LINK_AT => as_type::<LinkAt>(params),
        method::PALETTE => as_type::<PaletteCall>(params),
        method::EDIT => as_type::<Edit>(params),
        method::CONFIRM => as_type::<Confirm>(params),
        method::PANE => as_type::<PaneCall>(params),
        method::PICTURE => as_type::<Picture>(params),
        method::INBOX => as_type::<InboxWindow>(params),
        method::CARD => as_type::<CardCall>(params),
        method::DIFF => as_type::<DiffCall>(params),
        method::ITEM => as_type::<ItemCall>(params),
        method::PREFS => as_type::<Prefs>(params),
        method::SETTINGS => as_type::<SettingsCall>(params),
        method::THREAD_OPEN => as_type::<ThreadOpen>(params),
        method::THREAD_OLDER => as_type::<ThreadOlder>(params),
        method::THREAD_NEW => as_type::<ThreadNew>(params),
        method::THREAD_SEND => as_type::<ThreadSend>(params),
        method::THREAD_STOP | method::THREAD_COMMANDS => as_type::<ThreadRef>(params),
        method::THREAD_SET => as_type::<ThreadSet>(params),
        method::THREAD_FORK => as_type::<ThreadFork>(params),
        method::THREAD_LIST => as_type::<ThreadList>(params),
        method::THREAD_MODELS => as_type::<serde_json::Value>(params),
        _ => return None,
    })
}

fn as_type<T: Serialize + DeserializeOwned>(params: &[u8]) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&serde_json::from_slice::<T>(params)?)
}
