//! `ptywright.kit`: what it offers, and that it is no way around the sandbox.
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

mod support;
#[path = "support/vm.rs"]
mod vm;

use std::collections::BTreeSet;

use rookery_plugins::{Instance, KEY_NAMES, Limit, Limits, Plugin};
use serde_json::{Value, json};

use vm::{fails, fails_within, limits, manifest, run};

/// What a body returns that has the kit as `kit`.
fn with_kit(body: &str) -> Value {
    json!(run(&format!("local kit = ptywright.kit {body}")))
}

#[test]
fn the_kit_is_read_when_it_is_first_asked_for_and_only_once() {
    let body = "local before = rawget(ptywright, 'kit') == nil and ptywright.other == nil
                return before, type(ptywright.kit), ptywright.kit == ptywright.kit";
    assert_eq!(run(body), [json!(true), json!("table"), json!(true)]);
    // A global that the plugin clears takes nothing from a kit that is there.
    assert_eq!(
        with_kit("ptywright, string.format = nil return kit.fnv1a('a')"),
        json!(["e40c292c"])
    );
}

#[test]
fn what_a_plugin_changes_in_the_kit_stays_in_its_own_vm() {
    let mut one = vm::vm("local kit = ptywright.kit kit.trim, kit.quote, kit.rows = nil return 1");
    vm::call(&mut one).unwrap();
    assert_eq!(with_kit("return kit.trim(' a ')"), json!(["a"]));
    // The functions do not look each other up in the table.
    assert_eq!(
        with_kit("kit.trim, kit.clip, kit.one_of = nil return kit.quote(' a ')"),
        json!(["a"])
    );
    assert_eq!(
        json!(run("return getmetatable(ptywright), pcall(setmetatable, ptywright, {})")),
        json!([false, false, "cannot change a protected metatable"])
    );
}

#[test]
fn the_kit_gives_no_permission() {
    let source = "local kit = ptywright.kit
                  return { key = kit.key, trimmed = function() return { type = kit.trim(' x ') } end }";
    let plugin = Plugin::from_source(manifest(&[]), source).unwrap();
    let mut instance = Instance::start(&plugin, Limits::default()).unwrap();
    assert_eq!(instance.matcher("trimmed", &json!({})).unwrap(), json!({ "type": "x" }));
    let error = instance.intent("key", &json!({ "key": "enter" })).unwrap_err().to_string();
    assert!(error.contains("attempt to call a nil value (field 'key')"), "{error}");
}

#[test]
fn reading_the_kit_and_calling_it_is_counted() {
    let few = Limits { instructions: 5_000, ..limits() };
    let error = fails_within(few, "return ptywright.kit");
    assert_eq!(error, "lua plugin `x` failed: Lua plugin instruction limit exceeded");
    let endless = "while true do pcall(ptywright.kit.trim, (' '):rep(100)) end";
    assert_eq!(fails(endless), "lua plugin `x` failed: Lua plugin instruction limit exceeded");
    let source = "return { f = function() return { type = ptywright.kit.trim(' x ') } end }";
    let plugin = Plugin::from_source(manifest(&[]), source).unwrap();
    let (mut failed, mut worked) = (0, 0);
    for memory in (60_000..400_000).step_by(2_999) {
        let Ok(mut instance) = Instance::start(&plugin, Limits { memory, ..limits() }) else {
            continue;
        };
        match instance.matcher("f", &json!({})) {
            Ok(matcher) => {
                assert_eq!(matcher, json!({ "type": "x" }));
                worked += 1;
            }
            Err(error) => {
                assert_eq!(error.limit(), Some(Limit::Memory), "{error}");
                failed += 1;
            }
        }
    }
    assert!(failed > 3 && worked > 10, "{failed} failed, {worked} worked");
}

#[test]
fn text_is_trimmed_compared_and_cut_between_characters() {
    let body = "return kit.trim('  a b \\n'), kit.trim(' \\t '), kit.rtrim(' a  '), kit.rtrim(''),
                kit.starts('abc', 'ab'), kit.starts('a', 'ab'), kit.ends('abc', 'bc'), kit.ends('abc', ''),
                kit.has('a.c', '.'), kit.has('abc', '.'),
                kit.one_of('abc', { 'x', 'c', 'b' }, kit.has), kit.one_of('abc', {}, kit.has)";
    let expected = json!(["a b", "", " a", "", true, false, true, true, true, false, "c", null]);
    assert_eq!(with_kit(body), expected);
    let body =
        "return kit.clip('aé…', 6), kit.clip('aé…', 5), kit.clip('aé…', 2), kit.clip('…', 0)";
    assert_eq!(with_kit(body), json!(["aé…", "aé", "a", ""]));
}

