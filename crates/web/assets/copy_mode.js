// Copy mode: the keyboard moves a cursor of its own over the screen and its history, and selects.

import { h } from "./dom.js";
import { clusters, plain } from "./mirror.js";

const VIEW = "rookery/view/";

/** Copy mode over one pane. */
export class CopyMode {
  constructor(app) {
    this.app = app;
    this.isOn = false;
    this.mark = h("div", { class: "copy-cursor", aria: { hidden: "true" } });
  }

  start(t) {
    const pane = this.app.panes.get(t);
    if (!pane?.term) return;
    const { term } = pane;
    this.isOn = true;
    this.pane = pane;
    this.anchor = null;
    this.kind = "text";
    this.found = null;
    this.followsFrom = null;
    const last = term.view[0] + term.size[0] - 1;
    this.at = [Math.max(term.view[0], Math.min(last, term.cursor[0])), term.cursor[1]];
    pane.sheet.append(this.mark);
    pane.element.classList.add("copying");
    this.app.message("info", "copy mode: v selects, y copies, esc leaves");
    this.off = this.app.on("terms", () => this.paint());
    this.paint();
  }

  /** Ends it; the output is followed again. */
  leave() {
    this.isOn = false;
    this.off?.();
    this.mark.remove();
    this.pane.light([], -1);
    this.app.notify(`${VIEW}scroll`, { t: this.pane.t, to: "bottom" });
    this.pane.element.classList.remove("copying");
    this.app.message("info", "");
    this.app.focus(true);
  }

  /** A key; all of them are copy mode's while it is on. */
  key(event, press) {
    if (!this.isOn) return false;
    if (!this.pane.term || this.app.terminal !== this.pane.t) {
      this.leave();
      return false;
    }
    this.followsFrom = null;
    const sign = press.shifted ?? press.text ?? press.k;
    if ((press.mods & 4) !== 0) press.k === "v" ? this.select("block") : this.jump({ u: -0.5, d: 0.5, b: -1, f: 1 }[press.k] ?? 0);
    else if (press.k === "escape") this.back();
    else if (sign === "q") this.back();
    else if (sign === "y" || press.k === "enter") this.copy();
    else if (sign === "v" || sign === "V") this.select(sign === "V" ? "lines" : "text");
    else if (sign === "o" && this.anchor) [this.anchor, this.at] = [this.at, this.anchor];
    else if (sign === "[" || sign === "]") this.toPrompt(sign === "[" ? "promptBefore" : "promptAfter");
    else if (sign === "/" || sign === "?") this.search(sign === "/");
    else if (sign === "n" || sign === "N") this.step(sign === "n");
    else this.move(sign, press.k);
    if (this.isOn) this.paint();
    return true;
  }

  /** The selection is given up first, then copy mode. */
  back() {
    if (this.anchor) this.anchor = null;
    else this.leave();
  }

  /** The view goes to another prompt, and the cursor with it. */
  toPrompt(to) {
    this.followsFrom = this.pane.term.view[0];
    this.app.notify(`${VIEW}scroll`, { t: this.pane.t, to });
  }

  search(isNewer) {
    this.isNewer = isNewer;
    this.app.act("find");
  }

  /** What the find bar found: the cursor goes to the nearest in its direction. */
  took(matches) {
    this.found = matches.map(([row, col]) => [row, col]);
    this.step(true);
    this.paint();
  }

  /** The next match in the direction of the search, or against it; around the ends, as pagers do. */
  step(isOnward) {
    if (!this.found) return this.app.message("warn", "/ searches first");
    if (this.found.length === 0) return this.app.message("warn", "not found");
    const sorted = [...this.found].sort(byPlace);
    if (this.isNewer !== isOnward) sorted.reverse();
    const isBeyond = (place) => (this.isNewer === isOnward ? byPlace(place, this.at) > 0 : byPlace(place, this.at) < 0);
    this.at = [...(sorted.find(isBeyond) ?? sorted[0])];
  }

  move(sign, key) {
    const [row, col] = this.at;
    const [, first, oldest] = this.pane.term.view;
    const [rows, cols] = this.pane.term.size;
    const end = first + rows - 1;
    const width = this.width(row);
    const to = {
      h: [row, col - 1], left: [row, col - 1], l: [row, col + 1], right: [row, col + 1], k: [row - 1, col], up: [row - 1, col], j: [row + 1, col], down: [row + 1, col],
      0: [row, 0], home: [row, 0], $: [row, Math.max(0, width - 1)], end: [row, Math.max(0, width - 1)], "^": [row, this.indent(row)],
      g: [oldest, 0], G: [end, 0], w: this.word(1), b: this.word(-1), e: this.word(1, true), "{": this.paragraph(-1), "}": this.paragraph(1),
    }[sign] ?? { left: [row, col - 1], right: [row, col + 1], up: [row - 1, col], down: [row + 1, col], page_up: [row - rows, col], page_down: [row + rows, col], home: [row, 0], end: [row, Math.max(0, width - 1)] }[key];
    if (!to) return;
    this.at = [Math.max(oldest, Math.min(end, to[0])), Math.max(0, Math.min(cols - 1, to[1]))];
  }

