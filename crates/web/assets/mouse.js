// The mouse over terminals: for the program if it asked, else for selecting, links, menus and panes.

import { exact } from "./pages/shown.js";

const VIEW = "rookery/view/";
const BUTTONS = ["left", "middle", "right"];
const OPENED = /^(https?|mailto):/i;

/** Mouse over the workspace. */
export class Mouse {
  constructor(app, element) {
    this.app = app;
    this.held = null;
    this.wheelLeft = 0;
    this.link = null;
    const on = (name, handler, options) => element.addEventListener(name, handler, options);
    on("mousedown", (event) => this.down(event));
    on("mousemove", (event) => this.move(event));
    on("wheel", (event) => this.wheel(event), { passive: false });
    on("contextmenu", (event) => this.menu(event));
    on("auxclick", (event) => event.target.closest(".scroller") && event.preventDefault());
    on("dragover", (event) => event.preventDefault());
    on("drop", (event) => this.drop(event));
    window.addEventListener("mouseup", (event) => this.up(event));
    window.addEventListener("keyup", (event) => this.link && !this.hasModifier(event) && this.unlink());
  }

  paneOf(event) {
    const pane = event.target.closest?.(".pane");
    if (!pane || !event.target.closest(".scroller")) return null;
    return this.app.panes.get(Number(pane.dataset.terminal)) ?? null;
  }

  /** Whether the program gets this event; Shift leaves it to the page. */
  isPrograms(pane, event) {
    return pane.wantsMouse() && !event.shiftKey && !this.app.copyMode?.isOn;
  }

  /** The modifier of the settings, and what browsers open links with, because desktops keep Alt. */
  hasModifier(event) {
    return event.ctrlKey || event.metaKey || (event.altKey && this.app.settings.linkModifier === "alt");
  }

  down(event) {
    const pane = this.paneOf(event);
    if (!pane) return;
    if (this.app.terminal !== pane.t) this.app.go({ page: "workspace", terminal: pane.t });
    const term = pane.term;
    if (!term || this.app.state !== "open") return;
    if (this.isPrograms(pane, event)) {
      event.preventDefault();
      this.app.focus(true);
      this.app.selection.clear();
      this.held = { pane, button: event.button, at: null };
      return this.report(pane, "press", event);
    }
    if (event.button === 0 && this.hasModifier(event)) return this.openLink(pane, event);
    if (event.button === 1) {
      event.preventDefault();
      if (this.app.rights === "full") this.report(pane, "press", event);
      return this.app.focus(true);
    }
    if (event.button === 0) {
      if (pane.wantsMouse()) document.getSelection()?.removeAllRanges();
      this.selecting = true;
    }
  }

  move(event) {
    const pane = this.held?.pane ?? this.paneOf(event);
    if (!pane?.term) return;
    if (!this.held && this.hasModifier(event)) this.hover(pane, event);
    else if (this.link) this.unlink();
    const wantsMotion = (pane.term.modes & 2) !== 0 && this.isPrograms(pane, event);
    if (!this.held && !wantsMotion) return;
    if (this.app.state === "open") this.report(pane, "move", event);
  }

  up(event) {
    if (this.held) {
      const { pane } = this.held;
      if (pane.term && this.app.state === "open") this.report(pane, "release", event);
      this.held = null;
      return;
    }
    if (!this.selecting) return;
    this.selecting = false;
    // Where nothing was selected the keyboard goes back to the program; focus would end a selection.
    setTimeout(() => {
      if (!this.app.selection.range) return this.app.focus(true);
      const mode = this.app.settings.copyOnSelect;
      if (mode === "selection") this.app.selection.tell(["selection"]);
      else if (mode === "clipboard") this.app.copySelection(true);
    });
  }

