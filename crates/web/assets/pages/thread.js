// A thread: what was said and done, what is being written, and the composer below. A request of it is
// shown in its place, and takes keys only after Tab or a click went to it.

import { button, clear, h } from "../dom.js";
import { CardView } from "./card.js";
import { Composer } from "./composer.js";
import { NO_ANSWER } from "../link.js";
import { attempt, failure, plain, presses, words } from "./shown.js";
import { ItemView } from "./thread_items.js";

/** Items that are asked for at once. */
const FIRST = 200;
const OLDER = 100;
/** Within this time a second Esc stops the turn. */
const TWICE_MS = 1500;
/** How far from the end still counts as there. */
const NEAR = 48;

const MODES = [
  ["default", "asks first"],
  ["accept_all", "accepts edits"],
  ["plan", "plans only"],
  ["bypass", "never asks"],
];
const MOODS = { idle: "quiet", working: "working", waiting: "waiting", failed: "failed" };

export function create(app, element) {
  return new Thread(app, element);
}

class Thread {
  #app;
  #thread = null;
  #asked = 0;
  #head = {};
  #items = new Map();
  #more = false;
  #loadingOlder = false;
  #models = null;
  #commands = null;
  #escapedAt = 0;
  #isShown = false;
  #request = null;
  #endMark;