#[test]
fn quotes_lose_their_secrets_and_are_short() {
    let body = "return kit.quote('  use sk-abc.def-1, or ghp_x and not task-1 '), #kit.quote(('x'):rep(1000))";
    assert_eq!(with_kit(body), json!(["use sk-***, or ghp_*** and not task-1", 400]));
}

#[test]
fn a_screen_is_rows_without_padding() {
    let body = "local rows = kit.rows('  one  \\n\\ntwo \\n \\n')
                return rows, kit.row_above(rows, 3, kit.filled), kit.row_above(rows, 2, kit.filled),
                kit.row_above(rows, 0, kit.filled), #kit.rows(''), #kit.rows(' \\n')";
    assert_eq!(with_kit(body), json!([["  one", "", "two"], 3, 1, null, 0, 0]));
}

#[test]
fn states_that_need_no_reading_come_first() {
    let body = "local function state(ctx, rows)
                  local found = kit.early_state(ctx, rows)
                  return found and found.state
                end
                local row = { 'x' }
                return state({ exited = true }, row), state({}, {}), state({ last_intent = 'sent' }, {}), state({}, row),
                state({ last_intent = 'cancelling', stable_ms = 299 }, row),
                state({ last_intent = 'cancelling', stable_ms = 300 }, row)";
    let expected = json!(["exited", "starting", "sent", null, "cancelling", null]);
    assert_eq!(with_kit(body), expected);
    let body = "return kit.report({ sequence = 4 }, 'ready', 0.5, 'seen', { a = 1 })";
    let expected = json!([{
        "state": "ready", "confidence": 0.5, "evidence": "seen", "sequence": 4, "metadata": { "a": 1 },
    }]);
    assert_eq!(with_kit(body), expected);
}

#[test]
fn failures_are_known_by_their_words() {
    let body = "local function kind(message) return kit.failure(message).kind end
                return kind('Rate limit'), kind('no credit'), kind('401'), kind('cannot resolve'), kind('Overloaded'),
                kind('odd'), kit.failure(' key sk-123 ').message";
    let expected =
        json!(["rate_limit", "quota", "auth", "connection", "api", "unknown", "key sk-***"]);
    assert_eq!(with_kit(body), expected);
}

#[test]
fn params_may_be_anything() {
    let body = "return kit.object(5), kit.object(nil), kit.text_param({ b = 'x' }, 'i', 'a', 'b'),
                kit.stable({}), kit.stable({ completed_turn_stable_ms = 7 })";
    let expected = json!([
        {}, {}, "x", { "type": "screen_stable", "value": { "min_ms": 300 } },
        { "type": "screen_stable", "value": { "min_ms": 7 } },
    ]);
    assert_eq!(with_kit(body), expected);
    let error = fails("ptywright.kit.text_param({ a = '' }, 'i', 'a', 'b')");
    assert_eq!(error, "lua plugin `x` failed: i: a is required");
}

#[test]
fn keys_have_the_names_of_the_host_and_anything_else_is_text() {
    let listed = with_kit("return kit.key_names");
    let found: BTreeSet<&str> = listed[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, BTreeSet::from(KEY_NAMES));
    let body = "local function sent(key) return kit.key({ key = key }).actions[1] end
                return sent('Page-Up'), sent('ctrl_c'), sent('ctrl_h'), sent('X')";
    let expected = json!([
        { "type": "key", "value": "page_up" }, { "type": "key", "value": "ctrl_c" },
        { "type": "text", "value": "ctrl_h" }, { "type": "text", "value": "X" },
    ]);
    assert_eq!(with_kit(body), expected);
}

#[test]
fn commands_get_their_slash_and_are_entered_as_the_plugin_says() {
    let body = "local typed = function(text) return ptywright.action.text(text) end
                return kit.slash_command({ command = 'help' }).actions, kit.slash_command({ name = '/x' }, typed).actions,
                kit.names(' one two\\n three ')";
    let expected = json!([
        [{ "type": "bracketed_paste", "value": "/help" }, { "type": "key", "value": "enter" }],
        [{ "type": "text", "value": "/x" }],
        [{ "name": "one" }, { "name": "two" }, { "name": "three" }],
    ]);
    assert_eq!(with_kit(body), expected);
}

