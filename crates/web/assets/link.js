// The socket: JSON-RPC over a WebSocket, the viewer that is opened on it, and its return after a loss.
// It applies frames to the mirror and says what happened; it knows no element.

import { Mirror } from "./mirror.js";

const VIEW = "rookery/view/";
const RETRIES = [20, 1000];
/** Characters that are remembered of what may not have arrived. */
const MOST_TEXT = 4096;

/** The codes of calls that the daemon did not answer: what it never had, and what it may have done. */
export const NOT_SENT = 0;
export const NO_ANSWER = 1;
/** Close codes: the device is not known any more, and it did what it has no rights to. */
const REVOKED = 4401;
const BEYOND_RIGHTS = 4403;

/** A refusal of the daemon, or one of these codes. */
export class LinkError extends Error {
  constructor(code, message, data) {
    super(message);
    this.name = "LinkError";
    Object.assign(this, { code, data });
  }
}

/** Input that was sent: its numbers, and what of it the kernel has not accepted yet. */
export class Inputs {
  constructor() {
    this.last = 0;
    this.waiting = [];
    this.chars = 0;
  }

  number(text) {
    this.last += 1;
    const kept = this.chars + text.length <= MOST_TEXT ? text.slice(0, 64) : "";
    this.chars += kept.length;
    this.waiting.push([this.last, kept, text !== ""]);
    return this.last;
  }

  accepted(n) {
    let count = 0;
    while (count < this.waiting.length && this.waiting[count][0] <= n) {
      this.chars -= this.waiting[count][1].length;
      count += 1;
    }
    this.waiting.splice(0, count);
  }

  /** How many may not have arrived, and what they type. */
  lose() {
    return { unsent: this.waiting.filter(([, , isTyped]) => isTyped).length, text: this.waiting.map(([, text]) => text).join("") };
  }
}

/**
 * One viewer. `handlers`: `params()` → params of `open`; `opened(result)`, `changed(frame, changed)`,
 * `lost({bye, code, unsent, text, unanswered})` with the methods that no answer came to, `refused(error)`, `entry()` → Promise of `"in"`, `"out"`,
 * `"unsure"` or `"away"`: whether this device is known.
 */
export class Link {
  constructor(handlers) {
    this.handlers = handlers;
    this.mirror = new Mirror();
    this.inputs = new Inputs();
    this.isOpen = false;
    this.isWanted = false;
    this.pause = RETRIES[0];
    this.calls = new Map();
    this.lastCall = 0;
    this.socket = null;
    this.timer = 0;
    this.bye = null;
    this.doubts = 0;
  }

  /** Connects, and comes back again and again until `leave`. */
  enter() {
    this.isWanted = true;
    this.connect();
  }

  /** Ends the viewer. */
  leave() {
    this.isWanted = false;
    clearTimeout(this.timer);
    const socket = this.socket;
    if (socket) this.end(socket, { code: 1000 });
    socket?.close(1000);
  }

  /** Tries at once instead of later. */
  hurry() {
    if (!this.isWanted || this.socket) return;
    clearTimeout(this.timer);
    this.pause = RETRIES[0];
    this.connect();
  }

