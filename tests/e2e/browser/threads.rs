//! Threads: begun, streamed, steered, stopped, and decided in.

use serde_json::json;

use crate::asker::script;
use crate::chromium::key;
use crate::page::Page;

#[test]
fn a_thread_is_begun_streams_is_steered_and_stopped() {
    let page = Page::open();
    page.project("api");
    let text: String = (0..60).map(|at| format!("Paragraph {at} of **many**.\n\n")).collect();
    let steps = json!([{"text": text, "chunks": 200, "delayMs": 250}, {"text": "Steered."}, {"text": "More."}]);
    page.after_prefix('t');
    page.until_at("#new-thread-text");
    page.until(
        "the mock can be chosen",
        "const s = document.querySelector('#new-thread-model'); s.value = 'mock/mock'; return s.value === 'mock/mock'",
        &[],
    );
    page.js("document.querySelector('#new-thread-text').value = arguments[0]; document.querySelector('#new-thread-text').dispatchEvent(new Event('input'))", &[json!(script("Stream", &steps))]);
    page.type_keys(&key::ENTER.to_string());
    page.until_page("thread");
    page.until_says("#thread [data-kind='agent']", "Paragraph 1 of many");
    page.until_shown("#stop");
    let is_bold = "return document.querySelector('#thread [data-kind=agent] strong')?.textContent";
    assert_eq!(page.until("bold is bold", is_bold, &[]), "many");
    // Scrolled up, it does not follow, and says how to get back.
    page.until(
        "there is more than fits",
        "const l = document.getElementById('thread'); return l.scrollHeight > l.clientHeight + 200",
        &[],
    );
    page.js("document.getElementById('thread').scrollTop = 0", &[]);
    page.until_shown("#jump");
    page.click("#jump");
    page.until_hidden("#jump");
    page.click("#composer");
    page.type_line("also the changelog");
    let steered = "return [...document.querySelectorAll('#thread [data-kind=user]')].some(e => e.textContent.includes('also the changelog'))";
    page.until("what steers it is shown", steered, &[]);
    page.type_keys(&key::ESCAPE.to_string());
    page.until_says("#message", "esc again stops the turn");
    page.type_keys(&key::ESCAPE.to_string());
    page.until_hidden("#stop");
}

#[test]
fn a_newcomer_without_a_project_begins_a_thread_in_a_directory() {
    let page = Page::open();
    let root = page.daemon.home().join("elsewhere");
    std::fs::create_dir_all(&root).unwrap();
    page.until_shown(".empty");
    page.type_keys("t");
    page.until_at("#new-thread-text");
    page.until(
        "the mock can be chosen",
        "const s = document.querySelector('#new-thread-model'); s.value = 'mock/mock'; return s.value === 'mock/mock'",
        &[],
    );
    page.type_line("hello");
    page.until_says("#new-thread .new-thread-note", "In which directory?");
    page.until_at("#new-thread-cwd");
    page.type_keys(root.to_str().unwrap());
    page.click("#new-thread-start");
    page.until_page("thread");
    page.until_shown("#thread [data-kind='user']");
    let listed = page.daemon.client().call("rookery/threads/list", json!({}));
    assert_eq!(listed["threads"][0]["cwd"], json!(root));
}

#[test]
fn a_request_is_decided_in_its_place_and_takes_keys_only_there() {
    let page = Page::open();
    let root = page.project("api");
    let steps = json!([
        {"text": "I run it.", "tool": "shell", "args": {"command": "touch made; seq 1 300"}},
        {"text": "It is done."},
    ]);
    let thread = page.begin(&root, "In place", &steps);
    page.until_waits(&thread);
    page.click(&format!("#sidebar [data-thread='{thread}']"));
    page.until_page("thread");
    page.until_shown("#thread [data-kind='command'] #approve");
    page.until_at("#composer");
    page.pass_guard();
    page.type_keys("ad");
    page.moment();
    assert_eq!(page.waiting(&thread).len(), 1);
    assert_eq!(page.js("return document.querySelector('#composer').value", &[]), "ad");
    page.type_keys(&key::TAB.to_string());
    page.until_at("#card");
    page.type_keys("a");
    page.until_settled(&thread);
    page.until_file(&root.join("made"));
    page.until_says("#thread", "It is done.");
    // What it printed is folded, and all of it can be had.
    page.until_hidden("#thread .output");
    page.until_says("#thread .call-head", "exit 0");
    page.click("#thread .call-head");
    page.until_shown("#thread .output");
    let cut = "return [...document.querySelectorAll('#thread .output')].some(o => o.textContent.includes('150'))";
    assert_eq!(page.js(cut, &[]), false);
    page.js("[...document.querySelectorAll('#thread .call-body button')].find(b => b.textContent.includes('more lines')).click()", &[]);
    page.until("all of it is there", cut, &[]);
}

