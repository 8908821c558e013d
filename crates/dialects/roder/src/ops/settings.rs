//! Settings that outlive a connection.

use std::path::Path;
use std::sync::LazyLock;

use rookery_agent::settings::Settings;
use rookery_wire::rpc::NoParams;

use super::turns::read_mode;
use crate::context::Cx;
use crate::errors::Error;
use crate::show;
use crate::wire::notification::SettingsChanged;
use crate::wire::settings::{
    SearchIndexSettings, SettingsGetResult, SettingsSetDefaultModeParams,
    SettingsSetDefaultModeResult, SettingsSetDynamicContextParams, SettingsSetDynamicContextResult,
    SettingsSetSearchIndexParams, SettingsSetSearchIndexResult, SettingsSetShellParams,
    SettingsSetShellResult, SettingsSetWebSearchParams, SettingsSetWebSearchResult, ShellSettings,
    WebSearchSettings,
};

/// Where a system lists its shells.
const SHELLS: &str = "/etc/shells";
/// How much of that list is read.
const SHELLS_LIMIT: usize = 64 << 10;

/// The shells of this system. They hardly ever change, so they are looked up once.
static INSTALLED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let text = rookery_host::files::read_start(Path::new(SHELLS), SHELLS_LIMIT).unwrap_or_default();
    listed_shells(&String::from_utf8_lossy(&text), |path| Path::new(path).is_file())
});

/// The shells of a list that are there, each once.
fn listed_shells(text: &str, is_there: impl Fn(&str) -> bool) -> Vec<String> {
    let mut shells: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('/') && is_there(line) && shells.iter().all(|known| known != line) {
            shells.push(line.to_owned());
        }
    }
    shells
}

pub(crate) async fn get(cx: Cx, _: NoParams) -> Result<SettingsGetResult, Error> {
    let settings = cx.core.agents().settings();
    let choice = cx.choice();
    Ok(SettingsGetResult {
        web_search: web_search(&settings),
        search_index: SearchIndexSettings { enabled: settings.search_index.enabled },
        shell: shell(&cx),
        default_reasoning: show::effort(&cx, &choice),
        default_provider: choice.provider,
        default_model: choice.model,
        default_mode: show::mode(&cx, settings.policy.default.value),
        agent_swarm_mode: false,
        ultra_mode: false,
        file_backed_dynamic_context: settings.context.file_backed_dynamic_context,
    })
}

/// Everything that a client may show, as it is now.
pub(crate) fn changed(cx: &Cx) -> SettingsChanged {
    let settings = cx.core.agents().settings();
    SettingsChanged {
        web_search: Some(web_search(&settings)),
        search_index: Some(SearchIndexSettings { enabled: settings.search_index.enabled }),
        shell: Some(shell(cx)),
        default_mode: Some(show::mode(cx, settings.policy.default.value)),
        file_backed_dynamic_context: Some(settings.context.file_backed_dynamic_context),
    }
}

fn web_search(settings: &Settings) -> WebSearchSettings {
    WebSearchSettings {
        mode: settings.web_search.spelling.to_owned(),
        external_enabled: false,
        external_provider: None,
        providers: Vec::new(),
    }
}

fn shell(cx: &Cx) -> ShellSettings {
    let shell = cx.core.agents().shell();
    let mut options = INSTALLED.clone();
    if !options.contains(&shell) {
        options.insert(0, shell.clone());
    }
    ShellSettings { shell, options }
}

pub(crate) async fn set_web_search(
    cx: Cx,
    params: SettingsSetWebSearchParams,
) -> Result<SettingsSetWebSearchResult, Error> {
    cx.core.agents().set_web_search(&params.mode).await?;
    Ok(SettingsSetWebSearchResult { web_search: web_search(&cx.core.agents().settings()) })
}

pub(crate) async fn set_default_mode(
    cx: Cx,
    params: SettingsSetDefaultModeParams,
) -> Result<SettingsSetDefaultModeResult, Error> {
    let (_, word) = read_mode(params.mode)?;
    cx.check_is_no_agent()?;
    cx.core.agents().set_default_mode(&word).await?;
    let mode = cx.core.agents().settings().policy.default.value;
    Ok(SettingsSetDefaultModeResult { default_mode: show::mode(&cx, mode) })
}

pub(crate) async fn set_shell(
    cx: Cx,
    params: SettingsSetShellParams,
) -> Result<SettingsSetShellResult, Error> {
    cx.core.agents().set_shell(&params.shell).await?;
    Ok(SettingsSetShellResult { shell: shell(&cx) })
}

pub(crate) async fn set_search_index(
    cx: Cx,
    params: SettingsSetSearchIndexParams,
) -> Result<SettingsSetSearchIndexResult, Error> {
    cx.core.agents().set_search_index(params.enabled).await?;
    let enabled = cx.core.agents().settings().search_index.enabled;
    Ok(SettingsSetSearchIndexResult { search_index: SearchIndexSettings { enabled }, enabled })
}

pub(crate) async fn set_dynamic_context(
    cx: Cx,
    params: SettingsSetDynamicContextParams,
) -> Result<SettingsSetDynamicContextResult, Error> {
    cx.core.agents().set_dynamic_context(params.enabled).await?;
    let enabled = cx.core.agents().settings().context.file_backed_dynamic_context;
    Ok(SettingsSetDynamicContextResult { enabled })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_shells_has_comments_doubles_and_what_is_gone() {
        let text = "# shells\n/bin/sh\n /bin/bash \n\nbash\n/bin/sh\n/bin/gone\n";
        assert_eq!(listed_shells(text, |path| path != "/bin/gone"), ["/bin/sh", "/bin/bash"]);
    }
}
