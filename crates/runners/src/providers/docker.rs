//! `docker`: a container of an image, with a directory of this machine at `/workspace`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::RunnerError;
use crate::config::Fields;
use crate::local::{LocalRoot, Run, below, run};
use crate::provider::{
    Capabilities, InTerminals, Location, MountSupport, Opening, Provider, has_program,
};
use crate::replies;
use crate::session::{
    Command, CommandEnd, Entry, ExitCause, Port, Session, SessionInfo, Snapshot, TerminalLaunch,
    Work, Wrapped, command_id, unsupported,
};

const ID: &str = "docker";
/// Where the root is in the container.
const WORKSPACE: &str = "/workspace";
/// The image of those who name none.
const IMAGE: &str = "rust:latest";
/// Where numbers of running commands are noted, in the container.
const NOTES: &str = "/tmp/.rookery-runner";
/// How long the daemon may take to say that it is there.
const PROBE_LIMIT: Duration = Duration::from_secs(5);
/// How long a container may take to start: its image may have to be fetched.
const START_LIMIT: Duration = Duration::from_secs(600);
/// How long everything else may take.
const USUAL_LIMIT: Duration = Duration::from_secs(60);

pub(crate) const PROVIDER: Provider = Provider {
    id: ID,
    name: "Docker",
    description: "Runs commands in a container, with a directory of this machine at /workspace",
    in_terminals: InTerminals::Lasting,
    capabilities: Capabilities {
        command_exec: true,
        file_read: true,
        file_write: true,
        port_preview: true,
        snapshots: true,
        cancellation: true,
        artifact_export: true,
        pausable: true,
        detachable: false,
        mounts: MountSupport { provider_native: false },
    },
    members: &["image", "root", "ports"],
    secrets: &[],
    has_default_workspace: true,
    whereabouts: Location::FilesHere,
    makes_place: true,
    programs: |_| Vec::new(),
    check: |config| Settings::read(config).map(drop),
    hint: |env, _| Box::pin(hint(env)),
    open: |opening| Box::pin(open(opening)),
};

struct Settings {
    image: String,
    root: Option<PathBuf>,
    ports: Vec<u16>,
}

impl Settings {
    fn read(config: &Value) -> Result<Self, RunnerError> {
        let fields = Fields::new(config)?;
        let image = fields.text("image")?.unwrap_or_else(|| IMAGE.to_owned());
        if image.starts_with('-') || image.contains(char::is_whitespace) {
            return Err(RunnerError::invalid("image", "config.image is not the name of an image"));
        }
        let root = fields.path("root")?;
        // A colon would end the path in the argument that mounts it.
        if root.as_ref().is_some_and(|root| root.to_string_lossy().contains(':')) {
            return Err(RunnerError::invalid("root", "config.root must not contain a colon"));
        }
        Ok(Self { image, root, ports: fields.ports("ports")? })
    }
}

async fn hint(env: Vec<(OsString, OsString)>) -> Option<String> {
    let known = env.clone();
    let found = tokio::task::spawn_blocking(move || has_program("docker", &known)).await;
    if !found.unwrap_or(false) {
        return Some(
            "docker is not installed; install the docker client and its daemon".to_owned(),
        );
    }
    let client = Client { env };
    let probe = client.call(["version", "--format", "{{.Server.Version}}"], PROBE_LIMIT).await;
    let why = probe.err()?;
    Some(format!("the docker daemon does not answer ({why}); start it, or check DOCKER_HOST"))
}

/// How the program is called.
#[derive(Clone)]
struct Client {
    env: Vec<(OsString, OsString)>,
}

impl Client {
    fn run(&self, arguments: Vec<String>, more: &[(String, String)]) -> Run {
        let argv = std::iter::once("docker".to_owned()).chain(arguments).map(OsString::from);
        let more = more.iter().map(|(name, value)| (name.into(), value.into()));
        let env = self.env.iter().cloned().chain(more).collect();
        Run { argv: argv.collect(), env, cwd: PathBuf::from("/") }
    }

    /// Calls it, and gives the first line that it prints.
    async fn call(
        &self,
        arguments: impl IntoIterator<Item = impl Into<String>>,
        limit: Duration,
    ) -> Result<String, RunnerError> {
        let all = self.output(arguments, limit).await?;
        Ok(all.lines().next().unwrap_or_default().trim().to_owned())
    }

