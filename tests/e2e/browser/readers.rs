//! What a screen reader is told, and what can be done by keyboard alone.

use rookery_view::scene::{ACCENT, Mood};
use serde_json::{Value, json};

use crate::chromium::key;
use crate::page::Page;

/// Role and name of everything in the accessibility tree that is not left out.
fn tree(page: &Page) -> Vec<(String, String)> {
    page.cdp("Accessibility.enable", json!({}));
    let tree = page.cdp("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().unwrap().clone();
    let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
    let told = nodes.iter().filter(|node| node["ignored"] != true);
    told.map(|node| (text(&node["role"]), text(&node["name"]))).collect()
}

#[test]
fn the_frame_has_its_roles_and_names() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("echo aud''ible");
    page.until_row(shell, "audible");
    let told = tree(&page);
    let has = |role: &str, name: &str| {
        assert!(
            told.iter().any(|(r, n)| r == role && n == name),
            "no {role} {name:?} in {told:#?}"
        );
    };
    has("navigation", "Projects");
    has("tablist", "Tabs");
    has("main", "");
    has("contentinfo", "");
    has("button", "New tab");
    has("button", "Inbox, 0 waiting");
    has("button", "Commands");
    has("textbox", "Terminal input");
    has("list", "Screen");
    assert!(
        told.iter().any(|(role, name)| role == "region" && name.starts_with("Terminal ")),
        "{told:#?}"
    );
    assert!(told.iter().any(|(role, _)| role == "tab"));
    assert!(
        told.iter().any(|(role, name)| role == "StaticText" && name.contains("audible")),
        "rows are read"
    );
    page.chord(&[key::CTRL, key::ALT, 'p']);
    page.until_shown("#palette");
    page.until(
        "it has rows",
        "return document.querySelectorAll('#palette [role=option]').length > 3",
        &[],
    );
    let told = tree(&page);
    assert!(told.iter().any(|(role, name)| role == "dialog" && name == "Commands"), "{told:#?}");
    assert!(told.iter().any(|(role, _)| role == "combobox"));
    assert!(told.iter().any(|(role, _)| role == "option"));
}

/// Role and name that the browser tells readers of an element.
#[track_caller]
fn spoken(page: &Page, selector: &str) -> (String, String) {
    let found = json!({"expression": format!("document.querySelector({})", json!(selector))});
    let object = page.cdp("Runtime.evaluate", found)["result"]["objectId"].clone();
    assert!(object.is_string(), "there is no {selector}");
    let params = json!({"objectId": object, "fetchRelatives": false});
    let tree = page.cdp("Accessibility.getPartialAXTree", params);
    let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
    (text(&tree["nodes"][0]["role"]), text(&tree["nodes"][0]["name"]))
}

#[track_caller]
fn assert_spoken(page: &Page, all: &[(&str, &str, &str)]) {
    for (selector, role, name) in all {
        page.until_shown(selector);
        let told = spoken(page, selector);
        assert_eq!((told.0.as_str(), told.1.as_str()), (*role, *name), "{selector}");
    }
}

#[test]
fn what_is_seldom_shown_has_its_role_and_name() {
    let mut page = Page::open();
    page.shell();
    page.cdp("Accessibility.enable", json!({}));
    page.after_prefix('/');
    let find = [("#find", "search", "Find"), ("#find-text", "textbox", "Find text")];
    assert_spoken(&page, &find);
    assert_eq!(spoken(&page, "#find-count").0, "status");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#find");
    page.chord(&[key::CTRL, key::ALT, 'p']);
    assert_spoken(
        &page,
        &[("#palette", "dialog", "Commands"), ("#palette-query", "combobox", "Command")],
    );
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#palette");
    for region in [("#alert", "alert"), ("#announce", "status")] {
        assert_eq!(spoken(&page, region.0).0, region.1);
    }
    page.daemon.kill9();
    page.until_state("lost");
    assert_spoken(&page, &[("#lost", "status", "The daemon is away")]);
    page.daemon.restart();
    page.until_open();
    let stranger = crate::chromium::Browser::start(crate::page::WIDE);
    stranger.go(&page.url);
    stranger.until_shown("#pair");
    let form = "const f = document.querySelector('#pair'); return [f.tagName, f.getAttribute('aria-label')]";
    assert_eq!(stranger.js(form, &[]), json!(["FORM", "Pair this device"]));
}

#[test]
fn a_phone_has_its_roles_and_names() {
    let page = crate::phone::phone(rookery_testkit::TestDaemon::start(), "full");
    page.cdp("Accessibility.enable", json!({}));
    assert_spoken(
        &page,
        &[("#bar", "navigation", "Main"), ("#bar [data-go='agents']", "button", "Agents")],
    );
    crate::phone::open_terminal(&page, &["sh", "-c", "echo here; exec cat"], "here");
    let keys = [
        ("#keybar", "toolbar", "Keys"),
        ("#type", "textbox", "Type into the terminal"),
        ("#keyboard", "button", "Keyboard"),
        ("#keybar [data-key='esc']", "button", "Escape"),
        ("#keybar [data-key='left']", "button", "Left"),
        ("#fit", "button", "Fit to this screen"),
    ];
    assert_spoken(&page, &keys);
}

