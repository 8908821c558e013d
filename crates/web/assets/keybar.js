// The phone's keys for a terminal: those that a touch keyboard lacks, Ctrl and Alt that stick, and a real
// text field whose line is sent as one paste and Enter. Shown only where the device may type.

import { attr, button, h } from "./dom.js";

/** A held arrow begins to repeat after this time, and then as often. */
const REPEAT_AFTER_MS = 400;
const REPEAT_MS = 60;
const CTRL = 4;
const ALT = 2;

/** The rows: id, label, name, press. */
const ROWS = [
  [
    ["esc", "Esc", "Escape", { k: "escape" }],
    ["tab", "Tab", "Tab", { k: "tab" }],
    ["ctrl", "Ctrl", "Control", CTRL],
    ["alt", "Alt", "Alt", ALT],
    ["page_up", "PgUp", "Page up", { k: "page_up" }, true],
    ["page_down", "PgDn", "Page down", { k: "page_down" }, true],
    ["keyboard", "⌨", "Keyboard"],
    ["more", "⋯", "More keys"],
  ],
  [
    ["left", "←", "Left", { k: "left" }, true],
    ["down", "↓", "Down", { k: "down" }, true],
    ["up", "↑", "Up", { k: "up" }, true],
    ["right", "→", "Right", { k: "right" }, true],
    ["slash", "/", "Slash", { k: "/", text: "/" }],
    ["minus", "-", "Minus", { k: "-", text: "-" }],
    ["pipe", "|", "Pipe", { k: "\\", mods: 1, text: "|", shifted: "|" }],
    ["interrupt", "^C", "Control C", { k: "c", mods: CTRL }],
  ],
];

/** Beside the field. */
const TILDE = ["tilde", "~", "Tilde", { k: "`", mods: 1, text: "~", shifted: "~" }];

/** Behind `⋯`. */
const MORE = [
  ["home", "Home", "Home", { k: "home" }],
  ["end", "End", "End", { k: "end" }],
  ["delete", "Del", "Delete", { k: "delete" }, true],
  ...Array.from({ length: 12 }, (_, at) => [`f${at + 1}`, `F${at + 1}`, `F${at + 1}`, { k: `f${at + 1}` }]),
];