    async fn output(
        &self,
        arguments: impl IntoIterator<Item = impl Into<String>>,
        limit: Duration,
    ) -> Result<String, RunnerError> {
        let mut command = Command::new(Vec::<String>::new());
        command.timeout = Some(limit);
        let arguments = arguments.into_iter().map(Into::into).collect();
        let end = run(self.run(arguments, &[]), command, || std::future::ready(())).await?;
        match (end.how, end.exit_code) {
            (ExitCause::Exited, Some(0)) => Ok(String::from_utf8_lossy(&end.stdout).into_owned()),
            (ExitCause::TimedOut, _) => Err(RunnerError::failed("docker took too long")),
            _ => {
                let said = String::from_utf8_lossy(&end.stderr);
                let last = said.lines().rfind(|line| !line.trim().is_empty());
                Err(RunnerError::failed(format!("docker: {}", last.unwrap_or("it failed").trim())))
            }
        }
    }
}

async fn open(opening: Opening) -> Result<Arc<dyn Session>, RunnerError> {
    let settings = Settings::read(&opening.config)?;
    let client = Client { env: opening.env.clone() };
    let name = format!("rookery-{}", opening.session);
    let root = settings.root.clone().unwrap_or_else(|| opening.cwd.clone());
    let root = LocalRoot::open(&root).await?;
    if opening.found.is_some() {
        let running = ["inspect", "--format", "{{.State.Running}}", &name];
        let is_running = client.call(running, USUAL_LIMIT).await.is_ok_and(|is| is == "true");
        if !is_running {
            return Err(RunnerError::failed(format!("the container {name} is gone")));
        }
    } else {
        let mut arguments: Vec<String> =
            ["run", "-d", "--rm", "--init", "--name", &name, "--label"].map(str::to_owned).into();
        arguments.push(format!("rookery.session={}", opening.session));
        arguments.extend(["-v".to_owned(), format!("{}:{WORKSPACE}", root.path().display())]);
        arguments.extend(["-w".to_owned(), WORKSPACE.to_owned()]);
        for port in &settings.ports {
            // Reachable from this machine only.
            arguments.extend(["-p".to_owned(), format!("127.0.0.1::{port}")]);
        }
        arguments.extend([settings.image.clone(), "sleep".into(), "infinity".into()]);
        let started = client.call(arguments, START_LIMIT).await;
        if let Err(error) = started {
            let _ = client.call(["rm", "-f", &name], USUAL_LIMIT).await;
            return Err(error);
        }
    }
    let info = SessionInfo {
        id: opening.session.clone(),
        provider: ID,
        root: PathBuf::from(WORKSPACE),
        local_root: Some(root.path().to_owned()),
        runs_here: false,
        metadata: json!({"container": name, "image": settings.image, "root": root.path()}),
    };
    Ok(Arc::new(Container { info, client, name, root, labels: Mutex::default() }))
}

struct Container {
    info: SessionInfo,
    client: Client,
    name: String,
    root: LocalRoot,
    labels: Mutex<std::collections::BTreeMap<u16, String>>,
}

impl Container {
    /// The path from the root on of a path there or here.
    fn below(&self, path: &str) -> Result<String, RunnerError> {
        let there = below(Path::new(WORKSPACE), path);
        let found = there.or_else(|error| below(self.root.path(), path).map_err(|_| error))?;
        Ok(found.to_string_lossy().into_owned())
    }

    fn cwd(&self, path: Option<&str>) -> Result<String, RunnerError> {
        let below = self.below(path.unwrap_or("."))?;
        Ok(Path::new(WORKSPACE).join(below).to_string_lossy().into_owned())
    }

    /// Arguments that run a command in the container with a note of its number. Values of variables are
    /// taken from the client's own environment, where no list of processes shows them.
    fn exec_arguments(
        &self,
        options: &[&str],
        id: &str,
        launch: (&str, &[(String, String)], &[String]),
    ) -> Vec<String> {
        let (cwd, env, argv) = launch;
        let mut arguments = vec!["exec".to_owned()];
        arguments.extend(options.iter().map(|option| (*option).to_owned()));
        arguments.extend(["-w".to_owned(), cwd.to_owned()]);
        for (name, _) in env {
            arguments.extend(["-e".to_owned(), name.clone()]);
        }
        let note = format!("{NOTES}/{id}");
        let script = format!("mkdir -p {NOTES} && echo $$ >\"$0\"; exec \"$@\"");
        arguments.extend([self.name.clone(), "sh".into(), "-c".into(), script, note]);
        arguments.extend(argv.iter().cloned());
        arguments
    }

    /// Ends the group of one command, and nothing else in the container.
    async fn end_group(&self, id: &str) {
        let script = format!(
            "read p <{NOTES}/{id} || exit 0; kill -TERM -$p 2>/dev/null || exit 0; \
             sleep 0.25 2>/dev/null || sleep 1; kill -KILL -$p 2>/dev/null; rm -f {NOTES}/{id}"
        );
        let ended = self.client.call(["exec", &self.name, "sh", "-c", &script], USUAL_LIMIT).await;
        if let Err(error) = ended {
            tracing::debug!(%error, "a command in a container had ended already");
        }
    }

