//! Scripts that mean harm. Each fails or is held to a limit, its thread ends by itself, and a script beside it
//! goes on.

use std::time::Duration;

use super::*;

/// How long any of them may take: its stretch, and what a busy machine adds.
const PATIENCE: Duration = Duration::from_secs(60);

/// What became of hostile bodies that run side by side, while a good script beside them is answered.
async fn all_of(bodies: &[&str]) -> Vec<Result<Finished, ScriptError>> {
    let hostile = bodies.iter().map(|body| async { play(&bare(body), Value::Null).await });
    let good = report(
        "let n = 0; for (let i = 0; i < 50; i++) n += (await agent('p' + i)).length; return n",
    );
    let both = futures_util::future::join(futures_util::future::join_all(hostile), good);
    let (ended, good) = tokio::time::timeout(PATIENCE, both).await.expect("all of them end");
    assert_eq!(good, "640");
    ended.into_iter().map(|(done, _)| done).collect()
}

/// All of them are ended for running too long, and none had to be let go of.
async fn are_interrupted(bodies: &[&str]) {
    for (body, done) in bodies.iter().zip(all_of(bodies).await) {
        let error = done.expect_err(body);
        assert!(error.message.contains("without waiting"), "{body}: {error}");
    }
}

/// All of them fail by themselves or because they ran too long, and none had to be let go of.
async fn fail(bodies: &[&str]) {
    for (body, done) in bodies.iter().zip(all_of(bodies).await) {
        let error = done.expect_err(body);
        assert!(!error.message.contains("does not stop"), "{body}: {error}");
    }
}

#[tokio::test]
async fn attack_endless_loops() {
    are_interrupted(&[
        "for (;;) {}",
        "for (;;) { try { for (;;) {} } catch {} }",
        "const o = { get x() { for (;;) {} } }; return o.x",
        "return { toJSON() { for (;;) {} } }",
        "return [1, 2].sort(() => { for (;;) {} })",
        "return `${{ toString() { for (;;) {} } }}`",
        "function* g() { for (;;) yield 1 } for (const x of g()) {}",
        "await agent('p'); for (;;) {}",
        "/(x+x+)+y/.test('x'.repeat(5000))",
    ])
    .await;
}

#[tokio::test]
async fn attack_endless_promises() {
    are_interrupted(&[
        "for (;;) await null",
        "for await (const x of (async function* () { for (;;) yield 1 })()) {}",
        "const t = { then(ok) { ok(t) } }; await t",
        "await agent('p'); const again = () => { Promise.resolve().then(again) }; again(); await new Promise(() => {})",
        "agent('HANG'); for (;;) await null",
    ])
    .await;
    // Each promise is kept by the next: its memory ends before or after its time.
    fail(&["await agent('p'); const again = () => Promise.resolve().then(again); again(); await new Promise(() => {})"]).await;
}

#[tokio::test]
async fn attack_time_is_not_bought_by_calls_that_do_not_wait() {
    are_interrupted(&[
        // Each line would otherwise begin another stretch.
        "for (;;) { for (let i = 0; i < 3e6; i++) {} log('x') }",
        "for (let n = 0; n < 900; n++) { for (let i = 0; i < 3e6; i++) {} phase('p' + n) } for (;;) {}",
        // And so would each answer to agents that are not waited for.
        "for (let i = 0; i < 500; i++) agent('p' + i); for (;;) {}",
    ])
    .await;
    let slow = "for (;;) { for (let i = 0; i < 3e6; i++) {} ctx.checkpoint.save('k', { n: n++ }) }";
    let error = failure(&defined(&format!("let n = 0; {slow}"))).await;
    assert!(error.message.contains("without waiting"), "{error}");
}

