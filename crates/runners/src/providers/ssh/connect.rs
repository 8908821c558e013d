//! How the other machine is reached: the settings, the program, and the connection that carries everything.

use std::ffi::OsString;
use std::path::PathBuf;

use rookery_host::{Program, ProgramCommand, ProgramStream};
use serde_json::Value;

use super::script::{self, Remote};
use super::{CONNECT_LIMIT, FILE_LIMIT, GREETING};
use crate::RunnerError;
use crate::config::Fields;
use crate::local::{Run, run};
use crate::session::{Command, CommandEnd};

/// Where the other machine is, and how it is reached.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) program: String,
    pub(super) target: String,
    pub(super) port: Option<u16>,
    pub(super) root: String,
    pub(super) identity: Option<String>,
    pub(super) options: Vec<String>,
}

impl Settings {
    pub(super) fn read(config: &Value) -> Result<Self, RunnerError> {
        let fields = Fields::new(config)?;
        let host = plain("host", fields.required("host")?)?;
        let user = fields.text("user")?.map(|user| plain("user", user)).transpose()?;
        let root = fields.required("root")?;
        if !root.starts_with('/') {
            return Err(RunnerError::invalid("root", "config.root must be an absolute path"));
        }
        Ok(Self {
            program: fields.text("ssh_command")?.unwrap_or_else(|| "ssh".to_owned()),
            target: user.map_or_else(|| host.clone(), |user| format!("{user}@{host}")),
            port: fields.port("port")?,
            root,
            identity: fields.text("identity")?,
            options: fields.texts("options")?,
        })
    }
}

/// Options of ssh by which it runs programs of this machine, or loads them.
const RUNNING: [&str; 6] = [
    "proxycommand",
    "localcommand",
    "knownhostscommand",
    "pkcs11provider",
    "securitykeyprovider",
    "xauthlocation",
];

/// What a configuration has run on this machine besides the usual client.
pub(super) fn programs(config: &Value) -> Vec<Vec<String>> {
    let Ok(settings) = Settings::read(config) else { return Vec::new() };
    let runs = |option: &String| {
        let name = option.trim_start().split(['=', ' ', '\t']).next().unwrap_or_default();
        let name = name.trim_matches('"').to_ascii_lowercase();
        // Whatever is written in another way than options are is taken for one of them.
        RUNNING.contains(&&*name) || !name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if settings.program == "ssh" && !settings.options.iter().any(runs) {
        return Vec::new();
    }
    let options = settings.options.iter().flat_map(|option| ["-o".to_owned(), option.clone()]);
    vec![[settings.program.clone()].into_iter().chain(options).chain([settings.target]).collect()]
}

/// A name that ssh takes for nothing else.
pub(super) fn plain(member: &'static str, name: String) -> Result<String, RunnerError> {
    let fits = !name.starts_with('-') && !name.contains([' ', '\t', '@', '/', '\'', '"']);
    let message = || format!("config.{member} is not a valid {member} name");
    fits.then_some(name).ok_or_else(|| RunnerError::invalid(member, message()))
}

/// How the program is called.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) settings: Settings,
    pub(super) control: PathBuf,
    pub(super) env: Vec<(OsString, OsString)>,
}

