// The palette: a field, and rows that the daemon finds. A viewer that may not act gets its own few rows.

import { attr, h, keyed, mood, text } from "./dom.js";

const PALETTE = "rookery/view/palette";
const LOCAL = ["open_inbox", "next_waiting", "open_threads", "open_reviews", "open_checkpoints", "open_worktrees", "open_audit", "find", "settings", "help", "toggle_sidebar"];

/** The palette over the page. */
export class Palette {
  constructor(app, isLocal) {
    this.app = app;
    this.isLocalAction = isLocal;
    this.element = document.getElementById("palette");
    this.query = document.getElementById("palette-query");
    this.list = document.getElementById("palette-list");
    this.own = null;
    this.query.addEventListener("input", () => this.typed());
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("pointerdown", (event) => event.target === this.element && this.close());
  }

  get shown() {
    return this.own ?? this.app.scene.palette ?? null;
  }

  /** Opens a frame of the daemon, or the few rows of a viewer that only looks. */
  open(kind) {
    if (this.app.rights === "full") return this.app.call(PALETTE, { open: kind }).catch(this.app.complain);
    this.own = { frame: "commands", placeholder: "Commands", query: "", rows: this.localRows(""), selected: 0 };
    this.paint();
    return Promise.resolve();
  }

  localRows(query) {
    const titles = new Map(this.app.keymap.listed.map((row) => [row.action, row.title]));
    return LOCAL.map((id) => ({ id, title: titles.get(id) ?? id.replaceAll("_", " ") })).filter((row) => row.title.toLowerCase().includes(query.toLowerCase()));
  }

  update(scene) {
    if (scene.palette !== undefined) this.paint();
  }

  paint() {
    const open = this.shown;
    const wasOpen = !this.element.hidden;
    if (!open) {
      if (!wasOpen) return;
      // Who went on before the daemon closed it, as into find, keeps the keyboard.
      const had = this.element.contains(document.activeElement);
      this.element.hidden = true;
      this.frame = null;
      this.app.focus(had);
      return;
    }
    if (!wasOpen || this.frame !== open.frame) {
      // A new frame begins with its own query; afterwards the field is the person's.
      this.query.value = open.query ?? "";
      this.frame = open.frame;
      this.element.hidden = false;
      this.query.focus();
      this.query.select();
    }
    this.query.placeholder = open.placeholder ?? "";
    keyed(this.list, open.rows ?? [], (row) => row.id, () => this.makeRow(), (element, row, index) => this.fillRow(element, row, index, index === open.selected));
    const selected = this.list.children[open.selected];
    selected?.scrollIntoView({ block: "nearest" });
    attr(this.query, "aria-activedescendant", selected?.id ?? null);
    document.getElementById("palette-none").hidden = (open.rows ?? []).length > 0;
  }

  makeRow() {
    const element = h("div", { class: "option", role: "option" });
    element.parts = { mood: h("span", { class: "option-mood" }), title: h("span", { class: "option-title" }), subtitle: h("span", { class: "option-subtitle" }), keys: h("span", { class: "option-keys" }) };
    element.append(...Object.values(element.parts));
    element.addEventListener("click", () => this.choose(element.index));
    return element;
  }

  fillRow(element, row, index, isSelected) {
    element.index = index;
    element.id = `option-${index}`;
    attr(element, "data-id", row.id);
    attr(element, "aria-selected", isSelected ? "true" : "false");
    element.parts.mood.replaceChildren(...(row.mood ? [mood(row.mood)] : []));
    const key = `${row.title}|${(row.matched ?? []).join()}`;
    if (element.painted !== key) {
      element.painted = key;
      const hits = new Set(row.matched ?? []);
      element.parts.title.replaceChildren(...pieces([...row.title], hits));
    }
    text(element.parts.subtitle, row.subtitle ?? "");
    const keys = row.keys?.length ? row.keys : this.app.keymap.keysOf(row.id).slice(0, 1);
    text(element.parts.keys, keys.join("  "));
  }

  typed() {
    if (this.own) {
      this.own = { ...this.own, query: this.query.value, rows: this.localRows(this.query.value), selected: 0 };
      return this.paint();
    }
    this.app.notify(PALETTE, { query: this.query.value });
  }

  key(event) {
    const move = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key] ?? (event.ctrlKey ? { n: 1, p: -1 }[event.key] : undefined);
    if (move !== undefined) this.move(move);
    else if (event.key === "Enter") this.choose(null);
    else if (event.key === "Escape") this.back();
    else if (event.key !== "Tab") return;
    event.preventDefault();
    event.stopPropagation();
  }

  move(by) {
    if (!this.own) return this.app.notify(PALETTE, { move: by });
    const last = Math.max(0, this.own.rows.length - 1);
    this.own.selected = Math.max(0, Math.min(last, this.own.selected + by));
    this.paint();
  }

  /** Actions of this page are done here, all others by the daemon. */
  choose(index) {
    const open = this.shown;
    const row = open?.rows[index ?? open.selected];
    if (!row) return;
    if (this.own || this.isLocalAction(row.id)) {
      this.close();
      this.app.act(row.id);
      return;
    }
    this.app.call(PALETTE, { activate: index }).catch(this.app.complain);
  }

  back() {
    if (this.own) return this.close();
    this.app.call(PALETTE, { back: true }).catch(this.app.complain);
  }

  close() {
    if (this.own) {
      this.own = null;
      this.paint();
      return;
    }
    this.app.call(PALETTE, { close: true }).catch(this.app.complain);
  }
}

/** A title with the signs that the query matched marked. */
function pieces(signs, hits) {
  const out = [];
  for (const [index, sign] of signs.entries()) {
    const isHit = hits.has(index);
    const last = out.at(-1);
    if (last && last.isHit === isHit) last.text += sign;
    else out.push({ isHit, text: sign });
  }
  return out.map((piece) => (piece.isHit ? h("b", {}, piece.text) : document.createTextNode(piece.text)));
}
