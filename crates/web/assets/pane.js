// One terminal on the page: its rows with the history above them, cursor, scrolling and selection.

import { attr, button, h, mood, setMood, text } from "./dom.js";
import { Metrics, Styles, clusterAt, paintRow } from "./grid.js";

const VIEW = "rookery/view/";
/** Rows beyond what is seen that are kept as elements, so that a scroll shows no gap. */
const MARGIN = 12;
/** Rows that are asked for at once around what is seen, and rows that are kept. */
const AHEAD = 400;
const KEPT = 6000;
const SHAPES = ["block", "block", "underline", "beam"];

const metricsKept = new Map();

/** Sizes of a cell for a font, measured once for each size and scale of the display. */
export function metricsFor(family, size) {
  const key = `${family} ${size} ${window.devicePixelRatio}`;
  if (!metricsKept.has(key)) {
    if (metricsKept.size > 64) metricsKept.clear();
    metricsKept.set(key, new Metrics(family, size));
  }
  return metricsKept.get(key);
}

/** A terminal's pane. */
export class Pane {
  constructor(app, t) {
    this.app = app;
    this.t = t;
    this.styles = new Styles(`t${t}s`);
    this.cache = new Map();
    this.epoch = null;
    this.elements = new Map();
    this.painted = new Map();
    this.pending = null;
    this.asking = false;
    this.newSince = null;
    this.area = null;
    this.marks = [];
    /** Rows before the end at which it was when the connection broke or the page was left. */
    this.back = app.backOf(t);
    this.build();
  }

  build() {
    this.rows = h("div", { class: "rows", role: "list", aria: { label: "Screen" } });
    this.cursor = h("div", { class: "cursor", aria: { hidden: "true" } });
    this.lights = h("div", { class: "lights", aria: { hidden: "true" } });
    this.sheet = h("div", { class: "sheet" }, this.lights, this.rows, this.cursor);
    this.scroller = h("div", { class: "scroller", tabIndex: -1 }, this.sheet);
    this.thumb = h("div", { class: "thumb", aria: { hidden: "true" } });
    this.newer = button("", () => this.toBottom(), { class: "newer", hidden: true });
    this.mood = mood("quiet");
    this.title = h("span", { class: "pane-title" });
    const close = button("×", () => this.app.closeTerminal(this.t), { class: "pane-close", title: "Close" });
    close.setAttribute("aria-label", "Close pane");
    this.head = h("div", { class: "pane-head" }, this.mood, this.title, close);
    this.ended = h("div", { class: "ended", hidden: true });
    this.element = h("section", { class: "pane", role: "region", data: { terminal: this.t } }, this.scroller, this.thumb, this.head, this.newer, this.ended);
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.thumb.addEventListener("pointerdown", (event) => this.dragThumb(event));
  }

  drop() {
    this.styles.drop();
    this.element.remove();
  }

  get term() {
    return this.app.term(this.t);
  }

  /** Where it lies and with which font it is drawn. */
  place(area, left, top, base, family, follows) {
    this.area = area;
    const [width, height] = [area.cols * base.cellW, area.rows * base.cellH];
    this.width = width;
    this.height = height;
    const set = (name, value) => this.element.style.setProperty(name, value);
    set("left", `${left}px`);
    set("top", `${top}px`);
    set("width", `${width}px`);
    set("height", `${height}px`);
    this.base = base;
    this.family = family;
    this.follows = follows;
    this.fitFont();
    this.paint(true);
  }

  /** A viewer that follows scales its font down until the columns fit. */
  fitFont() {
    const cols = this.term?.size[1] ?? this.area.cols;
    let size = this.base.size;
    if (this.follows && !this.ownSize && cols > this.area.cols) {
      size = Math.max(7, Math.floor(((size * this.width) / (cols * this.base.cellW)) * 4) / 4);
      while (size > 7 && metricsFor(this.family, size).cellW * cols > this.width + 0.5) size -= 0.25;
    }
    if (this.ownSize) size = this.ownSize;
    const metrics = metricsFor(this.family, size);
    if (metrics === this.metrics) return;
    this.metrics = metrics;
    const set = (name, value) => this.element.style.setProperty(name, value);
    set("--term-font", this.family);
    set("--size", `${size}px`);
    set("--cell-w", `${metrics.cellW}px`);
    set("--cell-h", `${metrics.cellH}px`);
    set("--spacing", `${metrics.spacing}px`);
    this.painted.clear();
  }

