// The keyboard: which key is an action, which is a page's, and which is the program's; input methods
// through one small textarea that lies at the cursor. Nothing is sent twice.

import { pressOf } from "./keymap.js";

/** The mode of a terminal whose program speaks the kitty protocol. */
const HEARS_RELEASES = 32;
const TYPED = { enter: "\r", tab: "\t", backspace: "\x7f", escape: "\x1b" };

/** Chords that belong to the browser: its inspector and its zoom. */
function isBrowsers(event) {
  const isCtrl = event.ctrlKey || event.metaKey;
  if (!isCtrl || event.altKey) return false;
  if (event.shiftKey && ["KeyC", "KeyI", "KeyJ"].includes(event.code)) return true;
  return ["+", "-", "=", "0"].includes(event.key) && ["Equal", "Minus", "Digit0", "NumpadAdd", "NumpadSubtract", "Numpad0"].includes(event.code);
}

/** Whether an element takes letters itself. */
export function isField(element) {
  if (!element || element.id === "keys") return false;
  if (element.isContentEditable) return true;
  if (element.tagName === "TEXTAREA" || element.tagName === "SELECT") return true;
  return element.tagName === "INPUT" && !["checkbox", "radio", "button", "submit", "range"].includes(element.type);
}

/** Escape in a filter that has nothing to take back leads on, to what is around it. */
function isLeaving(event) {
  const active = document.activeElement;
  return event.key === "Escape" && active?.type === "search" && active.value === "";
}

/** The keyboard of the page. */
export class Keys {
  constructor(app) {
    this.app = app;
    this.field = document.getElementById("keys");
    this.isPrefixed = false;
    this.composing = false;
    this.ended = null;
    /** Keys that are down and were a program's: its terminal, if it asked to hear of releases. */
    this.held = new Map();
    /** The key after the prefix, while it is down. */
    this.spent = null;
    window.addEventListener("blur", () => this.held.clear());
    window.addEventListener("keydown", (event) => this.down(event), true);
    window.addEventListener("keyup", (event) => this.up(event), true);
    document.addEventListener("paste", (event) => this.pasted(event));
    this.listen();
    this.reset();
  }

  listen() {
    const on = (name, handler) => this.field.addEventListener(name, handler);
    on("compositionstart", () => (this.composing = true));
    on("compositionupdate", (event) => this.preedit(event.data ?? ""));
    on("compositionend", (event) => this.commit(event.data ?? ""));
    on("beforeinput", (event) => this.before(event));
    on("input", () => !this.composing && this.reset());
    on("focus", () => this.app.focusChanged());
    on("blur", () => this.app.focusChanged());
  }

  /** One blank is kept, so that a phone's Backspace has something to take away. */
  reset() {
    this.field.value = " ";
    this.field.setSelectionRange(1, 1);
  }

  focus() {
    if (document.activeElement !== this.field) this.field.focus({ preventScroll: true });
  }

  down(event) {
    if (this.composing || event.isComposing || event.key === "Process" || event.keyCode === 229) return;
    const { app } = this;
    const press = pressOf(event);
    if (isModifier(event)) return;
    if (app.state !== "open") return this.downWhileAway(event, press);
    if (!press) return this.toField(event);
    // Held on, the prefix and the key after it are nothing more.
    if (event.repeat && (this.isPrefixed || this.spent === keyName(event))) return take(event);
    this.spent = null;
    if (app.overlay.key(event, press)) return take(event);
    if (this.isPrefixed) return this.afterPrefix(event, press);
    if (app.keymap.isPrefix(press) && !app.overlay.isAsking()) {
      take(event);
      return this.setPrefixed(true);
    }
    const inField = isField(document.activeElement) && !isLeaving(event);
    const action = app.keymap.action(press);
    if (action && (!inField || (press.mods & 6) === 6) && !app.overlay.isAsking()) return this.act(event, action);
    if (inField || app.overlay.isAsking() || document.activeElement?.closest("dialog")) return;
    if (this.isElsewhere(event)) return;
    if (app.word() !== "workspace") return this.forPage(event, press);
    this.forProgram(event, press);
  }

  /** A dead key or an input method begins: its text belongs into the field. */
  toField() {
    if (this.app.state === "open" && this.app.isTyping() && !isField(document.activeElement)) this.focus();
  }

  act(event, action) {
    // The browser pastes itself, because only it may read the clipboard unasked.
    if (action === "paste") return this.focus();
    take(event);
    if (!event.repeat || /^(scroll_|grow_|cycle_|focus_)/.test(action)) this.app.act(action);
  }

  setPrefixed(is) {
    this.isPrefixed = is;
    this.app.overlay.showKeys(is);
  }

  afterPrefix(event, press) {
    take(event);
    const { app } = this;
    this.spent = keyName(event);
    this.setPrefixed(false);
    if (app.keymap.isPrefix(press)) {
      if (app.isTyping()) app.type.key(app.target, press);
      return;
    }
    if (press.k === "escape" && press.mods === 0) return;
    const action = app.keymap.afterPrefix(press);
    if (!action) return app.message("warn", `${press.shifted ?? press.k} does nothing after the prefix; ? lists every key`);
    if (action === "paste") return app.pasteHere();
    app.act(action);
  }

