//! Everything a plugin can try in order to run for longer, or hold more, than it may.

#[path = "support/vm.rs"]
mod vm;

use std::time::{Duration, Instant};

use rookery_plugins::{Instance, Limit, Limits, Permission, Plugin};
use serde_json::json;

use vm::{call, fails, limits, manifest, run, vm};

const INSTRUCTIONS: &str = "lua plugin `x` failed: Lua plugin instruction limit exceeded";
const MEMORY: &str = "lua plugin `x` failed: Lua plugin memory limit exceeded";

#[test]
fn endless_work_is_cut_off_and_the_vm_lives_on() {
    let attempts = [
        "while true do end",
        "::again:: goto again",
        "local function f() return f() end f()",
        "for i = 1, math.maxinteger do local x = i end",
        "repeat local ok = pcall(error) until false",
        "for _ in function() return 1 end do end",
        "local t = setmetatable({}, { __index = function(t, k) return t[k + 1] end }) while true do pcall(function() return t[1] end) end",
    ];
    for attempt in attempts {
        assert_eq!(fails(attempt), INSTRUCTIONS, "{attempt}");
    }
}

#[test]
fn a_limit_cannot_be_caught() {
    let attempts = [
        "while true do pcall(function() while true do end end) end",
        "pcall(function() while true do end end) return 1",
        "xpcall(function() while true do end end, function(e) while true do end end) return 1",
        "local function again() xpcall(function() while true do end end, again) end again() return 1",
        "pcall(pcall, pcall, pcall, function() while true do end end) return 1",
        "local t = setmetatable({}, { __tostring = function() while true do end end }) pcall(error, t) error(t)",
        "local t = setmetatable({}, { __concat = function() while true do end end }) pcall(function() return t .. t end) return 1",
    ];
    for attempt in attempts {
        assert_eq!(fails(attempt), INSTRUCTIONS, "{attempt}");
    }
}

#[test]
fn patterns_pay_for_their_steps() {
    let attempts = [
        "return (('a'):rep(50000)):find(('a-'):rep(20) .. 'b')",
        "return (('a'):rep(30)):match(('a*'):rep(30) .. 'b')",
        "return (('x'):rep(100000)):gsub('.-.-.-y', '')",
        "for word in (('a'):rep(100000)):gmatch('(.-)%1%1b') do end",
        "return (('('):rep(1000000)):find('%b()')",
        "local s = ('a'):rep(1000000) while true do s:find('b', 1, true) end",
        "local s = ('a'):rep(100000) while true do s:match('^a*b') end",
        "return (('a'):rep(100000)):gsub('.-b', function() end)",
    ];
    for attempt in attempts {
        assert_eq!(fails(attempt), INSTRUCTIONS, "{attempt}");
    }
    assert!(fails("return ('a'):rep(500):match(('a?'):rep(500) .. '$')").contains("pattern too complex"));
    assert!(fails("return ('x'):match(('('):rep(40) .. 'x')").contains("too many captures"));
}

#[test]
fn lengths_that_lie_are_counted() {
    let liar = "local liar = setmetatable({}, { __len = function() return 1 << 60 end, __index = tostring })";
    let attempts = [
        "table.insert(liar, 1, 'x')",
        "table.remove(liar, 1)",
        "table.concat(liar)",
        "table.sort(liar, rawequal)",
        "table.move(liar, 1, 1 << 60, 2)",
        "table.move(liar, 2, 1 << 60, 1, {})",
    ];
    for attempt in attempts {
        let error = fails(&format!("{liar} {attempt}"));
        assert!(error == INSTRUCTIONS || error == MEMORY, "{attempt}: {error}");
    }
    // Powers of two are enough to make even an honest length lie.
    let honest = "local t = {} for i = 0, 61 do t[1 << i] = true end assert(#t > 1 << 50)";
    assert_eq!(fails(&format!("{honest} table.insert(t, 1, 'x')")), INSTRUCTIONS);
    assert!(fails(&format!("{liar} return table.unpack(liar)")).contains("too many results to unpack"));
    assert!(fails("return table.unpack({}, math.mininteger, math.maxinteger)").contains("too many results"));
}

#[test]
fn repeating_nothing_is_quick() {
    assert_eq!(run("return (''):rep(math.maxinteger), ('x'):rep(-1), ('x'):rep(3, ',')"), [json!(""), json!(""), json!("x,x,x")]);
}

#[test]
fn memory_has_a_bound_and_is_given_back() {
    let attempts = [
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "return ('x'):rep(1 << 40)",
        "local s = ('x'):rep(1 << 20) return (s:gsub('x', s))",
        "while true do local ok, t = pcall(function() local t = {} while true do t[#t + 1] = ('y'):rep(100000) .. #t end end) end",
        "local t = {} for i = 1, 100 do t[i] = ('x'):rep(1 << 20) .. i end return table.concat(t)",
        "local function deep(n) return n + deep(n + 1) end while true do local ok, e = pcall(deep, 1) keep = { keep, ('z'):rep(1000000) } end",
        "return xpcall(string.rep, function(e) return e end, 'x', 1 << 40)",
    ];
    for attempt in attempts {
        assert_eq!(fails(attempt), MEMORY, "{attempt}");
    }
}

