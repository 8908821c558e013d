//! What the host calls, what it passes, and what it makes of the answers.
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "support/vm.rs"]
mod vm;

use std::collections::BTreeMap;

use rookery_plugins::{
    Block, BlockKind, Context, Instance, Limits, Permission, Plugin, PredicateInput, Verdict,
    split_screen,
};
use serde_json::{Value, json};

use vm::{manifest, start};

fn with_context<T>(
    change: impl FnOnce(&mut Context<'_>),
    then: impl FnOnce(&Context<'_>) -> T,
) -> T {
    let screen = "one\ntwo";
    let (body_text, status_text) = split_screen(screen);
    let markers = BTreeMap::from([("turn_start".to_owned(), 12)]);
    let mut context = Context {
        screen,
        body_text,
        status_text,
        transcript: "everything",
        sequence: 7,
        completed_turn_stable_ms: 300,
        markers: &markers,
        cursor: 99,
        last_intent: None,
        stable_ms: None,
        exited: false,
        last_event_seq: None,
        blocks: &[],
    };
    change(&mut context);
    then(&context)
}

fn classify(body: &str) -> Result<Value, String> {
    let mut instance = start(&format!("return {{ classify = function(ctx) {body} end }}"));
    let state = with_context(|_| (), |context| instance.classify(context))
        .map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(state).unwrap())
}

#[test]
fn a_classifier_is_told_everything() {
    let source = "return { classify = function(ctx)
        return { state = 'x', confidence = 1, evidence = '', sequence = ctx.sequence, metadata = ctx } end }";
    let mut instance = start(source);
    let state = with_context(|_| (), |context| instance.classify(context)).unwrap();
    let expected = json!({
        "screen": "one\ntwo", "body_text": "one\ntwo", "status_text": "", "transcript": "everything", "sequence": 7,
        "completed_turn_stable_ms": 300, "markers": { "turn_start": 12 }, "cursor": 99, "exited": false, "blocks": {},
    });
    assert_eq!(state.metadata, Some(expected));
    let fill = |context: &mut Context<'_>| {
        context.last_intent = Some("sent");
        context.stable_ms = Some(350);
        context.exited = true;
        context.last_event_seq = Some(4);
        context.blocks = &[
            Block { kind: BlockKind::Output, exit_code: None },
            Block { kind: BlockKind::End, exit_code: Some(3) },
        ];
    };
    let state = with_context(fill, |context| instance.classify(context)).unwrap().metadata.unwrap();
    assert_eq!(state["last_intent"], "sent");
    assert_eq!(state["stable_ms"], 350);
    assert_eq!(state["exited"], true);
    assert_eq!(state["last_event_seq"], 4);
    assert_eq!(state["blocks"], json!([{ "kind": "output" }, { "kind": "end", "exit_code": 3 }]));
}

#[test]
fn a_state_comes_back_as_it_goes_to_the_wire() {
    let full = "return { state = 'ready', confidence = 0.12345, evidence = 'because', sequence = ctx.sequence,
                candidates = { { state = 'a', confidence = 1 / 3 } }, metadata = { list = { 1, 2 }, big = 1 << 60 },
                host_marks = { { label = 'turn_end' } }, events = { { kind = 'turn_complete', seq = 1 } } }";
    let expected = json!({
        "state": "ready", "confidence": 0.123, "evidence": "because", "sequence": 7,
        "candidates": [{ "state": "a", "confidence": 0.333 }], "metadata": { "list": [1, 2], "big": 1_i64 << 60 },
        "host_marks": [{ "label": "turn_end" }], "events": [{ "kind": "turn_complete", "seq": 1 }],
    });
    assert_eq!(classify(full), Ok(expected));
    let bare = "return { state = 's', confidence = 2, evidence = '', sequence = 1, candidates = {}, host_marks = {} }";
    let expected =
        json!({ "state": "s", "confidence": 2.0, "evidence": "", "sequence": 1, "candidates": [] });
    assert_eq!(classify(bare), Ok(expected));
}

