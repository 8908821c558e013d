// The workspace: panes where the scene says they lie, gaps that can be dragged, and what is there while
// nothing runs.

import { button, h, keyed } from "./dom.js";
import { Mouse } from "./mouse.js";
import { Pane, metricsFor } from "./pane.js";

/** Room around the panes, in pixels. */
const PAD = { left: 10, right: 10, top: 8, bottom: 6 };

/** The page of terminals. */
export function create(app, element) {
  return new Workspace(app, element);
}

class Workspace {
  constructor(app, element) {
    this.app = app;
    this.element = element;
    this.gaps = h("div", { class: "gaps" });
    this.dots = h("div", { class: "dots", hidden: true });
    this.empty = this.makeEmpty();
    element.append(this.gaps, this.empty, this.dots);
    this.mouse = new Mouse(app, element);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(element);
    this.watchScale();
  }

  /** Another zoom or another display changes what a whole pixel is. */
  watchScale() {
    const query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    query.addEventListener("change", () => {
      this.watchScale();
      this.resized();
      this.arrange();
    }, { once: true });
  }

  makeEmpty() {
    const { app } = this;
    const offer = (key, words, action) => button([h("kbd", {}, key), h("span", {}, words)], () => app.act(action), { class: "offer" });
    return h(
      "div",
      { class: "empty", hidden: true },
      h("p", { class: "empty-title" }, "Nothing runs here yet."),
      offer("c", "a shell", "new_tab"),
      offer("t", "a thread with an agent", "new_thread"),
      offer("g", "start an agent that is installed", "command_launcher"),
      offer("?", "every key", "help"),
      offer("space", "palette", "command_palette"),
    );
  }

