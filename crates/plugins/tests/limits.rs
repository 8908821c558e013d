//! Everything a plugin can try in order to run for longer, or hold more, than it may.
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "support/vm.rs"]
mod vm;

use std::time::{Duration, Instant};

use rookery_plugins::{Instance, Limit, Limits, Permission, Plugin};
use serde_json::json;

use vm::{call, fails, fails_within, limits, manifest, run, vm};

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
    let few = Limits { instructions: 200_000, ..limits() };
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
        assert_eq!(fails_within(few, attempt), INSTRUCTIONS, "{attempt}");
    }
    assert!(
        fails("return ('a'):rep(500):match(('a?'):rep(500) .. '$')")
            .contains("pattern too complex")
    );
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
    let few = Limits { instructions: 200_000, ..limits() };
    for attempt in attempts {
        let error = fails_within(few, &format!("{liar} {attempt}"));
        assert!(error == INSTRUCTIONS || error == MEMORY, "{attempt}: {error}");
    }
    // Powers of two are enough to make even an honest length lie.
    let honest = "local t = {} for i = 61, 0, -1 do t[1 << i] = true end assert(#t > 1 << 50)";
    assert_eq!(fails_within(few, &format!("{honest} table.insert(t, 1, 'x')")), INSTRUCTIONS);
    assert!(
        fails(&format!("{liar} return table.unpack(liar)")).contains("too many results to unpack")
    );
    assert!(
        fails("return table.unpack({}, math.mininteger, math.maxinteger)")
            .contains("too many results")
    );
}

#[test]
fn repeating_nothing_is_quick() {
    assert_eq!(
        run("return (''):rep(math.maxinteger), ('x'):rep(-1), ('x'):rep(3, ',')"),
        [json!(""), json!(""), json!("x,x,x")]
    );
}

#[test]
fn memory_has_a_bound_and_is_given_back() {
    let attempts = [
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "return ('x'):rep(1 << 30)",
        "local s = ('x'):rep(1 << 20) return (s:gsub('x', s))",
        "while true do local ok, t = pcall(function() local t = {} while true do t[#t + 1] = ('y'):rep(100000) .. #t end end) end",
        "local t = {} for i = 1, 100 do t[i] = ('x'):rep(1 << 20) .. i end return table.concat(t)",
        "while true do keep = { keep, ('z'):rep(1000000) .. tostring(keep) } end",
        "return xpcall(string.rep, function(e) return e end, 'x', 1 << 30)",
    ];
    for attempt in attempts {
        assert_eq!(fails(attempt), MEMORY, "{attempt}");
    }
}

#[test]
fn a_vm_may_hold_32_mib_by_default() {
    assert_eq!(Limits::default().memory, 32 << 20);
    let holding = |mib: u32| {
        format!("local t = {{}} for i = 1, {mib} do t[i] = ('x'):rep(1 << 20) .. i end return #t")
    };
    assert_eq!(run(&holding(24)), [json!(24)]);
    assert_eq!(fails(&holding(32)), MEMORY);
}

#[test]
fn loading_code_pays_for_its_length() {
    assert_eq!(
        fails("local s = ('x=1 '):rep(10000) while true do assert(load(s)) end"),
        INSTRUCTIONS
    );
    let deep = run("return load('return ' .. ('('):rep(20000) .. '1' .. (')'):rep(20000))");
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
        assert!(
            error.contains("overflow") || error.contains("limit") || error.contains("assertion"),
            "{attempt}: {error}"
        );
    }
}

#[test]
fn the_clock_is_looked_at_too() {
    let plugin =
        Plugin::from_source(manifest(&[]), "return { f = function() while true do end end }")
            .unwrap();
    let tight =
        Limits { instructions: u64::MAX, time: Duration::from_millis(50), ..Limits::default() };
    let mut instance = Instance::start(&plugin, tight).unwrap();
    let error = instance.intent("f", &json!({})).unwrap_err();
    assert_eq!(error.to_string(), "lua plugin `x` failed: Lua plugin time limit exceeded");
    assert_eq!(error.limit(), Some(Limit::Time));
    let source =
        "return { f = function() return ('a'):rep(100000):find(('a-'):rep(20) .. 'b') end }";
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
        let tight = Limits {
            instructions: u64::MAX,
            time: Duration::from_millis(300),
            ..Limits::default()
        };
        let mut instance = Instance::start(&plugin, tight).unwrap();
        let started = Instant::now();
        let error = instance.intent("f", &json!({})).unwrap_err();
        assert!(matches!(error.limit(), Some(Limit::Time | Limit::Memory)), "{attempt}: {error}");
        // No promise of speed: without a bound this would take minutes or for ever.
        assert!(started.elapsed() < Duration::from_secs(30), "{attempt}");
    }
}