  /** A font of its own, as after a pinch; null for the usual one. */
  setFont(size) {
    this.ownSize = size;
    this.fitFont();
    this.paint(true);
  }

  get fontSize() {
    return this.metrics.size;
  }

  /** Whether a program gets the mouse. */
  wantsMouse() {
    return ((this.term?.modes ?? 0) & 1) !== 0 && this.app.rights === "full";
  }

  /** Paints what is new. */
  paint(isMoved = false) {
    const term = this.term;
    if (!term || !this.area) return;
    // Read before anything changes: afterwards the browser would have to lay the page out for it, and once more.
    this.box = this.scroller.getBoundingClientRect();
    if (this.epoch !== term.epoch || this.known !== term) this.begin(term);
    this.learn(term);
    this.fitFont();
    this.geometry(term, isMoved);
    this.paintWindow();
    this.paintCursor(term);
    this.paintAround(term);
  }

  /** Numbers of rows mean something else now. */
  begin(term) {
    const isSame = this.epoch === term.epoch;
    this.known = term;
    this.epoch = term.epoch;
    if (!isSame) {
      this.cache.clear();
      this.pending = null;
      this.newSince = null;
    }
    this.painted.clear();
    this.styles.forget();
    term.fresh = [...term.styles.values()];
    this.goBack(term);
  }

  /** After a return the same rows are shown as before. */
  goBack(term) {
    const [top, first, oldest] = term.view;
    if (this.back > 0 && top === first && first > oldest) {
      this.app.notify(`${VIEW}scroll`, { t: this.t, to: "row", row: Math.max(oldest, first - this.back) });
    }
    this.back = 0;
  }

  learn(term) {
    if (term.fresh.length === 0) return;
    const theme = this.app.scene.theme;
    const own = term.styles.get(0);
    const ground = own?.[3] ?? theme?.background;
    const hadOwn = this.styles.rules.has(0);
    this.styles.learn(term.fresh, theme, ground);
    if (own) {
      this.element.style.setProperty("--ground", own[3]);
      this.element.style.setProperty("--ink", own[2]);
    }
    // Rows in the default style get spans once that has colors of its own.
    if (this.styles.rules.has(0) !== hadOwn) this.painted.clear();
    term.fresh = [];
  }

  geometry(term, isMoved) {
    const [top, first, oldest] = term.view;
    const { cellH, cellW } = this.metrics;
    const rows = term.size[0];
    // A terminal with less rows than the pane lies at its top; its history does not fill the room.
    const tall = Math.min(this.height, rows * cellH);
    const fit = Math.max(1, Math.floor(tall / cellH + 0.01));
    if (this.tall !== tall) {
      this.tall = tall;
      this.scroller.style.setProperty("height", `${tall}px`);
    }
    const total = first + rows - oldest;
    const grown = this.oldest !== undefined && this.oldest !== oldest && !isMoved ? oldest - this.oldest : 0;
    this.fit = fit;
    if (this.total !== total || isMoved || this.cols !== term.size[1]) {
      this.sheet.style.setProperty("height", `${total * cellH}px`);
      this.sheet.style.setProperty("width", `${term.size[1] * cellW}px`);
      this.total = total;
      this.cols = term.size[1];
      this.element.classList.toggle("wide", term.size[1] * cellW > this.width + 1);
    }
    this.oldest = oldest;
    if (this.pending !== null && (top === this.pending || (this.pending >= first && top === first))) this.pending = null;
    if (this.pending !== null) {
      if (grown !== 0) this.scrollTo(this.scroller.scrollTop - grown * cellH);
      return;
    }
    let target = (top - oldest) * cellH;
    const [cursorRow, cursorCol] = term.cursor;
    if (top === first && rows > fit) target += Math.min(rows - fit, Math.max(0, cursorRow - top - fit + 1)) * cellH;
    const seen = this.scroller.scrollTop;
    const isThere = top === first ? Math.abs(seen - target) < 0.5 : Math.round(seen / cellH) + oldest - grown === top && grown === 0;
    if (!isThere || isMoved) this.scrollTo(target);
    if (term.size[1] * cellW > this.width + 1) {
      const x = cursorCol * cellW;
      if (x < this.scroller.scrollLeft || x > this.scroller.scrollLeft + this.width - cellW) {
        this.scroller.scrollLeft = Math.max(0, x - this.width / 2);
      }
    }
  }

