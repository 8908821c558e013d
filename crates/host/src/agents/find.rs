//! Where coding agents are installed.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{KnownAgent, known_agents};
use crate::program::find_program;
use crate::script::Script;

/// How long a login shell may take to say where programs are.
const SHELL_LIMIT: Duration = Duration::from_millis(400);

/// An agent, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTool {
    /// Which one.
    pub tool: &'static KnownAgent,
    /// The program; none if it is not installed.
    pub path: Option<PathBuf>,
}

/// Directories below the home that package managers put programs into.
const BELOW_HOME: &[&str] = &[
    ".asdf/shims",
    ".volta/bin",
    ".cargo/bin",
    ".local/bin",
    "bin",
    ".bun/bin",
    "Library/pnpm",
    ".npm-global/bin",
    ".yarn/bin",
    ".config/yarn/global/node_modules/.bin",
    ".nvm/versions/node/current/bin",
];
const USUAL: &[&str] = &["/opt/homebrew/bin", "/usr/local/bin", "/usr/bin", "/bin"];

/// Looks for all of them: in this `PATH`, in that of login shells, and where package managers put
/// programs. Takes no longer than a login shell is waited for.
pub async fn find_agent_tools(
    path: Option<OsString>,
    shell: &str,
    home: PathBuf,
) -> Vec<FoundTool> {
    let (login, interactive) = tokio::join!(path_of(shell, &["-lc"]), path_of(shell, &["-lic"]));
    let look = move || {
        let dirs = places([path, login, interactive], &home);
        let joined = std::env::join_paths(dirs).unwrap_or_default();
        let find = |name: &str| find_program(OsStr::new(name), Some(&joined), Path::new("/"));
        let found = |tool: &'static KnownAgent| FoundTool {
            tool,
            path: tool.programs.iter().find_map(|name| find(name)),
        };
        known_agents().iter().filter(|tool| !tool.programs.is_empty()).map(found).collect()
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// What a shell of the user has as its `PATH`.
async fn path_of(shell: &str, flags: &[&str]) -> Option<OsString> {
    // Marks around it, because start-up files may print something.
    let question = "printf '<<%s>>' \"$PATH\"";
    let argv = [shell].into_iter().chain(flags.iter().copied()).chain([question]);
    let mut script = Script::new(argv.map(OsString::from));
    script.timeout = SHELL_LIMIT;
    script.env = vec![("TERM".into(), "dumb".into())];
    let outcome = script.run().await;
    let said = String::from_utf8(outcome.stdout).ok()?;
    let (_, rest) = said.rsplit_once("<<")?;
    Some(rest.split_once(">>")?.0.into())
}

/// All directories, each once, in the order in which they are looked through.
fn places(paths: [Option<OsString>; 3], home: &Path) -> Vec<PathBuf> {
    let named = paths.into_iter().flatten();
    let named = named.flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let below = BELOW_HOME.iter().map(|dir| home.join(dir));
    let mut seen = HashSet::new();
    named
        .chain(USUAL.iter().map(PathBuf::from))
        .chain(below)
        .chain(node_versions(&home.join(".nvm/versions/node")))
        .filter(|dir| dir.is_absolute() && !dir.as_os_str().to_string_lossy().contains(':'))
        .filter(|dir| seen.insert(dir.clone()))
        .collect()
}

/// The programs of every version of node, the newest first.
fn node_versions(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut versions: Vec<(Vec<u64>, PathBuf)> = entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let numbers =
                name.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0));
            (numbers.collect(), entry.path().join("bin"))
        })
        .collect();
    versions.sort_by(|one, other| other.cmp(one));
    versions.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn program(dir: &Path, name: &str) -> PathBuf {
        std::fs::create_dir_all(dir).unwrap();
        let file = dir.join(name);
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    fn path_of_tool(found: &[FoundTool], id: &str) -> Option<PathBuf> {
        found.iter().find(|found| found.tool.id == id).unwrap().path.clone()
    }

    #[tokio::test]
    async fn tools_are_found_where_they_may_be_and_the_first_place_wins() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("own");
        let claude = program(&own, "claude");
        program(&home.path().join(".local/bin"), "claude");
        let gemini = program(&home.path().join(".bun/bin"), "gemini");
        program(&home.path().join(".nvm/versions/node/v9.1.0/bin"), "droid");
        let droid = program(&home.path().join(".nvm/versions/node/v18.2.0/bin"), "droid");
        let path = Some(own.into_os_string());
        let found = find_agent_tools(path, "/bin/sh", home.path().to_owned()).await;
        let ids: Vec<&str> = found.iter().map(|found| found.tool.id.as_str()).collect();
        assert_eq!(&ids[..5], ["gemini-cli", "claude", "codex", "opencode", "droid"]);
        assert_eq!(path_of_tool(&found, "claude"), Some(claude));
        assert_eq!(path_of_tool(&found, "gemini-cli"), Some(gemini));
        assert_eq!(path_of_tool(&found, "droid"), Some(droid));
    }

    #[tokio::test]
    async fn a_login_shell_that_chatters_is_understood_and_one_that_hangs_is_not_waited_for() {
        let home = tempfile::tempdir().unwrap();
        let shell = program(home.path(), "shell");
        let codex = program(&home.path().join("there"), "codex");
        let text =
            format!("#!/bin/sh\necho '<<hello>>'\nprintf '<<{}/there>>'\n", home.path().display());
        std::fs::write(&shell, text).unwrap();
        let shell = shell.to_str().unwrap();
        let found = find_agent_tools(None, shell, home.path().to_owned()).await;
        assert_eq!(path_of_tool(&found, "codex"), Some(codex));
        std::fs::write(shell, "#!/bin/sh\nexec sleep 1000\n").unwrap();
        let found = find_agent_tools(None, shell, home.path().to_owned()).await;
        assert!(found.len() > 5);
        assert!(found.iter().all(|found| !found.tool.programs.is_empty()));
    }
}
