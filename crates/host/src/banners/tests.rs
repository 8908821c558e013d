//! A real bus with a server of banners played by the test.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use zbus::Connection;
use zbus::wire::Variant;

use super::*;

const LIMIT: Duration = Duration::from_secs(60);
const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// What the played server was asked to do.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    Notify { replaces: u32, id: u32, title: String, body: String, actions: Vec<String> },
    Close(u32),
}

fn notify(replaces: u32, id: u32, title: &str, body: &str) -> Asked {
    let actions = vec!["default".to_owned(), "Show".to_owned()];
    Asked::Notify { replaces, id, title: title.into(), body: body.into(), actions }
}

struct Played {
    asked: UnboundedSender<Asked>,
    abilities: Vec<&'static str>,
    last: AtomicU32,
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Played {
    fn get_capabilities(&self) -> Vec<&'static str> {
        self.abilities.clone()
    }

    #[expect(clippy::too_many_arguments, reason = "the protocol has them")]
    async fn notify(
        &self,
        _application: String,
        replaces_id: u32,
        _icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        _hints: HashMap<String, Variant<'_>>,
        _expires: i32,
    ) -> u32 {
        let next = || self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let id = if replaces_id == 0 { next() } else { replaces_id };
        let hangs = summary == "hang";
        let _ = self.asked.send(Asked::Notify {
            replaces: replaces_id,
            id,
            title: summary,
            body,
            actions,
        });
        if hangs {
            std::future::pending::<()>().await;
        }
        id
    }

    fn close_notification(&self, id: u32) {
        let _ = self.asked.send(Asked::Close(id));
    }
}

struct Server {
    connection: Connection,
    asked: UnboundedReceiver<Asked>,
}

impl Server {
    async fn start(bus: &Bus, first: u32, abilities: &[&'static str]) -> Self {
        let (sender, asked) = unbounded_channel();
        let played = Played {
            asked: sender,
            abilities: abilities.to_vec(),
            last: AtomicU32::new(first - 1),
        };
        let connection = zbus::connection::Builder::address(bus.address.as_str())
            .serve_at(PATH, played)
            .name(NAME)
            .build()
            .await
            .unwrap();
        Self { connection, asked }
    }

    async fn asked(&mut self) -> Asked {
        timeout(LIMIT, self.asked.recv()).await.unwrap().unwrap()
    }

    /// Returns when the task is done with all that was asked before: it does one thing at a time.
    async fn settle(&mut self, banners: &Banners) {
        banners.show(u64::MAX, "mark", "");
        assert!(matches!(self.asked().await, Asked::Notify { title, .. } if title == "mark"));
    }

    async fn click(&self, id: u32, action: &str) {
        self.tell("ActionInvoked", &(id, action)).await;
    }

    async fn tell<B: serde::Serialize + zbus::DynamicType>(&self, signal: &'static str, body: &B) {
        self.connection.emit_signal(None::<&str>, PATH, NAME, signal, body).await.unwrap();
    }
}

/// A private bus in a directory of its own.
struct Bus {
    child: Child,
    address: String,
    dir: tempfile::TempDir,
}

impl Bus {
    /// None, and a word about it, if no bus is installed.
    fn start() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        if !std::env::split_paths(&path).any(|dir| dir.join("dbus-daemon").is_file()) {
            println!("not tested: needs dbus-daemon (Debian package dbus)");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("bus");
        let config = format!(
            "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\" \
             \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n\
             <busconfig><type>session</type><listen>unix:path={}</listen>\
             <policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
             <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>",
            socket.display()
        );
        std::fs::write(dir.path().join("config"), config).unwrap();
        let address = format!("unix:path={}", socket.display());
        Some(Self { child: Self::run(&dir), address, dir })
    }