  scrollTo(y) {
    this.scroller.scrollTop = y;
    this.auto = this.scroller.scrollTop;
  }

  /** The person scrolled: the daemon hears which row is at the top. */
  scrolled() {
    const term = this.term;
    if (!term || !this.metrics) return;
    const y = this.scroller.scrollTop;
    this.app.repaint(this.t);
    if (this.auto !== undefined && Math.abs(y - this.auto) < 1) return;
    this.auto = undefined;
    const [, first, oldest] = term.view;
    const row = Math.min(first, oldest + Math.round(y / this.metrics.cellH));
    if (row === this.pending || (this.pending === null && row === term.view[0])) return;
    this.pending = row;
    if (row < first && this.newSince === null) this.newSince = first;
    this.tell();
  }

  /** At most one word to the daemon for each picture. */
  tell() {
    if (this.telling) return;
    this.telling = true;
    requestAnimationFrame(() => {
      this.telling = false;
      if (this.pending === null) return;
      const first = this.term?.view[1] ?? 0;
      const where = this.pending >= first ? { to: "bottom" } : { to: "row", row: this.pending };
      if (!this.app.notify(`${VIEW}scroll`, { t: this.t, ...where })) this.pending = null;
    });
  }

  toBottom() {
    this.app.notify(`${VIEW}scroll`, { t: this.t, to: "bottom" });
    this.app.focus();
  }

  /** The rows of which elements are kept: a little more than what is seen. */
  paintWindow() {
    const term = this.term;
    const [, first, oldest] = term.view;
    const { cellH } = this.metrics;
    this.scroll = [this.scroller.scrollLeft, this.scroller.scrollTop];
    const seen = oldest + Math.floor((this.scroll[1] + 0.5) / cellH);
    const from = Math.max(oldest, Math.min(seen, first) - MARGIN);
    const to = Math.min(first + term.size[0], seen + this.fit + 1 + MARGIN);
    this.window = [from, to];
    this.rows.style.setProperty("transform", `translateY(${(from - oldest) * cellH}px)`);
    this.syncElements(from, to);
    let isMissing = false;
    let isChanged = false;
    for (const [number, element] of this.elements) {
      const row = term.rows.get(number) ?? (number < first ? this.cache.get(number) : undefined);
      if (!row) {
        isMissing ||= number < first;
        if (this.painted.get(number) !== null) {
          if (!this.painted.get(number)) element.replaceChildren();
          this.painted.set(number, this.painted.get(number) ?? null);
        }
        continue;
      }
      if (this.painted.get(number) === row) continue;
      paintRow(element, row, this.styles, this.metrics);
      this.painted.set(number, row);
      isChanged = true;
    }
    if (isChanged) this.app.selection.restore(this);
    // Before the edge of what is held comes into view, more of it is asked for.
    const near = [Math.max(oldest, from - AHEAD / 2), Math.min(first - 1, to + AHEAD / 2)];
    const isNear = seen < first && near.some((number) => number < first && !this.cache.has(number));
    if (isMissing || isNear) this.fetch(from, to);
  }

