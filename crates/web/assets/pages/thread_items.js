// Items of a thread as elements: what was said, thought and done. A tool call folds; what of it the
// person opened stays open when it changes. It asks for nothing by itself.

import { button, h } from "../dom.js";
import { fileElement, pathText, counts } from "../diff.js";
import { proseElement, replaceBlocks } from "../prose.js";
import { lined, plain } from "./shown.js";

const MOODS = { waiting: "waiting", failed: "failed", stopped: "failed", working: "working", done: "done" };
const FOLDS = new Set(["tool", "edit", "command", "question"]);
const LABELS = { user: "You", thought: "Thought", error: "Error", plan: "Plan", compaction: "Earlier items were shortened" };

/** How long something took: `1.2 s`. */
function duration(ms) {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** One item, `[data-item][data-kind][data-status]`. */
export class ItemView {
  #app;
  #more;
  #prose = null;
  #fold = null;

  /** `more(item, from)` gives lines of a cut item: `{lines, next}`. */
  constructor(app, item, more) {
    this.#app = app;
    this.#more = more;
    /** Where the card of its request goes. */
    this.slot = h("div", { class: "item-card" });
    this.element = h("div", { class: "item" }, this.slot);
    this.set(item);
  }

  /** All of it is new. */
  set(item) {
    this.item = item;
    const { element } = this;
    element.dataset.item = item.id;
    element.dataset.kind = item.kind ?? "agent";
    element.dataset.status = item.status ?? "";
    const wasOpen = this.#fold?.open ?? false;
    // The card stays where it is: a button that is taken out has neither the keyboard nor the click that it gets.
    while (element.firstChild !== this.slot) element.firstChild.remove();
    this.#prose = null;
    this.#fold = null;
    if (FOLDS.has(item.kind)) this.#drawCall(wasOpen);
    else if (item.kind === "thought") this.#drawThought(wasOpen);
    else this.#drawSaid();
  }

  /** Its blocks from an index on are replaced while it is written. */
  grow(from, blocks) {
    if (!this.#prose) this.set({ ...this.item, blocks: [] });
    if (!this.#prose) return;
    this.item.blocks = [...(this.item.blocks ?? []).slice(0, from), ...blocks];
    replaceBlocks(this.#prose, from, blocks);
  }

  #drawSaid() {
    const { item, slot } = this;
    const label = LABELS[item.kind];
    if (label) slot.before(h("span", { class: item.kind === "user" ? "unseen" : "item-label dim" }, label));
    this.#prose = proseElement(item.blocks);
    slot.before(this.#prose);
    if (item.cut) slot.before(this.#allButton());
  }

  #drawThought(isOpen) {
    this.#prose = proseElement(this.item.blocks);
    this.#fold = h("details", { class: "thought" }, h("summary", {}, "Thought"), this.#prose);
    this.#fold.open = isOpen;
    this.slot.before(this.#fold);
  }

  #drawCall(isOpen) {
    const { item } = this;
    const tool = item.tool ?? {};
    const facts = [];
    const fact = (text, kind = "") => facts.push(h("span", { class: `fact dim ${kind}` }, text));
    if (tool.exit !== undefined && tool.exit !== null) fact(`exit ${tool.exit}`, tool.exit === 0 ? "" : "bad");
    if (tool.ms !== undefined && tool.ms !== null) fact(duration(tool.ms));
    if (tool.lines > 0) fact(`${tool.lines} line${tool.lines === 1 ? "" : "s"}`);
    const diff = item.diff ?? [];
    if (diff.length === 1) facts.push(counts(diff[0]));
    else if (diff.length > 1) fact(`${diff.length} files`);
    const title = diff.length === 1 ? pathText(diff[0]) : plain(tool.title);
    const head = h(
      "summary",
      { class: "call-head" },
      this.#app.mood(MOODS[item.status] ?? "quiet"),
      h("span", { class: "call-name" }, plain(tool.name) || item.kind),
      h("span", { class: "call-title" }, title),
      ...facts,
    );
    const body = h("div", { class: "call-body" });
    this.#fold = h("details", { class: "call" }, head, body);
    // What is folded is not built before it is opened.
    const build = () => {
      if (this.#fold?.open && !body.hasChildNodes()) body.append(...this.#callBody());
    };
    this.#fold.addEventListener("toggle", build);
    this.#fold.open = isOpen;
    build();
    this.slot.before(this.#fold);
  }

  #callBody() {
    const { item } = this;
    const tool = item.tool ?? {};
    const parts = [];
    if (tool.input && plain(tool.input) !== plain(tool.title)) parts.push(h("details", {}, h("summary", {}, "Input"), h("pre", { tabIndex: 0 }, lined(tool.input))));
    if (tool.head?.length) parts.push(h("pre", { class: "output", tabIndex: 0 }, tool.head.map(lined).join("\n")));
    const left = (tool.lines ?? 0) - (tool.head?.length ?? 0) - (tool.tail?.length ?? 0);
    if (item.cut && left > 0) parts.push(this.#allButton(`··· ${left} more lines`));
    if (tool.tail?.length) parts.push(h("pre", { class: "output", tabIndex: 0 }, tool.tail.map(lined).join("\n")));
    parts.push(...(item.diff ?? []).map(fileElement));
    if (tool.terminal) {
      const go = () => void this.#app.go({ page: "workspace", terminal: tool.terminal });
      parts.push(h("div", {}, button("Open its terminal", go, { class: "button small" })));
    }
    return parts;
  }

  // All of what was cut, page by page.
  #allButton(words = "Show all of it") {
    const made = button(
      words,
      async () => {
        made.disabled = true;
        const shown = await this.#more(this.item, made.next ?? 0);
        made.disabled = false;
        if (!shown) return;
        const page = h("pre", { class: "output", tabIndex: 0 }, shown.lines.map(lined).join("\n"));
        if (!made.next) for (const old of made.parentElement.querySelectorAll(":scope > .output")) old.remove();
        made.before(page);
        made.next = shown.next;
        if (shown.next) made.textContent = "More";
        else made.remove();
      },
      { class: "button small" },
    );
    return made;
  }
}
