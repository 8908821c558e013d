//! The endpoints: where each dialect listens.

use std::path::{Path, PathBuf};

use rookery_dialects::{Dialect, Served};
use rookery_wire::transport::unix::{self, BindOptions, UnixEndpoint};

use crate::config::Config;
use crate::homes::Homes;

/// Where a dialect is spoken, if it is: the config's word, then its usual place.
pub fn socket(dialect: &Dialect, homes: &Homes, config: &Config) -> Option<PathBuf> {
    let usual = homes.socket(&dialect.endpoint);
    let configured = Config::endpoint(config.endpoints.of(dialect.endpoint.name), &usual);
    configured.or_else(|| dialect.endpoint.always.then_some(usual))
}

pub(crate) fn bind(dialect: &Dialect, path: &Path) -> std::io::Result<UnixEndpoint> {
    let options = BindOptions {
        refusal: dialect.refusal,
        allow_shared_parent: dialect.endpoint.may_be_shared,
        ..BindOptions::default()
    };
    unix::bind(path, &options)
}

/// Accepts connections on an endpoint until its task is dropped.
pub(crate) async fn accept_all(dialect: &'static Dialect, socket: UnixEndpoint, served: Served) {
    loop {
        let Ok(stream) = socket.accept().await else { return };
        tokio::spawn(dialect.serve(stream, served.clone()));
    }
}