#[test]
fn limits_without_sense_are_no_danger() {
    let plugin =
        Plugin::from_source(manifest(&[]), "return { f = function() return { type = 'x' } end }")
            .unwrap();
    let endless = Limits { memory: usize::MAX, instructions: u64::MAX, time: Duration::MAX };
    assert!(Instance::start(&plugin, endless).unwrap().matcher("f", &json!({})).is_ok());
    let start = |limits: Limits| Instance::start(&plugin, limits).unwrap_err().limit();
    assert_eq!(start(Limits { memory: 0, ..endless }), Some(Limit::Memory));
    let few = Limits { instructions: 0, ..endless };
    // A chunk this short is over before the meter is looked at.
    assert!(Instance::start(&plugin, few).is_ok());
}

#[test]
fn memory_may_run_out_at_any_place() {
    let source = "local log = {}
        local function work(p)
          for word, at in ('one two three'):gmatch('(%w+)()') do log[#log + 1] = word .. at end
          local s = (p.text):gsub('%w', function(c) return c .. c end):gsub('(.)(.)', '%2%1')
          pcall(error, { s }) pcall(string.rep, s) xpcall(error, print, s) print(s, {})
          local t = setmetatable({ s:find('(x)()'), s:match('.-$') }, { __index = log })
          table.sort(log) table.insert(t, 1, table.concat(log)) load('return ' .. #s)()
          return { type = tostring(t[1]):sub(1, 20), value = { t[2], s:rep(3, ',') } }
        end
        return { f = work, g = function() log = {} return { type = 'x' } end }";
    let plugin = Plugin::from_source(manifest(&Permission::ALL), source).unwrap();
    let params = json!({ "text": "x".repeat(200), "more": [1, { "a": [true, null, 2.5] }] });
    let (mut failed, mut worked) = (0, 0);
    for memory in (0..400_000).step_by(499) {
        let Ok(mut instance) = Instance::start(&plugin, Limits { memory, ..limits() }) else {
            continue;
        };
        for _ in 0..3 {
            match instance.matcher("f", &params) {
                Ok(_) => worked += 1,
                Err(error) => {
                    assert_eq!(error.limit(), Some(Limit::Memory), "{error}");
                    failed += 1;
                }
            }
        }
        let _ = instance.matcher("g", &json!({}));
    }
    assert!(failed > 10 && worked > 10, "{failed} failed, {worked} worked");
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
    let load = |source: &str| {
        Plugin::from_source(manifest(&[Permission::InputWrite]), source).unwrap_err().to_string()
    };
    assert_eq!(load("while true do end"), format!("lua plugin error: {INSTRUCTIONS}"));
    assert_eq!(
        load("local t = {} while true do t[#t + 1] = ('x'):rep(1e6) .. #t end"),
        format!("lua plugin error: {MEMORY}")
    );
}

#[test]
fn threads_can_hand_an_instance_on() {
    let mut vm = vm("n = (n or 0) + 1 return n");
    assert_eq!(call(&mut vm).unwrap(), [json!(1)]);
    let next = std::thread::spawn(move || call(&mut vm).unwrap());
    assert_eq!(next.join().unwrap(), [json!(2)]);
}

#[test]
fn the_seeds_of_the_fuzz_targets_run_through() {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let read = |target: &str| {
        std::fs::read_dir(seeds.join(target)).unwrap().map(|seed| seed.unwrap().path()).collect()
    };
    let sources: Vec<_> = read("lua_source");
    let patterns: Vec<_> = read("lua_patterns");
    for path in &sources {
        rookery_plugins::fuzzing::source(&std::fs::read_to_string(path).unwrap());
    }
    for path in &patterns {
        let seed = std::fs::read(path).unwrap();
        let parts: Vec<&[u8]> = seed.splitn(3, |byte| *byte == b'\n').collect();
        rookery_plugins::fuzzing::patterns(parts[2], parts[0], parts[1]);
    }
    assert!(sources.len() >= 2 && patterns.len() >= 3);
}
