//! Logs on stderr. stdout carries only what scripts read.

use tracing_subscriber::EnvFilter;

/// Starts logging. `ROOKERY_LOG` overrides the config.
pub(crate) fn start(config: &str, from_env: Option<String>) {
    let wanted = from_env.unwrap_or_else(|| config.to_owned());
    let filter = EnvFilter::try_new(&wanted).unwrap_or_else(|_| EnvFilter::new("info"));
    let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(is_terminal && std::env::var_os("NO_COLOR").is_none())
        .finish();
    // A test may have installed its own; then that one stays.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
