//! The frame of the page: its size, its policy, its sidebar, and hostile texts.

use rookery_testkit::wait_until;
use serde_json::json;

use crate::asker::SOON;
use crate::chromium::key;
use crate::page::Page;

#[test]
fn names_and_rows_with_markup_make_no_element() {
    let page = Page::open();
    let shell = page.shell();
    let before = page.js("return document.querySelectorAll('img, script:not([src]), iframe, object, embed, base').length", &[]);
    let hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>]]>";
    page.daemon
        .client()
        .call("rookery/terminals/rename", json!({"terminal": shell, "title": hostile}));
    page.type_line(&format!("printf '%s\\n' '{hostile}'"));
    page.until_row(shell, hostile);
    page.until(
        "the tab has its name",
        "return document.querySelector('#tabs .tab-title').textContent === arguments[0]",
        &[json!(hostile)],
    );
    page.type_line("printf '\\033]8;;javascript:alert(1)\\033\\\\link\\033]8;;\\033\\\\ \\342\\200\\256bidi\\n'");
    page.until_row(shell, "bidi");
    let after = page.js("return document.querySelectorAll('img, script:not([src]), iframe, object, embed, base').length", &[]);
    assert_eq!(before, after);
    assert_eq!(page.js("return document.querySelectorAll('a[href^=javascript]').length", &[]), 0);
    // No attribute of style or of handlers was made from what was told.
    let own = "return [...document.querySelectorAll('.row, .row *')].filter(e => [...e.attributes].some(a => !['class', 'role', 'data-row', 'data-cells'].includes(a.name))).length";
    assert_eq!(page.js(own, &[]), 0);
}

#[test]
fn rows_are_drawn_as_the_daemon_has_them() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("clear; printf '\\033[1;31mred\\033[0m \\033[44;4mblue\\033[0m 日本 e\\314\\201 \\033[7mturned\\033[0m\\n'");
    page.until_row(shell, "turned");
    page.until_taken();
    let mirror = page.mirror();
    let rows = mirror["terms"][shell.to_string()]["rows"].as_array().unwrap().clone();
    let drawn = page.rows(shell);
    for row in &rows {
        let text = match &row[1] {
            serde_json::Value::String(text) => text.clone(),
            parts => parts
                .as_array()
                .unwrap()
                .iter()
                .map(|part| part.as_str().or(part[0].as_str()).unwrap())
                .collect(),
        };
        assert!(drawn.contains(&text.trim_end().to_owned()), "{text:?} is not in {drawn:?}");
    }
    let styles = page.js("const row = [...document.querySelectorAll('.row')].find(r => r.textContent.startsWith('red')); return [...row.querySelectorAll('span[class^=t]')].map(s => { const c = getComputedStyle(s); return [s.textContent, c.fontWeight, c.textDecorationLine, c.color, c.backgroundColor] })", &[]);
    let styles = styles.as_array().unwrap().clone();
    assert_eq!((&styles[0][0], &styles[0][1]), (&json!("red"), &json!("700")));
    assert_eq!((&styles[1][0], &styles[1][2]), (&json!("blue"), &json!("underline")));
    // Ink and ground of what is turned are those of the theme, the other way round.
    let theme = page.js(
        "const c = getComputedStyle(document.querySelector('.pane .sheet')); return c.color",
        &[],
    );
    assert_eq!(styles.last().unwrap()[4], theme);
}

#[test]
fn another_size_of_the_window_is_the_programs_size() {
    let page = Page::open();
    let shell = page.shell();
    let size = || page.mirror()["terms"][shell.to_string()]["size"].clone();
    let before = size();
    page.cdp(
        "Emulation.setDeviceMetricsOverride",
        json!({"width": 900, "height": 600, "deviceScaleFactor": 1, "mobile": false}),
    );
    page.until("it has another size", "const t = Object.values(window.rookery.mirror().terms)[0]; return t && t.size[1] !== arguments[0]", &[before[1].clone()]);
    page.type_line("stty size");
    let now = size();
    page.until_row(shell, &format!("{} {}", now[0], now[1]));
}

