//! Keys: Roost's stay here and do what they say, every other one reaches the program.

use rookery_testkit::{PATIENCE, TestDaemon, wait_until};

use super::{BYTES, Display, Window, bytes_of, terminals};
use crate::face::{agent, write_steps};

#[test]
fn bound_keys_stay_here_and_all_others_reach_the_program() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh(BYTES);
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let before = client.terminal(id)["size"]["cols"].as_u64().unwrap();
    window.keys(&["alt+b"]);
    let cols = || client.terminal(id)["size"]["cols"].as_u64().unwrap();
    wait_until("the sidebar is gone", PATIENCE, || cols() > before);
    window.keys(&["a", "ctrl+c", "alt+x", "Up", "ctrl+Right", "BackSpace", "Tab", "Return"]);
    window.keys(&["ctrl+backslash", "shift+z", "F5"]);
    let wanted = "61 03 1b 78 1b 5b 41 1b 5b 31 3b 35 43 7f 09 0d 1c 5a 1b 5b 31 35 7e";
    let seen = || bytes_of(&client, id);
    wait_until("every byte arrived", PATIENCE, || seen().ends_with("35 7e"));
    assert_eq!(seen(), wanted);
}

#[test]
fn composed_letters_and_those_of_other_layouts_arrive_once() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh(BYTES);
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let seen = || bytes_of(&client, id);
    let layout = |args: &[&str]| {
        display.run("setxkbmap", args).success();
    };
    layout(&["-layout", "us", "-variant", "intl"]);
    window.xdotool(&["key", "--delay", "50", "dead_acute", "e"]);
    wait_until("a letter of two keys", PATIENCE, || seen() == "c3 a9");
    layout(&["-layout", "de"]);
    window.xdotool(&["key", "--delay", "50", "udiaeresis"]);
    wait_until("a letter of its own key", PATIENCE, || seen() == "c3 a9 c3 bc");
    window.xdotool(&["keydown", "ISO_Level3_Shift", "key", "q", "keyup", "ISO_Level3_Shift"]);
    wait_until("a sign of the third level", PATIENCE, || seen() == "c3 a9 c3 bc 40");
}

#[test]
fn keys_of_roost_do_what_they_say() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let first = client.open_sh("echo one; exec cat");
    let window = Window::open(&daemon, &display);
    let shows = |id: u64| {
        window.wait("the terminal is shown", |seen| {
            seen["terminal"] == id && seen["over"].is_null() && seen["page"] == "workspace"
        })
    };
    shows(first);
    window.keys(&["alt+t"]);
    wait_until("a second tab is there", PATIENCE, || terminals(&client).len() == 2);
    let second = terminals(&client)[1];
    shows(second);
    window.keys(&["ctrl+1"]);
    shows(first);
    window.keys(&["ctrl+2"]);
    shows(second);
    window.keys(&["alt+shift+bracketleft"]);
    shows(first);
    window.keys(&["alt+shift+bracketright"]);
    shows(second);
    window.keys(&["alt+shift+l"]);
    shows(first);
    for palette in ["alt+shift+p", "alt+shift+t", "alt+shift+o", "alt+shift+e"] {
        window.keys(&[palette]);
        window.wait_over(Some("palette"));
        window.keys(&["Escape"]);
        window.wait_over(None);
    }
    window.keys(&["alt+r"]);
    window.wait_over(Some("rename"));
    window.keys(&["ctrl+u"]);
    window.types("logs");
    window.keys(&["Return"]);
    wait_until("the tab has its name", PATIENCE, || client.terminal(first)["title"] == "logs");
    window.keys(&["alt+shift+r"]);
    window.wait_over(Some("rename"));
    window.keys(&["ctrl+u"]);
    window.types("nest");
    window.keys(&["Return"]);
    let project = || client.call("rookery/projects/list", serde_json::json!({}));
    wait_until("the project has its name", PATIENCE, || project()["projects"][0]["name"] == "nest");
    // One point more is a higher line, but not always a wider letter.
    let rows = || client.terminal(first)["size"]["rows"].as_u64().unwrap();
    let before = rows();
    window.keys(&["alt+equal"]);
    wait_until("letters are larger", PATIENCE, || rows() < before);
    window.keys(&["alt+0"]);
    wait_until("letters are as they were", PATIENCE, || rows() == before);
    for (key, page) in [
        ("alt+shift+i", "inbox"),
        ("alt+shift+h", "threads"),
        ("alt+shift+comma", "settings"),
        ("alt+shift+slash", "help"),
    ] {
        window.keys(&[key]);
        window.wait_page(page);
    }
    window.keys(&["Escape"]);
    window.wait_page("workspace");
    for (key, over) in [("ctrl+shift+f", "find"), ("alt+shift+c", "copy"), ("alt+shift+n", "new")] {
        window.keys(&[key]);
        window.wait_over(Some(over));
        window.keys(&["Escape"]);
        window.wait_over(None);
    }
    window.keys(&["ctrl+2"]);
    shows(second);
    window.keys(&["alt+w"]);
    wait_until("the tab is closed", PATIENCE, || terminals(&client) == [first]);
    assert_eq!(client.screen(first).trim(), "one", "no key of these was the program's");
}