#[test]
fn numbered_options_are_read_with_their_focus() {
    let body = "local rows = { 'Sure?', '  1. Yes  at once', '> 2) No, wait', ' 3.x', '4. ' }
                local options, focus = kit.options_between(rows, 1, #rows, { '>' })
                return options, focus, kit.labels(options), kit.labels({}), kit.option_of('1. a', {})";
    let expected = json!([
        [{ "number": 1, "label": "Yes" }, { "number": 2, "label": "No, wait" }], 2, ["Yes", "No, wait"], null,
        { "number": 1, "label": "a" }, null,
    ]);
    assert_eq!(with_kit(body), expected);
}

/// Two options, the focus on the second.
const OPEN: &str = "local dialogs = kit.dialogs()
    local id = dialogs:open('which?', { { number = 1, label = 'Yes' }, { number = 2, label = 'Yes, always' } }, 2) ";

#[test]
fn answers_to_another_dialog_are_refused() {
    let tried = "local function try(id) return (select(2, pcall(dialogs.check, dialogs, { dialog_id = id }))) end ";
    let body =
        format!("{OPEN}{tried} local first = try('z') dialogs:forget() return first, try(id)");
    let id = with_kit(&format!("{OPEN} return id"))[0].as_str().unwrap().to_owned();
    let expected = json!([
        format!("stale_dialog: supplied dialog_id=z but the current dialog is {id}"),
        format!("stale_dialog: supplied dialog_id={id} but no dialog is currently active"),
    ]);
    assert_eq!(with_kit(&body), expected);
    // The right id, and none at all.
    let body = format!("{OPEN} dialogs:check({{ dialog_id = id }}) dialogs:check(5) return 1");
    assert_eq!(with_kit(&body), json!([1]));
    // Each has a memory of its own.
    assert_eq!(with_kit(&format!("{OPEN} return kit.dialogs().current")), json!([null]));
}

#[test]
fn options_are_chosen_by_number_by_label_or_by_a_part_of_it() {
    let body = "local function place(params) return (select(2, dialogs:wanted_option(params))) end
                local function fault(params) return (select(2, pcall(dialogs.wanted_option, dialogs, params))) end
                return place({ index = 2 }), place({ option = '2' }), place({ choice = 'YES' }), place({ option = 'alw' }),
                fault({ index = 3 }), fault({}), dialogs:pick(2).actions, dialogs:pick(1).actions";
    let expected = json!([
        2, 2, 1, 2, "choose_option: no option 3 among 2", "choose_option: no option nil among 2",
        [{ "type": "key", "value": "enter" }], [{ "type": "text", "value": "1" }],
    ]);
    assert_eq!(with_kit(&format!("{OPEN}{body}")), expected);
    let error = fails("ptywright.kit.dialogs():wanted_option({ index = 1 })");
    assert!(error.ends_with("choose_option: no options are on the screen"), "{error}");
}

#[test]
fn a_turn_begins_with_a_prompt_and_its_end_is_marked_once() {
    let body = "local turns = kit.turns()
                local ctx = { sequence = 1, stable_ms = 300, markers = { turn_start = 2 }, cursor = 9 }
                local nothing = turns:send_prompt({ prompt = ' ' })
                local early = turns:completed(ctx, 'e').metadata
                turns:is_current('old')
                local sent = turns:send_prompt({ prompt = ' hi\\nthere' })
                local first, again = turns:completed(ctx, 'e'), turns:completed(ctx, 'e')
                return nothing.last_intent, early, sent.last_intent, #sent.actions, turns:is_current('old'),
                turns:is_current('new'), turns.current.first_row, first.host_marks, again.host_marks, again.metadata";
    let expected = json!([
        "", null, "prompt_submitted", 3, false, true, "hi", [{ "label": "turn_end" }], null,
        { "transcript": { "turn_start": 2, "turn_end": 9 } },
    ]);
    assert_eq!(with_kit(body), expected);
}

#[test]
fn the_guide_lists_all_of_the_kit() {
    let guide = std::fs::read_to_string(support::plugins_dir().join("../docs/plugins.md")).unwrap();
    let (_, section) = guide.split_once("### The kit\n").unwrap();
    let (section, _) = section.split_once("\n### ").unwrap();
    // The first column of the tables: `name` or `name(...)`, and `dialogs:name(...)`.
    let name = regex::Regex::new(r"(?m)^\| `([a-z0-9_:]+)").unwrap();
    let told: BTreeSet<String> =
        name.captures_iter(section).map(|found| found[1].to_owned()).collect();
    let body = "local list = {}
                for name in pairs(kit) do list[#list + 1] = name end
                for _, kind in ipairs({ 'dialogs', 'turns' }) do
                  for name, value in pairs(getmetatable(kit[kind]())) do
                    if type(value) == 'function' then list[#list + 1] = kind .. ':' .. name end
                  end
                end
                return list";
    let there: BTreeSet<String> = with_kit(body)[0]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(told, there);
}
