//! The replaced functions do what Lua's own do: both get the same arguments and must give the same results.
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "support/vm.rs"]
mod vm;

use std::cell::RefCell;

use mlua::{Function, Lua, LuaSerdeExt as _};
use proptest::prelude::*;
use rookery_plugins::Instance;
use serde_json::{Value, json};

/// Runs a function on arguments and writes down what it does, byte by byte. Strings come as lists of bytes.
const DRIVER: &str = include_str!("support/driver.lua");

struct Both {
    ours: Instance,
    function: Function,
    lua: Lua,
}

thread_local! {
    static BOTH: RefCell<Both> = RefCell::new({
        let source = format!(
            "local run = (function() {DRIVER} end)()
             return {{ f = function(params) return {{ type = 'x', value = run(params) }} end }}"
        );
        let lua = Lua::new();
        let function = lua.load(DRIVER).eval().unwrap();
        Both { ours: vm::start(&source), function, lua }
    });
}

/// What ours and the original make of it, unless ours is over its budget.
fn compare(op: &str, arguments: &[Value]) -> Result<(), TestCaseError> {
    let params = json!({ "op": op, "n": arguments.len(), "arguments": arguments });
    BOTH.with_borrow_mut(|both| {
        let ours = match both.ours.matcher("f", &params) {
            Ok(answer) => answer["value"].as_str().unwrap().to_owned(),
            Err(error) if error.limit().is_some() => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let argument = both.lua.to_value(&params).unwrap();
        let theirs: String = both.function.call(argument).unwrap();
        prop_assert_eq!(essence(&ours), essence(&theirs), "{} {:?}", op, arguments);
        Ok(())
    })
}

/// The results, or the error without the line, which differs.
fn essence(shown: &str) -> String {
    let text = readable(shown);
    let line = regex::Regex::new(r"^false; s\S+:[0-9]+: ").unwrap();
    line.replace(&text, "false; s").replace("'string.", "'").replace("'table.", "'")
}

/// Turns the codes of strings back into text.
fn readable(shown: &str) -> String {
    let mut text = String::new();
    for (index, part) in shown.split(':').enumerate() {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        match part[..digits].parse::<u8>() {
            Ok(code) if index > 0 => {
                text.push_str(&format!("{}{}", shown_byte(code), &part[digits..]))
            }
            _ => text.push_str(part),
        }
    }
    text
}

fn shown_byte(code: u8) -> String {
    if code == b'\'' { "'".into() } else { std::ascii::escape_default(code).to_string() }
}

/// Few, since an unoptimized build is slow; `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(150)
}

fn bytes(text: &[u8]) -> Value {
    json!({ "bytes": text })
}

/// Parts of which patterns are made, whole ones and broken ones.
const PARTS: [&[u8]; 60] = [
    b"a",
    b"b",
    b"c",
    b"a",
    b"b",
    b" ",
    b"1",
    b".",
    b".",
    b"%a",
    b"%d",
    b"%s",
    b"%w",
    b"%A",
    b"%p",
    b"%g",
    b"%c",
    b"%x",
    b"%u",
    b"%l",
    b"%S",
    b"%W",
    b"%%",
    b"%.",
    b"%z",
    b"[ab]",
    b"[^a]",
    b"[a-c]",
    b"[%d_]",
    b"[]]",
    b"[^]]",
    b"[a-]",
    b"[-a]",
    b"[%]]",
    b"[%a-z]",
    b"[^%s]",
    b"[",
    b"]",
    b"(",
    b")",
    b"(",
    b")",
    b"()",
    b"*",
    b"+",
    b"-",
    b"?",
    b"*",
    b"+",
    b"^",
    b"$",
    b"%b()",
    b"%bab",
    b"%f[%w]",
    b"%f[^a]",
    b"%1",
    b"%2",
    b"%",
    b"\0",
    b"\xc3\xa9",
];

fn pattern() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(&PARTS[..]), 0..8).prop_map(|parts| parts.concat())
}

