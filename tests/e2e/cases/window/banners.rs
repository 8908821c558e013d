//! Banners of the desktop: none while the window has the keyboard, which says the same at its edge.

use std::{
    collections::HashMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    process::Stdio,
    sync::{Arc, Mutex},
};

use rookery_testkit::{Home, PATIENCE, TestDaemon, rookery_binary, wait_until};
use x11rb::{
    COPY_FROM_PARENT,
    connection::Connection as _,
    protocol::xproto::{ConnectionExt as _, CreateWindowAux, WindowClass},
    rust_connection::RustConnection,
};
use zbus::wire::Variant;

use super::{Display, Running, Window, has};
use crate::face::{agent, write_steps};

/// What the desktop was asked to show.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<String>>>);

impl Shown {
    fn titles(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A desktop that shows nothing and remembers what it should have shown.
struct Desktop(Shown);

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Desktop {
    fn get_capabilities(&self) -> Vec<&'static str> {
        vec!["body"]
    }

    #[expect(clippy::too_many_arguments, reason = "the protocol has them")]
    fn notify(
        &self,
        _application: String,
        replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        _actions: Vec<String>,
        _hints: HashMap<String, Variant<'_>>,
        _expires: i32,
    ) -> u32 {
        let mut shown = self.0.0.lock().unwrap();
        shown.push(format!("{summary}|{body}"));
        if replaces == 0 { shown.len() as u32 } else { replaces }
    }

    fn close_notification(&self, _id: u32) {}
}

/// A session bus of its own, and the desktop on it.
struct Bus {
    address: String,
    shown: Shown,
    _runtime: tokio::runtime::Runtime,
    _connection: zbus::Connection,
    _server: Running,
}

impl Bus {
    fn start(home: &Home) -> Bus {
        let (socket, config) = (home.join("bus"), home.join("bus.xml"));
        let text = format!(
            "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\" \
             \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n\
             <busconfig><type>session</type><listen>unix:path={}</listen>\
             <policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
             <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>",
            socket.display()
        );
        fs::write(&config, text).unwrap();
        let mut server = home.command("dbus-daemon");
        server.arg(format!("--config-file={}", config.display())).arg("--nofork");
        server.stdout(Stdio::null()).stderr(Stdio::null());
        let server = Running(server.spawn().unwrap());
        wait_until("the bus is there", PATIENCE, || socket.exists());
        let address = format!("unix:path={}", socket.display());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let shown = Shown::default();
        let desktop = Desktop(shown.clone());
        let connection = runtime.block_on(async {
            zbus::connection::Builder::address(address.as_str())
                .serve_at("/org/freedesktop/Notifications", desktop)
                .name("org.freedesktop.Notifications")
                .build()
                .await
                .unwrap()
        });
        Bus { address, shown, _runtime: runtime, _connection: connection, _server: server }
    }
}

/// A window of another program, as long as its connection lives.
struct Other {
    id: u32,
    _x: RustConnection,
}

impl Other {
    fn on(display: &Display) -> Other {
        let (x, screen) = x11rb::connect(Some(&display.name)).unwrap();
        let root = x.setup().roots[screen].root;
        let id = x.generate_id().unwrap();
        let (class, depth) = (WindowClass::INPUT_OUTPUT, COPY_FROM_PARENT as u8);
        x.create_window(depth, id, root, 0, 0, 90, 90, 0, class, 0, &CreateWindowAux::new())
            .unwrap()
            .check()
            .unwrap();
        x.map_window(id).unwrap().check().unwrap();
        Other { id, _x: x }
    }
}

#[test]
fn they_come_only_while_the_window_has_no_keyboard() {
    if !has(&[("dbus-daemon", "dbus")]) {
        return;
    }
    let Some(display) = Display::start() else { return };
    let home = Home::new();
    let bus = Bus::start(&display.home);
    // The daemon has it from its environment.
    let program = home.join("on-bus");
    let script = format!(
        "#!/bin/sh\nDBUS_SESSION_BUS_ADDRESS='{}' exec '{}' \"$@\"\n",
        bus.address,
        rookery_binary().display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let daemon = TestDaemon::start_by(home, program);
    let client = daemon.client();
    let (mut roder, thread, _) = agent(&daemon, "work");
    let loud = client.open_sh("echo go; read x; printf '\\033]9;%s\\007' one; exec cat");
    let shown = client.open_sh("echo here; exec cat");
    client.wait_text(loud, "go");
    let window = Window::open(&daemon, &display);
    client.call("rookery/terminals/activate", serde_json::json!({ "terminal": shown }));
    wait_until("it has the keyboard", PATIENCE, || client.status()["viewers"][0]["isDesk"] == true);
    window.wait("the other terminal is shown", |seen| seen["terminal"] == shown);
    // It has the keyboard: what asks for attention is said at its edge, and nowhere else.
    client.write(loud, "\r");
    window.wait("it is said at the edge", |seen| seen["places"]["Toast(0)"].is_array());
    roder.turn(&thread, &write_steps("x", "x\n"));
    window.wait("one waits", |seen| seen["waiting"] == 1);
    assert_eq!(bus.shown.titles(), Vec::<String>::new());
    // Another window takes the keyboard.
    let other = Other::on(&display);
    wait_until("another has the keyboard", PATIENCE, || {
        let id = other.id.to_string();
        display.run("xdotool", &["windowactivate", &id]);
        display.run("xdotool", &["getactivewindow"]).stdout.trim() == id
    });
    let bells = client
        .open_sh("echo go; read x; printf '\\007'; read x; printf '\\033]9;two\\007'; exec cat");
    client.wait_text(bells, "go");
    client.call("rookery/terminals/activate", serde_json::json!({ "terminal": shown }));
    client.write(bells, "\r");
    let titles = || bus.shown.titles();
    wait_until("a bell is a banner", PATIENCE, || titles().iter().any(|it| it.ends_with("|bell")));
    client.write(bells, "\r");
    wait_until("so is a notification", PATIENCE, || {
        titles().iter().any(|it| it.starts_with("two|"))
    });
    let (mut second, again, _) = agent(&daemon, "more");
    second.turn(&again, &write_steps("y", "y\n"));
    wait_until("and a request", PATIENCE, || titles().len() >= 3);
    // With the keyboard back there are no more.
    let late = client.open_sh("echo go; read x; printf '\\033]9;three\\007'; echo said; exec cat");
    client.wait_text(late, "go");
    client.call("rookery/terminals/activate", serde_json::json!({ "terminal": shown }));
    drop(other);
    window.xdotool(&["windowactivate", "--sync", &window.id]);
    let keyboard = || window.trace.last().is_some_and(|seen| seen["takes_text"] == true);
    wait_until("the window has it again", PATIENCE, keyboard);
    window.types("x");
    client.wait_text(shown, "x");
    let before = titles().len();
    client.write(late, "\r");
    client.wait_text(late, "said");
    window.wait("it is said at the edge", |seen| seen["places"]["Toast(0)"].is_array());
    assert_eq!(titles().len(), before, "{:?}", titles());
}