#[test]
fn loading_code_pays_for_its_length() {
    assert_eq!(fails("local s = ('x=1 '):rep(200000) while true do load(s) end"), INSTRUCTIONS);
    let deep = run("return load('return ' .. ('('):rep(500000) .. '1' .. (')'):rep(500000))");
    assert!(deep[1].as_str().unwrap().contains("overflow"), "{deep:?}");
}

#[test]
fn deep_recursion_is_an_error_and_no_crash() {
    let attempts = [
        "local function f(n) return 1 + f(n + 1) end return f(1)",
        "local function f() return pcall(f) end assert(select('#', f()) < 0)",
        "local function f(s) return (s:gsub('.', f)) end return f('x')",
        "local t = setmetatable({}, {}) getmetatable(t).__index = t local mt = { __index = function(t, k) return t[k] end }
         return setmetatable({}, mt)[1]",
        "local mt = {} mt.__tostring = function(t) return tostring(setmetatable({}, mt)) end return tostring(setmetatable({}, mt))",
        "local function f(a, b) local t = { 2, 1 } table.sort(t, f) return a < b end local t = { 2, 1 } table.sort(t, f)",
        "local function f() error(f()) end f()",
    ];
    for attempt in attempts {
        let error = fails(attempt);
        assert!(error.contains("overflow") || error.contains("limit") || error.contains("assertion"), "{attempt}: {error}");
    }
}

#[test]
fn the_clock_is_looked_at_too() {
    let plugin = Plugin::from_source(manifest(&[]), "return { f = function() while true do end end }").unwrap();
    let tight = Limits { instructions: u64::MAX, time: Duration::from_millis(50), ..Limits::default() };
    let mut instance = Instance::start(&plugin, tight).unwrap();
    let error = instance.intent("f", &json!({})).unwrap_err();
    assert_eq!(error.to_string(), "lua plugin `x` failed: Lua plugin time limit exceeded");
    assert_eq!(error.limit(), Some(Limit::Time));
    let source = "return { f = function() return ('a'):rep(100000):find(('a-'):rep(20) .. 'b') end }";
    let plugin = Plugin::from_source(manifest(&[]), source).unwrap();
    let mut instance = Instance::start(&plugin, tight).unwrap();
    assert_eq!(instance.intent("f", &json!({})).unwrap_err().limit(), Some(Limit::Time));
}

#[test]
fn single_instructions_that_are_slow_end_by_the_clock() {
    let attempts = [
        // Comparing, joining and hashing long strings.
        "local a, b = ('x'):rep(15e6), ('x'):rep(15e6) while true do local same = a == b, a < b, a == b, a <= b end",
        // A heap that is almost full is collected again and again.
        "local t = {} for i = 1, 450000 do t[i] = { i } end while true do local s = ('y'):rep(2e6) .. #t end",
        // Keys that fall into the same place.
        "local t = {} for i = 1, 1e9 do t[i * 0x7fffffff + 0.5] = i end",
        "while true do local t = { ('x'):rep(60000):byte(1, -1) } end",
    ];
    for attempt in attempts {
        let source = format!("return {{ f = function() {attempt} end }}");
        let plugin = Plugin::from_source(manifest(&[]), &source).unwrap();
        let tight = Limits { instructions: u64::MAX, time: Duration::from_millis(300), ..Limits::default() };
        let mut instance = Instance::start(&plugin, tight).unwrap();
        let started = Instant::now();
        let error = instance.intent("f", &json!({})).unwrap_err();
        assert!(matches!(error.limit(), Some(Limit::Time | Limit::Memory)), "{attempt}: {error}");
        // No promise of speed: without a bound this would take minutes or for ever.
        assert!(started.elapsed() < Duration::from_secs(30), "{attempt}");
    }
}

#[test]
fn every_call_has_a_budget_of_its_own() {
    let mut vm = vm("for i = 1, 100000 do local x = i end return 1");
    for _ in 0..50 {
        assert_eq!(call(&mut vm).unwrap(), [json!(1)]);
    }
}

#[test]
fn the_limits_hold_while_a_plugin_is_loaded() {
    let load = |source: &str| Plugin::from_source(manifest(&[Permission::InputWrite]), source).unwrap_err().to_string();
    assert_eq!(load("while true do end"), format!("lua plugin error: {INSTRUCTIONS}"));
    assert_eq!(load("local t = {} while true do t[#t + 1] = ('x'):rep(1e6) .. #t end"), format!("lua plugin error: {MEMORY}"));
}

#[test]
fn threads_can_hand_an_instance_on() {
    let mut vm = vm("n = (n or 0) + 1 return n");
    assert_eq!(call(&mut vm).unwrap(), [json!(1)]);
    let next = std::thread::spawn(move || call(&mut vm).unwrap());
    assert_eq!(next.join().unwrap(), [json!(2)]);
    let _ = limits();
}