#[tokio::test]
async fn attack_lists_that_lie_about_their_length() {
    fail(&[
        "let n = 0; return Array.prototype.includes.call({ get length() { return n++ ? 2 ** 53 - 1 : 1 } }, 1)",
        "let n = 0; const length = { valueOf: () => (n++ ? 2 ** 53 - 1 : 1) }; return Array.prototype.indexOf.call({ length }, 1)",
        "let n = 0; const p = { get length() { return n++ ? 2 ** 53 - 1 : 1 } }; return Array.prototype.forEach.call(Object.create(p), () => {})",
        "let n = 0; return [].concat({ [Symbol.isConcatSpreadable]: true, get length() { return n++ ? 2 ** 53 - 1 : 1 } })",
        "let n = 0; return Array.from({ get length() { return n++ ? 2 ** 53 - 1 : 1 } })",
        "let n = 0; return new Proxy([], { get: (t, k) => (k === 'length' ? (n++ ? 2 ** 53 - 1 : 0) : undefined) }).forEach(() => {})",
        "return String.raw({ raw: { length: 2 ** 53 - 1 } })",
        "const a = []; a.length = 2 ** 32 - 1; return JSON.stringify(a)",
        "return agent.apply(null, { length: 2 ** 31 })",
        "return new Uint8Array({ length: 2 ** 33 })",
    ])
    .await;
    // What is honest still works.
    let honest = "const own = function () { return Array.prototype.slice.call(arguments, 1).join() }; \
        return String.raw`a\\n${1}` + own(1, 2, 3) + Array.prototype.map.call('ab', (c) => c + c) + Array.from({ length: 2 }, (_, i) => i) + [1, [2]].flat()";
    assert_eq!(report(honest).await, "a\\n12,3aa,bb0,11,2");
}

#[tokio::test]
async fn attack_numbers_that_take_for_ever() {
    fail(&[
        "let x = 3n; for (;;) x *= x",
        "return 2n ** 100000000000n",
        "let x = 1n << 90000n; for (;;) x = (x * x) % (x + 1n)",
        "let x = 1n << 100000n; for (;;) `${x}`",
        "for (;;) Number('9'.repeat(2e6))",
        "for (;;) parseFloat('1e' + '9'.repeat(2e6))",
        "for (;;) (1.7e308).toFixed(100) + (5e-324).toPrecision(100) + (0.1).toString(3)",
        "for (;;) 'é'.repeat(5e6).normalize('NFD')",
        "const a = new Float64Array(4e6); for (;;) a.sort()",
        "const a = new Array(1e6).fill(0); for (;;) a.includes(1)",
        "const s = 'x'.repeat(2e7); for (;;) s + 'y'",
        "const s = 'x'.repeat(2e7); for (;;) s.toUpperCase()",
        "const s = 'x'.repeat(1e7); for (;;) JSON.stringify(s)",
        "for (;;) { try { 'x'.repeat(2e7) + 'y' } catch {} }",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, i)",
    ])
    .await;
}

#[tokio::test]
async fn attack_memory_and_depth() {
    fail(&[
        "const a = []; for (;;) a.push(new Array(1000).fill(a.length))",
        "const o = {}; for (let i = 0; ; i++) o['k' + i] = 'x'.repeat(1000)",
        "const s = new Set(); for (let i = 0; ; i++) s.add('x'.repeat(100) + i)",
        "const all = []; for (;;) all.push(new Promise(() => {}))",
        "const spin = async () => { await null; return spin() }; spin(); await new Promise(() => {})",
        "const all = []; for (;;) all.push(agent('p').catch(() => {}))",
        "const f = (n) => [n, f(n + 1)]; return f(0)",
        "const f = () => { try { f() } finally { f() } }; f()",
        "class A { get [Symbol.toPrimitive]() { return this + '' } } return new A() + ''",
        "return ('['.repeat(1e5) + ']'.repeat(1e5)).replace(/\\[/g, (c) => c.repeat(1000))",
        "let r = '('.repeat(1e5) + ')'.repeat(1e5); return new RegExp(r).test('')",
    ])
    .await;
}

