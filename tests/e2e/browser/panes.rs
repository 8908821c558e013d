//! Panes, tabs, the palette and other places of the frame.

use rookery_testkit::{PATIENCE, wait_until};
use serde_json::json;

use crate::chromium::key;
use crate::page::Page;

/// How many panes are shown.
fn until_panes(page: &Page, count: u64) {
    page.until(
        &format!("{count} panes are shown"),
        "return document.querySelectorAll('.pane').length === arguments[0]",
        &[json!(count)],
    );
}

#[test]
fn an_empty_workspace_offers_a_shell() {
    let page = Page::open();
    page.until_shown(".empty");
    page.type_keys("c");
    until_panes(&page, 1);
    page.until("it has the keyboard", "return document.activeElement.id === 'keys'", &[]);
}

#[test]
fn panes_are_split_left_zoomed_and_closed_by_keys() {
    let page = Page::open();
    let first = page.shell();
    page.chord(&[key::CTRL, key::ALT, 'v']);
    until_panes(&page, 2);
    page.chord(&[key::CTRL, key::ALT, 'b']);
    until_panes(&page, 3);
    let areas = page.mirror()["scene"]["panes"]["areas"].clone();
    let drawn = page.js("return [...document.querySelectorAll('.pane')].map(p => { const s = getComputedStyle(p); return [Number(p.dataset.terminal), Math.round(parseFloat(p.style.width) / parseFloat(s.getPropertyValue('--cell-w'))), Math.round(parseFloat(p.style.height) / parseFloat(s.getPropertyValue('--cell-h')))] })", &[]);
    for area in areas.as_array().unwrap() {
        let pane = drawn.as_array().unwrap().iter().find(|pane| pane[0] == area["t"]).unwrap();
        assert_eq!((&pane[1], &pane[2]), (&area["cols"], &area["rows"]), "{area}");
    }
    page.after_prefix(key::LEFT);
    let focused =
        "return document.querySelector('.pane[data-focused]')?.dataset.terminal === arguments[0]";
    page.until("the left pane has the keyboard", focused, &[json!(first.to_string())]);
    page.type_line("echo le''ft");
    page.until_row(first, "left");
    page.chord(&[key::CTRL, key::ALT, 'z']);
    until_panes(&page, 1);
    page.chord(&[key::CTRL, key::ALT, 'z']);
    until_panes(&page, 3);
    page.after_prefix('x');
    until_panes(&page, 2);
}

#[test]
fn a_gap_is_dragged_and_a_pill_shows_how_many_tabs_it_has() {
    let page = Page::open();
    page.shell();
    page.chord(&[key::CTRL, key::ALT, 'v']);
    until_panes(&page, 2);
    assert_eq!(page.text("#tabs [role=tab] .tab-more"), "+1");
    let width = "return document.querySelector('.pane').getBoundingClientRect().width";
    let before = page.js(width, &[]).as_f64().unwrap();
    let gap = page.middle(".gap.upright");
    page.drag(gap, (gap.0 - 160, gap.1));
    page.until(
        "the left pane is narrower",
        "return document.querySelector('.pane').getBoundingClientRect().width < arguments[0] - 100",
        &[json!(before)],
    );
}

#[test]
fn tabs_are_opened_by_click_and_renamed_in_place() {
    let page = Page::open();
    let first = page.shell();
    page.click("#new-tab");
    page.until(
        "there are two tabs",
        "return document.querySelectorAll('#tabs [role=tab]').length === 2",
        &[],
    );
    page.click(&format!("#tabs [data-tab='{first}']"));
    let chosen =
        "return document.querySelector('#tabs [aria-selected=true]')?.dataset.tab === arguments[0]";
    page.until("the first is shown", chosen, &[json!(first.to_string())]);
    page.after_prefix('r');
    page.until_shown("#tabs .rename");
    page.type_line("kitchen");
    page.until("it has its name", "return document.querySelector('#tabs [aria-selected=true] .tab-title').textContent === 'kitchen'", &[]);
    page.until_hidden("#tabs .rename");
    page.type_line("echo ag''ain");
    page.until_row(first, "again");
}

#[test]
fn the_palette_finds_and_runs_an_action_and_gives_the_keyboard_back() {
    let page = Page::open();
    let shell = page.shell();
    page.chord(&[key::CTRL, key::ALT, 'p']);
    page.until_shown("#palette");
    page.type_keys("split right");
    page.until("it is found", "return document.querySelector('#palette [role=option][aria-selected=true]')?.dataset.id === 'split_right'", &[]);
    page.type_keys(&key::ENTER.to_string());
    until_panes(&page, 2);
    page.until_hidden("#palette");
    page.after_prefix(key::LEFT);
    page.until_focused(shell);
    page.type_line("echo th''ere");
    page.until_row(shell, "there");
}

