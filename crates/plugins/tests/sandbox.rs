//! What a plugin can reach, and what it cannot: the walls of the sandbox.

#[path = "support/vm.rs"]
mod vm;

use rookery_plugins::{Instance, Limits, Permission, Plugin};
use serde_json::{Value, json};

use vm::{fails, manifest, run};

#[test]
fn nothing_is_there_that_reaches_the_machine() {
    let expected = "_G _VERSION assert error getmetatable ipairs load math next pairs pcall print ptywright rawequal \
                    rawget rawlen rawset select setmetatable string table tonumber tostring type utf8 xpcall";
    let listing = "local names = {} for name in pairs(_G) do names[#names + 1] = name end
                   table.sort(names) return table.concat(names, ' ')";
    assert_eq!(run(listing), [json!(expected)]);
    for gone in ["os", "io", "package", "require", "debug", "coroutine", "dofile", "loadfile", "collectgarbage", "warn"] {
        assert_eq!(run(&format!("return {gone}")), [Value::Null], "{gone}");
    }
    assert_eq!(run("return string.dump, ('').dump"), [Value::Null, Value::Null]);
}

#[test]
fn only_text_can_be_loaded_and_it_sees_the_plugins_globals() {
    assert_eq!(run("return load('return 1 + 1')()"), [json!(2)]);
    assert_eq!(run("return load('return os, io, x')()"), [Value::Null, Value::Null, Value::Null]);
    assert_eq!(run("y = 5 return load('return y')()"), [json!(5)]);
    assert_eq!(run("return load('return y', 'n', 't', { y = 7 })()"), [json!(7)]);
    assert_eq!(run("return load('x = ')"), [Value::Null, json!("(load):1: unexpected symbol near <eof>")]);
    assert_eq!(run("return load(function() return nil end)"), [Value::Null, json!("only a string can be loaded")]);
    assert_eq!(run("return load('return 1', 'n', 'b')"), [Value::Null, json!("only text can be loaded")]);
    let binary = run("return load('\\27Lua' .. ('\\0'):rep(40))");
    assert!(binary[1].as_str().unwrap().contains("attempt to load a binary chunk"), "{binary:?}");
    assert_eq!(run("return load(('x'):rep(1 << 21))"), [Value::Null, json!("chunk is too long")]);
}

#[test]
fn finalizers_weak_tables_and_closing_handlers_do_not_exist() {
    for field in ["__gc", "__mode", "__close"] {
        let error = fails(&format!("setmetatable({{}}, {{ {field} = 'k' }})"));
        assert!(error.contains(&format!("metatables with {field} are not available")), "{error}");
    }
    // Added later, they do nothing.
    let late = "local ran = false
                local mt = {}
                do
                  local t = setmetatable({}, mt)
                  mt.__gc = function() ran = true end
                  mt.__close = mt.__gc
                end
                for i = 1, 2000 do local garbage = ('x'):rep(10000) .. i end
                return ran, pcall(load('local t <close> = ...'), setmetatable({}, {}))";
    let result = run(late);
    assert_eq!(result[..2], [json!(false), json!(false)]);
    assert!(result[2].as_str().unwrap().contains("non-closable"), "{result:?}");
}

#[test]
fn metatables_work_as_they_do_elsewhere() {
    let class = "local Point = {}
                 Point.__index = Point
                 function Point.new(x) return setmetatable({ x = x }, Point) end
                 function Point:get() return self.x end
                 Point.__add = function(a, b) return Point.new(a.x + b.x) end
                 Point.__eq = function(a, b) return a.x == b.x end
                 Point.__lt = function(a, b) return a.x < b.x end
                 Point.__tostring = function(p) return 'P' .. p.x end
                 Point.__len = function() return 9 end
                 Point.__call = function(p, y) return p.x * y end
                 local a, b = Point.new(1), Point.new(2)
                 return (a + b):get(), a == Point.new(1), a < b, tostring(a), #a, b(4), getmetatable(a) == Point";
    let expected = json!([3, true, true, "P1", 9, 8, true]);
    assert_eq!(json!(run(class)), expected);
    let protected = "local t = setmetatable({}, { __metatable = 'locked' })
                     return getmetatable(t), pcall(setmetatable, t, {})";
    assert_eq!(json!(run(protected)), json!(["locked", false, "cannot change a protected metatable"]));
    assert_eq!(json!(run("return getmetatable(setmetatable(setmetatable({}, {}), nil))")), json!([null]));
}

