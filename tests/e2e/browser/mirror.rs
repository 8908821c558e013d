//! The page's mirror and the one in Rust come to the same from the same frames, whole or damaged.

use std::collections::BTreeMap;
use std::time::Duration;

use rookery_face::{Mirror, MirrorTerm};
use rookery_testkit::{Caller, PATIENCE, Random, TestDaemon};
use rookery_view::link::{Frame, Opened, RowText, Style, bound};
use serde_json::{Value, json};

use crate::page::Page;

/// What a viewer is sent while all kinds of things happen to its terminals.
struct Recording {
    opened: Value,
    frames: Vec<Value>,
}

/// Programs whose output uses what rows can hold.
const SCRIPTS: &[&str] = &[
    "seq 1 400",
    "printf '\\033[1;3;4;9;38;5;208mstyled\\033[0m \\033[38;2;1;2;3;48;2;4;5;6mrgb\\033[0m\\n'",
    "printf '日本語 👩‍👩‍👧 e\\314\\201 ◆\\n'",
    "printf '\\033]8;;https://example.org/a\\033\\\\linked\\033]8;;\\033\\\\\\n'",
    "printf '\\033[?1049h\\033[2J\\033[5;5Halternate'; sleep 0.05; printf '\\033[?1049l'",
    "printf '\\033]11;#102030\\033\\\\own ground\\n'",
    "printf '\\033[?1000h\\033[?2004h\\033[4 q'",
    "printf 'w%.0s' $(seq 1 500); echo",
    "printf '\\033[H\\033[2Jcleared\\n'; printf '\\033[3J'",
    "for i in 1 2 3 4 5 6 7 8 9; do printf '\\r%s %s' $i $i; done; echo",
];

fn record(daemon: &TestDaemon) -> Recording {
    let client = daemon.client();
    let terminal = client.open(json!({"argv": ["sh", "-c", "PS1='> ' exec sh -i"]}));
    let viewer = daemon.client();
    let params = json!({"versions": [1], "face": "web", "name": "recorder", "check": true,
        "size": {"cols": 80, "rows": 24}, "place": {"page": "workspace", "terminal": terminal}});
    let opened = viewer.call("rookery/view/open", params);
    let mut frames = Vec::new();
    for (index, script) in SCRIPTS.iter().enumerate() {
        client.write(terminal, &format!("{script}; echo at-$(({index}+100))\r"));
        client.wait(json!({"terminal": terminal, "text": format!("at-{}", index + 100)}));
        match index {
            2 => viewer.post("rookery/view/scroll", json!({"t": terminal, "by": -30})),
            3 => viewer
                .post("rookery/view/resize", json!({"n": 1, "size": {"cols": 60, "rows": 20}})),
            5 => drop(viewer.call("rookery/view/pane", json!({"split": "right"}))),
            6 => drop(viewer.call("rookery/view/go", json!({"page": "inbox"}))),
            7 => drop(
                viewer.call("rookery/view/go", json!({"page": "workspace", "terminal": terminal})),
            ),
            _ => {}
        }
        // While the inbox is shown no rows come.
        collect(&viewer, &mut frames, index != 7);
    }
    Recording { opened, frames }
}

/// How long no frame comes until the next thing happens.
const REST: Duration = Duration::from_millis(60);

/// Takes the frames that are there, and acknowledges them.
fn collect(viewer: &Caller, frames: &mut Vec<Value>, must_come: bool) {
    let mut patience = if must_come { PATIENCE } else { REST };
    while let Some((method, frame)) = viewer.notification(patience) {
        if method == "rookery/view/frame" {
            viewer.post("rookery/view/ack", json!({"n": frame["n"]}));
            frames.push(frame);
        }
        patience = REST;
    }
}

/// What the mirror in Rust comes to, in the words of the page's.
fn in_rust(opened: &Value, frames: &[Value]) -> Value {
    let opened: Opened = serde_json::from_value(opened.clone()).unwrap();
    let mut mirror = Mirror::opened(&opened);
    let mut resyncs = Vec::new();
    for frame in frames {
        let frame: Frame = serde_json::from_value(frame.clone()).unwrap();
        let changed = mirror.apply(frame);
        if !changed.resync.is_empty() {
            let mut terms = changed.resync.terms.clone();
            terms.sort_unstable();
            resyncs.push(json!({"terms": terms, "scene": changed.resync.scene}));
        }
    }
    let terms: BTreeMap<u64, Value> = mirror.terms().map(|(id, term)| (id, told(term))).collect();
    let lost: Vec<u64> = (0..1000).filter(|id| mirror.is_lost(*id)).collect();
    json!({
        "n": mirror.last(), "input": mirror.input(), "terms": terms, "resyncs": resyncs,
        "lostTerms": lost, "lostScene": mirror.is_scene_lost(), "page": mirror.scene().page, "panes": mirror.scene().panes,
    })
}