#[test]
fn a_thread_shows_its_own_request_though_calls_have_the_same_name() {
    let page = Page::open();
    let root = page.project("api");
    let call = |command: &str| json!([{"tool": "shell", "id": "call_1", "args": {"command": command}}, {"text": "ok"}]);
    let first = page.begin(&root, "First", &call("touch first"));
    page.until_waits(&first);
    let second = page.begin(&root, "Second", &call("touch second"));
    page.until_waits(&second);
    for (thread, command) in [(&first, "touch first"), (&second, "touch second")] {
        // Rows change places while threads begin to wait: this one is clicked wherever it lies.
        page.until_shown(&format!("#sidebar [data-thread='{thread}']"));
        let row = "document.querySelector(`#sidebar [data-thread='${arguments[0]}']`).click()";
        page.js(row, &[json!(thread)]);
        page.until_says("#thread #card-what", command);
    }
    page.pass_guard();
    page.type_keys(&key::TAB.to_string());
    page.until_at("#card");
    page.type_keys("a");
    page.until_settled(&second);
    assert_eq!(page.waiting(&first).len(), 1);
    page.until_file(&root.join("second"));
    assert!(!root.join("first").exists());
}

#[test]
fn commands_are_offered_and_a_draft_is_kept() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.begin(&root, "Short", &json!([{"text": "Hello."}]));
    page.until_shown(&format!("#sidebar [data-thread='{thread}']"));
    page.click(&format!("#sidebar [data-thread='{thread}']"));
    page.until_says("#thread", "Hello.");
    page.until_at("#composer");
    page.type_keys("/comp");
    page.until_says("#slash [aria-selected='true']", "/compact");
    page.type_keys(&key::TAB.to_string());
    page.until(
        "it is written",
        "return document.querySelector('#composer').value === '/compact '",
        &[],
    );
    page.type_keys("half a thought");
    page.reload();
    page.until_open();
    page.until_page("thread");
    page.until(
        "the draft is there",
        "return document.querySelector('#composer')?.value === '/compact half a thought'",
        &[],
    );
}

#[test]
fn a_draft_survives_a_daemon_that_is_killed() {
    let mut page = Page::open();
    let root = page.project("api");
    let thread = page.begin(&root, "Short", &json!([{"text": "Hello."}, {"text": "Again."}]));
    page.until_shown(&format!("#sidebar [data-thread='{thread}']"));
    page.click(&format!("#sidebar [data-thread='{thread}']"));
    page.until_says("#thread", "Hello.");
    page.click("#composer");
    page.type_keys("kept");
    page.daemon.kill9();
    page.until_state("lost");
    page.type_keys(" safe");
    page.daemon.restart();
    page.until_open();
    page.until_page("thread");
    assert_eq!(page.js("return document.querySelector('#composer').value", &[]), "kept safe");
    page.click("#composer");
    page.type_keys(&key::ENTER.to_string());
    let said = "return [...document.querySelectorAll('#thread [data-kind=agent]')].some(e => e.textContent.includes('Again.'))";
    page.until("the agent answers what was written while it was away", said, &[]);
    page.until("it is sent", "return document.querySelector('#composer').value === ''", &[]);
}

#[test]
fn a_card_in_an_item_keeps_the_keyboard_while_the_item_changes() {
    let page = Page::open();
    let script = "const done = arguments[0];
        const address = document.querySelector('script[src]').getAttribute('src').replace('app.js', 'pages/thread_items.js');
        import(address).then(({ItemView}) => {
            const item = {id: '1', kind: 'tool', status: 'waiting', tool: {name: 'shell', title: 'make'}};
            const view = new ItemView({mood: () => document.createElement('i')}, item, () => {});
            const button = document.createElement('button');
            view.slot.append(button);
            document.body.append(view.element);
            button.focus();
            const kept = [{status: 'done'}, {kind: 'thought', blocks: []}, {kind: 'agent', blocks: [], cut: true}].map(change => {
                view.set({...item, ...change});
                return [document.activeElement === button, view.element.lastChild === view.slot, view.element.childNodes.length];
            });
            view.element.remove();
            done(kept);
        }, error => done(String(error)))";
    let kept = json!([[true, true, 2], [true, true, 2], [true, true, 3]]);
    assert_eq!(page.js_later(script, &[]), kept);
}
