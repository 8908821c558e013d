//! `unix-local`: a directory of this machine.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use crate::RunnerError;
use crate::config::Fields;
use crate::local::{LocalRoot, LocalSession};
use crate::provider::{Capabilities, InTerminals, Location, MountSupport, Opening, Provider};
use crate::session::{
    Command, CommandEnd, Entry, Port, Session, SessionInfo, Snapshot, TerminalLaunch, Work,
    Wrapped, unsupported,
};

const ID: &str = "unix-local";

pub(crate) const PROVIDER: Provider = Provider {
    id: ID,
    name: "This machine",
    description: "Runs commands in a directory of this machine",
    in_terminals: InTerminals::Here,
    capabilities: Capabilities {
        command_exec: true,
        file_read: true,
        file_write: true,
        port_preview: true,
        snapshots: false,
        cancellation: true,
        artifact_export: true,
        pausable: true,
        detachable: false,
        mounts: MountSupport { provider_native: false },
    },
    members: &["root"],
    secrets: &[],
    has_default_workspace: false,
    whereabouts: Location::Here,
    makes_place: false,
    programs: |_| Vec::new(),
    check: |config| Fields::new(config)?.path("root").map(drop),
    hint: |_, _| Box::pin(std::future::ready(None)),
    open: |opening| Box::pin(open(opening)),
};

async fn open(opening: Opening) -> Result<Arc<dyn Session>, RunnerError> {
    let root = Fields::new(&opening.config)?.path("root")?.unwrap_or_else(|| opening.cwd.clone());
    let root = LocalRoot::open(&root).await?;
    let info = SessionInfo {
        id: opening.session.clone(),
        provider: ID,
        root: root.path().to_owned(),
        local_root: Some(root.path().to_owned()),
        runs_here: true,
        metadata: json!({"root": root.path()}),
    };
    let here = LocalSession::new(root, &opening);
    Ok(Arc::new(Local { info, here }))
}

/// A session in a directory of this machine; others add to it what they make of that directory.
pub(crate) struct Local {
    pub(crate) info: SessionInfo,
    pub(crate) here: LocalSession,
}

impl Session for Local {
    fn info(&self) -> &SessionInfo {
        &self.info
    }

    fn exec(&self, command: Command) -> Work<'_, CommandEnd> {
        Box::pin(self.here.exec(command))
    }

    fn read_file<'a>(&'a self, path: &'a str, limit: u64) -> Work<'a, Vec<u8>> {
        Box::pin(self.here.root.read(path, limit))
    }

    fn write_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>) -> Work<'a, ()> {
        Box::pin(self.here.root.write(path, bytes))
    }

    fn mode<'a>(&'a self, path: &'a str) -> Work<'a, Option<u32>> {
        Box::pin(self.here.root.mode(path))
    }

    fn make_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>, mode: u32) -> Work<'a, ()> {
        Box::pin(self.here.root.make(path, bytes, mode))
    }

    fn remove_file<'a>(&'a self, path: &'a str) -> Work<'a, ()> {
        Box::pin(self.here.root.remove(path))
    }

    fn list<'a>(&'a self, path: &'a str) -> Work<'a, Vec<Entry>> {
        Box::pin(self.here.root.list(path))
    }

    fn find<'a>(&'a self, path: &'a str, most: usize) -> Work<'a, Vec<String>> {
        Box::pin(self.here.root.find(path, most))
    }

    fn snapshot<'a>(&'a self, _label: Option<&'a str>) -> Work<'a, Option<Snapshot>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn ports(&self) -> Work<'_, Vec<Port>> {
        Box::pin(self.here.ports())
    }

    fn expose<'a>(&'a self, port: u16, label: Option<&'a str>) -> Work<'a, Port> {
        Box::pin(std::future::ready(Ok(self.here.expose(port, label))))
    }

    fn conceal(&self, port: u16) -> Work<'_, bool> {
        Box::pin(std::future::ready(Ok(self.here.conceal(port))))
    }

    fn pause(&self) -> Work<'_, ()> {
        Box::pin(self.here.hold())
    }

    fn resume(&self) -> Work<'_, ()> {
        Box::pin(self.here.go_on())
    }

    fn detach(&self) -> Work<'_, ()> {
        unsupported(self.info.provider, "detach a session")
    }

    fn close(&self, _force: bool) -> Work<'_, Option<PathBuf>> {
        Box::pin(async {
            self.here.end_all().await?;
            Ok(None)
        })
    }

    fn in_terminal(&self, _: &TerminalLaunch) -> Result<Option<Wrapped>, RunnerError> {
        // Terminals of this machine run there as they are.
        Ok(None)
    }

    fn end_command<'a>(&'a self, _id: &'a str) -> Work<'a, ()> {
        Box::pin(std::future::ready(Ok(())))
    }
}