#[test]
fn what_is_no_state_is_an_error_that_says_why() {
    let cases = [
        (
            "return { state = 's', confidence = 1, evidence = '' }",
            "deserialize error: missing field `sequence`",
        ),
        (
            "return { state = 's', confidence = 0/0, evidence = '', sequence = 1 }",
            "number NaN has no place in a result",
        ),
        (
            "return { state = 's', confidence = math.huge, evidence = '', sequence = 1 }",
            "number inf has no place in a result",
        ),
        (
            "return { state = 's', confidence = 1, evidence = '', sequence = -1 }",
            "deserialize error: invalid value",
        ),
        (
            "return { state = 1, confidence = 1, evidence = '', sequence = 1 }",
            "deserialize error: invalid type",
        ),
        ("return nil", "deserialize error: invalid type: null"),
        ("local t = {} t.t = t return t", "result is nested too deeply, or contains itself"),
        ("return { state = print }", "a function has no place in a result"),
        ("error('oops')", "plugin.lua:1: oops"),
        ("error({})", "table: 0x"),
        ("local x = nil + 1", "plugin.lua:1: attempt to perform arithmetic on a nil value"),
    ];
    for (body, expected) in cases {
        let error = classify(body).unwrap_err();
        assert!(
            error.starts_with("lua plugin `x` failed: ") && error.contains(expected),
            "{body}: {error}"
        );
        assert!(!error.contains("traceback"), "{error}");
    }
    let mut instance = start("return {}");
    let error = with_context(|_| (), |context| instance.classify(context)).unwrap_err().to_string();
    assert_eq!(error, "lua plugin `x` failed: error converting Lua nil to function");
    assert!(classify("error(('long '):rep(100000), 0)").unwrap_err().len() < 5000);
}

