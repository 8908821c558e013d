//! The methods that faces call, each with the types of what it takes and answers: the one table of their
//! names, by which faces call and against which the daemon's table is tested.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

use super::reads::as_type;
use super::*;

/// What every name begins with.
pub const PREFIX: &str = "rookery/view/";

/// A method: its name on the wire, and the types of what it takes and answers.
pub struct Method<P, R = Value> {
    pub name: &'static str,
    types: PhantomData<fn(P) -> R>,
}

impl<P, R> Clone for Method<P, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, R> std::marker::Copy for Method<P, R> {}

impl<P, R> fmt::Debug for Method<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.name, type_name::<P>(), type_name::<R>())
    }
}

impl<P: Serialize, R> Method<P, R> {
    pub const fn new(name: &'static str) -> Self {
        Method { name, types: PhantomData }
    }

    /// A call of it.
    pub fn with(self, params: P) -> Call {
        // Types of wires have names of members as keys, so that this cannot fail.
        Call { method: self.name, params: serde_json::to_value(params).unwrap_or_default() }
    }
}

/// A method with what it is to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub method: &'static str,
    pub params: Value,
}

/// The shapes of one method of the link.
pub struct Shapes {
    pub name: &'static str,
    pub params: fn(&mut SchemaGenerator) -> Schema,
    pub result: fn(&mut SchemaGenerator) -> Schema,
    pub(super) reread: fn(&[u8]) -> serde_json::Result<Vec<u8>>,
}

fn shape<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

macro_rules! methods {
    ($($NAME:ident = $name:literal: $Params:ty => $Reply:ty,)*) => {
        $(pub const $NAME: Method<$Params, $Reply> = Method::new($name);)*

        /// All methods of the link.
        pub const ALL: &[Shapes] =
            &[$(Shapes {
                name: $name,
                params: shape::<$Params>,
                result: shape::<$Reply>,
                reread: as_type::<$Params>,
            },)*];
    };
}

methods! {
    OPEN = "rookery/view/open": Open => Opened,
    ACK = "rookery/view/ack": Ack => Done,
    RESYNC = "rookery/view/resync": Resync => Done,
    GO = "rookery/view/go": Page => Done,
    ACT = "rookery/view/act": Act => Done,
    KEY = "rookery/view/key": Key => Done,
    TEXT = "rookery/view/text": Text => Done,
    PREEDIT = "rookery/view/preedit": Preedit => Done,
    MOUSE = "rookery/view/mouse": Mouse => Done,
    FOCUS = "rookery/view/focus": Focus => Done,
    RESIZE = "rookery/view/resize": Resize => Done,
    PASTE = "rookery/view/paste": Paste => Pasted,
    SCROLL = "rookery/view/scroll": Scroll => Done,
    ROWS = "rookery/view/rows": Rows => RowsFound,
    FIND = "rookery/view/find": Find => Found,
    SELECT = "rookery/view/select": Select => Selected,
    COPY = "rookery/view/copy": Copy => Copied,
    LINK_AT = "rookery/view/linkAt": LinkAt => LinkFound,
    PALETTE = "rookery/view/palette": PaletteCall => Done,
    EDIT = "rookery/view/edit": Edit => Done,
    CONFIRM = "rookery/view/confirm": Confirm => Done,
    PANE = "rookery/view/pane": PaneCall => Done,
    PICTURE = "rookery/view/picture": Picture => PictureTaken,
    INBOX = "rookery/view/inbox": InboxWindow => Done,
    CARD = "rookery/view/card": CardCall => Card,
    DIFF = "rookery/view/diff": DiffCall => Diff,
    ITEM = "rookery/view/item": ItemCall => ItemShown,
    PREFS = "rookery/view/prefs": Prefs => PrefsFound,
    SETTINGS = "rookery/view/settings": SettingsCall => Done,
    THREAD_OPEN = "rookery/view/thread/open": ThreadOpen => ThreadShown,
    THREAD_OLDER = "rookery/view/thread/older": ThreadOlder => ThreadItems,
    THREAD_NEW = "rookery/view/thread/new": ThreadNew => ThreadRef,
    THREAD_SEND = "rookery/view/thread/send": ThreadSend => Done,
    THREAD_STOP = "rookery/view/thread/stop": ThreadRef => Done,
    THREAD_SET = "rookery/view/thread/set": ThreadSet => Done,
    THREAD_FORK = "rookery/view/thread/fork": ThreadFork => ThreadRef,
    THREAD_LIST = "rookery/view/thread/list": ThreadList => ThreadsFound,
    THREAD_MODELS = "rookery/view/thread/models": Done => ModelsFound,
    THREAD_COMMANDS = "rookery/view/thread/commands": ThreadRef => CommandsFound,
}
