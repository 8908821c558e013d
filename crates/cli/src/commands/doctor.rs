//! `rookery doctor`: checks the set-up and says what to do about each fault.

mod agents;

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
    process::ExitCode,
};

use rookery_daemon::{config::Config, homes::Homes};
use rookery_native::wire::{GetStatus, Status};
use serde::Serialize;

use crate::{
    failure::Outcome,
    link,
    output::{self, Colors, Tone},
};

/// Bytes of a socket's path that the kernel takes.
const LONGEST_SOCKET: usize = 107;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warning,
    Fault,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, detail: detail.into(), hint: None }
    }

    fn warning(check: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        let hint = Some(hint.into());
        Self { check, verdict: Verdict::Warning, detail: detail.into(), hint }
    }

    fn fault(check: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        let hint = Some(hint.into());
        Self { check, verdict: Verdict::Fault, detail: detail.into(), hint }
    }
}

pub(super) async fn run(json: bool) -> Outcome {
    let homes = link::homes()?;
    let mut findings = vec![
        private_directory("runtime directory", homes.runtime_dir(), true),
        private_directory("state directory", &homes.state_dir(), false),
    ];
    let dirs = [homes.state_dir(), homes.data_dir(), homes.cache_dir()];
    findings.extend(dirs.iter().filter_map(|dir| not_writable(dir)));
    findings.extend(too_long(&homes));
    findings.extend(config(&homes));
    findings.push(shell());
    findings.extend(daemon(&homes).await);
    findings.push(log(&homes));
    if json {
        output::json(&findings)?;
    } else {
        output::write(render(&findings, Colors::of_stdout()).as_bytes())?;
    }
    let has_fault = findings.iter().any(|finding| finding.verdict == Verdict::Fault);
    Ok(ExitCode::from(u8::from(has_fault)))
}

fn render(findings: &[Finding], colors: Colors) -> String {
    let mut out = String::new();
    for finding in findings {
        let (tone, mark) = match finding.verdict {
            Verdict::Ok => (Tone::Good, "ok     "),
            Verdict::Warning => (Tone::Warning, "warning"),
            Verdict::Fault => (Tone::Bad, "fault  "),
        };
        let detail = output::printable(&finding.detail);
        out.push_str(&format!("{}  {}: {detail}\n", colors.paint(tone, mark), finding.check));
        if let Some(hint) = &finding.hint {
            out.push_str(&format!("         {}\n", output::printable(hint)));
        }
    }
    out
}

/// A directory of this user's; one that others can enter is a fault only if it must be private.
fn private_directory(check: &'static str, path: &Path, must_be_private: bool) -> Finding {
    let shown = path.display();
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Finding::ok(check, format!("{shown} does not exist yet"));
        }
        Err(error) => {
            return Finding::fault(
                check,
                format!("{shown}: {error}"),
                "make it readable, or set ROOKERY_HOME",
            );
        }
    };
    if !metadata.is_dir() {
        return Finding::fault(
            check,
            format!("{shown} is not a directory"),
            "move it to another place",
        );
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Finding::fault(
            check,
            format!("{shown} belongs to another user"),
            "set ROOKERY_HOME to a directory that you own",
        );
    }
    let mode = metadata.permissions().mode() & 0o777;
    if must_be_private && mode & 0o022 != 0 {
        return Finding::warning(
            check,
            format!("{shown} is writable by other users"),
            format!("chmod 700 {shown}"),
        );
    }
    Finding::ok(check, shown.to_string())
}

/// A directory that cannot be written, or not be made where it is missing.
fn not_writable(dir: &Path) -> Option<Finding> {
    let there = dir.ancestors().find(|one| one.exists())?;
    let needs = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let error = rustix::fs::access(there, needs).err()?;
    let detail = format!("{} is not writable: {error}", there.display());
    Some(Finding::fault("writing", detail, format!("make {} writable", there.display())))
}

/// Sockets whose paths are longer than the kernel takes.
fn too_long(homes: &Homes) -> Option<Finding> {
    let endpoints = rookery_dialects::listening().map(|dialect| homes.socket(&dialect.endpoint));
    let mut paths = [link::own_socket(homes), homes.keeper_socket()].into_iter().chain(endpoints);
    let path = paths.find(|path| path.as_os_str().len() > LONGEST_SOCKET)?;
    let detail = format!("{} is longer than {LONGEST_SOCKET} bytes", path.display());
    let hint = "set XDG_RUNTIME_DIR or ROOKERY_HOME to a shorter path";
    Some(Finding::fault("socket path", detail, hint))
}

