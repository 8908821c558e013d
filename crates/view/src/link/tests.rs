//! The examples of the link's contract, and forms that must survive a round trip.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

/// What comes in goes out again member by member.
fn same<T: Serialize + DeserializeOwned>(value: Value) -> T {
    let read: T = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), value);
    read
}

#[test]
fn the_example_of_the_contract_is_read_and_written() {
    let open: Open = same(json!({
        "versions": [1], "face": "tui", "name": "ssh pts/3", "size": {"cols": 76, "rows": 27},
        "place": {"page": "workspace", "terminal": 3},
    }));
    assert_eq!(open.place, Some(Page::Workspace { terminal: Some(3) }));
    let text = r##"{"n":1,"terms":[{"t":3,"full":true,"epoch":2,"seq":118,"size":[27,76],"view":[940,940,0],"styles":[[1,{"f":2},"#26a439","#1e1e1e"]],"rows":[[940,"$ ls",[4,1]],[941,["src ",["日",2],["本",2]]]],"cursor":[942,0,0,1],"modes":4}]}"##;
    let frame: Frame = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&frame).unwrap(), text);
    let term = &frame.terms[0];
    assert!(term.view.is_some_and(|view| view.follows()));
    assert_eq!(term.rows[1].text.cells(), 8);
    assert_eq!(term.rows[1].text.to_string(), "src 日本");
    let clusters: Vec<_> = term.rows[1].text.clusters().collect();
    assert_eq!(clusters[3..], [(" ", 1), ("日", 2), ("本", 2)]);
    same::<Ack>(json!({"n": 1}));
    same::<Key>(json!({"n": 1, "t": 3, "k": "x"}));
    let text =
        r#"{"n":2,"input":1,"terms":[{"t":3,"seq":119,"rows":[[942,"x"]],"cursor":[942,1,0,1]}]}"#;
    let frame: Frame = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&frame).unwrap(), text);
}

#[test]
fn an_opened_viewer_knows_rights_keys_and_scene() {
    let opened: Opened = serde_json::from_value(json!({
        "version": 1, "viewer": 4, "rights": "full", "isDesk": true,
        "keys": [["ctrl+alt+p", "command_palette", "Command Palette"]],
        "scene": {"page": {"page": "inbox"}, "panes": null, "title": "x", "future": 1},
    }))
    .unwrap();
    assert_eq!(opened.rights, Rights::Full);
    assert_eq!(opened.scene.panes, Some(None));
    assert_eq!(opened.scene.dialog, None);
    assert!(Rights::Look < Rights::Decide && Rights::Decide < Rights::Full);
}

#[test]
fn every_member_of_a_frame_travels() {
    let frame: Frame = same(json!({
        "n": 9, "input": 3,
        "scene": {"page": {"page": "review", "review": "r", "file": "a"}, "dialog": null, "toasts": []},
        "terms": [{
            "t": 1, "seq": 5, "owner": null, "ended": {"signal": 9}, "sum": 7, "stylesReset": true,
            "links": [[1, "https://example.com"]], "rows": [[4, "x", [], 1]],
            "found": {"epoch": 1, "matches": [[3, 0, 2]], "total": 1, "more": false},
        }],
        "threads": [{"thread": "t", "item": "i", "from": 2, "blocks": [{"kind": "rule"}]}],
        "cards": [{"request": "r", "state": "approved", "by": "idx0", "at": 5}],
        "notices": [{"gone": 4}, {"id": 5, "urgency": "high", "title": "x", "at": 1}],
        "clip": {"target": "selection", "text": "y"}, "raise": true, "bye": "restarting",
    }));
    assert_eq!(frame.terms[0].owner, Some(None));
    assert_eq!(frame.terms[0].rows[0].flags, Row::RUNS_ON);
    assert!(!frame.is_empty() && Frame { n: 3, ..Frame::default() }.is_empty());
    assert_eq!(frame.bye.map(Bye::close_code), Some(1012));
}

#[test]
fn styles_carry_what_was_asked_for_and_what_it_comes_to() {
    let style: Style = same(json!([
        7, {"f": "#ff0080", "b": 255, "a": 9, "u": 3, "uc": 1, "l": 2}, "#000000", "#ffffff"
    ]));
    assert_eq!(style.raw.a, attr::BOLD | attr::INVERSE);
    assert_eq!(style.raw.f, Some(Tint::Rgb(Hex((255, 0, 128)))));
    for bad in ["000000", "#00000", "#00000g", "#+00000", "#0000000"] {
        assert!(bad.parse::<Hex>().is_err(), "{bad}");
    }
}

