//! Lists in the palette that scripts fill.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rookery_host::{End, Outcome, Script};
use rookery_view::palette::ProviderCall;
use rookery_view::palette::provider::{self, Context, RunEnd};
use rookery_view::settings::Provider;

use super::settings::provider_dir;
use crate::rooms::Seats;

/// Scripts that are offered at most, so that a strange folder does no harm.
const MOST_DISCOVERED: usize = 200;

impl Seats {
    /// Configured providers, then those found beside the settings.
    pub(super) async fn providers(&self) -> Vec<Provider> {
        let mut providers = self.core.inner.seats.state.lock().settings.providers.clone();
        let file = self.core.inner.seats.config.settings.as_deref();
        if let Some(dir) = file.and_then(provider_dir) {
            let found = tokio::task::spawn_blocking(move || discover(&dir)).await;
            providers.extend(found.unwrap_or_default());
        }
        providers
    }

    /// Runs a provider beside everything else; its list is shown if it is still wanted.
    pub(super) fn run_provider(&self, call: ProviderCall) {
        let (core, seats) = (self.core.clone(), self.clone());
        self.core.inner.runtime.spawn(async move {
            let context = seats.provider_context(&call).await;
            let shell = core.inner.config.shell.clone();
            let launch = provider::launch(&call.provider, &call.phase, &context, &shell);
            let mut script = Script::new(launch.argv);
            script.env =
                launch.env.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
            script.env_remove = launch.without.into_iter().map(Into::into).collect();
            script.cwd = launch.cwd.map(PathBuf::from).filter(|dir| dir.is_dir());
            script.stdin = launch.stdin.into_bytes();
            script.timeout = launch.timeout;
            script.stdout_limit = provider::MOST_OUTPUT;
            let result = provider::read_end(&call.phase, &run_end(script.run().await));
            let effects = seats.change_seat(|seat| seat.palette.provided(&call, result));
            if let Err(error) = seats.carry_out(effects).await {
                tracing::debug!(%error, "what a provider led to could not be done");
            }
        });
    }

    async fn provider_context(&self, call: &ProviderCall) -> Context {
        let active = self.place();
        let tab = active.terminal.and_then(|id| self.core.workspace().tab(id).ok());
        let cwd = match &tab {
            Some(tab) => self.live_cwd(tab).await.to_string_lossy().into_owned(),
            None => String::new(),
        };
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        Context {
            socket: self.core.inner.seats.config.socket.as_ref().map(text).unwrap_or_default(),
            query: call.query.clone(),
            tab: active.terminal,
            project: active.project,
            cwd,
            title: tab.map(|tab| tab.title().into_owned()).unwrap_or_default(),
            roostctl: self.core.inner.seats.config.roostctl.as_ref().map(text),
        }
    }
}

/// Executables in a folder, as providers.
fn discover(dir: &Path) -> Vec<Provider> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let is_program = |path: &PathBuf| {
        let meta = std::fs::metadata(path);
        meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    let providers = paths.into_iter().filter(is_program).filter_map(|path| {
        let name = path.file_name()?.to_str().filter(|name| !name.starts_with('.'))?.to_owned();
        let head = head_of(&path);
        Some(provider::discovered(path.to_str()?, &name, &head))
    });
    providers.take(MOST_DISCOVERED).collect()
}

/// The beginning of a file, for its header.
fn head_of(path: &Path) -> String {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    // A file that cannot be read has no header, and says so when it is run.
    let _ = std::fs::File::open(path)
        .and_then(|file| file.take(provider::HEADER_BYTES as u64).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn run_end(outcome: Outcome) -> RunEnd {
    let stderr = outcome.last_error_line.unwrap_or_default().into_bytes();
    let stdout = outcome.stdout;
    match outcome.end {
        End::Exited(code) => RunEnd::Exited { code: Some(code), stdout, stderr },
        End::Signaled(_) => RunEnd::Exited { code: None, stdout, stderr },
        End::TimedOut => RunEnd::TimedOut { stderr },
        End::TooMuchOutput => RunEnd::TooMuch,
        End::Failed(reason) => RunEnd::Failed(reason),
    }
}