  constructor(app, element) {
    this.#app = app;
    this.title = h("h1", {});
    this.status = h("span", { class: "thread-status" });
    this.facts = h("span", { class: "dim thread-facts" });
    this.model = h("select", {
      class: "field",
      aria: { label: "Model" },
      on: {
        change: () => void this.#set({ model: this.model.value }),
        focus: () => void this.#loadModels(),
        pointerdown: () => void this.#loadModels(),
      },
    });
    this.mode = h(
      "select",
      { class: "field", aria: { label: "Mode" }, on: { change: () => void this.#setMode() } },
      ...MODES.map(([word, about]) => h("option", { value: word }, `${words(word)} – ${about}`)),
    );
    this.menu = h(
      "details",
      { class: "menu" },
      h("summary", { class: "button", aria: { label: "More about this thread" } }, "⋯"),
      h(
        "div",
        { class: "menu-body" },
        button("Rename…", () => void this.#rename()),
        button("Fork", () => void this.#fork()),
        button("Archive", () => void this.#archive()),
      ),
    );
    this.head = h("div", { class: "page-head thread-head" }, this.title, this.status, this.facts, h("span", { class: "spring" }), this.mode, this.model, this.menu);
    this.plan = h("details", { class: "thread-plan" });
    this.older = button("Older items", () => void this.#loadOlder(), { class: "button older" });
    this.items = h("div", { class: "items" });
    // What was written to a running turn, until the turn takes it up.
    this.pending = h("div", { class: "items" });
    this.rest = h("div", { class: "item-card" });
    this.#endMark = h("div", { class: "thread-end" });
    this.log = h(
      "div",
      {
        id: "thread",
        class: "thread",
        role: "log",
        tabIndex: 0,
        aria: { label: "Conversation", live: "off" },
        on: { scroll: () => this.#scrolled() },
      },
      this.older,
      this.items,
      this.pending,
      this.rest,
      this.#endMark,
    );
    this.jump = button("Jump to newest", () => this.#toEnd(), { id: "jump", class: "button jump" });
    this.jump.hidden = true;
    this.composer = new Composer(app, {
      id: "composer",
      list: "slash",
      label: "Message",
      placeholder: "Message…",
      send: (message) => this.#send(message),
      escape: (event) => this.#escape(event),
      tab: () => this.#toRequest(),
      changed: () => this.#drawButtons(),
      commands: () => this.#loadCommands(),
    });
    this.send = button("Send", () => void this.composer.send(), { id: "send", class: "button primary" });
    this.stop = button("Stop", () => void this.#stop(), { id: "stop", class: "button danger" });
    this.composer.element.querySelector(".composer-row").append(this.stop, this.send);
    this.hint = h("p", { class: "page-hint hint" });
    this.card = new CardView(app, {});
    this.root = h("div", { class: "thread-page" }, this.head, this.plan, this.log, h("div", { class: "thread-foot" }, this.jump, this.composer.element, this.hint));
    element.append(this.root);
    document.addEventListener("pointerdown", (event) => {
      if (!this.menu.contains(event.target)) this.menu.open = false;
    });
    app.on("threads", (news) => this.#news(news));
    app.on("open", () => {
      if (this.#isShown) void this.#load();
    });
    new ResizeObserver(() => this.#keepEnd()).observe(this.log);
  }

  show(place) {
    const isNew = place.thread !== this.#thread || !this.#isShown;
    this.#isShown = true;
    if (!isNew) return;
    if (place.thread !== this.#thread) this.#begin(place.thread);
    void this.#load();
    if (!this.#app.isPhone()) this.composer.focus();
  }

  hide() {
    this.#isShown = false;
    this.#asked += 1;
    // Its ids are those of whichever card is shown.
    this.card.element.remove();
    this.#request = null;
  }

  update() {}

  #begin(thread) {
    this.#thread = thread;
    this.#head = {};
    this.#items.clear();
    this.#commands = null;
    this.#request = null;
    this.card.clear();
    clear(this.items);
    clear(this.pending);
    this.older.hidden = true;
    this.composer.begin(`thread:${thread}`);
    this.#drawHead();
  }

  async #load() {
    const asked = ++this.#asked;
    const shown = await attempt(this.#app, "rookery/view/thread/open", { thread: this.#thread, limit: FIRST });
    if (asked !== this.#asked || !shown) return;
    this.#more = shown.more;
    this.older.hidden = !shown.more;
    const { items, more, ...head } = shown;
    this.#head = head;
    // An item that is known keeps its element, and what was opened of it.
    const known = new Set(items.map((item) => item.id));
    for (const [id, view] of this.#items) {
      if (known.has(id)) continue;
      view.element.remove();
      this.#items.delete(id);
    }
    for (const item of items) this.#put(item);
    for (const item of items) this.items.append(this.#items.get(item.id).element);
    this.#drawHead();
    this.#placeCard();
    this.#toEnd();
  }

  #put(item) {
    const known = this.#items.get(item.id);
    if (known) {
      known.set(item);
      return known;
    }
    const view = new ItemView(this.#app, item, (item, from) => this.#allOf(item, from));
    this.#items.set(item.id, view);
    this.items.append(view.element);
    return view;
  }

  #news(news) {
    if (news.thread !== this.#thread || !this.#isShown) return;
    const wasAtEnd = this.#isAtEnd();
    if (news.head) {
      this.#head = news.head;
      this.#drawHead();
    }
    if (news.whole?.kind === "user" && !this.#items.has(news.whole.id)) this.pending.firstElementChild?.remove();
    if (news.whole) this.#put(news.whole);
    else if (news.item) {
      const view = this.#items.get(news.item) ?? this.#put({ id: news.item, kind: "agent", status: "working", blocks: [] });
      view.grow(news.from ?? 0, news.blocks ?? []);
    }
    this.#placeCard();
    if (wasAtEnd) this.#toEnd();
    else this.#drawJump();
  }

  // ---- the head

  #drawHead() {
    const head = this.#head;
    this.title.textContent = plain(head.title) || "Thread";
    clear(this.status);
    if (head.status) this.status.append(this.#app.mood(MOODS[head.status] ?? "quiet"), ` ${words(head.status)}`);
    if (head.turn?.at) {
      const since = h("time", { class: "dim" });
      this.#app.ages(since, head.turn.at);
      this.status.append(" ", since);
    }
    this.facts.textContent = head.usage?.total ? `${head.usage.total.toLocaleString("en-US")} tokens` : "";
    const mayWrite = this.#app.rights !== "look";
    const maySet = this.#app.rights === "full";
    this.mode.value = MODES.some(([word]) => word === head.mode) ? head.mode : "default";
    this.mode.disabled = this.model.disabled = !maySet;
    this.menu.hidden = !maySet;
    this.#drawModels();
    this.composer.field.disabled = !mayWrite;
    this.composer.attach.hidden = !mayWrite;
    if (!this.#isRunning()) clear(this.pending);
    this.#drawPlan();
    this.#drawButtons();
    this.hint.textContent = this.#hint();
  }

  #hint() {
    if (this.#app.rights === "look") return "this device is read-only";
    const waits = this.#head.waiting?.length ? `${this.#head.waiting.length} wait${this.#head.waiting.length === 1 ? "s" : ""}: tab, then ${this.card.card?.questions?.length ? "1-9 choose" : "a approve · d deny"}   ` : "";
    const keys = this.#isRunning() ? "enter steer  esc esc stop" : "enter send  esc back";
    return `${waits}${keys}  shift+enter line  / commands`;
  }

  #drawPlan() {
    const { plan = [], goal } = this.#head;
    clear(this.plan);
    this.plan.hidden = plan.length === 0 && !goal;
    if (this.plan.hidden) return;
    const done = plan.filter((step) => step.status === "done").length;
    const words = plan.length ? `Plan ${done} of ${plan.length}` : "Goal";
    const steps = plan.map((step) =>
      h(
        "li",
        { data: { status: step.status } },
        h("span", { class: "step-mark", role: "img", aria: { label: step.status } }, { done: "✓", working: "●", stopped: "✗" }[step.status] ?? "○"),
        ` ${plain(step.text)}`,
      ),
    );
    this.plan.append(h("summary", {}, goal ? `${words} · ${plain(goal)}` : words), h("ol", { class: "steps" }, ...steps));
  }

  #drawModels() {
    const now = this.#head.model ?? "";
    const all = this.#models ?? [];
    const names = all.map(({ provider, model }) => `${provider}/${model}`);
    if (now && !names.includes(now)) names.unshift(now);
    const shown = [...this.model.options].map((option) => option.value);
    if (JSON.stringify(shown) !== JSON.stringify(names)) clear(this.model).append(...names.map((name) => h("option", { value: name }, plain(name))));
    this.model.value = now;
  }

  async #loadModels() {
    if (this.#models) return;
    this.#models = [];
    const found = await attempt(this.#app, "rookery/view/thread/models", {});
    this.#models = found?.models ?? null;
    this.#drawModels();
  }

  async #loadCommands() {
    this.#commands ??= this.#app.call("rookery/view/thread/commands", { thread: this.#thread }).then(
      (found) => found.commands,
      () => [],
    );
    return this.#commands;
  }

  async #set(change) {
    await attempt(this.#app, "rookery/view/thread/set", { thread: this.#thread, ...change });
    void this.#load();
  }

  async #setMode() {
    const mode = this.mode.value;
    if (mode === "bypass" || mode === "accept_all") {
      const lines = [mode === "bypass" ? "Nothing of this thread is asked for any more." : "Edits are made without asking.", "What waits in it now is approved."];
      const sure = await this.#app.ask({ title: `Mode ${words(mode)}?`, lines, yes: "Change", no: "Back", danger: true, decides: true });
      if (!sure) return this.#drawHead();
    }
    void this.#set({ mode });
  }

  async #rename() {
    this.menu.open = false;
    const said = await this.#app.ask({
      title: "Rename this thread",
      yes: "Rename",
      field: { label: "Title", value: plain(this.#head.title) },
    });
    if (said) void this.#set({ name: said.text ?? "" });
  }

  async #fork() {
    this.menu.open = false;
    const made = await attempt(this.#app, "rookery/view/thread/fork", { thread: this.#thread });
    if (made) void this.#app.go({ page: "thread", thread: made.thread });
  }

  async #archive() {
    this.menu.open = false;
    if (await attempt(this.#app, "rookery/view/thread/set", { thread: this.#thread, archived: true })) void this.#app.go({ page: "threads" });
  }

  // ---- the request that waits

  /** The first request that waits, and the item that it belongs to. */
  #waiting() {
    const known = new Set(this.#head.waiting ?? []);
    for (const view of this.#items.values()) {
      if (known.has(view.item.request)) return { request: view.item.request, slot: view.slot };
    }
    const [request] = this.#head.waiting ?? [];
    return request ? { request, slot: this.rest } : null;
  }

  #placeCard() {
    const waiting = this.#waiting();
    if (!waiting) {
      // Stays where it is and says how it was settled, until another one waits.
      return;
    }
    if (this.card.element.parentElement !== waiting.slot) waiting.slot.append(this.card.element);
    if (this.#request === waiting.request) return;
    this.#request = waiting.request;
    void this.card.load({ request: waiting.request }).then(() => {
      this.hint.textContent = this.#hint();
      this.#keepEnd();
    });
  }

  /** Gives the keyboard to the request; whether there is one. */
  #toRequest() {
    if (!this.#waiting() || this.card.element.hidden) return false;
    this.card.element.scrollIntoView({ block: "nearest" });
    this.card.element.focus({ preventScroll: true });
    return true;
  }

  // ---- older, whole, newest

  async #loadOlder() {
    const first = this.#items.keys().next().value ?? this.items.firstElementChild?.dataset.item;
    const oldest = this.items.firstElementChild?.dataset.item ?? first;
    if (!oldest || this.#loadingOlder || !this.#more) return;
    this.#loadingOlder = true;
    const found = await attempt(this.#app, "rookery/view/thread/older", { thread: this.#thread, before: oldest, limit: OLDER });
    this.#loadingOlder = false;
    if (!found) return;
    const height = this.log.scrollHeight - this.log.scrollTop;
    this.#more = found.more;
    this.older.hidden = !found.more;
    const views = found.items.filter((item) => !this.#items.has(item.id)).map((item) => this.#put(item));
    this.items.prepend(...views.map((view) => view.element));
    this.log.scrollTop = this.log.scrollHeight - height;
  }

  async #allOf(item, from) {
    return attempt(this.#app, "rookery/view/item", { thread: this.#thread, item: item.id, from });
  }

  #isAtEnd() {
    return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < NEAR;
  }

  #wasAtEnd = true;

  #scrolled() {
    this.#wasAtEnd = this.#isAtEnd();
    if (this.log.scrollTop < 80) void this.#loadOlder();
    this.#drawJump();
  }

  #toEnd() {
    this.log.scrollTop = this.log.scrollHeight;
    this.#wasAtEnd = true;
    this.#drawJump();
  }

  // The room changed, by a keyboard that came up or a card that was drawn.
  #keepEnd() {
    if (this.#wasAtEnd) this.#toEnd();
    else this.#drawJump();
  }

  #drawJump() {
    this.jump.hidden = this.#isAtEnd();
    if (this.jump.hidden) return;
    const { bottom } = this.log.getBoundingClientRect();
    const isBelow = this.#waiting() && !this.card.element.hidden && this.card.element.getBoundingClientRect().top > bottom - 20;
    const count = this.#head.waiting?.length || 1;
    this.jump.textContent = isBelow ? `${count} wait${count === 1 ? "s" : ""}` : "Jump to newest";
  }

  // ---- writing

  #isRunning() {
    return Boolean(this.#head.turn) || this.#head.status === "working" || this.#head.status === "waiting";
  }

  #drawButtons() {
    const running = this.#isRunning();
    const mayWrite = this.#app.rights !== "look";
    const isEmpty = this.composer.isEmpty;
    this.stop.hidden = !running || !mayWrite || (this.#app.isPhone() && !isEmpty);
    this.send.hidden = !mayWrite || (this.#app.isPhone() && running && isEmpty);
    this.send.disabled = isEmpty;
    this.send.title = running ? "Steer the running turn" : "Send";
  }

  async #send({ text, images }) {
    if (this.#app.rights === "look") return this.#app.toast("warn", "this device is read-only");
    const said = h("div", { class: "item", data: { kind: "user", status: "pending" } }, h("span", { class: "unseen" }, "You, not read yet"), h("p", {}, text));
    if (this.#isRunning()) this.pending.append(said);
    this.#toEnd();
    try {
      await this.#app.call("rookery/view/thread/send", images.length ? { thread: this.#thread, text, images } : { thread: this.#thread, text });
    } catch (error) {
      said.remove();
      this.#app.toast("error", error?.code === NO_ANSWER ? "your message may not have arrived; it is still in the field" : failure(error));
      return false;
    }
    this.#toEnd();
    return true;
  }

  async #stop() {
    if (await attempt(this.#app, "rookery/view/thread/stop", { thread: this.#thread })) this.#app.announce("stopped");
  }

  /** Esc twice stops a running turn; once leaves the page if none runs. */
  #escape(event) {
    event.preventDefault();
    if (!this.#isRunning()) return this.#app.back();
    const isSecond = event.timeStamp < this.#escapedAt + TWICE_MS;
    this.#escapedAt = isSecond ? 0 : event.timeStamp;
    if (isSecond) return void this.#stop();
    this.#app.announce("esc again stops the turn");
    this.#app.message("info", "esc again stops the turn");
  }

  key(event) {
    if (presses(event)) return false;
    if (event.key === "Escape" && this.menu.open) {
      this.menu.open = false;
      this.menu.firstElementChild.focus();
      return true;
    }
    const isInCard = this.card.element.contains(document.activeElement);
    if (isInCard && this.card.key(event)) return true;
    if (event.key === "Escape") {
      if (isInCard) this.composer.focus();
      else this.#escape(event);
      return true;
    }
    if (event.key === "Enter" && !isInCard) {
      this.composer.focus();
      return true;
    }
    return false;
  }
}
