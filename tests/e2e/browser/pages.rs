//! Pages for those who read with their ears or work by keyboard alone, and hostile texts on every page.

use rookery_testkit::git;
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

#[track_caller]
fn assert_has(told: &[(String, String)], role: &str, name: &str) {
    assert!(told.iter().any(|(r, n)| r == role && n == name), "no {role} {name:?} in {told:#?}");
}

#[test]
fn inbox_card_and_thread_have_their_roles_and_names() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.open_inbox(1);
    page.until_shown("#approve");
    let told = tree(&page);
    assert_has(&told, "list", "Inbox");
    assert_has(&told, "article", "shell");
    for name in ["Approve", "Deny", "Approve and remember", "Later", "Open session"] {
        assert_has(&told, "button", name);
    }
    page.click(&format!("#sidebar [data-thread='{thread}']"));
    page.until_page("thread");
    page.until_shown("#thread #approve");
    let told = tree(&page);
    assert_has(&told, "log", "Conversation");
    assert_has(&told, "textbox", "Message");
    assert_has(&told, "button", "Send");
    assert_has(&told, "button", "Stop");
    assert_eq!(
        page.js("return document.querySelector('#thread').getAttribute('aria-live')", &[]),
        "off"
    );
    let twice = "const ids = [...document.querySelectorAll('[id]')].map(e => e.id); return ids.filter((id, at) => ids.indexOf(id) !== at)";
    assert_eq!(page.js(twice, &[]), json!([]), "an id is there twice");
}

#[test]
fn a_request_that_arrives_is_announced() {
    let page = Page::open();
    let root = page.project("api");
    page.shell();
    page.js("window.told = []; new MutationObserver(() => window.told.push(document.getElementById('alert').textContent)).observe(document.getElementById('alert'), {childList: true, subtree: true})", &[]);
    page.ask(&root, "Touch", "touch made");
    page.until(
        "it is announced",
        "return window.told.some(t => t.includes('1 request waits'))",
        &[],
    );
    page.until_at("#keys");
    page.until_page("workspace");
}

#[test]
fn output_is_read_where_that_is_turned_on_and_a_flood_is_bounded() {
    let page = Page::open();
    let shell = page.shell();
    page.after_prefix(',');
    page.until_shown("#read-output");
    page.click("#read-output");
    page.until("it is on", "return document.querySelector('#read-output').checked", &[]);
    page.type_keys(&key::ESCAPE.to_string());
    page.until_page("workspace");
    page.until_terminal(shell);
    page.js("window.told = []; new MutationObserver(() => window.told.push(document.getElementById('announce').textContent)).observe(document.getElementById('announce'), {childList: true, subtree: true})", &[]);
    page.type_line("echo first; echo se''cond");
    page.until("it is read", "return window.told.some(t => t.includes('second'))", &[]);
    page.type_line("seq 1 5000; echo the-e''nd");
    page.until_row(shell, "the-end");
    page.until(
        "the rest is counted",
        "return window.told.some(t => /\\d+ more lines/.test(t))",
        &[],
    );
    let most = "return Math.max(...window.told.map(t => t.split('\\n').length))";
    assert!(page.js(most, &[]).as_u64().unwrap() <= 21);
}

#[test]
fn a_card_is_reached_and_left_by_keyboard_alone() {
    let page = Page::open();
    let root = page.project("api");
    page.ask(&root, "Touch", "touch made");
    page.shell();
    page.chord(&[key::CTRL, key::ALT, 'o']);
    page.until_page("inbox");
    page.until_shown("#approve");
    let deciding = "return ['approve', 'deny', 'remember'].includes(document.activeElement?.id)";
    assert_eq!(page.js(deciding, &[]), false, "focus never begins on a deciding button");
    let mut seen = Vec::new();
    for _ in 0..60 {
        page.type_keys(&key::TAB.to_string());
        let at =
            page.js("return document.activeElement.id || document.activeElement.className", &[]);
        seen.push(at.as_str().unwrap().to_owned());
        if seen.last().is_some_and(|at| at == "approve") {
            break;
        }
    }
    for id in ["open", "later", "remember", "deny", "approve"] {
        assert!(seen.iter().any(|at| at == id), "{id} is not reached: {seen:?}");
    }
    // What has the focus is seen.
    let outline = "const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1";
    assert_eq!(page.js(outline, &[]), true);
    page.type_keys(&key::ESCAPE.to_string());
    page.until_page("workspace");
}

/// Texts that try to be more than text.
const HOSTILE: &[&str] = &[
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">]]>",
    "a\u{202e}b\u{200b}c\u{e0041}d\u{feff}",
    "\u{1b}]8;;javascript:alert(1)\u{7}link\u{1b}]8;;\u{7}",
    "[link](javascript:alert(1)) [file](file:///etc/passwd)",
    "Approve",
];