  /** Tells the program, once for each cell. */
  report(pane, kind, event) {
    const { row, col } = pane.cellAt(event);
    if (kind === "move") {
      const at = `${row}:${col}`;
      if (this.at === at) return;
      this.at = at;
    }
    const isHeld = kind !== "move" || this.held;
    const button = isHeld ? (BUTTONS[this.held?.button ?? event.button] ?? "none") : "none";
    const mods = (event.shiftKey ? 1 : 0) | (event.altKey ? 2 : 0) | (event.ctrlKey ? 4 : 0);
    const clicks = kind === "press" ? Math.min(3, event.detail || 1) : 0;
    this.app.link.input("mouse", { t: pane.t, kind, button, row, col, mods, clicks });
  }

  wheel(event) {
    const pane = this.paneOf(event);
    const modes = pane?.term?.modes ?? 0;
    if (!pane || event.ctrlKey || this.app.rights !== "full") return;
    if ((modes & 8) === 0 && !this.isPrograms(pane, event)) return;
    event.preventDefault();
    const notch = event.deltaMode === 0 ? pane.metrics.cellH * (this.app.settings.wheelRows || 3) : this.app.settings.wheelRows || 3;
    this.wheelLeft += event.deltaY / notch;
    const { row, col } = pane.cellAt(event);
    const mods = (event.altKey ? 2 : 0) | (event.shiftKey ? 1 : 0);
    for (let steps = 0; Math.abs(this.wheelLeft) >= 1 && steps < 20; steps += 1) {
      const isUp = this.wheelLeft < 0;
      this.wheelLeft += isUp ? 1 : -1;
      this.app.link.input("mouse", { t: pane.t, kind: "wheel", button: isUp ? "wheel_up" : "wheel_down", row, col, mods });
    }
  }

  menu(event) {
    const pane = this.paneOf(event);
    // A long press of a finger selects, which is the browser's work.
    if (!pane || event.shiftKey || event.pointerType === "touch") return;
    event.preventDefault();
    if (this.isPrograms(pane, event)) return;
    const { app } = this;
    const isFull = app.rights === "full";
    app.overlay.menu(event.clientX, event.clientY, [
      ["Copy", () => app.act("copy"), !app.selection.range],
      ["Paste", () => app.pasteHere(), !isFull],
      null,
      ["Find", () => app.act("find")],
      ["Split right", () => app.act("split_right"), !isFull],
      ["Split below", () => app.act("split_below"), !isFull],
      ["Zoom", () => app.act("zoom_pane"), !isFull],
      null,
      ["Rename tab", () => app.act("rename_tab"), !isFull],
      ["Close", () => app.closeTerminal(pane.t), !isFull],
    ]);
  }

  async hover(pane, event) {
    const { number, col } = pane.cellAt(event);
    const at = `${number}:${col}`;
    if (this.hovering === at) return;
    this.hovering = at;
    const found = await this.app.call(`${VIEW}linkAt`, { t: pane.t, at: [number, col] }).catch(() => ({}));
    if (this.hovering !== at) return;
    if (!found.uri) return this.unlink();
    this.link = found;
    pane.element.classList.add("on-link");
    pane.element.title = exact(found.uri);
    pane.underline(found.from, found.to);
    this.linked = pane;
  }

  unlink() {
    this.link = null;
    this.hovering = null;
    this.linked?.element.classList.remove("on-link");
    this.linked?.element.removeAttribute("title");
    this.linked?.underline(null);
    this.linked = null;
  }

  async openLink(pane, event) {
    event.preventDefault();
    const { number, col } = pane.cellAt(event);
    const { uri } = await this.app.call(`${VIEW}linkAt`, { t: pane.t, at: [number, col] }).catch(() => ({}));
    if (uri) this.app.openLink(uri);
  }

  drop(event) {
    const pane = this.paneOf(event);
    const text = event.dataTransfer?.getData("text/plain");
    if (!pane) return;
    event.preventDefault();
    if (text) this.app.type.paste(pane.t, text);
    else this.app.message("warn", "browsers do not reveal file paths; drop files into a message to an agent");
  }
}

/** Whether an address is opened without a question. */
export function isOpened(uri) {
  return OPENED.test(uri);
}
