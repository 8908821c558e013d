//! Typing into programs and taking text out of them.

use serde_json::{Value, json};

use crate::chromium::{key, move_to};
use crate::page::Page;

/// A program that shows every byte it gets as a number.
const BYTES: &[&str] =
    &["sh", "-c", "stty raw -echo; printf 'bytes:\\r\\n'; exec od -An -v -tu1 -w1"];

/// What the program of [`BYTES`] was given so far.
fn bytes(page: &Page, terminal: u64) -> Vec<String> {
    let rows = page.rows(terminal);
    rows.iter()
        .flat_map(|row| row.split_whitespace())
        .filter(|word| word.parse::<u8>().is_ok())
        .map(str::to_owned)
        .collect()
}

/// Waits until the program got exactly these bytes.
#[track_caller]
fn until_bytes(page: &Page, terminal: u64, expected: &[u8]) {
    let expected: Vec<String> = expected.iter().map(u8::to_string).collect();
    rookery_testkit::wait_until(
        &format!("the program got {expected:?}, not {:?}", bytes(page, terminal)),
        rookery_testkit::PATIENCE,
        || bytes(page, terminal) == expected,
    );
}

#[test]
fn what_is_typed_reaches_the_program_and_its_answer_the_page() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("echo h''ello-$((40+2))");
    page.until_row(shell, "hello-42");
    page.until_taken();
}

#[test]
fn keys_that_are_not_ours_reach_the_program_once_and_as_they_are() {
    let page = Page::open();
    let terminal = page.program(BYTES, "bytes:");
    page.type_keys("aZ");
    page.chord(&[key::CTRL, 'r']);
    page.chord(&[key::ALT, 'b']);
    page.type_keys(
        &[key::UP, key::TAB, key::BACKSPACE, key::ESCAPE, key::ENTER].iter().collect::<String>(),
    );
    page.chord(&[key::CTRL, 'v']);
    page.chord(&[key::CTRL, 'c']);
    until_bytes(&page, terminal, &[97, 90, 18, 27, 98, 27, 91, 65, 9, 127, 27, 13, 22, 3]);
}

#[test]
fn the_prefix_twice_sends_it_once_and_an_unknown_key_after_it_sends_nothing() {
    let page = Page::open();
    let terminal = page.program(BYTES, "bytes:");
    page.chord(&[key::CTRL, '\\']);
    page.until_shown("#which");
    page.chord(&[key::CTRL, '\\']);
    page.until_hidden("#which");
    page.after_prefix('E');
    page.until(
        "a message says so",
        "return document.getElementById('message').textContent.includes('does nothing')",
        &[],
    );
    page.type_keys("x");
    until_bytes(&page, terminal, &[28, 120]);
}

#[test]
fn a_composition_reaches_the_program_once_and_shows_what_it_will_be() {
    let page = Page::open();
    let terminal = page.program(&["cat"], "");
    let compose = |text: &str| {
        let count = text.chars().count();
        page.cdp(
            "Input.imeSetComposition",
            json!({"text": text, "selectionStart": count, "selectionEnd": count}),
        );
    };
    compose("に");
    page.until_shown("#preedit");
    assert_eq!(page.text("#preedit"), "に");
    compose("にほ");
    page.cdp("Input.insertText", json!({"text": "日本"}));
    page.until_hidden("#preedit");
    page.type_keys(&key::ENTER.to_string());
    page.until("both lines are there", "return [...document.querySelectorAll('.row')].filter(r => r.textContent.trimEnd() === '日本').length === 2", &[]);
    // Without a composition, as dictation and phones do it.
    page.cdp("Input.insertText", json!({"text": "said"}));
    page.type_keys(&key::ENTER.to_string());
    page.until("both lines are there", "return [...document.querySelectorAll('.row')].filter(r => r.textContent.trimEnd() === 'said').length === 2", &[]);
    let rows: Vec<String> = page.rows(terminal).into_iter().filter(|row| !row.is_empty()).collect();
    assert_eq!(rows, ["日本", "日本", "said", "said"]);
}

/// Remembers what a copy puts on the clipboard.
fn watch_copies(page: &Page) {
    page.js("window.copies = []; document.addEventListener('copy', e => window.copies.push(e.clipboardData.getData('text/plain')))", &[]);
}

