// The find bar: what is searched in a terminal and its history, and which match is shown.

import { attr, text } from "./dom.js";
import { isUnanswered } from "./link.js";

const VIEW = "rookery/view/";

/** The find bar over a pane. */
export class Find {
  constructor(app) {
    this.app = app;
    this.element = document.getElementById("find");
    this.field = document.getElementById("find-text");
    this.count = document.getElementById("find-count");
    this.regex = document.getElementById("find-regex");
    this.capitals = document.getElementById("find-case");
    this.matches = [];
    this.total = 0;
    this.current = 0;
    this.serial = 0;
    this.t = null;
    this.field.addEventListener("input", () => this.search());
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.regex.addEventListener("click", () => this.toggle(this.regex));
    this.capitals.addEventListener("click", () => this.toggle(this.capitals));
    document.getElementById("find-older").addEventListener("click", () => this.step(1));
    document.getElementById("find-newer").addEventListener("click", () => this.step(-1));
    document.getElementById("find-close").addEventListener("click", () => this.close());
  }

  open() {
    const t = this.app.terminal;
    if (t === null || this.app.word() !== "workspace") return this.app.message("warn", "there is no terminal to search");
    if (this.t !== t) this.unlight();
    this.t = t;
    this.element.hidden = false;
    this.place();
    this.field.focus();
    this.field.select();
    if (this.field.value !== "") this.search();
  }

  /** At the upper right of its pane. */
  place() {
    const pane = this.app.panes.get(this.t);
    if (this.element.hidden) return;
    if (!pane) return this.close();
    const box = pane.element.getBoundingClientRect();
    this.element.style.setProperty("top", `${box.top}px`);
    this.element.style.setProperty("right", `${Math.max(8, innerWidth - box.right)}px`);
  }

  close() {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.serial += 1;
    this.unlight();
    this.app.focus(true);
  }

  unlight() {
    this.app.panes.get(this.t)?.light([], -1);
    this.matches = [];
  }

  toggle(element) {
    attr(element, "aria-pressed", element.getAttribute("aria-pressed") === "true" ? "false" : "true");
    this.search();
    this.field.focus();
  }

  search() {
    this.running = this.ask();
    return this.running;
  }

  async ask() {
    this.serial += 1;
    const { serial } = this;
    this.current = 0;
    if (this.field.value === "") return this.show({ matches: [], total: 0 });
    const isOn = (element) => element.getAttribute("aria-pressed") === "true";
    const params = { t: this.t, text: this.field.value, regex: isOn(this.regex), case: isOn(this.capitals) ? "sensitive" : "smart", limit: 1000 };
    try {
      const found = await this.app.call(`${VIEW}find`, params);
      if (serial !== this.serial) return;
      this.answered = serial;
      this.goesOn = found.more === true;
      this.show(found);
    } catch (error) {
      if (serial !== this.serial) return;
      this.show({ matches: [], total: 0 });
      text(this.count, isUnanswered(error) ? "away" : error.message);
    }
  }

  show({ matches, total }) {
    this.matches = matches ?? [];
    this.total = total ?? 0;
    this.showCurrent();
  }

  /** Matches of a search that took longer. */
  more(t, found) {
    if (this.element.hidden || t !== this.t || !found) return;
    // Until its own reply came, and after its end, what arrives is of the search before.
    if (this.answered !== this.serial || !this.goesOn) return;
    this.goesOn = found.more === true;
    this.matches = [...this.matches, ...(found.matches ?? [])];
    this.total = found.total;
    this.tell();
    this.light();
  }

  step(by) {
    const count = this.matches.length;
    if (count === 0) return;
    this.current = (this.current + by + count) % count;
    this.showCurrent();
  }

  tell() {
    text(this.count, `${this.matches.length === 0 ? 0 : this.current + 1} of ${this.total}`);
  }

  light() {
    this.app.panes.get(this.t)?.light(this.matches, this.current);
  }

  /** Scrolls to the match, if it is not in view. */
  showCurrent() {
    this.tell();
    this.light();
    const match = this.matches[this.current];
    const term = this.app.term(this.t);
    if (!match || !term) return;
    const [top] = term.view;
    const rows = term.size[0];
    if (match[0] < top || match[0] >= top + rows) {
      this.app.notify(`${VIEW}scroll`, { t: this.t, to: "row", row: Math.max(0, match[0] - Math.floor(rows / 2)) });
    }
  }

  /** Rows moved: marks lie where their rows are now. */
  repaint(t) {
    if (!this.element.hidden && t === this.t && this.matches.length > 0) this.light();
  }

  /** In copy mode the bar is done with Enter, and copy mode goes on from match to match. */
  async done() {
    await this.running;
    const { matches } = this;
    this.close();
    this.app.copyMode.took(matches);
  }

  key(event) {
    const isAlt = event.altKey && !event.ctrlKey && !event.metaKey;
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && event.target === this.field && this.app.copyMode?.isOn) this.done();
    else if (event.key === "Enter" && event.target === this.field) this.step(event.shiftKey ? -1 : 1);
    else if (event.key === "ArrowUp") this.step(1);
    else if (event.key === "ArrowDown") this.step(-1);
    else if (isAlt && event.code === "KeyR") this.toggle(this.regex);
    else if (isAlt && event.code === "KeyC") this.toggle(this.capitals);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
