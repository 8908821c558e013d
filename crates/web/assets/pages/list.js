// A list of things as every page of one shows it: filter, selection, rows by keyboard and by tap.
// What the things are, and what is done with them, the page says.

import { button, clear, h, keyed } from "../dom.js";
import { isField } from "../keys.js";
import { letter, moved, plain, presses } from "./shown.js";

/**
 * `options`: `title`, `label`, `hint`, `empty`, `row(thing) → {id, cells: [node or text], text}`,
 * `open(thing)`, `letters: {n: (thing) => …}`, `filtered(text)` where the daemon filters, `actions: [[words, onclick]]`.
 */
export class List {
  #options;
  #things = [];
  #shown = [];
  #selected = null;

  constructor(options) {
    this.#options = options;
    this.filter = h("input", {
      type: "search",
      class: "field filter",
      placeholder: "Filter",
      autocomplete: "off",
      spellcheck: false,
      aria: { label: `Filter ${options.label}` },
      on: { input: () => this.#filtered(), keydown: (event) => this.#filterKey(event) },
    });
    this.count = h("span", { class: "dim", role: "status" });
    this.list = h("ul", { class: "rows-list", role: "list", aria: { label: options.label } });
    this.empty = h("p", { class: "none" }, options.empty ?? "Nothing here.");
    this.actions = h("div", { class: "page-actions" }, ...(options.actions ?? []).map(([label, run]) => button(label, run)));
    this.head = h("div", { class: "page-head" }, h("h1", {}, options.title), this.count, h("span", { class: "spring" }), this.actions, this.filter);
    this.foot = h("p", { class: "page-hint hint" }, options.hint ?? "");
    this.element = h("div", { class: "list-page" }, this.head, this.list, this.empty, this.foot);
    this.busy(true);
  }

  /** Its things are on their way. */
  busy(isBusy) {
    this.list.setAttribute("aria-busy", String(isBusy));
    if (isBusy && this.#things.length === 0) this.empty.textContent = "…";
  }

  /** Its things came. */
  fill(things) {
    this.#things = things;
    this.busy(false);
    this.#draw();
  }

  /** The thing that is selected. */
  get selected() {
    return this.#shown.find(({ id }) => id === this.#selected)?.thing ?? null;
  }

  /** What is filtered by. */
  get filterText() {
    return this.filter.value.trim();
  }

  #draw() {
    const rows = this.#things.map((thing) => ({ thing, ...this.#options.row(thing) }));
    const wanted = this.#options.filtered ? "" : this.filterText.toLowerCase();
    this.#shown = rows.filter((row) => !wanted || row.text.toLowerCase().includes(wanted));
    const isFiltered = wanted && rows.length > 0;
    this.count.textContent = isFiltered ? `${this.#shown.length} of ${rows.length}` : rows.length ? String(rows.length) : "";
    this.empty.hidden = this.#shown.length > 0;
    this.empty.textContent = isFiltered ? "Nothing fits." : (this.#options.empty ?? "Nothing here.");
    if (!this.#shown.some(({ id }) => id === this.#selected)) this.#selected = null;
    keyed(
      this.list,
      this.#shown,
      (row) => `${row.id}\0${row.text}`,
      (row) => this.#rowElement(row),
      (element, row) => this.#mark(element, row.id),
    );
  }

  #rowElement(row) {
    const cells = row.cells.map((cell, at) => h("span", { class: `cell cell-${at}` }, typeof cell === "string" ? plain(cell) : cell));
    const open = h("button", { type: "button", class: "row-main", on: { click: () => this.#tap(row) } }, ...cells);
    const buttons = (this.#options.buttons?.(row.thing) ?? []).map(([label, run, props]) =>
      button(
        label,
        () => {
          this.#select(row.id);
          run(row.thing);
        },
        { class: "button small", ...props },
      ),
    );
    const made = h("li", { class: "entry", role: "listitem", data: { id: row.id } }, open);
    if (buttons.length) made.append(h("div", { class: "row-actions" }, ...buttons));
    return made;
  }

  #mark(element, id) {
    if (id === this.#selected) element.setAttribute("aria-current", "true");
    else element.removeAttribute("aria-current");
  }

  #tap(row) {
    this.#select(row.id);
    this.#options.open?.(row.thing);
  }

  #select(id) {
    this.#selected = id;
    for (const [at, row] of this.#shown.entries()) {
      const element = this.list.children[at];
      this.#mark(element, row.id);
      if (row.id === id) element.scrollIntoView({ block: "nearest" });
    }
    this.#options.selected?.(this.selected);
  }

  #filtered() {
    if (this.#options.filtered) this.#options.filtered(this.filterText);
    else this.#draw();
  }

  #filterKey(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      if (this.filter.value) {
        this.filter.value = "";
        this.#filtered();
      } else this.filter.blur();
      event.preventDefault();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.#move(event);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const first = this.selected ?? this.#shown[0]?.thing;
      if (this.#options.enterFromFilter && first) this.#options.open?.(first);
      else this.filter.blur();
    }
  }

  #move(event) {
    const at = this.#shown.findIndex(({ id }) => id === this.#selected);
    const next = moved(event, Math.max(0, at), this.#shown.length);
    if (next === null) return false;
    // While nothing is selected, the first key goes to the first row, or to the last.
    const to = at >= 0 || ["End", "G"].includes(event.key) ? next : 0;
    if (this.#shown[to]) this.#select(this.#shown[to].id);
    return true;
  }

  /** A key of the page; whether it was the list's. */
  key(event) {
    if (isField(event.target) || presses(event)) return false;
    if (this.#move(event)) return true;
    if (event.key === "Enter" && !event.repeat) {
      if (this.selected) this.#options.open?.(this.selected);
      return true;
    }
    if (event.key === "Escape" && this.filter.value) {
      this.filter.value = "";
      this.#filtered();
      return true;
    }
    const typed = letter(event);
    if (typed === "/") {
      this.filter.focus();
      return true;
    }
    const run = typed && this.#options.letters?.[typed];
    if (!run || event.repeat) return false;
    run(this.selected);
    return true;
  }
}

/** A place for a page that is one list. */
export function listPage(element, list, load) {
  clear(element).append(list.element);
  return {
    show: (place) => load(place),
    update() {},
    key: (event) => list.key(event),
    hide() {},
  };
}