#[test]
fn the_keyboard_reaches_every_part_and_leaves_it() {
    let page = Page::open();
    let shell = page.shell();
    page.after_prefix('w');
    page.until(
        "the sidebar has the keyboard",
        "return document.activeElement.closest('#sidebar') !== null",
        &[],
    );
    page.type_keys(&key::ESCAPE.to_string());
    let is_back = "return document.activeElement.id === 'keys'";
    page.until("the terminal has it again", is_back, &[]);
    // From the sidebar, Tab goes through everything else.
    page.after_prefix('w');
    page.until(
        "the sidebar has the keyboard",
        "return document.activeElement.closest('#sidebar') !== null",
        &[],
    );
    let mut seen = Vec::new();
    for _ in 0..40 {
        page.type_keys(&key::TAB.to_string());
        let at = page.js("const a = document.activeElement; return a.id || a.getAttribute('role') || a.className || a.tagName", &[]);
        let at = at.as_str().unwrap().to_owned();
        if seen.contains(&at) || at == "keys" {
            break;
        }
        seen.push(at);
    }
    for part in ["tab", "new-tab", "inbox-button", "commands-button", "more-button"] {
        assert!(seen.iter().any(|at| at == part), "{part} is not reached: {seen:?}");
    }
    page.type_keys(&key::ESCAPE.to_string());
    page.until_terminal(shell);
}

#[test]
fn a_request_that_begins_to_wait_is_announced_and_takes_no_key() {
    let page = Page::open();
    let shell = page.shell();
    page.js(
        "window.told = []; new MutationObserver(() => window.told.push(document.getElementById('alert').textContent)).observe(document.getElementById('alert'), {childList: true, subtree: true})",
        &[],
    );
    let wanted = page.ask_to_write("never");
    page.until("it is counted", "return document.title === '(1) Rookery' && document.getElementById('waiting').textContent === '1 wait'", &[]);
    page.until("it is announced", "return window.told.some(told => told.includes('wait'))", &[]);
    assert_eq!(
        page.js("return document.getElementById('inbox-button').getAttribute('aria-label')", &[]),
        "Inbox, 1 waiting"
    );
    page.until_page("workspace");
    page.type_line("echo a''dA1");
    page.until_row(shell, "adA1");
    assert!(!wanted.exists(), "what is typed into a terminal decides nothing");
}

fn hex_of((red, green, blue): (u8, u8, u8)) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn hex(mood: Mood) -> String {
    hex_of(mood.color().unwrap())
}

/// The colors that the daemon tells of a built-in theme.
fn theme(conf: &str) -> Value {
    let color = |name: &str| {
        let line =
            conf.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
        line.rsplit('#').next().map(|digits| format!("#{}", digits.trim()))
    };
    let background = color("background").unwrap();
    let named: Vec<Value> = (0..16)
        .map(|index| color(&format!("palette = {index}=")).map_or(Value::Null, |hex| json!(hex)))
        .collect();
    let moods = json!({
        "waiting": hex(Mood::Waiting), "failed": hex(Mood::Failed), "working": hex(Mood::Working),
        "done": hex(Mood::Finished), "quiet": color("foreground"),
    });
    let brightness: u32 = (1..=5)
        .step_by(2)
        .map(|at| u32::from_str_radix(&background[at..at + 2], 16).unwrap())
        .sum();
    json!({"light": brightness > 384, "background": background, "foreground": color("foreground"), "accent": hex_of(ACCENT), "named": named, "moods": moods})
}

#[test]
fn text_of_the_frame_can_be_read_in_every_built_in_theme() {
    let page = Page::open();
    let script = "const [theme, done] = arguments;
        import(document.querySelector('script[src]').getAttribute('src').replace('app.js', 'theme.js')).then(({paintTheme, contrast, mix}) => {
            paintTheme(theme);
            const of = name => document.documentElement.style.getPropertyValue('--' + name).trim();
            const weak = [];
            const check = (inks, grounds) => {
                for (const ink of inks)
                    for (const [name, ground] of Object.entries(grounds))
                        if (contrast(of(ink), ground) < 4.5) weak.push([ink, name, of(ink), ground]);
            };
            const plain = Object.fromEntries(['bg', 'panel', 'panel-2', 'hover'].map(name => [name, of(name)]));
            // What is selected, and lines of a diff.
            const colored = {
                active: of('active'), row: mix(of('bg'), of('accent'), 0.22), option: mix(of('panel-2'), of('accent'), 0.32),
                added: mix(of('bg'), of('plus'), 0.15), removed: mix(of('bg'), of('minus'), 0.15),
            };
            check(['text', 'dim', 'accent-text'], plain);
            check(['text', 'dim-colored', 'waiting-text', 'failed-text', 'working-text', 'done-text', 'plus-text', 'minus-text'], {...plain, ...colored});
            if (contrast(of('on-accent'), of('accent-fill')) < 4.5) weak.push(['on-accent', of('accent-fill')]);
            done(weak);
        }, error => done([String(error)]))";
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/view/themes");
    let mut count = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let weak = page.js_later(script, &[theme(&std::fs::read_to_string(&path).unwrap())]);
        assert_eq!(weak, json!([]), "{}", path.display());
        count += 1;
    }
    assert!(count > 20);
}