  emptyKey(event) {
    const action = { c: "new_tab", t: "new_thread", g: "command_launcher", "?": "help", " ": "command_palette" }[event.key];
    if (!action || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return false;
    this.app.act(action);
    return true;
  }

  get metrics() {
    return metricsFor(this.app.fontFamily(), this.app.fontSize());
  }

  /** Room for panes, in cells and pixels; what it was if the page is hidden behind another. */
  room() {
    const { cellW, cellH } = this.metrics;
    const box = document.getElementById("page").getBoundingClientRect();
    const width = Math.max(cellW, box.width - PAD.left - PAD.right);
    const height = Math.max(cellH, box.height - PAD.top - PAD.bottom - (this.app.reservedBelow ?? 0));
    const size = {
      cols: Math.max(1, Math.min(1000, Math.floor(width / cellW + 0.001))),
      rows: Math.max(1, Math.min(1000, Math.floor(height / cellH + 0.001))),
    };
    const pixels = { width, height, cell: [cellW, cellH], scale: window.devicePixelRatio || 1 };
    return { size, pixels };
  }

  resized() {
    this.app.tellRoom();
    this.arrange();
  }

  show() {
    this.arrange();
    this.app.focus();
  }

  hide() {}

  key() {
    return false;
  }

  update(scene) {
    if (scene.panes !== undefined || scene.strip !== undefined || scene.theme !== undefined || scene.sidebar !== undefined) this.arrange();
  }

  /** Puts every pane where it lies. */
  arrange() {
    const { app } = this;
    const panes = app.scene.panes;
    const areas = panes?.areas ?? [];
    this.empty.hidden = areas.length > 0 || !app.viewer;
    for (const [t, pane] of app.panes) {
      if (areas.some((area) => area.t === t)) continue;
      pane.drop();
      app.panes.delete(t);
    }
    const { metrics } = this;
    const family = app.fontFamily();
    const follows = app.fit === "follow";
    const group = app.scene.strip?.groups.find((row) => row.id === panes?.group);
    for (const area of areas) {
      let pane = app.panes.get(area.t);
      if (!pane) {
        pane = new Pane(app, area.t);
        app.panes.set(area.t, pane);
        this.element.append(pane.element);
      }
      const tab = group?.tabs.find((row) => row.id === area.t);
      pane.titled(tab?.title ?? "", tab?.mood ?? "quiet", area.t === panes.focused, (group?.tabs.length ?? 1) < 2);
      pane.place(area, PAD.left + area.col * metrics.cellW, PAD.top + area.row * metrics.cellH, metrics, family, follows);
    }
    this.element.classList.toggle("tiled", areas.length > 1);
    this.arrangeGaps(areas, metrics);
    this.arrangeDots(group, panes, areas);
  }

  /** Between neighbors lies one cell, with a line in its middle. */
  arrangeGaps(areas, { cellW, cellH }) {
    const right = Math.max(0, ...areas.map((area) => area.col + area.cols));
    const bottom = Math.max(0, ...areas.map((area) => area.row + area.rows));
    const gaps = [];
    for (const area of areas) {
      if (area.col + area.cols < right) gaps.push({ t: area.t, upright: true, col: area.col + area.cols, row: area.row, cols: 1, rows: area.rows });
      if (area.row + area.rows < bottom) gaps.push({ t: area.t, upright: false, col: area.col, row: area.row + area.rows, cols: area.cols, rows: 1 });
    }
    keyed(this.gaps, gaps, (gap) => `${gap.t}${gap.upright}`, () => this.makeGap(), (element, gap) => {
      element.gap = gap;
      element.className = gap.upright ? "gap upright" : "gap level";
      const set = (name, value) => element.style.setProperty(name, `${value}px`);
      set("left", PAD.left + (gap.col - (gap.upright ? 0 : 0.5)) * cellW);
      set("top", PAD.top + (gap.row - (gap.upright ? 0.5 : 0)) * cellH);
      set("width", (gap.cols + (gap.upright ? 0 : 1)) * cellW);
      set("height", (gap.rows + (gap.upright ? 1 : 0)) * cellH);
    });
  }

  makeGap() {
    const element = h("div", { aria: { hidden: "true" } });
    element.addEventListener("pointerdown", (event) => this.dragGap(element, event));
    return element;
  }

  dragGap(element, event) {
    event.preventDefault();
    const { app } = this;
    const { gap } = element;
    const { cellW, cellH } = this.metrics;
    let last = gap.upright ? event.clientX : event.clientY;
    app.go({ page: "workspace", terminal: gap.t });
    element.setPointerCapture(event.pointerId);
    const move = (now) => {
      const at = gap.upright ? now.clientX : now.clientY;
      const by = Math.trunc((at - last) / (gap.upright ? cellW : cellH));
      if (by === 0) return;
      last += by * (gap.upright ? cellW : cellH);
      app.call("rookery/view/pane", { resize: gap.upright ? "right" : "down", by }).catch(app.complain);
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", () => element.removeEventListener("pointermove", move), { once: true });
  }

  /** Where one pane is shown at a time, dots tell of the others. */
  arrangeDots(group, panes, areas) {
    const others = tabsOf(group, panes, areas);
    this.dots.hidden = others.length < 2;
    keyed(this.dots, others, (tab) => tab.id, (tab) => button("", () => this.app.go({ page: "workspace", terminal: tab.id }), { class: "dot" }), (element, tab) => {
      element.setAttribute("aria-label", `Pane ${tab.title}`);
      element.toggleAttribute("data-focused", tab.id === panes.focused);
    });
  }

  /** Where a dragged tab would be dropped: a pane and its side. */
  dropAt(x, y) {
    for (const [t, pane] of this.app.panes) {
      const box = pane.element.getBoundingClientRect();
      const [dx, dy] = [(x - box.left) / box.width, (y - box.top) / box.height];
      if (dx < 0 || dx > 1 || dy < 0 || dy > 1) continue;
      const sides = [["left", dx], ["right", 1 - dx], ["above", dy], ["below", 1 - dy]];
      const [side, distance] = sides.reduce((best, now) => (now[1] < best[1] ? now : best));
      return distance < 0.4 ? { t, side, pane } : null;
    }
    return null;
  }
}

/** Tabs of the group that is shown one at a time. */
function tabsOf(group, panes, areas) {
  if (!group || !panes || areas.length !== 1 || panes.zoomed) return [];
  return group.tabs;
}
