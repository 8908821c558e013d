//! The ptywright dialect: drive any terminal program over JSON-RPC.
//!
//! Owns the method names, the shapes and the error texts of that protocol, and turns each request
//! into calls on [`rookery_core::Core`]. It keeps no truth of its own: two clients of two dialects
//! see the same terminals. Adapters, plugins and notifications are not part of the table yet.

mod cache;
mod cells;
mod context;
mod errors;
mod ids;
mod marks;
mod ops;
mod screen;
pub mod wire;

pub use context::{Cx, Shared};
pub use errors::redact_error;

use rookery_wire::{method, rpc::Method};

/// Every method of the dialect.
pub const METHODS: &[Method<Cx>] = &[
    method!("server.capabilities" => ops::server::capabilities),
    method!("session.create" => ops::session::create),
    method!("session.list" => ops::session::list),
    method!("session.input" => ops::session::input),
    method!("session.wait" => ops::session::wait),
    method!("session.snapshot" => ops::session::snapshot),
    method!("session.transcript" => ops::session::transcript),
    method!("session.resize" => ops::session::resize),
    method!("session.kill" => ops::session::kill),
    method!("session.close" => ops::session::close),
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
                "session.create",
                "session.list",
                "session.input",
                "session.wait",
                "session.snapshot",
                "session.transcript",
                "session.resize",
                "session.kill",
                "session.close",
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