#[test]
fn intents_get_their_params_and_give_actions() {
    let source = "return {
        echo = function(p) return { actions = { { type = 'text', value = p } } } end,
        kinds = function(p) return { actions = { { type = 'text', value = { math.type(p.i), math.type(p.f), type(p.n), #p.l } } } } end,
        none = function() return { actions = {}, last_intent = '' } end,
        missing = function() return { last_intent = 'x' } end,
        number = 5,
    }";
    let mut instance = start(source);
    let params = json!({ "text": "é", "deep": { "list": [1, 2.5, true, { "a": "b" }] } });
    let intent = instance.intent("echo", &params).unwrap();
    assert_eq!(
        (intent.actions, intent.last_intent),
        (vec![json!({ "type": "text", "value": params })], None)
    );
    let params = json!({ "i": 1, "f": 1.5, "n": null, "l": [1, 2] });
    let kinds = instance.intent("kinds", &params).unwrap().actions;
    assert_eq!(kinds[0]["value"], json!(["integer", "float", "nil", 2]));
    let none = instance.intent("none", &json!({})).unwrap();
    assert_eq!((none.actions, none.last_intent.as_deref()), (vec![], Some("")));
    let fail = |instance: &mut Instance, name: &str| {
        instance.intent(name, &json!({})).unwrap_err().to_string()
    };
    assert!(fail(&mut instance, "missing").contains("missing field `actions`"));
    assert!(fail(&mut instance, "nothing").ends_with("error converting Lua nil to function"));
    assert!(fail(&mut instance, "number").ends_with("error converting Lua integer to function"));
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    assert!(instance.intent("echo", &deep).unwrap_err().to_string().contains("nested too deeply"));
}

#[test]
fn actions_that_the_manifest_does_not_permit_are_refused() {
    let source = "return { act = function(p) return { actions = { { type = p.type } } } end }";
    let act = |permissions: &[Permission], kind: &str| {
        let plugin = Plugin::from_source(manifest(permissions), source).unwrap();
        let mut instance = Instance::start(&plugin, Limits::default()).unwrap();
        instance.intent("act", &json!({ "type": kind }))
    };
    let needs = [
        (
            Permission::InputWrite,
            ["text", "paste", "bracketed_paste", "key", "interrupt", "eof", "mark_transcript"]
                .as_slice(),
        ),
        (Permission::SessionKill, ["kill", "signal"].as_slice()),
        (Permission::SessionResize, ["resize"].as_slice()),
    ];
    for (permission, kinds) in needs {
        let others: Vec<_> =
            Permission::ALL.into_iter().filter(|other| *other != permission).collect();
        for kind in kinds {
            assert!(act(&[permission], kind).is_ok(), "{kind}");
            let error = act(&others, kind).unwrap_err();
            assert_eq!(error.denied(), Some(permission));
            let text = format!(
                "lua plugin `x` failed: action `{kind}` requires permission `{permission}`"
            );
            assert_eq!(error.to_string(), text);
        }
    }
}

#[test]
fn matchers_with_empty_lists_keep_their_shape() {
    let source = "local m = ptywright.matcher
                  return { f = function(p) return m.all{ m.any{}, m.all{ m.any{} }, m.screen_stable(p.ms) } end,
                           bad = function() return 5 end }";
    let mut instance = start(source);
    let expected = json!({ "type": "all", "value": [
        { "type": "any", "value": [] }, { "type": "all", "value": [{ "type": "any", "value": [] }] },
        { "type": "screen_stable", "value": { "min_ms": 300 } },
    ]});
    assert_eq!(instance.matcher("f", &json!({ "ms": 300 })).unwrap(), expected);
    assert!(
        instance
            .matcher("bad", &json!({}))
            .unwrap_err()
            .to_string()
            .contains("must return a matcher")
    );
}

#[test]
fn predicates_answer_in_three_ways() {
    let source = "return {
        yes = function() return true end, no = function() return nil end,
        found = function(i) return { matched = i.process_exited, evidence = i.screen .. i.params.x, capture = i.transcript } end,
        bad = function() return 'yes' end }";
    let mut instance = start(source);
    let (markers, params) = (BTreeMap::new(), json!({ "x": "!" }));
    let input = PredicateInput {
        screen: "s",
        transcript: "t",
        sequence: 1,
        stable_ms: 0,
        process_exited: true,
        markers: &markers,
        cursor: 0,
        params: &params,
    };
    assert_eq!(
        instance.predicate("yes", &input).unwrap(),
        Verdict { matched: true, ..Verdict::default() }
    );
    assert_eq!(instance.predicate("no", &input).unwrap(), Verdict::default());
    let found = Verdict { matched: true, evidence: Some("s!".into()), capture: Some("t".into()) };
    assert_eq!(instance.predicate("found", &input).unwrap(), found);
    assert!(instance.predicate("bad", &input).is_err());
}

#[test]
fn a_plugin_describes_itself_or_is_described_by_its_names() {
    let source = "local f = function() end
                  return { classify = f, b = f, a = f, wait_turn_matcher = f, data = 5, [1] = f }";
    let described = start(source).describe().unwrap();
    let expected = json!({ "intents": [{ "name": "a" }, { "name": "b" }],
                           "wait_matchers": [{ "name": "wait_turn_matcher" }], "states": [] });
    assert_eq!(serde_json::to_value(described).unwrap(), expected);
    let source = "return { describe = function() return { intents = { { name = 'x', note = 1 } }, states = {} } end }";
    let described = start(source).describe().unwrap();
    let expected =
        json!({ "intents": [{ "name": "x", "note": 1 }], "wait_matchers": [], "states": [] });
    assert_eq!(serde_json::to_value(described).unwrap(), expected);
}

#[test]
fn variables_live_as_long_as_the_instance() {
    let mut instance = start(
        "local n = 0 return { count = function() n = n + 1 return { actions = {}, last_intent = tostring(n) } end }",
    );
    for expected in ["1", "2", "3"] {
        assert_eq!(
            instance.intent("count", &json!({})).unwrap().last_intent.as_deref(),
            Some(expected)
        );
    }
}

#[test]
fn predicates_and_states_share_nothing_with_another_instance() {
    let plugin = Plugin::from_source(
        manifest(&[]),
        "n = (n or 0) + 1 return { f = function() return { type = tostring(n) } end }",
    )
    .unwrap();
    for _ in 0..2 {
        let mut instance = Instance::start(&plugin, Limits::default()).unwrap();
        assert_eq!(instance.matcher("f", &json!({})).unwrap(), json!({ "type": "1" }));
    }
}
