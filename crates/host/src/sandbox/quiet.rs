//! The environment in which commands that only read run: git takes no locks, pages through
//! nothing and runs no hook, monitor, signer, helper or proxy that configuration names.
//!
//! Drivers for diffs and filters have names of their own, and an external diff cannot be unset
//! from outside: those still run, which is why the sandbox is the fence and this only the quiet.

/// Variables that keep programs from starting others. One row each.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_TRACE", "0"),
    ("GIT_TRACE2", "0"),
    ("GIT_TRACE2_EVENT", "0"),
    ("GIT_TRACE2_PERF", "0"),
    ("CARGO_NET_OFFLINE", "true"),
];

/// Settings of git that win over those of the repository and the user. One row each.
const GIT_SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("core.untrackedCache", "keep"),
    ("safe.bareRepository", "explicit"),
    ("interactive.diffFilter", "cat"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("trace2.normalTarget", "0"),
    ("trace2.eventTarget", "0"),
    ("trace2.perfTarget", "0"),
];

/// The variables to set for a command that was allowed because it only reads.
pub fn quiet_env() -> Vec<(String, String)> {
    let mut env: Vec<(String, String)> =
        VARIABLES.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    env.push(("GIT_CONFIG_COUNT".to_owned(), GIT_SETTINGS.len().to_string()));
    for (at, (key, value)) in GIT_SETTINGS.iter().enumerate() {
        env.push((format!("GIT_CONFIG_KEY_{at}"), (*key).to_owned()));
        env.push((format!("GIT_CONFIG_VALUE_{at}"), (*value).to_owned()));
    }
    env
}