#[test]
fn the_metatable_of_strings_is_out_of_reach() {
    assert_eq!(run("return getmetatable('')"), [json!(false)]);
    assert_eq!(run("return pcall(setmetatable, '', {})")[0], json!(false));
    // Methods are the replaced functions.
    assert_eq!(run("return ('').find == string.find, ('x').rep == string.rep"), [json!(true), json!(true)]);
    assert_eq!(run("return ('a1'):find('%d'), ('10') + 1"), [json!(2), json!(11)]);
}

#[test]
fn what_a_plugin_changes_stays_in_its_own_vm() {
    let mut one = vm::vm("string.find = nil _G.type = nil ptywright.action.text = nil return 1");
    vm::call(&mut one).unwrap();
    assert_eq!(run("return type(string.find), type(ptywright.action.text)"), [json!("function"), json!("function")]);
}

#[test]
fn caught_errors_are_what_was_thrown() {
    assert_eq!(json!(run("return pcall(error, { code = 7 })")), json!([false, { "code": 7 }]));
    assert_eq!(json!(run("return pcall(error)")), json!([false, null]));
    assert_eq!(json!(run("return pcall(function(...) return ... end, 1, nil, 3)")), json!([true, 1, null, 3]));
    assert_eq!(json!(run("return select('#', pcall(function() return nil, nil end))")), json!([3]));
    let handled = "return xpcall(function(x) error('no ' .. x, 0) end, function(e) return e .. '!' end, 'way')";
    assert_eq!(json!(run(handled)), json!([false, "no way!"]));
    let bad = run("return pcall(string.rep)");
    assert_eq!(json!(bad), json!([false, "bad argument #1 to 'rep' (string expected, got no value)"]));
    let line = run("return pcall(function()\n return ('x'):find('[') end)");
    assert_eq!(json!(line), json!([false, "plugin.lua:3: malformed pattern (missing ']')"]));
}

#[test]
fn constructors_exist_as_far_as_the_manifest_permits() {
    let source = "local function names(t) local n = {} for k in pairs(t) do n[#n + 1] = k end table.sort(n)
                  return table.concat(n, ' ') end
                  return { f = function() return { type = names(ptywright.action), value = names(ptywright.matcher) } end }";
    let listed = |permissions: &[Permission]| {
        let plugin = Plugin::from_source(manifest(permissions), source).unwrap();
        Instance::start(&plugin, Limits::default()).unwrap().matcher("f", &json!({})).unwrap()
    };
    let typing = "bracketed_paste eof interrupt key mark_transcript paste text";
    let waiting = "all any contains_text process_exited screen_regex screen_stable transcript_contains transcript_regex";
    assert_eq!(listed(&[]), json!({ "type": "", "value": "" }));
    assert_eq!(listed(&[Permission::InputWrite]), json!({ "type": typing, "value": "" }));
    assert_eq!(listed(&[Permission::SessionKill]), json!({ "type": "kill signal", "value": "" }));
    assert_eq!(listed(&[Permission::MatcherWait]), json!({ "type": "", "value": waiting }));
}

#[test]
fn constructors_make_plain_tables() {
    let actions = "local a = ptywright.action
                   return a.text('x'), a.paste(5), a.bracketed_paste(''), a.key('enter'), a.interrupt(), a.eof(),
                   a.mark_transcript('m'), a.kill(), a.signal('term')";
    let expected = json!([
        { "type": "text", "value": "x" }, { "type": "paste", "value": "5" }, { "type": "bracketed_paste", "value": "" },
        { "type": "key", "value": "enter" }, { "type": "interrupt" }, { "type": "eof" },
        { "type": "mark_transcript", "value": { "label": "m" } }, { "type": "kill" },
        { "type": "signal", "value": "term" },
    ]);
    assert_eq!(json!(run(actions)), expected);
    let matchers = "local m = ptywright.matcher
                    return m.contains_text('a'), m.screen_regex('b'), m.transcript_contains('c'), m.transcript_regex('d'),
                    m.screen_stable(300), m.process_exited(), m.any{ m.contains_text('e') }";
    let expected = json!([
        { "type": "contains_text", "value": "a" }, { "type": "screen_regex", "value": "b" },
        { "type": "transcript_contains", "value": "c" }, { "type": "transcript_regex", "value": "d" },
        { "type": "screen_stable", "value": { "min_ms": 300 } }, { "type": "process_exited" },
        { "type": "any", "value": [{ "type": "contains_text", "value": "e" }] },
    ]);
    assert_eq!(json!(run(matchers)), expected);
    let error = fails("return ptywright.action.text({})");
    assert!(error.contains("plugin.lua:2: bad argument #1 to 'text' (string expected, got table)"), "{error}");
}

#[test]
fn printing_is_bounded_and_harmless() {
    assert_eq!(run("for i = 1, 500 do print('x', nil, {}, i) end print(('y'):rep(100000), '\\27[2J') return 1"), [json!(1)]);
}
