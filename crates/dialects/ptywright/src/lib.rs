//! The ptywright dialect: drive any terminal program over JSON-RPC.
//!
//! Owns the method names, the shapes and the error texts of that protocol, and turns each request
//! into calls on [`rookery_core::Core`]. It keeps no truth of its own: two clients of two dialects
//! see the same terminals. Adapters and their plugins are shown here, and kept by `rookery_watch`.

mod cache;
mod cells;
mod context;
mod errors;
mod ids;
mod notify;
mod ops;
mod screen;
mod waits;
pub mod wire;

pub use context::{Cx, Shared};
pub use errors::redact_error;

use rookery_wire::{method, rpc::Method};

/// The version of the protocol, as the original counts it: clients ask for it.
pub const PROTOCOL_VERSION: &str = "0.3.0";

/// Every method of the dialect.
pub static METHODS: &[Method<Cx>] = &[
    method!("server.capabilities", LOOK, [] => ops::server::capabilities),
    method!("server.set_notifications", LOOK, [adapters: Adapter, sessions: Terminal] => ops::server::set_notifications),
    method!("session.create", INSIDE, [] => ops::session::create),
    method!("session.list", LOOK, [] => ops::session::list),
    method!("session.input", INSIDE, [session: Terminal] => ops::session::input),
    method!("session.wait", LOOK, [session: Terminal, wait_id: Wait] => ops::session::wait),
    method!("session.snapshot", LOOK, [session: Terminal] => ops::session::snapshot),
    method!("session.transcript", LOOK, [session: Terminal] => ops::session::transcript),
    method!("session.resize", INSIDE, [session: Terminal] => ops::session::resize),
    method!("session.kill", INSIDE, [session: Terminal] => ops::session::kill),
    method!("session.close", INSIDE, [session: Terminal] => ops::session::close),
    method!("adapter.list", LOOK, [] => ops::adapter::list),
    method!("adapter.live", LOOK, [] => ops::adapter::live),
    method!("adapter.start", INSIDE, [] => ops::adapter::start),
    method!("adapter.resume", INSIDE, [prior_adapter: Adapter] => ops::adapter::resume),
    method!("adapter.state", LOOK, [adapter: Adapter] => ops::adapter::state),
    method!("adapter.send", INSIDE, [adapter: Adapter] => ops::adapter::send),
    method!("adapter.wait", LOOK, [adapter: Adapter, wait_id: Wait] => ops::adapter::wait),
    method!("adapter.turn", INSIDE, [adapter: Adapter, wait.wait_id: Wait] => ops::adapter::turn),
    method!("adapter.cancel_wait", LOOK, [wait_id: Wait] => ops::adapter::cancel_wait),
    method!("adapter.snapshot", LOOK, [adapter: Adapter] => ops::adapter::snapshot),
    method!("adapter.transcript", LOOK, [adapter: Adapter] => ops::adapter::transcript),
    method!("adapter.inspect", LOOK, [adapter: Adapter] => ops::adapter::inspect),
    method!("adapter.close", INSIDE, [adapter: Adapter] => ops::adapter::close),
    method!("plugin.capabilities", LOOK, [] => ops::plugin::capabilities),
    method!("plugin.validate_manifest", LOOK, [] => ops::plugin::validate_manifest),
    method!("plugin.load", OWN, [] => ops::plugin::load),
    method!("plugin.unload", OWN, [] => ops::plugin::unload),
    method!("plugin.describe", LOOK, [] => ops::plugin::describe),
];

#[cfg(test)]
mod tests {
    use rookery_wire::rpc::Table;

    use super::*;

    #[test]
    fn names_are_unique_and_in_the_order_of_the_contract() {
        let names: Vec<_> = Table::new([METHODS]).iter().map(|method| method.name).collect();
        assert_eq!(
            names,
            [
                "server.capabilities",
                "server.set_notifications",
                "session.create",
                "session.list",
                "session.input",
                "session.wait",
                "session.snapshot",
                "session.transcript",
                "session.resize",
                "session.kill",
                "session.close",
                "adapter.list",
                "adapter.live",
                "adapter.start",
                "adapter.resume",
                "adapter.state",
                "adapter.send",
                "adapter.wait",
                "adapter.turn",
                "adapter.cancel_wait",
                "adapter.snapshot",
                "adapter.transcript",
                "adapter.inspect",
                "adapter.close",
                "plugin.capabilities",
                "plugin.validate_manifest",
                "plugin.load",
                "plugin.unload",
                "plugin.describe",
            ]
        );
    }

    #[test]
    fn every_method_has_a_schema() {
        let mut generator = schemars::SchemaGenerator::default();
        for method in METHODS {
            let params = (method.params_schema)(&mut generator);
            let result = (method.result_schema)(&mut generator);
            assert!(params.as_object().is_some_and(|schema| !schema.is_empty()), "{}", method.name);
            assert!(result.as_object().is_some_and(|schema| !schema.is_empty()), "{}", method.name);
        }
        for name in ["ScreenSnapshot", "Action", "Matcher", "Cell", "Redaction"] {
            assert!(generator.definitions().contains_key(name), "{name}");
        }
    }
}