#[tokio::test]
async fn attack_prototypes_change_nothing_but_the_script() {
    for (body, expected) in [
        ("Promise.prototype.then = () => { throw 1 }; return await agent('p')", "answer to p"),
        (
            "Promise.resolve = Promise.all = null; return await parallel([() => agent('p')])",
            r#"["answer to p"]"#,
        ),
        ("Object.prototype.toJSON = () => 'x'; return await agent('p')", "answer to p"),
        (
            "Object.prototype.then = function (ok) { ok('polluted') }; return await agent('p')",
            "answer to p",
        ),
        (
            "Object.prototype.hasOwnProperty = () => { throw 1 }; return await agent('p')",
            "answer to p",
        ),
        (
            "Object.defineProperty(Object.prototype, 'status', { get: () => 'failed' }); return await agent('p')",
            "answer to p",
        ),
        (
            "Object.defineProperty(Object.prototype, 'output', { set() { throw 1 } }); return await agent('p')",
            "answer to p",
        ),
        (
            "Reflect.apply = null; String.prototype.toWellFormed = null; return await agent('p')",
            "answer to p",
        ),
        ("globalThis.agent = null; return typeof agent", "object"),
        ("Object.prototype.toJSON = () => { throw 1 }; return { a: 1 }", "never"),
        (
            "Error = null; try { await agent('') } catch (e) { return e.constructor === TypeError }",
            "true",
        ),
    ] {
        let (done, _) = play(&bare(body), Value::Null).await;
        match done {
            Ok(done) => assert_eq!(done.report, expected, "{body}"),
            // It may hurt itself, in its own words.
            Err(error) => assert_eq!(error.kind, ErrorKind::ScriptExecution, "{body}: {error}"),
        }
    }
    // The results of agents are as they were given.
    let frozen = "const r = await ctx.agents.run('x', { prompt: 'p' }); \
        try { 'use strict'; r.output = 'forged' } catch {} \
        Object.defineProperty(Object.prototype, 'structured', { get: () => 'forged' }); \
        return r.output + Object.isFrozen(r) + Object.keys(r).includes('structured')";
    assert_eq!(report_of(frozen).await, "answer to ptruefalse");
    for body in [
        "return [].constructor.constructor('return 1')()",
        "return agent.constructor.constructor('return 1')()",
        "return (class {}).constructor('return 1')()",
        "return Object.getOwnPropertyDescriptor(Object.getPrototypeOf(agent), 'constructor').value('return 1')()",
        "return (await (async () => {})().constructor).constructor('return 1')()",
        "try { null.x } catch (e) { return e.constructor.constructor('return 1')() }",
        "return new (Object.getPrototypeOf(async function* () {}).constructor)('yield 1')",
    ] {
        let error = failure(&bare(body)).await;
        assert_eq!(error.kind, ErrorKind::ScriptExecution, "{body}: {error}");
    }
}

#[tokio::test]
async fn attack_nothing_is_asked_of_the_host_after_the_end() {
    for body in [
        "Promise.resolve().then(() => {}).then(() => {}).then(() => {}).then(() => { log('late'); agent('late') }); return 'over'",
        "const late = async () => { for (let i = 0; i < 50; i++) await null; log('late'); phase('late'); agent('late') }; late(); return 'over'",
        "agent('HANG').finally(() => log('late')); return 'over'",
    ] {
        let (done, host) = play(&bare(body), Value::Null).await;
        assert_eq!(done.unwrap().report, "over");
        let late = host.seen().into_iter().filter(|line| line.contains("late")).count();
        assert_eq!(late, 0, "{body}");
    }
}

#[tokio::test]
async fn attack_much_of_everything_is_held_to_its_limit() {
    for source in [
        bare("return 'x'.repeat(70000)"),
        bare("return Array.from({ length: 9999 }, () => 'xxxxxxxxxx')"),
        bare("for (let i = 0; ; i++) phase('phase ' + i)"),
        bare("for (;;) log('x'.repeat(100))"),
        bare("await agent('p', { schema: { type: 'object', description: 'x'.repeat(1e6) } })"),
        bare("await workflow('inner', { n: 'x'.repeat(2e6) })"),
        bare("for (let i = 0; i < 65; i++) await workflow('inner', { n: 1 })"),
        defined("for (let i = 0; ; i++) ctx.checkpoint.save('k' + i, 1)"),
        defined(
            "const x = 'x'.repeat(1e6); for (let i = 0; ; i++) ctx.checkpoint.save('k' + i, x)",
        ),
        defined(
            "const x = 'x'.repeat(1e5); for (let i = 0; ; i++) ctx.checkpoint.save('k', x + i)",
        ),
        defined("for (let i = 0; ; i++) ctx.checkpoint.save('k', i)"),
        defined("ctx.report.markdown('x'.repeat(70000))"),
    ] {
        let error = tokio::time::timeout(PATIENCE, failure(&source)).await.expect("it ends");
        assert_eq!(error.kind, ErrorKind::LimitExceeded, "{source}: {error}");
    }
    // What is long and harmless is cut.
    let source = bare("log('é'.repeat(1e6)); return await agent('p', { label: 'l' })");
    let (done, host) = play(&source, Value::Null).await;
    assert_eq!(done.unwrap().report, "answer to p");
    assert!(host.seen().iter().all(|line| line.len() < 20_000));
}