/// A place within a row's text, on the display.
pub(crate) fn place(page: &Page, row_begins: &str, column: i64) -> (i64, i64) {
    let script = "const r = [...document.querySelectorAll('.pane[data-focused] .row')].find(r => r.textContent.startsWith(arguments[0]));
        if (!r) return null; const b = r.getBoundingClientRect();
        const w = parseFloat(getComputedStyle(r.closest('.pane')).getPropertyValue('--cell-w'));
        return [Math.round(b.left + w * arguments[1] + 1), Math.round(b.top + b.height / 2)]";
    let at = page.until("the row is there", script, &[json!(row_begins), json!(column)]);
    (at[0].as_i64().unwrap(), at[1].as_i64().unwrap())
}

#[test]
fn text_that_is_selected_over_wrapped_rows_is_copied_joined() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("clear; printf 'b%.0s' $(seq 1 300); printf '=END  \\nnext\\n'");
    page.until_row(shell, "=END");
    watch_copies(&page);
    let from = place(&page, "bbb", 3);
    let to = place(&page, "next", 4);
    page.drag(from, to);
    page.until(
        "text is selected",
        "return document.documentElement.hasAttribute('data-selecting')",
        &[],
    );
    page.chord(&[key::CTRL, 'c']);
    let copied = page.until("it was copied", "return window.copies[0] ?? ''", &[]);
    assert_eq!(copied, format!("{}=END\nnext", "b".repeat(297)));
    // It was no interrupt, the selection is gone, and the keyboard is the program's again.
    page.until(
        "nothing is selected",
        "return !document.documentElement.hasAttribute('data-selecting')",
        &[],
    );
    page.type_line("echo st''ill");
    page.until_row(shell, "still");
    assert!(!page.rows(shell).iter().any(|row| row.contains("^C")));
}

#[test]
fn a_selection_that_is_scrolled_away_is_copied_as_it_was() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("clear; seq -f 'row-%04.0f' 1 3000; echo at-the-e''nd");
    page.until_row(shell, "at-the-end");
    page.until_taken();
    watch_copies(&page);
    // What is not here comes from the daemon, too late for the event of a copy command.
    page.js("window.copied = ''; Object.defineProperty(navigator, 'clipboard', {configurable: true, value: {writeText: async text => { window.copied = text }}})", &[]);
    let (x, y) = place(&page, "row-2999", 0);
    let down = json!({"type": "pointerDown", "button": 0});
    page.mouse(&[move_to(x, y), down, move_to(x + 30, y - 40)]);
    page.mouse(&[json!({"type": "pointerUp", "button": 0})]);
    // Scrolled until no row of it is an element any more.
    let scroll = "document.querySelector('.pane[data-focused] .scroller').scrollTop = arguments[0] * parseFloat(getComputedStyle(document.querySelector('.pane')).getPropertyValue('--cell-h'))";
    page.js(scroll, &[json!(1200)]);
    page.until_row(shell, "row-1210");
    page.chord(&[key::CTRL, 'c']);
    let copied = page.until("it was copied", "return window.copied || window.copies[0]", &[]);
    let rows: Vec<&str> = copied.as_str().unwrap().lines().collect();
    assert_eq!(rows, ["2997", "row-2998"]);
}

#[test]
fn a_selection_stays_while_output_goes_on() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("clear; echo keep-this; for i in 1 2 3 4 5 6; do read x; echo more-$x; done");
    page.until_row(shell, "keep-this");
    watch_copies(&page);
    let (x, y) = place(&page, "keep-this", 0);
    page.drag((x, y), place(&page, "keep-this", 9));
    page.daemon.client().write(shell, "a\rb\r");
    page.until_row(shell, "more-b");
    page.chord(&[key::CTRL, 'c']);
    assert_eq!(page.until("it was copied", "return window.copies[0] ?? ''", &[]), "keep-this");
}