#[test]
fn a_window_that_only_looks_sends_no_key() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh(BYTES);
    client.wait_text(id, "go");
    let window = Window::open_with(&daemon, &display, &["--look"], &[]);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    window.keys(&["a", "Return"]);
    window.clicks(400, 300, "2");
    window.keys(&["alt+shift+slash"]);
    window.wait_page("help");
    assert_eq!(bytes_of(&client, id), "");
    assert_eq!(client.status()["viewers"][0]["rights"], "look");
}

#[test]
fn pastes_reach_fields_over_everything() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window
        .wait("the terminal is shown", |seen| seen["terminal"] == id && seen["takes_text"] == true);
    let holds = |text: &str| {
        let mut command = display.command("sh");
        command.args([
            "-c",
            "printf %s \"$1\" | xclip -selection clipboard -in >/dev/null 2>&1",
            "sh",
            text,
        ]);
        rookery_testkit::Finished::of(command).success();
    };
    holds("from afar");
    window.keys(&["alt+r"]);
    window.wait_over(Some("rename"));
    window.keys(&["ctrl+u", "alt+v"]);
    window.wait("it was pasted", |seen| seen["typed"] == "from afar");
    window.types("!");
    window.keys(&["Return"]);
    wait_until("the tab has its name", PATIENCE, || client.terminal(id)["title"] == "from afar!");
    holds("split below");
    window.keys(&["alt+shift+p"]);
    window.wait_over(Some("palette"));
    // Pasted before a letter was written.
    window.keys(&["ctrl+shift+v"]);
    window.wait("it was pasted", |seen| seen["typed"] == "split below");
    window.keys(&["Return"]);
    window.wait("two panes", |seen| seen["over"].is_null() && seen["panes"] == 2);
    assert_eq!(client.screen(id).trim(), "go", "nothing was pasted into the program");
}

#[test]
fn panes_projects_and_scrolling_have_their_keys() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let script = "i=0; while [ $i -lt 200 ]; do echo row-$i; i=$((i+1)); done; echo end; exec cat";
    let first = client.open_sh(script);
    client.wait_text(first, "end");
    let window = Window::open(&daemon, &display);
    let shows = |id: u64| {
        window.wait("the terminal is shown", |seen| {
            seen["terminal"] == id && seen["over"].is_null() && seen["page"] == "workspace"
        })
    };
    shows(first);
    window.keys(&["alt+shift+minus"]);
    let seen = window.wait("two panes", |seen| seen["panes"] == 2);
    let second = seen["terminal"].as_u64().unwrap();
    for (key, id) in [
        ("ctrl+shift+Up", first),
        ("ctrl+shift+Down", second),
        ("alt+shift+x", first),
        ("alt+shift+x", second),
        ("ctrl+shift+Up", first),
    ] {
        window.keys(&[key]);
        shows(id);
    }
    let tab = first.to_string();
    let dumped = || daemon.rookery(&["roostctl", "tab", "dump", "--tab", &tab]).success();
    window.keys(&["shift+Home"]);
    wait_until("the beginning is shown", PATIENCE, || dumped().starts_with("row-0\n"));
    window.keys(&["shift+Next"]);
    wait_until("it is a page further", PATIENCE, || !dumped().contains("row-0\n"));
    window.keys(&["shift+Prior"]);
    wait_until("and back", PATIENCE, || dumped().starts_with("row-0\n"));
    window.keys(&["shift+End"]);
    wait_until("the end is shown", PATIENCE, || dumped().contains("end"));
    let other = daemon.home().join("other");
    std::fs::create_dir(&other).unwrap();
    let params = serde_json::json!({ "name": "other", "root": other });
    client.call("rookery/projects/create", params);
    window.keys(&["alt+2"]);
    window.wait("nothing runs there", |seen| seen["terminal"].is_null() && seen["panes"] == 0);
    window.keys(&["alt+1"]);
    window.wait("the first is shown", |seen| seen["panes"] == 2);
}