#[test]
fn a_sum_is_over_text_runs_and_flags() {
    let rows: Vec<Row> =
        serde_json::from_value(json!([[1, "ab", [1, 2]], [2, ["x", ["日", 2]]]])).unwrap();
    let text = "[\"ab\",[1,2],0]\n[[\"x\",[\"日\",2]],[],0]";
    assert_eq!(sum(&rows), crc32fast::hash(text.as_bytes()));
}

#[test]
fn methods_take_one_of_their_forms() {
    for call in [
        json!({"open": "commands"}),
        json!({"query": "x"}),
        json!({"move": -1}),
        json!({"select": 2}),
        json!({"activate": null}),
        json!({"activate": 3}),
        json!({"back": true}),
        json!({"close": true}),
    ] {
        same::<PaletteCall>(call);
    }
    assert!(serde_json::from_value::<PaletteCall>(json!({"open": "x", "query": "y"})).is_err());
    for call in [
        json!({"split": "right"}),
        json!({"split": "below", "t": 3}),
        json!({"focus": "next"}),
        json!({"focus": "left", "t": 1}),
        json!({"zoom": true}),
        json!({"resize": "up", "by": -3}),
        json!({"move": 1, "to": 2, "side": "above"}),
        json!({"break": 4}),
    ] {
        same::<PaneCall>(call);
    }
    assert!(serde_json::from_value::<PaneCall>(json!({})).is_err());
    same::<Scroll>(json!({"t": 1, "by": -3}));
    same::<Scroll>(json!({"t": 1, "to": "promptBefore"}));
    same::<Scroll>(json!({"t": 1, "to": "row", "row": 7}));
    same::<Find>(json!({"t": 1, "text": "x", "regex": true, "case": "smart", "limit": 9}));
    same::<Select>(
        json!({"t": 1, "anchor": [1, 2], "head": [3, 4], "kind": "block", "expand": "word"}),
    );
    same::<Copy>(json!({"t": 1, "to": ["clipboard", "selection"]}));
    same::<LinkAt>(json!({"t": 1, "at": [3, 4]}));
    same::<Mouse>(
        json!({"n": 1, "t": 1, "kind": "wheel", "button": "wheel_up", "row": 0, "col": 0, "clicks": 0}),
    );
    same::<Pasted>(json!({"pasted": false, "why": "lines", "lines": 3}));
    same::<Page>(json!({"page": "checkpoints"}));
    assert_eq!(serde_json::from_value::<Page>(json!({"page": "x"})).unwrap(), Page::Unknown);
}

#[test]
fn panes_and_their_tree_travel() {
    let panes: Panes = same(json!({
        "group": 1, "focused": 3, "zoomed": false,
        "tree": {"split": "right", "share": 5000, "first": 1, "second": 3},
        "areas": [{"t": 1, "col": 0, "row": 0, "cols": 40, "rows": 24}],
    }));
    let room = crate::tile::Rect::room(80, 24);
    let mut tree = crate::tile::Tree::Pane(1);
    tree.split(1, crate::tile::Direction::Right, 3, room).unwrap();
    assert_eq!(panes.tree, Some(Tree::from(&tree)));
    assert_eq!(panes.areas[0], tree.areas(room)[0].into());
}

#[test]
fn scenes_differ_by_parts() {
    let old = Scene {
        title: Some("a".into()),
        dialog: Some(Some(Dialog::default())),
        ..Scene::default()
    };
    let new = Scene { title: Some("a".into()), dialog: Some(None), ..Scene::default() };
    let news = new.since(&old);
    assert_eq!(news, Scene { dialog: Some(None), ..Scene::default() });
    let mut held = old;
    held.apply(news);
    assert_eq!(held, new);
}

/// What the contract lists without a mark is there, whether it says anything or not.
#[test]
fn members_without_a_mark_are_always_there() {
    fn has<T: Serialize + Default>(members: &str) {
        let value = serde_json::to_value(T::default()).unwrap();
        for member in members.split(' ') {
            assert!(value.get(member).is_some(), "{member} of {value}");
        }
    }
    has::<InboxRow>("item category kind session sessionTitle title subtitle source at deferred");
    has::<Project>("id name root mood badge waiting agents");
    has::<Agent>("name mood status at waiting");
    has::<Tab>("id title mood badge");
    has::<Card>("item request kind title tool reason rule mode source session lines argv cwd env");
    has::<Card>("deadline digest actions");
    has::<CardNews>("request state by at");
    has::<DiffFile>("path status added removed binary cut");
    has::<ThreadItem>("id turn kind at status");
    has::<ToolCall>("name title input head tail lines exit ms terminal");
}