    #[expect(clippy::disallowed_methods, reason = "the bus of the test")]
    fn run(dir: &tempfile::TempDir) -> Child {
        let config = format!("--config-file={}", dir.path().join("config").display());
        let mut child = Command::new("dbus-daemon")
            .args([&config, "--nofork", "--nopidfile", "--print-address=1"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("unix:"), "{line}");
        child
    }

    fn restart(&mut self) {
        self.stop();
        let _ = std::fs::remove_file(self.dir.path().join("bus"));
        self.child = Self::run(&self.dir);
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn banners(&self) -> (Banners, mpsc::Receiver<u64>) {
        Banners::start_within(Some(self.address.clone()), "Test".into(), LIMIT)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.stop();
    }
}

#[tokio::test]
async fn without_a_bus_nothing_happens() {
    let (banners, mut clicks) = Banners::start(None, "Test");
    banners.show(1, "title", "body");
    banners.retire(1);
    assert_eq!(clicks.recv().await, None);
    let (banners, _clicks) = Banners::start(Some("unix:path=/nowhere/at/all".into()), "Test");
    banners.show(1, "title", "body");
    let (banners, _clicks) = Banners::start(Some("not an address".into()), "Test");
    banners.show(1, "title", "body");
}

#[tokio::test]
async fn a_tab_has_one_banner_and_its_clicks_come_back() {
    let Some(bus) = Bus::start() else { return };
    let mut server = Server::start(&bus, 7, &["actions", "body"]).await;
    let (banners, mut clicks) = bus.banners();
    banners.show(1, "one", "a < b & c");
    assert_eq!(server.asked().await, notify(0, 7, "one", "a < b & c"));
    banners.show(2, "", "x");
    assert_eq!(server.asked().await, notify(0, 8, "Test", "x"), "a banner needs a title");
    banners.show(1, "again", "");
    assert_eq!(server.asked().await, notify(7, 7, "again", ""));
    server.click(99, "default").await;
    server.click(7, "other").await;
    server.click(8, "default").await;
    server.click(7, "default").await;
    assert_eq!(timeout(LIMIT, clicks.recv()).await.unwrap(), Some(2));
    assert_eq!(timeout(LIMIT, clicks.recv()).await.unwrap(), Some(1));
    banners.retire(1);
    assert_eq!(server.asked().await, Asked::Close(7));
    banners.retire(1);
    banners.retire(3);
    banners.show(1, "new", "");
    assert_eq!(server.asked().await, notify(0, 9, "new", ""), "nothing was left to retire");
}

#[tokio::test]
async fn a_banner_that_the_user_closed_is_not_replaced() {
    let Some(bus) = Bus::start() else { return };
    let mut server = Server::start(&bus, 1, &[]).await;
    let (banners, mut clicks) = bus.banners();
    banners.show(1, "one", "");
    banners.show(2, "two", "");
    assert_eq!(server.asked().await, notify(0, 1, "one", ""));
    assert_eq!(server.asked().await, notify(0, 2, "two", ""));
    server.settle(&banners).await;
    server.tell("NotificationClosed", &(1_u32, 2_u32)).await;
    // Told in order, so what came before this was heard as well.
    server.click(2, "default").await;
    assert_eq!(timeout(LIMIT, clicks.recv()).await.unwrap(), Some(2));
    banners.show(1, "anew", "");
    assert_eq!(server.asked().await, notify(0, 4, "anew", ""));
}

#[tokio::test]
async fn markup_is_escaped_for_those_who_take_it() {
    let Some(bus) = Bus::start() else { return };
    let mut server = Server::start(&bus, 1, &["body-markup"]).await;
    let (banners, _clicks) = bus.banners();
    banners.show(1, "<i>", "<b>&\0");
    assert_eq!(server.asked().await, notify(0, 1, "<i>", "&lt;b&gt;&amp;"));
}

#[tokio::test]
async fn a_new_server_is_met_anew() {
    let Some(bus) = Bus::start() else { return };
    let mut server = Server::start(&bus, 1, &[]).await;
    let (banners, mut clicks) = bus.banners();
    banners.show(1, "one", "&");
    assert_eq!(server.asked().await, notify(0, 1, "one", "&"));
    server.connection.close().await.unwrap();
    let mut server = Server::start(&bus, 50, &["body-markup"]).await;
    banners.show(1, "two", "&");
    assert_eq!(server.asked().await, notify(0, 50, "two", "&amp;"));
    banners.show(1, "three", "");
    assert_eq!(server.asked().await, notify(50, 50, "three", ""));
    server.click(50, "default").await;
    assert_eq!(timeout(LIMIT, clicks.recv()).await.unwrap(), Some(1));
}

#[tokio::test]
async fn a_new_bus_is_joined() {
    let Some(mut bus) = Bus::start() else { return };
    let mut server = Server::start(&bus, 1, &[]).await;
    let (banners, _clicks) = bus.banners();
    banners.show(1, "one", "");
    assert_eq!(server.asked().await, notify(0, 1, "one", ""));
    server.settle(&banners).await;
    bus.restart();
    let mut server = Server::start(&bus, 20, &[]).await;
    banners.show(1, "two", "");
    // The mark may have been cut off, and is then shown again.
    while let Asked::Notify { replaces, title, .. } = server.asked().await {
        assert_eq!(replaces, 0, "{title} is new to this server");
        if title == "two" {
            break;
        }
    }
}

#[tokio::test]
async fn a_server_that_hangs_holds_up_only_for_so_long() {
    let Some(bus) = Bus::start() else { return };
    let mut server = Server::start(&bus, 1, &[]).await;
    let limit = Duration::from_secs(1);
    let (banners, _clicks) = Banners::start_within(Some(bus.address.clone()), "Test".into(), limit);
    banners.show(1, "hang", "");
    assert_eq!(server.asked().await, notify(0, 1, "hang", ""));
    banners.show(2, "after", "");
    assert_eq!(server.asked().await, notify(0, 2, "after", ""));
}
