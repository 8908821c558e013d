// What is selected in terminals. The browser selects; here it is kept by row numbers, so that output and
// scrolling leave it alone, and made into text.

import { columnAt, placeAt, sliceRow } from "./grid.js";

const VIEW = "rookery/view/";

/** What the person has selected, by row numbers, so that output and scrolling leave it alone. */
export class Selection {
  constructor(app) {
    this.app = app;
    this.range = null;
    this.restoring = false;
    document.addEventListener("selectionchange", () => this.changed());
    document.addEventListener("copy", (event) => this.copied(event));
  }

  changed() {
    if (this.restoring) return;
    const selection = document.getSelection();
    const range = this.read(selection);
    if (!range && this.range && this.app.isKeysFocused()) return this.set(null);
    if (range || !this.range || !selection?.isCollapsed) this.set(range);
    else if (selection.anchorNode && !selection.anchorNode.matches?.(".rows") && this.paneOf(selection.anchorNode)) this.set(null);
  }

  set(range) {
    this.range = range;
    document.documentElement.toggleAttribute("data-selecting", range !== null);
  }

  paneOf(node) {
    const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    const pane = element?.closest?.(".pane");
    return pane ? this.app.panes.get(Number(pane.dataset.terminal)) : null;
  }

  read(selection) {
    if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
    const pane = this.paneOf(selection.anchorNode);
    if (!pane || this.paneOf(selection.focusNode) !== pane) return null;
    const anchor = this.gone(pane, "anchor", selection.anchorNode) ?? this.end(pane, selection.anchorNode, selection.anchorOffset);
    const head = this.gone(pane, "head", selection.focusNode) ?? this.end(pane, selection.focusNode, selection.focusOffset);
    return anchor && head ? { t: pane.t, epoch: pane.epoch, anchor, head } : null;
  }

  /** An end of what is selected, if its row was scrolled away: the browser has moved it to a row that is there. */
  gone(pane, name, node) {
    const { range } = this;
    const isSame = node === pane.rows && range?.t === pane.t && range.epoch === pane.epoch;
    return isSame && !pane.elements.has(range[name][0]) ? range[name] : null;
  }

  end(pane, node, offset) {
    const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    const row = element.closest(".row");
    if (row) return [Number(row.dataset.row), columnAt(row, node, offset)];
    if (node !== pane.rows) return null;
    // Between rows, as after a triple click.
    const next = node.children[offset];
    if (next) return [Number(next.dataset.row), 0];
    return pane.window ? [pane.window[1], 0] : null;
  }

  /** Rows were painted anew: what was selected in them is selected again. */
  restore(pane) {
    const range = this.range;
    if (!range || range.t !== pane.t) return;
    if (range.epoch !== pane.epoch) return this.clear();
    const anchor = pane.elements.get(range.anchor[0]);
    const head = pane.elements.get(range.head[0]);
    if (!anchor || !head) return;
    const now = this.read(document.getSelection());
    if (now && same(now.anchor, range.anchor) && same(now.head, range.head)) return;
    this.restoring = true;
    document.getSelection().setBaseAndExtent(...placeAt(anchor, range.anchor[1]), ...placeAt(head, range.head[1]));
    // The event comes later, and must not be taken for the person's doing.
    setTimeout(() => (this.restoring = false));
  }

  /** Taking away what is not there would make the browser draw a picture of its own, which what is typed waits for. */
  clear() {
    if (this.range) this.set(null);
    const selection = document.getSelection();
    if (selection?.isCollapsed === false) selection.removeAllRanges();
  }

  ordered() {
    const { anchor, head } = this.range;
    const isForward = anchor[0] < head[0] || (anchor[0] === head[0] && anchor[1] <= head[1]);
    return isForward ? [anchor, head] : [head, anchor];
  }

  /** The selected text: wrapped lines joined, blanks at the ends of lines left off. */
  text() {
    const pane = this.range && this.app.panes.get(this.range.t);
    if (!pane) return "";
    const [from, to] = this.ordered();
    let out = "";
    for (let number = from[0]; number <= to[0]; number += 1) {
      const row = pane.row(number);
      const start = number === from[0] ? from[1] : 0;
      const end = number === to[0] ? to[1] : Infinity;
      const piece = row ? sliceRow(row[1], start, end) : "";
      const runsOn = row && (row[3] & 1) !== 0;
      if (number === to[0]) out += runsOn && end < Infinity ? piece : piece.trimEnd();
      else if (runsOn) out += piece.padEnd(0);
      else out += `${piece.trimEnd()}\n`;
    }
    return out;
  }

  /** Whether every row of it is here. */
  isHere() {
    const pane = this.range && this.app.panes.get(this.range.t);
    if (!pane) return true;
    const [from, to] = this.ordered();
    for (let number = from[0]; number <= to[0]; number += 1) if (!pane.row(number)) return false;
    return true;
  }

  /** The same selection for the daemon, whose clipboards get it too; gives its text. */
  async tell(to) {
    const pane = this.range && this.app.panes.get(this.range.t);
    if (!pane) return;
    const [from, until] = this.ordered();
    const head = until[1] > 0 ? [until[0], until[1] - 1] : [Math.max(from[0], until[0] - 1), (pane.term?.size[1] ?? 1) - 1];
    try {
      await this.app.call(`${VIEW}select`, { t: pane.t, anchor: from, head, kind: "text" });
      const { text, cut } = await this.app.call(`${VIEW}copy`, { t: pane.t, to });
      if (cut) this.app.message("warn", "that is too much to copy: its end is left off");
      return text;
    } catch {
      // Without rights the daemon's clipboards are left alone.
    }
  }

  copied(event) {
    if (this.app.takeCopy?.(event)) return;
    if (!this.range || event.target?.closest?.("input, textarea:not(#keys)")) return;
    if (!this.isHere()) {
      event.preventDefault();
      return this.app.copySelection();
    }
    const copy = this.text();
    if (copy === "") return;
    event.clipboardData.setData("text/plain", copy);
    event.preventDefault();
    this.tell(["clipboard", "selection"]);
    this.app.announce("copied");
    this.app.toast("info", "copied");
  }
}

function same(a, b) {
  return a[0] === b[0] && a[1] === b[1];
}
