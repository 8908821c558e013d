//! What faces look through, beside our own methods.

use crate::{Dialect, Frames, ROOKERY, RPC_REFUSAL, ops, read, served};

/// `rookery/view/*`.
pub(crate) const ROW: Dialect = Dialect {
    name: "link",
    about: "Viewers: frames, input, cards and threads",
    endpoint: ROOKERY,
    is_joined: true,
    frames: Frames::Lines,
    refusal: RPC_REFUSAL,
    helpers: &[],
    serve: served::joined,
    ops: |generator| ops::of_methods(rookery_link::METHODS, generator),
    read: |bytes| read::call(rookery_link::METHODS, bytes),
};
