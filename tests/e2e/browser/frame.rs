//! The frame of the page: its size, its policy, and hostile texts.

use serde_json::json;

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