/// Projects, in the order of the sidebar or in that of the daemon.
const SHOWN: &str = "return [...document.querySelectorAll('#sidebar .project')].filter(e => e.checkVisibility()).map(e => e.querySelector('.name').textContent).join()";

#[test]
fn the_sidebar_is_filtered_while_the_keyboard_is_there() {
    let page = Page::open();
    for name in ["alpha", "beta", "gamma"] {
        page.project(name);
    }
    let shows = |names: &str| {
        let script = format!("{SHOWN} === arguments[0]");
        page.until(&format!("it shows {names}"), &script, &[json!(names)]);
    };
    shows("alpha,beta,gamma");
    page.js("document.querySelector('#sidebar .project').focus()", &[]);
    page.type_keys("/");
    page.until_at("#sidebar .filter");
    page.type_keys("BET");
    shows("beta");
    page.type_keys(&key::ENTER.to_string());
    page.until_at("#sidebar .project");
    shows("beta");
    page.type_keys("/");
    page.until_at("#sidebar .filter");
    page.type_keys(&key::ESCAPE.to_string());
    shows("alpha,beta,gamma");
    page.until_hidden("#sidebar .filter");
    // It goes with the keyboard.
    page.type_keys("/");
    page.type_keys("gam");
    shows("gamma");
    page.js("document.getElementById('skip').focus()", &[]);
    shows("alpha,beta,gamma");
}

#[test]
fn projects_are_dragged_into_another_order() {
    let page = Page::open();
    for name in ["alpha", "beta", "gamma"] {
        page.project(name);
    }
    let client = page.daemon.client();
    let names = || -> Vec<String> {
        let projects = client.call("rookery/projects/list", json!({}))["projects"].clone();
        let names = projects.as_array().unwrap().iter();
        names.map(|project| project["name"].as_str().unwrap().to_owned()).collect()
    };
    page.until(
        "all are there",
        "return document.querySelectorAll('#sidebar .project').length === 3",
        &[],
    );
    let place = page.js("return location.href + document.getElementById('page').dataset.page", &[]);
    let middle =
        |at: u32| page.middle(&format!("#sidebar .project-group:nth-child({at}) .project"));
    let (x, last) = middle(3);
    page.drag(middle(1), (x, last + 8));
    wait_until("the first is the last", SOON, || names() == ["beta", "gamma", "alpha"]);
    page.until("it is shown so", &format!("{SHOWN} === 'beta,gamma,alpha'"), &[]);
    let (x, second) = middle(2);
    page.drag(middle(3), (x, second - 6));
    wait_until("it is the second", SOON, || names() == ["beta", "alpha", "gamma"]);
    // What is dragged is not opened.
    let after = page.js("return location.href + document.getElementById('page').dataset.page", &[]);
    assert_eq!(place, after);
}

#[test]
fn a_page_that_is_open_and_idle_has_no_short_timer() {
    let mut page = Page::open();
    let watch = "window.beats = new Map();
        const [begin, end] = [window.setInterval, window.clearInterval];
        window.setInterval = (run, ms, ...rest) => { const id = begin(run, ms, ...rest); window.beats.set(id, ms); return id; };
        window.clearInterval = id => { window.beats.delete(id); end(id); };";
    page.cdp("Page.addScriptToEvaluateOnNewDocument", json!({"source": watch}));
    page.reload();
    page.until_open();
    let short = "return [...window.beats.values()].filter(ms => ms < 60000).length";
    assert_eq!(page.js(short, &[]), 0);
    page.daemon.kill9();
    page.until_state("lost");
    page.until("the seconds are counted", &format!("{short} === 1"), &[]);
    page.daemon.restart();
    page.until_open();
    assert_eq!(page.js(short, &[]), 0);
}