fn subject() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(&b"aabbbcA 1_().-\n\0\xc3\xa9]"[..]), 0..12)
}

fn replacement() -> impl Strategy<Value = Vec<u8>> {
    let parts: [&[u8]; 9] = [b"x", b"%0", b"%1", b"%2", b"%%", b"%", b"%a", b"-", b"%9"];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 0..4)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn patterns_find_what_lua_finds(text in subject(), pattern in pattern(), init in -14_i64..14, by in replacement()) {
        let (text, pattern, by) = (bytes(&text), bytes(&pattern), bytes(&by));
        compare("find", &[text.clone(), pattern.clone()])?;
        compare("find", &[text.clone(), pattern.clone(), json!(init)])?;
        compare("find", &[text.clone(), pattern.clone(), json!(init), json!(true)])?;
        compare("match", &[text.clone(), pattern.clone(), json!(init)])?;
        compare("gmatch_all", &[text.clone(), pattern.clone()])?;
        compare("gmatch_all", &[text.clone(), pattern.clone(), json!(init)])?;
        compare("gsub", &[text.clone(), pattern.clone(), by.clone()])?;
        compare("gsub", &[text.clone(), pattern.clone(), by, json!(init)])?;
        compare("gsub_function", &[text.clone(), pattern.clone()])?;
        compare("gsub_function", &[text.clone(), pattern.clone(), json!(init)])?;
        compare("gsub_table", &[text.clone(), pattern.clone()])?;
        compare("gsub_bad", &[text, pattern])?;
    }

    #[test]
    fn tables_change_as_they_do_in_lua(
        list in prop::collection::vec(-9_i64..9, 0..9), a in -2_i64..10, b in -2_i64..10, c in -2_i64..6,
    ) {
        let list = json!(list);
        compare("insert", &[list.clone(), json!(a)])?;
        compare("insert", &[list.clone(), json!(a), json!(b)])?;
        compare("insert", std::slice::from_ref(&list))?;
        compare("insert", &[list.clone(), json!(a), json!(b), json!(c)])?;
        compare("remove", std::slice::from_ref(&list))?;
        compare("remove", &[list.clone(), json!(a)])?;
        compare("move", &[list.clone(), json!(a), json!(b), json!(c)])?;
        compare("move_into", &[list.clone(), json!(a), json!(b), json!(c)])?;
        compare("concat", &[list.clone(), json!(", ")])?;
        compare("concat", &[list.clone(), json!("x"), json!(a), json!(b)])?;
        compare("unpack", &[list.clone(), json!(a), json!(b)])?;
        compare("sort", std::slice::from_ref(&list))?;
        compare("sort_down", std::slice::from_ref(&list))?;
        compare("rep", &[json!("ab"), json!(a), json!("-")])?;
        compare("rep", &[json!(""), json!(a)])?;
    }
}

#[test]
fn wrong_arguments_are_refused_in_the_same_words() {
    let cases: [(&str, &[Value]); 13] = [
        ("find", &[json!(12), json!("2")]),
        ("find", &[json!("x")]),
        ("find", &[json!("x"), json!("x"), json!(1.5)]),
        ("find", &[json!("abc"), json!("c"), json!("2")]),
        ("match", &[json!("x"), json!({})]),
        ("gsub", &[json!("x"), json!("x")]),
        ("gsub", &[json!("x"), json!("x"), json!(true)]),
        ("gsub", &[json!("x1"), json!("%d"), json!(5)]),
        ("rep", &[json!("x"), json!("y")]),
        ("rep", &[json!("x"), json!(1_i64 << 40)]),
        ("sort", &[json!([1, "x"])]),
        ("concat", &[json!([1, true])]),
        ("concat", &[json!([1, 2]), json!(","), json!(1), json!(4)]),
    ];
    for (op, arguments) in cases {
        compare(op, arguments).unwrap_or_else(|error| panic!("{error}"));
    }
}
