// What lies over the page for a while: questions, menus, the keys after the prefix, short messages, and
// the field in which something is renamed.

import { add, attr, button, clear, h, keyed, text } from "./dom.js";
import { isField } from "./keys.js";
import { Guard, READ_FIRST, guardOf } from "./pages/guard.js";

const TOAST_MS = 5000;
const MOST_TOASTS = 3;
/** Where messages may lie, the best first: above the status line, below the tabs, over the sidebar. */
const TOAST_PLACES = ["bottom", "top", "side"];
/** What they leave free where they can: what is typed into, and what is pressed. */
const KEPT_FREE = "#composer, #comment, .deny-sheet, .card-foot, .thread-foot, .page-head :is(button, select, input, summary)";
/** The letter that is shown of several. */
const USUAL = { split_right: "v", split_below: "-", command_palette: "space", leave: "q", focus_left: "left" };
const HIDDEN_KEYS = /^(switch_tab_[2-9]|focus_(down|up|right)|grow_(down|up|right)|scroll_)/;

/** Overlays of the page. */
export class Overlay {
  constructor(app) {
    this.app = app;
    this.dialog = document.getElementById("dialog");
    this.toasts = document.getElementById("toasts");
    this.which = document.getElementById("which");
    this.menuElement = document.getElementById("menu");
    this.hint = document.getElementById("drop-hint");
    this.question = null;
    this.ofDaemon = false;
    this.guard = new Guard(guardOf(app));
    this.guard.watch(this.dialog);
    this.messages = [];
    this.dialog.addEventListener("keydown", (event) => this.dialogKey(event));
    this.menuElement.addEventListener("keydown", (event) => this.menuKey(event));
    document.addEventListener("pointerdown", (event) => {
      if (!this.menuElement.hidden && !this.menuElement.contains(event.target)) this.closeMenu();
      if (!this.which.hidden && !this.which.contains(event.target)) app.keyboard.setPrefixed(false);
    }, true);
  }

  /** Whether a question is open, which no other key goes past. */
  isAsking() {
    return this.question !== null;
  }

  /** A key while something lies over the page; true if it was taken. */
  key(event) {
    if (!this.menuElement.hidden) {
      if (this.menuElement.contains(event.target) && event.key !== "Escape") return false;
      this.closeMenu();
      return event.key === "Escape";
    }
    if (!this.question || this.dialog.contains(event.target)) return false;
    const isEnter = event.key === "Enter" && !this.question.decides;
    if ((isEnter && !event.repeat) || event.key === "Escape") {
      if (!isEnter) this.answer(null);
      else if (this.mayAnswer(event)) this.answer({});
      return true;
    }
    // The keyboard was elsewhere: the question gets it, and the key does nothing.
    this.dialog.querySelector(this.question.decides ? "#no" : "input, #yes")?.focus();
    return true;
  }

  update(scene) {
    if (scene.toasts !== undefined) this.showToasts();
    if (scene.dialog === undefined) return;
    const { dialog } = scene;
    if (dialog) {
      this.ofDaemon = true;
      const lines = dialog.body ? dialog.body.split("\n") : [];
      this.ask({ title: dialog.title, lines, yes: dialog.confirm, no: dialog.cancel, danger: dialog.destructive, isProse: true }).then((answer) => {
        this.ofDaemon = false;
        if (answer !== undefined) this.app.call("rookery/view/confirm", { yes: answer !== null }).catch(this.app.complain);
      });
    } else if (this.ofDaemon) {
      this.answer(undefined);
    }
  }

