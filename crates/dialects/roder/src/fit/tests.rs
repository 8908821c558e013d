//! What becomes of long messages.

use proptest::prelude::*;

use super::*;

fn read(line: &[u8]) -> Value {
    assert!(line.len() <= LINE, "{} bytes", line.len());
    serde_json::from_slice(line).unwrap()
}

fn answer(line: &[u8]) -> Value {
    let short = reply(Some("thread/read"), line).unwrap();
    assert!(short.len() <= RESULT, "{} bytes", short.len());
    serde_json::from_slice(&short).unwrap()
}

fn long(byte: &str, count: usize) -> String {
    byte.repeat(count)
}

#[test]
fn short_messages_are_left_alone() {
    let body = notification("warning", &json!({ "message": "x" })).unwrap();
    assert_eq!(body, r#"{"jsonrpc":"2.0","method":"warning","params":{"message":"x"}}"#);
}

#[test]
fn long_texts_are_cut_and_marked_where_they_stand() {
    for (unit, width) in [("x", 1), ("é", 1), ("\u{1}", 6), ("\"", 2)] {
        let count = (3 << 20) / unit.len();
        let item = json!({ "type": "agentMessage", "id": "i", "text": long(unit, count) });
        let params = json!({ "item": item, "event": { "type": "itemCompleted", "item": item } });
        let told = read(&notification("item/completed", &params).unwrap());
        let shown = &told["params"]["item"];
        assert_eq!(shown, &told["params"]["event"]["item"]);
        assert_eq!(shown["truncated"], true);
        assert_eq!(shown["fullLength"], json!({ "text": unit.len() * count }));
        assert_eq!(shown["id"], "i");
        let text = shown["text"].as_str().unwrap();
        assert!(text.len() * width > (LINE / 2) - 2048, "{unit:?}: {}", text.len());
        assert!(text.chars().all(|char| unit.starts_with(char)));
        assert_eq!(told["params"]["truncated"], Value::Null);
    }
}

#[test]
fn only_the_longest_are_cut() {
    let items = json!([
        { "type": "userMessage", "id": "a", "text": long("a", 10_000) },
        { "type": "toolExecution", "id": "b", "input": { "deep": [{ "command": long("b", 16 << 20) }] } },
        { "type": "reasoning", "id": "c", "content": [long("c", 16 << 20), "short"] },
    ]);
    let result = json!({ "thread": { "id": "t", "turns": [{ "id": "u", "items": items }] } });
    let line = serde_json::to_vec(&json!({ "jsonrpc": "2.0", "id": 7, "result": result })).unwrap();
    let told = answer(&line);
    assert_eq!(told["id"], 7);
    let items = &told["result"]["thread"]["turns"][0]["items"];
    assert_eq!(items[0]["text"].as_str().unwrap().len(), 10_000);
    assert_eq!(items[0]["truncated"], Value::Null);
    assert_eq!(items[1]["fullLength"], json!({ "input": 16 << 20 }));
    assert_eq!(items[1]["input"]["truncated"], Value::Null);
    assert!(items[1]["input"]["deep"][0]["command"].as_str().unwrap().len() > 6_000_000);
    assert_eq!(items[2]["fullLength"], json!({ "content": 16 << 20 }));
    assert_eq!(items[2]["content"][1], "short");
}

#[test]
fn a_picture_is_left_out_and_not_cut() {
    let image = json!({ "image_url": format!("data:image/png;base64,{}", long("A", 2 << 20)) });
    let item = json!({ "type": "userMessage", "id": "i", "text": "look", "images": [image] });
    let told = read(&notification("item/completed", &json!({ "item": item })).unwrap());
    let shown = &told["params"]["item"]["images"][0];
    assert_eq!(shown["image_url"], "data:image/png;base64,");
    assert_eq!(shown["truncated"], true);
}

#[test]
fn values_of_others_become_texts_if_nothing_else_helps() {
    let input = json!({ "numbers": vec![1; 1 << 20] });
    let told = read(&notification("item/started", &json!({ "item": { "input": input } })).unwrap());
    let item = &told["params"]["item"];
    assert!(item["input"].as_str().unwrap().starts_with("{\"numbers\":[1,1"));
    assert_eq!(item["truncated"], true);
}

#[test]
fn a_thread_of_very_many_items_loses_the_oldest() {
    let item =
        |at: usize| json!({ "type": "agentMessage", "id": format!("{at:0100}"), "text": "x" });
    let turn = |at: usize| {
        let items: Vec<Value> = (0..10).map(item).collect();
        json!({ "id": at.to_string(), "items": items, "itemsView": "default" })
    };
    let shown = |turns: Vec<Value>| {
        let result = json!({ "thread": { "id": "t", "turns": turns } });
        let line =
            serde_json::to_vec(&json!({ "jsonrpc": "2.0", "id": 1, "result": result })).unwrap();
        answer(&line)["result"]["thread"].take()
    };
    let thread = shown((0..16_000).map(turn).collect());
    let turns = thread["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 16_000);
    assert_eq!((&turns[0]["items"], &turns[0]["itemsView"]), (&json!([]), &json!("omitted")));
    assert_eq!(turns[15_999]["items"].as_array().unwrap().len(), 10);
    assert_eq!(turns[15_999]["itemsView"], "default");

    let bare = |at: usize| json!({ "id": format!("{at:0100}"), "items": [] });
    let thread = shown((0..200_000).map(bare).collect());
    let turns = thread["turns"].as_array().unwrap();
    assert_eq!(turns.last().unwrap()["id"], format!("{:0100}", 199_999));
    assert_eq!(thread["turnsOmitted"], 200_000 - turns.len());
}

#[test]
fn reads_of_bytes_are_as_long_as_they_are_and_the_rest_fails() {
    let line = serde_json::to_vec(&json!({ "id": "a", "result": vec![1; 9 << 20] })).unwrap();
    assert_eq!(reply(Some("fs/readFile"), &line), None);
    let told = read(&reply(Some("x"), &line).unwrap());
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!("a"), &json!(-32000)));
    assert_eq!(told["error"]["data"]["kind"], "too_large");
}

#[test]
fn outputs_share_the_room() {
    assert_eq!(outputs(b"abc", b""), (3, 0));
    let plain = vec![b'x'; 20 << 20];
    let control = vec![1; 20 << 20];
    assert_eq!(outputs(&plain, b"err"), (OUTPUTS - 3, 3));
    assert_eq!(outputs(&plain, &control), (OUTPUTS / 2, OUTPUTS / 12));
    assert_eq!(outputs(&control, b""), (OUTPUTS / 6, 0));
}

proptest! {
    #[test]
    fn the_width_of_a_text_is_what_it_takes(text in any::<String>(), room in 0_usize..40) {
        let written = serde_json::to_string(&text).unwrap().len() - 2;
        prop_assert_eq!(escaped(&text), written);
        prop_assert_eq!(text.chars().map(width).sum::<usize>(), written);
        let short = prefix(&text, room);
        prop_assert!(text.starts_with(short) && escaped(short) <= room);
        let next = text[short.len()..].chars().next();
        prop_assert!(next.is_none_or(|next| escaped(short) + width(next) > room));
    }

    #[test]
    fn a_beginning_of_bytes_takes_no_more_than_it_may(
        bytes in prop::collection::vec(any::<u8>(), 0..200), room in 0_usize..400,
    ) {
        let end = raw_prefix(&bytes, room);
        prop_assert!(escaped(&String::from_utf8_lossy(&bytes[..end])) <= room);
        prop_assert!(end == bytes.len() || room < 6 * bytes.len());
    }
}