#[test]
fn the_other_keys_of_roost_do_what_they_say() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    // A shell that marks its prompts, with more output than fits between two of them.
    let id = client.open_sh(
        "mark() { printf '\\033]133;A\\007$ \\033]133;B\\007%s\\n\\033]133;C\\007' $1; seq 1 60; }
mark first; mark second; printf '\\033]133;D\\007'; echo over; exec cat",
    );
    client.wait_text(id, "over");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    window.clicks(600, 300, "1");
    wait_until("it is the desk", PATIENCE, || client.status()["viewers"][0]["isDesk"] == true);
    let tab = id.to_string();
    let dumped = || daemon.rookery(&["roostctl", "tab", "dump", "--tab", &tab]).success();
    window.keys(&["ctrl+shift+z"]);
    wait_until("the last prompt is shown", PATIENCE, || dumped().starts_with("$ second"));
    window.keys(&["ctrl+shift+z"]);
    wait_until("the first prompt is shown", PATIENCE, || dumped().starts_with("$ first"));
    window.keys(&["ctrl+shift+x"]);
    wait_until("the next one is shown", PATIENCE, || dumped().starts_with("$ second"));
    window.keys(&["shift+End"]);

    let rows = || client.terminal(id)["size"]["rows"].as_u64().unwrap();
    let before = rows();
    window.keys(&["alt+minus"]);
    wait_until("letters are smaller", PATIENCE, || rows() > before);
    window.keys(&["alt+0"]);
    wait_until("letters are as they were", PATIENCE, || rows() == before);

    // What is to be seen elsewhere, and who waits.
    let loud = client.open_sh("echo go; read x; printf '\\033]9;done\\007'; exec cat");
    client.wait_text(loud, "go");
    client.call("rookery/terminals/activate", serde_json::json!({ "terminal": id }));
    window.wait("the first is shown", |seen| seen["terminal"] == id);
    client.write(loud, "\r");
    window.wait("it is said", |seen| seen["places"]["Toast(0)"].is_array());
    window.keys(&["alt+shift+u"]);
    window.wait("who said it is shown", |seen| seen["terminal"] == loud);
    let (mut roder, thread, _) = agent(&daemon, "work");
    roder.turn(&thread, &write_steps("x", "x\n"));
    window.wait("one waits", |seen| seen["waiting"] == 1);
    window.keys(&["alt+shift+j"]);
    window.wait("it is gone to", |seen| seen["page"] != "workspace");
    window.keys(&["alt+1"]);
    window.wait_page("workspace");

    // A project of its own, which is asked about before it is closed with several tabs.
    let projects = || {
        let list = client.call("rookery/projects/list", serde_json::json!({}));
        list["projects"].as_array().unwrap().len()
    };
    let many = projects();
    window.keys(&["alt+n"]);
    wait_until("a project is there", PATIENCE, || projects() == many + 1);
    window.wait("its shell is shown", |seen| {
        seen["terminal"].as_u64().is_some_and(|shown| shown != id && shown != loud)
    });
    window.keys(&["alt+shift+w"]);
    wait_until("it is closed", PATIENCE, || projects() == many);
}