    /// The ports that were published when the container was started.
    async fn published(&self) -> Result<Vec<Port>, RunnerError> {
        let listed = self.client.output(["port", &self.name], USUAL_LIMIT).await?;
        Ok(replies::published(&listed, &self.labels.lock()))
    }
}

impl Session for Container {
    fn info(&self) -> &SessionInfo {
        &self.info
    }

    fn exec(&self, command: Command) -> Work<'_, CommandEnd> {
        Box::pin(async move {
            let id = command_id(command.id.clone());
            let cwd = self.cwd(command.cwd.as_deref())?;
            let launch = (cwd.as_str(), command.env.as_slice(), command.argv.as_slice());
            let arguments = self.exec_arguments(&["-i"], &id, launch);
            let run_it = self.client.run(arguments, &command.env);
            run(run_it, command, || self.end_group(&id)).await
        })
    }

    fn read_file<'a>(&'a self, path: &'a str, limit: u64) -> Work<'a, Vec<u8>> {
        Box::pin(async move { self.root.read(&self.below(path)?, limit).await })
    }

    fn write_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>) -> Work<'a, ()> {
        Box::pin(async move { self.root.write(&self.below(path)?, bytes).await })
    }

    fn mode<'a>(&'a self, path: &'a str) -> Work<'a, Option<u32>> {
        Box::pin(async move { self.root.mode(&self.below(path)?).await })
    }

    fn make_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>, mode: u32) -> Work<'a, ()> {
        Box::pin(async move { self.root.make(&self.below(path)?, bytes, mode).await })
    }

    fn remove_file<'a>(&'a self, path: &'a str) -> Work<'a, ()> {
        Box::pin(async move { self.root.remove(&self.below(path)?).await })
    }

    fn list<'a>(&'a self, path: &'a str) -> Work<'a, Vec<Entry>> {
        Box::pin(async move { self.root.list(&self.below(path)?).await })
    }

    fn find<'a>(&'a self, path: &'a str, most: usize) -> Work<'a, Vec<String>> {
        Box::pin(async move { self.root.find(&self.below(path)?, most).await })
    }

    fn snapshot<'a>(&'a self, label: Option<&'a str>) -> Work<'a, Option<Snapshot>> {
        Box::pin(async move {
            let id = self.client.call(["commit", &self.name], START_LIMIT).await?;
            let metadata = json!({"container": self.name, "label": label});
            Ok(Some(Snapshot { id, metadata }))
        })
    }

    fn ports(&self) -> Work<'_, Vec<Port>> {
        Box::pin(self.published())
    }

    fn expose<'a>(&'a self, port: u16, label: Option<&'a str>) -> Work<'a, Port> {
        Box::pin(async move {
            let ports = self.published().await?;
            let Some(mut found) = ports.into_iter().find(|known| known.port == port) else {
                let message = format!(
                    "port {port} is not published; name it in config.ports of the destination"
                );
                return Err(RunnerError::invalid("port", message));
            };
            if let Some(label) = label {
                self.labels.lock().insert(port, label.to_owned());
                found.label = Some(label.to_owned());
            }
            Ok(found)
        })
    }

    fn conceal(&self, port: u16) -> Work<'_, bool> {
        let was_labeled = self.labels.lock().remove(&port).is_some();
        Box::pin(std::future::ready(Ok(was_labeled)))
    }

    fn pause(&self) -> Work<'_, ()> {
        Box::pin(async { self.client.call(["pause", &self.name], USUAL_LIMIT).await.map(drop) })
    }

    fn resume(&self) -> Work<'_, ()> {
        Box::pin(async { self.client.call(["unpause", &self.name], USUAL_LIMIT).await.map(drop) })
    }

    fn detach(&self) -> Work<'_, ()> {
        unsupported(ID, "detach a session")
    }

    fn close(&self, _force: bool) -> Work<'_, Option<PathBuf>> {
        Box::pin(async {
            self.client.call(["rm", "-f", &self.name], USUAL_LIMIT).await?;
            Ok(None)
        })
    }

    fn in_terminal(&self, launch: &TerminalLaunch) -> Result<Option<Wrapped>, RunnerError> {
        let id = command_id(launch.id.clone());
        let cwd = self.cwd(launch.cwd.as_deref())?;
        let options: &[&str] = if launch.has_terminal { &["-i", "-t"] } else { &["-i"] };
        let command = (cwd.as_str(), launch.env.as_slice(), launch.argv.as_slice());
        let arguments = self.exec_arguments(options, &id, command);
        let argv = std::iter::once("docker".to_owned()).chain(arguments).collect();
        Ok(Some(Wrapped { argv, id }))
    }

    fn end_command<'a>(&'a self, id: &'a str) -> Work<'a, ()> {
        Box::pin(async move {
            self.end_group(id).await;
            Ok(())
        })
    }
}
