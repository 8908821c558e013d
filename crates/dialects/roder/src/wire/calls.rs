//! Which method a type of params belongs to, for those that our own commands call. Where a method has
//! two names, it is the one that both generations of clients know.

use rookery_wire::call;

use super::{initialize, thread};
use initialize::{InitializeParams, InitializeResult};
use thread::{
    ThreadHistoryReadParams, ThreadHistoryReadResult, ThreadListParams, ThreadListResult,
    ThreadReadParams, ThreadReadResult,
};

call!("initialize" InitializeParams -> InitializeResult);
call!("thread/history/read" ThreadHistoryReadParams -> ThreadHistoryReadResult);
call!("thread/list" ThreadListParams -> ThreadListResult);
call!("thread/read" ThreadReadParams -> ThreadReadResult);