  /** Asks; gives null for no, else what was filled in and chosen. A question that is `guarded` takes a yes only
      after the guard, since it may lie where something else was tapped; one that `decides` about requests takes it
      from its own button only. */
  ask(question) {
    if (this.question) this.answer(null);
    return new Promise((resolve) => {
      const field = question.field ? h("input", { class: "field", type: "text", value: question.field.value ?? "", placeholder: question.field.placeholder ?? "", aria: { label: question.field.label ?? question.title } }) : null;
      const yes = button(question.yes ?? "Yes", (event) => this.mayAnswer(event) && this.answer({}), { id: "yes", class: `button ${question.danger ? "danger" : "primary"}` });
      const no = button(question.no ?? "No", () => this.answer(null), { id: "no" });
      const choices = (question.choices ?? []).map(([key, label]) => button([h("kbd", {}, key), ` ${label}`], () => this.answer({ choice: label, key }), { class: "button choice" }));
      // What is only told can be closed and nothing else.
      const isTold = question.yes === null;
      const lines = (question.lines ?? []).map((line) => h("div", { class: "line" }, line));
      clear(this.dialog);
      const title = h("h2", { id: "dialog-title" }, question.title);
      add(this.dialog, [
        h("div", { class: "box" }, title, lines.length > 0 && h("div", { class: question.isProse ? "lines prose" : "lines" }, lines), field, choices.length > 0 && h("div", { class: "choices" }, choices),
          h("div", { class: "buttons" }, h("span", { class: "hint" }, isTold ? "esc closes" : choices.length > 0 || question.decides ? "esc no" : "enter yes  esc no"), no, choices.length === 0 && !isTold && yes)),
      ]);
      this.before = document.activeElement;
      this.question = { ...question, resolve, field };
      this.dialog.hidden = false;
      this.guard.begin();
      (field ?? choices[0] ?? (question.decides || isTold ? no : yes)).focus();
      field?.select();
    });
  }

  /** Whether a yes counts that was given by this event. */
  mayAnswer(event) {
    const { decides, guarded } = this.question ?? {};
    if ((!decides && !guarded) || this.guard.passes(event)) return true;
    this.app.toast("info", READ_FIRST);
    return false;
  }

  answer(answer) {
    const { question } = this;
    if (!question) return;
    this.question = null;
    this.dialog.hidden = true;
    clear(this.dialog);
    if (answer && question.field) answer.text = question.field.value;
    if (this.before?.isConnected && this.before !== document.body) this.before.focus({ preventScroll: true });
    else this.app.focus();
    question.resolve(answer);
  }