impl Client {
    /// Program and arguments up to the target; `more` stands before it.
    pub(super) fn argv(&self, more: &[&str]) -> Vec<String> {
        let set = &self.settings;
        let control = format!("ControlPath={}", self.control.display());
        let mut argv = vec![set.program.clone()];
        for option in ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=15", &control] {
            argv.extend(["-o".to_owned(), option.to_owned()]);
        }
        if let Some(port) = set.port {
            argv.extend(["-p".to_owned(), port.to_string()]);
        }
        if let Some(identity) = &set.identity {
            argv.extend(["-i".to_owned(), identity.clone()]);
        }
        for option in &set.options {
            argv.extend(["-o".to_owned(), option.clone()]);
        }
        argv.extend(more.iter().map(|word| (*word).to_owned()));
        argv.push(set.target.clone());
        argv
    }

    /// The same for one command over there.
    pub(super) fn command(&self, more: &[&str], script: &str) -> Vec<String> {
        let more: Vec<&str> = ["-o", "ControlMaster=no"].iter().chain(more).copied().collect();
        let mut argv = self.argv(&more);
        argv.push(script::in_shell(script));
        argv
    }

    pub(super) fn run(&self, argv: Vec<String>) -> Run {
        Run {
            argv: argv.into_iter().map(OsString::from).collect(),
            env: self.env.clone(),
            cwd: PathBuf::from("/"),
        }
    }

    /// Runs a script over there to its end.
    pub(super) async fn ask(
        &self,
        script: &str,
        stdin: Vec<u8>,
        limit: usize,
    ) -> Result<CommandEnd, RunnerError> {
        let mut command = Command::new(Vec::<String>::new());
        command.stdin = stdin;
        // What it complains of has to fit as well.
        command.output_limit = limit.max(GREETING);
        command.timeout = Some(FILE_LIMIT);
        let run_it = self.run(self.command(&["-T"], script));
        run(run_it, command, || std::future::ready(())).await
    }
}

/// Opens the connection, and learns what is over there.
pub(super) async fn greet(
    client: &Client,
    session: &str,
) -> Result<(Program, Remote), RunnerError> {
    let mut argv = client.argv(&["-T", "-o", "ControlMaster=yes"]);
    argv.push(script::in_shell(&script::keeper(session, &client.settings.root)));
    let command = ProgramCommand {
        argv: argv.into_iter().map(OsString::from).collect(),
        env: client.env.clone(),
        cwd: PathBuf::from("/"),
        has_input: true,
    };
    let mut program = Program::start(command).await.map_err(RunnerError::Failed)?;
    let (mut said, mut complained) = (Vec::new(), Vec::new());
    let greeting = async {
        while let Some((stream, bytes)) = program.next().await {
            let text = if stream == ProgramStream::Stdout { &mut said } else { &mut complained };
            text.extend_from_slice(&bytes[..bytes.len().min(GREETING.saturating_sub(text.len()))]);
            if let Some(remote) = Remote::read(&said) {
                return Some(remote);
            }
        }
        None
    };
    let remote = tokio::time::timeout(CONNECT_LIMIT, greeting).await;
    match remote {
        Ok(Some(remote)) => Ok((program, remote)),
        Ok(None) => Err(refused(client, &said, &complained)),
        Err(_) => {
            Err(RunnerError::failed(format!("{} did not answer in time", client.settings.target)))
        }
    }
}

pub(super) fn refused(client: &Client, said: &[u8], complained: &[u8]) -> RunnerError {
    let target = &client.settings.target;
    match script::refusal(said) {
        Some(script::Refusal::Root) => {
            let message = format!("config.root is not a directory on {target}");
            RunnerError::invalid("root", message)
        }
        Some(script::Refusal::Leader) => RunnerError::Missing(format!(
            "{target} has neither setsid nor perl; install util-linux"
        )),
        Some(script::Refusal::Notes) => {
            RunnerError::failed(format!("cannot create a temporary directory on {target}"))
        }
        None => {
            let complained = String::from_utf8_lossy(complained);
            let last = complained.lines().last().unwrap_or("the connection was closed").trim();
            RunnerError::failed(format!("cannot connect to {target}: {last}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_runs_programs_here_is_told_from_what_only_connects() {
        let of = |more: Value| {
            let mut config = json!({ "host": "far", "root": "/srv" });
            config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            programs(&config)
        };
        assert!(of(json!({})).is_empty());
        assert!(of(json!({ "options": ["StrictHostKeyChecking=no", "Port 22"] })).is_empty());
        assert_eq!(of(json!({ "ssh_command": "/tmp/shim" })), [["/tmp/shim", "far"]]);
        for option in [
            "ProxyCommand=touch x",
            "proxycommand touch x",
            " LocalCommand=touch x",
            "\"ProxyCommand\"=touch x",
            "Proxy\\Command=x",
            "PKCS11Provider=/tmp/x.so",
        ] {
            assert_eq!(of(json!({ "options": [option] })), [["ssh", "-o", option, "far"]]);
        }
    }
}