fn config(homes: &Homes) -> Vec<Finding> {
    let file = homes.config_file();
    let (_, warnings) = Config::load(homes);
    if warnings.is_empty() {
        let detail = if file.exists() { "" } else { " does not exist, which is fine" };
        return vec![Finding::ok("config", format!("{}{detail}", file.display()))];
    }
    let finding = |warning: &rookery_daemon::config::Warning| {
        Finding::warning("config", warning.to_string(), format!("edit {}", file.display()))
    };
    warnings.iter().map(finding).collect()
}

fn shell() -> Finding {
    let Some(shell) = std::env::var_os("SHELL").filter(|shell| !shell.is_empty()) else {
        return Finding::warning("shell", "SHELL is not set", "use `rookery open -- PROGRAM`");
    };
    let path = Path::new(&shell);
    let is_executable = fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0);
    if is_executable {
        Finding::ok("shell", path.display().to_string())
    } else {
        Finding::fault(
            "shell",
            format!("{} cannot be executed", path.display()),
            "set SHELL to an executable shell",
        )
    }
}

async fn daemon(homes: &Homes) -> Vec<Finding> {
    let client = match link::try_connect_own(homes).await {
        Ok(Some(client)) => client,
        Ok(None) => {
            return vec![Finding::warning(
                "daemon",
                "none is running",
                "start one with `rookery up`",
            )];
        }
        Err(failure) => {
            let socket = link::own_socket(homes);
            return vec![Finding::fault(
                "daemon",
                failure.message(),
                format!(
                    "check the owner of {}, and remove it if no daemon is running",
                    socket.display()
                ),
            )];
        }
    };
    match client.send(GetStatus).await {
        Ok(status) => {
            let mut findings = judge(&status);
            findings.extend(agents::providers(&client).await);
            findings.extend(agents::mcp_servers(&status));
            let socket = link::own_socket(homes);
            if !socket.exists() {
                findings.push(Finding::warning(
                    "socket",
                    format!(
                        "the daemon was started by another login session and is not at {}",
                        socket.display()
                    ),
                    "run `rookery up` to make it listen there too",
                ));
            }
            findings
        }
        Err(error) => {
            vec![Finding::fault("daemon", error.to_string(), "replace it with `rookery restart`")]
        }
    }
}

fn judge(status: &Status) -> Vec<Finding> {
    let own = env!("CARGO_PKG_VERSION");
    let mut findings = vec![if status.version == own {
        Finding::ok("daemon", format!("{} is running as process {}", status.version, status.pid))
    } else {
        let detail = format!("{} is running, but this is {own}", status.version);
        Finding::warning(
            "daemon",
            detail,
            "replace it with `rookery restart`; terminals keep running",
        )
    }];
    if let Some(damage) = &status.damage {
        findings.push(Finding::warning(
            "store",
            damage.clone(),
            "damaged data was moved aside in the state directory; no action is needed",
        ));
    }
    findings.extend(status.warnings.iter().map(|warning| {
        Finding::warning("settings", warning.clone(), "edit the file, then run `rookery restart`")
    }));
    let lost = status.terminals.lost;
    if lost > 0 {
        findings.push(Finding::warning(
            "keeper",
            format!(
                "{lost} terminals have lost their keeper; the exit status of their programs will not be known"
            ),
            "close them with `rookery close` when you no longer need them",
        ));
    } else if let Some(keeper) = status.keeper {
        findings.push(Finding::ok("keeper", format!("process {}", keeper.pid)));
    }
    findings
}

fn log(homes: &Homes) -> Finding {
    let file = homes.log_file();
    let detail = if file.exists() { "" } else { " does not exist yet" };
    Finding::ok("log", format!("{}{detail}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_judged() {
        let home = tempfile::tempdir().unwrap();
        let verdict = |path: &Path| private_directory("x", path, true).verdict;
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(verdict(home.path()), Verdict::Ok);
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(verdict(home.path()), Verdict::Warning);
        assert_eq!(verdict(&home.path().join("none")), Verdict::Ok);
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(verdict(&file), Verdict::Fault);
    }

    #[test]
    fn what_cannot_be_written_or_is_too_long_is_said() {
        let home = tempfile::tempdir().unwrap();
        assert!(not_writable(&home.path().join("to/be/made")).is_none());
        assert!(not_writable(Path::new("/proc/self/nothing")).is_some());
        let deep = home.path().join("x".repeat(100));
        let set = [("ROOKERY_HOME", deep.to_str().unwrap())];
        let lookup = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        };
        let homes = Homes::from_lookup(&lookup).unwrap();
        assert_eq!(too_long(&homes).unwrap().verdict, Verdict::Fault);
    }

    #[test]
    fn a_fault_comes_with_its_remedy() {
        let findings = [Finding::ok("a", "fine"), Finding::fault("b", "broken\x1b[2J", "mend it")];
        let shown = render(&findings, Colors::none());
        assert_eq!(shown, "ok       a: fine\nfault    b: broken[2J\n         mend it\n");
    }
}
