//! A server on its standard input and output: one client, one server, the way most programs would start it.

use std::path::Path;
use std::process::Child;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tempfile::TempDir;

use crate::client::Client;
use crate::process;

/// How long a server may take to end when its input has ended.
const END_LIMIT: Duration = Duration::from_secs(10);

/// A running server and its only client.
pub(crate) struct StdioServer {
    /// The client. It has to go before the server ends by itself.
    client: Option<Client>,
    server: Child,
    /// The process that holds its children, once that was asked for.
    keeper: Option<u32>,
    _home: TempDir,
}

impl StdioServer {
    /// Ours.
    pub(crate) fn rookery(binary: &Path) -> anyhow::Result<StdioServer> {
        StdioServer::start(binary, &["ptywright", "serve", "--stdio"])
    }

    /// The real ptywright.
    pub(crate) fn ptywright(binary: &Path) -> anyhow::Result<StdioServer> {
        StdioServer::start(binary, &["serve", "--stdio"])
    }

    fn start(binary: &Path, args: &[&str]) -> anyhow::Result<StdioServer> {
        let home = tempfile::Builder::new().prefix("rkb-").tempdir_in("/tmp")?;
        let mut command = process::program(binary);
        command
            .args(args)
            .env("PTYWRIGHT_HOME", home.path())
            .env("ROOKERY_HOME", home.path())
            .current_dir("/");
        let (server, client) = Client::of_server(&mut command)?;
        Ok(StdioServer { client: Some(client), server, keeper: None, _home: home })
    }

    pub(crate) fn client(&mut self) -> anyhow::Result<&mut Client> {
        self.client.as_mut().context("the client is gone")
    }

    /// The processes that it consists of: itself, and the one that holds the children if that is another. Ours tells the
    /// process of a session; ptywright starts children itself.
    pub(crate) fn processes(&mut self, session: &str) -> anyhow::Result<Vec<u32>> {
        let own = self.server.id();
        let read = json!({"session": session, "cells": false});
        let snapshot = self.client()?.call("session.snapshot", &read)?;
        let child = snapshot["process"]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        self.keeper = child.and_then(process::parent).filter(|parent| *parent != own);
        Ok(std::iter::once(own).chain(self.keeper).collect())
    }
}

impl Drop for StdioServer {
    fn drop(&mut self) {
        drop(self.client.take());
        process::finish(&mut self.server, END_LIMIT);
        if let Some(keeper) = self.keeper
            && !process::await_end(keeper, END_LIMIT)
        {
            process::kill(keeper);
        }
    }
}