  jump(share) {
    if (share === 0) return;
    const [rows] = this.pane.term.size;
    const [, first, oldest] = this.pane.term.view;
    this.at = [Math.max(oldest, Math.min(first + rows - 1, this.at[0] + Math.round(rows * share))), this.at[1]];
  }

  text(row) {
    const held = this.pane.row(row);
    return held ? plain(held[1]) : "";
  }

  width(row) {
    let cells = 0;
    const held = this.pane.row(row);
    if (held) for (const [, each] of clusters(held[1])) cells += each;
    return cells;
  }

  indent(row) {
    return Math.max(0, this.text(row).search(/\S/));
  }

  /** The beginning of the word after or before, or the end of one. */
  word(by, isEnd = false) {
    let [row, col] = this.at;
    const [, first, oldest] = this.pane.term.view;
    const end = first + this.pane.term.size[0] - 1;
    for (let lines = 0; lines < 200; lines += 1) {
      const starts = [...this.text(row).matchAll(/\w+|[^\w\s]+/g)].map((hit) => hit.index + (isEnd ? hit[0].length - 1 : 0));
      const found = by > 0 ? starts.find((at) => at > col) : starts.findLast((at) => at < col);
      if (found !== undefined) return [row, found];
      if (row + by < oldest || row + by > end) return this.at;
      row += by;
      col = by > 0 ? -1 : Infinity;
    }
    return this.at;
  }

  paragraph(by) {
    let [row] = this.at;
    const [, first, oldest] = this.pane.term.view;
    const end = first + this.pane.term.size[0] - 1;
    do row += by;
    while (row > oldest && row < end && this.text(row).trim() !== "");
    return [Math.max(oldest, Math.min(end, row)), 0];
  }

  /** Begins to select where the cursor is; the same kind again selects nothing. */
  select(kind) {
    this.anchor = this.anchor && this.kind === kind ? null : (this.anchor ?? this.at);
    this.kind = kind;
  }

  /** The cursor is seen, and what is selected is lit. */
  paint() {
    const { pane } = this;
    const { term } = pane;
    if (!term) return this.leave();
    const [top, , oldest] = term.view;
    if (this.followsFrom !== null && this.followsFrom !== top) {
      this.followsFrom = null;
      this.at = [top, 0];
    }
    const [row, col] = this.at;
    if (this.followsFrom === null && (row < top || row >= top + term.size[0])) {
      const to = row < top ? row : row - term.size[0] + 1;
      this.app.notify(`${VIEW}scroll`, { t: pane.t, to: "row", row: Math.max(0, to) });
    }
    const { cellW, cellH } = pane.metrics;
    this.mark.style.setProperty("transform", `translate(${col * cellW}px, ${(row - oldest) * cellH}px)`);
    pane.light(this.anchor ? this.lit() : [], -1);
  }

  lit() {
    const [from, to] = this.ends();
    const cols = this.pane.term.size[1];
    const out = [];
    for (let row = from[0]; row <= to[0] && out.length < 2000; row += 1) {
      const isWhole = this.kind === "lines";
      const [left, right] = [Math.min(from[1], to[1]), Math.max(from[1], to[1])];
      const isBlock = this.kind === "block";
      const start = isBlock ? left : isWhole || row > from[0] ? 0 : from[1];
      const end = isBlock ? right + 1 : isWhole || row < to[0] ? cols : to[1] + 1;
      out.push([row, start, Math.max(1, end - start)]);
    }
    return out;
  }

  ends() {
    return byPlace(this.anchor, this.at) <= 0 ? [this.anchor, this.at] : [this.at, this.anchor];
  }

  async copy() {
    if (!this.anchor) return this.app.message("warn", "v selects first");
    const { t } = this.pane;
    const [anchor, head] = this.ends();
    this.leave();
    try {
      await this.app.call(`${VIEW}select`, { t, anchor, head, kind: this.kind });
      const to = this.app.rights === "full" ? ["clipboard", "selection"] : [];
      const { text } = await this.app.call(`${VIEW}copy`, { t, to });
      await this.app.copy(text);
      await this.app.call(`${VIEW}select`, { t });
    } catch (error) {
      this.app.complain(error);
    }
  }
}

function byPlace(a, b) {
  return a[0] - b[0] || a[1] - b[1];
}
