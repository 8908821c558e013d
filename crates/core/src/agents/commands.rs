//! Slash commands in this world: which there are, and what they come to under our policy.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rookery_agent::commands::{
    Catalog, CommandError, CommandInfo, ExpandContext, Expanded, Fetch, Fetched, Fetching, Gate,
    Listing, expand,
};
use rookery_agent::policy::{Class, Verdict};
use rookery_agent::tool::Sandbox;
use rookery_host::{Script, http, sandbox};
use rookery_model::{Error, Mode, Result, ThreadId};
use url::Url;

use super::{AgentConfig, Room};
use crate::rooms::Agents;

/// How long a server may be silent; the whole is bounded by the settings.
const IDLE: Duration = Duration::from_secs(30);

/// The catalog with the user's directory where the settings name none.
pub(super) fn catalog(config: &AgentConfig, home: &Path) -> Catalog {
    let mut settings = config.settings.commands.clone();
    settings.user_dir = settings.user_dir.or_else(|| config.commands_dir.clone());
    Catalog::new(settings).with_home(home.to_owned())
}

impl Agents {
    /// The slash commands of a workspace, by name. A file that is none is complained about once.
    ///
    /// # Errors
    /// If commands are turned off, or the workspace is relative.
    pub async fn commands(&self, workspace: &Path) -> Result<Vec<CommandInfo>> {
        Ok(self.command_listing(workspace).await?.infos())
    }

    /// What a slash command comes to with what follows its name. With a thread its includes are got as
    /// this client may in that thread; without one it is only looked at, and nothing runs that does more than read.
    ///
    /// # Errors
    /// If there is no such command, or something that it includes is not allowed or cannot be had.
    pub async fn expand_command(
        &self,
        name: &str,
        arguments: &str,
        workspace: &Path,
        thread: Option<ThreadId>,
        client: Option<u64>,
    ) -> Result<Expanded> {
        let command = self.command_listing(workspace).await?.find(name)?;
        let agents = &self.core.inner.agents;
        let may_write = thread.is_some();
        let mode = client.map_or_else(
            || self.core.threads().mode(thread),
            |client| self.core.threads().mode_for(client, thread),
        );
        let gate = PolicyGate {
            agents,
            mode,
            may_write,
            fence: agents.sandbox(&self.core.inner.config.home, &[workspace]),
            withheld: self.core.threads().withheld(),
        };
        let fetch = WebFetch(agents.client.clone());
        let around = ExpandContext {
            workspace,
            settings: agents.commands.settings(),
            gate: &gate,
            fetch: &fetch,
        };
        Ok(expand(&command, arguments, around).await?)
    }

    /// The slash commands of a workspace that need no import, by name.
    ///
    /// # Errors
    /// As [`Self::commands`].
    pub(crate) async fn live_commands(&self, workspace: &Path) -> Result<Vec<CommandInfo>> {
        Ok(self.live_listing(workspace).await?.infos())
    }

    async fn command_listing(&self, workspace: &Path) -> Result<Listing> {
        let mut listing = self.live_listing(workspace).await?;
        self.core.imports().evaluate(workspace).await.change_commands(&mut listing);
        Ok(listing)
    }

    async fn live_listing(&self, workspace: &Path) -> Result<Listing> {
        let (catalog, workspace) =
            (Arc::clone(&self.core.inner.agents.commands), workspace.to_owned());
        let listed = tokio::task::spawn_blocking(move || catalog.list(Some(&workspace))).await;
        let listed: std::result::Result<Listing, CommandError> =
            listed.map_err(|error| Error::failed(error.to_string()))?;
        let listing = listed?;
        listing.warnings.iter().for_each(|warning| self.warn_once(warning.to_string()));
        Ok(listing)
    }
}

/// Lets commands include what our policy lets run without asking.
struct PolicyGate<'a> {
    agents: &'a Room,
    mode: Mode,
    may_write: bool,
    /// Holds a program to reading, where that can be done.
    fence: Option<Sandbox>,
    /// Variables that no program inherits.
    withheld: Vec<String>,
}