  /** Keys of a button or a list in the frame around the page are its own. */
  isElsewhere(event) {
    const active = document.activeElement;
    if (!active || active === document.body || active === this.field || active.closest(".pane, #page")) {
      return active?.closest?.("#page button, .empty button") && ["Enter", " ", "Tab"].includes(event.key);
    }
    if (event.key === "Escape") {
      take(event);
      this.app.focus(true);
    }
    return true;
  }

  forPage(event, press) {
    if (this.app.pageKey(event)) return take(event);
    const isBack = (press.k === "escape" || press.k === "q") && (press.mods & 14) === 0 && !event.repeat;
    if (isBack && !event.defaultPrevented) {
      take(event);
      this.app.back();
    }
  }

  forProgram(event, press) {
    const { app } = this;
    if (this.isCopy(event)) {
      take(event);
      document.execCommand("copy");
      app.selection.clear();
      return app.focus();
    }
    if (event.metaKey && ["c", "v", "x", "a"].includes(event.key)) return;
    if (isBrowsers(event)) return;
    if (app.terminal === null) {
      if (app.workspace.emptyKey(event)) take(event);
      return;
    }
    if (app.copyMode?.key(event, press)) return take(event);
    take(event);
    // What was pressed for something else, such as a chord, types nothing while it is held on.
    if (event.repeat && !this.held.has(keyName(event))) return;
    if (!isModifierOnly(press)) app.selection.clear();
    this.focus();
    const hears = ((app.term(app.target)?.modes ?? 0) & HEARS_RELEASES) !== 0;
    this.held.set(keyName(event), hears ? app.target : null);
    app.type.key(app.target, press);
  }

  /** Ctrl+C with a selection copies; without one it is the program's. */
  isCopy(event) {
    if (!this.app.selection.range || event.altKey || event.metaKey || event.shiftKey || !event.ctrlKey) return false;
    return event.key === "c" || event.key === "Insert";
  }

  downWhileAway(event, press) {
    if (!press || this.app.state !== "lost" || isField(document.activeElement) || isModifier(event)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || /^f\d+$/.test(press.k)) return;
    if (press.k === "tab" || document.activeElement?.closest?.("button, a")) return;
    if (this.app.word() !== "workspace") return;
    take(event);
    this.app.refuse();
  }

  /** The program that got a press, and no other, gets the release. */
  up(event) {
    const t = this.held.get(keyName(event)) ?? null;
    this.held.delete(keyName(event));
    if (this.spent === keyName(event)) this.spent = null;
    const term = t === null ? null : this.app.term(t);
    if (!term || term.ended || (term.modes & HEARS_RELEASES) === 0 || this.app.state !== "open") return;
    const press = pressOf(event);
    if (press) this.app.type.key(t, press);
  }

  /** What came into the field without a key that was handled: dictation, a phone, an input method. */
  before(event) {
    if (this.composing || event.isComposing) return;
    const { app } = this;
    const key = { insertLineBreak: "enter", insertParagraph: "enter", deleteContentBackward: "backspace", deleteContentForward: "delete" }[event.inputType];
    if (event.inputType === "insertCompositionText") return;
    event.preventDefault();
    if (app.terminal === null || app.word() !== "workspace") return;
    if (app.state !== "open") return app.refuse();
    if (key) return app.type.key(app.target, { k: key, mods: 0, kind: "press" });
    const text = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
    const isEcho = this.ended !== null && this.ended === text;
    this.ended = null;
    if (text !== "" && !isEcho) app.type.text(app.target, text);
  }

  preedit(text) {
    this.app.showPreedit(text);
  }

  commit(text) {
    this.composing = false;
    this.app.showPreedit("");
    // Some browsers insert the committed text once more, in the same task.
    this.ended = text;
    setTimeout(() => {
      this.ended = null;
      this.reset();
    });
    if (text === "" || this.app.terminal === null) return;
    if (this.app.state !== "open") return this.app.refuse();
    this.app.type.text(this.app.target, text);
  }

  pasted(event) {
    if (isField(event.target)) return;
    const { app } = this;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (app.word() !== "workspace" && app.pagePaste(event)) return;
    event.preventDefault();
    if (app.state !== "open") return app.refuse();
    if (app.word() !== "workspace" || app.terminal === null) return app.message("warn", "cannot paste here");
    if (text !== "") app.type.paste(app.target, text);
  }
}

/** The key is ours: nothing else shall come of it. */
function take(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** Which key it is, whatever it types by now. */
function keyName(event) {
  return event.code || event.key;
}

function isModifier(event) {
  return ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "NumLock"].includes(event.key);
}

function isModifierOnly(press) {
  return press.k === "";
}

/** What a key types, for telling the person should it get lost. */
export function typedBy(press) {
  if (press.mods & 4 && /^[a-z]$/.test(press.k)) return `^${press.k.toUpperCase()}`;
  return press.text ?? TYPED[press.k] ?? (press.k.length === 1 ? press.k : `<${press.k}>`);
}