  syncElements(from, to) {
    for (const [number, element] of this.elements) {
      if (number >= from && number < to) continue;
      element.remove();
      this.elements.delete(number);
      this.painted.delete(number);
    }
    let at = this.rows.firstElementChild;
    for (let number = from; number < to; number += 1) {
      let element = this.elements.get(number);
      if (!element) {
        element = h("div", { class: "row", role: "listitem", data: { row: number } });
        this.elements.set(number, element);
        this.rows.insertBefore(element, at);
      } else if (element === at) {
        at = at.nextElementSibling;
      } else {
        this.rows.insertBefore(element, at);
      }
    }
  }

  /** Asks for rows of the history around what is seen, a piece at a time. */
  async fetch(from, to) {
    const term = this.term;
    if (this.asking || !term) return;
    const [, first, oldest] = term.view;
    let start = Math.max(oldest, from - AHEAD);
    const end = Math.min(first, to + AHEAD);
    while (start < end && this.cache.has(start)) start += 1;
    if (start >= end) return;
    this.asking = true;
    const epoch = term.epoch;
    try {
      const found = await this.app.call(`${VIEW}rows`, { t: this.t, epoch, from: start, count: Math.min(1000, end - start) });
      if (found.epoch === epoch && this.epoch === epoch && this.app.mirror.takeRows(this.t, found)) {
        for (const [number, text, runs, flags] of found.rows) this.cache.set(number, [number, text, runs ?? [], flags ?? 0]);
        this.trim();
        this.app.repaint(this.t);
      }
    } catch {
      // Away, or gone: what is there stays, and the next scroll asks again.
    }
    this.asking = false;
  }