impl Gate for PolicyGate<'_> {
    fn check(&self, command: &str, _cwd: &Path) -> std::result::Result<(), String> {
        let judgement = self.agents.judge_line(command, self.mode);
        match judgement.verdict {
            Verdict::Allow | Verdict::AutoApprove => {}
            Verdict::Ask | Verdict::Deny => return Err(judgement.reason),
        }
        match self.may_write || judgement.class == Some(Class::ReadOnly) {
            true => Ok(()),
            false => Err("it is not known to only read, and the command is not run yet".to_owned()),
        }
    }

    fn hold(&self, mut script: Script) -> Script {
        script.env_remove.extend(self.withheld.iter().map(Into::into));
        if self.mode == Mode::Bypass && self.may_write {
            return script;
        }
        script.env.extend(sandbox::quiet_env().into_iter().map(|(k, v)| (k.into(), v.into())));
        if let Some(fence) = &self.fence {
            let argv = script.argv.iter().map(|word| word.to_string_lossy().into_owned());
            script.argv = fence(argv.collect()).into_iter().map(Into::into).collect();
        }
        script
    }
}

/// Gets pages through the way out that providers use.
struct WebFetch(http::Client);

impl Fetch for WebFetch {
    fn fetch(&self, url: Url, limit: usize) -> Fetching<'_> {
        Box::pin(async move {
            let request = http::Request { url: url.into(), idle: IDLE, ..http::Request::default() };
            let mut response = self.0.send(request).await.map_err(|error| error.to_string())?;
            let status = response.status();
            match status {
                200..=299 => {
                    let bytes = response.bytes(limit).await.map_err(|error| error.to_string())?;
                    Ok(Fetched::Page(bytes))
                }
                301 | 302 | 303 | 307 | 308 => {
                    let to = response.header("location").map(str::to_owned);
                    Ok(to.map_or(Fetched::Status(status), Fetched::Redirect))
                }
                _ => Ok(Fetched::Status(status)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mode: Mode, may_write: bool, command: &str) -> std::result::Result<(), String> {
        let agents = Room::alone(AgentConfig::default());
        let gate =
            PolicyGate { agents: &agents, mode, may_write, fence: None, withheld: Vec::new() };
        gate.check(command, Path::new("/"))
    }

    #[tokio::test]
    async fn a_page_is_cut_and_a_redirect_is_reported_and_not_followed() {
        use std::io::{Read as _, Write as _};
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let answers = [
            "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n0123456789",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
        ];
        let serving = std::thread::spawn(move || {
            for answer in answers {
                let (mut peer, _) = server.accept().unwrap();
                let mut asked = Vec::new();
                let mut piece = [0; 512];
                while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
                    let count = peer.read(&mut piece).unwrap();
                    asked.extend_from_slice(&piece[..count]);
                }
                peer.write_all(answer.as_bytes()).unwrap();
            }
        });
        let fetch = WebFetch(http::Client::new());
        let url = Url::parse(&format!("http://{address}/x")).unwrap();
        let redirect = fetch.fetch(url.clone(), 4).await.unwrap();
        assert_eq!(redirect, Fetched::Redirect("/next".to_owned()));
        assert_eq!(fetch.fetch(url.clone(), 4).await.unwrap(), Fetched::Page(b"0123".to_vec()));
        assert_eq!(fetch.fetch(url, 4).await.unwrap(), Fetched::Status(404));
        serving.join().unwrap();
    }

    #[test]
    fn a_command_includes_what_needs_no_asking() {
        for (mode, may_write, command, is_allowed) in [
            (Mode::Default, true, "git status --short", true),
            (Mode::Default, false, "git status --short", true),
            (Mode::Default, true, "make", false),
            (Mode::Default, true, "touch x", false),
            (Mode::Plan, true, "touch x", false),
            (Mode::AcceptAll, true, "touch x", true),
            (Mode::AcceptAll, false, "touch x", false),
            (Mode::Bypass, false, "make", false),
            // Reads a project's configuration, which nothing holds to reading here.
            (Mode::Default, true, "cargo metadata", false),
        ] {
            let checked = check(mode, may_write, command);
            assert_eq!(checked.is_ok(), is_allowed, "{mode:?} {may_write} {command}: {checked:?}");
        }
        assert_eq!(check(Mode::Default, true, "make").unwrap_err(), "side-effecting tool call");
    }
}
