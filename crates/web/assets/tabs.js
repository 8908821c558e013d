// The strip: one pill for each group of tabs, renamed in place, moved by dragging.

import { attr, h, keyed, mood, setMood, text } from "./dom.js";

const LOUD = ["waiting", "failed", "working", "done", "quiet"];

/** The tabs above the page. */
export class Tabs {
  constructor(app) {
    this.app = app;
    this.element = document.getElementById("tabs");
    this.element.addEventListener("keydown", (event) => this.key(event));
    // A click leaves the keyboard where it is: with the program.
    this.element.addEventListener("mousedown", (event) => event.target.tagName !== "INPUT" && event.preventDefault());
    document.getElementById("new-tab").addEventListener("click", () => app.press(() => app.act("new_tab")));
  }

  update(scene) {
    if (scene.strip === undefined && scene.panes === undefined && scene.page === undefined) return;
    const { strip, panes, page } = this.app.scene;
    const isHere = page?.page === "workspace";
    keyed(this.element, strip?.groups ?? [], (group) => group.id, () => this.make(), (element, group) => this.fill(element, group, isHere && group.id === panes?.group));
    const shown = this.element.querySelector("[aria-selected=true]");
    if (shown && shown !== this.shown) shown.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.shown = shown;
  }

  make() {
    const element = h("div", { class: "tab", role: "tab" });
    element.parts = { mood: mood("quiet"), title: h("span", { class: "tab-title" }), more: h("span", { class: "tab-more" }), badge: h("span", { class: "badge", aria: { label: "unread" }, role: "img" }) };
    element.append(element.parts.mood, element.parts.title, element.parts.more, element.parts.badge);
    element.addEventListener("pointerdown", (event) => this.grab(element, event));
    element.addEventListener("dblclick", () => this.rename(element));
    element.addEventListener("auxclick", (event) => event.button === 1 && this.app.closeTerminal(element.focused));
    element.addEventListener("contextmenu", (event) => this.menu(element, event));
    return element;
  }

  fill(element, group, isShown) {
    const { parts } = element;
    const focused = group.tabs.find((tab) => tab.id === group.focused) ?? group.tabs[0];
    if (!focused) return;
    element.focused = focused.id;
    element.group = group;
    attr(element, "data-group", group.id);
    attr(element, "data-tab", focused.id);
    attr(element, "aria-selected", isShown ? "true" : "false");
    element.tabIndex = isShown || (!this.element.querySelector("[aria-selected=true]") && group === this.app.scene.strip.groups[0]) ? 0 : -1;
    const loudest = LOUD.find((word) => group.tabs.some((tab) => tab.mood === word)) ?? "quiet";
    setMood(parts.mood, loudest);
    text(parts.title, focused.title || "shell");
    element.title = focused.title;
    text(parts.more, group.tabs.length > 1 ? `+${group.tabs.length - 1}` : "");
    parts.badge.hidden = !group.tabs.some((tab) => tab.badge);
    const renamed = group.tabs.find((tab) => tab.rename !== undefined && tab.rename !== null);
    this.app.overlay.rename(element, renamed ? renamed.rename : null);
  }

  key(event) {
    if (event.target.tagName === "INPUT") return;
    const all = [...this.element.children];
    const at = all.indexOf(document.activeElement);
    if (at < 0) return;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      const next = all[Math.max(0, Math.min(all.length - 1, to))];
      for (const tab of all) tab.tabIndex = tab === next ? 0 : -1;
      next.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.open(all[at]);
      this.app.focus(true);
    } else if (event.key === "Delete") {
      this.app.closeTerminal(all[at].focused);
    } else if (event.key === "F2") {
      this.rename(all[at]);
    }
  }

  open(element) {
    return this.app.go({ page: "workspace", terminal: element.focused });
  }

  async rename(element) {
    if (this.app.rights !== "full") return;
    await this.open(element);
    this.app.act("rename_tab");
  }

  menu(element, event) {
    event.preventDefault();
    const { app } = this;
    const isFull = app.rights === "full";
    app.overlay.menu(event.clientX, event.clientY, [
      ["Rename", () => this.rename(element), !isFull],
      ["Split right", async () => (await this.open(element), app.act("split_right")), !isFull],
      ["Split below", async () => (await this.open(element), app.act("split_below")), !isFull],
      element.group.tabs.length > 1 ? ["Own tab", async () => (await this.open(element), app.act("break_pane")), !isFull] : null,
      null,
      ["Close", () => app.closeTerminal(element.focused), !isFull],
    ]);
  }

  /** A pill is clicked, or dragged: to another place of the strip, or onto a pane's edge. */
  grab(element, event) {
    if (event.button !== 0 || event.target.tagName === "INPUT") return;
    const [x, y] = [event.clientX, event.clientY];
    let isDragged = false;
    const move = (now) => {
      if (!isDragged && Math.hypot(now.clientX - x, now.clientY - y) < 8) return;
      isDragged = this.app.rights === "full";
      if (!isDragged) return;
      element.classList.add("dragged");
      element.style.setProperty("transform", `translate(${now.clientX - x}px, ${Math.max(-4, Math.min(4, now.clientY - y))}px)`);
      this.app.overlay.dropHint(this.app.word() === "workspace" && !this.element.contains(document.elementFromPoint(now.clientX, now.clientY)) ? this.app.workspace.dropAt(now.clientX, now.clientY) : null);
    };
    const end = (now) => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      element.classList.remove("dragged");
      element.style.removeProperty("transform");
      this.app.overlay.dropHint(null);
      if (isDragged) this.drop(element, now);
      else if (now.type === "pointerup") this.open(element).then(() => this.app.focus(true));
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  }

  drop(element, event) {
    const { app } = this;
    const box = this.element.getBoundingClientRect();
    const target = event.clientY > box.bottom + 4 ? app.workspace.dropAt(event.clientX, event.clientY) : null;
    if (target && target.t !== element.focused) {
      app.call("rookery/view/pane", { move: element.focused, to: target.t, side: target.side }).catch(app.complain);
      return;
    }
    if (event.clientY > box.bottom + 24) return;
    // The index counts tabs, of which a group has several.
    let index = 0;
    for (const other of this.element.children) {
      const place = other.getBoundingClientRect();
      if (other !== element && place.left + place.width / 2 < event.clientX) index += other.group.tabs.length;
    }
    app.call("rookery/terminals/move", { terminal: element.focused, index }).catch(app.complain);
  }
}
