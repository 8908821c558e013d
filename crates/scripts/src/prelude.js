// What a workflow script finds when it begins. Evaluated before the script, in the same context.
//
// Only texts and numbers cross to the host: every value is written as JSON here, with functions that were
// taken before the script could replace them, from objects without a prototype. What a script does to prototypes it does to itself alone.
(function (native, setup) {
  "use strict";

  const { stringify, parse } = JSON;
  const { freeze, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, create, keys } = Object;
  const { isArray } = Array;
  const { apply, construct } = Reflect;
  const PromiseOf = Promise;
  const push = (list, item) => { defineProperty(list, list.length, { value: item, writable: true, enumerable: true, configurable: true }); };
  const trim = String.prototype.trim;
  const wellFormed = String.prototype.toWellFormed;
  const owns = Object.prototype.hasOwnProperty;
  const has = (object, key) => apply(owns, object, [key]);

  // --- What is taken away -------------------------------------------------------------------------

  for (const sample of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    defineProperty(getPrototypeOf(sample), "constructor", { value: undefined, writable: false, configurable: false });
  }
  for (const name of ["eval", "Function", "Atomics", "SharedArrayBuffer", "WeakRef", "FinalizationRegistry", "performance"]) {
    delete globalThis[name];
  }

  const refuse = (what) => { throw new Error(what + " is not available in a workflow: a run must be repeatable"); };
  const RealDate = Date;
  function DateOf(...given) {
    if (new.target === undefined || given.length === 0) refuse("the current time");
    return construct(RealDate, given, new.target === DateOf ? RealDate : new.target);
  }
  DateOf.prototype = RealDate.prototype;
  DateOf.parse = RealDate.parse;
  DateOf.UTC = RealDate.UTC;
  DateOf.now = () => refuse("the current time");
  defineProperty(DateOf, "name", { value: "Date" });
  defineProperty(RealDate.prototype, "constructor", { value: DateOf, writable: true, configurable: true });
  defineProperty(globalThis, "Date", { value: DateOf, writable: true, configurable: true });
  Math.random = () => refuse("randomness");

  // Loops inside the engine are not interrupted, so that none may be long, and the clock is looked at before each.
  const tick = native.tick ?? (() => {});
  const MOST_ITEMS = 0x1000000;
  const MOST_COMPARED = 0x200000000;
  const bound = (owner, name, check) => {
    const real = owner[name];
    if (typeof real !== "function") return;
    const held = { [name](...given) { tick(); check(this, given); return apply(real, this, given); } }[name];
    defineProperty(owner, name, { value: held, writable: true, configurable: true });
  };
  // What computes its length could say another one to the engine; there are no proxies, so that lists are honest.
  const short = (list) => {
    if (list === null || (typeof list !== "object" && typeof list !== "function")) return;
    if (!isArray(list)) {
      const own = getOwnPropertyDescriptor(list, "length");
      const isPlain = own === undefined ? !("length" in list) : has(own, "value") && typeof own.value === "number";
      if (!isPlain) throw new TypeError("the length of a list must be a plain number");
    }
    if (list.length > MOST_ITEMS) throw new RangeError("the list is too long");
  };
  for (const name of ["concat", "copyWithin", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex", "flat", "flatMap",
    "forEach", "includes", "indexOf", "join", "lastIndexOf", "map", "pop", "push", "reduce", "reduceRight", "reverse", "shift", "slice", "some",
    "sort", "splice", "toLocaleString", "toReversed", "toSorted", "toSpliced", "toString", "unshift", "with"]) {
    bound(Array.prototype, name, (list, given) => {
      short(list);
      if (name === "concat" || name === "flat") for (let at = 0; at < given.length; at++) short(given[at]);
    });
  }
  bound(Array, "from", (_, given) => short(given[0]));
  const typed = getPrototypeOf(Int8Array.prototype);
  for (const name of ["copyWithin", "fill", "includes", "indexOf", "join", "lastIndexOf", "reverse", "set", "slice", "sort", "toReversed", "toSorted"]) {
    bound(typed, name, () => {});
  }
  String.raw = (strings, ...values) => {
    const parts = strings.raw;
    const count = parts.length;
    let whole = "";
    for (let at = 0; at < count; at++) whole += parts[at] + (at + 1 < count && at < values.length ? values[at] : "");
    return whole;
  };
  for (const name of ["includes", "indexOf", "lastIndexOf", "localeCompare", "replace", "replaceAll", "search", "split", "startsWith", "endsWith"]) {
    bound(String.prototype, name, (text, given) => {
      const [one, other] = [typeof text === "string" ? text.length : 0, typeof given[0] === "string" ? given[0].length : 0];
      if (one * other > MOST_COMPARED) throw new RangeError("the texts are too long to be compared");
    });
  }

  // --- Calls of the host --------------------------------------------------------------------------

  // Where in the script something is asked: the slots and stages around it. Only while they begin: what comes
  // after an `await` of theirs is nowhere in particular.
  const root = setup.path ?? "";
  let path = root;
  const within = (base, part, work) => {
    const before = path;
    path = base === "" ? part : base + "/" + part;
    try { return work(); } finally { path = before; }
  };
  const pending = create(null);
  const ask = (kind, body) => new PromiseOf((resolve, reject) => {
    body.path = path;
    const id = native.call(kind, stringify(body));
    pending[id] = { resolve, reject };
  });
  const settle = (id, succeeded, text) => {
    const waiting = pending[id];
    if (waiting === undefined) return;
    delete pending[id];
    // As a text: an object could be given a `then` by its prototype.
    if (succeeded) waiting.resolve(text); else waiting.reject(new Error(text));
  };

  const text = (value, what) => {
    if (typeof value !== "string" || apply(trim, value, []) === "") throw new TypeError(what + " must be a text that is not blank");
    return apply(wellFormed, value, []);
  };
  const optional = (value, what) => (value === undefined || value === null ? undefined : text(value, what));
  const json = (value, what) => {
    if (value === undefined || value === null) return undefined;
    const written = stringify(value);
    if (written === undefined) throw new TypeError(what + " must be JSON");
    return parse(written);
  };
  const seconds = (value, what) => {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "number" || !(value > 0)) throw new TypeError(what + " must be a positive number");
    return value;
  };
  const members = (value, what) => {
    if (value === undefined || value === null) return {};
    if (typeof value !== "object") throw new TypeError(what + " must be an object");
    return value;
  };
  const log = (message) => {
    const line = typeof message === "string" ? message : stringify(message) ?? String(message);
    native.log(apply(wellFormed, line, []));
  };
  const reason = (error) => {
    try {
      if (error === null) return "null was thrown, which the engine does when the memory is used up";
      if (error instanceof Error) return String(error.name) + ": " + String(error.message);
      return typeof error === "object" ? stringify(error) ?? "an object" : String(error);
    } catch { return "a value that cannot be shown"; }
  };
  const dry = setup.dryRun;

  // --- Form A: workflow.define(metadata, handler) --------------------------------------------------

  let definition;
  const define = (metadata, handler) => {
    if (definition !== undefined) throw new Error("workflow.define must be called once");
    if (metadata === null || typeof metadata !== "object") throw new TypeError("the metadata must be an object");
    if (typeof handler !== "function") throw new TypeError("the handler must be a function");
    definition = { metadata: stringify(metadata), handler };
  };

  const contextOf = () => {
    const launched = [];
    let report;
    const start = (role, given, input) => {
      const d = members(given, "the descriptor");
      const name = text(role, "the role");
      const lane = optional(d.lane, "lane") ?? name;
      const prompt = text(d.prompt, "prompt");
      const record = { agentId: null, role: name, lane, input: input ?? null, prompt, output: null, status: "running" };
      const body = {
        __proto__: null, role: name, lane, prompt, description: optional(d.description, "description"), model: optional(d.model, "model"),
        timeoutSeconds: seconds(d.timeoutSeconds, "timeoutSeconds"), schema: json(d.schema, "schema"),
      };
      const planned = dry ? { agentId: "dry-run", status: "completed", output: json(d.output, "output") ?? null } : undefined;
      const at = launched.length;
      push(launched, record);
      const done = (answer) => {
        const result = { agentId: answer.agentId, role: name, lane, input: record.input, prompt, output: answer.output ?? null, status: answer.status };
        for (const key of ["error", "usage", "structured"]) if (has(answer, key) && answer[key] !== null) result[key] = answer[key];
        launched[at] = freeze(result);
        return launched[at];
      };
      if (planned !== undefined) return (async () => done(planned))();
      const answer = ask("agent", body);
      return (async () => done(parse(await answer)))();
    };
    const run = (role, d) => start(role, d, members(d, "the descriptor").input);
    const map = (role, items, mapper) => {
      if (!isArray(items)) throw new TypeError("items must be a list");
      if (typeof mapper !== "function") throw new TypeError("the mapper must be a function");
      const started = [];
      for (let at = 0; at < items.length; at++) push(started, start(role, mapper(items[at], at), items[at]));
      return all(started);
    };
    const reduce = async (role, items, mapper, reducer, initial) => {
      if (typeof reducer !== "function") throw new TypeError("the reducer must be a function");
      const results = await map(role, items, mapper);
      let value = initial;
      for (let at = 0; at < results.length; at++) value = await reducer(value, results[at], at);
      return value;
    };
    const vote = (items, selector) => {
      if (!isArray(items)) throw new TypeError("items must be a list");
      const counts = create(null);
      let winner = null, most = 0;
      for (let at = 0; at < items.length; at++) {
        const item = items[at];
        const chosen = selector === undefined ? (item !== null && typeof item === "object" && has(item, "output") ? item.output : item) : selector(item, at);
        const key = typeof chosen === "string" ? chosen : stringify(chosen) ?? "null";
        counts[key] = (counts[key] ?? 0) + 1;
        if (counts[key] > most) { most = counts[key]; winner = chosen; }
      }
      const plain = {};
      for (const key of keys(counts)) defineProperty(plain, key, { value: counts[key], enumerable: true });
      return freeze({ winner: winner ?? null, counts: freeze(plain) });
    };
    const line = (item) => {
      if (typeof item === "string") return item;
      if (item !== null && typeof item === "object" && typeof item.output === "string") return item.output;
      return stringify(item) ?? "";
    };
    const markdown = (given) => {
      let lines = given;
      if (isArray(given)) {
        lines = "";
        for (let at = 0; at < given.length; at++) lines += (at === 0 ? "" : "\n") + line(given[at]);
      }
      if (typeof lines !== "string") throw new TypeError("the report must be a text or a list");
      report = lines;
      return lines;
    };
    const save = (key, value) => {
      const written = stringify(value);
      if (written === undefined) throw new TypeError("a checkpoint must be JSON");
      native.save(text(key, "key"), written);
    };
    const read = (key) => parse(native.read(text(key, "key")));
    const signal = freeze({ get aborted() { return native.aborted(); } });
    const ctx = freeze({
      run: freeze({ id: setup.runId, arguments: setup.args }),
      phase: freeze({ start(name) { native.phase(text(name, "the phase")); } }),
      agents: freeze({ run, map, reduce }),
      results: freeze({ all() { const list = []; for (let at = 0; at < launched.length; at++) push(list, freeze({ ...launched[at] })); return list; }, vote }),
      checkpoint: freeze({ save, read }),
      report: freeze({ markdown }),
      log,
      limits: freeze({ ...setup.limits }),
      abortSignal: signal,
    });
    return { ctx, report: () => report };
  };

  // All of them, in order; the first failure is that of the whole.
  const all = async (started) => {
    const results = [];
    for (let at = 0; at < started.length; at++) started[at].catch(() => {});
    for (let at = 0; at < started.length; at++) push(results, await started[at]);
    return results;
  };

  // --- Form B: bare globals -----------------------------------------------------------------------

  const agent = (prompt, options) => {
    const o = members(options, "the options");
    const isolation = optional(o.isolation, "isolation");
    if (isolation !== undefined && isolation !== "worktree") throw new TypeError('isolation must be "worktree"');
    const schema = json(o.schema, "schema");
    const body = {
      __proto__: null, prompt: text(prompt, "the prompt"), label: optional(o.label, "label"), phase: optional(o.phase, "phase"), schema,
      model: optional(o.model, "model"), agentType: optional(o.agentType, "agentType"), lane: optional(o.lane, "lane"),
      timeoutSeconds: seconds(o.timeoutSeconds, "timeoutSeconds"), isolation,
    };
    if (dry) return (async () => (schema === undefined ? "" : null))();
    const asked = ask("agent", body);
    return (async () => {
      const answer = parse(await asked);
      if (answer.status !== "completed") return null;
      return schema === undefined ? answer.output ?? "" : answer.structured ?? null;
    })();
  };
  const slot = async (work, where) => {
    try { return await work(); } catch (error) { log(where + " failed: " + reason(error)); return null; }
  };
  const parallel = async (thunks) => {
    if (!isArray(thunks)) throw new TypeError("parallel takes a list of functions");
    const started = [];
    for (let at = 0; at < thunks.length; at++) {
      const thunk = thunks[at];
      if (typeof thunk !== "function") throw new TypeError("parallel takes a list of functions");
      push(started, slot(() => within(path, "slot " + at, thunk), "parallel, slot " + at));
    }
    return all(started);
  };
  const pipeline = async (items, ...stages) => {
    if (!isArray(items)) throw new TypeError("pipeline takes a list of items");
    for (const stage of stages) if (typeof stage !== "function") throw new TypeError("each stage of a pipeline is a function");
    const base = path;
    const through = (item, index) => slot(async () => {
      let previous = item;
      for (let at = 0; at < stages.length && previous !== null; at++) {
        previous = await within(base, "item " + index + " stage " + at, () => stages[at](previous, item, index));
      }
      return previous;
    }, "pipeline, item " + index);
    const started = [];
    for (let at = 0; at < items.length; at++) push(started, through(items[at], at));
    const results = await all(started);
    const left = [];
    for (let at = 0; at < results.length; at++) if (results[at] !== null) push(left, results[at]);
    return left;
  };
  const nested = (name, args) => {
    if (setup.isNested) throw new Error("a workflow that was started by another starts none itself");
    const asked = ask("workflow", { __proto__: null, name: text(name, "the name"), args: json(args, "the arguments") ?? null });
    return (async () => parse(await asked))();
  };

  const expose = (name, value) => defineProperty(globalThis, name, { value, writable: true, configurable: true });
  if (setup.form === "defined") {
    expose("workflow", freeze({ define }));
  } else {
    for (const one of [agent, parallel, pipeline, log]) expose(one.name, one);
    expose("phase", (title) => { native.phase(text(title, "the phase")); });
    expose("args", setup.args);
    expose("workflow", nested);
  }

  // --- The beginning and the end ------------------------------------------------------------------

  const finish = (value, report) => {
    const shown = value === undefined || value === null ? report ?? "" : typeof value === "string" ? value : stringify(value) ?? "";
    const kept = { __proto__: null, report: shown };
    if (setup.isNested) kept.value = value === undefined ? report ?? null : value;
    native.finish(true, stringify(kept));
  };
  const fail = (error) => {
    let stack = "";
    try { stack = error instanceof Error ? String(error.stack) : ""; } catch { stack = ""; }
    native.finish(false, stringify({ __proto__: null, message: apply(wellFormed, reason(error), []), stack: apply(wellFormed, stack, []) }));
  };
  const begin = async (work) => {
    try {
      if (setup.form === "defined") {
        const { ctx, report } = contextOf();
        const value = await definition.handler(ctx);
        finish(value, report());
      } else {
        finish(await work(), undefined);
      }
    } catch (error) { fail(error); }
  };

  return freeze({ settle, begin, metadata: () => (definition === undefined ? undefined : definition.metadata) });
})