  dialogKey(event) {
    const choice = this.question?.choices?.find(([key]) => key === event.key);
    if (event.key === "Escape") this.answer(null);
    else if (event.key === "Enter" && event.repeat) event.preventDefault();
    else if (event.key === "Enter" && !this.question?.decides && document.activeElement?.id !== "no" && !document.activeElement?.classList.contains("choice")) this.mayAnswer(event) && this.answer({});
    else if (choice && !event.repeat && !isField(document.activeElement)) this.answer({ choice: choice[1], key: choice[0] });
    else if (event.key === "Tab") return this.trap(event, this.dialog);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Tab stays within what is open. */
  trap(event, element) {
    const all = [...element.querySelectorAll("button, input, textarea, select, [tabindex='0']")].filter((one) => !one.disabled && !one.hidden);
    const at = all.indexOf(document.activeElement);
    event.preventDefault();
    all[(at + (event.shiftKey ? all.length - 1 : 1)) % all.length]?.focus();
  }

  /** A menu at a place: rows of `[label, run, isDisabled]`, null for a line. */
  menu(x, y, rows) {
    this.before = document.activeElement;
    clear(this.menuElement);
    for (const row of rows) {
      if (row === null) {
        if (this.menuElement.lastElementChild?.tagName === "BUTTON") this.menuElement.append(h("hr"));
        continue;
      }
      const [label, run, isDisabled] = row;
      const item = button(label, () => {
        this.closeMenu();
        run();
      }, { class: "menu-row", role: "menuitem", disabled: isDisabled === true });
      this.menuElement.append(item);
    }
    this.menuElement.hidden = false;
    const box = this.menuElement.getBoundingClientRect();
    this.menuElement.style.setProperty("left", `${Math.max(4, Math.min(x, innerWidth - box.width - 4))}px`);
    this.menuElement.style.setProperty("top", `${Math.max(4, Math.min(y, innerHeight - box.height - 4))}px`);
    this.menuElement.querySelector("button:not(:disabled)")?.focus();
  }

  closeMenu() {
    if (this.menuElement.hidden) return;
    this.menuElement.hidden = true;
    if (this.before?.isConnected) this.before.focus({ preventScroll: true });
    else this.app.focus();
  }

  menuKey(event) {
    const rows = [...this.menuElement.querySelectorAll("button:not(:disabled)")];
    const at = rows.indexOf(document.activeElement);
    const by = { ArrowDown: 1, j: 1, ArrowUp: rows.length - 1, k: rows.length - 1, Tab: event.shiftKey ? rows.length - 1 : 1 }[event.key];
    if (by !== undefined) rows[(at + by) % rows.length]?.focus();
    else if (event.key === "Escape") this.closeMenu();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The keys after the prefix, while it waits for one. */
  showKeys(is) {
    this.which.hidden = !is;
    if (!is) return;
    const seen = new Set();
    const rows = this.app.keymap.listed.filter((row) => {
      if (!row.isAfter || HIDDEN_KEYS.test(row.action) || seen.has(row.action)) return false;
      const usual = USUAL[row.action];
      const hasUsual = usual && this.app.keymap.listed.some((other) => other.isAfter && other.action === row.action && other.chord === usual);
      if (hasUsual && row.chord !== usual) return false;
      seen.add(row.action);
      return true;
    });
    clear(this.which);
    add(this.which, rows.map((row) => {
      const label = row.action === "switch_tab_1" ? "Tab 1…9" : row.action === "focus_left" ? "Pane ←↓↑→" : row.action === "grow_left" ? "Grow pane" : row.title;
      return button([h("kbd", {}, { left: "←", "alt+left": "alt ←" }[row.chord] ?? row.chord), h("span", {}, label)], () => {
        this.app.keyboard.setPrefixed(false);
        if (row.action === "paste") this.app.pasteHere();
        else this.app.act(row.action);
      }, { class: "which-row", tabIndex: -1 });
    }));
  }

  /** A field in which a name is edited, over what it names; null takes it away. */
  rename(row, start) {
    const open = row.querySelector(":scope > .rename");
    if (start === null) {
      if (open) {
        const had = open.contains(document.activeElement);
        open.remove();
        row.classList.remove("renaming");
        if (had) this.app.focus(true);
      }
      return;
    }
    if (open) return;
    const field = h("input", { class: "rename field", type: "text", value: start, aria: { label: "New name" }, spellcheck: false });
    let isDone = false;
    const end = (params) => {
      if (isDone) return;
      isDone = true;
      this.app.call("rookery/view/edit", params).catch(this.app.complain);
    };
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") end({ text: field.value });
      else if (event.key === "Escape") end({ cancel: true });
      else return;
      event.preventDefault();
    });
    field.addEventListener("blur", () => end({ cancel: true }));
    for (const name of ["click", "dblclick", "pointerdown", "contextmenu"]) field.addEventListener(name, (event) => event.stopPropagation());
    row.classList.add("renaming");
    row.append(field);
    field.focus();
    field.select();
  }

  /** A short message at the edge. */
  toast(tone, title, body = "", run = null) {
    const message = { key: Symbol("toast"), tone, title, body, run };
    this.messages = [...this.messages, message].slice(-MOST_TOASTS);
    this.showToasts();
    if (tone === "error") this.app.alert(title);
    else if (tone === "warn" || run) this.app.announce([title, body].filter(Boolean).join(": "));
    setTimeout(() => this.expire(message), body === "" && tone === "info" ? TOAST_MS / 2 : TOAST_MS);
    return message;
  }

  /** Its time is over; one that has the keyboard stays until that goes on. */
  expire(message) {
    const held = this.toasts.querySelector(":focus");
    if (held) held.addEventListener("blur", () => this.dropToast(message), { once: true });
    else this.dropToast(message);
  }

  dropToast(message) {
    this.messages = this.messages.filter((one) => one !== message);
    this.showToasts();
  }

