//! Scripts of both forms against a host that answers by itself, and hostile ones.

mod hostile;
mod places;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{
    AgentEnd, ErrorKind, Finished, Host, HostError, Launch, Limits, Outcome, RunInput, Script,
    ScriptError, Tokens, run,
};

/// Answers `answer to <prompt>`; fails for prompts with `FAIL`, never ends for those with `HANG`.
#[derive(Default)]
struct TestHost {
    seen: Mutex<Vec<String>>,
    launches: Mutex<Vec<Launch>>,
    gates: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl TestHost {
    fn note(&self, line: String) {
        self.seen.lock().unwrap().push(line);
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn gate(&self, prompt: &str) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        self.gates.lock().unwrap().insert(prompt.to_owned(), Arc::clone(&gate));
        gate
    }
}

impl Host for TestHost {
    fn launch(&self, launch: Launch) -> BoxFuture<'static, Result<Outcome, HostError>> {
        self.note(format!("agent {}", launch.prompt));
        let mut launches = self.launches.lock().unwrap();
        launches.push(launch.clone());
        let agent = format!("agent-{}", launches.len());
        let gate = self.gates.lock().unwrap().get(&launch.prompt).cloned();
        async move {
            if launch.prompt.contains("HANG") {
                std::future::pending::<()>().await;
            }
            if launch.prompt.contains("STORE") {
                return Err(HostError::Store("the disk is full".to_owned()));
            }
            if let Some(gate) = gate {
                gate.acquire().await.unwrap().forget();
            }
            let has_failed = launch.prompt.contains("FAIL");
            let end = if has_failed { AgentEnd::Failed } else { AgentEnd::Completed };
            let structured = launch.schema.as_ref().map(|_| json!({ "ok": true }));
            Ok(Outcome {
                agent,
                end,
                output: (!has_failed).then(|| format!("answer to {}", launch.prompt)),
                structured: structured.filter(|_| !has_failed),
                error: has_failed.then(|| "provider_error: none".to_owned()),
                usage: Some(Tokens { prompt: 1, completion: 2 }),
            })
        }
        .boxed()
    }

    fn phase(&self, title: String) {
        self.note(format!("phase {title}"));
    }

    fn log(&self, message: String) {
        self.note(format!("log {message}"));
    }

    fn checkpoint(&self, key: String, value: Value) -> BoxFuture<'static, Result<(), HostError>> {
        self.note(format!("checkpoint {key} {value}"));
        async { Ok(()) }.boxed()
    }

    fn script(&self, name: String) -> BoxFuture<'static, Result<String, HostError>> {
        async move {
            match name.as_str() {
                "inner" => Ok(INNER.to_owned()),
                "small" => Ok(SMALL.to_owned()),
                "outer" => Ok(bare("return await workflow('inner', {n: 1})")),
                other => Err(HostError::Refused(format!("no workflow {other}"))),
            }
        }
        .boxed()
    }
}

/// Starts one agent more than it allows itself if it is told to, and says how long each may take.
const SMALL: &str = "workflow.define({ name: 'small', limits: { maxAgentsPerRun: 2, \
    maxConcurrentAgents: 1, defaultAgentTimeoutSeconds: 7 } }, async (ctx) => { \
    const items = ctx.run.arguments.items; \
    const all = await ctx.agents.map('r', items, (item) => ({ prompt: item })); \
    return all.map((one) => one.output).join() })";

const INNER: &str = "export const meta = { name: 'inner', description: 'd', argumentsSchema: { required: ['n'] } }\n\
    return { n: args.n + 1, said: await agent('inner prompt') }";

fn bare(body: &str) -> String {
    format!("export const meta = {{ name: 'test', description: 'd' }};\n{body}")
}

fn defined(body: &str) -> String {
    format!("workflow.define({{ name: 'test' }}, async (ctx) => {{\n{body}\n}})")
}

async fn play_with(
    host: &Arc<TestHost>,
    source: &str,
    input: RunInput,
) -> Result<Finished, ScriptError> {
    let script = Script::read(source)?;
    let host: Arc<dyn Host> = Arc::clone(host) as _;
    run(script, input, host).await
}

