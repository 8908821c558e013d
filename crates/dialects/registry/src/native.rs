//! Our own methods.

use crate::{Dialect, Frames, ROOKERY, RPC_REFUSAL, ops, read, served};

/// `rookery/*`.
pub(crate) const ROW: Dialect = Dialect {
    name: "native",
    about: "Our own methods",
    endpoint: ROOKERY,
    is_joined: false,
    frames: Frames::Lines,
    refusal: RPC_REFUSAL,
    helpers: &[],
    serve: served::joined,
    ops: |generator| ops::of_methods(rookery_native::METHODS, generator),
    read: |bytes| read::call(rookery_native::METHODS, bytes),
};