  trim() {
    if (this.cache.size <= KEPT || !this.window) return;
    const middle = (this.window[0] + this.window[1]) / 2;
    const far = [...this.cache.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
    for (const number of far.slice(0, this.cache.size - KEPT)) this.cache.delete(number);
  }

  /** A row that is held, wherever it is kept. */
  row(number) {
    return this.term?.rows.get(number) ?? this.cache.get(number);
  }

  paintCursor(term) {
    const [number, column, shape, visible] = term.cursor;
    const { cellW, cellH } = this.metrics;
    const row = term.rows.get(number);
    const isShown = visible && row && !term.ended;
    this.cursor.hidden = !isShown;
    if (!isShown) return;
    const [cluster, cells, from] = clusterAt(row[1], column);
    text(this.cursor, cluster);
    attr(this.cursor, "data-shape", SHAPES[shape] ?? "block");
    this.cursor.style.setProperty("transform", `translate(${from * cellW}px, ${(number - term.view[2]) * cellH}px)`);
    this.cursor.style.setProperty("width", `${cells * cellW}px`);
  }

  /** Where the cursor is on the display: the place for typing and for what an input method shows. */
  caret() {
    const { term, box, scroll } = this;
    if (!term || !scroll) return null;
    const [number, column] = term.cursor;
    const { cellW, cellH } = this.metrics;
    return { left: box.left - scroll[0] + column * cellW, top: box.top - scroll[1] + (number - term.view[2]) * cellH, width: cellW, height: cellH };
  }

  paintAround(term) {
    const [top, first, oldest] = term.view;
    const isBack = top < first;
    if (!isBack) this.newSince = null;
    else if (this.newSince === null) this.newSince = first;
    const fresh = isBack ? first - this.newSince : 0;
    this.newer.hidden = !isBack;
    if (isBack) text(this.newer, fresh > 0 ? `↓ ${fresh} new` : "↓ newest");
    const isLong = first > oldest;
    this.element.classList.toggle("long", isLong);
    if (isLong) {
      const share = (term.size[0] / this.total) * this.height;
      const size = Math.max(28, share);
      const at = (this.scroll[1] / Math.max(1, this.total * this.metrics.cellH - this.tall)) * (this.height - size);
      this.thumb.style.setProperty("height", `${size}px`);
      this.thumb.style.setProperty("transform", `translateY(${at}px)`);
    }
    this.ended.hidden = !term.ended;
    if (term.ended) {
      const how = term.ended.signal !== undefined && term.ended.signal !== null ? `by signal ${term.ended.signal}` : `with ${term.ended.code ?? 0}`;
      text(this.ended, `The program has ended ${how}.`);
    }
    const owner = term.owner;
    attr(this.element, "data-owner", owner ? (owner.mine ? "mine" : owner.name) : null);
    this.element.classList.toggle("mouse", this.wantsMouse());
    this.element.classList.toggle("alternate", (term.modes & 8) !== 0);
    this.paintFill(term);
  }

  /** A terminal with less room than the pane leaves dim dots. */
  paintFill(term) {
    const { cellW, cellH } = this.metrics;
    const width = Math.max(0, this.width - term.size[1] * cellW);
    const height = Math.max(0, this.height - term.size[0] * cellH);
    this.element.classList.toggle("small", width > cellW || height > cellH);
    this.element.style.setProperty("--fill-x", `${this.width - width}px`);
    this.element.style.setProperty("--fill-y", `${this.height - height}px`);
  }

  /** What the pane is called, and how it fares. */
  titled(title, word, isFocused, isAlone) {
    attr(this.element, "aria-label", `Terminal ${title}`);
    text(this.title, title);
    setMood(this.mood, word);
    attr(this.element, "data-focused", isFocused ? "" : null);
    this.element.classList.toggle("alone", isAlone);
  }

  /** Marks of the find bar: `[number, column, cells]`, and which one is shown. */
  light(marks, current) {
    this.marks = marks;
    const { cellW, cellH } = this.metrics;
    const oldest = this.term?.view[2] ?? 0;
    const [from, to] = this.window ?? [0, 0];
    const near = marks.map((mark, index) => [mark, index]).filter(([[row]]) => row >= from && row < to);
    this.lights.replaceChildren(
      ...near.map(([[row, column, cells], index]) =>
        h("div", {
          class: index === current ? "light current" : "light",
          style: { transform: `translate(${column * cellW}px, ${(row - oldest) * cellH}px)`, width: `${cells * cellW}px` },
        }),
      ),
    );
  }

  /** Underlines a link from its first cell to its last; nothing takes the line away. */
  underline(from, to) {
    for (const line of this.sheet.querySelectorAll(".link-line")) line.remove();
    if (!from || !this.term) return;
    const { cellW, cellH } = this.metrics;
    for (let row = from[0]; row <= to[0] && row < from[0] + 50; row += 1) {
      const start = row === from[0] ? from[1] : 0;
      const end = row === to[0] ? to[1] + 1 : this.term.size[1];
      this.sheet.append(h("div", {
        class: "link-line",
        aria: { hidden: "true" },
        style: { transform: `translate(${start * cellW}px, ${(row - this.term.view[2] + 1) * cellH - 1}px)`, width: `${(end - start) * cellW}px` },
      }));
    }
  }

  /** The cell of the view under the pointer. */
  cellAt(event) {
    const term = this.term;
    const box = this.sheet.getBoundingClientRect();
    const { cellW, cellH } = this.metrics;
    const number = term.view[2] + Math.floor((event.clientY - box.top) / cellH);
    const col = Math.floor((event.clientX - box.left) / cellW);
    const last = term.view[0] + term.size[0] - 1;
    return {
      number: Math.max(term.view[0], Math.min(last, number)),
      row: Math.max(0, Math.min(term.size[0] - 1, number - term.view[0])),
      col: Math.max(0, Math.min(term.size[1] - 1, col)),
    };
  }

  dragThumb(event) {
    event.preventDefault();
    const range = this.scroller.scrollHeight - this.scroller.clientHeight;
    const room = this.height - this.thumb.offsetHeight;
    const [start, y] = [this.scroller.scrollTop, event.clientY];
    const move = (now) => (this.scroller.scrollTop = start + ((now.clientY - y) / Math.max(1, room)) * range);
    this.thumb.setPointerCapture(event.pointerId);
    this.thumb.addEventListener("pointermove", move);
    this.thumb.addEventListener("pointerup", () => this.thumb.removeEventListener("pointermove", move), { once: true });
  }
}