async fn play(source: &str, arguments: Value) -> (Result<Finished, ScriptError>, Arc<TestHost>) {
    let host = Arc::new(TestHost::default());
    let input = RunInput { run: "workflow-1".to_owned(), arguments, ..RunInput::default() };
    (play_with(&host, source, input).await, host)
}

/// The report of a script of the second form.
async fn report(body: &str) -> String {
    let (done, _) = play(&bare(body), json!({ "x": 1 })).await;
    done.unwrap_or_else(|error| panic!("{body}: {error}")).report
}

/// The report of a script of the first form.
async fn report_of(body: &str) -> String {
    let (done, _) = play(&defined(body), json!({ "x": 1 })).await;
    done.unwrap_or_else(|error| panic!("{body}: {error}")).report
}

async fn failure(source: &str) -> ScriptError {
    play(source, Value::Null).await.0.expect_err(source)
}

#[tokio::test]
async fn every_member_of_the_context_does_what_it_says() {
    for (body, expected) in [
        ("return ctx.run.id + ' ' + ctx.run.arguments.x", "workflow-1 1"),
        ("return (await ctx.agents.run('scout', { prompt: 'p' })).output", "answer to p"),
        (
            "const r = await ctx.agents.run('scout', { prompt: 'p', output: 'invented' });
             return [r.agentId, r.role, r.lane, r.input, r.prompt, r.output, r.status, r.usage.totalTokens, Object.isFrozen(r), 'error' in r].join()",
            "agent-1,scout,scout,,p,answer to p,completed,3,true,false",
        ),
        ("return (await ctx.agents.run('a', { prompt: 'p', lane: 'editor' })).lane", "editor"),
        ("const r = await ctx.agents.run('a', { prompt: 'FAIL' }); return [r.status, r.output, r.error].join()", "failed,,provider_error: none"),
        ("return (await ctx.agents.run('a', { prompt: 'p', schema: { type: 'object' } })).structured", r#"{"ok":true}"#),
        (
            "const all = await ctx.agents.map('a', ['x', 'y'], (item, i) => ({ prompt: item + i })); return all.map((r) => r.input + ':' + r.output).join()",
            "x:answer to x0,y:answer to y1",
        ),
        (
            "return await ctx.agents.reduce('a', [1, 2], (n) => ({ prompt: 'p' + n }), (sum, r) => sum + r.output.length, 100)",
            "124",
        ),
        ("await ctx.agents.run('a', { prompt: 'p' }); return ctx.results.all().map((r) => r.output).join()", "answer to p"),
        ("return ctx.results.vote(['b', 'a', 'a', 'b'])", r#"{"winner":"a","counts":{"b":2,"a":2}}"#),
        ("return ctx.results.vote([{ output: 'x' }, { output: 'x' }, { output: 'y' }]).winner", "x"),
        ("return ctx.results.vote([1, 2, 3], (n) => n % 2).counts", r#"{"0":1,"1":2}"#),
        ("return ctx.results.vote([]).winner === null ? 'none' : 'some'", "none"),
        ("ctx.checkpoint.save('k', { a: [1] }); return ctx.checkpoint.read('k')", r#"{"a":[1]}"#),
        ("return ctx.checkpoint.read('missing') === null ? 'null' : 'other'", "null"),
        ("ctx.report.markdown('# one'); ctx.report.markdown('# two')", "# two"),
        ("ctx.report.markdown(['a', { output: 'b' }, { c: 1 }])", "a\nb\n{\"c\":1}"),
        ("return ctx.report.markdown('x') + '!'", "x!"),
        ("return ctx.limits.maxConcurrentAgents + ' ' + ctx.abortSignal.aborted", "16 false"),
        ("'use strict'; try { ctx.limits.maxConcurrentAgents = 99 } catch (e) { return e.name }", "TypeError"),
        ("await 0; return 'import the CSV; process.exit(); fetch(x); require()'", "import the CSV; process.exit(); fetch(x); require()"),
    ] {
        assert_eq!(report_of(body).await, expected, "{body}");
    }
}

#[tokio::test]
async fn a_later_prompt_sees_the_answer_to_an_earlier_one() {
    let (done, host) = play(
        &defined(
            "ctx.phase.start('one'); const a = await ctx.agents.run('a', { prompt: 'first' });
             ctx.phase.start('two'); ctx.log('now'); const b = await ctx.agents.run('a', { prompt: a.output + '?' });
             return b.output",
        ),
        Value::Null,
    )
    .await;
    assert_eq!(done.unwrap().report, "answer to answer to first?");
    let order = ["phase one", "agent first", "phase two", "log now", "agent answer to first?"];
    assert_eq!(host.seen(), order);
}

#[tokio::test]
async fn every_bare_function_does_what_it_says() {
    for (body, expected) in [
        ("return await agent('p')", "answer to p"),
        ("return await agent('p', { schema: { type: 'object' } })", r#"{"ok":true}"#),
        ("return String(await agent('FAIL'))", "null"),
        (
            "return (await parallel([() => agent('a'), () => agent('FAIL'), () => { throw new Error('x') }, () => 5]))",
            r#"["answer to a",null,null,5]"#,
        ),
        (
            "return await pipeline(['a', 'b'], (p, item, i) => agent(item + i), (p, item, i) => p + '/' + item + '/' + i)",
            r#"["answer to a0/a/0","answer to b1/b/1"]"#,
        ),
        ("return await pipeline([1, 2], (n) => n === 1 ? null : n, (n) => n * 10)", "[20]"),
        ("return await pipeline([1], () => { throw new Error('x') }, () => 3)", "[]"),
        ("return args.x", "1"),
        ("return (await workflow('inner', { n: 4 })).n", "5"),
        (
            "try { await workflow('inner', {}) } catch (e) { return e.message.includes('do not fit') }",
            "true",
        ),
        ("try { await workflow('none') } catch (e) { return e.message }", "no workflow none"),
        (
            "try { await workflow('outer') } catch (e) { return e.message.includes('starts none itself') }",
            "true",
        ),
        ("phase('one'); log('x'); log({ a: 1 }); return 'text'", "text"),
        ("return { a: [1] }", r#"{"a":[1]}"#),
        ("", ""),
        ("const x = await Promise.all([agent('a'), agent('b')]); return x.length", "2"),
    ] {
        assert_eq!(report(body).await, expected, "{body}");
    }
    let (done, host) = play(
        &bare("phase('A'); log({ a: 1 }); await agent('p', { label: 'l', phase: 'B', model: 'm', agentType: 't', isolation: 'worktree' })"),
        Value::Null,
    )
    .await;
    done.unwrap();
    assert_eq!(host.seen(), ["phase A", r#"log {"a":1}"#, "agent p"]);
    let launch = host.launches.lock().unwrap()[0].clone();
    let named = (launch.label.as_deref(), launch.phase.as_deref(), launch.model.as_deref());
    assert_eq!(named, (Some("l"), Some("B"), Some("m")));
    assert_eq!((launch.agent_type.as_deref(), launch.in_worktree), (Some("t"), true));
}

#[tokio::test]
async fn a_nested_script_is_held_to_its_own_limits_and_ends_no_other() {
    let (done, host) = play(
        &bare(
            "await agent('outer'); const both = await workflow('small', { items: ['a', 'b'] }); \
             let why; try { await workflow('small', { items: ['c', 'd', 'e'] }) } catch (e) { why = e.message } \
             return [both, why.includes('more than 2 agents'), await agent('still')].join(' ')",
        ),
        Value::Null,
    )
    .await;
    assert_eq!(done.unwrap().report, "answer to a,answer to b true answer to still");
    let launches = host.launches.lock().unwrap().clone();
    let of = |prompt: &str| launches.iter().find(|launch| launch.prompt == prompt).unwrap();
    assert_eq!((of("a").timeout_seconds, of("outer").timeout_seconds), (Some(7.0), Some(180.0)));
    // Those of the run hold for all.
    let limits = Limits { max_agents_per_run: 2, ..Limits::default() };
    let host = Arc::new(TestHost::default());
    let source = bare(
        "await agent('x'); try { await workflow('small', { items: ['a', 'b'] }) } catch (e) {} return 'y'",
    );
    let error = play_with(&host, &source, RunInput { limits, ..RunInput::default() }).await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::LimitExceeded);
}

#[tokio::test]
async fn a_nested_script_starts_no_more_at_a_time_than_it_says() {
    let host = Arc::new(TestHost::default());
    let gate = host.gate("first");
    let source = bare("return await workflow('small', { items: ['first', 'second'] })");
    let running = Arc::clone(&host);
    let done = tokio::spawn(async move { play_with(&running, &source, RunInput::default()).await });
    while host.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(host.seen(), ["agent first"]);
    gate.add_permits(1);
    done.await.unwrap().unwrap();
    assert_eq!(host.seen(), ["agent first", "agent second"]);
}

#[tokio::test]
async fn stages_of_a_pipeline_do_not_wait_for_each_other() {
    let host = Arc::new(TestHost::default());
    let gate = host.gate("slow");
    let source = bare(
        "return await pipeline(['slow', 'fast'], (p, item) => agent(item), (p, item) => { log('second of ' + item); return item })",
    );
    let running = Arc::clone(&host);
    let done = tokio::spawn(async move { play_with(&running, &source, RunInput::default()).await });
    while !host.seen().contains(&"log second of fast".to_owned()) {
        tokio::task::yield_now().await;
    }
    assert!(!host.seen().contains(&"log second of slow".to_owned()));
    gate.add_permits(1);
    assert_eq!(done.await.unwrap().unwrap().report, r#"["slow","fast"]"#);
}

#[tokio::test]
async fn a_dry_run_starts_no_agent() {
    let body = "const r = await ctx.agents.run('a', { prompt: 'p', output: 'planned' }); return r.output + r.status";
    let (done, host) = play(&defined(body), json!({ "__dryRun": true })).await;
    assert_eq!(done.unwrap().report, "plannedcompleted");
    let (done, other) =
        play(&bare("return String(await agent('p'))"), json!({ "__dryRun": true })).await;
    assert_eq!(done.unwrap().report, "");
    assert!(host.seen().is_empty() && other.seen().is_empty());
}

#[tokio::test]
async fn keys_count_what_is_the_same_and_do_not_depend_on_who_was_first() {
    let source =
        bare("await Promise.all([agent('a'), agent('b'), agent('a'), agent('a', { model: 'm' })])");
    let (done, host) = play(&source, Value::Null).await;
    done.unwrap();
    let launches = host.launches.lock().unwrap();
    let keys: Vec<u32> = launches.iter().map(|launch| launch.key.occurrence).collect();
    assert_eq!(keys, [0, 0, 1, 0]);
    assert_eq!(launches[0].key.prompt_hash, crate::hash(b"a"));
    assert_eq!(launches[0].key.prompt_hash, launches[3].key.prompt_hash);
    assert_ne!(launches[0].key, launches[3].key);
}

#[tokio::test]
async fn what_was_kept_is_there_again() {
    let host = Arc::new(TestHost::default());
    let checkpoints = BTreeMap::from([("k".to_owned(), json!(7))]);
    let input = RunInput { checkpoints, ..RunInput::default() };
    let body = "ctx.checkpoint.save('k', 7); const k = ctx.checkpoint.read('k'); ctx.checkpoint.save('k', 8); return k + ctx.checkpoint.read('k')";
    let done = play_with(&host, &defined(body), input).await.unwrap();
    assert_eq!(done.report, "15");
    // What did not change is not written again.
    assert_eq!(host.seen(), ["checkpoint k 8"]);
}

#[test]
fn metadata_is_read_without_running_the_script() {
    let source = "// a comment\nworkflow.define({ name: 'n', description: 'd', hostApiVersion: 1, argumentsSchema: { type: 'object' },\n\
        phases: ['a', { title: 'b', detail: 'c' }], limits: { maxAgentsPerRun: 3 } }, async () => { throw new Error('ran') })";
    let script = Script::read(source).unwrap();
    assert_eq!((script.name.as_str(), script.description.as_deref()), ("n", Some("d")));
    assert_eq!(script.phases.len(), 2);
    assert_eq!(script.phases[1].detail.as_deref(), Some("c"));
    assert_eq!(Limits::default().lowered(script.limits.as_ref()).unwrap().max_agents_per_run, 3);
    assert!(script.check_arguments(&json!([])).is_err());
    let script = Script::read(&bare("throw new Error('ran')")).unwrap();
    assert_eq!(script.name, "test");
    // The second form may speak of the first one.
    assert!(Script::read(&bare("await agent('explain workflow.define(a, b)')")).is_ok());
}

#[test]
fn wrong_scripts_are_refused_with_kind_and_line() {
    use ErrorKind::{
        InvalidMetadata, LimitExceeded, MissingDefinition, ScriptExecution,
        UnsupportedHostApiVersion,
    };
    let long = format!("export const meta = {{ name: 'x' }};\n{}", " ".repeat(crate::MAX_SOURCE));
    for (source, kind, line) in [
        ("", MissingDefinition, None),
        ("return 1", MissingDefinition, None),
        ("const x = workflow.define;", MissingDefinition, None),
        (
            "workflow.define({ name: 'a' }, () => 1); workflow.define({ name: 'b' }, () => 1)",
            ScriptExecution,
            Some(1),
        ),
        ("workflow.define({ name: ' ' }, () => 1)", InvalidMetadata, None),
        ("workflow.define({ description: 'x' }, () => 1)", InvalidMetadata, None),
        ("workflow.define({ name: 'x', phases: 'a' }, () => 1)", InvalidMetadata, None),
        (
            "workflow.define({ name: 'x', limits: { maxReportBytes: -1 } }, () => 1)",
            InvalidMetadata,
            None,
        ),
        (
            "workflow.define({ name: 'x', argumentsSchema: { type: 1 } }, () => 1)",
            InvalidMetadata,
            None,
        ),
        (
            "workflow.define({ name: 'x', hostApiVersion: 2 }, () => 1)",
            UnsupportedHostApiVersion,
            None,
        ),
        ("\n\nworkflow.define({ name: 'x' }, 1)", ScriptExecution, Some(3)),
        ("\nworkflow.define({ name: 'x' }, () => {\n  let a = ;\n})", ScriptExecution, Some(3)),
        ("workflow.define; throw new Error('at the top')", ScriptExecution, Some(1)),
        ("export const meta = { name: 'x',\n y: z }\nreturn 1", InvalidMetadata, Some(2)),
        ("export const meta = { name: 7 }", InvalidMetadata, None),
        ("export const meta = [1]", InvalidMetadata, None),
        ("export const meta = { name: 'x' }\n\nreturn )", ScriptExecution, Some(3)),
        (long.as_str(), LimitExceeded, None),
    ] {
        let error = Script::read(source).expect_err(source);
        assert_eq!((error.kind, error.line), (kind, line), "{source}: {error}");
    }
}

#[tokio::test]
async fn a_script_that_throws_says_where() {
    let error = failure(&bare("await agent('p')\n\nthrow new TypeError('no')")).await;
    assert_eq!(error.to_string(), "ScriptExecution at line 4: TypeError: no");
    let error = failure(&defined("ctx.nothing.at()")).await;
    assert_eq!((error.kind, error.line), (ErrorKind::ScriptExecution, Some(2)));
    for body in [
        "throw null",
        "throw { get message() { throw 1 } }",
        "throw Symbol('x')",
        "throw new Proxy({}, { get() { throw 1 } })",
    ] {
        assert_eq!(failure(&bare(body)).await.kind, ErrorKind::ScriptExecution, "{body}");
    }
    let error = failure(&bare("await new Promise(() => {})")).await;
    assert!(error.message.contains("never happens"), "{error}");
}

#[tokio::test]
async fn there_is_no_way_to_the_outside() {
    for body in [
        "return eval('1')",
        "return new Function('return 1')()",
        "return (() => {}).constructor('return 1')()",
        "return (async () => {}).constructor('return 1')()",
        "return (function* () {}).constructor('return 1')().next()",
        "return (async function* () {}).constructor('return 1')()",
        "return Object.getPrototypeOf(Object.getPrototypeOf(async () => {})).constructor('return 1')()",
        "return agent.constructor('return 1')()",
        "return Reflect.construct(agent.constructor, ['return 1'])",
        "return await import('fs')",
        "return require('fs')",
        "return process.env",
        "return await fetch('http://127.0.0.1')",
        "return setTimeout(() => {}, 1)",
        "return std.open('x')",
        "return console.log('x')",
        "return new SharedArrayBuffer(8)",
        "return Atomics.wait",
        "return new WeakRef({})",
        "return new Proxy({}, {})",
        "return performance.now()",
        "return Date.now()",
        "return new Date()",
        "return Date()",
        "return new (new Date(0).constructor)()",
        "return new (class extends Date {})()",
        "return Math.random()",
    ] {
        let error = failure(&bare(body)).await;
        assert_eq!(error.kind, ErrorKind::ScriptExecution, "{body}: {error}");
    }
    assert_eq!(
        report(
            "return new Date(0).toISOString() + (new Date(5) instanceof Date) + Date.UTC(1970, 0)"
        )
        .await,
        "1970-01-01T00:00:00.000Ztrue0"
    );
    assert_eq!(
        report("return typeof eval + typeof Function + typeof globalThis.native").await,
        "undefinedundefinedundefined"
    );
}

#[tokio::test]
async fn what_never_waits_is_interrupted() {
    let bodies = [
        "while (true) {}",
        "const spin = () => { Promise.resolve().then(spin) }; spin(); await new Promise(() => {})",
        "try { for (;;) {} } catch { return 'caught' } finally { for (;;) {} }",
        "await agent('p'); /(a+)+$/.test('a'.repeat(60) + 'b')",
    ];
    let runs = bodies.map(|body| async move { (body, failure(&bare(body)).await) });
    for (body, error) in futures_util::future::join_all(runs).await {
        assert!(error.message.contains("without waiting"), "{body}: {error}");
    }
    let error = Script::read("workflow.define; while (true) {}").unwrap_err();
    assert!(error.message.contains("without waiting"), "{error}");
}

#[tokio::test]
async fn loops_inside_the_engine_are_short() {
    for body in [
        "return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
        "const a = []; a.length = 2 ** 32 - 1; return a.indexOf(1)",
        "const a = []; a.length = 2 ** 32 - 1; a.forEach(() => {})",
        "const a = []; a.length = 2 ** 32 - 1; return [].concat(a)",
        "const a = 'a'.repeat(1e7); return a.indexOf('a'.repeat(5e6) + 'b')",
        "return Array.from({ length: 2 ** 53 - 1 })",
    ] {
        let error = failure(&bare(body)).await;
        assert!(error.message.contains("RangeError"), "{body}: {error}");
    }
}

#[tokio::test]
async fn memory_and_stack_have_an_end() {
    for body in [
        "const a = []; for (;;) a.push('x'.repeat(1 << 20) + a.length)",
        "let s = 'x'; for (;;) s += s",
        "const chain = () => Promise.resolve().then(chain); await chain()",
        "return new ArrayBuffer(1 << 30)",
        "const f = () => f() + 1; return f()",
        "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o",
        "return JSON.parse('['.repeat(1e6))",
        "const m = {}; m.toJSON = () => ({ m }); return m",
    ] {
        let error = failure(&bare(body)).await;
        assert_eq!(error.kind, ErrorKind::ScriptExecution, "{body}: {error}");
    }
}

#[tokio::test]
async fn strange_values_do_not_disturb_the_host() {
    for (body, expected) in [
        // Prototypes that are not what they were.
        (
            "JSON.stringify = () => 'x'; JSON.parse = () => 'y'; return await agent('p')",
            "answer to p",
        ),
        (
            "Object.prototype.prompt = 'polluted'; Object.prototype.model = 'evil'; return await agent('p')",
            "answer to p",
        ),
        (
            "Array.prototype.push = () => { throw 1 }; Array.prototype.map = null; return await parallel([() => agent('p')])",
            r#"["answer to p"]"#,
        ),
        ("String.prototype.trim = () => ''; return await agent('p')", "answer to p"),
        ("Object.freeze = Object.defineProperty = null; return await agent('p')", "answer to p"),
        // Getters and toJSON are the script's own work.
        (
            "const o = { get label() { return 'l' }, get schema() { return undefined } }; return await agent('p', o)",
            "answer to p",
        ),
        (
            "return await agent('p', { schema: { toJSON: () => ({ type: 'object' }) } })",
            r#"{"ok":true}"#,
        ),
        ("return { toJSON: () => 'shown' }", "\"shown\""),
        // Thenables.
        ("return { then(resolve) { resolve('thenable') } }", "thenable"),
        ("return await parallel([() => ({ then(ok) { ok(1) } })])", "[1]"),
        // Halves of characters.
        ("return await agent('\\ud800')", "answer to \u{fffd}"),
    ] {
        assert_eq!(report(body).await, expected, "{body}");
    }
    for body in [
        "await agent('')",
        "await agent(7)",
        "await agent('p', 7)",
        "await agent('p', { isolation: 'container' })",
        "await agent('p', { timeoutSeconds: -1 })",
        "await agent('p', { schema: () => 1 })",
        "await agent('p', { get label() { throw new Error('mine') } })",
        "await parallel('x')",
        "await parallel([1])",
        "await pipeline(1)",
        "phase('')",
        "const c = {}; c.c = c; await agent('p', { schema: c })",
    ] {
        assert_eq!(failure(&bare(body)).await.kind, ErrorKind::ScriptExecution, "{body}");
    }
}

#[tokio::test]
async fn a_limit_ends_the_run_whatever_the_script_catches() {
    let limits = Limits {
        max_agents_per_run: 3,
        report_bytes: 10,
        checkpoint_bytes: 10,
        ..Limits::default()
    };
    for source in [
        bare("for (let i = 0; i < 10; i++) { try { await agent('p' + i) } catch {} } return 'x'"),
        bare("return await parallel(Array.from({ length: 10 }, (_, i) => () => agent('p' + i)))"),
        bare(
            "await workflow('inner', { n: 1 }); await agent('1'); await agent('2'); await workflow('inner', { n: 1 })",
        ),
        bare("return 'x'.repeat(11)"),
        bare("for (let i = 0; ; i++) { try { log('x') } catch {} }"),
        bare("for (let i = 0; ; i++) phase('x')"),
        bare("await agent('x'.repeat(2 << 20))"),
        defined("try { ctx.checkpoint.save('k', 'x'.repeat(10)) } catch {} return 'y'"),
    ] {
        let host = Arc::new(TestHost::default());
        let input = RunInput { limits, ..RunInput::default() };
        let error = play_with(&host, &source, input).await.expect_err(&source);
        assert_eq!(error.kind, ErrorKind::LimitExceeded, "{source}: {error}");
        assert!(host.launches.lock().unwrap().len() <= 3);
    }
    let error = failure(&bare("try { await agent('STORE') } catch {} return 1")).await;
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Store, "the disk is full"));
}

#[tokio::test]
async fn a_thousand_agents_are_started_and_answered() {
    let source = bare(
        "const all = await parallel(Array.from({ length: 1000 }, (_, i) => () => agent('p' + i))); return new Set(all).size",
    );
    let (done, host) = play(&source, Value::Null).await;
    assert_eq!(done.unwrap().report, "1000");
    assert_eq!(host.launches.lock().unwrap().len(), 1000);
}

#[tokio::test]
async fn who_drops_the_run_ends_the_script() {
    let host = Arc::new(TestHost::default());
    let source = bare(
        "try { await agent('HANG') } catch (e) { log(e.message) } try { await agent('later') } catch {} for (;;) {}",
    );
    {
        let running = Arc::clone(&host);
        let mut run = Box::pin(play_with(&running, &source, RunInput::default()));
        while host.seen().is_empty() {
            tokio::select! {
                _ = &mut run => panic!("it ended"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    // What it does from now on reaches nothing; its thread lets go of the host.
    while Arc::strong_count(&host) > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(host.seen(), ["agent HANG"]);
}

#[tokio::test]
async fn what_is_not_waited_for_does_not_hold_the_end_up() {
    let (done, host) = play(&bare("agent('HANG'); return 'over'"), Value::Null).await;
    assert_eq!(done.unwrap().report, "over");
    assert_eq!(host.seen(), ["agent HANG"]);
}
