//! Texts that try to be more than text, and more of them than a page can hold.

use rookery_testkit::git;
use serde_json::json;

use crate::chromium::key;
use crate::page::Page;

/// Elements that we did not make, handlers, and addresses that are not for browsers.
#[track_caller]
fn assert_nothing_made(page: &Page, place: &str) {
    let script = "return [
        [...document.querySelectorAll('script:not([src]), img, iframe, object, embed, base, svg, style')].map(e => e.outerHTML.slice(0, 80)),
        [...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).map(e => e.outerHTML.slice(0, 80)),
        [...document.querySelectorAll('a')].map(a => a.protocol).filter(p => !['http:', 'https:', 'mailto:'].includes(p)),
        document.title.includes('owned')]";
    assert_eq!(page.js(script, &[]), json!([[], [], [], false]), "{place}");
}

#[test]
fn what_programs_print_stays_text() {
    let page = Page::open();
    let terminal =
        page.program(&["sh", "-c", "stty raw -echo; printf 'ready\\r\\n'; exec cat"], "ready");
    let client = page.daemon.client();
    let texts = [
        "<script>document.title='owned'</script>]]><img src=x onerror=\"document.title='owned'\">",
        "\u{1b}]8;;javascript:document.title='owned'\u{1b}\\js-link\u{1b}]8;;\u{1b}\\",
        "\u{1b}]8;;file:///etc/passwd\u{1b}\\file-link\u{1b}]8;;\u{1b}\\",
        "\u{1b}]8;;data:text/html,<script>1</script>\u{1b}\\data-link\u{1b}]8;;\u{1b}\\",
        "\u{202e}reversed\u{202c}\u{2066}isolated\u{2069}|mark",
        "zero\u{200b}width\u{200d}join\u{feff}tags\u{e0041}\u{e007f}|mark",
        "q\u{336}\u{489}\u{20dd}\u{301}\u{301}\u{301}|mark",
        "\u{1b}]2;<b>title</b>\u{202e}\u{7}\u{1b}]9;<img src=x onerror=alert(1)>\u{7}\u{1b}]777;notify;<b>;<i>\u{7}",
        "\u{1b}]52;c;b3duZWQ=\u{7}\u{1b}P+q544e\u{1b}\\",
    ];
    for text in texts {
        client.write(terminal, &format!("{text}\r\n"));
    }
    // Invalid UTF-8.
    client.call("rookery/terminals/write", json!({"terminal": terminal, "data": "/4D+wID18Pn4"}));
    client.write(terminal, "\r\nall-of-it\r\n");
    page.until_row(terminal, "all-of-it");
    assert_nothing_made(&page, "terminal");
    // Each sign stays in its cells, whatever a font would do: the marks are where the daemon has them.
    let drawn = "const p = document.querySelector('.pane[data-focused]'), w = parseFloat(getComputedStyle(p).getPropertyValue('--cell-w'));
        return [...p.querySelectorAll('.row')].filter(r => r.textContent.includes('|mark')).map(row => {
            const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                const at = node.data.indexOf('|mark');
                if (at < 0) continue;
                const range = document.createRange(); range.setStart(node, at); range.setEnd(node, at + 1);
                return Math.round((range.getBoundingClientRect().left - row.getBoundingClientRect().left) / w);
            } })";
    let held = "const cells = text => [...text].length; const t = Object.values(window.rookery.mirror().terms)[0];
        return t.rows.map(r => typeof r[1] === 'string' ? [r[1]] : r[1]).filter(parts => parts.map(p => typeof p === 'string' ? p : p[0]).join('').includes('|mark')).map(parts => {
            let sum = 0;
            for (const part of parts) {
                const text = typeof part === 'string' ? part : part[0];
                if (text.includes('|mark')) return sum + cells(text.slice(0, text.indexOf('|mark')));
                sum += typeof part === 'string' ? cells(part) : part[1];
            } })";
    let drawn = page.js(drawn, &[]);
    assert_eq!(drawn.as_array().map(Vec::len), Some(3), "{drawn}");
    assert_eq!(drawn, page.js(held, &[]));
    // No click leads to an address that is not for browsers.
    page.js("window.opened = []; window.open = address => { window.opened.push(address) }", &[]);
    for word in ["js-link", "data-link"] {
        let script = "const r = [...document.querySelectorAll('.pane[data-focused] .row')].find(r => r.textContent.includes(arguments[0])).getBoundingClientRect(); return [Math.round(r.left + 20), Math.round(r.top + r.height / 2)]";
        let at = page.js(script, &[json!(word)]);
        page.ctrl_click(at[0].as_i64().unwrap(), at[1].as_i64().unwrap());
        page.settle();
        if page.js("return !document.getElementById('dialog').hidden", &[]) == true {
            page.click("#yes");
            page.until_hidden("#dialog");
        }
    }
    assert_eq!(page.js("return window.opened", &[]), json!([]));
}