/// That the page holds no element that we did not make, and no character that would not be seen.
#[track_caller]
fn assert_clean(page: &Page, place: &str) {
    assert_ne!(page.js("return document.title", &[]), "owned", "{place}");
    let foreign = "return [...document.querySelectorAll('script:not([src]), img, iframe, object, embed, base, svg, style, form[action]')].map(e => e.outerHTML.slice(0, 80))";
    assert_eq!(page.js(foreign, &[]), json!([]), "{place}");
    let handlers = "return [...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).length";
    assert_eq!(page.js(handlers, &[]), 0, "{place}");
    let links = "return [...document.querySelectorAll('a')].map(a => a.protocol).filter(p => !['http:', 'https:', 'mailto:'].includes(p))";
    assert_eq!(page.js(links, &[]), json!([]), "{place}");
    let hidden = "const bad = /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufeff\\u{e0000}-\\u{e0fff}]/u; return [...document.querySelectorAll('[data-for]:not([data-for=workspace]) *')].filter(e => e.childElementCount === 0 && bad.test(e.textContent)).map(e => e.outerHTML.slice(0, 120))";
    assert_eq!(page.js(hidden, &[]), json!([]), "{place}");
}

#[test]
fn hostile_texts_make_no_element_on_any_page() {
    let page = Page::open();
    let root = page.project("<b>api</b>");
    let all = HOSTILE.join("\n\n");
    git(&root, &["init", "-q", "-b", "main"]);
    std::fs::write(root.join("<img src=x>.rs"), &all).unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "one"]);
    std::fs::write(root.join("<img src=x>.rs"), format!("{all}\nmore")).unwrap();
    let client = page.daemon.client();
    let title = HOSTILE[..2].concat();
    let made = json!({"tree": root, "title": title, "summary": title, "review": true});
    client.call("rookery/checkpoints/create", made);
    let long = "x".repeat(64 << 10);
    let steps = json!([
        {"text": format!("{all}\n\n{long}"), "tool": "shell", "args": {"command": format!("printf '%s' '{}'", all.replace('\'', ""))}},
        {"text": all},
    ]);
    let thread = page.begin(&root, &all, &steps);
    page.until_waits(&thread);
    page.open_inbox(1);
    page.until_shown("#card-what");
    assert_clean(&page, "inbox");
    // What would hide is spelled where it is decided.
    assert!(page.text("#card-what").contains("\\u{202e}"));
    page.click(&format!("#sidebar [data-thread='{thread}']"));
    page.until_page("thread");
    page.until_shown("#thread #card-what");
    assert_clean(&page, "thread");
    // A long line wraps; nothing of it lies beside the page.
    let wide =
        "const l = document.getElementById('thread'); return l.scrollWidth <= l.clientWidth + 1";
    assert_eq!(page.js(wide, &[]), true);
    for word in ["threads", "reviews", "checkpoints", "worktrees", "audit"] {
        page.click("#more-button");
        let label = format!("{}{}", word[..1].to_uppercase(), &word[1..]);
        page.js("[...document.querySelectorAll('#menu button')].find(b => b.textContent === arguments[0]).click()", &[json!(label)]);
        page.until_page(word);
        page.until_shown(&format!("[data-for='{word}'] .entry"));
        assert_clean(&page, word);
        if word == "reviews" {
            page.click("[data-for='reviews'] .entry .row-main");
            page.until_shown("#review .diff-line");
            assert_clean(&page, "review");
        }
    }
}

#[test]
fn a_newcomer_finds_help_palette_and_inbox_on_the_first_screen() {
    let page = Page::open();
    page.until_shown("#inbox-button");
    page.until_shown("#commands-button");
    page.until_shown("#prefix-hint");
    page.until_says("#page", "Nothing runs here yet.");
    page.until_says("#page .empty", "every key");
    page.type_keys("?");
    page.until_page("help");
    page.until_says("[data-for='help'] .rows-list", "Open Inbox");
}

#[test]
fn a_page_that_is_zoomed_to_400_percent_is_used_without_scrolling_sideways() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    // 1280 pixels at 400 % are 320.
    let zoomed = json!({"width": 320, "height": 256, "deviceScaleFactor": 4, "mobile": false});
    page.cdp("Emulation.setDeviceMetricsOverride", zoomed);
    page.until_shown("#bar");
    page.click("#bar [data-go='inbox']");
    page.until_shown("#inbox .row-main");
    let sideways = "return document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll('.page-body')].every(e => e.scrollWidth <= e.clientWidth + 1)";
    assert_eq!(page.js(sideways, &[]), true);
    page.js("document.querySelector('#inbox .row-main').click()", &[]);
    page.until_page("card");
    assert_eq!(page.js(sideways, &[]), true);
    page.pass_guard();
    page.type_keys("a");
    page.settle();
    page.pass_guard();
    page.type_keys("a");
    page.until_settled(&thread);
}