  showToasts() {
    const told = (this.app.scene.toasts ?? []).map((toast) => ({ key: `${toast.title}\n${toast.body}`, tone: toast.mood, title: toast.title, body: toast.body ?? "" }));
    keyed(this.toasts, [...told, ...this.messages], (one) => one.key, (one) => {
      const inner = [h("span", { class: "toast-title" }, one.title), one.body && h("span", { class: "toast-body" }, one.body)];
      if (!one.run) return h("div", { class: "toast", data: { tone: one.tone } }, inner);
      const open = () => {
        this.dropToast(one);
        one.run();
      };
      return h("button", { type: "button", class: "toast clickable", data: { tone: one.tone }, on: { click: open } }, inner);
    });
    this.placeToasts();
  }

  /** Puts messages where they cover nothing that is typed into or pressed. A phone has one place for them. */
  placeToasts() {
    if (this.toasts.childElementCount === 0 || this.app.isPhone()) return;
    const free = this.keptFree();
    const isFree = (place) => {
      attr(this.toasts, "data-at", place);
      const box = this.toasts.getBoundingClientRect();
      return !free.some((one) => one.left < box.right && box.left < one.right && one.top < box.bottom && box.top < one.bottom);
    };
    if (!TOAST_PLACES.some(isFree)) attr(this.toasts, "data-at", "top");
  }

  keptFree() {
    const page = this.app.current?.element;
    const around = ["find", "keybar"].map((id) => document.getElementById(id));
    const boxes = [...(page?.querySelectorAll(KEPT_FREE) ?? []), ...around].filter(Boolean).map((one) => one.getBoundingClientRect());
    const caret = this.app.word() === "workspace" ? this.app.panes.get(this.app.terminal)?.caret() : null;
    // The line that is typed in, and not the cursor alone.
    if (caret) boxes.push({ left: caret.left - 20 * caret.width, right: caret.left + 20 * caret.width, top: caret.top, bottom: caret.top + caret.height });
    return boxes.filter((box) => box.right > box.left && box.bottom > box.top);
  }

  /** Where a dragged tab would go. */
  dropHint(target) {
    this.hint.hidden = target === null;
    if (!target) return;
    const box = target.pane.element.getBoundingClientRect();
    const half = { left: [0, 0, 0.5, 1], right: [0.5, 0, 0.5, 1], above: [0, 0, 1, 0.5], below: [0, 0.5, 1, 0.5] }[target.side];
    const set = (name, value) => this.hint.style.setProperty(name, `${value}px`);
    set("left", box.left + half[0] * box.width);
    set("top", box.top + half[1] * box.height);
    set("width", half[2] * box.width);
    set("height", half[3] * box.height);
  }

  /** What is said while the daemon is away. */
  lost({ unsure, draft, seconds, bye }) {
    const element = document.getElementById("lost");
    const line = element.querySelector(".lost-next");
    text(element.querySelector(".lost-why"), bye === "stopping" ? "It was stopped. `rookery web` starts it again." : bye === "replaced" ? "Another page took this place." : "Programs go on running.");
    text(line, bye === "replaced" ? "" : `connecting again, away ${seconds} s`);
    const first = [...draft].slice(0, 40).join("");
    text(document.getElementById("kept-draft"), draft === "" ? "" : `Your draft is kept: “${first}${first === draft ? "" : "…"}”`);
    text(document.getElementById("unsent"), unsure);
  }
}

/** What a person does by calls; what only reads is asked for again and not told. */
const DONE_BY = {
  "rookery/requests/answer": "your decision",
  "rookery/reviews/setStatus": "your decision",
  "rookery/reviews/comment": "your comment",
  "rookery/view/thread/send": "your message",
  "rookery/view/thread/new": "your new thread",
  "rookery/view/paste": "your paste",
};

/** What was sent and may not have arrived, in one line; empty if there is nothing. */
export function unsureLine({ unsent = 0, text: typed = "", unanswered = [] }) {
  const lines = [...new Set(unanswered.map((method) => DONE_BY[method]).filter(Boolean))].map((what) => `${what} may not have arrived`);
  if (unsent > 0 && typed !== "") lines.push(`${unsent} ${unsent === 1 ? "key" : "keys"} may not have arrived: ${JSON.stringify([...typed].slice(0, 60).join(""))}`);
  return lines.join("; ");
}