#[test]
fn floods_in_every_pane_leave_the_page_usable() {
    let page = Page::open();
    let shell = page.shell();
    page.type_line("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo line-d''one");
    page.until_row(shell, "line-done");
    page.type_line("seq 1 1000000; echo million-d''one");
    page.until_row(shell, "million-done");
    // As many panes as the room has, all printing without an end.
    for count in 0..7 {
        page.after_prefix(if count % 2 == 0 { 'v' } else { '-' });
        // Split, or refused for want of room.
        page.moment();
    }
    let all: Vec<u64> = page
        .daemon
        .client()
        .terminals()
        .iter()
        .map(|terminal| terminal["id"].as_u64().unwrap())
        .collect();
    assert!(all.len() >= 4, "{all:?}");
    let client = page.daemon.client();
    for terminal in &all {
        client.write(*terminal, "yes flood\r");
    }
    let flooded = "return [...document.querySelectorAll('.pane')].every(p => p.textContent.includes('flood'))";
    page.until("every pane floods", flooded, &[]);
    // Keys and pages work all the while.
    page.chord(&[key::CTRL, key::ALT, 'o']);
    page.until_page("inbox");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_page("workspace");
    page.chord(&[key::CTRL, key::ALT, 'p']);
    page.until_shown("#palette");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#palette");
    for terminal in &all {
        client.write(*terminal, "\u{3}");
    }
    let focused = page
        .js("return Number(document.querySelector('.pane[data-focused]').dataset.terminal)", &[]);
    let focused = focused.as_u64().unwrap();
    page.type_line("echo st''ill-here");
    page.until_row(focused, "still-here");
    // Elements are kept for what is in view, however much was printed.
    let rows = page.js("return document.querySelectorAll('.row').length", &[]).as_u64().unwrap();
    assert!(rows < 2000, "{rows} rows are elements");
}

#[test]
fn a_diff_of_fifty_megabytes_is_cut_and_says_so() {
    let page = Page::open();
    let root = page.project("api");
    git(&root, &["init", "-q", "-b", "main"]);
    std::fs::write(root.join("a"), "one\n").unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "one"]);
    std::fs::write(root.join("large.txt"), "0123456789abcde\n".repeat(50 << 16)).unwrap();
    std::fs::write(root.join("small.txt"), "small\n").unwrap();
    let client = page.daemon.client();
    client.call("rookery/checkpoints/create", json!({"tree": root, "review": true}));
    page.shell();
    page.after_prefix('V');
    page.until_page("reviews");
    page.until_shown("[data-for='reviews'] .entry");
    page.type_keys(&format!("j{}", key::ENTER));
    page.until_page("review");
    page.until_shown("#review [data-file='large.txt']");
    page.click("#review [data-file='large.txt'] .row-main");
    page.until_shown("#review .diff-line");
    page.click("#review [data-file='small.txt'] .row-main");
    page.until_says("#review .diff-lines", "small");
    let elements = page.js("return document.querySelectorAll('*').length", &[]);
    assert!(elements.as_u64().unwrap() < 60_000, "{elements} elements");
}

#[test]
fn names_of_everything_stay_text() {
    let page = Page::open();
    let shell = page.shell();
    let client = page.daemon.client();
    let hostile = "<img src=x onerror=\"document.title='owned'\">]]>\u{202e}Approve\u{200b}";
    let root = page.project("plain");
    let _ = client.try_call("rookery/projects/create", json!({"name": hostile, "root": root}));
    let _ =
        client.try_call("rookery/terminals/rename", json!({"terminal": shell, "title": hostile}));
    let tab = shell.to_string();
    page.daemon
        .rookery(&["roostctl", "notify", "--tab", &tab, "--title", hostile, "--body", hostile]);
    page.until_says("#tabs", "<img src=x");
    let steps = json!([{"text": format!("{hostile}\n\n[x](javascript:alert(1)) ![y](http://127.0.0.1:1/z.png) <b>raw</b>")}]);
    let thread = page.begin(&root, hostile, &steps);
    page.until_shown(&format!("#sidebar [data-thread='{thread}']"));
    page.click(&format!("#sidebar [data-thread='{thread}']"));
    page.until_says("#thread", "raw");
    assert_nothing_made(&page, "thread");
    page.chord(&[key::CTRL, key::ALT, 'p']);
    page.until_shown("#palette");
    page.type_keys("img");
    page.until(
        "it is searched",
        "return document.getElementById('palette-query').value === 'img'",
        &[],
    );
    page.settle();
    assert_nothing_made(&page, "palette");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#palette");
    // Only what stands in a card decides: no other element has the words of a button and is one.
    let buttons = page.js("return [...document.querySelectorAll('button')].filter(b => b.checkVisibility() && b.textContent.trim() === 'Approve').length", &[]);
    assert_eq!(buttons, 0);
}