fn told(term: &MirrorTerm) -> Value {
    let text = |text: &RowText| serde_json::to_value(text).unwrap();
    let rows: Vec<Value> =
        term.rows().map(|row| json!([row.number, text(&row.text), row.runs, row.flags])).collect();
    let ids = 0..=u32::try_from(bound::STYLES).unwrap();
    let styles: Vec<&Style> = ids.clone().filter_map(|id| term.style(id)).collect();
    let links: Vec<(u32, &str)> = ids.filter_map(|id| Some((id, term.link(id)?))).collect();
    json!({
        "epoch": term.epoch, "seq": term.seq, "size": term.size, "view": term.view, "cursor": term.cursor,
        "modes": term.modes, "ended": term.ended, "owner": term.owner, "rows": rows, "styles": styles, "links": links,
    })
}

/// What the page's mirror comes to.
fn in_the_page(page: &Page, opened: &Value, frames: &[Value]) -> Value {
    let script = "const [opened, frames, done] = arguments;
        const build = document.querySelector('script[src]').getAttribute('src').replace('app.js', 'mirror.js');
        import(build).then(({Mirror}) => {
            const mirror = new Mirror(opened);
            const resyncs = [];
            for (const frame of frames) {
                const {resync} = mirror.apply(frame);
                if (resync.scene || resync.terms.length > 0) resyncs.push({terms: [...resync.terms].sort((a, b) => a - b), scene: resync.scene});
            }
            const all = JSON.parse(JSON.stringify(mirror));
            for (const term of Object.values(all.terms)) delete term.found;
            done({n: all.n, input: all.input, terms: all.terms, resyncs, lostTerms: all.lostTerms, lostScene: all.lostScene,
                page: all.scene.page ?? null, panes: all.scene.panes});
        }, error => done(String(error)))";
    page.js_later(script, &[opened.clone(), json!(frames)])
}

#[test]
fn both_mirrors_come_to_the_same() {
    let page = Page::open();
    let recording = record(&page.daemon);
    let Recording { opened, frames } = &recording;
    let whole = in_rust(opened, frames);
    assert_eq!(whole["resyncs"], json!([]), "nothing is missing from what the daemon sends");
    assert_eq!(in_the_page(&page, opened, frames), whole);

    let mut random = Random::new(20);
    let mut noticed = 0;
    for _ in 0..30 {
        let damaged = damage(frames, &mut random);
        let expected = in_rust(opened, &damaged);
        noticed += usize::from(expected["resyncs"] != json!([]));
        assert_eq!(in_the_page(&page, opened, &damaged), expected);
    }
    assert!(noticed > 10, "only {noticed} of 30 were damaged");
}

/// The rows of all terminals as the page draws them: number, and from the left the style, text and cells of each part.
fn drawn(page: &Page, opened: &Value, frames: &[Value]) -> Value {
    let script = "const [opened, frames, done] = arguments;
        const address = name => document.querySelector('script[src]').getAttribute('src').replace('app.js', name);
        Promise.all([import(address('mirror.js')), import(address('grid.js'))]).then(([{Mirror}, {Metrics, paintRow}]) => {
            const mirror = new Mirror(opened);
            for (const frame of frames) mirror.apply(frame);
            const styles = {rules: new Map(), name: id => `s${id}`}, metrics = new Metrics('monospace', 14);
            const partsOf = row => {
                const element = document.createElement('div'), parts = [];
                paintRow(element, row, styles, metrics);
                const add = (style, text, cells) => {
                    const last = parts.at(-1);
                    if (last?.[0] === style) [last[1], last[2]] = [last[1] + text, last[2] + cells];
                    else if (text !== '') parts.push([style, text, cells]);
                };
                // As the page counts columns of what is selected.
                const cells = text => [...text].filter(sign => !/\\p{Mn}/u.test(sign)).length;
                const walk = (node, style) => {
                    if (node.nodeType === Node.TEXT_NODE) add(style, node.data, cells(node.data));
                    else if (node.dataset.cells) add(style, node.textContent, Number(node.dataset.cells));
                    else for (const child of node.childNodes) walk(child, Number(node.className.slice(1)));
                };
                for (const node of element.childNodes) walk(node, 0);
                return [row[0], parts];
            };
            const rowsOf = term => [...term.rows.values()].sort((a, b) => a[0] - b[0]).map(partsOf);
            done(Object.fromEntries([...mirror.terms].map(([t, term]) => [t, rowsOf(term)])));
        }, error => done(String(error)))";
    page.js_later(script, &[opened.clone(), json!(frames)])
}