#[test]
fn a_paste_of_lines_asks_first_where_the_program_would_run_them() {
    let page = Page::open();
    let shell = page.shell();
    let paste = |text: &str| {
        let script = "const d = new DataTransfer(); d.setData('text/plain', arguments[0]);
            document.getElementById('keys').dispatchEvent(new ClipboardEvent('paste', {clipboardData: d, bubbles: true, cancelable: true}))";
        page.js(script, &[json!(text)]);
    };
    paste("echo one\necho two\u{202e}\n");
    page.until_shown("#dialog");
    assert!(page.text("#dialog h2").contains("Paste 2 lines"));
    let shown = page.text("#dialog .lines");
    assert!(shown.contains("echo one") && shown.contains("\\u{202e}"), "{shown}");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#dialog");
    paste("echo th''ree\necho fo''ur\n");
    page.until_shown("#dialog");
    page.type_keys(&key::ENTER.to_string());
    page.until_row(shell, "four");
    assert!(page.rows(shell).iter().any(|row| row == "three"));
    assert!(!page.rows(shell).iter().any(|row| row == "one"));
}

#[test]
fn the_history_is_scrolled_natively_and_typing_comes_back_to_the_end() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("seq 1 5000");
    page.until_row(shell, "4999");
    let scroll = "document.querySelector('.pane[data-focused] .scroller').scrollTop = arguments[0] * parseFloat(getComputedStyle(document.querySelector('.pane')).getPropertyValue('--cell-h'))";
    page.js(scroll, &[json!(2000)]);
    page.until_row(shell, "2001");
    let top = "const t = Object.values(window.rookery.mirror().terms)[0]; return t.view[0] < t.view[1] ? t.view[0] : 0";
    let told = page.until("the daemon knows", top, &[]);
    assert_eq!(told, 2000);
    page.until_shown(".newer");
    page.type_line("echo ba''ck");
    page.until_row(shell, "back");
    page.until_hidden(".newer");
    // By keys as well.
    page.chord(&[key::SHIFT, key::PAGE_UP]);
    page.until_shown(".newer");
    page.click(".newer");
    page.until_hidden(".newer");
}

#[test]
fn find_counts_marks_and_shows_what_is_in_the_history() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("for i in $(seq 1 900); do echo line-$i; done");
    page.until_row(shell, "line-900");
    page.after_prefix('/');
    page.until_shown("#find");
    page.type_keys("line-77");
    let counted = "return document.getElementById('find-count').textContent === arguments[0]";
    page.until("matches are counted", counted, &[json!("1 of 11")]);
    page.until_row(shell, "line-779");
    page.type_keys(&key::ENTER.to_string().repeat(10));
    page.until("the oldest is shown", counted, &[json!("11 of 11")]);
    page.until_row(shell, "line-77");
    page.until(
        "it is marked",
        "return document.querySelectorAll('.light.current').length === 1",
        &[],
    );
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#find");
    page.type_line("echo do''ne");
    page.until_row(shell, "done");
}

#[test]
fn a_program_that_wants_the_mouse_gets_it() {
    let page = Page::open();
    let terminal = page.program(
        &["sh", "-c", "stty raw -echo; printf '\\033[?1000h\\033[?1006hready\\r\\n'; exec cat -v"],
        "ready",
    );
    let (x, y) = place(&page, "ready", 2);
    page.until("the mode is known", "return document.querySelector('.pane.mouse') !== null", &[]);
    page.mouse(&[
        move_to(x, y),
        json!({"type": "pointerDown", "button": 0}),
        json!({"type": "pointerUp", "button": 0}),
    ]);
    page.until_row(terminal, "^[[<0;3;1M^[[<0;3;1m");
    assert!(
        !page
            .js("return document.documentElement.hasAttribute('data-selecting')", &[])
            .as_bool()
            .unwrap()
    );
}

#[test]
fn an_address_that_is_pointed_at_is_spelled() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("clear; printf '\\033]8;;https://example.org/\\342\\200\\256x\\033\\\\pointed\\033]8;;\\033\\\\\\n'");
    let (x, y) = place(&page, "pointed", 2);
    let over = json!({"type": "mouseMoved", "x": x, "y": y, "modifiers": 2});
    page.cdp("Input.dispatchMouseEvent", over);
    let title = "return document.querySelector('.pane[data-focused]').title";
    let title = page.until("its address is shown", title, &[]);
    assert_eq!(title, "https://example.org/\\u{202e}x");
    assert!(page.rows(shell).iter().any(|row| row == "pointed"));
}