#[test]
fn a_card_whose_text_is_that_of_our_buttons_has_no_more_of_them() {
    let page = Page::open();
    let root = page.project("api");
    let words = "Approve\nDeny\nApprove and remember\n[Deny…]    [Approve]";
    let thread = page.ask(&root, "Approve", words);
    page.open_inbox(1);
    page.until_shown("#approve");
    page.until_says("#card-what", "Approve and remember");
    for (label, id) in [("Approve", "approve"), ("Deny", "deny"), ("Remember…", "remember")] {
        let script = "return [...document.querySelectorAll('button, a, [role=button], [tabindex=\"0\"]')].filter(b => b.checkVisibility() && b.textContent.trim() === arguments[0]).map(b => b.id)";
        assert_eq!(page.js(script, &[json!(label)]), json!([id]));
    }
    // Whoever clicks on what only looks like one decides nothing.
    page.pass_guard();
    page.click("#card-what");
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    assert_nothing_made(&page, "card");
}

/// Has the page take parts of a scene as if the daemon had sent them; its next frame shows that they are not its own.
fn pretend(page: &Page, make: &str) {
    let script = format!(
        "const m = window.rookery.mirror(), many = (count, make) => Array.from({{length: count}}, (_, at) => make(at));
         const scene = (() => {{ {make} }})();
         const message = {{jsonrpc: '2.0', method: 'rookery/view/frame', params: {{n: m.n + 1, scene}}}};
         window.socket.dispatchEvent(new MessageEvent('message', {{data: JSON.stringify(message)}}))"
    );
    page.js(&script, &[]);
}

#[test]
fn a_world_that_is_full_leaves_the_page_usable() {
    let page = Page::open();
    let shell = page.shell();
    page.js("const send = WebSocket.prototype.send; WebSocket.prototype.send = function (text) { window.socket = this; return send.call(this, text) }; window.rookery.resync()", &[]);
    page.moment();
    pretend(
        &page,
        "const tab = at => ({id: 100000 + at, title: `tab ${at} ${'x'.repeat(at % 97 === 0 ? 65536 : 0)}`, mood: 'quiet', badge: false});
         const groups = many(2000, at => ({id: 100000 + at, focused: 100000 + at, tabs: [tab(at)]}));
         return {strip: {...m.scene.strip, groups: [...m.scene.strip.groups, ...groups]}}",
    );
    let pills = "return document.querySelectorAll('#tabs [role=tab]').length";
    page.until("all tabs are there", &format!("{pills} > 2000"), &[]);
    let sideways = "return document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll('.tab')].every(t => t.getBoundingClientRect().height < 40)";
    assert_eq!(page.js(sideways, &[]), true);
    page.type_line("echo st''ill-here");
    page.until_row(shell, "still-here");
    // What the daemon says is what counts.
    page.js("window.rookery.resync()", &[]);
    page.until("only what is there is shown", &format!("{pills} === 1"), &[]);
    page.chord(&[key::CTRL, key::ALT, 'o']);
    page.until_page("inbox");
    page.moment();
    pretend(
        &page,
        "const row = at => ({item: `item-${at}`, category: 'informational', kind: 'completed', session: null, sessionTitle: `session ${at}`, title: 'x'.repeat(65536), subtitle: '<b>', source: 'roost', at: Date.now(), deferred: false});
         return {inbox: {total: 200, from: 0, categories: {informational: 10000}, rows: many(200, row)}}",
    );
    page.until_says("#inbox-count", "10000 to know");
    page.until(
        "they are listed",
        "return document.querySelectorAll('#inbox [data-item]').length === 200",
        &[],
    );
    assert_nothing_made(&page, "inbox");
    page.type_keys("G");
    let last = "const rows = [...document.querySelectorAll('#inbox [data-item]')], b = rows.at(-1).getBoundingClientRect(), l = document.getElementById('inbox').getBoundingClientRect(); return b.bottom <= l.bottom + 1 && b.top >= l.top - 1";
    page.until("the last is reached", last, &[]);
    page.js("window.rookery.resync()", &[]);
    page.type_keys(&key::ESCAPE.to_string());
    page.until_page("workspace");
}
