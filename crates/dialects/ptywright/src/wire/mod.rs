//! The shapes on the wire, one file per noun. They decode, describe themselves and turn into plain
//! values; they reach no terminal.
#![expect(
    missing_docs,
    reason = "a member needs words only where its name does not say what it means"
)]

pub mod action;
pub mod adapter;
pub mod evidence;
pub mod matcher;
pub mod notification;
pub mod plugin;
pub mod process;
pub mod redaction;
pub mod server;
pub mod session;
pub mod snapshot;
pub(crate) mod state;
pub mod wait;

#[cfg(test)]
pub(crate) mod testing {
    //! Decodes params the way the method table does.

    use rookery_wire::rpc::{self, RpcError};
    use serde::de::DeserializeOwned;
    use serde_json::value::RawValue;

    /// What the table says to params that do not decode.
    pub(crate) fn refusal<P: DeserializeOwned>(params: &str) -> String {
        let raw: &RawValue = serde_json::from_str(params).unwrap();
        let run = |_: (), _: P| async { Ok::<u8, RpcError>(0) };
        match rpc::invoke(run, (), Some(raw)) {
            Ok(_) => panic!("{params} was accepted"),
            Err(error) => {
                assert_eq!(error.code, -32602, "{params}");
                error.message
            }
        }
    }
}