#[test]
fn a_copy_that_the_browser_refuses_is_told_once() {
    let page = Page::open();
    let shell = page.shell();
    page.js("window.tries = 0; Object.defineProperty(navigator, 'clipboard', {configurable: true, value: {writeText: async () => { window.tries += 1; throw new Error('no') }}})", &[]);
    let copy = "printf '\\033]52;c;aGVsbG8=\\007'; echo sa''id";
    page.type_line(copy);
    page.until("it was tried", "return window.tries === 1", &[]);
    page.until_says("#toasts", "a program copied text, but the browser");
    page.type_line(copy);
    page.until("it was tried again", "return window.tries === 2", &[]);
    page.settle();
    let told = "return [...document.querySelectorAll('#toasts .toast')].filter(e => e.textContent.includes('a program copied')).length";
    assert_eq!(page.js(told, &[]), 1);
    page.until_row(shell, "said");
}

/// Cells that are drawn of a row: the left edge of each sign, in cells.
const EDGES: &str = "const row = [...document.querySelectorAll('.pane[data-focused] .row')].find(r => r.textContent.includes('|end'));
    if (!row) return null;
    const w = parseFloat(getComputedStyle(row.closest('.pane')).getPropertyValue('--cell-w'));
    const at = row.textContent.indexOf('|end');
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const place = node.data.indexOf('|end');
        if (place < 0) continue;
        const range = document.createRange(); range.setStart(node, place); range.setEnd(node, place + 1);
        return (range.getBoundingClientRect().left - row.getBoundingClientRect().left) / w;
    }
    return null";

#[test]
fn columns_stay_aligned_at_every_zoom() {
    aligned_in(&Page::open());
}

#[test]
fn columns_stay_aligned_in_another_font() {
    let page = Page::open_configured("font-family = Nimbus Mono PS\n");
    aligned_in(&page);
    let drawn = "return getComputedStyle(document.querySelector('.sheet')).fontFamily";
    assert!(page.js(drawn, &[]).as_str().unwrap().starts_with("\"Nimbus Mono PS\""));
}

#[track_caller]
fn aligned_in(page: &Page) {
    let shell = page.shell();
    page.type_line("clear; printf '日本👩‍👩‍👧e\\314\\201◆→…ﷺ|end\\n'");
    page.until_row(shell, "|end");
    let column = |page: &Page| -> Option<f64> {
        let mirror = page.mirror();
        let rows = mirror["terms"][shell.to_string()]["rows"].as_array()?;
        let row = rows.iter().find(|row| {
            row[1].to_string().contains("|end") && !row[1].to_string().contains("printf")
        })?;
        Some(cells_before(&row[1], "|end"))
    };
    for scale in [0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0] {
        page.cdp(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": 1280, "height": 860, "deviceScaleFactor": scale, "mobile": false}),
        );
        page.until(
            "the page sees the scale",
            "return Math.abs(window.devicePixelRatio - arguments[0]) < 0.01",
            &[json!(scale)],
        );
        page.until("a cell is whole pixels", "const w = parseFloat(getComputedStyle(document.querySelector('.pane')).getPropertyValue('--cell-w')) * devicePixelRatio; return Math.abs(w - Math.round(w)) < 0.01", &[]);
        let expected = column(page).unwrap();
        let seen = page.until("the row is drawn", EDGES, &[]).as_f64().unwrap();
        assert!(
            (seen - expected).abs() < 0.12,
            "at {scale} the end is drawn at {seen}, not {expected}"
        );
    }
}

/// Cells of a row's text before a word.
fn cells_before(text: &Value, word: &str) -> f64 {
    let parts = match text {
        Value::String(plain) => vec![json!(plain)],
        Value::Array(parts) => parts.clone(),
        other => panic!("{other} is no text"),
    };
    let mut cells = 0;
    for part in parts {
        if let Some(plain) = part.as_str() {
            let found = plain.find(word);
            cells += plain[..found.unwrap_or(plain.len())].chars().count();
            if found.is_some() {
                break;
            }
        } else {
            cells += usize::try_from(part[1].as_u64().unwrap()).unwrap();
        }
    }
    cells as f64
}