  connect() {
    clearTimeout(this.timer);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/link`, "rookery.link.v1");
    this.socket = socket;
    this.bye = null;
    socket.addEventListener("open", () => this.open(socket));
    socket.addEventListener("message", (event) => this.take(socket, event.data));
    socket.addEventListener("close", (event) => this.end(socket, event));
  }

  async open(socket) {
    try {
      const params = { versions: [1], face: "web", ...this.handlers.params() };
      const opened = await this.request(socket, `${VIEW}open`, params);
      if (socket !== this.socket) return;
      this.mirror = new Mirror(opened);
      this.inputs = new Inputs();
      this.isOpen = true;
      this.pause = RETRIES[0];
      this.handlers.opened(opened);
    } catch (error) {
      if (socket !== this.socket || isUnanswered(error)) return;
      this.isWanted = false;
      this.handlers.refused(error);
      socket.close(1000);
    }
  }

  take(socket, data) {
    if (socket !== this.socket) return;
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      // The mirror notices that a frame is missing.
      return;
    }
    if (message.method === `${VIEW}frame`) this.frame(message.params ?? {});
    else if (message.id !== undefined) this.answer(message);
  }

  frame(frame) {
    let changed;
    try {
      changed = this.mirror.apply(frame);
    } catch {
      changed = { n: frame.n ?? null, scene: null, terms: [], input: null, resync: { terms: [] } };
      this.mirror.n = frame.n ?? this.mirror.n;
      this.mirror.loseAll(changed.resync);
    }
    if (changed.n === null) return;
    if (changed.input !== null) this.inputs.accepted(changed.input);
    if (frame.bye) this.bye = frame.bye;
    if (changed.resync.scene || changed.resync.terms.length > 0) this.notify(`${VIEW}resync`, changed.resync);
    this.handlers.changed(frame, changed);
  }

  /** Everything up to this frame is painted. */
  painted(n) {
    this.notify(`${VIEW}ack`, { n });
  }

  answer({ id, result, error }) {
    const call = this.calls.get(id);
    this.calls.delete(id);
    if (!call) return;
    if (error) call.reject(new LinkError(error.code, error.message, error.data));
    else call.resolve(result);
  }

  async end(socket, { code }) {
    if (socket !== this.socket) return;
    this.socket = null;
    const wasOpen = this.isOpen;
    this.isOpen = false;
    // Each was sent. Whether it came, and what came of it, is not known; none is ever sent again.
    const unanswered = [...this.calls.values()].map((call) => call.method);
    for (const call of this.calls.values()) call.reject(new LinkError(NO_ANSWER, "no answer came: the connection broke"));
    this.calls.clear();
    if (!this.isWanted) return;
    const lost = wasOpen ? this.inputs.lose() : { unsent: 0, text: "" };
    this.inputs = new Inputs();
    // Two pages that take each other's place would do so for ever.
    const isReplaced = code === 4409;
    if (isReplaced) this.isWanted = false;
    this.handlers.lost({ bye: isReplaced ? "replaced" : this.bye, code, wasOpen, unanswered, ...lost });
    if (isReplaced) return;
    if (code === BEYOND_RIGHTS) {
      this.isWanted = false;
      this.handlers.refused(new LinkError(BEYOND_RIGHTS, "This device has no rights to what the page did."));
      return;
    }
    // A page cannot see why a WebSocket was refused, so it asks. Where nothing can be told, one that failed may
    // have met a daemon that was only starting, and two did not.
    const entry = wasOpen ? "in" : await this.handlers.entry();
    this.doubts = entry === "unsure" ? this.doubts + 1 : 0;
    if (code === REVOKED || entry === "out" || this.doubts > 1) {
      this.isWanted = false;
      this.handlers.refused(new LinkError(REVOKED, "this device is not known"));
      return;
    }
    if (!this.isWanted || this.socket) return;
    this.timer = setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(this.pause * 2, RETRIES[1]);
  }

  request(socket, method, params) {
    this.lastCall += 1;
    const id = this.lastCall;
    return new Promise((resolve, reject) => {
      this.calls.set(id, { method, resolve, reject });
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** Calls a method and waits for its answer. */
  call(method, params = {}) {
    if (!this.isOpen || this.socket.readyState !== WebSocket.OPEN) return Promise.reject(away());
    return this.request(this.socket, method, params);
  }

  /** Sends something to which there is no answer; false while the daemon is away. */
  notify(method, params = {}) {
    if (!this.isOpen || this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
    return true;
  }

  /** Sends numbered input; `text` is what it types. False while the daemon is away. */
  input(method, params, text = "") {
    if (!this.isOpen || this.socket.readyState !== WebSocket.OPEN) return false;
    return this.notify(`${VIEW}${method}`, { n: this.inputs.number(text), ...params });
  }
}

function away() {
  return new LinkError(NOT_SENT, "not sent: the daemon is away");
}

/** Whether the daemon said nothing to a call, and the page cannot know what became of it. */
export function isUnanswered(error) {
  return error?.code === NOT_SENT || error?.code === NO_ANSWER;
}