/** Key bar and field of the focused terminal. */
export class KeyBar {
  #app;
  #held = new Map([
    [CTRL, "off"],
    [ALT, "off"],
  ]);
  #draft = null;

  constructor(app, actions) {
    this.#app = app;
    this.#stick();
    const rows = ROWS.map((keys) => h("div", { class: "keyrow" }, ...keys.map((key) => this.#key(key))));
    this.rights = h("p", { class: "hint" });
    this.more = h(
      "div",
      { id: "keymore", class: "keymore" },
      h("div", { class: "keygrid" }, ...MORE.map((key) => this.#key(key))),
      h("div", { class: "keygrid wide" }, ...actions.map(([label, run]) => this.#action(label, run))),
      this.rights,
    );
    this.more.hidden = true;
    this.field = h("input", {
      id: "type",
      class: "field",
      type: "text",
      placeholder: "Type…",
      enterKeyHint: "send",
      aria: { label: "Type into the terminal" },
      on: { input: () => this.#keep(), keydown: (event) => this.#fieldKey(event) },
    });
    this.field.setAttribute("autocorrect", "on");
    this.field.setAttribute("autocapitalize", "none");
    this.send = button("⏎", () => void this.#sendLine(), { class: "button primary", id: "type-send", aria: { label: "Send line" } });
    const paste = button("Paste", () => void app.pasteHere(), { class: "button key", data: { key: "paste" } });
    this.element = h("div", { id: "keybar", class: "keybar", role: "toolbar", aria: { label: "Keys" } }, this.more, ...rows, h("div", { class: "typerow" }, this.field, this.#key(TILDE), paste, this.send));
  }

  /** Another terminal has the keyboard. */
  begin(t) {
    this.rights.textContent = [`Rights: ${this.#app.rights}`, this.#app.deviceName].filter(Boolean).join(" · ");
    if (this.#draft === `type:${t}`) return;
    this.#draft = `type:${t}`;
    this.field.value = this.#app.drafts.get(this.#draft) ?? "";
  }

  #key([id, label, name, press, repeats]) {
    const made = button(label, (event) => event.detail === 0 && this.#press(id, press), {
      class: "key",
      data: { key: id },
      aria: { label: name },
    });
    if (id === "keyboard") made.id = "keyboard";
    if (typeof press === "number") attr(made, "aria-pressed", "false");
    let after = 0;
    let each = 0;
    const stop = () => {
      clearTimeout(after);
      clearInterval(each);
    };
    // The keyboard stays with whatever has it: a touch keyboard neither opens nor closes.
    made.addEventListener("mousedown", (event) => event.preventDefault());
    made.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      stop();
      if (id === "keyboard") return;
      this.#press(id, press);
      if (!repeats) return;
      after = setTimeout(() => {
        each = setInterval(() => this.#press(id, { ...press, kind: "repeat" }), REPEAT_MS);
      }, REPEAT_AFTER_MS);
    });
    // A touch keyboard opens only within the end of a tap.
    if (id === "keyboard") made.addEventListener("click", (event) => event.detail > 0 && this.#toggleKeyboard());
    for (const kind of ["pointerup", "pointercancel", "pointerleave", "contextmenu"]) made.addEventListener(kind, stop);
    return made;
  }

  #action(label, run) {
    return button(
      label,
      () => {
        this.more.hidden = true;
        run();
      },
      { class: "key" },
    );
  }

  #press(id, press) {
    if (id === "keyboard") return this.#toggleKeyboard();
    if (id === "more") {
      this.more.hidden = !this.more.hidden;
      return;
    }
    if (typeof press === "number") return this.#toggle(press);
    const t = this.#app.terminal;
    if (t !== null) this.#app.type.key(t, { mods: 0, ...press });
  }

  #toggleKeyboard() {
    const { field } = this.#app.keyboard;
    if (document.activeElement === field) field.blur();
    else field.focus({ preventScroll: true });
  }

  // ---- Ctrl and Alt that stick: a tap for one key, a second to lock, a third to let go

  #toggle(mod) {
    const next = { off: "once", once: "locked", locked: "off" };
    this.#held.set(mod, next[this.#held.get(mod)]);
    this.#drawHeld();
  }

  #drawHeld() {
    for (const [mod, id] of [
      [CTRL, "ctrl"],
      [ALT, "alt"],
    ]) {
      const made = this.element.querySelector(`[data-key="${id}"]`);
      const state = this.#held.get(mod);
      attr(made, "aria-pressed", String(state !== "off"));
      attr(made, "data-held", state === "off" ? null : state);
      attr(made, "aria-label", `${id === "ctrl" ? "Control" : "Alt"}${state === "locked" ? ", locked" : ""}`);
    }
  }

  #take() {
    let mods = 0;
    for (const [mod, state] of this.#held) {
      if (state !== "off") mods |= mod;
      if (state === "once") this.#held.set(mod, "off");
    }
    if (mods) this.#drawHeld();
    return mods;
  }

  // What is typed next, by whichever way, has them.
  #stick() {
    const { type } = this.#app;
    const { key, text } = type;
    type.key = (t, press) => {
      const isRelease = press.kind === "release";
      const mods = isRelease ? 0 : this.#take();
      if (!mods) return key(t, press);
      const { text: _, ...plain } = press;
      return key(t, { ...plain, mods: (press.mods ?? 0) | mods });
    };
    type.text = (t, words) => {
      const isOne = [...words].length === 1;
      const mods = isOne ? this.#take() : 0;
      if (!mods) return text(t, words);
      const low = words.toLowerCase();
      return key(t, low === words ? { k: words, mods } : { k: low, mods: mods | 1, shifted: words });
    };
  }

  // ---- the field

  #keep() {
    if (this.#draft) this.#app.drafts.set(this.#draft, this.field.value);
  }

  #fieldKey(event) {
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    if (!event.repeat) void this.#sendLine();
  }

  /** One paste, then Enter; what does not go stays in the field. */
  async #sendLine() {
    const app = this.#app;
    const t = app.terminal;
    const words = this.field.value;
    if (t === null) return;
    if (app.state !== "open") return app.refuse();
    this.field.value = "";
    if (words !== "" && !(await this.#paste(t, words))) {
      if (this.field.value === "") this.field.value = words;
      return;
    }
    this.#keep();
    app.type.key(t, { k: "enter", mods: 0 });
  }

  async #paste(t, words) {
    try {
      const reply = await this.#app.call("rookery/view/paste", { t, text: words });
      if (reply.pasted) return true;
      if (!(await this.#app.askPaste(words, reply.why))) return false;
      return (await this.#app.call("rookery/view/paste", { t, text: words, sure: true })).pasted;
    } catch (error) {
      this.#app.complain(error);
      return false;
    }
  }
}
