//! An input method, over the protocol that X11 has for them (XIM): what it shows is drawn and sent to no program,
//! what it commits arrives once.

use rookery_testkit::{PATIENCE, TestDaemon, wait_until};
use x11rb::{connection::Connection as _, protocol::xproto::KeyPressEvent};
use xim::{
    InputStyle, Server, ServerError, ServerHandler, UserInputContext, XimConnections,
    x11rb::X11rbServer,
};

use super::{BYTES, Display, Window, bytes_of};

const NAME: &str = "rookerytest";
/// The code of the Return key.
const RETURN: u8 = 36;

/// Shows two syllables for any key, and commits two characters with Return.
struct Method;

type Context = UserInputContext<()>;

impl<S: Server<XEvent = KeyPressEvent>> ServerHandler<S> for Method {
    type InputContextData = ();
    type InputStyleArray = [InputStyle; 2];

    fn new_ic_data(&mut self, _: &mut S, _: InputStyle) -> Result<(), ServerError> {
        Ok(())
    }

    fn input_styles(&self) -> [InputStyle; 2] {
        [
            InputStyle::PREEDIT_CALLBACKS | InputStyle::STATUS_NOTHING,
            InputStyle::PREEDIT_NOTHING | InputStyle::STATUS_NOTHING,
        ]
    }

    fn filter_events(&self) -> u32 {
        1
    }

    fn handle_connect(&mut self, _: &mut S) -> Result<(), ServerError> {
        Ok(())
    }

    fn handle_create_ic(&mut self, server: &mut S, it: &mut Context) -> Result<(), ServerError> {
        server.set_event_mask(&it.ic, 1, 0)
    }

    fn handle_forward_event(
        &mut self,
        server: &mut S,
        it: &mut Context,
        event: &KeyPressEvent,
    ) -> Result<bool, ServerError> {
        if event.detail == RETURN {
            server.preedit_draw(&mut it.ic, "")?;
            server.commit(&it.ic, "仮名")?;
        } else {
            server.preedit_draw(&mut it.ic, "かな")?;
        }
        Ok(true)
    }

    fn handle_destroy_ic(&mut self, _: &mut S, _: Context) -> Result<(), ServerError> {
        Ok(())
    }

    fn handle_reset_ic(&mut self, _: &mut S, _: &mut Context) -> Result<String, ServerError> {
        Ok(String::new())
    }

    fn handle_set_ic_values(&mut self, _: &mut S, _: &mut Context) -> Result<(), ServerError> {
        Ok(())
    }

    fn handle_set_focus(&mut self, _: &mut S, _: &mut Context) -> Result<(), ServerError> {
        Ok(())
    }

    fn handle_unset_focus(&mut self, _: &mut S, _: &mut Context) -> Result<(), ServerError> {
        Ok(())
    }
}

/// Serves the method until the display is gone.
fn serve(display: &Display) {
    let (x, screen) = x11rb::connect(Some(&display.name)).unwrap();
    let (sender, is_there) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut server = X11rbServer::init(&x, screen, NAME, xim::ALL_LOCALES).unwrap();
        let mut connections = XimConnections::new();
        sender.send(()).unwrap();
        while let Ok(event) = x.wait_for_event() {
            let _ = server.filter_event(&event, &mut connections, &mut Method);
        }
    });
    is_there.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn what_it_shows_is_drawn_and_what_it_commits_arrives_once() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    serve(&display);
    let client = daemon.client();
    let id = client.open_sh(BYTES);
    client.wait_text(id, "go");
    let env = [("XMODIFIERS", "@im=rookerytest")];
    let window = Window::open_with(&daemon, &display, &[], &env);
    window
        .wait("the terminal is shown", |seen| seen["terminal"] == id && seen["takes_text"] == true);
    let painted = || window.trace.lines().len();
    let before = painted();
    window.keys(&["k"]);
    wait_until("it is drawn", PATIENCE, || painted() > before);
    assert_eq!(bytes_of(&client, id), "", "nothing of it is the program's");
    window.keys(&["Return"]);
    let committed = "e4 bb ae e5 90 8d";
    wait_until("it arrived", PATIENCE, || bytes_of(&client, id) == committed);
    // In a field as well, and there it is the field's.
    window.xdotool(&["click", "--window", &window.id, "1"]);
    daemon.rookery(&["roostctl", "palette", "open"]).success();
    window.wait_over(Some("palette"));
    window.keys(&["k", "Return"]);
    window.wait("it is in the field", |seen| seen["typed"] == "仮名");
    assert_eq!(bytes_of(&client, id), committed, "and it arrived once");
}
