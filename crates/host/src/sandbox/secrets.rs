//! Where keys, passwords and histories lie: files that neither an unasked command nor a tool reads.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Below a home: never, also where the home is open or is the workspace.
const BELOW_HOME: &[&str] = &[
    ".1password",
    ".aws",
    ".azure",
    ".bash_history",
    ".boto",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude",
    ".claude.json",
    ".codex",
    ".config/1Password",
    ".config/anthropic",
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/containers/auth.json",
    ".config/doctl",
    ".config/fish/fish_variables",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/rookery",
    ".config/sops",
    ".docker/config.json",
    ".env",
    ".fly",
    ".gem/credentials",
    ".gemini",
    ".git-credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".kube",
    ".local/share/fish/fish_history",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/rookery",
    ".local/state/rookery",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".mozilla",
    ".mysql_history",
    ".my.cnf",
    ".netrc",
    ".node_repl_history",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pki",
    ".psql_history",
    ".pypirc",
    ".python_history",
    ".roder",
    ".s3cfg",
    ".ssh",
    ".subversion/auth",
    ".terraform.d",
    ".thunderbird",
    ".vault-token",
    ".viminfo",
    ".yarnrc.yml",
    ".zsh_history",
];

/// Of the system: never. What a user may not read anyway, root may.
const OF_SYSTEM: &[&str] = &[
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/run/credentials",
    "/run/secrets",
    "/var/lib/kubelet",
    "/var/lib/rancher",
    "/var/spool/cron",
];

/// The places of secrets, as they are written and as they are without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets(BTreeSet<PathBuf>);

impl Secrets {
    /// Those of the system, those below a home, and others that are private.
    pub fn of(home: Option<&Path>, private: &[PathBuf]) -> Self {
        let system = OF_SYSTEM.iter().map(PathBuf::from);
        let homes: BTreeSet<PathBuf> = home.map(spellings).unwrap_or_default();
        let below = homes.iter().flat_map(|home| BELOW_HOME.iter().map(|name| home.join(name)));
        let named = below.chain(private.iter().cloned());
        Self(system.chain(named.flat_map(|path| spellings(&path))).collect())
    }

    /// Without the places that a directory lies in: the person who works there has chosen it.
    pub fn around(mut self, root: &Path) -> Self {
        self.0.retain(|secret| !root.starts_with(secret));
        self
    }

    /// Whether a path, free of links, is one of the places or lies in one.
    pub fn hold(&self, path: &Path) -> bool {
        path.ancestors().any(|one| self.0.contains(one))
    }

    pub(super) fn into_paths(self) -> BTreeSet<PathBuf> {
        self.0
    }
}

/// How many names are looked at on the way to a place that stays open.
const MOST_NAMES: usize = 1000;

/// Private places, where some directories below them stay open: what lies beside the way to one of these
/// is hidden by its name instead. Looks at the disk.
pub fn hidden_around(private: &[PathBuf], open: &[&Path]) -> Vec<PathBuf> {
    let mut hidden = Vec::new();
    for place in private {
        let inside: Vec<&Path> =
            open.iter().copied().filter(|open| open.starts_with(place)).collect();
        hide_beside(place, &inside, &mut hidden);
    }
    hidden
}

fn hide_beside(place: &Path, open: &[&Path], hidden: &mut Vec<PathBuf>) {
    if open.is_empty() {
        hidden.push(place.to_owned());
    } else if !open.contains(&place) {
        let entries = fs::read_dir(place).into_iter().flatten().filter_map(Result::ok);
        for entry in entries.take(MOST_NAMES) {
            let path = entry.path();
            let inside: Vec<&Path> =
                open.iter().copied().filter(|open| open.starts_with(&path)).collect();
            hide_beside(&path, &inside, hidden);
        }
    }
}

/// A path as it is written and as it is without links.
pub(super) fn spellings(path: &Path) -> BTreeSet<PathBuf> {
    let written = path.is_absolute().then(|| path.to_owned());
    written.into_iter().chain(fs::canonicalize(path).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_does_not_hide_a_secret_place() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        fs::create_dir_all(home.join("keys")).unwrap();
        std::os::unix::fs::symlink("keys", home.join(".ssh")).unwrap();
        let secrets = Secrets::of(Some(&home), &[home.join("ours")]);
        for path in [".ssh/id", "keys/id", ".aws", "ours/store.db"] {
            assert!(secrets.hold(&home.join(path)), "{path}");
        }
        for path in ["", "src/.ssh/id", "keyring"] {
            assert!(!secrets.hold(&home.join(path)), "{path}");
        }
        assert!(secrets.hold(Path::new("/etc/shadow")));
    }

    #[test]
    fn what_lies_beside_an_open_place_stays_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        for name in ["auth", "worktrees/a/one/src", "worktrees/a/two"] {
            fs::create_dir_all(data.join(name)).unwrap();
        }
        let one = data.join("worktrees/a/one");
        let private = [data.clone(), dir.path().join("state")];
        let mut hidden = hidden_around(&private, &[&one]);
        hidden.sort();
        let expected = [data.join("auth"), data.join("worktrees/a/two"), dir.path().join("state")];
        assert_eq!(hidden, expected);
        assert_eq!(hidden_around(&private, &[dir.path()]), private);
        assert!(hidden_around(&private[..1], &[&data]).is_empty());
    }

    #[test]
    fn a_workspace_in_a_secret_place_is_worked_in() {
        let home = Path::new("/home/user");
        let secrets = Secrets::of(Some(home), &[]).around(&home.join(".claude/skills/mine"));
        assert!(!secrets.hold(&home.join(".claude/skills/mine/SKILL.md")));
        assert!(secrets.hold(&home.join(".ssh/id")));
    }
}