#[test]
fn find_chosen_in_the_palette_keeps_the_keyboard() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("echo nee''dle");
    page.until_row(shell, "needle");
    page.chord(&[key::CTRL, key::ALT, 'p']);
    page.until_shown("#palette [role='option']");
    page.type_keys("find");
    page.until("it is found", "return document.querySelector('#palette [role=option][aria-selected=true]')?.dataset.id === 'find'", &[]);
    page.type_keys(&key::ENTER.to_string());
    page.until_hidden("#palette");
    page.until_shown("#find");
    page.type_keys("needle");
    page.until_says("#find-count", "1 of 1");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#find");
    page.type_line("echo af''ter");
    page.until_row(shell, "after");
}

#[test]
fn what_a_button_of_the_frame_opens_has_the_keyboard() {
    let page = Page::open();
    let shell = page.shell();
    for (at, button) in ["#new-tab", ".new-project"].into_iter().enumerate() {
        page.click(button);
        let other = "const p = document.querySelector('.pane[data-focused]');
            return p && document.activeElement?.id === 'keys' && !arguments[0].includes(p.dataset.terminal) && Number(p.dataset.terminal)";
        let known = page.js(
            "window.known = [...(window.known ?? []), arguments[0]]; return window.known",
            &[json!(shell.to_string())],
        );
        let opened = page.until("another has the keyboard", other, &[known]);
        page.js("window.known.push(arguments[0])", &[json!(opened.to_string())]);
        let opened = opened.as_u64().unwrap();
        page.type_line(&format!("echo he''re {at}"));
        page.until_row(opened, &format!("here {at}"));
    }
    assert_eq!(page.js("return document.querySelectorAll('#tabs [role=tab]').length", &[]), 1);
}

#[test]
fn escape_closes_a_menu_and_gives_the_keyboard_back() {
    let page = Page::open();
    let shell = page.shell();
    page.click("#more-button");
    page.until_shown("#menu");
    page.type_keys(&key::DOWN.to_string());
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#menu");
    page.until_at("#more-button");
    page.type_keys(&key::ESCAPE.to_string());
    page.type_line("echo le''ft");
    page.until_row(shell, "left");
}

#[test]
fn a_message_covers_nothing_that_is_typed_into() {
    let page = Page::open();
    let root = page.project("api");
    let script =
        "stty -echo; printf ready; read x; printf '\\033[999;900H\\033[3A\\033[15Dhere'; exec cat";
    let terminal = page.program(&["sh", "-c", script], "ready");
    // The cursor goes to the lower right, where messages lie as a rule.
    page.type_line("");
    page.until_row(terminal, "here");
    page.ask(&root, "Touch", "touch made");
    page.until_shown("#toasts .toast");
    let apart = "const box = e => document.querySelector(e).getBoundingClientRect();
        const [a, b] = [box('#toasts'), box(arguments[0])];
        return a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top";
    page.until("it lies elsewhere", apart, &[json!(".pane[data-focused] .cursor")]);
}

#[test]
fn the_inbox_is_a_key_away_and_escape_leads_back() {
    let page = Page::open();
    let shell = page.shell();
    page.chord(&[key::CTRL, key::ALT, 'o']);
    page.until_page("inbox");
    page.type_keys("x");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_page("workspace");
    page.type_line("echo he''re");
    page.until_row(shell, "here");
    // What was typed on the page went to no program.
    assert!(!page.rows(shell).iter().any(|row| row.contains("xecho")));
}

#[test]
fn a_request_is_read_in_the_inbox_and_approved_by_key_once_it_could_be_read() {
    let page = Page::open();
    page.shell();
    let wanted = page.ask_to_write("yes");
    page.chord(&[key::CTRL, key::ALT, 'o']);
    page.until_page("inbox");
    page.until_shown("#inbox [data-request]");
    page.until_shown("#card");
    assert!(page.text("#card").contains("yes"));
    assert!(!wanted.exists(), "Enter and opening decide nothing");
    wait_until("the card takes the key", PATIENCE, || {
        page.type_keys("a");
        wanted.exists()
    });
    page.until("nothing waits any more", "return document.title === 'Rookery'", &[]);
}