/// The same from what the mirror in Rust holds.
fn as_parts(row: &Value) -> Value {
    let runs: Vec<u64> =
        row[2].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).collect();
    let mut styles: Vec<u64> = Vec::new();
    for run in runs.chunks(2) {
        styles.extend((0..run[0]).map(|_| run[1]));
    }
    while styles.last() == Some(&0) {
        styles.pop();
    }
    let pieces = match &row[1] {
        Value::Array(pieces) => pieces.clone(),
        text => vec![text.clone()],
    };
    let clusters = pieces.iter().flat_map(|piece| match piece.as_str() {
        Some(text) => text.chars().map(|sign| (sign.to_string(), 1)).collect(),
        None => vec![(piece[0].as_str().unwrap().to_owned(), piece[1].as_u64().unwrap())],
    });
    let mut parts: Vec<(u64, String, u64)> = Vec::new();
    let mut column = 0;
    let blanks = std::iter::repeat_with(|| (" ".to_owned(), 1)).take(styles.len());
    for (is_text, (text, cells)) in
        clusters.map(|it| (true, it)).chain(blanks.map(|it| (false, it)))
    {
        // Blanks only fill what has a style behind the text.
        if !is_text && column >= styles.len() {
            break;
        }
        let style = styles.get(column).copied().unwrap_or(0);
        column += usize::try_from(cells).unwrap();
        match parts.last_mut() {
            Some(last) if last.0 == style => {
                last.1 += &text;
                last.2 += cells;
            }
            _ => parts.push((style, text, cells)),
        }
    }
    json!([row[0], parts])
}

#[test]
fn the_page_draws_what_its_mirror_holds() {
    let page = Page::open();
    let Recording { opened, frames } = record(&page.daemon);
    // Each state on the way, so that rows of every program are among them.
    let (mut rows_seen, mut styled) = (0, 0);
    for until in 1..=frames.len() {
        let held = in_rust(&opened, &frames[..until]);
        let mut expected = serde_json::Map::new();
        for (t, term) in held["terms"].as_object().unwrap() {
            let rows: Vec<Value> = term["rows"].as_array().unwrap().iter().map(as_parts).collect();
            rows_seen += rows.len();
            styled += rows.iter().filter(|row| row[1].as_array().unwrap().len() > 1).count();
            expected.insert(t.clone(), json!(rows));
        }
        assert_eq!(drawn(&page, &opened, &frames[..until]), Value::Object(expected), "{until}");
    }
    assert!(styled > 0, "no row of {rows_seen} in {} frames had a style", frames.len());
}

/// Frames dropped, sent twice, in another order, or changed on their way.
fn damage(frames: &[Value], random: &mut Random) -> Vec<Value> {
    let mut damaged: Vec<Value> = frames.to_vec();
    for _ in 0..3 {
        let at = below(random, damaged.len());
        match random.below(5) {
            0 => drop(damaged.remove(at)),
            1 => damaged.insert(at, damaged[at].clone()),
            2 => {
                let other = below(random, damaged.len());
                damaged.swap(at, other);
            }
            3 => {
                if let Some(term) = first_term(&mut damaged[at]) {
                    term["sum"] = json!(7);
                }
            }
            _ => {
                if let Some(term) = first_term(&mut damaged[at]) {
                    term["styles"] = json!([]);
                }
            }
        }
    }
    damaged
}

fn below(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.below(u64::try_from(bound).unwrap())).unwrap()
}

fn first_term(frame: &mut Value) -> Option<&mut Value> {
    frame.get_mut("terms")?.as_array_mut()?.first_mut()
}

#[test]
fn a_letter_with_its_accent_is_one_column_of_what_is_selected() {
    let page = Page::open();
    // In a font that has everything.
    let script = "const done = arguments[0];
        const address = document.querySelector('script[src]').getAttribute('src').replace('app.js', 'grid.js');
        import(address).then(({paintRow, columnAt, placeAt}) => {
            const row = document.createElement('div');
            paintRow(row, [0, ['a', ['e\\u0301', 1], 'b|'], [], 0], {rules: new Map()}, {isPlain: () => true});
            const [node, offset] = placeAt(row, 3);
            done([columnAt(row, row.lastChild, row.lastChild.data.length), node.data.slice(0, offset)]);
        }, error => done(String(error)))";
    assert_eq!(page.js_later(script, &[]), json!([4, "ae\u{301}b"]));
}
