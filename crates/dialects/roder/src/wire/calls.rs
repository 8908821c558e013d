//! Which method a type of params belongs to, for those that our own commands call. Where a method has
//! two names, it is the one that both generations of clients know.

use rookery_wire::{call, empty_calls};

use super::{command, discovery, initialize, provider, session, thread, turn, upkeep};
use command::{CommandsListParams, CommandsListResult, CommandsRunParams, CommandsRunResult};
use initialize::{InitializeParams, InitializeResult};
use provider::{LendKeyParams, ProvidersSelectParams, ProvidersSelectResult};
use session::{SessionGetParams, SessionGetResult, SessionSetModeParams, SessionSetModeResult};
use thread::{
    ThreadHistoryReadParams, ThreadHistoryReadResult, ThreadListParams, ThreadListResult,
    ThreadReadParams, ThreadReadResult, ThreadStartParams, ThreadStartResult,
};
use turn::{TurnIdResult, TurnInterruptParams, TurnStartParams, TurnStartResult};
use upkeep::{
    ThreadCompactParams, ThreadCompactResult, ThreadForkParams, ThreadForkResult, ThreadNameResult,
    ThreadNameSetParams,
};

call!("initialize" InitializeParams -> InitializeResult);
call!("commands/list" CommandsListParams -> CommandsListResult);
call!("commands/run" CommandsRunParams -> CommandsRunResult);
call!("providers/select" ProvidersSelectParams -> ProvidersSelectResult);
call!("rookery/keys/lend" LendKeyParams -> super::Empty);
call!("session/get" SessionGetParams -> SessionGetResult);
call!("session/set_mode" SessionSetModeParams -> SessionSetModeResult);
call!("thread/compact" ThreadCompactParams -> ThreadCompactResult);
call!("thread/fork" ThreadForkParams -> ThreadForkResult);
call!("thread/history/read" ThreadHistoryReadParams -> ThreadHistoryReadResult);
call!("thread/list" ThreadListParams -> ThreadListResult);
call!("thread/name/set" ThreadNameSetParams -> ThreadNameResult);
call!("thread/read" ThreadReadParams -> ThreadReadResult);
call!("thread/start" ThreadStartParams -> ThreadStartResult);
call!("turn/interrupt" TurnInterruptParams -> TurnIdResult);
call!("turn/start" TurnStartParams -> TurnStartResult);

empty_calls! {
    /// Params of `model/list`, which takes none.
    pub ModelList: "model/list" -> discovery::ModelListResult,
    /// Params of `providers/list`, which takes none.
    pub ProvidersList: "providers/list" -> provider::ProvidersListResult,
}
